"""Recordings of Chrome's DevTools Recorder (JSON): one flow with a title and steps, several selectors a step.

The Recorder takes the first element that a selector finds; here a locator that finds several is an error, which the
first run says. Where an element was clicked, and with what device, is not kept: it is clicked in its middle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from radar.errors import BadLocator
from radar.locators import Locator
from radar.locators import read as read_locator
from radar.writing import css_string
from repair_ladder.errors import BadTest
from repair_ladder.formats import Exported, WrittenTest
from repair_ladder.formats.gathering import (
    MARK,
    Gatherer,
    Unsayable,
    beside_step,
    chosen_file,
    condition_of,
    inlined,
    leads_elsewhere,
    literal,
    lost_line,
    name_of,
    quote,
    read_mark,
    relative,
    write_beside,
    write_mark,
    write_variables,
)
from repair_ladder.formats.json_source import Object, line_of, parse
from repair_ladder.formats.keys import Keyboard, are_modifiers, taken_apart
from repair_ladder.formats.selectors import OWN_SYNTAX, in_css
from repair_ladder.step_format import read_step
from repair_ladder.steps import BLOCKS, Place, Step, Steps

TOOL: Final = "the Recorder"
BUTTONS: Final = {"primary": None, "auxiliary": "middle", "secondary": "right"}
COUNTS: Final = {"==": "equals", ">=": "at_least", "<=": "at_most"}
LONG_PRESS_MS: Final = 700
NARROW_PX: Final = 700  # a window this narrow gets the page for phones
# What the Recorder itself writes beside a step's own values; anything else is said to be left out.
KNOWN: Final = frozenset(
    "type timeout assertedEvents target frame selectors url value key offsetX offsetY button deviceType duration x y "
    "width height deviceScaleFactor isMobile hasTouch isLandscape download upload latency operator count visible "
    "properties attributes expression name parameters title".split()
)
TAG_ROLES: Final = {"button": "button", "a": "link"}
FIELDS: Final = frozenset({"input", "textarea", "select"})
ARIA_ATTRIBUTE: Final = re.compile(r"""\[\s*(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\]""")
FRAME_CSS: Final = "iframe, frame"
PREFIXES: Final = ("aria/", "text/", "xpath/", "pierce/", "css/")


def read(text: str, *, where: str = "the file", base_url: str | None = None) -> tuple[WrittenTest, ...]:
    """The test of a recording. Raises BadTest: one line with file, line and what was expected."""
    document = parse(text, where)
    if not isinstance(document, Object):
        raise BadTest(f"{where}: expected a recording: an object with 'title' and 'steps'")
    steps = document.get("steps")
    if not isinstance(steps, list):
        raise BadTest(f"{where}:{document.line}: the recording has no list of 'steps'")
    name = name_of(document.get("title"), f"{where}:{document.line}: 'title'")
    reader = _Reader(base_url)
    timeout = document.get("timeout")  # of every step that has none of its own
    try:
        for number, step in enumerate(steps, 1):
            with reader.out.part(line_of(step, document.line)):
                if timeout is not None and isinstance(step, Object) and step.get("type") not in _TIMELESS:
                    step.setdefault("timeout", timeout)
                reader.read(step, number)
        reader.close()
    except BadTest as error:
        raise BadTest(f"{where}: {error}") from None
    return (reader.out.finish(name, line=document.line),)


class _Reader:
    def __init__(self, base_url: str | None) -> None:
        self.base_url = base_url
        self.out = Gatherer()
        self.keyboard = Keyboard()
        self.scrolled: dict[str, int] = {}  # what is scrolled -> how far, since the last page
        self.aside: set[str] = set()  # what is left out of steps, said once
        self.beside: Mapping[str, Any] | None = None
        self.here: str | None = None  # the address, as far as the recording tells

    def add(self, raw: Mapping[str, Any]) -> None:
        step = beside_step(read_step(raw), self.beside)
        self.beside = None
        self.out.add(step)

    def close(self) -> None:
        for key in self.keyboard.held:
            self.out.note(f"'{key}' is still held at the end")
        if self.aside:
            self.out.line = 1
            self.out.note(f"left out: {', '.join(sorted(self.aside))}")

    def read(self, step: object, number: int) -> None:
        if not isinstance(step, Object) or not isinstance(step.get("type"), str):
            raise Unsayable(f"step {number}: expected an object with a 'type', got {quote(repr(step))}")
        kind = step["type"]
        unknown = sorted(set(step) - KNOWN)
        if unknown:
            self.out.note(f"step {number} ({quote(kind)}): {quote(', '.join(unknown))} is not known and left out")
        do = _KINDS.get(kind)
        if do is None:
            raise Unsayable(f"step {number}: '{quote(kind)}' is not a kind of step that is known")
        if kind not in ("setViewport", "emulateNetworkConditions", "customStep"):
            self.check_target(step, number)
        try:
            do(self, step)
        except Unsayable as error:
            raise Unsayable(f"step {number} ({quote(kind)}): {error}") from None
        self.asserted(step)

    def check_target(self, step: Object, number: int) -> None:
        target = step.get("target")
        if target not in (None, "", "main"):
            raise Unsayable(f"step {number} ({quote(step['type'])}): plays in another window or frame, {quote(target)}")

    # --- kinds ---

    def navigate(self, step: Object) -> None:
        url = relative(literal(_text(step, "url")), self.base_url)
        if leads_elsewhere(url) and self.base_url:
            self.out.note(f"goes to {quote(url)}, which is not below the project's base URL")
        self.here = url
        self.scrolled.clear()
        self.add({"goto": {"url": url}} | _timeout(step))

    def asserted(self, step: Object) -> None:
        """Navigations that a step leads to: the address is checked, without its query, which is new each time.

        The Recorder itself only waits for one navigation, whichever it is.
        """
        events = step.get("assertedEvents")
        if events is None:
            return
        if not isinstance(events, list):
            raise Unsayable(f"'assertedEvents' is a list, got {quote(repr(events))}")
        for event in events:
            if not isinstance(event, Object) or event.get("type") != "navigation":
                self.out.missing(f"an asserted event that is no navigation: {quote(repr(event))}")
                continue
            self.scrolled.clear()
            url = event.get("url")
            if not isinstance(url, str) or not url:
                self.aside.add("asserted navigations without an address")
                continue
            if event.get("title"):
                self.aside.add("titles of asserted navigations, which the Recorder does not check either")
            url = relative(literal(url), self.base_url)
            if url != self.here or step["type"] != "navigate":
                self.out.step({"assert_url": _address(url)})
            self.here = url

    def click(self, step: Object) -> None:
        button, kind = step.get("button", "primary"), "dblclick" if step["type"] == "doubleClick" else "click"
        if not isinstance(button, str) or button not in BUTTONS:
            raise Unsayable(f"the button {quote(repr(button))}")
        if _number(step, "duration") > LONG_PRESS_MS:
            raise Unsayable(f"a press that is held for {step['duration']} ms")
        if step.get("deviceType") not in (None, "mouse"):
            self.aside.add(f"the device of clicks ({quote(step['deviceType'])})")
        value = self.spot(step)
        if BUTTONS[button]:
            value["button"] = BUTTONS[button]
        modifiers = self.keyboard.modifiers()
        if modifiers:
            value["modifiers"] = modifiers
        if "canvas" in json.dumps(value) and "offsetX" in step and "offsetY" in step:
            value["position"] = {"x": step["offsetX"], "y": step["offsetY"]}
        else:
            self.aside.add("where in an element a click was made")
        self.add({kind: value} | _timeout(step))

    def hover(self, step: Object) -> None:
        self.add({"hover": self.spot(step)} | _timeout(step))

    def change(self, step: Object) -> None:
        value = literal(_text(step, "value"))
        file = chosen_file(value)
        if file:
            self.out.note(f"the file '{quote(file)}' has to lie beside this one: nobody recorded where it was")
            self.add({"upload": self.spot(step) | {"files": [file]}} | _timeout(step))
            return
        kind = "select" if _tag(step) == "select" else "fill"
        self.add({kind: self.spot(step) | {"value": value}} | _timeout(step))

    def key_down(self, step: Object) -> None:
        self.press(step, self.keyboard.down(_text(step, "key")))

    def key_up(self, step: Object) -> None:
        self.press(step, self.keyboard.up(_text(step, "key")))

    def press(self, step: Object, key: str | None) -> None:
        if key is not None:
            self.add({"press": {"key": key}} | _timeout(step))

    def scroll(self, step: Object) -> None:
        if _number(step, "x"):
            self.aside.add("scrolling sideways")
        value = self.spot(step) if "selectors" in step else {}
        what = json.dumps(value, sort_keys=True)
        to = round(_number(step, "y"))
        by, self.scrolled[what] = to - self.scrolled.get(what, 0), to
        if by:
            self.add({"scroll": value | {"by": by}} | _timeout(step))

    def viewport(self, step: Object) -> None:
        width = _number(step, "width")
        if step.get("isMobile") or step.get("hasTouch") or 0 < width < NARROW_PX:
            raise Unsayable(f"a phone's window, {quote(step.get('width'))} pixels wide: tests run in a desktop's")
        self.aside.add("the size of the window")

    def network(self, step: Object) -> None:
        if not _number(step, "download") and not _number(step, "upload"):
            raise Unsayable("without a network")
        self.aside.add("a slow network")

    def wait_for_element(self, step: Object) -> None:
        value = self.spot(step)
        count, operator, visible = step.get("count", 1), step.get("operator", ">="), step.get("visible", True)
        if (
            not isinstance(operator, str)
            or operator not in COUNTS
            or not isinstance(count, int)
            or isinstance(count, bool)
        ):
            raise Unsayable(f"a count {quote(operator)} {quote(repr(count))}")
        if not isinstance(visible, bool):
            raise Unsayable(f"'visible' is true or false, got {quote(repr(visible))}")
        checks = [*self.properties(value, step), *self.attributes(value, step)]
        is_one = (count, operator) in ((1, ">="), (1, "=="))
        if checks and not is_one:
            raise Unsayable("properties or attributes of several elements")
        if not visible:
            # To the Recorder this is the reverse of all the rest: no element, not one that cannot be seen.
            if checks or (operator == "==" and count):
                raise Unsayable("the reverse of a count, of properties or of attributes")
            reverse = {"at_most": count - 1} if operator == ">=" and count != 1 else {"at_least": count + 1}
            checks.append({"assert_count": value | ({"equals": 0} if (count, operator) == (1, ">=") else reverse)})
        elif (count, operator) != (1, ">="):
            checks.append({"assert_count": value | {COUNTS[operator]: count}})
        elif not checks:
            checks.append({"assert_visible": value})
        for check in checks:
            self.add(check | _timeout(step))

    def properties(self, value: dict[str, Any], step: Object) -> Iterator[dict[str, Any]]:
        for name, wanted in _mapping(step, "properties").items():
            match name, wanted:
                case "value", str():
                    yield {"assert_value": value | {"equals": literal(wanted)}}
                case "innerText" | "textContent", str():
                    if name == "textContent":
                        self.aside.add("text that cannot be seen, of the checks of a textContent")
                    yield {"assert_text": value | {"equals": literal(wanted)}}
                case "checked", True:
                    yield {"assert_checked": value}
                case "disabled", bool():
                    yield {"assert_disabled" if wanted else "assert_enabled": value}
                case _:
                    raise Unsayable(f"the property {quote(name)} = {quote(repr(wanted))}")

    def attributes(self, value: dict[str, Any], step: Object) -> Iterator[dict[str, Any]]:
        for name, wanted in _mapping(step, "attributes").items():
            if not isinstance(wanted, str) or not wanted:
                raise Unsayable(f"the attribute {quote(name)} = {quote(repr(wanted))}")
            yield {"assert_attribute": value | {"attribute": name, "equals": literal(wanted)}}

    def wait_for_expression(self, step: Object) -> None:
        raise Unsayable(f"JavaScript of the page cannot be a step: {quote(step.get('expression'))}")

    def close_page(self, step: Object) -> None:
        self.aside.add("closing the page at the end")

    def custom(self, step: Object) -> None:
        parameters = step.get("parameters")
        if step.get("name") == MARK.rstrip(":") and isinstance(parameters, Object):
            mark = read_mark(f"{MARK} {json.dumps(parameters)}")
            if mark and mark.step:
                self.out.add(mark.step)
            elif mark and mark.variables is not None:
                self.out.variables |= mark.variables
            elif mark:
                self.beside = mark.beside
            return
        raise Unsayable(f"a step of an extension: {quote(step.get('name'))}")

    # --- selectors ---

    def spot(self, step: Object) -> dict[str, Any]:
        """The locator's keys: the first selector that can be said, the others as alternatives."""
        given = step.get("selectors")
        if not isinstance(given, list) or not given:
            raise Unsayable("it has no 'selectors'")
        frame = self.frame(step)
        ways: list[dict[str, Any]] = []
        vague: list[dict[str, Any]] = []  # right only if the page is as plain as most are
        why = ""
        for selector in given:
            chain = [selector] if isinstance(selector, str) else selector
            try:
                way, is_vague = _chain(chain, _tag(step), is_field=step["type"] == "change")
                read_locator(way)
            except (Unsayable, BadLocator) as error:
                why = str(error)
                self.out.note(f"a selector is left out: {why}")
                continue
            (vague if is_vague else ways).append(way | frame)
        ways = [way for number, way in enumerate(ways + vague) if way not in (ways + vague)[:number]]
        if not ways:
            raise Unsayable(why)
        return ways[0] | ({"alternatives": ways[1:]} if ways[1:] else {})

    def frame(self, step: Object) -> dict[str, Any]:
        indexes = step.get("frame")
        if indexes in (None, []):
            return {}
        if not isinstance(indexes, list) or not all(type(one) is int and 0 <= one < 1000 for one in indexes):
            raise Unsayable(f"'frame' is a list of numbers, got {quote(repr(indexes))}")
        return {"frame": [{"css": FRAME_CSS, "nth": one} for one in indexes]}


_TIMELESS: Final = frozenset({"setViewport", "emulateNetworkConditions", "customStep", "close"})
_KINDS: Final = {
    "navigate": _Reader.navigate,
    "click": _Reader.click,
    "doubleClick": _Reader.click,
    "hover": _Reader.hover,
    "change": _Reader.change,
    "keyDown": _Reader.key_down,
    "keyUp": _Reader.key_up,
    "scroll": _Reader.scroll,
    "setViewport": _Reader.viewport,
    "emulateNetworkConditions": _Reader.network,
    "waitForElement": _Reader.wait_for_element,
    "waitForExpression": _Reader.wait_for_expression,
    "close": _Reader.close_page,
    "customStep": _Reader.custom,
}


def _text(step: Object, key: str) -> str:
    value = step.get(key)
    if not isinstance(value, str):
        raise Unsayable(f"'{key}' is a text, got {quote(repr(value))}")
    return value


def _number(step: Object, key: str) -> float:
    value = step.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
        raise Unsayable(f"'{key}' is a number, got {quote(repr(value))}")
    return value


def _timeout(step: Object) -> dict[str, Any]:
    value = step.get("timeout")
    return {"timeout_ms": round(_number(step, "timeout"))} if value is not None else {}


def _address(url: str) -> dict[str, Any]:
    """The condition of an address without its query; a hash that names a page of the app counts."""
    plain, _, hash_part = url.partition("#")
    path, route = plain.partition("?")[0], hash_part.partition("?")[0]
    if path == url:
        return {"equals": url}
    if not route.startswith(("/", "!")):
        return {"matches": rf"^{re.escape(path)}(?:[?#]|$)"}
    return {"matches": rf"^{re.escape(path)}(?:\?[^#]*)?#{re.escape(route)}(?:\?|$)"}


def _mapping(step: Object, key: str) -> Mapping[str, Any]:
    value = step.get(key)
    if isinstance(value, list):  # older recordings: [{"name": …, "value": …}]
        if not all(isinstance(one, dict) and set(one) == {"name", "value"} for one in value):
            raise Unsayable(f"'{key}' is a list of names and values, got {quote(repr(value))}")
        if len({str(one["name"]) for one in value}) < len(value):
            raise Unsayable(f"'{key}' names something twice")
        value = {str(one["name"]): one["value"] for one in value}
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Unsayable(f"'{key}' is an object, got {quote(repr(value))}")
    return value


def _tag(step: Object) -> str:
    """What the element is, as far as the CSS and XPath selectors tell."""
    for selector in step.get("selectors") or []:
        last = selector[-1] if isinstance(selector, list) and selector else selector
        if not isinstance(last, str):
            continue
        text = last.removeprefix("pierce/")
        if last.startswith("aria/"):
            role = {found[1]: found[2] or found[3] for found in ARIA_ATTRIBUTE.finditer(last)}.get("role")
            if role in ("combobox", "listbox") and ">" not in last:
                return "select" if role == "listbox" else ""
        elif last.startswith("xpath/"):
            found = re.search(r"/(\w+)(?:\[[^\]/]*\])?\Z", text)
            if found and found[1] != "text":
                return found[1].lower()
        elif not last.startswith("text/"):
            found = re.search(r"(?:\A|[\s>+~])([a-z][a-z0-9]*)(?:[.#:\[][^\s>+~]*)?\Z", text)
            if found:
                return found[1]
    return ""


def _chain(chain: object, tag: str, *, is_field: bool) -> tuple[dict[str, Any], bool]:
    """A selector and those of the shadow hosts before it, as the keys of a locator; is it only likely to be right?"""
    if not isinstance(chain, list) or not chain or not all(isinstance(part, str) for part in chain):
        raise Unsayable(f"a selector is a text or a list of texts, got {quote(repr(chain))}")
    parts = [piece for part in chain for piece in _deep(part)]
    if len(parts) > 15:
        raise Unsayable("a selector through more than 15 shadow roots")
    way: dict[str, Any] = {}
    is_vague = False
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        one, vague = _part(part, tag if is_last else "", is_field=is_field and is_last)
        way = one | ({"within": way} if way else {})
        is_vague = is_vague or vague
    return way, is_vague


def _deep(part: str) -> list[str]:
    """`a >>> b` looks through shadow roots, as our CSS does; each side is a selector of its own."""
    if part.startswith(PREFIXES[:3]) or ">>>" not in part:
        return [part]
    return [piece.strip() for piece in re.split(r">>>>?", part) if piece.strip()]


def _part(part: str, tag: str, *, is_field: bool) -> tuple[dict[str, Any], bool]:
    if part.startswith("xpath/"):
        return {"xpath": literal(part.removeprefix("xpath/"))}, False
    if part.startswith("text/"):
        return {"text": literal(part.removeprefix("text/"))}, False
    if part.startswith("aria/"):
        return _aria(part, tag, is_field=is_field)
    css = literal(part.removeprefix("pierce/").removeprefix("css/"))
    if "::-p-" in css:
        raise Unsayable(f"the selector {quote(css)}")
    return {"css": css}, False


def _aria(part: str, tag: str, *, is_field: bool) -> tuple[dict[str, Any], bool]:
    body = part.removeprefix("aria/")
    said = {found[1]: re.sub(r"\\(.)", r"\1", found[2] or found[3] or "") for found in ARIA_ATTRIBUTE.finditer(body)}
    if not set(said) <= {"role", "name"}:
        raise Unsayable(f"the selector {quote(part)}")
    name = literal(said.get("name") or ARIA_ATTRIBUTE.sub("", body).strip())
    role = said.get("role")
    if role:
        return ({"role": role, "name": name, "exact": True} if name else {"role": role}), False
    if not name:
        raise Unsayable(f"the selector {quote(part)}")
    if is_field or tag in FIELDS:
        # What is clicked may also be a button that is an input, which no label finds: it comes after what is certain.
        return {"label": name, "exact": True}, not is_field
    if tag in TAG_ROLES:
        return {"role": TAG_ROLES[tag], "name": name, "exact": True}, False
    # Without a role it may be an icon's name as well as a text; so it comes after what is certain.
    return {"text": name, "exact": True}, True


# --- writing -------------------------------------------------------------------------------------------


def write(test: WrittenTest, *, base_url: str | None = None, test_id_attribute: str = "data-testid") -> Exported:
    """The test as a recording: plain variables by their values, blocks by their steps.

    What the Recorder has no words for stands in it as a customStep, which the Recorder skips.
    """
    writer = _Writer(base_url, test_id_attribute)
    plain = inlined(test)
    variables = write_variables(plain.variables)
    if variables:
        writer.steps.append(_custom(variables))
    writer.write(plain.steps, ())
    document = {"title": test.name, "steps": writer.steps}
    return Exported(json.dumps(document, ensure_ascii=False, indent=2) + "\n", tuple(writer.lost))


class _Writer:
    def __init__(self, base_url: str | None, test_id_attribute: str) -> None:
        self.base_url = (base_url or "").rstrip("/")
        self.test_id_attribute = test_id_attribute
        self.steps: list[dict[str, Any]] = []
        self.lost: list[str] = []
        self.scrolled: dict[str, int] = {}

    def write(self, steps: Steps, before: Place) -> None:
        for number, step in enumerate(steps, 1):
            place = (*before, number)
            if step.kind in BLOCKS:
                self.write(step.steps, place)
                continue
            self.write_step(place, step)

    def write_step(self, place: Place, step: Step) -> None:
        try:
            if "${" in json.dumps(write_mark(step)):
                raise Unsayable("a variable")
            said = list(self.say(step))
        except Unsayable:
            self.lost.append(lost_line(place, step, TOOL))
            self.steps.append(_custom(write_mark(step)))
            return
        beside = write_beside(replace(step, timeout_ms=None))
        if beside and said:
            self.steps.append(_custom(beside))
        for one in said:
            self.steps.append(one | ({"timeout": step.timeout_ms} if step.timeout_ms is not None else {}))

    def say(self, step: Step) -> Iterator[dict[str, Any]]:
        given = step.parameters
        if step.kind not in ("scroll", "assert_url") and set(given) - _SAID.get(step.kind, frozenset()):
            raise Unsayable("parameters")
        match step.kind:
            case "goto":
                self.scrolled.clear()
                yield {"type": "navigate", "url": self.absolute(str(given["url"]))}
            case "click" | "dblclick":
                yield from self.say_click(step)
            case "hover":
                yield {"type": "hover", "target": "main"} | self.selectors(step)
            case "fill" | "select":
                said: dict[str, Any] = {"type": "change", "target": "main", **self.selectors(step)}
                is_select = _tag(_object(said)) == "select"
                if "value" not in given or is_select != (step.kind == "select"):
                    raise Unsayable("whether it is a list to choose from")
                yield said | {"value": str(given["value"])}
            case "press" if step.locator is None:
                apart = taken_apart(str(given["key"]))
                if apart is None:
                    raise Unsayable("keys")
                yield from _presses(*apart)
            case "scroll" if set(given) == {"by"}:
                yield self.say_scroll(step)
            case "assert_url":
                yield from self.say_url(step)
            case kind if kind.startswith("assert_") and step.locator is not None:
                yield {"type": "waitForElement", "target": "main", **self.selectors(step), **_wanted(step)}
            case _:
                raise Unsayable(step.kind)

    def say_click(self, step: Step) -> Iterator[dict[str, Any]]:
        given = step.parameters
        said: dict[str, Any] = {"type": {"dblclick": "doubleClick"}.get(step.kind, step.kind), "target": "main"}
        said |= self.selectors(step)
        button = next((name for name, ours in BUTTONS.items() if ours == given.get("button")), None)
        modifiers = given.get("modifiers", [])
        if button is None or not are_modifiers(modifiers) or modifiers != sorted(set(modifiers)):
            raise Unsayable("buttons")
        if ("position" in given) != ("canvas" in json.dumps(said["selectors"])):
            raise Unsayable("a position")
        position = given.get("position", {"x": 1, "y": 1})
        said |= {"offsetX": position["x"], "offsetY": position["y"]}
        yield from ({"type": "keyDown", "target": "main", "key": key} for key in modifiers)
        yield said | ({"button": button} if button != "primary" else {})
        yield from ({"type": "keyUp", "target": "main", "key": key} for key in reversed(modifiers))

    def say_scroll(self, step: Step) -> dict[str, Any]:
        said: dict[str, Any] = {"type": "scroll", "target": "main"}
        if step.locator is not None:
            said |= self.selectors(step)
        what = json.dumps(said, sort_keys=True)
        self.scrolled[what] = self.scrolled.get(what, 0) + step.parameters["by"]
        return said | {"x": 0, "y": self.scrolled[what]}

    def say_url(self, step: Step) -> Iterator[dict[str, Any]]:
        """An address right after an action is what the action led to."""
        wanted, last = condition_of(step), self.steps[-1] if self.steps else None
        is_plain = wanted is not None and wanted[0] == "equals" and not re.search(r"[?#]", str(wanted[1]))
        # A keyUp may come after the navigation that its keyDown led to.
        if not is_plain or last is None or last["type"] in ("customStep", "waitForElement") or "assertedEvents" in last:
            raise Unsayable("an address by itself")
        if write_beside(step) or step.timeout_ms is not None:
            raise Unsayable("an address by itself")
        assert wanted is not None
        url = self.absolute(str(wanted[1]))
        if last["type"] == "navigate" and last["url"] == url:
            raise Unsayable("an address by itself")
        self.scrolled.clear()
        last["assertedEvents"] = [{"type": "navigation", "url": url, "title": ""}]
        yield from ()

    def absolute(self, url: str) -> str:
        if leads_elsewhere(url):
            if self.base_url and relative(url, self.base_url) != url:
                raise Unsayable("an address that would be read as relative")
            return url
        if not self.base_url or not url.startswith("/"):
            raise Unsayable("an address without the project's base URL")
        return self.base_url + url

    def selectors(self, step: Step) -> dict[str, Any]:
        assert step.locator is not None
        ways = step.locator.ways()
        if any(way.frame != ways[0].frame for way in ways):
            raise Unsayable("frames that differ")
        is_field = step.kind in ("fill", "select")
        said: dict[str, Any] = {"selectors": [self.chain(way) for way in ways]}
        if ways[0].frame:
            if any(one != Locator(css=FRAME_CSS, nth=one.nth) or one.nth is None for one in ways[0].frame):
                raise Unsayable("a frame that is not told by its number")
            said["frame"] = [one.nth for one in ways[0].frame]
        # What cannot be read again as the same locator would be another step.
        again = _Reader(None).spot(_object(said | {"type": "change" if is_field else step.kind}))
        meant = [self.plain(way) for way in ways]
        if list(read_locator(again).ways()) != meant:
            raise Unsayable("selectors that would be read in another order")
        return said

    def chain(self, way: Locator) -> list[str]:
        within = self.chain(replace(way.within, alternatives=())) if way.within else []
        return [*within, self.part(replace(self.plain(way), within=None, frame=()))]

    def plain(self, way: Locator) -> Locator:
        return in_css(way, self.test_id_attribute)

    def part(self, way: Locator) -> str:
        finders = list(way.finders())
        without: dict[str, Any] = {key: None for key, _ in finders}
        extra = replace(way, name=None, exact=False, **without)
        if len(finders) != 1 or extra != Locator():
            raise Unsayable("several conditions")
        key, value = finders[0]
        match key:
            case "role" if way.name is None and not way.exact:
                return f"aria/[role={css_string(value)}]"
            case "role" if way.name and way.exact and not ARIA_ATTRIBUTE.search(way.name):
                return f"aria/{way.name}[role={css_string(value)}]"
            case "label" | "text" if way.exact and not ARIA_ATTRIBUTE.search(value):
                return f"aria/{value}"
            case "text" if not way.exact:
                return f"text/{value}"
            case "xpath":
                return f"xpath/{value}"
            case "css" if not OWN_SYNTAX.search(value):
                return f"pierce/{value}" if value.startswith(PREFIXES) else value
        raise Unsayable(key)


_CLICK_SAID: Final = frozenset({"button", "modifiers", "position"})
_SAID: Final[dict[str, frozenset[str]]] = {
    "goto": frozenset({"url"}),
    "click": _CLICK_SAID,
    "dblclick": _CLICK_SAID,
    "fill": frozenset({"value"}),
    "select": frozenset({"value"}),
    "press": frozenset({"key"}),
    **dict.fromkeys(("assert_text", "assert_value"), frozenset({"equals"})),
    "assert_attribute": frozenset({"attribute", "equals"}),
    "assert_count": frozenset({"equals", "at_least", "at_most"}),
}


def _wanted(step: Step) -> dict[str, Any]:
    given = step.parameters
    match step.kind:
        case "assert_visible":
            return {}
        case "assert_count":
            wanted = condition_of(step)
            if wanted == ("equals", 0):
                return {"visible": False}
            if wanted is None or wanted == ("at_least", 1) or type(wanted[1]) is not int:
                raise Unsayable("a count")
            return {"operator": next(sign for sign, ours in COUNTS.items() if ours == wanted[0]), "count": wanted[1]}
        case "assert_text":
            return {"properties": {"innerText": str(given["equals"])}}
        case "assert_value":
            return {"properties": {"value": str(given["equals"])}}
        case "assert_attribute" if str(given["equals"]):
            return {"attributes": {str(given["attribute"]): str(given["equals"])}}
        case "assert_checked":
            return {"properties": {"checked": True}}
        case "assert_disabled" | "assert_enabled":
            return {"properties": {"disabled": step.kind == "assert_disabled"}}
    raise Unsayable(step.kind)


def _presses(modifiers: Sequence[str], key: str) -> Iterator[dict[str, Any]]:
    for name in (*modifiers, key):
        yield {"type": "keyDown", "target": "main", "key": name}
    for name in (key, *reversed(modifiers)):
        yield {"type": "keyUp", "target": "main", "key": name}


def _custom(mark: str) -> dict[str, Any]:
    return {"type": "customStep", "name": MARK.rstrip(":"), "parameters": json.loads(mark.removeprefix(MARK))}


def _object(raw: Mapping[str, Any]) -> Object:
    made = Object()
    made.update(raw)
    return made
