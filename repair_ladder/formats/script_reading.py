"""What a Playwright script means, in whichever language it is written: its calls become steps, the rest is named.

The modules script_*.py are the only place that knows Playwright's API: this one follows the statements and gives
expressions their values, its siblings know the calls. Nothing is run: a name means what the file itself gave it as a
constant, a locator or a page, and anything else is not understood.

Texts are compared as they are shown; Playwright, unless told otherwise, also counts what of an element is hidden.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from radar.locators import write as write_locator
from repair_ladder.errors import BadTest
from repair_ladder.formats import WrittenTest
from repair_ladder.formats.gathering import (
    NAME,
    Gatherer,
    TooMuch,
    Unsayable,
    beside_step,
    literal,
    name_of,
    quote,
    read_mark,
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
from repair_ladder.formats.script_checks import compare
from repair_ladder.formats.script_elements import found_call
from repair_ladder.formats.script_functions import all_of, environment, function, handle_call
from repair_ladder.formats.script_locators import Place, enter, pick, regex
from repair_ladder.formats.script_pages import page_call, place_call
from repair_ladder.formats.script_values import (
    ENDS,
    Found,
    Handle,
    Inside,
    Opaque,
    Options,
    Page,
    Read,
    Value,
    Waited,
    text_of,
)
from repair_ladder.step_format import LONGEST_VALUE, read_step
from repair_ladder.values import PLACEHOLDER, names_in

FIXTURES: Final = frozenset(
    "page context browser browser_name browserName base_url baseURL playwright is_mobile isMobile is_chromium "
    "is_firefox is_webkit isMobile live_server self cls channel browserVersion testInfo tmp_path".split()
)
IGNORED_OPTIONS: Final = frozenset(
    "no_wait_after delay strict steps wait_until wait_for_timeout polling referer scroll".split()
)
DEEPEST: Final = 40
MOST_CASES: Final = 2000
MOST_STATEMENTS: Final = 20_000  # of one test
MOST_IN_ALL: Final = 40_000  # statements of all tests of a file, what stands before each counted each time
# Of methods that take these in the first place, by name.
FIRST: Final = (
    "selector", "role", "text", "test_id", "url", "key", "expected", "url_or_reg_exp", "title_or_reg_exp", "files",
    "source", "target", "value",
)  # fmt: skip


def given_names(statement: Statement) -> Iterator[str]:
    """The names that a statement would give a value."""
    match statement:
        case Let():
            yield from (name for name in statement.names if name)
        case Other():
            yield from statement.gives
        case Within():
            yield from [statement.name] if statement.name else []
            for one in statement.body:
                yield from given_names(one)


def read(script: Script, *, where: str, base_url: str | None = None) -> tuple[WrittenTest, ...]:
    """The tests of a script. Raises BadTest: one line with file and line."""
    if len(script.cases) > MOST_CASES:
        raise BadTest(f"{where}: more than {MOST_CASES} tests in one file")
    tests, count = [], 0
    for case in script.cases:
        name = name_of(case.name, f"{where}:{case.line}")
        reader = Reader(script, case, base_url)
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
    reader = Reader(Script((), ()), Case(1, "x", ("page",), ()), None)
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


class Reader:
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
        for name in (statement.name, *(name for one in statement.body for name in given_names(one) if not waits)):
            if name:
                self.names[name] = Opaque(f"'{name}' is not known")

    def claim(self, statement: Claim) -> None:
        left, right, how = self.value(statement.left), self.value(statement.right), statement.how
        if how in ("in", "not in"):
            left, right, how = right, left, "contains" if how == "in" else "not contains"
        elif isinstance(right, Read) and not isinstance(left, Read):
            flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
            left, right, how = right, left, flipped.get(how, how)
        compare(self, left, how, right)

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
                text = "".join(text_of(self.value(part)) for part in expression.parts)
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
                return environment(self, key)
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

    # --- calls ---

    def call(self, call: Call) -> Value:
        if isinstance(call.of, Name):
            return function(self, call.of.name, call)
        if not isinstance(call.of, Member):
            raise Unsayable("a call that is not known")
        name = call.of.name
        if isinstance(call.of.of, Name) and call.of.of.name == "Promise" and name == "all":
            return all_of(self, call)
        subject = self.value(call.of.of)
        match subject:
            case Page():
                return page_call(self, subject, name, call)
            case Inside():
                return place_call(self, subject, name, call)
            case Found():
                return found_call(self, subject, name, call)
            case Handle():
                return handle_call(self, subject, name, call)
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

    def options(self, call: Call, *, most: int | None = None) -> Options:
        """Positional arguments, and named ones, also those of a mapping that stands last, as JavaScript has them."""
        given, named = list(call.given), {snake(key): value for key, value in call.named}
        if given and isinstance(given[-1], Pairs) and (most is None or len(given) > most):
            pairs = given.pop()
            assert isinstance(pairs, Pairs)
            named |= {snake(key): value for key, value in pairs.pairs}
        given += [named.pop(key) for key in FIRST if key in named]
        return Options(given, named)

    def add(self, raw: Mapping[str, Any], page: Page | None = None, options: Options | None = None) -> None:
        if page is not None:
            self.go_to(page)
        beside = self.time(options) if options else {}
        step = beside_step(read_step(dict(raw) | beside), self.beside)
        self.out.add(step)
        self.done += not step.kind.startswith(("assert_", "extract", "screenshot"))
        self.beside = None

    def time(self, options: Options) -> dict[str, Any]:
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

    def check_options(self, options: Options, *known: str) -> None:
        for key, expression in options.named.items():
            if key == "force" and self.value(expression) is True:
                self.out.note("'force' is left out: an element has to be ready to be used")
            elif key not in known and key not in IGNORED_OPTIONS and key not in ("timeout", "force"):
                raise Unsayable(f"the option {quote(key)}")

    # --- pages and places ---

    # --- locators ---

    # --- checks ---
