"""Why one operation is refused; which rule judges which change."""

from __future__ import annotations

from collections.abc import Iterator

from repair_ladder.errors import DoesNotFit
from repair_ladder.floor.actions import against_changed_action, against_changed_neutral, against_losing
from repair_ladder.floor.blocks import against_derived_block
from repair_ladder.floor.case import Case
from repair_ladder.floor.checks import against_changed_check
from repair_ladder.floor.comparing import same_step, strictly
from repair_ladder.floor.insertions import against_insertion, malformed
from repair_ladder.floor.kinds import NEUTRAL
from repair_ladder.floor.wording import expectation, one_line, spot_of
from repair_ladder.operations import Operation, apply_operations, old_step
from repair_ladder.steps import BLOCKS, Place, Step, show_place, step_at


def misfits(case: Case) -> dict[int, str]:
    """Operations that name no step, change one step twice, or lie inside a block that is changed as a whole."""
    reasons: dict[int, str] = {}
    changed: dict[Place, int] = {}
    for index, operation in enumerate(case.operations):
        try:
            apply_operations(case.steps, (operation,))
        except (DoesNotFit, LookupError, TypeError) as error:
            reasons[index] = f"the change does not fit the test: {one_line(error)}."
            continue
        if operation.op == "insert":
            continue
        number = show_place(operation.place)
        first = changed.setdefault(operation.place, index)
        if first != index:
            reasons[index] = f"step {number} is changed twice in one proposal. Propose one change for it."
            if not _same_operation(case.operations[first], operation):
                # Which of the two was meant, nobody can say.
                reasons[first] = reasons[index]
    for index, operation in enumerate(case.operations):
        whole = next(
            (operation.place[:n] for n in range(1, len(operation.place)) if operation.place[:n] in changed), ()
        )
        if whole and index not in reasons:
            reasons[index] = (
                f"step {show_place(operation.place)} lies in block {show_place(whole)}, which the same proposal "
                "changes as a whole."
            )
    return reasons


def _same_operation(one: Operation, other: Operation) -> bool:
    if one.op != other.op:
        return False
    return one.new is None or other.new is None or same_step(one.new, other.new)


def objection(case: Case, operation: Operation) -> str | None:
    """Why a repair may not make this change; None where it may."""
    if guard := _guarded(case, operation):
        return guard
    old, new, place = old_step(case.steps, operation), operation.new, operation.place
    if new is None:
        assert old is not None
        return _against_deletion(case, place, old)
    if old is None:
        return against_insertion(case, place, new, spot_of(place))
    return _against_replacement(case, place, old, new)


def _guarded(case: Case, operation: Operation) -> str | None:
    """A step or a block that its owner marked is left as it is, and so is what stands in that block."""
    reach = len(operation.place) - (operation.op == "insert")
    for length in range(1, reach + 1):
        step = step_at(case.steps, operation.place[:length])
        whole = length == reach and operation.op != "insert"
        if step.never_repair or (whole and any(inner.never_repair for inner in _inside(step))):
            number = show_place(operation.place)
            return f"changing step {number}, which is marked “never repair”. Only a person changes it."
    return None


def _inside(step: Step) -> Iterator[Step]:
    for inner in step.steps:
        yield inner
        yield from _inside(inner)


def _against_deletion(case: Case, place: Place, old: Step) -> str | None:
    number = show_place(place)
    if old.is_block:
        return f"deleting block {number}. Only a person takes a block out of a test."
    if old.asserts_outcome:
        return f"deleting the check at step {number}, “{expectation(old)}”. Only a person takes a check out of a test."
    if place in case.dropped:
        return None
    if old.kind in NEUTRAL:
        return against_losing(case, place, old)
    return (
        f"deleting step {number}, “{expectation(old)}”. A test that no longer does what leads up to its checks checks "
        "something else."
    )


def _against_replacement(case: Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if same_step(old, new):
        return None
    if broken := malformed(new):
        return f"replacing step {number}: {broken}"
    if new.never_repair:
        return f"marking step {number} “never repair”. Only a person sets that mark."
    if old.is_block:
        return _against_new_block(case, place, old, new)
    if new.kind in BLOCKS:
        return (
            f"putting a block in the place of step {number}, “{expectation(old)}”. Only a person puts steps in blocks."
        )
    if old.asserts_outcome:
        return against_changed_check(case, place, old, new)
    if old.kind in NEUTRAL:
        return against_changed_neutral(case, place, old, new)
    return against_changed_action(case, place, old, new)


def _against_new_block(case: Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if old.kind == "use":
        return f"replacing the fragment at step {number} as a whole. Its steps are changed one by one."
    if new.kind != old.kind:
        return (
            f"putting “{expectation(new)}” in the place of block {number}. Only a person takes a block out of a test."
        )
    if strictly(old.parameters) != strictly(new.parameters):
        return f"changing goal or values of block {number}. Only a person says what a block is for."
    if (old.optional, old.locator) != (new.optional, new.locator):
        return f"making block {number} optional, or no longer so. Only a person says whether it counts."
    if not old.has_goal:
        return _against_new_group(case, place, old, new)
    return against_derived_block(case, place, old, new)


def _against_new_group(case: Case, place: Place, old: Step, new: Step) -> str | None:
    if len(old.steps) != len(new.steps):
        return f"replacing block {show_place(place)} as a whole. The steps of a group are changed one by one."
    for number, (before, after) in enumerate(zip(old.steps, new.steps, strict=True), 1):
        if why := _against_replacement(case, (*place, number), before, after):
            return why
    return None
