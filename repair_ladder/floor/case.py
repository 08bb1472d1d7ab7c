"""What the rules look at: the test, the whole proposal, and what the caller knows beside them."""

from __future__ import annotations

from dataclasses import dataclass

from repair_ladder.floor.comparing import terms_of
from repair_ladder.operations import Operations
from repair_ladder.steps import Place, Step, Steps, walk


@dataclass(frozen=True, slots=True)
class Case:
    """What the rules look at: the test, the whole proposal, and what the caller knows beside them."""

    steps: Steps
    operations: Operations
    variables: frozenset[str]
    secrets: frozenset[str]
    origins: frozenset[str]
    dropped: frozenset[Place]
    renamed: frozenset[Place]
    identified: frozenset[Place]

    def after(self, place: Place) -> list[tuple[Place, Step]]:
        """What is played later than `place`, or than the spot after it."""
        return [(at, step) for at, step in walk(self.steps) if at[: len(place)] > place]

    def before(self, place: Place) -> list[tuple[Place, Step]]:
        return [(at, step) for at, step in walk(self.steps) if at < place and at[: len(place)] != place]

    def forms(self, place: Place, step: Step) -> tuple[Step, ...]:
        """The step as it is, and as the proposal would have it."""
        news = [one.new for one in self.operations if one.new and one.op == "replace" and one.place == place]
        # A check whose expectation is rewritten will stay as it is.
        return (step, *(new for new in news if not step.asserts_outcome or terms_of(step) == terms_of(new)))

    def checks_after(self, place: Place) -> list[Step]:
        return [form for at, step in self.after(place) if step.asserts_outcome for form in self.forms(at, step)]
