"""What happened in a project, newest first, and who is told of it."""

from __future__ import annotations

from typing import assert_never

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import deliver
from gardener.errors import BadSetting
from gardener.notices import USUAL, DeliveryState, EventKind
from gardener.notify import Failed, Sent, Unsure
from gardener.store import deliveries, overviews, targets
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import overview as present

MOST_DEAD = 20


@get("/projects/{number:int}/news")
async def index(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    query = asking.request.query_params
    kind = next((one.value for one in EventKind if one.value == query.get("kind")), "")
    want = paging.wanted(query.get("page"), 50)
    async with asking.tools.store.reading() as tx:
        found = await overviews.news(tx, project.id, limit=want.size, offset=want.offset, kind=kind)
        told = await targets.listed(tx, project.id)
        dead = await deliveries.listed(tx, project.id, state=DeliveryState.DEAD, limit=MOST_DEAD)
        number_of_dead = await deliveries.count_dead(tx, project.id)
    return await view.page(
        asking,
        "news/index.html",
        project=project,
        here="news",
        news=[present.news_row(one) for one in found.rows],
        kinds=[(one.value, one.value.replace("_", " ")) for one in EventKind],
        kind=kind,
        targets=[present.target_row(one) for one in told],
        dead=[present.dead_row(one) for one in dead],
        number_of_dead=number_of_dead,
        usual=", ".join(one.value for one in USUAL),
        may_change=asking.person is not None and asking.person.is_admin,
        pager=paging.pager(asking.request.url.path, want, found.total, {"kind": kind}),
    )


@post("/projects/{number:int}/targets", opt={"admin": True}, status_code=200)
async def add_target(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    kinds = asking.form.text("kinds").strip() or None
    target = await deliver.add_target(asking.tools, project, asking.form.text("url"), kinds, asking.by)
    return view.go_on(asking, f"/projects/{project.id}/news", f"{target.shown} is told from now on. Send it a test.")


@post("/targets/{number:int}/test", opt={"admin": True}, status_code=200)
async def test_target(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        target = await targets.get(tx, number)
    to = f"/projects/{target.project}/news"
    outcome = await deliver.send_test(asking.tools, number)
    match outcome:
        case Sent():
            return view.go_on(asking, to, f"{target.shown} took the test.")
        case Failed(why=why):
            return view.go_on(asking, to, bad=f"{target.shown} did not take the test: {why}")
        case Unsure(why=why):
            return view.go_on(asking, to, bad=f"Nobody knows whether {target.shown} took the test: {why}")
        case _:
            assert_never(outcome)


@post("/targets/{number:int}/remove", opt={"admin": True}, status_code=200)
async def remove_target(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    target = await deliver.remove_target(asking.tools, number, asking.by)
    return view.go_on(asking, f"/projects/{target.project}/news", f"{target.shown} is told no more.")


@post("/projects/{number:int}/dead", opt={"admin": True}, status_code=200)
async def send_again(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    one = asking.form.text("delivery", longest=18)
    if one and not (one.isascii() and one.isdecimal()):
        raise BadSetting("that is no delivery")
    async with asking.tools.store.transaction() as tx:
        again = await deliveries.retry(tx, project.id, int(one) if one else None, now=asking.tools.now())
    return view.go_on(
        asking, f"/projects/{project.id}/news", f"{again} are sent anew." if again != 1 else "It is sent anew."
    )


HANDLERS = [index, add_target, test_target, remove_target, send_again]
