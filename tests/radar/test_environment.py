"""radar/environment.py by itself: another language, told by what is declared and by what is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radar.elements import PageSnapshot
from radar.environment import _other_language
from tests.builders import a_page

WORDS = ("Orders", "Basket", "Help", "Send", "Where to")
CODES = tuple(f"P-{number:03}" for number in range(5))


def page(*texts: str, language: str = "") -> PageSnapshot:
    lines = "\n".join(f'  p "{text}"' for text in texts)
    return replace(a_page(f"main\n{lines}\n"), language=language)


@pytest.mark.parametrize(
    ("texts", "language", "is_another"),
    [
        ((*(word[::-1] for word in WORDS), *CODES), "xx", True),
        ((*WORDS, *CODES), "en", False),
        ((*(word[::-1] for word in WORDS), *CODES), "", False),
    ],
    ids=["declared now, and the words are others", "declared now, and all is as it was", "declared never"],
)
def test_a_language_that_is_declared_now_and_was_not(texts: tuple[str, ...], language: str, is_another: bool) -> None:
    old = page(*WORDS, *CODES)

    assert (_other_language(old, page(*texts, language=language)) is not None) == is_another
