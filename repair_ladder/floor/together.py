"""Operations that make sense only together."""

from __future__ import annotations

from collections.abc import Mapping

from repair_ladder.floor.case import Case
from repair_ladder.floor.wording import expectation, spot_of
from repair_ladder.steps import Place, show_place, step_at


def left_alone(case: Case, reasons: Mapping[int, str]) -> dict[int, str]:
    """What makes no sense once another change is refused: a check that was to stand for an old one, the deletion of an
    action whose stand-in is not to be."""
    more: dict[int, str] = {}
    lost = {index: case.operations[index] for index in reasons}
    for index, operation in enumerate(case.operations):
        if index in reasons:
            continue
        if operation.op == "insert" and operation.new is not None and operation.new.asserts_outcome:
            for other in lost.values():
                if other.op == "delete" and operation.place in _beside(other.place) and _is_check(case, other.place):
                    more[index] = (
                        f"putting “{expectation(operation.new)}” {spot_of(operation.place)}. It was to stand for the "
                        f"check at step {show_place(other.place)}, which stays."
                    )
        elif operation.place in case.dropped and operation.op != "insert":
            for other in lost.values():
                if other.op == "insert" and other.place in _beside(operation.place):
                    more[index] = (
                        f"taking step {show_place(operation.place)} away. What was to be done beside it instead was "
                        "refused."
                    )
    return more


def _beside(place: Place) -> tuple[Place, ...]:
    return (place, (*place[:-1], place[-1] - 1)) if place else ()


def _is_check(case: Case, place: Place) -> bool:
    try:
        return step_at(case.steps, place).asserts_outcome
    except LookupError:
        return False
