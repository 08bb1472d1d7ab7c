"""Playwright tests in Python: what codegen writes, and pytest-playwright. Parsed with `ast`, never run."""

from __future__ import annotations

import ast
import itertools
import keyword
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from repair_ladder.errors import BadTest
from repair_ladder.formats import Exported, WrittenTest, script_reading, script_writing
from repair_ladder.formats.gathering import MARK, TooMuch, check_text, quote
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
)
from repair_ladder.formats.script_writing import dumps

LARGEST: Final = 400_000  # characters
DEEPEST: Final = 60
MOST_STATEMENTS: Final = 20_000
MOST_QUOTED: Final = 400  # characters that are looked at to quote a statement
MOST_INSIDE: Final = 2000  # lines of one block that are named
MOST_MARKS: Final = 50  # of all tests of a file
MOST_CASES: Final = 200  # of one parametrized test
MARKED: Final = re.compile(rf"(?:^|\s)# ({re.escape(MARK)} \{{.*\}})\s*$")
FLAGS: Final = {"I": "i", "IGNORECASE": "i", "M": "m", "MULTILINE": "m", "S": "s", "DOTALL": "s"}
COMPARED: Final = {
    ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.Is: "is", ast.IsNot: "!=",
}  # fmt: skip
SKIPPED: Final = (ast.Pass, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef
# Methods that change the list or mapping they are called on.
CHANGES: Final = frozenset("append extend insert remove pop update add setdefault sort reverse".split())
SET_UP: Final = frozenset(
    "setup_module setup_function setup_method setup_class setUp setUpClass setup asyncSetUp".split()
)
# Fixtures that the plugin's own page asks for by itself.
BEHIND_A_PAGE: Final = frozenset({"browser", "context"})
OVERRIDDEN: Final = BEHIND_A_PAGE | {"browser_context_args", "browser_type_launch_args", "connect_options"}


def read(
    text: str, *, where: str = "the file", name: str = "test", base_url: str | None = None
) -> tuple[WrittenTest, ...]:
    """The tests of a file; `name` is for a recorded script, which gives itself none. Raises BadTest: one line."""
    try:
        return script_reading.read(parse(text, where, name), where=where, base_url=base_url)
    except RecursionError:
        raise BadTest(f"{where}: nested too deep") from None


def parse(text: str, where: str, name: str) -> Script:
    check_text(text, where)
    if len(text) > LARGEST:
        raise BadTest(f"{where}: larger than {LARGEST // 1000} kB; a test file is text written by people")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) > MOST_STATEMENTS:
            raise BadTest(f"{where}: more than {MOST_STATEMENTS} statements in one file")
        return _File(tree, text, name).script()
    except TooMuch as error:
        raise BadTest(f"{where}: {error}") from None
    except SyntaxError as error:
        raise BadTest(f"{where}:{error.lineno or 1}: not Python: {quote(error.msg)}") from None
    except (RecursionError, MemoryError):
        raise BadTest(f"{where}: nested too deep") from None
    except ValueError as error:
        raise BadTest(f"{where}: not Python: {quote(error)}") from None


def parse_expression(text: str) -> Expression:
    """One expression. Raises BadTest."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
        return _File(ast.Module([], []), text, "x").expression(tree.body)
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise BadTest(f"not Python: {quote(text)}") from None


@dataclass(slots=True)
class _Fixture:
    function: AnyFunction
    is_automatic: bool


@dataclass(slots=True)
class _Marks:
    """What decorators say of a test."""

    status: str = "active"
    tags: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)
    missing: list[tuple[int, str]] = field(default_factory=list)
    parameters: list[list[tuple[Statement, ...]]] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)


class _File:
    def __init__(self, tree: ast.Module, text: str, name: str) -> None:
        self.tree, self.name = tree, name
        self.lines = text.split("\n")
        self.marks = {number: found[1] for number, line in enumerate(self.lines, 1) if (found := MARKED.search(line))}
        self.fixtures: dict[str, _Fixture] = {}
        self.bodies: dict[int, list[Statement]] = {}  # of fixtures: what they do before a test
        self.in_all = 0  # lines that stand before the tests, each counted once for every test
        self.for_all: list[ast.expr] = []  # marks of the whole file
        self.unread: list[tuple[int, str]] = []  # what is done before each test, and cannot be said

    def script(self) -> Script:
        constants: list[Statement] = []
        cases: list[Case] = []
        for node in self.tree.body:
            if isinstance(node, AnyFunction):
                self.note_fixture(node)
                self.note_setup(node)
                constants.append(self.definition(node))
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                constants += self.statement(node)
            elif isinstance(node, ast.stmt) and not isinstance(node, (*SKIPPED, ast.ClassDef)):
                # What may be given a value at the top of the file, by a condition or a call, is not known after it.
                constants += [Let(node.lineno, (name,), Unknown(node.lineno, self.text(node))) for name in _given(node)]
            if isinstance(node, ast.Assign) and any(_dotted(one) == "pytestmark" for one in node.targets):
                self.for_all = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
                if len(self.for_all) > MOST_MARKS:
                    self.unread.append((node.lineno, f"more than {MOST_MARKS} marks of all tests"))
                    self.for_all = []
        for node in self.tree.body:
            if isinstance(node, AnyFunction) and node.name.startswith("test"):
                cases += self.cases(node, ())
            elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                cases += self.class_cases(node)
        return Script(tuple(constants), tuple(cases or self.recorded()))

    # --- tests ---

    def note_fixture(self, node: AnyFunction) -> None:
        for decorator in node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if _dotted(call) in ("pytest.fixture", "fixture", "pytest_asyncio.fixture"):
                keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
                is_automatic = any(one.arg == "autouse" and _is_true(one.value) for one in keywords)
                self.fixtures[node.name] = _Fixture(node, is_automatic)

    def note_setup(self, node: AnyFunction, owner: str = "") -> None:
        if node.name in SET_UP:
            of = f" of {owner}" if owner else ""
            self.unread.append((node.lineno, f"{node.name}{of}: what it does before each test is missing"))

    def class_cases(self, node: ast.ClassDef) -> Iterator[Case]:
        outer = dict(self.fixtures)
        unread = list(self.unread)
        for base in node.bases:
            if _dotted(base).rpartition(".")[2] not in ("object", "TestCase"):
                of = _dotted(base) or self.text(base)
                what = f"{of}, which {node.name} comes from: what it does before each test is missing"
                self.unread.append((node.lineno, what))
        for one in node.body:
            if isinstance(one, AnyFunction):
                self.note_fixture(one)
                self.note_setup(one, node.name)
        for one in node.body:
            if isinstance(one, AnyFunction) and one.name.startswith("test"):
                yield from self.cases(one, (*node.decorator_list,), prefix=f"{node.name} › ")
        self.fixtures, self.unread = outer, unread

    def cases(self, node: AnyFunction, outer: Sequence[ast.expr], prefix: str = "") -> Iterator[Case]:
        marks = _Marks()
        for decorator in (*self.for_all, *outer, *node.decorator_list):
            self.decorator(decorator, marks)
        marks.missing += self.unread
        for name in OVERRIDDEN & set(self.fixtures) - (BEHIND_A_PAGE if "page" in self.fixtures else set()):
            line = self.fixtures[name].function.lineno
            marks.missing.append((line, f"the fixture {name} of this file: what it says of the browser is missing"))
        if "base_url" in self.fixtures:
            marks.notes.append((self.fixtures["base_url"].function.lineno, "base_url is taken for the project's"))
        asked = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        given = {name for choice in marks.parameters for one in choice[:1] for let in one for name in _names(let)}
        before, unknown = self.before([*marks.asks, *asked], given)
        self.in_all += len(before)
        if self.in_all > script_reading.MOST_IN_ALL:
            most = script_reading.MOST_IN_ALL
            raise TooMuch(f"more than {most} lines, those before a test counted each time")
        body = self.body(node.body)
        case = Case(
            node.lineno, prefix + node.name, tuple(unknown), body, before, marks.status, tuple(marks.notes),
            tuple(marks.missing), tuple(dict.fromkeys(marks.tags)),
        )  # fmt: skip
        if not marks.parameters:
            yield case
            return
        labels = list(itertools.islice(itertools.product(*marks.labels), MOST_CASES + 1))
        for label, choice in zip(labels, itertools.product(*marks.parameters), strict=False):
            lets = tuple(one for part in choice for one in part)
            yield replace(case, name=f"{case.name}[{'-'.join(label)}]", before=(*lets, *before))

    def decorator(self, node: ast.expr, marks: _Marks) -> None:
        call = node if isinstance(node, ast.Call) else None
        name = _dotted(call.func if call else node)
        what = name.removeprefix("pytest.mark.")
        if what in ("staticmethod", "classmethod") or name in ("pytest.fixture",):
            return
        if what == "parametrize" and call is not None:
            self.parametrize(call, marks)
        elif what in ("skip", "skipif"):
            marks.status = "draft"
            marks.notes.append((node.lineno, f"{what}: the test is taken in as a draft"))
        elif what == "usefixtures" and call is not None:
            marks.asks += [
                one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
        elif what in ("asyncio", "timeout", "flaky", "order", "browser_context_args", "only_browser", "skip_browser"):
            marks.notes.append((node.lineno, f"{quote(what)} is left out"))
        elif name.startswith("pytest.mark.") and what.isidentifier() and what != "xfail":
            marks.tags.append(what)
        elif re.match(r"(?:allure|testrail|qase|zephyr)\b", name):
            marks.notes.append((node.lineno, f"{quote(name)} is left out"))
        else:
            marks.missing.append((node.lineno, f"the decorator {quote(name or self.text(node))}"))

    def parametrize(self, call: ast.Call, marks: _Marks) -> None:
        names_node, values = (*call.args, None, None)[:2]
        names: list[str] = []
        if isinstance(names_node, ast.Constant) and isinstance(names_node.value, str):
            names = [one.strip() for one in names_node.value.split(",") if one.strip()]
        elif isinstance(names_node, ast.List | ast.Tuple):
            names = [str(one.value) for one in names_node.elts if isinstance(one, ast.Constant)]
        choices, labels = list[tuple[Statement, ...]](), list[str]()
        for one in values.elts if isinstance(values, ast.List | ast.Tuple) else []:
            parts = [one] if len(names) == 1 else one.elts if isinstance(one, ast.List | ast.Tuple) else []
            if len(parts) != len(names) or not names or not all(name.isidentifier() for name in names):
                choices = []
                break
            choices.append(tuple(Let(one.lineno, (n,), self.expression(p)) for n, p in zip(names, parts, strict=True)))
            labels.append("-".join(quote(p.value) if isinstance(p, ast.Constant) else self.text(p)[:30] for p in parts))
        if any(one.arg == "indirect" for one in call.keywords):
            choices = []  # the values are for fixtures, which make something else of them
        if not choices or len(choices) > MOST_CASES:
            marks.missing.append((call.lineno, "parametrize with values that do not stand there"))
            return
        marks.parameters.append(choices)
        marks.labels.append(labels)

    def before(self, asked: Sequence[str], given: set[str]) -> tuple[tuple[Statement, ...], list[str]]:
        """What fixtures of this file do before a test, and the names of those that stand elsewhere."""
        statements: list[Statement] = []
        unknown: list[str] = []
        done: set[str] = set(given)

        def take(name: str, depth: int) -> None:
            if name in done:
                return
            done.add(name)
            fixture = self.fixtures.get(name)
            if fixture is None or depth > DEEPEST:
                unknown.append(name)
                return
            arguments = fixture.function.args
            for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                take(one.arg, depth + 1)
            if id(fixture) not in self.bodies:
                self.bodies[id(fixture)] = self.up_to_yield(fixture.function.body, name)[0]
            statements.extend(self.bodies[id(fixture)])

        for name, fixture in self.fixtures.items():
            if fixture.is_automatic:
                take(name, 0)
        for name in asked:
            take(name, 0)
        return tuple(statements), unknown

    def up_to_yield(self, nodes: Sequence[ast.stmt], name: str) -> tuple[list[Statement], bool]:
        """What a fixture does before its `yield` or `return`, whose value its name then means; and is there one?"""
        made: list[Statement] = []
        for one in nodes:
            given: ast.expr | None = None
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield):
                given = one.value.value or ast.Constant(None)
            elif isinstance(one, ast.Return):
                given = one.value or ast.Constant(None)
            if given is not None:
                ast.copy_location(given, one)
                if not (isinstance(given, ast.Constant) and given.value is None):
                    made.append(Let(one.lineno, (name,), self.expression(given)))
                return made, True
            if isinstance(one, ast.With | ast.AsyncWith):
                inner, ends = self.up_to_yield(one.body, name)
                made += self.with_block(one, tuple(inner))
                if ends:
                    return made, True
            else:
                made += self.statement(one)
        return made, False

    def recorded(self) -> Iterator[Case]:
        """A script without tests: what codegen writes. Each function that opens a browser is one."""
        found: list[tuple[str, int, Sequence[ast.stmt], str]] = []
        for node in self.tree.body:
            if isinstance(node, AnyFunction):
                names = [one.arg for one in node.args.args]
                if (
                    names
                    and names[0] in ("playwright", "p", "pw", "page")
                    and node.name in ("run", "main", "test", "scenario")
                ):
                    found.append((node.name, node.lineno, node.body, names[0]))
        for node in self.tree.body if not found else []:
            body: Sequence[ast.stmt] = node.body if isinstance(node, AnyFunction) and not node.args.args else [node]
            opens = (one for one in body if isinstance(one, ast.With | ast.AsyncWith))
            first = next((one for one in opens if "playwright()" in self.text(one)), None)
            if first is not None:
                name = node.name if isinstance(node, AnyFunction) else f"line {first.lineno}"
                found.append((name, first.lineno, body if body != [node] else [first], ""))
        for name, line, body, parameter in found:
            case = self.recorded_case(line, body, parameter)
            yield replace(case, name=f"{self.name} › {name}") if len(found) > 1 else case

    def recorded_case(self, line: int, body: Sequence[ast.stmt], parameter: str) -> Case:
        known: list[Statement] = []
        if parameter not in ("", "page", "playwright"):
            known.append(Let(line, (parameter,), Name(line, "playwright")))
        return Case(line, self.name, (), (*known, *self.body(body)))

    # --- statements ---

    def text(self, node: ast.AST) -> str:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if not 0 < line <= len(self.lines):
            return ""
        # Columns count bytes; a line may hold very many statements, and each is only quoted.
        whole = self.lines[line - 1]
        return quote(whole[column : column + MOST_QUOTED] if column and whole.isascii() else whole[:MOST_QUOTED])

    def body(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        made: list[Statement] = []
        for node in nodes:
            made += self.statement(node)
            if isinstance(node, ast.Return):
                break  # nothing after it is done
        return tuple(made)

    def statement(self, node: ast.stmt) -> list[Statement]:
        mark = self.marks.get(node.end_lineno or node.lineno)
        before: list[Statement] = [Marked(node.lineno, mark)] if mark and not hasattr(node, "body") else []
        if isinstance(node, SKIPPED):
            return before
        return before + self._statement(node)

    def _statement(self, node: ast.stmt) -> list[Statement]:
        line = node.lineno
        match node:
            case ast.Expr():
                return [Do(line, self.expression(node.value))]
            case ast.Assign(targets=[ast.Name() as target]):
                return [Let(line, (target.id,), self.expression(node.value))]
            case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)]) if not any(
                isinstance(one, ast.Starred) for one in names
            ):
                taken = tuple(one.id if isinstance(one, ast.Name) else None for one in names)
                return [Let(line, taken, self.expression(node.value), takes_apart=True)]
            case ast.AnnAssign(target=ast.Name() as target):
                return [Let(line, (target.id,), self.expression(node.value))] if node.value is not None else []
            case ast.With() | ast.AsyncWith():
                return self.with_block(node)
            case ast.Assert():
                return [*self.claims(node.test, line, True)]
            case ast.Return():
                return [Let(line, (RETURN,), self.expression(node.value))] if node.value is not None else []
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return [self.definition(node)]
        return [Other(line, self.text(node), _given(node)), *self.inside(node)]

    def definition(self, node: AnyFunction) -> Statement:
        return Let(node.lineno, (node.name,), Function(node.lineno, _parameters(node.args), self.body(node.body)))

    def inside(self, node: ast.AST) -> list[Statement]:
        """What stands in a block that cannot be said, line by line."""
        found: list[Statement] = []
        waiting = self.blocks(node)
        while waiting and len(found) < MOST_INSIDE:
            one = waiting.pop()
            if isinstance(one, ast.stmt) and not isinstance(one, SKIPPED):
                found.append(Other(one.lineno, f"{self.text(one)} (inside that block)"))
            waiting += self.blocks(one)
        return found

    def blocks(self, node: ast.AST) -> list[ast.AST]:
        """Statements and handlers directly in a node, last first."""
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt | ast.excepthandler)]
        return list(reversed(inner))

    def with_block(self, node: ast.With | ast.AsyncWith, body: tuple[Statement, ...] | None = None) -> list[Statement]:
        body = self.body(node.body) if body is None else body
        for item in reversed(node.items):
            name = item.optional_vars.id if isinstance(item.optional_vars, ast.Name) else None
            body = (Within(node.lineno, self.expression(item.context_expr), name, body),)
        return list(body)

    def claims(self, node: ast.expr, line: int, holds: bool) -> Iterator[Statement]:
        match node:
            case ast.UnaryOp(op=ast.Not()):
                yield from self.claims(node.operand, line, not holds)
            case ast.BoolOp(op=ast.And()) if holds:
                for one in node.values:
                    yield from self.claims(one, line, True)
            case ast.Compare(ops=[operator], comparators=[right]) if holds and type(operator) in COMPARED:
                yield Claim(line, self.expression(node.left), COMPARED[type(operator)], self.expression(right))
            case ast.Call() | ast.Await() | ast.Name() | ast.Attribute():
                yield Claim(line, self.expression(node), "is", Constant(line, holds))
            case _:
                yield Other(line, self.text(node))

    # --- expressions ---

    def expression(self, node: ast.expr, depth: int = 0) -> Expression:
        line = getattr(node, "lineno", 1)
        if depth > DEEPEST:
            return Unknown(line, self.text(node))

        def deeper(one: ast.expr) -> Expression:
            return self.expression(one, depth + 1)

        match node:
            case ast.Constant(value=(str() | bool() | int() | float() | None) as constant):
                return Constant(line, constant)
            case ast.Await():
                return deeper(node.value)
            case ast.Name():
                return Name(line, node.id)
            case ast.Attribute():
                return Member(line, deeper(node.value), node.attr)
            case ast.Subscript() if not isinstance(node.slice, ast.Slice):
                return Index(line, deeper(node.value), deeper(node.slice))
            case ast.Call():
                return self.call(node, depth)
            case ast.List() | ast.Tuple() if not any(isinstance(one, ast.Starred) for one in node.elts):
                return Many(line, tuple(map(deeper, node.elts)))
            case ast.Dict() if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in node.keys):
                keys = [one.value for one in node.keys if isinstance(one, ast.Constant)]
                return Pairs(line, tuple((str(key), deeper(one)) for key, one in zip(keys, node.values, strict=True)))
            case ast.JoinedStr():
                return self.joined(node, depth)
            case ast.BinOp(op=ast.Add()):
                left, right = deeper(node.left), deeper(node.right)
                if any(
                    isinstance(one, Joined) or (isinstance(one, Constant) and isinstance(one.value, str))
                    for one in (left, right)
                ):
                    return Joined(line, (left, right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return Constant(line, -value)
            case ast.Lambda():
                return Function(line, _parameters(node.args), (Let(line, (RETURN,), deeper(node.body)),))
        return Unknown(line, self.text(node))

    def joined(self, node: ast.JoinedStr, depth: int) -> Expression:
        parts: list[Expression] = []
        for one in node.values:
            if isinstance(one, ast.FormattedValue):
                if one.format_spec is not None or one.conversion not in (-1, ord("s")):
                    return Unknown(node.lineno, self.text(node))
                parts.append(self.expression(one.value, depth + 1))
            else:
                parts.append(self.expression(one, depth + 1))
        return Joined(node.lineno, tuple(parts))

    def call(self, node: ast.Call, depth: int) -> Expression:
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            return Unknown(node.lineno, self.text(node))
        name = _dotted(node.func)
        if name == "re.compile" and node.args and not node.keywords:
            source = node.args[0]
            flags = _flags(node.args[1]) if len(node.args) == 2 else ""
            if isinstance(source, ast.Constant) and isinstance(source.value, str) and flags is not None:
                return Pattern(node.lineno, source.value, flags)
            if flags is not None and len(node.args) <= 2:
                parts = (self.expression(source, depth + 1), Constant(node.lineno, flags))
                return Call(node.lineno, Name(node.lineno, "regex_of"), parts)
            return Unknown(node.lineno, self.text(node))
        return Call(
            node.lineno,
            self.expression(node.func, depth + 1),
            tuple(self.expression(one, depth + 1) for one in node.args),
            tuple((str(one.arg), self.expression(one.value, depth + 1)) for one in node.keywords),
        )


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _given(node: ast.AST) -> tuple[str, ...]:
    """The names that a statement gives a value, or changes the value of: `x = …`, `x[0] = …`, `x.append(…)`."""
    names: dict[str, None] = {}
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            names[one.id] = None
        elif isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load):
            names[_root(one)] = None
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in CHANGES:
            names[_root(one.func)] = None
    return tuple(name for name in names if name)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _flags(node: ast.expr) -> str | None:
    """The flags of a regular expression as letters; None for what is not known."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _flags(node.left), _flags(node.right)
        return None if left is None or right is None else left + right
    return FLAGS.get(_dotted(node).rpartition(".")[2])


def _parameters(node: ast.arguments) -> tuple[str, ...]:
    others = bool(node.vararg or node.kwarg)
    return tuple(one.arg for one in (*node.posonlyargs, *node.args, *node.kwonlyargs)) + ("",) * others


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _names(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Let):
        yield from (name for name in statement.names if name)


# --- writing -------------------------------------------------------------------------------------------

HEAD: Final = "from playwright.sync_api import Page, expect"
TAKEN: Final = frozenset({"page", "expect", "re", "os", "Page", "nullcontext"})


def write(test: WrittenTest) -> Exported:
    """The test as a function for pytest-playwright, whose --base-url says where the app is.

    What a script cannot say stands in it as a marked comment; a block is a `with` of its goal.
    """
    said = script_writing.say(test, is_name=_is_name)
    lines = [line for one in said.statements for line in _lines(one, 1)] or ["    pass"]
    secrets = [f"    {name} = os.environ[{dumps(secret)}]" for name, secret in sorted(said.secrets.items())]
    body = "\n".join([*secrets, *lines])
    imports = [f"import {name}" for name in ("os", "re") if re.search(rf"\b{name}\.", body)]
    if "nullcontext(" in body:
        imports.append("from contextlib import nullcontext")
    head = "\n".join([*imports, "", HEAD]).strip()
    return Exported(f"{head}\n\n\ndef {_function_name(test.name)}(page: Page) -> None:\n{body}\n", tuple(said.lost))


def print_expression(expression: Expression) -> str:
    match expression:
        case Constant(value=bool() | None):
            return repr(expression.value)
        case Constant():
            return dumps(expression.value)
        case Pattern():
            flags = " | ".join(f"re.{flag.upper()}" for flag in expression.flags)
            return f"re.compile({dumps(expression.source)}{', ' + flags if flags else ''})"
        case Name():
            return expression.name
        case Member():
            return f"{print_expression(expression.of)}.{expression.name}"
        case Index():
            return f"{print_expression(expression.of)}[{print_expression(expression.key)}]"
        case Call():
            given = [print_expression(one) for one in expression.given]
            named = [f"{name}={print_expression(one)}" for name, one in expression.named]
            return f"{print_expression(expression.of)}({', '.join([*given, *named])})"
        case Many():
            return f"[{', '.join(map(print_expression, expression.items))}]"
        case Pairs():
            return "{" + ", ".join(f"{dumps(key)}: {print_expression(one)}" for key, one in expression.pairs) + "}"
        case Joined():
            return "f" + "".join(['"', *map(_part, expression.parts), '"'])
        case Function():
            inner = expression.body[0] if expression.body else None
            made = print_expression(inner.what) if isinstance(inner, Do | Let) else "None"
            return f"lambda {', '.join(expression.parameters)}: {made}"
        case Unknown():
            return expression.text
    assert_never(expression)


def _part(expression: Expression) -> str:
    if isinstance(expression, Constant):
        return dumps(str(expression.value))[1:-1].replace("{", "{{").replace("}", "}}")
    return "{" + print_expression(expression) + "}"


def _lines(statement: Statement, depth: int) -> Iterator[str]:
    tab = "    " * depth
    match statement:
        case Do():
            yield tab + print_expression(statement.what)
        case Let():
            yield f"{tab}{', '.join(name or '_' for name in statement.names)} = {print_expression(statement.what)}"
        case Within(name=None):
            title = statement.what.given[0] if isinstance(statement.what, Call) and statement.what.given else None
            yield f"{tab}with nullcontext({print_expression(title) if title else dumps('')}):"
            for one in statement.body or (Marked(0, ""),):
                yield from _lines(one, depth + 1)
        case Within():
            yield f"{tab}with {print_expression(statement.what)} as {statement.name}_info:"
            for one in statement.body:
                yield from _lines(one, depth + 1)
            yield f"{tab}{statement.name} = {statement.name}_info.value"
        case Claim():
            left, right = print_expression(statement.left), print_expression(statement.right)
            yield f"{tab}assert {left} {statement.how} {right}"
        case Marked():
            yield (
                f"{tab}pass  # {statement.text}".rstrip(" #")
                if not statement.text
                else f"{tab}pass  # {statement.text}"
            )
        case Other():
            yield f"{tab}# {quote(statement.text)}"
        case _:
            assert_never(statement)


def _is_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name) and name not in TAKEN


def _function_name(name: str) -> str:
    if re.fullmatch(r"test_\w+", name, re.ASCII):
        return name
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "recorded"
    return plain if plain.startswith("test_") else f"test_{plain}"
