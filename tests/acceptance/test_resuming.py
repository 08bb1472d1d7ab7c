"""A service that is killed in the middle of a climb: the next goes on at the next attempt (T29); cost."""

from __future__ import annotations

from typing import Any

import pytest

from gardener.actions import answering
from gardener.cases import CaseStatus
from gardener.runs import Trigger
from gardener.store import cases
from repair_ladder.ports import Answered, Question
from repair_ladder.steps import Steps
from tests.acceptance.shop import CHECKOUT, HOME, OLD, WITHOUT_BUTTON
from tests.builders import a_page
from tests.fakes import Model, Playing, World


class Killed(BaseException):
    """The process is gone."""


def tries(*numbers: int, tokens: int = 100) -> Any:
    """A model that suggests a replacement that leads nowhere."""

    def answer(question: Question) -> Answered:
        (tool,) = (one.name for one in question.tools)
        if tool == "propose_operations":
            number = numbers[0]
            change = {"op": "replace", "step": 3, "new": {"click": {"css": f"#x{number}"}}, "reason": "it moved"}
            return Answered(tool, {"operations": [change]}, tokens - 30, 30)
        if tool == "diagnose":
            change = {"op": "replace", "step": 3, "new": {"click": {"css": "#y"}}, "reason": "it moved"}
            return Answered(tool, {"verdict": "rot", "explanation": "moved", "operations": [change]}, tokens - 30, 30)
        return Answered(tool, {"choice": None, "reason": "none"}, tokens - 30, 30)

    return answer


async def attempts_of(world: World) -> tuple[list[str], list[tuple[int, str]]]:
    async with world.store.reading() as tx:
        every = await cases.listed(tx, (await world.test()).id)
        made = [one for case in reversed(every) for one in await cases.attempts(tx, case.id)]
    return [case.status.value for case in every], [(one.number, one.outcome) for one in made]


async def retry(world: World) -> None:
    (issue,) = await world.issues()
    await answering.answer(world.tools, issue.id, "retry", "Ada")


def css_of(steps: Steps) -> str:
    return str(steps[2].locator.css) if steps[2].locator else ""


REWORKED = OLD.with_(
    home=a_page("\n".join(line for line in HOME.splitlines() if "#pay" not in line and "#later" not in line))
)


@pytest.mark.parametrize("dies_at", ["#x1", "#y"])
async def test_a_killed_service_resumes_at_the_next_attempt(make_world: Any, dies_at: str) -> None:
    model = Model([tries(1)] * 9)
    async with make_world(OLD, auto_repair=True, ask=model) as world:
        await world.save(CHECKOUT)  # it was never green here, so nothing local is sure that the button is gone
        world.app.release = REWORKED
        report = await world.run(trigger=Trigger.SCHEDULE)
        doomed = True

        def die(playing: Playing) -> None:
            if doomed and css_of(playing.steps) == dies_at:
                raise Killed

        world.app.in_the_middle = die
        with pytest.raises(Killed):
            await world.work(*report.jobs)
        before = [css_of(steps) for steps in world.app.replays]
        _, made_before = await attempts_of(world)

        doomed = False
        world.app.replays.clear()
        world.clock.pass_(minutes=5)
        await world.work(*report.jobs)

        status, made = await attempts_of(world)
        assert status == ["exhausted"], "one case, taken up again and ended"
        assert [number for number, _ in made] == list(range(1, len(made) + 1)), "none is forgotten"
        after = [css_of(steps) for steps in world.app.replays]
        done = set(before) - {"#pay", dies_at}
        assert not done & set(after), "what had its result is not run again"
        assert dies_at in after
        assert len(made) > len(made_before)


async def test_a_case_of_another_failure_is_given_up_and_a_new_one_begun(make_world: Any) -> None:
    model = Model([])  # out of reach: the case stays open
    async with make_world(OLD, auto_repair=True, ask=model) as world:
        await world.save(CHECKOUT)
        world.app.release = REWORKED
        await world.nightly()
        assert (await attempts_of(world))[0] == ["open"]

        world.app.release = WITHOUT_BUTTON
        await world.nightly()

        async with world.store.reading() as tx:
            newest, oldest = await cases.listed(tx, (await world.test()).id)
        assert (newest.status, oldest.status) == (CaseStatus.OPEN, CaseStatus.ABANDONED)


async def test_what_a_case_cost_is_kept_and_a_spent_day_asks_nobody(make_world: Any) -> None:
    model = Model([tries(1, tokens=10_000)] * 20)
    async with make_world(OLD, auto_repair=True, ask=model) as world:
        await world.settle(day_tokens=26_000)  # two questions, each as large as it may get before it is answered
        await world.save(CHECKOUT)
        world.app.release = REWORKED

        (first,) = await world.nightly()

        async with world.store.reading() as tx:
            (case,) = await cases.listed(tx, (await world.test()).id)
        assert (case.model_calls, case.tokens) == (2, 20_000)
        assert first["model_calls"] == 2
        asked = len(model.asked)
        await retry(world)
        (again,) = await world.nightly()
        assert len(model.asked) == asked
        assert (again["outcome"], again["model_calls"]) == ("unavailable", 0)
        assert "The budget day_tokens stops the model" in again["reason"]
        assert await world.issues() == (), "nobody is told that no fix was found"

        world.clock.pass_(days=1)
        await world.nightly()
        assert len(model.asked) > asked, "the next day it goes on"
