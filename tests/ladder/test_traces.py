"""repair_ladder/traces.py: what is kept of a trace shows no secret and lets nobody in."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

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


@pytest.mark.parametrize("depth", [100, 512, 700, 20_000])
def test_a_page_nested_as_deeply_as_it_likes_leaves_a_trace(depth: int) -> None:
    """A page of 512 elements in one another, which is what Chromium's parser takes, ended the run with an error."""
    line = '{"snapshot":' + '["DIV",{},' * depth + '"hush hush"' + "]" * depth + "}"

    seen = unpacked(
        redacted(packed(a__trace=f'{line}\n{{"type":"after"}}'), redactor(["hush hush"]), with_secrets=True)
    )

    assert b"hush" not in seen["a.trace"]
    assert json.loads(seen["a.trace"].split(b"\n")[1]) == {"type": "after"}
    assert (b"[hidden]" in seen["a.trace"]) == (depth < 1000)


@pytest.mark.parametrize("name", ["X-Auth-Token", "X-XSRF-TOKEN", "authorization", "Set-Cookie", "api_key", "password"])
def test_whatever_signs_somebody_in_is_hidden_by_its_name(name: str) -> None:
    line = json.dumps({"headers": [{"name": name, "value": "abc"}, {"name": "accept", "value": "xyz"}]})

    seen = unpacked(redacted(packed(a__network=line), redactor([]), with_secrets=False))["a.network"]

    assert b"abc" not in seen
    assert b"xyz" in seen


def test_a_trace_that_is_damaged_inside_is_not_kept() -> None:
    body = bytearray(packed(a__trace="x" * 2000))
    body[40:60] = b"\xff" * 20

    assert redacted(bytes(body), redactor([]), with_secrets=False) is None
