"""Door to Playwright for running tests: replay steps in a real browser -> Green | Red | Environment."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, BrowserContext, Error, Page

from radar.browser import first_line, new_context, settle
from radar.reading import Redact
from repair_ladder import fragments, traces
from repair_ladder.outcomes import Environment, Green, Outcome, Red
from repair_ladder.runner.fence import Fence
from repair_ladder.runner.player import play
from repair_ladder.runner.run import Run
from repair_ladder.stage import OnStep, Stage
from repair_ladder.steps import Steps, walk
from repair_ladder.values import redactor

TRACE_S: Final = 60.0
MOST_STORED: Final = 20_000_000  # bytes


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
    steps = fragments.expand(steps, stage.fragments)
    try:
        context = await new_context(browser, locale=stage.locale, state=stage.state)
    except Error as error:
        return Environment("browser", f"the browser is gone: {first_line(error)}"), None
    filming: asyncio.Future[None] | None = None
    try:
        run = Run(context, await context.new_page(), stage, redact)
        if stage.fenced_to is not None:
            await Fence(context, stage.fenced_to, run.witness.note).put_up(run.page)
        if any(step.kind == "assert_toast" for _, step in walk(steps)):
            await run.witness.watch_toasts(stage.announced_css.get("toast"))
        if stage.pictures and not stage.secrets:
            filming = asyncio.ensure_future(run.pictures.film(run.page))  # the first step does not wait for it
            context.on("page", run.pictures.film)
        if stage.tracing:
            await context.tracing.start(screenshots=not stage.secrets, snapshots=True)
        outcome = await play(run, steps, on_step)
        if stage.tracing:
            outcome = await _traced(context, outcome, redact, with_secrets=bool(stage.secrets))
        if not keep_state or not isinstance(outcome, Green):
            return outcome, None
        async with asyncio.timeout(stage.stuck_s):
            await settle(run.page)
            return outcome, await _state_of(context, run.page)
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
