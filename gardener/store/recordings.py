"""What the last green run of each test version remembers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, insert, select

from gardener.runs import RecordedStep, Recording
from gardener.store.rows import RecordedStepRow, RecordingRow
from gardener.store.transaction import Transaction


async def save(
    tx: Transaction,
    test: int,
    version: int,
    run: int | None,
    steps: Sequence[RecordedStep],
    *,
    now: datetime,
) -> None:
    """In the place of what an earlier green run of this version remembered. Their pages are put first (pages.put)."""
    statement = tx.insert(RecordingRow).values(test=test, version=version, run=run, recorded_at=now)
    await tx.run(
        statement.on_conflict_do_update(index_elements=["test", "version"], set_={"run": run, "recorded_at": now})
    )
    where = (RecordedStepRow.test == test, RecordedStepRow.version == version)
    await tx.run(delete(RecordedStepRow).where(*where))
    if steps:
        await tx.run(
            insert(RecordedStepRow),
            [
                {
                    "test": test,
                    "version": version,
                    "number": number,
                    "place": one.place,
                    "url": one.url,
                    "page_key": one.page_key,
                    "target": one.target,
                }
                for number, one in enumerate(steps, 1)
            ],
        )


async def get(tx: Transaction, test: int, version: int) -> Recording | None:
    where = (RecordingRow.test == test, RecordingRow.version == version)
    row = await tx.first(select(RecordingRow).where(*where))
    if row is None:
        return None
    statement = (
        select(RecordedStepRow)
        .where(RecordedStepRow.test == test, RecordedStepRow.version == version)
        .order_by(RecordedStepRow.number)
    )
    steps = tuple(RecordedStep(one.place, one.url, one.page_key, one.target) for one in await tx.rows(statement))
    return Recording(test, version, row.run, steps, row.recorded_at)
