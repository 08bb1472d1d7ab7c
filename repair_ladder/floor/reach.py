"""What a step reaches for: variables, secrets, other origins."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from repair_ladder.floor.case import Case
from repair_ladder.floor.kinds import ENTERING
from repair_ladder.floor.variables import all_names, names_given, names_in
from repair_ladder.floor.wording import one_line
from repair_ladder.steps import Step


def against_reach(case: Case, new: Step, old: Step | None) -> str | None:
    names = names_in(new) - (names_in(old) if old else frozenset())
    if secret := sorted(names & case.secrets):
        if secret[0] not in all_names(case.steps):
            return f"it uses the secret {one_line(secret[0])}, which the test did not use."
        elsewhere = names_in(replace(new, parameters={k: v for k, v in new.parameters.items() if k != "value"}))
        if new.kind not in ENTERING or names & case.secrets & elsewhere:
            return f"it uses the secret {one_line(secret[0])} for something other than typing it."
    brought = frozenset(
        str(one.new.parameters.get("into"))
        for one in case.operations
        if one.op == "insert" and one.new is not None and one.new.kind in ("set", "extract")
    )
    known = all_names(case.steps) | names_given(case.steps) | case.variables | brought
    if unknown := sorted(names - known):
        return f"it uses the variable {one_line(unknown[0])}, which the test did not use and which may be a secret."
    return None


def leaves(case: Case, old: Step, new: Step) -> str | None:
    """A goto leads to a page of the app, by http, or stays what it was."""
    if new.kind != "goto":
        return None
    url, before = str(new.parameters.get("url", "")), str(old.parameters.get("url", ""))
    origin = _origin(url)
    allowed = {"", *(_origin(one) for one in case.origins)}
    if old.kind == "goto":
        allowed.add(_origin(before))
    if url != before and (origin is None or origin not in allowed):
        return f"{one_line(url)} is not a page of the app under test."
    return None


def _origin(url: str) -> str | None:
    """ "" of a relative address, None where it is no http address. Read as a browser reads it."""
    plain = re.sub(r"[\t\r\n]", "", url.strip("".join(map(chr, range(33))))).replace("\\", "/")
    if plain.startswith("${"):
        return plain.partition("}")[0]
    try:
        parts = urlsplit(f"http:{plain}" if plain.startswith("//") else plain)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not parts.scheme and not parts.netloc and not re.match(r"[^/?#]*:", plain):
        return ""
    if parts.scheme not in ("http", "https") or not host:
        return None
    return f"{parts.scheme}://{host}:{port or {'http': 80, 'https': 443}[parts.scheme]}"
