"""Secrets of projects: set, told of, removed, sealed anew; and what the variables of a test stand for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gardener.errors import BadSetting, NotFound
from gardener.projects import Project
from gardener.saved_tests import SavedTest, Status, may_tend
from gardener.sealing import sealer_of
from gardener.secrets import KeptSecret, Origin, SecretNote, purpose_of, read_name, read_value
from gardener.settings import PREFIX, Settings
from gardener.store import Transaction, audit, projects, saved_tests, secrets, session_states, targets
from gardener.tools import Tools
from repair_ladder import fragments
from repair_ladder.formats import Secret, Variable
from repair_ladder.steps import Steps
from repair_ladder.values import names_used

# What the gardener, its providers' SDKs, the Claude CLI and the database's driver take from the environment.
OWN: Final = frozenset(
    "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_CUSTOM_HEADERS CLAUDE_CODE_OAUTH_TOKEN OPENAI_API_KEY "
    "OPENAI_ADMIN_KEY GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS PGPASSWORD PGPASSFILE "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy".split()
)

# --- what a test is given --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Values:
    """What the variables of a test stand for, and which of them are secret.

    `secrets` are all values that may be seen by nobody while it runs: its own, and every other one of the project,
    since a page may show those as well. `trouble` says why it cannot run, and what to do about it; None if it can.
    """

    values: dict[str, str]
    secret_names: frozenset[str]
    secrets: frozenset[str]
    trouble: str | None = None
    shared: Mapping[str, SavedTest] = field(default_factory=dict)  # the tests that it uses as fragments, by their names

    @property
    def fragments(self) -> dict[str, Steps]:
        return {name: one.steps for name, one in self.shared.items()}

    @property
    def folders(self) -> dict[str, str]:
        """Where the files of the fragments' uploads are."""
        return {name: one.folder for name, one in self.shared.items() if one.folder}

    @property
    def versions(self) -> dict[str, int]:
        """Of the fragments, by their names."""
        return {name: one.version for name, one in self.shared.items()}


def whole_of(test: SavedTest, shared: Mapping[str, SavedTest]) -> SavedTest:
    """The test with the steps of its fragments in it: what is played, compared and told, and never saved.

    A fragment that its owner keeps repairs away from is marked so in it.
    """
    never = [name for name, one in shared.items() if may_tend(one, as_fragment=True) is not None]
    steps = {name: one.steps for name, one in shared.items()}
    return replace(test, steps=fragments.expand(test.steps, steps, never=never))


async def fragments_of(tools: Tools, test: SavedTest) -> Mapping[str, SavedTest]:
    """The tests that a test uses as fragments, and those that they use; names of none are left out."""
    if not any(fragments.names_used(test.steps)):
        return {}
    async with tools.store.reading() as tx:
        return await fragments_in(tx, test)


async def fragments_in(tx: Transaction, test: SavedTest) -> Mapping[str, SavedTest]:
    """The same inside a transaction."""
    found: dict[str, SavedTest] = {}
    waiting = [name for _, name in fragments.names_used(test.steps)]
    while waiting:
        name = waiting.pop()
        one = await saved_tests.find(tx, test.project, name) if name not in found else None
        if one is not None and one.status not in (Status.REJECTED, Status.ARCHIVED):
            found[name] = one
            waiting += [used for _, used in fragments.names_used(one.steps)]
    return found


async def values_of(tools: Tools, test: SavedTest) -> Values:
    """A secret is the project's, where it has one of that name, else that of the environment of whoever runs it."""
    async with tools.store.reading() as tx:
        kept = await secrets.listed(tx, test.project)
    opened = await asyncio.to_thread(_opened, tools.settings, kept) if kept else {}
    return _values(tools, test, await fragments_of(tools, test), opened)


async def values_of_many(tools: Tools, project: Project, tests: Iterable[SavedTest]) -> dict[int, Values]:
    """The same for several tests of a project, by the number of the test."""
    async with tools.store.reading() as tx:
        kept = await secrets.listed(tx, project.id)
    opened = await asyncio.to_thread(_opened, tools.settings, kept) if kept else {}
    return {test.id: _values(tools, test, await fragments_of(tools, test), opened) for test in tests}


def _opened(settings: Settings, kept: Sequence[KeptSecret]) -> dict[str, str | BadSetting]:
    """Each secret by its name, or why it cannot be read."""
    try:
        sealer = sealer_of(settings)
    except BadSetting as error:
        return {one.name: error for one in kept}
    opened: dict[str, str | BadSetting] = {}
    for one in kept:
        try:
            opened[one.name] = sealer.unseal(one.sealed, one.purpose)
        except BadSetting as error:
            opened[one.name] = error
    return opened


def _values(
    tools: Tools, test: SavedTest, shared: Mapping[str, SavedTest], opened: dict[str, str | BadSetting]
) -> Values:
    """The variables of fragments hold where the test has none of that name."""
    values: dict[str, str] = {}
    names: set[str] = set()
    missing: list[str] = []
    unreadable: dict[str, BadSetting] = {}
    used = names_used(test.steps)
    variables: dict[str, Variable] = {}
    for fragment in shared.values():
        used |= names_used(fragment.steps)
        variables = dict(fragment.variables or {}) | variables
    for name, value in (variables | dict(test.variables or {})).items():
        if not isinstance(value, Secret):
            values[name] = str(value)
            continue
        names.add(name)
        # A secret that cannot be read does not fall back to the environment: that may well be another value.
        given = opened[value.name] if value.name in opened else _of_environment(tools.settings, value.name)
        if isinstance(given, str):
            values[name] = given
        elif name in used and given is None:
            missing.append(value.name)
        elif name in used and given is not None:
            unreadable[value.name] = given
    own = {values[name] for name in names if name in values}
    every = {one for one in opened.values() if isinstance(one, str)}
    whole = whole_of(test, shared).steps
    secret_names = fragments.secret_names(whole, names)
    return Values(values, secret_names, frozenset(own | every), _trouble(missing, unreadable), shared)


def _of_environment(settings: Settings, name: str) -> str | None:
    """The gardener's own keys are no secrets of tests: a test that was imported could type them into any app."""
    return None if name.startswith(PREFIX) or name in OWN else settings.environ.get(name)


def _trouble(missing: Sequence[str], unreadable: dict[str, BadSetting]) -> str | None:
    if unreadable:
        return f"the secret {', '.join(unreadable)} cannot be used: {next(iter(unreadable.values()))}"
    if missing:
        return (
            f"the secret {', '.join(missing)} is not set: `gardener secret set` keeps it for the project, or export it "
            "before the run"
        )
    return None


# --- what a person does ----------------------------------------------------------------------------------


async def set_secret(tools: Tools, project: Project, name: str, value: str, by: str) -> bool:
    """Keep a secret of the project, sealed; was there one of that name before? Raises BadSetting, never with the value.

    Whoever was signed in with the old one has to sign in anew.
    """
    name, value = read_name(name), read_value(value)
    sealed = sealer_of(tools.settings).seal(value, purpose_of(project.id, name))
    async with tools.store.transaction() as tx:
        now = tools.now()
        again = await secrets.put(tx, project.id, name, sealed=sealed, by=by, now=now)
        await session_states.drop(tx, project.id)
        await audit.write(tx, project=project.id, who=by, what="set secret", subject=name, now=now)
    return again


async def remove_secret(tools: Tools, project: Project, name: str, by: str) -> tuple[str, ...]:
    """The tests that still name it. Raises NotFound."""
    async with tools.store.transaction() as tx:
        if not await secrets.remove(tx, project.id, name):
            names = ", ".join(one.name for one in await secrets.listed(tx, project.id)) or "none"
            raise NotFound(f"'{project.name}' keeps no secret {name[:60]!r}; it keeps {names}.")
        await session_states.drop(tx, project.id)
        await audit.write(tx, project=project.id, who=by, what="remove secret", subject=name, now=tools.now())
        tests = await saved_tests.listed(tx, project.id)
    return _naming(name, tests)


async def told_of(tools: Tools, project: Project) -> tuple[SecretNote, ...]:
    """What there is to know of the secrets that the project keeps or its tests name; never a value."""
    async with tools.store.reading() as tx:
        kept = {one.name: one for one in await secrets.listed(tx, project.id)}
        tests = await saved_tests.listed(tx, project.id)
    named = {one.name for test in tests for one in (test.variables or {}).values() if isinstance(one, Secret)}
    notes = []
    for name in sorted(kept.keys() | named):
        one = kept.get(name)
        is_given = _of_environment(tools.settings, name) is not None
        elsewhere = Origin.ENVIRONMENT if is_given else Origin.NOWHERE
        origin = Origin.PROJECT if one else elsewhere
        when, who = (one.set_at, one.set_by) if one else (None, None)
        notes.append(SecretNote(name, origin, when, who, _naming(name, tests)))
    return tuple(notes)


def _naming(name: str, tests: Iterable[SavedTest]) -> tuple[str, ...]:
    return tuple(sorted(test.name for test in tests if Secret(name) in (test.variables or {}).values()))


# --- another key -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resealed:
    """How many of each were sealed with the key of today."""

    secrets: int
    targets: int
    sessions: int

    def shape(self) -> dict[str, int]:
        return {"secrets": self.secrets, "targets": self.targets, "sessions": self.sessions}


async def rekey(tools: Tools, by: str) -> Resealed:
    """Seal everything that is sealed with the key of today: all of it or, where one cannot be read, nothing.

    Raises BadSetting naming what cannot be read. A session that cannot be read is dropped: the next run signs in.
    """
    sealer = sealer_of(tools.settings)

    def again(what: str, sealed: str, purpose: str = "") -> str:
        try:
            return sealer.seal(sealer.unseal(sealed, purpose), purpose)
        except BadSetting:
            raise BadSetting(
                f"{what} can be read neither with the key of today nor with an older one, and nothing was changed: "
                "give the key that sealed it as GARDENER_SECRET_KEY_OLD, or remove it and enter it again"
            ) from None

    async with tools.store.transaction() as tx:
        names = {one.id: one.name for one in await projects.listed(tx)}
        kept = await secrets.listed(tx, to_write=True)
        for one in kept:
            await secrets.reseal(
                tx, one, again(f"the secret {one.name} of '{names[one.project]}'", one.sealed, one.purpose)
            )
        told = await targets.listed(tx, to_write=True)
        for target in told:
            what = f"the address of target {target.id} of '{names[target.project]}'"
            await targets.reseal(tx, target.id, again(what, target.sealed))
        sessions = 0
        for state in await session_states.listed(tx, to_write=True):
            try:
                await session_states.reseal(tx, state, again("a session", state.sealed, state.purpose))
                sessions += 1
            except BadSetting:
                await session_states.drop_one(tx, state)
        done = Resealed(len(kept), len(told), sessions)
        await audit.write(tx, who=by, what="rekey", subject="secrets", details=done.shape(), now=tools.now())
    return done
