"""repair_ladder/fragments.py: circles of `use` are found without a browser."""

from __future__ import annotations

import pytest

from repair_ladder import fragments
from repair_ladder.errors import BadTest
from repair_ladder.step_format import read_steps
from repair_ladder.steps import Steps


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
