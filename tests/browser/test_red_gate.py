"""The red gate and control runs in a real browser: every kind of check that is played goes red when it is falsified."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from repair_ladder import gate
from repair_ladder.falsify import falsified
from repair_ladder.memory import Memory
from repair_ladder.operations import Operations
from repair_ladder.outcomes import Outcome, Red
from repair_ladder.runner import Stage, replay
from repair_ladder.step_format import read_steps
from repair_ladder.steps import Steps, walk
from tests.browser.conftest import Site
from tests.builders import a_replacement

pytestmark = pytest.mark.browser

PAGE = """<h1>Basket</h1><p id=total>Total: 42</p><input id=name value=Ada><input id=off disabled><a href=/orders>O</a>
<ul><li>1<li>2</ul><p id=away hidden>gone</p><button id=pay onclick="location.hash='paid'">Pay</button>
<p id=late></p><script>setTimeout(() => { document.getElementById('late').textContent = 'ready' }, 400)</script>"""
CHECKED = read_steps(
    [
        {"goto": "/"},
        {"assert_text": {"css": "#late", "equals": "ready"}},
        {"click": {"css": "#pay"}},
        {"wait": {"url": {"contains": "paid"}}},
        {"assert_url": {"contains": "#paid"}},
        {"assert_title": {"equals": "Shop"}},
        {"assert_value": {"css": "#name", "equals": "Ada"}},
        {"assert_attribute": {"css": "a", "attribute": "href", "contains": "/orders"}},
        {"assert_count": {"css": "li", "equals": 2}},
        {"assert_visible": {"css": "h1"}},
        {"assert_hidden": {"css": "#away"}},
        {"assert_enabled": {"css": "#name"}},
        {"assert_disabled": {"css": "#off"}},
    ]
)
RENAMED: Operations = (a_replacement(3, {"click": {"role": "button", "name": "Pay"}}),)


async def test_every_kind_of_check_goes_red_when_it_is_falsified(browser: Browser, site: Site) -> None:
    site.show(PAGE)
    checks = [place for place, step in walk(CHECKED) if falsified(step)]
    assert len(checks) == 11 <= gate.MOST_PROBES

    async def play(steps: Steps) -> Outcome:
        return await replay(browser, steps, Stage(site.url))

    control = await gate.control(CHECKED, play)
    proof = await gate.prove_with_red(CHECKED, RENAMED, gate.Known(Memory()), play)

    assert control is not None
    assert set(control.falsified) == set(checks)
    assert control.green == ()
    assert control.is_sensitive
    assert isinstance(control.outcome, Red)
    assert isinstance(proof, gate.WrongElement | gate.Proof), "each of the real checks held, those after a wait too"
    places = [one.place for one in proof.run.trace.played]
    assert places == [place for place, _ in walk(CHECKED)], "and the run is told as if nothing had been put in"


OTHERS = read_steps(
    [
        {"goto": "/"},
        {"assert_checked": {"label": "Agreed"}},
        {"assert_checked": {"role": "switch", "name": "Loud"}},
        {"a11y_audit": {"css": "#good", "threshold": 0}},
        {"a11y_audit": {"css": "#good", "rules": ["image-alt"], "threshold": "minor"}},
    ]
)


async def test_g39_g41_a_box_and_an_audit_go_red_when_they_are_falsified(browser: Browser, site: Site) -> None:
    site.show("""<main><h1>Shop</h1><label><input type=checkbox checked>Agreed</label>
      <button role=switch aria-checked=true>Loud</button><p id=good>fine</p></main>""")

    async def play(steps: Steps) -> Outcome:
        return await replay(browser, steps, Stage(site.url))

    control = await gate.control(OTHERS, play)

    assert control is not None
    assert control.falsified == ((2,), (3,), (4,), (5,))
    assert control.green == ()
    assert control.is_sensitive, control.outcome
