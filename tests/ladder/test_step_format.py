"""repair_ladder/step_format.py: steps as plain data, both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest

from repair_ladder.errors import BadTest
from repair_ladder.operations import Operation
from repair_ladder.step_format import (
    PARAMETERS,
    describe,
    read_operation,
    read_place,
    read_step,
    read_steps,
    write_operation,
    write_step,
    write_steps,
)
from repair_ladder.steps import BLOCKS, CHECKS, KINDS, Step, show_place, step_at, walk
from tests.builders import steps_of

CSS = {"css": "#a"}
# One of every kind at its plainest and at its fullest.
EXAMPLES: dict[str, list[Any]] = {
    "goto": [{"goto": "/login"}],
    "back": [{"back": None}],
    "reload": [{"reload": None, "note": "once more"}],
    **{
        kind: [{kind: CSS}, {kind: {**CSS, "button": "right", "modifiers": ["Shift"], "position": {"x": 1, "y": 2.5}}}]
        for kind in ("click", "dblclick", "hover", "check", "uncheck")
    },
    "fill": [{"fill": {"label": "Email", "value": "${user}"}}, {"fill": {**CSS, "value": 42}}],
    "type": [{"type": {**CSS, "value": "x"}}],
    "press": [{"press": "Enter"}, {"press": {**CSS, "key": "Tab"}}],
    "select": [
        {"select": {**CSS, "option": "Blue"}},
        {"select": {**CSS, "value": "b"}},
        {"select": {**CSS, "index": 0}},
    ],
    "upload": [{"upload": {**CSS, "files": ["a.png", "b.png"]}}],
    "drag": [{"drag": {**CSS, "to": {"text": "Bin"}}}],
    "scroll": [{"scroll": {"by": -300}}, {"scroll": {**CSS, "until": {"text": "End"}}}],
    "dialog": [{"dialog": "accept"}, {"dialog": {"answer": "accept", "text": "yes"}}],
    "tab": [{"tab": {"switch": "newest"}}, {"tab": {"switch": {"contains": "/help"}}}, {"tab": {"close": True}}],
    "wait": [
        {"wait": 500},
        {"wait": {"for": {"css": "#x", "nth": 1}, "state": "hidden"}},
        {"wait": {"url": {"matches": "^/orders"}}},
    ],
    "extract": [{"extract": {**CSS, "into": "total"}}, {"extract": {**CSS, "into": "link", "what": "href"}}],
    "set": [{"set": {"into": "n", "value": "7"}}],
    "screenshot": [{"screenshot": "home"}, {"screenshot": {**CSS, "as": "box"}}, {"screenshot": None}],
    "use": [{"use": "sign-in"}, {"use": {"fragment": "sign-in", "values": {"user": "ada"}}}],
    "intent": [{"intent": {"goal": "buy", "values": {"item": "mug"}, "steps": [{"click": CSS}]}}],
    "group": [{"group": {"steps": [{"click": CSS}, {"intent": {"goal": "deep", "steps": [{"back": None}]}}]}}],
    "assert_url": [{"assert_url": {"contains": "/orders"}}],
    "assert_title": [{"assert_title": {"equals": "Shop", "not_contains": "Error"}}],
    "assert_text": [{"assert_text": {**CSS, "equals": "42"}}],
    "assert_value": [{"assert_value": {**CSS, "matches": r"^\d+$"}}],
    "assert_variable": [{"assert_variable": {"variable": "n", "at_least": 3}}],
    "assert_attribute": [{"assert_attribute": {**CSS, "attribute": "href", "contains": "/"}}],
    "assert_count": [{"assert_count": {**CSS, "at_least": 1, "at_most": 3.5}}],
    **{
        kind: [{kind: {"role": "button", "name": "Pay", "exact": True}}]
        for kind in ("assert_visible", "assert_hidden", "assert_enabled", "assert_disabled", "assert_checked")
    },
    **{kind: [{kind: {"contains": "saved"}}] for kind in ("assert_toast", "assert_modal", "assert_validation_error")},
    "assert_console": [{"assert_console": {"level": "error", "none": True}}, {"assert_console": {"pattern": "^x"}}],
    "assert_request": [{"assert_request": {"method": "POST", "url": "/pay", "status": 200, "body": {"a": [1, None]}}}],
    "a11y_audit": [{"a11y_audit": None}, {"a11y_audit": {**CSS, "rules": ["label"], "threshold": {"serious": 0}}}],
}
ALL = [(kind, raw) for kind, some in EXAMPLES.items() for raw in some]
IDS = [f"{kind} {json.dumps(raw)[:40]}" for kind, raw in ALL]
FULL = {
    "role": "row", "has_text": "Ada", "within": {"css": "table"}, "frame": [{"title": "Shop"}, {"css": "iframe"}],
    "nth": -1, "exact": True, "alternatives": [{"xpath": "//tr[1]"}, {"test_id": "row"}],
}  # fmt: skip


def test_every_kind_of_the_format_has_an_example_and_its_parameters() -> None:
    assert set(EXAMPLES) == set(KINDS) == set(PARAMETERS)


@pytest.mark.parametrize(("kind", "raw"), ALL, ids=IDS)
def test_what_is_read_is_written_and_read_again(kind: str, raw: Any) -> None:
    step = read_step(raw)

    written = write_step(step)

    assert step.kind == kind
    assert read_step(written) == step
    assert write_step(read_step(written)) == written
    assert read_step(json.loads(json.dumps(written))) == step, "it survives JSON"


@pytest.mark.parametrize(("kind", "raw"), ALL, ids=IDS)
def test_every_step_can_be_said_on_one_line(kind: str, raw: Any) -> None:
    said = describe(read_step(raw))

    assert said.startswith(kind.replace("_", " "))
    assert "\n" not in said


@pytest.mark.parametrize(("kind", "raw"), ALL, ids=IDS)
def test_which_steps_assert_an_outcome(kind: str, raw: Any) -> None:
    """G38-G43."""
    step = read_step(raw)
    by_parameter = (kind == "wait" and "url" in step.parameters) or (
        kind == "a11y_audit" and "threshold" in step.parameters
    )

    assert step.asserts_outcome == (kind in CHECKS or by_parameter)


def test_writing_is_in_one_order_however_it_was_written() -> None:
    one = read_step(
        {"click": {"button": "right", "css": "#a", "role": "button", "name": "Pay"}, "note": "n", "id": "i"}
    )
    other = read_step(
        {"id": "i", "note": "n", "click": {"name": "Pay", "role": "button", "css": "#a", "button": "right"}}
    )

    assert json.dumps(write_step(one)) == json.dumps(write_step(other))


def test_a_locator_with_everything_comes_back() -> None:
    step = read_step({"click": FULL})

    assert read_step(write_step(step)) == step
    assert step.locator is not None
    assert step.locator.frame[1].css == "iframe"


@pytest.mark.parametrize(
    "raw",
    [
        {"click": CSS, "id": "s1", "note": "the big one", "never_repair": True, "timeout_ms": 900, "optional": True},
        {"click": {**CSS, "never_repair": True, "timeout_ms": 900}},
    ],
    ids=["beside the kind", "inside it"],
)
def test_what_stands_beside_the_kind(raw: dict[str, Any]) -> None:
    step = read_step(raw)

    assert (step.never_repair, step.timeout_ms) == (True, 900)
    assert read_step(write_step(step)) == step


WRONG = [
    ("no mapping", 5, "a step is a mapping"),
    ("a word", "tap it", "a step is a mapping"),
    ("no kind", {"note": "x"}, "one key that names its kind, got none"),
    ("two kinds", {"click": CSS, "fill": CSS}, "got click, fill"),
    ("an unknown kind", {"tap": CSS}, "'tap' is not a kind of step"),
    ("a kind that is no text", {5: CSS}, "5 is not a kind of step"),
    ("no locator", {"click": {}}, "'click' needs a locator"),
    ("a locator as a text", {"click": "#a"}, "'click' takes a mapping"),
    ("an unknown parameter", {"click": {**CSS, "value": 1}}, "'value' is not a parameter of 'click'"),
    ("an unknown locator key", {"click": {"id": "a", "selector": "x"}}, "needs a locator"),
    ("an empty locator", {"click": {"css": ""}}, "'css' is empty"),
    ("a name without a role", {"click": {"css": "a", "name": "Pay"}}, "'name' goes with 'role'"),
    ("nth as a text", {"click": {**CSS, "nth": "2"}}, "'nth' is a whole number"),
    ("nth as a flag", {"click": {**CSS, "nth": True}}, "'nth' is a whole number"),
    ("exact as a text", {"click": {**CSS, "exact": "yes"}}, "'exact' is true or false"),
    ("frame as a mapping", {"click": {**CSS, "frame": CSS}}, "'frame' is a list of locators"),
    ("no value", {"fill": CSS}, "value"),
    ("a value that is a flag", {"fill": {**CSS, "value": True}}, "put it in quotes"),
    ("a value that is a list", {"fill": {**CSS, "value": [1]}}, "'value' is a text"),
    ("a value that is not a number", {"fill": {**CSS, "value": float("nan")}}, "put it in quotes"),
    ("a value that is too long", {"fill": {**CSS, "value": "x" * 100_001}}, "longer than 100000"),
    ("no key", {"press": CSS}, "key"),
    ("no URL", {"goto": None}, "url"),
    ("another button", {"click": {**CSS, "button": "thumb"}}, "'button' is left, right or middle"),
    ("a position without y", {"click": {**CSS, "position": {"x": 1}}}, "'position' is"),
    ("two ways to select", {"select": {**CSS, "option": "a", "index": 1}}, "option"),
    ("no way to select", {"select": CSS}, "option"),
    ("a negative index", {"select": {**CSS, "index": -1}}, "'index' is a whole number from 0"),
    ("no files", {"upload": {**CSS, "files": []}}, "'files' is a list of texts"),
    ("a target that is no locator", {"drag": {**CSS, "to": "bin"}}, "'to': a locator is a mapping"),
    ("an answer nobody knows", {"dialog": "maybe"}, "'answer' is accept or dismiss"),
    ("a wait that is too long", {"wait": 10**9}, "'ms' is a whole number"),
    ("a wait that is negative", {"wait": -1}, "'ms' is a whole number"),
    ("a wait for two things", {"wait": {"ms": 1, "url": {"equals": "/"}}}, "wait"),
    ("a state nobody knows", {"wait": {"for": CSS, "state": "gone"}}, "'state' is"),
    ("a condition that is none", {"wait": {"url": {"is": "/"}}}, "'is' is not a condition"),
    ("a check without a condition", {"assert_text": CSS}, "condition"),
    ("a check of a URL without one", {"assert_url": {}}, "condition"),
    ("a pattern that is none", {"assert_text": {**CSS, "matches": "("}}, "not a regular expression"),
    ("a bound that is a text", {"assert_count": {**CSS, "at_least": "3"}}, "'at_least' is a number"),
    ("a variable without a name", {"assert_variable": {"equals": 1}}, "variable"),
    ("an optional check", {"assert_text": {**CSS, "equals": "x"}, "optional": True}, "optional"),
    ("optional as a text", {"click": CSS, "optional": "yes"}, "'optional' is true or false"),
    ("a time-out that is a text", {"click": CSS, "timeout_ms": "5"}, "'timeout_ms' is a whole number"),
    ("a block without steps", {"intent": {"goal": "x"}}, "'intent' needs 'steps'"),
    ("an intent without a goal", {"intent": {"steps": []}}, "'intent' needs a 'goal'"),
    ("steps that are no list", {"group": {"steps": {"click": CSS}}}, "'steps' is a list"),
]


@pytest.mark.parametrize(("raw", "why"), [one[1:] for one in WRONG], ids=[one[0] for one in WRONG])
def test_what_is_wrong_is_said_in_one_line(raw: Any, why: str) -> None:
    with pytest.raises(BadTest) as caught:
        read_step(raw)

    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_an_error_knows_its_step_in_a_block() -> None:
    with pytest.raises(BadTest) as caught:
        read_steps([{"back": None}, {"intent": {"goal": "x", "steps": [{"click": CSS}, {"click": {}}]}}])

    assert caught.value.place == (2, 2)


def test_blocks_stand_only_so_deep_and_tests_are_only_so_long() -> None:
    deep: Any = {"click": CSS}
    for _ in range(50):
        deep = {"group": {"steps": [deep]}}

    with pytest.raises(BadTest, match="deep in one another"):
        read_steps([deep])
    with pytest.raises(BadTest, match="at most 5000 steps"):
        read_steps([{"group": {"steps": [{"back": None}] * 3000}}] * 2)


# --- operations and places -----------------------------------------------------------------------------

STEPS = steps_of({"goto": "/"}, {"intent": {"goal": "buy", "steps": [{"click": CSS}, {"back": None}]}}, {"wait": 5})


@pytest.mark.parametrize(
    "operation",
    [
        Operation("insert", (0,), read_step({"back": None}), "first"),
        Operation("insert", (2, 1), read_step({"click": FULL}), "in a block"),
        Operation("replace", (2, 2), read_step({"reload": None})),
        Operation("replace", (2,), STEPS[1], "a whole block"),
        Operation("delete", (3,), None, "not needed"),
    ],
    ids=["insert first", "insert into a block", "replace in a block", "replace a block", "delete"],
)
def test_an_operation_comes_back_from_what_the_commands_print(operation: Operation) -> None:
    printed = json.loads(json.dumps(write_operation(STEPS, operation)))

    assert read_operation(printed) == operation
    assert printed["old"] == (None if operation.op == "insert" else write_step(step_at(STEPS, operation.place)))


@pytest.mark.parametrize(
    "raw",
    [{}, {"op": "move", "step": 1}, {"op": "delete"}, {"op": "delete", "step": "x"}, {"op": "delete", "step": None}],
    ids=["nothing", "an unknown one", "no step", "a step that is a word", "a step that is null"],
)
def test_an_operation_that_is_none_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises((BadTest, TypeError)):
        read_operation(raw)


def test_places_are_shown_and_read() -> None:
    assert [show_place(place) for place, _ in walk(STEPS)] == ["1", "2.1", "2.2", "3"]
    for place, _ in walk(STEPS):
        assert read_place(show_place(place)) == place
    assert read_place(3) == (3,)
    for wrong in ("", "a", "1.", "1..2"):
        with pytest.raises(ValueError, match="invalid literal"):
            read_place(wrong)
    for gone in ((0,), (9,), (1, 1), (2, 9), ()):
        with pytest.raises(LookupError):
            step_at(STEPS, gone)


def test_many_steps_come_back() -> None:
    steps = steps_of(*(raw for _, raw in ALL))

    assert read_steps(write_steps(steps)) == steps
    assert all(isinstance(step, Step) for step in steps)
    assert {one.kind for one in steps if one.steps} == set(BLOCKS)
