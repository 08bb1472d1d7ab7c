"""Accessibility audits, by axe-core."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.async_api import Error

from radar.browser import first_line, kind_of
from repair_ladder.checks import audit_holds
from repair_ladder.runner.failures import Failed
from repair_ladder.runner.navigation import LOAD_MS
from repair_ladder.runner.run import Run
from repair_ladder.steps import Step


async def audit(run: Run, step: Step) -> None:
    from axe_playwright_python.base import AXE_SCRIPT

    given = step.parameters
    scope = await run.one(step) if step.locator else run.page.locator(":root")
    options: dict[str, Any] = {"resultTypes": ["violations"], "iframes": False}
    if given.get("rules"):
        tagged = all(
            re.match(r"(wcag|best-practice|cat\.|section508|EN-|ACT|experimental|TT)", one) for one in given["rules"]
        )
        options["runOnly"] = {"type": "tag" if tagged else "rule", "values": given["rules"]}
    try:
        await run.page.evaluate(AXE_SCRIPT) if not step.locator else await scope.evaluate(f"() => {{ {AXE_SCRIPT} }}")
        said = await scope.evaluate(
            "(e, options) => axe.run(e, options).then((got) => JSON.stringify(got.violations.map("
            "(one) => [one.id, one.impact, one.nodes.length, one.help])))",
            options,
            timeout=max(run.left_ms(), LOAD_MS),
        )
    except Error as error:
        if kind_of(error) == "browser":
            raise
        raise Failed("test", f"the audit cannot be made: {first_line(error)}") from None
    found = [one for one in json.loads(str(said)) if isinstance(one, list) and len(one) == 4]
    for rule, impact, count, why in found:
        run.witness.note("audit", f"{rule} ({impact}), {count} elements: {why}")
    if "threshold" in given and not audit_holds(given["threshold"], [str(one[1]) for one in found]):
        named = ", ".join(f"{rule} ({impact})" for rule, impact, *_ in found[:10])
        raise Failed(
            "check",
            f"expected an accessibility audit within {given['threshold']}, got {len(found)} broken rules: {named}",
            observed=named,
        )
