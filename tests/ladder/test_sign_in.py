"""repair_ladder/sign_in.py: which steps of a test sign in."""

from __future__ import annotations

from typing import Any

import pytest

from repair_ladder.memory import Memory
from repair_ladder.sign_in import MOST_STEPS, find_sign_in
from tests.builders import a_memory, a_page, index_of, steps_of

LOGIN = a_page(
    """
    form
      input name=user label="User"
      input name=password type=password label="Password"
      button#enter "Sign in"
    """,
    "/login",
)
HOME = a_page('h1 "Hello"\na#orders "Orders"', "/")
STEPS = steps_of(
    {"goto": "/login"},
    {"fill": {"label": "User", "value": "ada"}},
    {"fill": {"label": "Password", "value": "${password}"}},
    {"click": {"css": "#enter"}},
    {"click": {"css": "#orders"}},
)


def seen(after: Any = HOME) -> Memory:
    pages: dict[Any, Any] = {
        2: (LOGIN, index_of(LOGIN, name="User", tag="input")),
        3: (LOGIN, index_of(LOGIN, name="Password", tag="input")),
        4: (LOGIN, index_of(LOGIN, id="enter")),
    }
    return a_memory(pages | ({5: (after, None)} if after else {}))


def test_the_steps_up_to_the_one_that_sends_the_secret() -> None:
    assert find_sign_in(STEPS, ["password"], seen()) == (STEPS[:4], (4,))


def test_a_password_field_is_enough_where_no_variable_is_secret() -> None:
    assert find_sign_in(STEPS, [], seen()) == (STEPS[:4], (4,))


def test_enter_sends_it_too() -> None:
    steps = (*STEPS[:3], *steps_of({"press": "Enter"}), STEPS[4])

    assert find_sign_in(steps, ["password"], seen()) == (steps[:4], (4,))


@pytest.mark.parametrize(
    ("steps", "memory"),
    [
        pytest.param(STEPS, seen(LOGIN), id="the page still asks for a password: it did not work"),
        pytest.param(STEPS, seen(None), id="nothing is known of what came after"),
        pytest.param(STEPS, Memory(), id="never green"),
        pytest.param(STEPS[:3], seen(), id="the secret is never sent"),
        pytest.param(steps_of({"goto": "/"}, {"click": {"css": "#orders"}}), seen(), id="no secret"),
        pytest.param((*[STEPS[0]] * MOST_STEPS, *STEPS), seen(), id="too long to be a sign-in"),
        pytest.param((), Memory(), id="no steps"),
    ],
)
def test_what_is_no_sign_in(steps: Any, memory: Memory) -> None:
    assert find_sign_in(steps, ["password"], memory) is None


def test_a_sign_in_inside_a_block_is_found() -> None:
    steps = steps_of(
        {"intent": {"goal": "sign in", "steps": [
            {"goto": "/login"},
            {"fill": {"label": "Password", "value": "${password}"}},
            {"click": {"css": "#enter"}},
        ]}},
        {"click": {"css": "#orders"}},
    )  # fmt: skip
    memory = a_memory({(1, 2): (LOGIN, None), (2,): (HOME, None)})

    found = find_sign_in(steps, ["password"], memory)

    assert found is not None
    assert found[1] == (1, 3)
    assert [step.kind for step in found[0]] == ["goto", "fill", "click"]
