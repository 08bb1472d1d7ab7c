"""repair_ladder/rungs/self_heal.py: the element is still there, its locator no longer finds it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from radar.at_risk import resolve_ways
from radar.elements import PageSnapshot
from repair_ladder.memory import Memory
from repair_ladder.outcomes import Red
from repair_ladder.rungs import Candidate, Situation
from repair_ladder.rungs.self_heal import expected_texts, propose, same_thing
from tests.builders import a_memory, a_page, a_played, a_red, a_step, an_insert, index_of, steps_of

SHOP = """
main
  h1 "Basket"
  p "One blue mug"
  form
    input#email name=email label="Email"
    input#city name=city label="City"
    button#pay "Pay now"
    button#later "Save for later"
  p#note role=status "Thank you"
"""
OLD = a_page(SHOP)
STEPS = steps_of(
    {"goto": "/"},
    {"fill": {"css": "#email", "value": "a@b.c"}},
    {"click": {"css": "#pay"}},
    {"assert_text": {"css": "#note", "contains": "Thank you"}},
)
KNOWN = a_memory(
    {
        2: (OLD, index_of(OLD, tag="input", id="email")),
        3: (OLD, index_of(OLD, id="pay")),
        4: (OLD, index_of(OLD, id="note")),
    }
)


async def proposed(red: Red, *, memory: Memory = KNOWN, steps: Any = STEPS, **more: Any) -> tuple[Candidate, ...]:
    return await propose(Situation(steps, (), red, memory, **more))


def changed(old: str, new: str) -> PageSnapshot:
    assert old in SHOP
    return a_page(SHOP.replace(old, new))


async def test_g20_a_renamed_id_is_found_again_and_nothing_but_the_locator_changes() -> None:
    (one,) = await proposed(a_red(3, changed("button#pay", "button#submit")))

    (operation,) = one.operations
    assert (operation.op, operation.place) == ("replace", (3,))
    assert operation.new is not None
    assert operation.new.kind == "click"
    assert "Pay now" in operation.reason
    assert not one.doubt
    assert one.harm is None


async def test_g37_the_expectation_of_a_check_is_kept() -> None:
    (one,) = await proposed(a_red(4, changed("p#note", "p#message")))

    new = one.operations[0].new
    assert new is not None
    assert new.kind == "assert_text"
    assert new.parameters == STEPS[3].parameters
    assert new.locator != STEPS[3].locator


async def test_a_check_is_not_found_by_the_text_that_it_expects() -> None:
    """That would be circular: it could only ever be green."""
    (one,) = await proposed(a_red(4, changed("p#note", "p#message")))

    assert "Thank you" not in str(one.operations[0].new.locator)  # type: ignore[union-attr]
    assert list(expected_texts(STEPS[3])) == ["Thank you"]
    assert list(expected_texts(a_step("fill", css="a", value="x"))) == []


async def test_several_locators_broken_by_one_release_are_healed_together() -> None:
    page = a_page(SHOP.replace("input#email", "input#mail").replace("button#pay", "button#submit"))

    (one,) = await proposed(a_red(2, page))

    assert [operation.place for operation in one.operations] == [(2,), (3,)]


async def test_the_test_id_attribute_of_the_project_is_used() -> None:
    page = changed("button#pay", "button data-qa=pay-now")

    (one,) = await proposed(a_red(3, page), test_id_attribute="data-qa")

    new = one.operations[0].new
    assert new is not None
    assert new.locator is not None
    assert "data-qa" in str(new.locator) or new.locator.test_id == "pay-now" or new.locator.role == "button"


async def test_a_new_name_is_proposed_but_a_person_looks_at_it() -> None:
    found = await proposed(a_red(3, changed('button#pay "Pay now"', 'button#pay2 "Pay today"')))

    assert all(one.doubt for one in found)


async def test_a_control_that_says_something_else_is_proposed_with_the_doubt_for_a_person() -> None:
    """Whether "Save as a list" still does what "Save for later" did cannot be told from the page."""
    steps = steps_of({"click": {"role": "button", "name": "Save for later"}})
    plain = SHOP.replace("button#later", "button")
    old, new = a_page(plain), a_page(plain.replace('"Save for later"', '"Save as a list"'))
    memory = a_memory({1: (old, index_of(old, name="Save for later"))})

    (one,) = await proposed(a_red(1, new), memory=memory, steps=steps)

    assert one.vouched == {(1,)}
    assert '"Save for later" now reads "Save as a list"' in one.doubt


async def test_other_words_on_another_kind_of_control_are_not_proposed() -> None:
    """A link's class and place are all that "Ask us a question", a button, has of it."""
    steps = steps_of({"click": {"css": "#later"}})
    old = a_page(SHOP.replace('button#later "Save for later"', 'a#later.quiet href=/later "Save for later"'))
    new = a_page(SHOP.replace('button#later "Save for later"', 'button#k1.quiet "Ask us a question"'))
    memory = a_memory({1: (old, index_of(old, name="Save for later"))})

    assert await proposed(a_red(1, new), memory=memory, steps=steps) == ()


async def test_a_locator_that_follows_a_variable_no_longer_is_for_a_person_to_see() -> None:
    """Of a fragment it would be right for the test that was red and wrong for one with another value."""
    steps = steps_of({"click": {"css": "#${which}"}})
    new = changed("button#pay", "button#submit")

    (one,) = await proposed(a_red(1, new), memory=a_memory({1: (OLD, index_of(OLD, id="pay"))}), steps=steps)

    assert "variable 'which'" in one.doubt


async def test_the_opposite_in_its_place_is_not_proposed() -> None:
    steps = steps_of({"click": {"role": "button", "name": "Follow"}})
    plain = SHOP.replace('button#later "Save for later"', 'button#follow "Follow"')
    old, new = a_page(plain), a_page(plain.replace('"Follow"', '"Unfollow"'))
    memory = a_memory({1: (old, index_of(old, id="follow"))})

    assert await proposed(a_red(1, new), memory=memory, steps=steps) == ()


async def test_an_element_that_is_gone_gives_no_candidate() -> None:
    assert await proposed(a_red(3, changed('    button#pay "Pay now"\n', ""))) == ()


async def test_the_neighbour_is_not_taken_for_it() -> None:
    page = changed('    button#pay "Pay now"\n', "")

    for one in await proposed(a_red(3, page)):
        assert "later" not in str(one.operations)


async def test_what_the_locator_found_already_is_not_proposed_again() -> None:
    """It is covered or disabled: the locator is right, something else is the matter."""
    page = a_page(SHOP.replace('button#pay "Pay now"', 'button#pay "Pay now" covered'))

    assert await proposed(a_red(3, page, "covered", target=index_of(page, id="pay"))) == ()


@pytest.mark.parametrize("cause", ["check", "navigation", "test"])
async def test_other_failures_are_not_for_this_rung(cause: Any) -> None:
    assert await proposed(a_red(3, changed("button#pay", "button#submit"), cause)) == ()


async def test_without_a_page_or_without_anything_known_nothing_is_proposed() -> None:
    assert await proposed(a_red(3, None)) == ()
    assert await proposed(a_red(1, OLD)) == ()


async def test_a_step_that_passed_on_another_element_is_put_right_as_well() -> None:
    """The second field took the first one's place and id: the run went on, on the wrong one."""
    page = a_page(
        SHOP.replace('input#email name=email label="Email"', 'input#mail name=email label="Email"').replace(
            'input#city name=city label="City"', 'input#email name=city label="City"'
        )
    )
    wrong = index_of(page, id="email", tag="input")
    red = a_red(4, page, "check", played=(a_played(2, "fill", snapshot=0, target=wrong),), snapshots=(page,))

    found = await proposed(red)

    assert [operation.place for one in found for operation in one.operations] == [(2,)]


async def test_a_control_that_newly_speaks_of_harm_is_not_run_unattended() -> None:
    found = await proposed(a_red(3, changed('button#pay "Pay now"', 'button#pay2 "Delete order"')))

    assert all(one.harm for one in found)


def test_one_inside_the_other_with_the_same_text_is_the_same_thing() -> None:
    page = a_page('button#a\n  span#b "Pay"\nbutton#c "Pay"')
    outer, inner, other = index_of(page, id="a"), index_of(page, id="b"), index_of(page, id="c")

    assert same_thing(page, outer, inner)
    assert same_thing(page, inner, outer)
    assert same_thing(page, other, other)
    assert not same_thing(page, outer, other)


# --- a check that reads something else -------------------------------------------------------------------


async def test_a_failing_check_that_reads_another_element_is_put_right_by_a_person() -> None:
    """The role of the message went, and another part of the page has it now."""
    page = changed('p#note role=status "Thank you"', 'p#note "Thank you"\n  p#news role=status "All systems normal"')
    steps = (*STEPS[:3], a_step("assert_text", role="status", contains="Thank you"))
    hit = index_of(page, id="news")

    (one,) = await proposed(a_red(4, page, "check", target=hit), steps=steps)

    assert [operation.place for operation in one.operations] == [(4,)]
    assert one.operations[0].new is not None
    assert one.operations[0].new.parameters == {"contains": "Thank you"}
    assert one.doubt


async def test_a_failing_check_that_reads_its_own_element_is_no_drift() -> None:
    page = changed('"Thank you"', '"Error 17"')

    assert await proposed(a_red(4, page, "check", target=index_of(page, id="note"))) == ()


# --- the menu of a row -----------------------------------------------------------------------------------

ROW = '    tr\n      td "{0} lamp"\n      td "{1} in stock"\n      td\n        {2}\n'
LAMPS = (("Blue", "4"), ("Green", "9"), ("Red", "1"))


def _lamps(control: str, below: str = "") -> PageSnapshot:
    rows = "".join(ROW.format(name, count, control.format(name)) for name, count in LAMPS)
    return a_page('main\n  h1 "Lamps"\n  table\n' + rows + below)


LISTED = _lamps('button#a{0} "Put away"')
PUT_AWAY = steps_of({"goto": "/"}, {"click": {"css": "#aGreen"}}, {"assert_text": {"css": "h1", "equals": "Lamps"}})
GREEN = a_memory({2: (LISTED, index_of(LISTED, id="aGreen"))})
KEBAB = 'button.k aria-label="Actions for {0} lamp" aria-haspopup=menu aria-expanded=false'


async def test_the_button_of_a_menu_is_not_what_moved_into_it() -> None:
    assert await proposed(a_red(2, _lamps(KEBAB)), memory=GREEN, steps=PUT_AWAY) == ()


async def test_what_stands_in_the_menu_of_the_same_row_under_the_same_name_is_for_a_person_to_see() -> None:
    menu = 'div role=menu\n  button#i1 role=menuitem "Edit"\n  button#i2 role=menuitem "Put away"\n'
    outline = _lamps(KEBAB, menu)
    opened = replace(
        outline,
        elements=tuple(
            replace(one, attributes={**one.attributes, "aria-expanded": "true"}) if "Green" in one.label else one
            for one in outline.elements
        ),
    )
    insert = an_insert(1, {"click": {"role": "button", "name": "Actions for Green lamp"}})

    found = await propose(Situation(PUT_AWAY, (insert,), a_red(3, opened), GREEN))

    for one in found:
        assert "Put away" in str(one.operations[0].new)
        assert one.doubt
    without_opening = await proposed(a_red(2, opened), memory=GREEN, steps=PUT_AWAY)
    assert not any(one.vouched for one in without_opening)


async def test_what_is_chosen_may_be_known_by_what_is_then_checked_and_a_check_may_not() -> None:
    rows = 'main\n  table\n    tr\n      td "Cy"\n      td\n        button{0} "Open"\n'
    rows += '    tr\n      td "Tom"\n      td\n        button{1} "Open"\n  h2#who "Tom"\n'
    old, page = a_page(rows.format("#p1", "#p2")), a_page(rows.format("", ""))
    steps = steps_of({"goto": "/"}, {"click": {"css": "#p2"}}, {"assert_text": {"css": "#who", "equals": "Tom"}})

    (one,) = await proposed(a_red(2, page), memory=a_memory({2: (old, index_of(old, id="p2"))}), steps=steps)

    assert one.operations[0].new is not None
    found = resolve_ways(one.operations[0].new.locator, page)  # type: ignore[arg-type]
    assert list(found) == [max(e.index for e in page.elements if e.tag == "button")]
