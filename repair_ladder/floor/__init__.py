"""The floor under the green gate: what no repair may change, however green the run.

A run whose checks were loosened is green for the wrong reason. So every list of operations, whoever made it and however
sure of it they are, passes `screen` before it is run (G33, G44). What is refused comes back with its reason; the rest
goes on (G34). A person may still make a refused change in the step editor (G46), which does not come this way.

Checks (outcome assertions)

| kind                                         | a repair may            | a repair may not                  |
| -------------------------------------------- | ----------------------- | --------------------------------- |
| G38 assert_url, _title, _variable            | nothing (no locator)    | change or delete it               |
| G38 assert_text, _value, _attribute, _count  | move the locator        | delete it; change kind, condition,|
|                                              |                         | value or attribute                |
| G39 assert_visible, _hidden, _enabled,       | move the locator, if it | the same; flip it; change the     |
|     _disabled, _checked                      | keeps the text it names | text                              |
| G39 assert_toast, _modal, _validation_error  | move the locator        | the same                          |
| G40 assert_console, assert_request           | nothing                 | change or delete it               |
| G41 a11y_audit with a threshold              | move its scope          | delete it; change threshold or    |
|                                              |                         | rules; add, drop, narrow its scope|
| G42 wait for a URL                           | nothing                 | change or delete it               |

- A check is never deleted, not even where the same check is inserted again: a repair has no need to carry a check to
  another place, it can put its new steps around it. So a check cannot end up past what it verifies or where it is not
  run. Inserted checks are welcome, they only make a test stricter; they never stand for another one.
- `timeout_ms` of a check is part of what it expects, in both directions: shorter, and what must not appear is not
  waited for; longer, and a slower app passes. A repair that needs time inserts a wait, which shows in the diff.
- `optional` and `never_repair` are a person's words on any step. A step or block with `never_repair` is not touched.
- A moved locator must not satisfy the check by itself: html, body, `*` and other catch-alls; an ancestor of the old
  place; the old locator with conditions taken away; a position, an alternative or a comma that lets another element
  stand in; the expected text, value, attribute or state written into the locator (circular).
- `assert_visible`, `assert_hidden` and `assert_count` that name their element by text expect that text: it is kept. The
  name of a control (button, link, box, …) only finds it and may change.
- A check that something is absent (hidden, `not_contains`, none or at most so many, empty) holds almost anywhere, so it
  is moved only when the caller says that the element was shown to be the same (`identified`).

Actions

| old                     | may become                                                                               |
| ----------------------- | ---------------------------------------------------------------------------------------- |
| any                     | the same with another locator (moved, neither added nor dropped) or another `timeout_ms` |
| fill, type              | each other, with the same value                                                          |
| check, uncheck          | click, without button, modifiers or position                                             |
| click                   | check, if it has no button, modifiers or position                                        |
| select                  | another option, value or index, if the place is in `renamed`                             |
| goto                    | another URL of the same or an allowed origin, if the place is in `renamed`               |
| scroll                  | any other scroll                                                                         |
| anything else           | a deletion and an insertion                                                              |

- An action is deleted, made optional or turned into another deed only if its place is in `dropped`, by which the
  planner says that it was shown to be redundant. Deleting what leads up to a check is as bad as deleting the check,
  and an action after the last check is cleaning up, or all that a test without checks is about.
- Neutral steps (G43: a wait for an element or a time, a screenshot, an extract, an audit that only reports) may be
  changed and deleted. Two are not neutral where they stand: an extract whose variable is read later, and a wait right
  before a check of absence, which would then look before anything can have appeared.
- Not inserted: goto, back, reload and closing a tab (a way round the app's own controls); blocks and fragments (`use`);
  files the test did not upload; an answer that another dialog step would then not get; a value that a later check
  expects, or a deed on the very element that a later check reads; a variable the test already has or reads; a variable
  the test did not use, which may be a secret, and a secret anywhere but as the value of a fill or type.
- Blocks are not deleted, inserted or put around steps. An `intent`, and a `group` that says what it is for, may get
  other steps (goal and values stay): its checks stay in order, and where something was done before, between or after
  them, something still is. The steps of a `group` without a goal change one by one.

After these rules comes one that knows none of them: what the old test did and expected must be found, in order, in what
is left of the proposal (`last_word`). If not, everything is refused.

Left to the identity gate, because it needs the page: whether the new element is what the old one became; whether two
different locators find one element or one of them an ancestor; what lies in another frame or scope; whether an inserted
or moved click does what a check then sees. And to the harm gate: whether a new click destroys something.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from repair_ladder.floor.case import Case
from repair_ladder.floor.last_word import last_word
from repair_ladder.floor.rules import misfits, objection
from repair_ladder.floor.together import left_alone
from repair_ladder.floor.wording import expectation
from repair_ladder.operations import Operation, Operations, old_step
from repair_ladder.steps import Place, Steps, show_place

__all__ = ["Refusal", "Screened", "expectation", "refused", "screen"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One operation that was held back. `old` and `new` are its steps in words, of checks what they expect (G35)."""

    operation: Operation
    reason: str
    old: str = ""
    new: str = ""

    @property
    def step(self) -> str:
        """The number of the step, as people read it; of an insert that of the step before it."""
        return show_place(self.operation.place)


@dataclass(frozen=True, slots=True)
class Screened:
    """Together, `allowed` and `refused` hold every operation of the proposal, in its order."""

    allowed: Operations
    refused: tuple[Refusal, ...] = ()

    @property
    def all_refused(self) -> bool:
        """Nothing is left of a proposal that had something: never to be reported as "no fix found" (G36)."""
        return bool(self.refused) and not self.allowed


def screen(
    steps: Steps,
    operations: Operations,
    *,
    variables: Collection[str] = (),
    secrets: Collection[str] = (),
    origins: Collection[str] = (),
    dropped: Collection[Place] = (),
    renamed: Collection[Place] = (),
    identified: Collection[Place] = (),
) -> Screened:
    """Split operations into those a repair may make and those it may not. Pure, and never raises for what they say.

    How sure anybody is plays no part. `variables` are the names a repair may use freely, `secrets` those it may not;
    `origins` are the allowed ones beside the app's own. By the last three a planner that has shown something by other
    means says so, place by place in the old steps: `dropped`, an action that is redundant; `renamed`, an option or an
    address that only got another name; `identified`, the new locator of a check of absence finds the same element.
    None of them opens the way to an expectation.
    """
    operations = tuple(operations)
    case = Case(
        steps,
        operations,
        variables=frozenset(variables),
        secrets=frozenset(secrets),
        origins=frozenset(origins),
        dropped=frozenset(dropped),
        renamed=frozenset(renamed),
        identified=frozenset(identified),
    )
    reasons = _reasons(case)
    allowed = tuple(one for index, one in enumerate(operations) if index not in reasons)
    if allowed and (reason := last_word(case, allowed)):
        reasons = {index: reasons.get(index, reason) for index in range(len(operations))}
        allowed = ()
    return Screened(allowed, tuple(refused(steps, operations[index], reasons[index]) for index in sorted(reasons)))


def _reasons(case: Case) -> dict[int, str]:
    """Why which operations are refused. What is left is judged again, until it stands without the refused ones."""
    reasons = misfits(case)
    while True:
        left = {index: one for index, one in enumerate(case.operations) if index not in reasons}
        alone = replace(case, operations=tuple(left.values()))
        found = {index: reason for index, one in left.items() if (reason := objection(alone, one))}
        found |= left_alone(case, reasons | found)
        if not found:
            return reasons
        reasons |= found


def refused(steps: Steps, operation: Operation, reason: str) -> Refusal:
    """An operation that is held back, with its steps in words."""
    try:
        old = old_step(steps, operation)
    except LookupError:
        old = None
    return Refusal(
        operation,
        f"Refused: {reason}",
        old=expectation(old) if old else "",
        new=expectation(operation.new) if operation.new else "",
    )
