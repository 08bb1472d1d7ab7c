"""What the sign-in tests of projects left in a browser, by base URL. It is sealed before it comes here."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, select, update

from gardener.secrets import SessionState
from gardener.store.columns import digest
from gardener.store.rows import SessionStateRow
from gardener.store.transaction import Transaction


async def get(tx: Transaction, project: int, base_url: str) -> SessionState | None:
    row = await tx.first(select(SessionStateRow).where(*_where(project, base_url)))
    return _state(row) if row is not None else None


async def put(tx: Transaction, project: int, base_url: str, *, stamp: str, sealed: str, now: datetime) -> None:
    values = {"base_url": base_url, "stamp": stamp, "sealed": sealed, "made_at": now}
    statement = tx.insert(SessionStateRow).values(project=project, base_hash=digest(base_url), **values)
    await tx.run(statement.on_conflict_do_update(index_elements=["project", "base_hash"], set_=values))


async def drop(tx: Transaction, project: int) -> None:
    """Forget who was signed in, at every base URL."""
    await tx.run(delete(SessionStateRow).where(SessionStateRow.project == project))


async def drop_one(tx: Transaction, state: SessionState) -> None:
    """This one, unless it was renewed since."""
    same = (*_where(state.project, state.base_url), SessionStateRow.stamp == state.stamp)
    await tx.run(delete(SessionStateRow).where(*same))


async def listed(tx: Transaction, *, to_write: bool = False) -> tuple[SessionState, ...]:
    """Of all projects. `to_write`: nobody else changes them until the transaction ends."""
    statement = select(SessionStateRow).order_by(SessionStateRow.project, SessionStateRow.base_hash)
    return tuple(map(_state, await tx.rows(statement.with_for_update() if to_write else statement)))


async def reseal(tx: Transaction, state: SessionState, sealed: str) -> None:
    """The same under another key."""
    await tx.run(update(SessionStateRow).where(*_where(state.project, state.base_url)).values(sealed=sealed))


def _where(project: int, base_url: str) -> tuple[Any, ...]:
    return (SessionStateRow.project == project, SessionStateRow.base_hash == digest(base_url))


def _state(row: Row[Any]) -> SessionState:
    return SessionState(row.project, row.base_url, row.stamp, row.sealed, row.made_at)
