"""The last few results, kept by the pages they are of: a test asks about the same pages once per step."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from radar.elements import PageSnapshot
from radar.things import View, view


class Memo:
    """The last few results, by the identity of the pages they are of (which it keeps alive, so that no id returns)."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, ...], tuple[tuple[PageSnapshot, ...], Any]] = OrderedDict()

    def get(self, pages: tuple[PageSnapshot, ...], make: Callable[[], Any]) -> Any:
        key = tuple(map(id, pages))
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        made = make()
        self._kept[key] = (pages, made)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return made


_VIEWS: Final = Memo(8)


def view_of(page: PageSnapshot) -> View:
    """All things of a page, described; remembered."""
    made: View = _VIEWS.get((page,), lambda: view(page))
    return made
