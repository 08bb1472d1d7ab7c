"""Why a neutral step or an action may not be changed or dropped."""

from __future__ import annotations

from radar.locators import Locator
from repair_ladder.floor.case import Case
from repair_ladder.floor.checks import against_target
from repair_ladder.floor.comparing import deed_of, kin, same_deed
from repair_ladder.floor.expected import expects_absence, lands_on
from repair_ladder.floor.insertions import against_insertion
from repair_ladder.floor.kinds import NEUTRAL, SETTING
from repair_ladder.floor.locators import newly_shares
from repair_ladder.floor.reach import against_reach, leaves
from repair_ladder.floor.variables import names_read
from repair_ladder.floor.wording import expectation, one_line, place_in_words
from repair_ladder.steps import Place, Step, show_place


def against_losing(case: Case, place: Place, old: Step) -> str | None:
    """Neutral steps may go (G43), unless a later step leans on them."""
    number = show_place(place)
    if old.kind == "extract" and str(old.parameters.get("into")) in names_read(case.after(place)):
        return f"changing what step {number} extracts, “{expectation(old)}”. A later step reads that variable."
    if old.kind == "wait" and _leads_to_absence(case, place):
        return (
            f"changing the wait at step {number}, “{expectation(old)}”. The check after it expects that something is "
            "not there, and would look too early to see it."
        )
    return None


def _leads_to_absence(case: Case, place: Place) -> bool:
    for _, step in case.after(place):
        if step.asserts_outcome:
            return expects_absence(step)
        if step.kind not in NEUTRAL:
            return False
    return False


def against_changed_neutral(case: Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    leaned_on = None if place in case.dropped else against_losing(case, place, old)
    if old.kind != new.kind or new.asserts_outcome or deed_of(old) != deed_of(new):
        return leaned_on or against_insertion(case, place, new, f"in the place of step {number}", old)
    if reached := against_reach(case, new, old):
        return f"changing step {number}: {reached}"
    if leaned_on and (old.timeout_ms, old.optional) != (new.timeout_ms, new.optional):
        return leaned_on
    if leaned_on and old.kind == "wait":
        return _against_moved_wait(place, old, new)
    if old.kind == "extract" and old.locator != new.locator:
        return _against_moved_reading(case, place, old, new)
    return None


def _against_moved_wait(place: Place, old: Step, new: Step) -> str | None:
    """A wait before a check of absence must not be over at once."""
    here, there = old.parameters.get("for"), new.parameters.get("for")
    if not isinstance(here, Locator) or not isinstance(there, Locator):
        return None
    why = against_target((), here, there)
    return why and f"moving the wait at step {show_place(place)} to {place_in_words(there)}. {why}"


def _against_moved_reading(case: Case, place: Place, old: Step, new: Step) -> str | None:
    """Where a check reads a variable, the extract that fills it is the place where the check looks (G38)."""
    readers = [
        step
        for _, step in case.after(place)
        if step.asserts_outcome and str(old.parameters.get("into")) in names_read([((), step)])
    ]
    if not readers:
        return None
    if old.locator is None or new.locator is None:
        why: str | None = "A check reads what it extracts."
    elif any(expects_absence(step) for step in readers) and place not in case.identified:
        why = "A check expects that something is not there, and that holds at almost any other place."
    else:
        why = against_target(readers, old.locator, new.locator)
    return why and f"moving what step {show_place(place)} extracts to {place_in_words(new.locator)}. {why}"


def against_changed_action(case: Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if foreign := leaves(case, old, new):
        return f"changing step {number}: {foreign}"
    if place in case.dropped and not same_deed(old, new, renamed=place in case.renamed):
        return against_insertion(case, place, new, f"in the place of step {number}", old)
    if old.kind != new.kind and not kin(old, new):
        return (
            f"putting “{expectation(new)}” in the place of step {number}, “{expectation(old)}”. That is another deed, "
            "and the checks after it would no longer verify this one."
        )
    if not same_deed(old, new, renamed=place in case.renamed):
        return (
            f"changing what step {number} does from “{expectation(old)}” to “{expectation(new)}”. A repair changes "
            "where a step acts, not what it does."
        )
    if new.optional and not old.optional and place not in case.dropped:
        return f"making step {number}, “{expectation(old)}”, optional. The checks after it would pass without it."
    if old.kind != "scroll" and (old.locator is None) != (new.locator is None):
        return f"changing step {number}: a repair moves a locator; it neither takes it away nor adds one."
    if reached := against_reach(case, new, old):
        return f"changing step {number}: {reached}"
    return _against_new_effect(case, place, old, new)


def _against_new_effect(case: Case, place: Place, old: Step, new: Step) -> str | None:
    """A moved or renamed action must not become the reason why a later check holds."""
    number = show_place(place)
    for at, step in case.after(place):
        if not step.asserts_outcome:
            continue
        if any(newly_shares(SETTING, (old, new), (step, form)) for form in case.forms(at, step)):
            return (
                f"moving step {number} to {place_in_words(new.locator)}. The check at step {show_place(at)}, "
                f"“{expectation(step)}”, reads that element."
            )
        url, before = str(new.parameters.get("url")), str(old.parameters.get("url"))
        expects_url = step.kind in ("assert_url", "wait")
        if old.kind == "goto" and expects_url and lands_on(url, step) and not lands_on(before, step):
            return (
                f"sending step {number} straight to {one_line(url)}, which the check at step {show_place(at)} expects "
                "the app to reach."
            )
    return None
