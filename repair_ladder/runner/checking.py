"""The checks of a test, looked at until they hold or time is up."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from playwright.async_api import Error
from playwright.async_api import TimeoutError as BrowserTimeout

from radar.announced import Kind
from radar.browser import describe as describe_page
from radar.browser import kind_of, shown_now
from radar.elements import fold
from radar.reading import VISIBLE
from repair_ladder.checks import SeenRequest, announced_meets, console_meets, describe, meets, request_meets
from repair_ladder.falsify import UNCHECKED
from repair_ladder.runner.failures import Failed
from repair_ladder.runner.run import READ_MS, Run
from repair_ladder.runner.witness import MOST_SEEN, seen_request
from repair_ladder.steps import Step


async def check(run: Run, step: Step) -> None:
    what, given = step.kind.removeprefix("assert_"), step.parameters
    match what:
        case "url":
            await run.until(lambda: run.url_meets(given), f"a URL that {describe(given)}")
        case "title":

            async def title() -> tuple[bool, str]:
                seen = await run.page.title()
                return meets(given, seen), fold(seen)

            await run.until(title, f"a title that {describe(given)}")
        case "variable":
            seen = run.values.get(str(given["variable"]), "")
            if not meets(given, seen):
                raise Failed("check", f"expected {given['variable']} that {describe(given)}, got {run.quoted(seen)}")
        case "hidden" | "count":
            await check_many(run, step, what)
        case "toast" | "modal" | "validation_error":
            await check_announced(run, what, given)
        case "console":
            await check_console(run, given)
        case "request":
            await check_request(run, given)
        case _:
            await check_one(run, step, what)


async def check_announced(run: Run, kind: Kind, given: Mapping[str, Any]) -> None:
    """Something announced, shown now; of toasts also one that came up since the last action and is gone again."""
    name = kind.replace("_", " ")
    css = run.stage.announced_css.get(kind)

    async def look() -> tuple[bool, str]:
        try:
            shown = await shown_now(run.page, kind, css)
        except BrowserTimeout:
            shown = ()
        except Error as error:
            if css and "is not a valid selector" in error.message:
                raise Failed("test", f"the project's selector for a {name}, '{css}', is none") from None
            if kind_of(error) == "browser":
                raise
            shown = ()
        if kind == "toast":
            shown = (*run.witness.toasts[run.witness.toasts_since :], *shown)
        texts = list(dict.fromkeys(one.text for one in shown))
        return any(announced_meets(given, one) for one in shown), " | ".join(texts) or f"no {name}"

    await run.until(look, f"a {name} that {describe(given)}" if describe(given) else f"a {name}")
    await run.remember_page()


async def check_console(run: Run, given: Mapping[str, Any]) -> None:
    async def look() -> tuple[bool, str]:
        lines = [f"{level}: {text}" for level, text in run.witness.console if console_meets(given, level, text)]
        if given.get("none"):
            cut = f"more than {MOST_SEEN} lines, not all of which were kept" if run.witness.console_is_cut else ""
            return not lines and not cut, " | ".join(lines[:5]) or cut or "none"
        return bool(lines), f"{len(run.witness.console)} other lines" if run.witness.console else "nothing"

    with contextlib.suppress(Error):
        await run.page.evaluate("0")  # what was written before has been told before this is answered
    if given.get("none"):
        run.deadline = 0.0  # a line that was written does not go away
    await run.until(look, f"the console {in_words(given)}")
    await run.remember_page()


async def check_request(run: Run, given: Mapping[str, Any]) -> None:
    async def look() -> tuple[bool, str]:
        seen = [seen_request(request, status) for request, status in run.witness.requests.items()]
        holds = any(request_meets(given, one, base_url=run.stage.base_url) for one in seen)
        near = [one for one in seen if is_near(run, given, one)] or seen
        return holds, " | ".join(f"{one.method} {one.url} answered {one.status}" for one in near[-3:]) or "none"

    await run.until(look, f"a request with {in_words(given)}")
    await run.remember_page()


def is_near(run: Run, given: Mapping[str, Any], seen: SeenRequest) -> bool:
    where = {key: given[key] for key in ("url",) if key in given} or {
        key: given[key] for key in ("method",) if key in given
    }
    return request_meets(where, seen, base_url=run.stage.base_url)


async def check_many(run: Run, step: Step, what: str) -> None:
    assert step.locator is not None
    run.target = found = await run.pick(step.locator, wait=False)

    async def hidden() -> tuple[bool, str]:
        shown = await found.filter(visible=True).count()
        return not shown, f"{shown} visible" if shown else "hidden"

    async def count() -> tuple[bool, str]:
        number = await found.count()
        return meets(step.parameters, number), str(number)

    if what == "hidden":
        await run.until(hidden, f"{step.locator} hidden")
    else:
        await run.until(count, f"a count of {step.locator} that {describe(step.parameters)}")
    await run.remember_page()


async def check_one(run: Run, step: Step, what: str) -> None:
    given = step.parameters
    target = await run.one(step, f"attribute:{given['attribute']}" if what == "attribute" else what)
    if holds_at_first_sight(run, what, given):
        return

    async def look() -> tuple[bool, str]:
        try:
            match what:
                case "text":
                    seen = fold(await target.inner_text(timeout=READ_MS))
                    return meets(given, seen), seen
                case "value":
                    seen = await target.input_value(timeout=READ_MS)
                    return meets(given, seen, folded=False), seen
                case "attribute":
                    seen = await target.get_attribute(str(given["attribute"]), timeout=READ_MS) or ""
                    return meets(given, seen, folded=False), seen
                case _:
                    is_so = await getattr(target, f"is_{what}")()
                    return is_so != bool(given.get(UNCHECKED)), what if is_so else f"not {what}"
        except BrowserTimeout:
            return False, "nothing"

    wanted = f"{step.locator} {what} that {describe(given)}" if describe(given) else f"{step.locator} {what}"
    looks = await run.until(look, wanted)
    if run.stage.record and looks > 1:
        with contextlib.suppress(Error):  # the page as the check saw it, not as it was before it held
            run.remember(await describe_page(target, known=run.reader.known, timeout_ms=1000))


def holds_at_first_sight(run: Run, what: str, given: Mapping[str, Any]) -> bool:
    """Does the check hold on the page as it was remembered? False also means: not known."""
    if run.look is None or run.look.target is None:
        return False
    if what == "visible":
        return bool(run.look.page["elements"][run.look.target][8] & VISIBLE)
    return run.look.seen is not None and meets(given, run.look.seen, folded=what == "text")


def in_words(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value!r}" if not isinstance(value, bool) else key for key, value in given.items())
