"""The doctor: what works, what does not and how to mend it, and never a key or a password."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gardener import doctor
from gardener.doctor import Check, State
from gardener.projects import ProjectSettings
from gardener.store import open_store, projects
from radar import chromium

NO_BROWSER = {"GARDENER_CHROMIUM": "/nowhere/chromium"}


@pytest.fixture(scope="module")
def chromium_path() -> str:
    return chromium.installed() or pytest.skip("no Chromium is installed")


def named(checks: Sequence[Check], name: str) -> Check:
    return next(one for one in checks if one.name == name)


async def examined(tmp_path: Path, **environ: str) -> tuple[Check, ...]:
    """With a browser that is not there: starting one takes most of the time."""
    return await doctor.examine(NO_BROWSER | environ, tmp_path, data_dir=str(tmp_path / "data"))


async def test_one_thing_that_fails_hides_none_of_the_others(tmp_path: Path) -> None:
    checks = await examined(tmp_path)

    states = {one.name: one.state for one in checks}
    assert states == {
        "python": State.OK,
        "playwright": State.OK,
        "settings": State.OK,
        "browser": State.FAILS,
        "data folder": State.OK,
        "database": State.OK,
        "clock": State.OK,
        "schedule": State.OK,
        "news": State.OK,
        "secrets": State.OK,
        "AI key": State.OK,
    }
    browser = named(checks, "browser")
    assert "/nowhere/chromium" in str(browser.mend)


async def test_a_key_is_told_of_and_never_shown(tmp_path: Path) -> None:
    without = await examined(tmp_path)
    checks = await examined(tmp_path, ANTHROPIC_API_KEY="sk-very-secret")

    assert "none is needed" in named(without, "AI key").says
    assert "the ladder asks a model" in named(checks, "AI key").says
    assert "very-secret" not in repr(checks)


async def test_every_mistake_in_the_settings_is_told(tmp_path: Path) -> None:
    (tmp_path / "gardener.toml").write_text('colour = "blue"\nlease_seconds = "long"\n')

    checks = await examined(tmp_path)

    settings = named(checks, "settings")
    assert settings.state == State.FAILS
    assert "'colour' is not a setting" in settings.says
    assert "'lease_seconds'" in settings.says
    assert "gardener.toml" in str(settings.mend)


async def test_a_schedule_that_nobody_keeps_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    async with await open_store(f"sqlite:///{tmp_path / 'data' / 'gardener.db'}") as store, store.transaction() as tx:
        settings = ProjectSettings(sweep_cron="0 3 * * *")
        await projects.add(tx, "shop", "http://shop.test", now=datetime.now(UTC), settings=settings)

    check = named(await examined(tmp_path), "schedule")

    assert check.state == State.WARNING
    assert "shop: No scheduler has ever run" in check.says
    assert "gardener serve" in str(check.mend)


async def test_a_settings_file_that_is_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "gardener.toml").write_text('by = "Ada"\n')

    assert "gardener.toml" in named(await examined(tmp_path), "settings").says


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://ada:geheim@db/shop", "the database is"),
        ("sqlite:///{folder}", "is a folder"),
        ("postgresql://ada:geheim@127.0.0.1:1/shop", "cannot be opened"),
    ],
    ids=["another kind", "a folder", "nobody answers"],
)
async def test_a_database_that_cannot_be_opened_fails_without_its_password(tmp_path: Path, url: str, says: str) -> None:
    checks = await examined(tmp_path, GARDENER_DATABASE_URL=url.format(folder=tmp_path))

    database = named(checks, "database")
    assert database.state == State.FAILS
    assert says in database.says
    assert "geheim" not in repr(checks)
    assert "--database" in str(database.mend)


async def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    await examined(tmp_path)
    with closing(sqlite3.connect(tmp_path / "data" / "gardener.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()

    database = named(await examined(tmp_path), "database")

    assert database.state == State.FAILS
    assert "newer release" in database.says


async def test_a_data_folder_that_cannot_be_made_fails(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")

    folder = named(await examined(tmp_path), "data folder")

    assert folder.state == State.FAILS
    assert "--data-dir" in str(folder.mend)


@pytest.mark.postgres
async def test_on_postgresql_the_clocks_are_compared(tmp_path: Path, postgres_url: str) -> None:
    checks = await examined(tmp_path, GARDENER_DATABASE_URL=postgres_url)

    assert named(checks, "database").says.startswith("PostgreSQL")
    assert named(checks, "clock skew").state == State.OK


@pytest.mark.parametrize(
    ("skew", "state"),
    [(0.2, State.OK), (-0.2, State.OK), (30, State.WARNING), (-30, State.WARNING)],
)
def test_clocks_that_are_apart_are_a_warning(skew: float, state: State) -> None:
    check = doctor._compare(timedelta(seconds=skew))

    assert check.state == state
    assert (check.mend is None) == (state == State.OK)


def run_doctor(tmp_path: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gardener", "--data-dir", str(tmp_path), "doctor", *arguments]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GARDENER_", "ANTHROPIC_"))}
    return subprocess.run(command, capture_output=True, text=True, env=kept | environ, timeout=120, check=False)


def test_the_command_exits_1_when_something_fails_and_says_how_to_mend_it(tmp_path: Path) -> None:
    done = run_doctor(tmp_path, **NO_BROWSER)

    assert done.returncode == 1
    assert "fails  browser" in done.stdout
    assert "->" in done.stdout
    assert done.stderr == ""


@pytest.mark.browser
def test_the_command_finds_the_browser_with_its_version(tmp_path: Path, chromium_path: str) -> None:
    done = run_doctor(tmp_path, "--json")

    answer = json.loads(done.stdout)
    browser = next(one for one in answer["checks"] if one["name"] == "browser")
    assert (done.returncode, answer["ok"]) == (0, True)
    assert browser["state"] == "ok"
    assert browser["says"].startswith("Chromium ")
    assert browser["says"].endswith(chromium_path)
