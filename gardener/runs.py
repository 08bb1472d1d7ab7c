"""A run: one execution of a test, of which kind, and what it said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Trigger(StrEnum):
    SCHEDULE = "schedule"
    SUITE = "suite"
    CI = "ci"
    MANUAL = "manual"
    DRY_RUN = "dry_run"  # the run before any repair
    PROOF = "proof"  # shows a candidate green
    CONTROL = "control"  # the expectation is falsified on purpose: it has to go red
    PROBE = "probe"  # a throw-away scenario, not a saved test


UNATTENDED = frozenset({Trigger.SCHEDULE, Trigger.SUITE, Trigger.CI})


class RunStatus(StrEnum):
    GREEN = "green"
    RED = "red"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Run:
    id: int
    project: int
    test: int | None
    test_name: str
    version: int | None
    trigger: Trigger
    status: RunStatus
    started_at: datetime
    ended_at: datetime
    failed_step: str | None = None  # "8.2"
    cause: str | None = None  # outcomes.Cause or outcomes.EnvironmentKind
    error: str | None = None
    observed: str | None = None
    page_key: str | None = None  # the page at the failure, in the store of pages
    target: int | None = None
    picture: str | None = None  # path below the data folder
    evidence: dict[str, object] | None = None
    steps: tuple[dict[str, object], ...] = ()  # one entry a played step, for the timeline


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """The page on which a step stood in a green run, and the element it used there."""

    place: str  # "8.2"
    url: str
    page_key: str  # in the store of pages
    target: int | None  # index of the element on that page


@dataclass(frozen=True, slots=True)
class Recording:
    """What the last green run of one version of a test remembers."""

    test: int
    version: int
    run: int | None
    steps: tuple[RecordedStep, ...]
    recorded_at: datetime
