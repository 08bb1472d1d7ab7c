"""repair_ladder/rungs/new_ways.py: tabs, menus, further pages, other kinds of controls, and waiting for a state."""

from __future__ import annotations

from typing import Any

import pytest

from radar.at_risk import resolve_ways
from repair_ladder import floor, gate
from repair_ladder.outcomes import Green, Outcome, Trace
from repair_ladder.rungs import Candidate, Situation
from repair_ladder.rungs.suggest_fix import propose
from repair_ladder.steps import Steps
from tests.builders import a_memory, a_page, a_played, a_red, an_insert, index_of, steps_of
from tests.ladder.test_suggest_fix import news, target_of

PROFILE = """
main
  h1 "Profile of Ada"
  p "Member since last year"
  form
    input#nick name=nick label="Nickname"
    input#street name=street label="Street"
    select#plan name=plan label="Plan"
      option value=s "Small"
      option value=l "Large"
    input#news type=checkbox label="Newsletter"
    button#save "Save profile"
"""
OLD = a_page(PROFILE)
STEPS = steps_of(
    {"goto": "/"},
    {"fill": {"css": "#nick", "value": "ada"}},
    {"fill": {"css": "#street", "value": "7 Mill Lane"}},
    {"select": {"css": "#plan", "option": "Large"}},
    {"check": {"css": "#news"}},
    {"click": {"css": "#save"}},
    {"assert_text": {"css": "h1", "contains": "Saved"}},
)
IDS = {2: "nick", 3: "street", 4: "plan", 5: "news", 6: "save"}
KNOWN = a_memory({place: (OLD, index_of(OLD, id=name)) for place, name in IDS.items()})
STREET = '    input#street name=street label="Street"\n'


async def proposed(place: int, page: Any, cause: Any = "missing", **more: Any) -> tuple[Candidate, ...]:
    red = a_red(place, page, cause, **more)
    return await propose(Situation(STEPS, (), red, KNOWN))


def floor_lets(candidate: Candidate) -> bool:
    screened = floor.screen(STEPS, candidate.operations, dropped=candidate.dropped, renamed=candidate.renamed)
    return not screened.refused


# --- one page became several ---------------------------------------------------------------------------


async def test_a_field_that_moved_behind_a_tab_is_looked_for_there() -> None:
    tabs = (
        '  div role=tablist\n    button#t1 role=tab aria-selected=true label="About"\n'
        '    button#t2 role=tab aria-selected=false label="Address"\n'
    )
    page = a_page(PROFILE.replace(STREET, "").replace("  form\n", tabs + "  form\n"))

    first, *_ = await proposed(3, page)

    assert news(first) == [("insert", (2,), "click")]
    assert target_of(first, page) == "Address", "the open one shows nothing new"
    assert first.reveals
    assert floor_lets(first)


async def test_a_tab_that_was_there_before_is_no_way() -> None:
    tab = '  button#t2 role=tab aria-selected=false label="Address"\n  form\n'
    old, page = a_page(PROFILE.replace("  form\n", tab)), a_page(PROFILE.replace(STREET, "").replace("  form\n", tab))
    memory = a_memory({3: (old, index_of(old, id="street"))})

    assert await propose(Situation(STEPS, (), a_red(3, page), memory)) == ()


@pytest.mark.parametrize("name", ["Next", "Continue", "Next step →", "Weiter", "Save and continue", "Suivant"])
async def test_a_form_that_was_split_is_followed_to_its_next_page(name: str) -> None:
    page = a_page(PROFILE.replace(STREET, "").replace('button#save "Save profile"', f'button#on "{name}"'))

    (one,) = await proposed(3, page)

    assert news(one) == [("insert", (2,), "click")]
    assert one.reveals
    assert one.doubt, "a person sees that the app asks on several pages"
    assert floor_lets(one)


@pytest.mark.parametrize("name", ["Continue as guest", "Next customer", "Skip", "Delete and continue", "Back"])
async def test_what_only_begins_like_it_is_not_the_next_page(name: str) -> None:
    """A guest detour would be green, and is not what the test is about."""
    page = a_page(PROFILE.replace(STREET, "").replace('button#save "Save profile"', f'button#on "{name}"'))

    assert await proposed(3, page) == ()


async def test_nothing_is_opened_while_the_target_is_there() -> None:
    more = '    button#more aria-haspopup=menu aria-expanded=false "More"\n    button#on "Next"\n    button#save'
    page = a_page(PROFILE.replace("    button#save", more).replace("input#street", "input#road"))

    assert await proposed(3, page) == (), "it has another id, which is for the first rung"


# --- what opens a part of the page became another control -------------------------------------------------

SHUT = """
main
  fieldset
    h2 "Extra"
      a#toggle0 href=# "Show"
    div
      input#shelf name=shelf label="Shelf" hidden
  fieldset
    h2 "Notes"
      a#toggle1 href=# "Show"
    div
      input#notes name=notes label="Notes" hidden
  button#save "Save"
"""
OPENED = SHUT.replace('label="Shelf" hidden', 'label="Shelf"')
FOLD_OUTS = """
main
  fieldset
    details
      summary "Extra"
      div
        input#shelf name=shelf label="Shelf" hidden
  fieldset
    details
      summary "Notes"
      div
        input#notes name=notes label="Notes" hidden
  button#save "Save"
"""
UNFOLDING = steps_of(
    {"goto": "/"},
    {"click": {"css": "#toggle0"}},
    {"fill": {"css": "#shelf", "value": "B 12"}},
    {"assert_value": {"css": "#shelf", "equals": "B 12"}},
)


async def unfolded(new: str, *, shut: str = SHUT, opened: str = OPENED) -> list[Candidate]:
    old, after, page = a_page(shut), a_page(opened), a_page(new)
    memory = a_memory({2: (old, index_of(old, id="toggle0")), 3: (after, index_of(after, id="shelf"))})
    found = await propose(Situation(UNFOLDING, (), a_red(2, page), memory))
    return [one for one in found if news(one)[0][0] == "replace"]


async def test_what_opened_a_part_of_the_page_is_known_by_what_it_opened() -> None:
    """The live trial's section: "Show" beside a heading became the heading itself, as the summary of a fold-out."""
    (one,) = await unfolded(FOLD_OUTS)

    assert news(one) == [("replace", (2,), "click")]
    page = a_page(FOLD_OUTS)
    locator = one.operations[0].new.locator  # type: ignore[union-attr]
    assert locator is not None
    assert [page.texts[i] for i in resolve_ways(locator, page)] == ["Extra"], (
        "not the one beside it, which opens something else"
    )
    assert one.doubt, "its words are other ones: a person looks at it"
    assert one.vouched == {(2,)}


@pytest.mark.parametrize(
    ("new", "shut", "opened"),
    [
        (FOLD_OUTS.replace('label="Shelf" hidden', 'label="Shelf"'), SHUT, OPENED),
        (FOLD_OUTS, OPENED, OPENED),
        (FOLD_OUTS, SHUT, SHUT),
        (FOLD_OUTS.replace("    details\n      summary", "    div\n      h2"), SHUT, OPENED),
        (FOLD_OUTS.replace('summary "Extra"', 'summary "Delete the extras"'), SHUT, OPENED),
        (FOLD_OUTS.replace("input#shelf", "input#rack"), SHUT, OPENED),
    ],
    ids=["it is open", "it was open before", "it stayed shut", "nothing folds it", "it destroys", "another is folded"],
)
async def test_a_control_is_not_taken_for_another_without_having_opened_the_same(
    new: str, shut: str, opened: str
) -> None:
    assert await unfolded(new, shut=shut, opened=opened) == []


# --- behind a menu -------------------------------------------------------------------------------------


async def test_a_button_that_moved_into_a_menu_is_looked_for_there() -> None:
    menu = 'button#more aria-haspopup=menu aria-expanded=false "More"'
    page = a_page(PROFILE.replace('button#save "Save profile"', menu))

    (one,) = await proposed(6, page)

    assert news(one) == [("insert", (5,), "click")]
    assert target_of(one, page) == "More"
    assert one.reveals
    assert floor_lets(one)


async def test_the_menu_of_the_targets_own_row_is_tried_first() -> None:
    row = '    tr\n      td "{0}"\n      td\n        {1}\n'
    old = a_page(
        "main\n  table\n" + "".join(row.format(name, f'button#e{name} "Edit"') for name in ("Ada", "Ben", "Cy"))
    )
    new = a_page(
        "main\n  table\n"
        + "".join(
            row.format(name, f'button#m{name} aria-haspopup=menu aria-expanded=false "Actions"')
            for name in ("Ada", "Ben", "Cy")
        )
    )
    steps = steps_of({"goto": "/"}, {"click": {"css": "#eBen"}})

    found = await propose(Situation(steps, (), a_red(2, new), a_memory({2: (old, index_of(old, id="eBen"))})))

    assert len(found) <= 2
    assert "mBen" in str(found[0].operations[0].new)


# --- another kind of control -----------------------------------------------------------------------------


async def test_a_list_that_became_the_apps_own_is_opened_and_the_same_option_taken() -> None:
    select = PROFILE[PROFILE.index("    select#plan") : PROFILE.index("    input#news")]
    page = a_page(PROFILE.replace(select, '    div#plan role=combobox aria-expanded=false label="Plan"\n'))

    found = await proposed(4, page, "test", target=index_of(page, id="plan"))
    (one,) = [one for one in found if one.dropped]

    assert news(one) == [("insert", (3,), "click"), ("insert", (3,), "click"), ("delete", (4,), None)]
    option = one.operations[1].new
    assert option is not None
    assert option.locator is not None
    assert (option.locator.role, option.locator.name, option.locator.exact) == ("option", "Large", True)
    assert one.dropped == {(4,)}
    assert one.doubt
    assert floor_lets(one)


@pytest.mark.parametrize(("pressed", "is_pressed_in"), [("false", True), ("true", False)])
async def test_a_box_that_became_a_toggle_is_pressed_only_where_it_is_off(pressed: str, is_pressed_in: bool) -> None:
    page = a_page(
        PROFILE.replace(
            'input#news type=checkbox label="Newsletter"', f'button#news aria-pressed={pressed} "Newsletter"'
        )
    )

    found = await proposed(5, page, "test", target=index_of(page, id="news"))

    assert bool(found) == is_pressed_in
    for one in found:
        assert news(one) == [("replace", (5,), "click")]
        assert one.doubt
        assert floor_lets(one)


# --- a race --------------------------------------------------------------------------------------------

BUSY = '  div#wait role=progressbar "Loading"\n  form\n'


async def test_a_page_that_is_still_busy_is_waited_for_by_its_state() -> None:
    page = a_page(PROFILE.replace(STREET, "").replace("  form\n", BUSY))

    (one,) = await proposed(3, page)

    assert news(one) == [("insert", (2,), "wait")]
    step = one.operations[0].new
    assert step is not None
    assert step.parameters == {"for": STEPS[2].locator, "state": "visible"}
    assert step.timeout_ms is not None
    assert one.doubt
    assert floor_lets(one)


async def test_a_disabled_control_is_waited_for_until_it_can_be_used() -> None:
    page = a_page(PROFILE.replace('button#save "', 'button#save disabled "').replace("  form\n", BUSY))

    (one,) = await proposed(6, page, "disabled", target=index_of(page, id="save"))

    assert one.operations[0].new is not None
    assert one.operations[0].new.parameters["state"] == "enabled"


async def test_without_a_sign_of_work_nothing_is_waited_for() -> None:
    page = a_page(PROFILE.replace('button#save "', 'button#save disabled "'))

    assert await proposed(6, page, "disabled", target=index_of(page, id="save")) == ()


async def test_a_wait_that_is_not_needed_shows_a_flaky_test_and_no_drift() -> None:
    """The saved steps are played once more: green, so the failure was chance and nothing is left to repair."""
    wait = an_insert(2, {"wait": {"for": {"css": "#save"}}})
    played: list[Steps] = []

    async def replay(steps: Steps) -> Outcome:
        played.append(steps)
        return Green(Trace())

    proof = await gate.fewest(gate.Proof(Green(Trace()), (wait,)), STEPS, gate.Known(KNOWN), replay)

    assert proof.operations == ()
    assert played == [STEPS]


# --- late data -------------------------------------------------------------------------------------------


def _loading(*, save: str = "disabled") -> tuple[Any, Any]:
    """The page while it loads, and as it is in the end."""
    loading = a_page(PROFILE.replace('button#save "', f'button#save {save} "').replace("  form\n", BUSY))
    return loading, a_page(PROFILE)


async def test_what_was_typed_before_the_data_came_is_typed_once_the_form_can_be_saved() -> None:
    loading, page = _loading()
    played = (a_played(2, "fill", snapshot=0, target=index_of(loading, id="nick")),)

    found = await proposed(7, page, "check", played=played, snapshots=(loading,))
    (one,) = [one for one in found if one.operations[0].new and one.operations[0].new.kind == "wait"]

    assert news(one) == [("insert", (1,), "wait")]
    assert one.operations[0].new is not None
    assert one.operations[0].new.parameters == {"for": STEPS[5].locator, "state": "enabled"}
    assert one.doubt
    assert floor_lets(one)


async def test_without_a_control_that_waits_the_sign_itself_is_waited_for() -> None:
    loading, page = _loading(save="")
    played = (a_played(2, "fill", snapshot=0, target=index_of(loading, id="nick")),)

    found = await proposed(7, page, "check", played=played, snapshots=(loading,))

    states = [one.operations[0].new.parameters.get("state") for one in found if one.operations[0].new]
    assert states == ["hidden"]


async def test_a_page_that_was_busy_when_the_test_was_green_as_well_is_no_reason_to_wait() -> None:
    loading, page = _loading()
    played = (a_played(2, "fill", snapshot=0, target=index_of(loading, id="nick")),)
    red = a_red(7, page, "check", played=played, snapshots=(loading,))

    assert await propose(Situation(STEPS, (), red, a_memory({2: (loading, index_of(loading, id="nick"))}))) == ()


# --- something has to be done first ------------------------------------------------------------------------

BOXES = """    input#deal type=checkbox label="Monthly deals"
    input#rules type=checkbox label="I have read the rules"
    button#save disabled "Save profile"
"""


async def test_a_control_that_waits_for_a_new_box_gets_one_box_at_a_time() -> None:
    page = a_page(PROFILE.replace('    button#save "Save profile"\n', BOXES))

    found = await proposed(6, page, "disabled", target=index_of(page, id="save"))

    assert [news(one) for one in found] == [[("insert", (5,), "check")]] * 2
    assert [target_of(one, page) for one in found] == ["I have read the rules", "Monthly deals"]
    assert all(one.doubt and floor_lets(one) for one in found)


@pytest.mark.parametrize(
    "boxes",
    [
        pytest.param('    button#save disabled "Save profile"\n', id="no new box"),
        pytest.param(BOXES.replace("checkbox label", "checkbox checked label"), id="ticked already"),
        pytest.param(
            BOXES.replace("I have read the rules", "Delete my data").replace("Monthly deals", "Wipe it"), id="harm"
        ),
    ],
)
async def test_other_boxes_are_left(boxes: str) -> None:
    page = a_page(PROFILE.replace('    button#save "Save profile"\n', boxes))

    assert await proposed(6, page, "disabled", target=index_of(page, id="save")) == ()


# --- a search that has to be sent off ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "is_search"),
    [
        ('input#field type=search label="Stories"', True),
        ('input#field name=q label="Stories"', True),
        ('input#field label="Search stories"', True),
        ('input#field label="Suche"', True),
        ('input#field label="Your name"', False),
        ('textarea#field label="Message"', False),
    ],
)
async def test_only_what_is_typed_into_a_search_is_sent_off(field: str, is_search: bool) -> None:
    page = a_page(f'main\n  {field}\n  p#n "12 stories"')
    at = index_of(page, id="field")
    steps = steps_of(
        {"goto": "/"},
        {"fill": {"css": "#field", "value": "crane"}},
        {"assert_text": {"css": "#n", "equals": "2 stories"}},
    )
    played = (a_played(2, "fill", snapshot=0, target=at),)
    red = a_red(3, page, "check", target=index_of(page, id="n"), played=played, snapshots=(page,))

    found = await propose(Situation(steps, (), red, a_memory({2: (page, at), 3: (page, index_of(page, id="n"))})))

    assert [news(one) for one in found] == ([[("insert", (2,), "press")]] if is_search else [])
    assert all(one.doubt for one in found)


# --- the menu of a row -------------------------------------------------------------------------------------

ROWS = '    tr\n      td "{0}"\n      td\n        {1}\n'
PEOPLE = ("Ada", "Ben", "Cy")


def _people(control: str, below: str = "") -> Any:
    rows = "".join(ROWS.format(name, control.format(name)) for name in PEOPLE)
    return a_page("main\n  table\n" + rows + below)


PUT_AWAY = steps_of({"goto": "/"}, {"click": {"css": "#eBen"}})
WITH_BUTTONS = _people('button#e{0} "Put away"')
OF_BEN = a_memory({2: (WITH_BUTTONS, index_of(WITH_BUTTONS, id="eBen"))})


async def test_the_menus_of_other_rows_are_not_opened() -> None:
    page = _people('button#m{0} aria-haspopup=menu aria-expanded=false "Actions"')

    found = await propose(Situation(PUT_AWAY, (), a_red(2, page), OF_BEN))

    assert len(found) == 1
    assert "Ben" in str(found[0].operations[0].new)


@pytest.mark.parametrize(
    ("item", "is_there"),
    [pytest.param("Put away", True, id="the very name"), pytest.param("Print", False, id="another")],
)
async def test_what_was_clicked_in_the_place_of_the_button_may_have_opened_the_menu_that_it_moved_to(
    item: str, is_there: bool
) -> None:
    old = _people('button "Put away"')
    shut = _people('button aria-haspopup=menu aria-expanded=false "Actions"')
    opened = _people(
        'button aria-haspopup=menu aria-expanded=false "Actions"',
        f'div role=menu\n  button#i1 role=menuitem "Edit"\n  button#i2 role=menuitem "{item}"\n',
    )
    second = [one.index for one in old.elements if one.tag == "button"][1]
    steps = steps_of(
        {"goto": "/"}, {"click": {"css": "tr:nth-child(2) button"}}, {"assert_text": {"css": "#n", "equals": "Done"}}
    )
    played = (a_played(2, "click", snapshot=0, target=second),)
    red = a_red(3, opened, "check", played=played, snapshots=(shut,))

    found = await propose(Situation(steps, (), red, a_memory({2: (old, second)})))

    assert [news(one) for one in found] == (
        [[("insert", (1,), "click"), ("replace", (2,), "click")]] if is_there else []
    )
    for one in found:
        assert one.operations[0].new == steps[1], "the menu is opened as the step did"
        assert (one.vouched, bool(one.doubt)) == ({(2,)}, True)
