"""Where no old page is known: the element that a locator probably meant, from its own words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from radar.answers import SHOWN, Candidate, Match
from radar.elements import Element, PageSnapshot
from radar.errors import Unresolvable
from radar.locators import Locator
from radar.memo import view_of
from radar.resolving import resolve
from radar.synonyms import KINDS, plain
from radar.taking import CLICKS, FIELDS, can_take
from radar.telling import short
from radar.things import LONG_TEXT, Thing, View, Words, are_nested, is_control, words_of


def find_by_locator(locator: Locator, action: str | None, new: PageSnapshot) -> Match:
    """The element a locator probably meant, from its own words alone: nothing is known of the old page.

    Never "gone", and "found" only where one element has nearly all the words and the next is far behind.
    """
    wanted = _wanted(locator)
    inside = _inside_of(locator.within, new)
    around = _wanted(locator.within) if locator.within and not inside else ()
    seen = view_of(new)
    blank = Element(index=0, parent=-1, tag="", attributes={})
    able = {at: _able(thing, action, blank, new) for at, thing in enumerate(seen.things) if thing.is_visible}
    if inside:
        able = {at: [index for index in elements if index in inside] for at, elements in able.items()}
    places = [at for at, elements in able.items() if elements]
    said = {at: _said_of(seen, at) for at in places}
    fits = {word: [_fit(word, said[at]) for at in places] for word in wanted}
    weights = {word: _weight(column) for word, column in fits.items()}
    scored = []
    for row, at in enumerate(places):
        thing, elements = seen.things[at], able[at]
        total = sum(weights[word] * fits[word][row] for word in wanted) / (sum(weights.values()) or 1.0)
        if around:
            total *= sum(_fit(word, said[at]) >= NEARLY for word in around) / len(around)
        if locator.role and total:
            total += 0.05 if thing.role == locator.role else -0.15
        scored.append((total, at, thing.leader if thing.leader in elements else elements[-1]))
    scored.sort(key=lambda one: (-one[0], one[1]))
    return _stricter(scored, seen)


def _inside_of(within: Locator | None, page: PageSnapshot) -> frozenset[int]:
    """All elements below what a `within` still finds; empty where it finds nothing."""
    if within is None:
        return frozenset()
    try:
        found = resolve(within, page)
    except Unresolvable:
        return frozenset()
    return frozenset(
        e.index for e in page.elements if any(at != e.index and page.is_inside(e.index, at) for at in found)
    )


def _able(thing: Thing, action: str | None, blank: Element, page: PageSnapshot) -> list[int]:
    if action in CLICKS and not (is_control(page.elements[thing.leader]) or page.elements[thing.leader].clickable):
        return []
    return [index for index in thing.members if can_take(action, blank, page.elements[index])]


def _wanted(locator: Locator) -> Words:
    """The words in a locator's values; of a selector only its ids, classes and quoted values."""
    found: list[str] = []
    for key, value in locator.finders():
        if key in ("css", "xpath"):
            for mark in _MARKS.findall(value):
                found += words_of(next(filter(None, mark)))
        elif key != "role":
            found += words_of(value)
    for extra in (locator.name, locator.has_text):
        found += words_of(extra or "")
    words = tuple(dict.fromkeys(plain(tuple(found))))
    return tuple(word for word in words if word not in KINDS) or words


_MARKS: Final = re.compile(r"""[#.]((?:[\w-]|\\.)+)|["']([^"']+)["']|=\s*([\w-]+)\s*\]""")


@dataclass(frozen=True, slots=True)
class _Said:
    """The words of an element itself, and of what stands beside it: the text before a field, the rest of its row."""

    own: frozenset[str]
    beside: frozenset[str]


def _said_of(seen: View, at: int) -> _Said:
    thing = seen.things[at]
    leader = seen.page.elements[thing.leader]
    own = {*thing.words, *thing.marks}
    for text in (leader.label, *(leader.get(key) for key in ("placeholder", "title", "alt", "aria-label", "name"))):
        own.update(words_of(text))
        own.update(plain(words_of(text)))
    for texts in (thing.words, words_of(thing.id), words_of(thing.test_id), words_of(thing.form_name)):
        own.update(plain(texts))
    before = _text_before(seen.page, thing.outer) if thing.group in FIELDS and not thing.words else ()
    beside = {*before, *plain(before)}
    if thing.row >= 0 and len(seen.page.texts[thing.row]) <= LONG_TEXT:
        beside.update(plain(words_of(seen.page.texts[thing.row])))
    return _Said(frozenset(own), frozenset(beside - own))


def _text_before(page: PageSnapshot, index: int) -> Words:
    """The words of the nearest text before an element: the label of a field that names none."""
    for at in range(index - 1, max(-1, index - 8), -1):
        element = page.elements[at]
        if is_control(element):
            return ()
        if element.visible and element.own_text:
            return words_of(element.own_text)
    return ()


def _fit(word: str, said: _Said) -> float:
    """How well an element has a word: as it is, run together with others ("firstname"), or nearly; less beside it."""
    return max(_fit_in(word, said.own), BESIDE * _fit_in(word, said.beside))


def _fit_in(word: str, has: frozenset[str]) -> float:
    if word in has:
        return 1.0
    long = [other for other in has if min(len(other), len(word)) >= 4]
    if any(word in other for other in long):
        return 0.9
    if any(other in word for other in long):
        return 0.7
    return 0.8 if any(fuzz.ratio(word, other) >= 85 for other in long) else 0.0


BESIDE: Final = 0.75
NEARLY: Final = 0.6


def _weight(fits: Sequence[float]) -> float:
    """A word that many elements have tells little; one that none has speaks against them all."""
    count = sum(fit > 0 for fit in fits)
    return 0.6 if not count else 1 / math.log2(1 + count)


def _stricter(scored: list[tuple[float, int, int]], seen: View) -> Match:
    if not scored or scored[0][0] <= 0:
        return Match("unsure", None, 0.0, ("no old page is known, and nothing has the locator's words",), None, ())
    best = scored[0]
    elsewhere = [
        one
        for one in scored[1:]
        if seen.companions.get(best[1]) != one[1] and not are_nested(seen.things[best[1]], seen.things[one[1]])
    ]
    lead = best[0] - (elsewhere[0][0] if elsewhere else 0.0)
    sure = best[0] >= WORDS_FROM and lead >= WORDS_LEAD
    probability = min(0.95, best[0]) * min(1.0, 0.3 + 2 * lead)
    name = short(seen.things[best[1]].said)
    why = f"no old page is known; the locator's own words fit {f'{chr(34)}{name}{chr(34)}' if name else 'it'}"
    reasons = (why,) if sure else (why, "but not well enough, or another fits nearly as well")
    listed = tuple(
        Candidate(element, probability if at == 0 else max(0.0, min(probability, score) / 2), (why,) if at == 0 else ())
        for at, (score, _, element) in enumerate(scored[:SHOWN])
    )
    return Match(
        "found" if sure else "unsure", best[2], probability, reasons, elsewhere[0][2] if elsewhere else None, listed
    )


WORDS_FROM: Final = 0.6
WORDS_LEAD: Final = 0.3
