"""radar/wording.py: does a control that says something else now still do the same?"""

from __future__ import annotations

import pytest

from radar.things import words_of
from radar.wording import opposite, share_words, swapped


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Follow", "Unfollow"),
        ("Deactivate account", "Activate account"),
        ("Sign in", "Sign out"),
        ("Log in", "Log out"),
        ("Accept all", "Reject all"),
        ("Next", "Previous"),
        ("I agree", "I do not agree"),
        ("Delete", "Delete all"),
        ("Show details", "Hide details"),
        ("Benutzer sperren", "Benutzer entsperren"),
        ("Annehmen", "Ablehnen"),
        ("Activer les alertes", "Désactiver les alertes"),
        ("Mark as read", "Mark as unread"),
    ],
)
def test_what_turns_back_the_deed_is_its_opposite(old: str, new: str) -> None:
    assert opposite(words_of(old), words_of(new))
    assert opposite(words_of(old), words_of(old)) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Log in", "Sign in"),
        ("Log out", "Sign out"),
        ("Add to cart", "Add to basket"),
        ("Save", "Save changes"),
        ("Settings", "All settings and preferences of the account"),
        ("Live", "Visible to all: visit the live page"),
    ],
)
def test_another_word_for_the_same_is_no_opposite(old: str, new: str) -> None:
    assert opposite(words_of(old), words_of(new)) == ""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Add user", "Add group", True),
        ("Archive post", "Delete post", True),
        ("Save", "Apply", True),
        ("Export CSV", "Export PDF", True),
        ("Save", "Save changes", False),
        ("Save draft", "Save", False),
        ("Sign in", "Log in", False),
        ("Submit for moderation", "Submit to the moderators", False),
        ("Favourite", "Favorite", False),
        ("Add to cart", "Add to your basket", False),
        ("Page 3", "Page 4", False),
        ("\ue105", "Delete", False),
        ("", "Delete", False),
        ("What is new in the release of this long week", "What was old before the day of that short month", False),
    ],
)
def test_a_word_in_the_place_of_another_is_a_swap(old: str, new: str, expected: bool) -> None:
    assert swapped(words_of(old), words_of(new)) is expected


def test_a_word_that_both_have_is_shared_however_it_is_spelt() -> None:
    assert share_words(words_of("Add user"), words_of("Add group"))
    assert share_words(words_of("Favourite"), words_of("My favorites"))
    assert not share_words(words_of("Save for later"), words_of("Ask us a question"))
