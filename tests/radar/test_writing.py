"""radar/writing.py: which locator a repair gets."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from radar import locators
from radar.elements import Element, PageSnapshot
from radar.locators import Locator
from radar.resolving import resolve
from radar.writing import css_id, css_ident, css_string, looks_generated, write_locator
from tests.radar.test_resolving import page


def index_of(seen: PageSnapshot, target: str) -> int:
    """The element with this id, or with a `data-t` mark of this name where an id would be in the way."""
    marked = (e.index for e in seen.elements if target in (e.get("id"), e.get(":t")))
    return next(marked)


def first(seen: PageSnapshot, target: str, **options: object) -> str:
    ways = write_locator(seen, index_of(seen, target), **options)  # type: ignore[arg-type]
    return str(ways[0]) if ways else ""


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ('button :t=x data-testid=save #save "Save"', 'test_id "save"'),
        ("input :t=x name=email #mail placeholder=Mail", 'css "input[name=\\"email\\"]"'),
        ('button :t=x #save-order "Save"', 'css "#save-order"'),
        ('button :t=x #ember123 .btn "Save"', 'role "button", name "Save"'),
        ('button :t=x #css-1q2w3e4 "Save" class=css-9x8y7z', 'role "button", name "Save"'),
        ('button :t=x data-testid=a3f9c2e1d4 "Save"', 'role "button", name "Save"'),
        ('input :t=x placeholder="Search the shop"', 'role "textbox", name "Search the shop"'),
        ('p :t=x "Your basket is empty"', 'text "Your basket is empty"'),
        ('button :t=x "Inbox (3)"', 'role "button", name "Inbox"'),
        ('button :t=x "E-mail: *"', 'role "button", name "E-mail"'),
        ("div :t=x role=tabpanel .panel", 'css "div.panel"'),
        ("div :t=x for=mail", 'css "div[for=\\"mail\\"]"'),
        ("a :t=x href=/orders/latest", 'css "a[href=\\"/orders/latest\\"]"'),
        ("a :t=x href=/help?session=1 !hidden", 'css "a[href^=\\"/help\\"]"'),
        ("img :t=x alt=Logo !hidden", 'alt "Logo"'),
        ("i :t=x title=Settings", 'title "Settings"'),
    ],
)
def test_what_lasts_goes_first(line: str, written: str) -> None:
    seen = page(f"""
    html
      body
        {line}
        a href=/about "About us"
        button "Other"
    """)

    assert first(seen, "x") == written


SAVE = """
html
  body
    form #profile
      label for=n "Name"
      input #n name=name
      button :t=x #store data-testid=store .cta title="Save now" aria-controls=list "Save profile"
      button "Cancel"
"""


@pytest.mark.parametrize(
    ("author", "written"),
    [
        (Locator(role="button", name="Store"), 'role "button", name "Save profile"'),
        (Locator(test_id="save"), 'test_id "store"'),
        (Locator(text="Store"), 'text "Save profile"'),
        (Locator(title="Store"), 'title "Save now"'),
        (Locator(css="#save"), 'css "#store"'),
        (Locator(css="button.save"), 'css "#store"'),
        (Locator(role="button", name="Store", exact=True), 'role "button", name "Save profile", exact true'),
        (
            Locator(role="button", name="Store", within=Locator(css="form")),
            'role "button", name "Save profile", within {"css": "form"}',
        ),
        (Locator(role="button", name="Store", within=Locator(css="#gone")), 'role "button", name "Save profile"'),
        (Locator(xpath="//form/button[1]"), 'test_id "store"'),
    ],
    ids=str,
)
def test_the_authors_form_is_kept(author: Locator, written: str) -> None:
    assert first(page(SAVE), "x", author=author) == written


def test_a_label_stays_a_label() -> None:
    seen = page("""
    html
      label for=n "E-mail address"
      input #n name=mail
    """)
    seen = PageSnapshot("x", elements=(*seen.elements[:2], labelled(seen.elements[2], "E-mail address")))

    assert first(seen, "n", author=Locator(label="Mail")) == 'label "E-mail address"'


def labelled(element: Element, label: str) -> Element:
    return Element(element.index, element.parent, element.tag, element.attributes, role=element.role, label=label)


DEVICES = page("""
html
  body
    ul
      li data-device=phone
        "Phone "
        button "Remove"
      li data-device=tablet
        "Tablet "
        button :t=tablet "Remove"
    table
      tr
        td "Ada"
        td
          a href=/u/1 "Edit"
      tr
        td "Ben"
        td
          a :t=ben href=/u/2 "Edit"
""")


def test_one_of_many_is_found_by_its_rows_own_key() -> None:
    assert first(DEVICES, "tablet", author=Locator(role="button", name="Delete")) in (
        'role "button", name "Remove", within {"css": "li[data-device=\\"tablet\\"]"}',
        'role "button", name "Remove", within {"role": "listitem", "has_text": "Tablet"}',
    )
    assert first(DEVICES, "ben") == 'role "link", name "Edit", within {"role": "row", "has_text": "Ben"}'


def test_the_authors_row_is_kept_where_it_still_leads_to_the_element() -> None:
    within = Locator(css="li[data-device='tablet']")
    author = Locator(role="button", name="Delete", within=within)

    (best, *_) = write_locator(DEVICES, index_of(DEVICES, "tablet"), author=author)

    assert best == Locator(role="button", name="Remove", within=within)


def test_exact_is_added_only_where_the_text_alone_would_hit_several() -> None:
    seen = page("""
    html
      button :t=x "Save"
      button :t=y "Save as copy"
    """)

    assert first(seen, "x") == 'role "button", name "Save", exact true'
    assert first(seen, "y") == 'role "button", name "Save as copy"'


def test_a_position_is_used_when_nothing_else_tells_elements_apart() -> None:
    seen = page("""
    html
      button "Remove"
      button :t=x "Remove"
    """)

    assert first(seen, "x") in ('css "button:nth-of-type(2)"', 'role "button", name "Remove", nth 1')
    assert (
        first(seen, "x", author=Locator(role="button", name="Delete", nth=1)) == 'role "button", name "Remove", nth 1'
    )


TWINS = """
html
  ul
    li
      button "Remove"
    li
      button :t=x "Remove"
"""


@pytest.mark.parametrize(
    "author",
    [
        Locator(css="#remove-tablet"),
        Locator(role="button", name="Remove tablet"),
        Locator(test_id="remove"),
        Locator(xpath="//button[@id='remove']"),
        Locator(text="Remove tablet"),
    ],
    ids=str,
)
def test_a_bare_position_does_not_replace_what_was_none(author: Locator) -> None:
    seen = page(TWINS)

    assert write_locator(seen, index_of(seen, "x"), author=author) == ()


@pytest.mark.parametrize(
    "author",
    [
        Locator(role="button", name="Delete", nth=1),
        Locator(css="li:nth-child(2) > button"),
        Locator(css="li:last-of-type button"),
        Locator(xpath="//li[2]/button"),
        Locator(xpath="//li[last()]/button"),
    ],
    ids=str,
)
def test_a_position_may_replace_a_position(author: Locator) -> None:
    seen = page(TWINS)

    (best, *_) = write_locator(seen, index_of(seen, "x"), author=author)

    assert resolve(best, seen) == (index_of(seen, "x"),)


def test_what_a_check_expects_does_not_stand_in_its_locator() -> None:
    seen = page("""
    html
      div .cart
        p :t=x .sum title="42 EUR" "Total 42 EUR"
    """)

    ways = write_locator(seen, index_of(seen, "x"), author=Locator(text="Total"), avoid_text=["42 EUR", "Total 42 EUR"])

    assert ways
    assert not any("42" in str(way) for way in ways)


def test_noise_is_no_mark() -> None:
    seen = page("""
    html
      button :t=x #promo "Today only"
      button "Other"
    """)

    assert first(seen, "x", noise=frozenset({"promo"})) == 'role "button", name "Today only"'


def test_an_element_in_a_frame_names_its_frames() -> None:
    seen = page("""
    html
      iframe title=Payment
        html !frame
          iframe #card-field
            html !frame
              button :t=x "Pay"
    """)
    frame = (Locator(css="iframe[title='Payment']"), Locator(css="iframe"))

    assert first(seen, "x") == 'role "button", name "Pay", frame [{"title": "Payment"}, {"css": "#card-field"}]'
    (kept, *_) = write_locator(seen, index_of(seen, "x"), author=Locator(css="#pay", frame=frame))
    assert kept.frame == frame


def test_an_element_in_a_shadow_root_gets_no_xpath() -> None:
    seen = page("""
    html
      x-card #one
        button :t=x !shadow "Save"
      x-card #two
        button !shadow "Save"
    """)

    ways = write_locator(seen, index_of(seen, "x"), author=Locator(xpath="//button"))

    assert str(ways[0]) == 'role "button", name "Save", within {"css": "#one"}'
    assert not any(way.xpath for way in ways)


@pytest.mark.parametrize(
    "token",
    [
        ":r1a:", "ember123", "ext-gen1023", "radix-:r3:", "css-1q2w3e4", "sc-bdVaJa", "Button_root__a1B2c", "jss42",
        "550e8400-e29b-41d4-a716-446655440000", "a3f9c2e1", "id_1234567", "react-select-2-input", "mat-input-3",
        "headlessui-menu-button-4", "gwt-uid-12", "svelte-1x2y3z", "kQxZpT", "main.3f2a9c1b", "_ngcontent-abc-c12",
    ],
)  # fmt: skip
def test_marks_that_programs_make_are_known(token: str) -> None:
    assert looks_generated(token)


@pytest.mark.parametrize(
    "token",
    [
        "", "save", "login-form", "id_username", "address2", "col-md-6", "h1", "oauth2-login", "nav__link--active",
        "userName", "passwordConfirmation", "product-42", "step-10", "base64", "html5", "btnSaveAll", "getURLPath",
        "i18n", "p-2", "input_email", "strengths", "facade", "Grüße", "保存", "palette-header-function",
    ],
)  # fmt: skip
def test_marks_that_people_give_are_left_alone(token: str) -> None:
    assert not looks_generated(token)


MARKS = st.text(alphabet=st.sampled_from("ab1-_ .:#\"'\\é\n\t]>"), min_size=1, max_size=8)


@given(MARKS)
@example("'")
@example('"')
def test_quoted_marks_are_found_again(mark: str) -> None:
    seen = PageSnapshot("x", elements=(Element(0, -1, "html", {}), Element(1, 0, "p", {"id": mark, "class": mark})))

    assert resolve(Locator(css=css_id(mark)), seen) == (1,)
    assert resolve(Locator(css=f"[class={css_string(mark)}]"), seen) == (1,)
    for name in mark.split():
        assert resolve(Locator(css=f".{css_ident(name)}"), seen) == (1,)


TAGS = ["div", "p", "button", "a", "input", "li", "ul", "iframe", "x-card", "span"]
ROLES = {"button": "button", "a": "link", "input": "textbox", "li": "listitem", "ul": "list", "p": "paragraph"}
TEXTS = st.sampled_from(["", "Save", "save as", "Total 42", "Remove", "\ue001", "Ünïcode ‘x’", 'say "hi" \\ there'])


@st.composite
def pages(draw: st.DrawFn) -> PageSnapshot:
    elements = [Element(0, -1, "html", {})]
    open_ones = [0]
    for index in range(1, draw(st.integers(2, 14))):
        del open_ones[draw(st.integers(1, len(open_ones))) :]
        parent = elements[open_ones[-1]]
        edge = (
            "frame" if parent.tag == "iframe" else draw(st.sampled_from(["", "", "shadow"])) * (parent.tag == "x-card")
        )
        tag = "html" if edge == "frame" else draw(st.sampled_from(TAGS))
        marks = st.sampled_from(["", "", "main", "a b", "1st", "ember7", 'x"y'])
        attributes = {key: value for key in ("id", "class", "name", "title", "href") if (value := draw(marks))}
        text = draw(TEXTS)
        elements.append(
            Element(
                index, parent.index, tag, attributes, ((0, text),) if text else (), role=ROLES.get(tag, ""),
                name=text if tag in ("button", "a") else "", edge=edge, rendered=draw(st.booleans()),
            )
        )  # fmt: skip
        open_ones.append(index)
        if parent.tag == "iframe":
            open_ones.remove(parent.index)  # a frame holds one document
    return PageSnapshot("http://shop.test/", elements=tuple(elements))


AUTHORS = st.sampled_from(
    [
        None,
        Locator(role="button", name="Store", exact=True),
        Locator(css="div > .a:nth-child(2)"),
        Locator(text="Save", within=Locator(css="div"), nth=0),
        Locator(xpath="//a", has_text="Total"),
    ]
)


@settings(max_examples=120)
@given(pages(), AUTHORS, st.data())
def test_whatever_is_written_hits_that_element_and_no_other(
    seen: PageSnapshot, author: Locator | None, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(seen.elements) - 1))

    ways = write_locator(seen, index, author=author, avoid_text=["Total 42"])

    for way in ways:
        assert resolve(way, seen) == (index,)
        assert "Total 42" not in str(way)
        assert locators.read(locators.write(way)) == way
