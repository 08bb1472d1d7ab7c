"""Reading a CSS selector, Playwright's own pseudo-classes included."""

from __future__ import annotations

import re
from typing import Any, Final

from radar.errors import BadLocator, Unresolvable
from radar.resolving.css_selectors import (
    PLACE_PSEUDOS,
    SCOPE_COMPOUND,
    AttributeSelector,
    ComplexSelector,
    CompoundSelector,
    NthPlace,
    SelectorList,
)
from radar.resolving.css_tokens import Token, tokens
from radar.resolving.selector_syntax import whole_number

# In HTML the values of these match in any case, whatever the selector says.
CASELESS_ATTRIBUTES: Final = frozenset(
    "accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir "
    "direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref "
    "noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype "
    "vlink".split()
)
_SELECTOR_FUNCTIONS: Final = frozenset({"not", "is", "where", "has"})
_TEXT_FUNCTIONS: Final = frozenset({"text", "text-is", "has-text"})
_NTH: Final = re.compile(r"([+-]?\d*)n\s*(?:([+-])\s*(\d+))?|([+-]?\d+)", re.IGNORECASE)


def read_css(source: str) -> SelectorList:
    """Raises BadLocator if no browser could read it, Unresolvable for what is not known here."""
    return _CssReader(source).read()


class _CssReader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = list(tokens(source))
        self.at = 0

    def read(self) -> SelectorList:
        selectors = self._list()
        if self._now.type != "EOF":
            raise self._unexpected()
        return selectors

    @property
    def _now(self) -> Token:
        return self.tokens[self.at]

    def _unexpected(self) -> BadLocator:
        what = "its end" if self._now.type == "EOF" else repr(self._now.value)
        return BadLocator(f"the CSS selector {self.source!r} cannot be read: {what} is not expected there")

    def _skip_blanks(self) -> bool:
        before = self.at
        while self._now.type == "S":
            self.at += 1
        return self.at > before

    def _take(self, *delimiters: str) -> str:
        if not self._now.is_delim(*delimiters):
            return ""
        self.at += 1
        return self.tokens[self.at - 1].value

    def _expect(self, delimiter: str) -> None:
        if not self._take(delimiter):
            raise self._unexpected()

    def _text(self, kind: str) -> str:
        if self._now.type != kind:
            raise self._unexpected()
        self.at += 1
        return self.tokens[self.at - 1].value

    def _list(self) -> SelectorList:
        selectors = [self._complex()]
        while self._take(","):
            selectors.append(self._complex())
        return tuple(selectors)

    def _complex(self) -> ComplexSelector:
        self._skip_blanks()
        steps: list[tuple[str, CompoundSelector]] = []
        combinator = self._take(">", "+", "~")
        if combinator:  # a relative selector is relative to the scope
            steps.append(("", SCOPE_COMPOUND))
            self._skip_blanks()
        steps.append((combinator, self._compound()))
        while True:
            is_blank = self._skip_blanks()
            combinator = self._take(">", "+", "~")
            if not combinator and (not is_blank or self._now.type == "EOF" or self._now.is_delim(",", ")")):
                break
            self._skip_blanks()
            steps.append((combinator or " ", self._compound()))
        if len(steps) > 100:
            raise Unresolvable("a CSS selector of more than a hundred steps is not read")
        return ComplexSelector(tuple(steps))

    def _compound(self) -> CompoundSelector:
        tag, attributes, pseudos = "", list[AttributeSelector](), list[tuple[str, Any]]()
        start = self.at
        if self._now.type == "IDENT":
            tag = self._text("IDENT").lower()
        else:
            self._take("*")
        if self._now.is_delim("|"):
            raise Unresolvable("namespaces in CSS are not answered from a snapshot")
        while True:
            if self._now.type == "HASH":
                attributes.append(AttributeSelector("id", "=", self._id()))
            elif self._take("."):
                attributes.append(AttributeSelector("class", "~=", self._text("IDENT")))
            elif self._take("["):
                attributes.append(self._attribute())
            elif self._take(":"):
                pseudos.append(self._pseudo())
            else:
                break
        if self.at == start:
            raise self._unexpected()
        return CompoundSelector(tag, tuple(attributes), tuple(pseudos))

    def _id(self) -> str:
        if re.match(r"#-?\d", self.source[self._now.pos :]):
            raise BadLocator(f"the CSS selector {self.source!r} cannot be read: an id's first digit must be escaped")
        return self._text("HASH")

    def _attribute(self) -> AttributeSelector:
        self._skip_blanks()
        name = self._text("IDENT").lower()
        self._skip_blanks()
        if self._take("]"):
            return AttributeSelector(name)
        operator = self._take("=", "~", "|", "^", "$", "*")
        if operator != "=":
            self._expect("=")
            operator += "="
        self._skip_blanks()
        value = self._text("STRING" if self._now.type == "STRING" else "IDENT")
        self._skip_blanks()
        flag = self._text("IDENT").lower() if self._now.type == "IDENT" else ""
        if flag not in ("", "i", "s"):
            raise self._unexpected()
        self._skip_blanks()
        self._expect("]")
        return AttributeSelector(name, operator, value, flag == "i" or (not flag and name in CASELESS_ATTRIBUTES))

    def _pseudo(self) -> tuple[str, Any]:
        if self._take(":"):
            raise Unresolvable("pseudo-elements are no elements of a snapshot")
        name = self._text("IDENT").lower()
        if not self._take("("):
            return name, None
        if name in _SELECTOR_FUNCTIONS:
            argument: Any = self._list()
        elif name == "nth-match":
            argument = self._nth_match()
        elif name in _TEXT_FUNCTIONS:
            self._skip_blanks()
            argument = self._text("STRING")
        else:
            raw = self._raw()
            return name, _read_nth(name, raw) if name in PLACE_PSEUDOS else raw
        self._skip_blanks()
        self._expect(")")
        return name, argument

    def _nth_match(self) -> tuple[SelectorList, int]:
        selectors: list[ComplexSelector] = []
        while True:
            self._skip_blanks()
            if selectors and self._now.type == "NUMBER":
                return tuple(selectors), whole_number(self._text("NUMBER"))
            selectors.append(self._complex())
            self._expect(",")

    def _raw(self) -> str:
        """The text up to the bracket that closes this one."""
        start, depth = self._now.pos, 1
        while depth:
            if self._now.type == "EOF":
                raise self._unexpected()
            depth += self._now.is_delim("(") - self._now.is_delim(")")
            self.at += 1
        return self.source[start : self.tokens[self.at - 1].pos].strip()


def _read_nth(name: str, argument: str) -> NthPlace:
    formula, _, rest = argument.partition(" of ")
    of = read_css(rest) if rest.strip() else ()
    formula = {"odd": "2n+1", "even": "2n"}.get(formula.strip().lower(), formula.strip())
    found = _NTH.fullmatch(formula)
    if not found:
        raise BadLocator(f"':{name}({argument})' cannot be read")
    factor, sign, number, alone = found.groups()
    if alone is not None:
        return NthPlace(0, int(alone), of)
    step = int(f"{factor}1") if factor in ("", "+", "-") else int(factor)
    return NthPlace(step, int(f"{sign or ''}{number or 0}"), of)
