"""Which steps of a test sign in, and does a page say that nobody is signed in any more?"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from radar.elements import PageSnapshot
from radar.environment import asks_to_sign_in, is_password
from repair_ladder.memory import Memory
from repair_ladder.outcomes import Environment, Outcome, Red
from repair_ladder.steps import Place, Step, Steps, up_to, walk
from repair_ladder.values import PLACEHOLDER, names_in

MOST_STEPS = 12  # a sign-in that takes longer is more than a sign-in
# How a test names the field of a password, where no green run has shown which it is.
NAMES_PASSWORD: Final = re.compile(r"passw|passphrase|kennwort|contrase|mot de passe|type=.?password", re.IGNORECASE)
SHORTEST_COOKIE: Final = 16  # shorter ones say which language or theme, not who somebody is
TOKEN: Final = re.compile(r"[\w.~+/=-]{20,}\Z")
NAMES_TOKEN: Final = re.compile(
    r"token|secret|session|auth|jwt|passw|credential|api.?key|\bsid\b|bearer", re.IGNORECASE
)
LONGEST_STORED: Final = 1_000_000  # characters
SIGNED_TOKEN: Final = re.compile(r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*")


def find_sign_in(steps: Steps, secrets: Collection[str], memory: Memory) -> tuple[Steps, Place] | None:
    """The steps up to the one that sends the secret, and that one's place; None if the test does not sign in.

    A sign-in fills a secret (a variable of that kind, or a password field) and sends it, after which the page no longer
    asks for one.
    """
    has_secret = False
    for number, (place, step) in enumerate(walk(steps), 1):
        if number > MOST_STEPS:
            return None
        if step.kind in ("fill", "type") and _is_secret(step, place, secrets, memory):
            has_secret = True
        elif has_secret and step.kind in ("click", "press", "dblclick"):
            after = next((seen for at, seen in sorted(memory.seen.items()) if at > place), None)
            if after is None or asks_to_sign_in(after.page):
                return None
            return up_to(steps, place), place
    return None


def _is_secret(step: Step, place: Place, secrets: Collection[str], memory: Memory) -> bool:
    if any(name in secrets for name in names_in(step.parameters.get("value"))):
        return True
    seen = memory.at(place)
    return seen is not None and seen.target is not None and is_password(seen.page.elements[seen.target])


def signs_in(steps: Steps, secrets: Collection[str], memory: Memory) -> bool:
    """Does the test sign in by itself, or type a password at its beginning, as one of the sign-in page does?

    Such a test needs a browser in which nobody is signed in yet. A green run is not needed to tell.
    """
    for number, (place, step) in enumerate(walk(steps)):
        if number >= MOST_STEPS:
            return False
        if step.kind in ("fill", "type") and (
            _is_secret(step, place, secrets, memory) or NAMES_PASSWORD.search(str(step.locator))
        ):
            return True
    return False


def without_passwords(steps: Steps, memory: Memory) -> tuple[Steps, dict[str, str]]:
    """The steps with a `${name}` for each password that one of them types as it stands, and what each stands for.

    For whoever must not see them, such as a model; what it answers is put right by `with_passwords`.
    """
    typed: dict[str, str] = {}

    def one(step: Step, place: Place) -> Step:
        inner = tuple(one(each, (*place, number)) for number, each in enumerate(step.steps, 1))
        value = step.parameters.get("value")
        if step.kind not in ("fill", "type") or not isinstance(value, str) or not PLACEHOLDER.sub("", value):
            return replace(step, steps=inner) if inner else step
        if not (_is_secret(step, place, (), memory) or NAMES_PASSWORD.search(str(step.locator))):
            return step
        name = f"password_as_typed_{len(typed) + 1}"
        typed[name] = value
        return replace(step, parameters={**step.parameters, "value": f"${{{name}}}"})

    return tuple(one(step, (number,)) for number, step in enumerate(steps, 1)), typed


def with_passwords(step: Step, typed: Mapping[str, str]) -> Step:
    """The step with what the names stand for, where they are what it types and nothing else."""
    inner = tuple(with_passwords(one, typed) for one in step.steps)
    value = step.parameters.get("value")
    named = PLACEHOLDER.fullmatch(value) if step.kind in ("fill", "type") and isinstance(value, str) else None
    if named is None or named[1] not in typed:
        return replace(step, steps=inner) if inner else step
    return replace(step, parameters={**step.parameters, "value": typed[named[1]]})


def doors_of(steps: Steps, secrets: Collection[str], memory: Memory) -> frozenset[str]:
    """The paths of the pages on which the sign-in test types what it signs in with."""
    last = max((place for place, step in walk(steps) if _types_secret(step, place, secrets, memory)), default=None)
    if last is None:
        return frozenset()
    typing = (place for place, step in walk(steps) if step.kind in ("fill", "type") and place <= last)
    return frozenset(_path(seen.page) for place in typing if (seen := memory.at(place)) is not None)


def may_be_turned_away(outcome: Outcome, memory: Memory, doors: Collection[str]) -> bool:
    """May the session have run out? If it has not, signing in once more does no harm but takes a moment."""
    if isinstance(outcome, Environment):
        return outcome.kind == "sign_in"
    if not isinstance(outcome, Red) or outcome.page is None:
        return False
    seen = memory.near(outcome.place)
    return asks_anew(outcome.page, seen.page if seen else None, doors)


def asks_anew(page: PageSnapshot, before: PageSnapshot | None, doors: Collection[str]) -> bool:
    """A page that is refused, that asks for a password, or that is a sign-in page, where it was none `before`."""
    if page.status in (401, 403) and (before is None or before.status != page.status):
        return True
    if asks_to_sign_in(page) and (before is None or not asks_to_sign_in(before)):
        return True
    return _path(page) in doors and (before is None or _path(before) not in doors)


def turned_away(outcome: Outcome, memory: Memory, doors: Collection[str]) -> str | None:
    """Why it is the sign-in, and neither the test nor the app, that this run failed by; None where that is not sure."""
    if isinstance(outcome, Environment):
        return outcome.message if outcome.kind == "sign_in" else None
    if not isinstance(outcome, Red) or outcome.page is None:
        return None
    page, seen = outcome.page, memory.near(outcome.place)
    where = _path(page)
    if seen is not None:  # with a page to compare with, what is sure is Environment by now (verdicts.pre_triage)
        is_door = where in doors and _path(seen.page) not in doors
        return f"{where} is the sign-in page, where {_path(seen.page)} stood before" if is_door else None
    return lets_nobody_in(page, doors)


def lets_nobody_in(page: PageSnapshot, doors: Collection[str]) -> str | None:
    """Why this can only be the sign-in, where nothing is known of the page: other pages may ask for a password too."""
    where = _path(page)
    if page.status == 401:
        return f"{where} answered 401"
    return f"{where} asks to sign in" if where in doors and asks_to_sign_in(page) else None


def secrets_in(state: Any) -> frozenset[str]:
    """Of cookies and storage, the values that let whoever has them in; to be hidden like passwords."""
    found: set[str] = set()
    if not isinstance(state, Mapping):
        return frozenset()
    found |= {str(one.get("value", "")) for one in state.get("cookies", ())}
    found = {value for value in found if len(value) >= SHORTEST_COOKIE}
    for origin in state.get("origins", ()):
        for one in origin.get("localStorage", ()):
            value = str(one.get("value", "")).strip('"')
            if TOKEN.match(value):
                found.add(value)
            found |= _tokens_in(_read(value))
        found |= _tokens_in(origin.get("indexedDB", ()))
    return frozenset(found)


def _tokens_in(value: Any) -> set[str]:
    """Of plain data, however deep: signed tokens, and whatever looks like one under a name that says that it is one."""
    found: set[str] = set()
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, one = waiting.pop()
        if isinstance(one, Mapping):
            # {"key": ..., "value": ...} is how IndexedDB's records and their fields are written down.
            named = one.get("key", one.get("k", one.get("name")))
            kept = name if named is None or not isinstance(named, str) else named
            waiting += [(kept if key in ("value", "v") else str(key), inner) for key, inner in one.items()]
        elif isinstance(one, list | tuple):
            waiting += [(name, inner) for inner in one]
        elif isinstance(one, str):
            found |= set(SIGNED_TOKEN.findall(one))
            if NAMES_TOKEN.search(name) and TOKEN.match(one):
                found.add(one)
            inner = _read(one)
            if inner is not one:
                waiting.append((name, inner))
    return found


def _read(text: str) -> Any:
    """What a text holds as JSON, if that is an object or a list; else the text."""
    if text[:1] not in ("{", "[") or len(text) > LONGEST_STORED:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _types_secret(step: Step, place: Place, secrets: Collection[str], memory: Memory) -> bool:
    return step.kind in ("fill", "type") and _is_secret(step, place, secrets, memory)


def _path(page: PageSnapshot) -> str:
    return urlsplit(page.url).path or "/"
