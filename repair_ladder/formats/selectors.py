"""Locators that several formats have in common: states in CSS, texts of attributes in CSS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from radar.locators import Locator
from radar.writing import css_string
from repair_ladder.formats.gathering import Unsayable

# States that no check of ours names: the element itself, if it is in that state. Counting it is the check.
UNCHECKED: Final = ':scope:not(:checked):not([aria-checked="true"])'
WRITABLE: Final = ':scope:not([readonly]):not([aria-readonly="true"])'
UNWRITABLE: Final = ":scope:is(:disabled, [readonly])"
FOCUSED: Final = ":scope:focus"
CHOSEN_OPTION: Final = "option:checked"
# CSS that only Playwright reads.
OWN_SYNTAX: Final = re.compile(r"::-p-|>>|:(?:has-text|text-is|text|text-matches|visible|nth-match)\b|\Acss=|\Axpath=")
IN_ATTRIBUTES: Final = {"placeholder": "placeholder", "title": "title", "alt": "alt"}


def inside(raw: Mapping[str, Any], css: str) -> dict[str, Any]:
    """The keys of a locator for what CSS finds in the matches of another one, its alternatives included."""
    ways = [{key: value for key, value in raw.items() if key != "alternatives"}, *raw.get("alternatives", [])]
    made = []
    for way in ways:
        frame = {"frame": way["frame"]} if "frame" in way else {}
        made.append({"css": css, "within": {key: value for key, value in way.items() if key != "frame"}} | frame)
    return made[0] | ({"alternatives": made[1:]} if made[1:] else {})


def outside(locator: Locator, css: str) -> Locator | None:
    """The locator that `inside` was given; None where it was not made so."""
    found = []
    for way in locator.ways():
        if way.within is None or way != Locator(css=css, within=way.within, frame=way.frame):
            return None
        found.append(replace(way.within, frame=way.frame))
    return replace(found[0], alternatives=tuple(found[1:]))


def in_css(way: Locator, test_id_attribute: str) -> Locator:
    """A test id and texts of attributes as CSS, which means the same; raises Unsayable where they cannot be."""
    for key, attribute in {"test_id": test_id_attribute, **IN_ATTRIBUTES}.items():
        value = getattr(way, key)
        if value is not None:
            if way.css is not None or "," in attribute:
                raise Unsayable("several conditions")
            is_whole = way.exact or key == "test_id"
            css = f"[{attribute}{'=' if is_whole else '*='}{css_string(value)}{'' if is_whole else ' i'}]"
            without: dict[str, Any] = {key: None}
            way = replace(way, css=css, exact=False, **without)
    return way
