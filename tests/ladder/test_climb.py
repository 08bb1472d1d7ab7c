"""repair_ladder/climb.py: rung by rung, first proven candidate wins; what stops a climb and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from radar.at_risk import resolve_ways
from repair_ladder.bounds import Limits
from repair_ladder.climb import Climbed, Exhausted, Given, Halted, NotDrift, Repaired, climb, fix_of
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation
from repair_ladder.outcomes import Environment, Evidence, Green, Outcome, Played, Red, Trace
from repair_ladder.ports import Unavailable
from repair_ladder.rungs import (
    DIAGNOSE_DRIFT,
    SELF_HEAL,
    SUGGEST_FIX,
    Candidate,
    Diagnosed,
    Models,
    Situation,
    Verdict,
)
from repair_ladder.steps import Steps, walk
from tests.builders import a_deletion, a_memory, a_page, a_red, a_replacement, an_insert, index_of, steps_of

SHOP = """
main
  h1 "Basket"
  p "One blue mug"
  form
    input#email name=email label="Email"
    button#pay "Pay now"
    button#later "Save for later"
"""
OLD = a_page(SHOP)
NEW = a_page(SHOP.replace("button#pay", "button#submit"))
GONE = a_page(SHOP.replace('    button#pay "Pay now"\n', ""))
THANKS = a_page('main\n  h1 "Order"\n  p role=status "Thank you"', "/thanks")
STEPS = steps_of(
    {"fill": {"css": "#email", "value": "a@b.c"}},
    {"click": {"css": "#pay"}},
    {"assert_url": {"equals": "/thanks"}},
)
KNOWN = a_memory({1: (OLD, index_of(OLD, tag="input", id="email")), 2: (OLD, index_of(OLD, id="pay"))})
RED = a_red(2, NEW)
FIX = a_replacement(2, {"click": {"css": "#submit"}})
SUBMIT = {"click": {"css": "#submit"}}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Shop:
    """Plays steps on one page: red at the first whose locator does not find its one element, else green."""

    def __init__(self, page: Any = NEW, *, after: Callable[[Steps], Outcome | None] = lambda steps: None) -> None:
        self.page, self.after, self.played = page, after, []

    async def __call__(self, steps: Steps) -> Outcome:
        self.played.append(steps)
        played: list[Played] = []
        for number, (place, step) in enumerate(walk(steps)):
            target = None
            if step.optional:  # a falsified check: it does not hold
                played.append(Played(place, step.kind, self.page.url, number, number, error="no", skipped=True))
                continue
            if step.locator is not None:
                found = resolve_ways(step.locator, self.page)
                if len(found) != 1:
                    cause: Any = "many" if found else "missing"
                    return Red(
                        Trace(tuple(played), (self.page,)), place, cause, f"{step.locator} is not there", self.page
                    )
                target = found[0]
            played.append(Played(place, step.kind, self.page.url, number, number, snapshot=0, target=target))
        return self.after(steps) or Green(Trace(tuple(played), (self.page,)))


def models(suggest: Any = (), *, choose: Any = (), said: Any = None, asked: list[str] | None = None) -> Models:
    """Each answer is a tuple of candidates, or Unavailable; `said` is the diagnosis."""
    log = asked if asked is not None else []

    async def choosing(situation: Situation) -> Any:
        log.append(SELF_HEAL)
        return choose

    async def suggesting(situation: Situation) -> Any:
        log.append(SUGGEST_FIX)
        return suggest

    async def diagnosing(situation: Situation) -> Any:
        log.append(DIAGNOSE_DRIFT)
        return said or Diagnosed(None)

    return Models({SELF_HEAL: choosing, SUGGEST_FIX: suggesting}, diagnosing)


def a_candidate(*operations: Operation, **more: Any) -> Candidate:
    return Candidate(operations, SUGGEST_FIX, "it may be so", **more)


async def climbed(red: Red = RED, shop: Shop | None = None, **given: Any) -> Climbed:
    known = {"memory": KNOWN} | given
    return await climb(STEPS, red, Given(**known), shop or Shop(), now=lambda: NOW)


# --- the first proven candidate ------------------------------------------------------------------------


async def test_a_renamed_id_is_healed_on_the_first_rung() -> None:
    asked: list[str] = []
    shop = Shop()

    found = await climbed(shop=shop, models=models(asked=asked))

    assert isinstance(found, Repaired)
    assert found.strategy == SELF_HEAL
    assert [operation.place for operation in found.operations] == [(2,)]
    assert isinstance(found.proof, Green)
    assert [(one.number, one.rung, one.strategy, one.outcome) for one in found.attempts] == [
        (1, SELF_HEAL, "local", "green")
    ]
    assert len(shop.played) == 2, "proved, and once more with its check falsified"
    assert asked == [], "G19: it stops at the first that works, and no model was asked"


async def test_the_rungs_are_climbed_in_order_local_before_model() -> None:
    told: list[tuple[str, str]] = []
    asked: list[str] = []

    async def watch(what: str, details: dict[str, object]) -> None:
        if what == "rung":
            told.append((str(details["rung"]), str(details["source"])))

    given = Given(memory=Memory(), models=models(asked=asked))
    await climb(STEPS, a_red(2, GONE), given, Shop(GONE), now=lambda: NOW, watch=watch)

    assert told[:4] == [(SELF_HEAL, "local"), (SELF_HEAL, "model"), (SUGGEST_FIX, "local"), (SUGGEST_FIX, "model")]
    assert asked == [SELF_HEAL, SUGGEST_FIX, *([DIAGNOSE_DRIFT] if len(told) > 4 else [])]


@pytest.mark.parametrize("rung", [SUGGEST_FIX, DIAGNOSE_DRIFT])
async def test_g92_one_rung_alone_leaves_the_others_out(rung: str) -> None:
    found = await climbed(rungs=(rung,))

    assert not isinstance(found, Repaired)
    assert all(one.rung == rung for one in found.attempts)


async def test_two_broken_steps_are_mended_together_or_not_at_all() -> None:
    page = a_page(SHOP.replace("button#pay", "button#submit").replace("input#email", "input#mail"))

    found = await climbed(a_red(1, page), Shop(page))

    assert isinstance(found, Repaired)
    assert {operation.place for operation in found.operations} == {(1,), (2,)}


async def test_what_gets_further_and_then_fails_on_a_check_is_not_written() -> None:
    """G33: the button is mended, the page it leads to is wrong. Nothing is written, and both are told."""

    def wrong(steps: Steps) -> Outcome:
        return a_red(3, THANKS, "check", "expected /thanks, got /error", observed="/error")

    found = await climbed(shop=Shop(after=wrong))

    assert isinstance(found, NotDrift)
    assert found.verdict == "product_defect"
    assert "Step 2 could be mended" in found.reason
    assert [one.outcome for one in found.attempts][:1] == ["further"]


async def test_a_guess_that_led_into_a_dead_end_is_given_up_for_what_is_left() -> None:
    """What stands in the old place under another name carried the test on, and was not it after all."""
    guess = a_candidate(a_replacement(2, {"click": {"css": "#later"}}), doubt="its visible name is another one now")

    def dead_end(steps: Steps) -> Outcome | None:
        css = steps[1].locator.css if steps[1].locator else ""
        return a_red(3, THANKS, "check", "no", observed="/error") if css == "#later" else None

    shop = Shop(after=dead_end)
    found = await climbed(shop=shop, rungs=(SUGGEST_FIX,), models=models((guess, a_candidate(FIX))))

    assert isinstance(found, Repaired)
    assert found.operations == (FIX,)
    assert found.doubt == "", "nothing is left of the guess"
    assert [one.outcome for one in found.attempts if one.operations] == ["further", "green"]


async def test_green_on_the_wrong_element_is_not_believed() -> None:
    neighbour = a_candidate(a_replacement(2, {"click": {"css": "#later"}}))

    found = await climbed(shop=Shop(), rungs=(SUGGEST_FIX,), models=models((neighbour,)))

    assert not isinstance(found, Repaired)
    assert "wrong element" in [one.outcome for one in found.attempts]


async def test_what_a_planner_may_drop_is_no_leave_for_what_is_proposed_after_it() -> None:
    """A planner puts two clicks in the place of a step, and is red; then somebody only wants the step away."""
    planned = a_candidate(a_deletion(2), an_insert(1, {"click": {"css": "#nowhere"}}), dropped=frozenset({(2,)}))
    greedy = a_candidate(a_deletion(2))

    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models((planned, greedy)))

    assert isinstance(found, Exhausted)
    assert [one.outcome for one in found.attempts] == ["red", "refused"]
    assert [one.operation for one in found.refusals] == [a_deletion(2)]


# --- the red gate ----------------------------------------------------------------------------------------


class Blind(Shop):
    """A browser to which every check holds, whatever it expects."""

    async def __call__(self, steps: Steps) -> Outcome:
        return await super().__call__(tuple(replace(step, optional=False) for step in steps))


async def test_a_repair_whose_checks_cannot_fail_is_withheld_with_its_reason() -> None:
    found = await climbed(shop=Blind())

    assert isinstance(found, Exhausted)
    assert found.only_refused, "it is not said that no fix was found (G36)"
    assert "step 3 is green even when it expects what cannot be" in found.reason
    assert [one.operation.place for one in found.refusals] == [(2,)]
    assert [one.outcome for one in found.attempts] == ["cannot fail"]


async def test_what_is_green_only_once_is_not_sure() -> None:
    """Green, then red with the very same steps: flaky, so a person looks even where fixes are applied."""
    runs: list[int] = []

    def second(steps: Steps) -> Outcome | None:
        runs.append(len(steps))
        return a_red(len(steps), THANKS, "check", "no", observed="/error") if len(runs) == 2 else None

    found = await climbed(shop=Shop(after=second))

    assert isinstance(found, Repaired)
    assert "green once, then red at step" in found.doubt
    assert isinstance(found.proof, Green)


async def test_the_surroundings_in_the_second_run_halt_it() -> None:
    runs: list[int] = []

    def second(steps: Steps) -> Outcome | None:
        runs.append(len(steps))
        return Environment("unreachable", "no answer") if len(runs) == 2 else None

    assert isinstance(await climbed(shop=Shop(after=second)), Halted)


# --- the floor ------------------------------------------------------------------------------------------


async def test_g34_a_refused_operation_leaves_the_rest_to_go_on() -> None:
    both = a_candidate(a_deletion(3), FIX)
    shop = Shop()

    found = await climbed(shop=shop, rungs=(SUGGEST_FIX,), models=models((both,)))

    assert isinstance(found, Repaired)
    assert found.operations == (FIX,)
    assert [one.operation for one in found.refusals] == [a_deletion(3)]
    assert all(STEPS[-1] in steps for steps in shop.played), "the check was in every run"


async def test_g36_all_refused_is_said_and_nothing_is_run() -> None:
    shop = Shop(GONE)
    bad = a_candidate(a_deletion(3))

    found = await climbed(a_red(2, GONE), shop, memory=Memory(), rungs=(SUGGEST_FIX,), models=models((bad,)))

    assert isinstance(found, Exhausted)
    assert found.only_refused
    assert [one.operation for one in found.refusals] == [a_deletion(3)]
    assert [one.outcome for one in found.attempts] == ["refused"]
    assert shop.played == []


async def test_refused_and_red_is_not_only_refused() -> None:
    bad, red = a_candidate(a_deletion(3)), a_candidate(a_replacement(2, {"click": {"css": "#nowhere"}}))

    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models((bad, red)))

    assert isinstance(found, Exhausted)
    assert not found.only_refused
    assert len(found.refusals) == 1


# --- no harm --------------------------------------------------------------------------------------------


async def test_what_may_do_harm_is_not_run_by_itself() -> None:
    shop = Shop(GONE)
    harmful = a_candidate(FIX, harm='it newly uses "Delete"')

    found = await climbed(a_red(2, GONE), shop, memory=Memory(), models=models((harmful,)))

    assert isinstance(found, Repaired)
    assert found.proof is None
    assert found.harm == 'it newly uses "Delete"'
    assert shop.played == []
    assert [one.outcome for one in found.attempts] == ["unproven"]


# --- what stops it --------------------------------------------------------------------------------------


async def test_the_surroundings_halt_it_and_no_attempt_is_spent() -> None:
    down = Environment("unreachable", "no answer")

    found = await climbed(shop=Shop(after=lambda steps: down))

    assert isinstance(found, Halted)
    assert found.why is down
    assert [one.outcome for one in found.attempts] == ["environment"]


@pytest.mark.parametrize("why", ["rate_limited", "overloaded", "timeout", "bad_key", "network", "budget"])
async def test_a_model_out_of_reach_halts_what_is_not_plain(why: Any) -> None:
    """C10, H22: never "no fix was found"."""
    out = Unavailable(why, "the model is out of reach")

    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models(out, choose=out, said=out))

    assert isinstance(found, Halted)
    assert found.why is out
    assert found.reason == "the model is out of reach"
    assert found.attempts == ()


async def test_a_local_fix_needs_no_model_that_is_out_of_reach() -> None:
    out = Unavailable("overloaded", "busy")

    assert isinstance(await climbed(models=models(out, choose=out, said=out)), Repaired)


async def test_a_failing_check_is_a_verdict_without_a_model() -> None:
    asked: list[str] = []
    out = Unavailable("overloaded", "busy")
    red = a_red(3, THANKS, "check", "no", observed="/error")

    found = await climbed(red, models=models(out, choose=out, said=out, asked=asked))

    assert isinstance(found, NotDrift)
    assert DIAGNOSE_DRIFT not in asked


async def test_c5_not_more_than_two_candidates_of_one_rung_are_tried() -> None:
    shop = Shop(GONE)
    many = tuple(a_candidate(a_replacement(2, {"click": {"css": f"#x{number}"}})) for number in range(9))

    found = await climbed(a_red(2, GONE), shop, memory=Memory(), models=models(many))

    assert isinstance(found, Exhausted)
    assert len([one for one in found.attempts if one.rung == SUGGEST_FIX]) == 2


async def test_a_bound_stops_the_climb_and_says_which() -> None:
    many = tuple(a_candidate(a_replacement(2, {"click": {"css": f"#x{number}"}})) for number in range(2))

    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models(many), limits=Limits(attempts=1))

    assert isinstance(found, Exhausted)
    assert found.reason == "stopped: 1 candidates were tried and none was proven"


async def test_the_clock_stops_the_climb() -> None:
    late = iter(range(1000))
    many = tuple(a_candidate(a_replacement(2, {"click": {"css": f"#x{number}"}})) for number in range(2))
    given = Given(memory=Memory(), models=models(many))

    found = await climb(STEPS, a_red(2, GONE), given, Shop(GONE), now=lambda: NOW + timedelta(minutes=6 * next(late)))

    assert isinstance(found, Exhausted)
    assert found.reason.startswith("stopped: repair work took")


async def test_a_model_that_insists_is_stopped_at_the_third_same_fix() -> None:
    """T3. Each climb over the same base brings the same operations again."""
    same = a_candidate(a_replacement(2, {"click": {"css": "#x"}}))
    said = Diagnosed(None, (same, same))

    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models((same, same), said=said))

    assert isinstance(found, Exhausted)
    assert found.reason in ("stopped: the same fix came up a third time",) or len(found.attempts) <= 2


async def test_what_is_green_without_an_insert_is_written_without_it() -> None:
    padded = a_candidate(an_insert(1, {"wait": 5}), FIX)

    found = await climbed(rungs=(SUGGEST_FIX,), models=models((padded,)))

    assert isinstance(found, Repaired)
    assert found.operations == (FIX,)


# --- the third rung -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["product_defect", "environment"])
async def test_g24_a_model_may_say_that_nothing_is_to_be_repaired(verdict: Any) -> None:
    said = Diagnosed(Verdict(verdict, "a model's verdict: the server is being rebuilt"))

    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models(said=said))

    assert isinstance(found, NotDrift)
    assert found.verdict == verdict


async def test_h14_an_unreadable_diagnosis_is_no_permission() -> None:
    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models(said=Diagnosed(None)))

    assert isinstance(found, Exhausted)
    assert not found.only_refused


async def test_g23_c20_operations_of_a_diagnosis_pass_the_same_floor() -> None:
    said = Diagnosed(None, (a_candidate(a_deletion(3)),))

    found = await climbed(a_red(2, GONE), Shop(GONE), memory=Memory(), models=models(said=said))

    assert isinstance(found, Exhausted)
    assert found.only_refused


async def test_what_the_browser_said_decides_where_nothing_else_does() -> None:
    red = replace(a_red(2, GONE, "timeout"), trace=Trace(evidence=Evidence(bad_answers=("POST /pay answered 500",))))

    found = await climbed(red, Shop(GONE), memory=Memory())

    assert isinstance(found, NotDrift)
    assert found.evidence == ("server: POST /pay answered 500",)


# --- what is the same fix ------------------------------------------------------------------------------


def test_the_same_fix_is_told_by_what_it_does_and_not_by_its_reason() -> None:
    one = (a_replacement(2, SUBMIT, "so"), an_insert(1, {"wait": 5}))

    assert fix_of(one) == fix_of((a_replacement(2, SUBMIT, "or so"), an_insert(1, {"wait": 5}, "why")))
    assert fix_of(one) != fix_of(one[:1])
    assert fix_of(one) != fix_of((a_replacement(1, SUBMIT), an_insert(1, {"wait": 5})))
    assert fix_of((a_deletion(2),)) != fix_of((a_deletion(3),))
