"""Where a test goes: addresses, and the tabs that an app opens."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error, Page, Response
from playwright.async_api import TimeoutError as BrowserTimeout

from radar.browser import first_line
from repair_ladder.checks import below, describe, is_like, meets
from repair_ladder.runner.failures import Failed, Surroundings
from repair_ladder.runner.run import POLL_MS, Run
from repair_ladder.steps import Step

LOAD_MS: Final = 15000  # pages load for longer than elements take to appear
UNREACHABLE: Final = re.compile(
    r"net::ERR_(CONNECTION|NAME|ADDRESS|INTERNET|NETWORK|EMPTY_RESPONSE|SSL|TIMED_OUT|SOCKET)"
)


async def go(run: Run, url: str) -> None:
    address = run.stage.base_url + url if url.startswith("/") else urljoin(run.stage.base_url + "/", url)
    if urlsplit(address).scheme not in ("http", "https", "about"):
        raise Failed("test", f"'{url}' is not an address of a page")
    await navigate(run, lambda most_ms: run.page.goto(address, timeout=most_ms))


async def navigate(run: Run, move: Callable[[float], Awaitable[Response | None]]) -> None:
    run.see_painted()
    run.pictures.forget(run.page)
    try:
        response = await move(max(run.left_ms(), LOAD_MS))
    except BrowserTimeout as error:
        raise Failed("navigation", first_line(error)) from None
    except Error as error:
        if "Download is starting" in error.message:
            return
        if UNREACHABLE.search(error.message):
            raise Surroundings("unreachable", f"the app does not answer: {first_line(error)}") from None
        if "ERR_BLOCKED_BY_CLIENT" in error.message:
            raise Failed("navigation", "the address leaves the allowed origins") from None
        raise
    if response is not None:
        run.witness.status = response.status
        if response.status >= 500:
            raise Surroundings("server_error", f"{response.url} answered {response.status}")


async def tab(run: Run, step: Step) -> None:
    given = step.parameters
    if given.get("close"):
        if not run.others():
            raise Failed("test", "the only tab is not closed: a test ends by itself")
        tab = run.page
        opener = await tab.opener()
        run.page = opener if opener is not None and not opener.is_closed() else run.others()[-1]
        await tab.close()
    elif "switch" in given:
        run.page = await other_tab(run, given["switch"])
        with contextlib.suppress(BrowserTimeout):
            await run.page.wait_for_load_state("domcontentloaded", timeout=max(run.left_ms(), LOAD_MS))
    await run.page.bring_to_front()


async def other_tab(run: Run, wanted: Any) -> Page:
    """The newest tab, or the newest of those with such an address; waited for, as one may just be opening."""
    condition = wanted if isinstance(wanted, Mapping) else None
    while True:
        tabs = [one for one in run.context.pages if not one.is_closed()]
        if wanted == "newest":
            if tabs[-1] is not run.page:
                return tabs[-1]
        else:
            for one in reversed(tabs):
                address = below(run.stage.base_url, one.url)
                if meets(condition, address, folded=False) if condition else is_like(str(wanted), address):
                    return one
        if time.monotonic() > run.deadline:
            said = "newer tab" if wanted == "newest" else f"tab whose address {wanted_address(wanted)}"
            raise Failed("missing", f"there is no {said}; open: {', '.join(one.url for one in tabs)}")
        await asyncio.sleep(POLL_MS / 1000)


def wanted_address(wanted: Any) -> str:
    return describe(wanted) if isinstance(wanted, Mapping) else f"is '{wanted}'"
