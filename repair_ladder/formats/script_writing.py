"""Steps as the calls of a Playwright script: the reverse of script_reading.py, for every language alike.

Whatever is said is read again before it is written: a statement that would come back as another step is not used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from radar.locators import PATTERNS, Locator
from repair_ladder.errors import BadTest
from repair_ladder.formats import Secret, WrittenTest
from repair_ladder.formats.gathering import (
    FLAGS,
    Unsayable,
    condition_of,
    lost_line,
    unequal,
    unnegated,
    write_beside,
    write_mark,
)
from repair_ladder.formats.script import (
    Call,
    Case,
    Claim,
    Constant,
    Do,
    Expression,
    Function,
    Joined,
    Let,
    Many,
    Marked,
    Member,
    Name,
    Pairs,
    Pattern,
    Script,
    Statement,
    Within,
)
from repair_ladder.formats.script_locators import FILTERS, SELF
from repair_ladder.formats.script_reading import Reader
from repair_ladder.formats.script_values import Page
from repair_ladder.formats.selectors import FOCUSED, UNCHECKED, outside
from repair_ladder.steps import BLOCKS, Place, Step, Steps
from repair_ladder.values import PLACEHOLDER

TOOL: Final = "Playwright's test script"
BY: Final = {
    "text": "get_by_text", "label": "get_by_label", "placeholder": "get_by_placeholder", "alt": "get_by_alt_text",
    "title": "get_by_title", "test_id": "get_by_test_id",
}  # fmt: skip
PLAIN_CHECKS: Final = {
    "assert_visible": "to_be_visible", "assert_hidden": "to_be_hidden", "assert_enabled": "to_be_enabled",
    "assert_disabled": "to_be_disabled", "assert_checked": "to_be_checked",
}  # fmt: skip
TEXT_CHECKS: Final = {
    "assert_text": "to_have_text", "assert_value": "to_have_value", "assert_attribute": "to_have_attribute",
    "assert_url": "to_have_url", "assert_title": "to_have_title",
}  # fmt: skip
SHOTS: Final = "png"


@dataclass(slots=True)
class Said:
    """A test as statements; `secrets` are the names that the environment gives a value."""

    statements: list[Statement] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)


def say(test: WrittenTest, *, is_name: Callable[[str], bool]) -> Said:
    """The statements of a test. `is_name`: may the language call a variable so?"""
    return _Writer(test, is_name).say()


def locator_expression(locator: Locator, base: Expression | None = None) -> Expression:
    """A locator as a chain of calls on a page. Raises Unsayable for its alternatives."""
    return _located(locator, base or Name(0, "page"))


def _text(value: str, is_pattern: bool = False) -> Expression:
    if is_pattern:
        return _pattern(value)
    return _constant(value)


def _pattern(text: str) -> Expression:
    flags = FLAGS.match(text)
    head = flags.group() if flags else ""
    if PLACEHOLDER.search(text) or re.search(r"\\[AZ]|\(\?P", text):
        raise Unsayable("a pattern that JavaScript does not read")
    return Pattern(0, text[len(head) :], "".join(sorted(head.strip("(?)"))))


def _constant(value: object) -> Expression:
    """A text; where it names variables, put together of them."""
    if not isinstance(value, str):
        if isinstance(value, bool | int | float) or value is None:
            return Constant(0, value)
        raise Unsayable("a value")
    parts: list[Expression] = []
    at = 0
    for found in PLACEHOLDER.finditer(value):
        if found.start() > at:
            parts.append(Constant(0, value[at : found.start()]))
        parts.append(Name(0, found[1]))
        at = found.end()
    if at == 0:
        return Constant(0, value)
    if at < len(value):
        parts.append(Constant(0, value[at:]))
    return parts[0] if len(parts) == 1 else Joined(0, tuple(parts))


def _call(of: Expression, name: str, /, *given: Expression, **named: Expression) -> Call:
    return Call(0, Member(0, of, name), given, tuple(named.items()))


def _located(locator: Locator, page: Expression) -> Expression:
    if locator.alternatives:
        raise Unsayable("alternatives")
    base = page
    for frame in locator.frame:
        plain = frame.css is not None and frame == Locator(css=frame.css)
        found = _located(frame, base)
        base = _call(base, "frame_locator", Constant(0, frame.css)) if plain else Member(0, found, "content_frame")
    inner = _located(locator.within, base) if locator.within else base
    finders = list(locator.finders())
    if finders == [("css", SELF)] and locator.within is not None and (locator.nth is not None or _filters(locator)):
        made = inner
    else:
        made = _found(inner, *finders[0], locator)
        for key, value in finders[1:]:
            made = _call(made, "and_", _found(base, key, value, locator))
    filters = _filters(locator)
    if filters:
        made = _call(made, "filter", **{key: _filter(key, value, locator, base) for key, value in filters.items()})
    if locator.nth is None:
        return made
    if locator.nth in (0, -1):
        return Member(0, made, "first" if locator.nth == 0 else "last")
    return _call(made, "nth", Constant(0, locator.nth))


def _filters(locator: Locator) -> dict[str, Any]:
    return {key: value for key in FILTERS if (value := getattr(locator, key)) is not None}


def _filter(key: str, value: Any, locator: Locator, base: Expression) -> Expression:
    if isinstance(value, Locator):
        return _located(value, Name(0, "page") if not locator.frame else _outermost(base))
    return _text(value, locator.regex) if isinstance(value, str) else Constant(0, value)


def _outermost(base: Expression) -> Expression:
    while isinstance(base, Member | Call):
        base = base.of
    return base


def _found(base: Expression, key: str, value: str, locator: Locator) -> Expression:
    is_pattern = locator.regex and key in PATTERNS
    exact = {"exact": Constant(0, True)} if locator.exact else {}
    match key:
        case "css":
            return _call(base, "locator", _constant(value))
        case "xpath":
            text = value if re.match(r"\(*//|\.\.", value) else f"xpath={value}"
            return _call(base, "locator", _constant(text))
        case "role":
            name = {"name": _text(locator.name, locator.regex)} if locator.name is not None else {}
            return _call(base, "get_by_role", _constant(value), **name, **(exact if name else {}))
        case "test_id":
            return _call(base, BY[key], _text(value, is_pattern))
    return _call(base, BY[key], _text(value, is_pattern), **exact)


class _Writer:
    def __init__(self, test: WrittenTest, is_name: Callable[[str], bool]) -> None:
        self.test, self.is_name = test, is_name
        self.made = Said()
        self.page = "page"
        self.pages = 0
        self.made.secrets = {name: one.name for name, one in test.variables.items() if isinstance(one, Secret)}

    def say(self) -> Said:
        names = {name for name in self.test.variables if not self.is_name(name)}
        if names:
            raise BadTest(f"'{min(names)}' cannot be the name of a variable in {TOOL}; rename it")
        for name, value in self.test.variables.items():
            if not isinstance(value, Secret):
                self.made.statements.append(Let(0, (name,), _constant(value)))
        self.made.statements += self.body(self.test.steps, ())
        return self.made

    def body(self, steps: Steps, before: Place) -> list[Statement]:
        made: list[Statement] = []
        waiting = list(enumerate(steps, 1))
        while waiting:
            number, step = waiting.pop(0)
            place = (*before, number)
            if step.kind in BLOCKS:
                goal = str(step.parameters.get("goal", step.kind))
                inner = tuple(self.body(step.steps, place))
                title = Call(0, Member(0, Name(0, "test"), "step"), (Constant(0, goal),))
                made.append(Within(0, title, None, inner))
                continue
            opens = bool(waiting and waiting[0][1].kind == "tab" and self.is_newest(waiting[0][1]))
            said = self.step(place, step)
            if opens and said and not isinstance(said[-1], Marked):
                _, tab = waiting.pop(0)
                del tab
                said = self.opening(said)
            made += said
        return made

    def is_newest(self, step: Step) -> bool:
        return step.parameters.get("switch") == "newest" and write_beside(step) is None

    def opening(self, said: Sequence[Statement]) -> list[Statement]:
        self.pages += 1
        opened = f"page{self.pages}"
        popup = Within(0, _call(Name(0, self.page), "expect_popup"), opened, (said[-1],))
        self.page = opened
        return [*said[:-1], popup]

    def step(self, place: Place, step: Step) -> list[Statement]:
        whole, others = step, step.locator.alternatives if step.locator is not None else ()
        if step.locator is not None and others:
            step = replace(step, locator=replace(step.locator, alternatives=()))
        try:
            said = list(self.said(step))
        except Unsayable:
            self.made.lost.append(lost_line(place, whole, TOOL))
            return [Marked(0, write_mark(whole))]
        beside = write_beside(replace(step, timeout_ms=None if step.kind in _TIMED else step.timeout_ms), others)
        return [*([Marked(0, beside)] if beside else []), *said]

    def said(self, step: Step) -> Iterator[Statement]:
        if step.kind == "tab" and step.parameters.get("close") is True and self.page != "page":
            yield Do(0, _call(Name(0, self.page), "close"))
            self.page = "page"
            return
        statement = self.statement(step)
        if step.kind not in ("set", "extract") and not self.comes_back(statement, step):
            raise Unsayable("it would be read as another step")
        yield statement

    def comes_back(self, statement: Statement, step: Step) -> bool:
        reader = Reader(Script((), ()), Case(0, "x", (), ()), None)
        reader.names[self.page] = Page(0)
        reader.free = lambda name: f"${{{name}}}"
        reader.body([statement])
        plain = replace(step, id=None, note=None, never_repair=False, optional=False)
        if step.kind not in _TIMED:
            plain = replace(plain, timeout_ms=None)
        return not any(one.is_missing for one in reader.out.remarks) and reader.out.steps == [_as_text(plain)]

    def here(self) -> Expression:
        return Name(0, self.page)

    def at(self, step: Step) -> Expression:
        if step.locator is None:
            raise Unsayable("no locator")
        return _located(step.locator, self.here())

    def statement(self, step: Step) -> Statement:
        given = step.parameters
        time: dict[str, Expression] = {}
        if step.timeout_ms is not None:
            time["timeout"] = Constant(0, step.timeout_ms)
        page = self.here()
        match step.kind:
            case "goto":
                return Do(0, _call(page, "goto", _constant(str(given["url"])), **time))
            case "back" | "reload":
                return Do(0, _call(page, {"back": "go_back"}.get(step.kind, step.kind), **time))
            case "click" | "dblclick" | "hover" | "check" | "uncheck":
                options = {key: _plain(given[key]) for key in ("button", "modifiers", "position") if key in given}
                return Do(0, _call(self.at(step), step.kind, **options, **time))
            case "fill" | "type":
                name = "fill" if step.kind == "fill" else "press_sequentially"
                return Do(0, _call(self.at(step), name, _constant(str(given["value"])), **time))
            case "press" if step.locator is None:
                return Do(0, _call(Member(0, page, "keyboard"), "press", _constant(str(given["key"]))))
            case "press":
                return Do(0, _call(self.at(step), "press", _constant(str(given["key"])), **time))
            case "select":
                return Do(0, self.select(step, time))
            case "upload":
                return Do(0, _call(self.at(step), "set_input_files", _plain(given["files"]), **time))
            case "drag":
                return Do(0, _call(self.at(step), "drag_to", _located(given["to"], page), **time))
            case "scroll" if step.locator is None and "until" in given:
                return Do(0, _call(_located(given["until"], page), "scroll_into_view_if_needed", **time))
            case "scroll" if step.locator is None:
                return Do(0, _call(Member(0, page, "mouse"), "wheel", Constant(0, 0), Constant(0, given["by"])))
            case "dialog":
                text = [_constant(str(given["text"]))] if "text" in given else []
                answer = Function(0, ("dialog",), (Do(0, _call(Name(0, "dialog"), given["answer"], *text)),))
                return Do(0, _call(page, "once", Constant(0, "dialog"), answer))
            case "wait":
                return Do(0, self.wait(step, time))
            case "screenshot":
                named = {"path": _constant(f"{given['as']}.{SHOTS}")} if "as" in given else {}
                return Do(0, _call(self.at(step) if step.locator else page, "screenshot", **named))
            case "set" if self.is_name(str(given["into"])):
                return Let(0, (str(given["into"]),), _constant(given["value"]))
            case "extract" if self.is_name(str(given["into"])):
                return Let(0, (str(given["into"]),), self.read(step))
            case "assert_variable":
                left, how, right = Name(0, str(given["variable"])), *self.compared(step)
                return Claim(0, left, how, right) if how != "in" else Claim(0, right, how, left)
            case kind if kind in PLAIN_CHECKS:
                return self.expected(self.at(step), PLAIN_CHECKS[kind], **time)
            case "assert_count":
                return self.count(step, time)
            case kind if kind in TEXT_CHECKS:
                return self.text_check(step, time)
        raise Unsayable(step.kind)

    def select(self, step: Step, time: dict[str, Expression]) -> Expression:
        given = step.parameters
        if "value" in given:
            return _call(self.at(step), "select_option", _constant(str(given["value"])), **time)
        key = "label" if "option" in given else "index"
        value = _constant(str(given["option"])) if "option" in given else Constant(0, given["index"])
        return _call(self.at(step), "select_option", **{key: value}, **time)

    def wait(self, step: Step, time: dict[str, Expression]) -> Expression:
        given = step.parameters
        if "ms" in given:
            return _call(self.here(), "wait_for_timeout", Constant(0, given["ms"]))
        if "for" in given:
            state = given.get("state")
            named = {"state": Constant(0, state)} if state else {}
            return _call(_located(given["for"], self.here()), "wait_for", **named, **time)
        condition = given["url"]
        if set(condition) == {"equals"} and "*" not in str(condition["equals"]):
            return _call(self.here(), "wait_for_url", _constant(condition["equals"]), **time)
        if set(condition) == {"matches"}:
            return _call(self.here(), "wait_for_url", _pattern(str(condition["matches"])), **time)
        raise Unsayable("a condition")

    def read(self, step: Step) -> Expression:
        what = str(step.parameters.get("what", "text"))
        if what == "url":
            raise Unsayable("an address")
        if what in ("text", "value"):
            return _call(self.at(step), "inner_text" if what == "text" else "input_value")
        return _call(self.at(step), "get_attribute", Constant(0, what))

    def expected(self, subject: Expression, check: str, *given: Expression, **named: Expression) -> Statement:
        return Do(0, _call(Call(0, Name(0, "expect"), (subject,)), check, *given, **named))

    def count(self, step: Step, time: dict[str, Expression]) -> Statement:
        assert step.locator is not None
        wanted = condition_of(step)
        unchecked, focused = outside(step.locator, UNCHECKED), outside(step.locator, FOCUSED)
        if unchecked is not None and wanted == ("equals", 1):
            return self.expected(_located(unchecked, self.here()), "not_to_be_checked", **time)
        if focused is not None and wanted in (("equals", 1), ("equals", 0)):
            check = "to_be_focused" if wanted == ("equals", 1) else "not_to_be_focused"
            return self.expected(_located(focused, self.here()), check, **time)
        if wanted is None or type(wanted[1]) is not int:
            raise Unsayable("a count")
        if wanted[0] == "equals":
            return self.expected(self.at(step), "to_have_count", Constant(0, wanted[1]), **time)
        if wanted == ("at_least", 1):
            return self.expected(self.at(step), "not_to_have_count", Constant(0, 0), **time)
        how = {"at_least": ">=", "at_most": "<="}.get(wanted[0])
        if how is None or time:
            raise Unsayable("a count")
        return Claim(0, _call(self.at(step), "count"), how, Constant(0, wanted[1]))

    def text_check(self, step: Step, time: dict[str, Expression]) -> Statement:
        wanted = condition_of(step)
        if wanted is None:
            raise Unsayable("several conditions")
        key, value = wanted
        subject = self.at(step) if step.locator is not None else self.here()
        check = TEXT_CHECKS[step.kind]
        first = [_constant(step.parameters["attribute"])] if step.kind == "assert_attribute" else []
        match key:
            case "equals":
                return self.expected(subject, check, *first, _constant(str(value)), **time)
            case "contains" | "not_contains" if step.kind == "assert_text":
                negative = "not_" if key == "not_contains" else ""
                return self.expected(subject, f"{negative}to_contain_text", _constant(str(value)), **time)
            case "contains" | "not_contains" if step.kind in ("assert_url", "assert_title") and not time:
                read = Member(0, self.here(), "url") if step.kind == "assert_url" else _call(self.here(), "title")
                return Claim(0, _constant(str(value)), "in" if key == "contains" else "not in", read)
            case "matches":
                text = unequal(str(value))
                if text is not None:
                    return self.expected(subject, f"not_{check}", *first, _constant(text), **time)
                inner = unnegated(str(value))
                if inner is not None:
                    return self.expected(subject, f"not_{check}", *first, _pattern(inner), **time)
                return self.expected(subject, check, *first, _pattern(str(value)), **time)
        raise Unsayable("a condition")

    def compared(self, step: Step) -> tuple[str, Expression]:
        wanted = condition_of(step)
        if wanted is None or wanted[0] not in ("equals", "contains"):
            raise Unsayable("a condition")
        return ("==" if wanted[0] == "equals" else "in"), _constant(wanted[1])


_TIMED: Final = frozenset(
    "goto back reload click dblclick hover check uncheck fill type select upload drag wait".split()
) | set(PLAIN_CHECKS) | set(TEXT_CHECKS) | {"assert_count", "scroll", "press"}  # fmt: skip


def _plain(value: Any) -> Expression:
    if isinstance(value, list):
        return Many(0, tuple(map(_plain, value)))
    if isinstance(value, dict):
        return Pairs(0, tuple((key, _plain(one)) for key, one in value.items()))
    return _constant(value)


def _as_text(step: Step) -> Step:
    """Texts of a script are texts: a number in their place is written as one."""
    keys = ("value", "equals", "contains", "not_contains", "text", "key", "url", "as", "option")
    numbers = step.kind in ("assert_count",)
    given = {
        key: str(one) if key in keys and not numbers and isinstance(one, int | float) else one
        for key, one in step.parameters.items()
    }
    return replace(step, parameters=given)


def dumps(text: object) -> str:
    """A text or a number as a literal that Python and JavaScript read alike."""
    return json.dumps(text, ensure_ascii=False)
