"""The session that a project's sign-in test leaves: kept sealed, shared, renewed when it runs out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Protocol

from gardener.actions.entrusting import Values, values_of, whole_of
from gardener.errors import BadSetting, NotFound
from gardener.projects import Project
from gardener.runs import Run
from gardener.saved_tests import SavedTest, Status
from gardener.sealing import sealer_of
from gardener.secrets import state_purpose
from gardener.store import leases, saved_tests, session_states
from gardener.store.columns import canonical, digest
from gardener.tools import Tools
from repair_ladder.formats import Secret
from repair_ladder.memory import Memory
from repair_ladder.outcomes import Environment, Green, Outcome, Red
from repair_ladder.sign_in import doors_of, may_be_turned_away, secrets_in, signs_in, turned_away

# Tags by which a test says what cannot be seen from its steps.
SIGNED_IN: Final = "signed-in"
SIGNED_OUT: Final = "signed-out"
LEASE: Final = timedelta(seconds=60)  # moved on while the sign-in test is played
LOOK_AGAIN_S: Final = 0.2
MOST_REFUSED: Final = 2  # sessions just made that the app refused in a row: from then on none is made any more


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A browser's state in which somebody is signed in."""

    state: Any = field(repr=False)
    stamp: str  # another after each sign-in
    doors: frozenset[str]  # paths of the sign-in pages
    secrets: frozenset[str] = field(repr=False)  # that pages may show now
    is_new: bool = False  # it was made for whoever got it


class PlayedSignIn(Protocol):
    @property
    def run(self) -> Run: ...
    @property
    def outcome(self) -> Outcome: ...


Once = Callable[[SignedIn | None], Awaitable[Outcome]]


class Access:
    """How the tests of one suite, sweep or repair get past the sign-in of their project.

    `play` plays the sign-in test and tells `played_sign_in` of it: once at a time, in all processes together.
    """

    def __init__(
        self,
        tools: Tools,
        project: Project,
        *,
        base_url: str | None,
        play: Callable[[SavedTest, Access], Awaitable[Any]],
        remember: Callable[[SavedTest], Awaitable[Memory]],
    ) -> None:
        self.tools, self.project, self.base_url = tools, project, base_url or project.base_url
        self.failed: Environment | None = None  # nobody can sign in; said once for all that need it
        self.on_the_way: list[tuple[SavedTest, Any]] = []  # runs of the sign-in test that nobody had asked for
        self._play, self._remember = play, remember
        self._lock = asyncio.Lock()
        self._test: SavedTest | None = None
        self._refused = 0

    # --- which test, and for whom ---

    async def sign_in_test(self) -> SavedTest | Environment | None:
        """None: the project names none. An Environment says that what it names cannot be used."""
        name = self.project.settings.sign_in
        if name is None:
            return None
        if self._test is None:
            how = f'`gardener project set "{self.project.name}" sign_in=NAME` names another, without a name none'
            try:
                async with self.tools.store.reading() as tx:
                    found = await saved_tests.get(tx, self.project.id, name)
            except NotFound:
                return Environment("sign_in", f"there is no test '{name}' to sign in with: {how}")
            if found.status != Status.ACTIVE:
                return Environment("sign_in", f"the sign-in test '{name}' is {found.status.value}: {how}")
            self._test = found
        return self._test

    async def is_behind(self, test: SavedTest, memory: Memory) -> bool:
        """Is the test to be played by somebody who is signed in already?

        Not if it types what the sign-in test signs in with, or any password, at its beginning.
        """
        if self.project.settings.sign_in in (None, test.name) or SIGNED_OUT in test.tags:
            return False
        if SIGNED_IN in test.tags:
            return True
        with_it = await self.sign_in_test()
        theirs = set((with_it.variables or {}).values()) if isinstance(with_it, SavedTest) else set()
        same = {name for name, one in (test.variables or {}).items() if isinstance(one, Secret) and one in theirs}
        return not signs_in(test.steps, same, memory)

    # --- playing behind it ---

    async def replay(self, test: SavedTest, memory: Memory, once: Once) -> tuple[Outcome, SignedIn | None]:
        """Play, signed in if the test is behind the sign-in; once more from its start where the session ran out."""
        if not await self.is_behind(test, memory):
            return await once(None), None
        given = await self.enter()
        if isinstance(given, Environment):
            return given, None
        outcome = await once(given)
        return await self.again(given, outcome, memory, once)

    async def again(self, given: SignedIn, outcome: Outcome, memory: Memory, once: Once) -> tuple[Outcome, SignedIn]:
        """The outcome, or that of a second try with a renewed session where the app asked to sign in."""
        if not may_be_turned_away(outcome, memory, given.doors):
            self._refused = 0 if isinstance(outcome, Green) else self._refused
            return outcome, given
        if not given.is_new and self._refused < MOST_REFUSED:
            renewed = await self.renew(given)
            if isinstance(renewed, Environment):
                return renewed, given
            given, outcome = renewed, await once(renewed)
        why = turned_away(outcome, memory, given.doors)
        if why is None:
            return outcome, given
        self._refused += 1
        name = self.project.settings.sign_in
        place = outcome.place if isinstance(outcome, Red | Environment) else None
        page = outcome.page if isinstance(outcome, Red | Environment) else None
        said = f"the app asks to sign in although '{name}' has just signed in: {why}"
        return Environment("sign_in", said, outcome.trace, place, page), given

    # --- the session ---

    async def enter(self) -> SignedIn | Environment:
        """The session that is kept; the sign-in test is played where there is none that fits."""
        test = await self.sign_in_test()
        if test is None:
            return Environment("sign_in", f"'{self.project.name}' names no test to sign in with")
        if isinstance(test, Environment):
            return test
        async with self._lock:
            if self.failed:
                return self.failed
            return await self._stored(test) or await self._signed_in(test, None)

    async def renew(self, given: SignedIn) -> SignedIn | Environment:
        """Another session than the one that ran out: somebody else's newer one, or a new one."""
        test = await self.sign_in_test()
        if not isinstance(test, SavedTest):
            return test or Environment("sign_in", "there is no sign-in test any more")
        async with self._lock:
            if self.failed:
                return self.failed
            return await self._signed_in(test, given.stamp)

    async def played_sign_in(self, test: SavedTest, values: Values, played: PlayedSignIn, state: Any) -> None:
        """The sign-in test was played: keep what it left, or remember why nobody can sign in."""
        outcome = played.outcome
        match outcome:
            case Green():
                self.failed = None
                try:
                    await self._keep(test, values, state)
                except BadSetting as error:
                    self.failed = Environment("secret", f"the session of '{test.name}' cannot be kept: {error}")
            case Red():
                step = f"step {played.run.failed_step}" if played.run.failed_step else "its beginning"
                said = f"the sign-in test '{test.name}' is red at {step} (run {played.run.id})"
                self.failed = Environment("sign_in", f"{said}: what is behind it was not seen")
            case Environment():
                self.failed = Environment(outcome.kind, f"cannot sign in: {outcome.message}")

    async def _signed_in(self, test: SavedTest, seen: str | None) -> SignedIn | Environment:
        """Sign in, unless there is a session by now that is not the one that was `seen`."""
        name, holder = self._lease(), f"{self.tools.worker}:{secrets.token_hex(4)}"
        while not await self._take(name, holder):  # noqa: ASYNC110 - the other one may be another process
            await asyncio.sleep(LOOK_AGAIN_S)
        try:
            found = await self._stored(test)
            if found is not None and found.stamp != seen:
                return found
            await self._while_moved_on(name, holder, self._play(test, self))
        finally:
            async with self.tools.store.transaction() as tx:
                await leases.release(tx, name, holder, now=self.tools.now())
        if self.failed:
            return self.failed
        made = await self._stored(test, is_new=True)
        return made or Environment("sign_in", f"what '{test.name}' left in the browser could not be kept")

    def _lease(self) -> str:
        return f"sign_in:{self.project.id}:{digest(self.base_url)[:16]}"

    async def _take(self, name: str, holder: str) -> bool:
        async with self.tools.store.transaction() as tx:
            return await leases.take(tx, name, holder, now=self.tools.now(), length=LEASE)

    async def _while_moved_on(self, name: str, holder: str, work: Awaitable[Any]) -> None:
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=LEASE.total_seconds() / 3))[0]:
                await self._take(name, holder)
            self.on_the_way.append(await task)
        finally:
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _stored(self, test: SavedTest, *, is_new: bool = False) -> SignedIn | None:
        """What is kept, if it can be read and was made by this version of the test with these values."""
        async with self.tools.store.reading() as tx:
            row = await session_states.get(tx, self.project.id, self.base_url)
        if row is None:
            return None
        values = await values_of(self.tools, test)
        try:
            said = json.loads(sealer_of(self.tools.settings).unseal(row.sealed, row.purpose))
        except BadSetting:
            said = {}
        if said.get("made_by") != self._made_by(test, values):
            async with self.tools.store.transaction() as tx:
                await session_states.drop_one(tx, row)
            return None
        whole = whole_of(test, values.shared)
        doors = doors_of(whole.steps, values.secret_names, await self._remember(test))
        return SignedIn(said["state"], row.stamp, doors, values.secrets | secrets_in(said["state"]), is_new)

    async def _keep(self, test: SavedTest, values: Values, state: Any) -> None:
        said = json.dumps({"made_by": self._made_by(test, values), "state": state})
        sealed = sealer_of(self.tools.settings).seal(said, state_purpose(self.project.id, self.base_url))
        async with self.tools.store.transaction() as tx:
            stamp = secrets.token_hex(8)
            await session_states.put(
                tx, self.project.id, self.base_url, stamp=stamp, sealed=sealed, now=self.tools.now()
            )

    def _made_by(self, test: SavedTest, values: Values) -> str:
        """Another one for another test, version, address, or secret. Kept sealed: values could be guessed from it."""
        made_by = [test.id, test.version, self.base_url, values.values, self.project.settings.locale]
        return digest(canonical([*made_by, values.versions] if values.shared else made_by))
