"""What the local planners share: where an insert goes, what is new on a page, what may be clicked."""

from __future__ import annotations

import re

from radar.elements import Element, PageSnapshot, fold
from radar.locators import Locator
from radar.matching import PageMatch, match_pages
from radar.writing import write_locator
from repair_ladder.rungs import Situation
from repair_ladder.steps import Place


def before(place: Place) -> Place:
    """Where an insert goes that comes directly before the step at `place`."""
    return (*place[:-1], place[-1] - 1)


def written(situation: Situation, page: PageSnapshot, index: int) -> Locator | None:
    ways = write_locator(page, index, test_id_attribute=situation.test_id_attribute)
    return ways[0] if ways else None


def compared_with_green(situation: Situation, place: Place) -> tuple[PageSnapshot, PageMatch] | None:
    """The page as it was when the test was green, matched with the failing page."""
    seen, page = situation.memory.near(place), situation.page
    return (seen.page, match_pages(seen.page, page)) if seen and page else None


def any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?:^|\b)(?:{one})" for one in words), re.IGNORECASE)


def can_be_clicked(element: Element) -> bool:
    return element.visible and element.enabled and (element.role in ("button", "link") or element.clickable)


def says(page: PageSnapshot, element: Element) -> str:
    return fold(element.name or page.texts[element.index] or element.get("title"))[:80]


def opener(page: PageSnapshot, target: int) -> int | None:
    """The control that folds open what hides an element, as the page itself says it."""
    for around in page.ancestors(target):
        if around.tag == "details" and "open" not in around.attributes:
            return next((i for i in page.children[around.index] if page.elements[i].tag == "summary"), None)
        name = around.get("id")
        if name and not around.visible:
            for element in page.elements:
                if name in element.get("aria-controls").split() and can_be_clicked(element):
                    return element.index
    return None


def came(situation: Situation, place: Place) -> frozenset[int]:
    """What a person would call new on the failing page: it stands for nothing that was there when the test was green,
    or for something that nobody would know by its name. Without such a page nothing is known to be new.
    """
    page, compared = situation.page, compared_with_green(situation, place)
    if page is None or compared is None:
        return frozenset()
    old, matched = compared
    known = set(matched.pairs.values())
    names = {says(old, element).casefold() for element in old.elements}
    return frozenset(
        element.index
        for element in page.elements
        if element.index not in known or (says(page, element) and says(page, element).casefold() not in names)
    )


def row_around(page: PageSnapshot, index: int) -> Element | None:
    """The row, list item or card that an element stands in."""
    return next((e for e in page.ancestors(index) if e.role in ("row", "listitem", "article")), None)


def its_row(situation: Situation, place: Place, page: PageSnapshot) -> frozenset[int]:
    """Elements of the row that the target stood in; none where no text of its own tells it from the other rows."""
    seen = situation.memory.at(place)
    around = row_around(seen.page, seen.target) if seen and seen.target is not None else None
    if seen is None or seen.target is None or around is None:
        return frozenset()
    telling = _texts_in(seen.page, around.index) - {fold(seen.page.texts[seen.target])}
    for other in seen.page.elements:
        if (
            other.role == around.role
            and other.index != around.index
            and not seen.page.is_inside(around.index, other.index)
        ):
            telling -= _texts_in(seen.page, other.index)
    shared = {row.index: len(telling & _texts_in(page, row.index)) for row in page.elements if row.role == around.role}
    most = max(shared.values(), default=0)
    best = [row for row, count in shared.items() if count == most]
    if most == 0 or len(best) != 1:
        return frozenset()
    return frozenset(one.index for one in page.elements if page.is_inside(one.index, best[0]))


def _texts_in(page: PageSnapshot, index: int) -> set[str]:
    return {one.own_text for one in page.elements if one.own_text and page.is_inside(one.index, index)}
