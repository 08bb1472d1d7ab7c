"""The model's answer, checked field by field before anyone believes it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from radar.errors import RadarError
from radar.locators import KEYS
from repair_ladder.errors import LadderError
from repair_ladder.operations import Operation, Operations, apply_operations
from repair_ladder.ports import Answered
from repair_ladder.prompts import (
    CHOOSE_ELEMENT,
    CUT,
    DERIVE_BLOCK,
    DIAGNOSE,
    MOST_BLOCK_STEPS,
    MOST_CANDIDATES,
    MOST_OPERATIONS,
    PROPOSE_OPERATIONS,
    VERDICTS,
    Candidate,
    clean,
    cut,
)
from repair_ladder.steps import Place, Step, Steps
from repair_ladder.values import HIDDEN

Verdict: TypeAlias = Literal["rot", "fixable", "product_defect", "environment", "incurable"]
ReadStep: TypeAlias = Callable[[object], Step]  # a step from its JSON in the test format; raises BadTest
# The number of an element of the page, and the place of the step it is for (None: a new step) -> its locator as JSON;
# None where there is no such element, or none that a locator finds.
Refer: TypeAlias = Callable[[int, Place | None], Mapping[str, Any] | None]

LONGEST_REASON: Final = 500
LONGEST_EXPLANATION: Final = 2_000
DEEPEST_PLACE: Final = 10
LOCATORS_INSIDE: Final = ("to", "until", "for")  # parameters of steps that are locators
# Of one new step.
DEEPEST_STEP: Final = 12
MOST_VALUES: Final = 400
LONGEST_VALUE: Final = 2_000
LONGEST_STEP_TEXT: Final = 20_000
LARGEST_NUMBER: Final = 10**9


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer nobody can use; `reason` is one sentence on what is wrong with it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the model takes the failure for. It has operations only where the verdict allows a repair."""

    verdict: Verdict
    explanation: str
    recommendation: str = ""
    operations: Operations = ()


class _Unusable(Exception):
    """Never leaves this module: the readers turn it into Unreadable."""


def read_choice(answered: Answered, candidates: Sequence[Candidate]) -> int | Unreadable | None:
    """The chosen element's index in the page; None where the model says that it is none of them."""
    try:
        arguments = _arguments(answered, CHOOSE_ELEMENT)
        choice = _field(arguments, "choice", "the answer")
        if choice is None:
            return None
        shown = candidates[:MOST_CANDIDATES]
        if not isinstance(choice, int) or isinstance(choice, bool) or not 1 <= choice <= len(shown):
            raise _Unusable(f"'choice' is {_brief(choice)}; a number from 1 to {len(shown)} or null was asked for")
        return shown[choice - 1].index
    except _Unusable as error:
        return Unreadable(_sentence(error))


def nothing_to_refer_to(number: int, place: Place | None) -> None:
    """The Refer of an answer about no page."""


def read_operations(
    answered: Answered, steps: Steps, read_step: ReadStep, refer: Refer = nothing_to_refer_to
) -> Operations | Unreadable:
    """The proposed operations, which all fit `steps`; an empty tuple where the model proposes none.

    Elements that are named by their number on the page get their locators from `refer`.
    One unreadable operation makes the whole answer unreadable: they were thought of together, and the rest of a plan
    is another plan.
    """
    try:
        arguments = _arguments(answered, PROPOSE_OPERATIONS)
        return _operations(_field(arguments, "operations", "the answer"), steps, read_step, refer)
    except _Unusable as error:
        return Unreadable(_sentence(error))


def read_block(
    answered: Answered, kept: Collection[Place], read_step: ReadStep, refer: Refer = nothing_to_refer_to
) -> tuple[Place | Step, ...] | Unreadable:
    """The rest of a block: places of steps that stay, each among `kept` and named once, and new steps; empty for none.

    One unreadable entry makes the whole answer unreadable.
    """
    try:
        arguments = _arguments(answered, DERIVE_BLOCK)
        raw = _parsed(_field(arguments, "steps", "the answer"), "'steps'")
        if not isinstance(raw, list | tuple):
            raise _Unusable(f"'steps' is {_brief(raw)} and not a list")
        if len(raw) > MOST_BLOCK_STEPS:
            raise _Unusable(f"{len(raw)} steps are more than the {MOST_BLOCK_STEPS} that are looked at")
        found = tuple(_entry(one, f"step {number}", kept, read_step, refer) for number, one in enumerate(raw, 1))
        places = [one for one in found if not isinstance(one, Step)]
        if len(set(places)) != len(places):
            raise _Unusable("a step is kept twice")
        return found
    except _Unusable as error:
        return Unreadable(_sentence(error))


def _entry(raw: object, which: str, kept: Collection[Place], read_step: ReadStep, refer: Refer) -> Place | Step:
    if not isinstance(raw, Mapping):
        raise _Unusable(f"{which} is {_brief(raw)} and not an object")
    keep, new = raw.get("keep"), raw.get("new")
    if (keep is None) == (new is None):
        raise _Unusable(f"{which} names either a step that stays or a new one, and not both or neither")
    if keep is None:
        return _step(new, which, read_step, refer, None)
    place = _place(keep, which)
    if place not in kept:
        raise _Unusable(f"{which} keeps step {_brief(keep)}, which is not in the rest of the block")
    return place


def read_diagnosis(
    answered: Answered, steps: Steps, read_step: ReadStep, refer: Refer = nothing_to_refer_to
) -> Diagnosis | Unreadable:
    """A word that is no verdict counts as incurable, never as permission; operations beside any verdict that allows no
    repair are not looked at."""
    try:
        arguments = _arguments(answered, DIAGNOSE)
        word = _field(arguments, "verdict", "the answer")
        verdict = cast(Verdict, word) if isinstance(word, str) and word in VERDICTS else "incurable"
        explanation = _text(arguments, "explanation", "the answer", LONGEST_EXPLANATION)
        if not explanation:
            raise _Unusable("the verdict comes without an explanation")
        advice = _text(arguments, "recommendation", "the answer", LONGEST_REASON, optional=True)
        may_repair = verdict in ("rot", "fixable")
        operations = _operations(arguments.get("operations", ()), steps, read_step, refer) if may_repair else ()
        return Diagnosis(verdict, explanation, advice, operations)
    except _Unusable as error:
        return Unreadable(_sentence(error))


def _arguments(answered: Answered, tool: str) -> Mapping[str, Any]:
    if answered.tool != tool:
        raise _Unusable(f"{_brief(answered.tool)} was called where {tool} was asked for")
    if not isinstance(answered.arguments, Mapping):
        raise _Unusable(f"{tool} was called with something that is no object")
    return answered.arguments


def _operations(raw: object, steps: Steps, read_step: ReadStep, refer: Refer) -> Operations:
    raw = _parsed(raw, "'operations'")
    if not isinstance(raw, list | tuple):
        raise _Unusable(f"'operations' is {_brief(raw)} and not a list")
    if len(raw) > MOST_OPERATIONS:
        raise _Unusable(f"{len(raw)} operations are more than the {MOST_OPERATIONS} that are looked at")
    operations = tuple(_operation(one, f"operation {number}", read_step, refer) for number, one in enumerate(raw, 1))
    try:
        apply_operations(steps, operations)
    except LadderError as error:
        raise _Unusable(f"the operations do not fit the test: {error}") from None
    return operations


def _operation(raw: object, which: str, read_step: ReadStep, refer: Refer) -> Operation:
    if not isinstance(raw, Mapping):
        raise _Unusable(f"{which} is {_brief(raw)} and not an object")
    op = _field(raw, "op", which)
    if op not in ("insert", "replace", "delete"):
        raise _Unusable(f"the 'op' of {which} is {_brief(op)}; insert, replace or delete was asked for")
    place = _place(_field(raw, "step", which), which)
    reason = _text(raw, "reason", which, LONGEST_REASON, optional=True)
    new = raw.get("new")
    if op == "delete":
        if new is not None:
            raise _Unusable(f"{which} deletes a step and yet brings a new one")
        return Operation("delete", place, reason=reason)
    if new is None:
        raise _Unusable(f"{which} brings no new step")
    step = _step(new, which, read_step, refer, place if op == "replace" else None)
    return Operation(cast(Literal["insert", "replace"], op), place, step, reason)


def _step(raw: object, which: str, read_step: ReadStep, refer: Refer, place: Place | None) -> Step:
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        raw = _parsed(raw, f"the new step of {which}")
    _check_size(raw, f"the new step of {which}")
    raw = _with_locators(raw, which, lambda number: refer(number, place))
    try:
        return read_step(raw)
    except (LadderError, RadarError) as error:
        raise _Unusable(f"the new step of {which} is no step: {error}") from None


def _with_locators(raw: object, which: str, refer: Callable[[int], Mapping[str, Any] | None]) -> object:
    """The raw step with locators where it names elements by their number; in blocks too. Its size was checked."""
    if not isinstance(raw, Mapping):
        return raw
    return {kind: _body(value, which, refer) for kind, value in raw.items()}


def _body(value: object, which: str, refer: Callable[[int], Mapping[str, Any] | None]) -> object:
    if not isinstance(value, Mapping):
        return value
    value = _located(value, which, refer)
    inner: dict[str, object] = {
        key: _located(value[key], which, refer) for key in LOCATORS_INSIDE if isinstance(value.get(key), Mapping)
    }
    steps = value.get("steps")
    if isinstance(steps, list | tuple):
        inner["steps"] = [_with_locators(one, which, refer) for one in steps]
    return {**value, **inner}


def _located(
    value: Mapping[str, Any], which: str, refer: Callable[[int], Mapping[str, Any] | None]
) -> Mapping[str, Any]:
    if "ref" not in value:
        return value
    number = value["ref"]
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 7:
        number = int(number)
    if not _is_small_whole(number):
        raise _Unusable(f"the 'ref' of {which} is {_brief(value['ref'])} and not the number of an element")
    both = sorted(key for key in value if key in KEYS)
    if both:
        raise _Unusable(f"{which} names an element by 'ref' and by '{both[0]}' at once")
    locator = refer(number)
    if locator is None:
        raise _Unusable(f"the page shows no element [{number}] that {which} could use")
    return {**locator, **{key: one for key, one in value.items() if key != "ref"}}


def _parsed(raw: object, what: str) -> object:
    """Models sometimes write a list or an object as its JSON text; that is no other answer."""
    if not isinstance(raw, str):
        return raw
    if len(raw) > LONGEST_STEP_TEXT:
        raise _Unusable(f"{what} is a text of {len(raw)} characters")
    try:
        return cast(object, json.loads(raw))
    except (ValueError, RecursionError):
        raise _Unusable(f"{what} is {_brief(raw)} and not JSON") from None


def _check_size(raw: object, what: str) -> None:
    """Not deep, not long, and nothing in it that JSON or a test cannot hold; without recursion, as depth is a risk."""
    left = MOST_VALUES
    waiting: list[tuple[object, int]] = [(raw, 1)]
    while waiting:
        value, depth = waiting.pop()
        left -= 1
        if left < 0 or depth > DEEPEST_STEP:
            raise _Unusable(f"{what} holds more than any step needs")
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) and len(key) <= 100 for key in value):
                raise _Unusable(f"{what} has a key that is no short text")
            waiting += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list | tuple):
            waiting += [(inner, depth + 1) for inner in value]
        else:
            _check_value(value, what)


def _check_value(value: object, what: str) -> None:
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            raise _Unusable(f"{what} holds a text of {len(value)} characters")
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise _Unusable(f"{what} holds characters that no text has")
        if CUT in value or HIDDEN in value:
            raise _Unusable(f"{what} repeats a text that was not shown whole")
    elif isinstance(value, float) and not math.isfinite(value):
        raise _Unusable(f"{what} holds a number that is none")
    elif isinstance(value, int | float) and abs(value) > LARGEST_NUMBER:
        raise _Unusable(f"{what} holds a number that is too large")
    elif value is not None and not isinstance(value, bool | int | float):
        raise _Unusable(f"{what} holds something that is not JSON")


def _place(raw: object, which: str) -> Place:
    """A place from 3, "3" or "8.2". Not from 8.2: as a number 8.10 would be 8.1."""
    parts = raw.split(".") if isinstance(raw, str) else [str(raw)] if _is_small_whole(raw) else []
    if not 1 <= len(parts) <= DEEPEST_PLACE or not all(part.isascii() and part.isdigit() for part in parts):
        raise _Unusable(f"the 'step' of {which} is {_brief(raw)} and not the number of a step")
    if any(len(part) > 6 for part in parts):
        raise _Unusable(f"the 'step' of {which} is larger than any test")
    return tuple(map(int, parts))


def _is_small_whole(raw: object) -> bool:
    return isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= LARGEST_NUMBER


def _field(raw: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in raw:
        raise _Unusable(f"{where} lacks '{name}'")
    return raw[name]


def _text(raw: Mapping[str, Any], name: str, where: str, longest: int, *, optional: bool = False) -> str:
    value = raw.get(name) if optional else _field(raw, name, where)
    if value is None and optional:
        return ""
    if not isinstance(value, str):
        raise _Unusable(f"the '{name}' of {where} is {_brief(value)} and not a text")
    return cut(clean(value[: 4 * longest]), longest)


def _brief(value: object) -> str:
    """A value in a few characters; a large one is named, never written out."""
    if isinstance(value, str):
        return f"'{cut(clean(value[:200]), 40)}'"
    if value is None or isinstance(value, bool) or (isinstance(value, int | float) and abs(value) < LARGEST_NUMBER):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list | tuple) else "something else"


def _sentence(error: _Unusable) -> str:
    text = cut(clean(str(error)[:2_000]), 400)
    return text[:1].upper() + text[1:] + ("" if text.endswith(("…", ".")) else ".")
