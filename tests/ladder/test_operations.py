"""repair_ladder/operations.py: applying operations, and where every step went."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair_ladder.errors import DoesNotFit
from repair_ladder.operations import Operation, apply_operations, moved_places, old_step
from repair_ladder.steps import Place, Step, Steps, show_place, step_at, walk
from tests.builders import a_deletion, a_replacement, an_insert, steps_of


def wait(number: int) -> dict[str, int]:
    return {"wait": number}


def numbers(steps: Steps) -> list[object]:
    """A flat list of waits as its numbers, blocks as lists."""
    return [numbers(one.steps) if one.steps else one.parameters.get("ms") for one in steps]


THREE = steps_of(wait(1), wait(2), wait(3))
BLOCK = steps_of(wait(1), {"intent": {"goal": "pay", "steps": [wait(21), wait(22)]}}, wait(3))
CASES = [
    ("nothing", THREE, [], [1, 2, 3]),
    ("insert at the front", THREE, [an_insert(0, wait(9))], [9, 1, 2, 3]),
    ("insert in the middle", THREE, [an_insert(2, wait(9))], [1, 2, 9, 3]),
    ("insert at the end", THREE, [an_insert(3, wait(9))], [1, 2, 3, 9]),
    ("inserts after one step keep their order", THREE, [an_insert(1, wait(7)), an_insert(1, wait(8))], [1, 7, 8, 2, 3]),
    ("replace", THREE, [a_replacement(2, wait(9))], [1, 9, 3]),
    ("delete", THREE, [a_deletion(2)], [1, 3]),
    ("delete all", THREE, [a_deletion(1), a_deletion(2), a_deletion(3)], []),
    ("places count in the steps as they were", THREE, [a_deletion(1), a_replacement(3, wait(9))], [2, 9]),
    ("an insert after a deleted step stays there", THREE, [a_deletion(2), an_insert(2, wait(9))], [1, 9, 3]),
    ("an insert after a replaced step", THREE, [a_replacement(2, wait(8)), an_insert(2, wait(9))], [1, 8, 9, 3]),
    ("into a block", BLOCK, [an_insert("2.1", wait(9))], [1, [21, 9, 22], 3]),
    ("to the front of a block", BLOCK, [an_insert("2.0", wait(9))], [1, [9, 21, 22], 3]),
    ("replace in a block", BLOCK, [a_replacement("2.2", wait(9))], [1, [21, 9], 3]),
    ("delete in a block", BLOCK, [a_deletion("2.1")], [1, [22], 3]),
    ("a whole block", BLOCK, [a_deletion(2)], [1, 3]),
    ("before a block and in it", BLOCK, [a_deletion(1), a_replacement("2.1", wait(9))], [[9, 22], 3]),
]


@pytest.mark.parametrize(
    ("steps", "operations", "expected"), [case[1:] for case in CASES], ids=[one[0] for one in CASES]
)
def test_operations_are_applied(steps: Steps, operations: list[Operation], expected: list[object]) -> None:
    before = numbers(steps)

    assert numbers(apply_operations(steps, operations)) == expected

    assert numbers(steps) == before, "the steps themselves are not touched"


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        pytest.param([a_replacement(4, wait(9))], "no step 4", id="beyond the end"),
        pytest.param([a_deletion("1.1")], "no step 1.1", id="inside what is no block"),
        pytest.param([an_insert(4, wait(9))], "no step 4 to insert after", id="an insert beyond the end"),
        pytest.param([an_insert("1.0", wait(9))], "step 1 is not a block", id="an insert into what is no block"),
        pytest.param([an_insert("9.0", wait(9))], "no step 9", id="an insert into nothing"),
        pytest.param([a_deletion(2), a_replacement(2, wait(9))], "step 2 is changed twice", id="one step twice"),
        pytest.param([Operation("insert", (), Step("back"))], "names the step it comes after", id="an insert nowhere"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(operations: list[Operation], why: str) -> None:
    with pytest.raises(DoesNotFit, match=why):
        apply_operations(THREE, operations)


@pytest.mark.parametrize(
    ("op", "new"),
    [("delete", Step("back")), ("insert", None), ("replace", None)],
    ids=["a delete that brings a step", "an insert of nothing", "a replacement by nothing"],
)
def test_an_operation_goes_with_its_step(op: str, new: Step | None) -> None:
    with pytest.raises(DoesNotFit):
        Operation(op, (1,), new)  # type: ignore[arg-type]


def test_the_old_step_of_an_insert_is_none() -> None:
    assert old_step(THREE, an_insert(1, wait(9))) is None
    assert old_step(THREE, a_deletion(2)) == THREE[1]


def test_the_steps_inside_a_replaced_block_have_no_new_place() -> None:
    block = steps_of({"intent": {"goal": "pay", "steps": [wait(9)]}})[0]

    assert moved_places(BLOCK, [Operation("replace", (2,), block)]) == {(1,): (1,), (2,): (2,), (3,): (3,)}


# --- laws ----------------------------------------------------------------------------------------------


@st.composite
def lists_and_operations(draw: st.DrawFn) -> tuple[Steps, tuple[Operation, ...]]:
    """Steps that can all be told apart, some in blocks, and operations that fit them."""
    fresh = iter(range(1, 1000))
    steps = []
    for size in draw(st.lists(st.integers(0, 3), max_size=6)):
        inner = tuple(Step("wait", None, {"ms": next(fresh)}) for _ in range(size))
        steps.append(
            Step("intent", None, {"goal": f"g{next(fresh)}"}, inner)
            if inner
            else Step("wait", None, {"ms": next(fresh)})
        )
    every: list[Place] = []
    gaps: list[Place] = [(at,) for at in range(len(steps) + 1)]
    for number, step in enumerate(steps, 1):
        every.append((number,))
        every += [(number, at) for at in range(1, len(step.steps) + 1)]
        gaps += [(number, at) for at in range(len(step.steps) + 1)] if step.steps else []
    operations: list[Operation] = []
    changed = draw(st.lists(st.sampled_from(every), unique=True, max_size=4)) if every else []
    for place in changed:
        new = Step("wait", None, {"ms": next(fresh)})
        operations.append(draw(st.sampled_from([Operation("delete", place), Operation("replace", place, new)])))
    whole = {place for place in changed if len(place) == 1}
    operations = [one for one in operations if len(one.place) == 1 or one.place[:1] not in whole]
    for place in draw(st.lists(st.sampled_from(gaps), max_size=4)):
        if len(place) == 1 or place[:1] not in whole:
            operations.append(Operation("insert", place, Step("wait", None, {"ms": next(fresh)})))
    return tuple(steps), tuple(draw(st.permutations(operations)))


@given(lists_and_operations())
def test_every_step_that_was_not_changed_is_where_moved_places_says(drawn: tuple[Steps, tuple[Operation, ...]]) -> None:
    steps, operations = drawn
    after = apply_operations(steps, operations)
    changed = {one.place for one in operations if one.op != "insert"}
    moved = moved_places(steps, operations)

    for old, new in moved.items():
        # Of a block that was replaced as a whole, the inner steps have no place of their own any more.
        if old not in changed and old[:1] not in changed and not step_at(steps, old).steps:
            assert step_at(after, new) == step_at(steps, old), show_place(old)
    for one in operations:
        if one.op == "replace":
            assert step_at(after, moved[one.place]) == one.new
        if one.op == "delete":
            assert one.place not in moved


@given(lists_and_operations())
def test_no_two_steps_move_to_one_place_and_their_order_stays(drawn: tuple[Steps, tuple[Operation, ...]]) -> None:
    steps, operations = drawn
    moved = moved_places(steps, operations)

    assert len(set(moved.values())) == len(moved)
    assert [moved[old] for old in sorted(moved)] == sorted(moved.values())


@given(lists_and_operations())
def test_nothing_is_in_the_result_that_was_not_there_or_brought(drawn: tuple[Steps, tuple[Operation, ...]]) -> None:
    steps, operations = drawn
    brought = [one.new for one in operations if one.new is not None]
    gone = [step_at(steps, one.place) for one in operations if one.op != "insert"]

    after = [step for _, step in walk(apply_operations(steps, operations))]

    left = [step for _, step in walk(steps) if step not in gone and not any(step in one.steps for one in gone)]
    assert sorted(str(one) for one in after) == sorted(str(one) for one in [*left, *brought])
    inserts: dict[Place, list[Step]] = {}
    for one in operations:
        if one.op == "insert" and one.new is not None:
            inserts.setdefault(one.place, []).append(one.new)
    for same in inserts.values():
        at = [after.index(one) for one in same]
        assert at == list(range(at[0], at[0] + len(same))), "inserts after one step keep their order"
