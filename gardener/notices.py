"""Events: what happened, as rows that are written with the change they tell of; and how they are told to people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from gardener.errors import BadSetting


class EventKind(StrEnum):
    STAGED = "staged"
    APPLIED = "applied"
    APPROVED = "approved"
    DISMISSED = "dismissed"
    RESTORED = "restored"  # a dismissal was taken back
    STALE = "stale"
    SUPERSEDED = "superseded"
    REVERTED = "reverted"
    REVIEWED = "reviewed"
    TRIAGE = "triage"
    FINDING = "finding"
    ANSWERED = "answered"  # a person answered an issue
    BLIND = "blind"  # a control run was green: a test that cannot fail
    SWEEP_FINISHED = "sweep_finished"
    TEST_IMPORTED = "test_imported"
    TEST_EDITED = "test_edited"  # on its page, or put into service or out of it there
    OVERDUE = "overdue"  # the clock: a sweep or a suite did not finish in time, or no scheduler runs
    BUDGET = "budget"  # a bound on what models may use up has tripped, or their account has no credit left
    DIGEST = "digest"


# What a person wants to know without having asked; the rest is chosen by name.
USUAL: Final = (
    EventKind.STAGED,
    EventKind.APPLIED,
    EventKind.STALE,
    EventKind.TRIAGE,
    EventKind.FINDING,
    EventKind.OVERDUE,
    EventKind.BUDGET,
    EventKind.DIGEST,
)


def read_kinds(text: str) -> tuple[EventKind, ...]:
    """`staged,applied`, or `all`; without repetition, in the order of the kinds. Raises BadSetting."""
    wanted = [one.strip() for one in text.split(",") if one.strip()]
    if wanted == ["all"]:
        return tuple(EventKind)
    known = [kind.value for kind in EventKind]
    for one in wanted:
        if one not in known:
            raise BadSetting(f"'{one[:40]}' is no event; there are {', '.join(known)}, or all")
    if not wanted:
        raise BadSetting(f"name at least one event of {', '.join(known)}, or all")
    return tuple(kind for kind in EventKind if kind.value in wanted)


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    project: int
    kind: EventKind
    subject: str  # one plain sentence
    payload: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what to what, for as long as the database lives."""

    id: int
    project: int | None
    who: str  # a person's name, or GARDENER
    what: str  # "approve", "revert", …
    subject: str
    details: dict[str, Any]
    at: datetime


# --- to whom ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """Where events of a project are sent. Its address is a secret: sealed here, shown only as `shown`."""

    id: int
    project: int
    sealed: str
    shown: str  # "json://127.0.0.1:8080/…"
    kinds: tuple[EventKind, ...]
    created_at: datetime
    created_by: str


class DeliveryState(StrEnum):
    WAITING = "waiting"  # to be sent, not before `not_before`
    SENDING = "sending"  # leased until `lease_until`: somebody sends it just now, or died over it
    DELIVERED = "delivered"
    DEAD = "dead"  # given up; a person may ask for it again


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one target."""

    id: int
    event: Event
    target: Target
    state: DeliveryState
    tries: int
    unsure: int  # of the tries, those of which nobody knows whether they arrived
    error: str | None
    not_before: datetime
    ended_at: datetime | None = None


MOST_TRIES: Final = 8
# A message may arrive twice, where a process died or a server was silent at the wrong moment; never a third time.
MOST_UNSURE: Final = 2
WAITS: Final = tuple(
    timedelta(seconds=seconds) for seconds in (30, 120, 600, 1800, 3600, 3 * 3600, 6 * 3600)
)  # before the second try, the third, …
WAIT_UNSURE: Final = timedelta(minutes=5)  # after one of an unknown outcome: what was slow may be well by then
KEPT: Final = timedelta(days=90)  # events whose deliveries have ended


def next_try(tries: int, unsure: int, now: datetime) -> datetime | None:
    """When to try again after so many tries; None: it is given up."""
    if tries >= MOST_TRIES or unsure >= MOST_UNSURE:
        return None
    return now + WAITS[min(max(tries, 1), len(WAITS)) - 1]


# --- how it is told --------------------------------------------------------------------------------------


class Weight(StrEnum):
    INFO = "info"
    SUCCESS = "success"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person reads: plain text, whatever the event quotes."""

    subject: str
    lines: tuple[str, ...]
    weight: Weight = Weight.INFO


LONGEST_SUBJECT: Final = 160
LONGEST_LINE: Final = 400
MOST_LINES: Final = 20  # of what the event says itself
WEIGHTS: Final = {
    EventKind.APPLIED: Weight.SUCCESS,
    EventKind.APPROVED: Weight.SUCCESS,
    EventKind.TRIAGE: Weight.WARNING,
    EventKind.FINDING: Weight.WARNING,
    EventKind.OVERDUE: Weight.WARNING,
    EventKind.BUDGET: Weight.WARNING,
}
# What to do next, by kind. {project} and the numbers of the payload are filled in.
MOVES: Final = {
    EventKind.STAGED: "See it and decide: gardener staged {project}, then gardener approve or dismiss {proposal}.",
    EventKind.APPLIED: "See the change: gardener history {project}. Keep it: gardener review {repair}. Take it back: "
    "gardener revert {repair}.",
    EventKind.STALE: "Sweep again for a fresh proof: gardener sweep {project}.",
    EventKind.TRIAGE: "See why: gardener issues {project}.",
    EventKind.FINDING: "Nothing was proposed and no baseline was changed. See gardener issues {project}.",
    EventKind.OVERDUE: "See that gardener serve runs; gardener doctor says what does not work.",
    EventKind.BUDGET: "Local repairs go on; what needs a model waits.",
    EventKind.REVERTED: "The steps from before are back: gardener history {project}.",
}


# What of an event has a page of its own, by the key of its payload; any other is among the news of its project.
PAGES: Final = {
    "proposal": "/proposals/{}",
    "repair": "/repairs/{}",
    "issue": "/issues/{}",
    "sweep": "/sweeps/{}",
}
NEWS: Final = "/projects/{}/news"


def page_of(event: Event) -> str:
    """The path of the page that shows it."""
    for key, path in PAGES.items():
        number = event.payload.get(key)
        if isinstance(number, int):
            return path.format(number)
    return NEWS.format(event.project)


def notice_of(event: Event, project: str, public_url: str | None = None) -> Notice:
    """Subject and lines; what came from an app, a test or a model is cut and can neither format, link nor mention.

    The one link in it is ours, where `public_url` says under which address people reach the pages.
    """
    name = harmless(project, 60)
    # Services without a subject put it before the lines by themselves.
    lines = [harmless(event.subject, LONGEST_LINE)] if len(event.subject) > LONGEST_SUBJECT else []
    for line in _some_texts(event.payload.get("lines"))[:MOST_LINES]:
        lines.append(harmless(line, LONGEST_LINE))
    left = _some_texts(event.payload.get("left_for_next"))
    if left:
        more = f" and {len(left) - 5} more" if len(left) > 5 else ""
        lines.append("Left for the next sweep: " + ", ".join(harmless(one, 80) for one in left[:5]) + more)
    numbers = {key: one for key, one in event.payload.items() if isinstance(one, int)}
    move = MOVES.get(event.kind)
    if move is not None:
        lines.append(move.format_map(_Filled(numbers | {"project": name})))
    if public_url:
        lines.append(public_url.rstrip("/") + page_of(event))
    lines.append(f"{event.at:%Y-%m-%d %H:%M} UTC")
    return Notice(
        f"{name}: {harmless(event.subject, LONGEST_SUBJECT)}",
        tuple(lines),
        WEIGHTS.get(event.kind, Weight.INFO),
    )


class _Filled(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "ID"


def _some_texts(value: object) -> Sequence[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []


# Characters that start markup, a mention or a link somewhere, and what looks like them and starts nothing.
LOOKALIKES: Final = str.maketrans({"<": "\u2039", ">": "\u203a", "`": "'", "*": "\u2217", "\\": "\u29f5"})
NOT_SHOWN: Final = re.compile(r"[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u00ad\U000e0000-\U000e007f]")
BREAK: Final = "\u200b"  # no width; what stands on both sides of it is no longer one word
MENTION: Final = re.compile(r"@(?=\w)")
SCHEME: Final = re.compile(r"(?<=\w):(?=//)|(?i:(?<=\bmailto):|(?<=\bjavascript):|(?<=\bdata):|(?<=\btel):)")
DOTTED: Final = re.compile(r"(?<=\w)\.(?=[^\W\d_]{2})")  # such as in www.shop.test
EMPHASIS: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
DOUBLED: Final = re.compile(r"~(?=~)|\|(?=\|)|\](?=[(\[:])|!(?=\[)|&(?=#?\w+;)|:(?=[^\W\d]\w*:)")


def harmless(text: str, longest: int) -> str:
    """One line that reads as before and does nothing, whether it is shown as text, HTML, Markdown or in a chat."""
    line = " ".join(NOT_SHOWN.sub("", text[: longest * 4]).split())
    line = "".join(one if one.isprintable() else "\ufffd" for one in line)
    if len(line) > longest:
        line = line[: longest - 1] + "\u2026"
    line = EMPHASIS.sub("\uff3f", line.translate(LOOKALIKES))
    for ends in (MENTION, SCHEME, DOTTED, DOUBLED):
        line = ends.sub(lambda found: found[0] + BREAK, line)
    return line
