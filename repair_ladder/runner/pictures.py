"""The pictures of a run: a film of small ones for the timeline, and what none of them may show."""

from __future__ import annotations

import base64
import contextlib
from typing import Any, Final

from playwright.async_api import BrowserContext, Error, Page
from playwright.async_api import Locator as BrowserLocator

from radar.browser import holders
from radar.reading import Look
from repair_ladder.stage import Stage
from repair_ladder.values import ways_to_write

FILM_QUALITY: Final = 50
FILM: Final = {"format": "jpeg", "quality": FILM_QUALITY, "maxWidth": 640, "maxHeight": 360}
PICTURE_MS: Final = 3000
LOADING: Final = frozenset({"goto", "back", "reload"})  # what ends before the page is drawn
MOST_FRAMES: Final = 20  # that a picture is searched for secrets


class Pictures:
    def __init__(self, context: BrowserContext, stage: Stage) -> None:
        self.context, self.stage = context, stage
        self.frames: dict[Page, str] = {}  # the newest picture of each tab, as it came: most are never looked at
        self.pictured: tuple[Look, bytes] | None = None  # the page that the last check saw, and the picture after it
        self.shots: list[tuple[str, bytes]] = []  # that the step being played has asked for
        self.shot_bytes = 0
        self.filled_secrets: list[BrowserLocator] = []

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

    async def after(self, kind: str, page: Page, look: Look | None) -> bytes | None:
        """The page after a step. With secrets in play it is taken for itself, with whatever may show one masked; once
        for checks in a row that saw the same page, for it takes longer than most steps do."""
        if not self.stage.pictures:
            return None
        if not self.stage.secrets:
            return self.newest(page) or (None if kind in LOADING else await self.still(page))
        before, self.pictured = self.pictured, None
        look = look if kind.startswith("assert_") else None
        if before and look and before[0].is_same_page(look):
            self.pictured = before
            return before[1]
        with contextlib.suppress(Error):
            taken = await page.screenshot(
                type="jpeg", quality=FILM_QUALITY, scale="css", mask=self.to_mask(page), timeout=PICTURE_MS
            )
            self.pictured = (look, taken) if look else None
            return taken
        return None

    async def still(self, page: Page) -> bytes | None:
        """Of a page that no film shows yet, because it has held still since before it was filmed. It is not kept for
        the steps to come: it would hide that the page has changed."""
        with contextlib.suppress(Error):
            return await page.screenshot(type="jpeg", quality=FILM_QUALITY, scale="css", timeout=PICTURE_MS)
        return None

    def forget(self, page: Page) -> None:
        """What is seen of a tab so far is not what it is about to load."""
        self.frames.pop(page, None)

    def newest(self, page: Page) -> bytes | None:
        newest = self.frames.get(page)
        return base64.b64decode(newest) if newest else None

    def to_mask(self, page: Page) -> list[BrowserLocator]:
        """Password fields, what a secret was filled into, and whatever else shows or may show one, in all frames."""
        frames = page.frames[:MOST_FRAMES]
        found = [frame.locator("input[type=password]") for frame in frames]
        words = ways_to_write(self.stage.secrets)
        if words:
            found += [one for frame in frames for one in (holders(frame, words), frame.locator("canvas"))]
        return [*found, *self.filled_secrets]
