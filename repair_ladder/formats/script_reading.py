"""What a Playwright script means, in whichever language it is written: its calls become steps, the rest is named.

The tables of calls here and in script_writing.py are the only place that knows Playwright's API. Nothing is run: a name
means what the file itself gave it as a constant, a locator or a page, and anything else is not understood.

Texts are compared as they are shown; Playwright, unless told otherwise, also counts what of an element is hidden.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from radar.elements import fold
from radar.locators import write as write_locator
from radar.writing import css_string
from repair_ladder.errors import BadTest
from repair_ladder.formats import Secret, WrittenTest
from repair_ladder.formats.gathering import (
    FLAGS,
    NAME,
    Gatherer,
    TooMuch,
    Unsayable,
    beside_step,
    leads_elsewhere,
    literal,
    name_of,
    not_equal,
    not_matching,
    quote,
    read_mark,
    relative,
    unique,
)
from repair_ladder.formats.script import (
    RETURN,
    Call,
    Case,
    Claim,
    Constant,
    Do,
    Expression,
    Function,
    Index,
    Joined,
    Let,
    Many,
    Marked,
    Member,
    Name,
    Other,
    Pairs,
    Pattern,
    Script,
    Statement,
    Unknown,
    Within,
    snake,
)
from repair_ladder.formats.script_locators import (
    GET_BY,
    Place,
    Rx,
    Spot,
    below,
    both,
    by,
    by_role,
    enter,
    keep,
    pick,
    regex,
    select,
)
from repair_ladder.formats.selectors import FOCUSED, UNCHECKED, UNWRITABLE, WRITABLE, inside
from repair_ladder.step_format import LONGEST_VALUE, read_step
from repair_ladder.values import PLACEHOLDER, names_in

FIXTURES: Final = frozenset(
    "page context browser browser_name browserName base_url baseURL playwright is_mobile isMobile is_chromium "
    "is_firefox is_webkit isMobile live_server self cls channel browserVersion testInfo tmp_path".split()
)
# Names that the environment of a test gives the address of the app, not of what else it talks to.
BASE_NAMES: Final = re.compile(
    r"(?i)\A(?!.*(?:api|auth|admin|backend|mail|login|sso|idp|data))"
    r"(?:(?:\w+_)?(?:base|app|site|web|frontend|test|server)_?|(?:playwright|pw|e2e)_)?(?:url|host|origin)\Z"
)
# Parts of addresses that name a host: it stands in the base URL, which addresses are looked at without.
HOSTS: Final = re.compile(
    r"https?|://|\blocalhost\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w-]\.[a-z]{2,24}(?::\d|/)|\.(?:com|org|net|io|dev|app)\b"
)
LINES: Final = re.compile(r"\A\(\?[is]*m|\\[nrvf]|\n|\[\^")
# Of a context or a page: what only says how fast, how large or how watched; no step needs it.
LEFT_OUT: Final = frozenset(
    "set_default_timeout set_default_navigation_timeout set_viewport_size wait_for_load_state pause bring_to_front "
    "wait_for_network_idle slow set_timeout configure info".split()
)
ENDS: Final = frozenset({"browser", "context", "playwright"})
IGNORED_OPTIONS: Final = frozenset(
    "no_wait_after delay strict steps wait_until wait_for_timeout polling referer scroll".split()
)
NARROW_PX: Final = 700
DEEPEST: Final = 40
DEEPEST_FOLLOWED: Final = 8
MOST_CASES: Final = 2000
MOST_STATEMENTS: Final = 20_000  # of one test
MOST_IN_ALL: Final = 40_000  # statements of all tests of a file, what stands before each counted each time
# Of methods that take these in the first place, by name.
FIRST: Final = (
    "selector", "role", "text", "test_id", "url", "key", "expected", "url_or_reg_exp", "title_or_reg_exp", "files",
    "source", "target", "value",
)  # fmt: skip
SHORTHANDS: Final = frozenset(
    "click dblclick hover check uncheck fill type press select_option set_input_files set_checked tap focus "
    "dispatch_event inner_text text_content input_value get_attribute is_visible is_hidden is_enabled is_disabled "
    "is_checked is_editable inner_html".split()
)
SIMPLE: Final = {"click": "click", "dblclick": "dblclick", "hover": "hover", "check": "check", "uncheck": "uncheck"}
TWO_VALUES: Final = frozenset({"have_attribute", "have_css", "have_js_property"})
STATES: Final = ("visible", "hidden", "enabled", "disabled", "checked", "editable")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the test: 0 is the one it begins with, others are those that it opens."""

    number: int


@dataclass(frozen=True, slots=True)
class Inside:
    """A place in a page."""

    page: Page
    place: Place


@dataclass(frozen=True, slots=True)
class Found:
    """A locator of a page."""

    page: Page
    spot: Spot


@dataclass(frozen=True, slots=True)
class Read:
    """A value of the page that the script asks for: `what` as `extract` and the checks name it."""

    page: Page
    what: str
    spot: Spot | None = None
    attribute: str = ""
    at: int | None = None  # how many things had been done when it was read, if it was kept


@dataclass(frozen=True, slots=True)
class Waited:
    """A popup or a download that the script waits for."""

    kind: str
    page: Page


@dataclass(frozen=True, slots=True)
class Handle:
    """Something of Playwright that is no page: a browser, a keyboard, an expectation."""

    name: str
    of: Value = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value nobody knows without running the script."""

    why: str


Value: TypeAlias = (
    str | int | float | bool | list["Value"] | dict[str, "Value"] | Rx | Page | Inside | Found | Read | Waited
    | Handle | Opaque | Function | None
)  # fmt: skip


def url_glob(glob: str) -> str:
    """The regular expression of an address with wildcards: `*` stays between slashes, `**` does not, `{a,b}` is one."""
    made, at, inside = ["^"], 0, False
    for found in re.finditer(r"\\(.)|\*\*+/|\*+|[{},]", glob, re.DOTALL):
        sign, between = found.group(), glob[at : found.start()]
        made.append(re.escape(between))
        at = found.end()
        if sign[0] == "\\":
            made.append(re.escape(found[1]))
        elif sign == "*":
            made.append("[^/]*")
        elif sign[0] == "*" and sign[-1] == "/":
            made.append("(?:.+/|)" if glob[: found.start()].endswith("/") else ".*/")
        elif sign[0] == "*":
            made.append(".*")
        elif sign == ("}" if inside else "{"):
            inside = sign == "{"
            made.append("(?:" if inside else ")")
        elif sign == ",":
            made.append("|" if inside else ",")
        else:
            raise Unsayable(f"the wildcards {quote(glob)}")
    if inside:
        raise Unsayable(f"the wildcards {quote(glob)}")
    return "".join([*made, re.escape(glob[at:]), "$"])


def in_case(pattern: str, any_case: bool) -> str:
    """The regular expression in any case or not, whatever its flags say of that."""
    flags = FLAGS.match(pattern)
    letters = set(flags.group().strip("(?)")) if flags else set()
    kept = "".join(sorted(letters | {"i"} if any_case else letters - {"i"}))
    body = pattern[flags.end() :] if flags else pattern
    return f"(?{kept}){body}" if kept else body


def matches_nothing(wanted: Rx) -> bool:
    try:
        return re.search(wanted.text, "") is not None
    except (re.error, RecursionError, OverflowError):
        return False  # which is said when it is used


def _gives(statement: Statement) -> Iterator[str]:
    """The names that a statement would give a value."""
    match statement:
        case Let():
            yield from (name for name in statement.names if name)
        case Other():
            yield from statement.gives
        case Within():
            yield from [statement.name] if statement.name else []
            for one in statement.body:
                yield from _gives(one)


def read(script: Script, *, where: str, base_url: str | None = None) -> tuple[WrittenTest, ...]:
    """The tests of a script. Raises BadTest: one line with file and line."""
    if len(script.cases) > MOST_CASES:
        raise BadTest(f"{where}: more than {MOST_CASES} tests in one file")
    tests, count = [], 0
    for case in script.cases:
        name = name_of(case.name, f"{where}:{case.line}")
        reader = _Reader(script, case, base_url)
        try:
            tests.append(reader.test(name))
        except BadTest as error:
            raise BadTest(f"{where}: '{quote(name)}': {error}") from None
        count += reader.count + len(case.missing) + len(case.constants)
        if count > MOST_IN_ALL:
            raise BadTest(f"{where}:{case.line}: more than {MOST_IN_ALL} lines, those before a test counted each time")
    if not tests:
        raise BadTest(f"{where}: holds no test: expected Playwright's 'page' in a test or in a recorded script")
    return unique(tuple(tests))


def read_expression(expression: Expression, free: Callable[[str], Value] | None = None) -> Mapping[str, Any]:
    """The keys of the locator that an expression on `page` is. `free` gives names a value. Raises Unsayable."""
    reader = _Reader(Script((), ()), Case(1, "x", ("page",), ()), None)
    reader.free = free
    value = reader.value(expression)
    if isinstance(value, Read) and value.spot is not None:
        return value.spot.raw()
    if isinstance(value, Found):
        return value.spot.raw()
    step = reader.out.steps[-1] if reader.out.steps else None
    if step is not None:
        for _, locator in step.locators():
            return write_locator(locator)
    raise Unsayable("no locator")


@dataclass(slots=True)
class _Options:
    given: list[Expression]
    named: dict[str, Expression] = field(default_factory=dict)


class _Reader:
    def __init__(self, script: Script, case: Case, base_url: str | None) -> None:
        self.case, self.base_url = case, base_url
        self.out = Gatherer()
        self.names: dict[str, Value] = {"page": Page(0)}
        self.lazy: dict[str, Expression] = {}  # what the file gives a name, before it is asked for
        self.module: dict[str, Value] = {}  # and after
        self.free: Callable[[str], Value] | None = None
        self.openers: list[int] = [0]  # of each page, the one it was opened from
        self.current = 0
        self.extracted: set[str] = set()  # variables that hold a value of the page
        self.done = 0  # how many steps change something
        self.beside: Mapping[str, Any] | None = None
        self.depth = 0
        self.has_page = "page" in case.asks
        self.count = 0
        self.following: list[str] = []  # functions whose lines are being read
        self.changed: set[str] = set()  # names of what is around these that they have given a value
        for one in (*script.constants, *case.constants):
            if isinstance(one, Let) and not one.takes_apart and one.names[0]:
                self.lazy[one.names[0]] = one.what
        self.names |= {
            name: Handle(name)
            for name in ("expect", "browser", "context", "playwright", "test", "console", "live_server")
        }
        self.names |= {name: Handle(f"playwright.{name}") for name in ("chromium", "firefox", "webkit")}
        self.names |= {"base_url": base_url or "", "baseURL": base_url or ""}

    def test(self, name: str) -> WrittenTest:
        case = self.case
        for line, what in case.notes:
            self.out.line = line
            self.out.note(what)
        for line, what in case.missing:
            self.out.parts += 1
            self.out.line = line
            self.out.missing(what)
        for fixture in case.asks:
            if fixture not in FIXTURES:
                self.out.parts += 1
                self.out.line = case.line
                self.out.missing(
                    f"the fixture '{quote(fixture)}' is not known: what it does before the test is missing"
                )
                self.names[fixture] = Opaque(f"the fixture '{fixture}' is not known")
        self.body((*case.before, *case.body))
        return self.out.finish(name, line=case.line, status=case.status, tags=case.tags)

    def body(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self.count += 1
            if self.count > MOST_STATEMENTS:
                raise TooMuch(f"line {statement.line}: more than {MOST_STATEMENTS} lines, functions counted each time")
            if isinstance(statement, Marked):
                self.out.line = statement.line
                self.marked(statement.text)
                continue
            with self.out.part(statement.line):
                self.statement(statement)

    def marked(self, text: str) -> None:
        mark = read_mark(text)
        if mark is None:
            return
        if mark.step is not None:
            self.out.add(mark.step)
        elif mark.variables is not None:
            self.out.variables |= mark.variables
            self.names |= {name: f"${{{name}}}" for name in mark.variables}
        else:
            self.beside = mark.beside

    def statement(self, statement: Statement) -> None:
        match statement:
            case Do():
                self.do(statement.what)
            case Let():
                self.let(statement)
            case Within():
                self.within(statement)
            case Claim():
                self.claim(statement)
            case Other():
                for name in statement.gives:
                    self.names[name] = Opaque(f"'{name}' is not known: {quote(statement.text)}")
                raise Unsayable(quote(statement.text))

    # --- statements ---

    def do(self, what: Expression) -> None:
        if isinstance(what, Constant):
            return  # a text that stands by itself is a comment
        before = len(self.out.steps)
        value = self.value(what)
        if isinstance(value, Opaque):
            raise Unsayable(value.why)
        if isinstance(value, Found | Read) and len(self.out.steps) == before:
            if isinstance(value, Read):
                self.out.note(f"{value.what} is read, and nothing is done with it")
            else:
                self.out.note("a locator that nothing is done with")

    def let(self, statement: Let) -> None:
        if statement.takes_apart:
            values = self.value(statement.what)
            items = values if isinstance(values, list) else []
            for number, name in enumerate(statement.names):
                if name is not None:
                    self.names[name] = self.bound(name, items[number] if number < len(items) else Opaque("not known"))
            if not isinstance(values, list):
                raise Unsayable("a value that is taken apart")
            return
        (name,) = statement.names
        assert name is not None
        if not statement.is_new and self.following:
            self.changed.add(name)
        if name == RETURN:
            self.names[name] = self.value(statement.what)
            return
        try:
            self.names[name] = self.bound(name, self.value(statement.what))
        except (Unsayable, BadTest) as error:
            self.names[name] = Opaque(f"'{name}' is not known: {error}")
            raise

    def bound(self, name: str, value: Value) -> Value:
        if isinstance(value, Waited):
            return self.arrived(value)
        if isinstance(value, Read) and value.what in ("text", "value", "attribute"):
            return self.extract(name, value)
        if isinstance(value, Read) and value.at is None:
            return replace(value, at=self.done)  # it is asked for again where it is used, if nothing was done since
        return value

    def extract(self, name: str, value: Read) -> Value:
        """A value that the page had at this moment is kept in a variable."""
        plain = into = name if NAME.match(name) else "value"
        # Another name may still stand for what a function kept in a variable of that name and gave back.
        others = self.names.items() if plain in self.extracted else ()
        kept = {used for known, one in others if known != name for used in names_in(one)}
        numbers = itertools.count(2)
        while into in kept or into in self.out.variables:
            into = f"{plain}_{next(numbers)}"
        self.extracted.add(into)
        what = value.attribute if value.what == "attribute" else value.what
        assert value.spot is not None
        self.add({"extract": value.spot.raw() | {"into": into, "what": what}}, value.page)
        return f"${{{into}}}"

    def arrived(self, value: Waited) -> Value:
        if value.kind == "popup":
            self.openers.append(value.page.number)
            return Page(len(self.openers) - 1)
        return Opaque("a download")

    def within(self, statement: Within) -> None:
        call = statement.what
        if isinstance(call, Call) and (
            (isinstance(call.of, Member) and call.of.name == "step")
            or (isinstance(call.of, Name) and call.of.name == "nullcontext")
        ):
            title = self.value(call.given[0]) if call.given else ""
            with self.out.block("group", str(title)[:500] or "step"):
                self.body(statement.body)
            return
        try:
            value = self.value(call)
        except Unsayable:
            self.unknown_block(statement)
            raise
        if isinstance(value, Handle) and value.name == "navigation":
            self.body(statement.body)
        elif isinstance(value, Waited):
            self.body(statement.body)
            if statement.name:
                self.names[statement.name] = Handle("arriving", value)
            if value.kind != "popup":
                self.out.missing(f"that a {value.kind} comes is not checked")
        elif isinstance(value, Handle) and value.name in (*ENDS, "soft"):
            if statement.name:
                self.names[statement.name] = value
            self.body(statement.body)
        else:
            self.unknown_block(statement)
            raise Unsayable("a block that is not known")

    def unknown_block(self, statement: Within) -> None:
        """What a block waits for cannot be said, what is done in it can; of any other block nothing is certain."""
        call = statement.what
        waits = isinstance(call, Call) and isinstance(call.of, Member) and call.of.name.startswith("expect_")
        if waits:
            self.body(statement.body)
        else:
            for one in statement.body:
                with self.out.part(one.line):
                    raise Unsayable("stands in a block that is not known")
        for name in (statement.name, *(name for one in statement.body for name in _gives(one) if not waits)):
            if name:
                self.names[name] = Opaque(f"'{name}' is not known")

    def claim(self, statement: Claim) -> None:
        left, right, how = self.value(statement.left), self.value(statement.right), statement.how
        if how in ("in", "not in"):
            left, right, how = right, left, "contains" if how == "in" else "not contains"
        elif isinstance(right, Read) and not isinstance(left, Read):
            flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
            left, right, how = right, left, flipped.get(how, how)
        self.compare(left, how, right)

    # --- values ---

    def value(self, expression: Expression) -> Value:
        self.depth += 1
        try:
            if self.depth > DEEPEST:
                raise Unsayable("calls too deep in one another")
            return self._value(expression)
        finally:
            self.depth -= 1

    def _value(self, expression: Expression) -> Value:
        match expression:
            case Constant():
                return literal(expression.value) if isinstance(expression.value, str) else expression.value
            case Pattern():
                return regex(expression.source, expression.flags)
            case Name():
                return self.named(expression.name)
            case Joined():
                text = "".join(self.text_of(self.value(part)) for part in expression.parts)
                if len(text) > LONGEST_VALUE:
                    raise Unsayable(f"a text of more than {LONGEST_VALUE} characters")
                return text
            case Many():
                return [self.value(one) for one in expression.items]
            case Pairs():
                return {key: self.value(one) for key, one in expression.pairs}
            case Function():
                return expression
            case Index():
                return self.member(self.value(expression.of), self.value(expression.key), expression)
            case Member():
                return self.member(self.value(expression.of), expression.name, expression)
            case Call():
                return self.call(expression)
            case Unknown():
                raise Unsayable(quote(expression.text))

    def named(self, name: str) -> Value:
        for known in (self.names, self.module):
            if name in known:
                value = known[name]
                if isinstance(value, Opaque):
                    raise Unsayable(value.why)
                return value
        if name in self.lazy:
            before = len(self.out.steps)
            self.module[name] = Opaque(f"'{name}' is not known")
            self.module[name] = value = self.value(self.lazy[name])
            if len(self.out.steps) != before:
                raise Unsayable(f"'{name}' does something before the test")
            return value
        if name in (
            "process",
            "os",
            "env",
            "re",
            "time",
            "path",
            "Promise",
            "console",
            "print",
            "time_sleep",
            "regex_of",
            "os_getenv",
            "str",
            "String",
        ):
            return Handle(name)
        if self.free is not None:
            return self.free(name)
        raise Unsayable(f"'{quote(name)}' is not known here")

    def text_of(self, value: Value) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise Unsayable("a text put together of values that are not known")
        return str(value)

    def member(self, value: Value, key: Value, expression: Expression) -> Value:
        if isinstance(value, dict):
            # Another language's names were translated, those of plain data too.
            same = [one for one in value if one == key or snake(one) == key]
            if len(same) == 1:
                return value[same[0]]
            raise Unsayable(f"'{quote(key)}' is not known here")
        if isinstance(value, list):
            if isinstance(key, int) and not isinstance(key, bool) and -len(value) <= key < len(value):
                return value[key]
            raise Unsayable("an item of a list that is not there")
        if isinstance(value, Handle):
            if value.name in ("process", "os") and key in ("env", "environ"):
                return Handle("env")
            if value.name == "env" and isinstance(key, str):
                return self.environment(key)
            if value.name == "live_server" and key == "url":
                self.out.note("live_server is taken for the project's base URL")
                return self.base_url or ""
            if value.name == "arriving" and key == "value":
                return value.of
            return Handle(f"{value.name}.{key}", value.of)
        if self.free is not None and isinstance(value, str) and PLACEHOLDER.fullmatch(value):
            return self.free(f"{value[2:-1]}_{re.sub(r'[^0-9A-Za-z_]', '_', str(key))}")
        if isinstance(value, Page) and key in ("keyboard", "mouse", "context", "touchscreen", "request"):
            return Handle(str(key), value)
        if isinstance(value, Page) and key == "url":
            return Read(value, "url")
        if isinstance(value, Page) and key == "main_frame":
            return Inside(value, Place())
        if isinstance(value, Found) and key == "content_frame":
            return Inside(value.page, enter(value.spot))
        if isinstance(value, Found) and key in ("first", "last"):
            return Found(value.page, pick(value.spot, 0 if key == "first" else -1))
        raise Unsayable(f"'{quote(key)}' is not known here")

    def environment(self, name: str, otherwise: Value = None) -> Value:
        """A variable of the environment: a secret, unless the file says what it is without one."""
        if not NAME.match(name):
            raise Unsayable(f"the variable {quote(name)} of the environment")
        if BASE_NAMES.search(name):
            self.out.note(f"{name} is taken for the project's base URL")
            return self.base_url or ""
        if isinstance(otherwise, str) and not isinstance(otherwise, bool):
            self.out.variables.setdefault(name, otherwise)
            self.out.note(f"the variable '{name}' has the value that the file gives it for want of another")
        else:
            self.out.variables.setdefault(name, Secret(name))
        return f"${{{name}}}"

    # --- calls ---

    def call(self, call: Call) -> Value:
        if isinstance(call.of, Name):
            return self.function(call.of.name, call)
        if not isinstance(call.of, Member):
            raise Unsayable("a call that is not known")
        name = call.of.name
        if isinstance(call.of.of, Name) and call.of.of.name == "Promise" and name == "all":
            return self.all_of(call)
        subject = self.value(call.of.of)
        match subject:
            case Page():
                return self.page_call(subject, name, call)
            case Inside():
                return self.place_call(subject, name, call)
            case Found():
                return self.found_call(subject, name, call)
            case Handle():
                return self.handle_call(subject, name, call)
            case str() if self.free is not None and PLACEHOLDER.fullmatch(subject):
                return self.member(subject, name, call)
            case Read() if name in ("to_string", "trim", "strip") and subject.what in ("text", "value", "url"):
                return subject
            case str() if name in ("to_string", "trim", "strip"):
                return subject.strip()
            case list() | dict() if isinstance(call.of.of, Name):
                # It may have changed what it was called on.
                self.names[call.of.of.name] = Opaque(f"'{call.of.of.name}' is not known after {quote(name)}")
        raise Unsayable(f"'{quote(name)}' is not known here")

    def function(self, name: str, call: Call) -> Value:
        match name:
            case "expect":
                return Handle("expecting", self.value(call.given[0]) if call.given else None)
            case "nullcontext":
                return Handle("soft")
            case "sync_playwright" | "async_playwright":
                return Handle("playwright")
            case "print":
                self.out.note("print is left out")
                return None
            case "str" | "String" if len(call.given) == 1:
                return self.text_of(self.value(call.given[0]))
            case "regex_of":
                return regex(self.text_of(self.value(call.given[0])), self.text_of(self.value(call.given[1])))
            case "os_getenv":
                otherwise = self.value(call.given[1]) if len(call.given) > 1 else None
                return self.environment(self.text_of(self.value(call.given[0])), otherwise)
            case "time_sleep" if len(call.given) == 1:
                seconds = self.value(call.given[0])
                if isinstance(seconds, bool) or not isinstance(seconds, int | float):
                    raise Unsayable("a pause of unknown length")
                self.add({"wait": {"ms": round(seconds * 1000)}})
                return None
        if self.free is not None and name not in self.names:
            return self.free(name)
        function = self.named(name) if name in self.names or name in self.lazy else None
        if not isinstance(function, Function):
            raise Unsayable(f"the function '{quote(name)}' is not followed")
        return self.follow(name, function, call)

    def follow(self, name: str, function: Function, call: Call) -> Value:
        """A function of the same file, as if its lines stood here."""
        values = [self.value(one) for one in call.given] + [self.value(one) for _, one in call.named]
        names = [*function.parameters[: len(call.given)], *(key for key, _ in call.named)]
        if "" in function.parameters or sorted(names) != sorted(function.parameters) or len(names) != len(values):
            raise Unsayable(f"the function '{quote(name)}' is not called with just the values it names")
        gives = [isinstance(one, Let) and one.names == (RETURN,) for one in function.body]
        if any(gives[:-1]) or len(self.following) >= DEEPEST_FOLLOWED or name in self.following:
            raise Unsayable(f"the function '{quote(name)}' is not followed")
        outer, self.changed = self.names, set()
        self.names = outer | dict(zip(names, values, strict=True)) | {RETURN: None}
        self.following.append(name)
        try:
            self.body(function.body)
            return self.names[RETURN]
        finally:
            self.following.pop()
            for known in self.changed - set(function.parameters):
                outer[known] = self.names[known]
            self.names = outer

    def all_of(self, call: Call) -> Value:
        """What goes on at once: waiting for what an action brings, and the action."""
        items = call.given[0] if call.given else None
        if not isinstance(items, Many):
            raise Unsayable("Promise.all of something that is not known")
        return [self.value(one) for one in items.items]

    def handle_call(self, handle: Handle, name: str, call: Call) -> Value:
        match handle.name, name:
            case "expecting", _:
                self.expectation(handle.of, name, call)
                return None
            case "expecting.not", _:
                self.expectation(handle.of, f"not_{name}", call)
                return None
            case "expecting.resolves", _:
                self.expectation(handle.of, name, call)
                return None
            case "expect", "soft":
                return Handle("expecting", self.value(call.given[0]) if call.given else None)
            case "keyboard", _ if isinstance(handle.of, Page):
                return self.keyboard(handle.of, name, call)
            case "mouse", "wheel" if isinstance(handle.of, Page):
                values = [self.value(one) for one in call.given]
                if len(values) != 2 or values[0] != 0 or not isinstance(values[1], int | float):
                    raise Unsayable("scrolling sideways")
                self.add({"scroll": {"by": round(values[1])}}, handle.of)
                return None
            case "env", "get":
                otherwise = self.value(call.given[1]) if len(call.given) > 1 else None
                return self.environment(self.text_of(self.value(call.given[0])), otherwise)
            case "os", "getenv":
                otherwise = self.value(call.given[1]) if len(call.given) > 1 else None
                return self.environment(self.text_of(self.value(call.given[0])), otherwise)
            case "time", "sleep":
                return self.function("time_sleep", call)
            case "path", "join" | "resolve":
                parts = [
                    self.value(one) for one in call.given if not (isinstance(one, Name) and one.name == "__dirname")
                ]
                return "/".join(self.text_of(part) for part in parts).removeprefix("./")
            case "console", _:
                self.out.note("console is left out")
                return None
            case "test", "step":
                return self.test_step(call)
            case "test", _ if name in LEFT_OUT:
                self.out.note(f"test.{name} is left out")
                return None
            case (("context" | "browser"), "new_page"):
                self.check_context(call)
                return self.new_page()
            case "browser", "new_context":
                self.check_context(call)
                return Handle("context")
            case _ if handle.name.startswith("playwright") or handle.name in ENDS:
                return self.about_browser(handle, name, call)
        raise Unsayable(f"{quote(handle.name)}.{quote(name)} is not known")

    def about_browser(self, handle: Handle, name: str, call: Call) -> Value:
        if name in ("launch", "launch_persistent_context", "connect"):
            if name == "launch_persistent_context":
                self.out.missing("the profile that the browser is started with")
            return Handle("browser")
        if name in LEFT_OUT or name == "close":
            return None
        if name in ("wait_for_event", "expect_event", "expect_page"):
            event = self.value(call.given[0]) if call.given and name != "expect_page" else "page"
            if event != "page":
                raise Unsayable(f"waiting for {quote(event)}")
            return Waited("popup", Page(self.current))
        raise Unsayable(f"{quote(handle.name)}.{quote(name)} is not known")

    def new_page(self) -> Value:
        if self.has_page:
            raise Unsayable("a second page that the test opens by itself")
        self.has_page = True
        return Page(0)

    def check_context(self, call: Call) -> None:
        options = self.options(call)
        for key, expression in options.named.items():
            if key == "viewport":
                self.window_size(self.value(expression))
            elif key in (
                "base_url",
                "ignore_https_errors",
                "record_video_dir",
                "locale",
                "timezone_id",
                "device_scale_factor",
            ):
                self.out.note(f"{key} of the context is left out")
            else:
                self.out.missing(f"{quote(key)} of the context")

    def window_size(self, size: Value) -> None:
        width = size.get("width") if isinstance(size, dict) else None
        if isinstance(size, dict) and (not isinstance(width, int) or width < NARROW_PX):
            self.out.missing("a phone's window: tests run in a desktop's")
        else:
            self.out.note("the size of the window is left out")

    def test_step(self, call: Call) -> Value:
        try:
            title = self.value(call.given[0]) if call.given else "step"
        except Unsayable:
            title = "step"
        function = self.value(call.given[1]) if len(call.given) > 1 else None
        if not isinstance(function, Function):
            raise Unsayable("a step whose function stands elsewhere")
        with self.out.block("group", str(title)[:500]):
            self.body(function.body)
        return None

    def options(self, call: Call, *, most: int | None = None) -> _Options:
        """Positional arguments, and named ones, also those of a mapping that stands last, as JavaScript has them."""
        given, named = list(call.given), {snake(key): value for key, value in call.named}
        if given and isinstance(given[-1], Pairs) and (most is None or len(given) > most):
            pairs = given.pop()
            assert isinstance(pairs, Pairs)
            named |= {snake(key): value for key, value in pairs.pairs}
        given += [named.pop(key) for key in FIRST if key in named]
        return _Options(given, named)

    def add(self, raw: Mapping[str, Any], page: Page | None = None, options: _Options | None = None) -> None:
        if page is not None:
            self.go_to(page)
        beside = self.time(options) if options else {}
        step = beside_step(read_step(dict(raw) | beside), self.beside)
        self.out.add(step)
        self.done += not step.kind.startswith(("assert_", "extract", "screenshot"))
        self.beside = None

    def time(self, options: _Options) -> dict[str, Any]:
        expression = options.named.get("timeout")
        if expression is None:
            return {}
        value = self.value(expression)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unsayable("a timeout that is not known")
        return {"timeout_ms": round(value)} if value > 0 else {}

    def go_to(self, page: Page) -> None:
        if page.number == self.current:
            return
        if page.number != len(self.openers) - 1 or page.number < self.current:
            raise Unsayable("goes back to an earlier page while another one is open; close that one first")
        self.out.add(read_step({"tab": {"switch": "newest"}}))
        self.done += 1
        self.current = page.number

    def check_options(self, options: _Options, *known: str) -> None:
        for key, expression in options.named.items():
            if key == "force" and self.value(expression) is True:
                self.out.note("'force' is left out: an element has to be ready to be used")
            elif key not in known and key not in IGNORED_OPTIONS and key not in ("timeout", "force"):
                raise Unsayable(f"the option {quote(key)}")

    # --- pages and places ---

    def page_call(self, page: Page, name: str, call: Call) -> Value:
        match name:
            case "goto":
                options = self.options(call)
                self.check_options(options)
                url = (
                    relative(self.text_of(self.value(options.given[0])) if options.given else "", self.base_url) or "/"
                )
                if leads_elsewhere(url) and self.base_url:
                    self.out.note(f"goes to {quote(url)}, which is not below the project's base URL")
                self.add({"goto": {"url": url}}, page, options)
            case "go_back" | "reload":
                self.add({{"go_back": "back"}.get(name, name): None}, page, self.options(call))
            case "wait_for_timeout":
                value = self.value(call.given[0]) if call.given else None
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise Unsayable("a pause of unknown length")
                self.add({"wait": {"ms": round(value)}}, page)
            case "wait_for_url":
                self.wait_for_url(page, call)
            case "title" | "url":
                return Read(page, name)
            case "close":
                self.close(page)
            case "once" | "on":
                self.on_event(page, name, call)
            case "expect_popup" | "expect_download" | "expect_file_chooser":
                return Waited(name.removeprefix("expect_"), page)
            case "expect_navigation" | "wait_for_navigation":
                if set(self.options(call).named) - {"timeout", "wait_until"} or self.options(call).given:
                    self.out.missing("where the navigation leads is not checked")
                else:
                    self.out.note("waiting for a navigation is left out: each step waits for what it needs")
                return Handle("navigation")
            case "expect_event" | "wait_for_event":
                event = self.value(call.given[0]) if call.given else ""
                if event not in ("popup", "page", "download"):
                    raise Unsayable(f"waiting for {quote(event)}")
                waited = Waited("popup" if event != "download" else "download", page)
                if name == "wait_for_event" and event == "download":
                    self.out.missing("that a download comes is not checked")
                return waited
            case "frame":
                return self.frame(page, call)
            case "screenshot":
                self.screenshot(page, None, call)
            case "set_viewport_size":
                options = self.options(call, most=1)
                self.window_size(self.value(options.given[0]) if options.given else dict.fromkeys(options.named))
            case _ if name in LEFT_OUT:
                self.out.note(f"page.{name} is left out")
            case _:
                return self.place_call(Inside(page, Place()), name, call)
        return None

    def wait_for_url(self, page: Page, call: Call) -> None:
        options = self.options(call)
        wanted = self.value(options.given[0]) if options.given else None
        if isinstance(wanted, str):
            wanted = self.whole_address(wanted)
            glob = re.search(r"[*{}\\]", PLACEHOLDER.sub("", wanted)) is not None
            if glob and PLACEHOLDER.search(wanted):
                raise Unsayable("wildcards beside a variable")
            condition = {"matches": url_glob(wanted)} if glob else {"equals": wanted}
        else:
            condition = self.url_condition(wanted, negative=False)
        self.add({"wait": {"url": condition}}, page, options)

    def whole_address(self, url: str) -> str:
        """As addresses are looked at here: without the base URL, else from the root on."""
        url = relative(url, self.base_url)
        return url if leads_elsewhere(url) or url.startswith(("/", "*", "$")) else f"/{url}"

    def url_condition(
        self, wanted: Value, *, part: bool = False, negative: bool = False, any_case: bool | None = None
    ) -> dict[str, Any]:
        if isinstance(wanted, str) and not part:
            wanted = self.whole_address(wanted)
        elif isinstance(wanted, str | Rx) and self.names_host(wanted.text if isinstance(wanted, Rx) else wanted):
            # Where addresses have no base URL it is never there, and a check that it is not could not fail.
            kind = "pattern" if isinstance(wanted, Rx) else "part"
            raise Unsayable(f"an address by a {kind} with its host: here addresses have no base URL")
        return self.condition(wanted, part=part, negative=negative, any_case=any_case)

    def names_host(self, text: str) -> bool:
        """Could this part or pattern of an address only be found together with its host?"""
        host = urlsplit(self.base_url or "").hostname or ""
        plain = text.replace("\\", "").lower()
        return bool(HOSTS.search(plain)) or (bool(host) and host in plain)

    def close(self, page: Page) -> None:
        if page.number == 0:
            return  # every test ends so
        self.go_to(page)
        self.add({"tab": {"close": True}})
        self.current = self.openers[page.number]

    def on_event(self, page: Page, name: str, call: Call) -> None:
        event, function = [self.value(one) for one in call.given[:2]] if len(call.given) > 1 else ("", None)
        if event != "dialog" or not isinstance(function, Function) or len(function.parameters) != 1:
            raise Unsayable(f"listening to {quote(event)}")
        answers = []
        for one in function.body:
            what = one.what if isinstance(one, Do | Let) else None
            if isinstance(what, Call) and isinstance(what.of, Member) and what.of.name == "catch":
                what = what.of.of  # codegen lets an answer that comes too late pass
            if isinstance(what, Call) and isinstance(what.of, Name) and what.of.name == "print":
                continue
            if isinstance(what, Call) and isinstance(what.of, Member):
                of = what.of.of
                if isinstance(of, Name) and of.name == "console":
                    continue
                if isinstance(of, Name) and of.name == function.parameters[0] and what.of.name in ("accept", "dismiss"):
                    text = {"text": self.text_of(self.value(what.given[0]))} if what.given else {}
                    answers.append({"answer": what.of.name} | text)
                    continue
            raise Unsayable("an answer to dialogs that does more than accept or dismiss")
        if len(answers) != 1:
            raise Unsayable("an answer to dialogs that does more than accept or dismiss")
        if name == "on":
            self.out.note("answers every dialog; here the step answers the next one alone")
        self.add({"dialog": answers[0]}, page)

    def frame(self, page: Page, call: Call) -> Value:
        options = self.options(call)
        pairs = dict(call.given[0].pairs) if call.given and isinstance(call.given[0], Pairs) else dict(call.named)
        name = options.named.get("name") or (options.given[0] if options.given and "url" not in pairs else None)
        text = self.value(name) if name is not None and "url" not in pairs else None
        if not isinstance(text, str):
            raise Unsayable("a frame by its address")
        return Inside(page, Place(None, ({"css": f"iframe[name={css_string(text)}]"},)))

    def place_call(self, where: Inside, name: str, call: Call) -> Value:
        made = self.located(where.place, name, call)
        if made is not None:
            return Found(where.page, made)
        match name:
            case "frame_locator":
                return Inside(where.page, enter(self.selected(where.place, call)))
            case "wait_for_selector":
                options = self.options(call)
                spot = self.selected(where.place, Call(call.line, call.of, tuple(options.given[:1])))
                return self.wait_for(Found(where.page, spot), options)
            case "drag_and_drop":
                options = self.options(call)
                self.check_options(options)
                if len(options.given) != 2:
                    raise Unsayable("from where to where it is dragged is not known")
                one, other = (select(where.place, self.text_of(self.value(text))) for text in options.given[:2])
                self.add({"drag": one.raw() | {"to": other.raw()}}, where.page, options)
                return None
            case "eval_on_selector" | "eval_on_selector_all":
                raise Unsayable(f"JavaScript of the page cannot be a step: {quote(name)}")
            case "first" | "last":
                raise Unsayable("a frame by its place")
        if name in SHORTHANDS and call.given:
            spot = self.selected(where.place, Call(call.line, call.of, call.given[:1]))
            return self.found_call(Found(where.page, spot), name, replace(call, given=call.given[1:]))
        raise Unsayable(f"page.{quote(name)} is not known")

    def selected(self, place: Place, call: Call) -> Spot:
        value = self.value(call.given[0]) if call.given else None
        if not isinstance(value, str):
            raise Unsayable("a selector that is not known")
        return select(place, value)

    def located(self, place: Place, name: str, call: Call) -> Spot | None:
        """A locator that begins at a place; None for any other call."""
        if name not in ("locator", "get_by_role", "query_selector", "query_selector_all", *GET_BY):
            return None
        options = self.options(call)
        first = self.value(options.given[0]) if options.given else None
        named = {key: self.value(expression) for key, expression in options.named.items()}
        if name == "locator":
            if isinstance(first, Found):
                spot = (
                    below(place.inside, first.spot)
                    if place.inside
                    else Spot(first.spot.at, (*place.frames, *first.spot.frames))
                )
            elif isinstance(first, str):
                spot = select(place, first)
            else:
                raise Unsayable("a selector that is not known")
            return self.filtered(spot, named)
        if name.startswith("query_selector"):
            if not isinstance(first, str):
                raise Unsayable("a selector that is not known")
            return select(place, first)
        exact = named.pop("exact", False) is True
        if name == "get_by_role":
            text = named.pop("name", None)
            if not isinstance(first, str) or not isinstance(text, str | Rx | None):
                raise Unsayable("a role or a name that is not known")
            return by_role(place, first, text, named, exact=exact)
        if named or not isinstance(first, str | Rx):
            raise Unsayable(f"{name} of a text that is not known")
        return by(place, GET_BY[name], first, exact=exact)

    def filtered(self, spot: Spot, named: Mapping[str, Any]) -> Spot:
        return keep(spot, **{key: one.spot if isinstance(one, Found) else one for key, one in named.items()})

    # --- locators ---

    def found_call(self, found: Found, name: str, call: Call) -> Value:
        made = self.located(Place(found.spot), name, call)
        if made is not None:
            return Found(found.page, made)
        match name:
            case "filter":
                named = {key: self.value(one) for key, one in self.options(call).named.items()}
                return Found(found.page, self.filtered(found.spot, named))
            case "first" | "last":
                return Found(found.page, pick(found.spot, 0 if name == "first" else -1))
            case "nth":
                at = self.value(call.given[0]) if call.given else None
                if isinstance(at, bool) or not isinstance(at, int):
                    raise Unsayable("a place that is not known")
                return Found(found.page, pick(found.spot, at))
            case "and_" | "and":
                other = self.value(call.given[0]) if call.given else None
                if not isinstance(other, Found):
                    raise Unsayable("a locator that is not known")
                return Found(found.page, both(found.spot, other.spot))
            case "frame_locator":
                inner = self.selected(Place(found.spot), call)
                return Inside(found.page, enter(inner))
            case "content_frame":
                return Inside(found.page, enter(found.spot))
            case "inner_text" | "text_content":
                return Read(found.page, "text", found.spot)
            case "input_value":
                return Read(found.page, "value", found.spot)
            case "count":
                return Read(found.page, "count", found.spot)
            case "get_attribute":
                attribute = self.value(call.given[0]) if call.given else None
                if not isinstance(attribute, str) or not re.fullmatch(r"[\w:.\-]+", attribute):
                    raise Unsayable("an attribute that is not known")
                return Read(found.page, "attribute", found.spot, attribute)
            case _ if name.removeprefix("is_") in STATES and name.startswith("is_"):
                return Read(found.page, name.removeprefix("is_"), found.spot)
            case "describe":
                return found
        self.act(found, name, call)
        return None

    def act(self, found: Found, name: str, call: Call) -> None:
        takes_mapping = name in ("select_option", "set_input_files")
        options = self.options(call, most=1 if takes_mapping else None)
        raw = found.spot.raw()
        first = self.value(options.given[0]) if options.given else None
        match name:
            case "click" | "dblclick" | "hover" | "check" | "uncheck":
                self.check_options(options, "button", "modifiers", "position", "click_count")
                given = {key: self.value(one) for key, one in options.named.items()}
                count = given.pop("click_count", 1)
                if count not in (1, 2) or isinstance(count, bool):
                    raise Unsayable(f"{quote(count)} clicks")
                kind = "dblclick" if count == 2 else SIMPLE[name]
                kept = {key: given[key] for key in ("button", "modifiers", "position") if key in given}
                if kept.get("button") == "left":
                    del kept["button"]
                self.add({kind: raw | kept}, found.page, options)
            case "fill" | "type" | "press_sequentially":
                self.check_options(options)
                kind = "fill" if name == "fill" else "type"
                self.add({kind: raw | {"value": self.text_of(first)}}, found.page, options)
            case "clear":
                self.add({"fill": raw | {"value": ""}}, found.page, options)
            case "press":
                self.check_options(options)
                self.add({"press": raw | {"key": self.text_of(first)}}, found.page, options)
            case "set_checked":
                if not isinstance(first, bool):
                    raise Unsayable("a state that is not known")
                self.add({"check" if first else "uncheck": raw}, found.page, options)
            case "select_option":
                self.add({"select": raw | self.choice(first, options)}, found.page, options)
            case "set_input_files":
                self.add({"upload": raw | {"files": self.files(first)}}, found.page, options)
            case "drag_to":
                if not isinstance(first, Found):
                    raise Unsayable("a place to drag to that is not known")
                self.check_options(options)
                self.add({"drag": raw | {"to": first.spot.raw()}}, found.page, options)
            case "scroll_into_view_if_needed":
                self.add({"scroll": {"until": raw}}, found.page, options)
            case "screenshot":
                self.screenshot(found.page, raw, call)
            case "wait_for":
                self.wait_for(found, options)
            case "highlight":
                self.out.note("highlight is left out")
            case _:
                raise Unsayable(f"'{quote(name)}' of a locator is not known")

    def screenshot(self, page: Page, raw: Mapping[str, Any] | None, call: Call) -> None:
        options = self.options(call)
        path = options.named.get("path")
        name = self.value(path) if path is not None else None
        named = {"as": name.rpartition("/")[2].partition(".")[0][:100] or "page"} if isinstance(name, str) else {}
        self.add({"screenshot": dict(raw or {}) | named}, page)

    def wait_for(self, found: Found, options: _Options) -> Value:
        state = self.value(options.named["state"]) if "state" in options.named else "visible"
        self.check_options(options, "state")
        raw = found.spot.raw()
        match state:
            case "visible" | "hidden":
                wanted = {"state": state} if state != "visible" else {}
                self.add({"wait": {"for": raw} | wanted}, found.page, options)
            case "attached":
                self.add({"assert_count": raw | {"at_least": 1}}, found.page, options)
            case "detached":
                self.add({"assert_count": raw | {"equals": 0}}, found.page, options)
            case _:
                raise Unsayable(f"waiting for the state {quote(state)}")
        return found

    def choice(self, first: Value, options: _Options) -> dict[str, Any]:
        chosen: dict[str, Any] = {
            key: self.value(one) for key, one in options.named.items() if key in ("value", "label", "index")
        }
        if first is not None:
            one = first[0] if isinstance(first, list) and len(first) == 1 else first
            chosen |= one if isinstance(one, dict) else {"value": one}
        if len(chosen) != 1:
            raise Unsayable("several choices at once")
        key, value = next(iter(chosen.items()))
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        if key == "index" and isinstance(value, int):
            return {"index": value}
        if not isinstance(value, str) or key not in ("value", "label"):
            raise Unsayable("a choice that is not known")
        return {"option" if key == "label" else "value": value}

    def files(self, value: Value) -> list[str]:
        names = value if isinstance(value, list) else [value]
        files = [one for one in names if isinstance(one, str) and one]
        if not files or len(files) != len(names):
            raise Unsayable("files that are not named")
        return files

    def keyboard(self, page: Page, name: str, call: Call) -> Value:
        given = self.options(call).given
        if len(given) != 1:
            raise Unsayable(f"keyboard.{quote(name)} of what is not known")
        text = self.text_of(self.value(given[0]))
        if name == "press":
            self.add({"press": {"key": text}}, page)
        elif name in ("type", "insert_text"):
            self.add({"type": {"css": ":focus", "value": text}}, page)
        else:
            raise Unsayable(f"keyboard.{quote(name)} is not known")
        return None

    # --- checks ---

    def condition(
        self, wanted: Value, *, part: bool = False, negative: bool = False, any_case: bool | None = None,
        folded: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """The condition of a text: the whole of it, or a `part`; `folded`: it is looked at with white space folded."""
        if isinstance(wanted, Rx):
            text = wanted.text if any_case is None else in_case(wanted.text, any_case)
            if folded and negative and LINES.search(text):
                raise Unsayable("an expression of several lines: here texts have one")
            return {"matches": not_matching(text) if negative else text}
        if isinstance(wanted, bool) or not isinstance(wanted, str | int | float):
            raise Unsayable("an expectation that is not known")
        text = str(wanted)
        if any_case or (negative and not part):
            if PLACEHOLDER.search(text):
                raise Unsayable("a variable in such an expectation")
            text = fold(text) if folded else text
            if any_case:
                pattern = re.escape(text) if part else rf"^\s*{re.escape(text)}\s*$"
                return {"matches": not_matching(f"(?i){pattern}") if negative else f"(?i){pattern}"}
            return {"matches": not_equal(text)}
        return {("not_contains" if negative else "contains") if part else "equals": text}

    def expectation(self, subject: Value, name: str, call: Call) -> None:
        negative = name.startswith("not_")
        what = name.removeprefix("not_").removeprefix("to_")
        options = self.options(call)
        wanted = self.value(options.given[0]) if options.given else None
        takes = 2 if what in TWO_VALUES else 0 if what.startswith("be_") and isinstance(subject, Found) else 1
        if len(options.given) > takes:
            raise Unsayable(f"what to_{quote(what)} is given beside its expectation")
        match subject:
            case Page():
                self.check_options(options, "ignore_case")
                self.page_expectation(subject, what, wanted, negative, options)
            case Found():
                self.check_options(
                    options,
                    "visible",
                    "enabled",
                    "checked",
                    "editable",
                    "attached",
                    "ignore_case",
                    "use_inner_text",
                    "ratio",
                )
                self.found_expectation(subject, what, wanted, negative, options)
            case _:
                self.value_expectation(subject, what, wanted, negative)

    def page_expectation(self, page: Page, what: str, wanted: Value, negative: bool, options: _Options) -> None:
        if what == "have_url":
            condition = self.url_condition(wanted, negative=negative, any_case=self.any_case(options))
            self.add({"assert_url": condition}, page, options)
        elif what == "have_title":
            self.add({"assert_title": self.condition(wanted, negative=negative, folded=True)}, page, options)
        else:
            raise Unsayable(f"the check to_{quote(what)} of a page")

    def any_case(self, options: _Options) -> bool | None:
        """What `ignore_case` says; it counts more than the flags of an expression."""
        return self.truth(options, "ignore_case")

    def truth(self, options: _Options, key: str) -> bool | None:
        value = self.value(options.named[key]) if key in options.named else None
        if not isinstance(value, bool | None):
            raise Unsayable(f"the option {quote(key)}")
        return value

    def found_expectation(self, found: Found, what: str, wanted: Value, negative: bool, options: _Options) -> None:
        raw = found.spot.raw()
        for key in ("visible", "enabled", "checked", "editable", "attached"):
            if self.truth(options, key) is False:
                negative = not negative
        any_case = self.any_case(options)
        if negative and what in ("have_text", "contain_text") and not self.truth(options, "use_inner_text"):
            self.out.note("that a text is not there is checked of what is shown: parts that are hidden do not count")
        second = self.value(options.given[1]) if len(options.given) > 1 else None
        match what, wanted:
            case "have_text" | "contain_text", list():
                if negative:
                    raise Unsayable("a list of texts that is not there")
                if what == "contain_text":
                    raise Unsayable("a list of texts among others")
                self.add({"assert_count": raw | {"equals": len(wanted)}}, found.page, options)
                for number, one in enumerate(wanted):
                    spot = pick(found.spot, number).raw()
                    condition = self.condition(one, any_case=any_case, folded=True)
                    self.add({"assert_text": spot | condition}, found.page, options)
                return
            case "have_attribute", str() if not re.fullmatch(r"[\w:.\-]+", wanted):
                raise Unsayable("an attribute that is not known")
            case "have_attribute", str() if isinstance(second, Rx) and not negative and matches_nothing(second):
                # An attribute that is not there reads as an empty text.
                self.is_in_state(found, raw, f":scope[{wanted}]", False, options)
            case "have_attribute", str() if len(options.given) == 1 or second == "":
                selector = f":scope[{wanted}]" if len(options.given) == 1 else f':scope[{wanted}=""]'
                self.is_in_state(found, raw, selector, negative, options)
                return
        for check in self.found_checks(found, raw, what, wanted, second, negative, any_case, len(options.given)):
            self.add(check, found.page, options)

    def found_checks(
        self, found: Found, raw: dict[str, Any], what: str, wanted: Value, second: Value, negative: bool,
        any_case: bool | None, count: int,
    ) -> list[dict[str, Any]]:  # fmt: skip
        def text(value: Value, *, part: bool = False, folded: bool = False) -> dict[str, Any]:
            return self.condition(value, part=part, negative=negative, any_case=any_case, folded=folded)

        def either(yes: list[dict[str, Any]], no: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return no if negative else yes

        visible, hidden = [{"assert_visible": raw}], [{"assert_hidden": raw}]
        enabled, disabled = [{"assert_enabled": raw}], [{"assert_disabled": raw}]
        writable = [*enabled, {"assert_count": inside(raw, WRITABLE) | {"equals": 1}}]
        match what:
            case "be_visible":
                return either(visible, hidden)
            case "be_hidden":
                return either(hidden, visible)
            case "be_enabled":
                return either(enabled, disabled)
            case "be_disabled":
                return either(disabled, enabled)
            case "be_checked":
                return either([{"assert_checked": raw}], [{"assert_count": inside(raw, UNCHECKED) | {"equals": 1}}])
            case "be_editable":
                return either(writable, [{"assert_count": inside(raw, UNWRITABLE) | {"equals": 1}}])
            case "be_focused":
                return [{"assert_count": inside(raw, FOCUSED) | {"equals": 0 if negative else 1}}]
            case "be_attached":
                return [{"assert_count": raw | {"equals": 0 if negative else 1}}]
            case "have_count" if isinstance(wanted, int) and not isinstance(wanted, bool):
                if negative and wanted:
                    raise Unsayable("a count that is not to be")
                return [{"assert_count": raw | ({"at_least": 1} if negative else {"equals": wanted})}]
            case "have_text":
                return [{"assert_text": raw | text(wanted, folded=True)}]
            case "contain_text":
                return [{"assert_text": raw | text(wanted, part=True, folded=True)}]
            case "have_value":
                return [{"assert_value": raw | text(wanted)}]
            case "have_attribute" if isinstance(wanted, str) and count > 1:
                return [{"assert_attribute": raw | {"attribute": wanted} | text(second)}]
            case "have_id":
                return [{"assert_attribute": raw | {"attribute": "id"} | text(wanted)}]
            case "have_class":
                return [{"assert_attribute": raw | {"attribute": "class"} | text(wanted)}]
            case "contain_class" if isinstance(wanted, str) and wanted and not PLACEHOLDER.search(wanted):
                names = [rf"(?:^|\s){re.escape(one)}(?:\s|$)" for one in wanted.split()]
                if negative and len(names) > 1:
                    raise Unsayable("several classes that are not there")
                return [
                    {"assert_attribute": raw | {"attribute": "class"} | self.condition(Rx(one), negative=negative)}
                    for one in names
                ]
        raise Unsayable(f"the check to_{quote(what)}")

    def is_in_state(self, found: Found, raw: dict[str, Any], css: str, negative: bool, options: _Options) -> None:
        if negative:
            self.add({"assert_count": raw | {"equals": 1}}, found.page, options)
        self.add({"assert_count": inside(raw, css) | {"equals": 0 if negative else 1}}, found.page, options)

    def value_expectation(self, subject: Value, what: str, wanted: Value, negative: bool) -> None:
        how = {
            "be": "==", "equal": "==", "strict_equal": "==", "contain": "contains", "match": "matches",
            "be_greater_than": ">", "be_greater_than_or_equal": ">=", "be_less_than": "<",
            "be_less_than_or_equal": "<=",
        }.get(what)  # fmt: skip
        if what in ("be_truthy", "be_falsy"):
            how, wanted = "==", (what == "be_truthy")
            if not (isinstance(subject, Read) and subject.what in STATES):
                raise Unsayable(f"the check to_{quote(what)} of a value")
        if how is None:
            raise Unsayable(f"the check to_{quote(what)} of a value")
        if negative:
            how = {"==": "!=", "contains": "not contains", "matches": "not matches"}.get(how, "")
        self.compare(subject, how, wanted)

    def compare(self, left: Value, how: str, right: Value) -> None:
        if isinstance(left, str) and (found := PLACEHOLDER.fullmatch(left)):
            self.add({"assert_variable": {"variable": found[1]} | self.compared(how, right, folded=True)})
            return
        if not isinstance(left, Read):
            raise Unsayable("a comparison of values that no page has")
        if left.at is not None and left.at != self.done:
            raise Unsayable(f"a comparison with the {left.what} of before something else was done")
        if left.what in STATES:
            self.compare_state(left, how, right)
            return
        if left.what == "count":
            self.compare_count(left, how, right)
            return
        if left.what == "url":
            self.add({"assert_url": self.compared(how, right, self.url_condition)}, left.page)
            return
        raw = left.spot.raw() if left.spot else {}
        extra = {"attribute": left.attribute} if left.what == "attribute" else {}
        condition = self.compared(how, right, folded=left.what in ("text", "title"))
        self.add({f"assert_{left.what}": raw | extra | condition}, left.page)

    def compared(
        self, how: str, right: Value, condition: Callable[..., dict[str, Any]] | None = None, **more: bool
    ) -> dict[str, Any]:
        made = condition or self.condition
        match how:
            case "==" | "!=" if not isinstance(right, Rx):
                return made(right, negative=how == "!=", **more)
            case "contains" | "not contains" if not isinstance(right, Rx):
                return made(right, part=True, negative=how.startswith("not"), **more)
            case "matches" | "not matches" if isinstance(right, Rx):
                return made(right, negative=how.startswith("not"), **more)
        raise Unsayable(f"a comparison by {quote(how)}")

    def compare_state(self, left: Read, how: str, right: Value) -> None:
        if how not in ("==", "!=", "is") or not isinstance(right, bool) or left.spot is None:
            raise Unsayable("a comparison of a state")
        negative = right != (how != "!=")
        self.found_expectation(Found(left.page, left.spot), f"be_{left.what}", None, negative, _Options([]))

    def compare_count(self, left: Read, how: str, right: Value) -> None:
        assert left.spot is not None
        if isinstance(right, bool) or not isinstance(right, int):
            raise Unsayable("a count that is not known")
        condition = {
            "==": {"equals": right}, ">": {"at_least": right + 1}, ">=": {"at_least": right},
            "<": {"at_most": right - 1}, "<=": {"at_most": right},
        }.get(how) or ({"at_least": 1} if (how, right) == ("!=", 0) else None)  # fmt: skip
        if condition is None:
            raise Unsayable("a count that is not to be")
        self.add({"assert_count": left.spot.raw() | condition}, left.page)
