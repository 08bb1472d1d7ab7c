"""A run -> its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gardener.runs import Run, RunStatus
from gardener.saved_tests import SavedTest, may_tend
from web.presenters import words
from web.presenters.queue import sentence
from web.presenters.words import Badge, cut

MOST_STEPS: Final = 500
EVIDENCE: Final = {
    "page_errors": "Errors of the page's scripts",
    "console_errors": "Errors on the console",
    "failed_requests": "Requests that failed",
    "bad_answers": "Answers of 4xx and 5xx",
}


@dataclass(frozen=True, slots=True)
class PlayedStep:
    place: str
    kind: str
    url: str
    ms: int
    share: int  # of the longest step, in twentieths
    error: str
    badge: Badge | None


@dataclass(frozen=True, slots=True)
class RunPage:
    id: int
    test: int | None
    test_name: str
    version: int | None
    trigger: str
    status: Badge
    is_red: bool
    started_at: datetime
    took: str
    failed_step: str
    cause: str
    error: str
    observed: str
    has_picture: bool
    has_page: bool
    steps: tuple[PlayedStep, ...]
    evidence: tuple[tuple[str, tuple[str, ...]], ...]
    dialogs: tuple[str, ...]
    left_alone: str  # why it is not repaired by hand; "" if it may be


def page(run: Run, test: SavedTest | None, *, base_url: str = "") -> RunPage:
    evidence: dict[str, Any] = dict(run.evidence or {})
    why = may_tend(test, trigger=run.trigger, version=run.version, by_hand=True)
    if why is None and run.status != RunStatus.RED:
        why = f"it is {run.status.value}, not red"
    return RunPage(
        run.id,
        run.test,
        run.test_name,
        run.version,
        words.TRIGGERS[run.trigger],
        words.run_badge(run.status),
        run.status == RunStatus.RED,
        run.started_at,
        words.took(run.started_at, run.ended_at),
        run.failed_step or "",
        cut((run.cause or "").replace("_", " "), 60),
        cut(run.error or "", 2000),
        cut(run.observed or "", 2000),
        run.picture is not None,
        run.page_key is not None,
        _steps(run.steps[:MOST_STEPS], base_url),
        tuple((title, _lines(evidence[key])) for key, title in EVIDENCE.items() if evidence.get(key)),
        tuple(
            cut(f"{one['kind']} at step {one['step']}: “{one['message']}”, {one['answer']}", 300)
            for one in evidence.get("dialogs", ())
        ),
        sentence(why or ""),
    )


def _steps(played: Sequence[dict[str, Any]], base_url: str) -> tuple[PlayedStep, ...]:
    lengths = [max(0, round(float(one["ended_ms"]) - float(one["started_ms"]))) for one in played]
    longest = max([1, *lengths])
    return tuple(
        PlayedStep(
            str(one["step"]),
            str(one["kind"]),
            cut(str(one["url"] or "").removeprefix(base_url), 120),
            ms,
            max(1, round(20 * ms / longest)),
            cut(str(one["error"] or ""), 300),
            Badge("skipped", "quiet") if one["skipped"] else Badge("failed", "bad") if one["error"] else None,
        )
        for one, ms in zip(played, lengths, strict=True)
    )


def _lines(raw: Sequence[object]) -> tuple[str, ...]:
    return tuple(cut(str(one), 400) for one in raw[:50])
