"""The green gate: candidate steps + Replay -> Proof, or why not; identity is judged beside it, on the same run.

A green run alone proves little: the neighbouring field, another row, a button with the same side effect are green too.
So whatever a changed step used in the proof must also be what the old element became.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from radar.diff import in_words
from radar.elements import PageSnapshot
from radar.matching import find_again, find_by_locator
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation, Operations, apply_operations, moved_places
from repair_ladder.outcomes import Environment, Green, Red, Trace
from repair_ladder.ports import Replay
from repair_ladder.rungs.self_heal import same_thing
from repair_ladder.steps import Place, Steps, show_place, step_at
from repair_ladder.verdicts import pre_triage


@dataclass(frozen=True, slots=True)
class Proof:
    """A green run of the candidate whose changed steps used what the old elements became."""

    run: Green
    operations: Operations


@dataclass(frozen=True, slots=True)
class NotGreen:
    run: Red


@dataclass(frozen=True, slots=True)
class WrongElement:
    """Green, but not for the right reason."""

    run: Green
    reason: str


Judged: TypeAlias = Proof | NotGreen | WrongElement | Environment


@dataclass(frozen=True, slots=True)
class Known:
    """What identity is judged by. `vouched`: places where a likely element is enough, since a person looks at it."""

    memory: Memory
    vouched: frozenset[Place] = frozenset()


async def prove(steps: Steps, operations: Operations, known: Known, replay: Replay) -> Judged:
    """Play the candidate; the saved steps are not touched."""
    moved = moved_places(steps, operations)
    shifted = Memory({moved[old]: seen for old, seen in known.memory.seen.items() if old in moved})
    outcome = pre_triage(await replay(apply_operations(steps, operations)), shifted)
    match outcome:
        case Green():
            wrong = wrong_element(steps, operations, known, outcome.trace)
            return WrongElement(outcome, wrong) if wrong else Proof(outcome, operations)
        case Red():
            return NotGreen(outcome)
        case Environment():
            return outcome


def wrong_element(steps: Steps, operations: Operations, known: Known, trace: Trace) -> str | None:
    """Why a step of a green run used something that its old element did not become; None if none did.

    Looked at are the steps that the operations replaced and all others that remember an element: an operation before
    them may have led them to another one.
    """
    replaced = {operation.place for operation in operations if operation.op == "replace"}
    for old, new in moved_places(steps, operations).items():
        met = trace.seen(new)
        if met is None or met[1] < 0:
            continue
        wrong = _judge(steps, old, old in replaced, known, met[0], met[1])
        if wrong:
            return wrong
    return None


def _judge(steps: Steps, place: Place, is_replaced: bool, known: Known, page: PageSnapshot, hit: int) -> str | None:
    step, seen = step_at(steps, place), known.memory.at(place)
    if seen is None or seen.target is None:
        if not is_replaced or step.locator is None:
            return None
        match = find_by_locator(step.locator, step.kind, page)
    else:
        match = find_again(seen.page, seen.target, page, action=step.kind)
    found = match.element
    if match.verdict == "found" and found is not None:
        if same_thing(page, found, hit):
            return None
        return f"step {show_place(place)} used {in_words(page, hit)}, but its element became {in_words(page, found)}"
    if is_replaced:
        return (
            f"that step {show_place(place)} used {in_words(page, hit)} is green, but not shown to be the same element"
        )
    return None


async def fewest(proof: Proof, steps: Steps, known: Known, replay: Replay) -> Proof:
    """Drop inserted steps one by one; what is green without one does not need it."""
    kept = proof
    inserts = [operation for operation in proof.operations if operation.op == "insert"]
    if len(proof.operations) <= 1:
        return proof  # the failing run before it has shown that this one is needed
    for insert in inserts:
        fewer: tuple[Operation, ...] = tuple(one for one in kept.operations if one is not insert)
        judged = await prove(steps, fewer, known, replay)
        if isinstance(judged, Proof):
            kept = judged
    return kept
