"""The digest of a project: counted, and sent as an event like any other."""

from __future__ import annotations

from datetime import datetime, timedelta

from gardener.digests import Digest
from gardener.notices import Event, EventKind
from gardener.projects import Project
from gardener.store import Transaction, digests, events
from gardener.tools import Tools


async def digest_of_today(tx: Transaction, project: Project, *, now: datetime) -> Digest:
    """Of the last 24 hours."""
    return await digests.count(tx, project.id, since=now - timedelta(days=1), until=now)


async def send_digest(tools: Tools, project: Project) -> tuple[Digest, Event]:
    """A person asks for it: also where nothing happened."""
    async with tools.store.transaction() as tx:
        now = tools.now()
        digest = await digest_of_today(tx, project, now=now)
        return digest, await _emit(tx, project, digest, now=now)


async def add_digest(
    tx: Transaction, project: Project, *, since: datetime, until: datetime, now: datetime
) -> Event | None:
    """The daily one; None where nothing happened."""
    digest = await digests.count(tx, project.id, since=since, until=until)
    return None if digest.is_empty else await _emit(tx, project, digest, now=now)


async def _emit(tx: Transaction, project: Project, digest: Digest, *, now: datetime) -> Event:
    payload = digest.shape() | {"lines": list(digest.lines())}
    return await events.emit(tx, project.id, EventKind.DIGEST, digest.subject, payload, now=now)
