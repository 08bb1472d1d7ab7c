"""radar/matching.py: which new element an old one became, and when it is gone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

import pytest

from radar.by_words import find_by_locator
from radar.elements import Box, Element, PageSnapshot
from radar.features import FEATURES
from radar.locators import Locator
from radar.matching import PageMatch, find_again, match_pages
from radar.taking import can_take
from radar.things import is_volatile, looks_generated, view, words_of

ROLES = {
    "a": "link", "button": "button", "select": "combobox", "textarea": "textbox", "h1": "heading", "h2": "heading",
    "h3": "heading", "nav": "navigation", "header": "banner", "footer": "contentinfo", "main": "main", "li": "listitem",
    "td": "cell", "th": "columnheader", "tr": "row", "table": "table", "p": "paragraph", "dialog": "dialog",
}  # fmt: skip
INPUTS = {"checkbox": "checkbox", "radio": "radio", "submit": "button", "file": "button", "number": "spinbutton"}
FROM_CONTENT = ("link", "button", "heading", "cell", "columnheader")


@dataclass
class Node:
    tag: str
    below: tuple[Any, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    hidden: bool = False
    edge: str = ""
    label: str = ""


def n(tag: str, *below: Any, hidden: bool = False, edge: str = "", label: str = "", **attributes: str) -> Node:
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    return Node(tag, below, named, hidden, edge, label)


def page(*below: Any, language: str = "en") -> PageSnapshot:
    """A small page: what stands later in the document stands lower on the screen."""
    elements: list[Element] = []

    def add(node: Node, parent: int, depth: int, hidden: bool) -> str:
        index = len(elements)
        elements.append(Element(index=index, parent=parent, tag=node.tag, attributes=node.attributes))
        texts, pieces, before = [], [], 0
        for child in node.below:
            if isinstance(child, Node):
                texts.append(add(child, index, depth + 1, hidden or node.hidden))
                before += 1
            else:
                pieces.append((before, str(child)))
                texts.append(str(child))
        text = " ".join(filter(None, texts))
        kind = node.attributes.get("type", "")
        role = node.attributes.get("role") or (INPUTS.get(kind, "textbox") if node.tag == "input" else "")
        role = role or ROLES.get(node.tag, "")
        shown = not (hidden or node.hidden)
        name = node.label or (text if role in FROM_CONTENT else "") or node.attributes.get("placeholder", "")
        elements[index] = Element(
            index=index, parent=parent, tag=node.tag, attributes=node.attributes, pieces=tuple(pieces), role=role,
            name=name if role else "", label=node.label, edge=node.edge, visible=shown, rendered=shown,
            box=Box(8 * depth, 24 * index, 300 - 10 * depth, 20 + 24 * (len(elements) - index - 1)),
        )  # fmt: skip
        return text if shown else ""

    add(n("html", n("body", *below)), -1, 0, False)
    return PageSnapshot("http://shop.test/", language=language, elements=tuple(elements))


def at(seen: PageSnapshot, **attributes: str) -> int:
    """The element with these attributes, or with this `text`."""
    text = attributes.pop("text", None)
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    return next(
        e.index
        for e in reversed(seen.elements)
        if (text is None or seen.texts[e.index] == text) and all(e.get(k) == v for k, v in named.items())
    )


def header() -> Node:
    return n(
        "header", n("nav", n("a", "Home", href="/"), n("a", "Orders", href="/orders"), n("a", "Help", href="/help"))
    )


def footer() -> Node:
    return n("footer", n("p", "Terms and privacy"), n("a", "Contact", href="/contact"))


def form(*below: Any) -> PageSnapshot:
    return page(header(), n("main", n("h1", "Your account"), n("form", *below)), footer())


def test_a_button_with_another_id_and_class_is_found_by_its_name() -> None:
    old = form(n("input", name="mail", label="E-mail"), n("button", "Save profile", id="save", class_="btn"))
    new = form(n("input", name="mail", label="E-mail"), n("button", "Save profile", id="store", class_="cta wide"))

    match = find_again(old, at(old, id="save"), new, action="click")

    assert (match.verdict, match.element) == ("found", at(new, id="store"))
    assert "same name" in match.reasons
    assert match.probability >= 0.9


def test_a_link_that_became_a_button_with_the_same_words_is_found() -> None:
    old = page(
        n("header", n("a", "Help", href="/help"), n("a", "Log out", href="/logout")), n("h1", "Orders"), footer()
    )
    new = page(
        n("header", n("a", "Help", href="/help"), n("form", n("button", "Log out", type="submit"))),
        n("h1", "Orders"),
        footer(),
    )

    match = find_again(old, at(old, href="/logout"), new, action="click")

    assert (match.verdict, match.element) == ("found", at(new, text="Log out", type="submit"))
    assert "link became button" in match.reasons


def test_the_neighbour_is_never_the_answer_when_the_element_is_gone() -> None:
    old = form(n("button", "Apply"), n("button", "Reset filters", id="reset"), n("button", "Reset board"))
    new = form(n("button", "Apply"), n("button", "Reset board"))

    match = find_again(old, at(old, id="reset"), new, action="click")

    assert match.verdict != "found"
    assert any("already stood on the old page" in reason for c in match.candidates for reason in c.reasons)


def test_a_removed_element_of_a_known_page_is_called_gone() -> None:
    old = form(n("button", "Apply"), n("button", "Reset filters", id="reset"), n("button", "Reset board"))
    new = form(n("button", "Apply"), n("button", "Reset board"))

    assert find_again(old, at(old, id="reset"), new, action="click").verdict == "gone"


def test_a_hidden_copy_is_not_the_answer_for_a_click() -> None:
    old = form(n("button", "Apply"), n("button", "Reset filters", id="reset"))
    new = form(n("button", "Apply"), n("div", n("button", "Reset filters", class_="drawer"), hidden=True))

    match = find_again(old, at(old, id="reset"), new, action="click")

    assert match.verdict != "found"


def test_an_id_handed_on_to_the_neighbour_does_not_carry_the_element_with_it() -> None:
    old = page(n("nav", *[n("a", name, id=f"menu{i}") for i, name in enumerate(("Shipping", "Tracking", "Support"))]))
    new = page(
        n("nav", *[n("a", name, id=f"menu{i}") for i, name in enumerate(("Deals", "Shipping", "Tracking", "Support"))])
    )

    match = find_again(old, at(old, text="Shipping", id="menu0"), new, action="click")

    assert match.element == at(new, id="menu1")
    assert find_again(old, at(old, id="menu2"), new).element == at(new, id="menu3")


def test_equal_buttons_are_told_apart_by_the_key_of_their_row() -> None:
    def table(*names: str) -> PageSnapshot:
        rows = [n("tr", n("td", name), n("td", n("button", "Delete", class_=f"x{i}"))) for i, name in enumerate(names)]
        return page(header(), n("table", n("tr", n("th", "Customer"), n("th", "")), *rows))

    old, new = table("Ada Byron", "Ben Noor", "Cy Gupta"), table("Zoe Hart", "Ada Byron", "Cy Gupta", "Ben Noor")

    match = find_again(old, at(old, class_="x1"), new, action="click")

    assert (match.verdict, match.element) == ("found", at(new, class_="x3"))
    assert "same row" in match.reasons


def test_the_button_of_a_row_that_left_is_not_the_button_of_another_row() -> None:
    def table(*names: str) -> PageSnapshot:
        rows = [n("tr", n("td", name), n("td", n("button", "Delete"))) for name in names]
        return page(header(), n("table", n("tr", n("th", "Customer"), n("th", "")), *rows))

    old, new = table("Ada Byron", "Ben Noor", "Cy Gupta"), table("Ada Byron", "Cy Gupta")
    ben = old.children[next(e.parent for e in old.elements if e.own_text == "Ben Noor")][1]
    button = old.children[ben][0]

    assert find_again(old, button, new, action="click").verdict != "found"


def test_a_password_field_is_never_matched_to_another_field() -> None:
    old = form(n("input", type="password", id="pin", label="PIN"), n("button", "Sign in"))
    new = form(n("input", type="text", id="pin", label="PIN"), n("button", "Sign in"))

    match = find_again(old, at(old, id="pin"), new, action="fill")

    assert match.verdict != "found"


def test_a_check_does_not_follow_its_words_to_another_place() -> None:
    """The total became another amount; the amount it had stands elsewhere."""
    old = page(
        n(
            "main",
            n("h1", "Bag"),
            n("div", n("strong", "Total"), n("strong", "$48.00", id="total")),
            n("button", "Pay"),
        ),
        n("aside", n("h2", "Earlier orders"), n("p", "No. 5521"), n("span", "$48.00", class_="amount")),
    )
    new = page(
        n(
            "main",
            n("h1", "Bag"),
            n("div", n("strong", "Total"), n("strong", "$54.00", class_="sum")),
            n("button", "Pay"),
        ),
        n("aside", n("h2", "Earlier orders"), n("p", "No. 5521"), n("span", "$48.00", class_="amount")),
    )

    match = find_again(old, at(old, id="total"), new, action="assert_text")

    assert match.element == at(new, class_="sum")


def test_words_do_not_count_for_a_check_of_words() -> None:
    old = page(
        n("main", n("h1", "Team"), n("button", "Next")), n("aside", n("h2", "Ada Byron", id="card"), n("p", "Sales"))
    )
    new = page(
        n("main", n("h1", "Team"), n("button", "Next"), n("button", "Ada Byron")),
        n("aside", n("h2", "Nobody", id="card")),
    )

    assert find_again(old, at(old, id="card"), new, action="assert_text").element == at(new, id="card")


def test_a_container_is_never_the_answer() -> None:
    old = form(n("p", "Seats are kept for ten minutes", id="note"), n("button", "Reserve"), n("button", "Cancel"))
    new = form(n("div", n("button", "Reserve"), n("button", "Cancel"), id="note"))

    match = find_again(old, at(old, id="note"), new, action="assert_visible")

    assert match.verdict != "found"


def test_a_link_around_a_span_is_one_thing_and_the_link_takes_the_click() -> None:
    old = page(n("nav", n("a", n("span", "Orders", class_="inner"), href="/orders")), n("h1", "Shop"))
    new = page(n("nav", n("li", n("a", n("span", "Orders"), href="/shop/orders"))), n("h1", "Shop"))

    match = find_again(old, at(old, class_="inner"), new, action="click")

    assert match.element == at(new, href="/shop/orders")
    assert view(new).thing_of[at(new, href="/shop/orders")] == view(new).thing_of[at(new, text="Orders")]


def test_an_element_that_moved_into_a_shadow_root_is_found_beside_a_look_alike() -> None:
    letter = n("form", n("h2", "Newsletter"), n("input", name="letter", label="Full name"), n("button", "Subscribe"))
    old = page(
        header(),
        letter,
        n("form", n("h2", "Book seats"), n("input", id="holder", label="Full name"), n("button", "Reserve seats")),
    )
    new = page(
        header(),
        letter,
        n("seat-box", n("h2", "Book seats", edge="shadow"), n("div", n("input", label="Full name"), edge="shadow"),
          n("button", "Reserve seats", edge="shadow")),
    )  # fmt: skip

    match = find_again(old, at(old, id="holder"), new, action="fill")

    assert match.element is not None
    assert new.elements[match.element].get("name") != "letter"
    assert new.elements[match.element].tag == "input"


def test_a_guess_in_another_language_is_not_called_found() -> None:
    old = form(n("input", id="guests", type="number", label="Guests"), n("button", "Save changes", class_="cta"))
    new = page(
        n("header", n("nav", n("a", "Start", href="/"), n("a", "Bestellungen", href="/orders"))),
        n("main", n("h1", "Ihr Konto"), n("form", n("input", id="guests", type="number", label="Gäste"),
          n("button", "Änderungen speichern", class_="cta"))),
        language="de",
    )  # fmt: skip

    assert find_again(old, at(old, class_="cta"), new, action="click").verdict != "found"


def test_no_new_element_is_given_to_two_old_ones() -> None:
    old = form(n("button", "Save", id="a"), n("button", "Save and close", id="b"), n("button", "Save draft", id="c"))
    new = form(n("button", "Save", id="x"), n("button", "Save and exit", id="y"))

    found = [find_again(old, at(old, id=name), new, action="click") for name in "abc"]
    given = [match.element for match in found if match.verdict == "found"]

    assert len(given) == len(set(given))


def test_an_unchanged_page_gives_every_element_to_itself() -> None:
    seen = form(n("input", name="mail", label="E-mail"), n("button", "Save"), n("a", "Cancel", href="/"))

    pairs = match_pages(
        seen, form(n("input", name="mail", label="E-mail"), n("button", "Save"), n("a", "Cancel", href="/"))
    ).pairs

    assert set(pairs) >= {at(seen, name="mail"), at(seen, text="Save"), at(seen, text="Cancel", href="/")}
    assert all(old == new for old, new in pairs.items())
    assert len(set(pairs.values())) == len(pairs)


def test_an_empty_page_has_no_answer_and_proves_nothing_gone() -> None:
    old = form(n("button", "Save", id="save"))

    match = find_again(old, at(old, id="save"), PageSnapshot("http://shop.test/"), action="click")

    assert (match.verdict, match.element, match.candidates) == ("unsure", None, ())


FRUIT = "Apples Pears Plums Quinces Cherries Figs Dates Limes Kiwis Grapes Melons Berries Lemons Olives Nuts".split()
WHEELS = "Vans Trucks Bikes Trams Ferries Trains Buses Taxis Planes Boats Skates Sleds Carts Rafts Mopeds".split()


@pytest.mark.parametrize(
    ("below", "path", "expected"),
    [
        pytest.param([n("section", n("h2", word)) for word in WHEELS], "/", "gone", id="redrawn: as full as before"),
        pytest.param([n("section", n("h2", word)) for word in WHEELS], "/login", "unsure", id="another address"),
        pytest.param([n("p", "Please wait")], "/", "unsure", id="half a page"),
    ],
)
def test_what_is_missing_from_a_page_that_is_hardly_known_is_gone_only_if_it_was_redrawn(
    below: list[Node], path: str, expected: str
) -> None:
    old = page(header(), n("main", *[n("p", f"{word} of the season") for word in FRUIT], n("button", "Print", id="p")))
    new = replace(page(header(), n("main", *below)), url=f"http://shop.test{path}")

    assert find_again(old, at(old, id="p"), new, action="click").verdict == expected
    assert PageMatch(old, new).kept < 0.3


def test_an_answer_is_the_same_every_time() -> None:
    old = form(n("button", "Save", id="a"), n("button", "Delete", id="b"))
    new = form(n("button", "Store", id="x"), n("button", "Delete", id="y"))

    answers = {PageMatch(old, new).find(at(old, id="a"), action="click") for _ in range(3)}

    assert len(answers) == 1


@pytest.mark.parametrize(
    ("action", "tag", "attributes", "able"),
    [
        ("fill", "input", {"type": "email"}, True),
        ("fill", "input", {"type": "checkbox"}, False),
        ("fill", "div", {"contenteditable": "true"}, True),
        ("select", "input", {"type": "text"}, False),
        ("upload", "input", {"type": "file"}, True),
        ("upload", "button", {}, False),
        ("check", "input", {"type": "radio"}, True),
        ("check", "button", {}, False),
    ],
)
def test_a_step_needs_an_element_that_can_take_it(
    action: str, tag: str, attributes: dict[str, str], able: bool
) -> None:
    role = INPUTS.get(attributes.get("type", ""), "textbox") if tag == "input" else ROLES.get(tag, "")
    element = Element(index=0, parent=-1, tag=tag, attributes=attributes, role=role)

    assert can_take(action, element, element) is able


@pytest.mark.parametrize("mark", ["css-1q2w3e4", "a8f3c91b", "jss12345678", "sc-bdVaJa", "ember1234567"])
def test_hashes_and_long_counters_look_generated(mark: str) -> None:
    assert looks_generated(mark)


@pytest.mark.parametrize("mark", ["save-profile", "id_title", "loginButton", "btn-primary", "nav"])
def test_ordinary_ids_do_not_look_generated(mark: str) -> None:
    assert not looks_generated(mark)


def test_words_are_taken_from_any_spelling() -> None:
    assert words_of("saveProfile") == words_of("Save profile") == ("save", "profile")


def test_without_an_old_page_the_words_of_the_locator_find_the_one_that_has_them() -> None:
    seen = form(n("input", name="first_name", label="First name"), n("input", name="last_name", label="Last name"))

    match = find_by_locator(Locator(css="#last-name"), "fill", seen)

    assert (match.verdict, match.element) == ("found", at(seen, name="last_name"))


def test_without_an_old_page_two_that_fit_equally_are_not_chosen_between() -> None:
    seen = form(n("input", name="first_name", label="First name"), n("input", name="last_name", label="Last name"))

    assert find_by_locator(Locator(css="#name"), "fill", seen).verdict == "unsure"


def test_the_weights_speak_of_known_features_alone() -> None:
    raw = json.loads((files("radar") / "matching_weights.json").read_text(encoding="utf-8"))
    old = form(n("button", "Save", id="save"), n("button", "Delete"))
    known = set(FEATURES) | set(PageMatch(old, old).facts(at(old, id="save")) or ())

    assert set(raw["likeness"]) <= set(FEATURES)
    for part in ("found", "gone"):
        assert set(raw[part]["terms"]) <= known
        assert {name for tree in raw[part]["trees"] for name in facts_in(tree)} <= known


def facts_in(tree: Any) -> list[str]:
    return [tree["fact"], *facts_in(tree["low"]), *facts_in(tree["high"])] if isinstance(tree, dict) else []


def test_a_probability_falls_when_a_second_one_is_as_likely() -> None:
    old = form(n("p", "Address"), n("button", "Edit", id="edit"), n("p", "Invoices"))
    alone = form(n("p", "Address"), n("button", "Edit", class_="x"), n("p", "Invoices"))
    twice = form(
        n("p", "Address"), n("button", "Edit", class_="x"), n("button", "Edit", class_="y"), n("p", "Invoices")
    )

    sure, torn = (find_again(old, at(old, id="edit"), new, action="click") for new in (alone, twice))

    assert sure.probability > torn.probability
    assert torn.runner_up is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Pay now", "Pay now", id="the same twice"),
        pytest.param("Pay by card", "Pay by bill", id="two that share the old words"),
    ],
)
def test_one_button_that_became_two_is_not_guessed(one: str, other: str) -> None:
    old = form(n("p", "Total 30"), n("button", "Pay now", id="pay"), n("button", "Back", id="back"))
    new = form(
        n("p", "Total 30"),
        n("div", n("button", one, class_="p1")),
        n("div", n("button", other, class_="p2")),
        n("button", "Back", id="back"),
    )

    assert find_again(old, at(old, id="pay"), new, action="click").verdict != "found"


@pytest.mark.parametrize("said", [pytest.param("Reserved for Noor", id="with a message"), pytest.param("", id="empty")])
def test_what_stood_on_the_old_page_is_no_rival_where_only_its_white_space_differs(said: str) -> None:
    """A status line moves into a shadow root; the total, two spans in a row before, stands beside it as one text."""
    name = n("p", n("label", "Full name"), n("input", label="Full name"))
    letter = n("form", n("h3", "Our letter"), n("button", "Subscribe"))
    total = n("div", n("div", n("strong", "Total"), n("strong", "61.00")))
    status = n("p", said, role="status", id="s")
    old = page(
        header(),
        n("main", n("section", n("h1", "Seats"), total), n("section", n("form", n("h2", "Who"), name, status), letter)),
        footer(),
    )
    inner = n("section", n("h2", "Who"), n("p", "Total 61.00"), name, n("p", said, role="status"), edge="shadow")
    new = page(
        header(),
        n("main", n("section", n("h1", "Seats")), n("section", letter, n("seat-checkout", inner))),
        footer(),
    )

    match = find_again(old, at(old, id="s"), new, action="assert_text")

    assert (match.verdict, match.element) == ("found", at(new, role="status"))
    assert match.runner_up is None


def menu(*names: str) -> Node:
    return n("ul", *(n("li", n("a", name, href=f"/{name.lower()}")) for name in names))


def long_page(*below: Node) -> PageSnapshot:
    """A page whose header and footer are far apart."""
    return page(n("header", below[0]), n("main", *(n("p", f"Story of the day {at}") for at in range(30))), *below[1:])


NAMES = ("Phones", "Tablets", "Watches", "Music", "Support")


def test_where_the_old_page_was_cut_a_twin_far_from_the_neighbours_is_not_taken() -> None:
    """The footer may have repeated the menu then already; a whole old page would have told."""
    old = page(n("header", menu(*NAMES)))
    new = long_page(menu(*(name for name in NAMES if name != "Watches")), n("footer", menu(*NAMES)))

    match = find_again(replace(old, complete=False), at(old, href="/watches"), new, action="click")

    assert match.verdict == "unsure"
    assert "may have stood there before" in match.reasons[0]
    assert find_again(old, at(old, href="/watches"), new, action="click").verdict == "found"


def test_where_the_old_page_was_cut_what_moved_with_its_neighbours_is_found() -> None:
    old = replace(page(n("header", menu(*NAMES))), complete=False)
    new = long_page(n("p", "Welcome"), n("footer", menu(*NAMES)))

    match = find_again(old, at(old, href="/watches"), new, action="click")

    assert (match.verdict, match.element) == ("found", at(new, href="/watches"))


def test_nothing_is_gone_from_a_page_that_has_not_loaded_to_its_end() -> None:
    old = form(n("button", "Apply"), n("button", "Reset filters", id="reset"))
    new = form(n("button", "Apply"))

    assert find_again(old, at(old, id="reset"), new, action="click").verdict == "gone"
    assert find_again(old, at(old, id="reset"), replace(new, complete=False), action="click").verdict == "unsure"


def test_what_is_merely_hidden_is_not_gone() -> None:
    old = form(n("button", "Apply"), n("button", "Reset filters", id="reset"))
    new = form(n("button", "Apply"), n("button", "Reset filters", id="reset", hidden=True))

    assert find_again(old, at(old, id="reset"), new, action="click").verdict == "unsure"


def test_what_stands_in_its_place_under_another_name_and_id_is_not_it() -> None:
    groups = ("output", "function", "social", "storage", "advanced")
    old = page(header(), n("main", *(n("div", n("h3", name), id=f"group-{name}") for name in ("input", *groups))))
    new = page(header(), n("main", *(n("div", n("h3", name), id=f"group-{name}") for name in ("common", *groups))))

    match = find_again(old, at(old, id="group-input"), new)

    assert match.verdict == "unsure"
    assert "may have taken its place" in match.reasons[0]


def test_an_icon_keeps_what_it_is_though_it_has_no_words() -> None:
    old = page(n("nav", *[n("a", icon, href="#", id=f"old-{at}") for at, icon in enumerate("\uf067\uf068\uf069")]))
    new = page(n("nav", *[n("button", icon, class_=f"v{at}") for at, icon in enumerate("\uf069\uf067\uf068")]))

    assert find_again(old, at(old, id="old-0"), new, action="click").element == at(new, class_="v1")


def test_a_button_around_the_words_is_the_answer_for_a_button() -> None:
    old = page(n("nav", n("a", "Import", id="import", href="#"), n("a", "Export", href="#")), n("h1", "Flows"))
    new = page(
        n(
            "nav",
            n("a", n("span", "Import"), n("span", "ctrl-i"), class_="entry", href="#"),
            n("a", "Export", href="#"),
        ),
        n("h1", "Flows"),
    )

    assert find_again(old, at(old, id="import"), new, action="click").element == at(new, class_="entry")


def test_a_pair_of_pages_is_matched_once() -> None:
    old, new = form(n("button", "Save")), form(n("button", "Save"))

    assert match_pages(old, new) is match_pages(old, new)
    assert match_pages(old, new) is not match_pages(new, old)


def test_a_prefix_of_one_letter_belongs_to_its_word() -> None:
    assert words_of("E-mail address") == words_of("Email address")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42", True), ("$ 1,204.50", True), ("3 MB", True), ("12:30", True), ("12 (3)", True),
        ("", False), ("-", False), ("kg 12 kg", False), ("12 pages", False), ("Seat 7", False), ("v2", False),
    ],
)  # fmt: skip
def test_a_number_an_amount_or_a_time_says_nothing_of_tomorrow(text: str, expected: bool) -> None:
    assert is_volatile(text) is expected


def test_a_long_number_with_a_word_behind_it_is_read_at_once() -> None:
    """Each digit once: a pattern that tries every way to split the digits would not end on this one."""
    assert not is_volatile("1" * 300 + " pages")


# --- without an old page ---


def sign_in() -> PageSnapshot:
    return form(
        n("p", "Given name"), n("input", id="f1", type="text"),
        n("p", "Surname"), n("input", id="f2", type="text"),
        n("input", id="user-name", placeholder="Username"),
        n("input", type="password", name="passphrase", placeholder="Password"),
        n("button", "Sign in", id="go"),
        n("button", "Cancel", id="stop"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("locator", "action", "expected"),
    [
        pytest.param(Locator(css="#login-button"), "click", {"id": "go"}, id="another word for the same"),
        pytest.param(Locator(css="#last_name"), "fill", {"id": "f2"}, id="another word, in the text before the field"),
        pytest.param(
            Locator(css="#first_name"), "fill", {"id": "f1"}, id="the nearest text before a field is its label"
        ),
        pytest.param(Locator(css="#user"), "fill", {"id": "user-name"}, id="a part of the name"),
        pytest.param(Locator(css="#txt-pass"), "fill", {"name": "passphrase"}, id="a word for the kind of element"),
    ],
)
def test_a_locator_that_never_held_is_read_for_what_it_meant(
    locator: Locator, action: str, expected: dict[str, str]
) -> None:
    seen = sign_in()

    match = find_by_locator(locator, action, seen)

    assert (match.verdict, match.element) == ("found", at(seen, **expected))


def goods(*names: str) -> PageSnapshot:
    rows = [n("li", n("span", name), n("button", "Add to cart", class_=f"b{at}")) for at, name in enumerate(names)]
    return page(header(), n("main", n("ul", *rows)), footer())


def test_what_a_locator_is_within_tells_the_row() -> None:
    seen = goods("Blue jacket", "Red scarf", "Green hat")
    locator = Locator(text="Add to cart", within=Locator(text="Red scarf"))

    match = find_by_locator(locator, "click", seen)

    assert (match.verdict, match.element) == ("found", at(seen, class_="b1"))


def test_what_a_locator_is_within_is_entered_where_it_still_holds() -> None:
    seen = page(
        header(),
        n("main", n("div", n("button", "Save draft"), id="side"), n("div", n("button", "Save page"), id="body")),
    )
    locator = Locator(css="#save-it", within=Locator(css="#body"))

    match = find_by_locator(locator, "click", seen)

    assert match.element == next(e.index for e in seen.elements if e.tag == "button" and e.name == "Save page")


@pytest.mark.parametrize(
    "locator",
    [
        pytest.param(Locator(text="Add to cart"), id="three that fit as well"),
        pytest.param(Locator(text="Add to cart", within=Locator(text="Yellow socks")), id="a row that is not there"),
        pytest.param(Locator(css="#checkout"), id="nothing with its words"),
        pytest.param(Locator(css="#button"), id="only a word for the kind"),
    ],
)
def test_without_an_old_page_nothing_is_guessed(locator: Locator) -> None:
    assert find_by_locator(locator, "click", goods("Blue jacket", "Red scarf", "Green hat")).verdict == "unsure"


def test_a_name_that_lost_a_word_is_not_sure_while_a_newcomer_says_all_of_it() -> None:
    """ "Save draft" with its id in its place, now "Save and publish": acting on it would publish."""
    before = page(n("main", n("h1", "Post"), n("button", "Save draft", id="save"), n("button", "Preview")))
    after = page(
        n("main", n("h1", "Post"), n("button", "Save and publish", id="save"), n("button", "Preview")),
        n("footer", n("button", "Save as draft")),
    )
    match = find_again(before, at(before, id="save"), after, action="click")
    assert match.verdict == "unsure"
    assert "Save as draft" in match.reasons[0]


def test_a_name_that_lost_a_word_is_still_found_where_nobody_else_says_it() -> None:
    before = page(n("main", n("h1", "Post"), n("button", "Save draft", id="save"), n("button", "Preview")))
    after = page(n("main", n("h1", "Post"), n("button", "Save", id="save"), n("button", "Preview")))
    assert find_again(before, at(before, id="save"), after, action="click").verdict == "found"


def card(*below: Any) -> PageSnapshot:
    return page(header(), n("main", n("h1", "Post 12"), n("p", "Some words about it"), n("div", *below)), footer())


@pytest.mark.parametrize(
    ("old", "new"), [("Publish", "Unpublish"), ("Accept all", "Reject all"), ("Sign in", "Sign out")]
)
def test_what_says_the_opposite_is_not_it_even_under_its_id(old: str, new: str) -> None:
    before = card(n("button", old, id="act"), n("button", "Preview"))
    after = card(n("button", new, id="act"), n("button", "Preview"))
    match = find_again(before, at(before, id="act"), after, action="click")
    assert (match.verdict, match.reworded) == ("unsure", "")
    assert "opposite" in match.reasons[0]


def test_a_control_that_was_reworded_is_sure_only_with_a_mark_it_kept() -> None:
    before = card(n("button", "Export CSV", id="act"), n("button", "Preview"))
    kept = card(n("button", "Export PDF", id="act"), n("button", "Preview"))
    assert find_again(before, at(before, id="act"), kept, action="click").verdict == "found"
    lost = card(n("button", "Export PDF"), n("button", "Preview"))
    match = find_again(before, at(before, id="act"), lost, action="click")
    assert (match.verdict, match.element) == ("unsure", at(lost, text="Export PDF"))
    assert match.reworded == match.reasons[0]
    assert '"Export CSV" now reads "Export PDF"' in match.reworded


@pytest.mark.parametrize(("opens", "verdict"), [({}, "unsure"), ({"aria_haspopup": "listbox"}, "found")])
def test_a_button_in_a_fields_place_is_it_only_if_it_opens_something(opens: dict[str, str], verdict: str) -> None:
    """A label around both names either: "Action:", whatever the button itself says."""
    before = card(n("select", n("option", "grant"), id="action", aria_label="Action"), n("button", "Preview"))
    after = card(n("button", "Action", id="action", **opens), n("button", "Preview"))
    assert find_again(before, at(before, id="action"), after, action="click").verdict == verdict


def test_what_has_no_word_in_common_kept_its_place_alone() -> None:
    before = card(n("button", "Save for later"), n("button", "Preview"))
    after = card(n("button", "Ask us a question"), n("button", "Preview"))
    match = find_again(before, at(before, text="Save for later"), after, action="click")
    assert (match.verdict, match.reworded) == ("unsure", "")


def test_another_mark_besides_other_words_is_more_than_a_rewording() -> None:
    before = card(n("button", "Export CSV", id="csv"), n("button", "Preview"))
    after = card(n("button", "Export PDF", id="pdf"), n("button", "Preview"))
    match = find_again(before, at(before, id="csv"), after, action="click")
    assert (match.verdict, match.reworded) == ("unsure", "")
