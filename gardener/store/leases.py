"""Leases: what one process at a time does for all, such as the clock; taken over once its holder is silent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, or_, select, update

from gardener.store.rows import LeaseRow
from gardener.store.transaction import Transaction

# No lease is as long as this; one that ends later was written by a clock that was wrong.
NONSENSE: Final = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Lease:
    name: str
    holder: str | None
    until: datetime
    beat_at: datetime
    told_at: datetime | None


async def take(tx: Transaction, name: str, holder: str, *, now: datetime, length: timedelta) -> bool:
    """Take it or move it on. False while somebody else holds it. Asking and taking are one statement."""
    values = {"name": name, "holder": holder, "until": now + length, "beat_at": now, "told_at": None}
    free = or_(
        LeaseRow.holder == holder,
        LeaseRow.holder.is_(None),
        LeaseRow.until <= now,
        LeaseRow.until > now + NONSENSE,
    )
    statement = (
        tx.insert(LeaseRow)
        .values(**values)
        .on_conflict_do_update(index_elements=["name"], set_=values, where=free)
        .returning(LeaseRow.holder)
    )
    return await tx.first(statement) is not None


async def release(tx: Transaction, name: str, holder: str, *, now: datetime) -> None:
    """The next who asks has it at once. One that is somebody else's by now stays."""
    where = (LeaseRow.name == name, LeaseRow.holder == holder)
    await tx.run(update(LeaseRow).where(*where).values(holder=None, until=now, beat_at=now))


async def get(tx: Transaction, name: str) -> Lease | None:
    row = await tx.first(select(LeaseRow).where(LeaseRow.name == name))
    return _lease(row) if row else None


async def tell(tx: Transaction, name: str, *, beat_at: datetime, now: datetime) -> bool:
    """Mark that somebody is told of the silence since `beat_at`; False where that was done, or it beats again."""
    where = (LeaseRow.name == name, LeaseRow.beat_at == beat_at, LeaseRow.told_at.is_(None))
    return bool(await tx.change(update(LeaseRow).where(*where).values(told_at=now)))


def _lease(row: Row[Any]) -> Lease:
    return Lease(row.name, row.holder, row.until, row.beat_at, row.told_at)
