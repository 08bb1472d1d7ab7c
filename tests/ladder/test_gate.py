"""repair_ladder/gate.py: a candidate is proved by a green run in which its steps used what the old elements became."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repair_ladder import gate
from repair_ladder.gate import Blind, Known, NotGreen, Proof, WrongElement
from repair_ladder.memory import Memory
from repair_ladder.operations import Operation, apply_operations
from repair_ladder.outcomes import Environment, Green, Outcome, Red, Trace
from repair_ladder.steps import Steps, walk
from tests.builders import a_deletion, a_memory, a_page, a_played, a_red, a_replacement, an_insert, index_of, steps_of

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


async def test_green_on_what_only_leads_to_the_element_is_no_proof() -> None:
    """The button moved into a menu, and the menu's own button stands where it stood."""
    page = a_page(
        """
    main
      h1 "Basket"
      p "One blue mug"
      button#more aria-haspopup=menu aria-expanded=false "Actions"
      button#later "Save for later"
    """
    )
    fix = a_replacement(2, {"click": {"css": "#more"}})
    run = Green(Trace((a_played(2, snapshot=0, target=index_of(page, id="more")),), (page,)))

    judged = await gate.prove(STEPS, (fix,), KNOWN, Replays(run))

    assert isinstance(judged, WrongElement)


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


async def test_a_likely_element_that_a_person_will_look_at_is_enough_and_only_that() -> None:
    """Where the matcher cannot tell two apart, a model's word makes one of them worth a person's look."""
    row = '  p\n    button#{} "{}"\n'
    old = a_page('main\n  h1 "Lists"\n' + row.format("a", "Open") + '  a#help "Help"')
    new = a_page('main\n  h1 "Lists"\n' + row.format("x", "Open it") + row.format("y", "Open up") + '  a#help "Help"')
    known = a_memory({2: (old, index_of(old, id="a"))})
    fix = a_replacement(2, {"click": {"css": "#x"}})
    trace = Trace((a_played(2, snapshot=0, target=index_of(new, id="x")),), (new,))

    alone = await gate.prove(STEPS, (fix,), Known(known), Replays(Green(trace)))
    vouched = await gate.prove(STEPS, (fix,), Known(known, frozenset({(2,)})), Replays(Green(trace)))
    help_ = Trace((a_played(2, snapshot=0, target=index_of(new, tag="h1")),), (new,))
    another = await gate.prove(STEPS, (fix,), Known(known, frozenset({(2,)})), Replays(Green(help_)))

    assert isinstance(alone, WrongElement)
    assert isinstance(vouched, Proof)
    assert isinstance(another, WrongElement), "what cannot be it is no matter of vouching"


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


async def test_what_stands_in_for_a_deleted_step_is_kept_however_green_it_is_without() -> None:
    """A native list became the app's own: its option is picked by a click, and no check of the test looks at it."""
    pick, extra = an_insert(1, {"click": {"role": "option", "name": "Large"}}), an_insert(0, {"wait": 5})
    replays = Replays(green((2, RIGHT)))

    fewer = await gate.fewest(proof_of(extra, pick, a_deletion(2)), STEPS, KNOWN, replays)

    assert fewer.operations == (pick, a_deletion(2))
    assert len(replays.played) == 1, "it was not even tried without it"


async def test_what_would_lead_to_another_element_without_it_stays() -> None:
    replays = Replays(green((2, NEIGHBOUR)))

    fewer = await gate.fewest(proof_of(FIX, BANNER), STEPS, KNOWN, replays)

    assert fewer.operations == (FIX, BANNER)


@pytest.mark.parametrize("operation", [FIX, BANNER], ids=["a replacement", "an insert"])
async def test_one_operation_alone_is_not_run_again(operation: Operation) -> None:
    replays = Replays()

    assert (await gate.fewest(proof_of(operation), STEPS, KNOWN, replays)).operations == (operation,)
    assert replays.played == []


# --- the red gate --------------------------------------------------------------------------------------

CHECKED = steps_of(
    {"goto": "/"},
    {"assert_visible": {"css": "h1"}},
    {"click": {"css": "#pay"}},
    {"intent": {"goal": "see it", "steps": [{"assert_url": {"equals": "/thanks"}}, {"click": {"css": "#later"}}]}},
    {"assert_text": {"css": "h1", "equals": "Thanks"}},
)
MOVED = a_replacement(3, {"click": {"css": "#submit"}})
SEEN = Known(a_memory({3: (OLD, index_of(OLD, id="pay"))}))


class Plays:
    """Green on the right element; what is optional fails, but for the kinds in `holds`."""

    def __init__(self, *holds: str, red_at: int | None = None) -> None:
        self.holds, self.red_at, self.played = holds, red_at, []

    async def __call__(self, steps: Steps) -> Outcome:
        self.played.append(steps)
        played = []
        for number, (place, step) in enumerate(walk(steps)):
            if number == self.red_at:
                return a_red(place, NEW, "check", played=tuple(played), snapshots=(NEW,))
            is_red = step.optional and step.kind not in self.holds
            target = RIGHT if step.locator and step.locator.css == "#submit" else None
            one = a_played(place, step.kind, snapshot=0, target=target)
            played.append(replace(one, error="no" if is_red else None, skipped=is_red))
        return Green(Trace(tuple(played), (NEW,)))


async def test_each_check_is_falsified_once_it_held_and_all_in_one_run() -> None:
    plays = Plays()

    judged = await gate.prove_with_red(CHECKED, (MOVED,), SEEN, plays)

    assert isinstance(judged, Proof)
    assert len(plays.played) == 1
    kinds = [(place, step.kind, step.optional) for place, step in walk(plays.played[0])]
    assert kinds == [
        ((1,), "goto", False),
        ((2,), "assert_visible", False),
        ((3,), "assert_hidden", True),
        ((4,), "click", False),
        ((5, 1), "assert_url", False),
        ((5, 2), "assert_url", True),
        ((5, 3), "click", False),
        ((6,), "assert_text", False),
        ((7,), "assert_text", True),
    ]
    places = [one.place for one in judged.run.trace.played]
    assert places == [(1,), (2,), (3,), (4, 1), (4, 2), (5,)], "told as if they had not been there"


async def test_a_check_that_is_green_when_falsified_is_no_proof() -> None:
    judged = await gate.prove_with_red(CHECKED, (MOVED,), SEEN, Plays("assert_url"))

    assert isinstance(judged, Blind)
    assert judged.places == ((4, 1),)
    assert "step 4.1" in judged.reason


async def test_a_red_step_is_told_at_its_own_place() -> None:
    judged = await gate.prove_with_red(CHECKED, (MOVED,), SEEN, Plays(red_at=7))

    assert isinstance(judged, NotGreen)
    assert judged.run.place == (5,)


async def test_checks_from_the_changed_step_on_are_falsified_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "MOST_PROBES", 2)

    probes = gate.probes_of(CHECKED, apply_operations(CHECKED, (MOVED,)))

    assert [one.place for one in probes] == [(4, 1), (5,)]


async def test_a_test_whose_checks_all_hold_for_everything_proves_nothing_and_is_not_run() -> None:
    steps = steps_of({"click": {"css": "#pay"}}, {"assert_text": {"css": "h1", "contains": ""}})
    plays = Plays()

    judged = await gate.prove_with_red(steps, (a_replacement(1, {"click": {"css": "#submit"}}),), SEEN, plays)

    assert isinstance(judged, Blind)
    assert "step 2" in judged.reason
    assert plays.played == []


async def test_a_test_without_checks_is_only_played_again() -> None:
    plays = Plays()

    judged = await gate.prove_with_red(STEPS[:2], (FIX,), KNOWN, plays)

    assert isinstance(judged, Proof)
    assert [step.kind for step in plays.played[0]] == ["goto", "click"]


# --- control runs --------------------------------------------------------------------------------------


class Deaf(Plays):
    """Also plays a falsified check that is not optional: red, unless its kind holds always."""

    async def __call__(self, steps: Steps) -> Outcome:
        self.red_at = next(
            (
                number
                for number, (_, step) in enumerate(walk(steps))
                if step.timeout_ms == gate.PROBE_MS and not step.optional and step.kind not in self.holds
            ),
            self.red_at,
        )
        return await super().__call__(steps)


async def test_a_control_run_ends_red_at_the_last_check() -> None:
    control = await gate.control(CHECKED, Deaf())

    assert control is not None
    assert control.is_sensitive
    assert control.falsified == ((2,), (4, 1), (5,))
    assert isinstance(control.outcome, Red)
    assert control.outcome.place == (5,)


@pytest.mark.parametrize("kind", ["assert_url", "assert_text"])
async def test_a_control_run_that_is_green_where_it_has_to_be_red_is_no_good(kind: str) -> None:
    control = await gate.control(CHECKED, Deaf(kind))

    assert control is not None
    assert not control.is_sensitive
    assert control.is_blind


async def test_a_test_that_is_red_by_itself_says_nothing_about_its_checks() -> None:
    class RedAtTheCheck(Plays):
        async def __call__(self, steps: Steps) -> Outcome:
            self.red_at = len(list(walk(steps))) - 2  # the last check itself, before its falsified twin
            return await super().__call__(steps)

    control = await gate.control(CHECKED, RedAtTheCheck())

    assert control is not None
    assert isinstance(control.outcome, Red)
    assert control.outcome.place == (5,)
    assert not control.is_sensitive
    assert not control.is_blind


async def test_a_test_without_checks_has_no_control_run() -> None:
    assert await gate.control(STEPS[:2], Deaf()) is None
