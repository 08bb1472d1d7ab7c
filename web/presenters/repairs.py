"""A repair -> the page to review it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gardener.repairs import GARDENER, Repair, revert_warning
from gardener.runs import Run
from web.presenters import diffs, overview, queue, words
from web.presenters.words import Badge, cut


@dataclass(frozen=True, slots=True)
class RepairPage:
    id: int
    test: int
    test_name: str
    version_before: int
    version_after: int
    version_now: int
    how: str
    author: str
    is_unattended: bool
    state: Badge
    summary: str
    rows: tuple[diffs.Row, ...]
    reason: str
    held: tuple[queue.Held, ...]
    failed_step: str
    error: str
    run: int | None
    proposal: int | None
    created_at: datetime
    reviewed_at: datetime | None
    reviewed_by: str
    reverted_at: datetime | None
    reverted_by: str
    may_review: bool
    why_not: str  # why it cannot be reverted; "" if it can
    warning: str  # what a person has to know before
    shared: queue.Shared | None  # of a change that other tests share


def page(repair: Repair, failed: Run | None, *, version_now: int, why_not: str | None) -> RepairPage:
    row = overview.repair_row(repair)
    return RepairPage(
        id=repair.id,
        test=repair.test,
        test_name=repair.test_name,
        version_before=repair.version_before,
        version_after=repair.version_after,
        version_now=version_now,
        how=row.how,
        author=words.author(repair.author),
        is_unattended=repair.author == GARDENER,
        state=row.state,
        summary=row.summary,
        rows=diffs.diff(repair.operations, repair.steps_before),
        reason=queue.sentence(repair.reason),
        held=queue.held(repair.refusals),
        failed_step=(failed.failed_step if failed else None) or "",
        error=cut((failed.error if failed else None) or "", 600),
        run=repair.run,
        proposal=repair.proposal,
        created_at=repair.created_at,
        reviewed_at=repair.reviewed_at,
        reviewed_by=repair.reviewed_by or "",
        reverted_at=repair.reverted_at,
        reverted_by=repair.reverted_by or "",
        may_review=row.may_review,
        why_not=why_not or "",
        warning=revert_warning(failed.failed_step if failed else None, repair.sharing),
        shared=queue.shared_of(repair.sharing),
    )
