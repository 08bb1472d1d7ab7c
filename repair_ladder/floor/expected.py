"""What a check expects, held against texts and addresses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from repair_ladder.steps import Step


def expects_absence(check: Step) -> bool:
    given = check.parameters
    if check.kind == "assert_hidden" or "not_contains" in given:
        return True
    if check.kind == "assert_count":
        return "at_most" in given or str(given.get("equals")) in ("0", "0.0")
    return "equals" in given and not fold(given["equals"])


def expected_texts(check: Step) -> Iterator[tuple[str, str]]:
    if check.kind == "assert_count":
        return
    given = check.parameters.get("url") if check.kind == "wait" else check.parameters
    if isinstance(given, str):
        yield "contains", given
    elif isinstance(given, Mapping):
        for key in ("equals", "contains", "matches"):
            if key in given:
                yield key, str(given[key])


def gives_away(text: str, check: Step) -> bool:
    """Does a text hold what the check expects, or most of it?"""
    have = fold(text)
    for key, wanted in expected_texts(check):
        want = fold(wanted)
        if key == "matches":
            words = fixed_words(wanted)
            if words and all(_stands_in(word, have) for word in words):
                return True
        elif not want or not have:
            if want == have and key == "equals":
                return True
        elif _stands_in(want, have) or (_stands_in(have, want) and 2 * len(have) >= len(want)):
            return True
    return False


def fixed_words(pattern: str) -> list[str]:
    """The words a regular expression has to find as they are written."""
    plain = re.sub(r"\\[a-zA-Z]|\[[^\]]*\]|\{[^}]*\}|\(\?[a-zA-Z:!<=]+", " ", pattern)
    return re.findall(r"\w{2,}", fold(re.sub(r"[\\^$.|?*+()]", " ", plain)))


def _stands_in(part: str, text: str) -> bool:
    """As whole words: "1" stands in "1 item", not in "2021"."""
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def fold(text: object) -> str:
    plain = unicodedata.normalize("NFKC", str(text))
    return " ".join("".join(char for char in plain if unicodedata.category(char) != "Cf").split()).casefold()


def lands_on(url: str, check: Step) -> bool:
    """Would a page at this address satisfy the check, as far as texts tell?"""
    address = fold(url)
    for key, wanted in expected_texts(check):
        want = fold(wanted)
        if key == "contains" and want in address:
            return True
        if key == "equals" and (address.rstrip("/").endswith(want.rstrip("/")) and want.strip("/")):
            return True
    return gives_away(url, check)
