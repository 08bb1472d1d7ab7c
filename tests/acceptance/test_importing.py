"""Tests of other tools taken in and given out: what is refused, what is kept as a draft, what stays as it was."""

from __future__ import annotations

import json
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
