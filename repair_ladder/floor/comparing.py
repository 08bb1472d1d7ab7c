"""When two steps are the same: in what they expect, in what they do, or altogether."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radar.locators import Locator
from repair_ladder.floor.kinds import ENTERING, RENAMABLE, SWITCHING
from repair_ladder.steps import Step


def terms_of(step: Step) -> tuple[object, ...]:
    """Everything a check expects; its locator is not part of it (G37)."""
    return step.kind, strictly(step.parameters), step.timeout_ms, step.optional


def kin(old: Step, new: Step) -> bool:
    """Two kinds for one deed."""
    if old.kind in ENTERING and new.kind in ENTERING:
        return True
    plain = not old.parameters and not new.parameters
    return plain and ((old.kind in SWITCHING and new.kind == "click") or (old.kind == "click" and new.kind == "check"))


def same_deed(old: Step, new: Step, *, renamed: bool) -> bool:
    """The same, done at whatever place."""
    if old.kind != new.kind:
        return kin(old, new) and deed_of(old) == deed_of(new)
    if old.kind == "scroll":
        return True
    free = RENAMABLE.get(old.kind, frozenset()) if renamed else frozenset()
    return deed_of(old, free) == deed_of(new, free)


def deed_of(step: Step, free: frozenset[str] = frozenset()) -> object:
    return strictly_without_locators({key: value for key, value in step.parameters.items() if key not in free})


def strictly(value: object) -> object:
    """A value that compares strictly: 1, 1.0, "1" and true are four things, the order of keys is nothing."""
    if isinstance(value, Mapping):
        return "map", tuple(
            sorted(((str(key), strictly(inner)) for key, inner in value.items()), key=lambda one: one[0])
        )
    if isinstance(value, list | tuple):
        return "list", tuple(map(strictly, value))
    return type(value).__name__, value


def strictly_without_locators(parameters: Mapping[str, Any]) -> object:
    """The same, but of locators only that they are there."""
    return strictly({key: "" if isinstance(value, Locator) else value for key, value in parameters.items()})


def same_step(one: Step, other: Step) -> bool:
    """The same in all but id and note, which say nothing of what is done."""
    return whole_step(one) == whole_step(other)


def whole_step(step: Step) -> tuple[object, ...]:
    beside = (step.never_repair, step.timeout_ms, step.optional)
    return step.kind, step.locator, strictly(step.parameters), tuple(map(whole_step, step.steps)), beside
