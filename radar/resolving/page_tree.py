"""The elements of a page as a tree: documents in frames, shadow roots, their order, and who has an id, class or tag.

Only how they stand to each other: what is read of them beyond that (texts, places, XML) is in the modules beside.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import Final, NamedTuple

from radar.elements import Element, PageSnapshot
from radar.resolving.unrecorded import LINE_BREAK

BUTTON_INPUTS: Final = frozenset({"submit", "button", "reset"})


class Scope(NamedTuple):
    """Where to look: below an element, or (`whole`) in the document whose root it is, the root included."""

    root: int
    whole: bool


class PageTree:
    """Which element is below which, in which document and which shadow root; all by index."""

    def __init__(self, page: PageSnapshot) -> None:
        self.elements = page.elements
        count = len(page.elements)
        self.ends = list(range(1, count + 1))  # one past the last descendant
        self.document = [0] * count  # the root of the document it is in
        self.host = [-1] * count  # whose shadow root it is in; -1: none
        self.kids: list[list[int]] = [[] for _ in range(count)]  # without shadow root and frame
        self.shadows: dict[int, list[int]] = defaultdict(list)  # host -> top elements of its shadow root
        self.frames: dict[int, int] = {}  # frame element -> root of the document in it
        for element in page.elements:
            self._place(element)
        for element in reversed(page.elements):
            if element.parent >= 0:
                self.ends[element.parent] = max(self.ends[element.parent], self.ends[element.index])
        # (document, host) -> the elements of that tree, in document order
        self.members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index in range(count):
            self.members[self.document[index], self.host[index]].append(index)
        self._orders: dict[Scope, list[int]] = {}
        self._indexes: dict[int, dict[tuple[str, str], list[int]]] = {}

    def _place(self, element: Element) -> None:
        index, parent = element.index, element.parent
        if parent < 0:
            self.document[index] = index
        elif element.edge == "frame":
            self.document[index] = index
            self.frames[parent] = index
        elif element.edge == "shadow":
            self.document[index] = self.document[parent]
            self.host[index] = parent
            self.shadows[parent].append(index)
        else:
            self.document[index] = self.document[parent]
            self.host[index] = self.host[parent]
            self.kids[parent].append(index)

    def parent(self, index: int) -> int:
        """The element or shadow host around it; -1 for the root of a document."""
        return -1 if self.document[index] == index else self.elements[index].parent

    def holds(self, scope: Scope, index: int) -> bool:
        """Is the element in scope?"""
        first = scope.root if scope.whole else scope.root + 1
        return first <= index < self.ends[scope.root] and self.document[index] == self.document[scope.root]

    def order(self, scope: Scope) -> list[int]:
        """All elements in scope, in the order Playwright counts them: each shadow root after the tree of its host."""
        order = self._orders.get(scope)
        if order is None:
            order = self._ordered(scope) if self.shadows else self._plain(scope)
            if scope.whole:  # there are as many others as elements
                self._orders[scope] = order
        return order

    def _plain(self, scope: Scope) -> list[int]:
        first = scope.root if scope.whole else scope.root + 1
        document = self.document[scope.root]
        if not self.frames:
            return list(range(first, self.ends[scope.root]))
        return [index for index in range(first, self.ends[scope.root]) if self.document[index] == document]

    def _ordered(self, scope: Scope) -> list[int]:
        first = scope.root if scope.whole else scope.root + 1
        last, document = self.ends[scope.root], self.document[scope.root]
        order: list[int] = []
        waiting = [] if scope.whole or scope.root not in self.shadows else [scope.root]
        waiting.append(self.host[scope.root])  # the tree that the scope itself is in comes first
        while waiting:
            members = self.members[document, waiting.pop()]
            here = members[bisect_left(members, first) : bisect_left(members, last)]
            order += here
            waiting += [index for index in reversed(here) if index in self.shadows]
        return order

    def having(self, document: int, key: str, value: str) -> list[int]:
        """Elements of a document by ("id" | "class" | "tag", value), in document order."""
        index = self._indexes.get(document)
        if index is None:
            index = self._indexes[document] = self._index(document)
        return index.get((key, value), [])

    def _index(self, document: int) -> dict[tuple[str, str], list[int]]:
        index: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at in sorted(self.order(Scope(document, True))):
            element = self.elements[at]
            index["tag", element.tag].append(at)
            if "id" in element.attributes:
                index["id", element.attributes["id"]].append(at)
            for name in set(element.get("class").split()):
                index["class", name].append(at)
        return index

    def by_id(self, near: int, name: str) -> int | None:
        """The element with an id in the tree that `near` is in."""
        host = self.host[near]
        same = (at for at in self.having(self.document[near], "id", name) if self.host[at] == host)
        return min(same, default=None)

    def content(self, element: Element) -> list[int | str]:
        """Its texts and children in their order, its shadow root last."""
        if is_button_input(element):
            return [element.get("value")]
        content: list[int | str] = []
        kids = self.kids[element.index]
        done = 0
        for before, piece in element.pieces:
            content += kids[done:before]
            done = max(done, before)
            if piece != LINE_BREAK:
                content.append(piece)
        content += kids[done:]
        return content + list(self.shadows.get(element.index, ()))


def is_button_input(element: Element) -> bool:
    """Is it an input whose value is shown as the text of a button?"""
    return element.tag == "input" and element.get("type").lower() in BUTTON_INPUTS
