"""Two ways of others to find an element again, written anew from their descriptions for bench_matching to compare with.

Similo: Nass, Alegroth, Feldt, Leotta, Ricca, "Similarity-based Web Element Localization for Robust Test Automation"
(TOSEM 2023): fourteen attributes, each compared in its own way to 0..1 and weighted with the published 0.5 or 1.5; the
highest sum is the answer. Healenium-style: the points of Healenium's tree comparing (path 100, tag 100, id 50, classes
40, text 30, other attributes 30, of 350), its default cap of 0.6, no margin; how it writes a locator is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from radar.elements import Element, PageSnapshot
from radar.things import is_control

Floats = npt.NDArray[np.float64]
NEAR_PIXELS: Final = 50  # whose words count as neighbours
CAP: Final = 0.6  # Healenium's default


@dataclass(frozen=True, slots=True)
class Marks:
    """What both methods store of an element."""

    tag: str
    attributes: Mapping[str, str]
    xpath: str
    id_xpath: str
    is_button: bool
    x: float
    y: float
    width: float
    height: float
    text: str
    near: str
    path: tuple[tuple[str, str], ...]  # (tag, id) from the root down


class Marked:
    """The elements of a page as both methods store them."""

    def __init__(self, page: PageSnapshot, near: Mapping[int, str]) -> None:
        self.page = page
        self.near = near
        self._xpaths = _xpaths(page)
        self._leaves = [] if near else [e for e in page.elements if e.visible and e.own_text]
        boxes = [(e.box.x, e.box.y, e.box.x + e.box.width, e.box.y + e.box.height) for e in self._leaves]
        self._boxes = np.array(boxes, np.float64).reshape(-1, 4)
        self._known: dict[int, Marks] = {}

    def of(self, index: int) -> Marks:
        if index not in self._known:
            self._known[index] = self._described(index)
        return self._known[index]

    def _described(self, index: int) -> Marks:
        e = self.page.elements[index]
        chain = [e, *self.page.ancestors(index)]
        return Marks(
            tag=e.tag,
            attributes=e.attributes,
            xpath=self._xpaths[index],
            id_xpath=self._by_id(chain),
            is_button=e.clickable or e.tag == "button" or (is_control(e) and "btn" in e.get("class")),
            x=e.box.x,
            y=e.box.y,
            width=e.box.width,
            height=e.box.height,
            text=(self.page.texts[index] or e.get("value") or e.get("placeholder")).lower(),
            near=self.near.get(index, "").lower() if self.near else self._words_around(e),
            # Attribute tables do not hold the ids of what is around an old element.
            path=tuple((one.tag, "" if self.near and one is not e else one.get("id")) for one in reversed(chain)),
        )

    def _by_id(self, chain: Sequence[Element]) -> str:
        """The xpath from the nearest element with an id."""
        own = self._xpaths[chain[0].index]
        for one in chain:
            if one.get("id"):
                return f"//*[@id='{one.get('id')}']{own[len(self._xpaths[one.index]) :]}"
        return own

    def _words_around(self, e: Element) -> str:
        """The words of elements not far away; of a large element the words in it are not asked for."""
        if e.box.width * e.box.height > 100_000 or not len(self._boxes):
            return ""
        b, boxes = e.box, self._boxes
        close = (
            (boxes[:, 0] <= b.x + b.width + NEAR_PIXELS)
            & (boxes[:, 2] >= b.x - NEAR_PIXELS)
            & (boxes[:, 1] <= b.y + b.height + NEAR_PIXELS)
            & (boxes[:, 3] >= b.y - NEAR_PIXELS)
        )
        return " ".join(self._leaves[at].own_text for at in np.flatnonzero(close) if self._leaves[at] is not e).lower()


def _xpaths(page: PageSnapshot) -> list[str]:
    paths: list[str] = []
    counts: dict[tuple[int, str], int] = {}
    for e in page.elements:
        counts[e.parent, e.tag] = counts.get((e.parent, e.tag), 0) + 1
        paths.append(f"{paths[e.parent] if e.parent >= 0 else ''}/{e.tag}[{counts[e.parent, e.tag]}]")
    return paths


class Similo:
    """Scores of candidates for a stored element."""

    floor = 0.0

    def scores(self, old: Marks, new: Sequence[Marks]) -> Floats:
        total = np.zeros(len(new))
        for weight, what in ((1.5, lambda m: m.tag), (1.5, _attribute("name")), (1.5, _attribute("id"))):
            total += weight * _equal(what(old), [what(m) for m in new])
        for weight, what in (
            (0.5, _attribute("class")),
            (0.5, _attribute("href")),
            (0.5, _attribute("alt")),
            (0.5, lambda m: m.xpath),
            (0.5, lambda m: m.id_xpath),
            (1.5, lambda m: m.text),
        ):
            total += weight * _edit_likeness(what(old), [what(m) for m in new])
        total += 0.5 * np.array([m.is_button == old.is_button for m in new], np.float64)
        away = np.hypot(np.array([m.x for m in new]) - old.x, np.array([m.y for m in new]) - old.y)
        total += 0.5 * np.maximum(0.0, 1 - away / 100)
        total += 0.5 * _ratio(old.width * old.height, np.array([m.width * m.height for m in new]))
        shape = old.width / old.height if old.height else 0.0
        total += 0.5 * _ratio(shape, np.array([m.width / m.height if m.height else 0.0 for m in new]))
        total += 1.5 * _words_shared(old.near, [m.near for m in new])
        return total


class HealeniumStyle:
    floor = CAP

    def scores(self, old: Marks, new: Sequence[Marks]) -> Floats:
        overlap = np.array([_common(old.path, m.path) for m in new]) / max(1, len(old.path))
        points = 100 * overlap
        points += 100 * np.array([m.tag == old.tag for m in new], np.float64)
        old_id = old.attributes.get("id", "")
        points += 50 * np.array([_near_enough(old_id, m.attributes.get("id", "")) for m in new])
        points += 40 * np.array([_classes(old.attributes, m.attributes) for m in new])
        points += 30 * _edit_likeness(old.text, [m.text for m in new])
        points += 30 * np.array([_others(old.attributes, m.attributes) for m in new])
        if len(old.path) > 5:
            points[overlap < 0.7] = 0
        return np.asarray(points / 350, np.float64)


def _attribute(name: str) -> Callable[[Marks], str]:
    return lambda m: m.attributes.get(name, "")


def _equal(old: str, new: Sequence[str]) -> Floats:
    low = old.lower()
    return np.array([float(bool(low) and low == one.lower()) for one in new])


def _edit_likeness(old: str, new: Sequence[str]) -> Floats:
    if not old:
        return np.zeros(len(new))
    cut = [one[:300].lower() for one in new]
    likeness = process.cdist([old[:300].lower()], cut, scorer=Levenshtein.normalized_similarity)[0]
    return np.where([bool(one) for one in cut], likeness, 0.0)


def _ratio(old: float, new: Floats) -> Floats:
    return np.where((new > 0) & (old > 0), np.minimum(old, new) / np.maximum(np.maximum(old, new), 1e-9), 0.0)


def _words_shared(old: str, new: Sequence[str]) -> Floats:
    """The share of the words of the longer list that stand in the other."""
    mine = set(old.split())
    shared = []
    for one in new:
        theirs = set(one.split())
        shared.append(len(mine & theirs) / max(len(mine), len(theirs)) if mine and theirs else 0.0)
    return np.array(shared)


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """Length of the longest common subsequence."""
    last = [0] * (len(other) + 1)
    for a in one:
        row = [0]
        for at, b in enumerate(other):
            row.append(last[at] + 1 if a == b else max(row[-1], last[at + 1]))
        last = row
    return last[-1]


def _near_enough(one: str, other: str) -> float:
    """Edit likeness of two ids that differ in at most 30 %."""
    if not one or not other:
        return 0.0
    likeness = Levenshtein.normalized_similarity(one, other)
    return likeness if likeness >= 0.7 else 0.0


def _classes(one: Mapping[str, str], other: Mapping[str, str]) -> float:
    mine, theirs = set(one.get("class", "").split()), set(other.get("class", "").split())
    if not mine and not theirs:
        return 1.0
    return len(mine & theirs) / max(len(mine), len(theirs)) if mine and theirs else 0.0


def _others(one: Mapping[str, str], other: Mapping[str, str]) -> float:
    """Mean edit likeness of the attributes that both have; full marks where neither has any."""
    names = {name for name in (*one, *other) if not re.fullmatch(r"id|class|style", name)}
    if not names:
        return 1.0
    return sum(
        Levenshtein.normalized_similarity(one[n][:100], other[n][:100]) for n in names if n in one and n in other
    ) / len(names)
