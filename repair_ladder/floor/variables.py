"""The variables that steps read, set and write as ${name}."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from radar.locators import Locator
from repair_ladder.floor.locators import with_alternatives
from repair_ladder.steps import Place, Step, Steps, walk


def pairs(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text inside a value, with the key it stands under."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from pairs(inner, str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from pairs(inner, key)
    elif isinstance(value, Locator):
        for one in with_alternatives(value):
            texts = (*one.finders(), *((key, getattr(one, key)) for key in ("name", "has_text", "has_not_text")))
            yield from ((name, text) for name, text in texts if text)
    elif value is not None and not isinstance(value, bool):
        yield key, str(value)


def names_in(step: Step) -> frozenset[str]:
    """The variables that a step writes as ${name}."""
    texts = [text for _, text in (*pairs(step.parameters), *pairs(step.locator))]
    own = frozenset(name.strip() for text in texts for name in re.findall(r"\$\{([^}]*)\}", text))
    return own.union(*(names_in(inner) for inner in step.steps))


def all_names(steps: Steps) -> frozenset[str]:
    return frozenset().union(*(names_in(step) for step in steps), frozenset())


def names_read(steps: Iterable[tuple[Place, Step]]) -> frozenset[str]:
    """The variables that steps read, those of assert_variable included."""
    read: set[str] = set()
    for _, step in steps:
        read |= names_in(step)
        if step.kind == "assert_variable":
            read.add(str(step.parameters.get("variable")))
    return frozenset(read)


def names_given(steps: Steps) -> frozenset[str]:
    return frozenset(str(step.parameters["into"]) for _, step in walk(steps) if "into" in step.parameters)
