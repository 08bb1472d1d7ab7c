"""What a template is given to print: pure, so each in a table of cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from gardener.jobs import Job, JobKind, JobState
from gardener.overviews import Cause
from gardener.proposals import Proposal, ProposalStatus
from radar.elements import PageSnapshot
from repair_ladder.operations import apply_operations
from repair_ladder.step_format import read_operation, write_step
from repair_ladder.steps import read_place, show_place, step_at
from tests.builders import a_page, index_of, steps_of
from web import forms, paging
from web.presenters import diffs, progress, queue, sketches, words

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7199, "1 hour ago"),
        (7200, "2 hours ago"),
        (9e5, "10 days ago"),
    ],
)
def test_ages_are_told_in_the_largest_unit(seconds: float, said: str) -> None:
    assert words.ago(NOW - timedelta(seconds=seconds), NOW) == said


def test_text_is_cut_to_one_line_without_what_steers() -> None:
    assert words.cut("a\n\x1b[31mb\u202ec", 300) == "a [31mb c"
    assert words.cut("x" * 400, 10) == "x" * 9 + "…"


# --- diffs -----------------------------------------------------------------------------------------------

STEPS = steps_of(
    {"goto": "/"},
    {"fill": {"label": "Email", "value": "a"}},
    {
        "intent": {
            "goal": "pay",
            "steps": [{"click": {"css": "#a"}}, {"click": {"css": "#b"}}, {"click": {"css": "#c"}}],
        }
    },
    {"assert_text": {"css": "h1", "equals": "Done"}},
)


def an_operation(op: str, step: int | str, new: Any = None, reason: str = "") -> dict[str, Any]:
    old = write_step(step_at(STEPS, read_place(step))) if op != "insert" else None
    return {"op": op, "step": step, "old": old, "new": new, "reason": reason}


def shown(operations: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(row.how, row.old.place, row.new.place) for row in diffs.diff(operations, STEPS)]


def test_a_replaced_step_stands_beside_its_successor_between_its_neighbours() -> None:
    rows = diffs.diff([an_operation("replace", 2, {"fill": {"label": "E-mail", "value": "a"}}, "renamed")], STEPS)

    assert [row.how for row in rows] == ["same", "replace", "same"]
    assert (rows[1].old.kind, rows[1].reason) == ("fill", "renamed")
    assert "".join(piece.text for piece in rows[1].old.pieces) == 'label: "Email", value: "a"'
    assert [piece.text for piece in rows[1].old.pieces if piece.changed] == ["Email"]
    assert [piece.text for piece in rows[1].new.pieces if piece.changed] == ["E-mail"]


@pytest.mark.parametrize(
    ("operations", "rows"),
    [
        ([an_operation("insert", 0, {"click": {"css": "#ok"}})], [("insert", "", "1"), ("same", "1", "2")]),
        (
            [an_operation("insert", 2, {"click": {"css": "#x"}}), an_operation("insert", 2, {"click": {"css": "#y"}})],
            [("same", "2", "2"), ("insert", "", "3"), ("insert", "", "4"), ("same", "3", "5")],
        ),
        ([an_operation("delete", 2)], [("same", "1", "1"), ("delete", "2", ""), ("same", "3", "2")]),
        (
            [an_operation("replace", "3.2", {"click": {"css": "#d"}})],
            [("same", "3.1", "3.1"), ("replace", "3.2", "3.2"), ("same", "3.3", "3.3")],
        ),
        ([an_operation("insert", 4, {"click": {"css": "#x"}})], [("same", "4", "4"), ("insert", "", "5")]),
    ],
    ids=["insert first", "two inserts", "delete", "in a block", "insert last"],
)
def test_rows_are_numbered_on_both_sides(operations: list[dict[str, Any]], rows: list[tuple[str, str, str]]) -> None:
    assert shown(operations) == rows


def test_the_numbers_at_the_right_are_those_of_the_repaired_steps() -> None:
    operations = [
        an_operation("delete", 1),
        an_operation("insert", 2, {"click": {"css": "#x"}}),
        an_operation("insert", "3.1", {"click": {"css": "#y"}}),
        an_operation("replace", "3.3", {"click": {"css": "#z"}}),
    ]
    after = apply_operations(STEPS, tuple(read_operation(one) for one in operations))

    for row in diffs.diff(operations, STEPS):
        if not row.new.is_empty:
            assert step_at(after, read_place(row.new.place)).kind == row.new.kind, show_place(read_place(row.new.place))


def test_without_the_steps_only_what_changes_is_shown() -> None:
    assert [row.how for row in diffs.diff([an_operation("delete", 2)])] == ["delete"]


# --- the queue -------------------------------------------------------------------------------------------


def a_proposal(**changed: Any) -> Proposal:
    proposal = Proposal(
        id=7,
        project=1,
        test=3,
        test_name="checkout",
        version=1,
        status=ProposalStatus.PROPOSED,
        proven=True,
        strategy="self_heal",
        operations=(an_operation("delete", 2),),
        refusals=(),
        triggers=(),
        failed_step="2",
        error="nothing",
        restated=0,
        reason="the field is gone",
        change_key="k",
        created_at=NOW,
    )
    return replace(proposal, **changed)


def test_a_change_that_touches_several_steps_is_one_trigger() -> None:
    change = {"page": "/", "kind": "name", "element": "button Pay", "before": "Pay", "after": "Buy", "why": "gone"}

    (found,) = queue.triggers([{**change, "step": 3}, {**change, "step": 5}, {**change, "step": 5}])

    assert (found.what, found.steps) == ("button Pay got another name: Pay → Buy", "3, 5")


def test_cards_with_one_cause_side_by_side_are_one_group() -> None:
    cards = [
        (queue.card(a_proposal(id=number)), key) for number, key in ((1, "a"), (2, "a"), (3, "b"), (4, "c"), (5, "a"))
    ]

    found = queue.groups(cards, {"a": Cause("a", 12, 9)})

    assert [[one.id for one in group.cards] for group in found] == [[1, 2], [3], [4], [5]]
    assert (found[0].number, found[0].proven, found[1].number) == (12, 9, 1)


def test_what_was_withheld_says_which_step_and_why() -> None:
    refusal = an_operation("replace", 4, {"assert_text": {"css": "h1", "equals": "Error"}}, "only a person may")

    (found,) = queue.held([refusal])

    assert found.step == "4"
    assert found.what == 'assert_text css: "h1", equals: "Done" → assert_text css: "h1", equals: "Error"'
    assert found.reason == "Only a person may."


@pytest.mark.parametrize(
    ("operations", "said"),
    [
        ([an_operation("delete", 2)], "takes out step 2"),
        (
            [an_operation("insert", 1, {"reload": None}), an_operation("insert", 1, {"back": None})],
            "adds steps after 1",
        ),
        ([an_operation("replace", 2, {"reload": None}), an_operation("delete", 4)], "changes step 2; takes out step 4"),
    ],
)
def test_what_a_repair_changes_is_told_in_a_few_words(operations: list[dict[str, Any]], said: str) -> None:
    assert queue.summary(operations) == said


# --- sketches --------------------------------------------------------------------------------------------

PAGE = a_page(
    'main\n  h1 "Basket & <b>more</b>"\n  input#email name=email label="Email"\n  button#pay "Pay </text><script>"'
)


def test_a_sketch_marks_the_element_and_is_nothing_but_a_picture() -> None:
    drawn = sketches.sketch(PAGE, index_of(PAGE, id="pay"), tone="after")

    root = ElementTree.fromstring(drawn)
    tags = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert tags == {"svg", "rect", "text"}
    assert [one for one in root.iter() if one.get("stroke") == sketches.TONES["after"]] != []
    assert "Pay </text><script>" in [one.text for one in root.iter()]
    assert not any(name.startswith("on") or "href" in name for one in root.iter() for name in one.attrib)


@pytest.mark.parametrize("target", [None, -1, 9999])
def test_a_sketch_without_its_element_shows_the_page(target: int | None) -> None:
    drawn = sketches.sketch(PAGE, target, tone="before")

    assert sketches.TONES["before"] not in drawn
    assert "Basket &amp; &lt;b&gt;" in drawn


def test_a_sketch_of_an_empty_page_can_be_drawn() -> None:
    ElementTree.fromstring(sketches.sketch(PageSnapshot("http://shop.test/"), None, tone="before"))


def test_the_window_is_around_the_element_and_on_the_page() -> None:
    long = a_page("main\n" + "\n".join(f'  p "line {number}"' for number in range(100)))
    last = long.elements[-1]

    window = sketches.window_of(long, last.box)

    assert window.shows(last.box)
    assert not window.shows(long.elements[3].box)
    assert window.y + window.height <= last.box.y + last.box.height + 17


def test_a_sketch_is_told_to_those_who_do_not_see_it() -> None:
    assert sketches.describe(PAGE, index_of(PAGE, id="email")) == "Sketch of the page Shop with textbox “Email” marked"


# --- jobs ------------------------------------------------------------------------------------------------


def a_job(**changed: Any) -> Job:
    job = Job(1, 1, JobKind.SWEEP, JobState.DONE, {}, NOW)
    return replace(job, **changed)


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (a_job(kind=JobKind.RUN, payload={"tests": []}), "Run of all tests in service"),
        (a_job(kind=JobKind.RUN, payload={"tests": ["checkout"]}), "Run of “checkout”"),
        (a_job(kind=JobKind.REPAIR, payload={"run": 4, "only": None}), "Whole ladder for run 4"),
        (a_job(kind=JobKind.REPAIR, payload={"run": 4, "only": "suggest_fix"}), "Suggested fix for run 4"),
        (a_job(payload={"base_url": "http://pr.test"}), "Sweep of the preview http://pr.test"),
    ],
)
def test_a_job_is_called_after_what_was_asked_for(job: Job, said: str) -> None:
    assert progress.title(job) == said


def test_every_kind_of_job_has_a_name() -> None:
    assert all(progress.title(a_job(kind=one, payload={"run": 1})) for one in JobKind)


def test_what_a_failed_job_says_is_shown() -> None:
    assert progress.ending(a_job(state=JobState.FAILED, result={"error": "no browser"})) == "no browser"


def test_what_is_nothing_to_a_person_is_no_line() -> None:
    assert progress.line("something_new", {"a": 1}) is None


# --- forms and slices ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [(None, 1), ("", 1), ("0", 1), ("-3", 1), ("7", 7), ("x", 1), ("٣", 1), ("9" * 40, 1)],
)
def test_a_page_that_is_no_number_is_the_first(text: str | None, number: int) -> None:
    assert forms.read_page(text) == number


def test_a_slice_past_the_end_leads_back() -> None:
    found = paging.pager("/list", paging.Wanted(9, 20), 45, {"state": "x y", "empty": ""})

    assert (found.first_row, found.last_row, found.after) == (0, 0, "")
    assert found.before == "/list?state=x+y&page=3"


def test_settings_of_a_form_are_those_of_the_command() -> None:
    sent = forms.Form({"base_url": " http://a.test ", "urls": "/a\r\n\r\n /b ,/c", "side_by_side": "2"})

    changes = forms.read_settings_form(sent, {"auto_repair", "staging"}, {"urls"})

    assert changes["base_url"] == "http://a.test"
    assert changes["urls"] == "/a,/b,/c"
    assert changes["auto_repair"] == changes["staging"] == "false"
