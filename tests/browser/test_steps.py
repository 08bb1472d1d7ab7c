"""Every kind of step that acts, in a real browser: it does what a person would see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repair_ladder.formats import lists
from repair_ladder.step_format import read_steps
from tests.browser.conftest import Answer, Play, Site, green, red, texts

pytestmark = pytest.mark.browser

LOG = """<output id=log style="position:fixed;bottom:0;pointer-events:none"></output><script>
function log(text) { document.getElementById('log').textContent += text + ' ' }</script>"""


def logged(text: str) -> dict[str, Any]:
    return {"assert_text": {"css": "#log", "equals": text}}


async def test_goto_takes_paths_and_whole_addresses(play: Play, site: Site) -> None:
    site.show("<h1>Home</h1>")
    site.show("<h1>Orders</h1>", "/orders")

    done = await play(
        {"goto": "/orders"}, {"assert_text": {"css": "h1", "equals": "Orders"}},
        {"goto": site.url + "/"}, {"assert_text": {"css": "h1", "equals": "Home"}},
        {"goto": "orders"}, {"assert_url": {"equals": "/orders"}},
    )  # fmt: skip

    assert green(done).trace.played[1].url == site.url + "/orders"


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,hello"])
async def test_only_pages_are_gone_to(play: Play, address: str) -> None:
    red(await play({"goto": address}), "test", "1")


async def test_back_and_reload(play: Play, site: Site) -> None:
    visits = iter(range(1, 10))
    site.pages["/"] = lambda _: f"<h1>visit {next(visits)}</h1><a href=/next>Next</a>"
    site.show("<h1>next</h1>", "/next")

    green(
        await play(
            {"reload": None}, {"assert_text": {"css": "h1", "equals": "visit 2"}},
            {"click": {"text": "Next"}}, {"assert_url": {"equals": "/next"}},
            {"back": None}, {"assert_url": {"equals": "/"}},
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ({"click": {"css": "#it"}}, "click0"),
        ({"click": {"css": "#it", "modifiers": ["Shift"]}}, "click0+shift"),
        ({"click": {"css": "#it", "position": {"x": 3, "y": 4}}}, "click0"),
        ({"click": {"css": "#it", "button": "right"}}, "menu2"),
        ({"dblclick": {"css": "#it"}}, "click0 click0 double"),
        ({"hover": {"css": "#it"}}, "over"),
        ({"press": {"css": "#it", "key": "a"}}, "key-a"),
    ],
)
async def test_the_pointer_and_the_keys(play: Play, site: Site, step: dict[str, Any], text: str) -> None:
    site.show(
        LOG
        + """<button id=it>It</button><script>
        it.onclick = (e) => log('click' + e.button + (e.shiftKey ? '+shift' : ''));
        it.ondblclick = () => log('double'); it.oncontextmenu = (e) => log('menu' + e.button);
        it.onkeydown = (e) => log('key-' + e.key);
        if (new URLSearchParams(location.search).has('hover')) it.onmouseenter = () => log('over');</script>"""
    )

    green(await play({"goto": "/?hover" if "hover" in step else "/"}, step, logged(text)))


async def test_press_without_a_locator_goes_to_what_has_the_focus(play: Play, site: Site) -> None:
    site.show("<form action=/found><input name=q autofocus></form>")
    site.show("<h1>found</h1>", "/found")

    green(
        await play(
            {"fill": {"css": "input", "value": "mug"}}, {"press": "Enter"}, {"assert_url": {"contains": "q=mug"}}
        )
    )


async def test_check_and_uncheck_leave_what_is_so_already(play: Play, site: Site) -> None:
    site.show("<label><input type=checkbox id=a> Offers</label><label><input type=checkbox id=b checked> News</label>")

    green(
        await play(
            {"check": {"label": "Offers"}}, {"assert_checked": {"css": "#a"}},
            {"check": {"label": "News"}}, {"assert_checked": {"css": "#b"}},
            {"uncheck": {"label": "News"}}, {"assert_count": {"css": ":checked", "equals": 1}},
        )
    )  # fmt: skip


async def test_fill_replaces_and_type_adds_key_by_key(play: Play, site: Site) -> None:
    site.show(LOG + "<input id=a value=old><input id=b value=old onkeydown='log(event.key)'>")

    green(
        await play(
            {"fill": {"css": "#a", "value": "new"}}, {"assert_value": {"css": "#a", "equals": "new"}},
            {"press": {"css": "#b", "key": "End"}}, {"type": {"css": "#b", "value": "er"}},
            {"assert_value": {"css": "#b", "equals": "older"}}, logged("End e r"),
        )
    )  # fmt: skip


@pytest.mark.parametrize("choice", [{"option": "Germany"}, {"value": "de"}, {"index": 1}])
async def test_select_by_text_value_and_place(play: Play, site: Site, choice: dict[str, Any]) -> None:
    site.show("<select><option value=uk>United Kingdom<option value=de>Germany</select>")

    green(await play({"select": {"css": "select", **choice}}, {"assert_value": {"css": "select", "equals": "de"}}))


LATE = "<select></select><script>setTimeout(() => { document.querySelector('select').innerHTML = '%s'; }, 300)</script>"
PLACES = "<option value=0>1</option><option value=1>2</option><option value=2>Town  hall</option>"


@pytest.mark.parametrize("page", [f"<select>{PLACES}</select>", LATE % PLACES], ids=["at once", "late"])
@pytest.mark.parametrize("kind", ["select", "fill"])
@pytest.mark.parametrize(("given", "chosen"), [("1", "1"), ("Town hall", "2")], ids=["by value", "by text"])
async def test_a_list_is_set_to_the_value_before_the_text(
    play: Play, site: Site, page: str, kind: str, given: str, chosen: str
) -> None:
    """A recorded `change` step says neither that it is a list nor more than the value (issue 5)."""
    site.show(page)

    played = green(
        await play({kind: {"css": "select", "value": given}}, {"assert_value": {"css": "select", "equals": chosen}})
    )

    _, choice, _ = played.trace.played
    seen = {"1": (played.trace.snapshots[choice.snapshot or 0], choice.target or 0)}
    (told,) = lists.as_chosen(read_steps([{"fill": {"css": "select", "value": given}}]), seen)
    assert told.kind == "select"
    if page != LATE % PLACES:  # a list that was still empty when it was seen tells nothing of its options
        assert dict(told.parameters) == {"value" if given == "1" else "option": given}


@pytest.mark.parametrize("kind", ["select", "fill"])
async def test_a_value_that_a_list_does_not_have_is_told_as_an_option(play: Play, site: Site, kind: str) -> None:
    site.show(f"<select>{PLACES}</select>")

    outcome = red(await play({kind: {"css": "select", "value": "9"}, "timeout_ms": 400}), "option")

    assert outcome.message.endswith("has no option {'value': '9'}")


async def test_what_is_no_field_is_not_filled(play: Play, site: Site) -> None:
    site.show("<button>Go</button>")

    red(await play({"fill": {"css": "button", "value": "1"}}), "test")


async def test_upload_takes_files_beside_the_test_and_no_others(play: Play, site: Site, tmp_path: Path) -> None:
    site.show(LOG + "<input type=file multiple onchange='for (const f of this.files) log(f.name)'>")
    folder = tmp_path / "beside"
    folder.mkdir()
    texts(folder, one="1", two="2")
    texts(tmp_path, outside="no")

    done = await play(
        {"upload": {"css": "input", "files": ["one.txt", "two.txt"]}}, logged("one.txt two.txt"), files=folder
    )

    green(done)
    red(await play({"upload": {"css": "input", "files": ["../outside.txt"]}}, files=folder), "test", "2")
    red(await play({"upload": {"css": "input", "files": ["missing.txt"]}}, files=folder), "test", "2")


async def test_drag_to_another_element(play: Play, site: Site) -> None:
    site.show(
        LOG
        + """<div id=a draggable=true style='width:80px;height:40px'>card</div>
        <div id=b style='width:80px;height:40px'
        ondragover='event.preventDefault()' ondrop='log("dropped")'>box</div>"""
    )

    green(await play({"drag": {"css": "#a", "to": {"css": "#b"}}}, logged("dropped")))


async def test_scroll_by_pixels_and_until_something_is_there(play: Play, site: Site) -> None:
    site.show(
        """<div id=list style='height:100px;overflow:auto'></div><script>
        let n = 0; const more = () => { for (let i = 0; i < 20; i++)
            list.insertAdjacentHTML('beforeend', `<p>item ${++n}</p>`) };
        more(); list.onscroll = () => { if (n < 60 && list.scrollTop + 150 > list.scrollHeight) setTimeout(more, 30) };
        </script><div style='height:3000px'></div><p id=end>the end</p>"""
    )

    green(
        await play(
            {"scroll": {"css": "#list", "until": {"text": "item 55", "exact": True}}},
            {"assert_visible": {"text": "item 55", "exact": True}},
            {"scroll": {"by": 1000}},
            {"scroll": {"until": {"css": "#end"}}},
        )
    )
    failed = red(await play({"scroll": {"css": "#list", "until": {"text": "item 900"}}}), "missing", "2")
    assert "item 900" in failed.message


@pytest.mark.parametrize(
    ("answer", "text"),
    [("accept", "yes"), ("dismiss", "no"), ({"answer": "accept", "text": "Ada"}, "Ada")],
)
async def test_a_dialog_is_answered_once_as_the_step_says(play: Play, site: Site, answer: Any, text: str) -> None:
    asks = "prompt('name?')" if isinstance(answer, dict) else "confirm('sure?') ? 'yes' : 'no'"
    site.show(LOG + f'<button onclick="log({asks})">Ask</button>')

    done = await play({"dialog": answer}, {"click": {"css": "button"}}, logged(text), {"click": {"css": "button"}})

    first, second = green(done).trace.evidence.dialogs
    assert (first.place, first.expected) == ((3,), True)
    assert (second.place, second.expected, second.answer) == ((5,), False, "dismissed")


async def test_wait_for_time_elements_and_addresses(play: Play, site: Site) -> None:
    site.show(
        """<p id=soon hidden>here</p><p id=going>there</p><button disabled>Go</button><script>
        setTimeout(() => { soon.hidden = false; going.remove(); document.querySelector('button').disabled = false;
        history.pushState({}, '', '/later') }, 150)</script>"""
    )

    green(
        await play(
            {"wait": 5}, {"wait": {"for": {"css": "#soon"}}}, {"wait": {"for": {"css": "#going"}, "state": "hidden"}},
            {"wait": {"for": {"css": "button"}, "state": "enabled"}}, {"wait": {"url": {"contains": "/later"}}},
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wait", "cause"),
    [
        ({"for": {"css": "#no"}}, "missing"),
        ({"for": {"css": "p"}, "state": "hidden"}, "missing"),
        ({"for": {"css": "p, button"}}, "many"),
        ({"for": {"css": "button"}, "state": "enabled"}, "check"),
        ({"url": {"contains": "/never"}}, "check"),
    ],
)
async def test_a_wait_that_is_in_vain(play: Play, site: Site, wait: dict[str, Any], cause: str) -> None:
    site.show("<p>here</p><button disabled>Go</button>")

    red(await play({"wait": wait}, step_timeout_ms=1500), cause, "2")


async def test_extract_and_set_give_values_to_later_steps(play: Play, site: Site) -> None:
    site.show("<p id=no data-id=7>Order  \n 12</p><input value=typed>")

    green(
        await play(
            {"extract": {"css": "#no", "into": "order"}},
            {"assert_variable": {"variable": "order", "equals": "Order 12"}},
            {"extract": {"css": "input", "what": "value", "into": "typed"}},
            {"extract": {"css": "#no", "what": "data-id", "into": "id"}},
            {"extract": {"css": "p", "what": "url", "into": "where"}},
            {"set": {"into": "whole", "value": "${typed}/${id}"}},
            {"assert_variable": {"variable": "whole", "equals": "typed/7"}},
            {"assert_variable": {"variable": "where", "equals": "/"}},
        )
    )  # fmt: skip


async def test_a_variable_without_a_value_is_the_test_s_own_fault(play: Play, site: Site) -> None:
    site.show("<input>")

    red(await play({"fill": {"css": "input", "value": "${nobody}"}}), "test", "2")


async def test_screenshots_of_page_and_element(play: Play, site: Site) -> None:
    site.show("<h1>Shop</h1>")

    green(await play({"screenshot": "whole"}, {"screenshot": {"css": "h1", "as": "title"}}))


async def test_frames_also_inside_frames(play: Play, site: Site) -> None:
    site.show("<iframe id=outer src=/outer></iframe>")
    site.show("<h2>outer</h2><iframe name=inner src=/inner></iframe>", "/outer")
    site.show("<button onclick='this.textContent = \"done\"'>Pay</button>", "/inner")
    inner = [{"css": "#outer"}, {"css": "[name=inner]"}]

    done = await play(
        {"assert_text": {"css": "h2", "frame": [{"css": "#outer"}], "equals": "outer"}},
        {"click": {"role": "button", "name": "Pay", "frame": inner}},
        {"assert_text": {"css": "button", "frame": inner, "equals": "done"}},
    )

    page, target = green(done).trace.seen((3,)) or pytest.fail("the step remembers its element")
    assert page.url == site.url + "/"
    assert page.elements[target].tag == "button"
    assert [one.edge for one in page.ancestors(target) if one.edge] == ["frame", "frame"]


async def test_blocks_are_entered_and_places_name_their_steps(play: Play, site: Site) -> None:
    site.show("<button>One</button><button>Two</button>")

    done = await play(
        {
            "intent": {
                "goal": "press both",
                "steps": [{"click": {"text": "One"}}, {"click": {"text": "Three"}, "timeout_ms": 200}],
            }
        }
    )

    assert red(done, "missing").place == (2, 2)
    inner = {"group": {"steps": [{"intent": {"goal": "one", "steps": [{"click": {"text": "One"}}]}}]}}
    assert [one.place for one in green(await play(inner)).trace.played] == [(1,), (2, 1, 1)]


async def test_an_optional_step_may_fail(play: Play, site: Site) -> None:
    site.show("<h1>Shop</h1>")

    done = await play(
        {"click": {"text": "Accept cookies"}, "optional": True, "timeout_ms": 200}, {"assert_visible": {"css": "h1"}}
    )

    skipped = green(done).trace.played[1]
    assert skipped.skipped
    assert skipped.error is not None


async def test_a_popup_does_not_take_over_the_run(play: Play, site: Site) -> None:
    site.show("<a href=/help target=_blank>Help</a><h1>Shop</h1>")
    site.show("<h1>Help</h1>", "/help")

    green(await play({"click": {"text": "Help"}}, {"assert_text": {"css": "h1", "equals": "Shop"}}))


async def test_a_step_has_its_own_patience(play: Play, site: Site) -> None:
    site.show("<script>setTimeout(() => document.body.innerHTML = '<button>Late</button>', 400)</script>")

    green(await play({"click": {"text": "Late"}, "timeout_ms": 5000}, step_timeout_ms=100))


async def test_a_download_is_no_navigation_that_fails(play: Play, site: Site) -> None:
    site.show("<a href=/file download>Save</a><h1>Shop</h1>")
    site.pages["/file"] = Answer("a,b", kind="text/csv", headers={"Content-Disposition": "attachment"})

    green(await play({"click": {"text": "Save"}}, {"assert_visible": {"css": "h1"}}))
