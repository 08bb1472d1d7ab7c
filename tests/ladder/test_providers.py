"""The contract of all providers by HTTP, each with its real SDK against a server on loopback that speaks its API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import pytest

from repair_ladder.models.openai import openai_ask
from repair_ladder.ports import Answered, Question, Reply, Tool, Unanswered, Unavailable
from tests import fake_messages as fake
from tests import fake_providers
from tests.fake_messages import Entry, FakeMessages
from tests.fake_providers import DIALECTS, Dialect

KEY = "sk-very-secret-0123456789"
CHOOSE = Tool(
    "choose_element",
    "Says which candidate it is.",
    {
        "type": "object",
        "properties": {"choice": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "required": ["choice"],
        "additionalProperties": False,
    },
)
PROPOSE = Tool("propose", "Proposes.", {"type": "object", "properties": {"new": {"type": "object"}}})
QUESTION = Question("You mend tests.", "Which one is it?", (CHOOSE,), max_tokens=500)
CHOICE = ("choose_element", {"choice": 2})


@pytest.fixture(params=list(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[request.param]


class Naps(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


async def ask(
    dialect: Dialect, script: Iterable[Entry], naps: Naps | None = None, question: Question = QUESTION, **more: Any
) -> tuple[Reply, FakeMessages]:
    options: dict[str, Any] = {"key": KEY, "model": "a-model", "jitter": lambda: 0.5}
    with dialect.server(script) as server:
        door = dialect.ask(**{**options, "base_url": server.url, "sleep": Naps() if naps is None else naps, **more})
        return await door(question), server


async def test_a_tool_call_comes_back_with_its_tokens(dialect: Dialect) -> None:
    reply, server = await ask(dialect, [dialect.calls(CHOICE, tokens=(321, 7, 21))])

    assert reply == Answered("choose_element", {"choice": 2}, 321, 7, "fake-model", 21)
    assert [one.key for one in server.requests] == [KEY]


async def test_the_question_is_sent_whole_with_one_forced_tool(dialect: Dialect) -> None:
    _, server = await ask(dialect, [dialect.calls(CHOICE)])

    sent = repr(server.requests[0].json)
    assert "You mend tests." in sent
    assert "Which one is it?" in sent
    assert "Says which candidate it is." in sent
    assert "additionalProperties" in sent
    assert any(forced in sent for forced in ("'type': 'tool'", "'tool_choice': {'type': 'function'", "'mode': 'ANY'"))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(lambda one: one.error(401, "invalid key"), "bad_key", id="401"),
        pytest.param(lambda one: one.error(403, "not for you"), "bad_key", id="403"),
        pytest.param(lambda one: one.out_of_credit(), "budget", id="no credit"),
        pytest.param(lambda one: one.error(400, "the messages are too long"), "error", id="400"),
        pytest.param(lambda one: one.error(404, "no such model"), "error", id="404"),
        pytest.param(lambda one: one.error(429, "later", retry_after="3600"), "rate_limited", id="429 for long"),
        pytest.param(lambda one: fake.garbage(), "error", id="not JSON"),
        pytest.param(lambda one: fake.garbage(b"null"), "error", id="null"),
        pytest.param(lambda one: fake.garbage(b"[" * 50_000), "error", id="deep"),
        pytest.param(lambda one: fake.garbage(b'{"choices": 5, "candidates": 5, "content": 5}'), "error", id="types"),
        pytest.param(lambda one: fake.garbage(b"\xff\xfe"), "error", id="not UTF-8"),
        pytest.param(lambda one: fake.garbage(b'"' + b"a" * 4_500_000 + b'"'), "error", id="huge"),
    ],
)
async def test_what_cannot_pass_by_itself_is_asked_once(
    dialect: Dialect, make: Callable[[Dialect], fake.Answer], why: str
) -> None:
    naps = Naps()

    reply, server = await ask(dialect, [make(dialect)], naps)

    assert isinstance(reply, Unavailable)
    assert reply.why == why
    assert len(server.requests) == 1
    assert naps == []


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(lambda one: one.error(429, "slow down", retry_after="2"), "rate_limited", id="429 for short"),
        pytest.param(lambda one: one.error(429, "slow down"), "rate_limited", id="429"),
        pytest.param(lambda one: one.error(529, "busy"), "overloaded", id="529"),
        pytest.param(lambda one: one.error(503, "busy"), "overloaded", id="503"),
        pytest.param(lambda one: one.error(500, "broken"), "error", id="500"),
        pytest.param(lambda one: fake.dropped(), "network", id="lost"),
    ],
)
async def test_what_can_pass_is_asked_three_times_and_then_unavailable(
    dialect: Dialect, make: Callable[[Dialect], fake.Answer], why: str
) -> None:
    naps = Naps()

    reply, server = await ask(dialect, [make(dialect)] * 5, naps)

    assert isinstance(reply, Unavailable)
    assert reply.why == why
    assert len(server.requests) == 3
    assert len(naps) == 2
    assert all(0 < nap <= 21 for nap in naps)


async def test_an_answer_after_two_failures_counts(dialect: Dialect) -> None:
    script = [dialect.error(529, "busy"), dialect.error(429, "slow", retry_after="7"), dialect.calls(CHOICE)]
    naps = Naps()

    reply, _ = await ask(dialect, script, naps)

    assert isinstance(reply, Answered)
    assert naps[1] == 7.5


async def test_a_slow_answer_is_a_timeout_and_not_asked_again(dialect: Dialect) -> None:
    reply, server = await ask(dialect, [fake.slow()], timeout=timedelta(seconds=3))

    assert isinstance(reply, Unavailable)
    assert reply.why == "timeout"
    assert len(server.requests) == 1


async def test_nobody_listening_is_a_network_error(dialect: Dialect) -> None:
    with dialect.server() as server:
        address = server.url

    reply = await dialect.ask(key=KEY, model="m", base_url=address, sleep=Naps())(QUESTION)

    assert isinstance(reply, Unavailable)
    assert reply.why == "network"


@pytest.mark.parametrize("address", ["not an address", "http://[bad", "http://user:pw@[", "http://:x"])
async def test_an_address_that_is_none_is_unavailable_and_its_password_is_not_told(
    dialect: Dialect, address: str
) -> None:
    reply = await dialect.ask(key=KEY, model="m", base_url=address, sleep=Naps())(QUESTION)

    assert isinstance(reply, Unavailable)
    assert "pw" not in reply.message


@pytest.mark.parametrize("key", [None, "", " \n"])
async def test_without_a_key_nothing_is_sent_though_the_environment_has_one(
    dialect: Dialect, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "from-the-environment")

    reply = await dialect.ask(key=key, model="m", sleep=Naps())(QUESTION)

    assert isinstance(reply, Unavailable)
    assert reply.why == "no_key"


@pytest.mark.parametrize("key", ["schlüssel", "two words", "sk\r\nx-other: 1"])
async def test_a_key_that_fits_no_header_is_a_bad_key(dialect: Dialect, key: str) -> None:
    reply, server = await ask(dialect, [dialect.calls(CHOICE)], key=key)

    assert isinstance(reply, Unavailable)
    assert reply.why == "bad_key"
    assert key not in reply.message
    assert server.requests == []


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(lambda one: one.refusal(), "refusal", id="a refusal"),
        pytest.param(lambda one: one.cut(), "cut", id="cut off"),
        pytest.param(lambda one: one.text("It is the second one."), "nonsense", id="words"),
        pytest.param(lambda one: one.calls(("delete_everything", {})), "nonsense", id="another tool"),
        pytest.param(lambda one: one.calls((7, {})), "nonsense", id="a name that is a number"),
        pytest.param(lambda one: one.calls(("choose_element", [1])), "nonsense", id="a list"),
        pytest.param(lambda one: one.calls(("choose_element", "choose two")), "nonsense", id="a text"),
        pytest.param(lambda one: one.calls(CHOICE, CHOICE), "nonsense", id="two calls"),
        pytest.param(lambda one: one.calls(("choose_element", "[" * 9000)), "nonsense", id="deep arguments"),
    ],
)
async def test_an_answer_that_is_no_tool_call_is_unanswered_and_its_tokens_count(
    dialect: Dialect, make: Callable[[Dialect], fake.Answer], why: str
) -> None:
    reply, server = await ask(dialect, [make(dialect)])

    assert isinstance(reply, Unanswered)
    assert reply.why == why
    assert (reply.input_tokens, reply.output_tokens) == (100, 20)
    assert len(server.requests) == 1


async def test_the_key_is_in_no_message_repr_or_log(dialect: Dialect, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    reply, _ = await ask(dialect, [dialect.error(401, f"key {KEY} is\nnot valid\x1b[0m")])

    assert isinstance(reply, Unavailable)
    assert "[hidden] is not valid" in reply.message
    assert "\x1b" not in reply.message
    assert KEY not in repr(reply) + caplog.text


@pytest.mark.parametrize(
    "words",
    [
        "Incorrect API key provided: sk-very-********************6789. Look in your settings.",
        "Incorrect API key provided: sk-very-•••6789. Look in your settings.",
        f"{' ' * 1990}{KEY} is not valid. Look in your settings.",
        "the key sk-very-secret-012 is no key. Look in your settings.",
    ],
)
async def test_no_part_of_the_key_is_told_where_the_provider_repeats_it(dialect: Dialect, words: str) -> None:
    """What OpenAI says of a wrong key shows its beginning and its end."""
    reply, _ = await ask(dialect, [dialect.error(401, words)])

    assert isinstance(reply, Unavailable)
    assert "Look in your settings" in reply.message or words.startswith(" ")
    assert not [part for part in ("sk-very", "6789", "sk-v") if part in reply.message]


@pytest.mark.parametrize(
    ("make", "lost"),
    [
        pytest.param(lambda one: [fake.dropped(), one.calls(CHOICE)], 1, id="then answered"),
        pytest.param(lambda one: [fake.dropped(), fake.dropped(), one.text("no")], 2, id="then in words"),
        pytest.param(lambda one: [fake.dropped()] * 3, 3, id="always"),
        pytest.param(lambda one: [fake.dropped(), one.error(401, "no")], 1, id="then turned away"),
        pytest.param(lambda one: [fake.garbage()], 1, id="nothing that can be read"),
        pytest.param(lambda one: [one.error(500, "broken")] * 3, 0, id="an error is not paid"),
    ],
)
async def test_requests_that_got_lost_are_counted(
    dialect: Dialect, make: Callable[[Dialect], list[fake.Answer]], lost: int
) -> None:
    """The provider may have worked on them, and want to be paid."""
    reply, _ = await ask(dialect, make(dialect))

    assert reply.lost == lost


async def test_a_key_does_not_follow_a_redirect_to_another_place(dialect: Dialect) -> None:
    with dialect.server([dialect.calls(CHOICE)]) as elsewhere:
        away = fake.Answer(b"", 307, {"location": elsewhere.url.replace("127.0.0.1", "localhost") + "/v1/messages"})
        reply, _ = await ask(dialect, [away])

    assert isinstance(reply, Unavailable)
    assert "leads elsewhere (307)" in reply.message
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("openai", {"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 0}}),
        ("gemini", {"candidates": [], "usageMetadata": {"promptTokenCount": 90}}),
        ("gemini", {"usageMetadata": {"promptTokenCount": 90}, "modelVersion": "m"}),
    ],
)
async def test_an_answer_without_content_is_no_outage_and_its_tokens_count(name: str, body: Any) -> None:
    reply, server = await ask(DIALECTS[name], [fake_providers._json(body)])

    assert isinstance(reply, Unanswered)
    assert (reply.why, reply.input_tokens) == ("nonsense", 90)
    assert len(server.requests) == 1


async def test_a_cancelled_ask_is_cancelled(dialect: Dialect) -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(_: fake.Request) -> fake.Answer:
        loop.call_soon_threadsafe(arrived.set)
        return fake.slow()

    with dialect.server([answer]) as server:
        door = dialect.ask(key=KEY, model="m", base_url=server.url)
        task = asyncio.ensure_future(door(QUESTION))  # type: ignore[arg-type]
        await arrived.wait()
        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task


# --- what one provider alone does --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("complaint", "gone"),
    [
        ("Unsupported parameter: 'max_completion_tokens'", "max_completion_tokens"),
        ("parallel_tool_calls is not a known field", "parallel_tool_calls"),
        ("tool_choice must be one of 'auto', 'none'", "tool_choice': {"),
        ("Invalid schema for function 'choose_element'", "'strict': True"),
    ],
)
async def test_what_a_compatible_server_does_not_take_is_left_out_at_once(complaint: str, gone: str) -> None:
    one, naps = DIALECTS["openai"], Naps()

    reply, server = await ask(one, [one.error(400, complaint), one.calls(CHOICE)], naps)

    assert isinstance(reply, Answered)
    assert naps == []
    assert [gone in repr(sent.json) for sent in server.requests] == [True, False]


async def test_a_compatible_server_may_want_no_key() -> None:
    one = DIALECTS["openai"]

    reply, server = await ask(one, [one.calls(CHOICE)], key=None)

    assert isinstance(reply, Answered)
    assert server.requests[0].key == "none"


async def test_arguments_may_come_as_json_text() -> None:
    reply, _ = await ask(DIALECTS["openai"], [fake_providers.chat_calls(("choose_element", '{"choice": 1}'))])

    assert reply == Answered("choose_element", {"choice": 1}, 100, 20, "fake-model")


async def test_of_several_tools_any_is_forced_and_an_open_schema_is_not_called_strict() -> None:
    with fake_providers.FakeChat([fake_providers.chat_calls(CHOICE)]) as server:
        await openai_ask(key=KEY, base_url=server.url)(Question("s", "t", (CHOOSE, PROPOSE)))

    sent = server.requests[0].json
    assert sent["tool_choice"] == "required"
    assert ["strict" in tool["function"] for tool in sent["tools"]] == [True, False]


async def test_gemini_says_in_the_body_how_long_to_wait_and_that_a_key_is_bad() -> None:
    one, naps = DIALECTS["gemini"], Naps()
    wait = fake_providers.gemini_error(429, "slow", details=[{"retryDelay": "4s"}])

    reply, _ = await ask(one, [wait, one.error(400, "API key not valid. Please pass a valid API key.")], naps)

    assert isinstance(reply, Unavailable)
    assert reply.why == "bad_key"
    assert naps == [4.5]


async def test_gemini_is_asked_with_a_plainer_schema_where_it_does_not_take_ours() -> None:
    one = DIALECTS["gemini"]

    reply, server = await ask(one, [one.error(400, "additionalProperties is unknown"), one.calls(CHOICE)])

    assert isinstance(reply, Answered)
    declared = server.requests[1].json["tools"][0]["functionDeclarations"][0]
    plain = declared.get("parametersJsonSchema") or declared["parameters_json_schema"]
    assert plain["properties"]["choice"] == {"type": "integer", "nullable": True}
    assert "additionalProperties" not in plain


async def test_gemini_blocks_a_prompt_and_its_thoughts_are_paid_output() -> None:
    blocked = fake_providers.gemini(promptFeedback={"blockReason": "PROHIBITED_CONTENT"})
    thought = fake_providers.gemini_calls(
        CHOICE, usageMetadata={"promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}
    )

    first, _ = await ask(DIALECTS["gemini"], [blocked])
    second, _ = await ask(DIALECTS["gemini"], [thought])

    assert isinstance(first, Unanswered)
    assert "PROHIBITED_CONTENT" in first.message
    assert isinstance(second, Answered)
    assert second.output_tokens == 32
