"""Where an element stands, told by what stands around it: nothing but names and boxes, and no other answer is needed.

A matcher that goes by sure pairs can be led astray by its own first pair: a menu that the footer repeats is found there
as a whole once one of its links is. Here every copy of a name counts as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from radar.things import Thing, View

NEAREST: Final = 4  # neighbours that are asked
ACROSS, DOWN = 150, 100  # pixels; neighbours that moved by as much are still around
FAR: Final = 150  # pixels that make one place plainly nearer than another

Shift = tuple[float, float]


class Place:
    """Two pages, and for pairs of their things who of the old neighbours came along."""

    def __init__(self, old: View, new: View) -> None:
        self._old = [(thing, _middle(old, thing)) for thing in old.things]
        self._new = [_middle(new, thing) for thing in new.things]
        self._companions = old.companions
        self._known = [at for at, (thing, _) in enumerate(self._old) if _tells(thing)]
        self._by_key: dict[str, list[int]] = {}
        for to, thing in enumerate(new.things):
            if _tells(thing):
                self._by_key.setdefault(thing.key, []).append(to)
        self._shifts = lru_cache(maxsize=256)(self._shifts_around)

    def company(self, at: int, to: int) -> float:
        """The share of what stood around the old thing that has its like around the new one, as it stood then; 0..1."""
        return _support(self._shift(at, to), self._shifts(at, to))

    def is_left_behind(self, at: int, to: int) -> bool:
        """Does most of what stood around the old thing still stand together, plainly nearer to its place than this?"""
        around = self._shifts(at, to)
        away = math.hypot(*self._shift(at, to))
        return any(
            math.hypot(*shift) + FAR < away and 2 * _support(shift, around) >= 1 for some in around for shift in some
        )

    def _shift(self, at: int, to: int) -> Shift:
        (x, y), (u, v) = self._old[at][1], self._new[to]
        return u - x, v - y

    def _shifts_around(self, at: int, to: int) -> Sequence[Sequence[Shift]]:
        """For each of the old thing's neighbours how far each copy of it stands from where it stood."""
        others = [k for k in self._known if k != at and self._companions.get(k) != at]
        others.sort(key=lambda k: math.hypot(*_between(self._old[k][1], self._old[at][1])))
        return [
            [self._shift(k, copy) for copy in self._by_key.get(self._old[k][0].key, ()) if copy != to]
            for k in others[:NEAREST]
        ]


def _tells(thing: Thing) -> bool:
    return thing.is_visible and bool(thing.key) and not thing.is_volatile and not thing.is_container


def _middle(of: View, thing: Thing) -> Shift:
    box = of.page.elements[thing.leader].box
    return box.x + box.width / 2, box.y + box.height / 2


def _between(one: Shift, other: Shift) -> Shift:
    return one[0] - other[0], one[1] - other[1]


def _support(shift: Shift, around: Sequence[Sequence[Shift]]) -> float:
    """How many neighbours have a copy that moved as far as this."""
    if not around:
        return 0.0
    near = sum(any(abs(x - shift[0]) <= ACROSS and abs(y - shift[1]) <= DOWN for x, y in some) for some in around)
    return near / len(around)
