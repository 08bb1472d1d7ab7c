"""Door: Ask by way of the Gemini API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx
from google import genai
from google.genai import errors, types
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
    one_call,
    patient,
    read_json,
    silent,
    turned_away,
    unreachable,
    unread,
)
from repair_ladder.ports import ROOM_TO_THINK, Ask, Question, Reply, Tool, Unanswered

DEFAULT_MODEL: Final = DEFAULT_MODELS["gemini"]
ADDRESS: Final = "https://generativelanguage.googleapis.com"
REFUSALS: Final = frozenset(
    "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY MODEL_ARMOR".split()
)


def gemini_ask(*, key: str | None, model: str = DEFAULT_MODEL, base_url: str | None = None, **how: Unpack[How]) -> Ask:
    """An Ask that never raises and never names the key; see `How` for its patience."""
    provider = Provider("the Gemini API", at(base_url or ADDRESS), model, (key or "").strip())
    door = _Door(provider, base_url or ADDRESS, _Manner())
    return patient(provider, door.send, **how)


@dataclass(frozen=True, slots=True)
class _Manner:
    """Which of the stricter features a request uses. Models differ in what they accept."""

    forced: bool = True  # the model must call a function
    whole: bool = True  # the arguments' schema as it stands

    def plainer(self, refusal: str) -> _Manner | None:
        """The manner without what a 400 complains of; None where it complains of something else."""
        if self.forced and re.search(r"function.?calling|tool.?config|mode", refusal, re.IGNORECASE):
            return replace(self, forced=False)
        if self.whole and re.search(r"schema|additional.?properties|any.?of", refusal, re.IGNORECASE):
            return replace(self, whole=False)
        return None


@dataclass(slots=True)
class _Door:
    provider: Provider
    base_url: str
    manner: _Manner  # grows plainer as the server says what it does not take, and stays so

    async def send(self, question: Question) -> Reply | Failed:
        manner = self.manner
        try:
            # A client of ours: what the SDK makes by itself tries again by itself where aiohttp is installed.
            async with httpx.AsyncClient(timeout=None) as http:
                client = genai.Client(
                    enterprise=False,
                    api_key=self.provider.key,
                    http_options=types.HttpOptions(
                        base_url=self.base_url, api_version="v1beta", httpx_async_client=http
                    ),
                )
                answer = await client.aio.models.generate_content(
                    model=self.provider.model, contents=question.text, config=_config(question, manner)
                )
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except httpx.TransportError as error:
            return unreachable(self.provider, error)
        except errors.APIError as error:
            return self._turned_away(error, manner)
        response = answer.sdk_http_response
        body = read_json(response.body or "") if response is not None else None
        return _read(body, question) or unread(self.provider, "the Gemini API")

    def _turned_away(self, error: errors.APIError, manner: _Manner) -> Failed:
        said = error.message if isinstance(error.message, str) else ""
        raw = getattr(error.response, "headers", None)
        failed = turned_away(
            self.provider,
            error.code,
            said,
            raw if isinstance(raw, Mapping) else {},
            bad_key="API key not valid" in said or "API_KEY_INVALID" in str(error.details)[:5000],
            retry_after_s=_retry_delay_s(error.details),
        )
        plainer = manner.plainer(said[:2000]) if error.code == 400 and failed.reply.why == "error" else None
        if plainer is None:
            return failed
        self.manner = plainer
        return replace(failed, at_once=True)


def _config(question: Question, manner: _Manner) -> types.GenerateContentConfig:
    names = [tool.name for tool in question.tools]
    calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.AUTO)
    if manner.forced:
        calling = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=names)
    return types.GenerateContentConfig(
        system_instruction=question.system,
        max_output_tokens=question.max_tokens + ROOM_TO_THINK,
        tools=[types.Tool(function_declarations=[_tool(tool, whole=manner.whole) for tool in question.tools])],
        tool_config=types.ToolConfig(function_calling_config=calling),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        should_return_http_response=True,
    )


def _tool(tool: Tool, *, whole: bool) -> types.FunctionDeclaration:
    schema = dict(tool.schema) if whole else _plain(tool.schema)
    return types.FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=schema)


def _plain(schema: Any) -> Any:
    """The schema in the few words that every model takes; what is lost is checked when the answer is read anyway."""
    if isinstance(schema, Mapping):
        plain = {key: _plain(value) for key, value in schema.items() if key not in ("additionalProperties", "anyOf")}
        choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
        return {**_plain(choices[0]), **plain, "nullable": True} if choices else plain
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema


def _retry_delay_s(details: object) -> float | None:
    """RetryInfo of an error: {"retryDelay": "30s"}."""
    error = details.get("error", details) if isinstance(details, dict) else None
    rows = error.get("details") if isinstance(error, dict) else None
    for row in rows if isinstance(rows, list) else ():
        delay = row.get("retryDelay") if isinstance(row, dict) else None
        if isinstance(delay, str) and re.fullmatch(r"\d{1,9}(\.\d{1,9})?s", delay):
            return float(delay[:-1])
    return None


def _read(body: object, question: Question) -> Reply | None:
    """The one function call of the first candidate, or why there is none; None for what is no answer at all."""
    if not isinstance(body, dict) or not body.keys() & {"candidates", "promptFeedback", "usageMetadata"}:
        return None
    used = _used(body.get("usageMetadata"))
    feedback = body.get("promptFeedback")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        return declined(used, feedback["blockReason"])
    candidates = body.get("candidates", [])
    if candidates == []:
        return silent(used)
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    if not isinstance(first, dict):
        return None
    return _ended(first.get("finishReason"), used) or one_call(_calls(first), question, used, body.get("modelVersion"))


def _ended(reason: object, used: Used) -> Unanswered | None:
    if reason == "MAX_TOKENS":
        return cut_off(used)
    return declined(used, reason) if isinstance(reason, str) and reason in REFUSALS else None


def _calls(candidate: Mapping[str, Any]) -> list[tuple[object, object]]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    found = [part.get("functionCall") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    # Arguments that come as text are no object, and so no call.
    return [
        (one.get("name"), None if isinstance(one.get("args"), str) else one.get("args", {}))
        for one in found
        if isinstance(one, dict)
    ]


def _used(usage: object) -> Used:
    """What a model thinks is counted beside what it says, and paid like it."""
    return Used(
        count(usage, "promptTokenCount", "toolUsePromptTokenCount"),
        count(usage, "candidatesTokenCount", "thoughtsTokenCount"),
        count(usage, "cachedContentTokenCount"),
    )
