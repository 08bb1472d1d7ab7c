"""gardener/evidence.py: files of runs are kept by age and count, and only those are found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gardener import evidence

NOW = datetime(2031, 5, 2, 12, 0, 0, 7, tzinfo=UTC)


def run(data_dir: Path, ago: timedelta, *, project: int = 1, most: int = 3, days: int = 30) -> str:
    folder = evidence.folder_of(data_dir, project, NOW - ago, 7)
    evidence.prune(folder, most=most, days=days)
    return evidence.keep(folder, "1.jpg", b"picture")


def test_the_newest_runs_of_a_project_are_kept(tmp_path: Path) -> None:
    other = run(tmp_path, timedelta(hours=9), project=2)
    paths = [run(tmp_path, timedelta(hours=hours)) for hours in (5, 4, 3, 2)]

    assert [evidence.find(tmp_path, path) is not None for path in paths] == [False, True, True, True]
    assert evidence.find(tmp_path, other) is not None


def test_old_runs_go_however_few_there_are(tmp_path: Path) -> None:
    old, young = run(tmp_path, timedelta(days=31)), run(tmp_path, timedelta(days=29))
    run(tmp_path, timedelta(0))

    assert evidence.find(tmp_path, old) is None
    assert evidence.find(tmp_path, young) is not None


def test_nothing_else_of_the_data_folder_is_found_or_dropped(tmp_path: Path) -> None:
    run(tmp_path, timedelta(days=99))
    (tmp_path / "key").write_text("secret")
    (tmp_path / "evidence/1/notes").mkdir()
    run(tmp_path, timedelta(0))

    assert evidence.find(tmp_path, "evidence/../key") is None
    assert evidence.find(tmp_path, "key") is None
    assert evidence.find(tmp_path, "pictures/../../key") is None
    assert (tmp_path / "evidence/1/notes").is_dir()


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("after sign-in", "after-sign-in"),
        ("../../key", "key"),
        ("", "screenshot"),
        ("Übersicht", "bersicht"),
        ("…", "screenshot"),
    ],
)
def test_a_chosen_name_leads_nowhere(name: str, plain: str) -> None:
    assert evidence.plain(name) == plain


def test_a_picture_from_before_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/1.png").write_bytes(b"png")

    assert evidence.find(tmp_path, "pictures/1.png") is not None


def test_half_a_file_is_cleared_away_when_there_is_no_room(tmp_path: Path) -> None:
    folder = evidence.folder_of(tmp_path, 1, NOW, 7)
    (folder / "1.jpg" / "in the way").mkdir(parents=True)

    assert evidence.keep(folder, "1.jpg", b"picture") is None
    assert [one.name for one in folder.iterdir()] == ["1.jpg"]
