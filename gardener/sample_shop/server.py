"""The shop over HTTP on loopback: one port, one state, and a release that can be switched while people shop."""

import argparse
import socketserver
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Literal, Self
from urllib.parse import parse_qsl, urlsplit

from gardener.sample_shop import release1, release2
from gardener.sample_shop.routes import Release, Request, Response, answer
from gardener.sample_shop.state import State

ReleaseName = Literal["1", "2"]
RELEASES: dict[ReleaseName, Release] = {"1": release1, "2": release2}
LARGEST_BODY = 64 * 1024


class Shop:
    """The running shop, as long as it is entered.

    Setting `release` is a deploy: the next request is answered by the other release, on the same port and with
    the same sessions, baskets and orders.
    """

    def __init__(
        self, release: ReleaseName = "1", port: int = 0, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.release = release
        self.state = State()
        self._now = now
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _handler_for(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def release(self) -> ReleaseName:
        return self._release

    @release.setter
    def release(self, release: ReleaseName) -> None:
        if release not in RELEASES:
            raise ValueError(f"The shop has no release {release!r}; choose one of {', '.join(RELEASES)}.")
        self._release = release

    def reset(self) -> None:
        """Empty the shop: no sessions, no new orders, Ada's settings as at first. The release stays."""
        with self._lock:
            self.state.reset()

    def answer(self, request: Request) -> Response:
        """Answer one request. One at a time: a page may read and write any part of the state."""
        with self._lock:
            return answer(request, RELEASES[self.release], self.state, self._now())

    def wait(self) -> None:
        """Serve until interrupted."""
        self._thread.join()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        # A browser that leaves in the middle of an answer is no fault of the shop.
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            socketserver.BaseServer.handle_error(self, request, client_address)  # type: ignore[arg-type]


def _handler_for(shop: Shop) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10  # browsers open spare connections and never use them

        def do_GET(self) -> None:
            self._respond(self._request({}))

        def do_POST(self) -> None:
            size = self.headers.get("Content-Length", "0")
            if not size.isdecimal() or int(size) > LARGEST_BODY:
                self.send_error(413)
                return
            body = self.rfile.read(int(size)).decode("utf-8", "replace")
            self._respond(self._request(dict(parse_qsl(body, keep_blank_values=True))))

        def _request(self, form: dict[str, str]) -> Request:
            parts = urlsplit(self.path)
            path = parts.path.rstrip("/") or "/"
            return Request(self.command, path, dict(parse_qsl(parts.query)), form, _cookies(self.headers["Cookie"]))

        def _respond(self, request: Request) -> None:
            response = shop.answer(request)
            body = response.body.encode()
            self.send_response(response.status)
            self.send_header("Content-Type", f"{response.kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            if response.location:
                self.send_header("Location", response.location)
            if response.session and response.session != request.cookies.get("shop_session"):
                cookie = f"shop_session={response.session}; Path=/; HttpOnly; SameSite=Lax"
                self.send_header("Set-Cookie", cookie)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _cookies(header: str | None) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header or "").items()}
    except CookieError:
        return {}


def main() -> None:
    parser = argparse.ArgumentParser(prog="gardener.sample_shop", description="The sample shop by itself.")
    parser.add_argument("--release", choices=list(RELEASES), default="1", help="which release to serve (default: 1)")
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 (default: any free one)")
    chosen = parser.parse_args()
    with Shop(chosen.release, chosen.port) as shop:
        print(f"Harbour Pottery, release {shop.release}, is open at {shop.url}. Stop it with Ctrl+C.", flush=True)
        try:
            shop.wait()
        except KeyboardInterrupt:
            print("Closed.")
