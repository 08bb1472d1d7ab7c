"""Operations on steps -> rows of a diff with the old step at the left and the new one at the right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from repair_ladder.step_format import write_step
from repair_ladder.steps import BLOCKS, Place, Steps, read_place, show_place, step_at
from web.presenters.words import cut

LONGEST: Final = 600
WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a row. Without pieces there is nothing on it."""

    place: str = ""
    kind: str = ""
    pieces: tuple[Piece, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.kind


@dataclass(frozen=True, slots=True)
class Row:
    """`how`: same, replace, insert or delete. `reason` says why, in words."""

    how: str
    old: Side
    new: Side
    reason: str = ""


def diff(operations: Sequence[Mapping[str, Any]], steps: Steps | None = None) -> tuple[Row, ...]:
    """The changed steps in order; with the `steps` as they were, the unchanged neighbours of each beside it."""
    changed: dict[Place, list[Mapping[str, Any]]] = {}
    inserted: dict[Place, list[Mapping[str, Any]]] = {}
    for one in operations:
        (inserted if one["op"] == "insert" else changed).setdefault(_place(one["step"]), []).append(one)
    places = changed.keys() | inserted.keys()
    if steps is not None:
        places |= {_neighbour(place, by) for place in changed for by in (-1, 1)}
        places |= {_neighbour(place, 1) for place in inserted}
    rows: list[Row] = []
    for place in sorted(places):
        rows += [_row(one, place, operations) for one in changed.get(place, ())]
        if place not in changed and steps is not None:
            rows += _same(steps, place, operations)
        rows += [_row(one, place, operations) for one in inserted.get(place, ())]
    return tuple(rows)


def lines_of(steps: Steps, before: Place = ()) -> Iterator[tuple[Side, int, bool]]:
    """Every step with how deep it stands and whether it is a check; a block before its own steps."""
    for number, step in enumerate(steps, 1):
        place = (*before, number)
        kind, rest = _words(write_step(step), block=step.kind in BLOCKS)
        yield Side(show_place(place), kind, (Piece(rest),)), len(before), step.asserts_outcome
        if step.kind in BLOCKS:
            yield from lines_of(step.steps, place)


def moved(place: Place, operations: Sequence[Mapping[str, Any]]) -> Place:
    """Where a step stands after the operations; they count in the steps as they were."""
    new: list[int] = []
    for depth in range(len(place)):
        at = place[depth]
        beside = [one for one in operations if _place(one["step"])[:-1] == place[:depth]]
        inserted = sum(one["op"] == "insert" and _place(one["step"])[-1] < at for one in beside)
        deleted = sum(one["op"] == "delete" and _place(one["step"])[-1] < at for one in beside)
        new.append(at + inserted - deleted)
    return tuple(new)


def _place(step: object) -> Place:
    try:
        return read_place(str(step))
    except ValueError:
        return (0,)


def _neighbour(place: Place, by: int) -> Place:
    return (*place[:-1], place[-1] + by)


def _same(steps: Steps, place: Place, operations: Sequence[Mapping[str, Any]]) -> list[Row]:
    try:
        step = step_at(steps, place)
    except LookupError:
        return []
    kind, rest = _words(write_step(step), block=step.kind in BLOCKS)
    new = Side(show_place(moved(place, operations)), kind, (Piece(rest),))
    return [Row("same", Side(show_place(place), kind, (Piece(rest),)), new)]


def _row(operation: Mapping[str, Any], place: Place, operations: Sequence[Mapping[str, Any]]) -> Row:
    old, new = operation.get("old"), operation.get("new")
    was, now = _words(old) if old else ("", ""), _words(new) if new else ("", "")
    before, after = _compared(was[1], now[1]) if old and new else ((Piece(was[1]),), (Piece(now[1]),))
    at = moved(place, operations)
    if operation["op"] == "insert":
        earlier = operations[: next(i for i, one in enumerate(operations) if one is operation)]
        same = sum(one["op"] == "insert" and _place(one["step"]) == place for one in earlier)
        gone = any(one["op"] == "delete" and _place(one["step"]) == place for one in operations)
        at = _neighbour(at, same + (0 if gone else 1))
    return Row(
        operation["op"],
        Side(show_place(place), was[0], before) if old else Side(),
        Side(show_place(at), now[0], after) if new else Side(),
        cut(str(operation.get("reason") or ""), LONGEST),
    )


def _words(raw: Mapping[str, Any], *, block: bool = False) -> tuple[str, str]:
    """The kind of a step and the rest of it, as it stands in a file but on one line."""
    kind = next((key for key in raw if key not in BESIDE), "")
    value = raw.get(kind)
    if block and isinstance(value, Mapping):
        value = {key: one for key, one in value.items() if key != "steps"}
    beside = {key: one for key, one in raw.items() if key != kind}
    text = _plain(value, top=True)
    if beside:
        text = f"{text}  ({_plain(beside, top=True)})".strip()
    return kind, cut(text, LONGEST)


BESIDE: Final = ("id", "note", "never_repair", "timeout_ms", "optional")


def _plain(value: object, *, top: bool = False) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value if top else _quoted(value)
        case Mapping():
            inner = ", ".join(f"{key}: {_plain(one)}" for key, one in value.items())
            return inner if top else f"{{{inner}}}"
        case list() | tuple():
            return "[" + ", ".join(_plain(one) for one in value) + "]"
    return str(value)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _compared(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces, those that differ marked. Texts that have little in common are marked whole."""
    was, now = WORDS.findall(old), WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, was, now, autojunk=False)
    if len(was) * len(now) > 250_000 or matcher.ratio() < 0.35:
        return (Piece(old, True),), (Piece(new, True),)
    before, after = [], []
    for how, a, b, c, d in matcher.get_opcodes():
        before.append(Piece("".join(was[a:b]), how != "equal"))
        after.append(Piece("".join(now[c:d]), how != "equal"))
    return tuple(one for one in before if one.text), tuple(one for one in after if one.text)
