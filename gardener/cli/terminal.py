"""What every command stands on: the root command, its options, doing the work, and saying what came of it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click
from rich.console import Console

from gardener import screen
from gardener.bootstrap import open_tools
from gardener.errors import BadSetting
from gardener.projects import Project
from gardener.runs import RunStatus
from gardener.settings import Settings, read_settings
from gardener.store import projects
from gardener.tools import Tools, nobody_watches

T = TypeVar("T")
NO, USAGE, ENVIRONMENT = 1, 2, 3
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
by_option = click.option("--by", metavar="NAME", help="Whose decision it is (default: the login name).")


def say(line: str) -> None:
    print(" ".join(line.split()), file=sys.stderr)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--database", metavar="URL", help="sqlite:///FILE or postgresql://…")
@click.option("--data-dir", metavar="DIR", help="Where pictures and other files are kept.")
@click.version_option(package_name="drift-gardener")
@click.pass_context
def cli(context: click.Context, database: str | None, data_dir: str | None) -> None:
    """Keeps browser end-to-end tests alive while the app under test changes."""
    context.obj = lambda: read_settings(os.environ, Path.cwd(), database_url=database, data_dir=data_dir)


def do(work: Callable[[Tools], Awaitable[T]], *, quiet: bool) -> T:
    """Do the work with real tools; what happens meanwhile goes to standard error unless `quiet`."""
    context = click.get_current_context()
    assert context is not None, "a command runs inside its context"
    settings: Settings = context.find_root().obj()
    watch = nobody_watches if quiet else screen.Watcher(Console(stderr=True, highlight=False))

    async def inside() -> T:
        try:
            async with open_tools(settings, watch=watch) as tools:
                return await work(tools)
        except asyncio.CancelledError:
            # A Ctrl-C reaches the browser's driver as well; what is left of it in the loop has nothing more to tell.
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
            raise

    return asyncio.run(inside())


def print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=2))


def console() -> Console:
    return Console(highlight=False)


async def project_named(tools: Tools, name: str) -> Project:
    async with tools.store.reading() as tx:
        return await projects.get(tx, name)


def one_line(name: str, of: str = "a project") -> str:
    name = name.strip()
    if not 0 < len(name) <= 200 or not name.isprintable():
        raise BadSetting(f"the name of {of} is one line of at most 200 characters")
    return name


def exit_code(runs: Sequence[dict[str, Any]]) -> int:
    said = {row["status"] for row in runs}
    if RunStatus.RED in said:
        return NO
    return ENVIRONMENT if RunStatus.ENVIRONMENT in said else 0


def given_options() -> dict[str, str | None]:
    """What was given before the command's name."""
    context = click.get_current_context()
    assert context is not None, "a command runs inside its context"
    given = context.find_root().params
    return {"database_url": given["database"], "data_dir": given["data_dir"]}
