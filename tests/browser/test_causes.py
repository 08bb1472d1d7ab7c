"""Why a step failed, what is no failure of the test at all, and what the browser said beside the page."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from radar.browser import open_browser
from repair_ladder.runner import Stage, replay
from repair_ladder.step_format import read_steps
from repair_ladder.steps import Place, Step
from tests.browser.conftest import Answer, Play, Site, environment, green, red

pytestmark = pytest.mark.browser

SHORT_MS = 1500


@pytest.mark.parametrize(
    ("body", "step", "cause"),
    [
        ("<h1>x</h1>", {"click": {"css": "#go"}}, "missing"),
        ("<b id=go></b><b id=go></b>", {"click": {"css": "#go"}}, "many"),
        ("<button id=go hidden>Go</button>", {"click": {"css": "#go"}}, "hidden"),
        ("<button id=go style='position:fixed;left:-900px'>Go</button>", {"click": {"css": "#go"}}, "hidden"),
        (
            "<button id=go>Go</button><div id=veil style='position:fixed;inset:0;background:#fff'>wait</div>",
            {"click": {"css": "#go"}},
            "covered",
        ),
        ("<button id=go disabled>Go</button>", {"click": {"css": "#go"}}, "disabled"),
        ("<input id=go disabled>", {"fill": {"css": "#go", "value": "x"}}, "disabled"),
        ("<select id=go><option>A</select>", {"select": {"css": "#go", "option": "B"}}, "option"),
        ("<select id=go><option>A</select>", {"select": {"css": "#go", "index": 4}}, "option"),
        ("<p id=go>x</p>", {"fill": {"css": "#go", "value": "x"}}, "test"),
        ("<p id=go>x</p>", {"assert_text": {"css": "#go", "equals": "y"}}, "check"),
        (
            "<style>@keyframes m { to { margin-left: 900px } } #go { animation: m 9s infinite }</style><b id=go>x</b>",
            {"click": {"css": "#go"}},
            "timeout",
        ),
    ],
)
async def test_the_cause_is_named(play: Play, site: Site, body: str, step: dict[str, Any], cause: str) -> None:
    site.show(body)

    failed = red(await play(step, step_timeout_ms=SHORT_MS), cause, "2")

    assert failed.page is not None
    if cause == "covered":
        assert "veil" in failed.message
        assert failed.target is not None
        assert failed.page.elements[failed.target].covered


async def test_a_page_that_does_not_come_up(play: Play, site: Site) -> None:
    site.pages["/gone"] = Answer("", 204)

    outcome = await play({"goto": "/"}, {"goto": "/gone"})

    # No page comes of a 204: the browser stays where it was and says that the navigation was aborted.
    assert red(outcome, "timeout", "2").message.startswith("Page.goto")


async def test_an_app_that_is_not_there(play: Play, site: Site) -> None:
    nobody = Site()
    nobody.close()

    outcome = environment(await play({"goto": "/"}, base_url=nobody.url), "unreachable")

    assert outcome.place == (1,)


async def test_an_app_that_answers_5xx(play: Play, site: Site) -> None:
    site.pages["/"] = Answer("<h1>Sorry</h1>", 503)

    assert "503" in environment(await play({"goto": "/"}), "server_error").message


async def test_a_4xx_is_a_page_like_any_other_and_evidence(play: Play, site: Site) -> None:
    site.pages["/"] = Answer("<h1>Not found</h1>", 404)

    done = green(await play({"goto": "/"}, {"assert_text": {"css": "h1", "equals": "Not found"}}))

    assert done.trace.snapshots[0].status == 404
    assert done.trace.evidence.bad_answers == (f"GET {site.url}/ answered 404",)


async def test_a_browser_that_is_killed_in_the_middle(site: Site) -> None:
    site.show("<button>Go</button>")
    steps = read_steps([{"goto": "/"}, {"click": {"css": "button"}}, {"click": {"css": "button"}}])
    async with open_browser() as own:
        session = await own.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        pid = next(one["id"] for one in processes if one["type"] == "browser")

        async def kill(place: Place, step: Step, what: str) -> None:
            if place == (3,) and what == "start":
                os.kill(pid, signal.SIGKILL)

        outcome = environment(await replay(own, steps, Stage(site.url), on_step=kill), "browser")
        after = environment(await replay(own, steps, Stage(site.url)), "browser")

    assert outcome.place == (3,)
    assert [one.place for one in outcome.trace.played] == [(1,), (2,)]
    assert "browser" in after.message


async def test_a_dialog_that_no_step_expects_is_dismissed_and_reported(play: Play, site: Site) -> None:
    site.show("<button onclick=\"if (!confirm('Delete  it?')) this.textContent = 'kept'\">Delete</button>")

    done = green(await play({"click": {"css": "button"}}, {"assert_text": {"css": "button", "equals": "kept"}}))

    (dialog,) = done.trace.evidence.dialogs
    assert (dialog.place, dialog.kind, dialog.message) == ((2,), "confirm", "Delete it?")
    assert (dialog.answer, dialog.expected) == ("dismissed", False)


async def test_what_the_browser_says_is_evidence(play: Play, site: Site) -> None:
    site.show(
        f"""<button>Go</button><script>
        document.querySelector('button').onclick = async () => {{
            console.error('cannot', 'add'); setTimeout(() => {{ throw new Error('boom') }});
            await fetch('/broken').catch(() => 0); await fetch('/refused', {{ method: 'POST' }});
            await fetch('http://127.0.0.1:9/').catch(() => 0); document.body.id = 'done';
        }}</script><a href={site.url}>x</a>"""
    )
    site.pages["/broken"] = Answer("", 500)
    site.pages["/refused"] = Answer("", 422)

    said = green(await play({"click": {"css": "button"}}, {"wait": {"for": {"css": "#done"}}})).trace.evidence

    assert said.page_errors == ("boom",)
    assert any("cannot add" in line for line in said.console_errors)
    assert any("http://127.0.0.1:9/ failed" in line for line in said.failed_requests)
    assert f"GET {site.url}/broken answered 500" in said.bad_answers
    assert f"POST {site.url}/refused answered 422" in said.bad_answers


async def test_evidence_is_bounded(play: Play, site: Site) -> None:
    site.show("<script>for (let i = 0; i < 300; i++) console.error('x'.repeat(3000) + i)</script><h1>x</h1>")

    lines = green(await play({"assert_visible": {"css": "h1"}})).trace.evidence.console_errors

    assert len(lines) <= 50
    assert max(map(len, lines)) <= 500


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        (
            "<script>setTimeout(() => document.body.innerHTML = '<button>Go</button>', 3000)</script>",
            [{"click": {"css": "button"}}],
        ),
        (
            "<button>Go</button><script>const twin = document.body.appendChild(document.createElement('button'));"
            "setTimeout(() => twin.remove(), 300)</script>",
            [{"click": {"css": "button"}}],
        ),
        (
            "<p>0</p><script>setTimeout(() => document.querySelector('p').textContent = '42', 2000)</script>",
            [{"assert_text": {"css": "p", "equals": "42"}}],
        ),
        (
            "<button disabled>Go</button><script>"
            "setTimeout(() => document.querySelector('button').disabled = false, 600)</script>",
            [{"click": {"css": "button"}}],
        ),
        (
            "<i>1</i><script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<i>2</i>'), 400)</script>",
            [{"assert_count": {"css": "i", "equals": 2}}],
        ),
        (
            "<b>wait</b><script>setTimeout(() => document.querySelector('b').remove(), 400)</script>",
            [{"assert_hidden": {"css": "b"}}],
        ),
        (
            "<p>old</p><script>setInterval(() => document.body.innerHTML = '<p>new</p>', 120)</script>",
            [{"assert_text": {"css": "p", "equals": "new"}}, {"click": {"css": "p"}}],
        ),
    ],
    ids=["late", "twice-at-first", "text-changes", "enabled-late", "grows", "goes", "drawn-again-and-again"],
)
async def test_timing_alone_is_not_drift(play: Play, site: Site, body: str, steps: list[Any]) -> None:
    site.show(body)

    green(await play(*steps))


async def test_a_page_that_goes_on_while_it_is_described(play: Play, site: Site) -> None:
    site.show("<h1>one</h1><script>setTimeout(() => location = '/two', 30)</script>" + "<p>x</p>" * 3000)
    site.show("<h1>two</h1><script>setTimeout(() => location = '/three', 30)</script>" + "<p>x</p>" * 3000, "/two")
    site.show("<h1>three</h1>", "/three")

    green(await play({"assert_text": {"css": "h1", "equals": "three"}}, {"click": {"css": "h1"}}))


async def test_each_step_is_reported_as_it_is_played(browser: Any, site: Site) -> None:
    site.show("<h1>x</h1>")
    heard: list[tuple[Place, str]] = []

    async def hear(place: Place, step: Step, what: str) -> None:
        heard.append((place, what))

    steps = read_steps([{"goto": "/"}, {"click": {"css": "#no"}, "optional": True, "timeout_ms": 100}])
    await replay(browser, steps, Stage(site.url), on_step=hear)

    assert heard == [((1,), "start"), ((1,), "passed"), ((2,), "start"), ((2,), "skipped")]
