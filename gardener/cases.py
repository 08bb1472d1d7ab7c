"""A case: one broken test version being worked on, and the attempts made inside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class CaseStatus(StrEnum):
    OPEN = "open"  # being worked on, or broken off by a kill and to be resumed
    REPAIRED = "repaired"  # a proven fix was applied or staged
    NOT_DRIFT = "not_drift"  # a product defect or the surroundings: nothing to repair
    EXHAUSTED = "exhausted"  # every rung was climbed, or a bound tripped
    ABANDONED = "abandoned"  # the test was edited or taken out of service meanwhile


@dataclass(frozen=True, slots=True)
class Case:
    id: int
    project: int
    test: int
    version: int  # of the test, that is broken
    run: int | None  # the run that showed it broken
    status: CaseStatus
    verdict: str | None
    model_calls: int  # spent so far, attempts included
    tokens: int
    opened_at: datetime
    closed_at: datetime | None = None
    # Where it stands (T29): "failure", the fingerprint of the red run that it is about, and "begun", how often each fix
    # was begun without an end.
    pointer: dict[str, Any] = field(default_factory=dict)

    @property
    def interrupted(self) -> dict[str, int]:
        return {fix: int(times) for fix, times in self.pointer.get("begun", {}).items()}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try inside a case; never altered later."""

    id: int
    case: int
    number: int  # from 1
    rung: str
    strategy: str
    hypothesis: str
    operations: tuple[dict[str, Any], ...]
    refusals: tuple[dict[str, Any], ...]
    outcome: str
    error: str | None
    fix: str | None  # fingerprint of the fix: the same fix is tried a third time by nobody
    at: datetime
    model_calls: int = 0
    tokens: int = 0
