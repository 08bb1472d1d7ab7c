"""Steps of a test, as values; which of them assert an outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from radar.locators import Locator

# Every kind of the test format; the runner plays them all.
CHECKS: Final = (
    "assert_url",
    "assert_title",
    "assert_text",
    "assert_value",
    "assert_variable",
    "assert_attribute",
    "assert_count",
    "assert_visible",
    "assert_hidden",
    "assert_enabled",
    "assert_disabled",
    "assert_checked",
    "assert_toast",
    "assert_modal",
    "assert_validation_error",
    "assert_console",
    "assert_request",
)
ACTIONS: Final = (
    "goto",
    "back",
    "reload",
    "click",
    "dblclick",
    "hover",
    "check",
    "uncheck",
    "fill",
    "type",
    "press",
    "select",
    "upload",
    "drag",
    "scroll",
    "dialog",
    "tab",
    "wait",
    "extract",
    "set",
    "screenshot",
    "use",
    "a11y_audit",
)
BLOCKS: Final = ("intent", "group")
KINDS: Final = ACTIONS + CHECKS + BLOCKS

CONDITIONS: Final = ("equals", "contains", "matches", "not_contains", "at_least", "at_most")
# Parameters that are locators themselves, beside the step's own.
LOCATOR_PARAMETERS: Final = ("for", "until", "to")
# Kinds that take no locator of their own.
WITHOUT_LOCATOR: Final = frozenset(
    "goto back reload dialog tab wait set use intent group assert_url assert_title assert_variable assert_console "
    "assert_request assert_toast assert_modal assert_validation_error".split()
)
# Kinds that may stand without a locator though they can have one.
LOCATOR_OPTIONAL: Final = frozenset({"press", "scroll", "screenshot", "a11y_audit", "extract"})
# What `extract` takes of the page; everything else is taken of an element.
OF_THE_PAGE: Final = ("url", "title", "download", "download_text")


@dataclass(frozen=True, slots=True)
class Step:
    """One action or check.

    `parameters` hold the step's own values as the test format names them (`value`, `key`, `equals`, …); those named in
    LOCATOR_PARAMETERS are Locators. `steps` are the inner steps of an intent block or a group, or of a `use` those of
    its fragment where a test is looked at as a whole (fragments.expand); no format writes the latter.
    """

    kind: str
    locator: Locator | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    id: str | None = None
    note: str | None = None
    never_repair: bool = False
    timeout_ms: int | None = None
    optional: bool = False

    @property
    def is_block(self) -> bool:
        """Does it stand for the steps inside it, which are played in its place?"""
        return self.kind in BLOCKS or (self.kind == "use" and bool(self.steps))

    @property
    def asserts_outcome(self) -> bool:
        """Is this an outcome assertion, which no repair may weaken? (G38-G42)"""
        if self.kind in CHECKS:
            return True
        if self.kind == "wait":
            return "url" in self.parameters
        return self.kind == "a11y_audit" and "threshold" in self.parameters

    @property
    def has_goal(self) -> bool:
        """Is this a block that can be derived again? An intent always is one; a group if it says what it is for."""
        return self.kind == "intent" or (self.kind == "group" and bool(self.parameters.get("goal")))

    def locators(self) -> Iterator[tuple[str, Locator]]:
        """Every locator of the step with the name it stands under; the step's own under ""."""
        if self.locator:
            yield "", self.locator
        for key in LOCATOR_PARAMETERS:
            value = self.parameters.get(key)
            if isinstance(value, Locator):
                yield key, value


Steps: TypeAlias = tuple[Step, ...]
# A place in a step list: (8,) is step 8, (8, 2) the second step of its block. Counted from 1.
Place: TypeAlias = tuple[int, ...]


def show_place(place: Place) -> str:
    return ".".join(map(str, place))


def read_place(text: str | int) -> Place:
    """A place from "8.2" or 8; raises ValueError."""
    return tuple(int(part) for part in str(text).split("."))


def walk(steps: Steps, before: Place = ()) -> Iterator[tuple[Place, Step]]:
    """Steps as they are played: blocks are entered, and not themselves given."""
    for number, step in enumerate(steps, 1):
        if step.is_block:
            yield from walk(step.steps, (*before, number))
        else:
            yield (*before, number), step


def up_to(steps: Steps, place: Place) -> Steps:
    """The steps as far as the one at `place`, which keep their places; a block that it stands in ends with it."""
    number, *deeper = place
    last = steps[number - 1]
    if deeper:
        last = replace(last, steps=up_to(last.steps, tuple(deeper)))
    return (*steps[: number - 1], last)


def step_at(steps: Steps, place: Place) -> Step:
    """Raises LookupError where there is no such step."""
    step = None
    for number in place:
        if not 1 <= number <= len(steps):
            raise LookupError(f"there is no step {show_place(place)}")
        step = steps[number - 1]
        steps = step.steps
    if step is None:
        raise LookupError("a place names at least one step")
    return step
