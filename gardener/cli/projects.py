"""`gardener project`: apps under test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rich_click as click

from gardener import screen
from gardener.actions import settling
from gardener.cli.terminal import cli, console, do, json_option, one_line, print_json
from gardener.errors import BadSetting
from gardener.projects import Project, change_settings, read_base_url
from gardener.store import projects
from gardener.tools import Tools


@cli.group()
def project() -> None:
    """Apps under test."""


@project.command("add")
@click.argument("name")
@click.option("--base-url", required=True, metavar="URL", help="Where the app is.")
@click.option("--auto-repair", is_flag=True, help="Repair failed runs automatically.")
@json_option
def project_add(name: str, base_url: str, auto_repair: bool, as_json: bool) -> None:
    """Add a project."""
    url = read_base_url(base_url)
    name = one_line(name)

    async def work(tools: Tools) -> Project:
        async with tools.store.transaction() as tx:
            return await projects.add(tx, name, url, now=tools.now(), auto_repair=auto_repair)

    made = do(work, quiet=as_json)
    if as_json:
        print_json(_project_shape(made))
    else:
        console().print(screen.plain(f"Project '{made.name}' at {made.base_url}, mode {made.mode.value}"))


@project.command("list")
@json_option
def project_list(as_json: bool) -> None:
    """List the projects."""

    async def work(tools: Tools) -> tuple[Project, ...]:
        async with tools.store.reading() as tx:
            return await projects.listed(tx)

    found = do(work, quiet=as_json)
    if as_json:
        print_json({"projects": [_project_shape(one) for one in found]})
        return
    rows = screen.table("project", "base URL", "mode")
    for one in found:
        rows.add_row(screen.plain(one.name), screen.plain(one.base_url), screen.plain(one.mode.value))
    console().print(rows if found else "No projects yet: gardener project add NAME --base-url URL")


@project.command("set")
@click.argument("name")
@click.argument("changes", nargs=-1, required=True, metavar="KEY=VALUE…")
@json_option
def project_set(name: str, changes: Sequence[str], as_json: bool) -> None:
    """Change settings of a project: auto_repair, base_url, urls, sweep_cron="0 */2 * * *", timezone=Europe/Berlin, …"""
    given: dict[str, str] = {}
    for change in changes:
        key, found, value = change.partition("=")
        if not found:
            raise click.UsageError(f"'{change}' is not KEY=VALUE")
        given[key.strip()] = value.strip()

    async def work(tools: Tools) -> Project:
        settled = dict(given)
        switch, url = settled.pop("auto_repair", None), settled.pop("base_url", None)
        async with tools.store.transaction() as tx:
            one = await projects.get(tx, name)
            new = await projects.update(
                tx,
                one.id,
                base_url=read_base_url(url) if url is not None else None,
                auto_repair=_switch(switch) if switch is not None else None,
                settings=change_settings(one.settings, settled) if settled else None,
            )
            await settling.check_sign_in(tx, one, new)
            return new

    made = do(work, quiet=as_json)
    if as_json:
        print_json(_project_shape(made))
    else:
        console().print(screen.plain(f"Project '{made.name}' at {made.base_url}, mode {made.mode.value}"))


def _switch(text: str) -> bool:
    if text.lower() in ("true", "on", "yes", "1"):
        return True
    if text.lower() in ("false", "off", "no", "0"):
        return False
    raise BadSetting(f"'auto_repair' is true or false, got '{text}'")


def _project_shape(one: Project) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "base_url": one.base_url,
        "auto_repair": one.auto_repair,
        "mode": one.mode.value,
        "settings": {key: getattr(one.settings, key) for key in one.settings.__dataclass_fields__},
    }
