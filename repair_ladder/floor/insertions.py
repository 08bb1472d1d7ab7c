"""Why a new step may not stand where a repair would put it."""

from __future__ import annotations

from collections.abc import Iterable

from repair_ladder.floor.case import Case
from repair_ladder.floor.expected import gives_away
from repair_ladder.floor.kinds import DOING, NEUTRAL, QUIET, STEERING
from repair_ladder.floor.locators import shares
from repair_ladder.floor.reach import against_reach
from repair_ladder.floor.variables import names_given, names_read, pairs
from repair_ladder.floor.wording import expectation, one_line
from repair_ladder.steps import BLOCKS, KINDS, Place, Step, Steps, walk


def malformed(step: Step) -> str | None:
    if step.kind not in KINDS:
        return f"“{one_line(step.kind)}” is no kind of step."
    if step.steps and step.kind not in BLOCKS:
        return f"steps inside a {step.kind} are never run."
    if step.optional and step.asserts_outcome:
        return "a check is never optional, or it checks nothing."
    return None


def against_insertion(case: Case, place: Place, new: Step, spot: str, old: Step | None = None) -> str | None:
    """Why a new step may not stand there. A check may: it can only make the test stricter."""
    what = f"putting “{expectation(new)}” {spot}"
    if broken := malformed(new):
        return f"{what}: {broken}"
    if new.kind in BLOCKS or new.kind == "use":
        return f"{what}. Only a person adds blocks and fragments."
    if new.never_repair:
        return f"{what}, marked “never repair”. Only a person sets that mark."
    if reached := against_reach(case, new, old):
        return f"{what}: {reached}"
    if new.asserts_outcome:
        return None
    if new.kind in STEERING or (new.kind == "tab" and new.parameters.get("close")):
        return f"{what}. It leads round the app's own controls, so the checks after it would not verify them."
    if new.kind in ("set", "extract") and str(new.parameters.get("into")) in _taken(case):
        return f"{what}. The test already has or reads the variable {one_line(new.parameters.get('into'))}."
    if new.kind == "upload" and not _list(new.parameters.get("files")) <= _files(case.steps):
        return f"{what}. The test has no such file."
    if new.kind == "dialog" and _takes_an_answer(case, place):
        return f"{what}. It would take the answer of the dialog step beside it."
    for check in case.checks_after(place):
        if forces(new, check):
            return f"{what}. It would by itself make the check “{expectation(check)}” hold."
    return None


def forces(step: Step, check: Step) -> bool:
    if step.kind in DOING and shares(step, check):
        return True
    if step.kind not in ("fill", "type", "select", "set", "dialog"):
        return False
    return any(gives_away(text, check) for key, text in pairs(step.parameters) if key != "into")


def _takes_an_answer(case: Case, place: Place) -> bool:
    """Is there a dialog step before or after it with nothing between that could bring up a dialog?"""
    behind = [step for _, step in case.after(place)]
    ahead = [step for at, step in walk(case.steps) if at[: len(place)] <= place]
    return any(_meets_dialog(steps) for steps in (behind, reversed(ahead)))


def _meets_dialog(steps: Iterable[Step]) -> bool:
    for step in steps:
        if step.kind == "dialog":
            return True
        if step.kind not in QUIET | NEUTRAL and not step.asserts_outcome:
            return False
    return False


def _taken(case: Case) -> frozenset[str]:
    return case.variables | case.secrets | names_read(list(walk(case.steps))) | names_given(case.steps)


def _files(steps: Steps) -> frozenset[str]:
    return frozenset().union(*(_list(step.parameters.get("files")) for _, step in walk(steps)), frozenset())


def _list(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list | tuple) else frozenset()
