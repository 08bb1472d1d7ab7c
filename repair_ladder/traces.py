"""Playwright's traces, made fit to be kept: no secret, no cookie and no header that signs somebody in stays in one."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, Final

from radar.reading import Redact
from repair_ladder.values import HIDDEN

SENSITIVE: Final = frozenset(
    {"cookie", "set-cookie", "authorization", "proxy-authorization", "x-csrf-token", "x-api-key"}
)
LARGEST: Final = 50_000_000  # bytes of one trace, unpacked; a larger one is not kept
TEXTS: Final = (".trace", ".network", ".stacks", ".json", ".html", ".css", ".js", ".txt", ".svg", ".xml")


def redacted(packed: bytes, redact: Redact, *, with_secrets: bool) -> bytes | None:
    """The trace with every text of it redacted; None if it is too large or not a trace.

    With secrets in play, what is no text (pictures, fonts, files of unknown kind) is left out: nobody can tell what it
    shows.
    """
    kept = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as new:
            if sum(one.file_size for one in old.infolist()) > LARGEST:
                return None
            for name in old.namelist():
                body = old.read(name)
                if name.endswith((".trace", ".network")):
                    new.writestr(
                        name, "\n".join(_line(one, redact) for one in body.decode("utf-8", "replace").split("\n"))
                    )
                elif name.endswith(TEXTS):
                    new.writestr(name, redact(body.decode("utf-8", "replace")))
                elif not with_secrets:
                    new.writestr(name, body)
    except zipfile.BadZipFile:
        return None
    return kept.getvalue()


def _line(line: str, redact: Redact) -> str:
    try:
        said = json.loads(line)
    except ValueError:
        return redact(line)
    return json.dumps(_clean(said, redact), ensure_ascii=False)


def _clean(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_clean(one, redact) for one in value]
    if isinstance(value, dict):
        if str(value.get("name", "")).lower() in SENSITIVE and "value" in value:
            return value | {"value": HIDDEN}
        return {key: [] if key == "cookies" else _clean(one, redact) for key, one in value.items()}
    return value
