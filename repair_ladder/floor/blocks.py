"""Why the new steps of a block with a goal may not stand for its old ones."""

from __future__ import annotations

from repair_ladder.floor.case import Case
from repair_ladder.floor.checks import against_changed_check
from repair_ladder.floor.comparing import deed_of, same_deed, same_step, whole_step
from repair_ladder.floor.insertions import against_insertion, forces, malformed
from repair_ladder.floor.kinds import NEUTRAL
from repair_ladder.floor.reach import against_reach
from repair_ladder.floor.variables import names_read
from repair_ladder.floor.wording import expectation
from repair_ladder.steps import Place, Step, Steps, show_place


def against_derived_block(case: Case, place: Place, old: Step, new: Step) -> str | None:
    """A block that was derived again from its goal: other steps may lead there, the same checks stand between them."""
    number = show_place(place)
    before, after = _stretches(old.steps), _stretches(new.steps)
    if len(before) != len(after):
        return f"changing the number of checks in block {number}. Only a person adds or takes away checks there."
    if [whole_step(one) for one in old.steps if one.steps] != [whole_step(one) for one in new.steps if one.steps]:
        return f"changing the blocks inside block {number}. Only a person does that."
    read = names_read(case.after((*place, 0)))
    for one in old.steps:
        if one.parameters.get("into") in read and not any(same_deed(one, two, renamed=False) for two in new.steps):
            return f"dropping “{expectation(one)}” from block {number}. A later step reads that variable."
    for (_, old_check), (_, new_check) in zip(before, after, strict=True):
        if old_check and new_check and (why := against_changed_check(case, place, old_check, new_check)):
            return f"in a block: {why}"
    for (old_steps, _), (new_steps, _) in zip(before, after, strict=True):
        if any(map(_counts, old_steps)) and not any(map(_counts, new_steps)):
            return f"emptying a part of block {number}. A check there would verify nothing that was done."
    for step in (step for steps, _ in after for step in steps):
        if why := _against_derived_step(case, place, old.steps, step):
            return why
    return None


def _against_derived_step(case: Case, place: Place, known: Steps, step: Step) -> str | None:
    """A step the block did not have is judged like an insertion; a known deed only by what it does elsewhere."""
    number = show_place(place)
    if any(same_step(step, one) for one in known):
        return None
    alike = [one for one in known if step.kind == one.kind and not step.is_block and deed_of(step) == deed_of(one)]
    if not alike or (step.optional and not any(one.optional for one in alike)):
        # Counted from before the block, so that its own checks are among those that come later.
        return against_insertion(case, (*place, 0), step, f"into block {number}")
    if step.never_repair:
        return f"marking a step of block {number} “never repair”. Only a person sets that mark."
    if why := malformed(step) or against_reach(case, step, None):
        return f"changing block {number}: {why}"
    for check in case.checks_after((*place, 0)):
        if forces(step, check) and not any(forces(one, check) for one in alike):
            return f"changing block {number}. “{expectation(step)}” would by itself make “{expectation(check)}” hold."
    return None


def _stretches(steps: Steps) -> list[tuple[list[Step], Step | None]]:
    """The steps up to each check with that check; at the end those after the last one."""
    found: list[tuple[list[Step], Step | None]] = []
    steps_so_far: list[Step] = []
    for step in steps:
        if step.asserts_outcome:
            found.append((steps_so_far, step))
            steps_so_far = []
        else:
            steps_so_far.append(step)
    return [*found, (steps_so_far, None)]


def _counts(step: Step) -> bool:
    """Is it something that is done, every time?"""
    return step.kind not in NEUTRAL and step.kind != "scroll" and not step.optional
