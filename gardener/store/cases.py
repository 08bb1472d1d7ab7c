"""Cases and their attempts: what is tried on one broken test version, kept so that a killed climb is taken up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, insert, select, text, update

from gardener.cases import Attempt, Case, CaseStatus
from gardener.errors import Conflict, NotFound
from gardener.store.rows import AttemptRow, CaseRow
from gardener.store.transaction import Transaction


async def open_case(
    tx: Transaction, *, project: int, test: int, version: int, now: datetime, run: int | None = None
) -> Case:
    """A new case, or the open one of this test version, with the attempts that were made in it (see `attempts`)."""
    values = {
        "project": project,
        "test": test,
        "version": version,
        "run": run,
        "status": CaseStatus.OPEN,
        "model_calls": 0,
        "tokens": 0,
        "opened_at": now,
    }
    statement = (
        tx.insert(CaseRow)
        .values(**values)
        # A write that changes nothing, since only rows that were written are returned.
        .on_conflict_do_update(
            index_elements=["test", "version"], index_where=text("status = 'open'"), set_={"version": version}
        )
        .returning(*CaseRow.__table__.c)
    )
    return _case(await tx.one(statement))


async def add_attempt(
    tx: Transaction,
    case: int,
    *,
    rung: str,
    strategy: str,
    operations: Sequence[Mapping[str, Any]],
    outcome: str,
    now: datetime,
    hypothesis: str = "",
    refusals: Sequence[Mapping[str, Any]] = (),
    error: str | None = None,
    fix: str | None = None,
    model_calls: int = 0,
    tokens: int = 0,
) -> Attempt:
    """The next attempt; what it cost is added to the case. Raises Conflict if the case is closed."""
    await spend(tx, case, model_calls=model_calls, tokens=tokens)
    # `spend` holds the case's row, so nobody else takes the same number.
    last = await tx.scalar(select(func.max(AttemptRow.number)).where(AttemptRow.case == case))
    statement = insert(AttemptRow).values(
        case=case,
        number=(last or 0) + 1,
        rung=rung,
        strategy=strategy,
        hypothesis=hypothesis,
        operations=list(operations),
        refusals=list(refusals),
        outcome=outcome,
        error=error,
        fix=fix,
        at=now,
        model_calls=model_calls,
        tokens=tokens,
    )
    return _attempt(await tx.one(statement.returning(*AttemptRow.__table__.c)))


async def spend(tx: Transaction, case: int, *, model_calls: int = 0, tokens: int = 0) -> None:
    """What was spent without an attempt to show for it, such as a call that failed. Conflict if the case is closed."""
    statement = (
        update(CaseRow)
        .where(CaseRow.id == case, CaseRow.status == CaseStatus.OPEN)
        .values(model_calls=CaseRow.model_calls + model_calls, tokens=CaseRow.tokens + tokens)
    )
    if not await tx.change(statement):
        closed = await get(tx, case)
        raise Conflict(f"Case {case} is closed: {closed.status.value}.")


async def point(tx: Transaction, case: int, pointer: Mapping[str, Any]) -> None:
    """What is about to be done in an open case, so that the next worker knows (T29). Conflict if it is closed."""
    where = (CaseRow.id == case, CaseRow.status == CaseStatus.OPEN)
    if not await tx.change(update(CaseRow).where(*where).values(pointer=dict(pointer))):
        closed = await get(tx, case)
        raise Conflict(f"Case {case} is closed: {closed.status.value}.")


async def finish(tx: Transaction, case: int, *, status: CaseStatus, verdict: str | None, now: datetime) -> Case:
    """Closes an open case. Raises Conflict if it was closed before."""
    statement = (
        update(CaseRow)
        .where(CaseRow.id == case, CaseRow.status == CaseStatus.OPEN)
        .values(status=status, verdict=verdict, closed_at=now)
    )
    matched = await tx.change(statement)
    found = await get(tx, case)
    if not matched:
        raise Conflict(f"Case {case} was closed before: {found.status.value}.")
    return found


async def get(tx: Transaction, case: int) -> Case:
    row = await tx.first(select(CaseRow).where(CaseRow.id == case))
    if row is None:
        raise NotFound(f"There is no case {case}.")
    return _case(row)


async def listed(tx: Transaction, test: int) -> tuple[Case, ...]:
    """The cases of a test, newest first."""
    return tuple(map(_case, await tx.rows(select(CaseRow).where(CaseRow.test == test).order_by(CaseRow.id.desc()))))


async def attempts(tx: Transaction, case: int) -> tuple[Attempt, ...]:
    """In the order in which they were made."""
    statement = select(AttemptRow).where(AttemptRow.case == case).order_by(AttemptRow.number)
    return tuple(map(_attempt, await tx.rows(statement)))


async def count_same(tx: Transaction, fix: str) -> int:
    """How often the fix with this fingerprint was tried, in whatever case (C6)."""
    return int(await tx.scalar(select(func.count()).select_from(AttemptRow).where(AttemptRow.fix == fix)))


def _case(row: Row[Any]) -> Case:
    return Case(
        id=row.id,
        project=row.project,
        test=row.test,
        version=row.version,
        run=row.run,
        status=CaseStatus(row.status),
        verdict=row.verdict,
        model_calls=row.model_calls,
        tokens=row.tokens,
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        pointer=row.pointer or {},
    )


def _attempt(row: Row[Any]) -> Attempt:
    return Attempt(
        id=row.id,
        case=row.case,
        number=row.number,
        rung=row.rung,
        strategy=row.strategy,
        hypothesis=row.hypothesis,
        operations=tuple(row.operations),
        refusals=tuple(row.refusals),
        outcome=row.outcome,
        error=row.error,
        fix=row.fix,
        at=row.at,
        model_calls=row.model_calls,
        tokens=row.tokens,
    )
