"""Covers gardener/store/opening.py and migrations/: how a database is opened, set up and brought up to date."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine

from gardener.errors import BadSetting
from gardener.proposals import cause_key
from gardener.store import Store, deliveries, events, open_store, projects, proposals
from gardener.store.migrations import HEAD, scripts, upgrade
from gardener.store.rows import Base
from tests.gardener.conftest import SERVER, Databases, a_shop, an_operation

OPEN_AND_ADD = """
import asyncio, sys
from datetime import datetime, timezone
from gardener.store import open_store, projects

async def main(url, name):
    print("ready", flush=True)
    sys.stdin.readline()
    async with await open_store(url) as store, store.transaction() as tx:
        await projects.add(tx, name, "http://shop.test", now=datetime.now(timezone.utc))

asyncio.run(main(*sys.argv[1:]))
"""


async def test_the_migrations_make_the_tables_of_rows_py(store: Store) -> None:
    def difference(connection: Connection) -> Any:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": Base.metadata}
        )
        return compare_metadata(context, Base.metadata)

    async with store.reading() as tx:
        assert await tx.connection.run_sync(difference) == []


def test_the_newest_migration_is_the_one_that_opening_looks_for() -> None:
    assert scripts().get_heads() == [HEAD]


async def test_partial_indexes_are_partial_in_the_database(store: Store) -> None:
    """The comparison above does not look at conditions."""
    query = "SELECT sql FROM sqlite_master WHERE name = 'uq_proposals_open'"
    if not store.where.startswith("'/"):
        query = "SELECT indexdef FROM pg_indexes WHERE indexname = 'uq_proposals_open'"

    async with store.reading() as tx:
        definition = (await tx.connection.exec_driver_sql(query)).scalar()

    assert "UNIQUE" in str(definition)
    assert "'proposed'" in str(definition).partition("WHERE")[2]


async def _all_at_once(url: str, count: int) -> None:
    names = [f"shop {number}" for number in range(count)]
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", OPEN_AND_ADD, url, name, **pipes) for name in names
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    said = await asyncio.gather(*(process.communicate(b"\n") for process in processes))

    assert [process.returncode for process in processes] == [0] * count, said
    async with await open_store(url) as store, store.reading() as tx:
        assert [one.name for one in await projects.listed(tx)] == names


async def test_processes_that_meet_an_empty_sqlite_file_at_once_all_succeed(tmp_path: Path) -> None:
    await _all_at_once(f"sqlite:///{tmp_path / 'new folder' / 'gardener.db'}", 3)


@pytest.mark.postgres
async def test_processes_that_meet_an_empty_postgresql_at_once_all_succeed(databases: Databases) -> None:
    await _all_at_once(await databases.make(), 3)


async def test_a_database_that_is_up_to_date_opens_without_alembic(store_url: str) -> None:
    opening = (
        "import asyncio, sys; from gardener.store import open_store\n"
        "async def main(): await (await open_store(sys.argv[1])).close()\n"
        "asyncio.run(main()); sys.exit('alembic' in sys.modules)"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", opening, store_url)

    assert await process.wait() == 0


async def test_what_a_migration_did_is_gone_if_it_did_not_end(tmp_path: Path) -> None:
    path = tmp_path / "gardener.db"
    in_the_way = sqlite3.connect(path)
    in_the_way.execute("CREATE TABLE runs (id INTEGER)")
    in_the_way.close()

    with pytest.raises(BadSetting, match="already exists"):
        await open_store(f"sqlite:///{path}")

    left = sqlite3.connect(path)
    assert left.execute("SELECT name FROM sqlite_master").fetchall() == [("runs",)]
    left.close()


async def test_a_database_of_a_newer_release_is_left_alone(sqlite_url: str) -> None:
    connection = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.commit()
    connection.close()

    with pytest.raises(BadSetting, match="newer release"):
        await open_store(sqlite_url)


async def test_a_copy_that_lost_its_mode_is_put_right(sqlite_url: str) -> None:
    connection = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    connection.close()

    async with await open_store(sqlite_url) as store, store.transaction() as tx:
        await a_shop(tx)
        mode = (await tx.connection.exec_driver_sql("PRAGMA journal_mode")).scalar()

    assert mode == "wal"


@pytest.mark.parametrize("name", ["with blank.db", "100%.db", "ключ.db", "a#b.db"])
async def test_any_name_of_a_file_can_be_put_behind_sqlite(tmp_path: Path, name: str) -> None:
    await (await open_store(f"sqlite:///{tmp_path / name}")).close()

    assert (tmp_path / name).is_file()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "sqlite:///FILE"),
        ("gardener.db", "sqlite:///FILE"),
        ("mysql://ada:geheim@db.test/shop", "mysql://db.test/shop"),
        ("sqlite://", "four slashes"),
        ("sqlite:///", "four slashes"),
        ("sqlite:///:memory:", "four slashes"),
        ("sqlite:///x.db?mode=ro", "no parameters"),
        ("postgresql://ada:geheim@127.0.0.1:1/shop", "cannot be opened"),
        ("postgresql://ada:ge/h@geheim@127.0.0.1:1/shop", "cannot be opened"),
        ("postgresql://ada:x@127.0.0.1:geheim/shop", "not understood"),
        ("postgresql://127.0.0.1:1/shop?password=geheim", "cannot be opened"),
    ],
)
async def test_a_url_that_cannot_be_used_is_told_in_one_line_without_the_password(url: str, says: str) -> None:
    with pytest.raises(BadSetting) as caught:
        await open_store(url)

    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "geheim" not in str(caught.value).partition("cannot be opened")[2]
    assert "geheim@" not in str(caught.value)


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk, bread, " * 1000)

    with pytest.raises(BadSetting, match=r"notes\.txt.*not a database"):
        await open_store(f"sqlite:///{tmp_path / 'notes.txt'}")
    with pytest.raises(BadSetting, match="is a folder"):
        await open_store(f"sqlite:///{tmp_path}")
    with pytest.raises(BadSetting, match="folder of the database"):
        await open_store(f"sqlite:///{tmp_path / 'notes.txt' / 'gardener.db'}")


@pytest.mark.postgres
async def test_a_postgresql_database_that_is_not_there_is_told(databases: Databases) -> None:
    with pytest.raises(BadSetting, match="does not exist"):
        await open_store(f"{SERVER.rpartition('/')[0]}/gardener_test_not_there")


async def test_proposals_of_an_older_database_get_their_cause(tmp_path: Path) -> None:
    path = tmp_path / "gardener.db"
    operations = [an_operation()]
    old = create_engine(f"sqlite:///{path}")
    with old.begin() as connection:
        upgrade(connection, "0007")
        connection.exec_driver_sql(
            "INSERT INTO projects (name, base_url, auto_repair, side_by_side, settings, created_at) "
            "VALUES ('shop', 'http://shop.test', 0, 1, '{}', '2026-03-01 12:00:00.000000')"
        )
        connection.exec_driver_sql(
            "INSERT INTO tests (project, name, status, version, steps, tags, variables, flagged) "
            "VALUES (1, 'checkout', 'active', 1, '[]', '[]', '{}', 0)"
        )
        connection.exec_driver_sql(
            "INSERT INTO proposals (project, test, version, status, proven, strategy, operations, refusals, triggers, "
            "restated, reason, change_key, created_at) VALUES (1, 1, 1, 'proposed', 1, 'self_heal', ?, '[]', '[]', 0, "
            "'', '', '2026-03-01 12:00:00.000000')",
            (json.dumps(operations),),
        )
    old.dispose()

    async with await open_store(f"sqlite:///{path}") as store, store.reading() as tx:
        (waiting,) = await proposals.open_of_cause(tx, 1, cause_key(operations))
    assert waiting.cause == cause_key(operations)


async def test_an_older_database_is_brought_up_to_date_with_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "gardener.db"
    old = create_engine(f"sqlite:///{path}")
    with old.begin() as connection:
        upgrade(connection, "0001")
        connection.exec_driver_sql(
            "INSERT INTO projects (name, base_url, auto_repair, side_by_side, settings, created_at) "
            "VALUES ('shop', 'http://shop.test', 0, 1, '{\"staging\": true}', '2026-03-01 12:00:00.000000')"
        )
        connection.exec_driver_sql(
            "INSERT INTO events (project, kind, subject, payload, at) "
            "VALUES (1, 'staged', 'a repair waits', '{\"proposal\": 3}', '2026-03-01 12:00:00.000000')"
        )
    old.dispose()

    async with await open_store(f"sqlite:///{path}") as store, store.transaction() as tx:
        shop = await projects.get(tx, "shop")
        assert (shop.settings.staging, shop.settings.timezone) == (True, "UTC")
        assert [one.payload for one in await events.listed(tx, shop.id)] == [{"proposal": 3}]
        # Written before anybody could be told of it: it is sent to nobody.
        assert not await deliveries.any_due(tx, now=datetime.now(UTC))
