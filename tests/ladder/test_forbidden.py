"""What a project forbids its repairs to use: refused before it is played where the page shows it, and kept off else."""

from __future__ import annotations

from typing import Any

import pytest

from radar.locators import Locator
from repair_ladder.climb import Exhausted, NotDrift, Repaired
from repair_ladder.harm import forbidden_of, forbidden_to
from repair_ladder.outcomes import Red, Trace
from tests.builders import a_page, a_red, a_replacement, a_step, index_of
from tests.ladder.test_climb import FIX, GONE, NEW, SUBMIT, Shop, a_candidate, climbed, models

PAGE = a_page("""
main
  form
    label for=agree "I agree"
    input#agree type=checkbox
    input#amount name=amount label="Amount"
    button#send "Send"
      span#icon
  div#wrap
    button#delete "Delete"
  p "Elsewhere"
  button#other "Other"
""")


@pytest.mark.parametrize(
    ("step", "element", "forbidden", "is_refused"),
    [
        pytest.param({"click": {"css": "#send"}}, "send", "#send", True, id="itself"),
        pytest.param({"click": {"css": "#icon"}}, "icon", "#send", True, id="what is inside it"),
        pytest.param({"click": {"css": "#wrap"}}, "wrap", "#delete", True, id="what holds nothing but it"),
        pytest.param({"press": {"css": "#amount", "key": "Enter"}}, "amount", "#send", True, id="an Enter in its form"),
        pytest.param({"press": {"css": "#amount", "key": "Tab"}}, "amount", "#send", False, id="another key"),
        pytest.param({"fill": {"css": "#amount", "value": "1"}}, "amount", "#send", False, id="a field beside it"),
        pytest.param({"click": {"css": "#other"}}, "other", "#send", False, id="another button"),
        pytest.param({"assert_visible": {"css": "#send"}}, "send", "#send", False, id="a check only looks"),
        pytest.param({"wait": {"for": {"css": "#send"}}}, "send", "#send", False, id="a wait only looks"),
        pytest.param({"hover": {"css": "#send"}}, "send", "#send", True, id="the pointer over it"),
    ],
)
def test_forbidden_is_what_acts_on_it(step: Any, element: str, forbidden: str, is_refused: bool) -> None:
    made = a_step(next(iter(step)), **next(iter(step.values())))

    why = forbidden_to(made, PAGE, index_of(PAGE, id=element), (Locator(css=forbidden),), "data-testid")

    assert bool(why) == is_refused
    assert not why or "forbids repairs to use" in why


def test_the_label_of_a_forbidden_box_is_forbidden() -> None:
    label = next(one.index for one in PAGE.elements if one.tag == "label")

    assert forbidden_to(a_step(text="I agree"), PAGE, label, (Locator(css="#agree"),), "data-testid")


def test_what_nobody_can_tell_is_not_done() -> None:
    mystery = (Locator(css="a::before"),)

    assert "nobody can tell" in forbidden_to(a_step(css="#other"), PAGE, 1, mystery, "data-testid")
    assert "nobody can tell" in forbidden_of(a_step("press", key="Enter"), PAGE, (Locator(css="#x"),), "data-testid")


async def test_a_candidate_that_would_use_it_is_refused_before_it_is_played() -> None:
    shop = Shop()

    found = await climbed(shop=shop, forbidden=(Locator(css="#submit"),))

    assert not isinstance(found, Repaired)
    assert isinstance(found, Exhausted)
    assert found.only_refused, "G36: not the same as nothing found"
    assert "the project forbids repairs to use" in found.reason
    assert shop.played == []
    (refusal,) = found.refusals
    assert refusal.operation.place == (2,)
    assert refusal.reason.startswith("Refused: ")


async def test_what_shows_only_when_it_is_played_is_kept_off_and_refused() -> None:
    """The runner stands before what its page forbids: the step is not done, and the candidate is no progress."""

    class Guarded(Shop):
        async def __call__(self, steps: Any) -> Any:
            self.played.append(steps)
            return Red(Trace(), (2,), "forbidden", 'css "#submit" is css ".danger", which the project forbids', NEW)

    shop = Guarded()
    found = await climbed(shop=shop, rungs=("suggest_fix",), models=models((a_candidate(FIX),)))

    assert not isinstance(found, Repaired)
    assert [one.outcome for one in found.attempts] == ["refused"]
    assert any("forbids" in one.reason for one in found.refusals)


async def test_steps_of_the_test_itself_are_its_own() -> None:
    found = await climbed(forbidden=(Locator(css="#email"),))

    assert isinstance(found, Repaired), "the saved step fills the field; no repair does"


async def test_a_product_defect_stays_one() -> None:
    model = models((a_candidate(a_replacement(2, SUBMIT)),))

    found = await climbed(a_red(2, GONE), Shop(GONE), forbidden=(Locator(css="#submit"),), models=model)

    assert isinstance(found, NotDrift | Exhausted)
    assert not isinstance(found, Repaired)
