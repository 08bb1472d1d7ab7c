"""Send one broken test up the ladder, and write or stage what comes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, assert_never
from urllib.parse import urlsplit

from gardener import stories
from gardener.actions import announcing, joining, learning, sharing
from gardener.actions.entrusting import values_of
from gardener.actions.metering import metered
from gardener.actions.playing import PlayedTest, access_to, allowed_origins, recorded, replayer, stage_of, write_run
from gardener.actions.sharing import Change
from gardener.cases import Attempt as MadeAttempt
from gardener.cases import Case, CaseStatus
from gardener.models import judge_of, model_of
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.proposals import ProposalStatus, fix_key
from gardener.repairs import GARDENER, Repair
from gardener.results import Result, Said, operation_shapes, refusal_shapes
from gardener.runs import Run, Trigger
from gardener.saved_tests import SavedTest, Status, may_tend
from gardener.sharing import Sharing, Tried
from gardener.store import (
    Transaction,
    at_risk,
    audit,
    cases,
    events,
    issues,
    projects,
    proposals,
    recordings,
    repairs,
    saved_tests,
)
from gardener.tools import Tools
from gardener.triage import Issue, IssueKind
from repair_ladder import fragments
from repair_ladder.climb import (
    Attempt,
    Climbed,
    Earlier,
    Exhausted,
    Given,
    Halted,
    NotDrift,
    Repaired,
    climb,
)
from repair_ladder.errors import LadderError
from repair_ladder.floor import Refusal
from repair_ladder.judge import judge_by
from repair_ladder.operations import Operation, apply_operations
from repair_ladder.outcomes import Environment, Outcome, Red
from repair_ladder.ports import Asked, Unavailable
from repair_ladder.rungs import RUNGS
from repair_ladder.rungs.models import Redact, proposers
from repair_ladder.step_format import read_operation
from repair_ladder.steps import Steps, show_place, step_at
from repair_ladder.values import redactor


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller lets the ladder do with a proven fix."""

    apply: bool  # write it, where it is sure; else stage
    rungs: tuple[str, ...] = RUNGS
    triggers: tuple[dict[str, Any], ...] = ()
    change_key: str = ""
    by: str = GARDENER
    even_declined: bool = False  # a person asked: a fix that was dismissed before may be shown again
    follows_switch: bool = True  # `apply` holds only while the project's switch is on


async def repair(tools: Tools, project: Project, test: SavedTest, played: PlayedTest, wanted: Wanted) -> Result:
    """The ladder for one red run. Never raises for what app, browser or model do.

    What was tried in the same case before, by a worker that was killed or a climb that was halted, is not tried again.
    """
    red, whole = played.outcome, played.whole
    if not isinstance(red, Red):
        raise TypeError("only a red run is repaired")
    asked = Asked()
    users = await sharing.beside(tools, project, whole, played.shared)
    if joined := await joining.join(tools, project, test, played, wanted.triggers):
        return joined
    case, earlier = await _open_case(tools, project, test, played)
    hidden = await hidden_in(tools, test, played)
    told = announcing.Announcer(tools, project, whole, case.id, played.run.id, red, hidden)
    await told.started()
    journal = _Journal(tools, whole, case, asked)
    climbed = await _climb(tools, project, test, red, played, wanted, asked, earlier, journal, users)
    reach = await _reach(tools, project, test, played, climbed, users) if isinstance(climbed, Repaired) else None
    result = await _conclude(tools, project, test, played, climbed, wanted, journal, reach)
    result = replace(result, model_calls=asked.calls)
    await told.ended(climbed, result)
    return result


async def hidden_in(tools: Tools, test: SavedTest, played: PlayedTest) -> Redact:
    values = await values_of(tools, test)
    return redactor(values.secrets | (played.signed_in.secrets if played.signed_in else frozenset()))


def failure_of(played: PlayedTest) -> str:
    """The same for the same failure of the same page and the same fragments, whatever the page's texts and clocks show
    at the moment."""
    red = played.outcome
    assert isinstance(red, Red)
    page = red.page
    built = (urlsplit(page.url).path, page.paths) if page else None
    versions = {name: one.version for name, one in sorted(played.shared.items())}
    said = json.dumps([show_place(red.place), red.cause, built, *([versions] if versions else [])])
    return hashlib.sha256(said.encode()).hexdigest()


async def _open_case(tools: Tools, project: Project, test: SavedTest, played: PlayedTest) -> tuple[Case, Earlier]:
    """The case of this failure, with what was done in it; one that stands open for another failure is given up."""
    failure = failure_of(played)
    known = {"project": project.id, "test": test.id, "version": test.version, "run": played.run.id}
    async with tools.store.transaction() as tx:
        case = await cases.open_case(tx, now=tools.now(), **known)
        if case.pointer.get("failure", failure) != failure:
            await cases.finish(tx, case.id, status=CaseStatus.ABANDONED, verdict=None, now=tools.now())
            case = await cases.open_case(tx, now=tools.now(), **known)
        pointer = {"failure": failure, "begun": case.interrupted}
        await cases.point(tx, case.id, pointer)
        made = await cases.attempts(tx, case.id)
    earlier = Earlier(tuple(map(_read_attempt, made)), case.interrupted, case.model_calls)
    return replace(case, pointer=pointer), earlier


def _read_attempt(row: MadeAttempt) -> Attempt:
    operations = tuple(operation for one in row.operations if (operation := _read_operation(one)))
    refusals = tuple(
        Refusal(operation, str(one.get("reason", ""))) for one in row.refusals if (operation := _read_operation(one))
    )
    outcome: Any = row.outcome
    return Attempt(
        row.number,
        row.rung,
        row.strategy,
        row.hypothesis,
        operations,
        refusals,
        outcome,
        row.error or "",
        fix=row.fix or "",
    )


def _read_operation(shape: Mapping[str, Any]) -> Operation | None:
    try:
        return read_operation(shape)
    except (LadderError, KeyError, ValueError, TypeError):
        return None  # a refused operation may be anything


class _Journal:
    """Writes each attempt of a case when it begins and when it ends, with what it cost."""

    def __init__(self, tools: Tools, test: SavedTest, case: Case, asked: Asked) -> None:
        self.tools, self.test, self.case, self.asked = tools, test, case, asked
        self.begun = dict(case.interrupted)
        self.trying = ""
        self.calls = self.tokens = 0  # written down so far

    def cost(self) -> dict[str, int]:
        """What was spent since it was last written down."""
        calls, tokens = self.asked.calls, self.asked.input_tokens + self.asked.output_tokens
        new = {"model_calls": calls - self.calls, "tokens": tokens - self.tokens}
        self.calls, self.tokens = calls, tokens
        return new

    async def begins(self, fix: str, hypothesis: str) -> None:
        self.trying = fix
        begun = self.begun | {fix: self.begun.get(fix, 0) + 1}
        async with self.tools.store.transaction() as tx:
            await cases.point(tx, self.case.id, self.case.pointer | {"begun": begun, "trying": hypothesis[:500]})
            await cases.spend(tx, self.case.id, **self.cost())

    async def ended(self, attempt: Attempt) -> None:
        self.trying = ""
        async with self.tools.store.transaction() as tx:
            await cases.add_attempt(
                tx,
                self.case.id,
                rung=attempt.rung,
                strategy=attempt.strategy,
                hypothesis=attempt.hypothesis,
                operations=operation_shapes(self.test.steps, attempt.operations),
                refusals=refusal_shapes(self.test.steps, attempt.refusals),
                outcome=attempt.outcome,
                error=attempt.error or None,
                fix=attempt.fix,
                now=self.tools.now(),
                **self.cost(),
            )
            await cases.point(tx, self.case.id, self.case.pointer | {"begun": self.begun})


async def _climb(
    tools: Tools,
    project: Project,
    test: SavedTest,
    red: Red,
    played: PlayedTest,
    wanted: Wanted,
    asked: Asked,
    earlier: Earlier,
    journal: _Journal,
    users: Sequence[sharing.User],
) -> Climbed:
    memory, signed_in, whole = played.memory, played.signed_in, played.whole
    values = await values_of(tools, test)
    stage = replace(stage_of(tools, project, test, values), fenced_to=allowed_origins(project, memory))
    access = access_to(tools, project, Trigger.DRY_RUN)
    play = replayer(tools, access, signed_in, stage, memory, saved=whole.steps)

    async def replay(steps: Steps) -> Outcome:
        shut = project.settings.why_read_only(tools.now())  # they may begin in the middle of a climb
        return Environment("read_only", shut[0]) if shut else await play(steps)

    hidden = values.secrets | (signed_in.secrets if signed_in else frozenset())

    async def watch(what: str, details: dict[str, object]) -> None:
        await tools.watch(f"ladder_{what}", {"test": test.name, **details})

    async with tools.store.reading() as tx:
        lessons = await learning.lessons_for(tx, tools, project)
    ask = metered(tools, project, test, journal.case.id, model_of(tools.settings, project), tools.ask(project))
    second = judge_of(tools.settings, project)
    judging = metered(tools, project, test, journal.case.id, second, tools.judge(project)) if second else None
    judge = judge_by(judging, project.settings.rules, asked, redactor(hidden))
    given = Given(
        memory=memory,
        lessons=lessons,
        variables=frozenset(values.values) - values.secret_names,
        secrets=values.secret_names,
        origins=allowed_origins(project, memory),
        test_id_attribute=project.settings.test_id_attribute,
        rungs=wanted.rungs,
        models=proposers(ask, asked, redactor(hidden)),
        asked=asked,
        earlier=earlier,
        journal=journal,
        forbidden=project.settings.forbidden_locators,
        judge=judge,
        name=test.name,
        beside=sharing.as_beside(users),
    )
    return await climb(whole.steps, red, given, replay, now=tools.now, watch=watch)


@dataclass(frozen=True, slots=True)
class _Reach:
    """What a proven fix changes, and what it does to other tests; None where it changes nothing that they share."""

    change: Change
    sharing: Sharing | None


async def _reach(
    tools: Tools,
    project: Project,
    test: SavedTest,
    played: PlayedTest,
    climbed: Repaired,
    users: Sequence[sharing.User],
) -> _Reach:
    change = sharing.change_of(played.whole, test, played.shared, climbed.operations)
    reached = [one for one in users if change.on(one.test.name, one.whole.steps)]
    if not reached and set(change.parts) == {test.name}:
        return _Reach(change, None)
    found = Sharing(test.id, test.name)
    if climbed.proof is None:
        names = tuple(one.test.name for one in reached)
        return _Reach(change, replace(found, left=names, tripped="nothing is run with it before a person says so"))
    access = access_to(tools, project, Trigger.DRY_RUN)
    return _Reach(change, await sharing.try_others(tools, project, reached, change, access, found))


async def _conclude(
    tools: Tools,
    project: Project,
    test: SavedTest,
    played: PlayedTest,
    climbed: Climbed,
    wanted: Wanted,
    journal: _Journal,
    reach: _Reach | None,
) -> Result:
    """One transaction: the end of the case, and the repair, the proposal or the issue that it comes to."""
    run, case = played.run, journal.case
    refusals = refusal_shapes(played.whole.steps, climbed.refusals)
    result = Result(test.name, "incurable", climbed.reason, run.failed_step, refusals=refusals)
    async with tools.store.transaction() as tx:
        await cases.spend(tx, case.id, **journal.cost())
        await learning.learn(tx, tools, project, played.whole.steps, climbed, played.memory)
        match climbed:
            case Repaired():
                assert reach is not None
                fix = _Fix(tools, project, test, played, climbed, wanted, result, reach)
                result = await _keep(tx, fix)
            case NotDrift(verdict="environment"):
                result = replace(result, outcome="environment")
                await file_finding(tx, tools, project, "environment", climbed.reason, [test.id], run.id)
            case NotDrift():
                result = replace(result, outcome="product_defect")
                await _file_triage(tx, tools, project, test, played, result, "product_defect", climbed, wanted)
            case Exhausted(only_refused=only_refused):
                result = replace(result, outcome="refused" if only_refused else "incurable")
                await _file_triage(tx, tools, project, test, played, result, "incurable", climbed, wanted)
            case Halted(why=why):
                result = replace(result, outcome=_halted(why))
                if isinstance(why, Unavailable) and why.why == "budget":
                    await _tell_of_budget(tx, tools, project, why)
            case _:
                assert_never(climbed)
        ends = CASE_ENDS.get(result.outcome)
        if ends:  # a case that was halted stays open: no attempt is spent, and the next try takes it up
            await cases.finish(tx, case.id, status=ends[0], verdict=ends[1], now=tools.now())
    await tools.watch("result", {"test": test.name, "outcome": result.outcome, "reason": result.reason})
    return result


CASE_ENDS: dict[str, tuple[CaseStatus, str | None]] = {
    "staged": (CaseStatus.REPAIRED, "rot"),
    "applied": (CaseStatus.REPAIRED, "rot"),
    "product_defect": (CaseStatus.NOT_DRIFT, "product_defect"),
    "environment": (CaseStatus.NOT_DRIFT, "environment"),
    "incurable": (CaseStatus.EXHAUSTED, "incurable"),
    "refused": (CaseStatus.EXHAUSTED, "fixable"),
}


def _halted(why: Unavailable | Environment) -> Said:
    if isinstance(why, Environment) and why.kind not in ("browser", "read_only"):
        return "environment"
    return "unavailable"


async def _tell_of_budget(tx: Transaction, tools: Tools, project: Project, why: Unavailable) -> None:
    """Once a day: every red test meets the same empty account."""
    now = tools.now()
    if not await events.listed(tx, project.id, kind=EventKind.BUDGET, since=now - timedelta(days=1), limit=1):
        subject = f"No model can be asked: {why.message}"
        await events.emit(tx, project.id, EventKind.BUDGET, subject, {}, now=now)


@dataclass(frozen=True, slots=True)
class _Fix:
    """A repair that the ladder found, and what its keeping needs. `result` is what is said if it is not kept."""

    tools: Tools
    project: Project
    test: SavedTest
    played: PlayedTest
    climbed: Repaired
    wanted: Wanted
    result: Result
    reach: _Reach


async def _keep(
    tx: Transaction,
    fix: _Fix,
) -> Result:
    """Write the fix if the project applies and the fix is sure; else it waits for a person."""
    change, shared = fix.reach.change, fix.reach.sharing
    for name, owner in change.owners.items():
        now = await saved_tests.by_id(tx, owner.id)
        if now.version != owner.version:
            reason = f"'{name}' was edited while its repair was proved: nothing was written; run it again"
            return replace(fix.result, outcome="refused", reason=reason)
        left_alone = may_tend(now, by_hand=fix.wanted.by != GARDENER, as_fragment=owner.id != fix.test.id)
        if left_alone:
            return replace(fix.result, outcome="refused", reason=f"{left_alone}; nothing was written")
    proof = None
    if fix.climbed.proof is not None:
        versions = change.versions(fix.played.shared)
        proof = await write_run(
            tx, fix.tools, fix.project, fix.test, Trigger.PROOF, fix.climbed.proof, fix.tools.now(), versions=versions
        )
    parts = {name: operation_shapes(change.owners[name].steps, some) for name, some in change.parts.items()}
    apply = fix.wanted.apply and not fix.climbed.doubt and fix.climbed.proof is not None
    reason = _why_staged(fix.climbed)
    if apply and fix.wanted.follows_switch:
        apply = await projects.auto_repair_of(tx, fix.project.id)
    for why in await _against(tx, fix, parts):
        apply, reason = False, f"{reason}; {why}, so it waits for a person"
    if apply and not (shared and shared.against):
        return await _apply(tx, fix, parts, proof)
    return await _stage(tx, fix, parts, proof, reason)


async def _against(
    tx: Transaction,
    fix: _Fix,
    parts: Mapping[str, Sequence[dict[str, Any]]],
) -> list[str]:
    """What speaks against writing a fix without a person, beside what the proof itself left in doubt."""
    found: list[str] = []
    if fix.wanted.apply and (shut := fix.project.settings.why_read_only(fix.tools.now())):
        found.append(shut[0])
    for name, operations in parts.items():
        owner = fix.reach.change.owners[name]
        # Written again by itself, it would undo within a night what a person has decided.
        reverted = await _reverted_by(tx, owner, operations)
        if reverted and fix.wanted.by == GARDENER:
            found.append(f"{reverted} reverted this repair before")
        if owner.status == Status.DRAFT and owner.id != fix.test.id:
            found.append(f"the fragment '{name}' is a draft")
    declined = await learning.who_declined(
        tx, fix.tools, fix.project, fix.played.whole.steps, fix.climbed.operations, fix.played.memory
    )
    if declined and fix.wanted.by == GARDENER:
        found.append(f"{declined} of the same element before")
    return found


async def _apply(
    tx: Transaction,
    fix: _Fix,
    parts: Mapping[str, Sequence[dict[str, Any]]],
    proof: Run | None,
) -> Result:
    written = []
    for name, owner in fix.reach.change.owners.items():
        if owner.id != fix.test.id:
            await sharing.keep_known(tx, fix.tools, fix.played.whole, owner, fix.played.memory)
        repair = await write_repair(
            tx,
            fix.tools,
            fix.project,
            owner,
            steps=apply_operations(owner.steps, fix.reach.change.parts[name]),
            operations=parts[name],
            refusals=fix.result.refusals,
            strategy=fix.climbed.strategy,
            reason=fix.climbed.reason,
            author=fix.wanted.by,
            run=fix.played.run.id,
            proof=proof if owner.id == fix.test.id else None,
            proposal=None,
            sharing=_of(fix.reach, owner, fix.played.whole),
        )
        written.append(repair)
    if fix.reach.sharing is not None:
        assert proof is not None
        await settle(tx, fix.tools, fix.reach.sharing, written, fix.test, proof, by=fix.wanted.by)
    reason = f"{fix.climbed.reason}; {fix.reach.sharing.summary}" if fix.reach.sharing else fix.climbed.reason
    return replace(fix.result, outcome="applied", repair=written[-1].id, reason=reason)


async def settle(
    tx: Transaction,
    tools: Tools,
    shared: Sharing,
    written: Sequence[Repair],
    via: SavedTest,
    proof: Run,
    *,
    by: str,
) -> None:
    """After repairs that other tests share were written: the test that proved them and all others are known by their
    runs with them."""
    versions = {one.test: one.version_after for one in written}
    proved = Tried(via.id, via.name, via.version, "healed", run=proof.id)
    every = replace(shared, tried=(*shared.tried, proved))
    why = f"repair {written[-1].id} of '{written[-1].test_name}' mends it"
    await sharing.settle(tx, tools, every, versions, by=by, why=why)


def _of(reach: _Reach, owner: SavedTest, whole: SavedTest) -> Sharing | None:
    """With the place where the fragment is used by the test that proved its change."""
    if reach.sharing is None:
        return None
    uses = fragments.uses_of(whole.steps, owner.name)
    return replace(reach.sharing, use=show_place(uses[0]) if uses and owner.id != whole.id else "")


async def _stage(
    tx: Transaction,
    fix: _Fix,
    parts: Mapping[str, Sequence[dict[str, Any]]],
    proof: Run | None,
    reason: str,
) -> Result:
    run, owners = fix.played.run, fix.reach.change.owners
    for name, owner in owners.items():
        key = fix_key(owner.id, owner.version, fix.wanted.change_key, parts[name])
        if not fix.wanted.even_declined and await proposals.is_declined(tx, key):
            declined = "this fix was dismissed before, and neither the test nor the app has changed since"
            return replace(fix.result, outcome="refused", reason=declined)
    staged = []
    for name, owner in owners.items():
        proposal = await proposals.stage(
            tx,
            project=fix.project.id,
            test=owner.id,
            version=owner.version,
            proven=fix.climbed.proof is not None,
            strategy=fix.climbed.strategy,
            operations=parts[name],
            refusals=fix.result.refusals,
            triggers=fix.wanted.triggers,
            failed_step=run.failed_step,
            error=run.error,
            reason=reason,
            change_key=fix.wanted.change_key,
            now=fix.tools.now(),
            run=run.id,
            proof_run=proof.id if proof else None,
            even_declined=True,
            sharing=_of(fix.reach, owner, fix.played.whole),
        )
        assert proposal is not None, "whether it was declined was asked before"
        staged.append(proposal)
    if len(staged) > 1:
        for number, one in enumerate(staged):
            assert one.sharing is not None
            others = tuple(other.id for other in staged if other.id != one.id)
            named = ", ".join(f"'{other.test_name}'" for other in staged if other.id != one.id)
            told = f"{one.reason}; proven and applied together with the change of {named}"
            joined = replace(one.sharing, together=others)
            staged[number] = await proposals.set_sharing(tx, one.id, joined, reason=told)
    for one in staged:
        if one.restated == 0:
            heals = f": it {one.sharing.summary}" if one.sharing else ""
            subject = f"A repair of '{one.test_name}' waits for approval{heals}"
            broke = f"Step {run.failed_step} was red: {run.error}"
            payload = {"proposal": one.id, "lines": [broke, one.why]}
            await events.emit(tx, fix.project.id, EventKind.STAGED, subject, payload, now=fix.tools.now())
    return replace(fix.result, outcome="staged", proposal=staged[-1].id, reason=staged[-1].why)


async def _reverted_by(tx: Transaction, test: SavedTest, operations: Sequence[dict[str, Any]]) -> str | None:
    """Who took back the very same repair of the very same steps; None if nobody did."""
    essence = [(one["op"], one["step"], one["new"]) for one in operations]
    for repair in await repairs.listed(tx, test.project, test=test.id):
        same = [(one["op"], one["step"], one["new"]) for one in repair.operations] == essence
        if repair.reverted_at and same and repair.steps_before == test.steps:
            return repair.reverted_by
    return None


def _why_staged(climbed: Repaired) -> str:
    if climbed.harm:
        return f"{climbed.reason}; not run unattended, because {climbed.harm}"
    if climbed.doubt:
        return f"{climbed.reason}; for a person to see: {climbed.doubt}"
    return climbed.reason


async def write_repair(
    tx: Transaction,
    tools: Tools,
    project: Project,
    test: SavedTest,
    *,
    steps: Steps,
    operations: Sequence[dict[str, Any]],
    refusals: Sequence[dict[str, Any]],
    strategy: str,
    reason: str,
    author: str,
    run: int | None,
    proof: Run | None,
    proposal: int | None,
    sharing: Sharing | None = None,
) -> Repair:
    """The new steps by compare-and-swap on the version, with their record, the audit entry and the event: all or none.

    Raises Conflict if the test is not at the version that the operations count in.
    """
    now = tools.now()
    by_gardener = author == GARDENER
    after = await saved_tests.write_steps(
        tx,
        test.id,
        test.version,
        steps=steps,
        source=None,
        author=author,
        cause="repair",
        now=now,
        flagged=by_gardener,
    )
    if proof is not None:
        await recordings.save(tx, test.id, after.version, proof.id, recorded(proof), now=now)
    repair = await repairs.add(
        tx,
        project=project.id,
        test=test.id,
        version_before=test.version,
        version_after=after.version,
        steps_before=test.steps,
        source_before=test.source,
        variables_before=test.variables or {},
        operations=operations,
        refusals=refusals,
        strategy=strategy,
        author=author,
        reason=reason,
        now=now,
        proposal=proposal,
        run=run,
        sharing=sharing,
    )
    await proposals.close_open(
        tx, test.id, to=ProposalStatus.SUPERSEDED, now=now, by=author, why=f"repair {repair.id} took its place"
    )
    await at_risk.clear(tx, test.id)
    await issues.close_for_test(tx, test.id, now=now)
    kind = EventKind.APPLIED if by_gardener else EventKind.APPROVED
    said = "repaired and proven" if by_gardener else f"repaired, approved by {author}"
    payload = {"repair": repair.id, "test": test.name, "strategy": strategy, "author": author}
    heals = f": it {sharing.summary}" if sharing else ""
    subject = f"'{test.name}' was {said}{heals}"
    await events.emit(tx, project.id, kind, subject, payload | {"lines": [reason]}, now=now)
    await audit.write(tx, project=project.id, who=author, what="repair", subject=test.name, details=payload, now=now)
    return repair


async def _file_triage(
    tx: Transaction,
    tools: Tools,
    project: Project,
    test: SavedTest,
    played: PlayedTest,
    result: Result,
    verdict: str,
    climbed: NotDrift | Exhausted,
    wanted: Wanted,
) -> None:
    """The issue with the whole story; an escalation also stops all work on the test (T19-T22)."""
    red, run, evidence = played.outcome, played.run, climbed.evidence
    assert isinstance(red, Red)
    kind = IssueKind.ESCALATION if stories.is_escalation(climbed) else IssueKind.TRIAGE
    reason = result.reason + (f" [{'; '.join(evidence)}]" if evidence else "")
    step, page = step_at(played.whole.steps, red.place), red.page.url if red.page else ""
    before = await learning.decided_before(tx, tools, project.id, step, page)
    issue = await issues.file(
        tx,
        project=project.id,
        kind=kind,
        verdict=verdict,
        cause_key=f"test:{test.id}:v{test.version}",
        tests=[test.id],
        reason=reason,
        refusals=result.refusals,
        run=run.id,
        story=stories.tell(played.whole, run.id, red, climbed, failure=failure_of(played), change_key=wanted.change_key)
        | {"decided_before": before},
        now=tools.now(),
    )
    if kind == IssueKind.ESCALATION:
        details = {"issue": issue.id, "attempts": len(climbed.attempts)}
        await audit.write(
            tx,
            project=project.id,
            who=GARDENER,
            what="human_escalation",
            subject=test.name,
            details=details,
            now=tools.now(),
        )
    if issue.restated == 0:
        subject = f"'{test.name}' needs a person: {result.reason[:200]}"
        payload = {"issue": issue.id, "verdict": verdict}
        await events.emit(tx, project.id, EventKind.TRIAGE, subject, payload, now=tools.now())


def finding_cause(kind: str, place: str = "") -> str:
    return f"preview:{place}:{kind}" if place else f"environment:{kind}"


async def blocked(tools: Tools, test: SavedTest, played: PlayedTest, change_key: str) -> Issue | None:
    """The open escalation that this very failure waits under; None if it may be worked on (T21, C25)."""
    async with tools.store.reading() as tx:
        mine = await issues.open_of(tx, test.id)
    failure, cause = failure_of(played), f"test:{test.id}:v{test.version}"
    return next(
        (
            one
            for one in mine
            if one.kind == IssueKind.ESCALATION
            and one.cause_key == cause
            and stories.holds(one.story, failure=failure, change_key=change_key)
        ),
        None,
    )


async def file_finding(
    tx: Transaction,
    tools: Tools,
    project: Project,
    kind: str,
    reason: str,
    tests: Sequence[int],
    run: int | None = None,
    *,
    place: str = "",
) -> int:
    """One finding about the surroundings with all tests under it: one cause, one row.

    `place` is the base URL of a preview, whose troubles are its own; "" is the project's app.
    """
    issue = await issues.file(
        tx,
        project=project.id,
        kind=IssueKind.FINDING,
        verdict="environment",
        cause_key=finding_cause(kind, place),
        tests=tests,
        reason=reason,
        run=run,
        now=tools.now(),
    )
    if issue.restated == 0:
        payload = {"issue": issue.id, "cause": kind}
        await events.emit(tx, project.id, EventKind.FINDING, reason[:300], payload, now=tools.now())
    return issue.id
