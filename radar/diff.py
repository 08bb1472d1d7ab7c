"""Two snapshots of a page -> the changes of the app between them, without what is only noise."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from radar.elements import Element, PageSnapshot
from radar.matching import PageMatch, match_pages
from radar.writing import looks_generated

ChangeKind: TypeAlias = Literal["added", "removed", "moved", "text", "attribute", "role", "name"]

MOST_CHANGES: Final = 200  # of one page; a rebuilt page is said to be rebuilt, not listed node by node
LONGEST: Final = 80
# Attributes that say how an element looks or what a script keeps on it, not what it is.
COSMETIC: Final = frozenset(
    "class style tabindex width height nonce integrity csrf autocomplete autofocus loading decoding fetchpriority "
    "spellcheck crossorigin referrerpolicy srcset sizes".split()
)
# What tells one time, number or token from another, for texts that are the same but for these.
VOLATILE: Final = re.compile(
    r"\b\d{1,2}:\d{2}(:\d{2})?\b|\b\d{4}-\d{2}-\d{2}\S*|\b[0-9a-f]{8,}\b|\d[\d.,\u00a0]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class AppChange:
    """One difference. `old` and `new` are indexes into the two snapshots, None where there is no such element."""

    page: str
    kind: ChangeKind
    element: str  # in words
    old: int | None = None
    new: int | None = None
    before: str = ""
    after: str = ""


def compare(
    old: PageSnapshot,
    new: PageSnapshot,
    *,
    noise: Collection[str] = (),
    matched: PageMatch | None = None,
    page: str | None = None,
) -> tuple[AppChange, ...]:
    """The changes from `old` to `new`; `noise` are paths (PageSnapshot.paths) that never hold still: passed over."""
    matched = matched or match_pages(old, new)
    pairs = _completed(old, new, matched.pairs)
    where = page or new.url
    noisy = frozenset(noise)
    changes: list[AppChange] = []
    found = set(pairs.values())
    for element in old.elements:
        if element.index in pairs or not _counts(old, element) or is_noisy(old, element.index, noisy):
            continue
        if element.parent in pairs or element.parent < 0 or not _counts(old, old.elements[element.parent]):
            changes.append(AppChange(where, "removed", in_words(old, element.index), element.index, None))
    for element in new.elements:
        if element.index in found or not _counts(new, element) or is_noisy(new, element.index, noisy):
            continue
        if element.parent in found or element.parent < 0 or not _counts(new, new.elements[element.parent]):
            changes.append(AppChange(where, "added", in_words(new, element.index), None, element.index))
    for before, after in sorted(pairs.items()):
        if not is_noisy(old, before, noisy) and not is_noisy(new, after, noisy):
            changes += _between(where, old, before, new, after, pairs)
    changes.sort(key=lambda change: change.old if change.old is not None else change.new or 0)
    return tuple(changes[:MOST_CHANGES])


def _completed(old: PageSnapshot, new: PageSnapshot, pairs: Mapping[int, int]) -> dict[int, int]:
    """The pairs, with what was taken for one thing with its contents paired as well.

    Elements one inside the other that act as one are matched by the one that takes the action. The others would
    otherwise count as removed and added on every comparison.
    """
    whole = dict(pairs)
    taken = set(whole.values())

    def pair(one: int, other: int) -> bool:
        is_free = one >= 0 and other >= 0 and one not in whole and other not in taken
        if not is_free or old.elements[one].tag != new.elements[other].tag:
            return False
        whole[one] = other
        taken.add(other)
        return True

    for before, after in pairs.items():
        one, other = before, after
        while pair(old.elements[one].parent, new.elements[other].parent):
            one, other = old.elements[one].parent, new.elements[other].parent
        one, other = before, after
        while len(old.children[one]) == len(new.children[other]) == 1 and pair(
            old.children[one][0], new.children[other][0]
        ):
            one, other = old.children[one][0], new.children[other][0]
    return whole


def _between(
    where: str, old: PageSnapshot, before: int, new: PageSnapshot, after: int, pairs: object
) -> list[AppChange]:
    a, b = old.elements[before], new.elements[after]
    if not (_counts(old, a) or _counts(new, b)):
        return []
    words = in_words(old, before)

    def change(kind: ChangeKind, was: str, now: str) -> AppChange:
        return AppChange(where, kind, words, before, after, _cut(was), _cut(now))

    changes = []
    if a.role != b.role:
        changes.append(change("role", a.role, b.role))
    if still(a.name) != still(b.name) and (a.name or b.name):
        changes.append(change("name", a.name, b.name))
    if still(a.own_text) != still(b.own_text) and a.own_text != a.name:
        changes.append(change("text", a.own_text, b.own_text))
    for key in sorted({*a.attributes, *b.attributes} - COSMETIC):
        was, now = a.get(key), b.get(key)
        if was != now and not key.startswith("data-v-") and not _is_volatile(key, was, now):
            changes.append(change("attribute", f"{key}={was}" if was else "", f"{key}={now}" if now else ""))
    if _region(old, before) != _region(new, after):
        changes.append(change("moved", _region(old, before), _region(new, after)))
    return changes


def _counts(page: PageSnapshot, element: Element) -> bool:
    """Is it something a person meets: a control, a text, a picture? Bare wrappers come and go without notice."""
    if element.tag in ("html", "body") or not element.rendered:
        return False
    return bool(element.role not in ("", "presentation", "document") or element.own_text or element.clickable)


def still(text: str) -> str:
    """The text without what changes by itself: times, dates, numbers, tokens."""
    return VOLATILE.sub("#", text)


def _is_volatile(key: str, was: str, now: str) -> bool:
    if key == "value" or (key in ("id", "for", "name", "aria-labelledby", "aria-describedby", "aria-controls")):
        return bool(was and now) and looks_generated(was) and looks_generated(now)
    return bool(was and now) and still(was) == still(now)


REGIONS: Final = ("banner", "navigation", "main", "complementary", "contentinfo", "dialog", "form", "search", "table")


def _region(page: PageSnapshot, index: int) -> str:
    return next((e.role for e in page.ancestors(index) if e.role in REGIONS), "")


def in_words(page: PageSnapshot, index: int) -> str:
    """An element for people: `button "Save"`."""
    element = page.elements[index]
    what = element.role or element.tag
    text = element.name or element.label or page.texts[index] or element.get("id") or element.get("placeholder")
    return f'{what} "{_cut(text)}"' if text else f"{what} <{element.tag}>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "\u2026"


# --- noise ---------------------------------------------------------------------------------------------


def learn_noise(first: PageSnapshot, second: PageSnapshot) -> tuple[str, ...]:
    """Paths of what differs between two loads of the same page a moment apart: that is no change of the app."""
    noisy = set()
    for one, other in ((first, second), (second, first)):
        paths = dict(zip(other.paths, other.elements, strict=True))
        for path, element in zip(one.paths, one.elements, strict=True):
            twin = paths.get(path)
            if twin is None or twin.tag != element.tag or _essence(twin) != _essence(element):
                noisy.add(path)
    return tuple(sorted(noisy))


def _essence(element: Element) -> tuple[object, ...]:
    return element.own_text, element.name, sorted(element.attributes.items())


def is_noisy(page: PageSnapshot, index: int, noise: Collection[str]) -> bool:
    """Is the element one that never holds still?"""
    return bool(noise) and page.paths[index] in noise
