"""A test script as a tree, the same for every language: what is called on what, line by line. Nothing in it is run.

Names are those of Playwright's Python API; a reader of another language translates them (`getByRole` is get_by_role).
Whatever a reader does not know is an Unknown with its source text, so that it can be named where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias


def snake(name: str) -> str:
    """`getByRole` as get_by_role; a constant's name stays as it is."""
    if name.upper() == name:
        return name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def camel(name: str) -> str:
    """The reverse; what is written in capitals there is put right."""
    head, *rest = name.split("_")
    return head + "".join(CAPITALS.get(part, part.capitalize()) for part in rest)


CAPITALS = {"url": "URL", "css": "CSS", "id": "Id"}


@dataclass(frozen=True, slots=True)
class Constant:
    line: int
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression; `flags` are letters as JavaScript writes them."""

    line: int
    source: str
    flags: str


@dataclass(frozen=True, slots=True)
class Name:
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Member:
    line: int
    of: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    line: int
    of: Expression
    key: Expression


@dataclass(frozen=True, slots=True)
class Call:
    line: int
    of: Expression
    given: tuple[Expression, ...] = ()
    named: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Many:
    line: int
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    line: int
    pairs: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts put together: a format string, a template, a sum."""

    line: int
    parts: tuple[Expression, ...]


RETURN = "return"  # what a function gives back is a Let of this name


@dataclass(frozen=True, slots=True)
class Function:
    """`parameters` are names; "" stands for one that is more than a name, such as a pattern or a rest."""

    line: int
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    line: int
    text: str


Expression: TypeAlias = Constant | Pattern | Name | Member | Index | Call | Many | Pairs | Joined | Function | Unknown


@dataclass(frozen=True, slots=True)
class Do:
    line: int
    what: Expression


@dataclass(frozen=True, slots=True)
class Let:
    """`names` is one name, or several where a list is taken apart; None for one that is passed over.

    `is_new`: it belongs to the function it stands in; else it may be that of what is around it.
    """

    line: int
    names: tuple[str | None, ...]
    what: Expression
    takes_apart: bool = False
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class Within:
    """A block that something is opened for: Python's `with`."""

    line: int
    what: Expression
    name: str | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A plain assertion: left `==`, `!=`, `in`, `not in`, `matches` right; `is` with a truth value."""

    line: int
    left: Expression
    how: str
    right: Expression


@dataclass(frozen=True, slots=True)
class Marked:
    """A comment with one of our marks."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Other:
    """A statement that no test here has: a loop, a condition, a definition. What it `gives` a value is not known."""

    line: int
    text: str
    gives: tuple[str, ...] = ()


Statement: TypeAlias = Do | Let | Within | Claim | Marked | Other


@dataclass(frozen=True, slots=True)
class Case:
    """One test. `before` is what runs before its own body, outermost first; `asks` are the fixtures it names.

    `constants` are what the blocks around it define for it, outermost first.
    """

    line: int
    name: str
    asks: tuple[str, ...]
    body: tuple[Statement, ...]
    before: tuple[Statement, ...] = ()
    status: str = "active"
    notes: tuple[tuple[int, str], ...] = ()
    missing: tuple[tuple[int, str], ...] = ()
    tags: tuple[str, ...] = ()
    constants: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """A file: what it defines for all tests, and the tests."""

    constants: tuple[Statement, ...]
    cases: tuple[Case, ...]
