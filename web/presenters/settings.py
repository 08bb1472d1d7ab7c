"""The settings of a project -> the fields of its page, in groups, each explained in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from gardener.projects import Project
from repair_ladder.models import PROVIDERS
from web.presenters.queue import sentence

Kind: TypeAlias = Literal["text", "url", "whole", "amount", "lines", "flag", "choice", "test"]


@dataclass(frozen=True, slots=True)
class Field:
    key: str
    label: str
    hint: str = ""
    kind: Kind = "text"
    required: bool = False
    rows: int = 2  # of one with several lines
    choices: tuple[tuple[str, str], ...] = ()  # value and word
    value: str = ""
    wrong: str = ""

    @property
    def is_on(self) -> bool:
        return self.value == "true"


@dataclass(frozen=True, slots=True)
class Group:
    key: str
    title: str
    about: str
    wide: tuple[Field, ...] = ()  # a line each
    pairs: tuple[Field, ...] = ()  # short ones, side by side
    flags: tuple[Field, ...] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        return (*self.wide, *self.pairs, *self.flags)


_PROVIDERS: Final = tuple((one, one.replace("_", " ")) for one in PROVIDERS)


def _tokens(key: str, label: str) -> Field:
    return Field(key, label, "tokens; empty: no bound", "whole")


def _usd(key: str, label: str) -> Field:
    return Field(key, label, "US dollars; empty: no bound", "amount")


GROUPS: Final = (
    Group(
        "repair",
        "Autonomous repair",
        "",
        flags=(
            Field("auto_repair", "Repair failed runs automatically", kind="flag"),
            Field("staging", "Stage repairs after scheduled sweeps", kind="flag"),
            Field("stage_red", "And after failed unattended runs", kind="flag"),
        ),
    ),
    Group(
        "harm",
        "What repairs keep off",
        "",
        wide=(
            Field("forbidden", "Elements that no repair acts on", "a CSS selector or a JSON locator a line", "lines"),
        ),
        pairs=(Field("read_only_hours", "Hours in which nothing is written", "such as mon-fri 08:00-18:00"),),
    ),
    Group(
        "app",
        "The app",
        "",
        wide=(
            Field("base_url", "Address", kind="url", required=True),
            Field("urls", "Further pages to look at", "one path a line", "lines", rows=3),
            Field("allowed_origins", "Further origins a repair may go to", "one a line", "lines"),
            Field("sign_in", "Sign-in test", "signs in for all others; empty: each test by itself", "test"),
        ),
        pairs=(
            Field("locale", "Language", "such as en-GB; empty: the browser's"),
            Field("test_id_attribute", "Attribute of test ids", required=True),
        ),
    ),
    Group(
        "runs",
        "Runs",
        "",
        pairs=(
            Field("step_timeout_ms", "A step may take", "ms", "whole", True),
            Field("most_dry_runs", "Dry runs in one staging pass", "", "whole", True),
            Field("side_by_side", "Tests side by side", "they share the app", "whole", True),
        ),
    ),
    Group(
        "evidence",
        "What is kept of runs",
        "Pictures and traces are for people to look at; secrets are painted over before they are kept.",
        pairs=(
            Field("keep_runs", "The newest runs", "whose pictures are kept", "whole", True),
            Field("keep_days", "For at most", "days", "whole", True),
        ),
        flags=(
            Field("pictures", "A small picture of each step", kind="flag"),
            Field("traces", "A Playwright trace of each red run; it makes every run slower", kind="flag"),
        ),
    ),
    Group(
        "clock",
        "Clock",
        "When things run by themselves, as cron expressions: minute, hour, day, month, weekday. Empty: never.",
        pairs=(
            Field("sweep_cron", "Sweeps", "such as 0 */2 * * *"),
            Field("suite_cron", "Suite", "such as 30 1 * * 1-5"),
            Field("control_cron", "Control runs", "falsified checks, have to go red"),
            Field("timezone", "Time zone", "such as Europe/Berlin", required=True),
            Field("digest_hour", "Hour of the daily digest", "0 to 23; empty: none", "whole"),
            Field("jitter_s", "At most so much later", "seconds", "whole", True),
        ),
        flags=(Field("archived", "Archived: nothing is done by the clock any more", kind="flag"),),
    ),
    Group(
        "model",
        "Model",
        "Asked only when what is local is not enough, and only where the server has a key.",
        pairs=(
            Field("model_provider", "Provider", kind="choice", choices=_PROVIDERS),
            Field("model", "Name", "empty: the server's"),
            Field("model_base_url", "Address", "empty: the server's"),
        ),
    ),
    Group(
        "judge",
        "Judge",
        "A second model judges each proven repair by these rules; it needs both rules and a name of a model.",
        wide=(Field("rules", "Rules in words", "one a line, at most 30", "lines", rows=4),),
        pairs=(
            Field("judge_provider", "Provider", kind="choice", choices=_PROVIDERS),
            Field("judge_model", "Name", "empty: no judge"),
            Field("judge_base_url", "Address", "empty: the server's"),
        ),
    ),
    Group(
        "budgets",
        "Budgets of models",
        "What trips first ends a search before it is asked; a day is one of UTC, a project's is for all of its time.",
        pairs=(
            _tokens("case_tokens", "A broken test"),
            _tokens("day_tokens", "A day"),
            _tokens("project_tokens", "The project"),
            _usd("case_usd", "A broken test"),
            _usd("day_usd", "A day"),
            _usd("project_usd", "The project"),
        ),
    ),
    Group(
        "announced",
        "What the app announces",
        "CSS selectors, only where what is recognised by itself is not enough.",
        pairs=(
            Field("toast", "Toasts", "such as .snackbar"),
            Field("modal", "Modals", "such as .dialog"),
            Field("validation_error", "Validation errors", "such as .field-error"),
        ),
    ),
)
FIELDS: Final = tuple(field for group in GROUPS for field in group.fields)
KEYS: Final = frozenset(field.key for field in FIELDS)
FLAGS: Final = frozenset(field.key for field in FIELDS if field.kind == "flag")
LISTS: Final = frozenset({"urls", "allowed_origins"})


def groups(
    project: Project, typed: Mapping[str, str], wrong: Mapping[str, str], *, server_model: str
) -> tuple[Group, ...]:
    """As they are, or as somebody typed them and they could not be saved."""

    def filled(one: Field) -> Field:
        value = _shown(one, typed[one.key]) if one.key in typed else now(project, one.key)
        choices = one.choices
        if one.kind == "choice":
            otherwise = "that of the repairs" if one.key == "judge_provider" else f"the server's ({server_model})"
            choices = (("", otherwise), *choices)
        return replace(one, value=value, choices=choices, wrong=_beside(one.key, wrong.get(one.key, "")))

    return tuple(
        replace(
            group,
            wide=tuple(map(filled, group.wide)),
            pairs=tuple(map(filled, group.pairs)),
            flags=tuple(map(filled, group.flags)),
        )
        for group in GROUPS
    )


def now(project: Project, key: str) -> str:
    """What stands in a field, as text."""
    value = getattr(project, key) if key in ("base_url", "auto_repair") else getattr(project.settings, key)
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6f}".rstrip("0").rstrip(".")
        case tuple():
            return "\n".join(value)
    return str(value)


def summary(wrong: Mapping[str, str]) -> str:
    if not wrong:
        return ""
    if "" in wrong:
        return sentence(wrong[""])
    number = len(wrong)
    return f"Nothing was saved: {number} {'field needs' if number == 1 else 'fields need'} another look."


def _shown(one: Field, typed: str) -> str:
    return typed.replace(",", "\n") if one.key in LISTS else typed


def _beside(key: str, message: str) -> str:
    """The message as it stands beside its field, which needs no name there."""
    name = f"'{key}'"
    rest = message.removeprefix(name)
    if rest != message and rest.startswith((" is ", ": ")):
        return sentence(f"It{rest}" if rest.startswith(" is ") else rest[2:])
    return sentence(message.replace(f"{name} are", f"{key} are"))
