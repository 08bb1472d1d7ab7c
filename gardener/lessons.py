"""A lesson: a proven fix worth remembering, tried first when the same locator breaks elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from radar import locators
from radar.errors import RadarError
from repair_ladder import lessons
from repair_ladder.errors import LadderError
from repair_ladder.step_format import describe, read_steps, write_steps

# A lesson that was not proven again for so long is forgotten: the app has moved on.
LASTS: Final = timedelta(days=90)
MOST: Final = 500  # so many are looked through for one broken test, the newest first


@dataclass(frozen=True, slots=True)
class Lesson:
    id: int
    project: int
    old: dict[str, Any]  # the locator that broke, as the test format writes it
    words: tuple[str, ...]  # of the old element's fingerprint
    page: str  # pattern of the page's address
    new: dict[str, Any]  # what was proven in its place: a locator, steps before it, and what a person had to see
    proven_at: datetime
    uses: int = 0

    def shape(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "id": self.id,
            "locator": self.old,
            "page": self.page,
            "new": self.new,
            "proven_at": self.proven_at.isoformat(),
            "expires_at": (self.proven_at + LASTS).isoformat(),
            "uses": self.uses,
        }

    def in_words(self) -> str:
        """One line: what broke, and what helps."""
        taught = read(self)
        if taught is None:
            return f"{self.old} (cannot be read any more)"
        parts = [f"first {describe(step)}" for step in taught.before]
        parts += [f"use {taught.locator}"] if taught.locator else []
        return f"{taught.old} on {self.page}: {', then '.join(parts)}"


def new_of(lesson: lessons.Lesson) -> dict[str, Any]:
    """What a lesson teaches, as plain data; see `read`."""
    new: dict[str, Any] = {}
    if lesson.locator is not None:
        new["locator"] = locators.write(lesson.locator)
    if lesson.before:
        new["before"] = write_steps(lesson.before)
    if lesson.doubt:
        new["doubt"] = lesson.doubt
    if lesson.vouched:
        new["vouched"] = True
    return new


def read(row: Lesson) -> lessons.Lesson | None:
    """The lesson as the ladder takes it; None for one that a newer format cannot read any more."""
    new: Mapping[str, Any] = row.new
    try:
        return lessons.Lesson(
            locators.read(row.old),
            row.words,
            row.page,
            locators.read(new["locator"]) if "locator" in new else None,
            read_steps(new["before"]) if "before" in new else (),
            str(new.get("doubt", "")),
            vouched=bool(new.get("vouched")),
            id=row.id,
        )
    except (RadarError, LadderError, TypeError):
        return None
