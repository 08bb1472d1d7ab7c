"""Door to Playwright's codegen: a person clicks through the app in a window, and it writes down what was done."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from radar import chromium
from radar.errors import CannotRecord

COMMAND: Final = (sys.executable, "-m", "playwright", "codegen")  # of the Playwright that is installed here
OWN_BROWSER: Final = "PWTEST_CLI_EXECUTABLE_PATH"  # codegen has no option for a browser that Playwright did not load
HEADLESS: Final = "PWTEST_CLI_HEADLESS"  # for a machine without a screen; nobody can click in it
DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")
LARGEST: Final = 16_000_000  # bytes of a script
MOST_SAID: Final = 20_000  # bytes of what it complains of
END_S: Final = 5.0  # to end by itself before it is killed


async def record(
    url: str,
    *,
    environ: Mapping[str, str],
    executable: str | None = None,
    state: Any = None,
    test_id_attribute: str = "data-testid",
    locale: str | None = None,
    command: Sequence[str] = COMMAND,
) -> str:
    """Open a window at `url` and give what was done in it as a script in Python, once the window is closed.

    `state`: cookies and storage that it begins with. Raises CannotRecord with one line.
    """
    if sys.platform == "linux" and not any(environ.get(one) for one in (*DISPLAYS, HEADLESS)):
        raise CannotRecord(
            "recording opens a window, and there is no display here (DISPLAY is not set): record on a machine with a "
            "screen, with `playwright codegen` or a browser's recorder, and import the file"
        )
    with tempfile.TemporaryDirectory(prefix="gardener-", ignore_cleanup_errors=True) as folder:  # for this user alone
        script, kept = Path(folder) / "recording.py", Path(folder) / "state.json"
        options = ["--target", "python", "--output", str(script), "--test-id-attribute", test_id_attribute]
        if locale:
            options += ["--lang", locale]
        if state is not None:
            kept.write_text(json.dumps(state), encoding="utf-8")
            options += ["--load-storage", str(kept)]
        found = chromium.find(executable)
        await _run([*command, *options, url], {**environ, **({OWN_BROWSER: found} if found else {})}, folder)
        text = _read(script)
    # How the window was opened is the project's business, and no step of the test.
    for given in (f"storage_state={_quoted(str(kept))}", f"locale={_quoted(locale or '')}"):
        text = text.replace(f"{given}, ", "").replace(f", {given}", "").replace(given, "")
    return text.replace(f"    playwright.selectors.set_test_id_attribute({_quoted(test_id_attribute)})\n", "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _read(script: Path) -> str:
    try:
        with script.open("rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""  # nothing was done


async def _run(arguments: Sequence[str], environ: Mapping[str, str], folder: str) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, cwd=folder, env=dict(environ)
        )
    except OSError as error:
        raise CannotRecord(f"Playwright's codegen cannot be run: {error.strerror or error}") from error
    try:
        assert process.stderr is not None
        said = b""
        while part := await process.stderr.read(4096):
            said = (said + part)[:MOST_SAID]
        code = await process.wait()
    finally:
        await _end(process)
    if code != 0:
        raise CannotRecord(f"Playwright's codegen ended with {code}: {_why(said.decode('utf-8', 'replace'))}")


def _why(said: str) -> str:
    """The line of a complaint that tells what is wrong."""
    if "without having a XServer" in said:
        return "no window can be opened on this display"
    if "Executable doesn't exist" in said:
        return "there is no Chromium; install it (apt-get install chromium, or: playwright install chromium)"
    lines = [" ".join(one.split()) for one in said.splitlines() if one.strip()]
    telling = next((one for one in lines if "Error" in one), lines[-1] if lines else "it does not say why")
    return telling.lstrip("[")[:300]


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), END_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
