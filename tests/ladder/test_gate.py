"""repair_ladder/gate.py: a candidate is proved by a green run in which its steps used what the old elements became."""

from __future__ import annotations

from typing import Any

import pytest

from repair_ladder import gate
from repair_ladder.gate import Known, NotGreen, Proof, WrongElement
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation
from repair_ladder.outcomes import Environment, Green, Outcome, Trace
from repair_ladder.steps import Steps
from tests.builders import a_memory, a_page, a_played, a_red, a_replacement, an_insert, index_of, steps_of

OLD = a_page(
    """
    main
      h1 "Basket"
      p "One blue mug"
      button#pay "Pay now"
      button#later "Save for later"
    """
)
NEW = a_page(
    """
    main
      h1 "Basket"
      p "One blue mug"
      button#submit "Pay now"
      button#later "Save for later"
    """
)
STEPS = steps_of({"goto": "/"}, {"click": {"css": "#pay"}}, {"assert_url": {"equals": "/thanks"}})
KNOWN = Known(a_memory({2: (OLD, index_of(OLD, id="pay"))}))
FIX = a_replacement(2, {"click": {"css": "#submit"}})
BANNER = an_insert(1, {"click": {"css": "#ok"}}, "it is in the way")


class Replays:
    """Answers from a list, and remembers what was played."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes, self.played = list(outcomes), []

    async def __call__(self, steps: Steps) -> Outcome:
        self.played.append(steps)
        return self.outcomes.pop(0)


def green(*used: tuple[int, Any]) -> Green:
    """Green, and which step used what on the new page; -1: a count or an absence."""
    played = tuple(a_played(at, snapshot=0, target=target) for at, target in used)
    return Green(Trace(played, (NEW,)))


RIGHT, NEIGHBOUR = index_of(NEW, id="submit"), index_of(NEW, id="later")


async def test_g29_g30_green_on_the_right_element_is_a_proof() -> None:
    replays = Replays(green((2, RIGHT)))

    judged = await gate.prove(STEPS, (FIX,), KNOWN, replays)

    assert isinstance(judged, Proof)
    assert judged.operations == (FIX,)
    assert replays.played[0][1].locator.css == "#submit"
    assert STEPS[1].locator is not None
    assert STEPS[1].locator.css == "#pay", "a copy was played"


async def test_green_on_the_neighbour_is_no_proof() -> None:
    judged = await gate.prove(STEPS, (FIX,), KNOWN, Replays(green((2, NEIGHBOUR))))

    assert isinstance(judged, WrongElement)
    assert 'used button "Save for later"' in judged.reason
    assert 'its element became button "Pay now"' in judged.reason


async def test_red_is_no_proof() -> None:
    red = a_red(3, NEW, "check")

    judged = await gate.prove(STEPS, (FIX,), KNOWN, Replays(red))

    assert judged == NotGreen(red)


async def test_the_surroundings_are_neither() -> None:
    down = Environment("unreachable", "no answer")

    assert await gate.prove(STEPS, (FIX,), KNOWN, Replays(down)) is down


async def test_a_step_that_no_operation_names_is_judged_too() -> None:
    """An inserted step may have led a later one to another element."""
    judged = await gate.prove(STEPS, (BANNER,), KNOWN, Replays(green((3, NEIGHBOUR))))

    assert isinstance(judged, WrongElement)
    assert "step 2" in judged.reason


async def test_a_step_that_was_not_changed_and_is_not_recognised_is_not_held_against_it() -> None:
    gone = a_page('main\n  h1 "Something else altogether"\n  a#x "Away"')
    trace = Trace((a_played(2, snapshot=0, target=index_of(gone, id="x")),), (gone,))
    other = an_insert(0, {"wait": 5})

    judged = await gate.prove(STEPS[:2], (other,), KNOWN, Replays(Green(trace)))

    assert isinstance(judged, Proof)


async def test_a_changed_step_that_is_not_recognised_is_not_proved() -> None:
    other = a_page('main\n  h1 "Something else altogether"\n  a#x "Away"')
    trace = Trace((a_played(2, snapshot=0, target=index_of(other, id="x")),), (other,))

    judged = await gate.prove(STEPS, (a_replacement(2, {"click": {"css": "#x"}}),), KNOWN, Replays(Green(trace)))

    assert isinstance(judged, WrongElement)


async def test_a_step_without_a_single_element_is_not_judged() -> None:
    judged = await gate.prove(STEPS, (FIX,), KNOWN, Replays(green((2, -1))))

    assert isinstance(judged, Proof)


@pytest.mark.parametrize("known", [KNOWN, Known(Memory())], ids=["recorded", "never green"])
async def test_a_step_that_was_not_played_is_not_judged(known: Known) -> None:
    assert isinstance(await gate.prove(STEPS, (FIX,), known, Replays(Green(Trace()))), Proof)


# --- the fewest insertions -----------------------------------------------------------------------------


def proof_of(*operations: Operation) -> Proof:
    return Proof(green(), operations)


async def test_an_insert_that_is_not_needed_is_dropped() -> None:
    replays = Replays(green((2, RIGHT)))

    fewer = await gate.fewest(proof_of(FIX, BANNER), STEPS, KNOWN, replays)

    assert fewer.operations == (FIX,)
    assert len(replays.played) == 1


async def test_an_insert_that_is_needed_stays() -> None:
    replays = Replays(a_red(2, NEW, "covered"))

    fewer = await gate.fewest(proof_of(FIX, BANNER), STEPS, KNOWN, replays)

    assert fewer.operations == (FIX, BANNER)


async def test_of_two_inserts_only_the_needed_one_is_kept() -> None:
    second = an_insert(1, {"click": {"css": "#maybe"}})
    replays = Replays(green((3, RIGHT)), a_red(2, NEW, "covered"))

    fewer = await gate.fewest(proof_of(FIX, second, BANNER), STEPS, KNOWN, replays)

    assert fewer.operations == (FIX, BANNER)


async def test_what_would_lead_to_another_element_without_it_stays() -> None:
    replays = Replays(green((2, NEIGHBOUR)))

    fewer = await gate.fewest(proof_of(FIX, BANNER), STEPS, KNOWN, replays)

    assert fewer.operations == (FIX, BANNER)


@pytest.mark.parametrize("operation", [FIX, BANNER], ids=["a replacement", "an insert"])
async def test_one_operation_alone_is_not_run_again(operation: Operation) -> None:
    replays = Replays()

    assert (await gate.fewest(proof_of(operation), STEPS, KNOWN, replays)).operations == (operation,)
    assert replays.played == []
