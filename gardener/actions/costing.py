"""What models have cost a project, what bounds it, and which bound has stopped a call."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gardener.ledger import Bound, Scope, Sum, bounds_of
from gardener.models import judge_of, model_of
from gardener.prices import known_prices
from gardener.projects import Project
from gardener.results import sum_shape
from gardener.store import ledger
from gardener.tools import Tools

MOST_CASES = 20


async def costs(tools: Tools, project: Project, *, days: int) -> dict[str, Any]:
    """As the command prints it: sums by day and by case for the last `days` days, bounds, and what tripped."""
    now = tools.now()
    prices = known_prices(tools.settings.prices_file)
    bounds = bounds_of(tools.settings, project)
    async with tools.store.reading() as tx:
        in_all = await ledger.spent(tx, Scope.PROJECT, project=project.id, now=now)
        by_day = await ledger.by_day(tx, project.id, now=now, days=days)
        by_case = await ledger.by_case(tx, project.id, since=now - timedelta(days=days), limit=MOST_CASES)
        scopes = {bound.scope for bound in bounds} - {Scope.CASE}
        spent = {scope: await ledger.spent(tx, scope, project=project.id, now=now) for scope in scopes}
        tripped = await ledger.trips(tx, project.id)
    chosen = [model_of(tools.settings, project), judge_of(tools.settings, project)]
    return {
        "project": project.name,
        "in_all": sum_shape(in_all),
        "days": [{"day": day.isoformat(), **sum_shape(one)} for day, one in by_day],
        "cases": [{"case": one.case, "test": one.test, **sum_shape(one.sum)} for one in by_case],
        "bounds": [_bound_shape(bound, spent.get(bound.scope)) for bound in bounds],
        "tripped": [{"at": at.isoformat(), "reason": reason} for at, reason in tripped],
        "models": [
            {
                "provider": one.provider,
                "model": one.name,
                "priced": prices.of(one.model or "", now.date()) is not None,
                "trouble": one.trouble,
            }
            for one in chosen
            if one is not None
        ],
        "prices_taken": prices.taken.isoformat() if prices.taken else None,
    }


def _bound_shape(bound: Bound, spent: Sum | None) -> dict[str, Any]:
    """`spent` is None for the bound on a case: each case has its own."""
    used = None if spent is None else spent.micro_usd if bound.is_money else spent.tokens
    by = 1_000_000 if bound.is_money else 1
    return {
        "bound": bound.name,
        "unit": "usd" if bound.is_money else "tokens",
        "most": bound.most / by if bound.is_money else bound.most,
        "spent": None if used is None else used / by if bound.is_money else used,
    }
