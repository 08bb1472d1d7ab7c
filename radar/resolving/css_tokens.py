"""The words of a CSS selector, as the CSS standard cuts its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from radar.errors import BadLocator

_CSS_CHAR: Final = r"(?:[\w-]|[^\x00-\x7f]|\\(?:[0-9a-fA-F]{1,6}\s?|[^\n\r\f0-9a-fA-F]))"
_CSS_TOKENS: Final = re.compile(
    rf"""(?P<S>\s+)|(?P<COMMENT>/\*.*?(?:\*/|\Z))|(?P<NUMBER>[+-]?(?:\d*\.)?\d+)|(?P<IDENT>(?:--|-?(?!\d|-){_CSS_CHAR})
    {_CSS_CHAR}*)|\#(?P<HASH>{_CSS_CHAR}+)|"(?P<STRING>(?:[^"\\\n]|\\.)*)"|'(?P<SINGLE>(?:[^'\\\n]|\\.)*)'|(?P<DELIM>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|\s)?|\n|(.))", re.DOTALL)


class Token(NamedTuple):
    """One word; `value` is without quotes, `#` and escapes, `pos` is where it begins in the source."""

    type: str  # "S" for blanks, "IDENT", "HASH", "STRING", "NUMBER", "DELIM" for one character, "EOF"
    value: str
    pos: int

    def is_delim(self, *values: str) -> bool:
        return self.type == "DELIM" and self.value in values


def tokens(source: str) -> Iterator[Token]:
    """All words but comments, an "EOF" last. Raises BadLocator for a string that does not end."""
    for found in _CSS_TOKENS.finditer(source):
        kind, value = str(found.lastgroup), found.group(str(found.lastgroup))
        if kind == "DELIM" and value in ('"', "'"):
            raise BadLocator(f"the CSS selector {source!r} cannot be read: a string in it does not end")
        if kind in ("IDENT", "HASH", "STRING", "SINGLE"):
            value = _CSS_ESCAPE.sub(_unescaped, value)
        if kind != "COMMENT":
            yield Token("STRING" if kind == "SINGLE" else kind, value, found.start())
    yield Token("EOF", "", len(source))


def _unescaped(found: re.Match[str]) -> str:
    code, char = found.groups()
    if code is None:
        return char or ""
    number = int(code, 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
