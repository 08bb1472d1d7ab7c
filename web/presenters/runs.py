"""A run -> its page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gardener.runs import Run, RunStatus
from gardener.saved_tests import SavedTest, may_tend
from radar.elements import INLINE, PageSnapshot
from web.presenters import words
from web.presenters.queue import sentence
from web.presenters.words import Badge, cut

MOST_STEPS: Final = 500
EVIDENCE: Final = {
    "page_errors": "Errors of the page's scripts",
    "console_errors": "Errors on the console",
    "failed_requests": "Requests that failed",
    "bad_answers": "Answers of 4xx and 5xx",
    "downloads": "Files that the app gave",
    "audits": "What accessibility audits found",
}
MOST_TEXT: Final = 400  # lines of the text of a page


@dataclass(frozen=True, slots=True)
class PlayedStep:
    place: str
    kind: str
    url: str
    ms: int
    share: int  # of the longest step, in twentieths
    error: str
    badge: Badge | None
    picture: int  # the number of the step in the order of play, under which its picture is served; 0 without one
    shots: tuple[tuple[str, str], ...]  # pictures that the step itself asked for: name and address


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
    is_filmed: bool  # is there a picture of any step?
    lost: str  # what was kept of the run once, and is not there any more
    trace: str  # the name of its file; "" without one
    text: tuple[str, ...]
    more_text: int  # lines that are not shown
    steps: tuple[PlayedStep, ...]
    evidence: tuple[tuple[str, tuple[str, ...]], ...]
    dialogs: tuple[str, ...]
    left_alone: str  # why it is not repaired by hand; "" if it may be


def files_of(run: Run) -> tuple[str, ...]:
    """Every file that the run names, by its path below the data folder."""
    pictures = [str(one["picture"]) for one in run.steps if one.get("picture")]
    pictures += [path for one in run.steps for _, path in shots_of(one) if path]
    trace = (run.evidence or {}).get("trace")
    return (*pictures, *([trace] if isinstance(trace, str) else []), *([run.picture] if run.picture else []))


def shots_of(step: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """The pictures that a step of a run asked for: their names, and their paths if they could be kept."""
    return tuple((str(one["name"]), one["path"]) for one in step.get("screenshots", ()))


def page(
    run: Run,
    test: SavedTest | None,
    *,
    base_url: str = "",
    kept: Collection[str] = (),
    seen: PageSnapshot | None = None,
) -> RunPage:
    """`kept`: those of `files_of` that are still there; `seen`: the page at the failure, or the last of a green run."""
    evidence: dict[str, Any] = dict(run.evidence or {})
    text = text_of(seen) if seen else ()
    has_trace = evidence.get("trace") in kept
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
        run.picture in kept,
        run.page_key is not None,
        any(one.get("picture") in kept for one in run.steps),
        _lost(run, kept),
        f"run-{run.id}-trace.zip" if has_trace else "",
        text[:MOST_TEXT],
        max(0, len(text) - MOST_TEXT),
        _steps(run, base_url, kept),
        tuple((title, _lines(evidence[key])) for key, title in EVIDENCE.items() if evidence.get(key)),
        tuple(
            cut(f"{one['kind']} at step {one['step']}: “{one['message']}”, {one['answer']}", 300)
            for one in evidence.get("dialogs", ())
        ),
        sentence(why or ""),
    )


def text_of(page: PageSnapshot) -> tuple[str, ...]:
    """What a person reads on the page, a line a block."""
    has_blocks = [False] * len(page.elements)  # with a text of their own, somewhere below
    for one in reversed(page.elements):
        if one.parent >= 0 and page.texts[one.index] and (one.tag not in INLINE or has_blocks[one.index]):
            has_blocks[one.parent] = True
    lines: list[str] = []
    inside = -1  # of a block that stands in the lines whole
    for one in page.elements:
        if not one.rendered or one.tag in INLINE or (inside >= 0 and page.is_inside(one.index, inside)):
            continue
        if page.texts[one.index] and not has_blocks[one.index]:
            inside = one.index
            lines.append(cut(page.texts[one.index], 1000))
        elif one.own_text:
            lines.append(cut(one.own_text, 1000))
    return tuple(lines)


def _lost(run: Run, kept: Collection[str]) -> str:
    gone = [path for path in files_of(run) if path not in kept]
    words_ = [
        word
        for word, is_gone in (
            ("pictures", any(path.endswith((".jpg", ".png")) for path in gone)),
            ("trace", any(path.endswith(".zip") for path in gone)),
        )
        if is_gone
    ]
    return " and ".join(words_)


def _steps(run: Run, base_url: str, kept: Collection[str]) -> tuple[PlayedStep, ...]:
    played: Sequence[dict[str, Any]] = run.steps[:MOST_STEPS]
    lengths = [max(0, round(float(one["ended_ms"]) - float(one["started_ms"]))) for one in played]
    longest = max([1, *lengths])
    return tuple(
        PlayedStep(
            str(one["step"]),
            str(one["kind"]),
            cut(str(one["url"] or "").removeprefix(base_url).removeprefix("about:blank"), 120),
            ms,
            max(1, round(20 * ms / longest)),
            cut(str(one["error"] or ""), 300),
            Badge("skipped", "quiet") if one["skipped"] else Badge("failed", "bad") if one["error"] else None,
            number if one.get("picture") in kept else 0,
            tuple(
                (cut(name, 60) or "screenshot", f"/runs/{run.id}/steps/{number}/screenshots/{count}")
                for count, (name, path) in enumerate(shots_of(one), 1)
                if path in kept
            ),
        )
        for number, (one, ms) in enumerate(zip(played, lengths, strict=True), 1)
    )


def _lines(raw: Sequence[object]) -> tuple[str, ...]:
    return tuple(cut(str(one), 400) for one in raw[:50])
