"""Remember what was proven and what people decided, and forget what a person took back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gardener import lessons as noun
from gardener.errors import NotFound
from gardener.lessons import LASTS, MOST, Lesson
from gardener.projects import Project
from gardener.store import Transaction, lessons
from gardener.tools import Tools
from radar import locators
from repair_ladder import lessons as ladder
from repair_ladder.climb import Attempt, Climbed, Repaired
from repair_ladder.memory import Memory
from repair_ladder.operations import Operations
from repair_ladder.step_format import describe
from repair_ladder.steps import Step, Steps

# A lesson that fitted and led to one of these was wrong.
WRONG = ("red", "wrong element")


async def lessons_for(tx: Transaction, tools: Tools, project: Project) -> tuple[ladder.Lesson, ...]:
    """What the project has learned and not forgotten, the newest first."""
    rows = await lessons.listed(tx, project.id, since=tools.now() - LASTS, limit=MOST)
    return tuple(one for one in map(noun.read, rows) if one is not None)


async def learn(
    tx: Transaction, tools: Tools, project: Project, steps: Steps, climbed: Climbed, memory: Memory
) -> None:
    """After a climb: what its proof teaches, and what of the lessons it tried was wrong (T30)."""
    await lessons.forget_expired(tx, project.id, before=tools.now() - LASTS)
    for attempt in climbed.attempts:
        await _judge(tx, attempt)
    if isinstance(climbed, Repaired) and climbed.proof is not None and not climbed.is_flaky:
        taught = ladder.learn(steps, climbed.operations, memory, doubt=climbed.doubt, vouched=climbed.vouched)
        await remember(tx, tools, project, taught)


async def _judge(tx: Transaction, attempt: Attempt) -> None:
    for lesson in attempt.lessons:
        if attempt.outcome in WRONG:
            await lessons.forget(tx, lesson)
        elif attempt.outcome in ("green", "further"):
            await lessons.used(tx, lesson)


async def remember(tx: Transaction, tools: Tools, project: Project, taught: Sequence[ladder.Lesson]) -> None:
    for one in taught:
        await lessons.remember(
            tx,
            project=project.id,
            old=locators.write(one.old),
            words=one.words,
            page=one.page,
            new=noun.new_of(one),
            now=tools.now(),
        )


async def unlearn(tx: Transaction, project: int, steps: Steps, operations: Operations, memory: Memory) -> int:
    """A person took the fix back or declined it: what it taught is forgotten, whatever the doubt it came with."""
    forgotten = 0
    taught = ladder.learn(steps, operations, memory)
    for row in await lessons.listed(tx, project):
        known = noun.read(row)
        if known is not None and any(_same_fix(known, one) for one in taught):
            await lessons.forget(tx, row.id)
            forgotten += 1
    return forgotten


async def decided(
    tx: Transaction,
    tools: Tools,
    project: int,
    taught: Sequence[ladder.Lesson],
    *,
    said: str,
    by: str,
    test: str,
    about: str,
) -> None:
    """A person approved or dismissed the fix that teaches this (T23). The newest word about a fix holds."""
    await forget_decline(tx, project, taught)
    for one in taught:
        new: dict[str, Any] = {"decision": {"said": said, "by": by, "test": test, "about": about[:500]}}
        if said == "dismissed":
            new["declined"] = noun.new_of(one)
        await lessons.remember(
            tx, project=project, old=locators.write(one.old), words=one.words, page=one.page, new=new, now=tools.now()
        )


async def forget_decline(tx: Transaction, project: int, taught: Sequence[ladder.Lesson]) -> None:
    """Somebody thought better of it."""
    for row in await lessons.listed(tx, project):
        known = noun.declined_fix(row)
        if known is not None and any(_same_fix(known, one) for one in taught):
            await lessons.forget(tx, row.id)


async def who_declined(
    tx: Transaction, tools: Tools, project: Project, steps: Steps, operations: Operations, memory: Memory
) -> str | None:
    """The words about a person who dismissed the same fix of the same element, in whatever test; None if nobody did."""
    taught = ladder.learn(steps, operations, memory)
    for row in await lessons.listed(tx, project.id, since=tools.now() - LASTS, limit=MOST) if taught else ():
        known = noun.declined_fix(row)
        if known is not None and row.decision is not None and any(_same_fix(known, one) for one in taught):
            return noun.told(row.decision)
    return None


def stood_on(step: Step) -> dict[str, Any]:
    """What a decision about a step is found by: its locator, else the step in words."""
    locator = next((one for _, one in step.locators()), None)
    return locators.write(locator) if locator is not None else {"step": describe(step)}


async def answered(
    tx: Transaction, tools: Tools, project: int, step: Step, *, page: str, said: str, by: str, test: str, about: str
) -> None:
    """A person answered an issue about a step (T23)."""
    new = {"decision": {"said": said, "by": by, "test": test, "about": about[:500]}}
    old, pattern = stood_on(step), ladder.page_pattern(page)
    await lessons.remember(tx, project=project, old=old, words=(), page=pattern, new=new, now=tools.now())


async def decided_before(tx: Transaction, tools: Tools, project: int, step: Step, page: str) -> list[str]:
    """What people have decided about the same step on the same kind of page, in sentences, the newest first (T8)."""
    rows = await lessons.of_locator(tx, project, stood_on(step))
    since, pattern = tools.now() - LASTS, ladder.page_pattern(page)
    return [
        f"{noun.told(row.decision)}: {row.decision['about']}"
        for row in rows
        if row.decision is not None and row.page == pattern and row.proven_at >= since
    ][:5]


def _same_fix(one: ladder.Lesson, other: ladder.Lesson) -> bool:
    return (one.old, one.page, one.locator, one.before) == (other.old, other.page, other.locator, other.before)


async def listed(tools: Tools, project: Project) -> tuple[Lesson, ...]:
    """Those that are still tried, the newest first."""
    async with tools.store.reading() as tx:
        return await lessons.listed(tx, project.id, since=tools.now() - LASTS)


async def forget(tools: Tools, project: Project, lesson: int) -> Lesson:
    """A person says that a lesson is wrong. Raises NotFound."""
    async with tools.store.transaction() as tx:
        row = await lessons.get(tx, lesson)
        if row.project != project.id:
            raise NotFound(f"'{project.name}' has no lesson {lesson}: `gardener lessons {project.name}` lists them.")
        await lessons.forget(tx, lesson)
    return row
