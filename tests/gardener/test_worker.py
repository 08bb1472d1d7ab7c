"""The worker: does the jobs that wait, and puts back what a signal cuts off."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gardener.actions import sweeping
from gardener.jobs import Job, JobKind, JobState
from gardener.projects import Project, ProjectSettings
from gardener.runs import RunStatus, Trigger
from gardener.settings import Settings
from gardener.store import Transaction, jobs, open_store, projects, runs, saved_tests
from gardener.tools import Tools
from gardener.worker import Worker
from repair_ladder.formats import WrittenTest
from repair_ladder.steps import Step
from tests.gardener.conftest import NOW

BY_ITSELF = ProjectSettings(urls=("/",))  # a page to look at, without a test


async def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("not wanted here")


@pytest.fixture
async def tools(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Tools]:
    async with await open_store(sqlite_url) as store:
        yield Tools(
            settings=Settings(sqlite_url, tmp_path),
            store=store,
            replay=never,
            sign_in=never,
            look=never,
            ask=lambda project: None,
            now=lambda: datetime.now(UTC),
            worker="worker",
        )


async def a_project(tools: Tools, name: str = "shop", url: str = "http://shop.test") -> Project:
    async with tools.store.transaction() as tx:
        return await projects.add(tx, name, url, now=NOW, settings=BY_ITSELF)


async def as_it_stands(tools: Tools, job: Job) -> Job:
    async with tools.store.reading() as tx:
        return await jobs.get(tx, job.id)


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT], ids=lambda kind: kind.name)
async def test_a_signal_puts_back_the_job_that_was_begun(tools: Tools, kind: signal.Signals) -> None:
    job = await sweeping.ask_for_sweep(tools, await a_project(tools))
    looks = asyncio.Event()

    async def look(*_: Any, **__: Any) -> Any:
        looks.set()
        await asyncio.Event().wait()

    working = asyncio.ensure_future(Worker(replace(tools, look=look)).run(once=False, poll_s=60))
    await asyncio.wait_for(looks.wait(), 10)

    os.kill(os.getpid(), kind)

    assert await asyncio.wait_for(working, 10)
    now = await as_it_stands(tools, job)
    assert (now.state, now.worker, now.tries) == (JobState.QUEUED, None, 0)


async def test_with_once_it_ends_when_nothing_is_left(tools: Tools) -> None:
    async def nothing(*_: Any, **__: Any) -> Any:
        return {}

    job = await sweeping.ask_for_sweep(tools, await a_project(tools))

    assert not await Worker(replace(tools, look=nothing)).run(once=True, poll_s=60)

    assert (await as_it_stands(tools, job)).state == JobState.DONE


async def test_a_job_that_breaks_off_does_not_keep_the_next_from_being_done(tools: Tools) -> None:
    broken = await sweeping.ask_for_sweep(tools, await a_project(tools))
    other = await sweeping.ask_for_sweep(tools, await a_project(tools, "bakery", "http://bakery.test"))
    looked = asyncio.Event()

    async def look(urls: Sequence[str], **_: Any) -> Any:
        if "shop" in urls[0]:
            raise RuntimeError("nobody thought of this")
        looked.set()
        await asyncio.Event().wait()

    working = asyncio.ensure_future(Worker(replace(tools, look=look)).run(once=False, poll_s=0.01))
    await asyncio.wait_for(looked.wait(), 10)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working

    assert (await as_it_stands(tools, broken)).state == JobState.RUNNING  # until its lease ends
    assert (await as_it_stands(tools, other)).state == JobState.QUEUED


async def test_the_command_does_what_waits_and_ends(tools: Tools, tmp_path: Path) -> None:
    shop = await a_project(tools)
    async with tools.store.transaction() as tx:
        written = WrittenTest("checkout", (Step("goto", None, {"url": "/"}),))
        test = await saved_tests.import_test(tx, shop.id, written, folder=None, author="Ada", now=NOW)
        run = await _a_red_run(tx, shop, test.id)
        job = await jobs.add(
            tx, project=shop.id, kind=JobKind.HEAL, key="test", payload={"test": test.id, "run": run}, now=NOW
        )

    command = ["-m", "gardener", "--database", tools.settings.database_url, "--data-dir", str(tmp_path)]
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, *command, "worker", "--once"], capture_output=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    # The switch is off, so that the repair is not wanted any more.
    assert (await as_it_stands(tools, job)).state == JobState.SKIPPED


async def _a_red_run(tx: Transaction, shop: Project, test: int) -> int:
    run = await runs.add(
        tx,
        project=shop.id,
        test=test,
        test_name="checkout",
        version=1,
        trigger=Trigger.SCHEDULE,
        status=RunStatus.RED,
        started_at=NOW,
        ended_at=NOW,
    )
    return run.id
