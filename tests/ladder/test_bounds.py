"""repair_ladder/bounds.py: which bound stops a case, and how that is said (T2-T7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from repair_ladder.bounds import Limits, Spent

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def spent(limits: Limits | None = None, *, after: timedelta = timedelta(), **used: int) -> Spent:
    return Spent(limits or Limits(), NOW, lambda: NOW + after, **used)


def test_a_fresh_case_may_go_on() -> None:
    assert spent().tripped() is None


@pytest.mark.parametrize(
    ("case", "why"),
    [
        pytest.param(spent(attempts=5), "5 candidates were tried and none was proven", id="attempts"),
        pytest.param(spent(replays=20), "the test was replayed 20 times", id="replays"),
        pytest.param(spent(after=timedelta(minutes=10)), "repair work took 10 minutes", id="the clock"),
        pytest.param(
            spent(Limits(clock=timedelta(seconds=90)), after=timedelta(hours=1)), "1.5 minutes", id="half minutes"
        ),
        pytest.param(spent(Limits(attempts=1), attempts=1), "1 candidates", id="a lowered bound"),
    ],
)
def test_a_bound_that_is_reached_stops_the_case_in_words(case: Spent, why: str) -> None:
    assert why in (case.tripped() or "")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(spent(attempts=4), id="attempts"),
        pytest.param(spent(replays=19), id="replays"),
        pytest.param(spent(after=timedelta(minutes=9, seconds=59)), id="the clock"),
    ],
)
def test_just_below_it_goes_on(case: Spent) -> None:
    assert case.tripped() is None


def test_the_same_fix_may_come_up_twice_and_not_a_third_time() -> None:
    """T3, C6."""
    case = spent()

    assert [case.same_again("fix") for _ in range(4)] == [False, False, True, True]
    assert not case.same_again("another")


def test_one_case_spends_nothing_of_another() -> None:
    one, other = spent(), spent()
    one.same_again("fix")
    one.same_again("fix")

    assert not other.same_again("fix")
