"""An issue: what is written for a person when the ladder ended without a repair, or when the surroundings failed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class IssueKind(StrEnum):
    TRIAGE = "triage"  # the ladder ended without a green run (G32)
    ESCALATION = "escalation"  # a person has to decide before anything goes on (T19-T22)
    FINDING = "finding"  # one cause in the surroundings, with all tests under it


@dataclass(frozen=True, slots=True)
class Issue:
    id: int
    project: int
    kind: IssueKind
    verdict: str
    cause_key: str  # the same cause is one open issue
    tests: tuple[str, ...]
    reason: str
    refusals: tuple[dict[str, Any], ...]
    created_at: datetime
    restated: int = 0
    closed_at: datetime | None = None
    run: int | None = None
    story: dict[str, Any] | None = None  # see stories.py; None for a finding
    answer: str | None = None  # what a person said to it
    answered_at: datetime | None = None
    answered_by: str | None = None
