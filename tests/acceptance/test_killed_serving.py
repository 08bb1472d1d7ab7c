"""kill -9 of `gardener serve` in the middle of its work: started again, it goes on, and nobody is told too often.

The real process with a real browser and a real SQLite; the app under test and the target of the news are small servers
of ours, which choose the moment: the kill comes while one of their answers is held back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gardener.actions import deliver, running, settling, sweeping, working
from gardener.bootstrap import open_tools
from gardener.runs import RunStatus
from gardener.settings import Settings, read_settings
from gardener.store import saved_tests
from radar import chromium
from tests.builders import a_test

pytestmark = pytest.mark.browser
PATIENCE_S = 240  # a machine that does other things beside
LEASE_S = "2"  # so long after its death a process still seems to be at work
START = (
    "<!doctype html><title>Shop</title><h1>Your basket</h1>"
    "<form action=/order method=post><button id={id}>Pay now</button></form>"
)
THANKS = "<!doctype html><title>Order</title><h1>Order</h1><p role=status>Thank you</p>"
CHECKOUT = a_test(
    {"goto": "/"},
    {"click": {"css": "#pay"}},
    {"assert_text": {"role": "status", "contains": "Thank you"}},
)


@dataclass
class Outside:
    """The app under test and the target of its news: what they were asked, and whom they kill over it."""

    release: int = 1
    asked: list[str] = field(default_factory=list)  # paths of the app
    told: list[str] = field(default_factory=list)  # subjects of the news
    kill_at: Callable[[Outside, str], bool] | None = None
    victim: subprocess.Popen[str] | None = None
    killed: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def met(self, what: str) -> None:
        """Called while the answer is held back; ends the process that waits for it, once."""
        with self.lock:
            if self.victim is not None and self.kill_at is not None and self.kill_at(self, what):
                os.killpg(self.victim.pid, signal.SIGKILL)
                self.victim.wait()
                self.victim = None
                self.killed.set()

    def get(self, path: str) -> str:
        self.asked.append(path)
        self.met(f"GET {path.partition('?')[0]}")
        return THANKS if path.startswith("/thanks") else START.format(id="pay" if self.release == 1 else "submit")

    def order(self) -> None:
        self.met("POST /order")

    def news(self, body: bytes) -> str:
        self.told.append(str(json.loads(body)["title"]))
        self.met("news")
        return "ok"


class Site:
    """The servers, at one address; what they know begins anew with each test."""

    def __init__(self) -> None:
        site, self.known = self, Outside()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(site.known.get(self.path) if self.path != "/favicon.ico" else "")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/order":
                    site.known.order()
                    self.answer("", location="/thanks")
                else:
                    self.answer(site.known.news(body))

            def answer(self, text: str, *, location: str = "") -> None:
                with contextlib.suppress(OSError):  # whoever asked may be dead by now
                    self.send_response(303 if location else 200)
                    self.send_header("location", location)
                    self.send_header("content-type", "text/html")
                    self.send_header("content-length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    made = Site()
    with made.server:
        serving = threading.Thread(target=made.server.serve_forever, daemon=True)
        serving.start()
        yield made
        made.server.shutdown()
        serving.join()


@pytest.fixture(scope="module")
def prepared(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which everything begins; each test works on a copy."""
    if chromium.installed() is None:
        pytest.skip("no Chromium is installed")
    folder = tmp_path_factory.mktemp("prepared")
    asyncio.run(prepare(settings_of(folder), site.address, site.known))
    return folder


def settings_of(folder: Path) -> Settings:
    return read_settings({**os.environ, "GARDENER_LEASE_SECONDS": LEASE_S}, folder, data_dir=str(folder))


async def prepare(settings: Settings, address: str, outside: Outside) -> None:
    """A green test, a baseline and a target; then a release that breaks the test, and a sweep that is asked for."""
    async with open_tools(settings) as tools:
        project = await settling.add_project(tools, "shop", f"http://{address}", "Ada")
        async with tools.store.transaction() as tx:
            await saved_tests.import_test(tx, project.id, CHECKOUT, folder=None, author="Ada", now=tools.now())
        report = await running.run_tests(tools, project, [])
        assert [run.status for run in report.runs] == [RunStatus.GREEN]
        first = await sweeping.ask_for_sweep(tools, project)
        await working.work_until_done(tools, [first.id])
        await deliver.add_target(tools, project, f"json://{address}/news", "all", "Ada")
        outside.release = 2
        outside.asked.clear()
        await sweeping.ask_for_sweep(tools, project)


def serve(settings: Settings) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gardener", "--data-dir", str(settings.data_dir), "serve", "--port", "0"]
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "GARDENER_LEASE_SECONDS": LEASE_S},
    )


def rows(settings: Settings, statement: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(settings.data_dir / "gardener.db", timeout=30)) as connection:
        return connection.execute(statement).fetchall()


def until(holds: Callable[[], bool], what: str) -> None:
    pause = threading.Event()
    for _ in range(PATIENCE_S * 5):
        if holds():
            return
        pause.wait(0.2)  # another process is waited for: there is nothing of it to wait on but its database
    raise AssertionError(f"it never came to this: {what}")


MOMENTS: dict[str, Callable[[Outside, str], bool]] = {
    "in the middle of a sweep": lambda outside, what: what == "GET /",
    # The old test stops before it; only a candidate that is being proved gets there.
    "in the middle of the ladder": lambda outside, what: what == "POST /order",
    "while news is sent": lambda outside, what: what == "news",
    "while the second news is sent": lambda outside, what: what == "news" and len(outside.told) == 2,
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_server_goes_on_and_tells_everybody_of_everything_and_nobody_too_often(
    site: Site, prepared: Path, tmp_path: Path, moment: str
) -> None:
    settings = settings_of(Path(shutil.copytree(prepared, tmp_path / "data")))
    known = site.known = Outside(release=2, kill_at=MOMENTS[moment])

    process = known.victim = serve(settings)
    try:
        until(lambda: known.killed.is_set() or process.poll() is not None, "the kill")
        assert known.killed.is_set()
        assert process.returncode == -signal.SIGKILL
        known.kill_at = None

        process = serve(settings)
        until(lambda: not _unfinished(settings), "everything done and sent")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    _check_work(settings)
    _check_news(settings, known, cut_off="news" in moment)


def _unfinished(settings: Settings) -> list[tuple[Any, ...]]:
    jobs = rows(settings, "SELECT id FROM jobs WHERE state IN ('queued', 'running')")
    return jobs + rows(settings, "SELECT id FROM deliveries WHERE state IN ('waiting', 'sending')")


def _check_work(settings: Settings) -> None:
    """It came to the end it would have come to, once."""
    assert rows(settings, "PRAGMA integrity_check") == [("ok",)]
    assert {state for (state,) in rows(settings, "SELECT state FROM jobs")} == {"done"}
    assert [status for (status,) in rows(settings, "SELECT status FROM sweeps WHERE status != 'failed'")] == [
        "finished",
        "finished",
    ]
    ((status, proven, operations),) = rows(settings, "SELECT status, proven, operations FROM proposals")
    assert (status, proven) == ("proposed", 1)
    assert "submit" in operations or "Pay now" in operations
    assert rows(settings, "SELECT version FROM tests") == [(1,)]  # G12: nobody has approved it


def _check_news(settings: Settings, known: Outside, *, cut_off: bool) -> None:
    kinds = Counter(kind for (kind,) in rows(settings, "SELECT kind FROM events"))
    assert kinds["staged"] == 1
    assert kinds["sweep_finished"] == 2  # the baseline, before anybody was told, and the one that was killed over
    told = rows(
        settings,
        "SELECT e.id, e.kind, d.state, d.tries FROM events e JOIN deliveries d ON d.event = e.id ORDER BY e.id",
    )
    assert {kind for _, kind, _, _ in told} >= {"staged", "sweep_finished"}
    assert len({number for number, *_ in told}) == len(told), "one delivery of each event to the one target"
    assert {state for *_, state, _ in told} == {"delivered"}, "nothing is lost"
    times = Counter(known.told)
    assert sum(tries for *_, tries in told) == len(known.told)
    assert len(times) == len(told)
    # What was cut off in the middle may have arrived: it is sent once more. Everything else is sent once.
    assert sorted(times.values()) == [1] * (len(times) - cut_off) + [2] * cut_off, "never more than twice to a target"
