"""Covers gardener/notify/: the real library against servers on this machine that take, refuse, hang and trickle."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from gardener.errors import BadSetting
from gardener.notices import Notice, Weight
from gardener.notify import Failed, Outcome, Sent, Unsure, read_url, send
from gardener.notify.sending import MOST_HANGING

NOTICE = Notice("shop: a repair waits", ("A repair of 'checkout' waits for approval", "12:00 UTC"), Weight.WARNING)


async def sent(url: str, patience: float = 10, notice: Notice = NOTICE, key: object = None) -> Outcome:
    return await send(url, notice, key=key or url, patience=timedelta(seconds=patience))


def url_of(server: HTTPServer, path: str = "hook", **query: str) -> str:
    asked = "?" + "&".join(f"{key}={value}" for key, value in query.items()) if query else ""
    return f"json://127.0.0.1:{server.port}/{path}{asked}"


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"json://127.0.0.1:{server.getsockname()[1]}/"


@pytest.fixture
def trickling() -> Iterator[str]:
    """A server that sends its answer a byte at a time and never ends."""
    ends = threading.Event()

    def drip(server: socket.socket) -> None:
        with suppress(OSError):
            while not ends.is_set():
                connection, _ = server.accept()
                threading.Thread(target=feed, args=(connection,), daemon=True).start()

    def feed(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
            while not ends.wait(0.02):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,), daemon=True)
        thread.start()
        yield f"json://127.0.0.1:{server.getsockname()[1]}/"
        ends.set()
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


async def test_a_notice_arrives_as_plain_text(httpserver: HTTPServer) -> None:
    httpserver.expect_oneshot_request("/hook", method="POST").respond_with_data("")

    assert await sent(url_of(httpserver)) == Sent()

    ((request, _),) = httpserver.log
    assert request.json is not None
    assert request.json["title"] == "shop: a repair waits"
    assert request.json["message"] == "A repair of 'checkout' waits for approval\n12:00 UTC"
    assert request.json["type"] == "warning"


async def test_markup_is_not_turned_into_markup_on_the_way(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/hook").respond_with_data("")

    await sent(url_of(httpserver), notice=Notice("subject", ("a ‹b› &\u200blt; ∗x∗ \\n :smile:",)))

    assert httpserver.log[0][0].json["message"] == "a ‹b› &\u200blt; ∗x∗ \\n :smile:"  # type: ignore[index]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, Failed("it answered with 500")),
        (404, Failed("it answered with 404")),
        (302, Failed("it answered with 302")),
        (504, Unsure("it answered with 504")),
    ],
)
async def test_what_was_not_taken_says_how(httpserver: HTTPServer, status: int, said: Outcome) -> None:
    httpserver.expect_request("/hook").respond_with_data("error=200 Read timed out", status=status)

    assert await sent(url_of(httpserver)) == said


async def test_where_nobody_listens_nothing_arrived() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    assert await sent(f"json://127.0.0.1:{port}/") == Failed("no connection could be made")


async def test_a_host_that_is_not_known_is_said_so() -> None:
    assert await sent("json://nowhere.invalid/") == Failed("its host name is not known")


async def test_a_silent_server_is_given_up_in_time_and_nobody_knows(silent: str) -> None:
    assert isinstance(await sent(silent, patience=0.4), Unsure)


async def test_a_server_that_never_ends_its_answer_is_given_up_too(trickling: str) -> None:
    outcomes = [await sent(trickling, patience=0.3) for _ in range(MOST_HANGING + 1)]

    assert [type(one) for one in outcomes] == [Unsure] * MOST_HANGING + [Failed]
    assert "still under way" in str(outcomes[-1])


async def test_a_connection_that_breaks_off_leaves_it_open_whether_it_arrived(httpserver: HTTPServer) -> None:
    def breaks(request: Request) -> Response:
        request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return Response("")

    httpserver.expect_request("/hook").respond_with_handler(breaks)

    assert isinstance(await sent(url_of(httpserver)), Unsure)


async def test_a_url_cannot_ask_for_more_than_one_try_nor_swallow_a_failure(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/full").respond_with_data("", status=503)

    outcome = await sent(url_of(httpserver, "full", retry="5", wait="0.1", optional="yes"))

    assert outcome == Failed("it answered with 503")
    # What a test before this one gave up may only arrive now.
    assert [request.path for request, _ in httpserver.log].count("/full") == 1


async def test_one_that_is_cancelled_waits_for_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        task = asyncio.ensure_future(sent(f"json://127.0.0.1:{server.getsockname()[1]}/", patience=60))
        connection, _ = await asyncio.wait_for(asyncio.to_thread(server.accept), 20)  # it is being sent
        with connection:
            task.cancel()

            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 10)


# --- what people may see -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown", "service"),
    [
        ("json://ada:hunter2@127.0.0.1:8080/hooks/T0KEN?+X-Key=T0KEN", "json://127.0.0.1:8080/…", "JSON"),
        ("mailto://ada:hunter2@shop.test?to=ben@shop.test", "mailto://shop.test/…", "E-Mail"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops", "slack://…", "Slack"),
        ("https://discord.com/api/webhooks/4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", "discord://…", "Discord"),
        ("tgram://123456789:abcdefg_hijklmnop/12315544", "tgram://…", "Telegram"),
    ],
)
def test_of_an_address_only_service_and_host_are_shown(url: str, shown: str, service: str) -> None:
    place = read_url(url)

    assert (place.shown, place.service) == (shown, service)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "T0KEN",
        "nonsense://T0KEN",
        "json://",
        "slack://T0KEN",
        "json://127.0.0.1/T0KEN json://127.0.0.1/",
        "json://127.0.0.1/T0KEN\n",
        "json://127.0.0.1/" + "T0KEN" * 1000,
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/T0KEN/#ben",
        "mailto://ada:T0KEN@shop.test?to=ben@shop.test,cy@shop.test",
        "memory://T0KEN",
        "file:///T0KEN",
    ],
)
def test_what_is_no_target_is_refused_and_not_repeated(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    if url.endswith("\n"):
        assert read_url(url).shown == "json://127.0.0.1/…"
        return

    with pytest.raises(BadSetting) as caught:
        read_url(url)

    assert "T0KEN" not in str(caught.value) + caplog.text


async def test_no_address_reaches_a_log(httpserver: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    httpserver.expect_request("/T0KEN").respond_with_data("T0KEN", status=500)

    outcomes = [
        await sent(url_of(httpserver, "T0KEN")),
        await sent("json://ada:T0KEN@nowhere.invalid/T0KEN"),
    ]

    ours = [record for record in caplog.records if record.name != "werkzeug"]  # the test's own server
    assert "T0KEN" not in str(outcomes) + "".join(record.getMessage() for record in ours)
