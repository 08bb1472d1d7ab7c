"""Rules of the seeds that are about a repair as a whole, each named (H, T)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gardener.actions import gate
from gardener.projects import Mode
from gardener.runs import Trigger
from gardener.stories import ANSWERS
from tests.acceptance.shop import CHECKOUT, HELPING, RENAMED, WITHOUT_BUTTON
from tests.builders import HOST, a_test
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


IN_A_GROUP = a_test(
    {"goto": "/"},
    {"group": {"goal": "pay", "steps": [{"click": {"css": "#pay"}}]}},
    {"assert_text": {"role": "status", "contains": "Thank you"}},
)


async def test_h25_strict_comes_first_and_a_group_is_not_recovered_in_it(applying: World) -> None:
    """Classified, told, and nothing else: the recovery of the group, which would mend it, is not begun."""
    await applying.save(IN_A_GROUP)
    await applying.run()
    applying.app.release = RENAMED

    (strict,) = await gate.run_gate(applying.tools, applying.project)

    assert (strict.status, strict.failed_step, strict.cause) == ("red", "2.1", "missing")
    assert (await applying.test()).version == 1
    assert await applying.jobs() == ()

    (result,) = await applying.nightly()
    assert result["outcome"] in ("applied", "staged"), "on a run that is not strict it is"


async def test_h26_a_group_that_stays_broken_reaches_a_person_like_any_other_failure(applying: World) -> None:
    await applying.save(IN_A_GROUP)
    await applying.run()
    applying.app.release = WITHOUT_BUTTON

    (result,) = await applying.nightly()

    (issue,) = await applying.issues()
    assert result["outcome"] not in ("applied", "staged")
    assert issue.story is not None
    assert issue.story["context"]["step"] == "2.1"
    assert {one["answer"] for one in issue.story["options"]} == set(ANSWERS)
    assert issue.story["recommended"] in ANSWERS
    assert (await applying.test()).version == 1


async def test_c13_giving_up_is_no_product_defect(applying: World) -> None:
    """Another page stands there: nothing says that the app is wrong, only that nothing was found."""
    await applying.save(CHECKOUT)
    applying.app.release = WITHOUT_BUTTON

    await applying.nightly()

    (issue,) = await applying.issues()
    assert issue.verdict == "incurable"


@pytest.mark.parametrize(
    ("auto_repair", "staging", "mode"),
    [(False, False, Mode.OFF), (False, True, Mode.PROPOSE), (True, False, Mode.APPLY)],
)
def test_c18_a_project_is_off_proposes_or_applies(world: World, auto_repair: bool, staging: bool, mode: Mode) -> None:
    settings = replace(world.project.settings, staging=staging)

    assert replace(world.project, auto_repair=auto_repair, settings=settings).mode == mode


async def test_t11_a_failure_is_told_by_its_kind_before_anything_is_tried(applying: World) -> None:
    await broken(applying)

    await applying.nightly()

    (red,) = [one for one in await applying.runs(triggers=[Trigger.SCHEDULE]) if one.status == "red"]
    assert (red.cause, red.failed_step) == ("missing", "3")
    assert red.error == 'css "#pay" finds nothing'
