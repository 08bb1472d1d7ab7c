"""Why two things may be the same, in words that a tester understands."""

from __future__ import annotations

from collections.abc import Callable

from radar.features import ACTED_ON, INDEX, Floats
from radar.things import Thing, ends_in_counter, looks_generated


def reasons(old: Thing, new: Thing, values: Floats) -> tuple[str, ...]:
    """Why two things may be the same, and what speaks against it; the weightiest first, without weights."""
    has: Callable[[str], float] = lambda name: float(values[INDEX[name]])  # noqa: E731
    said: list[str] = []
    said += _of_words(old, new, has)
    said += _of_marks(old, new, has)
    said += _of_kind(old, new, has)
    said += _of_place(old, new, has)
    return tuple(said)


def _of_words(old: Thing, new: Thing, has: Callable[[str], float]) -> list[str]:
    if has("same_words"):
        return ["same name" if old.group in ACTED_ON else "same text"]
    if has("words_on_one_side"):
        return ["it has words on one page only"]
    if has("wordless"):
        return ["no words on either page"]
    if old.is_volatile and new.is_volatile:
        return ["a number or an amount both times"]
    was, now = short(old.said), short(new.said)
    if has("all_words_contained") > 0.99:
        return [f'"{was}" now reads "{now}"']
    if has("words_shared") > 0 or has("letters_alike") > 0:
        return [f'"{was}" was reworded to "{now}"']
    return [f'other words: "{was}", now "{now}"'] if old.said or new.said else []


def _of_marks(old: Thing, new: Thing, has: Callable[[str], float]) -> list[str]:
    said = []
    if has("same_test_id"):
        said.append("same test id")
    if has("same_id"):
        said.append("same id")
    elif old.id and old.id_is_weak and old.id != new.id:
        what = "looked generated" if looks_generated(old.id) else "ended in a counter"
        said.append(f"the old id {what}" if ends_in_counter(old.id) or looks_generated(old.id) else "another id")
    elif has("other_id"):
        said.append(f"id {short(old.id)} became {short(new.id)}")
    if has("same_form_name"):
        said.append("same field name")
    if has("same_link"):
        said.append("same link")
    elif has("other_link"):
        said.append("another link")
    return said


def _of_kind(old: Thing, new: Thing, has: Callable[[str], float]) -> list[str]:
    if has("same_role") or (has("same_tag") and old.role == new.role):
        return []
    was, now = old.role or old.tag, new.role or new.tag
    return [f"{was} became {now}"] if was != now else []


def _of_place(old: Thing, new: Thing, has: Callable[[str], float]) -> list[str]:
    said = []
    if has("row_shared") > 0.5:
        said.append("same row")
    elif has("other_row"):
        said.append("another row")
    if old.region != new.region and (old.region or new.region):
        said.append(f"moved from {old.region or 'the page'} to {new.region or 'the page'}")
    elif has("container") > 0.5 or has("parent"):
        said.append("same surroundings")
    if len(old.frame) != len(new.frame):
        said.append("moved into a shadow root or frame" if len(new.frame) > len(old.frame) else "moved out of a frame")
    if has("heading_shared") > 0.9:
        said.append("under the same heading")
    if has("neighbour_before") > 0 or has("neighbour_after") > 0:
        said.append("same neighbours")
    return said


def short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
