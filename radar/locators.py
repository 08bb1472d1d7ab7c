"""Locators: how a step finds its element, as a value. Resolving one against a snapshot is in resolving.py."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from radar.errors import BadLocator

FINDERS: Final = ("role", "test_id", "label", "placeholder", "text", "alt", "title", "css", "xpath")
NARROWERS: Final = ("name", "exact", "has_text", "nth", "within", "frame", "alternatives")
KEYS: Final = FINDERS + NARROWERS
DEEPEST: Final = 20  # locators inside locators; more is a mistake or an attack


@dataclass(frozen=True, slots=True)
class Locator:
    """Means what it means in Playwright: one match or an error, texts anywhere and in any case unless `exact`.

    At least one of FINDERS is set; several hold together. `within` narrows to inside another locator's matches,
    `frame` names the frames to enter, outermost first, `alternatives` are tried in order when the main way finds
    nothing.
    """

    role: str | None = None
    name: str | None = None
    test_id: str | None = None
    label: str | None = None
    placeholder: str | None = None
    text: str | None = None
    alt: str | None = None
    title: str | None = None
    css: str | None = None
    xpath: str | None = None
    exact: bool = False
    has_text: str | None = None
    nth: int | None = None
    within: Locator | None = None
    frame: tuple[Locator, ...] = ()
    alternatives: tuple[Locator, ...] = ()

    def ways(self) -> tuple[Locator, ...]:
        """The main way, then the alternatives."""
        return (replace(self, alternatives=()), *self.alternatives)

    def finders(self) -> Iterator[tuple[str, str]]:
        for key in FINDERS:
            value = getattr(self, key)
            if value is not None:
                yield key, value

    def __str__(self) -> str:
        return describe(self)


def read(raw: object, *, depth: int = 0) -> Locator:
    """A locator from its mapping (design of the test format). Raises BadLocator with one clear sentence."""
    if depth > DEEPEST:
        raise BadLocator(f"locators stand more than {DEEPEST} deep in one another")
    if not isinstance(raw, Mapping):
        raise BadLocator(f"a locator is a mapping such as {{css: '#save'}}, got {_short(raw)}")
    unknown = [str(key) for key in raw if key not in KEYS]
    if unknown:
        raise BadLocator(f"'{unknown[0]}' is not a locator key; known are {', '.join(KEYS)}")
    values: dict[str, Any] = {}
    for key in (*FINDERS, "name", "has_text"):
        if key in raw:
            values[key] = _text(key, raw[key])
    if not any(key in values for key in FINDERS):
        raise BadLocator(f"a locator needs one of {', '.join(FINDERS)}, got {_short(dict(raw))}")
    if "name" in values and "role" not in values:
        raise BadLocator("'name' goes with 'role'")
    if "exact" in raw:
        if not isinstance(raw["exact"], bool):
            raise BadLocator(f"'exact' is true or false, got {_short(raw['exact'])}")
        values["exact"] = raw["exact"]
    if "nth" in raw:
        if not isinstance(raw["nth"], int) or isinstance(raw["nth"], bool):
            raise BadLocator(f"'nth' is a whole number, counted from 0 (-1: the last), got {_short(raw['nth'])}")
        values["nth"] = raw["nth"]
    if "within" in raw:
        values["within"] = read(raw["within"], depth=depth + 1)
    for key in ("frame", "alternatives"):
        if key in raw:
            many = raw[key]
            if not isinstance(many, list):
                raise BadLocator(f"'{key}' is a list of locators, got {_short(many)}")
            values[key] = tuple(read(one, depth=depth + 1) for one in many)
    return Locator(**values)


def write(locator: Locator) -> dict[str, Any]:
    """The mapping that `read` takes, without what has its default; keys always in the same order."""
    raw: dict[str, Any] = {}
    for item in fields(locator):
        value = getattr(locator, item.name)
        if value is None or value is False or value == ():
            continue
        if isinstance(value, Locator):
            value = write(value)
        elif isinstance(value, tuple):
            value = [write(one) for one in value]
        raw[item.name] = value
    return raw


def describe(locator: Locator) -> str:
    """For people, one line."""
    return ", ".join(f"{key} {json.dumps(value, ensure_ascii=False)}" for key, value in write(locator).items())


def _text(key: str, value: object) -> str:
    # YAML reads `text: 42` as a number; what the author wrote is the text.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadLocator(f"'{key}' is a text, got {_short(value)}")
    if key != "has_text" and str(value) == "" and key != "name":
        raise BadLocator(f"'{key}' is empty")
    return str(value)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
