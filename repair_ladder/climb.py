"""Rung by rung: propose, screen, prove -> Repaired, NotDrift, Exhausted or Halted.

A candidate that does not reach green but carries the test past the step where it failed is kept as the base of the
next one: several broken steps of one test are mended together, and nothing counts until all of them are green.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, Literal, Protocol, TypeAlias, assert_never

from radar.locators import Locator
from repair_ladder import floor, fragments, gate, intents, lessons
from repair_ladder.bounds import Limits, Spent
from repair_ladder.floor import Refusal
from repair_ladder.harm import forbidden_of
from repair_ladder.intents import INTENT
from repair_ladder.judge import Judge, Judgement, Passed, Unjudged, Violates
from repair_ladder.lessons import LESSON, Lesson
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation, Operations, apply_operations, moved_places
from repair_ladder.outcomes import Environment, Green, Red
from repair_ladder.ports import Asked, Replay, Unavailable
from repair_ladder.rungs import (
    DIAGNOSE_DRIFT,
    RUNGS,
    SELF_HEAL,
    SUGGEST_FIX,
    Candidate,
    Models,
    Proposer,
    Situation,
    Unusable,
    Verdict,
    self_heal,
    suggest_fix,
)
from repair_ladder.step_format import write_step
from repair_ladder.steps import Place, Steps, show_place, step_at, walk
from repair_ladder.verdicts import diagnose

UNFOUND: Final = ("missing", "many")
LED_NOWHERE: Final = ("red", "refused", "wrong element", "unusable", "judged")  # an attempt that is not made again
LOCAL: Final[dict[str, Proposer]] = {SELF_HEAL: self_heal.propose, SUGGEST_FIX: suggest_fix.propose}


Said: TypeAlias = Literal[
    "green",
    "further",  # red, but later than before
    "red",
    "refused",  # by the floor, whole
    "wrong element",
    "cannot fail",  # green by checks that cannot be red
    "unusable",  # a model's answer that cannot be read
    "judged",  # proven, and held back by the project's judge
    "unproven",  # it may do harm: not run
    "environment",
]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try inside a case; never altered later (T15, T29)."""

    number: int
    rung: str
    strategy: str  # "local", "model" or "lesson"
    hypothesis: str
    operations: Operations
    refusals: tuple[Refusal, ...]
    outcome: Said
    error: str = ""
    lessons: tuple[int, ...] = ()  # the remembered fixes that it repeats
    fix: str = ""  # fingerprint of all that was tried together, what came before it included (C6)


@dataclass(frozen=True, slots=True)
class Repaired:
    """A fix. `proof` is None for one that may not be run unattended; `doubt` says what a person has to see."""

    operations: Operations
    strategy: str
    reason: str
    doubt: str
    proof: Green | None
    harm: str | None = None
    refusals: tuple[Refusal, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    vouched: frozenset[Place] = frozenset()  # where only a model recognised the element
    is_flaky: bool = False  # green once and red once


@dataclass(frozen=True, slots=True)
class NotDrift:
    """The app is at fault or its surroundings are: nothing is repaired (G24)."""

    verdict: Literal["product_defect", "environment"]
    reason: str
    evidence: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The ladder ended without a proven fix (G32). `only_refused`: all that was proposed was withheld (G36)."""

    reason: str
    only_refused: bool = False
    evidence: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    is_stopped: bool = False  # by a bound, before everything was tried (T6)


@dataclass(frozen=True, slots=True)
class Halted:
    """Something that the ladder needs was out of reach; no attempt is spent, and it is not "no fix found" (C10)."""

    why: Unavailable | Environment
    reason: str
    refusals: tuple[Refusal, ...] = ()
    attempts: tuple[Attempt, ...] = ()


Climbed: TypeAlias = Repaired | NotDrift | Exhausted | Halted
# Told of every step of the climb, for a person who watches: (what, details).
Watch: TypeAlias = Callable[[str, dict[str, object]], Awaitable[None]]


class Journal(Protocol):
    """Told of every attempt before it is run and after it ended, so that a killed climb is taken up where it was."""

    async def begins(self, fix: str, hypothesis: str) -> None: ...

    async def ended(self, attempt: Attempt) -> None: ...


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was done in this case before the climb was broken off (T29).

    `interrupted` counts, fix by fix, the attempts that began and never ended: they were no result, and one that took
    the service down twice is not begun a third time.
    """

    attempts: tuple[Attempt, ...] = ()
    interrupted: Mapping[str, int] = field(default_factory=dict)
    model_calls: int = 0


@dataclass(frozen=True, slots=True)
class Beside:
    """Another test that a change of this one may reach: they share a fragment, or one of them is used by the other."""

    name: str
    steps: Steps  # with those of its fragments in them
    secrets: frozenset[str] = frozenset()  # names that stand for secrets there


@dataclass(frozen=True, slots=True)
class Given:
    """What the ladder is given beside the steps and their failure."""

    memory: Memory = field(default_factory=Memory)
    variables: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    test_id_attribute: str = "data-testid"
    rungs: tuple[str, ...] = RUNGS
    limits: Limits = field(default_factory=Limits)
    models: Models | None = None  # asked when the local proposers are not enough
    lessons: tuple[Lesson, ...] = ()  # proven elsewhere in the project, the newest first; tried before anything else
    asked: Asked = field(default_factory=Asked)  # what `models` have spent in this climb; they count it
    earlier: Earlier = field(default_factory=Earlier)
    journal: Journal | None = None
    forbidden: tuple[Locator, ...] = ()  # no repair acts on what these find
    judge: Judge | None = None  # a second model, where the project has one and rules
    name: str = ""  # of the test, by which others may use it
    beside: tuple[Beside, ...] = ()


async def climb(
    steps: Steps,
    red: Red,
    given: Given,
    replay: Replay,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    watch: Watch | None = None,
) -> Climbed:
    """Find a proven fix for steps that failed with `red`, or say why there is none."""
    return await _Climb(steps, given, replay, Spent(given.limits, now(), now), watch).run(red)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What was shown by other means than a green run, place by place (see Candidate).

    It holds for the candidate that shows it and for what is built on that, and for nobody else: that a planner may take
    a step away, because it puts others in its place, is no leave for a model to take it away.
    """

    dropped: frozenset[Place] = frozenset()
    renamed: frozenset[Place] = frozenset()
    identified: frozenset[Place] = frozenset()
    vouched: frozenset[Place] = frozenset()
    origins: Mapping[Place, tuple[Place | None, ...]] = field(default_factory=dict)

    def with_(self, candidate: Candidate) -> _Shown:
        return _Shown(
            self.dropped | candidate.dropped,
            self.renamed | candidate.renamed,
            self.identified | candidate.identified,
            self.vouched | candidate.vouched,
            {**self.origins, **candidate.origins},
        )


@dataclass(frozen=True, slots=True)
class _Further:
    """The candidate carried the test past the step where it failed, or brought the target into the page."""

    base: Operations
    red: Red
    doubt: str
    fix: str
    is_guess: bool  # a person would have to look at the candidate itself
    shown: _Shown


class _Climb:
    def __init__(self, steps: Steps, given: Given, replay: Replay, spent: Spent, watch: Watch | None) -> None:
        self.steps, self.given, self.spent, self.watch = steps, given, spent, watch
        self.attempts: list[Attempt] = list(given.earlier.attempts)
        self.refusals: list[Refusal] = list(
            dict.fromkeys(refusal for attempt in self.attempts for refusal in attempt.refusals)
        )
        self.tried = {one.fix: one.outcome for one in self.attempts if one.fix}
        spent.attempts += sum(one.outcome in LED_NOWHERE for one in self.attempts)
        spent.tried.update(dict.fromkeys(self.tried, 1))
        spent.tried.update(given.earlier.interrupted)
        self.unavailable: Unavailable | None = None
        self.dead: set[str] = set()  # fixes that carried the test on, into a dead end
        self.is_second_look = False
        self.doubt = ""
        self.bare_replay = replay
        self.shown = _Shown()  # by what the present base is made of

    async def replay(self, steps: Steps) -> Green | Red | Environment:
        self.spent.replays += 1
        return await self.bare_replay(steps)

    async def tell(self, what: str, **details: object) -> None:
        if self.watch:
            await self.watch(what, details)

    async def run(self, red: Red) -> Climbed:
        return await self.climb_from(self.situation((), red))

    async def climb_from(self, situation: Situation) -> Climbed:
        """Round after round; where a guess carried the test on and led nowhere, what is left is tried without it."""
        step = await self.one_round(situation)
        if not isinstance(step, _Further):
            return step
        before = self.doubt, self.shown
        self.doubt, self.shown = step.doubt, step.shown
        end = await self.climb_from(self.situation(step.base, step.red))
        is_over = isinstance(end, Repaired | Halted) or (isinstance(end, Exhausted) and end.is_stopped)
        if is_over or not step.is_guess:
            return end
        self.doubt, self.shown = before
        self.dead.add(step.fix)
        self.is_second_look = True
        second = await self.climb_from(situation)
        if isinstance(second, Repaired | Halted):
            return second
        return replace(end, attempts=tuple(self.attempts), refusals=tuple(self.refusals))

    def situation(self, base: Operations, red: Red) -> Situation:
        given = self.given
        origins = self.shown.origins if base else {}
        return Situation(self.steps, base, red, given.memory, given.test_id_attribute, given.variables, origins)

    def history(self) -> tuple[str, ...]:
        """The attempts so far in words, for the next answer to be another one (H12, H20)."""
        return tuple(_in_words(one) for one in self.attempts)

    async def one_round(self, situation: Situation) -> Climbed | _Further:
        """All rungs once, from one failure; ends with the first candidate that gets anywhere."""
        remembered = lessons.propose(situation, self.given.lessons) if self.given.rungs == RUNGS else ()
        result = await self.try_all(situation, LESSON, LESSON, remembered)
        if result is not None:
            return result
        for rung, source, proposer in self.proposers(situation):
            if source == "model" and self.may_not_ask():
                continue
            await self.tell("rung", rung=rung, source=source, step=show_place(situation.red.place))
            proposed = await proposer(replace(situation, tried=self.history()))
            if isinstance(proposed, Unavailable):
                self.unavailable = proposed
                continue
            if isinstance(proposed, Unusable):
                await self.unusable(rung, proposed.reason)
                continue
            result = await self.try_all(situation, rung, source, proposed)
            if result is not None:
                return result
        return await self.last_rung(situation)

    def proposers(self, situation: Situation) -> Iterator[tuple[str, str, Proposer]]:
        """In the order they are asked. A block is derived row by row before it is as a whole (C33); the latter takes a
        model, which is not asked before everything local was."""
        is_in_block = intents.standing(situation) is not None
        derive = self.given.models.derive if self.given.models and is_in_block else None
        every: tuple[tuple[str, str, Proposer | None], ...] = (
            # Its rows together know whose element is whose; one by one, two fields may change places.
            (SELF_HEAL, "local", intents.propose if is_in_block else None),
            (SELF_HEAL, "local", LOCAL[SELF_HEAL]),
            (SELF_HEAL, "model", self.model(SELF_HEAL)),
            (SUGGEST_FIX, "local", LOCAL[SUGGEST_FIX]),
            (SELF_HEAL, "model", derive),
            (SUGGEST_FIX, "model", self.model(SUGGEST_FIX)),
        )
        for rung, source, proposer in every:
            if proposer is not None and rung in self.given.rungs:
                yield rung, source, proposer

    def may_not_ask(self) -> bool:
        """Was it asked as often as it may be? What was proven without a model is not held up by it."""
        why = self.given.limits.calls_tripped(self.given.earlier.model_calls + self.given.asked.calls)
        if why:
            self.unavailable = Unavailable("budget", why)
        return why is not None

    def model(self, rung: str) -> Proposer | None:
        return self.given.models.proposers.get(rung) if self.given.models else None

    async def try_all(
        self, situation: Situation, rung: str, source: str, proposed: tuple[Candidate, ...]
    ) -> Climbed | _Further | None:
        for candidate in proposed[: self.given.limits.candidates]:
            tripped = self.spent.tripped()
            if tripped:
                return self.exhausted(f"stopped: {tripped}", is_stopped=True)
            result = await self.try_out(situation, rung, source, candidate)
            if result is not None:
                return result
        return None

    async def last_rung(self, situation: Situation) -> Climbed | _Further:
        """Diagnose first, repair second (G23). What the signals make plain needs no model."""
        found = diagnose(situation)
        await self.tell("verdict", verdict=found.category, reason=found.reason)
        is_open = found.category == "incurable" and DIAGNOSE_DRIFT in self.given.rungs and not self.is_second_look
        if is_open and self.given.models and not self.unavailable and not self.may_not_ask():
            await self.tell("rung", rung=DIAGNOSE_DRIFT, source="model", step=show_place(situation.red.place))
            said = await self.given.models.diagnose(replace(situation, tried=self.history()))
            if isinstance(said, Unavailable):
                self.unavailable = said
            else:
                result = await self.try_all(situation, DIAGNOSE_DRIFT, "model", said.candidates)
                if result is not None:
                    return result
                if said.unusable:
                    await self.unusable(DIAGNOSE_DRIFT, said.unusable)
                found = said.verdict or found
        return self.verdict(found)

    async def unusable(self, rung: str, reason: str) -> None:
        """An answer that nobody can use is an attempt that led nowhere, and no permission to anything (H14)."""
        await self.tell("unusable", rung=rung, reason=reason)
        self.spent.attempts += 1
        ended = Attempt(len(self.attempts) + 1, rung, "model", "a model's answer", (), (), "unusable", reason)
        self.attempts.append(ended)
        if self.given.journal:
            await self.given.journal.ended(ended)

    # --- one candidate ---

    async def try_out(
        self, situation: Situation, rung: str, source: str, candidate: Candidate
    ) -> Climbed | _Further | None:
        """None: it led nowhere, the next one may be tried."""
        candidate = self.spread(candidate)
        # What was put in the place of a step so far gives way to what the candidate makes of that step.
        mine = {one.place for one in candidate.operations if one.op != "insert"}
        base = tuple(one for one in situation.base if not _gives_way(one, mine, candidate.origins))
        fix = fix_of((*base, *candidate.operations))
        if fix in self.dead or fix == fix_of(situation.base):
            return None
        doubt = (self.doubt if base else "") or candidate.doubt
        if self.tried.get(fix) in LED_NOWHERE:
            return None  # it was tried before the climb was broken off, and is not tried twice
        shown = (self.shown if base else _Shown()).with_(candidate)
        screened = self.screen((*base, *candidate.operations), shown)
        new = tuple(one for one in screened.allowed if one not in base)
        refused = self.news(screened.refused)
        self.refusals += refused

        async def note(outcome: Said, error: str = "") -> None:
            if self.tried.get(fix) == outcome:
                return  # it ended so before the climb was broken off, and was only gone through again
            number = len(self.attempts) + 1
            ended = Attempt(
                number, rung, source, candidate.hypothesis, new, refused, outcome, error, candidate.lessons, fix
            )
            self.attempts.append(ended)
            if self.given.journal:
                await self.given.journal.ended(ended)

        await self.tell("candidate", rung=rung, source=source, hypothesis=candidate.hypothesis, refused=len(refused))
        if not new:
            await note("refused")
            self.spent.attempts += 1
            return None
        operations = screened.allowed
        if why := self.forbidden(situation, operations):
            refused += self.refuse(operations, why)
            new = ()
            await note("refused", why)
            self.spent.attempts += 1
            return None
        if self.spent.same_again(fix):
            return self.exhausted("stopped: the same fix came up a third time", is_stopped=True)
        if candidate.harm:
            await note("unproven")
            return self.repaired(operations, rung, candidate, None, doubt)
        if self.given.journal:
            await self.given.journal.begins(fix, candidate.hypothesis)
        known = gate.Known(self.given.memory, shown.vouched)
        judged = await gate.prove(self.steps, operations, known, self.replay)
        match judged:
            case gate.Proof():
                proof = await gate.fewest(judged, self.steps, known, self.replay)
                if not proof.operations:
                    await note("red", "green without it as well")
                    return self.exhausted("the test is green again as it stands: it failed by chance, and is flaky")
                again = await gate.prove_with_red(self.steps, proof.operations, known, self.replay)
                match again:
                    case gate.Proof():
                        said = await self.judged(proof.operations, situation.red)
                        match said:
                            case Passed(warnings=warnings):
                                await note("green", "; ".join(warnings))
                                doubt = doubt or await self.unconfirmed(proof)
                                fixed = self.repaired(proof.operations, rung, candidate, proof.run, doubt)
                                remarks = f" (the judge warns: {'; '.join(warnings)})" if warnings else ""
                                return replace(fixed, reason=fixed.reason + remarks)
                            case Unjudged(reason=reason):
                                await note("green", reason)
                                unsure = f"nobody has judged it by the project's rules: {reason}"
                                unsure = f"{doubt}; {unsure}" if doubt else unsure
                                return self.repaired(proof.operations, rung, candidate, proof.run, unsure)
                            case Violates(finding=finding):
                                await note("judged", finding)
                            case _:
                                assert_never(said)
                    case gate.NotGreen(run=red):
                        why = f"green once, then red at step {show_place(red.place)}: {red.message}"
                        await note("green", why)
                        unsure = f"it is not sure, because it was {why}"
                        flaky = self.repaired(proof.operations, rung, candidate, proof.run, unsure)
                        return replace(flaky, is_flaky=True)
                    case gate.Blind(reason=reason):
                        await note("cannot fail", reason)
                        return self.withheld(proof.operations, reason)
                    case gate.WrongElement(reason=reason):
                        await note("wrong element", reason)
                    case Environment():
                        await note("environment", again.message)
                        return Halted(again, again.message, tuple(self.refusals), tuple(self.attempts))
                    case _:
                        assert_never(again)
            case gate.WrongElement(reason=reason):
                await note("wrong element", reason)
            case gate.NotGreen(run=Red(cause="forbidden") as red):
                refused += self.refuse(operations, red.message)
                new = ()
                await note("refused", red.message)
            case gate.NotGreen(run=red):
                is_guess = bool(candidate.doubt or candidate.origins)
                further = self.further(
                    situation, candidate, red, _Further(operations, red, doubt, fix, is_guess, shown)
                )
                await note("further" if further else "red", f"step {show_place(red.place)}: {red.message}")
                await self.tell("red", step=show_place(red.place), error=red.message, further=bool(further))
                if further:
                    return further
            case Environment():
                await note("environment", judged.message)
                return Halted(judged, judged.message, tuple(self.refusals), tuple(self.attempts))
            case _:
                assert_never(judged)
        self.spent.attempts += 1
        return None

    def spread(self, candidate: Candidate) -> Candidate:
        """What is done to a step of a fragment is done at every use of it in the test.

        What was shown by other means holds there too as far as a run can belie it: not that something is absent.
        """

        def at_each_use(places: Iterable[Place]) -> frozenset[Place]:
            return frozenset(copy for place in places for copy in fragments.spread_place(self.steps, place))

        return replace(
            candidate,
            operations=fragments.spread(self.steps, candidate.operations),
            dropped=at_each_use(candidate.dropped),
            renamed=at_each_use(candidate.renamed),
            vouched=at_each_use(candidate.vouched),
        )

    def screen(self, operations: Operations, shown: _Shown) -> floor.Screened:
        """The floor in this test and in every other one that the change reaches. What is done to a step of a fragment
        is refused at each use of it, or at none."""
        screened = self.screen_in(self.steps, operations, shown)
        held = [(one.operation, one.reason) for one in screened.refused]
        reasons: dict[int, str] = {}
        for index, one in enumerate(screened.allowed):
            copies = (why for other, why in held if fragments.are_copies(self.steps, one, other))
            if why := next(copies, None):
                reasons[index] = why
        for other in self.given.beside:
            reasons = self.screen_beside(screened.allowed, other, shown) | reasons
        if not reasons:
            return screened
        refused = tuple(
            floor.refused(self.steps, one, reasons[index].removeprefix("Refused: "))
            for index, one in enumerate(screened.allowed)
            if index in reasons
        )
        # What is left may make no sense without what was refused just now.
        left = self.screen(tuple(one for n, one in enumerate(screened.allowed) if n not in reasons), shown)
        return floor.Screened(left.allowed, (*screened.refused, *refused, *left.refused))

    def screen_beside(self, operations: Operations, other: Beside, shown: _Shown) -> dict[int, str]:
        """Which of the operations the floor refuses in another test, and why."""
        own = self.given.name
        theirs = [fragments.carried(self.steps, (one,), other.steps, own=own, name=other.name) for one in operations]
        reached = fragments.carried(self.steps, operations, other.steps, own=own, name=other.name)
        if not reached:
            return {}

        def there(places: Iterable[Place]) -> frozenset[Place]:
            return fragments.carried_places(self.steps, places, other.steps, own=own, name=other.name)

        there_too = _Shown(there(shown.dropped), there(shown.renamed))
        judged = self.screen_in(other.steps, reached, there_too, secrets=other.secrets)
        reasons = {}
        for index, some in enumerate(theirs):
            if why := next((one.reason for one in judged.refused if one.operation in some), None):
                reasons[index] = f"in '{other.name}', which it changes as well: {why.removeprefix('Refused: ')}"
        return reasons

    def screen_in(
        self, steps: Steps, operations: Operations, shown: _Shown, *, secrets: frozenset[str] = frozenset()
    ) -> floor.Screened:
        given = self.given
        return floor.screen(
            steps,
            operations,
            variables=given.variables - secrets,
            secrets=given.secrets | secrets,
            origins=given.origins,
            dropped=shown.dropped,
            renamed=shown.renamed,
            identified=shown.identified,
        )

    def news(self, refused: Iterable[Refusal]) -> tuple[Refusal, ...]:
        """Those that were not told yet; of a change of a fragment that of one use."""
        new: list[Refusal] = []
        for one in refused:
            known = (*self.refusals, *new)
            elsewhere = (each.operation for each in known if each.operation.place != one.operation.place)
            if one not in known and not any(
                fragments.are_copies(self.steps, one.operation, each) for each in elsewhere
            ):
                new.append(one)
        return tuple(new)

    def forbidden(self, situation: Situation, operations: Operations) -> str:
        """Why the candidate would act on what the project forbids, as far as the page shows before it is played."""
        known = [step for _, step in walk(self.steps)]
        attribute = self.given.test_id_attribute
        for one in operations:
            for _, step in walk((one.new,)) if one.new is not None else ():
                if step not in known and (why := forbidden_of(step, situation.page, self.given.forbidden, attribute)):
                    return why
        return ""

    def refuse(self, operations: Operations, why: str) -> tuple[Refusal, ...]:
        """All of a candidate: what is left of it without the step that is forbidden would be another one."""
        new = tuple(floor.refused(self.steps, one, f"{why}.") for one in operations)
        new = tuple(one for one in new if one not in self.refusals)
        self.refusals += new
        return new

    def further(self, situation: Situation, candidate: Candidate, red: Red, on: _Further) -> _Further | None:
        """Did the candidate carry the test on? Failing later than before is information, not success."""
        ahead = self.situation(on.base, red)
        derived = next(iter(candidate.origins), None)
        if derived is not None:
            inside = ahead.place_now(derived)
            if inside is not None and red.place[: len(inside)] == inside:
                return on if red.place > situation.red.place else None
            return on if ahead.place is not None and ahead.place > derived else None
        if ahead.place is None or situation.place is None:
            return None
        if ahead.place > situation.place:
            return on
        if ahead.place == situation.place and situation.red.cause in UNFOUND and red.cause not in UNFOUND:
            return on  # its element is found now, and the step fails on it
        if candidate.reveals and ahead.place == situation.place:
            match = self_heal.find_target(ahead, ahead.place)
            if match is not None and (
                match.verdict == "found" or self_heal.is_in_opened_menu(ahead, ahead.place, match)
            ):
                return on
        return None

    # --- how it ends ---

    def repaired(
        self, operations: Operations, rung: str, candidate: Candidate, proof: Green | None, doubt: str
    ) -> Repaired:
        return Repaired(
            operations,
            INTENT if intents.blocks_in(self.steps, operations) else rung,
            candidate.hypothesis,
            doubt,
            proof,
            candidate.harm,
            tuple(self.refusals),
            tuple(self.attempts),
            self.shown.vouched | candidate.vouched,
        )

    async def unconfirmed(self, proof: gate.Proof) -> str:
        """Why a person has to see a block that was changed; "" if the run confirmed it (G27, C33).

        An outcome assertion after the block confirms it only if it does not hold just as well without the block.
        """
        candidate = apply_operations(self.steps, proof.operations)
        for block in intents.blocks_touched(self.steps, proof.operations):
            memory, trace = self.given.memory, proof.run.trace
            if intents.does_what_it_did(self.steps, proof.operations, block, memory, trace):
                continue
            new = step_at(candidate, moved_places(self.steps, proof.operations)[block])
            checks = intents.checks_behind(self.steps, proof.operations, block)
            if not checks or not intents.values_are_used(step_at(self.steps, block), new):
                return intents.UNCONFIRMED
            if intents.may_harm_without(self.steps, block, memory):
                return intents.UNCONFIRMED
            empty = await self.replay(intents.without_block(self.steps, proof.operations, block))
            if not isinstance(empty, Red) or empty.place not in checks or empty.cause == "test":
                return intents.UNCONFIRMED
        return ""

    async def judged(self, operations: Operations, red: Red) -> Judgement:
        """The compliance gate, after all others and before any write (C8); a pass where the project has none (C9)."""
        if self.given.judge is None:
            return Passed()
        said = await self.given.judge(self.steps, operations, red.message)
        await self.tell("judged", verdict=type(said).__name__.lower())
        return said

    def withheld(self, operations: Operations, reason: str) -> Exhausted:
        """Green by checks that cannot fail: that is no proof, and another candidate would be green by them as well."""
        why = f"the repair is green, but that shows nothing: {reason}"
        self.refusals += [Refusal(one, why) for one in operations]
        return Exhausted(why, True, (), tuple(self.refusals), tuple(self.attempts))

    def exhausted(self, reason: str, *, evidence: tuple[str, ...] = (), is_stopped: bool = False) -> Exhausted:
        only_refused = bool(self.refusals) and all(one.outcome == "refused" for one in self.attempts)
        return Exhausted(reason, only_refused, evidence, tuple(self.refusals), tuple(self.attempts), is_stopped)

    def verdict(self, found: Verdict) -> Climbed:
        held = next((one.error for one in self.attempts if one.outcome == "judged"), None)
        if held is not None:
            # There is a proven fix, so neither a defect nor "nothing found" would be true.
            why = f"a proven repair was held back by the judge: {held}"
            return Exhausted(why, True, (), tuple(self.refusals), tuple(self.attempts))
        if found.wanted:
            # What only a person may change is shown as the floor refuses it.
            screened = floor.screen(self.steps, found.wanted)
            self.refusals += [one for one in screened.refused if one not in self.refusals]
        told = (found.evidence, tuple(self.refusals), tuple(self.attempts))
        match found.category:
            case "product_defect" | "environment":
                return NotDrift(found.category, found.reason, *told)
            case "fixable" if found.wanted:
                return Exhausted(found.reason, True, *told)
            case _ if self.unavailable:
                return Halted(self.unavailable, self.unavailable.message, *told[1:])
            case _:
                withheld = next((one.error for one in self.attempts if one.outcome == "refused" and one.error), None)
                if withheld is not None:
                    return Exhausted(f"a repair was withheld: {withheld}", True, found.evidence, *told[1:])
                unusable = next((one.error for one in self.attempts if one.outcome == "unusable"), "")
                why = f" (a model's answer was not used: {unusable})" if unusable else ""
                return self.exhausted(found.reason + why, evidence=found.evidence)


def _gives_way(base: Operation, places: Collection[Place], origins: Mapping[Place, tuple[Place | None, ...]]) -> bool:
    """Is it undone by a candidate that changes those places, or that derives the block it stands in again?"""
    if base.op != "insert" and base.place in places:
        return True
    return any(base.place[: len(block)] == block and base.place != block for block in origins)


def _in_words(attempt: Attempt) -> str:
    became = f"{attempt.outcome}: {attempt.error}" if attempt.error else attempt.outcome
    return f"{attempt.rung} ({attempt.strategy}): {attempt.hypothesis}; {became}"


def fix_of(operations: Operations) -> str:
    """The same for the same fix (C6)."""
    essence = [[one.op, list(one.place), write_step(one.new) if one.new else None] for one in operations]
    return hashlib.sha256(json.dumps(essence, sort_keys=True, default=str).encode()).hexdigest()
