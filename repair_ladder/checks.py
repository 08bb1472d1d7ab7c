"""Does what a page shows meet the condition of a check? Pure, so that it can be tested without a browser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from radar.elements import fold
from repair_ladder.steps import CONDITIONS


def meets(parameters: Mapping[str, Any], seen: str | int, *, folded: bool = True) -> bool:
    """Do all conditions among the parameters hold for what was seen? Texts are compared with white space folded."""
    return all(_meets(key, parameters[key], seen, folded) for key in CONDITIONS if key in parameters)


def _meets(key: str, wanted: Any, seen: str | int, folded: bool) -> bool:
    if key in ("at_least", "at_most"):
        number = _number(seen)
        return number is not None and (number >= wanted if key == "at_least" else number <= wanted)
    got, want = str(seen), str(wanted)
    if folded and key != "matches":
        got, want = fold(got), fold(want)
    elif folded:
        got = fold(got)
    match key:
        case "equals":
            return got == want
        case "contains":
            return want in got
        case "not_contains":
            return want not in got
        case "matches":
            return re.search(want, got) is not None
    raise AssertionError(key)


def _number(seen: str | int) -> float | None:
    """A number as people write it: "1,204 orders" is none, "42", " 3.5 " and "1,204" are."""
    if isinstance(seen, int):
        return seen
    text = seen.strip().replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


def describe(parameters: Mapping[str, Any]) -> str:
    """The conditions in words: `equals "42"`."""
    return " and ".join(f'{key.replace("_", " ")} "{parameters[key]}"' for key in CONDITIONS if key in parameters)
