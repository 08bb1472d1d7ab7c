"""Runs: one row each, never altered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select

from gardener.errors import NotFound
from gardener.runs import Run, RunStatus, Trigger
from gardener.store.rows import RunRow
from gardener.store.transaction import Transaction


async def add(
    tx: Transaction,
    *,
    project: int,
    test: int | None,
    test_name: str,
    version: int | None,
    trigger: Trigger,
    status: RunStatus,
    started_at: datetime,
    ended_at: datetime,
    failed_step: str | None = None,
    cause: str | None = None,
    error: str | None = None,
    observed: str | None = None,
    page_key: str | None = None,
    target: int | None = None,
    picture: str | None = None,
    evidence: Mapping[str, object] | None = None,
    steps: Sequence[Mapping[str, object]] = (),
) -> Run:
    """`page_key` is what pages.put gave, in this transaction or an earlier one."""
    statement = insert(RunRow).values(
        project=project,
        test=test,
        test_name=test_name,
        version=version,
        trigger=trigger,
        status=status,
        started_at=started_at,
        ended_at=ended_at,
        failed_step=failed_step,
        cause=cause,
        error=error,
        observed=observed,
        page_key=page_key,
        target=target,
        picture=picture,
        evidence=evidence,
        steps=list(steps),
    )
    return _run(await tx.one(statement.returning(*RunRow.__table__.c)))


async def get(tx: Transaction, run: int) -> Run:
    row = await tx.first(select(RunRow).where(RunRow.id == run))
    if row is None:
        raise NotFound(f"There is no run {run}.")
    return _run(row)


async def listed(
    tx: Transaction,
    project: int,
    *,
    test: int | None = None,
    triggers: Collection[Trigger] | None = None,
    limit: int = 100,
) -> tuple[Run, ...]:
    """Newest first."""
    statement = select(RunRow).where(RunRow.project == project).order_by(RunRow.id.desc()).limit(limit)
    if test is not None:
        statement = statement.where(RunRow.test == test)
    if triggers is not None:
        statement = statement.where(RunRow.trigger.in_([one.value for one in triggers]))
    return tuple(map(_run, await tx.rows(statement)))


async def latest_of(
    tx: Transaction, test: int, *, version: int | None = None, triggers: Collection[Trigger] | None = None
) -> Run | None:
    """The newest run of a test, or of one version of it, or of some kinds only."""
    statement = select(RunRow).where(RunRow.test == test).order_by(RunRow.id.desc()).limit(1)
    if version is not None:
        statement = statement.where(RunRow.version == version)
    if triggers is not None:
        statement = statement.where(RunRow.trigger.in_([one.value for one in triggers]))
    row = await tx.first(statement)
    return _run(row) if row else None


def _run(row: Row[Any]) -> Run:
    return Run(
        id=row.id,
        project=row.project,
        test=row.test,
        test_name=row.test_name,
        version=row.version,
        trigger=Trigger(row.trigger),
        status=RunStatus(row.status),
        started_at=row.started_at,
        ended_at=row.ended_at,
        failed_step=row.failed_step,
        cause=row.cause,
        error=row.error,
        observed=row.observed,
        page_key=row.page_key,
        target=row.target,
        picture=row.picture,
        evidence=row.evidence,
        steps=tuple(row.steps),
    )
