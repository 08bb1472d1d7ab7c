"""What steps do, seen from outside: the requests that may change something, and where each step led."""

from __future__ import annotations

import pytest

from repair_ladder.memory import remember
from tests.browser.conftest import Answer, Play, Site, green

pytestmark = pytest.mark.browser

SHOP = """
<form action=/orders method=post>
  <input name=who aria-label=Who><input type=hidden name=csrf_token value=%s><button>Order</button>
</form>
<input type=password aria-label=Password>
<button onclick="fetch('/api/basket', {method: 'POST', headers: {'content-type': 'application/json'},
  body: JSON.stringify({item: 'mug', count: 2, key: document.querySelector('[type=password]').value})})">Add</button>
<button onclick="fetch('/api/basket')">Look</button>
"""


async def test_g27_a_run_remembers_what_each_step_sent_and_where_it_led(play: Play, site: Site) -> None:
    site.show(SHOP % "one")
    site.show("<h1>Thanks</h1>", "/orders")
    site.pages["/api/basket"] = Answer("{}", 201, "application/json")
    steps = (
        {"click": {"role": "button", "name": "Look"}},
        {"click": {"role": "button", "name": "Add"}},
        {"assert_request": {"method": "POST", "url": "/api/basket", "status": 201}},
        {"fill": {"label": "Who", "value": "Ada"}},
        {"click": {"role": "button", "name": "Order"}},
        {"assert_visible": {"role": "heading", "name": "Thanks"}},
    )

    did = remember(green(await play(*steps)).trace).did

    assert did[2,].sent == (), "what only reads changes nothing"
    (added,) = did[3,].sent
    assert (added.method, added.url, added.status) == ("POST", site.url + "/api/basket", 201)
    assert [name for name, _ in added.fields] == ["count", "item", "key"]
    (ordered,) = did[6,].sent
    assert [name for name, _ in ordered.fields] == ["who"], "a token against forgery is another one each time"
    assert (did[6,].url, did[7,].url_after) == (site.url + "/", site.url + "/orders")


async def test_the_same_contents_have_the_same_digest_and_no_secret_has_one(play: Play, site: Site) -> None:
    site.show(SHOP % "one")
    site.pages["/api/basket"] = Answer("{}", 201, "application/json")
    steps = (
        {"fill": {"label": "Password", "value": "${password}"}},
        {"click": {"role": "button", "name": "Add"}},
        {"assert_request": {"url": "/api/basket", "status": 201}},
    )

    async def sent(password: str) -> tuple[tuple[str, str], ...]:
        given = {"values": {"password": password}, "secrets": frozenset({password})}
        (one,) = remember(green(await play(*steps, **given)).trace).did[3,].sent
        return one.fields

    assert await sent("correct horse") == await sent("battery staple"), "what is hidden is the same for all"
