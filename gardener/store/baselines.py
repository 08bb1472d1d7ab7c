"""The accepted state of each page of a project."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, delete, select

from gardener.store.columns import digest
from gardener.store.rows import BaselineRow
from gardener.store.transaction import Transaction
from gardener.sweeps import Baseline


async def listed(tx: Transaction, project: int) -> tuple[Baseline, ...]:
    statement = select(BaselineRow).where(BaselineRow.project == project).order_by(BaselineRow.page)
    return tuple(map(_baseline, await tx.rows(statement)))


async def put(tx: Transaction, baselines: Sequence[Baseline]) -> None:
    """Each in the place of what was accepted of its page before. Their snapshots are put first (pages.put)."""
    for one in baselines:
        content = {
            "page_key": one.page_key,
            "noise": list(one.noise),
            "signed_in": one.signed_in,
            "seen_at": one.seen_at,
        }
        statement = tx.insert(BaselineRow).values(
            project=one.project, page_hash=digest(one.page), page=one.page, **content
        )
        await tx.run(statement.on_conflict_do_update(index_elements=["project", "page_hash"], set_=content))


async def forget(tx: Transaction, project: int, pages: Collection[str]) -> int:
    """Pages that the app no longer has. Returns how many were known."""
    where = (BaselineRow.project == project, BaselineRow.page_hash.in_([digest(one) for one in pages]))
    return await tx.change(delete(BaselineRow).where(*where))


def _baseline(row: Row[Any]) -> Baseline:
    return Baseline(row.project, row.page, row.page_key, tuple(row.noise), row.signed_in, row.seen_at)
