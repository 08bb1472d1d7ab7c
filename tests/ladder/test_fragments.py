"""repair_ladder/fragments.py: circles of `use` are found without a browser."""

from __future__ import annotations

import pytest

from repair_ladder import floor, fragments
from repair_ladder.errors import BadTest
from repair_ladder.operations import Operation, apply_operations
from repair_ladder.step_format import read_steps, write_steps
from repair_ladder.steps import Place, Steps, show_place, walk
from tests.builders import a_deletion, a_replacement, a_step, an_insert


def using(*names: str) -> Steps:
    return read_steps([{"goto": "/"}, *({"use": name} for name in names)])


def test_fragments_inside_blocks_are_used_too() -> None:
    steps = read_steps([{"use": "a"}, {"group": {"steps": [{"goto": "/"}, {"use": {"fragment": "b"}}]}}])

    assert list(fragments.names_used(steps)) == [((1,), "a"), ((2, 2), "b")]


@pytest.mark.parametrize(
    ("known", "path"),
    [
        ({"a": using("a")}, "t -> a -> a"),
        ({"a": using("t")}, "t -> a -> t"),
        ({"a": using("b"), "b": using("c"), "c": using("a")}, "t -> a -> b -> c -> a"),
    ],
    ids=["itself", "the test", "by way of others"],
)
def test_a_circle_is_refused_in_one_line_that_shows_it(known: dict[str, Steps], path: str) -> None:
    with pytest.raises(BadTest) as caught:
        fragments.check("t", using("a"), known)

    assert path in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.place == (2,)


def test_a_fragment_used_twice_is_no_circle_and_one_that_is_unknown_no_mistake() -> None:
    fragments.check("t", using("a", "b", "later"), {"a": using("c"), "b": using("c"), "c": using()})


def test_fragments_that_are_deep_or_wide_are_refused_or_checked_at_once() -> None:
    deep = {f"f{n}": using(f"f{n + 1}") for n in range(12)}
    wide = {f"f{n}.{m}": using(*(f"f{n + 1}.{k}" for k in range(40))) for n in range(7) for m in range(40)}

    with pytest.raises(BadTest, match="deep"):
        fragments.check("t", using("f0"), deep)
    fragments.check("t", using("f0.0"), wide)


# --- a test as a whole -----------------------------------------------------------------------------------

PAY = read_steps([{"fill": {"label": "Email", "value": "${user}"}}, {"click": {"css": "#pay"}}])
KNOWN = {"pay": PAY, "buy": read_steps([{"goto": "/"}, {"use": "pay"}])}
TWICE = read_steps([{"use": "pay"}, {"goto": "/"}, {"group": {"steps": [{"use": "buy"}]}}])
WHOLE = fragments.expand(TWICE, KNOWN)


def places(steps: Steps) -> list[str]:
    return [show_place(place) for place, _ in walk(steps)]


def test_the_steps_of_a_fragment_stand_in_its_use_and_are_never_written_there() -> None:
    assert places(WHOLE) == ["1.1", "1.2", "2", "3.1.1", "3.1.2.1", "3.1.2.2"]
    assert write_steps(WHOLE) == write_steps(TWICE)
    assert fragments.expand(WHOLE, {}) == WHOLE
    assert tuple(map(fragments.folded, WHOLE)) == TWICE


@pytest.mark.parametrize(
    ("known", "around", "why"),
    [
        ({}, (), "the fragment 'a' is not there"),
        ({"a": using("b"), "b": using("a")}, ("a", "b"), "a -> b -> a"),
        ({"a": using("b")}, tuple("cdefghij"), "more than 8 deep"),
        ({"a": using("b")}, (), "more than 5000 steps"),
        ({"a": ()}, (), ""),
    ],
    ids=["missing", "circle", "deep", "huge", "empty"],
)
def test_a_use_without_steps_says_why(known: dict[str, Steps], around: tuple[str, ...], why: str) -> None:
    said = fragments.why_not_played("a", around, known)

    assert why in said
    assert bool(why) == bool(said)


def test_a_few_files_cannot_make_a_test_without_end() -> None:
    wide = {f"f{n}.{m}": using(*(f"f{n + 1}.{k}" for k in range(40))) for n in range(7) for m in range(40)}
    wide |= {"one": using("one"), "two": using("two", "two")}

    whole = fragments.expand(using("f0.0", "one", "two"), wide)

    assert len(places(whole)) < 2 * fragments.MOST_PLAYED
    assert max(map(len, (place for place, _ in walk(whole)))) <= fragments.DEEPEST + 1


def test_places_in_fragments_are_told_with_their_fragment() -> None:
    place = (3, 1, 2, 1)

    assert fragments.shown(WHOLE, place) == "fragment 'pay', step 1, via step 3.1.2"
    assert fragments.where(WHOLE, place) == "in the fragment 'buy', step 2: in the fragment 'pay', step 1"
    assert (fragments.shown(WHOLE, (2,)), fragments.where(WHOLE, (2,))) == ("2", "")
    assert fragments.home(WHOLE, place) == ("pay", (1,))
    assert fragments.home(WHOLE, (3, 1)) == (None, (3, 1))


def test_values_of_a_use_hold_in_it_alone_and_what_it_extracts_stays() -> None:
    steps = fragments.expand(
        read_steps([{"use": {"fragment": "pay", "values": {"user": "${who}"}}}, {"goto": "/"}, {"use": "pay"}]), KNOWN
    )
    values = {"who": "ben", "user": "ada"}
    scopes = fragments.Scopes(steps, values)
    seen = []

    for place, _ in walk(steps):
        scopes.go_to(place)
        values.setdefault("extracted", "x")
        seen.append((show_place(place), values["user"], scopes.names))

    assert seen == [
        ("1.1", "ben", ("pay",)),
        ("1.2", "ben", ("pay",)),
        ("2", "ada", ()),
        ("3.1", "ada", ("pay",)),
        ("3.2", "ada", ("pay",)),
    ]
    assert values["extracted"] == "x"


def test_a_secret_that_a_use_hands_on_is_one_under_its_name_there_too() -> None:
    steps = read_steps([{"use": {"fragment": "outer", "values": {"one": "${password}"}}}])
    known = {"outer": read_steps([{"use": {"fragment": "pay", "values": {"two": "${one}"}}}]), "pay": PAY}

    assert fragments.secret_names(fragments.expand(steps, known), {"password"}) == {"password", "one", "two"}


# --- changes -----------------------------------------------------------------------------------------------

HEALED = {"click": {"role": "button", "name": "Pay now"}}


def at(operations: tuple[Operation, ...]) -> list[tuple[str, str]]:
    return [(one.op, show_place(one.place)) for one in operations]


def test_what_changes_a_fragment_changes_it_at_each_use_and_is_kept_once() -> None:
    change = (a_replacement("1.2", HEALED), an_insert("1.0", {"wait": {"for": {"css": "#pay"}}}), a_deletion(2))

    spread = fragments.spread(WHOLE, change)

    assert at(spread) == [
        ("replace", "1.2"),
        ("replace", "3.1.2.2"),
        ("insert", "1.0"),
        ("insert", "3.1.2.0"),
        ("delete", "2"),
    ]
    assert fragments.spread(WHOLE, spread) == spread
    kept = fragments.gathered(WHOLE, spread)
    assert {name: at(some) for name, some in kept.items()} == {
        "pay": [("replace", "2"), ("insert", "0")],
        None: [("delete", "2")],
    }
    # Applied where it is kept, it is what was played.
    changed = KNOWN | {"pay": apply_operations(PAY, kept["pay"])}
    own = apply_operations(TWICE, kept[None])
    assert fragments.expand(own, changed) == apply_operations(WHOLE, spread)


def test_a_change_is_carried_to_the_tests_that_share_it_and_to_no_other() -> None:
    change = (a_replacement("1.2", HEALED),)
    other = fragments.expand(read_steps([{"goto": "/"}, {"use": "pay"}]), KNOWN)

    def carried(steps: Steps, name: str) -> list[tuple[str, str]]:
        return at(fragments.carried(WHOLE, change, steps, own="twice", name=name))

    assert carried(other, "other") == [("replace", "2.2")]
    assert carried(PAY, "pay") == [("replace", "2")]
    assert carried(read_steps([{"goto": "/"}]), "stranger") == []
    assert fragments.carried_places(WHOLE, [(1, 2), (2,)], other, own="twice", name="other") == {(2, 2)}


@pytest.mark.parametrize(
    "operation",
    [
        a_deletion(1),
        a_replacement(1, {"use": "other"}),
        a_replacement(1, {"use": {"fragment": "pay", "values": {"user": "eve"}}}),
        a_deletion("1.3"),
        a_replacement("1.3", {"assert_text": {"css": "h1", "contains": ""}}),
        an_insert("1.3", {"use": "pay"}),
        a_deletion("1.2"),
    ],
    ids=["the use", "another", "its values", "a check", "a check weakened", "a fragment", "a deed"],
)
def test_the_floor_sees_into_fragments(operation: Operation) -> None:
    checked = (*PAY, a_step("assert_text", css="h1", equals="Thanks"))
    whole = fragments.expand(using("pay")[1:], {"pay": checked})

    judged = floor.screen(whole, (operation,))

    assert judged.all_refused


@pytest.mark.parametrize("marked", ["use", "fragment"])
def test_what_is_marked_never_repair_is_not_touched_inside(marked: str) -> None:
    uses = read_steps([{"use": "pay", "never_repair": marked == "use"}])
    whole = fragments.expand(uses, KNOWN, never=["pay"] if marked == "fragment" else [])

    judged = floor.screen(whole, (a_replacement("1.2", HEALED),))

    assert "never repair" in judged.refused[0].reason


def test_an_optional_use_forgives_what_fails_in_it() -> None:
    whole = fragments.expand(read_steps([{"use": "buy", "optional": True}, {"use": "pay"}]), KNOWN)
    forgiven: dict[Place, Place | None] = {place: fragments.forgiven_by(whole, place) for place, _ in walk(whole)}

    assert forgiven == {(1, 1): (1,), (1, 2, 1): (1,), (1, 2, 2): (1,), (2, 1): None, (2, 2): None}
