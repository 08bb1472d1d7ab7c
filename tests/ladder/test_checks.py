"""repair_ladder/checks.py: does what a page shows meet a condition?"""

from __future__ import annotations

from typing import Any

import pytest

from repair_ladder.checks import describe, meets

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
