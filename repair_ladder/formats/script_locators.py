"""Locators of Playwright scripts: chains of calls and selector strings, as the keys of our locators.

What a chain does in turn is kept in turn: a filter after a position is asked of the element that the position picked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from radar.errors import RadarError
from radar.locators import FINDERS, Locator
from radar.locators import read as read_locator
from radar.resolving import check_selector, selector_parts
from radar.writing import css_string
from repair_ladder.formats.gathering import Unsayable, quote
from repair_ladder.values import fill_locator, names_in

SELF: Final = ":scope"
GET_BY: Final = {
    "get_by_text": "text", "get_by_label": "label", "get_by_placeholder": "placeholder", "get_by_alt_text": "alt",
    "get_by_title": "title", "get_by_test_id": "test_id",
}  # fmt: skip
FILTERS: Final = ("has_text", "has_not_text", "has", "has_not", "visible")
ENTER_FRAME: Final = frozenset(
    {("internal:control", "enter-frame"), ("control", "enter-frame"), ("content-frame", "true")}
)
# The states that get_by_role may ask for, in CSS: what the element itself says.
ROLE_STATES: Final = {
    "checked": (':is(:checked, [aria-checked="true"])', ':not(:checked, [aria-checked="true"])'),
    "disabled": (':is(:disabled, [aria-disabled="true"])', ':not(:disabled, [aria-disabled="true"])'),
    "expanded": ('[aria-expanded="true"]', '[aria-expanded="false"]'),
    "pressed": ('[aria-pressed="true"]', ':not([aria-pressed="true"])'),
    "selected": (':is([aria-selected="true"], option:checked)', ':not([aria-selected="true"], option:checked)'),
}
ATTRIBUTE_ENGINES: Final = frozenset({"id", "data-testid", "data-test-id", "data-test"})
# What Python and a browser read as something else: \A and \Z, [] and [^], {,3}, and groups that only one of them has.
OTHERWISE: Final = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[AZ]|\[\^?\]|\{,\d+\}|\(\?(?:P|#|\())")
MOST_PARTS: Final = 15
MOST_LOCATORS: Final = 60  # in one another; one that is named twice counts twice


@dataclass(frozen=True, slots=True)
class Rx:
    """A regular expression as our locators write it: Python's, `(?i)` before it for any case."""

    text: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A locator being put together: its keys, and the frames around it."""

    at: Mapping[str, Any]
    frames: tuple[Mapping[str, Any], ...] = ()

    def raw(self) -> dict[str, Any]:
        """The keys of the whole locator; raises Unsayable for one that nobody could use."""
        raw = dict(self.at) | ({"frame": [dict(one) for one in self.frames]} if self.frames else {})
        if _size(raw, MOST_LOCATORS) > MOST_LOCATORS:
            raise Unsayable(f"a locator of more than {MOST_LOCATORS} others")
        try:
            _check(read_locator(raw))
        except RadarError as error:
            raise Unsayable(str(error)) from None
        return raw


def _size(raw: Mapping[str, Any], most: int) -> int:
    """How many locators these keys are, counted until there are too many."""
    waiting, count = [raw], 0
    while waiting and count <= most:
        one = waiting.pop()
        count += 1
        waiting += [one[key] for key in ("within", "has", "has_not") if key in one]
        waiting += one.get("frame", [])
    return count


@lru_cache(maxsize=2000)
def _check(locator: Locator) -> None:
    """Can its selectors be read, once its variables have values? A name or a number is a fair try."""
    names = set(names_in(locator))
    try:
        check_selector(fill_locator(locator, dict.fromkeys(names, "x")))
    except RadarError:
        if not names:
            raise
        check_selector(fill_locator(locator, dict.fromkeys(names, "1")))


@dataclass(frozen=True, slots=True)
class Place:
    """Where locators begin: a page, a frame of it, or the matches of another locator."""

    inside: Spot | None = None
    frames: tuple[Mapping[str, Any], ...] = ()

    def spot(self, keys: Mapping[str, Any]) -> Spot:
        if self.inside is None:
            return Spot(dict(keys), self.frames)
        return Spot(dict(keys) | {"within": dict(self.inside.at)}, self.inside.frames)


def enter(frame: Spot) -> Place:
    """Inside of the frame that a locator finds."""
    return Place(None, (*frame.frames, frame.at))


def regex(source: str, flags: str = "") -> Rx:
    """From a regular expression as JavaScript writes it. Raises Unsayable for what ours cannot be."""
    kept = "".join(sorted(set(flags) & set("ims")))
    if set(flags) - set("imsgud"):
        raise Unsayable(f"the flags {quote(flags)}")
    if OTHERWISE.search(source):
        raise Unsayable(f"the expression {quote(source)}, which Python reads otherwise than a browser")
    source = source.replace("\\/", "/")
    if "${" in source:
        raise Unsayable(f"the expression {quote(source)} would be read as a variable")
    return Rx(f"(?{kept}){source}" if kept else source)


def by(place: Place, key: str, text: str | Rx, *, exact: bool = False) -> Spot:
    if isinstance(text, Rx):
        return place.spot({key: text.text, "regex": True})
    if not text:
        raise Unsayable("an empty text")
    return place.spot({key: text} | ({"exact": True} if exact and key != "test_id" else {}))


def by_role(place: Place, role: str, name: str | Rx | None, states: Mapping[str, Any], *, exact: bool = False) -> Spot:
    keys: dict[str, Any] = {"role": role}
    if isinstance(name, Rx):
        keys |= {"name": name.text, "regex": True}
    elif name is not None:
        keys |= {"name": name} | ({"exact": True} if exact else {})
    css = ""
    for state, wanted in states.items():
        if state == "level" and isinstance(wanted, int) and not isinstance(wanted, bool):
            css += f':is(h{wanted}:not([aria-level]), [aria-level="{wanted}"])'
        elif state in ROLE_STATES and isinstance(wanted, bool):
            css += ROLE_STATES[state][0 if wanted else 1]
        elif not (state == "include_hidden" and wanted is False):
            raise Unsayable(f"the state {quote(state)}")
    return place.spot(keys | ({"css": css} if css else {}))


def keep(spot: Spot, **filters: Any) -> Spot:
    """What is left of a locator's matches; has and has_not are Spots, texts may be patterns."""
    at = dict(spot.at)
    for key, value in filters.items():
        if key not in FILTERS:
            raise Unsayable(f"the filter {quote(key)}")
        if value is None:
            continue
        is_pattern = isinstance(value, Rx)
        texts = any(
            one in at
            for one in ("name", "text", "label", "placeholder", "alt", "title", "test_id", "has_text", "has_not_text")
        )
        mixes = key.endswith("text") and texts and bool(at.get("regex")) != is_pattern
        if "nth" in at or key in at or mixes or (is_pattern and at.get("exact")):
            at = {"css": SELF, "within": at}
        if isinstance(value, Spot) != (key in ("has", "has_not")):
            raise Unsayable(f"the filter {quote(key)}")
        if isinstance(value, Spot):
            if value.frames:
                raise Unsayable("a filter in a frame of its own")
            at[key] = dict(value.at)
        elif isinstance(value, Rx):
            at |= {key: value.text, "regex": True}
        elif isinstance(value, bool) if key == "visible" else isinstance(value, str):
            at[key] = value
        else:
            raise Unsayable(f"the filter {quote(key)}")
    return Spot(at, spot.frames)


def pick(spot: Spot, nth: int) -> Spot:
    at = dict(spot.at)
    return Spot({"css": SELF, "within": at, "nth": nth} if "nth" in at else at | {"nth": nth}, spot.frames)


def both(one: Spot, other: Spot) -> Spot:
    """What two locators find both: conditions of one kind each can stand together."""
    left, right = dict(one.at), dict(other.at)
    if one.frames != other.frames or set(right) - {*FINDERS, "name", "exact", "regex"}:
        raise Unsayable("two locators at once")
    texts = [at for at in (left, right) if set(at) - {"css", "xpath", "role", "within", "nth"} or "name" in at]
    marks = {(at.get("exact", False), at.get("regex", False)) for at in texts}
    if "nth" in left or set(left) & set(right) - {"exact", "regex"} or len(marks) > 1:
        raise Unsayable("two locators at once")
    return Spot(left | right, one.frames)


def below(outer: Spot, inner: Spot) -> Spot:
    """Another locator, looked for inside this one's matches."""
    if inner.frames:
        raise Unsayable("a locator in a frame of its own")
    return Spot(_nested(dict(inner.at), dict(outer.at), 0), outer.frames)


def _nested(at: dict[str, Any], outer: dict[str, Any], depth: int) -> dict[str, Any]:
    if depth > MOST_PARTS:
        raise Unsayable("locators too deep in one another")
    return at | {"within": _nested(dict(at["within"]), outer, depth + 1) if "within" in at else outer}


# --- selector strings --------------------------------------------------------------------------------------


def select(place: Place, selector: str) -> Spot:
    """A selector string: CSS, XPath, `text=…`, `role=…`, `a >> b >> nth=0` and the like."""
    if not selector.strip():
        raise Unsayable("an empty selector")
    found: Spot | None = None
    parts = selector_parts(selector)
    if len(parts) > MOST_PARTS:
        raise Unsayable("a selector of more than fifteen parts")
    for engine, body in parts:
        if (engine, body.strip()) in ENTER_FRAME:
            if found is None:
                raise Unsayable(f"the selector {quote(selector)}")
            place, found = enter(found), None
            continue
        if found is not None and engine in ("nth", "visible"):
            found = _narrowed(found, engine, body, selector)
            continue
        here = place if found is None else Place(found)
        found = _part(here, engine, body, selector)
    if found is None:
        raise Unsayable(f"the selector {quote(selector)}")
    return found


def _narrowed(found: Spot, engine: str, body: str, selector: str) -> Spot:
    if engine == "nth" and re.fullmatch(r"\s*-?\d{1,6}\s*", body):
        return pick(found, int(body))
    if engine == "visible" and body.strip() in ("true", "false"):
        return keep(found, visible=body.strip() == "true")
    raise Unsayable(f"the selector {quote(selector)}")


def _part(place: Place, engine: str, body: str, selector: str) -> Spot:
    match engine:
        case "css":
            return place.spot({"css": body.strip()})
        case "xpath":
            return place.spot({"xpath": body.strip()})
        case "text":
            return _by_text(place, body.strip())
        case "role":
            return _by_role(place, body)
        case _ if engine in ATTRIBUTE_ENGINES:
            return place.spot({"css": f"[{engine}={css_string(_unquoted(body))}]"})
    raise Unsayable(f"the selector {quote(selector)}")


def _unquoted(body: str) -> str:
    return body[1:-1] if len(body) > 1 and body[0] == body[-1] and body[0] in "\"'" else body


def _by_text(place: Place, body: str) -> Spot:
    found = re.fullmatch(r"/(.+)/([a-z]*)", body, re.DOTALL)
    if found:
        return by(place, "text", regex(found[1], found[2]))
    if len(body) > 1 and body[0] == body[-1] and body[0] in "\"'":
        return by(place, "text", re.sub(r"\\(.)", r"\1", body[1:-1]), exact=True)
    return by(place, "text", body)


_ROLE: Final = re.compile(r"\s*([\w-]+)\s*")
_ROLE_CONDITION: Final = re.compile(
    r"""\[\s*([\w-]+)\s*(?:(=|\*=)\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|/((?:[^/\\]|\\.)+)/([a-z]*)|(\w+))\s*([iIsS]?)\s*)?\]\s*"""
)


def _by_role(place: Place, body: str) -> Spot:
    head = _ROLE.match(body)
    if not head:
        raise Unsayable(f"the selector role={quote(body)}")
    at, states = head.end(), dict[str, Any]()
    name: str | Rx | None = None
    while at < len(body):
        found = _ROLE_CONDITION.match(body, at)
        if not found:
            raise Unsayable(f"the selector role={quote(body)}")
        key, operator, double, single, source, flags, word, case = found.groups()
        at = found.end()
        if key == "name" and source is not None:
            name = regex(source, flags or "")
        elif key == "name" and (double is not None or single is not None):
            text = re.sub(r"\\(.)", r"\1", double if double is not None else single)
            if operator == "=" and case not in ("i", "I"):
                name = text
            else:
                ends = ("^", "$") if operator == "=" else ("", "")
                name = Rx(f"{'(?i)' if case in ('i', 'I') else ''}{ends[0]}{re.escape(text)}{ends[1]}")
        elif key == "level" and word and word.isdecimal():
            states["level"] = int(word)
        elif operator is None or word in ("true", "false"):
            states[key.replace("-", "_")] = word != "false"
        else:
            raise Unsayable(f"the selector role={quote(body)}")
    return by_role(place, head[1], name, states, exact=isinstance(name, str))
