"""A drift inside a fragment in a real browser: its place, page and evidence, and its repair at each use."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.async_api import Browser

from repair_ladder import fragments
from repair_ladder.climb import Given, Repaired, climb
from repair_ladder.memory import remember
from repair_ladder.outcomes import Outcome
from repair_ladder.runner import Stage, replay
from repair_ladder.step_format import read_steps
from repair_ladder.steps import Steps, show_place
from tests.browser.conftest import Play, Site, green, red

pytestmark = pytest.mark.browser

PAGE = """<h1>Shop</h1><label>Item <input id=item></label>
<button id=add class=primary onclick="p.textContent += item.value + ' '; console.error('added ' + item.value)"
>Add</button>
<button id=clear>Clear</button><p id=p role=status></p>"""
RENAMED = PAGE.replace("id=add", "id=add-to-basket")
ADD = read_steps([{"fill": {"label": "Item", "value": "${item}"}}, {"click": {"css": "#add"}}])
TEST = read_steps(
    [
        {"goto": "/"},
        {"use": {"fragment": "add", "values": {"item": "mug"}}},
        {"use": {"fragment": "add", "values": {"item": "cup"}}},
        {"assert_text": {"role": "status", "equals": "mug cup"}},
    ]
)
WHOLE = fragments.expand(TEST, {"add": ADD})


async def test_a_drift_in_a_fragment_is_mended_at_each_use_as_one_change(browser: Browser, site: Site) -> None:
    async def play(steps: Steps) -> Outcome:
        return await replay(browser, steps, Stage(site.url, step_timeout_ms=3000))

    site.show(PAGE)
    before = green(await play(WHOLE))
    site.show(RENAMED)
    failed = red(await play(WHOLE), "missing", "2.2")

    found = await climb(
        WHOLE, failed, Given(memory=remember(before.trace)), play, now=lambda: datetime(2026, 3, 1, tzinfo=UTC)
    )

    assert isinstance(found, Repaired), found
    assert [(one.op, show_place(one.place)) for one in found.operations] == [("replace", "2.2"), ("replace", "3.2")]
    (change,) = fragments.gathered(WHOLE, found.operations)["add"]
    assert change.place == (2,)
    assert change.new is not None
    assert "add-to-basket" in str(change.new.locator)


async def test_page_and_evidence_of_a_red_step_are_its_own(play: Play, site: Site) -> None:
    site.show(RENAMED.replace("id=item", "id=item value=old"))
    shared = {
        "add": read_steps([{"click": {"css": "#add-to-basket"}}, {"assert_text": {"css": "#p", "equals": "new"}}])
    }

    failed = red(await play({"use": "add"}, fragments=shared), "check", "2.2")

    assert failed.message.startswith("in the fragment 'add', step 2: expected ")
    assert (failed.observed, failed.page is not None, failed.target is not None) == ("old", True, True)
    assert failed.trace.evidence.console_errors == ("added old",)
    assert [show_place(one.place) for one in failed.trace.played] == ["1", "2.1", "2.2"]
    assert failed.trace.seen((2, 1)) is not None


async def test_an_optional_fragment_is_left_where_a_step_of_it_fails(play: Play, site: Site) -> None:
    site.show(PAGE)
    shared = {
        "banner": read_steps([{"click": {"css": "#accept"}, "timeout_ms": 50}, {"click": {"css": "#clear"}}]),
        "add": ADD,
    }

    done = await play(
        {"use": "banner", "optional": True},
        {"use": {"fragment": "add", "values": {"item": "mug"}}},
        {"assert_text": {"role": "status", "equals": "mug"}},
        fragments=shared,
    )
    lost = await play({"use": "banner", "optional": True}, {"use": "banner"}, fragments=shared)

    played = [(show_place(one.place), one.skipped) for one in green(done).trace.played]
    assert played == [("1", False), ("2.1", True), ("3.1", False), ("3.2", False), ("4", False)]
    red(lost, "missing", "3.1")
