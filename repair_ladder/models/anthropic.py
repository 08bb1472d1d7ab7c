"""Door: Ask by way of the Anthropic Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from anthropic import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    DefaultAsyncHttpxClient,
    omit,
)
from anthropic.types import ToolChoiceParam, ToolParam
from typing_extensions import Unpack

from repair_ladder.models import DEFAULT_MODELS
from repair_ladder.models.asking import (
    Failed,
    How,
    Provider,
    Used,
    at,
    count,
    cut_off,
    declined,
    is_closed,
    one_call,
    patient,
    read_json,
    turned_away,
    unreachable,
    unread,
)
from repair_ladder.ports import ROOM_TO_THINK, Ask, Question, Reply, Tool

DEFAULT_MODEL: Final = DEFAULT_MODELS["anthropic"]
ADDRESS: Final = "https://api.anthropic.com"
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
    *, key: str | None, model: str = DEFAULT_MODEL, base_url: str | None = None, **how: Unpack[How]
) -> Ask:
    """An Ask that never raises and never names the key; see `How` for its patience."""
    provider = Provider("the Anthropic API", at(base_url or ADDRESS), model, (key or "").strip())
    door = _Door(provider, base_url or ADDRESS, _Manner(forced=not model.startswith(NEVER_FORCED)))
    return patient(provider, door.send, **how)


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


@dataclass(slots=True)
class _Door:
    provider: Provider
    base_url: str
    manner: _Manner  # grows plainer as the server says what it does not take, and stays so

    async def send(self, question: Question) -> Reply | Failed:
        manner = self.manner
        try:
            async with AsyncAnthropic(
                api_key=self.provider.key,
                base_url=self.base_url,
                timeout=None,
                max_retries=0,
                open_telemetry=False,
                # A redirect would take the key and the question to whomever it names.
                http_client=DefaultAsyncHttpxClient(follow_redirects=False, timeout=None),
            ) as client:
                raw = await client.messages.with_raw_response.create(
                    model=self.provider.model,
                    max_tokens=question.max_tokens + ROOM_TO_THINK,
                    system=question.system,
                    messages=[{"role": "user", "content": question.text}],
                    tools=[_tool(tool, strict=manner.strict) for tool in question.tools],
                    tool_choice=_choice(question, forced=manner.forced),
                    output_config={"effort": "medium"} if manner.effort else omit,
                )
        except APITimeoutError as error:
            raise TimeoutError from error
        except APIConnectionError as error:
            return unreachable(self.provider, error)
        except APIStatusError as error:
            return self._turned_away(error, manner)
        body = read_json(raw.http_response.content)
        return _read(body, question) or unread(self.provider, "the Messages API")

    def _turned_away(self, error: APIStatusError, manner: _Manner) -> Failed:
        said = self.provider.tidy(error.api_message)
        failed = turned_away(
            self.provider,
            error.status_code,
            error.api_message,
            error.response.headers,
            no_credit="credit balance" in said,
        )
        plainer = manner.plainer(said) if error.status_code == 400 else None
        if plainer is None:
            return failed
        self.manner = plainer
        return replace(failed, at_once=True)


def _tool(tool: Tool, *, strict: bool) -> ToolParam:
    param = ToolParam(name=tool.name, description=tool.description, input_schema=dict(tool.schema))
    if strict and is_closed(tool.schema):
        param["strict"] = True
    return param


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
    used = _used(body.get("usage"))
    match body.get("stop_reason"):
        case "refusal":
            details = body.get("stop_details")
            return declined(used, details.get("category") if isinstance(details, dict) else None)
        case "max_tokens" | "model_context_window_exceeded":
            return cut_off(used)
    blocks: list[Mapping[str, Any]] = [
        block for block in body["content"] if isinstance(block, dict) and block.get("type") == "tool_use"
    ]
    calls = [(block.get("name"), _no_text(block.get("input"))) for block in blocks]
    return one_call(calls, question, used, body.get("model"))


def _no_text(arguments: object) -> object:
    """The arguments of this API are an object; one that comes as text is no call."""
    return None if isinstance(arguments, str) else arguments


def _used(usage: object) -> Used:
    read = count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Used(read, count(usage, "output_tokens"), count(usage, "cache_read_input_tokens"))
