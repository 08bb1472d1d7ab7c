"""The ledger of model calls: reserve before asking, set right afterwards, and sums for bounds and for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Row, func, insert, select, text, update
from sqlalchemy import case as when

from gardener.ledger import COUNTED_AS_ESTIMATED, Bound, CallState, ModelCall, Scope, Sum, Tripped, Usage, first_tripped
from gardener.store.rows import ModelCallRow, SavedTestRow, TrippedRow
from gardener.store.transaction import Transaction


async def reserve(
    tx: Transaction,
    *,
    project: int,
    test: int,
    case: int | None,
    purpose: str,
    provider: str,
    model: str,
    wanted: Usage,
    bounds: Sequence[Bound],
    now: datetime,
) -> ModelCall | Tripped:
    """An entry for a call that is about to be made, with the most it may cost; or the bound that it would pass.

    Reservations stand in line, whatever project they are for, so that two at once cannot both take what is left.
    """
    if not tx.is_sqlite:  # which lets one writer in at a time by itself
        await tx.run(text("LOCK TABLE model_calls IN SHARE ROW EXCLUSIVE MODE"))
    scopes = {bound.scope for bound in bounds}
    used = {scope: await spent(tx, scope, project=project, case=case, now=now) for scope in scopes}
    tripped = first_tripped(bounds, used, wanted, model)
    if tripped is not None:
        return tripped
    statement = insert(ModelCallRow).values(
        project=project,
        test=test,
        case=case,
        purpose=purpose,
        provider=provider,
        model=model,
        state=CallState.ASKED,
        input_tokens=wanted.input_tokens,
        output_tokens=wanted.output_tokens,
        cached_tokens=wanted.cached_tokens,
        micro_usd=wanted.micro_usd,
        at=now,
    )
    return _call(await tx.one(statement.returning(*ModelCallRow.__table__.c)))


async def settle(tx: Transaction, call: int, *, state: CallState, usage: Usage | None, now: datetime) -> None:
    """What became of a call; without `usage` the estimate stands."""
    changes: dict[str, Any] = {"state": state, "ended_at": now}
    if usage is not None:
        changes |= {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "micro_usd": usage.micro_usd,
        }
    await tx.run(update(ModelCallRow).where(ModelCallRow.id == call, ModelCallRow.ended_at.is_(None)).values(**changes))


async def note_trip(tx: Transaction, project: int, key: str, reason: str, *, now: datetime) -> bool:
    """True the first time that this bound trips; the same is not told twice."""
    statement = (
        tx.insert(TrippedRow)
        .values(project=project, key=key, reason=reason, at=now)
        .on_conflict_do_nothing()
        .returning(TrippedRow.key)
    )
    return await tx.first(statement) is not None


async def trips(tx: Transaction, project: int, *, limit: int = 20) -> tuple[tuple[datetime, str], ...]:
    """When a bound tripped and how that was said, newest first."""
    statement = (
        select(TrippedRow.at, TrippedRow.reason)
        .where(TrippedRow.project == project)
        .order_by(TrippedRow.at.desc(), TrippedRow.key)
        .limit(limit)
    )
    return tuple((row.at, row.reason) for row in await tx.rows(statement))


async def calls(tx: Transaction, project: int, *, limit: int = 100) -> tuple[ModelCall, ...]:
    """Newest first."""
    statement = (
        select(ModelCallRow).where(ModelCallRow.project == project).order_by(ModelCallRow.id.desc()).limit(limit)
    )
    return tuple(map(_call, await tx.rows(statement)))


async def by_day(tx: Transaction, project: int, *, now: datetime, days: int) -> tuple[tuple[date, Sum], ...]:
    """The last `days` days with a call in them, newest first."""
    today = now.astimezone(UTC).date()
    found = []
    for back in range(days):
        day = today - timedelta(days=back)
        one = await _sum(tx, ModelCallRow.project == project, *_on(day))
        if one.calls:
            found.append((day, one))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CaseSum:
    case: int
    test: str
    sum: Sum


async def by_case(tx: Transaction, project: int, *, since: datetime, limit: int = 20) -> tuple[CaseSum, ...]:
    """The cases with calls since then, the most tokens first."""
    total = func.sum(ModelCallRow.input_tokens + ModelCallRow.output_tokens)
    statement = (
        select(ModelCallRow.case, SavedTestRow.name, *_sums())
        .join(SavedTestRow, SavedTestRow.id == ModelCallRow.test)
        .where(ModelCallRow.project == project, ModelCallRow.at >= since, ModelCallRow.case.is_not(None))
        .group_by(ModelCallRow.case, SavedTestRow.name)
        .order_by(total.desc(), ModelCallRow.case)
        .limit(limit)
    )
    return tuple(CaseSum(row.case, row.name, _read_sum(row)) for row in await tx.rows(statement))


async def spent(tx: Transaction, scope: Scope, *, project: int, case: int | None = None, now: datetime) -> Sum:
    """What was used up so far of what a bound of that scope is on."""
    today = _on(now.astimezone(UTC).date())
    match scope:
        case Scope.CASE if case is None:
            return Sum()
        case Scope.CASE:
            return await _sum(tx, ModelCallRow.case == case)
        case Scope.DAY:
            return await _sum(tx, ModelCallRow.project == project, *today)
        case Scope.PROJECT:
            return await _sum(tx, ModelCallRow.project == project)
        case Scope.PLACE:
            return await _sum(tx, *today)


def _on(day: date) -> tuple[Any, Any]:
    start = datetime.combine(day, time(), UTC)
    return ModelCallRow.at >= start, ModelCallRow.at < start + timedelta(days=1)


def _sums() -> tuple[Any, ...]:
    """A call that failed used nothing up and is counted as none."""
    made = ModelCallRow.state != CallState.FAILED
    return (
        func.coalesce(func.sum(when((made, 1), else_=0)), 0).label("calls"),
        func.coalesce(func.sum(ModelCallRow.input_tokens), 0).label("input_tokens"),
        func.coalesce(func.sum(ModelCallRow.output_tokens), 0).label("output_tokens"),
        func.coalesce(func.sum(ModelCallRow.cached_tokens), 0).label("cached_tokens"),
        func.coalesce(func.sum(ModelCallRow.micro_usd), 0).label("micro_usd"),
        func.coalesce(func.sum(when((made & ModelCallRow.micro_usd.is_(None), 1), else_=0)), 0).label("unpriced"),
        func.coalesce(func.sum(when((ModelCallRow.state.in_(COUNTED_AS_ESTIMATED), 1), else_=0)), 0).label("uncertain"),
    )


async def _sum(tx: Transaction, *where: Any) -> Sum:
    return _read_sum(await tx.one(select(*_sums()).where(*where)))


def _read_sum(row: Row[Any]) -> Sum:
    # PostgreSQL sums whole numbers as decimals.
    return Sum(
        int(row.calls),
        int(row.input_tokens),
        int(row.output_tokens),
        int(row.cached_tokens),
        int(row.micro_usd),
        int(row.unpriced),
        int(row.uncertain),
    )


def _call(row: Row[Any]) -> ModelCall:
    return ModelCall(
        id=row.id,
        project=row.project,
        test=row.test,
        case=row.case,
        purpose=row.purpose,
        provider=row.provider,
        model=row.model,
        state=CallState(row.state),
        usage=Usage(row.input_tokens, row.output_tokens, row.cached_tokens, row.micro_usd),
        at=row.at,
        ended_at=row.ended_at,
    )
