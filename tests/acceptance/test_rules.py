"""Rules of the seeds that are about a repair as a whole, each named (H, T)."""

from __future__ import annotations

from gardener.actions import gate
from gardener.runs import Trigger
from tests.acceptance.shop import CHECKOUT, HELPING, RENAMED
from tests.builders import HOST
from tests.fakes import Playing, World


async def broken(world: World) -> list[Playing]:
    await world.save(CHECKOUT, HELPING)
    await world.run()
    world.app.release = RENAMED
    played: list[Playing] = []

    async def watch(playing: Playing) -> None:
        played.append(playing)

    world.app.in_the_middle = watch
    return played


async def test_h28_every_candidate_is_played_with_the_patience_of_the_test(applying: World) -> None:
    await applying.settle(step_timeout_ms=1234)
    played = await broken(applying)

    await applying.nightly()

    assert len(played) > 3
    assert {one.stage.step_timeout_ms for one in played} == {1234}


async def test_t33_c26_a_candidate_reaches_only_the_allowed_origins(applying: World) -> None:
    played = await broken(applying)

    await applying.nightly()

    candidates = [one for one in played if one.steps not in (CHECKOUT.steps, HELPING.steps)]
    assert candidates
    assert {one.stage.fenced_to for one in candidates} == {frozenset({HOST})}


async def test_t31_only_the_test_that_failed_is_written(applying: World) -> None:
    await broken(applying)

    await applying.nightly()

    assert (await applying.test()).version == 2
    assert ((await applying.test("help")).version, (await applying.test("help")).steps) == (1, HELPING.steps)


async def test_t17_t18_the_failing_test_is_shown_green_before_it_is_written_and_logged(applying: World) -> None:
    await broken(applying)

    await applying.nightly()

    (proof,) = await applying.runs(triggers=[Trigger.PROOF])
    (repair,) = await applying.history()
    assert proof.status == "green"
    assert proof.ended_at <= repair.created_at


async def test_h23_a_strict_run_classifies_at_most_and_repairs_nothing(applying: World) -> None:
    played = await broken(applying)

    runs = await gate.run_gate(applying.tools, applying.project)

    assert {one.status.value for one in runs} == {"green", "red"}
    assert all(one.steps in (CHECKOUT.steps, HELPING.steps) for one in played), "no candidate was played"
    assert (await applying.test()).version == 1
    assert await applying.jobs() == ()


async def test_t11_a_failure_is_told_by_its_kind_before_anything_is_tried(applying: World) -> None:
    await broken(applying)

    await applying.nightly()

    (red,) = [one for one in await applying.runs(triggers=[Trigger.SCHEDULE]) if one.status == "red"]
    assert (red.cause, red.failed_step) == ("missing", "3")
    assert red.error == 'css "#pay" finds nothing'
