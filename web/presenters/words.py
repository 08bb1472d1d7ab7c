"""Times, numbers and the words of the product, for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gardener.notices import EventKind
from gardener.projects import Mode
from gardener.proposals import ProposalStatus
from gardener.repairs import GARDENER
from gardener.runs import RunStatus, Trigger
from gardener.sweeps import SweepStatus
from gardener.triage import IssueKind


@dataclass(frozen=True, slots=True)
class Badge:
    """A word in a coloured pill. `tone`: good, bad, warn, calm or quiet; the word says it without the colour."""

    word: str
    tone: str
    title: str = ""


def ago(moment: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max(0, int((now - moment).total_seconds()))
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return f"{plural(seconds // length, unit)} ago"
    return "just now"


def moment(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def plural(number: int, word: str, many: str = "") -> str:
    return f"{number} {word if number == 1 else many or word + 's'}"


def took(began: datetime, ended: datetime) -> str:
    seconds = max(0.0, (ended - began).total_seconds())
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def cut(text: str, longest: int = 300) -> str:
    """One line, cut; without characters that turn the direction of what stands beside them."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


MODES: Final = {
    Mode.OFF: ("Off", "Nothing happens by itself. A sweep or a repair that you ask for still stages what it proves."),
    Mode.PROPOSE: ("Proposes", "Sweeps stage proven repairs; a person approves each before anything is written."),
    Mode.APPLY: ("Applies", "A failed unattended run is repaired at once; what is not sure waits for a person."),
}
MODE_TONES: Final = {Mode.OFF: "quiet", Mode.PROPOSE: "calm", Mode.APPLY: "good"}


def mode_badge(mode: Mode) -> Badge:
    word, title = MODES[mode]
    return Badge(word, MODE_TONES[mode], title)


RUN_TONES: Final = {RunStatus.GREEN: "good", RunStatus.RED: "bad", RunStatus.ENVIRONMENT: "warn"}


def run_badge(status: RunStatus) -> Badge:
    return Badge(status.value, RUN_TONES[status])


TRIGGERS: Final = {
    Trigger.SCHEDULE: "scheduled run",
    Trigger.SUITE: "suite",
    Trigger.CI: "CI gate",
    Trigger.MANUAL: "run by hand",
    Trigger.DRY_RUN: "dry run",
    Trigger.PROOF: "proof",
    Trigger.CONTROL: "control run",
    Trigger.PROBE: "probe",
}
SWEEPS: Final = {
    SweepStatus.RUNNING: Badge("running", "calm"),
    SweepStatus.FINISHED: Badge("finished", "good"),
    SweepStatus.ENVIRONMENT: Badge("environment", "warn", "The app was not itself: the baseline is kept."),
    SweepStatus.FAILED: Badge("broke off", "bad"),
}
PROPOSALS: Final = {
    ProposalStatus.PROPOSED: Badge("waits", "calm"),
    ProposalStatus.APPLIED: Badge("applied", "good"),
    ProposalStatus.DISMISSED: Badge("dismissed", "quiet"),
    ProposalStatus.STALE: Badge("stale", "warn", "The test was edited since it was worked out."),
    ProposalStatus.SUPERSEDED: Badge("superseded", "quiet", "Something newer took its place."),
}
ISSUES: Final = {
    IssueKind.TRIAGE: Badge("triage", "bad", "The ladder ended without a proven repair."),
    IssueKind.ESCALATION: Badge("escalation", "bad", "A person has to decide before anything goes on."),
    IssueKind.FINDING: Badge("finding", "warn", "Something around the app, not the tests: one cause, all its tests."),
}
VERDICTS: Final = {
    "product_defect": "looks like a defect of the app",
    "environment": "the surroundings failed",
    "incurable": "nothing proven was found",
    "fixable": "only a person may make the change",
    "refused": "only a person may make the change",
    "rot": "the test had drifted",
}
OUTCOMES: Final = {
    "passed": Badge("passed", "good", "Green as it stands."),
    "staged": Badge("staged", "calm", "A repair waits for a person."),
    "applied": Badge("applied", "good", "A repair was written."),
    "product_defect": Badge("product defect", "bad", "The app is at fault: nothing is repaired."),
    "environment": Badge("environment", "warn", "The surroundings failed."),
    "incurable": Badge("not mended", "bad", "Nothing proven was found."),
    "refused": Badge("withheld", "warn", "Only a person may make the change."),
    "unavailable": Badge("unavailable", "warn", "Model, budget or browser was out of reach; no attempt was spent."),
    "green": Badge("green", "good"),
    "red": Badge("red", "bad"),
}
NEWS: Final = {
    EventKind.STAGED: "calm",
    EventKind.APPLIED: "good",
    EventKind.APPROVED: "good",
    EventKind.STALE: "warn",
    EventKind.REVERTED: "warn",
    EventKind.TRIAGE: "bad",
    EventKind.FINDING: "warn",
}
RUNGS: Final = {
    "self_heal": "Self-heal",
    "suggest_fix": "Suggested fix",
    "diagnose_drift": "Diagnosis",
    "intent": "Derived from its goal",
    "lesson": "Remembered fix",
    "chat": "Asked for in words",
}


def outcome_badge(outcome: str) -> Badge:
    return OUTCOMES.get(outcome, Badge(cut(outcome.replace("_", " "), 40), "quiet"))


def news_badge(kind: EventKind) -> Badge:
    return Badge(kind.value.replace("_", " "), NEWS.get(kind, "quiet"))


def verdict(word: str) -> str:
    return VERDICTS.get(word, cut(word.replace("_", " "), 60))


def strategy(name: str) -> str:
    """How a repair was found: "self_heal.local" or "self_heal" -> "Self-heal"."""
    rung, _, source = name.partition(".")
    known = RUNGS.get(rung, cut(rung.replace("_", " "), 60).capitalize())
    return f"{known}, by a model" if source == "model" else known


def author(name: str) -> str:
    return "the gardener" if name == GARDENER else name
