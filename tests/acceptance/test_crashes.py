"""A crash at every await of a repair, a sweep and an approval: all or nothing is written, and the next goes on."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from gardener.actions import deciding, working
from gardener.errors import GardenerError
from gardener.jobs import JobState
from gardener.runs import Trigger
from gardener.store import Store, Transaction, open_store, sweeps
from gardener.store.jobs import MOST_TRIES
from gardener.sweeps import SweepStatus
from gardener.tools import Tools
from repair_ladder.steps import Steps
from tests.acceptance.shop import CHECKOUT, OLD, RENAMED
from tests.builders import a_step
from tests.fakes import App, Clock, Watching, World, a_world

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
    """The same database; it also breaks where a transaction begins and ends, and just before the commit."""

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


async def every_moment(how: str, live: Callable[[int, str], Awaitable[bool]]) -> int:
    """Lives once for each moment, until one in which nothing broke any more; how many there were.

    Exceptions and cancellations take turns, beginning with `how`.
    """
    turns = HOW if how == HOW[0] else HOW[::-1]
    moment = 1
    while await live(moment, turns[moment % 2]):
        moment += 1
        assert moment < 400, "it never came to its end"
    return moment


Lives: TypeAlias = Callable[[], AbstractAsyncContextManager[World]]


@pytest.fixture
async def begin(empty_database: Path, tmp_path: Path) -> Callable[..., Awaitable[Lives]]:
    """Prepares a world once, for worlds that all begin there."""

    async def prepare(until: Callable[[World], Awaitable[Any]], **how: Any) -> Lives:
        first = shutil.copy(empty_database, tmp_path / "first.db")
        async with a_world(f"sqlite:///{first}", tmp_path / "data", OLD, **how) as world:
            await until(world)
            project, moment = world.project, world.clock.moment
        number = count()

        @asynccontextmanager
        async def again() -> AsyncIterator[World]:
            database = shutil.copy(first, tmp_path / f"life {next(number)}.db")
            async with await open_store(f"sqlite:///{database}") as store:
                app, clock, watch = App(RENAMED), Clock(moment), Watching()
                doors = replace(
                    world.tools, store=store, now=clock, watch=watch,
                    replay=app.replay, look=app.look, sign_in=app.sign_in,
                )  # fmt: skip
                yield World(doors, app, clock, watch, project)

        return again

    return prepare


async def green(world: World) -> None:
    await world.save(CHECKOUT)
    await world.run()


async def swept(world: World) -> None:
    await green(world)
    await world.sweep()


async def staged(world: World) -> None:
    await swept(world)
    world.app.release = RENAMED
    await world.sweep()


@pytest.mark.parametrize("how", HOW[:1])
async def test_a_repair_killed_at_any_moment_leaves_all_or_nothing_and_is_taken_up_again(begin: Any, how: str) -> None:
    async def red(world: World) -> None:
        await green(world)
        world.app.release = RENAMED
        await world.run(trigger=Trigger.SCHEDULE)

    lives = await begin(red, auto_repair=True)

    async def live(moment: int, how: str) -> bool:
        async with lives() as world:
            killed = await until_killed(working.work_once(Fragile(moment, how).tools(world.tools)))
            await consistent(world)

            world.clock.pass_(minutes=5)  # its lease is over
            (asked,) = await world.jobs()
            (job,) = await world.work(asked.id)

            assert job.state in (JobState.DONE, JobState.SKIPPED)
            assert await consistent(world) == MENDED
            return killed

    assert await every_moment(how, live) > 10


@pytest.mark.parametrize("how", HOW[:1])
async def test_a_sweep_killed_at_any_moment_loses_no_change_and_is_taken_up_again(begin: Any, how: str) -> None:
    lives = await begin(swept)

    async def live(moment: int, how: str) -> bool:
        async with lives() as world:
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
                rows = await sweeps.listed(tx, world.project.id)
            assert all(one.status != SweepStatus.RUNNING for one in rows)
            return killed

    assert await every_moment(how, live) > 10


@pytest.mark.parametrize("how", HOW)
async def test_an_approval_killed_at_any_moment_can_be_given_again(begin: Any, how: str) -> None:
    lives = await begin(staged)

    async def live(moment: int, how: str) -> bool:
        async with lives() as world:
            (row,) = await world.queue()
            killed = await until_killed(deciding.approve(Fragile(moment, how).tools(world.tools), row.id, "Ada"))

            if await consistent(world) == CHECKOUT.steps:
                await deciding.approve(world.tools, row.id, "Ben")

            assert await consistent(world) == MENDED
            return killed

    assert await every_moment(how, live) >= 4


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
