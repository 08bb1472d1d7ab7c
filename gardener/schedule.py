"""The clock of a server: which action runs when. Runs until it is cancelled."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from gardener.actions import timing
from gardener.errors import GardenerError
from gardener.tools import Tools

log = logging.getLogger(__name__)
PAUSE_S: Final = 5.0  # between two looks; no schedule is finer than a minute
ALARM_EVERY: Final = timedelta(minutes=1)


async def run_clock(tools: Tools) -> None:
    """Ask for sweeps, suites and digests when they are due, for as long as no other process on this database does.

    Work that is due is only asked for here; a Worker does it. A cancelled clock hands over at once, a killed one when
    its lease is over.
    """
    alarm_at: datetime | None = None
    pause = min(PAUSE_S, tools.settings.lease.total_seconds() / 3)
    try:
        while True:
            try:
                if await timing.take_clock(tools):
                    await timing.look_at_the_clock(tools)
                    now = tools.now()
                    if alarm_at is None or not alarm_at - ALARM_EVERY <= now < alarm_at:
                        alarm_at = now + ALARM_EVERY
                        await timing.raise_alarms(tools)
            except Exception:  # the outermost loop: a database that is busy or away must not end it
                log.exception("The clock could not be looked at; it is looked at again in a moment.")
            await asyncio.sleep(pause)
    finally:
        with suppress(GardenerError):
            await timing.leave_clock(tools)
