"""What a locator asks for: its texts, states and conditions, and whether it asks for less than another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from radar.locators import PATTERNS, Locator
from repair_ladder.floor.expected import fixed_words, fold
from repair_ladder.floor.selectors import literals_in, read_css, read_xpath, without_attributes
from repair_ladder.steps import Step

# Roles whose name only finds them; the name of any other is what it says.
CONTROLS: Final = frozenset(
    "button link textbox searchbox checkbox radio combobox listbox option switch slider spinbutton tab menuitem "
    "menuitemcheckbox menuitemradio menu menubar tablist treeitem".split()
)
LOOSE_ROLES: Final = frozenset({"document", "application", "generic", "none", "presentation", "main", "rootwebarea"})
# Conditions on what an element holds, or whether it shows.
HOLDING: Final = ("has_not_text", "has", "has_not", "visible")
FINDER_ATTRIBUTES: Final = {
    "test_id": "data-testid",
    "label": "aria-label",
    "placeholder": "placeholder",
    "alt": "alt",
    "title": "title",
    "role": "role",
}


def own_texts(locator: Locator) -> list[str]:
    """The texts a locator's own element must show."""
    texts = [text for text in (locator.text, locator.has_text) if text]
    if locator.name and locator.role not in CONTROLS:
        texts.append(locator.name)
    if locator.regex:
        texts = [word for text in texts for word in fixed_words(text)]
    if locator.css and (css := read_css(locator.css)):
        texts.extend(css.shown)
    if locator.xpath:
        texts.extend(text for text in literals_in(without_attributes(locator.xpath)) if text)
    return texts


def scopes_of(locator: Locator) -> Iterator[Locator]:
    """The locator, and every locator it lies within."""
    at: Locator | None = locator
    while at is not None:
        yield at
        at = at.within


def every_part(locator: Locator) -> Iterator[Locator]:
    for scope in scopes_of(locator):
        yield scope
        for one in (*scope.frame, scope.has, scope.has_not):
            if one is not None:
                yield from every_part(one)


def with_alternatives(locator: Locator) -> Iterator[Locator]:
    """Every locator that stands anywhere in this one."""
    for one in every_part(locator):
        yield one
        for way in one.alternatives:
            yield from with_alternatives(way)


def has_position(locator: Locator) -> bool:
    return any(
        scope.nth is not None or (scope.xpath and re.search(r"\)\s*\[\s*(\d+|last\(|position\()", scope.xpath))
        for way in locator.ways()
        for scope in scopes_of(way)
    )


def texts_of(locator: Locator, check: Step) -> list[str]:
    """Every text by which a locator chooses, scopes and frames included."""
    texts: list[str] = []
    for one in every_part(locator):
        texts += [
            text
            for text in (
                one.name,
                one.text,
                one.has_text,
                one.has_not_text,
                one.label,
                one.placeholder,
                one.alt,
                one.title,
            )
            if text is not None
        ]
        if one.css and (css := read_css(one.css)):
            texts += css.texts
        if one.xpath:
            texts += literals_in(one.xpath)
        if check.kind in ("assert_attribute", "assert_value"):
            texts += [text for text in (one.test_id, one.role, one.css) if text is not None]
    return texts


def states_of(locator: Locator) -> frozenset[str]:
    """Attributes and pseudo-classes by which a locator chooses its own element."""
    states: set[str] = {name for key, name in FINDER_ATTRIBUTES.items() if getattr(locator, key) is not None}
    if locator.css and (css := read_css(locator.css)):
        states |= css.states
    if locator.xpath:
        states |= {name.lower() for name in re.findall(r"@([\w-]+)", locator.xpath)}
    return frozenset(states)


def catch_all(locator: Locator) -> str | None:
    """Why this locator finds something on any page, or cannot be judged."""
    loose = []
    for key, value in locator.finders():
        if key == "css":
            css = read_css(value)
            if css is None:
                return "That selector cannot be judged."
            if css.branches:
                return "A list of selectors lets another element satisfy it."
            if css.root:
                return "The whole page satisfies it."
            loose.append(css.loose)
        elif key == "xpath":
            path = read_xpath(value)
            if path is None:
                return "That path cannot be judged."
            if path.root:
                return "The whole page satisfies it."
            loose.append(path.loose)
        elif key == "role":
            loose.append(value.lower() in LOOSE_ROLES and not locator.name)
        elif locator.regex:
            loose.append(not fixed_words(value))
        else:
            loose.append(len(fold(value)) < 1 + (key == "text" and not locator.exact))
    if all(loose) and (locator.within is None or catch_all(locator.within)):
        return "Almost anything satisfies it."
    return None


def conditions_of(locator: Locator) -> set[object]:
    """What a locator asks for that cannot be judged by itself: patterns, and what its element holds or does not."""
    asked: set[object] = set()
    for one in every_part(locator):
        if one.regex:
            asked |= {(key, getattr(one, key)) for key in PATTERNS if getattr(one, key) is not None}
        asked |= {(key, getattr(one, key)) for key in HOLDING if getattr(one, key) is not None}
    return asked


def is_ancestor(new: Locator, old: Locator) -> bool:
    if any(_bare(new) == _bare(scope) for scope in list(scopes_of(old))[1:]):
        return True
    if new.css and old.css:
        front, rest = _spaced(old.css)[: len(_spaced(new.css))], _spaced(old.css)[len(_spaced(new.css)) :]
        return front == _spaced(new.css) and bool(re.match(r" |>", rest))
    return bool(new.xpath and old.xpath and old.xpath.startswith(new.xpath + "/"))


def _bare(locator: Locator) -> Locator:
    return replace(locator, alternatives=(), nth=None, exact=False)


def is_loosened(new: Locator, old: Locator) -> bool:
    """Does `new` ask for nothing but a part of what `old` asks for? Frames are places, not conditions."""
    return _asks_no_more(new, old) and not _asks_no_more(old, new)


def _asks_no_more(new: Locator, old: Locator) -> bool:
    if (new.exact and not old.exact) or new.regex != old.regex:
        return False
    if any(getattr(new, key) not in (None, getattr(old, key)) for key in HOLDING):
        return False
    for key in (*(key for key, _ in new.finders()), "name", "has_text"):
        value, before = getattr(new, key), getattr(old, key)
        if value is None or value == before:
            continue
        if before is None or not _says_no_more(key, value, before, exact=old.exact and new.exact):
            return False
    if new.within is None:
        return True
    return old.within is not None and _asks_no_more(new.within, old.within)


def _says_no_more(key: str, new: str, old: str, *, exact: bool) -> bool:
    if key == "css":
        return bool(re.search(rf"[ >]{re.escape(_spaced(new))}$", _spaced(old)))
    if key == "xpath":
        return new.startswith("//") and old.endswith(new)
    return key not in ("role", "test_id") and not exact and fold(new) in fold(old)


def _spaced(css: str) -> str:
    return re.sub(r"\s*([>+~])\s*", r"\1", " ".join(css.split()))


def newly_shares(kinds: frozenset[str], action: tuple[Step, Step], check: tuple[Step, Step]) -> bool:
    """Do the new forms of an action and a check use one locator where the old ones did not?"""
    if action[1].kind not in kinds:
        return False
    return shares(action[1], check[1]) and not shares(action[0], check[0])


def shares(action: Step, check: Step) -> bool:
    """Does an action happen on, or inside, the element that a check looks at? As far as locators tell."""
    if action.locator is None or check.locator is None:
        return False
    acted = {_bare(scope) for way in action.locator.ways() for scope in scopes_of(way)}
    return any(_bare(way) in acted for way in check.locator.ways())
