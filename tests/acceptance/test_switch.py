"""The switch "Repair failed runs automatically", flipped at every point (G6-G17)."""

from __future__ import annotations

from typing import Any

import pytest

from gardener.actions import by_hand, working
from gardener.jobs import JobKind, JobState
from gardener.proposals import essence
from gardener.runs import RunStatus, Trigger
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import CHECKOUT, OLD, RENAMED, checkouts
from tests.builders import a_step
from tests.fakes import Playing, World

MENDED = a_step("click", css="#submit-payment")


async def broken(world: World, *tests: Any) -> None:
    await world.save(*(tests or (CHECKOUT,)))
    await world.run()
    await world.sweep()
    world.app.replays.clear()
    world.app.release = RENAMED


async def test_g10_a_failed_attended_run_repairs_nothing(applying: World) -> None:
    await broken(applying)

    report = await applying.run(trigger=Trigger.MANUAL)

    assert report.runs[0].status == RunStatus.RED
    assert report.jobs == ()
    assert [job.kind for job in await applying.jobs()] == [JobKind.SWEEP]
    assert len(applying.app.replays) == 1
    assert (await applying.test()).version == 1


async def test_an_unattended_red_run_of_a_project_that_is_off_repairs_nothing(world: World) -> None:
    await broken(world)

    assert await world.nightly() == []

    assert await world.queue() == ()
    assert (await world.test()).version == 1


async def test_g14_a_repair_that_was_asked_for_before_the_switch_went_off_is_skipped_when_it_is_claimed(
    applying: World,
) -> None:
    await broken(applying)
    report = await applying.run(trigger=Trigger.SUITE)
    await applying.switch(False)

    (job,) = await applying.work(*report.jobs)

    assert job.state == JobState.SKIPPED
    assert len(applying.app.replays) == 1, "only the red run itself"
    assert (await applying.test()).version == 1
    assert await applying.queue() == ()


async def test_g14_a_repair_that_was_asked_for_while_the_switch_is_on_is_done_even_if_it_was_off_between(
    applying: World,
) -> None:
    await broken(applying)
    report = await applying.run(trigger=Trigger.SUITE)
    await applying.switch(False)
    await applying.switch(True)

    await applying.work(*report.jobs)

    assert (await applying.test()).steps[2] == MENDED


async def test_g8_g12_switched_off_between_proof_and_write_the_fix_is_staged_and_not_applied(applying: World) -> None:
    await broken(applying)

    async def flip(playing: Playing) -> None:
        if playing.steps != CHECKOUT.steps:  # the proof
            await applying.switch(False)

    applying.app.in_the_middle = flip
    (result,) = await applying.nightly()

    assert result["outcome"] == "staged"
    assert (await applying.test()).steps == CHECKOUT.steps
    (row,) = await applying.queue()
    assert row.proven


async def test_g15_the_staging_pass_skips_a_project_whose_switch_is_on(applying: World) -> None:
    await broken(applying)

    swept = await applying.sweep()

    assert swept["dry_runs"] == []
    assert [one["test"] for one in swept["at_risk"]] == ["checkout"]
    assert applying.app.replays == []
    assert await applying.queue() == ()


async def test_g14_a_sweep_that_was_asked_for_before_the_switch_went_on_stages_nothing(world: World) -> None:
    await broken(world)
    job = await world.ask_for_sweep()
    await world.switch(True)

    await world.work(job.id)

    assert world.app.replays == []
    assert await world.queue() == ()


async def test_g15_switched_on_while_the_app_is_looked_at_nothing_is_staged(world: World) -> None:
    await broken(world)

    world.app.on_look = lambda: world.switch(True)
    swept = await world.sweep()

    assert swept["dry_runs"] == []
    assert await world.queue() == ()


async def test_g16_switched_on_in_the_middle_of_a_pass_the_remaining_tests_are_left(world: World) -> None:
    await broken(world, *checkouts(4))

    async def flip(playing: Playing) -> None:
        if playing.number == 4:  # the dry run of the second test: its first replay after three of the first
            await world.switch(True)

    world.app.in_the_middle = flip
    swept = await world.sweep()

    assert [one["test"] for one in swept["dry_runs"]] == ["checkout 01", "checkout 02"]
    assert len(world.app.replays) == 6
    assert await world.at_risk() == ["checkout 03", "checkout 04", "checkout 01", "checkout 02"], "none is forgotten"


async def test_g17_a_test_that_was_staged_before_the_switch_went_on_is_repaired_once(world: World) -> None:
    await broken(world)
    await world.sweep()
    (row,) = await world.queue()
    await world.switch(True)

    await world.nightly()

    (repair,) = await world.history()
    assert essence(repair.operations) == essence(row.operations)
    assert [one.status.value for one in await world.proposals()] == ["superseded"]
    assert (await world.test()).version == 2


async def test_g13_without_a_sweep_nothing_is_ever_staged(world: World) -> None:
    await broken(world)

    for trigger in Trigger:
        if trigger not in (Trigger.DRY_RUN, Trigger.PROOF, Trigger.CONTROL, Trigger.PROBE):
            await world.run(trigger=trigger)

    assert await world.queue() == ()
    assert not await working.work_once(world.tools)


@pytest.mark.parametrize("on", [False, True], ids=["switch off", "switch on"])
async def test_g92_by_hand_the_switch_does_not_matter(make_world: MakeWorld, on: bool) -> None:
    async with make_world(OLD, auto_repair=on) as world:
        await broken(world)
        (run,) = (await world.run()).runs

        staged = await by_hand.repair_run(world.tools, run.id, only=None, apply=False, by="Ada")
        steps = (await world.test()).steps
        written = await by_hand.repair_run(world.tools, run.id, only=None, apply=True, by="Ada")

        assert (staged.outcome, written.outcome) == ("staged", "applied")
        assert steps == CHECKOUT.steps
        (repair,) = await world.history()
        assert repair.author == "Ada"
        assert not (await world.test()).flagged


async def test_c19_a_red_unattended_run_stages_where_a_proposing_project_says_so(world: World) -> None:
    await world.settle(staging=True, stage_red=True)
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED

    (result,) = await world.nightly()

    assert result["outcome"] == "staged"
    assert len(await world.queue()) == 1
    assert (await world.test()).version == 1, "G12: nothing is written until a person approves"


@pytest.mark.parametrize("settings", [{"staging": True}, {"stage_red": True}, {}])
async def test_c19_by_default_a_red_run_of_a_project_that_does_not_apply_stages_nothing(
    world: World, settings: dict[str, bool]
) -> None:
    await world.settle(**settings)
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED

    assert await world.nightly() == []
    assert await world.queue() == ()
