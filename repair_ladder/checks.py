"""Does what a page shows meet the condition of a check? Pure, so that it can be tested without a browser."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl

from radar import patterns
from radar.announced import Announced
from radar.elements import fold
from repair_ladder.steps import CONDITIONS


def meets(parameters: Mapping[str, Any], seen: str | int, *, folded: bool = True) -> bool:
    """Do all conditions among the parameters hold for what was seen? Texts are compared with white space folded.

    Raises PatternTooSlow (as all that ask it do) where a regular expression is not through in time.
    """
    return all(_meets(key, parameters[key], seen, folded) for key in CONDITIONS if key in parameters)


def _meets(key: str, wanted: Any, seen: str | int, folded: bool) -> bool:
    if key in ("at_least", "at_most"):
        number = _number(seen)
        return number is not None and (number >= wanted if key == "at_least" else number <= wanted)
    got, want = str(seen), str(wanted)
    if folded and key != "matches":
        got, want = fold(got), fold(want)
    elif folded:
        got = fold(got)
    match key:
        case "equals":
            return got == want
        case "contains":
            return want in got
        case "not_contains":
            return want not in got
        case "matches":
            return patterns.found(want, got)
    raise AssertionError(key)


def _number(seen: str | int) -> float | None:
    """A number as people write it: "1,204 orders" is none, "42", " 3.5 " and "1,204" are."""
    if isinstance(seen, int):
        return seen
    text = seen.strip().replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


def describe(parameters: Mapping[str, Any]) -> str:
    """The conditions in words: `equals "42"`."""
    return " and ".join(f'{key.replace("_", " ")} "{parameters[key]}"' for key in CONDITIONS if key in parameters)


# --- what is announced: toasts, modals, the errors of fields -------------------------------------------


def announced_meets(parameters: Mapping[str, Any], one: Announced) -> bool:
    """Is the text what the conditions say? Its buttons count for neither `equals` nor `matches`, if it fits without."""
    if meets(parameters, one.text):
        return True
    return "not_contains" not in parameters and meets(parameters, one.plain)


# --- the console ---------------------------------------------------------------------------------------

LEVELS: Final = ("debug", "log", "info", "warning", "error")


def console_meets(parameters: Mapping[str, Any], level: str, text: str) -> bool:
    """Is a line of the console one of those that the check is about? A level means that one and every worse one."""
    least = parameters.get("level", "error" if parameters.get("none") else "debug")
    if LEVELS.index(level) < LEVELS.index(least):
        return False
    pattern = parameters.get("pattern")
    return (pattern is None or patterns.found(str(pattern), text)) and meets(parameters, text)


# --- requests ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request that the page made. `status` is None while there is no answer."""

    method: str
    url: str
    status: int | None
    body: str | None


def request_meets(parameters: Mapping[str, Any], seen: SeenRequest, *, base_url: str) -> bool:
    if "method" in parameters and str(parameters["method"]).upper() != seen.method.upper():
        return False
    if "url" in parameters and not address_meets(str(parameters["url"]), seen.url, base_url=base_url):
        return False
    if "status" in parameters and parameters["status"] != seen.status:
        return False
    return "body" not in parameters or _body_meets(parameters["body"], seen.body)


def address_meets(pattern: str, url: str, *, base_url: str) -> bool:
    """Is it this address? `*` stands for anything; a query or hash that the pattern does not mention plays no part."""
    address, pattern = below(base_url, url), below(base_url, pattern)
    if "#" not in pattern:
        address = address.partition("#")[0]
    if "?" not in pattern:
        address = address.partition("?")[0]
    return is_like(pattern, address)


def is_like(pattern: str, text: str) -> bool:
    """Is it the whole text, where `*` stands for anything? In one pass, however many stars there are."""
    first, *inner = pattern.split("*")
    if not inner:
        return text == first
    last = inner.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in inner:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def below(base_url: str, url: str) -> str:
    """The address without the base URL, if it lies below it; "http://shopping/" does not lie below "http://shop"."""
    rest = url.removeprefix(base_url)
    return rest if rest[:1] in ("", "/", "?", "#") else url


def _body_meets(wanted: Any, body: str | None) -> bool:
    """A text is somewhere in the body; a mapping or list is part of the JSON or, by name, of the form that was sent."""
    if isinstance(wanted, str):
        return wanted in (body or "")
    if body is None:
        return wanted is None
    try:
        sent = json.loads(body)
    except ValueError:
        sent = {name: values[0] if len(values) == 1 else values for name, values in parse_qs(body, True).items()}
        return isinstance(wanted, Mapping) and _is_part(_as_text(wanted), sent)
    return _is_part(wanted, sent)


def _is_part(wanted: Any, sent: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(sent, Mapping) and all(key in sent and _is_part(wanted[key], sent[key]) for key in wanted)
    if isinstance(wanted, list):
        if not isinstance(sent, list) or len(sent) != len(wanted):
            return False
        return all(_is_part(one, other) for one, other in zip(wanted, sent, strict=True))
    return type(wanted) is type(sent) and bool(wanted == sent)


def _as_text(value: Any) -> Any:
    """As a form sends it: numbers are texts there."""
    if isinstance(value, Mapping):
        return {key: _as_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_as_text(one) for one in value]
    return str(value)


MOST_FIELDS: Final = 100
# What is another value each time, whatever was done.
PASSING: Final = re.compile(r"csrf|xsrf|nonce|timestamp|idempotency|request_?id|trace_?id|^_|^ts$|^t$", re.IGNORECASE)
PART_NAME: Final = re.compile(rb'form-data;[^\r\n]*?\bname="([^"\r\n]*)"')


def fields_of(body: bytes, kind: str, redact: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """What the body of a request carries, by name, each with a digest: what is the same has the same one.

    JSON, forms, and uploads part by part; anything else is one nameless field. What passes (tokens against forgery,
    times) is left out. Redacted first: no digest of a secret is kept.
    """
    if not body:
        return ()
    found: list[tuple[str, object]] = []
    boundary = re.search(r'boundary="?([^";]+)', kind)
    if "multipart/" in kind and boundary:
        for part in body.split(b"--" + boundary[1].encode())[1:-1]:
            name = PART_NAME.search(part)
            found.append((name[1].decode("utf-8", "replace") if name else "", part.decode("utf-8", "replace")))
    elif "json" in kind:
        try:
            said = json.loads(body)
        except (ValueError, RecursionError):
            said = body.decode("utf-8", "replace")
        found = sorted(said.items()) if isinstance(said, dict) else [("", said)]
    elif "form-urlencoded" in kind:
        found = [(name, one) for name, one in sorted(parse_qsl(body.decode("utf-8", "replace"), True))]
    else:
        found = [("", body.decode("utf-8", "replace"))]
    kept = [(redact(str(name))[:100], value) for name, value in found if not PASSING.search(str(name))]
    told = [(name, _digest(value, redact)) for name, value in kept[:MOST_FIELDS]]
    if kept[MOST_FIELDS:]:
        told.append(("…", _digest([str(one) for one in kept[MOST_FIELDS:]], redact)))
    return tuple(told)


def _digest(value: object, redact: Callable[[str], str]) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(redact(text).encode("utf-8", "replace")).hexdigest()[:16]


# --- accessibility -------------------------------------------------------------------------------------

IMPACTS: Final = ("minor", "moderate", "serious", "critical")


def audit_holds(threshold: Any, impacts: Sequence[str]) -> bool:
    """May an audit have found this? `impacts` has one entry a rule that is broken.

    A number: so many at most. The name of an impact: none of that or worse. A mapping: so many at most of each named.
    """
    if isinstance(threshold, Mapping):
        return all(impacts.count(impact) <= most for impact, most in threshold.items())
    if isinstance(threshold, str):
        return not any(IMPACTS.index(one) >= IMPACTS.index(threshold) for one in impacts)
    return len(impacts) <= int(threshold)
