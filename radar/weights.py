"""The weights that the matcher decides by, read once from matching_weights.json; scripts/fit_matching writes them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from radar.features import FEATURES


@dataclass(frozen=True, slots=True)
class Weights:
    """What matching_weights.json holds."""

    likeness: tuple[float, ...]  # one a feature, in the order of FEATURES
    found: Mapping[str, Any]  # {"terms": {fact: weight}, "trees": [tree]}, see `chance`
    gone: Mapping[str, Any]
    found_from: float
    gone_from: float

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Weights:
        return cls(
            likeness=tuple(float(raw["likeness"].get(name, 0.0)) for name in FEATURES),
            found=MappingProxyType(dict(raw["found"])),
            gone=MappingProxyType(dict(raw["gone"])),
            found_from=float(raw["thresholds"]["found"]),
            gone_from=float(raw["thresholds"]["gone"]),
        )


WEIGHTS: Final = Weights.of(json.loads((files("radar") / "matching_weights.json").read_text(encoding="utf-8")))


def chance(decision: Mapping[str, Any], facts: Mapping[str, float]) -> float:
    """A probability from facts: a logistic sum of terms and of small trees."""
    total = sum(weight * facts.get(name, 0.0) for name, weight in decision["terms"].items())
    total += sum(leaf(tree, facts) for tree in decision["trees"])
    return 1 / (1 + math.exp(-max(-40.0, min(40.0, total))))


def leaf(tree: Any, facts: Mapping[str, float]) -> float:
    """What a tree adds: at each fork low if the fact is at most `to`, else high; a number ends it."""
    while isinstance(tree, dict):
        tree = tree["low"] if facts.get(tree["fact"], 0.0) <= tree["to"] else tree["high"]
    return float(tree)
