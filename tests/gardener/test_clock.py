"""Covers gardener/schedule.py and actions/timing.py: one scheduler, every tick once, no overlap, a loud alarm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gardener.actions import timing, working
from gardener.jobs import Job, JobKind, JobState
from gardener.notices import EventKind
from gardener.projects import Project, ProjectSettings
from gardener.runs import Trigger
from gardener.schedule import run_clock
from gardener.schedules import Clock as ProjectClock
from gardener.schedules import What
from gardener.settings import Settings
from gardener.store import Store, events, jobs, leases, projects, runs, saved_tests, sweeps, ticks
from gardener.sweeps import SweepStatus
from gardener.tools import Tools
from repair_ladder.formats import WrittenTest
from repair_ladder.outcomes import Environment, Evidence, Green, Red, Trace
from repair_ladder.steps import Step
from tests.fakes import Clock

LEASE = timedelta(seconds=30)


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-02T{text}").replace(tzinfo=UTC)


async def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("not wanted here")


async def sees_nothing(*_: Any, **__: Any) -> Any:
    return {}


@pytest.fixture
def clock() -> Clock:
    return Clock(at("11:30"))


def some_tools(store: Store, clock: Clock, tmp_path: Path, worker: str) -> Tools:
    return Tools(
        settings=Settings("unused", tmp_path, lease=LEASE),
        store=store,
        replay=never,
        sign_in=never,
        look=sees_nothing,
        ask=lambda project: None,
        now=clock,
        worker=worker,
    )


@pytest.fixture
def tools(store: Store, clock: Clock, tmp_path: Path) -> Tools:
    return some_tools(store, clock, tmp_path, "first")


@pytest.fixture
def others(second_store: Store, clock: Clock, tmp_path: Path) -> Tools:
    """The same database in another process."""
    return some_tools(second_store, clock, tmp_path, "second")


async def a_project(tools: Tools, name: str = "shop", **settings: Any) -> Project:
    async with tools.store.transaction() as tx:
        given = ProjectSettings(**settings)
        return await projects.add(tx, name, "http://shop.test", now=tools.now(), settings=given)


async def a_swept_project(tools: Tools, **settings: Any) -> Project:
    """Every two hours, and the clock knows of it."""
    project = await a_project(tools, **({"sweep_cron": "0 */2 * * *"} | settings))
    await look(tools)
    return project


async def look(tools: Tools) -> None:
    assert await timing.take_clock(tools)
    await timing.look_at_the_clock(tools)
    await timing.raise_alarms(tools)


async def work(tools: Tools) -> None:
    while await working.work_once(tools):
        pass


async def jobs_of(tools: Tools, project: Project) -> list[Job]:
    async with tools.store.reading() as tx:
        return list(reversed(await jobs.listed(tx, project.id)))


async def told(tools: Tools, project: Project) -> list[str]:
    async with tools.store.reading() as tx:
        return [one.subject for one in reversed(await events.listed(tx, project.id)) if one.kind == EventKind.OVERDUE]


async def state(tools: Tools, project: Project) -> ProjectClock:
    async with tools.store.reading() as tx:
        return await timing.clock_of(tx, project, now=tools.now())


async def test_at_its_time_a_sweep_is_asked_for_once(tools: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools)
    assert await jobs_of(tools, project) == []

    clock.moment = at("12:00")
    await look(tools)
    await look(tools)

    (job,) = await jobs_of(tools, project)
    assert (job.kind, job.payload["by_hand"], job.payload["base_url"]) == (JobKind.SWEEP, False, None)


async def test_what_was_missed_is_caught_up_once(tools: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools, suite_cron="30 * * * *")

    clock.moment = at("21:45")
    await look(tools)
    await work(tools)
    await look(tools)

    kinds = [job.kind for job in await jobs_of(tools, project)]
    assert sorted(kinds) == [JobKind.SUITE, JobKind.SWEEP]
    clock.moment = at("22:00")
    await look(tools)
    assert [job.kind for job in await jobs_of(tools, project)].count(JobKind.SWEEP) == 2


async def test_control_runs_come_by_the_clock_as_well(tools: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools, control_cron="0 12 * * *")

    clock.moment = at("12:00")
    await look(tools)
    await work(tools)

    jobs_ = {job.kind: job.state for job in await jobs_of(tools, project)}
    assert jobs_[JobKind.CONTROL] == JobState.DONE
    async with tools.store.reading() as tx:
        stands = (await timing.clock_of(tx, project, now=tools.now())).timings[What.CONTROL]
    assert stands.finished_at is not None


async def test_a_sweep_that_runs_long_does_not_overlap_itself(tools: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("12:00")
    await look(tools)
    async with tools.store.transaction() as tx:
        running = await jobs.claim(tx, "w", kinds=[JobKind.SWEEP], now=tools.now(), lease=timedelta(hours=3))
    assert running is not None

    clock.moment = at("14:00")
    await look(tools)

    assert [job.id for job in await jobs_of(tools, project)] == [running.id]


async def test_two_schedulers_on_one_database_do_everything_once(tools: Tools, others: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools)
    assert not await timing.take_clock(others)

    clock.moment = at("12:00")
    # Even where both believe that it is theirs, such as one that was asleep in the middle of its look.
    await asyncio.gather(*(timing.look_at_the_clock(one) for one in (tools, others, tools, others)))
    await work(tools)
    await asyncio.gather(*(timing.look_at_the_clock(one) for one in (tools, others)))

    assert len(await jobs_of(tools, project)) == 1


async def test_a_scheduler_that_died_is_replaced_when_its_lease_is_over(
    tools: Tools, others: Tools, clock: Clock
) -> None:
    project = await a_swept_project(tools)

    clock.moment = at("11:30:15")
    assert not await timing.take_clock(others)
    clock.moment = at("12:00")
    await look(others)

    assert not await timing.take_clock(tools)
    assert len(await jobs_of(tools, project)) == 1


async def test_a_scheduler_that_is_stopped_hands_over_at_once(tools: Tools, others: Tools) -> None:
    running = asyncio.ensure_future(run_clock(tools))
    await until(lambda: holds(tools))

    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert await timing.take_clock(others)


async def holds(tools: Tools) -> bool:
    async with tools.store.reading() as tx:
        lease = await leases.get(tx, timing.LEASE)
    return lease is not None and lease.holder == tools.worker


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.01)


async def test_a_clock_that_cannot_be_read_for_a_moment_goes_on(
    tools: Tools, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("12:00")
    looks, real = 0, timing.look_at_the_clock

    async def breaks_once(given: Tools) -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise OSError("the disk is away")
        await real(given)

    monkeypatch.setattr(timing, "look_at_the_clock", breaks_once)
    quick = replace(tools, settings=replace(tools.settings, lease=timedelta(seconds=0.03)))
    running = asyncio.ensure_future(run_clock(quick))

    async def asked() -> bool:
        return bool(await jobs_of(tools, project))

    await until(asked)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert "The clock could not be looked at" in caplog.text


async def test_a_running_clock_raises_the_alarm_by_itself(tools: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("14:30")
    running = asyncio.ensure_future(run_clock(tools))

    async def is_told() -> bool:
        return bool(await told(tools, project))

    await until(is_told)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_a_project_whose_zone_is_unknown_here_keeps_no_other_from_its_time(tools: Tools, clock: Clock) -> None:
    broken = await a_project(tools, "bakery", sweep_cron="0 * * * *", timezone="Moon/Tranquility")
    shop = await a_swept_project(tools)

    clock.moment = at("12:00")
    await look(tools)

    assert [job.kind for job in await jobs_of(tools, shop)] == [JobKind.SWEEP]
    assert await jobs_of(tools, broken) == []
    assert "Moon/Tranquility" in (await state(tools, broken)).alarms[0]


async def test_what_is_no_longer_scheduled_is_not_done(tools: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("12:00")
    await look(tools)
    async with tools.store.transaction() as tx:
        await projects.update(tx, project.id, settings=replace(project.settings, archived=True))

    await work(tools)
    clock.moment = at("14:00")
    await look(tools)

    # Asked for before it was archived: whether it is still wanted is asked where it is claimed.
    assert [job.state for job in await jobs_of(tools, project)] == [JobState.SKIPPED]
    async with tools.store.reading() as tx:
        assert await ticks.listed(tx) == {}


# --- what is done ------------------------------------------------------------------------------------------


async def a_test(tools: Tools, project: Project, name: str) -> None:
    async with tools.store.transaction() as tx:
        written = WrittenTest(name, (Step("goto", None, {"url": "/"}),))
        await saved_tests.import_test(tx, project.id, written, folder=None, author="Ada", now=tools.now())


@pytest.mark.parametrize("auto_repair", [False, True], ids=["off", "on"])
async def test_a_scheduled_suite_is_an_unattended_run_of_all_tests(
    tools: Tools, clock: Clock, auto_repair: bool
) -> None:
    """G7: with the switch on its red tests go up the ladder; with it off none does."""
    project = await a_project(tools, suite_cron="0 12 * * *")
    async with tools.store.transaction() as tx:
        await projects.update(tx, project.id, auto_repair=auto_repair)
    await a_test(tools, project, "checkout")
    await a_test(tools, project, "search")

    async def replay(steps: Any, stage: Any, **_: Any) -> Any:
        trace = Trace((), (), Evidence())
        return Red(trace, (1,), "missing", "it finds nothing", None) if replay_.count() == 1 else Green(trace)

    replay_ = _Counting()
    playing = replace(tools, replay=replay)
    await look(tools)
    clock.moment = at("12:00")
    await look(tools)
    assert await working.work_once(playing)

    done, *asked = await jobs_of(tools, project)
    assert done.result is not None
    assert (done.kind, done.state) == (JobKind.SUITE, JobState.DONE)
    assert (done.result["green"], done.result["red"], done.result["environment"]) == (1, 1, 0)
    assert [job.kind for job in asked] == ([JobKind.HEAL] if auto_repair else [])
    async with tools.store.reading() as tx:
        assert {run.trigger for run in await runs.listed(tx, project.id)} == {Trigger.SCHEDULE}


class _Counting:
    def __init__(self) -> None:
        self.number = 0

    def count(self) -> int:
        self.number += 1
        return self.number


async def test_a_suite_without_tests_is_no_trouble(tools: Tools, clock: Clock) -> None:
    project = await a_project(tools, suite_cron="0 12 * * *")
    await look(tools)
    clock.moment = at("12:00")
    await look(tools)

    await work(tools)

    (job,) = await jobs_of(tools, project)
    assert job.state == JobState.DONE


async def test_a_suite_while_the_app_is_down_asks_for_no_repair(tools: Tools, clock: Clock) -> None:
    project = await a_project(tools, suite_cron="0 12 * * *")
    await a_test(tools, project, "checkout")

    async def down(*_: Any, **__: Any) -> Any:
        return Environment("unreachable", "nobody answers")

    await look(tools)
    clock.moment = at("12:00")
    await look(tools)
    await work(replace(tools, replay=down))

    assert [job.kind for job in await jobs_of(tools, project)] == [JobKind.SUITE]


# --- how it stands -----------------------------------------------------------------------------------------


async def a_sweep(tools: Tools, project: Project, status: SweepStatus = SweepStatus.FINISHED, **how: Any) -> None:
    given = {"base_url": "http://shop.test", "preview": False} | how
    async with tools.store.transaction() as tx:
        row = await sweeps.start(tx, project.id, now=tools.now(), **given)
        await sweeps.finish(tx, row.id, status=status, now=tools.now())


async def test_last_swept_next_sweep_and_all_well(tools: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("12:00")
    await look(tools)
    clock.moment = at("12:05")
    await work(tools)

    clock.moment = at("12:06")
    await look(tools)
    now = await state(tools, project)

    assert now.swept_at is not None
    assert at("12:05") <= now.swept_at < at("12:06")
    assert now.timings[What.SWEEP].next_at == at("14:00")
    assert now.alarms == ()


async def test_a_sweep_that_is_not_finished_by_its_next_tick_is_overdue_and_told_once(
    tools: Tools, clock: Clock
) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("12:00")
    await look(tools)
    clock.moment = at("13:59")
    await look(tools)
    assert (await state(tools, project)).alarms == ()

    clock.moment = at("14:00")
    await look(tools)
    clock.moment = at("15:00")
    await look(tools)

    assert (await state(tools, project)).timings[What.SWEEP].overdue_since == at("14:00")
    (said,) = await told(tools, project)
    assert "sweep of 'shop' is overdue since 2026-03-02 14:00 UTC: it has never finished" in said
    await a_sweep(tools, project)
    assert (await state(tools, project)).alarms == ()


@pytest.mark.parametrize(
    ("how", "overdue"),
    [
        ({}, False),
        ({"status": SweepStatus.ENVIRONMENT}, False),  # it looked; what it saw is a finding of its own
        ({"status": SweepStatus.FAILED}, True),
        ({"preview": True}, True),
    ],
    ids=["finished", "environment", "failed", "preview"],
)
async def test_only_a_look_at_the_app_itself_counts(
    tools: Tools, clock: Clock, how: dict[str, Any], overdue: bool
) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("12:10")
    await a_sweep(tools, project, **how)

    clock.moment = at("14:30")

    assert bool((await state(tools, project)).timings[What.SWEEP].overdue_since) == overdue


async def test_two_who_raise_the_alarm_raise_it_once(tools: Tools, others: Tools, clock: Clock) -> None:
    project = await a_swept_project(tools)
    clock.moment = at("14:30")

    await asyncio.gather(*(timing.raise_alarms(one) for one in (tools, others, tools, others)))

    assert len([one for one in await told(tools, project) if "sweep" in one]) == 1
    assert len([one for one in await told(tools, project) if "scheduler" in one]) == 1


async def test_a_scheduler_that_went_silent_is_told_once_by_whoever_notices(
    tools: Tools, others: Tools, clock: Clock
) -> None:
    project = await a_swept_project(tools, sweep_cron="0 3 * * *")
    clock.moment = at("11:32")
    await timing.raise_alarms(others)
    assert await told(tools, project) == []  # a restart takes as long

    clock.moment = at("11:40")
    await timing.raise_alarms(others)
    await timing.raise_alarms(others)

    assert await told(tools, project) == [
        "No scheduler has run since 2026-03-02 11:30 UTC: nothing is done by the clock"
    ]
    assert "see that `gardener serve` runs" in (await state(tools, project)).alarms[0]
    await look(tools)
    assert (await state(tools, project)).alarms == ()
    clock.moment = at("12:40")
    await timing.raise_alarms(others)
    assert len(await told(tools, project)) == 2  # silent anew


async def test_without_a_schedule_nobody_misses_a_scheduler(tools: Tools) -> None:
    project = await a_project(tools)

    now = await state(tools, project)

    assert (now.alarms, dict(now.timings)) == ((), {})


async def test_a_schedule_that_no_scheduler_ever_saw_is_told(tools: Tools) -> None:
    project = await a_project(tools, sweep_cron="0 12 * * *")

    now = await state(tools, project)

    assert now.timings[What.SWEEP].next_at == at("12:00")
    assert "No scheduler has ever run" in now.alarms[0]


async def test_a_lease_from_a_clock_that_was_wrong_is_taken(tools: Tools, others: Tools, clock: Clock) -> None:
    clock.moment = datetime(2031, 1, 1, tzinfo=UTC)
    assert await timing.take_clock(tools)

    clock.moment = at("11:30")

    assert await timing.take_clock(others)
