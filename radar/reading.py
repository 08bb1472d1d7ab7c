"""From the JSON that collect.js gives to a PageSnapshot; and snapshots as bytes, both ways."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from typing import Any

from radar.elements import Box, Element, PageSnapshot

Redact = Callable[[str], str]

VISIBLE, RENDERED, ENABLED, CHECKED, COVERED, CLICKABLE = 1, 2, 4, 8, 16, 32


def read_page(text: str, *, redact: Redact | None = None, status: int | None = None) -> tuple[PageSnapshot, int | None]:
    """The page and the index of the target, from what collect.js returned.

    `redact` is applied to every text of the page before anything else sees it, so that a secret which the app echoes
    never reaches a store, a log or a model.
    """
    raw = json.loads(text)
    if redact:
        raw = _redacted(raw, redact)
    page = PageSnapshot(
        url=raw["url"],
        title=raw["title"],
        language=raw["language"],
        elements=tuple(_element(index, row) for index, row in enumerate(raw["elements"])),
        viewport=(int(raw["viewport"][0]), int(raw["viewport"][1])),
        status=raw.get("status", status),
        complete=not raw["cut"] and raw["state"] != "loading",
        scrollers=tuple((int(at), float(whole), float(part)) for at, whole, part in raw["scrollers"]),
    )
    return page, raw["target"]


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


def _redacted(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(one, redact) for one in value]
    if isinstance(value, dict):
        return {key: _redacted(one, redact) for key, one in value.items()}
    return value


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
