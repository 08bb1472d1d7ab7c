"""What a sweep found, from its stored summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gardener.sweeps import Sweep
from web.presenters import queue, words
from web.presenters.words import Badge, cut

MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Change:
    page: str
    kind: str
    element: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AtRisk:
    test: str
    triggers: tuple[queue.Trigger, ...]


@dataclass(frozen=True, slots=True)
class DryRun:
    test: str
    badge: Badge
    reason: str
    proposal: int | None
    held: tuple[queue.Held, ...]


def changes(raw: Sequence[Mapping[str, Any]]) -> tuple[Change, ...]:
    return tuple(
        Change(*(cut(str(one.get(key) or ""), 200) for key in ("page", "kind", "element", "before", "after")))
        for one in raw
    )


def at_risk(sweep: Sweep) -> tuple[AtRisk, ...]:
    found = (sweep.summary or {}).get("at_risk", ())
    return tuple(AtRisk(cut(str(one["test"]), 200), queue.triggers(one["triggers"])) for one in found[:MOST_ROWS])


def dry_runs(sweep: Sweep) -> tuple[DryRun, ...]:
    return tuple(
        DryRun(
            cut(str(one["test"]), 200),
            words.outcome_badge(str(one["outcome"])),
            queue.sentence(str(one.get("reason") or "")),
            one.get("proposal"),
            queue.held(one.get("refusals", ())),
        )
        for one in (sweep.summary or {}).get("dry_runs", ())[:MOST_ROWS]
    )
