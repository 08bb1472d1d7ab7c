"""The three rungs, and what every proposer takes and gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from radar.elements import PageSnapshot
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation, Operations, apply_operations, moved_places
from repair_ladder.outcomes import Red
from repair_ladder.ports import Unavailable
from repair_ladder.steps import Place, Step, Steps, step_at

SELF_HEAL: Final = "self_heal"
SUGGEST_FIX: Final = "suggest_fix"
DIAGNOSE_DRIFT: Final = "diagnose_drift"
RUNGS: Final = (SELF_HEAL, SUGGEST_FIX, DIAGNOSE_DRIFT)


@dataclass(frozen=True, slots=True)
class Situation:
    """Where the ladder stands.

    `steps` are the test as saved and all places count in them. `base` are operations of an earlier candidate that
    carried the test further, and `red` is the failure of the steps with `base` applied.
    """

    steps: Steps
    base: Operations
    red: Red
    memory: Memory
    test_id_attribute: str = "data-testid"
    variables: frozenset[str] = frozenset()
    # Of each block that `base` derived again: the saved places of its steps as they are now, None for new ones.
    origins: Mapping[Place, tuple[Place | None, ...]] = field(default_factory=dict)
    tried: tuple[str, ...] = ()  # the attempts of this climb so far, each with what became of it (H20)

    @property
    def current(self) -> Steps:
        return apply_operations(self.steps, self.base)

    @property
    def place(self) -> Place | None:
        """The failing step's place among the saved steps; None if an inserted step failed."""
        return self.saved_place(self.red.place)

    def saved_place(self, now: Place) -> Place | None:
        return next((old for old, new in moved_places(self.steps, self.base).items() if new == now), None)

    def place_now(self, saved: Place) -> Place | None:
        return moved_places(self.steps, self.base).get(saved)

    def step_now(self, saved: Place) -> Step | None:
        """The step at a saved place as `base` leaves it."""
        now = self.place_now(saved)
        return step_at(self.current, now) if now else None

    @property
    def page(self) -> PageSnapshot | None:
        return self.red.page


@dataclass(frozen=True, slots=True)
class Candidate:
    """Operations to try beside the situation's `base`, and why.

    `doubt` says why a person has to look at it even where fixes are applied, `harm` why it may not be run unattended.
    `reveals`: it is no fix by itself, but brings the target into the page so that the next look finds it.
    """

    operations: Operations
    strategy: str
    hypothesis: str
    doubt: str = ""
    harm: str | None = None
    reveals: bool = False
    because: tuple[str, ...] = ()  # why it is the same element, in words
    dropped: frozenset[Place] = frozenset()  # deleted actions that were shown to be redundant
    renamed: frozenset[Place] = frozenset()  # options that only got another name
    identified: frozenset[Place] = frozenset()  # checks of absence whose new locator was found by identity
    vouched: frozenset[Place] = frozenset()  # elements that a model recognised where the matcher is not sure
    lessons: tuple[int, ...] = ()  # the remembered fixes that it repeats
    origins: Mapping[Place, tuple[Place | None, ...]] = field(default_factory=dict)  # see Situation


@dataclass(frozen=True, slots=True)
class Unusable:
    """A model answered, and the answer is of no use: an attempt is spent, and it is said why (H14)."""

    reason: str


Proposer: TypeAlias = Callable[[Situation], Awaitable[tuple[Candidate, ...] | Unavailable | Unusable]]


Category: TypeAlias = Literal["rot", "fixable", "product_defect", "environment", "incurable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What broke, in a sentence, with what shows it.

    `wanted` is a change that only a person may make, such as a new wording of an expectation: it goes to the floor,
    which refuses it with its reason.
    """

    category: Category
    reason: str
    evidence: tuple[str, ...] = ()
    wanted: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A verdict, or what to try; neither where the answer could not be read, and then `unusable` says why."""

    verdict: Verdict | None
    candidates: tuple[Candidate, ...] = ()
    unusable: str = ""


@dataclass(frozen=True, slots=True)
class Models:
    """The model's side of the ladder."""

    proposers: Mapping[str, Proposer]
    diagnose: Callable[[Situation], Awaitable[Diagnosed | Unavailable]]
    derive: Proposer | None = None  # a block from its goal
