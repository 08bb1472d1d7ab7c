"""Proven fixes that are remembered, found by the locator that broke."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, select, update

from gardener.errors import NotFound
from gardener.lessons import Lesson
from gardener.store.columns import canonical, digest
from gardener.store.rows import LessonRow
from gardener.store.transaction import Transaction


async def remember(
    tx: Transaction,
    *,
    project: int,
    old: Mapping[str, Any],
    words: Sequence[str],
    page: str,
    new: Mapping[str, Any],
    now: datetime,
) -> Lesson:
    """The same lesson again only says that it was proven `now`."""
    values = {
        "project": project,
        "old_hash": digest(canonical(old)),
        "whole_hash": digest(canonical([old, page, new])),
        "old": dict(old),
        "words": list(words),
        "page": page,
        "new": dict(new),
        "proven_at": now,
        "uses": 0,
    }
    statement = (
        tx.insert(LessonRow)
        .values(**values)
        .on_conflict_do_update(index_elements=["project", "whole_hash"], set_={"proven_at": now, "words": list(words)})
        .returning(*LessonRow.__table__.c)
    )
    return _lesson(await tx.one(statement))


async def of_locator(tx: Transaction, project: int, old: Mapping[str, Any]) -> tuple[Lesson, ...]:
    """What was once proven for a locator, the newest first."""
    where = (LessonRow.project == project, LessonRow.old_hash == digest(canonical(old)))
    return await _lessons(tx, *where)


async def get(tx: Transaction, lesson: int) -> Lesson:
    row = await tx.first(select(LessonRow).where(LessonRow.id == lesson))
    if row is None:
        raise NotFound(f"There is no lesson {lesson}.")
    return _lesson(row)


async def listed(
    tx: Transaction, project: int, *, since: datetime | None = None, limit: int | None = None
) -> tuple[Lesson, ...]:
    """Newest first; with `since` only those that were proven at that time or later."""
    where = [LessonRow.project == project, *([LessonRow.proven_at >= since] if since else [])]
    return await _lessons(tx, *where, limit=limit)


async def forget_expired(tx: Transaction, project: int, *, before: datetime) -> int:
    """Those that were not proven since; the number of them."""
    return await tx.change(delete(LessonRow).where(LessonRow.project == project, LessonRow.proven_at < before))


async def used(tx: Transaction, lesson: int) -> None:
    """It helped again."""
    await tx.run(update(LessonRow).where(LessonRow.id == lesson).values(uses=LessonRow.uses + 1))


async def forget(tx: Transaction, lesson: int) -> None:
    """It was wrong: the repair it stood for was reverted, or it failed where it should have fitted."""
    await tx.run(delete(LessonRow).where(LessonRow.id == lesson))


async def _lessons(tx: Transaction, *where: Any, limit: int | None = None) -> tuple[Lesson, ...]:
    statement = select(LessonRow).where(*where).order_by(LessonRow.proven_at.desc(), LessonRow.id.desc()).limit(limit)
    return tuple(map(_lesson, await tx.rows(statement)))


def _lesson(row: Row[Any]) -> Lesson:
    return Lesson(row.id, row.project, row.old, tuple(row.words), row.page, row.new, row.proven_at, row.uses)
