"""What is done with one element of the page, and why it did not come about."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playwright.async_api import Error
from playwright.async_api import Locator as BrowserLocator
from playwright.async_api import TimeoutError as BrowserTimeout

from radar.browser import described_target, first_line, is_gone, kind_of
from radar.locators import Locator
from repair_ladder.harm import forbidden_of, forbidden_to
from repair_ladder.runner.failures import Failed
from repair_ladder.runner.run import POLL_MS, READ_MS, Run
from repair_ladder.steps import Step

# What is done to the described element itself; typing may go on while an app draws its field again and again.
POINTED: Final = frozenset({"click", "hover", "check", "uncheck", "fill", "press", "select"})
DRAG_STEPS: Final = 12  # moves of the pointer on its way: lists that follow it look at each of them
IS_LIST: Final = "e => (e.control ?? e).tagName === 'SELECT'"
# null: no option is called so yet; -1: one that reads so.
PLACE_OF_OPTION: Final = """(e, wanted) => {
    const all = [...((e.control ?? e).options ?? [])], place = all.findIndex((one) => one.value === wanted);
    const fold = (text) => text.trim().replace(/\\s+/g, ' ');
    return place >= 0 ? place : all.some((one) => fold(one.label) === fold(wanted)) ? -1 : null;
}"""


def keep_off(run: Run, step: Step) -> None:
    """Fails instead of acting on what the project forbids its repairs to use."""
    if not run.stage.forbidden or run.place not in run.stage.guarded:
        return
    why = "nobody can tell what it acts on, and the project forbids repairs to use some things"
    if step.locator is not None and run.found is not None:
        run.read_looks()
        page, element = run.snapshots[run.found[0]], run.found[1]
        why = forbidden_to(step, page, element, run.stage.forbidden, run.stage.test_id_attribute)
        to = step.parameters.get("to")
        if not why and isinstance(to, Locator):
            why = forbidden_of(step, page, run.stage.forbidden, run.stage.test_id_attribute)
    if why:
        raise Failed("forbidden", why)


async def use_element(run: Run, step: Step, written: Step) -> None:
    target = await run.one(step)
    run.see_painted()
    keep_off(run, step)
    given = step.parameters
    options: dict[str, Any] = {"timeout": run.left_ms()}
    if step.kind in ("click", "dblclick", "hover", "check", "uncheck"):
        options |= {key: given[key] for key in ("button", "modifiers", "position") if key in given}
        if step.kind in ("hover", "check", "uncheck"):
            options.pop("button", None)
        if step.kind in ("check", "uncheck"):
            options.pop("modifiers", None)
    if step.kind in ("fill", "type") and run.is_secret(written.parameters["value"]):
        run.pictures.filled_secrets.append(target)
    try:
        if run.found is not None and step.kind in POINTED and run.way == 0:
            assert step.locator is not None
            try:
                # It has just been found and described: looking for it again on a large page takes its time.
                await use(run, step, described_target(run.locating.scope(step.locator)), options)
                return
            except Error as error:
                if not is_gone(error):
                    raise
            options["timeout"] = run.left_ms()
        await use(run, step, target, options)
    except Error as error:
        if kind_of(error) == "browser":
            raise
        raise await explain(run, step, target, error) from None


async def use(run: Run, step: Step, target: BrowserLocator, options: dict[str, Any]) -> None:
    given = step.parameters
    match step.kind:
        case "click" | "dblclick" | "hover" | "check" | "uncheck":
            await getattr(target, step.kind)(**options)
        case "fill":
            await fill(run, step, target, options)
        case "type":
            await target.press_sequentially(str(given["value"]), **options)
        case "press":
            await target.press(str(given["key"]), **options)
        case "select" if "value" in given and "option" not in given and "index" not in given:
            await choose(run, step, target, options)
        case "select":
            await target.select_option(**option_of(given), **options)
        case "upload":
            await upload(run, target, files(run, given["files"]), options)
        case "drag":
            await drag(run, target, given["to"], options)
        case _:
            raise AssertionError(step.kind)


async def fill(run: Run, step: Step, target: BrowserLocator, options: dict[str, Any]) -> None:
    """Into a field. A list to choose from is set to the value: recorders write both as one step, and where only an
    ARIA selector is known nobody can tell which it is before the element is seen."""
    try:
        await target.fill(str(step.parameters["value"]), **options)
    except Error as error:
        if "Element is not an <input>" not in error.message or not await target.evaluate(IS_LIST):
            raise
        await choose(run, step, target, options)


async def choose(run: Run, step: Step, target: BrowserLocator, options: dict[str, Any]) -> None:
    """The option of that value, or else of that text: one option may well read as another one's value does."""
    value = str(step.parameters["value"])
    while (place := await target.evaluate(PLACE_OF_OPTION, value, timeout=READ_MS)) is None:
        if time.monotonic() > run.deadline:
            raise Failed("option", f"{step.locator} has no option {option_of(step.parameters)}")
        await asyncio.sleep(POLL_MS / 1000)  # lists are filled late
    wanted: dict[str, Any] = {"label": value} if place < 0 else {"index": place}
    await target.select_option(**wanted, **options | {"timeout": run.left_ms()})


async def upload(run: Run, target: BrowserLocator, paths: list[str], options: dict[str, Any]) -> None:
    """Into a field, or by way of the dialog for files that a button opens."""
    try:
        await target.set_input_files(paths, **options)
    except Error as error:
        if "not an HTMLInputElement" not in error.message:
            raise
        async with run.page.expect_file_chooser(timeout=run.left_ms()) as opening:
            await target.click(timeout=run.left_ms())
        await (await opening.value).set_files(paths, timeout=run.left_ms())


async def drag(run: Run, target: BrowserLocator, to: Locator, options: dict[str, Any]) -> None:
    """With the pointer, in many small moves: what follows the pointer sees it come, HTML5 drops work as well."""
    end = run.locating.locate(to)
    try:
        await end.wait_for(state="attached", timeout=run.left_ms())
    except BrowserTimeout:
        raise Failed("missing", f"{to}, to drag to, finds nothing") from None
    except Error as error:
        if "strict mode violation" not in error.message:
            raise
        raise Failed("many", f"{to}, to drag to, finds {await end.count()} elements") from None
    await target.drag_to(end, steps=DRAG_STEPS, **options)


def files(run: Run, names: Sequence[str]) -> list[str]:
    """Paths of the files of an upload, which lie beside the test or fragment it stands in and nowhere else."""
    inside = run.scopes.names[-1] if run.scopes.names else None
    folder = run.stage.files if inside is None else run.stage.fragment_files.get(inside)
    paths = []
    for name in names:
        path = (folder / name).resolve() if folder else None
        if path is None or folder is None or not path.is_relative_to(folder.resolve()) or not path.is_file():
            raise Failed("test", f"the file '{name}' is not there")
        paths.append(str(path))
    return paths


async def explain(run: Run, step: Step, target: BrowserLocator, error: Error) -> Failed:
    """Why an action on a found element did not come about."""
    text, where = error.message, step.locator
    with contextlib.suppress(Error):
        count = await target.count()
        if count == 0:
            return Failed("missing", f"{where} finds nothing any more")
        if count > 1:
            return Failed("many", f"{where} finds {count} elements")
    if "intercepts pointer events" in text:
        by = re.findall(r"(<[^\n]{0,200}?>)[^\n]* intercepts pointer events", text)
        return Failed("covered", f"{where} is covered by {by[-1] if by else 'another element'}")
    if "did not find some options" in text:
        return Failed("option", f"{where} has no option {option_of(step.parameters)}")
    for words, cause, why in (
        ("element is not visible", "hidden", "cannot be seen"),
        ("element is not enabled", "disabled", "is disabled"),
        ("outside of the viewport", "hidden", "lies outside of what can be scrolled to"),
        ("element is not stable", "timeout", "does not hold still"),
    ):
        if words in text:
            return Failed(cause, f"{where} {why}")  # type: ignore[arg-type]
    if isinstance(error, BrowserTimeout):
        return Failed("timeout", f"{step.kind} on {where} did not end in time")
    return Failed("test", f"{step.kind} on {where}: {first_line(error)}")


def option_of(given: Mapping[str, Any]) -> dict[str, Any]:
    if "index" in given:
        return {"index": given["index"]}
    return {"label": str(given["option"])} if "option" in given else {"value": str(given["value"])}
