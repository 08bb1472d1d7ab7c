"""One proposal: look at it, approve it, dismiss it, take that back, have it proved again."""

from __future__ import annotations

import re
from typing import Final, Literal

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from gardener.actions import asking as asked
from gardener.actions import deciding
from gardener.errors import Conflict, NotFound, Refused
from gardener.overviews import Cause
from gardener.projects import Project
from gardener.proposals import Proposal, ProposalStatus
from gardener.store import Transaction, overviews, pages, projects, proposals, recordings, runs, saved_tests
from radar.elements import PageSnapshot
from repair_ladder.steps import Place, read_place, show_place
from web import paging, view
from web.auth import Asking
from web.pages.projects import project_of
from web.presenters import diffs, queue, sketches
from web.site import Site

SVG = "image/svg+xml"
KEY: Final = re.compile(r"[0-9a-f]{12}")
A_CAUSE: Final = 100  # tests of one cause that are shown, and decided about, at once


@get("/proposals/{number:int}")
async def look(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        row = await proposals.get(tx, number)
        project = await projects.by_id(tx, row.project)
        test = await saved_tests.by_id(tx, row.test)
        then = await saved_tests.version(tx, row.test, row.version)
        before, after = await _seen(tx, row, "before"), await _seen(tx, row, "after")
    return await view.page(
        asking,
        "queue/look.html",
        project=project,
        here="radar",
        card=queue.card(row, test, steps=then.steps),
        version_now=test.version,
        before=sketches.describe(*before) if before else "",
        after=sketches.describe(*after) if after else "",
    )


@get("/proposals/{number:int}/pictures/{side:str}")
async def picture(asking: NamedDependency[Asking], number: FromPath[int], side: FromPath[str]) -> Response[str]:
    """The page with the element marked: as the last green run used it, or as the proof does."""
    if side not in ("before", "after"):
        raise NotFound("There is no such picture.")
    async with asking.tools.store.reading() as tx:
        row = await proposals.get(tx, number)
        seen = await _seen(tx, row, "before" if side == "before" else "after")
    if seen is None:
        raise NotFound("That page is no longer kept.")
    return Response(sketches.sketch(*seen, tone=side), media_type=SVG)


@post("/proposals/{number:int}/approve", status_code=200)
async def approve(asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        row = await proposals.get(tx, number)
    if queue.takes_a_while(row) and row.status == ProposalStatus.PROPOSED:
        job = await asked.ask_for_approval(asking.tools, number, asking.by)
        site.knock()
        return view.go_on(asking, f"/jobs/{job.id}")
    try:
        repair = await deciding.approve(asking.tools, number, asking.by)
    except (Refused, Conflict) as error:
        return await _answer(asking, number, bad=str(error))
    good = f"Repair {repair.id} is written: “{repair.test_name}” is at version {repair.version_after}."
    return await _answer(asking, number, good=good, link=f"/repairs/{repair.id}")


@post("/proposals/{number:int}/dismiss", status_code=200)
async def dismiss(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    try:
        await deciding.dismiss(asking.tools, number, asking.by)
    except (Refused, Conflict) as error:
        return await _answer(asking, number, bad=str(error))
    return await _answer(asking, number, good="Dismissed. It comes again only if the test or the app changes.")


@post("/proposals/{number:int}/restore", status_code=200)
async def restore(asking: NamedDependency[Asking], number: FromPath[int]) -> Response[str]:
    try:
        await deciding.restore(asking.tools, number, asking.by)
    except (Refused, Conflict) as error:
        return await _answer(asking, number, bad=str(error))
    return await _answer(asking, number, good="It waits again.")


@post("/proposals/{number:int}/prove-again", status_code=200)
async def prove_again(
    asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]
) -> Response[str]:
    job = await asked.ask_for_fresh_proof(asking.tools, number, asking.by)
    site.knock()
    return view.go_on(asking, f"/jobs/{job.id}")


@get("/projects/{number:int}/causes/{key:str}")
async def cause(asking: NamedDependency[Asking], number: FromPath[int], key: FromPath[str]) -> Response[str]:
    """One drift with every test that waits because of it, to decide about all or some."""
    return await _cause(asking, number, key)


@post("/projects/{number:int}/causes/{key:str}", status_code=200)
async def keep_choice(asking: NamedDependency[Asking], number: FromPath[int], key: FromPath[str]) -> Response[str]:
    """The form sent by neither of its buttons, as Enter on a box does: nothing is decided, and the ticks stay."""
    return await _cause(asking, number, key, ticked=frozenset(asking.form.numbers("proposal")))


async def _cause(asking: Asking, number: int, key: str, *, ticked: frozenset[int] | None = None) -> Response[str]:
    project = await project_of(asking, number)
    if not KEY.fullmatch(key):
        raise NotFound("There is no such cause.")
    want = paging.wanted(asking.request.query_params.get("page"), A_CAUSE)
    async with asking.tools.store.reading() as tx:
        found = (await overviews.causes(tx, project.id, [key])).get(key, Cause(key, 0, 0))
        shown = await proposals.open_of_cause(tx, project.id, key, limit=want.size, offset=want.offset)
        test = await saved_tests.by_id(tx, shown[0].test) if shown else None
    first = queue.card(shown[0], test) if shown else None
    return await view.page(
        asking,
        "queue/cause.html",
        project=project,
        here="radar",
        key=key,
        first=first,
        title=queue.title(first) if first else "Nothing waits",
        cards=[queue.card(one) for one in shown],
        ticked=ticked if ticked is not None else frozenset(one.id for one in shown if one.proven),
        proven=found.proven,
        pager=paging.pager(f"/projects/{number}/causes/{key}", want, found.proposals),
    )


@get(["/projects/{number:int}/causes/{key:str}/approve", "/projects/{number:int}/causes/{key:str}/dismiss"])
async def cause_again(asking: NamedDependency[Asking], number: FromPath[int], key: FromPath[str]) -> Response[str]:
    """Whoever loads the address of an answer anew is shown what is left."""
    return view.go_on(asking, f"/projects/{number}/causes/{key}" if KEY.fullmatch(key) else f"/projects/{number}/radar")


@post("/projects/{number:int}/causes/{key:str}/approve", status_code=200)
async def approve_cause(
    asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int], key: FromPath[str]
) -> Response[str]:
    """All proven ones, or those that are ticked, each by itself: one that fails stops no other.

    One that is not proven is only run where a person chose it.
    """
    project, chosen = await _of_cause(asking, number, key)
    ready = [one for one in chosen if not queue.takes_a_while(one) or one.status != ProposalStatus.PROPOSED]
    results = [
        queue.result(one) for one in await deciding.approve_each(asking.tools, [one.id for one in ready], asking.by)
    ]
    for one in chosen:
        if one not in ready:
            job = await asked.ask_for_approval(asking.tools, one.id, asking.by)
            site.knock()
            results.append(queue.being_proved(one, job.id))
    return await _results(asking, project, key, results, "Approved")


@post("/projects/{number:int}/causes/{key:str}/dismiss", status_code=200)
async def dismiss_cause(asking: NamedDependency[Asking], number: FromPath[int], key: FromPath[str]) -> Response[str]:
    project, chosen = await _of_cause(asking, number, key)
    decided = await deciding.dismiss_each(asking.tools, [one.id for one in chosen], asking.by)
    return await _results(asking, project, key, [queue.result(one) for one in decided], "Dismissed")


async def _of_cause(asking: Asking, number: int, key: str) -> tuple[Project, list[Proposal]]:
    """What the form is about. Those that were ticked stay in it even if they were decided meanwhile: it is told."""
    project = await project_of(asking, number)
    if not KEY.fullmatch(key):
        raise NotFound("There is no such cause.")
    async with asking.tools.store.reading() as tx:
        if asking.form.text("which") == "all":
            return project, [one for one in await proposals.open_of_cause(tx, project.id, key) if one.proven]
        ticked = [await proposals.get(tx, one) for one in asking.form.numbers("proposal")[:A_CAUSE]]
    return project, [one for one in ticked if one.project == project.id and one.cause == key]


async def _results(asking: Asking, project: Project, key: str, results: list[queue.Result], done: str) -> Response[str]:
    if not results:
        return view.go_on(asking, f"/projects/{project.id}/causes/{key}", bad="None was chosen.")
    async with asking.tools.store.reading() as tx:
        left = (await overviews.causes(tx, project.id, [key])).get(key, Cause(key, 0, 0)).proposals
    return await view.page(
        asking,
        "queue/decided_many.html",
        project=project,
        here="radar",
        results=results,
        title=f"{done}: {sum(one.badge.word in ('applied', 'dismissed') for one in results)} of {len(results)}",
        key=key,
        left=left,
    )


async def _answer(asking: Asking, number: int, *, good: str = "", bad: str = "", link: str = "") -> Response[str]:
    """The row as it is now, for htmx; else back to the page whose form it was."""
    if not asking.is_htmx:
        came = asking.form.text("back")
        to = f"/proposals/{number}" if came == "look" else ""
        if not to:
            async with asking.tools.store.reading() as tx:
                to = f"/projects/{(await proposals.get(tx, number)).project}/radar"
        return view.go_on(asking, to, good, bad)
    async with asking.tools.store.reading() as tx:
        row = await proposals.get(tx, number)
        test = await saved_tests.by_id(tx, row.test)
        counts = await overviews.counts(tx, row.project)
    return view.fragment(
        asking,
        "queue/_decided.html",
        card=queue.card(row, test),
        said=("good", good) if good else ("bad", bad),
        link=link,
        counts=counts,
    )


async def _seen(
    tx: Transaction, row: Proposal, side: Literal["before", "after"]
) -> tuple[PageSnapshot, int | None] | None:
    """The page and the element that the first changed step used when it was green, or uses in the proof.

    None where there is none: a step that is new has no element from before, an unproven fix none from after.
    """
    changed = [one for one in row.operations if one["op"] == "replace"] or list(row.operations)
    if not changed:
        return None
    first = changed[0]
    place = read_place(str(first["step"]))
    # Runs count in the test that proved it; what a fragment changes stands there where that uses it.
    use = read_place(row.sharing.use) if row.sharing and row.sharing.use else ()
    if side == "before":
        return await _before(tx, row, place if first["op"] != "insert" else None)
    if row.proof_run is None:
        return await _at_failure(tx, row) if row.run is not None else None
    proof = await runs.get(tx, row.proof_run)
    new = (*use, *diffs.moved(place, row.operations))
    if first["op"] == "insert":
        new = (*new[:-1], new[-1] + 1)
    for step in proof.steps:
        if step["step"] == show_place(new) and step["page_key"]:
            return await _page(tx, str(step["page_key"]), _number(step["target"]))
    return None


async def _before(tx: Transaction, row: Proposal, place: Place | None) -> tuple[PageSnapshot, int | None] | None:
    if place is None:
        return await _at_failure(tx, row)
    for version in range(row.version, max(0, row.version - 20), -1):
        seen = await _recorded(tx, row.test, version, place)
        if seen is not None:
            return seen
    if row.sharing is not None and row.sharing.use and row.status == ProposalStatus.PROPOSED:
        via = await saved_tests.by_id(tx, row.sharing.via)
        return await _recorded(tx, via.id, via.version, (*read_place(row.sharing.use), *place))
    return None


async def _recorded(tx: Transaction, test: int, version: int, place: Place) -> tuple[PageSnapshot, int | None] | None:
    recording = await recordings.get(tx, test, version)
    step = next((one for one in recording.steps if one.place == show_place(place)), None) if recording else None
    return await _page(tx, step.page_key, step.target) if step is not None else None


async def _at_failure(tx: Transaction, row: Proposal) -> tuple[PageSnapshot, int | None] | None:
    if row.run is None:
        return None
    failed = await runs.get(tx, row.run)
    return await _page(tx, failed.page_key, failed.target) if failed.page_key else None


async def _page(tx: Transaction, key: str, target: int | None) -> tuple[PageSnapshot, int | None] | None:
    try:
        return await pages.get(tx, key), target
    except NotFound:
        return None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


HANDLERS = [
    look,
    picture,
    approve,
    dismiss,
    restore,
    prove_again,
    cause,
    keep_choice,
    cause_again,
    approve_cause,
    dismiss_cause,
]
