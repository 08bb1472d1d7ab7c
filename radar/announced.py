"""What a page announces to a person: toasts, modals and the errors of fields, recognised by what pages really do.

Live regions, dialogs and native validation come from the standards (WAI-ARIA, HTML), the rest is the markup of common
component libraries; a project's own selectors stand instead of both. announced.js does the looking.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["toast", "modal", "validation_error"]
KINDS: Final[tuple[Kind, ...]] = ("toast", "modal", "validation_error")
SCRIPT: Final = (files("radar") / "announced.js").read_text().strip().rstrip(";")
LONGEST: Final = 2000
MOST: Final = 50


@dataclass(frozen=True, slots=True)
class Announced:
    """One of them, white space folded. `plain` is the text without what is on its buttons, such as a cross."""

    text: str
    plain: str


def read_all(said: str) -> tuple[Announced, ...]:
    """What announced.js found, from its JSON; what is not of that shape is left out."""
    try:
        raw = json.loads(said)
    except ValueError:
        return ()
    found = (_one(pair) for pair in raw[:MOST]) if isinstance(raw, list) else ()
    return tuple(one for one in found if one is not None)


def read_one(said: str) -> Announced | None:
    try:
        return _one(json.loads(said))
    except ValueError:
        return None


def _one(pair: object) -> Announced | None:
    match pair:
        case [str(text), str(plain)]:
            return Announced(text[:LONGEST], plain[:LONGEST])
    return None
