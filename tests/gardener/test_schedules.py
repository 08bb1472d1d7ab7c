"""Covers gardener/schedules.py: what a schedule wants now, what was missed, and when something is overdue."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gardener.errors import BadSetting
from gardener.projects import Project, ProjectSettings, change_settings
from gardener.schedules import Begin, Due, Schedule, Tick, Wait, What, overdue_from, schedules_of, step_of

EVERY_TWO_HOURS = ProjectSettings(sweep_cron="0 */2 * * *")


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-02T{text}").replace(tzinfo=UTC)


def a_schedule(what: What = What.SWEEP, **settings: object) -> Schedule:
    changed = replace(EVERY_TWO_HOURS, **settings)  # type: ignore[arg-type]
    return schedules_of(Project(1, "shop", "http://shop.test", False, changed))[0][what]


def a_tick(schedule: Schedule, next_at: datetime, last_at: datetime | None = None) -> Tick:
    return Tick(1, schedule.what, schedule.spec, at("07:30"), next_at, last_at)


def test_a_new_schedule_begins_with_its_next_time_and_catches_up_nothing() -> None:
    assert step_of(a_schedule(), None, at("11:59")) == Begin(at("12:00"))


def test_before_its_time_it_waits_and_at_its_time_it_is_due() -> None:
    schedule = a_schedule()
    tick = a_tick(schedule, at("12:00"))

    assert step_of(schedule, tick, at("11:59:59")) == Wait(at("12:00"))
    assert step_of(schedule, tick, at("12:00")) == Due(at("12:00"), at("14:00"))


def test_missed_times_are_caught_up_once() -> None:
    schedule = a_schedule()

    assert step_of(schedule, a_tick(schedule, at("08:00")), at("17:10")) == Due(at("16:00"), at("18:00"))


def test_a_changed_schedule_or_zone_begins_anew() -> None:
    tick = a_tick(a_schedule(), at("08:00"))

    assert step_of(a_schedule(sweep_cron="30 * * * *"), tick, at("09:00")) == Begin(at("09:30"))
    assert step_of(a_schedule(timezone="Asia/Kathmandu"), tick, at("09:00")) == Begin(at("10:15"))


def test_a_clock_that_is_set_back_a_little_does_not_do_the_same_again() -> None:
    schedule = a_schedule()
    tick = a_tick(schedule, at("14:00"), last_at=at("12:00"))

    assert step_of(schedule, tick, at("11:59:58")) == Wait(at("14:00"))


def test_a_clock_that_was_far_ahead_silences_nothing() -> None:
    schedule = a_schedule()
    tick = a_tick(schedule, datetime(2031, 1, 1, 2, tzinfo=UTC), last_at=datetime(2031, 1, 1, tzinfo=UTC))

    assert step_of(schedule, tick, at("11:00")) == Begin(at("12:00"))


def test_jitter_is_the_same_for_the_same_tick_and_differs_between_projects() -> None:
    schedule = a_schedule(jitter_s=600)
    others = [replace(schedule, project=number) for number in range(1, 30)]

    delays = {one.due(at("12:00")) - at("12:00") for one in others}

    assert schedule.due(at("12:00")) == schedule.due(at("12:00"))
    assert len(delays) > 15
    assert all(timedelta(0) <= delay <= timedelta(seconds=600) for delay in delays)


def test_jitter_never_reaches_the_next_tick() -> None:
    schedule = a_schedule(sweep_cron="* * * * *", jitter_s=3600)

    for minute in range(60):
        tick = at(f"12:{minute:02}")
        assert timedelta(0) <= schedule.due(tick) - tick <= timedelta(seconds=30)


def test_while_its_jitter_lasts_it_waits() -> None:
    schedule = next(
        one for one in (replace(a_schedule(jitter_s=600), project=number) for number in range(1, 9))
        if one.due(at("12:00")) > at("12:01")
    )  # fmt: skip

    assert step_of(schedule, a_tick(schedule, at("12:00")), at("12:00:30")) == Wait(schedule.due(at("12:00")))


@pytest.mark.parametrize(
    ("finished", "overdue"),
    [
        (None, "10:00"),  # set at 07:30: the sweep of 08:00 has until 10:00
        ("08:10", "12:00"),
        ("11:59", "14:00"),
        ("12:00", "16:00"),
        ("06:00", "10:00"),  # before the schedule was set
    ],
)
def test_overdue_is_what_was_not_finished_by_the_next_tick(finished: str | None, overdue: str) -> None:
    said = overdue_from(a_schedule(), since=at("07:30"), finished_at=at(finished) if finished else None)

    assert said == at(overdue)


def test_an_archived_project_has_no_schedule() -> None:
    settings = replace(EVERY_TWO_HOURS, suite_cron="@daily", digest_hour=7, archived=True)

    assert schedules_of(Project(1, "shop", "http://shop.test", False, settings)) == ({}, {})


def test_a_zone_that_this_machine_does_not_know_is_told_and_stops_nothing_else() -> None:
    settings = replace(EVERY_TWO_HOURS, timezone="Moon/Tranquility")

    read, unread = schedules_of(Project(1, "shop", "http://shop.test", False, settings))

    assert read == {}
    assert "Moon/Tranquility" in unread[What.SWEEP]


def test_settings_are_read_as_a_person_types_them() -> None:
    typed = {"sweep_cron": "0  */2 * * *", "suite_cron": "@daily", "timezone": "Europe/Berlin", "jitter_s": "60"}

    read = change_settings(ProjectSettings(), typed | {"digest_hour": "7", "archived": "off"})

    assert (read.sweep_cron, read.suite_cron, read.timezone) == ("0 */2 * * *", "@daily", "Europe/Berlin")
    assert (read.jitter_s, read.digest_hour, read.archived) == (60, 7, False)
    cleared = change_settings(read, {"sweep_cron": "", "suite_cron": "", "digest_hour": "", "timezone": ""})
    assert (cleared.sweep_cron, cleared.suite_cron, cleared.digest_hour, cleared.timezone) == (None, None, None, "UTC")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sweep_cron", "every two hours"),
        ("suite_cron", "0 0 31 2 *"),
        ("timezone", "Berlin"),
        ("jitter_s", "-1"),
        ("jitter_s", "3601"),
        ("digest_hour", "24"),
    ],
)
def test_a_setting_that_cannot_be_read_is_refused_in_one_line(key: str, value: str) -> None:
    with pytest.raises(BadSetting) as caught:
        change_settings(ProjectSettings(), {key: value})

    assert "\n" not in str(caught.value)
    assert key in str(caught.value) or key == "timezone"
