"""repair_ladder/runner: pictures of steps and traces of red runs, and that neither shows a secret."""

from __future__ import annotations

import io
import struct
import zipfile
from itertools import count

import pytest

from repair_ladder.outcomes import Red
from repair_ladder.runner.pictures import Pictures
from repair_ladder.step_format import read_steps
from repair_ladder.steps import show_place
from tests.browser.conftest import Play, Site, green, red

pytestmark = pytest.mark.browser

JPEG = b"\xff\xd8"


async def test_each_step_has_a_small_picture_of_the_page_after_it(play: Play, site: Site) -> None:
    site.show("<h1>Shop</h1><button onclick=\"document.body.style.background = 'green'\">Go</button>")

    done = await play({"wait": 1000}, {"click": {"css": "button"}}, {"wait": 1000}, pictures=True)
    plain = await play({"wait": 1})

    before, after = (green(done).trace.played[at].picture for at in (1, 3))
    assert before is not None
    assert after is not None
    assert before[:2] == after[:2] == JPEG
    assert before != after
    assert len(after) < 60_000
    assert [one.picture for one in green(plain).trace.played] == [None, None]


@pytest.mark.parametrize(
    ("then", "pictures"),
    [
        ((), [b"2"]),
        (({"click": {"css": "button"}},), [b"2", b"3"]),
        (({"wait": 1}, {"reload": None}), [b"2", b"3", b"5"]),
    ],
    ids=["the end", "another step", "another page"],
)
async def test_the_picture_of_a_loaded_page_is_taken_just_before_it_changes_again(
    play: Play, site: Site, monkeypatch: pytest.MonkeyPatch, then: tuple[dict[str, object], ...], pictures: list[bytes]
) -> None:
    """When loading ends nothing may be drawn yet. How long drawing takes is the machine's, so the film is a counter."""
    asked = count(1)
    monkeypatch.setattr(Pictures, "newest", lambda *_: str(next(asked)).encode())
    site.show("<button>Go</button>")

    played = green(await play(*then, pictures=True)).trace.played

    assert [one.picture for one in played] == pictures


async def test_no_picture_shows_a_secret_wherever_the_page_repeats_it(play: Play, site: Site) -> None:
    site.show(
        "<input id=i><p id=p></p><input id=j><textarea id=t></textarea><iframe id=f></iframe>"
        "<button onclick=\"for (const e of [j, t]) e.value = i.value; p.textContent = 'it is ' + i.value; "
        'f.srcdoc = i.value">Tell</button>'
    )
    pictures = []
    for secret in ("hush-hush", "mum's-the"):
        done = await play(
            {"fill": {"css": "#i", "value": "${s}"}},
            {"click": {"css": "button"}},
            {"assert_text": {"css": "#p", "contains": "${s}"}},
            {"press": "Escape"},
            values={"s": secret},
            secrets=frozenset({secret}),
            pictures=True,
        )
        pictures.append([one.picture for one in green(done).trace.played[1:]])

    assert None not in pictures[0]
    assert pictures[0][0] == pictures[1][0]
    assert len(pictures[0][2] or b"") > 500


async def test_checks_that_see_the_same_page_share_a_masked_picture(play: Play, site: Site) -> None:
    site.show(
        "<h1>Shop</h1><p>it is hush-hush</p><h2 id=h hidden>on</h2>"
        "<button onclick=\"document.body.style.background = 'green'; h.hidden = false\">Go</button>"
    )

    done = await play(
        {"assert_text": {"css": "h1", "equals": "Shop"}},
        {"assert_visible": {"css": "p"}},
        {"click": {"css": "button"}},
        {"assert_visible": {"css": "h2"}},
        {"assert_text": {"css": "h2", "equals": "on"}},
        secrets=frozenset({"hush-hush"}),
        pictures=True,
    )

    _, first, second, clicked, third, fourth = (one.picture for one in green(done).trace.played)
    assert None not in (first, clicked, third)
    assert second is first
    assert fourth is third
    assert third != first
    assert third is not clicked, "what a click leads to may come later than its picture"


async def test_a_screenshot_step_keeps_what_it_took_also_inside_a_fragment(play: Play, site: Site) -> None:
    site.show("<h1>Shop</h1><div style='position:absolute;top:90px;width:40px;height:30px;background:green'></div>")
    used = read_steps([{"screenshot": "inside"}, {"screenshot": {"css": "div", "as": "the ${what}"}}])

    done = await play({"screenshot": {}}, {"use": "look"}, fragments={"look": used}, values={"what": "box"})

    _, alone, *inside = green(done).trace.played
    assert [show_place(one.place) for one in inside] == ["3.1", "3.2"]
    shots = [shot for one in (alone, *inside) for shot in one.shots]
    assert [name for name, _ in shots] == ["", "inside", "the box"]
    assert [struct.unpack(">II", body[16:24]) for _, body in shots] == [
        (1280, 720), (1280, 720), (40, 30)
    ]  # fmt: skip


async def test_no_screenshot_shows_or_names_a_secret(play: Play, site: Site) -> None:
    site.show("<input id=i><p id=p></p><button onclick=\"p.textContent = 'it is ' + i.value\">Tell</button>")
    shots = []
    for secret in ("hush-hush", "mum's-the"):
        done = await play(
            {"fill": {"css": "#i", "value": "${s}"}},
            {"click": {"css": "button"}},
            {"screenshot": {"as": "${s}"}},
            values={"s": secret},
            secrets=frozenset({secret}),
        )
        shots.append(green(done).trace.played[-1].shots)

    assert shots[0] == shots[1]
    assert "hush" not in shots[0][0][0]


async def test_a_red_run_brings_its_trace_and_a_green_one_none(play: Play, site: Site) -> None:
    site.show("<h1>Shop</h1><input>")
    fill = {"fill": {"css": "input", "value": "${s}"}}
    given = {"values": {"s": "hush-hush"}, "secrets": frozenset({"hush-hush"}), "tracing": True}

    failed = red(await play(fill, {"assert_text": {"css": "h1", "equals": "x"}, "timeout_ms": 50}, **given), "check")
    passed = await play(fill, **given)

    assert isinstance(failed, Red)
    assert failed.tracing is not None
    with zipfile.ZipFile(io.BytesIO(failed.tracing)) as archive:
        bodies = {name: archive.read(name) for name in archive.namelist()}
    assert any(name.endswith(".trace") for name in bodies)
    assert b"fill" in b"".join(bodies.values())
    assert not [name for name, body in bodies.items() if b"hush-hush" in body]
    green(passed)
