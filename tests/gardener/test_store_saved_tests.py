"""Covers gardener/store/projects.py and saved_tests.py."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gardener.errors import Conflict, NotFound, Refused
from gardener.projects import Project, ProjectSettings
from gardener.saved_tests import SavedTest, Status
from gardener.store import Store, Transaction, projects, saved_tests
from radar.locators import Locator
from repair_ladder.formats import Secret, WrittenTest
from repair_ladder.steps import Step, Steps
from tests.gardener.conftest import CHECKOUT, NOW, STEPS, a_checkout, a_shop

EDITED = (*STEPS, Step("click", Locator(text="Log out")))


async def _import(tx: Transaction, shop: Project, written: WrittenTest, folder: str | None = None) -> SavedTest:
    return await saved_tests.import_test(tx, shop.id, written, folder=folder, author="Ben", now=NOW)


async def _write(tx: Transaction, test: SavedTest, version: int, steps: Steps = EDITED) -> SavedTest:
    return await saved_tests.write_steps(
        tx, test.id, version, steps=steps, source=None, author="Ada", cause="repair", now=NOW
    )


async def test_a_project_is_found_by_its_name_with_its_settings(store: Store) -> None:
    settings = ProjectSettings(urls=("/a", "/b"), side_by_side=3, locale="de", staging=True)
    async with store.transaction() as tx:
        added = await projects.add(tx, "shop", "http://shop.test", now=NOW, auto_repair=True, settings=settings)

    async with store.reading() as tx:
        assert await projects.get(tx, "shop") == added == await projects.by_id(tx, added.id)
        assert await projects.listed(tx) == (added,)
    assert added.settings == settings
    assert added.auto_repair is True


async def test_a_name_that_is_taken_is_refused(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        with pytest.raises(Refused, match="'shop' already"):
            await a_shop(tx)
        for name in ("", "  ", "two\nlines", "x" * 201):
            with pytest.raises(Refused, match="one line"):
                await a_shop(tx, name)


async def test_a_name_that_is_not_there_is_answered_with_those_that_come_near(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await a_checkout(tx, shop)
        with pytest.raises(NotFound, match="'shpo'; near it: 'shop'"):
            await projects.get(tx, "shpo")
        with pytest.raises(NotFound, match=r"'chekout'.*near it: 'checkout'"):
            await saved_tests.get(tx, shop.id, "chekout")
        with pytest.raises(NotFound, match="there are: 'checkout'"):
            await saved_tests.get(tx, shop.id, "z" * 100_000)
        with pytest.raises(NotFound):
            await saved_tests.by_id(tx, 10**30)


async def test_updating_a_project_changes_what_is_given_and_leaves_the_rest(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        changed = await projects.update(tx, shop.id, auto_repair=True, settings=ProjectSettings(side_by_side=2))

    assert changed == replace(shop, auto_repair=True, settings=ProjectSettings(side_by_side=2))
    async with store.reading() as tx:
        assert await projects.auto_repair_of(tx, shop.id) is True
        with pytest.raises(NotFound):
            await projects.auto_repair_of(tx, 999)


async def test_an_imported_test_comes_back_as_it_was_written(store: Store, shop: Project) -> None:
    nested = Step("intent", None, {"goal": "buy", "values": {"b": "1", "a": "2"}}, steps=STEPS, never_repair=True)
    written = replace(CHECKOUT, steps=(*STEPS, nested), source="name: checkout\n")

    async with store.transaction() as tx:
        saved = await _import(tx, shop, written, folder="files/7")

    async with store.reading() as tx:
        read = await saved_tests.get(tx, shop.id, "checkout")
        first = await saved_tests.version(tx, saved.id, 1)
    assert read == saved
    assert read.written() == replace(written, source=None)
    assert (read.version, read.source, read.folder, read.flagged) == (1, written.source, "files/7", False)
    assert list(read.steps[-1].parameters["values"]) == ["b", "a"]
    assert (first.steps, first.author, first.cause, first.created_at) == (written.steps, "Ben", "import", NOW)


async def test_the_same_test_again_changes_nothing_but_the_text_it_stands_in(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        first = await _import(tx, shop, CHECKOUT)
        second = await _import(tx, shop, replace(CHECKOUT, source="# a remark\n"))

        assert second == replace(first, source="# a remark\n")
        assert len(await saved_tests.versions(tx, first.id)) == 1


async def test_status_and_tags_change_without_a_new_version(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        await _import(tx, shop, CHECKOUT)
        changed = await _import(tx, shop, replace(CHECKOUT, status="archived", tags=("slow",)))

        assert (changed.version, changed.status, changed.tags) == (1, Status.ARCHIVED, ("slow",))
        assert await saved_tests.listed(tx, shop.id, statuses=[Status.ACTIVE]) == ()
        assert await saved_tests.listed(tx, shop.id, statuses=[Status.ARCHIVED, Status.DRAFT]) == (changed,)


@pytest.mark.parametrize(
    "change", [{"steps": EDITED}, {"variables": {"user": "ben@example.com", "password": Secret("SHOP_PASSWORD")}}]
)
async def test_other_steps_or_variables_make_a_new_version(
    store: Store, shop: Project, change: dict[str, object]
) -> None:
    async with store.transaction() as tx:
        first = await _import(tx, shop, CHECKOUT)
        second = await _import(tx, shop, replace(CHECKOUT, **change))  # type: ignore[arg-type]

        assert (second.id, second.version) == (first.id, 2)
        assert [one.version for one in await saved_tests.versions(tx, first.id)] == [2, 1]
        assert (await saved_tests.version(tx, first.id, 1)).steps == STEPS


async def test_steps_are_written_if_the_version_is_still_the_expected_one(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        written = await _write(tx, checkout, 1)
        assert written == replace(checkout, version=2, steps=EDITED)
        with pytest.raises(Conflict, match="'checkout' is at version 2 by now, this was worked out on version 1"):
            await _write(tx, checkout, 1, STEPS)

        assert await saved_tests.by_id(tx, checkout.id) == written


async def test_of_two_that_write_steps_at_once_one_wins(store: Store, second_store: Store, checkout: SavedTest) -> None:
    async def write(through: Store) -> str:
        try:
            async with through.transaction() as tx:
                await _write(tx, checkout, 1)
        except Conflict:
            return "lost"
        return "won"

    assert sorted(await asyncio.gather(write(store), write(second_store))) == ["lost", "won"]
    async with store.reading() as tx:
        assert (await saved_tests.by_id(tx, checkout.id)).version == 2


async def test_of_two_that_import_a_new_test_at_once_one_makes_it(
    store: Store, second_store: Store, shop: Project
) -> None:
    async def import_through(through: Store) -> SavedTest:
        async with through.transaction() as tx:
            return await _import(tx, shop, CHECKOUT)

    first, second = await asyncio.gather(import_through(store), import_through(second_store))

    assert first == second
    assert first.version == 1


async def test_marks_are_set_beside_the_version(store: Store, checkout: SavedTest) -> None:
    async with store.transaction() as tx:
        await saved_tests.set_flagged(tx, checkout.id, True)
        await saved_tests.set_status(tx, checkout.id, Status.PENDING)

        changed = await saved_tests.by_id(tx, checkout.id)
    assert changed == replace(checkout, flagged=True, status=Status.PENDING)


async def test_a_name_nobody_can_keep_is_refused(store: Store, shop: Project) -> None:
    async with store.transaction() as tx:
        for name in ("", " ", "x" * 201):
            with pytest.raises(Refused, match="name of a test"):
                await _import(tx, shop, replace(CHECKOUT, name=name))
