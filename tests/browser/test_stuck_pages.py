"""A page that answers nothing any more ends its run, and never the worker."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser

from radar.browser import visit_all
from tests.browser.conftest import Play, Site, red

pytestmark = pytest.mark.browser

# The click starts it, so that a slow machine has loaded the page by then.
LOOPS = "<p>x</p><button onclick='setTimeout(() => { while (true) {} }, 500)'>go</button>"
LONG = f"<p>{'a' * 3000}!</p><button>go</button>"


@pytest.mark.parametrize(
    ("page", "step"),
    [
        (LOOPS, {"assert_visible": {"css": "#nope"}}),
        (LOOPS, {"assert_title": {"equals": "never"}}),
        (LOOPS, {"assert_count": {"css": "p", "equals": 3}}),
        (LOOPS, {"assert_console": {"none": True}}),
        (LOOPS, {"screenshot": {}}),
        (LONG, {"assert_text": {"text": "(a|aa)+$", "regex": True, "equals": "x"}}),
    ],
    ids=["visible", "title", "count", "console", "screenshot", "pattern"],
)
async def test_a_step_on_a_page_that_never_answers_is_red(
    play: Play, site: Site, page: str, step: dict[str, Any]
) -> None:
    """Not green, not the browser's fault, and over: before, the worker waited for good."""
    site.show(page)

    async with asyncio.timeout(60):
        outcome = await play(
            {"click": {"css": "button"}, "timeout_ms": 5000},
            {"wait": 1000},
            step,
            step_timeout_ms=300,
            stuck_s=1.5,
            tracing=True,
        )

    assert red(outcome, "timeout" if step != {"assert_visible": {"css": "#nope"}} else outcome.cause).place == (4,)


async def test_a_page_that_never_answers_is_left_out_of_a_sweep(browser: Browser, site: Site) -> None:
    site.show("<p>x</p><script>addEventListener('load', () => { while (true) {} })</script>")

    async with asyncio.timeout(90):
        seen = await visit_all(browser, [f"{site.url}/"])

    assert isinstance(seen[f"{site.url}/"], Exception)
