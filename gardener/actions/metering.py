"""Ask a model for one test's case: the bounds before, the ledger around it."""

from __future__ import annotations

from datetime import UTC
from typing import assert_never

from gardener.ledger import CallState, Tripped, Usage, bounds_of, estimate
from gardener.models import ChosenModel
from gardener.notices import EventKind
from gardener.prices import Price, known_prices
from gardener.projects import Project
from gardener.saved_tests import SavedTest
from gardener.store import Transaction, events, ledger, projects
from gardener.tools import Tools
from repair_ladder.ports import Answered, Ask, Question, Reply, Unanswered, Unavailable


def metered(
    tools: Tools, project: Project, test: SavedTest, case: int | None, chosen: ChosenModel, ask: Ask | None
) -> Ask | None:
    """The Ask with the ledger around it; None stays None.

    A call that would pass a bound is not made: the answer is Unavailable with the bound in its message, and the event
    that tells of it is written with the first such call.
    """
    if ask is None:
        return None
    prices = known_prices(tools.settings.prices_file)

    async def within_bounds(question: Question) -> Reply:
        price = prices.of(chosen.model or "", tools.now().astimezone(UTC).date())
        wanted = estimate(question, price)
        async with tools.store.transaction() as tx:
            now = tools.now()
            # As they stand now: a bound that was lowered meanwhile holds.
            bounds = bounds_of(tools.settings, await projects.by_id(tx, project.id))
            entry = await ledger.reserve(
                tx,
                project=project.id,
                test=test.id,
                case=case,
                purpose=question.tools[0].name if question.tools else "",
                provider=chosen.provider,
                model=chosen.name,
                wanted=wanted,
                bounds=bounds,
                now=now,
            )
            if isinstance(entry, Tripped):
                await _tell(tx, tools, project, case, entry)
                return Unavailable("budget", entry.reason)
        reply = await ask(question)
        state, usage = _became(reply, price, wanted)
        async with tools.store.transaction() as tx:
            await ledger.settle(tx, entry.id, state=state, usage=usage, now=tools.now())
        return reply

    return within_bounds


async def _tell(tx: Transaction, tools: Tools, project: Project, case: int | None, tripped: Tripped) -> None:
    now = tools.now()
    key = tripped.key(case, now.astimezone(UTC).date())
    if await ledger.note_trip(tx, project.id, key, tripped.reason, now=now):
        payload = {"bound": tripped.bound.name, "case": case}
        await events.emit(tx, project.id, EventKind.BUDGET, tripped.reason, payload, now=now)


def _became(reply: Reply, price: Price | None, wanted: Usage) -> tuple[CallState, Usage]:
    """What is not known counts as estimated, and so does each request that got lost on the way."""
    match reply:
        case Unavailable(why="timeout"):  # the provider may have worked on it, and want to be paid
            return CallState.UNCERTAIN, wanted.times(max(1, reply.lost))
        case Unavailable(lost=0):
            return CallState.FAILED, Usage()
        case Unavailable():
            return CallState.UNCERTAIN, wanted.times(reply.lost)
        case Answered() if not (reply.input_tokens and reply.output_tokens):
            return CallState.UNCERTAIN, wanted.times(1 + reply.lost)
        case Unanswered() if not reply.input_tokens + reply.output_tokens:
            return CallState.UNCERTAIN, wanted.times(1 + reply.lost)
        case Answered() | Unanswered() if reply.lost:
            return CallState.UNCERTAIN, _usage(reply, price) + wanted.times(reply.lost)
        case Answered():
            return CallState.ANSWERED, _usage(reply, price)
        case Unanswered():
            return CallState.UNUSABLE, _usage(reply, price)
        case _:
            assert_never(reply)


def _usage(reply: Answered | Unanswered, price: Price | None) -> Usage:
    read, written, cached = reply.input_tokens, reply.output_tokens, reply.cached_tokens
    if reply.cost_usd is not None:
        cost: int | None = round(reply.cost_usd * 1_000_000)
    else:
        cost = price.micro_usd(input_tokens=read, cached_tokens=cached, output_tokens=written) if price else None
    return Usage(read, written, cached, cost)
