"""The staging pass: whom it looks at, how many, and what it adds to what waits already (G52-G65)."""

from __future__ import annotations

from typing import Any

import pytest

from gardener.actions import deciding
from gardener.errors import Refused
from gardener.notices import EventKind
from gardener.proposals import ProposalStatus
from gardener.store import sweeps
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import (
    CHECKOUT,
    HELPING,
    HOME,
    NEW_FOOTER,
    OLD,
    RENAMED,
    RENAMED_AGAIN,
    RENAMED_HOME,
    WITHOUT_BUTTON,
    checkouts,
    paying,
)
from tests.builders import CHECKOUT as PAYING
from tests.builders import a_page, a_step, a_test
from tests.fakes import Model, World


async def known(world: World, *tests: Any) -> None:
    """Green once, and swept."""
    await world.save(*(tests or (CHECKOUT,)))
    await world.run()
    await world.sweep()
    world.app.replays.clear()


async def test_g62_a_pass_whose_tests_are_all_green_makes_no_model_call_and_no_proposal(make_world: MakeWorld) -> None:
    model = Model()
    async with make_world(OLD, ask=model) as world:
        await known(world, paying({"css": "#pay"}))
        # The form has a new required field, which the test happens to fill.
        world.app.release = OLD.with_(
            home=a_page(
                HOME.replace(
                    'input#coupon name=coupon label="Coupon"', 'input#note name=email label="Note" required=""'
                )
            )
        )

        swept = await world.sweep()

        assert [one["outcome"] for one in swept["dry_runs"]] == ["passed"]
        assert [one["test"] for one in swept["at_risk"]] == ["checkout"]
        assert swept["model_calls"] == 0
        assert model.asked == []
        assert await world.queue() == ()
        assert await world.at_risk() == []


async def test_g63_a_test_that_only_visits_the_changed_page_is_not_even_dry_run(world: World) -> None:
    await known(world, CHECKOUT, HELPING)
    world.app.release = NEW_FOOTER

    swept = await world.sweep()

    assert swept["changes"]
    assert swept["at_risk"] == []
    assert swept["dry_runs"] == []
    assert world.app.replays == []


async def test_g63_only_the_tests_whose_own_locators_are_touched_are_dry_run(world: World) -> None:
    visiting = a_test({"goto": "/"}, {"click": {"css": "#help"}}, {"assert_url": {"contains": "/help"}}, name="visit")
    await known(world, CHECKOUT, visiting)
    world.app.release = RENAMED

    swept = await world.sweep()

    assert [one["test"] for one in swept["dry_runs"]] == ["checkout"]
    assert all(steps != visiting.steps for steps in world.app.replays)


@pytest.mark.parametrize("count", [11, 14])
async def test_g64_g65_ten_are_dry_run_and_the_rest_is_named_and_first_next_time(world: World, count: int) -> None:
    names = [one.name for one in checkouts(count)]
    await known(world, *checkouts(count))
    world.app.release = RENAMED

    first = await world.sweep()
    world.clock.pass_(hours=1)
    second = await world.sweep()

    assert [one["test"] for one in first["dry_runs"]] == names[:10]
    assert first["left_for_next"] == names[10:]
    assert [one["test"] for one in second["dry_runs"]] == names[10:], "those that have a proposal are not run again"
    assert second["left_for_next"] == []
    assert {row.test_name for row in await world.queue()} == set(names)
    async with world.store.reading() as tx:
        stored = (await sweeps.get(tx, first["sweep"])).summary
    assert stored is not None
    assert stored["left_for_next"] == names[10:], "the summary is kept, not only logged"


async def test_g65_those_left_over_come_first_even_when_a_new_change_touches_all(world: World) -> None:
    names = [one.name for one in checkouts(12)]
    await known(world, *checkouts(12))
    world.app.release = RENAMED
    await world.sweep()
    world.clock.pass_(hours=1)
    world.app.release = RENAMED_AGAIN

    second = await world.sweep()

    assert [one["test"] for one in second["dry_runs"]][:2] == names[10:]
    assert len(second["dry_runs"]) == 10
    assert second["left_for_next"] == names[8:10]


async def test_the_cap_is_a_setting_of_the_project(world: World) -> None:
    await world.settle(most_dry_runs=2)
    await known(world, *checkouts(3))
    world.app.release = RENAMED

    swept = await world.sweep()

    assert len(swept["dry_runs"]) == 2
    assert swept["left_for_next"] == ["checkout 03"]


async def test_the_first_sweep_only_takes_the_baseline(world: World) -> None:
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED

    swept = await world.sweep()

    assert swept["changes"] == []
    assert swept["dry_runs"] == []
    assert sorted(await world.baseline()) == ["/", "/thanks"]


async def test_what_was_seen_becomes_the_baseline_and_the_test_stays_at_risk(world: World) -> None:
    await known(world)
    before = await world.baseline()
    world.app.release = WITHOUT_BUTTON

    await world.sweep()
    again = await world.sweep()

    assert (await world.baseline())["/"] != before["/"]
    assert again["changes"] == []
    assert [one["test"] for one in again["at_risk"]] == ["checkout"]


# --- what waits already --------------------------------------------------------------------------------


async def test_g56_the_same_change_swept_again_leaves_one_row(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()

    await world.sweep()
    await world.sweep()

    (still,) = await world.queue()
    assert still.id == row.id
    assert await world.proposals() == (still,)


async def test_g52_g57_a_further_change_is_noted_on_the_open_row(world: World) -> None:
    """Two changes in two sweeps, one test: one row, restated once, with both triggers."""
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    world.clock.pass_(hours=1)
    # The email field is required now: the same fix, for one change more.
    changed = RENAMED_HOME.replace('name=coupon label="Coupon"', 'name=email label="Coupon" required=""')
    world.app.release = RENAMED.with_(home=a_page(changed))

    await world.sweep()

    (row,) = await world.proposals()
    assert row.status == ProposalStatus.PROPOSED
    assert row.restated == 1
    assert {one["element"] for one in row.triggers} == {'button "Pay now"', 'textbox "Coupon"'}


async def test_c31_a_change_that_needs_another_fix_supersedes_what_waits(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    (old,) = await world.queue()
    world.app.release = RENAMED_AGAIN

    await world.sweep()

    (new,) = await world.queue()
    assert new.operations[0]["new"] == {"click": {"css": "#order-button"}}
    assert {row.id: row.status for row in await world.proposals()}[old.id] == ProposalStatus.SUPERSEDED
    assert EventKind.SUPERSEDED in [event.kind for event in await world.events()]
    with pytest.raises(Refused, match="superseded already"):
        await deciding.approve(world.tools, old.id, "Ada")
    assert (await world.test()).version == 1


async def test_g55_a_dismissed_fix_stays_away(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()
    await deciding.dismiss(world.tools, row.id, "Ada")
    world.app.replays.clear()

    for _ in range(3):
        await world.sweep()

    assert await world.queue() == ()
    assert [one.status for one in await world.proposals()] == [ProposalStatus.DISMISSED]
    assert world.app.replays == [], "nothing is proved again that nobody wants"


async def test_g55_a_dismissed_fix_comes_again_when_the_test_was_edited(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()
    await deciding.dismiss(world.tools, row.id, "Ada")
    await world.save(a_test(*PAYING, {"screenshot": "paid"}))

    await world.sweep()

    (fresh,) = await world.queue()
    assert fresh.id != row.id
    assert fresh.version == 2


async def test_g55_a_dismissed_fix_comes_again_when_the_app_changed(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()
    await deciding.dismiss(world.tools, row.id, "Ada")
    world.app.release = RENAMED_AGAIN

    await world.sweep()

    (fresh,) = await world.queue()
    assert fresh.operations[0]["new"] == {"click": {"css": "#order-button"}}


async def test_g55_dismissing_says_who_and_is_final(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()

    dismissed = await deciding.dismiss(world.tools, row.id, "Ada")

    assert (dismissed.status, dismissed.decided_by) == (ProposalStatus.DISMISSED, "Ada")
    assert (await world.test()).version == 1
    for decide in (deciding.approve, deciding.dismiss):
        with pytest.raises(Refused, match="dismissed already by Ada"):
            await decide(world.tools, row.id, "Ben")


async def test_g58_editing_the_test_makes_what_waits_stale(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()

    await world.save(a_test(*PAYING, {"screenshot": "paid"}))

    assert await world.queue() == ()
    assert [row.status for row in await world.proposals()] == [ProposalStatus.STALE]
    assert EventKind.STALE in [event.kind for event in await world.events()]


async def test_g59_approving_a_stale_proposal_is_refused_and_changes_nothing(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()
    (edited,) = await world.save(a_test(*PAYING, {"screenshot": "paid"}))
    world.app.replays.clear()

    with pytest.raises(Refused, match="is stale"):
        await deciding.approve(world.tools, row.id, "Ada")

    assert await world.test() == edited
    assert await world.history() == ()
    assert world.app.replays == []


async def test_g60_a_fresh_proposal_comes_from_sweeping_again(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()
    await world.save(a_test(*PAYING, {"screenshot": "paid"}))

    await world.sweep()

    (fresh,) = await world.queue()
    assert fresh.version == 2
    await deciding.approve(world.tools, fresh.id, "Ada")
    assert (await world.test()).steps[2] == a_step("click", css="#submit-payment")


async def test_a_change_of_tags_or_status_alone_leaves_the_proposal(world: World) -> None:
    await known(world)
    world.app.release = RENAMED
    await world.sweep()

    await world.save(a_test(tags=("smoke",)))

    assert len(await world.queue()) == 1
