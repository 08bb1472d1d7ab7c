"""The life of one drift, from the sweep or the red run to the repair and back, in both modes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gardener.actions import deciding, importing
from gardener.errors import Refused
from gardener.notices import EventKind
from gardener.projects import WhyEmpty, why_queue_is_empty
from gardener.proposals import ProposalStatus
from gardener.repairs import GARDENER
from gardener.runs import RunStatus, Trigger
from gardener.store import audit
from repair_ladder.formats import yaml
from tests.acceptance.shop import CHECKOUT, HELPING, RENAMED, RENAMED_AGAIN, WITHOUT_BUTTON
from tests.builders import a_step
from tests.fakes import World

FILE = """\
# Ada's own words
name:   checkout
variables: {user: ada@example.com}
steps:
  - goto: /
  - fill: {label: Email, value: "${user}"}
  - click: {css: "#pay"}     # the big one
  - assert_text: {role: status, contains: Thank you}
"""
MENDED = a_step("click", css="#submit-payment")


async def a_staged_drift(world: World) -> Any:
    await world.save(CHECKOUT, HELPING)
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    return await world.sweep()


async def test_g12_a_drift_is_staged_and_the_test_stays_as_it_is(world: World) -> None:
    swept = await a_staged_drift(world)

    (row,) = await world.queue()
    assert [one["outcome"] for one in swept["dry_runs"]] == ["staged"]
    assert row.proven
    assert row.operations[0]["new"] == {"click": {"css": "#submit-payment"}}
    assert (await world.test()).steps == CHECKOUT.steps
    assert (await world.test()).version == 1
    assert await world.history() == ()


async def test_g48_to_g51_a_row_shows_the_diff_the_trigger_the_failing_step_and_since_when(world: World) -> None:
    await a_staged_drift(world)

    (row,) = await world.queue()
    assert [(one["op"], one["step"]) for one in row.operations] == [("replace", 3)]
    assert row.operations[0]["old"] == {"click": {"css": "#pay"}}
    assert [(one["page"], one["kind"], one["step"]) for one in row.triggers] == [("/", "attribute", 3)]
    assert (row.failed_step, row.error) == ("3", 'css "#pay" finds nothing')
    assert row.restated == 0
    assert row.created_at < world.clock()
    broken, proof = (await world.runs(triggers=[Trigger.DRY_RUN]))[0], (await world.runs(triggers=[Trigger.PROOF]))[0]
    assert (row.run, row.proof_run) == (broken.id, proof.id)
    assert (broken.status, proof.status) == (RunStatus.RED, RunStatus.GREEN)


async def test_g53_approving_writes_the_change_and_names_who_approved(world: World) -> None:
    await a_staged_drift(world)
    (row,) = await world.queue()

    repair = await deciding.approve(world.tools, row.id, "Ben")

    test = await world.test()
    assert test.steps[2] == MENDED
    assert (test.steps[:2], test.steps[3:]) == (CHECKOUT.steps[:2], CHECKOUT.steps[3:])
    assert test.version == 2
    assert not test.flagged, "a person has looked at it already"
    assert (repair.author, repair.proposal, repair.strategy) == ("Ben", row.id, "self_heal")
    assert repair.steps_before == CHECKOUT.steps
    assert await world.queue() == ()
    (decided,) = await world.proposals()
    assert (decided.status, decided.decided_by) == (ProposalStatus.APPLIED, "Ben")
    assert await world.at_risk() == []
    async with world.store.reading() as tx:
        assert ("Ben", "repair") in [(one.who, one.what) for one in await audit.listed(tx)]


async def test_g84_after_the_approval_the_next_runs_and_sweeps_are_quiet(world: World) -> None:
    await a_staged_drift(world)
    (row,) = await world.queue()
    await deciding.approve(world.tools, row.id, "Ben")

    report = await world.run(trigger=Trigger.CI)
    swept = await world.sweep()

    assert {run.status for run in report.runs} == {RunStatus.GREEN}
    assert report.jobs == ()
    assert swept["dry_runs"] == []
    assert await world.queue() == ()


async def test_g54_g76_reverting_restores_the_file_to_the_byte(world: World) -> None:
    await world.save(*yaml.read(FILE))
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    await world.sweep()
    (row,) = await world.queue()
    repair = await deciding.approve(world.tools, row.id, "Ada")
    assert importing.export_yaml(await world.test()) != FILE

    await deciding.revert(world.tools, repair.id, "Ben")

    test = await world.test()
    assert importing.export_yaml(test) == FILE
    assert test.steps == yaml.read(FILE)[0].steps
    assert test.version == 3, "history grows, it is not turned back"
    (entry,) = await world.history()
    assert entry.reverted_by == "Ben"


async def test_g77_the_revert_says_what_will_fail_again_and_it_does(world: World) -> None:
    await a_staged_drift(world)
    (row,) = await world.queue()
    repair = await deciding.approve(world.tools, row.id, "Ada")

    reverted = await deciding.revert(world.tools, repair.id, "Ada")

    warning = await deciding.warning_of(world.tools, reverted)
    assert "will fail again at step 3" in warning
    (run,) = (await world.run("checkout")).runs
    assert (run.status, run.failed_step) == (RunStatus.RED, "3")


async def test_a_repair_is_reverted_once(world: World) -> None:
    await a_staged_drift(world)
    (row,) = await world.queue()
    repair = await deciding.approve(world.tools, row.id, "Ada")
    await deciding.revert(world.tools, repair.id, "Ada")

    with pytest.raises(Refused, match="reverted before, by Ada"):
        await deciding.revert(world.tools, repair.id, "Ben")

    assert (await world.test()).version == 3


async def test_a_repair_that_somebody_edited_since_is_not_reverted(world: World) -> None:
    await a_staged_drift(world)
    (row,) = await world.queue()
    repair = await deciding.approve(world.tools, row.id, "Ada")
    (edited,) = await world.save(replace(CHECKOUT, steps=(*CHECKOUT.steps, a_step("screenshot", as_="paid"))))

    with pytest.raises(Refused, match="no longer fits 'checkout'"):
        await deciding.revert(world.tools, repair.id, "Ben")

    assert await world.test() == edited


# --- switch on -----------------------------------------------------------------------------------------


async def test_g7_g8_an_unattended_red_run_is_repaired_at_once_and_nothing_is_staged(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED

    (result,) = await applying.nightly()

    assert result["outcome"] == "applied"
    assert (await applying.test()).steps[2] == MENDED
    assert await applying.queue() == ()
    assert (await applying.run(trigger=Trigger.SCHEDULE)).runs[0].status == RunStatus.GREEN


async def test_g73_g74_g81_the_record_has_everything_and_the_test_is_flagged(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED

    await applying.nightly()

    (repair,) = await applying.history()
    assert repair.author == GARDENER
    assert repair.steps_before == CHECKOUT.steps
    assert (repair.version_before, repair.version_after) == (1, 2)
    assert repair.operations[0]["new"] == {"click": {"css": "#submit-payment"}}
    assert repair.run is not None
    assert (await applying.test()).flagged
    assert EventKind.APPLIED in [event.kind for event in await applying.events()]


async def test_g78_reviewed_clears_the_flag_and_keeps_the_fix(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED
    await applying.nightly()
    (repair,) = await applying.history()

    reviewed = await deciding.review(applying.tools, repair.id, "Ada")

    test = await applying.test()
    assert reviewed.reviewed_by == "Ada"
    assert not test.flagged
    assert test.steps[2] == MENDED
    assert test.version == 2


async def test_an_older_repair_reviewed_leaves_the_flag_of_the_newer_one(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    for release in (RENAMED, RENAMED_AGAIN):
        applying.app.release = release
        await applying.nightly()
    newest, oldest = await applying.history()

    await deciding.review(applying.tools, oldest.id, "Ada")
    still_flagged = (await applying.test()).flagged
    await deciding.review(applying.tools, newest.id, "Ada")

    assert still_flagged
    assert not (await applying.test()).flagged


async def test_c17_every_repair_is_kept_and_they_are_reverted_newest_first(applying: World) -> None:
    """Past G80: no repair overwrites another."""
    await applying.save(CHECKOUT)
    await applying.run()
    for release in (RENAMED, RENAMED_AGAIN):
        applying.app.release = release
        await applying.nightly()
    newest, oldest = await applying.history()

    with pytest.raises(Refused, match="Revert what came later first"):
        await deciding.revert(applying.tools, oldest.id, "Ada")
    await deciding.revert(applying.tools, newest.id, "Ada")
    assert (await applying.test()).steps[2] == MENDED
    await deciding.revert(applying.tools, oldest.id, "Ada")

    assert (await applying.test()).steps == CHECKOUT.steps


async def test_g9_a_green_project_sees_no_repair_activity_at_all(applying: World) -> None:
    await applying.save(CHECKOUT, HELPING)

    for trigger in (Trigger.SCHEDULE, Trigger.SUITE, Trigger.CI):
        report = await applying.run(trigger=trigger)
        assert report.jobs == ()

    assert await applying.jobs() == ()
    assert len(applying.app.replays) == 6, "each test once a run, and nothing more"


async def test_g32_a_ladder_that_ends_without_green_files_an_issue_and_writes_nothing(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = WITHOUT_BUTTON

    (result,) = await applying.nightly()

    assert result["outcome"] in ("incurable", "product_defect")
    assert result["reason"]
    assert (await applying.test()).steps == CHECKOUT.steps
    assert await applying.history() == ()
    assert await applying.queue() == ()
    (issue,) = await applying.issues()
    assert issue.tests == ("checkout",)


async def test_an_issue_is_closed_when_its_test_is_green_again(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    old = applying.app.release
    applying.app.release = WITHOUT_BUTTON
    await applying.nightly()
    await applying.nightly()
    assert [issue.restated for issue in await applying.issues()] == [1], "the same cause is one row"

    applying.app.release = old
    await applying.run()

    assert await applying.issues() == ()


async def test_a_repair_that_a_person_reverted_is_not_written_again_by_itself(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED
    await applying.nightly()
    (repair,) = await applying.history()
    await deciding.revert(applying.tools, repair.id, "Ada")

    (result,) = await applying.nightly()

    assert result["outcome"] == "staged"
    assert "Ada reverted this repair before" in result["reason"]
    assert (await applying.test()).steps == CHECKOUT.steps


@pytest.mark.parametrize(
    ("on", "swept", "left", "key", "why"),
    [
        pytest.param(True, True, 3, True, WhyEmpty.APPLIES, id="G69 the project repairs itself"),
        pytest.param(True, False, 0, False, WhyEmpty.APPLIES, id="G18 the switch comes first"),
        pytest.param(False, True, 3, False, WhyEmpty.NO_KEY, id="G70 no key"),
        pytest.param(False, False, 0, True, WhyEmpty.NEVER_SWEPT, id="G71 never swept"),
        pytest.param(False, True, 0, True, WhyEmpty.ALL_PASS, id="G72 all at-risk tests pass"),
    ],
)
async def test_g69_to_g72_an_empty_queue_says_why(
    world: World, on: bool, swept: bool, left: int, key: bool, why: WhyEmpty
) -> None:
    await world.switch(on)

    reason, sentence = why_queue_is_empty(world.project, swept=swept, at_risk_left=left, has_key=key)

    assert reason == why
    assert sentence.endswith(".")
    if on:
        assert "does not mean that nothing broke" in sentence
