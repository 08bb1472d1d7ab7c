"""Tests in and out of files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gardener.errors import GardenerError, Refused
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.saved_tests import SavedTest, Status
from gardener.store import Transaction, events, pages, recordings, saved_tests
from gardener.tools import Tools
from repair_ladder import fragments
from repair_ladder.errors import BadTest
from repair_ladder.formats import Exported, WrittenTest, choosing, lists, yaml
from repair_ladder.formats.gathering import with_notes
from repair_ladder.steps import Steps, show_place, walk

LARGEST_UPLOAD: Final = 50_000_000  # bytes
MOST_UPLOADED: Final = 200_000_000  # bytes of all uploads of a test
MOST_BYTES: Final = 16_000_000  # of a test file
CONFTESTS: Final = 4  # folders at and above a test in which pytest's shared fixtures are looked for
AUTOMATIC: Final = re.compile(
    r"@pytest\.fixture\([^()\n]{0,200}autouse\s*=\s*True[^()\n]{0,200}\)\s*(?:async\s+)?def\s+(\w+)|"
    r"^(?:async\s+)?def\s+(page|context|browser|browser_context_args)\(",
    re.MULTILINE,
)
SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import; `errors` (what was not taken) and `notes` (what was left out) are single lines."""

    tests: tuple[SavedTest, ...]
    errors: tuple[str, ...]
    notes: tuple[str, ...] = ()
    understood: int = 0  # parts (steps, commands, statements) of tests in other tools' formats that became steps
    parts: int = 0


@dataclass(frozen=True, slots=True)
class _Taking:
    """How files are read: in which format (None: as their endings and contents say), with what missing, and under which
    name (None: the file's) where the format gives none."""

    form: str | None
    partial: bool
    name: str | None = None


@dataclass(slots=True)
class _Told:
    errors: list[str]
    notes: list[str]
    understood: int = 0
    parts: int = 0


async def import_files(
    tools: Tools,
    project: Project,
    paths: Sequence[Path],
    by: str,
    *,
    form: str | None = None,
    partial: bool = False,
    name: str | None = None,
) -> Imported:
    """The tests of files and folders. A file that is wrong is named with its line, and the rest is still imported.

    A test of another tool of which something cannot be said in steps is refused, with a line for each such thing;
    with `partial` it is kept as a draft, which nothing runs by itself, and the notes of its steps say what is missing.
    """
    taken: list[SavedTest] = []
    told = _Told([], [])
    for path in paths:
        files = _files_in(path, form, told) if path.is_dir() else [path]
        for file in files:
            try:
                taken += await _import_file(tools, project, file, by, _Taking(form, partial, name), told)
            except (BadTest, GardenerError) as error:
                told.errors.append(str(error))
    return Imported(tuple(taken), tuple(told.errors), tuple(told.notes), told.understood, told.parts)


def _files_in(folder: Path, form: str | None, told: _Told) -> list[Path]:
    found, skipped = [], 0
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).parts
        if any(part in SKIPPED_FOLDERS or part.startswith(".") for part in inside) or not file.is_file():
            continue
        own = choosing.format_of(file)
        if own is None or (form is not None and own != form):
            continue
        if file.suffix.lower() not in choosing.SOMETIMES or choosing.looks_like_a_test(file, _beginning(file)):
            found.append(file)
        else:
            skipped += 1
    if not found:
        told.errors.append(f"{folder}: holds no test file; known endings are {', '.join(choosing.BY_ENDING)}")
    elif skipped:
        told.notes.append(f"{folder}: {skipped} files that do not look like tests were passed over")
    return found


def _beginning(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(choosing.LOOK).decode("utf-8", "replace")
    except OSError:
        return ""


async def _import_file(
    tools: Tools, project: Project, file: Path, by: str, taking: _Taking, told: _Told
) -> list[SavedTest]:
    read = read_file(file, form=taking.form, base_url=project.base_url, name=taking.name)
    told.notes += _fixtures_around(file)
    written = [kept for test in read if (kept := _whole_or_draft(file, test, taking.partial, told)) is not None]
    folders = {test.name: _keep_uploads(tools.settings.data_dir, file, test) for test in written}
    async with tools.store.transaction() as tx:
        saved = []
        for test in written:
            if test.missing:
                there = await saved_tests.find(tx, project.id, test.name)
                if there is not None and there.status != Status.DRAFT:
                    told.errors.append(
                        f"{file}:{test.line}: '{test.name}' is {there.status.value} at version {there.version} and was "
                        "kept as it is: only part of this file's test can be said in steps. Rename one of the two."
                    )
                    continue
            one = await saved_tests.import_test(
                tx, project.id, test, folder=folders[test.name], author=by, now=tools.now()
            )
            payload = {"test": one.name, "version": one.version, "by": by}
            subject = f"{by} imported '{one.name}'"
            await events.emit(tx, project.id, EventKind.TEST_IMPORTED, subject, payload, now=tools.now())
            saved.append(one)
        for test in written:
            await check_fragments(tx, project, str(file), test)
    return saved


def _whole_or_draft(file: Path, test: WrittenTest, partial: bool, told: _Told) -> WrittenTest | None:
    """The test as it is to be saved; None for one that is refused. Every remark is told with its line."""
    told.understood += test.understood
    told.parts += test.parts
    told.notes += [f"{file}:{one.line}: '{test.name}': {one.what}" for one in test.remarks if not one.is_missing]
    lines = [f"{file}:{one.line}: '{test.name}': {one.what}" for one in test.missing]
    share = f"{test.understood} of {test.parts} parts were understood"
    if not test.steps:
        told.errors += [
            *lines,
            f"{file}:{test.line}: '{test.name}' was not imported: it has no step that can be played",
        ]
        return None
    if not lines:
        return test
    if not partial:
        told.errors += [
            *lines,
            f"{file}:{test.line}: '{test.name}' was not imported: {share}. Change these lines, or take it in as a "
            "draft with --partial.",
        ]
        return None
    told.notes += [
        *lines,
        f"{file}:{test.line}: '{test.name}' is a draft: {share}; the notes of its steps say what is missing.",
    ]
    return with_notes(test)


def read_file(
    file: Path, *, form: str | None = None, base_url: str | None = None, name: str | None = None
) -> tuple[WrittenTest, ...]:
    """Raises BadTest: one line with file, line, step and what was expected."""
    known = form or choosing.format_of(file)
    if known is None:
        raise BadTest(
            f"{file}: not a format that can be imported; known endings are {', '.join(choosing.BY_ENDING)}, or give "
            "--format"
        )
    try:
        if file.exists() and not file.is_file():
            raise BadTest(f"{file}: not a file that can be read")
        if file.stat().st_size > MOST_BYTES:
            raise BadTest(f"{file}: larger than {MOST_BYTES // 1_000_000} MB; a test file is text written by people")
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadTest(f"{file}: not UTF-8 text") from None
    except OSError as error:
        raise BadTest(f"{file}: {error.strerror or 'cannot be read'}") from None
    return choosing.read(known, text, where=str(file), name=name or file.name.split(".")[0], base_url=base_url)


def _fixtures_around(file: Path) -> list[str]:
    """A line for each fixture of a conftest.py at or above a Python file that takes part without being named."""
    if file.suffix.lower() != ".py":
        return []
    told = []
    for folder in list(file.resolve().parents)[:CONFTESTS]:
        found = AUTOMATIC.findall(_beginning(folder / "conftest.py"))
        for name in sorted({one for pair in found for one in pair if one}):
            told.append(
                f"{file}: the fixture {name[:80]} of {folder / 'conftest.py'} is not seen here, whatever it does"
            )
    return told


async def check_fragments(tx: Transaction, project: Project, where: str, test: WrittenTest) -> None:
    """Raises BadTest where the test uses itself by way of others; what it names may also come later."""
    known: dict[str, Steps] = {}
    waiting = [name for _, name in fragments.names_used(test.steps)]
    while waiting:
        name = waiting.pop()
        one = await saved_tests.find(tx, project.id, name) if name not in known else None
        if one is not None:
            known[name] = one.steps
            waiting += [used for _, used in fragments.names_used(one.steps)]
    try:
        fragments.check(test.name, test.steps, known)
    except BadTest as error:
        step = f", step {show_place(error.place)}" if error.place else ""
        raise BadTest(f"{where}: '{test.name}'{step}: {error}") from None


def _keep_uploads(data_dir: Path, file: Path, test: WrittenTest) -> str | None:
    """Copies of the files that the test uploads; the folder's name below the data folder, None without any."""
    names = sorted({name for _, step in walk(test.steps) if step.kind == "upload" for name in step.parameters["files"]})
    if not names:
        return None
    beside = file.parent.resolve()
    contents: dict[str, bytes] = {}
    left = MOST_UPLOADED
    for name in names:
        try:
            path = (beside / name).resolve()
            is_file = path.is_file()
        except (OSError, ValueError):
            raise BadTest(f"{file}: '{test.name}': the upload {name[:80]!r} is no name of a file") from None
        if not path.is_relative_to(beside) or ".." in Path(name).parts:
            raise BadTest(f"{file}: '{test.name}': the upload '{name}' leads out of the test's folder")
        if not is_file:
            raise BadTest(f"{file}: '{test.name}': the upload '{name}' is not there, beside the test")
        if path.stat().st_size > LARGEST_UPLOAD:
            raise BadTest(f"{file}: '{test.name}': the upload '{name}' is larger than {LARGEST_UPLOAD // 1_000_000} MB")
        left -= path.stat().st_size
        if left < 0:
            most = MOST_UPLOADED // 1_000_000
            raise BadTest(f"{file}: '{test.name}': its uploads are larger than {most} MB together")
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


async def used_in(tx: Transaction, test: SavedTest) -> lists.Used:
    """What the last green run of this version of the test filled: lists are written otherwise than fields."""
    recording = await recordings.get(tx, test.id, test.version)
    fills = {show_place(place) for place, step in walk(test.steps) if step.kind == "fill"}
    steps = [one for one in recording.steps if one.place in fills] if recording else []
    seen = await pages.get_many(tx, {one.page_key for one in steps})
    return {
        one.place: (seen[one.page_key], one.target) for one in steps if one.page_key in seen and one.target is not None
    }


def export(
    test: SavedTest, project: Project, form: str, *, partial: bool = False, used: lists.Used | None = None
) -> Exported:
    """The test in a format. Raises Refused if that format cannot say all of it; with `partial` the rest is marked."""
    if form == "yaml":
        return Exported(export_yaml(test))
    written = replace(test.written(), steps=lists.as_chosen(test.steps, used or {}))
    made = choosing.write(form, written, base_url=project.base_url, test_id=project.settings.test_id_attribute)
    if made.lost and not partial:
        raise Refused(
            f"'{test.name}' was not exported: {len(made.lost)} of its steps cannot be said in this format: "
            f"{'; '.join(made.lost[:5])}{'; …' if len(made.lost) > 5 else ''}. With --partial they stand in it as "
            "marked comments, which the other tool passes over."
        )
    return made
