"""People -> the rows of their page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gardener.people import Person, Role
from web.presenters.words import Badge

ROLES: Final = {
    Role.ADMIN: Badge("admin", "calm", "Changes projects, settings and people."),
    Role.MEMBER: Badge("member", "quiet", "Looks, decides about repairs, asks for runs."),
}
ROLE_WORDS: Final = {Role.ADMIN: "an admin", Role.MEMBER: "a member"}


@dataclass(frozen=True, slots=True)
class PersonRow:
    id: int
    name: str
    role: Badge
    other_role: str
    must_change: bool
    signed_in_at: datetime | None
    is_you: bool


def row(person: Person, *, you: int) -> PersonRow:
    return PersonRow(
        person.id,
        person.name,
        ROLES[person.role],
        (Role.MEMBER if person.is_admin else Role.ADMIN).value,
        person.must_change,
        person.signed_in_at,
        person.id == you,
    )
