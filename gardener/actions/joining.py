"""A red test joins the repair of a fragment that waits already: one drift is one proposal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gardener.actions.entrusting import values_of
from gardener.actions.playing import PlayedTest, access_to, allowed_origins, replayer, stage_of, write_run
from gardener.errors import Conflict
from gardener.projects import Project
from gardener.proposals import Proposal
from gardener.results import Result
from gardener.runs import Trigger
from gardener.saved_tests import SavedTest
from gardener.sharing import Tried
from gardener.store import proposals
from gardener.tools import Tools
from repair_ladder import floor, fragments, gate
from repair_ladder.operations import Operations
from repair_ladder.outcomes import Green, Red
from repair_ladder.step_format import read_operation


async def join(
    tools: Tools, project: Project, test: SavedTest, played: PlayedTest, triggers: Sequence[dict[str, Any]]
) -> Result | None:
    """What came of it, where a repair of the fragment that the test is red in waits and mends this test too; else None.

    It passes here what it passed where it was found: the floor and both gates.
    """
    red, whole = played.outcome, played.whole
    assert isinstance(red, Red)
    name, _ = fragments.home(whole.steps, red.place)
    if name is None or project.settings.why_read_only(tools.now()):
        return None
    owner = played.shared[name]
    async with tools.store.reading() as tx:
        row = await proposals.open_of(tx, owner.id)
    if row is None or row.sharing is None or not row.proven or row.version != owner.version or row.sharing.together:
        return None
    operations = fragments.placed(whole.steps, name, map(read_operation, row.operations))
    green = await _proved(tools, project, test, played, operations)
    if green is None:
        return None
    try:
        return await _write_down(tools, project, test, played, row, green, triggers)
    except Conflict:
        return None  # it was decided, or the fragment edited, while this was proved


async def _proved(
    tools: Tools, project: Project, test: SavedTest, played: PlayedTest, operations: Operations
) -> Green | None:
    values, whole, memory = await values_of(tools, test), played.whole, played.memory
    origins = allowed_origins(project, memory)
    screened = floor.screen(
        whole.steps,
        operations,
        variables=frozenset(values.values) - values.secret_names,
        secrets=values.secret_names,
        origins=origins,
    )
    if screened.refused:
        return None
    stage = replace(stage_of(tools, project, test, values), fenced_to=origins)
    access = access_to(tools, project, Trigger.DRY_RUN)
    play = replayer(tools, access, played.signed_in, stage, memory, saved=whole.steps)
    judged = await gate.prove_with_red(whole.steps, operations, gate.Known(memory), play)
    return judged.run if isinstance(judged, gate.Proof) else None


async def _write_down(
    tools: Tools,
    project: Project,
    test: SavedTest,
    played: PlayedTest,
    row: Proposal,
    green: Green,
    triggers: Sequence[dict[str, Any]],
) -> Result:
    versions = {name: one.version + (name == row.test_name) for name, one in played.shared.items()}
    async with tools.store.transaction() as tx:
        run = await write_run(tx, tools, project, test, Trigger.PROOF, green, tools.now(), versions=versions)
        now = await proposals.get(tx, row.id)
        assert now.sharing is not None
        tried = Tried(test.id, test.name, test.version, "healed", run=run.id)
        joined = await proposals.restate(tx, row.id, triggers=triggers, sharing=now.sharing.with_(tried))
    reason = f"the repair of '{row.test_name}' that waits already mends it as well: {joined.why}"
    return Result(test.name, "staged", reason, played.run.failed_step, proposal=row.id)
