"""repair_ladder/sign_in.py: which steps of a test sign in, and when a page says that nobody is signed in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from radar.locators import Locator
from repair_ladder.memory import Memory
from repair_ladder.outcomes import Environment, Green, Outcome, Trace
from repair_ladder.ports import Answered, Asked, Question, Reply
from repair_ladder.prompts import PROPOSE_OPERATIONS
from repair_ladder.rungs import SUGGEST_FIX, Situation
from repair_ladder.rungs.models import proposers
from repair_ladder.sign_in import (
    MOST_STEPS,
    doors_of,
    find_sign_in,
    may_be_turned_away,
    secrets_in,
    signs_in,
    turned_away,
    with_passwords,
    without_passwords,
)
from repair_ladder.steps import walk
from tests.builders import a_memory, a_page, a_red, index_of, steps_of

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
    assert [step.kind for _, step in walk(found[0])] == ["goto", "fill", "click"]


# --- whose browser a test needs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "memory", "expected"),
    [
        pytest.param(STEPS, Memory(), True, id="a secret of the sign-in, though never green"),
        pytest.param(
            steps_of({"fill": {"css": "#password", "value": "wrong"}}), Memory(), True, id="a field called password"
        ),
        pytest.param(
            steps_of({"fill": {"css": "input[type=password]", "value": "x"}}), Memory(), True, id="a field of that type"
        ),
        pytest.param(
            steps_of({"fill": {"css": "#p", "value": "wrong"}}),
            a_memory({1: (LOGIN, index_of(LOGIN, name="Password", tag="input"))}),
            True,
            id="a field that was one when it was green",
        ),
        pytest.param(
            steps_of({"fill": {"label": "Card", "value": "${card}"}}), Memory(), False, id="a secret of another kind"
        ),
        pytest.param(steps_of({"goto": "/"}, {"click": {"css": "#orders"}}), Memory(), False, id="no secret at all"),
        pytest.param((*[STEPS[0]] * MOST_STEPS, *STEPS), Memory(), False, id="much later"),
    ],
)
def test_a_test_that_types_a_password_at_its_beginning_signs_in_by_itself(
    steps: Any, memory: Memory, expected: bool
) -> None:
    assert signs_in(steps, ["password"], memory) == expected


def test_the_doors_are_where_the_sign_in_test_types() -> None:
    assert doors_of(STEPS, ["password"], seen()) == {"/login"}
    assert doors_of(STEPS, ["password"], Memory()) == frozenset()
    assert doors_of(steps_of({"goto": "/"}), ["password"], seen()) == frozenset()


# --- turned away -------------------------------------------------------------------------------------------

DOORS = {"/login"}
KNOWN = a_memory({1: (HOME, None)})
PASSWORD_PAGE = a_page('h1 "Change it"\ninput name=p type=password label="New password"', "/account/password")
NAMELESS_DOOR = a_page('h1 "Who are you?"\ninput name=user label="User"', "/login")


@pytest.mark.parametrize(
    ("outcome", "memory", "may_be", "is_sure"),
    [
        pytest.param(Green(Trace()), KNOWN, False, False, id="green"),
        pytest.param(a_red(1, HOME), KNOWN, False, False, id="the page as it was"),
        pytest.param(a_red(1, None), KNOWN, False, False, id="no page"),
        pytest.param(a_red(1, LOGIN), Memory(), True, True, id="the sign-in page, and never green"),
        pytest.param(a_red(1, NAMELESS_DOOR), KNOWN, True, True, id="the sign-in page asks for the name first"),
        pytest.param(a_red(1, NAMELESS_DOOR), Memory(), True, False, id="the same, and never green"),
        pytest.param(a_red(1, PASSWORD_PAGE), Memory(), True, False, id="a page that asks for another password"),
        pytest.param(
            a_red(1, PASSWORD_PAGE), a_memory({1: (PASSWORD_PAGE, None)}), False, False, id="as it always did"
        ),
        pytest.param(a_red(1, LOGIN), a_memory({1: (LOGIN, None)}), False, False, id="a test of the sign-in page"),
        pytest.param(a_red(1, a_page('h1 "No"', "/x", status=401)), Memory(), True, True, id="401"),
        pytest.param(a_red(1, a_page('h1 "No"', "/x", status=403)), Memory(), True, False, id="403, never seen before"),
        pytest.param(Environment("sign_in", "/ asks to sign in"), KNOWN, True, True, id="sure from the pages"),
        pytest.param(Environment("server_error", "500"), KNOWN, False, False, id="another trouble"),
    ],
)
def test_when_a_session_may_have_run_out_and_when_that_is_sure(
    outcome: Outcome, memory: Memory, may_be: bool, is_sure: bool
) -> None:
    assert may_be_turned_away(outcome, memory, DOORS) == may_be
    assert (turned_away(outcome, memory, DOORS) is not None) == is_sure


def test_of_a_session_what_lets_somebody_in_is_secret() -> None:
    state = {
        "cookies": [{"name": "sid", "value": "s3ss10n-of-ada-0123456789"}, {"name": "theme", "value": "dark"}],
        "origins": [
            {
                "origin": "http://shop.test",
                "localStorage": [
                    {"name": "token", "value": '"0123456789abcdefABCDEF"'},
                    {"name": "user", "value": '{"jwt": "eyJhbGciOiJI.eyJzdWIiOiI.c2lnbmVk", "name": "Ada Lovelace"}'},
                    {"name": "greeting", "value": "Good morning to you, Ada"},
                    {
                        "name": "me",
                        "value": '{"access_token": "opaque-0123456789-abc", "id": "7b1c0f6e-0000-4000-8000"}',
                    },
                ],
                # As Playwright writes down what Firebase keeps there, and a value that is more than JSON.
                "indexedDB": [
                    {
                        "name": "firebase",
                        "stores": [
                            {"name": "s", "records": [{"value": {"stsTokenManager": {"refreshToken": "AMf-" * 6}}}]},
                            {"name": "t", "records": [{"key": "authToken", "value": "opaque-9876543210-abc"}]},
                            {"name": "u", "records": [{"valueEncoded": {"o": [{"k": "session", "v": "S" * 24}]}}]},
                            {"name": "drafts", "records": [{"key": "a", "value": "a/long/path/of/a/draft/of/mine"}]},
                        ],
                    }
                ],
            }
        ],
    }

    assert secrets_in(state) == {
        "s3ss10n-of-ada-0123456789",
        "0123456789abcdefABCDEF",
        "eyJhbGciOiJI.eyJzdWIiOiI.c2lnbmVk",
        "opaque-0123456789-abc",
        "AMf-" * 6,
        "opaque-9876543210-abc",
        "S" * 24,
    }
    assert secrets_in("opaque") == frozenset()


TYPED = steps_of(
    {"fill": {"label": "User", "value": "hunter22"}},
    {"fill": {"css": "#pw", "value": "hunter22"}},
    {"intent": {"goal": "sign in", "steps": [{"fill": {"label": "Password", "value": "pre-${user}"}}]}},
    {"fill": {"label": "Password", "value": "${password}"}},
)


def test_a_password_that_a_step_types_as_it_stands_is_not_shown_and_comes_back() -> None:
    """By what the last green run says of the field, or by what the test calls it. A variable tells nothing."""
    memory = a_memory({2: (LOGIN, next(at for at, one in enumerate(LOGIN.elements) if one.get("type") == "password"))})

    shown, typed = without_passwords(TYPED, memory)

    assert [step.parameters.get("value") for step in shown] == [
        "hunter22",
        "${password_as_typed_1}",
        None,
        "${password}",
    ]
    assert shown[2].steps[0].parameters["value"] == "${password_as_typed_2}"
    assert tuple(with_passwords(step, typed) for step in shown) == TYPED


def test_a_password_comes_back_only_where_it_is_typed_and_alone() -> None:
    typed = {"password_as_typed_1": "hunter22"}
    elsewhere = steps_of(
        {"goto": "/?p=${password_as_typed_1}"},
        {"fill": {"label": "Note", "value": "it is ${password_as_typed_1}"}},
        {"assert_value": {"label": "Note", "equals": "${password_as_typed_1}"}},
    )

    assert tuple(with_passwords(step, typed) for step in elsewhere) == elsewhere


async def test_no_model_is_shown_a_password_and_what_it_proposes_types_it_all_the_same() -> None:
    posed: list[Question] = []
    new = {"fill": {"css": "[name=password]", "value": "${password_as_typed_1}"}}

    async def ask(question: Question) -> Reply:
        posed.append(question)
        operation = {"op": "replace", "step": "2", "new": new, "reason": "renamed"}
        return Answered(PROPOSE_OPERATIONS, {"operations": [operation]}, 7, 3)

    models = proposers(ask, Asked(), str)
    assert models is not None
    situation = Situation(TYPED, (), a_red(2, LOGIN), a_memory({}))
    situation = replace(situation, steps=(TYPED[0], replace(TYPED[1], locator=Locator(css="#password")), *TYPED[2:]))

    (candidate,) = await models.proposers[SUGGEST_FIX](situation)  # type: ignore[misc]

    assert posed[0].text.count("hunter22") == 1  # what is typed into another field is no password
    assert candidate.operations[0].new.parameters["value"] == "hunter22"
