"""Work that waits for an executor: asked for once, claimed by one worker, taken up again when that one dies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, and_, func, or_, select, text, update
from sqlalchemy.orm import aliased

from gardener.errors import Conflict, NotFound
from gardener.jobs import Job, JobKind, JobState
from gardener.store.columns import digest
from gardener.store.rows import JobRow, ProjectRow
from gardener.store.transaction import Transaction

# Work that has killed its worker this often does so again.
MOST_TRIES: Final = 5
# One number for all of our processes: PostgreSQL's lock around claiming.
CLAIMING_LOCK: Final = 7_120_366_002


async def add(
    tx: Transaction,
    *,
    project: int,
    kind: JobKind,
    key: str,
    payload: Mapping[str, Any],
    now: datetime,
    not_before: datetime | None = None,
) -> Job:
    """Ask for work. `key` says what it is about, such as a test's number: while a job of the same kind and key waits or
    runs, that one is returned, and no second one is made.
    """
    values = {
        "project": project,
        "kind": kind,
        "key": key,
        "key_hash": digest(key),
        "state": JobState.QUEUED,
        "payload": dict(payload),
        "created_at": now,
        "not_before": not_before,
        "tries": 0,
    }
    # The conflict is answered with a write that changes nothing, since only rows that were written are returned.
    statement = (
        tx.insert(JobRow)
        .values(**values)
        .on_conflict_do_update(
            index_elements=["project", "kind", "key_hash"],
            index_where=text("state IN ('queued', 'running')"),
            set_={"key": key},
        )
        .returning(*JobRow.__table__.c)
    )
    return from_row(await tx.one(statement))


async def claim(
    tx: Transaction, worker: str, *, kinds: Collection[JobKind], now: datetime, lease: timedelta
) -> Job | None:
    """The oldest job that may run now, leased to `worker` until `now + lease`; None if there is none.

    May run: what is queued and due, or is running with its lease over (its worker died), while the project has less
    than `side_by_side` jobs with a live lease. What has been tried MOST_TRIES times is failed instead.
    """
    if not tx.is_sqlite:
        # Two claims at once would each count the running jobs without the other's.
        await tx.run(text(f"SELECT pg_advisory_xact_lock({CLAIMING_LOCK})"))
    await _give_up(tx, now)
    over = and_(JobRow.state == JobState.RUNNING, JobRow.lease_until <= now)
    due = and_(JobRow.state == JobState.QUEUED, or_(JobRow.not_before.is_(None), JobRow.not_before <= now))
    running = aliased(JobRow)
    live = (
        select(func.count())
        .where(running.project == JobRow.project, running.state == JobState.RUNNING, running.lease_until > now)
        .correlate(JobRow)
        .scalar_subquery()
    )
    next_one = (
        select(JobRow.id)
        .join(ProjectRow, ProjectRow.id == JobRow.project)
        .where(JobRow.kind.in_([one.value for one in kinds]), or_(due, over), live < ProjectRow.side_by_side)
        .order_by(JobRow.id)
        .limit(1)
        .with_for_update(of=JobRow, skip_locked=True)
        .scalar_subquery()
    )
    # Choosing and taking are one statement: no two workers can both have chosen this job.
    statement = (
        update(JobRow)
        .where(JobRow.id == next_one)
        .values(state=JobState.RUNNING, worker=worker, lease_until=now + lease, tries=JobRow.tries + 1)
        .returning(*JobRow.__table__.c)
    )
    row = await tx.first(statement)
    return from_row(row) if row else None


async def heartbeat(tx: Transaction, job: int, worker: str, *, until: datetime) -> bool:
    """Move the lease on. False: the job is lost to another worker, or has ended; stop working on it."""
    statement = update(JobRow).where(*_held(job, worker)).values(lease_until=until)
    return bool(await tx.change(statement))


async def finish(
    tx: Transaction, job: int, worker: str, *, state: JobState, result: Mapping[str, Any] | None, now: datetime
) -> Job:
    """Compare-and-swap on the worker: Conflict if the job is not its own any more, so that it takes back its work."""
    values = {"state": state, "result": result, "ended_at": now, "lease_until": None}
    return await _end(tx, job, worker, values)


async def put_back(
    tx: Transaction, job: int, worker: str, *, not_before: datetime, result: Mapping[str, Any] | None = None
) -> Job:
    """What it needs is not available just now: it waits again until `not_before`, and the try does not count. `result`
    says why, for those who look at it meanwhile."""
    values = {
        "state": JobState.QUEUED,
        "worker": None,
        "lease_until": None,
        "not_before": not_before,
        "tries": JobRow.tries - 1,
        "result": result,
    }
    return await _end(tx, job, worker, values)


async def get(tx: Transaction, job: int) -> Job:
    row = await tx.first(select(JobRow).where(JobRow.id == job))
    if row is None:
        raise NotFound(f"There is no job {job}.")
    return from_row(row)


async def listed(
    tx: Transaction, project: int, *, states: Collection[JobState] | None = None, limit: int = 100
) -> tuple[Job, ...]:
    """Newest first."""
    statement = select(JobRow).where(JobRow.project == project).order_by(JobRow.id.desc()).limit(limit)
    if states is not None:
        statement = statement.where(JobRow.state.in_([one.value for one in states]))
    return tuple(map(from_row, await tx.rows(statement)))


async def change_waiting(tx: Transaction, job: int, payload: Mapping[str, Any]) -> bool:
    """Ask for something more of a job that nobody has begun. False: somebody has, so it goes on as it was."""
    statement = update(JobRow).where(JobRow.id == job, JobRow.state == JobState.QUEUED).values(payload=dict(payload))
    return bool(await tx.change(statement))


async def ahead_of(tx: Transaction, job: Job) -> int:
    """How many jobs of the project come before it."""
    before = (JobRow.project == job.project, JobRow.id < job.id, JobRow.state.in_([JobState.QUEUED, JobState.RUNNING]))
    return int(await tx.scalar(select(func.count()).select_from(JobRow).where(*before)))


async def _give_up(tx: Transaction, now: datetime) -> None:
    where = (JobRow.state == JobState.RUNNING, JobRow.lease_until <= now, JobRow.tries >= MOST_TRIES)
    result = {"error": f"given up: {MOST_TRIES} workers died or went silent while they worked on it"}
    await tx.run(update(JobRow).where(*where).values(state=JobState.FAILED, ended_at=now, result=result))


async def _end(tx: Transaction, job: int, worker: str, values: dict[str, Any]) -> Job:
    if not await tx.change(update(JobRow).where(*_held(job, worker)).values(**values)):
        lost = await get(tx, job)
        raise Conflict(f"Job {job} is not {worker}'s any more: it is {lost.state.value}, {lost.worker or 'nobody'}'s.")
    return await get(tx, job)


def _held(job: int, worker: str) -> tuple[Any, ...]:
    return JobRow.id == job, JobRow.worker == worker, JobRow.state == JobState.RUNNING


def from_row(row: Row[Any]) -> Job:
    return Job(
        id=row.id,
        project=row.project,
        kind=JobKind(row.kind),
        state=JobState(row.state),
        payload=row.payload,
        created_at=row.created_at,
        tries=row.tries,
        worker=row.worker,
        lease_until=row.lease_until,
        result=row.result,
        ended_at=row.ended_at,
        not_before=row.not_before,
    )
