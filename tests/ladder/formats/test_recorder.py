"""repair_ladder/formats/recorder.py: recordings of Chrome's DevTools, both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repair_ladder.errors import BadTest
from repair_ladder.formats import Secret, WrittenTest, recorder
from repair_ladder.formats.gathering import with_notes
from repair_ladder.step_format import write_steps
from repair_ladder.values import names_used
from tests.builders import steps_of
from tests.ladder.formats import answer
from tests.ladder.test_step_format import ALL, IDS

SHOP = "http://shop.test"
FLOW: list[dict[str, Any]] = [
    {"type": "setViewport", "width": 1264, "height": 720, "isMobile": False, "hasTouch": False},
    {"type": "navigate", "url": f"{SHOP}/login", "assertedEvents": [{"type": "navigation", "url": f"{SHOP}/login"}]},
    {
        "type": "click",
        "target": "main",
        "selectors": [["aria/E-mail"], ["#mail"], ['xpath///*[@id="mail"]'], ["pierce/#mail"]],
        "offsetX": 3,
        "offsetY": 4.5,
    },
    {"type": "change", "value": "ada@example.com", "selectors": [["aria/E-mail"], ["#mail"]], "target": "main"},
    {"type": "change", "value": "de", "selectors": [["form > select"]]},
    {"type": "keyDown", "target": "main", "key": "Enter"},
    {
        "type": "keyUp",
        "key": "Enter",
        "target": "main",
        "assertedEvents": [{"type": "navigation", "url": f"{SHOP}/orders", "title": "Orders"}],
    },
    {"type": "hover", "selectors": ["text/Mugs", ["my-shop", "nav a"]]},
    {"type": "doubleClick", "selectors": ["#total"], "offsetX": 1, "offsetY": 1, "timeout": 900},
    {"type": "scroll", "x": 0, "y": 300},
    {"type": "scroll", "x": 0, "y": 100},
    {"type": "waitForElement", "selectors": [".row"], "operator": "==", "count": 3},
    {"type": "waitForElement", "selectors": [['aria/Thank you[role="alert"]']]},
    {"type": "waitForElement", "selectors": ["#busy"], "visible": False},
    {"type": "waitForElement", "selectors": ["#mail"], "properties": {"value": "ada@example.com"}},
    {"type": "waitForElement", "selectors": ["#mail"], "attributes": {"type": "email"}},
    {"type": "keyDown", "key": "Control"},
    {"type": "click", "selectors": ["#one"], "frame": [0, 1], "offsetX": 1, "offsetY": 1, "button": "secondary"},
    {"type": "keyUp", "key": "Control"},
]
STEPS = [
    {"goto": "/login"},
    {"click": {"css": "#mail", "alternatives": [{"xpath": '//*[@id="mail"]'}, {"text": "E-mail", "exact": True}]}},
    {"fill": {"label": "E-mail", "exact": True, "alternatives": [{"css": "#mail"}], "value": "ada@example.com"}},
    {"select": {"css": "form > select", "value": "de"}},
    {"press": "Enter"},
    {"assert_url": {"equals": "/orders"}},
    {"hover": {"text": "Mugs", "alternatives": [{"css": "nav a", "within": {"css": "my-shop"}}]}},
    {"dblclick": {"css": "#total"}, "timeout_ms": 900},
    {"scroll": {"by": 300}},
    {"scroll": {"by": -200}},
    {"assert_count": {"css": ".row", "equals": 3}},
    {"assert_visible": {"role": "alert", "name": "Thank you", "exact": True}},
    {"assert_count": {"css": "#busy", "equals": 0}},
    {"assert_value": {"css": "#mail", "equals": "ada@example.com"}},
    {"assert_attribute": {"css": "#mail", "attribute": "type", "equals": "email"}},
    {
        "click": {
            "css": "#one",
            "frame": [{"css": "iframe, frame", "nth": 0}, {"css": "iframe, frame", "nth": 1}],
            "button": "right",
            "modifiers": ["Control"],
        }
    },
]


def read(*steps: Any, title: Any = "Order a mug", base_url: str | None = SHOP) -> WrittenTest:
    (test,) = recorder.read(json.dumps({"title": title, "steps": steps}, indent=1), base_url=base_url)
    return test


def test_every_kind_of_a_recording_becomes_a_step() -> None:
    test = read(*FLOW)

    assert test.name == "Order a mug"
    assert write_steps(test.steps) == write_steps(steps_of(*STEPS))
    assert test.missing == ()
    assert (test.understood, test.parts) == (19, 19)
    assert "the size of the window" in test.remarks[-1].what, "what is left out is said, though nothing is missed by it"


def test_a_recording_comes_back_from_its_export() -> None:
    test = read(*FLOW)

    made = recorder.write(test, base_url=SHOP)
    (again,) = recorder.read(made.text, base_url=SHOP)

    assert made.lost == ()
    assert again.steps == test.steps
    assert recorder.write(again, base_url=SHOP).text == made.text


@pytest.mark.parametrize(("kind", "raw"), ALL, ids=IDS)
def test_what_the_recorder_has_no_words_for_is_marked_and_comes_back(kind: str, raw: Any) -> None:
    test = WrittenTest("one", steps_of(raw), variables={name: Secret("S") for name in names_used(steps_of(raw))})

    made = recorder.write(test, base_url=SHOP)
    if kind in ("intent", "group"):
        return  # a block is played as its steps, which the others show
    (again,) = recorder.read(made.text, base_url=SHOP)

    assert not again.missing
    if made.lost:
        assert again.steps == test.steps
        assert json.loads(made.text)["steps"][-1]["type"] == "customStep"
    else:
        assert recorder.write(again, base_url=SHOP).text == made.text


def test_notes_and_the_like_travel_in_a_step_that_the_recorder_skips() -> None:
    raw = {"click": {"css": "#a"}, "note": "why", "never_repair": True, "optional": True, "timeout_ms": 7}
    test = WrittenTest("one", steps_of(raw))

    (again,) = recorder.read(recorder.write(test).text)

    assert again.steps == test.steps


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            {"type": "waitForExpression", "expression": "window.ready"},
            "JavaScript of the page cannot be a step: window",
        ),
        ({"type": "customStep", "name": "other", "parameters": {}}, "a step of an extension: other"),
        ({"type": "teleport"}, "'teleport' is not a kind of step"),
        ({"type": "click", "selectors": [], "offsetX": 1, "offsetY": 1}, "no 'selectors'"),
        ({"type": "click", "selectors": ["::-p-text(Buy)"]}, "the selector ::-p-text(Buy)"),
        ({"type": "click", "selectors": ["#a"], "button": "back"}, "the button 'back'"),
        ({"type": "click", "selectors": ["#a"], "duration": 2000}, "held for 2000 ms"),
        ({"type": "click", "selectors": ["#a"], "target": "http://pop.test/"}, "another window or frame"),
        ({"type": "setViewport", "width": 390, "height": 800, "isMobile": True}, "a phone's window"),
        ({"type": "emulateNetworkConditions", "download": 0, "upload": 0, "latency": 0}, "without a network"),
        ({"type": "waitForElement", "selectors": ["#a"], "properties": {"tabIndex": 3}}, "the property tabIndex"),
        ({"type": "waitForElement", "selectors": ["#a"], "operator": "!=", "count": 3}, "a count != 3"),
        ({"type": "change", "selectors": ["#a"], "value": "${not_ours}"}, "would be read as a variable"),
        ({"type": "change", "selectors": ["#a"], "value": 7}, "'value' is a text, got 7"),
        ("click", "expected an object with a 'type'"),
        (
            {"type": "hover", "selectors": ["#a"], "assertedEvents": [{"type": "download"}]},
            "an asserted event that is no navigation",
        ),
    ],
)
def test_what_cannot_be_a_step_is_said_with_its_line(step: Any, said: str) -> None:
    test = read({"type": "navigate", "url": f"{SHOP}/"}, step)

    (missing,) = test.missing
    assert said in missing.what
    # Where a step is no object, the line is the recording's.
    assert missing.line == (1 if step == "click" else 8)
    assert (test.understood, test.parts) == (1, 2)


def test_a_draft_says_at_its_steps_what_is_missing() -> None:
    test = read({"type": "navigate", "url": f"{SHOP}/"}, {"type": "teleport"}, {"type": "hover", "selectors": ["#a"]})

    draft = with_notes(test)

    assert draft.status == "draft"
    assert draft.steps[0].note is None
    assert draft.steps[1].note is not None
    assert draft.steps[1].note.startswith("MISSING before this, line 8: step 2: 'teleport'")


@pytest.mark.parametrize(
    ("asserted", "check"),
    [
        (f"{SHOP}/orders", {"assert_url": {"equals": "/orders"}}),
        (f"{SHOP}/orders?session=81", {"assert_url": {"matches": "^/orders(?:[?#]|$)"}}),
        (f"{SHOP}/?session=81", {"assert_url": {"matches": "^/(?:[?#]|$)"}}),
        (f"{SHOP}/a?b=1#/cart?c=2", {"assert_url": {"matches": r"^/a(?:\?[^#]*)?#/cart(?:\?|$)"}}),
        ("http://else.test/", {"assert_url": {"equals": "http://else.test/"}}),
    ],
)
def test_an_asserted_navigation_checks_the_address_without_its_query(asserted: str, check: dict[str, Any]) -> None:
    event = {"type": "navigation", "url": asserted, "title": "x"}

    test = read({"type": "hover", "selectors": ["#a"], "assertedEvents": [event]})

    assert write_steps(test.steps)[1:] == [check]


@pytest.mark.parametrize(
    ("wanted", "check"),
    [
        ({"visible": False}, {"equals": 0}),
        ({"visible": False, "count": 3}, {"at_most": 2}),
        ({"visible": False, "count": 3, "operator": "<="}, {"at_least": 4}),
        ({"count": 0, "operator": "=="}, {"equals": 0}),
        ({"count": 2}, {"at_least": 2}),
    ],
)
def test_elements_are_counted_as_the_recorder_does(wanted: dict[str, Any], check: dict[str, Any]) -> None:
    """`visible: false` is the reverse of the step there: an element that is only hidden does not do."""
    test = read({"type": "waitForElement", "selectors": ["#a"], **wanted})

    assert write_steps(test.steps) == [{"assert_count": {"css": "#a", **check}}]


@pytest.mark.parametrize(
    "wanted",
    [
        {"visible": False, "count": 2, "operator": "=="},
        {"visible": False, "properties": {"value": "x"}},
        {"visible": "no"},
        {"properties": [{"name": "value"}]},
        {"attributes": [{"name": "id", "value": "a"}, {"name": "id", "value": "b"}]},
    ],
)
def test_a_wait_that_no_check_says_whole_is_missing(wanted: dict[str, Any]) -> None:
    test = read({"type": "waitForElement", "selectors": ["#a"], **wanted})

    assert (len(test.steps), len(test.missing)) == (0, 1)


def test_the_time_of_the_recording_is_that_of_its_steps() -> None:
    hover: dict[str, Any] = {"type": "hover", "selectors": ["#a"]}
    flow = {"title": "x", "timeout": 60_000, "steps": [hover, hover | {"timeout": 5}]}

    (test,) = recorder.read(json.dumps(flow))

    assert [step.timeout_ms for step in test.steps] == [60_000, 5]


def test_a_button_that_is_an_input_is_not_looked_for_by_a_label_first() -> None:
    test = read({"type": "click", "selectors": [["aria/Search"], ["input.go"]], "offsetX": 1, "offsetY": 1})

    spot = write_steps(test.steps)[0]["click"]
    assert spot == {"css": "input.go", "alternatives": [{"label": "Search", "exact": True}]}


def test_a_chosen_file_is_uploaded_from_beside_the_recording() -> None:
    test = read({"type": "change", "selectors": ["#cv"], "value": r"C:\fakepath\cv.pdf"})

    assert write_steps(test.steps) == [{"upload": {"css": "#cv", "files": ["cv.pdf"]}}]
    assert "'cv.pdf' has to lie beside this one" in test.remarks[0].what
    assert test.missing == ()


def test_keys_held_together_are_one_press() -> None:
    keys = [("keyDown", "Control"), ("keyDown", "a"), ("keyUp", "a"), ("keyUp", "Control")]
    keys += [("keyDown", "Shift"), ("keyUp", "Shift")]

    test = read(*({"type": kind, "key": key} for kind, key in keys))

    assert write_steps(test.steps) == [{"press": "Control+a"}, {"press": "Shift"}]


# --- files that are no recordings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.json: empty"),
        ("[", "a.json:1: not JSON: it ends early"),
        ("[]", "a.json: expected a recording"),
        ('{"title": "x"}', "a.json:1: the recording has no list of 'steps'"),
        ('{"steps": []}', "a.json:1: 'title': the name of a test is one line"),
        ('{"title": "a",\n "title": "b"}', "a.json:2: not JSON: 'title' stands here twice"),
        ('{"title": "a",\n\n "steps": [NaN]}', "a.json:3: not JSON: expected a value, got 'NaN"),
        ('{"title": "\\ud83d", "steps": []}', "half a character"),
        ("[" * 100_000, "nested more than 60 deep"),
        ('{"a":' * 100_000, "nested more than 60 deep"),
        ("<!DOCTYPE x [<!ENTITY a 'aaaa'>]><x>&a;</x>", "expected a value, got '<!DOCTYPE"),
        ("x" * 4_000_001, "larger than 4 MB"),
        ('{"title": "a\\u0000", "steps": []}', "one line"),
        ("\x00", "null bytes"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_with_one_line(text: str, said: str) -> None:
    with pytest.raises(BadTest) as caught:
        recorder.read(text, where="a.json")

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_hundred_thousand_steps_are_refused() -> None:
    steps = ",".join(['{"type":"keyDown","key":"a"}'] * 100_000)

    with pytest.raises(BadTest, match="at most 5000 steps"):
        recorder.read(f'{{"title": "long", "steps": [{steps}]}}')


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
selectors = st.lists(
    st.sampled_from(["aria/Save", "#a", "text/x", "xpath///a", "pierce/b", "a >>> b", "", "aria/", "::-p-text(x)"])
    | st.text(max_size=12)
    | st.lists(st.text(max_size=12), max_size=3),
    max_size=4,
)
a_step = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(recorder._KINDS)) | anything},
    optional=dict.fromkeys(sorted(recorder.KNOWN - {"type", "selectors"}), anything)
    | {"selectors": selectors | anything},
)


@settings(max_examples=300)
@given(st.lists(a_step | anything, max_size=5))
def test_whatever_the_steps_hold_the_reader_answers(steps: list[Any]) -> None:
    text = json.dumps({"title": "x", "steps": steps})
    test = answer(recorder.read, text, base_url=SHOP)
    if test:
        made = recorder.write(test[0], base_url=SHOP)
        assert recorder.read(made.text, base_url=SHOP)[0].steps == test[0].steps


@settings(max_examples=200)
@given(st.text(max_size=200) | st.text(alphabet='{}[]",:\\ntrue0123.eE- ', max_size=200))
def test_whatever_the_text_the_reader_answers(text: str) -> None:
    answer(recorder.read, text)
