"""create_app: routes, who may what, headers, error pages, and what runs beside the pages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlsplit

from litestar import Litestar, Response
from litestar.config.compression import CompressionConfig
from litestar.di import Provide

from web import view
from web.auth import SESSION, AnyRequest, Asking, let_in
from web.errors import ChangePasswordFirst, SignInFirst, WrongHost, tell
from web.forms import LARGEST
from web.pages import HANDLERS
from web.site import Site

log = logging.getLogger(__name__)

Service: TypeAlias = Callable[[], Awaitable[object]]
PAUSE_S: Final = 5.0  # before a service that broke is started again

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
PRIVATE: Final = "no-store"  # what a page shows is for the person who signed in


def create_app(site: Site, *, hosts: Collection[str] = (), services: Sequence[Service] = ()) -> Litestar:
    """The pages. `hosts` are the names they may be asked for under (all, without any); `services` run beside them."""

    async def before(request: AnyRequest) -> None:
        asking = Asking(request, site.tools, secure=site.secure)
        request.state.asking = asking
        if hosts and _host_of(request) not in hosts:
            raise WrongHost
        await let_in(asking)

    def asking_of(request: AnyRequest) -> Asking:
        found: Asking = request.state.asking
        return found

    @asynccontextmanager
    async def beside(_: Litestar) -> AsyncIterator[None]:
        tasks = [asyncio.ensure_future(_keep_running(one)) for one in services]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return Litestar(
        route_handlers=HANDLERS,
        before_request=before,
        after_request=_with_headers,
        dependencies={
            "asking": Provide(asking_of, sync_to_thread=False),
            "site": Provide(lambda: site, sync_to_thread=False),
        },
        exception_handlers={Exception: partial(_error, site)},
        lifespan=[beside],
        compression_config=CompressionConfig(
            backend="gzip", minimum_size=1000, exclude=[r"/stream$", r"/(picture|trace)$"]
        ),
        request_max_body_size=LARGEST,
        openapi_config=None,
        logging_config=None,
        debug=False,
    )


async def _keep_running(service: Service) -> None:
    while True:
        try:
            await service()
        except Exception:  # an outermost loop: what runs beside the pages must not end for one mishap
            log.exception("What runs beside the pages broke off; it is started again.")
        await asyncio.sleep(PAUSE_S)


async def _with_headers(response: Response[Any]) -> Response[Any]:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", PRIVATE)
    return response


def _error(site: Site, request: AnyRequest, error: Exception) -> Response[str]:
    """The page, or for a part of a page its message. It asks the database for nothing: that may be what broke."""
    asking: Asking = getattr(request.state, "asking", None) or Asking(request, site.tools, secure=site.secure)
    match error:
        case SignInFirst():
            return _with_all(_to_sign_in(asking))
        case ChangePasswordFirst():
            return _with_all(view.go_on(asking, "/password"))
    told = tell(error)
    if told.status >= 500:
        log.error("A request could not be answered.", exc_info=error, extra={"path": request.url.path})
    if request.method == "POST" and told.status in (409, 422) and not asking.is_htmx:
        return _with_all(view.go_on(asking, _where_from(asking), bad=told.text))
    if asking.is_htmx:
        made = view.fragment(asking, "_said.html", said=("bad", told.text), oob=True)
        made.headers |= {"HX-Reswap": "none"}
        return _with_all(made)
    content = view.render(
        "errors/error.html",
        person=asking.person,
        csrf=asking.csrf if asking.person else "",
        said=None,
        project=None,
        counts=None,
        here="",
        path="",
        told=told,
    )
    return _with_all(Response(content, media_type=view.PAGE, status_code=told.status))


def _to_sign_in(asking: Asking) -> Response[str]:
    wanted = asking.request.url.path if asking.request.method == "GET" else "/"
    to = "/sign-in" + (f"?next={quote(wanted)}" if wanted != "/" else "")
    gone = [asking.without(SESSION)] if asking.token else []
    if asking.request.headers.get("hx-request") == "true":  # else the sign-in page would stand inside the other one
        return Response("", status_code=204, headers={"HX-Redirect": to}, cookies=gone, media_type=view.PAGE)
    return view.go_on(asking, to, cookies=gone)


def _host_of(request: AnyRequest) -> str:
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _where_from(asking: Asking) -> str:
    """The page whose form it was, so that its message stands beside what it is about."""
    came = urlsplit(asking.request.headers.get("referer", ""))
    own = asking.request.headers.get("host", "")
    if came.netloc == own and came.path.startswith("/") and not came.path.startswith("//"):
        return came.path + (f"?{came.query}" if came.query else "")
    return "/"


def _with_all(response: Response[str]) -> Response[str]:
    for name, value in {**HEADERS, "Cache-Control": PRIVATE}.items():
        response.headers.setdefault(name, value)
    return response
