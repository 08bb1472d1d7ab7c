"""A proposal: a proven fix that waits for a person; its states, and which may follow which."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from gardener.sharing import Sharing


class ProposalStatus(StrEnum):
    PROPOSED = "proposed"  # waits for a person; at most one a test
    APPLIED = "applied"  # approved and written
    DISMISSED = "dismissed"  # declined; not proposed again until test or app changes
    STALE = "stale"  # the test was edited since: its operations no longer fit
    SUPERSEDED = "superseded"  # a newer proof or another repair took its place


@dataclass(frozen=True, slots=True)
class Proposal:
    id: int
    project: int
    test: int
    test_name: str
    version: int  # of the test, that the operations count in
    status: ProposalStatus
    proven: bool
    strategy: str
    operations: tuple[dict[str, Any], ...]  # as the commands print them
    refusals: tuple[dict[str, Any], ...]
    triggers: tuple[dict[str, Any], ...]
    failed_step: str | None
    error: str | None
    restated: int
    reason: str
    change_key: str  # what of the app it answers
    created_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    run: int | None = None  # the run that showed the test broken
    proof_run: int | None = None  # the run that showed the fix green
    sharing: Sharing | None = None  # of a change that other tests share; the runs are of the test that it names

    @property
    def why(self) -> str:
        """The reason, with what it does to the tests that share it."""
        return f"{self.reason}; {self.sharing.told}" if self.sharing else self.reason

    @property
    def cause(self) -> str:
        """The same for all proposals that a person may decide about at once."""
        return cause_key(self.operations)


def essence(operations: Sequence[dict[str, Any]]) -> str:
    """What operations do, without the reasons given for them: the same text for the same fix of one test."""
    return json.dumps([[one["op"], one["step"], one["new"]] for one in operations], sort_keys=True)


def cause_key(operations: Sequence[dict[str, Any]]) -> str:
    """The same for the same drift in whatever test: what was changed into what, wherever it stands in its test.

    A person may decide about all proposals of one cause at once.
    """
    changes = [[one["op"], _without_values(one["old"]), _without_values(one["new"])] for one in operations]
    return hashlib.sha256(json.dumps(changes, sort_keys=True).encode()).hexdigest()[:12]


def _without_values(step: dict[str, Any] | None) -> Any:
    """A step without what is one test's own: the value it types, its note and its name."""
    if step is None:
        return None
    shown = {key: value for key, value in step.items() if key not in ("id", "note")}
    return {
        key: {name: one for name, one in value.items() if name != "value"} if isinstance(value, dict) else value
        for key, value in shown.items()
    }


def fix_key(test: int, version: int, change_key: str, operations: Sequence[dict[str, Any]]) -> str:
    """The same for the same fix of the same test against the same change of the app (C6, G55)."""
    changes = [[one["op"], one["step"], one["new"]] for one in operations]
    return hashlib.sha256(json.dumps([test, version, change_key, changes], sort_keys=True).encode()).hexdigest()
