"""A sweep: one look at the app, what it found, and what it leaves to the next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class SweepStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    ENVIRONMENT = "environment"  # the app was not itself: baseline kept, nothing proposed
    FAILED = "failed"  # the sweep broke off; what it had found is kept


@dataclass(frozen=True, slots=True)
class Sweep:
    id: int
    project: int
    base_url: str
    preview: bool  # looked at another base URL: learns, but keeps the baseline
    status: SweepStatus
    started_at: datetime
    ended_at: datetime | None
    pages: int = 0
    changes: tuple[dict[str, Any], ...] = ()  # as the commands print them
    summary: dict[str, Any] | None = None  # at_risk, dry_runs, left_for_next, as the commands print them


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted state of one page. `page_key` names its snapshot; `noise` are paths that never hold still."""

    project: int
    page: str  # URL below the base URL, as visited
    page_key: str
    noise: tuple[str, ...]
    signed_in: bool  # reached after the tests' own sign-in
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class AtRisk:
    """A test with touched locators; stays until it is green again."""

    test: int
    triggers: tuple[dict[str, Any], ...]
    since: datetime
    change_key: str  # the same for the same change of the app
