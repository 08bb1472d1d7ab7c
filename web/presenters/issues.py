"""An issue -> its page: what happened, what was tried, and the answers that a person may give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gardener.stories import ANSWERS
from gardener.triage import Issue
from web.presenters import overview, words
from web.presenters.queue import sentence
from web.presenters.words import Badge, cut

LABELS: Final = {
    "retry": "Try again",
    "edit": "Edit the test",
    "defect": "The app is wrong",
    "quarantine": "Take it out of service",
}
RESULTS: Final = {
    "green": Badge("green", "good"),
    "further": Badge("red later", "calm", "The test came further than before, and failed at a later step."),
    "red": Badge("still red", "bad"),
    "refused": Badge("withheld", "warn", "Only a person may make the change."),
    "wrong element": Badge("another element", "warn", "Green, but with an element that the old one did not become."),
    "cannot fail": Badge("cannot fail", "warn", "Green, but its checks would be green in any case."),
    "unusable": Badge("unusable", "quiet", "The answer of the model could not be read."),
    "judged": Badge("held back", "warn", "Proven, and held back by the project's judge."),
    "unproven": Badge("not run", "warn", "It may do what cannot be taken back."),
    "environment": Badge("environment", "warn", "The surroundings failed meanwhile."),
}
MOST_TESTS: Final = 100
FACTS: Final = (("does", "The step"), ("page", "The page"), ("observed", "The app shows"))


@dataclass(frozen=True, slots=True)
class Option:
    answer: str
    label: str
    means: str
    is_recommended: bool
    is_given: bool  # what somebody answered last


@dataclass(frozen=True, slots=True)
class Tried:
    number: int
    how: str
    hypothesis: str
    fix: tuple[str, ...]
    result: Badge
    error: str


@dataclass(frozen=True, slots=True)
class TestLink:
    name: str
    number: int | None


@dataclass(frozen=True, slots=True)
class IssuePage:
    row: overview.IssueRow
    step: str
    error: str
    facts: tuple[tuple[str, str], ...]
    tried: tuple[Tried, ...]
    findings: tuple[str, ...]
    decided: tuple[str, ...]  # what people said of the same step before, the newest first
    options: tuple[Option, ...]  # none where there is nothing to answer: a finding, or closed
    why: str  # why one of them is recommended
    answered: str  # what somebody answered, in words
    answered_by: str
    answered_at: datetime | None
    tests: tuple[TestLink, ...]
    more_tests: int


def page(issue: Issue, numbers: Mapping[str, int]) -> IssuePage:
    """`numbers` of the tests by name."""
    story: Mapping[str, Any] = issue.story or {}
    context: Mapping[str, Any] = story.get("context") or {}
    findings = (sentence(str(one)) for one in story.get("findings", ()))
    return IssuePage(
        overview.issue_row(issue),
        cut(str(context.get("step") or ""), 20),
        cut(str(story.get("error") or ""), 1000),
        tuple((title, cut(str(context[key]), 600)) for key, title in FACTS if context.get(key)),
        tuple(_tried(one) for one in story.get("attempts", ())),
        tuple(one for one in findings if one != sentence(issue.reason)),
        tuple(cut(sentence(str(one)), 600) for one in story.get("decided_before", ())),
        _options(issue, story) if story and issue.closed_at is None else (),
        cut(str(story.get("why") or ""), 300),
        sentence(ANSWERS.get(issue.answer, issue.answer)) if issue.answer else "",
        issue.answered_by or "",
        issue.answered_at,
        tuple(TestLink(cut(name, 200), numbers.get(name)) for name in issue.tests[:MOST_TESTS]),
        max(0, len(issue.tests) - MOST_TESTS),
    )


def _options(issue: Issue, story: Mapping[str, Any]) -> tuple[Option, ...]:
    """The recommended one first. What an answer means is what it does today, whatever an old story says."""
    best = story.get("recommended")
    every = (
        Option(answer, LABELS[answer], sentence(means), answer == best, answer == issue.answer)
        for answer, means in ANSWERS.items()
    )
    return tuple(sorted(every, key=lambda one: not one.is_recommended))


def _tried(raw: Mapping[str, Any]) -> Tried:
    rung = words.strategy(str(raw.get("rung") or ""))
    by = {"model": ", by a model", "lesson": ", from memory"}.get(str(raw.get("by")), "")
    said = str(raw.get("result") or "")
    return Tried(
        int(raw.get("number") or 0),
        rung + by,
        sentence(str(raw.get("hypothesis") or "")),
        tuple(cut(str(one), 400) for one in raw.get("fix", ())),
        RESULTS.get(said, words.outcome_badge(said)),
        cut(str(raw.get("error") or ""), 400),
    )
