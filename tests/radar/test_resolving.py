"""radar/resolving.py: which elements of a snapshot a locator hits."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radar.elements import Element, PageSnapshot, fold
from radar.errors import BadLocator, Unresolvable
from radar.locators import Locator
from radar.resolving import check_selector, resolve

ROLES = {
    "a": "link", "button": "button", "h1": "heading", "h2": "heading", "li": "listitem", "ul": "list", "tr": "row",
    "td": "cell", "th": "columnheader", "table": "table", "nav": "navigation", "main": "main", "input": "textbox",
    "select": "combobox", "dialog": "dialog", "img": "img", "p": "paragraph",
}  # fmt: skip
NAMED_BY_CONTENT = {"link", "button", "heading", "row", "cell", "columnheader"}
LINE = re.compile(r"""(?P<tag>[^\s"#.!]+)|\#(?P<id>\S+)|\.(?P<class>\S+)|!(?P<flag>\S+)|"(?P<text>[^"]*)\"""")


def page(text: str) -> PageSnapshot:
    """A page from an indented text: `button #save .wide type=submit !hidden "Save"`; a line in quotes is a text.

    Flags: hidden, shadow and frame (the edge above it), checked, disabled.
    """
    rows: list[dict[str, Any]] = []
    around: list[tuple[int, int]] = []
    for line in filter(str.strip, text.splitlines()):
        indent, line = len(line) - len(line.lstrip()), line.strip()
        while around and around[-1][0] >= indent:
            around.pop()
        parent = around[-1][1] if around else -1
        if line.startswith('"'):
            rows[parent]["pieces"].append((rows[parent]["kids"], line.strip('"')))
            continue
        if line in ("br", "script"):
            rows[parent]["pieces"].append((rows[parent]["kids"], "\n" if line == "br" else ""))
            continue
        row = read_line(line)
        if parent >= 0 and "shadow" not in row["flags"] and "frame" not in row["flags"]:
            rows[parent]["kids"] += 1
        around.append((indent, len(rows)))
        rows.append({**row, "parent": parent})
    return named(tuple(element(index, row, rows) for index, row in enumerate(rows)))


def read_line(line: str) -> dict[str, Any]:
    row: dict[str, Any] = {"tag": "", "attributes": {}, "pieces": [], "flags": set(), "kids": 0}
    line = re.sub(r'([\w:@-]+)=("[^"]*"|\S+)', lambda m: row["attributes"].update({m[1]: m[2].strip('"')}) or "", line)
    for found in LINE.finditer(line):
        match found.lastgroup:
            case "tag":
                row["tag"] = found["tag"]
            case "id":
                row["attributes"]["id"] = found["id"]
            case "class":
                row["attributes"]["class"] = " ".join([*row["attributes"].get("class", "").split(), found["class"]])
            case "flag":
                row["flags"].add(found["flag"])
            case _:
                row["pieces"].append((0, found["text"]))
    return row


def element(index: int, row: dict[str, Any], rows: list[dict[str, Any]]) -> Element:
    attributes, flags = row["attributes"], row["flags"]
    at, shown = index, True
    while at >= 0:
        shown, at = shown and "hidden" not in rows[at]["flags"], rows[at]["parent"]
    implied = {"checkbox": "checkbox", "radio": "radio", "submit": "button"}.get(attributes.get("type", ""))
    return Element(
        index=index, parent=row["parent"], tag=row["tag"], attributes=attributes, pieces=tuple(row["pieces"]),
        role=attributes.get("role") or implied or ROLES.get(row["tag"], ""),
        edge="shadow" if "shadow" in flags else "frame" if "frame" in flags else "",
        visible=shown, rendered=shown, enabled="disabled" not in flags, checked="checked" in flags,
    )  # fmt: skip


def named(elements: tuple[Element, ...]) -> PageSnapshot:
    bare = PageSnapshot("http://shop.test/", elements=elements)
    return replace(bare, elements=tuple(replace(one, name=name_of(bare, one)) for one in elements))


def name_of(bare: PageSnapshot, one: Element) -> str:
    content = bare.texts[one.index] if one.role in NAMED_BY_CONTENT else ""
    label = " ".join(
        bare.texts[other.index] for other in bare.elements if other.get("for") and other.get("for") == one.get("id")
    )
    value = one.get("value") if one.get("type") == "submit" else ""
    texts = (one.get("aria-label"), label, value, content, one.get("alt"), one.get("title"), one.get("placeholder"))
    return fold(next(filter(None, texts), "")) if one.role else ""


def hit(seen: PageSnapshot, locator: Locator) -> list[str]:
    """The ids of what it hits; where there is none, the tag."""
    return [seen.elements[at].get("id") or seen.elements[at].tag for at in resolve(locator, seen)]


SHOP = page("""
html
  body
    nav aria-label="Main menu"
      a #home href=/ "Home"
      a #orders href=/orders title="All Orders" "Orders"
    main
      h1 #title "Your  basket"
      ul #basket
        li #one data-testid=item-1 .row
          "Blue mug "
          button #drop1 .small .danger "Remove"
        li #two data-testid=item-2 .row
          "Red plate "
          button #drop2 .small .danger "Remove"
        br
        li #three .row .last
          "Total"
          button #all "Remove all"
      label #lmail for=mail "E-mail"
      input #mail type=email name=mail placeholder="you@example.com"
      label #lphone
        "Phone"
        input #phone
      input #agree type=checkbox aria-label="I agree" !checked
      input #send type=submit value="Place order"
      button #later type=button disabled="" !disabled "Save for later"
      div !hidden
        button #ghost "Remove"
      img #logo alt="The Shop"
""")


@pytest.mark.parametrize(
    ("locator", "found"),
    [
        (Locator(role="link"), ["home", "orders"]),
        (Locator(role="button", name="remove"), ["drop1", "drop2", "all"]),
        (Locator(role="button", name="Remove", exact=True), ["drop1", "drop2"]),
        (Locator(role="button", name="remove", exact=True), []),
        (Locator(role="heading", name="your basket"), ["title"]),
        (Locator(role="navigation", name="menu"), ["nav"]),
        (Locator(test_id="item-1"), ["one"]),
        (Locator(test_id="ITEM-1"), []),
        (Locator(label="e-mail"), ["mail"]),
        (Locator(label="Phone"), ["phone"]),
        (Locator(label="agree"), ["agree"]),
        (Locator(label="agree", exact=True), []),
        (Locator(placeholder="YOU@"), ["mail"]),
        (Locator(placeholder="you@", exact=True), []),
        (Locator(title="orders"), ["orders"]),
        (Locator(alt="shop"), ["logo"]),
        (Locator(text="blue MUG"), ["one"]),
        (Locator(text="Your basket", exact=True), ["title"]),
        (Locator(text="your basket", exact=True), []),
        (Locator(text="place order"), ["send"]),
        (Locator(text="Remove", exact=True), ["drop1", "drop2", "ghost"]),
        (Locator(css="li", has_text="plate"), ["two"]),
        (Locator(css=".row", test_id="item-2"), ["two"]),
        (Locator(role="button", within=Locator(css="li", has_text="red")), ["drop2"]),
        (Locator(text="Total", within=Locator(css="li")), ["three"]),
        (Locator(role="button", nth=1), ["drop2"]),
        (Locator(role="button", nth=-1), ["later"]),
        (Locator(role="button", nth=-2), ["send"]),
        (Locator(role="button", nth=9), []),
        (Locator(role="button", nth=-9), []),
    ],
    ids=str,
)
def test_each_key_means_what_it_means_in_playwright(locator: Locator, found: list[str]) -> None:
    assert hit(SHOP, locator) == found


@pytest.mark.parametrize(
    ("css", "found"),
    [
        ("#one", ["one"]),
        ("LI.row", ["one", "two", "three"]),
        ("[data-testid=item-1]", ["one"]),
        ("[data-testid='ITEM-1']", []),
        ("[data-testid='ITEM-1' i]", ["one"]),
        ("[type=EMAIL]", ["mail"]),
        ("a[href^='/o'], a[href$='/']", ["home", "orders"]),
        ("[title~=Orders]", ["orders"]),
        ("[class*=dang]", ["drop1", "drop2"]),
        ("main > ul > li > button", ["drop1", "drop2", "all"]),
        ("main button.small", ["drop1", "drop2"]),
        ("li + li", ["two"]),
        ("li ~ li", ["two", "three"]),
        ("li:first-child", ["one"]),
        ("li:nth-child(3)", []),
        ("li:nth-child(4)", ["three"]),
        ("li:nth-child(2n+1)", ["one"]),
        ("li:nth-of-type(3)", ["three"]),
        ("li:last-child button:only-child", ["all"]),
        ("li:not(.last)", ["one", "two"]),
        (":is(li, ul) > button:is(.small)", ["drop1", "drop2"]),
        ("li:has(> button:text-is('Remove all'))", ["three"]),
        ("ul:has(li .danger)", ["basket"]),
        ("label:has(+ input)", ["lmail", "lphone"]),
        ("li:has-text('mug')", ["one"]),
        ("button:text('remove')", ["drop1", "drop2", "all", "ghost"]),
        ("button:text-is('Remove'):visible", ["drop1", "drop2"]),
        (":nth-match(:text('Remove'), 2)", ["drop2"]),
        ("input:checked", ["agree"]),
        ("button:disabled", ["later"]),
        ("input:enabled", ["mail", "phone", "agree", "send"]),
        (":root", ["html"]),
        ("ul >> button >> nth=-1", ["all"]),
        ("css=li >> text=Remove all", ["all"]),
        ("li >> :scope > button", ["drop1", "drop2", "all"]),
        ('"Remove all"', ["all"]),
        ("text='Orders'", ["orders"]),
        ("text=order", ["orders", "send"]),
        ('role=button[name="Remove"]', ["drop1", "drop2"]),
        ('role=button[name="remove"i]', ["drop1", "drop2"]),
        ("role=heading[level=1]", ["title"]),
        ("button >> visible=false", ["ghost"]),
        ("//li/button", ["drop1", "drop2", "all"]),
        ("li >> xpath=./button >> ..", ["one", "two", "three"]),
        ("data-testid=item-2", ["two"]),
        ("id=mail", ["mail"]),
    ],
)
def test_css_and_selector_chains(css: str, found: list[str]) -> None:
    assert hit(SHOP, Locator(css=css)) == found


@pytest.mark.parametrize(
    ("xpath", "found"),
    [
        ("//li[2]/button", ["drop2"]),
        ("//LI[@id='one']", ["one"]),
        ("//*[@data-testid='item-1']//button", ["drop1"]),
        ("//h1[normalize-space()='Your basket']", ["title"]),
        ("//button[text()='Remove']", ["drop1", "drop2", "ghost"]),
        ("//ul/*[4]", ["three"]),
        ("/html/body/main/ul", ["basket"]),
        ("(//li)[last()]", ["three"]),
        ("//li[contains(., 'Red')]", ["two"]),
    ],
)
def test_xpath(xpath: str, found: list[str]) -> None:
    assert hit(SHOP, Locator(xpath=xpath)) == found


def test_xpath_starts_below_the_scope() -> None:
    assert hit(SHOP, Locator(xpath="//button", within=Locator(css="#two"))) == ["drop2"]


DEEP = page("""
html
  body
    x-card #card
      p #inner !shadow
        button #save "Save"
      x-icon #icon !shadow
        button #deep !shadow "Save as"
      span #light "Light save"
    iframe #first title="Payment"
      html #framed !frame
        body
          button #pay "Save"
          iframe #nested
            html !frame
              button #inmost "Save"
    iframe #foreign title="Map"
    svg #chart "axis"
""")


@pytest.mark.parametrize(
    ("locator", "found"),
    [
        (Locator(css="x-card button"), ["save", "deep"]),
        (Locator(css="x-card > p > button"), ["save"]),
        (Locator(css="body:has(#deep)"), ["body"]),
        (Locator(role="button"), ["save", "deep"]),
        (Locator(text="save as"), ["deep"]),
        (Locator(css="x-card", has_text="save as"), ["card"]),
        (Locator(role="button", name="Save", nth=1), ["deep"]),
        (Locator(css="body *", nth=1), ["light"]),
        (Locator(xpath="//button"), []),
        (Locator(role="button", frame=(Locator(title="Payment"),)), ["pay"]),
        (Locator(css=":root", frame=(Locator(css="#first"),)), ["framed"]),
        (Locator(xpath="//button", frame=(Locator(css="#first"),)), ["pay"]),
        (Locator(role="button", frame=(Locator(css="#first"), Locator(css="iframe"))), ["inmost"]),
        (Locator(role="button", frame=(Locator(css="iframe"),)), []),
        (Locator(role="button", frame=(Locator(css="#gone"),)), []),
    ],
    ids=str,
)
def test_shadow_roots_are_seen_through_and_frames_are_entered_by_name(locator: Locator, found: list[str]) -> None:
    assert hit(DEEP, locator) == found


@pytest.mark.parametrize(
    "locator",
    [
        Locator(css="button:hover"),
        Locator(css="p::before"),
        Locator(css="svg > path"),
        Locator(css="script"),
        Locator(css="[style]"),
        Locator(css="internal:role=button"),
        Locator(css="text=/save/i"),
        Locator(css="p:near(button)"),
        Locator(css="#inner:first-child"),
        Locator(css="a["),
        Locator(xpath="//*[name()='path']"),
        Locator(xpath="count(//a)"),
        Locator(xpath="//a:b"),
        Locator(xpath="//button", within=Locator(css="#inner")),
        Locator(role="none"),
        Locator(role="button", frame=(Locator(css="#foreign"),)),
    ],
    ids=str,
)
def test_what_a_snapshot_cannot_answer_is_said_and_not_guessed(locator: Locator) -> None:
    with pytest.raises(Unresolvable):
        resolve(locator, DEEP)


def test_texts_are_compared_with_white_space_folded_and_across_elements() -> None:
    seen = page("""
    html
      p #split
        "Hello "
        b #bold "big\t"
        "world"
      p #broken
        "Hello"
        br
        "world"
    """)

    assert hit(seen, Locator(text="hello big world")) == ["split"]
    assert hit(seen, Locator(text="Helloworld", exact=True)) == ["broken"]
    assert hit(seen, Locator(css="text='world'")) == ["split", "broken"]


def test_a_label_names_its_field_by_reference_before_all_else() -> None:
    seen = page("""
    html
      i #a "First"
      i #b "Second"
      div #both aria-labelledby="a b" aria-label="Other"
      input #none aria-label="Other"
    """)

    assert hit(seen, Locator(label="Second", exact=True)) == ["both"]
    assert hit(seen, Locator(label="other")) == ["none"]


def test_the_test_id_attribute_is_the_projects_choice() -> None:
    seen = page("""
    html
      button #x data-cy=save
    """)

    assert resolve(Locator(test_id="save"), seen, test_id_attribute="data-cy") == (1,)
    assert resolve(Locator(test_id="save"), seen) == ()


def test_a_page_ten_thousand_levels_deep_is_no_trouble() -> None:
    elements = tuple(Element(i, i - 1, "div", {"id": f"e{i}"}, ((0, f"text {i}."),)) for i in range(10_000))
    seen = PageSnapshot("http://deep.test/", elements=elements)

    assert resolve(Locator(text="text 9999."), seen) == (9999,)
    assert resolve(Locator(css="div div > #e5000"), seen) == (5000,)
    assert resolve(Locator(css="div:has(#e2)"), seen) == (0, 1)
    assert resolve(Locator(xpath="//div[@id='e9000']"), seen) == (9000,)


def test_characters_that_xml_does_not_take_are_no_trouble() -> None:
    strange = {"@click": "a", "v:b": "\x00", "bad name": "\ud800", "title": "\x01"}
    seen = PageSnapshot("x", elements=(Element(0, -1, "html", {}), Element(1, 0, "a<b", strange, ((0, "\x02\udfff"),))))

    assert resolve(Locator(xpath="//*[@title]"), seen) == (1,)
    assert resolve(Locator(css="[title]"), seen) == (1,)


def test_an_empty_page_has_nothing() -> None:
    assert resolve(Locator(css="html"), PageSnapshot("x")) == ()


@pytest.mark.parametrize(
    "locator",
    [
        Locator(css="div["),
        Locator(css="a >> "),
        Locator(css="#1a"),
        Locator(css='"open'),
        Locator(css="li:nth-child(x)"),
        Locator(css="role=[name='x'"),
        Locator(xpath="//a["),
        Locator(role="button", within=Locator(css="..>")),
        Locator(role="button", frame=(Locator(css="a,"),)),
        Locator(role="button", alternatives=(Locator(xpath="//["),)),
    ],
    ids=str,
)
def test_a_selector_that_no_browser_can_read_is_refused(locator: Locator) -> None:
    with pytest.raises(BadLocator, match=r"cannot be read|names no role"):
        check_selector(locator)


@pytest.mark.parametrize(
    "css", ["a:hover", "p::before", "internal:role=button", "x|y", ":near(p)", "li >> text=Save", "//a", "[on\\:x]"]
)
def test_a_selector_that_only_a_browser_can_answer_is_not_refused(css: str) -> None:
    check_selector(Locator(css=css))


@given(st.text(max_size=30))
def test_any_text_as_a_selector_is_answered_or_refused_with_a_reason(text: str) -> None:
    for locator in (Locator(css=text), Locator(xpath=text), Locator(text=text), Locator(role="button", name=text)):
        answer = answer_of(locator)

        assert answer
        assert isinstance(answer, str) or list(answer[1:]) == sorted(set(answer[1:]))


def answer_of(locator: Locator) -> str | tuple[int, ...]:
    try:
        return (-1, *resolve(locator, SHOP))
    except Unresolvable as error:
        return str(error)


# --- regular expressions ----------------------------------------------------------------------------------------

PATTERNED = """html
  body
    p #spread
      "  Total  "
      b "42"
    p #plain "Total 42"
    input #mail label="E-mail" placeholder="you@shop.test"
"""


@pytest.mark.parametrize(
    ("locator", "found"),
    [
        (Locator(text="(?i)total", regex=True), ["spread", "plain"]),
        (Locator(text="^Total", regex=True), ["plain"]),
        (Locator(css="p", has_text=r"Total\s+42", regex=True), ["spread", "plain"]),
        (Locator(css="p", has_not_text="^T", regex=True), ["spread"]),
        (Locator(placeholder=r"@shop\.test$", regex=True), ["mail"]),
    ],
)
def test_patterns_are_tried_on_texts_as_the_page_holds_them(locator: Locator, found: list[str]) -> None:
    shown = page(PATTERNED)

    assert [shown.elements[at].get("id") for at in resolve(locator, shown)] == found


def test_where_unseen_white_space_decides_a_pattern_is_not_answered() -> None:
    shown = page('p #a\n  " "\n  b "x"\n')

    with pytest.raises(Unresolvable, match="white space"):
        resolve(Locator(css="p", has_text="^ x", regex=True), shown)


def test_a_pattern_that_takes_too_long_is_not_answered() -> None:
    shown = page(f'p #a "{"a" * 200}!"\n')

    with pytest.raises(Unresolvable, match="takes too long"):
        resolve(Locator(text="^(a|aa)+$", regex=True), shown)
