"""Covers gardener/store/proposals.py and repairs.py: one open proposal a test, decided once, and the history."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gardener.errors import Conflict, NotFound
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.proposals import Proposal, ProposalStatus
from gardener.repairs import GARDENER
from gardener.saved_tests import SavedTest
from gardener.store import Store, Transaction, events, proposals, repairs, saved_tests
from gardener.store.rows import ProposalRow
from repair_ladder.formats import Secret
from tests.gardener.conftest import CHECKOUT, NOW, STEPS, a_checkout, a_proposal, an_operation

LATER = NOW + timedelta(hours=1)


async def _staged(tx: Transaction, test: SavedTest, **changed: object) -> Proposal:
    proposal = await a_proposal(tx, test, **changed)
    assert proposal is not None
    return proposal


async def _decide(tx: Transaction, proposal: Proposal, to: ProposalStatus, by: str = "Ada") -> Proposal:
    return await proposals.decide(tx, proposal.id, to=to, by=by, now=LATER)


async def _edit(tx: Transaction, test: SavedTest) -> SavedTest:
    edited = replace(CHECKOUT, name=test.name, steps=STEPS[:-1])
    return await saved_tests.import_test(tx, test.project, edited, folder=None, author="Ben", now=LATER)


async def _told(tx: Transaction, test: SavedTest) -> list[tuple[EventKind, int]]:
    return [(one.kind, one.payload["proposal"]) for one in await events.listed(tx, test.project)]


async def test_a_staged_fix_is_what_waits_for_the_test(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        staged = await _staged(tx, checkout)

        assert await proposals.open_of(tx, checkout.id) == staged == await proposals.get(tx, staged.id)
        assert await proposals.listed(tx, checkout.project) == (staged,)
        assert await proposals.count_open(tx, checkout.project) == 1
    assert (staged.test_name, staged.restated, staged.status) == ("checkout", 0, ProposalStatus.PROPOSED)
    assert staged.operations == (an_operation(),)


async def test_the_database_itself_keeps_one_open_proposal_a_test(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        staged = await _staged(tx, checkout)
        row = await tx.one(ProposalRow.__table__.select().where(ProposalRow.id == staged.id))
        second = {key: one for key, one in row._mapping.items() if key != "id"}

    with pytest.raises(Conflict):
        async with store.transaction() as tx:
            await tx.run(tx.insert(ProposalRow).values(**second))
    async with store.transaction() as tx:
        await tx.run(tx.insert(ProposalRow).values(**second | {"status": "superseded"}))


async def test_the_same_fix_again_is_restated_with_its_triggers_added(store: Store, checkout: SavedTest) -> None:
    more = {"page": "/basket", "kind": "removed", "element": "button Pay", "step": 3}
    async with store.transaction() as tx:
        first = await _staged(tx, checkout, proven=False)
        again = await _staged(tx, checkout, triggers=[*first.triggers, more], change_key="release-3")

        assert again == replace(
            first, restated=1, triggers=(*first.triggers, more), change_key="release-3", proven=True
        )
        assert await proposals.listed(tx, checkout.project) == (again,)


async def test_a_further_change_is_noted_on_the_open_row(store: Store, checkout: SavedTest) -> None:
    more = {"page": "/basket", "kind": "moved", "element": "button Pay", "step": 3}
    async with store.transaction() as tx:
        assert await proposals.add_triggers(tx, checkout.id, [more]) is None
        first = await _staged(tx, checkout)
        noted = await proposals.add_triggers(tx, checkout.id, [more])

    assert noted == replace(first, restated=1, triggers=(*first.triggers, more))


async def test_a_newer_proof_supersedes_what_waits(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        old = await _staged(tx, checkout)
        new = await _staged(tx, checkout, operations=[an_operation("#buy")], now=LATER)

        superseded = await proposals.get(tx, old.id)
        assert (superseded.status, superseded.decided_at) == (ProposalStatus.SUPERSEDED, LATER)
        assert await proposals.open_of(tx, checkout.id) == new
        assert await _told(tx, checkout) == [(EventKind.SUPERSEDED, old.id)]


async def test_an_edit_makes_what_waits_stale(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        old = await _staged(tx, checkout)
        edited = await _edit(tx, checkout)

        assert edited.version == 2
        assert (await proposals.get(tx, old.id)).status == ProposalStatus.STALE
        assert await _told(tx, checkout) == [(EventKind.STALE, old.id)]
        with pytest.raises(Conflict, match="is stale already"):
            await _decide(tx, old, ProposalStatus.APPLIED)


async def test_what_waits_for_an_older_version_is_stale_when_a_new_fix_is_staged(
    store: Store, checkout: SavedTest
) -> None:
    async with store.transaction() as tx:
        old = await _staged(tx, checkout)
        written = await saved_tests.write_steps(
            tx, checkout.id, 1, steps=STEPS[:-1], source=None, author="Ada", cause="edit", now=NOW
        )
        new = await _staged(tx, written)

        assert (await proposals.get(tx, old.id)).status == ProposalStatus.STALE
        assert (new.version, new.restated) == (2, 0)


async def test_a_fix_for_an_older_version_is_not_staged(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        await _edit(tx, checkout)
        with pytest.raises(Conflict, match="'checkout' was edited meanwhile"):
            await a_proposal(tx, checkout)


async def test_a_dismissed_fix_is_not_proposed_again_until_test_or_app_change(
    store: Store, checkout: SavedTest
) -> None:
    async with store.transaction() as tx:
        dismissed = await _decide(tx, await _staged(tx, checkout), ProposalStatus.DISMISSED)
        assert (dismissed.decided_by, dismissed.decided_at) == ("Ada", LATER)

        assert await a_proposal(tx, checkout) is None
        assert await proposals.open_of(tx, checkout.id) is None

        for_another_change = await _staged(tx, checkout, change_key="release-3")
        await _decide(tx, for_another_change, ProposalStatus.DISMISSED)
        assert await a_proposal(tx, await _edit(tx, checkout)) is not None


async def test_a_person_who_asks_by_hand_may_see_a_declined_fix_again(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        await _decide(tx, await _staged(tx, checkout), ProposalStatus.DISMISSED)

        again = await _staged(tx, checkout, even_declined=True)

        await _decide(tx, again, ProposalStatus.DISMISSED)
        assert await a_proposal(tx, checkout) is None


async def test_a_declined_fix_leaves_what_else_waits(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        await _decide(tx, await _staged(tx, checkout), ProposalStatus.DISMISSED)
        other = await _staged(tx, checkout, operations=[an_operation("#buy")])

        assert await a_proposal(tx, checkout) is None
        assert await proposals.open_of(tx, checkout.id) == other


async def test_of_two_approvals_at_once_exactly_one_wins(
    store: Store, second_store: Store, checkout: SavedTest
) -> None:
    async with store.transaction() as tx:
        staged = await _staged(tx, checkout)

    async def approve(through: Store, by: str) -> str:
        try:
            async with through.transaction() as tx:
                await _decide(tx, staged, ProposalStatus.APPLIED, by)
                await saved_tests.write_steps(
                    tx, checkout.id, 1, steps=STEPS[:-1], source=None, author=by, cause="repair", now=LATER
                )
        except Conflict as error:
            return str(error)
        return by

    said = await asyncio.gather(*(approve(one, by) for one in (store, second_store) for by in ("Ada", "Ben")))

    async with store.reading() as tx:
        applied = await proposals.get(tx, staged.id)
        assert (await saved_tests.by_id(tx, checkout.id)).version == 2
    winners = [one for one in said if one in ("Ada", "Ben")]
    assert winners == [applied.decided_by]
    assert said.count(f"Proposal {staged.id} for 'checkout' is applied already, by {winners[0]}.") == 3


async def test_staging_and_deciding_at_once_never_collide(store: Store, second_store: Store, shop: Project) -> None:
    """They take the test and its proposal in the same order, so neither waits for the other's second."""
    async with store.transaction() as tx:
        tests = [await a_checkout(tx, shop, f"checkout {number}") for number in range(8)]
        staged = [await _staged(tx, test) for test in tests]

    async def apply(test: SavedTest, proposal: Proposal) -> None:
        async with store.transaction() as tx:
            await _decide(tx, proposal, ProposalStatus.APPLIED)
            await saved_tests.write_steps(
                tx, test.id, 1, steps=STEPS[:-1], source=None, author="Ada", cause="repair", now=LATER
            )

    async def restate(test: SavedTest) -> str:
        try:
            async with second_store.transaction() as tx:
                await a_proposal(tx, test)
        except Conflict as error:
            return str(error)
        return ""

    said = await asyncio.gather(
        *(restate(test) for test in tests), *(apply(test, one) for test, one in zip(tests, staged, strict=True))
    )

    assert not [one for one in said if one and "was edited meanwhile" not in one]


async def test_what_waits_can_be_closed_and_proven_only_while_it_waits(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        assert (
            await proposals.close_open(
                tx, checkout.id, to=ProposalStatus.SUPERSEDED, now=NOW, by=None, why="another repair was applied"
            )
            is None
        )
        unproven = await _staged(tx, checkout, proven=False)
        assert (await proposals.mark_proven(tx, unproven.id)).proven is True
        closed = await proposals.close_open(
            tx, checkout.id, to=ProposalStatus.SUPERSEDED, now=NOW, by=None, why="another repair was applied"
        )
        assert closed is not None
        assert closed.status == ProposalStatus.SUPERSEDED
        with pytest.raises(Conflict, match="superseded already"):
            await proposals.mark_proven(tx, unproven.id)
        with pytest.raises(NotFound, match="no proposal 999"):
            await proposals.decide(tx, 999, to=ProposalStatus.APPLIED, by="Ada", now=NOW)


async def test_a_repair_keeps_the_steps_from_before_and_is_reverted_once(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        repair = await repairs.add(
            tx,
            project=checkout.project,
            test=checkout.id,
            version_before=1,
            version_after=2,
            steps_before=STEPS,
            source_before="name: checkout\n",
            variables_before={"password": Secret("SHOP_PASSWORD"), "count": 2},
            operations=[an_operation()],
            refusals=[],
            strategy="self_heal.local",
            author=GARDENER,
            reason="the button has another id",
            now=NOW,
        )
        reviewed = await repairs.mark_reviewed(tx, repair.id, by="Ada", now=NOW)
        assert await repairs.mark_reviewed(tx, repair.id, by="Ben", now=LATER) == reviewed
        reverted = await repairs.mark_reverted(tx, repair.id, by="Ben", now=LATER)
        with pytest.raises(Conflict, match="reverted before, by Ben"):
            await repairs.mark_reverted(tx, repair.id, by="Cy", now=LATER)

        assert await repairs.listed(tx, checkout.project, test=checkout.id) == (reverted,)
        assert await repairs.newest_of(tx, checkout.id) == reverted
    assert repair.steps_before == STEPS
    assert repair.variables_before == {"password": Secret("SHOP_PASSWORD"), "count": 2}
    assert reverted == replace(repair, reviewed_at=NOW, reviewed_by="Ada", reverted_at=LATER, reverted_by="Ben")
