"""Which tests did a change touch? Their locators are resolved on the old and the new state of the page.

A test that only visits a changed page is not at risk (G63).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from radar.diff import AppChange, in_words, still
from radar.elements import Element, PageSnapshot
from radar.errors import Unresolvable
from radar.locators import Locator
from radar.matching import PageMatch
from radar.resolving import resolve


@dataclass(frozen=True, slots=True)
class LocatorUse:
    """One use of a locator by a test, which is only a number here. `step` is how its place is shown."""

    test: int
    step: str
    locator: Locator
    action: str


@dataclass(frozen=True, slots=True)
class Touched:
    """A use whose resolution or usability a change alters, the change that did it, and why in words."""

    use: LocatorUse
    change: AppChange
    why: str


@dataclass(frozen=True, slots=True)
class States:
    """A page before and after, with what matches what and the changes between."""

    page: str
    old: PageSnapshot
    new: PageSnapshot
    matched: PageMatch
    changes: tuple[AppChange, ...]


def find_touched(
    states: States, uses: Iterable[LocatorUse], *, test_id_attribute: str = "data-testid"
) -> tuple[Touched, ...]:
    """The uses on this page that are touched. A locator which a snapshot cannot answer is left to the run.

    What many tests use in the same way, as the steps of a fragment, is resolved once.
    """
    known: dict[tuple[Locator, str], Touched | None] = {}
    found = []
    for use in uses:
        key = (use.locator, use.action)
        if key not in known:
            known[key] = _touched(states, use, test_id_attribute)
        one = known[key]
        if one is not None:
            found.append(replace(one, use=use))
    return tuple(found)


def _touched(states: States, use: LocatorUse, test_id_attribute: str) -> Touched | None:
    try:
        before = resolve_ways(use.locator, states.old, test_id_attribute)
        if len(before) != 1:
            return None  # not there on a fresh load either: what the test does on the way brings it
        after = resolve_ways(use.locator, states.new, test_id_attribute)
    except Unresolvable:
        return None
    old = before[0]
    if not after:
        return Touched(use, _cause(states, old, None), "its locator finds nothing now")
    if len(after) > 1:
        return Touched(use, _cause(states, old, None), f"its locator finds {len(after)} elements now")
    new = after[0]
    if _is_another(states, old, new):
        return Touched(use, _cause(states, old, new), "its locator finds another element now")
    return _unusable(states, use, old, new)


def _is_another(states: States, old: int, new: int) -> bool:
    """Is it another element: the old one is surely elsewhere, or another old one surely became what is found now?"""
    became = states.matched.pairs.get(old)
    if became is not None:
        return became != new and not _act_as_one(states.new, became, new)
    owner = states.matched.owners.get(new)
    return owner is not None and owner != old and not _act_as_one(states.old, owner, old)


def _unusable(states: States, use: LocatorUse, old: int, new: int) -> Touched | None:
    a, b = states.old.elements[old], states.new.elements[new]
    if use.action in ("assert_hidden", "assert_count"):
        return None
    for was, now, why in (
        (not a.visible, not b.visible, "it cannot be seen now"),
        (not a.enabled, not b.enabled, "it is disabled now"),
        (a.covered, b.covered, "something covers it now"),
    ):
        if now and not was:
            return Touched(use, _cause(states, old, new), why)
    if use.action in ("click", "fill", "press", "check", "select"):
        required = _new_required(states, new)
        if required is not None:
            change = _change_at(states.changes, None, required) or AppChange(
                states.page, "added", in_words(states.new, required), None, required
            )
            return Touched(use, change, "its form has a new required field")
    return None


def _new_required(states: States, index: int) -> int | None:
    """A required field of the element's form that was not there, or not required, before."""
    form = next((e.index for e in states.new.ancestors(index) if e.tag == "form"), None)
    if form is None:
        return None
    back = {new: old for old, new in states.matched.pairs.items()}
    for element in states.new.elements:
        if is_required(element) and element.visible and states.new.is_inside(element.index, form):
            old = back.get(element.index)
            if old is None or not is_required(states.old.elements[old]):
                return element.index
    return None


def is_required(element: Element) -> bool:
    return "required" in element.attributes or element.get("aria-required") == "true"


def resolve_ways(locator: Locator, page: PageSnapshot, test_id_attribute: str = "data-testid") -> tuple[int, ...]:
    """What the first way that finds anything finds. Raises Unresolvable."""
    for way in locator.ways():
        found = resolve(way, page, test_id_attribute=test_id_attribute)
        if found:
            return found
    return ()


def _act_as_one(page: PageSnapshot, one: int, other: int) -> bool:
    """Do the two stand for the same thing to a person: one inside the other with the same text?"""
    inside = page.is_inside(one, other) or page.is_inside(other, one)
    return inside and page.texts[one] == page.texts[other]


def _cause(states: States, old: int, new: int | None) -> AppChange:
    """The change that explains it best: of the element itself, of one around it, else that it was removed."""
    change = _change_at(states.changes, old, new)
    if change:
        return change
    for around in states.old.ancestors(old):
        change = _change_at(states.changes, around.index, None)
        if change and change.kind in ("removed", "attribute", "role", "moved"):
            return change
    became = states.matched.pairs.get(old)
    words = in_words(states.old, old)
    if became is None:
        return AppChange(states.page, "removed", words, old, None)
    a, b = states.old.elements[old], states.new.elements[became]
    before = " ".join(f"{k}={v}" for k, v in a.attributes.items() if b.get(k) != v)
    after = " ".join(f"{k}={v}" for k, v in b.attributes.items() if a.get(k) != v)
    kind = "attribute" if before or after else "text" if still(a.own_text) != still(b.own_text) else "moved"
    return AppChange(states.page, kind, words, old, became, before[:80], after[:80])  # type: ignore[arg-type]


def _change_at(changes: Sequence[AppChange], old: int | None, new: int | None) -> AppChange | None:
    for change in changes:
        if (old is not None and change.old == old) or (old is None and new is not None and change.new == new):
            return change
    return None
