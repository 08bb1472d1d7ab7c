"""`gardener doctor`, `worker`, `serve`, `mcp` and `demo`: the machine's part."""

from __future__ import annotations

import asyncio
import os
import pkgutil
import shlex
import shutil
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from gardener import demo, doctor, screen, worker
from gardener.cli.terminal import NO, cli, console, do, given_options, json_option, print_json, say
from gardener.errors import BadSetting
from gardener.settings import Settings, read_settings
from gardener.tools import Tools


@cli.command("doctor")
@json_option
def doctor_(as_json: bool) -> None:
    """Say what works here and how to mend what does not: exit 1 if anything fails."""
    given = given_options()
    checks = asyncio.run(doctor.examine(os.environ, Path.cwd(), **given))
    fails = any(one.state == doctor.State.FAILS for one in checks)
    shapes = [one.shape() for one in checks]
    print_json({"ok": not fails, "checks": shapes}) if as_json else screen.show_checks(console(), shapes)
    sys.exit(NO if fails else 0)


@cli.command("worker")
@click.option("--once", is_flag=True, help="End when nothing is left that may be done now.")
@click.option("--poll", type=click.FloatRange(0.05, 3600), default=2.0, metavar="SECONDS", show_default=True)
def worker_(once: bool, poll: float) -> None:
    """Do the jobs that wait, until it is stopped. What it has begun by then is put back."""
    stopped = do(lambda tools: worker.Worker(tools).run(once=once, poll_s=poll), quiet=False)
    if stopped:
        say("Stopped.")


@cli.command("serve")
@click.option("--host", metavar="ADDRESS", help="What to listen on (default: 127.0.0.1, this machine only).")
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="Default: 8420; 0 takes one that is free.")
@click.option("--public-url", metavar="URL", help="Where a reverse proxy shows the pages.")
def serve_(host: str | None, port: int | None, public_url: str | None) -> None:
    """Show the pages, and do the jobs that wait, until it is stopped."""
    given = {"host": host, "port": str(port) if port is not None else None, "public_url": public_url}
    settings = read_settings(os.environ, Path.cwd(), **given_options(), **given)
    asyncio.run(_serve()(settings, _announce))
    say("Stopped.")


@cli.command("mcp")
@click.option("--by", metavar="NAME", required=True, help="Whom the other program acts for: somebody of `user list`.")
def mcp_(by: str) -> None:
    """Tools for another program's model over standard input and output, in the Model Context Protocol."""
    try:
        serve_tools: Callable[[Tools, str], Coroutine[Any, Any, None]] = pkgutil.resolve_name("web.mcp:serve")
    except ModuleNotFoundError as error:
        raise BadSetting(f"`gardener mcp` needs the package '{error.name}': install drift-gardener[mcp].") from None
    do(lambda tools: serve_tools(tools, by), quiet=True)


def _serve() -> Callable[..., Coroutine[Any, Any, None]]:
    """The server, by its name: what shows stands right of what decides, and only here is it named."""
    found: Callable[..., Coroutine[Any, Any, None]] = pkgutil.resolve_name("web.serving:serve")
    return found


def _announce(line: str) -> None:
    print(line, flush=True)


@cli.command("demo")
@click.option("--once", is_flag=True, help="End by itself instead of showing the pages and keeping the shop open.")
@click.option("--auto-repair", is_flag=True, help="Write proven repairs at once instead of staging them.")
@click.option("--slow", is_flag=True, help="Pause between lines, for a talk.")
def demo_(once: bool, auto_repair: bool, slow: bool) -> None:
    """Show the main job on the bundled shop, in a folder of its own. Needs no key and touches nothing of yours."""
    given = given_options()
    if given["database_url"]:
        raise click.UsageError("the demo makes a database of its own: leave --database out")
    own = read_settings(os.environ, Path.cwd())
    folder = demo.a_folder(Path(given["data_dir"]).expanduser() if given["data_dir"] else None)
    settings = demo.settings_in(folder, own)
    # A pipe gets no escape sequences, whatever the environment says of colours.
    console = Console(highlight=False, force_terminal=None if sys.stdout.isatty() else False)
    told = screen.DemoWatcher(console, pace_s=0.35 if slow else 0.0)
    # Nobody is asked to choose a password for an hour's data on their own machine.
    serve = None if once else partial(_serve(), must_change=False)
    kept = asyncio.run(demo.demo(settings, told, auto_repair=auto_repair, serve=serve, command=_command_for(settings)))
    if not kept:
        say("A repair was staged or applied that is wrong: see 'Was that right?' above.")
        sys.exit(NO)


def _command_for(settings: Settings) -> str:
    """How to call this program on that database, as it can be pasted into a shell."""
    name = "gardener"
    if not shutil.which(name):
        name = sys.argv[0] if Path(sys.argv[0]).name == name else f"{sys.executable} -m gardener"
    options = ["--data-dir", str(settings.data_dir)]
    if read_settings(os.environ, Path.cwd(), data_dir=str(settings.data_dir)).database_url != settings.database_url:
        options = ["--database", settings.database_url, *options]
    return f"{name} {shlex.join(options)}"
