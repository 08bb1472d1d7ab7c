"""Who may sign in: for admins only."""

from __future__ import annotations

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import admitting
from gardener.errors import Refused
from gardener.people import LONGEST_NAME, Person, Role
from gardener.store import people
from web import view
from web.auth import Asking
from web.errors import SignInFirst
from web.presenters import people as present
from web.presenters.queue import sentence


@get("/people", opt={"admin": True})
async def index(asking: NamedDependency[Asking]) -> Response[str]:
    return await _index(asking)


@post("/people", opt={"admin": True}, status_code=200)
async def add(asking: NamedDependency[Asking]) -> Response[str]:
    name = asking.form.text("name", longest=500)
    role = next((one for one in Role if one.value == asking.form.text("role")), Role.MEMBER)
    try:
        person, password = await admitting.add_person(asking.tools, name, role, asking.by)
    except Refused as error:
        return await _index(asking, str(error), name=name, role=role)
    return await _given(asking, person, password, f"{person.name} may sign in")


@post("/people/{number:int}/password", opt={"admin": True}, status_code=200)
async def reset(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    person = await _other(asking, number)
    person, password = await admitting.reset_password(asking.tools, person.name, asking.by)
    return await _given(asking, person, password, f"A new password for {person.name}")


@post("/people/{number:int}/role", opt={"admin": True}, status_code=200)
async def role(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    said = asking.form.text("role", longest=50)
    wanted = next((one for one in Role if one.value == said), None)
    if wanted is None:
        raise Refused(f"'{said}' is no role; there are {', '.join(Role)}.")
    person = await admitting.set_role(asking.tools, number, wanted, asking.by)
    return view.go_on(asking, "/people", f"{person.name} is {present.ROLE_WORDS[person.role]} now.")


@post("/people/{number:int}/remove", opt={"admin": True}, status_code=200)
async def remove(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    person = await _other(asking, number)
    await admitting.remove_person(asking.tools, person.id, asking.by)
    return view.go_on(asking, "/people", f"{person.name} may sign in no more, and is signed out everywhere.")


async def _other(asking: Asking, number: int) -> Person:
    """Raises Refused for oneself: that is what the page of one's own password and the other admins are for."""
    async with asking.tools.store.reading() as tx:
        person = await people.by_id(tx, number)
    if asking.person is not None and person.id == asking.person.id:
        raise Refused("That is you: change your own password on its page, and let another admin remove you.")
    return person


async def _index(asking: Asking, wrong: str = "", *, name: str = "", role: Role = Role.MEMBER) -> Response[str]:
    if asking.person is None:
        raise SignInFirst
    async with asking.tools.store.reading() as tx:
        found = await people.listed(tx)
    return await view.page(
        asking,
        "people/index.html",
        people=[present.row(one, you=asking.person.id) for one in found],
        roles=[(one.value, one.value) for one in Role],
        wrong=sentence(wrong),
        typed={"name": name, "role": role.value},
        longest=LONGEST_NAME,
        code=422 if wrong else 200,
    )


async def _given(asking: Asking, person: Person, password: str, title: str) -> Response[str]:
    """Not kept anywhere on the way, as a message in a cookie would be; so it is the answer to the form itself."""
    return await view.page(asking, "people/given.html", name=person.name, password=password, title=title)


HANDLERS = [index, add, reset, role, remove]
