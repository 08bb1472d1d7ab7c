"""Snapshots of pages, each kept once under the hash of its contents."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, exists, select

from gardener.errors import NotFound
from gardener.store.rows import BaselineRow, PageRow, RecordedStepRow, RunRow
from gardener.store.transaction import Transaction
from radar import reading
from radar.elements import PageSnapshot


async def put(tx: Transaction, page: PageSnapshot, *, now: datetime) -> str:
    """The page's key; putting the same page again only says that it was seen `now`.

    Packing a large page takes some milliseconds: where a transaction should not wait for that, `radar.reading.pack` it
    before and use `put_packed`.
    """
    key, packed = reading.pack(page)
    await put_packed(tx, key, packed, now=now)
    return key


async def put_packed(tx: Transaction, key: str, packed: bytes, *, now: datetime) -> None:
    # A page that is there is written to as well: a `prune` at the same time sees that it is needed, or waits for us.
    statement = tx.insert(PageRow).values(key=key, packed=packed, seen_at=now)
    await tx.run(statement.on_conflict_do_update(index_elements=["key"], set_={"seen_at": now}))


async def get(tx: Transaction, key: str) -> PageSnapshot:
    """Raises NotFound for a page that was never kept, or was pruned."""
    packed = await tx.scalar(select(PageRow.packed).where(PageRow.key == key))
    if packed is None:
        raise NotFound("That page is no longer kept.")
    return reading.unpack(packed)


async def get_many(tx: Transaction, keys: Iterable[str]) -> dict[str, PageSnapshot]:
    """Those that are kept, by key."""
    wanted = sorted(set(keys))
    found: dict[str, PageSnapshot] = {}
    for start in range(0, len(wanted), 100):
        statement = select(PageRow.key, PageRow.packed).where(PageRow.key.in_(wanted[start : start + 100]))
        found |= {row.key: reading.unpack(row.packed) for row in await tx.rows(statement)}
    return found


async def prune(tx: Transaction, *, before: datetime) -> int:
    """Delete the pages that were last put before then and that no baseline, recording or younger run refers to.

    The older runs stay and lose their page. Returns how many pages went.
    """
    needed = (
        exists().where(BaselineRow.page_key == PageRow.key),
        exists().where(RecordedStepRow.page_key == PageRow.key),
        exists().where(RunRow.page_key == PageRow.key, RunRow.ended_at >= before),
    )
    return await tx.change(delete(PageRow).where(PageRow.seen_at < before, *(~one for one in needed)))
