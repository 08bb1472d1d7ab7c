"""What every reader of another tool's files shares: steps and remarks as they come up, bounds, addresses, marks.

A mark is how an export keeps what the other tool has no words for: a comment (or what serves as one there) with the
step as data. Reading it back gives the same step; the other tool passes over it, which is why `export` asks first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from radar.elements import fold
from radar.locators import Locator
from radar.locators import write as write_locator
from repair_ladder.errors import BadTest
from repair_ladder.formats import LARGEST_FILE, LONGEST_NAME, Remark, Secret, Variable, WrittenTest
from repair_ladder.step_format import BESIDE, MOST_STEPS, describe, read_step, write_step
from repair_ladder.steps import CONDITIONS, Place, Step, Steps, show_place
from repair_ladder.values import PLACEHOLDER, fill_in, names_used

MARK: Final = "drift-gardener:"
LONGEST_QUOTE: Final = 100  # characters of a file that a remark quotes
LONGEST_REMARK: Final = 600
MOST_REMARKS: Final = 5000  # of one test: each is one line that somebody has to read
MOST_NOTES: Final = 200  # of these, what the test neither does nor checks
NAME: Final = re.compile(r"[A-Za-z_]\w*\Z")
FLAGS: Final = re.compile(r"\(\?[ims]{1,3}\)")


def check_text(text: str, where: str) -> None:
    """Raises BadTest for what no tester's file is."""
    if len(text) > LARGEST_FILE:
        raise BadTest(f"{where}: larger than {LARGEST_FILE // 1_000_000} MB; a test file is text written by people")
    if "\x00" in text:
        raise BadTest(f"{where}: holds null bytes; this is not a text file")
    if not text.strip():
        raise BadTest(f"{where}: empty; expected a test")


def quote(text: object, longest: int = LONGEST_QUOTE) -> str:
    """A piece of a file on one line, short, and without what steers a terminal."""
    line = " ".join(str(text)[: 10 * longest].split())
    line = "".join(char if char.isprintable() else "?" for char in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


class Unsayable(Exception):
    """A part of a file that no step can say; the message is the remark."""


class TooMuch(BadTest):
    """A test beyond all bounds: the file is refused, not this part of it."""


class Gatherer:
    """Takes the parts of one test in their order; whatever does not become a step becomes a remark."""

    def __init__(self) -> None:
        self._open: list[list[Step]] = [[]]
        self.remarks: list[Remark] = []
        self.variables: dict[str, Variable] = {}
        self.parts = 0
        self.line = 1  # of the part being read
        self.notes = 0

    @property
    def steps(self) -> list[Step]:
        return self._open[-1]

    @contextmanager
    def part(self, line: int) -> Iterator[None]:
        """One part of the file: what cannot be said of it is noted with its line."""
        self.parts += 1
        before, self.line = self.line, line
        try:
            yield
        except Unsayable as error:
            self.missing(str(error))
        except TooMuch as error:
            raise TooMuch(f"line {line}: {error}") from None
        except BadTest as error:
            self.missing(f"cannot be a step: {error}")
        finally:
            self.line = before

    def step(self, raw: Mapping[str, Any]) -> None:
        """A step from its mapping; raises BadTest."""
        self.add(read_step(raw))

    def add(self, *steps: Step) -> None:
        for step in steps:
            if sum(map(len, self._open)) >= MOST_STEPS:
                raise TooMuch(f"a test has at most {MOST_STEPS} steps")
            self.steps.append(step)

    def missing(self, what: str) -> None:
        self._remark(what, True)

    def note(self, what: str) -> None:
        """Something is left out that the test neither does nor checks."""
        self._remark(what, False)

    def _remark(self, what: str, is_missing: bool) -> None:
        if is_missing and len(self.remarks) >= MOST_REMARKS:
            raise TooMuch(f"more than {MOST_REMARKS} lines of one test cannot be said in steps")
        self.notes += not is_missing
        if is_missing or self.notes <= MOST_NOTES:
            self.remarks.append(Remark(self.line, quote(what, LONGEST_REMARK), is_missing, len(self._open[0])))

    @contextmanager
    def block(self, kind: str, goal: str) -> Iterator[None]:
        self._open.append([])
        try:
            yield
        finally:
            inner = tuple(self._open.pop())
            if inner:
                self.add(Step(kind, None, {"goal": goal}, inner))

    def finish(self, name: str, *, line: int = 1, **more: Any) -> WrittenTest:
        steps = tuple(self._open[0])
        if self.notes > MOST_NOTES:
            self.remarks.append(Remark(line, f"{self.notes - MOST_NOTES} more such lines", False, len(steps)))
        known = set(self.variables) | set(_set_in(steps))
        for unknown in sorted(names_used(steps) - known):
            self.line = line
            self.missing(f"the variable '{unknown}' is used, and nothing gives it a value")
        return WrittenTest(
            name,
            steps,
            variables=dict(self.variables),
            remarks=tuple(self.remarks),
            parts=self.parts,
            line=line,
            **more,
        )


def _set_in(steps: Steps) -> Iterator[str]:
    for step in steps:
        if "into" in step.parameters:
            yield str(step.parameters["into"])
        yield from _set_in(step.steps)


def name_of(raw: object, where: str) -> str:
    """The name of a test from what a file calls it, on one line. Raises BadTest where that is none."""
    name = " ".join(str(raw).split()) if isinstance(raw, str | int) and not isinstance(raw, bool) else ""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadTest(f"{where}: the name of a test is one line of at most {LONGEST_NAME} characters")
    return name


def unique(tests: tuple[WrittenTest, ...]) -> tuple[WrittenTest, ...]:
    """The name identifies a test: those that share one are told apart by a number."""
    seen: dict[str, int] = {}
    told: list[WrittenTest] = []
    for test in tests:
        seen[test.name] = number = seen.get(test.name, 0) + 1
        if number > 1:
            name = f"{test.name[: LONGEST_NAME - 8]} ({number})"
            what = f"a second test named '{quote(test.name)}' is called '{quote(name)}'"
            test = replace(test, name=name, remarks=(*test.remarks, Remark(test.line, what, False)))
        told.append(test)
    return tuple(told)


# --- texts and addresses -------------------------------------------------------------------------------------


def literal(text: str) -> str:
    """A text that means itself; raises Unsayable where ours would be read as a variable."""
    found = PLACEHOLDER.search(text)
    if found:
        raise Unsayable(f"the text {quote(found.group())} would be read as a variable")
    return text


def chosen_file(value: str) -> str | None:
    """The name of the file that was chosen in a field for files: browsers tell recorders nothing more of it."""
    name = value.removeprefix("C:\\fakepath\\")
    return name if name != value and name.strip() and not re.search(r"[/\\]|\A\.+\Z", name) else None


def relative(url: str, *bases: str | None) -> str:
    """An address without the base URL it begins with."""
    for base in bases:
        if base:
            stem = base.rstrip("/")
            if url == stem or url == stem + "/":
                return "/"
            if url.startswith((stem + "/", stem + "?", stem + "#")):
                rest = url[len(stem) :]
                return rest if rest.startswith("/") else "/" + rest
    return url


def leads_elsewhere(url: str) -> bool:
    return bool(urlsplit(url).scheme)


def not_matching(pattern: str) -> str:
    """A regular expression that matches the texts this one does not."""
    flags = FLAGS.match(pattern)
    head = flags.group() if flags else ""
    return rf"{head}\A(?![\s\S]*(?:{pattern[len(head) :]}))"


def unnegated(pattern: str) -> str | None:
    """What `not_matching` was given; None for any other pattern."""
    flags = FLAGS.match(pattern)
    before = flags.group() if flags else ""
    head, tail, rest = r"\A(?![\s\S]*(?:", "))", pattern[len(before) :]
    return before + rest[len(head) : -len(tail)] if rest.startswith(head) and rest.endswith(tail) else None


def not_equal(text: str, *, folded: bool = False) -> str:
    """A regular expression that matches every text but this one.

    Texts of elements and titles are looked at with white space `folded`: a text with two blanks would never be there,
    and a check that it is not could not fail.
    """
    return not_matching(rf"\A{re.escape(fold(text) if folded else text)}\Z")


def unequal(pattern: str) -> str | None:
    """What `not_equal` was given; None for any other pattern."""
    inner = unnegated(pattern)
    if inner is None or not (inner.startswith(r"\A") and inner.endswith(r"\Z")):
        return None
    text = re.sub(r"\\(.)", r"\1", inner[2:-2], flags=re.DOTALL)
    return text if not_equal(text) == pattern else None


def condition_of(step: Step) -> tuple[str, Any] | None:
    """The one condition of a check; None if it has several or none."""
    given = [(key, step.parameters[key]) for key in CONDITIONS if key in step.parameters]
    return given[0] if len(given) == 1 else None


# --- marks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """What an export keeps beside the other tool's own words: a whole step, or what a step carries beside its kind."""

    step: Step | None = None
    beside: Mapping[str, Any] | None = None
    variables: Mapping[str, Variable] | None = None


def write_variables(variables: Mapping[str, Variable]) -> str | None:
    """The mark for the test's variables; None without any."""
    if not variables:
        return None
    raw = {name: {"secret": one.name} if isinstance(one, Secret) else one for name, one in variables.items()}
    return f"{MARK} {json.dumps({'variables': raw}, ensure_ascii=False)}"


def _read_variables(raw: object) -> dict[str, Variable] | None:
    """None where they are not what `write_variables` writes."""
    if not isinstance(raw, dict):
        return None
    variables: dict[str, Variable] = {}
    for name, one in raw.items():
        if isinstance(one, dict) and set(one) == {"secret"} and isinstance(one["secret"], str):
            one = Secret(one["secret"]) if NAME.match(one["secret"]) else None
        if not NAME.match(name) or isinstance(one, bool) or not isinstance(one, str | int | float | Secret):
            return None
        variables[name] = one
    return variables


def write_mark(step: Step) -> str:
    return f"{MARK} {json.dumps({'step': write_step(step)}, ensure_ascii=False)}"


def write_beside(step: Step, alternatives: Sequence[Locator] = ()) -> str | None:
    """The mark for `id`, `note` and the like, and for `alternatives`; None where the step has none of them."""
    beside = {key: value for key, value in write_step(step).items() if key in BESIDE}
    if alternatives:
        beside["alternatives"] = [write_locator(one) for one in alternatives]
    return f"{MARK} {json.dumps({'beside': beside}, ensure_ascii=False)}" if beside else None


def read_mark(text: str) -> Mark | None:
    """None for any other text; raises BadTest for a mark that somebody broke."""
    head, found, rest = text.partition(MARK)
    if not found or head.strip():
        return None
    try:
        raw = json.loads(rest)
    except (ValueError, RecursionError):
        raise BadTest(f"the mark '{quote(text)}' cannot be read any more") from None
    if isinstance(raw, dict) and set(raw) == {"step"}:
        return Mark(read_step(raw["step"]))
    if isinstance(raw, dict) and set(raw) == {"beside"} and isinstance(raw["beside"], dict):
        if not set(raw["beside"]) <= {*BESIDE, "alternatives"}:
            raise BadTest(f"the mark '{quote(text)}' cannot be read any more")
        return Mark(beside=raw["beside"])
    if isinstance(raw, dict) and set(raw) == {"variables"}:
        variables = _read_variables(raw["variables"])
        if variables is not None:
            return Mark(variables=variables)
    raise BadTest(f"the mark '{quote(text)}' cannot be read any more")


def beside_step(step: Step, beside: Mapping[str, Any] | None) -> Step:
    """The step with what a mark says it carries; checked as in our own format."""
    if not beside:
        return step
    raw = write_step(step) | {key: value for key, value in beside.items() if key in BESIDE}
    if "alternatives" in beside and step.locator is not None:
        raw[step.kind] = dict(raw[step.kind]) | {"alternatives": beside["alternatives"]}
    return read_step(raw)


def inlined(test: WrittenTest) -> WrittenTest:
    """The test with plain values where their variables stood; left are secrets, and what a step gives a value."""
    known = {
        name: str(value)
        for name, value in test.variables.items()
        if not isinstance(value, Secret) and not PLACEHOLDER.search(str(value))
    }
    for name in (*names_used(test.steps), *_set_in(test.steps)):
        if name not in known or name in set(_set_in(test.steps)):
            known[name] = f"${{{name}}}"
    steps = _filled(test.steps, known)
    used = names_used(steps)
    return replace(test, steps=steps, variables={k: v for k, v in test.variables.items() if k in used})


def _filled(steps: Steps, values: Mapping[str, str]) -> Steps:
    return tuple(replace(fill_in(step, values), steps=_filled(step.steps, values)) for step in steps)


# --- what is not there, in a draft -------------------------------------------------------------------------------


def with_notes(test: WrittenTest) -> WrittenTest:
    """The test as a draft whose steps' notes say what is missing there, and before which step."""
    steps = list(test.steps)
    last = len(steps) - 1
    for one in test.missing:
        at = min(one.before, last)
        told = f"{'MISSING after this' if one.before > last else 'MISSING before this'}, line {one.line}: {one.what}"
        kept = steps[at].note
        steps[at] = replace(steps[at], note=f"{kept}; {told}" if kept else told)
    return replace(test, steps=tuple(steps), status="draft")


def lost_line(place: Place, step: Step, tool: str) -> str:
    return f"step {show_place(place)}: {tool} has no words for '{quote(describe(step))}'"
