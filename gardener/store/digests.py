"""What happened to a project in a span of time, counted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from gardener.cases import CaseStatus
from gardener.digests import Digest
from gardener.proposals import ProposalStatus
from gardener.repairs import GARDENER
from gardener.store.rows import CaseRow, IssueRow, ProposalRow, RepairRow, SweepRow
from gardener.store.transaction import Transaction
from gardener.sweeps import SweepStatus


async def count(tx: Transaction, project: int, *, since: datetime, until: datetime) -> Digest:
    """What happened from `since` (included) to `until`; what waits and is left over is as of now."""

    async def number(row: Any, moment: Any, *where: Any) -> int:
        statement = select(func.count()).select_from(row).where(row.project == project, *where)
        return int(await tx.scalar(statement.where(moment >= since, moment < until)))

    async def closed(*where: Any) -> int:
        return await number(CaseRow, CaseRow.closed_at, *where)

    exhausted = CaseRow.status == CaseStatus.EXHAUSTED
    waiting = await tx.one(
        select(func.count().label("number"), func.min(ProposalRow.created_at).label("oldest_at")).where(
            ProposalRow.project == project, ProposalRow.status == ProposalStatus.PROPOSED
        )
    )
    last = await tx.first(
        select(SweepRow.summary)
        .where(
            SweepRow.project == project,
            SweepRow.preview.is_(False),
            SweepRow.status.in_([SweepStatus.FINISHED.value, SweepStatus.ENVIRONMENT.value]),
        )
        .order_by(SweepRow.id.desc())
        .limit(1)
    )
    left = (last.summary or {}).get("left_for_next", ()) if last else ()
    opened = select(func.count()).select_from(IssueRow).where(IssueRow.project == project, IssueRow.closed_at.is_(None))
    return Digest(
        since=since,
        until=until,
        staged=await number(ProposalRow, ProposalRow.created_at),
        applied=await number(RepairRow, RepairRow.created_at, RepairRow.author == GARDENER),
        approved=await number(RepairRow, RepairRow.created_at, RepairRow.author != GARDENER),
        dismissed=await number(ProposalRow, ProposalRow.decided_at, ProposalRow.status == ProposalStatus.DISMISSED),
        reverted=await number(RepairRow, RepairRow.reverted_at),
        refused=await closed(exhausted, CaseRow.verdict == "fixable"),
        exhausted=await closed(exhausted, CaseRow.verdict != "fixable"),
        defects=await closed(CaseRow.status == CaseStatus.NOT_DRIFT, CaseRow.verdict == "product_defect"),
        sweeps=await number(SweepRow, SweepRow.ended_at, SweepRow.preview.is_(False)),
        waiting=int(waiting.number),
        oldest_at=waiting.oldest_at,
        left_for_next=tuple(str(one) for one in left),
        open_issues=int(await tx.scalar(opened)),
    )
