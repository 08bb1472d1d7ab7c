"""Lists as pages show them: a slice at a time, and always the same few queries however long they are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, case, exists, func, select

from gardener.jobs import Job, JobState
from gardener.notices import Event
from gardener.overviews import AtRiskLine, Cause, Counts, ProjectLine, RunLine, Slice, SweepLine, TestedLine
from gardener.proposals import Proposal, ProposalStatus
from gardener.repairs import GARDENER, Repair
from gardener.runs import RunStatus, Trigger
from gardener.saved_tests import SavedTest, Status
from gardener.store import events, jobs, projects, proposals, repairs, saved_tests, sweeps
from gardener.store.rows import (
    AtRiskRow,
    EventRow,
    IssueRow,
    JobRow,
    ProjectRow,
    ProposalRow,
    RepairRow,
    RunRow,
    SavedTestRow,
    SweepRow,
)
from gardener.store.transaction import Transaction
from gardener.sweeps import Sweep, SweepStatus

# Runs that say how a test stands.
TELLING: Final = tuple(one.value for one in Trigger if one not in (Trigger.PROOF, Trigger.CONTROL, Trigger.PROBE))
REPAIR_STATES: Final = ("to_review", "reviewed", "reverted")


# --- counts --------------------------------------------------------------------------------------------


async def counts(tx: Transaction, project: int) -> Counts:
    return (await _counts(tx, project)).get(project, Counts(0, 0, 0, 0, 0))


async def project_lines(tx: Transaction) -> tuple[ProjectLine, ...]:
    """All projects by name."""
    found = await projects.listed(tx)
    counted = await _counts(tx, None)
    newest = select(func.max(SweepRow.id)).where(~SweepRow.preview).group_by(SweepRow.project)
    statement = select(SweepRow.project, *_SWEEP_COLUMNS).where(SweepRow.id.in_(newest))
    swept = {row.project: _sweep_line(row) for row in await tx.rows(statement)}
    none = Counts(0, 0, 0, 0, 0)
    return tuple(ProjectLine(one, counted.get(one.id, none), swept.get(one.id)) for one in found)


async def _counts(tx: Transaction, project: int | None) -> dict[int, Counts]:
    """One statement: a scalar for each number, so that none is multiplied by another."""

    def number(*where: Any) -> Any:
        return select(func.count()).where(*where).correlate(ProjectRow).scalar_subquery()

    active = (SavedTestRow.project == ProjectRow.id, SavedTestRow.status == Status.ACTIVE)
    statement = select(
        ProjectRow.id,
        number(ProposalRow.project == ProjectRow.id, ProposalRow.status == ProposalStatus.PROPOSED).label("staged"),
        number(RepairRow.project == ProjectRow.id, *_to_review()).label("to_review"),
        number(IssueRow.project == ProjectRow.id, IssueRow.closed_at.is_(None)).label("issues"),
        number(*active).label("tests"),
        number(*active, SavedTestRow.id == AtRiskRow.test).label("at_risk"),
    )
    if project is not None:
        statement = statement.where(ProjectRow.id == project)
    return {
        row.id: Counts(row.staged, row.to_review, row.issues, row.tests, row.at_risk)
        for row in await tx.rows(statement)
    }


# --- the queue -----------------------------------------------------------------------------------------


async def queue(tx: Transaction, project: int, *, limit: int, offset: int = 0) -> Slice[Proposal]:
    """Open proposals, those of the same cause side by side, the newest cause first."""
    is_open = (ProposalRow.project == project, ProposalRow.status == ProposalStatus.PROPOSED)
    newest = func.max(ProposalRow.id).over(partition_by=ProposalRow.cause_key)
    statement = proposals.selected().where(*is_open).order_by(newest.desc(), ProposalRow.id.desc())
    rows = await tx.rows(statement.limit(limit).offset(offset))
    return Slice(tuple(map(proposals.from_row, rows)), await _count(tx, ProposalRow, *is_open))


async def causes(tx: Transaction, project: int, keys: Collection[str]) -> dict[str, Cause]:
    """How many open proposals there are of each of these causes."""
    statement = (
        select(
            ProposalRow.cause_key,
            func.count().label("proposals"),
            func.sum(case((ProposalRow.proven, 1), else_=0)).label("proven"),
        )
        .where(
            ProposalRow.project == project,
            ProposalRow.status == ProposalStatus.PROPOSED,
            ProposalRow.cause_key.in_(list(keys)),
        )
        .group_by(ProposalRow.cause_key)
    )
    return {row.cause_key: Cause(row.cause_key, row.proposals, int(row.proven)) for row in await tx.rows(statement)}


async def decided(
    tx: Transaction, project: int, statuses: Collection[ProposalStatus], *, limit: int, offset: int = 0
) -> Slice[Proposal]:
    """Proposals that no longer wait, what was decided last first."""
    where = (ProposalRow.project == project, ProposalRow.status.in_([one.value for one in statuses]))
    order = (ProposalRow.decided_at.desc(), ProposalRow.id.desc())
    rows = await tx.rows(proposals.selected().where(*where).order_by(*order).limit(limit).offset(offset))
    return Slice(tuple(map(proposals.from_row, rows)), await _count(tx, ProposalRow, *where))


async def proposal_counts(tx: Transaction, project: int) -> dict[ProposalStatus, int]:
    statement = select(ProposalRow.status, func.count().label("number")).where(ProposalRow.project == project)
    found = {ProposalStatus(row.status): row.number for row in await tx.rows(statement.group_by(ProposalRow.status))}
    return {one: found.get(one, 0) for one in ProposalStatus}


# --- tests and runs --------------------------------------------------------------------------------------


async def saved(
    tx: Transaction,
    project: int,
    *,
    limit: int,
    offset: int = 0,
    search: str = "",
    status: Status | None = None,
    only: str = "",
) -> Slice[TestedLine]:
    """By name. `only` is "" or one of: red (the newest run), flagged (repaired unattended), at_risk."""
    where: list[ColumnElement[bool]] = [SavedTestRow.project == project]
    if search:
        where.append(func.lower(SavedTestRow.name).contains(search.lower(), autoescape=True))
    if status is not None:
        where.append(SavedTestRow.status == status)
    match only:
        case "red":
            last = select(func.max(RunRow.id)).where(RunRow.test == SavedTestRow.id, RunRow.trigger.in_(TELLING))
            newest = last.correlate(SavedTestRow).scalar_subquery()
            where.append(exists().where(RunRow.id == newest, RunRow.status == RunStatus.RED))
        case "flagged":
            where.append(SavedTestRow.flagged.is_(True))
        case "at_risk":
            where.append(SavedTestRow.id.in_(select(AtRiskRow.test).correlate(None)))
    columns = (SavedTestRow.id, SavedTestRow.name, SavedTestRow.status, SavedTestRow.version, SavedTestRow.tags)
    statement = (
        select(*columns, SavedTestRow.flagged, AtRiskRow.since, ProposalRow.id.label("proposal"))
        .join(AtRiskRow, AtRiskRow.test == SavedTestRow.id, isouter=True)
        .join(ProposalRow, _is_open_for(SavedTestRow.id), isouter=True)
        .where(*where)
        .order_by(SavedTestRow.name)
        .limit(limit)
        .offset(offset)
    )
    rows = await tx.rows(statement)
    last_runs = await _last_runs(tx, [row.id for row in rows])
    lines = tuple(_test_line(row, last_runs.get(row.id)) for row in rows)
    return Slice(lines, await _count(tx, SavedTestRow, *where))


async def by_numbers(tx: Transaction, numbers: Collection[int]) -> dict[int, SavedTest]:
    statement = select(SavedTestRow).where(SavedTestRow.id.in_(list(set(numbers))))
    return {row.id: saved_tests.from_row(row) for row in await tx.rows(statement)}


async def names_in_service(tx: Transaction, project: int, *, limit: int) -> tuple[str, ...]:
    where = (SavedTestRow.project == project, SavedTestRow.status == Status.ACTIVE)
    statement = select(SavedTestRow.name).where(*where).order_by(SavedTestRow.name).limit(limit)
    return tuple(row.name for row in await tx.rows(statement))


async def numbers_of(tx: Transaction, project: int, names: Collection[str]) -> dict[str, int]:
    """The tests of those names; a name that there is no test of is left out."""
    where = (SavedTestRow.project == project, SavedTestRow.name.in_(list(names)))
    return {row.name: row.id for row in await tx.rows(select(SavedTestRow.id, SavedTestRow.name).where(*where))}


async def runs(
    tx: Transaction, project: int, *, limit: int, offset: int = 0, test: int | None = None
) -> Slice[RunLine]:
    """Newest first, all kinds."""
    where = [RunRow.project == project, *([RunRow.test == test] if test is not None else [])]
    statement = select(*_RUN_COLUMNS).where(*where).order_by(RunRow.id.desc()).limit(limit).offset(offset)
    return Slice(tuple(map(_run_line, await tx.rows(statement))), await _count(tx, RunRow, *where))


async def _last_runs(tx: Transaction, numbers: Collection[int]) -> dict[int, RunLine]:
    newest = select(func.max(RunRow.id)).where(RunRow.test.in_(numbers), RunRow.trigger.in_(TELLING))
    statement = select(*_RUN_COLUMNS).where(RunRow.id.in_(newest.group_by(RunRow.test)))
    return {row.test: _run_line(row) for row in await tx.rows(statement)}


async def at_risk(tx: Transaction, project: int, *, limit: int, offset: int = 0) -> Slice[AtRiskLine]:
    """Tests in service with touched locators, the longest waiting first."""
    where = (SavedTestRow.project == project, SavedTestRow.status == Status.ACTIVE)
    statement = (
        select(AtRiskRow, SavedTestRow.name, ProposalRow.id.label("proposal"))
        .join(SavedTestRow, SavedTestRow.id == AtRiskRow.test)
        .join(ProposalRow, _is_open_for(AtRiskRow.test), isouter=True)
        .where(*where)
        .order_by(AtRiskRow.waiting_since, AtRiskRow.test)
        .limit(limit)
        .offset(offset)
    )
    lines = tuple(
        AtRiskLine(row.test, row.name, row.since, tuple(row.triggers), row.proposal) for row in await tx.rows(statement)
    )
    total = await tx.scalar(
        select(func.count()).select_from(AtRiskRow).join(SavedTestRow, SavedTestRow.id == AtRiskRow.test).where(*where)
    )
    return Slice(lines, int(total))


# --- history, news, sweeps -------------------------------------------------------------------------------


async def history(
    tx: Transaction,
    project: int,
    *,
    limit: int,
    offset: int = 0,
    test: int | None = None,
    author: str = "",
    strategy: str = "",
    state: str = "",
) -> Slice[Repair]:
    """What was written, newest first. `author` is a name, `state` "" or one of REPAIR_STATES."""
    where: list[ColumnElement[bool]] = [RepairRow.project == project]
    if test is not None:
        where.append(RepairRow.test == test)
    if author:
        where.append(RepairRow.author == author)
    if strategy:
        where.append(RepairRow.strategy == strategy)
    match state:
        case "to_review":
            where += _to_review()
        case "reviewed":
            where.append(RepairRow.reviewed_at.is_not(None))
        case "reverted":
            where.append(RepairRow.reverted_at.is_not(None))
    statement = repairs.selected().where(*where).order_by(RepairRow.id.desc()).limit(limit).offset(offset)
    return Slice(tuple(map(repairs.from_row, await tx.rows(statement))), await _count(tx, RepairRow, *where))


async def authors_and_strategies(tx: Transaction, project: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the history can be narrowed to."""
    statement = select(RepairRow.author, RepairRow.strategy).where(RepairRow.project == project).distinct()
    rows = await tx.rows(statement)
    return tuple(sorted({row.author for row in rows})), tuple(sorted({row.strategy for row in rows}))


async def news(tx: Transaction, project: int, *, limit: int, offset: int = 0, kind: str = "") -> Slice[Event]:
    """Newest first."""
    where = [EventRow.project == project, *([EventRow.kind == kind] if kind else [])]
    statement = select(EventRow).where(*where).order_by(EventRow.id.desc()).limit(limit).offset(offset)
    return Slice(tuple(map(events.from_row, await tx.rows(statement))), await _count(tx, EventRow, *where))


async def sweep_lines(tx: Transaction, project: int, *, limit: int, offset: int = 0) -> Slice[Sweep]:
    """Newest first, with what they found."""
    statement = select(SweepRow).where(SweepRow.project == project).order_by(SweepRow.id.desc())
    rows = await tx.rows(statement.limit(limit).offset(offset))
    return Slice(tuple(map(sweeps.from_row, rows)), await _count(tx, SweepRow, SweepRow.project == project))


async def jobs_at_work(tx: Transaction, project: int, *, limit: int = 10) -> tuple[Job, ...]:
    """What is worked on or waits, oldest first."""
    states = (JobState.QUEUED.value, JobState.RUNNING.value)
    statement = select(JobRow).where(JobRow.project == project, JobRow.state.in_(states)).order_by(JobRow.id)
    return tuple(map(jobs.from_row, await tx.rows(statement.limit(limit))))


# --- shared ----------------------------------------------------------------------------------------------

_RUN_COLUMNS: Final = (
    RunRow.id,
    RunRow.test,
    RunRow.test_name,
    RunRow.version,
    RunRow.trigger,
    RunRow.status,
    RunRow.started_at,
    RunRow.ended_at,
    RunRow.failed_step,
    RunRow.error,
)
_SWEEP_COLUMNS: Final = (
    SweepRow.id,
    SweepRow.status,
    SweepRow.preview,
    SweepRow.base_url,
    SweepRow.started_at,
    SweepRow.ended_at,
    SweepRow.pages,
)


def _to_review() -> tuple[ColumnElement[bool], ...]:
    return RepairRow.author == GARDENER, RepairRow.reviewed_at.is_(None), RepairRow.reverted_at.is_(None)


def _is_open_for(test: Any) -> ColumnElement[bool]:
    return and_(ProposalRow.test == test, ProposalRow.status == ProposalStatus.PROPOSED)


async def _count(tx: Transaction, table: Any, *where: Any) -> int:
    return int(await tx.scalar(select(func.count()).select_from(table).where(*where)))


def _run_line(row: Row[Any]) -> RunLine:
    return RunLine(
        row.id,
        row.test,
        row.test_name,
        row.version,
        Trigger(row.trigger),
        RunStatus(row.status),
        row.started_at,
        row.ended_at,
        row.failed_step,
        row.error,
    )


def _sweep_line(row: Row[Any]) -> SweepLine:
    return SweepLine(
        row.id, SweepStatus(row.status), row.preview, row.base_url, row.started_at, row.ended_at, row.pages
    )


def _test_line(row: Row[Any], last: RunLine | None) -> TestedLine:
    return TestedLine(
        row.id, row.name, Status(row.status), row.version, tuple(row.tags), row.flagged, last, row.proposal, row.since
    )
