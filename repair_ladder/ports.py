"""Ask and Replay: the two functions that the ladder needs from outside, and the values they take and give."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

from repair_ladder.outcomes import Outcome
from repair_ladder.steps import Steps


class Replay(Protocol):
    """Plays steps in a fresh browser context. It never writes anything and never raises for what an app does."""

    async def __call__(self, steps: Steps) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Tool:
    """The one form in which a model may answer: a strict JSON schema with a name."""

    name: str
    description: str
    schema: Mapping[str, Any]


# Tokens. What a model thinks before it answers counts as output; without this room the answer itself would be cut.
ROOM_TO_THINK: Final = 6000


@dataclass(frozen=True, slots=True)
class Question:
    """What a rung asks. `text` holds fenced, cut and redacted text from the app; `tools` are the allowed answers."""

    system: str
    text: str
    tools: tuple[Tool, ...]
    max_tokens: int = 2000


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool call as the model made it; the arguments are unchecked.

    `cached_tokens` are those of the input that the provider had in its cache. `cost_usd` is what the provider itself
    says that it cost; most say nothing. `lost` counts the requests on the way here, in every kind of reply, of which
    nothing came back that can be read and which may have to be paid all the same.
    """

    tool: str
    arguments: Mapping[str, Any]
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    cached_tokens: int = 0
    cost_usd: float | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The model said something that is no tool call: a refusal or nonsense. Not repaired, an attempt is spent."""

    why: Literal["refusal", "nonsense", "cut"]
    message: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No answer could be had. Never the same as "no fix found"; no attempt is spent (H22, C10)."""

    why: Literal["no_key", "bad_key", "rate_limited", "overloaded", "timeout", "network", "budget", "error"]
    message: str
    retry_after_s: float | None = None
    lost: int = 0


Reply: TypeAlias = Answered | Unanswered | Unavailable
Ask: TypeAlias = Callable[[Question], Awaitable[Reply]]


@dataclass
class Asked:
    """Counts what was asked; a model call is one request that reached a provider and was answered."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    unavailable: list[Unavailable] = field(default_factory=list)
