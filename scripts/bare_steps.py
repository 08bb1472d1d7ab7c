"""The steps of a test as somebody would write them by hand in bare Playwright, to measure ours against."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from playwright.async_api import Dialog, Page, expect

from radar.locators import Locator
from repair_ladder.steps import Step, Steps, walk
from repair_ladder.values import fill_in

BareStep = Callable[[Page, str], Awaitable[object]]
BLOCKS = ("intent", "group")  # their steps come after them


class NotBare(Exception):
    """A step that nothing here knows how to write by hand."""


def bare(steps: Steps, values: Mapping[str, str]) -> tuple[BareStep, ...]:
    """One function a step that is played. Raises NotBare."""
    return tuple(_bare(fill_in(step, values)) for _, step in walk(steps) if step.kind not in BLOCKS)


def find(scope: Any, locator: Locator) -> Any:
    """By its main way alone: nobody writes down the others by hand. Raises NotBare."""
    if locator.frame or locator.has or locator.has_not or locator.regex:
        raise NotBare(f"{locator}")
    if locator.within:
        scope = find(scope, locator.within)
    ((key, value),) = locator.finders()
    match key:
        case "css" | "xpath":
            found = scope.locator(f"{key}={value}")
        case "role":
            name = {} if locator.name is None else {"name": locator.name, "exact": locator.exact}
            found = scope.get_by_role(value, **name)
        case "test_id":
            found = scope.get_by_test_id(value)
        case _:
            found = getattr(scope, f"get_by_{key}")(value, exact=locator.exact)
    if locator.has_text is not None:
        found = found.filter(has_text=locator.has_text)
    return found.nth(locator.nth) if locator.nth is not None else found


def _bare(step: Step) -> BareStep:
    given = step.parameters

    async def play(page: Page, base: str) -> object:
        target: Any = find(page, step.locator) if step.locator else page
        match step.kind:
            case "goto":
                return await page.goto(base + str(given["url"]))
            case "fill":
                return await target.fill(str(given["value"]))
            case "press":
                return await (target if step.locator else page.keyboard).press(str(given["key"]))
            case "select":
                return await target.select_option(label=str(given["option"]))
            case "dialog":

                async def answer(dialog: Dialog) -> None:
                    await (dialog.accept() if given["answer"] == "accept" else dialog.dismiss())

                return page.once("dialog", answer)
            case "assert_url":
                return await expect(page).to_have_url(_pattern(given))
            case "assert_text" if "equals" in given:
                return await expect(target).to_have_text(str(given["equals"]))
            case "assert_text":
                return await expect(target).to_contain_text(str(given["contains"]))
            case "assert_count":
                return await expect(target).to_have_count(int(given["equals"]))
            case "assert_visible" | "assert_hidden":
                return await getattr(expect(target), f"to_be_{step.kind.removeprefix('assert_')}")()
            case _:
                return await getattr(target, step.kind)()

    known = "goto fill press select dialog assert_url assert_text assert_count assert_visible assert_hidden".split()
    if step.kind not in (*known, "click", "check", "uncheck", "hover", "dblclick"):
        raise NotBare(step.kind)
    return play


def _pattern(given: Mapping[str, Any]) -> re.Pattern[str]:
    return re.compile(str(given["matches"]) if "matches" in given else re.escape(str(given["contains"])))
