"""What every provider's door does alike: how often and how long it asks, what a refusal means, what an answer is.

A provider's module only translates: a Question into its request, its response into a Reply or a Failed.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple, TypeAlias, TypedDict
from urllib.parse import urlsplit

from typing_extensions import Unpack

from repair_ladder.ports import Answered, Ask, Question, Reply, Unanswered, Unavailable
from repair_ladder.values import HIDDEN

LONGEST_ANSWER: Final = 4_000_000  # bytes; what is longer is no tool call
LONGEST_SAID: Final = 100_000  # characters of an error
TOLD: Final = 8  # so many characters of a key tell whose it is, and more of it than anybody needs
STARRED: Final = re.compile(r"[\w.~+/=-]*(?:\*{3,}|\u2022{3,}|x{6,})[\w.~+/=*\u2022-]*")
LONGEST_ARGUMENTS: Final = 200_000  # characters, of arguments that come as text


class How(TypedDict, total=False):
    """How patient an Ask is; every provider's factory takes these.

    `timeout` bounds one request. What can pass by itself (a rate limit, an overload, a 5xx, a lost connection) is asked
    again, `attempts` requests in all, with pauses of at most `longest_pause`; a provider that wants a longer one is
    taken at its word and the answer is Unavailable at once. A time-out is not asked again: the same question would
    take as long. `jitter` gives numbers from 0 to 1.
    """

    timeout: timedelta
    attempts: int
    longest_pause: timedelta
    sleep: Callable[[float], Awaitable[object]]
    jitter: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Failed:
    """A request without an answer. `may_pass`: it is worth another try after a pause. `at_once`: the request was made
    plainer, since the server does not take all that it asked for; it is sent again and no try is counted."""

    reply: Unavailable
    may_pass: bool = False
    at_once: bool = False


Send: TypeAlias = Callable[[Question], Awaitable[Reply | Failed]]


@dataclass(frozen=True, slots=True)
class Provider:
    """Whom a door asks. `name` is the service in words, `where` the place in a sentence: no key, no password."""

    name: str
    where: str
    model: str
    key: str = field(default="", repr=False)

    @property
    def subject(self) -> str:
        return self.where[:1].upper() + self.where[1:]

    def tidy(self, said: object) -> str:
        """What the provider said, as the end of a sentence: one short line with nothing of the key in it.

        Some repeat it with stars in its middle: sk-pro********cdef.
        """
        if not isinstance(said, str) or not said.strip():
            return "."
        said = said[:LONGEST_SAID]
        if self.key:
            said = said.replace(self.key, HIDDEN)
        line = " ".join("".join(char if char.isprintable() else " " for char in said[:2000]).split())
        line = STARRED.sub(HIDDEN, line)
        if len(self.key) >= 2 * TOLD:
            line = re.sub(rf"{re.escape(self.key[:TOLD])}[\w.~+/=-]*", HIDDEN, line)
        return ": " + line[:300]


def at(address: str) -> str:
    """`the model provider at HOST`: host and port alone, since an address may carry a password."""
    try:
        parts = urlsplit(address)
        host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError:
        host = "an address nobody can read"
    return f"the model provider at {host}"


def patient(provider: Provider, send: Send, *, needs_key: bool = True, **how: Unpack[How]) -> Ask:
    """An Ask that never raises and never names the key."""
    timeout_s = how.get("timeout", timedelta(seconds=90)).total_seconds()
    attempts = max(1, how.get("attempts", 3))
    longest_pause_s = how.get("longest_pause", timedelta(seconds=20)).total_seconds()
    sleep = how.get("sleep", asyncio.sleep)
    jitter = how.get("jitter", random.random)

    async def once(question: Question) -> Reply | Failed:
        try:
            # The libraries' own time-outs start anew with every byte; this one does not.
            async with asyncio.timeout(timeout_s):
                return await send(question)
        except TimeoutError:
            text = f"{provider.subject} gave no answer within {timeout_s:g} s; it is asked again on the next repair."
            return Failed(Unavailable("timeout", text, lost=1))

    def pause_s(tries: int, failed: Failed) -> float | None:
        if not failed.may_pass or tries >= attempts:
            return None
        wanted_s = failed.reply.retry_after_s
        if wanted_s is None:
            # Half of it at least: requests that failed together must not come back together, nor at once.
            return min(2.0**tries, longest_pause_s) * (0.5 + jitter() / 2)
        return wanted_s + jitter() if wanted_s <= longest_pause_s else None

    async def persist(question: Question) -> Reply:
        tries = lost = 0
        while True:
            reply = await once(question)
            if not isinstance(reply, Failed):
                return replace(reply, lost=reply.lost + lost) if lost else reply
            if reply.at_once:
                continue
            tries += 1
            lost += reply.reply.lost
            wait_s = pause_s(tries, reply)
            if wait_s is None:
                return replace(reply.reply, lost=lost)
            await sleep(wait_s)

    async def ask(question: Question) -> Reply:
        trouble = _key_trouble(provider) if needs_key or provider.key else None
        if trouble:
            return trouble
        try:
            return await persist(question)
        # Everything, because a door promises that nothing of the library leaves it: an address nobody can parse and a
        # broken certificate store come up here as errors of libraries two floors down.
        except Exception as error:
            text = f"{provider.subject} could not be asked ({type(error).__name__}); check its address."
            return Unavailable("error", text)

    return ask


def _key_trouble(provider: Provider) -> Unavailable | None:
    key = provider.key
    if not key:
        return Unavailable("no_key", f"No key for {provider.name} is set; add one to let the ladder ask a model.")
    if not (key.isascii() and key.isprintable() and " " not in key):
        return Unavailable("bad_key", f"The key for {provider.name} holds characters no key has; enter it again.")
    return None


# --- failures ----------------------------------------------------------------------------------------------


# Names of the errors, the same in all libraries for HTTP, after which a request has certainly not been worked on.
NEVER_SENT: Final = frozenset(
    {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError"}
)


def unreachable(provider: Provider, error: BaseException) -> Failed:
    """A connection that broke off after the question was sent may have been answered, and have to be paid."""
    text = f"{provider.subject} could not be reached; check the network and the address."
    was_sent = not any(kind.__name__ in NEVER_SENT for kind in type(error.__cause__ or error).__mro__)
    return Failed(Unavailable("network", text, lost=int(was_sent)), may_pass=True)


def unread(provider: Provider, dialect: str) -> Unavailable:
    """What answered is something else than a server of that API."""
    return Unavailable("error", f"{provider.subject} does not speak {dialect}.", lost=1)


def turned_away(
    provider: Provider,
    status: int,
    said: object,
    headers: Mapping[str, str],
    *,
    no_credit: bool = False,
    bad_key: bool = False,
    retry_after_s: float | None = None,
) -> Failed:
    """A refusal by HTTP status, the same for all. The flags are for providers that say it under another status."""
    said = provider.tidy(said)
    wanted_s = retry_after_s if retry_after_s is not None else read_retry_after_s(headers)
    may_pass = headers.get("x-should-retry") != "false"
    where = provider.subject
    if no_credit or status == 402:
        return Failed(Unavailable("budget", f"The account at {provider.where} has no credit left{said}"))
    if bad_key or status in (401, 403):
        return Failed(Unavailable("bad_key", f"{where} does not accept the key{said}"))
    if status == 404:
        return Failed(Unavailable("error", f"{where} knows no model '{provider.model}'{said}"))
    if status == 429:
        text = f"{where} limits how often it may be asked{said}"
        return Failed(Unavailable("rate_limited", text, wanted_s), may_pass)
    if status in (503, 529):
        return Failed(Unavailable("overloaded", f"{where} is overloaded{said}", wanted_s), may_pass)
    if 300 <= status < 400:
        text = f"{where} leads elsewhere ({status}), which is not followed: set the address that it has now."
        return Failed(Unavailable("error", text))
    text = f"{where} answered {status}{said}"
    return Failed(Unavailable("error", text, wanted_s), may_pass and (status >= 500 or status == 408))


def read_retry_after_s(headers: Mapping[str, str]) -> float | None:
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


# --- answers -----------------------------------------------------------------------------------------------


class Used(NamedTuple):
    """Tokens. Input includes what was read from or written to the provider's cache, `cached` is what was read."""

    input: int = 0
    output: int = 0
    cached: int = 0


def count(usage: object, *names: str) -> int:
    """The sum of what the usage says under these names; what is no number counts nothing."""
    counts = usage if isinstance(usage, Mapping) else {}
    values = [counts.get(name) for name in names]
    return sum(one for one in values if isinstance(one, int) and not isinstance(one, bool) and 0 < one < 10**9)


def read_json(body: bytes | str) -> object:
    """None for what is no JSON, is too deep to read or too long to be an answer."""
    if len(body) > LONGEST_ANSWER:
        return None
    try:
        read: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return read


def not_answered(why: str, message: str, used: Used) -> Unanswered:
    assert why in ("refusal", "nonsense", "cut")
    return Unanswered(why, message, used.input, used.output, used.cached)  # type: ignore[arg-type]


def declined(used: Used, category: object = None) -> Unanswered:
    is_word = isinstance(category, str) and category.isidentifier() and len(category) < 50
    return not_answered("refusal", f"The model declined to answer{f' ({category})' if is_word else ''}.", used)


def silent(used: Used) -> Unanswered:
    """An answer without content: the question was read, and has to be paid."""
    return not_answered("nonsense", "The model answered nothing.", used)


def cut_off(used: Used) -> Unanswered:
    return not_answered("cut", "The model's answer was cut off before its end.", used)


def one_call(
    calls: Sequence[tuple[object, object]],
    question: Question,
    used: Used,
    model: object,
    *,
    cost_usd: float | None = None,
) -> Answered | Unanswered:
    """The one tool call (name, arguments) that was asked for, or why there is none. Arguments may come as JSON text."""
    known = {tool.name for tool in question.tools}
    wanted = " or ".join(sorted(known))
    if len(calls) != 1:
        found = f"made {len(calls)} tool calls" if calls else "answered in words"
        return not_answered("nonsense", f"The model {found} where one call of {wanted} was asked for.", used)
    name, arguments = calls[0]
    if not isinstance(name, str) or name not in known:
        return not_answered("nonsense", f"The model called a tool that there is not; {wanted} was asked for.", used)
    if isinstance(arguments, str):
        arguments = read_json(arguments) if len(arguments) <= LONGEST_ARGUMENTS else None
    if not isinstance(arguments, dict):
        return not_answered("nonsense", f"The model called {name} with something that is no object.", used)
    said = model if isinstance(model, str) else ""
    return Answered(name, arguments, used.input, used.output, said[:200], used.cached, cost_usd)


def is_closed(schema: object) -> bool:
    """Does every object in it name all its keys? Providers turn others down as strict schemas."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            return False
        return all(map(is_closed, schema.values()))
    return all(map(is_closed, schema)) if isinstance(schema, list | tuple) else True
