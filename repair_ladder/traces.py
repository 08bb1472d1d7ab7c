"""Playwright's traces, made fit to be kept: no secret, no cookie and no header that signs somebody in stays in one."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from typing import Any, Final

from radar.reading import Redact
from repair_ladder.values import HIDDEN

# Names of headers, fields and parameters whose values sign somebody in.
SENSITIVE: Final = re.compile(r"cookie|auth|token|csrf|xsrf|secret|session|api.?key|passw|signature", re.IGNORECASE)
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
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError):  # the last: encrypted, or packed in another way
        return None
    return kept.getvalue()


def _line(line: str, redact: Redact) -> str:
    try:
        said = json.loads(line)
        return json.dumps(_clean(said, redact), ensure_ascii=False)
    except ValueError:
        return redact(line)
    except RecursionError:  # a page nested so deeply that nothing reads it; the viewer does without this moment
        return ""


def _clean(value: Any, redact: Redact) -> Any:
    """In place, and without recursion: a page is nested as deeply as it likes."""
    whole = [value]
    waiting: list[tuple[Any, Any]] = [(whole, 0)]
    while waiting:
        holder, key = waiting.pop()
        one = holder[key]
        if isinstance(one, str):
            holder[key] = redact(one)
        elif isinstance(one, list):
            waiting += [(one, at) for at in range(len(one))]
        elif isinstance(one, dict):
            if "value" in one and SENSITIVE.search(str(one.get("name", ""))):
                one["value"] = HIDDEN
            if "cookies" in one:
                one["cookies"] = []
            waiting += [(one, name) for name in one]
    return whole[0]
