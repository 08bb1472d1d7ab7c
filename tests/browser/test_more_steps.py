"""repair_ladder/runner: tabs, pointer-driven drags, files, fragments, and the checks beside the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from repair_ladder.step_format import read_steps
from tests.browser.conftest import Answer, Play, Site, environment, green, red, texts

pytestmark = pytest.mark.browser

SOON = {"step_timeout_ms": 300}


# --- tabs ----------------------------------------------------------------------------------------------


async def test_a_tab_that_opens_late_is_switched_to_used_and_closed(play: Play, site: Site) -> None:
    site.show("<button onclick=\"setTimeout(() => window.open('/help'), 150)\">Help</button><h1>Shop</h1>")
    site.show("<h1>Help</h1><button>Ask</button>", "/help")

    done = await play(
        {"click": {"text": "Help"}},
        {"tab": {"switch": "newest"}},
        {"assert_text": {"css": "h1", "equals": "Help"}},
        {"assert_url": {"equals": "/help"}},
        {"tab": {"switch": "/"}},
        {"assert_text": {"css": "h1", "equals": "Shop"}},
        {"tab": {"switch": {"contains": "hel"}}},
        {"tab": {"close": True}},
        {"assert_text": {"css": "h1", "equals": "Shop"}},
    )

    page, target = green(done).trace.seen((4,)) or pytest.fail("the check remembers its element")
    assert (page.url, page.elements[target].own_text) == (site.url + "/help", "Help")


async def test_a_tab_that_is_not_there_is_missing(play: Play, site: Site) -> None:
    site.show("<h1>Shop</h1>")

    assert "newer tab" in red(await play({"tab": {"switch": "newest"}}, **SOON), "missing", "2").message
    assert "/no*" in red(await play({"tab": {"switch": "/no*"}}, **SOON), "missing", "2").message
    red(await play({"tab": {"close": True}}), "test", "2")


async def test_a_popup_that_closes_itself_gives_the_page_back(play: Play, site: Site) -> None:
    site.show("<button onclick=\"window.open('/pick', 'pick', 'width=300,height=300')\">Pick</button><p id=p></p>")
    site.show("<button onclick=\"opener.p.textContent = 'red'; window.close()\">Red</button>", "/pick")

    green(
        await play(
            {"click": {"text": "Pick"}},
            {"tab": {"switch": "newest"}},
            {"click": {"text": "Red"}},
            {"assert_text": {"css": "#p", "equals": "red"}},
        )
    )


async def test_a_proof_fences_popups_as_well(play: Play, site: Site, elsewhere: Site) -> None:
    site.show(f"<button onclick=\"window.open('{elsewhere.url}/away')\">Go</button>")
    elsewhere.show("<h1>Away</h1>", "/away")

    await play({"click": {"text": "Go"}}, {"wait": 300}, fenced_to=frozenset({site.url}))

    assert not elsewhere.was_asked("/away")


# --- drags and files -----------------------------------------------------------------------------------

LIST = """<style>li { height: 40px; touch-action: none; user-select: none }</style>
<ul id=l><li>one<li>two<li>three</ul><script>
let held = null, from = 0, moves = 0;
l.onpointerdown = (e) => {
  held = e.target.closest('li'); from = e.clientY; moves = 0; l.setPointerCapture(e.pointerId); };
l.onpointermove = (e) => {
  if (!held || Math.abs(e.clientY - from) < 5 || ++moves < 4) return;
  const over = [...l.children].find((li) => { const r = li.getBoundingClientRect();
    return e.clientY > r.top && e.clientY < r.bottom; });
  if (over && over !== held)
    over[held.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING ? 'after' : 'before'](held);
};
l.onpointerup = () => { held = null; };
</script>"""


async def test_a_list_that_follows_the_pointer_is_sorted_by_a_drag(play: Play, site: Site) -> None:
    site.show(LIST)

    green(
        await play(
            {"drag": {"text": "one", "to": {"text": "three"}}},
            {"assert_text": {"css": "li:last-child", "equals": "one"}},
            {"drag": {"text": "one", "to": {"text": "two"}}},
            {"assert_text": {"css": "li:first-child", "equals": "one"}},
        )
    )
    assert "to drag to" in red(await play({"drag": {"text": "one", "to": {"css": "#no"}}}, **SOON), "missing").message


async def test_an_upload_by_way_of_a_button(play: Play, site: Site, tmp_path: Path) -> None:
    site.show(
        "<button onclick='f.click()'>Choose</button><input type=file id=f hidden "
        "onchange='p.textContent = f.files[0].name'><p id=p></p>"
    )

    green(
        await play(
            {"upload": {"css": "button", "files": ["one.txt"]}},
            {"assert_text": {"css": "#p", "equals": "one.txt"}},
            files=texts(tmp_path, one="1"),
        )
    )


async def test_an_upload_in_a_fragment_takes_the_file_beside_the_fragment(
    play: Play, site: Site, tmp_path: Path
) -> None:
    site.show(
        '<input type=file id=f onchange="f.files[0].text().then((text) => { p.textContent += text; })"><p id=p></p>'
    )
    own, theirs = tmp_path / "test", tmp_path / "fragment"
    for folder in (own, theirs):
        folder.mkdir()
        (folder / "it.txt").write_text(f"the {folder.name}'s. ")
    upload = {"upload": {"css": "#f", "files": ["it.txt"]}}
    shared = {"send": read_steps([upload]), "outer": read_steps([{"use": "send"}]), "bare": read_steps([upload])}
    given = {"fragments": shared, "fragment_files": {"send": theirs}, "files": own}

    green(
        await play(
            {"use": "outer"}, {"assert_text": {"css": "#p", "equals": "the fragment's."}},
            upload, {"assert_text": {"css": "#p", "equals": "the fragment's. the test's."}}, **given,
        )
    )  # fmt: skip
    outcome = red(await play({"use": "bare"}, **given), "test", "2.1")

    assert outcome.message == "in the fragment 'bare', step 1: the file 'it.txt' is not there"


async def test_a_downloaded_file_is_taken_by_name_and_text(play: Play, site: Site) -> None:
    site.show("<a href=/file>Save</a>")
    site.pages["/file"] = Answer(
        "a,b", kind="text/csv", headers={"Content-Disposition": "attachment; filename=orders.csv"}
    )

    done = await play(
        {"click": {"text": "Save"}},
        {"extract": {"what": "download", "into": "name"}},
        {"assert_variable": {"variable": "name", "equals": "orders.csv"}},
        {"extract": {"what": "download_text", "into": "rows"}},
        {"assert_variable": {"variable": "rows", "contains": "a,b"}},
        {"goto": "/file"},
        {"assert_visible": {"text": "Save"}},
    )

    assert green(done).trace.evidence.downloads == ("orders.csv", "orders.csv")
    red(await play({"extract": {"what": "download", "into": "name"}}, **SOON), "missing", "2")


async def test_a_virtual_list_in_a_shadow_root_is_scrolled_until_a_row_is_there(play: Play, site: Site) -> None:
    site.show(
        """<div id=host></div><script>
        const root = host.attachShadow({mode: 'open'});
        root.innerHTML = '<div id=box style="height:100px;overflow:auto">' +
          '<div id=all style="height:20000px;position:relative"></div></div>';
        const box = root.getElementById('box'), all = root.getElementById('all');
        const draw = () => { const at = Math.floor(box.scrollTop / 20); all.textContent = '';
          for (let n = at; n < at + 8; n++) { const p = document.createElement('p'); p.textContent = 'row ' + n;
            p.style.cssText = `position:absolute;margin:0;top:${n * 20}px`; all.append(p); } };
        box.onscroll = draw; draw();</script>"""
    )

    green(
        await play(
            {"scroll": {"css": "#box", "until": {"text": "row 700", "exact": True}}},
            {"assert_visible": {"text": "row 700", "exact": True}},
            {"scroll": {"css": "#box", "by": -14000}},
            {"assert_visible": {"text": "row 0", "exact": True}},
        )
    )


# --- fragments -----------------------------------------------------------------------------------------


async def test_a_fragment_is_played_with_values_of_its_own(play: Play, site: Site) -> None:
    site.show("<input id=a><input id=b>")
    shared = {
        "fill in": read_steps(
            [
                {"fill": {"css": "${where}", "value": "${what}"}},
                {"click": {"css": "#no"}, "optional": True, "timeout_ms": 50},
                {"extract": {"css": "${where}", "what": "value", "into": "got"}},
            ]
        ),
        "twice": read_steps([{"use": {"fragment": "fill in", "values": {"where": "#b"}}}]),
    }

    done = await play(
        {"use": {"fragment": "fill in", "values": {"where": "#a", "what": "x"}}},
        {"assert_variable": {"variable": "got", "equals": "x"}},
        {"use": "twice"},
        {"assert_value": {"css": "#b", "equals": "y"}},
        {"assert_text": {"css": "${where}", "equals": ""}, "timeout_ms": 50},
        fragments=shared,
        values={"what": "y"},
    )

    assert "'where' has no value" in red(done, "test", "6").message


async def test_fragments_that_fail_or_go_round_in_a_circle_say_where(play: Play, site: Site) -> None:
    site.show("<h1>Shop</h1>")
    shared = {
        "a": read_steps([{"use": "b"}]),
        "b": read_steps([{"goto": "/"}, {"use": "a"}]),
        "fails": read_steps([{"assert_text": {"css": "h1", "equals": "Store"}}]),
    }

    circle = red(await play({"use": "a"}, fragments=shared), "test", "2.1.2")
    fails = red(await play({"use": "fails"}, fragments=shared, **SOON), "check", "2.1")
    missing = red(await play({"use": "nobody"}, fragments=shared), "test", "2")

    assert "a -> b -> a" in circle.message
    assert "in the fragment 'fails', step 1" in fails.message
    assert fails.observed == "Shop"
    assert "import a test of that name" in missing.message


# --- what is announced ---------------------------------------------------------------------------------

TOASTS = {
    "a live region": "const t = document.createElement('div'); t.setAttribute('role', 'status'); "
    "t.textContent = 'Saved';",
    "a class of a library": "const t = document.createElement('div'); t.className = 'Toastify__toast'; "
    "t.textContent = 'Saved';",
    "a shadow root": "const t = document.createElement('my-toast'); "
    "t.attachShadow({mode: 'open'}).innerHTML = '<div role=alert>Saved</div>';",
}


@pytest.mark.parametrize("make", TOASTS.values(), ids=TOASTS.keys())
async def test_a_toast_that_is_gone_at_once_was_seen(play: Play, site: Site, make: str) -> None:
    site.show(
        f'<button onclick="{{ {make.replace(chr(34), chr(39))} document.body.append(t); '
        'setTimeout(() => t.remove(), 30) }">Save</button><button>Other</button>'
    )

    green(await play({"click": {"text": "Save"}}, {"wait": 150}, {"assert_toast": {"equals": "Saved"}}))
    failed = await play(
        {"click": {"text": "Save"}},
        {"wait": 150},
        {"click": {"text": "Other"}},
        {"assert_toast": None, "timeout_ms": 99},
    )
    assert red(failed, "check", "5").observed == "no toast"  # it belongs to the action before the last


async def test_a_toast_shown_again_and_one_on_the_page_before_this(play: Play, site: Site) -> None:
    site.show(
        "<style>#t { display: none } #t.on { display: block }</style>"
        "<div id=t class=toast>Added<button>×</button></div>"
        "<button id=b onclick=\"t.className = 'toast on'; setTimeout(() => t.className = 'toast', 30)\">Add</button>"
        "<a href=/next onclick=\"t.className = 'toast on'\">Next</a>"
    )
    site.show("<h1>Next</h1>", "/next")

    for step in ({"click": {"css": "#b"}}, {"click": {"text": "Next"}}):
        green(await play(step, {"wait": 150}, {"assert_toast": {"equals": "Added"}}))
    assert red(await play({"assert_toast": {"contains": "Added"}}, **SOON), "check").observed == "no toast"


async def test_a_page_that_breaks_what_watchers_use_hides_no_toast(play: Play, site: Site) -> None:
    site.show(
        "<script>window.MutationObserver = function () {}; JSON.stringify = () => 'x'; "
        "Element.prototype.closest = () => { throw 1 }; window.gardenerNoted = () => {};</script>"
        "<button onclick=\"const t = document.createElement('div'); t.setAttribute('role', 'alert'); "
        "t.textContent = 'Paid'; document.body.append(t); setTimeout(() => t.remove(), 30)\">Pay</button>"
    )

    green(await play({"click": {"text": "Pay"}}, {"wait": 100}, {"assert_toast": {"contains": "Paid"}}))


async def test_a_project_names_its_own_toasts(play: Play, site: Site) -> None:
    site.show("<div class=news>Saved</div><div role=alert>Hint</div>")
    own = {"announced_css": {"toast": ".news"}}

    green(await play({"assert_toast": {"equals": "Saved"}}, **own))
    red(await play({"assert_toast": {"equals": "Hint"}}, **own, **SOON), "check")
    wrong = red(await play({"assert_toast": None}, announced_css={"toast": "]["}, **SOON), "test")
    assert "selector" in wrong.message


MODALS = {
    "a native dialog": "<dialog id=d><p>Sure?</p></dialog><script>d.showModal()</script>",
    "a role": "<div role=alertdialog>Sure?</div>",
    "a class of a library": "<div class='modal show'><div class=modal-dialog>Sure?</div></div>",
    "inside a frame": "<iframe srcdoc='<div role=dialog>Sure?</div>'></iframe>",
}


@pytest.mark.parametrize("body", MODALS.values(), ids=MODALS.keys())
async def test_a_modal_is_recognised(play: Play, site: Site, body: str) -> None:
    site.show(body)

    green(await play({"assert_modal": {"contains": "Sure"}}))
    red(await play({"assert_modal": {"contains": "Never"}}, **SOON), "check")


async def test_a_modal_that_is_closed_is_none(play: Play, site: Site) -> None:
    site.show("<dialog>Sure?</dialog><div role=dialog style='display:none'>No</div>")

    assert red(await play({"assert_modal": None}, **SOON), "check").observed == "no modal"


ERRORS = {
    "aria": "<input aria-invalid=true aria-errormessage=e><p id=e>Too short</p>",
    "described": "<input aria-invalid=true aria-describedby=e><p id=e>Too short</p>",
    "a class of a library": "<input><div class=invalid-feedback>Too short</div>",
}


@pytest.mark.parametrize("body", ERRORS.values(), ids=ERRORS.keys())
async def test_an_error_of_a_field_is_recognised(play: Play, site: Site, body: str) -> None:
    site.show(body)

    green(await play({"assert_validation_error": {"equals": "Too short"}}))


async def test_the_browsers_own_message_counts_once_it_is_shown(play: Play, site: Site) -> None:
    site.show("<form><input required><button>Send</button></form><form novalidate><input required></form>")

    red(await play({"assert_validation_error": None}, **SOON), "check")
    green(await play({"click": {"text": "Send"}}, {"assert_validation_error": {"contains": "fill out this field"}}))


# --- console, requests, audits -------------------------------------------------------------------------


async def test_the_console_is_checked_by_level_and_pattern(play: Play, site: Site) -> None:
    site.show("<script>console.log('ready 7'); console.warn('old api')</script><button onclick='boom()'>x</button>")

    green(
        await play(
            {"assert_console": {"none": True}},
            {"assert_console": {"pattern": r"ready \d"}},
            {"assert_console": {"level": "warning", "contains": "old api"}},
            {"assert_console": {"level": "warning", "none": True, "pattern": "new api"}},
        )
    )
    red(await play({"assert_console": {"level": "warning", "none": True}}), "check", "2")
    red(await play({"assert_console": {"level": "warning", "contains": "ready"}}, **SOON), "check", "2")
    thrown = red(await play({"click": {"css": "button"}}, {"assert_console": {"none": True}}), "check", "3")
    assert "boom is not defined" in str(thrown.observed)


async def test_a_console_that_wrote_more_than_is_kept_is_not_called_quiet(play: Play, site: Site) -> None:
    site.show("<script>for (let i = 0; i < 2100; i++) console.log(i); console.error('broke')</script>")

    found = red(await play({"assert_console": {"none": True}}, **SOON), "check", "2")

    assert "not all of which were kept" in found.message


async def test_a_request_is_checked_by_method_address_status_and_body(play: Play, site: Site) -> None:
    site.show(
        """<button onclick="setTimeout(() => fetch('/api/orders?x=1', {method: 'POST',
        body: JSON.stringify({item: 'mug', lines: [{n: 2, secret: 's3cret'}]})}), 100)">Order</button>
        <form method=post action=/form><input name=q value='a b'><button>Send</button></form>"""
    )
    site.pages["/api/orders"] = Answer("{}", 201)
    site.show("<h1>sent</h1>", "/form")
    body = {"item": "mug", "lines": [{"n": 2}]}

    green(
        await play(
            {"click": {"text": "Order"}},
            {"assert_request": {"method": "POST", "url": "/api/orders", "status": 201, "body": body}},
            {"assert_request": {"url": "/api/*"}},
            {"assert_request": {"url": "/api/orders?x=1", "body": "mug"}},
            {"click": {"text": "Send"}},
            {"assert_request": {"method": "POST", "url": "/form", "body": {"q": "a b"}}},
        )
    )
    failed = await play(
        {"click": {"text": "Order"}}, {"assert_request": {"url": "/api/orders", "status": 500}, "timeout_ms": 900},
        secrets=frozenset({"orders?x"}),
    )  # fmt: skip
    said = red(failed, "check", "3")
    assert "answered 201" in str(said.observed)
    assert "orders?x" not in said.message + str(said.observed)


async def test_an_audit_is_a_check_with_a_threshold_and_a_report_without(play: Play, site: Site) -> None:
    site.show("<main><h1>Shop</h1><section id=bad><img src=data:,><button></button></section><p id=good>x</p></main>")

    done = await play(
        {"a11y_audit": None},
        {"a11y_audit": {"css": "#good", "threshold": 0}},
        {"a11y_audit": {"css": "#bad", "rules": ["html-has-lang"], "threshold": "minor"}},
        {"a11y_audit": {"css": "#bad", "rules": ["image-alt"], "threshold": {"serious": 0}}},
        {"a11y_audit": {"css": "#bad", "rules": ["image-alt"], "threshold": 1}},
        {"a11y_audit": {"css": "#bad", "rules": ["image-alt"], "threshold": "serious"}},
    )

    failed = red(done, "check", "7")
    assert failed.observed == "image-alt (critical)"
    assert any(line.startswith("button-name (critical)") for line in failed.trace.evidence.audits)
    assert "cannot be made" in red(await play({"a11y_audit": {"rules": ["no-such-rule"]}}), "test").message


async def test_a_check_beside_the_page_is_no_environment_when_the_app_is_there(play: Play, site: Site) -> None:
    nobody = Site()
    nobody.close()

    environment(await play({"goto": nobody.url + "/"}, {"assert_console": {"none": True}}), "unreachable")
