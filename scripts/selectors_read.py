"""Playwright's own selector syntax, as a corpus records it, read into our locators."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from radar.locators import Locator

_ROLE: Final = re.compile(r'internal:role=(\w+)(?:\[name=("(?:[^"\\]|\\.)*")(s|i)?\])?\Z')
_TEXT: Final = re.compile(r'internal:(text|label|has-text)=("(?:[^"\\]|\\.)*")(s|i)?\Z')
_ATTRIBUTE: Final = re.compile(r'internal:(?:attr|testid)=\[([\w-]+)=("(?:[^"\\]|\\.)*")(s|i)?\]\Z')
_NTH: Final = re.compile(r"nth=(-?\d+)\Z")


def read_selector(selector: str) -> Locator | None:
    """The same as a locator; None where it uses what we do not read here. `A >> B` is B within A."""
    within: Locator | None = None
    for part in selector.split(" >> "):
        nth = _NTH.match(part)
        if nth and within is not None:
            values = _values(within) | {"nth": int(nth[1])}
        else:
            read = _read_part(part)
            if read is None:
                return None
            values = read | ({"within": within} if within is not None else {})
        within = Locator(**values)
    return within


def _values(locator: Locator) -> dict[str, Any]:
    return {name: getattr(locator, name) for name in Locator.__slots__}


def _read_part(part: str) -> dict[str, Any] | None:
    role = _ROLE.match(part)
    if role:
        name = {"name": json.loads(role[2]), "exact": role[3] == "s"} if role[2] else {}
        return {"role": role[1], **name}
    text = _TEXT.match(part)
    if text:
        if text[1] == "has-text":
            return None
        return {text[1]: json.loads(text[2]), "exact": text[3] == "s"}
    attribute = _ATTRIBUTE.match(part)
    if attribute:
        key, value = attribute[1], json.loads(attribute[2])
        if key in ("title", "placeholder", "alt"):
            return {key: value, "exact": attribute[3] == "s"}
        return {"css": f"[{key}={json.dumps(value)}]"}
    if part.startswith("internal:"):
        return None
    if part.startswith(("xpath=", "//", "/html")):
        return {"xpath": part.removeprefix("xpath=")}
    return {"css": part.removeprefix("css=")}
