"""A person changes a saved test: its text, or whether it is in service."""

from __future__ import annotations

from typing import Final

from gardener.actions.importing import check_fragments
from gardener.errors import Refused
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.saved_tests import SavedTest, Status
from gardener.store import Transaction, audit, events, issues, projects, saved_tests
from gardener.tools import Tools
from repair_ladder.errors import BadTest
from repair_ladder.formats import WrittenTest, yaml
from repair_ladder.steps import show_place, walk

WHERE: Final = "line"  # begins each message: "line:4: step 2: …" is turned into "line 4: step 2: …"
# What a person may make of a test that stands there like this.
NEXT: Final = {
    Status.DRAFT: (Status.ACTIVE, Status.ARCHIVED),
    Status.PENDING: (Status.ACTIVE, Status.REJECTED),
    Status.ACTIVE: (Status.DRAFT, Status.ARCHIVED),
    Status.REJECTED: (Status.DRAFT, Status.ARCHIVED),
    Status.ARCHIVED: (Status.ACTIVE,),
}


def text_of(test: SavedTest) -> str:
    """The test as a text to edit: its file's own while it says just what the test is, else canonical.

    A status that was changed since stands in it, so that saving it as it is changes nothing.
    """
    if test.source is not None:
        try:
            found = yaml.read(test.source)
        except BadTest:  # written by an older release, or in another tool's format
            found = ()
        if len(found) == 1 and _same(found[0], test.written()):
            return test.source
    return yaml.canonical(test.written())


def _same(one: WrittenTest, other: WrittenTest) -> bool:
    parts = ("name", "steps", "status", "tags")
    return all(getattr(one, key) == getattr(other, key) for key in parts) and dict(one.variables) == dict(
        other.variables
    )


async def edit_test(tools: Tools, test: int, text: str, *, version: int, by: str) -> SavedTest:
    """The test as the text says, written over `version`; what waits for a person becomes stale (G58).

    Raises BadTest with one line (line, step, what was expected), Conflict if somebody else changed the test meanwhile,
    Refused for what a text cannot change. Then nothing was written.
    """
    async with tools.store.reading() as tx:
        old = await saved_tests.by_id(tx, test)
        project = await projects.by_id(tx, old.project)
    written = _read(text, old)
    _check_uploads(tools, old, written)
    async with tools.store.transaction() as tx:
        saved = await saved_tests.import_test(
            tx, project.id, written, folder=old.folder, author=by, now=tools.now(), cause="edit", expected=version
        )
        await check_fragments(tx, project, "The text", written)
        changed = saved.version != old.version or saved.status != old.status or saved.tags != old.tags
        if saved.version != old.version:
            await _end_issues(tx, tools, saved)
        if changed or saved.source != old.source:
            await _tell(tx, tools, project, saved, by, f"{by} edited '{saved.name}'")
    return saved


async def set_status(tools: Tools, test: int, to: str, by: str) -> SavedTest:
    """In service or out of it, by name. Raises Refused for what does not follow from where it stands."""
    async with tools.store.transaction() as tx:
        old = await saved_tests.by_id(tx, test)
        project = await projects.by_id(tx, old.project)
        wanted = next((one for one in NEXT[old.status] if one.value == to), None)
        if wanted is None:
            names = ", ".join(one.value for one in NEXT[old.status])
            raise Refused(f"'{old.name}' is {old.status.value} by now: it can be made {names}.")
        await saved_tests.set_status(tx, test, wanted)
        new = await saved_tests.by_id(tx, test)
        await _tell(tx, tools, project, new, by, f"{by} made '{new.name}' {new.status.value}")
    return new


def _read(text: str, old: SavedTest) -> WrittenTest:
    try:
        found = yaml.read(text.replace("\r\n", "\n"), where=WHERE)
    except RecursionError:
        raise BadTest("nested too deep") from None
    except BadTest as error:
        raise BadTest(_in_words(str(error)), place=error.place) from None
    if len(found) != 1:
        raise BadTest(f"the text holds {len(found)} tests; here stands one, '{old.name}'")
    if found[0].name != old.name:
        raise Refused(
            f"The name identifies a test: here it stays '{old.name}', got '{found[0].name[:100]}'. Import the text as "
            "a file for a further test."
        )
    return found[0]


def _in_words(message: str) -> str:
    """ "line:4: step 2 …" as a person reads it where there is no file."""
    begin, found, rest = message.partition(":")
    number, _, after = rest.partition(":")
    if begin == WHERE and found and number.isdecimal():
        return f"line {number}:{after}"
    return rest.strip() if begin == WHERE else message


async def _end_issues(tx: Transaction, tools: Tools, test: SavedTest) -> None:
    """Whoever answered an issue of this test alone with "edit" has done so now (stories.ANSWERS)."""
    for issue in await issues.open_of(tx, test.id):
        if issue.answer == "edit" and issue.tests == (test.name,):
            await issues.close(tx, issue.id, now=tools.now())


def _check_uploads(tools: Tools, old: SavedTest, written: WrittenTest) -> None:
    """Raises BadTest where a step uploads a file that is not kept with the test."""
    folder = (tools.settings.data_dir / old.folder).resolve() if old.folder else None
    for place, step in walk(written.steps):
        for name in step.parameters["files"] if step.kind == "upload" else ():
            try:
                path = (folder / name).resolve() if folder else None
                is_kept = path is not None and folder is not None and path.is_relative_to(folder) and path.is_file()
            except (OSError, ValueError):
                is_kept = False
            if not is_kept:
                raise BadTest(
                    f"step {show_place(place)}: the upload '{str(name)[:80]}' is not kept with this test; import the "
                    "test from a folder with that file beside it",
                    place=place,
                )


async def _tell(tx: Transaction, tools: Tools, project: Project, test: SavedTest, by: str, subject: str) -> None:
    payload = {"test": test.name, "version": test.version, "status": test.status.value, "by": by}
    await events.emit(tx, project.id, EventKind.TEST_EDITED, subject, payload, now=tools.now())
    await audit.write(
        tx, project=project.id, who=by, what="edit test", subject=test.name, details=payload, now=tools.now()
    )
