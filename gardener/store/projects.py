"""Projects: add, find, change."""

from __future__ import annotations

import difflib
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Row, select

from gardener.errors import NotFound, Refused
from gardener.projects import Project, ProjectSettings
from gardener.store import session_states
from gardener.store.rows import ProjectRow
from gardener.store.transaction import Transaction

LONGEST_NAME: Final = 200
_KNOWN: Final = frozenset(one.name for one in fields(ProjectSettings))


async def add(
    tx: Transaction,
    name: str,
    base_url: str,
    *,
    now: datetime,
    auto_repair: bool = False,
    settings: ProjectSettings | None = None,
) -> Project:
    """Raises Refused where the name is taken, or no name."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused(f"A project's name is one line of at most {LONGEST_NAME} characters.")
    statement = (
        tx.insert(ProjectRow)
        .values(
            name=name,
            base_url=base_url,
            auto_repair=auto_repair,
            created_at=now,
            **_settings_columns(settings or ProjectSettings()),
        )
        .on_conflict_do_nothing()
        .returning(*ProjectRow.__table__.c)
    )
    row = await tx.first(statement)
    if row is None:
        raise Refused(f"There is a project '{name}' already; `project set` changes it.")
    return _project(row)


async def get(tx: Transaction, name: str) -> Project:
    """Raises NotFound with the names that come near."""
    row = await tx.first(select(ProjectRow).where(ProjectRow.name == name))
    if row is None:
        names = [row.name for row in await tx.rows(select(ProjectRow.name).order_by(ProjectRow.name))]
        raise NotFound(f"There is no project '{name[:LONGEST_NAME]}'{near(name, names)}.")
    return _project(row)


async def by_id(tx: Transaction, project: int) -> Project:
    row = await tx.first(select(ProjectRow).where(ProjectRow.id == project))
    if row is None:
        raise NotFound(f"There is no project with the number {project}.")
    return _project(row)


async def listed(tx: Transaction) -> tuple[Project, ...]:
    return tuple(map(_project, await tx.rows(select(ProjectRow).order_by(ProjectRow.name))))


async def update(
    tx: Transaction,
    project: int,
    *,
    base_url: str | None = None,
    auto_repair: bool | None = None,
    settings: ProjectSettings | None = None,
) -> Project:
    """Changes what is given, and leaves the rest. Another base URL or sign-in test ends the sessions that are kept."""
    before = await by_id(tx, project)
    if base_url not in (None, before.base_url) or (settings and settings.sign_in != before.settings.sign_in):
        await session_states.drop(tx, project)
    changes: dict[str, Any] = _settings_columns(settings) if settings else {}
    if base_url is not None:
        changes["base_url"] = base_url
    if auto_repair is not None:
        changes["auto_repair"] = auto_repair
    if changes:
        await tx.change(sa.update(ProjectRow).where(ProjectRow.id == project).values(**changes))
    return await by_id(tx, project)


async def auto_repair_of(tx: Transaction, project: int) -> bool:
    """The switch as it stands this moment; asked where work is claimed and again before every test (G14, G16)."""
    switch = await tx.scalar(select(ProjectRow.auto_repair).where(ProjectRow.id == project))
    if switch is None:
        raise NotFound(f"There is no project with the number {project}.")
    return bool(switch)


def near(name: str, names: list[str]) -> str:
    """How a message about an unknown name ends: with those that come near, else with some that there are."""
    close = difflib.get_close_matches(name[:LONGEST_NAME], names, n=3, cutoff=0.5)
    if close:
        return "; near it: " + ", ".join(f"'{one}'" for one in close)
    return "; there are: " + ", ".join(f"'{one}'" for one in names[:5]) if names else "; there is none yet"


def _settings_columns(settings: ProjectSettings) -> dict[str, Any]:
    whole = asdict(settings)
    return {"side_by_side": whole.pop("side_by_side"), "settings": whole}


def _project(row: Row[Any]) -> Project:
    # A setting of an older or newer release is passed over.
    kept: dict[str, Any] = {
        key: tuple(one) if isinstance(one, list) else one for key, one in row.settings.items() if key in _KNOWN
    }
    settings = ProjectSettings(**kept, side_by_side=row.side_by_side)
    return Project(row.id, row.name, row.base_url, row.auto_repair, settings)
