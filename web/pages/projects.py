"""All projects; one of them at a glance; its settings; and what a person asks it to do now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import asking as asked
from gardener.actions import settling, sweeping, timing
from gardener.errors import BadSetting, NotFound, Refused
from gardener.projects import Project, read_base_url
from gardener.store import issues, overviews, projects
from web import forms, view
from web.auth import Asking
from web.presenters import overview as present
from web.presenters import settings as present_settings
from web.presenters import words
from web.site import Site

RECENT = 8
MOST_NAMES: Final = 500  # tests that the field of the sign-in test offers


async def project_of(asking: Asking, number: int) -> Project:
    """Raises NotFound."""
    async with asking.tools.store.reading() as tx:
        return await projects.by_id(tx, number)


@get("/")
async def index(asking: NamedDependency[Asking]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        lines = await overviews.project_lines(tx)
    return await view.page(asking, "projects/index.html", lines=[present.project_row(one) for one in lines])


@get("/projects")
async def index_again(asking: NamedDependency[Asking]) -> Response[str]:
    return view.go_on(asking, "/")


@post("/projects", opt={"admin": True}, status_code=200)
async def add(asking: NamedDependency[Asking]) -> Response[str]:
    url = read_base_url(asking.form.text("base_url").strip())
    made = await settling.add_project(asking.tools, asking.form.text("name").strip(), url, asking.by)
    return view.go_on(asking, f"/projects/{made.id}", f"“{made.name}” is added. Import its tests next.")


@get("/projects/{number:int}")
async def overview(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    async with asking.tools.store.reading() as tx:
        swept = await overviews.sweep_lines(tx, project.id, limit=1)
        told = await overviews.news(tx, project.id, limit=RECENT)
        waiting = await overviews.queue(tx, project.id, limit=5)
        open_issues = (await issues.listed(tx, project.id))[:5]
        working = await overviews.jobs_at_work(tx, project.id)
        to_review = await overviews.history(tx, project.id, limit=5, state="to_review")
        clock = await timing.clock_of(tx, project, now=asking.tools.now())
    return await view.page(
        asking,
        "projects/overview.html",
        project=project,
        here="overview",
        mode=words.mode_badge(project.mode),
        sweep=present.sweep_row(swept.rows[0]) if swept.rows else None,
        news=[present.news_row(one) for one in told.rows],
        waiting=[present.waiting_row(one) for one in waiting.rows],
        issues=[present.issue_row(one) for one in open_issues],
        to_review=[present.repair_row(one) for one in to_review.rows],
        jobs=[present.job_row(one, asking.tools.now()) for one in working],
        commands=present.first_commands(project),
        clock=present.clock_row(clock),
    )


@post("/projects/{number:int}/sweep", status_code=200)
async def sweep(asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    preview = asking.form.text("base_url").strip()
    job = await sweeping.ask_for_sweep(asking.tools, project, base_url=read_base_url(preview) if preview else None)
    site.knock()
    return view.go_on(asking, f"/jobs/{job.id}")


@post("/projects/{number:int}/run", status_code=200)
async def run(asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    name = asking.form.text("test")
    job = await asked.ask_for_run(asking.tools, project, [name] if name else [], asking.by)
    site.knock()
    return view.go_on(asking, f"/jobs/{job.id}")


@get("/projects/{number:int}/settings")
async def settings_page(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    return await _settings(asking, project, {}, {})


@post("/projects/{number:int}/settings", opt={"admin": True}, status_code=200)
async def settings(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    changes = forms.read_settings_form(asking.form, present_settings.FLAGS, present_settings.LISTS)
    changes = {key: text for key, text in changes.items() if key in present_settings.KEYS}
    wrong = await settling.wrong_changes(asking.tools, project.id, changes)
    if wrong:  # what was typed stays on the page
        return await _settings(asking, project, changes, wrong, code=422)
    try:
        await settling.change_project(asking.tools, project.id, changes, asking.by)
    except (BadSetting, Refused, NotFound) as error:
        return await _settings(asking, project, changes, {"": str(error)}, code=422)
    return view.go_on(asking, f"/projects/{project.id}/settings", "Saved.")


async def _settings(
    asking: Asking, project: Project, typed: Mapping[str, str], wrong: Mapping[str, str], *, code: int = 200
) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        names = await overviews.names_in_service(tx, project.id, limit=MOST_NAMES)
    settings = asking.tools.settings
    return await view.page(
        asking,
        "projects/settings.html",
        project=project,
        here="settings",
        groups=present_settings.groups(project, typed, wrong, server_model=settings.model_provider or "anthropic"),
        modes=present.modes(project.mode),
        wrong=present_settings.summary(wrong),
        names=names,
        may_change=asking.person is not None and asking.person.is_admin,
        code=code,
    )


HANDLERS = [index, index_again, add, overview, sweep, run, settings_page, settings]
