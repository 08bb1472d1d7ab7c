"""A second look at a page is told as what is new since the first, and reads as a look at the whole."""

from __future__ import annotations

import pytest
from playwright.async_api import Frame, Page

from radar.browser import COLLECT, describe
from radar.elements import PageSnapshot
from radar.reading import Reader, read_page
from tests.browser.conftest import Play, Site, green

pytestmark = pytest.mark.browser

LIST = (
    "<style>.hid { display: none } .wide { width: 400px } #hint::before { content: 'Hint: ' } "
    "[data-on] + p::after { content: ' on' } "
    ".off .ref { display: none } .line .ref span { display: block } .first > :first-child { display: none } "
    "[data-hide] + * u { display: none } [data-line] + * u { display: block } [data-icon] + * u::after { content: '!' }"
    "</style><i id=before></i><div role=button class=first id=w>Go<b>far</b><u id=u>now</u></div>"
    "<div id=r role=group aria-labelledby=hint>x</div><ul role=presentation id=q></ul>"
    "<table id=t class=ref><tr><th>No<th>What<tr><td>1<td><span>Blue</span><span id=m>mug</span></table>"
    "<svg id=g><text>chart</text></svg><div id=box class=ref><b role=button>Open <i id=n>it</i></b></div>"
    "<h1 id=h>Shop</h1><button id=b aria-labelledby='h hint'>x</button><span id=hint>all</span>"
    "<form><label>Name <input id=i value=a></label><input type=checkbox id=c><select id=s><option>1<option>2</select>"
    "</form><ul id=l><li>one<li>two<li>three</ul><p id=p>end</p>"
    "<div id=d style='height: 60px; overflow: auto'><div style='height: 500px'>long</div></div>"
)
NEWS = {
    "nothing": "0",
    "a text": "h.textContent = 'Store'",
    "a text node": "p.firstChild.data = 'fin'",
    "an attribute": "b.title = 'go'",
    "a name by reference": "hint.textContent = 'none'",
    "a class that hides": "h.className = 'hid'",
    "a style that widens": "p.className = 'wide'",
    "a sibling's style": "l.dataset.on = 1",
    "one more at the end": "document.body.append(document.createElement('hr'))",
    "one more at the start": "document.body.prepend(document.createElement('hr'))",
    "one less": "l.firstChild.remove()",
    "all less": "l.textContent = ''",
    "another order": "l.append(l.firstElementChild)",
    "a value": "i.value = 'b'",
    "a state": "c.checked = true; s.selectedIndex = 1",
    "disabled": "i.disabled = true",
    "scrolled": "d.scrollTop = 40",
    "a cell": "m.textContent = 'cup'",
    "a header's neighbour": "t.rows[0].cells[1].outerHTML = '<td>x</td>'",
    "an icon's text": "g.firstChild.textContent = 'graph'",
    "a part of a name": "n.textContent = 'all'",
    "something else that hides": "document.body.className = 'off'",
    "something else that breaks a line": "document.body.className = 'line'",
    "a rule that hides the first": "l.className = 'first'",
    "the first of a list, which a rule hides": "l.className = 'first'; l.prepend(document.createElement('li'))",
    "a neighbour that hides": "before.dataset.hide = 1",
    "a neighbour that breaks a line": "before.dataset.line = 1",
    "a neighbour that adds a text": "before.dataset.icon = 1",
    "one more before what a rule hides": "w.prepend(document.createElement('s'))",
    "moved to where its role is another": "q.append(l.firstElementChild)",
    "muted": "box.setAttribute('aria-hidden', true)",
    "a role": "box.setAttribute('role', 'button'); l.setAttribute('role', 'presentation')",
    "a new style sheet": "document.head.append(Object.assign(document.createElement('style'), "
    "{ textContent: 'li { visibility: hidden }' }))",
    "a style sheet that adds texts": "document.head.append(Object.assign(document.createElement('style'), "
    "{ textContent: 'td::before { content: \"cell\" }' }))",
    "moved elsewhere": "box.append(document.querySelector('td')); t.after(m)",
    "very much": "for (let k = 0; k < 700; k++) "
    "document.body.append(Object.assign(document.createElement('i'), { title: k }))",
    "the title": "document.title = 'other'",
    "a shadow root": "p.attachShadow({mode: 'open'}).innerHTML = '<b>deep</b>'",
    "a frame": "return new Promise((done) => { const f = document.createElement('iframe'); "
    "f.srcdoc = '<h2>in</h2>'; f.onload = done; document.body.append(f) })",
    "everything": "document.body.innerHTML = '<h1 id=h>New</h1><p id=p>x</p>'",
}


class Looker:
    def __init__(self) -> None:
        self.reader = Reader()
        self.told = ""

    async def look(self, where: Page | Frame, target: str = "h1") -> PageSnapshot:
        self.told = await describe(where.locator(target), known=self.reader.known)
        return self.reader.page(self.reader.look(self.told))

    @property
    def is_whole(self) -> bool:
        return '"since":' not in self.told


async def whole(page: Page) -> PageSnapshot:
    """The page as somebody describes it who never saw it before."""
    return read_page(str(await page.evaluate(f"({COLLECT.strip().rstrip(';')})(null)")))[0]


@pytest.mark.parametrize("news", NEWS.values(), ids=NEWS.keys())
async def test_what_is_new_reads_as_the_whole_page(page: Page, site: Site, news: str) -> None:
    site.show(LIST)
    await page.goto(site.url + "/")
    looker = Looker()
    before = await looker.look(page, "body")
    kept = tuple(before.elements)

    await page.evaluate(f"() => {{ {news} }}")

    for _ in range(2):
        assert await looker.look(page, "body") == await whole(page)
        assert not looker.is_whole
    assert before.elements == kept


async def test_a_long_chain_of_news_reads_as_the_whole_page(page: Page, site: Site) -> None:
    site.show(LIST)
    await page.goto(site.url + "/")
    looker = Looker()

    for news in [*NEWS.values()][:-2]:
        await page.evaluate(f"() => {{ {news} }}")
        assert await looker.look(page, "body") == await whole(page), news


async def test_a_document_that_came_after_is_told_as_a_whole(page: Page, site: Site) -> None:
    site.show(LIST)
    site.show("<h1>Other</h1>", "/other")
    looker = Looker()
    for path in ("/", "/other", "/", "/"):
        await page.goto(site.url + path)
        assert await looker.look(page) == await whole(page)
        assert looker.is_whole


async def test_a_look_whose_answer_was_lost_is_no_ground_for_the_next(page: Page, site: Site) -> None:
    site.show(LIST)
    await page.goto(site.url + "/")
    looker = Looker()
    await looker.look(page)
    await page.evaluate("() => { h.textContent = 'Store' }")
    await describe(page.locator("h1"), known=looker.reader.known)  # and nobody reads it

    assert await looker.look(page) == await whole(page)
    assert looker.is_whole
    await looker.look(page)
    assert not looker.is_whole


async def test_each_frame_has_looks_of_its_own(page: Page, site: Site) -> None:
    site.show("<h1>Outer</h1><iframe src=/in></iframe>")
    site.show("<h1>Inner</h1>", "/in")
    await page.goto(site.url + "/")
    looker = Looker()
    inner = page.frames[1]
    for where in (page, inner, page, inner):
        await where.evaluate("() => { document.querySelector('h1').append('!') }")
        assert await looker.look(where) == await whole(page)
    assert not looker.is_whole

    await page.evaluate("() => { const f = document.querySelector('iframe'); f.replaceWith(f.cloneNode()) }")
    await page.frames[1].wait_for_selector("h1")

    assert await looker.look(page.frames[1]) == await whole(page)
    assert looker.is_whole
    assert await looker.look(page) == await whole(page)


async def test_secrets_that_come_later_are_hidden_as_well(play: Play, site: Site) -> None:
    site.show("<p id=p>none</p><button onclick=\"p.textContent = 'it is hush-hush'\">Tell</button><ul><li>1<li>2</ul>")

    done = await play(
        {"click": {"css": "button"}},
        {"assert_text": {"css": "#p", "contains": "it is"}},
        values={"x": "hush-hush"},
        secrets=frozenset({"hush-hush"}),
    )

    texts = [one.visible_text for one in green(done).trace.snapshots]
    assert [("it is [hidden]" in text, "hush" in text) for text in texts] == [(False, False), (True, False)]
