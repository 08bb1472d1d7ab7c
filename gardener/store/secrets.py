"""Secrets of projects. They are sealed before they come here."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, select, update

from gardener.secrets import KeptSecret
from gardener.store.rows import SecretRow
from gardener.store.transaction import Transaction


async def put(tx: Transaction, project: int, name: str, *, sealed: str, by: str, now: datetime) -> bool:
    """Set it or set it anew; was it there before?"""
    was_there = await tx.first(select(SecretRow.name).where(SecretRow.project == project, SecretRow.name == name))
    values = {"sealed": sealed, "set_at": now, "set_by": by}
    statement = tx.insert(SecretRow).values(project=project, name=name, **values)
    await tx.run(statement.on_conflict_do_update(index_elements=["project", "name"], set_=values))
    return was_there is not None


async def listed(tx: Transaction, project: int | None = None, *, to_write: bool = False) -> tuple[KeptSecret, ...]:
    """Those of a project, or all; by name. `to_write`: nobody else changes them until the transaction ends."""
    statement = select(SecretRow).order_by(SecretRow.project, SecretRow.name)
    if project is not None:
        statement = statement.where(SecretRow.project == project)
    return tuple(map(_secret, await tx.rows(statement.with_for_update() if to_write else statement)))


async def reseal(tx: Transaction, secret: KeptSecret, sealed: str) -> None:
    """The same value under another key: neither its time nor its author changes."""
    where = (SecretRow.project == secret.project, SecretRow.name == secret.name)
    await tx.run(update(SecretRow).where(*where).values(sealed=sealed))


async def remove(tx: Transaction, project: int, name: str) -> bool:
    """False where there was none."""
    where = (SecretRow.project == project, SecretRow.name == name)
    return bool(await tx.change(delete(SecretRow).where(*where)))


def _secret(row: Row[Any]) -> KeptSecret:
    return KeptSecret(row.project, row.name, row.sealed, row.set_at, row.set_by)
