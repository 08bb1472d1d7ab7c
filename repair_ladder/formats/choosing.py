"""Which format a file is in, and reading and writing by its name."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from repair_ladder.errors import BadTest
from repair_ladder.formats import Exported, WrittenTest, playwright, playwright_test, recorder, side, yaml

FORMATS: Final = ("yaml", "recorder", "side", "playwright", "playwright-test")
BY_ENDING: Final = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "recorder",
    ".side": "side",
    ".py": "playwright",
    **dict.fromkeys((".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"), "playwright-test"),
}
# Files of these endings hold tests only now and then; in a folder they are taken if they look like it.
SOMETIMES: Final = frozenset(BY_ENDING) - {".yaml", ".yml", ".side"}
LOOK: Final = 4_000_000
SCRIPTS: Final = frozenset(ending for ending, form in BY_ENDING.items() if form == "playwright-test")


def format_of(file: PurePath) -> str | None:
    """By the ending; None where no format has it."""
    return BY_ENDING.get(file.suffix.lower())


def looks_like_a_test(file: PurePath, text: str) -> bool:
    """Is a file found in a folder one that holds tests? Those named one by one are not asked."""
    form = format_of(file)
    if form is None:
        return False
    if file.suffix.lower() not in SOMETIMES:
        return True
    match form:
        case "recorder":
            return bool(re.search(r'"steps"\s*:\s*\[', text) and re.search(r'"title"\s*:', text))
        case "playwright":
            is_named = re.match(r"test_|.+_test\.py\Z", file.name) is not None
            return bool(
                re.search(r"\bpage\b" if is_named else r"\b(?:a?sync_playwright\(\)|def run\(playwright)", text)
            )
        case _:
            is_named = re.search(r"\.(?:spec|test|e2e)\.", file.name) is not None
            return bool(
                re.search(r"\bpage\b" if is_named else r"@playwright/test[\s\S]*^\s*test\(", text, re.MULTILINE)
            )


def read(
    form: str, text: str, *, where: str = "the file", name: str = "test", base_url: str | None = None
) -> tuple[WrittenTest, ...]:
    """The tests of a file. `name` is for a file that gives its test none. Raises BadTest: one line."""
    try:
        match form:
            case "yaml":
                return yaml.read(text, where=where)
            case "recorder":
                return recorder.read(text, where=where, base_url=base_url)
            case "side":
                return side.read(text, where=where, base_url=base_url)
            case "playwright" if PurePath(where).suffix.lower() in SCRIPTS:
                return playwright_test.read(text, where=where, name=name, base_url=base_url)
            case "playwright":
                return playwright.read(text, where=where, name=name, base_url=base_url)
            case "playwright-test":
                return playwright_test.read(text, where=where, name=name, base_url=base_url)
    except RecursionError:
        raise BadTest(f"{where}: nested too deep") from None
    raise BadTest(f"'{form}' is not a format; known are {', '.join(FORMATS)}")


def write(form: str, test: WrittenTest, *, base_url: str | None = None, test_id: str = "data-testid") -> Exported:
    """The test in a format. Raises BadTest for a format that is not known."""
    match form:
        case "yaml":
            return Exported(yaml.write(test))
        case "recorder":
            return recorder.write(test, base_url=base_url, test_id_attribute=test_id)
        case "side":
            return side.write(test, base_url=base_url, test_id_attribute=test_id)
        case "playwright":
            return playwright.write(test)
        case "playwright-test":
            return playwright_test.write(test)
    raise BadTest(f"'{form}' is not a format; known are {', '.join(FORMATS)}")
