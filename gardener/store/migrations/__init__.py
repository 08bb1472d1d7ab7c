"""The history of the tables, one file a change; `upgrade` brings a database from any of its states to the newest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory
    from sqlalchemy import Connection

# The newest change. Kept here so that opening a database that is up to date needs neither the files nor Alembic.
HEAD: Final = "0009"


def scripts() -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(Path(__file__).parent)


def upgrade(connection: Connection, to: str = "head") -> None:
    """All changes up to `to` that the database does not have yet, inside the transaction that is open."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext

    directory = scripts()
    config = Config()
    with EnvironmentContext(
        config, directory, fn=lambda revision, _: directory._upgrade_revs(to, revision)
    ) as environment:
        # SQLite changes tables inside a transaction as well as PostgreSQL does; Alembic only does not expect it.
        environment.configure(connection=connection, transactional_ddl=True)
        environment.run_migrations()
