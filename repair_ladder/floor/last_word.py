"""The second lock: what the old test did and expected is found, in order, in the new one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from repair_ladder.errors import DoesNotFit
from repair_ladder.floor.case import Case
from repair_ladder.floor.comparing import same_deed, same_step, strictly, terms_of
from repair_ladder.floor.expected import expects_absence
from repair_ladder.floor.kinds import NEUTRAL
from repair_ladder.floor.variables import names_read
from repair_ladder.floor.wording import expectation, one_line
from repair_ladder.operations import Operations, apply_operations
from repair_ladder.steps import Place, Step, Steps, show_place, step_at, walk


@dataclass(frozen=True, slots=True)
class _Event:
    """Something that counts when a test is played. `blocks` are the blocks it stands in, outermost first."""

    place: Place
    step: Step
    blocks: tuple[object, ...]


def last_word(case: Case, allowed: Operations) -> str | None:
    """Refuses all that is left if the test would no longer do and expect, in order, what it did and expected.

    Knows nothing of the other rules: it compares two tests. A second lock, for the day on which one of them is wrong.
    """
    try:
        candidate = apply_operations(case.steps, allowed)
    except DoesNotFit as error:
        return f"the changes do not fit the test together: {one_line(error)}."
    derived = {one.place for one in allowed if one.op == "replace" and step_at(case.steps, one.place).has_goal}
    read = names_read(walk(case.steps))
    events = iter(_events(candidate))
    for old in _events(case.steps):
        if not _has_to_stay(old.step, read) and (old.place in case.dropped or _stands_in_one(old.place, derived)):
            continue
        if old.step.kind == "extract" and not _has_to_stay(old.step, read):
            continue
        if not any(_still(case, old, new) for new in events):
            what = "check" if old.step.asserts_outcome else "step"
            return (
                f"together, the changes would take away, weaken or move {what} {show_place(old.place)}, "
                f"“{expectation(old.step)}”. Only a person changes what a test verifies."
            )
    if name := next((name for name in sorted(read) if _givers(candidate, name) > _givers(case.steps, name)), None):
        return f"together, the changes would give the variable {one_line(name)}, which the test reads, another value."
    return None


def _has_to_stay(step: Step, read: frozenset[str]) -> bool:
    return step.asserts_outcome or ("into" in step.parameters and str(step.parameters["into"]) in read)


def _stands_in_one(place: Place, blocks: Collection[Place]) -> bool:
    return any(place[:length] in blocks for length in range(1, len(place)))


def _givers(steps: Steps, name: str) -> int:
    return sum(str(step.parameters["into"]) == name for _, step in walk(steps) if "into" in step.parameters)


def _events(steps: Steps) -> list[_Event]:
    return [
        _Event(place, step, _blocks(steps, place))
        for place, step in walk(steps)
        if step.asserts_outcome or step.kind not in NEUTRAL or step.kind == "extract"
    ]


def _blocks(steps: Steps, place: Place) -> tuple[object, ...]:
    around = [step_at(steps, place[:length]) for length in range(1, len(place))]
    return tuple((block.kind, strictly(block.parameters), block.optional) for block in around)


def _still(case: Case, old: _Event, new: _Event) -> bool:
    """Is `new` the same check or deed, in the same kind of surroundings?"""
    before, after = old.step, new.step
    if old.blocks != new.blocks:
        return False
    if before.never_repair:
        return same_step(before, after)
    if not before.asserts_outcome:
        same = same_deed(before, after, renamed=old.place in case.renamed)
        return same and (before.optional or not after.optional)
    fixed = expects_absence(before) and old.place not in case.identified
    return (
        after.asserts_outcome
        and terms_of(before) == terms_of(after)
        and (before.locator is None) == (after.locator is None)
        and (not fixed or before.locator == after.locator)
    )
