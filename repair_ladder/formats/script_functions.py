"""Calls of what is no page: functions, the runner's own, the browser and its contexts, the environment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from repair_ladder.formats import Secret
from repair_ladder.formats.gathering import NAME, Unsayable, quote
from repair_ladder.formats.script import RETURN, Call, Function, Let, Many, Name
from repair_ladder.formats.script_checks import expectation
from repair_ladder.formats.script_locators import regex
from repair_ladder.formats.script_pages import keyboard, window_size
from repair_ladder.formats.script_values import ENDS, LEFT_OUT, Handle, Page, Value, Waited, text_of

if TYPE_CHECKING:
    from repair_ladder.formats.script_reading import Reader

# Names that the environment of a test gives the address of the app, not of what else it talks to.
BASE_NAMES: Final = re.compile(
    r"(?i)\A(?!.*(?:api|auth|admin|backend|mail|login|sso|idp|data))"
    r"(?:(?:\w+_)?(?:base|app|site|web|frontend|test|server)_?|(?:playwright|pw|e2e)_)?(?:url|host|origin)\Z"
)
DEEPEST_FOLLOWED: Final = 8


def function(reader: Reader, name: str, call: Call) -> Value:
    match name:
        case "expect":
            return Handle("expecting", reader.value(call.given[0]) if call.given else None)
        case "nullcontext":
            return Handle("soft")
        case "sync_playwright" | "async_playwright":
            return Handle("playwright")
        case "print":
            reader.out.note("print is left out")
            return None
        case "str" | "String" if len(call.given) == 1:
            return text_of(reader.value(call.given[0]))
        case "regex_of":
            return regex(text_of(reader.value(call.given[0])), text_of(reader.value(call.given[1])))
        case "os_getenv":
            otherwise = reader.value(call.given[1]) if len(call.given) > 1 else None
            return environment(reader, text_of(reader.value(call.given[0])), otherwise)
        case "time_sleep" if len(call.given) == 1:
            seconds = reader.value(call.given[0])
            if isinstance(seconds, bool) or not isinstance(seconds, int | float):
                raise Unsayable("a pause of unknown length")
            reader.add({"wait": {"ms": round(seconds * 1000)}})
            return None
    if reader.free is not None and name not in reader.names:
        return reader.free(name)
    function = reader.named(name) if name in reader.names or name in reader.lazy else None
    if not isinstance(function, Function):
        raise Unsayable(f"the function '{quote(name)}' is not followed")
    return follow(reader, name, function, call)


def follow(reader: Reader, name: str, function: Function, call: Call) -> Value:
    """A function of the same file, as if its lines stood here."""
    values = [reader.value(one) for one in call.given] + [reader.value(one) for _, one in call.named]
    names = [*function.parameters[: len(call.given)], *(key for key, _ in call.named)]
    if "" in function.parameters or sorted(names) != sorted(function.parameters) or len(names) != len(values):
        raise Unsayable(f"the function '{quote(name)}' is not called with just the values it names")
    gives = [isinstance(one, Let) and one.names == (RETURN,) for one in function.body]
    if any(gives[:-1]) or len(reader.following) >= DEEPEST_FOLLOWED or name in reader.following:
        raise Unsayable(f"the function '{quote(name)}' is not followed")
    outer, reader.changed = reader.names, set()
    reader.names = outer | dict(zip(names, values, strict=True)) | {RETURN: None}
    reader.following.append(name)
    try:
        reader.body(function.body)
        return reader.names[RETURN]
    finally:
        reader.following.pop()
        for known in reader.changed - set(function.parameters):
            outer[known] = reader.names[known]
        reader.names = outer


def all_of(reader: Reader, call: Call) -> Value:
    """What goes on at once: waiting for what an action brings, and the action."""
    items = call.given[0] if call.given else None
    if not isinstance(items, Many):
        raise Unsayable("Promise.all of something that is not known")
    return [reader.value(one) for one in items.items]


def handle_call(reader: Reader, handle: Handle, name: str, call: Call) -> Value:
    match handle.name, name:
        case "expecting", _:
            expectation(reader, handle.of, name, call)
            return None
        case "expecting.not", _:
            expectation(reader, handle.of, f"not_{name}", call)
            return None
        case "expecting.resolves", _:
            expectation(reader, handle.of, name, call)
            return None
        case "expect", "soft":
            return Handle("expecting", reader.value(call.given[0]) if call.given else None)
        case "keyboard", _ if isinstance(handle.of, Page):
            return keyboard(reader, handle.of, name, call)
        case "mouse", "wheel" if isinstance(handle.of, Page):
            values = [reader.value(one) for one in call.given]
            if len(values) != 2 or values[0] != 0 or not isinstance(values[1], int | float):
                raise Unsayable("scrolling sideways")
            reader.add({"scroll": {"by": round(values[1])}}, handle.of)
            return None
        case "env", "get":
            otherwise = reader.value(call.given[1]) if len(call.given) > 1 else None
            return environment(reader, text_of(reader.value(call.given[0])), otherwise)
        case "os", "getenv":
            otherwise = reader.value(call.given[1]) if len(call.given) > 1 else None
            return environment(reader, text_of(reader.value(call.given[0])), otherwise)
        case "time", "sleep":
            return function(reader, "time_sleep", call)
        case "path", "join" | "resolve":
            parts = [reader.value(one) for one in call.given if not (isinstance(one, Name) and one.name == "__dirname")]
            return "/".join(text_of(part) for part in parts).removeprefix("./")
        case "console", _:
            reader.out.note("console is left out")
            return None
        case "test", "step":
            return test_step(reader, call)
        case "test", _ if name in LEFT_OUT:
            reader.out.note(f"test.{name} is left out")
            return None
        case (("context" | "browser"), "new_page"):
            check_context(reader, call)
            return new_page(reader)
        case "browser", "new_context":
            check_context(reader, call)
            return Handle("context")
        case _ if handle.name.startswith("playwright") or handle.name in ENDS:
            return about_browser(reader, handle, name, call)
    raise Unsayable(f"{quote(handle.name)}.{quote(name)} is not known")


def about_browser(reader: Reader, handle: Handle, name: str, call: Call) -> Value:
    if name in ("launch", "launch_persistent_context", "connect"):
        if name == "launch_persistent_context":
            reader.out.missing("the profile that the browser is started with")
        return Handle("browser")
    if name in LEFT_OUT or name == "close":
        return None
    if name in ("wait_for_event", "expect_event", "expect_page"):
        event = reader.value(call.given[0]) if call.given and name != "expect_page" else "page"
        if event != "page":
            raise Unsayable(f"waiting for {quote(event)}")
        return Waited("popup", Page(reader.current))
    raise Unsayable(f"{quote(handle.name)}.{quote(name)} is not known")


def new_page(reader: Reader) -> Value:
    if reader.has_page:
        raise Unsayable("a second page that the test opens by itself")
    reader.has_page = True
    return Page(0)


def check_context(reader: Reader, call: Call) -> None:
    options = reader.options(call)
    for key, expression in options.named.items():
        if key == "viewport":
            window_size(reader, reader.value(expression))
        elif key in (
            "base_url",
            "ignore_https_errors",
            "record_video_dir",
            "locale",
            "timezone_id",
            "device_scale_factor",
        ):
            reader.out.note(f"{key} of the context is left out")
        else:
            reader.out.missing(f"{quote(key)} of the context")


def test_step(reader: Reader, call: Call) -> Value:
    try:
        title = reader.value(call.given[0]) if call.given else "step"
    except Unsayable:
        title = "step"
    function = reader.value(call.given[1]) if len(call.given) > 1 else None
    if not isinstance(function, Function):
        raise Unsayable("a step whose function stands elsewhere")
    with reader.out.block("group", str(title)[:500]):
        reader.body(function.body)
    return None


def environment(reader: Reader, name: str, otherwise: Value = None) -> Value:
    """A variable of the environment: a secret, unless the file says what it is without one."""
    if not NAME.match(name):
        raise Unsayable(f"the variable {quote(name)} of the environment")
    if BASE_NAMES.search(name):
        reader.out.note(f"{name} is taken for the project's base URL")
        return reader.base_url or ""
    if isinstance(otherwise, str) and not isinstance(otherwise, bool):
        reader.out.variables.setdefault(name, otherwise)
        reader.out.note(f"the variable '{name}' has the value that the file gives it for want of another")
    else:
        reader.out.variables.setdefault(name, Secret(name))
    return f"${{{name}}}"
