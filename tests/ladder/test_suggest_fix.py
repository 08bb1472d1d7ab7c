"""repair_ladder/rungs/suggest_fix.py: the small planners of the second rung, one plain kind of drift each."""

from __future__ import annotations

from typing import Any

import pytest

from radar.at_risk import resolve_ways
from repair_ladder.memory import Memory
from repair_ladder.outcomes import Dialog, Evidence
from repair_ladder.rungs import Candidate, Situation
from repair_ladder.rungs.suggest_fix import before, propose, row_key, row_of
from tests.builders import a_memory, a_page, a_red, index_of, steps_of

SHOP = """
main
  h1 "Basket"
  p "One blue mug"
  form
    input#email name=email label="Email"
    button#pay "Pay now"
"""
OLD = a_page(SHOP)
STEPS = steps_of(
    {"goto": "/"},
    {"fill": {"css": "#email", "value": "a@b.c"}},
    {"click": {"css": "#pay"}},
    {"assert_url": {"equals": "/thanks"}},
)
KNOWN = a_memory({2: (OLD, index_of(OLD, tag="input", id="email")), 3: (OLD, index_of(OLD, id="pay"))})


async def proposed(red: Any, *, memory: Memory = KNOWN, steps: Any = STEPS, **more: Any) -> tuple[Candidate, ...]:
    return await propose(Situation(steps, (), red, memory, **more))


def news(one: Candidate) -> list[Any]:
    return [
        (operation.op, operation.place, operation.new.kind if operation.new else None) for operation in one.operations
    ]


def target_of(one: Candidate, page: Any) -> str:
    locator = one.operations[0].new.locator  # type: ignore[union-attr]
    assert locator is not None
    (found,) = resolve_ways(locator, page)
    return str(page.elements[found].name)


def covered_by(*choices: str, text: str = "We use cookies") -> Any:
    """The shop with a banner over its button."""
    banner = "\n".join(["div#banner", f'  p "{text}"', *(f'  button "{choice}"' for choice in choices)])
    return a_page(SHOP.replace('button#pay "Pay now"', 'button#pay "Pay now" covered') + banner)


# --- something in the way ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "chosen", "sure"),
    [
        pytest.param(("Accept all", "Reject all"), "Reject all", True, id="a refusal before consent"),
        pytest.param(("Accept all", "Only necessary"), "Only necessary", True, id="only what is needed"),
        pytest.param(("Alle akzeptieren", "Ablehnen"), "Ablehnen", True, id="in German"),
        pytest.param(("Accepter", "Continuer sans accepter"), "Continuer sans accepter", True, id="in French"),
        pytest.param(("Accept all",), "Accept all", False, id="consent alone is for a person"),
        pytest.param(("Accept all", "Close"), "Close", False, id="closing may be consent"),
    ],
)
async def test_a_banner_is_closed_with_the_least_consent(choices: tuple[str, ...], chosen: str, sure: bool) -> None:
    page = covered_by(*choices)

    first, *_ = await proposed(a_red(3, page, "covered", target=index_of(page, id="pay")))

    assert news(first) == [("insert", (2,), "click")]
    assert target_of(first, page) == chosen
    assert (not first.doubt) == sure


async def test_a_notice_without_consent_is_closed() -> None:
    page = covered_by("Got it", text="We have a new look")

    first, *_ = await proposed(a_red(3, page, "covered", target=index_of(page, id="pay")))

    assert target_of(first, page) == "Got it"
    assert not first.doubt


async def test_what_would_do_harm_is_never_the_way_out() -> None:
    page = covered_by("Delete account and close")

    assert await proposed(a_red(3, page, "covered", target=index_of(page, id="pay"))) == ()


async def test_what_stood_there_before_is_not_what_is_in_the_way() -> None:
    page = covered_by("Reject all")
    old = a_page(SHOP + 'div#banner\n  p "We use cookies"\n  button "Reject all"')
    memory = a_memory({3: (old, index_of(old, id="pay"))})

    found = await proposed(a_red(3, page, "covered", target=index_of(page, id="pay")), memory=memory)

    assert found == ()


async def test_nothing_is_closed_where_nothing_is_in_the_way() -> None:
    plain = a_page(SHOP + 'div\n  button "Reject all"')
    assert await proposed(a_red(3, plain, "disabled", target=index_of(plain, id="pay"))) == ()


# --- a new required field ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "kind", "value"),
    [
        pytest.param('input#terms type=checkbox label="Terms" required=""', "check", {}, id="a checkbox"),
        pytest.param('input#n type=number min=2 label="Pieces" required=""', "fill", {"value": "2"}, id="a number"),
        pytest.param(
            'select#s label="Voice" required=""\n      option value="" "Choose"\n      option "Alto"',
            "select",
            {"option": "Alto"},
            id="a list whose options have no values",
        ),
        pytest.param(
            'input#d type=date min=2031-05-02 label="Day" required=""', "fill", {"value": "2031-05-02"}, id="a date"
        ),
        pytest.param(
            'select#s label="Delivery" required=""\n      option value="" "Choose"\n      option value=p "Post"',
            "select",
            {"option": "Post"},
            id="a list",
        ),
    ],
)
async def test_a_new_required_field_gets_what_its_own_constraints_ask_for(field: str, kind: str, value: Any) -> None:
    page = a_page(SHOP.replace("    button#pay", f"    {field}\n    button#pay"))

    (one,) = await proposed(a_red(4, page, "check", observed="/"))

    assert news(one) == [("insert", (2,), kind)]
    assert one.operations[0].new is not None
    assert dict(one.operations[0].new.parameters) == value
    assert one.doubt, "which answer is meant is for a person to say"


@pytest.mark.parametrize(
    "field",
    [
        pytest.param('input#x label="VAT number" required=""', id="a text only a person knows"),
        pytest.param('input#x type=password label="New password" required=""', id="a password"),
        pytest.param('input#x label="Note"', id="a field that is not required"),
        pytest.param('input#x type=date label="Day" required=""', id="a date without a bound"),
    ],
)
async def test_other_fields_are_left(field: str) -> None:
    page = a_page(SHOP.replace("    button#pay", f"    {field}\n    button#pay"))

    assert await proposed(a_red(4, page, "check", observed="/")) == ()


async def test_a_mail_address_is_given_only_if_the_test_has_one() -> None:
    page = a_page(SHOP.replace("    button#pay", '    input#m type=email label="Copy to" required=""\n    button#pay'))
    red = a_red(4, page, "check", observed="/")

    (one,) = await proposed(red, variables=frozenset({"email"}))

    assert one.operations[0].new is not None
    assert one.operations[0].new.parameters == {"value": "${email}"}
    assert await proposed(red) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param('input#pc name=postCode label="Post code"', "${post_code}", id="by its name"),
        pytest.param('input#x label="Post code"', "${post_code}", id="by its label"),
        pytest.param('input#x type=tel label="Call me at"', "${tel}", id="by its type"),
        pytest.param('input#x label="Post code of the sender"', None, id="only alike"),
    ],
)
async def test_a_new_text_field_gets_the_tests_own_variable_of_that_name(field: str, value: str | None) -> None:
    page = a_page(SHOP.replace("    button#pay", f'    {field} required=""\n    button#pay'))

    found = await proposed(a_red(4, page, "check", observed="/"), variables=frozenset({"post_code", "tel"}))

    assert [one.operations[0].new.parameters["value"] for one in found if one.operations[0].new] == (
        [value] if value else []
    )


async def test_a_field_that_the_pages_validation_names_is_filled_and_of_a_group_only_one() -> None:
    radios = "".join(f'    input#r{n} type=radio name=speed label="Speed {n}" required=""\n' for n in range(3))
    invalid = '    input#c name=city label="City" aria-invalid=true\n'
    page = a_page(SHOP.replace("    button#pay", radios + invalid + "    button#pay"))

    (one,) = await proposed(a_red(4, page, "check", observed="/"), variables=frozenset({"city"}))

    assert news(one) == [("insert", (2,), "check"), ("insert", (2,), "fill")]


# --- a native dialog -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["confirm", "beforeunload"])
async def test_a_new_question_is_answered_only_by_a_person(kind: str) -> None:
    said = Evidence((Dialog((3,), kind, "Really pay?", "dismissed", False),))

    (one,) = await proposed(a_red(4, OLD, "check", evidence=said))

    assert news(one) == [("insert", (2,), "dialog")]
    assert one.harm
    assert one.doubt


@pytest.mark.parametrize(
    "dialog",
    [
        pytest.param(Dialog((3,), "confirm", "Really pay?", "accepted", True), id="a step asked for it"),
        pytest.param(Dialog((3,), "alert", "Paid", "dismissed", False), id="an alert has no answer"),
        pytest.param(Dialog((3,), "confirm", "Known", "dismissed", False), id="it came before, too"),
    ],
)
async def test_other_dialogs_are_left(dialog: Dialog) -> None:
    known = Memory(KNOWN.seen, (Dialog((3,), "confirm", "Known", "dismissed", False),))

    assert await proposed(a_red(4, OLD, "check", evidence=Evidence((dialog,))), memory=known) == ()


# --- steps that are no longer needed, folded away, or behind scrolling ---------------------------------


async def test_a_target_that_is_folded_away_is_opened() -> None:
    page = a_page(
        SHOP.replace(
            '    button#pay "Pay now"',
            '    button#more aria-controls=box "More"\n    div#box hidden\n      button#pay "Pay now"',
        )
    )

    (one,) = await proposed(a_red(3, page, "hidden", target=index_of(page, id="pay")))

    assert news(one) == [("insert", (2,), "click")]
    assert target_of(one, page) == "More"


async def test_a_step_whose_work_the_page_does_by_itself_is_dropped_by_a_person() -> None:
    old = a_page('main\n  h1 "Basket"\n  p "One blue mug"\n  button#open "Open the form"\n  a#help "Help"')
    new = a_page('main\n  h1 "Basket"\n  p "One blue mug"\n  button#go "Order"\n  a#help "Help"')
    steps = steps_of({"goto": "/"}, {"click": {"css": "#open"}}, {"click": {"css": "#go"}})

    found = await proposed(a_red(2, new), steps=steps, memory=a_memory({2: (old, index_of(old, id="open"))}))

    for one in found:
        assert news(one) == [("delete", (2,), None)]
        assert one.doubt
        assert one.dropped == {(2,)}


async def test_a_virtual_list_is_scrolled_to_the_row() -> None:
    rows = [f'    li\n      p "Mug {number}"\n      button "Buy"' for number in range(8)]
    old = a_page("main\n  ul#list\n" + "\n".join(rows))
    new = a_page("main\n  ul#list\n" + "\n".join(rows[:3]), scrollers=((3, 4000.0, 300.0),))
    steps = steps_of({"goto": "/"}, {"click": {"css": "li:nth-child(8) button"}})
    buy = [one.index for one in old.elements if one.name == "Buy"][7]

    (one,) = await proposed(a_red(2, new), steps=steps, memory=a_memory({2: (old, buy)}))

    assert news(one) == [("insert", (1,), "scroll")]
    assert one.reveals
    assert "Mug 7" in str(one.operations[0].new)


def test_a_row_is_known_by_the_fewest_texts_that_tell_it_from_the_others() -> None:
    page = a_page(
        'table\n  tr\n    td "Ada"\n    td "open"\n    td\n      button#a "Pay"\n'
        '  tr\n    td "Ada"\n    td "paid"\n    td\n      button#b "Pay"\n'
        '  tr\n    td "Ben"\n    td "paid"\n    td\n      button#c "Pay"'
    )

    def key(name: str) -> tuple[str, ...]:
        target = index_of(page, id=name)
        row = row_of(page, target)
        assert row is not None
        return row_key(page, row, target)

    assert [key(name) for name in "abc"] == [("open",), ("Ada", "paid"), ("Ben",)]


async def test_without_anything_known_nothing_is_planned() -> None:
    assert await proposed(a_red(3, None)) == ()
    assert await proposed(a_red(3, OLD), memory=Memory()) == ()


@pytest.mark.parametrize(("place", "at"), [((3,), (2,)), ((1,), (0,)), ((8, 1), (8, 0))])
def test_before_a_step_is_after_the_one_before(place: Any, at: Any) -> None:
    assert before(place) == at


# --- an option under another name ----------------------------------------------------------------------


def _delivery(*options: str) -> Any:
    return a_page('main\n  select#s label="Delivery"\n' + "".join(f"    option {one}\n" for one in options))


@pytest.mark.parametrize(
    ("before", "after", "wanted", "name"),
    [
        pytest.param(
            ('value=exp "Express"', 'value=std "Standard"'),
            ('value=intl "Standard abroad"', 'value=std "Standard (3 to 5 days)"'),
            "Standard",
            "Standard (3 to 5 days)",
            id="the value that the form sends tells it from a look-alike",
        ),
        pytest.param(
            ('value=day "Day delivery"', 'value=eve "Evening delivery"'),
            ('value=day "Day delivery"', 'value=box "Delivery to a locker"'),
            "Evening delivery",
            None,
            id="a word of several options is none of its own",
        ),
        pytest.param(
            ('"Express"', '"Standard"'),
            ('"Express"', '"Standard (slow)"'),
            "Standard",
            "Standard (slow)",
            id="a word of its own",
        ),
        pytest.param(
            ('value=exp "Express"', 'value=std "Standard"'),
            ('value=exp "Express"', 'value=intl "Standard abroad"'),
            "Standard",
            None,
            id="another value is another choice",
        ),
        pytest.param(
            ('value=1 "Small"', 'value=2 "Large"'),
            ('value=1 "Tiny"', 'value=2 "Huge"'),
            "Large",
            None,
            id="a number among the values is handed on",
        ),
    ],
)
async def test_a_renamed_option_is_known_by_its_value_or_a_word_of_its_own(
    before: tuple[str, ...], after: tuple[str, ...], wanted: str, name: str | None
) -> None:
    old, page = _delivery(*before), _delivery(*after)
    steps = steps_of({"goto": "/"}, {"select": {"css": "#s", "option": wanted}})
    red = a_red(2, page, "option", target=index_of(page, id="s"))

    found = await proposed(red, steps=steps, memory=a_memory({2: (old, index_of(old, id="s"))}))

    chosen = [one.operations[0].new.parameters["option"] for one in found if one.renamed]  # type: ignore[union-attr]
    assert chosen == ([name] if name else [])
    assert all(one.doubt for one in found)
