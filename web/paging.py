"""Long lists, a slice at a time, and the links to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from web.forms import read_page


@dataclass(frozen=True, slots=True)
class Pager:
    """Where in a list a page is. The addresses keep what the list was narrowed to."""

    number: int
    last: int
    total: int
    first_row: int
    last_row: int
    before: str  # "" where there is none
    after: str


@dataclass(frozen=True, slots=True)
class Wanted:
    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size


def wanted(page: str | None, size: int) -> Wanted:
    return Wanted(read_page(page), size)


def pager(path: str, want: Wanted, total: int, kept: Mapping[str, str] | None = None) -> Pager:
    last = max(1, -(-total // want.size))
    shown = max(0, min(want.size, total - want.offset))

    def link(number: int) -> str:
        query = {key: value for key, value in (kept or {}).items() if value}
        return f"{path}?{urlencode({**query, 'page': number})}"

    return Pager(
        want.number,
        last,
        total,
        want.offset + 1 if shown else 0,
        want.offset + shown if shown else 0,
        link(min(want.number - 1, last)) if want.number > 1 else "",
        link(want.number + 1) if want.number < last else "",
    )
