"""Covers what the store only keeps: runs, recordings, pages, sweeps, baselines, at risk, issues, cases, lessons,
events and audit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gardener.cases import CaseStatus
from gardener.errors import Conflict, NotFound
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.runs import RecordedStep, Run, RunStatus, Trigger
from gardener.saved_tests import SavedTest, Status
from gardener.store import (
    Store,
    Transaction,
    at_risk,
    audit,
    baselines,
    cases,
    events,
    issues,
    lessons,
    pages,
    recordings,
    runs,
    saved_tests,
    sweeps,
)
from gardener.sweeps import Baseline, SweepStatus
from gardener.triage import Issue, IssueKind
from radar.elements import PageSnapshot
from tests.gardener.conftest import NOW, a_checkout, a_page, an_operation

LATER = NOW + timedelta(days=40)


async def _run(
    tx: Transaction, test: SavedTest, page: str | None = None, trigger: Trigger = Trigger.SUITE, days: int = 0
) -> Run:
    return await runs.add(
        tx,
        project=test.project,
        test=test.id,
        test_name=test.name,
        version=test.version,
        trigger=trigger,
        status=RunStatus.RED,
        started_at=NOW + timedelta(days=days),
        ended_at=NOW + timedelta(days=days, seconds=3),
        failed_step="3",
        cause="missing",
        error="#pay finds nothing",
        page_key=page,
        target=0,
        evidence={"page_errors": ["boom"]},
        steps=[{"place": "1", "ms": 12.5}],
    )


async def test_runs_are_kept_as_they_were_and_listed_newest_first(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        first = await _run(tx, checkout)
        dry = await _run(tx, checkout, trigger=Trigger.DRY_RUN)

    async with store.reading() as tx:
        assert await runs.get(tx, first.id) == first
        assert await runs.listed(tx, checkout.project, test=checkout.id) == (dry, first)
        assert await runs.listed(tx, checkout.project, triggers=[Trigger.SUITE], limit=1) == (first,)
        assert await runs.latest_of(tx, checkout.id) == dry
        assert await runs.latest_of(tx, checkout.id, triggers=[Trigger.SUITE]) == first
        assert await runs.latest_of(tx, checkout.id, version=7) is None
        with pytest.raises(NotFound, match="no run 999"):
            await runs.get(tx, 999)
    assert first.steps == ({"place": "1", "ms": 12.5},)
    assert first.ended_at == NOW + timedelta(seconds=3)


async def test_a_probe_is_a_run_without_a_test(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        probe = await runs.add(
            tx,
            project=shop.id,
            test=None,
            test_name="a probe",
            version=None,
            trigger=Trigger.PROBE,
            status=RunStatus.GREEN,
            started_at=NOW,
            ended_at=NOW,
        )

        assert (await runs.get(tx, probe.id)).test is None


async def test_a_page_is_kept_once_and_comes_back_as_it_was(store: Store) -> None:
    async with store.transaction() as tx:
        key = await pages.put(tx, a_page(), now=NOW)
        assert await pages.put(tx, a_page(), now=LATER) == key
        other = await pages.put(tx, a_page("Basket"), now=NOW)

    async with store.reading() as tx:
        assert await pages.get(tx, key) == a_page()
        assert await pages.get_many(tx, [key, other, "none"]) == {key: a_page(), other: a_page("Basket")}
        with pytest.raises(NotFound, match="no longer kept"):
            await pages.get(tx, "none")


async def test_a_recording_takes_the_place_of_the_one_before(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        key = await pages.put(tx, a_page(), now=NOW)
        run = await _run(tx, checkout)
        step = RecordedStep("1", "http://shop.test/", key, None)
        await recordings.save(tx, checkout.id, 1, run.id, [step, replace(step, place="8.2", target=4)], now=NOW)
        await recordings.save(tx, checkout.id, 1, run.id, [replace(step, target=3)], now=LATER)

        kept = await recordings.get(tx, checkout.id, 1)
        assert kept is not None
        assert (kept.run, kept.steps, kept.recorded_at) == (run.id, (replace(step, target=3),), LATER)
        assert await recordings.get(tx, checkout.id, 2) is None


async def test_pruning_keeps_the_pages_that_something_refers_to(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        names = ("baseline", "recording", "young run", "old run", "nothing", "just put")
        key = {name: await pages.put(tx, a_page(name), now=NOW) for name in names}
        await pages.put(tx, a_page("just put"), now=LATER)
        await baselines.put(tx, [Baseline(checkout.project, "/", key["baseline"], (), False, NOW)])
        await recordings.save(tx, checkout.id, 1, None, [RecordedStep("1", "/", key["recording"], 0)], now=NOW)
        await _run(tx, checkout, key["young run"], days=35)
        old = await _run(tx, checkout, key["old run"])

    async with store.transaction() as tx:
        assert await pages.prune(tx, before=LATER - timedelta(days=30)) == 2

        left = await pages.get_many(tx, key.values())
        assert {page.title for page in left.values()} == {"baseline", "recording", "young run", "just put"}
        assert (await runs.get(tx, old.id)).page_key is None


async def test_a_sweep_that_breaks_off_keeps_what_it_had_found(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        sweep = await sweeps.start(tx, shop.id, base_url="http://shop.test", preview=False, now=NOW)
        await sweeps.note(tx, sweep.id, pages=2, changes=[{"kind": "removed"}])
        failed = await sweeps.finish(tx, sweep.id, status=SweepStatus.FAILED, now=LATER)

        assert (failed.status, failed.pages, failed.changes) == (SweepStatus.FAILED, 2, ({"kind": "removed"},))
        assert failed.ended_at == LATER
        told = await sweeps.note(tx, sweep.id, summary={"left_for_next": ["checkout"]})
        assert told == replace(failed, summary={"left_for_next": ["checkout"]})
        preview = await sweeps.start(tx, shop.id, base_url="http://pr-7.test", preview=True, now=LATER)
        assert await sweeps.latest(tx, shop.id) == preview
        assert await sweeps.latest(tx, shop.id, preview=False) == told
        assert await sweeps.listed(tx, shop.id) == (preview, told)


async def test_a_baseline_is_one_a_page_however_long_its_address(store: Store, shop: Project) -> None:
    long = "/search?q=" + "mug" * 5000
    async with store.transaction() as tx:
        key = await pages.put(tx, a_page(), now=NOW)
        first = [Baseline(shop.id, page, key, (), False, NOW) for page in ("/", long)]
        await baselines.put(tx, first)
        newer = Baseline(shop.id, long, key, ("#clock",), True, LATER)
        await baselines.put(tx, [newer])

        assert await baselines.listed(tx, shop.id) == (first[0], newer)
        assert await baselines.forget(tx, shop.id, [long, "/never"]) == 1
        assert await baselines.listed(tx, shop.id) == (first[0],)


async def test_the_longest_waiting_come_first_and_those_taken_go_to_the_end(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        tests = [await a_checkout(tx, shop, f"checkout {number}") for number in range(3)]
        for number, test in enumerate(tests):
            await at_risk.mark(
                tx, test.id, triggers=[{"step": 1}], change_key="r2", now=NOW + timedelta(minutes=number)
            )
        await at_risk.touched(tx, tests[0].id, now=LATER)

        line = [one.test for one in await at_risk.waiting(tx, shop.id)]
        assert line == [tests[1].id, tests[2].id, tests[0].id]
        assert [one.test for one in await at_risk.waiting(tx, shop.id, limit=1)] == [tests[1].id]

        await saved_tests.set_status(tx, tests[1].id, Status.ARCHIVED)
        assert await at_risk.count(tx, shop.id) == 2
        assert await at_risk.clear(tx, tests[2].id) is True
        assert await at_risk.clear(tx, tests[2].id) is False
        assert [one.test for one in await at_risk.waiting(tx, shop.id)] == [tests[0].id]


async def test_a_test_at_risk_again_keeps_its_since_and_gathers_triggers(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        await at_risk.mark(tx, checkout.id, triggers=[{"step": 1}], change_key="r2", now=NOW)
        again = await at_risk.mark(tx, checkout.id, triggers=[{"step": 1}, {"step": 2}], change_key="r3", now=LATER)

        assert (again.since, again.change_key, again.triggers) == (NOW, "r3", ({"step": 1}, {"step": 2}))
        assert await at_risk.get(tx, checkout.id) == again


async def _file(tx: Transaction, shop: Project, *tests: SavedTest, cause: str = "sign-in") -> Issue:
    return await issues.file(
        tx,
        project=shop.id,
        kind=IssueKind.FINDING,
        verdict="environment",
        cause_key=cause,
        tests=[test.id for test in tests],
        reason="a sign-in page where the app should be",
        refusals=[an_operation()],
        now=NOW,
    )


async def test_one_cause_is_one_open_issue_with_all_its_tests(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        one, two = await a_checkout(tx, shop, "one"), await a_checkout(tx, shop, "two")
        first = await _file(tx, shop, one)
        second = await _file(tx, shop, one, two)
        other = await _file(tx, shop, two, cause="c" * 10_000)

        assert second == replace(first, restated=1, tests=("one", "two"))
        assert await issues.listed(tx, shop.id) == (other, second)
        assert await issues.open_of(tx, one.id) == (second,)


async def test_an_issue_is_closed_when_its_last_test_is_green_again(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        one, two = await a_checkout(tx, shop, "one"), await a_checkout(tx, shop, "two")
        issue = await _file(tx, shop, one, two)

        assert await issues.close_for_test(tx, one.id, now=NOW) == ()
        assert (await issues.get(tx, issue.id)).tests == ("two",)
        assert await issues.close_for_test(tx, two.id, now=LATER) == (issue.id,)
        (closed,) = await issues.listed(tx, shop.id, closed=True)
        assert (closed.closed_at, closed.tests) == (LATER, ("one", "two"))
        assert (await _file(tx, shop, one)).id != issue.id


async def test_an_issue_can_be_closed_by_hand_or_with_its_cause(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        by_hand, down = await _file(tx, shop), await _file(tx, shop, cause="unreachable")

        assert (await issues.close(tx, by_hand.id, now=LATER)).closed_at == LATER
        assert await issues.close_cause(tx, shop.id, "unreachable", now=LATER) == down.id
        assert await issues.close_cause(tx, shop.id, "unreachable", now=LATER) is None
        assert await issues.listed(tx, shop.id) == ()


async def test_two_that_file_one_cause_at_once_make_one_issue(
    store: Store, second_store: Store, shop: Project, checkout: SavedTest
) -> None:
    async def file(through: Store) -> Issue:
        async with through.transaction() as tx:
            return await _file(tx, shop, checkout)

    first, second = await asyncio.gather(file(store), file(second_store))

    assert first.id == second.id
    assert {first.restated, second.restated} == {0, 1}


async def test_a_case_is_resumed_with_its_attempts(store: Store, second_store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        case = await cases.open_case(tx, project=checkout.project, test=checkout.id, version=1, now=NOW)
        for number in (1, 2):
            attempt = await cases.add_attempt(
                tx,
                case.id,
                rung="self_heal",
                strategy="local",
                operations=[an_operation()],
                outcome="red",
                now=NOW,
                fix="f1",
                model_calls=1,
                tokens=100 * number,
            )
        await cases.spend(tx, case.id, model_calls=1)

    async with second_store.transaction() as tx:
        resumed = await cases.open_case(tx, project=checkout.project, test=checkout.id, version=1, now=LATER)
        assert (resumed.id, resumed.opened_at, resumed.model_calls, resumed.tokens) == (case.id, NOW, 3, 300)
        made = await cases.attempts(tx, case.id)
        assert [one.number for one in made] == [1, 2]
        assert made[1] == attempt
        assert await cases.count_same(tx, "f1") == 2
        closed = await cases.finish(tx, case.id, status=CaseStatus.EXHAUSTED, verdict="incurable", now=LATER)
        assert (closed.status, closed.verdict, closed.closed_at) == (CaseStatus.EXHAUSTED, "incurable", LATER)
        with pytest.raises(Conflict, match="closed before"):
            await cases.finish(tx, case.id, status=CaseStatus.REPAIRED, verdict=None, now=LATER)
        with pytest.raises(Conflict, match="is closed: exhausted"):
            await cases.spend(tx, case.id, tokens=1)
        another = await cases.open_case(tx, project=checkout.project, test=checkout.id, version=1, now=LATER)
        assert await cases.listed(tx, checkout.id) == (another, closed)


async def test_a_lesson_is_found_by_the_locator_that_broke(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:

        async def remember(new: str) -> int:
            lesson = await lessons.remember(
                tx,
                project=shop.id,
                old={"role": "button", "name": "Pay"},
                words=["pay", "basket"],
                page="/basket",
                new={"css": new},
                now=NOW,
            )
            return lesson.id

        first, second = await remember("#a"), await remember("#b")
        assert await remember("#a") == first
        await lessons.used(tx, first)

        found = await lessons.of_locator(tx, shop.id, {"name": "Pay", "role": "button"})
        assert {one.id: one.uses for one in found} == {first: 1, second: 0}
        assert await lessons.of_locator(tx, shop.id, {"name": "Buy"}) == ()
        await lessons.forget(tx, first)
        assert [one.id for one in await lessons.listed(tx, shop.id)] == [second]


async def test_events_are_listed_newest_first_by_kind_and_by_page(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        one, two, three = [
            await events.emit(tx, shop.id, kind, f"an event {kind}", {}, now=at)
            for kind, at in ((EventKind.STAGED, NOW), (EventKind.TRIAGE, LATER), (EventKind.STAGED, LATER))
        ]

        assert await events.listed(tx, shop.id) == (three, two, one)
        assert await events.listed(tx, shop.id, limit=1, offset=1) == (two,)
        assert await events.listed(tx, shop.id, kind=EventKind.STAGED) == (three, one)
        assert await events.listed(tx, shop.id, kind=EventKind.STAGED, since=LATER) == (three,)


async def test_the_audit_says_who_did_what(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        entry = await audit.write(
            tx, who="Ada", what="approve", subject="proposal 7", now=NOW, project=shop.id, details={"version": 2}
        )
        await audit.write(tx, who="Ben", what="sign in", subject="Ben", now=LATER)

        assert await audit.listed(tx, project=shop.id) == (entry,)
        assert [one.who for one in await audit.listed(tx)] == ["Ben", "Ada"]
    assert (entry.details, entry.at) == ({"version": 2}, NOW)


# --- texts that databases dislike ----------------------------------------------------------------------

HARD = {
    "any script": ("Überweisung 支払う 🪴 \u202e", "Überweisung 支払う 🪴 \u202e"),
    "NUL": ("pay\x00 now\x00", "pay now"),
    "a lone surrogate": ("pay\ud83d now", "pay now"),
    "a split character": ("pay \ud83e\udeb4", "pay 🪴"),
    "quotes and escapes": ("a'b\"c\\u0000 $1 :x %s ? \\", "a'b\"c\\u0000 $1 :x %s ? \\"),
    "one megabyte": ("mug 🪴" * 200_000, "mug 🪴" * 200_000),
}


@pytest.mark.parametrize(("text", "kept"), HARD.values(), ids=HARD)
async def test_any_text_can_be_kept_in_texts_and_documents(
    store: Store, checkout: SavedTest, text: str, kept: str
) -> None:
    async with store.transaction() as tx:
        event = await events.emit(
            tx, checkout.project, EventKind.STAGED, text, {text[:20]: [text, (text, {"x": text})]}, now=NOW
        )
        saved = await saved_tests.write_steps(
            tx, checkout.id, 1, steps=checkout.steps, source=text, author=text, cause="edit", now=NOW
        )
        issue = await issues.file(
            tx,
            project=checkout.project,
            kind=IssueKind.TRIAGE,
            verdict="rot",
            cause_key=text,
            tests=[checkout.id],
            reason=text,
            now=NOW,
        )

    async with store.reading() as tx:
        (read,) = await events.listed(tx, checkout.project)
        assert read == event
        assert (await saved_tests.by_id(tx, checkout.id)) == saved
        assert (await issues.listed(tx, checkout.project)) == (issue,)
    assert event.subject == kept == saved.source == issue.reason == issue.cause_key
    assert list(event.payload.values()) == [[kept, [kept, {"x": kept}]]]


async def test_a_hostile_page_can_be_kept(store: Store) -> None:
    page = PageSnapshot("http://shop.test/\ud83d", title="a\x00b" * 300_000)
    async with store.transaction() as tx:
        key = await pages.put(tx, page, now=NOW)

        assert await pages.get(tx, key) == page


async def test_numbers_that_json_does_not_know_become_null(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        event = await events.emit(tx, shop.id, EventKind.STAGED, "x", {"ms": float("nan"), "n": 10**30}, now=NOW)

        assert (await events.listed(tx, shop.id))[0].payload == {"ms": None, "n": 10**30} == event.payload


async def test_a_time_without_a_zone_is_a_mistake_of_the_caller(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        with pytest.raises(ValueError, match="without a zone"):
            await events.emit(tx, shop.id, EventKind.STAGED, "x", {}, now=NOW.replace(tzinfo=None))
