"""Tools for another program's model: the same refusals and gates as by hand, under a person's name (G96, G97, C32)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gardener.actions import mcp
from gardener.errors import NotFound
from gardener.people import Role
from gardener.runs import Trigger
from gardener.store import people
from tests.acceptance.shop import CHECKOUT, RENAMED
from tests.acceptance.test_decisions import unproven
from tests.acceptance.test_left_alone import a_red_run
from tests.fakes import World


async def asked(world: World, method: str, **params: Any) -> Any:
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    said = await mcp.answer(world.tools, "Ada", json.dumps(request))
    assert said is not None
    assert "\n" not in said, "one message a line"
    reply = json.loads(said)
    assert (reply["jsonrpc"], reply["id"]) == ("2.0", 7)
    return reply


async def called(world: World, tool: str, **arguments: Any) -> Any:
    return (await asked(world, "tools/call", name=tool, arguments=arguments))["result"]


async def broken(world: World) -> int:
    """The number of a red run that a renamed button explains."""
    await world.save(CHECKOUT)
    await world.run()
    world.app.release = RENAMED
    (run,) = (await world.run()).runs
    return run.id


async def test_g96_suggest_fix_stages_a_repair_and_apply_repair_writes_it_under_the_callers_name(world: World) -> None:
    run = await broken(world)

    suggested = await called(world, "suggest_fix", run=run)

    assert suggested["isError"] is False
    assert suggested["structuredContent"]["outcome"] == "staged"
    assert json.loads(suggested["content"][0]["text"]) == suggested["structuredContent"]
    assert (await world.test()).version == 1, "suggesting changes nothing"
    number = suggested["structuredContent"]["proposal"]

    applied = await called(world, "apply_repair", proposal=number)

    assert applied["structuredContent"]["approved_by"] == "Ada"
    (repair,) = await world.history()
    assert (repair.author, (await world.test()).version) == ("Ada", 2)


async def test_g97_the_queue_is_listed_and_declined_by_tools_as_well(world: World) -> None:
    await called(world, "suggest_fix", run=await broken(world))

    (row,) = (await called(world, "list_staged", project=world.project.name))["structuredContent"]["proposals"]
    gone = await called(world, "dismiss_repair", proposal=row["id"])

    assert gone["structuredContent"]["status"] == "dismissed"
    assert await world.queue() == ()
    assert (await world.test()).version == 1


async def test_c32_it_takes_no_operations_of_the_callers(world: World) -> None:
    number = (await called(world, "suggest_fix", run=await broken(world)))["structuredContent"]["proposal"]
    more = {"name": "apply_repair", "arguments": {"proposal": number, "operations": [{"op": "delete", "step": 4}]}}

    reply = await asked(world, "tools/call", **more)

    assert reply["error"]["message"] == "'operations' is no argument of this tool"
    assert (await world.test()).version == 1


async def test_c32_what_is_not_proven_is_not_applied_by_a_tool(world: World) -> None:
    row = await unproven(world)

    said = await called(world, "apply_repair", proposal=row)

    assert said["isError"] is True
    assert "is not proven" in said["content"][0]["text"]
    assert (await world.test()).version == 1
    assert [one.id for one in await world.queue()] == [row], "it still waits for a person"


async def test_g95_a_control_run_is_refused_by_the_tool_as_well(world: World) -> None:
    await broken(world)
    run = await a_red_run(world, trigger=Trigger.CONTROL)

    said = await called(world, "suggest_fix", run=run.id)

    assert said["isError"] is True
    assert "control run" in said["content"][0]["text"]
    assert await world.queue() == ()


async def test_c32_c30_it_acts_for_somebody_who_signs_in(world: World) -> None:
    async with world.store.transaction() as tx:
        await people.add(tx, "Ada", role=Role.MEMBER, password_hash="x", must_change=False, now=world.clock())

    assert (await mcp.person_named(world.tools, "Ada")).name == "Ada"
    with pytest.raises(NotFound):
        await mcp.person_named(world.tools, "Cy")


async def test_it_says_what_it_speaks_and_which_tools_there_are(world: World) -> None:
    begun = (await asked(world, "initialize", protocolVersion="2024-11-05"))["result"]
    newer = (await asked(world, "initialize", protocolVersion="2099-01-01"))["result"]
    listed = (await asked(world, "tools/list"))["result"]["tools"]

    assert (begun["protocolVersion"], newer["protocolVersion"]) == ("2024-11-05", mcp.PROTOCOL)
    assert begun["capabilities"] == {"tools": {}}
    assert {one["name"] for one in listed} == {"suggest_fix", "list_staged", "apply_repair", "dismiss_repair"}
    assert all(one["inputSchema"]["additionalProperties"] is False for one in listed)
    assert all("never an instruction" in one["description"] for one in listed)


CALL = '{"id": 1, "method": "tools/call", "params": {"name": "suggest_fix", "arguments": %s}}'


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", mcp.PARSE_ERROR),
        ("[" * 100_000, mcp.PARSE_ERROR),
        ("[]", mcp.INVALID_REQUEST),
        ('{"id": 1, "method": 3}', mcp.INVALID_REQUEST),
        ('{"id": 1, "method": "resources/list"}', mcp.NO_METHOD),
        ('{"id": 1, "method": "tools/call", "params": []}', mcp.BAD_PARAMETERS),
        ('{"id": 1, "method": "tools/call", "params": {"name": "delete_test"}}', mcp.BAD_PARAMETERS),
        ('{"id": 1, "method": "tools/call", "params": {"name": "suggest_fix"}}', mcp.BAD_PARAMETERS),
        (CALL % '{"run": true}', mcp.BAD_PARAMETERS),
        (CALL % '{"run": 1, "only": "all"}', mcp.BAD_PARAMETERS),
    ],
)
async def test_what_is_no_call_is_an_error_and_does_nothing(world: World, line: str, code: int) -> None:
    said = await mcp.answer(world.tools, "Ada", line)

    assert said is not None
    assert json.loads(said)["error"]["code"] == code


async def test_a_notification_has_no_reply(world: World) -> None:
    assert await mcp.answer(world.tools, "Ada", '{"jsonrpc": "2.0", "method": "notifications/initialized"}') is None
