"""a_step(), a_test(), a_page(): values with the uninteresting filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from radar.elements import Box, Element, PageSnapshot, fold
from radar.locators import Locator
from repair_ladder.formats import Variable, WrittenTest
from repair_ladder.memory import Memory, Seen
from repair_ladder.operations import Operation
from repair_ladder.outcomes import Cause, Evidence, Played, Red, Trace
from repair_ladder.step_format import read_place, read_step, read_steps
from repair_ladder.steps import Place, Step, Steps

HOST: Final = "http://shop.test"
ROLES: Final = {
    "a": "link",
    "button": "button",
    "select": "combobox",
    "option": "option",
    "textarea": "textbox",
    "h1": "heading",
    "h2": "heading",
    "nav": "navigation",
    "main": "main",
    "header": "banner",
    "footer": "contentinfo",
    "ul": "list",
    "li": "listitem",
    "p": "paragraph",
    "table": "table",
    "tr": "row",
    "td": "cell",
    "dialog": "dialog",
}
INPUTS: Final = {"checkbox": "checkbox", "radio": "radio", "submit": "button", "number": "spinbutton", "password": ""}
NAMED_BY_CONTENT: Final = frozenset("link button heading cell option status alert row listitem".split())
FLAGS: Final = ("hidden", "covered", "disabled", "checked")
WORDS: Final = re.compile(r'[^\s"=]+="[^"]*"|"[^"]*"|\S+')
TAG: Final = re.compile(r"(?P<tag>[a-z][a-z0-9-]*)(?P<marks>(?:[#.][\w-]+)*)\Z")


# --- steps ---------------------------------------------------------------------------------------------


def a_step(kind: str = "click", **value: Any) -> Step:
    """`a_step("fill", label="Email", value="x")`; a keyword that ends in _ is written without it."""
    return read_step({kind: {key.rstrip("_"): one for key, one in value.items()} or None})


def steps_of(*raw: Any) -> Steps:
    return read_steps(list(raw))


CHECKOUT: Final = (
    {"goto": "/"},
    {"fill": {"label": "Email", "value": "${user}"}},
    {"click": {"css": "#pay"}},
    {"assert_text": {"role": "status", "contains": "Thank you"}},
)


def a_test(
    *raw: Any, name: str = "checkout", variables: Mapping[str, Variable] | None = None, **more: Any
) -> WrittenTest:
    """The shop's test "checkout", unless told otherwise."""
    known = {"user": "ada@example.com"} if variables is None else variables
    return WrittenTest(name, steps_of(*(raw or CHECKOUT)), variables=known, **more)


def an_insert(after: int | str, raw: Any, reason: str = "") -> Operation:
    return Operation("insert", read_place(after), read_step(raw), reason)


def a_replacement(step: int | str, raw: Any, reason: str = "") -> Operation:
    return Operation("replace", read_place(step), read_step(raw), reason)


def a_deletion(step: int | str, reason: str = "") -> Operation:
    return Operation("delete", read_place(step), None, reason)


# --- pages ---------------------------------------------------------------------------------------------


def a_page(outline: str, path: str = "/", *, host: str = HOST, **more: Any) -> PageSnapshot:
    """A page from an indented outline, one element a line: `TAG#id.class attribute=value flag "text" label="Email"`.

    Roles and names are those a browser would compute; what stands lower in the outline stands lower on the screen.
    Flags are hidden, covered, disabled and checked; html and body are put around it.
    """
    raw: list[dict[str, Any]] = [_raw("html", -1), _raw("body", 0)]
    open_at: list[tuple[int, int]] = [(-1, 1)]  # (indent, index)
    for line in outline.splitlines():
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        while open_at[-1][0] >= indent:
            open_at.pop()
        parent = open_at[-1][1]
        raw.append(_read_line(line.strip(), parent))
        raw[parent]["children"] += 1
        open_at.append((indent, len(raw) - 1))
    elements = _built(raw)
    given = {"title": "Shop", "language": "en", "status": 200} | more
    return PageSnapshot(host + path, elements=elements, **given)


def _raw(tag: str, parent: int) -> dict[str, Any]:
    return {"tag": tag, "parent": parent, "attributes": {}, "text": "", "label": "", "flags": set(), "children": 0}


def _read_line(line: str, parent: int) -> dict[str, Any]:
    # The text is what stands in double quotes by itself; attribute values may be quoted too.
    words = WORDS.findall(line)
    match = TAG.match(words[0])
    assert match, f"an outline line begins with TAG#id.class, got {line!r}"
    one = _raw(match["tag"], parent)
    for mark in re.findall(r"[#.][\w-]+", match["marks"]):
        key = "id" if mark[0] == "#" else "class"
        one["attributes"][key] = " ".join(filter(None, (one["attributes"].get(key), mark[1:])))
    for word in words[1:]:
        if word.startswith('"'):
            one["text"] = word[1:-1]
        elif word in FLAGS:
            one["flags"].add(word)
        elif word.startswith("label="):
            one["label"] = word.removeprefix("label=").strip('"')
        else:
            key, _, value = word.partition("=")
            one["attributes"][key] = value.strip('"')
    return one


def _built(raw: list[dict[str, Any]]) -> tuple[Element, ...]:
    elements = []
    gone: set[int] = set()
    for index, one in enumerate(raw):
        tag, attributes = one["tag"], one["attributes"]
        if "hidden" in one["flags"] or one["parent"] in gone:
            gone.add(index)
        shown = index not in gone
        kind = attributes.get("type", "")
        role = attributes.get("role") or (INPUTS.get(kind, "textbox") if tag == "input" else ROLES.get(tag, ""))
        name = one["label"] or attributes.get("aria-label", "") or attributes.get("placeholder", "")
        if not name and role in NAMED_BY_CONTENT:
            name = _content(raw, index)
        elements.append(
            Element(
                index,
                one["parent"],
                tag,
                attributes,
                ((0, one["text"]),) if one["text"] else (),
                role,
                name,
                one["label"],
                box=Box(8, 8 + 30 * index, 200, 24) if shown else Box(0, 0, 0, 0),
                visible=shown,
                rendered=shown,
                enabled="disabled" not in one["flags"],
                checked="checked" in one["flags"],
                covered="covered" in one["flags"],
                clickable=role in ("button", "link") or tag in ("button", "a"),
            )
        )
    return tuple(elements)


def _content(raw: list[dict[str, Any]], index: int) -> str:
    below = [_content(raw, at) for at, one in enumerate(raw) if one["parent"] == index]
    return fold(" ".join([raw[index]["text"], *below]))


def index_of(page: PageSnapshot, **wanted: str) -> int:
    """The one element with this role, name, text, tag or attribute."""
    found = [
        element.index
        for element in page.elements
        if all((getattr(element, key, None) or element.get(key) or "") == value for key, value in wanted.items())
    ]
    assert len(found) == 1, f"{wanted} is {len(found)} elements"
    return found[0]


# --- what a run leaves ---------------------------------------------------------------------------------


def a_memory(seen: Mapping[Place | int, tuple[PageSnapshot, int | None]]) -> Memory:
    return Memory({(at,) if isinstance(at, int) else at: Seen(page, target) for at, (page, target) in seen.items()})


def a_red(
    place: Place | int,
    page: PageSnapshot | None,
    cause: Cause = "missing",
    message: str = "it finds nothing",
    **more: Any,
) -> Red:
    trace = Trace(more.pop("played", ()), more.pop("snapshots", ()), more.pop("evidence", Evidence()))
    return Red(trace, (place,) if isinstance(place, int) else place, cause, message, page, **more)


def a_played(
    place: Place | int, kind: str = "click", *, snapshot: int | None = None, target: int | None = None
) -> Played:
    at = (place,) if isinstance(place, int) else place
    return Played(at, kind, HOST + "/", 0, 1, snapshot=snapshot, target=target)


def a_locator(**keys: Any) -> Locator:
    return Locator(**keys)


def shown_without(page: PageSnapshot, index: int) -> PageSnapshot:
    """The page with one element hidden."""
    hidden = replace(page.elements[index], visible=False, rendered=False)
    return replace(page, elements=(*page.elements[:index], hidden, *page.elements[index + 1 :]))
