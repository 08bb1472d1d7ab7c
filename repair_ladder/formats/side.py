"""Projects of Selenium IDE (`.side`): several tests and suites in one JSON file, commands with target and value.

Selenium takes the first element that a locator finds; here a locator that finds several is an error, which the first
run says. The IDE has no check of its own for "can be seen", so its waitFor… commands are checks here, and no repair
drops them.
"""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from radar.errors import BadLocator
from radar.locators import Locator
from radar.locators import read as read_locator
from radar.locators import write as write_locator
from radar.writing import css_id, css_string
from repair_ladder.errors import BadTest
from repair_ladder.formats import Exported, Secret, WrittenTest
from repair_ladder.formats.gathering import (
    MARK,
    NAME,
    Gatherer,
    Mark,
    TooMuch,
    Unsayable,
    beside_step,
    chosen_file,
    condition_of,
    inlined,
    leads_elsewhere,
    lost_line,
    name_of,
    not_equal,
    quote,
    read_mark,
    relative,
    unequal,
    unique,
    write_beside,
    write_mark,
    write_variables,
)
from repair_ladder.formats.json_source import Object, line_of, parse
from repair_ladder.formats.keys import taken_apart
from repair_ladder.formats.selectors import (
    CHOSEN_OPTION,
    OWN_SYNTAX,
    UNCHECKED,
    UNWRITABLE,
    WRITABLE,
    in_css,
    inside,
    outside,
)
from repair_ladder.step_format import LONGEST_WAIT_MS, read_step
from repair_ladder.steps import BLOCKS, Place, Step, Steps
from repair_ladder.values import PLACEHOLDER

TOOL: Final = "Selenium IDE"
VERSION: Final = "2.0"
MOST_TESTS: Final = 2000
MOST_COMMANDS: Final = 20_000  # of one test, those of the tests it runs counted each time
DEEPEST_RUN: Final = 20
FRAME_CSS: Final = "iframe, frame"
NARROW_PX: Final = 700
# What may bring up a dialog that the file answers afterwards.
BRINGS_UP: Final = frozenset("goto click dblclick hover check uncheck fill type press select drag".split())
BRINGS_UP_OR_HOLDS: Final = BRINGS_UP.union(BLOCKS)
BEGINS: Final = frozenset({"if", "while", "times", "forEach", "do"})
ENDS: Final = frozenset({"end", "repeatIf"})
MIDDLE: Final = frozenset({"else", "elseIf"})
KEYS: Final = {
    "ALT": "Alt", "BACKSPACE": "Backspace", "BKSP": "Backspace", "CTRL": "Control", "CONTROL": "Control",
    "DEL": "Delete", "DELETE": "Delete", "DOWN": "ArrowDown", "END": "End", "ENTER": "Enter", "ESC": "Escape",
    "ESCAPE": "Escape", "HOME": "Home", "INSERT": "Insert", "LEFT": "ArrowLeft", "PAGE_DOWN": "PageDown",
    "PAGE_UP": "PageUp", "PGDN": "PageDown", "PGUP": "PageUp", "RIGHT": "ArrowRight", "SHIFT": "Shift",
    "SPACE": "Space", "TAB": "Tab", "UP": "ArrowUp", **{f"F{number}": f"F{number}" for number in range(1, 13)},
}  # fmt: skip
KEY: Final = re.compile(r"\$\{KEY_(\w+)\}")
HELD: Final = frozenset({"Alt", "Control", "Shift"})
MOST_HELD: Final = 20  # characters that are typed while a key is held
# Names of variables that are none here; only these are seen in what the IDE fills in.
OTHER_NAME: Final = re.compile(r"\$\{(?!KEY_\w+\})(?![A-Za-z_]\w*\})[^{}]*\}")
OPTION: Final = re.compile(r"(?:^css=|[\s>])option(?:[:\[.#][^\s>]*)?\Z|/option(?:\[[^\]/]*\])?\Z")
LINK_BY: Final = {"linkText": True, "link": True, "partialLinkText": False}


def read(text: str, *, where: str = "the file", base_url: str | None = None) -> tuple[WrittenTest, ...]:
    """The tests of a project. Raises BadTest: one line with file, line and what was expected."""
    document = parse(text, where)
    if not isinstance(document, Object) or not isinstance(document.get("tests"), list):
        raise BadTest(f"{where}: expected a project of Selenium IDE: an object with a list of 'tests'")
    listed = [_the_test(one, where, document) for one in document["tests"]]
    if len(listed) > MOST_TESTS:
        raise BadTest(f"{where}: more than {MOST_TESTS} tests in one file")
    suites, by_name = _suites(document), {str(test.get("name")): test for test in reversed(listed)}
    tests = []
    for test in listed:
        reader = _Reader(document, by_name, base_url)
        name = name_of(test.get("name"), f"{where}:{test.line}: a test's 'name'")
        tags, keeps = suites.get(str(test.get("id")), ((), False))
        if keeps:
            reader.out.line = test.line
            reader.out.note("its suite keeps the browser's state from test to test; here each test begins afresh")
        try:
            reader.commands(test, (str(test.get("name")),))
            tests.append(reader.out.finish(name, line=test.line, tags=tags))
        except BadTest as error:
            raise BadTest(f"{where}: '{quote(name)}': {error}") from None
    if not tests:
        raise BadTest(f"{where}: the project has no tests")
    return unique(tuple(tests))


def _the_test(raw: object, where: str, document: Object) -> Object:
    if not isinstance(raw, Object) or not isinstance(raw.get("commands"), list):
        line = line_of(raw, document.line)
        raise BadTest(f"{where}:{line}: a test is an object with 'name' and a list of 'commands'")
    return raw


def _suites(document: Object) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Of each test's id: the names of its suites, and whether one of them keeps the session."""
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    suites = document.get("suites")
    for suite in suites if isinstance(suites, list) else []:
        if isinstance(suite, Object) and isinstance(suite.get("tests"), list):
            name = " ".join(str(suite.get("name", "")).split())[:100]
            for test in map(str, suite["tests"]):
                tags, keeps = found.get(test, ((), False))
                if name and name.isprintable() and name not in tags:
                    tags = (*tags, name)
                found[test] = (tags, keeps or suite.get("persistSession") is True)
    return found


class _Reader:
    def __init__(self, document: Object, tests: Mapping[str, Object], base_url: str | None) -> None:
        own = document.get("url")
        self.bases = (base_url, own if isinstance(own, str) and leads_elsewhere(own) else None)
        self.tests = tests
        self.out = Gatherer()
        self.frames: list[dict[str, Any]] = []
        self.windows: dict[str, str] = {}  # variable of a window -> "first" or "newest"
        self.window = "first"
        self.opens: str | None = None  # the variable of the window that the last click opened
        self.lost = ""  # the frame or window that nobody knows, in which the commands play
        self.blocks = 0
        self.count = 0
        self.beside: Mapping[str, Any] | None = None
        self.answered: Step | None = None  # the last step whose dialog the file has answered

    def commands(self, test: Object, running: tuple[str, ...]) -> None:
        commands = test["commands"]
        gestures = _gestures(commands)
        for number, command in enumerate(commands, 1):
            self.count += 1
            if self.count > MOST_COMMANDS:
                raise TooMuch(f"line {test.line}: more than {MOST_COMMANDS} commands, those of 'run' counted each time")
            with self.out.part(line_of(command, test.line)):
                whole = gestures.get(number, command)
                if whole is None:
                    self.out.note(f"{command['command']} is a part of the command beside it")
                else:
                    self.command(whole, number, running, is_last=number == len(commands))

    def command(self, command: object, number: int, running: tuple[str, ...], *, is_last: bool) -> None:
        if not isinstance(command, Object) or not isinstance(command.get("command"), str):
            raise Unsayable(f"command {number}: expected an object with a 'command', got {quote(repr(command))}")
        name, target, value = command["command"].strip(), command.get("target", ""), command.get("value", "")
        comment = command.get("comment") or ""
        if not all(isinstance(one, str) for one in (target, value, comment)):
            raise Unsayable(f"command {number} ({quote(name)}): 'target', 'value' and 'comment' are texts")
        if name.startswith("//") or not name:
            self.disabled(name, comment)
            return
        if self.control_flow(name, target, number):
            return
        try:
            if name == "run":
                self.run(target, running)
            elif name == "close":
                self.close(is_last)
            else:
                self.do(command, name, target, value, comment)
        except Unsayable as error:
            raise Unsayable(f"command {number} ({quote(name)}): {error}") from None

    def disabled(self, name: str, comment: str) -> None:
        mark = read_mark(comment) or Mark()
        if mark.step:
            self.out.add(mark.step)
        elif mark.variables is not None:
            self.out.variables |= mark.variables
        elif mark.beside is not None:
            self.beside = mark.beside
        elif name.strip("/ "):
            self.out.note(f"a disabled command is left out: {quote(name)}")

    def control_flow(self, name: str, target: str, number: int) -> bool:
        if name in BEGINS:
            self.blocks += 1
            raise Unsayable(f"command {number} ({name} {quote(target)}): a test here has no control flow")
        if name in MIDDLE or name in ENDS:
            if name in ENDS:
                self.blocks = max(0, self.blocks - 1)
            raise Unsayable(f"command {number} ({name}): a test here has no control flow")
        if self.blocks:
            raise Unsayable(f"command {number} ({quote(name)}): stands in a block of control flow")
        return False

    def run(self, target: str, running: tuple[str, ...]) -> None:
        test = self.tests.get(target)
        if test is None:
            raise Unsayable(f"there is no test '{quote(target)}' in this file")
        if target in running or len(running) >= DEEPEST_RUN:
            raise Unsayable(f"'{quote(target)}' is run inside itself, or tests run one another too deep")
        with self.out.block("group", target[:200] or "run"):
            self.commands(test, (*running, target))

    def close(self, is_last: bool) -> None:
        if self.lost:
            raise Unsayable(f"closes {self.lost}, which is not known")
        if self.window == "newest":
            self.window = "first"
            self.add({"tab": {"close": True}})
        elif is_last:
            self.out.note("the window is closed at the end of every test")
        else:
            raise Unsayable("the only window is closed")

    def do(self, command: Object, name: str, target: str, value: str, comment: str) -> None:
        plain = re.sub(r"\A(?:assert|verify)(?=[A-Z])", "assert", name)
        do = _COMMANDS.get(plain)
        if name in ("click", "clickAt") and self.has_just_chosen() and _is_option(command):
            self.out.note(f"{name} on an option is left out: the command before has chosen it")
            return
        if do is None:
            raise Unsayable("not a command that is known")
        unknown = OTHER_NAME.search(f"{target}\n{value}")
        if unknown:
            raise Unsayable(f"the variable {quote(unknown.group())}")
        if self.lost and name not in _FINDS_BACK:
            raise Unsayable(f"plays in {self.lost}, which is not known")
        note = {"note": " ".join(comment.split())} if comment.strip() else {}
        for raw in do(self, _Given(self, command, target, value)):
            self.add(raw | note)
        if name in ("click", "clickAt", "doubleClick"):
            handle = command.get("windowHandleName")
            if command.get("opensWindow") is True and isinstance(handle, str):
                self.windows[handle] = "newest"
                self.opens = handle

    def has_just_chosen(self) -> bool:
        return bool(self.out.steps) and self.out.steps[-1].kind == "select"

    def add(self, raw: Mapping[str, Any]) -> None:
        self.out.add(beside_step(read_step(raw), self.beside))
        self.beside = None

    def answer_before(self, raw: Mapping[str, Any]) -> None:
        """An answer that the file gives after its dialog came up has to be ready before what brought it up."""
        steps = self.out.steps
        at = next((n for n in reversed(range(len(steps))) if steps[n].kind in BRINGS_UP_OR_HOLDS), None)
        if at is None or steps[at].kind in BLOCKS:
            raise Unsayable("a dialog that no command before it brought up")
        if steps[at] is self.answered:
            raise Unsayable("a second dialog of one command")
        self.answered = steps[at]
        wanted = beside_step(read_step(raw), self.beside)
        earlier = itertools.takewhile(lambda step: step.kind not in BRINGS_UP, reversed(steps[:at]))
        ready = next((step for step in earlier if step.kind == "dialog"), None)
        if ready is None:
            after = steps[at:]
            del steps[at:]
            self.out.add(wanted, *after)
        elif ready.parameters != wanted.parameters:
            raise Unsayable("another answer than the one that is ready for this dialog")
        self.beside = None


def _gestures(commands: Sequence[object]) -> dict[int, Object | None]:
    """By their numbers, what commands of the pointer are together: from one element to another a drag; and where a
    click on the same element follows, nothing: the IDE has recorded that click twice. None: a part of another one."""
    known = [one if isinstance(one, Object) else Object() for one in commands]
    made: dict[int, Object | None] = {}
    for down, first in enumerate(known):
        if first.get("command") != "mouseDownAt":
            continue
        up = next((at for at in range(down + 1, len(known)) if known[at].get("command") != "mouseMoveAt"), len(known))
        if up == len(known) or known[up].get("command") != "mouseUpAt":
            continue
        then = known[up + 1] if up + 1 < len(known) else Object()
        to = known[up].get("target", "")
        if to != first.get("target", ""):
            drag = Object(first | {"command": "dragAndDropToObject", "value": to})
            drag.line = first.line
            made[down + 1] = drag
            rest = range(down + 1, up + 1)
        elif then.get("target") == to and then.get("command") in ("click", "clickAt", "doubleClick", "select"):
            rest = range(down, up + 1)
        else:
            continue
        made |= dict.fromkeys((at + 1 for at in rest), None)
    return made


def _is_option(command: Object) -> bool:
    """Does any of its targets say that it is an option of a list?"""
    others = command.get("targets")
    listed = [one[0] for one in others if isinstance(one, list) and one] if isinstance(others, list) else []
    return any(isinstance(one, str) and OPTION.search(one) for one in (command.get("target"), *listed))


class _Given:
    """A command's target and value, as the commands below ask for them."""

    def __init__(self, reader: _Reader, command: Object, target: str, value: str) -> None:
        self.reader, self.command, self.target, self.value = reader, command, target, value

    def spot(self, text: str | None = None) -> dict[str, Any]:
        """The locator's keys: the target, the other targets that the IDE noted as alternatives."""
        ways = [self.checked(self.target if text is None else text)]
        others = self.command.get("targets") if text is None else None
        listed = [one[0] for one in others if isinstance(one, list) and one] if isinstance(others, list) else []
        if listed and self.target not in listed:
            # The IDE keeps the list of the element that was recorded when somebody types another target.
            self.reader.out.note("the other targets are left out: they were noted for another element than this one")
            listed = []
        for other in listed:
            if isinstance(other, str):
                try:
                    ways.append(self.checked(other))
                except Unsayable as error:
                    self.reader.out.note(f"another target is left out: {error}")
        ways = [way for number, way in enumerate(ways) if way not in ways[:number]]
        frame = {"frame": list(self.reader.frames)} if self.reader.frames else {}
        ways = [way | frame for way in ways]
        return ways[0] | ({"alternatives": ways[1:]} if ways[1:] else {})

    def checked(self, text: str) -> dict[str, Any]:
        way = _way(text)
        try:
            read_locator(way)
        except BadLocator as error:
            raise Unsayable(str(error)) from None
        return way

    def variable(self, name: str) -> str:
        if not NAME.match(name):
            raise Unsayable(f"'{quote(name)}' is no name for a variable")
        return name

    def timeout(self) -> dict[str, Any]:
        value = self.value.strip()
        if not value:
            return {}
        if not re.fullmatch(r"\d{1,9}", value, re.ASCII) or int(value) > LONGEST_WAIT_MS:
            raise Unsayable(f"a time of {quote(value)} ms")
        return {"timeout_ms": int(value)}


def _way(text: str) -> dict[str, Any]:
    """A locator of Selenium as the keys of ours."""
    engine, found, body = text.strip().partition("=")
    if re.match(r"\(*\.?/", text.strip()):
        return {"xpath": text.strip()}
    if not found or not body:
        raise Unsayable(f"the locator {quote(text)}")
    match engine:
        case "css":
            return {"css": body}
        case "xpath":
            return {"xpath": body}
        case "id":
            return {"css": f"[id={css_string(body)}]" if PLACEHOLDER.search(body) else css_id(body)}
        case "name":
            return {"css": f"[name={css_string(body)}]"}
        case "class" | "className":
            return {"css": f"[class~={css_string(body)}]"}
        case "linkText" | "link" | "partialLinkText":
            return {"role": "link", "name": body} | ({"exact": True} if LINK_BY[engine] else {})
    raise Unsayable(f"the locator {quote(text)}")


_Raws = Iterator[dict[str, Any]]
_Do = Callable[[_Reader, _Given], _Raws]


def _open(reader: _Reader, given: _Given) -> _Raws:
    url = relative(given.target or "/", *reader.bases)
    if leads_elsewhere(url):
        reader.out.note(f"goes to {quote(url)}, which is not below the project's base URL")
    reader.frames.clear()
    if reader.lost.startswith("the frame"):
        reader.lost = ""
    yield {"goto": {"url": url}}


def _at_place(kind: str) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        value = given.spot()
        if re.fullmatch(r"-?\d{1,5}(\.\d+)?,\s*-?\d{1,5}(\.\d+)?", given.value, re.ASCII):
            x, y = given.value.split(",")
            value["position"] = {"x": float(x), "y": float(y)}
        yield {kind: value}

    return do


def _plain(kind: str) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        yield {kind: given.spot()}

    return do


def _write_text(reader: _Reader, given: _Given) -> _Raws:
    if KEY.search(given.value):
        raise Unsayable("keys in a text that replaces what is there")
    file = chosen_file(given.value)
    if file:
        reader.out.note(f"the file '{quote(file)}' has to lie beside this one: nobody recorded where it was")
        yield {"upload": given.spot() | {"files": [file]}}
        return
    yield {"fill": given.spot() | {"value": given.value}}


def _send_keys(reader: _Reader, given: _Given) -> _Raws:
    """Texts are typed, keys pressed; a modifier is held down until all is sent."""
    value, held, used, at = given.spot(), list[str](), True, 0
    for found in [*KEY.finditer(given.value), None]:
        text = given.value[at : found.start()] if found else given.value[at:]
        if text and held:
            if PLACEHOLDER.search(text) or len(text) > MOST_HELD:
                raise Unsayable("a text that is typed while a key is held")
            for char in text:
                yield {"press": value | {"key": "+".join([*held, char])}}
            used = True
        elif text:
            yield {"type": value | {"value": text}}
        if found is None:
            break
        at = found.end()
        key = KEYS.get(found[1])
        if key is None or key in held:
            raise Unsayable(f"the key {quote(found.group())}")
        if key in HELD:
            held.append(key)
            used = False
        else:
            yield {"press": value | {"key": "+".join([*held, key])}}
            used = True
    if held and not used:
        yield {"press": value | {"key": "+".join(held)}}


def _select(reader: _Reader, given: _Given) -> _Raws:
    how, found, what = given.value.partition("=")
    if not found or how not in ("label", "value", "index", "id"):
        how, what = "label", given.value
    if how == "id" or re.match(r"(?:regexpi?|glob|exact):", what) or (how == "index" and not what.isdecimal()):
        raise Unsayable(f"the choice {quote(given.value)}")
    part: dict[str, Any] = {"index": int(what)} if how == "index" else {"option" if how == "label" else how: what}
    yield {"select": given.spot() | part}


def _drag(reader: _Reader, given: _Given) -> _Raws:
    frame = {"frame": list(reader.frames)} if reader.frames else {}
    yield {"drag": given.spot() | {"to": given.checked(given.value) | frame}}


def _pause(reader: _Reader, given: _Given) -> _Raws:
    for text in (given.target.strip(), given.value.strip()):
        if re.fullmatch(r"\d{1,7}", text, re.ASCII):
            yield {"wait": {"ms": int(text)}}
            return
    raise Unsayable(f"a pause of {quote(given.target)}")


def _select_frame(reader: _Reader, given: _Given) -> _Raws:
    target = given.target.strip()
    was_lost, reader.lost = reader.lost, reader.lost or f"the frame {quote(target)}"
    if target == "relative=top" and not was_lost.startswith("the window"):
        reader.frames.clear()
        was_lost = ""
    elif was_lost:
        raise Unsayable(f"plays in {was_lost}, which is not known")
    elif target == "relative=parent":
        if reader.frames:
            reader.frames.pop()
    elif target.startswith("index="):
        number = target.removeprefix("index=")
        if not re.fullmatch(r"\d{1,3}", number, re.ASCII):
            raise Unsayable(f"the frame {quote(target)}")
        reader.frames.append({"css": FRAME_CSS, "nth": int(number)})
    else:
        reader.frames.append(given.checked(target))
    reader.lost = was_lost
    yield from ()


def _select_window(reader: _Reader, given: _Given) -> _Raws:
    found = re.fullmatch(r"(?:handle=)?\$\{(\w+)\}", given.target.strip())
    window = reader.windows.get(found[1]) if found else None
    reader.lost = f"the window {quote(given.target)}"
    if window is None:
        raise Unsayable(f"the window {quote(given.target)}")
    if window == "first" and reader.window != "first":
        raise Unsayable("goes back to the first window while another one is open; close that one first")
    if window == "newest" and found and found[1] != reader.opens:
        raise Unsayable("a window that is not the newest")
    reader.frames.clear()
    reader.lost = ""
    if window != reader.window:
        reader.window = window
        yield {"tab": {"switch": "newest"}}


def _store_window(reader: _Reader, given: _Given) -> _Raws:
    reader.windows[given.variable(given.target)] = reader.window
    yield from ()


def _window_size(reader: _Reader, given: _Given) -> _Raws:
    found = re.match(r"(\d{1,5})\D", given.target)
    if found and int(found[1]) < NARROW_PX:
        raise Unsayable(f"a phone's window, {quote(given.target)} pixels: tests run in a desktop's")
    reader.out.note("the size of the window is left out")
    yield from ()


def _left_out(what: str) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        reader.out.note(what)
        yield from ()

    return do


def _answer(answer: str, *, after: bool = False, with_text: bool = False) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        text = {"text": given.target or given.value} if with_text else {}
        raw = {"dialog": {"answer": answer} | text}
        if after:
            reader.answer_before(raw)
        else:
            yield raw

    return do


def _dialog_text(reader: _Reader, given: _Given) -> _Raws:
    raise Unsayable(f"the text of a dialog ({quote(given.target)}) cannot be checked")
    yield


def _text_check(kind: str, *, negative: bool = False, on: str = "value") -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        wanted = given.target if on == "target" else given.value
        locator = {} if on == "target" else given.spot()
        folded = kind == "assert_text"
        yield {kind: locator | (_not_equal(wanted, folded=folded) if negative else {"equals": wanted})}

    return do


def _not_equal(text: str, *, folded: bool) -> dict[str, Any]:
    if PLACEHOLDER.search(text):
        raise Unsayable("a check that a variable's value is not there")
    return {"matches": not_equal(text, folded=folded)}


def _label_check(reader: _Reader, given: _Given) -> _Raws:
    yield {"assert_text": inside(given.spot(), CHOSEN_OPTION) | {"equals": given.value.removeprefix("label=")}}


def _count(condition: Mapping[str, int], css: str | None = None, *, timed: bool = False) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        value = inside(given.spot(), css) if css else given.spot()
        yield {"assert_count": value | dict(condition)} | (given.timeout() if timed else {})

    return do


def _timed(kind: str) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        yield {kind: given.spot()} | given.timeout()

    return do


def _editable(timed: bool) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        time = given.timeout() if timed else {}
        yield {"assert_enabled": given.spot()} | time
        yield {"assert_count": inside(given.spot(), WRITABLE) | {"equals": 1}} | time

    return do


def _variable_check(reader: _Reader, given: _Given) -> _Raws:
    yield {"assert_variable": {"variable": given.variable(given.target.strip()), "equals": given.value}}


def _store(reader: _Reader, given: _Given) -> _Raws:
    yield {"set": {"into": given.variable(given.value), "value": given.target}}


def _extract(what: str) -> _Do:
    def do(reader: _Reader, given: _Given) -> _Raws:
        yield {"extract": given.spot() | {"into": given.variable(given.value), "what": what}}

    return do


def _extract_attribute(reader: _Reader, given: _Given) -> _Raws:
    text, found, attribute = given.target.rpartition("@")
    if not found or not re.fullmatch(r"[\w:.\-]+", attribute) or attribute in ("text", "value", "url"):
        raise Unsayable(f"the attribute {quote(given.target)}")
    yield {"extract": given.spot(text) | {"into": given.variable(given.value), "what": attribute}}


def _script(reader: _Reader, given: _Given) -> _Raws:
    raise Unsayable(f"JavaScript of the page cannot be a step: {quote(given.target)}")
    yield


# What says anew where the commands after it play, and what plays nowhere.
_FINDS_BACK: Final = frozenset(
    "open selectFrame selectWindow storeWindowHandle setWindowSize pause store assert verify echo debugger "
    "setSpeed".split()
)
_ONE: Final = {"equals": 1}
_NONE: Final = {"equals": 0}
_COMMANDS: Final[dict[str, _Do]] = {
    "open": _open,
    "click": _plain("click"),
    "clickAt": _at_place("click"),
    "doubleClick": _plain("dblclick"),
    "doubleClickAt": _at_place("dblclick"),
    "mouseOver": _plain("hover"),
    "mouseOut": _left_out("mouseOut is left out: the mouse stays where it is"),
    "check": _plain("check"),
    "uncheck": _plain("uncheck"),
    "type": _write_text,
    "editContent": _write_text,
    "sendKeys": _send_keys,
    "select": _select,
    "dragAndDropToObject": _drag,
    "pause": _pause,
    "selectFrame": _select_frame,
    "selectWindow": _select_window,
    "storeWindowHandle": _store_window,
    "setWindowSize": _window_size,
    "echo": _left_out("echo is left out"),
    "debugger": _left_out("debugger is left out"),
    "setSpeed": _left_out("setSpeed is left out"),
    "executeScript": _script,
    "executeAsyncScript": _script,
    "runScript": _script,
    # Dialogs.
    "answerOnNextPrompt": _answer("accept", with_text=True),
    "chooseOkOnNextConfirmation": _answer("accept"),
    "chooseCancelOnNextConfirmation": _answer("dismiss"),
    "chooseCancelOnNextPrompt": _answer("dismiss"),
    "webdriverAnswerOnVisiblePrompt": _answer("accept", after=True, with_text=True),
    "webdriverChooseOkOnVisibleConfirmation": _answer("accept", after=True),
    "webdriverChooseCancelOnVisibleConfirmation": _answer("dismiss", after=True),
    "webdriverChooseCancelOnVisiblePrompt": _answer("dismiss", after=True),
    "acceptAlert": _answer("accept", after=True),
    "acceptConfirmation": _answer("accept", after=True),
    "dismissConfirmation": _answer("dismiss", after=True),
    "assertAlert": _dialog_text,
    "assertConfirmation": _dialog_text,
    "assertPrompt": _dialog_text,
    # Checks; verify… differs only in what the IDE does next, and a red step ends a test here.
    "assert": _variable_check,
    "verify": _variable_check,
    "assertTitle": _text_check("assert_title", on="target"),
    "assertText": _text_check("assert_text"),
    "assertNotText": _text_check("assert_text", negative=True),
    "assertValue": _text_check("assert_value"),
    "assertSelectedValue": _text_check("assert_value"),
    "assertNotSelectedValue": _text_check("assert_value", negative=True),
    "assertSelectedLabel": _label_check,
    "assertElementPresent": _count({"at_least": 1}),
    "assertElementNotPresent": _count(_NONE),
    "assertChecked": _plain("assert_checked"),
    "assertNotChecked": _count(_ONE, UNCHECKED),
    "assertEditable": _editable(False),
    "assertNotEditable": _count(_ONE, UNWRITABLE),
    "waitForElementVisible": _timed("assert_visible"),
    "waitForElementNotVisible": _timed("assert_hidden"),
    "waitForElementPresent": _count({"at_least": 1}, timed=True),
    "waitForElementNotPresent": _count(_NONE, timed=True),
    "waitForElementEditable": _editable(True),
    "waitForElementNotEditable": _count(_ONE, UNWRITABLE, timed=True),
    "waitForText": _text_check("assert_text"),
    # Variables.
    "store": _store,
    "storeText": _extract("text"),
    "storeValue": _extract("value"),
    "storeAttribute": _extract_attribute,
}


# --- writing -------------------------------------------------------------------------------------------


def write(test: WrittenTest, *, base_url: str | None = None, test_id_attribute: str = "data-testid") -> Exported:
    """The test as a project of its own; plain variables by their values, blocks by their steps.

    What the IDE has no words for stands in it as a disabled command whose comment keeps the step. The same test always
    gives the same bytes.
    """
    plain = inlined(test)
    writer = _Writer(test.name, test_id_attribute)
    writer.variables(plain)
    writer.write(plain.steps, ())
    writer.leave_frames()
    own = writer.identity("test")
    suites = test.tags or ("Default Suite",)
    document = {
        "id": writer.identity("project"),
        "version": VERSION,
        "name": test.name,
        "url": base_url or "http://localhost",
        "tests": [{"id": own, "name": test.name, "commands": writer.commands}],
        "suites": [
            {
                "id": writer.identity(f"suite {name}"),
                "name": name,
                "persistSession": False,
                "parallel": False,
                "timeout": 300,
                "tests": [own],
            }
            for name in suites
        ],
        "urls": [],
        "plugins": [],
    }
    return Exported(json.dumps(document, ensure_ascii=False, indent=2) + "\n", tuple(writer.lost))


class _Writer:
    def __init__(self, name: str, test_id_attribute: str) -> None:
        self.name, self.test_id_attribute = name, test_id_attribute
        self.commands: list[dict[str, Any]] = []
        self.lost: list[str] = []
        self.frames: tuple[Locator, ...] = ()

    def identity(self, what: str) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.name}/{what}"))

    def put(self, command: str, target: str = "", value: str = "", **more: Any) -> None:
        made = {"id": self.identity(f"command {len(self.commands)}"), "comment": "", "command": command}
        self.commands.append(made | {"target": target, "targets": [], "value": value} | more)

    def variables(self, test: WrittenTest) -> None:
        """What is left of them are secrets, whose values are not written, and what a step gives a value."""
        for name, value in test.variables.items():
            if isinstance(value, Secret):
                self.lost.append(f"the secret '{name}' has no value that {TOOL} could be given")
        mark = write_variables(test.variables)
        if mark:
            self.put("//", comment=mark)

    def write(self, steps: Steps, before: Place) -> None:
        waiting = list(enumerate(steps, 1))
        while waiting:
            number, step = waiting.pop(0)
            if step.kind in BLOCKS:
                self.write(step.steps, (*before, number))
                continue
            follows = waiting[0][1] if waiting else None
            if self.is_editable(step, follows):
                waiting.pop(0)
                self.write_step((*before, number), step, follows)
            else:
                self.write_step((*before, number), step, None)

    def is_editable(self, step: Step, follows: Step | None) -> bool:
        """Two checks that are one command."""
        if step.kind != "assert_enabled" or follows is None or follows.kind != "assert_count":
            return False
        assert follows.locator is not None
        return (
            outside(follows.locator, WRITABLE) == step.locator
            and follows.parameters == _ONE
            and replace(follows, kind=step.kind, locator=step.locator, parameters={}) == step
        )

    def write_step(self, place: Place, step: Step, follows: Step | None) -> None:
        began = len(self.commands), self.frames
        try:
            self.enter_frames(step)
            note = (
                step.note if step.note and step.note == " ".join(step.note.split()) and MARK not in step.note else None
            )
            is_timed = bool(self.say(step, follows is not None, note or ""))
            beside = write_beside(
                replace(step, note=None if note else step.note, timeout_ms=None if is_timed else step.timeout_ms)
            )
            if beside:
                self.commands.insert(-1, self.commands[-1] | {"id": self.identity(f"mark {len(self.commands)}")})
                self.commands[-2] |= {"command": "//", "target": "", "targets": [], "value": "", "comment": beside}
            if not self.comes_back(self.commands[began[0] :], began[1], [step, *([follows] if follows else [])]):
                raise Unsayable("it would be read as another step")
        except Unsayable:
            del self.commands[began[0] :]
            self.frames = began[1]
            for one in (step, follows):
                if one is not None:
                    self.put("//", comment=write_mark(one))
                    self.lost.append(lost_line(place, one, TOOL))

    def comes_back(self, commands: list[dict[str, Any]], frames: tuple[Locator, ...], steps: list[Step]) -> bool:
        reader = _Reader(Object(), {}, None)
        reader.frames = [write_locator(one) for one in frames]
        test = Object(commands=[_object(command) for command in commands])
        try:
            reader.commands(test, ())
        except BadTest:
            return False
        return not any(one.is_missing for one in reader.out.remarks) and reader.out.steps == steps

    def enter_frames(self, step: Step) -> None:
        ways = step.locator.ways() if step.locator else ()
        frames = ways[0].frame if ways else self.frames
        if any(way.frame != frames for way in ways):
            raise Unsayable("frames that differ")
        if frames == self.frames or step.kind == "goto":
            self.frames = () if step.kind == "goto" else self.frames
            return
        self.leave_frames()
        for one in frames:
            if one == Locator(css=FRAME_CSS, nth=one.nth) and one.nth is not None and one.nth >= 0:
                self.put("selectFrame", f"index={one.nth}")
            else:
                self.put("selectFrame", self.target(one))
        self.frames = frames

    def leave_frames(self) -> None:
        if self.frames:
            self.put("selectFrame", "relative=top")
            self.frames = ()

    def spot(self, locator: Locator | None) -> dict[str, Any]:
        if locator is None:
            raise Unsayable("no locator")
        texts = [self.target(replace(way, frame=())) for way in locator.ways()]
        targets = [[text, text.partition("=")[0]] for text in texts] if len(texts) > 1 else []
        return {"target": texts[0], "targets": targets}

    def target(self, way: Locator) -> str:
        if way.css is not None or way.xpath is None:
            way = in_css(way, self.test_id_attribute)
        texts = []
        if way.css is not None:
            plain = re.fullmatch(r'#([\w-]+)|\[name="([^"\\]+)"\]', way.css)
            if plain:
                texts.append(f"id={plain[1]}" if plain[1] else f"name={plain[2]}")
            if not OWN_SYNTAX.search(way.css):
                texts.append(f"css={way.css}")
        elif way.xpath is not None:
            texts.append(f"xpath={way.xpath}")
        elif way.role == "link" and way.name:
            texts.append(f"{'linkText' if way.exact else 'partialLinkText'}={way.name}")
        for text in texts:
            if text == text.strip() and read_locator(_way(text)) == way:
                return text
        raise Unsayable(f"the locator {way}")

    def say(self, step: Step, is_editable: bool, note: str) -> bool:
        """The command of a step; does its value hold the time it may take?"""
        name, target, value, is_timed = self.words(step, is_editable)
        spot = target if isinstance(target, dict) else {"target": target}
        text = str(step.timeout_ms if step.timeout_ms is not None else "") if is_timed else value
        self.put(name, value=text, comment=note, **spot)
        return is_timed

    def words(self, step: Step, is_editable: bool) -> tuple[str, str | dict[str, Any], str, bool]:
        given, timed = step.parameters, step.timeout_ms is not None
        match step.kind:
            case "goto":
                return "open", str(given["url"]), "", False
            case "click" | "dblclick" if set(given) <= {"position"}:
                name = {"click": "click", "dblclick": "doubleClick"}[step.kind]
                place = given.get("position")
                at = f"{place['x']},{place['y']}" if place else ""
                return f"{name}At" if place else name, self.spot(step.locator), at, False
            case "hover" | "check" | "uncheck" if not given:
                return {"hover": "mouseOver"}.get(step.kind, step.kind), self.spot(step.locator), "", False
            case "fill":
                return "type", self.spot(step.locator), str(given["value"]), False
            case "type":
                return "sendKeys", self.spot(step.locator), str(given["value"]), False
            case "press" if step.locator is not None:
                return "sendKeys", self.spot(step.locator), _keys(str(given["key"])), False
            case "select":
                how, what = next((how, given[key]) for key, how in _CHOICES.items() if key in given)
                return "select", self.spot(step.locator), f"{how}={what}", False
            case "drag":
                to = given["to"]
                if step.locator is None or to.frame != step.locator.frame or to.alternatives:
                    raise Unsayable("frames that differ")
                return "dragAndDropToObject", self.spot(step.locator), self.target(replace(to, frame=())), False
            case "wait" if "ms" in given:
                return "pause", str(given["ms"]), "", False
            case "dialog":
                if "text" in given:
                    return "answerOnNextPrompt", str(given["text"]), "", False
                ok = given["answer"] == "accept"
                return ("chooseOkOnNextConfirmation" if ok else "chooseCancelOnNextConfirmation"), "", "", False
            case "set":
                return "store", str(given["value"]), str(given["into"]), False
            case "extract":
                return self.extract(step)
            case "assert_variable":
                return "assert", str(given["variable"]), _equal(step), False
            case "assert_title":
                return "assertTitle", _equal(step), "", False
            case "assert_enabled" if is_editable:
                name = "waitForElementEditable" if timed else "assertEditable"
                return name, self.spot(step.locator), "", timed
            case "assert_visible":
                return "waitForElementVisible", self.spot(step.locator), "", True
            case "assert_hidden":
                return "waitForElementNotVisible", self.spot(step.locator), "", True
            case "assert_checked":
                return "assertChecked", self.spot(step.locator), "", False
            case "assert_text" | "assert_value":
                return self.text_check(step)
            case "assert_count":
                return self.count(step, timed)
        raise Unsayable(step.kind)

    def extract(self, step: Step) -> tuple[str, str | dict[str, Any], str, bool]:
        what, into = str(step.parameters.get("what", "")), str(step.parameters["into"])
        if what in ("text", "value"):
            return ("storeText" if what == "text" else "storeValue"), self.spot(step.locator), into, False
        spot = self.spot(step.locator)
        if spot["targets"]:
            raise Unsayable("alternatives")
        return "storeAttribute", f"{spot['target']}@{what}", into, False

    def text_check(self, step: Step) -> tuple[str, str | dict[str, Any], str, bool]:
        assert step.locator is not None
        wanted = condition_of(step)
        chosen = outside(step.locator, CHOSEN_OPTION)
        if wanted is not None and wanted[0] == "matches":
            text = unequal(str(wanted[1]))
            if text is None:
                raise Unsayable("a condition")
            name = "assertNotText" if step.kind == "assert_text" else "assertNotSelectedValue"
            return name, self.spot(step.locator), text, False
        if chosen is not None and step.kind == "assert_text":
            return "assertSelectedLabel", self.spot(chosen), f"label={_equal(step)}", False
        return (
            ("assertText" if step.kind == "assert_text" else "assertValue"),
            self.spot(step.locator),
            _equal(step),
            False,
        )

    def count(self, step: Step, timed: bool) -> tuple[str, str | dict[str, Any], str, bool]:
        assert step.locator is not None
        wanted = condition_of(step)
        for css, name in ((UNCHECKED, "NotChecked"), (UNWRITABLE, "NotEditable")):
            inner = outside(step.locator, css)
            if inner is not None and wanted == ("equals", 1):
                is_timed = timed and css == UNWRITABLE
                return f"{'waitForElement' if is_timed else 'assert'}{name}", self.spot(inner), "", is_timed
        presence = {("at_least", 1): "Present", ("equals", 0): "NotPresent"}.get(wanted or ("", 0))
        if presence is None:
            raise Unsayable("a count")
        return f"{'waitForElement' if timed else 'assertElement'}{presence}", self.spot(step.locator), "", timed


_CHOICES: Final = {"option": "label", "value": "value", "index": "index"}
_KEY_NAMES: Final = {name: key for key, name in reversed(KEYS.items())}


def _equal(step: Step) -> str:
    wanted = condition_of(step)
    if wanted is None or wanted[0] != "equals":
        raise Unsayable("a condition")
    return str(wanted[1])


def _keys(press: str) -> str:
    apart = taken_apart(press)
    if apart is None:
        raise Unsayable("keys")
    said = [f"${{KEY_{_KEY_NAMES[name]}}}" for name in apart[0] if name in _KEY_NAMES]
    if len(said) != len(apart[0]):
        raise Unsayable("keys")
    return "".join([*said, f"${{KEY_{_KEY_NAMES[apart[1]]}}}" if apart[1] in _KEY_NAMES else apart[1]])


def _object(raw: Mapping[str, Any]) -> Object:
    made = Object()
    made.update(raw)
    return made
