"""Door: Ask by way of the `claude` command of somebody who is signed in there.

The question goes to its standard input: nothing from an app stands on a command line, where other users of the machine
read it. It runs in an empty folder, without tools, and sees of our environment only what it needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from typing_extensions import Unpack

from repair_ladder.models.asking import (
    Failed,
    How,
    Provider,
    Used,
    count,
    not_answered,
    one_call,
    patient,
    read_json,
)
from repair_ladder.ports import Ask, Question, Reply, Unavailable

COMMAND: Final = "claude"
MOST_OUTPUT: Final = 1_000_000  # bytes
# What the command needs of our environment. Not the rest: the secrets of tests are in it.
PASSED_ON: Final = frozenset(
    "HOME PATH USER LOGNAME LANG LC_ALL TMPDIR SHELL SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS HTTP_PROXY "
    "HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL "
    "CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CONFIG_DIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME".split()
)
# Words in what it says when it could not ask, and what they mean; the first that fits.
TROUBLES: Final = (
    (("/login", "not logged in", "api key", "authentication", "oauth", "401", "403"), "bad_key", False),
    (("credit balance", "billing"), "budget", False),
    (("usage limit", "limit reached", "hit your limit"), "rate_limited", False),
    (("rate limit", "429"), "rate_limited", True),
    (("overloaded", "529", "503"), "overloaded", True),
    (("connection error", "econnrefused", "enotfound", "network", "timed out"), "network", True),
)


def claude_cli_ask(
    *, model: str | None = None, command: str = COMMAND, environ: Mapping[str, str], **how: Unpack[How]
) -> Ask:
    """An Ask that never raises; see `How` for its patience. Without `model` the command chooses."""
    provider = Provider("the Claude CLI", f"the command '{command}'", model or "", "")
    kept = {name: value for name, value in environ.items() if name in PASSED_ON}
    return patient(provider, _Door(provider, command, kept).send, needs_key=False, **how)


@dataclass(frozen=True, slots=True)
class _Door:
    provider: Provider
    command: str
    environ: Mapping[str, str] = field(repr=False)

    async def send(self, question: Question) -> Reply | Failed:
        arguments = ["-p", "--output-format", "json", "--tools", "", "--max-turns", "1", "--strict-mcp-config"]
        if self.provider.model:
            arguments += ["--model", self.provider.model]
        with tempfile.TemporaryDirectory(prefix="gardener-", ignore_cleanup_errors=True) as folder:
            try:
                process = await asyncio.create_subprocess_exec(
                    self.command,
                    *arguments,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    cwd=folder,
                    env=dict(self.environ),
                    start_new_session=True,  # so that what it starts can be ended with it
                )
            except OSError as error:
                text = f"{self.provider.subject} cannot be run ({error.strerror}); install it or set claude_command."
                return Failed(Unavailable("error", text))
            try:
                said = await _talk(process, _prompt(question).encode())
            finally:
                await _end(process)
        if said is None:
            return not_answered("nonsense", f"The model's answer is longer than {MOST_OUTPUT} bytes.", Used())
        return self._read(said, process.returncode, question)

    def _read(self, said: bytes, code: int | None, question: Question) -> Reply | Failed:
        body = read_json(said)
        if not isinstance(body, dict) or body.get("type") != "result":
            text = f"{self.provider.subject} ended with {code} and said nothing that can be read; run it by hand once."
            return Failed(Unavailable("error", text, lost=1))
        if body.get("is_error") is True or body.get("subtype") not in ("success", None):
            return self._trouble(body)
        usage = body.get("usage")
        used = Used(
            count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
            count(usage, "output_tokens"),
            count(usage, "cache_read_input_tokens"),
        )
        return one_call(_calls(body), question, used, _model(body), cost_usd=_cost(body))

    def _trouble(self, body: Mapping[str, Any]) -> Failed | Reply:
        said = body.get("result") if isinstance(body.get("result"), str) else str(body.get("subtype"))[:100]
        if body.get("subtype") == "error_max_turns":
            return not_answered("nonsense", "The model tried something else than to answer.", Used())
        lower = str(said)[:2000].lower()
        text = f"{self.provider.subject} could not ask{self.provider.tidy(said)}"
        for words, why, may_pass in TROUBLES:
            if any(word in lower for word in words):
                return Failed(Unavailable(why, text), may_pass)  # type: ignore[arg-type]
        return Failed(Unavailable("error", text))


def _prompt(question: Question) -> str:
    """The whole question with the forms of an answer: this provider has no tools of ours, so the answer is JSON."""
    tools = [{"tool": one.name, "description": one.description, "arguments": one.schema} for one in question.tools]
    return (
        f"{question.system}\n\nYou have no tools that run. To call a tool means here: answer with one JSON object "
        '{"tool": its name, "arguments": an object that follows its schema} and with nothing before or after it. The '
        f"tools:\n{json.dumps(tools)}\n\n{question.text}"
    )


async def _talk(process: Process, prompt: bytes) -> bytes | None:
    """What the command writes; None for more than MOST_OUTPUT."""
    assert process.stdin is not None
    assert process.stdout is not None

    async def write() -> None:
        assert process.stdin is not None
        with contextlib.suppress(ConnectionError):  # it need not read to the end
            process.stdin.write(prompt)
            await process.stdin.drain()
        process.stdin.close()

    writing = asyncio.ensure_future(write())
    said = b""
    try:
        while piece := await process.stdout.read(65_536):
            said += piece
            if len(said) > MOST_OUTPUT:
                return None
        await process.wait()
    finally:
        writing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await writing
    return said


async def _end(process: Process) -> None:
    """The command and whatever it has started are over, whichever way this ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await asyncio.shield(process.wait())


def _calls(body: Mapping[str, Any]) -> list[tuple[object, object]]:
    text = body.get("result")
    text = text.strip() if isinstance(text, str) else ""
    if text.startswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```")
    call = read_json(text)
    return [(call.get("tool"), call.get("arguments"))] if isinstance(call, dict) else []


def _model(body: Mapping[str, Any]) -> object:
    models = body.get("modelUsage")
    return next(iter(models), "") if isinstance(models, dict) else ""


def _cost(body: Mapping[str, Any]) -> float | None:
    cost = body.get("total_cost_usd")
    is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
    return float(cost) if is_number and 0 <= cost < 1000 else None  # type: ignore[operator, arg-type]
