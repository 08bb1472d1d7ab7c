"""Rung 2: the steps no longer fit the page. Small planners without a model, each for one plain kind of drift."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from radar.at_risk import is_required, resolve_ways
from radar.diff import in_words
from radar.elements import Element, PageSnapshot, fold
from radar.errors import Unresolvable
from radar.locators import Locator
from repair_ladder.harm import destructive_word
from repair_ladder.operations import Operation
from repair_ladder.rungs import SUGGEST_FIX, Candidate, Situation, new_ways
from repair_ladder.rungs.planning import any_of, before, can_be_clicked, compared_with_green, opener, says, written
from repair_ladder.rungs.self_heal import find_target
from repair_ladder.steps import Place, Step, show_place, walk

MOST_CHOICES: Final = 2  # candidates of one planner


async def propose(situation: Situation) -> tuple[Candidate, ...]:
    """What the planners make of the failing page, the surest first. Most failures are for one planner alone."""
    return tuple(candidate for plan in PLANNERS for candidate in tuple(plan(situation))[:MOST_CHOICES])


# --- a native dialog that nobody answers ---------------------------------------------------------------


def answer_dialog(situation: Situation) -> Iterator[Candidate]:
    """A confirm or prompt that did not come when the test was green was dismissed: a person may want it accepted.

    Accepting is a decision that cannot be tried out: never run unattended.
    """
    known = {(one.kind, fold(one.message)) for one in situation.memory.dialogs}
    for dialog in reversed(situation.red.trace.evidence.dialogs):
        if dialog.expected or dialog.kind not in ("confirm", "beforeunload") or (dialog.kind, dialog.message) in known:
            continue
        place = situation.saved_place(dialog.place)
        if place is None:
            continue
        yield Candidate(
            (
                Operation(
                    "insert",
                    before(place),
                    Step("dialog", None, {"answer": "accept"}),
                    f'step {show_place(place)} now asks "{dialog.message[:160]}"',
                ),
            ),
            SUGGEST_FIX,
            f"the app asks for confirmation in step {show_place(place)}, and nothing answered",
            doubt="to accept a question is a decision",
            harm=f'it accepts the new question "{dialog.message[:160]}"',
        )
        return


CONSENTING: Final = "it may give a consent that the test never gave"
GUESSED: Final = "which value is meant is for a person to say"


# --- something in the way ------------------------------------------------------------------------------

# Choices on a banner or a dialog, in words of several languages: first those that give no consent, then those that
# only put the thing away; consent itself comes last and never without a person.
REFUSALS: Final = (
    "only (?:what is )?(?:needed|necessary|essential|required)",
    "(?:needed|necessary|essential|required)(?: cookies)? only",
    "reject|decline|deny|refuse|disagree",
    "(?:do not|don.t) (?:accept|allow|consent)",
    "without (?:accepting|consent)",
    "ablehnen|nur (?:notwendige|erforderliche|essenzielle)",
    "refuser|continuer sans accepter",
    "rechazar|solo necesari|rifiuta|rejeitar",
    "weigeren|alleen noodzakelijk|odrzu\u0107|avvisa|endast n\u00f6dv\u00e4ndig",
)
DISMISSALS: Final = (
    "no,? thanks|not now|maybe later|later\\b|skip|dismiss|close|remind me|got it|x\\b",
    "\u00d7|\u2715|\u2716",
    "schlie\u00dfen|sp\u00e4ter|nicht jetzt|\u00fcberspringen",
    "fermer|plus tard|passer|cerrar|ahora no|omitir|chiudi|salta|fechar",
    "sluiten|overslaan|zamknij|st\u00e4ng",
)
CONSENTS: Final = (
    "accept|agree|allow|consent",
    "^(?:ok|okay|yes|i understand|understood)\\b",
    "akzeptieren|zustimmen|annehmen|accepter|aceptar|accetta|aceitar|accepteren|akceptuj|godk\u00e4nn",
)


LEAST_FIRST: Final = (any_of(REFUSALS), any_of(DISMISSALS))
CONSENT: Final = any_of(CONSENTS)


def clear_the_way(situation: Situation) -> Iterator[Candidate]:
    """Something new lies over the target: close it by the choice with the least consent and lasting effect."""
    place, page = situation.place, situation.page
    if place is None or page is None:
        return
    target = situation.red.target
    if target is None:
        match = find_target(situation, place)
        target = match.element if match and match.verdict == "found" else None
    if target is None or not (situation.red.cause == "covered" or page.elements[target].covered):
        return
    compared = compared_with_green(situation, place)
    known = set(compared[1].pairs.values()) if compared else set()
    choices = [
        element
        for element in page.elements
        if can_be_clicked(element)
        and not element.covered
        and element.index not in known
        and not page.is_inside(target, element.index)
    ]
    choices = [one for one in choices if _in_an_overlay(page, one.index, target)]
    for rank, pattern in enumerate(LEAST_FIRST):
        for choice in choices:
            if pattern.search(says(page, choice)):
                consent = rank > 0 and _speaks_of_consent(page, choice)
                yield from _click_away(situation, place, page, choice, CONSENTING if consent else "")
    for choice in choices:
        if CONSENT.search(says(page, choice)):
            yield from _click_away(situation, place, page, choice, CONSENTING)


def _click_away(
    situation: Situation, place: Place, page: PageSnapshot, choice: Element, doubt: str
) -> Iterator[Candidate]:
    locator = written(situation, page, choice.index)
    if locator is None or destructive_word(says(page, choice)):
        return
    words = in_words(page, choice.index)
    yield Candidate(
        (
            Operation(
                "insert", before(place), Step("click", locator), f"something new is in the way; {words} closes it"
            ),
        ),
        SUGGEST_FIX,
        f"something covers the target of step {show_place(place)}; {words} closes it",
        doubt=doubt,
    )


def _in_an_overlay(page: PageSnapshot, index: int, target: int) -> bool:
    """Is it in a part of the page that lies over the target and does not hold it?"""
    return not any(
        page.is_inside(target, around.index)
        and around.tag not in ("html", "body")
        and around.role in ("form", "dialog")
        for around in page.ancestors(index)
    )


def _speaks_of_consent(page: PageSnapshot, choice: Element) -> bool:
    words = re.compile(r"cookie|consent|privacy|tracking|datenschutz|confidentialit|privacidad", re.IGNORECASE)
    return any(
        words.search(page.texts[around.index])
        for around in page.ancestors(choice.index)
        if around.tag not in ("html", "body")
    )


# --- a new required field ------------------------------------------------------------------------------


def fill_required(situation: Situation) -> Iterator[Candidate]:
    """The form asks for something new before it lets the test go on: give exactly that, by its own constraints."""
    place, page = situation.place, situation.page
    if place is None or page is None:
        return
    submit = _last_click(situation, place)
    if submit is None:
        return
    at, pressed = submit
    compared = compared_with_green(situation, at)
    if compared is None:
        return
    old, matched = compared
    back = {new: was for was, new in matched.pairs.items()}
    form = next((e.index for e in page.ancestors(pressed) if e.tag == "form"), None)
    fields = [
        element
        for element in page.elements
        if element.visible
        and _is_asked_for(element)
        and (form is None or page.is_inside(element.index, form))
        and (element.index not in back or not is_required(old.elements[back[element.index]]))
        and element.index not in _filled(situation, page)
    ]
    fields = [one for number, one in enumerate(fields) if not _stands_for(one, fields[:number])]
    operations = []
    for element in fields:
        step = _answer(situation, page, element)
        if step is None:
            return
        operations.append(
            Operation("insert", before(at), step, f"{in_words(page, element.index)} is new and has to be filled in")
        )
    if operations:
        names = ", ".join(in_words(page, element.index) for element in fields)
        # Which option is meant is for a person to say where there is more than one.
        yield Candidate(tuple(operations), SUGGEST_FIX, f"the form has new required fields: {names}", doubt=GUESSED)


def _is_asked_for(element: Element) -> bool:
    """By its own constraints, or because the page's validation says so."""
    return is_required(element) or element.get("aria-invalid") == "true"


def _stands_for(element: Element, earlier: list[Element]) -> bool:
    """Is it a radio button of a group of which another one is answered already?"""
    kind, name = element.get("type").lower(), element.get("name")
    return kind == "radio" and any(one.get("type").lower() == kind and one.get("name") == name for one in earlier)


def _last_click(situation: Situation, place: Place) -> tuple[Place, int] | None:
    """The last click or press before (or at) the failing step whose element still stands on the failing page."""
    page = situation.page
    assert page is not None
    for saved, _ in reversed([one for one in walk(situation.steps) if one[0] <= place]):
        step = situation.step_now(saved)
        if step is None or step.kind not in ("click", "press") or step.locator is None:
            continue
        try:
            found = resolve_ways(step.locator, page, situation.test_id_attribute)
        except Unresolvable:
            return None
        return (saved, found[0]) if len(found) == 1 else None
    return None


def _filled(situation: Situation, page: PageSnapshot) -> set[int]:
    """Elements of the page that a step of the test fills in."""
    filled: set[int] = set()
    for _, step in walk(situation.current):
        if step.locator and step.kind in ("fill", "type", "select", "check", "upload"):
            try:
                filled |= set(resolve_ways(step.locator, page, situation.test_id_attribute))
            except Unresolvable:
                continue
    return filled


def _answer(situation: Situation, page: PageSnapshot, element: Element) -> Step | None:
    """A step that gives a required field what its own constraints ask for; None where only a person can know."""
    locator = written(situation, page, element.index)
    if locator is None:
        return None
    if element.tag == "select":
        options = [
            page.elements[i]
            for i in range(len(page.elements))
            if page.elements[i].tag == "option" and page.is_inside(i, element.index)
        ]
        real = [
            one
            for one in options
            if one.enabled and fold(page.texts[one.index] or one.own_text) and one.attributes.get("value") != ""
        ]
        real = [one for one in real if "value" in one.attributes or one is not options[0]]
        return Step("select", locator, {"option": fold(real[0].own_text)}) if real else None
    kind = element.get("type").lower()
    if kind in ("checkbox", "radio") or element.role in ("checkbox", "radio", "switch"):
        return Step("check", locator)
    if kind in ("number", "range"):
        return Step("fill", locator, {"value": element.get("min") or "1"})
    if kind in ("date", "month", "week", "time", "datetime-local"):
        least = element.get("min")
        return Step("fill", locator, {"value": least}) if least else None
    if kind in ("", "text", "email", "tel", "url", "search") or element.tag == "textarea":
        variable = _variable_for(situation, element, kind)
        return Step("fill", locator, {"value": f"${{{variable}}}"}) if variable else None
    return None


def _variable_for(situation: Situation, element: Element, kind: str) -> str | None:
    """The one variable of the test that is called as the field is; secrets are not among them."""
    called = {
        frozenset(_split(text))
        for text in (element.get("name"), element.get("id"), element.label, element.name, element.get("autocomplete"))
        if text
    }
    if kind in ("email", "tel", "url"):
        called.add(frozenset({kind}))
    alike = [name for name in sorted(situation.variables) if frozenset(_split(name)) in called]
    return alike[0] if len(alike) == 1 else None


def _split(name: str) -> list[str]:
    """The words of a name as programs and people write them: "postCode", "post-code", "Post code *"."""
    return re.findall(r"[^\W\d_]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())


# --- a step whose target is gone while the next one's is there -----------------------------------------


def drop_step(situation: Situation) -> Iterator[Candidate]:
    """A click that only led to what stands on the page by now: the next target was not there before it, and is now."""
    place, page = situation.place, situation.page
    if place is None or page is None or situation.red.cause != "missing":
        return
    step, seen = situation.step_now(place), situation.memory.at(place)
    if step is None or step.kind not in ("click", "hover", "wait") or seen is None or seen.target is None:
        return
    match = find_target(situation, place)
    if match is None or match.verdict != "gone":
        return
    following = next((one for one in walk(situation.steps) if one[0] > place), None)
    if following is None or following[1].locator is None or following[1].asserts_outcome:
        return
    try:
        was = resolve_ways(following[1].locator, seen.page, situation.test_id_attribute)
        now = resolve_ways(following[1].locator, page, situation.test_id_attribute)
    except Unresolvable:
        return
    if any(seen.page.elements[i].visible for i in was) or len(now) != 1 or not page.elements[now[0]].visible:
        return
    yield Candidate(
        (
            Operation(
                "delete",
                place,
                None,
                f"what step {show_place(place)} led to stands on the page already, and its control is gone",
            ),
        ),
        SUGGEST_FIX,
        f"step {show_place(place)} is no longer needed",
        doubt="a step is taken away",
        dropped=frozenset({place}),
    )


# --- an option that got another name --------------------------------------------------------------------


def rename_option(situation: Situation) -> Iterator[Candidate]:
    """The same choice under another name: known by the value that the form sends, else by words of its own."""
    place, page = situation.place, situation.page
    if place is None or page is None or situation.red.cause != "option" or situation.red.target is None:
        return
    step, seen = situation.step_now(place), situation.memory.at(place)
    wanted = step.parameters.get("option") if step and step.kind == "select" else None
    if step is None or seen is None or seen.target is None or not isinstance(wanted, str):
        return
    name = _renamed(_options(seen.page, seen.target), _options(page, situation.red.target), wanted)
    if name is not None:
        new = replace(step, parameters={**step.parameters, "option": name})
        yield Candidate(
            (Operation("replace", place, new, f'the option "{wanted}" is called "{name}" now'),),
            SUGGEST_FIX,
            f'the option of step {show_place(place)} is called "{name}" now',
            doubt="the option has another name now",
            renamed=frozenset({place}),
        )


def _renamed(before: list[Element], after: list[Element], wanted: str) -> str | None:
    """What an option is called now; None where nothing shows it.

    A word that other options had as well ("delivery" of "Evening delivery") says nothing. Nor does a number among the
    values, which counts options and is handed on.
    """
    mine = next((one for one in before if fold(one.own_text) == wanted), None)
    names = {fold(one.own_text) for one in before}
    came = [one for one in after if fold(one.own_text) not in names]
    if mine is None or any(fold(one.own_text) == wanted for one in after):
        return None
    known, value = {_value(one) for one in before}, _value(mine)
    by_value = [one for one in came if value and _value(one) == value]
    if len(by_value) == 1:
        return fold(by_value[0].own_text)
    telling = _words(wanted).difference(*(_words(one.own_text) for one in before if one is not mine))
    alike = [one for one in came if telling & _words(one.own_text)]
    if len(alike) != 1:
        return None
    other = _value(alike[0])
    is_another = bool(value and other) and (other in known or not set(_split(value)) & set(_split(other)))
    return None if is_another else fold(alike[0].own_text)


def _value(option: Element) -> str:
    """What the form sends for an option, where it is a name and no number; "" where it says nothing."""
    value = fold(option.get("value"))
    return value if re.search(r"[^\W\d_]{2,}", value) else ""


def _options(page: PageSnapshot, select: int) -> list[Element]:
    return [e for e in page.elements if e.tag == "option" and page.is_inside(e.index, select)]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


# --- behind a menu or a fold-out -----------------------------------------------------------------------


def open_disclosure(situation: Situation) -> Iterator[Candidate]:
    """The target is in the page but folded away: open what folds it."""
    place, page = situation.place, situation.page
    if place is None or page is None:
        return
    target = situation.red.target
    if target is None:
        target = _folded_away(situation, place, page)
    if target is None or page.elements[target].visible:
        return
    control = opener(page, target)
    if control is None:
        return
    locator = written(situation, page, control)
    if locator is None:
        return
    words = in_words(page, control)
    yield Candidate(
        (Operation("insert", before(place), Step("click", locator), f"the target is folded away; {words} opens it"),),
        SUGGEST_FIX,
        f"the target of step {show_place(place)} is folded away behind {words}",
        reveals=situation.red.target is None,
    )


def _folded_away(situation: Situation, place: Place, page: PageSnapshot) -> int | None:
    """The one hidden element with the name of the target that is gone from sight."""
    seen = situation.memory.at(place)
    if situation.red.cause not in ("missing", "many") or seen is None or seen.target is None:
        return None
    old = seen.page.elements[seen.target]
    name = fold(old.name or seen.page.texts[old.index]).casefold()
    # A hidden element has no accessible name; its text is what it will be called.
    alike = [
        e.index
        for e in page.elements
        if not e.visible and name and fold(e.name or e.own_text).casefold() == name and e.tag not in ("option", "title")
    ]
    return alike[0] if len(alike) == 1 else None


# --- a list that became virtual ------------------------------------------------------------------------

ROWS: Final = frozenset({"row", "listitem", "option", "treeitem", "article"})


@dataclass(frozen=True, slots=True)
class _List:
    scroller: int
    row: int  # one row that is there now


def scroll_to_row(situation: Situation) -> Iterator[Candidate]:
    """The target's row is not in the page, but a list there scrolls and shows rows of the same kind: scroll to it."""
    place, page = situation.place, situation.page
    if place is None or page is None or situation.red.cause != "missing":
        return
    step, seen = situation.step_now(place), situation.memory.at(place)
    if step is None or seen is None or seen.target is None:
        return
    row = row_of(seen.page, seen.target)
    if row is None:
        return
    keys = row_key(seen.page, row, seen.target)
    listed = _virtual_list(page)
    if not keys or listed is None:
        return
    scroller = written(situation, page, listed.scroller)
    if scroller is None:
        return
    until = _row_locator(page.elements[listed.row], keys)
    yield Candidate(
        (
            Operation(
                "insert",
                before(place),
                Step("scroll", scroller, {"until": until}),
                f'the list only holds the rows in view; this brings the row "{" / ".join(keys)}" into it',
            ),
        ),
        SUGGEST_FIX,
        f"the target of step {show_place(place)} is not rendered yet: the list is virtual",
        reveals=True,
    )


def row_of(page: PageSnapshot, index: int) -> Element | None:
    """The row or list item around an element."""
    return next((e for e in page.ancestors(index) if e.role in ROWS or e.tag in ("tr", "li")), None)


def row_key(page: PageSnapshot, row: Element, target: int) -> tuple[str, ...]:
    """The texts that tell a row from the other rows of its list, the fewest that do."""

    def texts(of: Element) -> tuple[str, ...]:
        leaves = (e for e in page.elements if e.rendered and e.own_text and page.is_inside(e.index, of.index))
        return tuple(leaf.own_text for leaf in leaves if not page.is_inside(leaf.index, target))

    mine = texts(row)
    others = [texts(e) for e in page.elements if e.parent == row.parent and e.index != row.index and e.tag == row.tag]
    repeated = {text for text in mine if others and all(text in other for other in others)}
    telling = [text for text in dict.fromkeys(mine) if text not in repeated]
    for size in (1, 2, 3):
        for chosen in combinations(telling[:6], size):
            if not any(all(text in other for text in chosen) for other in others):
                return chosen
    return ()


def _virtual_list(page: PageSnapshot) -> _List | None:
    """A box that scrolls over much more than it holds, with its rows."""
    for scroller, whole, part in page.scrollers:
        if whole < 2 * part:
            continue
        rows = [
            e for e in page.elements if (e.role in ROWS or e.tag in ("tr", "li")) and page.is_inside(e.index, scroller)
        ]
        if len(rows) < 2:
            continue
        shown = sum(row.box.height for row in rows)
        if shown < whole * 0.7:
            return _List(scroller, rows[0].index)
    return None


def _row_locator(row: Element, keys: tuple[str, ...]) -> Locator:
    explicit = row.get("role")
    css = f"[role={explicit}]" if explicit else row.tag
    quoted = (key.replace("\\", "\\\\").replace('"', '\\"') for key in keys)
    return Locator(css=css + "".join(f':has-text("{key}")' for key in quoted))


PLANNERS: Final[tuple[Callable[[Situation], Iterator[Candidate]], ...]] = (
    answer_dialog,
    clear_the_way,
    rename_option,
    new_ways.pick_from_list_box,
    new_ways.press_toggle,
    open_disclosure,
    new_ways.open_the_same_part,
    scroll_to_row,
    fill_required,
    new_ways.tick_what_enables,
    drop_step,
    new_ways.open_tab,
    new_ways.open_menu,
    new_ways.choose_from_opened_menu,
    new_ways.go_on_to_next_page,
    new_ways.send_search_off,
    new_ways.wait_until_ready,
    new_ways.wait_for_late_data,
)
