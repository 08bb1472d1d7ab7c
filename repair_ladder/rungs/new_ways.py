"""Planners for an app that leads another way to the same target: tabs, menus, further pages, other kinds of controls.

Each inserts as little as it can. What it brings into the page still has to be what the old element became, which the
gate asks of the run; an insert without which the run is green is dropped again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from radar.at_risk import resolve_ways
from radar.diff import in_words
from radar.elements import Element, PageSnapshot, fold
from radar.errors import Unresolvable
from radar.locators import Locator
from radar.matching import find_again
from repair_ladder.harm import destructive_word
from repair_ladder.operations import Operation
from repair_ladder.rungs import SUGGEST_FIX, Candidate, Situation
from repair_ladder.rungs.planning import (
    any_of,
    before,
    came,
    can_be_clicked,
    its_row,
    opener,
    row_around,
    says,
    written,
)
from repair_ladder.rungs.self_heal import IN_MENU, POPUPS, find_target, newly_opens, opens_a_part
from repair_ladder.steps import Place, Step, show_place, walk

MOST_WAIT_MS: Final = 30_000  # so long an app may be busy before a person has to look at it

# The whole of a control's name, so that "Continue as guest" is not among them.
ONWARDS: Final = re.compile(
    r"(?:(?:go|save|and) )*(?:next|continue|proceed|forward|onwards)(?: (?:step|page))?"
    r"|weiter|nächster schritt|fortfahren|suivant|continuer|siguiente|continuar|avanti|continua|próximo|avançar"
    r"|volgende|verder|dalej|nästa|fortsätt",
    re.IGNORECASE,
)
BUSY_WORDS: Final = any_of(("loading|please wait|processing|one moment", "lädt|bitte warten|chargement|cargando|laden"))
BUSY_MARKS: Final = re.compile(r"(?:^|[\s_-])(?:spinner|loader|loading|skeleton|busy|progress)(?:$|[\s_-])", re.I)


def _is_lost(situation: Situation) -> bool:
    """Does the failing step's element stand nowhere on the page, so that something may have to bring it there?

    One that stands in its place under a name without a word in common may be what leads to it.
    """
    place, page = situation.place, situation.page
    if place is None or page is None or situation.red.cause != "missing":
        return False
    match, seen = find_target(situation, place), situation.memory.at(place)
    if match is None or match.verdict != "found" or match.element is None:
        return True
    if seen is None or seen.target is None:
        return False
    was, is_now = says(seen.page, seen.page.elements[seen.target]), says(page, page.elements[match.element])
    return bool(was and is_now) and not set(re.findall(r"\w+", was.casefold())) & set(
        re.findall(r"\w+", is_now.casefold())
    )


def _revealed_by(
    situation: Situation, page: PageSnapshot, index: int, why: str, *, doubt: str = ""
) -> Candidate | None:
    """A click before the failing step that brings its target into the page."""
    place, locator = situation.place, written(situation, page, index)
    if place is None or locator is None or destructive_word(says(page, page.elements[index])):
        return None
    words = in_words(page, index)
    return Candidate(
        (Operation("insert", before(place), Step("click", locator), f"{words} {why}"),),
        SUGGEST_FIX,
        f"the target of step {show_place(place)} is not on the page until {words} is used",
        doubt=doubt,
        reveals=True,
    )


# --- one page became several -----------------------------------------------------------------------------


def open_tab(situation: Situation) -> Iterator[Candidate]:
    """The page was split into tabs: look behind those that are not open."""
    place, page = situation.place, situation.page
    if place is None or page is None or not _is_lost(situation):
        return
    new = came(situation, place)
    for element in page.elements:
        shut = element.role == "tab" and element.get("aria-selected") != "true"
        if shut and element.index in new and can_be_clicked(element):
            one = _revealed_by(situation, page, element.index, "opens the part of the page that the target moved to")
            if one:
                yield one


def go_on_to_next_page(situation: Situation) -> Iterator[Candidate]:
    """A form was split into pages: the one new control that leads on, by the whole of its name."""
    place, page = situation.place, situation.page
    if place is None or page is None or not _is_lost(situation):
        return
    new = came(situation, place)
    onwards = [
        element
        for element in page.elements
        if element.index in new and can_be_clicked(element) and ONWARDS.fullmatch(_bare(says(page, element)))
    ]
    if len(onwards) == 1:
        one = _revealed_by(
            situation,
            page,
            onwards[0].index,
            "leads to the page that the target moved to",
            doubt="the app asks on several pages now",
        )
        if one:
            yield one


def _bare(name: str) -> str:
    """A name without arrows and marks around it."""
    return re.sub(r"^\W+|\W+$", "", name)


# --- what opens a part of the page became another control -------------------------------------------------


def open_the_same_part(situation: Situation) -> Iterator[Candidate]:
    """A step that only folded something open has lost its control: take the one that folds the same thing now.

    The old control is known by what it did: the next step's element was hidden before it and shown after it. The new
    one is known by the page: that very element stands folded away, and this is what opens it. What a control is called
    may change altogether then, so a person looks at it.
    """
    place, page = situation.place, situation.page
    if place is None or page is None or situation.red.cause != "missing":
        return
    step, seen = situation.step_now(place), situation.memory.at(place)
    if step is None or step.kind != "click" or step.locator is None or seen is None or seen.target is None:
        return
    match, folded = find_target(situation, place), _folded_by(situation, place, page)
    if match is None or match.verdict == "found" or folded is None:
        return
    control = opener(page, folded)
    locator = written(situation, page, control) if control is not None else None
    if control is None or locator is None or destructive_word(says(page, page.elements[control])):
        return
    words = in_words(page, control)
    why = f"{words} opens the part of the page that holds {in_words(page, folded)}, as the old one did"
    yield Candidate(
        (Operation("replace", place, replace(step, locator=locator), why),),
        SUGGEST_FIX,
        f"what step {show_place(place)} opened is opened by {words} now",
        doubt="another control opens the same part of the page",
        because=(why,),
        vouched=frozenset({place}),
    )


def _folded_by(situation: Situation, place: Place, page: PageSnapshot) -> int | None:
    """What the step at `place` brought to light, where it stands folded away on the failing page.

    It is the next step's element: hidden on the old page before that step, and shown after it.
    """
    seen = situation.memory.at(place)
    following = next((one for one in walk(situation.steps) if one[0] > place), None)
    after = situation.memory.at(following[0]) if following else None
    if seen is None or following is None or following[1].locator is None or after is None or after.target is None:
        return None
    try:
        was = resolve_ways(following[1].locator, seen.page, situation.test_id_attribute)
        now = resolve_ways(following[1].locator, page, situation.test_id_attribute)
    except Unresolvable:
        return None
    came_to_light = after.page.elements[after.target].visible and after.page.url == seen.page.url
    if not came_to_light or len(was) != 1 or seen.page.elements[was[0]].visible:
        return None
    return now[0] if len(now) == 1 and not page.elements[now[0]].visible else None


# --- behind a menu ---------------------------------------------------------------------------------------


def open_menu(situation: Situation) -> Iterator[Candidate]:
    """The target moved into a menu or a fold-out that is built only when it is opened."""
    place, page = situation.place, situation.page
    if place is None or page is None or not _is_lost(situation):
        return
    new = came(situation, place)
    seen = situation.memory.at(place)
    near = its_row(situation, place, page)
    openers = [
        element
        for element in page.elements
        if can_be_clicked(element)
        and not element.covered
        and element.get("aria-expanded") != "true"
        and (element.get("aria-haspopup") in POPUPS or element.get("aria-expanded") == "false")
        and (element.index in new or _opens_now(situation, place, element))
        and element.role != "tab"
        and (element.index in near or not _is_in_a_row(situation, place, page, element.index))
    ]
    if seen is None:
        return
    for element in sorted(openers, key=lambda one: (one.index not in near, one.index)):
        one = _revealed_by(situation, page, element.index, "opens what the target moved into")
        if one:
            yield one


def choose_from_opened_menu(situation: Situation) -> Iterator[Candidate]:
    """A click went to what is now the button of a menu, and the menu that it opened holds what was meant.

    The step did not fail: its locator finds the menu's button in the old place. Known by the failing page, where the
    menu stands open, with one item of the very name.
    """
    page, at = situation.page, situation.place
    if page is None or at is None or situation.red.cause not in ("check", "missing"):
        return
    for place, _ in reversed([one for one in walk(situation.steps) if one[0] < at]):
        step, seen = situation.step_now(place), situation.memory.at(place)
        met = situation.red.trace.seen(situation.place_now(place) or ())
        if step is None or step.kind != "click" or step.locator is None or seen is None or seen.target is None:
            continue
        if met is None or met[1] < 0 or not newly_opens(seen.page, seen.target, *met) or opens_a_part(situation, place):
            return
        name = says(seen.page, seen.page.elements[seen.target]).casefold()
        items = [
            one.index
            for one in page.elements
            if can_be_clicked(one) or one.role == "menuitem"
            if one.visible and says(page, one).casefold() == name
            if any(around.role == "menu" for around in page.ancestors(one.index))
        ]
        locator = written(situation, page, items[0]) if name and len(items) == 1 else None
        if locator is None or destructive_word(says(*_element(met))):
            return
        opener_words, words = in_words(*met), in_words(page, items[0])
        yield Candidate(
            (
                Operation("insert", before(place), Step("click", step.locator), f"{opener_words} stands in its place"),
                Operation("replace", place, replace(step, locator=locator), f"{words} is in the menu that it opens"),
            ),
            SUGGEST_FIX,
            f"the target of step {show_place(place)} moved into the menu of {opener_words}",
            doubt=IN_MENU,
            because=(f"{words} has its name, in the menu that stands in its place",),
            vouched=frozenset({place}),
        )
        return


def _element(met: tuple[PageSnapshot, int]) -> tuple[PageSnapshot, Element]:
    return met[0], met[0].elements[met[1]]


def _is_in_a_row(situation: Situation, place: Place, page: PageSnapshot, index: int) -> bool:
    """Does it stand in a row of the kind that the target stood in? Then it is the control of that row alone."""
    seen = situation.memory.at(place)
    around = row_around(seen.page, seen.target) if seen and seen.target is not None else None
    return around is not None and any(one.role == around.role for one in page.ancestors(index))


def _opens_now(situation: Situation, place: Place, element: Element) -> bool:
    """Did an element that was there before become one that opens something?"""
    seen, page = situation.memory.near(place), situation.page
    if seen is None or page is None:
        return False
    name = fold(says(page, element)).casefold()
    before_it = [one for one in seen.page.elements if name and fold(says(seen.page, one)).casefold() == name]
    return bool(before_it) and not any("aria-expanded" in one.attributes for one in before_it)


# --- another kind of control -----------------------------------------------------------------------------


def pick_from_list_box(situation: Situation) -> Iterator[Candidate]:
    """A native select became a box that opens a list: open it, and take the same option."""
    place, page = situation.place, situation.page
    if place is None or page is None:
        return
    step = situation.step_now(place)
    wanted = step.parameters.get("option") if step and step.kind == "select" else None
    target = _became(situation, place, action="click")
    if not isinstance(wanted, str) or target is None:
        return
    box = page.elements[target]
    if box.tag == "select" or not (box.role in ("combobox", "listbox", "button") or box.get("aria-haspopup")):
        return
    locator = written(situation, page, target)
    if locator is None:
        return
    option = Locator(role="option", name=wanted, exact=True)
    opens = () if box.role == "listbox" else (Operation("insert", before(place), Step("click", locator), "it opens"),)
    yield Candidate(
        (
            *opens,
            Operation("insert", before(place), Step("click", option), f'the same option, "{wanted}"'),
            Operation("delete", place, None, f"{in_words(page, target)} is no native list any more"),
        ),
        SUGGEST_FIX,
        f"the list of step {show_place(place)} is one of the app's own now: it is opened and the same option taken",
        doubt="a native list became one of the app's own",
        dropped=frozenset({place}),
    )


def press_toggle(situation: Situation) -> Iterator[Candidate]:
    """A checkbox became a button that is pressed in: press it, if it is not as the step wants it."""
    place, page = situation.place, situation.page
    if place is None or page is None:
        return
    step, target = situation.step_now(place), _became(situation, place, action="click")
    if step is None or step.kind not in ("check", "uncheck") or target is None:
        return
    pressed = page.elements[target].get("aria-pressed")
    locator = written(situation, page, target)
    if pressed not in ("true", "false") or locator is None or (pressed == "true") == (step.kind == "check"):
        return
    new = replace(step, kind="click", locator=locator, parameters={})
    yield Candidate(
        (Operation("replace", place, new, f"{in_words(page, target)} is pressed in where a box was ticked"),),
        SUGGEST_FIX,
        f"the box of step {show_place(place)} is a button now",
        doubt="a click toggles: it does the same only as long as the button starts as it does now",
    )


def _became(situation: Situation, place: Place, *, action: str | None = None) -> int | None:
    """The element that the step's own became, judged by identity; `action` is what is done to it now."""
    seen, page = situation.memory.at(place), situation.page
    if seen is None or seen.target is None or page is None:
        return None
    match = find_again(seen.page, seen.target, page, action=action)
    return match.element if match.verdict == "found" else None


# --- a race --------------------------------------------------------------------------------------------


def wait_until_ready(situation: Situation) -> Iterator[Candidate]:
    """The page says that it is still busy: wait for that to end instead of hoping that the app is fast."""
    place, page = situation.place, situation.page
    if (
        place is None
        or page is None
        or situation.red.cause not in ("missing", "hidden", "disabled", "check", "covered")
    ):
        return
    new = came(situation, place)
    busy = next((e for e in page.elements if e.visible and e.index in new and _is_busy(page, e)), None)
    locator = written(situation, page, busy.index) if busy else None
    step = situation.step_now(place)
    if busy is None or locator is None or step is None:
        return
    words = in_words(page, busy.index)
    if situation.red.cause in ("missing", "hidden", "disabled") and step.locator is not None:
        state = "enabled" if situation.red.cause == "disabled" else "visible"
        given = {"for": step.locator, "state": state}
    else:  # the sign is shown by now; what the check reads is right once it is gone
        given = {"for": locator, "state": "hidden"}
    wait = Step("wait", None, given, timeout_ms=MOST_WAIT_MS)
    yield Candidate(
        (Operation("insert", before(place), wait, f"{words} is shown until the page is ready"),),
        SUGGEST_FIX,
        f"step {show_place(place)} came while the page was still busy ({words})",
        doubt="the app is slower than the test allows for",
    )


def wait_for_late_data(situation: Situation) -> Iterator[Candidate]:
    """A step was played while the page still loaded, and what then came took its effect away: wait before it."""
    if situation.place is None or situation.red.cause not in ("check", "missing", "option"):
        return
    for played in situation.red.trace.played:
        place = situation.saved_place(played.place)
        seen = situation.memory.at(place) if place else None
        if place is None or seen is None or played.snapshot is None or place >= situation.place:
            continue
        page = situation.red.trace.snapshots[played.snapshot]
        busy = next((one for one in page.elements if one.visible and _is_busy(page, one)), None)
        if busy is None or any(one.visible and _is_busy(seen.page, one) for one in seen.page.elements):
            continue
        until = _until_ready(situation, place, page) or _until_gone(situation, page, busy)
        if until is not None:
            words = in_words(page, busy.index)
            wait = Step("wait", None, until, timeout_ms=MOST_WAIT_MS)
            yield Candidate(
                (Operation("insert", before(place), wait, f"{words} is shown until the page is ready"),),
                SUGGEST_FIX,
                f"step {show_place(place)} came while the page was still busy ({words})",
                doubt="the app is slower than the test allows for",
            )
        return


def _until_ready(situation: Situation, place: Place, page: PageSnapshot) -> dict[str, object] | None:
    """For a wait: a later step's element that cannot be used yet, and could when the test was green."""
    for later, _ in walk(situation.steps):
        step, seen = situation.step_now(later), situation.memory.at(later)
        if later < place or step is None or step.locator is None or step.asserts_outcome:
            continue
        if seen is None or seen.target is None or not seen.page.elements[seen.target].enabled:
            continue
        try:
            found = resolve_ways(step.locator, page, situation.test_id_attribute)
        except Unresolvable:
            continue
        if len(found) == 1 and not page.elements[found[0]].enabled:
            return {"for": step.locator, "state": "enabled"}
    return None


def _until_gone(situation: Situation, page: PageSnapshot, busy: Element) -> dict[str, object] | None:
    locator = written(situation, page, busy.index)
    return {"for": locator, "state": "hidden"} if locator else None


def _is_busy(page: PageSnapshot, element: Element) -> bool:
    if element.get("aria-busy") == "true" or element.role == "progressbar":
        return True
    if BUSY_MARKS.search(element.get("class")) or BUSY_MARKS.search(element.get("id")):
        return True
    return element.role in ("status", "alert") and bool(BUSY_WORDS.match(page.texts[element.index]))


# --- something has to be done first ------------------------------------------------------------------------


def tick_what_enables(situation: Situation) -> Iterator[Candidate]:
    """A control can only be used once a new box is ticked, and nothing but the control itself says so.

    One box at a time: which one it is shows when the control can be used. What a person agrees to with it is not for a
    machine to say.
    """
    place, page, target = situation.place, situation.page, situation.red.target
    if place is None or page is None or target is None or target < 0 or situation.red.cause != "disabled":
        return
    new = came(situation, place)
    around = next((one.index for one in page.ancestors(target) if one.tag in ("form", "dialog", "main", "body")), None)
    boxes = [
        element
        for element in page.elements
        if element.index in new
        and element.visible
        and element.enabled
        and element.role in ("checkbox", "switch", "radio")
        and not element.checked
        and element.get("aria-checked") != "true"
        and (around is None or page.is_inside(element.index, around))
        and not destructive_word(says(page, element))
    ]
    # The nearest before the control first: conditions stand above what they are the conditions of.
    for element in sorted(boxes, key=lambda one: (one.index > target, -one.index)):
        locator = written(situation, page, element.index)
        if locator is None:
            continue
        words = in_words(page, element.index)
        yield Candidate(
            (Operation("insert", before(place), Step("check", locator), f"{words} is new, and comes first"),),
            SUGGEST_FIX,
            f"the control of step {show_place(place)} cannot be used until {words} is ticked",
            doubt="what is agreed to with a box is for a person to say",
        )


# --- a search that has to be sent off ----------------------------------------------------------------------

SEARCH_WORDS: Final = any_of(
    (
        "search|find|filter|look up",
        "such|recherch|chercher|busca|cerca|ricerca|procura|pesquis|zoek|szukaj|s\u00f6k",
    )
)
SEARCH_NAMES: Final = frozenset({"q", "s", "query", "search", "filter", "term", "keyword", "keywords"})


def send_search_off(situation: Situation) -> Iterator[Candidate]:
    """What was typed into a search field is no longer looked for while it is typed: press Enter."""
    place, page = situation.place, situation.page
    if place is None or page is None or situation.red.cause not in ("check", "missing"):
        return
    earlier = [at for at, _ in walk(situation.steps) if at < place]
    step = situation.step_now(earlier[-1]) if earlier else None
    met = situation.red.trace.seen(situation.place_now(earlier[-1]) or ()) if earlier else None
    if step is None or step.kind not in ("fill", "type") or step.locator is None or met is None or met[1] < 0:
        return
    if not _is_search(*met):
        return
    words = in_words(*met)
    yield Candidate(
        (Operation("insert", earlier[-1], Step("press", step.locator, {"key": "Enter"}), f"it sends {words} off"),),
        SUGGEST_FIX,
        f"what step {show_place(earlier[-1])} types is looked for only once it is sent off",
        doubt="the app may have meant to search by itself, as it did before",
    )


def _is_search(page: PageSnapshot, index: int) -> bool:
    field = page.elements[index]
    if field.role == "searchbox" or field.get("type").lower() == "search":
        return True
    if field.role not in ("textbox", "combobox"):
        return False
    named = {field.get("name").lower(), field.get("id").lower()} & SEARCH_NAMES
    called = SEARCH_WORDS.match(field.name or field.get("placeholder"))
    return bool(named or called) or any(one.role == "search" for one in page.ancestors(index))
