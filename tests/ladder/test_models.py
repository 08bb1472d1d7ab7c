"""The Anthropic door, with the real SDK against a server on loopback."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, get_args

import pytest
from anthropic.types import Model

from repair_ladder.models.anthropic import DEFAULT_MODEL, anthropic_ask
from repair_ladder.ports import Answered, Ask, Question, Reply, Tool, Unanswered, Unavailable
from tests import fake_messages as fake
from tests.fake_messages import Entry, FakeMessages

KEY = "sk-ant-very-secret-0123456789"
CHOOSE = Tool(
    "choose_element",
    "Says which candidate it is.",
    {"type": "object", "properties": {"choice": {"type": "integer"}}, "required": [], "additionalProperties": False},
)
PROPOSE = Tool("propose", "Proposes.", {"type": "object", "properties": {"new": {"type": "object"}}})
QUESTION = Question("You mend tests.", "Which one is it?", (CHOOSE,), max_tokens=500)
CHOSEN = fake.tool_call("choose_element", {"choice": 2})


class Naps(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def asker(server: FakeMessages, naps: Naps | None = None, **more: Any) -> Ask:
    options: dict[str, Any] = {"key": KEY, "model": "claude-haiku-5-5", "base_url": server.url, "jitter": lambda: 0.5}
    return anthropic_ask(**{**options, "sleep": Naps() if naps is None else naps, **more})


async def ask(script: Iterable[Entry], naps: Naps | None = None, **more: Any) -> tuple[Reply, FakeMessages]:
    with FakeMessages(script) as server:
        return await asker(server, naps, **more)(QUESTION), server


async def test_a_tool_call_comes_back_with_its_tokens() -> None:
    reply, server = await ask([fake.tool_call("choose_element", {"choice": 2}, tokens=(321, 7))])

    assert reply == Answered("choose_element", {"choice": 2}, 321, 7, "fake-model")
    assert len(server.requests) == 1


async def test_the_question_is_sent_whole_with_one_forced_strict_tool() -> None:
    _, server = await ask([CHOSEN])

    sent = server.requests[0]
    assert sent.path == "/v1/messages"
    assert sent.key == KEY
    assert (sent.system, sent.text) == ("You mend tests.", "Which one is it?")
    assert sent.json["tool_choice"] == {"type": "tool", "name": "choose_element", "disable_parallel_tool_use": True}
    assert sent.json["tools"][0]["strict"] is True
    assert sent.json["max_tokens"] >= 500
    assert sent.headers["x-stainless-retry-count"] == "0"


async def test_of_several_tools_any_is_forced_and_an_open_schema_is_not_called_strict() -> None:
    with FakeMessages([CHOSEN]) as server:
        await asker(server)(Question("s", "t", (CHOOSE, PROPOSE)))

    sent = server.requests[0].json
    assert sent["tool_choice"]["type"] == "any"
    assert ["strict" in tool for tool in sent["tools"]] == [True, False]


def test_the_default_model_is_one_the_sdk_knows() -> None:
    names = [name for part in get_args(Model) for name in get_args(part)]

    assert DEFAULT_MODEL in names
    assert "sonnet" in DEFAULT_MODEL


async def test_the_default_model_is_left_to_choose_because_it_rejects_forcing() -> None:
    with FakeMessages([CHOSEN]) as server:
        await anthropic_ask(key=KEY, base_url=server.url)(QUESTION)

    assert server.requests[0].json["model"] == DEFAULT_MODEL
    assert server.requests[0].json["tool_choice"]["type"] == "auto"


@pytest.mark.parametrize(
    ("complaint", "gone"),
    [
        ('tool_choice: type "tool" and "any" are not supported for this model.', "forced"),
        ("This model does not support the effort parameter.", "effort"),
        ("tools.0.custom.strict: Extra inputs are not permitted", "strict"),
    ],
)
async def test_what_a_server_does_not_take_is_left_out_at_once_and_from_then_on(complaint: str, gone: str) -> None:
    naps = Naps()
    with FakeMessages([fake.error(400, "invalid_request_error", complaint), CHOSEN, CHOSEN]) as server:
        door = asker(server, naps)
        replies = [await door(QUESTION), await door(QUESTION)]

    assert all(isinstance(reply, Answered) for reply in replies)
    assert naps == []
    for request, without in zip(server.requests, (False, True, True), strict=True):
        has = {
            "forced": request.json["tool_choice"]["type"] != "auto",
            "effort": "output_config" in request.json,
            "strict": "strict" in request.json["tools"][0],
        }
        assert has == {name: not (without and name == gone) for name in has}


@pytest.mark.parametrize("key", [None, "", "  \n"])
async def test_without_a_key_nothing_is_sent_though_the_environment_has_one(
    key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")

    reply, server = await ask([CHOSEN], key=key)

    assert isinstance(reply, Unavailable)
    assert reply.why == "no_key"
    assert server.requests == []


@pytest.mark.parametrize("key", ["schlüssel", "two words", "sk\r\nx-other: 1", "sk\0"])
async def test_a_key_that_fits_no_header_is_a_bad_key(key: str) -> None:
    reply, server = await ask([CHOSEN], key=key)

    assert isinstance(reply, Unavailable)
    assert reply.why == "bad_key"
    assert key not in reply.message
    assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (fake.bad_key(), "bad_key"),
        (fake.error(403, "permission_error", "no"), "bad_key"),
        (fake.error(402, "billing_error", "no"), "budget"),
        (fake.error(400, "invalid_request_error", "Your credit balance is too low"), "budget"),
        (fake.error(400, "invalid_request_error", "messages: too long"), "error"),
        (fake.error(404, "not_found_error", "model: nope"), "error"),
        (fake.error(413, "request_too_large", "no"), "error"),
        (fake.rate_limited("3600"), "rate_limited"),
        (fake.error(500, "api_error", "no", x_should_retry="false"), "error"),
        (fake.garbage(), "error"),
        (fake.garbage(b"<html>", "text/html"), "error"),
        (fake.garbage(b"\xff\xfe"), "error"),
        (fake.garbage(b"[" * 100_000), "error"),
        (fake.garbage(b'{"content": 5}'), "error"),
        (fake.garbage(b"null"), "error"),
        (fake.garbage(b""), "error"),
    ],
)
async def test_what_cannot_pass_by_itself_is_asked_once(answer: fake.Answer, why: str) -> None:
    naps = Naps()

    reply, server = await ask([answer], naps)

    assert isinstance(reply, Unavailable)
    assert reply.why == why
    assert len(server.requests) == 1
    assert naps == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (fake.rate_limited("2"), "rate_limited"),
        (fake.rate_limited(), "rate_limited"),
        (fake.rate_limited("soon"), "rate_limited"),
        (fake.rate_limited("nan"), "rate_limited"),
        (fake.overloaded(), "overloaded"),
        (fake.error(503, "api_error", "later"), "overloaded"),
        (fake.broken(), "error"),
        (fake.dropped(), "network"),
    ],
)
async def test_what_can_pass_is_asked_three_times_and_then_unavailable(answer: fake.Answer, why: str) -> None:
    naps = Naps()

    reply, server = await ask([answer] * 5, naps)

    assert isinstance(reply, Unavailable)
    assert reply.why == why
    assert len(server.requests) == 3
    assert len(naps) == 2
    assert all(0 < nap <= 21 for nap in naps)


async def test_an_answer_after_two_failures_counts() -> None:
    reply, server = await ask([fake.overloaded(), fake.dropped(), CHOSEN])

    assert isinstance(reply, Answered)
    assert len(server.requests) == 3


async def test_a_short_retry_after_is_waited_out_and_a_little_more() -> None:
    naps = Naps()

    await ask([fake.rate_limited("7"), CHOSEN], naps)

    assert naps == [7.5]


async def test_a_long_retry_after_is_handed_on() -> None:
    reply, _ = await ask([fake.rate_limited("3600")])

    assert isinstance(reply, Unavailable)
    assert reply.retry_after_s == 3600


async def test_a_date_in_retry_after_is_read_against_the_date_of_the_answer() -> None:
    naps = Naps()
    answer = fake.error(429, "rate_limit_error", "slow", retry_after="Wed, 21 Oct 2015 07:28:10 GMT")

    reply, _ = await ask([answer, CHOSEN], naps)

    assert isinstance(reply, Answered)
    assert naps == [0.5]  # long past


async def test_a_slow_answer_is_a_timeout_and_not_asked_again() -> None:
    reply, server = await ask([fake.slow()], timeout=timedelta(seconds=1))

    assert isinstance(reply, Unavailable)
    assert reply.why == "timeout"
    assert len(server.requests) == 1


async def test_nobody_listening_is_a_network_error() -> None:
    with FakeMessages() as server:
        address = server.url

    reply = await anthropic_ask(key=KEY, base_url=address, sleep=Naps())(QUESTION)

    assert isinstance(reply, Unavailable)
    assert reply.why == "network"


@pytest.mark.parametrize(
    "address", ["not an address", "http://[bad", "ftp://127.0.0.1", "http://user:pw@[", "http://:x"]
)
async def test_an_address_that_is_none_is_unavailable_and_its_password_is_not_told(address: str) -> None:
    reply = await anthropic_ask(key=KEY, base_url=address, sleep=Naps())(QUESTION)

    assert isinstance(reply, Unavailable)
    assert "pw" not in reply.message


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (fake.refusal(), "refusal"),
        (fake.refusal("cyber"), "refusal"),
        (fake.cut(fake.call_block("choose_element", {})), "cut"),
        (fake.message(stop="model_context_window_exceeded"), "cut"),
        (fake.text("It is the second one."), "nonsense"),
        (fake.message(), "nonsense"),
        (fake.message("words", 5, None, stop="tool_use"), "nonsense"),
        (fake.tool_call("delete_everything", {}), "nonsense"),
        (fake.tool_call("choose_element", [1]), "nonsense"),
        (fake.tool_call("choose_element", "1"), "nonsense"),
        (fake.message(*[fake.call_block("choose_element", {"choice": 1})] * 2, stop="tool_use"), "nonsense"),
    ],
)
async def test_an_answer_that_is_no_tool_call_is_unanswered_and_its_tokens_count(answer: fake.Answer, why: str) -> None:
    reply, server = await ask([answer])

    assert isinstance(reply, Unanswered)
    assert reply.why == why
    assert (reply.input_tokens, reply.output_tokens) == (100, 20)
    assert len(server.requests) == 1


async def test_thinking_before_the_call_is_passed_over_and_cached_tokens_are_counted() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 1, "output_tokens": True}
    thought = {"type": "thinking", "thinking": "", "signature": "x"}

    reply, _ = await ask([fake.message(thought, fake.call_block("choose_element", {}), stop="tool_use", usage=usage)])

    assert isinstance(reply, Answered)
    assert (reply.input_tokens, reply.output_tokens) == (76, 0)


async def test_the_key_is_in_no_message_repr_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with FakeMessages([fake.error(401, "authentication_error", f"key {KEY} is\nnot valid\x1b[0m")]) as server:
        door = asker(server)
        reply = await door(QUESTION)

    assert isinstance(reply, Unavailable)
    assert reply.message.endswith("key [hidden] is not valid [0m")
    assert KEY not in repr(reply) + repr(door) + caplog.text


async def test_a_cancelled_ask_is_cancelled() -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(_: fake.Request) -> fake.Answer:
        loop.call_soon_threadsafe(arrived.set)
        return fake.slow()

    with FakeMessages([answer]) as server:
        task = asyncio.ensure_future(asker(server)(QUESTION))
        await arrived.wait()
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_fake_server_tells_of_a_script_that_raised() -> None:
    def check(request: fake.Request) -> fake.Answer:
        assert request.text == "something else"
        return CHOSEN

    with pytest.raises(AssertionError, match="something else"), FakeMessages([check]) as server:
        await asker(server)(QUESTION)


async def test_the_fake_server_turns_away_another_key_and_what_is_beyond_the_script() -> None:
    with FakeMessages([CHOSEN], key="the-right-one") as server:
        wrong = await asker(server)(QUESTION)
        right = asker(server, key="the-right-one")
        replies = [await right(QUESTION), await right(QUESTION)]

    assert isinstance(wrong, Unavailable)
    assert wrong.why == "bad_key"
    assert isinstance(replies[0], Answered)
    assert isinstance(replies[1], Unavailable)
