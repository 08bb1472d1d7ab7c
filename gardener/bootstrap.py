"""Settings -> the real Tools; the only place that joins all doors."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from gardener.projects import Project
from gardener.settings import Settings
from gardener.store import open_store
from gardener.tools import Tools, Watch, nobody_watches
from radar.browser import Again, Keeper, Visit, visit_all
from radar.errors import PageUnavailable
from radar.reading import Redact
from repair_ladder.outcomes import Environment, Outcome
from repair_ladder.ports import Ask
from repair_ladder.runner import OnStep, Stage, replay, sign_in
from repair_ladder.steps import Steps

MODEL_PATIENCE = timedelta(seconds=90)


@asynccontextmanager
async def open_tools(settings: Settings, *, watch: Watch = nobody_watches) -> AsyncIterator[Tools]:
    """Everything an action needs, for as long as it is entered. The browser starts when it is first used."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    keeper = Keeper(executable=settings.chromium, endpoint=settings.browser_endpoint)
    async with keeper, await open_store(settings.database_url) as store:

        async def play(steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> Outcome:
            try:
                browser = await keeper.get()
            except PageUnavailable as error:
                return Environment("browser", str(error))
            return await replay(browser, steps, stage, on_step=on_step)

        async def play_sign_in(steps: Steps, stage: Stage) -> tuple[Outcome, Any]:
            try:
                browser = await keeper.get()
            except PageUnavailable as error:
                return Environment("browser", str(error)), None
            return await sign_in(browser, steps, stage)

        async def look(
            urls: Sequence[str], *, state: Any, locale: str | None, redact: Redact, again: Again
        ) -> dict[str, Visit | PageUnavailable]:
            return await visit_all(await keeper.get(), urls, state=state, locale=locale, redact=redact, again=again)

        def ask(project: Project) -> Ask | None:
            if not settings.anthropic_api_key:
                return None
            # Its SDK takes most of a second to import, and most commands never ask.
            from repair_ladder.models.anthropic import DEFAULT_MODEL, anthropic_ask

            return anthropic_ask(
                key=settings.anthropic_api_key,
                model=project.settings.model or settings.model or DEFAULT_MODEL,
                base_url=project.settings.model_base_url or settings.anthropic_base_url,
                timeout=MODEL_PATIENCE,
            )

        yield Tools(
            settings=settings,
            store=store,
            replay=play,
            sign_in=play_sign_in,
            look=look,
            ask=ask,
            now=lambda: datetime.now(UTC),
            worker=f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}",
            watch=watch,
        )
