"""radar/codegen.py: what codegen is asked for and given, with a program in its place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from radar import codegen
from radar.errors import CannotRecord

SCREEN = {"DISPLAY": ":7", "PATH": "/nowhere"}
# Writes down how it was called, and "records" what it was given.
FAKE = """
import json, os, stat, sys
given = sys.argv[1:]
options = dict(zip(given[:-1:2], given[1:-1:2]))
kept = options.get("--load-storage")
told = {"options": options, "url": given[-1], "browser": os.environ.get("PWTEST_CLI_EXECUTABLE_PATH"),
        "state": json.load(open(kept)) if kept else None,
        "modes": [stat.S_IMODE(os.stat(os.path.dirname(options["--output"])).st_mode)]}
open(os.environ["TOLD"], "w").write(json.dumps(told))
script = os.environ["SCRIPT"].replace("KEPT", str(kept))
if script: open(options["--output"], "w").write(script)
print("nothing is read of this")
print(os.environ.get("COMPLAINT", ""), file=sys.stderr)
sys.exit(int(os.environ.get("CODE", "0")))
"""


async def record(tmp_path: Path, script: str = "page.goto('/')\n", **how: object) -> tuple[str, dict[str, object]]:
    told = tmp_path / "told.json"
    extra = {key: str(how.pop(key)) for key in ("CODE", "COMPLAINT") if key in how}
    environ = SCREEN | extra | {"TOLD": str(told), "SCRIPT": script}
    text = await codegen.record(
        "http://127.0.0.1:1/", environ=environ, command=[sys.executable, "-c", FAKE], **how  # type: ignore[arg-type]
    )  # fmt: skip
    return text, json.loads(told.read_text())


async def test_codegen_is_asked_for_python_at_the_app(tmp_path: Path) -> None:
    text, told = await record(tmp_path, executable="/bin/its-own", test_id_attribute="data-qa", locale="de-DE")

    options = told["options"]
    assert isinstance(options, dict)
    output = Path(options.pop("--output"))
    assert text == "page.goto('/')\n"
    assert told["url"] == "http://127.0.0.1:1/"
    assert told["browser"] == "/bin/its-own"
    assert options == {"--target": "python", "--test-id-attribute": "data-qa", "--lang": "de-DE"}
    assert not output.parent.exists(), "what was typed does not lie about afterwards"
    assert told["modes"] == [0o700]


async def test_the_session_is_handed_over_and_leaves_no_trace_in_the_script(tmp_path: Path) -> None:
    script = (
        '    context = browser.new_context(locale="de-DE", storage_state="KEPT", viewport={"width":800,"height":600})\n'
        '    playwright.selectors.set_test_id_attribute("data-testid")\n'
    )

    text, told = await record(tmp_path, script, state={"cookies": [{"name": "sid"}]}, locale="de-DE")

    assert told["state"] == {"cookies": [{"name": "sid"}]}
    assert text == '    context = browser.new_context(viewport={"width":800,"height":600})\n'


async def test_a_window_that_was_closed_at_once_gives_nothing(tmp_path: Path) -> None:
    text, _ = await record(tmp_path, "")

    assert text == ""


@pytest.mark.parametrize(
    ("complaint", "line"),
    [
        ("at x\n[PlaywrightError: no such  thing\nat y", "ended with 1: PlaywrightError: no such thing"),
        ("║ a headed browser without having a XServer running. ║", "ended with 1: no window can be opened"),
        ("[Error: Executable doesn't exist at /x\n║ playwright install", "there is no Chromium; install it"),
        ("", "ended with 1: it does not say why"),
    ],
)
async def test_what_codegen_complains_of_is_one_line(tmp_path: Path, complaint: str, line: str) -> None:
    with pytest.raises(CannotRecord) as caught:
        await record(tmp_path, CODE=1, COMPLAINT=complaint)

    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
async def test_without_a_display_nothing_is_started(tmp_path: Path) -> None:
    with pytest.raises(CannotRecord, match="no display here"):
        await codegen.record("http://127.0.0.1:1/", environ={}, command=["/no/such/program"])


async def test_a_codegen_that_is_not_there_is_told() -> None:
    with pytest.raises(CannotRecord, match="cannot be run: No such file"):
        await codegen.record("http://127.0.0.1:1/", environ=SCREEN, command=["/no/such/program"])
