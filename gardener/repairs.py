"""A repair: one entry of a test's history, append only, and how to take it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gardener.sharing import Sharing
from repair_ladder.formats import Variable
from repair_ladder.steps import Steps

GARDENER = "gardener"  # the author of what was applied by itself


@dataclass(frozen=True, slots=True)
class Repair:
    id: int
    project: int
    test: int
    test_name: str
    version_before: int
    version_after: int
    steps_before: Steps
    source_before: str | None
    variables_before: Mapping[str, Variable]
    operations: tuple[dict[str, Any], ...]
    refusals: tuple[dict[str, Any], ...]
    strategy: str
    author: str  # a person's name, or GARDENER
    reason: str
    created_at: datetime
    proposal: int | None = None
    run: int | None = None  # the run that failed
    reviewed_at: datetime | None = None
    reviewed_by: str | None = None
    reverted_at: datetime | None = None
    reverted_by: str | None = None
    sharing: Sharing | None = None  # of a change that other tests share, as it was when it was written


def why_not_revertable(repair: Repair, *, version_now: int, test_name: str) -> str | None:
    """None if reverting restores the pre-repair steps without losing anything newer."""
    if repair.reverted_at:
        return f"Repair {repair.id} was reverted before, by {repair.reverted_by}."
    if version_now != repair.version_after:
        return (
            f"Repair {repair.id} no longer fits '{test_name}': the test is at version {version_now}, the repair made "
            f"version {repair.version_after}. Revert what came later first, or edit the test."
        )
    return None


def revert_warning(failed_step: str | None, sharing: Sharing | None = None) -> str:
    """What a person has to know about reverting (G77). `failed_step` is where the test failed before the repair."""
    if sharing is not None:
        named = ", ".join(f"'{name}'" for name in sharing.heals)
        return f"The steps are what they were before the repair. The tests it mended will fail again: {named}."
    where = f" at step {failed_step}" if failed_step else ""
    return f"The steps are what they were before the repair. The test will fail again{where} until mended another way."
