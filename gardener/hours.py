"""Read-only hours of a project: when its tests are not changed, and no repair is proven by acting on the app. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from gardener.errors import BadSetting

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOST: Final = 30  # spans
SPAN: Final = re.compile(r"(?:(\w+)(?:-(\w+))?\s+)?(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})")
LIKE: Final = "'mon-fri 08:00-18:00, sat 22:00-02:00'"


@dataclass(frozen=True, slots=True)
class Span:
    """From a minute of a day to a minute of it or, if that is not later, of the next day. Minutes since midnight."""

    days: frozenset[int]  # on which it begins; 0 is Monday
    begins: int
    ends: int

    def on(self, day: date, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
        if day.weekday() not in self.days:
            return None
        last = self.ends if self.ends > self.begins else self.ends + 24 * 60
        return _at(day, self.begins, zone), _at(day, last, zone)


def _at(day: date, minutes: int, zone: ZoneInfo) -> datetime:
    """The moment when the clocks of the zone show that; where they skip it, when they have skipped it."""
    days, rest = divmod(minutes, 24 * 60)
    shown = datetime.combine(day + timedelta(days=days), time(rest // 60, rest % 60), tzinfo=zone)
    return shown.astimezone(UTC)


def read_hours(text: str) -> tuple[Span, ...]:
    """Spans apart by commas. Raises BadSetting; also for hours that never end."""
    spans = tuple(_read_span(one.strip()) for one in text.split(",") if one.strip())
    if len(spans) > MOST:
        raise BadSetting(f"read-only hours are at most {MOST} spans, got {len(spans)}")
    if spans and open_again(spans, ZoneInfo("UTC"), datetime(2024, 1, 1, tzinfo=UTC)) is NEVER:
        raise BadSetting("read-only hours that never end leave no time for repairs: switch auto_repair and staging off")
    return spans


def _read_span(text: str) -> Span:
    found = SPAN.fullmatch(text.lower())
    if not found:
        raise BadSetting(f"read-only hours are spans such as {LIKE}, got '{text[:60]}'")
    first, last, *numbers = found.groups()
    begins, ends = (int(numbers[at]) * 60 + int(numbers[at + 1]) for at in (0, 2))
    if int(numbers[1]) > 59 or int(numbers[3]) > 59 or begins >= 24 * 60 or ends > 24 * 60:
        raise BadSetting(f"a time of day is from 00:00 to 24:00, got '{text[:60]}'")
    if begins == ends:
        raise BadSetting(f"read-only hours end at another time than they begin, got '{text[:60]}'")
    return Span(_days(first, last, text), begins, ends)


def _days(first: str | None, last: str | None, text: str) -> frozenset[int]:
    if first is None:
        return frozenset(range(7))
    for name in (first, last or first):
        if name not in DAYS:
            raise BadSetting(f"a day is one of {', '.join(DAYS)}, got '{text[:60]}'")
    begin, end = DAYS.index(first), DAYS.index(last or first)
    return frozenset((begin + number) % 7 for number in range((end - begin) % 7 + 1))


NEVER: Final = datetime.max.replace(tzinfo=UTC)


def open_again(spans: tuple[Span, ...], zone: ZoneInfo, moment: datetime) -> datetime | None:
    """When the read-only hours that `moment` lies in are over, in UTC; None outside of them, NEVER if they never are.

    One span that begins before another ends, or when it does, goes on with that.
    """
    until = moment
    for _ in range(8 * len(spans) + 1):
        ends = [end for begin, end in _around(spans, zone, until) if begin <= until < end]
        if not ends:
            return until if until != moment else None
        until = max(ends)
    return NEVER


def _around(spans: tuple[Span, ...], zone: ZoneInfo, moment: datetime) -> Iterator[tuple[datetime, datetime]]:
    today = moment.astimezone(zone).date()
    for span in spans:
        for day in (today - timedelta(days=1), today):
            found = span.on(day, zone)
            if found:
                yield found


def why_read_only(text: str | None, timezone: str, moment: datetime) -> tuple[str, datetime] | None:
    """The sentence that says so, and when it is over; None while repairs may be proven and written."""
    if not text:
        return None
    zone = ZoneInfo(timezone)
    until = open_again(read_hours(text), zone, moment)
    if until is None:
        return None
    shown = until.astimezone(zone)
    return f"the project is read-only until {shown:%a %d %b %H:%M} ({timezone}): nothing is proven or written", until
