"""Every page and every form, as a person without JavaScript and as htmx would use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gardener.actions import working
from gardener.jobs import JobKind, JobState
from gardener.proposals import ProposalStatus
from gardener.runs import Trigger
from gardener.store import Transaction, jobs, proposals
from gardener.triage import IssueKind
from tests.acceptance.shop import CHECKOUT, RENAMED, RENAMED_AGAIN, WITHOUT_BUTTON, checkouts
from tests.builders import a_test
from tests.web.conftest import Office

PAGES = (
    "/",
    "/projects/1",
    "/projects/1/radar",
    "/projects/1/decided",
    "/projects/1/at-risk",
    "/projects/1/sweeps",
    "/projects/1/tests",
    "/projects/1/runs",
    "/projects/1/repairs",
    "/projects/1/issues",
    "/projects/1/news",
    "/projects/1/settings",
    "/password",
)
OF_THINGS = ("/sweeps/2", "/proposals/1", "/tests/1", "/runs/1", "/jobs/1")


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_there_while_nothing_has_happened(office: Office, path: str) -> None:
    ada = await office.ada()

    await ada.get(path)

    assert (ada.status, ada.path) == (200, path)
    assert ada.page.count("<h1>") == 1


async def test_every_page_shows_what_happened(office: Office) -> None:
    await office.staged()
    ada = await office.ada()

    for path in (*PAGES, *OF_THINGS):
        await ada.get(path)
        assert ada.status == 200, path
        assert ada.page.count("<h1>") == 1, path


@pytest.mark.parametrize(
    "path", ["/nowhere", "/projects/9", "/projects/x", "/proposals/9", "/runs/9", "/jobs/9/stream"]
)
async def test_what_is_not_there_is_said_to_be_not_there(office: Office, path: str) -> None:
    ada = await office.ada()

    await ada.get(path)

    assert ada.status == 404
    assert "<h1>Not found</h1>" in ada.page


# --- the queue -------------------------------------------------------------------------------------------


async def test_a_row_of_the_queue_tells_all_that_a_person_decides_by(office: Office) -> None:
    waiting = await office.staged()
    ada = await office.ada()

    await ada.get("/projects/1/radar")

    assert "checkout proven Self-heal, staged" in ada.text
    assert 'Fails at step 3: css "#pay" finds nothing run' in ada.text  # G50
    assert "What it changes: changes step 3" in ada.text  # G48
    assert f"/runs/{waiting.run}" in ada.page
    assert "on / , touches step 3" in ada.text  # G49
    assert "Approve and apply" in ada.text


async def test_approving_writes_the_change_and_leads_back_to_the_queue(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")

    await ada.send("/proposals/1/approve")

    (repair,) = await office.world.history()
    assert repair.author == "Ada"  # G53
    assert (ada.status, ada.path) == (200, "/projects/1/radar")
    assert ada.said == "Repair 1 is written: “checkout” is at version 2."
    await ada.get("/projects/1/radar")
    assert ada.said == ""  # a message is shown once


async def test_htmx_gets_the_row_as_it_is_now_and_the_number_that_waits(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")

    await ada.send("/proposals/1/approve", htmx=True)

    assert "<html" not in ada.page
    assert ada.page.count('id="proposal-1"') == 1
    assert '<span class="number" id="tab-radar" hx-swap-oob="true">0</span>' in ada.page
    assert "See the repair" in ada.text


async def test_a_dismissal_can_be_taken_back(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")

    await ada.send("/proposals/1/dismiss")
    dismissed = await office.world.proposals([ProposalStatus.DISMISSED])
    folded = ada.text
    await ada.send("/proposals/1/restore")

    assert [one.decided_by for one in dismissed] == ["Ada"]
    assert "dismissed by Ada" in folded
    assert ada.said == "It waits again."
    assert len(await office.world.queue()) == 1


async def test_what_was_put_back_is_no_longer_taken_for_declined(office: Office) -> None:
    waiting = await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    await ada.send("/proposals/1/dismiss")
    await ada.send("/proposals/1/restore")

    assert await office.world.sweep() is not None  # and no second row
    assert [one.id for one in await office.world.queue()] == [waiting.id]
    kinds = [one.kind.value for one in await office.world.events()]
    assert kinds.count("restored") == 1


async def test_putting_back_what_no_longer_fits_is_refused_and_told(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    await ada.send("/proposals/1/dismiss")
    await office.world.save(a_test({"goto": "/"}, {"click": {"css": "#later"}}))

    await ada.send("/proposals/1/restore")

    assert "no longer fits 'checkout'" in ada.said
    assert await office.world.queue() == ()


async def test_approving_what_was_edited_since_is_refused_and_it_can_be_proved_again(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    edited = a_test(
        {"goto": "/"},
        {"fill": {"label": "Email", "value": "ben@example.com"}},
        {"click": {"css": "#pay"}},
        {"assert_text": {"role": "status", "contains": "Thank you"}},
    )
    await office.world.save(edited)

    await ada.send("/proposals/1/approve")
    refused, history = ada.said, await office.world.history()
    await ada.get("/projects/1/radar")
    stale = ada.text
    await ada.send("/proposals/1/prove-again")
    job_page = ada.path
    await office.world.work(*[one.id for one in await office.world.jobs()])
    await ada.get(job_page)

    assert refused.startswith("Proposal 1 is stale")  # G58, G59
    assert history == ()
    assert "Stale 1" in stale
    assert (await office.world.queue())[0].version == 2  # G60: worked out on the test as it is now
    assert "Look at the repair" in ada.text


async def test_an_unproven_repair_is_proved_by_a_job_before_it_is_written(office: Office) -> None:
    waiting = await office.staged()
    async with office.world.store.transaction() as tx:
        await _make_unproven(tx, waiting.id)
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    offered = ada.text

    await ada.send("/proposals/1/approve")
    asked, before = ada.path, await office.world.history()
    (job,) = [one for one in await office.world.jobs() if one.kind == JobKind.APPROVE]
    await office.world.work(job.id)
    await ada.get(asked)

    assert "Prove and apply" in offered
    assert before == ()
    assert [one.author for one in await office.world.history()] == ["Ada"]
    assert "Proven and written: repair 1" in ada.text


async def _make_unproven(tx: Transaction, proposal: int) -> None:
    from sqlalchemy import update

    from gardener.store.rows import ProposalRow

    await tx.run(update(ProposalRow).where(ProposalRow.id == proposal).values(proven=False, proof_run=None))


async def test_repairs_that_answer_one_change_are_approved_together(office: Office) -> None:
    await office.world.save(*checkouts(3))
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = RENAMED
    await office.world.sweep()
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    shown = ada.text
    action = re.search(r'action="(/projects/1/causes/[^"]+/approve)"', ada.page)

    assert action is not None
    await ada.send(action[1], which="all")

    assert "3 tests broken by the same change" in shown
    assert "Approved: 3 of 3" in ada.text
    assert len(await office.world.history()) == 3
    assert await office.world.queue() == ()


async def test_a_further_sweep_is_counted_on_the_row(office: Office) -> None:
    await office.staged()
    await office.world.save(*checkouts(1))
    office.world.app.release = RENAMED_AGAIN
    await office.world.sweep()
    ada = await office.ada()

    await ada.get("/projects/1/radar")

    (waiting,) = [one for one in await office.world.queue() if one.test_name == "checkout"]
    expected = f"restated {waiting.restated} time" if waiting.restated else "staged"
    assert expected in ada.text  # G52


async def test_both_pictures_of_a_proposal_mark_the_element(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/proposals/1")
    page = ada.page

    for side, colour in (("before", "#b3261e"), ("after", "#1a7f4b")):
        await ada.get(f"/proposals/1/pictures/{side}")
        assert ada.headers["content-type"].startswith("image/svg+xml")
        assert colour in ada.page
        assert "Pay now" in ada.page
        assert f'src="/proposals/1/pictures/{side}"' in page
    await ada.get("/proposals/1/pictures/elsewhere")
    assert ada.status == 404


WHY = {
    "never swept": "Nothing has been swept yet",  # G71
    "all pass": "every at-risk test still passes",  # G72
    "applies": "This project repairs itself",  # G69
    "no key": "no proven fix was found without an AI key",  # G70
}


@pytest.mark.parametrize("case", WHY)
async def test_an_empty_queue_says_why(office: Office, case: str) -> None:
    if case != "never swept":
        await office.world.save(CHECKOUT)
        await office.world.run()
        await office.world.sweep()
    if case == "no key":
        office.world.app.release = WITHOUT_BUTTON
        await office.world.sweep()
    if case == "applies":
        await office.world.switch(True)
    ada = await office.ada()

    await ada.get("/projects/1/radar")

    assert WHY[case] in ada.text
    assert not any(said in ada.text for key, said in WHY.items() if key != case)


# --- tests, runs, repairs --------------------------------------------------------------------------------


async def test_what_was_repaired_unattended_wears_a_badge_until_somebody_looks(office: Office) -> None:
    world = office.world
    await world.switch(True)
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED
    await world.nightly()
    ben = await office.ben()

    await ben.get("/tests/1")
    badge = "Auto-repaired: review" in ben.text  # G74
    await ben.get("/repairs/1")
    shown = ben.text
    await ben.send("/repairs/1/review")
    said = ben.said
    await ben.get("/tests/1")

    assert badge
    assert "by the gardener" in shown
    assert said == "Reviewed; the fix stays."  # G78
    assert "Auto-repaired" not in ben.text
    assert (await world.test()).version == 2


async def test_reviewing_in_the_list_gives_htmx_the_row(office: Office) -> None:
    await _applied(office)
    ada = await office.ada()
    await ada.get("/projects/1/repairs?state=to_review")
    listed = ada.text

    await ada.send("/repairs/1/review", htmx=True, back="list")

    assert "to review checkout" in listed
    assert ada.page.strip().startswith('<li id="repair-1"')
    assert "reviewed checkout" in ada.text


async def _applied(office: Office) -> None:
    world = office.world
    await world.switch(True)
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED
    await world.nightly()

    assert len(await world.history()) == 1


async def test_reverting_warns_before_and_after(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    before = (await office.world.test()).steps
    await ada.send("/proposals/1/approve")

    await ada.get("/repairs/1")
    warned = ada.text
    await ada.send("/repairs/1/revert")

    assert "will fail again at step 3 until it is mended another way" in warned  # G77
    assert "will fail again at step 3" in ada.said
    assert (await office.world.test()).steps == before  # G76
    assert "Reverted by Ada" in ada.text
    assert "Revert this repair" not in ada.text


async def test_what_was_edited_since_cannot_be_reverted_and_the_page_says_why(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    await ada.send("/proposals/1/approve")
    await office.world.save(a_test({"goto": "/"}, {"click": {"css": "#later"}}))

    await ada.get("/repairs/1")
    shown = ada.text
    await ada.send("/repairs/1/revert")

    assert "no longer fits 'checkout'" in shown
    assert "no longer fits 'checkout'" in ada.said
    assert (await office.world.test()).version == 3


async def test_the_history_can_be_narrowed(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    await ada.send("/proposals/1/approve")

    for query, found in (("author=Ada", 1), ("author=Ben", 0), ("state=reverted", 0), ("strategy=nothing", 0)):
        await ada.get(f"/projects/1/repairs?{query}")
        assert ada.page.count('id="repair-') == found, query


async def test_tests_are_found_by_name_and_state(office: Office) -> None:
    await office.staged()
    ada = await office.ada()

    found = {}
    for query in ("", "search=HEL", "only=red", "only=at_risk", "status=draft", "search=100%25"):
        await ada.get(f"/projects/1/tests?{query}")
        found[query] = re.findall(r'<a href="/tests/\d+">([^<]+)', ada.page)

    assert found[""] == ["checkout", "help"]
    assert found["search=HEL"] == ["help"]
    assert found["only=red"] == found["only=at_risk"] == ["checkout"]
    assert found["status=draft"] == found["search=100%25"] == []


# --- by hand ---------------------------------------------------------------------------------------------


async def _red_run(office: Office, **how: Any) -> int:
    await office.world.save(CHECKOUT)
    await office.world.run()
    office.world.app.release = RENAMED
    (run,) = (await office.world.run(**how)).runs
    return run.id


@pytest.mark.parametrize("only", ["", "suggest_fix", "diagnose_drift"])
async def test_a_red_run_is_repaired_by_hand_in_three_ways(office: Office, only: str) -> None:
    run = await _red_run(office)
    ada = await office.ada()
    await ada.get(f"/runs/{run}")

    await ada.send(f"/runs/{run}/repair", only=only)
    watched = ada.path
    (job,) = [one for one in await office.world.jobs() if one.kind == JobKind.REPAIR]
    await office.world.work(job.id)
    await ada.get(watched)

    assert job.payload == {"run": run, "only": only or None, "by": "Ada"}
    assert "Dry run" not in ada.text
    assert len(await office.world.queue()) == (0 if only else 1)  # proven, and still a person's to decide
    assert "What came of it" in ada.text


async def test_a_control_run_is_repaired_by_nobody(office: Office) -> None:
    run = await _red_run(office, trigger=Trigger.CONTROL)
    ada = await office.ada()
    await ada.get(f"/runs/{run}")
    page = ada.text

    await ada.send(f"/runs/{run}/repair", only="")

    assert "Not repaired: This is a control run" in page
    assert "Climb the whole ladder" not in page
    assert "control run" in ada.said  # G95
    assert [one for one in await office.world.jobs() if one.kind == JobKind.REPAIR] == []


async def test_a_rung_that_does_not_exist_is_refused(office: Office) -> None:
    run = await _red_run(office)
    ada = await office.ada()
    await ada.get(f"/runs/{run}")

    await ada.send(f"/runs/{run}/repair", only="delete_checks")

    assert "is not a rung" in ada.said


# --- jobs ------------------------------------------------------------------------------------------------


async def test_a_sweep_is_asked_for_watched_and_told(office: Office) -> None:
    await office.world.save(CHECKOUT)
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = RENAMED
    ada = await office.ada()
    await ada.get("/projects/1")

    await ada.send("/projects/1/sweep")
    watched, waits = ada.path, ada.text
    await working.work_once(office.world.tools)
    await ada.get(watched)

    assert "waits" in waits
    assert "Dry run of “checkout”" in ada.text
    assert "Self-heal for step 3" in ada.text
    assert "2 pages, " in ada.text
    assert "Look at the repair" in ada.text


async def test_the_stream_gives_each_line_once_and_ends_with_the_job(office: Office) -> None:
    await office.world.save(CHECKOUT)
    ada = await office.ada()
    await ada.get("/projects/1")
    await ada.send("/projects/1/run")
    number = ada.path.rpartition("/")[2]
    await working.work_once(office.world.tools)

    whole = await ada.get(f"/jobs/{number}/stream")
    rest = await ada.get(f"/jobs/{number}/stream", headers={"last-event-id": "2"})

    assert ada.headers["content-type"].startswith("text/event-stream")
    assert whole.count("event: line") == 3
    assert whole.count("event: state") == 1
    assert whole.rstrip().endswith("data:") or "event: done" in whole
    assert rest.count("event: line") == 1


async def test_a_job_of_another_process_is_watched_by_its_state(office: Office) -> None:
    await office.world.save(CHECKOUT)
    ada = await office.ada()
    await ada.get("/projects/1")
    await ada.send("/projects/1/run")
    watched = ada.path
    await working.work_once(office.world.colleague(watch=office.world.watch))

    await ada.get(watched)
    stream = await ada.get(f"{watched}/stream")

    assert "another process did it" not in stream
    assert "event: state" in stream
    assert "event: line" not in stream


async def test_a_job_that_was_put_off_says_until_when_and_why(office: Office) -> None:
    await office.world.switch(True)
    await office.world.save(CHECKOUT)
    await office.world.run()
    office.world.app.release = RENAMED
    await office.world.settle(read_only_hours="11:30-12:30")
    await office.world.nightly()
    job = next(one for one in await office.world.jobs() if one.kind == JobKind.HEAL)
    ada = await office.ada()

    await ada.get(f"/jobs/{job.id}")

    assert job.not_before is not None
    until = f"{job.not_before:%Y-%m-%d %H:%M} UTC"
    assert f"waits until {until}" in ada.text
    assert "The project is read-only until Sun 01 Mar 12:30 (UTC)" in ada.text
    assert "its repair waits until then" in ada.text
    await ada.get("/projects/1")
    assert f"waits until {until}" in ada.text

    office.world.clock.pass_(minutes=31)
    await ada.get(f"/jobs/{job.id}")
    assert "waits until" not in ada.text.partition("What is being done")[0].replace("its repair waits until then", "")


@pytest.mark.parametrize("path", ["/runs/1", "/proposals/1", "/projects/1/radar", "/projects/1/repairs"])
async def test_read_only_hours_are_said_where_somebody_may_be_about_to_write(office: Office, path: str) -> None:
    await office.staged()
    ada = await office.ada()

    await ada.get(path)
    open_ = ada.text
    await office.world.settle(read_only_hours="11:30-12:30")
    await ada.get(path)

    assert "read-only" not in open_
    assert "The project is read-only until Sun 01 Mar 12:30 (UTC): nothing is proven or written." in ada.text


async def test_a_sweep_in_read_only_hours_says_why_it_left_its_tests(office: Office) -> None:
    await office.world.save(CHECKOUT)
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = RENAMED
    await office.world.settle(read_only_hours="11:30-12:30")
    swept = await office.world.sweep()
    await office.world.settle(read_only_hours=None)
    ada = await office.ada()

    await ada.get(f"/sweeps/{swept['sweep']}")

    left = ada.text.partition("Left for the next sweep")[2]
    assert left.strip().startswith("The project is read-only until Sun 01 Mar 12:30 (UTC)")
    assert "checkout" in left


async def test_a_job_that_could_not_be_done_says_why(office: Office) -> None:
    waiting = await office.staged()
    async with office.world.store.transaction() as tx:
        await _make_unproven(tx, waiting.id)
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    await ada.send("/proposals/1/approve")
    watched = ada.path
    async with office.world.store.transaction() as tx:
        await proposals.decide(tx, 1, to=ProposalStatus.DISMISSED, by="Ben", now=office.world.clock())

    (job,) = [one for one in await office.world.jobs() if one.kind == JobKind.APPROVE]
    (done,) = await office.world.work(job.id)
    await ada.get(watched)

    assert done.state == JobState.FAILED
    assert "Proposal 1 is dismissed already by Ben" in ada.text


async def test_the_same_is_asked_for_once(office: Office) -> None:
    await office.world.save(CHECKOUT)
    ada = await office.ada()
    await ada.get("/projects/1")

    await ada.send("/projects/1/sweep")
    first = ada.path
    await ada.send("/projects/1/sweep")

    assert ada.path == first
    async with office.world.store.reading() as tx:
        assert len(await jobs.listed(tx, 1)) == 1


# --- projects, issues, settings --------------------------------------------------------------------------


async def test_a_project_is_added_and_a_taken_name_refused(office: Office) -> None:
    ada = await office.ada()

    await ada.send("/projects", name="books", base_url="http://books.test/")
    added = (ada.path, ada.said)
    await ada.get("/")
    await ada.send("/projects", name="books", base_url="http://books.test/")
    taken = ada.said
    await ada.send("/projects", name="more", base_url="ftp://books.test/")

    assert added == ("/projects/2", "“books” is added. Import its tests next.")
    assert taken.startswith("There is a project 'books' already")
    assert ada.said.startswith("the base URL is an address such as")


FIELDS = {
    "base_url": "http://shop.test",
    "urls": "/help\n/contact",
    "allowed_origins": "",
    "locale": "de-DE",
    "test_id_attribute": "data-test",
    "step_timeout_ms": "3000",
    "most_dry_runs": "5",
    "side_by_side": "2",
    "model": "",
    "model_base_url": "",
    "sweep_cron": "0 */2 * * *",
    "suite_cron": "",
    "timezone": "Europe/Berlin",
    "digest_hour": "",
    "jitter_s": "60",
}


async def test_settings_are_saved_with_the_switch(office: Office) -> None:
    ada = await office.ada()
    await ada.get("/projects/1/settings")

    await ada.send("/projects/1/settings", **FIELDS, auto_repair="true")

    assert ada.said == "Saved."
    await ada.get("/projects/1/settings")
    assert 'name="auto_repair" value="true" checked' in ada.page
    assert "Applies now" in ada.text
    assert "/help\n/contact</textarea>" in ada.page
    assert 'name="locale" value="de-DE"' in ada.page


async def test_a_box_that_is_not_ticked_is_off(office: Office) -> None:
    await office.world.switch(True)
    ada = await office.ada()
    await ada.get("/projects/1/settings")

    await ada.send("/projects/1/settings", **FIELDS)

    assert "Off now" in ada.text


async def test_a_wrong_setting_is_told_and_what_was_typed_stays(office: Office) -> None:
    ada = await office.ada()
    await ada.get("/projects/1/settings")

    await ada.send("/projects/1/settings", **(FIELDS | {"step_timeout_ms": "soon", "locale": "fr-FR"}))

    assert ada.status == 422
    assert ada.said == "Nothing was saved: 1 field needs another look."
    assert "It is a whole number from 100 to 120000, got 'soon'." in ada.text
    assert 'value="soon"' in ada.page
    assert 'name="locale" value="fr-FR"' in ada.page
    await ada.get("/projects/1/settings")
    assert 'name="locale" value=""' in ada.page


async def test_an_issue_is_shown_with_its_reason_and_closed_by_hand(office: Office) -> None:
    await office.world.save(CHECKOUT)
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = WITHOUT_BUTTON
    await office.world.sweep()
    (issue,) = await office.world.issues()
    ada = await office.ada()
    await ada.get("/projects/1/issues")
    shown = ada.text

    await ada.send(f"/issues/{issue.id}/close")

    assert issue.kind == IssueKind.TRIAGE
    assert "triage checkout" in shown
    assert ada.said == f"Issue {issue.id} is closed."
    assert await office.world.issues() == ()
    await ada.get("/projects/1/issues?show=closed")
    assert "triage checkout" in ada.text


async def test_who_is_told_is_added_removed_and_never_shown_whole(office: Office) -> None:
    ada = await office.ada()
    await ada.get("/projects/1/news")

    await ada.send("/projects/1/targets", url="json://ada:hunter22@127.0.0.1:9/hook/abc", kinds="staged,triage")
    added, shown = ada.said, ada.text
    page = ada.page
    await ada.send("/targets/1/remove")

    assert "is told from now on" in added
    assert "staged, triage; added by Ada" in shown
    assert "hunter22" not in page
    assert ada.said.endswith("is told no more.")
    assert "Nobody yet" in ada.text


@pytest.mark.parametrize(("url", "kinds"), [("nonsense", ""), ("json://127.0.0.1:9/", "everything")])
async def test_an_address_that_cannot_be_is_told_and_not_added(office: Office, url: str, kinds: str) -> None:
    ada = await office.ada()
    await ada.get("/projects/1/news")

    await ada.send("/projects/1/targets", url=url, kinds=kinds)

    assert ada.path == "/projects/1/news"
    assert ada.said
    assert "Nobody yet" in ada.text


async def test_a_member_does_not_choose_who_is_told(office: Office) -> None:
    ben = await office.ben()
    await ben.get("/projects/1/news")

    assert "Add an address" not in ben.text
    await ben.send("/projects/1/targets", url="json://127.0.0.1:9/", kinds="")
    assert ben.status == 403


# --- hostile text, long lists ----------------------------------------------------------------------------

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"


async def test_text_of_an_app_is_shown_as_text(office: Office) -> None:
    waiting = await office.staged()
    async with office.world.store.transaction() as tx:
        await _make_evil(tx, waiting.id)
    ada = await office.ada()

    for path in ("/projects/1/radar", "/proposals/1", "/projects/1", "/tests/1", f"/runs/{waiting.run}", "/sweeps/2"):
        await ada.get(path)
        assert ada.status == 200, path
        assert "<script>alert" not in ada.page, path
        assert "<img src=x" not in ada.page, path
    await ada.get("/proposals/1")
    assert EVIL in ada.text.replace("  ", " ") or "alert(1)" in ada.text


async def _make_evil(tx: Transaction, proposal: int) -> None:
    from sqlalchemy import update

    from gardener.store.rows import EventRow, ProposalRow, RunRow, SavedTestRow, SweepRow

    change = {"page": EVIL, "kind": "text", "element": EVIL, "before": EVIL, "after": EVIL, "step": 3, "why": EVIL}
    operation = {
        "op": "replace",
        "step": 3,
        "old": {"click": {"css": EVIL}},
        "new": {"click": {"css": "b"}},
        "reason": EVIL,
    }
    values = {"error": EVIL, "reason": EVIL, "triggers": [change], "operations": [operation], "refusals": [operation]}
    await tx.run(update(ProposalRow).where(ProposalRow.id == proposal).values(**values))
    await tx.run(update(RunRow).values(error=EVIL, observed=EVIL, test_name=EVIL))
    await tx.run(update(EventRow).values(subject=EVIL))
    await tx.run(update(SavedTestRow).where(SavedTestRow.id == 1).values(name=EVIL, tags=[EVIL]))
    await tx.run(update(SweepRow).values(changes=[change] * 3))


async def test_a_page_of_the_radar_asks_the_database_as_often_for_one_row_as_for_many(office: Office) -> None:
    await office.world.settle(most_dry_runs=30)
    await office.staged()
    ada = await office.ada()

    with counted() as few:
        await ada.get("/projects/1/radar")
    await office.world.save(*checkouts(12))
    await office.world.run(*[one.name for one in checkouts(12)])
    office.world.app.release = RENAMED_AGAIN
    await office.world.sweep()
    with counted() as many:
        await ada.get("/projects/1/radar")
    with counted() as tests:
        await ada.get("/projects/1/tests")

    assert ada.status == 200
    assert len(many) == len(few)
    assert len(tests) < 12


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that are run meanwhile."""
    seen: list[str] = []
    run = Transaction.run

    async def counting(self: Transaction, statement: Any, parameters: Any = None) -> Any:
        seen.append(type(statement).__name__)
        return await run(self, statement, parameters)

    Transaction.run = counting  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        Transaction.run = run  # type: ignore[method-assign]


async def test_a_long_queue_is_shown_a_slice_at_a_time(office: Office) -> None:
    await office.world.settle(most_dry_runs=100)
    await office.world.save(*checkouts(23))
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = RENAMED
    await office.world.sweep()
    ada = await office.ada()

    await ada.get("/projects/1/radar")
    first, rows = ada.text, set(re.findall(r'id="proposal-(\d+)"', ada.page))
    await ada.get("/projects/1/radar?page=2")
    more = set(re.findall(r'id="proposal-(\d+)"', ada.page))
    await ada.get("/projects/1/radar?page=99")

    assert "1–20 of 23" in first
    assert (len(rows), len(more), rows & more) == (20, 3, set())
    assert "23 tests broken by the same change" in first
    assert "Nothing on this page of the list" in ada.text
