"""Formats of tests: what each has in common with the others."""

from __future__ import annotations

from collections.abc import Callable

from repair_ladder.errors import BadTest
from repair_ladder.formats import WrittenTest


def answer(read: Callable[..., tuple[WrittenTest, ...]], text: str, **more: str) -> tuple[WrittenTest, ...]:
    """What a reader makes of any text: tests, or () and one line that says why not."""
    try:
        return read(text, **more)
    except BadTest as error:
        told = str(error)
    assert told.strip()
    assert "\n" not in told
    return ()
