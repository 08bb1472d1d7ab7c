"""What the pages stand on: the tools, and what the worker of this process tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gardener.tools import Tools
from web.watching import Watching


@dataclass(frozen=True, slots=True)
class Site:
    tools: Tools
    watching: Watching
    knock: Callable[[], None] = lambda: None  # tells the worker of this process that there is work
    secure: bool = False  # reached by https: cookies are for that only
