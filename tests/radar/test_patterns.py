"""Regular expressions of tests, models and recorders: what they mean, and that none takes the machine."""

from __future__ import annotations

import re
import warnings

import pytest

from radar.errors import BadPattern, PatternTooSlow
from radar.patterns import found, read

TEXTS = (
    "",
    "abc",
    "item {i}",
    "item 3",
    "a{e}",
    "xyz",
    ":alpha:]",
    "b",
    "a--b",
    "[x]",
    "1{e}",
    "aab",
    "a{1",
    "Ä ß",
    "]",
)


@pytest.mark.parametrize(
    "text",
    [
        "a{e}", "item {i}", "(?:foo){s<=3}", r"\d+{e}", "{e}", "a{1", "x{,", "a{}", "a{ 1}",
        "[[:alpha:]]", "[[a]", "[^[:alpha:]]", "[]a]", r"[\[:]", r"[\\[:alpha:]", "[a|&]",
        "a{,}", "a{,3}b", "a{2}b", r"\{e\}", r"\N{DIGIT THREE}", r"[\N{DIGIT THREE}]$", r"\(?x", "(?i)B", "(?s:.)c",
        "(?#{e)abc", "(a)(?(1)b|c)", "(?P<n>a)(?P=n)b", "a++b", r"\Z", "^$", "[^\\W\\d_]+",
    ],
)  # fmt: skip
def test_an_expression_means_what_python_says(text: str) -> None:
    """To `regex` a{e} is "nearly a", which anything is: a check with it would be green whatever the page shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        wanted = [re.search(text, one) is not None for one in TEXTS]

    assert [found(text, one) for one in TEXTS] == wanted


@pytest.mark.parametrize(
    "text",
    ["(((a{1000}){1000}){1000})", "a{2147483646}", "(ab){100000000}", "((a{150}){150}){2}", "a" * 20_001],
)
def test_what_would_fill_the_memory_is_not_read(text: str) -> None:
    with pytest.raises(BadPattern, match="more than 20,000 parts"):
        read(text)


@pytest.mark.parametrize("text", ["(" * 1000 + ")" * 1000, "a{99999999999}", "(?i", "*", "(?x) a # b", "(?ix:a)"])
def test_what_python_does_not_read_is_said_in_one_line(text: str) -> None:
    with pytest.raises(BadPattern) as said:
        read(text)

    assert "\n" not in str(said.value)
    assert len(str(said.value)) < 300


def test_an_expression_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(PatternTooSlow, match="takes too long on a text of 50,001 characters"):
        found("(a|aa)+$", "a" * 50_000 + "!", seconds=0.01)
