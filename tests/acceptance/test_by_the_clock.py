"""Nobody present: the clock asks, the worker works, and people are told; in each of the three modes (G2, G6-G18)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pytest_httpserver import HTTPServer

from gardener.actions import deliver, timing, working
from gardener.projects import ProjectSettings
from gardener.runs import RunStatus, Trigger
from gardener.schedules import What
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import CHECKOUT, OLD, RENAMED
from tests.fakes import World

BY_THE_CLOCK = ProjectSettings(sweep_cron="0 */2 * * *", suite_cron="30 */2 * * *", timezone="Europe/Berlin")


async def at(world: World, time: str) -> None:
    """It becomes so late, and whatever is due then is done to the end."""
    world.clock.moment = datetime.fromisoformat(f"2026-03-01T{time}").replace(tzinfo=UTC)
    assert await timing.take_clock(world.tools)
    await timing.look_at_the_clock(world.tools)
    await timing.raise_alarms(world.tools)
    while await working.work_once(world.tools):
        pass
    await deliver.deliver_due(world.tools)


async def a_day(world: World, httpserver: HTTPServer) -> list[str]:
    """A green morning, a release, an afternoon; what people were told."""
    httpserver.expect_request("/team").respond_with_data("")
    await world.save(CHECKOUT)
    await deliver.add_target(world.tools, world.project, f"json://127.0.0.1:{httpserver.port}/team", "all", "Ada")
    await at(world, "11:10")  # the clock sees the schedules
    await at(world, "11:30")  # 12:30 there: green, so that the pages are known
    await at(world, "13:00")  # the baseline
    await at(world, "13:30")  # green
    world.app.release = RENAMED
    for time in ("15:00", "15:30", "17:00", "17:30"):
        await at(world, time)
    told: list[dict[str, Any]] = [request.json for request, _ in httpserver.log if request.json]
    return [str(one["title"]) for one in told if "Sweep" not in str(one["title"])]


async def suites(world: World) -> list[RunStatus]:
    return [run.status for run in reversed(await world.runs()) if run.trigger == Trigger.SCHEDULE]


async def test_a_project_that_proposes_stages_at_the_sweep_and_tells_who_approves(
    make_world: MakeWorld, httpserver: HTTPServer
) -> None:
    settings = replace(BY_THE_CLOCK, staging=True)
    async with make_world(OLD, settings=settings) as world:
        told = await a_day(world, httpserver)

        assert told == ["shop: A repair of 'checkout' waits for approval"]
        (message,) = [str(request.json["message"]) for request, _ in httpserver.log if "waits" in str(request.json)]
        assert message.startswith("Step 3 was red: ")
        assert "gardener approve or dismiss 1" in message
        assert (await world.test()).version == 1
        assert len(await world.queue()) == 1
        assert await suites(world) == [RunStatus.GREEN, RunStatus.GREEN, RunStatus.RED, RunStatus.RED]


async def test_a_project_that_applies_repairs_after_the_suite_and_stages_nothing(
    make_world: MakeWorld, httpserver: HTTPServer
) -> None:
    async with make_world(OLD, settings=BY_THE_CLOCK, auto_repair=True) as world:
        told = await a_day(world, httpserver)

        assert told == ["shop: 'checkout' was repaired and proven"]
        assert (await world.test()).version == 2
        assert await world.queue() == ()
        # G84: the next suite runs the rewritten steps.
        assert await suites(world) == [RunStatus.GREEN, RunStatus.GREEN, RunStatus.RED, RunStatus.GREEN]


async def test_a_project_that_is_off_is_looked_at_and_left_alone(make_world: MakeWorld, httpserver: HTTPServer) -> None:
    async with make_world(OLD, settings=BY_THE_CLOCK) as world:
        told = await a_day(world, httpserver)

        assert told == []
        assert ((await world.test()).version, await world.queue()) == (1, ())
        assert await world.at_risk() == ["checkout"]
        async with world.store.reading() as tx:
            clock = await timing.clock_of(tx, world.project, now=world.clock())
        assert clock.alarms == ()
        assert clock.timings[What.SWEEP].next_at == datetime(2026, 3, 1, 19, tzinfo=UTC)


async def test_a_switch_that_is_flipped_while_a_scheduled_sweep_waits_is_heeded(
    make_world: MakeWorld, httpserver: HTTPServer
) -> None:
    """G14: whether it stages is asked where the sweep is claimed, and not where the clock asked for it."""
    settings = replace(BY_THE_CLOCK, staging=True, suite_cron=None)
    async with make_world(OLD, settings=settings) as world:
        await world.save(CHECKOUT)
        await world.run()
        await at(world, "12:10")
        await at(world, "13:00")
        world.app.release = RENAMED
        world.clock.moment = datetime(2026, 3, 1, 15, tzinfo=UTC)
        await timing.look_at_the_clock(world.tools)

        await world.switch(True)
        await working.work_once(world.tools)

        assert await world.queue() == ()
        assert (await world.test()).version == 1


async def test_a_person_who_meets_a_waiting_scheduled_sweep_gets_what_one_by_hand_does(make_world: MakeWorld) -> None:
    """It is the same job, no second one; and it stages, although the project's own sweeps do not."""
    async with make_world(OLD, settings=replace(BY_THE_CLOCK, suite_cron=None)) as world:
        await world.save(CHECKOUT)
        await world.run()
        await at(world, "12:10")
        await at(world, "13:00")
        world.app.release = RENAMED
        world.clock.moment = datetime(2026, 3, 1, 15, tzinfo=UTC)
        await timing.look_at_the_clock(world.tools)

        asked = await world.ask_for_sweep()
        await world.work(asked.id)

        assert not await working.work_once(world.tools), "it was the clock's own, and no second one"
        assert len(await world.queue()) == 1
