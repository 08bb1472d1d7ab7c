"""The product's own format: one YAML file holds one test or a list of them (design of the test format).

Scalars are read by the YAML 1.2 core rules for true, false, null and whole numbers, and stay texts otherwise, so that
`no`, `1.50` and `2031-05-02` are what the author typed. What is written is quoted so that YAML 1.1 readers agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import yaml
from yaml import nodes

from repair_ladder.errors import BadTest
from repair_ladder.formats import LARGEST_FILE, LONGEST_NAME, STATUSES, Secret, Variable, WrittenTest
from repair_ladder.step_format import read_steps, write_steps
from repair_ladder.steps import BLOCKS, Place, show_place

MOST_NODES: Final = 200_000  # aliases counted each time they are used, so that none can explode
DEEPEST: Final = 60
KEYS: Final = ("name", "status", "tags", "variables", "steps")
COLLECTIONS: Final = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
NAME: Final = re.compile(r"[A-Za-z_]\w*\Z")


class _Loader(yaml.SafeLoader):
    """SafeLoader with the resolvers of YAML 1.2's core schema, without floats and dates."""


_Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^-?(?:0|[1-9][0-9]{0,15})$", "-0123456789"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:merge", r"^<<$", "<"),
):
    _Loader.add_implicit_resolver(tag, re.compile(pattern), list(first))


def read(text: str, *, where: str = "the file") -> tuple[WrittenTest, ...]:
    """The tests of a file. Raises BadTest: one line with file, line, step and what was expected."""
    if len(text) > LARGEST_FILE:
        raise BadTest(f"{where}: larger than {LARGEST_FILE // 1_000_000} MB; a test file is text written by people")
    if "\x00" in text:
        raise BadTest(f"{where}: holds null bytes; this is not a text file")
    root = _compose(text, where)
    if root is None:
        raise BadTest(f"{where}: empty; expected a test with 'name' and 'steps'")
    if isinstance(root, nodes.SequenceNode):
        tests = tuple(_read_test(one, where, None) for one in root.value)
    else:
        tests = (_read_test(root, where, text),)
    if not tests:
        raise BadTest(f"{where}: an empty list; expected tests with 'name' and 'steps'")
    twice, count = Counter(test.name for test in tests).most_common(1)[0]
    if count > 1:
        raise BadTest(f"{where}: two tests are named '{twice}'; the name identifies a test")
    return tests


def _compose(text: str, where: str) -> nodes.Node | None:
    loader = None
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        _measure(root, where)
        return root
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadTest(f"{where}:{line}: not YAML: {error.problem or error.context or 'unreadable'}") from None
    except yaml.YAMLError as error:
        raise BadTest(f"{where}: not YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise BadTest(f"{where}: nested too deep") from None
    finally:
        if loader is not None:
            loader.dispose()


def _measure(root: nodes.Node | None, where: str) -> None:
    """Refuse what would not end or not fit: circles, bombs of aliases, needless depth."""
    waiting: list[tuple[nodes.Node, int]] = [(root, 0)] if root is not None else []
    count = 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if count > MOST_NODES:
            raise BadTest(f"{where}:{_line(node)}: more than {MOST_NODES} values, aliases counted each time")
        if depth > DEEPEST:
            raise BadTest(f"{where}:{_line(node)}: nested more than {DEEPEST} deep")
        if isinstance(node, nodes.SequenceNode):
            waiting += [(one, depth + 1) for one in node.value]
        elif isinstance(node, nodes.MappingNode):
            waiting += [(one, depth + 1) for pair in node.value for one in pair]


def _line(node: nodes.Node) -> int:
    return int(node.start_mark.line) + 1 if node.start_mark else 1


def _plain(node: nodes.Node, where: str) -> Any:
    """Plain data from a node, duplicate keys refused."""
    if not isinstance(node, nodes.ScalarNode) and node.tag not in COLLECTIONS:
        raise BadTest(f"{where}:{_line(node)}: the tag '{node.tag}' is not allowed here")
    if isinstance(node, nodes.MappingNode):
        plain: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged = _plain(value_node, where)
                if not isinstance(merged, dict):
                    raise BadTest(f"{where}:{_line(key_node)}: '<<' merges a mapping")
                plain = merged | plain
                continue
            if not isinstance(key_node, nodes.ScalarNode):
                raise BadTest(f"{where}:{_line(key_node)}: a key is a word")
            key = key_node.value
            if key in plain:
                raise BadTest(f"{where}:{_line(key_node)}: '{key}' stands here twice")
            plain[key] = _plain(value_node, where)
        return plain
    if isinstance(node, nodes.SequenceNode):
        return [_plain(one, where) for one in node.value]
    match node.tag:
        case "tag:yaml.org,2002:null":
            return None
        case "tag:yaml.org,2002:bool":
            return node.value.lower() == "true"
        case "tag:yaml.org,2002:int":
            return int(node.value)
        case "tag:yaml.org,2002:str":
            return node.value
        case _:
            raise BadTest(f"{where}:{_line(node)}: the tag '{node.tag}' is not allowed here")


def _read_test(node: nodes.Node, where: str, source: str | None) -> WrittenTest:
    line = _line(node)
    if not isinstance(node, nodes.MappingNode):
        raise BadTest(f"{where}:{line}: a test is a mapping with 'name' and 'steps'")
    raw = _plain(node, where)
    at = {key.value: _line(value) for key, value in node.value}
    unknown = next((key for key in raw if key not in KEYS), None)
    if unknown is not None:
        raise BadTest(f"{where}:{at[unknown]}: '{unknown}' is not a key of a test; known are {', '.join(KEYS)}")
    for key in ("name", "steps"):
        if raw.get(key) is None:
            raise BadTest(f"{where}:{line}: the test has no '{key}'")
    name = str(raw["name"]).strip()
    if isinstance(raw["name"], dict | list | bool) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadTest(f"{where}:{at['name']}: 'name' is one line of at most {LONGEST_NAME} characters")
    status = raw.get("status", "active")
    if status not in STATUSES:
        raise BadTest(f"{where}:{at['status']}: 'status' is one of {', '.join(STATUSES)}, got {status!r:.60}")
    tags = raw.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str | int) and not isinstance(tag, bool) for tag in tags):
        raise BadTest(f"{where}:{at['tags']}: 'tags' is a list of words")
    try:
        steps = read_steps(raw["steps"])
    except BadTest as error:
        place = f" step {show_place(error.place)}:" if error.place else ""
        step_line = _line_of_step(node, error.place) or at["steps"]
        raise type(error)(f"{where}:{step_line}:{place} {error}", place=error.place) from None
    if not steps:
        raise BadTest(f"{where}:{at['steps']}: the test has no steps")
    variables = _read_variables(raw.get("variables") or {}, f"{where}:{at.get('variables', line)}")
    return WrittenTest(name, steps, status, tuple(map(str, tags)), variables, source)


def _read_variables(raw: object, where: str) -> dict[str, Variable]:
    if not isinstance(raw, Mapping):
        raise BadTest(f"{where}: 'variables' is a mapping of names to texts")
    variables: dict[str, Variable] = {}
    for name, value in raw.items():
        if not NAME.match(str(name)):
            raise BadTest(f"{where}: '{name}' is not a name for a variable (letters, digits and _)")
        if isinstance(value, Mapping):
            secret = value.get("secret")
            if set(value) != {"secret"} or not isinstance(secret, str) or not NAME.match(secret):
                raise BadTest(f"{where}: the variable '{name}' is a text or {{secret: NAME}}")
            variables[name] = Secret(secret)
        elif isinstance(value, bool) or not isinstance(value, str | int | float):
            raise BadTest(f"{where}: the variable '{name}' is a text or {{secret: NAME}}; put it in quotes")
        else:
            variables[name] = value
    return variables


def _line_of_step(test: nodes.MappingNode, place: Place) -> int | None:
    """Where a step stands in the file."""
    inside: nodes.Node | None = test
    line = None
    for number in place:
        steps = _child(inside, "steps")
        if not isinstance(steps, nodes.SequenceNode) or number > len(steps.value):
            return line
        step = steps.value[number - 1]
        line = _line(step)
        inside = next((block for kind in BLOCKS if (block := _child(step, kind))), None)
    return line


def _child(node: nodes.Node | None, key: str) -> nodes.Node | None:
    if not isinstance(node, nodes.MappingNode):
        return None
    return next((value for name, value in node.value if name.value == key), None)


# --- writing -------------------------------------------------------------------------------------------


class _Flow(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _represent_text(dumper: _Dumper, text: str) -> nodes.ScalarNode:
    # In other quotes these would be read as line ends and folded into blanks.
    style = '"' if any(end in text for end in ("\x85", "\u2028", "\u2029")) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(
    _Flow, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)
)


def write(test: WrittenTest) -> str:
    """The test as text: its own source where it has one, else canonical; the same steps give the same bytes."""
    return test.source if test.source is not None else canonical(test)


def canonical(test: WrittenTest) -> str:
    document: dict[str, Any] = {"name": test.name, "status": test.status}
    if test.tags:
        document["tags"] = list(test.tags)
    if test.variables:
        document["variables"] = {
            name: _Flow(secret=value.name) if isinstance(value, Secret) else value
            for name, value in test.variables.items()
        }
    document["steps"] = [_laid_out(step) for step in write_steps(test.steps)]
    text: str = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**9, default_flow_style=False
    )
    return text


def _laid_out(step: dict[str, Any]) -> dict[str, Any]:
    """One line a step; blocks are opened."""
    laid: dict[str, Any] = {}
    for key, value in step.items():
        if key in BLOCKS:
            block = dict(value)
            if isinstance(block.get("values"), dict):
                block["values"] = _Flow(block["values"])
            block["steps"] = [_laid_out(one) for one in block["steps"]]
            laid[key] = block
        else:
            laid[key] = _flow(value)
    return laid


def _flow(value: Any) -> Any:
    if isinstance(value, dict):
        return _Flow((key, _flow(one)) for key, one in value.items())
    if isinstance(value, list):
        return [_flow(one) for one in value]
    return value
