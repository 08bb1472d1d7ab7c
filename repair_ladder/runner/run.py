"""One run while it goes on: the tab, what is known, what was found, and how long a step may still take."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from playwright.async_api import BrowserContext, Error, Page
from playwright.async_api import Locator as BrowserLocator
from playwright.async_api import TimeoutError as BrowserTimeout

from radar.browser import describe as describe_page
from radar.browser import first_line, kind_of
from radar.elements import PageSnapshot
from radar.locators import Locator
from radar.reading import Look, Reader, Redact
from repair_ladder.checks import below, meets
from repair_ladder.fragments import Scopes
from repair_ladder.outcomes import Played
from repair_ladder.runner.failures import Failed
from repair_ladder.runner.locating import Locating
from repair_ladder.runner.pictures import Pictures
from repair_ladder.runner.witness import Witness
from repair_ladder.stage import Stage
from repair_ladder.steps import Place, Step
from repair_ladder.values import names_in

POLL_MS: Final = 40
READ_MS: Final = 1000  # to read one value of an element that was found
LATE_MS: Final = 5000  # to describe a page that was slow to answer
MAIN_MS: Final = 500  # so long only the main way of a locator is tried
MANY_MS: Final = 1200  # so long several matches may be a page in the middle of a change


class Run:
    def __init__(self, context: BrowserContext, page: Page, stage: Stage, redact: Redact) -> None:
        self.context, self.page, self.stage, self.redact = context, page, stage, redact
        self.values = dict(stage.values)
        self.began = time.monotonic()
        self.deadline = 0.0  # of the step being played
        self.played: list[Played] = []
        self.asked_before: list[int] = []  # for each of them, how many requests there had been when it began
        self.reader = Reader(redact)
        self.looks: list[Look] = []  # at pages that differ
        self.snapshots: list[PageSnapshot] = []  # the same, as far as they have been read
        self.place: Place = ()
        self.target: BrowserLocator | None = None
        self.look: Look | None = None  # the latest at the target
        self.found: tuple[int, int] | None = None  # (snapshot, element) of the step being played
        self.way = 0
        self.scopes = Scopes((), self.values)  # of the fragments being played
        self.painting: tuple[int, Page] | None = None  # the last step, if it loaded a page
        self.witness = Witness(context, page, lambda: self.page, redact)
        self.pictures = Pictures(context, stage)
        self.locating = Locating(lambda: self.page, stage.test_id_attribute)
        context.on("page", self.on_page)
        self.on_page(page)

    def begin(self, place: Place) -> None:
        """Forget what the step before found."""
        self.place = self.witness.place = place
        self.target, self.look, self.found, self.way, self.pictures.shots = None, None, None, 0, []

    def see_painted(self) -> None:
        """Before the page changes again: what the step before loaded has been drawn by now, and not when it ended."""
        if self.painting is not None:
            number, page = self.painting
            self.painting = None
            picture = self.pictures.newest(page)
            self.played[number] = replace(self.played[number], picture=picture)

    def on_page(self, page: Page) -> None:
        page.on("close", self.on_close)

    def on_close(self, page: Page) -> None:
        """The app closed the tab that the test is in: it goes on in the one that opened it, or in the newest."""
        if page is self.page and self.others():
            self.page = self.others()[-1]

    def others(self) -> list[Page]:
        return [one for one in self.context.pages if one is not self.page and not one.is_closed()]

    def has_closed_its_tab(self, tab: Page) -> bool:
        """Did the app close the tab that the step was played in, with another one left to go on in?"""
        return tab.is_closed() and tab is not self.page and not self.page.is_closed()

    def now_ms(self) -> float:
        return round((time.monotonic() - self.began) * 1000, 1)

    def left_ms(self) -> float:
        return max(1.0, (self.deadline - time.monotonic()) * 1000)

    async def pick(self, locator: Locator, *, wait: bool = True) -> BrowserLocator:
        """The first way that finds something; the main one if none does in time.

        On a page that is still being built an alternative may find something before the main way can, so that one gets
        a moment of its own.
        """
        ways = [self.locating.locate(way) for way in locator.ways()]
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
                raise Failed("missing", f"{step.locator} finds nothing") from None
            except Error as error:
                if "strict mode violation" in error.message:
                    if time.monotonic() < patience:
                        await asyncio.sleep(POLL_MS / 1000)
                        continue
                    count = await self.target.count()
                    raise Failed("many", f"{step.locator} finds {count} elements") from None
                if kind_of(error) == "browser":
                    raise
                if self.left_ms() > 1 and "navigation" in error.message:
                    continue  # the page went on while it was being described
                raise Failed("test", f"{step.locator} cannot be used: {first_line(error)}") from None

    async def is_there(self, step: Step, target: BrowserLocator) -> bool:
        try:
            return await target.count() > 0
        except Error as error:
            if kind_of(error) == "browser":
                raise
            raise Failed("test", f"{step.locator} cannot be used: {first_line(error)}") from None

    def remember(self, said: str, *, of_page: bool = False) -> None:
        """Keep what was said of the page. It is read while the browser is busy with what the step does next."""
        self.look = look = self.reader.look(said, self.witness.status)
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

    async def until(self, look: Callable[[], Awaitable[tuple[bool, str]]], wanted: str) -> int:
        """Look until it holds or time is up; what was seen last goes into the failure. Gives the number of looks."""
        for looks in itertools.count(1):
            holds, seen = await look()
            if holds:
                return looks
            if time.monotonic() > self.deadline:
                raise Failed("check", f"expected {wanted}, got {self.quoted(seen)}", observed=seen)
            await asyncio.sleep(POLL_MS / 1000)
        raise AssertionError("unreachable")

    def quoted(self, text: str) -> str:
        """Redacted before it is cut and quoted: half a secret, or one with other quotes in it, is no longer found."""
        text = self.redact(text)
        return repr(text if len(text) <= 200 else text[:197] + "...")

    def address(self) -> str:
        """The URL without the base URL."""
        return below(self.stage.base_url, self.page.url)

    async def url_meets(self, condition: Mapping[str, Any]) -> tuple[bool, str]:
        return meets(condition, self.address(), folded=False), self.address()

    def is_secret(self, value: object) -> bool:
        return any(self.values.get(name) in self.stage.secrets for name in names_in(value))
