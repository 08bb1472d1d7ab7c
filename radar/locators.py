"""Locators: how a step finds its element, as a value. Resolving one against a snapshot is in resolving/."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from radar import patterns
from radar.errors import BadLocator, BadPattern

FINDERS: Final = ("role", "test_id", "label", "placeholder", "text", "alt", "title", "css", "xpath")
NARROWERS: Final = (
    "name", "exact", "regex", "has_text", "has_not_text", "has", "has_not", "visible", "nth", "within", "frame",
    "alternatives",
)  # fmt: skip
# What `exact` and `regex` are about; the second also makes patterns of has_text, has_not_text and test_id.
TEXTS: Final = ("name", "label", "placeholder", "text", "alt", "title")
PATTERNS: Final = (*TEXTS, "test_id", "has_text", "has_not_text")
KEYS: Final = FINDERS + NARROWERS
DEEPEST: Final = 20  # locators inside locators; more is a mistake or an attack
LONGEST_PATTERN: Final = 1000
# What Python reads and a browser does not, or reads otherwise.
_NOT_IN_BROWSERS: Final = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[AZ]|\(\?P|\(\?#|\(\?\(|\(\?[a-zA-Z-]+[:)])")
_FLAGS: Final = re.compile(r"\(\?([ims]{1,3})\)")


@dataclass(frozen=True, slots=True)
class Locator:
    """Means what it means in Playwright: one match or an error, texts anywhere and in any case unless `exact`.

    At least one of FINDERS is set; several hold together. `within` narrows to inside another locator's matches,
    `frame` names the frames to enter, outermost first, `alternatives` are tried in order when the main way finds
    nothing. With `regex` its texts are regular expressions, searched for, in any case if they begin with `(?i)`. Of
    what is found, has_text, has_not_text, has, has_not and visible keep a part, and `nth` then counts.
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
    regex: bool = False
    has_text: str | None = None
    has_not_text: str | None = None
    has: Locator | None = None
    has_not: Locator | None = None
    visible: bool | None = None
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

    def inner(self) -> Iterator[Locator]:
        """Every locator that stands directly in this one, its alternatives included."""
        for one in (self.has, self.has_not, self.within, *self.frame, *self.alternatives):
            if one is not None:
                yield one

    def __str__(self) -> str:
        return describe(self)


def pattern(text: str) -> re.Pattern[str]:
    """The regular expression of a locator's text; raises BadLocator for one that Python or a browser cannot read."""
    flags = _FLAGS.match(text)
    body = text[flags.end() :] if flags else text
    if len(text) > LONGEST_PATTERN:
        raise BadLocator(f"a regular expression has at most {LONGEST_PATTERN} characters")
    if _NOT_IN_BROWSERS.search(body):
        raise BadLocator(f"{_short(text)} is a regular expression that browsers do not read")
    try:
        return patterns.read(body, sum(getattr(re, flag.upper()) for flag in set(flags[1])) if flags else 0)
    except BadPattern as error:
        raise BadLocator(str(error)) from None


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
    for key in (*FINDERS, "name", "has_text", "has_not_text"):
        if key in raw:
            values[key] = _text(key, raw[key])
    if not any(key in values for key in FINDERS):
        raise BadLocator(f"a locator needs one of {', '.join(FINDERS)}, got {_short(dict(raw))}")
    if "name" in values and "role" not in values:
        raise BadLocator("'name' goes with 'role'")
    for key in ("exact", "regex", "visible"):
        if key in raw:
            if not isinstance(raw[key], bool):
                raise BadLocator(f"'{key}' is true or false, got {_short(raw[key])}")
            values[key] = raw[key]
    if values.get("regex"):
        if values.get("exact"):
            raise BadLocator("'exact' does not go with 'regex': anchor the expression with ^ and $")
        for key in PATTERNS:
            if key in values:
                pattern(values[key])
    if "nth" in raw:
        if not isinstance(raw["nth"], int) or isinstance(raw["nth"], bool):
            raise BadLocator(f"'nth' is a whole number, counted from 0 (-1: the last), got {_short(raw['nth'])}")
        values["nth"] = raw["nth"]
    for key in ("within", "has", "has_not"):
        if key in raw:
            values[key] = read(raw[key], depth=depth + 1)
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
        if value is None or value == () or (value is False and item.name != "visible"):
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
    if str(value) == "" and key not in ("has_text", "has_not_text", "name"):
        raise BadLocator(f"'{key}' is empty")
    return str(value)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
