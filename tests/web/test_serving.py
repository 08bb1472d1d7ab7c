"""`gardener serve` as a process: the first sign-in, a clean stop, a restart; and the commands for people."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from gardener import cli
from gardener.errors import BadSetting
from gardener.settings import read_settings
from web import assets
from web.serving import listen
from web.watching import MOST_JOBS, Watching

PATIENCE_S = 60


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, list[str], str]]:
    """The process, the lines it said so far, and its address."""
    environ = {"HOME": str(folder), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "gardener", "--data-dir", str(folder / "data"), "serve", "--port", "0"),
        cwd=folder,
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            lines = [(await process.stdout.readline()).decode()]
            found = re.search(r"http://127\.0\.0\.1:\d+", lines[0])
            assert found, lines
            async with httpx.AsyncClient() as client:
                while True:  # it says where it is a moment before it answers
                    try:
                        await client.get(f"{found[0]}/sign-in")
                        break
                    except httpx.ConnectError:
                        await asyncio.sleep(0.05)
            yield process, lines, found[0]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def stop(process: asyncio.subprocess.Process) -> tuple[int, str, str]:
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_the_first_start_tells_the_first_sign_in_once_and_a_signal_ends_it_cleanly(tmp_path: Path) -> None:
    async with serving(tmp_path) as (process, _, address):
        async with httpx.AsyncClient(base_url=address) as client:
            page = await client.get("/")
            assert page.headers["location"] == "/sign-in"
            assert "content-security-policy" in page.headers
        code, out, err = await stop(process)
    async with serving(tmp_path) as (process, lines, _):
        again = await stop(process)

    assert (code, err) == (0, "Stopped.\n")
    assert re.search(r"Sign in as admin with the password [a-z2-9]{5}(-[a-z2-9]{5}){3} ", out)
    assert "password" not in lines[0] + again[1]


def test_a_port_that_is_taken_is_told_in_one_line() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(BadSetting, match="cannot be listened on: Address already in"):
        listen("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"port": "many"}, "'port' is the port that"),
        ({"port": "70000"}, "'port' is the port that"),
        ({"public_url": "gardener.test"}, "'public_url' is the address"),
        ({"public_url": "https://gardener.test/below"}, "'public_url' is the address"),
    ],
)
def test_settings_of_the_server_that_cannot_be_used_are_told(given: dict[str, str], told: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=re.escape(told)):
        read_settings({}, tmp_path, **given)


# --- people ----------------------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path: Path) -> Any:
    def call(*args: str) -> Result:
        return CliRunner().invoke(cli.cli, ["--data-dir", str(tmp_path / "data"), *args])

    return call


def test_people_are_added_listed_and_given_new_passwords(command: Any) -> None:
    added = command("user", "add", "Ben", "--by", "Ada")
    renewed = command("user", "password", "ben")
    listed = command("user", "list", "--json")

    first = re.search(r"Ben \(member\) signs in once with the password (\S+)", added.stdout)
    second = re.search(r"with the password (\S+)", renewed.stdout)
    assert first is not None
    assert second is not None
    assert first[1] != second[1]
    assert '"name": "Ben"' in listed.stdout
    assert first[1] not in listed.stdout


def test_people_change_roles_and_are_removed_but_an_admin_is_left(command: Any) -> None:
    command("user", "add", "Ada", "--admin")
    command("user", "add", "Ben")

    raised = command("user", "role", "ben", "admin")
    removed = command("user", "remove", "ada", "--by", "Ben")
    last = command("user", "remove", "Ben")
    lowered = command("user", "role", "Ben", "member")
    listed = command("user", "list", "--json")

    assert "Ben is admin now." in raised.stdout
    assert "Ada may sign in no more." in removed.stdout
    assert "There has to be an admin" in str(last.exception)
    assert "There has to be an admin" in str(lowered.exception)
    assert '"Ada"' not in listed.stdout
    assert '"Ben"' in listed.stdout


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("user", "remove", "nobody"), "There is nobody called 'nobody'"),
        (("user", "add", "gardener"), "is the author of what is repaired unattended"),
        (("user", "add", "two\nlines"), "A name is one line"),
        (("user", "password", "nobody"), "There is nobody called 'nobody'"),
    ],
)
def test_names_that_cannot_be_are_refused(command: Any, args: tuple[str, ...], told: str) -> None:
    assert told in str(command(*args).exception)


def test_a_name_is_taken_in_whatever_case(command: Any) -> None:
    command("user", "add", "Ben")

    assert "There is somebody called 'BEN' already" in str(command("user", "add", "BEN").exception)


# --- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(assets.FILES))
def test_every_file_of_the_pages_is_there_and_names_no_other_host(name: str) -> None:
    found = assets.asset(name)

    assert found is not None
    if not name.startswith("htmx"):
        text = found.content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text


def test_no_other_file_is_served() -> None:
    assert assets.asset("../app.py") is None
    assert assets.asset("") is None


async def test_the_end_reaches_everybody_although_more_come_to_watch_meanwhile() -> None:
    """A server whose pages are being opened while it is stopped stops all the same."""
    watching = Watching()
    waiting = [asyncio.ensure_future(watching.after(job, 0, patience_s=60)) for job in (1, 2, 3)]
    await asyncio.sleep(0)
    held = watching._topics[2].news
    async with held:
        closing = asyncio.ensure_future(watching.close())
        await asyncio.sleep(0)
        waiting.append(asyncio.ensure_future(watching.after(4, 0, patience_s=60)))
        await asyncio.sleep(0)
    await closing

    assert await asyncio.gather(*waiting) == [()] * 4


async def test_whoever_looks_at_old_jobs_pushes_out_no_job_that_is_being_told_of() -> None:
    watching = Watching()
    await watching("job", {"job": 1})

    for job in range(100, 100 + 2 * MOST_JOBS):
        await watching.after(job, 0, patience_s=0)

    assert [line.what for line in watching.known(1)] == ["job"]
    assert len(watching._topics) == MOST_JOBS
