"""What `${name}` stands for in a test, and how secret values are kept out of everything that is written down."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final
from urllib.parse import quote

from radar.locators import Locator
from repair_ladder.errors import BadTest
from repair_ladder.steps import Step, Steps, walk

PLACEHOLDER: Final = re.compile(r"\$\{([A-Za-z_]\w*)\}")
HIDDEN: Final = "[hidden]"  # what stands where a secret stood
SHORTEST_SECRET: Final = 3  # shorter ones cannot be told from chance
LONG_ENOUGH: Final = 6  # the same for what a secret is turned into
PERCENT: Final = re.compile("%[0-9A-F]{2}")
UNICODE: Final = re.compile(r"\\u[0-9a-f]{4}")


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
    """A function that hides the given values in a text, longest first.

    Also as they stand in an address, in HTML, in JSON, in Base64 (alone or in the middle of something, as in a header
    of HTTP), in capitals, and with their white space folded; of several lines each long one by itself.
    """
    forms, coded = _written(secrets)
    if not forms:
        return lambda text: text
    every = [*forms, *coded]
    # A letter of Base64 stands for parts of two bytes: the ones beside what is the secret's alone hold some of it.
    around = [f"[A-Za-z0-9+/_-]?{re.escape(form)}[A-Za-z0-9+/_-]?(?:={{1,2}}|%3[Dd])*" for form in coded]
    plain = [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
    pattern = re.compile("|".join([*plain, *around]))

    def redact(text: str) -> str:
        # Most texts hold none, and looking for a plain text takes far less time than looking for a pattern.
        return pattern.sub(HIDDEN, text) if any(form in text for form in every) else text

    return redact


def ways_to_write(secrets: Iterable[str]) -> tuple[str, ...]:
    """Every form that `redactor` hides, for looking for them where nothing can be cut out, such as in a picture."""
    forms, coded = _written(secrets)
    return tuple(sorted(forms | coded))


def _written(secrets: Iterable[str]) -> tuple[set[str], set[str]]:
    """All forms but those in Base64, and those; neither with what is too short to be told from chance."""
    forms: set[str] = set()
    coded: set[str] = set()
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            forms |= _forms_of(secret)
            coded |= _coded(secret)
    return {form for form in forms if len(form.strip()) >= SHORTEST_SECRET}, coded


def _forms_of(secret: str) -> set[str]:
    texts = {secret, " ".join(secret.split())}
    texts |= {line.strip() for line in secret.splitlines() if len(line.strip()) >= LONG_ENOUGH}
    if len(secret) >= LONG_ENOUGH:
        texts |= {secret.upper(), secret.lower()}  # an app may show a text in capitals
    forms = set(texts)
    for text in texts:
        # A browser leaves some of these as they are in the query of an address.
        quoted = {_quoted(text, safe) for safe in ("/", "", "&/'+=:;,@!$()*~?", "~()*!'", "/~()*!'")}
        quoted |= {one.replace("%20", "+") for one in quoted}
        forms |= quoted | {PERCENT.sub(lambda found: found[0].lower(), one) for one in quoted}
        forms |= {_quoted(one, "") for one in quoted}  # an address within an address
        forms |= _in_html(text) | _in_json(text)
    return forms


def _quoted(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="surrogatepass")  # a variable of the environment may hold any bytes


def _in_html(text: str) -> set[str]:
    """As apps write it: quotes and slashes are written in several ways, or left as they are."""
    simple = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    written = {text.replace("&", "&amp;"), simple}
    for double in ('"', "&quot;", "&#34;", "&#x22;"):
        for single in ("'", "&#39;", "&#x27;", "&#039;", "&apos;"):
            one = simple.replace('"', double).replace("'", single)
            written |= {one, one.replace("/", "&#x2F;"), one.replace("=", "&#x3D;").replace("`", "&#x60;")}
    coded = "".join(letter if letter.isascii() else f"&#{ord(letter)};" for letter in text)
    return written | {coded}


def _in_json(text: str) -> set[str]:
    written = set()
    for is_ascii in (True, False):
        one = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
        safe = one.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e").replace("'", "\\u0027")
        slashed = one.replace("/", "\\/")
        written |= {one, slashed, safe, UNICODE.sub(lambda found: found[0].upper().replace("U", "u", 1), safe)}
        written |= {json.dumps(inner)[1:-1] for inner in (one, slashed)}  # JSON within JSON
    return written


def _coded(secret: str) -> set[str]:
    """What of the secret alone stands in Base64, wherever it begins; nothing if that is too short to be told."""
    raw = secret.encode("utf-8", "surrogatepass")
    found = set()
    for before in range(3):
        text = b64encode(b"\0" * before + raw).decode().rstrip("=")
        # The first letters are those of what stands before; the last may be shared with what stands behind.
        whole = text[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        if len(whole) >= LONG_ENOUGH:
            found |= {whole, whole.replace("+", "-").replace("/", "_"), quote(whole, safe="")}
    return found
