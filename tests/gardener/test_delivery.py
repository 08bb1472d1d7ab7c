"""Covers actions/deliver.py and store/deliveries.py: each event to each target that wants it, whatever breaks.

The targets are servers on this machine, spoken to by the real library.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from sqlalchemy import select
from sqlalchemy.dialects import sqlite
from werkzeug import Request, Response

from gardener.actions import deliver, timing
from gardener.errors import BadSetting, NotFound
from gardener.notices import KEPT, MOST_TRIES, USUAL, Delivery, DeliveryState, Event, EventKind, Target
from gardener.projects import Project, ProjectSettings
from gardener.sealing import KEY_FILE
from gardener.settings import Settings
from gardener.store import Store, audit, deliveries, events, open_store, projects, targets
from gardener.store.rows import DeliveryRow
from gardener.tools import Tools
from tests.fakes import Clock

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LEASE = timedelta(seconds=30)
PATIENCE = timedelta(seconds=10)


async def never(*_: Any, **__: Any) -> Any:
    raise AssertionError("not wanted here")


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


def some_tools(store: Store, clock: Callable[[], datetime], folder: Path, worker: str) -> Tools:
    return Tools(
        settings=Settings("unused", folder, lease=LEASE),
        store=store,
        replay=never,
        sign_in=never,
        look=never,
        ask=lambda project: None,
        now=clock,
        worker=worker,
    )


@pytest.fixture
def tools(store: Store, clock: Clock, tmp_path: Path) -> Tools:
    return some_tools(store, clock, tmp_path, "first")


@pytest.fixture
def others(second_store: Store, clock: Clock, tmp_path: Path) -> Tools:
    """The same database in another process."""
    return some_tools(second_store, clock, tmp_path, "second")


@pytest.fixture
async def project(tools: Tools) -> Project:
    async with tools.store.transaction() as tx:
        return await projects.add(tx, "shop", "http://shop.test", now=tools.now())


@pytest.fixture
def silent() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"json://127.0.0.1:{server.getsockname()[1]}/"


async def a_target(tools: Tools, project: Project, url: str, kinds: str | None = "all") -> Target:
    return await deliver.add_target(tools, project, url, kinds, "Ada")


async def an_event(
    tools: Tools, project: Project, subject: str = "it happened", kind: EventKind = EventKind.STAGED
) -> Event:
    async with tools.store.transaction() as tx:
        return await events.emit(tx, project.id, kind, subject, {}, now=tools.now())


async def waiting(tools: Tools, state: DeliveryState = DeliveryState.WAITING) -> tuple[Delivery, ...]:
    async with tools.store.reading() as tx:
        (one,) = await projects.listed(tx)
        return await deliveries.listed(tx, one.id, state=state)


def url_of(server: HTTPServer, path: str = "a") -> str:
    return f"json://127.0.0.1:{server.port}/{path}"


def titles(server: HTTPServer, path: str = "/a") -> list[str]:
    return [str(request.json["title"]) for request, _ in server.log if request.json and request.path == path]


@asynccontextmanager
async def delivering(tools: Tools, patience: timedelta = PATIENCE) -> AsyncIterator[None]:
    task = asyncio.ensure_future(deliver.deliver_forever(tools, patience=patience, poll_s=0.01))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.01)


# --- who gets what ---------------------------------------------------------------------------------------


async def test_every_event_reaches_every_target_that_wants_it_once(
    tools: Tools, project: Project, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/a").respond_with_data("")
    httpserver.expect_request("/b").respond_with_data("")
    await a_target(tools, project, url_of(httpserver, "a"))
    await a_target(tools, project, url_of(httpserver, "b"), "applied")
    for number, kind in enumerate((EventKind.STAGED, EventKind.APPLIED, EventKind.REVIEWED)):
        await an_event(tools, project, f"event {number}", kind)

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (4, 0)

    assert titles(httpserver, "/a") == ["shop: event 0", "shop: event 1", "shop: event 2"]
    assert titles(httpserver, "/b") == ["shop: event 1"]
    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 0)


async def test_what_happened_before_a_target_was_added_is_not_sent_to_it(
    tools: Tools, project: Project, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/a").respond_with_data("")
    await an_event(tools, project, "before")
    await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project, "after")

    await deliver.deliver_due(tools, patience=PATIENCE)

    assert titles(httpserver) == ["shop: after"]


async def test_an_event_that_was_taken_back_is_not_sent(tools: Tools, project: Project, httpserver: HTTPServer) -> None:
    await a_target(tools, project, url_of(httpserver))

    async def is_taken_back() -> None:
        async with tools.store.transaction() as tx:
            await events.emit(tx, project.id, EventKind.APPLIED, "never happened", {}, now=tools.now())
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        await is_taken_back()

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 0)


async def test_other_projects_are_none_of_its_business(tools: Tools, project: Project, httpserver: HTTPServer) -> None:
    await a_target(tools, project, url_of(httpserver))
    async with tools.store.transaction() as tx:
        bakery = await projects.add(tx, "bakery", "http://bakery.test", now=tools.now())

    await an_event(tools, bakery)

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 0)


async def test_a_removed_target_gets_nothing_more(tools: Tools, project: Project, httpserver: HTTPServer) -> None:
    target = await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project)

    await deliver.remove_target(tools, target.id, "Ben")

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 0)
    async with tools.store.reading() as tx:
        assert await targets.listed(tx, project.id) == ()
        assert [one.what for one in await audit.listed(tx, project=project.id)] == ["remove target", "add target"]
    with pytest.raises(NotFound):
        await deliver.remove_target(tools, target.id, "Ben")


# --- what breaks -----------------------------------------------------------------------------------------


async def test_a_server_in_trouble_is_tried_again_later_and_longer(
    tools: Tools, project: Project, httpserver: HTTPServer, clock: Clock
) -> None:
    httpserver.expect_ordered_request("/a").respond_with_data("", status=500)
    httpserver.expect_ordered_request("/a").respond_with_data("", status=503)
    httpserver.expect_ordered_request("/a").respond_with_data("")
    await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project)

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 1)
    (one,) = await waiting(tools)
    assert (one.tries, one.error, one.unsure) == (1, "it answered with 500", 0)
    clock.pass_(seconds=25)
    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 0)
    clock.pass_(seconds=10)
    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 1)
    clock.pass_(seconds=60)
    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 0)
    clock.pass_(seconds=70)
    assert await deliver.deliver_due(tools, patience=PATIENCE) == (1, 0)
    assert await waiting(tools) == ()


async def test_what_cannot_be_delivered_is_given_up_and_can_be_asked_for_again(
    tools: Tools, project: Project, httpserver: HTTPServer, clock: Clock
) -> None:
    httpserver.expect_request("/a").respond_with_data("", status=500)
    await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project)
    for _ in range(MOST_TRIES + 2):
        await deliver.deliver_due(tools, patience=PATIENCE)
        clock.pass_(hours=7)

    assert len(httpserver.log) == MOST_TRIES
    (letter,) = await waiting(tools, DeliveryState.DEAD)
    assert (letter.tries, letter.error) == (MOST_TRIES, "it answered with 500")
    httpserver.clear()
    httpserver.expect_request("/a").respond_with_data("")
    async with tools.store.transaction() as tx:
        assert await deliveries.count_dead(tx, project.id) == 1
        with pytest.raises(NotFound, match="no dead letter 99"):
            await deliveries.retry(tx, project.id, 99, now=tools.now())
        assert await deliveries.retry(tx, project.id, letter.id, now=tools.now()) == 1
    assert await deliver.deliver_due(tools, patience=PATIENCE) == (1, 0)


async def test_a_server_that_takes_and_never_answers_gets_it_twice_and_not_a_third_time(
    tools: Tools, project: Project, silent: str, clock: Clock
) -> None:
    await a_target(tools, project, silent)
    await an_event(tools, project)

    failed = []
    for _ in range(6):
        failed.append((await deliver.deliver_due(tools, patience=timedelta(seconds=0.2)))[1])
        clock.pass_(hours=1)

    assert failed == [1, 1, 0, 0, 0, 0]
    (letter,) = await waiting(tools, DeliveryState.DEAD)
    assert (letter.tries, letter.unsure) == (2, 2)


async def test_one_that_hangs_holds_up_no_other(
    tools: Tools, project: Project, silent: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "GRACE_S", 0.05)
    httpserver.expect_request("/a").respond_with_data("")
    await a_target(tools, project, silent)
    await a_target(tools, project, url_of(httpserver))
    for number in range(5):
        await an_event(tools, project, f"event {number}")

    async def arrived() -> bool:
        return len(titles(httpserver)) == 5

    async with delivering(tools, patience=timedelta(seconds=60)):
        await until(arrived)


async def test_a_message_that_one_target_refuses_holds_up_no_later_one(
    tools: Tools, project: Project, httpserver: HTTPServer
) -> None:
    def refuses_the_first(request: Request) -> Response:
        return Response("", 400 if "event 0" in request.get_data(as_text=True) else 200)

    httpserver.expect_request("/a").respond_with_handler(refuses_the_first)
    await a_target(tools, project, url_of(httpserver))
    for number in range(3):
        await an_event(tools, project, f"event {number}")

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (2, 1)


async def test_two_who_deliver_send_nothing_twice(
    tools: Tools, others: Tools, project: Project, httpserver: HTTPServer
) -> None:
    for path in ("a", "b"):
        httpserver.expect_request(f"/{path}").respond_with_data("")
        await a_target(tools, project, url_of(httpserver, path))
    for number in range(10):
        await an_event(tools, project, f"event {number}")

    done = await asyncio.gather(*(deliver.deliver_due(one, patience=PATIENCE) for one in (tools, others)))

    assert sum(arrived for arrived, _ in done) == 20
    for path in ("/a", "/b"):
        assert Counter(titles(httpserver, path)) == Counter(f"shop: event {number}" for number in range(10))


async def test_what_is_cut_off_by_a_stop_is_sent_again_at_once_and_counted(
    tools: Tools, project: Project, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "GRACE_S", 0.05)
    await a_target(tools, project, silent)
    await an_event(tools, project)

    for tries in (1, 2):

        async def sending(tries: int = tries) -> bool:
            return [one.tries for one in await waiting(tools, DeliveryState.SENDING)] == [tries]

        async with delivering(tools):
            await until(sending)

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 0)
    (letter,) = await waiting(tools, DeliveryState.DEAD)
    assert (letter.tries, letter.error) == (2, deliveries.CUT_OFF)


async def test_a_stop_waits_for_what_is_just_being_answered(
    tools: Tools, project: Project, httpserver: HTTPServer
) -> None:
    began = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slowly(request: Request) -> Response:
        loop.call_soon_threadsafe(began.set)
        stopped.result(20)
        return Response("")

    stopped = asyncio.run_coroutine_threadsafe(asyncio.sleep(0.1), loop)
    httpserver.expect_request("/a").respond_with_handler(slowly)
    await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project)

    async with delivering(tools):
        await began.wait()

    assert len(await waiting(tools, DeliveryState.DELIVERED)) == 1


async def test_a_slow_answer_does_not_cost_the_lease(
    tools: Tools, others: Tools, project: Project, httpserver: HTTPServer
) -> None:
    """The lease is moved on while a message is under way, so nobody else sends it meanwhile."""
    answer = asyncio.Event()
    loop = asyncio.get_running_loop()

    def waits(request: Request) -> Response:
        asyncio.run_coroutine_threadsafe(answer.wait(), loop).result(30)
        return Response("")

    httpserver.expect_request("/a").respond_with_handler(waits)
    await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project)
    moment = NOON + timedelta(minutes=1)
    first, second = (replace(one, now=lambda: moment) for one in (tools, others))

    async def leased() -> bool:
        async with tools.store.reading() as tx:
            return not await deliveries.any_due(tx, now=moment + timedelta(seconds=1))

    async with delivering(first, patience=timedelta(seconds=60)):
        for _ in range(4):
            await until(leased)
            assert await deliver.deliver_due(second, patience=PATIENCE) == (0, 0)
            moment += LEASE * 0.9
        answer.set()

        async def done() -> bool:
            return bool(await waiting(tools, DeliveryState.DELIVERED))

        await until(done)
    assert len(httpserver.log) == 1


async def test_a_target_whose_address_cannot_be_read_any_more_says_so(
    tools: Tools, project: Project, httpserver: HTTPServer, tmp_path: Path
) -> None:
    await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project)
    (tmp_path / KEY_FILE).unlink()

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (0, 1)

    (one,) = await waiting(tools)
    assert "GARDENER_SECRET_KEY" in str(one.error)


async def test_what_a_wrong_clock_has_put_off_for_years_is_sent(
    tools: Tools, project: Project, httpserver: HTTPServer, clock: Clock
) -> None:
    httpserver.expect_request("/a").respond_with_data("")
    await a_target(tools, project, url_of(httpserver))
    clock.moment = datetime(2031, 1, 1, tzinfo=UTC)
    await an_event(tools, project)

    clock.moment = NOON

    assert await deliver.deliver_due(tools, patience=PATIENCE) == (1, 0)


async def test_looking_for_what_is_due_reads_only_what_is_open(sqlite_url: str) -> None:
    """Asked every second, beside everything that was delivered in three months."""
    statement = str(select(DeliveryRow.id).where(deliveries._due(NOON)).compile(dialect=sqlite.dialect()))

    async with await open_store(sqlite_url) as store, store.reading() as tx:
        values = ("x",) * statement.count("?")
        plan = (await tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)).all()

    assert "ix_deliveries_open" in str(plan)


async def test_a_target_that_is_removed_in_the_middle_breaks_no_change(
    tools: Tools, others: Tools, project: Project, httpserver: HTTPServer
) -> None:
    target = await a_target(tools, project, url_of(httpserver))

    async def changes() -> None:
        for number in range(20):
            await an_event(tools, project, f"event {number}")

    await asyncio.gather(changes(), deliver.remove_target(others, target.id, "Ben"))

    async with tools.store.reading() as tx:
        assert len(await events.listed(tx, project.id)) == 20
    assert await waiting(tools) == ()


# --- killed ----------------------------------------------------------------------------------------------

DELIVER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from gardener.actions.deliver import deliver_forever
from gardener.bootstrap import open_tools
from gardener.settings import Settings

async def main(url, folder):
    async with open_tools(Settings(url, Path(folder), lease=timedelta(seconds=1))) as tools:
        await deliver_forever(tools, patience=timedelta(seconds=20), poll_s=0.05)

asyncio.run(main(*sys.argv[1:]))
"""


async def a_process(url: str, folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", DELIVER, url, str(folder))


async def test_killed_in_the_middle_of_a_message_it_sends_that_one_again_and_never_a_third_time(
    sqlite_url: str, httpserver: HTTPServer, tmp_path: Path
) -> None:
    """The server kills the sender when a message arrives, before it can be marked: once and twice."""
    async with await open_store(sqlite_url) as store:
        await _is_killed_and_goes_on(sqlite_url, some_tools(store, now, tmp_path, "here"), httpserver)


def now() -> datetime:
    return datetime.now(UTC)


async def _is_killed_and_goes_on(url: str, real: Tools, httpserver: HTTPServer) -> None:
    async with real.store.transaction() as tx:
        project = await projects.add(tx, "shop", "http://shop.test", now=now())
    processes: list[asyncio.subprocess.Process] = []
    kill_at = {"event 3": 1, "event 7": 2}  # how often the sender of this one is killed

    def kills(request: Request) -> Response:
        for subject in [one for one in kill_at if one in request.get_data(as_text=True)]:
            if kill_at[subject]:
                kill_at[subject] -= 1
                os.kill(processes[-1].pid, signal.SIGKILL)
        return Response("")

    httpserver.expect_request("/a").respond_with_handler(kills)
    httpserver.expect_request("/b").respond_with_data("")
    a, _ = [await a_target(real, project, url_of(httpserver, path)) for path in ("a", "b")]
    for number in range(10):
        await an_event(real, project, f"event {number}")

    async def ended() -> bool:
        open_ = [await waiting(real, state) for state in (DeliveryState.WAITING, DeliveryState.SENDING)]
        return not any(open_)

    for _ in range(3):
        processes.append(await a_process(url, real.settings.data_dir))
        assert await asyncio.wait_for(processes[-1].wait(), 60) == -signal.SIGKILL
    processes.append(await a_process(url, real.settings.data_dir))
    await until(ended)
    processes[-1].kill()
    await processes[-1].wait()

    counts = Counter(titles(httpserver, "/a"))
    assert counts == {f"shop: event {at}": 2 if at in (3, 7) else 1 for at in range(10)}
    # Killed twice over it: nobody knows whether it arrived, so it is not sent a third time but shown.
    (letter,) = [one for one in await waiting(real, DeliveryState.DEAD) if one.target.id == a.id]
    assert (letter.event.subject, letter.unsure) == ("event 7", 2)
    beside = Counter(titles(httpserver, "/b"))
    assert beside.keys() == counts.keys()
    assert max(beside.values()) <= 2


# --- chores ----------------------------------------------------------------------------------------------


async def test_old_events_are_forgotten_but_for_those_still_to_be_sent(
    tools: Tools, project: Project, httpserver: HTTPServer, clock: Clock
) -> None:
    httpserver.expect_request("/a").respond_with_data("")
    await a_target(tools, project, url_of(httpserver), "staged")
    await an_event(tools, project, "delivered")
    await deliver.deliver_due(tools, patience=PATIENCE)
    await an_event(tools, project, "wanted by nobody", EventKind.REVIEWED)
    await an_event(tools, project, "waiting")
    clock.pass_(days=KEPT.days + 1)
    await an_event(tools, project, "new", EventKind.REVIEWED)

    async with tools.store.transaction() as tx:
        assert await deliveries.prune(tx, before=tools.now() - KEPT, most=1) == 1
        assert await deliveries.prune(tx, before=tools.now() - KEPT) == 1
        assert await deliveries.prune(tx, before=tools.now() - KEPT) == 0

        assert [one.subject for one in await events.listed(tx, project.id)] == ["new", "waiting"]


async def test_whoever_delivers_notices_that_no_scheduler_runs(tools: Tools, project: Project, clock: Clock) -> None:
    async with tools.store.transaction() as tx:
        await projects.update(tx, project.id, settings=ProjectSettings(sweep_cron="0 3 * * *"))
    await timing.take_clock(tools)
    chores = deliver._Chores(tools)

    clock.pass_(minutes=5)
    await chores.do()

    async with tools.store.reading() as tx:
        (event,) = await events.listed(tx, project.id)
    assert event.kind == EventKind.OVERDUE


async def test_a_database_that_is_away_for_a_moment_ends_nothing(
    tools: Tools, project: Project, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request("/a").respond_with_data("")
    await a_target(tools, project, url_of(httpserver))
    await an_event(tools, project)
    looks, real = 0, deliveries.any_due

    async def breaks_once(*given: Any, **named: Any) -> bool:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise OSError("the disk is away")
        return await real(*given, **named)

    monkeypatch.setattr(deliveries, "any_due", breaks_once)

    async def arrived() -> bool:
        return bool(titles(httpserver))

    async with delivering(tools):
        await until(arrived)


# --- targets ---------------------------------------------------------------------------------------------


async def test_an_address_is_sealed_and_nowhere_shown(tools: Tools, project: Project) -> None:
    target = await a_target(tools, project, "json://ada:T0KEN@127.0.0.1:8080/T0KEN", None)

    assert (target.shown, target.kinds) == ("json://127.0.0.1:8080/…", USUAL)
    async with tools.store.reading() as tx:
        kept = [*await targets.listed(tx), *await audit.listed(tx)]
    assert "T0KEN" not in repr(kept)


async def test_what_cannot_be_a_target_is_not_kept(tools: Tools, project: Project) -> None:
    for url, kinds in (("T0KEN", None), ("json://127.0.0.1/T0KEN", "nonsense")):
        with pytest.raises(BadSetting) as caught:
            await a_target(tools, project, url, kinds)
        assert "T0KEN" not in str(caught.value)

    async with tools.store.reading() as tx:
        assert await targets.listed(tx) == ()


async def test_a_test_message_is_sent_at_once(tools: Tools, project: Project, httpserver: HTTPServer) -> None:
    httpserver.expect_oneshot_request("/a").respond_with_data("")
    target = await a_target(tools, project, url_of(httpserver), "applied,digest")

    good = await deliver.send_test(tools, target.id, patience=PATIENCE)
    bad = await deliver.send_test(tools, target.id, patience=PATIENCE)

    assert (type(good).__name__, type(bad).__name__) == ("Sent", "Failed")
    message = httpserver.log[0][0].json
    assert message is not None
    assert message["title"] == "shop: a test of this target"
    assert message["message"].endswith("applied, digest.")
