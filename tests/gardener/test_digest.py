"""Covers the digest: what happened in a day, counted from the rows; sent daily, or when a person asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gardener.actions import digest, timing
from gardener.cases import CaseStatus
from gardener.digests import Digest
from gardener.notices import Event, EventKind, notice_of
from gardener.projects import Project, ProjectSettings
from gardener.proposals import ProposalStatus
from gardener.repairs import GARDENER
from gardener.saved_tests import SavedTest
from gardener.settings import Settings
from gardener.store import (
    Store,
    Transaction,
    cases,
    digests,
    events,
    issues,
    projects,
    proposals,
    repairs,
    saved_tests,
    sweeps,
)
from gardener.sweeps import SweepStatus
from gardener.tools import Tools
from gardener.triage import IssueKind
from tests.fakes import Clock
from tests.gardener.conftest import CHECKOUT, a_proposal, a_shop

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("not wanted here")


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def tools(store: Store, clock: Clock, tmp_path: Path) -> Tools:
    settings = Settings("unused", tmp_path, lease=timedelta(days=3))
    return Tools(settings, store, never, never, never, lambda project: None, clock, "first")


async def a_test(tx: Transaction, project: Project, name: str) -> SavedTest:
    written = replace(CHECKOUT, name=name)
    return await saved_tests.import_test(tx, project.id, written, folder=None, author="Ada", now=NOON)


async def a_repair(tx: Transaction, test: SavedTest, author: str, now: datetime) -> None:
    await repairs.add(
        tx,
        project=test.project,
        test=test.id,
        version_before=1,
        version_after=2,
        steps_before=test.steps,
        source_before=None,
        variables_before={},
        operations=[],
        refusals=[],
        strategy="self_heal.local",
        author=author,
        reason="",
        now=now,
    )


async def a_case(tx: Transaction, test: SavedTest, status: CaseStatus, verdict: str, now: datetime) -> None:
    case = await cases.open_case(tx, project=test.project, test=test.id, version=1, now=now)
    await cases.finish(tx, case.id, status=status, verdict=verdict, now=now)


async def a_sweep(tx: Transaction, project: Project, now: datetime, left: Sequence[str] = (), **how: Any) -> None:
    given = {"base_url": "http://shop.test", "preview": False} | how
    row = await sweeps.start(tx, project.id, now=now, **given)
    await sweeps.finish(tx, row.id, status=SweepStatus.FINISHED, now=now, summary={"left_for_next": list(left)})


async def a_busy_day(tx: Transaction, project: Project) -> None:
    """One of each, at noon, beside others on the day before and in another project."""
    one, two = await a_test(tx, project, "one"), await a_test(tx, project, "two")
    long_ago = NOON - timedelta(days=5)
    await a_proposal(tx, one, now=long_ago)
    dismissed = await a_proposal(tx, two, now=NOON)
    assert dismissed is not None
    await proposals.decide(tx, dismissed.id, to=ProposalStatus.DISMISSED, by="Ada", now=NOON)
    for author in (GARDENER, GARDENER, "Ada"):
        await a_repair(tx, one, author, NOON)
    await a_repair(tx, one, GARDENER, long_ago)
    await a_case(tx, one, CaseStatus.EXHAUSTED, "incurable", NOON)
    await a_case(tx, one, CaseStatus.EXHAUSTED, "fixable", NOON)
    await a_case(tx, two, CaseStatus.NOT_DRIFT, "product_defect", NOON)
    await a_case(tx, two, CaseStatus.NOT_DRIFT, "environment", NOON)
    await a_sweep(tx, project, NOON, ["six", "seven"])
    await a_sweep(tx, project, NOON, ["of a preview"], preview=True)
    await issues.file(
        tx, project=project.id, kind=IssueKind.TRIAGE, verdict="rot", cause_key="x", tests=[], reason="", now=NOON
    )
    bakery = await a_shop(tx, "bakery")
    await a_proposal(tx, await a_test(tx, bakery, "one"), now=NOON)


async def test_a_day_is_counted_from_what_is_written(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await a_busy_day(tx, shop)

        counted = await digests.count(tx, shop.id, since=NOON, until=NOON + DAY)
        quiet = await digests.count(tx, shop.id, since=NOON + DAY, until=NOON + 2 * DAY)

    assert counted == Digest(
        since=NOON,
        until=NOON + DAY,
        staged=1,
        applied=2,
        approved=1,
        dismissed=1,
        reverted=0,
        refused=1,
        exhausted=1,
        defects=1,
        sweeps=1,
        waiting=1,
        oldest_at=NOON - timedelta(days=5),
        left_for_next=("six", "seven"),
        open_issues=1,
    )
    assert (quiet.staged, quiet.applied, quiet.waiting) == (0, 0, 1)


async def test_it_reads_as_a_day_does(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await a_busy_day(tx, shop)
        counted = await digests.count(tx, shop.id, since=NOON, until=NOON + DAY)

    payload = counted.shape() | {"lines": list(counted.lines())}
    notice = notice_of(Event(1, shop.id, EventKind.DIGEST, counted.subject, payload, NOON + DAY), "shop")

    assert notice.subject == "shop: Digest: 1 staged, 2 applied, 1 refused, 1 exhausted; 1 waiting"
    assert "Waiting for a person: 1, the oldest for 6 days." in notice.lines
    assert "Left for the next sweep: six, seven" in notice.lines


async def of_kind(tools: Tools, project: Project) -> list[Event]:
    async with tools.store.reading() as tx:
        return list(await events.listed(tx, project.id, kind=EventKind.DIGEST))


async def a_daily_project(tools: Tools) -> Project:
    settings = ProjectSettings(digest_hour=7, timezone="Europe/Berlin")
    async with tools.store.transaction() as tx:
        project = await projects.add(tx, "shop", "http://shop.test", now=tools.now(), settings=settings)
    await look(tools)
    return project


async def look(tools: Tools) -> None:
    assert await timing.take_clock(tools)
    await timing.look_at_the_clock(tools)


async def test_each_day_tells_its_own_also_when_it_is_late(tools: Tools, clock: Clock) -> None:
    project = await a_daily_project(tools)
    async with tools.store.transaction() as tx:
        await a_proposal(tx, await a_test(tx, project, "one"), now=NOON + timedelta(hours=1))

    clock.moment = datetime(2026, 3, 3, 9, 30, tzinfo=UTC)  # at 10:30 there, three and a half hours late
    await look(tools)
    await look(tools)
    async with tools.store.transaction() as tx:
        await a_proposal(tx, await a_test(tx, project, "two"), now=datetime(2026, 3, 3, 8, tzinfo=UTC))
    clock.moment = datetime(2026, 3, 4, 6, 0, tzinfo=UTC)
    await look(tools)

    second, first = await of_kind(tools, project)
    assert (first.payload["staged"], second.payload["staged"]) == (1, 1)
    assert first.payload["until"] == second.payload["since"] == "2026-03-03T06:00:00+00:00"


async def test_several_missed_days_are_told_together_once(tools: Tools, clock: Clock) -> None:
    project = await a_daily_project(tools)
    clock.moment = datetime(2026, 3, 3, 6, 0, tzinfo=UTC)
    await look(tools)
    async with tools.store.transaction() as tx:
        for day in (3, 4, 5):
            test = await a_test(tx, project, f"test {day}")
            await a_proposal(tx, test, now=datetime(2026, 3, day, 12, tzinfo=UTC))

    clock.moment = datetime(2026, 3, 6, 20, tzinfo=UTC)
    await look(tools)

    (told,) = await of_kind(tools, project)
    assert told.payload["staged"] == 3


async def test_of_a_day_on_which_nothing_happened_only_who_asks_is_told(tools: Tools, clock: Clock) -> None:
    project = await a_daily_project(tools)
    async with tools.store.transaction() as tx:
        await a_sweep(tx, project, NOON)

    clock.moment = datetime(2026, 3, 3, 6, 1, tzinfo=UTC)
    await look(tools)
    assert await of_kind(tools, project) == []

    counted, event = await digest.send_digest(tools, project)
    assert counted.is_empty
    assert [one.id for one in await of_kind(tools, project)] == [event.id]
