"""Saved tests and every version they ever had."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from gardener.errors import Conflict, NotFound, Refused
from gardener.proposals import ProposalStatus
from gardener.saved_tests import SavedTest, SavedVersion, Status, VersionNote
from gardener.store import proposals
from gardener.store.columns import canonical, clean_json
from gardener.store.plain import read_variables, write_variables
from gardener.store.projects import LONGEST_NAME, near
from gardener.store.rows import SavedTestRow, VersionRow
from gardener.store.transaction import Transaction
from repair_ladder import step_format
from repair_ladder.errors import BadTest
from repair_ladder.formats import Variable, WrittenTest
from repair_ladder.steps import Steps, show_place


async def import_test(
    tx: Transaction,
    project: int,
    written: WrittenTest,
    *,
    folder: str | None,
    author: str,
    now: datetime,
    cause: str = "import",
    expected: int | None = None,
) -> SavedTest:
    """The test as it is written from now on; its name identifies it in its project.

    With `expected` it is the version that the writer saw: Conflict if it is another one by now.

    Other steps or variables make a new version, and what waits for a person becomes stale, since its operations count
    in the old steps (G58). Status, tags and the file's own text change without one; the same test again changes
    nothing.
    """
    if not written.name.strip() or len(written.name) > LONGEST_NAME:
        raise Refused(f"The name of a test has at most {LONGEST_NAME} characters, and at least one.")
    old = await _locked(tx, project, written.name)
    if old is None:
        added = await _add(tx, project, written, folder=folder, author=author, now=now, cause=cause)
        if added is not None:
            return added
        # Another process added it between our look and our insert; it is there now.
        old = await _locked(tx, project, written.name)
        assert old is not None
    if expected is not None and old.version != expected:
        notes = await version_notes(tx, old.id, limit=1)
        who = f" by {notes[0].author}" if notes else ""
        raise Conflict(
            f"'{written.name}' was changed{who} meanwhile: it is at version {old.version}, you began with version "
            f"{expected}. Nothing was written."
        )
    content = _content(written.steps, written.variables)
    beside = {
        "status": written.status,
        "tags": list(written.tags),
        "source": written.source,
        "folder": folder,
    }
    if canonical(content) == canonical({"steps": old.steps, "variables": old.variables}):
        await tx.run(update(SavedTestRow).where(SavedTestRow.id == old.id).values(**beside))
        return await by_id(tx, old.id)
    await proposals.close_open(
        tx, old.id, to=ProposalStatus.STALE, now=now, by=None, why=f"'{written.name}' was edited since it was staged"
    )
    return await _new_version(
        tx, old.id, old.version, content, beside, source=written.source, author=author, cause=cause, now=now
    )


async def write_steps(
    tx: Transaction,
    test: int,
    expected_version: int,
    *,
    steps: Steps,
    source: str | None,
    author: str,
    cause: str,
    now: datetime,
    variables: Mapping[str, Variable] | None = None,
    flagged: bool | None = None,
) -> SavedTest:
    """Compare-and-swap: the new steps, if the test is still at `expected_version`; else Conflict and no change.

    Without `variables` those that stand are kept. Open proposals are not touched: decide or close them in the same
    transaction (proposals.decide, proposals.close_open).
    """
    if variables is None:
        variables = (await by_id(tx, test)).variables or {}
    content = _content(steps, variables)
    beside: dict[str, Any] = {"source": source} | ({} if flagged is None else {"flagged": flagged})
    return await _new_version(
        tx, test, expected_version, content, beside, source=source, author=author, cause=cause, now=now
    )


async def get(tx: Transaction, project: int, name: str) -> SavedTest:
    """Raises NotFound with the names that come near."""
    found = await find(tx, project, name)
    if found is None:
        statement = select(SavedTestRow.name).where(SavedTestRow.project == project).order_by(SavedTestRow.name)
        names = [row.name for row in await tx.rows(statement)]
        raise NotFound(f"There is no test '{name[:200]}' in this project{near(name, names)}.")
    return found


async def find(tx: Transaction, project: int, name: str) -> SavedTest | None:
    where = (SavedTestRow.project == project, SavedTestRow.name == name)
    row = await tx.first(select(SavedTestRow).where(*where))
    return from_row(row) if row else None


async def by_id(tx: Transaction, test: int) -> SavedTest:
    row = await tx.first(select(SavedTestRow).where(SavedTestRow.id == test))
    if row is None:
        raise NotFound(f"There is no test with the number {test}.")
    return from_row(row)


async def listed(tx: Transaction, project: int, *, statuses: Collection[Status] | None = None) -> tuple[SavedTest, ...]:
    """By name."""
    statement = select(SavedTestRow).where(SavedTestRow.project == project).order_by(SavedTestRow.name)
    if statuses is not None:
        statement = statement.where(SavedTestRow.status.in_([one.value for one in statuses]))
    return tuple(map(from_row, await tx.rows(statement)))


async def set_flagged(tx: Transaction, test: int, flagged: bool) -> None:
    await tx.run(update(SavedTestRow).where(SavedTestRow.id == test).values(flagged=flagged))


async def set_status(tx: Transaction, test: int, status: Status) -> None:
    await tx.run(update(SavedTestRow).where(SavedTestRow.id == test).values(status=status))


async def version(tx: Transaction, test: int, number: int) -> SavedVersion:
    where = (VersionRow.test == test, VersionRow.version == number)
    row = await tx.first(select(VersionRow).where(*where))
    if row is None:
        raise NotFound(f"Test {test} never had a version {number}.")
    return _version(row)


async def versions(tx: Transaction, test: int) -> tuple[SavedVersion, ...]:
    """Newest first."""
    statement = select(VersionRow).where(VersionRow.test == test).order_by(VersionRow.version.desc())
    return tuple(map(_version, await tx.rows(statement)))


async def version_notes(tx: Transaction, test: int, *, limit: int) -> tuple[VersionNote, ...]:
    """Newest first."""
    columns = (VersionRow.version, VersionRow.author, VersionRow.cause, VersionRow.created_at)
    statement = select(*columns).where(VersionRow.test == test).order_by(VersionRow.version.desc()).limit(limit)
    return tuple(VersionNote(row.version, row.author, row.cause, row.created_at) for row in await tx.rows(statement))


async def _locked(tx: Transaction, project: int, name: str) -> Row[Any] | None:
    where = (SavedTestRow.project == project, SavedTestRow.name == name)
    return await tx.first(select(SavedTestRow).where(*where).with_for_update(key_share=True))


async def _add(
    tx: Transaction,
    project: int,
    written: WrittenTest,
    *,
    folder: str | None,
    author: str,
    now: datetime,
    cause: str,
) -> SavedTest | None:
    content = _content(written.steps, written.variables)
    statement = (
        tx.insert(SavedTestRow)
        .values(
            project=project,
            name=written.name,
            status=written.status,
            version=1,
            tags=list(written.tags),
            source=written.source,
            folder=folder,
            flagged=False,
            **content,
        )
        .on_conflict_do_nothing()
        .returning(*SavedTestRow.__table__.c)
    )
    row = await tx.first(statement)
    if row is None:
        return None
    await _keep_version(tx, row.id, 1, content, source=written.source, author=author, cause=cause, now=now)
    return from_row(row)


async def _new_version(
    tx: Transaction,
    test: int,
    expected: int,
    content: dict[str, Any],
    beside: dict[str, Any],
    *,
    source: str | None,
    author: str,
    cause: str,
    now: datetime,
) -> SavedTest:
    # Check and write are one statement: two may both have read this version, and only one update can match it.
    statement = (
        update(SavedTestRow)
        .where(SavedTestRow.id == test, SavedTestRow.version == expected)
        .values(version=expected + 1, **content, **beside)
    )
    if not await tx.change(statement):
        current = await by_id(tx, test)
        raise Conflict(
            f"'{current.name}' is at version {current.version} by now, this was worked out on version {expected}: "
            "nothing was written. Run it again for a fresh one."
        )
    await _keep_version(tx, test, expected + 1, content, source=source, author=author, cause=cause, now=now)
    return await by_id(tx, test)


async def _keep_version(
    tx: Transaction,
    test: int,
    number: int,
    content: dict[str, Any],
    *,
    source: str | None,
    author: str,
    cause: str,
    now: datetime,
) -> None:
    statement = insert(VersionRow).values(
        test=test, version=number, source=source, author=author, cause=cause, created_at=now, **content
    )
    await tx.run(statement)


def _content(steps: Steps, variables: Mapping[str, Variable]) -> dict[str, Any]:
    """What makes a version, as the database will hold it, and certain to be read again."""
    content = {"steps": step_format.write_steps(steps), "variables": write_variables(variables)}
    cleaned: dict[str, Any] = clean_json(content)
    try:
        step_format.read_steps(cleaned["steps"])
    except BadTest as error:
        raise Refused(f"The steps cannot be kept: step {show_place(error.place)}, {error}.") from error
    return cleaned


def from_row(row: Row[Any]) -> SavedTest:
    return SavedTest(
        id=row.id,
        project=row.project,
        name=row.name,
        status=Status(row.status),
        version=row.version,
        steps=step_format.read_steps(row.steps),
        tags=tuple(row.tags),
        variables=read_variables(row.variables),
        source=row.source,
        folder=row.folder,
        flagged=row.flagged,
    )


def _version(row: Row[Any]) -> SavedVersion:
    return SavedVersion(
        test=row.test,
        version=row.version,
        steps=step_format.read_steps(row.steps),
        variables=read_variables(row.variables),
        source=row.source,
        author=row.author,
        cause=row.cause,
        created_at=row.created_at,
    )
