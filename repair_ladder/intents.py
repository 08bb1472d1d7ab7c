"""Blocks with a goal: derived again from it when their steps broke, and whether a run confirms it (G21, G25-G28).

An intent has a goal, and a group may have one; a group without is a bracket around steps that fail and recover
together, and is confirmed as one though there is nothing to derive it from (H24, C33).

Without a model a block is derived row by row: what of its steps the page offers now is done first, each on the element
that its old one became, with the value that was typed into it. A repair by such a block carries the strategy "intent".
It is written without a person only if the run confirms it (G27), as is a single row of a block that was healed (C33):
the block did, as far as it can be seen from outside, what it did when the test was last green, or an outcome assertion
after it holds with it and not without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from radar.at_risk import resolve_ways
from radar.diff import in_words
from radar.elements import PageSnapshot, fold
from radar.errors import Unresolvable
from radar.matching import find_again
from radar.writing import write_locator
from repair_ladder.floor.kinds import DOING, NEUTRAL, SETTING
from repair_ladder.harm import ACTING, destructive_word, new_harm
from repair_ladder.memory import Did, Memory
from repair_ladder.operations import Operation, Operations, apply_operations, moved_places
from repair_ladder.outcomes import Sent, Trace
from repair_ladder.rungs import SELF_HEAL, Candidate, Situation
from repair_ladder.rungs.self_heal import all_expected, replace_locator, same_thing
from repair_ladder.steps import BLOCKS, Place, Step, Steps, show_place, step_at, walk

INTENT: Final = "intent"  # the strategy of a repair by it (G26)
UNCONFIRMED: Final = "nothing confirms that the block does what it did"
# After one of these begins, what is sent is no longer the block's.
CAUSING: Final = DOING | {"goto", "back", "reload", "tab", "use", "dialog"}
LIKELY: Final = 0.3  # less than that is not the element
LEADING: Final = frozenset({"click", "dblclick", "press", "hover"})


# --- where a block stands --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A step of a block as it is now; `origin` is the saved place of the step it comes from, None for a new one."""

    step: Step
    origin: Place | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A block with a goal whose step `at` (from 0) fails. `place` counts in the saved steps."""

    place: Place
    block: Step
    rows: tuple[Row, ...]
    at: int

    def open_rows(self) -> tuple[int, ...]:
        """The rows from the failing one up to the next check: what may be done otherwise. A check ends it, as does
        whatever only a person changes."""
        found = []
        for number in range(self.at, len(self.rows)):
            step = self.rows[number].step
            if step.asserts_outcome or step.is_block or step.never_repair:
                break
            found.append(number)
        return tuple(found)


def standing(situation: Situation) -> Standing | None:
    """The block with a goal that the failing step stands in; None if it is in none, or in one of its own there."""
    now = situation.red.place
    if len(now) < 2:
        return None
    here, current = now[:-1], situation.current
    block = step_at(current, here)
    if not block.has_goal or block.never_repair:
        return None
    place = situation.saved_place(here)
    if place is None:
        return None
    derived = situation.origins.get(place)
    rows = []
    for number, step in enumerate(block.steps, 1):
        origin = derived[number - 1] if derived else situation.saved_place((*here, number))
        rows.append(Row(step, origin))
    return Standing(place, block, tuple(rows), now[-1] - 1)


def derived(stands: Standing, rows: Sequence[Row], reason: str, **more: Any) -> Candidate:
    """The candidate that puts `rows` in the place of the block's steps; goal and values stay as they are (G25)."""
    new = replace(stands.block, steps=tuple(row.step for row in rows))
    return Candidate(
        (Operation("replace", stands.place, new, reason),),
        SELF_HEAL,
        f"block {show_place(stands.place)} can be derived again: {reason}",
        origins={stands.place: tuple(row.origin for row in rows)},
        **more,
    )


def blocks_in(steps: Steps, operations: Operations) -> tuple[Place, ...]:
    """The saved places of the blocks that the operations derive again."""
    return tuple(one.place for one in operations if one.op == "replace" and step_at(steps, one.place).has_goal)


def blocks_touched(steps: Steps, operations: Operations) -> tuple[Place, ...]:
    """The blocks that are derived again or of which a step is changed, each once; groups recover together too (H24)."""
    found: dict[Place, None] = dict.fromkeys(blocks_in(steps, operations))
    for one in operations:
        for length in range(1, len(one.place)):
            if step_at(steps, one.place[:length]).kind in BLOCKS:
                found[one.place[:length]] = None
    return tuple(found)


# --- row by row, without a model -----------------------------------------------------------------------


async def propose(situation: Situation) -> tuple[Candidate, ...]:
    """What of the block's rows the page offers now comes first; a row that only led on may go where it is gone."""
    stands, page = standing(situation), situation.page
    if stands is None or page is None or situation.red.cause not in ("missing", "many"):
        return ()
    found_on = {number: (row, at) for number, row, at in _offered(situation, stands, page)}
    offered = {number: row for number, (row, _) in found_on.items()}
    open_rows = stands.open_rows()
    if not open_rows or not offered:
        return ()
    if open_rows[0] in offered and stands.place not in situation.origins:
        return ()  # the failing row itself is there: that is a locator to heal, not a block to derive
    failing = stands.rows[open_rows[0]]
    # Values are entered before anything leads on: what was on a later page may stand before the button by now.
    first = sorted(offered, key=lambda number: (offered[number].step.kind not in SETTING, number))
    done, rest = stands.rows[: stands.at], stands.rows[open_rows[-1] + 1 :]
    moved = [offered[number] for number in first]
    left = [stands.rows[number] for number in open_rows if number not in offered]
    harm = _harm(situation, page, moved)
    if len(left) == 1 and left[0] is failing and _only_led(situation, failing, {at for _, at in found_on.values()}):
        why = f"what {_said(failing)} led to stands on the page already"
        return (derived(stands, (*done, *moved, *rest), why, harm=harm),)
    # A button that is gone is no reason to do what comes after it; a field that is may be asked for later.
    is_asked_later = failing.step.kind in SETTING and any(row.step.kind in SETTING for row in moved)
    if is_asked_later or stands.place in situation.origins:
        why = f"the page asks for {', '.join(_said(row) for row in moved)} first"
        return (derived(stands, (*done, *moved, *left, *rest), why, harm=harm),)
    return ()


def _said(row: Row) -> str:
    return f"step {show_place(row.origin)}" if row.origin else "a new step"


def _offered(situation: Situation, stands: Standing, page: PageSnapshot) -> Iterator[tuple[int, Row, int]]:
    """The open rows whose elements stand on the page, known by what they were when the test was green."""
    claims = []
    for number in stands.open_rows():
        row = stands.rows[number]
        seen = situation.memory.at(row.origin) if row.origin else None
        if seen is None or seen.target is None or row.step.locator is None:
            continue
        match = find_again(seen.page, seen.target, page, action=row.step.kind)
        if match.verdict == "found" and match.element is not None and page.elements[match.element].visible:
            claims.append((match.probability, number, row, match.element))
    taken: dict[int, Place | None] = {}
    # An element is one row's: that whose old element it is the most like. Rows of one old element share it.
    for _, number, row, element in sorted(claims, key=lambda one: (-one[0], one[1])):
        if element in taken and not _of_one_element(situation, taken[element], row.origin):
            continue
        step = _on(situation, page, row.step, element)
        if step is not None:
            taken[element] = row.origin
            yield number, replace(row, step=step), element


def _of_one_element(situation: Situation, one: Place | None, other: Place | None) -> bool:
    first = situation.memory.at(one) if one else None
    second = situation.memory.at(other) if other else None
    if first is None or second is None or first.target is None or second.target is None:
        return False
    return first.page.elements[first.target] == second.page.elements[second.target]


def _on(situation: Situation, page: PageSnapshot, step: Step, element: int) -> Step | None:
    """The step on that element: as it is if it finds it, else with another locator."""
    assert step.locator is not None
    try:
        if tuple(resolve_ways(step.locator, page, situation.test_id_attribute)) == (element,):
            return step
    except Unresolvable:
        pass
    ways = write_locator(
        page,
        element,
        author=step.locator,
        avoid_text=all_expected(situation),
        test_id_attribute=situation.test_id_attribute,
    )
    return replace_locator(step, "", ways[0]) if ways else None


def _only_led(situation: Situation, row: Row, taken: Collection[int]) -> bool:
    """Did it, when the test was green, do nothing but bring up what came next? And is it gone? What only looks like it
    and is what another row's element became is not it."""
    if row.step.kind not in LEADING or row.origin is None or situation.page is None:
        return False
    did, seen = situation.memory.did.get(row.origin), situation.memory.at(row.origin)
    if did is None or did.sent or seen is None or seen.target is None:
        return False
    match = find_again(seen.page, seen.target, situation.page, action=row.step.kind)
    likely = {one.element for one in match.candidates if one.probability >= LIKELY}
    return match.verdict == "gone" or (match.verdict == "unsure" and likely <= set(taken))


def _harm(situation: Situation, page: PageSnapshot, rows: Sequence[Row]) -> str | None:
    for row in rows:
        seen = situation.memory.at(row.origin) if row.origin else None
        if seen is None or seen.target is None or row.step.locator is None:
            continue
        for index in resolve_ways(row.step.locator, page, situation.test_id_attribute):
            why = new_harm(seen.page.elements[seen.target], page.elements[index], text=page.texts[index])
            if why:
                return why
    return None


# --- does a run confirm it? ----------------------------------------------------------------------------


def left_aside(steps: Steps, operations: Operations, memory: Memory, trace: Trace) -> str | None:
    """Why a block that was derived again is not the same: an element that it used still stands on a page that it came
    by, and it used another instead. None if there is none."""
    for block in blocks_in(steps, operations):
        rows = _new_rows(steps, operations, block, trace)
        if rows is None:
            continue
        for place, step in _deeds(steps, block):
            seen = memory.at(place)
            if seen is None or seen.target is None or _pair(place, step, memory, rows, set()) is not None:
                continue
            for row in rows:
                if row.page is None:
                    continue
                match = find_again(seen.page, seen.target, row.page, action=step.kind)
                if match.verdict == "found" and match.element is not None:
                    words = in_words(row.page, match.element)
                    return f"the block no longer uses the element of step {show_place(place)}, and {words} is it still"
    return None


def does_what_it_did(steps: Steps, operations: Operations, block: Place, memory: Memory, trace: Trace) -> bool:
    """Did the block, in a green run of the candidate, do what it did when it was last green, as far as can be seen?

    The same requests were sent with the same contents, it led to the same address, and each thing that was done is
    either done on the same element again or shows in what was sent. What is new in it has to show there as well.
    """
    place = moved_places(steps, operations).get(block)
    rows = _new_rows(steps, operations, block, trace)
    old = _deeds(steps, block)
    whole = dict(walk(steps))
    did = {at: memory.did[at] for at in whole if at in memory.did}
    if place is None or not rows or not old or any(at not in did for at, _ in old):
        return False
    was = [(at, did[at]) for at in _reach(list(walk(steps)), block) if at in did]
    candidate = apply_operations(steps, operations)
    now = [
        (at, Did(one.url, one.url_after, one.sent))
        for at in _reach(list(walk(candidate)), place)
        if (one := trace.at(at)) is not None and one.url_after
    ]
    if not was or not now or not _same_requests(was, now) or not _same_end(was, now):
        return False
    taken: set[int] = set()
    pairs = {at: _pair(at, step, memory, rows, taken) for at, step in old}
    reached = {_path(one.url_after) for _, one in now}
    shown_before, shown_now = _shown(was, reached), _shown(now)
    return all(pair is not None or at in shown_before for at, pair in pairs.items()) and all(
        number in taken or row.place in shown_now for number, row in enumerate(rows)
    )


@dataclass(frozen=True, slots=True)
class _Done:
    """A deed of a block as a run played it."""

    place: Place
    step: Step
    page: PageSnapshot | None
    hit: int | None


def _deeds(steps: Steps, block: Place) -> list[tuple[Place, Step]]:
    inside = walk(step_at(steps, block).steps, block)
    return [(at, step) for at, step in inside if not step.asserts_outcome and step.kind not in NEUTRAL]


def _new_rows(steps: Steps, operations: Operations, block: Place, trace: Trace) -> list[_Done] | None:
    place = moved_places(steps, operations).get(block)
    if place is None:
        return None
    found = []
    for at, step in _deeds(apply_operations(steps, operations), place):
        one = trace.at(at)
        if one is not None and not one.skipped:
            met = trace.seen(at)
            page, hit = met if met is not None and met[1] >= 0 else (None, None)
            found.append(_Done(at, step, page, hit))
    return found


def _pair(place: Place, step: Step, memory: Memory, rows: Sequence[_Done], taken: set[int]) -> int | None:
    """The new row that does what a saved step did to what its element became; it is taken by that."""
    seen = memory.at(place)
    for number, row in enumerate(rows):
        if number in taken or not _same_deed(step, row.step):
            continue
        if step.locator is None or row.step.locator is None:
            is_same = step.locator is None and row.step.locator is None
        elif seen is None or seen.target is None or row.page is None or row.hit is None:
            is_same = False
        else:
            match = find_again(seen.page, seen.target, row.page, action=step.kind)
            found = match.element
            is_same = match.verdict == "found" and found is not None and same_thing(row.page, found, row.hit)
        if is_same:
            taken.add(number)
            return number
    return None


def _same_deed(one: Step, other: Step) -> bool:
    """The same kind of thing with the same value; its locator plays no part."""
    entering = {"fill", "type"}
    same_kind = one.kind == other.kind or {one.kind, other.kind} <= entering
    return same_kind and dict(one.parameters) == dict(other.parameters)


def _reach(every: Sequence[tuple[Place, Step]], block: Place) -> list[Place]:
    """The places of a block, and of what follows it up to the next step that causes something: what the block sent may
    still be on its way while a check after it waits."""
    reach: list[Place] = []
    is_behind = False
    for at, step in every:
        if at[: len(block)] == block:
            reach.append(at)
            is_behind = True
        elif is_behind:
            if step.kind in CAUSING:
                break
            reach.append(at)
    return reach


def _same_requests(was: Sequence[tuple[Place, Did]], now: Sequence[tuple[Place, Did]]) -> bool:
    before = [one for _, did in was for one in did.sent]
    after = [one for _, did in now for one in did.sent]
    return len(before) == len(after) and all(map(_same_request, before, after))


def _same_request(one: Sent, other: Sent) -> bool:
    alike = (one.method, _path(one.url), one.fields) == (other.method, _path(other.url), other.fields)
    return alike and (one.status is None or other.status is None or one.status == other.status)


def _same_end(was: Sequence[tuple[Place, Did]], now: Sequence[tuple[Place, Did]]) -> bool:
    return _path(was[-1][1].url_after) == _path(now[-1][1].url_after)


def _path(url: str) -> str:
    """The address without its host: a preview has another one."""
    parts = urlsplit(url)
    return "".join((parts.path or "/", f"?{parts.query}" if parts.query else "", f"#{parts.fragment}"))


def _shown(did: Sequence[tuple[Place, Did]], reached: Collection[str] | None = None) -> frozenset[Place]:
    """Places whose doing shows in what was sent or where it led; that only if it is among `reached`, where given.

    What was typed or chosen shows in a later request that carries contents; one without shows only that it was made.
    """
    shown = set()
    is_carried = False
    for at, one in reversed(did):
        is_carried = is_carried or any(sent.fields for sent in one.sent)
        to = _path(one.url_after)
        has_led = _path(one.url) != to and (reached is None or to in reached)
        if is_carried or one.sent or has_led:
            shown.add(at)
    return frozenset(shown)


def values_are_used(old: Step, new: Step) -> bool:
    """Does the new block use every value of the block that the old one used? Values are what tells one thing from
    another: a block that no longer names its item may do the same to another one."""
    return all(text in _texts(new) for value in _values(old) for text in [value] if text in _texts(old))


def _values(block: Step) -> list[str]:
    given = block.parameters.get("values") or {}
    return [str(one) for one in given.values()]


def _texts(block: Step) -> str:
    said: list[str] = []
    for _, step in walk(block.steps):
        if not step.asserts_outcome:
            said += [str(locator) for _, locator in step.locators()]
            said += [str(value) for value in step.parameters.values() if isinstance(value, str | int)]
    return "\n".join(said)


def without_block(steps: Steps, operations: Operations, block: Place) -> Steps:
    """The candidate as if the block did nothing."""
    candidate = apply_operations(steps, operations)
    place = moved_places(steps, operations)[block]
    return apply_operations(candidate, (Operation("replace", place, replace(step_at(candidate, place), steps=())),))


def may_harm_without(steps: Steps, block: Place, memory: Memory) -> bool:
    """Does something after the block delete, pay or send? Without what the block chose it might do so to another thing,
    so it is not played without it."""
    for at, step in walk(steps):
        if at <= block or at[: len(block)] == block or step.kind not in ACTING:
            continue
        seen = memory.at(at)
        said = [str(locator) for _, locator in step.locators()]
        if seen is not None and seen.target is not None:
            element = seen.page.elements[seen.target]
            said += [element.name, seen.page.texts[element.index], element.get("title")]
        if any(destructive_word(fold(one)) for one in said):
            return True
    return False


def checks_behind(steps: Steps, operations: Operations, block: Place) -> frozenset[Place]:
    """The outcome assertions that come after the block, as the candidate with an empty block counts them."""
    empty = without_block(steps, operations, block)
    place = moved_places(steps, operations)[block]
    return frozenset(at for at, step in walk(empty) if at > place and step.asserts_outcome)
