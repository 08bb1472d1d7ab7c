"""The compliance gate: a proven repair, judged by a second model against the project's own rules, in words (H11-H16).

It stands after the floor and the green gate (C8) and weakens neither: all it can do is hold a repair back. It is asked
only where a project has rules and names a judging model (C9). When it is out of reach or talks nonsense, nothing is
written by itself: a person judges.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from repair_ladder import prompts
from repair_ladder.memory import Memory
from repair_ladder.operations import Operations, apply_operations
from repair_ladder.ports import Answered, Ask, Asked, Question, Tool, Unavailable
from repair_ladder.prompts import Redact, clean, cut
from repair_ladder.sign_in import without_passwords
from repair_ladder.step_format import write_operation
from repair_ladder.steps import Steps

JUDGE: Final = "judge_repair"
LEVELS: Final = ("none", "low", "medium", "high")
DIMENSIONS: Final = {"rules": "the project's rules", "adequacy": "what the step is for"}
LONGEST_FINDING: Final = 500
RULES_BUDGET: Final = 8_000
CHANGES_BUDGET: Final = 14_000


@dataclass(frozen=True, slots=True)
class Passed:
    """No high finding; lower ones are warnings for whoever looks at the repair (H13)."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Violates:
    """A high finding in either dimension: the candidate has failed (H12)."""

    finding: str


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The judge was out of reach, or its verdict cannot be read: nobody has judged, so nothing is written (H14-H16)."""

    reason: str


Judgement: TypeAlias = Passed | Violates | Unjudged
# The saved steps, the proven operations and the error that they mend -> what the judge says.
Judge: TypeAlias = Callable[[Steps, Operations, str], Awaitable[Judgement]]


def judge_by(ask: Ask | None, rules: Sequence[str], asked: Asked, redact: Redact) -> Judge | None:
    """The judge of a project; None where it has no rules or no judging model. `asked` counts what is spent."""
    if ask is None or not rules:
        return None

    async def judge(steps: Steps, operations: Operations, error: str) -> Judgement:
        fence = prompts.Fence(secrets.token_hex(16), redact)
        steps, _ = without_passwords(steps, Memory())
        news = [without_passwords((one.new,), Memory())[0][0] if one.new else None for one in operations]
        operations = tuple(replace(one, new=new) for one, new in zip(operations, news, strict=True))
        if prompts.CUT in _changes(fence, steps, operations):
            return Unjudged("the changes are too long to be shown whole to the judging model")
        posed = question(steps, operations, error, rules, fence)
        reply = await ask(posed)
        if isinstance(reply, Unavailable):
            return Unjudged(f"the judging model could not be asked: {reply.message}")
        asked.calls += 1
        asked.input_tokens += reply.input_tokens
        asked.output_tokens += reply.output_tokens
        if not isinstance(reply, Answered):
            return Unjudged(f"the judging model gave no verdict: {reply.message}")
        return read_verdict(reply)

    return judge


def question(steps: Steps, operations: Operations, error: str, rules: Sequence[str], fence: prompts.Fence) -> Question:
    """The rules are the project's own words and stand outside the fences; all else was copied from somewhere."""
    numbered = "\n".join(f"{number}. {cut(clean(rule), 500)}" for number, rule in enumerate(rules, 1))
    after = "\n".join(
        f"{number}. {fence.step(step)}" for number, step in enumerate(apply_operations(steps, operations), 1)
    )
    parts = [
        "A repair of a browser test was proven: the test is green with it. Judge whether it may be kept, in two "
        "dimensions. rules - does it break one of the project's rules? adequacy - do the changed steps still do what "
        "they were there for, in the smallest way?",
        f"The project's rules:\n{cut(numbered, RULES_BUDGET)}",
        fence.around("the error that it mends", fence.lines(error, prompts.MESSAGE_BUDGET)),
        fence.around("the changes", _changes(fence, steps, operations)),
        fence.around("the steps with the repair", cut(after, prompts.STEPS_BUDGET)),
        "Levels: none - nothing to say; low, medium - worth telling a person; high - it must not be kept. A finding "
        "is one sentence that names the rule or the step; it is empty where the level is none.",
    ]
    return Question(fence.system(JUDGE), "\n\n".join(parts), (_tool(),), max_tokens=1000)


def _changes(fence: prompts.Fence, steps: Steps, operations: Operations) -> str:
    """Every one of them whole; what is not shown has not been judged (H16). Where that is too much, CUT is in it."""
    written = (write_operation(steps, one) | {"reason": cut(clean(one.reason), 200)} for one in operations)
    return cut("\n".join(fence.json(one, CHANGES_BUDGET) for one in written), CHANGES_BUDGET, prompts.CUT)


def read_verdict(answered: Answered) -> Judgement:
    """Field by field. Whatever is missing or unknown makes the whole verdict unreadable, and never a pass (H14)."""
    found: list[tuple[str, str, str]] = []
    for name in DIMENSIONS:
        raw = answered.arguments.get(name)
        level = raw.get("level") if isinstance(raw, Mapping) else None
        finding = raw.get("finding") if isinstance(raw, Mapping) else None
        if not isinstance(level, str) or level not in LEVELS or not isinstance(finding, str):
            return Unjudged(f"the judge's verdict cannot be read: '{name}' is not a level with its finding")
        said = cut(clean(finding[: 4 * LONGEST_FINDING]), LONGEST_FINDING)
        if level != "none" and not said:
            return Unjudged(f"the judge's verdict cannot be read: '{name}' is {level} without a finding")
        found.append((name, level, said))
    high = [f"{DIMENSIONS[name]}: {said}" for name, level, said in found if level == "high"]
    if high:
        return Violates("; ".join(high))
    return Passed(tuple(f"{level}, {DIMENSIONS[name]}: {said}" for name, level, said in found if level != "none"))


def _tool() -> Tool:
    return Tool(JUDGE, "Says whether the repair may be kept.", _closed({name: _dimension() for name in DIMENSIONS}))


def _dimension() -> dict[str, Any]:
    return _closed({"level": {"type": "string", "enum": list(LEVELS)}, "finding": {"type": "string"}})


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
