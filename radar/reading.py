"""From the JSON that collect.js gives to a PageSnapshot; and snapshots as bytes, both ways."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from radar.elements import LONGEST_TEXT, Box, Element, PageSnapshot

Redact = Callable[[str], str]

VISIBLE, RENDERED, ENABLED, CHECKED, COVERED, CLICKABLE = 1, 2, 4, 8, 16, 32
# Said for the one who asked; not kept.
NOT_OF_THE_PAGE: Final = ("lost", "outer", "realm", "places")
MOST_KNOWN: Final = 4  # descriptions that a reader keeps to be told only what is new since: one a window or frame
ESCAPED: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\[^u]")


def read_page(text: str, *, redact: Redact | None = None, status: int | None = None) -> tuple[PageSnapshot, int | None]:
    """The page and the index of the target, from what collect.js returned.

    `redact` is applied to every text of the page before anything else sees it, so that a secret which the app echoes
    never reaches a store, a log or a model.
    """
    reader = Reader(redact)
    look = reader.look(text, status)
    return reader.page(look), look.target


@dataclass(frozen=True, slots=True)
class Look:
    """What collect.js said once, redacted; `page` is still as it was said. `seen` is what was read of the target."""

    page: Mapping[str, Any]
    target: int | None = None
    seen: str | None = None
    status: int | None = None

    def is_same_page(self, other: Look) -> bool:
        return self.status == other.status and self.page == other.page


class Reader:
    """Reads the looks of one run. Pages of a run are mostly alike: an element that has not changed is made once."""

    def __init__(self, redact: Redact | None = None) -> None:
        self._redact = redact
        self._rows: list[Any] = []
        self._elements: tuple[Element, ...] = ()
        self._known: dict[str, list[Any]] = {}  # rows as they are kept, by the token of the look that brought them

    @property
    def known(self) -> tuple[str, ...]:
        """Tokens of looks; the next one may be told as what is new since any of them."""
        return tuple(self._known)

    def look(self, text: str, status: int | None = None) -> Look:
        said = json.loads(text)
        target, seen = said.pop("target"), said.pop("seen", None)
        if self._redact and _may_hold_secret(text, self._redact):
            said = _redacted(said, self._redact)
            # A check is judged by what the page really shows; whatever is told of it is redacted there.
        for key in NOT_OF_THE_PAGE:
            said.pop(key, None)
        if said.pop("long", False):
            said = _cut(said)
        token, since = said.pop("token", None), said.pop("since", None)
        if since is not None:
            said["elements"] = _renewed(self._known.pop(since), said)
        if token is not None:
            self._known[token] = said["elements"]
            if len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return Look(said, target, seen, status)

    def page(self, look: Look) -> PageSnapshot:
        said, rows, old = look.page, look.page["elements"], self._rows
        known = len(old)
        elements = tuple(
            self._elements[index] if index < known and old[index] == row else _element(index, row)
            for index, row in enumerate(rows)
        )
        self._rows, self._elements = rows, elements
        return PageSnapshot(
            url=said["url"],
            title=said["title"],
            language=said["language"],
            elements=elements,
            viewport=(int(said["viewport"][0]), int(said["viewport"][1])),
            status=said.get("status", look.status),
            complete=not said["cut"] and said["state"] != "loading",
            scrollers=tuple((int(at), float(whole), float(part)) for at, whole, part in said["scrollers"]),
        )


def _renewed(rows: list[Any], said: dict[str, Any]) -> list[Any]:
    """The rows of a page as they are now. Those of the look before stay as they are: others hold them as well."""
    renewed = rows[: said.pop("count")]
    for index, *numbers in said.pop("moved", ()):
        renewed[index] = [*renewed[index][:8], *numbers]
    for index, row in said.pop("changed", ()):
        renewed[index : index + 1] = [row]  # those past the end come in their order
    return renewed


def _element(index: int, row: list[Any]) -> Element:
    parent, tag, attributes, pieces, role, name, label, edge, flags, x, y, width, height = row
    return Element(
        index=index,
        parent=parent,
        tag=tag,
        attributes=attributes,
        pieces=tuple((number, text) for number, text in pieces),
        role=role,
        name=name,
        label=label,
        edge=edge,
        box=Box(x, y, width, height),
        visible=bool(flags & VISIBLE),
        rendered=bool(flags & RENDERED),
        enabled=bool(flags & ENABLED),
        checked=bool(flags & CHECKED),
        covered=bool(flags & COVERED),
        clickable=bool(flags & CLICKABLE),
    )


def _may_hold_secret(text: str, redact: Redact) -> bool:
    """Is there anything to redact in a JSON text? Asked of the whole, since asking every string of it takes long."""
    plain = ESCAPED.sub(_unescaped, text) if "\\" in text else text
    return redact(plain) != plain


def _unescaped(match: re.Match[str]) -> str:
    return str(json.loads(f'"{match[0]}"'))


def _cut(value: Any) -> Any:
    """Texts as long as they are kept; collect.js leaves more, so that no secret is cut in two before it is seen."""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, list):
        return [_cut(one) for one in value]
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    return value


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(one, redact) for one in value]
    if isinstance(value, dict):
        return {key: _redacted(one, redact) for key, one in value.items()}
    return value


def graft(page: Mapping[str, Any], inner: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """A described page with those of frames put in below the rows they belong to; each may have come about likewise.

    `places` says where the rows of each description are now, by its realm.
    """
    rows: list[list[Any]] = []
    moved: list[int] = []
    places: dict[str, list[int]] = {}
    scrollers: list[list[Any]] = []
    for number, row in enumerate(page["elements"]):
        moved.append(len(rows))
        rows.append([moved[row[0]] if row[0] >= 0 else -1, *row[1:]])
        below = inner.get(number)
        if below is None:
            continue
        start, x, y = len(rows), row[9], row[10]
        for one in below["elements"]:  # its boxes count from its own corner, which is where the frame is
            parent, edge = (start + one[0], one[7]) if one[0] >= 0 else (moved[number], "frame")
            rows.append([parent, *one[1:7], edge, one[8], one[9] + x, one[10] + y, *one[11:]])
        scrollers += [[start + at, *sizes] for at, *sizes in below["scrollers"]]
        places |= {realm: [start + at for at in some] for realm, some in below["places"].items()}
    scrollers += [[moved[at], *sizes] for at, *sizes in page["scrollers"]]
    every = [page, *inner.values()]
    return {
        **page,
        "elements": rows,
        "scrollers": sorted(scrollers),
        "cut": any(one["cut"] for one in every),
        "long": any(one.get("long", False) for one in every),
        "places": {page["realm"]: moved, **places},
    }


def pack(page: PageSnapshot) -> tuple[str, bytes]:
    """A key that is the same for the same page, and its bytes."""
    rows = [
        [
            e.parent,
            e.tag,
            dict(e.attributes),
            [list(piece) for piece in e.pieces],
            e.role,
            e.name,
            e.label,
            e.edge,
            e.visible * VISIBLE
            | e.rendered * RENDERED
            | e.enabled * ENABLED
            | e.checked * CHECKED
            | e.covered * COVERED
            | e.clickable * CLICKABLE,
            e.box.x,
            e.box.y,
            e.box.width,
            e.box.height,
        ]
        for e in page.elements
    ]
    document = {
        "url": page.url,
        "title": page.title,
        "language": page.language,
        "viewport": page.viewport,
        "state": "complete" if page.complete else "loading",
        "cut": False,
        "status": page.status,
        "scrollers": page.scrollers,
        "elements": rows,
        "target": None,
    }
    plain = json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode()
    return hashlib.sha256(plain).hexdigest(), gzip.compress(plain, 5, mtime=0)


def unpack(packed: bytes) -> PageSnapshot:
    return read_page(gzip.decompress(packed).decode())[0]
