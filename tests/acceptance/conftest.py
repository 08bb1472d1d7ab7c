"""The shop in two releases, and worlds around it on a fresh SQLite file each."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from gardener.store import open_store
from tests.acceptance.shop import OLD
from tests.fakes import World, a_world
from tests.gardener.conftest import databases, one_postgres, postgres_server, postgres_url

__all__ = ["databases", "one_postgres", "postgres_server", "postgres_url"]

MakeWorld: TypeAlias = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture(scope="session")
async def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("acceptance") / "empty.db"
    await (await open_store(f"sqlite:///{path}")).close()
    return path


@pytest.fixture
def database_url(empty_database: Path, tmp_path: Path) -> str:
    return f"sqlite:///{shutil.copy(empty_database, tmp_path / 'gardener.db')}"


@pytest.fixture
def make_world(database_url: str, tmp_path: Path) -> MakeWorld:
    return partial(a_world, database_url, tmp_path / "data")


@pytest.fixture
async def world(make_world: Any) -> AsyncIterator[World]:
    """A project that stages, before anything was imported."""
    async with make_world(OLD) as made:
        yield made


@pytest.fixture
async def applying(make_world: Any) -> AsyncIterator[World]:
    """A project whose switch is on."""
    async with make_world(OLD, auto_repair=True) as made:
        yield made
