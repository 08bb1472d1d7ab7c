"""A ladder that ended tells the whole story, and stops until a person answers or something changes (T19-T24, C25)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gardener.actions import answering, by_hand
from gardener.errors import Refused
from gardener.results import issue_shape
from gardener.runs import Trigger
from gardener.saved_tests import Status
from gardener.store import audit
from gardener.stories import ANSWERS
from gardener.triage import Issue, IssueKind
from tests.acceptance.shop import CHECKOUT, HELPING, OLD, WITHOUT_BUTTON
from tests.acceptance.test_resuming import REWORKED, tries
from tests.fakes import Model, World


async def escalated(world: World) -> Issue:
    """A test that was never green here, a model that suggests what leads nowhere."""
    await world.save(CHECKOUT, HELPING)
    world.app.release = REWORKED
    await world.nightly()
    (issue,) = await world.issues()
    return issue


@pytest.fixture
async def stuck(make_world: Any) -> Any:
    async with make_world(OLD, auto_repair=True, ask=Model([tries(1)] * 50)) as world:
        yield world


async def test_t20_t22_the_story_is_complete_and_specific(stuck: World) -> None:
    issue = await escalated(stuck)

    story = issue.story
    assert issue.kind == IssueKind.ESCALATION
    assert story is not None
    assert story["error"] == 'css "#pay" finds nothing'
    assert story["context"]["step"] == "3"
    assert "#pay" in story["context"]["does"]
    assert story["context"]["page"].endswith("/")
    assert [(one["number"], one["by"], one["result"]) for one in story["attempts"]] == [
        (1, "model", "red"),
        (2, "model", "red"),
    ]
    assert all(one["hypothesis"] and one["fix"] and one["error"] for one in story["attempts"])
    assert "#x1" in story["attempts"][0]["fix"][0]
    assert {one["answer"] for one in story["options"]} == set(ANSWERS)
    assert all(one["means"] for one in story["options"])
    assert story["recommended"] in ANSWERS
    assert story["why"]
    assert story["last_line"].startswith("A person is needed for 'checkout' after 2 attempts: ")
    assert issue_shape(issue)["story"] == story


async def test_t21_it_is_audited_and_nothing_more_is_tried(stuck: World) -> None:
    issue = await escalated(stuck)
    async with stuck.store.reading() as tx:
        entries = [one.what for one in await audit.listed(tx, project=stuck.project.id)]
    assert entries.count("human_escalation") == 1
    stuck.app.replays.clear()

    (result,) = await stuck.nightly()

    assert result["outcome"] == "refused"
    assert f"issue {issue.id} waits for an answer" in result["reason"]
    assert result["model_calls"] == 0
    assert all(steps == CHECKOUT.steps or steps == HELPING.steps for steps in stuck.app.replays), "only as it is saved"


async def test_c25_other_tests_go_on(stuck: World) -> None:
    await escalated(stuck)

    report = await stuck.run("help", trigger=Trigger.SCHEDULE)

    assert [run.status.value for run in report.runs] == ["green"]


async def test_a_change_of_the_app_ends_the_wait(stuck: World) -> None:
    await escalated(stuck)
    stuck.app.release = WITHOUT_BUTTON

    (result,) = await stuck.nightly()

    assert result["outcome"] != "refused"


async def test_a_change_of_the_test_ends_the_wait(stuck: World) -> None:
    await escalated(stuck)
    await stuck.save(replace(CHECKOUT, steps=(*CHECKOUT.steps, CHECKOUT.steps[-1])))

    (result,) = await stuck.nightly()

    assert result["outcome"] != "refused"


async def test_g92_by_hand_it_is_tried_whatever_waits(stuck: World) -> None:
    await escalated(stuck)
    (run,) = (await stuck.run("checkout", trigger=Trigger.MANUAL)).runs

    result = await by_hand.repair_run(stuck.tools, run.id, only=None, apply=False, by="Ada")

    assert result.outcome != "refused"


async def test_retry_sends_it_up_the_ladder_again(stuck: World) -> None:
    issue = await escalated(stuck)

    closed = await answering.answer(stuck.tools, issue.id, "retry", "Ada")
    (result,) = await stuck.nightly()

    assert (closed.answer, closed.answered_by) == ("retry", "Ada")
    assert closed.closed_at is not None
    assert result["outcome"] == "incurable"


async def test_defect_leaves_the_test_red_and_alone(stuck: World) -> None:
    issue = await escalated(stuck)

    await answering.answer(stuck.tools, issue.id, "defect", "Ada")
    (result,) = await stuck.nightly()

    assert result["outcome"] == "refused"
    assert "Ada said that the app is wrong" in result["reason"]
    assert [one.answer for one in await stuck.issues()] == ["defect"]


async def test_quarantine_takes_the_test_out_of_service(stuck: World) -> None:
    issue = await escalated(stuck)

    await answering.answer(stuck.tools, issue.id, "quarantine", "Ada")

    assert (await stuck.test()).status == Status.DRAFT
    assert await stuck.issues() == ()
    assert await stuck.nightly() == []


async def test_an_answer_that_is_none_is_refused_and_so_is_a_second_one(stuck: World) -> None:
    issue = await escalated(stuck)
    with pytest.raises(Refused, match="is no answer"):
        await answering.answer(stuck.tools, issue.id, "whatever", "Ada")
    await answering.answer(stuck.tools, issue.id, "retry", "Ada")

    with pytest.raises(Refused, match="closed already"):
        await answering.answer(stuck.tools, issue.id, "retry", "Ben")


async def test_a_verdict_is_a_triage_issue_with_its_story_and_stops_nothing(applying: World) -> None:
    """C24: one issue, two kinds; what is no drift is told with its evidence and asked about too."""
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = WITHOUT_BUTTON

    await applying.nightly()

    (issue,) = await applying.issues()
    assert issue.kind == IssueKind.TRIAGE
    assert issue.story is not None
    assert issue.story["recommended"] == "defect"
    assert (await applying.nightly())[0]["outcome"] == "product_defect"


async def test_green_again_ends_it(stuck: World) -> None:
    await escalated(stuck)
    stuck.app.release = OLD

    await stuck.run(trigger=Trigger.SCHEDULE)

    assert await stuck.issues() == ()
