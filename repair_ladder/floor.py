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
- Blocks are not deleted, inserted or put around steps. An `intent` may get other steps (goal and values stay): its
  checks stay in order, and where something was done before, between or after them, something still is. The steps of a
  `group` change one by one.

After these rules comes one that knows none of them: what the old test did and expected must be found, in order, in what
is left of the proposal (`_last_word`). If not, everything is refused.

Left to the identity gate, because it needs the page: whether the new element is what the old one became; whether two
different locators find one element or one of them an ancestor; what lies in another frame or scope; whether an inserted
or moved click does what a check then sees. And to the harm gate: whether a new click destroys something.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

import cssselect

from radar.locators import PATTERNS, Locator
from repair_ladder.errors import DoesNotFit
from repair_ladder.operations import Operation, Operations, apply_operations, old_step
from repair_ladder.steps import (
    BLOCKS,
    CONDITIONS,
    KINDS,
    Place,
    Step,
    Steps,
    show_place,
    step_at,
    walk,
)

LONGEST_TEXT: Final = 80  # of any one text inside a refusal
LONGEST_SELECTOR: Final = 2000  # more is not read, and so not allowed on a check

NEUTRAL: Final = frozenset({"wait", "screenshot", "extract", "a11y_audit"})
STEERING: Final = frozenset({"goto", "back", "reload"})
ENTERING: Final = frozenset({"fill", "type"})
SWITCHING: Final = frozenset({"check", "uncheck"})
# What changes the element it is played on, so that a check of that element says nothing of the app.
SETTING: Final = frozenset({"fill", "type", "select", "check", "uncheck", "upload"})
DOING: Final = SETTING | {"click", "dblclick", "press", "drag"}
# What brings up no native dialog.
QUIET: Final = frozenset({"fill", "type", "hover", "scroll", "set"})
RENAMABLE: Final = {"select": frozenset({"option", "value", "index"}), "goto": frozenset({"url"})}
WITHOUT_MOVES: Final = frozenset({"assert_console", "assert_request", "assert_url", "assert_title", "assert_variable"})
# Roles whose name only finds them; the name of any other is what it says.
CONTROLS: Final = frozenset(
    "button link textbox searchbox checkbox radio combobox listbox option switch slider spinbutton tab menuitem "
    "menuitemcheckbox menuitemradio menu menubar tablist treeitem".split()
)
ROOTS: Final = frozenset({"html", "body"})
LOOSE_TAGS: Final = frozenset(
    "* div main span section article header footer nav aside form table tbody ul ol node() .".split()
)
LOOSE_ROLES: Final = frozenset({"document", "application", "generic", "none", "presentation", "main", "rootwebarea"})
# Conditions on what an element holds, or whether it shows.
HOLDING: Final = ("has_not_text", "has", "has_not", "visible")
# What a locator must not ask for when the check is to find it out.
STATES: Final[Mapping[str, frozenset[str]]] = {
    "assert_visible": frozenset({"visible", "hidden", "aria-hidden"}),
    "assert_hidden": frozenset({"visible", "hidden", "aria-hidden"}),
    "assert_enabled": frozenset({"enabled", "disabled", "aria-disabled"}),
    "assert_disabled": frozenset({"enabled", "disabled", "aria-disabled"}),
    "assert_checked": frozenset({"checked", "aria-checked", "aria-pressed", "data-state", "data-checked"}),
    "assert_value": frozenset({"value", "aria-valuenow", "aria-valuetext"}),
}
FINDER_ATTRIBUTES: Final = {
    "test_id": "data-testid",
    "label": "aria-label",
    "placeholder": "placeholder",
    "alt": "alt",
    "title": "title",
    "role": "role",
}


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


@dataclass(frozen=True, slots=True)
class _Case:
    """What the rules look at: the test, the whole proposal, and what the caller knows beside them."""

    steps: Steps
    operations: Operations
    variables: frozenset[str]
    secrets: frozenset[str]
    origins: frozenset[str]
    dropped: frozenset[Place]
    renamed: frozenset[Place]
    identified: frozenset[Place]

    def after(self, place: Place) -> list[tuple[Place, Step]]:
        """What is played later than `place`, or than the spot after it."""
        return [(at, step) for at, step in walk(self.steps) if at[: len(place)] > place]

    def before(self, place: Place) -> list[tuple[Place, Step]]:
        return [(at, step) for at, step in walk(self.steps) if at < place and at[: len(place)] != place]

    def forms(self, place: Place, step: Step) -> tuple[Step, ...]:
        """The step as it is, and as the proposal would have it."""
        news = [one.new for one in self.operations if one.new and one.op == "replace" and one.place == place]
        # A check whose expectation is rewritten will stay as it is.
        return (step, *(new for new in news if not step.asserts_outcome or _terms(step) == _terms(new)))

    def checks_after(self, place: Place) -> list[Step]:
        return [form for at, step in self.after(place) if step.asserts_outcome for form in self.forms(at, step)]


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
    case = _Case(
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
    if allowed and (reason := _last_word(case, allowed)):
        reasons = {index: reasons.get(index, reason) for index in range(len(operations))}
        allowed = ()
    return Screened(allowed, tuple(_refusal(case, operations[index], reasons[index]) for index in sorted(reasons)))


def _reasons(case: _Case) -> dict[int, str]:
    """Why which operations are refused. What is left is judged again, until it stands without the refused ones."""
    reasons = _misfits(case)
    while True:
        left = {index: one for index, one in enumerate(case.operations) if index not in reasons}
        alone = replace(case, operations=tuple(left.values()))
        found = {index: reason for index, one in left.items() if (reason := _objection(alone, one))}
        found |= _left_alone(case, reasons | found)
        if not found:
            return reasons
        reasons |= found


def _refusal(case: _Case, operation: Operation, reason: str) -> Refusal:
    return refused(case.steps, operation, reason)


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


# --- in words ------------------------------------------------------------------------------------------

CONDITION_WORDS: Final = {
    "equals": "equals",
    "contains": "contains",
    "matches": "matches",
    "not_contains": "does not contain",
    "at_least": "is at least",
    "at_most": "is at most",
}
STATE_WORDS: Final = {
    "assert_visible": "is visible",
    "assert_hidden": "is hidden",
    "assert_enabled": "is enabled",
    "assert_disabled": "is disabled",
    "assert_checked": "is checked",
}
TEXT_WORDS: Final = {
    "assert_toast": "a toast",
    "assert_modal": "a dialog",
    "assert_validation_error": "a validation error",
}


def expectation(step: Step) -> str:
    """What a check expects, in words and on one line; of any other step what it does."""
    words = _expects(step) if step.asserts_outcome else _does(step)
    if step.asserts_outcome and step.timeout_ms is not None:
        words += f", within {step.timeout_ms} ms"
    return f"{words}, optional" if step.optional else words


def _expects(step: Step) -> str:
    given, where = step.parameters, _where(step.locator)
    match step.kind:
        case "assert_url" | "assert_title":
            return f"{step.kind.removeprefix('assert_')} {_condition(given)}"
        case "assert_text" | "assert_value":
            return f"{step.kind.removeprefix('assert_')} of {where} {_condition(given)}"
        case "assert_variable":
            return f"variable {_line(given.get('variable'))} {_condition(given)}"
        case "assert_attribute":
            return f"attribute {_line(given.get('attribute'))} of {where} {_condition(given)}"
        case "assert_count":
            return f"number of {where} {_condition(given)}"
        case kind if kind in STATE_WORDS:
            return f"{where} {STATE_WORDS[kind]}"
        case kind if kind in TEXT_WORDS:
            place = f" in {where}" if step.locator else ""
            return f"{TEXT_WORDS[kind]}{place} {_condition(given)}" if given else f"{TEXT_WORDS[kind]}{place} is shown"
        case "wait":
            return f"wait until url {_condition(given['url'])}"
        case "a11y_audit":
            return f"accessibility of {where if step.locator else 'the page'}: {_listed(given)}"
        case "assert_request":
            return f"a request with {_listed(given)}"
        case kind:
            return f"{kind.removeprefix('assert_')}: {_listed(given) or 'anything'}"


def _does(step: Step) -> str:
    # What is typed may be private, and says nothing of why a change is refused.
    shown = {key: value for key, value in step.parameters.items() if step.kind not in ENTERING or key != "value"}
    parts = [step.kind.replace("_", " "), _where(step.locator) if step.locator else "", _listed(shown)]
    return " ".join(part for part in parts if part)


def _condition(given: object) -> str:
    if not isinstance(given, Mapping):
        return f"is {_line(given)}"
    parts = [f"{CONDITION_WORDS[key]} {_line(given[key]) or '“”'}" for key in CONDITIONS if key in given]
    rest = {key: value for key, value in given.items() if key not in (*CONDITIONS, "variable", "attribute")}
    return " and ".join([*parts, *([_listed(rest)] if rest else [])]) or "is anything"


def _listed(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{_line(key)} {_line(value)}" for key, value in given.items())


def _where(locator: Locator | None) -> str:
    return _line(locator) if locator else "the page"


def _line(value: object) -> str:
    text = " ".join("".join(char if char.isprintable() else " " for char in str(value)).split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


# --- operations that do not fit ------------------------------------------------------------------------


def _misfits(case: _Case) -> dict[int, str]:
    """Operations that name no step, change one step twice, or lie inside a block that is changed as a whole."""
    reasons: dict[int, str] = {}
    changed: dict[Place, int] = {}
    for index, operation in enumerate(case.operations):
        try:
            apply_operations(case.steps, (operation,))
        except (DoesNotFit, LookupError, TypeError) as error:
            reasons[index] = f"the change does not fit the test: {_line(error)}."
            continue
        if operation.op == "insert":
            continue
        number = show_place(operation.place)
        first = changed.setdefault(operation.place, index)
        if first != index:
            reasons[index] = f"step {number} is changed twice in one proposal. Propose one change for it."
            if not _same_operation(case.operations[first], operation):
                # Which of the two was meant, nobody can say.
                reasons[first] = reasons[index]
    for index, operation in enumerate(case.operations):
        whole = next(
            (operation.place[:n] for n in range(1, len(operation.place)) if operation.place[:n] in changed), ()
        )
        if whole and index not in reasons:
            reasons[index] = (
                f"step {show_place(operation.place)} lies in block {show_place(whole)}, which the same proposal "
                "changes as a whole."
            )
    return reasons


def _same_operation(one: Operation, other: Operation) -> bool:
    if one.op != other.op:
        return False
    return one.new is None or other.new is None or _same_step(one.new, other.new)


# --- one operation -------------------------------------------------------------------------------------


def _objection(case: _Case, operation: Operation) -> str | None:
    """Why a repair may not make this change; None where it may."""
    if guard := _guarded(case, operation):
        return guard
    old, new, place = old_step(case.steps, operation), operation.new, operation.place
    if new is None:
        assert old is not None
        return _against_deletion(case, place, old)
    if old is None:
        return _against_insertion(case, place, new, _spot(place))
    return _against_replacement(case, place, old, new)


def _guarded(case: _Case, operation: Operation) -> str | None:
    """A step or a block that its owner marked is left as it is, and so is what stands in that block."""
    reach = len(operation.place) - (operation.op == "insert")
    for length in range(1, reach + 1):
        step = step_at(case.steps, operation.place[:length])
        whole = length == reach and operation.op != "insert"
        if step.never_repair or (whole and any(inner.never_repair for inner in _inside(step))):
            number = show_place(operation.place)
            return f"changing step {number}, which is marked “never repair”. Only a person changes it."
    return None


def _inside(step: Step) -> Iterator[Step]:
    for inner in step.steps:
        yield inner
        yield from _inside(inner)


def _spot(place: Place) -> str:
    if place[-1]:
        return f"after step {show_place(place)}"
    return f"before step {show_place((*place[:-1], 1))}"


def _against_deletion(case: _Case, place: Place, old: Step) -> str | None:
    number = show_place(place)
    if old.kind in BLOCKS:
        return f"deleting block {number}. Only a person takes a block out of a test."
    if old.asserts_outcome:
        return f"deleting the check at step {number}, “{expectation(old)}”. Only a person takes a check out of a test."
    if place in case.dropped:
        return None
    if old.kind in NEUTRAL:
        return _against_losing(case, place, old)
    return (
        f"deleting step {number}, “{expectation(old)}”. A test that no longer does what leads up to its checks checks "
        "something else."
    )


def _against_losing(case: _Case, place: Place, old: Step) -> str | None:
    """Neutral steps may go (G43), unless a later step leans on them."""
    number = show_place(place)
    if old.kind == "extract" and str(old.parameters.get("into")) in _names_read(case.after(place)):
        return f"changing what step {number} extracts, “{expectation(old)}”. A later step reads that variable."
    if old.kind == "wait" and _leads_to_absence(case, place):
        return (
            f"changing the wait at step {number}, “{expectation(old)}”. The check after it expects that something is "
            "not there, and would look too early to see it."
        )
    return None


def _leads_to_absence(case: _Case, place: Place) -> bool:
    for _, step in case.after(place):
        if step.asserts_outcome:
            return _expects_absence(step)
        if step.kind not in NEUTRAL:
            return False
    return False


def _against_replacement(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if _same_step(old, new):
        return None
    if broken := _malformed(new):
        return f"replacing step {number}: {broken}"
    if new.never_repair:
        return f"marking step {number} “never repair”. Only a person sets that mark."
    if old.kind in BLOCKS:
        return _against_new_block(case, place, old, new)
    if new.kind in BLOCKS:
        return (
            f"putting a block in the place of step {number}, “{expectation(old)}”. Only a person puts steps in blocks."
        )
    if old.asserts_outcome:
        return _against_changed_check(case, place, old, new)
    if old.kind in NEUTRAL:
        return _against_changed_neutral(case, place, old, new)
    return _against_changed_action(case, place, old, new)


def _malformed(step: Step) -> str | None:
    if step.kind not in KINDS:
        return f"“{_line(step.kind)}” is no kind of step."
    if step.steps and step.kind not in BLOCKS:
        return f"steps inside a {step.kind} are never run."
    if step.optional and step.asserts_outcome:
        return "a check is never optional, or it checks nothing."
    return None


# --- checks --------------------------------------------------------------------------------------------


def _against_changed_check(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if not new.asserts_outcome:
        return (
            f"putting “{expectation(new)}” in the place of the check at step {number}, “{expectation(old)}”. Only a "
            "person takes a check out of a test."
        )
    if _terms(old) != _terms(new):
        return (
            f"rewriting the expectation at step {number} from “{expectation(old)}” to “{expectation(new)}”. Only a "
            "person changes what a test expects."
        )
    if reached := _against_reach(case, new, old):
        return f"changing step {number}: {reached}"
    if why := _against_move(old, new, shown=place in case.identified):
        return f"moving the check at step {number}, “{expectation(old)}”, to {_where(new.locator)}. {why}"
    for at, step in case.before(place):
        for form in case.forms(at, step):
            if _newly_shares(SETTING, (step, form), (old, new)):
                return (
                    f"moving the check at step {number}, “{expectation(old)}”, to {_where(new.locator)}. Step "
                    f"{show_place(at)} itself puts there what the check would read."
                )
    return None


def _terms(step: Step) -> tuple[object, ...]:
    """Everything a check expects; its locator is not part of it (G37)."""
    return step.kind, _plain(step.parameters), step.timeout_ms, step.optional


def _against_move(old: Step, new: Step, *, shown: bool) -> str | None:
    """Why a check may not look where its new locator points, judged from the locators alone."""
    here, there = old.locator, new.locator
    if here == there:
        return None
    if old.kind in WITHOUT_MOVES or old.kind == "wait":
        return "This kind of check has no locator that a repair could move."
    if here is None or there is None:
        return "A repair moves a locator; it neither takes it away nor adds one."
    if old.kind == "a11y_audit":
        return _against_narrowing(here, there)
    if _expects_absence(old) and not shown:
        return "It expects that something is not there, and that holds at almost any other place."
    return _against_target((old,), here, there)


def _against_target(checks: Iterable[Step], old: Locator, new: Locator) -> str | None:
    known = old.ways()
    inner = [one for one in _whole(replace(new, alternatives=())) if one.alternatives]
    if any(way not in known for way in new.alternatives) or not set(inner) <= set(_whole(old)):
        return "A new alternative would let another element satisfy it."
    main = replace(new, alternatives=())
    if main in known:
        return None
    if _has_position(main) and not _has_position(old):
        return "A position picks one of several elements and lets another one satisfy it."
    if why := _catch_all(main):
        return why
    if not _conditions(main) <= {one for way in known for one in _conditions(way)}:
        return "A pattern or a condition on what it holds lets another element satisfy it."
    if any(_is_ancestor(main, way) for way in known):
        return "That is what the old element stands in; it holds more than the element does."
    if any(_is_loosened(main, way) for way in known):
        return "That is the old locator with conditions taken away; it finds more than the element."
    for check in checks:
        if why := _circular(check, old, main):
            return why
        if lost := _lost_text(check, old, main):
            return f"The text “{_line(lost)}” is what it expects to find."
    return None


def _against_narrowing(old: Locator, new: Locator) -> str | None:
    """The wider the scope, the stricter an audit; for every other check it is the other way about."""
    main = replace(old, alternatives=())
    if (_catch_all(main) and not _catch_all(new)) or _is_ancestor(main, new) or _is_loosened(main, new):
        return "A narrower scope checks less."
    return None


def _expects_absence(check: Step) -> bool:
    given = check.parameters
    if check.kind == "assert_hidden" or "not_contains" in given:
        return True
    if check.kind == "assert_count":
        return "at_most" in given or str(given.get("equals")) in ("0", "0.0")
    return "equals" in given and not _fold(given["equals"])


def _circular(check: Step, old: Locator, new: Locator) -> str | None:
    """An element chosen by what the check is to find out cannot fail the check."""
    known = {_fold(text) for way in old.ways() for text in _texts(way, check)}
    for text in _texts(new, check):
        if _fold(text) not in known and _gives_away(text, check):
            return f"The new locator looks for “{_line(text)}”, which the check is to find out."
    asked = STATES.get(check.kind, frozenset())
    if check.kind == "assert_attribute":
        asked = frozenset({str(check.parameters.get("attribute")).lower()})
    before = {state for way in old.ways() for state in _states(way)}
    if named := sorted((asked & _states(new)) - before):
        return f"The new locator looks for “{_line(named[0])}”, which the check is to find out."
    return None


def _lost_text(check: Step, old: Locator, new: Locator) -> str | None:
    """The text that names the element of a presence check and that the new locator no longer asks for."""
    if check.kind not in ("assert_visible", "assert_hidden", "assert_count"):
        return None
    kept = [(_fold(text), new.exact) for text in (*_own_texts(new), new.name) if text]
    for text in _own_texts(old):
        if not any(_fold(text) in there and (exact or not old.exact) for there, exact in kept):
            return text
    return None


def _own_texts(locator: Locator) -> list[str]:
    """The texts a locator's own element must show."""
    texts = [text for text in (locator.text, locator.has_text) if text]
    if locator.name and locator.role not in CONTROLS:
        texts.append(locator.name)
    if locator.regex:
        texts = [word for text in texts for word in _fixed_words(text)]
    if locator.css and (css := _read_css(locator.css)):
        texts.extend(css.shown)
    if locator.xpath:
        texts.extend(text for text in _literals(_without_attributes(locator.xpath)) if text)
    return texts


# --- what a check expects, against texts ---------------------------------------------------------------


def _expected(check: Step) -> Iterator[tuple[str, str]]:
    if check.kind == "assert_count":
        return
    given = check.parameters.get("url") if check.kind == "wait" else check.parameters
    if isinstance(given, str):
        yield "contains", given
    elif isinstance(given, Mapping):
        for key in ("equals", "contains", "matches"):
            if key in given:
                yield key, str(given[key])


def _gives_away(text: str, check: Step) -> bool:
    """Does a text hold what the check expects, or most of it?"""
    have = _fold(text)
    for key, wanted in _expected(check):
        want = _fold(wanted)
        if key == "matches":
            words = _fixed_words(wanted)
            if words and all(_stands_in(word, have) for word in words):
                return True
        elif not want or not have:
            if want == have and key == "equals":
                return True
        elif _stands_in(want, have) or (_stands_in(have, want) and 2 * len(have) >= len(want)):
            return True
    return False


def _fixed_words(pattern: str) -> list[str]:
    """The words a regular expression has to find as they are written."""
    plain = re.sub(r"\\[a-zA-Z]|\[[^\]]*\]|\{[^}]*\}|\(\?[a-zA-Z:!<=]+", " ", pattern)
    return re.findall(r"\w{2,}", _fold(re.sub(r"[\\^$.|?*+()]", " ", plain)))


def _stands_in(part: str, text: str) -> bool:
    """As whole words: "1" stands in "1 item", not in "2021"."""
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _fold(text: object) -> str:
    plain = unicodedata.normalize("NFKC", str(text))
    return " ".join("".join(char for char in plain if unicodedata.category(char) != "Cf").split()).casefold()


# --- locators ------------------------------------------------------------------------------------------


def _scopes(locator: Locator) -> Iterator[Locator]:
    """The locator, and every locator it lies within."""
    at: Locator | None = locator
    while at is not None:
        yield at
        at = at.within


def _whole(locator: Locator) -> Iterator[Locator]:
    for scope in _scopes(locator):
        yield scope
        for one in (*scope.frame, scope.has, scope.has_not):
            if one is not None:
                yield from _whole(one)


def _with_alternatives(locator: Locator) -> Iterator[Locator]:
    """Every locator that stands anywhere in this one."""
    for one in _whole(locator):
        yield one
        for way in one.alternatives:
            yield from _with_alternatives(way)


def _has_position(locator: Locator) -> bool:
    return any(
        scope.nth is not None or (scope.xpath and re.search(r"\)\s*\[\s*(\d+|last\(|position\()", scope.xpath))
        for way in locator.ways()
        for scope in _scopes(way)
    )


def _texts(locator: Locator, check: Step) -> list[str]:
    """Every text by which a locator chooses, scopes and frames included."""
    texts: list[str] = []
    for one in _whole(locator):
        texts += [
            text
            for text in (
                one.name,
                one.text,
                one.has_text,
                one.has_not_text,
                one.label,
                one.placeholder,
                one.alt,
                one.title,
            )
            if text is not None
        ]
        if one.css and (css := _read_css(one.css)):
            texts += css.texts
        if one.xpath:
            texts += _literals(one.xpath)
        if check.kind in ("assert_attribute", "assert_value"):
            texts += [text for text in (one.test_id, one.role, one.css) if text is not None]
    return texts


def _states(locator: Locator) -> frozenset[str]:
    """Attributes and pseudo-classes by which a locator chooses its own element."""
    states: set[str] = {name for key, name in FINDER_ATTRIBUTES.items() if getattr(locator, key) is not None}
    if locator.css and (css := _read_css(locator.css)):
        states |= css.states
    if locator.xpath:
        states |= {name.lower() for name in re.findall(r"@([\w-]+)", locator.xpath)}
    return frozenset(states)


def _catch_all(locator: Locator) -> str | None:
    """Why this locator finds something on any page, or cannot be judged."""
    loose = []
    for key, value in locator.finders():
        if key == "css":
            css = _read_css(value)
            if css is None:
                return "That selector cannot be judged."
            if css.branches:
                return "A list of selectors lets another element satisfy it."
            if css.root:
                return "The whole page satisfies it."
            loose.append(css.loose)
        elif key == "xpath":
            path = _read_xpath(value)
            if path is None:
                return "That path cannot be judged."
            if path.root:
                return "The whole page satisfies it."
            loose.append(path.loose)
        elif key == "role":
            loose.append(value.lower() in LOOSE_ROLES and not locator.name)
        elif locator.regex:
            loose.append(not _fixed_words(value))
        else:
            loose.append(len(_fold(value)) < 1 + (key == "text" and not locator.exact))
    if all(loose) and (locator.within is None or _catch_all(locator.within)):
        return "Almost anything satisfies it."
    return None


def _conditions(locator: Locator) -> set[object]:
    """What a locator asks for that cannot be judged by itself: patterns, and what its element holds or does not."""
    asked: set[object] = set()
    for one in _whole(locator):
        if one.regex:
            asked |= {(key, getattr(one, key)) for key in PATTERNS if getattr(one, key) is not None}
        asked |= {(key, getattr(one, key)) for key in HOLDING if getattr(one, key) is not None}
    return asked


def _is_ancestor(new: Locator, old: Locator) -> bool:
    if any(_bare(new) == _bare(scope) for scope in list(_scopes(old))[1:]):
        return True
    if new.css and old.css:
        front, rest = _spaced(old.css)[: len(_spaced(new.css))], _spaced(old.css)[len(_spaced(new.css)) :]
        return front == _spaced(new.css) and bool(re.match(r" |>", rest))
    return bool(new.xpath and old.xpath and old.xpath.startswith(new.xpath + "/"))


def _bare(locator: Locator) -> Locator:
    return replace(locator, alternatives=(), nth=None, exact=False)


def _is_loosened(new: Locator, old: Locator) -> bool:
    """Does `new` ask for nothing but a part of what `old` asks for? Frames are places, not conditions."""
    return _asks_no_more(new, old) and not _asks_no_more(old, new)


def _asks_no_more(new: Locator, old: Locator) -> bool:
    if (new.exact and not old.exact) or new.regex != old.regex:
        return False
    if any(getattr(new, key) not in (None, getattr(old, key)) for key in HOLDING):
        return False
    for key in (*(key for key, _ in new.finders()), "name", "has_text"):
        value, before = getattr(new, key), getattr(old, key)
        if value is None or value == before:
            continue
        if before is None or not _says_no_more(key, value, before, exact=old.exact and new.exact):
            return False
    if new.within is None:
        return True
    return old.within is not None and _asks_no_more(new.within, old.within)


def _says_no_more(key: str, new: str, old: str, *, exact: bool) -> bool:
    if key == "css":
        return bool(re.search(rf"[ >]{re.escape(_spaced(new))}$", _spaced(old)))
    if key == "xpath":
        return new.startswith("//") and old.endswith(new)
    return key not in ("role", "test_id") and not exact and _fold(new) in _fold(old)


def _spaced(css: str) -> str:
    return re.sub(r"\s*([>+~])\s*", r"\1", " ".join(css.split()))


@dataclass(frozen=True, slots=True)
class _Selector:
    """What can be said of a CSS selector or an XPath without a page."""

    root: bool = False  # finds the page itself
    loose: bool = True  # no part of it says which element is meant
    branches: bool = False  # finds one or the other
    texts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()  # of these the ones its own element shows
    states: frozenset[str] = frozenset()


def _read_css(css: str) -> _Selector | None:
    """None where it is no plain CSS, such as Playwright's chained engines."""
    if len(css) > LONGEST_SELECTOR:
        return None
    try:
        return _either([_read_node(one.parsed_tree) for one in cssselect.parse(css)])
    except (cssselect.SelectorError, RecursionError, AttributeError, ValueError):
        return None


def _either(branches: list[_Selector]) -> _Selector:
    return _Selector(
        root=any(one.root for one in branches),
        loose=any(one.loose for one in branches),
        branches=len(branches) > 1 or any(one.branches for one in branches),
        texts=tuple(text for one in branches for text in one.texts),
        shown=tuple(text for one in branches for text in one.shown),
        states=frozenset().union(*(one.states for one in branches)),
    )


def _read_node(node: Any) -> _Selector:
    kind = type(node).__name__
    if kind == "Element":
        tag = (node.element or "*").lower()
        return _Selector(root=tag in ROOTS, loose=tag in LOOSE_TAGS | ROOTS)
    inner = _read_node(node.selector)
    match kind:
        case "Hash" | "Class":
            return replace(inner, loose=False)
        case "Attrib":
            return _read_attribute(node, inner)
        case "Pseudo":
            name = node.ident.lower()
            return replace(inner, root=inner.root or name in ("root", "scope", "host"), states=inner.states | {name})
        case "Function":
            return _read_function(node, inner)
        case "CombinedSelector":
            last = _read_node(node.subselector)
            return replace(last, loose=inner.loose and last.loose, texts=inner.texts + last.texts)
        case "Negation":
            return replace(inner, states=inner.states | _read_node(node.subselector).states)
        case "Relation":
            held = _either([_read_node(one.parsed_tree) for _, one in node.arguments])
            return replace(inner, texts=inner.texts + held.texts, states=inner.states | held.states)
        case "Matching" | "SpecificityAdjustment":
            one = _either([_read_node(branch) for branch in node.selector_list])
            return _Selector(
                root=inner.root or one.root,
                loose=inner.loose and one.loose,
                branches=one.branches or inner.branches,
                texts=inner.texts + one.texts,
                shown=inner.shown + one.shown,
                states=inner.states | one.states,
            )
    raise ValueError(f"no rule for {kind}")


def _read_attribute(node: Any, inner: _Selector) -> _Selector:
    inner = replace(inner, states=inner.states | {str(node.attrib).lower()})
    if node.value is None or node.operator == "!=":
        return inner
    value = str(node.value.value)
    says_which = bool(value) if node.operator == "=" else len(value) > 2
    return replace(inner, loose=inner.loose and not says_which, texts=(*inner.texts, value))


def _read_function(node: Any, inner: _Selector) -> _Selector:
    if node.name.lower() not in ("has-text", "text", "text-is"):
        return inner
    text = " ".join(str(token.value) for token in node.arguments)
    return replace(inner, loose=inner.loose and not _fold(text), texts=(*inner.texts, text), shown=(*inner.shown, text))


def _read_xpath(path: str) -> _Selector | None:
    """None where it climbs up, finds one or the other, or is written in a way that has no rule here."""
    path = path.strip().removeprefix("xpath=").strip()
    while wrapped := re.fullmatch(r"\((.*)\)((?:\s*\[[^\]]*\])*)", path, re.DOTALL):
        path = wrapped[1].strip()
    steps = _path_steps(path)
    if len(path) > LONGEST_SELECTOR or steps is None:
        return None
    named = [_path_step(step) for step in steps]
    last = named[-1][0]
    if last in ("..", "node()") or re.search(r"\b(ancestor|ancestor-or-self|parent|self)\s*::|name\s*\(", path):
        return None
    return _Selector(root=last in ROOTS or last == "", loose=all(loose for _, loose in named))


def _path_steps(path: str) -> list[str] | None:
    """The parts between slashes; quotes and brackets are left whole."""
    parts, depth, quote = [""], 0, ""
    for char in path:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
            if depth < 0:
                return None
        elif depth == 0 and char == "|":
            return None
        elif depth == 0 and char == "/":
            parts.append("")
            continue
        parts[-1] += char
    steps = [part.strip() for part in parts if part.strip()]
    return None if depth or quote else steps or [""]


SAYS_WHICH: Final = re.compile(
    r"""(?:@[\w:-]+|text\(\)|\.|normalize-space\([^)]*\))\s*(?:=\s*(?:"[^"]+"|'[^']+')|,\s*(?:"[^"]{3,}"|'[^']{3,}'))"""
)
SAYS_LITTLE: Final = re.compile(r"not\s*\(|!=|\bor\b")


def _path_step(step: str) -> tuple[str, bool]:
    """Its name, and whether it says too little to mean one element."""
    name, _, predicate = step.partition("[")
    name = name.rpartition("::")[2].strip().lower()
    says_which = SAYS_WHICH.search(predicate) and not SAYS_LITTLE.search(predicate)
    return name, name in LOOSE_TAGS | ROOTS | {"", "..", "text()"} and not says_which


def _literals(path: str) -> list[str]:
    return [one or other for one, other in re.findall(r"\"([^\"]*)\"|'([^']*)'", path)]


def _without_attributes(path: str) -> str:
    """A path without the texts that it compares with attributes."""
    return re.sub(r"@[\w-]+\s*(?:=|!=|,)\s*(?:\"[^\"]*\"|'[^']*')", "", path)


# --- neutral steps and actions -------------------------------------------------------------------------


def _against_changed_neutral(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    leaned_on = None if place in case.dropped else _against_losing(case, place, old)
    if old.kind != new.kind or new.asserts_outcome or _deed(old) != _deed(new):
        return leaned_on or _against_insertion(case, place, new, f"in the place of step {number}", old)
    if reached := _against_reach(case, new, old):
        return f"changing step {number}: {reached}"
    if leaned_on and (old.timeout_ms, old.optional) != (new.timeout_ms, new.optional):
        return leaned_on
    if leaned_on and old.kind == "wait":
        return _against_moved_wait(place, old, new)
    if old.kind == "extract" and old.locator != new.locator:
        return _against_moved_reading(case, place, old, new)
    return None


def _against_moved_wait(place: Place, old: Step, new: Step) -> str | None:
    """A wait before a check of absence must not be over at once."""
    here, there = old.parameters.get("for"), new.parameters.get("for")
    if not isinstance(here, Locator) or not isinstance(there, Locator):
        return None
    why = _against_target((), here, there)
    return why and f"moving the wait at step {show_place(place)} to {_where(there)}. {why}"


def _against_moved_reading(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    """Where a check reads a variable, the extract that fills it is the place where the check looks (G38)."""
    readers = [
        step
        for _, step in case.after(place)
        if step.asserts_outcome and str(old.parameters.get("into")) in _names_read([((), step)])
    ]
    if not readers:
        return None
    if old.locator is None or new.locator is None:
        why: str | None = "A check reads what it extracts."
    elif any(_expects_absence(step) for step in readers) and place not in case.identified:
        why = "A check expects that something is not there, and that holds at almost any other place."
    else:
        why = _against_target(readers, old.locator, new.locator)
    return why and f"moving what step {show_place(place)} extracts to {_where(new.locator)}. {why}"


def _against_changed_action(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if foreign := _leaves(case, old, new):
        return f"changing step {number}: {foreign}"
    if place in case.dropped and not _same_deed(old, new, renamed=place in case.renamed):
        return _against_insertion(case, place, new, f"in the place of step {number}", old)
    if old.kind != new.kind and not _kin(old, new):
        return (
            f"putting “{expectation(new)}” in the place of step {number}, “{expectation(old)}”. That is another deed, "
            "and the checks after it would no longer verify this one."
        )
    if not _same_deed(old, new, renamed=place in case.renamed):
        return (
            f"changing what step {number} does from “{expectation(old)}” to “{expectation(new)}”. A repair changes "
            "where a step acts, not what it does."
        )
    if new.optional and not old.optional and place not in case.dropped:
        return f"making step {number}, “{expectation(old)}”, optional. The checks after it would pass without it."
    if old.kind != "scroll" and (old.locator is None) != (new.locator is None):
        return f"changing step {number}: a repair moves a locator; it neither takes it away nor adds one."
    if reached := _against_reach(case, new, old):
        return f"changing step {number}: {reached}"
    return _against_new_effect(case, place, old, new)


def _against_new_effect(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    """A moved or renamed action must not become the reason why a later check holds."""
    number = show_place(place)
    for at, step in case.after(place):
        if not step.asserts_outcome:
            continue
        if any(_newly_shares(SETTING, (old, new), (step, form)) for form in case.forms(at, step)):
            return (
                f"moving step {number} to {_where(new.locator)}. The check at step {show_place(at)}, "
                f"“{expectation(step)}”, reads that element."
            )
        url, before = str(new.parameters.get("url")), str(old.parameters.get("url"))
        expects_url = step.kind in ("assert_url", "wait")
        if old.kind == "goto" and expects_url and _lands(url, step) and not _lands(before, step):
            return (
                f"sending step {number} straight to {_line(url)}, which the check at step {show_place(at)} expects the "
                "app to reach."
            )
    return None


def _lands(url: str, check: Step) -> bool:
    """Would a page at this address satisfy the check, as far as texts tell?"""
    address = _fold(url)
    for key, wanted in _expected(check):
        want = _fold(wanted)
        if key == "contains" and want in address:
            return True
        if key == "equals" and (address.rstrip("/").endswith(want.rstrip("/")) and want.strip("/")):
            return True
    return _gives_away(url, check)


def _newly_shares(kinds: frozenset[str], action: tuple[Step, Step], check: tuple[Step, Step]) -> bool:
    """Do the new forms of an action and a check use one locator where the old ones did not?"""
    if action[1].kind not in kinds:
        return False
    return _shares(action[1], check[1]) and not _shares(action[0], check[0])


def _shares(action: Step, check: Step) -> bool:
    """Does an action happen on, or inside, the element that a check looks at? As far as locators tell."""
    if action.locator is None or check.locator is None:
        return False
    acted = {_bare(scope) for way in action.locator.ways() for scope in _scopes(way)}
    return any(_bare(way) in acted for way in check.locator.ways())


def _kin(old: Step, new: Step) -> bool:
    """Two kinds for one deed."""
    if old.kind in ENTERING and new.kind in ENTERING:
        return True
    plain = not old.parameters and not new.parameters
    return plain and ((old.kind in SWITCHING and new.kind == "click") or (old.kind == "click" and new.kind == "check"))


def _same_deed(old: Step, new: Step, *, renamed: bool) -> bool:
    """The same, done at whatever place."""
    if old.kind != new.kind:
        return _kin(old, new) and _deed(old) == _deed(new)
    if old.kind == "scroll":
        return True
    free = RENAMABLE.get(old.kind, frozenset()) if renamed else frozenset()
    return _deed(old, free) == _deed(new, free)


def _deed(step: Step, free: frozenset[str] = frozenset()) -> object:
    return _plain_without_locators({key: value for key, value in step.parameters.items() if key not in free})


# --- insertions ----------------------------------------------------------------------------------------


def _against_insertion(case: _Case, place: Place, new: Step, spot: str, old: Step | None = None) -> str | None:
    """Why a new step may not stand there. A check may: it can only make the test stricter."""
    what = f"putting “{expectation(new)}” {spot}"
    if broken := _malformed(new):
        return f"{what}: {broken}"
    if new.kind in BLOCKS or new.kind == "use":
        return f"{what}. Only a person adds blocks and fragments."
    if new.never_repair:
        return f"{what}, marked “never repair”. Only a person sets that mark."
    if reached := _against_reach(case, new, old):
        return f"{what}: {reached}"
    if new.asserts_outcome:
        return None
    if new.kind in STEERING or (new.kind == "tab" and new.parameters.get("close")):
        return f"{what}. It leads round the app's own controls, so the checks after it would not verify them."
    if new.kind in ("set", "extract") and str(new.parameters.get("into")) in _taken(case):
        return f"{what}. The test already has or reads the variable {_line(new.parameters.get('into'))}."
    if new.kind == "upload" and not _list(new.parameters.get("files")) <= _files(case.steps):
        return f"{what}. The test has no such file."
    if new.kind == "dialog" and _takes_an_answer(case, place):
        return f"{what}. It would take the answer of the dialog step beside it."
    for check in case.checks_after(place):
        if _forces(new, check):
            return f"{what}. It would by itself make the check “{expectation(check)}” hold."
    return None


def _forces(step: Step, check: Step) -> bool:
    if step.kind in DOING and _shares(step, check):
        return True
    if step.kind not in ("fill", "type", "select", "set", "dialog"):
        return False
    return any(_gives_away(text, check) for key, text in _pairs(step.parameters) if key != "into")


def _takes_an_answer(case: _Case, place: Place) -> bool:
    """Is there a dialog step before or after it with nothing between that could bring up a dialog?"""
    behind = [step for _, step in case.after(place)]
    ahead = [step for at, step in walk(case.steps) if at[: len(place)] <= place]
    return any(_meets_dialog(steps) for steps in (behind, reversed(ahead)))


def _meets_dialog(steps: Iterable[Step]) -> bool:
    for step in steps:
        if step.kind == "dialog":
            return True
        if step.kind not in QUIET | NEUTRAL and not step.asserts_outcome:
            return False
    return False


def _taken(case: _Case) -> frozenset[str]:
    return case.variables | case.secrets | _names_read(list(walk(case.steps))) | _names_given(case.steps)


def _files(steps: Steps) -> frozenset[str]:
    return frozenset().union(*(_list(step.parameters.get("files")) for _, step in walk(steps)), frozenset())


def _list(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list | tuple) else frozenset()


# --- what a step reaches for: variables, secrets, other origins ----------------------------------------


def _against_reach(case: _Case, new: Step, old: Step | None) -> str | None:
    names = _names(new) - (_names(old) if old else frozenset())
    if secret := sorted(names & case.secrets):
        if secret[0] not in _all_names(case.steps):
            return f"it uses the secret {_line(secret[0])}, which the test did not use."
        elsewhere = _names(replace(new, parameters={k: v for k, v in new.parameters.items() if k != "value"}))
        if new.kind not in ENTERING or names & case.secrets & elsewhere:
            return f"it uses the secret {_line(secret[0])} for something other than typing it."
    brought = frozenset(
        str(one.new.parameters.get("into"))
        for one in case.operations
        if one.op == "insert" and one.new is not None and one.new.kind in ("set", "extract")
    )
    known = _all_names(case.steps) | _names_given(case.steps) | case.variables | brought
    if unknown := sorted(names - known):
        return f"it uses the variable {_line(unknown[0])}, which the test did not use and which may be a secret."
    return None


def _leaves(case: _Case, old: Step, new: Step) -> str | None:
    """A goto leads to a page of the app, by http, or stays what it was."""
    if new.kind != "goto":
        return None
    url, before = str(new.parameters.get("url", "")), str(old.parameters.get("url", ""))
    origin = _origin(url)
    allowed = {"", *(_origin(one) for one in case.origins)}
    if old.kind == "goto":
        allowed.add(_origin(before))
    if url != before and (origin is None or origin not in allowed):
        return f"{_line(url)} is not a page of the app under test."
    return None


def _origin(url: str) -> str | None:
    """ "" of a relative address, None where it is no http address. Read as a browser reads it."""
    plain = re.sub(r"[\t\r\n]", "", url.strip("".join(map(chr, range(33))))).replace("\\", "/")
    if plain.startswith("${"):
        return plain.partition("}")[0]
    try:
        parts = urlsplit(f"http:{plain}" if plain.startswith("//") else plain)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not parts.scheme and not parts.netloc and not re.match(r"[^/?#]*:", plain):
        return ""
    if parts.scheme not in ("http", "https") or not host:
        return None
    return f"{parts.scheme}://{host}:{port or {'http': 80, 'https': 443}[parts.scheme]}"


def _pairs(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text inside a value, with the key it stands under."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _pairs(inner, str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _pairs(inner, key)
    elif isinstance(value, Locator):
        for one in _with_alternatives(value):
            texts = (*one.finders(), *((key, getattr(one, key)) for key in ("name", "has_text", "has_not_text")))
            yield from ((name, text) for name, text in texts if text)
    elif value is not None and not isinstance(value, bool):
        yield key, str(value)


def _names(step: Step) -> frozenset[str]:
    """The variables that a step writes as ${name}."""
    texts = [text for _, text in (*_pairs(step.parameters), *_pairs(step.locator))]
    own = frozenset(name.strip() for text in texts for name in re.findall(r"\$\{([^}]*)\}", text))
    return own.union(*(_names(inner) for inner in step.steps))


def _all_names(steps: Steps) -> frozenset[str]:
    return frozenset().union(*(_names(step) for step in steps), frozenset())


def _names_read(steps: Iterable[tuple[Place, Step]]) -> frozenset[str]:
    """The variables that steps read, those of assert_variable included."""
    read: set[str] = set()
    for _, step in steps:
        read |= _names(step)
        if step.kind == "assert_variable":
            read.add(str(step.parameters.get("variable")))
    return frozenset(read)


def _names_given(steps: Steps) -> frozenset[str]:
    return frozenset(str(step.parameters["into"]) for _, step in walk(steps) if "into" in step.parameters)


# --- blocks --------------------------------------------------------------------------------------------


def _against_new_block(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    number = show_place(place)
    if new.kind != old.kind:
        return (
            f"putting “{expectation(new)}” in the place of block {number}. Only a person takes a block out of a test."
        )
    if _plain(old.parameters) != _plain(new.parameters):
        return f"changing goal or values of block {number}. Only a person says what a block is for."
    if (old.optional, old.locator) != (new.optional, new.locator):
        return f"making block {number} optional, or no longer so. Only a person says whether it counts."
    if old.kind == "group":
        return _against_new_group(case, place, old, new)
    return _against_new_intent(case, place, old, new)


def _against_new_group(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    if len(old.steps) != len(new.steps):
        return f"replacing block {show_place(place)} as a whole. The steps of a group are changed one by one."
    for number, (before, after) in enumerate(zip(old.steps, new.steps, strict=True), 1):
        if why := _against_replacement(case, (*place, number), before, after):
            return why
    return None


def _against_new_intent(case: _Case, place: Place, old: Step, new: Step) -> str | None:
    """A block that was derived again from its goal: other steps may lead there, the same checks stand between them."""
    number = show_place(place)
    before, after = _stretches(old.steps), _stretches(new.steps)
    if len(before) != len(after):
        return f"changing the number of checks in block {number}. Only a person adds or takes away checks there."
    if [_whole_step(one) for one in old.steps if one.steps] != [_whole_step(one) for one in new.steps if one.steps]:
        return f"changing the blocks inside block {number}. Only a person does that."
    read = _names_read(case.after((*place, 0)))
    for one in old.steps:
        if one.parameters.get("into") in read and not any(_same_deed(one, two, renamed=False) for two in new.steps):
            return f"dropping “{expectation(one)}” from block {number}. A later step reads that variable."
    for (_, old_check), (_, new_check) in zip(before, after, strict=True):
        if old_check and new_check and (why := _against_changed_check(case, place, old_check, new_check)):
            return f"in a block: {why}"
    for (old_steps, _), (new_steps, _) in zip(before, after, strict=True):
        if any(map(_counts, old_steps)) and not any(map(_counts, new_steps)):
            return f"emptying a part of block {number}. A check there would verify nothing that was done."
    for step in (step for steps, _ in after for step in steps):
        if why := _against_derived_step(case, place, old.steps, step):
            return why
    return None


def _against_derived_step(case: _Case, place: Place, known: Steps, step: Step) -> str | None:
    """A step the block did not have is judged like an insertion; a known deed only by what it does elsewhere."""
    number = show_place(place)
    if any(_same_step(step, one) for one in known):
        return None
    alike = [one for one in known if step.kind == one.kind and step.kind not in BLOCKS and _deed(step) == _deed(one)]
    if not alike or (step.optional and not any(one.optional for one in alike)):
        # Counted from before the block, so that its own checks are among those that come later.
        return _against_insertion(case, (*place, 0), step, f"into block {number}")
    if step.never_repair:
        return f"marking a step of block {number} “never repair”. Only a person sets that mark."
    if why := _malformed(step) or _against_reach(case, step, None):
        return f"changing block {number}: {why}"
    for check in case.checks_after((*place, 0)):
        if _forces(step, check) and not any(_forces(one, check) for one in alike):
            return f"changing block {number}. “{expectation(step)}” would by itself make “{expectation(check)}” hold."
    return None


def _stretches(steps: Steps) -> list[tuple[list[Step], Step | None]]:
    """The steps up to each check with that check; at the end those after the last one."""
    found: list[tuple[list[Step], Step | None]] = []
    steps_so_far: list[Step] = []
    for step in steps:
        if step.asserts_outcome:
            found.append((steps_so_far, step))
            steps_so_far = []
        else:
            steps_so_far.append(step)
    return [*found, (steps_so_far, None)]


def _counts(step: Step) -> bool:
    """Is it something that is done, every time?"""
    return step.kind not in NEUTRAL and step.kind != "scroll" and not step.optional


# --- operations that make sense only together ----------------------------------------------------------


def _left_alone(case: _Case, reasons: Mapping[int, str]) -> dict[int, str]:
    """What makes no sense once another change is refused: a check that was to stand for an old one, the deletion of an
    action whose stand-in is not to be."""
    more: dict[int, str] = {}
    lost = {index: case.operations[index] for index in reasons}
    for index, operation in enumerate(case.operations):
        if index in reasons:
            continue
        if operation.op == "insert" and operation.new is not None and operation.new.asserts_outcome:
            for other in lost.values():
                if other.op == "delete" and operation.place in _beside(other.place) and _is_check(case, other.place):
                    more[index] = (
                        f"putting “{expectation(operation.new)}” {_spot(operation.place)}. It was to stand for the "
                        f"check at step {show_place(other.place)}, which stays."
                    )
        elif operation.place in case.dropped and operation.op != "insert":
            for other in lost.values():
                if other.op == "insert" and other.place in _beside(operation.place):
                    more[index] = (
                        f"taking step {show_place(operation.place)} away. What was to be done beside it instead was "
                        "refused."
                    )
    return more


def _beside(place: Place) -> tuple[Place, ...]:
    return (place, (*place[:-1], place[-1] - 1)) if place else ()


def _is_check(case: _Case, place: Place) -> bool:
    try:
        return step_at(case.steps, place).asserts_outcome
    except LookupError:
        return False


# --- the last word -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Event:
    """Something that counts when a test is played. `blocks` are the blocks it stands in, outermost first."""

    place: Place
    step: Step
    blocks: tuple[object, ...]


def _last_word(case: _Case, allowed: Operations) -> str | None:
    """Refuses all that is left if the test would no longer do and expect, in order, what it did and expected.

    Knows nothing of the rules above: it compares two tests. A second lock, for the day on which one of them is wrong.
    """
    try:
        candidate = apply_operations(case.steps, allowed)
    except DoesNotFit as error:
        return f"the changes do not fit the test together: {_line(error)}."
    derived = {one.place for one in allowed if one.op == "replace" and step_at(case.steps, one.place).kind == "intent"}
    read = _names_read(walk(case.steps))
    events = iter(_events(candidate))
    for old in _events(case.steps):
        if not _has_to_stay(old.step, read) and (old.place in case.dropped or _stands_in_one(old.place, derived)):
            continue
        if old.step.kind == "extract" and not _has_to_stay(old.step, read):
            continue
        if not any(_still(case, old, new) for new in events):
            what = "check" if old.step.asserts_outcome else "step"
            return (
                f"together, the changes would take away, weaken or move {what} {show_place(old.place)}, "
                f"“{expectation(old.step)}”. Only a person changes what a test verifies."
            )
    if name := next((name for name in sorted(read) if _givers(candidate, name) > _givers(case.steps, name)), None):
        return f"together, the changes would give the variable {_line(name)}, which the test reads, another value."
    return None


def _has_to_stay(step: Step, read: frozenset[str]) -> bool:
    return step.asserts_outcome or ("into" in step.parameters and str(step.parameters["into"]) in read)


def _stands_in_one(place: Place, blocks: Collection[Place]) -> bool:
    return any(place[:length] in blocks for length in range(1, len(place)))


def _givers(steps: Steps, name: str) -> int:
    return sum(str(step.parameters["into"]) == name for _, step in walk(steps) if "into" in step.parameters)


def _events(steps: Steps) -> list[_Event]:
    return [
        _Event(place, step, _blocks(steps, place))
        for place, step in walk(steps)
        if step.asserts_outcome or step.kind not in NEUTRAL or step.kind == "extract"
    ]


def _blocks(steps: Steps, place: Place) -> tuple[object, ...]:
    around = [step_at(steps, place[:length]) for length in range(1, len(place))]
    return tuple((block.kind, _plain(block.parameters), block.optional) for block in around)


def _still(case: _Case, old: _Event, new: _Event) -> bool:
    """Is `new` the same check or deed, in the same kind of surroundings?"""
    before, after = old.step, new.step
    if old.blocks != new.blocks:
        return False
    if before.never_repair:
        return _same_step(before, after)
    if not before.asserts_outcome:
        same = _same_deed(before, after, renamed=old.place in case.renamed)
        return same and (before.optional or not after.optional)
    fixed = _expects_absence(before) and old.place not in case.identified
    return (
        after.asserts_outcome
        and _terms(before) == _terms(after)
        and (before.locator is None) == (after.locator is None)
        and (not fixed or before.locator == after.locator)
    )


# --- comparing -----------------------------------------------------------------------------------------


def _plain(value: object) -> object:
    """A value that compares strictly: 1, 1.0, "1" and true are four things, the order of keys is nothing."""
    if isinstance(value, Mapping):
        return "map", tuple(sorted(((str(key), _plain(inner)) for key, inner in value.items()), key=lambda one: one[0]))
    if isinstance(value, list | tuple):
        return "list", tuple(map(_plain, value))
    return type(value).__name__, value


def _plain_without_locators(parameters: Mapping[str, Any]) -> object:
    """The same, but of locators only that they are there."""
    return _plain({key: "" if isinstance(value, Locator) else value for key, value in parameters.items()})


def _same_step(one: Step, other: Step) -> bool:
    """The same in all but id and note, which say nothing of what is done."""
    return _whole_step(one) == _whole_step(other)


def _whole_step(step: Step) -> tuple[object, ...]:
    beside = (step.never_repair, step.timeout_ms, step.optional)
    return step.kind, step.locator, _plain(step.parameters), tuple(map(_whole_step, step.steps)), beside
