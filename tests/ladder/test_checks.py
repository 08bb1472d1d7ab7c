"""repair_ladder/checks.py: does what a page shows meet a condition?"""

from __future__ import annotations

from typing import Any

import pytest

from radar.announced import Announced
from repair_ladder.checks import (
    SeenRequest,
    announced_meets,
    audit_holds,
    console_meets,
    describe,
    is_like,
    meets,
    request_meets,
)

CASES: list[tuple[str, dict[str, Any], Any, bool]] = [
    ("equal", {"equals": "42"}, "42", True),
    ("equal with white space folded", {"equals": "Thank you"}, "  Thank \n\t you ", True),
    ("equal with hard blanks folded", {"equals": "1 204"}, "1\u00a0204", True),
    ("equal is not in any case", {"equals": "thank you"}, "Thank you", False),
    ("equal is not contained", {"equals": "Thank"}, "Thank you", False),
    ("a number for a text", {"equals": 42}, "42", True),
    ("a count", {"equals": 3}, 3, True),
    ("another count", {"equals": 3}, 4, False),
    ("contained", {"contains": "k y"}, "Thank you", True),
    ("contained over a line", {"contains": "Thank you"}, "Thank\nyou, Ada", True),
    ("not contained", {"contains": "Ada"}, "Thank you", False),
    ("not_contains holds", {"not_contains": "Error"}, "Thank you", True),
    ("not_contains does not hold", {"not_contains": "Error"}, "Error 17", False),
    ("matches anywhere", {"matches": r"\d+ items?"}, "You have 3 items", True),
    ("matches what is folded", {"matches": r"^a b$"}, "a \n b", True),
    ("does not match", {"matches": r"^\d+$"}, "3 items", False),
    ("at_least", {"at_least": 3}, 3, True),
    ("at_least, fewer", {"at_least": 3}, 2, False),
    ("at_most", {"at_most": 3}, 3, True),
    ("at_most, more", {"at_most": 3}, 4, False),
    ("at_least of a text", {"at_least": 1000}, " 1,204 ", True),
    ("at_least of a decimal", {"at_least": 3.5}, "3.5", True),
    ("at_least of what is no number", {"at_least": 1}, "1,204 orders", False),
    ("at_most of nothing", {"at_most": 5}, "", False),
    ("at_least of not a number", {"at_least": 1}, "nan", False),
    ("at_most of infinity", {"at_most": 5}, "inf", False),
    ("all conditions hold together", {"contains": "4", "not_contains": "5"}, "42", True),
    ("one of two does not", {"contains": "4", "not_contains": "2"}, "42", False),
    ("an empty text equals nothing", {"equals": ""}, "   ", True),
    ("no condition holds of anything", {}, "x", True),
]


@pytest.mark.parametrize(("condition", "seen", "holds"), [one[1:] for one in CASES], ids=[one[0] for one in CASES])
def test_a_condition(condition: dict[str, Any], seen: str | int, holds: bool) -> None:
    assert meets(condition, seen) == holds


@pytest.mark.parametrize(
    ("condition", "seen", "holds"),
    [
        pytest.param({"equals": "a  b"}, "a b", False, id="blanks count"),
        pytest.param({"equals": "/orders "}, "/orders", False, id="at the end too"),
        pytest.param({"contains": "/orders"}, "/orders?x=1", True, id="contained"),
    ],
)
def test_values_and_addresses_are_compared_as_they_are(condition: dict[str, Any], seen: str, holds: bool) -> None:
    assert meets(condition, seen, folded=False) == holds


def test_what_is_beside_the_conditions_is_no_condition() -> None:
    assert meets({"variable": "total", "attribute": "href", "equals": "42"}, "42")


def test_conditions_are_said_in_words() -> None:
    assert (
        describe({"not_contains": "Error", "at_least": 3, "variable": "x"}) == 'not contains "Error" and at least "3"'
    )
    assert describe({}) == ""


SENT = SeenRequest("POST", "http://shop/api/orders?page=2", 201, '{"item": "mug", "lines": [{"n": 2, "x": 1}]}')
REQUESTS: list[tuple[str, dict[str, Any], bool]] = [
    ("method in any case", {"method": "post"}, True),
    ("another method", {"method": "PUT"}, False),
    ("address without its query", {"url": "/api/orders"}, True),
    ("address with its query", {"url": "/api/orders?page=2"}, True),
    ("another query", {"url": "/api/orders?page=3"}, False),
    ("part of an address", {"url": "/api"}, False),
    ("a pattern", {"url": "/api/*"}, True),
    ("a pattern is no regular expression", {"url": "/api.orders"}, False),
    ("a whole address", {"url": "http://shop/api/orders"}, True),
    ("another app", {"url": "http://else/api/orders"}, False),
    ("status", {"status": 201}, True),
    ("another status", {"status": 200}, False),
    ("text of the body", {"body": "mug"}, True),
    ("part of the body", {"body": {"lines": [{"n": 2}]}}, True),
    ("another value", {"body": {"item": "cup"}}, False),
    ("true is not one", {"body": {"lines": [{"x": True}]}}, False),
    ("a shorter list", {"body": {"lines": []}}, False),
]


@pytest.mark.parametrize(("given", "holds"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS])
def test_a_request_is_the_one_that_is_meant(given: dict[str, Any], holds: bool) -> None:
    assert request_meets(given, SENT, base_url="http://shop") is holds


def test_a_form_is_compared_by_its_fields_and_no_body_is_no_mistake() -> None:
    form = SeenRequest("POST", "http://shop/f", None, "q=a+b&n=2&t=1&t=2")

    assert request_meets({"body": {"q": "a b", "n": 2, "t": ["1", "2"]}}, form, base_url="")
    assert not request_meets({"body": {"q": "a"}}, form, base_url="")
    assert not request_meets({"status": 200}, form, base_url="")
    assert not request_meets({"body": {"q": "a"}}, SeenRequest("GET", "http://shop/", 200, None), base_url="")


@pytest.mark.parametrize(
    ("given", "level", "holds"),
    [
        ({"none": True}, "error", True),
        ({"none": True}, "warning", False),
        ({"none": True, "level": "warning"}, "error", True),
        ({"pattern": "r.ady"}, "log", True),
        ({"pattern": "r.ady", "level": "error"}, "warning", False),
        ({"contains": "ready"}, "debug", True),
        ({"contains": "other"}, "error", False),
    ],
)
def test_a_line_of_the_console_is_one_of_those_meant(given: dict[str, Any], level: str, holds: bool) -> None:
    assert console_meets(given, level, "ready 7") is holds


@pytest.mark.parametrize(
    ("threshold", "holds"),
    [
        (2, False), (3, True), ("critical", True), ("serious", False), ("minor", False), ({"serious": 1}, True),
        ({"serious": 0}, False), ({"critical": 0, "minor": 2}, True),
    ],
)  # fmt: skip
def test_an_audit_holds_within_its_threshold(threshold: Any, holds: bool) -> None:
    assert audit_holds(threshold, ["minor", "serious", "minor"]) is holds


def test_the_text_on_the_buttons_of_a_toast_counts_for_contains_alone() -> None:
    toast = Announced("Saved Undo", "Saved")

    assert announced_meets({"equals": "Saved"}, toast)
    assert announced_meets({"contains": "Undo"}, toast)
    assert not announced_meets({"not_contains": "Undo"}, toast)
    assert announced_meets({}, toast)


@pytest.mark.parametrize(
    ("pattern", "text", "holds"),
    [
        ("/orders", "/orders", True),
        ("/orders", "/orders/1", False),
        ("*", "", True),
        ("/o*s", "/orders", True),
        ("/o*s", "/o", False),
        ("ab*ba", "aba", False),
        ("*.js*", "/a.js", True),
        ("a*b*c", "a-b-b-c", True),
        ("a*bc*c", "abc", False),
        ("a**c", "ac", True),
        ("/a.b*", "/axb", False),
        ("a*c", "a\nc", True),
        ("*a" * 40 + "*!", "a" * 5_000, False),
    ],
)
def test_a_star_stands_for_anything(pattern: str, text: str, holds: bool) -> None:
    """However many there are: as a regular expression the last one would take for ever."""
    assert is_like(pattern, text) is holds
