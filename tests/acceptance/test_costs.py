"""What models use up is written down, and a budget stops a call before it is made: the real SDK, a local server."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from gardener import screen
from gardener.actions import costing
from gardener.ledger import CallState, ModelCall
from gardener.notices import EventKind
from gardener.store import cases, ledger
from tests import fake_messages as fake
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import OLD, RENAMED
from tests.acceptance.test_model_answers import asker, broken, only_suggest, operations, untouched
from tests.fake_messages import FakeMessages
from tests.fakes import World


async def calls(world: World) -> tuple[ModelCall, ...]:
    async with world.store.reading() as tx:
        return await ledger.calls(tx, world.project.id)


async def told(world: World) -> list[str]:
    return [one.subject for one in await world.events() if one.kind == EventKind.BUDGET]


async def test_every_call_stands_in_the_ledger_with_its_tokens_and_money(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=only_suggest(operations())) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world)

            (result,) = await world.nightly()
            answer = await costing.costs(world.tools, world.project, days=7)

            made = await calls(world)
            assert len(made) == len(server.requests) == result["model_calls"] > 0
            assert {one.state for one in made} == {CallState.ANSWERED}
            assert {(one.usage.input_tokens, one.usage.output_tokens) for one in made} == {(100, 20)}
            assert {one.usage.micro_usd for one in made} == {100 * 2 + 20 * 10}, "at the price of the default model"
            assert answer["in_all"]["usd"] == pytest.approx(len(made) * 0.0004)
            assert [one["test"] for one in answer["cases"]] == ["checkout"]
            assert [one["calls"] for one in answer["days"]] == [len(made)]
            assert answer["models"][0]["priced"]
            async with world.store.reading() as tx:
                (case,) = await cases.listed(tx, (await world.test()).id)
            assert (case.model_calls, case.tokens) == (len(made), 120 * len(made))


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        pytest.param({"case_tokens": 0}, "case_tokens", id="case"),
        pytest.param({"day_usd": 0.01}, "day_usd", id="day"),
        pytest.param({"project_tokens": 500}, "project_tokens", id="project"),
        pytest.param({"day_usd": 1.0, "case_usd": 0.01}, "case_usd", id="the strictest of two"),
    ],
)
async def test_a_budget_that_the_call_would_pass_stops_it_and_is_named(
    make_world: MakeWorld, settings: dict[str, Any], names: str
) -> None:
    with FakeMessages(otherwise=only_suggest(operations())) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await world.settle(**settings)
            await broken(world, green_before=False)

            (first,) = await world.nightly()
            (again,) = await world.nightly()

            for result in (first, again):
                assert result["outcome"] == "unavailable"
                assert result["model_calls"] == 0
                assert f"The budget {names} stops the model" in result["reason"]
                assert f"raise {names}" in result["reason"]
            assert server.requests == [], "nothing was asked"
            assert await calls(world) == ()
            assert await world.issues() == (), "nobody has said that there is no fix"
            assert [names in one for one in await told(world)] == [True], "told of once"
            assert await untouched(world)


async def test_local_repairs_go_on_without_a_budget(make_world: MakeWorld) -> None:
    with FakeMessages() as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await world.settle(case_tokens=0, day_tokens=0)
            await broken(world, RENAMED)

            (result,) = await world.nightly()

            assert result["outcome"] == "applied"
        assert server.requests == []


async def test_a_budget_for_one_call_stops_the_second(make_world: MakeWorld) -> None:
    """The estimate of a call is far above what it takes, so that a budget is never passed."""
    with FakeMessages(otherwise=only_suggest(operations())) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await world.settle(day_tokens=14_500)  # room for one question as large as it may get
            await broken(world, green_before=False)
            (first,) = await world.nightly()
            asked = len(server.requests)
            await world.settle(day_tokens=120 * asked + 5_000)  # what was used up, and less than the next may take

            (second,) = await world.nightly()

            assert asked > 0
            assert first["model_calls"] == asked == len(server.requests)
            assert second["outcome"] == "unavailable"


async def test_all_projects_together_are_bounded_by_the_place(make_world: MakeWorld) -> None:
    with FakeMessages() as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            bounded = replace(world.tools.settings, most_usd_a_day=0.001)
            world.tools = replace(world.tools, settings=bounded)
            await broken(world, green_before=False)

            (result,) = await world.nightly()

            assert "raise GARDENER_MOST_USD_A_DAY" in result["reason"]
        assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "state", "is_counted"),
    [
        pytest.param(fake.bad_key(), CallState.FAILED, False, id="401"),
        pytest.param(fake.overloaded(), CallState.FAILED, False, id="529"),
        pytest.param(fake.slow(), CallState.UNCERTAIN, True, id="a time-out"),
        pytest.param(fake.refusal(), CallState.UNUSABLE, True, id="a refusal"),
        pytest.param(fake.message(usage=None), CallState.UNCERTAIN, True, id="without a count"),
        pytest.param(fake.dropped(), CallState.UNCERTAIN, True, id="a connection lost after the question was sent"),
        pytest.param(fake.garbage(), CallState.UNCERTAIN, True, id="an answer that nobody can read"),
        pytest.param(
            lambda asked: fake.tool_call(asked.json["tools"][0]["name"], {}, tokens=(100, -5)),
            CallState.UNCERTAIN,
            True,
            id="a call that nobody wrote",
        ),
    ],
)
async def test_what_may_have_to_be_paid_counts(
    make_world: MakeWorld, answer: fake.Entry, state: CallState, is_counted: bool
) -> None:
    with FakeMessages(otherwise=answer) as server:
        ask = asker(server, attempts=1, timeout=timedelta(seconds=0.5))
        async with make_world(OLD, auto_repair=True, ask=ask) as world:
            await broken(world, green_before=False)

            await world.nightly()

            made = await calls(world)
            assert {one.state for one in made} == {state}
            assert all((one.usage.tokens > 0) == is_counted for one in made)


async def test_a_model_out_of_reach_is_asked_once_a_climb(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=fake.bad_key()) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world)

            await world.nightly()

        assert len(server.requests) == 1


async def test_a_call_that_was_cut_off_by_a_kill_counts_as_estimated(make_world: MakeWorld) -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(_: fake.Request) -> fake.Answer:
        loop.call_soon_threadsafe(arrived.set)
        return fake.slow()

    with FakeMessages(otherwise=answer) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            await broken(world, green_before=False)
            task = asyncio.ensure_future(world.nightly())
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

            (call,) = await calls(world)
            answer_of = await costing.costs(world.tools, world.project, days=1)
            assert call.state == CallState.ASKED
            assert call.usage.tokens > 8000
            assert answer_of["in_all"]["uncertain"] == 1


async def test_costs_are_shown_as_a_person_reads_them(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=only_suggest(operations())) as server:
        async with make_world(OLD, auto_repair=True, ask=asker(server)) as world:
            nothing = await costing.costs(world.tools, world.project, days=7)
            await broken(world)
            await world.nightly()
            await world.settle(day_usd=0.001)
            await world.nightly()
            some = await costing.costs(world.tools, world.project, days=7)

    shown = []
    for answer in (nothing, some):
        console = Console(file=StringIO(), width=140)
        screen.show_costs(console, answer)
        shown.append(console.file.getvalue())  # type: ignore[attr-defined]
    assert "No model has been asked" in shown[0]
    assert "checkout" in shown[1]
    assert "day_usd" in shown[1]
    assert "Not asked is claude-sonnet-5-5 (anthropic): No key" in shown[1], "the settings of this place have none"
