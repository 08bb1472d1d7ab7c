"""Plays the steps of a test one after another: what came of each, and the run as a whole."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from dataclasses import replace
from typing import Any, Final

from playwright.async_api import Error

from radar.browser import describe as describe_page
from radar.browser import first_line, kind_of, settle
from radar.elements import PageSnapshot
from radar.errors import BadLocator, BadPattern, PatternTooSlow
from repair_ladder import fragments
from repair_ladder.errors import BadTest
from repair_ladder.outcomes import Environment, Green, Outcome, Played, Red, Trace
from repair_ladder.runner.actions import act
from repair_ladder.runner.checking import check
from repair_ladder.runner.failures import Failed, Stuck, Surroundings
from repair_ladder.runner.fence import READS
from repair_ladder.runner.pictures import LOADING
from repair_ladder.runner.run import Run
from repair_ladder.runner.witness import LONGEST_LINE
from repair_ladder.stage import OnStep
from repair_ladder.steps import Place, Step, Steps, show_place, walk
from repair_ladder.values import fill_in

SCROLLING_S: Final = 120.0  # for all of them
CAUSING: Final = frozenset(  # what may bring up a toast; a check asks for those that came since the last of them
    "goto back reload click dblclick check uncheck fill type press select upload drag tab use".split()
)
PAINTED_S: Final = 0.1  # until a page that a test ends on is drawn
MOST_SENT: Final = 50  # requests of one step that are remembered


async def play(run: Run, steps: Steps, on_step: OnStep | None) -> Outcome:
    """The steps with those of their fragments in them (fragments.expand)."""
    run.scopes = fragments.Scopes(steps, run.values)
    left_out: Place | None = None  # an optional `use` of which a step failed
    for place, step in walk(steps):
        if left_out is not None and place[: len(left_out)] == left_out:
            continue
        run.begin(place)
        started, url, tab = run.now_ms(), run.redact(run.page.url), run.page
        asked_before = len(run.witness.requests)
        if step.kind in CAUSING:
            run.witness.toasts_since = len(run.witness.toasts)
        if on_step:
            await on_step(place, step, "start")
        failed: Failed | None = None
        try:
            enter(run, place)
            await do(run, step)
        except Failed as error:
            failed = error
        except Surroundings as error:
            return Environment(error.kind, run.redact(str(error)), trace(run), place)
        except Error as error:
            kind = kind_of(error)
            if kind == "browser" and run.has_closed_its_tab(tab):
                if step.kind not in CAUSING:
                    failed = Failed("missing", "the app closed the tab meanwhile")
            elif kind == "browser":
                message = f"the browser died in step {show_place(place)}: {first_line(error)}"
                return Environment("browser", run.redact(message), trace(run), place)
            else:
                failed = Failed("timeout", first_line(error))
        is_stuck = isinstance(failed, Stuck)
        inside = fragments.where(steps, place)
        why = run.redact(f"{inside}: {failed}" if inside else str(failed))[: 4 * LONGEST_LINE] if failed else None
        around = fragments.forgiven_by(steps, place) if failed and not step.optional else None
        left_out = around or left_out
        is_forgiven = bool(failed and (step.optional or around))
        snapshot_at, target_at = run.found or (None, None)
        run.see_painted()
        run.asked_before.append(asked_before)
        run.played.append(
            Played(
                place, step.kind, url, started, run.now_ms(), run.way, snapshot_at, target_at, why,
                skipped=is_forgiven,
                picture=None if is_stuck else await run.pictures.after(step.kind, run.page, run.look),
                shots=tuple(run.pictures.shots),
            )
        )  # fmt: skip
        if step.kind in LOADING and run.stage.pictures and not run.stage.secrets:
            run.painting = len(run.played) - 1, run.page
        if failed and is_stuck:
            return Red(trace(run), place, failed.cause, why or "")
        if failed and not is_forgiven:
            return await red(run, place, failed, why or "")
        if on_step:
            await on_step(place, step, "skipped" if failed else "passed")
    if run.painting is not None:
        await asyncio.sleep(PAINTED_S)
        run.see_painted()
    return Green(trace(run))


async def red(run: Run, place: Place, failed: Failed, message: str) -> Red:
    """The failure with the page as it stands, once it holds still."""
    run.see_painted()
    page, target, picture = None, None, None
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(run.stage.stuck_s):
            page, target = await page_at_failure(run, failed)
            picture = await run.page.screenshot(
                mask=run.pictures.to_mask(run.page),
                timeout=5000,
                animations="disabled",
            )
    observed = run.redact(failed.observed) if failed.observed is not None else None
    return Red(trace(run), place, failed.cause, message, page, target, observed, picture)


async def page_at_failure(run: Run, failed: Failed) -> tuple[PageSnapshot, int | None]:
    await settle(run.page)
    where: Any = run.page
    if run.target is not None and failed.cause not in ("missing", "many", "navigation"):
        where = run.target if await run.target.count() == 1 else run.page
    look = run.reader.look(await describe_page(where, known=run.reader.known), run.witness.status)
    return run.reader.page(look), look.target


async def do(run: Run, step: Step) -> None:
    """Raises Stuck where the page does not answer: much of what is asked of it has no time-out of its own."""
    own_ms = step.timeout_ms if step.timeout_ms is not None else run.stage.step_timeout_ms
    waits_ms = int(step.parameters.get("ms", 0)) if step.kind == "wait" else 0
    scrolls_s = SCROLLING_S if step.kind == "scroll" else 0
    try:
        async with asyncio.timeout((own_ms + waits_ms) / 1000 + scrolls_s + run.stage.stuck_s):
            await do_in_time(run, step)
    except TimeoutError:
        raise Stuck("timeout", f"the page did not answer in {step.kind}: a script in it may never end") from None


async def do_in_time(run: Run, step: Step) -> None:
    timeout = step.timeout_ms if step.timeout_ms is not None else run.stage.step_timeout_ms
    try:
        filled = fill_in(step, run.values)
    except BadTest as error:
        raise Failed("test", str(error)) from None
    run.deadline = time.monotonic() + timeout / 1000
    try:
        if step.kind.startswith("assert_"):
            await check(run, filled)
        elif step.kind == "use":  # those that can be played gave way to their steps
            why = fragments.why_not_played(str(filled.parameters["fragment"]), run.scopes.names, run.stage.fragments)
            if why:
                raise Failed("test", why)
        else:
            await act(run, filled, step)
    except (BadLocator, BadPattern, PatternTooSlow) as error:  # neither green nor the app's fault
        # It quotes a part of the expression, and half a secret would not be found in it.
        said = "a pattern of it cannot be used with the values filled in" if filled != step else str(error)
        raise Failed("test", said) from None


def enter(run: Run, place: Place) -> None:
    """The fragments that the step stands in, with the values that hold in them."""
    try:
        run.scopes.go_to(place)
    except BadTest as error:
        raise Failed("test", f"step {show_place(error.place)}: {error}") from None


def trace(run: Run) -> Trace:
    run.read_looks()
    played = tuple(with_effects(run, number, one) for number, one in enumerate(run.played))
    return Trace(played, tuple(run.snapshots), run.witness.evidence())


def with_effects(run: Run, number: int, one: Played) -> Played:
    """The step with what came of it until the next one began."""
    is_last = number + 1 == len(run.played)
    until = len(run.witness.requests) if is_last else run.asked_before[number + 1]
    made = itertools.islice(run.witness.requests.items(), run.asked_before[number], until)
    sent = tuple(run.witness.sent(request, status) for request, status in made if request.method not in READS)
    url = run.redact(run.page.url) if is_last else run.played[number + 1].url
    return replace(one, sent=sent[:MOST_SENT], url_after=url)
