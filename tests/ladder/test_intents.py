"""repair_ladder/intents.py: a block derived again from its goal, row by row or by a model, and what confirms it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from radar.at_risk import resolve_ways
from radar.elements import PageSnapshot
from repair_ladder import intents, replies
from repair_ladder.climb import Climbed, Given, Repaired, climb
from repair_ladder.intents import INTENT, UNCONFIRMED
from repair_ladder.memory import remember
from repair_ladder.operations import apply_operations
from repair_ladder.outcomes import Green, Outcome, Played, Red, Sent, Trace
from repair_ladder.ports import Answered, Asked, Question, Reply, Unavailable
from repair_ladder.prompts import Failed, Fence, derive_block_question
from repair_ladder.rungs import Models
from repair_ladder.rungs.models import proposers
from repair_ladder.step_format import read_step
from repair_ladder.steps import Steps, walk
from tests.builders import a_page, steps_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Release 1 asks on two pages, release 2 on one: the button that led from one to the other is gone.
NAME = (
    'main\n  h1 "Order a mug"\n  form\n    input#name name=name label="Full name"\n    button#next data-to=/2 "Next"\n'
)
TOWN = """main
  h1 "Where to"
  form
    input#town name=town label="Town"
    button#save data-to=/done data-send=/orders "Save"
"""
DONE = 'main\n  h1 "Orders"\n  p role=status "{said}"\n'
ONE_PAGE = """main
  h1 "Order a mug"
  form
    input#name name=name label="Full name"
    input#town name=town label="Town"
    button#save data-to=/done data-send=/orders "Save"
"""
# The town is asked for first.
TOWN_FIRST = """main
  h1 "Order a mug"
  form
    input#town name=town label="Town"
    button#next data-to=/2 "Next"
"""
NAME_LAST = """main
  h1 "Who for"
  form
    input#name name=name label="Full name"
    button#save data-to=/done data-send=/orders "Save"
"""
BLOCK = {
    "intent": {
        "goal": "order a mug for Ada",
        "values": {"name": "Ada"},
        "steps": [
            {"fill": {"label": "Full name", "value": "Ada"}},
            {"click": {"role": "button", "name": "Next"}},
            {"fill": {"label": "Town", "value": "Berlin"}},
            {"click": {"role": "button", "name": "Save"}},
        ],
    }
}
CHECK = {"assert_text": {"role": "status", "contains": "Ordered"}}


@dataclass
class Site:
    """Plays steps over pages by path: a click goes where its button says and sends what was typed since the last."""

    pages: dict[str, str]
    says: Callable[[dict[str, str]], str] = lambda typed: "Ordered" if typed else "Nothing yet"
    played: list[Steps] = field(default_factory=list)
    late: int = 0  # requests become visible so many steps later

    async def __call__(self, steps: Steps) -> Outcome:
        self.played.append(steps)
        path, typed, sent_all = "/", {}, {}
        typed: dict[str, str]
        sent_all: dict[str, str]
        played: list[Played] = []
        snapshots: list[PageSnapshot] = []
        waiting: list[tuple[int, Sent]] = []
        for number, (place, step) in enumerate(walk(steps)):
            page, url, sent = a_page(self.pages[path].replace("{said}", self.says(sent_all)), path), path, []
            if step.kind == "goto":
                path = str(step.parameters["url"])
                played.append(Played(place, step.kind, url, number, number, url_after=path))
                continue
            found = resolve_ways(step.locator, page) if step.locator else ()
            if len(found) != 1:
                if step.optional:
                    played.append(Played(place, step.kind, url, number, number, error="no", skipped=True))
                    continue
                cause: Any = "many" if found else "missing"
                return Red(Trace(tuple(played), tuple(snapshots)), place, cause, f"{step.locator} is not there", page)
            element = page.elements[found[0]]
            snapshots.append(page)
            at = len(snapshots) - 1
            if step.kind == "fill":
                typed[element.get("name")] = str(step.parameters["value"])
            elif step.kind == "click" and element.get("data-to"):
                path = element.get("data-to")
                if element.get("data-send"):
                    fields = tuple(sorted(typed.items()))
                    sent_all |= typed
                    waiting.append((number + self.late, Sent("POST", element.get("data-send"), 201, fields)))
            elif step.kind == "assert_text":
                wanted, text = str(step.parameters.get("contains", "\u2042")), page.texts[found[0]]
                if wanted not in text:
                    if step.optional:
                        played.append(Played(place, step.kind, url, number, number, error="no", skipped=True))
                        continue
                    trace = Trace(tuple(played), tuple(snapshots))
                    return Red(trace, place, "check", "it does not hold", page, found[0], text)
            sent = [one for due, one in waiting if due <= number]
            waiting = [(due, one) for due, one in waiting if due > number]
            played.append(
                Played(place, step.kind, url, number, number, 0, at, found[0], sent=tuple(sent), url_after=path)
            )
        return Green(Trace(tuple(played), tuple(snapshots)))


OLD = {"/": NAME, "/2": TOWN, "/done": DONE}
NEW = {"/": ONE_PAGE, "/done": DONE}


async def climbed(
    old: dict[str, str], new: dict[str, str] | Site, *raw: Any, models: Models | None = None, **given: Any
) -> tuple[Climbed, Steps, Site]:
    """Green on the old pages, red on the new ones, and up the ladder."""
    steps = steps_of({"goto": "/"}, *(raw or (BLOCK, CHECK)))
    green = await Site(old)(steps)
    assert isinstance(green, Green), green
    site = new if isinstance(new, Site) else Site(new)
    red = await site(steps)
    assert isinstance(red, Red)
    known = Given(memory=remember(green.trace), models=models, **given)
    return await climb(steps, red, known, site, now=lambda: NOW), steps, site


def inner(found: Climbed, steps: Steps) -> list[str]:
    assert isinstance(found, Repaired), found
    block = apply_operations(steps, found.operations)[1]
    return [f"{one.kind} {one.locator}" for one in block.steps]


def a_model(*answers: Reply, asked: list[Question] | None = None) -> Models:
    script, log = list(answers), asked if asked is not None else []

    async def ask(question: Question) -> Reply:
        log.append(question)
        if question.tools[0].name == "choose_element":
            return Answered("choose_element", {"choice": None, "reason": "it is none of them"})
        return script.pop(0) if script else Unavailable("overloaded", "it has nothing more to say")

    made = proposers(ask, Asked(), lambda text: text)
    assert made is not None
    return made


def block_of(*entries: Any) -> Answered:
    """ "8.3" keeps a step, a mapping is a new one."""
    listed = [
        {"keep": one, "new": None} if isinstance(one, str) else {"keep": None, "new": json.dumps(one)}
        for one in entries
    ]
    return Answered("derive_block", {"steps": listed, "reason": "it leads there"}, 10, 5)


# --- row by row ----------------------------------------------------------------------------------------


async def test_g21_g25_a_block_whose_pages_were_joined_is_derived_again_without_a_model() -> None:
    found, steps, _ = await climbed(OLD, NEW)

    assert isinstance(found, Repaired)
    (operation,) = found.operations
    assert (operation.op, operation.place) == ("replace", (2,)), "its steps are replaced between the markers"
    assert operation.new is not None
    assert operation.new.parameters == steps[1].parameters, "G25: goal and values stay as they were"
    assert inner(found, steps) == ['fill label "Full name"', 'fill label "Town"', 'click role "button", name "Save"']
    assert [one.parameters.get("value") for one in operation.new.steps] == ["Ada", "Berlin", None]


async def test_h24_c33_a_group_with_a_goal_is_derived_again_as_an_intent_is() -> None:
    group = {"group": BLOCK["intent"]}

    found, steps, _ = await climbed(OLD, NEW, group, CHECK)

    assert inner(found, steps) == ['fill label "Full name"', 'fill label "Town"', 'click role "button", name "Save"']
    assert isinstance(found, Repaired)
    assert (found.strategy, found.doubt) == (INTENT, "")
    new = apply_operations(steps, found.operations)[1]
    assert (new.kind, new.parameters) == ("group", steps[1].parameters)


async def test_c33_a_derived_group_that_nothing_confirms_is_left_to_a_person() -> None:
    drafts = {**NEW, "/": ONE_PAGE.replace("/orders", "/drafts")}

    found, _, _ = await climbed(OLD, drafts, {"group": BLOCK["intent"]})

    assert isinstance(found, Repaired)
    assert found.doubt == UNCONFIRMED


async def test_a_group_without_a_goal_is_derived_from_nothing() -> None:
    asked: list[Question] = []

    found, steps, _ = await climbed(
        OLD, NEW, {"group": {"steps": BLOCK["intent"]["steps"]}}, CHECK, models=a_model(asked=asked)
    )

    assert not isinstance(found, Repaired) or found.strategy != INTENT
    assert all(one.tools[0].name != "derive_block" for one in asked)
    assert steps[1].kind == "group"


async def test_g26_the_strategy_of_such_a_repair_is_intent() -> None:
    found, _, _ = await climbed(OLD, NEW)

    assert isinstance(found, Repaired)
    assert found.strategy == INTENT == "intent"
    assert found.attempts[-1].rung == "self_heal", "G21: on the first rung"


async def test_g27_the_same_requests_with_the_same_contents_confirm_a_block() -> None:
    found, _, site = await climbed(OLD, NEW, BLOCK)  # no check after it

    assert isinstance(found, Repaired)
    assert found.doubt == ""
    assert len(site.played) == 3, "the failing run and two proofs; nothing was played without the block"


async def test_g27_a_block_that_sends_something_else_is_left_to_a_person() -> None:
    """The page types the town into another field: what is sent is no longer the same."""
    other = ONE_PAGE.replace("name=town", "name=city")

    found, _, _ = await climbed(OLD, {**NEW, "/": other}, BLOCK)

    assert isinstance(found, Repaired)
    assert found.doubt == UNCONFIRMED
    assert found.strategy == INTENT


async def test_g27_an_assertion_after_the_block_confirms_what_the_requests_do_not() -> None:
    other = ONE_PAGE.replace("data-send=/orders", "data-send=/api/v2/orders")

    found, steps, site = await climbed(OLD, {**NEW, "/": other})

    assert isinstance(found, Repaired)
    assert found.doubt == ""
    assert site.played[-1][1].steps == (), "it was played without the block as well, and the check was red"
    assert inner(found, steps)


async def test_g27_an_assertion_that_holds_without_the_block_confirms_nothing() -> None:
    other = Site({**NEW, "/": ONE_PAGE.replace("data-send=/orders", "data-send=/api/v2/orders")})
    always = {"assert_text": {"css": "h1", "contains": "Order"}}

    found, _, _ = await climbed(OLD, other, BLOCK, always)

    assert isinstance(found, Repaired)
    assert found.doubt == UNCONFIRMED


async def test_g27_a_test_that_deletes_after_the_block_is_not_played_without_it() -> None:
    """Without what the block chose, it might delete another thing: a person looks instead."""
    done = DONE + '  button#all "Delete the chosen"\n'
    other = ONE_PAGE.replace("data-send=/orders", "data-send=/api/v2/orders")

    found, _, site = await climbed(
        {**OLD, "/done": done}, {"/": other, "/done": done}, BLOCK, {"click": {"css": "#all"}}, CHECK
    )

    assert isinstance(found, Repaired)
    assert found.doubt == UNCONFIRMED
    assert all(steps[1].steps for steps in site.played), "never with the block emptied"


async def test_what_was_on_the_second_page_is_asked_for_on_the_first() -> None:
    """Each page is derived from what it offers: round by round, and each value goes into its own field."""
    found, steps, _ = await climbed(OLD, {"/": TOWN_FIRST, "/2": NAME_LAST, "/done": DONE})

    assert inner(found, steps) == [
        'fill label "Town"',
        'click role "button", name "Next"',
        'fill label "Full name"',
        'click role "button", name "Save"',
    ]
    assert isinstance(found, Repaired)
    assert found.doubt == "", "the same was sent in the end"
    block = apply_operations(steps, found.operations)[1]
    assert [one.parameters.get("value") for one in block.steps] == ["Berlin", None, "Ada", None]


async def test_c33_a_healed_row_of_a_block_is_confirmed_as_a_derived_block_is() -> None:
    """The button has another name and sends something else: its element is known again, what the block does is not."""
    renamed = TOWN.replace("#save", "#keep").replace("/orders", "/drafts")
    by_id = {"intent": {**BLOCK["intent"], "steps": [*BLOCK["intent"]["steps"][:3], {"click": {"css": "#save"}}]}}

    found, _, _ = await climbed(OLD, {**OLD, "/2": renamed}, by_id)
    same, _, _ = await climbed(OLD, {**OLD, "/2": renamed.replace("/drafts", "/orders")}, by_id)

    assert isinstance(found, Repaired)
    assert isinstance(same, Repaired)
    assert (found.strategy, found.doubt) == ("self_heal", UNCONFIRMED)
    assert (same.strategy, same.doubt) == ("self_heal", "")


async def test_a_request_that_is_late_still_counts_as_the_blocks() -> None:
    steps = steps_of({"goto": "/"}, BLOCK, CHECK)
    green = await Site(OLD, late=1)(steps)
    site = Site(NEW)
    red = await site(steps)
    assert isinstance(green, Green)
    assert isinstance(red, Red)

    found = await climb(steps, red, Given(memory=remember(green.trace)), site, now=lambda: NOW)

    assert isinstance(found, Repaired)
    assert found.doubt == ""


async def test_a_step_outside_of_blocks_is_not_derived() -> None:
    found, _, _ = await climbed(OLD, NEW, *BLOCK["intent"]["steps"], CHECK)

    assert not isinstance(found, Repaired) or found.strategy != INTENT


async def test_a_block_marked_never_repair_is_left_alone() -> None:
    found, _, _ = await climbed(OLD, NEW, {**BLOCK, "never_repair": True}, CHECK)

    assert not isinstance(found, Repaired)


async def test_a_check_inside_a_block_is_not_passed_over() -> None:
    """G33: what stands behind a check is not done before it."""
    first, led, *rest = BLOCK["intent"]["steps"]
    seen = {"assert_visible": {"role": "heading", "name": "Where to"}}
    block = {"intent": {"goal": "order", "steps": [first, led, seen, *rest]}}

    found, _, _ = await climbed(OLD, NEW, block, CHECK)

    assert not isinstance(found, Repaired)


# --- by a model ----------------------------------------------------------------------------------------

# Release 2 asks for the name in a box that the matcher does not know again, behind a button.
SHUT = """main
  h1 "Order a mug"
  button#begin data-to=/begin "Begin"
"""
OPEN = """main
  h1 "Order a mug"
  form
    input#who name=name label="Recipient"
    input#where name=town label="Place"
    button#send data-to=/done data-send=/orders "Confirm"
"""
REWORKED = {"/": SHUT, "/begin": OPEN, "/done": DONE}
WHOLE = (
    {"click": {"role": "button", "name": "Begin"}},
    {"fill": {"label": "Recipient", "value": "Ada"}},
    {"fill": {"label": "Place", "value": "Berlin"}},
    {"click": {"role": "button", "name": "Confirm"}},
)


async def test_g21_a_model_derives_the_whole_block_where_the_rows_are_not_enough() -> None:
    asked: list[Question] = []
    models = a_model(block_of(*WHOLE), asked=asked)

    found, steps, _ = await climbed(OLD, REWORKED, models=models, rungs=("self_heal",))

    assert isinstance(found, Repaired), found
    assert found.strategy == INTENT
    assert found.doubt == "", "the same order was sent"
    assert [one.kind for one in apply_operations(steps, found.operations)[1].steps] == [
        "click",
        "fill",
        "fill",
        "click",
    ]
    (question,) = [one for one in asked if one.tools[0].name == "derive_block"]
    assert '"order a mug for Ada"' in question.text
    assert '"name": "Ada"' in question.text


async def test_g27_what_a_model_made_and_nothing_confirms_is_left_to_a_person() -> None:
    without_town = (WHOLE[0], WHOLE[1], WHOLE[3])

    found, _, _ = await climbed(OLD, REWORKED, BLOCK, models=a_model(block_of(*without_town)), rungs=("self_heal",))

    assert isinstance(found, Repaired)
    assert found.doubt == UNCONFIRMED


async def test_a_block_that_no_longer_names_its_value_is_not_confirmed_by_a_check() -> None:
    for_eve = (WHOLE[0], {"fill": {"label": "Recipient", "value": "Eve"}}, *WHOLE[2:])
    models = a_model(block_of(*for_eve))

    found, _, _ = await climbed(OLD, REWORKED, models=models, rungs=("self_heal",))

    assert not isinstance(found, Repaired) or found.doubt == UNCONFIRMED


async def test_a_block_that_passes_over_an_element_that_is_still_there_is_the_wrong_one() -> None:
    """Green by another button of the same effect, while the old one stands beside it."""
    two = ONE_PAGE.replace(
        "    button#save", '    button#later data-to=/done data-send=/orders "Save for later"\n    button#save'
    )
    later = ("2.3", {"click": {"role": "button", "name": "Save for later"}})

    found, _, _ = await climbed(OLD, {"/": two, "/done": DONE}, models=a_model(block_of(*later)), rungs=("self_heal",))

    assert not isinstance(found, Repaired)
    (wrong,) = [one for one in found.attempts if one.outcome == "wrong element"]
    assert "no longer uses the element of step 2.4" in wrong.error


async def test_a_new_step_of_a_block_that_may_do_harm_is_not_run() -> None:
    risky = (*WHOLE[:3], {"click": {"role": "button", "name": "Delete account"}})

    found, _, site = await climbed(OLD, REWORKED, models=a_model(block_of(*risky)), rungs=("self_heal",))

    assert isinstance(found, Repaired)
    assert found.proof is None
    assert "delet" in (found.harm or "")
    assert len(site.played) == 1, "only the run that failed"


async def test_g33_a_model_cannot_drop_a_check_of_the_block() -> None:
    seen = {"assert_visible": {"css": "h1"}}
    block = {"intent": {**BLOCK["intent"], "steps": [*BLOCK["intent"]["steps"], seen]}}

    found, _, _ = await climbed(OLD, REWORKED, block, CHECK, models=a_model(block_of(*WHOLE)), rungs=("self_heal",))

    assert not isinstance(found, Repaired)
    assert any("number of checks in block 2" in one.reason for one in found.refusals)


# --- its answer ----------------------------------------------------------------------------------------

KEPT = {(2, 3): None, (2, 4): None}
ENTRY = {"keep": None, "new": '{"click": {"text": "Go"}}'}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("all of them", "'steps' is 'all of them' and not JSON"),
        ({"keep": "2.3"}, "'steps' is an object and not a list"),
        ([ENTRY] * 41, "41 steps are more than the 40"),
        (["2.3"], "Step 1 is '2.3' and not an object"),
        ([{"keep": "2.3", "new": ENTRY["new"]}], "either a step that stays or a new one"),
        ([{"keep": None, "new": None}], "either a step that stays or a new one"),
        ([{"keep": "2.1", "new": None}], "not in the rest of the block"),
        ([{"keep": "2.3", "new": None}] * 2, "A step is kept twice"),
        ([{"keep": None, "new": '{"explode": {}}'}], "is no step"),
        ([{"keep": None, "new": '{"fill": {"css": "#a", "value": "[hidden]"}}'}], "not shown whole"),
    ],
)
def test_h14_an_answer_about_a_block_that_cannot_be_read_says_why(raw: Any, why: str) -> None:
    read = replies.read_block(Answered("derive_block", {"steps": raw}), KEPT, read_step)

    assert isinstance(read, replies.Unreadable)
    assert why in read.reason


def test_an_answer_about_a_block_keeps_steps_and_brings_new_ones() -> None:
    raw = [{"keep": "2.4", "new": None}, ENTRY, {"keep": "2.3", "new": None}]

    read = replies.read_block(Answered("derive_block", {"steps": raw}), KEPT, read_step)

    assert read == ((2, 4), read_step({"click": {"text": "Go"}}), (2, 3))


# --- what was seen from outside ------------------------------------------------------------------------


def test_a_block_of_which_nothing_was_recorded_is_not_confirmed_by_it() -> None:
    steps = steps_of({"goto": "/"}, BLOCK)
    trace = Trace()

    assert not intents.does_what_it_did(steps, (), (2,), remember(trace), trace)


def test_the_tool_for_a_block_is_a_closed_form() -> None:
    steps = steps_of({"goto": "/"}, BLOCK)
    failed = Failed(steps, (2, 2), "it is not there", a_page(NAME))
    question = derive_block_question(failed, Fence("n" * 16, str), block=(2,))
    (tool,) = question.tools
    entry = tool.schema["properties"]["steps"]["items"]

    assert tool.schema["additionalProperties"] is False
    assert entry["additionalProperties"] is False
    assert set(entry["required"]) == {"keep", "new"}
