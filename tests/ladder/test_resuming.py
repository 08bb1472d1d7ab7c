"""A climb that was broken off is taken up at the next attempt: none is repeated, none forgotten (T29); cost."""

from __future__ import annotations

from typing import Any

import pytest

from repair_ladder.bounds import Limits
from repair_ladder.climb import Attempt, Earlier, Exhausted, Given, Halted, Repaired, climb
from repair_ladder.memory import Memory
from repair_ladder.rungs import Unusable
from tests.builders import a_red, a_replacement
from tests.ladder.test_climb import FIX, GONE, KNOWN, NEW, NOW, RED, STEPS, Shop, a_candidate, models


class Notes:
    """A journal that remembers; with `dies_at` it dies where that attempt begins."""

    def __init__(self, dies_at: int = 0) -> None:
        self.begun: list[str] = []
        self.made: list[Attempt] = []
        self.dies_at = dies_at

    async def begins(self, fix: str, hypothesis: str) -> None:
        self.begun.append(fix)
        if len(self.begun) == self.dies_at:
            raise KeyboardInterrupt

    async def ended(self, attempt: Attempt) -> None:
        self.made.append(attempt)


def wrong(number: int) -> Any:
    return a_candidate(a_replacement(2, {"click": {"css": f"#x{number}"}}))


async def climbed(shop: Shop, notes: Notes, earlier: Earlier | None = None, **given: Any) -> Any:
    known = {"memory": Memory(), "models": models((wrong(1), wrong(2)))} | given
    all_ = Given(**known, earlier=earlier or Earlier(), journal=notes)
    return await climb(STEPS, a_red(2, GONE), all_, shop, now=lambda: NOW)


async def test_each_attempt_is_written_down_before_and_after() -> None:
    notes = Notes()

    found = await climbed(Shop(GONE), notes)

    assert isinstance(found, Exhausted)
    assert [one.outcome for one in notes.made] == ["red", "red"]
    assert [one.fix for one in notes.made] == notes.begun


@pytest.mark.parametrize("dies_at", [1, 2])
async def test_killed_at_any_attempt_it_goes_on_at_that_one(dies_at: int) -> None:
    first, second, shop = Notes(dies_at), Notes(), Shop(GONE)
    with pytest.raises(KeyboardInterrupt):
        await climbed(Shop(GONE), first)
    earlier = Earlier(tuple(first.made), {first.begun[-1]: 1})

    found = await climbed(shop, second, earlier)

    assert [one.number for one in (*first.made, *second.made)] == [1, 2], "none is forgotten"
    assert len({one.fix for one in (*first.made, *second.made)}) == 2, "none is made twice"
    assert len(shop.played) == 2 - len(first.made), "and none is run twice"
    assert [one.number for one in found.attempts] == [1, 2], "the whole story is told"


async def test_an_attempt_that_took_the_service_down_twice_is_not_begun_again() -> None:
    first = Notes(1)
    with pytest.raises(KeyboardInterrupt):
        await climbed(Shop(GONE), first)
    shop = Shop(GONE)

    found = await climbed(shop, Notes(), Earlier((), {first.begun[0]: 2}))

    assert isinstance(found, Exhausted)
    assert found.reason == "stopped: the same fix came up a third time"
    assert found.is_stopped
    assert shop.played == []


async def test_what_was_green_when_the_service_died_is_proved_again_and_written_once() -> None:
    notes = Notes()
    given = Given(KNOWN, journal=notes)
    first = await climb(STEPS, RED, given, Shop(NEW), now=lambda: NOW)
    again = Notes()

    found = await climb(
        STEPS, RED, Given(KNOWN, journal=again, earlier=Earlier(tuple(notes.made))), Shop(NEW), now=lambda: NOW
    )

    assert isinstance(first, Repaired)
    assert isinstance(found, Repaired)
    assert found.operations[0].new == FIX.new
    assert again.made == [], "it is the same attempt"
    assert [one.outcome for one in found.attempts] == ["green"]


async def test_attempts_of_before_count_for_the_bound() -> None:
    spent = tuple(Attempt(n, "suggest_fix", "model", "h", (), (), "red", "no", fix=f"f{n}") for n in (1, 2, 3, 4, 5))
    shop = Shop(GONE)

    found = await climbed(shop, Notes(), Earlier(spent))

    assert isinstance(found, Exhausted)
    assert found.reason == "stopped: 5 candidates were tried and none was proven"
    assert shop.played == []


async def test_h14_an_answer_that_cannot_be_used_is_an_attempt_and_says_why() -> None:
    notes = Notes()

    found = await climbed(Shop(GONE), notes, models=models(Unusable("'step' is no number")))

    assert isinstance(found, Exhausted)
    assert {(one.outcome, one.error) for one in notes.made} == {("unusable", "'step' is no number")}
    assert "'step' is no number" in found.reason


async def test_a_bound_of_calls_asks_nobody_and_says_which_it_was() -> None:
    asked: list[str] = []
    earlier, limits = Earlier(model_calls=2), Limits(model_calls=2)

    found = await climbed(Shop(GONE), Notes(), earlier, limits=limits, models=models((wrong(1),), asked=asked))

    assert isinstance(found, Halted), "it is not said that no fix was found"
    assert "asked 2 times" in found.reason
    assert asked == []


async def test_what_needs_no_model_is_not_held_up_by_a_bound_of_calls() -> None:
    given = Given(KNOWN, models=models(), limits=Limits(model_calls=0))

    assert isinstance(await climb(STEPS, RED, given, Shop(NEW), now=lambda: NOW), Repaired)


def test_the_bound_counts_what_was_asked_before_as_well() -> None:
    assert Limits(model_calls=3).calls_tripped(2) is None
    assert Limits(model_calls=3).calls_tripped(3)
