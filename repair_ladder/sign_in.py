"""Which steps of a test sign in, so that a sweep can see the pages behind it as the test does."""

from __future__ import annotations

from collections.abc import Collection

from radar.environment import asks_to_sign_in, is_password
from repair_ladder.memory import Memory
from repair_ladder.steps import Place, Step, Steps, walk
from repair_ladder.values import names_in

MOST_STEPS = 12  # a sign-in that takes longer is more than a sign-in


def find_sign_in(steps: Steps, secrets: Collection[str], memory: Memory) -> tuple[Steps, Place] | None:
    """The steps up to the one that sends the secret, and that one's place; None if the test does not sign in.

    A sign-in fills a secret (a variable of that kind, or a password field) and sends it, after which the page no longer
    asks for one.
    """
    played: list[Step] = []
    has_secret = False
    for place, step in walk(steps):
        played.append(step)
        if len(played) > MOST_STEPS:
            return None
        if step.kind in ("fill", "type") and _is_secret(step, place, secrets, memory):
            has_secret = True
        elif has_secret and step.kind in ("click", "press", "dblclick"):
            after = next((seen for at, seen in sorted(memory.seen.items()) if at > place), None)
            if after is None or asks_to_sign_in(after.page):
                return None
            return tuple(played), place
    return None


def _is_secret(step: Step, place: Place, secrets: Collection[str], memory: Memory) -> bool:
    if any(name in secrets for name in names_in(step.parameters.get("value"))):
        return True
    seen = memory.at(place)
    return seen is not None and seen.target is not None and is_password(seen.page.elements[seen.target])
