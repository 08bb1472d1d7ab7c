"""Door: Ask by way of the Anthropic Messages API."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from anthropic import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    omit,
)
from anthropic.types import ToolChoiceParam, ToolParam

from repair_ladder.ports import Answered, Ask, Question, Reply, Tool, Unanswered, Unavailable

# The middle of the range: the questions are short, and a fix is proved by a run and not by the model's wit.
DEFAULT_MODEL: Final = "claude-sonnet-5-5"
ADDRESS: Final = "https://api.anthropic.com"
# What a model thinks before it answers counts as output; without this room the answer itself would be cut.
ROOM_TO_THINK: Final = 6000
# These answer "tool_choice" other than auto with 400. Others that do are found out by asking once.
NEVER_FORCED: Final = (
    "claude-sonnet-5-5",
    "claude-opus-5-5",
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-1",
    "claude-mythos-5-2",
)


def anthropic_ask(
    *,
    key: str | None,
    model: str = DEFAULT_MODEL,
    base_url: str | None = None,
    timeout: timedelta = timedelta(seconds=90),
    attempts: int = 3,
    longest_pause: timedelta = timedelta(seconds=20),
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> Ask:
    """An Ask that never raises and never names the key.

    `timeout` bounds one request. What can pass by itself (a rate limit, an overload, a 5xx, a lost connection) is asked
    again, `attempts` requests in all, with pauses of at most `longest_pause`; a provider that wants a longer one is
    taken at its word and the answer is Unavailable at once. A time-out is not asked again: the same question would
    take as long. `jitter` gives numbers from 0 to 1.
    """
    door = _Door(
        key=(key or "").strip(),
        model=model,
        base_url=base_url or ADDRESS,
        timeout_s=timeout.total_seconds(),
        attempts=max(1, attempts),
        longest_pause_s=longest_pause.total_seconds(),
        sleep=sleep,
        jitter=jitter,
        manner=_Manner(forced=not model.startswith(NEVER_FORCED)),
    )
    return door.ask


@dataclass(frozen=True, slots=True)
class _Manner:
    """Which of the stricter features a request uses. Models and servers differ in what they accept."""

    forced: bool = True  # the model must call a tool
    strict: bool = True  # its arguments follow the schema
    effort: bool = True  # it thinks no longer than these questions deserve

    def plainer(self, refusal: str) -> _Manner | None:
        """The manner without what a 400 complains of; None where it complains of something else."""
        if self.forced and "tool_choice" in refusal:
            return replace(self, forced=False)
        if self.effort and ("effort" in refusal or "output_config" in refusal):
            return replace(self, effort=False)
        if self.strict and ("strict" in refusal or "schema" in refusal):
            return replace(self, strict=False)
        return None


@dataclass(frozen=True, slots=True)
class _Failed:
    """A request without an answer. `refusal` is what a 400 said."""

    reply: Unavailable
    may_pass: bool = False
    refusal: str = ""


@dataclass(slots=True)
class _Door:
    key: str = field(repr=False)
    model: str
    base_url: str = field(repr=False)
    timeout_s: float
    attempts: int
    longest_pause_s: float
    sleep: Callable[[float], Awaitable[object]] = field(repr=False)
    jitter: Callable[[], float] = field(repr=False)
    manner: _Manner  # grows plainer as the server says what it does not take, and stays so

    async def ask(self, question: Question) -> Reply:
        if not self.key:
            return Unavailable("no_key", "No key for the Anthropic API is set; add one to let the ladder ask a model.")
        if not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            return Unavailable("bad_key", "The key for the Anthropic API holds characters no key has; enter it again.")
        try:
            async with AsyncAnthropic(
                api_key=self.key,
                base_url=self.base_url,
                timeout=self.timeout_s,
                max_retries=0,
                open_telemetry=False,
            ) as client:
                return await self._persist(client, question)
        # Everything, because a door promises that nothing of the library leaves it: an address nobody can parse and a
        # broken certificate store come up here as errors of libraries two floors down.
        except Exception as error:
            return Unavailable(
                "error", f"{self._where} could not be asked ({type(error).__name__}); check its address."
            )

    async def _persist(self, client: AsyncAnthropic, question: Question) -> Reply:
        tries = 0
        while True:
            asked_in = self.manner
            reply = await self._once(client, question)
            if not isinstance(reply, _Failed):
                return reply
            plainer = asked_in.plainer(reply.refusal)
            if plainer is not None:
                self.manner = plainer
                continue
            tries += 1
            pause_s = self._pause_s(tries, reply)
            if pause_s is None:
                return reply.reply
            await self.sleep(pause_s)

    def _pause_s(self, tries: int, failed: _Failed) -> float | None:
        """Seconds until the next request; None where there should be none."""
        if not failed.may_pass or tries >= self.attempts:
            return None
        wanted_s = failed.reply.retry_after_s
        if wanted_s is None:
            # Half of it at least: requests that failed together must not come back together, nor at once.
            return min(2.0**tries, self.longest_pause_s) * (0.5 + self.jitter() / 2)
        return wanted_s + self.jitter() if wanted_s <= self.longest_pause_s else None

    async def _once(self, client: AsyncAnthropic, question: Question) -> Reply | _Failed:
        try:
            # The SDK's own time-out starts anew with every byte; this one does not.
            async with asyncio.timeout(self.timeout_s):
                raw = await client.messages.with_raw_response.create(
                    model=self.model,
                    max_tokens=question.max_tokens + ROOM_TO_THINK,
                    system=question.system,
                    messages=[{"role": "user", "content": question.text}],
                    tools=[_tool(tool, strict=self.manner.strict) for tool in question.tools],
                    tool_choice=_choice(question, forced=self.manner.forced),
                    output_config={"effort": "medium"} if self.manner.effort else omit,
                )
        except (APITimeoutError, TimeoutError):
            text = f"{self._where} gave no answer within {self.timeout_s:g} s; it is asked again on the next repair."
            return _Failed(Unavailable("timeout", text))
        except APIConnectionError:
            text = f"{self._where} could not be reached; check the network and the address."
            return _Failed(Unavailable("network", text), may_pass=True)
        except APIStatusError as error:
            return self._turned_away(error)
        try:
            body = raw.http_response.json()
        except (ValueError, RecursionError):
            body = None
        return _read(body, question) or Unavailable("error", f"{self._where} does not speak the Messages API.")

    def _turned_away(self, error: APIStatusError) -> _Failed:
        status = error.status_code
        said = self._tidy(error.api_message)
        headers = error.response.headers
        retry_after_s = _retry_after_s(headers)
        may_pass = headers.get("x-should-retry") != "false"
        if status in (401, 403):
            return _Failed(Unavailable("bad_key", f"{self._where} does not accept the key{said}"))
        if status == 402 or "credit balance" in said:
            return _Failed(Unavailable("budget", f"The account at {self._where} has no credit left{said}"))
        if status == 404:
            return _Failed(Unavailable("error", f"{self._where} knows no model '{self.model}'{said}"))
        if status == 429:
            text = f"{self._where} limits how often it may be asked{said}"
            return _Failed(Unavailable("rate_limited", text, retry_after_s), may_pass)
        if status in (503, 529):
            return _Failed(Unavailable("overloaded", f"{self._where} is overloaded{said}", retry_after_s), may_pass)
        text = f"{self._where} answered {status}{said}"
        if status >= 500 or status == 408:
            return _Failed(Unavailable("error", text, retry_after_s), may_pass)
        return _Failed(Unavailable("error", text), refusal=said if status == 400 else "")

    def _tidy(self, said: object) -> str:
        """What the server said, as the end of a sentence: one short line, and the key is not in it."""
        if not isinstance(said, str) or not said.strip():
            return "."
        line = " ".join("".join(char if char.isprintable() else " " for char in said).split())
        return ": " + line.replace(self.key, "[hidden]")[:300]

    @property
    def _where(self) -> str:
        return f"The model provider at {_host(self.base_url)}"


def _host(address: str) -> str:
    """Host and port alone: an address may carry a password."""
    try:
        parts = urlsplit(address)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        return "an address nobody can read"


def _tool(tool: Tool, *, strict: bool) -> ToolParam:
    param = ToolParam(name=tool.name, description=tool.description, input_schema=dict(tool.schema))
    if strict and _is_closed(tool.schema):
        param["strict"] = True
    return param


def _is_closed(schema: object) -> bool:
    """Does every object in it name all its keys? The provider turns others down as strict schemas."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            return False
        return all(map(_is_closed, schema.values()))
    return all(map(_is_closed, schema)) if isinstance(schema, list | tuple) else True


def _choice(question: Question, *, forced: bool) -> ToolChoiceParam:
    if not forced:
        return {"type": "auto", "disable_parallel_tool_use": True}
    if len(question.tools) == 1:
        return {"type": "tool", "name": question.tools[0].name, "disable_parallel_tool_use": True}
    return {"type": "any", "disable_parallel_tool_use": True}


def _read(body: object, question: Question) -> Reply | None:
    """The one tool call in a message, or why there is none; None for what is no message at all."""
    if not isinstance(body, dict) or not isinstance(body.get("content"), list):
        return None
    tokens = _tokens(body.get("usage"))
    match body.get("stop_reason"):
        case "refusal":
            return Unanswered("refusal", f"The model declined to answer{_category(body)}.", *tokens)
        case "max_tokens" | "model_context_window_exceeded":
            return Unanswered("cut", "The model's answer was cut off before its end.", *tokens)
    calls = [block for block in body["content"] if isinstance(block, dict) and block.get("type") == "tool_use"]
    known = {tool.name for tool in question.tools}
    wanted = " or ".join(sorted(known))
    if len(calls) != 1:
        found = f"made {len(calls)} tool calls" if calls else "answered in words"
        return Unanswered("nonsense", f"The model {found} where one call of {wanted} was asked for.", *tokens)
    name, arguments = calls[0].get("name"), calls[0].get("input")
    if name not in known:
        return Unanswered("nonsense", f"The model called a tool that there is not; {wanted} was asked for.", *tokens)
    if not isinstance(arguments, dict):
        return Unanswered("nonsense", f"The model called {name} with something that is no object.", *tokens)
    model = body.get("model")
    return Answered(name, arguments, *tokens, model=model if isinstance(model, str) else "")


def _tokens(usage: object) -> tuple[int, int]:
    """Input, what was read from or written to the provider's cache included, and output."""
    counts: Mapping[str, Any] = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

    read = count("input_tokens") + count("cache_creation_input_tokens") + count("cache_read_input_tokens")
    return read, count("output_tokens")


def _category(body: Mapping[str, Any]) -> str:
    details = body.get("stop_details")
    category = details.get("category") if isinstance(details, dict) else None
    return f" ({category})" if isinstance(category, str) and category.isidentifier() and len(category) < 50 else ""


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds; a date is measured against the answer's own Date, so that no clock is read."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))
            seconds = wait.total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
