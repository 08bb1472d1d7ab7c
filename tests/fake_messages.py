"""A server on loopback that speaks the Messages API, so that tests run the real SDK against scripted answers.

    with FakeMessages([tool_call("choose_element", {"choice": 1, "reason": "same"}), overloaded()]) as fake:
        ...  # key: any text, base URL: fake.url
    assert fake.requests[0].tool_names == ["choose_element"]

A callable in the script is given the Request and returns the answer, so an answer can depend on the question.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Request:
    """One request as it arrived; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    json: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The key it was sent with, in whichever header."""
        given = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
        return given or self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def system(self) -> str:
        return _words(self.json.get("system"))

    @property
    def text(self) -> str:
        """What the user message says."""
        return "\n".join(_words(message["content"]) for message in self.json.get("messages", []))

    @property
    def tool_names(self) -> list[str]:
        return [tool["name"] for tool in self.json.get("tools", [])]


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content)
    return content or ""


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    drop: bool = False  # the connection ends without an answer


Entry: TypeAlias = Answer | Callable[[Request], Answer]


def message(*content: Any, stop: str = "end_turn", tokens: tuple[int, int] = (100, 20), **more: Any) -> Answer:
    body = {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": "fake-model",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        **more,
    }
    return _json(body)


def call_block(name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_fake", "name": name, "input": arguments}


def text_block(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool_call(name: str, arguments: Any, *, tokens: tuple[int, int] = (100, 20)) -> Answer:
    return message(call_block(name, arguments), stop="tool_use", tokens=tokens)


def text(words: str) -> Answer:
    return message(text_block(words))


def refusal(category: str | None = None) -> Answer:
    details = {"type": "refusal", "category": category, "explanation": None}
    return message(stop="refusal", stop_details=details)


def cut(*content: Any) -> Answer:
    """The answer ran into max_tokens."""
    return message(*content, stop="max_tokens")


def error(status: int, kind: str, words: str, **headers: str) -> Answer:
    """Header names with underscores: `error(429, "rate_limit_error", "slow down", retry_after="2")`."""
    body = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_fake"}
    return _json(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def bad_key() -> Answer:
    return error(401, "authentication_error", "invalid x-api-key")


def rate_limited(retry_after: str | None = None) -> Answer:
    headers = {} if retry_after is None else {"retry_after": retry_after}
    return error(429, "rate_limit_error", "too many requests", **headers)


def overloaded() -> Answer:
    return error(529, "overloaded_error", "Overloaded")


def broken() -> Answer:
    return error(500, "api_error", "Internal server error")


def slow(seconds: float = 30) -> Answer:
    """An answer that comes late. Leaving the server ends the wait, so a test need not sit it out."""
    return Answer(tool_call("late", {}).body, delay_s=seconds)


def dropped() -> Answer:
    return Answer(drop=True)


def garbage(body: bytes = b"<html>not json</html>", content_type: str = "application/json") -> Answer:
    return Answer(body, headers={"content-type": content_type})


def _json(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(json.dumps(body).encode(), status, {"content-type": "application/json", **(headers or {})})


class FakeMessages:
    """Plays `script` in order, then `otherwise` for every further request.

    With `key` set, requests with any other key get a 401 and use up no entry. `requests` remembers all of them. What a
    callable raises is answered with a 400, and raised again when the server is left, so its asserts are not lost.
    """

    PATH = re.compile("/v1/messages")

    def __init__(self, script: Iterable[Entry] = (), *, otherwise: Entry | None = None, key: str | None = None) -> None:
        self.requests: list[Request] = []
        self._script = iter(tuple(script))
        self._otherwise = otherwise or error(400, "invalid_request_error", "the script of the fake server has ended")
        self._key = key
        self._raised: BaseException | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeMessages:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self._raised is not None and kind is None:
            raise self._raised

    def answer(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            if not self.PATH.match(request.path):
                return error(404, "not_found_error", "no such path")
            if self._key is not None and request.key != self._key:
                return bad_key()
            entry = next(self._script, self._otherwise)
        try:
            answer = entry if isinstance(entry, Answer) else entry(request)
        except Exception as raised:
            self._raised = raised
            return error(400, "invalid_request_error", f"the script raised {raised!r}")
        if answer.delay_s:
            self._over.wait(answer.delay_s)
        return answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that went away is part of many tests."""


def _handler(fake: FakeMessages) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                body = json.loads(sent)
            except ValueError:
                body = {}
            self._send(fake.answer(Request(self.path, headers, body)))

        def _send(self, answer: Answer) -> None:
            self.close_connection = True
            if answer.drop:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Nothing: tests read `requests` instead."""

    return Handler
