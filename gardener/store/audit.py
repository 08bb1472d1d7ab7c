"""Who did what; append only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select

from gardener.notices import AuditEntry
from gardener.store.rows import AuditRow
from gardener.store.transaction import Transaction


async def write(
    tx: Transaction,
    *,
    who: str,
    what: str,
    subject: str,
    now: datetime,
    project: int | None = None,
    details: Mapping[str, Any] | None = None,
) -> AuditEntry:
    values = {
        "project": project,
        "who": who,
        "what": what,
        "subject": subject,
        "details": dict(details or {}),
        "at": now,
    }
    return _entry(await tx.one(insert(AuditRow).values(**values).returning(*AuditRow.__table__.c)))


async def listed(tx: Transaction, *, project: int | None = None, limit: int = 100) -> tuple[AuditEntry, ...]:
    """Newest first; of all projects unless one is named."""
    statement = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
    if project is not None:
        statement = statement.where(AuditRow.project == project)
    return tuple(map(_entry, await tx.rows(statement)))


def _entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry(row.id, row.project, row.who, row.what, row.subject, row.details, row.at)
