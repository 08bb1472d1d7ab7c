"""The pages of a change that many tests share: one card, what it does to each, and an approval that runs them first."""

from __future__ import annotations

from gardener.jobs import JobKind
from tests.acceptance.shop import RENAMED
from tests.builders import a_test
from tests.web.conftest import Office

PAY = a_test({"click": {"css": "#pay"}}, name="pay", status="draft", variables={})
THANKED = {"assert_text": {"role": "status", "contains": "Thank you"}}


async def waiting(office: Office) -> int:
    tests = [a_test({"goto": "/"}, {"use": "pay"}, THANKED, name=name) for name in ("one", "two")]
    await office.world.save(PAY, *tests)
    await office.world.run()
    await office.world.sweep()
    office.world.app.release = RENAMED
    await office.world.sweep()
    (row,) = await office.world.queue()
    return row.id


async def test_a_change_of_a_fragment_is_one_card_with_the_tests_that_it_mends(office: Office) -> None:
    number = await waiting(office)
    ada = await office.ada()

    await ada.get("/projects/1/radar")
    card = ada.text
    await ada.get(f"/proposals/{number}")

    assert card.count("One change that heals 2 tests ('one', 'two')") == 1
    assert "Fails at step 2.1 of one:" in ada.text
    assert "The tests that share it" in ada.text
    assert "mended two" in ada.text
    assert f"/proposals/{number}/pictures/before" in ada.page
    assert f"/proposals/{number}/pictures/after" in ada.page


async def test_approving_it_runs_the_tests_in_a_job_and_its_repair_names_them(office: Office) -> None:
    number = await waiting(office)
    ada = await office.ada()
    await ada.get(f"/proposals/{number}")

    await ada.send(f"/proposals/{number}/approve")

    assert await office.world.history() == ()
    (job,) = [one for one in await office.world.jobs() if one.kind == JobKind.APPROVE]
    await office.world.work(job.id)
    (repair,) = await office.world.history()
    await ada.get(f"/repairs/{repair.id}")
    assert "One change that heals 2 tests" in ada.text
    assert "The tests it mended will fail again: 'one', 'two'." in ada.text
