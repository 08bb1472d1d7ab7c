"""What only a person can decide: triage issues, escalations and findings about the surroundings."""

from __future__ import annotations

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import answering, deciding
from gardener.errors import Conflict, Refused
from gardener.store import issues, overviews, projects, saved_tests
from gardener.stories import ANSWERS
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import issues as present_issues
from web.presenters import overview as present
from web.presenters.queue import sentence

A_PAGE = 25


@get("/projects/{number:int}/issues")
async def index(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    query = asking.request.query_params
    closed = query.get("show") == "closed"
    want = paging.wanted(query.get("page"), A_PAGE)
    async with asking.tools.store.reading() as tx:
        found = await issues.listed(tx, project.id, closed=closed, limit=want.size, offset=want.offset)
        total = await issues.count(tx, project.id, closed=closed)
    return await view.page(
        asking,
        "issues/index.html",
        project=project,
        here="issues",
        issues=[present.issue_row(one) for one in found],
        closed=closed,
        pager=paging.pager(asking.request.url.path, want, total, {"show": "closed" if closed else ""}),
    )


@get("/issues/{number:int}")
async def one(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        issue = await issues.get(tx, number)
        project = await projects.by_id(tx, issue.project)
        numbers = await overviews.numbers_of(tx, project.id, issue.tests[: present_issues.MOST_TESTS])
    shown = present_issues.page(issue, numbers)
    return await view.page(asking, "issues/one.html", project=project, here="issues", issue=shown, row=shown.row)


@post("/issues/{number:int}/answer", status_code=200)
async def answer(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    """What `gardener answer` does; whoever wants to edit is led to the test."""
    said = asking.form.text("answer", longest=50)
    try:
        issue = await answering.answer(asking.tools, number, said, asking.by)
    except (Refused, Conflict) as error:
        return view.go_on(asking, f"/issues/{number}", bad=str(error))
    to = f"/issues/{number}"
    if said == "edit" and issue.tests:
        async with asking.tools.store.reading() as tx:
            to = f"/tests/{(await saved_tests.get(tx, issue.project, issue.tests[0])).id}/edit"
    return view.go_on(asking, to, sentence(f"Answered: {ANSWERS[said]}"))


@post("/issues/{number:int}/close", status_code=200)
async def close(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    issue = await deciding.close_issue(asking.tools, number, asking.by)
    return view.go_on(asking, f"/projects/{issue.project}/issues", f"Issue {number} is closed.")


HANDLERS = [index, one, answer, close]
