"""The CI gate: the tests in service, played strictly, and what they said as JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC
from typing import Final
from xml.etree import ElementTree

from gardener.actions import running
from gardener.projects import Project
from gardener.runs import Run, RunStatus, Trigger
from gardener.tools import Tools

LONGEST_TEXT: Final = 20_000
LONGEST_MESSAGE: Final = 1_000
# What XML 1.0 has no way to write, escaped or not; apps do print it.
UNWRITABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


async def run_gate(tools: Tools, project: Project) -> tuple[Run, ...]:
    """All tests in service with trigger ci. Nothing is repaired, on an applying project neither (H23).

    Raises NotFound if there is none: a gate that checks nothing must not let anything through.
    """
    return (await running.run_tests(tools, project, (), Trigger.CI, repairs=False)).runs


def junit(project: Project, runs: Sequence[Run]) -> bytes:
    """One test suite, a failure for what is red, an error for what the surroundings kept from running."""
    counts = {
        "tests": str(len(runs)),
        "failures": str(sum(run.status == RunStatus.RED for run in runs)),
        "errors": str(sum(run.status == RunStatus.ENVIRONMENT for run in runs)),
        "skipped": "0",
        "time": _seconds(sum(_took(run) for run in runs)),
    }
    name = _clean(project.name)
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    began = min((run.started_at for run in runs), default=None)
    moment = {"timestamp": began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")} if began else {}
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts, **moment})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (("base_url", project.base_url), ("trigger", Trigger.CI.value)):
        ElementTree.SubElement(properties, "property", {"name": key, "value": _clean(value)})
    for run in runs:
        suite.append(_case(project, run))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _case(project: Project, run: Run) -> ElementTree.Element:
    told = {"name": _clean(run.test_name), "classname": _clean(project.name), "time": _seconds(_took(run))}
    case = ElementTree.Element("testcase", told)
    if run.status == RunStatus.GREEN:
        return case
    kind = "failure" if run.status == RunStatus.RED else "error"
    where = f"step {run.failed_step}: " if run.failed_step else ""
    message = _clean(f"{where}{run.error or run.cause or run.status.value}")
    told = {"message": " ".join(message.split())[:LONGEST_MESSAGE], "type": _clean(run.cause or run.status.value)}
    ElementTree.SubElement(case, kind, told).text = _clean("\n".join(_details(run, message)))[:LONGEST_TEXT]
    return case


def _details(run: Run, message: str) -> list[str]:
    lines = [message]
    if run.observed:
        lines.append(f"the app shows: {run.observed}")
    lines.append(f"run {run.id} of version {run.version}")
    return lines


def _clean(text: str) -> str:
    return UNWRITABLE.sub("", text)


def _took(run: Run) -> float:
    return max(0.0, (run.ended_at - run.started_at).total_seconds())


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
