"""One look at the app: what changed, which tests it touched, and the staging pass over those."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from gardener.actions.entrusting import Values, values_of_many, whole_of
from gardener.actions.playing import access_to, memory_of, page_path, stage_of
from gardener.actions.repairing import Wanted, file_finding, finding_cause
from gardener.actions.running import mend
from gardener.actions.signing_in import Access, SignedIn
from gardener.jobs import Job, JobKind
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.proposals import Proposal, ProposalStatus
from gardener.results import Result
from gardener.runs import Trigger
from gardener.saved_tests import SavedTest, Status, may_tend
from gardener.store import (
    Transaction,
    at_risk,
    baselines,
    events,
    issues,
    jobs,
    pages,
    projects,
    proposals,
    saved_tests,
    sweeps,
)
from gardener.sweeps import Baseline, Sweep, SweepStatus
from gardener.tools import Tools
from radar.at_risk import LocatorUse, States, Touched, find_touched
from radar.diff import AppChange, compare, learn_noise
from radar.elements import PageSnapshot
from radar.environment import what_is_wrong
from radar.errors import PageUnavailable
from radar.matching import match_pages
from radar.visits import Again, Visit
from repair_ladder import fragments
from repair_ladder.outcomes import Environment, Red
from repair_ladder.sign_in import asks_anew, find_sign_in, lets_nobody_in
from repair_ladder.step_format import read_operation
from repair_ladder.steps import Place, Step, Steps, walk
from repair_ladder.values import redactor

MOST_PAGES: Final = 60
# Addresses that do something when they are asked for, or may: never visited by a sweep.
UNSAFE: Final = ("logout", "log-out", "log_out", "signout", "sign-out", "delete", "remove", "destroy", "unsubscribe")
BEHIND: Final = " (signed in)"


@dataclass(frozen=True, slots=True)
class Page:
    """A page as sweeps name it: its URL below the base URL, and on which side of the sign-in it is."""

    path: str
    signed_in: bool = False

    @property
    def name(self) -> str:
        return self.path + (BEHIND if self.signed_in else "")


@dataclass(frozen=True, slots=True)
class Known:
    """What the tests in service tell the radar."""

    tests: tuple[SavedTest, ...]
    uses: Mapping[str, tuple[LocatorUse, ...]]  # by the page's name
    pages: tuple[Page, ...]
    sign_in: tuple[SavedTest, Steps] | None  # the steps that open what lies behind
    values: Mapping[int, Values]  # by the number of the test
    behind: frozenset[int]  # tests that are played by somebody who is signed in already


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    reason: str
    pages: tuple[str, ...]
    of_sign_in: bool = False  # nobody got in: it is the cause of all that is behind, but not of the sign-in test itself


@dataclass
class Looked:
    """What the visits came to."""

    seen: dict[str, Visit] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


async def ask_for_sweep(tools: Tools, project: Project, *, base_url: str | None = None, by_hand: bool = True) -> Job:
    """A job; while one like it waits or runs, that one."""
    async with tools.store.transaction() as tx:
        return await add_sweep(tx, tools, project, base_url=base_url, by_hand=by_hand)


async def add_sweep(
    tx: Transaction,
    tools: Tools,
    project: Project,
    *,
    base_url: str | None = None,
    by_hand: bool,
    scheduled: bool = False,
) -> Job:
    """A person who meets a scheduled one that still waits gets what a sweep by hand does: it stages in every mode."""
    payload = {"base_url": base_url, "by_hand": by_hand, "scheduled": scheduled}
    job = await jobs.add(
        tx,
        project=project.id,
        kind=JobKind.SWEEP,
        key=f"project:{project.id}:{base_url or ''}",
        payload=payload,
        now=tools.now(),
    )
    if by_hand and not job.payload.get("by_hand") and await jobs.change_waiting(tx, job.id, payload):
        return replace(job, payload=payload)
    return job


async def sweep(tools: Tools, job: Job) -> dict[str, Any]:
    """The sweep and its staging pass, as `sweep --json` prints it."""
    base_url = job.payload.get("base_url")
    async with tools.store.transaction() as tx:
        project = await projects.by_id(tx, job.project)
        row = await sweeps.start(
            tx,
            project.id,
            base_url=base_url or project.base_url,
            preview=base_url is not None,
            now=tools.now(),
            job=job.id,
        )
    await tools.watch("sweep_start", {"project": project.name, "base_url": row.base_url})
    access = access_to(tools, project, Trigger.DRY_RUN, base_url=base_url)
    known = await _known(tools, project, access)
    remembered = await _remembered(tools, project)
    looked = await _look(tools, project, known, remembered, row, access)
    found = _compare(tools, project, known, remembered, looked)
    by_hand = bool(job.payload.get("by_hand"))
    stages = not (row.preview or project.auto_repair) and (by_hand or project.settings.staging)
    broken = next((test for test, ran in access.on_the_way if isinstance(ran.outcome, Red)), None)
    await _write_down(tools, project, row, known, looked, found, stages=stages, broken=broken)
    covered = {test for finding in looked.findings for test in _covered_by(project, known, finding)}
    results, left = await _staging_pass(tools, project, known, found, covered, access) if stages else ([], [])
    return await _end(tools, project, row, looked, found, results, left)


# --- what the tests know -------------------------------------------------------------------------------


async def _known(tools: Tools, project: Project, access: Access) -> Known:
    async with tools.store.reading() as tx:
        tests = await saved_tests.listed(tx, project.id, statuses=[Status.ACTIVE])
        waiting = await proposals.listed(tx, project.id)
    # The locators of a fix that waits or was declined count as the test's own: a change to them is news (G55).
    fixes: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for one in waiting:
        if one.status in (ProposalStatus.PROPOSED, ProposalStatus.DISMISSED):
            fixes.setdefault((one.test, one.version), []).extend(one.operations)
    uses: dict[str, list[LocatorUse]] = {}
    found: dict[Page, None] = dict.fromkeys(Page(path) for path in project.settings.urls)
    sign_in: tuple[SavedTest, Steps] | None = None
    values = await values_of_many(tools, project, tests)
    behind: set[int] = set()
    for test in tests:
        memory, whole = await memory_of(tools, test), whole_of(test, values[test.id].shared)
        opening = find_sign_in(whole.steps, values[test.id].secret_names, memory)
        is_behind = await access.is_behind(whole, memory)
        if is_behind:
            behind.add(test.id)
        if opening and (sign_in is None or _played(opening[0]) < _played(sign_in[1])):
            sign_in = (test, opening[0])
        for place, step in walk(whole.steps):
            seen = memory.near(place)
            path = page_path(project, seen.page.url) if seen else None
            if path is None:
                continue
            page = Page(path, is_behind or bool(opening and place > opening[1]))
            if not any(word in path.lower() for word in UNSAFE):
                found[page] = None
            name, inside = fragments.home(whole.steps, place)
            kept = values[test.id].shared[name] if name is not None else test
            mine = [step, *_fixed(fixes.get((kept.id, kept.version), ()), inside)]
            for one_step in mine:
                for _, locator in one_step.locators():
                    uses.setdefault(page.name, []).append(
                        LocatorUse(test.id, fragments.shown(whole.steps, place), locator, one_step.kind)
                    )
    every = tuple(found)[:MOST_PAGES]
    return Known(tests, {name: tuple(some) for name, some in uses.items()}, every, sign_in, values, frozenset(behind))


def _played(steps: Steps) -> int:
    return sum(1 for _ in walk(steps))


def _fixed(operations: Sequence[Mapping[str, Any]], place: Place) -> list[Step]:
    """The steps that operations put in the place of one."""
    read = (read_operation(one) for one in operations if one["op"] == "replace")
    return [one.new for one in read if one.new is not None and one.place == place]


def _covered_by(project: Project, known: Known, finding: Finding) -> set[int]:
    """The tests that a finding answers for."""
    covered = _tests_on(known, finding.pages)
    if finding.of_sign_in:
        covered |= known.behind
        covered -= {test.id for test in known.tests if test.name == project.settings.sign_in}
    return covered


def _tests_on(known: Known, names: Sequence[str]) -> set[int]:
    return {use.test for name in names for use in known.uses.get(name, ())}


# --- the look ------------------------------------------------------------------------------------------


async def _look(
    tools: Tools, project: Project, known: Known, remembered: Remembered, row: Sweep, access: Access
) -> Looked:
    """Visit the pages, those behind the sign-in as somebody who signed in the way the tests do."""
    looked = Looked()
    hidden = frozenset(secret for one in known.values.values() for secret in one.secrets)
    for signed_in in (False, True):
        side = [page for page in known.pages if page.signed_in == signed_in]
        if not side:
            continue
        state, given = None, None
        if signed_in and project.settings.sign_in:
            entered = await access.enter()
            if isinstance(entered, Environment):
                names = tuple(page.name for page in side)
                looked.findings.append(Finding(entered.kind, entered.message, names, of_sign_in=True))
                continue
            given = entered
        elif signed_in:
            state, failed = await _sign_in(tools, project, known, row)
            if failed:
                looked.findings.append(Finding(failed.kind, failed.reason, tuple(page.name for page in side)))
            if state is None:
                continue
        by_url = {row.base_url + page.path: page for page in side}
        if given is None:
            again = _again(by_url, remembered)
            visits = await tools.look(
                tuple(by_url), state=state, locale=project.settings.locale, redact=redactor(hidden), again=again
            )
        else:
            visits, closed = await _look_signed_in(tools, project, access, given, by_url, remembered, hidden)
            looked.findings += [closed] if closed else []
        lost: dict[str, list[str]] = {}
        for url, visit in visits.items():
            page = by_url[url]
            if isinstance(visit, PageUnavailable):
                lost.setdefault(str(visit), []).append(page.name)
            else:
                looked.seen[page.name] = visit
            await tools.watch("page", {"page": page.name})
        if lost:
            reason = next(iter(lost))
            looked.findings.append(
                Finding("unreachable", reason, tuple(name for names in lost.values() for name in names))
            )
    return looked


async def _look_signed_in(
    tools: Tools,
    project: Project,
    access: Access,
    given: SignedIn,
    by_url: Mapping[str, Page],
    remembered: Remembered,
    hidden: frozenset[str],
) -> tuple[dict[str, Visit | PageUnavailable], Finding | None]:
    """The pages in a session that is kept, those that ask to sign in again in a new one; and why some were not seen.

    Those are left out: a sign-in page is nothing to know another page by.
    """
    again = _again(by_url, remembered)

    async def look(urls: Sequence[str], one: SignedIn) -> dict[str, Visit | PageUnavailable]:
        redact = redactor(hidden | one.secrets)
        return await tools.look(urls, state=one.state, locale=project.settings.locale, redact=redact, again=again)

    def asks(url: str, seen: Visit | PageUnavailable) -> bool:
        before = remembered.get(by_url[url].name)
        return isinstance(seen, Visit) and asks_anew(seen.first, before[1] if before else None, given.doors)

    visits = await look(tuple(by_url), given)
    closed = tuple(url for url, seen in visits.items() if asks(url, seen))
    why = None
    if closed and not given.is_new:
        renewed = await access.renew(given)
        if isinstance(renewed, Environment):
            why = renewed
        else:
            visits |= await look(closed, renewed)
            closed = tuple(url for url in closed if asks(url, visits[url]))
    if why is None:
        # A page that is known is compared with what it was; here are those that nobody has seen yet.
        reasons = {
            url: lets_nobody_in(seen.first, given.doors) for url in closed if isinstance(seen := visits[url], Visit)
        }
        closed = tuple(url for url, reason in reasons.items() if reason and by_url[url].name not in remembered)
        said = f"although '{project.settings.sign_in}' has just signed in"
        why = Environment("sign_in", f"{reasons[closed[0]]}, {said}") if closed else None
    if why is None:
        return visits, None
    left = {url: seen for url, seen in visits.items() if url not in closed}
    return left, Finding(why.kind, why.message, tuple(by_url[url].name for url in closed), of_sign_in=True)


def _again(by_url: Mapping[str, Page], remembered: Remembered) -> Again:
    """What differs between two loads is noise. Where the first is what the baseline was, there is none to tell."""

    def again(url: str, first: PageSnapshot) -> bool:
        name = by_url[url].name
        if name not in remembered:
            return True
        baseline, before = remembered[name]
        return not what_is_wrong(before, first) and bool(compare(before, first, noise=baseline.noise, page=name))

    return again


async def _sign_in(tools: Tools, project: Project, known: Known, row: Sweep) -> tuple[Any, Finding | None]:
    if known.sign_in is None:
        return None, None
    test, steps = known.sign_in
    values = known.values[test.id]
    if values.trouble:
        return None, Finding("sign_in", f"cannot sign in: {values.trouble}", ())
    stage = replace(stage_of(tools, project, test, values, base_url=row.base_url), record=False)
    outcome, state = await tools.sign_in(steps, stage)
    if state is not None:
        return state, None
    if isinstance(outcome, Environment):
        return None, Finding(outcome.kind, outcome.message, ())
    # Its steps have drifted, or signing in is broken: the tests that sign in show which, so this is no finding.
    await tools.watch(
        "note", {"text": f"pages behind the sign-in were not seen: signing in as '{test.name}' does fails"}
    )
    return None, None


# --- the comparison ------------------------------------------------------------------------------------


@dataclass
class Compared:
    changes: list[AppChange] = field(default_factory=list)
    touched: list[Touched] = field(default_factory=list)
    baselines: list[Baseline] = field(default_factory=list)
    snapshots: dict[str, PageSnapshot] = field(default_factory=dict)  # by the page's name


# The baseline of each page by its name, and the page as it was.
Remembered: TypeAlias = Mapping[str, tuple[Baseline, PageSnapshot]]


async def _remembered(tools: Tools, project: Project) -> Remembered:
    async with tools.store.reading() as tx:
        old = await baselines.listed(tx, project.id)
        snapshots = await pages.get_many(tx, {one.page_key for one in old})
    return {one.page: (one, snapshots[one.page_key]) for one in old if one.page_key in snapshots}


def _compare(tools: Tools, project: Project, known: Known, remembered: Remembered, looked: Looked) -> Compared:
    found = Compared()
    wrong: dict[tuple[str, str], list[str]] = {}
    for name, visit in looked.seen.items():
        baseline, before = remembered.get(name, (None, None))
        if before is None or baseline is None:
            trouble = "server_error" if (visit.first.status or 200) >= 400 else None
        else:
            judged = what_is_wrong(before, visit.first)
            trouble = judged[0] if judged else None
            if judged:
                wrong.setdefault(judged, []).append(name)
        if trouble:
            continue
        noise = set(learn_noise(visit.first, visit.second)) if visit.second else set()
        if before is not None and baseline is not None:
            noise |= set(baseline.noise)
            matched = match_pages(before, visit.first)
            changes = compare(before, visit.first, noise=noise, matched=matched, page=name)
            states = States(name, before, visit.first, matched, changes)
            found.changes += changes
            found.touched += find_touched(
                states, known.uses.get(name, ()), test_id_attribute=project.settings.test_id_attribute
            )
        found.snapshots[name] = visit.first
        found.baselines.append(Baseline(project.id, name, "", tuple(sorted(noise)), name.endswith(BEHIND), tools.now()))
    for (kind, reason), names in wrong.items():
        looked.findings.append(Finding(kind, reason, tuple(names)))
    return found


def change_shape(change: AppChange, touched: Touched | None = None) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "page": change.page,
        "kind": change.kind,
        "element": change.element,
        "before": change.before,
        "after": change.after,
    }
    if touched:
        step = touched.use.step
        shape |= {"step": int(step) if step.isdecimal() else step, "why": touched.why}
    return shape


def change_key(triggers: Sequence[Mapping[str, Any]]) -> str:
    """The same for the same change of the app (G55)."""
    essence = sorted([one["page"], one["kind"], one["element"], one["before"], one["after"]] for one in triggers)
    return hashlib.sha256(json.dumps(essence).encode()).hexdigest()


def _triggers(found: Compared) -> dict[int, list[dict[str, Any]]]:
    triggers: dict[int, list[dict[str, Any]]] = {}
    for one in found.touched:
        shape = change_shape(one.change, one)
        mine = triggers.setdefault(one.use.test, [])
        if shape not in mine:
            mine.append(shape)
    return triggers


async def _write_down(
    tools: Tools,
    project: Project,
    row: Sweep,
    known: Known,
    looked: Looked,
    found: Compared,
    *,
    stages: bool,
    broken: SavedTest | None,
) -> None:
    """What was seen becomes the baseline together with who is at risk from it, or neither does."""
    # How a preview is says nothing about the app itself, nor the app about a preview.
    place = row.base_url if row.preview else ""
    async with tools.store.transaction() as tx:
        await sweeps.note(
            tx, row.id, pages=len(looked.seen), changes=[change_shape(change) for change in found.changes]
        )
        if not row.preview:
            keys = {name: await pages.put(tx, page, now=tools.now()) for name, page in found.snapshots.items()}
            await baselines.put(tx, [replace(one, page_key=keys[one.page]) for one in found.baselines])
            for test, triggers in _triggers(found).items():
                await at_risk.mark(tx, test, triggers=triggers, change_key=change_key(triggers), now=tools.now())
                if not stages:  # else the staging pass restates the row, or puts a newer proof in its place
                    await proposals.add_triggers(tx, test, triggers)
            if broken is not None:
                await _mark_broken(tx, broken, now=tools.now())
        for finding in looked.findings:
            tests = sorted(_covered_by(project, known, finding))
            await file_finding(tx, tools, project, finding.kind, finding.reason, tests, place=place)
        if not looked.findings:
            for kind in ("unreachable", "server_error", "sign_in", "secret", "language", "half_loaded"):
                await issues.close_cause(tx, project.id, finding_cause(kind, place), now=tools.now())


async def _mark_broken(tx: Transaction, sign_in: SavedTest, *, now: datetime) -> None:
    """The sign-in test was red when the sweep needed it: it is tended, whether a change touched it or not."""
    if await at_risk.get(tx, sign_in.id) is None:
        await at_risk.mark(tx, sign_in.id, triggers=[], change_key=change_key([]), now=now)


# --- the staging pass ----------------------------------------------------------------------------------


async def _staging_pass(
    tools: Tools, project: Project, known: Known, found: Compared, covered: set[int], access: Access
) -> tuple[list[Result], list[str]]:
    """Dry-run those at risk, longest waiting first, and send the red ones up the ladder (G62-G65).

    The sign-in test goes before all; while nobody can sign in, those behind it wait for its repair.
    """
    async with tools.store.reading() as tx:
        waiting = await at_risk.waiting(tx, project.id)
        tests = {test.id: test for test in await saved_tests.listed(tx, project.id, statuses=[Status.ACTIVE])}
    in_order = sorted(waiting, key=lambda risk: _name(tests.get(risk.test)) != (project.settings.sign_in or ""))
    implicated = {one.use.test for one in found.touched}
    results: list[Result] = []
    left: list[str] = []
    dry_runs = 0
    mended: dict[int, Proposal] = {}  # tests that a change of a fragment mends which this pass has staged
    for risk in in_order:
        test = tests.get(risk.test)
        if test is None or test.id in covered:
            continue
        if access.failed and test.id in known.behind:
            left.append(test.name)
            continue
        if test.id not in implicated and await _is_answered(tools, test, risk.change_key):
            continue
        if test.id in mended:
            results.append(_mended(test, mended[test.id]))
            continue
        if dry_runs >= project.settings.most_dry_runs or project.settings.why_read_only(tools.now()):
            left.append(test.name)
            continue
        async with tools.store.transaction() as tx:
            # Both are read again for each test: in the middle of a pass the switch may be flipped (G16), and a test
            # be edited or taken out of service.
            if await projects.auto_repair_of(tx, project.id):
                break
            test = await saved_tests.by_id(tx, test.id)
            if may_tend(test) is not None:
                continue
            await at_risk.touched(tx, test.id, now=tools.now())
        dry_runs += 1
        results.append(await _tend(tools, project, test, risk.triggers, risk.change_key, access))
        mended |= await _mended_by(tools, results[-1])
    return results, left


async def _mended_by(tools: Tools, result: Result) -> dict[int, Proposal]:
    """The other tests that were shown green with a change of a fragment just now, by their numbers."""
    if result.proposal is None:
        return {}
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, result.proposal)
    return {one.test: row for one in row.sharing.tried if one.said == "healed"} if row.sharing else {}


def _mended(test: SavedTest, row: Proposal) -> Result:
    reason = f"the change of '{row.test_name}' that waits mends it as well: it is green with it"
    return Result(test.name, "staged", reason, proposal=row.id)


def _name(test: SavedTest | None) -> str | None:
    return test.name if test else None


async def _is_answered(tools: Tools, test: SavedTest, key: str) -> bool:
    """Does a proposal wait for it, or did a person decline one, with nothing new since?"""
    async with tools.store.reading() as tx:
        mine = await proposals.listed(tx, test.project, test=test.id, limit=5)
        waiting = await proposals.listed(tx, test.project, statuses=[ProposalStatus.PROPOSED])
    shared = any(one.change_key == key and one.sharing and one.sharing.mends(test.id, test.version) for one in waiting)
    return shared or any(
        one.version == test.version and one.change_key == key and one.status.value in ("proposed", "dismissed")
        for one in mine
    )


async def _tend(
    tools: Tools, project: Project, test: SavedTest, triggers: Sequence[dict[str, Any]], key: str, access: Access
) -> Result:
    await tools.watch("dry_run", {"test": test.name})
    result = await mend(
        tools, project, test, Wanted(apply=False, triggers=tuple(triggers), change_key=key), access=access
    )
    if result.outcome == "passed":
        await tools.watch("result", {"test": test.name, "outcome": "passed", "reason": result.reason})
    return result


async def _end(
    tools: Tools,
    project: Project,
    row: Sweep,
    looked: Looked,
    found: Compared,
    results: Sequence[Result],
    left: Sequence[str],
) -> dict[str, Any]:
    """The summary, stored with the sweep and printed by the command."""
    async with tools.store.reading() as tx:
        names = {test.id: test.name for test in await saved_tests.listed(tx, project.id)}
        waiting = {one.test: list(one.triggers) for one in await at_risk.waiting(tx, project.id)}
    now = _triggers(found)
    # At risk are those this sweep implicates and those that have not been green since an earlier one.
    listed = now if row.preview else {**waiting, **now}
    for result in results:
        if result.outcome == "passed":
            listed.setdefault(next(id for id, name in names.items() if name == result.test), [])
    shut = project.settings.why_read_only(tools.now())
    summary: dict[str, Any] = {
        "sweep": row.id,
        "pages": len(looked.seen),
        "changes": [change_shape(change) for change in found.changes],
        "at_risk": [{"test": names[test], "triggers": triggers} for test, triggers in listed.items() if test in names],
        "dry_runs": [result.shape() for result in results],
        "left_for_next": list(left),
        "read_only": shut[0] if left and shut else None,
        "findings": [{"kind": one.kind, "reason": one.reason, "pages": list(one.pages)} for one in looked.findings],
        "model_calls": sum(result.model_calls for result in results),
    }
    status = SweepStatus.ENVIRONMENT if looked.findings and not looked.seen else SweepStatus.FINISHED
    if looked.findings and all(name not in found.snapshots for name in looked.seen):
        status = SweepStatus.ENVIRONMENT
    async with tools.store.transaction() as tx:
        await sweeps.finish(tx, row.id, status=status, now=tools.now(), summary=summary)
        subject = (
            f"Sweep {row.id} of '{project.name}': {len(found.changes)} changes, {len(summary['at_risk'])} tests at "
            f"risk, {sum(one.outcome == 'staged' for one in results)} repairs staged"
        )
        payload = {"sweep": row.id, "left_for_next": list(left)}
        await events.emit(tx, project.id, EventKind.SWEEP_FINISHED, subject, payload, now=tools.now())
    return summary
