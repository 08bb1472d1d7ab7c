"""An intent block whose steps broke, from the red run to the repair and back (G21, G25-G28)."""

from __future__ import annotations

from gardener.actions import deciding
from gardener.actions.playing import memory_of
from gardener.results import proposal_shape
from gardener.runs import Trigger
from repair_ladder.memory import Did
from repair_ladder.outcomes import Sent
from tests.acceptance.conftest import MakeWorld
from tests.builders import HOST, a_page, a_test, steps_of
from tests.fakes import Release

NAME = """
main
  h1 "Order a mug"
  form
    input#name name=name label="Full name"
    button#next formaction=/where "Next"
"""
TOWN = """
main
  h1 "Where to"
  form
    input#town name=town label="Town"
    button#save formaction=/done data-send=/orders "Save"
"""
ONE_PAGE = """
main
  h1 "Order a mug"
  form
    input#name name=name label="Full name"
    input#town name=town label="Town"
    button#save formaction=/done data-send=/orders "Save"
"""
DONE = 'main\n  h1 "Orders"\n  p role=status "Ordered"\n  a#again href=/ "Again"'
TWO_PAGES = Release({"/": a_page(NAME), "/where": a_page(TOWN, "/where"), "/done": a_page(DONE, "/done")})
JOINED = TWO_PAGES.with_(home=a_page(ONE_PAGE))
# The same page, but the order goes somewhere else.
ELSEWHERE = TWO_PAGES.with_(home=a_page(ONE_PAGE.replace("/orders", "/drafts")))
BLOCK = {
    "intent": {
        "goal": "order a mug for Ada",
        "values": {"name": "${who}"},
        "steps": [
            {"fill": {"label": "Full name", "value": "${who}"}},
            {"click": {"role": "button", "name": "Next"}},
            {"fill": {"label": "Town", "value": "Berlin"}},
            {"click": {"role": "button", "name": "Save"}},
        ],
    }
}
ORDERING = a_test({"goto": "/"}, BLOCK, variables={"who": "Ada"})  # no check after the block
MENDED = steps_of(
    {"fill": {"label": "Full name", "value": "${who}"}},
    {"fill": {"label": "Town", "value": "Berlin"}},
    {"click": {"role": "button", "name": "Save"}},
)


async def test_g26_g27_a_block_that_does_what_it_did_is_written_by_an_applying_project(make_world: MakeWorld) -> None:
    async with make_world(TWO_PAGES, auto_repair=True) as world:
        await world.save(ORDERING)
        await world.run()
        world.app.release = JOINED

        (result,) = await world.nightly()

        assert result["outcome"] == "applied"
        assert result["model_calls"] == 0
        block = (await world.test()).steps[1]
        assert block.steps == MENDED
        assert block.parameters == ORDERING.steps[1].parameters, "G25"
        (repair,) = await world.history()
        assert repair.strategy == "intent", "G26"


async def test_g27_a_block_that_nothing_confirms_is_staged_even_on_an_applying_project(make_world: MakeWorld) -> None:
    async with make_world(TWO_PAGES, auto_repair=True) as world:
        await world.save(ORDERING)
        await world.run()
        world.app.release = ELSEWHERE

        (result,) = await world.nightly()

        assert result["outcome"] == "staged"
        assert "nothing confirms that the block does what it did" in result["reason"]
        test = await world.test()
        assert (test.version, test.steps) == (1, ORDERING.steps)
        (row,) = await world.queue()
        shape = proposal_shape(row)
        assert (shape["strategy"], shape["proven"]) == ("intent", True)
        (operation,) = shape["operations"]
        assert (operation["op"], operation["step"]) == ("replace", 2)
        assert len(operation["old"]["intent"]["steps"]) == 4
        assert len(operation["new"]["intent"]["steps"]) == 3


async def test_g28_reverting_restores_the_old_block_exactly(make_world: MakeWorld) -> None:
    async with make_world(TWO_PAGES, auto_repair=True) as world:
        await world.save(ORDERING)
        await world.run()
        world.app.release = JOINED
        await world.nightly()
        (repair,) = await world.history()

        await deciding.revert(world.tools, repair.id, "Ada")

        assert (await world.test()).steps == ORDERING.steps
        world.app.release = TWO_PAGES
        assert (await world.run()).runs[0].status == "green"


async def test_what_a_block_did_is_remembered_with_its_green_run(make_world: MakeWorld) -> None:
    async with make_world(TWO_PAGES) as world:
        await world.save(ORDERING)
        await world.run(trigger=Trigger.SUITE)

        memory = await memory_of(world.tools, await world.test())

        assert memory.did[2, 2] == Did(HOST + "/", HOST + "/where")
        sent = Sent("POST", HOST + "/orders", 201, (("name", "Ada"), ("town", "Berlin")))
        assert memory.did[2, 4] == Did(HOST + "/where", HOST + "/done", (sent,))
