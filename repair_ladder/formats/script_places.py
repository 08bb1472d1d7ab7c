"""Locators that begin at a place of a page or at another locator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from repair_ladder.formats.gathering import Unsayable
from repair_ladder.formats.script import Call
from repair_ladder.formats.script_locators import GET_BY, Place, Rx, Spot, below, by, by_role, keep, select
from repair_ladder.formats.script_values import Found

if TYPE_CHECKING:
    from repair_ladder.formats.script_reading import Reader


def located(reader: Reader, place: Place, name: str, call: Call) -> Spot | None:
    """A locator that begins at a place; None for any other call."""
    if name not in ("locator", "get_by_role", "query_selector", "query_selector_all", *GET_BY):
        return None
    options = reader.options(call)
    first = reader.value(options.given[0]) if options.given else None
    named = {key: reader.value(expression) for key, expression in options.named.items()}
    if name == "locator":
        if isinstance(first, Found):
            spot = (
                below(place.inside, first.spot)
                if place.inside
                else Spot(first.spot.at, (*place.frames, *first.spot.frames))
            )
        elif isinstance(first, str):
            spot = select(place, first)
        else:
            raise Unsayable("a selector that is not known")
        return filtered(spot, named)
    if name.startswith("query_selector"):
        if not isinstance(first, str):
            raise Unsayable("a selector that is not known")
        return select(place, first)
    exact = named.pop("exact", False) is True
    if name == "get_by_role":
        text = named.pop("name", None)
        if not isinstance(first, str) or not isinstance(text, str | Rx | None):
            raise Unsayable("a role or a name that is not known")
        return by_role(place, first, text, named, exact=exact)
    if named or not isinstance(first, str | Rx):
        raise Unsayable(f"{name} of a text that is not known")
    return by(place, GET_BY[name], first, exact=exact)


def selected(reader: Reader, place: Place, call: Call) -> Spot:
    value = reader.value(call.given[0]) if call.given else None
    if not isinstance(value, str):
        raise Unsayable("a selector that is not known")
    return select(place, value)


def filtered(spot: Spot, named: Mapping[str, Any]) -> Spot:
    return keep(spot, **{key: one.spot if isinstance(one, Found) else one for key, one in named.items()})
