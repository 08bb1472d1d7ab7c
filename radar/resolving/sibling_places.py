"""Where an element stands among its siblings: for :nth-child, + and their kin."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from radar.elements import Element
from radar.errors import Unresolvable
from radar.resolving.page_tree import PageTree
from radar.resolving.unrecorded import LINE_BREAK, OTHER_ELEMENT


class SiblingPlaces:
    """Where each element stands among its siblings, with those that are not recorded counted."""

    def __init__(self, tree: PageTree) -> None:
        count = len(tree.elements)
        self.position = [1] * count  # counted from 1
        self.following = [0] * count  # how many come after it
        self.previous = [-1] * count  # the recorded sibling before it; -1: none
        self._tree = tree
        for element in tree.elements:
            if tree.kids[element.index]:
                self._count(tree.kids[element.index], _skipped(element))
            if element.index in tree.shadows:
                self._count(tree.shadows[element.index], [])

    def _count(self, kids: list[int], skipped: list[int]) -> None:
        total = len(kids) + len(skipped)
        for number, kid in enumerate(kids):
            self.position[kid] = number + 1 + bisect_right(skipped, number)
            self.following[kid] = total - self.position[kid]
            self.previous[kid] = kids[number - 1] if number else -1

    def check(self, index: int) -> None:
        """Raises Unresolvable directly in a shadow root: its own style and script elements are not recorded."""
        if self._tree.elements[index].edge == "shadow":
            raise Unresolvable("the snapshot does not tell the place of an element directly in a shadow root")

    def siblings(self, index: int) -> Sequence[int]:
        """The recorded ones in their order, itself included."""
        parent = self._tree.parent(index)
        if parent < 0:
            return (index,)
        return self._tree.shadows[parent] if self._tree.elements[index].edge == "shadow" else self._tree.kids[parent]


def _skipped(element: Element) -> list[int]:
    """For each child that is not recorded, how many recorded ones stand before it."""
    return [before for before, piece in element.pieces if piece in (OTHER_ELEMENT, LINE_BREAK)]
