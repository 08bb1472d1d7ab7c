"""Rung 1: the element is still there, its locator no longer finds it. Only locators change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from radar.at_risk import resolve_ways
from radar.diff import in_words, still
from radar.elements import PageSnapshot
from radar.errors import Unresolvable
from radar.locators import Locator
from radar.matching import Match, find_again, find_by_locator
from radar.writing import write_locator
from repair_ladder.harm import new_harm
from repair_ladder.operations import Operation
from repair_ladder.rungs import SELF_HEAL, Candidate, Situation
from repair_ladder.steps import CONDITIONS, Place, Step, show_place, walk

HEALABLE = frozenset({"missing", "many", "hidden", "covered", "disabled", "timeout", "option"})


@dataclass(frozen=True, slots=True)
class Healed:
    """One locator that was written anew."""

    operation: Operation
    match: Match
    doubt: str
    harm: str | None


async def propose(situation: Situation) -> tuple[Candidate, ...]:
    """At most one candidate: every locator that this page shows to be broken, healed together."""
    healed = list(_silently_wrong(situation))
    place = situation.place
    if place is not None and situation.red.cause in HEALABLE:
        one = _heal_failing(situation, place)
        if one:
            healed.append(one)
            healed += _look_ahead(situation, place)
    if not healed:
        return ()
    harm = next((one.harm for one in healed if one.harm), None)
    places = ", ".join(show_place(one.operation.place) for one in healed)
    return (
        Candidate(
            tuple(one.operation for one in healed),
            SELF_HEAL,
            f"the element of step {places} is still there under another locator",
            doubt=next((one.doubt for one in healed if one.doubt), ""),
            harm=harm,
            because=tuple(reason for one in healed for reason in one.match.reasons),
            # The old locator matched where the test was green, matches nothing here, and the page shows what became of
            # its element: all of it without the run.
            identified=frozenset(one.operation.place for one in healed if _checks_absence(one.operation.new)),
        ),
    )


def find_target(situation: Situation, place: Place) -> Match | None:
    """Where on the failing page the element of a saved step is now; None without anything to compare."""
    step, page = situation.step_now(place), situation.page
    if step is None or page is None:
        return None
    name, locator = next(iter(step.locators()), ("", None))
    if locator is None:
        return None
    seen = situation.memory.at(place)
    if seen is None:
        return find_by_locator(locator, step.kind, page)
    target = seen.target if name == "" else None
    if target is None:
        target = _single(locator, seen.page, situation)
    return find_again(seen.page, target, page, action=step.kind) if target is not None else None


def _heal_failing(situation: Situation, place: Place) -> Healed | None:
    match, page = find_target(situation, place), situation.page
    if match is None or page is None or match.verdict != "found" or match.element is None:
        return None
    if match.element == situation.red.target:
        return None  # the locator is right; something else is in the way
    seen = situation.memory.at(place)
    old = (seen.page, seen.target) if seen and seen.target is not None else None
    return _rewritten(situation, place, page, match, old)


def _look_ahead(situation: Situation, failed: Place) -> Iterator[Healed]:
    """Later steps whose locators held on the old page and do not on this one: healed in the same go."""
    seen, page = situation.memory.at(failed), situation.page
    if seen is None or page is None:
        return
    for place, _ in walk(situation.steps):
        if place <= failed:
            continue
        later = situation.memory.at(place)
        if later is None or later.page.url.split("?")[0] != seen.page.url.split("?")[0]:
            return
        step = situation.step_now(place)
        if step is None or step.locator is None:
            continue
        target = _single(step.locator, seen.page, situation)
        if target is None or _hits(step.locator, page, situation) == 1:
            continue
        match = find_again(seen.page, target, page, action=step.kind)
        if match.verdict == "found" and match.element is not None:
            one = _rewritten(situation, place, page, match, (seen.page, target))
            if one:
                yield one


def _silently_wrong(situation: Situation) -> Iterator[Healed]:
    """Steps that passed, but on another element than the one they used when the test was green."""
    trace = situation.red.trace
    for played in trace.played:
        place = situation.saved_place(played.place)
        seen, met = (situation.memory.at(place) if place else None), trace.seen(played.place)
        if place is None or seen is None or seen.target is None or met is None or met[1] < 0:
            continue
        page, hit = met
        if played.place == situation.red.place:
            continue
        step = situation.step_now(place)
        if step is None or step.locator is None or any(op.place == place for op in situation.base):
            continue
        match = find_again(seen.page, seen.target, page, action=step.kind)
        if match.verdict != "found" or match.element is None or same_thing(page, match.element, hit):
            continue
        one = _rewritten(situation, place, page, match, (seen.page, seen.target))
        if one:
            yield one


def _rewritten(
    situation: Situation, place: Place, page: PageSnapshot, match: Match, old: tuple[PageSnapshot, int] | None
) -> Healed | None:
    step = situation.step_now(place)
    if step is None or match.element is None:
        return None
    name, author = next(iter(step.locators()))
    ways = write_locator(
        page,
        match.element,
        author=author,
        avoid_text=all_expected(situation),
        test_id_attribute=situation.test_id_attribute,
    )
    if not ways:
        return None
    new = replace_locator(step, name, ways[0])
    element = page.elements[match.element]
    before = old[0].elements[old[1]] if old else None
    renamed = before is not None and still(before.name).casefold() != still(element.name).casefold()
    if before is None:
        doubt = "the test was never green here, so only its locator tells what it meant"
    elif renamed and before.name and not step.asserts_outcome:
        doubt = "its visible name is another one now"
    else:
        doubt = ""
    words = in_words(page, match.element)
    reason = f"{words} is what it was: {', '.join(match.reasons[:4])}" if match.reasons else words
    harm = None if step.asserts_outcome else new_harm(before, element, text=page.texts[element.index])
    if harm and before is not None and not _share_a_word(before.name, element.name or page.texts[element.index]):
        return None  # what deletes or pays now and had no word of it before is another thing, whatever its place
    return Healed(Operation("replace", place, new, reason), match, doubt, harm)


def _share_a_word(one: str, other: str) -> bool:
    return bool(set(re.findall(r"\w{2,}", one.casefold())) & set(re.findall(r"\w{2,}", other.casefold())))


def replace_locator(step: Step, name: str, locator: Locator) -> Step:
    """The step with one of its locators exchanged; `name` as Step.locators() gives it."""
    if name == "":
        return replace(step, locator=locator)
    return replace(step, parameters={**step.parameters, name: locator})


def expected_texts(step: Step) -> Iterable[str]:
    """What the step's check expects: a locator that contains it would be circular."""
    if step.asserts_outcome:
        for key in CONDITIONS:
            if key in step.parameters and str(step.parameters[key]):
                yield str(step.parameters[key])


def all_expected(situation: Situation) -> tuple[str, ...]:
    """What the checks of the test expect. A locator with such a text would be circular on a check, and break on the
    very change that the check is there to show on an action.
    """
    return tuple(dict.fromkeys(text for _, step in walk(situation.steps) for text in expected_texts(step)))


def _checks_absence(step: Step | None) -> bool:
    return step is not None and step.kind in ("assert_hidden", "assert_count")


def same_thing(page: PageSnapshot, one: int, other: int) -> bool:
    """The same element, or one inside the other with the same text: a click on either is the same."""
    if one == other:
        return True
    inside = page.is_inside(one, other) or page.is_inside(other, one)
    return inside and page.texts[one] == page.texts[other]


def _single(locator: Locator, page: PageSnapshot, situation: Situation) -> int | None:
    try:
        found = resolve_ways(locator, page, situation.test_id_attribute)
    except Unresolvable:
        return None
    return found[0] if len(found) == 1 else None


def _hits(locator: Locator, page: PageSnapshot, situation: Situation) -> int:
    """How many elements the locator finds; 1 where a snapshot cannot tell, so that it is left alone."""
    try:
        return len(resolve_ways(locator, page, situation.test_id_attribute))
    except Unresolvable:
        return 1
