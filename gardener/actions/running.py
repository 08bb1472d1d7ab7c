"""Run the tests of a project; on an applying project the red ones of an unattended run are repaired."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, assert_never

from gardener.actions.playing import PlayedTest, access_to, play
from gardener.actions.repairing import Wanted, blocked, file_finding, repair
from gardener.actions.signing_in import Access
from gardener.errors import NotFound
from gardener.jobs import Job, JobKind
from gardener.projects import Project
from gardener.repairs import GARDENER
from gardener.results import Result
from gardener.runs import UNATTENDED, Run, RunStatus, Trigger
from gardener.saved_tests import SavedTest, Status, may_tend
from gardener.store import Transaction, at_risk, jobs, projects, runs, saved_tests
from gardener.tools import Tools
from gardener.triage import Issue
from repair_ladder.outcomes import Environment, Green, Red


@dataclass(frozen=True, slots=True)
class RunReport:
    runs: tuple[Run, ...]
    jobs: tuple[int, ...]  # repairs that were asked for


async def run_tests(
    tools: Tools,
    project: Project,
    names: Sequence[str],
    trigger: Trigger = Trigger.MANUAL,
    *,
    repairs: bool = True,
) -> RunReport:
    """One after another, unless the project says how many may run side by side. Raises NotFound for an unknown name.

    Without names the tests in service are run; with names those, whatever their status. Without `repairs` no repair is
    asked for, whatever the trigger and the project's switch say.
    """
    async with tools.store.reading() as tx:
        if names:
            tests = [await saved_tests.get(tx, project.id, name) for name in dict.fromkeys(names)]
        else:
            tests = list(await saved_tests.listed(tx, project.id, statuses=[Status.ACTIVE]))
    if not tests:
        raise NotFound(f"'{project.name}' has no test in service: import some first")
    tests.sort(key=lambda test: test.name != project.settings.sign_in)  # who signs in for the others comes first
    first = [test for test in tests[:1] if test.name == project.settings.sign_in]
    access = access_to(tools, project, trigger)
    turn = asyncio.Semaphore(project.settings.side_by_side)

    async def one(test: SavedTest) -> PlayedTest:
        async with turn:
            await tools.watch("run_start", {"test": test.name, "trigger": trigger.value})
            played = await play(tools, project, test, trigger, access=access)
            await tools.watch(
                "run_end", {"test": test.name, "status": played.run.status.value, "error": played.run.error}
            )
            return played

    played = [await one(test) for test in first]
    played += await asyncio.gather(*(one(test) for test in tests[len(first) :]))
    # The sign-in test had to be played though nobody named it: that is told where it matters.
    for test, ran in access.on_the_way:
        if all(test.id != one.id for one in tests) and not isinstance(ran.outcome, Green):
            tests, played = [test, *tests], [ran, *played]
    asked = await _ask_for_repairs(tools, project, tests, played, repairs=repairs) if trigger in UNATTENDED else ()
    return RunReport(tuple(one.run for one in played), asked)


async def _ask_for_repairs(
    tools: Tools, project: Project, tests: Sequence[SavedTest], played: Sequence[PlayedTest], *, repairs: bool
) -> tuple[int, ...]:
    """Jobs for the red tests (G7), and one finding a cause for what the surroundings did."""
    asked = []
    async with tools.store.transaction() as tx:
        causes: dict[str, list[PlayedTest]] = {}
        for test, one in zip(tests, played, strict=True):
            if one.run.status == RunStatus.ENVIRONMENT:
                causes.setdefault(one.run.cause or "environment", []).append(one)
                continue
            may = repairs and one.run.status == RunStatus.RED and may_tend(test, trigger=one.run.trigger) is None
            if may and (await projects.by_id(tx, project.id)).mends_red_runs:
                asked.append((await ask_for_repair(tx, tools, project, test, one.run)).id)
        for cause, ran in causes.items():
            tested = [one.run.test for one in ran if one.run.test is not None]
            await file_finding(tx, tools, project, cause, ran[0].run.error or cause, tested, ran[0].run.id)
    return tuple(asked)


async def ask_for_repair(tx: Transaction, tools: Tools, project: Project, test: SavedTest, run: Run) -> Job:
    return await jobs.add(
        tx,
        project=project.id,
        kind=JobKind.HEAL,
        key=f"test:{test.id}:v{test.version}",
        payload={"test": test.id, "run": run.id},
        now=tools.now(),
    )


async def add_suite(tx: Transaction, tools: Tools, project: Project) -> Job:
    """A job that runs all tests in service, as the schedule wants it; while one waits or runs, that one."""
    return await jobs.add(
        tx,
        project=project.id,
        kind=JobKind.SUITE,
        key=f"suite:{project.id}",
        payload={"scheduled": True},
        now=tools.now(),
    )


async def suite(tools: Tools, job: Job) -> dict[str, Any]:
    """Counts of what the runs said, and the jobs that repair what is red (G7); no tests, no trouble."""
    async with tools.store.reading() as tx:
        project = await projects.by_id(tx, job.project)
        tests = await saved_tests.listed(tx, project.id, statuses=[Status.ACTIVE])
    report = await run_tests(tools, project, (), Trigger.SCHEDULE) if tests else RunReport((), ())
    said = Counter(run.status.value for run in report.runs)
    return {"runs": [run.id for run in report.runs], "repairs": list(report.jobs)} | {
        status.value: said[status.value] for status in RunStatus
    }


@dataclass(frozen=True, slots=True)
class Waits:
    """Not now: the job waits until then, and `result` says why."""

    until: datetime
    result: Result


async def heal(tools: Tools, job: Job) -> Result | Waits | None:
    """A job that asks for the repair of one failed unattended run; None if it is no longer wanted.

    Whether it may be done is asked here, where the work is claimed, and not only where it was requested (G14).
    """
    async with tools.store.reading() as tx:
        project = await projects.by_id(tx, job.project)
        run = await runs.get(tx, int(job.payload["run"]))
        test = await saved_tests.by_id(tx, int(job.payload["test"]))
    if not project.mends_red_runs or may_tend(test, trigger=run.trigger, version=run.version) is not None:
        return None
    shut = project.settings.why_read_only(tools.now())
    if shut:
        return Waits(shut[1], Result(test.name, "unavailable", f"{shut[0]}; its repair waits until then"))
    return await mend(tools, project, test, Wanted(apply=True))


def _blocked(test: SavedTest, run: Run, issue: Issue) -> Result:
    how = "said that the app is wrong" if issue.answer == "defect" else None
    told = f"{issue.answered_by} {how}" if how else f"issue {issue.id} waits for an answer"
    reason = f"{told}, and neither the test nor the app has changed since: nothing was tried"
    return Result(test.name, "refused", reason, run.failed_step)


async def mend(
    tools: Tools, project: Project, test: SavedTest, wanted: Wanted, *, access: Access | None = None
) -> Result:
    """Show the saved steps failing once more, then climb. A test that is green now was flaky or mended meanwhile."""
    shut = project.settings.why_read_only(tools.now())
    if shut:
        return Result(test.name, "unavailable", shut[0])
    played = await play(tools, project, test, Trigger.DRY_RUN, access=access)
    match played.outcome:
        case Green():
            return Result(test.name, "passed", "the test is green when it is run again: nothing is repaired")
        case Environment(kind=kind, message=message):
            async with tools.store.transaction() as tx:
                await file_finding(tx, tools, project, kind, message, [test.id], played.run.id)
            return Result(
                test.name, "unavailable" if kind == "browser" else "environment", message, played.run.failed_step
            )
        case Red():
            async with tools.store.reading() as tx:
                risk = await at_risk.get(tx, test.id)
            known = replace(wanted, triggers=risk.triggers, change_key=risk.change_key) if risk else wanted
            waits = await blocked(tools, test, played, known.change_key) if wanted.by == GARDENER else None
            if waits:
                return _blocked(test, played.run, waits)
            return await repair(tools, project, test, played, known)
        case _:
            assert_never(played.outcome)
