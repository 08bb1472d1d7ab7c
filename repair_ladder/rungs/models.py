"""The model proposers of the three rungs: asked when the local ones are not enough, believed as far as the gates go.

What a model proposes passes the same floor, green gate and identity as everything else. An element that only the model
recognises is staged for a person; a step that only the model wants is too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from radar import locators
from radar.at_risk import resolve_ways
from radar.diff import in_words
from radar.elements import Element, PageSnapshot, fold
from radar.errors import Unresolvable
from radar.writing import write_locator
from repair_ladder import intents, prompts, replies
from repair_ladder.harm import destructive_word, new_harm
from repair_ladder.memory import Memory, Seen
from repair_ladder.operations import Operation, Operations, old_step
from repair_ladder.ports import Answered, Ask, Asked, Question, Unanswered, Unavailable
from repair_ladder.rungs import SELF_HEAL, SUGGEST_FIX, Candidate, Diagnosed, Models, Situation, Unusable, Verdict
from repair_ladder.rungs.self_heal import HEALABLE, all_expected, find_target, replace_locator
from repair_ladder.sign_in import with_passwords, without_passwords
from repair_ladder.step_format import read_step
from repair_ladder.steps import Place, Step, Steps, show_place, step_at, walk

Redact = Callable[[str], str]
# Steps that act on the app, so that a new one of them may do harm.
ACTING = frozenset("click dblclick press check uncheck fill type select drag upload goto".split())


def proposers(ask: Ask | None, asked: Asked, redact: Redact) -> Models | None:
    """The model's side of the three rungs; None without a key. `asked` counts what is spent."""
    if ask is None:
        return None
    caller = _Caller(ask, asked, redact)
    return Models(
        {SELF_HEAL: caller.choose_element, SUGGEST_FIX: caller.suggest_operations}, caller.diagnose, caller.derive
    )


@dataclass(frozen=True, slots=True)
class _Caller:
    ask: Ask
    asked: Asked
    redact: Redact

    def fence(self) -> prompts.Fence:
        """Another one for each question: its marker must not be known to any page."""
        return prompts.Fence(secrets.token_hex(16), self.redact)

    async def answer(self, question: Question) -> Answered | Unanswered | Unavailable:
        """One answer. A model that could not be asked is not asked again in this climb: it would be no other now."""
        if self.asked.unavailable:
            return self.asked.unavailable[-1]
        reply = await self.ask(question)
        if isinstance(reply, Unavailable):
            self.asked.unavailable.append(reply)
        else:
            self.asked.calls += 1
            self.asked.input_tokens += reply.input_tokens
            self.asked.output_tokens += reply.output_tokens
        return reply

    async def choose_element(self, situation: Situation) -> tuple[Candidate, ...] | Unavailable | Unusable:
        """Which of the likeliest elements is it, or none? Asked only where the matcher is not sure."""
        place, page = situation.place, situation.page
        if place is None or page is None or situation.red.cause not in HEALABLE:
            return ()
        match, step = find_target(situation, place), situation.step_now(place)
        if match is None or step is None or match.verdict != "unsure" or not match.candidates:
            return ()
        seen = situation.memory.at(place)
        old = (seen.page, seen.target) if seen and seen.target is not None else None
        listed = tuple(prompts.candidate(page, one.element, redact=self.redact) for one in match.candidates)[
            : prompts.MOST_CANDIDATES
        ]
        (shown,), _ = without_passwords((step,), Memory({(1,): seen} if seen else {}))
        reply = await self.answer(prompts.self_heal_question(shown, old, page, listed, self.fence()))
        if not isinstance(reply, Answered):
            return _unanswered(reply)
        chosen = replies.read_choice(reply, listed)
        if isinstance(chosen, replies.Unreadable):
            return Unusable(chosen.reason)
        if chosen is None:
            return ()
        name, author = next(iter(step.locators()))
        ways = write_locator(
            page,
            chosen,
            author=author,
            avoid_text=all_expected(situation),
            test_id_attribute=situation.test_id_attribute,
        )
        if not ways:
            return ()
        words = in_words(page, chosen)
        before = old[0].elements[old[1]] if old else None
        harm = None if step.asserts_outcome else new_harm(before, page.elements[chosen], text=page.texts[chosen])
        return (
            Candidate(
                (Operation("replace", place, replace_locator(step, name, ways[0]), f"a model takes {words} for it"),),
                SELF_HEAL,
                f"{words} may be what the element of step {show_place(place)} became",
                doubt="only a model recognised the element",
                harm=harm,
                vouched=frozenset({place}),
            ),
        )

    async def suggest_operations(self, situation: Situation) -> tuple[Candidate, ...] | Unavailable | Unusable:
        if situation.page is None:
            return ()
        shown, typed = without_passwords(situation.current, _memory_now(situation))
        reply = await self.answer(
            prompts.suggest_fix_question(_failed(situation, shown, _old(situation)), self.fence())
        )
        if not isinstance(reply, Answered):
            return _unanswered(reply)
        read = replies.read_operations(reply, situation.current, read_step, _referring(situation))
        if isinstance(read, replies.Unreadable):
            return Unusable(read.reason)
        return self.candidate(situation, _typed(read, typed), "a model suggests these operations") if read else ()

    async def derive(self, situation: Situation) -> tuple[Candidate, ...] | Unavailable | Unusable:
        """The rest of a block from its goal (G21); what confirms it is asked of the proof (G27)."""
        stands, page = intents.standing(situation), situation.page
        if stands is None or page is None or situation.red.cause not in HEALABLE or not stands.open_rows():
            return ()
        here = situation.red.place[:-1]
        rest = {(*here, number + 1): stands.rows[number] for number in range(stands.at, len(stands.rows))}
        origin = stands.rows[stands.at].origin
        seen = situation.memory.at(origin) if origin else None
        old = (seen.page, seen.target) if seen and seen.target is not None else None
        shown, typed = without_passwords(situation.current, _memory_now(situation))
        reply = await self.answer(
            prompts.derive_block_question(_failed(situation, shown, old), self.fence(), block=here)
        )
        if not isinstance(reply, Answered):
            return _unanswered(reply)
        read = replies.read_block(reply, rest.keys(), read_step, _referring(situation))
        if isinstance(read, replies.Unreadable):
            return Unusable(read.reason)
        rows = tuple(
            intents.Row(with_passwords(one, typed), None) if isinstance(one, Step) else rest[one] for one in read
        )
        if not rows or rows == stands.rows[stands.at :]:
            return ()
        known = [
            seen.page.elements[seen.target] for seen in _seen_in(situation, stands.place) if seen.target is not None
        ]
        harm = next(
            (why for row in rows if row.origin is None and (why := _block_harm(situation, row.step, known))), None
        )
        every = (*stands.rows[: stands.at], *rows)
        return (intents.derived(stands, every, "a model derived it from its goal", harm=harm),)

    async def diagnose(self, situation: Situation) -> Diagnosed | Unavailable:
        """The model's one verdict of a case; an unreadable one is no permission to repair (H14)."""
        if situation.page is None:
            return Diagnosed(None)
        shown, typed = without_passwords(situation.current, _memory_now(situation))
        reply = await self.answer(
            prompts.diagnose_question(
                _failed(situation, shown, _old(situation)),
                self.fence(),
                evidence=situation.red.trace.evidence,
                observed=situation.red.observed,
            )
        )
        if isinstance(reply, Unavailable):
            return reply
        if isinstance(reply, Unanswered):
            return Diagnosed(None, unusable=reply.message)
        read = replies.read_diagnosis(reply, situation.current, read_step, _referring(situation))
        if isinstance(read, replies.Unreadable):
            return Diagnosed(None, unusable=read.reason)
        reason = " ".join(part for part in (read.explanation, read.recommendation) if part)
        if read.verdict in ("rot", "fixable"):
            found = self.candidate(situation, _typed(read.operations, typed), reason or "a model diagnosed drift")
            return Diagnosed(None, unusable=found.reason) if isinstance(found, Unusable) else Diagnosed(None, found)
        return Diagnosed(Verdict(read.verdict, f"a model's verdict: {reason}"))

    def candidate(self, situation: Situation, read: Operations, hypothesis: str) -> tuple[Candidate, ...] | Unusable:
        """The operations with their places counted in the saved steps."""
        operations = []
        for operation in read:
            place = _saved(situation, operation)
            if place is None:
                where = show_place(operation.place)
                return Unusable(f"It changes step {where}, which this repair itself has put in.")
            new = operation.new
            if place == situation.place and operation.op == "replace" and not any(one.op == "insert" for one in read):
                new = _in_our_form(situation, new)
            operations.append(Operation(operation.op, place, new, operation.reason))
        if not operations:
            return ()
        only_moves = all(_only_moves(situation, operation) for operation in operations)
        doubt = "" if only_moves else "a model added or took away steps"
        harm = next((why for one in operations if (why := _harm(situation, one))), None)
        return (Candidate(tuple(operations), SUGGEST_FIX, hypothesis[:500], doubt=doubt, harm=harm),)


def _unanswered(reply: Unanswered | Unavailable) -> Unusable | Unavailable:
    return Unusable(reply.message) if isinstance(reply, Unanswered) else reply


def _memory_now(situation: Situation) -> Memory:
    """What is remembered of the saved steps, by where they stand now."""
    now = {place: situation.saved_place(place) for place, _ in walk(situation.current)}
    seen = {place: situation.memory.at(saved) for place, saved in now.items() if saved is not None}
    return Memory({place: one for place, one in seen.items() if one is not None})


def _typed(operations: Operations, typed: Mapping[str, str]) -> Operations:
    return tuple(replace(one, new=with_passwords(one.new, typed)) if one.new else one for one in operations)


def _failed(situation: Situation, shown: Steps, old: tuple[PageSnapshot, int] | None) -> prompts.Failed:
    """`shown` are the steps as they are now, without passwords."""
    red = situation.red
    nearest = _nearest(situation)
    return prompts.Failed(shown, red.place, red.message, situation.page, red.target, old, nearest, situation.tried)


def _old(situation: Situation) -> tuple[PageSnapshot, int] | None:
    """The failing step's element as the last green run saw it."""
    seen = situation.memory.at(situation.place) if situation.place else None
    return (seen.page, seen.target) if seen and seen.target is not None else None


def _nearest(situation: Situation) -> tuple[int, ...]:
    """What comes nearest to it on the page now, likeliest first."""
    if situation.place is None or situation.red.cause not in HEALABLE:
        return ()
    match = find_target(situation, situation.place)
    return tuple(one.element for one in match.candidates) if match else ()


def _referring(situation: Situation) -> replies.Refer:
    """Locators for elements that the model names by their number on the page."""
    page = situation.page

    def refer(number: int, place: Place | None) -> Mapping[str, Any] | None:
        # A model names what it was shown: elements that can be seen, and the one that the step met.
        if page is None or number >= len(page.elements):
            return None
        if not page.elements[number].visible and number != situation.red.target:
            return None
        old = step_at(situation.current, place) if place in dict(walk(situation.current)) else None
        ways = write_locator(
            page,
            number,
            author=old.locator if old else None,
            avoid_text=all_expected(situation),
            test_id_attribute=situation.test_id_attribute,
        )
        return locators.write(ways[0]) if ways else None

    return refer


def _in_our_form(situation: Situation, new: Step | None) -> Step | None:
    """The step that failed on the page that was shown: where a locator was written although the page shows its one
    element, that element gets the locator that lasts."""
    page, old = situation.page, situation.step_now(situation.place) if situation.place else None
    if new is None or new.locator is None or page is None or old is None or new.locator == old.locator:
        return new
    try:
        found = resolve_ways(new.locator, page, situation.test_id_attribute)
    except Unresolvable:
        return new
    written = _referring(situation)(found[0], situation.red.place) if len(found) == 1 else None
    return replace(new, locator=locators.read(written)) if written else new


def _saved(situation: Situation, operation: Operation) -> Place | None:
    if operation.op == "insert" and operation.place[-1] == 0:
        return operation.place
    return situation.saved_place(operation.place)


def _only_moves(situation: Situation, operation: Operation) -> bool:
    old = situation.step_now(operation.place) if operation.op == "replace" else None
    return old is not None and operation.new is not None and old.kind == operation.new.kind


def _harm(situation: Situation, operation: Operation) -> str | None:
    """Would a new or changed step do something that the old one did not, and that may not be taken back?"""
    new = operation.new
    if new is None or new.kind not in ACTING:
        return "it answers a native dialog" if new is not None and new.kind == "dialog" else None
    if new.locator is None:
        return None
    before: Element | None = None
    old = old_step(situation.steps, operation)
    seen = situation.memory.at(operation.place) if old else None
    if seen and seen.target is not None:
        before = seen.page.elements[seen.target]
    page = situation.page
    assert page is not None
    try:
        for index in resolve_ways(new.locator, page, situation.test_id_attribute):
            why = new_harm(before, page.elements[index], text=page.texts[index])
            if why:
                return why
    except Unresolvable:
        pass
    word = destructive_word(_words_of(new))
    if word and (old is None or word != destructive_word(_words_of(old))):
        return f'it newly uses something called "{word}"'
    return None


def _seen_in(situation: Situation, block: Place) -> list[Seen]:
    return [seen for place, seen in situation.memory.seen.items() if place[: len(block)] == block]


def _block_harm(situation: Situation, new: Step, known: Sequence[Element]) -> str | None:
    """Would a step that a block did not have do something that none of its elements did, and that may not be undone?"""
    words = {destructive_word(fold(f"{one.name} {one.own_text} {one.get('title')}")) for one in known}
    why = _harm(situation, Operation("insert", (0,), new))
    if why is None or new.locator is None:
        return why
    page = situation.page
    assert page is not None
    said = [_words_of(new)]
    with suppress(Unresolvable):
        found = resolve_ways(new.locator, page, situation.test_id_attribute)
        said += [f"{page.elements[at].name} {page.texts[at]} {page.elements[at].get('title')}" for at in found]
    return None if {destructive_word(fold(one)) for one in said} <= words | {None} else why


def _words_of(step: Step) -> str:
    locator = step.locator
    parts = (locator.name, locator.text, locator.label, locator.title, locator.css, locator.test_id) if locator else ()
    return " ".join(part for part in parts if part)
