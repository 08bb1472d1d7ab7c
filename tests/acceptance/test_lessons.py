"""One drift that broke many tests is searched for once by all: learned, used, forgotten, listed, deleted."""

from __future__ import annotations

from typing import Any

import pytest

from gardener.actions import deciding, learning
from gardener.errors import NotFound, Refused
from gardener.lessons import LASTS, Lesson
from gardener.proposals import cause_key
from gardener.results import proposal_shape
from repair_ladder.ports import Answered, Question, Unavailable
from tests.acceptance.shop import CHECKOUT, OLD, RENAMED, WITHOUT_BUTTON, checkouts
from tests.builders import a_page
from tests.fakes import Model, World


async def learned(world: World) -> tuple[Lesson, ...]:
    return tuple(one for one in await learning.listed(world.tools, world.project) if one.decision is None)


async def broken(world: World, count: int = 1) -> None:
    await world.save(*(checkouts(count) if count > 1 else [CHECKOUT]))
    await world.run()
    await world.sweep()
    world.app.release = RENAMED


async def test_one_drift_that_broke_many_tests_is_searched_for_once(world: World) -> None:
    await broken(world, 4)

    await world.sweep()

    queue = await world.queue()
    assert sorted(one.strategy for one in queue) == ["lesson", "lesson", "lesson", "self_heal"]
    assert all(one.proven for one in queue), "each was proved for itself"
    (lesson,) = await learned(world)
    assert lesson.uses == 3
    assert (lesson.old, lesson.new, lesson.page) == ({"css": "#pay"}, {"locator": {"css": "#submit-payment"}}, "/")


async def test_a_drift_that_only_a_model_can_mend_costs_one_call(make_world: Any) -> None:
    """Two buttons that are alike: the matcher is not sure, and a model chooses. Once for all tests."""
    row = '  p\n    button#{} formaction=/thanks "{}"\n'
    form = 'main\n  h1 "Basket"\n  form\n    input#email name=email label="Email"\n'
    before = OLD.with_(home=a_page(form + row.format("pay", "Pay")))
    after = OLD.with_(home=a_page(form + row.format("x", "Pay card") + row.format("y", "Pay bill")))

    def choose(question: Question) -> Answered | Unavailable:
        return Answered(question.tools[0].name, {"choice": 1, "reason": "it is the first"}, 100, 20)

    model = Model([choose] * 5)
    async with make_world(before, ask=model) as world:
        await world.save(*checkouts(3))
        await world.run()
        await world.sweep()
        world.app.release = after

        swept = await world.sweep()

        assert [one["outcome"] for one in swept["dry_runs"]] == ["staged"] * 3
        assert len(model.asked) == 1
        assert sum(one["model_calls"] for one in swept["dry_runs"]) == 1
        assert all("only a model recognised" in one.reason for one in await world.queue()), "the doubt is not forgotten"


async def test_t30_nothing_is_learned_from_a_failure(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = WITHOUT_BUTTON

    await applying.nightly()

    assert await learned(applying) == ()


async def test_what_a_person_takes_back_is_forgotten(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED
    (result,) = await applying.nightly()
    assert len(await learned(applying)) == 1

    await deciding.revert(applying.tools, result["repair"], "Ada")

    assert await learned(applying) == ()


async def test_what_a_person_dismisses_is_forgotten(world: World) -> None:
    await broken(world)
    await world.sweep()
    (row,) = await world.queue()
    assert len(await learned(world)) == 1

    await deciding.dismiss(world.tools, row.id, "Ada")

    assert await learned(world) == ()


async def test_a_lesson_expires(world: World) -> None:
    await broken(world)
    await world.sweep()

    world.clock.pass_(days=LASTS.days + 1)

    assert await learned(world) == ()


async def test_a_lesson_can_be_deleted_and_only_in_its_own_project(world: World) -> None:
    await broken(world)
    await world.sweep()
    (lesson,) = await learned(world)

    assert lesson.in_words() == 'css "#pay" on /: use css "#submit-payment"'
    await learning.forget(world.tools, world.project, lesson.id)

    assert await learned(world) == ()
    with pytest.raises(NotFound):
        await learning.forget(world.tools, world.project, lesson.id)


async def test_the_queue_names_one_cause_and_all_of_it_is_approved_at_once(world: World) -> None:
    await broken(world, 4)
    await world.sweep()
    queue = await world.queue()
    assert len({proposal_shape(one)["cause"] for one in queue}) == 1

    made, refused = await deciding.approve_cause(world.tools, queue[0].id, "Ada")

    assert (len(made), refused) == (4, ())
    assert {one.author for one in made} == {"Ada"}
    assert await world.queue() == ()


async def test_some_of_a_cause_may_be_declined_before_the_rest_is_approved(world: World) -> None:
    await broken(world, 3)
    await world.sweep()
    first, second, _ = sorted(await world.queue(), key=lambda one: one.id)
    await deciding.dismiss(world.tools, first.id, "Ada")

    made, _ = await deciding.approve_cause(world.tools, second.id, "Ada")

    assert len(made) == 2
    with pytest.raises(Refused):
        await deciding.approve_cause(world.tools, first.id, "Ada")


def test_a_cause_does_not_depend_on_where_the_step_stands_or_what_it_types() -> None:
    def operation(step: int, value: str, css: str) -> dict[str, Any]:
        old, new = ({"fill": {"css": one, "value": value}} for one in ("#a", css))
        return {"op": "replace", "step": step, "old": old, "new": new, "reason": value}

    assert cause_key([operation(2, "x", "#b")]) == cause_key([operation(7, "y", "#b")])
    assert cause_key([operation(2, "x", "#b")]) != cause_key([operation(2, "x", "#c")])
