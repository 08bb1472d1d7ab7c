"""A project: one app under test, its mode, and why its queue is empty."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from gardener.cron import read_cron, read_zone
from gardener.errors import BadSetting
from gardener.hours import read_hours, why_read_only
from radar import locators
from radar.at_risk import resolve_ways
from radar.elements import Element, PageSnapshot
from radar.errors import RadarError
from radar.locators import Locator
from repair_ladder.models import PROVIDERS, ProviderName


class Mode(StrEnum):
    """What the gardener does by itself (C18)."""

    OFF = "off"  # nothing; a sweep asked for by hand still stages
    PROPOSE = "propose"  # sweeps stage proposals for a person
    APPLY = "apply"  # a failed unattended run is repaired at once


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """What `project set` changes. Defaults are those of a new project."""

    staging: bool = False  # scheduled sweeps stage proposals (mode propose)
    stage_red: bool = False  # and so does a red unattended run (C19)
    urls: tuple[str, ...] = ()  # further pages that a sweep looks at
    allowed_origins: tuple[str, ...] = ()  # beside the app's own
    sign_in: str | None = None  # the test that signs in for all others; None: tests sign in by themselves
    locale: str | None = None
    test_id_attribute: str = "data-testid"
    step_timeout_ms: int = 5000
    most_dry_runs: int = 10  # per staging pass (G64)
    side_by_side: int = 1  # tests of one app share its state
    model_provider: ProviderName | None = None
    pictures: bool = True  # a small picture of each step
    traces: bool = False  # a trace of Playwright of each red run; recording one makes every run slower
    keep_runs: int = 200  # the newest runs whose pictures and traces are kept
    keep_days: int = 30  # and for so long at most
    # CSS selectors for what the app announces, instead of what is recognised by itself
    toast: str | None = None
    modal: str | None = None
    validation_error: str | None = None
    model: str | None = None
    model_base_url: str | None = None
    sweep_cron: str | None = None  # when sweeps are due; see gardener/cron.py
    suite_cron: str | None = None  # when the tests in service are run, unattended
    control_cron: str | None = None  # when they are run with falsified checks, which have to go red
    digest_hour: int | None = None  # of the day, when the daily digest is sent
    timezone: str = "UTC"  # IANA name, that they count in
    jitter_s: int = 0  # at most so much later than the schedule says, so that projects do not all begin at once
    archived: bool = False  # nothing is scheduled any more
    # No repair acts on what these find, nor on what is inside it; see read_forbidden.
    forbidden: tuple[str, ...] = ()
    read_only_hours: str | None = None  # when nothing is proven or written, in `timezone`; see gardener/hours.py
    # A second model judges proven repairs by these rules, in words; only where both are set (H11-H16, C9).
    rules: tuple[str, ...] = ()
    judge_provider: ProviderName | None = None
    judge_model: str | None = None
    judge_base_url: str | None = None
    # What models may use up; None is no bound. A day is one of UTC; `project_…` is all of its time.
    case_tokens: int | None = 200_000
    case_usd: float | None = None
    day_tokens: int | None = 3_000_000
    day_usd: float | None = None
    project_tokens: int | None = None
    project_usd: float | None = None

    @property
    def forbidden_locators(self) -> tuple[Locator, ...]:
        return tuple(map(_read_locator, self.forbidden))

    def why_read_only(self, moment: datetime) -> tuple[str, datetime] | None:
        """A sentence and when it is over; None while repairs may be proven and written."""
        return why_read_only(self.read_only_hours, self.timezone, moment)

    @property
    def announced_css(self) -> dict[str, str]:
        own = {"toast": self.toast, "modal": self.modal, "validation_error": self.validation_error}
        return {kind: css for kind, css in own.items() if css}


@dataclass(frozen=True, slots=True)
class Project:
    id: int
    name: str
    base_url: str
    auto_repair: bool
    settings: ProjectSettings = field(default_factory=ProjectSettings)

    @property
    def mode(self) -> Mode:
        if self.auto_repair:
            return Mode.APPLY
        return Mode.PROPOSE if self.settings.staging else Mode.OFF

    @property
    def mends_red_runs(self) -> bool:
        """Does a red unattended run ask for a repair? To be applied (G7), or where the project says so to be staged."""
        return self.mode == Mode.APPLY or (self.mode == Mode.PROPOSE and self.settings.stage_red)


def read_base_url(text: str) -> str:
    """The address of an app without a slash at its end. Raises BadSetting."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSetting(f"the base URL is an address such as http://127.0.0.1:8000, got '{text}'")
    if parts.username or parts.password:
        raise BadSetting("the base URL holds a user name or a password; keep those in the tests' secrets")
    if parts.query or parts.fragment:
        raise BadSetting(f"the base URL ends before '?' and '#', got '{text}'")
    return text.rstrip("/")


class WhyEmpty(StrEnum):
    """Why nothing waits for a person; the four are not interchangeable (G69-G72)."""

    APPLIES = "applies"
    NO_KEY = "no_key"
    NEVER_SWEPT = "never_swept"
    ALL_PASS = "all_pass"


def why_queue_is_empty(project: Project, *, swept: bool, at_risk_left: int, has_key: bool) -> tuple[WhyEmpty, str]:
    """The reason and its sentence (G18, G69-G72, worded for a product that also heals without a key)."""
    if project.auto_repair:
        return (
            WhyEmpty.APPLIES,
            "This project repairs itself: proven fixes are written at once and stand in its history, not here. "
            "An empty list does not mean that nothing broke.",
        )
    if not swept:
        return WhyEmpty.NEVER_SWEPT, "Nothing has been swept yet: there is no baseline to compare with."
    if at_risk_left and not has_key:
        return (
            WhyEmpty.NO_KEY,
            f"{at_risk_left} tests are at risk and no proven fix was found without an AI key. With a key the ladder "
            "climbs further; the radar and the at-risk list work without one.",
        )
    if at_risk_left:
        return WhyEmpty.ALL_PASS, f"No repairs waiting; {at_risk_left} tests at risk have no proven fix (see issues)."
    return WhyEmpty.ALL_PASS, "No repairs waiting: every at-risk test still passes."


def change_settings(settings: ProjectSettings, changes: Mapping[str, str]) -> ProjectSettings:
    """`project set KEY=VALUE`: texts as a person types them. Raises BadSetting naming the key and what is wanted."""
    from dataclasses import replace

    read: dict[str, Any] = {}
    for key, text in changes.items():
        match key:
            case "staging" | "stage_red" | "archived" | "pictures" | "traces":
                read[key] = _flag(key, text)
            case "sweep_cron" | "suite_cron" | "control_cron":
                read[key] = _cron(key, text) if text else None
            case "timezone":
                read[key] = read_zone(text or "UTC").key
            case "jitter_s":
                read[key] = _whole(key, text, 0, 3600)
            case "digest_hour":
                read[key] = _whole(key, text, 0, 23) if text else None
            case "urls" | "allowed_origins":
                read[key] = tuple(one.strip() for one in text.split(",") if one.strip())
            case (
                "sign_in"
                | "locale"
                | "model"
                | "model_base_url"
                | "judge_model"
                | "judge_base_url"
                | "toast"
                | "modal"
                | "validation_error"
            ):
                read[key] = text or None
            case "model_provider" | "judge_provider":
                if text and text not in PROVIDERS:
                    raise BadSetting(f"'{key}' is one of {', '.join(PROVIDERS)}, got '{text}'")
                read[key] = text or None
            case "rules":
                read[key] = _rules(text)
            case "forbidden":
                read[key] = read_forbidden(text)
            case "read_only_hours":
                read[key] = ", ".join(text.split(",")) if read_hours(text) else None
            case "case_tokens" | "day_tokens" | "project_tokens":
                read[key] = None if text in NO_BOUND else _whole(key, text, 0, 10**12)
            case "case_usd" | "day_usd" | "project_usd":
                read[key] = None if text in NO_BOUND else _dollars(key, text)
            case "test_id_attribute":
                if not text:
                    raise BadSetting("'test_id_attribute' is the name of an attribute such as data-testid")
                read[key] = text
            case "step_timeout_ms":
                read[key] = _whole(key, text, 100, 120_000)
            case "most_dry_runs":
                read[key] = _whole(key, text, 1, 1000)
            case "keep_runs":
                read[key] = _whole(key, text, 1, 100_000)
            case "keep_days":
                read[key] = _whole(key, text, 1, 3650)
            case "side_by_side":
                read[key] = _whole(key, text, 1, 16)
            case _:
                known = ", ".join(ProjectSettings.__dataclass_fields__)
                raise BadSetting(f"'{key}' is not a setting of a project; known are auto_repair, base_url, {known}")
    return replace(settings, **read)


def wrong_settings(settings: ProjectSettings, changes: Mapping[str, str]) -> dict[str, str]:
    """Which of the changes cannot be, and why: all of them, where `change_settings` ends with the first."""
    wrong: dict[str, str] = {}
    for key, text in changes.items():
        try:
            change_settings(settings, {key: text})
        except BadSetting as error:
            wrong[key] = str(error)
    return wrong


NO_BOUND: Final = ("", "none", "off")
MOST_RULES: Final = 30
LONGEST_RULE: Final = 500


def _rules(text: str) -> tuple[str, ...]:
    """Rules in words, apart by semicolons or lines."""
    rules = tuple(" ".join(one.split()) for one in re.split(r"[;\n]", text) if one.strip())
    if len(rules) > MOST_RULES or any(len(one) > LONGEST_RULE for one in rules):
        raise BadSetting(
            f"'rules' are at most {MOST_RULES} sentences of at most {LONGEST_RULE} characters, apart by ';'"
        )
    return rules


MOST_FORBIDDEN: Final = 50


def read_forbidden(text: str) -> tuple[str, ...]:
    """Locators apart by lines or semicolons: CSS selectors, or as the test format writes them, in JSON.

    Raises BadSetting, also for one that cannot be told from what is remembered of a page: nobody could keep off it.
    """
    try:
        raw = json.loads(text) if text.lstrip().startswith("[") else _entries(text)
    except ValueError:
        raise BadSetting(f"'forbidden' begins like a JSON list and is none: '{text[:60]}'") from None
    if len(raw) > MOST_FORBIDDEN:
        raise BadSetting(f"'forbidden' are at most {MOST_FORBIDDEN} locators, got {len(raw)}")
    kept = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in raw]
    nothing = PageSnapshot("about:blank", elements=(Element(0, -1, "html", {}), Element(1, 0, "body", {})))
    for one in kept:
        locator = _read_locator(one)
        try:
            resolve_ways(locator, nothing)
        except RadarError as error:
            raise BadSetting(f"'forbidden': {locator} cannot be watched over: {error}") from None
    return tuple(kept)


def _entries(text: str) -> list[str]:
    return [one.strip() for one in re.split(r"[;\n]", text) if one.strip()]


def _read_locator(text: str) -> Locator:
    try:
        return locators.read(json.loads(text) if text.startswith("{") else {"css": text})
    except (ValueError, RadarError) as error:
        raise BadSetting(
            f"'forbidden' holds CSS selectors or locators such as "
            f'{{"role": "button", "name": "Delete"}}, apart by ";"; \'{text[:60]}\' is none: {error}'
        ) from None


def _dollars(key: str, text: str) -> float:
    if not re.fullmatch(r"\d{1,7}(\.\d{1,6})?", text):
        raise BadSetting(f"'{key}' is an amount of US dollars such as 2.50, or 'none' for no bound, got '{text}'")
    return float(text)


def _flag(key: str, text: str) -> bool:
    if text.lower() in ("true", "yes", "on", "1"):
        return True
    if text.lower() in ("false", "no", "off", "0"):
        return False
    raise BadSetting(f"'{key}' is true or false, got '{text}'")


def _cron(key: str, text: str) -> str:
    try:
        return read_cron(text).text
    except BadSetting as error:
        raise BadSetting(f"'{key}': {error}") from None


def _whole(key: str, text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise BadSetting(f"'{key}' is a whole number from {least} to {most}, got '{text}'")
    return int(text)
