"""A saved test: its status and version, and the one gate that says whether it may be tended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from gardener.runs import Trigger
from repair_ladder.formats import Variable, WrittenTest
from repair_ladder.steps import Steps


class Status(StrEnum):
    DRAFT = "draft"
    PENDING = "pending"  # waits for a person's review
    ACTIVE = "active"  # in service; the only one that is tended
    REJECTED = "rejected"
    ARCHIVED = "archived"


NEVER_REPAIR: Final = "never-repair"  # a tag: what a person says of one step by never_repair, of all of a test


@dataclass(frozen=True, slots=True)
class SavedTest:
    id: int
    project: int
    name: str
    status: Status
    version: int  # counts up with every change of steps or variables
    steps: Steps
    tags: tuple[str, ...] = ()
    variables: Mapping[str, Variable] | None = None
    source: str | None = None  # the file's own text while the steps are as they stood in it
    folder: str | None = None  # where the files of upload steps are kept, below the data folder
    flagged: bool = False  # repaired by the gardener, and nobody has looked yet (G74)

    def written(self) -> WrittenTest:
        return WrittenTest(
            self.name, self.steps, status=self.status.value, tags=self.tags, variables=self.variables or {}
        )


@dataclass(frozen=True, slots=True)
class SavedVersion:
    """One version of a test as it once stood; kept for good."""

    test: int
    version: int
    steps: Steps
    variables: Mapping[str, Variable]
    source: str | None
    author: str
    cause: str  # "import", "repair", "revert", …
    created_at: datetime


@dataclass(frozen=True, slots=True)
class VersionNote:
    """That there was a version, without its steps."""

    version: int
    author: str
    cause: str
    created_at: datetime


def may_tend(
    test: SavedTest | None,
    *,
    trigger: Trigger | None = None,
    version: int | None = None,
    by_hand: bool = False,
    as_fragment: bool = False,
) -> str | None:
    """None if the gardener may dry-run, stage or repair this test; else the reason why it is left alone.

    The one gate for every caller (G86-G91): `trigger` is that of the run to be repaired, `version` the test's version
    in that run. A test that waits for review may be mended when a person asks (`by_hand`), but not otherwise. A draft
    that tests in service use (`as_fragment`) is in service through them; what is found for it is only staged.
    """
    if trigger == Trigger.CONTROL:
        return "this is a control run: it has to fail, and nothing is repaired"
    if trigger == Trigger.PROBE or test is None:
        return "this was a probe, not a saved test: there is nothing to repair"
    if NEVER_REPAIR in test.tags:
        return f"'{test.name}' is tagged {NEVER_REPAIR}: only a person changes it"
    if as_fragment and test.status == Status.DRAFT:
        return None
    if test.status != Status.ACTIVE and not (by_hand and test.status == Status.PENDING):
        return f"the test is {test.status.value}, not in service: only active tests are tended"
    if version is not None and version != test.version:
        return (
            f"the run played version {version} of '{test.name}', which is at version {test.version} by now: "
            "run it again first"
        )
    return None
