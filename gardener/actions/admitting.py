"""Let people in: the first admin, further people, sign-in and sign-out, new passwords."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Final

from gardener import passwords
from gardener.errors import Refused
from gardener.people import LIMITS, LONGEST_PASSWORD, SESSION_LASTS, Person, Role, read_name, read_password
from gardener.store import Transaction, audit, people
from gardener.tools import Tools

FIRST: Final = "admin"


async def admit_first(tools: Tools, *, must_change: bool = True) -> str | None:
    """On a database without people: makes `admin` and gives the one-time password. Else None."""
    async with tools.store.reading() as tx:
        if await people.count(tx):
            return None
    password = passwords.one_time()
    kept = await asyncio.to_thread(passwords.hashed, password)
    async with tools.store.transaction() as tx:
        made = await people.add_first(tx, FIRST, password_hash=kept, must_change=must_change, now=tools.now())
    return password if made else None


async def add_person(tools: Tools, name: str, role: Role, by: str) -> tuple[Person, str]:
    """The person and the one-time password to hand to them. Raises Refused."""
    name = read_name(name)
    password = passwords.one_time()
    kept = await asyncio.to_thread(passwords.hashed, password)
    async with tools.store.transaction() as tx:
        person = await people.add(tx, name, role=role, password_hash=kept, must_change=True, now=tools.now())
        details = {"role": role.value}
        await audit.write(tx, who=by, what="add person", subject=name, details=details, now=tools.now())
    return person, password


async def reset_password(tools: Tools, name: str, by: str) -> tuple[Person, str]:
    """A new one-time password for somebody; they are signed out everywhere. Raises NotFound."""
    password = passwords.one_time()
    kept = await asyncio.to_thread(passwords.hashed, password)
    async with tools.store.transaction() as tx:
        person = await people.get(tx, name)
        await people.set_password(tx, person.id, kept, must_change=True)
        await audit.write(tx, who=by, what="reset password", subject=person.name, now=tools.now())
    return person, password


async def set_role(tools: Tools, person: int, role: Role, by: str) -> Person:
    """Raises NotFound; Refused for the last admin."""
    async with tools.store.transaction() as tx:
        changed = await people.set_role(tx, person, role)
        details = {"role": role.value}
        await audit.write(tx, who=by, what="set role", subject=changed.name, details=details, now=tools.now())
    return changed


async def remove_person(tools: Tools, person: int, by: str) -> Person:
    """They are signed out everywhere at once. Raises NotFound; Refused for the last admin."""
    async with tools.store.transaction() as tx:
        gone = await people.by_id(tx, person)
        await people.remove(tx, person)
        await audit.write(tx, who=by, what="remove person", subject=gone.name, now=tools.now())
    return gone


async def sign_in(tools: Tools, name: str, password: str, address: str) -> tuple[Person, str]:
    """The person and the token of a new session. Raises Refused: the same for an unknown name and a wrong password."""
    keys = _keys(name, address)
    async with tools.store.transaction() as tx:
        now = tools.now()
        wait = _longest_wait(await people.hold_failures(tx, keys, now=now), now)
        if not wait:
            await people.note_try(tx, keys, now=now)
            found = await people.password_of(tx, name.strip())
    if wait:
        raise Refused(f"Too many sign-ins failed. The next try is possible in {_in_words(wait)}.")
    kept = found[1] if found else None
    right = len(password) <= LONGEST_PASSWORD and await asyncio.to_thread(passwords.fits, password, kept)
    if not right or found is None:
        raise Refused("That name and password do not go together.")
    async with tools.store.transaction() as tx:
        # Hashing takes a while: meanwhile they may have been removed, or given another password.
        again = await people.password_of(tx, name.strip())
        if again is None or again[1] != kept:
            raise Refused("That name and password do not go together.")
        await people.forgive(tx, keys)
        return again[0], await _begin(tx, tools, again[0])


async def change_password(tools: Tools, person: Person, old: str, new: str) -> str:
    """The token of the session that goes on; every other one of theirs has ended. Raises Refused."""
    async with tools.store.reading() as tx:
        found = await people.password_of(tx, person.name)
    if found is None or len(old) > LONGEST_PASSWORD or not await asyncio.to_thread(passwords.fits, old, found[1]):
        raise Refused("The password that you have now is another one.")
    if new == old:
        raise Refused("The new password is the old one.")
    kept = await asyncio.to_thread(passwords.hashed, read_password(new, name=person.name))
    async with tools.store.transaction() as tx:
        await people.by_id(tx, person.id)  # nobody who was removed meanwhile begins a session
        await people.set_password(tx, person.id, kept, must_change=False)
        await audit.write(tx, who=person.name, what="change password", subject=person.name, now=tools.now())
        return await _begin(tx, tools, person)


async def who_is(tools: Tools, token: str) -> Person | None:
    """Whose session it is, if it has not ended."""
    async with tools.store.reading() as tx:
        return await people.of_session(tx, token_hash(token), now=tools.now())


async def sign_out(tools: Tools, token: str) -> None:
    async with tools.store.transaction() as tx:
        await people.end_session(tx, token_hash(token))


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def _begin(tx: Transaction, tools: Tools, person: Person) -> str:
    token = secrets.token_urlsafe(32)
    now = tools.now()
    await people.open_session(tx, token_hash(token), person.id, now=now, until=now + SESSION_LASTS)
    return token


def _keys(name: str, address: str) -> dict[str, str]:
    """What is counted. Hashed: a password that was typed into the field for the name is not kept."""
    name = name.strip().casefold()
    parts = {"pair": f"{name}\n{address}", "address": address, "name": name}
    return {kind: hashlib.sha256(f"{kind}\n{part}".encode()).hexdigest() for kind, part in parts.items()}


def _longest_wait(failed: dict[str, tuple[int, datetime]], now: datetime) -> timedelta:
    left = [last + LIMITS[kind].wait(count) - now for kind, (count, last) in failed.items()]
    return max([timedelta(), *left])


def _in_words(wait: timedelta) -> str:
    seconds = int(wait.total_seconds()) + 1
    return f"{seconds} seconds" if seconds < 120 else f"{-(-seconds // 60)} minutes"
