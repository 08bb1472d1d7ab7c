"""What a person has to look at: one open issue a cause, with every test it broke under it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, exists, func, select, text, update
from sqlalchemy.orm import aliased

from gardener.errors import NotFound
from gardener.store.columns import digest
from gardener.store.plain import merged
from gardener.store.rows import IssueRow, IssueTestRow, SavedTestRow
from gardener.store.transaction import Transaction
from gardener.triage import Issue, IssueKind

BLIND: Final = "blind:"  # begins the cause of an alarm of a control run, which a green run does not end


async def file(
    tx: Transaction,
    *,
    project: int,
    kind: IssueKind,
    verdict: str,
    cause_key: str,
    tests: Collection[int],
    reason: str,
    now: datetime,
    refusals: Sequence[Mapping[str, Any]] = (),
    run: int | None = None,
    story: Mapping[str, Any] | None = None,
) -> Issue:
    """A new issue, or the open one of the same cause: restated, the tests and refusals added, the reason the newest.

    A new one has `restated` 0. A new story takes the place of an older one, and of the answer to that.
    """
    values = {
        "project": project,
        "kind": kind,
        "verdict": verdict,
        "cause_key": cause_key,
        "cause_hash": digest(cause_key),
        "reason": reason,
        "refusals": [],
        "created_at": now,
        "restated": 0,
        "run": run,
        "story": dict(story) if story is not None else None,
    }
    # One statement: of two who file the same cause at once, one opens the issue and the other restates it.
    newest: dict[str, Any] = {"verdict": verdict, "reason": reason} | ({} if run is None else {"run": run})
    if story is not None:
        newest |= {"kind": kind, "story": dict(story), "answer": None, "answered_at": None, "answered_by": None}
    statement = (
        tx.insert(IssueRow)
        .values(**values)
        .on_conflict_do_update(
            index_elements=["project", "cause_hash"],
            index_where=text("closed_at IS NULL"),
            set_=newest | {"restated": IssueRow.restated + 1},
        )
        .returning(IssueRow.id, IssueRow.refusals)
    )
    row = await tx.one(statement)
    if refusals:
        both = merged(row.refusals, refusals)
        await tx.run(update(IssueRow).where(IssueRow.id == row.id).values(refusals=both))
    await _put_under(tx, row.id, tests)
    return await get(tx, row.id)


async def get(tx: Transaction, issue: int) -> Issue:
    found = await _issues(tx, IssueRow.id == issue)
    if not found:
        raise NotFound(f"There is no issue {issue}.")
    return found[0]


async def listed(
    tx: Transaction, project: int, *, closed: bool = False, limit: int | None = None, offset: int = 0
) -> tuple[Issue, ...]:
    """The open ones, or with `closed` those that were closed; newest first."""
    where = _state(project, closed)
    if limit is not None:
        numbers = select(IssueRow.id).where(*where).order_by(IssueRow.id.desc()).limit(limit).offset(offset)
        where = (IssueRow.id.in_([row.id for row in await tx.rows(numbers)]),)
    return await _issues(tx, *where)


async def count(tx: Transaction, project: int, *, closed: bool = False) -> int:
    return int(await tx.scalar(select(func.count()).select_from(IssueRow).where(*_state(project, closed))))


async def open_of(tx: Transaction, test: int) -> tuple[Issue, ...]:
    """The open issues that the test stands under; newest first."""
    under = aliased(IssueTestRow)
    numbers = select(under.issue).where(under.test == test, under.cleared_at.is_(None))
    return await _issues(tx, IssueRow.closed_at.is_(None), IssueRow.id.in_(numbers))


async def answered(tx: Transaction, issue: int, *, answer: str, by: str, now: datetime) -> Issue:
    """A person's word on an issue; the newest counts."""
    values = {"answer": answer, "answered_at": now, "answered_by": by}
    await tx.run(update(IssueRow).where(IssueRow.id == issue).values(**values))
    return await get(tx, issue)


async def close(tx: Transaction, issue: int, *, now: datetime) -> Issue:
    """By hand. One that is closed stays as it is."""
    where = (IssueRow.id == issue, IssueRow.closed_at.is_(None))
    await tx.run(update(IssueRow).where(*where).values(closed_at=now))
    return await get(tx, issue)


async def close_for_test(tx: Transaction, test: int, *, now: datetime) -> tuple[int, ...]:
    """The test is green again or repaired: it is taken from under its open issues, and those without tests are closed.

    Returns the numbers of the closed. One that never had a test under it is closed by hand, or by its cause going.
    """
    under = select(IssueTestRow.issue).where(IssueTestRow.test == test, IssueTestRow.cleared_at.is_(None))
    rows = await tx.rows(
        select(IssueRow.id)
        .where(IssueRow.closed_at.is_(None), IssueRow.id.in_(under), ~IssueRow.cause_key.startswith(BLIND))
        .with_for_update()
    )
    touched = [row.id for row in rows]
    where = (IssueTestRow.test == test, IssueTestRow.issue.in_(touched))
    await tx.run(update(IssueTestRow).where(*where).values(cleared_at=now))
    left = exists().where(IssueTestRow.issue == IssueRow.id, IssueTestRow.cleared_at.is_(None))
    statement = update(IssueRow).where(IssueRow.id.in_(touched), ~left).values(closed_at=now).returning(IssueRow.id)
    return tuple(sorted(row.id for row in await tx.rows(statement)))


async def close_cause(tx: Transaction, project: int, cause_key: str, *, now: datetime) -> int | None:
    """The cause itself is gone, such as an app that answers again. The number of the issue, if one was open."""
    where = (IssueRow.project == project, IssueRow.cause_hash == digest(cause_key), IssueRow.closed_at.is_(None))
    row = await tx.first(update(IssueRow).where(*where).values(closed_at=now).returning(IssueRow.id))
    return int(row.id) if row else None


def _state(project: int, closed: bool) -> tuple[Any, ...]:
    return IssueRow.project == project, IssueRow.closed_at.is_not(None) if closed else IssueRow.closed_at.is_(None)


async def _put_under(tx: Transaction, issue: int, tests: Collection[int]) -> None:
    for test in sorted(set(tests)):
        statement = tx.insert(IssueTestRow).values(issue=issue, test=test)
        await tx.run(statement.on_conflict_do_update(index_elements=["issue", "test"], set_={"cleared_at": None}))


async def _issues(tx: Transaction, *where: Any) -> tuple[Issue, ...]:
    rows = await tx.rows(select(IssueRow).where(*where).order_by(IssueRow.id.desc()))
    names = await _names(tx, *where)
    return tuple(_issue(row, names.get(row.id, [])) for row in rows)


async def _names(tx: Transaction, *where: Any) -> dict[int, list[str]]:
    """The tests under each issue; under a closed one those that it had, since all of them were taken from it."""
    shown = (IssueTestRow.cleared_at.is_(None)) | (IssueRow.closed_at.is_not(None))
    statement = (
        select(IssueTestRow.issue, SavedTestRow.name)
        .join(IssueRow, IssueRow.id == IssueTestRow.issue)
        .join(SavedTestRow, SavedTestRow.id == IssueTestRow.test)
        .where(shown, *where)
        .order_by(SavedTestRow.name)
    )
    names: dict[int, list[str]] = {}
    for row in await tx.rows(statement):
        names.setdefault(row.issue, []).append(row.name)
    return names


def _issue(row: Row[Any], tests: list[str]) -> Issue:
    return Issue(
        id=row.id,
        project=row.project,
        kind=IssueKind(row.kind),
        verdict=row.verdict,
        cause_key=row.cause_key,
        tests=tuple(tests),
        reason=row.reason,
        refusals=tuple(row.refusals),
        created_at=row.created_at,
        restated=row.restated,
        closed_at=row.closed_at,
        run=row.run,
        story=row.story,
        answer=row.answer,
        answered_at=row.answered_at,
        answered_by=row.answered_by,
    )
