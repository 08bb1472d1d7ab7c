"""What the expressions of a Playwright script stand for while it is read, and texts and patterns made of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from radar.elements import fold
from repair_ladder.formats.gathering import FLAGS, Unsayable, not_equal, not_matching, quote
from repair_ladder.formats.script import Expression, Function
from repair_ladder.formats.script_locators import Place, Rx, Spot
from repair_ladder.values import PLACEHOLDER

# Of a context or a page: what only says how fast, how large or how watched; no step needs it.
LEFT_OUT: Final = frozenset(
    "set_default_timeout set_default_navigation_timeout set_viewport_size wait_for_load_state pause bring_to_front "
    "wait_for_network_idle slow set_timeout configure info".split()
)
ENDS: Final = frozenset({"browser", "context", "playwright"})
STATES: Final = ("visible", "hidden", "enabled", "disabled", "checked", "editable")
LINES: Final = re.compile(r"\A\(\?[is]*m|\\[nrvf]|\n|\[\^")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the test: 0 is the one it begins with, others are those that it opens."""

    number: int


@dataclass(frozen=True, slots=True)
class Inside:
    """A place in a page."""

    page: Page
    place: Place


@dataclass(frozen=True, slots=True)
class Found:
    """A locator of a page."""

    page: Page
    spot: Spot


@dataclass(frozen=True, slots=True)
class Read:
    """A value of the page that the script asks for: `what` as `extract` and the checks name it."""

    page: Page
    what: str
    spot: Spot | None = None
    attribute: str = ""
    at: int | None = None  # how many things had been done when it was read, if it was kept


@dataclass(frozen=True, slots=True)
class Waited:
    """A popup or a download that the script waits for."""

    kind: str
    page: Page


@dataclass(frozen=True, slots=True)
class Handle:
    """Something of Playwright that is no page: a browser, a keyboard, an expectation."""

    name: str
    of: Value = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value nobody knows without running the script."""

    why: str


Value: TypeAlias = (
    str | int | float | bool | list["Value"] | dict[str, "Value"] | Rx | Page | Inside | Found | Read | Waited
    | Handle | Opaque | Function | None
)  # fmt: skip


@dataclass(slots=True)
class Options:
    given: list[Expression]
    named: dict[str, Expression] = field(default_factory=dict)


def url_glob(glob: str) -> str:
    """The regular expression of an address with wildcards: `*` stays between slashes, `**` does not, `{a,b}` is one."""
    made, at, inside = ["^"], 0, False
    for found in re.finditer(r"\\(.)|\*\*+/|\*+|[{},]", glob, re.DOTALL):
        sign, between = found.group(), glob[at : found.start()]
        made.append(re.escape(between))
        at = found.end()
        if sign[0] == "\\":
            made.append(re.escape(found[1]))
        elif sign == "*":
            made.append("[^/]*")
        elif sign[0] == "*" and sign[-1] == "/":
            made.append("(?:.+/|)" if glob[: found.start()].endswith("/") else ".*/")
        elif sign[0] == "*":
            made.append(".*")
        elif sign == ("}" if inside else "{"):
            inside = sign == "{"
            made.append("(?:" if inside else ")")
        elif sign == ",":
            made.append("|" if inside else ",")
        else:
            raise Unsayable(f"the wildcards {quote(glob)}")
    if inside:
        raise Unsayable(f"the wildcards {quote(glob)}")
    return "".join([*made, re.escape(glob[at:]), "$"])


def in_case(pattern: str, any_case: bool) -> str:
    """The regular expression in any case or not, whatever its flags say of that."""
    flags = FLAGS.match(pattern)
    letters = set(flags.group().strip("(?)")) if flags else set()
    kept = "".join(sorted(letters | {"i"} if any_case else letters - {"i"}))
    body = pattern[flags.end() :] if flags else pattern
    return f"(?{kept}){body}" if kept else body


def matches_nothing(wanted: Rx) -> bool:
    try:
        return re.search(wanted.text, "") is not None
    except (re.error, RecursionError, OverflowError):
        return False  # which is said when it is used


def text_of(value: Value) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unsayable("a text put together of values that are not known")
    return str(value)


def text_condition(
    wanted: Value, *, part: bool = False, negative: bool = False, any_case: bool | None = None, folded: bool = False
) -> dict[str, Any]:
    """The condition of a text: the whole of it, or a `part`; `folded`: it is looked at with white space folded."""
    if isinstance(wanted, Rx):
        text = wanted.text if any_case is None else in_case(wanted.text, any_case)
        if folded and negative and LINES.search(text):
            raise Unsayable("an expression of several lines: here texts have one")
        return {"matches": not_matching(text) if negative else text}
    if isinstance(wanted, bool) or not isinstance(wanted, str | int | float):
        raise Unsayable("an expectation that is not known")
    text = str(wanted)
    if any_case or (negative and not part):
        if PLACEHOLDER.search(text):
            raise Unsayable("a variable in such an expectation")
        text = fold(text) if folded else text
        if any_case:
            pattern = re.escape(text) if part else rf"^\s*{re.escape(text)}\s*$"
            return {"matches": not_matching(f"(?i){pattern}") if negative else f"(?i){pattern}"}
        return {"matches": not_equal(text)}
    return {("not_contains" if negative else "contains") if part else "equals": text}
