"""Rung 0: a fix that was proven once is tried first wherever the same locator broke on the same kind of page.

One drift that broke forty tests is searched for once. A lesson is a hint and no proof: what it proposes passes the
same floor, gates and identity as everything else, and counts as an attempt (T9, C2). Only proven fixes teach (T30).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from radar.at_risk import resolve_ways
from radar.diff import in_words
from radar.elements import PageSnapshot, fold
from radar.errors import Unresolvable
from radar.locators import Locator
from repair_ladder.harm import new_harm
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation, Operations
from repair_ladder.rungs import Candidate, Situation
from repair_ladder.steps import Place, Step, Steps, show_place, step_at, walk
from repair_ladder.values import names_in

LESSON: Final = "lesson"  # the rung, before the first
MOST_WORDS: Final = 12
# What an inserted step may do to be worth remembering: a value typed in is one test's own.
PLAIN: Final = frozenset({"click", "hover", "scroll", "wait", "check", "select"})


@dataclass(frozen=True, slots=True)
class Lesson:
    """A locator that broke, and what was proven in its place: another locator, steps before it, or both.

    `words` are those of the old element, `page` the pattern of the address it stood on; `doubt` says why a person had
    to look, and has to again.
    """

    old: Locator
    words: tuple[str, ...]
    page: str
    locator: Locator | None = None
    before: tuple[Step, ...] = ()
    doubt: str = ""
    vouched: bool = False  # only a model recognised the element
    id: int = 0


def page_pattern(url: str) -> str:
    """The kind of page that an address is of: its path, with numbers and long keys left open."""
    path = urlsplit(url).path or "/"
    return re.sub(r"(?<=/)(?=[^/]*\d)(?:\d+|[0-9a-fA-F-]{8,})(?=/|$)", "*", path)


def learn(
    steps: Steps, operations: Operations, memory: Memory, *, doubt: str = "", vouched: frozenset[Place] = frozenset()
) -> tuple[Lesson, ...]:
    """What a proven fix teaches; () where it is of use to this one test alone."""
    moved: dict[Place, Locator] = {}
    before: dict[Place, list[Step]] = {}
    for operation in operations:
        if operation.op == "replace" and operation.new is not None:
            old = step_at(steps, operation.place)
            if old.locator and operation.new.locator and replace(operation.new, locator=old.locator) == old:
                moved[operation.place] = operation.new.locator
        elif operation.op == "insert" and operation.new is not None:
            after = (*operation.place[:-1], operation.place[-1] + 1)
            before.setdefault(after, []).append(operation.new)
    lessons = []
    for place in dict.fromkeys([*moved, *before]):
        try:
            step = step_at(steps, place)
        except LookupError:
            continue  # inserted at the end of a block
        seen = memory.at(place)
        if step.locator is None or seen is None:
            continue
        inserted = before.get(place, [])
        if any(one.kind not in PLAIN or any(names_in(list(_values(one)))) for one in inserted):
            continue
        words = _words(seen.page, seen.target)
        pattern = page_pattern(seen.page.url)
        lessons.append(
            Lesson(step.locator, words, pattern, moved.get(place), tuple(inserted), doubt, vouched=place in vouched)
        )
    return tuple(lessons)


def _values(step: Step) -> Iterator[Any]:
    yield from (value for value in step.parameters.values() if isinstance(value, str))
    for _, locator in step.locators():
        yield str(locator)


def _words(page: PageSnapshot, target: int | None) -> tuple[str, ...]:
    """What a person would call the element."""
    if target is None:
        return ()
    element = page.elements[target]
    said = fold(f"{element.name} {element.label}") or page.texts[target]
    return tuple(sorted(set(re.findall(r"\w+", said.casefold()))))[:MOST_WORDS]


def propose(situation: Situation, lessons: Iterable[Lesson]) -> tuple[Candidate, ...]:
    """Candidates of the lessons that fit the failing step, each with what lessons say of later steps on this page."""
    place, page = situation.place, situation.page
    known = tuple(lessons)
    if place is None or page is None or not known:
        return ()
    found = []
    for lesson in (one for one in known if _fits(situation, place, one)):
        taught = [(place, lesson)]
        for later, _ in walk(situation.steps):
            seen = situation.memory.at(later)
            if later > place and seen is not None and page_pattern(seen.page.url) == lesson.page:
                more = next((one for one in known if one.locator and _fits(situation, later, one)), None)
                if more:
                    taught.append((later, more))
        one = _candidate(situation, page, taught)
        if one:
            found.append(one)
    return tuple(found)


def _fits(situation: Situation, place: Place, lesson: Lesson) -> bool:
    """The same locator, broken, of what was called the same, on the same kind of page; the new one finds something."""
    step, page, seen = situation.step_now(place), situation.page, situation.memory.at(place)
    if step is None or page is None or seen is None or step.locator != lesson.old:
        return False
    if page_pattern(page.url) != lesson.page or _words(seen.page, seen.target) != lesson.words:
        return False
    if lesson.locator is None or lesson.before:
        return place == situation.place and _finds(lesson.before[0].locator, situation)
    return _finds(lesson.locator, situation) and not _finds(lesson.old, situation)


def _finds(locator: Locator | None, situation: Situation) -> bool:
    page = situation.page
    assert page is not None
    if locator is None:
        return True
    try:
        return len(resolve_ways(locator, page, situation.test_id_attribute)) == 1
    except Unresolvable:
        return False


def _candidate(situation: Situation, page: PageSnapshot, taught: list[tuple[Place, Lesson]]) -> Candidate | None:
    operations: list[Operation] = []
    doubt, harm = "", None
    for place, lesson in taught:
        step, seen = situation.step_now(place), situation.memory.at(place)
        assert step is not None
        assert seen is not None
        doubt = doubt or lesson.doubt
        why = f"proven before for {lesson.old}"
        at = (*place[:-1], place[-1] - 1)
        operations += [Operation("insert", at, one, why) for one in lesson.before]
        if lesson.locator is None:
            continue
        operations.append(Operation("replace", place, replace(step, locator=lesson.locator), why))
        if lesson.before:
            continue  # its element is not on the page yet: the run shows it
        index = resolve_ways(lesson.locator, page, situation.test_id_attribute)[0]
        old = seen.page.elements[seen.target] if seen.target is not None else None
        if not step.asserts_outcome:
            harm = harm or new_harm(old, page.elements[index], text=page.texts[index])
        operations[-1] = replace(operations[-1], reason=f"{why}: {in_words(page, index)}")
    places = ", ".join(show_place(place) for place, _ in taught)
    return Candidate(
        tuple(operations),
        LESSON,
        f"step {places} broke as the same locator broke elsewhere, and what helped there is tried first",
        doubt=doubt,
        harm=harm,
        reveals=bool(taught[0][1].before),
        vouched=frozenset(place for place, lesson in taught if lesson.vouched),
        lessons=tuple(lesson.id for _, lesson in taught),
    )
