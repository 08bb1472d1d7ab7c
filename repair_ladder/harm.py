"""Could a candidate do harm while it is being proved? Then it is staged unproven and a person says so first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from radar.at_risk import resolve_ways
from radar.elements import Element, PageSnapshot, fold
from radar.errors import Unresolvable
from radar.locators import Locator
from repair_ladder.steps import Step, walk

# Stems of words for what cannot be taken back, or reaches other people or money. English, German, French, Spanish,
# Italian, Portuguese, Dutch, Polish, Swedish; matched at the start of a word.
DESTRUCTIVE: Final = re.compile(
    r"\b(?:"
    r"delet|remov|destroy|eras|wipe|purg|drop\b|trash|discard|revok|terminat|deactivat|disabl|uninstall|unsubscrib|"
    r"cancel (?:booking|order|subscription|account|plan)|close account|reset (?:all|everything|board|data)|"
    r"pay\b|pay now|purchas|buy\b|buy now|checkout now|place order|order now|transfer|withdraw|donat|"
    r"send\b|publish|broadcast|invite|submit order|confirm order|"
    r"l\u00f6sch|entfern|storn|k\u00fcndig|widerruf|bezahl|kostenpflichtig|bestellen|senden\b|abschicken|ver\u00f6ffentlich|"
    r"supprim|effac|r\u00e9sili|annuler (?:la|le|ma|mon)|payer|acheter|envoyer|commander|"
    r"elimin|borrar|pagar|comprar|enviar|cancelar|revoc|"
    r"cancell|rimuov|paga\b|acquista|invia\b|"
    r"exclu|apag|remover|"
    r"verwijder|betal|verzend|annuleer|usu\u0144|zap\u0142a\u0107|wy\u015blij|ta bort|radera|betala|skicka"
    r")",
    re.IGNORECASE,
)


def destructive_word(text: str) -> str | None:
    """The word in a text that speaks of harm; None if there is none."""
    found = DESTRUCTIVE.search(text)
    return found[0].lower() if found else None


def new_harm(old: Element | None, new: Element, *, text: str = "") -> str | None:
    """Why a new target may do harm that the old one did not; None if it may be used unattended.

    `text` is the visible text of the new element, for those without a name.
    """
    word = destructive_word(fold(f"{new.name or text} {new.get('title')}"))
    if word is None:
        return None
    if old is not None and destructive_word(fold(f"{old.name} {old.own_text} {old.get('title')}")) == word:
        return None
    return f'it newly uses "{fold(new.name or text)[:60]}", which may not be taken back'


# --- what a project forbids ----------------------------------------------------------------------------

# What is done to an element; the rest only looks, waits or goes to an address.
ACTING: Final = frozenset("click dblclick hover press check uncheck fill type select upload drag".split())


def forbidden_to(step: Step, page: PageSnapshot, element: int, forbidden: Iterable[Locator], attribute: str) -> str:
    """Why a repair's step may not be done to that element of the page; "" if it may.

    Forbidden is what one of the locators finds, what is inside it, and what would act on it by another way: its label,
    an Enter in its form. A locator that cannot be told from the page forbids everything there: better too little done.
    """
    for locator in forbidden if step.kind in ACTING else ():
        try:
            hits = resolve_ways(locator, page, attribute)
        except Unresolvable:
            return f"nobody can tell whether {step.locator} is {locator}, which the project forbids repairs to use"
        if any(_acts_on(step, page, element, hit) for hit in hits):
            return f"{step.locator or step.kind} is {locator}, which the project forbids repairs to use"
    return ""


def _acts_on(step: Step, page: PageSnapshot, element: int, hit: int) -> bool:
    if element == hit or page.is_inside(element, hit):
        return True
    used = page.elements[element]
    if page.is_inside(hit, element) and (used.tag == "label" or page.texts[hit] == page.texts[element]):
        return True
    if used.tag == "label" and used.get("for") and used.get("for") == page.elements[hit].get("id"):
        return True
    return (
        step.kind == "press"
        and "enter" in str(step.parameters.get("key", "")).lower()
        and _share_form(page, element, hit)
    )


def _share_form(page: PageSnapshot, one: int, other: int) -> bool:
    return any(around.tag == "form" and page.is_inside(other, around.index) for around in page.ancestors(one))


def forbidden_of(new: Step, page: PageSnapshot | None, forbidden: tuple[Locator, ...], attribute: str) -> str:
    """The same of a step as it is proposed, of each step of a block: what its locators find on the page now."""
    for step in _each(new) if forbidden else ():
        if step.kind == "press" and step.locator is None:
            return "nobody can tell what a key is pressed on, and the project forbids repairs to use some things"
        for _, locator in step.locators() if step.kind in ACTING else ():
            if any(locator == one for one in forbidden):
                return f"{locator} is what the project forbids repairs to use"
            if page is None:
                continue
            try:
                found = resolve_ways(locator, page, attribute)
            except Unresolvable:
                continue  # seen again when it is played
            for element in found:
                if why := forbidden_to(step, page, element, forbidden, attribute):
                    return why
    return ""


def _each(step: Step) -> Iterator[Step]:
    if step.steps:
        yield from (inner for _, inner in walk(step.steps))
    else:
        yield step
