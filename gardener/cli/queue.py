"""The queue of staged repairs, the history, issues, costs and lessons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rich_click as click

from gardener import screen
from gardener.actions import answering, costing, deciding, learning
from gardener.cli.terminal import by_option, cli, console, do, json_option, print_json, project_named
from gardener.lessons import Lesson
from gardener.models import model_of
from gardener.projects import why_queue_is_empty
from gardener.proposals import ProposalStatus
from gardener.repairs import Repair
from gardener.results import issue_shape, proposal_shape, repair_shape
from gardener.store import at_risk, issues, proposals, repairs
from gardener.store import sweeps as sweep_rows
from gardener.stories import ANSWERS
from gardener.tools import Tools


@cli.command("staged")
@click.argument("project_name", metavar="PROJECT")
@json_option
def staged(project_name: str, as_json: bool) -> None:
    """Repairs that wait for a person."""

    async def work(tools: Tools) -> tuple[list[dict[str, Any]], str]:
        one = await project_named(tools, project_name)
        async with tools.store.reading() as tx:
            rows = await proposals.listed(tx, one.id, statuses=[ProposalStatus.PROPOSED])
            swept = await sweep_rows.latest(tx, one.id) is not None
            left = await at_risk.count(tx, one.id)
        has_key = model_of(tools.settings, one).can_be_asked
        _, why = why_queue_is_empty(one, swept=swept, at_risk_left=left, has_key=has_key)
        return [proposal_shape(row) for row in rows], why

    rows, why = do(work, quiet=as_json)
    print_json({"proposals": rows, "why_empty": None if rows else why}) if as_json else screen.show_staged(
        console(), rows, why
    )


@cli.command("history")
@click.argument("project_name", metavar="PROJECT")
@json_option
def history(project_name: str, as_json: bool) -> None:
    """What was changed, newest first."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await project_named(tools, project_name)
        async with tools.store.reading() as tx:
            return [repair_shape(row) for row in await repairs.listed(tx, one.id)]

    rows = do(work, quiet=as_json)
    print_json({"repairs": rows}) if as_json else screen.show_history(console(), rows)


@cli.command("issues")
@click.argument("project_name", metavar="PROJECT")
@json_option
def issues_(project_name: str, as_json: bool) -> None:
    """Open triage issues, escalations and findings about the environment."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await project_named(tools, project_name)
        async with tools.store.reading() as tx:
            return [issue_shape(row) for row in await issues.listed(tx, one.id)]

    rows = do(work, quiet=as_json)
    print_json({"issues": rows}) if as_json else screen.show_issues(console(), rows)


@cli.command("costs")
@click.argument("project_name", metavar="PROJECT")
@click.option("--days", type=click.IntRange(1, 366), default=14, show_default=True, help="How far back.")
@json_option
def costs(project_name: str, days: int, as_json: bool) -> None:
    """What models have cost: by day and by case, with the budgets and what they stopped."""

    async def work(tools: Tools) -> dict[str, Any]:
        return await costing.costs(tools, await project_named(tools, project_name), days=days)

    answer = do(work, quiet=as_json)
    print_json(answer) if as_json else screen.show_costs(console(), answer)


@cli.command("approve")
@click.argument("proposal", type=int, metavar="ID")
@click.option("--same-cause", is_flag=True, help="Also all others that wait because of the same drift.")
@by_option
@json_option
def approve(proposal: int, same_cause: bool, by: str | None, as_json: bool) -> None:
    """Write a staged repair; one that is not proven yet is proved first."""

    async def work(tools: Tools) -> tuple[tuple[Repair, ...], tuple[str, ...]]:
        who = by or tools.settings.by
        if same_cause:
            return await deciding.approve_cause(tools, proposal, who)
        return (await deciding.approve(tools, proposal, who),), ()

    made, refused = do(work, quiet=as_json)
    if as_json:
        every = {"repairs": [one.id for one in made], "refused": list(refused)} if same_cause else {}
        print_json({"repair": made[0].id, **every})
        return
    for one in made:
        console().print(screen.plain(f"Repair {one.id} of '{one.test_name}' was written, approved by {one.author}."))
    for why in refused:
        console().print(screen.plain(why, "yellow"))


@cli.command("dismiss")
@click.argument("proposal", type=int, metavar="ID")
@by_option
@json_option
def dismiss(proposal: int, by: str | None, as_json: bool) -> None:
    """Decline a staged repair until the test or the app changes."""
    row = do(lambda tools: deciding.dismiss(tools, proposal, by or tools.settings.by), quiet=as_json)
    print_json({"proposal": row.id, "status": row.status.value}) if as_json else console().print(
        screen.plain(f"Proposal {row.id} was dismissed; it comes again only if the test or the app changes.")
    )


@cli.command("revert")
@click.argument("repair_id", type=int, metavar="ID")
@by_option
@json_option
def revert(repair_id: int, by: str | None, as_json: bool) -> None:
    """Restore the steps from before a repair."""

    async def work(tools: Tools) -> tuple[Repair, str]:
        row = await deciding.revert(tools, repair_id, by or tools.settings.by)
        return row, await deciding.warning_of(tools, row)

    row, warning = do(work, quiet=as_json)
    print_json({"repair": row.id}) if as_json else console().print(screen.plain(warning))


@cli.command("answer")
@click.argument("issue", type=int, metavar="ISSUE")
@click.argument("said", type=click.Choice(list(ANSWERS)), metavar="ANSWER")
@by_option
@json_option
def answer_(issue: int, said: str, by: str | None, as_json: bool) -> None:
    """Answer an issue: retry, edit, defect or quarantine."""
    row = do(lambda tools: answering.answer(tools, issue, said, by or tools.settings.by), quiet=as_json)
    print_json(issue_shape(row)) if as_json else console().print(
        screen.plain(f"Issue {row.id} ({', '.join(row.tests)}): {ANSWERS[said]}.")
    )


@cli.command("lessons")
@click.argument("project_name", metavar="PROJECT")
@click.option("--forget", type=int, multiple=True, metavar="ID", help="Delete a lesson; may be given several times.")
@json_option
def lessons_(project_name: str, forget: Sequence[int], as_json: bool) -> None:
    """Proven fixes that are tried first when the same locator breaks elsewhere."""

    async def work(tools: Tools) -> tuple[list[int], list[Lesson]]:
        one = await project_named(tools, project_name)
        gone = [(await learning.forget(tools, one, lesson)).id for lesson in forget]
        return gone, list(await learning.listed(tools, one))

    gone, rows = do(work, quiet=as_json)
    if as_json:
        print_json({"lessons": [row.shape() for row in rows], "forgotten": gone})
        return
    screen.show_lessons(console(), rows, gone)


@cli.command("review")
@click.argument("repair_id", type=int, metavar="ID")
@by_option
@json_option
def review(repair_id: int, by: str | None, as_json: bool) -> None:
    """Somebody looked at a repair: keep the fix, clear the flag."""
    row = do(lambda tools: deciding.review(tools, repair_id, by or tools.settings.by), quiet=as_json)
    print_json({"repair": row.id}) if as_json else console().print(screen.plain(f"Repair {row.id} is reviewed."))
