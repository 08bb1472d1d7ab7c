"""Lines of lists, as pages show them: as much of a thing as fits into a row, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from gardener.projects import Project
from gardener.runs import RunStatus, Trigger
from gardener.saved_tests import Status
from gardener.sweeps import SweepStatus

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slice(Generic[T]):
    """Some rows of a list, and how many it has in all."""

    rows: tuple[T, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What waits for a person in a project."""

    staged: int  # open proposals
    to_review: int  # repairs that were applied by themselves and that nobody has looked at
    issues: int  # open ones
    tests: int  # in service
    at_risk: int


@dataclass(frozen=True, slots=True)
class SweepLine:
    id: int
    status: SweepStatus
    preview: bool
    base_url: str
    started_at: datetime
    ended_at: datetime | None
    pages: int


@dataclass(frozen=True, slots=True)
class ProjectLine:
    project: Project
    counts: Counts
    last_sweep: SweepLine | None


@dataclass(frozen=True, slots=True)
class RunLine:
    id: int
    test: int | None
    test_name: str
    version: int | None
    trigger: Trigger
    status: RunStatus
    started_at: datetime
    ended_at: datetime
    failed_step: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class TestedLine:
    """A test in a list, with its newest run that says how it stands (no proofs, controls and probes)."""

    id: int
    name: str
    status: Status
    version: int
    tags: tuple[str, ...]
    flagged: bool
    last_run: RunLine | None
    proposal: int | None  # that waits for it
    at_risk_since: datetime | None


@dataclass(frozen=True, slots=True)
class AtRiskLine:
    test: int
    test_name: str
    since: datetime
    triggers: tuple[dict[str, Any], ...]
    proposal: int | None


@dataclass(frozen=True, slots=True)
class Cause:
    """One drift, and how many open proposals it has; see proposals.cause_key."""

    key: str
    proposals: int
    proven: int
