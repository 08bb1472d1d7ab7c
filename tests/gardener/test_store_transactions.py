"""Covers gardener/store/transaction.py: all or nothing, whoever else writes and whatever dies."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from gardener.errors import Conflict, GardenerError
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.store import Store, audit, events, open_store, projects, saved_tests
from gardener.store.rows import SavedTestRow
from tests.gardener.conftest import NOW, a_checkout, a_shop

COUNT_UP = """
import asyncio, sys
from datetime import datetime, timezone
from gardener.store import open_store, saved_tests

async def main(url, test, times):
    async with await open_store(url) as store:
        for _ in range(int(times)):
            async with store.transaction() as tx:
                one = await saved_tests.by_id(tx, int(test))
                await saved_tests.write_steps(
                    tx, one.id, one.version, steps=one.steps, source=None, author="Ada", cause="edit",
                    now=datetime.now(timezone.utc),
                )

asyncio.run(main(*sys.argv[1:]))
"""
DIE_INSIDE = """
import asyncio, os, signal, sys
from datetime import datetime, timezone
from gardener.store import open_store, projects

async def main(url):
    async with await open_store(url) as store, store.transaction() as tx:
        await projects.add(tx, "half", "http://shop.test", now=datetime.now(timezone.utc))
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(*sys.argv[1:]))
"""


class Interrupted(Exception):
    pass


async def _change_everything_and_break_off(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await a_checkout(tx, shop)
        await events.emit(tx, shop.id, EventKind.TEST_IMPORTED, "imported", {}, now=NOW)
        await audit.write(tx, who="Ada", what="import", subject="checkout", now=NOW, project=shop.id)
        raise Interrupted


async def test_a_transaction_that_fails_leaves_neither_state_nor_event_nor_audit(store: Store, shop: Project) -> None:
    with pytest.raises(Interrupted):
        await _change_everything_and_break_off(store, shop)

    async with store.reading() as tx:
        assert await saved_tests.listed(tx, shop.id) == ()
        assert await events.listed(tx, shop.id) == ()
        assert await audit.listed(tx) == ()


async def test_a_cancelled_transaction_leaves_nothing_and_the_store_usable(store: Store, shop: Project) -> None:
    inside = asyncio.Event()

    async def linger() -> None:
        async with store.transaction() as tx:
            await a_checkout(tx, shop)
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(linger())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with store.transaction() as tx:
        assert await saved_tests.listed(tx, shop.id) == ()
        await a_checkout(tx, shop)


async def test_a_killed_process_leaves_nothing_and_nobody_waiting(store: Store, store_url: str) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", DIE_INSIDE, store_url)
    assert await process.wait() == -9

    async with store.transaction() as tx:
        assert await projects.listed(tx) == ()
        await a_shop(tx)


async def test_two_processes_that_read_and_write_never_meet_a_locked_database(sqlite_url: str) -> None:
    async with await open_store(sqlite_url) as store, store.transaction() as tx:
        test = await a_checkout(tx, await a_shop(tx))

    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", COUNT_UP, sqlite_url, str(test.id), "60")
        for _ in range(2)
    ]

    assert [await process.wait() for process in processes] == [0, 0]
    async with await open_store(sqlite_url) as store, store.reading() as tx:
        assert (await saved_tests.by_id(tx, test.id)).version == 121
        assert len(await saved_tests.versions(tx, test.id)) == 121


async def test_many_tasks_of_one_process_write_in_turn(store: Store, shop: Project) -> None:
    async def add(number: int) -> None:
        async with store.transaction() as tx:
            await a_checkout(tx, shop, f"checkout {number}")

    await asyncio.gather(*(add(number) for number in range(40)))

    async with store.reading() as tx:
        assert len(await saved_tests.listed(tx, shop.id)) == 40


async def test_reading_sees_one_state_and_does_not_wait_for_writers(
    store: Store, second_store: Store, shop: Project
) -> None:
    async with store.reading() as before:
        assert await saved_tests.listed(before, shop.id) == ()
        async with second_store.transaction() as tx:
            await a_checkout(tx, shop)

        assert await saved_tests.listed(before, shop.id) == ()

    async with store.reading() as after:
        assert len(await saved_tests.listed(after, shop.id)) == 1


async def test_nothing_is_written_while_reading(store: Store) -> None:
    async with store.reading() as tx:
        with pytest.raises(RuntimeError, match=r"Store\.transaction"):
            await a_shop(tx)


async def test_a_transaction_inside_a_transaction_is_refused_at_once(store: Store) -> None:
    async with store.transaction():
        with pytest.raises(RuntimeError, match="inside"):
            async with store.transaction():
                pass


async def test_errors_of_the_database_come_out_as_ours(store: Store, shop: Project) -> None:
    values = {"project": 999, "name": "x", "status": "active", "version": 1, "flagged": False}
    row = values | {"steps": [], "tags": [], "variables": {}}
    async with store.transaction() as tx:
        await a_checkout(tx, shop)

    with pytest.raises(Conflict) as caught:
        async with store.transaction() as tx:
            await tx.run(tx.insert(SavedTestRow).values(**row))
    with pytest.raises(Conflict):
        async with store.transaction() as tx:
            await tx.run(tx.insert(SavedTestRow).values(**row | {"project": shop.id, "name": "checkout"}))
    with pytest.raises(GardenerError) as other:
        async with store.transaction() as tx:
            await tx.run(tx.insert(SavedTestRow).values(**row | {"version": None}))

    assert "\n" not in str(caught.value)
    assert "INSERT" not in str(other.value)


async def test_a_file_that_goes_away_is_told_as_ours(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    async with await open_store(sqlite_url) as store:
        await asyncio.to_thread(path.unlink)
        await asyncio.to_thread(path.mkdir)

        with pytest.raises(GardenerError, match="database"):
            # The pool may still hold the connection to the file that was deleted; two at once need a new one.
            async with store.reading(), store.reading():
                pass
