"""What a model says or does not say: the real SDK against a local server, through the whole ladder."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gardener.actions import by_hand
from gardener.cases import CaseStatus
from gardener.notices import EventKind
from gardener.runs import Trigger
from gardener.store import cases
from repair_ladder.models.anthropic import anthropic_ask
from repair_ladder.ports import Ask
from tests import fake_messages as fake
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import CHECKOUT, HOME, OLD, RENAMED, THANKS, WITHOUT_BUTTON
from tests.builders import a_page
from tests.fake_messages import FakeMessages
from tests.fakes import World

# The button became a link in the footer under other words: no local proposer is sure of it.
REWORKED_HOME = "\n".join(line for line in HOME.splitlines() if "#pay" not in line and "#later" not in line)
REWORKED = OLD.with_(home=a_page(REWORKED_HOME + '\n  a#go href=/thanks "Onwards"\n'))
GO = {"click": {"css": "#go"}}


async def no_sleep(seconds: float) -> None:
    """A pause that takes no time."""


def asker(server: FakeMessages, **more: Any) -> Ask:
    return anthropic_ask(
        key="sk-ant-nobodys-key",
        model="claude-haiku-5-5",
        base_url=server.url,
        sleep=no_sleep,
        jitter=lambda: 0.5,
        **more,
    )


def operations(*raw: dict[str, Any]) -> fake.Answer:
    return fake.tool_call("propose_operations", {"operations": list(raw)})


def put(step: int, new: Any, reason: str = "it moved") -> dict[str, Any]:
    return {"op": "replace", "step": step, "new": new, "reason": reason}


def drop(step: int) -> dict[str, Any]:
    return {"op": "delete", "step": step, "new": None, "reason": "it is in the way"}


async def broken(world: World, release: Any = REWORKED, *, green_before: bool = True) -> None:
    """A test that was never green has no element to compare with: nothing local is sure then that it is gone."""
    await world.save(CHECKOUT)
    if green_before:
        await world.run()
    world.app.release = release


async def untouched(world: World) -> bool:
    test = await world.test()
    assert (test.version, test.steps) == (1, CHECKOUT.steps)
    assert await world.history() == ()
    return True


# --- no answer can be had ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "patience"),
    [
        pytest.param(fake.rate_limited("1"), 5, id="429"),
        pytest.param(fake.overloaded(), 5, id="529"),
        pytest.param(fake.broken(), 5, id="500"),
        pytest.param(fake.bad_key(), 5, id="401"),
        pytest.param(fake.dropped(), 5, id="the connection is lost"),
        pytest.param(fake.slow(), 1, id="a time-out"),
    ],
)
async def test_a_model_out_of_reach_is_unavailable_and_never_no_fix_found(
    make_world: MakeWorld, answer: fake.Answer, patience: float
) -> None:
    with FakeMessages(otherwise=answer) as server:
        async with make_world(
            OLD, auto_repair=True, ask=asker(server, timeout=timedelta(seconds=patience), attempts=2)
        ) as world:
            await broken(world, green_before=False)

            (result,) = await world.nightly()

            assert result["outcome"] == "unavailable"
            assert result["model_calls"] == 0
            assert "no proven fix" not in result["reason"]
            assert "sk-ant" not in json.dumps(result)
            assert await untouched(world)
            assert await world.issues() == (), "no triage issue: nobody has said that there is no fix"
            async with world.store.reading() as tx:
                (case,) = await cases.listed(tx, (await world.test()).id)
                spent = [one for one in await cases.attempts(tx, case.id) if one.strategy == "model"]
            assert case.status == CaseStatus.OPEN, "the next try takes it up"
            assert spent == []
        assert server.requests


async def test_an_account_without_credit_is_told_once_a_day(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=fake.error(402, "billing_error", "pay first")) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world, green_before=False)

            for hours in (1, 1, 24):
                await world.nightly()
                world.clock.pass_(hours=hours)
            told = [event for event in await world.events() if event.kind == EventKind.BUDGET]
            assert len(told) == 1
            await world.nightly()

            told = [event for event in await world.events() if event.kind == EventKind.BUDGET]
            assert len(told) == 2
            assert "no credit left" in told[0].subject


async def test_what_needs_no_model_is_repaired_while_the_model_is_down(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=fake.overloaded()) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world, RENAMED)

            (result,) = await world.nightly()

            assert result["outcome"] == "applied"
        assert server.requests == []


async def test_a_defect_that_the_signals_make_plain_is_told_although_the_model_is_down(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=fake.overloaded()) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            broken_thanks = a_page(THANKS.replace("Thank you, your order is on its way", "Error 17"), "/thanks")
            await broken(world, OLD.with_(thanks=broken_thanks))

            (result,) = await world.nightly()

            assert result["outcome"] == "product_defect"


# --- an answer that nobody can use ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(fake.text("I think the button is now a link."), id="prose"),
        pytest.param(fake.refusal("policy"), id="a refusal"),
        pytest.param(fake.cut(fake.text_block("The button")), id="cut off"),
        pytest.param(fake.garbage(), id="not JSON"),
        pytest.param(fake.tool_call("delete_everything", {"sure": True}), id="a tool nobody offered"),
        pytest.param(fake.tool_call("propose_operations", {}), id="no operations"),
        pytest.param(operations(put(99, GO)), id="a step that is not there"),
        pytest.param(operations(put(3, {"evaluate": "fetch('http://evil.test')"})), id="a kind nobody knows"),
        pytest.param(operations(put(3, "click it")), id="a step in prose"),
        pytest.param(operations(put(3, {"goto": "javascript:alert(1)"})), id="an address that is a script"),
        pytest.param(operations(put(3, {"goto": "http://evil.test/thanks"})), id="another origin"),
        pytest.param(operations(put(3, {"click": {"css": "a" * 100_000}})), id="a selector of 100 KB"),
        pytest.param(operations(put(3, {"click": {"css": "a[[["}})), id="a selector nobody can read"),
        pytest.param(operations({"op": "insert", "step": -1, "new": GO, "reason": ""}), id="before the beginning"),
        pytest.param(operations(*[put(3, GO)] * 50), id="fifty at once"),
    ],
)
async def test_nonsense_writes_nothing(make_world: MakeWorld, answer: fake.Answer) -> None:
    """H14."""
    with FakeMessages(otherwise=answer) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server, attempts=1)) as world:
            await broken(world)

            (result,) = await world.nightly()

            assert result["outcome"] in ("incurable", "product_defect", "refused", "unavailable")
            assert await untouched(world)
            assert await world.queue() == ()


async def test_g31_c11_a_model_that_is_sure_and_wrong_writes_nothing(make_world: MakeWorld) -> None:
    """G31: the proof decides, not the word."""
    wrong = put(3, {"click": {"css": "#help"}}, "I am 100% certain that this is the button")
    with FakeMessages(otherwise=operations(wrong)) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world)

            (result,) = await world.nightly()

            assert result["outcome"] in ("incurable", "product_defect")
            assert result["model_calls"] >= 1
            assert await untouched(world)


# --- the floor ------------------------------------------------------------------------------------------


def only_suggest(answer: fake.Answer) -> Callable[[fake.Request], fake.Answer]:
    def entry(request: fake.Request) -> fake.Answer:
        if request.tool_names == ["propose_operations"]:
            return answer
        if request.tool_names == ["choose_element"]:
            return fake.tool_call("choose_element", {"choice": None, "reason": "none of them"})
        return fake.tool_call("diagnose", {"verdict": "incurable", "explanation": "unclear", "operations": []})

    return entry


async def test_g34_a_check_that_a_model_deletes_is_refused_and_the_rest_goes_on(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=only_suggest(operations(put(3, GO), drop(4)))) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world)

            (result,) = await world.nightly()

            played = [steps for steps in world.app.replays if steps[2].locator and steps[2].locator.css == "#go"]
            assert played, "the allowed operation was tried without the refused one"
            unharmed = [steps for steps in world.app.replays if CHECKOUT.steps[3] in steps]
            assert len(unharmed) >= len(played), "the check was in every run but those that falsify it"
            assert any(steps[3:] == CHECKOUT.steps[3:] for steps in played)
            (refusal,) = result["refusals"]
            assert (refusal["op"], refusal["step"]) == ("delete", 4)
            assert "Refused: " in refusal["reason"]
            assert (await world.test()).steps[3] == CHECKOUT.steps[3]


async def test_g36_all_refused_is_said_so_and_is_not_no_fix_found(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=only_suggest(operations(drop(4)))) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world, green_before=False)

            (result,) = await world.nightly()

            assert result["outcome"] == "refused"
            assert [one["step"] for one in result["refusals"]] == [4]
            assert await untouched(world)
            (issue,) = await world.issues()
            assert [one["step"] for one in issue.refusals] == [4]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param([drop(4)], id="deletes the check"),
        pytest.param([put(4, {"assert_text": {"role": "status", "contains": ""}})], id="empties it"),
        pytest.param([put(4, {"assert_visible": {"role": "status"}})], id="makes it another check"),
        pytest.param([put(4, {"assert_text": {"css": "body", "contains": "Thank you"}})], id="widens it to the page"),
        pytest.param([put(4, {"screenshot": "done"})], id="makes it a picture"),
        pytest.param(
            [drop(4), {"op": "insert", "step": 4, "new": {"assert_url": {"contains": "/"}}, "reason": ""}],
            id="deletes it and puts in a weaker one",
        ),
        pytest.param(
            [put(4, {"assert_text": {"role": "status", "contains": "Thank you"}, "optional": True})], id="optional"
        ),
    ],
)
@pytest.mark.parametrize("door", ["propose_operations", "diagnose"])
async def test_g33_no_model_gets_a_check_changed_through_any_rung(
    make_world: MakeWorld, door: str, bad: list[dict[str, Any]]
) -> None:
    """The page shows an error where the check expects thanks; without the check, the run would be green."""

    def entry(request: fake.Request) -> fake.Answer:
        if request.tool_names != [door]:
            return only_suggest(operations())(request)
        if door == "diagnose":
            answer = {"verdict": "rot", "explanation": "the check is outdated", "operations": [put(3, GO), *bad]}
            return fake.tool_call("diagnose", answer)
        return operations(put(3, GO), *bad)

    with FakeMessages(otherwise=entry) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            gone = a_page(THANKS.replace("Thank you, your order is on its way", "Error 17"), "/thanks")
            await broken(world, REWORKED.with_(thanks=gone))

            (result,) = await world.nightly()

            assert result["outcome"] in ("incurable", "product_defect", "refused")
            assert await untouched(world)
            assert await world.queue() == ()
            assert all(CHECKOUT.steps[3] in steps for steps in world.app.replays)


async def test_a_fix_that_only_a_model_is_sure_of_is_staged_even_where_fixes_are_applied(make_world: MakeWorld) -> None:
    extra = {"op": "insert", "step": 1, "new": {"click": {"css": "#later"}}, "reason": "it is needed first"}
    with FakeMessages(
        otherwise=only_suggest(operations(extra, put(3, {"click": {"css": "#submit-payment"}})))
    ) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world)

            (result,) = await world.nightly()

            assert result["outcome"] != "applied"
            assert await untouched(world)


async def test_by_hand_one_rung_asks_nothing_of_the_others(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=only_suggest(operations())) as server:
        async with make_world(OLD, ask=asker(server)) as world:
            await broken(world, WITHOUT_BUTTON)
            (run,) = (await world.run(trigger=Trigger.MANUAL)).runs

            await by_hand.repair_run(world.tools, run.id, only="self_heal", apply=False, by="Ada")

            assert all(request.tool_names == ["choose_element"] for request in server.requests)
