"""Pictures and traces of runs: files below the data folder, a folder a run, kept by age and count.

They are for people to look at and no part of what is decided, so a file that is gone is no mistake: whoever shows a
run asks `find` and leaves out what is not there any more.
"""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

FOLDER: Final = "evidence"
BEFORE: Final = "pictures"  # where pictures of failures lay before they were kept by age and count
STAMP: Final = "%Y%m%dT%H%M%S%f"
NAME: Final = re.compile(r"(\d{8}T\d{12})-\d+")


def folder_of(data_dir: Path, project: int, began: datetime, test: int) -> Path:
    """Of one run; nothing is made yet."""
    return data_dir / FOLDER / str(project) / f"{began.astimezone(UTC):{STAMP}}-{test}"


def keep(folder: Path, name: str, body: bytes) -> str | None:
    """Write a file of a run; the answer is its path below the data folder, as it stands in the run's row.

    None where there is no room or no right to: a run counts without its pictures.
    """
    return f"{FOLDER}/{folder.parent.name}/{folder.name}/{name}" if written(folder / name, body) else None


def written(path: Path, body: bytes) -> bool:
    """Write a file so that half of it is never seen under its name. False, with a line in the log, if it cannot be."""
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(body)
        half.replace(path)
    except OSError as error:
        log.warning("A picture or trace could not be kept.", extra={"file": str(path), "why": error.strerror})
        with contextlib.suppress(OSError):  # what was written takes the room that is missing
            half.unlink()
        return False
    return True


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
    try:
        there = list(newest.parent.iterdir())
    except OSError:  # there is no older run, or none that may be looked at
        return
    now = _began(newest.name)
    runs = sorted(one for one in there if NAME.fullmatch(one.name) and one.name != newest.name)
    for place, one in enumerate(reversed(runs), 2):
        if place > most or _began(one.name) < now - timedelta(days=days):
            with contextlib.suppress(OSError):  # another process may be doing the same
                shutil.rmtree(one)


def _began(name: str) -> datetime:
    return datetime.strptime(name.partition("-")[0], STAMP).replace(tzinfo=UTC)
