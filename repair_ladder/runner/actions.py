"""What a step does that is no check."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable
from typing import Final

from playwright.async_api import Error
from playwright.async_api import TimeoutError as BrowserTimeout

from radar.browser import first_line
from radar.elements import fold
from repair_ladder.checks import describe
from repair_ladder.runner.audit import audit
from repair_ladder.runner.elements import keep_off, use_element
from repair_ladder.runner.failures import Failed
from repair_ladder.runner.navigation import LOAD_MS, go, navigate, tab
from repair_ladder.runner.run import POLL_MS, Run
from repair_ladder.runner.witness import LONGEST_LINE, LONGEST_SEEN
from repair_ladder.steps import Step

MOST_SCROLLS: Final = 300
MOST_SHOT: Final = 100_000_000  # bytes of all pictures that the steps of a run ask for


async def act(run: Run, step: Step, written: Step) -> None:
    given = step.parameters
    match step.kind:
        case "goto":
            await go(run, str(given["url"]))
        case "back" | "reload":
            move = run.page.go_back if step.kind == "back" else run.page.reload
            await navigate(run, lambda most_ms: move(timeout=most_ms))
        case "dialog":
            text = given.get("text")
            run.witness.answer = (given["answer"], None if text is None else str(text))
        case "wait":
            await wait(run, step)
        case "set":
            run.values[str(given["into"])] = str(given["value"])
        case "screenshot":
            await shoot(run, step)
        case "scroll":
            await scroll(run, step)
        case "tab":
            await tab(run, step)
        case "a11y_audit":
            await audit(run, step)
        case "press" if step.locator is None:
            keep_off(run, step)
            run.see_painted()
            await run.page.keyboard.press(str(given["key"]))
        case "extract":
            await extract(run, step)
        case _:
            await use_element(run, step, written)


async def shoot(run: Run, step: Step) -> None:
    """The picture that a step asks for, with whatever shows or may show a secret masked."""
    target = await run.one(step) if step.locator else run.page
    picture = await target.screenshot(timeout=run.left_ms(), mask=run.pictures.to_mask(run.page))
    run.pictures.shot_bytes += len(picture)
    if run.pictures.shot_bytes > MOST_SHOT:
        raise Failed("test", f"the screenshots of one run come to more than {MOST_SHOT // 1_000_000} MB")
    name = run.redact(fold(str(step.parameters.get("as", ""))))
    run.pictures.shots.append((name[:LONGEST_LINE], picture))


async def wait(run: Run, step: Step) -> None:
    given = step.parameters
    if "ms" in given:
        await asyncio.sleep(given["ms"] / 1000)
    elif "url" in given:
        await run.until(lambda: run.url_meets(given["url"]), f"the URL {describe(given['url'])}")
    else:
        state = given.get("state", "visible")
        target = run.locating.locate(given["for"])
        try:
            if state == "enabled":
                await target.wait_for(timeout=run.left_ms())
                await run.until(lambda: seen_if(target.is_enabled()), f"{given['for']} enabled")
            else:
                await target.wait_for(state=state, timeout=run.left_ms())
        except BrowserTimeout:
            raise Failed("missing", f"{given['for']} did not become {state}") from None
        except Error as error:
            if "strict mode violation" in error.message:
                raise Failed("many", f"{given['for']} finds several elements") from None
            raise


async def scroll(run: Run, step: Step) -> None:
    box = await run.one(step) if step.locator else run.page.locator(":root")
    given = step.parameters
    if "by" in given:
        await box.evaluate("(e, by) => { e.scrollTop += by; }", given["by"])
        return
    until = run.locating.locate(given["until"])
    # Down from where it is, and once more from the top; a list that loads on the way may need a few looks.
    for start in (None, 0):
        if start is not None:
            await box.evaluate("e => { e.scrollTop = 0; }")
        still = 0
        for _ in range(MOST_SCROLLS):
            if await until.count():
                with contextlib.suppress(Error):
                    await until.first.scroll_into_view_if_needed(timeout=1000)
                return
            moved = await box.evaluate(
                "e => { const was = e.scrollTop; e.scrollTop += Math.max(40, e.clientHeight * 0.8); "
                "return e.scrollTop !== was; }"
            )
            await asyncio.sleep(0.03)
            still = 0 if moved else still + 1
            if still > 5:
                break
    raise Failed("missing", f"{given['until']} did not come into view")


async def extract(run: Run, step: Step) -> None:
    what = str(step.parameters.get("what", "text"))
    if what == "url":
        value = run.address()
    elif step.locator is None:
        value = fold(await run.page.title()) if what == "title" else await downloaded(run, what)
    else:
        target = await run.one(step)
        if what == "text":
            value = fold(await target.inner_text(timeout=run.left_ms()))
        elif what == "value":
            value = await target.input_value(timeout=run.left_ms())
        else:
            value = await target.get_attribute(what, timeout=run.left_ms()) or ""
    run.values[str(step.parameters["into"])] = value


async def downloaded(run: Run, what: str) -> str:
    """The name or the text of the newest file that the app gave, which may still be on its way."""
    while not run.witness.downloads:
        if time.monotonic() > run.deadline:
            raise Failed("missing", "nothing was downloaded")
        await asyncio.sleep(POLL_MS / 1000)
    newest = run.witness.downloads[-1]
    try:
        path = await asyncio.wait_for(newest.path(), max(run.left_ms(), LOAD_MS) / 1000)
    except (Error, TimeoutError) as error:
        why = first_line(error) if isinstance(error, Error) else "it took too long"
        raise Failed("timeout", f"the download of '{newest.suggested_filename}' failed: {why}") from None
    if what == "download":
        return newest.suggested_filename
    with path.open("rb") as file:
        return file.read(LONGEST_SEEN).decode("utf-8", "replace")


async def seen_if(holds: Awaitable[bool]) -> tuple[bool, str]:
    value = await holds
    return value, "enabled" if value else "disabled"
