"""Deciding about all tests that one drift broke, or some of them: each by itself, and each one answered."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from gardener.actions import deciding
from gardener.jobs import JobKind
from gardener.proposals import Proposal, ProposalStatus
from gardener.store import projects
from gardener.store.rows import ProposalRow
from tests.acceptance.shop import RENAMED, checkouts
from tests.web.conftest import Office, Visitor


async def broken(office: Office, count: int = 4) -> tuple[str, list[Proposal]]:
    """So many tests that one drift broke: the address of their cause, and what waits, by the names of the tests."""
    await office.world.settle(most_dry_runs=50)
    await office.world.save(*checkouts(count))
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = RENAMED
    await office.world.sweep()
    waiting = sorted(await office.world.queue(), key=lambda one: one.test_name)
    return f"/projects/1/causes/{waiting[0].cause}", waiting


async def send(ada: Visitor, path: str, *chosen: int) -> None:
    """As the form of the page would: a field for each box that is ticked."""
    data = {"csrf": ada.token, "proposal": [str(one) for one in chosen]}
    headers = {"referer": f"http://127.0.0.1{ada.path}"}
    ada._keep(await ada.client.post(path, data=data, headers=headers, follow_redirects=True))


async def statuses(office: Office) -> dict[str, str]:
    return {one.test_name: one.status.value for one in await office.world.proposals()}


async def test_the_page_of_a_cause_shows_the_change_once_and_every_test_with_a_box(office: Office) -> None:
    path, waiting = await broken(office)
    ada = await office.ada()
    await ada.get("/projects/1/radar")
    linked = f'href="{path}"' in ada.page

    await ada.get(path)

    assert linked
    assert "4 tests broken by the same change, 4 proven" in ada.text
    assert ada.page.count('<table class="diff">') == 1
    assert [f'value="{one.id}" checked' in ada.page for one in waiting] == [True] * 4


async def test_some_are_approved_and_the_rest_waits(office: Office) -> None:
    path, waiting = await broken(office)
    ada = await office.ada()
    await ada.get(path)

    await send(ada, f"{path}/approve", waiting[0].id, waiting[2].id)

    assert "Approved: 2 of 2" in ada.text
    assert "2 tests of this cause wait still" in ada.text
    assert list((await statuses(office)).values()).count("applied") == 2
    assert {one.test_name for one in await office.world.queue()} == {waiting[1].test_name, waiting[3].test_name}


async def test_some_are_dismissed(office: Office) -> None:
    path, waiting = await broken(office)
    ada = await office.ada()
    await ada.get(path)

    await send(ada, f"{path}/dismiss", waiting[1].id)

    assert "Dismissed: 1 of 1" in ada.text
    assert (await statuses(office))[waiting[1].test_name] == "dismissed"
    assert len(await office.world.queue()) == 3


async def test_g58_one_that_no_longer_fits_is_told_as_stale_and_holds_up_no_other(office: Office) -> None:
    path, waiting = await broken(office)
    ada = await office.ada()
    await ada.get(path)
    edited = next(one for one in checkouts(4) if one.name == waiting[1].test_name)
    await office.world.save(replace(edited, steps=edited.steps[:-1] + (edited.steps[-1],) * 2))
    await deciding.dismiss(office.world.tools, waiting[2].id, "Ben")

    await send(ada, f"{path}/approve", *[one.id for one in waiting])

    assert "Approved: 2 of 4" in ada.text
    assert f"stale {waiting[1].test_name} Proposal {waiting[1].id} is stale" in ada.text
    assert f"not done {waiting[2].test_name} Proposal {waiting[2].id} is dismissed already by Ben" in ada.text
    assert list((await statuses(office)).values()).count("applied") == 2


async def test_one_that_is_not_proven_is_run_only_where_it_was_chosen(office: Office) -> None:
    path, waiting = await broken(office, 3)
    async with office.world.store.transaction() as tx:
        values = {"proven": False, "proof_run": None}
        await tx.run(update(ProposalRow).where(ProposalRow.id == waiting[0].id).values(**values))
    ada = await office.ada()
    await ada.get(path)
    offered = f'value="{waiting[0].id}"> {waiting[0].test_name}' in ada.page  # and not ticked

    await ada.send(f"{path}/approve", which="all")
    after_all = (ada.text, await office.world.jobs())
    await send(ada, f"{path}/approve", waiting[0].id)

    assert offered
    assert "Approved: 2 of 2" in after_all[0]
    assert [one for one in after_all[1] if one.kind == JobKind.APPROVE] == []
    assert f"being proved {waiting[0].test_name}" in ada.text
    (job,) = [one for one in await office.world.jobs() if one.kind == JobKind.APPROVE]
    await office.world.work(job.id)
    assert set((await statuses(office)).values()) == {"applied"}


async def test_nothing_chosen_does_nothing(office: Office) -> None:
    path, _ = await broken(office, 2)
    ada = await office.ada()
    await ada.get(path)

    await send(ada, f"{path}/approve")

    assert (ada.path, ada.said) == (path, "None was chosen.")
    assert len(await office.world.queue()) == 2


async def test_only_what_is_of_the_cause_and_the_project_is_decided(office: Office) -> None:
    path, waiting = await broken(office, 2)
    async with office.world.store.transaction() as tx:
        other = await projects.add(tx, "books", "http://books.test", now=office.world.clock())
    ada = await office.ada()
    await ada.get(path)

    await send(ada, path.replace("/projects/1/", f"/projects/{other.id}/") + "/approve", waiting[0].id)
    await ada.get(path)
    await send(ada, "/projects/1/causes/000000000000/dismiss", waiting[0].id)

    assert len(await office.world.queue()) == 2
    assert await office.world.history() == ()


@pytest.mark.parametrize("key", ["x", "0" * 13, "%3Cb%3E"])
async def test_a_cause_that_is_none_is_not_there(office: Office, key: str) -> None:
    ada = await office.ada()

    await ada.get(f"/projects/1/causes/{key}")

    assert ada.status == 404


async def test_page_and_command_mean_the_same_by_one_cause(office: Office) -> None:
    path, waiting = await broken(office, 3)
    ada = await office.ada()
    await ada.get(path)

    made, refused = await deciding.approve_cause(office.world.tools, waiting[0].id, "Ada")

    assert all(one.test_name in ada.text for one in made)
    assert (len(made), refused) == (3, ())
    assert await office.world.proposals([ProposalStatus.PROPOSED]) == ()
