"""The text of every element as a page holds it, and regular expressions tried on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import regex

from radar.elements import LONGEST_TEXT
from radar.errors import BadPattern, Unresolvable
from radar.locators import pattern
from radar.patterns import bounded
from radar.resolving.page_tree import PageTree

LONGEST_SEARCH_S: Final = 0.05  # a regular expression that takes longer for one text is a mistake or an attack


class RawTexts:
    """The text of every element as a page holds it, white space and all: what regular expressions are tried on.

    Two things are not recorded: which white space stands in a text of nothing else, and the end of a very long text.
    Where the first decides, and wherever the second stands, a snapshot cannot answer.
    """

    def __init__(self, tree: PageTree) -> None:
        self._tree = tree
        count = len(tree.elements)
        self._starts, self._stops = [0] * count, [0] * count
        self._parts: list[tuple[int, str]] = []
        self._length = 0
        for root in [0, *tree.frames.values()]:
            self._read(root)
        self.is_cut = any(len(part) >= LONGEST_TEXT for _, part in self._parts)
        self._text = "".join(part for _, part in self._parts)
        # A second reading of equal length, in which texts of nothing but white space are a line's end.
        self._other = "".join("\n" if part == " " else part for _, part in self._parts)
        self._known: dict[str, Callable[[int], bool]] = {}

    def _read(self, root: int) -> None:
        waiting: list[int | str] = [root]
        while waiting:
            now = waiting.pop()
            if isinstance(now, str):
                self._parts.append((self._length, now))
                self._length += len(now)
            elif now < 0:
                self._stops[~now] = self._length
            else:
                self._starts[now] = self._length
                waiting.append(~now)
                waiting.extend(reversed(self._tree.content(self._tree.elements[now])))

    def search(self, text: str) -> Callable[[int], bool]:
        """Does the whole text of an element hold a match? Raises Unresolvable, also when it is called."""
        if text not in self._known:
            if self.is_cut:
                raise Unresolvable("a snapshot does not hold the whole of its texts")
            matches, answers = searcher(text), dict[int, bool]()

            def test(index: int) -> bool:
                if index not in answers:
                    answers[index] = self._has(matches, self._starts[index], self._stops[index])
                return answers[index]

            self._known[text] = test
        return self._known[text]

    def shadow_has(self, host: int, text: str) -> bool:
        """Does the text in the shadow root of `host` hold a match? False if it has none. Raises Unresolvable."""
        top = self._tree.shadows.get(host)
        return top is not None and self._has(searcher(text), self._starts[top[0]], self._stops[host])

    def _has(self, matches: Callable[[str], bool], start: int, stop: int) -> bool:
        one, other = matches(self._text[start:stop]), matches(self._other[start:stop])
        if one != other:
            raise Unresolvable("a snapshot does not tell which white space stands in a text")
        return one


def searcher(text: str) -> Callable[[str], bool]:
    """Does a text hold a match of this regular expression, `/save/i` or its bare source?

    Raises BadLocator or Unresolvable; when it is called, Unresolvable for one that takes too long or that browsers may
    read otherwise.
    """
    compiled = pattern(text)
    flags = compiled.flags & (re.IGNORECASE | re.DOTALL | re.MULTILINE)
    try:
        both = [bounded(compiled.pattern, int(flags) | kind) for kind in (regex.UNICODE, regex.ASCII)]
    except BadPattern as error:
        raise Unresolvable(f"{text!r} is not answered from a snapshot: {error}") from None

    def test(own: str) -> bool:
        try:
            one, other = (fast.search(own, timeout=LONGEST_SEARCH_S) is not None for fast in both)
        except TimeoutError:
            raise Unresolvable(f"the regular expression {text!r} takes too long") from None
        # What counts as a letter, a digit or the other case beyond ASCII is not quite the same in a browser.
        if one != other:
            raise Unresolvable(f"a browser may read the regular expression {text!r} otherwise here")
        return one

    return test


def is_about_blanks(text: str) -> bool:
    """May white space, or where a text ends, decide whether this regular expression matches?"""
    return re.search(r"[\s^$.]|\\[sSwWbBdD]|\[\^", text) is not None
