"""The floor: every kind of step in the table (G38-G43), and every way round it that we know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from radar.locators import Locator
from repair_ladder.floor import Screened, expectation, screen
from repair_ladder.operations import Operation, apply_operations
from repair_ladder.step_format import read_step, read_steps
from repair_ladder.steps import Place, Step, Steps

ORDERS = {"assert_url": {"contains": "/orders"}}
TOTAL = {"assert_text": {"css": "#total", "equals": "42"}}


def a_test(*raw: dict[str, Any]) -> Steps:
    return read_steps(list(raw))


def insert(after: int | Place, raw: dict[str, Any] | Step) -> Operation:
    return Operation("insert", _place(after), raw if isinstance(raw, Step) else read_step(raw))


def put(at: int | Place, raw: dict[str, Any] | Step) -> Operation:
    return Operation("replace", _place(at), raw if isinstance(raw, Step) else read_step(raw))


def delete(at: int | Place) -> Operation:
    return Operation("delete", _place(at))


def _place(at: int | Place) -> Place:
    return (at,) if isinstance(at, int) else at


def is_refused(screened: Screened, *words: str) -> bool:
    assert screened.all_refused, [one.op for one in screened.allowed]
    reason = screened.refused[0].reason
    assert reason.startswith("Refused: ")
    assert "\n" not in reason
    for word in words:
        assert word in reason, reason
    return True


def is_allowed(screened: Screened) -> bool:
    assert not screened.refused, [one.reason for one in screened.refused]
    return True


# --- the table -----------------------------------------------------------------------------------------

CSS = {"css": "#old"}
REWRITTEN = [
    ("G38 url, expected value", {"assert_url": {"contains": "/dashboard"}}, {"assert_url": {"contains": "/login"}}),
    ("G38 url, condition", {"assert_url": {"equals": "/a"}}, {"assert_url": {"contains": "/a"}}),
    ("G38 url, pattern widened", {"assert_url": {"matches": "^/a/1$"}}, {"assert_url": {"matches": ".*"}}),
    ("G38 title", {"assert_title": {"equals": "Shop"}}, {"assert_title": {"contains": "Shop"}}),
    ("G38 text, expected value", TOTAL, {"assert_text": {"css": "#total", "equals": "54"}}),
    ("G38 text, equals to contains", TOTAL, {"assert_text": {"css": "#total", "contains": "42"}}),
    ("G38 text, shorter", {"assert_text": {**CSS, "contains": "ab"}}, {"assert_text": {**CSS, "contains": "a"}}),
    ("G38 text, case", {"assert_text": {**CSS, "equals": "Paid"}}, {"assert_text": {**CSS, "equals": "paid"}}),
    ("G38 text, number for text", TOTAL, {"assert_text": {"css": "#total", "equals": 42}}),
    ("G38 text, negated", {"assert_text": {**CSS, "contains": "x"}}, {"assert_text": {**CSS, "not_contains": "x"}}),
    (
        "G38 text, one of two conditions dropped",
        {"assert_text": {**CSS, "contains": "42", "not_contains": "-"}},
        {"assert_text": {**CSS, "contains": "42"}},
    ),
    (
        "G38 text, stricter is a rewrite too",
        {"assert_text": {**CSS, "contains": "4"}},
        {"assert_text": {**CSS, "equals": "4"}},
    ),
    ("G38 value", {"assert_value": {**CSS, "equals": "tea"}}, {"assert_value": {**CSS, "equals": ""}}),
    (
        "G38 variable, expected value",
        {"assert_variable": {"variable": "total", "equals": "42"}},
        {"assert_variable": {"variable": "total", "equals": "0"}},
    ),
    (
        "G38 variable, its actual side",
        {"assert_variable": {"variable": "total", "equals": "42"}},
        {"assert_variable": {"variable": "other", "equals": "42"}},
    ),
    (
        "G38 attribute, its name",
        {"assert_attribute": {**CSS, "attribute": "href", "contains": "/a"}},
        {"assert_attribute": {**CSS, "attribute": "id", "contains": "/a"}},
    ),
    ("G38 count, softer", {"assert_count": {**CSS, "equals": 3}}, {"assert_count": {**CSS, "at_least": 3}}),
    ("G38 count, at least fewer", {"assert_count": {**CSS, "at_least": 3}}, {"assert_count": {**CSS, "at_least": 0}}),
    ("G38 count, at most more", {"assert_count": {**CSS, "at_most": 3}}, {"assert_count": {**CSS, "at_most": 99}}),
    ("G39 visible to hidden", {"assert_visible": CSS}, {"assert_hidden": CSS}),
    ("G39 hidden to visible", {"assert_hidden": CSS}, {"assert_visible": CSS}),
    ("G39 enabled to visible", {"assert_enabled": CSS}, {"assert_visible": CSS}),
    ("G39 disabled to enabled", {"assert_disabled": CSS}, {"assert_enabled": CSS}),
    ("G39 checked to visible", {"assert_checked": CSS}, {"assert_visible": CSS}),
    ("G39 toast", {"assert_toast": {"contains": "Saved"}}, {"assert_toast": {"contains": "Error"}}),
    ("G39 toast, any text", {"assert_toast": {"contains": "Saved"}}, {"assert_toast": {}}),
    ("G39 modal", {"assert_modal": {"contains": "Sure?"}}, {"assert_modal": {"matches": ".*"}}),
    (
        "G39 validation error",
        {"assert_validation_error": {"equals": "a"}},
        {"assert_validation_error": {"equals": "b"}},
    ),
    (
        "G40 console, level",
        {"assert_console": {"level": "warning", "none": True}},
        {"assert_console": {"level": "error", "none": True}},
    ),
    ("G40 console, pattern", {"assert_console": {"pattern": "ready"}}, {"assert_console": {"pattern": ".*"}}),
    (
        "G40 request, method",
        {"assert_request": {"method": "POST", "url": "/a"}},
        {"assert_request": {"method": "GET", "url": "/a"}},
    ),
    (
        "G40 request, status",
        {"assert_request": {"url": "/a", "status": 200}},
        {"assert_request": {"url": "/a", "status": 500}},
    ),
    ("G40 request, url", {"assert_request": {"url": "/a"}}, {"assert_request": {"url": "/"}}),
    (
        "G40 request, body dropped",
        {"assert_request": {"url": "/a", "body": {"n": 1}}},
        {"assert_request": {"url": "/a"}},
    ),
    ("G40 request, body inside", {"assert_request": {"body": {"n": [1, 2]}}}, {"assert_request": {"body": {"n": [1]}}}),
    ("G41 audit, softer threshold", {"a11y_audit": {"threshold": 0}}, {"a11y_audit": {"threshold": 9}}),
    (
        "G41 audit, fewer rules",
        {"a11y_audit": {"threshold": 0, "rules": ["a", "b"]}},
        {"a11y_audit": {"threshold": 0, "rules": ["a"]}},
    ),
    ("G41 audit, only a report", {"a11y_audit": {"threshold": 0}}, {"a11y_audit": {}}),
    ("G41 audit, narrowed", {"a11y_audit": {"threshold": 0}}, {"a11y_audit": {"css": "#footer", "threshold": 0}}),
    (
        "G41 audit, whole page to a part",
        {"a11y_audit": {"css": "body", "threshold": 0}},
        {"a11y_audit": {"css": "#a", "threshold": 0}},
    ),
    (
        "G41 audit, part of a part",
        {"a11y_audit": {"css": "#a", "threshold": 0}},
        {"a11y_audit": {"css": "#a p", "threshold": 0}},
    ),
    ("G42 wait for a URL", {"wait": {"url": {"contains": "/orders"}}}, {"wait": {"url": {"contains": "/"}}}),
    ("G42 wait for a URL to a time", {"wait": {"url": {"contains": "/orders"}}}, {"wait": 500}),
    ("G42 wait for a URL to an element", {"wait": {"url": {"contains": "/orders"}}}, {"wait": {"for": {"css": "p"}}}),
]
CHECKS = {next(iter(one[1])): one[1] for one in reversed(REWRITTEN)}


@pytest.mark.parametrize(("old", "new"), [one[1:] for one in REWRITTEN], ids=[one[0] for one in REWRITTEN])
def test_a_check_keeps_its_expectation(old: dict[str, Any], new: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, old)

    screened = screen(steps, (put(2, new),), dropped={(2,)}, renamed={(2,)}, identified={(2,)})

    assert is_refused(screened, "step 2", expectation(steps[1]))
    assert screened.refused[0].old == expectation(steps[1])
    assert screened.refused[0].new == expectation(read_step(new))
    assert screened.refused[0].step == "2"


@pytest.mark.parametrize("raw", CHECKS.values(), ids=CHECKS)
def test_a_check_is_not_deleted(raw: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, raw)

    assert is_refused(screen(steps, (delete(2),), dropped={(2,)}), "deleting the check at step 2")


OTHERS: list[dict[str, Any]] = [
    {"click": CSS},
    {"wait": 1},
    {"screenshot": "a"},
    {"reload": None},
    {"assert_title": {"equals": "a"}},
]


@pytest.mark.parametrize("raw", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_a_check_is_not_replaced_by_another_step(raw: dict[str, Any], other: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, raw)

    assert is_refused(screen(steps, (put(2, other),), dropped={(2,)}), "step 2", "Only a person")


MOVABLE = ["assert_text", "assert_value", "assert_attribute", "assert_count", "assert_visible", "assert_enabled"]
MOVABLE += ["assert_disabled", "assert_checked", "a11y_audit"]


@pytest.mark.parametrize("kind", MOVABLE)
def test_a_check_may_move_to_another_locator(kind: str) -> None:
    raw = {
        "assert_text": {"equals": "42"},
        "assert_value": {"equals": "tea"},
        "assert_attribute": {"attribute": "href", "contains": "/a"},
        "assert_count": {"equals": 3},
        "a11y_audit": {"threshold": 0},
    }.get(kind, {})
    steps = a_test({"goto": "/"}, {kind: {**CSS, **raw}})
    moved = put(2, {kind: {"test_id": "new", **raw}})

    screened = screen(steps, (moved,))

    assert is_allowed(screened)
    assert apply_operations(steps, screened.allowed)[1].locator == Locator(test_id="new")


@pytest.mark.parametrize("kind", ["assert_toast", "assert_modal", "assert_validation_error"])
def test_a_toast_may_move_if_it_has_a_place(kind: str) -> None:
    old = Step(kind, Locator(css="#old"), {"contains": "Saved"})

    assert is_allowed(screen((old,), (put(1, replace(old, locator=Locator(test_id="new"))),)))


@pytest.mark.parametrize("kind", ["assert_console", "assert_request", "assert_url", "wait"])
def test_a_check_without_a_place_does_not_move(kind: str) -> None:
    old = Step(kind, Locator(css="#old"), {"url": "/a"})

    assert is_refused(screen((old,), (put(1, replace(old, locator=Locator(test_id="new"))),)))


NEUTRAL = [
    {"wait": 500},
    {"wait": {"for": {"css": "#a"}}},
    {"screenshot": "a"},
    {"extract": {"css": "#a", "into": "unread"}},
    {"a11y_audit": {}},
]


@pytest.mark.parametrize("raw", NEUTRAL, ids=str)
def test_g43_neutral_steps_may_be_changed_removed_and_added(raw: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, raw, ORDERS)

    assert is_allowed(screen(steps, (delete(2),)))
    assert is_allowed(screen(steps, (put(2, {"wait": {"for": {"css": "#b"}}}),)))
    assert is_allowed(screen(a_test({"goto": "/"}, ORDERS), (insert(1, raw),)))


# --- what stands beside a check ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "beside",
    [{"optional": True}, {"timeout_ms": 1}, {"timeout_ms": 900_000}, {"never_repair": True}],
    ids=str,
)
@pytest.mark.parametrize("raw", [TOTAL, ORDERS, {"assert_hidden": CSS}, {"wait": {"url": {"equals": "/a"}}}], ids=str)
def test_nothing_is_put_beside_a_check(raw: dict[str, Any], beside: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, raw)

    assert is_refused(screen(steps, (put(2, replace(steps[1], **beside)),), identified={(2,)}))


@pytest.mark.parametrize("timeout_ms", [None, 1, 999, 1001, 60_000], ids=str)
def test_the_time_a_check_has_is_part_of_what_it_expects(timeout_ms: int | None) -> None:
    steps = a_test({"goto": "/"}, {**TOTAL, "timeout_ms": 1000})

    assert is_refused(screen(steps, (put(2, replace(steps[1], timeout_ms=timeout_ms)),)), "within 1000 ms")


@pytest.mark.parametrize("raw", [TOTAL, {"click": CSS}, {"wait": 5}], ids=str)
def test_a_step_marked_never_repair_is_left_alone(raw: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, {**raw, "never_repair": True}, ORDERS)
    free = replace(steps[1], never_repair=False)

    for operation in (delete(2), put(2, free), put(2, replace(steps[1], locator=Locator(test_id="new")))):
        assert is_refused(screen(steps, (operation,), dropped={(2,)}), "never repair")
    assert is_allowed(screen(steps, (insert(1, {"wait": 5}), insert(2, {"wait": 5}))))


def test_a_block_marked_never_repair_is_left_alone_inside_too() -> None:
    block = {"group": {"goal": "g", "steps": [{"click": CSS}, TOTAL]}, "never_repair": True}
    steps = a_test(block)

    for operation in (put((1, 1), {"click": {"css": "#b"}}), insert((1, 0), {"wait": 1}), delete((1, 1)), delete(1)):
        assert is_refused(screen(steps, (operation,), dropped={(1, 1)}), "never repair")


def test_a_repair_marks_no_step_never_repair() -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, ORDERS)

    assert is_refused(screen(steps, (put(2, {"click": {"css": "#b"}, "never_repair": True}),)))
    assert is_refused(screen(steps, (insert(1, {"click": {"css": "#b"}, "never_repair": True}),)))


def test_id_and_note_say_nothing_of_what_is_checked() -> None:
    steps = a_test({"goto": "/"}, {**TOTAL, "id": "t", "note": "n"})

    assert is_allowed(screen(steps, (put(2, {"assert_text": {"test_id": "total", "equals": "42"}}),)))


# --- deleting and inserting again ----------------------------------------------------------------------


@pytest.mark.parametrize("spot", [0, 1, 2, 3], ids=lambda spot: f"after {spot}")
@pytest.mark.parametrize("again", [TOTAL, {"assert_text": {"css": "#total", "contains": "4"}}], ids=["same", "weaker"])
def test_a_check_is_not_deleted_and_inserted_again(spot: int, again: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, TOTAL)

    screened = screen(steps, (delete(3), insert(spot, again)))

    kept = apply_operations(steps, screened.allowed)
    assert "deleting the check at step 3" in screened.refused[0].reason
    assert steps[2] in kept
    assert kept.index(steps[1]) < len(kept) - 1 - kept[::-1].index(steps[2])


def test_the_stand_in_of_a_check_that_stays_is_refused_with_it() -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, {"assert_url": {"contains": "/dashboard"}})

    screened = screen(steps, (delete(3), insert(3, {"assert_url": {"contains": "/login"}})))

    assert is_refused(screened, "deleting the check at step 3")
    assert "step 3, which stays" in screened.refused[1].reason


def test_a_check_is_not_carried_past_the_end_or_into_a_block() -> None:
    steps = a_test({"goto": "/"}, TOTAL, {"click": CSS}, {"intent": {"goal": "g", "steps": [{"click": CSS}]}})

    for spot in (insert(4, TOTAL), insert((4, 0), TOTAL), insert((4, 1), TOTAL), insert(0, TOTAL)):
        screened = screen(steps, (delete(2), spot))
        assert screened.allowed in ((), (spot,))
        assert apply_operations(steps, screened.allowed).count(steps[1]) >= 1


def test_a_check_does_not_hide_inside_a_step_that_is_no_block() -> None:
    steps = a_test({"goto": "/"}, TOTAL)
    never_run = Step("click", Locator(css="#a"), {}, steps=(steps[1],))

    assert is_refused(screen(steps, (put(2, never_run),)), "never run")
    assert is_refused(screen(steps, (insert(1, never_run),)), "never run")


def test_a_check_may_be_added_but_not_an_optional_one() -> None:
    steps = a_test({"goto": "/"}, TOTAL)
    new = read_step({"assert_visible": {"text": "Welcome"}})

    assert is_allowed(screen(steps, (insert(1, new), insert(2, new))))
    assert is_refused(screen(steps, (insert(1, replace(new, optional=True)),)), "optional")
    assert is_refused(screen(steps, (insert(1, Step("assert_nothing")),)), "no kind of step")


# --- where a check looks -------------------------------------------------------------------------------

CATCH_ALL: list[dict[str, Any]] = [
    {"css": "html"},
    {"css": "body"},
    {"css": "BODY"},
    {"css": ":root"},
    {"css": "*"},
    {"css": "*|*"},
    {"css": ":is(*)"},
    {"css": ":where(body, #x)"},
    {"css": ":is(html)"},
    {"css": ":not(.nothing)"},
    {"css": "body:has(#old)"},
    {"css": "html > body"},
    {"css": "html > body > div"},
    {"css": "body.home"},
    {"css": r"\62 ody"},
    {"css": "div"},
    {"css": "main"},
    {"css": "div:first-child"},
    {"css": "div:nth-child(2)"},
    {"css": "#a" * 1001},
    {"css": "div:has(#old)"},
    {"css": "[class]"},
    {"css": "[id*='a']"},
    {"css": "#new, body"},
    {"css": "#new, #other"},
    {"css": ":is(#new, .other)"},
    {"css": "#new >> xpath=.."},
    {"css": "xpath=//body"},
    {"css": "text=Total"},
    {"css": "//body"},
    {"css": ":nth-match(:is(#new, p), 2)"},
    {"xpath": "/html"},
    {"xpath": "//body"},
    {"xpath": "/html/body"},
    {"xpath": "/"},
    {"xpath": "//*"},
    {"xpath": "//body[@class='home']"},
    {"xpath": "//*[@id]"},
    {"xpath": "//*[not(@id='none')]"},
    {"xpath": "//*[@id!='none']"},
    {"xpath": "//*[@id='a' or true()]"},
    {"xpath": "//*[contains(@class, '')]"},
    {"xpath": "//*['x']"},
    {"xpath": "//*[name()='body']"},
    {"xpath": "//*[local-name()='html']"},
    {"xpath": "(//*)[1]"},
    {"xpath": "//div"},
    {"xpath": "//div[1]"},
    {"xpath": "//div/.."},
    {"xpath": "//span[@id='new']/ancestor::div"},
    {"xpath": "//span[@id='new']/parent::*"},
    {"xpath": "//span[@id='new']/.."},
    {"xpath": "//span[@id='new'] | //body"},
    {"xpath": "(//a)/text()"},
    {"role": "document"},
    {"role": "generic"},
    {"role": "main"},
    {"text": "a"},
    {"test_id": " "},
    {"css": "div", "within": {"css": "body"}},
    {"css": "div", "has_text": "Total"},
]


@pytest.mark.parametrize("spot", CATCH_ALL, ids=str)
@pytest.mark.parametrize("kind", ["assert_text", "assert_visible"])
def test_a_check_is_not_pointed_at_what_is_always_there(kind: str, spot: dict[str, Any]) -> None:
    given = {"contains": "42"} if kind == "assert_text" else {}
    steps = a_test({"goto": "/"}, {kind: {**CSS, **given}})

    assert is_refused(screen(steps, (put(2, Step(kind, _locator(spot), given)),)), "moving the check at step 2")


def _locator(spot: dict[str, Any]) -> Locator:
    locator = read_step({"click": spot}).locator
    assert locator is not None
    return locator


GOOD: list[dict[str, Any]] = [
    {"test_id": "grand-total"},
    {"css": "#new"},
    {"css": "[data-test='grand-total']"},
    {"css": "table.orders > tbody > tr > td.sum"},
    {"css": "body .sum"},
    {"css": "h1"},
    {"css": "span", "within": {"test_id": "order"}},
    {"css": ".sum", "within": {"role": "row", "has_text": "Blue mug"}},
    {"css": ".sum:not(.old)"},
    {"xpath": "//td[@class='sum']"},
    {"xpath": "//*[@id='new']"},
    {"xpath": "//tr[td[normalize-space()='Blue mug']]/td[@class='sum']"},
    {"role": "status"},
    {"role": "status", "name": "Total"},
    {"label": "Total", "exact": True},
    {"css": "#new", "frame": [{"css": "iframe"}]},
]


@pytest.mark.parametrize("spot", GOOD, ids=str)
def test_a_check_may_move_to_a_place_of_its_own(spot: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, {"assert_text": {**CSS, "contains": "42"}})

    assert is_allowed(screen(steps, (put(2, {"assert_text": {**spot, "contains": "42"}}),)))


CIRCULAR: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"contains": "$48.00"}, {"text": "$48.00"}),
    ({"contains": "$48.00"}, {"css": "p", "has_text": "Total  $48.00"}),
    ({"contains": "$48.00"}, {"css": "p", "has_text": "$48"}),
    ({"contains": "$48.00"}, {"role": "cell", "name": "$48.00"}),
    ({"contains": "$48.00"}, {"css": "p:has-text('$48.00')"}),
    ({"contains": "$48.00"}, {"css": "p:text-is('$48.00')"}),
    ({"contains": "$48.00"}, {"css": ".row:has(:text('$48.00'))"}),
    ({"contains": "$48.00"}, {"css": ".sum", "within": {"css": ".row", "has_text": "$48.00"}}),
    ({"contains": "$48.00"}, {"css": ".sum", "frame": [{"title": "$48.00"}]}),
    ({"contains": "$48.00"}, {"xpath": "//p[contains(., '$48.00')]"}),
    ({"contains": "$48.00"}, {"xpath": "//p[text()='$48.00']"}),
    ({"contains": "$48.00"}, {"css": "[data-amount='$48.00']"}),
    ({"equals": "Profile saved"}, {"text": "profile SAVED"}),
    ({"equals": "Profile saved"}, {"text": "Profile\u200b saved"}),
    ({"equals": "${total}"}, {"text": "${total}"}),
    ({"matches": r"^Order \d+ confirmed$"}, {"text": "Order 5 confirmed"}),
]


@pytest.mark.parametrize(("given", "spot"), CIRCULAR, ids=str)
def test_a_check_is_not_found_by_what_it_expects(given: dict[str, Any], spot: dict[str, Any]) -> None:
    steps = a_test({"set": {"into": "total", "value": "1"}}, {"assert_text": {**CSS, **given}})

    assert is_refused(screen(steps, (put(2, {"assert_text": {**spot, **given}}),)), "which the check is to find out")


STATES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("assert_visible", {}, {"css": ".card:visible"}),
    ("assert_enabled", {}, {"css": "#new:enabled"}),
    ("assert_enabled", {}, {"css": "#new:not([disabled])"}),
    ("assert_disabled", {}, {"css": "#new[disabled]"}),
    ("assert_checked", {}, {"css": "#new:checked"}),
    ("assert_checked", {}, {"xpath": "//input[@aria-checked='true']"}),
    ("assert_value", {"equals": "tea"}, {"css": "[value='tea']"}),
    ("assert_value", {"contains": "tea"}, {"css": "#new[value]"}),
    ("assert_attribute", {"attribute": "href", "contains": "/a"}, {"css": "a[href^='/a/b']"}),
    ("assert_attribute", {"attribute": "data-testid", "equals": "open"}, {"test_id": "open"}),
    ("assert_attribute", {"attribute": "class", "contains": "active"}, {"css": "li.active"}),
    ("assert_attribute", {"attribute": "title", "contains": "Hel"}, {"title": "Help"}),
]


@pytest.mark.parametrize(("kind", "given", "spot"), STATES, ids=str)
def test_a_check_is_not_found_by_the_state_it_expects(kind: str, given: dict[str, Any], spot: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, {kind: {**CSS, **given}})

    assert is_refused(screen(steps, (put(2, {kind: {**spot, **given}}),)), "which the check is to find out")


def test_what_was_circular_before_is_not_the_repairs_doing() -> None:
    steps = a_test({"goto": "/"}, {"assert_text": {"text": "Welcome back", "contains": "Welcome"}})
    moved = {"assert_text": {"role": "heading", "has_text": "Welcome back", "contains": "Welcome"}}

    assert is_allowed(screen(steps, (put(2, moved),)))


WIDENED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("within dropped", {"css": ".sum", "within": {"css": "#order"}}, {"css": ".sum"}),
    ("within widened", {"css": ".sum", "within": {"css": "#a .b"}}, {"css": ".sum", "within": {"css": ".b"}}),
    ("the scope itself", {"css": ".sum", "within": {"css": "#order"}}, {"css": "#order"}),
    ("exact dropped", {"role": "status", "name": "A b", "exact": True}, {"role": "status", "name": "A b"}),
    ("has_text dropped", {"css": ".sum", "has_text": "Mug"}, {"css": ".sum"}),
    ("has_text shorter", {"css": ".sum", "has_text": "Blue mug"}, {"css": ".sum", "has_text": "mug"}),
    ("name dropped", {"role": "status", "name": "Total"}, {"role": "status"}),
    ("css scope dropped", {"css": "#order .sum"}, {"css": ".sum"}),
    ("css ancestor", {"css": "#order .sum"}, {"css": "#order"}),
    ("css parent", {"css": "#order > .sum"}, {"css": "#order"}),
    ("xpath ancestor", {"xpath": "//div[@id='o']/p[1]"}, {"xpath": "//div[@id='o']"}),
    ("nth", CSS, {"css": "p.sum", "nth": 0}),
    ("nth of a scope", CSS, {"css": "p.sum", "within": {"css": ".row", "nth": 1}}),
    ("xpath position", CSS, {"xpath": "(//p[@class='sum'])[1]"}),
    ("a pattern", CSS, {"text": ".*", "regex": True}),
    ("a pattern that says something", CSS, {"text": "Total|Sum", "regex": True}),
    ("a pattern for a text", {"text": "Total"}, {"text": "Total", "regex": True}),
    ("what it holds, taken away", {"css": "#a p", "has": {"css": "b"}}, {"css": "#a p"}),
    ("what it does not hold", CSS, {"css": "p.sum", "has_not": {"css": "b"}}),
    ("what it does not say", CSS, {"css": "p.sum", "has_not_text": "Error"}),
    ("what can be seen of it", CSS, {"css": "p.sum", "visible": True}),
    ("alternatives", CSS, {**CSS, "alternatives": [{"css": "#other"}]}),
    ("an alternative beside a move", CSS, {"css": "#new", "alternatives": [{"css": "body"}]}),
    ("an alternative of a scope", CSS, {"css": ".a", "within": {"css": "#b", "alternatives": [{"css": "body"}]}}),
]


@pytest.mark.parametrize(("old", "new"), [one[1:] for one in WIDENED], ids=[one[0] for one in WIDENED])
def test_a_check_does_not_look_at_more_than_before(old: dict[str, Any], new: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, {"assert_text": {**old, "contains": "42"}})

    assert is_refused(
        screen(steps, (put(2, {"assert_text": {**new, "contains": "42"}}),)), "moving the check at step 2"
    )


def test_a_check_keeps_a_locator_of_its_own() -> None:
    steps = a_test({"goto": "/"}, TOTAL)

    assert is_refused(screen(steps, (put(2, replace(steps[1], locator=None)),)), "neither takes it away")


def test_a_number_of_elements_is_no_text() -> None:
    steps = a_test({"goto": "/"}, {"assert_count": {**CSS, "equals": 3}})

    assert is_allowed(screen(steps, (put(2, {"assert_count": {"css": "[data-step='3']", "equals": 3}}),)))


def test_a_recorded_alternative_may_come_first() -> None:
    old = {"css": "#old", "alternatives": [{"css": "div:first-child"}, {"text": "Total"}]}
    steps = a_test({"goto": "/"}, {"assert_text": {**old, "contains": "42"}})
    new = {"css": "div:first-child", "alternatives": [{"css": "#old"}]}

    assert is_allowed(screen(steps, (put(2, {"assert_text": {**new, "contains": "42"}}),)))


TEXTS: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("assert_visible", {"text": "Welcome back"}, {"text": "Sign in"}, False),
    ("assert_visible", {"text": "Welcome back"}, {"text": "Welcome"}, False),
    ("assert_visible", {"text": "Welcome back"}, {"css": "#hello"}, False),
    ("assert_visible", {"text": "Welcome back"}, {"role": "heading", "name": "Welcome back"}, True),
    ("assert_visible", {"text": "Welcome back"}, {"role": "button", "name": "Welcome back, Ada"}, True),
    ("assert_visible", {"text": "Welcome back"}, {"css": "#hello", "has_text": "welcome back"}, True),
    ("assert_visible", {"text": "Paid", "exact": True}, {"css": "#state", "has_text": "Paid"}, False),
    ("assert_visible", {"css": "p:has-text('Paid')"}, {"css": "#state"}, False),
    ("assert_visible", {"xpath": "//p[text()='Paid']"}, {"css": "#state"}, False),
    ("assert_visible", {"xpath": "//p[@id='state']"}, {"css": "#state"}, True),
    ("assert_visible", {"role": "heading", "name": "Overview"}, {"role": "heading", "name": "Sign in"}, False),
    ("assert_visible", {"role": "button", "name": "Log in"}, {"role": "button", "name": "Sign in"}, True),
    ("assert_visible", {"css": "#hello"}, {"test_id": "greeting"}, True),
    ("assert_count", {"css": ".row", "has_text": "Mug"}, {"css": ".line"}, False),
    ("assert_enabled", {"text": "Save"}, {"test_id": "save"}, True),
]


@pytest.mark.parametrize(("kind", "old", "new", "fine"), TEXTS, ids=str)
def test_a_check_of_presence_keeps_the_text_it_names(
    kind: str, old: dict[str, Any], new: dict[str, Any], fine: bool
) -> None:
    given = {"equals": 3} if kind == "assert_count" else {}
    steps = a_test({"goto": "/"}, {kind: {**old, **given}})

    screened = screen(steps, (put(2, {kind: {**new, **given}}),))

    assert is_allowed(screened) if fine else is_refused(screened, "moving the check")


ABSENT: list[tuple[str, dict[str, Any]]] = [
    ("assert_hidden", {}),
    ("assert_count", {"equals": 0}),
    ("assert_count", {"at_most": 2}),
    ("assert_text", {"not_contains": "Error"}),
    ("assert_text", {"equals": ""}),
    ("assert_value", {"equals": " "}),
]


@pytest.mark.parametrize(("kind", "given"), ABSENT, ids=str)
def test_a_check_of_absence_moves_only_where_the_element_was_shown(kind: str, given: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, {kind: {**CSS, **given}})
    moved = put(2, {kind: {"test_id": "new", **given}})

    assert is_refused(screen(steps, (moved,)), "not there")
    assert is_refused(screen(steps, (moved,), identified={(1,)}))
    assert is_allowed(screen(steps, (moved,), identified={(2,)}))
    assert is_refused(screen(steps, (put(2, Step(kind, Locator(css="body"), given)),), identified={(2,)}))


def test_a_check_is_not_pointed_at_what_the_test_itself_typed() -> None:
    steps = a_test({"fill": {"label": "Name", "value": "Ada"}}, {"assert_text": {**CSS, "contains": "Ada"}})

    assert is_refused(screen(steps, (put(2, {"assert_text": {"label": "Name", "contains": "Ada"}}),)), "Step 1 itself")


# --- actions -------------------------------------------------------------------------------------------

ACTIONS: list[dict[str, Any]] = [
    {"goto": "/a"},
    {"back": None},
    {"reload": None},
    {"click": CSS},
    {"dblclick": CSS},
    {"hover": CSS},
    {"check": CSS},
    {"uncheck": CSS},
    {"fill": {**CSS, "value": "x"}},
    {"type": {**CSS, "value": "x"}},
    {"press": {**CSS, "key": "Enter"}},
    {"select": {**CSS, "option": "x"}},
    {"upload": {**CSS, "files": ["a.pdf"]}},
    {"drag": {**CSS, "to": {"css": "#there"}}},
    {"scroll": {"by": 100}},
    {"dialog": "accept"},
    {"tab": {"switch": "newest"}},
    {"set": {"into": "x", "value": "1"}},
    {"use": "sign-in"},
]


@pytest.mark.parametrize("raw", ACTIONS, ids=str)
def test_an_action_is_deleted_only_where_it_was_shown_redundant(raw: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, raw, ORDERS)

    assert is_refused(screen(steps, (delete(2),)), "deleting step 2")
    assert is_refused(screen(steps, (delete(2),), dropped={(1,)}))
    assert is_allowed(screen(steps, (delete(2),), dropped={(2,)}))
    assert is_refused(screen(steps, (put(2, {"wait": 1}),)))
    assert is_refused(screen(steps, (put(2, {"assert_title": {"equals": "Shop"}}),)))


def test_an_action_after_the_last_check_stays_too() -> None:
    steps = a_test({"goto": "/"}, ORDERS, {"click": {"role": "button", "name": "Remove"}})

    assert is_refused(screen(steps, (delete(3),)))


@pytest.mark.parametrize("raw", [one for one in ACTIONS if "css" in str(one)], ids=str)
def test_an_action_may_move_and_take_longer(raw: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, raw, ORDERS)
    moved = replace(steps[1], locator=Locator(test_id="new"), timeout_ms=9000)

    assert is_allowed(screen(steps, (put(2, moved),)))
    assert is_refused(screen(steps, (put(2, replace(moved, locator=None)),)))
    assert is_refused(screen(steps, (put(2, replace(moved, optional=True)),)), "optional")
    assert is_allowed(screen(steps, (put(2, replace(moved, optional=True)),), dropped={(2,)}))


DEEDS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"fill": {**CSS, "value": "x"}}, {"type": {"css": "#b", "value": "x"}}, True),
    ({"type": {**CSS, "value": "x"}}, {"fill": {**CSS, "value": "x"}}, True),
    ({"fill": {**CSS, "value": "x"}}, {"type": {**CSS, "value": "y"}}, False),
    ({"fill": {**CSS, "value": "x"}}, {"fill": {**CSS, "value": "y"}}, False),
    ({"fill": {**CSS, "value": "1"}}, {"fill": {**CSS, "value": 1}}, False),
    ({"check": CSS}, {"click": CSS}, True),
    ({"uncheck": CSS}, {"click": CSS}, True),
    ({"click": CSS}, {"check": CSS}, True),
    ({"click": CSS}, {"uncheck": CSS}, False),
    ({"check": CSS}, {"uncheck": CSS}, False),
    ({"check": CSS}, {"click": {**CSS, "button": "right"}}, False),
    ({"click": {**CSS, "modifiers": ["Shift"]}}, {"check": CSS}, False),
    ({"click": CSS}, {"dblclick": CSS}, False),
    ({"click": CSS}, {"hover": CSS}, False),
    ({"click": CSS}, {"press": {"key": "Enter"}}, False),
    ({"click": CSS}, {"goto": "/orders"}, False),
    ({"click": CSS}, {"click": {**CSS, "button": "right"}}, False),
    ({"click": CSS}, {"group": {"goal": "g", "steps": [{"click": CSS}]}}, False),
    ({"press": {"key": "Enter"}}, {"press": {"key": "Escape"}}, False),
    ({"press": {"key": "Enter"}}, {"press": {**CSS, "key": "Enter"}}, False),
    ({"select": {**CSS, "option": "M"}}, {"click": CSS}, False),
    ({"select": {**CSS, "option": "M"}}, {"select": {**CSS, "option": "L"}}, False),
    ({"upload": {**CSS, "files": ["a"]}}, {"upload": {**CSS, "files": ["b"]}}, False),
    ({"drag": {**CSS, "to": {"css": "#a"}}}, {"drag": {**CSS, "to": {"css": "#b"}}}, True),
    ({"scroll": {"by": 100}}, {"scroll": {"until": {"css": "#b"}}}, True),
    ({"scroll": {"by": 100}}, {"scroll": {"css": ".list", "by": 900}}, True),
    ({"dialog": "dismiss"}, {"dialog": "accept"}, False),
    ({"dialog": {"answer": "accept", "text": "a"}}, {"dialog": {"answer": "accept", "text": "b"}}, False),
    ({"tab": {"switch": "newest"}}, {"tab": {"close": True}}, False),
    ({"set": {"into": "x", "value": "1"}}, {"set": {"into": "x", "value": "2"}}, False),
    ({"use": "sign-in"}, {"use": "sign-in-as-guest"}, False),
    ({"goto": "/a"}, {"goto": "/b"}, False),
    ({"back": None}, {"reload": None}, False),
]


@pytest.mark.parametrize(("old", "new", "fine"), DEEDS, ids=str)
def test_an_action_stays_the_same_deed(old: dict[str, Any], new: dict[str, Any], fine: bool) -> None:
    steps = a_test({"goto": "/"}, old, ORDERS)

    screened = screen(steps, (put(2, new),))

    assert is_allowed(screened) if fine else is_refused(screened, "step 2")


def test_an_option_may_have_another_text_where_it_was_shown_renamed() -> None:
    steps = a_test({"goto": "/"}, {"select": {**CSS, "option": "Express"}}, ORDERS)
    renamed = put(2, {"select": {"test_id": "shipping", "option": "Next day"}})

    assert is_refused(screen(steps, (renamed,)), "Express", "Next day")
    assert is_allowed(screen(steps, (renamed,), renamed={(2,)}))


def test_an_address_may_change_where_it_was_shown_renamed() -> None:
    steps = a_test({"goto": "/login"}, {"click": CSS}, ORDERS)

    assert is_allowed(screen(steps, (put(1, {"goto": "/sign-in"}),), renamed={(1,)}))
    assert is_refused(screen(steps, (put(1, {"goto": "/orders"}),), renamed={(1,)}), "straight to /orders")
    assert is_refused(screen(steps, (put(1, {"goto": "/sign-in?next=/orders"}),), renamed={(1,)}), "straight to")


FOREIGN = [
    "https://evil.example/login",
    "http://shop.example:81/login",
    "//evil.example/login",
    "/\\evil.example",
    "\\\\evil.example",
    "https:evil.example",
    "https://shop.example@evil.example/",
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    " JavaScript:alert(1)",
    "data:text/html,42",
    "file:///etc/passwd",
    "about:blank",
    "blob:http://shop.example/1",
    "view-source:http://shop.example/",
    "${other}/login",
    "http://[",
]


@pytest.mark.parametrize("url", FOREIGN)
def test_a_goto_stays_with_the_app(url: str) -> None:
    steps = a_test({"goto": "http://shop.example/login"}, {"goto": "/login"}, ORDERS)

    for place in (1, 2):
        assert is_refused(screen(steps, (put(place, {"goto": url}),), renamed={(1,), (2,)}), "not a page of the app")


def test_a_goto_may_go_to_an_allowed_origin() -> None:
    steps = a_test({"goto": "/login"}, ORDERS)
    operation = put(1, {"goto": "https://id.shop.example/login"})

    assert is_refused(screen(steps, (operation,), renamed={(1,)}))
    assert is_allowed(screen(steps, (operation,), renamed={(1,)}, origins={"https://ID.shop.example:443"}))


# --- insertions ----------------------------------------------------------------------------------------

SIGN_IN = (
    {"goto": "/"},
    {"fill": {"label": "Password", "value": "${password}"}},
    {"click": {"role": "button", "name": "Sign in"}},
    ORDERS,
)
HELPFUL: list[tuple[int, dict[str, Any]]] = [
    (1, {"click": {"role": "button", "name": "Only what is needed"}}),
    (1, {"click": {"role": "button", "name": "Only what is needed"}, "optional": True}),
    (1, {"hover": {"css": "#menu"}}),
    (1, {"scroll": {"css": ".list", "until": {"css": "#a"}}}),
    (2, {"fill": {"label": "Phone", "value": "555"}}),
    (2, {"select": {"label": "Country", "option": "Norway"}}),
    (2, {"check": {"label": "I accept the terms"}}),
    (2, {"dialog": "accept"}),
    (2, {"press": {"key": "Escape"}}),
    (3, {"tab": {"switch": "newest"}}),
    (3, {"wait": {"for": {"css": "#ready"}}}),
    (3, {"extract": {"css": "#n", "into": "fresh"}}),
    (4, {"fill": {"label": "Password", "value": "${password}"}}),
]


@pytest.mark.parametrize(("after", "raw"), HELPFUL, ids=str)
def test_what_a_changed_app_asks_for_may_be_inserted(after: int, raw: dict[str, Any]) -> None:
    assert is_allowed(screen(a_test(*SIGN_IN), (insert(after, raw),), secrets={"password"}))


HARMFUL: list[tuple[int, dict[str, Any]]] = [
    (3, {"goto": "/orders"}),
    (0, {"goto": "/orders"}),
    (1, {"goto": "/"}),
    (3, {"back": None}),
    (3, {"reload": None}),
    (3, {"tab": {"close": True}}),
    (1, {"use": "sign-in-as-guest"}),
    (1, {"intent": {"goal": "g", "steps": [{"click": CSS}]}}),
    (3, {"group": {"goal": "g", "steps": []}}),
    (1, {"upload": {**CSS, "files": ["/etc/passwd"]}}),
    (1, {"fill": {"label": "Search", "value": "${token}"}}),
    (1, {"fill": {"label": "${password}", "value": "a"}}),
    (1, {"set": {"into": "fresh", "value": "${password}"}}),
    (1, {"set": {"into": "password", "value": "a"}}),
    (1, {"extract": {**CSS, "into": "password"}}),
    (1, {"press": {"key": "${password}"}}),
    (1, {"click": {"text": "${password}"}}),
    (1, {"assert_text": {**CSS, "equals": "${password}"}}),
    (1, {"fill": {"label": "Path", "value": "/orders"}}),
]


@pytest.mark.parametrize(("after", "raw"), HARMFUL, ids=str)
def test_what_leads_round_the_checks_is_not_inserted(after: int, raw: dict[str, Any]) -> None:
    screened = screen(a_test(*SIGN_IN), (insert(after, raw),), secrets={"password", "token"}, dropped={(1,), (2,)})

    assert is_refused(screened, "after step" if after else "before step 1")


def test_a_variable_the_test_did_not_use_may_be_a_secret() -> None:
    steps = a_test(*SIGN_IN)
    operation = insert(1, {"fill": {"label": "Phone", "value": "${phone}"}})

    assert is_refused(screen(steps, (operation,)), "phone")
    assert is_refused(screen(steps, (operation,), secrets={"phone"}, variables={"phone"}), "secret phone")
    assert is_allowed(screen(steps, (operation,), variables={"phone"}))


def test_a_moved_step_does_not_take_up_a_secret() -> None:
    steps = a_test(*SIGN_IN)

    for raw in ({"click": {"text": "${token}"}}, {"click": {"css": "#a", "alternatives": [{"text": "${password}"}]}}):
        assert is_refused(screen(steps, (put(3, raw),), secrets={"password", "token"}), "secret")


@pytest.mark.parametrize("raw", [{"assert_text": {**CSS, "equals": "a"}}, {"wait": {"for": CSS}}], ids=str)
def test_no_moved_locator_takes_up_a_secret(raw: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, raw, {"click": CSS})
    secret = Locator(css="#a", has_text="${token}")
    moved = replace(steps[1], locator=secret) if steps[1].locator else replace(steps[1], parameters={"for": secret})

    assert is_refused(screen(steps, (put(2, moved),), secrets={"token"}), "secret token")


FORCED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"fill": {"label": "Q", "value": "x"}}, {"assert_value": {"label": "Q", "equals": "tea"}}),
    ({"fill": {"css": "#q", "value": "tea"}}, {"assert_value": {"label": "Q", "equals": "tea"}}),
    ({"type": {"css": "#q", "value": "green tea"}}, {"assert_value": {"label": "Q", "contains": "tea"}}),
    ({"fill": {"css": "#q", "value": ""}}, {"assert_value": {"label": "Q", "equals": ""}}),
    ({"select": {"css": "#q", "option": "Tea"}}, {"assert_text": {"label": "Q", "equals": "Tea"}}),
    ({"check": {"label": "Q"}}, {"assert_checked": {"label": "Q"}}),
    ({"click": {"label": "Q", "exact": True}}, {"assert_checked": {"label": "Q"}}),
    ({"click": {"css": "#a", "alternatives": [{"label": "Q"}]}}, {"assert_checked": {"label": "Q"}}),
    ({"uncheck": {"label": "Q"}}, {"assert_attribute": {"label": "Q", "attribute": "class", "equals": "off"}}),
    ({"click": {"role": "button", "within": {"css": "#wall"}}}, {"assert_hidden": {"css": "#wall"}}),
    ({"set": {"into": "n", "value": "1"}}, {"assert_variable": {"variable": "n", "equals": "1"}}),
    ({"extract": {"css": "#a", "into": "n"}}, {"assert_variable": {"variable": "n", "equals": "1"}}),
    ({"set": {"into": "n", "value": "1"}}, {"assert_text": {"css": "#a", "equals": "${n}"}}),
    ({"dialog": {"answer": "accept", "text": "Blue"}}, {"assert_text": {"css": "#a", "equals": "Blue"}}),
]


@pytest.mark.parametrize(("raw", "check"), FORCED, ids=str)
def test_nothing_is_inserted_that_forces_a_check_true(raw: dict[str, Any], check: dict[str, Any]) -> None:
    steps = a_test({"goto": "/"}, {"click": {"css": "#go"}}, check)

    assert is_refused(screen(steps, (insert(2, raw),)), "after step 2")


def test_after_the_check_the_same_step_is_fine() -> None:
    steps = a_test({"goto": "/"}, {"assert_value": {"label": "Q", "equals": "tea"}}, {"click": CSS})

    assert is_allowed(screen(steps, (insert(2, {"fill": {"label": "Q", "value": "tea"}}),)))


def test_a_moved_action_does_not_force_a_check_true() -> None:
    steps = a_test({"fill": {"css": "#q", "value": "tea"}}, {"assert_value": {"css": "#found", "equals": "tea"}})

    assert is_refused(screen(steps, (put(1, {"fill": {"css": "#found", "value": "tea"}}),)), "reads that element")


def test_an_action_and_a_check_of_one_element_may_move_together() -> None:
    steps = a_test({"fill": {"css": "#q", "value": "tea"}}, {"assert_value": {"css": "#q", "equals": "tea"}})
    both = (put(1, {"fill": {"label": "Q", "value": "tea"}}), put(2, {"assert_value": {"label": "Q", "equals": "tea"}}))

    assert is_allowed(screen(steps, both))


def test_a_click_and_a_check_may_come_to_one_locator() -> None:
    steps = a_test({"click": {"css": ".follow"}}, {"assert_text": {"role": "button", "equals": "Following"}})
    both = (
        put(1, {"click": {"test_id": "follow"}}),
        put(2, {"assert_text": {"test_id": "follow", "equals": "Following"}}),
    )

    assert is_allowed(screen(steps, both))


def test_a_dialog_answer_is_not_taken_by_a_new_one() -> None:
    steps = a_test({"goto": "/"}, {"dialog": "dismiss"}, {"fill": {**CSS, "value": "a"}}, {"click": CSS}, ORDERS)

    assert is_refused(screen(steps, (insert(1, {"dialog": "accept"}),)), "dialog")
    assert is_refused(screen(steps, (insert(2, {"dialog": "accept"}),)), "dialog")
    assert is_refused(screen(steps, (insert(3, {"dialog": "accept"}),)), "dialog")
    assert is_allowed(screen(steps, (insert(4, {"dialog": "accept"}),)))


# --- neutral steps that a check leans on ---------------------------------------------------------------


def test_a_wait_before_a_check_of_absence_stays() -> None:
    steps = a_test(
        {"click": CSS}, {"wait": {"for": {"css": "#busy"}}}, {"screenshot": "a"}, {"assert_hidden": {"css": "#busy"}}
    )

    for operation in (delete(2), put(2, {"wait": 1}), put(2, {"wait": {"for": {"css": "body"}}})):
        assert is_refused(screen(steps, (operation,)), "step 2")
    assert is_refused(screen(steps, (put(2, replace(steps[1], optional=True)),)))
    assert is_allowed(screen(steps, (put(2, {"wait": {"for": {"test_id": "busy"}}}),)))
    assert is_allowed(screen(steps, (delete(2),), dropped={(2,)}))


def test_an_extract_that_a_check_reads_moves_like_the_check() -> None:
    steps = a_test(
        {"extract": {"css": "#total", "into": "total"}},
        {"assert_variable": {"variable": "total", "equals": "42"}},
    )

    assert is_refused(screen(steps, (delete(1),)), "A later step reads that variable")
    assert is_refused(screen(steps, (put(1, {"extract": {"css": "#total", "into": "other"}}),)))
    assert is_refused(screen(steps, (put(1, {"extract": {"css": "#total", "into": "total", "what": "url"}}),)))
    for spot in ({"css": "body"}, {"text": "42"}, {"css": "#n", "nth": 1}):
        assert is_refused(screen(steps, (put(1, {"extract": {**spot, "into": "total"}}),)), "extracts to")
    assert is_allowed(screen(steps, (put(1, {"extract": {"test_id": "total", "into": "total"}}),)))


def test_an_extract_that_nobody_checks_moves_freely() -> None:
    steps = a_test({"extract": {**CSS, "into": "n"}}, {"fill": {"css": "#b", "value": "${n}"}}, ORDERS)

    assert is_allowed(screen(steps, (put(1, {"extract": {"css": "body", "into": "n"}}),)))
    assert is_refused(screen(steps, (delete(1),)))


# --- blocks --------------------------------------------------------------------------------------------

BLOCK = {
    "intent": {
        "goal": "put the mug into the basket",
        "values": {"item": "Mug"},
        "steps": [
            {"click": {"role": "link", "name": "Mug"}},
            {"assert_visible": {"css": "#mug"}},
            {"click": {"test_id": "add"}},
        ],
    }
}


def block(*steps: dict[str, Any], **changes: Any) -> Step:
    old = read_step(BLOCK)
    goal = {**old.parameters, **changes}
    return replace(old, parameters=goal, steps=read_steps(list(steps)) if steps else old.steps)


MUG = {"assert_visible": {"css": "#mug"}}
REDERIVED: list[tuple[str, Step, bool]] = [
    (
        "other steps",
        block(
            {"fill": {"label": "Search", "value": "Mug"}}, {"press": {"key": "Enter"}}, MUG, {"click": {"css": "#b"}}
        ),
        True,
    ),
    ("its check moved", block({"click": CSS}, {"assert_visible": {"test_id": "mug"}}, {"click": CSS}), True),
    ("its check rewritten", block({"click": CSS}, {"assert_hidden": {"css": "#mug"}}, {"click": CSS}), False),
    ("its check dropped", block({"click": CSS}, {"click": CSS}), False),
    ("its check at the start", block(MUG, {"click": CSS}, {"click": CSS}), False),
    ("its check at the end", block({"click": CSS}, {"click": CSS}, MUG), False),
    ("its check on the page", block({"click": CSS}, {"assert_visible": {"css": "body"}}, {"click": CSS}), False),
    ("optional action before its check", block({"click": CSS, "optional": True}, MUG, {"click": CSS}), False),
    ("a way round", block({"goto": "/basket"}, MUG, {"click": CSS}), False),
    ("a forced check", block({"click": {"css": "#mug"}}, MUG, {"click": CSS}), False),
    ("a secret", block({"fill": {**CSS, "value": "${password}"}}, MUG, {"click": CSS}), False),
    ("a block inside", block({"group": {"steps": [{"click": CSS}]}}, MUG, {"click": CSS}), False),
    ("a known deed with a secret", block({"click": {"text": "${password}"}}, MUG, {"click": CSS}), False),
    ("a marked step", block({"click": CSS, "never_repair": True}, MUG, {"click": CSS}), False),
    ("another goal", block(goal="do nothing"), False),
    ("other values", block(values={"item": "Cup"}), False),
    ("optional as a whole", replace(block(), optional=True), False),
    ("no block at all", read_step({"click": CSS}), False),
    ("a group", replace(block(), kind="group"), False),
]


@pytest.mark.parametrize(("new", "fine"), [one[1:] for one in REDERIVED], ids=[one[0] for one in REDERIVED])
def test_an_intent_block_may_be_derived_again_between_its_checks(new: Step, fine: bool) -> None:
    steps = a_test({"goto": "/"}, BLOCK, TOTAL)

    screened = screen(steps, (put(2, new),))

    assert is_allowed(screened) if fine else is_refused(screened, "block")


def test_places_inside_a_block_follow_the_same_rules() -> None:
    steps = a_test({"goto": "/"}, BLOCK, TOTAL)

    assert is_allowed(screen(steps, (put((2, 1), {"click": {"css": "#mug-link"}}), insert((2, 1), {"wait": 1}))))
    assert is_refused(screen(steps, (delete((2, 2)),)), "the check at step 2.2")
    assert is_refused(screen(steps, (put((2, 2), {"assert_hidden": {"css": "#mug"}}),)), "step 2.2")
    assert is_refused(screen(steps, (delete((2, 1)),)), "deleting step 2.1")
    assert is_refused(screen(steps, (insert((2, 0), {"goto": "/"}),)), "before step 2.1")
    assert is_refused(screen(steps, (insert((2, 0), {"click": {"css": "#mug"}}),)))


def test_a_block_is_not_deleted_or_put_around_a_check() -> None:
    steps = a_test({"goto": "/"}, BLOCK, TOTAL)
    around = Step("group", None, {"goal": "g"}, steps=(steps[2],))

    assert is_refused(screen(steps, (delete(2),), dropped={(2,), (2, 1), (2, 3)}), "block 2")
    assert is_refused(screen(steps, (put(3, around),)))
    assert is_refused(screen(steps, (insert(3, around),)))
    assert is_refused(screen(steps, (delete(3), insert(3, around))))


def test_a_group_without_a_goal_changes_step_by_step() -> None:
    steps = a_test({"goto": "/"}, {"group": {"steps": [{"click": CSS}, TOTAL]}})
    inner = steps[1].steps

    moved = (replace(inner[0], locator=Locator(test_id="a")), inner[1])
    assert is_allowed(screen(steps, (put(2, replace(steps[1], steps=moved)),)))
    other = (read_step({"hover": CSS}), inner[1])
    for worse in (other, inner[:1], inner[1:], inner[::-1], (*inner, *inner), ()):
        assert is_refused(screen(steps, (put(2, replace(steps[1], steps=worse)),)))


def test_h24_c33_a_group_with_a_goal_may_get_other_steps_as_an_intent_may() -> None:
    steps = a_test({"goto": "/"}, {"group": {"goal": "g", "steps": [{"click": CSS}, TOTAL]}})
    group = steps[1]
    inner = group.steps

    other = (read_step({"hover": CSS}), inner[1])
    assert is_allowed(screen(steps, (put(2, replace(group, steps=other)),)))
    for worse in (inner[:1], inner[1:], inner[::-1], (*inner, *inner), ()):
        assert is_refused(screen(steps, (put(2, replace(group, steps=worse)),)))
    assert is_refused(screen(steps, (put(2, replace(group, parameters={"goal": "another"})),)), "what a block is for")


def test_the_blocks_and_the_checks_inside_a_block_stay() -> None:
    inner = {"group": {"goal": "h", "steps": [{"click": CSS}]}}
    hidden = {"assert_hidden": {"css": "#busy"}}
    steps = a_test({"intent": {"goal": "g", "steps": [inner, {"click": CSS}, hidden]}}, TOTAL)
    group, click, check = steps[0].steps

    anew = replace(steps[0], steps=(group, read_step({"press": {"key": "Enter"}}), check))
    without = replace(steps[0], steps=(click, check))
    assert is_allowed(screen(steps, (put(1, anew),)))
    assert is_refused(screen(steps, (put(1, without),)), "blocks inside block 1")


def test_a_variable_that_is_read_later_is_still_given_by_the_block() -> None:
    inner = [{"click": CSS}, {"extract": {"css": "#n", "into": "n"}}]
    steps = a_test({"intent": {"goal": "g", "steps": inner}}, {"assert_variable": {"variable": "n", "equals": "1"}})

    without = replace(steps[0], steps=steps[0].steps[:1])
    assert is_refused(screen(steps, (put(1, without),)), "A later step reads that variable")


# --- proposals as a whole ------------------------------------------------------------------------------


def test_g34_the_good_operation_goes_on_without_the_bad_one() -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, {"assert_url": {"contains": "/dashboard"}})
    good, bad = put(2, {"click": {"css": "#new"}}), put(3, {"assert_url": {"contains": "/login"}})

    screened = screen(steps, (bad, good))

    assert screened.allowed == (good,)
    assert not screened.all_refused
    assert [one.operation for one in screened.refused] == [bad]
    assert screened.refused[0].reason == (
        "Refused: rewriting the expectation at step 3 from “url contains /dashboard” to “url contains /login”. "
        "Only a person changes what a test expects."
    )


def test_g36_all_refused_is_not_the_same_as_nothing_proposed() -> None:
    steps = a_test({"goto": "/"}, TOTAL)

    assert screen(steps, (delete(2),)).all_refused
    assert not screen(steps, ()).all_refused


@pytest.mark.parametrize("place", [(9,), (0,), (-1,), (), (2, 1), (1, 0, 0)], ids=str)
def test_what_does_not_fit_is_refused_and_the_rest_goes_on(place: Place) -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, TOTAL)
    good = put(2, {"click": {"css": "#new"}})

    for bad in (delete(place), put(place, {"wait": 1})):
        screened = screen(steps, (bad, good))
        assert screened.allowed == (good,)
        assert "does not fit" in screened.refused[0].reason


@pytest.mark.parametrize("place", [(9,), (-1,), (), (2, 0), (2, 1)], ids=str)
def test_an_insert_that_does_not_fit_is_refused(place: Place) -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, TOTAL)

    assert is_refused(screen(steps, (insert(place, TOTAL), delete(3))))


def test_two_changes_of_one_step_are_both_refused_and_a_repetition_once() -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, TOTAL)
    one, other = put(2, {"click": {"css": "#a"}}), put(2, {"click": {"css": "#b"}})

    assert is_refused(screen(steps, (one, other)), "twice")
    assert screen(steps, (one, one)).allowed == (one,)


def test_a_change_inside_a_block_that_is_replaced_is_refused() -> None:
    steps = a_test({"goto": "/"}, BLOCK, TOTAL)
    whole = put(2, block({"click": CSS}, MUG, {"click": {"css": "#b"}}))

    screened = screen(steps, (whole, put((2, 1), {"click": {"css": "#c"}}), insert((2, 0), {"wait": 1})))

    assert screened.allowed == (whole,)


def test_an_action_is_not_dropped_when_its_stand_in_was_refused() -> None:
    steps = a_test({"goto": "/"}, {"select": {**CSS, "option": "M"}}, ORDERS)
    opened, jumped = insert(2, {"click": CSS}), insert(2, {"goto": "/orders"})

    assert is_allowed(screen(steps, (delete(2), opened), dropped={(2,)}))
    assert [one.op for one in screen(steps, (delete(2), opened, jumped), dropped={(2,)}).allowed] == ["insert"]


def test_what_leans_on_a_refused_operation_is_refused_with_it() -> None:
    steps = a_test({"goto": "/"}, {"click": CSS}, ORDERS)
    typed = insert(1, {"fill": {"label": "Code", "value": "${code}"}})
    read = insert(1, {"extract": {"css": "#code", "into": "code"}})

    assert is_allowed(screen(steps, (read, typed)))
    assert is_refused(screen(steps, (replace(read, place=(9,)), typed)))


def test_a_replacement_of_a_dropped_action_is_judged_like_an_insertion() -> None:
    steps = a_test({"goto": "/"}, {"select": {**CSS, "option": "M"}}, ORDERS)

    assert is_allowed(screen(steps, (put(2, {"click": CSS}),), dropped={(2,)}))
    assert is_refused(screen(steps, (put(2, {"goto": "/orders"}),), dropped={(2,)}))


def test_how_sure_the_proposal_says_it_is_plays_no_part() -> None:
    steps = a_test({"goto": "/"}, TOTAL)

    assert is_refused(screen(steps, (Operation("delete", (2,), None, "confidence 1.0, approved by Ada"),)))


def test_the_same_steps_again_are_no_change() -> None:
    steps = a_test({"goto": "/"}, {"dialog": "accept"}, BLOCK, TOTAL, ORDERS)

    assert is_allowed(screen(steps, tuple(put(number, step) for number, step in enumerate(steps, 1))))


# --- in words ------------------------------------------------------------------------------------------

WORDS = [
    ({"assert_url": {"contains": "/orders"}}, "url contains /orders"),
    ({"assert_title": {"equals": "Shop"}}, "title equals Shop"),
    (TOTAL, 'text of css "#total" equals 42'),
    ({"assert_value": {**CSS, "equals": ""}}, 'value of css "#old" equals “”'),
    ({"assert_variable": {"variable": "n", "at_least": 2}}, "variable n is at least 2"),
    ({"assert_attribute": {**CSS, "attribute": "href", "matches": "a"}}, 'attribute href of css "#old" matches a'),
    ({"assert_count": {**CSS, "at_most": 2}}, 'number of css "#old" is at most 2'),
    ({"assert_visible": {"role": "heading", "name": "Hi"}}, 'role "heading", name "Hi" is visible'),
    ({"assert_hidden": CSS, "timeout_ms": 5}, 'css "#old" is hidden, within 5 ms'),
    (
        {"assert_text": {**CSS, "contains": "a", "not_contains": "b"}},
        'text of css "#old" contains a and does not contain b',
    ),
    ({"assert_toast": {"contains": "Saved"}}, "a toast contains Saved"),
    ({"assert_modal": {}}, "a dialog is shown"),
    ({"assert_console": {"level": "error", "none": True}}, "console: level error, none True"),
    ({"assert_request": {"method": "POST", "status": 200}}, "a request with method POST, status 200"),
    ({"a11y_audit": {"threshold": "serious"}}, "accessibility of the page: threshold serious"),
    ({"wait": {"url": {"equals": "/a"}}}, "wait until url equals /a"),
    ({"fill": {"label": "Pin", "value": "1234"}}, 'fill label "Pin"'),
    ({"select": {**CSS, "option": "M"}}, 'select css "#old" option M'),
]


@pytest.mark.parametrize(("raw", "words"), WORDS, ids=[one[1] for one in WORDS])
def test_an_expectation_in_words(raw: dict[str, Any], words: str) -> None:
    assert expectation(read_step(raw)) == words


def test_a_text_from_outside_is_cut_and_stays_on_one_line() -> None:
    words = expectation(read_step({"assert_text": {**CSS, "equals": "a\n\u202e" + "x" * 500}}))

    assert words.endswith("x…")
    assert len(words) < 120
    assert words.isprintable()
