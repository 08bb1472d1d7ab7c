"""The surroundings failed, not the test: one finding with all its tests, the baseline kept, nothing proposed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gardener.actions import entrusting
from gardener.jobs import JobState
from gardener.runs import RunStatus, Trigger
from gardener.sealing import KEY_FILE
from gardener.store import sweeps
from gardener.sweeps import SweepStatus
from gardener.triage import IssueKind
from radar.errors import PageUnavailable
from repair_ladder.formats import Secret
from repair_ladder.outcomes import Environment
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import CHECKOUT, HELPING, HOME, OLD, RENAMED, checkouts
from tests.builders import a_page, a_test
from tests.fakes import Release, World

LOGIN = """
main
  h1 "Welcome back"
  form
    input name=login label="User"
    input name=password type=password label="Password" required=""
    button#enter formaction=/account "Sign in"
"""
ACCOUNT = """
main
  h1 "Your account"
  p "Ada Lovelace"
  a#orders href=/orders "Orders"
"""
GERMAN = HOME
for english, german in (
    ("Your basket", "Ihr Warenkorb"),
    ("One blue mug", "Eine blaue Tasse"),
    ("Coupon", "Gutschein"),
    ("Pay now", "Jetzt bezahlen"),
    ("Save for later", "Merken"),
    ("Made of clay", "Aus Ton"),
    ("Help", "Hilfe"),
    ("Email", "E-Post"),
    ("Shop", "Laden"),
):
    GERMAN = GERMAN.replace(english, german)


def everywhere(page: str, **more: Any) -> Release:
    return Release({path: a_page(page, path, **more) for path in OLD.pages})


TROUBLES = [
    pytest.param(everywhere(LOGIN), "sign_in", id="a sign-in page"),
    pytest.param(OLD.with_(home=a_page(GERMAN, language="de")), "language", id="another language"),
    pytest.param(everywhere('h1 "Sorry"', status=503), "server_error", id="it answers 503"),
    pytest.param(OLD.with_(home=a_page('p "Loading"')), "half_loaded", id="it is half loaded"),
    pytest.param(PageUnavailable("http://shop.test/ cannot be loaded: refused"), "unreachable", id="it is unreachable"),
]


def befall(world: World, trouble: Any) -> None:
    if isinstance(trouble, Release):
        world.app.release, world.app.trouble = trouble, None
    else:
        world.app.trouble = trouble


async def known(world: World) -> None:
    await world.save(*checkouts(3), HELPING)
    await world.run()
    await world.sweep()
    world.app.replays.clear()


@pytest.mark.parametrize(("trouble", "kind"), TROUBLES)
async def test_a_sweep_meets_it_and_proposes_nothing(world: World, trouble: Any, kind: str) -> None:
    await known(world)
    before = await world.baseline()
    befall(world, trouble)

    swept = await world.sweep()

    assert {one["kind"] for one in swept["findings"]} == {kind}
    (finding,) = await world.issues()
    assert (finding.kind, finding.verdict) == (IssueKind.FINDING, "environment")
    assert {"checkout 01", "checkout 02", "checkout 03"} <= set(finding.tests)
    assert await world.baseline() == before
    assert swept["dry_runs"] == []
    assert world.app.replays == []
    assert await world.queue() == ()


@pytest.mark.parametrize(("trouble", "kind"), TROUBLES)
async def test_it_is_one_row_however_often_and_closed_when_it_is_over(world: World, trouble: Any, kind: str) -> None:
    await known(world)
    befall(world, trouble)
    await world.sweep()
    await world.sweep()
    (open_one,) = await world.issues()
    assert open_one.restated >= 1

    befall(world, OLD)
    swept = await world.sweep()

    assert await world.issues() == ()
    assert swept["changes"] == []
    assert swept["at_risk"] == []


@pytest.mark.parametrize(("trouble", "kind"), TROUBLES)
async def test_what_changed_meanwhile_is_seen_once_it_is_over(world: World, trouble: Any, kind: str) -> None:
    await known(world)
    befall(world, trouble)
    await world.sweep()

    befall(world, RENAMED)
    swept = await world.sweep()

    assert {one["outcome"] for one in swept["dry_runs"]} == {"staged"}
    assert len(await world.queue()) == 3


async def test_a_sweep_that_saw_only_trouble_is_marked_so(world: World) -> None:
    await known(world)
    befall(world, PageUnavailable("the app does not answer"))

    swept = await world.sweep()

    async with world.store.reading() as tx:
        assert (await sweeps.get(tx, swept["sweep"])).status == SweepStatus.ENVIRONMENT


async def test_a_page_that_is_in_trouble_does_not_hide_the_others(world: World) -> None:
    await world.save(CHECKOUT, HELPING)
    await world.run()
    await world.sweep()
    befall(world, RENAMED.with_(help=a_page('h1 "Sorry"', "/help", status=500)))

    swept = await world.sweep()

    assert [one["test"] for one in swept["dry_runs"]] == ["checkout"]
    (finding,) = await world.issues()
    assert finding.tests == ("help",)


async def test_the_first_sweep_takes_no_error_page_for_the_baseline(world: World) -> None:
    await world.save(CHECKOUT)
    await world.run()
    befall(world, everywhere('h1 "Sorry"', status=500))

    await world.sweep()

    assert await world.baseline() == {}


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        pytest.param(Environment("unreachable", "the app does not answer"), "unreachable", id="unreachable"),
        pytest.param(OLD.with_(home=a_page(GERMAN, language="de")), "language", id="another language"),
        pytest.param(everywhere(LOGIN), "sign_in", id="a sign-in page"),
        pytest.param(everywhere('h1 "Sorry"', status=502), "server_error", id="502"),
    ],
)
async def test_an_unattended_run_that_meets_it_is_no_red_run(applying: World, trouble: Any, kind: str) -> None:
    await applying.save(*checkouts(3))
    await applying.run()
    befall(applying, trouble)

    results = await applying.nightly()

    assert results == []
    assert {run.status.value for run in (await applying.runs())[:3]} == {"environment"}
    (finding,) = await applying.issues()
    assert finding.tests == ("checkout 01", "checkout 02", "checkout 03")
    assert await applying.history() == ()


async def test_an_app_that_goes_down_before_the_repair_is_no_attempt(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED
    report = await applying.run(trigger=Trigger.SCHEDULE)
    befall(applying, Environment("unreachable", "the app does not answer"))

    (job,) = await applying.work(*report.jobs)

    assert job.result is not None
    assert job.result["outcome"] == "environment"
    assert job.result["reason"] == "the app does not answer"
    assert [issue.kind for issue in await applying.issues()] == [IssueKind.FINDING]


async def test_an_app_that_goes_down_during_the_proof_ends_the_climb_as_environment(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED

    def fall(playing: Any) -> None:
        if playing.steps != CHECKOUT.steps:
            applying.app.trouble = Environment("unreachable", "the app does not answer")

    applying.app.in_the_middle = fall
    (result,) = await applying.nightly()

    assert result["outcome"] == "environment"
    assert "no proven fix" not in result["reason"]
    assert (await applying.test()).version == 1
    assert all(issue.kind != IssueKind.TRIAGE for issue in await applying.issues())


async def test_a_browser_that_died_is_unavailable_and_not_no_fix_found(applying: World) -> None:
    await applying.save(CHECKOUT)
    await applying.run()
    applying.app.release = RENAMED

    def die(playing: Any) -> None:
        if playing.steps != CHECKOUT.steps:
            applying.app.trouble = Environment("browser", "the browser is gone")

    applying.app.in_the_middle = die
    (result,) = await applying.nightly()

    assert result["outcome"] == "unavailable"
    assert result["reason"] == "the browser is gone"
    assert all(issue.kind != IssueKind.TRIAGE for issue in await applying.issues())


async def test_a_browser_that_does_not_start_fails_the_sweep_with_its_name(world: World) -> None:
    await known(world)

    def die() -> None:
        raise PageUnavailable("Chromium does not start", kind="browser")

    world.app.on_look = die
    job = await world.ask_for_sweep()
    (done,) = await world.work(job.id)

    assert done.state == JobState.FAILED
    assert done.result == {"error": "Chromium does not start"}
    world.app.on_look = None
    assert (await world.sweep())["pages"] == 4, "the next sweep is a job of its own"


# --- behind the sign-in --------------------------------------------------------------------------------

MEMBERS = Release(
    {
        "/login": a_page(LOGIN, "/login"),
        "/account": a_page(ACCOUNT, "/account"),
        "/orders": a_page('h1 "Orders"', "/orders"),
    },
    behind=frozenset({"/account", "/orders"}),
)
ORDERS = a_test(
    {"goto": "/login"},
    {"fill": {"label": "User", "value": "ada"}},
    {"fill": {"label": "Password", "value": "${password}"}},
    {"click": {"css": "#enter"}},
    {"click": {"css": "#orders"}},
    {"assert_text": {"css": "h1", "equals": "Orders"}},
    name="orders",
    variables={"password": Secret("SHOP_PASSWORD")},
)


async def test_pages_behind_the_sign_in_are_seen_the_way_the_test_signs_in(make_world: MakeWorld) -> None:
    async with make_world(MEMBERS, environ={"SHOP_PASSWORD": "correct horse"}) as world:
        await world.save(ORDERS)
        await world.run()
        await world.sweep()
        assert "/account (signed in)" in await world.baseline()
        renamed = a_page(ACCOUNT.replace("a#orders", "a#my-orders"), "/account")
        world.app.release = replace(MEMBERS, pages={**MEMBERS.pages, "/account": renamed})

        swept = await world.sweep()

        assert [one["outcome"] for one in swept["dry_runs"]] == ["staged"]
        assert (await world.queue())[0].operations[0]["step"] == 5
        assert swept["findings"] == []


async def test_a_secret_that_nobody_set_is_a_finding_and_no_drift(make_world: MakeWorld) -> None:
    async with make_world(MEMBERS, environ={"SHOP_PASSWORD": "correct horse"}) as world:
        await world.save(ORDERS)
        await world.run()
        await world.sweep()
        before = await world.baseline()
        world.tools.settings.environ.pop("SHOP_PASSWORD")  # type: ignore[attr-defined]

        swept = await world.sweep()

        assert [one["kind"] for one in swept["findings"]] == ["sign_in"]
        assert "SHOP_PASSWORD is not set" in swept["findings"][0]["reason"]
        assert await world.baseline() == before
        assert swept["dry_runs"] == []


async def test_a_run_without_its_secret_is_the_environment_and_asks_for_no_repair(make_world: MakeWorld) -> None:
    async with make_world(MEMBERS, auto_repair=True) as world:
        await world.save(ORDERS, replace(ORDERS, name="orders again"))

        report = await world.run(trigger=Trigger.SCHEDULE)

        assert [(run.status, run.cause) for run in report.runs] == [(RunStatus.ENVIRONMENT, "secret")] * 2
        assert "SHOP_PASSWORD is not set: `gardener secret set`" in str(report.runs[0].error)
        assert report.jobs == ()
        (finding,) = await world.issues()
        assert len(finding.tests) == 2


async def test_a_secret_of_the_project_comes_before_the_environment(make_world: MakeWorld) -> None:
    async with make_world(MEMBERS, environ={"SHOP_PASSWORD": "of the environment"}) as world:
        await entrusting.set_secret(world.tools, world.project, "SHOP_PASSWORD", "of the project", "Ada")
        (test,) = await world.save(ORDERS)

        values = await entrusting.values_of(world.tools, test)

        assert values.values == {"password": "of the project"}
        assert (await world.run()).runs[0].status == RunStatus.GREEN


async def test_a_lost_key_is_the_environment_and_not_the_secret_of_the_environment(make_world: MakeWorld) -> None:
    async with make_world(MEMBERS, environ={"SHOP_PASSWORD": "of the environment"}) as world:
        await entrusting.set_secret(world.tools, world.project, "SHOP_PASSWORD", "of the project", "Ada")
        (world.tools.settings.data_dir / KEY_FILE).unlink()
        await world.save(ORDERS)

        (run,) = (await world.run()).runs
        swept = await world.sweep()

        assert (run.status, run.cause) == (RunStatus.ENVIRONMENT, "secret")
        assert "SHOP_PASSWORD cannot be used" in str(run.error)
        assert "GARDENER_SECRET_KEY" in str(run.error)
        assert swept["dry_runs"] == []
        assert world.app.replays == []


# --- previews ------------------------------------------------------------------------------------------

PREVIEW = "http://preview.test"


async def test_a_preview_sweep_learns_what_a_change_would_touch_and_keeps_everything(world: World) -> None:
    await known(world)
    before = await world.baseline()
    world.app.previews[PREVIEW] = RENAMED

    swept = await world.sweep(base_url=PREVIEW)

    assert [one["test"] for one in swept["at_risk"]] == ["checkout 01", "checkout 02", "checkout 03"]
    assert await world.baseline() == before
    assert await world.at_risk() == []
    assert swept["dry_runs"] == []
    assert await world.queue() == ()
    assert all(url.startswith(PREVIEW) for url in world.app.looks[-4:])


async def test_a_preview_that_is_well_does_not_close_a_finding_about_the_app(world: World) -> None:
    await known(world)
    befall(world, everywhere('h1 "Sorry"', status=500))
    await world.sweep()
    world.app.previews[PREVIEW] = OLD

    await world.sweep(base_url=PREVIEW)

    assert len(await world.issues()) == 1


async def test_the_trouble_of_a_preview_is_a_row_of_its_own_and_ends_with_it(world: World) -> None:
    await known(world)
    befall(world, everywhere('h1 "Sorry"', status=500))
    await world.sweep()
    world.app.previews[PREVIEW] = everywhere('h1 "Sorry"', status=500)
    await world.sweep(base_url=PREVIEW)
    assert len(await world.issues()) == 2

    world.app.previews[PREVIEW] = OLD
    await world.sweep(base_url=PREVIEW)

    assert len(await world.issues()) == 1


async def test_a_page_that_is_as_its_baseline_is_loaded_once(world: World) -> None:
    await known(world)
    world.app.reloads.clear()

    await world.sweep()
    assert world.app.reloads == []

    world.app.release = RENAMED
    await world.sweep()
    assert len(world.app.reloads) == 1  # what differs between two loads of the page that changed is noise


async def test_after_a_preview_the_real_sweep_still_finds_the_change(world: World) -> None:
    await known(world)
    world.app.previews[PREVIEW] = RENAMED
    await world.sweep(base_url=PREVIEW)
    world.app.release = RENAMED

    swept = await world.sweep()

    assert len(swept["dry_runs"]) == 3
    assert len(await world.queue()) == 3
