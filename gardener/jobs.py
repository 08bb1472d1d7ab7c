"""A job: work that waits for an executor, with a lease so that a killed executor's work is taken up again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class JobKind(StrEnum):
    SWEEP = "sweep"
    STAGE = "stage"  # dry-run one at-risk test and stage what is proven
    SUITE = "suite"  # an unattended run of all tests in service
    HEAL = "heal"  # repair one failed unattended run
    RUN = "run"  # a person wants tests run now
    REPAIR = "repair"  # a person wants the ladder climbed for one red run
    PROVE = "prove"  # a person wants a stale proposal worked out anew
    APPROVE = "approve"  # a person approved what has to be proved first
    CONTROL = "control"  # play the tests in service with falsified checks: they have to go red


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"  # leased until lease_until
    DONE = "done"
    SKIPPED = "skipped"  # no longer wanted when it was claimed: the switch was flipped, the test changed (G14)
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    id: int
    project: int
    kind: JobKind
    state: JobState
    payload: dict[str, Any]
    created_at: datetime
    tries: int = 0
    worker: str | None = None
    lease_until: datetime | None = None
    result: dict[str, Any] | None = None
    ended_at: datetime | None = None
    not_before: datetime | None = None

    def waits_at(self, moment: datetime) -> bool:
        """Is it put off, so that nobody may take it up by then?"""
        return self.state == JobState.QUEUED and self.not_before is not None and self.not_before > moment

    @property
    def has_ended(self) -> bool:
        return self.state not in (JobState.QUEUED, JobState.RUNNING)
