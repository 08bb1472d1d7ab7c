"""Is this page not the app as it was, but its surroundings: another language, a sign-in page, an error, half a page?

Judged from two snapshots alone. Such a page is a finding about the environment; nothing is repaired on its account.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from radar.elements import Element, PageSnapshot, fold

Kind: TypeAlias = Literal["server_error", "sign_in", "language", "half_loaded"]

FEWEST_TEXTS: Final = 5  # fewer texts say nothing about a language
FEWEST_ELEMENTS: Final = 12  # of the old page, for saying that most are missing


def what_is_wrong(old: PageSnapshot, new: PageSnapshot) -> tuple[Kind, str] | None:
    """What about the new page is a matter of its surroundings, and why; None if nothing is."""
    where = urlsplit(new.url).path or "/"
    if new.status is not None and new.status >= 500:
        return "server_error", f"{where} answered {new.status}"
    if new.status in (401, 403) and old.status != new.status:
        return "sign_in", f"{where} answered {new.status}: whoever is signed in may not see it"
    if asks_to_sign_in(new) and not asks_to_sign_in(old) and _share_of_texts_kept(old, new, content=True) < 0.5:
        return "sign_in", f"{where} asks to sign in where the app stood before"
    if sends_to_sign_in(new) and not sends_to_sign_in(old) and _share_of_texts_kept(old, new, content=True) < 0.3:
        return "sign_in", f"{where} asks to sign in where the app stood before"
    language = _other_language(old, new)
    if language:
        return "language", f"{where} {language}"
    visible_old, visible_new = _visible(old), _visible(new)
    # A long list that became virtual also shows far fewer elements, but not next to none.
    if len(visible_old) >= FEWEST_ELEMENTS and len(visible_new) <= min(8, len(visible_old) * 0.25):
        return "half_loaded", f"{where} shows {len(visible_new)} elements where {len(visible_old)} stood before"
    return None


def asks_to_sign_in(page: PageSnapshot) -> bool:
    """Has the page a password field that a person can see?"""
    return any(is_password(element) and element.visible for element in page.elements)


# The whole of a heading, or what stands before the name of the app: "Login activity" is a page of the app.
SIGN_IN_TITLE: Final = re.compile(
    r"(?:(?:please )?(?:sign|log)[ -]?in\b|(?:your )?session (?:has )?(?:expired|ended|timed out)"
    r"|anmeld(?:en|ung)\b|einloggen\b|se connecter\b|connexion\b|identifiez-vous\b|iniciar sesi\u00f3n|acceder\b"
    r"|acced[ie]\b|iniciar sess\u00e3o|entrar\b|inloggen\b|aanmelden\b|zaloguj(?: si\u0119)?|logga in\b|log p\u00e5\b)"
    r"(?:$| *[^\w ]| (?:to|with|or|again|using|bei|mit|bij|met|avec|con|com)\b)",
    re.IGNORECASE,
)
SIGN_IN_FIELDS: Final = frozenset({"username", "email", "webauthn"})


def sends_to_sign_in(page: PageSnapshot) -> bool:
    """Is it a page to sign in with by other means than a password that is asked for at once?

    Its title or first heading says so, and there is a field for who one is, or a button that says it as well.
    """
    heading = next((fold(one.name or page.texts[one.index]) for one in page.elements if one.role == "heading"), "")
    if not any(SIGN_IN_TITLE.match(fold(text)) for text in (heading, page.title)):
        return False
    for element in page.elements:
        if not element.visible:
            continue
        asked = {element.get("type").lower(), *element.get("autocomplete").lower().split()}
        if element.tag == "input" and asked & SIGN_IN_FIELDS:
            return True
        if element.role in ("button", "link") and SIGN_IN_TITLE.match(fold(element.name)):
            return True
    return False


def is_password(element: Element) -> bool:
    return element.tag == "input" and element.get("type").lower() == "password"


def _visible(page: PageSnapshot) -> list[Element]:
    return [element for element in page.elements if element.visible]


# What stands on every page of an app, also on the one that asks to sign in.
FRAME_OF_PAGE: Final = frozenset({"banner", "navigation", "contentinfo", "complementary"})


def _texts(page: PageSnapshot, *, content: bool = False) -> list[str]:
    """Own texts with letters in them, in document order; with `content` without those of header, menu and footer."""
    around: list[bool] = []
    for element in page.elements:
        around.append(element.role in FRAME_OF_PAGE or (element.parent >= 0 and around[element.parent]))
    texts = (
        element.own_text for element in page.elements if element.rendered and not (content and around[element.index])
    )
    return [text for text in texts if any(letter.isalpha() for letter in text)]


def _share_of_texts_kept(old: PageSnapshot, new: PageSnapshot, *, content: bool = False) -> float:
    before = set(_texts(old, content=content))
    return len(before & set(_texts(new))) / len(before) if before else 1.0


def _other_language(old: PageSnapshot, new: PageSnapshot) -> str | None:
    """The declared language changed and nearly every text with it, while the tree stayed much the same."""
    before, after = _primary(old.language), _primary(new.language)
    texts = _texts(old)
    if len(texts) < FEWEST_TEXTS:
        return None
    kept = _share_of_texts_kept(old, new)
    tags = _tree_kept(old, new)
    if before and after and before != after and kept < 0.6:
        return f"speaks another language ({after} instead of {before})"
    # It is declared now and was not: numbers and codes stay what they are in any language.
    if after and not before and kept < 0.6 and tags > 0.95:
        return f"speaks another language ({after}, where none was declared)"
    # No language is declared, or it was forgotten: only another script or a translated tree tells.
    if _script(texts) != _script(_texts(new)) and kept < 0.3 and tags > 0.8:
        return "speaks another language (other letters than before)"
    if before == after and kept < 0.1 and tags > 0.95 and len(texts) >= 2 * FEWEST_TEXTS:
        return "speaks another language (the page is the same, every text is another)"
    return None


def _primary(language: str) -> str:
    return language.replace("_", "-").split("-")[0].strip().lower()


def _script(texts: list[str]) -> str:
    """The alphabet most letters belong to, by the first word of their Unicode names."""
    counts: Counter[str] = Counter()
    for text in texts:
        for letter in text[:200]:
            if letter.isalpha():
                counts[unicodedata.name(letter, "? ").split()[0]] += 1
    return counts.most_common(1)[0][0] if counts else ""


def _tree_kept(old: PageSnapshot, new: PageSnapshot) -> float:
    """How alike the sequences of tags are, from 0 to 1."""
    before, after = Counter(e.tag for e in old.elements), Counter(e.tag for e in new.elements)
    both = sum((before & after).values())
    return 2 * both / max(1, sum(before.values()) + sum(after.values()))
