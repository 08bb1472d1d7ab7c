"""radar/locators.py: locators as values, from and to the mappings that people write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radar.errors import BadLocator
from radar.locators import FINDERS, Locator, describe, read, write


@pytest.mark.parametrize(
    ("raw", "locator"),
    [
        ({"role": "button", "name": "Save"}, Locator(role="button", name="Save")),
        ({"css": "#save", "exact": False}, Locator(css="#save")),
        ({"text": 42}, Locator(text="42")),
        ({"role": "cell", "name": ""}, Locator(role="cell", name="")),
        ({"test_id": "a", "css": "li", "nth": -1}, Locator(test_id="a", css="li", nth=-1)),
        ({"css": "li", "has_text": ""}, Locator(css="li", has_text="")),
        ({"label": "Mail", "exact": True}, Locator(label="Mail", exact=True)),
        (
            {"css": "a", "within": {"role": "row", "has_text": "Ben"}},
            Locator(css="a", within=Locator(role="row", has_text="Ben")),
        ),
        ({"text": "(?i)^a", "regex": True}, Locator(text="(?i)^a", regex=True)),
        ({"css": "a", "has": {"css": "b"}, "visible": False}, Locator(css="a", has=Locator(css="b"), visible=False)),
        ({"css": "a", "has_not": {"css": "b"}}, Locator(css="a", has_not=Locator(css="b"))),
        ({"css": "a", "has_not_text": "x"}, Locator(css="a", has_not_text="x")),
        ({"css": "a", "frame": [{"css": "iframe"}]}, Locator(css="a", frame=(Locator(css="iframe"),))),
        ({"css": "a", "alternatives": [{"text": "A"}]}, Locator(css="a", alternatives=(Locator(text="A"),))),
    ],
)
def test_a_mapping_is_read(raw: dict[str, Any], locator: Locator) -> None:
    assert read(raw) == locator


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("#save", "a locator is a mapping"),
        ({}, "a locator needs one of"),
        ({"name": "Save"}, "a locator needs one of"),
        ({"css": "a", "name": "Save"}, "'name' goes with 'role'"),
        ({"selector": "a"}, "'selector' is not a locator key"),
        ({"css": ""}, "'css' is empty"),
        ({"text": True}, "'text' is a text, got True"),
        ({"css": ["a"]}, "'css' is a text"),
        ({"css": "a", "exact": "yes"}, "'exact' is true or false"),
        ({"css": "a", "nth": "1"}, "'nth' is a whole number"),
        ({"css": "a", "nth": True}, "'nth' is a whole number"),
        ({"css": "a", "visible": 1}, "'visible' is true or false"),
        ({"css": "a", "has": "b"}, "a locator is a mapping"),
        ({"text": "(", "regex": True}, "'(' is not a regular expression"),
        ({"text": "(?P<a>b)", "regex": True}, "that browsers do not read"),
        ({"text": r"\Aa", "regex": True}, "that browsers do not read"),
        ({"text": "a" * 1001, "regex": True}, "at most 1000 characters"),
        ({"text": "a", "regex": True, "exact": True}, "'exact' does not go with 'regex'"),
        ({"css": "a", "frame": {"css": "b"}}, "'frame' is a list of locators"),
        ({"css": "a", "within": "b"}, "a locator is a mapping"),
        ({"css": "a", "alternatives": [1]}, "a locator is a mapping"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(raw: object, said: str) -> None:
    with pytest.raises(BadLocator) as caught:
        read(raw)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_locators_in_locators_end_somewhere() -> None:
    raw: dict[str, Any] = {"css": "a"}
    for _ in range(30):
        raw = {"css": "a", "within": raw}

    with pytest.raises(BadLocator, match="deep in one another"):
        read(raw)


def test_the_ways_are_the_locator_itself_and_its_alternatives() -> None:
    other = Locator(text="Save")

    assert Locator(css="#save", alternatives=(other,)).ways() == (Locator(css="#save"), other)


def test_a_locator_is_shown_on_one_line() -> None:
    locator = Locator(role="button", name="Grüße\n", within=Locator(css="li"), nth=0)

    assert describe(locator) == 'role "button", name "Grüße\\n", nth 0, within {"css": "li"}'


PLAIN = st.fixed_dictionaries(
    {"css": st.text(min_size=1, max_size=5)},
    optional={
        **{key: st.text(min_size=1, max_size=5) for key in FINDERS if key != "css"},
        "exact": st.booleans(),
        "nth": st.integers(-3, 3),
        "has_text": st.text(max_size=3),
        "has_not_text": st.text(max_size=3),
        "visible": st.booleans(),
        "has": st.just({"css": "b"}),
    },
)
RAW = st.recursive(
    PLAIN,
    lambda inner: st.builds(
        lambda outer, within, frame: {**outer, "within": within, "frame": frame},
        PLAIN,
        inner,
        st.lists(inner, max_size=2),
    ),
    max_leaves=4,
)


@given(RAW)
def test_writing_and_reading_gives_the_same_locator(raw: dict[str, Any]) -> None:
    locator = read(raw)

    assert read(write(locator)) == locator
    assert set(write(locator)) <= set(raw)
