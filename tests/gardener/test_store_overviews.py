"""Lists for pages, and people with their sessions, on both kinds of database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from gardener.actions.admitting import token_hash
from gardener.people import LIMITS, Role
from gardener.projects import Project
from gardener.proposals import ProposalStatus
from gardener.runs import RunStatus, Trigger
from gardener.saved_tests import SavedTest, Status
from gardener.store import Store, at_risk, overviews, people, proposals, repairs, runs, saved_tests, sweeps
from tests.gardener.conftest import NOW, a_checkout, a_proposal, a_shop, an_operation

KEYS = {"pair": "p", "address": "a", "name": "n"}


async def _run(store: Store, test: SavedTest, status: RunStatus, trigger: Trigger = Trigger.SUITE) -> int:
    async with store.transaction() as tx:
        run = await runs.add(
            tx,
            project=test.project,
            test=test.id,
            test_name=test.name,
            version=test.version,
            trigger=trigger,
            status=status,
            started_at=NOW,
            ended_at=NOW,
        )
    return run.id


def by(css: str) -> dict[str, Any]:
    return {"operations": [an_operation(css)]}


async def test_proposals_of_one_cause_stand_side_by_side_the_newest_cause_first(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        for number, css in enumerate(["#old", "#new", "#one", "#old", "#new", "#two"]):
            test = await a_checkout(tx, shop, f"test {number}")
            # Whether one change of the app was told of or several makes no difference.
            await a_proposal(tx, test, change_key=f"release-{number}", proven=number != 1, **by(css))
        whole = await overviews.queue(tx, shop.id, limit=10)
        second = await overviews.queue(tx, shop.id, limit=2, offset=2)
        keys = {one.operations[0]["new"]["click"]["css"]: one.cause for one in whole.rows}
        causes = await overviews.causes(tx, shop.id, [keys["#old"], keys["#new"]])
        same = await proposals.open_of_cause(tx, shop.id, keys["#new"])
        more = await proposals.open_of_cause(tx, shop.id, keys["#new"], limit=1, offset=1)
        await proposals.decide(tx, same[0].id, to=ProposalStatus.DISMISSED, by="Ada", now=NOW)
        left = await proposals.open_of_cause(tx, shop.id, keys["#new"])

    shown = [one.operations[0]["new"]["click"]["css"] for one in whole.rows]
    assert shown == ["#two", "#new", "#new", "#old", "#old", "#one"]
    assert [one.id for one in second.rows] == [one.id for one in whole.rows[2:4]]
    assert (whole.total, second.total) == (6, 6)
    assert {key: (one.proposals, one.proven) for key, one in causes.items()} == {
        keys["#new"]: (2, 1),
        keys["#old"]: (2, 2),
    }
    assert [one.test_name for one in same] == ["test 1", "test 4"]
    assert [one.test_name for one in left] == ["test 4"]
    assert more == same[1:]


async def test_counts_are_those_of_each_project(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        other = await a_shop(tx, "books")
        for number in range(3):
            test = await a_checkout(tx, shop, f"test {number}")
            await a_proposal(tx, test)
            await at_risk.mark(tx, test.id, triggers=[], change_key="k", now=NOW)
        await saved_tests.set_status(tx, test.id, Status.ARCHIVED)
        await a_checkout(tx, other)
        await sweeps.start(tx, shop.id, base_url="http://preview.test", preview=True, now=NOW)
        lines = {line.project.name: line for line in await overviews.project_lines(tx)}
        counts = await overviews.counts(tx, shop.id)

    assert (counts.staged, counts.tests, counts.at_risk, counts.issues, counts.to_review) == (3, 2, 2, 0, 0)
    assert lines["shop"].counts == counts
    assert lines["shop"].last_sweep is None  # a preview is not the app
    assert lines["books"].counts.tests == 1


async def test_tests_are_narrowed_and_carry_their_newest_telling_run(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        first, second, third = [await a_checkout(tx, shop, name) for name in ("Alpha", "beta_1", "gamma")]
        await a_proposal(tx, second)
        await at_risk.mark(tx, second.id, triggers=[], change_key="k", now=NOW)
        await saved_tests.set_flagged(tx, third.id, True)
    red = await _run(store, second, RunStatus.RED)
    await _run(store, second, RunStatus.GREEN, Trigger.PROOF)
    await _run(store, first, RunStatus.RED)
    await _run(store, first, RunStatus.GREEN)

    async with store.reading() as tx:
        everything = await overviews.saved(tx, shop.id, limit=10)
        found = {
            key: [line.name for line in (await overviews.saved(tx, shop.id, limit=10, **which)).rows]  # type: ignore[arg-type]
            for key, which in {
                "red": {"only": "red"},
                "flagged": {"only": "flagged"},
                "at risk": {"only": "at_risk"},
                "ALPHA": {"search": "ALPHA"},
                "_": {"search": "_"},
                "draft": {"status": Status.DRAFT},
            }.items()
        }
        one = await overviews.saved(tx, shop.id, limit=1, offset=1)

    assert found == {
        "red": ["beta_1"],
        "flagged": ["gamma"],
        "at risk": ["beta_1"],
        "ALPHA": ["Alpha"],
        "_": ["beta_1"],
        "draft": [],
    }
    line = next(line for line in everything.rows if line.name == "beta_1")
    assert line.last_run is not None
    assert line.last_run.id == red
    assert line.proposal is not None
    assert (len(one.rows), one.total) == (1, 3)


async def test_the_history_is_narrowed_by_author_strategy_and_state(store: Store, checkout: SavedTest) -> None:
    given = {
        "project": checkout.project,
        "test": checkout.id,
        "version_before": 1,
        "version_after": 1,
        "steps_before": checkout.steps,
        "source_before": None,
        "variables_before": {},
        "operations": [an_operation()],
        "refusals": [],
        "reason": "renamed",
        "now": NOW,
    }
    async with store.transaction() as tx:
        mine = await repairs.add(tx, **given, author="Ada", strategy="self_heal")  # type: ignore[arg-type]
        its = await repairs.add(tx, **given, author="gardener", strategy="suggest_fix")  # type: ignore[arg-type]
        seen = await repairs.add(tx, **given, author="gardener", strategy="self_heal")  # type: ignore[arg-type]
        await repairs.mark_reviewed(tx, seen.id, by="Ada", now=NOW)
        await repairs.mark_reverted(tx, mine.id, by="Ada", now=NOW)

        async def found(**which: str) -> list[int]:
            rows = (await overviews.history(tx, checkout.project, limit=10, **which)).rows  # type: ignore[arg-type]
            return [one.id for one in rows]

        assert await found() == [seen.id, its.id, mine.id]
        assert await found(author="gardener") == [seen.id, its.id]
        assert await found(strategy="self_heal") == [seen.id, mine.id]
        assert await found(state="to_review") == [its.id]
        assert await found(state="reviewed") == [seen.id]
        assert await found(state="reverted") == [mine.id]


async def test_a_dismissed_proposal_is_restored_once(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        waiting = await a_proposal(tx, checkout)
        assert waiting is not None
        await proposals.decide(tx, waiting.id, to=ProposalStatus.DISMISSED, by="Ada", now=NOW)
        again = await a_proposal(tx, checkout)
        restored = await proposals.restore(tx, waiting.id)
        restated = await a_proposal(tx, checkout)

    assert again is None
    assert (restored.status, restored.decided_by, restored.decided_at) == (ProposalStatus.PROPOSED, None, None)
    assert restated is not None
    assert restated.restated == 1


# --- people ----------------------------------------------------------------------------------------------


async def test_the_first_person_is_made_by_one_of_two_processes(store: Store, second_store: Store) -> None:
    made = []
    for each in (store, second_store):
        async with each.transaction() as tx:
            made.append(await people.add_first(tx, "admin", password_hash="x", must_change=True, now=NOW))

    assert made == [True, False]


async def test_a_session_is_found_by_its_hash_until_it_ends(store: Store) -> None:
    async with store.transaction() as tx:
        ada = await people.add(tx, "Ada", role=Role.ADMIN, password_hash="x", must_change=False, now=NOW)
        await people.open_session(tx, token_hash("t"), ada.id, now=NOW, until=NOW + timedelta(days=1))
        found = await people.of_session(tx, token_hash("t"), now=NOW)
        late = await people.of_session(tx, token_hash("t"), now=NOW + timedelta(days=2))
        await people.set_password(tx, ada.id, "y", must_change=False)
        after = await people.of_session(tx, token_hash("t"), now=NOW)

    assert found == replace(ada, signed_in_at=NOW)
    assert late is after is None


async def test_failures_are_counted_forgiven_and_forgotten(store: Store) -> None:
    async with store.transaction() as tx:
        for _ in range(3):
            await people.hold_failures(tx, KEYS, now=NOW)
            await people.note_try(tx, KEYS, now=NOW)
        counted = await people.hold_failures(tx, KEYS, now=NOW)
        await people.forgive(tx, KEYS)
        forgiven = await people.hold_failures(tx, KEYS, now=NOW)
        forgotten = await people.hold_failures(tx, KEYS, now=NOW + timedelta(hours=2))

    assert {kind: count for kind, (count, _) in counted.items()} == {"pair": 3, "address": 3, "name": 3}
    assert {kind: count for kind, (count, _) in forgiven.items()} == {"pair": 0, "address": 2, "name": 2}
    assert {count for count, _ in forgotten.values()} == {0}


def test_waiting_gets_longer_and_has_an_end() -> None:
    limit = LIMITS["pair"]

    waits = [limit.wait(number).total_seconds() for number in (0, 4, 5, 6, 7, 50)]

    assert waits == [0, 0, 5, 10, 20, 900]
