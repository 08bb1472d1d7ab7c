"""repair_ladder/formats/lists.py: what was filled and turned out to be a list is exported as the choice it was."""

from __future__ import annotations

import pytest

from repair_ladder.formats import choosing, lists
from repair_ladder.step_format import write_steps
from tests.builders import a_page, a_test, steps_of

PAGE = a_page(
    """
    input#street
    select#country
      option value=de "Germany"
      option value=fr "La  France"
    select#size
      option "S"
    """
)
COUNTRY = next(one.index for one in PAGE.elements if one.get("id") == "country")
STREET = next(one.index for one in PAGE.elements if one.get("id") == "street")


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("de", {"value": "de"}),
        ("La France", {"option": "La France"}),
        ("${country}", {"value": "${country}"}),
        ("S", {"value": "S"}),
    ],
    ids=["by value", "by text", "not known before it is played", "an option of another list"],
)
def test_a_filled_list_is_a_choice(value: str, choice: dict[str, str]) -> None:
    steps = steps_of({"group": {"goal": "Address", "steps": [{"fill": {"css": "#country", "value": value}}]}})

    made = lists.as_chosen(steps, {"1.1": (PAGE, COUNTRY)})

    assert write_steps(made[0].steps) == [{"select": {"css": "#country"} | choice}]


def test_a_field_and_what_was_never_played_stay_filled() -> None:
    steps = steps_of({"fill": {"css": "#street", "value": "Main"}}, {"fill": {"css": "#country", "value": "de"}})

    assert lists.as_chosen(steps, {"1": (PAGE, STREET)}) == steps


@pytest.mark.parametrize(
    ("form", "call"),
    [("playwright", 'select_option("de")'), ("playwright-test", "selectOption('de')"), ("side", '"command": "select"')],
)
def test_other_tools_are_told_to_choose(form: str, call: str) -> None:
    test = a_test({"fill": {"css": "#country", "value": "de"}})
    chosen = a_test(*write_steps(lists.as_chosen(test.steps, {"1": (PAGE, COUNTRY)})))

    assert call not in choosing.write(form, test).text
    assert call in choosing.write(form, chosen).text.replace('selectOption("de")', "selectOption('de')")
