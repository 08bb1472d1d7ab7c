"""People who sign in to the pages, what they may do, and their sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from gardener.errors import Refused

LONGEST_NAME: Final = 60
SHORTEST_PASSWORD: Final = 10  # characters
LONGEST_PASSWORD: Final = 500  # hashing a longer one would only keep the server busy
SESSION_LASTS: Final = timedelta(days=14)


class Role(StrEnum):
    MEMBER = "member"  # looks, approves, dismisses, reverts, reviews, asks for runs and repairs
    ADMIN = "admin"  # and changes projects


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    name: str
    role: Role
    must_change: bool  # the password was given to them: the first thing they do is to choose their own
    created_at: datetime
    signed_in_at: datetime | None = None

    @property
    def is_admin(self) -> bool:
        return self.role == Role.ADMIN


@dataclass(frozen=True, slots=True)
class Limit:
    """So many sign-ins may fail in a row before each further one has to wait, longer every time."""

    free: int
    first_wait: timedelta = timedelta(seconds=5)
    longest_wait: timedelta = timedelta(minutes=15)

    def wait(self, failures: int) -> timedelta:
        """How long after the last failure the next try may come."""
        beyond = failures - self.free
        if beyond < 0:
            return timedelta()
        longer: int = 2 ** min(beyond, 20)
        return min(self.first_wait * longer, self.longest_wait)


# One name from one address; one address with whatever names; one name from wherever.
LIMITS: Final = {"pair": Limit(5), "address": Limit(30), "name": Limit(100)}
FORGOTTEN_AFTER: Final = timedelta(hours=1)  # a failure so old counts no more


def read_name(text: str) -> str:
    """The name as it is stored and shown. Raises Refused."""
    name = text.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Refused(f"A name is one line of at most {LONGEST_NAME} characters.")
    if name.lower() == "gardener":
        raise Refused("'gardener' is the author of what is repaired unattended: choose another name.")
    return name


def read_password(text: str, *, name: str) -> str:
    """A password that somebody chose. Raises Refused with what is wanted."""
    if len(text) < SHORTEST_PASSWORD:
        raise Refused(f"A password has at least {SHORTEST_PASSWORD} characters; a few words in a row are easy to keep.")
    if len(text) > LONGEST_PASSWORD:
        raise Refused(f"A password has at most {LONGEST_PASSWORD} characters.")
    if text.strip().lower() == name.lower() or len(set(text)) < 4:
        raise Refused("That password is too easy to guess: take a few words that only you put side by side.")
    return text
