"""In a real browser: a guarded step does not act on what the project forbids, and the saved steps are as ever."""

from __future__ import annotations

import pytest

from radar.locators import Locator
from tests.browser.conftest import Play, Site, green, red

pytestmark = pytest.mark.browser

SHOP = """
<p id=said></p>
<form onsubmit="said.textContent = 'sent'; return false">
  <input aria-label=Amount><button class=danger>Send</button>
</form>
<button class=danger id=wipe onclick="said.textContent = 'wiped'"><b>Wipe</b></button>
<button id=fine onclick="said.textContent = 'fine'">Fine</button>
"""
FORBIDDEN = (Locator(css=".danger"),)


@pytest.mark.parametrize(
    "step",
    [
        {"click": {"role": "button", "name": "Wipe"}},
        {"click": {"css": "#wipe b"}},
        {"press": {"css": "#wipe", "key": "Enter"}},
        {"press": {"label": "Amount", "key": "Enter"}},
        {"press": {"key": "Enter"}},
        {"drag": {"css": "#fine", "to": {"css": "#wipe"}}},
    ],
    ids=str,
)
async def test_a_guarded_step_does_not_act_on_what_is_forbidden(play: Play, site: Site, step: object) -> None:
    site.show(SHOP)

    done = await play(step, forbidden=FORBIDDEN, guarded=frozenset({(2,)}))

    failed = red(done, "forbidden", "2")
    assert "forbids repairs to use" in failed.message
    assert failed.page is not None
    assert not any(text in ("sent", "wiped") for text in failed.page.texts)


async def test_other_steps_and_other_elements_are_free(play: Play, site: Site) -> None:
    site.show(SHOP)
    wipe, fine = {"click": {"css": "#wipe"}}, {"click": {"css": "#fine"}}

    done = await play(
        wipe,
        {"assert_text": {"css": "#said", "equals": "wiped"}},
        fine,
        {"assert_text": {"css": "#said", "equals": "fine"}},
        forbidden=FORBIDDEN,
        guarded=frozenset({(4,)}),
    )

    green(done)
