"""Steps as plain data (what JSON and YAML can hold), both ways; the only place that knows that shape.

A step is a mapping with one key that names its kind; the value holds the locator keys and the parameters side by side,
or is the one main parameter alone. Writing is canonical: the same step always gives the same data in the same order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from radar import locators, patterns
from radar.errors import BadLocator, BadPattern
from radar.locators import KEYS, Locator
from repair_ladder.checks import IMPACTS
from repair_ladder.errors import BadTest
from repair_ladder.operations import Operation, old_step
from repair_ladder.steps import (
    BLOCKS,
    CONDITIONS,
    KINDS,
    LOCATOR_OPTIONAL,
    OF_THE_PAGE,
    WITHOUT_LOCATOR,
    Place,
    Step,
    Steps,
    read_place,
    show_place,
)

BESIDE: Final = ("id", "note", "never_repair", "timeout_ms", "optional")
MOST_STEPS: Final = 5000
DEEPEST: Final = 8
LONGEST_VALUE: Final = 100_000
LONGEST_WAIT_MS: Final = 3_600_000

DECIMAL: Final = re.compile(r"-?\d{1,15}\.\d{1,15}\Z", re.ASCII)
# The parameter that may stand alone as the step's value.
MAIN: Final = {"goto": "url", "press": "key", "dialog": "answer", "wait": "ms", "screenshot": "as", "use": "fragment"}


# --- what a parameter may hold -------------------------------------------------------------------------

Reader = Callable[[str, object], Any]


def _text(key: str, value: object) -> Any:
    # Numbers stay numbers: what the author wrote goes out again as it came in.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        hint = "; put it in quotes" if isinstance(value, bool) else ""
        raise BadTest(f"'{key}' is a text, got {_short(value)}{hint}")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadTest(f"'{key}' is a text, got {_short(value)}; put it in quotes")
    if len(str(value)) > LONGEST_VALUE:
        raise BadTest(f"'{key}' is longer than {LONGEST_VALUE} characters")
    return value


def _whole(key: str, value: object, *, least: int = 0, most: int = 1_000_000) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadTest(f"'{key}' is a whole number from {least} to {most}, got {_short(value)}")
    return value


def _milliseconds(key: str, value: object) -> int:
    return _whole(key, value, most=LONGEST_WAIT_MS)


def _number(key: str, value: object) -> Any:
    if isinstance(value, str) and DECIMAL.match(value):
        value = float(value)  # our YAML leaves decimals as the texts they were typed as
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadTest(f"'{key}' is a number, got {_short(value)}")
    return value


def _pixels(key: str, value: object) -> int:
    return _whole(key, value, least=-1_000_000)


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadTest(f"'{key}' is true or false, got {_short(value)}")
    return value


def _locator(key: str, value: object) -> Locator:
    try:
        return locators.read(value)
    except BadLocator as error:
        raise BadTest(f"'{key}': {error}") from None


def _texts(key: str, value: object) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise BadTest(f"'{key}' is a list of texts, got {_short(value)}")
    return list(value)


def _place(key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or set(value) != {"x", "y"}:
        raise BadTest(f"'{key}' is {{x: …, y: …}}, got {_short(value)}")
    return {axis: _number(axis, value[axis]) for axis in ("x", "y")}


def _values(key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BadTest(f"'{key}' is a mapping of names to texts, got {_short(value)}")
    return {str(name): _text(str(name), text) for name, text in value.items()}


def _condition(key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise BadTest(f"'{key}' is a condition such as {{contains: /orders}}, got {_short(value)}")
    unknown = [str(one) for one in value if one not in CONDITIONS]
    if unknown:
        raise BadTest(f"'{unknown[0]}' is not a condition; known are {', '.join(CONDITIONS)}")
    return {one: CONDITION[one](one, value[one]) for one in CONDITIONS if one in value}


def _tab(key: str, value: object) -> Any:
    return _condition(key, value) if isinstance(value, Mapping) else _text(key, value)


def _threshold(key: str, value: object) -> Any:
    if isinstance(value, Mapping) and value and all(one in IMPACTS for one in value):
        return {one: _whole(one, value[one]) for one in IMPACTS if one in value}
    if (isinstance(value, str) and value in IMPACTS) or (isinstance(value, int) and not isinstance(value, bool)):
        return value if isinstance(value, str) else _whole(key, value)
    raise BadTest(f"'{key}' is a number, one of {', '.join(IMPACTS)}, or {{serious: 0}}, got {_short(value)}")


def _any(key: str, value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _any(key, inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_any(key, inner) for inner in value]
    return value if value is None or isinstance(value, bool) else _text(key, value)


def _choice(*words: str) -> Reader:
    def read(key: str, value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise BadTest(f"'{key}' is {', '.join(words[:-1])} or {words[-1]}, got {_short(value)}")
        return value

    return read


def _pattern(key: str, value: object) -> Any:
    text = _text(key, value)
    try:
        patterns.read(str(text))
    except BadPattern as error:
        raise BadTest(f"'{key}': {error}") from None
    return text


CONDITION: Final[dict[str, Reader]] = {
    "equals": _text,
    "contains": _text,
    "matches": _pattern,
    "not_contains": _text,
    "at_least": _number,
    "at_most": _number,
}
CLICK: Final[dict[str, Reader]] = {
    "button": _choice("left", "right", "middle"),
    "modifiers": _texts,
    "position": _place,
}
# Every kind with its parameters, in the order in which they are written.
PARAMETERS: Final[dict[str, dict[str, Reader]]] = {
    "goto": {"url": _text},
    "back": {},
    "reload": {},
    **dict.fromkeys(("click", "dblclick", "hover", "check", "uncheck"), CLICK),
    "fill": {"value": _text},
    "type": {"value": _text},
    "press": {"key": _text},
    "select": {"option": _text, "value": _text, "index": _whole},
    "upload": {"files": _texts},
    "drag": {"to": _locator},
    "scroll": {"until": _locator, "by": _pixels},
    "dialog": {"answer": _choice("accept", "dismiss"), "text": _text},
    "tab": {"switch": _tab, "close": _flag},
    "wait": {
        "for": _locator,
        "state": _choice("visible", "hidden", "enabled"),
        "ms": _milliseconds,
        "url": _condition,
    },
    "extract": {"into": _text, "what": _text},
    "set": {"into": _text, "value": _text},
    "screenshot": {"as": _text},
    "use": {"fragment": _text, "values": _values},
    "intent": {"goal": _text, "values": _values},
    "group": {"goal": _text, "values": _values},
    "assert_variable": {"variable": _text, **CONDITION},
    "assert_attribute": {"attribute": _text, **CONDITION},
    **dict.fromkeys(
        ("assert_url", "assert_title", "assert_text", "assert_value", "assert_count"),
        CONDITION,
    ),
    **dict.fromkeys(("assert_toast", "assert_modal", "assert_validation_error"), CONDITION),
    "assert_visible": {},
    "assert_hidden": {},
    "assert_enabled": {},
    "assert_disabled": {},
    "assert_checked": {},
    "assert_console": {
        "level": _choice("error", "warning", "info", "log", "debug"),
        "none": _flag,
        "pattern": _pattern,
        **CONDITION,
    },
    "assert_request": {"method": _text, "url": _text, "status": _whole, "body": _any},
    "a11y_audit": {"rules": _texts, "threshold": _threshold},
}
NEEDS: Final = {
    "goto": ("url",),
    "fill": ("value",),
    "type": ("value",),
    "press": ("key",),
    "upload": ("files",),
    "drag": ("to",),
    "dialog": ("answer",),
    "extract": ("into",),
    "set": ("into", "value"),
    "use": ("fragment",),
    "assert_variable": ("variable",),
    "assert_attribute": ("attribute",),
}
# Of these parameters exactly one.
ONE_OF: Final = {
    "select": ("option", "value", "index"),
    "scroll": ("until", "by"),
    "wait": ("for", "ms", "url"),
    "tab": ("switch", "close"),
}
NEEDS_CONDITION: Final = frozenset(
    {"assert_url", "assert_title", "assert_text", "assert_value", "assert_variable", "assert_attribute", "assert_count"}
)


# --- reading -------------------------------------------------------------------------------------------


def read_steps(raw: object, *, before: Place = (), budget: list[int] | None = None) -> Steps:
    """Steps from a list. Raises BadTest, whose `place` says which step is wrong."""
    if not isinstance(raw, list):
        raise BadTest(f"'steps' is a list of steps, got {_short(raw)}")
    left = budget if budget is not None else [MOST_STEPS]
    steps = []
    for number, one in enumerate(raw, 1):
        left[0] -= 1
        if left[0] < 0:
            raise BadTest(f"a test has at most {MOST_STEPS} steps")
        steps.append(read_step(one, place=(*before, number), budget=left))
    return tuple(steps)


def read_step(raw: object, *, place: Place = (), budget: list[int] | None = None) -> Step:
    """One step from its mapping. Raises BadTest with `place` where it is known."""
    try:
        return _read_step(raw, place, budget)
    except BadTest as error:
        if place and not error.place:
            error.place = place
        raise


def _read_step(raw: object, place: Place, budget: list[int] | None) -> Step:
    if isinstance(raw, str) and raw in PARAMETERS and not NEEDS.get(raw):
        raw = {raw: None}
    if not isinstance(raw, Mapping):
        raise BadTest(f"a step is a mapping such as {{click: {{css: '#save'}}}}, got {_short(raw)}")
    kinds = [key for key in raw if key not in BESIDE]
    if len(kinds) != 1:
        named = ", ".join(map(str, kinds)) or "none"
        raise BadTest(f"a step has one key that names its kind, got {named}")
    kind = kinds[0]
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadTest(f"{_short(kind)} is not a kind of step; known are {', '.join(KINDS)}")
    value = raw[kind]
    if value is None:
        value = {}
    elif not isinstance(value, Mapping):
        if kind not in MAIN:
            raise BadTest(f"'{kind}' takes a mapping of its locator and parameters, got {_short(value)}")
        value = {MAIN[kind]: value}
    inside = {key: value[key] for key in BESIDE if key in value}
    beside = {key: raw[key] for key in BESIDE if key in raw} | inside
    value = {key: one for key, one in value.items() if key not in BESIDE}
    if kind in BLOCKS:
        return _read_block(kind, value, beside, place, budget)
    locator, value = _split_locator(kind, value)
    parameters = _read_parameters(kind, value)
    step = Step(kind, locator, parameters, **_read_beside(beside))
    _check_whole(step)
    return step


def _read_block(
    kind: str, value: Mapping[Any, Any], beside: Mapping[str, Any], place: Place, budget: list[int] | None
) -> Step:
    if len(place) >= DEEPEST:
        raise BadTest(f"blocks stand more than {DEEPEST} deep in one another")
    value = dict(value)
    inner = value.pop("steps", None)
    if inner is None:
        raise BadTest(f"'{kind}' needs 'steps'")
    if kind == "intent" and "goal" not in value:
        raise BadTest("'intent' needs a 'goal'")
    parameters = _read_parameters(kind, value)
    return Step(kind, None, parameters, read_steps(inner, before=place, budget=budget), **_read_beside(beside))


def _split_locator(kind: str, value: Mapping[Any, Any]) -> tuple[Locator | None, dict[Any, Any]]:
    if kind in WITHOUT_LOCATOR:
        return None, dict(value)
    spot = {key: value[key] for key in value if key in KEYS}
    rest = {key: one for key, one in value.items() if key not in KEYS}
    if not spot:
        if kind in LOCATOR_OPTIONAL:
            return None, rest
        raise BadTest(f"'{kind}' needs a locator: one of {', '.join(locators.FINDERS)}")
    try:
        return locators.read(spot), rest
    except BadLocator as error:
        raise BadTest(str(error)) from None


def _read_parameters(kind: str, value: Mapping[Any, Any]) -> dict[str, Any]:
    known = PARAMETERS[kind]
    unknown = [str(key) for key in value if key not in known]
    if unknown:
        takes = ", ".join(known) or "no parameters"
        raise BadTest(f"'{unknown[0]}' is not a parameter of '{kind}', which takes {takes}")
    return {key: read(key, value[key]) for key, read in known.items() if key in value}


def _read_beside(beside: Mapping[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key in ("id", "note"):
        if beside.get(key) is not None:
            read[key] = str(_text(key, beside[key]))
    for key in ("never_repair", "optional"):
        if key in beside:
            read[key] = _flag(key, beside[key])
    if beside.get("timeout_ms") is not None:
        read["timeout_ms"] = _milliseconds("timeout_ms", beside["timeout_ms"])
    return read


def _check_whole(step: Step) -> None:
    kind, given = step.kind, step.parameters
    for key in NEEDS.get(kind, ()):
        if key not in given:
            raise BadTest(f"'{kind}' needs '{key}'")
    if kind in ONE_OF and sum(key in given for key in ONE_OF[kind]) != 1:
        raise BadTest(f"'{kind}' takes exactly one of {', '.join(ONE_OF[kind])}")
    if kind in NEEDS_CONDITION and not any(key in given for key in CONDITIONS):
        raise BadTest(f"'{kind}' needs a condition: one of {', '.join(CONDITIONS)}")
    if "state" in given and "for" not in given:
        raise BadTest("'state' goes with 'for'")
    if kind == "extract" and step.locator is None and given.get("what") not in OF_THE_PAGE:
        raise BadTest(f"'extract' needs a locator, or 'what': one of {', '.join(OF_THE_PAGE)}")
    if kind == "assert_console" and not given.keys() - {"level"}:
        raise BadTest("'assert_console' needs 'none: true', 'pattern' or a condition")
    if kind == "assert_request" and not given:
        raise BadTest("'assert_request' needs at least one of method, url, status, body")
    if step.optional and step.asserts_outcome:
        raise BadTest(f"'optional' does not go with '{kind}': an outcome assertion always counts")


# --- writing -------------------------------------------------------------------------------------------


def write_steps(steps: Steps) -> list[dict[str, Any]]:
    return [write_step(step) for step in steps]


def write_step(step: Step) -> dict[str, Any]:
    """The mapping that `read_step` takes, canonical."""
    value: Any = dict(locators.write(step.locator)) if step.locator else {}
    for key in PARAMETERS[step.kind]:
        if key in step.parameters:
            one = step.parameters[key]
            value[key] = locators.write(one) if isinstance(one, Locator) else one
    if step.kind in BLOCKS:
        value["steps"] = write_steps(step.steps)
    main = MAIN.get(step.kind)
    if not value:
        value = None
    elif main and list(value) == [main]:
        value = value[main]
    raw: dict[str, Any] = {step.kind: value}
    for key in BESIDE:
        one = getattr(step, key)
        if one is not None and one is not False:
            raw[key] = one
    return raw


def describe(step: Step) -> str:
    """A step for people, one line."""
    parts = []
    if step.locator:
        parts.append(str(step.locator))
    for key, value in step.parameters.items():
        parts.append(f"{key} {value}" if not isinstance(value, Locator) else f"{key} ({value})")
    return " ".join([step.kind.replace("_", " "), ", ".join(parts)]).strip()


def write_operation(steps: Steps, operation: Operation) -> dict[str, Any]:
    """An operation as the commands print it: whole steps, locators included."""
    old = old_step(steps, operation)
    return {
        "op": operation.op,
        "step": operation.place[0] if len(operation.place) == 1 else show_place(operation.place),
        "old": write_step(old) if old else None,
        "new": write_step(operation.new) if operation.new else None,
        "reason": operation.reason,
    }


def read_operation(raw: Mapping[str, Any]) -> Operation:
    """The reverse. Raises BadTest."""
    op = raw.get("op")
    if op not in ("insert", "replace", "delete"):
        raise BadTest(f"'op' is insert, replace or delete, got {_short(op)}")
    try:
        place = read_place(raw["step"])
    except (KeyError, ValueError):
        raise BadTest(f"'step' is the number of a step, got {_short(raw.get('step'))}") from None
    new = read_step(raw["new"]) if raw.get("new") is not None else None
    return Operation(op, place, new, str(raw.get("reason") or ""))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
