"""repair_ladder/formats/yaml.py: tests in files, both ways; what is wrong is named with file, line and step."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from yaml import safe_load

from repair_ladder.errors import BadTest
from repair_ladder.formats import Secret, WrittenTest, yaml
from repair_ladder.steps import Step
from tests.builders import CHECKOUT, a_step, a_test, steps_of
from tests.ladder.test_step_format import ALL, IDS

DESIGN = """\
name: Sign in and see the orders
status: active                 # the default; draft | pending | active | rejected | archived
tags: [smoke]
variables:
  user: ada@example.com
  password: {secret: SHOP_PASSWORD}     # from the project's secrets or the environment; never shown
steps:
  - goto: /login                         # relative to the project's base URL
  - fill: {label: Email, value: "${user}"}
  - fill: {css: "#password", value: "${password}"}
  - click: {role: button, name: Sign in}
  - assert_url: {contains: /orders}
  - assert_text: {css: "#total", equals: "42"}
  - assert_visible: {text: Welcome back}
  - intent:                              # an intent block; its steps can be re-derived from the goal
      goal: put the blue mug into the basket
      values: {item: Blue mug}
      steps:
        - click: {role: link, name: Blue mug}
        - click: {test_id: add-to-basket}
  - assert_text: {role: status, contains: "1 item"}
"""


def test_the_example_of_the_design_is_read() -> None:
    (test,) = yaml.read(DESIGN)

    assert (test.name, test.status, test.tags) == ("Sign in and see the orders", "active", ("smoke",))
    assert test.variables == {"user": "ada@example.com", "password": Secret("SHOP_PASSWORD")}
    assert [step.kind for step in test.steps][-2:] == ["intent", "assert_text"]
    assert len(test.steps[7].steps) == 2


def test_what_was_imported_goes_out_as_it_came_in() -> None:
    assert yaml.write(yaml.read(DESIGN)[0]) == DESIGN


def test_canonical_bytes_are_stable_and_mean_the_same() -> None:
    (test,) = yaml.read(DESIGN)

    once = yaml.canonical(test)
    (again,) = yaml.read(once)

    assert yaml.canonical(again) == once
    assert (again.name, again.steps, again.variables, again.tags) == (test.name, test.steps, test.variables, test.tags)
    assert once.endswith("\n")
    assert "SHOP_PASSWORD" in once


@pytest.mark.parametrize(("kind", "raw"), ALL, ids=IDS)
def test_every_kind_of_step_comes_back_from_a_file(kind: str, raw: Any) -> None:
    test = WrittenTest("one", steps_of(raw))

    (read,) = yaml.read(yaml.canonical(test))

    assert read.steps == test.steps
    assert yaml.canonical(read) == yaml.canonical(test)


def test_a_file_may_hold_several_tests() -> None:
    text = "- name: one\n  steps: [{back: }]\n- name: two\n  status: draft\n  steps: [reload]\n"

    one, two = yaml.read(text)

    assert (one.name, two.name, two.status) == ("one", "two", "draft")
    assert one.source is None, "the file is not this test's alone"


# --- scalars -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("1.50", "1.50"),
        ("1e3", "1e3"),
        (".5", ".5"),
        ("2031-05-02", "2031-05-02"),
        ("2031-05-02T10:00:00Z", "2031-05-02T10:00:00Z"),
        ("12:30", "12:30"),
        ("0o17", "0o17"),
        ("0x1F", "0x1F"),
        ("017", "017"),
        ("1_000", "1_000"),
        ("+49 30 1", "+49 30 1"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("42", 42),
        ("-7", -7),
        ('"42"', "42"),
        ("'true'", "true"),
        ("99999999999999999999", "99999999999999999999"),
        ("=", "="),
    ],
)
def test_a_value_is_what_the_author_typed(written: str, value: Any) -> None:
    (test,) = yaml.read(f"name: x\nsteps:\n  - fill: {{css: a, value: {written}}}\n")

    assert test.steps[0].parameters["value"] == value
    (again,) = yaml.read(yaml.canonical(test))
    assert again.steps == test.steps


@pytest.mark.parametrize(
    "text", ["no", "1.50", "2031-05-02", "null", "~", "true", "0x1F", "12:30", "<<", "- a", "a: b", "#"]
)
def test_what_is_written_is_a_text_to_readers_of_yaml_1_1_too(text: str) -> None:
    written = yaml.canonical(WrittenTest("x", (a_step("fill", css="a", value=text),)))

    assert safe_load(written)["steps"][0]["fill"]["value"] == text


@pytest.mark.parametrize("word", ["true", "false", "~", "null"])
def test_a_flag_or_nothing_where_a_text_belongs_is_refused(word: str) -> None:
    with pytest.raises(BadTest, match="'value' is a text"):
        yaml.read(f"name: x\nsteps:\n  - fill: {{css: a, value: {word}}}\n")


@settings(max_examples=60)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60),
)
def test_any_text_comes_back_from_a_file(target: str, value: str) -> None:
    test = WrittenTest("x", (Step("fill", a_step("click", text=target).locator, {"value": value}),))

    (read,) = yaml.read(yaml.canonical(test))

    assert read.steps == test.steps


# --- what is wrong --------------------------------------------------------------------------------------

HEAD = "name: x\nsteps:\n"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + at)}: &{chr(98 + at)} [{','.join(['*' + chr(97 + at)] * 10)}]\n" for at in range(9)
)
# name, text, line (None: the file as a whole), step, words
WRONG: list[tuple[str, str, int | None, str | None, str]] = [
    ("nothing", "", None, None, "empty"),
    ("only a comment", "# soon\n", None, None, "empty"),
    ("an empty list", "[]\n", None, None, "an empty list"),
    ("a text", "hello\n", 1, None, "a test is a mapping"),
    ("a number", "42\n", 1, None, "a test is a mapping"),
    ("a list of texts", "- hello\n", 1, None, "a test is a mapping"),
    ("two documents", "name: x\n---\nname: y\n", 2, None, "not YAML"),
    ("an open bracket", "name: [x\n", 2, None, "not YAML"),
    ("a tab", "name: x\nsteps:\n\t- back\n", 3, None, "not YAML"),
    ("an open quote", 'name: "x\n', 2, None, "not YAML"),
    ("no name", "steps: [back]\n", 1, None, "no 'name'"),
    ("no steps", "name: x\n", 1, None, "no 'steps'"),
    ("steps are null", "name: x\nsteps:\n", 1, None, "no 'steps'"),
    ("steps are empty", "name: x\nsteps: []\n", 2, None, "no steps"),
    ("steps are a mapping", "name: x\nsteps: {click: a}\n", 2, None, "'steps' is a list"),
    ("an unknown key", "name: x\nstep: [back]\n", 2, None, "'step' is not a key of a test"),
    ("a name that is a list", "name: [x]\nsteps: [back]\n", 1, None, "'name' is one line"),
    ("a name that is empty", "name: ' '\nsteps: [back]\n", 1, None, "'name' is one line"),
    ("a name of two lines", 'name: "a\\nb"\nsteps: [back]\n', 1, None, "'name' is one line"),
    ("a name that steers a terminal", 'name: "a\\e[2J"\nsteps: [back]\n', 1, None, "'name' is one line"),
    ("a name that is too long", f"name: {'x' * 201}\nsteps: [back]\n", 1, None, "at most 200"),
    ("an unknown status", "name: x\nstatus: live\nsteps: [back]\n", 2, None, "'status' is one of draft"),
    ("tags that are a text", "name: x\ntags: smoke\nsteps: [back]\n", 2, None, "'tags' is a list"),
    ("a key twice", "name: x\nname: y\nsteps: [back]\n", 2, None, "'name' stands here twice"),
    ("a key twice in a step", HEAD + "  - fill: {css: a, css: b, value: c}\n", 3, None, "'css' stands here twice"),
    ("variables that are a list", "name: x\nvariables: [a]\nsteps: [back]\n", 2, None, "'variables' is a mapping"),
    ("a variable that is a flag", "name: x\nvariables: {a: true}\nsteps: [back]\n", 2, None, "put it in quotes"),
    ("a variable that is a list", "name: x\nvariables: {a: [1]}\nsteps: [back]\n", 2, None, "is a text or {secret"),
    ("a variable with a blank", "name: x\nvariables: {a b: 1}\nsteps: [back]\n", 2, None, "not a name"),
    ("a secret that is a number", "name: x\nvariables: {a: {secret: 1}}\nsteps: [back]\n", 2, None, "{secret: NAME}"),
    ("a secret with its value", "name: x\nvariables: {a: {secret: A, value: b}}\nsteps: [back]\n", 2, None, "{secret"),
    ("an unknown kind", HEAD + "  - back\n  - tap: {css: a}\n", 4, "2", "'tap' is not a kind of step"),
    ("no locator", HEAD + "  - click: {}\n", 3, "1", "'click' needs a locator"),
    ("a locator as a text", HEAD + "  - click: '#a'\n", 3, "1", "takes a mapping"),
    ("no value", HEAD + "  - fill: {css: a}\n", 3, "1", "value"),
    ("a check without a condition", HEAD + "  - back\n\n  - assert_url:\n", 5, "2", "condition"),
    ("two kinds in one step", HEAD + "  - click: {css: a}\n    back:\n", 3, "1", "got click, back"),
    (
        "in a block",
        HEAD + "  - intent:\n      goal: g\n      steps:\n        - back\n        - click: {}\n",
        7,
        "1.2",
        "locator",
    ),
    ("a pattern that is none", HEAD + "  - assert_text: {css: a, matches: '('}\n", 3, "1", "regular expression"),
    (
        "a tag that builds objects",
        "name: x\nsteps: !!python/object/apply:os.system ['x']\n",
        2,
        None,
        "is not allowed here",
    ),
    ("a tag in a value", HEAD + "  - fill: {css: a, value: !!binary aGk=}\n", 3, None, "is not allowed here"),
    ("a set", HEAD + "  - fill: {css: a, value: !!set {a}}\n", 3, None, "is not allowed here"),
    ("a key that is a list", HEAD + "  - {[a]: b}\n", 3, None, "a key is a word"),
    ("an unknown alias", "name: *x\nsteps: [back]\n", 1, None, "not YAML"),
    ("a bomb of aliases", BOMB, None, None, "aliases counted each time"),
    ("an alias in itself", "name: x\nsteps: &a [*a]\n", None, None, ""),
    ("a merge of a text", "name: x\n<<: y\nsteps: [back]\n", 2, None, "'<<' merges a mapping"),
    ("null bytes", "name: x\x00\nsteps: [back]\n", None, None, "null bytes"),
    ("a control character", "name: x\x07\nsteps: [back]\n", None, None, "not YAML"),
    ("5 MB", "name: x\nsteps: [back]\n#" + "x" * 5_000_000, None, None, "larger than 4 MB"),
    ("deep nesting", "name: x\nsteps: " + "[" * 500 + "]" * 500, None, None, "deep"),
    ("very deep nesting", "[" * 100_000, None, None, "deep"),
    (
        "two tests of one name",
        "- {name: x, steps: [back]}\n- {name: x, steps: [back]}\n",
        None,
        None,
        "two tests are named 'x'",
    ),
]


@pytest.mark.parametrize(("text", "line", "step", "words"), [one[1:] for one in WRONG], ids=[one[0] for one in WRONG])
def test_a_wrong_file_is_named_with_line_and_step_and_what_was_expected(
    text: str, line: int | None, step: str | None, words: str
) -> None:
    began = time.process_time()

    with pytest.raises(BadTest) as caught:
        yaml.read(text, where="tests/shop.yaml")

    said = str(caught.value)
    assert said.startswith("tests/shop.yaml:")
    assert words in said
    if line is not None:
        assert said.startswith(f"tests/shop.yaml:{line}:"), said
    if step is not None:
        assert f" step {step}:" in said
    assert "\n" not in said
    assert len(said) < 800
    assert time.process_time() - began < 20, "no file keeps the processor busy for long"


def test_a_few_aliases_are_fine() -> None:
    text = "name: x\nsteps:\n  - click: &pay {css: '#pay'}\n  - hover: *pay\n  - fill: {<<: *pay, value: a}\n"

    (test,) = yaml.read(text)

    assert [step.locator.css for step in test.steps if step.locator] == ["#pay"] * 3


def test_an_error_leaves_out_what_no_line_has_room_for() -> None:
    with pytest.raises(BadTest) as caught:
        yaml.read(HEAD + f"  - {'x' * 50_000}: a\n")

    assert not re.search("x{200}", str(caught.value))


def test_a_built_test_is_written_whole() -> None:
    text = yaml.canonical(a_test(tags=("smoke",)))

    assert yaml.read(text)[0].steps == steps_of(*CHECKOUT)
    assert text.splitlines()[:2] == ["name: checkout", "status: active"]
