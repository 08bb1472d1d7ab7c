"""What models cost: the shipped list with its date, and a list of one's own that goes before it."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from gardener.errors import BadSetting

SHIPPED: Final = Path(__file__).with_name("prices.toml")
# Names of one release end in its day: claude-haiku-4-5-20251001, gpt-5.5-2026-04-23.
DATED: Final = re.compile(r"-(?:\d{8}|\d{4}-\d\d-\d\d)\Z")
MOST: Final = 100_000  # dollars for a million tokens


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, which is millionths of a dollar for one token."""

    model: str
    input: float
    cached: float
    output: float
    since: date | None = None

    def micro_usd(self, *, input_tokens: int, cached_tokens: int, output_tokens: int) -> int:
        """Millionths of a dollar, rounded up; the cached tokens are part of the input."""
        cached = min(cached_tokens, input_tokens)
        return math.ceil((input_tokens - cached) * self.input + cached * self.cached + output_tokens * self.output)


@dataclass(frozen=True, slots=True)
class Prices:
    taken: date | None  # the day that the list was taken
    rows: tuple[Price, ...]

    def of(self, model: str, day: date) -> Price | None:
        """The price of that model on that day; None where nobody has told it."""
        for name in dict.fromkeys((model, DATED.sub("", model))):
            holding = [row for row in self.rows if row.model == name and (row.since is None or row.since <= day)]
            if holding:
                return max(holding, key=lambda row: row.since or date.min)
        return None


@cache
def shipped() -> Prices:
    return read_prices(SHIPPED)


def read_prices(path: Path) -> Prices:
    """Raises BadSetting, naming the file and what is wrong in it."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"the prices in '{path}' cannot be read: {error}") from error
    rows, taken = raw.get("price", []), raw.get("taken")
    if not isinstance(rows, list) or not (taken is None or type(taken) is date):
        raise BadSetting(f"'{path}' is a list of [[price]] with the day it was 'taken'")
    return Prices(taken, tuple(_price(one, f"price {number} in '{path}'") for number, one in enumerate(rows, 1)))


def known_prices(own: Path | None) -> Prices:
    """The shipped list, behind the list of one's own where there is one: a model that stands in both has its own price.

    Raises BadSetting where the own one cannot be read.
    """
    if own is None:
        return shipped()
    mine = read_prices(own)
    named = {row.model for row in mine.rows}
    rest = tuple(row for row in shipped().rows if row.model not in named)
    return Prices(mine.taken or shipped().taken, mine.rows + rest)


def _price(raw: Any, which: str) -> Price:
    if not isinstance(raw, dict) or not isinstance(raw.get("model"), str) or not raw["model"]:
        raise BadSetting(f"{which} names no model")
    unknown = raw.keys() - {"model", "input", "cached", "output", "since"}
    if unknown:
        raise BadSetting(f"{which}: '{min(unknown)}' is not known; it has model, input, cached, output and since")
    since = raw.get("since")
    if since is not None and type(since) is not date:
        raise BadSetting(f"{which}: 'since' is a day such as 2026-11-30")
    paid = _dollars(raw, "input", which)
    cached = _dollars(raw, "cached", which) if "cached" in raw else paid
    return Price(raw["model"], paid, cached, _dollars(raw, "output", which), since)


def _dollars(raw: dict[str, Any], key: str, which: str) -> float:
    value = raw.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise BadSetting(f"{which}: '{key}' is US dollars for a million tokens, got {value!r}")
    return float(value)
