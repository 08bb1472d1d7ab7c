"""Could a candidate do harm while it is being proved? Then it is staged unproven and a person says so first."""

from __future__ import annotations

import re
from typing import Final

from radar.elements import Element, fold

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
