"""Roles, names and labels as collect.js works them out, against Chromium's own accessibility tree."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from radar.browser import snapshot
from tests.browser.conftest import Site, joined

pytestmark = pytest.mark.browser

# Each line is one element with an id, or several.
PAGE = """
<button id=e1>Save</button> <button id=e2 aria-label="Close dialog">x</button> <button id=e3 title="Help">?</button>
<button id=e4><img alt="Cart" src="data:,"> 3</button> <button id=e5><span aria-hidden=true>*</span>Star</button>
<a id=e6 href=/a>Orders</a> <a id=e7>no link</a> <a id=e8 href=/b><img alt="Logo" src="data:,"></a>
<h1 id=e9>Title <small>sub</small></h1> <h3 id=e10>Third</h3> <p id=e11 role=heading aria-level=2>As heading</p>
<label for=e12>E-mail</label><input id=e12 type=email> <label>Wrapped <input id=e13></label>
<input id=e14 placeholder="Search products" type=search> <input id=e15 title="Only title">
<input id=e16 aria-label="Said">
<span id=x1>First</span> <span id=x2>Last</span> <input id=e17 aria-labelledby="x1 x2">
<input id=e18 type=checkbox aria-label=Agree checked> <label><input id=e19 type=radio name=r> Morning</label>
<input id=e20 type=submit> <input id=e21 type=submit value=Pay> <input id=e22 type=reset>
<input id=e23 type=button value=Go>
<input id=e24 type=image alt="Send it" src="data:,"> <input id=e25 type=number aria-label=Amount>
<input id=e26 type=range aria-label=Volume> <textarea id=e27 aria-label=Message></textarea>
<label for=e28>Country</label><select id=e28><option id=e29>Germany<option>France</select>
<select id=e30 multiple aria-label=Many><option>A</select>
<input id=e31 list=dl aria-label=Listed><datalist id=dl></datalist>
<ul id=e32><li id=e33>One</li></ul> <ol id=e34><li>Two</li></ol> <dl><dt id=e35>Term</dt><dd id=e36>Meaning</dd></dl>
<table id=e37><caption>Prices</caption><tr id=e38><th id=e39>Item</th><td id=e40>Mug</td></tr></table>
<nav id=e41 aria-label=Main></nav> <main id=e42></main> <aside id=e43 aria-label=Side>x</aside>
<header id=e44>h</header>
<footer id=e45>f</footer> <section id=e46 aria-label=News>n</section> <section id=e47>plain</section>
<form id=e48 aria-label=Order><fieldset id=e49><legend>Address</legend><input id=e50 aria-label=Town></fieldset></form>
<article id=e51>a</article> <img id=e52 alt="A mug" src="data:,"> <img id=e53 alt="" src="data:,">
<figure id=e54><figcaption>Fig 1</figcaption></figure> <progress id=e55 value=3 max=9 aria-label=Loading></progress>
<meter id=e56 value=3 max=9 aria-label=Level></meter> <output id=e57>42</output> <hr id=e58>
<details id=e59><summary id=e60>More</summary>inner</details> <dialog id=e61 open aria-label=Confirm>d</dialog>
<div id=e62 role=button tabindex=0>Div button</div> <div id=e63 role="alert">Oops</div> <div id=e64 role=tab>Tab</div>
<div id=e65 role=switch aria-checked=true aria-label=Dark></div>
<div id=e66 role="nonsense link" tabindex=0>Fallback</div>
<button id=e67 role=presentation>Stays</button> <svg id=e68 role=img><title>Drawn</title></svg> <em id=e69>em</em>
<div id=e70 role=combobox aria-label=Pick aria-expanded=false tabindex=0></div>
<div id=e71 role=link aria-hidden=true>away</div>
<button id=e72 hidden>gone</button> <button id=e73 style="visibility:hidden">unseen</button>
<button id=e74>two<br>lines</button> <button id=e75><div>a</div><div>b</div></button>
<button id=e76>  spaced   out </button>
"""
# Chromium's own words for what ARIA calls otherwise, or has no word for.
SAME = {
    "textField": "textbox", "searchBox": "searchbox", "popUpButton": "combobox", "comboBoxMenuButton": "combobox",
    "image": "img", "Section": "", "generic": "", "LabelText": "", "Legend": "", "Figcaption": "", "none": "",
    "LayoutTable": "table", "DisclosureTriangle": "", "DisclosureTriangleGrouped": "", "Details": "group", "Abbr": "",
    "HeaderAsNonLandmark": "", "FooterAsNonLandmark": "", "SectionWithoutName": "", "sectionHeader": "banner",
    "sectionFooter": "contentinfo", "sectionheader": "banner", "sectionfooter": "contentinfo", "StaticText": "",
    "Canvas": "img", "SvgRoot": "img", "graphics-document": "img", "MenuListOption": "option",
}  # fmt: skip
# Where Playwright, whose locators are what counts, reads the specification otherwise than Chromium does; the test that
# asks Playwright itself covers these.
DIFFERENT_ROLE = {"e7": "a link without an address has no role", "e60": "a summary has no role"}
DIFFERENT_NAME = {
    "e35": "nothing names a term",
    "e38": "a row is named by its cells",
    "e54": "a figure is named by its caption",
}


async def chromium_tree(page: Page) -> dict[str, tuple[str, str, bool]]:
    """By id: role, name, whether assistive tools are told of it."""
    session = await page.context.new_cdp_session(page)
    await session.send("Accessibility.enable")
    await session.send("DOM.enable")
    root = (await session.send("DOM.getDocument", {"depth": -1}))["root"]["nodeId"]
    found = (await session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "[id^=e]"}))["nodeIds"]
    tree = {}
    for node in found:
        given = (await session.send("DOM.getAttributes", {"nodeId": node}))["attributes"]
        name = given[given.index("id") + 1]
        asked = {"nodeId": node, "fetchRelatives": False}
        seen: dict[str, Any] = (await session.send("Accessibility.getPartialAXTree", asked))["nodes"][0]
        role = seen.get("role", {}).get("value", "")
        tree[name] = (SAME.get(role, role), seen.get("name", {}).get("value", ""), not seen["ignored"])
    return tree


async def test_roles_and_names_are_those_of_the_browser(page: Page, site: Site) -> None:
    site.show(PAGE)
    await page.goto(site.url + "/")

    theirs = await chromium_tree(page)
    seen, _ = await snapshot(page)

    ours = {one.get("id"): one for one in seen.elements if one.get("id").startswith("e")}
    assert ours.keys() == theirs.keys()
    assert len(ours) >= 75
    wrong = []
    for key, (role, name, told) in theirs.items():
        one = ours[key]
        if not told:
            continue
        if one.role != role and key not in DIFFERENT_ROLE:
            wrong.append(f"{key} {one.tag}: role {one.role!r}, Chromium says {role!r}")
        if one.role and one.name != " ".join(name.split()) and key not in DIFFERENT_NAME:
            wrong.append(f"{key} {one.tag}: name {one.name!r}, Chromium says {name!r}")
    assert not wrong, joined(wrong)


async def test_what_assistive_tools_are_not_told_of(page: Page, site: Site) -> None:
    site.show(PAGE)
    await page.goto(site.url + "/")

    theirs = await chromium_tree(page)
    seen, _ = await snapshot(page)

    hidden = {one.get("id") for one in seen.elements if one.get("id").startswith("e") and not one.rendered}
    assert {"e71", "e72", "e73"} <= hidden
    assert not [key for key in hidden if theirs[key][2]]


async def test_playwright_finds_each_by_the_role_and_name_we_remember(page: Page, site: Site) -> None:
    site.show(PAGE)
    await page.goto(site.url + "/")
    seen, _ = await snapshot(page)

    missed = []
    for one in seen.elements:
        if one.role and one.name and one.rendered and one.get("id").startswith("e"):
            role: Any = one.role
            found = page.get_by_role(role, name=one.name, exact=True)
            ids = [await each.get_attribute("id") for each in await found.all()]
            if one.get("id") not in ids:
                missed.append(f"{one.get('id')} {one.role} {one.name!r}: {ids}")
    assert missed == []


@pytest.mark.parametrize(
    ("key", "label"),
    [("e12", "E-mail"), ("e13", "Wrapped"), ("e16", "Said"), ("e17", "First Last"), ("e19", "Morning"), ("e15", "")],
)
async def test_labels(page: Page, site: Site, key: str, label: str) -> None:
    site.show(PAGE)
    await page.goto(site.url + "/")

    seen, _ = await snapshot(page)

    assert next(one for one in seen.elements if one.get("id") == key).label == label
