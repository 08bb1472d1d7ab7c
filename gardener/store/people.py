"""People, their sessions, and the sign-ins that failed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from gardener.errors import NotFound, Refused
from gardener.people import FORGOTTEN_AFTER, Person, Role
from gardener.store.projects import near
from gardener.store.rows import PersonRow, SessionRow, SignInFailureRow
from gardener.store.transaction import Transaction


async def add(
    tx: Transaction, name: str, *, role: Role, password_hash: str, must_change: bool, now: datetime
) -> Person:
    """Raises Refused where the name is taken, in whatever case."""
    statement = (
        tx.insert(PersonRow)
        .values(
            name=name,
            name_key=name.casefold(),
            role=role,
            password_hash=password_hash,
            must_change=must_change,
            created_at=now,
        )
        .on_conflict_do_nothing()
        .returning(*PersonRow.__table__.c)
    )
    row = await tx.first(statement)
    if row is None:
        raise Refused(f"There is somebody called '{name}' already.")
    return _person(row)


async def add_first(tx: Transaction, name: str, *, password_hash: str, must_change: bool, now: datetime) -> bool:
    """An admin, if there is nobody yet; of two processes that start at once, one adds it."""
    if await count(tx):
        return False
    values = {"name": name, "name_key": name.casefold(), "role": Role.ADMIN, "password_hash": password_hash}
    statement = tx.insert(PersonRow).values(**values, must_change=must_change, created_at=now)
    return await tx.first(statement.on_conflict_do_nothing().returning(PersonRow.id)) is not None


async def count(tx: Transaction) -> int:
    return int(await tx.scalar(select(func.count()).select_from(PersonRow)))


async def listed(tx: Transaction) -> tuple[Person, ...]:
    return tuple(map(_person, await tx.rows(select(PersonRow).order_by(PersonRow.name_key))))


async def get(tx: Transaction, name: str) -> Person:
    """Raises NotFound with the names that come near."""
    row = await tx.first(select(PersonRow).where(PersonRow.name_key == name.casefold()))
    if row is None:
        names = [row.name for row in await tx.rows(select(PersonRow.name).order_by(PersonRow.name_key))]
        raise NotFound(f"There is nobody called '{name[:60]}'{near(name, names)}.")
    return _person(row)


async def by_id(tx: Transaction, person: int) -> Person:
    row = await tx.first(select(PersonRow).where(PersonRow.id == person))
    if row is None:
        raise NotFound(f"There is nobody with the number {person}.")
    return _person(row)


async def password_of(tx: Transaction, name: str) -> tuple[Person, str] | None:
    row = await tx.first(select(PersonRow).where(PersonRow.name_key == name.casefold()))
    return (_person(row), row.password_hash) if row else None


async def set_password(tx: Transaction, person: int, password_hash: str, *, must_change: bool) -> None:
    """Whoever was signed in as them is signed out."""
    values = {"password_hash": password_hash, "must_change": must_change}
    await tx.run(update(PersonRow).where(PersonRow.id == person).values(**values))
    await tx.run(delete(SessionRow).where(SessionRow.person == person))


async def set_role(tx: Transaction, person: int, role: Role) -> Person:
    """Raises NotFound; Refused where nobody would be left who may change people."""
    if role != Role.ADMIN:
        await _must_leave_an_admin(tx, person)
    await tx.run(update(PersonRow).where(PersonRow.id == person).values(role=role))
    return await by_id(tx, person)


async def remove(tx: Transaction, person: int) -> None:
    """With all of their sessions; what they decided keeps their name. Raises as `set_role` does."""
    await by_id(tx, person)
    await _must_leave_an_admin(tx, person)
    await tx.run(delete(SessionRow).where(SessionRow.person == person))
    await tx.run(delete(PersonRow).where(PersonRow.id == person))


async def _must_leave_an_admin(tx: Transaction, person: int) -> None:
    # The rows are held: of two admins who remove each other at once, one comes second and sees it.
    admins = await tx.rows(
        select(PersonRow.id).where(PersonRow.role == Role.ADMIN).order_by(PersonRow.id).with_for_update()
    )
    if {row.id for row in admins} == {person}:
        raise Refused("There has to be an admin: make somebody else one first.")


# --- sessions ------------------------------------------------------------------------------------------


async def open_session(tx: Transaction, token_hash: str, person: int, *, now: datetime, until: datetime) -> None:
    """Sessions that are over are removed on the way."""
    await tx.run(delete(SessionRow).where(SessionRow.until <= now))
    values = {"token_hash": token_hash, "person": person, "began_at": now, "until": until}
    await tx.run(insert(SessionRow).values(**values))
    await tx.run(update(PersonRow).where(PersonRow.id == person).values(signed_in_at=now))


async def of_session(tx: Transaction, token_hash: str, *, now: datetime) -> Person | None:
    statement = (
        select(PersonRow)
        .join(SessionRow, SessionRow.person == PersonRow.id)
        .where(SessionRow.token_hash == token_hash, SessionRow.until > now)
    )
    row = await tx.first(statement)
    return _person(row) if row else None


async def end_session(tx: Transaction, token_hash: str) -> None:
    await tx.run(delete(SessionRow).where(SessionRow.token_hash == token_hash))


# --- sign-ins that failed --------------------------------------------------------------------------------


async def hold_failures(tx: Transaction, keys: Mapping[str, str], *, now: datetime) -> dict[str, tuple[int, datetime]]:
    """For each of `keys` (kind -> key) how many sign-ins failed in a row, and when the last did.

    Until the end of the transaction nobody else reads or counts them: of a hundred tries at once each sees the ones
    before it.
    """
    await tx.run(delete(SignInFailureRow).where(SignInFailureRow.last_at <= now - FORGOTTEN_AFTER))
    found = {}
    for kind, key in sorted(keys.items(), key=lambda one: one[1]):
        # A write that changes nothing, which holds the row on PostgreSQL.
        statement = tx.insert(SignInFailureRow).values(key=key, failures=0, last_at=now)
        held = statement.on_conflict_do_update(index_elements=["key"], set_={"key": key})
        row = await tx.one(held.returning(SignInFailureRow.failures, SignInFailureRow.last_at))
        found[kind] = (row.failures, row.last_at)
    return found


async def note_try(tx: Transaction, keys: Mapping[str, str], *, now: datetime) -> None:
    """Counted before the password is looked at, and taken back by `forgive`."""
    more = {"failures": SignInFailureRow.failures + 1, "last_at": now}
    await tx.run(update(SignInFailureRow).where(SignInFailureRow.key.in_(list(keys.values()))).values(**more))


async def forgive(tx: Transaction, keys: Mapping[str, str]) -> None:
    """It was the right password: what failed before was a slip. One try of the wider counts is taken back as well."""
    await tx.run(delete(SignInFailureRow).where(SignInFailureRow.key == keys["pair"]))
    wider = [key for kind, key in keys.items() if kind != "pair"]
    less = update(SignInFailureRow).where(SignInFailureRow.key.in_(wider))
    await tx.run(less.values(failures=SignInFailureRow.failures - 1))
    await tx.run(delete(SignInFailureRow).where(SignInFailureRow.key.in_(wider), SignInFailureRow.failures <= 0))


def _person(row: Row[Any]) -> Person:
    return Person(row.id, row.name, Role(row.role), row.must_change, row.created_at, row.signed_in_at)
