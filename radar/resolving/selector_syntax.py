"""Reading Playwright's selector strings: their parts, the engine of each, and what role= asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from radar.errors import BadLocator, Unresolvable
from radar.resolving.css_selectors import AttributeSelector


def selector_parts(selector: str) -> list[tuple[str, str]]:
    """Engine and body of each part: `css=.row >> text=Save` is [("css", ".row"), ("text", "Save")]."""
    return [_engine(part.strip()) for part in _split(selector)]


def _split(selector: str) -> Iterator[str]:
    start = at = 0
    quote = ""
    while at < len(selector):
        char = selector[at]
        if char == "\\":
            at += 2
        elif quote:
            quote = "" if char == quote else quote
            at += 1
        elif char in "\"'`" and not re.match(r"\s*text\s*=.", selector[start:at], re.DOTALL):
            quote = char
            at += 1
        elif selector.startswith(">>", at):
            yield selector[start:at]
            start = at = at + 2
        else:
            at += 1
    yield selector[start:]


def _engine(part: str) -> tuple[str, str]:
    name, equals, body = part.partition("=")
    if equals and re.fullmatch(r"[a-zA-Z_0-9\-+:*]+", name.strip()):
        return name.strip(), body
    if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'":
        return "text", part
    if re.match(r"\(*//", part) or part.startswith(".."):
        return "xpath", part
    return "css", part


_ROLE_ATTRIBUTE: Final = re.compile(
    r"""\[\s*([\w-]+)\s*(?:([*^$|~]?=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|/[^\]]*|[\w+.-]*)\s*([iIsS]?)\s*)?\]\s*"""
)


def read_role(body: str) -> tuple[str, list[AttributeSelector]]:
    """`button[name="Save"i]`: the role and its conditions.

    Raises BadLocator if Playwright could not read it, Unresolvable for a regular expression.
    """
    head = re.match(r"\s*([\w-]+)\s*", body)
    if not head:
        raise BadLocator(f"'role={body}' names no role")
    at, conditions = head.end(), []
    while at < len(body):
        found = _ROLE_ATTRIBUTE.match(body, at)
        if not found:
            raise BadLocator(f"'role={body}' cannot be read from '{body[at:]}' on")
        name, operator, value, flag = found.groups(default="")
        if value.startswith("/"):
            raise Unresolvable("a snapshot is not searched with regular expressions")
        if value[:1] in ("'", '"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        conditions.append(AttributeSelector(name, operator, value, flag in ("i", "I")))
        at = found.end()
    return head.group(1), conditions


def whole_number(text: str) -> int:
    """The number of `nth=`. Raises BadLocator if it is none."""
    try:
        return int(text)
    except ValueError:
        raise BadLocator(f"'nth={text}' needs a whole number") from None
