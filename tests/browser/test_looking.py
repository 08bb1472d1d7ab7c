"""radar/browser.py: visits, settling, and a browser that is started again."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time

import pytest
from playwright.async_api import Browser, Page

from radar.browser import Keeper, new_context, open_browser, settle, snapshot, visit, visit_all
from radar.errors import PageUnavailable
from repair_ladder.runner import Stage, sign_in
from repair_ladder.step_format import read_steps
from tests.browser.conftest import Answer, Site, green, red

pytestmark = pytest.mark.browser


async def process_of(browser: Browser) -> int:
    session = await browser.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    return int(next(one["id"] for one in processes if one["type"] == "browser"))


async def test_a_visit_is_two_loads(browser: Browser, site: Site) -> None:
    numbers = iter(range(9))
    site.pages["/"] = lambda _: f"<title>Shop</title><p>token {next(numbers)}</p>"
    context = await new_context(browser)

    seen = await visit(context, site.url + "/#part")

    await context.close()
    assert seen.second is not None
    assert [one.visible_text for one in (seen.first, seen.second)] == ["token 0", "token 1"]
    assert seen.first.status == 200


async def test_a_second_load_is_made_only_where_it_is_asked_for(browser: Browser, site: Site) -> None:
    numbers = iter(range(9))
    site.pages["/"] = lambda _: f"<title>Shop</title><p>token {next(numbers)}</p>"
    site.pages["/still"] = "<p>still</p>"

    seen = await visit_all(
        browser, [site.url + "/", site.url + "/still"], again=lambda url, first: "token" in first.visible_text
    )

    assert [bool(one.second) for one in seen.values() if not isinstance(one, PageUnavailable)] == [True, False]


async def test_every_page_is_seen_or_said_to_be_unavailable(browser: Browser, site: Site) -> None:
    nobody = Site()
    nobody.close()
    site.show("<h1>Home</h1>")
    site.pages["/broken"] = Answer("<h1>Sorry</h1>", 503)

    seen = await visit_all(browser, [site.url + "/", nobody.url + "/", site.url + "/broken"])

    home, gone, broken = seen.values()
    assert not isinstance(home, PageUnavailable)
    assert isinstance(gone, PageUnavailable)
    assert gone.kind == "unreachable"
    assert not isinstance(broken, PageUnavailable)
    assert broken.first.status == 503


async def test_a_page_that_takes_too_long_is_a_timeout(browser: Browser, site: Site) -> None:
    release = threading.Event()
    site.pages["/"] = lambda _: str(release.wait(5))
    context = await new_context(browser)

    with pytest.raises(PageUnavailable) as caught:
        await visit(context, site.url + "/", timeout_ms=200)
    release.set()
    await context.close()

    assert caught.value.kind == "timeout"


async def test_pages_are_redacted_and_seen_in_their_language(browser: Browser, site: Site) -> None:
    site.pages["/"] = lambda _: "<title>hush-hush</title><p>told hush-hush</p>"

    seen = await visit_all(
        browser, [site.url + "/"], redact=lambda text: text.replace("hush-hush", "[hidden]"), locale="de-DE"
    )

    (one,) = seen.values()
    assert not isinstance(one, PageUnavailable)
    assert (one.first.title, one.first.visible_text) == ("[hidden]", "told [hidden]")


async def test_a_page_settles_when_it_has_stopped_changing(page: Page, site: Site) -> None:
    site.show(
        "<p id=p>0</p><script>let n = 0; const t = setInterval(() => {"
        "p.textContent = ++n; if (n === 8) clearInterval(t) }, 40)</script>"
    )
    await page.goto(site.url + "/")

    assert await settle(page)

    assert await page.text_content("#p") == "8"


async def test_a_page_that_never_settles_is_waited_for_only_so_long(page: Page, site: Site) -> None:
    site.show("<p id=p>0</p><script>setInterval(() => { p.textContent = Math.random() }, 20)</script>")
    await page.goto(site.url + "/")
    began = time.monotonic()

    assert not await settle(page, most_ms=400)

    assert time.monotonic() - began < 30, "it gives up at some time"


async def test_a_page_that_is_still_loading_is_incomplete(page: Page, site: Site) -> None:
    release = threading.Event()
    site.show("<h1>x</h1><script src=/slow.js></script><p>below</p>")
    site.pages["/slow.js"] = lambda _: f"// {release.wait(5)}"
    await page.goto(site.url + "/", wait_until="commit")
    await page.wait_for_selector("h1")

    seen, _ = await snapshot(page)
    release.set()

    assert not seen.complete


async def test_a_keeper_starts_a_browser_that_died_again() -> None:
    async with Keeper() as keeper:
        first = await keeper.get()
        assert await keeper.get() is first
        died = asyncio.Event()
        first.on("disconnected", lambda _: died.set())

        os.kill(await process_of(first), signal.SIGKILL)
        await died.wait()
        second = await keeper.get()
        page = await (await new_context(second)).new_page()
        lives = await page.evaluate("1 + 1")

    assert second is not first
    assert lives == 2


async def test_visits_say_that_the_browser_is_gone(site: Site) -> None:
    site.show("<h1>x</h1>")
    async with open_browser() as own:
        await own.close()
        with pytest.raises(PageUnavailable) as caught:
            await visit_all(own, [site.url + "/"])

    assert caught.value.kind == "browser"


async def test_a_browser_that_does_not_start_says_so() -> None:
    with pytest.raises(PageUnavailable, match="does not start") as caught:
        async with open_browser(executable="/bin/false"):
            pass

    assert caught.value.kind == "browser"


async def test_signing_in_leaves_cookies_for_the_visits(browser: Browser, site: Site) -> None:
    site.show("<form method=post action=/in><input name=p type=password><button>Sign in</button></form>")
    site.pages["/in"] = Answer("<h1>in</h1>", headers={"Set-Cookie": "session=abc; Path=/"})
    steps = read_steps([{"goto": "/"}, {"fill": {"css": "input", "value": "${p}"}}, {"click": {"css": "button"}}])

    outcome, state = await sign_in(browser, steps, Stage(site.url, {"p": "s3cret"}, frozenset({"s3cret"})))
    failed, none = await sign_in(
        browser, read_steps([{"goto": "/"}, {"click": {"css": "#no"}}]), Stage(site.url, step_timeout_ms=200)
    )

    green(outcome)
    assert [(one["name"], one["value"]) for one in state["cookies"]] == [("session", "abc")]
    red(failed, "missing")
    assert none is None


async def test_a_context_is_fresh_and_the_same_everywhere(page: Page, site: Site) -> None:
    site.show("<h1>x</h1>")
    await page.goto(site.url + "/")

    said = await page.evaluate(
        "[innerWidth, innerHeight, navigator.language, matchMedia('(prefers-reduced-motion)').matches, document.cookie]"
    )

    assert said == [1280, 720, "en-US", True, ""]
