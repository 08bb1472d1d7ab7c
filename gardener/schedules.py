"""What a project does by the clock: its schedules, when one is due, what was missed, and when it is overdue. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from gardener.cron import Cron, last_until, next_after, read_cron, read_zone
from gardener.errors import BadSetting
from gardener.projects import Project

# A clock that is set back by less waits for the time that it had reached; by more, it was wrong before.
SET_BACK: Final = timedelta(minutes=15)


class What(StrEnum):
    SWEEP = "sweep"
    SUITE = "suite"  # an unattended run of all tests in service
    CONTROL = "control"  # the same with falsified checks: it has to go red
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class Schedule:
    project: int
    what: What
    cron: Cron
    zone: ZoneInfo
    jitter: timedelta

    @property
    def spec(self) -> str:
        """The same while it means the same times."""
        return f"{self.cron.text} {self.zone.key}"

    def after(self, moment: datetime) -> datetime:
        return next_after(self.cron, self.zone, moment)

    def due(self, tick: datetime) -> datetime:
        """A tick and its jitter: always the same for the same tick, and well before the next one."""
        if not self.jitter:
            return tick
        seed = f"{self.project} {self.what} {tick.isoformat()}".encode()
        share = int.from_bytes(hashlib.sha256(seed).digest()[:4]) / 2**32
        longest = min(self.jitter, (self.after(tick) - tick) / 2)
        return tick + timedelta(seconds=int(longest.total_seconds() * share))


def schedules_of(project: Project) -> tuple[dict[What, Schedule], dict[What, str]]:
    """Its schedules, and why others cannot be read here, such as a zone that this machine does not know."""
    settings = project.settings
    if settings.archived:
        return {}, {}
    wanted = {
        What.SWEEP: settings.sweep_cron,
        What.SUITE: settings.suite_cron,
        What.CONTROL: settings.control_cron,
        What.DIGEST: None if settings.digest_hour is None else f"0 {settings.digest_hour} * * *",
    }
    read: dict[What, Schedule] = {}
    unread: dict[What, str] = {}
    for what, text in wanted.items():
        if text is None:
            continue
        jitter = timedelta(0) if what == What.DIGEST else timedelta(seconds=settings.jitter_s)
        try:
            read[what] = Schedule(project.id, what, read_cron(text), read_zone(settings.timezone), jitter)
        except BadSetting as error:
            unread[what] = str(error)
    return read, unread


@dataclass(frozen=True, slots=True)
class Tick:
    """Where the clock stands with one schedule."""

    project: int
    what: What
    spec: str  # of the schedule that `next_at` was worked out from
    since: datetime  # when the clock first saw it
    next_at: datetime  # without jitter
    last_at: datetime | None = None  # the newest that was acted on
    job: int | None = None  # what it asked for
    told_at: datetime | None = None  # when somebody was last told that it is overdue


# --- what to do about a schedule now ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Begin:
    """New or changed, or the clock was set back: count from now, and catch up nothing."""

    next_at: datetime


@dataclass(frozen=True, slots=True)
class Due:
    """Do it once, however many ticks were missed, and go on with the next."""

    tick: datetime  # the newest that is past
    next_at: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    until: datetime


Step: TypeAlias = Begin | Due | Wait


def step_of(schedule: Schedule, tick: Tick | None, now: datetime) -> Step:
    if tick is None or tick.spec != schedule.spec:
        return Begin(schedule.after(now))
    due = schedule.due(tick.next_at)
    if due <= now:
        return Due(last_until(schedule.cron, schedule.zone, now), schedule.after(now))
    if tick.next_at > now:
        reached = tick.last_at if tick.last_at and now < tick.last_at <= now + SET_BACK else now
        expected = schedule.after(reached)
        if tick.next_at > expected:
            return Begin(expected)
    return Wait(due)


# --- overdue ---------------------------------------------------------------------------------------------


def overdue_from(schedule: Schedule, *, since: datetime, finished_at: datetime | None) -> datetime:
    """When it is overdue unless it is finished before: at the second tick after it was finished last."""
    counted = since if finished_at is None else max(since, finished_at)
    return schedule.due(schedule.after(schedule.after(counted)))


@dataclass(frozen=True, slots=True)
class Timing:
    """How one schedule stands, for people."""

    what: What
    cron: str
    zone: str
    finished_at: datetime | None  # when it was last finished, by whomever
    next_at: datetime | None  # jitter included; one that is past is about to begin
    overdue_since: datetime | None = None
    trouble: str | None = None  # why the schedule cannot be kept on this machine

    def shape(self) -> dict[str, Any]:
        return {
            "what": self.what.value,
            "cron": self.cron,
            "timezone": self.zone,
            "finished_at": _text(self.finished_at),
            "next_at": _text(self.next_at),
            "overdue_since": _text(self.overdue_since),
            "trouble": self.trouble,
        }


@dataclass(frozen=True, slots=True)
class Clock:
    """How a project stands with the clock. `silent_since`: no scheduler has run since then, though one is needed."""

    timings: Mapping[What, Timing] = field(default_factory=dict)
    swept_at: datetime | None = None  # when the app was last looked at, schedule or not
    silent_since: datetime | None = None
    never_ran: bool = False  # no scheduler ever ran on this database, though one is needed

    @property
    def alarms(self) -> tuple[str, ...]:
        """One sentence each; none where all is well."""
        said = []
        if self.never_ran:
            said.append("No scheduler has ever run: start `gardener serve`, or nothing is done by the clock.")
        elif self.silent_since:
            said.append(f"No scheduler has run since {at(self.silent_since)}: see that `gardener serve` runs.")
        for timing in self.timings.values():
            if timing.trouble:
                said.append(f"The {timing.what.value} schedule cannot be kept: {timing.trouble}.")
            elif timing.overdue_since:
                before = f"last finished {at(timing.finished_at)}" if timing.finished_at else "never finished"
                said.append(f"The {timing.what.value} is overdue since {at(timing.overdue_since)}: {before}.")
        return tuple(said)

    def shape(self) -> dict[str, Any]:
        """As the commands print it."""
        return {
            "swept_at": _text(self.swept_at),
            "schedules": [one.shape() for one in self.timings.values()],
            "alarms": list(self.alarms),
        }


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
