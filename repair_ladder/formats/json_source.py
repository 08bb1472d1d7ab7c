"""JSON of which every object knows its line, read within bounds; for formats whose errors name a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from json import JSONDecodeError, decoder
from typing import Any, Final

from repair_ladder.errors import BadTest
from repair_ladder.formats.gathering import check_text, quote

DEEPEST: Final = 60
MOST_VALUES: Final = 400_000
BLANKS: Final = re.compile(r"[ \t\n\r]*")
NUMBER: Final = re.compile(r"(-?(?:0|[1-9]\d{0,40}))(\.\d{1,40})?([eE][-+]?\d{1,3})?(?![\d.])", re.ASCII)
WORDS: Final = {"true": True, "false": False, "null": None}
WORD: Final = re.compile("true|false|null")
HALF: Final = re.compile("[\ud800-\udfff]")


_scan: Final[Callable[[str, int, bool], tuple[str, int]]] = decoder.scanstring  # type: ignore[attr-defined]


class Object(dict[str, Any]):
    """A JSON object with the line it begins on."""

    line: int = 1


def parse(text: str, where: str) -> Any:
    """The document as dicts (`Object`), lists, texts, numbers, booleans and None. Raises BadTest with the line."""
    check_text(text, where)
    return _Reader(text.removeprefix("\ufeff"), where).document()


def line_of(value: object, otherwise: int = 1) -> int:
    return value.line if isinstance(value, Object) else otherwise


class _Reader:
    def __init__(self, text: str, where: str) -> None:
        self.text, self.where = text, where
        self.at = self.count = 0
        self.ends = [found.end() for found in re.finditer("\n", text)]

    def line(self, at: int) -> int:
        return bisect_right(self.ends, at) + 1

    def bad(self, what: str) -> BadTest:
        return BadTest(f"{self.where}:{self.line(self.at)}: not JSON: {what}")

    def skip(self) -> str:
        """The next character that is no blank; "" at the end."""
        found = BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def document(self) -> Any:
        value = self.value(0)
        if self.skip():
            raise self.bad(f"something follows the end: '{quote(self.text[self.at : self.at + 20])}'")
        return value

    def value(self, depth: int) -> Any:
        self.count += 1
        if self.count > MOST_VALUES:
            raise self.bad(f"more than {MOST_VALUES} values")
        if depth > DEEPEST:
            raise self.bad(f"nested more than {DEEPEST} deep")
        char = self.skip()
        if char == "{":
            return self.object(depth)
        if char == "[":
            return self.array(depth)
        if char == '"':
            return self.string()
        number = NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return float(number.group()) if number[2] or number[3] else int(number.group())
        word = WORD.match(self.text, self.at)
        if word:
            self.at = word.end()
            return WORDS[word.group()]
        raise self.bad(
            f"expected a value, got '{quote(self.text[self.at : self.at + 20])}'" if char else "it ends early"
        )

    def string(self) -> str:
        text: str
        try:
            text, self.at = _scan(self.text, self.at + 1, True)
        except JSONDecodeError as error:
            self.at = error.pos
            raise self.bad(error.msg) from None
        if HALF.search(text):
            raise self.bad(r"half a character (a lone \ud800 to \udfff) in a text")
        return text

    def array(self, depth: int) -> list[Any]:
        values: list[Any] = []
        self.at += 1
        if self.skip() == "]":
            self.at += 1
            return values
        while True:
            values.append(self.value(depth + 1))
            if not self.goes_on("]"):
                return values

    def object(self, depth: int) -> Object:
        made = Object()
        made.line = self.line(self.at)
        self.at += 1
        if self.skip() == "}":
            self.at += 1
            return made
        while True:
            if self.skip() != '"':
                raise self.bad("expected a key in double quotes")
            key = self.string()
            if key in made:
                raise self.bad(f"'{quote(key)}' stands here twice")
            if self.skip() != ":":
                raise self.bad(f"expected ':' after '{quote(key)}'")
            self.at += 1
            made[key] = self.value(depth + 1)
            if not self.goes_on("}"):
                return made

    def goes_on(self, end: str) -> bool:
        char = self.skip()
        if char not in (",", end) or not char:
            raise self.bad(f"expected ',' or '{end}'" if char else "it ends early")
        self.at += 1
        return char == ","
