"""Where the clock stands with each schedule, and when what it asks for was last finished."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, delete, func, select, update

from gardener.jobs import JobKind, JobState
from gardener.schedules import Tick, What
from gardener.store.rows import JobRow, SweepRow, TickRow
from gardener.store.transaction import Transaction
from gardener.sweeps import SweepStatus

# What is finished when a job of its kind is done.
BY_JOB: Final = {JobKind.SUITE: What.SUITE, JobKind.CONTROL: What.CONTROL}


async def listed(tx: Transaction, projects: Collection[int] | None = None) -> dict[tuple[int, What], Tick]:
    statement = select(TickRow)
    if projects is not None:
        statement = statement.where(TickRow.project.in_(projects))
    return {(row.project, What(row.what)): _tick(row) for row in await tx.rows(statement)}


async def begin(tx: Transaction, project: int, what: What, *, spec: str, next_at: datetime, now: datetime) -> None:
    """From now on, as `spec` says. One that means the same as before keeps when it was first seen and last acted on."""
    values = {"project": project, "what": what, "spec": spec, "since": now, "next_at": next_at}
    same = update(TickRow).where(TickRow.project == project, TickRow.what == what, TickRow.spec == spec)
    if not await tx.change(same.values(next_at=next_at)):
        fresh = values | {"last_at": None, "job": None, "told_at": None}
        statement = tx.insert(TickRow).values(**fresh)
        await tx.run(statement.on_conflict_do_update(index_elements=["project", "what"], set_=fresh))


async def advance(tx: Transaction, tick: Tick, *, last_at: datetime, next_at: datetime) -> bool:
    """What is due up to `last_at` is acted on in this transaction. False: somebody was faster, or it has changed."""
    where = (
        TickRow.project == tick.project,
        TickRow.what == tick.what,
        TickRow.spec == tick.spec,
        TickRow.next_at == tick.next_at,
    )
    return bool(await tx.change(update(TickRow).where(*where).values(next_at=next_at, last_at=last_at)))


async def asked_for(tx: Transaction, tick: Tick, job: int) -> None:
    where = (TickRow.project == tick.project, TickRow.what == tick.what)
    await tx.run(update(TickRow).where(*where).values(job=job))


async def tell(tx: Transaction, tick: Tick, *, now: datetime) -> bool:
    """Mark that somebody is told that it is overdue. False: another process was faster."""
    known = TickRow.told_at.is_(None) if tick.told_at is None else TickRow.told_at == tick.told_at
    where = (TickRow.project == tick.project, TickRow.what == tick.what, known)
    return bool(await tx.change(update(TickRow).where(*where).values(told_at=now)))


async def remove(tx: Transaction, tick: Tick) -> None:
    await tx.run(delete(TickRow).where(TickRow.project == tick.project, TickRow.what == tick.what))


async def finished(tx: Transaction, projects: Collection[int]) -> dict[tuple[int, What], datetime]:
    """When the app was last looked at to the end, and when scheduled suites and control runs ended; in two queries."""
    swept = (
        select(SweepRow.project, func.max(SweepRow.ended_at).label("at"))
        .where(
            SweepRow.project.in_(projects),
            SweepRow.preview.is_(False),
            SweepRow.status.in_([SweepStatus.FINISHED.value, SweepStatus.ENVIRONMENT.value]),
        )
        .group_by(SweepRow.project)
    )
    ran = (
        select(JobRow.project, JobRow.kind, func.max(JobRow.ended_at).label("at"))
        .where(JobRow.project.in_(projects), JobRow.kind.in_(list(BY_JOB)), JobRow.state == JobState.DONE)
        .group_by(JobRow.project, JobRow.kind)
    )
    found = {(row.project, What.SWEEP): row.at for row in await tx.rows(swept)}
    return found | {(row.project, BY_JOB[row.kind]): row.at for row in await tx.rows(ran)}


def _tick(row: Row[Any]) -> Tick:
    return Tick(row.project, What(row.what), row.spec, row.since, row.next_at, row.last_at, row.job, row.told_at)
