"""A proposal -> a card of the queue: what it changes, what triggered it, why it is the same element, how it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from gardener.actions.deciding import Decided
from gardener.overviews import Cause
from gardener.proposals import Proposal, ProposalStatus
from gardener.saved_tests import SavedTest
from gardener.sharing import Sharing
from repair_ladder.steps import Steps
from web.presenters import diffs, words
from web.presenters.words import Badge, cut

MOST_TRIGGERS: Final = 6


@dataclass(frozen=True, slots=True)
class Trigger:
    """A change of the app, once, with the steps that it touches."""

    page: str
    what: str
    steps: str
    why: str


@dataclass(frozen=True, slots=True)
class Held:
    """A change that the floor withheld."""

    step: str
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Card:
    id: int
    test: int
    test_name: str
    status: Badge
    is_open: bool
    is_dismissed: bool
    is_stale: bool
    is_over: bool  # applied or superseded: nothing is left to decide
    fits: bool  # the test is still at the version that the operations count in
    proven: bool
    how: str
    summary: str  # what it changes, in a few words
    rows: tuple[diffs.Row, ...]
    triggers: tuple[Trigger, ...]
    more_triggers: int
    failed_step: str
    error: str
    reason: str
    held: tuple[Held, ...]
    staged_at: datetime
    restated: int
    version: int
    run: int | None
    proof_run: int | None
    decided_at: datetime | None
    decided_by: str
    pictured: bool  # is there a page to draw?
    shared: Shared | None  # of a change that other tests share
    takes_a_while: bool  # approving it runs tests first


@dataclass(frozen=True, slots=True)
class Shared:
    """What a change of a fragment does to the tests that use it."""

    via: str  # the test that proved it
    via_id: int
    summary: str
    tests: tuple[SharedTest, ...]
    against: tuple[str, ...]  # why a person has to see it


@dataclass(frozen=True, slots=True)
class SharedTest:
    id: int
    name: str
    badge: Badge
    why: str
    run: int | None


SAID: Final = {
    "healed": Badge("mended", "good", "Green with the change."),
    "green": Badge("green", "good", "Green with the change, as it was."),
    "broken": Badge("would break", "bad", "Green without the change, and not with it."),
    "red": Badge("red anyway", "quiet", "Red with and without the change."),
    "unknown": Badge("not run", "warn", "Its surroundings kept it from being run."),
}


def shared_of(sharing: Sharing | None) -> Shared | None:
    if sharing is None:
        return None
    tests = tuple(
        SharedTest(
            one.test,
            one.name,
            SAID[one.said],
            cut(f"at step {one.where}: {one.why}" if one.where else one.why, 300),
            one.run,
        )
        for one in sharing.tried
    )
    return Shared(
        sharing.via_name, sharing.via, sentence(sharing.summary), tests, tuple(map(sentence, sharing.against))
    )


def takes_a_while(proposal: Proposal) -> bool:
    """Are tests run before it is applied: it, where it is not proven yet, and all that share it?"""
    return not proposal.proven or proposal.sharing is not None


@dataclass(frozen=True, slots=True)
class Group:
    """Cards of one cause: the same drift in several tests."""

    title: str
    cause: str
    number: int  # of open proposals in all, also those on other slices of the list
    proven: int
    cards: tuple[Card, ...]


def card(proposal: Proposal, test: SavedTest | None = None, *, steps: Steps | None = None) -> Card:
    """`test` as it stands now; `steps` those that the operations count in, for the unchanged lines beside them."""
    fits = test is None or test.version == proposal.version
    if steps is None and test is not None and fits:
        steps = test.steps
    found = triggers(proposal.triggers)
    return Card(
        id=proposal.id,
        test=proposal.test,
        test_name=proposal.test_name,
        status=words.PROPOSALS[proposal.status],
        is_open=proposal.status == ProposalStatus.PROPOSED,
        is_dismissed=proposal.status == ProposalStatus.DISMISSED,
        is_stale=proposal.status == ProposalStatus.STALE or (proposal.status == ProposalStatus.PROPOSED and not fits),
        is_over=proposal.status in (ProposalStatus.APPLIED, ProposalStatus.SUPERSEDED),
        fits=fits,
        proven=proposal.proven,
        how=words.strategy(proposal.strategy),
        summary=summary(proposal.operations),
        rows=diffs.diff(proposal.operations, steps),
        triggers=found[:MOST_TRIGGERS],
        more_triggers=max(0, len(found) - MOST_TRIGGERS),
        failed_step=proposal.failed_step or "",
        error=cut(proposal.error or "", 600),
        reason=sentence(proposal.reason),
        held=held(proposal.refusals),
        staged_at=proposal.created_at,
        restated=proposal.restated,
        version=proposal.version,
        run=proposal.run,
        proof_run=proposal.proof_run,
        decided_at=proposal.decided_at,
        decided_by=proposal.decided_by or "",
        shared=shared_of(proposal.sharing),
        takes_a_while=takes_a_while(proposal),
        pictured=proposal.proof_run is not None or proposal.run is not None,
    )


def groups(cards: Sequence[tuple[Card, str]], causes: Mapping[str, Cause]) -> tuple[Group, ...]:
    """Cards with their cause, in order; those side by side with the same one become one group."""
    made: list[Group] = []
    for one, key in cards:
        if made and made[-1].cause == key:
            made[-1] = replace(made[-1], cards=(*made[-1].cards, one))
            continue
        cause = causes.get(key, Cause(key, 1, int(one.proven)))
        made.append(Group(title(one), key, cause.proposals, cause.proven, (one,)))
    return tuple(made)


def title(card: Card) -> str:
    """What broke, as the heading of all that it broke."""
    if card.triggers:
        what = card.triggers[0].what
        return f"{what[:1].upper()}{what[1:]} on {card.triggers[0].page}"
    return f"A failed run: {cut(card.error, 160)}" if card.error else "Found from a failed run"


RESULTS: Final = {
    ProposalStatus.PROPOSED: Badge("not done", "warn", "It waits as before."),
    ProposalStatus.STALE: words.PROPOSALS[ProposalStatus.STALE],
}


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one of several proposals that were decided at once."""

    proposal: int
    test_name: str
    badge: Badge
    reason: str
    repair: int | None
    job: int | None  # that proves it first


def result(decided: Decided) -> Result:
    row = decided.proposal
    badge = words.PROPOSALS[row.status]
    if not decided.is_done:
        badge = RESULTS.get(row.status, Badge("not done", "warn", f"It is {row.status.value} already."))
    repair = decided.repair.id if decided.repair else None
    return Result(row.id, row.test_name, badge, sentence(decided.reason), repair, None)


def being_proved(proposal: Proposal, job: int) -> Result:
    said = "It newly does what may not be taken back: the test is run with it first, and it is written on green"
    if proposal.proven:
        said = "Every test that uses the fragment is run with it first"
    return Result(proposal.id, proposal.test_name, Badge("being proved", "calm"), sentence(said), None, job)


def triggers(raw: Sequence[Mapping[str, Any]]) -> tuple[Trigger, ...]:
    """A change that touches several steps is one."""
    steps: dict[tuple[str, str, str], list[str]] = {}
    for one in raw:
        key = (cut(str(one.get("page", "")), 200), change_in_words(one), cut(str(one.get("why") or ""), 200))
        step = str(one.get("step") or "")
        if step not in steps.setdefault(key, []) and step:
            steps[key].append(step)
    return tuple(Trigger(page, what, ", ".join(found), why) for (page, what, why), found in steps.items())


CHANGES: Final = {
    "added": "{element} appeared",
    "removed": "{element} is gone",
    "moved": "{element} moved",
    "text": "{element} says something else",
    "attribute": "{element} changed",
    "role": "{element} became something else",
    "name": "{element} got another name",
}


def change_in_words(change: Mapping[str, Any]) -> str:
    element = cut(str(change.get("element") or "an element"), 120)
    said = CHANGES.get(str(change.get("kind")), "{element} changed").replace("{element}", element)
    before, after = cut(str(change.get("before") or ""), 80), cut(str(change.get("after") or ""), 80)
    if before and after and change.get("kind") in ("text", "attribute", "name", "role"):
        return f"{said}: {before} → {after}"
    return said


def held(refusals: Sequence[Mapping[str, Any]]) -> tuple[Held, ...]:
    made = []
    for one in refusals:
        (row,) = diffs.diff([one]) or (None,)
        what = ""
        if row is not None:
            old, new = _flat(row.old), _flat(row.new)
            what = f"{old} → {new}" if old and new else old or new
        made.append(Held(cut(str(one.get("step", "")), 20), cut(what, 400), sentence(str(one.get("reason") or ""))))
    return tuple(made)


def summary(operations: Sequence[Mapping[str, Any]]) -> str:
    """The changes of a row that is folded."""
    said = {"insert": "adds a step after {}", "replace": "changes step {}", "delete": "takes out step {}"}
    parts: dict[str, list[str]] = {}
    for one in operations:
        parts.setdefault(str(one["op"]), []).append(str(one["step"]))
    many = {"insert": "adds steps after {}", "replace": "changes steps {}", "delete": "takes out steps {}"}
    return "; ".join(
        (said if len(steps) == 1 else many).get(op, op + " {}").replace("{}", ", ".join(dict.fromkeys(steps)))
        for op, steps in parts.items()
    )


def sentence(text: str) -> str:
    """With a capital and a full stop, as a reason stands on a page."""
    line = cut(text, 1200).rstrip(".")
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def _flat(side: diffs.Side) -> str:
    return f"{side.kind} {''.join(piece.text for piece in side.pieces)}".strip()
