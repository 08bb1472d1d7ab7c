"""In a real browser: a block whose pages were joined is derived again, and what it sends confirms it (G21, G27)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.async_api import Browser

from repair_ladder.climb import Given, Repaired, climb
from repair_ladder.intents import INTENT, UNCONFIRMED
from repair_ladder.memory import remember
from repair_ladder.operations import apply_operations
from repair_ladder.outcomes import Outcome
from repair_ladder.runner import Stage, replay
from repair_ladder.step_format import read_steps
from repair_ladder.steps import Steps
from tests.browser.conftest import Site, green, red

pytestmark = pytest.mark.browser

# One page of the app: what is asked for first is kept by the page until it is sent.
TWO_STEPS = """<main><h1>Order a mug</h1><form id=f method=post action=/orders>
  <div id=one><label>Full name <input name=name></label>
    <button type=button onclick="one.hidden = true; two.hidden = false">Next</button></div>
  <div id=two hidden><label>Town <input name=town></label><button>Save</button></div></form></main>"""
ONE_STEP = """<main><h1>Order a mug</h1><form method=post action={action}>
  <label>Full name <input name=name></label><label>Town <input name=town></label><button>Save</button></form></main>"""
STEPS = read_steps(
    [
        {"goto": "/"},
        {
            "intent": {
                "goal": "order a mug for Ada",
                "values": {"name": "Ada"},
                "steps": [
                    {"fill": {"label": "Full name", "value": "Ada"}},
                    {"click": {"role": "button", "name": "Next"}},
                    {"fill": {"label": "Town", "value": "Berlin"}},
                    {"click": {"role": "button", "name": "Save"}},
                ],
            }
        },
    ]
)


@pytest.mark.parametrize(("action", "doubt"), [("/orders", ""), ("/drafts", UNCONFIRMED)])
async def test_g27_a_block_is_confirmed_by_what_it_sends(browser: Browser, site: Site, action: str, doubt: str) -> None:
    stage = Stage(site.url, step_timeout_ms=3000)

    async def play(steps: Steps) -> Outcome:
        return await replay(browser, steps, stage)

    site.show(TWO_STEPS)
    for path in ("/orders", "/drafts"):
        site.show("<h1>Thanks</h1>", path)
    known = remember(green(await play(STEPS)).trace)
    site.show(ONE_STEP.format(action=action))
    failed = red(await play(STEPS), "missing", "2.2")

    found = await climb(STEPS, failed, Given(memory=known), play, now=lambda: datetime(2026, 3, 1, tzinfo=UTC))

    assert isinstance(found, Repaired), found
    assert (found.strategy, found.doubt) == (INTENT, doubt)
    block = apply_operations(STEPS, found.operations)[1]
    assert [one.kind for one in block.steps] == ["fill", "fill", "click"]
    sent = [one for one in site.asked if one.method == "POST"]
    assert {one.body for one in sent} == {b"name=Ada&town=Berlin"}
    assert sent[-1].path == action
