"""The pages in a real Chromium on a real server: the story of a repair, by mouse, by keyboard and without JavaScript.

The app under test behind them is the fake of tests/fakes.py: what is looked at here is the pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, expect
from sqlalchemy import update

from gardener import evidence
from gardener.actions import admitting, deciding
from gardener.runs import Run
from gardener.store.rows import RunRow
from gardener.worker import Worker
from tests.acceptance.shop import CHECKOUT, HELPING, RENAMED, RENAMED_AGAIN, WITHOUT_BUTTON, checkouts
from tests.builders import a_test
from tests.fakes import PNG
from tests.web.conftest import PASSWORD, Office, empty_office, office
from web.app import create_app
from web.auth import SESSION
from web.serving import Server, listen, server_of
from web.site import Site

__all__ = ["empty_office", "office"]
pytestmark = pytest.mark.browser
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 800}


@dataclass
class Served:
    """The pages at an address, with a worker beside them, and Ada signed in."""

    office: Office
    url: str
    browser: Browser

    async def context(self, **how: Any) -> BrowserContext:
        _, token = await admitting.sign_in(self.office.world.tools, "Ada", PASSWORD, "127.0.0.1")
        context = await self.browser.new_context(**how)
        await context.add_cookies([{"name": SESSION, "value": token, "url": self.url, "httpOnly": True}])
        context.set_default_timeout(15_000)
        return context


@pytest.fixture
async def served(office: Office, browser: Browser) -> AsyncIterator[Served]:
    worker = Worker(office.world.tools)
    site = Site(office.world.tools, office.watching, worker.knock)
    app = create_app(site, hosts=["127.0.0.1"], services=[lambda: worker.run_until_cancelled(poll_s=0.2)])
    with listen("127.0.0.1", 0) as listening:
        server: Server = server_of(app)
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        yield Served(office, f"http://127.0.0.1:{listening.getsockname()[1]}", browser)
        await office.watching.close()
        server.should_exit = True
        await serving


@pytest.fixture
async def ada(served: Served) -> AsyncIterator[Page]:
    """A page of hers; whatever a script of it throws fails the test."""
    context = await served.context(viewport=WIDE)
    page = await context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.on("console", lambda line: thrown.append(line.text) if line.type == "error" else None)
    yield page
    await context.close()
    assert thrown == []


async def test_the_story_of_a_repair_from_a_sweep_to_its_revert(served: Served, ada: Page) -> None:
    world = served.office.world
    await world.save(CHECKOUT, HELPING)
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    before = (await world.test()).steps

    await ada.goto(f"{served.url}/projects/1")
    await ada.get_by_role("button", name="Sweep now").click()
    await expect(ada.locator(".log")).to_contain_text("Self-heal for step 3")  # told while it is done
    await ada.get_by_role("link", name="Look at the repair").click()
    await expect(
        ada.get_by_role("img", name="Sketch of the page Shop with button “Pay now” marked").first
    ).to_be_visible()
    assert (await world.test()).steps == before  # G12
    await ada.get_by_role("button", name="Approve and apply").click()
    await expect(ada.locator("#said")).to_contain_text("Repair 1 is written")
    assert (await world.test()).version == 2

    await ada.get_by_role("link", name="What changed").click()
    await ada.get_by_role("link", name="checkout").click()
    await expect(ada.get_by_text("will fail again at step 3")).to_be_visible()
    await ada.get_by_role("button", name="Revert this repair").click()
    await expect(ada.locator("#said")).to_contain_text("will fail again at step 3")
    assert (await world.test()).steps == before


async def test_a_row_is_dismissed_and_put_back_without_leaving_the_page(served: Served, ada: Page) -> None:
    await served.office.staged()
    await ada.goto(f"{served.url}/projects/1/radar")
    await ada.evaluate("document.title = 'the same page'")

    await ada.get_by_role("button", name="Dismiss the repair of checkout").click()
    await expect(ada.locator("#proposal-1")).to_contain_text("dismissed")
    await expect(ada.locator("#tab-radar")).to_have_text("0")
    assert await served.office.world.queue() == ()
    await ada.get_by_role("button", name="Undo the dismissal for checkout").click()
    await expect(ada.get_by_role("button", name="Approve and apply the repair of checkout")).to_be_visible()

    assert await ada.title() == "the same page"
    assert len(await served.office.world.queue()) == 1
    await expect(ada.locator("#proposal-1")).to_be_focused()


async def test_the_flow_of_approval_by_keyboard_alone(served: Served, ada: Page) -> None:
    await served.office.staged()
    await ada.goto(f"{served.url}/projects/1/radar")

    await ada.keyboard.press("Tab")
    await expect(ada.get_by_role("link", name="Skip to the content")).to_be_focused()
    await ada.keyboard.press("Enter")
    seen = await _tab_to(ada, "Approve and apply the repair of checkout")
    ring = await ada.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    await ada.keyboard.press("Enter")
    await expect(ada.locator("#proposal-1")).to_contain_text("applied")

    assert len(seen) < 8  # nobody tabs through half a page
    assert ring == "solid"
    assert len(await served.office.world.history()) == 1
    await expect(ada.locator("#proposal-1")).to_be_focused()


async def _tab_to(page: Page, name: str) -> list[str]:
    seen: list[str] = []
    while len(seen) < 40:
        await page.keyboard.press("Tab")
        seen.append(await page.evaluate("document.activeElement.textContent.replace(/\\s+/g, ' ').trim()"))
        if seen[-1] == name:
            return seen
    raise AssertionError(f"'{name}' cannot be reached with the Tab key: {seen}")


async def test_what_was_edited_is_stale_and_is_proved_again(served: Served, ada: Page) -> None:
    world = served.office.world
    await served.office.staged()
    await world.save(
        a_test(
            {"goto": "/"},
            {"fill": {"label": "Email", "value": "ben@example.com"}},
            {"click": {"css": "#pay"}},
            {"assert_text": {"role": "status", "contains": "Thank you"}},
        )
    )

    await ada.goto(f"{served.url}/projects/1/radar")
    await ada.get_by_role("button", name="Prove again for checkout").click()
    await ada.get_by_role("link", name="Look at the repair").click()

    await expect(ada.get_by_role("button", name="Approve and apply")).to_be_visible()
    (waiting,) = await world.queue()
    assert waiting.version == 2


async def test_what_was_repaired_unattended_is_reviewed(served: Served, ada: Page) -> None:
    world = served.office.world
    await world.switch(True)
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED
    await world.nightly()

    await ada.goto(f"{served.url}/tests/1")
    await ada.get_by_role("link", name="Auto-repaired: review").click()
    await ada.get_by_role("button", name="Mark reviewed").click()

    await expect(ada.locator("#said")).to_contain_text("Reviewed")
    await ada.goto(f"{served.url}/tests/1")
    await expect(ada.get_by_text("Auto-repaired")).to_have_count(0)


async def test_forms_work_without_javascript(served: Served) -> None:
    await served.office.staged()
    context = await served.browser.new_context(java_script_enabled=False)
    page = await context.new_page()

    await page.goto(f"{served.url}/projects/1/radar")
    await page.get_by_label("Name").fill("Ada")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("button", name="Dismiss the repair of checkout").click()
    await expect(page.locator("#said")).to_contain_text("Dismissed")
    await page.locator("summary", has_text="Dismissed").click()
    await page.get_by_role("button", name="Put back checkout").click()
    await page.get_by_role("button", name="Approve and apply").click()
    await expect(page.locator("#said")).to_contain_text("Repair 1 is written")
    await page.get_by_role("link", name="Tests", exact=True).click()
    await page.get_by_role("button", name="Run all in service").click()
    await expect(page.get_by_role("heading", name="What came of it")).to_be_visible(timeout=15_000)  # it reloads itself
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_label("Repair failed runs automatically").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#said")).to_have_text("Saved.")
    await context.close()


async def test_the_forms_of_deciding_and_editing_work_without_javascript(served: Served) -> None:
    world = served.office.world
    await world.settle(most_dry_runs=50)
    await world.save(CHECKOUT, *checkouts(3))
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    await world.sweep()
    context = await served.context(java_script_enabled=False)
    page = await context.new_page()

    await page.goto(f"{served.url}/projects/1/radar")
    await page.get_by_role("link", name="Choose some of the 4 tests").click()
    await page.get_by_label("checkout 02").uncheck()
    await page.get_by_role("button", name="Approve and apply the chosen").click()
    await expect(page.get_by_role("heading", name="Approved: 3 of 3")).to_be_visible()
    await page.get_by_role("link", name="1 test of this cause waits still").click()
    await page.get_by_role("button", name="Dismiss the chosen").click()
    await expect(page.get_by_role("heading", name="Dismissed: 1 of 1")).to_be_visible()

    await page.goto(f"{served.url}/tests/1")
    await page.get_by_role("link", name="Edit").click()
    field = page.get_by_label("as in a file")
    text = await field.input_value()
    await field.fill(text.replace("click", "clicks"))
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("'clicks' is not a kind of step")
    await expect(field).to_have_value(text.replace("click", "clicks"))
    await field.fill(text + "  - screenshot: {as: end}\n")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#said")).to_contain_text("Saved as version 3.")
    await page.get_by_role("button", name="Archive").click()
    await expect(page.locator("#said")).to_contain_text("It is archived")
    await context.close()


async def test_an_issue_is_answered_and_somebody_added_without_javascript(served: Served) -> None:
    world = served.office.world
    await world.save(CHECKOUT)
    await world.run()
    await world.sweep()
    world.app.release = WITHOUT_BUTTON
    await world.sweep()
    context = await served.context(java_script_enabled=False)
    page = await context.new_page()

    await page.goto(f"{served.url}/projects/1/issues")
    await page.get_by_role("link", name="Answer issue 1").click()
    await page.get_by_role("button", name="The app is wrong").click()
    await expect(page.locator("#said")).to_contain_text("Answered: it is the app that is wrong")
    await page.get_by_role("link", name="People").click()
    await page.get_by_label("Name").fill("Cy")
    await page.get_by_role("button", name="Add").click()
    await expect(page.get_by_role("heading", name="Cy may sign in")).to_be_visible()
    await page.get_by_role("link", name="People").first.click()
    await page.locator("summary", has_text="Change Cy").click()
    await page.get_by_role("button", name="Remove Cy").click()
    await expect(page.locator("#said")).to_contain_text("Cy may sign in no more")
    await context.close()


async def test_some_of_a_cause_are_approved_by_keyboard_alone(served: Served, ada: Page) -> None:
    world = served.office.world
    await world.save(*checkouts(2))
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    await world.sweep()
    await ada.goto(f"{served.url}/projects/1/causes/{(await world.queue())[0].cause}")

    await ada.keyboard.press("Tab")
    await ada.keyboard.press("Enter")  # to the content
    await _tab_to(ada, "Approve and apply the chosen")
    await ada.keyboard.press("Tab")
    await ada.keyboard.press("Space")  # the box of the first test
    await ada.keyboard.press("Enter")  # decides nothing: which of the two buttons would it be?
    await ada.wait_for_url("**/causes/*")
    await expect(ada.get_by_role("checkbox", checked=True)).to_have_count(1)
    assert len(await world.queue()) == 2
    await _tab_to(ada, "Approve and apply the chosen")
    await ada.keyboard.press("Enter")
    await expect(ada.get_by_role("heading", level=1)).to_contain_text("1 of 1")

    assert sorted(one.status.value for one in await world.proposals()) == ["applied", "proposed"]


# --- everybody can read it -------------------------------------------------------------------------------

EVERY = (
    "/",
    "/projects/1",
    "/projects/1/radar",
    "/projects/1/decided",
    "/projects/1/at-risk",
    "/projects/1/sweeps",
    "/projects/1/tests",
    "/projects/1/runs",
    "/projects/1/repairs",
    "/projects/1/issues",
    "/projects/1/news",
    "/projects/1/settings",
    "/password",
    "/people",
    "/sweeps/2",
    "/proposals/1",
    "/proposals/2",
    "/tests/1",
    "/tests/1/edit",
    "/repairs/1",
    "/issues/1",
    "/nowhere",
)
# What may differ with the colours or the width.
IN_COLOUR, IN_WIDTH = ("color-contrast", "link-in-text-block"), ("target-size", "scrollable-region-focusable")
# Where there is most of everything, the width is audited as well; the other pages are made of the same parts.
DENSE = (
    "/projects/1",
    "/projects/1/radar",
    "/projects/1/tests",
    "/projects/1/settings",
    "/proposals/1",
    "/tests/1/edit",
    "/issues/1",
    "/people",
)


async def test_every_page_is_without_violations_in_light_and_dark_wide_and_narrow(served: Served) -> None:
    every = await _a_full_project(served.office)
    # Colours that are still on their way from one scheme to the other are nobody's to read.
    context = await served.context(viewport=WIDE, reduced_motion="reduce")
    page = await context.new_page()
    axe = Axe()

    found = []
    for path in (*EVERY, *every):
        await page.emulate_media(color_scheme="light")
        await page.set_viewport_size(WIDE)
        await page.goto(served.url + path)
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found += [(path, "light wide", one) for one in _told(await axe.run(page))]
        await page.emulate_media(color_scheme="dark")
        found += [(path, "dark wide", one) for one in _told(await axe.run(page, options=_only(IN_COLOUR)))]
        await page.set_viewport_size(NARROW)
        if path in DENSE or path in every:
            rules = _only((*IN_COLOUR, *IN_WIDTH))
            found += [(path, "dark narrow", one) for one in _told(await axe.run(page, options=rules))]
            await page.emulate_media(color_scheme="light")
            found += [(path, "light narrow", one) for one in _told(await axe.run(page, options=rules))]
        over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over > 0:
            found.append((path, "narrow", f"is {over} px wider than the screen"))
    await context.close()

    assert "\n".join(map(str, found)) == ""


def _only(rules: tuple[str, ...]) -> dict[str, Any]:
    return {"runOnly": {"type": "rule", "values": list(rules)}}


def _told(results: Any) -> list[str]:
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in results.response["violations"]
        for node in one["nodes"]
    ]


async def _a_full_project(office: Office) -> list[str]:
    """Something of everything: groups, refusals, issues, history, red runs with pictures. Gives pages of things."""
    world = office.world
    await world.settle(most_dry_runs=50)
    await world.save(CHECKOUT, HELPING, *checkouts(3))
    await world.run()
    await world.sweep()
    world.app.release = RENAMED
    await world.sweep()
    waiting = await world.queue()
    await deciding.approve(world.tools, waiting[0].id, "Ada")
    await deciding.dismiss(world.tools, waiting[1].id, "Ben")
    await world.save(a_test({"goto": "/"}, {"click": {"css": "#pay"}}, name=waiting[2].test_name))
    world.app.release = RENAMED_AGAIN
    await world.sweep()
    world.app.release = WITHOUT_BUTTON
    await world.sweep()
    (red,) = (await world.run("checkout")).runs
    await _with_pictures(office, red)
    jobs = await world.jobs()
    (cause, *_) = {one.cause for one in await world.queue()} or {waiting[0].cause}
    return [f"/runs/{red.id}", f"/jobs/{jobs[0].id}", f"/projects/1/causes/{cause}"]


async def _with_pictures(office: Office, run: Run) -> None:
    """A picture of each step and a trace, as runs keep them."""
    data = office.world.tools.settings.data_dir
    folder = evidence.folder_of(data, 1, run.started_at, 1)
    steps = [one | {"picture": evidence.keep(folder, f"{at}.jpg", PNG)} for at, one in enumerate(run.steps, 1)]
    beside = dict(run.evidence or {}) | {"trace": evidence.keep(folder, "trace.zip", b"PK"), "downloads": ["bill.pdf"]}
    async with office.world.store.transaction() as tx:
        await tx.run(update(RunRow).where(RunRow.id == run.id).values(steps=steps, evidence=beside))
