"""The tests of a project; one of them with its steps, its repairs and its runs."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import importing
from gardener.saved_tests import Status
from gardener.store import at_risk, issues, overviews, projects, proposals, saved_tests
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import overview as present
from web.presenters import queue, tests

ONLY = ("red", "flagged", "at_risk")


@get("/projects/{number:int}/tests")
async def index(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    query = asking.request.query_params
    search = query.get("search", "")[:200].strip()
    status = next((one for one in Status if one.value == query.get("status")), None)
    only = next((one for one in ONLY if one == query.get("only")), "")
    want = paging.wanted(query.get("page"), 50)
    async with asking.tools.store.reading() as tx:
        found = await overviews.saved(
            tx, project.id, limit=want.size, offset=want.offset, search=search, status=status, only=only
        )
    kept = {"search": search, "status": status.value if status else "", "only": only}
    return await view.page(
        asking,
        "tests/index.html",
        project=project,
        here="tests",
        rows=[present.tested_row(one) for one in found.rows],
        kept=kept,
        statuses=[one.value for one in Status],
        commands=present.first_commands(project),
        pager=paging.pager(asking.request.url.path, want, found.total, kept),
    )


@get("/tests/{number:int}")
async def one(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    want = paging.wanted(asking.request.query_params.get("page"), 15)
    async with asking.tools.store.reading() as tx:
        test = await saved_tests.by_id(tx, number)
        project = await projects.by_id(tx, test.project)
        ran = await overviews.runs(tx, project.id, limit=want.size, offset=want.offset, test=test.id)
        written = await overviews.history(tx, project.id, limit=50, test=test.id)
        waiting = await proposals.open_of(tx, test.id)
        risk = await at_risk.get(tx, test.id)
        under = await issues.open_of(tx, test.id)
        versions = await saved_tests.version_notes(tx, test.id, limit=20)
    return await view.page(
        asking,
        "tests/one.html",
        project=project,
        here="tests",
        test=tests.page(test),
        source=importing.export_yaml(test),
        runs=[present.run_row(one) for one in ran.rows],
        repairs=[present.repair_row(one) for one in written.rows],
        waiting=queue.card(waiting, test) if waiting else None,
        risk=queue.triggers(risk.triggers) if risk else (),
        issues=[present.issue_row(one) for one in under],
        versions=tests.versions(versions),
        pager=paging.pager(asking.request.url.path, want, ran.total),
    )


HANDLERS = [index, one]
