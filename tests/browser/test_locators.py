"""Locators mean what they mean in Playwright."""

from __future__ import annotations

from typing import Any

import pytest

from radar.at_risk import resolve_ways
from radar.locators import read
from tests.browser.conftest import Play, Site, green, red

pytestmark = pytest.mark.browser

PAGE = """<main>
<button id=save>Save order</button><button id=save2 aria-label='Save'>x</button><button id=off hidden>Save it</button>
<label>E-mail <input id=mail placeholder='you@example.com' title='Your address'></label>
<img id=logo alt='Harbour Pottery' width=10 height=10><p id=text>Hello <b>big</b> world</p>
<a id=link href=/ data-testid=home data-qa=qa-home>Home</a>
<table><tr id=r1><td>Blue mug<td><button id=b1>Remove</button>
<tr id=r2><td>Red mug<td><button id=b2>Remove</button></table>
<div id=host></div></main><script>
host.attachShadow({ mode: 'open' }).innerHTML = '<section><button id=deep class=in>Deep</button></section>';</script>"""

ONE = [
    ({"role": "button", "name": "Save order"}, "save"),
    ({"role": "button", "name": "save ORD"}, "save"),
    ({"role": "button", "name": "Save", "exact": True}, "save2"),
    ({"label": "e-mail"}, "mail"),
    ({"label": "E-mail", "exact": True}, "mail"),
    ({"placeholder": "you@"}, "mail"),
    ({"title": "your addr"}, "mail"),
    ({"text": "hello big"}, "text"),
    ({"text": "Hello big world", "exact": True}, "text"),
    ({"alt": "harbour"}, "logo"),
    ({"test_id": "home"}, "link"),
    ({"css": "main > a[href]"}, "link"),
    ({"css": "#host .in"}, "deep"),
    ({"role": "button", "name": "Deep"}, "deep"),
    ({"xpath": "//a[text()='Home']"}, "link"),
    ({"css": "button", "nth": 0}, "save"),
    ({"css": "main button", "nth": -1}, "deep"),
    ({"css": "button", "has_text": "order"}, "save"),
    ({"role": "button", "name": "Remove", "within": {"role": "row", "has_text": "Red"}}, "b2"),
    ({"css": "button", "within": {"css": "tr", "nth": 0}}, "b1"),
    ({"role": "button", "css": "#save2"}, "save2"),
    ({"css": "#gone", "alternatives": [{"text": "never"}, {"css": "#link"}]}, "link"),
    ({"role": "button", "name": "^Save$", "regex": True}, "save2"),
    ({"role": "button", "name": "(?i)^save ord", "regex": True}, "save"),
    ({"text": "^Hello\\s+big", "regex": True}, "text"),
    ({"text": "(?i)hello BIG w.rld", "regex": True}, "text"),
    ({"label": "(?i)e-m[a]il", "regex": True}, "mail"),
    ({"placeholder": "@example\\.com$", "regex": True}, "mail"),
    ({"alt": "^Harbour", "regex": True}, "logo"),
    ({"title": "addr.s+", "regex": True}, "mail"),
    ({"test_id": "^ho", "regex": True}, "link"),
    ({"css": "tr", "has_text": "^Red", "regex": True}, "r2"),
    ({"css": "tr", "has_not_text": "blue"}, "r2"),
    ({"css": "tr", "has": {"css": "#b1"}}, "r1"),
    ({"css": "tr", "has": {"role": "button"}, "has_not": {"css": "#b1"}}, "r2"),
    ({"css": "button", "has_text": "Save", "visible": False}, "off"),
    ({"css": "button", "has_text": "Save", "visible": True}, "save"),
    ({"css": ":scope", "has_text": "Red", "within": {"css": "tr", "nth": 1}}, "r2"),
    ({"css": ":scope:not(:checked)", "within": {"css": "#mail"}}, "mail"),
    ({"css": ":scope:not([readonly])", "within": {"label": "E-mail"}}, "mail"),
    ({"css": ":scope[title]", "within": {"label": "E-mail"}}, "mail"),
    ({"css": ":scope:is(:disabled, [placeholder])", "within": {"label": "E-mail"}}, "mail"),
    ({"css": ":scope", "has_text": "Deep", "within": {"css": "#deep"}}, "deep"),
]


@pytest.mark.parametrize(("locator", "wanted"), ONE)
async def test_a_locator_finds_its_element(play: Play, site: Site, locator: dict[str, Any], wanted: str) -> None:
    site.show(PAGE)

    done = green(await play({"assert_attribute": {**locator, "attribute": "id", "equals": wanted}}))

    page, target = done.trace.seen((2,)) or pytest.fail("the step remembers its element")
    assert page.elements[target].get("id") == wanted
    assert resolve_ways(read(locator), page, "data-testid") == (target,), "a snapshot answers what the browser did"


@pytest.mark.parametrize(
    ("locator", "cause"),
    [
        ({"role": "button", "name": "Save"}, "many"),
        ({"role": "button", "name": "save", "exact": True}, "missing"),
        ({"role": "button", "name": "Save it"}, "missing"),
        ({"css": "button"}, "many"),
        ({"css": "button", "nth": 9}, "missing"),
        ({"xpath": "//button[@id='deep']"}, "missing"),
        ({"text": "hello", "exact": True}, "missing"),
        ({"css": "button", "within": {"css": "tr"}}, "many"),
        ({"css": "button", "frame": [{"css": "iframe"}]}, "missing"),
        ({"css": "#gone", "alternatives": [{"css": "#gone2"}]}, "missing"),
        ({"css": "a >"}, "test"),
        ({"xpath": "//a[["}, "test"),
    ],
)
async def test_none_or_several_is_an_error(play: Play, site: Site, locator: dict[str, Any], cause: str) -> None:
    site.show(PAGE)

    red(await play({"click": locator}, step_timeout_ms=250), cause, "2")


async def test_a_test_id_may_stand_in_another_attribute(play: Play, site: Site) -> None:
    site.show(PAGE)

    green(await play({"assert_visible": {"test_id": "qa-home"}}, test_id_attribute="data-qa"))
    red(
        await play({"assert_visible": {"test_id": "home"}}, test_id_attribute="data-qa", step_timeout_ms=200), "missing"
    )


async def test_the_way_that_found_it_is_noted(play: Play, site: Site) -> None:
    site.show(PAGE)

    done = await play({"click": {"css": "#gone", "alternatives": [{"css": "#gone2"}, {"css": "#link"}]}})

    assert green(done).trace.played[1].way == 2


async def test_an_alternative_is_waited_for_like_the_main_way(play: Play, site: Site) -> None:
    site.show("<script>setTimeout(() => document.body.innerHTML = '<b id=late>x</b>', 300)</script>")

    green(await play({"click": {"css": "#gone", "alternatives": [{"css": "#late"}]}}))


async def test_an_alternative_that_finds_something_first_does_not_win_over_a_main_way_that_is_late(
    play: Play, site: Site
) -> None:
    """The page is still being built: the other button is there before the one that is meant."""
    site.show(
        "<button class=b>Cancel</button>"
        "<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button id=late>Go</button>'), 150)"
        "</script>"
    )

    done = await play({"click": {"css": "#late", "alternatives": [{"css": ".b"}]}})

    assert green(done).trace.played[1].way == 0
