"""Values as plain data for JSON columns, where no other room knows how, and lists of plain data joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gardener.store.columns import canonical
from repair_ladder.formats import Secret, Variable

# A page that changes its text with every look would fill a row for ever; the newest say what matters now.
MOST_TRIGGERS: Final = 500


def write_variables(variables: Mapping[str, Variable]) -> dict[str, Any]:
    return {name: {"secret": one.name} if isinstance(one, Secret) else one for name, one in variables.items()}


def read_variables(raw: Mapping[str, Any]) -> dict[str, Variable]:
    return {name: Secret(one["secret"]) if isinstance(one, Mapping) else one for name, one in raw.items()}


def merged(known: Iterable[Mapping[str, Any]], more: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Both, in order, without those that say the same twice; the newest MOST_TRIGGERS of them."""
    by_content = {canonical(one): dict(one) for one in (*known, *more)}
    return list(by_content.values())[-MOST_TRIGGERS:]
