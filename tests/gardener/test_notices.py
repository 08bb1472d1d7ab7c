"""Covers gardener/notices.py: what people read of an event does nothing but be read."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gardener.errors import BadSetting
from gardener.notices import (
    MOST_TRIES,
    USUAL,
    Event,
    EventKind,
    Notice,
    Weight,
    harmless,
    next_try,
    notice_of,
    read_kinds,
)

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def an_event(
    kind: EventKind = EventKind.STAGED, subject: str = "A repair of 'checkout' waits", **payload: Any
) -> Event:
    return Event(7, 1, kind, subject, payload, NOW)


def test_a_notice_says_what_happened_and_what_to_do() -> None:
    notice = notice_of(an_event(proposal=41), "shop")

    assert notice == Notice(
        "shop: A repair of 'checkout' waits",
        (
            "See it and decide: gardener staged shop, then gardener approve or dismiss 41.",
            "2026-03-02 12:00 UTC",
        ),
    )


@pytest.mark.parametrize(
    ("event", "page"),
    [
        (an_event(proposal=41), "/proposals/41"),
        (an_event(EventKind.APPLIED, repair=3, test="checkout"), "/repairs/3"),
        (an_event(EventKind.TRIAGE, issue=9), "/issues/9"),
        (an_event(EventKind.SWEEP_FINISHED, sweep=2), "/sweeps/2"),
        (an_event(EventKind.OVERDUE, what="sweep"), "/projects/1/news"),
        (an_event(proposal="41/../.."), "/projects/1/news"),
    ],
)
def test_where_the_pages_have_an_address_it_leads_to_the_right_one(event: Event, page: str) -> None:
    assert f"https://gardener.test{page}" in notice_of(event, "shop", "https://gardener.test/").lines
    assert not any(page in line for line in notice_of(event, "shop").lines)


@pytest.mark.parametrize("kind", EventKind)
def test_every_kind_can_be_told_without_a_payload(kind: EventKind) -> None:
    notice = notice_of(an_event(kind), "shop")

    assert notice.subject == "shop: A repair of 'checkout' waits"
    assert notice.lines[-1] == "2026-03-02 12:00 UTC"
    assert not any("{" in line for line in notice.lines)


def test_what_is_left_for_the_next_sweep_is_named_and_cut() -> None:
    notice = notice_of(an_event(EventKind.SWEEP_FINISHED, left_for_next=[f"test {at}" for at in range(9)]), "shop")

    assert notice.lines[0] == "Left for the next sweep: test 0, test 1, test 2, test 3, test 4 and 4 more"


def test_what_needs_a_person_weighs_more() -> None:
    assert notice_of(an_event(EventKind.OVERDUE), "shop").weight == Weight.WARNING
    assert notice_of(an_event(EventKind.APPLIED), "shop").weight == Weight.SUCCESS


@pytest.mark.parametrize(
    ("hostile", "never"),
    [
        ("hello @everyone and @here", ["@everyone", "@here"]),
        ("<!channel> <@U123> <#C1>", ["<"]),
        ("<https://evil.test|your bank>", ["<", "https://", "evil.test"]),
        ("[your bank](https://evil.test)", ["](", "://", "evil.test"]),
        ("![x](javascript:alert(1))", ["![", "](", "javascript:a"]),
        ("[1]: https://evil.test", ["]:", "://"]),
        ("<script>alert(1)</script> <b>", ["<", ">"]),
        ("&lt;b&gt; &#64;everyone", ["&lt;", "&#64;"]),
        ("**bold** `code` ~~gone~~ ||spoiler|| _so_ \\*", ["*", "`", "~~", "||", " _", "_ ", "\\"]),
        ("www.evil.test or mailto:x@evil.test", ["www.evil", "evil.test", "mailto:x", "@evil"]),
        ("one\ntwo\r\n# three\u2028four\x1b[31m\x00", ["\n", "\r", "\u2028", "\x1b", "\x00"]),
        ("abc\u202egpj.exe \u200b@\u200beveryone \u2066x", ["\u202e", "\u2066", "@everyone"]),
        (":smile: :warning:", [":smile:", ":warning:"]),
    ],
)
def test_what_an_app_says_is_text_wherever_it_is_shown(hostile: str, never: list[str]) -> None:
    for notice in (
        notice_of(an_event(EventKind.FINDING, hostile), "shop"),
        notice_of(an_event(EventKind.DIGEST, "Digest", lines=[hostile], left_for_next=[hostile]), hostile),
    ):
        for line in (notice.subject, *notice.lines):
            assert [one for one in never if one in line] == []


def test_ordinary_sentences_stay_as_they_are() -> None:
    for text in (
        "'checkout' was repaired, approved by Ada.",
        "Step 3: the button \u201cPay now\u201d is gone (was: Pay); data-test-id user_name, 3.50 \u20ac, 50 % & more",
        "Überweisung 支払う 🪴: 2 of 3!",
    ):
        assert harmless(text, 400) == text


def test_a_subject_that_had_to_be_cut_stands_whole_below() -> None:
    notice = notice_of(an_event(EventKind.FINDING, "a long story " * 20), "shop")

    assert notice.subject.endswith("\u2026")
    assert notice.lines[0] == ("a long story " * 20).strip()


def test_long_texts_are_cut() -> None:
    notice = notice_of(an_event(EventKind.TRIAGE, "x" * 100_000, lines=["y" * 10_000] * 500), "p" * 500)

    assert len(notice.subject) <= 300
    assert len(notice.lines) <= 25
    assert all(len(line) <= 500 for line in notice.lines)


@settings(max_examples=300)
@given(st.text(st.sampled_from("@<>[]()!`*_~|&#;:/.\\ aeveryonehtps1\u200b\u202e\n\x00é"), max_size=60))
def test_whatever_is_put_together_mentions_links_and_formats_nothing(text: str) -> None:
    shown = harmless(text, 400)

    for pattern in (r"@\w", r"[<>`*\\]", r"\w://", r"\]\(", r"~~", r"\|\|", r"!\[", r"&#?\w+;", r"[\n\x00\u202e]"):
        assert not re.search(pattern, shown), pattern
    assert harmless(shown, 400) == shown


def test_kinds_are_read_as_a_person_types_them() -> None:
    assert read_kinds(" applied, staged,applied") == (EventKind.STAGED, EventKind.APPLIED)
    assert read_kinds("all") == tuple(EventKind)
    assert EventKind.SWEEP_FINISHED not in USUAL


@pytest.mark.parametrize("text", ["", " , ", "stagd", "staged,all", "STAGED"])
def test_a_kind_that_is_none_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadSetting, match="sweep_finished"):
        read_kinds(text)


def test_waits_grow_and_end() -> None:
    waits = [next_try(tries, 0, NOW) for tries in range(1, MOST_TRIES + 1)]

    assert waits[0] == NOW + timedelta(seconds=30)
    assert waits[:-1] == sorted(one for one in waits if one)
    assert waits[-1] is None
    assert next_try(1, 2, NOW) is None
