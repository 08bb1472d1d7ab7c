"""When a cron expression is due, in a time zone, across the days on which its clocks are changed. Pure.

The arithmetic is our own because a sweep that is silently left out for a week is what this product is there to prevent:
numbers of weekdays, "day of the month or weekday" and the nights of a time change are where schedulers differ.
"""

from __future__ import annotations

import difflib
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from gardener.errors import BadSetting

# From one 29th of February to the next it is eight years where a century is skipped.
FURTHEST_DAYS: Final = 366 * 8 + 2
LONGEST: Final = 200
NAMED: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MONTHS: Final = {name: at for at, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
DAYS: Final = {name: at for at, name in enumerate("sun mon tue wed thu fri sat".split())}
MONTH_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Cron:
    """The five fields. Weekdays count from Sunday, 0 and 7 alike.

    As in cron, where day of the month and weekday are both limited a day is due if either of them fits.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool  # the field begins with *
    any_weekday: bool

    @property
    def every_hour(self) -> bool:
        return len(self.hours) == 24

    def fits(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month and in_week if self.any_day or self.any_weekday else in_month or in_week


def read_cron(text: str) -> Cron:
    """Raises BadSetting, in one line that names the field and what it may hold."""
    written = " ".join(text.split())
    fields = NAMED.get(written.lower(), written).split()
    if len(written) > LONGEST or len(fields) != 5:
        raise BadSetting(
            f"a schedule is five fields (minute hour day-of-month month weekday) such as '0 */2 * * *', or one of "
            f"{', '.join(NAMED)}; got '{written[:60]}'"
        )
    minutes = _field("minute", fields[0], 0, 59)
    hours = _field("hour", fields[1], 0, 23)
    days = _field("day of the month", fields[2], 1, 31)
    months = _field("month", fields[3], 1, 12, MONTHS)
    weekdays = _field("weekday", fields[4], 0, 7, DAYS)
    cron = Cron(
        written,
        tuple(sorted(minutes)),
        tuple(sorted(hours)),
        frozenset(days),
        frozenset(months),
        frozenset(one % 7 for one in weekdays),
        fields[2].startswith("*"),
        fields[4].startswith("*"),
    )
    by_day_alone = cron.any_day or cron.any_weekday
    if by_day_alone and not any(one <= MONTH_DAYS[month - 1] for month in months for one in days):
        raise BadSetting(f"the schedule '{written}' is never due: none of its months has such a day")
    return cron


def _field(what: str, text: str, least: int, most: int, names: Mapping[str, int] | None = None) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            if span == "*":
                low, high = least, most
            elif dash:
                low, high = _number(first, names), _number(last, names)
            else:
                low = _number(first, names)
                high = most if slash else low
            width = int(step) if slash and step.isdecimal() else 0 if slash else 1
        except ValueError:
            low, high, width = 1, 0, 0
        if not least <= low <= high <= most or width < 1:
            also = f" or {', '.join(names)}" if names else ""
            raise BadSetting(
                f"the {what} of a schedule is *, a number from {least} to {most}{also}, a span 1-5, a step */5 or a "
                f"list 1,3; got '{part[:40]}'"
            )
        found.update(range(low, high + 1, width))
    return found


def _number(text: str, names: Mapping[str, int] | None) -> int:
    if names and text.lower() in names:
        return names[text.lower()]
    if not text.isascii() or not text.isdecimal() or len(text) > 4:
        raise ValueError(text)
    return int(text)


def read_zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name. Raises BadSetting with the names that come near."""
    try:
        return ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = sorted(zoneinfo.available_timezones())
    if not known:
        raise BadSetting("there is no time zone data on this machine: install the package 'tzdata'") from None
    folded = {one.casefold(): one for one in known}
    typed = name[:60].casefold()
    close = difflib.get_close_matches(typed, folded, n=3) or [one for one in folded if typed and typed in one][:3]
    near = f"; near it: {', '.join(folded[one] for one in close)}" if close else ""
    raise BadSetting(f"a time zone has an IANA name such as Europe/Berlin, got '{name[:60]}'{near}") from None


def next_after(cron: Cron, zone: ZoneInfo, moment: datetime) -> datetime:
    """The first time that is due after `moment`, in UTC."""
    # What falls into a gap of the clocks is due at its end, which may lie on the day after.
    day = moment.astimezone(zone).date() - timedelta(days=1)
    for _ in range(FURTHEST_DAYS):
        if cron.fits(day):
            for due in ticks_of(cron, zone, day):
                if due > moment:
                    return due
        day += timedelta(days=1)
    raise AssertionError(f"'{cron.text}' was read as a schedule and is never due")


def last_until(cron: Cron, zone: ZoneInfo, moment: datetime) -> datetime:
    """The newest time that was due at `moment` or before it, in UTC."""
    day = moment.astimezone(zone).date()
    for _ in range(FURTHEST_DAYS):
        if cron.fits(day):
            for due in reversed(ticks_of(cron, zone, day)):
                if due <= moment:
                    return due
        day -= timedelta(days=1)
    raise AssertionError(f"'{cron.text}' was read as a schedule and is never due")


@lru_cache(maxsize=512)
def ticks_of(cron: Cron, zone: ZoneInfo, day: date) -> tuple[datetime, ...]:
    """The moments of one local day, in UTC and in order.

    A time that the clocks skip is due when they have skipped it, once with whatever else is due then. One that comes
    twice is due the first time, and both times only where every hour is: what runs each hour goes on each hour.
    """
    return tuple(sorted(set(_moments(cron, zone, day))))


def _moments(cron: Cron, zone: ZoneInfo, day: date) -> Iterator[datetime]:
    for hour in cron.hours:
        for minute in cron.minutes:
            local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
            first, second = local.astimezone(UTC), local.replace(fold=1).astimezone(UTC)
            if first.astimezone(zone).replace(tzinfo=None) != local.replace(tzinfo=None):
                yield _end_of_gap(zone, second, first)
                continue
            yield first
            if cron.every_hour and second != first:
                yield second


def _end_of_gap(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The moment between two at which the zone's clocks are put forward."""
    old = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after
