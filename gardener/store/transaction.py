"""Transactions: everything between a beginning and an end happens, or nothing of it does.

A transaction is short: no browser, no model and no other await stands inside it, since on SQLite everybody else's
writes wait for it. Read, end it, work, and write in a second one that names the state it expects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from sqlalchemy import CursorResult, Executable, Row
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.sql.dml import UpdateBase

from gardener.errors import Conflict, GardenerError

# How long a write waits for the writes before it. Each takes milliseconds; whoever waits this long waits for itself,
# or for a process that is stopped in the middle of one.
PATIENCE_S: Final = 30
WRITES: Final = "gardener_writes"  # the mark on a connection that makes SQLite begin with the write lock

# What PostgreSQL calls two transactions that cannot both go on.
_COLLIDED: Final = frozenset({"40001", "40P01", "55P03"})


@dataclass(frozen=True, slots=True)
class Transaction:
    """What the store's functions work in; to everybody else it is only something to hand on."""

    connection: AsyncConnection
    writes: bool

    @property
    def is_sqlite(self) -> bool:
        return self.connection.dialect.name == "sqlite"

    async def run(self, statement: Executable, parameters: Sequence[dict[str, Any]] | None = None) -> CursorResult[Any]:
        if not self.writes and isinstance(statement, UpdateBase):
            raise RuntimeError("a write inside Store.reading(); it belongs into Store.transaction()")
        with translated():
            return await self.connection.execute(statement, parameters)

    async def rows(self, statement: Executable) -> Sequence[Row[Any]]:
        return (await self.run(statement)).all()

    async def first(self, statement: Executable) -> Row[Any] | None:
        return (await self.run(statement)).first()

    async def one(self, statement: Executable) -> Row[Any]:
        """For statements that always give a row, such as an INSERT … RETURNING."""
        result = await self.run(statement)
        with translated():
            return result.one()

    async def scalar(self, statement: Executable) -> Any:
        return (await self.run(statement)).scalar()

    async def change(self, statement: Executable) -> int:
        """The number of rows that the statement matched."""
        return (await self.run(statement)).rowcount

    def insert(self, row: type[Any]) -> sqlite.Insert | postgresql.Insert:
        """An INSERT that knows ON CONFLICT."""
        return sqlite.insert(row) if self.is_sqlite else postgresql.insert(row)


class Store:
    """A database, open. Belongs to the event loop it was opened in; `close` it, or use it in `async with`."""

    def __init__(self, engine: AsyncEngine, where: str) -> None:
        self._engine = engine
        self.where = where  # for people: the file or the address, without a password
        # SQLite writers of one process stand in line here, in order; its own waiting is a lottery of short sleeps.
        self._line = asyncio.Lock() if engine.dialect.name == "sqlite" else None
        self._writing: set[asyncio.Task[Any] | None] = set()

    async def close(self) -> None:
        await self._engine.dispose()

    async def __aenter__(self) -> Store:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Commits at the end, takes everything back on any error. Not to be nested, and nothing slow inside.

        On SQLite it begins with the write lock: a transaction that read first and then wants to write could not get
        it any more once somebody else has written, and would fail with "database is locked".
        """
        task = asyncio.current_task()
        if task in self._writing:
            raise RuntimeError("a transaction inside a transaction: it would wait for itself")
        self._writing.add(task)
        try:
            async with self._turn(), self._begun(writes=True) as transaction:
                yield transaction
        finally:
            self._writing.discard(task)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        """One state of the database, whatever others write meanwhile; it waits for nobody and nobody for it."""
        async with self._begun(writes=False) as transaction:
            yield transaction

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._line is None:
            yield
            return
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._line.acquire()
        except TimeoutError:
            _fail(f"The database waited {PATIENCE_S} seconds for another transaction of this process.", permanent=False)
        try:
            yield
        finally:
            self._line.release()

    @asynccontextmanager
    async def _begun(self, *, writes: bool) -> AsyncIterator[Transaction]:
        with translated(connecting=True):
            connection = await self._connected(writes=writes)
        try:
            yield Transaction(connection, writes)
            with translated():
                await connection.commit()
        finally:
            # Also takes back what was not committed. Shielded: a cancelled task still gives its connection back.
            with translated():
                await asyncio.shield(connection.close())

    async def _connected(self, *, writes: bool) -> AsyncConnection:
        connection = await self._engine.connect()
        try:
            if writes:
                await connection.execution_options(**{WRITES: True})
            elif self._line is None:
                await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            await connection.begin()
        except BaseException:
            await asyncio.shield(connection.close())
            raise
        return connection


@contextmanager
def translated(*, connecting: bool = False) -> Iterator[None]:
    """Turn the library's errors into ours. A collision is worth another try, a broken rule is a Conflict."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(
            f"Somebody was faster: the database holds a row that excludes this one ({brief(error)})."
        ) from error
    except PoolTimeout as error:
        _fail("The database has no connection left; too many wait at once.", permanent=False, cause=error)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in _COLLIDED:
            _fail("Somebody else was writing the same rows; try again.", permanent=False, cause=error, kind=Conflict)
        busy = "locked" in str(error.orig) or error.connection_invalidated
        _fail(f"The database says: {brief(error)}.", permanent=not busy, cause=error)
    except StatementError as error:
        # A value that no database could hold, such as a time without a zone: a mistake in what was handed in.
        if isinstance(error.orig, TypeError | ValueError):
            raise error.orig from None
        _fail(f"The database cannot be used: {brief(error)}.", cause=error)
    except SQLAlchemyError as error:
        _fail(f"The database cannot be used: {brief(error)}.", cause=error)
    except (OSError, TimeoutError) as error:
        if not connecting:
            raise
        _fail(f"The database does not answer: {brief(error)}.", permanent=False, cause=error)


def brief(error: BaseException) -> str:
    """The first line of what the driver said, without statement and parameters: those may hold anything."""
    said = str(getattr(error, "orig", None) or error)
    # asyncpg's own class stands before its message.
    said = said.partition("\n")[0].rpartition(">: ")[2]
    return said[:300].rstrip(". ") or type(error).__name__


def _fail(
    message: str,
    *,
    permanent: bool = True,
    cause: BaseException | None = None,
    kind: type[GardenerError] = GardenerError,
) -> NoReturn:
    error = kind(message)
    error.permanent = permanent
    raise error from cause
