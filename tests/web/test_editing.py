"""A test is edited on its page: the same reader as import, and nobody writes over what somebody else wrote."""

from __future__ import annotations

import re
from html import unescape

import pytest
from sqlalchemy import update

from gardener.actions import deciding
from gardener.proposals import ProposalStatus
from gardener.saved_tests import Status
from gardener.store import audit, saved_tests
from gardener.store.rows import SavedTestRow
from tests.acceptance.shop import CHECKOUT, HELPING
from tests.builders import a_test
from tests.web.conftest import Office, Visitor

EDITED = """\
name: checkout
tags: [smoke]
steps:
  - goto: /   # the shop
  - fill: {label: Email, value: ben@example.com}
  - click: {css: "#pay"}
  - assert_text: {role: status, contains: Thank you}
"""


def text_in(ada: Visitor) -> str:
    found = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", ada.page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def version_in(ada: Visitor) -> str:
    found = re.search(r'name="version" value="(\d+)"', ada.page)
    assert found is not None
    return found[1]


async def open_form(office: Office) -> Visitor:
    await office.world.save(CHECKOUT, HELPING)
    ada = await office.ada()
    await ada.get("/tests/1/edit")
    return ada


async def test_the_text_is_saved_as_it_was_typed_and_makes_a_version(office: Office) -> None:
    ada = await open_form(office)
    offered = text_in(ada)

    await ada.send("/tests/1/edit", version="1", text=EDITED.replace("\n", "\r\n"))

    test = await office.world.test()
    assert "- goto: /" in offered
    assert (ada.path, ada.said) == ("/tests/1", "Saved as version 2.")
    assert (test.version, test.tags, test.source) == (2, ("smoke",), EDITED)
    await ada.get("/tests/1/edit")
    assert text_in(ada) == EDITED  # the comment is kept
    assert "edit by Ada" in (await ada.get("/tests/1") and ada.text)
    async with office.world.store.reading() as tx:
        assert [one.what for one in await audit.listed(tx, project=1)].count("edit test") == 1


async def test_saving_it_as_it_is_changes_nothing(office: Office) -> None:
    ada = await open_form(office)

    await ada.send("/tests/1/edit", version="1", text=text_in(ada))

    assert ada.said == "Saved; the steps are as they were."
    assert (await office.world.test()).version == 1


BROKEN = {
    "a step": (EDITED.replace("click: {css", "clicks: {css"), "Line 6: step 3: 'clicks' is not a kind of step"),
    "YAML": (EDITED.replace("[smoke]", "[smoke"), "Line 3: not YAML"),
    "no step": ("name: checkout\nsteps: []\n", "the test has no steps"),
    "nothing": ("", "empty; expected a test"),
    "two tests": ("- {name: checkout, steps: [back]}\n- {name: b, steps: [back]}\n", "holds 2 tests"),
    "another name": (EDITED.replace("name: checkout", "name: other"), "here it stays 'checkout', got 'other'"),
    "an upload": (EDITED + "  - upload: {css: input, files: [x.png]}\n", "the upload 'x.png' is not kept with this"),
    "a way out": (EDITED + "  - upload: {css: input, files: [../key]}\n", "upload"),
    "itself": (EDITED + "  - use: checkout\n", "checkout"),
    "a null byte": (EDITED + "\x00", "null bytes"),
    "deep": ("name: checkout\nsteps: " + "[" * 5000, "nested"),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_what_cannot_be_read_is_told_with_its_line_and_the_text_stays(office: Office, case: str) -> None:
    text, says = BROKEN[case]
    ada = await open_form(office)

    await ada.send("/tests/1/edit", version="1", text=text)

    assert ada.status == 422
    assert says.lower() in ada.text.lower()
    if case == "a step":
        assert '6 | - clicks: {css: "#pay"}' in ada.text
    assert 'role="alert"' in ada.page
    assert text_in(ada) == text.replace("\x00", "�") or text_in(ada) == text
    assert (await office.world.test()).version == 1


async def test_what_somebody_else_wrote_meanwhile_is_not_written_over(office: Office) -> None:
    ada = await open_form(office)
    await office.world.save(a_test({"goto": "/help"}, {"assert_text": {"css": "h1", "equals": "Help"}}), by="Ben")

    await ada.send("/tests/1/edit", version="1", text=EDITED)
    told, kept, now = ada.text, text_in(ada), await office.world.test()
    await ada.send("/tests/1/edit", version=version_in(ada), text=EDITED)

    assert "was changed by Ben meanwhile: it is at version 2, you began with version 1" in told
    assert kept == EDITED
    assert now.version == 2
    assert "Save over version 2" in told
    assert (await office.world.test()).source == EDITED  # a person who was told may do it


async def test_g58_a_repair_that_waits_becomes_stale(office: Office) -> None:
    await office.staged()
    ada = await office.ada()
    await ada.get("/tests/1/edit")
    warned = ada.text

    await ada.send("/tests/1/edit", version="1", text=EDITED)

    assert "A repair waits for this test" in warned
    assert "The repair that waited is stale now." in ada.said
    (row,) = await office.world.proposals()
    assert row.status == ProposalStatus.STALE


async def test_an_edit_behind_a_repair_is_not_reverted_away(office: Office) -> None:
    await office.staged()
    await deciding.approve(office.world.tools, 1, "Ada")
    ada = await office.ada()
    await ada.get("/tests/1/edit")

    await ada.send("/tests/1/edit", version="2", text=EDITED)
    await ada.send("/repairs/1/revert")

    assert "no longer fits" in ada.said
    assert (await office.world.test()).source == EDITED


async def test_a_test_that_is_out_of_service_is_not_put_into_service_by_an_edit(office: Office) -> None:
    """The text of its file says nothing of its status, which is then "active"."""
    await office.world.save(CHECKOUT)
    async with office.world.store.transaction() as tx:
        source = "name: checkout\nsteps:\n  - goto: /\n"
        await tx.run(update(SavedTestRow).values(source=source))
        await saved_tests.set_status(tx, 1, Status.DRAFT)
    ada = await office.ada()
    await ada.get("/tests/1/edit")

    await ada.send("/tests/1/edit", version="1", text=text_in(ada))

    assert "status: draft" in text_in(await _again(ada))
    assert (await office.world.test()).status == Status.DRAFT


async def _again(ada: Visitor) -> Visitor:
    await ada.get("/tests/1/edit")
    return ada


async def test_a_test_is_taken_out_of_service_and_put_back(office: Office) -> None:
    await office.world.save(CHECKOUT)
    ada = await office.ada()
    await ada.get("/tests/1")

    await ada.send("/tests/1/status", status="archived")
    archived, said = await office.world.test(), ada.said
    await ada.send("/tests/1/status", status="draft")
    refused = ada.said
    await ada.send("/tests/1/status", status="active")

    assert archived.status == Status.ARCHIVED
    assert said == "It is archived: nothing runs it by itself."
    assert "can be made active" in refused
    assert (await office.world.test()).status == Status.ACTIVE
    kinds = [one.kind.value for one in await office.world.events()]
    assert kinds.count("test_edited") == 2


async def test_a_long_test_is_edited_and_one_that_is_too_long_is_told(office: Office) -> None:
    ada = await open_form(office)
    steps = "".join(f"  - goto: /page-{number}\n" for number in range(3000))

    await ada.send("/tests/1/edit", version="1", text=f"name: checkout\nsteps:\n{steps}")
    saved = await office.world.test()
    await ada.send("/tests/1/edit", version="2", text="x" * 450_000)

    assert len(saved.steps) == 3000
    assert ada.status == 422
    assert "too long for a page" in ada.text
    await ada.send("/tests/1/edit", version="2", text="x" * 1_600_000)
    assert ada.status == 413


async def test_no_other_form_takes_as_much(office: Office) -> None:
    nobody = await office.somebody()
    await nobody.get("/sign-in")

    await nobody.send("/sign-in", name="x" * 200_000, password="y")

    assert nobody.status == 413
