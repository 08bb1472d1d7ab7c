"""What each check would have to expect in order to be red where it is green: how the red gate falsifies it.

A check that stays green with an expectation that cannot hold checks nothing, and a repair that is green by it is not
proven (seed limit "green gate is one run": a sensitivity proof). Pure: a step in, a step out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from radar import patterns
from radar.errors import RadarError
from repair_ladder.steps import CONDITIONS, Step

# No page says this, no address holds it; it is never typed anywhere.
IMPOSSIBLE: Final = "\u2042 no page says this \u2042"
UNCHECKED: Final = "unchecked"  # a parameter of falsified checks alone: no kind of the format expects that
NEVER: Final = "(?!)"  # a pattern that matches nothing
BEYOND: Final = 10**12
# States with a kind of check for their opposite.
OPPOSITES: Final = {
    "assert_visible": "assert_hidden",
    "assert_hidden": "assert_visible",
    "assert_enabled": "assert_disabled",
    "assert_disabled": "assert_enabled",
}
# Checks of something that may also be asked for without a condition.
SHOWN: Final = frozenset({"assert_toast", "assert_modal", "assert_validation_error"})
# Texts that have nothing in common: a pattern that is found in all of them is found in everything.
STRANGERS: Final = ("", "\u2042", "0", "a b", "/x?y=1")


def falsified(step: Step) -> Step | None:
    """The check with an expectation that cannot hold where its own holds; None if it is no check or has no opposite.

    Its locator and kind of evidence stay as they are, so that what goes red is the expectation alone.
    """
    given = step.parameters
    if not step.asserts_outcome:
        return None
    if step.kind in OPPOSITES:
        return replace(step, kind=OPPOSITES[step.kind])
    match step.kind:
        case "wait":
            return replace(step, parameters={**given, "url": _broken(given["url"])})
        case "assert_checked":
            return replace(step, parameters={**given, UNCHECKED: True})
        case "a11y_audit":
            return replace(step, parameters={**given, "threshold": -1})  # no audit finds fewer than none
        case "assert_console":
            kept = {key: value for key, value in given.items() if key == "level"}
            return replace(step, parameters={**kept, "none": False, "pattern": NEVER})
        case "assert_request":
            return replace(step, parameters={**given, "url": f"/{IMPOSSIBLE}"})
        case kind if kind in SHOWN and not _conditions(given):
            return replace(step, parameters={**given, "contains": IMPOSSIBLE})
        case _:
            return replace(step, parameters=_broken(given)) if _conditions(given) else None


def _conditions(given: Mapping[str, Any]) -> list[str]:
    return [key for key in CONDITIONS if key in given]


def _broken(given: Mapping[str, Any]) -> dict[str, Any]:
    """Every condition turned into one that holds for nothing."""
    return {key: _impossible(key) if key in CONDITIONS else value for key, value in given.items()}


def _impossible(condition: str) -> Any:
    match condition:
        case "matches":
            return NEVER
        case "not_contains":
            return ""  # everything contains the empty text
        case "at_least":
            return BEYOND
        case "at_most":
            return -BEYOND
        case _:
            return IMPOSSIBLE


def cannot_fail(step: Step) -> str | None:
    """Why a check is green whatever the app shows; None if it can go red, or is no check."""
    if not step.asserts_outcome:
        return None
    if step.optional:
        return "it is optional, so the test goes on where it fails"
    given = step.parameters["url"] if step.kind == "wait" else step.parameters
    named = _conditions(given)
    if named and all(_holds_for_all(step.kind, key, given[key]) for key in named):
        return f"its condition ({', '.join(f'{key} {str(given[key])[:40]!r}' for key in named)}) holds for everything"
    return None


def _holds_for_all(kind: str, condition: str, value: Any) -> bool:
    match condition:
        case "contains":
            return str(value) == ""
        case "matches":
            try:
                return all(patterns.found(str(value), one) for one in STRANGERS)
            except RadarError:
                return False
        case "at_least":
            return kind == "assert_count" and float(value) <= 0
        case _:
            return False
