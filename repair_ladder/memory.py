"""What the last green run of a test remembers: for each step the page it met and the element it used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from radar.elements import PageSnapshot
from repair_ladder.outcomes import Dialog, Sent, Trace
from repair_ladder.steps import Place


@dataclass(frozen=True, slots=True)
class Seen:
    """`target` is the element's index on the page; None for a step without a single element, such as a count."""

    page: PageSnapshot
    target: int | None


@dataclass(frozen=True, slots=True)
class Did:
    """What came of a step: where it began and where it led, and what was sent meanwhile."""

    url: str
    url_after: str
    sent: tuple[Sent, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """Empty for a test that was never green here."""

    seen: Mapping[Place, Seen] = field(default_factory=dict)
    dialogs: tuple[Dialog, ...] = ()
    did: Mapping[Place, Did] = field(default_factory=dict)  # without it nobody knows; an older run told nothing of it

    def at(self, place: Place) -> Seen | None:
        return self.seen.get(place)

    def near(self, place: Place) -> Seen | None:
        """What was seen at `place`, else at the last step before it that saw anything."""
        before = [one for one in self.seen if one <= place]
        return self.seen[max(before)] if before else None


def remember(trace: Trace) -> Memory:
    """The memory that a green run leaves."""
    seen = {}
    for played in trace.played:
        if played.snapshot is not None:
            target = played.target if played.target is not None and played.target >= 0 else None
            seen[played.place] = Seen(trace.snapshots[played.snapshot], target)
    did = {one.place: Did(one.url, one.url_after, one.sent) for one in trace.played if one.url_after}
    return Memory(seen, trace.evidence.dialogs, did)
