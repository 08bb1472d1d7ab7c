"""A person asks for a repair of one failed run, whatever the project's switch says (G92-G95)."""

from __future__ import annotations

from gardener.actions.repairing import Wanted
from gardener.actions.running import mend
from gardener.errors import Refused
from gardener.results import Result
from gardener.runs import RunStatus
from gardener.saved_tests import may_tend
from gardener.store import projects, proposals, runs, saved_tests
from gardener.tools import Tools
from repair_ladder.rungs import RUNGS


async def repair_run(tools: Tools, run: int, *, only: str | None, apply: bool, by: str) -> Result:
    """The ladder, or one rung of it, on a red run: same gates, same refusals. A proven fix is staged, or written.

    Raises Refused for what nobody may repair: a control run, a probe, a run of an older version, a green run, a draft.
    A test that waits for review may be mended when a person asks (G91).
    """
    async with tools.store.reading() as tx:
        row = await runs.get(tx, run)
        project = await projects.by_id(tx, row.project)
        test = await saved_tests.by_id(tx, row.test) if row.test is not None else None
    why = may_tend(test, trigger=row.trigger, version=row.version, by_hand=True)
    if test is None or why:
        raise Refused(f"Run {run} is not repaired: {why}.")
    if row.status == RunStatus.GREEN:
        raise Refused(f"Run {run} is green: there is nothing to repair.")
    if row.status == RunStatus.ENVIRONMENT:
        return Result(test.name, "environment", row.error or "the surroundings failed", row.failed_step)
    if shut := project.settings.why_read_only(tools.now()):
        raise Refused(f"Run {run} is not repaired now: {shut[0]}.")
    rungs = (only,) if only else RUNGS
    return await mend(
        tools,
        project,
        test,
        Wanted(apply=apply, rungs=rungs, by=by, even_declined=True, follows_switch=False),
    )


async def prove_again(tools: Tools, proposal: int, by: str) -> Result:
    """A stale proposal worked out anew for the test as it is now; what is proven is staged in its place.

    Nothing of the old operations is spliced into the edited steps: they count in steps that are no longer there.
    Raises Refused where the test may not be tended.
    """
    async with tools.store.reading() as tx:
        row = await proposals.get(tx, proposal)
        project = await projects.by_id(tx, row.project)
        # What is shared is proved again by the test that proved it.
        test = await saved_tests.by_id(tx, row.sharing.via if row.sharing else row.test)
    why = may_tend(test, by_hand=True)
    if why:
        raise Refused(f"Proposal {proposal} is not proved again: {why}.")
    if shut := project.settings.why_read_only(tools.now()):
        raise Refused(f"Proposal {proposal} is not proved again now: {shut[0]}.")
    wanted = Wanted(
        apply=False,
        triggers=row.triggers,
        change_key=row.change_key,
        by=by,
        even_declined=True,
        follows_switch=False,
    )
    return await mend(tools, project, test, wanted)
