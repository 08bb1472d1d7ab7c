"""Doors to model providers: each module makes an Ask, and nothing of its provider's SDK leaves it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, assert_never, cast

from typing_extensions import Unpack

from repair_ladder.ports import Ask, Question, Reply, Unavailable

if TYPE_CHECKING:
    from repair_ladder.models.asking import How

ProviderName: TypeAlias = Literal["anthropic", "openai", "gemini", "claude_cli"]
PROVIDERS: Final[tuple[ProviderName, ...]] = ("anthropic", "openai", "gemini", "claude_cli")
# What is asked where nobody names a model; the Claude CLI chooses by itself.
DEFAULT_MODELS: Final[Mapping[ProviderName, str]] = {
    # The middle of the range: the questions are short, and a fix is proved by a run and not by the model's wit.
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-sol",
    "gemini": "gemini-3.8-flash",
}
_PACKAGES: Final[Mapping[ProviderName, str]] = {"openai": "openai", "gemini": "google.genai"}  # those of extras


def lacks(provider: ProviderName) -> str | None:
    """What to install before this provider can be asked, as a sentence; None if nothing is missing."""
    package = _PACKAGES.get(provider)
    if package is None or _is_there(package):
        return None
    return f"The provider '{provider}' needs a package that is not installed: pip install 'drift-gardener[{provider}]'."


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # its parent is not there either
        return False


def ask_by(
    provider: ProviderName,
    *,
    key: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    command: str | None = None,
    environ: Mapping[str, str] | None = None,
    **how: Unpack[How],
) -> Ask:
    """The Ask of that provider. `command` and `environ` are for the Claude CLI, the key and the address for the others.

    Its SDK is imported here and not before: that takes most of a second, and most commands never ask.
    """
    missing = lacks(provider)
    if missing is not None:
        return _never(missing)
    named = model or DEFAULT_MODELS.get(provider)
    match provider:
        case "anthropic":
            from repair_ladder.models.anthropic import anthropic_ask

            return anthropic_ask(key=key, model=cast(str, named), base_url=base_url, **how)
        case "openai":
            from repair_ladder.models.openai import openai_ask

            return openai_ask(key=key, model=cast(str, named), base_url=base_url, **how)
        case "gemini":
            from repair_ladder.models.gemini import gemini_ask

            return gemini_ask(key=key, model=cast(str, named), base_url=base_url, **how)
        case "claude_cli":
            from repair_ladder.models.claude_cli import COMMAND, claude_cli_ask

            return claude_cli_ask(model=model, command=command or COMMAND, environ=environ or {}, **how)
        case _:
            assert_never(provider)


def _never(why: str) -> Ask:
    async def ask(question: Question) -> Reply:
        return Unavailable("error", why)

    return ask
