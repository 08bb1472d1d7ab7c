"""gardener/hours.py: when a project is read-only, in its own time zone, and when that is over."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gardener.errors import BadSetting
from gardener.hours import open_again, read_hours, why_read_only
from gardener.projects import ProjectSettings, change_settings

BERLIN = ZoneInfo("Europe/Berlin")


def at(day: int, hour: int, minute: int = 0, *, month: int = 3, zone: ZoneInfo = BERLIN) -> datetime:
    """A day of 2026; the second of March is a Monday."""
    return datetime(2026, month, day, hour, minute, tzinfo=zone).astimezone(UTC)


@pytest.mark.parametrize(
    ("text", "moment", "over"),
    [
        pytest.param("08:00-18:00", at(2, 7, 59), None, id="before"),
        pytest.param("08:00-18:00", at(2, 8), at(2, 18), id="as they begin"),
        pytest.param("08:00-18:00", at(2, 17, 59), at(2, 18), id="inside"),
        pytest.param("08:00-18:00", at(2, 18), None, id="as they end"),
        pytest.param("mon-fri 08:00-18:00", at(7, 12), None, id="on a Saturday"),
        pytest.param("sat 08:00-18:00", at(7, 12), at(7, 18), id="one day"),
        pytest.param("fri-mon 08:00-18:00", at(8, 12), at(8, 18), id="days across the end of the week"),
        pytest.param("fri 22:00-06:00", at(7, 3), at(7, 6), id="past midnight, on the next day"),
        pytest.param("fri 22:00-06:00", at(6, 3), None, id="past midnight, not of the day before"),
        pytest.param("00:00-24:00", at(2, 12), "never", id="always"),
        pytest.param("mon 00:00-24:00", at(2, 12), at(3, 0), id="a whole day"),
        pytest.param("mon 20:00-24:00, tue 00:00-02:00", at(2, 21), at(3, 2), id="one goes on with the next"),
        pytest.param("sun 01:00-02:30", at(29, 1, 30), at(29, 3, 30), id="the clocks skip the end of them"),
        pytest.param("sun 00:30-04:00", at(25, 3, month=10), at(25, 4, month=10), id="the clocks go back in them"),
    ],
)
def test_hours_begin_and_end_as_the_clocks_of_the_project_show(text: str, moment: datetime, over: object) -> None:
    if over == "never":
        with pytest.raises(BadSetting, match="never end"):
            read_hours(text)
        return

    assert open_again(read_hours(text), BERLIN, moment) == over


def test_the_sentence_names_the_time_and_the_zone() -> None:
    said = why_read_only("mon-fri 08:00-18:00", "Europe/Berlin", at(2, 12))

    assert said is not None
    assert said[0] == "the project is read-only until Mon 02 Mar 18:00 (Europe/Berlin): nothing is proven or written"
    assert said[1] == datetime(2026, 3, 2, 17, tzinfo=UTC)
    assert why_read_only(None, "UTC", at(2, 12)) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("at night", "spans such as"),
        ("8-18", "spans such as"),
        ("25:00-26:00", "from 00:00 to 24:00"),
        ("08:60-09:00", "from 00:00 to 24:00"),
        ("funday 08:00-09:00", "a day is one of mon, tue"),
        ("08:00-08:00", "another time than they begin"),
        ("mon-sun 00:00-12:00, 12:00-24:00", "never end"),
        (", ".join(["01:00-02:00"] * 31), "at most 30"),
    ],
)
def test_hours_that_are_none_are_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(BadSetting, match=why):
        change_settings(ProjectSettings(), {"read_only_hours": text})


def test_hours_are_set_and_taken_back() -> None:
    settings = change_settings(ProjectSettings(timezone="Europe/Berlin"), {"read_only_hours": "mon-fri 08:00-18:00"})

    assert settings.why_read_only(at(2, 12))
    assert change_settings(settings, {"read_only_hours": ""}).read_only_hours is None


# --- forbidden locators --------------------------------------------------------------------------------


def test_forbidden_locators_are_css_or_written_as_in_tests() -> None:
    text = '#delete; {"role": "button", "name": "Pay now"}\n.danger > a'

    settings = change_settings(ProjectSettings(), {"forbidden": text})

    assert [str(one) for one in settings.forbidden_locators] == [
        'css "#delete"',
        'role "button", name "Pay now"',
        'css ".danger > a"',
    ]
    assert change_settings(settings, {"forbidden": '["#a", {"text": "B"}]'}).forbidden == ("#a", '{"text": "B"}')
    assert change_settings(settings, {"forbidden": ""}).forbidden == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"role": "button"', "is none"),
        ('{"colour": "red"}', "is none"),
        ("[1, 2", "is none"),
        ("a::before", "cannot be watched over"),
        ("a[", "cannot be watched over"),
        (";".join(["#a"] * 51), "at most 50"),
        ("[3]", "cannot be watched over"),
    ],
)
def test_a_forbidden_locator_that_nobody_could_keep_off_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadSetting, match=why):
        change_settings(ProjectSettings(), {"forbidden": text})
