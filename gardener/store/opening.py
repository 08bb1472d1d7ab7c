"""Open a database by its URL, and set it up or bring it up to date if it is not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from gardener.errors import BadSetting
from gardener.store.migrations import HEAD
from gardener.store.transaction import WRITES, Store, brief

BUSY_S: Final = 10  # how long SQLite waits for another process's write
SETTING_UP_BUSY_S: Final = 60  # the same while another process may be creating the tables
CONNECT_S: Final = 10
# One number for all of our processes: whoever holds this PostgreSQL lock sets the database up.
SETTING_UP_LOCK: Final = 7_120_366_001

FORMS: Final = "sqlite:///FILE or postgresql://USER@HOST/DATABASE"


async def open_store(url: str) -> Store:
    """The database at `url`, with its tables as this release wants them.

    Whichever process meets an empty or older database first sets it up; others wait for it. Raises BadSetting, without
    any password in its message, where the URL is none or nothing answers there.
    """
    where, engine, quiet_engine = _engines(url)
    try:
        await _ensure_current(engine, quiet_engine, where)
    except BaseException:
        await engine.dispose()
        raise
    return Store(engine, where)


async def _ensure_current(engine: AsyncEngine, quiet_engine: Callable[[], AsyncEngine], where: str) -> None:
    try:
        async with engine.connect() as connection:
            ready = await connection.run_sync(_is_ready)
        if not ready:
            setting_up = quiet_engine()
            try:
                await _set_up(setting_up)
            finally:
                await setting_up.dispose()
    except BadSetting as error:
        raise BadSetting(f"the database {where} {error}") from None
    except (SQLAlchemyError, OSError) as error:
        raise BadSetting(f"the database {where} cannot be opened: {brief(error)}") from error


def _is_ready(connection: Connection) -> bool:
    if connection.dialect.name == "sqlite" and connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
        return False
    return _version(connection) == HEAD


def _version(connection: Connection) -> str | None:
    """The change that the database is at; None if it is empty."""
    if connection.dialect.name == "sqlite":
        known = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
    else:
        known = "SELECT 1 WHERE to_regclass('alembic_version') IS NOT NULL"
    if connection.exec_driver_sql(known).first() is None:
        return None
    version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if version is None else str(version)


async def _set_up(engine: AsyncEngine) -> None:
    if engine.dialect.name == "sqlite":
        await _write_ahead(engine)
    async with engine.connect() as connection:
        await connection.execution_options(**{WRITES: True})
        async with connection.begin():
            await connection.run_sync(_upgrade)


async def _write_ahead(engine: AsyncEngine) -> None:
    """Readers and a writer side by side. SQLite does not wait for others here by itself, so we do."""
    tries = SETTING_UP_BUSY_S * 20
    for left in range(tries, -1, -1):
        try:
            async with engine.connect():
                return  # the engine's connections ask for the mode, see `_sqlite`
        except DBAPIError as error:
            if "locked" not in str(error.orig) or not left:
                raise
        await asyncio.sleep(0.05)


def _upgrade(connection: Connection) -> None:
    """Everything in one transaction, held by one process at a time: a kill leaves the database as it was."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": SETTING_UP_LOCK})
    found = _version(connection)
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise BadSetting(f"was written by a newer release (its tables are at {found}, this one knows {HEAD})")
    from gardener.store.migrations import upgrade

    upgrade(connection)


# --- engines -------------------------------------------------------------------------------------------


def _engines(url: str) -> tuple[str, AsyncEngine, Callable[[], AsyncEngine]]:
    """What to call the database, its engine, and how to make another one for setting it up."""
    scheme, colon, rest = url.strip().partition("://")
    match scheme if colon else "":
        case "sqlite" | "sqlite+aiosqlite":
            path = _file(rest)
            return f"'{path}'", _sqlite(path, BUSY_S), partial(_sqlite, path, SETTING_UP_BUSY_S, setting_up=True)
        case "postgresql" | "postgres" | "postgresql+asyncpg":
            dsn = f"postgresql://{rest}"
            return f"'{_without_password(dsn)}'", _postgresql(dsn), partial(_postgresql, dsn)
        case _:
            raise BadSetting(f"the database is {FORMS}, got '{_without_password(url)}'")


def _without_password(url: str) -> str:
    """An address for people. Cuts up to the last @, since a password may hold anything, and what follows a ?."""
    return re.sub(r"//.*@", "//", url.partition("?")[0], flags=re.DOTALL)[:200]


def _file(rest: str) -> Path:
    """The path as it stands: nothing in it is decoded, so that any path can be put behind sqlite:///."""
    if "?" in rest:
        raise BadSetting("a SQLite database takes no parameters after '?': it is sqlite:///FILE")
    if not rest.startswith("/") or rest in ("/", "/:memory:") or "\x00" in rest:
        raise BadSetting("a SQLite database is a file: sqlite:///FILE, with four slashes where the path is absolute")
    path = Path(rest[1:]).expanduser()
    if path.is_dir():
        raise BadSetting(f"the database '{path}' is a folder; name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadSetting(f"the folder of the database '{path}' cannot be made: {error.strerror}") from error
    return path


def _sqlite(path: Path, busy_s: int, *, setting_up: bool = False) -> AsyncEngine:
    pool: dict[str, Any] = {"poolclass": NullPool} if setting_up else {"pool_size": 5, "max_overflow": 20}
    url = URL.create("sqlite+aiosqlite", database=str(path))
    engine = create_async_engine(url, connect_args={"timeout": busy_s}, **pool)

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself; `begin` below does
        cursor = connection.cursor()
        # FULL, though a killed process loses nothing with NORMAL either: what a person approved and was told of
        # survives a power cut as well, and a commit costs a millisecond or two.
        cursor.execute("PRAGMA synchronous = FULL")
        # Not while tables are rebuilt: dropping one would empty those that refer to it.
        cursor.execute(f"PRAGMA foreign_keys = {'OFF' if setting_up else 'ON'}")
        if setting_up:
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(dsn: str) -> AsyncEngine:
    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=partial(_connect, dsn),
        pool_pre_ping=True,
        pool_size=5,
        max_overflow=20,
    )


async def _connect(dsn: str) -> Any:
    """The driver reads the address itself, so that what users of libpq know (sslmode, PGPASSWORD, sockets) holds."""
    import asyncpg  # type: ignore[import-untyped]

    settings = {"application_name": "gardener"}
    try:
        return await asyncpg.connect(dsn, timeout=CONNECT_S, server_settings=settings)
    except ValueError as error:
        # What the driver says of an address it cannot read may repeat a part of it, password included.
        raise ConnectionError(f"the address is not understood; it is {FORMS}") from error
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise ConnectionError(str(error)) from error
    except TimeoutError as error:
        raise ConnectionError(f"no answer within {CONNECT_S} seconds") from error
