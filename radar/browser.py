"""Door to Playwright for looking at pages: open a browser, visit pages, return PageSnapshots."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from playwright.async_api import (
    Browser,
    BrowserContext,
    ElementHandle,
    Error,
    Frame,
    Locator,
    Page,
    async_playwright,
)

from radar import chromium
from radar.elements import PageSnapshot
from radar.errors import PageUnavailable
from radar.reading import Redact, read_page

COLLECT: Final = (files("radar") / "collect.js").read_text()
VIEWPORT: Final = {"width": 1280, "height": 720}
QUIET_MS: Final = 120  # a page that has not changed for so long has settled
SETTLE_MS: Final = 3000  # and one that never does is looked at anyway

# Resolves once the document has not changed for `quiet` milliseconds, at the latest after `most`.
_SETTLED: Final = """([quiet, most]) => new Promise((done) => {
    const root = document.documentElement;
    if (!root) { done(false); return; }
    let timer = setTimeout(() => finish(true), quiet);
    const last = setTimeout(() => finish(false), most);
    const again = () => { clearTimeout(timer); timer = setTimeout(() => finish(true), quiet); };
    const observer = new MutationObserver(again);
    function finish(settled) { clearTimeout(timer); clearTimeout(last); observer.disconnect(); done(settled); }
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
})"""


@asynccontextmanager
async def open_browser(
    *, executable: str | None = None, endpoint: str | None = None, headless: bool = True
) -> AsyncIterator[Browser]:
    """One Chromium for many contexts. Raises PageUnavailable (kind "browser") if it does not start.

    `endpoint` connects to a remote one over CDP instead.
    """
    async with async_playwright() as playwright:
        try:
            if endpoint:
                browser = await playwright.chromium.connect_over_cdp(endpoint)
            else:
                browser = await playwright.chromium.launch(
                    executable_path=chromium.find(executable), args=list(chromium.SWITCHES), headless=headless
                )
        except Error as error:
            raise PageUnavailable(
                f"Chromium does not start: {first_line(error)} (`gardener doctor` tells more)", kind="browser"
            ) from error
        try:
            yield browser
        finally:
            with contextlib.suppress(Error):  # if it died before, there is nothing left to close
                await browser.close()


class Keeper:
    """One browser for a process: started when it is first needed, and again if it died."""

    def __init__(self, *, executable: str | None = None, endpoint: str | None = None) -> None:
        self._named = (executable, endpoint)
        self._stack = contextlib.AsyncExitStack()
        self._browser: Browser | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Keeper:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def get(self) -> Browser:
        """Raises PageUnavailable (kind "browser") if none can be started."""
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                await self._stack.aclose()
                executable, endpoint = self._named
                self._browser = await self._stack.enter_async_context(
                    open_browser(executable=executable, endpoint=endpoint)
                )
            return self._browser


def first_line(error: Error) -> str:
    lines = error.message.strip().splitlines()
    return lines[0] if lines else "unknown error"


async def new_context(browser: Browser, *, locale: str | None = None, state: Any = None) -> BrowserContext:
    """A fresh context; the same screen every time, so that boxes can be compared. `state`: cookies and storage."""
    return await browser.new_context(
        storage_state=state,
        viewport={"width": VIEWPORT["width"], "height": VIEWPORT["height"]},
        locale=locale or "en-US",
        reduced_motion="reduce",
        service_workers="block",
        accept_downloads=True,
    )


async def snapshot(
    where: Page | Frame | Locator | ElementHandle,
    *,
    redact: Redact | None = None,
    status: int | None = None,
    timeout_ms: float | None = None,
) -> tuple[PageSnapshot, int | None]:
    """The page around `where` and, if that is an element, its index. One round trip.

    Raises Playwright's errors: for the Playwright doors alone.
    """
    if isinstance(where, Locator):
        text = await where.evaluate(COLLECT, timeout=timeout_ms)
    else:
        text = await where.evaluate(COLLECT)
    return read_page(text, redact=redact, status=status)


async def settle(page: Page, *, quiet_ms: int = QUIET_MS, most_ms: int = SETTLE_MS) -> bool:
    """Wait until the page has loaded and has stopped changing. False: it never did."""
    try:
        await page.wait_for_load_state("load", timeout=most_ms)
        return bool(await page.evaluate(_SETTLED, [quiet_ms, most_ms]))
    except Error:
        return False  # it navigated away meanwhile, or loads for ever


@dataclass(frozen=True, slots=True)
class Visit:
    """A page as a sweep saw it: `first` and `second` are two loads, for what differs between them is noise."""

    asked: str
    first: PageSnapshot
    second: PageSnapshot | None = None


async def visit(
    context: BrowserContext,
    url: str,
    *,
    twice: bool = True,
    redact: Redact | None = None,
    timeout_ms: int = 15000,
) -> Visit:
    """Load a page (twice) and describe it. Raises PageUnavailable where the app gives none."""
    try:
        page = await context.new_page()
    except Error as error:
        raise PageUnavailable(f"the browser is gone: {first_line(error)}", kind="browser") from error
    try:
        first = await _load(page, url, redact, timeout_ms)
        second = await _load(page, url, redact, timeout_ms) if twice else None
        return Visit(url, first, second)
    finally:
        with contextlib.suppress(Error):
            await page.close()


async def visit_all(
    browser: Browser,
    urls: Sequence[str],
    *,
    state: Any = None,
    locale: str | None = None,
    redact: Redact | None = None,
) -> dict[str, Visit | PageUnavailable]:
    """Look at pages one after another in one context. A page that cannot be had is an answer, not an exception.

    Raises PageUnavailable (kind "browser") if the browser itself is gone.
    """
    seen: dict[str, Visit | PageUnavailable] = {}
    try:
        context = await new_context(browser, locale=locale, state=state)
    except Error as error:
        raise PageUnavailable(f"the browser is gone: {first_line(error)}", kind="browser") from error
    try:
        for url in urls:
            try:
                seen[url] = await visit(context, url, redact=redact)
            except PageUnavailable as error:
                if error.kind == "browser":
                    raise
                seen[url] = error
    finally:
        with contextlib.suppress(Error):
            await context.close()
    return seen


async def _load(page: Page, url: str, redact: Redact | None, timeout_ms: int) -> PageSnapshot:
    try:
        # about:blank first: a second goto that differs in its hash alone would not load anything.
        await page.goto("about:blank")
        response = await page.goto(url, timeout=timeout_ms, wait_until="domcontentloaded")
        await settle(page)
        seen, _ = await snapshot(page, redact=redact, status=response.status if response else None)
    except Error as error:
        raise PageUnavailable(f"{url} cannot be loaded: {first_line(error)}", kind=kind_of(error)) from error
    return seen


def kind_of(error: Error) -> str:
    """ "browser" if the browser is gone, "timeout", else "unreachable"."""
    text = error.message
    if "Target page, context or browser has been closed" in text or "crashed" in text or "has been closed" in text:
        return "browser"
    return "timeout" if "Timeout" in text else "unreachable"
