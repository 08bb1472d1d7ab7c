"""repair_ladder/falsify.py: an expectation that cannot hold, for every kind of check; and checks that hold always."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repair_ladder.checks import audit_holds, meets
from repair_ladder.falsify import cannot_fail, falsified
from repair_ladder.step_format import read_step
from repair_ladder.steps import CHECKS, CONDITIONS

SEEN = ("", "Thank you, Ada", "42", "/orders/17?a=b", "⁂")
CONDITION: dict[str, Any] = {
    "equals": "42",
    "contains": "Thank you",
    "matches": "T.*u",
    "not_contains": "Error",
    "at_least": 2,
    "at_most": 5,
}
EVERY: dict[str, Any] = {
    "assert_url": {"contains": "/thanks"},
    "assert_title": {"equals": "Shop"},
    "assert_text": {"css": "h1", "equals": "Order"},
    "assert_value": {"css": "#a", "equals": "1"},
    "assert_variable": {"variable": "total", "equals": "42"},
    "assert_attribute": {"css": "a", "attribute": "href", "contains": "/"},
    "assert_count": {"css": "li", "equals": 3},
    "assert_visible": {"css": "h1"},
    "assert_hidden": {"css": "h1"},
    "assert_enabled": {"css": "button"},
    "assert_disabled": {"css": "button"},
    "assert_toast": {"contains": "Saved"},
    "assert_modal": {"contains": "Sure?"},
    "assert_validation_error": {"contains": "required"},
    "assert_console": {"level": "error", "none": True},
    "assert_checked": {"css": "#agree"},
    "assert_request": {"method": "POST", "url": "/pay", "status": 200},
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("seen", SEEN)
def test_a_falsified_condition_holds_for_nothing(condition: str, seen: str) -> None:
    wrong = falsified(read_step({"assert_text": {"css": "h1", condition: CONDITION[condition]}}))

    assert wrong is not None
    assert not meets(wrong.parameters, seen)
    assert not meets(wrong.parameters, seen, folded=False)


@pytest.mark.parametrize("number", [0, 1, 3, 100000])
@pytest.mark.parametrize("condition", ["equals", "at_least", "at_most"])
def test_a_falsified_count_is_never_met(condition: str, number: int) -> None:
    wrong = falsified(read_step({"assert_count": {"css": "li", condition: 3}}))

    assert wrong is not None
    assert not meets(wrong.parameters, number)


@pytest.mark.parametrize("kind", sorted(EVERY))
def test_every_kind_of_check_has_its_own_falsification(kind: str) -> None:
    step = read_step({kind: EVERY[kind]})

    wrong = falsified(step)

    assert wrong is not None
    assert wrong.locator == step.locator, "what goes red is the expectation, not the locator"
    assert (wrong.kind, wrong.parameters) != (step.kind, dict(step.parameters))


def test_no_kind_of_check_is_without_a_falsification() -> None:
    assert set(CHECKS) == set(EVERY)


@pytest.mark.parametrize("threshold", [0, 7, "minor", "critical", {"serious": 0}, {"minor": 9, "critical": 0}], ids=str)
@pytest.mark.parametrize("impacts", [(), ("minor",), ("critical", "serious", "minor")], ids=str)
def test_g41_no_audit_is_within_a_falsified_threshold(threshold: Any, impacts: tuple[str, ...]) -> None:
    wrong = falsified(read_step({"a11y_audit": {"css": "main", "rules": ["image-alt"], "threshold": threshold}}))

    assert wrong is not None
    assert wrong.parameters["rules"] == ["image-alt"], "what is audited stays as it is"
    assert not audit_holds(wrong.parameters["threshold"], impacts)


def test_g43_an_audit_that_only_reports_is_no_check() -> None:
    assert falsified(read_step({"a11y_audit": None})) is None


@pytest.mark.parametrize(("one", "other"), [("assert_visible", "assert_hidden"), ("assert_enabled", "assert_disabled")])
def test_states_become_their_opposites(one: str, other: str) -> None:
    for kind, opposite in ((one, other), (other, one)):
        wrong = falsified(read_step({kind: {"css": "h1"}}))
        assert wrong is not None
        assert wrong.kind == opposite


def test_g42_a_wait_for_a_url_is_falsified_and_a_wait_for_an_element_is_no_check() -> None:
    wrong = falsified(read_step({"wait": {"url": {"contains": "/thanks"}}}))

    assert wrong is not None
    assert not meets(wrong.parameters["url"], "/thanks", folded=False)
    assert falsified(read_step({"wait": {"for": {"css": "h1"}}})) is None
    assert falsified(read_step({"click": {"css": "h1"}})) is None


@pytest.mark.parametrize(
    "raw",
    [
        {"assert_text": {"css": "h1", "contains": ""}},
        {"assert_text": {"css": "h1", "matches": ".*"}},
        {"assert_url": {"matches": ""}},
        {"assert_count": {"css": "li", "at_least": 0}},
        {"wait": {"url": {"contains": ""}}},
    ],
    ids=str,
)
def test_a_check_that_holds_for_everything_cannot_fail(raw: Any) -> None:
    assert cannot_fail(read_step(raw))


def test_an_optional_check_cannot_fail() -> None:
    assert cannot_fail(replace(read_step({"assert_visible": {"css": "h1"}}), optional=True))


@pytest.mark.parametrize(
    "raw",
    [
        {"assert_text": {"css": "h1", "contains": "", "equals": "Order"}},
        {"assert_text": {"css": "h1", "matches": "^$"}},
        {"assert_text": {"css": "h1", "matches": r"\d+"}},
        {"assert_count": {"css": "li", "at_least": 1}},
        {"assert_text": {"css": "h1", "at_least": 0}},
        {"assert_visible": {"css": "h1"}},
        {"click": {"css": "h1"}, "optional": True},
    ],
    ids=str,
)
def test_a_check_that_can_fail_is_not_held_to_be_empty(raw: Any) -> None:
    assert cannot_fail(read_step(raw)) is None
