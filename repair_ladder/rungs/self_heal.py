"""Rung 1: the element is still there, its locator no longer finds it. Only locators change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from radar.answers import Match
from radar.at_risk import resolve_ways
from radar.by_words import find_by_locator
from radar.diff import in_words, still
from radar.elements import Element, PageSnapshot
from radar.errors import Unresolvable
from radar.locators import Locator
from radar.matching import find_again
from radar.writing import write_locator
from repair_ladder.harm import new_harm
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation
from repair_ladder.rungs import SELF_HEAL, Candidate, Situation
from repair_ladder.rungs.planning import its_row, row_around
from repair_ladder.steps import CONDITIONS, Place, Step, Steps, show_place, walk
from repair_ladder.values import names_in

HEALABLE = frozenset({"missing", "many", "hidden", "covered", "disabled", "timeout", "option", "check"})
SAME_NAME_IN_MENU: Final = 0.5  # from this probability on
IN_MENU: Final = "it stands in a menu now"
READS_ANOTHER: Final = "the check still finds something: whether it should read something else is for a person to say"
POPUPS: Final = frozenset({"true", "menu", "listbox", "dialog", "tree", "grid"})


@dataclass(frozen=True, slots=True)
class Healed:
    """One locator that was written anew."""

    operation: Operation
    match: Match
    doubt: str
    harm: str | None
    vouched: bool = False  # likely, and for a person to look at


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
            vouched=frozenset(one.operation.place for one in healed if one.vouched),
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
    if target is None:
        return None
    return find_became(seen.page, target, page, action=step.kind, opens=opens_a_part(situation, place))


def find_became(
    old: PageSnapshot, target: int, new: PageSnapshot, *, action: str | None = None, opens: bool = False
) -> Match:
    """What an element became, where a control that newly opens something does not stand for what is now inside it.

    A button of a row that moved into the row's menu leaves the menu's own button in its place. Without a word in common
    that is the way to it at best. `opens`: the old element was itself a way to something.
    """
    match = find_again(old, target, new, action=action)
    if opens or match.element is None:
        return match
    was = old.elements[target]
    if was.role not in ("button", "link") or not _newly_opens(old, was, new, new.elements[match.element]):
        return match
    page, back = _with_popup_in_place(new)
    others = (
        replace(one, visible=False) if one.rendered and _newly_opens(old, was, page, one) else one
        for one in page.elements
    )
    match = find_again(old, target, replace(page, elements=tuple(others)), action=action)
    found = tuple(replace(one, element=back[one.element]) for one in match.candidates)
    best = None if match.element is None else back[match.element]
    runner_up = None if match.runner_up is None else back[match.runner_up]
    return replace(match, element=best, runner_up=runner_up, candidates=found)


def _with_popup_in_place(page: PageSnapshot) -> tuple[PageSnapshot, tuple[int, ...]]:
    """The page with its one open menu beside the control that opened it, and for each element its index before.

    Menus often hang at the end of the document, and say there nothing of the row that they were opened in.
    """
    asis = tuple(range(len(page.elements)))
    opened = [one for one in page.elements if one.visible and one.get("aria-expanded") == "true"]
    popups = [one for one in page.elements if one.visible and one.role in ("menu", "listbox")]
    if len(opened) != 1 or len(popups) != 1:
        return page, asis
    opener, popup = opened[0], popups[0]
    if page.is_inside(popup.index, opener.parent) or page.is_inside(opener.index, popup.index):
        return page, asis
    moved = [i for i in asis if i == popup.index or page.is_inside(i, popup.index)]
    rest = [i for i in asis if i not in set(moved)]
    after = next(
        (at for at, i in enumerate(rest) if i > opener.index and not page.is_inside(i, opener.index)), len(rest)
    )
    back = (*rest[:after], *moved, *rest[after:])
    now = {was: at for at, was in enumerate(back)}
    elements = tuple(
        replace(
            page.elements[was],
            index=at,
            parent=now.get(opener.parent if was == popup.index else page.elements[was].parent, -1),
        )
        for at, was in enumerate(back)
    )
    scrollers = tuple((now[index], whole, part) for index, whole, part in page.scrollers)
    return replace(page, elements=elements, scrollers=scrollers), back


def is_in_opened_menu(situation: Situation, place: Place, match: Match) -> bool:
    """Is the likeliest element one of the very name in a menu that a step before was inserted to open?

    The matcher is not sure of it, as a menu takes the words of its other items along into the row. A person looks at
    it.
    """
    seen, page = situation.memory.at(place), situation.page
    opened = any(one.op == "insert" and one.place == (*place[:-1], place[-1] - 1) for one in situation.base)
    if match.verdict != "unsure" or match.element is None or not opened:
        return False
    if seen is None or seen.target is None or page is None or match.probability < SAME_NAME_IN_MENU:
        return False
    was, now = seen.page.elements[seen.target], page.elements[match.element]
    in_menu = any(one.role == "menu" and one.visible for one in page.ancestors(match.element))
    if row_around(seen.page, seen.target) is not None:
        # One menu for all rows, or that of another row, has the same names in it.
        row = its_row(situation, place, page)
        in_menu = in_menu and any(page.elements[one].get("aria-expanded") == "true" for one in row)
    return in_menu and bool(was.name) and was.name.casefold() == now.name.casefold()


def newly_opens(old: PageSnapshot, was: int, new: PageSnapshot, now: int) -> bool:
    """Is it the button of a menu or the like, where a button or link without a word in common did something itself?"""
    before = old.elements[was]
    return before.role in ("button", "link") and _newly_opens(old, before, new, new.elements[now])


def _newly_opens(old: PageSnapshot, was: Element, new: PageSnapshot, now: Element) -> bool:
    """Does it open something, as the old one did not, under a name without a word of the old one's?"""
    if _says_that_it_opens(was) or not _says_that_it_opens(now):
        return False
    return not _share_a_word(was.name or old.texts[was.index], now.name or new.texts[now.index])


def _says_that_it_opens(element: Element) -> bool:
    return "aria-expanded" in element.attributes or element.get("aria-haspopup") in POPUPS


def opens_a_part(situation: Situation, place: Place) -> bool:
    """Did the step at a saved place bring the next step's element to light?"""
    return opened_a_part(situation.steps, situation.memory, place, situation.test_id_attribute)


def opened_a_part(steps: Steps, memory: Memory, place: Place, test_id_attribute: str = "data-testid") -> bool:
    """Did the step at a saved place bring the next step's element to light, when the test was green?"""
    seen = memory.at(place)
    following = next((step for at, step in walk(steps) if at > place), None)
    if seen is None or following is None or following.locator is None or following.asserts_outcome:
        return False
    try:
        found = resolve_ways(following.locator, seen.page, test_id_attribute)
    except Unresolvable:
        return False
    return not any(seen.page.elements[one].visible for one in found)


def _heal_failing(situation: Situation, place: Place) -> Healed | None:
    match, page = find_target(situation, place), situation.page
    if match is None or page is None or match.element is None:
        return None
    if is_in_opened_menu(situation, place, match):
        seen = situation.memory.at(place)
        old = (seen.page, seen.target) if seen and seen.target is not None else None
        healed = _rewritten(situation, place, page, match, old)
        return replace(healed, doubt=IN_MENU, vouched=True) if healed else None
    if match.verdict != "found" and not match.reworded:
        return None
    if match.element == situation.red.target:
        return None  # the locator is right; something else is in the way
    seen = situation.memory.at(place)
    old = (seen.page, seen.target) if seen and seen.target is not None else None
    if match.reworded and old is not None and old[0].elements[old[1]].role != page.elements[match.element].role:
        return None  # other words and another kind of control: all that it kept is the place
    if match.reworded:
        healed = _rewritten(situation, place, page, match, old) if situation.red.cause != "check" else None
        return replace(healed, doubt=match.reworded, vouched=True) if healed else None
    if situation.red.cause != "check":
        return _rewritten(situation, place, page, match, old)
    # The check read something, and it does not hold: only what it read is in question, and only if that is surely not
    # what it was there to read.
    hit = situation.red.target
    if hit is None or hit < 0 or old is None or same_thing(page, hit, match.element):
        return None
    healed = _rewritten(situation, place, page, match, old)
    return replace(healed, doubt=READS_ANOTHER) if healed else None


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
        opens = opens_a_part(situation, place)
        match = find_became(seen.page, target, page, action=step.kind, opens=opens)
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
        opens = opens_a_part(situation, place)
        match = find_became(seen.page, seen.target, page, action=step.kind, opens=opens)
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
    avoided = all_expected(situation)
    # What is to be chosen may be known by nothing but what the test then checks: "open Tom, and Tom is shown". That is
    # circular only on the check itself.
    for avoid in (avoided,) if step.asserts_outcome or not avoided else (avoided, ()):
        ways = write_locator(
            page,
            match.element,
            author=author,
            avoid_text=avoid,
            test_id_attribute=situation.test_id_attribute,
        )
        if ways:
            break
    else:
        return None
    new = replace_locator(step, name, ways[0])
    element = page.elements[match.element]
    before = old[0].elements[old[1]] if old else None
    renamed = before is not None and still(before.name).casefold() != still(element.name).casefold()
    if before is None:
        doubt = "the test was never green here, so only its locator tells what it meant"
    elif renamed and before.name and not step.asserts_outcome:
        doubt = "its visible name is another one now"
    elif lost := sorted(set(names_in(author)) - set(names_in(ways[0]))):
        doubt = f"the old locator followed the variable '{lost[0]}', and the new one does not"
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
