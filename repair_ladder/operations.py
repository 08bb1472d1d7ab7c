"""Insert, replace, delete: the operations a repair is made of, and how they are applied to steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from repair_ladder.errors import DoesNotFit
from repair_ladder.steps import Place, Step, Steps, show_place, step_at


@dataclass(frozen=True, slots=True)
class Operation:
    """One change to a step list.

    `place` always counts in the steps as they were. An insert comes after `place`; the last number of its place may
    be 0 (before the first step there). Several inserts after one step keep their order.
    """

    op: Literal["insert", "replace", "delete"]
    place: Place
    new: Step | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.new is None) != (self.op == "delete"):
            raise DoesNotFit(f"'{self.op}' at step {show_place(self.place)} does not go with its new step")


Operations: TypeAlias = tuple[Operation, ...]


def old_step(steps: Steps, operation: Operation) -> Step | None:
    """The step that is replaced or deleted; None for an insert."""
    return None if operation.op == "insert" else step_at(steps, operation.place)


def apply_operations(steps: Steps, operations: Iterable[Operation]) -> Steps:
    """The steps with all operations done. Raises DoesNotFit where one names a step that is not there or two collide."""
    inserts: dict[Place, list[Step]] = {}
    changes: dict[Place, Operation] = {}
    for operation in operations:
        if operation.op == "insert":
            _check_insert(steps, operation.place)
            assert operation.new is not None
            inserts.setdefault(operation.place, []).append(operation.new)
            continue
        try:
            step_at(steps, operation.place)
        except LookupError as error:
            raise DoesNotFit(str(error)) from None
        if operation.place in changes:
            raise DoesNotFit(f"step {show_place(operation.place)} is changed twice")
        changes[operation.place] = operation
    return _rebuild(steps, (), inserts, changes)


def _check_insert(steps: Steps, place: Place) -> None:
    if not place:
        raise DoesNotFit("an insert names the step it comes after")
    siblings = steps
    if len(place) > 1:
        try:
            block = step_at(steps, place[:-1])
        except LookupError as error:
            raise DoesNotFit(str(error)) from None
        if not block.is_block:
            raise DoesNotFit(f"step {show_place(place[:-1])} is not a block")
        siblings = block.steps
    if not 0 <= place[-1] <= len(siblings):
        raise DoesNotFit(f"there is no step {show_place(place)} to insert after")


def _rebuild(
    steps: Steps, before: Place, inserts: dict[Place, list[Step]], changes: dict[Place, Operation]
) -> tuple[Step, ...]:
    built: list[Step] = list(inserts.get((*before, 0), ()))
    for number, step in enumerate(steps, 1):
        place = (*before, number)
        change = changes.get(place)
        if change is None:
            built.append(replace(step, steps=_rebuild(step.steps, place, inserts, changes)) if step.steps else step)
        elif change.new is not None:
            built.append(change.new)
        built.extend(inserts.get(place, ()))
    return tuple(built)


def moved_places(steps: Steps, operations: Iterable[Operation]) -> dict[Place, Place]:
    """For every step that was played before and still stands (replaced included): its old place -> its new place.

    The inner steps of a block that was replaced whole are others now: they have no new place.
    """
    operations = tuple(operations)
    replaced = {operation.place for operation in operations if operation.op == "replace"}
    deleted = {operation.place for operation in operations if operation.op == "delete"}
    inserted: dict[Place, int] = {}
    for operation in operations:
        if operation.op == "insert":
            inserted[operation.place] = inserted.get(operation.place, 0) + 1
    moved: dict[Place, Place] = {}

    def visit(siblings: Steps, old: Place, new: Place) -> None:
        at = inserted.get((*old, 0), 0)
        for number, step in enumerate(siblings, 1):
            place = (*old, number)
            if place not in deleted:
                at += 1
                moved[place] = (*new, at)
                if step.steps and place not in replaced:
                    visit(step.steps, place, moved[place])
            at += inserted.get(place, 0)

    visit(steps, (), ())
    return moved
