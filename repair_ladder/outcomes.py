"""What one run of a test said: Green, Red or Environment, and what was seen on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from radar.elements import PageSnapshot
from repair_ladder.steps import Place

# Why a step failed.
Cause: TypeAlias = Literal[
    "missing",  # its locator finds nothing
    "many",  # its locator finds several
    "hidden",  # found, but cannot be seen
    "covered",  # found, but something is in the way
    "disabled",  # found, but cannot be used
    "option",  # the select has no such option
    "check",  # a check ran on its element and did not hold
    "navigation",  # the page did not come up
    "timeout",  # anything else that did not end in time
    "test",  # the test itself is wrong: a missing variable or file
    "forbidden",  # a step of a repair would act on what the project forbids; it was not done
]
EnvironmentKind: TypeAlias = Literal[
    "unreachable",  # no connection to the app
    "browser",  # the browser died or would not start
    "server_error",  # the app answers 5xx
    "sign_in",  # a sign-in page where the app should be
    "language",  # the app speaks another language than before
    "half_loaded",  # the page did not finish loading
    "secret",  # a secret of the test is not set, or cannot be read with this key
    "read_only",  # the project's read-only hours have begun
    "blocked",  # a request left the allowed origins, or the app turned the browser away
]


@dataclass(frozen=True, slots=True)
class Dialog:
    """A native dialog that came up while a step was played."""

    place: Place
    kind: str  # alert, confirm, prompt, beforeunload
    message: str
    answer: str  # accepted, dismissed
    expected: bool  # did a step ask for that answer?


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the browser said beside the page. Text from the app: data, never instructions."""

    dialogs: tuple[Dialog, ...] = ()
    page_errors: tuple[str, ...] = ()  # uncaught exceptions of the page's scripts
    console_errors: tuple[str, ...] = ()
    failed_requests: tuple[str, ...] = ()  # "GET http://… failed: net::ERR_…"
    bad_answers: tuple[str, ...] = ()  # "GET http://… answered 500"
    downloads: tuple[str, ...] = ()  # the names of the files that the app gave
    audits: tuple[str, ...] = ()  # what accessibility audits found, a line a rule


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that may change something at the other end: what a step did, seen from outside.

    `fields` are the names of what its body carries, each with a digest of its value: they can be compared, not read.
    """

    method: str
    url: str
    status: int | None = None  # None: no answer yet
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Played:
    """One step as it was played. `snapshot` is an index into the trace's snapshots: the page as the step met it.

    `sent` and `url_after` tell what came of it by the time that the next step began.
    """

    place: Place
    kind: str
    url: str
    started_ms: float  # since the run began
    ended_ms: float
    way: int = 0  # 0: the step's own locator found it; n: its nth alternative
    snapshot: int | None = None
    target: int | None = None  # index of the element in that snapshot
    error: str | None = None
    skipped: bool = False  # an optional step that failed
    picture: bytes | None = field(default=None, repr=False)  # a JPEG of the page after the step, for people
    sent: tuple[Sent, ...] = ()
    url_after: str = ""
    shots: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)  # of `screenshot` steps: name ("": none), PNG


@dataclass(frozen=True, slots=True)
class Trace:
    played: tuple[Played, ...] = ()
    snapshots: tuple[PageSnapshot, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)

    def at(self, place: Place) -> Played | None:
        return next((one for one in self.played if one.place == place), None)

    def seen(self, place: Place) -> tuple[PageSnapshot, int] | None:
        """The page and the element on it that the step at `place` used."""
        one = self.at(place)
        if one is None or one.snapshot is None or one.target is None:
            return None
        return self.snapshots[one.snapshot], one.target


@dataclass(frozen=True, slots=True)
class Green:
    trace: Trace


@dataclass(frozen=True, slots=True)
class Red:
    """The test failed at step `place`.

    `page` is the page at that moment, `target` the element that the step found, if it found one, and `observed` what a
    check saw instead of what it expects. `picture` is a PNG.
    """

    trace: Trace
    place: Place
    cause: Cause
    message: str
    page: PageSnapshot | None = None
    target: int | None = None
    observed: str | None = None
    picture: bytes | None = field(default=None, repr=False)
    tracing: bytes | None = field(default=None, repr=False)  # a trace of Playwright, a ZIP, redacted


@dataclass(frozen=True, slots=True)
class Environment:
    """The surroundings failed, not the test: nothing is repaired and no attempt is spent."""

    kind: EnvironmentKind
    message: str
    trace: Trace = field(default_factory=Trace)
    place: Place | None = None
    page: PageSnapshot | None = None


Outcome: TypeAlias = Green | Red | Environment
