"""One run: what it said, its picture and its steps; and the ladder by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

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
    repaired = newest.rows[0] if newest and newest.rows else None
    return await view.page(
        asking,
        "runs/one.html",
        project=project,
        here="tests",
        run=present_runs.page(run, test, base_url=project.base_url),
        repair=present.repair_row(repaired) if repaired and test and test.flagged else None,
    )


@get("/runs/{number:int}/picture")
async def picture(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[bytes]:
    """The picture of a red run, by the run's number: the path is the store's, and it stays in the data folder."""
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
    folder = (asking.tools.settings.data_dir / "pictures").resolve()
    path = (asking.tools.settings.data_dir / (run.picture or "")).resolve()
    if not run.picture or not path.is_relative_to(folder):
        raise NotFound(f"Run {number} has no picture.")
    content = await asyncio.to_thread(_read, path)
    kind = "image/jpeg" if content.startswith(b"\xff\xd8") else "image/png"
    return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=86400"})


@get("/runs/{number:int}/page")
async def page(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    """The page at the failure, as it is remembered."""
    async with asking.tools.store.reading() as tx:
        run = await runs.get(tx, number)
        if run.page_key is None:
            raise NotFound(f"Run {number} kept no page.")
        seen = await pages.get(tx, run.page_key)
    return Response(sketches.sketch(seen, run.target, tone="before"), media_type="image/svg+xml")


@post("/runs/{number:int}/repair", status_code=200)
async def repair(asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]) -> Response[str]:
    """The whole ladder, or one rung of it, whatever the project's switch says (G92)."""
    only = asking.form.text("only", longest=50) or None
    job = await asked.ask_for_repair_by_hand(asking.tools, number, only, asking.by)
    site.knock()
    return view.go_on(asking, f"/jobs/{job.id}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise NotFound("That picture is no longer kept.") from None


HANDLERS = [index, one, picture, page, repair]
