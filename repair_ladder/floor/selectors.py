"""What a CSS selector or an XPath asks for, read without a page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

import cssselect

from repair_ladder.floor.expected import fold

LONGEST_SELECTOR: Final = 2000  # more is not read, and so not allowed on a check
ROOTS: Final = frozenset({"html", "body"})
LOOSE_TAGS: Final = frozenset(
    "* div main span section article header footer nav aside form table tbody ul ol node() .".split()
)


@dataclass(frozen=True, slots=True)
class Selector:
    """What can be said of a CSS selector or an XPath without a page."""

    root: bool = False  # finds the page itself
    loose: bool = True  # no part of it says which element is meant
    branches: bool = False  # finds one or the other
    texts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()  # of these the ones its own element shows
    states: frozenset[str] = frozenset()


def read_css(css: str) -> Selector | None:
    """None where it is no plain CSS, such as Playwright's chained engines."""
    if len(css) > LONGEST_SELECTOR:
        return None
    try:
        return _either([_read_node(one.parsed_tree) for one in cssselect.parse(css)])
    except (cssselect.SelectorError, RecursionError, AttributeError, ValueError):
        return None


def _either(branches: list[Selector]) -> Selector:
    return Selector(
        root=any(one.root for one in branches),
        loose=any(one.loose for one in branches),
        branches=len(branches) > 1 or any(one.branches for one in branches),
        texts=tuple(text for one in branches for text in one.texts),
        shown=tuple(text for one in branches for text in one.shown),
        states=frozenset().union(*(one.states for one in branches)),
    )


def _read_node(node: Any) -> Selector:
    kind = type(node).__name__
    if kind == "Element":
        tag = (node.element or "*").lower()
        return Selector(root=tag in ROOTS, loose=tag in LOOSE_TAGS | ROOTS)
    inner = _read_node(node.selector)
    match kind:
        case "Hash" | "Class":
            return replace(inner, loose=False)
        case "Attrib":
            return _read_attribute(node, inner)
        case "Pseudo":
            name = node.ident.lower()
            return replace(inner, root=inner.root or name in ("root", "scope", "host"), states=inner.states | {name})
        case "Function":
            return _read_function(node, inner)
        case "CombinedSelector":
            last = _read_node(node.subselector)
            return replace(last, loose=inner.loose and last.loose, texts=inner.texts + last.texts)
        case "Negation":
            return replace(inner, states=inner.states | _read_node(node.subselector).states)
        case "Relation":
            held = _either([_read_node(one.parsed_tree) for _, one in node.arguments])
            return replace(inner, texts=inner.texts + held.texts, states=inner.states | held.states)
        case "Matching" | "SpecificityAdjustment":
            one = _either([_read_node(branch) for branch in node.selector_list])
            return Selector(
                root=inner.root or one.root,
                loose=inner.loose and one.loose,
                branches=one.branches or inner.branches,
                texts=inner.texts + one.texts,
                shown=inner.shown + one.shown,
                states=inner.states | one.states,
            )
    raise ValueError(f"no rule for {kind}")


def _read_attribute(node: Any, inner: Selector) -> Selector:
    inner = replace(inner, states=inner.states | {str(node.attrib).lower()})
    if node.value is None or node.operator == "!=":
        return inner
    value = str(node.value.value)
    says_which = bool(value) if node.operator == "=" else len(value) > 2
    return replace(inner, loose=inner.loose and not says_which, texts=(*inner.texts, value))


def _read_function(node: Any, inner: Selector) -> Selector:
    if node.name.lower() not in ("has-text", "text", "text-is"):
        return inner
    text = " ".join(str(token.value) for token in node.arguments)
    return replace(inner, loose=inner.loose and not fold(text), texts=(*inner.texts, text), shown=(*inner.shown, text))


def read_xpath(path: str) -> Selector | None:
    """None where it climbs up, finds one or the other, or is written in a way that has no rule here."""
    path = path.strip().removeprefix("xpath=").strip()
    while wrapped := re.fullmatch(r"\((.*)\)((?:\s*\[[^\]]*\])*)", path, re.DOTALL):
        path = wrapped[1].strip()
    steps = _path_steps(path)
    if len(path) > LONGEST_SELECTOR or steps is None:
        return None
    named = [_path_step(step) for step in steps]
    last = named[-1][0]
    if last in ("..", "node()") or re.search(r"\b(ancestor|ancestor-or-self|parent|self)\s*::|name\s*\(", path):
        return None
    return Selector(root=last in ROOTS or last == "", loose=all(loose for _, loose in named))


def _path_steps(path: str) -> list[str] | None:
    """The parts between slashes; quotes and brackets are left whole."""
    parts, depth, quote = [""], 0, ""
    for char in path:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
            if depth < 0:
                return None
        elif depth == 0 and char == "|":
            return None
        elif depth == 0 and char == "/":
            parts.append("")
            continue
        parts[-1] += char
    steps = [part.strip() for part in parts if part.strip()]
    return None if depth or quote else steps or [""]


SAYS_WHICH: Final = re.compile(
    r"""(?:@[\w:-]+|text\(\)|\.|normalize-space\([^)]*\))\s*(?:=\s*(?:"[^"]+"|'[^']+')|,\s*(?:"[^"]{3,}"|'[^']{3,}'))"""
)
SAYS_LITTLE: Final = re.compile(r"not\s*\(|!=|\bor\b")


def _path_step(step: str) -> tuple[str, bool]:
    """Its name, and whether it says too little to mean one element."""
    name, _, predicate = step.partition("[")
    name = name.rpartition("::")[2].strip().lower()
    says_which = SAYS_WHICH.search(predicate) and not SAYS_LITTLE.search(predicate)
    return name, name in LOOSE_TAGS | ROOTS | {"", "..", "text()"} and not says_which


def literals_in(path: str) -> list[str]:
    return [one or other for one, other in re.findall(r"\"([^\"]*)\"|'([^']*)'", path)]


def without_attributes(path: str) -> str:
    """A path without the texts that it compares with attributes."""
    return re.sub(r"@[\w-]+\s*(?:=|!=|,)\s*(?:\"[^\"]*\"|'[^']*')", "", path)
