"""Stores for tests: a fresh SQLite file each, and PostgreSQL a second time where one is reachable.

GARDENER_TEST_POSTGRES names the server (default: the one on this machine); a database is made on it for the session,
emptied between tests and dropped at the end.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from gardener.projects import Project
from gardener.proposals import Proposal
from gardener.saved_tests import SavedTest
from gardener.store import Store, Transaction, open_store, projects, proposals, saved_tests
from gardener.store.rows import Base
from radar.elements import Element, PageSnapshot
from radar.locators import Locator
from repair_ladder.formats import Secret, WrittenTest
from repair_ladder.steps import Step

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
STEPS = (
    Step("goto", None, {"url": "/"}),
    Step("fill", Locator(label="Email"), {"value": "${user}"}),
    Step("click", Locator(css="#pay")),
    Step("assert_text", Locator(role="status"), {"contains": "Thank you"}),
)
CHECKOUT = WrittenTest(
    "checkout", STEPS, tags=("smoke",), variables={"user": "ada@example.com", "password": Secret("SHOP_PASSWORD")}
)
SERVER = os.environ.get("GARDENER_TEST_POSTGRES", "postgresql://127.0.0.1:5432/postgres")


@pytest.fixture(scope="session")
async def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file made by the real migrations, once; tests copy it."""
    path = tmp_path_factory.mktemp("store") / "empty.db"
    await (await open_store(f"sqlite:///{path}")).close()
    return path


@pytest.fixture
def sqlite_url(empty_sqlite: Path, tmp_path: Path) -> str:
    return f"sqlite:///{shutil.copy(empty_sqlite, tmp_path / 'gardener.db')}"


@pytest.fixture(scope="session")
async def postgres_server() -> AsyncIterator[asyncpg.Connection]:
    try:
        server = await asyncpg.connect(SERVER, timeout=3)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        pytest.skip(f"no PostgreSQL is reachable (GARDENER_TEST_POSTGRES): {error}")
    yield server
    await server.close()


@dataclass
class Databases:
    """Makes databases that are dropped at the end, open connections or not."""

    server: asyncpg.Connection
    made: list[str]

    async def make(self) -> str:
        name = f"gardener_test_{secrets.token_hex(6)}"
        await self.server.execute(f'CREATE DATABASE "{name}"')
        self.made.append(name)
        address, _, _ = SERVER.partition("?")
        return f"{address.rpartition('/')[0]}/{name}"


@pytest.fixture(scope="session")
async def databases(postgres_server: asyncpg.Connection) -> AsyncIterator[Databases]:
    databases = Databases(postgres_server, [])
    yield databases
    for name in databases.made:
        await postgres_server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
async def one_postgres(databases: Databases) -> str:
    url = await databases.make()
    await (await open_store(url)).close()
    return url


@pytest.fixture
async def postgres_url(one_postgres: str) -> str:
    # TRUNCATE makes new files for every table and index, which takes a hundred times as long for a few rows.
    connection = await asyncpg.connect(one_postgres)
    await connection.execute(
        "; ".join(f'DELETE FROM "{table.name}"' for table in reversed(Base.metadata.sorted_tables))
    )
    await connection.close()
    return one_postgres


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest) -> Any:
    """The URL of a database with tables and without rows; a test that takes it runs on both kinds."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    async with await open_store(store_url) as opened:
        yield opened


@pytest.fixture
async def second_store(store_url: str) -> AsyncIterator[Store]:
    """The same database, opened as another process would."""
    async with await open_store(store_url) as opened:
        yield opened


def an_operation(css: str = "#pay-now", step: int = 3) -> dict[str, Any]:
    old, new = {"click": {"css": "#pay"}}, {"click": {"css": css}}
    return {"op": "replace", "step": step, "old": old, "new": new, "reason": "the button was renamed"}


def a_page(title: str = "Shop") -> PageSnapshot:
    return PageSnapshot("http://shop.test/", title=title, elements=(Element(0, -1, "html", {}),))


async def a_shop(tx: Transaction, name: str = "shop") -> Project:
    return await projects.add(tx, name, "http://shop.test", now=NOW)


async def a_checkout(tx: Transaction, shop: Project, name: str = "checkout") -> SavedTest:
    written = replace(CHECKOUT, name=name)
    return await saved_tests.import_test(tx, shop.id, written, folder=None, author="Ada", now=NOW)


async def a_proposal(tx: Transaction, test: SavedTest, **changed: Any) -> Proposal | None:
    given: dict[str, Any] = {
        "project": test.project,
        "test": test.id,
        "version": test.version,
        "proven": True,
        "strategy": "self_heal.local",
        "operations": [an_operation()],
        "refusals": [],
        "triggers": [{"page": "/", "kind": "attribute", "element": "button Pay", "step": 3}],
        "failed_step": "3",
        "error": "#pay finds nothing",
        "reason": "the same button has another id",
        "change_key": "release-2",
        "now": NOW,
    }
    return await proposals.stage(tx, **(given | changed))


@pytest.fixture
async def shop(store: Store) -> Project:
    async with store.transaction() as tx:
        return await a_shop(tx)


@pytest.fixture
async def checkout(store: Store, shop: Project) -> SavedTest:
    async with store.transaction() as tx:
        return await a_checkout(tx, shop)
