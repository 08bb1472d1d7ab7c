"""One run: what it said, its picture and its steps; and the ladder by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Final

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener import evidence
from gardener.actions import asking as asked
from gardener.errors import NotFound
from gardener.store import overviews, pages, projects, runs, saved_tests
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import overview as present
from web.presenters import runs as present_runs
from web.presenters import sketches
from web.site import Site

PICTURES: Final = {b"\xff\xd8": "image/jpeg", b"\x89PNG": "image/png"}


@get("/projects/{number:int}/runs")
async def index(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    want = paging.wanted(asking.request.query_params.get("page"), 50)
    async with asking.tools.store.reading() as tx:
        found = await overviews.runs(tx, project.id, limit=want.size, offset=want.offset)
    return await view.page(
        asking,
        "runs/index.html",
        project=project,
        here="tests",
        runs=[present.run_row(one) for one in found.rows],
        pager=paging.pager(asking.request.url.path, want, found.total),
    )


@get("/runs/{number:int}")
async def one(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
        project = await projects.by_id(tx, run.project)
        test = await saved_tests.by_id(tx, run.test) if run.test is not None else None
        newest = await overviews.history(tx, project.id, limit=1, test=run.test) if run.test is not None else None
        key = run.page_key or next((str(one["page_key"]) for one in reversed(run.steps) if one["page_key"]), "")
        seen = (await pages.get_many(tx, {key})).get(key) if key else None
    kept = await asyncio.to_thread(_kept, asking.tools.settings.data_dir, present_runs.files_of(run))
    repaired = newest.rows[0] if newest and newest.rows else None
    return await view.page(
        asking,
        "runs/one.html",
        project=project,
        here="tests",
        run=present_runs.page(run, test, base_url=project.base_url, kept=kept, seen=seen),
        repair=present.repair_row(repaired) if repaired and test and test.flagged else None,
    )


@get("/runs/{number:int}/picture")
async def picture(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[bytes]:
    """The picture of a red run, by the run's number: the path is the store's, and it stays in the data folder."""
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
    return _shown(await _content(asking, run.picture), f"Run {number} has no picture.")


@get("/runs/{number:int}/steps/{step:int}/picture")
async def step_picture(asking: NamedDependency[Asking], number: FromPath[int], step: FromPath[int]) -> Response[bytes]:
    """The page after one step, small; `step` counts in the order of play."""
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
    path = run.steps[step - 1].get("picture") if 0 < step <= len(run.steps) else None
    content = await _content(asking, path if isinstance(path, str) else None)
    return _shown(content, f"Run {number} has no picture of its step {step}.")


@get("/runs/{number:int}/steps/{step:int}/screenshots/{count:int}")
async def screenshot(
    asking: NamedDependency[Asking], number: FromPath[int], step: FromPath[int], count: FromPath[int]
) -> Response[bytes]:
    """A picture that a step asked for; one that uses a fragment may have asked for several."""
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
    shots = present_runs.shots_of(run.steps[step - 1]) if 0 < step <= len(run.steps) else ()
    path = shots[count - 1][1] if 0 < count <= len(shots) else None
    return _shown(await _content(asking, path), f"Run {number} has no such picture of its step {step}.")


@get("/runs/{number:int}/trace")
async def trace(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[bytes]:
    """To be saved and opened with Playwright's viewer; never shown by the browser itself."""
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
    path = (run.evidence or {}).get("trace")
    content = await _content(asking, path if isinstance(path, str) else None)
    if not content.startswith(b"PK"):
        raise NotFound(f"Run {number} has no trace.")
    return view.file(content, "application/zip", name=f"run-{number}-trace.zip")


@get("/runs/{number:int}/page")
async def page(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[bytes]:
    """The page at the failure, as it is remembered."""
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
        if run.page_key is None:
            raise NotFound(f"Run {number} kept no page.")
        seen = await pages.get(tx, run.page_key)
    return view.file(sketches.sketch(seen, run.target, tone="before").encode(), "image/svg+xml")


@post("/runs/{number:int}/repair", status_code=200)
async def repair(asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]) -> Response[str]:
    """The whole ladder, or one rung of it, whatever the project's switch says (G92)."""
    only = asking.form.text("only", longest=50) or None
    job = await asked.ask_for_repair_by_hand(asking.tools, number, only, asking.by)
    site.knock()
    return view.go_on(asking, f"/jobs/{job.id}")


def _kept(data_dir: Path, paths: Collection[str]) -> frozenset[str]:
    return frozenset(path for path in paths if evidence.find(data_dir, path))


async def _content(asking: Asking, path: str | None) -> bytes:
    """Nothing where there is no such file any more. Such a path comes from the store; it leads nowhere else even so."""

    def read() -> bytes:
        found = evidence.find(asking.tools.settings.data_dir, path) if path else None
        try:
            return found.read_bytes() if found else b""
        except OSError:  # it was dropped just now
            return b""

    return await asyncio.to_thread(read)


def _shown(content: bytes, without: str) -> Response[bytes]:
    """As the kind of picture that it is; nothing that a browser could take for something else."""
    kind = next((kind for begins, kind in PICTURES.items() if content.startswith(begins)), None)
    if kind is None:
        raise NotFound(without if not content else "That file is no picture.")
    return view.file(content, kind)


HANDLERS = [index, one, picture, step_picture, screenshot, trace, page, repair]
