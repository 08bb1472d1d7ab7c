"""A real browser and an app with sessions: what signing in leaves is enough for the next test, until it ends."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from gardener.actions import entrusting
from gardener.projects import ProjectSettings
from gardener.runs import RunStatus
from gardener.settings import Settings
from gardener.store import baselines, open_store, pages, projects, saved_tests
from gardener.tools import Tools
from radar.browser import visit_all
from repair_ladder.formats import Secret, WrittenTest
from repair_ladder.runner import replay, sign_in
from tests.browser.conftest import Answer, Asked, Site
from tests.builders import steps_of
from tests.fakes import Clock, Watching, World

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"
PAGE = "<!doctype html><html lang=en><title>Shop</title>{}</html>"
FORM = PAGE.format(
    "<form method=post action=/login><label>Password <input name=password type=password></label><button>Sign in"
    "</button></form>"
)
# Who is signed in is known by a cookie, by the local storage and by a database of the browser: all three are needed.
HELLO = PAGE.format("""<h1>Hello</h1><a href=/orders>Orders</a><script>
    localStorage.setItem('token', 'token-of-ada-0123456789');
    const asked = indexedDB.open('shop', 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('keys');
    asked.onsuccess = () => { const put = asked.result.transaction('keys', 'readwrite');
      put.objectStore('keys').put('ada', 'who'); put.oncomplete = () => { document.body.id = 'kept'; }; };
    </script>""")
ORDERS = PAGE.format("""<h1>Orders</h1><p id=who>nobody</p><p id=sid>SID</p><script>
    const asked = indexedDB.open('shop', 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('keys');
    asked.onsuccess = () => { const got = asked.result.transaction('keys').objectStore('keys').get('who');
      got.onsuccess = () => { document.getElementById('who').textContent =
        (got.result || 'nobody') + (localStorage.getItem('token') ? ' with a token' : ''); }; };
    </script>""")


class SessionApp:
    """Behind /orders is who has a session that was not ended; others are sent to /login."""

    def __init__(self, site: Site) -> None:
        self.site, self.sessions, self.made = site, set[str](), 0
        site.pages |= {"/login": self.login, "/hello": HELLO, "/orders": self.orders}

    def login(self, asked: Asked) -> Answer:
        if asked.method == "GET" or b"password=correct+horse+battery" not in asked.body:
            return Answer(FORM)
        self.made += 1
        session = f"session-{self.made}-0123456789"
        self.sessions.add(session)
        return Answer("", 303, headers={"Location": "/hello", "Set-Cookie": f"sid={session}; HttpOnly; Path=/"})

    def orders(self, asked: Asked) -> Answer:
        found = SimpleCookie(asked.cookie).get("sid")
        if found is None or found.value not in self.sessions:
            return Answer("", 302, headers={"Location": "/login"})
        return Answer(ORDERS.replace("SID", found.value))


@pytest.fixture
async def world(browser: Browser, site: Site, tmp_path: Path) -> AsyncIterator[World]:
    url = f"sqlite:///{tmp_path / 'gardener.db'}"
    clock, watch = Clock(), Watching()

    async def play(steps: Any, stage: Any, *, on_step: Any = None) -> Any:
        return await replay(browser, steps, stage, on_step=on_step)

    async def play_sign_in(steps: Any, stage: Any, *, on_step: Any = None) -> Any:
        return await sign_in(browser, steps, stage, on_step=on_step)

    async def look(urls: Any, **how: Any) -> Any:
        return await visit_all(browser, urls, **how)

    async with await open_store(url) as store:
        async with store.transaction() as tx:
            settings = ProjectSettings(sign_in="sign in", step_timeout_ms=2000)
            project = await projects.add(tx, "shop", site.url, now=clock(), settings=settings)
            for test in (SIGN_IN, SEE_ORDERS):
                await saved_tests.import_test(tx, project.id, test, folder=None, author="Ada", now=clock())
        tools = Tools(
            settings=Settings(database_url=url, data_dir=tmp_path / "data"),
            store=store,
            replay=play,
            sign_in=play_sign_in,
            look=look,
            ask=lambda project: None,
            now=clock,
            worker="worker-1",
            watch=watch,
        )
        await entrusting.set_secret(tools, project, "SHOP_PASSWORD", PASSWORD, "Ada")
        yield World(tools, None, clock, watch, project)  # type: ignore[arg-type]  # a real browser in the app's place


SIGN_IN = WrittenTest(
    "sign in",
    steps_of(
        {"goto": "/login"},
        {"fill": {"label": "Password", "value": "${password}"}},
        {"click": {"role": "button", "name": "Sign in"}},
        {"wait": {"for": {"css": "#kept"}}},
    ),
    variables={"password": Secret("SHOP_PASSWORD")},
)
SEE_ORDERS = WrittenTest(
    "orders", steps_of({"goto": "/orders"}, {"assert_text": {"css": "#who", "equals": "ada with a token"}})
)


async def test_cookies_and_both_storages_are_kept_renewed_and_seen_by_nobody(
    world: World, site: Site, tmp_path: Path
) -> None:
    app = SessionApp(site)

    first = (await world.run()).runs
    swept = await world.sweep()
    app.sessions.clear()
    renewed = (await world.run("orders")).runs
    app.sessions.clear()
    swept_again = await world.sweep()

    assert [run.status for run in (*first, *renewed)] == [RunStatus.GREEN] * 3
    assert swept["findings"] == swept_again["findings"] == []
    assert "/orders (signed in)" in await world.baseline()
    assert app.made == 3
    everything = _bytes_below(tmp_path)
    async with world.store.reading() as tx:
        kept = [page.texts for page in (await _pages(tx)).values()]
    assert any("[hidden]" in text for texts in kept for text in texts), "the page showed its session"
    for secret in (PASSWORD, "token-of-ada"):
        assert secret.encode() not in everything
        assert not any(secret in text for texts in kept for text in texts)
    assert not any(re.search(r"session-\d-0123", text) for texts in kept for text in texts)


def _bytes_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def _pages(tx: Any) -> Any:
    every = [one for project in await projects.listed(tx) for one in await baselines.listed(tx, project.id)]
    return await pages.get_many(tx, {one.page_key for one in every})
