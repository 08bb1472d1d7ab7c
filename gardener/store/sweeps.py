"""Sweeps: begun, finished, or abandoned by a process that died."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, and_, exists, insert, or_, select, update

from gardener.errors import Conflict, NotFound
from gardener.jobs import JobState
from gardener.store.rows import JobRow, SweepRow
from gardener.store.transaction import Transaction
from gardener.sweeps import Sweep, SweepStatus


async def start(
    tx: Transaction, project: int, *, base_url: str, preview: bool, now: datetime, job: int | None = None
) -> Sweep:
    """`job` is the work it belongs to, whose lease shows that it is alive (see `abandon`)."""
    statement = insert(SweepRow).values(
        project=project,
        base_url=base_url,
        preview=preview,
        status=SweepStatus.RUNNING,
        started_at=now,
        pages=0,
        changes=[],
        job=job,
    )
    return from_row(await tx.one(statement.returning(*SweepRow.__table__.c)))


async def note(
    tx: Transaction,
    sweep: int,
    *,
    pages: int | None = None,
    changes: Sequence[Mapping[str, Any]] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> Sweep:
    """What was found so far, or what the staging pass did afterwards; whatever the status."""
    given = {"pages": pages, "changes": changes, "summary": summary}
    values = {key: one for key, one in given.items() if one is not None}
    if values:
        await tx.run(update(SweepRow).where(SweepRow.id == sweep).values(**values))
    return await get(tx, sweep)


async def finish(
    tx: Transaction,
    sweep: int,
    *,
    status: SweepStatus,
    now: datetime,
    pages: int | None = None,
    changes: Sequence[Mapping[str, Any]] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> Sweep:
    """Ends a running sweep. Raises Conflict if it has ended already, such as by `abandon`."""
    statement = (
        update(SweepRow)
        .where(SweepRow.id == sweep, SweepRow.status == SweepStatus.RUNNING)
        .values(status=status, ended_at=now)
    )
    if not await tx.change(statement):
        ended = await get(tx, sweep)
        raise Conflict(f"Sweep {sweep} has ended before: it is {ended.status.value}.")
    return await note(tx, sweep, pages=pages, changes=changes, summary=summary)


async def get(tx: Transaction, sweep: int) -> Sweep:
    row = await tx.first(select(SweepRow).where(SweepRow.id == sweep))
    if row is None:
        raise NotFound(f"There is no sweep {sweep}.")
    return from_row(row)


async def latest(tx: Transaction, project: int, *, preview: bool | None = None) -> Sweep | None:
    """The newest, of both kinds unless told."""
    statement = select(SweepRow).where(SweepRow.project == project).order_by(SweepRow.id.desc()).limit(1)
    if preview is not None:
        statement = statement.where(SweepRow.preview == preview)
    row = await tx.first(statement)
    return from_row(row) if row else None


async def listed(tx: Transaction, project: int, *, limit: int = 50) -> tuple[Sweep, ...]:
    """Newest first."""
    statement = select(SweepRow).where(SweepRow.project == project).order_by(SweepRow.id.desc()).limit(limit)
    return tuple(map(from_row, await tx.rows(statement)))


async def abandon(tx: Transaction, *, now: datetime, after: timedelta = timedelta(hours=4)) -> tuple[int, ...]:
    """Running sweeps whose process died become failed; their numbers.

    One with a job is dead when the job no longer runs or its lease is over; one without, such as a sweep by hand in a
    terminal, when it began longer than `after` ago.
    """
    alive = exists().where(JobRow.id == SweepRow.job, JobRow.state == JobState.RUNNING, JobRow.lease_until > now)
    dead = or_(and_(SweepRow.job.is_not(None), ~alive), and_(SweepRow.job.is_(None), SweepRow.started_at < now - after))
    statement = (
        update(SweepRow)
        .where(SweepRow.status == SweepStatus.RUNNING, dead)
        .values(status=SweepStatus.FAILED, ended_at=now)
        .returning(SweepRow.id)
    )
    return tuple(sorted(row.id for row in await tx.rows(statement)))


def from_row(row: Row[Any]) -> Sweep:
    return Sweep(
        id=row.id,
        project=row.project,
        base_url=row.base_url,
        preview=row.preview,
        status=SweepStatus(row.status),
        started_at=row.started_at,
        ended_at=row.ended_at,
        pages=row.pages,
        changes=tuple(row.changes),
        summary=row.summary,
    )
