"""Control runs (part of the sensitivity proof, G86): a falsified expectation must go red, and green is an alarm."""

from __future__ import annotations

import pytest

from gardener.actions import by_hand, controlling
from gardener.errors import Refused
from gardener.notices import EventKind
from gardener.runs import RunStatus, Trigger
from tests import fakes
from tests.acceptance.shop import CHECKOUT, HELPING, RENAMED
from tests.builders import a_test
from tests.fakes import World

BLIND = a_test({"goto": "/"}, {"assert_url": {"contains": "/"}}, name="blind")


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser to which every check of an address holds, as a broken player of that step would."""
    check = fakes._Run.check

    def deaf_check(run: fakes._Run, step: object) -> None:
        if getattr(step, "kind", "") != "assert_url":
            check(run, step)  # type: ignore[arg-type]

    monkeypatch.setattr(fakes._Run, "check", deaf_check)


async def control(world: World, *names: str) -> dict[str, controlling.Controlled]:
    return {one.test: one for one in await controlling.control_tests(world.tools, world.project, names)}


async def test_a_test_whose_checks_go_red_is_sensitive(world: World) -> None:
    await world.save(CHECKOUT, HELPING)

    seen = await control(world)

    assert {name: one.outcome for name, one in seen.items()} == {"checkout": "sensitive", "help": "sensitive"}
    rows = await world.runs(triggers=[Trigger.CONTROL])
    assert [(row.status, row.failed_step) for row in rows] == [(RunStatus.RED, "3"), (RunStatus.RED, "4")]
    assert await world.issues() == ()


async def test_green_is_an_alarm_that_a_green_run_does_not_end(world: World, deaf: None) -> None:
    await world.save(BLIND)

    seen = await control(world)

    assert seen["blind"].outcome == "blind"
    (issue,) = await world.issues()
    assert issue.verdict == "blind"
    assert "step 2 is green even when it expects what cannot be" in issue.reason
    assert EventKind.BLIND in [one.kind for one in await world.events()]
    await world.run()
    assert [one.id for one in await world.issues()] == [issue.id], "it is always green: that is what is wrong with it"


async def test_a_later_control_run_that_is_red_ends_the_alarm(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.save(BLIND)
    with monkeypatch.context() as patched:
        patched.setattr(fakes._Run, "check", lambda run, step: None)
        await control(world)
    assert len(await world.issues()) == 1

    assert (await control(world))["blind"].outcome == "sensitive"

    assert await world.issues() == ()


async def test_a_test_that_is_red_by_itself_is_not_judged(world: World) -> None:
    await world.save(CHECKOUT)
    world.app.release = RENAMED

    seen = await control(world)

    assert seen["checkout"].outcome == "red"
    assert "red by itself at step 3" in seen["checkout"].reason
    assert await world.issues() == ()


async def test_a_test_without_checks_is_told(world: World) -> None:
    await world.save(a_test({"goto": "/"}, {"click": {"css": "#later"}}, name="visit"))

    assert (await control(world, "visit"))["visit"].outcome == "no checks"


async def test_g86_g95_a_control_run_is_repaired_by_nobody_and_remembered_by_nothing(applying: World) -> None:
    await applying.save(CHECKOUT)
    async with applying.tools.store.transaction() as tx:
        job = await controlling.add_control(tx, applying.tools, applying.project)

    (done,) = await applying.work(job.id)

    assert done.result is not None
    assert [one["outcome"] for one in done.result["controls"]] == ["sensitive"]
    (row,) = await applying.runs(triggers=[Trigger.CONTROL])
    with pytest.raises(Refused, match="control run"):
        await by_hand.repair_run(applying.tools, row.id, only=None, apply=True, by="Ada")
    assert [one.kind.value for one in await applying.jobs()] == ["control"], "no repair was asked for"
    assert await applying.history() == ()
