"""Tell plugins and the log what becomes of a repair; after it was written, and never so that it changes."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass

from gardener import stories
from gardener.hooks import CaseFinished, Healed, HealingStarted, StepVerdict
from gardener.projects import Project
from gardener.results import Result, operation_shapes
from gardener.saved_tests import SavedTest
from gardener.stories import ANSWERS
from gardener.tools import Tools
from repair_ladder.climb import Climbed, Exhausted, NotDrift, Repaired
from repair_ladder.errors import LadderError
from repair_ladder.intents import INTENT
from repair_ladder.outcomes import Red
from repair_ladder.rungs.models import Redact
from repair_ladder.step_format import describe
from repair_ladder.steps import BLOCKS, show_place, step_at

log = logging.getLogger(__name__)
FAULTS = {"many": "fixable", "test": "fixable", "check": "product_defect"}


@dataclass(frozen=True, slots=True)
class Announcer:
    """What is told of one case."""

    tools: Tools
    project: Project
    test: SavedTest
    case: int
    run: int
    red: Red
    redact: Redact

    @property
    def category(self) -> str:
        """What the failure looks like before anything is asked; a step of a block is recovered with it (H27)."""
        around = [step_at(self.test.steps, self.red.place[:length]) for length in range(1, len(self.red.place))]
        return "recoverable" if any(one.kind in BLOCKS for one in around) else FAULTS.get(self.red.cause, "rot")

    async def started(self) -> None:
        event = HealingStarted(
            self.project.name,
            self.test.name,
            self.test.version,
            self.run,
            self.case,
            show_place(self.red.place),
            self.category,
            self.red.message,
        )
        await self.tools.plugins.tell(event, self.redact)

    async def ended(self, climbed: Climbed, result: Result) -> None:
        if isinstance(climbed, Repaired) and result.outcome in ("applied", "staged"):
            await self.tools.plugins.tell(self._healed(climbed, result), self.redact)
        if isinstance(climbed, NotDrift | Exhausted):
            verdict = self._verdict(climbed)
            told = {key: _shown(value, self.redact) for key, value in asdict(verdict).items()}
            log.info(self.redact(verdict.message), extra={"verdict": told})
            await self.tools.plugins.tell(verdict, self.redact)
        finished = CaseFinished(
            self.project.name,
            self.test.name,
            self.case,
            result.outcome,
            result.reason,
            len(climbed.attempts),
            result.model_calls,
        )
        await self.tools.plugins.tell(finished, self.redact)

    def _healed(self, climbed: Repaired, result: Result) -> Healed:
        category = "recoverable" if climbed.strategy == INTENT else self.category
        return Healed(
            self.project.name,
            self.test.name,
            self.case,
            "rot" if category == "product_defect" else category,
            result.outcome,
            climbed.strategy,
            result.reason,
            tuple(operation_shapes(self.test.steps, climbed.operations)),
            result.proposal,
            result.repair,
        )

    def _verdict(self, climbed: NotDrift | Exhausted) -> StepVerdict:
        best = stories.advice(climbed)
        category: str = climbed.verdict if isinstance(climbed, NotDrift) else "incurable"
        if isinstance(climbed, Exhausted) and climbed.only_refused:
            category = "fixable"
        try:
            does = describe(step_at(self.test.steps, self.red.place))
        except (LookupError, LadderError):
            does = ""
        return StepVerdict(
            self.project.name,
            self.test.name,
            self.case,
            show_place(self.red.place),
            does,
            self.red.message,
            category,
            climbed.reason,
            f"{best.answer} ({ANSWERS[best.answer]}): {best.why}",
            self.red.observed,
            climbed.evidence,
            tuple(one.reason for one in climbed.refusals),
        )


def _shown(value: object, redact: Redact) -> object:
    if isinstance(value, str):
        return redact(value)
    return [redact(str(one)) for one in value] if isinstance(value, tuple | list) else value
