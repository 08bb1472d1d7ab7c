"""One Chromium a session, a fresh context a run, and pages served on loopback at a free port."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.async_api import Browser, Page

from radar import chromium
from radar.browser import new_context, open_browser
from repair_ladder.outcomes import Environment, Green, Outcome, Red
from repair_ladder.runner import Stage, replay
from repair_ladder.step_format import read_steps
from repair_ladder.steps import show_place

STEP_MS = 5000  # tests that wait in vain give less


@dataclass(frozen=True)
class Answer:
    body: str | bytes = ""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    method: str
    path: str  # with its query
    body: bytes = b""
    cookie: str = ""


class Site:
    """Pages by path; a function instead of a page answers for itself. Remembers what it was asked."""

    def __init__(self) -> None:
        self.pages: dict[str, str | Answer | Callable[[Asked], str | Answer]] = {}
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a browser that left
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def other_site_url(self) -> str:
        """The same pages under a name that a browser takes for another site."""
        return f"http://localhost:{self.port}"

    def show(self, body: str, path: str = "/") -> None:
        self.pages[path] = f"<!doctype html><html lang=en><title>Shop</title>{body}</html>"

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        found = self.pages.get(asked.path) or self.pages.get(asked.path.partition("?")[0])
        if found is None:
            return Answer("nothing here", 404)
        if callable(found):
            found = found(asked)
        return found if isinstance(found, Answer) else Answer(found)

    def was_asked(self, path: str) -> bool:
        return any(one.path == path for one in self.asked)

    def clear(self) -> None:
        self.pages, self.asked = {"/favicon.ico": Answer("", 204)}, []

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler_for(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            self._respond(Asked("GET", self.path, cookie=self.headers["Cookie"] or ""))

        def do_POST(self) -> None:
            self._respond(
                Asked(
                    "POST",
                    self.path,
                    self.rfile.read(int(self.headers["Content-Length"] or 0)),
                    self.headers["Cookie"] or "",
                )
            )

        def _respond(self, asked: Asked) -> None:
            answer = site.answer(asked)
            body = answer.body if isinstance(answer.body, bytes) else answer.body.encode("utf-8", "surrogatepass")
            with suppress(ConnectionError):
                self.send_response(answer.status)
                for name, value in {"Content-Type": answer.kind, "Content-Length": len(body), **answer.headers}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    if not chromium.find() and not os.environ.get("CI"):
        pytest.skip("no Chromium is installed (scripts/setup installs one)")
    async with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def _site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


@pytest.fixture(scope="session")
def _elsewhere() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


@pytest.fixture
def site(_site: Site) -> Site:
    _site.clear()
    return _site


@pytest.fixture
def elsewhere(_elsewhere: Site) -> Site:
    """A second server: another origin."""
    _elsewhere.clear()
    return _elsewhere


class Play(Protocol):
    async def __call__(self, *steps: Any, **stage: Any) -> Outcome: ...


@pytest.fixture
def play(browser: Browser, site: Site) -> Play:
    """Play steps as a test file has them, `goto: /` before them unless they say where to go."""

    async def played(*steps: Any, **stage: Any) -> Outcome:
        first = () if steps and isinstance(steps[0], dict) and "goto" in steps[0] else ({"goto": "/"},)
        given = {"base_url": site.url, "step_timeout_ms": STEP_MS} | stage
        return await replay(browser, read_steps([*first, *steps]), Stage(**given))

    return played


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    context = await new_context(browser)
    yield await context.new_page()
    await context.close()


def green(outcome: Outcome) -> Green:
    assert isinstance(outcome, Green), said(outcome)
    return outcome


def red(outcome: Outcome, cause: str, step: str | None = None) -> Red:
    assert isinstance(outcome, Red), said(outcome)
    assert outcome.cause == cause, said(outcome)
    if step is not None:
        assert show_place(outcome.place) == step, said(outcome)
    return outcome


def environment(outcome: Outcome, kind: str) -> Environment:
    assert isinstance(outcome, Environment), said(outcome)
    assert outcome.kind == kind, said(outcome)
    return outcome


def said(outcome: Outcome) -> str:
    match outcome:
        case Red():
            return f"red at {show_place(outcome.place)}, {outcome.cause}: {outcome.message}"
        case Environment():
            return f"environment, {outcome.kind}: {outcome.message}"
    return "green"


def texts(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content)
    return folder


def joined(items: Sequence[object]) -> str:
    return "\n".join(map(str, items))
