"""Secrets are seen by nobody but the browser, and a proof stays inside the allowed origins."""

from __future__ import annotations

import html
import json
import struct
import zlib
from base64 import b64encode
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from repair_ladder.outcomes import Outcome, Red
from tests.browser.conftest import Answer, Play, Site, environment, green, red

pytestmark = pytest.mark.browser

SECRET = 'k1ln & "clay"/7é'
GIVEN: dict[str, Any] = {"values": {"password": SECRET, "user": "ada"}, "secrets": frozenset({SECRET})}
FORMS = (SECRET, "k1ln", "clay", "K1LN", b64encode(f"ada:{SECRET}".encode()).decode()[6:30])


def everything(outcome: Outcome) -> str:
    """All that is ever written down of a run."""
    return json.dumps(asdict(outcome), default=lambda value: "" if isinstance(value, bytes) else str(value))


@pytest.mark.parametrize(
    "echo",
    [
        "<p id=out></p><script>const say = (v) => out.textContent = `Welcome ${v}!`</script>",
        "<a id=out href=/>x</a><script>const say = (v) => out.title = v</script>",
        "<p id=out>x</p><script>const say = (v) => { document.title = v }</script>",
        "<p id=out>x</p><script>const say = (v) => history.pushState({}, '', '?p=' + encodeURIComponent(v))</script>",
        "<p id=out>x</p><script>const say = (v) => console.error('got ' + v)</script>",
        "<p id=out>x</p><script>const say = (v) => setTimeout(() => { throw new Error(v) })</script>",
        "<p id=out>x</p><script>const say = (v) => alert(v)</script>",
        "<p id=out>x</p><script>const say = (v) => fetch('/no?' + new URLSearchParams({ v }), { method: 'POST' })"
        "</script>",
        "<p id=out></p><script>const say = (v) => out.textContent = 'x'.repeat(295) + v</script>",
        "<p id=out>x</p><script>const say = (v) => out.innerHTML = "
        "`<button aria-label='${v.replace(/\"/g, '&quot;')}'>b</button>`</script>",
        "<p id=out></p><script>const say = (v) => console.error(out.textContent = JSON.stringify({ v }))</script>",
        "<p id=out></p><script>const say = (v) => console.error(out.textContent = 'Basic ' + "
        "btoa('ada:' + unescape(encodeURIComponent(v))))</script>",
        "<p id=out></p><script>const say = (v) => { out.textContent = v.toUpperCase(); }</script>",
    ],
    ids=[
        "text",
        "attribute",
        "title",
        "url",
        "console",
        "exception",
        "dialog",
        "request",
        "at-the-cut",
        "name",
        "json",
        "base64",
        "capitals",
    ],
)
async def test_what_the_app_echoes_is_redacted(play: Play, site: Site, echo: str) -> None:
    site.show(f"<input id=in>{echo}<button id=go onclick=\"say(document.getElementById('in').value)\">Go</button>")

    outcome = await play(
        {"fill": {"css": "#in", "value": "${password}"}},
        {"click": {"css": "#go"}},
        {"wait": 50},
        {"assert_value": {"css": "#in", "equals": "${password}"}},
        {"assert_text": {"css": "#go", "equals": "never"}, "timeout_ms": 400},
        **GIVEN,
    )

    written = everything(red(outcome, "check", "6"))
    assert not [form for form in FORMS if form in written]


async def test_a_check_that_names_a_secret_does_not_tell_it(play: Play, site: Site) -> None:
    site.show("<p>something else</p>")

    outcome = await play({"assert_text": {"css": "p", "equals": "${password}"}, "timeout_ms": 300}, **GIVEN)

    written = everything(red(outcome, "check"))
    assert not [form for form in FORMS if form in written]
    assert "[hidden]" in written


@pytest.mark.parametrize("before", range(180, 199, 3))
async def test_half_a_secret_is_not_told_where_what_a_check_saw_is_cut(play: Play, site: Site, before: int) -> None:
    secret = "correct-horse 'battery' \"staple\""
    site.show(f"<p id=out>{'x' * before}{html.escape(secret)}</p>")

    outcome = await play(
        {"assert_text": {"css": "#out", "equals": "never"}, "timeout_ms": 1},
        values={"password": secret},
        secrets=frozenset({secret}),
    )

    said = red(outcome, "check").message
    assert not [part for part in ("cor", "horse", "battery", "staple") if part in said]


async def test_a_pattern_that_cannot_be_used_tells_nothing_of_a_secret_in_it(play: Play, site: Site) -> None:
    secret = "correct-horse-(battery-staple" + 60 * "y"
    site.show("<p id=out>x</p>")

    outcome = await play(
        {"assert_text": {"css": "#out", "matches": f"{'x' * 40}${{password}}"}, "timeout_ms": 1},
        values={"password": secret},
        secrets=frozenset({secret}),
    )

    assert "correct" not in everything(red(outcome, "test"))


async def test_a_secret_in_an_address_is_redacted(play: Play, site: Site) -> None:
    site.pages["/"] = Answer("no", 500)

    given = GIVEN | {"values": {"password": "kiln clay/7é"}, "secrets": frozenset({"kiln clay/7é"})}

    outcome = await play({"goto": "/?token=${password}"}, **given)

    assert not [form for form in ("kiln", "clay") if form in everything(environment(outcome, "server_error"))]


async def test_values_of_password_and_hidden_fields_are_never_described(play: Play, site: Site) -> None:
    site.show("<input type=password value=hunter2><input type=hidden name=csrf value=hunter2><h1>x</h1>")

    assert "hunter2" not in everything(await play({"assert_visible": {"css": "h1"}}))


def pixels(png: bytes) -> Any:
    """The picture as rows of (red, green, blue)."""
    at, data, head = 8, b"", ()
    while at < len(png):
        (size,), kind = struct.unpack(">I", png[at : at + 4]), png[at + 4 : at + 8]
        part = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", part)
        elif kind == b"IDAT":
            data += part
        at += size + 12
    width, height, channels = head[0], head[1], {2: 3, 6: 4}[head[3]]
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    above = np.zeros(width * channels, np.int64)
    rows = []
    for kind, row in zip(raw[:, 0], raw[:, 1:].astype(np.int64), strict=True):
        line = row.copy()
        if kind == 2:
            line = (line + above) % 256
        elif kind:
            for i in range(len(line)):
                left = line[i - channels] if i >= channels else 0
                corner = above[i - channels] if i >= channels else 0
                guess = left + above[i] - corner
                near = min((left, above[i], corner), key=lambda one, guess=guess: abs(guess - one))
                line[i] = (line[i] + {1: left, 3: (left + above[i]) // 2, 4: near}[int(kind)]) % 256
        rows.append(line)
        above = line
    return np.stack(rows).reshape(height, width, channels)[:, :, :3]


async def test_pictures_are_masked_where_a_secret_was_filled(play: Play, site: Site) -> None:
    box = "position:absolute;left:20px;width:200px;height:30px;border:0;padding:0;background:#fff;color:#000"
    site.show(
        f"<input id=a style='{box};top:20px'><input id=b type=password style='{box};top:70px'>"
        f"<input id=c style='{box};top:120px'>"
    )

    outcome = await play(
        {"fill": {"css": "#a", "value": "${password}"}},
        {"fill": {"css": "#b", "value": "typed"}},
        {"fill": {"css": "#c", "value": "${user}"}},
        {"click": {"css": "#never"}, "timeout_ms": 200},
        **GIVEN,
    )

    picture = pixels(red(outcome, "missing").picture or b"")
    for top, masked in ((20, True), (70, True), (120, False)):
        inside = picture[top + 4 : top + 26, 24:216].reshape(-1, 3)
        assert (len(np.unique(inside, axis=0)) == 1) == masked, f"the field at {top}"


async def test_pictures_are_masked_where_the_app_shows_a_secret(play: Play, site: Site, elsewhere: Site) -> None:
    box = "position:absolute;left:20px;width:400px;height:30px;border:0;padding:0;margin:0;background:#fff;color:#000"
    coded = b64encode(SECRET.encode()).decode()
    shown = [
        f"<p style='{box};top:20px'>Hello {html.escape(SECRET)}</p>",
        f"<input id=a style='{box};top:70px'>",
        f"<p style='{box};top:120px'>" + "".join(f"<b>{html.escape(one)}</b>" for one in SECRET) + "</p>",
        f"<p style='{box};top:170px'>Basic {coded}</p>",
        f"<div id=host style='{box};top:220px'></div>",
        f"<select style='{box};top:270px'><option>{html.escape(SECRET)}</select>",
        f"<iframe src='{elsewhere.url}/' style='{box};top:320px'></iframe>",
        f"<p style='{box};top:370px'>Hello Ada</p>",
    ]
    said = json.dumps(SECRET)
    script = f"<script>document.getElementById('a').value = {said}; document.getElementById('host').attachShadow("
    script += (
        f"{{ mode: 'open' }}).innerHTML = '<p style=margin:0>' + {json.dumps(html.escape(SECRET))} + '</p>'</script>"
    )
    site.show("".join(shown) + script)
    elsewhere.show(f"<body style='margin:0'><p style='margin:0;width:400px;height:30px'>{html.escape(SECRET)}</p>")

    outcome = await play({"click": {"css": "#never"}, "timeout_ms": 300}, **GIVEN)

    picture = pixels(red(outcome, "missing").picture or b"")
    for top in (20, 70, 120, 170, 220, 270, 320, 370):
        inside = picture[top + 4 : top + 14, 24:100].reshape(-1, 3)
        assert (len(np.unique(inside, axis=0)) == 1) == (top != 370), f"what stands at {top}"


# --- the fence ---------------------------------------------------------------------------------------------


async def test_a_proof_does_not_leave_the_allowed_origins(play: Play, site: Site, elsewhere: Site) -> None:
    site.show(
        f"<a href={elsewhere.url}/>Away</a><h1>x</h1>"
        f"<form method=post action={elsewhere.url}/pay><button>Pay</button></form>"
    )
    elsewhere.show("<h1>elsewhere</h1>")
    fenced = {"fenced_to": frozenset({site.url}), "step_timeout_ms": 1000}

    away = await play({"goto": elsewhere.url + "/"}, **fenced)
    clicked = await play({"click": {"text": "Away"}}, {"assert_text": {"css": "h1", "equals": "elsewhere"}}, **fenced)
    paid = await play({"click": {"text": "Pay"}}, {"wait": 100}, **fenced)

    red(away, "navigation", "1")
    assert isinstance(clicked, Red)
    assert elsewhere.asked == []
    assert any("leaves the allowed origins" in line for line in paid.trace.evidence.failed_requests)


async def test_a_proof_writes_nowhere_else_but_reads_what_pages_need(play: Play, site: Site, elsewhere: Site) -> None:
    elsewhere.pages["/style.css"] = Answer("h1 { color: red }", kind="text/css")
    elsewhere.pages["/track"] = Answer("ok")
    site.pages["/save"] = Answer("saved")
    site.show(
        f"""<link rel=stylesheet href={elsewhere.url}/style.css><h1>x</h1><button>Go</button><script>
        document.querySelector('button').onclick = async () => {{
          await fetch('{elsewhere.url}/track', {{ method: 'POST', mode: 'no-cors' }}).catch(() => 0);
          await fetch('/save', {{ method: 'POST' }}); document.body.id = 'done' }}</script>"""
    )

    done = await play(
        {"click": {"css": "button"}}, {"wait": {"for": {"css": "#done"}}}, fenced_to=frozenset({site.url})
    )

    green(done)
    assert site.was_asked("/save")
    assert elsewhere.was_asked("/style.css")
    assert not elsewhere.was_asked("/track")


async def test_a_proof_is_not_led_out_by_a_popup(play: Play, site: Site, elsewhere: Site) -> None:
    site.show(f"<form method=post target=_blank action={elsewhere.url}/pay><button>Pay</button></form>")

    await play({"click": {"css": "button"}}, {"wait": 200}, fenced_to=frozenset({site.url}))

    assert not elsewhere.was_asked("/pay")


async def test_a_proof_is_not_led_out_by_a_redirect(play: Play, site: Site, elsewhere: Site) -> None:
    elsewhere.show("<h1>elsewhere</h1>")
    site.pages["/out"] = Answer("", 302, headers={"Location": elsewhere.url + "/"})

    site.pages["/pay"] = Answer("", 307, headers={"Location": elsewhere.url + "/pay"})
    site.show("<form method=post action=/pay><button>Pay</button></form>")
    fenced = frozenset({site.url})

    outcome = await play({"goto": "/out"}, fenced_to=fenced)
    paid = await play({"click": {"css": "button"}}, {"wait": 200}, fenced_to=fenced)

    red(outcome, "navigation", "1")
    assert elsewhere.asked == []
    assert any("leaves the allowed origins" in line for line in paid.trace.evidence.failed_requests)


async def test_a_redirect_inside_the_fence_is_followed(play: Play, site: Site) -> None:
    site.pages["/old"] = Answer("", 302, headers={"Location": "/new"})
    site.show("<h1>new</h1>", "/new")

    green(await play({"goto": "/old"}, {"assert_url": {"equals": "/new"}}, fenced_to=frozenset({site.url})))
