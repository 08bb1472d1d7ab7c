"""Settings -> the real Tools; the only place that joins all doors."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from gardener import hooks
from gardener.models import ChosenModel, judge_of, model_of
from gardener.projects import Project
from gardener.settings import Settings
from gardener.store import open_store
from gardener.tools import Tools, Watch, nobody_watches
from radar.errors import PageUnavailable
from radar.reading import Redact
from radar.visits import Again, Visit
from repair_ladder.models import ask_by
from repair_ladder.outcomes import Environment, Outcome
from repair_ladder.ports import Ask
from repair_ladder.stage import OnStep, Stage
from repair_ladder.steps import Steps

if TYPE_CHECKING:
    from radar.browser import Keeper

MODEL_PATIENCE = timedelta(seconds=90)


@asynccontextmanager
async def open_tools(settings: Settings, *, watch: Watch = nobody_watches) -> AsyncIterator[Tools]:
    """Everything an action needs, for as long as it is entered. The browser starts when it is first used.

    What drives it is imported then as well: it takes longer than most commands that need none.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    kept: list[Keeper] = []
    async with AsyncExitStack() as ending, await open_store(settings.database_url) as store:

        async def browser() -> Any:
            """Raises PageUnavailable if none can be started."""
            from radar.browser import Keeper

            if not kept:
                kept.append(Keeper(executable=settings.chromium, endpoint=settings.browser_endpoint))
                await ending.enter_async_context(kept[0])
            return await kept[0].get()

        async def play(steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> Outcome:
            from repair_ladder.runner import replay

            try:
                used = await browser()
            except PageUnavailable as error:
                return Environment("browser", str(error))
            return await replay(used, steps, stage, on_step=on_step)

        async def play_sign_in(steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> tuple[Outcome, Any]:
            from repair_ladder.runner import sign_in

            try:
                used = await browser()
            except PageUnavailable as error:
                return Environment("browser", str(error)), None
            return await sign_in(used, steps, stage, on_step=on_step)

        async def look(
            urls: Sequence[str], *, state: Any, locale: str | None, redact: Redact, again: Again
        ) -> dict[str, Visit | PageUnavailable]:
            from radar.browser import visit_all

            return await visit_all(await browser(), urls, state=state, locale=locale, redact=redact, again=again)

        async def record(project: Project, *, state: Any) -> str:
            from radar import codegen

            return await codegen.record(
                project.base_url + "/",
                environ=settings.environ,
                executable=settings.chromium,
                state=state,
                test_id_attribute=project.settings.test_id_attribute,
                locale=project.settings.locale,
            )

        def ask(project: Project) -> Ask | None:
            chosen = model_of(settings, project)
            # Who names a provider is told when it cannot be asked; without a word, no key means no model.
            if not chosen.can_be_asked and not chosen.is_named:
                return None
            return asker(chosen)

        def judge(project: Project) -> Ask | None:
            chosen = judge_of(settings, project)
            return asker(chosen) if chosen is not None else None

        def asker(chosen: ChosenModel) -> Ask:
            return ask_by(
                chosen.provider,
                key=chosen.key,
                model=chosen.model,
                base_url=chosen.base_url,
                command=settings.claude_command,
                environ=settings.environ,
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
            judge=judge,
            plugins=hooks.load(settings.plugins),
            record=record,
        )
