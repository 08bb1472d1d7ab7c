"""What came of one test: the answer of a dry-run or a repair, and everything as the commands print it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gardener.ledger import Sum
from gardener.notices import Delivery, Target
from gardener.proposals import Proposal
from gardener.repairs import Repair
from gardener.runs import Run
from gardener.sharing import Sharing
from gardener.triage import Issue
from repair_ladder.errors import LadderError
from repair_ladder.floor import Refusal
from repair_ladder.operations import Operation
from repair_ladder.step_format import write_operation, write_step
from repair_ladder.steps import Steps, show_place

Said: TypeAlias = Literal[
    "passed",  # the dry run is green
    "staged",
    "applied",
    "product_defect",
    "environment",
    "incurable",  # nothing proven was found
    "refused",  # only a person may make the change
    "unavailable",  # model, budget or browser; no attempt is spent
]


@dataclass(frozen=True, slots=True)
class Result:
    test: str
    outcome: Said
    reason: str
    failed_step: str | None = None
    proposal: int | None = None
    repair: int | None = None
    refusals: tuple[dict[str, Any], ...] = ()
    model_calls: int = 0

    def shape(self) -> dict[str, Any]:
        return {
            "test": self.test,
            "outcome": self.outcome,
            "failed_step": step_number(self.failed_step),
            "reason": self.reason,
            "proposal": self.proposal,
            "repair": self.repair,
            "refusals": list(self.refusals),
            "model_calls": self.model_calls,
        }


def step_number(place: str | None) -> int | str | None:
    """A step as the commands print it: 8, or "8.2" inside a block."""
    return int(place) if place is not None and place.isdecimal() else place


def run_shape(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "test": run.test_name,
        "status": run.status.value,
        "failed_step": step_number(run.failed_step),
        "error": run.error,
        "trigger": run.trigger.value,
        "observed": run.observed,
    }


def proposal_shape(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "test": proposal.test_name,
        "status": proposal.status.value,
        "proven": proposal.proven,
        "strategy": proposal.strategy,
        "operations": list(proposal.operations),
        "refusals": list(proposal.refusals),
        "triggers": list(proposal.triggers),
        "failed_step": step_number(proposal.failed_step),
        "error": proposal.error,
        "restated": proposal.restated,
        "reason": proposal.why,
        "version": proposal.version,
        "cause": proposal.cause,
        "staged_at": proposal.created_at.isoformat(),
        "shared": shared_shape(proposal.sharing),
    }


def repair_shape(repair: Repair) -> dict[str, Any]:
    return {
        "id": repair.id,
        "test": repair.test_name,
        "strategy": repair.strategy,
        "operations": list(repair.operations),
        "refusals": list(repair.refusals),
        "author": repair.author,
        "reason": repair.reason,
        "reverted": repair.reverted_at is not None,
        "reviewed": repair.reviewed_at is not None,
        "version_before": repair.version_before,
        "version_after": repair.version_after,
        "at": repair.created_at.isoformat(),
        "shared": shared_shape(repair.sharing),
    }


def shared_shape(sharing: Sharing | None) -> dict[str, Any] | None:
    """What a change of a fragment does to the tests that use it; null for a change of one test alone."""
    if sharing is None:
        return None
    return {
        "via": sharing.via_name,
        "use": step_number(sharing.use) if sharing.use else None,
        "heals": list(sharing.heals),
        "tried": [
            {"test": one.name, "said": one.said, "step": step_number(one.where or None)} for one in sharing.tried
        ],
        "not_run": list(sharing.left),
        "against": list(sharing.against),
    }


def issue_shape(issue: Issue) -> dict[str, Any]:
    return {
        "id": issue.id,
        "kind": issue.kind.value,
        "verdict": issue.verdict,
        "tests": list(issue.tests),
        "reason": issue.reason,
        "refusals": list(issue.refusals),
        "restated": issue.restated,
        "story": issue.story,
        "answer": issue.answer,
        "answered_by": issue.answered_by,
        "at": issue.created_at.isoformat(),
    }


def operation_shapes(steps: Steps, operations: Sequence[Operation]) -> tuple[dict[str, Any], ...]:
    return tuple(write_operation(steps, operation) for operation in operations)


def refusal_shapes(steps: Steps, refusals: Sequence[Refusal]) -> tuple[dict[str, Any], ...]:
    """Refused operations, each with the reason why it was withheld."""
    return tuple(_refusal_shape(steps, refusal) for refusal in refusals)


def _refusal_shape(steps: Steps, refusal: Refusal) -> dict[str, Any]:
    operation = refusal.operation
    try:
        shape = write_operation(steps, operation)
    except (LookupError, LadderError):  # it names a step that is not there: that is why it was refused
        new = write_step(operation.new) if operation.new else None
        shape = {"op": operation.op, "step": show_place(operation.place), "old": None, "new": new}
    return {**shape, "reason": refusal.reason}


def target_shape(target: Target) -> dict[str, Any]:
    """Without its address, which is a secret."""
    return {
        "id": target.id,
        "shown": target.shown,
        "events": [kind.value for kind in target.kinds],
        "created_at": target.created_at.isoformat(),
        "created_by": target.created_by,
    }


def delivery_shape(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "event": delivery.event.kind.value,
        "subject": delivery.event.subject,
        "target": delivery.target.id,
        "shown": delivery.target.shown,
        "state": delivery.state.value,
        "tries": delivery.tries,
        "may_have_arrived": delivery.unsure > 0,
        "error": delivery.error,
        "at": delivery.event.at.isoformat(),
    }


def sum_shape(one: Sum) -> dict[str, Any]:
    """What model calls used up; `usd` leaves out the `unpriced` calls, and `uncertain` ones are in it as estimated."""
    return {
        "calls": one.calls,
        "input_tokens": one.input_tokens,
        "cached_tokens": one.cached_tokens,
        "output_tokens": one.output_tokens,
        "usd": one.micro_usd / 1_000_000,
        "unpriced": one.unpriced,
        "uncertain": one.uncertain,
    }
