"""The history of what was written to tests: append only, but for the marks that it was reviewed or reverted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, insert, select, update

from gardener.errors import Conflict, NotFound
from gardener.repairs import Repair
from gardener.sharing import Sharing
from gardener.sharing import read as read_sharing
from gardener.store.plain import read_variables, write_variables
from gardener.store.rows import RepairRow, SavedTestRow
from gardener.store.transaction import Transaction
from repair_ladder import step_format
from repair_ladder.formats import Variable
from repair_ladder.steps import Steps


async def add(
    tx: Transaction,
    *,
    project: int,
    test: int,
    version_before: int,
    version_after: int,
    steps_before: Steps,
    source_before: str | None,
    variables_before: Mapping[str, Variable],
    operations: Sequence[Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any]],
    strategy: str,
    author: str,
    reason: str,
    now: datetime,
    proposal: int | None = None,
    run: int | None = None,
    sharing: Sharing | None = None,
) -> Repair:
    statement = insert(RepairRow).values(
        project=project,
        test=test,
        version_before=version_before,
        version_after=version_after,
        steps_before=step_format.write_steps(steps_before),
        source_before=source_before,
        variables_before=write_variables(variables_before),
        operations=list(operations),
        refusals=list(refusals),
        strategy=strategy,
        author=author,
        reason=reason,
        created_at=now,
        proposal=proposal,
        run=run,
        sharing=sharing.shape() if sharing else None,
    )
    return await get(tx, await tx.scalar(statement.returning(RepairRow.id)))


async def get(tx: Transaction, repair: int) -> Repair:
    row = await tx.first(selected().where(RepairRow.id == repair))
    if row is None:
        raise NotFound(f"There is no repair {repair}.")
    return from_row(row)


async def listed(
    tx: Transaction, project: int, *, test: int | None = None, limit: int | None = None
) -> tuple[Repair, ...]:
    """Newest first."""
    statement = selected().where(RepairRow.project == project).order_by(RepairRow.id.desc()).limit(limit)
    if test is not None:
        statement = statement.where(RepairRow.test == test)
    return tuple(map(from_row, await tx.rows(statement)))


async def newest_of(tx: Transaction, test: int) -> Repair | None:
    row = await tx.first(selected().where(RepairRow.test == test).order_by(RepairRow.id.desc()).limit(1))
    return from_row(row) if row else None


async def mark_reviewed(tx: Transaction, repair: int, *, by: str, now: datetime) -> Repair:
    """The first review stays; a second changes nothing. The test's flag is the caller's (saved_tests.set_flagged)."""
    where = (RepairRow.id == repair, RepairRow.reviewed_at.is_(None))
    await tx.run(update(RepairRow).where(*where).values(reviewed_at=now, reviewed_by=by))
    return await get(tx, repair)


async def mark_reverted(tx: Transaction, repair: int, *, by: str, now: datetime) -> Repair:
    """Only once: Conflict if it was reverted before."""
    where = (RepairRow.id == repair, RepairRow.reverted_at.is_(None))
    matched = await tx.change(update(RepairRow).where(*where).values(reverted_at=now, reverted_by=by))
    found = await get(tx, repair)
    if not matched:
        raise Conflict(f"Repair {repair} of '{found.test_name}' was reverted before, by {found.reverted_by}.")
    return found


def selected() -> Select[Any]:
    return select(*RepairRow.__table__.c, SavedTestRow.name.label("test_name")).join(
        SavedTestRow, SavedTestRow.id == RepairRow.test
    )


def from_row(row: Row[Any]) -> Repair:
    return Repair(
        id=row.id,
        project=row.project,
        test=row.test,
        test_name=row.test_name,
        version_before=row.version_before,
        version_after=row.version_after,
        steps_before=step_format.read_steps(row.steps_before),
        source_before=row.source_before,
        variables_before=read_variables(row.variables_before),
        operations=tuple(row.operations),
        refusals=tuple(row.refusals),
        strategy=row.strategy,
        author=row.author,
        reason=row.reason,
        created_at=row.created_at,
        proposal=row.proposal,
        run=row.run,
        reviewed_at=row.reviewed_at,
        reviewed_by=row.reviewed_by,
        reverted_at=row.reverted_at,
        reverted_by=row.reverted_by,
        sharing=read_sharing(row.sharing),
    )
