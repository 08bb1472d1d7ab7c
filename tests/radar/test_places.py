"""radar/places.py: where an element stands, told by what stands around it."""

from __future__ import annotations

import pytest

from radar.elements import Box, Element, PageSnapshot
from radar.matching import find_again
from radar.places import Place
from radar.things import view

NAMES = ("Phones", "Tablets", "Watches", "Music", "Support")


def page(*placed: tuple[str, float, float]) -> PageSnapshot:
    """A page of links: what each says, and where it stands."""
    elements = [
        Element(0, -1, "html", {}, box=Box(0, 0, 1280, 4000)),
        Element(1, 0, "body", {}, box=Box(0, 0, 1280, 4000)),
    ]
    for name, x, y in placed:
        at, href = len(elements), f"/{name.lower()}"
        elements.append(
            Element(at, 1, "a", {"href": href}, ((0, name),), role="link", name=name, box=Box(x, y, 60, 20))
        )
    return PageSnapshot("http://shop.test/", language="en", elements=tuple(elements))


def row(y: float, *names: str) -> list[tuple[str, float, float]]:
    return [(name, 100.0 + 200 * NAMES.index(name), y) for name in names]


def column(y: float, *names: str) -> list[tuple[str, float, float]]:
    return [(name, 900.0, y + 200 * NAMES.index(name)) for name in names]


def place(old: PageSnapshot, new: PageSnapshot, name: str, copy: int = 0) -> tuple[Place, int, int]:
    """The places of both pages, and the things that say `name`: the old one and the `copy`-th new one."""
    before, now = view(old), view(new)
    at = next(i for i, thing in enumerate(before.things) if thing.said == name)
    to = [i for i, thing in enumerate(now.things) if thing.said == name][copy]
    return Place(before, now), at, to


@pytest.mark.parametrize(("copy", "company"), [(0, 1.0), (1, 0.0)])
def test_what_stands_as_it_stood_has_its_old_company(copy: int, company: float) -> None:
    old = page(*row(10, *NAMES))
    new = page(*row(60, *NAMES), *column(1500, *NAMES))

    places, at, to = place(old, new, "Watches", copy)

    assert places.company(at, to) == company


def test_what_is_missing_among_its_neighbours_was_left_behind() -> None:
    old = page(*row(10, *NAMES))
    new = page(*row(60, "Phones", "Tablets", "Music", "Support"), *column(1500, *NAMES))

    places, at, to = place(old, new, "Watches")

    assert places.is_left_behind(at, to)


def test_what_moved_with_all_its_neighbours_was_not_left_behind() -> None:
    old = page(*row(10, *NAMES))
    new = page(*row(2500, *NAMES))

    places, at, to = place(old, new, "Watches")

    assert places.company(at, to) == 1.0
    assert not places.is_left_behind(at, to)


def test_of_twins_the_one_that_stands_among_the_old_neighbours_is_found() -> None:
    """Even where another one now stands exactly where the old one did."""
    old = page(*row(500, *NAMES))
    new = page(*((name, 500.0, y + 20) for name, _, y in column(80, *NAMES)), *row(640, *NAMES))

    match = find_again(old, 4, new, action="click")

    assert (match.verdict, match.element) == ("found", 9)


def test_pages_without_boxes_tell_no_place() -> None:
    old, new = page(*((name, 0.0, 0.0) for name in NAMES)), page(*((name, 0.0, 0.0) for name in NAMES * 2))

    places, at, to = place(old, new, "Watches", 1)

    assert not places.is_left_behind(at, to)
