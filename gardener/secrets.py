"""Secrets of a project: what is told of them, and what each is sealed for. A value is never part of these."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from gardener.errors import BadSetting
from repair_ladder.values import SHORTEST_SECRET

NAME: Final = re.compile(r"[A-Za-z_]\w{0,199}\Z")  # as `{secret: NAME}` of the test format has it
LONGEST: Final = 20_000  # characters; a key with its certificates has some thousands


@dataclass(frozen=True, slots=True)
class KeptSecret:
    """A secret as it lies in the database."""

    project: int
    name: str
    sealed: str
    set_at: datetime
    set_by: str

    @property
    def purpose(self) -> str:
        return purpose_of(self.project, self.name)


@dataclass(frozen=True, slots=True)
class SessionState:
    """What the sign-in test of a project left in a browser at one base URL, as it lies in the database."""

    project: int
    base_url: str
    stamp: str  # another after each sign-in
    sealed: str
    made_at: datetime

    @property
    def purpose(self) -> str:
        return state_purpose(self.project, self.base_url)


class Origin(StrEnum):
    """Where the value of a secret comes from."""

    PROJECT = "project"
    ENVIRONMENT = "environment"  # of the process that asks
    NOWHERE = "nowhere"  # tests name it and nobody has set it


@dataclass(frozen=True, slots=True)
class SecretNote:
    """All that anybody is told of a secret."""

    name: str
    origin: Origin
    set_at: datetime | None
    set_by: str | None
    tests: tuple[str, ...]  # that name it

    def shape(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "from": self.origin.value,
            "set_at": self.set_at.isoformat() if self.set_at else None,
            "set_by": self.set_by,
            "tests": list(self.tests),
        }


def purpose_of(project: int, name: str) -> str:
    """What a secret is sealed for: this name in this project, and nothing else."""
    return f"secret:{project}:{name}"


def state_purpose(project: int, base_url: str) -> str:
    return f"session:{project}:{base_url}"


def read_name(name: str) -> str:
    """Raises BadSetting."""
    if not NAME.match(name):
        raise BadSetting(
            f"the name of a secret is letters, digits and _, such as SHOP_PASSWORD, got {name[:60]!r}; its value is "
            "not given here but asked for, or read from standard input"
        )
    return name


def read_value(text: str) -> str:
    """The value as it was typed or piped, without the end of its last line. Raises BadSetting, never with the value."""
    value = text[:-1] if text.endswith("\n") else text
    value = value[:-1] if value.endswith("\r") else value
    if len(value.strip()) < SHORTEST_SECRET:
        raise BadSetting(
            f"a secret has at least {SHORTEST_SECRET} characters: a shorter one cannot be told from chance and so not "
            "be hidden; give it to the test as a plain variable"
        )
    if len(value) > LONGEST:
        raise BadSetting(f"a secret has at most {LONGEST} characters, this one has {len(value)}")
    if "\0" in value:
        raise BadSetting("a secret is a text, and this one holds a character that is none (NUL)")
    return value
