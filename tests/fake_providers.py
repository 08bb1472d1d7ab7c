"""Servers on loopback that speak the Chat Completions and the Gemini API, beside the one for the Messages API.

A Dialect makes the same answers in the form of each, so that one table of cases holds for all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from repair_ladder.models.anthropic import anthropic_ask
from repair_ladder.models.gemini import gemini_ask
from repair_ladder.models.openai import openai_ask
from repair_ladder.ports import Ask
from tests import fake_messages
from tests.fake_messages import Answer, FakeMessages


def _json(body: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(json.dumps(body).encode(), status, {"content-type": "application/json", **named})


# --- Chat Completions --------------------------------------------------------------------------------------


class FakeChat(FakeMessages):
    PATH = re.compile(r"/v1/chat/completions\Z")

    @property
    def url(self) -> str:
        return f"{super().url}/v1"


def chat(message: Any, *, finish: str = "tool_calls", tokens: tuple[int, int, int] = (100, 20, 0)) -> Answer:
    return _json(
        {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "created": 1,
            "model": "fake-model",
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": {
                "prompt_tokens": tokens[0],
                "completion_tokens": tokens[1],
                "prompt_tokens_details": {"cached_tokens": tokens[2]},
            },
        }
    )


def chat_calls(*calls: tuple[Any, Any], **more: Any) -> Answer:
    raw = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    return chat({"role": "assistant", "content": None, "tool_calls": raw}, **more)


def chat_error(status: int, words: str, *, code: str | None = None, param: str | None = None, **headers: str) -> Answer:
    return _json({"error": {"message": words, "type": "fake", "code": code, "param": param}}, status, **headers)


# --- Gemini ------------------------------------------------------------------------------------------------


class FakeGemini(FakeMessages):
    PATH = re.compile(r"/v1beta/models/[\w.-]+:generateContent\Z")


def gemini(*parts: Any, finish: str = "STOP", tokens: tuple[int, int, int] = (100, 20, 0), **more: Any) -> Answer:
    return _json(
        {
            "candidates": [{"index": 0, "finishReason": finish, "content": {"role": "model", "parts": list(parts)}}],
            "usageMetadata": {
                "promptTokenCount": tokens[0],
                "candidatesTokenCount": tokens[1],
                "cachedContentTokenCount": tokens[2],
            },
            "modelVersion": "fake-model",
            **more,
        }
    )


def gemini_calls(*calls: tuple[Any, Any], **more: Any) -> Answer:
    return gemini(*({"functionCall": {"name": name, "args": given}} for name, given in calls), **more)


def gemini_error(status: int, words: str, *, details: list[Any] | None = None, **headers: str) -> Answer:
    body = {"error": {"code": status, "message": words, "status": "FAKE", "details": details or []}}
    return _json(body, status, **headers)


# --- the same answers in every form ------------------------------------------------------------------------


@dataclass(frozen=True)
class Dialect:
    server: type[FakeMessages]
    ask: Callable[..., Ask]
    calls: Callable[..., Answer]  # (name, arguments)…, tokens=(input, output, cached)
    text: Callable[[str], Answer]
    refusal: Callable[[], Answer]
    cut: Callable[[], Answer]
    error: Callable[..., Answer]  # status, words, **headers
    out_of_credit: Callable[[], Answer]


def _message_calls(*calls: tuple[Any, Any], tokens: tuple[int, int, int] = (100, 20, 0)) -> Answer:
    usage = {
        "input_tokens": tokens[0] - tokens[2],
        "cache_read_input_tokens": tokens[2],
        "output_tokens": tokens[1],
    }
    blocks = [fake_messages.call_block(name, given) for name, given in calls]
    return fake_messages.message(*blocks, stop="tool_use", usage=usage)


DIALECTS = {
    "anthropic": Dialect(
        FakeMessages,
        anthropic_ask,
        _message_calls,
        fake_messages.text,
        fake_messages.refusal,
        fake_messages.cut,
        lambda status, words, **headers: fake_messages.error(status, "fake_error", words, **headers),
        lambda: fake_messages.error(400, "invalid_request_error", "Your credit balance is too low"),
    ),
    "openai": Dialect(
        FakeChat,
        openai_ask,
        chat_calls,
        lambda words: chat({"role": "assistant", "content": words}, finish="stop"),
        lambda: chat({"role": "assistant", "content": None, "refusal": "I will not."}, finish="stop"),
        lambda: chat({"role": "assistant", "content": "The but"}, finish="length"),
        chat_error,
        lambda: chat_error(429, "You exceeded your current quota", code="insufficient_quota"),
    ),
    "gemini": Dialect(
        FakeGemini,
        gemini_ask,
        gemini_calls,
        lambda words: gemini({"text": words}),
        lambda: gemini(finish="SAFETY"),
        lambda: gemini({"text": "The but"}, finish="MAX_TOKENS"),
        gemini_error,
        lambda: gemini_error(402, "no credit"),
    ),
}
