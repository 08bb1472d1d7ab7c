"""The fence around a proof: what it may not navigate to, and where it may not write."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final

from playwright.async_api import BrowserContext, Error, Page, Request, Route

from repair_ladder.stage import origin_of

READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OUTSIDE: Final = "it leaves the allowed origins"


class Fence:
    """Lets no page of the context leave or write outside the allowed origins. `note` is told of what was held back."""

    def __init__(self, context: BrowserContext, allowed: frozenset[str], note: Callable[[str, str], None]) -> None:
        self.context, self.allowed, self.note = context, allowed, note

    async def put_up(self, page: Page) -> None:
        """Before the page goes anywhere."""
        await self.context.route("**/*", self.judge)
        await self.judge_redirects(page)
        self.context.on("page", self.judge_redirects)

    async def judge(self, route: Route) -> None:
        """In a proof: no navigation of the page and nothing that writes outside the allowed origins."""
        request = route.request
        writes = request.method not in READS
        leaves = request.is_navigation_request() and not is_inner(request)
        if (writes or leaves) and self.is_outside(request.url):
            self.note("failed", f"{request.method} {request.url} was not let through: {OUTSIDE}")
            await route.abort("blockedbyclient")
        else:
            await route.continue_()

    async def judge_redirects(self, page: Page) -> None:
        """The same for where answers lead: routes see a request once, and not where it is redirected to."""
        with contextlib.suppress(Error):
            session = await self.context.new_cdp_session(page)

            async def pass_on(paused: dict[str, Any]) -> None:
                request, which = paused["request"], {"requestId": paused["requestId"]}
                writes = request["method"] not in READS
                leaves = paused["resourceType"] == "Document" and paused.get("frameId") == main
                with contextlib.suppress(Error):
                    if (writes or leaves) and self.is_outside(request["url"]):
                        self.note("failed", f"{request['method']} {request['url']} was not let through: {OUTSIDE}")
                        await session.send("Fetch.failRequest", which | {"errorReason": "BlockedByClient"})
                    else:
                        await session.send("Fetch.continueRequest", which)

            session.on("Fetch.requestPaused", pass_on)
            main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            await session.send("Fetch.enable", {"patterns": [{"urlPattern": "http*"}]})

    def is_outside(self, url: str) -> bool:
        return origin_of(url) not in self.allowed


def is_inner(request: Request) -> bool:
    """Is it the page of a frame inside a page? A tab that is just being opened has no frame yet."""
    try:
        return request.frame.parent_frame is not None
    except Error:
        return False
