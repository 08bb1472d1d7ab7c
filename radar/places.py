"""Where an element stands, told by what stands around it: nothing but names and boxes, and no other answer is needed.

A matcher that goes by sure pairs can be led astray by its own first pair: a menu that the footer repeats is found there
as a whole once one of its links is. Here every copy of a name counts as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from radar.things import Thing, View

NEAREST: Final = 4  # neighbours that are asked
ACROSS, DOWN = 150, 100  # pixels; neighbours that moved by as much are still around
FAR: Final = 150  # pixels that make one place plainly nearer than another

Shifts = npt.NDArray[np.float64]  # rows of pixels across and down


class Place:
    """Two pages, and for pairs of their things who of the old neighbours came along."""

    def __init__(self, old: View, new: View) -> None:
        self._old, self._new = _middles(old), _middles(new)
        self._keys = [thing.key for thing in old.things]
        self._companions = old.companions
        self._known = np.array([at for at, thing in enumerate(old.things) if _tells(thing)], np.intp)
        self._by_key: dict[str, list[int]] = {}
        for to, thing in enumerate(new.things):
            if _tells(thing):
                self._by_key.setdefault(thing.key, []).append(to)
        self._nearest: dict[int, Sequence[int]] = {}

    def company(self, at: int, to: int) -> float:
        """The share of what stood around the old thing that has its like around the new one, as it stood then; 0..1."""
        return float(_support((self._new[to] - self._old[at])[None, :], self._around(at, to))[0])

    def is_left_behind(self, at: int, to: int) -> bool:
        """Does most of what stood around the old thing still stand together, plainly nearer to its place than this?"""
        around = self._around(at, to)
        others = np.concatenate(around) if around else np.zeros((0, 2))
        away = np.hypot(*(self._new[to] - self._old[at]))
        nearer = others[np.hypot(others[:, 0], others[:, 1]) + FAR < away]
        return bool(len(nearer)) and bool((2 * _support(nearer, around) >= 1).any())

    def _around(self, at: int, to: int) -> Sequence[Shifts]:
        """For each of the old thing's neighbours how far each copy of it stands from where it stood."""
        if at not in self._nearest:
            self._nearest[at] = self._neighbours(at)
        around = []
        for k in self._nearest[at]:
            copies = [copy for copy in self._by_key.get(self._keys[k], ()) if copy != to]
            around.append(self._new[copies] - self._old[k])
        return around

    def _neighbours(self, at: int) -> Sequence[int]:
        away = self._old[self._known] - self._old[at]
        order = np.argsort(away[:, 0] ** 2 + away[:, 1] ** 2, kind="stable")
        others = (int(k) for k in self._known[order[: NEAREST + 4]])
        return [k for k in others if k != at and self._companions.get(k) != at][:NEAREST]


def _tells(thing: Thing) -> bool:
    return thing.is_visible and bool(thing.key) and not thing.is_volatile and not thing.is_container


def _middles(of: View) -> Shifts:
    boxes = [of.page.elements[thing.leader].box for thing in of.things]
    return np.array([(b.x + b.width / 2, b.y + b.height / 2) for b in boxes], np.float64).reshape(-1, 2)


def _support(shifts: Shifts, around: Sequence[Shifts]) -> npt.NDArray[np.float64]:
    """For each shift the share of neighbours that have a copy which moved as far."""
    if not around:
        return np.zeros(len(shifts))
    count = np.zeros(len(shifts))
    for some in around:
        away = np.abs(shifts[:, None, :] - some[None, :, :])
        near = (away[:, :, 0] <= ACROSS) & (away[:, :, 1] <= DOWN)
        count += near.any(axis=1)
    return count / len(around)
