"""Tests in and out of files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gardener.errors import GardenerError
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.saved_tests import SavedTest
from gardener.store import events, saved_tests
from gardener.tools import Tools
from repair_ladder.errors import BadTest
from repair_ladder.formats import WrittenTest, yaml
from repair_ladder.runner import check_playable
from repair_ladder.steps import show_place, walk

ENDINGS: Final = (".yaml", ".yml")
LARGEST_UPLOAD: Final = 50_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Imported:
    tests: tuple[SavedTest, ...]
    errors: tuple[str, ...]  # one line a file that was not taken


async def import_files(tools: Tools, project: Project, paths: Sequence[Path], by: str) -> Imported:
    """The tests of files and folders. A file that is wrong is named with its line, and the rest is still imported."""
    taken: list[SavedTest] = []
    errors: list[str] = []
    for path in paths:
        files = sorted(one for one in path.rglob("*") if one.suffix in ENDINGS) if path.is_dir() else [path]
        if not files:
            errors.append(f"{path}: holds no {' or '.join(ENDINGS)} file")
        for file in files:
            try:
                taken += await _import_file(tools, project, file, by)
            except (BadTest, GardenerError) as error:
                errors.append(str(error))
    return Imported(tuple(taken), tuple(errors))


async def _import_file(tools: Tools, project: Project, file: Path, by: str) -> list[SavedTest]:
    written = read_file(file)
    folders = {test.name: _keep_uploads(tools.settings.data_dir, file, test) for test in written}
    async with tools.store.transaction() as tx:
        saved = []
        for test in written:
            one = await saved_tests.import_test(
                tx, project.id, test, folder=folders[test.name], author=by, now=tools.now()
            )
            payload = {"test": one.name, "version": one.version, "by": by}
            subject = f"{by} imported '{one.name}'"
            await events.emit(tx, project.id, EventKind.TEST_IMPORTED, subject, payload, now=tools.now())
            saved.append(one)
    return saved


def read_file(file: Path) -> tuple[WrittenTest, ...]:
    """Raises BadTest: one line with file, line, step and what was expected."""
    if file.suffix not in ENDINGS:
        raise BadTest(f"{file}: not a format that can be imported yet; known are {', '.join(ENDINGS)}")
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise BadTest(f"{file}: not UTF-8 text") from None
    except OSError as error:
        raise BadTest(f"{file}: {error.strerror or 'cannot be read'}") from None
    tests = yaml.read(text, where=str(file))
    for test in tests:
        try:
            check_playable(test.steps)
        except BadTest as error:
            raise BadTest(f"{file}: '{test.name}', step {show_place(error.place)}: {error}") from None
    return tests


def _keep_uploads(data_dir: Path, file: Path, test: WrittenTest) -> str | None:
    """Copies of the files that the test uploads; the folder's name below the data folder, None without any."""
    names = sorted({name for _, step in walk(test.steps) if step.kind == "upload" for name in step.parameters["files"]})
    if not names:
        return None
    beside = file.parent.resolve()
    contents: dict[str, bytes] = {}
    for name in names:
        path = (beside / name).resolve()
        if not path.is_relative_to(beside):
            raise BadTest(f"{file}: '{test.name}': the upload '{name}' leads out of the test's folder")
        if not path.is_file():
            raise BadTest(f"{file}: '{test.name}': the upload '{name}' is not there, beside the test")
        if path.stat().st_size > LARGEST_UPLOAD:
            raise BadTest(f"{file}: '{test.name}': the upload '{name}' is larger than {LARGEST_UPLOAD // 1_000_000} MB")
        contents[name] = path.read_bytes()
    digest = hashlib.sha256(b"\0".join(name.encode() + b"\0" + body for name, body in contents.items())).hexdigest()
    folder = f"uploads/{digest[:32]}"
    for name, body in contents.items():
        target = data_dir / folder / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            half = target.with_name(target.name + ".part")
            half.write_bytes(body)
            half.replace(target)
    return folder


def export_yaml(test: SavedTest) -> str:
    """The test as a file: its own text while it stands as it was imported, else canonical."""
    return test.source if test.source is not None else yaml.canonical(test.written())
