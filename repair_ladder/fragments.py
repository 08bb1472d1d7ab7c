"""Fragments: steps that several tests share through `use`; pure, so that circles are found without a browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from repair_ladder.errors import BadTest
from repair_ladder.steps import Place, Steps, walk

DEEPEST: Final = 8  # a fragment that uses a fragment that …
MOST_PLAYED: Final = 5000  # steps of fragments in one run: a few short files could otherwise grow without end


def names_used(steps: Steps) -> Iterator[tuple[Place, str]]:
    """The fragments that steps use, with the place of each `use`."""
    for place, step in walk(steps):
        if step.kind == "use":
            yield place, str(step.parameters["fragment"])


def check(name: str, steps: Steps, known: Mapping[str, Steps]) -> None:
    """Raises BadTest with the place in `steps` for a circle, or for more fragments in one another than are played.

    `name` is that of the test itself. A fragment that is not known is no mistake here: it may come later.
    """
    sound: set[str] = set()
    for place, used in names_used(steps):
        path = _circle([name, used], known, sound)
        if path is not None:
            raise BadTest(f"the fragment '{used}' goes round in a circle: {' -> '.join(path)}", place=place)


def _circle(path: list[str], known: Mapping[str, Steps], sound: set[str]) -> list[str] | None:
    if path[-1] in sound:
        return None
    if path[-1] in path[:-1]:
        return path
    if len(path) > DEEPEST + 1:
        raise BadTest(f"fragments stand more than {DEEPEST} deep in one another: {' -> '.join(path)}")
    for used in dict.fromkeys(name for _, name in names_used(known.get(path[-1], ()))):
        found = _circle([*path, used], known, sound)
        if found is not None:
            return found
    sound.add(path[-1])
    return None
