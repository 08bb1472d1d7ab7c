"""`gardener secret`: what tests sign in with."""

from __future__ import annotations

import sys
from typing import Any, TextIO

import rich_click as click

from gardener import screen
from gardener.actions import entrusting
from gardener.cli.terminal import by_option, cli, console, do, json_option, print_json, project_named
from gardener.errors import BadSetting
from gardener.secrets import LONGEST, read_name
from gardener.tools import Tools


@cli.group()
def secret() -> None:
    """What tests sign in with: kept sealed, never shown again."""


@secret.command("set")
@click.argument("project_name", metavar="PROJECT")
@click.argument("name")
@by_option
@json_option
def secret_set(project_name: str, name: str, by: str | None, as_json: bool) -> None:
    """Keep a secret of the project; its value is asked for, or read from standard input when that is piped."""
    read_name(name)
    given = sys.stdin
    value = click.prompt("Value", hide_input=True, confirmation_prompt=True) if given.isatty() else _piped(given)

    async def work(tools: Tools) -> bool:
        one = await project_named(tools, project_name)
        return await entrusting.set_secret(tools, one, name, value, by or tools.settings.by)

    again = do(work, quiet=as_json)
    said = "has another value now" if again else "is kept"
    print_json({"secret": name, "replaced": again}) if as_json else console().print(
        screen.plain(f"The secret {name} of '{project_name}' {said}. Tests name it as {{secret: {name}}}.")
    )


def _piped(given: TextIO) -> str:
    try:
        return given.read(LONGEST + 3)
    except UnicodeDecodeError:
        raise BadSetting("the secret that was piped in is not a text in UTF-8") from None


@secret.command("list")
@click.argument("project_name", metavar="PROJECT")
@json_option
def secret_list(project_name: str, as_json: bool) -> None:
    """The secrets of a project and the tests that name them; never a value."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        return [one.shape() for one in await entrusting.told_of(tools, await project_named(tools, project_name))]

    rows = do(work, quiet=as_json)
    print_json({"secrets": rows}) if as_json else screen.show_secrets(console(), rows)


@secret.command("remove")
@click.argument("project_name", metavar="PROJECT")
@click.argument("name")
@by_option
@json_option
def secret_remove(project_name: str, name: str, by: str | None, as_json: bool) -> None:
    """Forget a secret of the project."""

    async def work(tools: Tools) -> tuple[str, ...]:
        one = await project_named(tools, project_name)
        return await entrusting.remove_secret(tools, one, name, by or tools.settings.by)

    tests = do(work, quiet=as_json)
    if as_json:
        print_json({"secret": name, "tests": list(tests)})
        return
    still = f" {len(tests)} tests still name it; the environment is asked for it now." if tests else ""
    console().print(screen.plain(f"The secret {name} is forgotten.{still}"))


@secret.command("rekey")
@by_option
@json_option
def secret_rekey(by: str | None, as_json: bool) -> None:
    """Seal everything with the key of today; the old one is GARDENER_SECRET_KEY_OLD or secret.key.old."""
    done = do(lambda tools: entrusting.rekey(tools, by or tools.settings.by), quiet=as_json)
    print_json(done.shape()) if as_json else console().print(
        screen.plain(
            f"Sealed with the key of today: {done.secrets} secrets, {done.targets} addresses of targets, "
            f"{done.sessions} sessions. The old key is needed no more."
        )
    )
