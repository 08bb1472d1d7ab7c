"""A test by clicking through the app: Playwright's codegen writes it down, and it is imported."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from gardener import evidence
from gardener.actions.importing import Imported, import_files
from gardener.actions.playing import access_to
from gardener.errors import Refused
from gardener.projects import Project
from gardener.runs import Trigger
from gardener.saved_tests import SavedTest
from gardener.tools import Tools
from repair_ladder.errors import BadTest
from repair_ladder.formats import choosing
from repair_ladder.outcomes import Environment
from repair_ladder.steps import show_place, walk
from repair_ladder.values import names_in

FOLDER: Final = "recordings"
PASSWORD: Final = ("passw", "passcode", "passphrase", "kennwort", "contrase", "mot de passe")


async def record(
    tools: Tools, project: Project, by: str, *, name: str | None = None, signed_out: bool = False
) -> Imported:
    """Open a window at the app, signed in if the project names a test for that, and import what is done in it.

    Of what cannot be said in steps each line is told, and the test is a draft. A recording that cannot be imported is
    kept as a file. Raises Refused if nothing was recorded, or nobody can sign in.
    """
    state = None
    if project.settings.sign_in and not signed_out:
        given = await access_to(tools, project, Trigger.MANUAL).enter()
        if isinstance(given, Environment):
            raise Refused(f"nothing was recorded: {given.message}. With --signed-out the window opens without it.")
        state = given.state
    text = await tools.record(project, state=state)
    if _is_empty(text, project):
        raise Refused("nothing was recorded: the window was closed before anything was done in it")
    name = name or f"recorded {tools.now():%Y-%m-%d %H.%M.%S}"
    with tempfile.TemporaryDirectory(prefix="gardener-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "recording.py"
        file.write_text(text, encoding="utf-8")
        done = await import_files(tools, project, [file], by, form="playwright", partial=True, name=name)
    where, shown = str(file), "the recording"
    if done.errors:
        shown = str(await asyncio.to_thread(_keep, tools, name, text))
    notes = [one.replace(where, shown) for one in done.notes]
    errors = [one.replace(where, shown) for one in done.errors]
    return replace(done, errors=tuple(errors), notes=(*notes, *(note for test in done.tests for note in _plain(test))))


def _is_empty(text: str, project: Project) -> bool:
    """Was nothing done but open the window?"""
    try:
        read = choosing.read("playwright", text, where="the recording", base_url=project.base_url)
    except BadTest:
        return not text.strip()
    return all(not test.missing and {step.kind for step in test.steps} <= {"goto"} for test in read)


def _keep(tools: Tools, name: str, text: str) -> Path:
    """Somebody has spent their time on it."""
    folder = tools.settings.data_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{tools.now():%Y%m%dT%H%M%S}-{evidence.plain(name)}.py"
    file.touch(mode=0o600)  # it holds whatever was typed
    file.write_text(text, encoding="utf-8")
    return file


def _plain(test: SavedTest) -> list[str]:
    """Where a password stands in the test as it was typed."""
    return [
        f"'{test.name}', step {show_place(place)}: types a password as it is; keep it with `gardener secret set` and "
        "name it in the test instead"
        for place, step in walk(test.steps)
        if step.kind in ("fill", "type")
        and any(word in str(step.locator).lower() for word in PASSWORD)
        and not list(names_in(step.parameters.get("value")))
    ]
