"""Rules of the seeds that are about the ladder as a whole, each named (H, T, G)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from repair_ladder import prompts, replies
from repair_ladder.bounds import Limits, Spent
from repair_ladder.climb import Exhausted, Given, Halted, NotDrift, Repaired, climb
from repair_ladder.judge import Passed
from repair_ladder.memory import Memory
from repair_ladder.operations import apply_operations
from repair_ladder.ports import Answered, Question, Unavailable
from repair_ladder.rungs import DIAGNOSE_DRIFT, SELF_HEAL, SUGGEST_FIX, Candidate, Diagnosed, Situation, Unusable
from repair_ladder.step_format import read_step
from tests.builders import a_deletion, a_page, a_red, a_replacement, an_insert
from tests.ladder.test_climb import (
    FIX,
    GONE,
    KNOWN,
    NEW,
    NOW,
    RED,
    SHOP,
    STEPS,
    THANKS,
    Shop,
    a_candidate,
    climbed,
    models,
)
from tests.ladder.test_intents import BLOCK, TOWN, UNCONFIRMED, Site, a_model, block_of
from tests.ladder.test_intents import OLD as TWO_PAGES
from tests.ladder.test_intents import climbed as climbed_site


def wrong(number: int) -> Candidate:
    return a_candidate(a_replacement(2, {"click": {"css": f"#wrong-{number}"}}))


# --- classification and verdicts -----------------------------------------------------------------------


async def test_h4_c3_an_expectation_that_legitimately_fails_is_never_healed_green() -> None:
    red = a_red(3, THANKS, "check", "expected /thanks, got /error", observed="/error")
    shop = Shop(after=lambda steps: red)

    found = await climbed(red, shop, models=models((a_candidate(a_deletion(3)),)))

    assert isinstance(found, NotDrift)
    assert found.verdict == "product_defect"
    assert shop.played == [], "no candidate of it was ever played"


async def test_h5_h21_a_used_up_budget_ends_incurable_with_its_cause_and_no_further_question() -> None:
    asked: list[str] = []
    two = models((wrong(1), wrong(2)), asked=asked)

    found = await climbed(limits=Limits(attempts=1), rungs=(SUGGEST_FIX, DIAGNOSE_DRIFT), models=two)

    assert isinstance(found, Exhausted)
    assert found.reason == "stopped: 1 candidates were tried and none was proven"
    assert found.is_stopped
    assert asked == [SUGGEST_FIX], "no further question, not even for a verdict"


async def test_h6_h20_each_attempt_is_given_the_grown_history_and_the_page_as_it_is_now() -> None:
    seen: list[Situation] = []

    async def suggesting(situation: Situation) -> Any:
        seen.append(situation)
        return (wrong(1),) if len(seen) == 1 else ()

    async def diagnosing(situation: Situation) -> Diagnosed:
        seen.append(situation)
        return Diagnosed(None)

    made = replace(models(), proposers={SUGGEST_FIX: suggesting}, diagnose=diagnosing)
    given = Given(models=made, rungs=(SUGGEST_FIX, DIAGNOSE_DRIFT))
    await climb(STEPS, a_red(2, GONE), given, Shop(GONE), now=lambda: NOW)

    first, last = seen[0], seen[-1]
    assert first.red.message == "it finds nothing"
    assert first.steps == STEPS
    assert len(last.tried) > len(first.tried)
    assert "suggest_fix (model): it may be so; red: " in last.tried[-1]


def test_h7_the_question_anchors_the_step_that_failed_as_it_was() -> None:
    failed = prompts.Failed(STEPS, (2,), "it finds nothing", NEW)

    question = prompts.suggest_fix_question(failed, prompts.Fence("n" * 16, str))

    assert '-> 2 {"click": {"css": "#pay"}}' in question.text
    assert "it finds nothing" in question.text


async def test_h8_h18_a_fix_is_executed_before_it_counts_and_the_saved_steps_stay() -> None:
    shop = Shop()

    found = await climbed(shop=shop)

    assert isinstance(found, Repaired)
    assert found.proof is not None
    assert shop.played[0] == apply_operations(STEPS, found.operations)
    assert STEPS[1].locator is not None
    assert STEPS[1].locator.css == "#pay", "H18: what is stored was not touched while it was proven"


async def test_h19_all_rungs_share_one_registry_of_attempts() -> None:
    found = await climbed(a_red(2, GONE), Shop(GONE), models=models((wrong(1), wrong(2))))

    assert [one.number for one in found.attempts] == list(range(1, len(found.attempts) + 1))
    assert len(found.attempts) <= Limits().attempts


async def test_h22_h32_a_verdict_that_needs_no_model_does_not_wait_for_one() -> None:
    red = a_red(3, THANKS, "check", "expected /thanks, got /error", observed="/error")
    out = Unavailable("overloaded", "the provider is overloaded")

    plain = await climbed(red, Shop(after=lambda steps: red), models=models(out, said=out))
    unknown = await climbed(a_red(2, GONE), Shop(GONE), memory=Given().memory, models=models(out, said=out))

    assert isinstance(plain, NotDrift), "H32: the verdict is plain without it"
    assert isinstance(unknown, Halted), "H22: where it is needed, that it could not be asked is said"
    assert "overloaded" in unknown.reason


async def test_h24_c33_a_step_of_a_group_is_confirmed_with_its_group() -> None:
    """It does not heal alone: what the group did has to be what it did before."""
    steps = [*BLOCK["intent"]["steps"][:3], {"click": {"css": "#save"}}]
    group = {"group": {"steps": steps}}
    renamed = TOWN.replace("#save", "#keep")

    same, _, _ = await climbed_site(TWO_PAGES, Site({**TWO_PAGES, "/2": renamed}), group)
    other, _, _ = await climbed_site(TWO_PAGES, Site({**TWO_PAGES, "/2": renamed.replace("/orders", "/drafts")}), group)

    assert isinstance(same, Repaired)
    assert isinstance(other, Repaired)
    assert (same.doubt, other.doubt) == ("", UNCONFIRMED)


# --- attempts and bounds -------------------------------------------------------------------------------


@pytest.mark.parametrize(("spent", "why"), [(9, None), (10, "10 minutes")])
def test_t32_c7_repair_work_has_an_absolute_limit_of_time(spent: int, why: str | None) -> None:
    case = Spent(Limits(), NOW, lambda: NOW + timedelta(minutes=spent))

    assert (case.tripped() is None) == (why is None)
    assert why is None or why in str(case.tripped())


async def test_t28_five_candidates_are_the_ceiling_whoever_proposes_them() -> None:
    many = tuple(wrong(number) for number in range(20))
    shop = Shop(NEW)

    await climbed(shop=shop, rungs=(SUGGEST_FIX,), models=models(many), limits=Limits(candidates=20))

    assert len(shop.played) == 5 == Limits().attempts


class Order:
    """A journal that shares its list with the replays."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def begins(self, fix: str, hypothesis: str) -> None:
        assert hypothesis
        self.told.append("hypothesis")

    async def ended(self, attempt: Any) -> None:
        self.told.append(attempt.outcome)


async def test_t15_t29_the_hypothesis_is_written_down_before_the_fix_is_tried() -> None:
    order, shop = Order(), Shop()

    async def replay(steps: Any) -> Any:
        order.told.append("played")
        return await shop(steps)

    await climb(STEPS, RED, Given(memory=KNOWN, journal=order), replay, now=lambda: NOW)

    assert order.told == ["hypothesis", "played", "played", "green"]


async def test_t16_what_is_not_needed_is_taken_away_again() -> None:
    too_much = a_candidate(FIX, an_insert(1, {"hover": {"css": "#later"}}))

    found = await climbed(rungs=(SUGGEST_FIX,), models=models((too_much,)))

    assert isinstance(found, Repaired)
    assert found.operations == (FIX,)


async def test_t25_t26_the_cheapest_comes_first_and_a_model_is_not_asked_for_what_needs_none() -> None:
    asked: list[str] = []

    found = await climbed(models=models((a_candidate(FIX),), asked=asked))

    assert isinstance(found, Repaired)
    assert found.attempts[-1].strategy == "local"
    assert asked == []


async def test_t27_a_protected_step_is_not_edited() -> None:
    kept = (*STEPS[:1], replace(STEPS[1], never_repair=True), *STEPS[2:])

    found = await climb(kept, RED, Given(memory=KNOWN), Shop(), now=lambda: NOW)

    assert not isinstance(found, Repaired)
    assert any("never repair" in one.reason for one in found.refusals)


@pytest.mark.parametrize(
    "weaker",
    [
        a_deletion(3),
        a_replacement(3, {"assert_url": {"contains": "/"}}),
        a_replacement(3, {"assert_url": {"equals": "/error"}}),
    ],
)
async def test_t12_t36_an_expectation_is_not_changed_even_where_that_would_be_green(weaker: Any) -> None:
    """C1: an assertion is updated by a person alone, whatever the hypothesis."""

    def only_weaker(steps: Any) -> Any:
        return None if steps[2:] != STEPS[2:] else a_red(3, THANKS, "check", "no", observed="/error")

    red = a_red(3, THANKS, "check", "no", observed="/error")
    shop = Shop(after=only_weaker)

    found = await climbed(red, shop, rungs=(SUGGEST_FIX,), models=models((a_candidate(weaker),)))

    assert not isinstance(found, Repaired)
    assert all(played[2:] == STEPS[2:] for played in shop.played)


async def test_t13_what_cannot_be_taken_back_stops_for_a_person() -> None:
    risky = a_candidate(FIX, harm="it accepts a question")
    shop = Shop()

    found = await climbed(shop=shop, rungs=(SUGGEST_FIX,), models=models((risky,)))

    assert isinstance(found, Repaired)
    assert (found.proof, found.harm) == (None, "it accepts a question")
    assert shop.played == []


async def test_g22_the_second_rung_may_change_the_whole_step_list() -> None:
    page = a_page(SHOP.replace("button#pay", "button#submit").replace("input#email", "input#mail"))
    both = a_candidate(
        a_replacement(1, {"fill": {"css": "#mail", "value": "a@b.c"}}),
        a_replacement(2, {"click": {"css": "#submit"}}),
        an_insert(2, {"screenshot": "paid"}),
    )

    found = await climbed(a_red(1, page), Shop(page), rungs=(SUGGEST_FIX,), models=models((both,)))

    assert isinstance(found, Repaired)
    assert {one.place for one in found.operations} == {(1,), (2,)}
    assert found.strategy == SUGGEST_FIX


async def test_h2_h3_what_finds_nothing_and_what_finds_several_are_both_regenerated_for_the_same_intent() -> None:
    for red in (RED, a_red(2, NEW, "many")):
        found = await climbed(red)
        assert isinstance(found, Repaired)
        assert found.strategy == SELF_HEAL
        assert [one.kind for one in apply_operations(STEPS, found.operations)] == [one.kind for one in STEPS]


async def test_h14_unreadable_answers_are_attempts_and_never_permission() -> None:
    found = await climbed(a_red(2, GONE), Shop(GONE), models=models(Unusable("it is no JSON")))

    assert not isinstance(found, Repaired)
    assert ("unusable", "it is no JSON") in [(one.outcome, one.error) for one in found.attempts]


# --- routing, one verdict, the order of the barriers ---------------------------------------------------


async def test_h25_a_step_of_a_group_goes_to_the_recovery_of_its_group_and_an_ordinary_one_does_not() -> None:
    """Before a model is asked for changes of the whole test, the group is derived; an ordinary step has none."""
    elsewhere = {"/": 'main\n  h1 "Order a mug"\n  p "Ask us"\n'}
    nothing = Answered("propose_operations", {"operations": []})
    in_group: list[Question] = []
    ordinary: list[Question] = []

    await climbed_site(
        TWO_PAGES, elsewhere, {"group": BLOCK["intent"]}, models=a_model(block_of(), nothing, asked=in_group)
    )
    await climbed_site(TWO_PAGES, elsewhere, *BLOCK["intent"]["steps"], models=a_model(nothing, asked=ordinary))

    first, second = ([one.tools[0].name for one in asked] for asked in (in_group, ordinary))
    assert first.index("derive_block") < first.index("propose_operations")
    assert "propose_operations" in second
    assert "derive_block" not in second


async def test_c4_a_case_has_one_verdict_of_a_model() -> None:
    asked: list[str] = []
    made = models(said=Diagnosed(None, (wrong(1), wrong(2))), asked=asked)

    found = await climb(STEPS, a_red(2, GONE), Given(memory=Memory(), models=made), Shop(GONE), now=lambda: NOW)

    assert isinstance(found, Exhausted)
    assert asked.count(DIAGNOSE_DRIFT) == 1


async def test_c8_the_floor_comes_first_then_the_green_gate_then_the_judge() -> None:
    seen: list[str] = []

    async def judge(steps: Any, operations: Any, error: str) -> Passed:
        seen.append("judged")
        return Passed()

    class Watched(Shop):
        async def __call__(self, steps: Any) -> Any:
            seen.append("played")
            return await super().__call__(steps)

    refused = models((a_candidate(a_deletion(3)),))
    await climbed(shop=Watched(), models=refused, rungs=(SUGGEST_FIX,), judge=judge)
    assert seen == [], "what the floor refuses is neither played nor judged"

    await climbed(shop=Watched(), models=models((wrong(1),)), rungs=(SUGGEST_FIX,), judge=judge)
    assert set(seen) == {"played"}, "what is not green is not judged"

    seen.clear()
    assert isinstance(await climbed(shop=Watched(), judge=judge), Repaired)
    assert seen[0] == "played"
    assert seen.index("judged") > seen.index("played")


@pytest.mark.parametrize(
    "raw",
    [
        {"op": "downgrade", "step": "1", "new": '{"goto": "/"}', "reason": "it worked before"},
        {"op": "insert", "step": "1", "new": '{"run": "pip install shop==1.0"}', "reason": "it worked before"},
        {"op": "insert", "step": "1", "new": '{"package.json": {"shop": "1.0"}}', "reason": "it worked before"},
    ],
)
def test_t34_t27_a_repair_is_made_of_steps_and_can_downgrade_nothing(raw: dict[str, str]) -> None:
    """A dependency, a file, a command: what only a person may change is nothing that a proposal can say."""
    read = replies.read_operations(Answered("propose_operations", {"operations": [raw]}), STEPS, read_step)

    assert isinstance(read, replies.Unreadable)


def test_t38_each_class_of_failure_has_its_own_advice() -> None:
    question = prompts.diagnose_question(prompts.Failed(STEPS, (2,), "gone", NEW), prompts.Fence("n" * 16, str))

    for verdict in prompts.VERDICTS:
        assert f"{verdict} - " in question.text, verdict
    assert "Operations go with rot and fixable alone" in question.text
