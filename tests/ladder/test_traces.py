"""repair_ladder/traces.py: what is kept of a trace shows no secret and lets nobody in."""

from __future__ import annotations

import io
import json
import zipfile

from repair_ladder.traces import redacted
from repair_ladder.values import redactor

LINE = {
    "request": {
        "url": "http://shop/?q=hush%20hush",
        "headers": [{"name": "Cookie", "value": "session=abc"}, {"name": "accept", "value": "*/*"}],
        "cookies": [{"name": "session", "value": "abc"}],
        "text": 'say "hush hush"',
    }
}


def packed(**files: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in files.items():
            archive.writestr(name.replace("__", "."), body)
    return out.getvalue()


def unpacked(body: bytes | None) -> dict[str, bytes]:
    assert body is not None
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_secrets_cookies_and_signing_headers_are_taken_out() -> None:
    body = packed(
        a__network=json.dumps(LINE) + "\n", b__trace="no JSON hush hush", c__html="<p>hush hush", d__jpeg=b"\xff"
    )

    seen = unpacked(redacted(body, redactor(["hush hush"]), with_secrets=True))

    everything = b"".join(seen.values())
    assert b"hush" not in everything
    assert b"abc" not in everything
    request = json.loads(seen["a.network"].split(b"\n")[0])["request"]
    assert request["headers"][1] == {"name": "accept", "value": "*/*"}
    assert "d.jpeg" not in seen


def test_without_secrets_pictures_stay_and_cookies_do_not() -> None:
    seen = unpacked(redacted(packed(a__network=json.dumps(LINE), d__jpeg=b"\xff"), redactor([]), with_secrets=False))

    assert seen["d.jpeg"] == b"\xff"
    assert b"abc" not in seen["a.network"]


def test_what_is_no_trace_is_not_kept() -> None:
    assert redacted(b"PK nonsense", redactor([]), with_secrets=False) is None
