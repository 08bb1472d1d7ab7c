"""Pictures and traces of runs: files below the data folder, a folder a run, kept by age and count.

They are for people to look at and no part of what is decided, so a file that is gone is no mistake: whoever shows a
run asks `find` and leaves out what is not there any more.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

FOLDER: Final = "evidence"
BEFORE: Final = "pictures"  # where pictures of failures lay before they were kept by age and count
STAMP: Final = "%Y%m%dT%H%M%S%f"
NAME: Final = re.compile(r"(\d{8}T\d{12})-\d+")


def folder_of(data_dir: Path, project: int, began: datetime, test: int) -> Path:
    """Of one run; nothing is made yet."""
    return data_dir / FOLDER / str(project) / f"{began.astimezone(UTC):{STAMP}}-{test}"


def keep(folder: Path, name: str, body: bytes) -> str:
    """Write a file of a run; the answer is its path below the data folder, as it stands in the run's row."""
    folder.mkdir(parents=True, exist_ok=True)
    half = folder / f"{name}.part"
    half.write_bytes(body)
    half.replace(folder / name)
    return f"{FOLDER}/{folder.parent.name}/{folder.name}/{name}"


def plain(name: str) -> str:
    """What of a name that somebody chose can stand in the name of a file, whatever the disk."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "screenshot"


def find(data_dir: Path, path: str) -> Path | None:
    """The file of such a path, if it is still kept."""
    roots = [(data_dir / one).resolve() for one in (FOLDER, BEFORE)]
    found = (data_dir / path).resolve()
    return found if any(map(found.is_relative_to, roots)) and found.is_file() else None


def prune(newest: Path, *, most: int, days: int) -> None:
    """Drop the folders of a project's older runs, to make room for `newest`, which is among the `most`."""
    if not newest.parent.is_dir():
        return
    now = _began(newest.name)
    runs = sorted(one for one in newest.parent.iterdir() if NAME.fullmatch(one.name) and one.name != newest.name)
    for place, one in enumerate(reversed(runs), 2):
        if place > most or _began(one.name) < now - timedelta(days=days):
            with contextlib.suppress(OSError):  # another process may be doing the same
                shutil.rmtree(one)


def _began(name: str) -> datetime:
    return datetime.strptime(name.partition("-")[0], STAMP).replace(tzinfo=UTC)
