"""Tests as people keep them, one module a format; WrittenTest is what each reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from repair_ladder.steps import Steps

STATUSES: Final = ("draft", "pending", "active", "rejected", "archived")


@dataclass(frozen=True, slots=True)
class Secret:
    """A variable whose value is never shown: `name` is that of the project's secret or of an environment variable."""

    name: str


Variable: TypeAlias = str | int | float | Secret


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """A test as it stands in a file. `source` is its own text, where the file holds this test alone."""

    name: str
    steps: Steps
    status: str = "active"
    tags: tuple[str, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)
    source: str | None = None
