"""The daily digest: what happened to a project in a day, and what waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class Digest:
    """Counts of a span of time, and what waits at its end."""

    since: datetime
    until: datetime
    staged: int
    applied: int  # by the gardener itself
    approved: int  # written because a person said so
    dismissed: int
    reverted: int
    refused: int  # all that was found, only a person may change
    exhausted: int  # nothing proven was found
    defects: int  # the app is broken, not the test
    sweeps: int
    waiting: int
    oldest_at: datetime | None  # when the oldest of those that wait was staged
    left_for_next: tuple[str, ...]  # tests that the last sweep had no turn for
    open_issues: int

    @property
    def is_empty(self) -> bool:
        """Nothing happened. What waits was told of before, and a sweep that found nothing is no news."""
        happened = self.staged + self.applied + self.approved + self.dismissed + self.reverted
        return happened + self.refused + self.exhausted + self.defects + len(self.left_for_next) == 0

    @property
    def subject(self) -> str:
        parts = [f"{self.staged} staged", f"{self.applied} applied", f"{self.refused} refused"]
        return f"Digest: {', '.join(parts)}, {self.exhausted} exhausted; {self.waiting} waiting"

    def lines(self) -> tuple[str, ...]:
        """For people, one fact each."""
        said = [f"From {self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M} UTC, {self.sweeps} sweeps:"]
        said.append(f"Staged: {self.staged}. Applied by the gardener: {self.applied}. Approved: {self.approved}.")
        said.append(f"Dismissed: {self.dismissed}. Reverted: {self.reverted}.")
        said.append(
            f"Refused, only a person may make the change: {self.refused}. Exhausted, nothing proven was found: "
            f"{self.exhausted}. Defects of the app: {self.defects}."
        )
        if self.oldest_at is not None:
            said.append(f"Waiting for a person: {self.waiting}, the oldest for {_age(self.until - self.oldest_at)}.")
        else:
            said.append("Nothing waits for a person.")
        if self.open_issues:
            said.append(f"Open issues: {self.open_issues}.")
        return tuple(said)

    def shape(self) -> dict[str, Any]:
        """As the commands print it, and as the event keeps it."""
        shape: dict[str, Any] = {key: getattr(self, key) for key in self.__dataclass_fields__}
        for key in ("since", "until", "oldest_at"):
            shape[key] = shape[key].isoformat() if shape[key] else None
        return shape | {"left_for_next": list(self.left_for_next)}


def _age(length: timedelta) -> str:
    hours = max(int(length.total_seconds()), 0) // 3600
    if hours < 1:
        return "less than an hour"
    if hours < 48:
        return f"{hours} hours" if hours > 1 else "1 hour"
    return f"{hours // 24} days"
