"""Which model a project asks, from its own settings and those of the place; the doctor tells of keys and shows none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gardener import doctor
from gardener.doctor import State
from gardener.errors import BadSetting
from gardener.models import judge_of, model_of
from gardener.projects import Project, ProjectSettings, change_settings
from gardener.settings import read_settings
from repair_ladder import models
from repair_ladder.models import DEFAULT_MODELS, PROVIDERS, ask_by, lacks
from repair_ladder.ports import Question, Unavailable


def project(**settings: str) -> Project:
    return Project(1, "shop", "http://shop.test", False, change_settings(ProjectSettings(), settings))


@pytest.mark.parametrize(
    ("environ", "settings", "wanted"),
    [
        ({}, {}, ("anthropic", DEFAULT_MODELS["anthropic"], None, None)),
        ({"ANTHROPIC_API_KEY": "k"}, {"model": "m"}, ("anthropic", "m", None, "k")),
        ({"GARDENER_OPENAI_API_KEY": "own", "OPENAI_API_KEY": "k"}, {"model_provider": "openai"},
         ("openai", DEFAULT_MODELS["openai"], None, "own")),
        ({"OPENAI_API_KEY": "k", "GARDENER_MODEL": "m", "GARDENER_MODEL_PROVIDER": "openai"}, {},
         ("openai", "m", None, "k")),
        ({"GEMINI_API_KEY": "k", "GARDENER_MODEL": "claude-x"}, {"model_provider": "gemini"},
         ("gemini", DEFAULT_MODELS["gemini"], None, "k")),
        ({}, {"model_provider": "openai", "model": "llama", "model_base_url": "http://127.0.0.1:1/v1"},
         ("openai", "llama", "http://127.0.0.1:1/v1", None)),
        ({"ANTHROPIC_API_KEY": "k"}, {"model_provider": "claude_cli"}, ("claude_cli", None, None, None)),
    ],
)  # fmt: skip
def test_the_project_decides_before_the_place_before_the_default(
    environ: dict[str, str], settings: dict[str, str], wanted: tuple[object, ...], tmp_path: Path
) -> None:
    chosen = model_of(read_settings({"HOME": str(tmp_path), **environ}, tmp_path), project(**settings))

    assert (chosen.provider, chosen.model, chosen.base_url, chosen.key) == wanted
    assert "key=" not in repr(chosen)


@pytest.mark.parametrize(
    ("settings", "trouble"),
    [
        ({}, "GARDENER_ANTHROPIC_API_KEY or ANTHROPIC_API_KEY"),
        ({"model_provider": "openai"}, "OPENAI_API_KEY"),
        ({"model_provider": "gemini"}, "GEMINI_API_KEY"),
        ({"model_provider": "claude_cli"}, None),
        ({"model_provider": "openai", "model_base_url": "http://127.0.0.1:1/v1"}, None),
    ],
)
def test_c29_what_keeps_a_model_from_being_asked_names_the_next_move(
    settings: dict[str, str], trouble: str | None, tmp_path: Path
) -> None:
    chosen = model_of(read_settings({"HOME": str(tmp_path)}, tmp_path), project(**settings))

    assert (trouble in chosen.trouble) if trouble and chosen.trouble else chosen.trouble is None


def test_c9_a_judge_takes_a_model_and_rules(tmp_path: Path) -> None:
    settings = read_settings({"HOME": str(tmp_path), "ANTHROPIC_API_KEY": "k"}, tmp_path)

    judge = judge_of(settings, project(rules="No test ids.; Keep it short.", judge_model="claude-opus-5-5"))

    assert judge is not None
    assert (judge.provider, judge.model, judge.key) == ("anthropic", "claude-opus-5-5", "k")
    assert judge_of(settings, project(rules="No test ids.")) is None
    assert judge_of(settings, project(judge_model="claude-opus-5-5")) is None


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("model_provider", "skynet"),
        ("day_usd", "-1"),
        ("day_usd", "nan"),
        ("case_tokens", "many"),
        ("rules", "a" * 501),
    ],
)
def test_a_setting_that_cannot_be_read_is_one_clear_line(key: str, text: str) -> None:
    with pytest.raises(BadSetting, match=f"'{key}' "):
        change_settings(ProjectSettings(), {key: text})


def test_rules_and_bounds_are_read_as_people_type_them() -> None:
    read = change_settings(ProjectSettings(), {"rules": "One;\n two  words ", "day_usd": "2.5", "case_tokens": "none"})

    assert (read.rules, read.day_usd, read.case_tokens) == (("One", "two words"), 2.5, None)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("GARDENER_MODEL_PROVIDER", "skynet"), ("GARDENER_MOST_USD_A_DAY", "much"), ("GARDENER_MOST_TOKENS_A_DAY", "-4")],
)
def test_a_variable_that_cannot_be_read_is_told(variable: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=variable.removeprefix("GARDENER_").lower()):
        read_settings({variable: value}, tmp_path)


async def test_a_package_that_is_not_installed_is_one_line_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)

    reply = await ask_by("gemini", key="k")(Question("s", "t", ()))

    assert isinstance(reply, Unavailable)
    assert "pip install 'drift-gardener[gemini]'" in reply.message
    assert [name for name in PROVIDERS if lacks(name)] == ["openai", "gemini"]


@pytest.mark.parametrize(
    ("environ", "state", "says"),
    [
        ({}, State.OK, "none is needed"),
        ({"ANTHROPIC_API_KEY": "sk-secret"}, State.OK, "keys are set for anthropic"),
        ({"OPENAI_API_KEY": "sk-secret"}, State.WARNING, "the usual provider is 'anthropic'"),
        ({"GARDENER_MODEL_PROVIDER": "gemini"}, State.WARNING, "'gemini' is chosen and has no key"),
        ({"GARDENER_MODEL_PROVIDER": "claude_cli"}, State.OK, "a model of 'claude_cli'"),
        ({"GARDENER_MODEL_PROVIDER": "openai", "OPENAI_BASE_URL": "http://127.0.0.1:1"}, State.OK, "of 'openai'"),
    ],
)
def test_the_doctor_says_which_keys_are_set_and_shows_none(
    environ: dict[str, str], state: State, says: str, tmp_path: Path
) -> None:
    check = doctor._key(read_settings({"HOME": str(tmp_path), **environ}, tmp_path))

    assert (check.state, says in check.says) == (state, True), check.says
    assert "sk-secret" not in repr(check)
    assert (check.mend is None) == (state == State.OK)
