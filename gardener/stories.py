"""The whole story of a case that ended without a repair: what was tried, and what a person may answer (T19-T24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gardener.saved_tests import SavedTest
from repair_ladder.climb import Attempt, Exhausted, NotDrift
from repair_ladder.errors import LadderError
from repair_ladder.operations import Operation
from repair_ladder.outcomes import Red
from repair_ladder.step_format import describe
from repair_ladder.steps import show_place, step_at

# What each answer does, as a person reads it.
ANSWERS: Final[Mapping[str, str]] = {
    "retry": "send it up the ladder again at its next failure, with everything tried anew",
    "edit": "change the test by hand; saving it ends this",
    "defect": "it is the app that is wrong: leave the test as it is, and red, until the app changes",
    "quarantine": "take the test out of service until somebody puts it back",
}


@dataclass(frozen=True, slots=True)
class Advice:
    answer: str
    why: str


def is_escalation(climbed: NotDrift | Exhausted) -> bool:
    """Does the case stop until a person answers (T6, T21)? What was tried, or stopped by a bound, does."""
    return isinstance(climbed, Exhausted) and (climbed.is_stopped or bool(climbed.attempts))


def advice(climbed: NotDrift | Exhausted) -> Advice:
    """Which answer is recommended, and why."""
    if isinstance(climbed, NotDrift):
        return Advice(
            "defect", "a check ran and does not hold, or what it needs is gone: that is what it is there to say"
        )
    if climbed.only_refused:
        return Advice("edit", "only a person may change what the test expects")
    if climbed.is_stopped:
        return Advice("retry", "a bound ended it before everything was tried")
    if "flaky" in climbed.reason:
        return Advice("edit", "a test that fails by chance needs a wait for what it depends on")
    return Advice("edit", "nothing proven was found, so somebody has to say what the step means now")


def tell(
    test: SavedTest, run: int, red: Red, climbed: NotDrift | Exhausted, *, failure: str, change_key: str
) -> dict[str, Any]:
    """The story as plain data. `failure` and `change_key` say until when it holds: another failure is another story."""
    best = advice(climbed)
    number = len(climbed.attempts)
    tried = f"{number} attempt{'s' if number != 1 else ''}" if number else "no attempt"
    return {
        "error": red.message,
        "context": {
            "test": test.name,
            "version": test.version,
            "run": run,
            "step": show_place(red.place),
            "does": _step(test, red),
            "page": red.page.url if red.page else "",
            "observed": red.observed,
        },
        "attempts": [_attempt(one) for one in climbed.attempts],
        "findings": [climbed.reason, *climbed.evidence],
        "options": [{"answer": answer, "means": means} for answer, means in ANSWERS.items()],
        "recommended": best.answer,
        "why": best.why,
        "awaited": f"an answer: {', '.join(ANSWERS)}",
        "last_line": f"A person is needed for '{test.name}' after {tried}: {climbed.reason}",
        "failure": failure,
        "change_key": change_key,
    }


def holds(story: Mapping[str, Any] | None, *, failure: str, change_key: str) -> bool:
    """Is a new failure the one of the story, with neither the page nor what is known of the app changed since?"""
    return bool(story) and story["failure"] == failure and story["change_key"] == change_key  # type: ignore[index]


def _attempt(one: Attempt) -> dict[str, Any]:
    return {
        "number": one.number,
        "rung": one.rung,
        "by": one.strategy,
        "hypothesis": one.hypothesis,
        "fix": _fix(one.operations),
        "result": one.outcome,
        "error": one.error or "; ".join(refusal.reason for refusal in one.refusals),
    }


def _fix(operations: Sequence[Operation]) -> list[str]:
    said = []
    for operation in operations:
        where = f"{operation.op} {'after ' if operation.op == 'insert' else ''}step {show_place(operation.place)}"
        said.append(f"{where}: {describe(operation.new)}" if operation.new else where)
    return said


def _step(test: SavedTest, red: Red) -> str:
    try:
        return describe(step_at(test.steps, red.place))
    except (LookupError, LadderError):
        return ""
