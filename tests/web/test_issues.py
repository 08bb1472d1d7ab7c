"""The page of an issue: the whole story, and answers as buttons that do what `gardener answer` does (T19-T22)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gardener.actions import answering
from gardener.saved_tests import Status
from gardener.store import issues as stored
from gardener.stories import ANSWERS
from gardener.triage import Issue
from tests.acceptance.shop import CHECKOUT, HELPING, WITHOUT_BUTTON
from tests.acceptance.test_resuming import REWORKED, tries
from tests.fakes import Model
from tests.web.conftest import Office, Visitor


async def escalated(office: Office) -> Issue:
    """Two attempts of a model led nowhere; a person has to say how it goes on."""
    model = Model([tries(1)] * 50)
    office.world.tools = replace(office.world.tools, ask=lambda project: model)
    await office.world.switch(True)
    await office.world.save(CHECKOUT, HELPING)
    office.world.app.release = REWORKED
    await office.world.nightly()
    (issue,) = await office.world.issues()
    return issue


async def look(office: Office, issue: Issue) -> Visitor:
    ada = await office.ada()
    await ada.get(f"/issues/{issue.id}")
    return ada


async def test_t20_t22_the_page_tells_the_whole_story(office: Office) -> None:
    issue = await escalated(office)

    ada = await look(office, issue)

    story: Any = issue.story
    assert "Fails at step 3" in ada.text
    assert 'css "#pay" finds nothing' in ada.text
    assert "What was tried 2" in ada.text
    for one in story["attempts"]:
        assert one["fix"][0] in ada.text
        assert "still red" in ada.text
    for means in ANSWERS.values():
        assert means[1:] in ada.text
    assert "recommended" in ada.text
    assert f'href="/runs/{issue.run}"' in ada.page
    assert f'href="/tests/{(await office.world.test()).id}"' in ada.page


async def test_the_recommended_answer_stands_first_and_is_the_main_one(office: Office) -> None:
    issue = await escalated(office)

    ada = await look(office, issue)

    offered = [part.split('"')[0] for part in ada.page.split('name="answer" value="')[1:]]
    assert issue.story is not None
    assert offered[0] == issue.story["recommended"]
    assert sorted(offered) == sorted(ANSWERS)
    assert ada.page.count('class="main"') == 1


@pytest.mark.parametrize(("said", "closes"), [("retry", True), ("defect", False), ("quarantine", True)])
async def test_t21_t23_a_button_does_what_the_command_does(office: Office, said: str, closes: bool) -> None:
    issue = await escalated(office)
    ada = await look(office, issue)

    await ada.send(f"/issues/{issue.id}/answer", answer=said)

    async with office.world.store.reading() as tx:
        now = await stored.get(tx, issue.id)
    assert (now.answer, now.answered_by, now.closed_at is not None) == (said, "Ada", closes)
    assert ada.path == f"/issues/{issue.id}"
    assert ada.said == f"Answered: {ANSWERS[said]}."
    assert "Ada answered just now" in ada.text
    assert ("Closed just now" in ada.text) == closes
    assert ("Answer otherwise" in ada.text) != closes
    assert (await office.world.test()).status == (Status.DRAFT if said == "quarantine" else Status.ACTIVE)


async def test_who_wants_to_edit_is_led_to_the_test(office: Office) -> None:
    issue = await escalated(office)
    ada = await look(office, issue)

    await ada.send(f"/issues/{issue.id}/answer", answer="edit")

    led_to, waits = ada.path, await office.world.issues()
    test = await office.world.test()
    text = "name: checkout\nsteps:\n  - goto: /\n  - assert_text: {css: h1, equals: Your basket}\n"
    await ada.send(led_to, version=str(test.version), text=text)

    assert led_to == f"/tests/{test.id}/edit"
    assert [one.answer for one in waits] == ["edit"]
    assert await office.world.issues() == ()  # saving it ends it


async def test_an_answer_that_is_none_and_one_that_comes_too_late_are_told(office: Office) -> None:
    issue = await escalated(office)
    ada = await look(office, issue)

    await ada.send(f"/issues/{issue.id}/answer", answer="whatever")
    none = ada.said
    await ada.send(f"/issues/{issue.id}/answer", answer="retry")
    await ada.send(f"/issues/{issue.id}/answer", answer="defect")

    assert "is no answer" in none
    assert ada.said == f"Issue {issue.id} is closed already."
    assert 'name="answer"' not in ada.page


async def test_a_triage_issue_is_asked_about_too_and_a_finding_is_not(office: Office) -> None:
    await office.world.save(CHECKOUT)
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = WITHOUT_BUTTON
    await office.world.sweep()
    (issue,) = await office.world.issues()
    ada = await look(office, issue)
    asked = ada.page
    async with office.world.store.transaction() as tx:
        from sqlalchemy import update

        from gardener.store.rows import IssueRow

        await tx.run(update(IssueRow).values(story=None, kind="finding"))

    await ada.get(f"/issues/{issue.id}")

    assert 'name="answer"' in asked
    assert 'name="answer"' not in ada.page
    assert ada.status == 200


async def test_the_list_says_which_issue_waits_for_an_answer(office: Office) -> None:
    issue = await escalated(office)
    ada = await office.ada()
    await ada.get("/projects/1/issues")
    waits = ada.text
    await ada.send(f"/issues/{issue.id}/answer", answer="defect")
    await ada.get("/projects/1/issues")

    assert f"Answer issue {issue.id}" in waits
    assert f"Answer issue {issue.id}" not in ada.text


async def test_hostile_text_in_a_story_is_shown_as_text(office: Office) -> None:
    from sqlalchemy import update

    from gardener.store.rows import IssueRow

    issue = await escalated(office)
    evil = "<script>alert(1)</script>"
    assert issue.story is not None
    story = issue.story | {
        "error": evil,
        "context": {"does": evil, "page": f"javascript:{evil}", "observed": evil, "step": evil},
        "findings": [evil],
        "attempts": [issue.story["attempts"][0] | {"fix": [evil], "hypothesis": evil, "result": evil, "error": evil}],
    }
    async with office.world.store.transaction() as tx:
        await tx.run(update(IssueRow).values(story=story))

    ada = await look(office, issue)

    assert ada.status == 200
    assert "<script>alert" not in ada.page
    assert 'href="javascript' not in ada.page
    assert evil.replace("<", "&lt;").replace(">", "&gt;") in ada.page


async def test_t8_what_was_decided_before_about_the_same_step_stands_on_the_page(office: Office) -> None:
    first = await escalated(office)
    await answering.answer(office.world.tools, first.id, "quarantine", "Ben")
    await office.world.save(replace(CHECKOUT, name="checkout again"))
    await office.world.nightly()
    second = next(one for one in await office.world.issues() if one.tests == ("checkout again",))

    ada = await look(office, second)

    assert "Decided before about the same step" in ada.text
    assert "Ben" in ada.text.partition("Decided before")[2]
    assert "“checkout”" in ada.text.partition("Decided before")[2] or "'checkout'" in ada.text.partition("Decided")[2]
    await ada.get(f"/issues/{first.id}")
    assert "Decided before" not in ada.text, "the first of its kind has nothing before it"
