"""Playwright Test files in TypeScript or JavaScript. Parsed with tree-sitter, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, assert_never

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from repair_ladder.errors import BadTest
from repair_ladder.formats import Exported, WrittenTest, script_reading, script_writing
from repair_ladder.formats.gathering import MARK, check_text, quote
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
    camel,
    snake,
)
from repair_ladder.formats.script_pages import NARROW_PX
from repair_ladder.formats.script_writing import dumps

LARGEST: Final = 400_000  # characters
DEEPEST: Final = 60
MOST_NODES: Final = 200_000
MOST_QUOTED: Final = 400  # bytes that are looked at to quote a statement
MOST_INSIDE: Final = 2000  # lines of one block that are named
HOOKS: Final = frozenset({"describe", "beforeEach", "beforeAll", "afterEach", "afterAll"})
TITLES: Final = frozenset({"string", "template_string", "identifier", "binary_expression", "member_expression"})
# Fixtures that stand behind every page.
OVERRIDDEN: Final = frozenset({"page", "context", "browser", "storageState", "baseURL"})
# What of `test.use` makes another page of it.
USES: Final = re.compile(
    r"storageState|isMobile|hasTouch|devices\[|extraHTTPHeaders|httpCredentials|javaScriptEnabled|offline|userAgent|"
    r"contextOptions|proxy"
)
NAMES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})
# Methods that change the list or mapping they are called on.
CHANGES: Final = frozenset("push pop shift unshift splice sort reverse delete".split())
LOOKED_UP: Final = {
    "$": "query_selector", "$$": "query_selector_all", "$eval": "eval_on_selector", "$$eval": "eval_on_selector_all",
}  # fmt: skip
NOTHING: Final = frozenset(
    "import_statement empty_statement type_alias_declaration interface_declaration export_statement ; hash_bang_line "
    "ambient_declaration enum_declaration".split()
)
SEEN_THROUGH: Final = frozenset(
    "await_expression parenthesized_expression non_null_expression as_expression satisfies_expression".split()
)
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_typescript.language_typescript()))


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
    source = text.encode("utf-8", "replace")
    root = _parser().parse(source).root_node
    if root.descendant_count > MOST_NODES:
        raise BadTest(f"{where}: more than {MOST_NODES} words and signs in one file")
    if root.has_error:
        broken = _first_error(root)
        raise BadTest(f"{where}:{_line(broken)}: not TypeScript or JavaScript from '{quote(_text(broken)[:40])}' on")
    return _File(name, source).script(root)


def parse_expression(text: str) -> Expression:
    """One expression. Raises BadTest."""
    source = text.strip().encode("utf-8", "replace")
    root = _parser().parse(source).root_node
    nodes = [one for one in root.named_children if one.type != "comment"]
    if root.has_error or len(nodes) != 1 or nodes[0].type != "expression_statement":
        raise BadTest(f"not TypeScript or JavaScript: {quote(text)}")
    return _File("x", source).expression(nodes[0].named_children[0])


def _first_error(root: Node) -> Node:
    node = root
    while True:
        worse = next((one for one in node.children if one.has_error or one.is_missing or one.type == "ERROR"), None)
        if worse is None:
            return node
        node = worse


def _line(node: Node) -> int:
    return int(node.start_point[0]) + 1


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


@dataclass(frozen=True, slots=True)
class _Around:
    """What the blocks around a test say."""

    titles: tuple[str, ...] = ()
    before: tuple[Statement, ...] = ()
    asks: tuple[str, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    missing: tuple[tuple[int, str], ...] = ()
    tags: tuple[str, ...] = ()
    status: str = "active"
    constants: tuple[Statement, ...] = ()


@dataclass(slots=True)
class _Found:
    constants: list[Statement] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)


class _File:
    def __init__(self, name: str, source: bytes) -> None:
        self.name, self.source = name, source
        self.found = _Found()
        # What the file calls them -> what they are: `import { test as setup }`, `const { describe } = test`.
        self.called = {"test": "test", "it": "test"} | {name: f"test.{name}" for name in HOOKS}
        self.from_elsewhere: list[tuple[int, str]] = []  # a `test` that another file has made
        self.own_fixtures: dict[str, tuple[tuple[int, str], ...]] = {}  # of a `test.extend(…)`, by its name

    def first_line(self, node: Node) -> str:
        """A node's beginning; blocks in blocks share their text, so that it is not taken whole."""
        end = min(node.end_byte, node.start_byte + MOST_QUOTED)
        return quote(self.source[node.start_byte : end].decode("utf-8", "replace").split("\n", 1)[0])

    def script(self, root: Node) -> Script:
        for node in _walk_top(root):
            self.note_names(node)
        self.block(root.named_children, _Around(notes=tuple(self.from_elsewhere)), 0)
        cases = self.found.cases or list(self.recorded(root))
        return Script(tuple(self.found.constants), tuple(cases))

    # --- tests ---

    def note_names(self, node: Node) -> None:
        """Other names of `test`, and of what hangs on it."""
        if node.type == "import_specifier":
            name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
            if _text(name) == "test":
                self.called[_text(alias or name)] = "test"
                source = _text(_imported_from(node)).strip("'\"")
                if source and not source.endswith("playwright/test"):
                    what = f"'test' comes from {quote(source)}: what its fixtures do around each test is not seen here"
                    self.from_elsewhere.append((_line(node), what))
            return
        left, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type != "variable_declarator" or left is None or value is None:
            return
        if left.type == "object_pattern":
            is_ours = _text(value) in self.called or "playwright/test" in _text(value)
            for one in left.named_children if is_ours else []:
                key = _text(one.child_by_field_name("key") or one)
                given = one.child_by_field_name("value")
                if key == "test":
                    self.called[_text(given) if given is not None else key] = "test"
                elif key in HOOKS:
                    self.called[_text(given) if given is not None else key] = f"test.{key}"
        extends = re.match(r"([\w.]+)\.extend\b", _text(value))
        if left.type == "identifier" and extends and extends[1].split(".")[0] in self.called:
            self.called[_text(left)] = "test"
            inner = next((one for one in _walk(value) if one.type == "object"), None)
            pairs = [one.child_by_field_name("key") or one for one in inner.named_children] if inner is not None else []
            names = [(_line(one), _text(one.child_by_field_name("name") or one)) for one in pairs]
            base = self.own_fixtures.get(extends[1], ())
            self.own_fixtures[_text(left)] = (*base, *(one for one in names if one[1] in OVERRIDDEN))

    def block(self, nodes: Sequence[Node], around: _Around, depth: int) -> None:
        calls: list[tuple[Node, str, Node]] = []
        constants, loose = list[Statement](), list[Node]()
        for node in nodes:
            found = self.test_call(node)
            if found is not None:
                calls.append((node, *found))
            elif node.type in ("lexical_declaration", "variable_declaration", "function_declaration"):
                constants += self.statement(node)
            elif node.type == "export_statement":
                constants += [s for one in node.named_children for s in self.exported(one)]
            elif node.type not in ("comment", *NOTHING):
                if self.holds_tests(node):
                    loose.append(node)
                # What may be given a value here, by a condition or a call, is not known after it.
                constants += [Let(_line(node), (n,), Unknown(_line(node), self.first_line(node))) for n in _given(node)]
        if depth:
            around = replace(around, constants=(*around.constants, *constants))
        else:
            self.found.constants += constants
        for node, name, call in calls:
            around = self.hook(node, name, call, around)
        for node in loose:
            what = f"tests in a block that is not known: {self.first_line(node)}"
            self.found.cases.append(self.case(_line(node), f"{self.name}, line {_line(node)}", (), (), around, (what,)))
        for node, name, call in calls:
            self.test(node, name, call, around, depth)

    def holds_tests(self, node: Node) -> bool:
        called = "|".join(map(re.escape, self.called))
        return re.search(rf"(?<![\w.])(?:{called})(?:\.\w+)*\(", _text(node)) is not None

    def exported(self, node: Node) -> list[Statement]:
        return self.statement(node) if node.type.endswith("_declaration") else []

    def test_call(self, node: Node) -> tuple[str, Node] | None:
        """`test.describe` and the arguments of the call, if a statement is one."""
        call = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        if call is None or call.type != "call_expression":
            return None
        name = _text(call.child_by_field_name("function"))
        arguments = call.child_by_field_name("arguments")
        head, _, rest = name.partition(".")
        if arguments is None or head not in self.called or not re.fullmatch(r"[\w.]+", name):
            return None
        return ".".join([self.called[head], *([rest] if rest else [])]), arguments

    def hook(self, node: Node, name: str, arguments: Node, around: _Around) -> _Around:
        function = self.last_function(arguments)
        match name:
            case "test.beforeEach" if function is not None:
                body, asks = self.function_body(function), self.asks(function)
                return replace(around, before=(*around.before, *body), asks=(*around.asks, *asks))
            case "test.beforeAll":
                what = (_line(node), "beforeAll: what it does before the tests is missing")
                return replace(around, missing=(*around.missing, what))
            case "test.afterEach" | "test.afterAll":
                what = (_line(node), f"{name} is left out: it comes after the test")
                return replace(around, notes=(*around.notes, what))
            case "test.use":
                text = _text(arguments)
                width = re.search(r"\bwidth\s*:\s*(\d+)", text)
                is_missing = USES.search(text) or (width and int(width[1][:9]) < NARROW_PX)
                what = (_line(node), f"test.use{quote(text)} is left out")
                if is_missing:
                    return replace(around, missing=(*around.missing, what))
                return replace(around, notes=(*around.notes, what))
            case "test.describe.configure" | "test.setTimeout" | "test.slow":
                return replace(around, notes=(*around.notes, (_line(node), f"{name} is left out")))
            case "test.skip" | "test.fixme" if not self.is_test(arguments):
                what = (_line(node), f"{name}: the tests are taken in as drafts")
                return replace(around, notes=(*around.notes, what), status="draft")
            case "test.fail" if not self.is_test(arguments):
                return replace(around, missing=(*around.missing, (_line(node), "test.fail: tests that have to fail")))
        return around

    def is_test(self, arguments: Node) -> bool:
        """A title and what is done, or a condition?"""
        given = [one for one in arguments.named_children if one.type != "comment"]
        return len(given) > 1 and given[0].type in TITLES and self.last_function(arguments) is not None

    def test(self, node: Node, name: str, arguments: Node, around: _Around, depth: int) -> None:
        function = self.last_function(arguments)
        given = [one for one in arguments.named_children if one.type != "comment"]
        if (
            function is None
            or not given
            or name in ("test.beforeEach", "test.afterEach", "test.beforeAll", "test.afterAll")
        ):
            return
        title = self.title(given[0]) if given[0] != function else ""
        if name.startswith("test.describe"):
            if depth < DEEPEST:
                status = "draft" if name.endswith((".skip", ".fixme")) else around.status
                inner = replace(around, titles=(*around.titles, title) if title else around.titles, status=status)
                self.block(self.function_nodes(function), inner, depth + 1)
            return
        if name not in ("test", "test.only", "test.skip", "test.fixme", "test.fail", "test.fail.only"):
            return
        if name in ("test.skip", "test.fixme", "test.fail") and not self.is_test(arguments):
            return
        missing = [f"{name}: a test that has to fail"] if name.startswith("test.fail") else []
        own = _text(node.named_children[0].child_by_field_name("function")).split(".")[0]
        for line, fixture in self.own_fixtures.get(own, ()):
            around = replace(
                around,
                missing=(*around.missing, (line, f"the fixture {fixture} of this file: what it does is missing")),
            )
        if name in ("test.skip", "test.fixme"):
            what = (_line(node), f"{name}: the test is taken in as a draft")
            around = replace(around, status="draft", notes=(*around.notes, what))
        if len(given) > 2 and given[1].type == "object":
            tags = tuple(tag.lstrip("@") for tag in re.findall(r"""['"`](@[\w-]+)['"`]""", _text(given[1])))
            around = replace(around, tags=(*around.tags, *tags))
        label = " › ".join([*around.titles, title or f"line {_line(node)}"])
        asks = (*around.asks, *self.asks(function))
        body = self.function_body(function)
        self.found.cases.append(self.case(_line(node), label, asks, body, around, missing))

    def case(
        self, line: int, label: str, asks: Sequence[str], body: tuple[Statement, ...], around: _Around,
        missing: Sequence[str],
    ) -> Case:  # fmt: skip
        lacking = (*around.missing, *((line, what) for what in missing))
        asked = tuple(dict.fromkeys(asks))
        return Case(
            line, label, asked, body, around.before, around.status, around.notes, lacking, around.tags, around.constants
        )

    def title(self, node: Node) -> str:
        expression = self.expression(node)
        if isinstance(expression, Constant) and isinstance(expression.value, str):
            return " ".join(expression.value.split())
        return quote(_text(node).strip("`\"'"))

    def last_function(self, arguments: Node) -> Node | None:
        given = [one for one in arguments.named_children if one.type != "comment"]
        return given[-1] if given and given[-1].type in ("arrow_function", "function_expression") else None

    def function_nodes(self, function: Node) -> list[Node]:
        body = function.child_by_field_name("body")
        return list(body.named_children) if body is not None and body.type == "statement_block" else []

    def function_body(self, function: Node) -> tuple[Statement, ...]:
        body = function.child_by_field_name("body")
        if body is not None and body.type != "statement_block":
            return (Do(_line(body), self.expression(body)),)
        return self.body(self.function_nodes(function))

    def asks(self, function: Node) -> list[str]:
        parameters = function.child_by_field_name("parameters")
        pattern = next((one for one in _walk(parameters) if one.type == "object_pattern"), None) if parameters else None
        names: list[str] = []
        for one in pattern.named_children if pattern is not None else []:
            if one.type == "shorthand_property_identifier_pattern":
                names.append(_text(one))
            elif one.type == "pair_pattern":
                names.append(_text(one.child_by_field_name("key")))
        return names

    def recorded(self, root: Node) -> Iterator[Case]:
        """A script without tests: what codegen writes for the library."""
        for node in root.named_children:
            if node.type != "expression_statement" or "launch" not in _text(node):
                continue
            function = next((one for one in _walk(node) if one.type in ("arrow_function", "function_expression")), None)
            if function is not None:
                yield Case(_line(node), self.name, (), self.function_body(function))
                return

    # --- statements ---

    def body(self, nodes: Sequence[Node]) -> tuple[Statement, ...]:
        made: list[Statement] = []
        for node in nodes:
            made += self.statement(node)
            if node.type == "return_statement":
                break  # nothing after it is done
        return tuple(made)

    def statement(self, node: Node) -> list[Statement]:
        line = _line(node)
        match node.type:
            case "comment":
                text = _text(node).removeprefix("//").strip()
                return [Marked(line, text)] if text.startswith(MARK) else []
            case "expression_statement" if node.named_children:
                return self.expression_statement(node.named_children[0], line)
            case "lexical_declaration" | "variable_declaration":
                return [one for inner in node.named_children for one in self.declared(inner)]
            case "function_declaration":
                name, function = _text(node.child_by_field_name("name")), self.function(node)
                return [Let(line, (name,), function)]
            case "statement_block":
                return list(self.body(node.named_children))
            case "return_statement":
                given = node.named_children
                return [Let(line, (RETURN,), self.expression(given[0]))] if given else []
            case kind if kind in NOTHING:
                return []
        return [Other(line, self.first_line(node), _given(node)), *self.inside(node)]

    def expression_statement(self, node: Node, line: int) -> list[Statement]:
        if node.type == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None and left.type == "identifier":
                return [Let(line, (_text(left),), self.expression(right), is_new=False)]
        if node.type in ("assignment_expression", "augmented_assignment_expression", "update_expression"):
            return [Other(line, self.first_line(node), _given(node))]
        if node.type == "string":
            return []
        return [Do(line, self.expression(node))]

    def declared(self, node: Node) -> list[Statement]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type != "variable_declarator" or name is None or value is None:
            return []
        line = _line(node)
        if name.type == "identifier":
            return [Let(line, (_text(name),), self.expression(value))]
        if name.type == "array_pattern":
            return [Let(line, _places(name), self.expression(value), takes_apart=True)]
        return [Other(line, self.first_line(node), _given(node))]

    def inside(self, node: Node) -> list[Statement]:
        """What stands in a block that cannot be said, line by line."""
        found: list[Statement] = []
        waiting = list(reversed(node.named_children))
        while waiting and len(found) < MOST_INSIDE:
            one = waiting.pop()
            if one.type.endswith(("_statement", "_declaration")) and one.type not in NOTHING:
                found.append(Other(_line(one), f"{self.first_line(one)} (inside that block)"))
            if one.type not in ("arrow_function", "function_expression"):
                waiting.extend(reversed(one.named_children))
        return found

    # --- expressions ---

    def expression(self, node: Node, depth: int = 0) -> Expression:
        line = _line(node)
        if depth > DEEPEST:
            return Unknown(line, quote(_text(node)))

        def deeper(one: Node | None) -> Expression:
            return self.expression(one, depth + 1) if one is not None else Unknown(line, quote(_text(node)))

        match node.type:
            case "string":
                return Constant(line, self.string(node))
            case "template_string":
                return self.template(node, depth)
            case "number":
                return self.number(node)
            case "true" | "false":
                return Constant(line, node.type == "true")
            case "null" | "undefined":
                return Constant(line, None)
            case "regex":
                return Pattern(
                    line, _text(node.child_by_field_name("pattern")), _text(node.child_by_field_name("flags"))
                )
            case "identifier" | "this":
                return Name(line, _text(node))
            case kind if kind in SEEN_THROUGH and node.named_children:
                return deeper(node.named_children[0])
            case "member_expression":
                name = _text(node.child_by_field_name("property"))
                return Member(line, deeper(node.child_by_field_name("object")), LOOKED_UP.get(name) or snake(name))
            case "subscript_expression":
                return Index(
                    line, deeper(node.child_by_field_name("object")), deeper(node.child_by_field_name("index"))
                )
            case "call_expression":
                return self.call(node, depth)
            case "new_expression":
                return self.new(node, depth)
            case "array" if not any(one.type == "spread_element" for one in node.named_children):
                return Many(line, tuple(deeper(one) for one in node.named_children if one.type != "comment"))
            case "object":
                return self.pairs(node, depth)
            case "arrow_function" | "function_expression":
                return self.function(node)
            case "binary_expression":
                return self.binary(node, depth)
            case "unary_expression" if _text(node.child_by_field_name("operator")) == "-":
                inner = deeper(node.child_by_field_name("argument"))
                if isinstance(inner, Constant) and isinstance(inner.value, int | float):
                    return Constant(line, -inner.value)
        return Unknown(line, quote(_text(node)))

    def string(self, node: Node) -> str:
        return "".join(
            _escape(_text(one)) if one.type == "escape_sequence" else _text(one) for one in node.named_children
        )

    def template(self, node: Node, depth: int) -> Expression:
        parts: list[Expression] = []
        for one in node.named_children:
            if one.type == "template_substitution":
                inner = one.named_children[0] if one.named_children else one
                parts.append(self.expression(inner, depth + 1))
            else:
                text = _escape(_text(one)) if one.type == "escape_sequence" else _text(one)
                parts.append(Constant(_line(one), text))
        if len(parts) == 1 and isinstance(parts[0], Constant):
            return parts[0]
        return Joined(_line(node), tuple(parts))

    def number(self, node: Node) -> Expression:
        text = _text(node).replace("_", "")
        if re.fullmatch(r"\d{1,15}", text, re.ASCII):
            return Constant(_line(node), int(text))
        if re.fullmatch(r"\d{0,15}\.\d{1,15}|\d{1,9}e\d", text, re.ASCII):
            value = float(text)
            return Constant(_line(node), int(value) if value.is_integer() else value)
        return Unknown(_line(node), quote(text))

    def pairs(self, node: Node, depth: int) -> Expression:
        made: list[tuple[str, Expression]] = []
        for one in node.named_children:
            key, value = one.child_by_field_name("key"), one.child_by_field_name("value")
            if one.type == "pair" and key is not None and value is not None and key.type != "computed_property_name":
                name = self.string(key) if key.type == "string" else _text(key)
                made.append((name, self.expression(value, depth + 1)))
            elif one.type == "shorthand_property_identifier":
                made.append((_text(one), Name(_line(one), _text(one))))
            elif one.type != "comment":
                return Unknown(_line(node), quote(_text(node)))
        return Pairs(_line(node), tuple(made))

    def call(self, node: Node, depth: int) -> Expression:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or arguments.type != "arguments":
            return Unknown(_line(node), quote(_text(node)))
        given = [one for one in arguments.named_children if one.type != "comment"]
        if any(one.type == "spread_element" for one in given):
            return Unknown(_line(node), quote(_text(node)))
        return Call(
            _line(node), self.expression(function, depth + 1), tuple(self.expression(one, depth + 1) for one in given)
        )

    def new(self, node: Node, depth: int) -> Expression:
        arguments = node.child_by_field_name("arguments")
        given = [self.expression(one, depth + 1) for one in arguments.named_children] if arguments is not None else []
        if _text(node.child_by_field_name("constructor")) == "RegExp" and 0 < len(given) < 3:
            flags = given[1] if len(given) == 2 else Constant(_line(node), "")
            return Call(_line(node), Name(_line(node), "regex_of"), (given[0], flags))
        return Unknown(_line(node), quote(_text(node)))

    def binary(self, node: Node, depth: int) -> Expression:
        left_node, right_node = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator, line = _text(node.child_by_field_name("operator")), _line(node)
        if left_node is None or right_node is None:
            return Unknown(line, quote(_text(node)))
        found = re.fullmatch(r"process\.env\.(\w+)|process\.env\[['\"](\w+)['\"]\]", _text(left_node))
        if operator in ("||", "??") and found:
            name = Constant(line, found[1] or found[2])
            return Call(line, Name(line, "os_getenv"), (name, self.expression(right_node, depth + 1)))
        if operator == "+":
            parts = [self.expression(left_node, depth + 1), self.expression(right_node, depth + 1)]
            if any(
                isinstance(one, Joined) or (isinstance(one, Constant) and isinstance(one.value, str)) for one in parts
            ):
                return Joined(line, tuple(parts))
        return Unknown(line, quote(_text(node)))

    def function(self, node: Node) -> Function:
        alone, listed = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
        names = [_text(alone)] if alone is not None else []
        for one in listed.named_children if listed is not None else []:
            pattern = one.child_by_field_name("pattern")
            is_name = pattern is not None and pattern.type == "identifier" and one.child_by_field_name("value") is None
            if one.type != "comment":
                names.append(_text(pattern) if is_name else "")
        body = self.function_body(node)
        if len(body) == 1 and isinstance(body[0], Do) and (_body_type(node) != "statement_block"):
            body = (Let(body[0].line, (RETURN,), body[0].what),)
        return Function(_line(node), tuple(names), body)


def _places(pattern: Node) -> tuple[str | None, ...]:
    """The names of `[a, , b]` by their places."""
    names: list[str | None] = [None]
    for one in pattern.children:
        if one.type == ",":
            names.append(None)
        elif one.type == "identifier":
            names[-1] = _text(one)
    return tuple(names)


def _given(node: Node) -> tuple[str, ...]:
    """The names that a statement gives a value, or changes the value of: `x = …`, `x[0] = …`, `x++`, `x.push(…)`."""
    names: dict[str, None] = {}
    for one in _walk(node):
        target: Node | None = None
        if one.type in ("assignment_expression", "augmented_assignment_expression"):
            target = one.child_by_field_name("left")
        elif one.type == "update_expression":
            target = one.child_by_field_name("argument")
        elif one.type == "variable_declarator" and (one == node or (one.parent and one.parent.type[0] == "v")):
            target = one.child_by_field_name("name")  # what let and const name in a block is not known outside of it
        elif one.type == "call_expression":
            function = one.child_by_field_name("function")
            is_change = function is not None and _text(function.child_by_field_name("property")) in CHANGES
            target = function if is_change else None
        if target is not None and target.type in ("object_pattern", "array_pattern"):
            names |= {_text(inner): None for inner in _walk(target) if inner.type in NAMES}
        while target is not None and target.type in ("member_expression", "subscript_expression"):
            target = target.child_by_field_name("object")
        if target is not None and target.type == "identifier":
            names[_text(target)] = None
    return tuple(names)


def _imported_from(specifier: Node) -> Node | None:
    node: Node | None = specifier
    while node is not None and node.type != "import_statement":
        node = node.parent
    return node.child_by_field_name("source") if node is not None else None


def _walk_top(root: Node) -> Iterator[Node]:
    """The declarations and imports at the top of a file, in their order."""
    for node in root.named_children:
        if node.type == "import_statement":
            yield from (one for one in _walk(node) if one.type == "import_specifier")
        inner = node.named_children if node.type == "export_statement" else [node]
        for one in inner:
            if one.type in ("lexical_declaration", "variable_declaration"):
                yield from one.named_children


def _body_type(function: Node) -> str:
    body = function.child_by_field_name("body")
    return body.type if body is not None else ""


def _walk(node: Node | None) -> Iterator[Node]:
    waiting = [node] if node is not None else []
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(one.named_children))


def _escape(text: str) -> str:
    body = text[1:]
    found = re.fullmatch(r"u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})", body)
    if found:
        code = int(found[1] or found[2] or found[3], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    if body in ("\n", "\r\n", "\u2028", "\u2029"):
        return ""
    return ESCAPES.get(body, body)


# --- writing -------------------------------------------------------------------------------------------

HEAD: Final = "import { expect, test } from '@playwright/test';"
CALLED: Final = frozenset({"first", "last", "content_frame", "url"})
TAKEN: Final = frozenset(
    "page expect test process await async break case catch class const continue debugger default delete do else enum "
    "export extends false finally for function if implements import in instanceof interface let new null package "
    "private protected public return static super switch this throw true try typeof var void while with yield".split()
)
CLAIMS: Final = {
    "==": "toBe", "in": "toContain", "not in": "not.toContain", ">=": "toBeGreaterThanOrEqual",
    "<=": "toBeLessThanOrEqual",
}  # fmt: skip


def write(test: WrittenTest) -> Exported:
    """The test as a file for Playwright Test, whose `use.baseURL` says where the app is.

    What a script cannot say stands in it as a marked comment; blocks are steps of the test.
    """
    said = script_writing.say(test, is_name=_is_name)
    secrets = [f"  const {name} = process.env.{secret}!;" for name, secret in sorted(said.secrets.items())]
    lines = [line for one in said.statements for line in _lines(one, 1)]
    body = "".join(f"{line}\n" for line in [*secrets, *lines])
    tags = f"{{ tag: [{', '.join(dumps('@' + tag) for tag in test.tags)}] }}, " if _are_tags(test.tags) else ""
    text = f"{HEAD}\n\ntest({dumps(test.name)}, {tags}async ({{ page }}) => {{\n{body}}});\n"
    return Exported(text, tuple(said.lost))


def _are_tags(tags: Sequence[str]) -> bool:
    return bool(tags) and all(re.fullmatch(r"[\w-]+", tag, re.ASCII) for tag in tags)


def print_expression(expression: Expression) -> str:
    match expression:
        case Constant(value=None):
            return "undefined"
        case Constant():
            return dumps(expression.value)
        case Pattern():
            source = re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\\/", expression.source)
            return f"/{source}/{expression.flags}"
        case Name():
            return expression.name
        case Member():
            name = camel(expression.name)
            return f"{print_expression(expression.of)}.{name}{'()' if expression.name in CALLED else ''}"
        case Index():
            return f"{print_expression(expression.of)}[{print_expression(expression.key)}]"
        case Call():
            return _print_call(expression)
        case Many():
            return f"[{', '.join(map(print_expression, expression.items))}]"
        case Pairs():
            return _object(expression.pairs)
        case Joined():
            return "`" + "".join(map(_part, expression.parts)) + "`"
        case Function():
            inner = expression.body[0] if expression.body else None
            made = print_expression(inner.what) if isinstance(inner, Do | Let) else "{}"
            return f"({', '.join(expression.parameters)}) => {made}"
        case Unknown():
            return expression.text
    assert_never(expression)


def _print_call(call: Call) -> str:
    given = [print_expression(one) for one in call.given]
    named = dict(call.named)
    name = call.of.name if isinstance(call.of, Member) else ""
    if name == "select_option" and not given:
        time = named.pop("timeout", None)
        given = [_object(tuple(named.items()))]
        named = {"timeout": time} if time is not None else {}
    if named:
        given.append(_object(tuple(named.items())))
    if isinstance(call.of, Member):
        negative = call.of.name.startswith("not_to_")
        method = camel(call.of.name.removeprefix("not_") if negative else call.of.name)
        return f"{print_expression(call.of.of)}{'.not' if negative else ''}.{method}({', '.join(given)})"
    return f"{print_expression(call.of)}({', '.join(given)})"


def _object(pairs: Sequence[tuple[str, Expression]]) -> str:
    return "{ " + ", ".join(f"{camel(key)}: {print_expression(one)}" for key, one in pairs) + " }"


def _part(expression: Expression) -> str:
    if isinstance(expression, Constant):
        return dumps(str(expression.value))[1:-1].replace('\\"', '"').replace("`", "\\`").replace("${", "\\${")
    return "${" + print_expression(expression) + "}"


def _lines(statement: Statement, depth: int) -> Iterator[str]:
    tab = "  " * depth
    match statement:
        case Do():
            awaits = "" if _method(statement.what) == "once" else "await "
            yield f"{tab}{awaits}{print_expression(statement.what)};"
        case Let():
            awaits = "" if isinstance(statement.what, Constant | Joined | Name) else "await "
            yield f"{tab}const {statement.names[0]} = {awaits}{print_expression(statement.what)};"
        case Within(name=None):
            yield f"{tab}await {print_expression(statement.what).removesuffix(')')}, async () => {{"
            for one in statement.body:
                yield from _lines(one, depth + 1)
            yield f"{tab}}});"
        case Within():
            call = statement.what
            page = print_expression(call.of.of) if isinstance(call, Call) and isinstance(call.of, Member) else "page"
            yield f'{tab}const {statement.name}Promise = {page}.waitForEvent("popup");'
            for one in statement.body:
                yield from _lines(one, depth)
            yield f"{tab}const {statement.name} = await {statement.name}Promise;"
        case Claim():
            yield tab + _claim(statement)
        case Marked():
            yield f"{tab}// {statement.text}"
        case Other():
            yield f"{tab}// {quote(statement.text)}"
        case _:
            assert_never(statement)


def _method(expression: Expression) -> str:
    is_method = isinstance(expression, Call) and isinstance(expression.of, Member)
    return expression.of.name if is_method else ""  # type: ignore[union-attr]


def _claim(claim: Claim) -> str:
    left, right = (claim.right, claim.left) if claim.how in ("in", "not in") else (claim.left, claim.right)
    is_read = not isinstance(left, Name | Constant)
    subject = f"await {print_expression(left)}" if is_read else print_expression(left)
    return f"expect({subject}).{CLAIMS[claim.how]}({print_expression(right)});"


def _is_name(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is not None and name not in TAKEN
