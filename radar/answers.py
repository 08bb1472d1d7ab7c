"""What the matcher answers: which new element an old one became, how probable that is, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Verdict = Literal["found", "unsure", "gone"]

SHOWN: Final = 5  # candidates an answer lists


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element of the new page, how probable it is (0..1), and why, in words."""

    element: int
    probability: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """The answer for one old element. `element` is the best one even where the verdict is not "found".

    `reworded`: why nothing but what it says now keeps an "unsure" from being "found"; "" everywhere else. A person who
    reads both names can tell.
    """

    verdict: Verdict
    element: int | None
    probability: float
    reasons: tuple[str, ...]
    runner_up: int | None
    candidates: tuple[Candidate, ...]
    reworded: str = ""
