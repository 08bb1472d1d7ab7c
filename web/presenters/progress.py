"""What a job tells while it is done -> lines for a person who watches it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gardener.jobs import Job, JobKind, JobState
from web.presenters import words
from web.presenters.queue import sentence
from web.presenters.words import Badge, cut, plural

STATES: Final = {
    JobState.QUEUED: Badge("waits", "calm"),
    JobState.RUNNING: Badge("works", "calm"),
    JobState.DONE: Badge("done", "good"),
    JobState.SKIPPED: Badge("no longer wanted", "quiet"),
    JobState.FAILED: Badge("not done", "bad"),
}
TITLES: Final = {
    JobKind.SWEEP: "Sweep",
    JobKind.STAGE: "Staging",
    JobKind.SUITE: "Suite: all tests in service",
    JobKind.HEAL: "Repair of a failed run",
    JobKind.RUN: "Run",
    JobKind.REPAIR: "Repair by hand",
    JobKind.PROVE: "Proving again",
    JobKind.APPROVE: "Proof before approval",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One line. `depth` sets it in: 0 what is done, 1 a test, 2 the ladder, 3 what a candidate came to."""

    text: str
    depth: int = 0
    badge: Badge | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one test, when the job has ended."""

    test: str
    badge: Badge
    reason: str
    proposal: int | None
    repair: int | None
    run: int | None
    held: tuple[str, ...] = ()


def line(what: str, details: Mapping[str, Any]) -> Step | None:
    """None for what is nothing to a person."""

    def get(key: str) -> str:
        return cut(str(details.get(key) or ""), 400)

    match what:
        case "job":
            return Step("Taken up again after a worker stopped" if details.get("again") else "Begun")
        case "sweep_start":
            return Step(f"Looking at {get('base_url')}")
        case "page":
            return Step(f"Looked at {get('page')}", 1)
        case "run_start":
            return Step(f"Playing “{get('test')}”", 1)
        case "run_end":
            return Step(f"“{get('test')}” {get('error')}".strip(), 1, words.outcome_badge(get("status")))
        case "dry_run":
            return Step(f"Dry run of “{get('test')}”", 1)
        case "ladder_rung":
            rung, source = words.RUNGS.get(get("rung"), get("rung")), get("source")
            return Step(f"{rung}{', asking a model' if source == 'model' else ''} for step {get('step')}", 2)
        case "ladder_candidate":
            refused = int(details.get("refused") or 0)
            held = f" ({plural(refused, 'change')} withheld)" if refused else ""
            return Step(f"Tries: {get('hypothesis')}{held}", 3)
        case "ladder_red":
            gets = "Gets further, then stops" if details.get("further") else "Stays red"
            return Step(f"{gets} at step {get('step')}: {get('error')}", 3)
        case "ladder_verdict":
            return Step(f"Verdict: {words.verdict(get('verdict'))}", 2)
        case "result":
            return Step(f"“{get('test')}”: {get('reason')}", 1, words.outcome_badge(get("outcome")))
        case "note":
            return Step(get("text"), 1)
    return None


def title(job: Job) -> str:
    payload = job.payload
    match job.kind:
        case JobKind.RUN if payload.get("tests"):
            tests = [str(one) for one in payload["tests"]]
            return f"Run of “{cut(tests[0], 80)}”" if len(tests) == 1 else f"Run of {plural(len(tests), 'test')}"
        case JobKind.RUN:
            return "Run of all tests in service"
        case JobKind.REPAIR if payload.get("only"):
            return f"{words.RUNGS.get(str(payload['only']), 'One rung')} for run {payload['run']}"
        case JobKind.REPAIR:
            return f"Whole ladder for run {payload['run']}"
        case JobKind.SWEEP if payload.get("base_url"):
            return f"Sweep of the preview {cut(str(payload['base_url']), 120)}"
    return TITLES.get(job.kind, cut(str(job.kind.value), 40).capitalize())


def outcomes(job: Job) -> tuple[Outcome, ...]:
    """From the result of a job that has ended, whatever its kind."""
    result = job.result or {}
    found = [*result.get("dry_runs", ()), *result.get("repairs", ())]
    if "test" in result and "outcome" in result:
        found.append(result)
    made = [
        Outcome(
            cut(str(one["test"]), 200),
            words.outcome_badge(str(one["outcome"])),
            cut(str(one.get("reason") or ""), 600),
            one.get("proposal"),
            one.get("repair"),
            None,
            tuple(cut(str(refusal.get("reason") or ""), 400) for refusal in one.get("refusals", ())),
        )
        for one in found
    ]
    for one in result.get("runs", ()):
        told = f"Step {one['failed_step']}: {one['error']}" if one.get("failed_step") else str(one.get("error") or "")
        badge = words.outcome_badge(str(one["status"]))
        made.append(Outcome(cut(str(one["test"]), 200), badge, cut(told, 600), None, None, one["id"]))
    return tuple(made)


def waits_until(job: Job, now: datetime) -> datetime | None:
    """When a job that was put off may be taken up; None for one that may be now."""
    return job.not_before if job.waits_at(now) else None


def ending(job: Job) -> str:
    """The sentence at the end, or why it was put off; "" while it goes on."""
    result = job.result or {}
    if job.state == JobState.QUEUED:
        # Why it was put back; at first there is no such reason.
        return cut(sentence(str(result.get("reason") or "")), 600)
    if job.state == JobState.FAILED:
        return cut(str(result.get("error") or "It was given up."), 600)
    if job.state == JobState.SKIPPED:
        return "It was no longer wanted when its turn came: the switch was flipped, or the test is another by now."
    if "sweep" in result:
        risk, changes = len(result.get("at_risk", ())), len(result.get("changes", ()))
        return f"{plural(result.get('pages', 0), 'page')}, {plural(changes, 'change')}, {plural(risk, 'test')} at risk."
    if "approved" in result:
        return f"Proven and written: repair {result['repair']} of “{cut(str(result['approved']), 200)}”."
    return ""
