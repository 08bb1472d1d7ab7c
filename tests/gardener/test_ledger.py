"""Prices, bounds and the ledger: what a call may use up is counted before it is made."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gardener.errors import BadSetting
from gardener.ledger import Bound, CallState, ModelCall, Scope, Sum, Tripped, Usage, estimate, first_tripped, usd
from gardener.models import DEFAULT_MODELS
from gardener.prices import Price, Prices, known_prices, read_prices, shipped
from gardener.projects import Project
from gardener.saved_tests import SavedTest
from gardener.settings import read_settings
from gardener.store import Store, cases, ledger
from repair_ladder.ports import Question, Tool
from tests.gardener.conftest import NOW

SONNET = Price("claude-sonnet-5-5", 2.0, 0.2, 10.0)
WANTED = Usage(1000, 500, 0, 7000)


# --- prices --------------------------------------------------------------------------------------------


def test_a_price_counts_cached_input_at_its_own_rate_and_rounds_up() -> None:
    assert SONNET.micro_usd(input_tokens=1_000_000, cached_tokens=0, output_tokens=0) == 2_000_000
    assert SONNET.micro_usd(input_tokens=1000, cached_tokens=900, output_tokens=100) == 200 + 180 + 1000
    assert replace(SONNET, input=0.1).micro_usd(input_tokens=1, cached_tokens=0, output_tokens=0) == 1
    assert SONNET.micro_usd(input_tokens=10, cached_tokens=99, output_tokens=0) == 2, "no more is cached than was read"


def test_the_shipped_list_has_a_day_and_the_models_that_are_asked_by_default() -> None:
    prices = shipped()

    assert prices.taken is not None
    assert all(prices.of(model, prices.taken) for model in DEFAULT_MODELS.values())


def test_a_dated_name_has_the_price_of_its_model_and_a_longer_name_has_not() -> None:
    prices = Prices(None, (Price("gpt-5", 1, 1, 1),))

    assert prices.of("gpt-5-2025-08-07", NOW.date()) is not None
    assert prices.of("gpt-5-20250807", NOW.date()) is not None
    assert prices.of("gpt-5-mini", NOW.date()) is None


def test_a_price_holds_from_its_day_on() -> None:
    prices = Prices(None, (Price("m", 1, 1, 1), Price("m", 2, 2, 2, date(2027, 1, 1))))

    assert [prices.of("m", day).input for day in (date(2026, 12, 31), date(2027, 1, 1))] == [1, 2]  # type: ignore[union-attr]


def test_a_list_of_ones_own_goes_before_the_shipped_one(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(
        '[[price]]\nmodel = "llama"\ninput = 0\noutput = 0\n[[price]]\nmodel = "gpt-6-sol"\ninput=9\noutput=9\n'
    )

    prices = known_prices(own)

    assert prices.of("llama", NOW.date()) == Price("llama", 0, 0, 0)
    assert prices.of("gpt-6-sol", NOW.date()) == Price("gpt-6-sol", 9, 9, 9), "cached input costs as any other"
    assert prices.of("gpt-6-luna", NOW.date()) == shipped().of("gpt-6-luna", NOW.date())


def test_what_got_lost_counts_as_often_as_it_was_asked() -> None:
    wanted = Usage(100, 20, 5, 7)

    assert Usage(1, 2, 3, 4) + wanted.times(2) == Usage(201, 42, 13, 18)
    assert (Usage(1, 2, 3, None) + wanted.times(2)).micro_usd is None
    assert (Usage() + Usage(1, 1, 0, None).times(3)).micro_usd is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[price]]\ninput = 1", "names no model"),
        ('[[price]]\nmodel = "m"\noutput = 1', "'input' is US dollars"),
        ('[[price]]\nmodel = "m"\ninput = -1\noutput = 1', "'input' is US dollars"),
        ('[[price]]\nmodel = "m"\ninput = nan\noutput = 1', "'input' is US dollars"),
        ('[[price]]\nmodel = "m"\ninput = 1\noutput = "2"', "'output' is US dollars"),
        ('[[price]]\nmodel = "m"\ninput = 1\noutput = 2\nper = 3', "'per' is not known"),
        ('[[price]]\nmodel = "m"\ninput = 1\noutput = 2\nsince = "soon"', "'since' is a day"),
        ("price = 3", "is a list of"),
        ("][", "cannot be read"),
    ],
)
def test_a_list_that_cannot_be_read_is_one_clear_line_also_among_the_settings(
    text: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)

    with pytest.raises(BadSetting, match=says):
        read_prices(path)
    with pytest.raises(BadSetting, match=says):
        read_settings({"GARDENER_PRICES_FILE": str(path)}, tmp_path)


# --- bounds --------------------------------------------------------------------------------------------


def bound(scope: Scope, most: int, *, is_money: bool = False, name: str = "a_bound") -> Bound:
    return Bound(scope, name, most, is_money)


def tripped(*bounds: Bound, wanted: Usage = WANTED, **spent: Sum) -> Tripped | None:
    return first_tripped(bounds, {scope: spent.get(scope.value, Sum()) for scope in Scope}, wanted, "a-model")


@pytest.mark.parametrize("scope", list(Scope))
def test_a_bound_may_be_used_up_to_the_last_token_and_no_further(scope: Scope) -> None:
    used = {scope.value: Sum(1, 500, 0)}

    assert tripped(bound(scope, 2000), **used) is None
    assert tripped(bound(scope, 1999), **used) is not None
    assert tripped(bound(scope, 7000, is_money=True), **{scope.value: Sum()}) is None
    assert tripped(bound(scope, 6999, is_money=True), **{scope.value: Sum()}) is not None


def test_the_strictest_trips_first_and_is_named() -> None:
    narrow = bound(Scope.CASE, 10_000, name="case_tokens")
    wide = bound(Scope.DAY, 100_000, name="day_tokens")
    money = bound(Scope.PROJECT, 1_000_000, is_money=True, name="project_usd")

    found = tripped(
        narrow, wide, money,
        case=Sum(1, 9_000), day=Sum(9, 99_900), project=Sum(9, 0, 0, 0, 999_500),
    )  # fmt: skip

    assert found is not None
    assert found.bound == money, "of it the least is left"
    assert "project_usd" in found.reason
    assert "0.9995 of 1.00 USD" in found.reason
    assert "may cost 0.007" in found.reason


def test_a_bound_in_money_cannot_be_kept_without_a_price_and_says_so() -> None:
    found = tripped(bound(Scope.DAY, 10_000_000, is_money=True, name="day_usd"), wanted=replace(WANTED, micro_usd=None))

    assert found is not None
    assert "no price is known for the model 'a-model'" in found.reason
    assert tripped(bound(Scope.DAY, 10_000), wanted=replace(WANTED, micro_usd=None)) is None


def test_nothing_is_asked_with_a_bound_of_nothing() -> None:
    assert tripped(bound(Scope.DAY, 0)) is not None


def test_the_estimate_is_no_less_than_any_plain_text_takes() -> None:
    question = Question("s" * 100, "word " * 2000, (Tool("t", "d", {}),), max_tokens=2000)

    wanted = estimate(question, SONNET)

    assert wanted.input_tokens >= 2001
    assert wanted.output_tokens == 8000
    assert wanted.micro_usd == wanted.input_tokens * 2 + 80_000
    assert estimate(question, None).micro_usd is None


@pytest.mark.parametrize(
    ("micro", "text"), [(0, "0.00"), (2_500_000, "2.50"), (123, "0.000123"), (10**12, "1,000,000.00")]
)
def test_money_is_told_in_dollars(micro: int, text: str) -> None:
    assert usd(micro) == text


# --- the store -----------------------------------------------------------------------------------------


async def reserve(
    store: Store, test: SavedTest, *bounds: Bound, now: datetime = NOW, wanted: Usage = WANTED
) -> ModelCall | Tripped:
    async with store.transaction() as tx:
        case = await cases.open_case(tx, project=test.project, test=test.id, version=test.version, now=now)
        return await ledger.reserve(
            tx,
            project=test.project,
            test=test.id,
            case=case.id,
            purpose="choose_element",
            provider="anthropic",
            model="m",
            wanted=wanted,
            bounds=bounds,
            now=now,
        )


async def settle(store: Store, call: Any, state: CallState, usage: Usage | None) -> None:
    async with store.transaction() as tx:
        await ledger.settle(tx, call.id, state=state, usage=usage, now=NOW)


async def spent(store: Store, test: SavedTest, scope: Scope, now: datetime = NOW) -> Sum:
    async with store.reading() as tx:
        return await ledger.spent(tx, scope, project=test.project, case=1, now=now)


async def test_a_call_counts_as_estimated_until_it_is_answered(store: Store, checkout: SavedTest) -> None:
    call = await reserve(store, checkout)
    before = await spent(store, checkout, Scope.DAY)
    await settle(store, call, CallState.ANSWERED, Usage(300, 20, 100, 900))

    assert before == Sum(1, 1000, 500, 0, 7000, 0, 1)
    assert await spent(store, checkout, Scope.DAY) == Sum(1, 300, 20, 100, 900, 0, 0)


async def test_what_became_of_a_call_decides_what_it_counts(store: Store, checkout: SavedTest) -> None:
    await settle(store, await reserve(store, checkout), CallState.FAILED, Usage())
    await settle(store, await reserve(store, checkout), CallState.UNCERTAIN, None)
    await settle(store, await reserve(store, checkout), CallState.UNUSABLE, Usage(10, 5, 0, None))

    assert await spent(store, checkout, Scope.PROJECT) == Sum(2, 1010, 505, 0, 7000, 1, 1)


async def test_a_call_is_settled_once(store: Store, checkout: SavedTest) -> None:
    call = await reserve(store, checkout)
    await settle(store, call, CallState.ANSWERED, Usage(300, 20, 0, 900))
    await settle(store, call, CallState.FAILED, Usage())

    assert (await spent(store, checkout, Scope.DAY)).input_tokens == 300


async def test_a_day_ends_at_midnight_utc(store: Store, checkout: SavedTest) -> None:
    late = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
    await reserve(store, checkout, now=late)

    assert (await spent(store, checkout, Scope.DAY, late)).calls == 1
    assert (await spent(store, checkout, Scope.DAY, late + timedelta(seconds=1))).calls == 0
    assert (await spent(store, checkout, Scope.PROJECT, late + timedelta(days=9))).calls == 1


async def test_two_at_once_cannot_both_take_what_is_left(
    store: Store, second_store: Store, checkout: SavedTest
) -> None:
    room_for_one = bound(Scope.PLACE, 2000)

    both = await asyncio.gather(
        *(reserve(one, checkout, room_for_one) for one in (store, second_store, store, second_store))
    )

    assert sorted(type(one).__name__ for one in both) == ["ModelCall", "Tripped", "Tripped", "Tripped"]


async def test_the_place_counts_all_projects_and_a_day_only_its_own(
    store: Store, checkout: SavedTest, shop: Project
) -> None:
    await reserve(store, checkout)

    async with store.reading() as tx:
        other = await ledger.spent(tx, Scope.DAY, project=shop.id + 1, now=NOW)
        place = await ledger.spent(tx, Scope.PLACE, project=shop.id + 1, now=NOW)
    assert (other.calls, place.calls) == (0, 1)


async def test_a_trip_is_told_of_once(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        said = [await ledger.note_trip(tx, shop.id, key, "why", now=NOW) for key in ("a:1:5", "a:1:5", "a:1:6")]
        listed = await ledger.trips(tx, shop.id)

    assert said == [True, False, True]
    assert [reason for _, reason in listed] == ["why", "why"]


async def test_sums_by_day_and_by_case(store: Store, checkout: SavedTest) -> None:
    await reserve(store, checkout, now=NOW - timedelta(days=1))
    await settle(store, await reserve(store, checkout), CallState.ANSWERED, Usage(300, 20, 0, 900))

    async with store.reading() as tx:
        days = await ledger.by_day(tx, checkout.project, now=NOW, days=5)
        (case,) = await ledger.by_case(tx, checkout.project, since=NOW - timedelta(days=5))
        calls = await ledger.calls(tx, checkout.project)
    assert [(day, one.tokens) for day, one in days] == [(NOW.date(), 320), (NOW.date() - timedelta(days=1), 1500)]
    assert (case.test, case.sum.calls, case.sum.tokens) == ("checkout", 2, 1820)
    assert [one.state for one in calls] == [CallState.ANSWERED, CallState.ASKED]
