"""What a person decided is remembered with the lessons: approved, dismissed, answered (T8, T23, T30)."""

from __future__ import annotations

import pytest

from gardener.actions import answering, deciding, learning
from gardener.errors import NotFound
from gardener.lessons import LASTS, Lesson
from gardener.store import audit
from tests.acceptance.shop import OLD, RENAMED, WITHOUT_BUTTON, checkouts
from tests.fakes import World


async def decisions(world: World) -> tuple[Lesson, ...]:
    return tuple(one for one in await learning.listed(world.tools, world.project) if one.decision is not None)


async def staged(world: World, count: int = 1) -> None:
    await world.save(*checkouts(count))
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    await world.sweep()


async def test_t23_an_approval_is_remembered_with_who_and_why(world: World) -> None:
    await staged(world)
    (row,) = await world.queue()

    await deciding.approve(world.tools, row.id, "Ada")

    (lesson,) = await decisions(world)
    assert lesson.decision is not None
    assert (lesson.decision["said"], lesson.decision["by"], lesson.decision["test"]) == (
        "approved",
        "Ada",
        "checkout 01",
    )
    assert lesson.in_words() == "Ada approved a repair of 'checkout 01': css \"#pay\" on /"
    async with world.store.reading() as tx:
        assert ("Ada", "repair") in [(one.who, one.what) for one in await audit.listed(tx)], "and the audit log says so"


async def test_t23_what_was_dismissed_is_not_written_by_itself_for_another_test(world: World) -> None:
    await staged(world)
    (row,) = await world.queue()
    await deciding.dismiss(world.tools, row.id, "Ada")
    world.app.release = OLD
    await world.save(*checkouts(2)[1:])
    await world.run("checkout 02")
    await world.switch(True)
    world.app.release = RENAMED

    results = await world.nightly("checkout 02")

    assert [one["outcome"] for one in results] == ["staged"]
    assert "Ada dismissed a repair of 'checkout 01' of the same element before" in results[0]["reason"]
    (lesson,) = await decisions(world)
    assert 'use css "#submit-payment"' in lesson.in_words()


async def test_t23_a_dismissal_that_is_taken_back_holds_nothing_up(world: World) -> None:
    await staged(world)
    (row,) = await world.queue()
    await deciding.dismiss(world.tools, row.id, "Ada")

    await deciding.restore(world.tools, row.id, "Ada")

    assert await decisions(world) == ()


async def test_t23_the_newest_word_about_a_fix_holds(world: World) -> None:
    await staged(world, 2)
    first, second = await world.queue()
    await deciding.dismiss(world.tools, first.id, "Ada")

    await deciding.approve(world.tools, second.id, "Ben")

    assert [one.decision["said"] for one in await decisions(world) if one.decision] == ["approved"]


async def test_t8_t23_an_answer_is_told_to_whoever_is_asked_about_the_same_step_next(applying: World) -> None:
    first, second = checkouts(2)
    await applying.save(first)
    await applying.run()
    applying.app.release = WITHOUT_BUTTON
    await applying.nightly()
    (issue,) = await applying.issues()
    await answering.answer(applying.tools, issue.id, "defect", "Ada")
    applying.app.release = OLD
    await applying.save(second)
    await applying.run("checkout 02")
    applying.app.release = WITHOUT_BUTTON

    await applying.nightly("checkout 02")

    (lesson,) = await decisions(applying)
    assert lesson.in_words().startswith("Ada answered 'defect' about 'checkout 01': css \"#pay\" on /")
    story = next(one.story for one in await applying.issues() if one.tests == ("checkout 02",))
    assert story is not None
    (before,) = story["decided_before"]
    assert before.startswith("Ada answered 'defect' about 'checkout 01': ")


async def test_t30_a_decision_is_never_tried_as_a_fix(world: World) -> None:
    await staged(world)
    (row,) = await world.queue()
    await deciding.dismiss(world.tools, row.id, "Ada")

    async with world.store.reading() as tx:
        assert await learning.lessons_for(tx, world.tools, world.project) == ()


async def test_t23_decisions_expire_and_are_deleted_as_lessons_are(world: World) -> None:
    await staged(world)
    (row,) = await world.queue()
    await deciding.dismiss(world.tools, row.id, "Ada")
    (lesson,) = await decisions(world)
    assert lesson.shape()["decision"] == lesson.decision

    await learning.forget(world.tools, world.project, lesson.id)

    assert await decisions(world) == ()
    with pytest.raises(NotFound):
        await learning.forget(world.tools, world.project, lesson.id)
    assert LASTS.days == 90
