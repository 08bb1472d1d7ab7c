"""A page as a sweep saw it; known without the browser that looked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from radar.elements import PageSnapshot

# Is a second load of the page at this URL needed, now that the first was seen?
Again: TypeAlias = Callable[[str, PageSnapshot], bool]


def always_again(url: str, first: PageSnapshot) -> bool:
    """The Again of somebody who knows nothing of the page yet."""
    return True


@dataclass(frozen=True, slots=True)
class Visit:
    """A page as a sweep saw it: `first` and `second` are two loads, for what differs between them is noise.

    There is no `second` where the first load gave no reason for one.
    """

    asked: str
    first: PageSnapshot
    second: PageSnapshot | None = None
