"""Claim jobs and do them, under a lease: what a killed process had begun is taken up by the next."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final

from gardener.actions import asking, controlling, running, sweeping
from gardener.errors import Conflict, GardenerError
from gardener.jobs import Job, JobKind, JobState
from gardener.store import jobs, projects, sweeps
from gardener.tools import Tools
from radar.errors import RadarError
from repair_ladder.errors import LadderError

ASKED_FOR: Final = (JobKind.RUN, JobKind.REPAIR, JobKind.PROVE, JobKind.APPROVE)
KINDS: Final = (JobKind.SWEEP, JobKind.SUITE, JobKind.HEAL, JobKind.CONTROL, *ASKED_FOR)
ENDED: Final = frozenset({JobState.DONE, JobState.SKIPPED, JobState.FAILED})
LOOK_AGAIN_S: Final = 0.2


async def work_until_done(tools: Tools, wanted: Collection[int]) -> tuple[Job, ...]:
    """Do jobs until all of `wanted` have ended, whoever did them; gives them as they ended, or as they wait for a time
    that has yet to come."""
    while True:
        await work_once(tools, wanted=wanted)
        async with tools.store.reading() as tx:
            now = [await jobs.get(tx, job) for job in wanted]
        if all(job.state in ENDED or job.waits_at(tools.now()) for job in now):
            return tuple(now)
        await asyncio.sleep(LOOK_AGAIN_S)


async def work_once(tools: Tools, *, wanted: Collection[int] | None = None) -> bool:
    """Claim one job and do it. False if there was none that may run now."""
    async with tools.store.transaction() as tx:
        await sweeps.abandon(tx, now=tools.now())
        job = await jobs.claim(tx, tools.worker, kinds=KINDS, now=tools.now(), lease=tools.settings.lease)
    if job is None:
        return False
    await tools.watch("job", {"job": job.id, "kind": job.kind.value, "again": job.tries > 1})
    with contextlib.suppress(Conflict):  # another worker took it up: its work counts, ours does not
        await _under_lease(tools, job, lambda: _do(tools, job))
    return True


async def _do(tools: Tools, job: Job) -> None:
    state, result = JobState.DONE, None
    try:
        match job.kind:
            case _ if await _is_off_the_clock(tools, job):
                state = JobState.SKIPPED
            case JobKind.SWEEP:
                result = await sweeping.sweep(tools, job)
            case JobKind.SUITE:
                result = await running.suite(tools, job)
            case JobKind.HEAL:
                healed = await running.heal(tools, job)
                if isinstance(healed, running.Waits):
                    async with tools.store.transaction() as tx:
                        said = healed.result.shape()
                        await jobs.put_back(tx, job.id, tools.worker, not_before=healed.until, result=said)
                    return
                state, result = (JobState.DONE, healed.shape()) if healed else (JobState.SKIPPED, None)
            case JobKind.RUN | JobKind.REPAIR | JobKind.PROVE | JobKind.APPROVE:
                result = await asking.do_asked(tools, job)
            case JobKind.CONTROL:
                result = await controlling.work(tools, job)
            case _:
                state = JobState.FAILED
    except Conflict as error:
        if job.kind not in ASKED_FOR:
            raise
        state, result = JobState.FAILED, {"error": str(error)}  # somebody else decided meanwhile: that is an answer
    except (GardenerError, LadderError, RadarError) as error:  # such as a browser that does not start
        state, result = JobState.FAILED, {"error": str(error)}
    async with tools.store.transaction() as tx:
        await jobs.finish(tx, job.id, tools.worker, state=state, result=result, now=tools.now())


async def _is_off_the_clock(tools: Tools, job: Job) -> bool:
    """The clock asked for it, and its project was archived since: asked where the work is claimed (G14)."""
    if not job.payload.get("scheduled"):
        return False
    async with tools.store.reading() as tx:
        return (await projects.by_id(tx, job.project)).settings.archived


async def _under_lease(tools: Tools, job: Job, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work while its lease is moved on; stop it when the lease is lost."""
    task = asyncio.ensure_future(work())
    beat = tools.settings.lease.total_seconds() / 3
    try:
        while True:
            done, _ = await asyncio.wait({task}, timeout=beat)
            if done:
                await task
                return
            async with tools.store.transaction() as tx:
                until = tools.now() + tools.settings.lease
                if not await jobs.heartbeat(tx, job.id, tools.worker, until=until):
                    raise Conflict(f"job {job.id} was taken over by another worker")
    finally:
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def results_of(done: Collection[Job]) -> list[dict[str, Any]]:
    """What jobs of kind HEAL came to; those that were skipped give nothing."""
    return [job.result for job in done if job.result is not None and "test" in job.result]
