"""Laws of the floor, for any test and any proposal, the wicked ones included. They use nothing of the floor's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from radar.locators import Locator
from repair_ladder import floor
from repair_ladder.errors import DoesNotFit
from repair_ladder.floor import expectation, screen
from repair_ladder.operations import Operation, Operations, apply_operations, moved_places
from repair_ladder.steps import BLOCKS, Place, Step, Steps, step_at, walk

NEUTRAL = ("wait", "screenshot", "extract", "a11y_audit")
KIN = ({"fill", "type"}, {"click", "check"}, {"click", "uncheck"})

LOCATORS = [
    Locator(css="#a"),
    Locator(css="#b"),
    Locator(css="body"),
    Locator(css="*"),
    Locator(text="Paid"),
    Locator(test_id="sum"),
    Locator(role="row", name="Mug"),
    Locator(css=".sum", within=Locator(css="#a")),
    Locator(css=".sum", nth=0),
    Locator(css="#b", alternatives=(Locator(css="body"),)),
    Locator(xpath="//body"),
]
locators = st.sampled_from(LOCATORS)
texts = st.sampled_from(["42", "4", "", "Paid", "/orders", "/login", "${n}", "${pin}"])
conditions = st.dictionaries(st.sampled_from(["equals", "contains", "not_contains"]), texts, min_size=1, max_size=2)


@st.composite
def checks(draw: st.DrawFn) -> Step:
    kind = draw(
        st.sampled_from(["url", "text", "value", "visible", "hidden", "variable", "console", "wait", "audit", "count"])
    )
    spot = draw(locators)
    match kind:
        case "url":
            return Step("assert_url", None, draw(conditions))
        case "wait":
            return Step("wait", None, {"url": draw(conditions)})
        case "audit":
            return Step("a11y_audit", spot, {"threshold": draw(st.integers(0, 3)), "rules": ["a", "b"]})
        case "console":
            return Step("assert_console", None, {"level": "error", "none": True})
        case "variable":
            return Step("assert_variable", None, {"variable": draw(st.sampled_from("nm")), **draw(conditions)})
        case "count":
            return Step(
                "assert_count",
                spot,
                {draw(st.sampled_from(["equals", "at_least", "at_most"])): draw(st.integers(0, 3))},
            )
        case "visible" | "hidden":
            return Step(f"assert_{kind}", spot)
    return Step(f"assert_{kind}", spot, draw(conditions))


@st.composite
def actions(draw: st.DrawFn) -> Step:
    kind = draw(
        st.sampled_from(
            ["goto", "click", "check", "fill", "type", "select", "dialog", "set", "extract", "wait", "back"]
        )
    )
    spot, text = draw(locators), draw(texts)
    optional = draw(st.integers(0, 7)) == 0
    match kind:
        case "goto":
            return Step(kind, None, {"url": text}, optional=optional)
        case "click" | "check":
            return Step(kind, spot, optional=optional)
        case "fill" | "type":
            return Step(kind, spot, {"value": text}, optional=optional)
        case "select":
            return Step(kind, spot, {"option": text}, optional=optional)
        case "dialog":
            return Step(kind, None, {"answer": draw(st.sampled_from(["accept", "dismiss"]))})
        case "set":
            return Step(kind, None, {"into": draw(st.sampled_from("nm")), "value": text})
        case "extract":
            return Step(kind, spot, {"into": draw(st.sampled_from("nm"))})
        case "wait":
            return Step(kind, None, {"for": spot})
    return Step(kind)


leaves = st.one_of(checks(), actions(), actions()).flatmap(
    lambda step: st.integers(0, 9).map(lambda n: replace(step, never_repair=n == 0))
)


def _a_block(kind: str, goal: str, inner: list[Step]) -> Step:
    return Step(kind, None, {"goal": goal}, tuple(inner))


blocks = st.builds(_a_block, st.sampled_from(BLOCKS), st.sampled_from(["g", "h"]), st.lists(leaves, max_size=4))
tests = st.lists(st.one_of(leaves, leaves, leaves, blocks), min_size=1, max_size=7).map(tuple)


def _all_places(steps: Steps, before: Place = ()) -> Iterator[Place]:
    for number, step in enumerate(steps, 1):
        yield (*before, number)
        yield from _all_places(step.steps, (*before, number))


@st.composite
def twisted(draw: st.DrawFn, old: Step) -> Step:
    """A step that looks like the old one and may be something else."""
    other = draw(leaves)
    name = draw(
        st.sampled_from(
            ["locator", "kind", "optional", "timeout", "marked", "given", "less", "wrapped", "inner", "other"]
        )
    )
    match name:
        case "locator":
            return replace(old, locator=draw(locators))
        case "kind":
            flip = {
                "assert_visible": "assert_hidden",
                "assert_text": "assert_visible",
                "fill": "type",
                "click": "check",
            }
            return replace(old, kind=flip.get(old.kind, "assert_visible"))
        case "optional":
            return replace(old, optional=not old.optional)
        case "timeout":
            return replace(old, timeout_ms=draw(st.sampled_from([None, 1, 99999])))
        case "marked":
            return replace(old, never_repair=not old.never_repair)
        case "given":
            return replace(old, parameters={**old.parameters, **draw(conditions)})
        case "less":
            return replace(old, parameters=dict(list(old.parameters.items())[1:]))
        case "wrapped":
            return Step(draw(st.sampled_from(["group", "intent", "click"])), None, {"goal": "g"}, (old,))
        case "inner":
            return replace(old, steps=tuple(draw(st.permutations(old.steps)))[: draw(st.integers(0, 5))])
    return other


@st.composite
def proposals(draw: st.DrawFn) -> tuple[Steps, Operations, dict[str, Any]]:
    steps = draw(tests)
    places = list(_all_places(steps))
    operations = []
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.sampled_from(places))
        old = step_at(steps, place)
        match draw(st.sampled_from(["insert", "replace", "replace", "delete", "carry"])):
            case "insert":
                operations.append(
                    Operation("insert", draw(_spots(places)), draw(st.one_of(leaves, blocks, twisted(old))))
                )
            case "replace":
                operations.append(Operation("replace", place, draw(twisted(old))))
            case "delete":
                operations.append(Operation("delete", place))
            case "carry":
                operations.append(Operation("delete", place))
                operations.append(
                    Operation("insert", draw(_spots(places)), draw(st.one_of(st.just(old), twisted(old))))
                )
    shown = st.sets(st.sampled_from(places), max_size=3)
    knows = {"dropped": draw(shown), "renamed": draw(shown), "identified": draw(shown), "secrets": {"pin"}}
    return steps, tuple(operations), knows


def _spots(places: list[Place]) -> st.SearchStrategy[Place]:
    return st.sampled_from([(0,), *places, *((*place, 0) for place in places)])


# --- what has to hold, said once more and in other words -----------------------------------------------


def _checks(steps: Steps) -> list[tuple[object, ...]]:
    return [
        (one.kind, repr(one.parameters), one.timeout_ms, one.optional) for _, one in walk(steps) if one.asserts_outcome
    ]


def _broken(steps: Steps, allowed: Operations, dropped: set[Place], *, locators_too: bool) -> str | None:
    candidate = apply_operations(steps, allowed)
    moved = moved_places(steps, allowed)
    whole = {one.place for one in allowed if one.op == "replace" and step_at(steps, one.place).kind in BLOCKS}
    order: list[Place] = []
    for place, old in walk(steps):
        inside = next((place[:n] for n in range(1, len(place)) if place[:n] in whole), None)
        if inside:
            if _checks((step_at(steps, inside),)) != _checks((step_at(candidate, moved[inside]),)):
                return f"the checks of block {inside} changed"
            continue
        if place not in moved:
            if old.asserts_outcome or (place not in dropped and old.kind not in NEUTRAL) or old.never_repair:
                return f"{place} is gone"
            continue
        new = step_at(candidate, moved[place])
        order.append(moved[place])
        for length in range(1, len(place)):
            around, now = step_at(steps, place[:length]), step_at(candidate, moved[place][:length])
            if (around.kind, around.parameters, around.optional) != (now.kind, now.parameters, now.optional):
                return f"{place} stands in another block"
        if old.never_repair and new != old:
            return f"{place} was never to be repaired"
        if old.asserts_outcome:
            if expectation(replace(old, locator=None)) != expectation(replace(new, locator=None)):
                return f"{place} expects something else"
            if _checks((old,)) != _checks((new,)) or new.steps != old.steps:
                return f"{place} is no longer the same check"
            to_body = "body" in repr(new.locator) and "body" not in repr(old.locator)
            if locators_too and to_body and old.kind != "a11y_audit":
                return f"{place} looks at the whole page"
        elif old.kind not in NEUTRAL and place not in dropped:
            if old.kind != new.kind and {old.kind, new.kind} not in KIN:
                return f"{place} does something else"
            if new.optional and not old.optional:
                return f"{place} may be left out"
    return None if order == sorted(order) else "the order changed"


LAW = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@LAW
@given(proposals())
def test_nothing_that_passes_the_floor_weakens_a_check(proposal: tuple[Steps, Operations, dict[str, Any]]) -> None:
    steps, operations, knows = proposal

    screened = screen(steps, operations, **knows)

    assert _broken(steps, screened.allowed, knows["dropped"], locators_too=True) is None


@LAW
@given(proposals())
def test_every_operation_comes_out_once_and_what_is_allowed_stands_by_itself(
    proposal: tuple[Steps, Operations, dict[str, Any]],
) -> None:
    steps, operations, knows = proposal

    screened = screen(steps, operations, **knows)

    refused = [one.operation for one in screened.refused]
    assert sorted(map(repr, [*screened.allowed, *refused])) == sorted(map(repr, operations))
    assert screen(steps, screened.allowed, **knows).refused == ()
    assert all("\n" not in one.reason and len(one.reason) < 800 for one in screened.refused)
    apply_operations(steps, screened.allowed)


@LAW
@given(proposals())
def test_the_last_word_holds_without_the_rules_before_it(proposal: tuple[Steps, Operations, dict[str, Any]]) -> None:
    steps, operations, knows = proposal
    try:
        apply_operations(steps, operations)
    except DoesNotFit:
        return

    with patch.object(floor, "_reasons", lambda case: {}):
        screened = screen(steps, operations, **knows)

    assert screened.allowed in ((), operations)
    before, after = _checks(steps), iter(_checks(apply_operations(steps, screened.allowed)))
    assert all(check in after for check in before)


def test_the_law_and_the_last_word_can_say_no() -> None:
    steps = (
        Step("goto", None, {"url": "/"}),
        Step("assert_url", None, {"contains": "/orders"}),
        Step("click", Locator(css="#a"), never_repair=True),
    )

    for wicked in (
        Operation("delete", (2,)),
        Operation("replace", (2,), Step("assert_url", None, {"contains": "/login"})),
        Operation("replace", (2,), replace(steps[1], optional=True)),
        Operation("replace", (2,), Step("group", None, {"goal": "g"}, (steps[1],))),
        Operation("replace", (3,), replace(steps[2], locator=Locator(css="#b"))),
        Operation("delete", (1,)),
    ):
        assert _broken(steps, (wicked,), set(), locators_too=True)
        with patch.object(floor, "_reasons", lambda case: {}):
            assert screen(steps, (wicked,)).all_refused


def test_the_last_word_knows_who_gives_a_variable() -> None:
    steps = (
        Step("set", None, {"into": "n", "value": "1"}),
        Step("assert_variable", None, {"variable": "n", "equals": "1"}),
    )
    again = Operation("insert", (1,), steps[0])

    with patch.object(floor, "_reasons", lambda case: {}):
        assert "variable n" in screen(steps, (again,)).refused[0].reason
