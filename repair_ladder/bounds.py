"""How far the ladder goes before it stops: which bound trips first, and how that is said (T2-T7, T32, C5, C7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

SAME_FIX: Final = 2  # times; about to be tried once more: stop


@dataclass(frozen=True, slots=True)
class Limits:
    """A caller may lower them, never raise them above these."""

    attempts: int = 5  # distinct candidates of one case that led nowhere
    candidates: int = 2  # of one rung
    replays: int = 20  # of one case, progress included
    clock: timedelta = timedelta(minutes=10)  # of repair work
    model_calls: int = 6  # of one case

    def calls_tripped(self, calls: int) -> str | None:
        """Why no further question may be asked in this case; None while it may. Tokens and money are the ledger's."""
        if calls >= self.model_calls:
            return f"a model was asked {calls} times for this case, which is as often as it may be"
        return None


@dataclass
class Spent:
    """What one case has used up. Dry-runs, settling and a model that was out of reach do not count (spec 2.6)."""

    limits: Limits
    began: datetime
    now: Callable[[], datetime]
    attempts: int = 0
    replays: int = 0
    model_calls: int = 0
    tried: Counter[str] = field(default_factory=Counter)

    def tripped(self) -> str | None:
        """The bound that stops the case now, in words; None while it may go on."""
        if self.attempts >= self.limits.attempts:
            return f"{self.limits.attempts} candidates were tried and none was proven"
        if self.replays >= self.limits.replays:
            return f"the test was replayed {self.limits.replays} times"
        if self.now() - self.began >= self.limits.clock:
            return f"repair work took {self.limits.clock.total_seconds() / 60:g} minutes"
        return None

    def same_again(self, fix: str) -> bool:
        """Is this fix about to be tried a third time? Counts the try."""
        self.tried[fix] += 1
        return self.tried[fix] > SAME_FIX
