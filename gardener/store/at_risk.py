"""Tests with touched locators, in the line for the staging pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, select, update

from gardener.saved_tests import Status
from gardener.store.plain import merged
from gardener.store.rows import AtRiskRow, SavedTestRow
from gardener.store.transaction import Transaction
from gardener.sweeps import AtRisk


async def mark(
    tx: Transaction, test: int, *, triggers: Sequence[Mapping[str, Any]], change_key: str, now: datetime
) -> AtRisk:
    """The test is at risk. If it was before, it keeps its `since` and its place in the line, the triggers are added to
    those known, and `change_key` is the newest: a fix that was declined for the change before may be proposed again.
    """
    values = {"test": test, "triggers": [], "change_key": change_key, "since": now, "waiting_since": now}
    await tx.run(tx.insert(AtRiskRow).values(**values).on_conflict_do_nothing())
    known = await tx.scalar(select(AtRiskRow.triggers).where(AtRiskRow.test == test).with_for_update())
    changes = {"triggers": merged(known, triggers), "change_key": change_key}
    statement = update(AtRiskRow).where(AtRiskRow.test == test).values(**changes)
    return _at_risk(await tx.one(statement.returning(*AtRiskRow.__table__.c)))


async def waiting(tx: Transaction, project: int, *, limit: int | None = None) -> tuple[AtRisk, ...]:
    """The line: tests in service that are at risk, the longest waiting first.

    Without `limit` the whole line, so that a pass can name those it leaves to the next (G65).
    """
    statement = (
        select(AtRiskRow)
        .join(SavedTestRow, SavedTestRow.id == AtRiskRow.test)
        .where(SavedTestRow.project == project, SavedTestRow.status == Status.ACTIVE)
        .order_by(AtRiskRow.waiting_since, AtRiskRow.test)
        .limit(limit)
    )
    return tuple(map(_at_risk, await tx.rows(statement)))


async def count(tx: Transaction, project: int) -> int:
    """How many tests in service are at risk."""
    statement = (
        select(func.count())
        .select_from(AtRiskRow)
        .join(SavedTestRow, SavedTestRow.id == AtRiskRow.test)
        .where(SavedTestRow.project == project, SavedTestRow.status == Status.ACTIVE)
    )
    return int(await tx.scalar(statement))


async def get(tx: Transaction, test: int) -> AtRisk | None:
    row = await tx.first(select(AtRiskRow).where(AtRiskRow.test == test))
    return _at_risk(row) if row else None


async def touched(tx: Transaction, test: int, *, now: datetime) -> None:
    """A pass has taken the test: it goes to the end of the line, those left over keep their place."""
    await tx.run(update(AtRiskRow).where(AtRiskRow.test == test).values(waiting_since=now))


async def clear(tx: Transaction, test: int) -> bool:
    """The test is green again. Was it at risk?"""
    return bool(await tx.change(delete(AtRiskRow).where(AtRiskRow.test == test)))


def _at_risk(row: Row[Any]) -> AtRisk:
    return AtRisk(row.test, tuple(row.triggers), row.since, row.change_key)
