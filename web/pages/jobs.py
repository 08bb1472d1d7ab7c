"""A job while it is done, step by step, and what came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import ServerSentEvent, ServerSentEventMessage

from gardener.jobs import Job
from gardener.store import jobs, projects
from web import view
from web.auth import Asking
from web.presenters import progress
from web.site import Site

# So long without a line, and the job's own row is asked: another process may be doing it.
LOOK_S: Final = 1.0


@get("/jobs/{number:int}")
async def one(asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]) -> Response[str]:
    async with asking.tools.store.reading() as tx:
        job = await jobs.get(tx, number)
        project = await projects.by_id(tx, job.project)
        ahead = await jobs.ahead_of(tx, job) if not job.has_ended else 0
    known = site.watching.known(number)
    told = [progress.line(line.what, line.details) for line in known]
    return await view.page(
        asking,
        "jobs/one.html",
        project=project,
        here="",
        lines=[line for line in told if line is not None],
        **_of(job, asking.tools.now()),
        ahead=ahead,
        after=known[-1].number if known else 0,
    )


@get("/jobs/{number:int}/stream")
async def stream(
    asking: NamedDependency[Asking], site: NamedDependency[Site], number: FromPath[int]
) -> ServerSentEvent:
    """Lines as they come, from the number that the browser has seen last; then the ending, and the stream closes."""
    async with asking.tools.store.reading() as tx:
        await jobs.get(tx, number)  # before the answer begins: an error in the middle of it can tell nobody
    seen = str(asking.request.headers.get("last-event-id") or asking.request.query_params.get("after") or "")
    after = int(seen) if seen.isascii() and seen.isdecimal() and len(seen) < 9 else 0

    async def messages() -> AsyncIterator[ServerSentEventMessage]:
        last = after
        state = ""
        while not site.watching.is_closed:
            for line in await site.watching.after(number, last, patience_s=LOOK_S):
                last = line.number
                shown = progress.line(line.what, line.details)
                if shown is not None:
                    content = view.render("jobs/_line.html", line=shown)
                    yield ServerSentEventMessage(data=content, event="line", id=str(last))
            async with asking.tools.store.reading() as tx:
                job = await jobs.get(tx, number)
                ahead = await jobs.ahead_of(tx, job) if not job.has_ended else 0
            moment = asking.tools.now()
            now = f"{job.state.value} {ahead} {progress.waits_until(job, moment)}"
            if now != state or job.has_ended:
                state = now
                content = view.render("jobs/_state.html", ahead=ahead, **_of(job, moment))
                yield ServerSentEventMessage(data=content, event="state")
            if job.has_ended:
                if site.watching.known(number)[-1:] and site.watching.known(number)[-1].number > last:
                    continue
                yield ServerSentEventMessage(data="", event="done")
                return

    return ServerSentEvent(messages(), headers={"X-Accel-Buffering": "no"})


def _of(job: Job, now: datetime) -> dict[str, Any]:
    return {
        "job": job,
        "title": progress.title(job),
        "badge_": progress.STATES[job.state],
        "ended": job.has_ended,
        "until": progress.waits_until(job, now),
        "ending": progress.ending(job),
        "outcomes": progress.outcomes(job) if job.has_ended else (),
    }


HANDLERS = [one, stream]
