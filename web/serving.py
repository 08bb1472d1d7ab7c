"""Serve the pages, with a worker and what else runs by itself, in one process; until a signal."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import uvicorn

from gardener.actions import admitting, deliver
from gardener.bootstrap import open_tools
from gardener.errors import BadSetting
from gardener.schedule import run_clock
from gardener.settings import Settings
from gardener.tools import Tools
from gardener.worker import Worker
from web.app import Service, create_app
from web.site import Site
from web.watching import Watching

POLL_S: Final = 2.0  # between two looks for work that another process asked for
GRACE_S: Final = 5  # for answers that are under way when it stops
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
Say = Callable[[str], None]


def services(tools: Tools, worker: Worker) -> Sequence[Service]:
    """What runs beside the pages until it is cancelled; the one place that lists it."""
    return (
        partial(worker.run_until_cancelled, poll_s=POLL_S),
        partial(run_clock, tools),
        partial(deliver.deliver_forever, tools),
    )


async def serve(settings: Settings, say: Say, *, must_change: bool = True) -> None:
    """Until SIGINT or SIGTERM. What a worker had begun by then is put back for the next one.

    `say` is told the address and, on a database without people, the first sign-in. Raises BadSetting where the address
    cannot be listened on.
    """
    listening = listen(settings.host, settings.port)
    watching = Watching()
    with listening:
        async with open_tools(settings, watch=watching) as tools:
            worker = Worker(tools)
            secure = (settings.public_url or "").startswith("https://")
            site = Site(tools, watching, worker.knock, secure=secure)
            app = create_app(site, hosts=_hosts(settings), services=services(tools, worker))
            password = await admitting.admit_first(tools, must_change=must_change)
            say(f"Drift Gardener is at {address(settings, listening)}")
            if password is not None:
                note = " (once; you choose your own then)" if must_change else ""
                say(f"Sign in as {admitting.FIRST} with the password {password}{note}")
            await _until_signal(server_of(app, behind_proxy=settings.public_url is not None), watching, listening)


def address(settings: Settings, listening: socket.socket) -> str:
    """Where people find the pages."""
    if settings.public_url:
        return settings.public_url
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def listen(host: str, port: int) -> socket.socket:
    """Raises BadSetting where that cannot be listened on; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise BadSetting(f"port {port} of {host} cannot be listened on: {why}; --port chooses another one") from None


def _hosts(settings: Settings) -> list[str]:
    """Names that a request may ask for. A page elsewhere that makes its own name lead here gets no answer."""
    if settings.host in ("0.0.0.0", "::") and not settings.public_url:
        return []  # listening for everybody, who may know this machine under any name
    public = urlsplit(settings.public_url or "").hostname
    return [*LOOPBACK, settings.host, *([public] if public else [])]


class Server(uvicorn.Server):
    """Leaves signals to us: what runs beside has to be stopped as well."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server_of(app: object, *, behind_proxy: bool = False) -> Server:
    """To be stopped with `should_exit`. `behind_proxy`: one on this machine says who asks; else nobody is believed."""
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_graceful_shutdown=GRACE_S,
        lifespan="on",
    )
    # Its lines are about itself; what matters for people is said by us.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    return Server(config)


async def _until_signal(server: Server, watching: Watching, listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()

    def stop() -> None:
        stopped.set()
        # A Ctrl-C reaches the browser's driver as well; what is left of it in the loop has nothing more to tell.
        loop.set_exception_handler(lambda *_: None)
        for one in (signal.SIGINT, signal.SIGTERM):  # who asks a second time does not want to wait
            loop.remove_signal_handler(one)

    async def wait() -> None:
        await stopped.wait()
        await watching.close()
        server.should_exit = True

    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, stop)
    waiting = asyncio.ensure_future(wait())
    try:
        await server.serve(sockets=[listening])
    finally:
        waiting.cancel()
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(one)
