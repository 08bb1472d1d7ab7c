"""Door to Argon2: passwords are kept as hashes only. Hashing takes a moment on purpose: call these in a thread."""

from __future__ import annotations

import secrets
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# Without what is easily taken for something else when it is copied from a terminal.
LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"

_HASHER: Final = PasswordHasher()


def hashed(password: str) -> str:
    return _HASHER.hash(password)


def fits(password: str, kept: str | None) -> bool:
    """Is it the password of that hash? Takes as long without one, so that nobody learns which names there are."""
    try:
        _HASHER.verify(kept or _nobodys(), password)
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None


def one_time() -> str:
    """A password for somebody to sign in once and choose their own; 98 bits."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(5)) for _ in range(4))


@cache
def _nobodys() -> str:
    return _HASHER.hash(secrets.token_hex())
