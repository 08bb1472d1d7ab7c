"""What `${name}` stands for in a test, and how secret values are kept out of everything that is written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from radar.locators import Locator
from repair_ladder.errors import BadTest
from repair_ladder.steps import Step, Steps, walk

PLACEHOLDER: Final = re.compile(r"\$\{([A-Za-z_]\w*)\}")
HIDDEN: Final = "[hidden]"  # what stands where a secret stood
SHORTEST_SECRET: Final = 3  # shorter ones cannot be told from chance


def fill_in(step: Step, values: Mapping[str, str]) -> Step:
    """The step with every `${name}` replaced. Raises BadTest for a name without a value."""
    locator = fill_locator(step.locator, values) if step.locator else None
    return replace(step, locator=locator, parameters={k: _value(v, values) for k, v in step.parameters.items()})


def _value(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _text(value, values)
    if isinstance(value, Locator):
        return fill_locator(value, values)
    if isinstance(value, list):
        return [_value(one, values) for one in value]
    if isinstance(value, dict):
        return {key: _value(one, values) for key, one in value.items()}
    return value


def fill_locator(locator: Locator, values: Mapping[str, str]) -> Locator:
    """The locator with every `${name}` replaced. Raises BadTest for a name without a value."""
    changed: dict[str, Any] = {}
    for item in fields(locator):
        value = getattr(locator, item.name)
        if isinstance(value, tuple):
            changed[item.name] = tuple(fill_locator(one, values) for one in value)
        elif isinstance(value, str | Locator):
            changed[item.name] = _value(value, values)
    return replace(locator, **changed)


def _text(text: str, values: Mapping[str, str]) -> str:
    def one(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise BadTest(f"the variable '{name}' has no value")
        return values[name]

    return PLACEHOLDER.sub(one, text)


def names_in(value: object) -> Iterator[str]:
    """The variables that a value, a locator or a step mentions."""
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, Locator):
        for item in fields(value):
            yield from names_in(getattr(value, item.name))
    elif isinstance(value, Step):
        yield from names_in(value.locator)
        yield from names_in(dict(value.parameters))
        yield from names_in(value.steps)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from names_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from names_in(one)


def names_used(steps: Steps) -> frozenset[str]:
    return frozenset(name for _, step in walk(steps) for name in names_in(step))


def redactor(secrets: Iterable[str]) -> Callable[[str], str]:
    """A function that hides the given values in a text, longest first; also as they stand in a URL or in HTML."""
    from html import escape
    from urllib.parse import quote, quote_plus

    forms = set()
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            forms |= {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), escape(secret)}
            # A browser leaves these as they are in the query of an address.
            forms |= {quote(secret, safe="&/'+=:;,@!$()*~?"), escape(secret, quote=False)}
    if not forms:
        return lambda text: text
    pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
    return lambda text: pattern.sub(HIDDEN, text)
