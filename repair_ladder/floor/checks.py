"""Why a check may not be changed, or may not look where its new locator points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from radar.locators import Locator
from repair_ladder.floor.case import Case
from repair_ladder.floor.comparing import terms_of
from repair_ladder.floor.expected import expects_absence, fold, gives_away
from repair_ladder.floor.kinds import SETTING, WITHOUT_MOVES
from repair_ladder.floor.locators import (
    catch_all,
    conditions_of,
    every_part,
    has_position,
    is_ancestor,
    is_loosened,
    newly_shares,
    own_texts,
    states_of,
    texts_of,
)
from repair_ladder.floor.reach import against_reach
from repair_ladder.floor.wording import expectation, one_line, place_in_words
from repair_ladder.steps import Place, Step, show_place

# What a locator must not ask for when the check is to find it out.
STATES: Final[Mapping[str, frozenset[str]]] = {
    "assert_visible": frozenset({"visible", "hidden", "aria-hidden"}),
    "assert_hidden": frozenset({"visible", "hidden", "aria-hidden"}),
    "assert_enabled": frozenset({"enabled", "disabled", "aria-disabled"}),
    "assert_disabled": frozenset({"enabled", "disabled", "aria-disabled"}),
    "assert_checked": frozenset({"checked", "aria-checked", "aria-pressed", "data-state", "data-checked"}),
    "assert_value": frozenset({"value", "aria-valuenow", "aria-valuetext"}),
}


def against_changed_check(case: Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if not new.asserts_outcome:
        return (
            f"putting “{expectation(new)}” in the place of the check at step {number}, “{expectation(old)}”. Only a "
            "person takes a check out of a test."
        )
    if terms_of(old) != terms_of(new):
        return (
            f"rewriting the expectation at step {number} from “{expectation(old)}” to “{expectation(new)}”. Only a "
            "person changes what a test expects."
        )
    if reached := against_reach(case, new, old):
        return f"changing step {number}: {reached}"
    if why := _against_move(old, new, shown=place in case.identified):
        return f"moving the check at step {number}, “{expectation(old)}”, to {place_in_words(new.locator)}. {why}"
    for at, step in case.before(place):
        for form in case.forms(at, step):
            if newly_shares(SETTING, (step, form), (old, new)):
                return (
                    f"moving the check at step {number}, “{expectation(old)}”, to {place_in_words(new.locator)}. Step "
                    f"{show_place(at)} itself puts there what the check would read."
                )
    return None


def _against_move(old: Step, new: Step, *, shown: bool) -> str | None:
    """Why a check may not look where its new locator points, judged from the locators alone."""
    here, there = old.locator, new.locator
    if here == there:
        return None
    if old.kind in WITHOUT_MOVES or old.kind == "wait":
        return "This kind of check has no locator that a repair could move."
    if here is None or there is None:
        return "A repair moves a locator; it neither takes it away nor adds one."
    if old.kind == "a11y_audit":
        return _against_narrowing(here, there)
    if expects_absence(old) and not shown:
        return "It expects that something is not there, and that holds at almost any other place."
    return against_target((old,), here, there)


def against_target(checks: Iterable[Step], old: Locator, new: Locator) -> str | None:
    known = old.ways()
    inner = [one for one in every_part(replace(new, alternatives=())) if one.alternatives]
    if any(way not in known for way in new.alternatives) or not set(inner) <= set(every_part(old)):
        return "A new alternative would let another element satisfy it."
    main = replace(new, alternatives=())
    if main in known:
        return None
    if has_position(main) and not has_position(old):
        return "A position picks one of several elements and lets another one satisfy it."
    if why := catch_all(main):
        return why
    if not conditions_of(main) <= {one for way in known for one in conditions_of(way)}:
        return "A pattern or a condition on what it holds lets another element satisfy it."
    if any(is_ancestor(main, way) for way in known):
        return "That is what the old element stands in; it holds more than the element does."
    if any(is_loosened(main, way) for way in known):
        return "That is the old locator with conditions taken away; it finds more than the element."
    for check in checks:
        if why := _circular(check, old, main):
            return why
        if lost := _lost_text(check, old, main):
            return f"The text “{one_line(lost)}” is what it expects to find."
    return None


def _against_narrowing(old: Locator, new: Locator) -> str | None:
    """The wider the scope, the stricter an audit; for every other check it is the other way about."""
    main = replace(old, alternatives=())
    if (catch_all(main) and not catch_all(new)) or is_ancestor(main, new) or is_loosened(main, new):
        return "A narrower scope checks less."
    return None


def _circular(check: Step, old: Locator, new: Locator) -> str | None:
    """An element chosen by what the check is to find out cannot fail the check."""
    known = {fold(text) for way in old.ways() for text in texts_of(way, check)}
    for text in texts_of(new, check):
        if fold(text) not in known and gives_away(text, check):
            return f"The new locator looks for “{one_line(text)}”, which the check is to find out."
    asked = STATES.get(check.kind, frozenset())
    if check.kind == "assert_attribute":
        asked = frozenset({str(check.parameters.get("attribute")).lower()})
    before = {state for way in old.ways() for state in states_of(way)}
    if named := sorted((asked & states_of(new)) - before):
        return f"The new locator looks for “{one_line(named[0])}”, which the check is to find out."
    return None


def _lost_text(check: Step, old: Locator, new: Locator) -> str | None:
    """The text that names the element of a presence check and that the new locator no longer asks for."""
    if check.kind not in ("assert_visible", "assert_hidden", "assert_count"):
        return None
    kept = [(fold(text), new.exact) for text in (*own_texts(new), new.name) if text]
    for text in own_texts(old):
        if not any(fold(text) in there and (exact or not old.exact) for there, exact in kept):
            return text
    return None
