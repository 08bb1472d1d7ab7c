"""No harm: what a project forbids its repairs to use, and the hours in which nothing is proven or written."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gardener.actions import by_hand, deciding
from gardener.errors import Refused
from gardener.jobs import JobState
from gardener.runs import Trigger
from gardener.store import cases
from tests.acceptance.shop import CHECKOUT, RENAMED
from tests.fakes import NOW, World

# The fakes' clock stands at noon.
OFFICE = "11:30-12:30"


async def broken(world: World) -> None:
    await world.save(CHECKOUT)
    await world.run()
    await world.sweep()
    world.app.release = RENAMED


async def test_a_repair_that_would_use_what_is_forbidden_is_refused(applying: World) -> None:
    await broken(applying)
    await applying.settle(forbidden=("#submit-payment",))

    (result,) = await applying.nightly()

    assert result["outcome"] == "refused"
    assert "the project forbids repairs to use" in result["reason"]
    assert [one["step"] for one in result["refusals"]] == [3]
    assert (await applying.test()).version == 1
    assert not any(run.trigger == Trigger.PROOF for run in await applying.runs())


async def test_what_was_forbidden_since_is_not_approved(world: World) -> None:
    """Named by another locator than the repair's: its proof shows that it is the same button."""
    await broken(world)
    await world.sweep()
    (row,) = await world.queue()
    await world.settle(forbidden=('{"role": "button", "name": "Pay now"}',))

    with pytest.raises(Refused, match=r"the project forbids repairs to use\. Nothing was written"):
        await deciding.approve(world.tools, row.id, "Ada")

    assert (await world.test()).version == 1
    assert len(await world.queue()) == 1


async def test_an_unattended_repair_waits_for_the_end_of_the_read_only_hours(applying: World) -> None:
    await broken(applying)
    await applying.settle(read_only_hours=OFFICE)
    played = len(applying.app.replays)

    (result,) = await applying.nightly()

    assert result["outcome"] == "unavailable"
    assert "read-only until Sun 01 Mar 12:30 (UTC)" in result["reason"]
    assert "its repair waits until then" in result["reason"]
    assert len(applying.app.replays) == played + 1, "the scheduled run itself, and nothing to prove anything"
    job = (await applying.jobs())[0]
    assert (job.state, job.not_before) == (JobState.QUEUED, NOW + timedelta(minutes=30))
    assert (await applying.test()).version == 1

    applying.clock.pass_(minutes=31)
    (done,) = await applying.work(job.id)

    assert done.state == JobState.DONE
    assert done.result is not None
    assert done.result["outcome"] == "applied"
    assert done.tries == 1, "waiting is no try"


async def test_a_staging_pass_leaves_the_tests_for_a_sweep_after_the_hours(world: World) -> None:
    await broken(world)
    await world.settle(read_only_hours=OFFICE)

    swept = await world.sweep()

    assert swept["dry_runs"] == []
    assert swept["left_for_next"] == ["checkout"]
    assert "read-only until" in swept["read_only"]
    assert await world.queue() == ()
    assert await world.at_risk() == ["checkout"]

    world.clock.pass_(minutes=31)
    assert [one["outcome"] for one in (await world.sweep())["dry_runs"]] == ["staged"]


async def test_what_a_person_asks_for_is_refused_in_the_hours_and_says_until_when(world: World) -> None:
    await broken(world)
    await world.sweep()
    (row,) = await world.queue()
    (run, *_) = await world.runs(triggers=[Trigger.DRY_RUN])
    await world.settle(read_only_hours=OFFICE)

    with pytest.raises(Refused, match=r"not applied now: .* read-only until .* It waits"):
        await deciding.approve(world.tools, row.id, "Ada")
    with pytest.raises(Refused, match=r"not repaired now: .* read-only until"):
        await by_hand.repair_run(world.tools, run.id, only=None, apply=True, by="Ada")

    assert (await world.test()).version == 1
    assert len(await world.queue()) == 1


async def test_hours_that_begin_in_the_middle_of_a_climb_stop_it_without_an_attempt(applying: World) -> None:
    await broken(applying)
    await applying.settle(read_only_hours="12:30-13:00")

    async def later(playing: object) -> None:
        if len(applying.app.replays) == 3:  # green, red, and the run once more before any repair
            applying.clock.pass_(minutes=31)

    applying.app.in_the_middle = later
    (result,) = await applying.nightly()

    assert len(applying.app.replays) == 3, "no candidate was played"
    assert result["outcome"] == "unavailable"
    assert "read-only until" in result["reason"]
    assert (await applying.test()).version == 1
    async with applying.store.reading() as tx:
        (case,) = await cases.listed(tx, (await applying.test()).id)
    assert case.status == "open"
