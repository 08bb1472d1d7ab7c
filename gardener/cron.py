"""When a cron expression is due, in a time zone, across the days on which its clocks are changed. Pure.

The arithmetic is cronsim's, which does as Debian's cron does: what the clocks skip is due when they have skipped it,
and what comes twice is due once, unless its hours begin with *. (The trigger of APScheduler 3.11 leaves out
'0 0 * * mon' in the week after the clocks go forward, and counts weekdays from Monday.)
"""

from __future__ import annotations

import difflib
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from gardener.errors import BadSetting

LONGEST: Final = 200
ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
NAMED: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MAY_HOLD: Final = {
    "minute": "from 0 to 59",
    "hour": "from 0 to 23",
    "day of the month": "from 1 to 31",
    "month": "from 1 to 12 or its name (jan)",
    "weekday": "from 0 to 7 (Sunday is both) or its name (mon)",
}


@dataclass(frozen=True, slots=True)
class Cron:
    """An expression of five fields that is due at some time, as it was written."""

    text: str

    @property
    def fields(self) -> str:
        return NAMED.get(self.text.lower(), self.text)


def read_cron(text: str) -> Cron:
    """Raises BadSetting, in one line that names the field and what it may hold."""
    cron = Cron(" ".join(text.split()))
    fields = cron.fields.split()
    if len(cron.text) > LONGEST or len(fields) != len(MAY_HOLD):
        raise BadSetting(
            f"a schedule is five fields (minute hour day-of-month month weekday) such as '0 */2 * * *', or one of "
            f"{', '.join(NAMED)}; got '{cron.text[:60]}'"
        )
    for at, (what, may_hold) in enumerate(MAY_HOLD.items()):
        alone = ["*"] * len(fields)
        alone[at] = fields[at]
        try:
            CronSim(" ".join(alone), ANY_TIME)
        except CronSimError:
            raise BadSetting(
                f"the {what} of a schedule is *, a number {may_hold}, a span 1-5, a step */5 or a list 1,3; got "
                f"'{fields[at][:40]}'"
            ) from None
    try:
        next_after(cron, ZoneInfo("UTC"), ANY_TIME)
    except (CronSimError, StopIteration):
        raise BadSetting(f"the schedule '{cron.text}' is never due: none of its months has such a day") from None
    return cron


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
    return next(CronSim(cron.fields, moment.astimezone(zone))).astimezone(UTC)


def last_until(cron: Cron, zone: ZoneInfo, moment: datetime) -> datetime:
    """The newest time that was due at `moment` or before it, in UTC."""
    after = (moment + timedelta(seconds=1)).astimezone(zone)
    return next(CronSim(cron.fields, after.replace(microsecond=0), reverse=True)).astimezone(UTC)
