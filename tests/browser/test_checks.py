"""Every check, green and red: with the right cause, at the right place, and with what it saw."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Play, Site, green, red

pytestmark = pytest.mark.browser

PAGE = """<h1>Your   basket</h1><p id=total>Total: <b>42</b></p><input id=name value='Ada  L'><input id=off disabled>
<input id=on type=checkbox checked><input id=not type=checkbox><p id=away hidden>gone</p><a href=/orders>Orders</a>
<ul><li>1<li>2<li>3</ul><textarea id=long>x\ny</textarea><label for=name id=lab>Name</label>
<svg width=20 height=20><text id=drawn y=10>88</text></svg>"""

CHECKS = [
    ("url", {}, {"equals": "/?a=1"}, {"equals": "/orders"}, "/?a=1"),
    ("url", {}, {"matches": "a=\\d$"}, {"not_contains": "a="}, "/?a=1"),
    ("title", {}, {"equals": "Shop"}, {"contains": "Orders"}, "Shop"),
    ("text", {"css": "h1"}, {"equals": "Your basket"}, {"equals": "Your orders"}, "Your basket"),
    ("text", {"css": "#total"}, {"contains": "42"}, {"not_contains": "42"}, "Total: 42"),
    ("text", {"css": "b"}, {"at_least": 42, "at_most": 42}, {"at_most": 41}, "42"),
    ("value", {"css": "#name"}, {"equals": "Ada  L"}, {"equals": "Ada L"}, "Ada  L"),
    ("value", {"css": "#long"}, {"equals": "x\ny"}, {"equals": "x y"}, "x\ny"),
    ("value", {"css": "#lab"}, {"contains": "Ada"}, {"contains": "Ben"}, "Ada  L"),
    ("attribute", {"css": "a", "attribute": "href"}, {"equals": "/orders"}, {"contains": "basket"}, "/orders"),
    ("attribute", {"css": "a", "attribute": "rel"}, {"equals": ""}, {"equals": "me"}, ""),
    ("count", {"css": "li"}, {"equals": 3}, {"equals": 2}, "3"),
    ("count", {"css": "li"}, {"at_least": 3}, {"at_least": 4}, "3"),
    ("count", {"css": "dd"}, {"equals": 0}, {"at_least": 1}, "0"),
]


@pytest.mark.parametrize(("what", "where", "holds", "fails", "seen"), CHECKS)
async def test_a_condition_holds_or_says_what_it_saw(
    play: Play, site: Site, what: str, where: dict[str, Any], holds: dict[str, Any], fails: dict[str, Any], seen: str
) -> None:
    site.show(PAGE)

    green(await play({"goto": "/?a=1"}, {f"assert_{what}": where | holds}))
    failed = red(await play({"goto": "/?a=1"}, {f"assert_{what}": where | fails}, step_timeout_ms=300), "check", "2")

    assert failed.observed == seen
    assert failed.picture is not None
    assert failed.picture.startswith(b"\x89PNG")
    assert failed.page is not None
    assert failed.page.title == "Shop"


@pytest.mark.parametrize(
    "step",
    [
        {"assert_text": {"css": "#long", "matches": "(a|aa)+$"}},
        {"assert_title": {"matches": "(a|aa)+$"}},
        {"assert_console": {"none": True, "pattern": "(a|aa)+$"}},
    ],
    ids=["text", "title", "console"],
)
async def test_a_pattern_that_takes_too_long_is_the_fault_of_the_test(
    play: Play, site: Site, step: dict[str, Any]
) -> None:
    """An expression that is searched for without a limit would keep the whole worker busy for good."""
    long = "a" * 30_000 + "!"
    site.show(f"<p id=long>{long}</p><script>document.title = '{long}'; console.error('{long}')</script>")

    failed = red(await play({"wait": 1}, step), "test", "3")

    assert "takes too long on a text of 30,001 characters" in failed.message


@pytest.mark.parametrize(
    ("what", "holds", "fails", "seen"),
    [
        ("visible", "h1", "#away", "not visible"),
        ("hidden", "#away", "h1", "1 visible"),
        ("enabled", "#name", "#off", "not enabled"),
        ("disabled", "#off", "#name", "not disabled"),
        ("checked", "#on", "#not", "not checked"),
    ],
)
async def test_a_state_holds_or_says_what_it_saw(
    play: Play, site: Site, what: str, holds: str, fails: str, seen: str
) -> None:
    site.show(PAGE)

    done = await play({f"assert_{what}": {"css": holds}})
    failed = red(await play({f"assert_{what}": {"css": fails}}, step_timeout_ms=300), "check", "2")

    green(done)
    assert failed.observed == seen


async def test_hidden_holds_for_what_is_not_there_and_for_several(play: Play, site: Site) -> None:
    site.show("<i hidden>1</i><i hidden>2</i>")

    green(await play({"assert_hidden": {"css": "#never"}}, {"assert_hidden": {"css": "i"}}))


async def test_other_checks_want_one_element(play: Play, site: Site) -> None:
    site.show("<i>1</i><i>2</i>")

    red(await play({"assert_visible": {"css": "i"}}, step_timeout_ms=200), "many", "2")
    red(await play({"assert_text": {"css": "u", "equals": "1"}}, step_timeout_ms=200), "missing", "2")


async def test_a_variable(play: Play, site: Site) -> None:
    site.show("")
    given = {"goto": "/"}, {"set": {"into": "n", "value": "5"}}

    green(await play(*given, {"assert_variable": {"variable": "n", "at_least": 5}}))
    red(await play(*given, {"assert_variable": {"variable": "n", "at_least": 6}}), "check", "3")


async def test_a_check_that_fails_has_its_element_and_the_page_around_it(play: Play, site: Site) -> None:
    site.show(PAGE)

    failed = red(await play({"assert_text": {"css": "#total", "equals": "43"}}, step_timeout_ms=300), "check")

    assert failed.page is not None
    assert failed.target is not None
    assert failed.page.elements[failed.target].get("id") == "total"


async def test_the_page_of_a_check_is_the_one_on_which_it_held(play: Play, site: Site) -> None:
    site.show("<p id=n>0</p><script>setTimeout(() => { n.textContent = '1'; n.title = 'done' }, 250)</script>")

    done = await play({"assert_text": {"css": "#n", "equals": "1"}})

    page, target = green(done).trace.seen((2,)) or pytest.fail("the check remembers its element")
    assert page.elements[target].get("title") == "done"


async def test_texts_are_what_a_person_sees(play: Play, site: Site) -> None:
    site.show(
        "<p id=a>seen<span style='display:none'> unseen</span></p><p id=b style='text-transform:uppercase'>loud</p>"
    )

    green(
        await play({"assert_text": {"css": "#a", "equals": "seen"}}, {"assert_text": {"css": "#b", "equals": "LOUD"}})
    )


async def test_checks_hold_without_recording_as_well(play: Play, site: Site) -> None:
    site.show(PAGE)

    done = await play(
        {"assert_text": {"css": "h1", "equals": "Your basket"}}, {"assert_visible": {"css": "h1"}}, record=False
    )

    assert green(done).trace.snapshots == ()
