"""Templates -> answers: the one place that renders, with what every page needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from litestar import Response
from litestar.datastructures import Cookie

from gardener.projects import Project
from gardener.store import overviews
from web import assets
from web.auth import SAID, VISITOR, Asking
from web.presenters import queue, words

PAGE: Final = "text/html"


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(assets.templates_folder()),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals["asset"] = assets.address
    made.filters |= {
        "ago": words.ago,
        "moment": words.moment,
        "plural": words.plural,
        "took": words.took,
        "cut": words.cut,
        "sentence": queue.sentence,
    }
    return made


def render(name: str, /, **values: Any) -> str:
    return environment().get_template(name).render(**values)


async def page(
    asking: Asking, name: str, /, *, project: Project | None = None, code: int = 200, here: str = "", **values: Any
) -> Response[str]:
    """A whole page. With `project` its tabs are above it, `here` names the one that is open, and hours in which nothing
    is written are said where somebody may be about to ask for it."""
    counts, read_only = None, ""
    if project is not None:
        shut = project.settings.why_read_only(asking.tools.now())
        read_only = queue.sentence(shut[0]) if shut else ""
        async with asking.tools.store.reading() as tx:
            counts = await overviews.counts(tx, project.id)
    cookies = [asking.without(SAID)] if asking.said else []
    content = render(
        name,
        person=asking.person,
        csrf=asking.csrf,
        said=asking.said,
        now=asking.tools.now(),
        project=project,
        counts=counts,
        read_only=read_only,
        here=here,
        path=asking.request.url.path,
        **values,
    )
    if asking.is_new_visitor:
        cookies.append(asking.cookie(VISITOR, asking.visitor))
    return Response(content, media_type=PAGE, status_code=code, cookies=cookies)


def fragment(asking: Asking, name: str, /, **values: Any) -> Response[str]:
    """A part of a page, in the place of what asked for it."""
    content = render(name, person=asking.person, csrf=asking.csrf, now=asking.tools.now(), **values)
    return Response(content, media_type=PAGE)


def file(content: bytes, media_type: str, *, name: str = "") -> Response[bytes]:
    """What a browser or an app under test left: shown as what it is or saved as `name`, and never run as a page."""
    headers = {
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'attachment; filename="{name}"' if name else "inline",
        "Cache-Control": "private, max-age=86400",
    }
    return Response(content, media_type=media_type, headers=headers)


def go_on(asking: Asking, to: str, good: str = "", bad: str = "", *, cookies: Sequence[Cookie] = ()) -> Response[str]:
    """After a form: to a page that shows what came of it, so that loading it again sends nothing twice."""
    said = [asking.said_cookie("good" if good else "bad", good or bad)] if good or bad else []
    return Response("", status_code=303, headers={"Location": to}, cookies=[*said, *cookies], media_type=PAGE)
