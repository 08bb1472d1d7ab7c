"""Steps in words: what a check expects, what any other step does. On one line, and cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from radar.locators import Locator
from repair_ladder.floor.kinds import ENTERING
from repair_ladder.steps import CONDITIONS, Place, Step, show_place

LONGEST_TEXT: Final = 80  # of any one text inside a refusal
CONDITION_WORDS: Final = {
    "equals": "equals",
    "contains": "contains",
    "matches": "matches",
    "not_contains": "does not contain",
    "at_least": "is at least",
    "at_most": "is at most",
}
STATE_WORDS: Final = {
    "assert_visible": "is visible",
    "assert_hidden": "is hidden",
    "assert_enabled": "is enabled",
    "assert_disabled": "is disabled",
    "assert_checked": "is checked",
}
TEXT_WORDS: Final = {
    "assert_toast": "a toast",
    "assert_modal": "a dialog",
    "assert_validation_error": "a validation error",
}


def expectation(step: Step) -> str:
    """What a check expects, in words and on one line; of any other step what it does."""
    words = _expects(step) if step.asserts_outcome else _does(step)
    if step.asserts_outcome and step.timeout_ms is not None:
        words += f", within {step.timeout_ms} ms"
    return f"{words}, optional" if step.optional else words


def _expects(step: Step) -> str:
    given, where = step.parameters, place_in_words(step.locator)
    match step.kind:
        case "assert_url" | "assert_title":
            return f"{step.kind.removeprefix('assert_')} {_condition(given)}"
        case "assert_text" | "assert_value":
            return f"{step.kind.removeprefix('assert_')} of {where} {_condition(given)}"
        case "assert_variable":
            return f"variable {one_line(given.get('variable'))} {_condition(given)}"
        case "assert_attribute":
            return f"attribute {one_line(given.get('attribute'))} of {where} {_condition(given)}"
        case "assert_count":
            return f"number of {where} {_condition(given)}"
        case kind if kind in STATE_WORDS:
            return f"{where} {STATE_WORDS[kind]}"
        case kind if kind in TEXT_WORDS:
            place = f" in {where}" if step.locator else ""
            return f"{TEXT_WORDS[kind]}{place} {_condition(given)}" if given else f"{TEXT_WORDS[kind]}{place} is shown"
        case "wait":
            return f"wait until url {_condition(given['url'])}"
        case "a11y_audit":
            return f"accessibility of {where if step.locator else 'the page'}: {_listed(given)}"
        case "assert_request":
            return f"a request with {_listed(given)}"
        case kind:
            return f"{kind.removeprefix('assert_')}: {_listed(given) or 'anything'}"


def _does(step: Step) -> str:
    # What is typed may be private, and says nothing of why a change is refused.
    shown = {key: value for key, value in step.parameters.items() if step.kind not in ENTERING or key != "value"}
    parts = [step.kind.replace("_", " "), place_in_words(step.locator) if step.locator else "", _listed(shown)]
    return " ".join(part for part in parts if part)


def _condition(given: object) -> str:
    if not isinstance(given, Mapping):
        return f"is {one_line(given)}"
    parts = [f"{CONDITION_WORDS[key]} {one_line(given[key]) or '“”'}" for key in CONDITIONS if key in given]
    rest = {key: value for key, value in given.items() if key not in (*CONDITIONS, "variable", "attribute")}
    return " and ".join([*parts, *([_listed(rest)] if rest else [])]) or "is anything"


def _listed(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{one_line(key)} {one_line(value)}" for key, value in given.items())


def place_in_words(locator: Locator | None) -> str:
    return one_line(locator) if locator else "the page"


def one_line(value: object) -> str:
    text = " ".join("".join(char if char.isprintable() else " " for char in str(value)).split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def spot_of(place: Place) -> str:
    if place[-1]:
        return f"after step {show_place(place)}"
    return f"before step {show_place((*place[:-1], 1))}"
