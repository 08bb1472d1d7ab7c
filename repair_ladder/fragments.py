"""Fragments: steps that several tests share through `use`; pure, so that circles are found without a browser.

A test is looked at as a whole, with the steps of each fragment inside its `use`: (3, 2) is the second step of the
fragment that step 3 uses. So a run, a memory, the floor and the gates count and compare what is really played. A change
of a fragment's step is made at every use of it, and is kept where the fragment is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from repair_ladder.errors import BadTest
from repair_ladder.operations import Operation, Operations
from repair_ladder.steps import Place, Step, Steps, show_place, step_at
from repair_ladder.values import fill_in, names_in

DEEPEST: Final = 8  # a fragment that uses a fragment that …
MOST_PLAYED: Final = 5000  # steps of fragments in one run: a few short files could otherwise grow without end


def names_used(steps: Steps) -> Iterator[tuple[Place, str]]:
    """The fragments that steps use, with the place of each `use`; in a test as a whole also those that they use."""
    for place, step in _every(steps):
        if step.kind == "use":
            yield place, str(step.parameters["fragment"])


# --- a test as a whole -----------------------------------------------------------------------------------


def expand(steps: Steps, known: Mapping[str, Steps], *, never: Collection[str] = ()) -> Steps:
    """The steps with those of each fragment inside its `use`, however deep; what is inside one already stays as it is.
    `never` names fragments that no repair may touch.

    A `use` that cannot be played stays without steps: its fragment is not known, goes round in a circle, stands deeper
    than DEEPEST or leads to more than MOST_PLAYED steps (see `why_not_played`).
    """
    return _expanded(steps, known, frozenset(never), (), [MOST_PLAYED])


def _expanded(
    steps: Steps, known: Mapping[str, Steps], never: frozenset[str], around: tuple[str, ...], left: list[int]
) -> Steps:
    whole = []
    for step in steps:
        if step.kind == "use":
            name = str(step.parameters["fragment"])
            if step.is_block or _is_playable(name, known, around, left):
                inside = _expanded(step.steps or known[name], known, never, (*around, name), left)
                step = replace(step, steps=inside, never_repair=step.never_repair or name in never)
        elif step.steps:
            step = replace(step, steps=_expanded(step.steps, known, never, around, left))
        if around and not step.is_block:
            left[0] -= 1
        whole.append(step)
    return tuple(whole)


def _is_playable(name: str, known: Mapping[str, Steps], around: tuple[str, ...], left: list[int]) -> bool:
    return name in known and name not in around and len(around) < DEEPEST and left[0] > len(known[name])


def why_not_played(name: str, around: Collection[str], known: Mapping[str, Steps]) -> str:
    """Why a `use` without steps cannot be played; "" if there is nothing to play. `around` are the fragments that it
    stands in, outermost first."""
    if name not in known:
        return f"the fragment '{name}' is not there: import a test of that name"
    if name in around:
        return f"the fragment '{name}' goes round in a circle: {' -> '.join([*around, name])}"
    if len(around) >= DEEPEST:
        return f"fragments stand more than {DEEPEST} deep in one another"
    return f"fragments come to more than {MOST_PLAYED} steps in one run" if known[name] else ""


def folded(step: Step) -> Step:
    """The step as it is kept: without the steps of fragments."""
    inside = () if step.kind == "use" else tuple(map(folded, step.steps))
    return replace(step, steps=inside)


def around(steps: Steps, place: Place) -> tuple[Place, ...]:
    """The places of the uses that a step stands in, outermost first; as far as there are such steps."""
    found = []
    for length in range(1, len(place)):
        try:
            if step_at(steps, place[:length]).kind == "use":
                found.append(place[:length])
        except LookupError:
            break
    return tuple(found)


def name_at(steps: Steps, use: Place) -> str:
    return str(step_at(steps, use).parameters["fragment"])


def home(steps: Steps, place: Place) -> tuple[str | None, Place]:
    """The fragment that a step stands in, None for the test itself, and its place there."""
    uses = around(steps, place)
    return (name_at(steps, uses[-1]), place[len(uses[-1]) :]) if uses else (None, place)


def uses_of(steps: Steps, name: str) -> tuple[Place, ...]:
    """Where a fragment is used, by way of others as well."""
    return tuple(at for at, step in _every(steps) if step.kind == "use" and step.parameters["fragment"] == name)


def _every(steps: Steps, before: Place = ()) -> Iterator[tuple[Place, Step]]:
    for number, step in enumerate(steps, 1):
        yield (*before, number), step
        yield from _every(step.steps, (*before, number))


def where(steps: Steps, place: Place) -> str:
    """For the message of a failure: "in the fragment 'sign in', step 2"; "" for a step of the test itself."""
    told, uses = [], (*around(steps, place), place)
    for use, inner in pairwise(uses):
        told.append(f"in the fragment '{name_at(steps, use)}', step {show_place(inner[len(use) :])}")
    return ": ".join(told)


def shown(steps: Steps, place: Place) -> str:
    """A place for people: "3", or "fragment 'sign in', step 2, via step 3"."""
    uses = around(steps, place)
    if not uses:
        return show_place(place)
    inside = show_place(place[len(uses[-1]) :])
    return f"fragment '{name_at(steps, uses[-1])}', step {inside}, via step {show_place(uses[-1])}"


def forgiven_by(steps: Steps, place: Place) -> Place | None:
    """The innermost optional `use` around a step: where the step fails, the rest of it is left out."""
    return next((use for use in reversed(around(steps, place)) if step_at(steps, use).optional), None)


def secret_names(steps: Steps, secrets: Collection[str]) -> frozenset[str]:
    """The names of secrets, with those that stand for one inside a fragment because a `use` gives it to them."""
    known = set(secrets)
    while True:
        given = {
            str(name)
            for _, step in _every(steps)
            if step.kind == "use"
            for name, value in (step.parameters.get("values") or {}).items()
            if known & set(names_in(value))
        }
        if given <= known:
            return frozenset(known)
        known |= given


@dataclass(slots=True)
class Scopes:
    """The fragments that are being played, and the values that hold in them alone. What one extracts stays."""

    steps: Steps  # as a whole
    values: MutableMapping[str, str]
    open: list[tuple[Place, str, dict[str, str | None]]] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for _, name, _ in self.open)

    def go_to(self, place: Place) -> None:
        """Leave the fragments that the next step does not stand in, and enter those that it does.

        Raises BadTest, with the place of the `use`, where a value of it has none itself.
        """
        uses = around(self.steps, place)
        while self.open and self.open[-1][0] not in uses:
            self._leave()
        for use in uses[len(self.open) :]:
            self._enter(use)

    def _enter(self, use: Place) -> None:
        try:
            step = fill_in(step_at(self.steps, use), self.values)
        except BadTest as error:
            raise BadTest(str(error), place=use) from None
        given = {key: str(value) for key, value in (step.parameters.get("values") or {}).items()}
        self.open.append((use, name_at(self.steps, use), {key: self.values.get(key) for key in given}))
        self.values.update(given)

    def _leave(self) -> None:
        for key, value in self.open.pop()[2].items():
            if value is None:
                self.values.pop(key, None)
            else:
                self.values[key] = value


# --- changes -----------------------------------------------------------------------------------------------


def are_copies(steps: Steps, one: Operation, other: Operation) -> bool:
    """Do they change the same step of the same fragment in the same way?"""
    same = (one.op, one.new) == (other.op, other.new)
    return same and home(steps, one.place) == home(steps, other.place)


def spread(steps: Steps, operations: Iterable[Operation]) -> Operations:
    """What changes a step of a fragment changes it at each use of it: the operations with their copies, in order."""
    every = tuple(operations)
    known = [(one.op, one.place, one.new) for one in every]
    found: list[Operation] = []
    for operation in every:
        found.append(operation)
        for place in spread_place(steps, operation.place):
            if (operation.op, place, operation.new) not in known:
                found.append(replace(operation, place=place))
                known.append((operation.op, place, operation.new))
    return tuple(found)


def spread_place(steps: Steps, place: Place) -> tuple[Place, ...]:
    """A place in a fragment, at every use of that; of a step of the test itself that place alone."""
    name, inside = home(steps, place)
    return tuple((*use, *inside) for use in uses_of(steps, name)) if name is not None else (place,)


def gathered(steps: Steps, operations: Iterable[Operation]) -> dict[str | None, Operations]:
    """The operations by what they change: of each fragment as they count in it, each once; under None the test's."""
    found: dict[str | None, list[Operation]] = {}
    for operation in operations:
        name, inside = home(steps, operation.place)
        own = replace(operation, place=inside, new=folded(operation.new) if operation.new else None)
        mine = found.setdefault(name, [])
        # Two equal inserts are two steps, where they are no copies of one.
        if name is None or not any((one.op, one.place, one.new) == (own.op, own.place, own.new) for one in mine):
            mine.append(own)
    return {name: tuple(some) for name, some in found.items()}


def placed(steps: Steps, name: str, operations: Iterable[Operation]) -> Operations:
    """Operations of a fragment at every use of it in a test."""
    every = tuple(operations)
    return tuple(replace(one, place=(*use, *one.place)) for use in uses_of(steps, name) for one in every)


def carried(steps: Steps, operations: Iterable[Operation], other: Steps, *, own: str, name: str) -> Operations:
    """What a change of the test `own` does to another one, `name`, that shares a fragment with it or that one of the
    two uses; () if it does nothing."""
    shared = gathered(steps, operations)
    return tuple(
        replace(one, place=(*use, *one.place))
        for fragment, some in shared.items()
        for use in _stands_in(other, own if fragment is None else fragment, name)
        for one in some
    )


def carried_places(steps: Steps, places: Iterable[Place], other: Steps, *, own: str, name: str) -> frozenset[Place]:
    """The same for places."""
    homes = (home(steps, place) for place in places)
    return frozenset(
        (*use, *inside)
        for fragment, inside in homes
        for use in _stands_in(other, own if fragment is None else fragment, name)
    )


def _stands_in(other: Steps, changed: str, name: str) -> tuple[Place, ...]:
    """Where the steps of a test or fragment stand in another test; () before its first step if it is that itself."""
    return (*(((),) if changed == name else ()), *uses_of(other, changed))


# --- what a person wrote -----------------------------------------------------------------------------------


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
