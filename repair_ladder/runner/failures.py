"""What ends a step: caught where steps are played, and known to nobody else."""

from __future__ import annotations

from repair_ladder.outcomes import Cause, EnvironmentKind


class Failed(Exception):
    """A step failed; caught in `play` alone."""

    def __init__(self, cause: Cause, message: str, *, observed: str | None = None) -> None:
        super().__init__(message)
        self.cause, self.observed = cause, observed


class Stuck(Failed):
    """The page answers nothing any more: its script, or a pattern that is looked for in it, never ends."""


class Surroundings(Exception):
    def __init__(self, kind: EnvironmentKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
