"""Drift, app bug or surroundings? Rules that need no model, each with its evidence."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from radar.answers import Match
from radar.diff import in_words
from radar.elements import PageSnapshot, fold
from radar.environment import what_is_wrong
from radar.errors import BadPattern, PatternTooSlow
from repair_ladder.checks import meets
from repair_ladder.floor import expectation
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation
from repair_ladder.outcomes import Environment, Outcome, Red
from repair_ladder.rungs import Situation, Verdict
from repair_ladder.rungs.self_heal import find_target
from repair_ladder.steps import Place, Step, show_place

MOST_EVIDENCE: Final = 5


def pre_triage(outcome: Outcome, memory: Memory) -> Outcome:
    """A red run whose page is not the app as it was, but a sign-in page, another language or an error, is Environment.

    Free and first (spec 2.3): no model is asked and no attempt is spent on it.
    """
    if not isinstance(outcome, Red) or outcome.page is None:
        return outcome
    seen = memory.near(outcome.place)
    wrong = what_is_wrong(seen.page, outcome.page) if seen else None
    if wrong is None:
        return outcome
    kind, why = wrong
    return Environment(kind, f"{why} (step {show_place(outcome.place)})", outcome.trace, outcome.place, outcome.page)


def diagnose(situation: Situation) -> Verdict:
    """The verdict on a failure that no rung could mend."""
    red, place = situation.red, situation.place
    evidence = _signals(situation)
    mended = _mended_so_far(situation)
    where = f"step {show_place(place)}" if place else "an inserted step"
    step = situation.step_now(place) if place else None
    if red.cause == "check" and step is not None and place is not None:
        return _failed_check(situation, place, step, evidence, mended)
    if red.cause == "navigation":
        return Verdict("product_defect", f"{mended}{where}: the page does not come up: {red.message}", evidence)
    if red.cause == "test":
        return Verdict("incurable", f"{where}: the test itself is at fault: {red.message}", evidence)
    missing_page = _missing_page(red)
    if missing_page:
        return Verdict("product_defect", f"{mended}{where}: {missing_page}", evidence)
    match = find_target(situation, place) if place else None
    if match is not None and red.cause in ("missing", "many", "hidden"):
        return _lost_element(situation, where, match, evidence, mended)
    if evidence and _is_of_the_app(evidence):
        return Verdict("product_defect", f"{mended}{where}: {red.message}", evidence)
    return Verdict("incurable", f"{mended}{where}: {red.message}; no proven fix was found", evidence)


def _failed_check(situation: Situation, place: Place, step: Step, evidence: tuple[str, ...], mended: str) -> Verdict:
    """The check ran on its element and did not hold: that is what it is there to say (H4, H17)."""
    observed = situation.red.observed or ""
    reason = (
        f"{mended}the check at step {show_place(place)} ran and does not hold: it expects {expectation(step)}, "
        f'the app shows "{_cut(observed)}"'
    )
    wanted = _reworded(place, step, observed)
    if wanted:
        return Verdict(
            "fixable", reason + "; if the new wording is meant, a person changes the check", evidence, (wanted,)
        )
    return Verdict("product_defect", reason, evidence)


def _reworded(place: Place, step: Step, observed: str) -> Operation | None:
    """The change a person would make if only the wording is new: most words are the same, and every number is."""
    if step.kind not in ("assert_text", "assert_title"):
        return None
    for key in ("equals", "contains"):
        expected = step.parameters.get(key)
        if isinstance(expected, str) and _is_rewording(expected, observed):
            new = replace(step, parameters={**step.parameters, key: fold(observed)})
            return Operation("replace", place, new, "the app words it differently now")
    return None


def _is_rewording(expected: str, observed: str) -> bool:
    before, after = _words(expected), _words(observed)
    if len(before) < 3 or _numbers(expected) != _numbers(observed):
        return False
    return len(before & after) / len(before | after) >= 0.5


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", text.casefold()))


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d[\d.,]*", text)


def _lost_element(situation: Situation, where: str, match: Match, evidence: tuple[str, ...], mended: str) -> Verdict:
    page = situation.page
    why = "; ".join(match.reasons[:3])
    told, near = f" ({why})" if why else "", _nearest(page, match)
    if match.verdict == "gone":
        return Verdict(
            "product_defect",
            f"{mended}{where}: its element is gone from the page{told}.{near} Either the app lost it, or it was taken "
            "away on purpose: a person decides",
            evidence,
        )
    shown = _likeliest_fails(situation, match)
    if shown is not None:
        return Verdict(
            "product_defect",
            f"{mended}{where}: its element has another locator now; the likeliest one, {shown}, does not show what the "
            f"check expects{told}",
            evidence,
        )
    if match.verdict == "unsure":
        return Verdict(
            "incurable",
            f"{mended}{where}: {situation.red.message}; what its element became is not sure{told}.{near}",
            evidence,
        )
    if _is_of_the_app(evidence):
        return Verdict("product_defect", f"{mended}{where}: {situation.red.message}", evidence)
    return Verdict("incurable", f"{mended}{where}: {situation.red.message}; no proven fix was found", evidence)


LIKELY: Final = 0.3  # from this probability on the first candidate is worth a look


def _likeliest_fails(situation: Situation, match: Match) -> str | None:
    """For a check of a text: the likeliest element in words, if it is likely enough and does not show what is expected.

    Looking does no harm. What it shows decides between two verdicts, never about a repair: one that would meet the
    check is not taken for the right one on that account.
    """
    place, page = situation.place, situation.page
    step = situation.step_now(place) if place else None
    if match.verdict != "unsure" or step is None or page is None or step.kind != "assert_text" or not match.candidates:
        return None
    first = match.candidates[0]
    text = page.texts[first.element]
    if first.probability < LIKELY or not text:
        return None
    try:
        return None if meets(step.parameters, text) else in_words(page, first.element)
    except (BadPattern, PatternTooSlow):
        return None


def _nearest(page: PageSnapshot | None, match: Match) -> str:
    if page is None or not match.candidates:
        return ""
    first = match.candidates[0]
    return f" Nearest is {in_words(page, first.element)}, which it is not shown to be."


def _missing_page(red: Red) -> str | None:
    page = red.page
    if page is not None and page.status is not None and 400 <= page.status < 500:
        return f"{page.url} answered {page.status}"
    return None


def _mended_so_far(situation: Situation) -> str:
    """The useful half of a repair that did not reach green is told, not written."""
    if not situation.base:
        return ""
    parts = [operation.reason for operation in situation.base if operation.reason]
    places = ", ".join(dict.fromkeys(show_place(operation.place) for operation in situation.base))
    return f"Step {places} could be mended ({'; '.join(parts)[:300]}), but with that "


def _signals(situation: Situation) -> tuple[str, ...]:
    """What the browser said that it had not said when the test was green."""
    said = situation.red.trace.evidence
    lines = [
        *(f"server: {line}" for line in said.bad_answers),
        *(f"script error: {line}" for line in said.page_errors),
        *(f"request: {line}" for line in said.failed_requests if not _is_usual(line)),
        *(f"console: {line}" for line in said.console_errors if not _is_usual(line)),
        *(f'dialog: {one.kind} "{one.message}" was {one.answer}' for one in said.dialogs if not one.expected),
    ]
    return tuple(dict.fromkeys(lines))[:MOST_EVIDENCE]


def _is_usual(line: str) -> bool:
    """A navigation cuts off what still loads, and few apps have an icon: neither says anything."""
    return "net::ERR_ABORTED" in line or "favicon" in line


def _is_of_the_app(evidence: tuple[str, ...]) -> bool:
    return any(line.startswith(("server:", "script error:")) for line in evidence)


def _cut(text: str) -> str:
    text = fold(text)
    return text if len(text) <= 160 else text[:157] + "..."
