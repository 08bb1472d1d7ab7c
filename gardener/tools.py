"""What the actions need from outside, as functions: look, replay, sign_in, ask, the store, the time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from gardener.hooks import NONE, Plugins
from gardener.projects import Project
from gardener.settings import Settings
from gardener.store import Store
from radar.errors import CannotRecord, PageUnavailable
from radar.reading import Redact
from radar.visits import Again, Visit
from repair_ladder.outcomes import Outcome
from repair_ladder.ports import Ask
from repair_ladder.stage import OnStep, Stage
from repair_ladder.steps import Steps


class Replay(Protocol):
    async def __call__(self, steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> Outcome: ...


class SignIn(Protocol):
    """Cookies and storage that the steps leave, opaque; None where they are not green."""

    async def __call__(self, steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> tuple[Outcome, Any]: ...


class Look(Protocol):
    async def __call__(
        self, urls: Sequence[str], *, state: Any, locale: str | None, redact: Redact, again: Again
    ) -> dict[str, Visit | PageUnavailable]: ...


class Record(Protocol):
    """What a person does in a window at the app, as a script of Playwright's codegen. Raises CannotRecord.

    `state`: cookies and storage that the window begins with, None for none.
    """

    async def __call__(self, project: Project, *, state: Any) -> str: ...


# Told of what happens as it happens, for a person who watches: (what, details).
Watch = Callable[[str, dict[str, Any]], Awaitable[None]]


async def nobody_watches(what: str, details: dict[str, Any]) -> None:
    """The Watch of a command without a screen."""


async def nobody_records(project: Project, *, state: Any) -> str:
    """The Record of a process without a screen."""
    raise CannotRecord("recording opens a window, and this process has none")


def nobody_judges(project: Project) -> Ask | None:
    """Of a project without rules, or without a second model."""
    return None


@dataclass(frozen=True, slots=True)
class Tools:
    settings: Settings
    store: Store
    replay: Replay
    sign_in: SignIn
    look: Look
    ask: Callable[[Project], Ask | None]  # None: no key, the ladder climbs without a model
    now: Callable[[], datetime]
    worker: str  # names this process in leases
    watch: Watch = nobody_watches
    plugins: Plugins = NONE  # told of repairs
    judge: Callable[[Project], Ask | None] = nobody_judges  # None: no second model is configured
    record: Record = nobody_records
