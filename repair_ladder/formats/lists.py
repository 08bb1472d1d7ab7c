"""A `fill` that chose from a list when it was played, as the choice that it was.

Our own runner sets fields and lists alike, for a recorder writes both as one step. In a script of another tool they are
two calls, and the one for fields fails on a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from radar.elements import PageSnapshot, fold
from repair_ladder.steps import Place, Step, Steps, show_place
from repair_ladder.values import PLACEHOLDER

Used: TypeAlias = Mapping[str, tuple[PageSnapshot, int]]  # by the place, "8.2": the page and the element used there
LIST: Final = "select"


def as_chosen(steps: Steps, used: Used) -> Steps:
    """The steps with each `fill` of a list as a `select`; what no run has told of stays as it is."""
    return tuple(_renewed(steps, used, ()))


def _renewed(steps: Steps, used: Used, before: Place) -> Iterator[Step]:
    for number, step in enumerate(steps, 1):
        place = (*before, number)
        seen = used.get(show_place(place)) if step.kind == "fill" else None
        if step.steps:
            yield replace(step, steps=tuple(_renewed(step.steps, used, place)))
        elif seen and seen[0].elements[seen[1]].tag == LIST:
            yield replace(step, kind="select", parameters=_choice(str(step.parameters["value"]), *seen))
        else:
            yield step


def _choice(value: str, page: PageSnapshot, index: int) -> dict[str, Any]:
    """By the value of an option, or else by what it reads: as the runner looks for it."""
    options = [one for one in page.elements if one.tag == "option" and index in _above(page, one.index)]
    is_value = PLACEHOLDER.search(value) or any(one.get("value") == value for one in options)
    reads_so = any(fold(page.texts[one.index]) == fold(value) for one in options)
    return {"option": value} if reads_so and not is_value else {"value": value}


def _above(page: PageSnapshot, index: int) -> Iterator[int]:
    while (index := page.elements[index].parent) >= 0:
        yield index
