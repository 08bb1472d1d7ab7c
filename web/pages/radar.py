"""App radar: what sweeps saw, which tests are at risk, and the repairs that wait for a person."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.projects import Project, why_queue_is_empty
from gardener.proposals import ProposalStatus
from gardener.store import Transaction, at_risk, overviews, projects, sweeps
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import overview as present
from web.presenters import queue, radar

A_PAGE = 20
FOLDED = 10  # decided proposals that the page itself shows
NO_LONGER = (ProposalStatus.DISMISSED, ProposalStatus.STALE, ProposalStatus.APPLIED, ProposalStatus.SUPERSEDED)


@get("/projects/{number:int}/radar")
async def index(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    want = paging.wanted(asking.request.query_params.get("page"), A_PAGE)
    async with asking.tools.store.reading() as tx:
        waiting = await overviews.queue(tx, project.id, limit=want.size, offset=want.offset)
        tests = await overviews.by_numbers(tx, [one.test for one in waiting.rows])
        causes = await overviews.causes(tx, project.id, {one.cause for one in waiting.rows})
        numbers = await overviews.proposal_counts(tx, project.id)
        dismissed = await overviews.decided(tx, project.id, [ProposalStatus.DISMISSED], limit=FOLDED)
        stale = await overviews.decided(tx, project.id, [ProposalStatus.STALE], limit=FOLDED)
        swept = await overviews.sweep_lines(tx, project.id, limit=5)
        risky = await overviews.at_risk(tx, project.id, limit=5)
        why = await why_empty(asking, tx, project) if not waiting.total else ""
    cards = [(queue.card(one, tests.get(one.test)), one.cause) for one in waiting.rows]
    return await view.page(
        asking,
        "radar/index.html",
        project=project,
        here="radar",
        groups=queue.groups(cards, causes),
        why_empty=why,
        pager=paging.pager(asking.request.url.path, want, waiting.total),
        numbers={status.value: number for status, number in numbers.items()},
        dismissed=[queue.card(one) for one in dismissed.rows],
        stale=[queue.card(one) for one in stale.rows],
        sweeps=[present.sweep_row(one) for one in swept.rows],
        at_risk=[present.at_risk_row(one) for one in risky.rows],
        risky=risky.total,
    )


async def why_empty(asking: Asking, tx: Transaction, project: Project) -> str:
    """Why nothing waits (G69-G72)."""
    swept = await sweeps.latest(tx, project.id, preview=False) is not None
    left = await at_risk.count(tx, project.id)
    has_key = bool(asking.tools.settings.anthropic_api_key)
    return why_queue_is_empty(project, swept=swept, at_risk_left=left, has_key=has_key)[1]


@get("/projects/{number:int}/decided")
async def decided(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    """What waited once: approved, dismissed, stale, superseded."""
    project = await project_of(asking, number)
    query = asking.request.query_params
    wanted = query.get("status", "")
    statuses = [one for one in NO_LONGER if one.value == wanted] or list(NO_LONGER)
    want = paging.wanted(query.get("page"), A_PAGE)
    async with asking.tools.store.reading() as tx:
        found = await overviews.decided(tx, project.id, statuses, limit=want.size, offset=want.offset)
        numbers = await overviews.proposal_counts(tx, project.id)
    kept = {"status": wanted if len(statuses) == 1 else ""}
    return await view.page(
        asking,
        "radar/decided.html",
        project=project,
        here="radar",
        cards=[queue.card(one) for one in found.rows],
        status=kept["status"],
        numbers=[(one.value, numbers[one]) for one in NO_LONGER],
        pager=paging.pager(asking.request.url.path, want, found.total, kept),
    )


@get("/projects/{number:int}/at-risk")
async def risky(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    want = paging.wanted(asking.request.query_params.get("page"), 50)
    async with asking.tools.store.reading() as tx:
        found = await overviews.at_risk(tx, project.id, limit=want.size, offset=want.offset)
    return await view.page(
        asking,
        "radar/at_risk.html",
        project=project,
        here="radar",
        at_risk=[present.at_risk_row(one) for one in found.rows],
        pager=paging.pager(asking.request.url.path, want, found.total),
    )


@get("/projects/{number:int}/sweeps")
async def all_sweeps(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    project = await project_of(asking, number)
    want = paging.wanted(asking.request.query_params.get("page"), 10)  # each with all that it found
    async with asking.tools.store.reading() as tx:
        found = await overviews.sweep_lines(tx, project.id, limit=want.size, offset=want.offset)
    return await view.page(
        asking,
        "radar/sweeps.html",
        project=project,
        here="radar",
        sweeps=[present.sweep_row(one) for one in found.rows],
        pager=paging.pager(asking.request.url.path, want, found.total),
    )


@get("/sweeps/{number:int}")
async def one_sweep(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        row = await sweeps.get(tx, number)
        project = await projects.by_id(tx, row.project)
    want = paging.wanted(asking.request.query_params.get("page"), 50)
    changes = row.changes[want.offset : want.offset + want.size]
    return await view.page(
        asking,
        "radar/sweep.html",
        project=project,
        here="radar",
        sweep=present.sweep_row(row),
        changes=radar.changes(changes),
        at_risk=radar.at_risk(row),
        dry_runs=radar.dry_runs(row),
        pager=paging.pager(asking.request.url.path, want, len(row.changes)),
    )


HANDLERS = [index, decided, risky, all_sweeps, one_sweep]
