"""What people decide: approve, dismiss, revert, review."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace

from gardener.actions import learning
from gardener.actions import sharing as sharing_of
from gardener.actions.entrusting import fragments_of, values_of, whole_of
from gardener.actions.playing import (
    access_to,
    allowed_origins,
    guard,
    memory_of,
    recorded,
    stage_of,
    with_session,
    write_run,
)
from gardener.actions.repairing import settle, write_repair
from gardener.errors import GardenerError, Refused
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.proposals import Proposal, ProposalStatus
from gardener.repairs import Repair, revert_warning, why_not_revertable
from gardener.runs import Run, Trigger
from gardener.saved_tests import SavedTest, may_tend
from gardener.sharing import Sharing
from gardener.store import Transaction, audit, events, issues, pages, projects, proposals, repairs, runs, saved_tests
from gardener.tools import Tools
from gardener.triage import Issue
from radar.errors import RadarError
from repair_ladder import gate, lessons
from repair_ladder.errors import DoesNotFit, LadderError
from repair_ladder.harm import forbidden_to
from repair_ladder.memory import Memory
from repair_ladder.operations import Operations, apply_operations
from repair_ladder.outcomes import Environment, Green
from repair_ladder.step_format import read_operation
from repair_ladder.steps import Steps, read_place, show_place, walk


async def approve(tools: Tools, proposal: int, by: str) -> Repair:
    """Write a proposal's change and record who approved it (G53).

    An unproven one is proved first and written only on green. Raises Refused with the reason, and the test stays as it
    is: the test was edited since (the row becomes stale, G58-G59), the proposal was decided before, the proof is red.
    """
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, proposal)
        project = await projects.by_id(tx, row.project)
    _must_be_open(row)
    if shut := project.settings.why_read_only(tools.now()):
        raise Refused(f"Proposal {row.id} is not applied now: {shut[0]}. It waits.")
    found = await _found(tools, row)
    for one in found.rows:
        owner = found.change.owners[one.test_name]
        _must_be_open(one)
        _must_be_tended(one, owner)
        if owner.version != one.version:
            await _make_stale(tools, one)
            raise Refused(_stale(one, owner))
    try:
        steps = apply_operations(found.whole.steps, found.operations)
    except DoesNotFit as error:
        raise Refused(f"Proposal {row.id} does not fit '{row.test_name}': {error}. Dismiss it, sweep again.") from None
    async with tools.store.reading() as tx:
        proof = await runs.get(tx, row.proof_run) if row.proof_run is not None else None
    if row.proven and proof is not None and (why := await _is_forbidden_now(tools, project, found.whole, steps, proof)):
        raise Refused(f"Proposal {row.id} was not applied: {why}. Nothing was written.")
    green: Green | None = None
    if not row.proven or (proof is not None and _was_changed_since(found, proof)):
        green = await _prove(tools, project, found, row)
    sharing = await _try_others(tools, project, found, row) if row.sharing is not None else None
    async with tools.store.transaction() as tx:
        for one in found.rows:
            now = await proposals.get(tx, one.id)
            _must_be_open(now)
            current = await saved_tests.by_id(tx, one.test)
            if current.version != one.version:
                break
            _must_be_tended(one, current)
        else:
            taught = lessons.learn(found.whole.steps, found.operations, found.memory)
            if green is not None:  # what nobody dared to run is proven by now (T30)
                await learning.remember(tx, tools, project, taught)
            await learning.decided(
                tx, tools, project.id, taught, said="approved", by=by, test=row.test_name, about=row.reason
            )
            return await _write(tx, tools, project, found, row, by, proof, green, sharing)
    await _make_stale(tools, one)
    raise Refused(_stale(one, current))


@dataclass(frozen=True, slots=True)
class _Found:
    """A proposal as the test sees it in which it was proven: that test as a whole, and what is done to it.

    `rows` are the proposal and those that were proven together with it. For a change of one test alone that is the
    test that it belongs to.
    """

    rows: tuple[Proposal, ...]
    via: SavedTest
    whole: SavedTest
    shared: Mapping[str, SavedTest]
    change: sharing_of.Change
    operations: Operations  # as they count in the whole
    memory: Memory


async def _found(tools: Tools, row: Proposal) -> _Found:
    async with tools.store.reading() as tx:
        others = [await proposals.get(tx, one) for one in row.sharing.together] if row.sharing else []
        rows = (row, *others)
        owners = {one.test_name: await saved_tests.by_id(tx, one.test) for one in rows}
        via = await saved_tests.by_id(tx, row.sharing.via if row.sharing else row.test)
    shared = await fragments_of(tools, via)
    whole = whole_of(via, shared)
    parts = {one.test_name: tuple(map(read_operation, one.operations)) for one in rows}
    change = sharing_of.Change(parts, owners)
    return _Found(rows, via, whole, shared, change, change.on(via.name, whole.steps), await memory_of(tools, via))


def _was_changed_since(found: _Found, proof: Run) -> bool:
    """Was the test that proved a shared change, or another fragment of it, edited since?"""
    if found.rows[0].sharing is None:
        return False
    proved_with = (proof.evidence or {}).get("fragments") or {}
    return proof.version != found.via.version or proved_with != found.change.versions(found.shared)


async def _try_others(tools: Tools, project: Project, found: _Found, row: Proposal) -> Sharing:
    """Every other test that the change reaches is run with it; what nobody has been told of yet is told first.

    Raises Refused for that; whoever approves it again knows of it.
    """
    assert row.sharing is not None
    users = await sharing_of.users_of(tools, project, tuple(found.change.parts))
    others = [one for one in users if one.test.id != found.via.id]
    access = access_to(tools, project, Trigger.DRY_RUN)
    fresh = replace(row.sharing, tried=(), left=(), tripped="")
    said = await sharing_of.try_others(tools, project, others, found.change, access, fresh)
    news = said.news(row.sharing)
    if news:
        async with tools.store.transaction() as tx:
            for one in found.rows:
                assert one.sharing is not None
                kept = replace(said, use=one.sharing.use, together=one.sharing.together)
                await proposals.set_sharing(tx, one.id, kept)
        raise Refused(
            f"Proposal {row.id} was not applied: {'; '.join(news)}. The proposal says so now; approve it again to "
            "apply it even so, or dismiss it."
        )
    return said


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of one of several: `reason` says why it was not done."""

    proposal: Proposal  # as it is afterwards
    repair: Repair | None = None
    reason: str = ""

    @property
    def is_done(self) -> bool:
        return not self.reason


async def approve_cause(tools: Tools, proposal: int, by: str) -> tuple[tuple[Repair, ...], tuple[str, ...]]:
    """Approve a proposal and every open one of the same cause: the repairs, and why the others were not written.

    Each is written by itself: one that no longer fits does not hold up the rest. Raises Refused if none could be.
    """
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, proposal)
        waiting = await proposals.open_of_cause(tx, row.project, row.cause)
    _must_be_open(row)
    decided = await approve_each(tools, sorted(one.id for one in waiting), by)
    made = tuple(one.repair for one in decided if one.repair is not None)
    refused = tuple(one.reason for one in decided if one.reason)
    if not made:
        raise Refused(" ".join(refused))
    return made, refused


async def approve_each(tools: Tools, wanted: Sequence[int], by: str) -> tuple[Decided, ...]:
    """Approve several, each by itself and in this order: what cannot be done says why, and stops no other."""
    return tuple([await _one_of_many(tools, number, approve(tools, number, by)) for number in wanted])


async def dismiss_each(tools: Tools, wanted: Sequence[int], by: str) -> tuple[Decided, ...]:
    """Dismiss several, in the same way."""
    return tuple([await _one_of_many(tools, number, dismiss(tools, number, by)) for number in wanted])


async def _one_of_many(tools: Tools, number: int, deciding: Awaitable[Repair | Proposal]) -> Decided:
    """Raises NotFound for a proposal that there is not."""
    repair, reason = None, ""
    try:
        done = await deciding
        repair = done if isinstance(done, Repair) else None
    except (GardenerError, LadderError, RadarError) as error:
        reason = str(error)
    async with tools.store.reading() as tx:
        return Decided(await proposals.get(tx, number), repair, reason)


async def _write(
    tx: Transaction,
    tools: Tools,
    project: Project,
    found: _Found,
    row: Proposal,
    by: str,
    proof: Run | None,
    green: Green | None,
    sharing: Sharing | None,
) -> Repair:
    """All that was proven together, or nothing. Gives the repair of the proposal that was approved."""
    if green is not None:
        versions = found.change.versions(found.shared)
        proof = await write_run(tx, tools, project, found.via, Trigger.PROOF, green, tools.now(), versions=versions)
    written = []
    for one in found.rows:
        if green is not None and proof is not None:
            await proposals.mark_proven(tx, one.id, proof_run=proof.id)
        await proposals.decide(tx, one.id, to=ProposalStatus.APPLIED, by=by, now=tools.now())
        owner = found.change.owners[one.test_name]
        if owner.id != found.via.id:
            await sharing_of.keep_known(tx, tools, found.whole, owner, found.memory)
        repair = await write_repair(
            tx,
            tools,
            project,
            owner,
            steps=apply_operations(owner.steps, found.change.parts[owner.name]),
            operations=one.operations,
            refusals=one.refusals,
            strategy=one.strategy,
            reason=one.reason,
            author=by,
            run=one.run,
            proof=proof if owner.id == found.via.id else None,
            proposal=one.id,
            sharing=replace(sharing, use=one.sharing.use) if sharing and one.sharing else None,
        )
        written.append(repair)
    if sharing is not None and proof is not None:
        await settle(tx, tools, sharing, written, found.via, proof, by=by)
    return written[0]


async def _prove(tools: Tools, project: Project, found: _Found, row: Proposal) -> Green:
    """A person said that it may be run: now it is proved like any other."""
    test, whole, memory = found.via, found.whole, found.memory
    values = await values_of(tools, test)
    if values.trouble:
        raise Refused(f"Proposal {row.id} cannot be proved: {values.trouble}.")
    stage = replace(stage_of(tools, project, test, values), fenced_to=allowed_origins(project, memory))
    access = access_to(tools, project, Trigger.DRY_RUN)
    given = await access.enter() if await access.is_behind(whole, memory) else None
    if isinstance(given, Environment):
        raise Refused(f"Proposal {row.id} cannot be proved: {given.message}.")
    # One run for both gates: what may do harm is not done twice. A session that runs out ends it as well: nobody knows
    # what was done by then.
    judged = await gate.prove_with_red(
        whole.steps,
        found.operations,
        gate.Known(memory),
        lambda candidate: tools.replay(candidate, with_session(guard(stage, whole.steps, candidate), given)),
    )
    match judged:
        case gate.Proof(run=green):
            return green
        case gate.NotGreen(run=red):
            why = f"its proof is red at step {show_place(red.place)}: {red.message}"
        case gate.WrongElement(reason=reason):
            why = f"its proof is not convincing: {reason}"
        case gate.Blind(reason=reason):
            why = f"its proof shows nothing: {reason}"
        case Environment(message=message):
            why = f"it could not be proved: {message}"
    raise Refused(f"Proposal {row.id} was not applied: {why}. Nothing was written.")


async def _is_forbidden_now(tools: Tools, project: Project, test: SavedTest, steps: Steps, proof: Run) -> str:
    """Why a proven change acts on what was forbidden since, as its proof shows; "" if it does not."""
    forbidden, attribute = project.settings.forbidden_locators, project.settings.test_id_attribute
    if not forbidden:
        return ""
    known = [step for _, step in walk(test.steps)]
    met = {read_place(one.place): one for one in recorded(proof)}
    async with tools.store.reading() as tx:
        seen = await pages.get_many(tx, {one.page_key for one in met.values()})
    for place, step in walk(steps):
        one = met.get(place)
        if step in known or one is None or one.target is None or one.page_key not in seen:
            continue
        if why := forbidden_to(step, seen[one.page_key], one.target, forbidden, attribute):
            return why
    return ""


def _must_be_open(row: Proposal) -> None:
    if row.status == ProposalStatus.STALE:
        raise Refused(
            f"Proposal {row.id} is stale: it was worked out on version {row.version} of '{row.test_name}', which was "
            "edited since. Sweep again for a fresh one."
        )
    if row.status != ProposalStatus.PROPOSED:
        who = f" by {row.decided_by}" if row.decided_by else ""
        raise Refused(f"Proposal {row.id} is {row.status.value} already{who}.")


def _must_be_tended(row: Proposal, test: SavedTest) -> None:
    as_fragment = row.sharing is not None and row.sharing.via != test.id
    why = may_tend(test, by_hand=True, as_fragment=as_fragment)
    if why:
        raise Refused(f"Proposal {row.id} was not applied: {why}. Nothing was written.")


def _stale(row: Proposal, test: SavedTest) -> str:
    return (
        f"Proposal {row.id} no longer fits '{test.name}': the steps are at version {test.version}, it was worked out "
        f"on version {row.version}. It is stale now; sweep again for a fresh one."
    )


async def _make_stale(tools: Tools, row: Proposal) -> None:
    async with tools.store.transaction() as tx:
        open_now = await proposals.open_of(tx, row.test)
        if open_now is not None and open_now.id == row.id:
            await proposals.close_open(
                tx, row.test, to=ProposalStatus.STALE, now=tools.now(), by=None, why="the test was edited"
            )


async def dismiss(tools: Tools, proposal: int, by: str) -> Proposal:
    """Decline a fix: it is not proposed again until the test or the app changes (G55). Raises Refused.

    What it taught is forgotten.
    """
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, proposal)
        old = await saved_tests.version(tx, row.test, row.version)
        test = await saved_tests.by_id(tx, row.test)
    then = replace(test, version=row.version, steps=old.steps)
    steps, operations, memory = await _as_proven(tools, then, row.sharing, row.operations)
    async with tools.store.transaction() as tx:
        row = await proposals.get(tx, proposal)
        _must_be_open(row)
        row = await proposals.decide(tx, proposal, to=ProposalStatus.DISMISSED, by=by, now=tools.now())
        for other in row.sharing.together if row.sharing else ():  # half of what was proven is nothing
            if (await proposals.get(tx, other)).status == ProposalStatus.PROPOSED:
                await proposals.decide(tx, other, to=ProposalStatus.DISMISSED, by=by, now=tools.now())
        await learning.unlearn(tx, row.project, steps, operations, memory)
        taught = lessons.learn(steps, operations, memory)
        await learning.decided(
            tx, tools, row.project, taught, said="dismissed", by=by, test=row.test_name, about=row.reason
        )
        payload = {"proposal": row.id, "test": row.test_name, "by": by}
        subject = f"{by} dismissed the repair of '{row.test_name}'"
        await events.emit(tx, row.project, EventKind.DISMISSED, subject, payload, now=tools.now())
        await audit.write(
            tx, project=row.project, who=by, what="dismiss", subject=row.test_name, details=payload, now=tools.now()
        )
    return row


async def restore(tools: Tools, proposal: int, by: str) -> Proposal:
    """Take a dismissal back: the fix waits again. Raises Refused where it no longer fits or another one waits."""
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, proposal)
        known = await saved_tests.by_id(tx, row.test)
    steps, operations, memory = await _as_proven(tools, known, row.sharing, row.operations)
    async with tools.store.transaction() as tx:
        row = await proposals.get(tx, proposal)
        test = await saved_tests.by_id(tx, row.test)
        if row.status != ProposalStatus.DISMISSED:
            raise Refused(f"Proposal {row.id} is {row.status.value}, not dismissed: there is nothing to take back.")
        if test.version != row.version:
            raise Refused(
                f"Proposal {row.id} no longer fits '{test.name}': the test was edited since it was dismissed. "
                "Sweep again for a fresh one."
            )
        if await proposals.open_of(tx, row.test):
            raise Refused(f"Another repair of '{test.name}' waits by now: decide on that one.")
        row = await proposals.restore(tx, proposal)
        taught = lessons.learn(steps, operations, memory)
        await learning.forget_decline(tx, row.project, taught)
        payload = {"proposal": row.id, "test": row.test_name, "by": by}
        subject = f"{by} put the repair of '{row.test_name}' back into the queue"
        await events.emit(tx, row.project, EventKind.RESTORED, subject, payload, now=tools.now())
        await audit.write(
            tx, project=row.project, who=by, what="restore", subject=row.test_name, details=payload, now=tools.now()
        )
    return row


async def close_issue(tools: Tools, issue: int, by: str) -> Issue:
    """A person has dealt with it. The same cause opens a new one. Raises Refused if it is closed."""
    async with tools.store.transaction() as tx:
        row = await issues.get(tx, issue)
        if row.closed_at is not None:
            raise Refused(f"Issue {issue} is closed already.")
        row = await issues.close(tx, issue, now=tools.now())
        await audit.write(
            tx,
            project=row.project,
            who=by,
            what="close issue",
            subject=", ".join(row.tests)[:200],
            details={"issue": issue},
            now=tools.now(),
        )
    return row


async def revert(tools: Tools, repair: int, by: str) -> Repair:
    """Restore the pre-repair steps exactly (G54, G76). Raises Refused where something later touched the test."""
    async with tools.store.reading() as tx:
        row = await repairs.get(tx, repair)
        test = await saved_tests.by_id(tx, row.test)
    then = replace(test, version=row.version_before, steps=row.steps_before)
    steps, operations, memory = await _as_proven(tools, then, row.sharing, row.operations)
    async with tools.store.transaction() as tx:
        row = await repairs.get(tx, repair)
        test = await saved_tests.by_id(tx, row.test)
        why = why_not_revertable(row, version_now=await _same_as(tx, row, test), test_name=test.name)
        if why:
            raise Refused(why)
        row = await repairs.mark_reverted(tx, repair, by=by, now=tools.now())
        await learning.unlearn(tx, row.project, steps, operations, memory)
        await saved_tests.write_steps(
            tx,
            test.id,
            test.version,
            steps=row.steps_before,
            source=row.source_before,
            variables=row.variables_before,
            author=by,
            cause="revert",
            now=tools.now(),
            flagged=False,
        )
        await proposals.close_open(
            tx, test.id, to=ProposalStatus.STALE, now=tools.now(), by=by, why="a repair was reverted"
        )
        payload = {"repair": row.id, "test": test.name, "by": by}
        subject = f"{by} reverted the repair of '{test.name}'"
        await events.emit(tx, row.project, EventKind.REVERTED, subject, payload, now=tools.now())
        await audit.write(
            tx, project=row.project, who=by, what="revert", subject=test.name, details=payload, now=tools.now()
        )
    return row


async def _as_proven(
    tools: Tools, owner: SavedTest, sharing: Sharing | None, raw: Sequence[dict[str, object]]
) -> tuple[Steps, Operations, Memory]:
    """Operations with the steps that they count in and what is known of those, as the test sees it that proved them.

    `owner` is what they change, as it stood then.
    """
    operations = tuple(map(read_operation, raw))
    via = owner
    if sharing is not None and sharing.via != owner.id:
        async with tools.store.reading() as tx:
            via = await saved_tests.by_id(tx, sharing.via)
    shared = dict(await fragments_of(tools, via))
    if owner.name in shared:
        shared[owner.name] = owner
    whole, memory = whole_of(via, shared), await memory_of(tools, via, shared)
    return whole.steps, sharing_of.Change({owner.name: operations}, {}).on(via.name, whole.steps), memory


async def why_not_reverted(tools: Tools, repair: Repair) -> str | None:
    """None while `revert` would be done, else the reason why not; for a page that offers it."""
    async with tools.store.reading() as tx:
        test = await saved_tests.by_id(tx, repair.test)
        return why_not_revertable(repair, version_now=await _same_as(tx, repair, test), test_name=test.name)


async def warning_of(tools: Tools, reverted: Repair) -> str:
    """What a person has to know about what they took back (G77)."""
    async with tools.store.reading() as tx:
        failed = await runs.get(tx, reverted.run) if reverted.run is not None else None
    return revert_warning(failed.failed_step if failed else None, reverted.sharing)


async def _same_as(tx: Transaction, row: Repair, test: SavedTest) -> int:
    """The version to compare with: that of the repair, if the test holds just what the repair left in it.

    So the second newest repair can be reverted once the newest one was: nothing of it is left.
    """
    after = await saved_tests.version(tx, test.id, row.version_after)
    same = after.steps == test.steps and dict(after.variables) == dict(test.variables or {})
    return row.version_after if same else test.version


async def review(tools: Tools, repair: int, by: str) -> Repair:
    """Somebody has looked at a repair: the flag goes, the fix stays (G78)."""
    async with tools.store.transaction() as tx:
        row = await repairs.mark_reviewed(tx, repair, by=by, now=tools.now())
        newest = await repairs.newest_of(tx, row.test)
        if newest is not None and newest.id == row.id:
            await saved_tests.set_flagged(tx, row.test, False)
        payload = {"repair": row.id, "test": row.test_name, "by": by}
        subject = f"{by} reviewed the repair of '{row.test_name}'"
        await events.emit(tx, row.project, EventKind.REVIEWED, subject, payload, now=tools.now())
        await audit.write(
            tx, project=row.project, who=by, what="review", subject=row.test_name, details=payload, now=tools.now()
        )
    return row
