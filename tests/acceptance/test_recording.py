"""`gardener record`: from what codegen writes to a saved test, and nothing lost on the way."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gardener.actions.recording import record
from gardener.errors import Refused
from gardener.projects import Project
from gardener.saved_tests import Status
from repair_ladder.steps import Step
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import CHECKOUT
from tests.acceptance.test_signing_in import SIGN_IN, members
from tests.fakes import HOST, World

SCRIPT = """from playwright.sync_api import Playwright, sync_playwright, expect


def run(playwright: Playwright) -> None:
    browser = playwright.chromium.launch(headless=False)
    context = browser.new_context()
    page = context.new_page()
    page.goto("{host}/")
{lines}
    page.close()

    # ---------------------
    context.close()
    browser.close()


with sync_playwright() as playwright:
    run(playwright)
"""
CLICK = 'page.get_by_role("button", name="Add to basket").click()'


def recording(world: World, lines: Sequence[str], states: list[Any] | None = None) -> World:
    async def record(project: Project, *, state: Any) -> str:
        if states is not None:
            states.append(state)
        return SCRIPT.format(host=HOST, lines="\n".join(f"    {line}" for line in lines))

    return replace(world, tools=replace(world.tools, record=record))


async def test_what_was_clicked_is_a_test_of_the_given_name(world: World) -> None:
    states: list[Any] = []
    world = recording(world, [CLICK], states)

    done = await record(world.tools, world.project, "Ada", name="add a mug")

    test = await world.test("add a mug")
    assert done.errors == done.notes == ()
    assert (test.status, [step.kind for step in test.steps]) == (Status.ACTIVE, ["goto", "click"])
    assert test.steps[0] == Step("goto", None, {"url": "/"})
    assert states == [None], "nobody signs in where no test for that is named"


async def test_what_was_not_understood_is_told_by_line_and_the_test_is_a_draft(world: World) -> None:
    world = recording(world, [CLICK, "page.magic()"])

    done = await record(world.tools, world.project, "Ada", name="add a mug")

    assert (await world.test("add a mug")).status == Status.DRAFT
    assert [one for one in done.notes if one.startswith("the recording:10: 'add a mug': ") and "magic" in one]
    assert not [one for one in done.notes if "gardener-" in one], "the file it was is no place to look at"


async def test_a_recording_that_cannot_be_imported_is_kept(world: World) -> None:
    await world.save(CHECKOUT)
    world = recording(world, [CLICK, "page.magic()"])

    done = await record(world.tools, world.project, "Ada", name=CHECKOUT.name)

    (file,) = (world.tools.settings.data_dir / "recordings").iterdir()
    assert not done.tests
    assert str(file) in done.errors[0]
    assert "page.magic()" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (await world.test()).version == 1


@pytest.mark.parametrize("text", ["", SCRIPT.format(host=HOST, lines="")], ids=["no file", "only opened"])
async def test_a_window_that_was_only_opened_makes_no_test(world: World, text: str) -> None:
    async def opened(project: Project, *, state: Any) -> str:
        return text

    with pytest.raises(Refused, match="nothing was recorded"):
        await record(replace(world.tools, record=opened), world.project, "Ada")


async def test_the_window_begins_with_the_session_of_the_sign_in_test(make_world: MakeWorld) -> None:
    async with members(make_world) as made:
        await made.save(SIGN_IN)
        states: list[Any] = []
        world = recording(made, [CLICK], states)

        await record(world.tools, world.project, "Ada", name="in")
        await record(world.tools, world.project, "Ada", name="out", signed_out=True)

        assert states == ["session 1", None]


async def test_who_cannot_sign_in_is_told_before_any_window_opens(world: World) -> None:
    await world.settle(sign_in="nobody")
    states: list[Any] = []
    world = recording(world, [CLICK], states)

    with pytest.raises(Refused, match=r"there is no test 'nobody' to sign in with.*--signed-out"):
        await record(world.tools, world.project, "Ada")

    assert states == []


async def test_a_password_that_was_typed_is_told_of(world: World) -> None:
    world = recording(world, ['page.get_by_label("Password").fill("hush-hush")', CLICK])

    done = await record(world.tools, world.project, "Ada", name="add a mug")

    (note,) = done.notes
    assert note.startswith("'add a mug', step 2: types a password as it is")
    assert "hush" not in note
