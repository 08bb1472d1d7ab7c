"""A second model judges proven repairs by the project's rules: the real SDK, a local server, the whole ladder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gardener.store import ledger
from tests import fake_messages as fake
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import CHECKOUT, OLD, RENAMED
from tests.acceptance.test_model_answers import asker
from tests.fake_messages import FakeMessages
from tests.fakes import World

NONE = {"level": "none", "finding": ""}


def says(rules: Any = NONE, adequacy: Any = NONE) -> fake.Answer:
    return fake.tool_call("judge_repair", {"rules": rules, "adequacy": adequacy})


@asynccontextmanager
async def judged_world(make_world: MakeWorld, server: FakeMessages, **settings: Any) -> AsyncIterator[World]:
    """An applying project without a model of its own, but with a judge; its button was renamed."""
    given = {"rules": ("Locate nothing by id.",), "judge_model": "claude-opus-5-5"} | settings
    async with make_world(OLD, auto_repair=True) as world:
        world.tools = replace(world.tools, judge=lambda project: asker(server, attempts=1))
        await world.settle(**given)
        await world.save(CHECKOUT)
        await world.run()
        world.app.release = RENAMED
        yield world


async def test_h11_what_the_judge_passes_is_applied_and_the_call_is_in_the_ledger(make_world: MakeWorld) -> None:
    with FakeMessages([says()]) as server:
        async with judged_world(make_world, server) as world:
            (result,) = await world.nightly()

            assert result["outcome"] == "applied"
            assert result["model_calls"] == 1
            async with world.store.reading() as tx:
                (call,) = await ledger.calls(tx, world.project.id)
            assert (call.purpose, call.model) == ("judge_repair", "claude-opus-5-5")
            assert "Locate nothing by id." in server.requests[0].text


async def test_h12_a_high_finding_holds_the_proven_repair_back_and_says_why(make_world: MakeWorld) -> None:
    with FakeMessages(otherwise=says(rules={"level": "high", "finding": "Step 3 is located by an id."})) as server:
        async with judged_world(make_world, server) as world:
            (result,) = await world.nightly()

            assert result["outcome"] == "refused"
            assert "held back by the judge" in result["reason"]
            assert "Step 3 is located by an id." in result["reason"]
            assert (await world.test()).version == 1
            assert await world.queue() == ()


async def test_h13_a_lower_finding_is_told_and_applied(make_world: MakeWorld) -> None:
    with FakeMessages([says(adequacy={"level": "medium", "finding": "It could be shorter."})]) as server:
        async with judged_world(make_world, server) as world:
            (result,) = await world.nightly()

            assert result["outcome"] == "applied"
            (repair,) = await world.history()
            assert "the judge warns: medium, what the step is for: It could be shorter." in repair.reason


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(fake.overloaded(), id="h15 out of reach"),
        pytest.param(fake.bad_key(), id="h15 a bad key"),
        pytest.param(fake.text("Looks fine to me."), id="h14 words"),
        pytest.param(says(rules="fine"), id="h14 a malformed verdict"),
        pytest.param(fake.refusal(), id="h14 a refusal"),
    ],
)
async def test_h16_nothing_is_written_unjudged_and_a_person_decides(make_world: MakeWorld, answer: fake.Answer) -> None:
    """C9."""
    with FakeMessages(otherwise=answer) as server:
        async with judged_world(make_world, server) as world:
            (result,) = await world.nightly()

            assert result["outcome"] == "staged"
            assert "nobody has judged it by the project's rules" in result["reason"]
            assert (await world.test()).version == 1
            assert [one.proven for one in await world.queue()] == [True]


@pytest.mark.parametrize("settings", [{"rules": ()}, {"judge_model": None}], ids=["no rules", "no model"])
async def test_c9_without_rules_or_a_judging_model_nobody_is_asked(
    make_world: MakeWorld, settings: dict[str, Any]
) -> None:
    with FakeMessages() as server:
        async with judged_world(make_world, server, **settings) as world:
            (result,) = await world.nightly()

            assert result["outcome"] == "applied"
        assert server.requests == []
