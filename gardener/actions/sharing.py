"""The tests that a change reaches because they share a fragment, and what it does to each (T17, C21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gardener.actions.entrusting import fragments_of, values_of, whole_of
from gardener.actions.playing import (
    allowed_origins,
    memory_of,
    recorded,
    replayer,
    stage_of,
    write_run,
)
from gardener.actions.signing_in import Access
from gardener.projects import Project
from gardener.proposals import ProposalStatus
from gardener.runs import RecordedStep, RunStatus, Trigger
from gardener.saved_tests import SavedTest, Status
from gardener.sharing import LONGEST, MOST_TRIED, Said, Sharing, Tried
from gardener.store import Transaction, at_risk, issues, pages, proposals, recordings, runs, saved_tests
from gardener.tools import Tools
from repair_ladder import fragments, gate
from repair_ladder.climb import Beside
from repair_ladder.errors import DoesNotFit
from repair_ladder.formats import Secret
from repair_ladder.memory import Memory
from repair_ladder.operations import Operations, moved_places
from repair_ladder.outcomes import Environment, Green, Outcome, Red
from repair_ladder.steps import Place, Steps, show_place


@dataclass(frozen=True, slots=True)
class User:
    """A test in service that a change may reach. `whole` has its fragments in it."""

    test: SavedTest
    whole: SavedTest
    shared: Mapping[str, SavedTest] = field(default_factory=dict)


async def users_of(tools: Tools, project: Project, names: Sequence[str]) -> tuple[User, ...]:
    """The tests in service that use one of these as a fragment or are one of them, by their names."""
    async with tools.store.reading() as tx:
        tests = await saved_tests.listed(tx, project.id, statuses=[Status.ACTIVE])
    found = []
    for test in tests:
        shared = await fragments_of(tools, test)
        if test.name in names or any(name in shared for name in names):
            found.append(User(test, whole_of(test, shared), shared))
    return tuple(found)


async def beside(tools: Tools, project: Project, whole: SavedTest, shared: Mapping[str, SavedTest]) -> tuple[User, ...]:
    """The other tests that a repair of this one may reach."""
    users = await users_of(tools, project, (whole.name, *shared))
    return tuple(one for one in users if one.test.id != whole.id)


def as_beside(users: Sequence[User]) -> tuple[Beside, ...]:
    return tuple(Beside(one.test.name, one.whole.steps, _secret_names(one)) for one in users)


def _secret_names(user: User) -> frozenset[str]:
    every = (user.test, *user.shared.values())
    names = {name for one in every for name, value in (one.variables or {}).items() if isinstance(value, Secret)}
    return fragments.secret_names(user.whole.steps, names)


# --- the change, part by part --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """Operations on saved tests by the names of those, each part counted in the steps that are its own."""

    parts: Mapping[str, Operations]
    owners: Mapping[str, SavedTest]

    def on(self, name: str, steps: Steps) -> Operations:
        """What it does to a test, which is given as a whole."""
        found: Operations = ()
        for changed, operations in self.parts.items():
            found += operations if changed == name else ()
            found += fragments.placed(steps, changed, operations)
        return found

    def versions(self, shared: Mapping[str, SavedTest]) -> dict[str, int]:
        """The versions of a test's fragments once the change is written."""
        return {name: one.version + (name in self.parts) for name, one in shared.items()}


def change_of(whole: SavedTest, test: SavedTest, shared: Mapping[str, SavedTest], operations: Operations) -> Change:
    """Operations of a test as a whole, taken apart by what they change."""
    parts = {
        test.name if name is None else name: some for name, some in fragments.gathered(whole.steps, operations).items()
    }
    return Change(parts, {name: test if name == test.name else shared[name] for name in parts})


# --- running them --------------------------------------------------------------------------------------


async def try_others(
    tools: Tools, project: Project, users: Sequence[User], change: Change, access: Access, sharing: Sharing
) -> Sharing:
    """Run each test that the change reaches with the change in it, and those that are red without it.

    At most MOST_TRIED tests and for no longer than LONGEST; those at risk come first. Nothing is written to a test.
    """
    reached = [one for one in users if change.on(one.test.name, one.whole.steps)]
    async with tools.store.reading() as tx:
        risky = {one.test.id for one in reached if await at_risk.get(tx, one.test.id) is not None}
    reached.sort(key=lambda one: (one.test.id not in risky, one.test.name))
    began, left, tripped = tools.now(), [], ""
    for number, user in enumerate(reached):
        shut = project.settings.why_read_only(tools.now())
        if number >= MOST_TRIED:
            tripped = f"at most {MOST_TRIED} tests are run with a change of a fragment"
        elif tools.now() - began > LONGEST:
            tripped = f"the runs with it took longer than {LONGEST.total_seconds() / 60:.0f} minutes"
        elif shut:
            tripped = shut[0]
        if tripped:
            left.append(user.test.name)
            continue
        await tools.watch("shared_run", {"test": user.test.name})
        sharing = sharing.with_(await _try(tools, project, user, change, access, is_risky=user.test.id in risky))
    return replace(sharing, left=tuple(left), tripped=tripped)


async def _try(tools: Tools, project: Project, user: User, change: Change, access: Access, *, is_risky: bool) -> Tried:
    test, whole, began = user.test, user.whole, tools.now()
    memory, values = await memory_of(tools, test), await values_of(tools, test)

    def tried(said: Said, why: str = "", place: Place | None = None, run: int | None = None) -> Tried:
        return Tried(test.id, test.name, test.version, said, show_place(place) if place else "", why[:500], run)

    if values.trouble:
        return tried("unknown", values.trouble)
    given = await access.enter() if await access.is_behind(whole, memory) else None
    if isinstance(given, Environment):
        return tried("unknown", given.message)
    stage = replace(stage_of(tools, project, test, values), fenced_to=allowed_origins(project, memory))
    play = replayer(tools, access, given, stage, memory, saved=whole.steps)
    operations = change.on(test.name, whole.steps)
    try:
        judged = await gate.prove(whole.steps, operations, gate.Known(memory), play)
    except DoesNotFit as error:
        return tried("unknown", str(error))
    match judged:
        case Environment(message=message, place=place):
            return tried("unknown", message, place)
        case gate.Proof(run=outcome):
            said, why = await _what_it_was(tools, test, is_risky=is_risky), ""
        case gate.WrongElement(run=outcome, reason=reason):
            said, why = "broken", f"it passes, but {reason}"
        case gate.NotGreen(run=outcome):
            before = await play(whole.steps)
            said, why = _compared(outcome, before, moved_places(whole.steps, operations))
    async with tools.store.transaction() as tx:
        versions = change.versions(user.shared)
        run = await write_run(tx, tools, project, test, Trigger.PROOF, outcome, began, versions=versions)
    return tried(said, why, outcome.place if isinstance(outcome, Red) else None, run.id)


async def _what_it_was(tools: Tools, test: SavedTest, *, is_risky: bool) -> Said:
    async with tools.store.reading() as tx:
        triggers = [one for one in Trigger if one not in (Trigger.PROOF, Trigger.CONTROL, Trigger.PROBE)]
        latest = await runs.latest_of(tx, test.id, version=test.version, triggers=triggers)
    return "healed" if is_risky or (latest is not None and latest.status == RunStatus.RED) else "green"


def _compared(after: Red, before: Outcome, moved: Mapping[Place, Place]) -> tuple[Said, str]:
    """Is it red because of the change? It is where it stops earlier than without."""
    match before:
        case Green():
            return "broken", after.message
        case Environment(message=message):
            return "unknown", message
        case Red(place=place):
            reached = moved.get(place, place)
            return ("broken" if after.place < reached else "red"), after.message


# --- once it is written ---------------------------------------------------------------------------------


async def settle(
    tx: Transaction, tools: Tools, sharing: Sharing, versions: Mapping[int, int], *, by: str, why: str
) -> None:
    """Every test that is green with the change is known by that run from now on, and nothing waits for it any more.

    `versions` are those of the tests that were changed themselves, by their numbers.
    """
    now = tools.now()
    for one in sharing.tried:
        if one.said not in ("healed", "green") or one.run is None:
            continue
        test = await saved_tests.by_id(tx, one.test)
        version = versions.get(one.test, one.version)
        if test.version != version:
            continue
        proof = await runs.get(tx, one.run)
        await recordings.save(tx, one.test, version, proof.id, recorded(proof), now=now)
        await at_risk.clear(tx, one.test)
        await issues.close_for_test(tx, one.test, now=now)
        if one.test not in versions:
            await proposals.close_open(tx, one.test, to=ProposalStatus.SUPERSEDED, now=now, by=by, why=why)


async def keep_known(tx: Transaction, tools: Tools, whole: SavedTest, owner: SavedTest, memory: Memory) -> None:
    """What is known of a fragment's steps before they change, so that it is known again if that is taken back."""
    if await recordings.get(tx, owner.id, owner.version) is not None:
        return
    kept: dict[Place, RecordedStep] = {}
    for place, seen in memory.seen.items():
        name, inside = fragments.home(whole.steps, place)
        if name == owner.name and inside not in kept:
            key = await pages.put(tx, seen.page, now=tools.now())
            kept[inside] = RecordedStep(show_place(inside), seen.page.url, key, seen.target)
    steps = [kept[inside] for inside in sorted(kept)]
    if steps:
        await recordings.save(tx, owner.id, owner.version, None, steps, now=tools.now())
