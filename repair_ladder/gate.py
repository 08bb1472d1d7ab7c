"""The green gate and the red gate: candidate steps + Replay -> Proof, or why not.

A green run alone proves little: the neighbouring field, another row, a button with the same side effect are green too.
So whatever a changed step used in the proof must also be what the old element became; identity is judged on the same
run. And a check that cannot fail shows nothing: in a second run every check is followed by itself with an expectation
that cannot hold, which has to be red. That run is the second green one as well: what is green only once is not sure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from radar.answers import Match
from radar.by_words import find_by_locator
from radar.diff import in_words
from radar.elements import PageSnapshot
from radar.matching import find_again
from repair_ladder import fragments, intents
from repair_ladder.falsify import cannot_fail, falsified
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation, Operations, apply_operations, moved_places
from repair_ladder.outcomes import Environment, Green, Outcome, Red, Trace
from repair_ladder.ports import Replay
from repair_ladder.rungs.self_heal import find_became, opened_a_part, same_thing
from repair_ladder.steps import Place, Step, Steps, show_place, step_at, walk
from repair_ladder.verdicts import pre_triage

LIKELY: Final = 0.3  # less than that is not what a model may vouch for
MOST_PROBES: Final = 12  # falsified checks of one run
PROBE_MS: Final = 100  # a look or two: the check itself has just held on that very page


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


@dataclass(frozen=True, slots=True)
class Blind:
    """Green whatever the app shows: the checks at `places` (of the candidate) cannot fail."""

    reason: str
    places: tuple[Place, ...] = ()


Judged: TypeAlias = Proof | NotGreen | WrongElement | Environment


@dataclass(frozen=True, slots=True)
class Known:
    """What identity is judged by. `vouched`: places where a likely element is enough, since a person looks at it.

    Where a person says which elements they mean, nobody judges.
    """

    memory: Memory
    vouched: frozenset[Place] = frozenset()
    judges: bool = True


async def prove(steps: Steps, operations: Operations, known: Known, replay: Replay) -> Judged:
    """Play the candidate; the saved steps are not touched."""
    return _judged(steps, operations, known, await replay(apply_operations(steps, operations)))


def _judged(steps: Steps, operations: Operations, known: Known, played: Outcome) -> Judged:
    moved = moved_places(steps, operations)
    shifted = Memory({moved[old]: seen for old, seen in known.memory.seen.items() if old in moved})
    outcome = pre_triage(played, shifted)
    match outcome:
        case Green():
            wrong = wrong_element(steps, operations, known, outcome.trace) if known.judges else None
            return WrongElement(outcome, wrong) if wrong else Proof(outcome, operations)
        case Red():
            return NotGreen(outcome)
        case Environment():
            return outcome


# --- the red gate --------------------------------------------------------------------------------------


async def prove_with_red(steps: Steps, operations: Operations, known: Known, replay: Replay) -> Judged | Blind:
    """Play the candidate with every check falsified right after it held: green, and each of those red.

    Outcomes of other steps come back as those of `prove`, with the places of the candidate. One run for all checks is
    sound: a check changes nothing on the page, and a falsified one is optional, so the run goes on behind it.
    """
    candidate = apply_operations(steps, operations)
    checks = [(place, step) for place, step in walk(candidate) if step.asserts_outcome]
    why = {place: said for place, step in checks if (said := _why_blind(candidate, place, step))}
    if checks and len(why) == len(checks):
        told = "; ".join(f"step {show_place(place)}: {said}" for place, said in why.items())
        return Blind(f"no check of the test can fail ({told})", tuple(why))
    played, green = await _play_probed(candidate, probes_of(steps, candidate), replay)
    judged = _judged(steps, operations, known, played)
    if isinstance(judged, Proof) and green:
        places = ", ".join(show_place(place) for place in green)
        return Blind(f"the check at step {places} is green even when it expects what cannot be", green)
    return judged


def _why_blind(steps: Steps, place: Place, step: Step) -> str | None:
    if fragments.forgiven_by(steps, place):
        return "it stands in an optional fragment, so the test goes on where it fails"
    return cannot_fail(step)


async def _play_probed(candidate: Steps, probes: Operations, replay: Replay) -> tuple[Outcome, tuple[Place, ...]]:
    """The outcome with the candidate's own places, and the checks whose falsified twin was green."""
    moved = moved_places(candidate, probes)
    at = {(*moved[probe.place][:-1], moved[probe.place][-1] + 1): probe.place for probe in probes}
    played = await replay(apply_operations(candidate, probes))
    green = tuple(
        at[one.place] for one in played.trace.played if one.place in at and not one.skipped and one.error is None
    )
    back = {new: old for old, new in moved.items()} | {new: old for new, old in at.items() if _is_red_at(played, new)}
    return _without(played, back), green


def _is_red_at(played: Outcome, place: Place) -> bool:
    return isinstance(played, Red) and played.place == place


@dataclass(frozen=True, slots=True)
class Control:
    """A control run. `outcome` is what it came to; it has to be red at the last check that was falsified.

    `falsified` are the checks that were, `green` those among them that held with an expectation that cannot hold.
    """

    outcome: Outcome
    falsified: tuple[Place, ...]
    green: tuple[Place, ...]
    is_at_last: bool  # did it end at the falsified twin of the last of them, and not at the check itself?

    @property
    def is_blind(self) -> bool:
        """Is there a check that cannot fail? Known only of a run that came so far."""
        return bool(self.green)

    @property
    def is_sensitive(self) -> bool:
        """Every falsified check was red, and the run ended at the last of them."""
        return isinstance(self.outcome, Red) and self.is_at_last and not self.green


async def control(steps: Steps, replay: Replay) -> Control | None:
    """Play a test with its checks falsified: it must go red, and green is an alarm. None without such checks."""
    probes = list(probes_of((), steps))
    if not probes:
        return None
    last = probes[-1].new
    assert last is not None
    probes[-1] = replace(probes[-1], new=replace(last, optional=False))
    twin = moved_places(steps, probes)[probes[-1].place]
    ended: list[Outcome] = []

    async def watched(steps: Steps) -> Outcome:
        ended.append(await replay(steps))
        return ended[-1]

    played, green = await _play_probed(steps, tuple(probes), watched)
    at_last = _is_red_at(ended[-1], (*twin[:-1], twin[-1] + 1))
    return Control(played, tuple(probe.place for probe in probes), green, at_last)


def probes_of(steps: Steps, candidate: Steps) -> Operations:
    """Inserts behind the checks of a candidate that can be falsified: those from the first changed step on come first.

    Their places count in the candidate.
    """
    before, after = list(walk(steps)), list(walk(candidate))
    same = next((n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), len(after))
    ordered = [*after[same:], *after[:same]]
    probes = []
    for place, step in ordered:
        wrong = None if _why_blind(candidate, place, step) else falsified(step)
        if wrong is not None:
            probe = replace(wrong, optional=True, timeout_ms=PROBE_MS, id=None, note=None)
            probes.append(Operation("insert", place, probe, "it has to be red"))
    return tuple(probes[:MOST_PROBES])


def _without(played: Outcome, back: dict[Place, Place]) -> Outcome:
    """The outcome as if the falsified checks had not been among the steps; `back` leads to the candidate's places."""
    trace = played.trace
    kept = tuple(replace(one, place=back[one.place]) for one in trace.played if one.place in back)
    dialogs = tuple(replace(one, place=back.get(one.place, one.place)) for one in trace.evidence.dialogs)
    trace = replace(trace, played=kept, evidence=replace(trace.evidence, dialogs=dialogs))
    if isinstance(played, Green):
        return replace(played, trace=trace)
    if isinstance(played, Red):
        return replace(played, trace=trace, place=back.get(played.place, played.place))
    place = back.get(played.place, played.place) if played.place is not None else None
    return replace(played, trace=trace, place=place)


# --- identity ------------------------------------------------------------------------------------------


def wrong_element(steps: Steps, operations: Operations, known: Known, trace: Trace) -> str | None:
    """Why a step of a green run used something that its old element did not become; None if none did.

    Looked at are the steps that the operations replaced and all others that remember an element: an operation before
    them may have led them to another one.
    """
    replaced = {one.place: one.new for one in operations if one.op == "replace" and one.new is not None}
    for old, new in moved_places(steps, operations).items():
        met = trace.seen(new)
        if met is None or met[1] < 0:
            continue
        new_step = replaced.get(old)
        kind = new_step.kind if new_step else step_at(steps, old).kind
        wrong = _judge(steps, old, kind, new_step is not None, known, met[0], met[1])
        if wrong:
            return wrong
    return intents.left_aside(steps, operations, known.memory, trace)


def _judge(
    steps: Steps, place: Place, kind: str, is_replaced: bool, known: Known, page: PageSnapshot, hit: int
) -> str | None:
    step, seen = step_at(steps, place), known.memory.at(place)
    if seen is None or seen.target is None:
        if not is_replaced or step.locator is None:
            return None
        match = find_by_locator(step.locator, kind, page)
    else:
        opens = opened_a_part(steps, known.memory, place)
        match = find_became(seen.page, seen.target, page, action=kind, opens=opens)
    is_vouched = is_replaced and place in known.vouched
    if _likely(match, page, hit, is_vouched=is_vouched):
        return None
    if is_vouched and seen is not None and seen.target is not None:
        # It may also be what leads to the element now: a person looks at it, and it is never applied by itself.
        plain = find_again(seen.page, seen.target, page, action=kind)
        if _likely(plain, page, hit, is_vouched=True):
            return None
    found = match.element
    if match.verdict == "found" and found is not None:
        return f"step {show_place(place)} used {in_words(page, hit)}, but its element became {in_words(page, found)}"
    if is_replaced:
        return (
            f"that step {show_place(place)} used {in_words(page, hit)} is green, but not shown to be the same element"
        )
    return None


def _likely(match: Match, page: PageSnapshot, hit: int, *, is_vouched: bool) -> bool:
    """Is what was used what the old element became? Where a person vouches for it, likely is enough."""
    if match.verdict == "found":
        return match.element is not None and same_thing(page, match.element, hit)
    likely = (one for one in match.candidates if one.probability >= LIKELY)
    return is_vouched and match.verdict == "unsure" and any(same_thing(page, one.element, hit) for one in likely)


async def fewest(proof: Proof, steps: Steps, known: Known, replay: Replay) -> Proof:
    """Drop inserted steps one by one; what is green without one does not need it.

    What stands in for a deleted step is kept: the floor let the step go for its sake.
    One that stands alone was shown to be needed by the failing run before it, unless it only waits: then the failure
    may have been chance, and the steps are played once more without it. No operations left means that it was.
    """
    kept = proof
    inserts = [operation for operation in proof.operations if operation.op == "insert"]
    if len(proof.operations) <= 1 and not all(_only_waits(operation) for operation in inserts):
        return proof
    for insert in (one for one in inserts if not _stands_in(one, proof.operations)):
        fewer = tuple(one for one in kept.operations if not fragments.are_copies(steps, one, insert))
        if len(fewer) == len(kept.operations):
            continue  # it went with the copy of it at another use of its fragment
        judged = await prove(steps, fewer, known, replay)
        if isinstance(judged, Proof):
            kept = judged
    return kept


def _stands_in(insert: Operation, operations: Operations) -> bool:
    """Does it do what a deleted step did beside it? Then it is needed, however green the test is without it."""
    deleted = {one.place for one in operations if one.op == "delete"}
    after = (*insert.place[:-1], insert.place[-1] + 1)
    return insert.place in deleted or after in deleted


def _only_waits(operation: Operation) -> bool:
    return operation.new is not None and operation.new.kind == "wait"
