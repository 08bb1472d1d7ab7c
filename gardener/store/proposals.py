"""The queue: fixes that wait for a person, and what became of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Row, Select, delete, func, insert, select, update

from gardener.errors import Conflict, NotFound
from gardener.notices import EventKind
from gardener.proposals import Proposal, ProposalStatus, cause_key, essence, fix_key
from gardener.sharing import Sharing
from gardener.sharing import read as read_sharing
from gardener.store import events
from gardener.store.columns import clean_json
from gardener.store.plain import merged
from gardener.store.rows import DeclinedRow, ProposalRow, SavedTestRow
from gardener.store.transaction import Transaction

Closed: TypeAlias = Literal[ProposalStatus.STALE, ProposalStatus.SUPERSEDED]
_EVENTS: Final = {ProposalStatus.STALE: EventKind.STALE, ProposalStatus.SUPERSEDED: EventKind.SUPERSEDED}


async def stage(
    tx: Transaction,
    *,
    project: int,
    test: int,
    version: int,
    proven: bool,
    strategy: str,
    operations: Sequence[Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any]],
    triggers: Sequence[Mapping[str, Any]],
    failed_step: str | None,
    error: str | None,
    reason: str,
    change_key: str,
    now: datetime,
    run: int | None = None,
    proof_run: int | None = None,
    even_declined: bool = False,
    sharing: Sharing | None = None,
) -> Proposal | None:
    """Put a fix into the queue; None if a person declined the same fix for the same change of the app (G55).

    With `even_declined` a person asked for it by hand, and may see it again.

    What is open for the test already:
    - the same operations on the same version: restated, the triggers added; it is the one returned;
    - other operations on the same version: superseded by this newer proof (C31), with an event;
    - any on another version: stale (G58), with an event.

    Raises Conflict if the test is not at `version` any more. A new row has `restated` 0; the event that tells of it is
    the caller's, who knows what it is called for people.
    """
    await _hold_at(tx, test, version)
    plain = [dict(one) for one in operations]
    if not even_declined and await is_declined(tx, fix_key(test, version, change_key, plain)):
        return None
    old = await open_of(tx, test)
    if old and old.version == version and essence(old.operations) == essence(plain):
        news: dict[str, Any] = {"change_key": change_key, "proven": old.proven or proven}
        if sharing is not None:
            # The runs are of the test that it names.
            news |= {"sharing": sharing.shape(), "reason": reason, "run": run}
        return await _restate(tx, old, triggers, news | ({} if proof_run is None else {"proof_run": proof_run}))
    if old:
        await _replace(tx, old, version, now)
    statement = insert(ProposalRow).values(
        project=project,
        test=test,
        version=version,
        status=ProposalStatus.PROPOSED,
        proven=proven,
        strategy=strategy,
        operations=plain,
        refusals=list(refusals),
        triggers=merged((), triggers),
        failed_step=failed_step,
        error=error,
        restated=0,
        reason=reason,
        change_key=change_key,
        cause_key=cause_key(clean_json(plain)),
        created_at=now,
        run=run,
        proof_run=proof_run,
        sharing=sharing.shape() if sharing else None,
    )
    return await get(tx, await tx.scalar(statement.returning(ProposalRow.id)))


async def set_sharing(tx: Transaction, proposal: int, sharing: Sharing, *, reason: str | None = None) -> Proposal:
    """What is known by now of the tests that an open proposal reaches. Raises Conflict if it is not open any more."""
    await _hold(tx, select(ProposalRow.test).where(ProposalRow.id == proposal).scalar_subquery())
    values = {"sharing": sharing.shape()} | ({} if reason is None else {"reason": reason})
    where = (ProposalRow.id == proposal, ProposalRow.status == ProposalStatus.PROPOSED)
    matched = await tx.change(update(ProposalRow).where(*where).values(**values))
    found = await get(tx, proposal)
    if not matched:
        raise Conflict(f"Proposal {proposal} for '{found.test_name}' is {found.status.value} already.")
    return found


async def restate(
    tx: Transaction, proposal: int, *, triggers: Sequence[Mapping[str, Any]], sharing: Sharing
) -> Proposal:
    """Another test is mended by a proposal that waits. Raises Conflict if it is not open any more."""
    await set_sharing(tx, proposal, sharing)
    return await _restate(tx, await get(tx, proposal), triggers, {})


async def add_triggers(tx: Transaction, test: int, triggers: Sequence[Mapping[str, Any]]) -> Proposal | None:
    """A further change of the app implicates a test whose fix waits: noted on the open row, not a second one (G57).

    None if nothing is open for the test.
    """
    await _hold(tx, test)
    old = await open_of(tx, test)
    return await _restate(tx, old, triggers, {}) if old else None


async def decide(
    tx: Transaction,
    proposal: int,
    *,
    to: ProposalStatus,
    by: str | None,
    now: datetime,
    expected: ProposalStatus = ProposalStatus.PROPOSED,
) -> Proposal:
    """Compare-and-swap of the status; Conflict if somebody decided before. A dismissed fix is remembered as declined.

    It emits nothing: who decides knows what to tell people.
    """
    await _hold(tx, select(ProposalRow.test).where(ProposalRow.id == proposal).scalar_subquery())
    statement = (
        update(ProposalRow)
        .where(ProposalRow.id == proposal, ProposalRow.status == expected)
        .values(status=to, decided_at=now, decided_by=by)
    )
    matched = await tx.change(statement)
    decided = await get(tx, proposal)
    if not matched:
        who = f", by {decided.decided_by}" if decided.decided_by else ""
        raise Conflict(f"Proposal {proposal} for '{decided.test_name}' is {decided.status.value} already{who}.")
    if to == ProposalStatus.DISMISSED:
        key = fix_key(decided.test, decided.version, decided.change_key, decided.operations)
        values = {"fix_key": key, "proposal": proposal, "declined_at": now, "declined_by": by}
        await tx.run(tx.insert(DeclinedRow).values(**values).on_conflict_do_nothing())
    return decided


async def restore(tx: Transaction, proposal: int) -> Proposal:
    """A dismissed one waits again and is no longer remembered as declined. Conflict if it is not dismissed, or if
    another one waits for the test.
    """
    await _hold(tx, select(ProposalRow.test).where(ProposalRow.id == proposal).scalar_subquery())
    statement = (
        update(ProposalRow)
        .where(ProposalRow.id == proposal, ProposalRow.status == ProposalStatus.DISMISSED)
        .values(status=ProposalStatus.PROPOSED, decided_at=None, decided_by=None)
    )
    matched = await tx.change(statement)
    restored = await get(tx, proposal)
    if not matched:
        raise Conflict(f"Proposal {proposal} for '{restored.test_name}' is {restored.status.value}, not dismissed.")
    key = fix_key(restored.test, restored.version, restored.change_key, restored.operations)
    await tx.run(delete(DeclinedRow).where(DeclinedRow.fix_key == key))
    return restored


async def close_open(
    tx: Transaction, test: int, *, to: Closed, now: datetime, by: str | None, why: str
) -> Proposal | None:
    """What is open for the test becomes stale or superseded, with the event that says `why`; None if nothing is."""
    await _hold(tx, test)
    old = await open_of(tx, test)
    if old is None:
        return None
    closed = await decide(tx, old.id, to=to, by=by, now=now)
    subject = f"Proposal {old.id} for '{old.test_name}' is {to.value}: {why}."
    await events.emit(
        tx, old.project, _EVENTS[to], subject, {"proposal": old.id, "test": old.test_name, "by": by}, now=now
    )
    return closed


async def mark_proven(tx: Transaction, proposal: int, *, proof_run: int | None = None) -> Proposal:
    """An open proposal that was staged unproven is proven now. Raises Conflict if it is not open any more."""
    values: dict[str, Any] = {"proven": True} | ({} if proof_run is None else {"proof_run": proof_run})
    where = (ProposalRow.id == proposal, ProposalRow.status == ProposalStatus.PROPOSED)
    matched = await tx.change(update(ProposalRow).where(*where).values(**values))
    found = await get(tx, proposal)
    if not matched:
        raise Conflict(f"Proposal {proposal} for '{found.test_name}' is {found.status.value} already.")
    return found


async def is_declined(tx: Transaction, key: str) -> bool:
    """Did a person dismiss the fix with this `fix_key`?"""
    return await tx.first(select(DeclinedRow.fix_key).where(DeclinedRow.fix_key == key)) is not None


async def open_of(tx: Transaction, test: int) -> Proposal | None:
    """What waits for the test, if anything does."""
    row = await tx.first(selected().where(ProposalRow.test == test, ProposalRow.status == ProposalStatus.PROPOSED))
    return from_row(row) if row else None


async def get(tx: Transaction, proposal: int) -> Proposal:
    row = await tx.first(selected().where(ProposalRow.id == proposal))
    if row is None:
        raise NotFound(f"There is no proposal {proposal}.")
    return from_row(row)


async def listed(
    tx: Transaction,
    project: int,
    *,
    statuses: Collection[ProposalStatus] | None = None,
    test: int | None = None,
    limit: int | None = None,
) -> tuple[Proposal, ...]:
    """The newest first."""
    statement = selected().where(ProposalRow.project == project).order_by(ProposalRow.id.desc()).limit(limit)
    if statuses is not None:
        statement = statement.where(ProposalRow.status.in_([one.value for one in statuses]))
    if test is not None:
        statement = statement.where(ProposalRow.test == test)
    return tuple(map(from_row, await tx.rows(statement)))


async def open_of_cause(
    tx: Transaction, project: int, cause: str, *, limit: int | None = None, offset: int = 0
) -> tuple[Proposal, ...]:
    """All that wait because of one drift, by the names of their tests."""
    statement = selected().where(
        ProposalRow.project == project,
        ProposalRow.status == ProposalStatus.PROPOSED,
        ProposalRow.cause_key == cause,
    )
    rows = await tx.rows(statement.order_by(SavedTestRow.name).limit(limit).offset(offset))
    return tuple(map(from_row, rows))


async def count_open(tx: Transaction, project: int) -> int:
    where = (ProposalRow.project == project, ProposalRow.status == ProposalStatus.PROPOSED)
    return int(await tx.scalar(select(func.count()).select_from(ProposalRow).where(*where)))


async def _hold(tx: Transaction, test: Any) -> Row[Any] | None:
    """Until the end of the transaction nobody else edits the test, stages for it or decides on what is open for it.

    Everything that writes a test and its proposals takes the test first: two that took them in opposite orders would
    wait for each other.
    """
    statement = select(SavedTestRow.name, SavedTestRow.version).where(SavedTestRow.id == test)
    return await tx.first(statement.with_for_update(key_share=True))


async def _hold_at(tx: Transaction, test: int, version: int) -> None:
    row = await _hold(tx, test)
    if row is None:
        raise NotFound(f"There is no test with the number {test}.")
    if row.version != version:
        raise Conflict(
            f"'{row.name}' was edited meanwhile: it is at version {row.version}, the fix was worked out on version "
            f"{version}. Sweep again for a fresh one."
        )


async def _restate(
    tx: Transaction, old: Proposal, triggers: Sequence[Mapping[str, Any]], news: Mapping[str, Any]
) -> Proposal:
    values = {"triggers": merged(old.triggers, triggers), **news}
    where = (ProposalRow.id == old.id, ProposalRow.status == ProposalStatus.PROPOSED)
    await tx.run(update(ProposalRow).where(*where).values(restated=ProposalRow.restated + 1, **values))
    return await get(tx, old.id)


async def _replace(tx: Transaction, old: Proposal, version: int, now: datetime) -> None:
    to: Closed = ProposalStatus.SUPERSEDED
    why = "a newer proof took its place"
    if old.version != version:
        to, why = ProposalStatus.STALE, f"'{old.test_name}' was edited since it was staged"
    await close_open(tx, old.test, to=to, now=now, by=None, why=why)


def selected() -> Select[Any]:
    return select(*ProposalRow.__table__.c, SavedTestRow.name.label("test_name")).join(
        SavedTestRow, SavedTestRow.id == ProposalRow.test
    )


def from_row(row: Row[Any]) -> Proposal:
    return Proposal(
        id=row.id,
        project=row.project,
        test=row.test,
        test_name=row.test_name,
        version=row.version,
        status=ProposalStatus(row.status),
        proven=row.proven,
        strategy=row.strategy,
        operations=tuple(row.operations),
        refusals=tuple(row.refusals),
        triggers=tuple(row.triggers),
        failed_step=row.failed_step,
        error=row.error,
        restated=row.restated,
        reason=row.reason,
        change_key=row.change_key,
        created_at=row.created_at,
        decided_at=row.decided_at,
        decided_by=row.decided_by,
        run=row.run,
        proof_run=row.proof_run,
        sharing=read_sharing(row.sharing),
    )
