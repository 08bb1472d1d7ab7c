"""One test signs in for all others: its session is kept sealed, shared, and renewed when it runs out."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gardener.actions import controlling, entrusting, running, settling
from gardener.errors import NotFound
from gardener.projects import ProjectSettings
from gardener.runs import RunStatus, Trigger
from gardener.store import projects, session_states
from gardener.triage import IssueKind
from repair_ladder.formats import Secret
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.test_environment import ACCOUNT, LOGIN, MEMBERS
from tests.builders import HOST, a_page, a_test
from tests.fakes import Playing, World

PASSWORD = {"password": Secret("SHOP_PASSWORD")}
SIGN_IN = a_test(
    {"goto": "/login"},
    {"fill": {"label": "User", "value": "ada"}},
    {"fill": {"label": "Password", "value": "${password}"}},
    {"click": {"css": "#enter"}},
    {"assert_text": {"css": "h1", "equals": "Your account"}},
    name="sign in",
    variables=PASSWORD,
)
ORDERS = a_test(
    {"goto": "/account"},
    {"click": {"css": "#orders"}},
    {"assert_text": {"css": "h1", "equals": "Orders"}},
    name="orders",
    variables={},
)
OWN = a_test(
    *({"goto": "/login"}, {"fill": {"label": "Password", "value": "${password}"}}, {"click": {"css": "#enter"}}),
    {"assert_text": {"css": "h1", "equals": "Your account"}},
    name="a sign-in of its own",
    variables=PASSWORD,
)
RELEASE = MEMBERS
NAMED = ProjectSettings(sign_in="sign in")


def members(make_world: MakeWorld, **more: Any) -> Any:
    return make_world(RELEASE, environ={"SHOP_PASSWORD": "correct horse"}, settings=NAMED, **more)


def states_of(world: World) -> list[Any]:
    """In which session each of the replays was played."""
    return world.app.sessions


async def statuses(world: World, *names: str, trigger: Trigger = Trigger.MANUAL) -> dict[str, RunStatus]:
    return {run.test_name: run.status for run in (await world.run(*names, trigger=trigger)).runs}


async def test_the_sign_in_test_runs_first_and_once_and_the_others_use_its_session(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(ORDERS, replace(ORDERS, name="again"), SIGN_IN)

        report = await world.run()

        assert report.runs[0].test_name == "sign in"
        assert {run.status for run in report.runs} == {RunStatus.GREEN}
        assert world.app.sign_ins == 1
        assert states_of(world) == ["session 1", "session 1"]


async def test_the_session_is_used_by_the_next_run_as_well(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)

        assert await statuses(world, "orders") == {"orders": RunStatus.GREEN}
        assert await statuses(world, "orders") == {"orders": RunStatus.GREEN}

        assert world.app.sign_ins == 1
        assert [run.test_name for run in await world.runs()] == ["orders", "orders", "sign in"]


async def test_a_test_that_signs_in_by_itself_begins_with_nobody_signed_in(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        out = replace(ORDERS, name="closed", tags=("signed-out",))
        within = replace(OWN, name="change the password", tags=("signed-in",))
        await world.save(SIGN_IN, OWN, out, within)

        said = await statuses(world)

        assert said["a sign-in of its own"] == RunStatus.GREEN
        assert said["closed"] == RunStatus.RED
        assert sorted(map(str, states_of(world))) == ["None", "None", "session 1"]


async def test_a_session_that_ran_out_is_renewed_once_and_the_test_is_green(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS, replace(ORDERS, name="again"))
        await world.run()
        world.app.end_sessions()
        world.app.sessions.clear()

        said = await statuses(world, "orders", "again")

        assert said == {"orders": RunStatus.GREEN, "again": RunStatus.GREEN}
        assert world.app.sign_ins == 2
        assert states_of(world) == ["session 1", "session 2", "session 2"]


async def test_a_session_that_was_never_good_before_any_green_run_is_renewed_too(make_world: MakeWorld) -> None:
    """Nothing is known of the test yet: the door alone tells."""
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run("sign in")
        world.app.end_sessions()

        assert await statuses(world, "orders") == {"orders": RunStatus.GREEN}
        assert world.app.sign_ins == 2


async def test_an_app_that_refuses_new_sessions_is_the_environment_and_no_drift(make_world: MakeWorld) -> None:
    async with members(make_world, auto_repair=True) as world:
        many = [replace(ORDERS, name=f"orders {number}") for number in range(6)]
        await world.save(SIGN_IN, *many)
        await world.run()
        world.app.end_sessions()
        world.app.lets_in = False

        report = await world.run(trigger=Trigger.SCHEDULE)

        behind = [run for run in report.runs if run.test_name != "sign in"]
        assert {(run.status, run.cause) for run in behind} == {(RunStatus.ENVIRONMENT, "sign_in")}
        assert "although 'sign in' has just signed in" in str(behind[0].error)
        assert report.jobs == ()
        (finding,) = await world.issues()
        assert (finding.kind, len(finding.tests)) == (IssueKind.FINDING, 6)
        assert world.app.sign_ins <= 4, "nobody signs in once a test where it is of no use"


RENAMED_LOGIN = a_page(LOGIN.replace("button#enter", "button#go-in"), "/login")


def drifted(world: World) -> None:
    world.app.release = replace(RELEASE, pages={**RELEASE.pages, "/login": RENAMED_LOGIN})


async def test_a_sign_in_test_that_drifted_is_repaired_and_the_others_wait(make_world: MakeWorld) -> None:
    async with members(make_world, auto_repair=True) as world:
        many = [replace(ORDERS, name=f"orders {number}") for number in range(3)]
        await world.save(SIGN_IN, *many)
        await world.run()
        drifted(world)
        world.app.replays.clear()

        report = await world.run(trigger=Trigger.SCHEDULE)

        said = {run.test_name: run.status for run in report.runs}
        assert said.pop("sign in") == RunStatus.RED
        assert set(said.values()) == {RunStatus.ENVIRONMENT}
        assert world.app.replays == [], "what is behind was not even begun"
        assert len(report.jobs) == 1
        (finding,) = await world.issues()
        assert len(finding.tests) == 3
        assert "the sign-in test 'sign in' is red at step 4" in finding.reason

        (job,) = await world.work(*report.jobs)
        assert (job.result or {})["outcome"] == "applied"
        assert set((await statuses(world)).values()) == {RunStatus.GREEN}
        assert await world.issues() == ()


async def test_a_run_of_one_test_tells_of_the_sign_in_that_failed_on_the_way(make_world: MakeWorld) -> None:
    async with members(make_world, auto_repair=True) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()
        drifted(world)
        world.app.end_sessions()

        report = await world.run("orders", trigger=Trigger.CI)

        assert [(run.test_name, run.status) for run in report.runs] == [
            ("sign in", RunStatus.RED),
            ("orders", RunStatus.ENVIRONMENT),
        ]
        assert len(report.jobs) == 1


async def test_a_sweep_stages_the_sign_in_test_alone(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        many = [replace(ORDERS, name=f"orders {number}") for number in range(3)]
        await world.save(SIGN_IN, *many)
        await world.run()
        await world.sweep()
        assert {"/account (signed in)", "/orders (signed in)"} <= (await world.baseline()).keys()
        before = await world.baseline()
        moved = a_page(ACCOUNT.replace("a#orders", "a#my-orders"), "/account")
        world.app.release = replace(RELEASE, pages={**RELEASE.pages, "/login": RENAMED_LOGIN, "/account": moved})
        world.app.end_sessions()

        swept = await world.sweep()

        assert [(one["test"], one["outcome"]) for one in swept["dry_runs"]] == [("sign in", "staged")]
        (finding,) = await world.issues()
        assert len(finding.tests) == 3
        assert {key: one for key, one in (await world.baseline()).items() if "signed in" in key} == {
            key: one for key, one in before.items() if "signed in" in key
        }


async def test_a_sweep_renews_a_session_that_ran_out_and_finds_the_change_behind_it(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()
        await world.sweep()
        assert world.app.sign_ins == 1
        moved = a_page(ACCOUNT.replace("a#orders", "a#my-orders"), "/account")
        world.app.release = replace(RELEASE, pages={**RELEASE.pages, "/account": moved})
        world.app.end_sessions()

        swept = await world.sweep()

        assert swept["findings"] == []
        assert [(one["test"], one["outcome"]) for one in swept["dry_runs"]] == [("orders", "staged")]
        assert world.app.sign_ins == 2


async def test_a_repair_is_proved_in_the_session_and_survives_its_end(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()
        await world.sweep()
        moved = a_page(ACCOUNT.replace("a#orders", "a#my-orders"), "/account")
        world.app.release = replace(RELEASE, pages={**RELEASE.pages, "/account": moved})
        number = len(world.app.replays)

        def run_out(playing: Playing) -> None:
            if playing.number == number + 2:  # the dry run was the first
                world.app.end_sessions()

        world.app.in_the_middle = run_out
        swept = await world.sweep()

        assert [one["outcome"] for one in swept["dry_runs"]] == ["staged"]
        assert (await world.queue())[0].proven


async def test_a_control_run_is_played_in_the_session_as_well(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()
        world.app.end_sessions()

        (seen,) = await controlling.control_tests(world.tools, world.project, ["orders"])

        assert (seen.outcome, world.app.sign_ins) == ("sensitive", 2)


async def test_two_workers_at_once_renew_once(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS, replace(ORDERS, name="again"))
        await world.run()
        world.app.end_sessions()

        async def wait(playing: Playing) -> None:
            await asyncio.sleep(0.01)  # lets the other one in between

        world.app.in_the_middle = wait
        reports = await asyncio.gather(
            running.run_tests(world.tools, world.project, ["orders"]),
            running.run_tests(world.colleague(), world.project, ["again"]),
        )

        assert {run.status for report in reports for run in report.runs} == {RunStatus.GREEN}
        assert world.app.sign_ins == 2


async def test_another_secret_version_or_address_ends_the_session(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run("orders")

        async def is_kept() -> bool:
            async with world.store.reading() as tx:
                return await session_states.get(tx, world.project.id, HOST) is not None

        assert await is_kept()
        await entrusting.set_secret(world.tools, world.project, "SHOP_PASSWORD", "another horse", "Ada")
        assert not await is_kept()
        await world.run("orders")
        assert world.app.sign_ins == 2

        await world.save(replace(SIGN_IN, steps=(*SIGN_IN.steps, SIGN_IN.steps[-1])))
        await world.run("orders")
        assert world.app.sign_ins == 3

        async with world.store.transaction() as tx:
            await projects.update(tx, world.project.id, base_url=HOST + "/next")
        assert not await is_kept()


async def test_a_secret_of_the_environment_that_changed_ends_the_session(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run("orders")
        world.tools.settings.environ["SHOP_PASSWORD"] = "another horse"  # type: ignore[index]

        await world.run("orders")

        assert world.app.sign_ins == 2


async def test_the_session_is_kept_sealed(make_world: MakeWorld, tmp_path: Path) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()

        with closing(sqlite3.connect(tmp_path / "gardener.db")) as connection:
            (row,) = connection.execute("SELECT sealed, base_url FROM session_states")

    assert "session 1" not in row[0]
    assert row[1] == HOST


async def test_what_cannot_sign_in_says_what_to_do(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(ORDERS)
        (lost,) = (await world.run("orders")).runs
        assert (lost.status, lost.cause) == (RunStatus.ENVIRONMENT, "sign_in")
        assert "there is no test 'sign in' to sign in with" in str(lost.error)

        await world.save(replace(SIGN_IN, status="archived"))
        (archived,) = (await world.run("orders")).runs
        assert "'sign in' is archived" in str(archived.error)

        await world.save(SIGN_IN)
        world.tools.settings.environ.pop("SHOP_PASSWORD")  # type: ignore[attr-defined]
        unset = {run.test_name: run for run in (await world.run()).runs}
        assert {one.cause for one in unset.values()} == {"secret"}
        assert "SHOP_PASSWORD is not set" in str(unset["orders"].error)


async def test_a_lost_key_only_costs_a_sign_in(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()
        (world.tools.settings.data_dir / "secret.key").unlink()

        assert await statuses(world, "orders") == {"orders": RunStatus.GREEN}
        assert world.app.sign_ins == 2


async def test_a_first_sweep_that_nobody_gets_into_takes_no_sign_in_page_for_a_baseline(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()
        world.app.end_sessions()
        world.app.lets_in = False

        swept = await world.sweep()

        assert [one["kind"] for one in swept["findings"]] == ["sign_in"]
        assert not [page for page in await world.baseline() if "signed in" in page]
        assert [one["test"] for one in swept["dry_runs"]] == []


async def test_a_preview_has_a_session_of_its_own(make_world: MakeWorld) -> None:
    async with members(make_world) as world:
        await world.save(SIGN_IN, ORDERS)
        await world.run()
        await world.sweep()
        world.app.previews["http://preview.test"] = RELEASE

        await world.sweep(base_url="http://preview.test")

        async with world.store.reading() as tx:
            assert {one.base_url for one in await session_states.listed(tx)} == {HOST, "http://preview.test"}
        assert await statuses(world, "orders") == {"orders": RunStatus.GREEN}
        assert world.app.sign_ins == 2


async def test_a_project_signs_in_with_a_test_that_it_has(make_world: MakeWorld) -> None:
    async with make_world(RELEASE) as world:
        await world.save(SIGN_IN)
        with pytest.raises(NotFound, match="near it: 'sign in'"):
            await settling.change_project(world.tools, world.project.id, {"sign_in": "sign inn"}, "Ada")

        changed = await settling.change_project(world.tools, world.project.id, {"sign_in": "sign in"}, "Ada")

        assert changed.settings.sign_in == "sign in"
        cleared = await settling.change_project(world.tools, world.project.id, {"sign_in": ""}, "Ada")
        assert cleared.settings.sign_in is None
