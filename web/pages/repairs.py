"""What the gardener changed: all repairs of a project; one of them, to review or to take back."""

from __future__ import annotations

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import deciding
from gardener.errors import Conflict, Refused
from gardener.store import overviews, projects, repairs, runs, saved_tests
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import overview as present
from web.presenters import repairs as present_repairs
from web.presenters import words


@get("/projects/{number:int}/repairs")
async def index(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    query = asking.request.query_params
    state = next((one for one in overviews.REPAIR_STATES if one == query.get("state")), "")
    author, strategy = query.get("author", "")[:100], query.get("strategy", "")[:100]
    want = paging.wanted(query.get("page"), 30)
    async with asking.tools.store.reading() as tx:
        found = await overviews.history(
            tx,
            project.id,
            limit=want.size,
            offset=want.offset,
            author=author,
            strategy=strategy,
            state=state,
        )
        authors, strategies = await overviews.authors_and_strategies(tx, project.id)
    kept = {"author": author, "strategy": strategy, "state": state}
    return await view.page(
        asking,
        "repairs/index.html",
        project=project,
        here="repairs",
        repairs=[present.repair_row(one) for one in found.rows],
        authors=[(one, words.author(one)) for one in authors],
        strategies=[(one, words.strategy(one)) for one in strategies],
        states=[(one, one.replace("_", " ")) for one in overviews.REPAIR_STATES],
        kept=kept,
        pager=paging.pager(asking.request.url.path, want, found.total, kept),
    )


@get("/repairs/{number:int}")
async def one(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        repair = await repairs.get(tx, number)
        project = await projects.by_id(tx, repair.project)
        test = await saved_tests.by_id(tx, repair.test)
        failed = await runs.get(tx, repair.run) if repair.run is not None else None
    why_not = await deciding.why_not_reverted(asking.tools, repair)
    return await view.page(
        asking,
        "repairs/one.html",
        project=project,
        here="repairs",
        repair=present_repairs.page(repair, failed, version_now=test.version, why_not=why_not),
    )


@post("/repairs/{number:int}/revert", status_code=200)
async def revert(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    """Raises nothing that the page does not say: what no longer fits is told beside the repair."""
    try:
        row = await deciding.revert(asking.tools, number, asking.by)
    except (Refused, Conflict) as error:
        return view.go_on(asking, f"/repairs/{number}", bad=str(error))
    return view.go_on(asking, f"/repairs/{number}", await deciding.warning_of(asking.tools, row))


@post("/repairs/{number:int}/review", status_code=200)
async def review(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    row = await deciding.review(asking.tools, number, asking.by)
    if asking.is_htmx:
        return view.fragment(
            asking, "repairs/_reviewed.html", repair=present.repair_row(row), said=("good", "Reviewed; the fix stays.")
        )
    back = asking.form.text("back")
    to = f"/projects/{row.project}/repairs" if back == "list" else f"/repairs/{number}"
    return view.go_on(asking, to, "Reviewed; the fix stays.")


HANDLERS = [index, one, revert, review]
