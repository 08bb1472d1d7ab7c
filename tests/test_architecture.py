"""The line between the rooms, the doors to the outside, and the absence of circles; read from the code itself."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parent.parent
ROOMS: Final = ("radar", "repair_ladder", "gardener", "web")  # each may import those to its left
# What of the outside may be used where: a module, or a folder with everything in it.
DOORS: Final = {
    "playwright": ("radar/browser.py", "radar/chromium.py", "radar/codegen.py", "repair_ladder/runner/"),
    "anthropic": ("repair_ladder/models/",),
    "openai": ("repair_ladder/models/",),
    "google": ("repair_ladder/models/",),
    "sqlalchemy": ("gardener/store/",),
    "alembic": ("gardener/store/",),
    "asyncpg": ("gardener/store/",),
    "aiosqlite": ("gardener/store/",),
    "sqlite3": ("gardener/store/",),
    "rich": ("gardener/cli/", "gardener/screen.py", "gardener/demo.py"),
    "rich_click": ("gardener/cli/", "gardener/screen.py", "gardener/demo.py"),
    "click": ("gardener/cli/", "gardener/screen.py", "gardener/demo.py"),
    "argon2": ("gardener/passwords.py",),
    "litestar": ("web/",),
    "js_lib_htmx": ("web/assets.py",),
    "uvicorn": ("web/serving.py",),
    "jinja2": ("web/",),
    "cronsim": ("gardener/cron.py",),
    "apprise": ("gardener/notify/",),
    "pluggy": ("gardener/hooks.py",),
    "cryptography": ("gardener/sealing.py",),
    "http.server": ("gardener/sample_shop/",),
    "subprocess": ("gardener/agent/", "gardener/demo.py"),
    "asyncio.subprocess": ("gardener/agent/", "radar/codegen.py", "repair_ladder/models/"),
    "httpx": ("gardener/agent/", "gardener/notify/", "repair_ladder/models/"),
    "requests": (),
    "urllib.request": ("gardener/demo.py",),
}
# The outer order inside the third room; a module may import its own group and those before it.
NOUNS, STORE, TOOLS, ACTIONS, BOOTSTRAP, CLI = range(6)
CAPTURED: Final[dict[str, Any]] = {"capture_output": True, "text": True, "timeout": 120}
PURE: Final = ("radar/", "repair_ladder/")
# What touches the outside in a pure room.
OUTER: Final = (*DOORS["playwright"], "repair_ladder/models/")
CLOCKS: Final = re.compile(r"\b(?:datetime\.now|datetime\.utcnow|time\.time|time\.sleep|date\.today|random\.random)\(")


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
    }


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_in(path: Path, places: tuple[str, ...]) -> bool:
    return any(where(path) == place or (place.endswith("/") and where(path).startswith(place)) for place in places)


def for_types_only(tree: ast.Module) -> set[ast.AST]:
    """Everything under `if TYPE_CHECKING:`; it is not imported when the program runs."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


def imports(path: Path, *, at_the_top: bool = False) -> Iterator[tuple[str, int]]:
    """The modules that a file names, and where. `at_the_top`: only what is imported with the file itself."""
    tree = tree_of(path)
    inside = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    skipped = (inside if at_the_top else set()) | (for_types_only(tree) if at_the_top else set())
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{where(path)}:{node.lineno}: imports are written in full"
            assert node.module is not None
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield (whole if whole in modules() or whole in DOORS else node.module), node.lineno


EVERY: Final = list(modules().values())


def by_name(path: Path) -> str:
    return where(path)


def test_the_modules_are_found() -> None:
    assert {"radar.diff", "repair_ladder.floor", "gardener.store", "web"} <= modules().keys()
    assert len(EVERY) > 80


@pytest.mark.parametrize("path", EVERY, ids=by_name)
def test_imports_point_to_the_left_only(path: Path) -> None:
    room = ROOMS.index(where(path).split("/")[0])

    for name, line in imports(path):
        other = name.split(".")[0]
        if other in ROOMS:
            assert ROOMS.index(other) <= room, f"{where(path)}:{line}: {ROOMS[room]} has never heard of {name}"
        assert other not in ("tests", "scripts"), f"{where(path)}:{line}: the product does not know its tests"


@pytest.mark.parametrize("path", EVERY, ids=by_name)
def test_the_outside_is_touched_at_its_doors_only(path: Path) -> None:
    for name, line in imports(path):
        for library, places in DOORS.items():
            if name == library or name.startswith(library + "."):
                assert is_in(path, places), (
                    f"{where(path)}:{line}: {library} is used in {', '.join(places) or 'no file'}"
                )


@pytest.mark.parametrize("path", EVERY, ids=by_name)
def test_only_the_command_line_and_the_settings_look_at_the_environment(path: Path) -> None:
    lines = [
        node.lineno
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "os.getenv", "os.putenv"))
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and {one.name for one in node.names} & {"environ", "getenv"}
        )
    ]

    assert not lines or is_in(path, ("gardener/cli/", "gardener/settings.py")), f"{where(path)}: lines {lines}"


@pytest.mark.parametrize("path", [one for one in EVERY if is_in(one, PURE) and not is_in(one, OUTER)], ids=by_name)
def test_the_pure_rooms_have_no_clock_no_file_and_no_log(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {name.split(".")[0] for name, _ in imports(path)}

    assert not named & {"logging", "socket", "time", "tempfile", "shutil", "random"}, named
    calls = [match[0] for match in CLOCKS.finditer(text)]
    # climb's default clock is the one exception: callers hand in theirs.
    assert not calls or where(path) == "repair_ladder/climb.py", calls
    opened = [
        node.lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("open", "print", "input")
    ]
    assert opened == []


# --- inside the third room -----------------------------------------------------------------------------


def group(name: str) -> int:
    """Where a module of the third room stands in its line."""
    part = name.removeprefix("gardener").lstrip(".").split(".")[0]
    match part:
        case "store" | "notify" | "agent":
            return STORE
        case "tools":
            return TOOLS
        case "actions":
            return ACTIONS
        case "bootstrap" | "schedule":
            return BOOTSTRAP
        case "cli" | "demo" | "screen" | "doctor" | "worker" | "__main__":
            return CLI
        case _:
            return NOUNS


@pytest.mark.parametrize(
    "name", [name for name in modules() if name.split(".")[0] == "gardener" and "sample_shop" not in name]
)
def test_inside_the_third_room_the_line_holds_too(name: str) -> None:
    for other, line in imports(modules()[name]):
        if other.split(".")[0] == "gardener":
            assert group(other) <= group(name), f"{name}, line {line}: {other} comes after it"
            assert "sample_shop" not in other or group(name) == CLI, f"{name}, line {line}: the shop is for the demo"


def test_the_sample_shop_knows_nothing_of_the_product() -> None:
    for path in (ROOT / "gardener" / "sample_shop").rglob("*.py"):
        for name, line in imports(path):
            assert name.split(".")[0] not in ROOMS or name.startswith("gardener.sample_shop"), f"{where(path)}:{line}"


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {
        name: {other for other, _ in imports(path, at_the_top=True) if other in modules() and other != name}
        for name, path in modules().items()
    }
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join([*way[way.index(name) :], name])
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*way, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


# --- what starting costs ---

# What only some commands need, and takes long to load: browsers, models, servers, senders of news, migrations.
SELDOM: Final = (
    "alembic anthropic apprise axe_playwright_python cryptography google.genai httpx litestar mcp openai playwright "
    "uvicorn web"
).split()


@pytest.mark.parametrize("command", [["--help"], ["project", "list", "--json"], ["staged", "shop", "--json"]])
def test_a_plain_command_loads_nothing_that_only_others_need(command: list[str], tmp_path: Path) -> None:
    program = f"""
import sys
from gardener.cli import main
try:
    main()
finally:
    print(*sorted(set({SELDOM!r}) & sys.modules.keys()), file=sys.stderr)
"""

    def run(*given: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-c", program, "--data-dir", str(tmp_path), *given]
        return subprocess.run(whole, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, **CAPTURED)

    made = run("project", "add", "shop", "--base-url", "http://127.0.0.1:1")  # this one sets the database up
    assert made.returncode == 0, made.stderr

    said = run(*command)

    assert said.returncode == 0, said.stderr
    assert said.stderr.split() == []


# --- every file ----------------------------------------------------------------------------------------

WRITTEN: Final = [
    path
    for folder in (*ROOMS, "tests", "scripts")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "__pycache__" not in path.parts
]


@pytest.mark.parametrize("path", [one for one in WRITTEN if one.read_text(encoding="utf-8").strip()], ids=by_name)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    said = ast.get_docstring(tree_of(path))

    assert said, "a module opens with a line on what it is for"
    assert len(said.splitlines()[0]) <= 120


def speaks_of_this_machine(text: str) -> list[str]:
    # Spelled so that this file itself does not.
    folders = "|".join(("ho" + "me/[a-z]", "ro" + "ot/", "wo" + "rk/", "Us" + "ers/[a-z]", "tm" + "p/[a-z]"))
    found = re.findall(rf"""(?:^|["'(=\s])/(?:{folders})[^\s"']*""", text, re.MULTILINE)
    return [one for one in found if not re.search(r"/(?:ada|ben|cy)\b", one)]  # the cast has homes of its own


@pytest.mark.parametrize("path", WRITTEN, ids=by_name)
def test_no_file_speaks_of_paths_of_one_machine(path: Path) -> None:
    assert speaks_of_this_machine(path.read_text(encoding="utf-8")) == []


def test_every_folder_of_tests_is_a_package() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        assert (path.parent / "__init__.py").is_file(), f"{where(path.parent)} would be taken for another package"
