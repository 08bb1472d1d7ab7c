"""Whatever a model answers, only what is whole and fits the test comes out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radar.errors import BadLocator
from radar.locators import Locator, read
from repair_ladder.errors import BadTest
from repair_ladder.operations import Operation
from repair_ladder.ports import Answered
from repair_ladder.prompts import CHOOSE_ELEMENT, CUT, DIAGNOSE, HIDDEN, PROPOSE_OPERATIONS, Candidate
from repair_ladder.replies import Diagnosis, Unreadable, read_choice, read_diagnosis, read_operations
from repair_ladder.step_format import read_step as read_any_step
from repair_ladder.steps import Place, Step, Steps

STEPS: Steps = (
    Step("goto", parameters={"url": "/"}),
    Step("click", Locator(text="Save")),
    Step("intent", parameters={"goal": "buy"}, steps=(Step("click", Locator(text="Mug")),)),
)
CANDIDATES = [Candidate(17, "button Save"), Candidate(40, "button Cancel")]
CLICK = {"click": {"css": "#save"}}
CLICKED = Step("click", Locator(css="#save"))


def read_step(raw: object) -> Step:
    if raw == "reload":
        return Step("reload")
    if not isinstance(raw, dict) or list(raw) != ["click"]:
        raise BadTest("a step has one key that names its kind")
    return Step("click", read(raw["click"]))


def choice(value: Any, tool: str = CHOOSE_ELEMENT) -> int | Unreadable | None:
    return read_choice(Answered(tool, {"choice": value, "reason": "same"}), CANDIDATES)


def operations(*raw: Any) -> Any:
    return read_operations(Answered(PROPOSE_OPERATIONS, {"operations": list(raw)}), STEPS, read_step)


def operation(**changes: Any) -> dict[str, Any]:
    return {"op": "replace", "step": "2", "new": CLICK, "reason": "renamed", **changes}


def diagnosis(**changes: Any) -> Any:
    arguments = {
        "verdict": "rot",
        "explanation": "The button was renamed.",
        "recommendation": "Take the fix.",
        "operations": [operation()],
        **changes,
    }
    arguments = {key: value for key, value in arguments.items() if value is not ...}
    return read_diagnosis(Answered(DIAGNOSE, arguments), STEPS, read_step)


def test_a_choice_is_a_candidates_number_and_becomes_its_index_in_the_page() -> None:
    assert (choice(1), choice(2), choice(None)) == (17, 40, None)


@pytest.mark.parametrize("value", [0, 3, -1, True, False, 1.0, "1", [1], {}, float("nan"), 10**400, "x" * 5_000_000])
def test_any_other_choice_is_unreadable(value: Any) -> None:
    answer = choice(value)

    assert isinstance(answer, Unreadable)
    assert len(answer.reason) < 450


def test_a_choice_that_is_missing_or_from_another_tool_is_unreadable() -> None:
    assert read_choice(Answered(CHOOSE_ELEMENT, {}), CANDIDATES) == Unreadable("The answer lacks 'choice'.")
    assert isinstance(choice(1, tool=DIAGNOSE), Unreadable)
    assert isinstance(read_choice(Answered(CHOOSE_ELEMENT, [1]), CANDIDATES), Unreadable)  # type: ignore[arg-type]


def test_operations_are_read_in_their_order() -> None:
    answer = operations(
        operation(),
        operation(op="insert", step=0),
        operation(op="insert", step="3.1", new="reload"),
        operation(op="delete", step="3.1", new=None, reason=None),
    )

    assert answer == (
        Operation("replace", (2,), CLICKED, "renamed"),
        Operation("insert", (0,), CLICKED, "renamed"),
        Operation("insert", (3, 1), Step("reload"), "renamed"),
        Operation("delete", (3, 1)),
    )


def refer(number: int, place: Place | None) -> dict[str, Any] | None:
    return {"text": f"element {number} for {place}"} if number == 17 else None


def referring(new: Any, **changes: Any) -> Any:
    raw = Answered(PROPOSE_OPERATIONS, {"operations": [operation(new=new, **changes)]})
    return read_operations(raw, STEPS, read_any_step, refer)


def test_an_element_named_by_its_number_gets_its_locator_from_the_page() -> None:
    (replaced,) = referring({"click": {"ref": 17}})
    (inserted,) = referring('{"click": {"ref": "17"}}', op="insert")
    (waiting,) = referring({"wait": {"for": {"ref": 17}, "state": "visible"}})
    (block,) = referring({"group": {"goal": "pay", "steps": [{"click": {"ref": 17}}]}})

    assert replaced.new == Step("click", Locator(text="element 17 for (2,)"))
    assert inserted.new == Step("click", Locator(text="element 17 for None"))
    assert waiting.new.parameters["for"] == Locator(text="element 17 for (2,)")
    assert block.new.steps == (Step("click", Locator(text="element 17 for (2,)")),)


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ({"click": {"ref": 99}}, "shows no element [99]"),
        ({"click": {"ref": -1}}, "is -1 and not the number"),
        ({"click": {"ref": True}}, "is true and not the number"),
        ({"click": {"ref": "17; drop"}}, "not the number"),
        ({"click": {"ref": [17]}}, "is a list and not the number"),
        ({"click": {"ref": 17, "css": "#pay"}}, "by 'ref' and by 'css' at once"),
        ({"wait": {"for": {"ref": 99}}}, "shows no element [99]"),
        ({"group": {"goal": "pay", "steps": [{"click": {"ref": 99}}]}}, "shows no element [99]"),
    ],
)
def test_a_number_that_names_no_element_makes_the_answer_unreadable(new: Any, says: str) -> None:
    found = referring(new)

    assert isinstance(found, Unreadable)
    assert says in found.reason


def test_no_operations_are_an_answer() -> None:
    assert operations() == ()


def test_json_in_a_text_is_read_as_what_it_says() -> None:
    text = '[{"op": "replace", "step": "2", "new": "{\\"click\\": {\\"css\\": \\"#save\\"}}", "reason": "r"}]'

    answer = read_operations(Answered(PROPOSE_OPERATIONS, {"operations": text}), STEPS, read_step)

    assert answer == (Operation("replace", (2,), CLICKED, "r"),)


def nested(depth: int) -> Any:
    value: Any = {"css": "#x"}
    for _ in range(depth):
        value = {"css": "#x", "within": value}
    return {"click": value}


BAD = {
    "no object": 5,
    "null": None,
    "no op": {"step": "2", "new": CLICK},
    "other op": operation(op="move"),
    "op is a list": operation(op=["replace"]),
    "no step": {"op": "delete", "reason": ""},
    "step is true": operation(step=True),
    "step is a float": operation(step=2.0),
    "step is nan": operation(step=float("nan")),
    "step is a list": operation(step=[3, 1]),
    "step is words": operation(step="the second"),
    "step is negative": operation(step=-1),
    "step is huge": operation(step="9" * 5000),
    "step is huge number": operation(step=10**5000),
    "step is deep": operation(step=".".join("1" * 50)),
    "step in other digits": operation(step="２"),
    "step with a sign": operation(step="+2"),
    "step is empty": operation(step=""),
    "step with a gap": operation(step="3..1"),
    "step that is not there": operation(step="9"),
    "step 0 replaced": operation(step="0"),
    "insert inside a plain step": operation(op="insert", step="2.1"),
    "insert beyond the end": operation(op="insert", step="4"),
    "delete with a step": operation(op="delete"),
    "replace without one": operation(new=None),
    "new is a number": operation(new=3),
    "new is a list": operation(new=[CLICK]),
    "new is two kinds": operation(new={**CLICK, "goto": "/"}),
    "new has a bad locator": operation(new={"click": {"colour": "red"}}),
    "new is broken json": operation(new='{"click": '),
    "new is deep json": operation(new='{"a":' * 50_000),
    "new is long json": operation(new="{" + " " * 50_000 + "}"),
    "new is deep": operation(new=nested(50)),
    "new is very deep": operation(new=nested(5000)),
    "new is wide": operation(new={"click": {"css": ["x"] * 5000}}),
    "new is long": operation(new={"click": {"css": "x" * 5000}}),
    "new holds nan": operation(new={"click": {"css": float("nan")}}),
    "new holds infinity": operation(new={"click": {"nth": float("inf")}}),
    "new holds a huge number": operation(new={"click": {"css": "x", "nth": 10**30}}),
    "new holds null bytes": operation(new={"click": {"css": "a\0b"}}),
    "new holds half a character": operation(new={"click": {"css": "\ud800"}}),
    "new holds an object": operation(new={"click": {"css": object()}}),
    "new has a number for a key": operation(new={"click": {1: "x"}}),
    "new repeats a cut text": operation(new={"click": {"text": f"Terms {CUT}"}}),
    "new repeats a hidden text": operation(new={"click": {"text": HIDDEN}}),
    "reason is a number": operation(reason=5),
}


@pytest.mark.parametrize("raw", BAD.values(), ids=BAD.keys())
def test_one_bad_operation_makes_the_answer_unreadable(raw: Any) -> None:
    answer = operations(operation(), raw)

    assert isinstance(answer, Unreadable)
    assert answer.reason.endswith((".", "…"))
    assert "\n" not in answer.reason
    assert len(answer.reason) < 450


def test_the_reason_says_which_operation_and_what_was_expected() -> None:
    assert operations(operation(), operation(op="move")) == Unreadable(
        "The 'op' of operation 2 is 'move'; insert, replace or delete was asked for."
    )


def test_a_step_changed_twice_does_not_fit() -> None:
    assert isinstance(operations(operation(), operation(op="delete", new=None)), Unreadable)


def test_more_operations_than_the_limit_are_unreadable() -> None:
    assert isinstance(operations(*[operation(op="insert")] * 20), tuple)
    assert isinstance(operations(*[operation(op="insert")] * 21), Unreadable)


@pytest.mark.parametrize("raw", [None, {}, 5, True, "words", "{}", "[" * 10_000])
def test_a_list_of_operations_that_is_none_is_unreadable(raw: Any) -> None:
    answer = read_operations(Answered(PROPOSE_OPERATIONS, {"operations": raw}), STEPS, read_step)

    assert isinstance(answer, Unreadable)


def test_an_error_of_the_room_next_door_is_unreadable_too() -> None:
    def fails(raw: object) -> Step:
        raise BadLocator("'colour' is not a locator key")

    answer = read_operations(Answered(PROPOSE_OPERATIONS, {"operations": [operation()]}), STEPS, fails)

    assert answer == Unreadable("The new step of operation 1 is no step: 'colour' is not a locator key.")


def test_reasons_are_cleaned_and_cut() -> None:
    answer = operations(operation(reason="a\0\u202eb\n" + "x" * 5_000_000))

    assert answer[0].reason.startswith("a b xxx")
    assert len(answer[0].reason) == 500


@pytest.mark.parametrize("verdict", ["rot", "fixable"])
def test_drift_comes_with_its_operations(verdict: str) -> None:
    assert diagnosis(verdict=verdict) == Diagnosis(
        verdict,  # type: ignore[arg-type]
        "The button was renamed.",
        "Take the fix.",
        (Operation("replace", (2,), CLICKED, "renamed"),),
    )


@pytest.mark.parametrize("verdict", ["product_defect", "environment", "incurable"])
@pytest.mark.parametrize("raw", [[operation()], "nonsense", ..., [operation()] * 50])
def test_no_other_verdict_carries_operations(verdict: str, raw: Any) -> None:
    answer = diagnosis(verdict=verdict, operations=raw)

    assert (answer.verdict, answer.operations) == (verdict, ())


@pytest.mark.parametrize("word", ["ROT", "rot ", "test drift", "", None, True, 1, ["rot"], {"rot": 1}, "x" * 10**6])
def test_an_unknown_verdict_is_incurable_and_repairs_nothing(word: Any) -> None:
    answer = diagnosis(verdict=word)

    assert (answer.verdict, answer.operations) == ("incurable", ())


def test_drift_without_operations_repairs_nothing() -> None:
    assert diagnosis(operations=...).operations == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": ...},
        {"explanation": ...},
        {"explanation": " \0"},
        {"explanation": 5},
        {"operations": [5]},
        {"recommendation": []},
    ],
)
def test_a_diagnosis_with_a_hole_is_unreadable(changes: dict[str, Any]) -> None:
    assert isinstance(diagnosis(**changes), Unreadable)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)
FIELDS = st.dictionaries(
    st.sampled_from(["choice", "reason", "operations", "op", "step", "new", "ref", "verdict", "explanation"]),
    JSON,
    max_size=6,
)


@given(FIELDS, st.lists(FIELDS, max_size=3))
def test_no_answer_raises(fields: dict[str, Any], listed: list[dict[str, Any]]) -> None:
    for arguments in (fields, {**fields, "operations": listed}):
        read_choice(Answered(CHOOSE_ELEMENT, arguments), CANDIDATES)
        read_operations(Answered(PROPOSE_OPERATIONS, arguments), STEPS, read_any_step, refer)
        read_diagnosis(Answered(DIAGNOSE, {**arguments, "verdict": "rot"}), STEPS, read_step)


@pytest.mark.parametrize("pattern", ["(" * 900 + ")" * 900, "a{99999999999}", "((a{1000}){1000}){1000}", "(?x) a"])
def test_a_pattern_that_breaks_whoever_reads_it_makes_the_answer_unusable(pattern: str) -> None:
    """T35: a page that leads a model to such an answer must not end the repair, or the process."""
    for new in ({"assert_url": {"matches": pattern}}, {"click": {"text": pattern, "regex": True}}):
        answer = Answered(PROPOSE_OPERATIONS, {"operations": [operation(new=new)]})

        assert isinstance(read_operations(answer, STEPS, read_any_step), Unreadable)
