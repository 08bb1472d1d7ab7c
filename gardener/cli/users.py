"""`gardener user`: people who sign in to the pages."""

from __future__ import annotations

from typing import Any

import rich_click as click

from gardener import screen
from gardener.actions import admitting
from gardener.cli.terminal import by_option, cli, console, do, json_option, print_json
from gardener.people import Person, Role
from gardener.store import people
from gardener.tools import Tools


@cli.group("user")
def user() -> None:
    """People who sign in to the pages."""


@user.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="May change projects as well.")
@by_option
@json_option
def user_add(name: str, admin: bool, by: str | None, as_json: bool) -> None:
    """Add somebody; prints the one-time password to hand to them."""
    role = Role.ADMIN if admin else Role.MEMBER
    made, password = do(lambda tools: admitting.add_person(tools, name, role, by or tools.settings.by), quiet=as_json)
    _show_password(made, password, as_json)


@user.command("password")
@click.argument("name")
@by_option
@json_option
def user_password(name: str, by: str | None, as_json: bool) -> None:
    """Give somebody a new one-time password, and sign them out everywhere."""
    made, password = do(lambda tools: admitting.reset_password(tools, name, by or tools.settings.by), quiet=as_json)
    _show_password(made, password, as_json)


def _show_password(person: Person, password: str, as_json: bool) -> None:
    if as_json:
        print_json({"name": person.name, "role": person.role.value, "password": password})
        return
    console().print(screen.plain(f"{person.name} ({person.role.value}) signs in once with the password {password}"))


@user.command("role")
@click.argument("name")
@click.argument("role", type=click.Choice([one.value for one in Role]))
@by_option
@json_option
def user_role(name: str, role: str, by: str | None, as_json: bool) -> None:
    """Make somebody an admin or a member."""

    async def work(tools: Tools) -> Person:
        async with tools.store.reading() as tx:
            person = await people.get(tx, name)
        return await admitting.set_role(tools, person.id, Role(role), by or tools.settings.by)

    changed = do(work, quiet=as_json)
    print_json({"name": changed.name, "role": changed.role.value}) if as_json else console().print(
        screen.plain(f"{changed.name} is {changed.role.value} now.")
    )


@user.command("remove")
@click.argument("name")
@by_option
@json_option
def user_remove(name: str, by: str | None, as_json: bool) -> None:
    """Let somebody sign in no more, and sign them out everywhere."""

    async def work(tools: Tools) -> Person:
        async with tools.store.reading() as tx:
            person = await people.get(tx, name)
        return await admitting.remove_person(tools, person.id, by or tools.settings.by)

    gone = do(work, quiet=as_json)
    print_json({"removed": gone.name}) if as_json else console().print(
        screen.plain(f"{gone.name} may sign in no more.")
    )


@user.command("list")
@json_option
def user_list(as_json: bool) -> None:
    """List them."""

    async def work(tools: Tools) -> tuple[Person, ...]:
        async with tools.store.reading() as tx:
            return await people.listed(tx)

    found = do(work, quiet=as_json)
    if as_json:
        print_json({"people": [_person_shape(one) for one in found]})
        return
    rows = screen.table("name", "role", "last signed in")
    for one in found:
        seen = screen.ago(one.signed_in_at) if one.signed_in_at else "never"
        rows.add_row(screen.plain(one.name), screen.plain(one.role.value), screen.plain(seen))
    console().print(
        rows if found else "Nobody yet: `gardener serve` makes the first, or gardener user add NAME --admin"
    )


def _person_shape(one: Person) -> dict[str, Any]:
    return {
        "name": one.name,
        "role": one.role.value,
        "must_change": one.must_change,
        "signed_in_at": one.signed_in_at.isoformat() if one.signed_in_at else None,
    }
