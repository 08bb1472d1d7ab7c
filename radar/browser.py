"""Door to Playwright for looking at pages: open a browser, visit pages, return PageSnapshots."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from playwright.async_api import (
    Browser,
    BrowserContext,
    ElementHandle,
    Error,
    Frame,
    FrameLocator,
    Locator,
    Page,
    Request,
    async_playwright,
)

from radar import announced, chromium
from radar.announced import Announced
from radar.elements import PageSnapshot
from radar.errors import PageUnavailable
from radar.reading import Redact, graft, read_page
from radar.visits import Again, Visit, always_again

COLLECT: Final = (files("radar") / "collect.js").read_text()
# collect.js as a selector engine of Playwright: `button >> gardener=look` finds what a locator finds, waits as it
# waits, and gives an element whose text is the description. Engines run in a world of their own, out of reach of what
# a page has done to JSON, to Array.prototype or to the methods of its elements, and are compiled once a page and not
# once a call.
ENGINE: Final = "gardener"
_ENGINE_SCRIPT: Final = (
    "(() => { const collect = "
    + COLLECT.strip().rstrip(";")
    + """, announced = """
    + announced.SCRIPT
    + """;
    const kept = { realm: String(Math.random()), frames: [] };
    const fields = document.implementation.createHTMLDocument(''); // this document may be none, such as a picture
    // The smallest elements that show one of the words, in open shadow trees as well.
    const holding = (tree, words, found) => {
        const holds = (text) => Boolean(text) && words.some((word) => text.includes(word));
        const walk = (parent) => {
            let any = false;
            for (const one of parent.children) {
                if (one.shadowRoot) walk(one.shadowRoot);
                const isField = 'value' in one && 'placeholder' in one;
                if (isField && (holds(one.value) || holds(one.placeholder))) { found.push(one); any = true; continue; }
                if (/^(?:script|style|template)$/i.test(one.tagName)) continue;
                const said = one.textContent + (one.tagName === 'INPUT' ? one.value : '');
                const isHere = holds(said) || holds(said.replace(/\\s+/g, ' '));
                const isBelow = one.tagName !== 'SELECT' && walk(one);
                if (isHere && !isBelow) found.push(one);
                any = any || isHere || isBelow;
            }
            return any;
        };
        walk(tree);
        return found;
    };
    let isDone = false; // several matches are an error: the page is described for the first of them alone
    return { queryAll(root, asked) {
        if (asked.startsWith('frame:')) return kept.frames.slice(Number(asked.slice(6))).slice(0, 1);
        if (asked.startsWith('holding:')) return holding(root, JSON.parse(asked.slice(8)), []);
        if (asked === 'target') {
            if (!kept.target || !kept.target.isConnected) throw new Error('GONE');
            return [kept.target];
        }
        if (asked.startsWith('announced:')) {
            const [, kind, css] = /^announced:(\\w+):([^]*)$/.exec(asked), answer = fields.createElement('textarea');
            answer.value = announced(kind, decodeURIComponent(css));
            return [answer];
        }
        // A field, because Playwright notes what it finds, and would copy a text.
        const answer = fields.createElement('textarea');
        if (!isDone) {
            isDone = true;
            Promise.resolve().then(() => { isDone = false; });
            kept.target = root.nodeType === 1 ? root : null;
            const [, known, read] = /^look(?:@([^:]*))?:([^]*)$/.exec(asked);
            answer.value = collect(kept.target, read, kept, known ? known.split(',') : []);
        }
        return [answer];
    } };
})()"""
)
VIEWPORT: Final = {"width": 1280, "height": 720}
WATCH: Final = "gardener"  # the world of the watch for toasts
NOTED: Final = "gardenerNoted"
QUIET_MS: Final = 120  # a page that has not changed for so long has settled
IDLE_MS: Final = 4000  # so long a sweep waits for what the page's scripts have asked for
FETCHED: Final = frozenset({"xhr", "fetch"})
SETTLE_MS: Final = 3000  # and one that never does is looked at anyway
LOOK_MS: Final = 10000  # to describe a page, which may be navigating just then
FRAME_MS: Final = 600  # the same for a frame with a page of another origin
MOST_FRAMES: Final = 12  # of those; pages with advertisements have dozens

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
            await playwright.selectors.register(ENGINE, _ENGINE_SCRIPT, content_script=True)
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
    return read_page(await describe(where, timeout_ms=timeout_ms), redact=redact, status=status)


async def describe(
    where: Page | Frame | Locator | ElementHandle,
    read: str = "",
    *,
    known: Sequence[str] = (),
    timeout_ms: float | None = None,
) -> str:
    """What collect.js says of the page around `where`, frames with pages of other origins included.

    `read` names what to read of the element as well: "text", "value" or "attribute:NAME". `known` are the tokens of
    descriptions that the reader of the answer has (`Reader.known`): it may then say no more than what is new since one
    of them. A locator that finds nothing is waited for, one that finds several is Playwright's "strict mode violation".
    """
    try:
        text = await _described(where, read, LOOK_MS if timeout_ms is None else timeout_ms, known)
    except Error as error:
        if "Unknown engine" not in error.message:
            raise
        return str(await where.evaluate(COLLECT))  # a browser that was not opened here
    if '"lost":[' in text or '"outer":true' in text:  # neither can stand inside a text: its quotes are escaped
        text = await _with_lost_frames(where, text)
    return text


async def shown_now(page: Page, kind: announced.Kind, css: str | None = None) -> tuple[Announced, ...]:
    """What a page announces at this moment. `css`: selectors to look for instead of what is recognised by itself.

    Raises Playwright's errors, also for a selector that is none.
    """
    look = f"{ENGINE}=announced:{kind}:{quote(css or '')}"
    return announced.read_all(await page.locator(look).input_value(timeout=LOOK_MS))


async def note_toasts(page: Page, note: Callable[[Announced], None], css: str | None = None) -> None:
    """From now on `note` is told of every toast as it comes up, also of one that is gone before anybody looks.

    The watch is kept in a world of its own, from before the first script of each document runs.
    """
    session = await page.context.new_cdp_session(page)
    source = f"({announced.SCRIPT})('toast', {json.dumps(css or '')}, (said) => globalThis.{NOTED}(said))"

    def called(event: dict[str, Any]) -> None:
        one = announced.read_one(str(event.get("payload"))) if event.get("name") == NOTED else None
        if one is not None:
            note(one)

    session.on("Runtime.bindingCalled", called)
    await session.send("Page.enable")  # else no script is added to the documents to come
    await session.send("Runtime.enable")
    await session.send("Runtime.addBinding", {"name": NOTED, "executionContextName": WATCH})
    await session.send(
        "Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": WATCH, "runImmediately": True}
    )


def described_target(scope: Page | FrameLocator) -> Locator:
    """The element that was described last in a page or frame, without being looked for again.

    Using it is an error that `is_gone` knows once the element has left the page.
    """
    return scope.locator(f"{ENGINE}=target")


def holders(where: Page | Frame, words: Sequence[str]) -> Locator:
    """The smallest elements of a page or frame that show one of the words as their text or in a field.

    The page itself is not told the words: they are looked for in a world of their own.
    """
    return where.locator(f"{ENGINE}=holding:{json.dumps(list(words))}")


def is_gone(error: Error) -> bool:
    return "Error: GONE" in error.message or "Unknown engine" in error.message


async def _described(
    where: Page | Frame | Locator | ElementHandle, read: str, timeout_ms: float, known: Sequence[str] = ()
) -> str:
    look = f"{ENGINE}=look@{','.join(known)}:{read}" if known else f"{ENGINE}=look:{read}"
    if isinstance(where, ElementHandle):
        answer = await where.query_selector(look)
        text = await answer.input_value() if answer else None
    else:
        text = await where.locator(look).input_value(timeout=timeout_ms)
    return text or ""


async def _with_lost_frames(where: Page | Frame | Locator | ElementHandle, text: str) -> str:
    """The description with those of the frames whose pages it could not reach put in their places."""
    page, said = await _page_of(where), json.loads(text)
    if page is None:
        return text
    is_inside = bool(said.get("outer"))  # the element is on such a page itself
    whole = json.loads(await _described(page, "", LOOK_MS)) if is_inside else said
    whole = graft(whole, await _lost_frames(page, whole, [MOST_FRAMES]))
    place, target = whole["places"].get(said["realm"]), said["target"]
    if target is not None:
        target = place[target] if place and target < len(place) else None
    if is_inside and target is None:
        return text  # too many frames, or it went on meanwhile: at least the page it is on
    return json.dumps(whole | {"target": target, "seen": said.get("seen")}, ensure_ascii=False)


async def _page_of(where: Page | Frame | Locator | ElementHandle) -> Page | None:
    if isinstance(where, Page):
        return where
    if isinstance(where, ElementHandle):
        frame = await where.owner_frame()
        return frame.page if frame else None
    return where.page


async def _lost_frames(
    where: Page | FrameLocator, said: dict[str, Any], budget: list[int]
) -> dict[int, dict[str, Any]]:
    """By the row of the frame's element; a frame that is still loading, or says nothing, is left out."""
    found: dict[int, dict[str, Any]] = {}
    for number, row in enumerate(said.get("lost", ())):
        budget[0] -= 1
        if budget[0] < 0:
            break
        inside = where.locator(f"{ENGINE}=frame:{number}").content_frame
        with contextlib.suppress(Error):
            text = await inside.locator(f"{ENGINE}=look:").input_value(timeout=FRAME_MS)
            one = json.loads(text or "{}")
            found[row] = graft(one, await _lost_frames(inside, one, budget))
    return found


BUSY_MS: Final = 5000  # so long a page may be too busy to say that it has settled


async def settle(page: Page, *, quiet_ms: int = QUIET_MS, most_ms: int = SETTLE_MS) -> bool:
    """Wait until the page has loaded and has stopped changing. False: it never did."""
    try:
        # A page whose script never ends answers nothing, and what is asked of it there has no time-out of its own.
        async with asyncio.timeout((2 * most_ms + BUSY_MS) / 1000):
            await page.wait_for_load_state("load", timeout=most_ms)
            return bool(await page.evaluate(_SETTLED, [quiet_ms, most_ms]))
    except (Error, TimeoutError):
        return False  # it navigated away meanwhile, or loads for ever


async def visit(
    context: BrowserContext,
    url: str,
    *,
    again: Again = always_again,
    redact: Redact | None = None,
    timeout_ms: int = 15000,
) -> Visit:
    """Load a page, once more if `again` says so, and describe it. Raises PageUnavailable where the app gives none."""
    try:
        page = await context.new_page()
    except Error as error:
        raise PageUnavailable(f"the browser is gone: {first_line(error)}", kind="browser") from error
    try:
        first = await _load(page, url, redact, timeout_ms)
        second = await _load(page, url, redact, timeout_ms) if again(url, first) else None
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
    again: Again = always_again,
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
                seen[url] = await visit(context, url, redact=redact, again=again)
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
        waiting = _Waiting(page)
        response = await page.goto(url, timeout=timeout_ms, wait_until="domcontentloaded")
        await settle(page)
        while await waiting.until_answered():
            await settle(page)
        seen, _ = await snapshot(page, redact=redact, status=response.status if response else None)
    except Error as error:
        raise PageUnavailable(f"{url} cannot be loaded: {first_line(error)}", kind=kind_of(error)) from error
    return seen


class _Waiting:
    """What a page's scripts have asked for and not got yet. A page that never stops asking is not waited for."""

    def __init__(self, page: Page) -> None:
        self._open: set[Request] = set()
        self._answered = asyncio.Event()
        self._end = time.monotonic() + IDLE_MS / 1000
        page.on("request", lambda request: self._asked(request))
        page.on("requestfinished", lambda request: self._got(request))
        page.on("requestfailed", lambda request: self._got(request))

    def _asked(self, request: Request) -> None:
        if request.resource_type in FETCHED:
            self._open.add(request)
            self._answered.clear()

    def _got(self, request: Request) -> None:
        self._open.discard(request)
        if not self._open:
            self._answered.set()

    async def until_answered(self) -> bool:
        """Wait until nothing is open. False: nothing was, or the time is up."""
        left_s = self._end - time.monotonic()
        if not self._open or left_s <= 0:
            return False
        try:
            await asyncio.wait_for(self._answered.wait(), left_s)
        except TimeoutError:
            return False
        return True


def kind_of(error: Error) -> str:
    """ "browser" if the browser is gone, "timeout", else "unreachable"."""
    text = error.message
    if "Target page, context or browser has been closed" in text or "crashed" in text or "has been closed" in text:
        return "browser"
    return "timeout" if "Timeout" in text else "unreachable"
