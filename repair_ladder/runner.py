"""Door to Playwright for running tests: replay steps in a real browser -> Green | Red | Environment."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import re
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Download,
    Error,
    Page,
    Request,
    Response,
    Route,
    WebError,
)
from playwright.async_api import Dialog as BrowserDialog
from playwright.async_api import Locator as BrowserLocator
from playwright.async_api import TimeoutError as BrowserTimeout

from radar.announced import Announced, Kind
from radar.browser import describe as describe_page
from radar.browser import (
    described_target,
    first_line,
    holders,
    is_gone,
    kind_of,
    new_context,
    note_toasts,
    settle,
    shown_now,
)
from radar.elements import PageSnapshot, fold
from radar.errors import BadLocator, BadPattern, PatternTooSlow
from radar.locators import Locator, pattern
from radar.reading import VISIBLE, Look, Reader, Redact
from repair_ladder import fragments, traces
from repair_ladder.checks import (
    SeenRequest,
    announced_meets,
    audit_holds,
    below,
    console_meets,
    describe,
    fields_of,
    is_like,
    meets,
    request_meets,
)
from repair_ladder.errors import BadTest
from repair_ladder.falsify import UNCHECKED
from repair_ladder.harm import forbidden_of, forbidden_to
from repair_ladder.outcomes import (
    Cause,
    Dialog,
    Environment,
    EnvironmentKind,
    Evidence,
    Green,
    Outcome,
    Played,
    Red,
    Sent,
    Trace,
)
from repair_ladder.stage import OnStep, Stage, origin_of
from repair_ladder.steps import Place, Step, Steps, show_place, walk
from repair_ladder.values import fill_in, names_in, redactor, ways_to_write

# What is done to the described element itself; typing may go on while an app draws its field again and again.
POINTED: Final = frozenset({"click", "hover", "check", "uncheck", "fill", "press", "select"})

POLL_MS: Final = 40
READ_MS: Final = 1000  # to read one value of an element that was found
LOAD_MS: Final = 15000  # pages load for longer than elements take to appear
LATE_MS: Final = 5000  # to describe a page that was slow to answer
MAIN_MS: Final = 500  # so long only the main way of a locator is tried
MANY_MS: Final = 1200  # so long several matches may be a page in the middle of a change
FILM_QUALITY: Final = 50
FILM: Final = {"format": "jpeg", "quality": FILM_QUALITY, "maxWidth": 640, "maxHeight": 360}
PICTURE_MS: Final = 3000
# Where a page may repeat a secret that was typed into it without its being a text of the page.
MOST_SCROLLS: Final = 300
SCROLLING_S: Final = 120.0  # for all of them
TRACE_S: Final = 60.0
MOST_STORED: Final = 20_000_000  # bytes
MOST_SHOT: Final = 100_000_000  # bytes of all pictures that the steps of a run ask for
MOST_FRAMES: Final = 20  # that a picture is searched for secrets
DRAG_STEPS: Final = 12  # moves of the pointer on its way: lists that follow it look at each of them
MOST_SEEN: Final = 2000  # requests, console lines and toasts that checks can look for
LONGEST_SEEN: Final = 100_000  # characters of a request's body or a downloaded text
CAUSING: Final = frozenset(  # what may bring up a toast; a check asks for those that came since the last of them
    "goto back reload click dblclick check uncheck fill type press select upload drag tab use".split()
)
CONSOLE_LEVELS: Final = {"error": "error", "assert": "error", "warning": "warning", "info": "info", "debug": "debug"}
MOST_SENT: Final = 50  # requests of one step that are remembered
LONGEST_URL: Final = 2000
MOST_LINES: Final = 50  # of each kind of evidence
LONGEST_LINE: Final = 500
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OUTSIDE: Final = "it leaves the allowed origins"
IS_LIST: Final = "e => (e.control ?? e).tagName === 'SELECT'"
# null: no option is called so yet; -1: one that reads so.
PLACE_OF_OPTION: Final = """(e, wanted) => {
    const all = [...((e.control ?? e).options ?? [])], place = all.findIndex((one) => one.value === wanted);
    const fold = (text) => text.trim().replace(/\\s+/g, ' ');
    return place >= 0 ? place : all.some((one) => fold(one.label) === fold(wanted)) ? -1 : null;
}"""
UNREACHABLE: Final = re.compile(
    r"net::ERR_(CONNECTION|NAME|ADDRESS|INTERNET|NETWORK|EMPTY_RESPONSE|SSL|TIMED_OUT|SOCKET)"
)


class _Failed(Exception):
    """A step failed; caught in `replay` alone."""

    def __init__(self, cause: Cause, message: str, *, observed: str | None = None) -> None:
        super().__init__(message)
        self.cause, self.observed = cause, observed


class _Stuck(_Failed):
    """The page answers nothing any more: its script, or a pattern that is looked for in it, never ends."""


class _Surroundings(Exception):
    def __init__(self, kind: EnvironmentKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


async def replay(browser: Browser, steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> Outcome:
    """Play steps in a fresh context. Never raises for what an app or a browser does."""
    outcome, _ = await _replay(browser, steps, stage, on_step, keep_state=False)
    return outcome


async def sign_in(
    browser: Browser, steps: Steps, stage: Stage, *, on_step: OnStep | None = None
) -> tuple[Outcome, Any]:
    """Play the steps that sign in, and give the cookies and storage they leave; None where they are not green."""
    return await _replay(browser, steps, stage, on_step, keep_state=True)


async def _replay(
    browser: Browser, steps: Steps, stage: Stage, on_step: OnStep | None, *, keep_state: bool
) -> tuple[Outcome, Any]:
    redact = redactor(stage.secrets)
    try:
        context = await new_context(browser, locale=stage.locale, state=stage.state)
    except Error as error:
        return Environment("browser", f"the browser is gone: {first_line(error)}"), None
    filming: asyncio.Future[None] | None = None
    try:
        player = _Player(context, await context.new_page(), stage, redact)
        if stage.fenced_to is not None:
            await context.route("**/*", player.fence)
            await player.fence_redirects(player.page)
            context.on("page", player.fence_redirects)
        if _mentions("assert_toast", steps, stage.fragments):
            await player.watch_toasts(player.page)
            context.on("page", player.watch_toasts)
        if stage.pictures and not stage.secrets:
            filming = asyncio.ensure_future(player.film(player.page))  # the first step does not wait for it
            context.on("page", player.film)
        if stage.tracing:
            await context.tracing.start(screenshots=not stage.secrets, snapshots=True)
        outcome = await player.play(steps, on_step)
        if stage.tracing:
            outcome = await _traced(context, outcome, redact, with_secrets=bool(stage.secrets))
        if not keep_state or not isinstance(outcome, Green):
            return outcome, None
        async with asyncio.timeout(stage.stuck_s):
            await settle(player.page)
            return outcome, await _state_of(context, player.page)
    except TimeoutError:
        return Environment("browser", "the page that the sign-in led to does not answer"), None
    except Error as error:
        return Environment("browser", f"the browser is gone: {redact(first_line(error))}"), None
    finally:
        with contextlib.suppress(Error):
            await context.close()
        if filming is not None:
            await filming


async def _state_of(context: BrowserContext, page: Page) -> Any:
    """Cookies and storage; also IndexedDB, where some apps keep who is signed in, unless it holds a lot or cannot be
    written down."""
    with contextlib.suppress(Error):
        used = await page.evaluate("() => navigator.storage?.estimate().then((one) => one.usage)")
        if not used or used < MOST_STORED:
            return await context.storage_state(indexed_db=True)
    return await context.storage_state()


async def _traced(context: BrowserContext, outcome: Outcome, redact: Redact, *, with_secrets: bool) -> Outcome:
    """A red run with its trace; of other runs none is kept. What cannot be had is left out."""
    with contextlib.suppress(Error, OSError, TimeoutError):
        if not isinstance(outcome, Red):
            await context.tracing.stop()
            return outcome
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.zip"
            async with asyncio.timeout(TRACE_S):
                await context.tracing.stop(path=path)
            packed = await asyncio.to_thread(traces.redacted, path.read_bytes(), redact, with_secrets=with_secrets)
        return replace(outcome, tracing=packed)
    return outcome


class _Player:
    """One run: the page, what is known, and what was seen on the way."""

    def __init__(self, context: BrowserContext, page: Page, stage: Stage, redact: Redact) -> None:
        self.context, self.page, self.stage, self.redact = context, page, stage, redact
        self.values = dict(stage.values)
        self.began = time.monotonic()
        self.played: list[Played] = []
        self.asked_before: list[int] = []  # for each of them, how many requests there had been when it began
        self.reader = Reader(redact)
        self.looks: list[Look] = []  # at pages that differ
        self.snapshots: list[PageSnapshot] = []  # the same, as far as they have been read
        self.answer: tuple[str, str | None] | None = None
        self.place: Place = ()
        self.status: int | None = None  # of the last document
        self.target: BrowserLocator | None = None
        self.look: Look | None = None  # the latest at the target
        self.found: tuple[int, int] | None = None  # (snapshot, element) of the step being played
        self.way = 0
        self.filled_secrets: list[BrowserLocator] = []
        self.dialogs: list[Dialog] = []
        self.lines: dict[str, list[str]] = {"page": [], "console": [], "failed": [], "bad": [], "audit": []}
        self.downloads: list[Download] = []
        self.console: list[tuple[str, str]] = []  # level and text
        self.console_is_cut = False
        self.requests: dict[Request, int | None] = {}  # with the status of the answer
        self.toasts: list[Announced] = []
        self.toasts_since = 0  # the first that came up since the last step that may have caused one
        self.frames: dict[Page, str] = {}  # the newest picture of each tab, as it came: most are never looked at
        self.pictured: tuple[Look, bytes] | None = None  # the page that the last check saw, and the picture after it
        self.shots: list[tuple[str, bytes]] = []  # that the step being played has asked for
        self.shot_bytes = 0
        self.fragments: list[str] = []  # those being played, outermost first
        self.fragment_steps = 0
        context.on("dialog", self.on_dialog)
        context.on("weberror", self.on_page_error)
        context.on("console", self.on_console)
        context.on("request", self.on_request)
        context.on("requestfailed", self.on_request_failed)
        context.on("response", self.on_response)
        context.on("page", self.on_page)
        page.on("download", self.on_download)
        page.on("close", self.on_close)

    # --- what the browser says beside the page ---

    def note(self, kind: str, text: str) -> None:
        lines = self.lines[kind]
        if len(lines) < MOST_LINES:
            lines.append(self.redact(fold(text))[:LONGEST_LINE])

    def on_page(self, page: Page) -> None:
        page.on("download", self.on_download)
        page.on("close", self.on_close)

    def on_download(self, download: Download) -> None:
        self.downloads.append(download)

    def on_close(self, page: Page) -> None:
        """The app closed the tab that the test is in: it goes on in the one that opened it, or in the newest."""
        if page is self.page and self.others():
            self.page = self.others()[-1]

    def others(self) -> list[Page]:
        return [one for one in self.context.pages if one is not self.page and not one.is_closed()]

    def on_page_error(self, error: WebError) -> None:
        self.note("page", error.error.message)
        self.keep_line("error", error.error.message)

    def on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.note("console", message.text)
        self.keep_line(CONSOLE_LEVELS.get(message.type, "log"), message.text)

    def keep_line(self, level: str, text: str) -> None:
        if len(self.console) < MOST_SEEN:
            self.console.append((level, fold(text[:LONGEST_SEEN])))
        else:
            self.console_is_cut = True

    def on_request(self, request: Request) -> None:
        if len(self.requests) < MOST_SEEN:
            self.requests[request] = None

    def on_request_failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED" or not self.is_download(request):
            self.note("failed", f"{request.method} {request.url} failed: {request.failure}")

    def is_download(self, request: Request) -> bool:
        """The navigation to a file that is downloaded ends as if it had been broken off."""
        return request.is_navigation_request() and any(one.url == request.url for one in self.downloads)

    def on_response(self, response: Response) -> None:
        request = response.request
        if request in self.requests:
            self.requests[request] = response.status
        is_document = self.is_document(request)
        if is_document:
            self.status = response.status
        if response.status >= 500 or (response.status >= 400 and (is_document or request.method != "GET")):
            self.note("bad", f"{request.method} {response.url} answered {response.status}")

    def is_document(self, request: Request) -> bool:
        """Is it the page of the tab that the test is in?"""
        if not request.is_navigation_request():
            return False
        try:
            return request.frame == self.page.main_frame
        except Error:  # of a tab that is just being opened
            return False

    async def film(self, page: Page) -> None:
        """Let the browser hand over a small picture whenever the page looks otherwise: no step has to wait for one."""
        with contextlib.suppress(Error):
            session = await self.context.new_cdp_session(page)

            async def keep(event: dict[str, Any]) -> None:
                self.frames[page] = event["data"]
                with contextlib.suppress(Error):
                    await session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

            session.on("Page.screencastFrame", keep)
            await session.send("Page.startScreencast", FILM)

    async def picture_now(self, kind: str) -> bytes | None:
        """The page after a step. With secrets in play it is taken for itself, with whatever may show one masked; once
        for checks in a row that saw the same page, for it takes longer than most steps do."""
        if not self.stage.pictures:
            return None
        if not self.stage.secrets:
            newest = self.frames.get(self.page)
            return base64.b64decode(newest) if newest else None
        before, self.pictured = self.pictured, None
        look = self.look if kind.startswith("assert_") else None
        if before and look and before[0].is_same_page(look):
            self.pictured = before
            return before[1]
        with contextlib.suppress(Error):
            taken = await self.page.screenshot(
                type="jpeg", quality=FILM_QUALITY, scale="css", mask=self.not_for_pictures(), timeout=PICTURE_MS
            )
            self.pictured = (look, taken) if look else None
            return taken
        return None

    async def watch_toasts(self, page: Page) -> None:
        with contextlib.suppress(Error):
            await note_toasts(page, self.on_toast, self.stage.announced_css.get("toast"))

    def on_toast(self, toast: Announced) -> None:
        if len(self.toasts) < MOST_SEEN:
            self.toasts.append(toast)

    async def on_dialog(self, dialog: BrowserDialog) -> None:
        answer, self.answer = self.answer, None
        action, text = answer or ("dismiss", None)
        self.dialogs.append(
            Dialog(
                self.place,
                dialog.type,
                self.redact(fold(dialog.message))[:LONGEST_LINE],
                "accepted" if action == "accept" else "dismissed",
                answer is not None,
            )
        )
        with contextlib.suppress(Error):
            if action == "accept":
                await dialog.accept(text or "")
            else:
                await dialog.dismiss()

    async def fence(self, route: Route) -> None:
        """In a proof: no navigation of the page and nothing that writes outside the allowed origins."""
        request = route.request
        writes = request.method not in READS
        leaves = request.is_navigation_request() and not _is_inner(request)
        if (writes or leaves) and self.is_outside(request.url):
            self.note("failed", f"{request.method} {request.url} was not let through: {OUTSIDE}")
            await route.abort("blockedbyclient")
        else:
            await route.continue_()

    async def fence_redirects(self, page: Page) -> None:
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
        return origin_of(url) not in (self.stage.fenced_to or ())

    def evidence(self) -> Evidence:
        return Evidence(
            tuple(self.dialogs),
            tuple(self.lines["page"]),
            tuple(self.lines["console"]),
            tuple(self.lines["failed"]),
            tuple(self.lines["bad"]),
            tuple(self.redact(one.suggested_filename)[:LONGEST_LINE] for one in self.downloads[:MOST_LINES]),
            tuple(self.lines["audit"]),
        )

    def trace(self) -> Trace:
        self.read_looks()
        played = tuple(self.with_effects(number, one) for number, one in enumerate(self.played))
        return Trace(played, tuple(self.snapshots), self.evidence())

    def with_effects(self, number: int, one: Played) -> Played:
        """The step with what came of it until the next one began."""
        is_last = number + 1 == len(self.played)
        until = len(self.requests) if is_last else self.asked_before[number + 1]
        made = itertools.islice(self.requests.items(), self.asked_before[number], until)
        sent = tuple(self.sent(request, status) for request, status in made if request.method not in READS)
        url = self.redact(self.page.url) if is_last else self.played[number + 1].url
        return replace(one, sent=sent[:MOST_SENT], url_after=url)

    def sent(self, request: Request, status: int | None) -> Sent:
        body = request.post_data_buffer or b""
        kind = request.headers.get("content-type", "")
        return Sent(request.method, self.redact(request.url)[:LONGEST_URL], status, fields_of(body, kind, self.redact))

    def now_ms(self) -> float:
        return round((time.monotonic() - self.began) * 1000, 1)

    # --- the run ---

    async def play(self, steps: Steps, on_step: OnStep | None) -> Outcome:
        for place, step in walk(steps):
            self.place, self.target, self.look, self.found, self.way, self.shots = place, None, None, None, 0, []
            started, url, tab = self.now_ms(), self.redact(self.page.url), self.page
            asked_before = len(self.requests)
            if step.kind in CAUSING:
                self.toasts_since = len(self.toasts)
            if on_step:
                await on_step(place, step, "start")
            failed: _Failed | None = None
            try:
                await self.do(step)
            except _Failed as error:
                failed = error
            except _Surroundings as error:
                return Environment(error.kind, self.redact(str(error)), self.trace(), place)
            except Error as error:
                kind = kind_of(error)
                if kind == "browser" and self.has_closed_its_tab(tab):
                    if step.kind not in CAUSING:
                        failed = _Failed("missing", "the app closed the tab meanwhile")
                elif kind == "browser":
                    message = f"the browser died in step {show_place(place)}: {first_line(error)}"
                    return Environment("browser", self.redact(message), self.trace(), place)
                else:
                    failed = _Failed("timeout", first_line(error))
            is_stuck = isinstance(failed, _Stuck)
            why = self.redact(str(failed))[: 4 * LONGEST_LINE] if failed else None
            snapshot_at, target_at = self.found or (None, None)
            self.asked_before.append(asked_before)
            self.played.append(
                Played(
                    place, step.kind, url, started, self.now_ms(), self.way, snapshot_at, target_at, why,
                    skipped=bool(failed and step.optional),
                    picture=None if is_stuck else await self.picture_now(step.kind),
                    shots=tuple(self.shots),
                )
            )  # fmt: skip
            if failed and is_stuck:
                return Red(self.trace(), place, failed.cause, why or "")
            if failed and not step.optional:
                return await self.red(place, failed, why or "")
            if on_step:
                await on_step(place, step, "skipped" if failed else "passed")
        return Green(self.trace())

    async def red(self, place: Place, failed: _Failed, message: str) -> Red:
        """The failure with the page as it stands, once it holds still."""
        page, target, picture = None, None, None
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(self.stage.stuck_s):
                page, target = await self.page_at_failure(failed)
                picture = await self.page.screenshot(
                    mask=self.not_for_pictures(),
                    timeout=5000,
                    animations="disabled",
                )
        observed = self.redact(failed.observed) if failed.observed is not None else None
        return Red(self.trace(), place, failed.cause, message, page, target, observed, picture)

    async def page_at_failure(self, failed: _Failed) -> tuple[PageSnapshot, int | None]:
        await settle(self.page)
        where: Any = self.page
        if self.target is not None and failed.cause not in ("missing", "many", "navigation"):
            where = self.target if await self.target.count() == 1 else self.page
        look = self.reader.look(await describe_page(where, known=self.reader.known), self.status)
        return self.reader.page(look), look.target

    def not_for_pictures(self) -> list[BrowserLocator]:
        """Password fields, what a secret was filled into, and whatever else shows or may show one, in all frames."""
        frames = self.page.frames[:MOST_FRAMES]
        found = [frame.locator("input[type=password]") for frame in frames]
        words = ways_to_write(self.stage.secrets)
        if words:
            found += [one for frame in frames for one in (holders(frame, words), frame.locator("canvas"))]
        return [*found, *self.filled_secrets]

    def has_closed_its_tab(self, tab: Page) -> bool:
        """Did the app close the tab that the step was played in, with another one left to go on in?"""
        return tab.is_closed() and tab is not self.page and not self.page.is_closed()

    async def do(self, step: Step) -> None:
        """Raises _Stuck where the page does not answer: much of what is asked of it has no time-out of its own."""
        if step.kind == "use":  # each of its steps for itself
            return await self.do_in_time(step)
        own_ms = step.timeout_ms if step.timeout_ms is not None else self.stage.step_timeout_ms
        waits_ms = int(step.parameters.get("ms", 0)) if step.kind == "wait" else 0
        scrolls_s = SCROLLING_S if step.kind == "scroll" else 0
        try:
            async with asyncio.timeout((own_ms + waits_ms) / 1000 + scrolls_s + self.stage.stuck_s):
                await self.do_in_time(step)
        except TimeoutError:
            raise _Stuck("timeout", f"the page did not answer in {step.kind}: a script in it may never end") from None

    async def do_in_time(self, step: Step) -> None:
        timeout = step.timeout_ms if step.timeout_ms is not None else self.stage.step_timeout_ms
        try:
            filled = fill_in(step, self.values)
        except BadTest as error:
            raise _Failed("test", str(error)) from None
        self.deadline = time.monotonic() + timeout / 1000
        try:
            if step.kind.startswith("assert_"):
                await self.check(filled)
            else:
                await self.act(filled, step)
        except (BadLocator, BadPattern, PatternTooSlow) as error:  # neither green nor the app's fault
            # It quotes a part of the expression, and half a secret would not be found in it.
            said = "a pattern of it cannot be used with the values filled in" if filled != step else str(error)
            raise _Failed("test", said) from None

    def left_ms(self) -> float:
        return max(1.0, (self.deadline - time.monotonic()) * 1000)

    # --- finding elements ---

    def locate(self, locator: Locator, inside: Any = None) -> BrowserLocator:
        """The Playwright locator for the main way of a locator."""
        scope = self.scope(locator, inside)
        if locator.within:
            scope = self.locate(replace(locator.within, alternatives=()), scope)
        found: BrowserLocator | None = None
        for key, value in locator.finders():
            one = self.find_by(scope, key, value, locator)
            found = found.and_(one) if found else one
        assert found is not None, "locators.read lets no locator pass without a finder"
        found = self.kept(found, locator)
        return found.nth(locator.nth) if locator.nth is not None else found

    def kept(self, found: BrowserLocator, locator: Locator) -> BrowserLocator:
        """What is left of the matches after has_text and its kin."""
        options: dict[str, Any] = {}
        for key in ("has_text", "has_not_text"):
            text = getattr(locator, key)
            if text is not None:
                options[key] = pattern(text) if locator.regex else text
        for key in ("has", "has_not"):
            inner = getattr(locator, key)
            if inner is not None:
                options[key] = self.locate(replace(inner, alternatives=()))
        if locator.visible is not None:
            options["visible"] = locator.visible
        return found.filter(**options) if options else found

    def scope(self, locator: Locator, inside: Any = None) -> Any:
        scope: Any = inside or self.page
        for frame in locator.frame:
            scope = self.locate(replace(frame, alternatives=()), scope).content_frame
        return scope

    def find_by(self, scope: Any, key: str, value: str, locator: Locator) -> BrowserLocator:
        found: BrowserLocator
        match key:
            case _ if locator.regex and key not in ("css", "xpath"):
                found = self.find_by_pattern(scope, key, value, locator)
            case "css" | "xpath":
                found = scope.locator(f"{key}={value}")
            case "role" if locator.name is not None:
                found = scope.get_by_role(value, name=locator.name, exact=locator.exact)
            case "role":
                found = scope.get_by_role(value)
            case "test_id" if self.stage.test_id_attribute == "data-testid":
                found = scope.get_by_test_id(value)
            case "test_id":
                found = scope.locator(f"css=[{self.stage.test_id_attribute}={json.dumps(value, ensure_ascii=False)}]")
            case "alt":
                found = scope.get_by_alt_text(value, exact=locator.exact)
            case _:
                found = getattr(scope, f"get_by_{key}")(value, exact=locator.exact)
        return found

    def find_by_pattern(self, scope: Any, key: str, value: str, locator: Locator) -> BrowserLocator:
        found: BrowserLocator
        if key == "role":
            found = scope.get_by_role(value, name=pattern(locator.name) if locator.name is not None else None)
        elif key == "test_id" and self.stage.test_id_attribute != "data-testid":
            raise _Failed("test", f"'test_id' with a pattern needs the test id attribute data-testid: {locator}")
        else:
            found = getattr(scope, "get_by_alt_text" if key == "alt" else f"get_by_{key}")(pattern(value))
        return found

    async def pick(self, locator: Locator, *, wait: bool = True) -> BrowserLocator:
        """The first way that finds something; the main one if none does in time.

        On a page that is still being built an alternative may find something before the main way can, so that one gets
        a moment of its own.
        """
        ways = [self.locate(way) for way in locator.ways()]
        main_until = min(self.deadline, time.monotonic() + MAIN_MS / 1000) if wait else 0.0
        while len(ways) > 1:
            tried = ways if time.monotonic() >= main_until else ways[:1]
            for number, way in enumerate(tried):
                if await way.count():
                    self.way = number
                    return way
            if tried is ways and (not wait or time.monotonic() > self.deadline):
                break
            await asyncio.sleep(POLL_MS / 1000)
        return ways[0]

    async def one(self, step: Step, read: str = "") -> BrowserLocator:
        """The one element of the step, remembered with the page around it. Fails with missing or many.

        What `read` names (see `describe`) is read in the same moment, into `self.look`.
        """
        assert step.locator is not None
        self.target = await self.pick(step.locator)
        patience = min(self.deadline, time.monotonic() + MANY_MS / 1000)
        left_ms, is_late = self.left_ms, False
        while True:
            try:
                if self.stage.record:
                    self.remember(await describe_page(self.target, read, known=self.reader.known, timeout_ms=left_ms()))
                else:
                    await self.target.wait_for(state="attached", timeout=left_ms())
                return self.target
            except BrowserTimeout:
                if not is_late and await self.is_there(step, self.target):
                    # It is there: the page, or the machine, was too busy to answer in time.
                    left_ms, is_late = lambda: LATE_MS, True
                    continue
                raise _Failed("missing", f"{step.locator} finds nothing") from None
            except Error as error:
                if "strict mode violation" in error.message:
                    if time.monotonic() < patience:
                        await asyncio.sleep(POLL_MS / 1000)
                        continue
                    count = await self.target.count()
                    raise _Failed("many", f"{step.locator} finds {count} elements") from None
                if kind_of(error) == "browser":
                    raise
                if self.left_ms() > 1 and "navigation" in error.message:
                    continue  # the page went on while it was being described
                raise _Failed("test", f"{step.locator} cannot be used: {first_line(error)}") from None

    async def is_there(self, step: Step, target: BrowserLocator) -> bool:
        try:
            return await target.count() > 0
        except Error as error:
            if kind_of(error) == "browser":
                raise
            raise _Failed("test", f"{step.locator} cannot be used: {first_line(error)}") from None

    def remember(self, said: str, *, of_page: bool = False) -> None:
        """Keep what was said of the page. It is read while the browser is busy with what the step does next."""
        self.look = look = self.reader.look(said, self.status)
        index = -1 if of_page else look.target
        if index is None:
            return
        if not self.looks or not self.looks[-1].is_same_page(look):
            self.looks.append(look)
            asyncio.get_running_loop().call_soon(self.read_looks)
        self.found = (len(self.looks) - 1, index)

    def read_looks(self) -> None:
        for look in self.looks[len(self.snapshots) :]:
            self.snapshots.append(self.reader.page(look))

    async def remember_page(self) -> None:
        """Remember the page of a step that has no single element, such as a count."""
        if not self.stage.record:
            return
        with contextlib.suppress(Error):
            self.remember(await describe_page(self.page, known=self.reader.known), of_page=True)

    # --- actions ---

    async def act(self, step: Step, written: Step) -> None:
        given = step.parameters
        match step.kind:
            case "goto":
                await self.go(str(given["url"]))
            case "back" | "reload":
                move = self.page.go_back if step.kind == "back" else self.page.reload
                await self.navigate(lambda most_ms: move(timeout=most_ms))
            case "dialog":
                text = given.get("text")
                self.answer = (given["answer"], None if text is None else str(text))
            case "wait":
                await self.wait(step)
            case "set":
                self.values[str(given["into"])] = str(given["value"])
            case "screenshot":
                await self.shoot(step)
            case "scroll":
                await self.scroll(step)
            case "tab":
                await self.tab(step)
            case "use":
                await self.play_fragment(step)
            case "a11y_audit":
                await self.audit(step)
            case "press" if step.locator is None:
                self.keep_off(step)
                await self.page.keyboard.press(str(given["key"]))
            case "extract":
                await self.extract(step)
            case _:
                await self.use_element(step, written)

    async def shoot(self, step: Step) -> None:
        """The picture that a step asks for, with whatever shows or may show a secret masked."""
        target = await self.one(step) if step.locator else self.page
        picture = await target.screenshot(timeout=self.left_ms(), mask=self.not_for_pictures())
        self.shot_bytes += len(picture)
        if self.shot_bytes > MOST_SHOT:
            raise _Failed("test", f"the screenshots of one run come to more than {MOST_SHOT // 1_000_000} MB")
        name = self.redact(fold(str(step.parameters.get("as", ""))))
        self.shots.append((name[:LONGEST_LINE], picture))

    async def go(self, url: str) -> None:
        address = self.stage.base_url + url if url.startswith("/") else urljoin(self.stage.base_url + "/", url)
        if urlsplit(address).scheme not in ("http", "https", "about"):
            raise _Failed("test", f"'{url}' is not an address of a page")
        await self.navigate(lambda most_ms: self.page.goto(address, timeout=most_ms))

    async def navigate(self, move: Callable[[float], Awaitable[Response | None]]) -> None:
        try:
            response = await move(max(self.left_ms(), LOAD_MS))
        except BrowserTimeout as error:
            raise _Failed("navigation", first_line(error)) from None
        except Error as error:
            if "Download is starting" in error.message:
                return
            if UNREACHABLE.search(error.message):
                raise _Surroundings("unreachable", f"the app does not answer: {first_line(error)}") from None
            if "ERR_BLOCKED_BY_CLIENT" in error.message:
                raise _Failed("navigation", "the address leaves the allowed origins") from None
            raise
        if response is not None:
            self.status = response.status
            if response.status >= 500:
                raise _Surroundings("server_error", f"{response.url} answered {response.status}")

    def keep_off(self, step: Step) -> None:
        """Fails instead of acting on what the project forbids its repairs to use."""
        if not self.stage.forbidden or self.place not in self.stage.guarded or self.fragments:
            return
        why = "nobody can tell what it acts on, and the project forbids repairs to use some things"
        if step.locator is not None and self.found is not None:
            self.read_looks()
            page, element = self.snapshots[self.found[0]], self.found[1]
            why = forbidden_to(step, page, element, self.stage.forbidden, self.stage.test_id_attribute)
            to = step.parameters.get("to")
            if not why and isinstance(to, Locator):
                why = forbidden_of(step, page, self.stage.forbidden, self.stage.test_id_attribute)
        if why:
            raise _Failed("forbidden", why)

    async def use_element(self, step: Step, written: Step) -> None:
        target = await self.one(step)
        self.keep_off(step)
        given = step.parameters
        options: dict[str, Any] = {"timeout": self.left_ms()}
        if step.kind in ("click", "dblclick", "hover", "check", "uncheck"):
            options |= {key: given[key] for key in ("button", "modifiers", "position") if key in given}
            if step.kind in ("hover", "check", "uncheck"):
                options.pop("button", None)
            if step.kind in ("check", "uncheck"):
                options.pop("modifiers", None)
        if step.kind in ("fill", "type") and self.is_secret(written.parameters["value"]):
            self.filled_secrets.append(target)
        try:
            if self.found is not None and step.kind in POINTED and self.way == 0:
                assert step.locator is not None
                try:
                    # It has just been found and described: looking for it again on a large page takes its time.
                    await self.use(step, described_target(self.scope(step.locator)), options)
                    return
                except Error as error:
                    if not is_gone(error):
                        raise
                options["timeout"] = self.left_ms()
            await self.use(step, target, options)
        except Error as error:
            if kind_of(error) == "browser":
                raise
            raise await self.explain(step, target, error) from None

    async def use(self, step: Step, target: BrowserLocator, options: dict[str, Any]) -> None:
        given = step.parameters
        match step.kind:
            case "click" | "dblclick" | "hover" | "check" | "uncheck":
                await getattr(target, step.kind)(**options)
            case "fill":
                await self.fill(step, target, options)
            case "type":
                await target.press_sequentially(str(given["value"]), **options)
            case "press":
                await target.press(str(given["key"]), **options)
            case "select" if "value" in given and "option" not in given and "index" not in given:
                await self.choose(step, target, options)
            case "select":
                await target.select_option(**_option(given), **options)
            case "upload":
                await self.upload(target, self.files(given["files"]), options)
            case "drag":
                await self.drag(target, given["to"], options)
            case _:
                raise AssertionError(step.kind)

    async def fill(self, step: Step, target: BrowserLocator, options: dict[str, Any]) -> None:
        """Into a field. A list to choose from is set to the value: recorders write both as one step, and where only an
        ARIA selector is known nobody can tell which it is before the element is seen."""
        try:
            await target.fill(str(step.parameters["value"]), **options)
        except Error as error:
            if "Element is not an <input>" not in error.message or not await target.evaluate(IS_LIST):
                raise
            await self.choose(step, target, options)

    async def choose(self, step: Step, target: BrowserLocator, options: dict[str, Any]) -> None:
        """The option of that value, or else of that text: one option may well read as another one's value does."""
        value = str(step.parameters["value"])
        while (place := await target.evaluate(PLACE_OF_OPTION, value, timeout=READ_MS)) is None:
            if time.monotonic() > self.deadline:
                raise _Failed("option", f"{step.locator} has no option {_option(step.parameters)}")
            await asyncio.sleep(POLL_MS / 1000)  # lists are filled late
        wanted: dict[str, Any] = {"label": value} if place < 0 else {"index": place}
        await target.select_option(**wanted, **options | {"timeout": self.left_ms()})

    async def upload(self, target: BrowserLocator, paths: list[str], options: dict[str, Any]) -> None:
        """Into a field, or by way of the dialog for files that a button opens."""
        try:
            await target.set_input_files(paths, **options)
        except Error as error:
            if "not an HTMLInputElement" not in error.message:
                raise
            async with self.page.expect_file_chooser(timeout=self.left_ms()) as opening:
                await target.click(timeout=self.left_ms())
            await (await opening.value).set_files(paths, timeout=self.left_ms())

    async def drag(self, target: BrowserLocator, to: Locator, options: dict[str, Any]) -> None:
        """With the pointer, in many small moves: what follows the pointer sees it come, HTML5 drops work as well."""
        end = self.locate(to)
        try:
            await end.wait_for(state="attached", timeout=self.left_ms())
        except BrowserTimeout:
            raise _Failed("missing", f"{to}, to drag to, finds nothing") from None
        except Error as error:
            if "strict mode violation" not in error.message:
                raise
            raise _Failed("many", f"{to}, to drag to, finds {await end.count()} elements") from None
        await target.drag_to(end, steps=DRAG_STEPS, **options)

    # --- tabs, fragments, audits ---

    async def tab(self, step: Step) -> None:
        given = step.parameters
        if given.get("close"):
            if not self.others():
                raise _Failed("test", "the only tab is not closed: a test ends by itself")
            tab = self.page
            opener = await tab.opener()
            self.page = opener if opener is not None and not opener.is_closed() else self.others()[-1]
            await tab.close()
        elif "switch" in given:
            self.page = await self.other_tab(given["switch"])
            with contextlib.suppress(BrowserTimeout):
                await self.page.wait_for_load_state("domcontentloaded", timeout=max(self.left_ms(), LOAD_MS))
        await self.page.bring_to_front()

    async def other_tab(self, wanted: Any) -> Page:
        """The newest tab, or the newest of those with such an address; waited for, as one may just be opening."""
        condition = wanted if isinstance(wanted, Mapping) else None
        while True:
            tabs = [one for one in self.context.pages if not one.is_closed()]
            if wanted == "newest":
                if tabs[-1] is not self.page:
                    return tabs[-1]
            else:
                for one in reversed(tabs):
                    address = below(self.stage.base_url, one.url)
                    if meets(condition, address, folded=False) if condition else is_like(str(wanted), address):
                        return one
            if time.monotonic() > self.deadline:
                said = "newer tab" if wanted == "newest" else f"tab whose address {_wanted_address(wanted)}"
                raise _Failed("missing", f"there is no {said}; open: {', '.join(one.url for one in tabs)}")
            await asyncio.sleep(POLL_MS / 1000)

    async def play_fragment(self, step: Step) -> None:
        """The steps of a fragment, each with a time of its own; `values` hold in it alone, what it extracts stays."""
        name, given = str(step.parameters["fragment"]), step.parameters.get("values", {})
        steps = self.stage.fragments.get(name)
        if steps is None:
            raise _Failed("test", f"the fragment '{name}' is not there: import a test of that name")
        if name in self.fragments:
            raise _Failed(
                "test", f"the fragment '{name}' goes round in a circle: {' -> '.join([*self.fragments, name])}"
            )
        if len(self.fragments) >= fragments.DEEPEST:
            raise _Failed("test", f"fragments stand more than {fragments.DEEPEST} deep in one another")
        outer = {key: self.values.get(key) for key in given}
        self.values |= {key: str(value) for key, value in given.items()}
        self.fragments.append(name)
        try:
            for place, one in walk(steps):
                self.fragment_steps += 1
                if self.fragment_steps > fragments.MOST_PLAYED:
                    raise _Failed("test", f"fragments come to more than {fragments.MOST_PLAYED} steps in one run")
                if one.kind in CAUSING:
                    self.toasts_since = len(self.toasts)
                self.target, self.look, self.way = None, None, 0
                try:
                    await self.do(one)
                except _Failed as error:
                    if not one.optional:
                        where = f"in the fragment '{name}', step {show_place(place)}"
                        raise _Failed(error.cause, f"{where}: {error}", observed=error.observed) from None
        finally:
            self.fragments.pop()
            self.target, self.look, self.found, self.way = None, None, None, 0
            for key, value in outer.items():
                if value is None:
                    self.values.pop(key, None)
                else:
                    self.values[key] = value

    async def audit(self, step: Step) -> None:
        from axe_playwright_python.base import AXE_SCRIPT

        given = step.parameters
        scope = await self.one(step) if step.locator else self.page.locator(":root")
        options: dict[str, Any] = {"resultTypes": ["violations"], "iframes": False}
        if given.get("rules"):
            tagged = all(
                re.match(r"(wcag|best-practice|cat\.|section508|EN-|ACT|experimental|TT)", one)
                for one in given["rules"]
            )
            options["runOnly"] = {"type": "tag" if tagged else "rule", "values": given["rules"]}
        try:
            await self.page.evaluate(AXE_SCRIPT) if not step.locator else await scope.evaluate(
                f"() => {{ {AXE_SCRIPT} }}"
            )
            said = await scope.evaluate(
                "(e, options) => axe.run(e, options).then((got) => JSON.stringify(got.violations.map("
                "(one) => [one.id, one.impact, one.nodes.length, one.help])))",
                options,
                timeout=max(self.left_ms(), LOAD_MS),
            )
        except Error as error:
            if kind_of(error) == "browser":
                raise
            raise _Failed("test", f"the audit cannot be made: {first_line(error)}") from None
        found = [one for one in json.loads(str(said)) if isinstance(one, list) and len(one) == 4]
        for rule, impact, count, why in found:
            self.note("audit", f"{rule} ({impact}), {count} elements: {why}")
        if "threshold" in given and not audit_holds(given["threshold"], [str(one[1]) for one in found]):
            named = ", ".join(f"{rule} ({impact})" for rule, impact, *_ in found[:10])
            raise _Failed(
                "check",
                f"expected an accessibility audit within {given['threshold']}, got {len(found)} broken rules: {named}",
                observed=named,
            )

    def is_secret(self, value: object) -> bool:
        return any(self.values.get(name) in self.stage.secrets for name in names_in(value))

    def files(self, names: Sequence[str]) -> list[str]:
        """Paths of the files of an upload, which lie beside the test or fragment it stands in and nowhere else."""
        inside = self.fragments[-1] if self.fragments else None
        folder = self.stage.files if inside is None else self.stage.fragment_files.get(inside)
        paths = []
        for name in names:
            path = (folder / name).resolve() if folder else None
            if path is None or folder is None or not path.is_relative_to(folder.resolve()) or not path.is_file():
                raise _Failed("test", f"the file '{name}' is not there")
            paths.append(str(path))
        return paths

    async def explain(self, step: Step, target: BrowserLocator, error: Error) -> _Failed:
        """Why an action on a found element did not come about."""
        text, where = error.message, step.locator
        with contextlib.suppress(Error):
            count = await target.count()
            if count == 0:
                return _Failed("missing", f"{where} finds nothing any more")
            if count > 1:
                return _Failed("many", f"{where} finds {count} elements")
        if "intercepts pointer events" in text:
            by = re.findall(r"(<[^\n]{0,200}?>)[^\n]* intercepts pointer events", text)
            return _Failed("covered", f"{where} is covered by {by[-1] if by else 'another element'}")
        if "did not find some options" in text:
            return _Failed("option", f"{where} has no option {_option(step.parameters)}")
        for words, cause, why in (
            ("element is not visible", "hidden", "cannot be seen"),
            ("element is not enabled", "disabled", "is disabled"),
            ("outside of the viewport", "hidden", "lies outside of what can be scrolled to"),
            ("element is not stable", "timeout", "does not hold still"),
        ):
            if words in text:
                return _Failed(cause, f"{where} {why}")  # type: ignore[arg-type]
        if isinstance(error, BrowserTimeout):
            return _Failed("timeout", f"{step.kind} on {where} did not end in time")
        return _Failed("test", f"{step.kind} on {where}: {first_line(error)}")

    async def wait(self, step: Step) -> None:
        given = step.parameters
        if "ms" in given:
            await asyncio.sleep(given["ms"] / 1000)
        elif "url" in given:
            await self.until(lambda: self.url_meets(given["url"]), f"the URL {describe(given['url'])}")
        else:
            state = given.get("state", "visible")
            target = self.locate(given["for"])
            try:
                if state == "enabled":
                    await target.wait_for(timeout=self.left_ms())
                    await self.until(lambda: _seen_if(target.is_enabled()), f"{given['for']} enabled")
                else:
                    await target.wait_for(state=state, timeout=self.left_ms())
            except BrowserTimeout:
                raise _Failed("missing", f"{given['for']} did not become {state}") from None
            except Error as error:
                if "strict mode violation" in error.message:
                    raise _Failed("many", f"{given['for']} finds several elements") from None
                raise

    async def scroll(self, step: Step) -> None:
        box = await self.one(step) if step.locator else self.page.locator(":root")
        given = step.parameters
        if "by" in given:
            await box.evaluate("(e, by) => { e.scrollTop += by; }", given["by"])
            return
        until = self.locate(given["until"])
        # Down from where it is, and once more from the top; a list that loads on the way may need a few looks.
        for start in (None, 0):
            if start is not None:
                await box.evaluate("e => { e.scrollTop = 0; }")
            still = 0
            for _ in range(MOST_SCROLLS):
                if await until.count():
                    with contextlib.suppress(Error):
                        await until.first.scroll_into_view_if_needed(timeout=1000)
                    return
                moved = await box.evaluate(
                    "e => { const was = e.scrollTop; e.scrollTop += Math.max(40, e.clientHeight * 0.8); "
                    "return e.scrollTop !== was; }"
                )
                await asyncio.sleep(0.03)
                still = 0 if moved else still + 1
                if still > 5:
                    break
        raise _Failed("missing", f"{given['until']} did not come into view")

    async def extract(self, step: Step) -> None:
        what = str(step.parameters.get("what", "text"))
        if what == "url":
            value = self.address()
        elif step.locator is None:
            value = fold(await self.page.title()) if what == "title" else await self.downloaded(what)
        else:
            target = await self.one(step)
            if what == "text":
                value = fold(await target.inner_text(timeout=self.left_ms()))
            elif what == "value":
                value = await target.input_value(timeout=self.left_ms())
            else:
                value = await target.get_attribute(what, timeout=self.left_ms()) or ""
        self.values[str(step.parameters["into"])] = value

    async def downloaded(self, what: str) -> str:
        """The name or the text of the newest file that the app gave, which may still be on its way."""
        while not self.downloads:
            if time.monotonic() > self.deadline:
                raise _Failed("missing", "nothing was downloaded")
            await asyncio.sleep(POLL_MS / 1000)
        newest = self.downloads[-1]
        try:
            path = await asyncio.wait_for(newest.path(), max(self.left_ms(), LOAD_MS) / 1000)
        except (Error, TimeoutError) as error:
            why = first_line(error) if isinstance(error, Error) else "it took too long"
            raise _Failed("timeout", f"the download of '{newest.suggested_filename}' failed: {why}") from None
        if what == "download":
            return newest.suggested_filename
        with path.open("rb") as file:
            return file.read(LONGEST_SEEN).decode("utf-8", "replace")

    # --- checks ---

    def address(self) -> str:
        """The URL without the base URL."""
        return below(self.stage.base_url, self.page.url)

    async def url_meets(self, condition: Mapping[str, Any]) -> tuple[bool, str]:
        return meets(condition, self.address(), folded=False), self.address()

    async def until(self, look: Callable[[], Awaitable[tuple[bool, str]]], wanted: str) -> int:
        """Look until it holds or time is up; what was seen last goes into the failure. Gives the number of looks."""
        for looks in itertools.count(1):
            holds, seen = await look()
            if holds:
                return looks
            if time.monotonic() > self.deadline:
                raise _Failed("check", f"expected {wanted}, got {self.quoted(seen)}", observed=seen)
            await asyncio.sleep(POLL_MS / 1000)
        raise AssertionError("unreachable")

    def quoted(self, text: str) -> str:
        """Redacted before it is cut and quoted: half a secret, or one with other quotes in it, is no longer found."""
        text = self.redact(text)
        return repr(text if len(text) <= 200 else text[:197] + "...")

    async def check(self, step: Step) -> None:
        what, given = step.kind.removeprefix("assert_"), step.parameters
        match what:
            case "url":
                await self.until(lambda: self.url_meets(given), f"a URL that {describe(given)}")
            case "title":

                async def title() -> tuple[bool, str]:
                    seen = await self.page.title()
                    return meets(given, seen), fold(seen)

                await self.until(title, f"a title that {describe(given)}")
            case "variable":
                seen = self.values.get(str(given["variable"]), "")
                if not meets(given, seen):
                    raise _Failed(
                        "check", f"expected {given['variable']} that {describe(given)}, got {self.quoted(seen)}"
                    )
            case "hidden" | "count":
                await self.check_many(step, what)
            case "toast" | "modal" | "validation_error":
                await self.check_announced(what, given)
            case "console":
                await self.check_console(given)
            case "request":
                await self.check_request(given)
            case _:
                await self.check_one(step, what)

    async def check_announced(self, kind: Kind, given: Mapping[str, Any]) -> None:
        """Something announced, shown now; of toasts also one that came up since the last action and is gone again."""
        name = kind.replace("_", " ")
        css = self.stage.announced_css.get(kind)

        async def look() -> tuple[bool, str]:
            try:
                shown = await shown_now(self.page, kind, css)
            except BrowserTimeout:
                shown = ()
            except Error as error:
                if css and "is not a valid selector" in error.message:
                    raise _Failed("test", f"the project's selector for a {name}, '{css}', is none") from None
                if kind_of(error) == "browser":
                    raise
                shown = ()
            if kind == "toast":
                shown = (*self.toasts[self.toasts_since :], *shown)
            texts = list(dict.fromkeys(one.text for one in shown))
            return any(announced_meets(given, one) for one in shown), " | ".join(texts) or f"no {name}"

        await self.until(look, f"a {name} that {describe(given)}" if describe(given) else f"a {name}")
        await self.remember_page()

    async def check_console(self, given: Mapping[str, Any]) -> None:
        async def look() -> tuple[bool, str]:
            lines = [f"{level}: {text}" for level, text in self.console if console_meets(given, level, text)]
            if given.get("none"):
                cut = f"more than {MOST_SEEN} lines, not all of which were kept" if self.console_is_cut else ""
                return not lines and not cut, " | ".join(lines[:5]) or cut or "none"
            return bool(lines), f"{len(self.console)} other lines" if self.console else "nothing"

        with contextlib.suppress(Error):
            await self.page.evaluate("0")  # what was written before has been told before this is answered
        if given.get("none"):
            self.deadline = 0.0  # a line that was written does not go away
        await self.until(look, f"the console {_in_words(given)}")
        await self.remember_page()

    async def check_request(self, given: Mapping[str, Any]) -> None:
        async def look() -> tuple[bool, str]:
            seen = [_seen(request, status) for request, status in self.requests.items()]
            holds = any(request_meets(given, one, base_url=self.stage.base_url) for one in seen)
            near = [one for one in seen if self.is_near(given, one)] or seen
            return holds, " | ".join(f"{one.method} {one.url} answered {one.status}" for one in near[-3:]) or "none"

        await self.until(look, f"a request with {_in_words(given)}")
        await self.remember_page()

    def is_near(self, given: Mapping[str, Any], seen: SeenRequest) -> bool:
        where = {key: given[key] for key in ("url",) if key in given} or {
            key: given[key] for key in ("method",) if key in given
        }
        return request_meets(where, seen, base_url=self.stage.base_url)

    async def check_many(self, step: Step, what: str) -> None:
        assert step.locator is not None
        self.target = found = await self.pick(step.locator, wait=False)

        async def hidden() -> tuple[bool, str]:
            shown = await found.filter(visible=True).count()
            return not shown, f"{shown} visible" if shown else "hidden"

        async def count() -> tuple[bool, str]:
            number = await found.count()
            return meets(step.parameters, number), str(number)

        if what == "hidden":
            await self.until(hidden, f"{step.locator} hidden")
        else:
            await self.until(count, f"a count of {step.locator} that {describe(step.parameters)}")
        await self.remember_page()

    async def check_one(self, step: Step, what: str) -> None:
        given = step.parameters
        target = await self.one(step, f"attribute:{given['attribute']}" if what == "attribute" else what)
        if self.holds_at_first_sight(what, given):
            return

        async def look() -> tuple[bool, str]:
            try:
                match what:
                    case "text":
                        seen = fold(await target.inner_text(timeout=READ_MS))
                        return meets(given, seen), seen
                    case "value":
                        seen = await target.input_value(timeout=READ_MS)
                        return meets(given, seen, folded=False), seen
                    case "attribute":
                        seen = await target.get_attribute(str(given["attribute"]), timeout=READ_MS) or ""
                        return meets(given, seen, folded=False), seen
                    case _:
                        is_so = await getattr(target, f"is_{what}")()
                        return is_so != bool(given.get(UNCHECKED)), what if is_so else f"not {what}"
            except BrowserTimeout:
                return False, "nothing"

        wanted = f"{step.locator} {what} that {describe(given)}" if describe(given) else f"{step.locator} {what}"
        looks = await self.until(look, wanted)
        if self.stage.record and looks > 1:
            with contextlib.suppress(Error):  # the page as the check saw it, not as it was before it held
                self.remember(await describe_page(target, known=self.reader.known, timeout_ms=1000))

    def holds_at_first_sight(self, what: str, given: Mapping[str, Any]) -> bool:
        """Does the check hold on the page as it was remembered? False also means: not known."""
        if self.look is None or self.look.target is None:
            return False
        if what == "visible":
            return bool(self.look.page["elements"][self.look.target][8] & VISIBLE)
        return self.look.seen is not None and meets(given, self.look.seen, folded=what == "text")


def _is_inner(request: Request) -> bool:
    """Is it the page of a frame inside a page? A tab that is just being opened has no frame yet."""
    try:
        return request.frame.parent_frame is not None
    except Error:
        return False


def _mentions(kind: str, steps: Steps, known: Mapping[str, Steps]) -> bool:
    """Is there such a step, fragments included?"""
    waiting, seen = [steps], set[str]()
    while waiting:
        for _, step in walk(waiting.pop()):
            if step.kind == kind:
                return True
            name = str(step.parameters.get("fragment"))
            if step.kind == "use" and name in known and name not in seen:
                seen.add(name)
                waiting.append(known[name])
    return False


def _seen(request: Request, status: int | None) -> SeenRequest:
    body = request.post_data_buffer
    text = body[:LONGEST_SEEN].decode("utf-8", "replace") if body is not None else None
    return SeenRequest(request.method, request.url, status, text)


def _wanted_address(wanted: Any) -> str:
    return describe(wanted) if isinstance(wanted, Mapping) else f"is '{wanted}'"


def _in_words(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value!r}" if not isinstance(value, bool) else key for key, value in given.items())


async def _seen_if(holds: Awaitable[bool]) -> tuple[bool, str]:
    value = await holds
    return value, "enabled" if value else "disabled"


def _option(given: Mapping[str, Any]) -> dict[str, Any]:
    if "index" in given:
        return {"index": given["index"]}
    return {"label": str(given["option"])} if "option" in given else {"value": str(given["value"])}
