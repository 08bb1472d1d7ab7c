"""Where and how steps are played, as values: they are known without the browser that plays them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from radar.locators import Locator
from repair_ladder.steps import Place, Step, Steps


@dataclass(frozen=True, slots=True)
class Stage:
    """Where and how steps are played. `secrets` are values that may be seen by nobody."""

    base_url: str
    values: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()
    files: Path | None = None
    step_timeout_ms: int = 5000
    locale: str | None = None
    test_id_attribute: str = "data-testid"
    record: bool = True  # remember pages and elements
    state: Any = field(default=None, repr=False)  # cookies and storage that the browser begins with; None: none
    fenced_to: frozenset[str] | None = None  # origins that a proof may navigate or write to; None: anywhere
    pictures: bool = False  # a small picture a step
    tracing: bool = False  # a trace of Playwright of a red run
    fragments: Mapping[str, Steps] = field(default_factory=dict)  # what `use` may name
    forbidden: tuple[Locator, ...] = ()  # what the steps at `guarded` do not act on
    guarded: frozenset[Place] = frozenset()  # those of a repair
    fragment_files: Mapping[str, Path] = field(default_factory=dict)  # `files` of those, by their names
    announced_css: Mapping[str, str] = field(default_factory=dict)  # toast, modal, validation_error: own selectors
    stuck_s: float = 60.0  # past the time of a step, until a page that answers nothing at all is given up


OnStep = Callable[[Place, Step, str], Awaitable[None]]


def origin_of(url: str) -> str:
    """ "http://host:port"; "" for addresses without one."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return ""
    return f"{parts.scheme}://{parts.netloc}".lower()
