"""Where events are sent. Addresses are sealed before they come here."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from gardener.errors import NotFound
from gardener.notices import EventKind, Target
from gardener.store.rows import DeliveryRow, TargetRow
from gardener.store.transaction import Transaction

_KNOWN = frozenset(kind.value for kind in EventKind)


async def add(
    tx: Transaction, project: int, *, sealed: str, shown: str, kinds: Collection[EventKind], by: str, now: datetime
) -> Target:
    values = {
        "project": project,
        "sealed": sealed,
        "shown": shown,
        "kinds": [kind.value for kind in kinds],
        "created_at": now,
        "created_by": by,
    }
    return read_target(await tx.one(insert(TargetRow).values(**values).returning(*TargetRow.__table__.c)))


async def get(tx: Transaction, target: int) -> Target:
    row = await tx.first(select(TargetRow).where(TargetRow.id == target))
    if row is None:
        raise NotFound(f"There is no target {target}: `gardener target list PROJECT` shows those there are.")
    return read_target(row)


async def listed(tx: Transaction, project: int | None = None, *, to_write: bool = False) -> tuple[Target, ...]:
    """Those of a project, or all; in the order in which they were added.

    `to_write`: nobody else changes them until the transaction ends.
    """
    statement = select(TargetRow).order_by(TargetRow.id)
    if project is not None:
        statement = statement.where(TargetRow.project == project)
    return tuple(map(read_target, await tx.rows(statement.with_for_update() if to_write else statement)))


async def reseal(tx: Transaction, target: int, sealed: str) -> None:
    """The same address under another key."""
    await tx.run(update(TargetRow).where(TargetRow.id == target).values(sealed=sealed))


async def remove(tx: Transaction, target: int) -> None:
    """With everything that was still to be sent to it."""
    # First: nobody opens a delivery to it meanwhile.
    await tx.run(select(TargetRow.id).where(TargetRow.id == target).with_for_update())
    await tx.run(delete(DeliveryRow).where(DeliveryRow.target == target))
    await tx.run(delete(TargetRow).where(TargetRow.id == target))


def read_target(row: Row[Any]) -> Target:
    # A kind of a newer release is passed over.
    kinds = tuple(EventKind(one) for one in row.kinds if one in _KNOWN)
    return Target(row.id, row.project, row.sealed, row.shown, kinds, row.created_at, row.created_by)
