"""Which element a text means: the smallest that contains it or is it, or the one whose own text it is."""

from __future__ import annotations

from collections.abc import Callable

from radar.resolving.prepared_page import PreparedPage
from radar.resolving.texts import lowered


def self_contains(tree: PreparedPage, needle: str) -> Callable[[int], bool]:
    """Is this the smallest element with the text? `needle` is folded and in lower case."""
    texts = tree.texts

    def test(index: int) -> bool:
        return (
            texts.contains(index, needle)
            and not any(texts.contains(kid, needle) for kid in tree.kids[index])
            and not texts.shadow_contains(index, needle)
        )

    return test


def self_is(tree: PreparedPage, wanted: str) -> Callable[[int], bool]:
    """Is this the smallest element whose whole text this is? `wanted` is folded."""
    texts = tree.texts
    lower = lowered(wanted)

    def test(index: int) -> bool:
        return (
            texts.contains(index, lower)
            and texts.whole(index) == wanted
            and not any(texts.contains(kid, lower) and texts.whole(kid) == wanted for kid in tree.kids[index])
            and not texts.shadow_is(index, wanted)
        )

    return test


def owns(tree: PreparedPage, wanted: str) -> Callable[[int], bool]:
    """Is one of its own text nodes exactly this? `wanted` is folded."""
    lower = lowered(wanted)

    def test(index: int) -> bool:
        if not tree.texts.contains(index, lower):
            return False
        own = tree.texts.immediate(tree.elements[index])
        return wanted in own or (not wanted and not own)

    return test
