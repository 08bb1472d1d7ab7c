"""What the commands print for people, with rich. Text from an app under test is data: never read as markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import yaml
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

COLOURS: Final = {
    "green": "green",
    "passed": "green",
    "applied": "green",
    "staged": "cyan",
    "red": "red",
    "product_defect": "red",
    "refused": "yellow",
    "incurable": "yellow",
    "environment": "magenta",
    "unavailable": "magenta",
}
LONGEST: Final = 400


def plain(text: object, style: str = "") -> Text:
    """Text as it is: no markup, no control characters that could steer a terminal, and cut."""
    shown = str(text)
    clean = "".join(one if one.isprintable() or one == " " else "\ufffd" for one in shown.replace("\n", " "))
    return Text(clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "\u2026", style=style)


def word(outcome: str) -> Text:
    return plain(outcome.replace("_", " "), COLOURS.get(outcome, ""))


def table(*columns: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def show_runs(console: Console, answer: Mapping[str, Any]) -> None:
    rows = table("run", "test", "status", "step", "error")
    for run in answer["runs"]:
        rows.add_row(
            plain(run["id"]), plain(run["test"]), word(run["status"]), plain(run["failed_step"] or ""),
            plain(run["error"] or ""),
        )  # fmt: skip
    console.print(rows)
    show_results(console, answer["repairs"], "Repairs")


def show_results(console: Console, results: Sequence[Mapping[str, Any]], title: str) -> None:
    if not results:
        return
    rows = table(title.lower(), "outcome", "why")
    for one in results:
        rows.add_row(plain(one["test"]), word(one["outcome"]), plain(one["reason"]))
        for refusal in one["refusals"]:
            rows.add_row("", plain("withheld", "yellow"), plain(refusal["reason"]))
    console.print()
    console.print(rows)


def show_sweep(console: Console, answer: Mapping[str, Any]) -> None:
    console.print(
        plain(
            f"Sweep {answer['sweep']}: {answer['pages']} pages, {len(answer['changes'])} changes, "
            f"{len(answer['at_risk'])} tests at risk",
            "bold",
        )
    )
    for finding in answer.get("findings", ()):
        console.print(plain(f"  {finding['reason']} \u2014 the baseline is kept, nothing is proposed", "magenta"))
    if answer["changes"]:
        rows = table("page", "change", "element", "was", "is")
        for change in answer["changes"][:40]:
            rows.add_row(*(plain(change[key]) for key in ("page", "kind", "element", "before", "after")))
        console.print(rows)
        if len(answer["changes"]) > 40:
            console.print(plain(f"  and {len(answer['changes']) - 40} more", "dim"))
    if answer["at_risk"]:
        rows = table("at risk", "step", "because")
        for risk in answer["at_risk"]:
            for number, trigger in enumerate(risk["triggers"] or [{}]):
                because = (
                    f"{trigger.get('why', '')}: {trigger.get('element', '')}" if trigger else "from an earlier sweep"
                )
                rows.add_row(plain(risk["test"] if number == 0 else ""), plain(trigger.get("step", "")), plain(because))
        console.print()
        console.print(rows)
    show_results(console, answer["dry_runs"], "Dry runs")
    if answer["left_for_next"]:
        console.print(plain("Left for the next sweep: " + ", ".join(answer["left_for_next"]), "yellow"))


def step_line(step: Mapping[str, Any] | None) -> str:
    """A step as it stands in a file, on one line."""
    if step is None:
        return ""
    text: str = yaml.safe_dump(dict(step), default_flow_style=True, allow_unicode=True, width=10**6, sort_keys=False)
    return text.strip().removeprefix("{").removesuffix("}")


def diff(operations: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Operations as an expandable diff would show them: what goes in red, what comes in green."""
    lines: list[RenderableType] = []
    for operation in operations:
        place = operation["step"]
        head = f"after step {place}" if operation["op"] == "insert" else f"step {place}"
        lines.append(plain(f"{operation['op']} {head}", "bold"))
        if operation["old"] is not None:
            lines.append(plain("- " + step_line(operation["old"]), "red"))
        if operation["new"] is not None:
            lines.append(plain("+ " + step_line(operation["new"]), "green"))
        if operation.get("reason"):
            lines.append(plain("  " + operation["reason"], "dim"))
    return Group(*lines)


def show_staged(console: Console, proposals: Sequence[Mapping[str, Any]], why_empty: str) -> None:
    if not proposals:
        console.print(plain(why_empty))
        return
    for one in proposals:
        age = ago(datetime.fromisoformat(one["staged_at"]))
        head = f"{one['id']}  {one['test']}"
        told: list[RenderableType] = [diff(one["operations"])]
        if one["failed_step"]:
            told.append(plain(f"fails at step {one['failed_step']}: {one['error']}", "red"))
        told += [
            plain(f"because {trigger['page']}: {trigger['element']} ({trigger['kind']})", "dim")
            for trigger in one["triggers"][:5]
        ]
        told += [plain(f"withheld: {refusal['reason']}", "yellow") for refusal in one["refusals"]]
        told.append(plain(one["reason"], "dim"))
        proven = "proven" if one["proven"] else "NOT PROVEN: approving it runs it first"
        foot = f"{one['strategy']}, {proven}, staged {age}, restated {one['restated']} times"
        console.print(Panel(Group(*told), title=plain(head), subtitle=plain(foot), title_align="left"))
    console.print(plain("gardener approve ID writes one, gardener dismiss ID declines it", "dim"))


def show_history(console: Console, repairs: Sequence[Mapping[str, Any]]) -> None:
    if not repairs:
        console.print("Nothing was changed yet.")
        return
    for one in repairs:
        marks = [f"by {one['author']}", one["strategy"], ago(datetime.fromisoformat(one["at"]))]
        marks += ["reverted"] if one["reverted"] else ["reviewed"] if one["reviewed"] else []
        console.print(
            Panel(
                diff(one["operations"]),
                title=plain(f"{one['id']}  {one['test']}"),
                subtitle=plain(", ".join(marks)),
                title_align="left",
            )
        )


def show_issues(console: Console, issues: Sequence[Mapping[str, Any]]) -> None:
    if not issues:
        console.print("No open issues.")
        return
    rows = table("issue", "kind", "verdict", "tests", "why")
    for one in issues:
        rows.add_row(
            plain(one["id"]), plain(one["kind"]), word(one["verdict"]), plain(", ".join(one["tests"])),
            plain(one["reason"]),
        )  # fmt: skip
        for refusal in one["refusals"]:
            rows.add_row("", "", plain("withheld", "yellow"), "", plain(refusal["reason"]))
    console.print(rows)


def ago(moment: datetime, now: datetime | None = None) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max(0, int(((now or datetime.now(UTC)) - moment).total_seconds()))
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            number = seconds // length
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


class Watcher:
    """Prints what happens as it happens."""

    def __init__(self, console: Console) -> None:
        self.console = console

    async def __call__(self, what: str, details: dict[str, Any]) -> None:
        line = self.line(what, details)
        if line is not None:
            self.console.print(line)

    def line(self, what: str, details: Mapping[str, Any]) -> Text | None:
        match what:
            case "run_end":
                error = f"  {details['error']}" if details["error"] else ""
                return Text.assemble("  ", word(details["status"]), plain(f"  {details['test']}{error}"))
            case "sweep_start":
                return plain(f"Sweeping {details['base_url']}", "bold")
            case "page":
                return plain(f"  looked at {details['page']}", "dim")
            case "dry_run":
                return plain(f"  dry run of '{details['test']}'")
            case "ladder_rung":
                return plain(f"    {details['rung']} ({details['source']}) at step {details['step']}", "dim")
            case "ladder_candidate":
                held = f", {details['refused']} withheld" if details["refused"] else ""
                return plain(f"      tries: {details['hypothesis']}{held}")
            case "ladder_red":
                further = "gets further, stops" if details["further"] else "red"
                return plain(f"      {further} at step {details['step']}: {details['error']}", "dim")
            case "ladder_verdict":
                return plain(f"    verdict: {details['verdict'].replace('_', ' ')}", "dim")
            case "result":
                return Text.assemble("    ", word(details["outcome"]), plain(f"  {details['reason']}"))
            case "note":
                return plain(f"  {details['text']}", "yellow")
            case "job" if details["again"]:
                return plain(f"  taking up job {details['job']} again", "yellow")
        return None
