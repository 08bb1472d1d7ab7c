"""The clock: ask for what is due, say how it stands, and raise the alarm for what is overdue."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, assert_never

from gardener.actions.controlling import add_control
from gardener.actions.digest import add_digest
from gardener.actions.running import add_suite
from gardener.actions.sweeping import add_sweep
from gardener.errors import GardenerError
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.schedules import (
    Begin,
    Clock,
    Due,
    Schedule,
    Tick,
    Timing,
    Wait,
    What,
    overdue_from,
    schedules_of,
    step_of,
)
from gardener.schedules import at as said_at
from gardener.store import Transaction, events, leases, projects, ticks
from gardener.tools import Tools

log = logging.getLogger(__name__)
LEASE: Final = "clock"
# A scheduler that is started again, or that another takes over from, is no alarm.
SILENCE: Final = timedelta(minutes=2)
# What stays overdue, or is so again, is not told again before.
QUIET: Final = timedelta(hours=6)


async def take_clock(tools: Tools) -> bool:
    """Of all processes on this database one is the scheduler; is it this one?"""
    async with tools.store.transaction() as tx:
        length = tools.settings.lease
        return await leases.take(tx, LEASE, tools.worker, now=tools.now(), length=length)


async def leave_clock(tools: Tools) -> None:
    async with tools.store.transaction() as tx:
        await leases.release(tx, LEASE, tools.worker, now=tools.now())


async def look_at_the_clock(tools: Tools) -> None:
    """Ask for what is due, each project for itself: one whose schedule makes trouble keeps no other from its own."""
    async with tools.store.reading() as tx:
        every = await projects.listed(tx)
        known = await ticks.listed(tx)
    for project in every:
        wanted, _ = schedules_of(project)
        for what in What:
            try:
                await _look_at(tools, project, wanted.get(what), known.get((project.id, what)))
            except GardenerError:
                log.exception("A schedule could not be looked at; the next look tries again.")


async def _look_at(tools: Tools, project: Project, schedule: Schedule | None, tick: Tick | None) -> None:
    if schedule is None:
        if tick is not None:
            async with tools.store.transaction() as tx:
                await ticks.remove(tx, tick)
        return
    now = tools.now()
    match step_of(schedule, tick, now):
        case Wait():
            return
        case Begin(next_at=next_at):
            async with tools.store.transaction() as tx:
                await ticks.begin(tx, project.id, schedule.what, spec=schedule.spec, next_at=next_at, now=now)
        case Due(tick=reached, next_at=next_at):
            assert tick is not None
            async with tools.store.transaction() as tx:
                # Two schedulers may both have read that it is due; only one of them moves the tick on.
                if await ticks.advance(tx, tick, last_at=reached, next_at=next_at):
                    await _do(tx, tools, project, tick, reached)


async def _do(tx: Transaction, tools: Tools, project: Project, tick: Tick, reached: datetime) -> None:
    """The job, or the one that still waits or runs from the tick before: nothing overlaps itself."""
    match tick.what:
        case What.SWEEP:
            job = await add_sweep(tx, tools, project, by_hand=False, scheduled=True)
        case What.SUITE:
            job = await add_suite(tx, tools, project)
        case What.CONTROL:
            job = await add_control(tx, tools, project)
        case What.DIGEST:
            # From where the last one ended, so that nothing is counted twice or left out where one came late.
            since = tick.last_at or reached - timedelta(days=1)
            await add_digest(tx, project, since=since, until=reached, now=tools.now())
            return
        case _:
            assert_never(tick.what)
    await ticks.asked_for(tx, tick, job.id)


# --- how it stands ---------------------------------------------------------------------------------------


async def clock_of(tx: Transaction, project: Project, *, now: datetime) -> Clock:
    """Last swept, next sweep, overdue: everything that a page says of one project's clock."""
    return (await clocks_of(tx, [project], now=now))[project.id]


async def clocks_of(tx: Transaction, some: Collection[Project], *, now: datetime) -> Mapping[int, Clock]:
    """The same for several projects, with the same few queries however many there are."""
    numbers = [project.id for project in some]
    known = await ticks.listed(tx, numbers)
    finished = await ticks.finished(tx, numbers)
    lease = await leases.get(tx, LEASE)
    is_silent = lease is None or (lease.until + SILENCE <= now)
    found = {}
    for project in some:
        wanted, unread = schedules_of(project)
        timings = {
            what: _timing(schedule, known.get((project.id, what)), finished.get((project.id, what)), now)
            for what, schedule in wanted.items()
        }
        zone = project.settings.timezone
        timings |= {what: Timing(what, "", zone, None, None, trouble=why) for what, why in unread.items()}
        found[project.id] = Clock(
            timings,
            finished.get((project.id, What.SWEEP)),
            silent_since=lease.beat_at if lease and is_silent and timings else None,
            never_ran=lease is None and bool(timings),
        )
    return found


def _timing(schedule: Schedule, tick: Tick | None, finished_at: datetime | None, now: datetime) -> Timing:
    is_known = tick is not None and tick.spec == schedule.spec
    next_at = tick.next_at if tick and is_known else schedule.after(now)
    overdue = None
    if tick and is_known and schedule.what != What.DIGEST:
        from_ = overdue_from(schedule, since=tick.since, finished_at=finished_at)
        overdue = from_ if from_ <= now else None
    ended = tick.last_at if tick and schedule.what == What.DIGEST else finished_at
    return Timing(schedule.what, schedule.cron.text, schedule.zone.key, ended, schedule.due(next_at), overdue)


# --- the alarm -------------------------------------------------------------------------------------------


async def raise_alarms(tools: Tools) -> None:
    """An event for each sweep or suite that has become overdue, and one a project when the scheduler went silent."""
    now = tools.now()
    async with tools.store.reading() as tx:
        some = [one for one in await projects.listed(tx) if not one.settings.archived]
        known = await ticks.listed(tx)
        clocks = await clocks_of(tx, some, now=now)
        lease = await leases.get(tx, LEASE)
    silent = [one for one in some if clocks[one.id].silent_since]
    if lease and silent and lease.told_at is None:
        async with tools.store.transaction() as tx:
            if await leases.tell(tx, LEASE, beat_at=lease.beat_at, now=now):
                for project in silent:
                    subject = f"No scheduler has run since {said_at(lease.beat_at)}: nothing is done by the clock"
                    payload = {"what": "scheduler", "since": lease.beat_at.isoformat()}
                    await events.emit(tx, project.id, EventKind.OVERDUE, subject, payload, now=now)
    for project in some:
        for what, timing in clocks[project.id].timings.items():
            tick = known.get((project.id, what))
            if timing.overdue_since is None or tick is None or (tick.told_at and tick.told_at + QUIET > now):
                continue
            async with tools.store.transaction() as tx:
                if await ticks.tell(tx, tick, now=now):
                    await _tell_overdue(tx, project, timing, now)


async def _tell_overdue(tx: Transaction, project: Project, timing: Timing, now: datetime) -> None:
    assert timing.overdue_since is not None
    before = f"it last finished {said_at(timing.finished_at)}" if timing.finished_at else "it has never finished"
    subject = f"The {timing.what.value} of '{project.name}' is overdue since {said_at(timing.overdue_since)}: {before}"
    payload = {
        "what": timing.what.value,
        "since": timing.overdue_since.isoformat(),
        "finished_at": timing.finished_at.isoformat() if timing.finished_at else None,
    }
    await events.emit(tx, project.id, EventKind.OVERDUE, subject, payload, now=now)
