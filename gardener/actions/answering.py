"""A person answers an issue: what was stopped goes on, or stays as it is for a reason (T21-T23)."""

from __future__ import annotations

from dataclasses import replace

from gardener.actions import learning
from gardener.actions.entrusting import fragments_in, whole_of
from gardener.errors import NotFound, Refused
from gardener.notices import EventKind
from gardener.saved_tests import Status
from gardener.store import Transaction, audit, events, issues, saved_tests
from gardener.stories import ANSWERS
from gardener.tools import Tools
from gardener.triage import Issue
from repair_ladder.steps import read_place, step_at


async def answer(tools: Tools, issue: int, said: str, by: str) -> Issue:
    """Record the answer and do what it means. Raises Refused for an answer that is none or an issue that is closed."""
    if said not in ANSWERS:
        raise Refused(f"'{said}' is no answer; known are {', '.join(ANSWERS)}.")
    async with tools.store.transaction() as tx:
        row = await issues.get(tx, issue)
        if row.closed_at is not None:
            raise Refused(f"Issue {issue} is closed already.")
        if row.story is None:
            raise Refused(f"Issue {issue} is a finding about the surroundings: it ends when they are well again.")
        row = await issues.answered(tx, issue, answer=said, by=by, now=tools.now())
        if said == "quarantine":
            for name in row.tests:
                test = await saved_tests.get(tx, row.project, name)
                await saved_tests.set_status(tx, test.id, Status.DRAFT)
        if said in ("retry", "quarantine"):
            row = await issues.close(tx, issue, now=tools.now())
        await _remember(tx, tools, row, said, by)
        subject = f"{by} answered issue {issue} ({', '.join(row.tests)}): {ANSWERS[said]}"
        payload = {"issue": issue, "answer": said, "by": by}
        await events.emit(tx, row.project, EventKind.ANSWERED, subject[:300], payload, now=tools.now())
        await audit.write(
            tx, project=row.project, who=by, what="answer", subject=", ".join(row.tests), details=payload,
            now=tools.now(),
        )  # fmt: skip
    return row


async def _remember(tx: Transaction, tools: Tools, issue: Issue, said: str, by: str) -> None:
    """What was decided about the step, for whoever is asked about it next (T23)."""
    context = (issue.story or {}).get("context", {})
    try:
        test = await saved_tests.get(tx, issue.project, str(context["test"]))
        then = replace(test, steps=(await saved_tests.version(tx, test.id, int(context["version"]))).steps)
        whole = whole_of(then, await fragments_in(tx, then))
        step = step_at(whole.steps, read_place(str(context["step"])))
    except (KeyError, ValueError, LookupError, NotFound):
        return  # of a test that was renamed or a story of an older release
    await learning.answered(
        tx, tools, issue.project, step, page=str(context.get("page", "")), said=said, by=by, test=test.name,
        about=issue.reason,
    )  # fmt: skip
