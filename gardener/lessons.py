"""A lesson: a proven fix worth remembering, tried first when the same locator breaks elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Lesson:
    id: int
    project: int
    old: dict[str, Any]  # the locator that broke, as the test format writes it
    words: tuple[str, ...]  # of the old element's fingerprint
    page: str  # pattern of the page's address
    new: dict[str, Any]  # the locator that was proven in its place
    proven_at: datetime
    uses: int = 0
