"""What happened in a project, newest first."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.notices import EventKind
from gardener.store import overviews
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import overview as present


@get("/projects/{number:int}/news")
async def index(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    query = asking.request.query_params
    kind = next((one.value for one in EventKind if one.value == query.get("kind")), "")
    want = paging.wanted(query.get("page"), 50)
    async with asking.tools.store.reading() as tx:
        found = await overviews.news(tx, project.id, limit=want.size, offset=want.offset, kind=kind)
    return await view.page(
        asking,
        "news/index.html",
        project=project,
        here="news",
        news=[present.news_row(one) for one in found.rows],
        kinds=[(one.value, one.value.replace("_", " ")) for one in EventKind],
        kind=kind,
        pager=paging.pager(asking.request.url.path, want, found.total, {"kind": kind}),
    )


HANDLERS = [index]
