"""What the browser says beside the page: console, requests, dialogs, toasts and downloads of one run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from playwright.async_api import BrowserContext, ConsoleMessage, Download, Error, Page, Request, Response, WebError
from playwright.async_api import Dialog as BrowserDialog

from radar.announced import Announced
from radar.browser import note_toasts
from radar.elements import fold
from radar.reading import Redact
from repair_ladder.checks import SeenRequest, fields_of
from repair_ladder.outcomes import Dialog, Evidence, Sent
from repair_ladder.steps import Place

MOST_SEEN: Final = 2000  # requests, console lines and toasts that checks can look for
LONGEST_SEEN: Final = 100_000  # characters of a request's body or a downloaded text
CONSOLE_LEVELS: Final = {"error": "error", "assert": "error", "warning": "warning", "info": "info", "debug": "debug"}
LONGEST_URL: Final = 2000
MOST_LINES: Final = 50  # of each kind of evidence
LONGEST_LINE: Final = 500


class Witness:
    """Keeps what is said, redacted where people may read it. `tab` gives the one that the test is in."""

    def __init__(self, context: BrowserContext, page: Page, tab: Callable[[], Page], redact: Redact) -> None:
        self.context, self.tab, self.redact = context, tab, redact
        self.place: Place = ()  # of the step being played
        self.answer: tuple[str, str | None] | None = None  # to the next dialog
        self.status: int | None = None  # of the last document
        self.dialogs: list[Dialog] = []
        self.lines: dict[str, list[str]] = {"page": [], "console": [], "failed": [], "bad": [], "audit": []}
        self.downloads: list[Download] = []
        self.console: list[tuple[str, str]] = []  # level and text
        self.console_is_cut = False
        self.requests: dict[Request, int | None] = {}  # with the status of the answer
        self.toasts: list[Announced] = []
        self.toasts_since = 0  # the first that came up since the last step that may have caused one
        context.on("dialog", self.on_dialog)
        context.on("weberror", self.on_page_error)
        context.on("console", self.on_console)
        context.on("request", self.on_request)
        context.on("requestfailed", self.on_request_failed)
        context.on("response", self.on_response)
        context.on("page", self.on_page)
        self.on_page(page)

    def on_page(self, page: Page) -> None:
        page.on("download", self.on_download)

    def note(self, kind: str, text: str) -> None:
        lines = self.lines[kind]
        if len(lines) < MOST_LINES:
            lines.append(self.redact(fold(text))[:LONGEST_LINE])

    def on_download(self, download: Download) -> None:
        self.downloads.append(download)

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
            return request.frame == self.tab().main_frame
        except Error:  # of a tab that is just being opened
            return False

    async def watch_toasts(self, css: str | None) -> None:
        """In the tab of the test, and in each that is opened from now on. `css`: the project's own selector."""

        async def watch(page: Page) -> None:
            with contextlib.suppress(Error):
                await note_toasts(page, self.on_toast, css)

        await watch(self.tab())
        self.context.on("page", watch)

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

    def sent(self, request: Request, status: int | None) -> Sent:
        body = request.post_data_buffer or b""
        kind = request.headers.get("content-type", "")
        return Sent(request.method, self.redact(request.url)[:LONGEST_URL], status, fields_of(body, kind, self.redact))


def seen_request(request: Request, status: int | None) -> SeenRequest:
    body = request.post_data_buffer
    text = body[:LONGEST_SEEN].decode("utf-8", "replace") if body is not None else None
    return SeenRequest(request.method, request.url, status, text)
