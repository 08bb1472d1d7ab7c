"""Control runs: tests are played with falsified expectations and have to go red; green is an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gardener.actions.entrusting import values_of, whole_of
from gardener.actions.playing import access_to, memory_of, replayer, stage_of, write_run
from gardener.actions.signing_in import Access
from gardener.errors import NotFound
from gardener.jobs import Job, JobKind
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.runs import Trigger
from gardener.saved_tests import SavedTest, Status
from gardener.store import Transaction, events, issues, jobs, projects, saved_tests
from gardener.tools import Tools
from gardener.triage import IssueKind
from repair_ladder import gate
from repair_ladder.outcomes import Environment, Green, Red
from repair_ladder.steps import show_place

Said: TypeAlias = Literal["sensitive", "blind", "red", "environment", "no checks"]


@dataclass(frozen=True, slots=True)
class Controlled:
    """What a control run of one test came to.

    "sensitive": every falsified check was red, as it has to be. "blind": one was green: the alarm. "red": the test is
    red by itself, so nothing can be said. "no checks": there is nothing that could be falsified.
    """

    test: str
    outcome: Said
    reason: str
    run: int | None = None

    def shape(self) -> dict[str, Any]:
        return {"test": self.test, "outcome": self.outcome, "reason": self.reason, "run": self.run}


async def add_control(tx: Transaction, tools: Tools, project: Project) -> Job:
    """A job for all tests in service, as the schedule wants it; while one waits or runs, that one."""
    return await jobs.add(
        tx,
        project=project.id,
        kind=JobKind.CONTROL,
        key=f"control:{project.id}",
        payload={"scheduled": True},
        now=tools.now(),
    )


async def work(tools: Tools, job: Job) -> dict[str, Any]:
    """A scheduled control run, as `control --json` prints it."""
    async with tools.store.reading() as tx:
        project = await projects.by_id(tx, job.project)
        tests = await saved_tests.listed(tx, project.id, statuses=[Status.ACTIVE])
    done = await control_tests(tools, project, ()) if tests else ()
    return {"controls": [one.shape() for one in done]}


async def control_tests(tools: Tools, project: Project, names: Sequence[str]) -> tuple[Controlled, ...]:
    """One control run a test, those in service without names. Raises NotFound for an unknown name."""
    async with tools.store.reading() as tx:
        if names:
            tests = [await saved_tests.get(tx, project.id, name) for name in dict.fromkeys(names)]
        else:
            tests = list(await saved_tests.listed(tx, project.id, statuses=[Status.ACTIVE]))
    if not tests:
        raise NotFound(f"'{project.name}' has no test in service: import some first")
    access = access_to(tools, project, Trigger.DRY_RUN)
    return tuple([await _control(tools, project, test, access) for test in tests])


async def _control(tools: Tools, project: Project, test: SavedTest, access: Access) -> Controlled:
    values = await values_of(tools, test)
    if values.trouble:
        return Controlled(test.name, "environment", values.trouble)
    stage, whole = stage_of(tools, project, test, values), whole_of(test, values.shared)
    memory = await memory_of(tools, test)
    given = await access.enter() if await access.is_behind(whole, memory) else None
    if isinstance(given, Environment):
        return Controlled(test.name, "environment", given.message)
    began = tools.now()
    control = await gate.control(whole.steps, replayer(tools, access, given, stage, memory))
    if control is None:
        return Controlled(test.name, "no checks", "it has no check that could be falsified")
    said, reason = _judge(control)
    async with tools.store.transaction() as tx:
        run = await write_run(
            tx, tools, project, test, Trigger.CONTROL, control.outcome, began, versions=values.versions
        )
        if said == "blind":
            await _alarm(tx, tools, project, test, reason, run.id)
        elif said == "sensitive":
            await issues.close_cause(tx, project.id, _cause(test), now=tools.now())
    await tools.watch("control", {"test": test.name, "outcome": said, "reason": reason})
    return Controlled(test.name, said, reason, run.id)


def _judge(control: gate.Control) -> tuple[Said, str]:
    outcome = control.outcome
    if control.green:
        places = ", ".join(show_place(place) for place in control.green)
        return "blind", f"the check at step {places} is green even when it expects what cannot be"
    match outcome:
        case Environment(message=message):
            return "environment", message
        case Red() if control.is_sensitive:
            count = len(control.falsified)
            return "sensitive", f"{count} falsified check{'s were' if count != 1 else ' was'} red, as they have to be"
        case Red():
            return "red", f"the test is red by itself at step {show_place(outcome.place)}: {outcome.message}"
        case Green():
            return "blind", "it was green though its last check expected what cannot be"


def _cause(test: SavedTest) -> str:
    return f"{issues.BLIND}{test.id}"


async def _alarm(tx: Transaction, tools: Tools, project: Project, test: SavedTest, reason: str, run: int) -> None:
    """One open issue a test; a green run of the test does not close it, for that is what is wrong with it."""
    issue = await issues.file(
        tx,
        project=project.id,
        kind=IssueKind.FINDING,
        verdict="blind",
        cause_key=_cause(test),
        tests=[test.id],
        reason=f"'{test.name}' cannot fail: {reason}",
        run=run,
        now=tools.now(),
    )
    if issue.restated == 0:
        subject = f"'{test.name}' was green in a control run: {reason}"
        payload = {"issue": issue.id, "test": test.name}
        await events.emit(tx, project.id, EventKind.BLIND, subject[:300], payload, now=tools.now())
