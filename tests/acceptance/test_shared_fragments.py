"""A drift inside a fragment: one change of the fragment mends every test that uses it, and none is broken by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gardener.actions import deciding, editing
from gardener.errors import Refused
from gardener.proposals import ProposalStatus
from gardener.runs import RunStatus, Trigger
from gardener.saved_tests import Status
from gardener.store import at_risk, saved_tests
from repair_ladder.formats import WrittenTest
from repair_ladder.step_format import write_steps
from tests.acceptance.shop import HOME, OLD, RENAMED, THANKS
from tests.builders import a_page, a_test
from tests.fakes import World

THANKED = {"assert_text": {"role": "status", "contains": "Thank you"}}
PAY = a_test({"fill": {"label": "Email", "value": "${user}"}}, {"click": {"css": "#pay"}}, name="pay", status="draft")
IN_SERVICE = replace(PAY, status="active")


def shopper(name: str = "checkout", *more: Any, use: Any = "pay", check: Any = THANKED) -> WrittenTest:
    return a_test({"goto": "/"}, {"use": use}, check, *more, name=name)


# In service, and played by itself as well: it needs to come to the page.
def paying_alone(**more: Any) -> WrittenTest:
    return a_test(
        {"goto": "/"}, {"fill": {"label": "Email", "value": "${user}"}}, {"click": {"css": "#pay"}}, name="pay", **more
    )


def buyer(name: str = "checkout", *more: Any, use: Any = "pay", check: Any = THANKED) -> WrittenTest:
    return a_test({"use": use}, check, *more, name=name)


async def fragment(world: World, name: str = "pay") -> Any:
    return write_steps((await world.test(name)).steps)


async def drifted(world: World, *tests: WrittenTest, release: Any = RENAMED) -> None:
    """Green once, then another release."""
    await world.save(*tests)
    await world.run()
    await world.sweep()
    world.app.release = release


# --- at risk, and red ------------------------------------------------------------------------------------


async def test_a_locator_in_a_fragment_puts_the_tests_that_use_it_at_risk(world: World) -> None:
    await drifted(world, PAY, shopper("one"), shopper("two"), a_test({"use": "one"}, name="three"))

    summary = await world.sweep()

    steps = {one["test"]: [each["step"] for each in one["triggers"]] for one in summary["at_risk"]}
    assert steps == {
        "one": ["fragment 'pay', step 2, via step 2"],
        "two": ["fragment 'pay', step 2, via step 2"],
        "three": ["fragment 'pay', step 2, via step 1.2"],
    }


async def test_a_red_step_of_a_fragment_has_a_place_of_its_own(world: World) -> None:
    await drifted(world, PAY, shopper())

    (run,) = (await world.run()).runs

    assert (run.status, run.failed_step) == (RunStatus.RED, "2.2")
    assert str(run.error).startswith("in the fragment 'pay', step 2: ")
    assert run.page_key is not None
    assert [one["step"] for one in run.steps] == ["1", "2.1", "2.2"]


# --- one change of the fragment --------------------------------------------------------------------------


async def test_one_proposal_on_the_fragment_mends_every_test_that_uses_it(world: World) -> None:
    await drifted(world, PAY, *(shopper(f"checkout {number}") for number in range(1, 5)))

    summary = await world.sweep()

    (row,) = await world.queue()
    assert (row.test_name, row.failed_step, [one["step"] for one in row.operations]) == ("pay", "2.2", [2])
    assert row.sharing is not None
    assert row.sharing.heals == ("checkout 1", "checkout 2", "checkout 3", "checkout 4")
    assert {one["outcome"] for one in summary["dry_runs"]} == {"staged"}
    assert {one["proposal"] for one in summary["dry_runs"]} == {row.id}
    assert "heals 4 tests" in row.why


async def test_approved_it_is_a_new_version_of_the_fragment_and_of_nothing_else(world: World) -> None:
    await drifted(world, PAY, shopper("one"), shopper("two"))
    await world.sweep()
    (row,) = await world.queue()

    repair = await deciding.approve(world.tools, row.id, "Ada")

    assert (repair.test_name, repair.version_before, repair.version_after) == ("pay", 1, 2)
    assert [(await world.test(name)).version for name in ("one", "two")] == [1, 1]
    assert (await fragment(world))[1] != write_steps(PAY.steps)[1]
    assert {run.status for run in (await world.run()).runs} == {RunStatus.GREEN}
    assert await world.at_risk() == []


async def test_reverted_the_fragment_is_as_it_was_and_the_same_repair_is_found_again(world: World) -> None:
    await drifted(world, PAY, shopper("one"), shopper("two"))
    await world.sweep()
    (row,) = await world.queue()
    repair = await deciding.approve(world.tools, row.id, "Ada")
    await world.run()

    await deciding.revert(world.tools, repair.id, "Ada")

    assert await fragment(world) == write_steps(PAY.steps)
    warning = await deciding.warning_of(world.tools, repair)
    assert "'one', 'two'" in warning
    (red, _) = (await world.run()).runs
    assert red.failed_step == "2.2"
    await world.sweep()
    async with world.store.transaction() as tx:
        await at_risk.mark(tx, (await world.test("one")).id, triggers=[], change_key="again", now=world.clock())
    await world.sweep()
    (again,) = await world.queue()
    assert [one["new"] for one in again.operations] == [one["new"] for one in row.operations]


async def test_where_the_switch_is_on_it_is_applied_and_the_other_jobs_find_their_tests_green(applying: World) -> None:
    await drifted(applying, paying_alone(), buyer("one"), buyer("two"))

    results = await applying.nightly()

    said = sorted(one["outcome"] for one in results)
    assert said == ["applied", "passed"], "the run of the fragment itself was of a version that is no more"
    (repair,) = await applying.history()
    assert repair.test_name == "pay"
    assert repair.sharing is not None
    assert set(repair.sharing.heals) == {"one", "two", "pay"}


async def test_a_draft_is_only_staged_and_one_that_waits_for_review_is_left_alone(applying: World) -> None:
    await drifted(applying, PAY, shopper())

    (draft,) = await applying.nightly()

    assert draft["outcome"] == "staged"
    assert "'pay' is a draft" in draft["reason"]
    await deciding.dismiss(applying.tools, draft["proposal"], "Ada")
    async with applying.store.transaction() as tx:
        await saved_tests.set_status(tx, (await applying.test("pay")).id, Status.PENDING)
    (pending,) = await applying.nightly()
    assert pending["outcome"] == "refused"
    assert await fragment(applying) == write_steps(PAY.steps)


# --- never_repair ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pay", "use"),
    [
        (replace(PAY, tags=("never-repair",)), {"use": "pay"}),
        (PAY, {"use": "pay", "never_repair": True}),
        (
            replace(PAY, steps=(PAY.steps[0], replace(PAY.steps[1], never_repair=True))),
            {"use": "pay"},
        ),
    ],
    ids=["the fragment", "the use", "the step"],
)
async def test_what_its_owner_marked_is_not_repaired_in_a_fragment(
    applying: World, pay: WrittenTest, use: dict[str, Any]
) -> None:
    await drifted(applying, pay, a_test({"goto": "/"}, use, THANKED))

    (result,) = await applying.nightly()

    assert result["outcome"] == "refused"
    assert "never repair" in result["refusals"][0]["reason"]
    assert await applying.queue() == ()
    assert await applying.history() == ()


async def test_a_use_that_one_test_marked_holds_the_fragment_for_all(applying: World) -> None:
    marked = a_test({"goto": "/"}, {"use": "pay", "never_repair": True}, THANKED, name="marked", status="active")
    await drifted(applying, paying_alone(), buyer("one"), marked)

    results = await applying.nightly("one")

    assert [one["outcome"] for one in results] == ["refused"]
    assert "in 'marked', which it changes as well" in results[0]["refusals"][0]["reason"]


# --- the others are run first (T17, C21) -----------------------------------------------------------------

# Somebody pays on another page too, where the button is called as ever.
CLASSIC = a_page(HOME, "/classic")
TWO_PAGES = OLD.with_(classic=CLASSIC)
ONE_RENAMED = RENAMED.with_(classic=CLASSIC)


def on(path: str, name: str) -> WrittenTest:
    return a_test({"goto": path}, {"use": "pay"}, THANKED, name=name)


async def test_a_repair_that_would_turn_another_test_red_is_staged_with_the_reason(make_world: Any) -> None:
    odd = a_page(HOME.replace("button#pay.primary", "button#pay.old").replace('"Pay now"', '"Order"'), "/classic")
    old = OLD.with_(classic=odd)
    new = RENAMED.with_(classic=odd)
    async with make_world(old, auto_repair=True) as world:
        await drifted(world, replace(PAY, status="active"), on("/", "home"), on("/classic", "classic"), release=new)

        results = await world.nightly("home")

        assert [one["outcome"] for one in results] == ["staged"]
        assert "'classic', which is green without it" in results[0]["reason"]
        assert "step 2.2" in results[0]["reason"]
        assert await world.history() == ()


async def test_whoever_was_told_may_approve_it_even_so_and_nobody_else(make_world: Any) -> None:
    odd = a_page(HOME.replace("button#pay.primary", "button#pay.old").replace('"Pay now"', '"Order"'), "/classic")
    async with make_world(OLD.with_(classic=odd)) as world:
        await drifted(world, PAY, on("/", "home"), release=RENAMED.with_(classic=odd))
        await world.sweep()
        (row,) = await world.queue()
        await world.save(on("/classic", "classic"))

        with pytest.raises(Refused, match=r"'classic', which is green without it.*approve it again"):
            await deciding.approve(world.tools, row.id, "Ada")
        before = await world.history()
        repair = await deciding.approve(world.tools, row.id, "Ada")

        assert before == ()
        assert repair.sharing is not None
        assert [one.name for one in repair.sharing.tried if one.said == "broken"] == ["classic"]


async def test_a_test_that_is_red_for_a_reason_of_its_own_says_nothing(applying: World) -> None:
    broken = buyer("broken", check={"assert_text": {"role": "status", "contains": "Danke"}})
    await drifted(applying, paying_alone(), buyer("one"), broken)

    results = await applying.nightly("one")

    assert [one["outcome"] for one in results] == ["applied"]
    (repair,) = await applying.history()
    assert repair.sharing is not None
    assert {one.name: one.said for one in repair.sharing.tried} == {"broken": "red", "pay": "green"}


async def test_what_a_bound_kept_from_being_run_is_said(applying: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gardener.actions.sharing.MOST_TRIED", 2)
    await drifted(applying, paying_alone(), *(buyer(f"checkout {number}") for number in range(1, 5)))

    (result,) = await applying.nightly("checkout 1")

    assert result["outcome"] == "staged"
    assert "at most 2 tests are run" in result["reason"]
    (row,) = await applying.queue()
    assert row.sharing is not None
    assert len(row.sharing.left) == 2


async def test_a_test_that_others_use_is_changed_only_with_them(applying: World) -> None:
    """Its own red run finds the repair, and whoever uses it is run with it as well."""
    await drifted(applying, paying_alone(), buyer("one"))

    (result,) = await applying.nightly("pay")

    (repair,) = await applying.history()
    assert result["outcome"] == "applied"
    assert repair.sharing is not None
    assert repair.sharing.heals == ("pay",)
    assert [(one.name, one.said) for one in repair.sharing.tried] == [("one", "green")]


# --- stale, together, more than once ---------------------------------------------------------------------


async def test_a_fragment_that_was_edited_meanwhile_makes_its_proposal_stale(world: World) -> None:
    await drifted(world, PAY, shopper())
    await world.sweep()
    (row,) = await world.queue()
    pay = await world.test("pay")
    text = editing.text_of(pay).replace("#pay", "button.primary")

    await editing.edit_test(world.tools, pay.id, text, version=1, by="Ada")

    (stale,) = await world.proposals()
    assert stale.status == ProposalStatus.STALE
    with pytest.raises(Refused, match="stale"):
        await deciding.approve(world.tools, row.id, "Ada")


async def test_two_drifts_of_one_test_in_two_places_are_applied_together(world: World) -> None:
    receipt = {"click": {"css": "#receipt"}}
    release = RENAMED.with_(thanks=a_page(THANKS.replace("a#receipt", "a#the-receipt"), "/thanks"))
    test = shopper("checkout", receipt, {"assert_text": {"css": "#total", "equals": "42"}})
    await drifted(world, PAY, test, release=release)
    await world.sweep()
    rows = await world.queue()

    repair = await deciding.approve(world.tools, rows[0].id, "Ada")

    assert {one.test_name for one in rows} == {"pay", "checkout"}
    assert repair.proposal == rows[0].id
    assert await world.queue() == ()
    assert {(one.test_name, one.version_after) for one in await world.history()} == {("pay", 2), ("checkout", 2)}
    (run,) = (await world.run()).runs
    assert run.status == RunStatus.GREEN


async def test_half_of_what_was_proven_together_is_not_dismissed_alone(world: World) -> None:
    receipt = {"click": {"css": "#receipt"}}
    release = RENAMED.with_(thanks=a_page(THANKS.replace("a#receipt", "a#the-receipt"), "/thanks"))
    test = shopper("checkout", receipt, {"assert_text": {"css": "#total", "equals": "42"}})
    await drifted(world, PAY, test, release=release)
    await world.sweep()
    rows = await world.queue()

    await deciding.dismiss(world.tools, rows[0].id, "Ada")

    assert {one.status for one in await world.proposals()} == {ProposalStatus.DISMISSED}


async def test_a_fragment_that_is_used_twice_is_changed_once(world: World) -> None:
    await drifted(world, PAY, shopper("checkout", {"goto": "/"}, {"use": "pay"}, THANKED))
    await world.sweep()
    (row,) = await world.queue()

    await deciding.approve(world.tools, row.id, "Ada")

    assert [one["step"] for one in row.operations] == [2]
    (run,) = (await world.run()).runs
    assert run.status == RunStatus.GREEN
    assert len((await world.test("pay")).steps) == 2


async def test_a_fragment_in_a_fragment_is_changed_where_the_step_is_kept(world: World) -> None:
    outer = a_test({"goto": "/"}, {"use": "pay"}, name="outer", status="draft")
    await drifted(world, PAY, outer, a_test({"use": "outer"}, THANKED))
    (run,) = (await world.run()).runs
    await world.sweep()

    (row,) = await world.queue()

    assert run.failed_step == "1.2.2"
    assert (row.test_name, row.sharing.use if row.sharing else None) == ("pay", "1.2")


async def test_an_unattended_run_of_many_tests_makes_one_proposal(applying: World) -> None:
    await drifted(applying, PAY, *(shopper(f"checkout {number}") for number in range(1, 4)))

    results = await applying.nightly()

    (row,) = await applying.queue()
    assert [one["outcome"] for one in results] == ["staged"] * 3
    assert {one["proposal"] for one in results} == {row.id}
    assert row.sharing is not None
    assert len(row.sharing.heals) == 3


# --- hostile ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["missing", "circle", "deep"])
async def test_a_fragment_that_cannot_be_played_is_the_test_s_own_fault(applying: World, what: str) -> None:
    chain = [a_test({"use": f"f{n + 1}"}, name=f"f{n}", status="draft") for n in range(1, 12)]
    made = {
        "missing": [shopper()],
        "circle": [a_test({"use": "checkout"}, name="pay", status="draft"), shopper()],
        "deep": [*chain, shopper(use="f1")],
    }
    await applying.save(*made[what])

    results = await applying.nightly("checkout")

    assert [one["outcome"] for one in results] == ["incurable"]
    assert await applying.queue() == ()
    (run,) = await applying.runs(triggers=[Trigger.SCHEDULE])
    assert run.cause == "test"
