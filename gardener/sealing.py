"""Secrets at rest: sealed with a key from GARDENER_SECRET_KEY, or from a key file in the data folder."""

from __future__ import annotations

import base64
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gardener.errors import BadSetting
from gardener.settings import Settings

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

KEY_FILE: Final = "secret.key"
OLD_KEY_FILE: Final = "secret.key.old"
# Binds what is derived to this use: the same text elsewhere gives another key.
PURPOSE: Final = b"drift gardener: secrets at rest, 1"


class Sealer:
    """`seal` makes a token that can be stored anywhere; `unseal` needs the same key and notices any change.

    What is sealed for a `purpose`, such as one secret of one project, is unsealed for that purpose alone: a row that
    was copied to another place in the database cannot be read there.
    """

    def __init__(self, key: str, *older: str) -> None:
        self._keys = (key, *older)

    def seal(self, text: str, purpose: str = "") -> str:
        return self._fernet(purpose).encrypt(text.encode()).decode()

    def unseal(self, token: str, purpose: str = "") -> str:
        """Raises BadSetting where another key or another purpose sealed it, or it was changed."""
        # It takes a tenth of a second to import, and most commands seal nothing.
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet(purpose).decrypt(token.encode()).decode()
        except InvalidToken:
            raise BadSetting(
                "a stored secret cannot be read with this key: set GARDENER_SECRET_KEY to the one that it was sealed "
                f"with, put the {KEY_FILE} of the data folder back, or enter the secret again"
            ) from None

    def _fernet(self, purpose: str) -> MultiFernet:
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(_derived(key, purpose)) for key in self._keys])

    def __repr__(self) -> str:
        return "Sealer(…)"


def sealer_of(settings: Settings) -> Sealer:
    """Seals with the setting where there is one, else with the key file, which is made at first use (mode 0600).

    What an older key has sealed can still be unsealed: GARDENER_SECRET_KEY_OLD, the old key file beside the new one,
    and the key file where there is a setting now. Raises BadSetting for a key file that others may read or that cannot
    be made.
    """
    file, old_file = settings.data_dir / KEY_FILE, settings.data_dir / OLD_KEY_FILE
    older = [settings.secret_key_old] if settings.secret_key_old else []
    older += [_read(old_file)] if old_file.exists() else []
    if settings.secret_key:
        older += [_read(file)] if file.exists() else []
        return Sealer(settings.secret_key, *older)
    if not file.exists():
        _make(file)
    return Sealer(_read(file), *older)


def _derived(text: str, purpose: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = PURPOSE + (b"\0" + purpose.encode() if purpose else b"")
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(text.encode())
    return base64.urlsafe_b64encode(key)


def _make(file: Path) -> None:
    """Of several processes at once one makes it, whole before any other sees it."""
    fresh = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as out:
                out.write(secrets.token_urlsafe(48) + "\n")
                out.flush()
                os.fsync(out.fileno())
            with suppress(FileExistsError):
                os.link(fresh, file)
        finally:
            fresh.unlink()
    except OSError as error:
        raise BadSetting(
            f"the key file '{file}' cannot be made: {error.strerror or error}; give the data folder to the user who "
            "runs this, or set GARDENER_SECRET_KEY"
        ) from None


def _read(file: Path) -> str:
    try:
        if stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise BadSetting(
                f"the key file '{file}' may be read by others: chmod 600 it, or set GARDENER_SECRET_KEY instead"
            )
        text = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"the key file '{file}' cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(text) < 32:
        raise BadSetting(f"the key file '{file}' is damaged: put the one from your backup in its place")
    return text
