"""The outbox: an event is written in the transaction of the change it tells of, with its deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select

from gardener.notices import Event, EventKind
from gardener.store import deliveries
from gardener.store.rows import EventRow
from gardener.store.transaction import Transaction


async def emit(
    tx: Transaction, project: int, kind: EventKind, subject: str, payload: Mapping[str, Any], *, now: datetime
) -> Event:
    """It reaches every target that wants it now, or none does because the transaction is taken back."""
    values = {"project": project, "kind": kind, "subject": subject, "payload": dict(payload), "at": now}
    event = from_row(await tx.one(insert(EventRow).values(**values).returning(*EventRow.__table__.c)))
    await deliveries.open_for(tx, event)
    return event


async def listed(
    tx: Transaction,
    project: int,
    *,
    limit: int = 100,
    offset: int = 0,
    kind: EventKind | None = None,
    since: datetime | None = None,
) -> tuple[Event, ...]:
    """Newest first."""
    statement = select(EventRow).where(EventRow.project == project).order_by(EventRow.id.desc())
    if kind is not None:
        statement = statement.where(EventRow.kind == kind)
    if since is not None:
        statement = statement.where(EventRow.at >= since)
    return tuple(map(from_row, await tx.rows(statement.limit(limit).offset(offset))))


def from_row(row: Row[Any]) -> Event:
    return Event(row.id, row.project, EventKind(row.kind), row.subject, row.payload, row.at)
