"""The ledger of what models use up: one entry a call, and the bounds that stop a call before it is made. Pure.

Bounds are kept by counting before asking: an entry is written with the most that the call may cost, and set right when
the answer is there. So neither several workers at once nor a process that is killed while it waits can pass a bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from gardener.prices import Price
from gardener.projects import Project
from gardener.settings import Settings
from repair_ladder.ports import ROOM_TO_THINK, Question

BYTES_A_TOKEN: Final = 2  # few, so that the estimate is rather too high


class CallState(StrEnum):
    ASKED = "asked"  # no answer yet, or the process was killed: counts as estimated, since it may have to be paid
    ANSWERED = "answered"
    UNUSABLE = "unusable"  # a refusal or nonsense: paid like an answer
    FAILED = "failed"  # no answer could be had, and nothing is paid
    UNCERTAIN = "uncertain"  # a time-out, a lost connection, or an answer without a count: counts as estimated


COUNTED_AS_ESTIMATED: Final = frozenset({CallState.ASKED, CallState.UNCERTAIN})


@dataclass(frozen=True, slots=True)
class Usage:
    """`micro_usd` are millionths of a US dollar; None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0  # of the input
    micro_usd: int | None = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def times(self, number: int) -> Usage:
        money = None if self.micro_usd is None else number * self.micro_usd
        return Usage(number * self.input_tokens, number * self.output_tokens, number * self.cached_tokens, money)

    def __add__(self, other: Usage) -> Usage:
        money = None if self.micro_usd is None or other.micro_usd is None else self.micro_usd + other.micro_usd
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            money,
        )


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One entry. `purpose` is the tool that was offered, such as choose_element."""

    id: int
    project: int
    test: int | None
    case: int | None
    purpose: str
    provider: str
    model: str
    state: CallState
    usage: Usage
    at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """What several calls used up; `unpriced` ones have no price and are not in the money, `uncertain` are estimates."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    micro_usd: int = 0
    unpriced: int = 0
    uncertain: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Scope(StrEnum):
    """What a bound is on, from the narrowest."""

    CASE = "case"  # one broken test version
    DAY = "day"  # the project, on one day of UTC
    PROJECT = "project"  # the project, in all its time
    PLACE = "place"  # all projects of this database, on one day of UTC


@dataclass(frozen=True, slots=True)
class Bound:
    """`name` is the setting that it is raised by; `most` in tokens, or in millionths of a dollar if `is_money`."""

    scope: Scope
    name: str
    most: int
    is_money: bool


@dataclass(frozen=True, slots=True)
class Tripped:
    """A bound that the next call would pass, with the sentence that says so."""

    bound: Bound
    spent: int
    reason: str

    def key(self, case: int | None, day: date) -> str:
        """The same for the same bound of the same case, day or project: it is told of once."""
        period = {Scope.CASE: str(case), Scope.DAY: str(day), Scope.PROJECT: "all", Scope.PLACE: str(day)}
        return f"{self.bound.name}:{period[self.bound.scope]}:{self.bound.most}"


def bounds_of(settings: Settings, project: Project) -> tuple[Bound, ...]:
    """All bounds on a call for that project; none is raised by what a model or a page says."""
    own = project.settings
    tokens = {
        (Scope.CASE, "case_tokens"): own.case_tokens,
        (Scope.DAY, "day_tokens"): own.day_tokens,
        (Scope.PROJECT, "project_tokens"): own.project_tokens,
        (Scope.PLACE, "most_tokens_a_day"): settings.most_tokens_a_day,
    }
    money = {
        (Scope.CASE, "case_usd"): own.case_usd,
        (Scope.DAY, "day_usd"): own.day_usd,
        (Scope.PROJECT, "project_usd"): own.project_usd,
        (Scope.PLACE, "most_usd_a_day"): settings.most_usd_a_day,
    }
    return (
        *(Bound(scope, name, most, False) for (scope, name), most in tokens.items() if most is not None),
        *(
            Bound(scope, name, math.floor(most * 1_000_000), True)
            for (scope, name), most in money.items()
            if most is not None
        ),
    )


def estimate(question: Question, price: Price | None) -> Usage:
    """The most that a question may use up: its whole text, and an answer as long as it may be."""
    size = len(question.system.encode(errors="replace")) + len(question.text.encode(errors="replace"))
    size += sum(len(str(tool.schema)) + len(tool.description) for tool in question.tools)
    read, written = math.ceil(size / BYTES_A_TOKEN), question.max_tokens + ROOM_TO_THINK
    cost = price.micro_usd(input_tokens=read, cached_tokens=0, output_tokens=written) if price else None
    return Usage(read, written, 0, cost)


def first_tripped(bounds: Sequence[Bound], spent: Mapping[Scope, Sum], wanted: Usage, model: str) -> Tripped | None:
    """The strictest bound that one more call of that size would pass: the one of which the least is left."""
    found = [one for bound in bounds if (one := _tripped(bound, spent[bound.scope], wanted, model))]
    return min(found, key=lambda one: (one.bound.most - one.spent) / (one.bound.most or 1), default=None)


def _tripped(bound: Bound, spent: Sum, wanted: Usage, model: str) -> Tripped | None:
    if not bound.is_money:
        used = spent.tokens
        if used + wanted.tokens <= bound.most:
            return None
        said = f"{used:,} of {bound.most:,} tokens are used {_where(bound.scope)}, and the next question may take "
        return Tripped(bound, used, f"{_name(bound)}: {said}{wanted.tokens:,}; {_next_move(bound)}")
    used = spent.micro_usd
    if wanted.micro_usd is None:
        why = f"no price is known for the model '{model}', so that it cannot be kept"
        more = f"name its price in a file and that file in prices_file, or lift {bound.name} and bound tokens instead"
        return Tripped(bound, used, f"{_name(bound)}: {why}; {more}.")
    if used + wanted.micro_usd <= bound.most:
        return None
    said = f"{usd(used)} of {usd(bound.most)} USD are spent {_where(bound.scope)}, and the next question may cost "
    return Tripped(bound, used, f"{_name(bound)}: {said}{usd(wanted.micro_usd)}; {_next_move(bound)}")


def _name(bound: Bound) -> str:
    return f"The budget {bound.name} stops the model"


def _where(scope: Scope) -> str:
    return {
        Scope.CASE: "on this test's case",
        Scope.DAY: "by this project today (UTC)",
        Scope.PROJECT: "by this project in all",
        Scope.PLACE: "by all projects today (UTC)",
    }[scope]


def _next_move(bound: Bound) -> str:
    setting = f"GARDENER_{bound.name.upper()}" if bound.scope == Scope.PLACE else bound.name
    wait = " or wait for tomorrow" if bound.scope in (Scope.DAY, Scope.PLACE) else ""
    return f"raise {setting}{wait}. Local repairs go on."


def usd(micro_usd: int) -> str:
    """Dollars for people: cents at least, and as many places more as small sums need."""
    text = f"{micro_usd / 1_000_000:,.6f}".rstrip("0")
    whole, _, places = text.partition(".")
    return f"{whole}.{places.ljust(2, '0')}"
