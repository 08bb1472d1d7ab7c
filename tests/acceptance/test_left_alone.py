"""What is never touched, through whichever door (G86-G95)."""

from __future__ import annotations

from typing import Any

import pytest

from gardener.actions import by_hand, deciding, working
from gardener.errors import NotFound, Refused
from gardener.jobs import JobKind, JobState
from gardener.runs import Run, RunStatus, Trigger
from gardener.saved_tests import Status, may_tend
from gardener.store import jobs, runs, saved_tests
from tests.acceptance.shop import CHECKOUT, OLD, RENAMED
from tests.builders import a_step, a_test
from tests.fakes import Playing, World

OUT_OF_SERVICE = [Status.DRAFT, Status.PENDING, Status.REJECTED, Status.ARCHIVED]
CLOSED = [Status.DRAFT, Status.REJECTED, Status.ARCHIVED]


async def broken(world: World) -> None:
    await world.save(CHECKOUT)
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    world.app.replays.clear()


async def put(world: World, status: Status) -> None:
    async with world.store.transaction() as tx:
        await saved_tests.set_status(tx, (await saved_tests.get(tx, world.project.id, "checkout")).id, status)


async def a_red_run(world: World, **changed: Any) -> Run:
    test = await world.test()
    given: dict[str, Any] = {
        "project": world.project.id,
        "test": test.id,
        "test_name": test.name,
        "version": test.version,
        "trigger": Trigger.SCHEDULE,
        "status": RunStatus.RED,
        "started_at": world.clock(),
        "ended_at": world.clock(),
        "failed_step": "3",
        "cause": "missing",
        "error": "it finds nothing",
    }
    async with world.store.transaction() as tx:
        return await runs.add(tx, **(given | changed))


async def heal(world: World, run: Run) -> JobState:
    """As if somebody had asked for its repair, by whatever way."""
    async with world.store.transaction() as tx:
        job = await jobs.add(
            tx,
            project=world.project.id,
            kind=JobKind.HEAL,
            key=f"run:{run.id}",
            payload={"test": run.test or (await saved_tests.get(tx, world.project.id, "checkout")).id, "run": run.id},
            now=world.clock(),
        )
    (done,) = await world.work(job.id)
    return done.state


async def nothing_happened(world: World) -> bool:
    assert world.app.replays == []
    assert await world.queue() == ()
    assert await world.history() == ()
    assert (await world.test()).steps == CHECKOUT.steps
    return True


@pytest.mark.parametrize("trigger", [Trigger.CONTROL, Trigger.PROBE])
async def test_g86_g87_control_runs_and_probes_are_not_repaired_by_a_job(applying: World, trigger: Trigger) -> None:
    await broken(applying)

    state = await heal(applying, await a_red_run(applying, trigger=trigger))

    assert state == JobState.SKIPPED
    assert await nothing_happened(applying)


@pytest.mark.parametrize("trigger", [Trigger.CONTROL, Trigger.PROBE])
@pytest.mark.parametrize("only", [None, "self_heal", "suggest_fix", "diagnose_drift"])
async def test_g95_every_entry_by_hand_refuses_them(world: World, trigger: Trigger, only: str | None) -> None:
    await broken(world)
    run = await a_red_run(world, trigger=trigger)

    with pytest.raises(Refused, match="is not repaired: this"):
        await by_hand.repair_run(world.tools, run.id, only=only, apply=True, by="Ada")

    assert await nothing_happened(world)


async def test_g87_a_probe_without_a_saved_test_is_refused(world: World) -> None:
    await broken(world)
    run = await a_red_run(world, trigger=Trigger.PROBE, test=None, version=None, test_name="a scenario")

    with pytest.raises(Refused, match="not a saved test"):
        await by_hand.repair_run(world.tools, run.id, only=None, apply=False, by="Ada")


@pytest.mark.parametrize("trigger", [Trigger.CONTROL, Trigger.PROBE])
async def test_g86_a_red_control_run_asks_for_no_repair(applying: World, trigger: Trigger) -> None:
    await broken(applying)

    report = await applying.run(trigger=trigger)

    assert report.runs[0].status == RunStatus.RED
    assert report.jobs == ()


@pytest.mark.parametrize("status", OUT_OF_SERVICE)
async def test_g88_out_of_service_a_job_is_skipped(applying: World, status: Status) -> None:
    await broken(applying)
    run = await a_red_run(applying)
    await put(applying, status)

    assert await heal(applying, run) == JobState.SKIPPED

    assert await nothing_happened(applying)


@pytest.mark.parametrize("status", OUT_OF_SERVICE)
async def test_g88_out_of_service_a_pass_does_not_dry_run_it(world: World, status: Status) -> None:
    await broken(world)
    await put(world, status)

    swept = await world.sweep()

    assert swept["dry_runs"] == []
    assert await nothing_happened(world)


@pytest.mark.parametrize("status", OUT_OF_SERVICE)
async def test_g88_taken_out_of_service_after_it_was_at_risk_it_is_left(world: World, status: Status) -> None:
    await broken(world)
    await world.settle(most_dry_runs=1)
    await world.save(a_test(name="a checkout"))
    world.app.release = OLD
    await world.run("a checkout")
    world.app.release = RENAMED
    swept = await world.sweep()
    (left,) = swept["left_for_next"]
    async with world.store.transaction() as tx:
        await saved_tests.set_status(tx, (await saved_tests.get(tx, world.project.id, left)).id, status)

    swept = await world.sweep()

    assert swept["dry_runs"] == []
    assert swept["left_for_next"] == []


@pytest.mark.parametrize("status", CLOSED)
async def test_g88_taken_out_of_service_in_the_middle_of_a_pass_it_is_not_dry_run(world: World, status: Status) -> None:
    await broken(world)
    await world.save(a_test(name="a checkout"))
    world.app.release = OLD
    await world.run("a checkout")
    await world.sweep()
    world.app.release = RENAMED
    second = (await world.test("checkout")).id

    async def retire(playing: Playing) -> None:
        async with world.store.transaction() as tx:
            await saved_tests.set_status(tx, second, status)

    world.app.in_the_middle = retire
    swept = await world.sweep()

    assert [one["test"] for one in swept["dry_runs"]] == ["a checkout"]
    assert [row.test_name for row in await world.queue()] == ["a checkout"]


@pytest.mark.parametrize("status", OUT_OF_SERVICE)
async def test_g88_taken_out_of_service_during_the_proof_nothing_is_written(applying: World, status: Status) -> None:
    await broken(applying)

    async def retire(playing: Playing) -> None:
        if playing.steps != CHECKOUT.steps:
            await put(applying, status)

    applying.app.in_the_middle = retire
    (result,) = await applying.nightly()

    assert result["outcome"] == "refused"
    assert status.value in result["reason"]
    assert (await applying.test()).steps == CHECKOUT.steps
    assert await applying.queue() == ()


@pytest.mark.parametrize("status", OUT_OF_SERVICE)
@pytest.mark.parametrize("trigger", [Trigger.SCHEDULE, Trigger.MANUAL])
async def test_g89_a_red_run_of_a_test_out_of_service_starts_no_repair(
    applying: World, status: Status, trigger: Trigger
) -> None:
    await broken(applying)
    await put(applying, status)

    report = await applying.run("checkout", trigger=trigger)

    assert report.runs[0].status == RunStatus.RED
    assert report.jobs == ()


async def test_g90_once_in_service_the_next_failure_is_tended(applying: World) -> None:
    await broken(applying)
    await put(applying, Status.PENDING)
    await applying.run("checkout", trigger=Trigger.SCHEDULE)
    await put(applying, Status.ACTIVE)

    (result,) = await applying.nightly()

    assert result["outcome"] == "applied"


async def test_g91_by_hand_a_pending_test_may_be_mended(world: World) -> None:
    await broken(world)
    await put(world, Status.PENDING)
    (run,) = (await world.run("checkout")).runs

    result = await by_hand.repair_run(world.tools, run.id, only=None, apply=False, by="Ada")

    assert result.outcome == "staged"
    (row,) = await world.queue()
    await deciding.approve(world.tools, row.id, "Ada")
    test = await world.test()
    assert test.steps[2] == a_step("click", css="#submit-payment")
    assert test.status == Status.PENDING, "a repair is no review"


@pytest.mark.parametrize("status", CLOSED)
async def test_g88_by_hand_a_draft_a_rejected_or_an_archived_test_is_refused(world: World, status: Status) -> None:
    await broken(world)
    run = await a_red_run(world, trigger=Trigger.MANUAL)
    await put(world, status)

    with pytest.raises(Refused, match=f"the test is {status.value}"):
        await by_hand.repair_run(world.tools, run.id, only=None, apply=True, by="Ada")

    assert await nothing_happened(world)


@pytest.mark.parametrize("status", CLOSED)
async def test_g88_a_proposal_of_a_test_that_was_retired_since_is_not_written(world: World, status: Status) -> None:
    await broken(world)
    await world.sweep()
    (row,) = await world.queue()
    await put(world, status)

    with pytest.raises(Refused, match=f"the test is {status.value}"):
        await deciding.approve(world.tools, row.id, "Ada")

    assert (await world.test()).steps == CHECKOUT.steps


async def test_g83_a_repair_leaves_the_test_in_service(applying: World) -> None:
    await broken(applying)

    await applying.nightly()

    assert (await applying.test()).status == Status.ACTIVE


# --- runs that are not the test's as it is ------------------------------------------------------------


async def test_a_run_of_an_older_version_is_not_repaired_by_a_job(applying: World) -> None:
    await broken(applying)
    report = await applying.run(trigger=Trigger.SCHEDULE)
    applying.app.replays.clear()
    (edited,) = await applying.save(a_test({"goto": "/"}, {"click": {"css": "#pay"}}))

    (job,) = await applying.work(*report.jobs)

    assert job.state == JobState.SKIPPED
    assert applying.app.replays == []
    assert await applying.test() == edited


async def test_a_run_of_an_older_version_is_refused_by_hand(world: World) -> None:
    await broken(world)
    (run,) = (await world.run()).runs
    await world.save(a_test({"goto": "/"}, {"click": {"css": "#pay"}}))

    with pytest.raises(Refused, match="played version 1 of 'checkout', which is at version 2"):
        await by_hand.repair_run(world.tools, run.id, only=None, apply=True, by="Ada")


async def test_a_green_run_and_a_run_nobody_knows_are_refused_by_hand(world: World) -> None:
    await world.save(CHECKOUT)
    (run,) = (await world.run()).runs

    with pytest.raises(Refused, match="is green"):
        await by_hand.repair_run(world.tools, run.id, only=None, apply=True, by="Ada")
    with pytest.raises(NotFound, match="no run 99"):
        await by_hand.repair_run(world.tools, 99, only=None, apply=True, by="Ada")


async def test_a_test_that_is_green_by_now_is_not_repaired(applying: World) -> None:
    await broken(applying)
    report = await applying.run(trigger=Trigger.SCHEDULE)
    applying.app.release = OLD

    (result,) = working.results_of(await applying.work(*report.jobs))

    assert result["outcome"] == "passed"
    assert (await applying.test()).version == 1


async def test_the_gate_names_its_reason() -> None:
    assert may_tend(None) == "this was a probe, not a saved test: there is nothing to repair"
