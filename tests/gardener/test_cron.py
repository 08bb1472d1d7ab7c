"""Covers gardener/cron.py: every time that is due, and no other, also in the nights when the clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gardener.cron import last_until, next_after, read_cron, read_zone
from gardener.errors import BadSetting

BERLIN = "Europe/Berlin"


def due(text: str, zone: str, start: str, count: int) -> list[str]:
    """The next times after a local time, as the wall clock shows them, with the zone's offset in hours."""
    there = ZoneInfo(zone)
    moment = datetime.fromisoformat(start).replace(tzinfo=there).astimezone(UTC)
    shown = []
    for _ in range(count):
        moment = next_after(read_cron(text), there, moment)
        assert last_until(read_cron(text), there, moment) == moment
        assert last_until(read_cron(text), there, moment - timedelta(seconds=1)) < moment
        local = moment.astimezone(there)
        shown.append(f"{local:%a %d %b %H:%M} {local:%z}")
    return shown


@pytest.mark.parametrize(
    ("text", "start", "wanted"),
    [
        ("0 */2 * * *", "2026-03-02T11:59", ["Mon 02 Mar 12:00 +0100", "Mon 02 Mar 14:00 +0100"]),
        ("*/25 9-10 * * *", "2026-03-02T09:25", ["Mon 02 Mar 09:50 +0100", "Mon 02 Mar 10:00 +0100"]),
        ("15,45 22 * * mon-fri", "2026-03-06T22:15", ["Fri 06 Mar 22:45 +0100", "Mon 09 Mar 22:15 +0100"]),
        ("0 0 * * 0", "2026-03-02T00:00", ["Sun 08 Mar 00:00 +0100", "Sun 15 Mar 00:00 +0100"]),
        ("0 0 * * 7", "2026-03-02T00:00", ["Sun 08 Mar 00:00 +0100"]),
        # Limited both ways: either is enough, as in cron.
        ("0 0 13 * fri", "2026-03-01T00:00", ["Fri 06 Mar 00:00 +0100", "Fri 13 Mar 00:00 +0100"]),
        ("0 0 */2 * fri", "2026-03-01T00:00", ["Fri 13 Mar 00:00 +0100", "Fri 27 Mar 00:00 +0100"]),
        ("0 0 30 2 mon", "2026-01-01T00:00", ["Mon 02 Feb 00:00 +0100"]),
        ("0 5 31 * *", "2026-03-31T05:00", ["Sun 31 May 05:00 +0200", "Fri 31 Jul 05:00 +0200"]),
        ("0 0 29 2 *", "2026-03-01T00:00", ["Tue 29 Feb 00:00 +0100"]),
        ("@daily", "2026-12-31T00:00", ["Fri 01 Jan 00:00 +0100"]),
        ("0 0 1 JAN *", "2026-01-01T00:00", ["Fri 01 Jan 00:00 +0100"]),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_an_expression_is_due_as_cron_has_it(text: str, start: str, wanted: list[str]) -> None:
    assert due(text, BERLIN, start, len(wanted)) == wanted


def test_a_century_without_a_leap_day_is_passed_over() -> None:
    assert due("0 0 29 2 *", "UTC", "2096-02-29T00:00", 1) == ["Fri 29 Feb 00:00 +0000"]  # 2104


@pytest.mark.parametrize(
    ("text", "zone", "start", "wanted"),
    [
        # The clocks go from 02:00 to 03:00.
        ("30 2 * * *", BERLIN, "2026-03-28T12:00", ["Sun 29 Mar 03:00 +0200", "Mon 30 Mar 02:30 +0200"]),
        ("*/30 * * * *", BERLIN, "2026-03-29T01:00", ["Sun 29 Mar 01:30 +0100", "Sun 29 Mar 03:00 +0200"]),
        ("0 0 * * mon", BERLIN, "2026-03-23T00:00", ["Mon 30 Mar 00:00 +0200"]),
        # From 03:00 back to 02:00.
        ("30 2 * * *", BERLIN, "2026-10-24T12:00", ["Sun 25 Oct 02:30 +0200", "Mon 26 Oct 02:30 +0100"]),
        (
            "0 * * * *",
            BERLIN,
            "2026-10-25T01:00",
            ["Sun 25 Oct 02:00 +0200", "Sun 25 Oct 02:00 +0100", "Sun 25 Oct 03:00 +0100"],
        ),
        ("0 */2 * * *", BERLIN, "2026-10-25T00:00", ["Sun 25 Oct 02:00 +0200", "Sun 25 Oct 02:00 +0100"]),
        # Midnight itself was skipped; half an hour is; and a whole day was.
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00", ["Sun 04 Nov 01:00 -0200", "Mon 05 Nov 00:00 -0200"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00", ["Sun 04 Oct 02:30 +1100"]),
        ("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00", ["Sat 31 Dec 00:00 +1400", "Sat 31 Dec 12:00 +1400"]),
        ("45 23 * * *", "Asia/Kathmandu", "2026-03-01T00:00", ["Sun 01 Mar 23:45 +0545"]),
    ],
)
def test_a_night_without_an_hour_loses_nothing_and_one_with_two_doubles_nothing(
    text: str, zone: str, start: str, wanted: list[str]
) -> None:
    assert due(text, zone, start, len(wanted)) == wanted


@settings(max_examples=80)
@given(
    hour=st.sampled_from(["*", "*/3", "2", "0", "23"]),
    zone=st.sampled_from([BERLIN, "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Africa/Casablanca"]),
    minutes=st.integers(0, 60 * 24 * 365 * 2),
)
def test_in_every_zone_and_night_the_times_go_forward_and_every_day_has_its_own(
    hour: str, zone: str, minutes: int
) -> None:
    cron, there = read_cron(f"30 {hour} * * *"), read_zone(zone)
    moment = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)

    one = next_after(cron, there, moment)
    two = next_after(cron, there, one)

    assert moment < one < two
    longest = {"*": 2, "*/3": 5}.get(hour, 26)
    assert two - one <= timedelta(hours=longest)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("0 * * * * *", "five fields"),
        ("@reboot", "five fields"),
        ("60 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day of the month"),
        ("* * * 13 *", "month"),
        ("* * * * 8", "weekday"),
        ("* * * * monday", "weekday"),
        ("*/0 * * * *", "minute"),
        ("5-1 * * * *", "minute"),
        ("1,,2 * * * *", "minute"),
        ("-1 * * * *", "minute"),
        ("² * * * *", "minute"),
        ("0 0 30 2 *", "never due"),
        ("0 0 31 4,6 *", "never due"),
        ("0 " * 200, "five fields"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(text: str, says: str) -> None:
    with pytest.raises(BadSetting, match=says) as caught:
        read_cron(text)

    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "name", ["", "Europe", "../../etc/passwd", "/etc/localtime", "Mars/Olympus", "a\x00b", "x" * 999]
)
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(BadSetting, match="IANA name"):
        read_zone(name)


def test_a_zone_that_was_misspelled_is_named() -> None:
    with pytest.raises(BadSetting, match="near it: Europe/Berlin"):
        read_zone("europe/berlim")
