"""Door: Ask by way of the Chat Completions API: OpenAI's own, or any server that speaks it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, DefaultAsyncHttpxClient, omit
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolChoiceOptionParam
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
    silent,
    turned_away,
    unreachable,
    unread,
)
from repair_ladder.ports import ROOM_TO_THINK, Ask, Question, Reply, Tool

DEFAULT_MODEL: Final = DEFAULT_MODELS["openai"]
ADDRESS: Final = "https://api.openai.com/v1"
NO_KEY: Final = "none"  # what a server of one's own that wants no key is sent
OUT_OF_CREDIT: Final = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


def openai_ask(*, key: str | None, model: str = DEFAULT_MODEL, base_url: str | None = None, **how: Unpack[How]) -> Ask:
    """An Ask that never raises and never names the key; see `How` for its patience.

    A server at another `base_url` than OpenAI's may want no key, so none is asked for there.
    """
    provider = Provider("the OpenAI API", at(base_url or ADDRESS), model, (key or "").strip())
    door = _Door(provider, base_url or ADDRESS, _Manner())
    return patient(provider, door.send, needs_key=base_url is None, **how)


@dataclass(frozen=True, slots=True)
class _Manner:
    """Which of the newer or stricter features a request uses. Models and servers differ in what they accept."""

    forced: bool = True  # the model must call a tool
    strict: bool = True  # its arguments follow the schema
    single: bool = True  # one call and not several
    newer: bool = True  # the bound of the answer under its newer name

    def plainer(self, refusal: str) -> _Manner | None:
        """The manner without what a 400 complains of; None where it complains of something else."""
        if self.newer and "max_completion_tokens" in refusal:
            return replace(self, newer=False)
        if self.single and "parallel_tool_calls" in refusal:
            return replace(self, single=False)
        if self.forced and "tool_choice" in refusal:
            return replace(self, forced=False)
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
        room = question.max_tokens + ROOM_TO_THINK
        try:
            async with AsyncOpenAI(
                api_key=self.provider.key or NO_KEY,
                base_url=self.base_url,
                timeout=None,
                max_retries=0,
                # A redirect would take the question, if not the key, to whomever it names.
                http_client=DefaultAsyncHttpxClient(follow_redirects=False, timeout=None),
            ) as client:
                raw = await client.chat.completions.with_raw_response.create(
                    model=self.provider.model,
                    messages=[
                        {"role": "system", "content": question.system},
                        {"role": "user", "content": question.text},
                    ],
                    tools=[_tool(tool, strict=manner.strict) for tool in question.tools],
                    tool_choice=_choice(question, forced=manner.forced),
                    parallel_tool_calls=False if manner.single else omit,
                    max_completion_tokens=room if manner.newer else omit,
                    max_tokens=omit if manner.newer else room,
                )
        except APITimeoutError as error:
            raise TimeoutError from error
        except APIConnectionError as error:
            return unreachable(self.provider, error)
        except APIStatusError as error:
            return self._turned_away(error, manner)
        body = read_json(raw.http_response.content)
        return _read(body, question) or unread(self.provider, "the Chat Completions API")

    def _turned_away(self, error: APIStatusError, manner: _Manner) -> Failed:
        body = error.body if isinstance(error.body, dict) else {}
        said = body.get("message") or error.message
        failed = turned_away(
            self.provider,
            error.status_code,
            said,
            error.response.headers,
            no_credit=error.code in OUT_OF_CREDIT or error.type in OUT_OF_CREDIT,
        )
        refused = f"{error.param} {said}" if error.status_code in (400, 422) else ""
        plainer = manner.plainer(refused[:2000])
        if plainer is None:
            return failed
        self.manner = plainer
        return replace(failed, at_once=True)


def _tool(tool: Tool, *, strict: bool) -> ChatCompletionFunctionToolParam:
    param = ChatCompletionFunctionToolParam(
        type="function",
        function={"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
    )
    if strict and is_closed(tool.schema):
        param["function"]["strict"] = True
    return param


def _choice(question: Question, *, forced: bool) -> ChatCompletionToolChoiceOptionParam:
    if not forced:
        return "auto"
    if len(question.tools) == 1:
        return {"type": "function", "function": {"name": question.tools[0].name}}
    return "required"


def _read(body: object, question: Question) -> Reply | None:
    """The one tool call in the first choice, or why there is none; None for what is no completion at all."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(choices, list):
        return None
    if not choices:
        return silent(_used(body.get("usage")))
    if not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    if not isinstance(message, dict):
        return None
    used = _used(body.get("usage"))
    if choices[0].get("finish_reason") == "content_filter" or message.get("refusal"):
        return declined(used)
    if choices[0].get("finish_reason") == "length":
        return cut_off(used)
    raw = message.get("tool_calls")
    calls = [_call(one) for one in raw if isinstance(one, dict)] if isinstance(raw, list) else []
    return one_call(calls, question, used, body.get("model"))


def _call(raw: dict[str, Any]) -> tuple[object, object]:
    function = raw.get("function")
    return (function.get("name"), function.get("arguments")) if isinstance(function, dict) else (None, None)


def _used(usage: object) -> Used:
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    return Used(count(usage, "prompt_tokens"), count(usage, "completion_tokens"), count(details, "cached_tokens"))
