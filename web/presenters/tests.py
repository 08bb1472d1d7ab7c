"""A saved test -> its page: steps as lines, what it may expect of the gardener, its versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gardener.actions.editing import NEXT
from gardener.saved_tests import SavedTest, Status, VersionNote, may_tend
from repair_ladder.formats import Secret
from web.presenters import diffs, words
from web.presenters.queue import sentence

STATUS_WORDS: Final = {
    Status.ACTIVE: "Put into service",
    Status.DRAFT: "Take out of service",
    Status.ARCHIVED: "Archive",
    Status.REJECTED: "Reject",
    Status.PENDING: "Have it reviewed",
}
STATUS_SAID: Final = {
    Status.ACTIVE: "It is in service.",
    Status.DRAFT: "It is out of service, as a draft: nothing runs it by itself.",
    Status.ARCHIVED: "It is archived: nothing runs it by itself.",
    Status.REJECTED: "It is rejected: nothing runs it.",
    Status.PENDING: "It waits for a review.",
}


@dataclass(frozen=True, slots=True)
class StepLine:
    place: str
    kind: str
    text: str
    depth: int
    is_check: bool


@dataclass(frozen=True, slots=True)
class TestPage:
    id: int
    name: str
    status: str
    in_service: bool
    version: int
    tags: tuple[str, ...]
    flagged: bool
    steps: tuple[StepLine, ...]
    variables: tuple[tuple[str, str], ...]
    next: tuple[tuple[str, str], ...]  # statuses that it may be given, with what a button says
    left_alone: str  # why the gardener leaves it alone; "" if it does not


@dataclass(frozen=True, slots=True)
class VersionLine:
    version: int
    author: str
    cause: str
    created_at: datetime


def page(test: SavedTest) -> TestPage:
    lines = tuple(
        StepLine(side.place, side.kind, "".join(piece.text for piece in side.pieces), depth, is_check)
        for side, depth, is_check in diffs.lines_of(test.steps)
    )
    variables = tuple(
        (name, f"secret {value.name}" if isinstance(value, Secret) else words.cut(str(value), 200))
        for name, value in (test.variables or {}).items()
    )
    return TestPage(
        test.id,
        test.name,
        test.status.value,
        test.status.value == "active",
        test.version,
        test.tags,
        test.flagged,
        lines,
        variables,
        tuple(
            (
                one.value,
                "Make it a draft" if one == Status.DRAFT and test.status == Status.REJECTED else STATUS_WORDS[one],
            )
            for one in NEXT[test.status]
        ),
        sentence(may_tend(test) or ""),
    )


def at_fault(text: str, wrong: str) -> str:
    """The line that a message is about, with its number, as it stands in the text; "" where it names none."""
    found = re.match(r"line (\d{1,7}):", wrong)
    lines = text.splitlines()
    if found is None or not 0 < int(found[1]) <= len(lines):
        return ""
    return f"{found[1]} | {words.cut(lines[int(found[1]) - 1], 200)}"


def versions(notes: Sequence[VersionNote]) -> tuple[VersionLine, ...]:
    return tuple(VersionLine(one.version, words.author(one.author), one.cause, one.created_at) for one in notes)
