"""Pages that are large, odd or hostile are described all the same, and steer nothing."""

from __future__ import annotations

import time

import pytest
from playwright.async_api import Page

from radar.browser import COLLECT, snapshot
from radar.elements import Element, PageSnapshot
from radar.reading import pack, read_page, unpack
from tests.browser.conftest import Answer, Play, Site, green

pytestmark = pytest.mark.browser


async def describe(page: Page, site: Site, body: str) -> PageSnapshot:
    site.show(body)
    await page.goto(site.url + "/")
    seen, _ = await snapshot(page)
    assert unpack(pack(seen)[1]) == seen
    return seen


def by_id(page: PageSnapshot, name: str) -> Element:
    return next(one for one in page.elements if one.get("id") == name)


OVERRIDES = {
    "JSON": "JSON.stringify = () => '{}'; JSON.parse = () => 0",
    "Array": "for (const n of ['push', 'map', 'filter', 'join', 'some', 'find', 'includes', 'slice', Symbol.iterator]) "
    "Array.prototype[n] = () => { throw 'mine' }",
    "String": "for (const n of ['replace', 'trim', 'toLowerCase', 'toUpperCase', 'split', 'slice']) "
    "String.prototype[n] = () => 'evil'",
    "Element": "for (const n of ['getAttribute', 'hasAttribute', 'matches', 'closest', 'getBoundingClientRect', "
    "'checkVisibility']) Element.prototype[n] = () => 'evil'",
    "getters": "for (const n of ['children', 'tagName', 'attributes', 'shadowRoot']) "
    "Object.defineProperty(Element.prototype, n, { get() { return 'evil' } })",
    "Map": "window.Map = window.Set = window.WeakMap = function () { throw 'mine' }; Map.prototype = {}",
    "Function": "Function.prototype.call = Function.prototype.apply = () => 'evil'",
    "style": "window.getComputedStyle = () => ({ display: 'none', visibility: 'hidden' })",
    "toJSON": "Array.prototype.toJSON = () => 'evil'; Object.prototype.toJSON = () => 'evil'; "
    "String.prototype.toJSON = () => 'evil'",
    "Object": "Object.prototype.evil = 1; Object.getOwnPropertyDescriptor = () => ({ get: () => 'evil' })",
    "top": "window.parent = window.self = null; document.elementFromPoint = () => null",
    "create": "document.createElementNS = document.createElement = () => document.body",
}


@pytest.mark.parametrize("script", OVERRIDES.values(), ids=OVERRIDES.keys())
async def test_what_a_page_has_overridden_steers_nothing(page: Page, site: Site, script: str) -> None:
    body = "<h1 id=a title=tip>Shop</h1><button id=b aria-label=Pay>x</button>"
    plain = await describe(page, site, body + "<script></script>")

    assert (await describe(page, site, body + f"<script>{script}</script>")).elements == plain.elements


async def test_a_page_that_overrides_everything_is_played_as_well(play: Play, site: Site) -> None:
    site.show(f"<p id=a>Shop</p><script>{OVERRIDES['JSON']}; {OVERRIDES['toJSON']}; {OVERRIDES['style']}</script>")

    done = await play({"assert_text": {"css": "#a", "equals": "Shop"}}, {"click": {"css": "#a"}})

    page, target = green(done).trace.seen((2,)) or pytest.fail("the check remembers its element")
    assert page.elements[target].get("id") == "a"


CLOBBERED = (
    "children attributes tagName shadowRoot firstChild nextSibling parentElement parentNode nodeType getAttribute "
    "hasAttribute matches closest getBoundingClientRect checkVisibility getRootNode querySelectorAll clientHeight "
    "scrollHeight hidden innerText labels type checked textContent previousElementSibling assignedSlot"
)


async def test_a_form_whose_fields_are_named_like_what_dom_code_asks(page: Page, site: Site) -> None:
    fields = "".join(f"<label>F {name} <input name={name}></label>" for name in CLOBBERED.split())

    seen = await describe(
        page, site, f"<form id=f aria-label=Order>{fields}<p id=last>end</p></form><h2 id=after>x</h2>"
    )

    form = by_id(seen, "f")
    assert (form.tag, form.role, form.name) == ("form", "form", "Order")
    assert [one.get("name") for one in seen.elements if one.tag == "input"] == CLOBBERED.split()
    assert all(one.label.startswith("F ") for one in seen.elements if one.tag == "input")
    assert by_id(seen, "last").parent == form.index
    assert by_id(seen, "after").parent == form.parent


async def test_a_form_inside_a_shadow_root_or_frame_may_do_so_too(page: Page, site: Site) -> None:
    form = "<form><input name=children><input name=nodeType><b>x</b></form>"
    site.show(form, "/inner")

    seen = await describe(
        page,
        site,
        "<div id=h></div><iframe src=/inner></iframe>"
        f"<script>h.attachShadow({{mode: 'open'}}).innerHTML = `{form}`</script>",
    )

    assert [one.tag for one in seen.elements].count("b") == 2
    assert [one.get("name") for one in seen.elements if one.tag == "input"] == ["children", "nodeType"] * 2


async def test_a_document_whose_images_are_named_like_what_dom_code_asks(page: Page, site: Site) -> None:
    images = "".join(
        f"<img name={name}><form name={name}></form>" for name in "title body readyState styleSheets".split()
    )

    seen = await describe(page, site, images + "<img name=documentElement><img name=elementFromPoint><h1 id=a>x</h1>")

    assert seen.title == "Shop"
    assert by_id(seen, "a").visible


async def test_a_title_of_5_mb_and_long_texts_are_cut(page: Page, site: Site) -> None:
    site.pages["/"] = f"<title>{'T' * 5_000_000}</title><p id=p title='{'t' * 9000}'>{'x' * 900_000}</p>"
    await page.goto(site.url + "/")

    seen, _ = await snapshot(page)

    assert seen.title == "T" * 300
    assert by_id(seen, "p").get("title") == "t" * 300
    assert by_id(seen, "p").own_text == "x" * 300
    assert len(pack(seen)[1]) < 10_000


async def test_more_than_20000_elements_are_cut_and_said_to_be(page: Page, site: Site) -> None:
    began = time.monotonic()

    seen = await describe(page, site, "<p>x</p>" * 25_000)

    assert len(seen.elements) == 20_000
    assert not seen.complete
    assert time.monotonic() - began < 120, "it ends at some time"


async def test_elements_stand_deep_in_one_another(page: Page, site: Site) -> None:
    seen = await describe(page, site, "<div>" * 480 + "<b id=deep>x</b>")

    assert by_id(seen, "deep").visible


@pytest.mark.parametrize(
    "text",
    [
        "\u202eevil\u202c txt",
        "\u05d0\u05d1\u05d2 42",
        "a\ufffd",
        "\U0001f600 \u0301",
        '"\\</script>\u2028',
        "\x01\x1b[31m",
    ],
)
async def test_odd_texts_are_kept_as_they_are(page: Page, site: Site, text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")

    seen = await describe(page, site, f'<p id=p title="{escaped}">{escaped}</p>')

    assert by_id(seen, "p").get("title") == text
    assert by_id(seen, "p").own_text == " ".join(text.split())


async def test_nul_and_lone_surrogates_break_nothing(page: Page, site: Site) -> None:
    seen = await describe(page, site, "a\x00b<p id=p></p><script>p.textContent = 'x\\ud800y\\0z'</script>")

    assert "x" in by_id(seen, "p").own_text


async def test_closed_shadow_roots_are_not_seen(page: Page, site: Site) -> None:
    seen = await describe(
        page, site,
        "<div id=o></div><div id=c></div><script>o.attachShadow({mode: 'open'}).innerHTML = '<b id=open>x</b>';"
        "c.attachShadow({mode: 'closed'}).innerHTML = '<b id=closed>x</b>'</script>",
    )  # fmt: skip

    assert by_id(seen, "open").edge == "shadow"
    assert not [one for one in seen.elements if one.get("id") == "closed"]


async def test_frames_of_the_same_origin_are_seen_however_deep(page: Page, site: Site) -> None:
    site.show("<iframe id=two src=/two></iframe>", "/one")
    site.show("<b id=deep>x</b>", "/two")

    seen = await describe(page, site, "<h1>x</h1><iframe id=one src=/one></iframe><p id=last>x</p>")

    deep = by_id(seen, "deep")
    assert [one.get("id") for one in seen.ancestors(deep.index) if one.tag == "iframe"] == ["two", "one"]
    assert by_id(seen, "last").index > deep.index
    assert deep.box.x > by_id(seen, "one").box.x
    assert deep.box.y > by_id(seen, "one").box.y


@pytest.mark.parametrize("kind", ["another port", "another site"])
async def test_frames_of_another_origin_are_seen_in_their_place(
    page: Page, site: Site, elsewhere: Site, kind: str
) -> None:
    elsewhere.show("<button id=pay>Pay</button><iframe id=nested src=/nested></iframe>")
    elsewhere.show("<b id=deep>x</b>", "/nested")
    address = elsewhere.url if kind == "another port" else elsewhere.other_site_url

    seen = await describe(page, site, f"<h1>x</h1><iframe id=f src={address}/></iframe><p id=last>x</p>")
    inside, target = await snapshot(page.locator("#f").content_frame.locator("#pay"))

    pay = by_id(seen, "pay")
    assert [one.get("id") for one in seen.ancestors(pay.index) if one.tag == "iframe"] == ["f"]
    assert [one.get("id") for one in seen.ancestors(by_id(seen, "deep").index) if one.tag == "iframe"] == [
        "nested",
        "f",
    ]
    assert by_id(seen, "last").index == len(seen.elements) - 1
    assert [one.index for one in seen.elements] == list(range(len(seen.elements)))
    assert inside.url == site.url + "/"
    assert target == pay.index


async def test_a_frame_that_never_answers_is_left_out(page: Page, site: Site, elsewhere: Site) -> None:
    elsewhere.pages["/"] = Answer("", 204)

    seen = await describe(page, site, f"<iframe id=f src={elsewhere.url}/></iframe><p id=last>x</p>")

    assert by_id(seen, "last").visible


async def test_a_page_in_quirks_mode(page: Page, site: Site) -> None:
    site.pages["/"] = "<title>Q</title><body bgcolor=white><font id=f>old</font>"
    await page.goto(site.url + "/")

    seen, _ = await snapshot(page)

    assert by_id(seen, "f").own_text == "old"


async def test_what_is_not_html_is_a_page_too(page: Page, site: Site) -> None:
    site.pages["/"] = Answer("{}", kind="application/json")
    site.pages["/svg"] = Answer("<svg xmlns='http://www.w3.org/2000/svg'><text>x</text></svg>", kind="image/svg+xml")

    await page.goto(site.url + "/")
    assert (await snapshot(page))[0].elements
    await page.goto(site.url + "/svg")
    assert (await snapshot(page))[0].elements


async def test_what_is_in_the_way_of_the_whole_page_covers_everything_under_it(page: Page, site: Site) -> None:
    seen = await describe(
        page, site,
        "<button id=under>Go</button>"
        "<div style='position:fixed;inset:0;background:#0008'><button id=over>OK</button></div>",
    )  # fmt: skip

    assert by_id(seen, "under").covered
    assert not by_id(seen, "over").covered


@pytest.mark.parametrize(
    ("style", "wanted"),
    [
        ("#a::before { content: 'New ' }", "New Save"),
        ("button:before { content: attr(data-x) } ", "data Save"),
        ("@media (min-width: 1px) { @supports (display: grid) { ::after { content: '!' } } }", "Save!"),
        ("body { button { &::after { content: '?' } } }", "Save?"),
        ("#a::after { content: '' } #b::after { content: 'no' }", "Save"),
    ],
)
async def test_text_that_a_style_adds_is_part_of_the_name(page: Page, site: Site, style: str, wanted: str) -> None:
    seen = await describe(page, site, f"<style>{style}</style><button id=a data-x='data '>Save</button>")

    assert by_id(seen, "a").name == wanted
    assert await page.get_by_role("button", name=wanted, exact=True).count() == 1


async def test_text_added_later_is_seen_in_the_next_look(page: Page, site: Site) -> None:
    await describe(page, site, "<style id=s>p { color: red }</style><button id=a>Save</button><p id=h>x</p>")
    await page.evaluate(
        "document.styleSheets[0].insertRule('#a::after { content: \"*\" }'); h.style.cursor = 'pointer'"
    )

    seen, _ = await snapshot(page)

    assert by_id(seen, "a").name == "Save*"
    assert by_id(seen, "h").clickable


async def test_the_hand_of_a_custom_element_s_own_sheet_is_seen(page: Page, site: Site) -> None:
    seen = await describe(
        page, site,
        """<x-b id=h>x</x-b><script>customElements.define('x-b', class extends HTMLElement { constructor() { super();
        this.attachShadow({mode: 'open'}).innerHTML = '<style>:host { cursor: pointer }</style><slot></slot>' } })
        </script>""",
    )  # fmt: skip

    assert by_id(seen, "h").clickable


LIVELY = """<style>#menu { display: none } #top:hover #menu { display: block } #far { height: 2000px }
.big { font-size: 30px } #n:focus { border: 9px solid } .on::after { content: ' on' }</style>
<div id=top><b>Menu</b><a id=menu href=/>Inside</a></div><label id=l>Name <input id=n value=a></label>
<label>News <input id=c type=checkbox></label><fieldset id=s><button id=g>Go</button></fieldset>
<select id=p aria-label=Size><option>S<option>M</select><label>Size of <select id=q><option>S<option>M</select></label>
<div id=box style='height:60px;overflow:auto'><p style='height:900px'>long</p></div>
<p id=far>far</p><div id=end></div>"""


@pytest.mark.parametrize(
    "change",
    [
        "1",
        "n.value = 'typed'",
        "c.checked = true",
        "q.selectedIndex = 1",
        "n.focus()",
        "scrollTo(0, 500)",
        "box.scrollTop = 300",
        "s.disabled = true",
        "g.className = 'on'",
        "g.firstChild.data = 'Stop'",
        "end.innerHTML = '<h2>new</h2>'",
        "end.attachShadow({ mode: 'open' }).innerHTML = '<i>shadow</i>'",
        "document.styleSheets[0].insertRule('#far { display: none }')",
        "document.styleSheets[0].cssRules[1].style.display = 'none'",
        "document.styleSheets[0].cssRules[5].style.content = '\" off\"'; g.className = 'on'",
        "document.title = 'Other'",
        "history.pushState({}, '', '/other')",
        "document.body.innerHTML = '<p>all new</p>'",
        "HOVER",
    ],
)
async def test_a_second_look_sees_all_that_has_changed(page: Page, site: Site, change: str) -> None:
    await describe(page, site, LIVELY)
    if change == "HOVER":
        await page.hover("#top b")
    else:
        await page.evaluate(f"() => {{ {change} }}")

    seen, _ = await snapshot(page)
    again, _ = await snapshot(page)

    afresh, _ = read_page(await page.evaluate(COLLECT))
    assert seen == afresh
    assert again == afresh
