"""Covers gardener/store/jobs.py: asked for once, claimed by one, taken up again when a worker dies."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from gardener.errors import Conflict
from gardener.jobs import Job, JobKind, JobState
from gardener.projects import Project, ProjectSettings
from gardener.store import Store, Transaction, jobs, projects, sweeps
from gardener.store.jobs import MOST_TRIES
from gardener.sweeps import SweepStatus
from tests.gardener.conftest import NOW, a_shop

LEASE = timedelta(minutes=2)
OVER = NOW + LEASE


async def _add(tx: Transaction, shop: Project, key: str = "1", kind: JobKind = JobKind.HEAL) -> Job:
    return await jobs.add(tx, project=shop.id, kind=kind, key=key, payload={"run": key}, now=NOW)


async def _claim(store: Store, worker: str = "w1", now: datetime = NOW) -> Job | None:
    async with store.transaction() as tx:
        return await jobs.claim(tx, worker, kinds=tuple(JobKind), now=now, lease=LEASE)


async def _finish(store: Store, job: Job, worker: str = "w1") -> Job:
    async with store.transaction() as tx:
        return await jobs.finish(tx, job.id, worker, state=JobState.DONE, result={"ok": True}, now=NOW)


async def _side_by_side(store: Store, shop: Project, number: int) -> None:
    async with store.transaction() as tx:
        await projects.update(tx, shop.id, settings=ProjectSettings(side_by_side=number))


async def test_work_that_waits_or_runs_is_not_asked_for_twice(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        first = await _add(tx, shop)
        assert await _add(tx, shop) == first
        assert (await _add(tx, shop, kind=JobKind.STAGE)).id != first.id
    claimed = await _claim(store)
    assert claimed is not None
    async with store.transaction() as tx:
        assert await _add(tx, shop) == claimed

    await _finish(store, claimed)

    async with store.transaction() as tx:
        assert (await _add(tx, shop)).id > claimed.id


async def test_c14_a_claimed_job_is_leased_and_finished_by_its_worker(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        queued = await _add(tx, shop)

    claimed = await _claim(store)

    assert claimed is not None
    assert (claimed.id, claimed.state, claimed.worker) == (queued.id, JobState.RUNNING, "w1")
    assert (claimed.tries, claimed.lease_until, claimed.payload) == (1, NOW + LEASE, {"run": "1"})
    with pytest.raises(Conflict, match="not w2's any more"):
        await _finish(store, claimed, "w2")
    done = await _finish(store, claimed)
    assert (done.state, done.result) == (JobState.DONE, {"ok": True})
    with pytest.raises(Conflict):
        await _finish(store, claimed)


async def test_workers_at_once_never_get_the_same_job(store: Store, second_store: Store, shop: Project) -> None:
    await _side_by_side(store, shop, 16)
    async with store.transaction() as tx:
        wanted = {(await _add(tx, shop, str(number))).id for number in range(12)}

    async def work(through: Store, worker: str) -> list[int]:
        got = []
        while job := await _claim(through, worker):
            got.append(job.id)
        return got

    got = await asyncio.gather(
        *(work(one, f"{name}{n}") for one, name in ((store, "a"), (second_store, "b")) for n in (1, 2))
    )

    taken = [job for one in got for job in one]
    assert sorted(taken) == sorted(wanted)


async def test_a_project_runs_no_more_jobs_at_once_than_it_says(
    store: Store, second_store: Store, shop: Project
) -> None:
    await _side_by_side(store, shop, 2)
    async with store.transaction() as tx:
        other = await a_shop(tx, "other shop")
        for number in range(6):
            await _add(tx, shop, str(number))
        elsewhere = await _add(tx, other)

    claimed = await asyncio.gather(*(_claim(one, f"w{n}") for n in range(3) for one in (store, second_store)))

    running = [job for job in claimed if job]
    assert len([job for job in running if job.project == shop.id]) == 2
    assert [job.id for job in running if job.project == other.id] == [elsewhere.id]

    await _finish(store, running[0], running[0].worker or "")
    following = await _claim(store)
    assert following is not None


async def test_only_kinds_that_are_asked_for_are_claimed(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await _add(tx, shop)
        assert await jobs.claim(tx, "w1", kinds=[JobKind.SWEEP], now=NOW, lease=LEASE) is None


async def test_the_job_of_a_dead_worker_is_claimed_again(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await _add(tx, shop)
    first = await _claim(store, "dead")
    assert first is not None
    assert await _claim(store, "w2", OVER - timedelta(seconds=1)) is None

    second = await _claim(store, "w2", OVER)

    assert second is not None
    assert (second.id, second.worker, second.tries) == (first.id, "w2", 2)
    async with store.transaction() as tx:
        assert await jobs.heartbeat(tx, first.id, "dead", until=OVER + LEASE) is False
        assert await jobs.heartbeat(tx, first.id, "w2", until=OVER + LEASE * 2) is True
    with pytest.raises(Conflict):
        await _finish(store, first, "dead")


async def test_a_worker_that_moves_its_lease_on_keeps_the_job(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await _add(tx, shop)
    job = await _claim(store)
    assert job is not None

    async with store.transaction() as tx:
        assert await jobs.heartbeat(tx, job.id, "w1", until=OVER + LEASE)

    assert await _claim(store, "w2", OVER + timedelta(seconds=1)) is None


async def test_work_that_kills_every_worker_is_given_up(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        job = await _add(tx, shop)
    for number in range(MOST_TRIES):
        assert await _claim(store, f"w{number}", NOW + LEASE * number) is not None

    assert await _claim(store, "w9", NOW + LEASE * MOST_TRIES) is None

    async with store.reading() as tx:
        failed = await jobs.get(tx, job.id)
    assert (failed.state, failed.tries) == (JobState.FAILED, MOST_TRIES)
    assert "given up" in str(failed.result)


async def test_what_is_put_back_waits_and_the_try_does_not_count(store: Store, shop: Project) -> None:
    later = NOW + timedelta(minutes=10)
    async with store.transaction() as tx:
        await _add(tx, shop)
    job = await _claim(store)
    assert job is not None

    async with store.transaction() as tx:
        waiting = await jobs.put_back(tx, job.id, "w1", not_before=later)

    assert (waiting.state, waiting.tries, waiting.worker) == (JobState.QUEUED, 0, None)
    assert await _claim(store, "w2", later - timedelta(seconds=1)) is None
    assert await _claim(store, "w2", later) is not None


async def test_jobs_are_listed_newest_first_by_state(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        first, second = await _add(tx, shop, "1"), await _add(tx, shop, "2")
    claimed = await _claim(store)

    async with store.reading() as tx:
        assert [one.id for one in await jobs.listed(tx, shop.id)] == [second.id, first.id]
        assert await jobs.listed(tx, shop.id, states=[JobState.RUNNING]) == (claimed,)


async def test_a_sweep_is_abandoned_when_its_worker_is_dead(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await _add(tx, shop, kind=JobKind.SWEEP)
    job = await _claim(store)
    assert job is not None
    async with store.transaction() as tx:
        leased = await sweeps.start(tx, shop.id, base_url="http://shop.test", preview=False, now=NOW, job=job.id)
        by_hand = await sweeps.start(tx, shop.id, base_url="http://shop.test", preview=False, now=NOW)

        assert await sweeps.abandon(tx, now=NOW + timedelta(minutes=1)) == ()
        assert await sweeps.abandon(tx, now=OVER) == (leased.id,)
        assert await sweeps.abandon(tx, now=NOW + timedelta(hours=5)) == (by_hand.id,)
        assert (await sweeps.get(tx, leased.id)).status == SweepStatus.FAILED
        with pytest.raises(Conflict, match="it is failed"):
            await sweeps.finish(tx, leased.id, status=SweepStatus.FINISHED, now=OVER)
