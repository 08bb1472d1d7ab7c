"""What a person asks for and does not wait for in a terminal: a job each, with their name in it, done by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from gardener.actions import by_hand, deciding, running
from gardener.errors import NotFound, Refused
from gardener.jobs import Job, JobKind
from gardener.projects import Project
from gardener.proposals import ProposalStatus
from gardener.results import run_shape
from gardener.runs import RunStatus
from gardener.saved_tests import may_tend
from gardener.store import jobs, projects, proposals, runs, saved_tests
from gardener.tools import Tools
from repair_ladder.rungs import RUNGS


async def ask_for_run(tools: Tools, project: Project, names: Sequence[str], by: str) -> Job:
    """Run these tests, or without names those in service. Raises NotFound where there is none."""
    async with tools.store.reading() as tx:
        for name in names:
            await saved_tests.get(tx, project.id, name)
    key = "\n".join(sorted(names)) or "suite"
    return await _ask(tools, project.id, JobKind.RUN, key, {"tests": list(names), "by": by})


async def ask_for_repair_by_hand(tools: Tools, run: int, only: str | None, by: str) -> Job:
    """The ladder for a red run, or one rung (G92). Raises Refused where nobody may repair it (G95)."""
    if only is not None and only not in RUNGS:
        raise Refused(f"'{only}' is not a rung of the ladder; there are {', '.join(RUNGS)}.")
    async with tools.store.reading() as tx:
        row = await runs.get(tx, run)
        test = await saved_tests.by_id(tx, row.test) if row.test is not None else None
    why = may_tend(test, trigger=row.trigger, version=row.version, by_hand=True)
    if why or row.status != RunStatus.RED:
        raise Refused(f"Run {run} is not repaired: {why or f'it is {row.status.value}, not red'}.")
    return await _ask(tools, row.project, JobKind.REPAIR, f"run:{run}", {"run": run, "only": only, "by": by})


async def ask_for_fresh_proof(tools: Tools, proposal: int, by: str) -> Job:
    """Work a stale proposal out anew, on the test as it is now. Raises Refused."""
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, proposal)
    if row.status != ProposalStatus.STALE:
        raise Refused(f"Proposal {proposal} is {row.status.value}, not stale: there is nothing to prove again.")
    return await _ask(tools, row.project, JobKind.PROVE, f"proposal:{proposal}", {"proposal": proposal, "by": by})


async def ask_for_approval(tools: Tools, proposal: int, by: str) -> Job:
    """Prove an unproven proposal, and write it if it is green: that takes a browser and a while."""
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, proposal)
    if row.status != ProposalStatus.PROPOSED:
        raise Refused(f"Proposal {proposal} is {row.status.value} already.")
    return await _ask(tools, row.project, JobKind.APPROVE, f"proposal:{proposal}", {"proposal": proposal, "by": by})


async def do_asked(tools: Tools, job: Job) -> dict[str, Any]:
    """The work of one such job; what came of it as the commands print it."""
    given, by = job.payload, str(job.payload.get("by", tools.settings.by))
    match job.kind:
        case JobKind.RUN:
            async with tools.store.reading() as tx:
                project = await projects.by_id(tx, job.project)
            report = await running.run_tests(tools, project, [str(one) for one in given["tests"]])
            return {"runs": [run_shape(row) for row in report.runs]}
        case JobKind.REPAIR:
            result = await by_hand.repair_run(tools, int(given["run"]), only=given["only"], apply=False, by=by)
            return result.shape()
        case JobKind.PROVE:
            return (await by_hand.prove_again(tools, int(given["proposal"]), by)).shape()
        case JobKind.APPROVE:
            repair = await deciding.approve(tools, int(given["proposal"]), by)
            return {"repair": repair.id, "approved": repair.test_name}
        case JobKind.SWEEP | JobKind.STAGE | JobKind.SUITE | JobKind.HEAL | JobKind.CONTROL:
            raise NotFound(f"Job {job.id} is not one that a person asks for.")
        case _:
            assert_never(job.kind)


async def _ask(tools: Tools, project: int, kind: JobKind, key: str, payload: dict[str, Any]) -> Job:
    async with tools.store.transaction() as tx:
        return await jobs.add(tx, project=project, kind=kind, key=key, payload=payload, now=tools.now())
