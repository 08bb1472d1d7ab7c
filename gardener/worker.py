"""A further process that does the jobs of a database until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gardener.actions import working
from gardener.errors import GardenerError
from gardener.store import jobs
from gardener.tools import Tools

log = logging.getLogger(__name__)
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Worker:
    """Claims jobs and does them. A signal stops it: what it has begun is put back for the next one."""

    def __init__(self, tools: Tools) -> None:
        self._watch = tools.watch
        self.tools = replace(tools, watch=self._note)
        self._job: int | None = None
        self._knock = asyncio.Event()

    def knock(self) -> None:
        """There is new work: do not wait until the next look."""
        self._knock.set()

    async def _note(self, what: str, details: dict[str, Any]) -> None:
        if what == "job":
            self._job = int(details["job"])
        await self._watch(what, details)

    async def run(self, *, once: bool, poll_s: float) -> bool:
        """Until a signal, or with `once` until no job is left that may run now. Was it a signal that ended it?"""
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for one in SIGNALS:
            loop.add_signal_handler(one, self._stop(stopped))
        work = asyncio.ensure_future(self._work(once, poll_s))
        wait = asyncio.ensure_future(stopped.wait())
        try:
            await asyncio.wait({work, wait}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            return stopped.is_set()
        finally:
            wait.cancel()
            work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await work
            for one in SIGNALS:
                loop.remove_signal_handler(one)

    def _stop(self, stopped: asyncio.Event) -> Callable[[], None]:
        def stop() -> None:
            stopped.set()
            loop = asyncio.get_running_loop()
            # A Ctrl-C reaches the browser's driver as well; what is left of it in the loop has nothing more to tell.
            loop.set_exception_handler(lambda *_: None)
            for one in SIGNALS:  # who asks a second time does not want to wait
                loop.remove_signal_handler(one)

        return stop

    async def run_until_cancelled(self, *, poll_s: float) -> None:
        """For a process that does other things beside. What was begun when it is cancelled is put back."""
        await self._work(False, poll_s)

    async def _work(self, once: bool, poll_s: float) -> None:
        try:
            await self._work_on(once, poll_s)
        finally:
            await asyncio.shield(self._put_back())

    async def _work_on(self, once: bool, poll_s: float) -> None:
        while True:
            try:
                did = await working.work_once(self.tools)
                self._job = None
            except Exception:  # the outermost loop: one job's trouble, or a database that is busy, must not end it
                log.exception("A job broke off; it is taken up again when its lease is over.")
                self._job = None
                did = False
                if once:
                    raise
            if not did:
                if once:
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._knock.wait(), poll_s)
                self._knock.clear()

    async def _put_back(self) -> None:
        """What was cut off waits again at once. Where that fails, its lease ends and brings it back."""
        if self._job is None:
            return
        with suppress(GardenerError):
            async with self.tools.store.transaction() as tx:
                await jobs.put_back(tx, self._job, self.tools.worker, not_before=self.tools.now())
