"""Send what is due to its targets: claim, send, say how it went. One target never waits for another."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, assert_never

from gardener import notify
from gardener.actions.timing import raise_alarms
from gardener.errors import GardenerError
from gardener.notices import KEPT, USUAL, Delivery, Notice, Target, harmless, notice_of, read_kinds
from gardener.projects import Project
from gardener.sealing import sealer_of
from gardener.store import audit, deliveries, projects, targets
from gardener.tools import Tools

log = logging.getLogger(__name__)
PATIENCE: Final = timedelta(seconds=20)  # with one message
POLL_S: Final = 1.0
GRACE_S: Final = 3.0  # when it is stopped: for what is just being sent
ALARM_EVERY: Final = timedelta(minutes=1)
PRUNE_EVERY: Final = timedelta(hours=1)


async def deliver_forever(tools: Tools, *, patience: timedelta = PATIENCE, poll_s: float = POLL_S) -> None:
    """Until it is cancelled. Any number of processes may do so on one database.

    Beside that it forgets old events, and raises the alarm when no scheduler runs any more.
    """
    post = _Post(tools, patience)
    chores = _Chores(tools)
    try:
        while True:
            try:
                await chores.do()
                await post.send_due()
            except Exception:  # the outermost loop: a database that is busy or away must not end it
                log.exception("News could not be delivered; it is tried again in a moment.")
            await post.wait(poll_s)
    finally:
        await post.stop()


async def deliver_due(tools: Tools, *, patience: timedelta = PATIENCE) -> tuple[int, int]:
    """What is due now, once: how many arrived and how many did not."""
    post = _Post(tools, patience)
    try:
        while await post.send_due() or post.flying:
            await post.wait(POLL_S)
    finally:
        await post.stop()
    return post.arrived, post.failed


class _Post:
    """Messages under way, at most one a target."""

    def __init__(self, tools: Tools, patience: timedelta) -> None:
        self.tools, self.patience = tools, patience
        self.flying: dict[asyncio.Task[None], Delivery] = {}
        self.arrived = self.failed = 0
        self._names: dict[int, str] = {}
        self._beat_at: datetime | None = None

    async def send_due(self) -> bool:
        """Claim and begin; was there anything?"""
        now = self.tools.now()
        await self._beat(now)
        async with self.tools.store.reading() as tx:
            if not await deliveries.any_due(tx, now=now):
                return False
            self._names = {one.id: one.name for one in await projects.listed(tx)}
        busy = [one.target.id for one in self.flying.values()]
        async with self.tools.store.transaction() as tx:
            claimed = await deliveries.claim(tx, self.tools.worker, now=now, lease=self.tools.settings.lease, busy=busy)
        for one in claimed:
            self.flying[asyncio.ensure_future(self._deliver(one))] = one
        return bool(claimed)

    async def wait(self, longest_s: float) -> None:
        """Until one has ended, or for a moment."""
        if not self.flying:
            await asyncio.sleep(longest_s)
            return
        longest_s = min(longest_s, self.tools.settings.lease.total_seconds() / 3)
        done, _ = await asyncio.wait(self.flying, timeout=longest_s, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            del self.flying[task]
            if error := task.exception():
                log.error("A delivery could not be marked; its lease brings it back.", exc_info=error)

    async def _beat(self, now: datetime) -> None:
        lease = self.tools.settings.lease
        if not self.flying or (self._beat_at and now < self._beat_at + lease / 3):
            return
        self._beat_at = now
        async with self.tools.store.transaction() as tx:
            some = [one.id for one in self.flying.values()]
            await deliveries.beat(tx, self.tools.worker, some, until=now + lease)

    async def _deliver(self, one: Delivery) -> None:
        try:
            url = sealer_of(self.tools.settings).unseal(one.target.sealed)
        except GardenerError as error:
            outcome: notify.Outcome = notify.Failed(str(error))
        else:
            name = self._names.get(one.event.project, "a project")
            notice = notice_of(one.event, name, self.tools.settings.public_url)
            outcome = await notify.send(url, notice, key=one.target.id, patience=self.patience)
        async with self.tools.store.transaction() as tx:
            now = self.tools.now()
            match outcome:
                case notify.Sent():
                    await deliveries.delivered(tx, one.id, now=now)
                    self.arrived += 1
                case notify.Failed(why=why) | notify.Unsure(why=why):
                    is_unsure = isinstance(outcome, notify.Unsure)
                    again = await deliveries.failed(tx, one, self.tools.worker, error=why, unsure=is_unsure, now=now)
                    self.failed += 1
                case _:
                    assert_never(outcome)
        if not isinstance(outcome, notify.Sent):
            details = {"delivery": one.id, "target": one.target.id, "why": outcome.why, "again": str(again)}
            log.warning("News did not reach a target.", extra=details)

    async def stop(self) -> None:
        """Wait a little for what is just being sent; of what then has no answer nobody knows whether it arrived."""
        if not self.flying:
            return
        await asyncio.wait(self.flying, timeout=min(GRACE_S, self.patience.total_seconds()))
        cut_off = {task: one for task, one in self.flying.items() if not task.done()}
        for task in self.flying:
            task.cancel()
        await asyncio.gather(*self.flying, return_exceptions=True)
        self.flying = {}
        if cut_off:
            with suppress(GardenerError):
                async with self.tools.store.transaction() as tx:
                    some = [one.id for one in cut_off.values()]
                    await deliveries.beat(tx, self.tools.worker, some, until=self.tools.now())


class _Chores:
    """What is done now and then by whoever delivers."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self._alarm_at = self._prune_at = tools.now() + ALARM_EVERY

    async def do(self) -> None:
        now = self.tools.now()
        if not self._alarm_at - ALARM_EVERY <= now < self._alarm_at:  # also where the clock was set back
            self._alarm_at = now + ALARM_EVERY
            await raise_alarms(self.tools)
        if not self._prune_at - PRUNE_EVERY <= now < self._prune_at:
            async with self.tools.store.transaction() as tx:
                pruned = await deliveries.prune(tx, before=now - KEPT)
            # A long backlog goes in pieces: each is one short transaction.
            self._prune_at = now if pruned else now + PRUNE_EVERY


# --- targets -----------------------------------------------------------------------------------------------


async def add_target(tools: Tools, project: Project, url: str, kinds: str | None, by: str) -> Target:
    """`kinds`: as a person types them, None for the usual ones. Raises BadSetting without the URL in it."""
    wanted = read_kinds(kinds) if kinds is not None else USUAL
    place = await asyncio.to_thread(notify.read_url, url)
    sealed = sealer_of(tools.settings).seal(url.strip())
    async with tools.store.transaction() as tx:
        now = tools.now()
        target = await targets.add(tx, project.id, sealed=sealed, shown=place.shown, kinds=wanted, by=by, now=now)
        details = {"target": target.id, "kinds": [kind.value for kind in wanted]}
        await audit.write(
            tx, project=project.id, who=by, what="add target", subject=place.shown, details=details, now=now
        )
    return target


async def remove_target(tools: Tools, number: int, by: str) -> Target:
    """With everything that was still to be sent to it."""
    async with tools.store.transaction() as tx:
        target = await targets.get(tx, number)
        await targets.remove(tx, number)
        await audit.write(
            tx,
            project=target.project,
            who=by,
            what="remove target",
            subject=target.shown,
            details={"target": number},
            now=tools.now(),
        )
    return target


async def send_test(tools: Tools, number: int, *, patience: timedelta = PATIENCE) -> notify.Outcome:
    """A message at once, beside the outbox: does this target work?"""
    async with tools.store.reading() as tx:
        target = await targets.get(tx, number)
        project = await projects.by_id(tx, target.project)
    url = sealer_of(tools.settings).unseal(target.sealed)
    kinds = ", ".join(kind.value for kind in target.kinds)
    notice = Notice(
        f"{harmless(project.name, 60)}: a test of this target",
        ("Drift Gardener can reach you here.", f"It will tell of: {kinds}."),
    )
    return await notify.send(url, notice, key=number, patience=patience)
