"""Calls of a page and of what belongs to it: addresses, tabs, frames, dialogs, the keyboard."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from radar.writing import css_string
from repair_ladder.formats.gathering import Unsayable, leads_elsewhere, quote, relative
from repair_ladder.formats.script import Call, Do, Function, Let, Member, Name, Pairs
from repair_ladder.formats.script_addresses import url_condition, whole_address
from repair_ladder.formats.script_elements import found_call, screenshot, wait_for
from repair_ladder.formats.script_locators import Place, enter, select
from repair_ladder.formats.script_places import located, selected
from repair_ladder.formats.script_values import (
    LEFT_OUT,
    Found,
    Handle,
    Inside,
    Page,
    Read,
    Value,
    Waited,
    text_of,
    url_glob,
)
from repair_ladder.values import PLACEHOLDER

if TYPE_CHECKING:
    from repair_ladder.formats.script_reading import Reader

NARROW_PX: Final = 700
SHORTHANDS: Final = frozenset(
    "click dblclick hover check uncheck fill type press select_option set_input_files set_checked tap focus "
    "dispatch_event inner_text text_content input_value get_attribute is_visible is_hidden is_enabled is_disabled "
    "is_checked is_editable inner_html".split()
)


def page_call(reader: Reader, page: Page, name: str, call: Call) -> Value:
    match name:
        case "goto":
            options = reader.options(call)
            reader.check_options(options)
            url = relative(text_of(reader.value(options.given[0])) if options.given else "", reader.base_url) or "/"
            if leads_elsewhere(url) and reader.base_url:
                reader.out.note(f"goes to {quote(url)}, which is not below the project's base URL")
            reader.add({"goto": {"url": url}}, page, options)
        case "go_back" | "reload":
            reader.add({{"go_back": "back"}.get(name, name): None}, page, reader.options(call))
        case "wait_for_timeout":
            value = reader.value(call.given[0]) if call.given else None
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise Unsayable("a pause of unknown length")
            reader.add({"wait": {"ms": round(value)}}, page)
        case "wait_for_url":
            wait_for_url(reader, page, call)
        case "title" | "url":
            return Read(page, name)
        case "close":
            close_page(reader, page)
        case "once" | "on":
            on_event(reader, page, name, call)
        case "expect_popup" | "expect_download" | "expect_file_chooser":
            return Waited(name.removeprefix("expect_"), page)
        case "expect_navigation" | "wait_for_navigation":
            if set(reader.options(call).named) - {"timeout", "wait_until"} or reader.options(call).given:
                reader.out.missing("where the navigation leads is not checked")
            else:
                reader.out.note("waiting for a navigation is left out: each step waits for what it needs")
            return Handle("navigation")
        case "expect_event" | "wait_for_event":
            event = reader.value(call.given[0]) if call.given else ""
            if event not in ("popup", "page", "download"):
                raise Unsayable(f"waiting for {quote(event)}")
            waited = Waited("popup" if event != "download" else "download", page)
            if name == "wait_for_event" and event == "download":
                reader.out.missing("that a download comes is not checked")
            return waited
        case "frame":
            return frame_of(reader, page, call)
        case "screenshot":
            screenshot(reader, page, None, call)
        case "set_viewport_size":
            options = reader.options(call, most=1)
            window_size(reader, reader.value(options.given[0]) if options.given else dict.fromkeys(options.named))
        case _ if name in LEFT_OUT:
            reader.out.note(f"page.{name} is left out")
        case _:
            return place_call(reader, Inside(page, Place()), name, call)
    return None


def wait_for_url(reader: Reader, page: Page, call: Call) -> None:
    options = reader.options(call)
    wanted = reader.value(options.given[0]) if options.given else None
    if isinstance(wanted, str):
        wanted = whole_address(reader, wanted)
        glob = re.search(r"[*{}\\]", PLACEHOLDER.sub("", wanted)) is not None
        if glob and PLACEHOLDER.search(wanted):
            raise Unsayable("wildcards beside a variable")
        condition = {"matches": url_glob(wanted)} if glob else {"equals": wanted}
    else:
        condition = url_condition(reader, wanted, negative=False)
    reader.add({"wait": {"url": condition}}, page, options)


def close_page(reader: Reader, page: Page) -> None:
    if page.number == 0:
        return  # every test ends so
    reader.go_to(page)
    reader.add({"tab": {"close": True}})
    reader.current = reader.openers[page.number]


def on_event(reader: Reader, page: Page, name: str, call: Call) -> None:
    event, function = [reader.value(one) for one in call.given[:2]] if len(call.given) > 1 else ("", None)
    if event != "dialog" or not isinstance(function, Function) or len(function.parameters) != 1:
        raise Unsayable(f"listening to {quote(event)}")
    answers = []
    for one in function.body:
        what = one.what if isinstance(one, Do | Let) else None
        if isinstance(what, Call) and isinstance(what.of, Member) and what.of.name == "catch":
            what = what.of.of  # codegen lets an answer that comes too late pass
        if isinstance(what, Call) and isinstance(what.of, Name) and what.of.name == "print":
            continue
        if isinstance(what, Call) and isinstance(what.of, Member):
            of = what.of.of
            if isinstance(of, Name) and of.name == "console":
                continue
            if isinstance(of, Name) and of.name == function.parameters[0] and what.of.name in ("accept", "dismiss"):
                text = {"text": text_of(reader.value(what.given[0]))} if what.given else {}
                answers.append({"answer": what.of.name} | text)
                continue
        raise Unsayable("an answer to dialogs that does more than accept or dismiss")
    if len(answers) != 1:
        raise Unsayable("an answer to dialogs that does more than accept or dismiss")
    if name == "on":
        reader.out.note("answers every dialog; here the step answers the next one alone")
    reader.add({"dialog": answers[0]}, page)


def frame_of(reader: Reader, page: Page, call: Call) -> Value:
    options = reader.options(call)
    pairs = dict(call.given[0].pairs) if call.given and isinstance(call.given[0], Pairs) else dict(call.named)
    name = options.named.get("name") or (options.given[0] if options.given and "url" not in pairs else None)
    text = reader.value(name) if name is not None and "url" not in pairs else None
    if not isinstance(text, str):
        raise Unsayable("a frame by its address")
    return Inside(page, Place(None, ({"css": f"iframe[name={css_string(text)}]"},)))


def place_call(reader: Reader, where: Inside, name: str, call: Call) -> Value:
    made = located(reader, where.place, name, call)
    if made is not None:
        return Found(where.page, made)
    match name:
        case "frame_locator":
            return Inside(where.page, enter(selected(reader, where.place, call)))
        case "wait_for_selector":
            options = reader.options(call)
            spot = selected(reader, where.place, Call(call.line, call.of, tuple(options.given[:1])))
            return wait_for(reader, Found(where.page, spot), options)
        case "drag_and_drop":
            options = reader.options(call)
            reader.check_options(options)
            if len(options.given) != 2:
                raise Unsayable("from where to where it is dragged is not known")
            one, other = (select(where.place, text_of(reader.value(text))) for text in options.given[:2])
            reader.add({"drag": one.raw() | {"to": other.raw()}}, where.page, options)
            return None
        case "eval_on_selector" | "eval_on_selector_all":
            raise Unsayable(f"JavaScript of the page cannot be a step: {quote(name)}")
        case "first" | "last":
            raise Unsayable("a frame by its place")
    if name in SHORTHANDS and call.given:
        spot = selected(reader, where.place, Call(call.line, call.of, call.given[:1]))
        return found_call(reader, Found(where.page, spot), name, replace(call, given=call.given[1:]))
    raise Unsayable(f"page.{quote(name)} is not known")


def keyboard(reader: Reader, page: Page, name: str, call: Call) -> Value:
    given = reader.options(call).given
    if len(given) != 1:
        raise Unsayable(f"keyboard.{quote(name)} of what is not known")
    text = text_of(reader.value(given[0]))
    if name == "press":
        reader.add({"press": {"key": text}}, page)
    elif name in ("type", "insert_text"):
        reader.add({"type": {"css": ":focus", "value": text}}, page)
    else:
        raise Unsayable(f"keyboard.{quote(name)} is not known")
    return None


def window_size(reader: Reader, size: Value) -> None:
    width = size.get("width") if isinstance(size, dict) else None
    if isinstance(size, dict) and (not isinstance(width, int) or width < NARROW_PX):
        reader.out.missing("a phone's window: tests run in a desktop's")
    else:
        reader.out.note("the size of the window is left out")
