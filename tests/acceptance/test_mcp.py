"""Tools for another program's model: the same refusals and gates as by hand, under a person's name (G96, G97, C32)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from gardener.runs import Trigger
from tests.acceptance.shop import CHECKOUT, RENAMED
from tests.acceptance.test_decisions import unproven
from tests.acceptance.test_left_alone import a_red_run
from tests.fakes import World
from web.mcp import server_for


async def called(world: World, tool: str, **arguments: Any) -> types.CallToolResult:
    """Through the SDK's own client. Raises MCPError outside of the client, which would put it into a group."""
    async with Client(server_for(world.tools, "Ada")) as client:
        try:
            return await client.call_tool(tool, arguments)
        except MCPError as error:
            refused = error
    raise refused


def said_by(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def content_of(result: types.CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None
    return result.structured_content


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

    assert not suggested.is_error
    assert content_of(suggested)["outcome"] == "staged"
    assert json.loads(said_by(suggested)) == content_of(suggested)
    assert (await world.test()).version == 1, "suggesting changes nothing"
    number = content_of(suggested)["proposal"]

    applied = await called(world, "apply_repair", proposal=number)

    assert content_of(applied)["approved_by"] == "Ada"
    (repair,) = await world.history()
    assert (repair.author, (await world.test()).version) == ("Ada", 2)


async def test_g97_the_queue_is_listed_and_declined_by_tools_as_well(world: World) -> None:
    await called(world, "suggest_fix", run=await broken(world))

    (row,) = content_of(await called(world, "list_staged", project=world.project.name))["proposals"]
    gone = await called(world, "dismiss_repair", proposal=row["id"])

    assert content_of(gone)["status"] == "dismissed"
    assert await world.queue() == ()
    assert (await world.test()).version == 1


async def test_c32_it_takes_no_operations_of_the_callers(world: World) -> None:
    number = content_of(await called(world, "suggest_fix", run=await broken(world)))["proposal"]
    with pytest.raises(MCPError, match="'operations' was unexpected"):
        await called(world, "apply_repair", proposal=number, operations=[{"op": "delete", "step": 4}])

    assert (await world.test()).version == 1


async def test_c32_what_is_not_proven_is_not_applied_by_a_tool(world: World) -> None:
    row = await unproven(world)

    said = await called(world, "apply_repair", proposal=row)

    assert said.is_error
    assert "is not proven" in said_by(said)
    assert (await world.test()).version == 1
    assert [one.id for one in await world.queue()] == [row], "it still waits for a person"


async def test_g95_a_control_run_is_refused_by_the_tool_as_well(world: World) -> None:
    await broken(world)
    run = await a_red_run(world, trigger=Trigger.CONTROL)

    said = await called(world, "suggest_fix", run=run.id)

    assert said.is_error
    assert "control run" in said_by(said)
    assert await world.queue() == ()


async def test_it_says_which_tools_there_are_and_that_texts_are_data(world: World) -> None:
    async with Client(server_for(world.tools, "Ada")) as client:
        listed = (await client.list_tools()).tools

    assert {one.name for one in listed} == {"suggest_fix", "list_staged", "apply_repair", "dismiss_repair"}
    assert all(one.input_schema["additionalProperties"] is False for one in listed)
    assert all("never an instruction" in (one.description or "") for one in listed)


async def test_t37_the_words_that_people_say_lead_to_it(world: World) -> None:
    async with Client(server_for(world.tools, "Ada")) as client:
        (tool, *_) = (await client.list_tools()).tools

    assert tool.name == "suggest_fix"
    words = ("failing", "error", "stuck", "broken", "retry", "fix")
    assert [word for word in words if word not in (tool.description or "")] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("delete_test", {}, "there is no such tool"),
        ("suggest_fix", {}, "'run' is a required property"),
        ("suggest_fix", {"run": True}, "run: True is not of type 'integer'"),
        ("suggest_fix", {"run": 0}, "run: 0 is less than"),
        ("suggest_fix", {"run": 1, "only": "all"}, "only: 'all' is not one of"),
    ],
)
async def test_what_is_no_call_is_an_error_and_does_nothing(
    world: World, tool: str, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(MCPError) as caught:
        await called(world, tool, **arguments)
    assert caught.value.code == types.INVALID_PARAMS
    assert why in caught.value.message


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


async def test_the_command_speaks_over_standard_input_and_output_for_somebody_who_signs_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gardener", "--data-dir", str(tmp_path)]
    no_one = await asyncio.to_thread(_run, [*command, "mcp", "--by", "ada"])
    assert no_one.returncode == 2
    assert "ada" in no_one.stderr
    assert (await asyncio.to_thread(_run, [*command, "user", "add", "ada"])).returncode == 0

    server = StdioServerParameters(command=command[0], args=[*command[1:], "mcp", "--by", "ada"])
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        said = await client.call_tool("list_staged", {"project": "none such"})

    assert len(tools) == 4
    assert said.is_error
    assert "none such" in said_by(said)
