"""Events: what happened, as rows that are written with the change they tell of and delivered afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    STAGED = "staged"
    APPLIED = "applied"
    APPROVED = "approved"
    DISMISSED = "dismissed"
    RESTORED = "restored"  # a dismissal was taken back
    STALE = "stale"
    SUPERSEDED = "superseded"
    REVERTED = "reverted"
    REVIEWED = "reviewed"
    TRIAGE = "triage"
    FINDING = "finding"
    SWEEP_FINISHED = "sweep_finished"
    TEST_IMPORTED = "test_imported"
    OVERDUE = "overdue"  # the clock: a sweep or a suite did not finish in time, or no scheduler runs


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    project: int
    kind: EventKind
    subject: str  # one plain sentence
    payload: dict[str, Any]
    at: datetime
    delivered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what to what, for as long as the database lives."""

    id: int
    project: int | None
    who: str  # a person's name, or GARDENER
    what: str  # "approve", "revert", …
    subject: str
    details: dict[str, Any]
    at: datetime
