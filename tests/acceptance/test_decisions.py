"""Two at once, an edit in between, an unproven fix: a repair is written once, whole, and only where it fits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gardener.actions import by_hand, deciding, working
from gardener.errors import GardenerError, Refused
from gardener.jobs import JobState
from gardener.proposals import ProposalStatus
from gardener.runs import Trigger
from gardener.store import open_store, proposals
from repair_ladder.outcomes import Environment
from tests.acceptance.shop import BROKEN, CHECKOUT, OLD, RENAMED, THANKS, checkouts
from tests.builders import CHECKOUT as PAYING
from tests.builders import a_page, a_step, a_test
from tests.fakes import Playing, World, a_world

MENDED = a_step("click", css="#submit-payment")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def shared_url(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("database_url" if request.param == "sqlite" else "postgres_url")


@pytest.fixture
async def shared(shared_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose database others can open: a file, or PostgreSQL where one is reachable."""
    async with a_world(shared_url, tmp_path / "data", OLD) as world:
        yield world


async def staged(world: World) -> int:
    await world.save(CHECKOUT)
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()
    return row.id


async def test_two_approvals_at_once_write_one_repair(shared: World) -> None:
    row = await staged(shared)

    async with await open_store(shared.tools.settings.database_url) as other:
        two = [shared.tools, shared.colleague("worker-2", store=other)] * 4
        answers = await asyncio.gather(
            *(deciding.approve(tools, row, f"person {number}") for number, tools in enumerate(two)),
            return_exceptions=True,
        )

    written = [one for one in answers if not isinstance(one, BaseException)]
    refused = [one for one in answers if isinstance(one, BaseException)]
    assert len(written) == 1
    assert all(isinstance(one, GardenerError) for one in refused), refused
    (repair,) = await shared.history()
    assert repair.author == written[0].author
    assert (await shared.test()).version == 2
    assert (await shared.test()).steps[2] == MENDED


async def test_approve_and_dismiss_at_once_one_of_them_holds(shared: World) -> None:
    row = await staged(shared)

    answers = await asyncio.gather(
        deciding.approve(shared.tools, row, "Ada"), deciding.dismiss(shared.tools, row, "Ben"), return_exceptions=True
    )

    assert sum(isinstance(one, GardenerError) for one in answers) == 1
    (decided,) = await shared.proposals()
    assert (decided.status == ProposalStatus.APPLIED) == (len(await shared.history()) == 1)
    assert ((await shared.test()).version == 2) == (decided.status == ProposalStatus.APPLIED)


async def test_two_reverts_at_once_one_of_them_holds(shared: World) -> None:
    repair = await deciding.approve(shared.tools, await staged(shared), "Ada")

    answers = await asyncio.gather(
        *(deciding.revert(shared.tools, repair.id, name) for name in ("Ada", "Ben")), return_exceptions=True
    )

    assert sum(isinstance(one, GardenerError) for one in answers) == 1
    assert (await shared.test()).version == 3
    assert (await shared.test()).steps == CHECKOUT.steps


async def test_two_workers_on_one_queue_tend_no_test_twice(shared: World) -> None:
    await shared.settle(side_by_side=2)
    await shared.switch(True)
    await shared.save(*checkouts(4))
    await shared.run()
    shared.app.release = RENAMED
    report = await shared.run(trigger=Trigger.SCHEDULE)
    shared.app.replays.clear()
    busy, most = 0, 0

    async def count(playing: Playing) -> None:
        nonlocal busy, most
        busy, most = busy + 1, max(most, busy + 1)
        await asyncio.sleep(0)
        busy -= 1

    shared.app.in_the_middle = count
    async with await open_store(shared.tools.settings.database_url) as other:
        await asyncio.gather(
            shared.work(*report.jobs), shared.work(*report.jobs, tools=shared.colleague("worker-2", store=other))
        )

    jobs = [job for job in await shared.jobs() if job.id in report.jobs]
    assert {job.state for job in jobs} == {JobState.DONE}
    assert [job.tries for job in jobs] == [1, 1, 1, 1]
    assert sorted(one.test_name for one in await shared.history()) == [one.name for one in checkouts(4)]
    assert len(shared.app.replays) == 12, (
        "each test is shown failing once and proved twice, the second time with its checks falsified"
    )


async def test_tests_of_one_project_run_one_after_another_unless_it_says_otherwise(applying: World) -> None:
    await applying.save(*checkouts(2))
    await applying.run()
    applying.app.release = RENAMED
    report = await applying.run(trigger=Trigger.SCHEDULE)
    others: list[bool] = []

    async def another(playing: Playing) -> None:
        others.append(await working.work_once(applying.colleague()))

    applying.app.in_the_middle = another
    await working.work_once(applying.tools)

    assert others == [False, False, False], "while one of its jobs runs, the next one waits"
    assert len(report.jobs) == 2


async def test_the_same_failure_reported_twice_is_one_job(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED

    first = await applying.run(trigger=Trigger.SCHEDULE)
    second = await applying.run(trigger=Trigger.CI)

    assert first.jobs == second.jobs


# --- an edit in between --------------------------------------------------------------------------------


@pytest.mark.parametrize("by_whom", ["the gardener", "by hand"])
async def test_an_edit_during_the_proof_means_that_nothing_is_written(applying: World, by_whom: str) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED
    edited = a_test(*PAYING, {"screenshot": "paid"})

    async def edit(playing: Playing) -> None:
        if playing.steps[2] == MENDED:
            await applying.save(edited)

    applying.app.in_the_middle = edit
    if by_whom == "by hand":
        (run,) = (await applying.run()).runs
        result = (await by_hand.repair_run(applying.tools, run.id, only=None, apply=True, by="Ada")).shape()
    else:
        (result,) = await applying.nightly()

    assert result["outcome"] == "refused"
    assert "was edited while its repair was proved" in result["reason"]
    test = await applying.test()
    assert (test.version, test.steps) == (2, edited.steps)
    assert await applying.history() == ()
    assert await applying.queue() == ()


async def test_an_edit_during_a_pass_means_that_nothing_is_staged_for_the_old_steps(world: World) -> None:
    await world.save(CHECKOUT)
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    edited = a_test(*PAYING, {"screenshot": "paid"})

    async def edit(playing: Playing) -> None:
        if playing.steps[2] == MENDED:
            await world.save(edited)

    world.app.in_the_middle = edit
    swept = await world.sweep()

    assert [one["outcome"] for one in swept["dry_runs"]] == ["refused"]
    assert await world.queue() == ()
    assert (await world.test()).steps == edited.steps


async def test_a_test_edited_between_its_mark_and_its_turn_is_dry_run_as_it_is_now(world: World) -> None:
    await world.save(*checkouts(2))
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    edited = a_test(*PAYING, {"screenshot": "paid"}, name="checkout 02")
    done = False

    async def edit(playing: Playing) -> None:
        nonlocal done
        if not done:
            done = True
            await world.save(edited)

    world.app.in_the_middle = edit
    await world.sweep()

    rows = {row.test_name: row for row in await world.queue()}
    assert rows["checkout 02"].version == 2


# --- a fix that was not proved yet ---------------------------------------------------------------------


async def unproven(world: World, css: str = "#submit-payment") -> int:
    """A fix that was not run unattended, as the ladder stages those that may do harm."""
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED
    test = await world.test()
    operation = {"op": "replace", "step": 3, "old": {"click": {"css": "#pay"}}, "new": {"click": {"css": css}}}
    async with world.store.transaction() as tx:
        row = await proposals.stage(
            tx,
            project=world.project.id,
            test=test.id,
            version=1,
            proven=False,
            strategy="self_heal",
            operations=[operation | {"reason": "it was renamed"}],
            refusals=[],
            triggers=[],
            failed_step="3",
            error="",
            reason="it newly pays",
            change_key="",
            now=world.clock(),
        )
    assert row is not None
    world.app.replays.clear()
    return row.id


async def test_approving_an_unproven_proposal_proves_it_first(world: World) -> None:
    row = await unproven(world)

    repair = await deciding.approve(world.tools, row, "Ada")

    assert len(world.app.replays) == 1
    assert (await world.test()).steps[2] == MENDED
    (decided,) = await world.proposals()
    assert decided.proven
    assert decided.proof_run is not None
    assert repair.author == "Ada"


async def test_a_proven_proposal_is_not_run_again(world: World) -> None:
    row = await staged(world)
    world.app.replays.clear()

    await deciding.approve(world.tools, row, "Ada")

    assert world.app.replays == []


@pytest.mark.parametrize(
    ("css", "release", "why"),
    [
        pytest.param("#pay-now", RENAMED, "its proof is red at step 3", id="it finds nothing"),
        pytest.param("#submit-payment", BROKEN, "its proof is red at step 4", id="the check does not hold"),
        pytest.param("#later", RENAMED.with_(home=a_page('p "x"')), "it could not be proved", id="half a page"),
    ],
)
async def test_a_red_proof_writes_nothing_and_the_row_stays_open(
    world: World, css: str, release: Any, why: str
) -> None:
    row = await unproven(world, css)
    world.app.release = release

    with pytest.raises(Refused, match=why):
        await deciding.approve(world.tools, row, "Ada")

    (still,) = await world.queue()
    assert (still.id, still.status, still.proven) == (row, ProposalStatus.PROPOSED, False)
    assert (await world.test()).version == 1
    assert await world.history() == ()


async def test_a_green_proof_on_the_wrong_element_writes_nothing(world: World) -> None:
    """The neighbouring button leads to the same page, so the run is green; it is not what the old one became."""
    row = await unproven(world, "#later")
    home = RENAMED.pages["/"]
    later = next(one for one in home.elements if one.get("id") == "later")
    led = replace(later, attributes={**later.attributes, "formaction": "/thanks"})
    both = replace(home, elements=tuple(led if one is later else one for one in home.elements))
    world.app.release = RENAMED.with_(home=both)

    with pytest.raises(Refused, match="not convincing"):
        await deciding.approve(world.tools, row, "Ada")

    assert (await world.test()).version == 1
    assert len(await world.queue()) == 1


async def test_a_proof_that_the_surroundings_prevented_writes_nothing_and_says_so(world: World) -> None:
    row = await unproven(world)
    world.app.trouble = Environment("unreachable", "the app does not answer")

    with pytest.raises(Refused, match="could not be proved: the app does not answer"):
        await deciding.approve(world.tools, row, "Ada")

    assert len(await world.queue()) == 1


async def test_an_edit_during_the_proof_of_an_approval_makes_it_stale(world: World) -> None:
    row = await unproven(world)
    edited = a_test(*PAYING, {"screenshot": "paid"})

    async def edit(playing: Playing) -> None:
        await world.save(edited)

    world.app.in_the_middle = edit
    with pytest.raises(Refused, match="stale"):
        await deciding.approve(world.tools, row, "Ada")

    assert (await world.test()).steps == edited.steps
    assert [one.status for one in await world.proposals()] == [ProposalStatus.STALE]


async def test_two_approvals_of_an_unproven_proposal_at_once_write_one_repair(world: World) -> None:
    row = await unproven(world)

    answers = await asyncio.gather(
        *(deciding.approve(world.tools, row, name) for name in ("Ada", "Ben")), return_exceptions=True
    )

    assert sum(isinstance(one, GardenerError) for one in answers) == 1
    assert len(await world.history()) == 1


async def test_a_confirmation_that_is_new_is_staged_unproven_even_where_fixes_are_applied(applying: World) -> None:
    """No harm while proving: accepting a question that never came before is for a person."""
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = replace(OLD, confirms={"Pay now": "Really pay 42 now?"})

    (result,) = await applying.nightly()

    assert result["outcome"] == "staged"
    (row,) = await applying.queue()
    assert not row.proven
    assert row.operations[0]["new"] == {"dialog": "accept"}
    assert (await applying.test()).version == 1
    repair = await deciding.approve(applying.tools, row.id, "Ada")
    assert repair.author == "Ada"
    assert (await applying.test()).steps[2] == a_step("dialog", answer="accept")


async def test_a_renamed_button_is_staged_even_where_fixes_are_applied(applying: World) -> None:
    """Past the seeds: a target that changed its visible name is for a person to see."""
    await applying.save(CHECKOUT)
    await applying.run()
    renamed = OLD.pages["/"]
    pay = next(one for one in renamed.elements if one.get("id") == "pay")
    new = replace(
        pay, name="Complete payment", pieces=((0, "Complete payment"),), attributes={**pay.attributes, "id": "p"}
    )
    applying.app.release = OLD.with_(
        home=replace(renamed, elements=tuple(new if one is pay else one for one in renamed.elements))
    )

    (result,) = await applying.nightly()

    assert result["outcome"] in ("staged", "incurable", "product_defect")
    assert (await applying.test()).version == 1
    assert await applying.history() == ()


async def test_a_real_bug_is_not_repaired_away(applying: World) -> None:
    """G33: the check stays, the test stays red, a person is told."""
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = OLD.with_(
        thanks=a_page(THANKS.replace("Thank you, your order is on its way", "Error 17"), "/thanks")
    )

    (result,) = await applying.nightly()

    assert result["outcome"] == "product_defect"
    assert 'the app shows "Error 17"' in result["reason"]
    assert (await applying.test()).steps == CHECKOUT.steps
    (issue,) = await applying.issues()
    assert (issue.verdict, issue.tests) == ("product_defect", ("checkout",))


async def test_a_reworded_check_is_refused_with_what_a_person_would_change(applying: World) -> None:
    """G35, G36: withheld, with the old and the new expectation; not "no fix was found"."""
    await applying.save(
        a_test(
            *PAYING[:3],
            {"assert_text": {"role": "status", "equals": "Thank you, your order is on its way"}},
        )
    )
    await applying.run()
    applying.app.release = OLD.with_(
        thanks=a_page(
            THANKS.replace("Thank you, your order is on its way", "Thank you, your order is on the way"), "/thanks"
        )
    )

    (result,) = await applying.nightly()

    assert result["outcome"] == "refused"
    (refusal,) = result["refusals"]
    assert refusal["step"] == 4
    assert "on its way" in str(refusal["old"])
    assert "on the way" in str(refusal["new"])
    assert "person" in refusal["reason"]
    assert (await applying.test()).version == 1
