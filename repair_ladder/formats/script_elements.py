"""Calls of a locator: what is done with an element, what is read of it, what is waited for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from repair_ladder.formats.gathering import Unsayable, quote
from repair_ladder.formats.script import Call
from repair_ladder.formats.script_locators import Place, both, enter, pick
from repair_ladder.formats.script_places import filtered, located, selected
from repair_ladder.formats.script_values import STATES, Found, Inside, Options, Page, Read, Value, text_of

if TYPE_CHECKING:
    from repair_ladder.formats.script_reading import Reader

SIMPLE: Final = {"click": "click", "dblclick": "dblclick", "hover": "hover", "check": "check", "uncheck": "uncheck"}


def found_call(reader: Reader, found: Found, name: str, call: Call) -> Value:
    made = located(reader, Place(found.spot), name, call)
    if made is not None:
        return Found(found.page, made)
    match name:
        case "filter":
            named = {key: reader.value(one) for key, one in reader.options(call).named.items()}
            return Found(found.page, filtered(found.spot, named))
        case "first" | "last":
            return Found(found.page, pick(found.spot, 0 if name == "first" else -1))
        case "nth":
            at = reader.value(call.given[0]) if call.given else None
            if isinstance(at, bool) or not isinstance(at, int):
                raise Unsayable("a place that is not known")
            return Found(found.page, pick(found.spot, at))
        case "and_" | "and":
            other = reader.value(call.given[0]) if call.given else None
            if not isinstance(other, Found):
                raise Unsayable("a locator that is not known")
            return Found(found.page, both(found.spot, other.spot))
        case "frame_locator":
            inner = selected(reader, Place(found.spot), call)
            return Inside(found.page, enter(inner))
        case "content_frame":
            return Inside(found.page, enter(found.spot))
        case "inner_text" | "text_content":
            return Read(found.page, "text", found.spot)
        case "input_value":
            return Read(found.page, "value", found.spot)
        case "count":
            return Read(found.page, "count", found.spot)
        case "get_attribute":
            attribute = reader.value(call.given[0]) if call.given else None
            if not isinstance(attribute, str) or not re.fullmatch(r"[\w:.\-]+", attribute):
                raise Unsayable("an attribute that is not known")
            return Read(found.page, "attribute", found.spot, attribute)
        case _ if name.removeprefix("is_") in STATES and name.startswith("is_"):
            return Read(found.page, name.removeprefix("is_"), found.spot)
        case "describe":
            return found
    act(reader, found, name, call)
    return None


def act(reader: Reader, found: Found, name: str, call: Call) -> None:
    takes_mapping = name in ("select_option", "set_input_files")
    options = reader.options(call, most=1 if takes_mapping else None)
    raw = found.spot.raw()
    first = reader.value(options.given[0]) if options.given else None
    match name:
        case "click" | "dblclick" | "hover" | "check" | "uncheck":
            reader.check_options(options, "button", "modifiers", "position", "click_count")
            given = {key: reader.value(one) for key, one in options.named.items()}
            count = given.pop("click_count", 1)
            if count not in (1, 2) or isinstance(count, bool):
                raise Unsayable(f"{quote(count)} clicks")
            kind = "dblclick" if count == 2 else SIMPLE[name]
            kept = {key: given[key] for key in ("button", "modifiers", "position") if key in given}
            if kept.get("button") == "left":
                del kept["button"]
            reader.add({kind: raw | kept}, found.page, options)
        case "fill" | "type" | "press_sequentially":
            reader.check_options(options)
            kind = "fill" if name == "fill" else "type"
            reader.add({kind: raw | {"value": text_of(first)}}, found.page, options)
        case "clear":
            reader.add({"fill": raw | {"value": ""}}, found.page, options)
        case "press":
            reader.check_options(options)
            reader.add({"press": raw | {"key": text_of(first)}}, found.page, options)
        case "set_checked":
            if not isinstance(first, bool):
                raise Unsayable("a state that is not known")
            reader.add({"check" if first else "uncheck": raw}, found.page, options)
        case "select_option":
            reader.add({"select": raw | choice_of(reader, first, options)}, found.page, options)
        case "set_input_files":
            reader.add({"upload": raw | {"files": files_of(first)}}, found.page, options)
        case "drag_to":
            if not isinstance(first, Found):
                raise Unsayable("a place to drag to that is not known")
            reader.check_options(options)
            reader.add({"drag": raw | {"to": first.spot.raw()}}, found.page, options)
        case "scroll_into_view_if_needed":
            reader.add({"scroll": {"until": raw}}, found.page, options)
        case "screenshot":
            screenshot(reader, found.page, raw, call)
        case "wait_for":
            wait_for(reader, found, options)
        case "highlight":
            reader.out.note("highlight is left out")
        case _:
            raise Unsayable(f"'{quote(name)}' of a locator is not known")


def screenshot(reader: Reader, page: Page, raw: Mapping[str, Any] | None, call: Call) -> None:
    options = reader.options(call)
    path = options.named.get("path")
    name = reader.value(path) if path is not None else None
    named = {"as": name.rpartition("/")[2].partition(".")[0][:100] or "page"} if isinstance(name, str) else {}
    reader.add({"screenshot": dict(raw or {}) | named}, page)


def wait_for(reader: Reader, found: Found, options: Options) -> Value:
    state = reader.value(options.named["state"]) if "state" in options.named else "visible"
    reader.check_options(options, "state")
    raw = found.spot.raw()
    match state:
        case "visible" | "hidden":
            wanted = {"state": state} if state != "visible" else {}
            reader.add({"wait": {"for": raw} | wanted}, found.page, options)
        case "attached":
            reader.add({"assert_count": raw | {"at_least": 1}}, found.page, options)
        case "detached":
            reader.add({"assert_count": raw | {"equals": 0}}, found.page, options)
        case _:
            raise Unsayable(f"waiting for the state {quote(state)}")
    return found


def choice_of(reader: Reader, first: Value, options: Options) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        key: reader.value(one) for key, one in options.named.items() if key in ("value", "label", "index")
    }
    if first is not None:
        one = first[0] if isinstance(first, list) and len(first) == 1 else first
        chosen |= one if isinstance(one, dict) else {"value": one}
    if len(chosen) != 1:
        raise Unsayable("several choices at once")
    key, value = next(iter(chosen.items()))
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if key == "index" and isinstance(value, int):
        return {"index": value}
    if not isinstance(value, str) or key not in ("value", "label"):
        raise Unsayable("a choice that is not known")
    return {"option" if key == "label" else "value": value}


def files_of(value: Value) -> list[str]:
    names = value if isinstance(value, list) else [value]
    files = [one for one in names if isinstance(one, str) and one]
    if not files or len(files) != len(names):
        raise Unsayable("files that are not named")
    return files
