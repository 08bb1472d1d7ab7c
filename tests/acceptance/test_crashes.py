"""A crash at every await of a repair, a sweep and an approval: all or nothing is written, and the next worker goes on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gardener.actions import deciding, working
from gardener.errors import GardenerError
from gardener.jobs import JobState
from gardener.runs import Trigger
from gardener.store import Store, Transaction
from gardener.store.jobs import MOST_TRIES
from gardener.sweeps import SweepStatus
from gardener.tools import Tools
from repair_ladder.steps import Steps
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import CHECKOUT, OLD, RENAMED
from tests.builders import a_step
from tests.fakes import World

MENDED = (*CHECKOUT.steps[:2], a_step("click", css="#submit-payment"), *CHECKOUT.steps[3:])
HOW = ["raised", "cancelled"]


class Killed(BaseException):
    """The process is gone: nothing in it catches this."""


class Fragile:
    """Doors that break at one moment: before or after the n-th use of any of them."""

    def __init__(self, at: int, how: str) -> None:
        self.at, self.how, self.uses = at, how, 0

    def step(self) -> None:
        self.uses += 1
        if self.uses == self.at:
            if self.how == "raised":
                raise Killed
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

    def around(self, door: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def fragile(*given: Any, **named: Any) -> Any:
            self.step()
            await asyncio.sleep(0)
            answer = await door(*given, **named)
            self.step()
            await asyncio.sleep(0)
            return answer

        return fragile

    def tools(self, tools: Tools) -> Tools:
        return replace(
            tools,
            worker="doomed",
            replay=self.around(tools.replay),
            look=self.around(tools.look),
            sign_in=self.around(tools.sign_in),
            watch=self.around(tools.watch),
            store=FragileStore(tools.store, self),
        )


class FragileStore(Store):
    """The same database; it also breaks at the beginning and at the end of a transaction, and just before the commit."""

    def __init__(self, whole: Store, fragile: Fragile) -> None:
        self.whole, self.fragile, self.where = whole, fragile, whole.where

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        self.fragile.step()
        await asyncio.sleep(0)
        async with self.whole.transaction() as tx:
            yield tx
            self.fragile.step()
            await asyncio.sleep(0)
        self.fragile.step()
        await asyncio.sleep(0)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        self.fragile.step()
        await asyncio.sleep(0)
        async with self.whole.reading() as tx:
            yield tx


async def until_killed(work: Awaitable[Any]) -> bool:
    """Does the work; True if it was killed on the way."""
    task = asyncio.ensure_future(work)
    with contextlib.suppress(GardenerError):
        try:
            await task
        except (Killed, asyncio.CancelledError):
            return True
    return False


async def consistent(world: World) -> Steps:
    """The test is either as it was or as it was mended, and its history says the same."""
    test, history = await world.test(), await world.history()
    assert test.steps in (CHECKOUT.steps, MENDED)
    assert (test.version, len(history)) == ((1, 0) if test.steps == CHECKOUT.steps else (2, 1))
    rows = await world.proposals()
    assert len([row for row in rows if row.status.value == "proposed"]) <= 1
    assert len([row for row in rows if row.status.value == "applied"]) <= len(history)
    if history:
        assert history[0].steps_before == CHECKOUT.steps
        kinds = [event.kind.value for event in await world.events()]
        assert kinds.count("applied") + kinds.count("approved") == 1
    return test.steps


async def every_moment(how: str, live: Callable[[int], Awaitable[bool]]) -> int:
    """Lives once for each moment, until one in which nothing broke any more; how many there were."""
    moment = 1
    while await live(moment):
        moment += 1
        assert moment < 400, "it never came to its end"
    return moment


@pytest.mark.parametrize("how", HOW)
async def test_a_repair_killed_at_any_moment_leaves_all_or_nothing_and_is_taken_up_again(
    make_world: MakeWorld, how: str, empty_database: Any, tmp_path: Any
) -> None:
    async def live(moment: int) -> bool:
        async with new_world(empty_database, tmp_path, f"{how}{moment}", auto_repair=True) as world:
            await world.save(CHECKOUT)
            await world.run()
            world.app.release = RENAMED
            report = await world.run(trigger=Trigger.SCHEDULE)
            killed = await until_killed(working.work_once(Fragile(moment, how).tools(world.tools)))
            await consistent(world)

            world.clock.pass_(minutes=5)  # its lease is over
            (job,) = await world.work(*report.jobs)

            assert job.state in (JobState.DONE, JobState.SKIPPED)
            assert await consistent(world) == MENDED
            return killed

    assert await every_moment(how, live) > 10


@pytest.mark.parametrize("how", HOW)
async def test_a_sweep_killed_at_any_moment_loses_no_change_and_is_taken_up_again(
    make_world: MakeWorld, how: str, empty_database: Any, tmp_path: Any
) -> None:
    async def live(moment: int) -> bool:
        async with new_world(empty_database, tmp_path, f"{how}{moment}") as world:
            await world.save(CHECKOUT)
            await world.run()
            await world.sweep()
            world.app.release = RENAMED
            job = await world.ask_for_sweep()
            killed = await until_killed(working.work_once(Fragile(moment, how).tools(world.tools)))
            await consistent(world)

            world.clock.pass_(minutes=5)
            (done,) = await world.work(job.id)

            assert done.state == JobState.DONE
            assert await consistent(world) == CHECKOUT.steps
            (row,) = await world.queue()
            assert row.operations[0]["new"] == {"click": {"css": "#submit-payment"}}
            assert row.triggers, "what implicated the test is not lost with the baseline"
            async with world.store.reading() as tx:
                from gardener.store import sweeps

                assert all(one.status != SweepStatus.RUNNING for one in await sweeps.listed(tx, world.project.id))
            return killed

    assert await every_moment(how, live) > 10


@pytest.mark.parametrize("how", HOW)
async def test_an_approval_killed_at_any_moment_can_be_given_again(
    make_world: MakeWorld, how: str, empty_database: Any, tmp_path: Any
) -> None:
    async def live(moment: int) -> bool:
        async with new_world(empty_database, tmp_path, f"{how}{moment}") as world:
            await world.save(CHECKOUT)
            await world.run()
            await world.sweep()
            world.app.release = RENAMED
            await world.sweep()
            (row,) = await world.queue()
            killed = await until_killed(deciding.approve(Fragile(moment, how).tools(world.tools), row.id, "Ada"))
            now = await consistent(world)

            if now == CHECKOUT.steps:
                await deciding.approve(world.tools, row.id, "Ben")

            assert await consistent(world) == MENDED
            return killed

    assert await every_moment(how, live) >= 4


@asynccontextmanager
async def new_world(empty: Any, folder: Any, name: str, **how: Any) -> AsyncIterator[World]:
    import shutil

    from tests.fakes import a_world

    database = shutil.copy(empty, folder / f"{name}.db")
    async with a_world(f"sqlite:///{database}", folder / "data", OLD, **how) as world:
        yield world


async def test_a_job_that_kills_its_worker_again_and_again_is_given_up(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED
    report = await applying.run(trigger=Trigger.SCHEDULE)
    applying.app.trouble = RuntimeError("the process dies")

    for _ in range(MOST_TRIES):
        with pytest.raises(RuntimeError):
            await working.work_once(applying.tools)
        applying.clock.pass_(minutes=5)
    (job,) = await applying.work(*report.jobs)

    assert job.state == JobState.FAILED
    assert "given up" in str(job.result)
    assert (await applying.test()).version == 1


async def test_a_worker_whose_lease_is_over_writes_nothing_over_the_one_that_took_up_its_job(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED
    await applying.run(trigger=Trigger.SCHEDULE)
    taken = False

    async def take_over(playing: Any) -> None:
        nonlocal taken
        if not taken:
            taken = True
            applying.clock.pass_(minutes=5)
            await working.work_once(applying.colleague())

    applying.app.in_the_middle = take_over
    await working.work_once(applying.tools)

    assert len(await applying.history()) == 1
    assert await consistent(applying) == MENDED
