"""repair_ladder/formats/side.py: projects of Selenium IDE, both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repair_ladder.checks import meets
from repair_ladder.errors import BadTest
from repair_ladder.formats import Secret, WrittenTest, side
from repair_ladder.formats.selectors import UNCHECKED, UNWRITABLE, WRITABLE
from repair_ladder.step_format import write_steps
from repair_ladder.values import names_used
from tests.builders import steps_of
from tests.ladder.formats import answer
from tests.ladder.test_step_format import ALL, IDS

SHOP = "http://shop.test"


def a_project(*tests: tuple[str, list[Any]], **more: Any) -> str:
    made = []
    for name, commands in tests:
        raw = [
            dict(zip(("command", "target", "value"), one, strict=False)) if isinstance(one, tuple) else one
            for one in commands
        ]
        made.append({"id": f"id-{name}", "name": name, "commands": raw})
    return json.dumps({"name": "Shop", "url": SHOP, "tests": made} | more, indent=1)


def read(*commands: Any, **more: Any) -> WrittenTest:
    (test,) = side.read(a_project(("checkout", list(commands)), **more), where="a.side")
    return test


def steps(*commands: Any) -> list[Any]:
    test = read(*commands)
    assert test.missing == ()
    return write_steps(test.steps)


A = "id=a"
CSS = {"css": "#a"}
COMMANDS: list[tuple[tuple[str, ...], list[Any]]] = [
    (("open", "/login"), [{"goto": "/login"}]),
    (("open", f"{SHOP}/login?x=1"), [{"goto": "/login?x=1"}]),
    (("click", A), [{"click": CSS}]),
    (("clickAt", "css=.b", "3,4"), [{"click": {"css": ".b", "position": {"x": 3.0, "y": 4.0}}}]),
    (("doubleClick", "name=q"), [{"dblclick": {"css": '[name="q"]'}}]),
    (("mouseOver", "linkText=Sign in"), [{"hover": {"role": "link", "name": "Sign in", "exact": True}}]),
    (("click", "partialLinkText=Sign"), [{"click": {"role": "link", "name": "Sign"}}]),
    (("click", "xpath=(//a)[2]"), [{"click": {"xpath": "(//a)[2]"}}]),
    (("click", "//a"), [{"click": {"xpath": "//a"}}]),
    (("check", A), [{"check": CSS}]),
    (("uncheck", A), [{"uncheck": CSS}]),
    (("type", A, "x"), [{"fill": {**CSS, "value": "x"}}]),
    (("editContent", A, "x"), [{"fill": {**CSS, "value": "x"}}]),
    (("sendKeys", A, "${KEY_ENTER}"), [{"press": {**CSS, "key": "Enter"}}]),
    (
        ("sendKeys", A, "x${KEY_CTRL}ay"),
        [
            {"type": {**CSS, "value": "x"}},
            {"press": {**CSS, "key": "Control+a"}},
            {"press": {**CSS, "key": "Control+y"}},
        ],
    ),
    (("select", A, "label=Two"), [{"select": {**CSS, "option": "Two"}}]),
    (("select", A, "value=2"), [{"select": {**CSS, "value": "2"}}]),
    (("select", A, "index=1"), [{"select": {**CSS, "index": 1}}]),
    (("dragAndDropToObject", A, "css=.bin"), [{"drag": {**CSS, "to": {"css": ".bin"}}}]),
    (("pause", "250"), [{"wait": 250}]),
    (("answerOnNextPrompt", "yes"), [{"dialog": {"answer": "accept", "text": "yes"}}]),
    (("chooseCancelOnNextConfirmation",), [{"dialog": "dismiss"}]),
    (("assertTitle", "Shop"), [{"assert_title": {"equals": "Shop"}}]),
    (("assertText", A, "42"), [{"assert_text": {**CSS, "equals": "42"}}]),
    (("verifyText", A, "42"), [{"assert_text": {**CSS, "equals": "42"}}]),
    (("assertNotText", A, "4.2"), [{"assert_text": {**CSS, "matches": r"\A(?![\s\S]*(?:\A4\.2\Z))"}}]),
    (("assertValue", A, "on"), [{"assert_value": {**CSS, "equals": "on"}}]),
    (("assertSelectedLabel", A, "One"), [{"assert_text": {"css": "option:checked", "within": CSS, "equals": "One"}}]),
    (("assertElementPresent", A), [{"assert_count": {**CSS, "at_least": 1}}]),
    (("verifyElementNotPresent", A), [{"assert_count": {**CSS, "equals": 0}}]),
    (("assertChecked", A), [{"assert_checked": CSS}]),
    (("assertNotChecked", A), [{"assert_count": {"css": UNCHECKED, "within": CSS, "equals": 1}}]),
    (
        ("assertEditable", A),
        [{"assert_enabled": CSS}, {"assert_count": {"css": WRITABLE, "within": CSS, "equals": 1}}],
    ),
    (("assertNotEditable", A), [{"assert_count": {"css": UNWRITABLE, "within": CSS, "equals": 1}}]),
    (("waitForElementVisible", A, "900"), [{"assert_visible": CSS, "timeout_ms": 900}]),
    (("waitForElementNotVisible", A, "900"), [{"assert_hidden": CSS, "timeout_ms": 900}]),
    (("waitForElementPresent", A, "900"), [{"assert_count": {**CSS, "at_least": 1}, "timeout_ms": 900}]),
    (("waitForElementNotPresent", A, "900"), [{"assert_count": {**CSS, "equals": 0}, "timeout_ms": 900}]),
    (("waitForText", A, "Done"), [{"assert_text": {**CSS, "equals": "Done"}}]),
    (("store", "7", "n"), [{"set": {"into": "n", "value": "7"}}]),
    (("storeText", A, "n"), [{"extract": {**CSS, "into": "n", "what": "text"}}]),
    (("storeValue", A, "n"), [{"extract": {**CSS, "into": "n", "what": "value"}}]),
    (("storeAttribute", "id=a@href", "n"), [{"extract": {**CSS, "into": "n", "what": "href"}}]),
    (("assert", "n", "7"), [{"assert_variable": {"variable": "n", "equals": "7"}}]),
]


@pytest.mark.parametrize(("command", "raw"), COMMANDS, ids=[" ".join(command) for command, _ in COMMANDS])
def test_a_command_becomes_steps_and_comes_back(command: tuple[str, ...], raw: list[Any]) -> None:
    test = read(command)

    assert write_steps(test.steps) == write_steps(steps_of(*raw))
    made = side.write(test, base_url=SHOP)
    assert made.lost == ()
    (again,) = side.read(made.text)
    assert again.steps == test.steps


def test_several_tests_and_suites_of_one_file() -> None:
    text = a_project(
        ("one", [("open", "/")]),
        ("two", [("open", "/two"), ("echo", "hello")]),
        suites=[{"name": "Smoke", "tests": ["id-two"], "persistSession": True}],
    )

    one, two = side.read(text)

    assert (one.name, one.tags, two.name, two.tags) == ("one", (), "two", ("Smoke",))
    assert [remark.is_missing for remark in two.remarks] == [False, False]
    assert "keeps the browser's state" in two.remarks[0].what


POINTER = ("mouseDownAt", "mouseMoveAt", "mouseUpAt")


def pointer(down: str, up: str) -> list[tuple[str, str, str]]:
    return [("mouseDownAt", down, "3,4"), ("mouseMoveAt", up, "5,6"), ("mouseUpAt", up, "5,6")]


def test_the_pointer_going_from_one_element_to_another_is_a_drag() -> None:
    test = read(*pointer("css=.card", "css=.bin"), ("click", A))

    assert write_steps(test.steps) == [{"drag": {"css": ".card", "to": {"css": ".bin"}}}, {"click": CSS}]
    assert (test.missing, test.understood, test.parts) == ((), 4, 4)


@pytest.mark.parametrize("then", [("click", A), ("select", A, "label=Two")], ids=["a click", "a choice"])
def test_a_press_that_the_next_command_says_again_is_left_out(then: tuple[str, ...]) -> None:
    test = read(*pointer(A, A), then)

    assert [step.kind for step in test.steps] == [then[0]]
    assert [remark.is_missing for remark in test.remarks] == [False] * 3


@pytest.mark.parametrize(
    "commands",
    [pointer(A, A), pointer(A, A)[:1], [*pointer(A, A)[:2], ("click", A)], pointer("css=.card", "css=.bin")[1:]],
    ids=["nothing says it again", "never up", "never up before a click", "never down"],
)
def test_a_press_that_nothing_says_again_is_missing(commands: list[tuple[str, ...]]) -> None:
    test = read(*commands)

    assert len(test.missing) == len([one for one in commands if one[0] in POINTER])


@pytest.mark.parametrize(
    "option",
    [
        {"target": "css=#size > option:nth-child(2)"},
        {"target": "xpath=//select[@id='size']/option[2]"},
        {
            "target": "css=.large",
            "targets": [["css=.large", "css:finder"], ["xpath=//option[@value='l']", "xpath:attributes"]],
        },
    ],
    ids=["css", "xpath", "another target says so"],
)
def test_a_click_on_the_option_that_was_just_chosen_is_left_out(option: dict[str, Any]) -> None:
    """The IDE records both, and an option of a closed list cannot be clicked."""
    click = {"command": "click", "value": ""} | option

    chosen = read(("select", "id=size", "label=Large"), click)
    alone = read(click)

    assert [step.kind for step in chosen.steps] == ["select"]
    assert (chosen.missing, [step.kind for step in alone.steps]) == ((), ["click"])


@pytest.mark.parametrize("target", ["css=.option", "css=#options", "xpath=//option/span", "linkText=option"])
def test_a_click_on_something_else_after_a_choice_stays(target: str) -> None:
    test = read(("select", "id=size", "label=Large"), ("click", target))

    assert [step.kind for step in test.steps] == ["select", "click"]


def test_a_chosen_file_is_uploaded_from_beside_the_test() -> None:
    test = read(("type", A, r"C:\fakepath\cv.pdf"), ("type", A, r"C:\fakepath\..\x"))

    assert write_steps(test.steps) == [
        {"upload": {**CSS, "files": ["cv.pdf"]}},
        {"fill": {**CSS, "value": r"C:\fakepath\..\x"}},
    ]
    assert "has to lie beside" in test.remarks[0].what


def test_the_other_targets_are_alternatives() -> None:
    targets = [["id=a", "id"], ["css=.a", "css:finder"], ["dom=x", "dom"], ["xpath=//a", "xpath:link"]]

    test = read({"command": "click", "target": "id=a", "targets": targets, "value": "", "comment": "the  button"})

    assert write_steps(test.steps) == [
        {"click": {"css": "#a", "alternatives": [{"css": ".a"}, {"xpath": "//a"}]}, "note": "the button"}
    ]
    assert "another target is left out: the locator dom=x" in test.remarks[0].what
    (again,) = side.read(side.write(test).text)
    assert again.steps == test.steps


def test_frames_are_entered_and_left() -> None:
    test = read(
        ("selectFrame", "index=0"),
        ("click", A),
        ("selectFrame", "css=#inner"),
        ("click", "id=b"),
        ("selectFrame", "relative=parent"),
        ("click", "id=c"),
        ("selectFrame", "relative=top"),
        ("click", "id=d"),
    )

    outer, inner = {"css": "iframe, frame", "nth": 0}, {"css": "#inner"}
    assert write_steps(test.steps) == [
        {"click": {"css": "#a", "frame": [outer]}},
        {"click": {"css": "#b", "frame": [outer, inner]}},
        {"click": {"css": "#c", "frame": [outer]}},
        {"click": {"css": "#d"}},
    ]
    (again,) = side.read(side.write(test).text)
    assert again.steps == test.steps


def test_an_answer_given_when_the_dialog_is_there_stands_before_what_brings_it_up() -> None:
    asked = [("click", A), ("webdriverChooseOkOnVisibleConfirmation",)]

    assert steps(*asked) == [{"dialog": "accept"}, {"click": CSS}]
    # The IDE writes both; it is one answer.
    assert steps(("chooseOkOnNextConfirmation",), *asked) == [{"dialog": "accept"}, {"click": CSS}]


@pytest.mark.parametrize(
    "commands",
    [
        [("chooseOkOnNextConfirmation",), ("click", A), ("webdriverChooseCancelOnVisibleConfirmation",)],
        [("click", A), ("acceptAlert",), ("dismissConfirmation",)],
        [("acceptAlert",)],
    ],
    ids=["two answers", "two dialogs", "nothing before"],
)
def test_an_answer_that_is_not_the_one_of_the_dialog_is_said(commands: list[Any]) -> None:
    test = read(*commands)

    assert len(test.missing) == 1


def test_an_answer_stands_before_the_click_and_not_before_the_wait_that_follows_it() -> None:
    asked = [("click", A), ("pause", "500"), ("webdriverChooseOkOnVisibleConfirmation",)]

    assert steps(*asked, *asked) == [{"dialog": "accept"}, {"click": CSS}, {"wait": 500}] * 2


@pytest.mark.parametrize(
    ("lost", "found"),
    [
        (("selectFrame", "index=x"), ("selectFrame", "relative=top")),
        (("selectFrame", "dom=frames[0]"), ("open", "/")),
        (("selectWindow", "handle=${gone}"), ("selectWindow", "handle=${root}")),
    ],
)
def test_what_plays_in_a_frame_or_window_that_is_not_known_does_not_play_in_the_page(lost: Any, found: Any) -> None:
    root = ("storeWindowHandle", "root")

    test = read(root, ("open", "/"), lost, ("click", A), ("assertText", A, "x"), found, ("click", "id=b"))

    told = [one.what for one in test.missing]
    assert len(told) == 3
    assert "(click): plays in the" in told[1]
    assert "(assertText): plays in the" in told[2]
    assert write_steps(test.steps)[-1] == {"click": {"css": "#b"}}
    assert {"click": CSS} not in write_steps(test.steps)


def test_targets_of_another_element_are_no_alternatives() -> None:
    """The IDE keeps the recorded ones when somebody types another target."""
    click = {"command": "click", "target": "id=save", "targets": [["id=cancel", "id"], ["css=.cancel", "css"]]}

    test = read(click)

    assert write_steps(test.steps) == [{"click": {"css": "#save"}}]
    assert "another element" in test.remarks[0].what


def test_a_text_that_is_not_there_is_looked_for_as_texts_are_looked_at() -> None:
    (raw,) = steps(("assertNotText", A, "Out  of\nstock"))

    assert not meets(raw["assert_text"], "Out of stock")
    assert meets(raw["assert_text"], "In stock")


def test_a_window_that_a_click_opens_is_gone_to_and_left() -> None:
    opening = {"command": "click", "target": A, "value": "", "opensWindow": True, "windowHandleName": "win1"}

    made = steps(
        opening,
        ("storeWindowHandle", "root"),
        ("selectWindow", "handle=${win1}"),
        ("click", "id=b"),
        ("close",),
        ("selectWindow", "handle=${root}"),
    )

    assert [next(iter(step)) for step in made] == ["click", "tab", "click", "tab"]
    assert made[1] == {"tab": {"switch": "newest"}}


def test_a_test_that_another_one_runs_is_a_group_of_it() -> None:
    text = a_project(("sign in", [("click", A)]), ("order", [("run", "sign in"), ("click", "id=b")]))

    _, order = side.read(text)

    assert write_steps(order.steps)[0] == {"group": {"goal": "sign in", "steps": [{"click": CSS}]}}


def test_tests_that_run_one_another_in_a_circle_are_refused_by_line() -> None:
    text = a_project(("one", [("click", A), ("run", "two")]), ("two", [("run", "one")]))

    one, _ = side.read(text)

    assert [remark.what for remark in one.missing] == [
        "command 1 (run): 'one' is run inside itself, or tests run one another too deep"
    ]


def test_tests_that_run_others_twice_each_do_not_explode() -> None:
    tests = [(f"t{number}", [("run", f"t{number + 1}")] * 8) for number in range(18)]

    with pytest.raises(BadTest, match="more than 20000 commands"):
        side.read(a_project(*tests, ("t18", [("echo", "x")])))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("executeScript", "return 1", "x"), "JavaScript of the page cannot be a step"),
        (("click", "dom=document.links[0]"), "the locator dom="),
        (("click", "sign in"), "the locator sign in"),
        (("click", "css="), "the locator css="),
        (("assertAlert", "Sure?"), "the text of a dialog (Sure?) cannot be checked"),
        (("teleport", "x"), "not a command that is known"),
        (("run", "nowhere"), "there is no test 'nowhere' in this file"),
        (("select", "id=a", "label=regexp:T.*"), "the choice label=regexp"),
        (("sendKeys", "id=a", "${KEY_WARP}"), "the key ${KEY_WARP}"),
        (("type", "id=a", "x${KEY_ENTER}"), "keys in a text that replaces"),
        (("type", A, "${not a name}"), "the variable ${not a name}"),
        (("mouseDownAt", "id=a", "1,1"), "not a command that is known"),
        (("setWindowSize", "390x800"), "a phone's window"),
        (("store", "x", "not a name"), "'not a name' is no name for a variable"),
        (("close",), "the only window is closed"),
    ],
)
def test_what_cannot_be_a_step_is_said_with_its_line(command: tuple[str, ...], said: str) -> None:
    test = read(("open", "/"), command, ("click", "id=a"))

    (missing,) = test.missing
    assert said in missing.what
    assert missing.line == 13
    assert (test.understood, test.parts) == (2, 3)


def test_control_flow_is_named_line_by_line_with_all_that_stands_in_it() -> None:
    test = read(("open", "/"), ("if", "${x} === 1"), ("click", A), ("else",), ("click", A), ("end",), ("click", "id=b"))

    assert write_steps(test.steps) == [{"goto": "/"}, {"click": {"css": "#b"}}]
    assert len(test.missing) == 5
    assert "command 2 (if ${x} === 1)" in test.missing[0].what


def test_a_variable_that_nothing_gives_a_value_is_missing() -> None:
    test = read(("open", "/"), ("type", "id=a", "${user}"))

    assert [one.what for one in test.missing] == ["the variable 'user' is used, and nothing gives it a value"]


@pytest.mark.parametrize(("kind", "raw"), ALL, ids=IDS)
def test_what_the_ide_has_no_words_for_is_marked_and_comes_back(kind: str, raw: Any) -> None:
    if kind in ("intent", "group"):
        return  # a block is played as its steps, which the others show
    test = WrittenTest("one", steps_of(raw), variables={name: Secret("S") for name in names_used(steps_of(raw))})

    made = side.write(test, base_url=SHOP)
    (again,) = side.read(made.text, base_url=SHOP)

    assert not again.missing
    assert again.steps == test.steps or str(again.steps) == str(test.steps).replace("value': 42", "value': '42'")
    assert again.variables == test.variables
    assert side.write(again, base_url=SHOP).text == made.text


def test_plain_variables_go_out_as_their_values() -> None:
    test = WrittenTest("one", steps_of({"fill": {**CSS, "value": "${user}"}}), variables={"user": "ada"})

    made = side.write(test)

    assert '"value": "ada"' in made.text
    assert made.lost == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "a.side: expected a project of Selenium IDE"),
        ('{"tests": {}}', "a.side: expected a project of Selenium IDE"),
        ('{"tests": []}', "a.side: the project has no tests"),
        ('{"tests": [1]}', "a.side:1: a test is an object"),
        ('{"tests": [{"commands": []}]}', "a.side:1: a test's 'name'"),
        ("<!DOCTYPE x [<!ENTITY a 'aaaa'>]><x>&a;</x>", "a.side:1: not JSON"),
        ("[" * 100_000, "nested more than 60 deep"),
    ],
)
def test_a_file_that_is_no_project_is_refused_with_one_line(text: str, said: str) -> None:
    with pytest.raises(BadTest) as caught:
        side.read(text, where="a.side")

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


texts = st.sampled_from(
    [
        "id=a",
        "css=.b",
        "${x}",
        "${KEY_ENTER}",
        "index=0",
        "relative=top",
        "label=a",
        "7",
        "3,4",
        "t",
        "",
        "x@href",
        "\u2028",
    ]
) | st.text(max_size=12)
a_command = st.fixed_dictionaries(
    {
        "command": st.sampled_from(
            [*sorted(side._COMMANDS), *POINTER, "if", "end", "run", "close", "//x", "verifyText"]
        )
        | texts
    },
    optional={
        "target": texts,
        "value": texts,
        "comment": texts | st.none(),
        "targets": st.lists(st.lists(texts, max_size=2), max_size=3),
        "opensWindow": st.booleans(),
        "windowHandleName": texts,
    },
)


@settings(max_examples=300)
@given(st.lists(a_command | st.integers(), max_size=6))
def test_whatever_the_commands_hold_the_reader_answers(commands: list[Any]) -> None:
    for test in answer(side.read, a_project(("t", commands))):
        (again,) = side.read(side.write(test).text)
        assert [step for step in again.steps if step.kind != "group"] == flat(test)


def flat(test: WrittenTest) -> list[Any]:
    return [step for step in test.steps if step.kind != "group"]


@settings(max_examples=100)
@given(st.text(max_size=200))
def test_whatever_the_text_the_reader_answers(text: str) -> None:
    answer(side.read, text)
