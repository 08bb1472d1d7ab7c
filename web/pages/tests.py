"""The tests of a project; one of them with its steps, its repairs and its runs."""

from __future__ import annotations

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import editing, importing
from gardener.errors import Conflict, Refused
from gardener.saved_tests import SavedTest, Status
from gardener.store import at_risk, issues, overviews, projects, proposals, saved_tests
from repair_ladder.errors import BadTest
from web import forms, paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import overview as present
from web.presenters import queue, tests
from web.presenters.queue import sentence

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


@get("/tests/{number:int}/edit")
async def edit_page(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        test = await saved_tests.by_id(tx, number)
    text = editing.text_of(test)
    if len(text) > forms.LONGEST_TEST:
        return view.go_on(
            asking, f"/tests/{number}", bad="This test is too long for a page: export it, edit the file and import it."
        )
    return await _edit(asking, test, text)


@post("/tests/{number:int}/edit", status_code=200, request_max_body_size=forms.LARGEST_TEST)
async def edit(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    """What cannot be saved stays in the form, with the reason above it."""
    version, text = asking.form.text("version", longest=9), asking.form.text("text", longest=forms.LARGEST_TEST)
    async with asking.tools.store.reading() as tx:
        old = await saved_tests.by_id(tx, number)
        waited = await proposals.open_of(tx, number)
    try:
        if len(text) > forms.LONGEST_TEST:
            raise Refused("The text is too long for a page: import it as a file.")
        seen = int(version) if version.isascii() and version.isdecimal() else 0
        saved = await editing.edit_test(asking.tools, number, text, version=seen, by=asking.by)
    except (BadTest, Refused, Conflict) as error:
        async with asking.tools.store.reading() as tx:
            now = await saved_tests.by_id(tx, number)
        began = int(version) if isinstance(error, Conflict) and version.isdecimal() else now.version
        return await _edit(asking, now, text, str(error), version=began, code=422)
    said = (
        f"Saved as version {saved.version}." if saved.version != old.version else "Saved; the steps are as they were."
    )
    if waited and saved.version != old.version:
        said += " The repair that waited is stale now."
    return view.go_on(asking, f"/tests/{number}", said)


@post("/tests/{number:int}/status", status_code=200)
async def status(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    try:
        test = await editing.set_status(asking.tools, number, asking.form.text("status", longest=50), asking.by)
    except (Refused, Conflict) as error:
        return view.go_on(asking, f"/tests/{number}", bad=str(error))
    return view.go_on(asking, f"/tests/{number}", tests.STATUS_SAID[test.status])


async def _edit(
    asking: Asking, test: SavedTest, text: str, wrong: str = "", *, version: int = 0, code: int = 200
) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        project = await projects.by_id(tx, test.project)
        waiting = await proposals.open_of(tx, test.id)
    return await view.page(
        asking,
        "tests/edit.html",
        project=project,
        here="tests",
        test=test,
        text=text,
        wrong=sentence(wrong),
        at_fault=tests.at_fault(text, wrong),
        version=version or test.version,
        rows=min(max(text.count("\n") + 3, 16), 40),
        waiting=waiting is not None,
        code=code,
    )


HANDLERS = [index, one, edit_page, edit, status]
