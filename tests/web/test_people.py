"""The page of people: who may sign in, as what; nobody locks themselves out, and whoever is removed is out at once."""

from __future__ import annotations

import re

import pytest

from gardener.actions import admitting
from gardener.errors import Refused
from gardener.people import Person
from gardener.store import Transaction, audit, people
from tests.web.conftest import PASSWORD, Office, Visitor


async def everybody(office: Office) -> dict[str, str]:
    async with office.world.store.reading() as tx:
        return {one.name: one.role.value for one in await people.listed(tx)}


async def number_of(office: Office, name: str) -> int:
    async with office.world.store.reading() as tx:
        return (await people.get(tx, name)).id


def given(ada: Visitor) -> str:
    found = re.search(r'<code class="given">([^<]+)</code>', ada.page)
    assert found is not None
    return found[1]


async def open_page(office: Office) -> Visitor:
    ada = await office.ada()
    await ada.get("/people")
    return ada


async def test_somebody_is_added_and_gets_a_password_that_is_shown_once(office: Office) -> None:
    ada = await open_page(office)

    await ada.send("/people", name="Cy", role="member")
    password = given(ada)
    kept = "".join(ada.client.cookies.values()) + str(ada.headers)
    await ada.get("/people")
    again = ada.page
    cy = await office.somebody()
    await cy.sign_in("Cy", password)

    assert password not in kept
    assert password not in again
    assert "one-time password" in again
    assert cy.path == "/password"  # the first thing they do is to choose their own
    assert (await everybody(office))["Cy"] == "member"


@pytest.mark.parametrize("name", ["ada", "", "gardener", "x" * 61, "a\nb"])
async def test_a_name_that_cannot_be_is_told_and_stays_in_the_form(office: Office, name: str) -> None:
    ada = await open_page(office)

    await ada.send("/people", name=name, role="admin")

    assert ada.status == 422
    assert ada.said
    assert '<option value="admin" selected' in ada.page
    assert set(await everybody(office)) == {"Ada", "Ben"}


async def test_a_new_password_ends_the_sessions_of_the_old_one(office: Office) -> None:
    _, token = await admitting.sign_in(office.world.tools, "Ben", PASSWORD, "10.0.0.1")
    ada = await open_page(office)

    await ada.send(f"/people/{await number_of(office, 'Ben')}/password")
    password = given(ada)

    assert await admitting.who_is(office.world.tools, token) is None
    with pytest.raises(Refused):
        await admitting.sign_in(office.world.tools, "Ben", PASSWORD, "10.0.0.1")
    person, _ = await admitting.sign_in(office.world.tools, "Ben", password, "10.0.0.1")
    assert person.must_change


async def test_whoever_is_removed_is_out_at_once(office: Office) -> None:
    _, token = await admitting.sign_in(office.world.tools, "Ben", PASSWORD, "10.0.0.1")
    ada = await open_page(office)

    await ada.send(f"/people/{await number_of(office, 'Ben')}/remove")

    assert ada.said == "Ben may sign in no more, and is signed out everywhere."
    assert await admitting.who_is(office.world.tools, token) is None
    with pytest.raises(Refused):
        await admitting.sign_in(office.world.tools, "Ben", PASSWORD, "10.0.0.1")
    async with office.world.store.reading() as tx:
        (newest,) = await audit.listed(tx, limit=1)
    assert (newest.what, newest.subject, newest.who) == ("remove person", "Ben", "Ada")


async def test_a_role_counts_from_the_next_click(office: Office) -> None:
    ada = await open_page(office)
    ben = await number_of(office, "Ben")

    await ada.send(f"/people/{ben}/role", role="admin")
    said = ada.said
    _, token = await admitting.sign_in(office.world.tools, "Ben", PASSWORD, "10.0.0.1")
    await ada.send(f"/people/{ben}/role", role="member")
    person = await admitting.who_is(office.world.tools, token)

    assert said == "Ben is an admin now."
    assert person is not None
    assert not person.is_admin


async def test_the_last_admin_stays_one(office: Office) -> None:
    ada = await open_page(office)
    number = await number_of(office, "Ada")

    await ada.send(f"/people/{number}/role", role="member")
    demoted = ada.said
    await ada.send(f"/people/{number}/remove")
    removed = ada.said
    await ada.send(f"/people/{number}/password")

    assert demoted == "There has to be an admin: make somebody else one first."
    assert removed.startswith("That is you")
    assert ada.said.startswith("That is you")
    assert await everybody(office) == {"Ada": "admin", "Ben": "member"}
    with pytest.raises(Refused, match="has to be an admin"):
        await admitting.remove_person(office.world.tools, number, "Ben")


async def test_an_admin_may_step_down_while_there_is_another(office: Office) -> None:
    ada = await open_page(office)
    await ada.send(f"/people/{await number_of(office, 'Ben')}/role", role="admin")

    await ada.send(f"/people/{await number_of(office, 'Ada')}/role", role="member")

    assert await everybody(office) == {"Ada": "member", "Ben": "admin"}
    assert ada.status == 403  # the page of people is no longer hers


async def test_a_role_that_is_none_changes_nothing(office: Office) -> None:
    ada = await open_page(office)

    await ada.send(f"/people/{await number_of(office, 'Ben')}/role", role="owner")

    assert ada.said == "'owner' is no role; there are member, admin."
    assert (await everybody(office))["Ben"] == "member"


@pytest.mark.parametrize("path", ["/people", "/people/1/password", "/people/1/role", "/people/1/remove"])
async def test_a_member_reaches_none_of_it(office: Office, path: str) -> None:
    ben = await office.ben()
    await ben.get("/")
    shown = 'href="/people"' in ben.page

    await ben.send(path, name="Cy", role="admin")

    assert not shown
    assert ben.status == 403
    await ben.get("/people")
    assert ben.status == 403
    assert await everybody(office) == {"Ada": "admin", "Ben": "member"}


async def test_somebody_removed_while_their_password_is_checked_does_not_get_in(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = await number_of(office, "Ben")
    looked = people.password_of
    times = 0

    async def password_of(tx: Transaction, name: str) -> tuple[Person, str] | None:
        nonlocal times
        times += 1
        if times == 2:  # between the check of the password and the session
            await people.remove(tx, ben)
        return await looked(tx, name)

    monkeypatch.setattr(people, "password_of", password_of)

    with pytest.raises(Refused, match="do not go together"):
        await admitting.sign_in(office.world.tools, "Ben", PASSWORD, "10.0.0.1")
    assert times == 2
