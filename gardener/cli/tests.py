"""`gardener import`, `record` and `export`: tests in and out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import rich_click as click

from gardener import screen
from gardener.actions import importing, recording
from gardener.cli.terminal import (
    USAGE,
    by_option,
    cli,
    console,
    do,
    json_option,
    one_line,
    print_json,
    project_named,
    say,
)
from gardener.store import saved_tests
from gardener.tools import Tools
from repair_ladder.formats import Exported
from repair_ladder.formats.choosing import FORMATS


@cli.command("import")
@click.argument("project_name", metavar="PROJECT")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Instead of what the file's ending says.")
@click.option("--partial", is_flag=True, help="Keep a test that is understood in part, as a draft with notes.")
@by_option
@json_option
def import_(
    project_name: str, paths: Sequence[Path], form: str | None, partial: bool, by: str | None, as_json: bool
) -> None:
    """Take in tests from files or folders: YAML, recordings and suites of other tools."""

    async def work(tools: Tools) -> importing.Imported:
        one = await project_named(tools, project_name)
        return await importing.import_files(tools, one, paths, by or tools.settings.by, form=form, partial=partial)

    _show_imported(do(work, quiet=as_json), as_json=as_json)


def _show_imported(done: importing.Imported, *, as_json: bool) -> None:
    tests = [{"name": test.name, "version": test.version, "status": test.status.value} for test in done.tests]
    if as_json:
        share = {"understood": done.understood, "parts": done.parts}
        print_json({"tests": tests, "errors": list(done.errors), "notes": list(done.notes)} | share)
    else:
        for test in done.tests:
            console().print(screen.plain(f"{test.name}: version {test.version}, {test.status.value}"))
        if done.parts:
            told = f"Understood {done.understood} of {done.parts} parts ({done.understood / done.parts:.0%})."
            console().print(screen.plain(told))
        for note in done.notes:
            say(note)
    for error in done.errors:
        say(error)
    if done.errors:
        sys.exit(USAGE)


@cli.command("record")
@click.argument("project_name", metavar="PROJECT")
@click.option("--name", help="What the test is called (default: when it was recorded).")
@click.option("--signed-out", is_flag=True, help="Begin without the session of the project's sign-in test.")
@by_option
@json_option
def record_(project_name: str, name: str | None, signed_out: bool, by: str | None, as_json: bool) -> None:
    """Make a test by clicking through the app in a window of Playwright's codegen; closing it ends the recording."""
    named = one_line(name, "a test") if name is not None else None

    async def work(tools: Tools) -> importing.Imported:
        one = await project_named(tools, project_name)
        who = by or tools.settings.by
        return await recording.record(tools, one, who, name=named, signed_out=signed_out)

    _show_imported(do(work, quiet=as_json), as_json=as_json)


@cli.command("export")
@click.argument("project_name", metavar="PROJECT")
@click.argument("test")
@click.option("--format", "form", type=click.Choice(FORMATS), default="yaml", show_default=True)
@click.option("--partial", is_flag=True, help="Write what the format cannot say as marked comments.")
def export(project_name: str, test: str, form: str, partial: bool) -> None:
    """Write a test to standard output."""

    async def work(tools: Tools) -> Exported:
        one = await project_named(tools, project_name)
        async with tools.store.reading() as tx:
            saved = await saved_tests.get(tx, one.id, test)
            used = await importing.used_in(tx, saved)
        return importing.export(saved, one, form, partial=partial, used=used)

    made = do(work, quiet=True)
    sys.stdout.buffer.write(made.text.encode())
    sys.stdout.buffer.flush()
    for line in made.lost:
        say(line)
