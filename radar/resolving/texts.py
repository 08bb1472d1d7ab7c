"""The text of every element as Playwright compares it: white space folded, invisible characters dropped."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from radar.elements import Element
from radar.resolving.page_tree import PageTree, is_button_input
from radar.resolving.unrecorded import LINE_BREAK, OTHER_ELEMENT

_BLANKS: Final = re.compile("[\\t\\n\\v\\f\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_INVISIBLE: Final = re.compile("[\u200b\u00ad]")


def fold_js(text: str) -> str:
    """White space folded and invisible characters dropped as Playwright does before it compares texts."""
    return _BLANKS.sub(" ", _INVISIBLE.sub("", text)).strip(" ")


def lowered(text: str) -> str:
    """In lower case and as long as before, so that places in both are the same."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


class Texts:
    """The text of every element as a part of one long string: on a deep page they would not fit beside each other.

    Playwright reads all text nodes, hidden ones too, light tree before shadow root, the value of a button, and folds
    white space. In the long string it is folded already; a part cut from it only needs trimming.
    """

    def __init__(self, tree: PageTree) -> None:
        self._tree = tree
        count = len(tree.elements)
        self._starts, self._stops = [0] * count, [0] * count
        self.text, self.lower = "", ""
        for root in [0, *tree.frames.values()]:
            self._read(root)
        self._found: dict[str, list[int]] = {}

    def _read(self, root: int) -> None:
        parts: list[str] = [self.text]
        length, is_blank = len(self.text), True
        waiting: list[int | str] = [root]
        while waiting:
            now = waiting.pop()
            if isinstance(now, str):
                part = _BLANKS.sub(" ", _INVISIBLE.sub("", now))
                if is_blank and part.startswith(" "):
                    part = part[1:]
                if part:
                    parts.append(part)
                    length += len(part)
                    is_blank = part.endswith(" ")
            elif now < 0:
                self._stops[~now] = length
            else:
                self._starts[now] = length
                waiting.append(~now)
                waiting.extend(reversed(self._tree.content(self._tree.elements[now])))
        self.text = "".join(parts)
        self.lower = lowered(self.text)

    def whole(self, index: int) -> str:
        """All text in the element, folded."""
        return self.text[self._starts[index] : self._stops[index]].strip(" ")

    def _in(self, start: int, stop: int, needle: str) -> bool:
        places = self._places(needle)
        at = bisect_left(places, start)
        return at < len(places) and places[at] + len(needle) <= stop

    def _places(self, needle: str) -> list[int]:
        places = self._found.get(needle)
        if places is None:
            places = self._found[needle] = []
            at = self.lower.find(needle)
            while at >= 0:
                places.append(at)
                at = self.lower.find(needle, at + 1)
        return places

    def contains(self, index: int, needle: str) -> bool:
        """Does its text contain this one, in any case? The needle is folded and in lower case."""
        return not needle or self._in(self._starts[index], self._stops[index], needle)

    def shadow_contains(self, host: int, needle: str) -> bool:
        """As `contains`, of what is in its shadow root; False if it has none."""
        top = self._tree.shadows.get(host)
        return top is not None and (not needle or self._in(self._starts[top[0]], self._stops[host], needle))

    def shadow_is(self, host: int, text: str) -> bool:
        """Is this folded text all there is in its shadow root? False if it has none."""
        top = self._tree.shadows.get(host)
        return top is not None and self.text[self._starts[top[0]] : self._stops[host]].strip(" ") == text

    def immediate(self, element: Element) -> list[str]:
        """Its own texts, each between two elements, folded."""
        if is_button_input(element):
            return [fold_js(element.get("value"))]
        runs: list[tuple[int, str]] = []
        is_cut = True
        for before, piece in element.pieces:
            if piece in (OTHER_ELEMENT, LINE_BREAK):
                is_cut = True
            elif is_cut or runs[-1][0] != before:
                runs.append((before, piece))
                is_cut = False
            else:
                runs[-1] = (before, runs[-1][1] + piece)
        return [fold_js(text) for _, text in runs]
