"""Tests as people keep them, one module a format; WrittenTest is what each reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from repair_ladder.steps import Steps

STATUSES: Final = ("draft", "pending", "active", "rejected", "archived")
LARGEST_FILE: Final = 4_000_000  # characters
LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Secret:
    """A variable whose value is never shown: `name` is that of the project's secret or of an environment variable."""

    name: str


Variable: TypeAlias = str | int | float | Secret


@dataclass(frozen=True, slots=True)
class Remark:
    """Something of a file that did not become a step, or not all of it.

    `is_missing`: the test does or checks less without it. `before` says how many of the test's own steps (blocks not
    entered) stand before the place where it is missing.
    """

    line: int
    what: str
    is_missing: bool = True
    before: int = 0


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """A test as it stands in a file. `source` is its own text, where the file holds this test alone in our own format.

    Formats of other tools also tell of how many `parts` (steps, commands, statements) it is made there, and what of it
    could not be said in steps.
    """

    name: str
    steps: Steps
    status: str = "active"
    tags: tuple[str, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)
    source: str | None = None
    remarks: tuple[Remark, ...] = ()
    parts: int = 0
    line: int = 1

    @property
    def missing(self) -> tuple[Remark, ...]:
        return tuple(one for one in self.remarks if one.is_missing)

    @property
    def understood(self) -> int:
        """How many of its `parts` are wholly said in steps."""
        return max(0, self.parts - len(self.missing))


@dataclass(frozen=True, slots=True)
class Exported:
    """A test in another tool's format; `lost` names, one line a step, what that format cannot say."""

    text: str
    lost: tuple[str, ...] = ()
