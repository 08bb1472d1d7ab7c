"""repair_ladder/lessons.py: what a proven fix teaches, and where it is tried first (T9, T10, T30, C2)."""

from __future__ import annotations

from typing import Any

import pytest

from repair_ladder.climb import Given, Repaired, climb
from repair_ladder.lessons import LESSON, Lesson, learn, page_pattern, propose
from repair_ladder.memory import Memory
from repair_ladder.rungs import SELF_HEAL, Situation
from tests.builders import a_deletion, a_locator, a_memory, a_page, a_red, a_replacement, a_step, an_insert, index_of
from tests.ladder.test_climb import FIX, GONE, KNOWN, NEW, NOW, OLD, RED, STEPS, Shop, models

PAY = a_locator(css="#pay")
SUBMIT = a_locator(css="#submit")
(TAUGHT,) = learn(STEPS, (FIX,), KNOWN)


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://shop.test", "/"),
        ("http://shop.test/orders/17/edit?x=1#y", "/orders/*/edit"),
        ("http://shop.test/u/9f86d081-884c", "/u/*"),
        ("http://shop.test/v2/basket", "/v2/basket"),
        ("http://shop.test/facade", "/facade"),
    ],
)
def test_the_kind_of_page_leaves_numbers_and_keys_open(url: str, pattern: str) -> None:
    assert page_pattern(url) == pattern


def test_a_moved_locator_is_learned_with_what_it_was_called_and_where() -> None:
    assert Lesson(PAY, ("now", "pay"), "/", SUBMIT) == TAUGHT


def test_steps_before_it_are_learned_with_the_locator_that_needs_them() -> None:
    (taught,) = learn(STEPS, (an_insert(1, {"click": {"css": "#ok"}}),), KNOWN, doubt="it may consent")

    assert taught.before == (a_step("click", css="#ok"),)
    assert (taught.old, taught.locator, taught.doubt) == (PAY, None, "it may consent")


@pytest.mark.parametrize(
    "operations",
    [
        pytest.param((a_deletion(2),), id="a deletion"),
        pytest.param((an_insert(1, {"fill": {"css": "#x", "value": "1"}}),), id="a value that is one test's own"),
        pytest.param((an_insert(1, {"dialog": "accept"}),), id="an answer to a question"),
        pytest.param((an_insert(1, {"click": {"text": "${user}"}}),), id="a variable of one test"),
        pytest.param((a_replacement(2, {"check": {"css": "#pay"}}),), id="another deed"),
        pytest.param((an_insert(3, {"click": {"css": "#x"}}),), id="at the end"),
    ],
)
def test_what_is_one_tests_own_teaches_nothing(operations: Any) -> None:
    assert learn(STEPS, operations, KNOWN) == ()


def test_a_step_that_was_never_green_teaches_nothing() -> None:
    assert learn(STEPS, (FIX,), Memory()) == ()


def situation(page: Any = NEW, memory: Memory = KNOWN, place: int = 2) -> Situation:
    return Situation(STEPS, (), a_red(place, page), memory)


def test_the_same_locator_on_the_same_kind_of_page_is_mended_as_before() -> None:
    (one,) = propose(situation(), (TAUGHT,))

    assert [(o.op, o.place, o.new.locator) for o in one.operations if o.new] == [("replace", (2,), SUBMIT)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Lesson(SUBMIT, ("now", "pay"), "/", SUBMIT), id="another locator"),
        pytest.param(Lesson(PAY, ("delete",), "/", SUBMIT), id="of something else"),
        pytest.param(Lesson(PAY, ("now", "pay"), "/admin", SUBMIT), id="on another kind of page"),
        pytest.param(Lesson(PAY, ("now", "pay"), "/", a_locator(css="#nowhere")), id="its locator finds nothing"),
        pytest.param(Lesson(PAY, ("now", "pay"), "/", a_locator(css="button")), id="its locator finds several"),
        pytest.param(
            Lesson(PAY, ("now", "pay"), "/", None, (a_step("click", css="#no"),)), id="its step finds nothing"
        ),
    ],
)
def test_a_lesson_that_does_not_fit_is_not_tried(other: Lesson) -> None:
    assert propose(situation(), (other,)) == ()


def test_what_newly_may_do_harm_is_said_of_a_lesson_too() -> None:
    page = a_page('main\n  h1 "Basket"\n  form\n    input#email label="Email"\n    button#submit "Delete order"')

    (one,) = propose(situation(page), (TAUGHT,))

    assert one.harm


async def test_t9_c2_a_lesson_is_attempt_1_without_a_model_and_passes_the_same_gates() -> None:
    asked: list[str] = []
    shop = Shop()

    found = await climb(STEPS, RED, Given(KNOWN, models=models(asked=asked), lessons=(TAUGHT,)), shop, now=lambda: NOW)

    assert isinstance(found, Repaired)
    assert found.strategy == LESSON
    assert [(one.number, one.rung, one.strategy, one.outcome) for one in found.attempts] == [
        (1, LESSON, LESSON, "green")
    ]
    assert asked == []
    assert len(shop.played) == 2, "it is proved like any other"


async def test_a_wrong_lesson_is_caught_by_the_gates_and_the_ladder_goes_on() -> None:
    wrong = Lesson(PAY, TAUGHT.words, "/", a_locator(css="#later"), id=7)

    found = await climb(STEPS, RED, Given(KNOWN, lessons=(wrong,)), Shop(), now=lambda: NOW)

    assert isinstance(found, Repaired)
    assert found.strategy == SELF_HEAL
    assert [(one.outcome, one.lessons) for one in found.attempts] == [("wrong element", (7,)), ("green", ())]


async def test_g92_one_rung_alone_leaves_lessons_out() -> None:
    found = await climb(STEPS, RED, Given(KNOWN, lessons=(TAUGHT,), rungs=(SELF_HEAL,)), Shop(), now=lambda: NOW)

    assert isinstance(found, Repaired)
    assert found.strategy == SELF_HEAL


async def test_a_lesson_for_what_is_gone_leads_nowhere() -> None:
    given = Given(KNOWN, lessons=(TAUGHT,))

    assert not isinstance(await climb(STEPS, a_red(2, GONE), given, Shop(GONE), now=lambda: NOW), Repaired)


async def test_the_doubt_of_a_lesson_comes_with_it() -> None:
    doubtful = Lesson(PAY, TAUGHT.words, "/", SUBMIT, doubt="only a model recognised the element")

    found = await climb(STEPS, RED, Given(KNOWN, lessons=(doubtful,)), Shop(), now=lambda: NOW)

    assert isinstance(found, Repaired)
    assert found.doubt == "only a model recognised the element"


def test_a_step_list_of_another_page_is_not_touched_by_look_ahead() -> None:
    other = a_page('main\n  h1 "Elsewhere"\n  button#pay "Pay now"', "/elsewhere")
    memory = a_memory({1: (OLD, index_of(OLD, tag="input", id="email")), 2: (other, index_of(other, id="pay"))})

    assert propose(situation(memory=memory, place=1), (TAUGHT,)) == ()
