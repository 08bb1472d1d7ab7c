"""A lesson: a proven fix that is tried first when the same locator breaks elsewhere, or what a person decided.

A decision (T23) is no fix to try: a fix that a person declined is not written by itself for another test, and what was
answered about a step is told to whoever is asked about it next.
"""

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

    @property
    def decision(self) -> dict[str, Any] | None:
        """Of a person: `said` (approved, dismissed, or an answer), `by`, `test` and `about`; None for a fix."""
        one = self.new.get("decision")
        return one if isinstance(one, dict) else None

    def shape(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "id": self.id,
            "locator": self.old,
            "page": self.page,
            "new": self.new,
            "decision": self.decision,
            "proven_at": self.proven_at.isoformat(),
            "expires_at": (self.proven_at + LASTS).isoformat(),
            "uses": self.uses,
        }

    def in_words(self) -> str:
        """One line: what broke, and what helps."""
        if self.decision is not None:
            declined = _read(self, self.new["declined"]) if "declined" in self.new else None
            what = f" ({_taught(declined)})" if declined else ""
            return f"{told(self.decision)}: {self.old_in_words()} on {self.page}{what}"
        taught = read(self)
        if taught is None:
            return f"{self.old} (cannot be read any more)"
        return f"{taught.old} on {self.page}: {_taught(taught)}"

    def old_in_words(self) -> str:
        try:
            return str(locators.read(self.old))
        except RadarError:
            return str(self.old.get("step", self.old))


def told(decision: Mapping[str, Any]) -> str:
    """A decision as a sentence begins."""
    said, by, test = decision["said"], decision["by"], decision["test"]
    match said:
        case "approved" | "dismissed":
            return f"{by} {said} a repair of '{test}'"
        case _:
            return f"{by} answered '{said}' about '{test}'"


def _taught(lesson: lessons.Lesson) -> str:
    parts = [f"first {describe(step)}" for step in lesson.before]
    parts += [f"use {lesson.locator}"] if lesson.locator else []
    return ", then ".join(parts)


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
    """The lesson as the ladder takes it; None for a decision, and for one that a newer format cannot read any more."""
    return _read(row, row.new) if row.decision is None else None


def declined_fix(row: Lesson) -> lessons.Lesson | None:
    """The fix that a person declined; None if it is nothing of the kind."""
    return _read(row, row.new["declined"]) if row.decision is not None and "declined" in row.new else None


def _read(row: Lesson, new: Mapping[str, Any]) -> lessons.Lesson | None:
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
