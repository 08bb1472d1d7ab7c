"""What a run left for people to look at: pictures of its steps, texts, its trace; hostile content stays harmless."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from gardener import evidence
from gardener.runs import Run
from gardener.store import runs
from gardener.store.rows import RunRow
from tests.acceptance.shop import CHECKOUT, RENAMED
from tests.builders import a_page
from tests.fakes import PNG
from tests.web.conftest import Office, Visitor
from web.presenters import runs as present

JPEG = b"\xff\xd8\xff a small picture"
TRACE = b"PK\x03\x04 a trace"
EVIL = b"<html><script>alert(1)</script></html>"


async def a_run(office: Office, *, picture: bytes = JPEG, trace: bytes = TRACE, **more: Any) -> Run:
    """A red run with a picture of each step and a trace, kept as runs keep them."""
    await office.world.save(CHECKOUT)
    await office.world.run()
    office.world.app.release = RENAMED
    (run,) = (await office.world.run()).runs
    data = office.world.tools.settings.data_dir
    folder = evidence.folder_of(data, 1, run.started_at, 1)
    steps = [
        one | {"picture": evidence.keep(folder, f"{number}.jpg", picture)} for number, one in enumerate(run.steps, 1)
    ]
    beside = dict(run.evidence or {}) | {"trace": evidence.keep(folder, "trace.zip", trace)} | more
    async with office.world.store.transaction() as tx:
        await tx.run(update(RunRow).where(RunRow.id == run.id).values(steps=steps, evidence=beside))
        return await runs.get(tx, run.id)


async def look(office: Office, run: Run) -> Visitor:
    ada = await office.ada()
    await ada.get(f"/runs/{run.id}")
    return ada


async def test_each_step_stands_in_the_timeline_with_its_picture(office: Office) -> None:
    run = await a_run(office)

    ada = await look(office, run)
    pictures = [f"/runs/{run.id}/steps/{number}/picture" for number in range(1, len(run.steps) + 1)]

    assert len(pictures) == 3
    assert all(f'src="{path}"' in ada.page for path in pictures)
    for path in pictures:
        await ada.get(path)
        assert (ada.status, ada.headers["content-type"]) == (200, "image/jpeg")
    await ada.get(f"/runs/{run.id}/steps/4/picture")
    assert ada.status == 404


async def test_what_a_step_took_a_picture_of_is_shown_beside_it(office: Office) -> None:
    run = await a_run(office)
    folder = evidence.folder_of(office.world.tools.settings.data_dir, 1, run.started_at, 1)
    taken = {"name": "after <b>pay</b>", "path": evidence.keep(folder, "2-1-after-pay.png", PNG)}
    lost = {"name": "gone", "path": None}
    steps = [one | ({"screenshots": [taken, lost]} if number == 2 else {}) for number, one in enumerate(run.steps, 1)]
    async with office.world.store.transaction() as tx:
        await tx.run(update(RunRow).where(RunRow.id == run.id).values(steps=steps))

    ada = await look(office, run)
    shown = ada.page

    assert f'<a href="/runs/{run.id}/steps/2/screenshots/1">after &lt;b&gt;pay&lt;/b&gt;</a>' in shown
    assert "screenshots/2" not in shown
    await ada.get(f"/runs/{run.id}/steps/2/screenshots/1")
    assert (ada.status, ada.headers["content-type"]) == (200, "image/png")
    for path in ("2/screenshots/2", "2/screenshots/3", "1/screenshots/1", "9/screenshots/1"):
        await ada.get(f"/runs/{run.id}/steps/{path}")
        assert ada.status == 404


def test_the_text_of_a_page_is_read_however_deep_it_is_nested() -> None:
    deep = "\n".join(" " * depth + "div" for depth in range(1500)) + "\n" + " " * 1500 + 'p "far down"'

    assert present.text_of(a_page(deep)) == ("far down",)


async def test_the_trace_is_saved_and_not_shown(office: Office) -> None:
    run = await a_run(office)
    ada = await look(office, run)
    offered = f'href="/runs/{run.id}/trace"' in ada.page

    response = await ada.client.get(f"/runs/{run.id}/trace")

    assert offered
    assert response.content == TRACE
    assert response.headers["content-type"] == "application/zip"
    assert response.headers["content-disposition"] == f'attachment; filename="run-{run.id}-trace.zip"'


async def test_the_text_of_the_page_and_what_the_console_said_stand_there(office: Office) -> None:
    lines = {
        "console_errors": ["Uncaught <b>TypeError</b>"],
        "failed_requests": ["GET http://shop.test/api was refused"],
        "bad_answers": ["POST http://shop.test/pay answered 500"],
        "downloads": ["invoice.pdf"],
    }
    run = await a_run(office, **lines)

    ada = await look(office, run)

    assert "The text of the page at the failure" in ada.text
    assert "Your basket" in ada.text
    for (line,) in lines.values():
        assert line in ada.text.replace("&lt;", "<").replace("&gt;", ">")
    assert "<b>TypeError" not in ada.page


@pytest.mark.parametrize("path", ["picture", "steps/1/picture", "trace", "page"])
async def test_files_of_runs_are_never_run_as_pages(office: Office, path: str) -> None:
    run = await a_run(office)
    data = office.world.tools.settings.data_dir
    (data / "pictures").mkdir(exist_ok=True)
    assert run.picture is not None
    (data / run.picture).write_bytes(PNG)
    ada = await look(office, run)

    await ada.get(f"/runs/{run.id}/{path}")

    assert ada.status == 200
    assert ada.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert ada.headers["x-content-type-options"] == "nosniff"
    assert "text/html" not in ada.headers["content-type"]


@pytest.mark.parametrize("path", ["steps/1/picture", "trace"])
async def test_a_page_that_poses_as_a_picture_or_a_trace_is_not_served(office: Office, path: str) -> None:
    run = await a_run(office, picture=EVIL, trace=EVIL)
    ada = await look(office, run)

    await ada.get(f"/runs/{run.id}/{path}")

    assert ada.status == 404
    assert "alert(1)" not in ada.page


async def test_what_was_pruned_is_said_to_be_gone(office: Office) -> None:
    run = await a_run(office)
    shutil.rmtree(office.world.tools.settings.data_dir / evidence.FOLDER)

    ada = await look(office, run)

    assert "The pictures and trace of this run are no longer kept: the project keeps the newest 200 runs" in ada.text
    assert "/steps/1/picture" not in ada.page
    assert f"/runs/{run.id}/trace" not in ada.page
    for path in ("steps/1/picture", "trace"):
        await ada.get(f"/runs/{run.id}/{path}")
        assert ada.status == 404


@pytest.mark.parametrize("path", ["../key", "evidence/../key", "pictures/../key", "/etc/hostname"])
async def test_no_other_file_of_the_machine_is_served(office: Office, path: str) -> None:
    run = await a_run(office)
    key: Path = office.world.tools.settings.data_dir / "key"
    await asyncio.to_thread(key.write_bytes, JPEG)
    async with office.world.store.transaction() as tx:
        steps = [one | {"picture": path} for one in run.steps]
        await tx.run(update(RunRow).where(RunRow.id == run.id).values(steps=steps, picture=path))
    ada = await look(office, run)
    shown = ada.page

    for address in ("steps/1/picture", "picture"):
        await ada.get(f"/runs/{run.id}/{address}")
        assert ada.status == 404
    assert "/steps/1/picture" not in shown


async def test_who_is_not_signed_in_gets_none_of_it(office: Office) -> None:
    run = await a_run(office)
    nobody = await office.somebody()

    for path in ("steps/1/picture", "trace", "picture", "page"):
        await nobody.get(f"/runs/{run.id}/{path}")
        assert nobody.path == "/sign-in"


def test_the_text_of_a_page_has_a_line_for_each_block() -> None:
    page = a_page(
        """
        main
          h1 "Order"
          p "Thank you, "
            b "Ada"
          div "Total"
            p "42"
        """
    )

    assert present.text_of(page) == ("Order", "Thank you, Ada", "Total", "42")
