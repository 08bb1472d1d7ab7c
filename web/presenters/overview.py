"""Rows of lists and the fields of the settings page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gardener.jobs import Job, JobState
from gardener.notices import Delivery, Event, Target
from gardener.overviews import AtRiskLine, ProjectLine, RunLine, TestedLine
from gardener.projects import Mode, Project
from gardener.proposals import Proposal
from gardener.repairs import GARDENER, Repair
from gardener.runs import RunStatus, Trigger
from gardener.schedules import Clock
from gardener.sweeps import Sweep
from gardener.triage import Issue
from web.presenters import progress, queue, words
from web.presenters.words import Badge, cut


@dataclass(frozen=True, slots=True)
class ProjectRow:
    id: int
    name: str
    base_url: str
    mode: Badge
    tests: int
    staged: int
    to_review: int
    issues: int
    at_risk: int
    swept_at: datetime | None
    sweep: Badge | None


def project_row(line: ProjectLine) -> ProjectRow:
    counts, swept = line.counts, line.last_sweep
    return ProjectRow(
        line.project.id,
        line.project.name,
        line.project.base_url,
        words.mode_badge(line.project.mode),
        counts.tests,
        counts.staged,
        counts.to_review,
        counts.issues,
        counts.at_risk,
        (swept.ended_at or swept.started_at) if swept else None,
        words.SWEEPS[swept.status] if swept else None,
    )


@dataclass(frozen=True, slots=True)
class SweepRow:
    id: int
    status: Badge
    preview: bool
    base_url: str
    started_at: datetime
    ended_at: datetime | None
    pages: int
    changes: int
    at_risk: int
    staged: int
    left: tuple[str, ...]  # tests left for the next sweep
    read_only: str  # why, where it is the hour that left them
    findings: tuple[str, ...]


def sweep_row(sweep: Sweep) -> SweepRow:
    summary = sweep.summary or {}
    return SweepRow(
        sweep.id,
        words.SWEEPS[sweep.status],
        sweep.preview,
        sweep.base_url,
        sweep.started_at,
        sweep.ended_at,
        sweep.pages,
        len(sweep.changes),
        len(summary.get("at_risk", ())),
        sum(one.get("outcome") == "staged" for one in summary.get("dry_runs", ())),
        tuple(cut(str(one), 200) for one in summary.get("left_for_next", ())),
        queue.sentence(cut(str(summary.get("read_only") or ""), 300)),
        tuple(cut(str(one.get("reason") or ""), 400) for one in summary.get("findings", ())),
    )


@dataclass(frozen=True, slots=True)
class NewsRow:
    id: int
    badge: Badge
    subject: str
    at: datetime
    link: str


def news_row(event: Event) -> NewsRow:
    payload = event.payload
    link = ""
    for key, path in (
        ("repair", "/repairs/"),
        ("proposal", "/proposals/"),
        ("sweep", "/sweeps/"),
        ("issue", "/issues/"),
    ):
        if isinstance(payload.get(key), int):
            link = f"{path}{payload[key]}"
            break
    return NewsRow(event.id, words.news_badge(event.kind), cut(event.subject, 300), event.at, link)


@dataclass(frozen=True, slots=True)
class TargetRow:
    """Its address is a secret: only what may be shown of it is here."""

    id: int
    shown: str
    kinds: str
    created_by: str
    created_at: datetime


def target_row(target: Target) -> TargetRow:
    kinds = ", ".join(kind.value.replace("_", " ") for kind in target.kinds)
    return TargetRow(target.id, cut(target.shown, 120), kinds, target.created_by, target.created_at)


@dataclass(frozen=True, slots=True)
class DeadRow:
    """News that was given up on."""

    id: int
    subject: str
    shown: str
    tries: int
    error: str


def dead_row(delivery: Delivery) -> DeadRow:
    return DeadRow(
        delivery.id,
        cut(delivery.event.subject, 200),
        cut(delivery.target.shown, 120),
        delivery.tries,
        cut(delivery.error or "", 200),
    )


@dataclass(frozen=True, slots=True)
class WaitingRow:
    id: int
    test_name: str
    summary: str
    proven: bool
    staged_at: datetime


def waiting_row(proposal: Proposal) -> WaitingRow:
    return WaitingRow(
        proposal.id, proposal.test_name, queue.summary(proposal.operations), proposal.proven, proposal.created_at
    )


@dataclass(frozen=True, slots=True)
class IssueRow:
    id: int
    kind: Badge
    verdict: str
    tests: tuple[str, ...]
    reason: str
    held: tuple[queue.Held, ...]
    created_at: datetime
    restated: int
    closed_at: datetime | None
    run: int | None
    awaits: bool  # an answer


def issue_row(issue: Issue) -> IssueRow:
    return IssueRow(
        issue.id,
        words.ISSUES[issue.kind],
        words.verdict(issue.verdict),
        issue.tests,
        queue.sentence(issue.reason),
        queue.held(issue.refusals),
        issue.created_at,
        issue.restated,
        issue.closed_at,
        issue.run,
        issue.story is not None and issue.answer is None and issue.closed_at is None,
    )


@dataclass(frozen=True, slots=True)
class RepairRow:
    id: int
    test: int
    test_name: str
    summary: str
    how: str
    author: str
    is_unattended: bool
    state: Badge
    may_review: bool
    created_at: datetime


def repair_row(repair: Repair) -> RepairRow:
    unattended = repair.author == GARDENER
    if repair.reverted_at:
        state = Badge("reverted", "warn", f"by {repair.reverted_by}")
    elif repair.reviewed_at:
        state = Badge("reviewed", "good", f"by {repair.reviewed_by}")
    elif unattended:
        state = Badge("to review", "calm", "Written unattended; nobody has looked at it yet.")
    else:
        state = Badge("approved", "good", f"by {repair.author}")
    return RepairRow(
        repair.id,
        repair.test,
        repair.test_name,
        queue.summary(repair.operations),
        words.strategy(repair.strategy),
        words.author(repair.author),
        unattended,
        state,
        unattended and not repair.reverted_at and not repair.reviewed_at,
        repair.created_at,
    )


@dataclass(frozen=True, slots=True)
class RunRow:
    id: int
    test: int | None
    test_name: str
    version: int | None
    trigger: str
    status: Badge
    failed_step: str
    error: str
    ended_at: datetime
    took: str


def run_row(run: RunLine) -> RunRow:
    return RunRow(
        run.id,
        run.test,
        run.test_name,
        run.version,
        words.TRIGGERS[run.trigger],
        words.run_badge(run.status),
        run.failed_step or "",
        cut(run.error or "", 300),
        run.ended_at,
        words.took(run.started_at, run.ended_at) if run.trigger != Trigger.PROOF else "",
    )


@dataclass(frozen=True, slots=True)
class TestedRow:
    id: int
    name: str
    status: str
    in_service: bool
    version: int
    tags: tuple[str, ...]
    flagged: bool
    run: RunRow | None
    is_red: bool
    proposal: int | None
    at_risk_since: datetime | None


def tested_row(line: TestedLine) -> TestedRow:
    last = line.last_run
    return TestedRow(
        line.id,
        line.name,
        line.status.value,
        line.status.value == "active",
        line.version,
        line.tags,
        line.flagged,
        run_row(last) if last else None,
        last is not None and last.status == RunStatus.RED,
        line.proposal,
        line.at_risk_since,
    )


@dataclass(frozen=True, slots=True)
class AtRiskRow:
    test: int
    test_name: str
    since: datetime
    triggers: tuple[queue.Trigger, ...]
    more: int
    proposal: int | None


def at_risk_row(line: AtRiskLine) -> AtRiskRow:
    found = queue.triggers(line.triggers)
    return AtRiskRow(line.test, line.test_name, line.since, found[:3], max(0, len(found) - 3), line.proposal)


@dataclass(frozen=True, slots=True)
class JobRow:
    id: int
    title: str
    state: Badge
    works: bool
    created_at: datetime
    until: datetime | None  # it was put off, and nobody takes it up before


def job_row(job: Job, now: datetime) -> JobRow:
    return JobRow(
        job.id,
        progress.title(job),
        progress.STATES[job.state],
        job.state == JobState.RUNNING,
        job.created_at,
        progress.waits_until(job, now),
    )


# --- the clock -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClockRow:
    """What is done by the clock, and what is wrong with that."""

    alarms: tuple[str, ...]
    times: tuple[tuple[str, datetime], ...]  # what comes next, and when


def clock_row(clock: Clock) -> ClockRow:
    times = tuple((f"Next {one.what.value}", one.next_at) for one in clock.timings.values() if one.next_at)
    return ClockRow(clock.alarms, times)


# --- settings --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModeLine:
    word: str
    what: str
    is_now: bool


MODE_HOW: Final = {
    Mode.OFF: "neither box is ticked",
    Mode.PROPOSE: "only “Stage repairs after scheduled sweeps” is ticked",
    Mode.APPLY: "“Repair failed runs automatically” is ticked",
}


def modes(now: Mode) -> tuple[ModeLine, ...]:
    return tuple(ModeLine(words.MODES[one][0], f"{words.MODES[one][1]} ({MODE_HOW[one]})", one == now) for one in Mode)


def first_commands(project: Project) -> tuple[tuple[str, str], ...]:
    """What to type next in a project that knows nothing yet."""
    name = f'"{project.name}"' if not project.name.isalnum() else project.name
    return (
        (f"gardener import {name} tests/", "take in the tests you keep"),
        (f"gardener run {name}", "run them green once: that is how their elements and pages are known"),
        (f"gardener sweep {name}", "look at the app: the baseline that later sweeps compare with"),
    )
