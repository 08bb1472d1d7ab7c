"""Tests of other tools taken in and given out: what is refused, what is kept as a draft, what stays as it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gardener.actions import importing
from gardener.errors import Refused
from gardener.saved_tests import SavedTest, Status
from gardener.store import saved_tests
from repair_ladder.formats import yaml
from tests.fakes import World

HOME = {"type": "navigate", "url": "http://shop.test/"}
PAY = {"type": "click", "selectors": ["#pay"], "offsetX": 1, "offsetY": 1}
SCRIPT = {"type": "waitForExpression", "expression": "window.ready"}


def a_recording(folder: Path, *steps: Any, title: str = "checkout", name: str = "a.json") -> Path:
    file = folder / name
    file.write_text(json.dumps({"title": title, "steps": steps}, indent=1), encoding="utf-8")
    return file


async def take(world: World, *paths: Path, **how: Any) -> importing.Imported:
    return await importing.import_files(world.tools, world.project, paths, "Ada", **how)


async def kept(world: World) -> tuple[SavedTest, ...]:
    async with world.store.reading() as tx:
        return await saved_tests.listed(tx, world.project.id)


async def test_a_recording_is_taken_in_and_given_out(world: World, tmp_path: Path) -> None:
    done = await take(world, a_recording(tmp_path, HOME, PAY))

    assert done.errors == ()
    assert (done.understood, done.parts) == (2, 2)
    test = await world.test()
    assert (test.status, test.source) == (Status.ACTIVE, None)
    made = importing.export(test, world.project, "recorder")
    assert [step["type"] for step in json.loads(made.text)["steps"]] == ["navigate", "click"]
    assert "#pay" in importing.export_yaml(test)


async def test_a_test_understood_in_part_is_refused_with_a_line_for_each_gap(world: World, tmp_path: Path) -> None:
    file = a_recording(tmp_path, HOME, SCRIPT, PAY)

    done = await take(world, file)

    assert await kept(world) == ()
    first, summary = done.errors
    assert (
        first
        == f"{file}:8: 'checkout': step 2 (waitForExpression): JavaScript of the page cannot be a step: window.ready"
    )
    assert summary.startswith(f"{file}:1: 'checkout' was not imported: 2 of 3 parts were understood.")


async def test_with_partial_it_is_a_draft_whose_notes_say_what_is_missing(world: World, tmp_path: Path) -> None:
    done = await take(world, a_recording(tmp_path, HOME, SCRIPT, PAY), partial=True)

    assert done.errors == ()
    test = await world.test()
    assert test.status == Status.DRAFT
    assert "line 8: step 2 (waitForExpression)" in (test.steps[1].note or "")
    assert "MISSING" in yaml.canonical(test.written())


async def test_a_draft_never_takes_the_place_of_a_test_in_service(world: World, tmp_path: Path) -> None:
    await take(world, a_recording(tmp_path, HOME, PAY, {"type": "waitForElement", "selectors": ["#done"]}))
    before = await world.test()

    done = await take(world, a_recording(tmp_path, HOME, SCRIPT), partial=True)

    assert "is active at version 1 and was kept as it is" in done.errors[0]
    assert await world.test() == before


async def test_a_broken_file_leaves_the_rest_and_the_database_alone(world: World, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"title": "checkout", "steps": [', encoding="utf-8")
    (tmp_path / "c.json").write_bytes(b'{"title": "\xff", "steps": []}')
    (tmp_path / "package.json").write_text('{"name": "shop"}', encoding="utf-8")
    (tmp_path / "node_modules").mkdir()
    a_recording(tmp_path / "node_modules", HOME, title="not ours")
    a_recording(tmp_path, HOME, PAY)

    done = await take(world, tmp_path)

    assert [test.name for test in await kept(world)] == ["checkout"]
    assert [error.partition(": ")[0] for error in done.errors] == [f"{tmp_path}/b.json:1", f"{tmp_path}/c.json"]
    assert done.notes[0] == f"{tmp_path}: 1 files that do not look like tests were passed over"


async def test_a_file_may_be_said_to_be_in_a_format(world: World, tmp_path: Path) -> None:
    file = a_recording(tmp_path, HOME, PAY, name="recording.txt")

    refused = await take(world, file)
    done = await take(world, file, form="recorder")

    assert "not a format that can be imported" in refused.errors[0]
    assert [test.name for test in done.tests] == ["checkout"]


async def test_an_export_that_would_lose_something_is_refused_first(world: World, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("name: checkout\nsteps:\n  - goto: /\n  - wait: 500\n", encoding="utf-8")
    await take(world, file)
    test = await world.test()

    with pytest.raises(Refused) as caught:
        importing.export(test, world.project, "recorder")
    made = importing.export(test, world.project, "recorder", partial=True)

    assert "step 2: the Recorder has no words for 'wait ms 500'" in str(caught.value)
    assert made.lost == ("step 2: the Recorder has no words for 'wait ms 500'",)
    assert json.loads(made.text)["steps"][1]["type"] == "customStep"


SIDE = """{"name": "Shop", "url": "http://shop.test", "tests": [
  {"id": "1", "name": "side", "commands": [{"command": "open", "target": "/"}, {"command": "click", "target": "id=a"}]}
]}
"""
PYTHON = """from playwright.sync_api import Page, expect

def test_python(page: Page):
    page.goto("http://shop.test/")
    expect(page.get_by_role("heading", name="Shop")).to_be_visible()

def test_gap(page: Page):
    page.evaluate("1")
"""
TYPESCRIPT = """import { test, expect } from '@playwright/test';

test('typescript', async ({ page }) => {
  await page.goto('/');
  await page.getByText('Mug').click();
});
"""


async def test_a_folder_of_everything_is_taken_in_and_each_goes_out_in_every_format(
    world: World, tmp_path: Path
) -> None:
    for name, text in (("a.side", SIDE), ("test_b.py", PYTHON), ("c.spec.ts", TYPESCRIPT)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("conftest.py", "playwright.config.ts"):
        (tmp_path / name).write_text("import os\n", encoding="utf-8")
    a_recording(tmp_path, HOME, PAY, title="recorded")

    done = await take(world, tmp_path)

    assert [test.name for test in await kept(world)] == ["recorded", "side", "test_python", "typescript"]
    assert [error.rpartition("/")[2][:12] for error in done.errors] == ["test_b.py:8:", "test_b.py:7:"]
    for test in await kept(world):
        for form in ("yaml", "recorder", "side", "playwright", "playwright-test"):
            made = importing.export(test, world.project, form, partial=True)
            (tmp_path / "again").mkdir(exist_ok=True)
            file = tmp_path / "again" / "test_it"
            file.write_text(made.text, encoding="utf-8")
            (again,) = importing.read_file(file, form=form, base_url=world.project.base_url)
            assert again.steps == test.steps, form


@pytest.mark.parametrize("name", ["../a.png", "b/../a.png", "/etc/passwd", "a\\x00b", "a" * 5000, "gone.png"])
async def test_an_upload_from_elsewhere_is_refused_with_a_line(world: World, tmp_path: Path, name: str) -> None:
    file = tmp_path / "test_a.py"
    file.write_text(f'def test_it(page):\n    page.locator("#a").set_input_files("{name}")\n', encoding="utf-8")

    done = await take(world, file)

    (error,) = done.errors
    assert "the upload" in error
    assert "\n" not in error
    assert await kept(world) == ()


async def test_text_that_no_database_keeps_is_refused_or_kept_readable(world: World, tmp_path: Path) -> None:
    file = tmp_path / "a.spec.ts"
    file.write_text("test('a', async ({ page }) => { await page.fill('#a', 'x\\0y\\u200b'); });", encoding="utf-8")

    done = await take(world, file)

    assert bool(done.errors) != bool(await kept(world))


async def test_what_is_no_file_is_refused_and_not_waited_for(world: World, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)

    done = await take(world, pipe)

    assert done.errors == (f"{pipe}: not a file that can be read",)


async def test_the_mark_before_a_text_is_no_part_of_it(world: World, tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    file.write_text("\ufeffdef test_a(page):\n    page.goto('/')\n", encoding="utf-8")

    done = await take(world, file)

    assert (done.errors, len(done.tests)) == ((), 1)


async def test_fixtures_that_take_part_without_being_named_have_a_line(world: World, tmp_path: Path) -> None:
    shared = "import pytest\n\n@pytest.fixture(autouse=True)\ndef sign_in(page):\n    page.goto('/login')\n"
    (tmp_path / "conftest.py").write_text(shared, encoding="utf-8")
    file = tmp_path / "test_a.py"
    file.write_text("def test_a(page):\n    page.goto('/')\n", encoding="utf-8")

    done = await take(world, file)

    (note,) = done.notes
    assert note.startswith(f"{file}: the fixture sign_in of")
