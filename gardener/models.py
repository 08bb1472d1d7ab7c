"""Which model is asked for a project, and why none can be; pure, from the settings of the place and of the project."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, cast

from gardener.projects import Project, ProjectSettings
from gardener.settings import Settings
from repair_ladder.models import DEFAULT_MODELS, ProviderName, lacks

DEFAULT_PROVIDER: Final[ProviderName] = "anthropic"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """`model` is None where the provider chooses, `base_url` where it is asked at its own address."""

    provider: ProviderName
    model: str | None
    base_url: str | None
    key: str | None = field(default=None, repr=False)
    is_named: bool = True  # somebody chose the provider; else it is only the usual one

    @property
    def name(self) -> str:
        """For people and for the ledger."""
        return self.model or f"{self.provider}'s own choice"

    @property
    def trouble(self) -> str | None:
        """Why it cannot even be tried, with the next move; None if it can."""
        missing = lacks(self.provider)
        if missing is not None:
            return missing
        # A server of one's own may want no key, and the Claude CLI is signed in by itself.
        if self.key or self.provider == "claude_cli" or (self.provider == "openai" and self.base_url):
            return None
        variable = f"{self.provider.upper()}_API_KEY"
        return f"No key for '{self.provider}' is set: export GARDENER_{variable} or {variable}."

    @property
    def can_be_asked(self) -> bool:
        return self.trouble is None


def model_of(settings: Settings, project: Project) -> ChosenModel:
    """The model that the ladder asks."""
    own = project.settings
    return _chosen(settings, own.model_provider, own.model, own.model_base_url)


def judge_of(settings: Settings, project: Project) -> ChosenModel | None:
    """The second model, that judges proven repairs by the project's rules; only where the project names one (C9)."""
    own = project.settings
    if not has_judge(own):
        return None
    return _chosen(settings, own.judge_provider or own.model_provider, own.judge_model, own.judge_base_url)


def has_judge(own: ProjectSettings) -> bool:
    return bool(own.judge_model and own.rules)


def _chosen(settings: Settings, provider: str | None, model: str | None, base_url: str | None) -> ChosenModel:
    usual = settings.model_provider or DEFAULT_PROVIDER
    name = cast(ProviderName, provider or usual)
    keys = {
        "anthropic": (settings.anthropic_base_url, settings.anthropic_api_key),
        "openai": (settings.openai_base_url, settings.openai_api_key),
        "gemini": (settings.gemini_base_url, settings.gemini_api_key),
        "claude_cli": (None, None),
    }
    address, key = keys[name]
    # The name of a model belongs to its provider: a project with another provider does not take the usual one.
    named = model or (settings.model if name == usual else None) or DEFAULT_MODELS.get(name)
    is_named = bool(provider or settings.model_provider)
    return ChosenModel(name, named, None if name == "claude_cli" else base_url or address, key, is_named)
