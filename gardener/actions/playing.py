"""Play one saved test and write down what it said, in one transaction with what follows from it."""

from __future__ import annotations

import contextlib
import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from gardener import evidence
from gardener.actions.entrusting import Values, fragments_of, values_of, whole_of
from gardener.actions.signing_in import Access, SignedIn
from gardener.errors import NotFound
from gardener.projects import Project
from gardener.proposals import ProposalStatus
from gardener.runs import RecordedStep, Run, RunStatus, Trigger
from gardener.saved_tests import SavedTest
from gardener.store import Transaction, at_risk, issues, pages, proposals, recordings, runs, saved_tests
from gardener.tools import Tools
from repair_ladder import fragments
from repair_ladder.memory import Did, Memory, Seen
from repair_ladder.outcomes import Dialog, Environment, Evidence, Green, Outcome, Red, Sent
from repair_ladder.ports import Replay
from repair_ladder.stage import OnStep, Stage, origin_of
from repair_ladder.step_format import write_step
from repair_ladder.steps import Place, Steps, read_place, show_place, step_at, walk
from repair_ladder.values import names_in
from repair_ladder.verdicts import pre_triage

# A green run of these kinds is what a test is known by.
REMEMBERED: Final = frozenset({Trigger.SCHEDULE, Trigger.SUITE, Trigger.CI, Trigger.MANUAL, Trigger.DRY_RUN})
MOST_VERSIONS: Final = 20  # so far back a step is remembered


@dataclass(frozen=True, slots=True)
class PlayedTest:
    run: Run
    outcome: Outcome
    memory: Memory  # what the test was known by before this run
    whole: SavedTest  # the test with the fragments in it, as it was played: places of the outcome count in that
    shared: Mapping[str, SavedTest] = field(default_factory=dict)  # those fragments, by their names
    signed_in: SignedIn | None = None  # who the browser belonged to


def stage_of(
    tools: Tools,
    project: Project,
    test: SavedTest,
    values: Values,
    *,
    base_url: str | None = None,
) -> Stage:
    settings = project.settings
    return Stage(
        base_url=base_url or project.base_url,
        values=values.values,
        secrets=values.secrets,
        files=tools.settings.data_dir / test.folder if test.folder else None,
        step_timeout_ms=settings.step_timeout_ms,
        locale=settings.locale,
        test_id_attribute=settings.test_id_attribute,
        fragments=values.fragments,
        fragment_files={name: tools.settings.data_dir / folder for name, folder in values.folders.items()},
        announced_css=settings.announced_css,
        forbidden=settings.forbidden_locators,
    )


def allowed_origins(project: Project, memory: Memory) -> frozenset[str]:
    """Where a candidate may go: the app, what the project names, and what the test itself reached when it was green."""
    seen = {origin_of(one.page.url) for one in memory.seen.values()}
    return frozenset({origin_of(project.base_url), *map(origin_of, project.settings.allowed_origins), *seen} - {""})


async def memory_of(tools: Tools, test: SavedTest, shared: Mapping[str, SavedTest] | None = None) -> Memory:
    """What the last green run of the test remembers; its places are those of the test as a whole (whole_of).

    Steps that were edited or reverted to since are remembered from the newest earlier version that had the very same
    step: its locator is the same, so it used the same element. So are those of a fragment that was changed since, and
    what the test itself never played is taken from runs of the fragment alone. `shared` are the fragments to look at
    instead of those of today.
    """
    shared = await fragments_of(tools, test) if shared is None else shared
    async with tools.store.reading() as tx:
        memory = await _memory(tx, test, shared)
        steps = whole_of(test, shared).steps
        for name, one in shared.items():
            uses = fragments.uses_of(steps, name)
            if all((*use, *place) in memory.seen for use in uses for place in _looked_for(one.steps)):
                continue
            own = await _memory(tx, one, shared)
            seen = {
                (*use, *place): seen
                for place, seen in own.seen.items()
                if fragments.home(whole_of(one, shared).steps, place)[0] is None
                # A locator that takes a value of its test finds another element in another one.
                and not any(names_in(step_at(one.steps, place).locator))
                for use in uses
            }
            memory = replace(memory, seen={**seen, **memory.seen})
    return memory


def _looked_for(steps: Steps) -> set[Place]:
    return {place for place, step in walk(steps) if step.locator is not None}


async def _memory(tx: Transaction, test: SavedTest, shared: Mapping[str, SavedTest]) -> Memory:
    """Of the runs of the test itself."""
    steps = whole_of(test, shared).steps
    wanted, memory = _looked_for(steps), Memory()
    for version in range(test.version, max(0, test.version - MOST_VERSIONS), -1):
        if version < test.version and wanted <= memory.seen.keys():
            break
        older, then = await _memory_of_version(tx, test, version, shared)
        if version == test.version and _alike(then, steps):
            memory = older
        elif older.seen:
            same = tuple(_same_steps(then, steps))
            kept = {new: older.seen[old] for old, new in same if old in older.seen}
            did = {new: older.did[old] for old, new in same if old in older.did}
            memory = Memory({**kept, **memory.seen}, memory.dialogs or older.dialogs, {**did, **memory.did})
    return memory


async def _memory_of_version(
    tx: Transaction, test: SavedTest, version: int, shared: Mapping[str, SavedTest]
) -> tuple[Memory, Steps]:
    """What is remembered of one version, and the steps that were played then, with the fragments as they were."""
    recording = await recordings.get(tx, test.id, version)
    if recording is None:
        return Memory(), whole_of(test, shared).steps if version == test.version else ()
    found = await pages.get_many(tx, {step.page_key for step in recording.steps})
    run = await runs.get(tx, recording.run) if recording.run is not None else None
    evidence = run.evidence if run and run.evidence else {}
    seen = {
        read_place(step.place): Seen(found[step.page_key], step.target)
        for step in recording.steps
        if step.page_key in found
    }
    memory = Memory(seen, read_dialogs(evidence), read_effects(run) if run else {})
    steps = test.steps if version == test.version else (await saved_tests.version(tx, test.id, version)).steps
    return memory, fragments.expand(steps, await _fragments_then(tx, shared, evidence))


async def _fragments_then(
    tx: Transaction, shared: Mapping[str, SavedTest], evidence: Mapping[str, Any]
) -> dict[str, Steps]:
    """The fragments as a run played them; one that the test does not use any more plays no part."""
    known: dict[str, Steps] = {}
    for name, version in (evidence.get("fragments") or {}).items():
        one = shared.get(name)
        if one is not None and version == one.version:
            known[name] = one.steps
        elif one is not None:
            with contextlib.suppress(NotFound):
                known[name] = (await saved_tests.version(tx, one.id, version)).steps
    return known


def _alike(one: Steps, other: Steps) -> bool:
    """Is the same played at the same places?"""
    return list(walk(one)) == list(walk(other))


def read_effects(run: Run) -> dict[Place, Did]:
    """What came of each step of a run, as it stands in its row; nothing of runs that did not tell."""
    did: dict[Place, Did] = {}
    for one in run.steps:
        if one.get("url_after"):
            raw: Any = one.get("sent") or ()
            sent = tuple(
                Sent(each["method"], each["url"], each["status"], tuple((name, said) for name, said in each["fields"]))
                for each in raw
            )
            did[read_place(str(one["step"]))] = Did(str(one["url"]), str(one["url_after"]), sent)
    return did


def _same_steps(old: Steps, new: Steps) -> Iterator[tuple[Place, Place]]:
    """Places of steps that stand in both lists, in the same order."""
    before, after = list(walk(old)), list(walk(new))
    was, now = ([json.dumps(write_step(step), sort_keys=True) for _, step in one] for one in (before, after))
    for block in difflib.SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks():
        for at in range(block.size):
            yield before[block.a + at][0], after[block.b + at][0]


def read_dialogs(evidence: Mapping[str, Any]) -> tuple[Dialog, ...]:
    """The native dialogs of a run as they stand in its row."""
    raw = evidence.get("dialogs", ())
    return tuple(
        Dialog(read_place(one["step"]), one["kind"], one["message"], one["answer"], one["expected"]) for one in raw
    )


def access_to(tools: Tools, project: Project, trigger: Trigger, *, base_url: str | None = None) -> Access:
    """How tests get past the sign-in of the project. Where the sign-in test has to be played, that is a run of it."""

    async def play_sign_in(test: SavedTest, access: Access) -> tuple[SavedTest, PlayedTest]:
        return test, await play(tools, project, test, trigger, base_url=base_url, access=access)

    async def remember(test: SavedTest) -> Memory:
        return await memory_of(tools, test)

    return Access(tools, project, base_url=base_url, play=play_sign_in, remember=remember)


def with_session(stage: Stage, given: SignedIn | None) -> Stage:
    if given is None:
        return stage
    return replace(stage, state=given.state, secrets=stage.secrets | given.secrets)


async def play(
    tools: Tools,
    project: Project,
    test: SavedTest,
    trigger: Trigger,
    *,
    base_url: str | None = None,
    on_step: OnStep | None = None,
    access: Access | None = None,
) -> PlayedTest:
    """Play the test as it is saved; never raises for what the app does.

    `access` is shared by the tests of a suite or a sweep, so that one sign-in serves them all.
    """
    access = access or access_to(tools, project, trigger, base_url=base_url)
    memory = await memory_of(tools, test)
    values = await values_of(tools, test)
    whole = whole_of(test, values.shared)
    async with tools.store.reading() as tx:  # an edited test may well end on another page than before
        same_version, then = await _memory_of_version(tx, test, test.version, values.shared)
        same_version = same_version if _alike(then, whole.steps) else Memory()
    is_sign_in = test.name == project.settings.sign_in
    began, left, signed_in = tools.now(), None, None
    stage = stage_of(tools, project, test, values, base_url=base_url)
    stage = replace(stage, pictures=project.settings.pictures, tracing=project.settings.traces)

    async def once(given: SignedIn | None) -> Outcome:
        said = await tools.replay(whole.steps, with_session(stage, given), on_step=on_step)
        return pre_triage(said, same_version)

    if values.trouble:
        outcome: Outcome = Environment("secret", values.trouble)
    elif is_sign_in:
        said, left = await tools.sign_in(whole.steps, stage, on_step=on_step)
        outcome = pre_triage(said, same_version)
    else:
        outcome, signed_in = await access.replay(whole, same_version, once)
    # A preview is not the app: what is seen there is nothing to know the test by.
    remembered = trigger in REMEMBERED and base_url is None
    async with tools.store.transaction() as tx:
        run = await write_run(tx, tools, project, test, trigger, outcome, began, versions=values.versions)
        if isinstance(outcome, Green) and remembered:
            await recordings.save(tx, test.id, test.version, run.id, recorded(run), now=tools.now())
            await at_risk.clear(tx, test.id)
            await issues.close_for_test(tx, test.id, now=tools.now())
            await proposals.close_open(
                tx,
                test.id,
                to=ProposalStatus.SUPERSEDED,
                now=tools.now(),
                by=None,
                why="the test is green as it stands",
            )
    played = PlayedTest(run, outcome, memory, whole, values.shared, signed_in)
    if is_sign_in:
        await access.played_sign_in(test, values, played, left)
    return played


def guard(stage: Stage, saved: Steps, candidate: Steps) -> Stage:
    """The stage on which a candidate is played: what it does otherwise than the saved steps keeps off what the project
    forbids."""
    if not stage.forbidden:
        return stage
    known = [step for _, step in walk(saved)]
    return replace(stage, guarded=frozenset(place for place, step in walk(candidate) if step not in known))


def replayer(
    tools: Tools, access: Access, given: SignedIn | None, stage: Stage, memory: Memory, *, saved: Steps | None = None
) -> Replay:
    """Plays candidates in the session `given`, which is renewed once if it runs out meanwhile.

    With the `saved` steps, what a candidate does otherwise keeps off what the project forbids.
    """
    session = given

    async def replay(steps: Steps) -> Outcome:
        nonlocal session

        async def once(one: SignedIn | None) -> Outcome:
            guarded = guard(stage, saved, steps) if saved is not None else stage
            return await tools.replay(steps, with_session(guarded, one))

        outcome = await once(session)
        if session is None or session is not given:
            return outcome
        outcome, session = await access.again(session, outcome, memory, once)
        return outcome

    return replay


async def write_run(
    tx: Transaction,
    tools: Tools,
    project: Project,
    test: SavedTest,
    trigger: Trigger,
    outcome: Outcome,
    began: datetime,
    *,
    versions: Mapping[str, int] | None = None,
) -> Run:
    """The row of a run with its pages; its files lie beside the database first, in a folder that nobody reads yet.

    `versions` are those of the fragments that were played, by their names.
    """
    trace = outcome.trace
    film = evidence.folder_of(tools.settings.data_dir, project.id, began, test.id)
    tracing = outcome.tracing if isinstance(outcome, Red) else None
    picture = outcome.picture if isinstance(outcome, Red) else None
    # A run that leaves nothing makes no room for itself, but time goes on.
    leaves = any(one.picture or one.shots for one in trace.played) or tracing or picture
    evidence.prune(film, most=project.settings.keep_runs + (not leaves), days=project.settings.keep_days)
    keep_pages = isinstance(outcome, Green)
    keys = [await pages.put(tx, page, now=began) for page in trace.snapshots] if keep_pages else []
    steps = [
        {
            "step": show_place(one.place),
            "kind": one.kind,
            "url": one.url,
            "started_ms": one.started_ms,
            "ended_ms": one.ended_ms,
            "error": one.error,
            "skipped": one.skipped,
            "page_key": keys[one.snapshot] if keys and one.snapshot is not None else None,
            "target": one.target if one.target is not None and one.target >= 0 else None,
            "picture": evidence.keep(film, f"{number}.jpg", one.picture) if one.picture else None,
            "url_after": one.url_after,
            "sent": [
                {
                    "method": sent.method,
                    "url": sent.url,
                    "status": sent.status,
                    "fields": [list(f) for f in sent.fields],
                }
                for sent in one.sent
            ],
            "screenshots": [
                {"name": name, "path": evidence.keep(film, f"{number}-{count}-{evidence.plain(name)}.png", shot)}
                for count, (name, shot) in enumerate(one.shots, 1)
            ],
        }
        for number, one in enumerate(trace.played, 1)
    ]
    match outcome:
        case Green():
            status, place, cause, error = RunStatus.GREEN, None, None, None
        case Red():
            status, place, cause, error = RunStatus.RED, outcome.place, str(outcome.cause), outcome.message
        case Environment():
            status, place, cause, error = RunStatus.ENVIRONMENT, outcome.place, str(outcome.kind), outcome.message
    page = None if isinstance(outcome, Green) else outcome.page
    kept = evidence.keep(film, "trace.zip", tracing) if tracing else None
    return await runs.add(
        tx,
        project=project.id,
        test=test.id,
        test_name=test.name,
        version=test.version,
        trigger=trigger,
        status=status,
        started_at=began,
        ended_at=tools.now(),
        failed_step=show_place(place) if place else None,
        cause=cause,
        error=error,
        observed=outcome.observed if isinstance(outcome, Red) else None,
        page_key=await pages.put(tx, page, now=began) if page else None,
        target=outcome.target if isinstance(outcome, Red) else None,
        picture=evidence.keep(film, "failure.png", picture) if picture else None,
        evidence=_evidence(trace.evidence)
        | ({"trace": kept} if kept else {})
        | ({"fragments": dict(versions)} if versions else {}),
        steps=steps,
    )


def recorded(run: Run) -> tuple[RecordedStep, ...]:
    """What a green run remembers of its steps."""
    return tuple(
        RecordedStep(str(one["step"]), str(one["url"]), str(one["page_key"]), _target(one["target"]))
        for one in run.steps
        if one["page_key"]
    )


def _target(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _evidence(beside: Evidence) -> dict[str, Any]:
    return {
        "dialogs": [
            {
                "step": show_place(one.place),
                "kind": one.kind,
                "message": one.message,
                "answer": one.answer,
                "expected": one.expected,
            }
            for one in beside.dialogs
        ],
        "page_errors": list(beside.page_errors),
        "console_errors": list(beside.console_errors),
        "failed_requests": list(beside.failed_requests),
        "bad_answers": list(beside.bad_answers),
        "downloads": list(beside.downloads),
        "audits": list(beside.audits),
    }


def page_path(project: Project, url: str) -> str | None:
    """A URL below the base URL, as sweeps name pages; None for an address of another app."""
    base = project.base_url
    if url == base:
        return "/"
    if url.startswith(base + "/"):
        return url[len(base) :]
    return None
