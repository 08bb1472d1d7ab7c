"""Which format a file is in, and reading and writing by its name."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from repair_ladder.errors import BadTest
from repair_ladder.formats import Exported, WrittenTest, recorder, side, yaml

FORMATS: Final = ("yaml", "recorder", "side")
BY_ENDING: Final = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "recorder",
    ".side": "side",
}
# Files of these endings hold tests only now and then; in a folder they are taken if they look like it.
SOMETIMES: Final = frozenset({".json"})
LOOK: Final = 4_000_000


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
    return bool(re.search(r'"steps"\s*:\s*\[', text) and re.search(r'"title"\s*:', text))


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
    raise BadTest(f"'{form}' is not a format; known are {', '.join(FORMATS)}")
