"""The outbox: an event is written in the transaction of the change it tells of, and delivered afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, or_, select, update

from gardener.notices import Event, EventKind
from gardener.store.rows import EventRow
from gardener.store.transaction import Transaction


async def emit(
    tx: Transaction, project: int, kind: EventKind, subject: str, payload: Mapping[str, Any], *, now: datetime
) -> Event:
    values = {"project": project, "kind": kind, "subject": subject, "payload": dict(payload), "at": now}
    return from_row(await tx.one(insert(EventRow).values(**values).returning(*EventRow.__table__.c)))


async def undelivered(tx: Transaction, *, now: datetime, limit: int = 100) -> tuple[Event, ...]:
    """In the order in which they happened, without those that were put off to later than `now`."""
    due = or_(EventRow.not_before.is_(None), EventRow.not_before <= now)
    statement = select(EventRow).where(EventRow.delivered_at.is_(None), due).order_by(EventRow.id).limit(limit)
    return tuple(map(from_row, await tx.rows(statement)))


async def mark_delivered(tx: Transaction, events: Collection[int], *, now: datetime) -> None:
    where = (EventRow.id.in_(events), EventRow.delivered_at.is_(None))
    await tx.run(update(EventRow).where(*where).values(delivered_at=now))


async def put_off(tx: Transaction, event: int, *, until: datetime) -> None:
    """One that cannot be delivered now does not stand in the way of the others."""
    await tx.run(update(EventRow).where(EventRow.id == event).values(not_before=until))


async def listed(tx: Transaction, project: int, *, limit: int = 100) -> tuple[Event, ...]:
    """Newest first."""
    statement = select(EventRow).where(EventRow.project == project).order_by(EventRow.id.desc()).limit(limit)
    return tuple(map(from_row, await tx.rows(statement)))


def from_row(row: Row[Any]) -> Event:
    return Event(row.id, row.project, EventKind(row.kind), row.subject, row.payload, row.at, row.delivered_at)
