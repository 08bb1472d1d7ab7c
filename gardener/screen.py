"""What the commands print for people, with rich. Text from an app under test is data: never read as markup."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import yaml
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.status import Status
from rich.table import Table
from rich.text import Text

from gardener.lessons import Lesson
from gardener.stories import ANSWERS

COLOURS: Final = {
    "green": "green",
    "passed": "green",
    "applied": "green",
    "staged": "cyan",
    "red": "red",
    "product_defect": "red",
    "refused": "yellow",
    "incurable": "yellow",
    "sensitive": "green",
    "blind": "red",
    "environment": "magenta",
    "unavailable": "magenta",
    "ok": "green",
    "warning": "yellow",
    "fails": "red",
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
        for refusal in one.get("refusals", ()):
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
        if answer.get("read_only"):
            console.print(plain(f"No repair was tried, because {answer['read_only']}.", "yellow"))


def show_clock(console: Console, clock: Mapping[str, Any]) -> None:
    if not clock["schedules"]:
        console.print('Nothing is scheduled: gardener project set NAME sweep_cron="0 */2 * * *" timezone=Europe/Berlin')
    else:
        rows = table("what", "when", "time zone", "last finished", "next")
        for one in clock["schedules"]:
            when = (one["what"], one["cron"], one["timezone"], minute(one["finished_at"]), minute(one["next_at"]))
            rows.add_row(*(plain(cell) for cell in when))
        console.print(rows)
    for alarm in clock["alarms"]:
        console.print(plain(alarm, "bold red"))


def show_targets(console: Console, targets: Sequence[Mapping[str, Any]]) -> None:
    rows = table("target", "address", "events", "added by")
    for one in targets:
        rows.add_row(plain(one["id"]), plain(one["shown"]), plain(", ".join(one["events"])), plain(one["created_by"]))
    console.print(rows if targets else "Nobody is told of anything: gardener target add PROJECT URL")


def show_secrets(console: Console, secrets: Sequence[Mapping[str, Any]]) -> None:
    rows = table("secret", "from", "set", "by", "tests that name it")
    for one in secrets:
        tests = ", ".join(one["tests"]) or "\u2014"
        rows.add_row(
            plain(one["name"]),
            plain(one["from"]),
            plain(minute(one["set_at"])),
            plain(one["set_by"] or "\u2014"),
            plain(tests),
        )
    console.print(rows if secrets else "No secrets, and no test names one: gardener secret set PROJECT NAME")


def show_dead(console: Console, letters: Sequence[Mapping[str, Any]]) -> None:
    rows = table("dead letter", "what", "target", "tries", "why it was given up")
    for one in letters:
        why = f"{one['error']}{' (may have arrived)' if one['may_have_arrived'] else ''}"
        target = f"{one['target']} {one['shown']}"
        rows.add_row(plain(one["id"]), plain(one["subject"]), plain(target), plain(one["tries"]), plain(why))
    console.print(rows if letters else "Nothing was given up.")


def minute(moment: str | None) -> str:
    """A time as people read it, from its ISO form."""
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else "\u2014"


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
        if one["shared"]:
            head += f", shared: one change that heals {len(one['shared']['heals'])} tests"
        told: list[RenderableType] = [diff(one["operations"])]
        if one["failed_step"]:
            told.append(plain(f"fails at step {one['failed_step']}: {one['error']}", "red"))
        # A change that touches several steps is one reason.
        causes = dict.fromkeys(f"{cause['page']}: {cause['element']} ({cause['kind']})" for cause in one["triggers"])
        told += [plain(f"because {cause}", "dim") for cause in list(causes)[:5]]
        told += [plain(f"withheld: {refusal['reason']}", "yellow") for refusal in one["refusals"]]
        told.append(plain(one["reason"], "dim"))
        proven = "proven" if one["proven"] else "NOT PROVEN: approving it runs it first"
        foot = f"{one['strategy']}, {proven}, staged {age}, restated {one['restated']} times"
        console.print(Panel(Group(*told), title=plain(head), subtitle=plain(foot), title_align="left"))
    console.print(plain("gardener approve ID writes one, gardener dismiss ID declines it", "dim"))
    common, count = Counter(one["cause"] for one in proposals).most_common(1)[0]
    if count > 1:
        first = next(one["id"] for one in proposals if one["cause"] == common)
        hint = f"{count} tests broke by the same change: gardener approve {first} --same-cause writes all of them"
        console.print(plain(hint, "dim"))


def show_lessons(console: Console, lessons: Sequence[Lesson], gone: Sequence[int]) -> None:
    for number in gone:
        console.print(plain(f"Lesson {number} is forgotten."))
    if not lessons:
        console.print("Nothing was learned yet, or it was not proven again for so long that it is forgotten.")
        return
    for one in lessons:
        console.print(plain(f"{one.id}  {one.in_words()}"))
        doubt = f", for a person to see: {one.new['doubt']}" if one.new.get("doubt") else ""
        if one.decision is not None:
            console.print(plain(f"   decided {ago(one.proven_at)}: {one.decision['about']}", "dim"))
            continue
        console.print(plain(f"   proven {ago(one.proven_at)}, helped {one.uses} times since{doubt}", "dim"))
    console.print(plain("gardener lessons PROJECT --forget ID deletes one", "dim"))


def show_history(console: Console, repairs: Sequence[Mapping[str, Any]]) -> None:
    if not repairs:
        console.print("Nothing was changed yet.")
        return
    for one in repairs:
        marks = [f"by {one['author']}", one["strategy"], ago(datetime.fromisoformat(one["at"]))]
        marks += [f"heals {len(one['shared']['heals'])} tests"] if one["shared"] else []
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
        for tried in (one["story"] or {}).get("attempts", ()):
            said = f"{tried['hypothesis']} ({'; '.join(tried['fix'])}): {tried['error'] or tried['result']}"
            rows.add_row("", "", plain(f"attempt {tried['number']}"), "", plain(said, "dim"))
        if one["answer"]:
            rows.add_row("", "", plain("answered"), "", plain(f"{one['answer']}, by {one['answered_by']}"))
        elif one["story"]:
            best = f"recommended: {one['story']['recommended']}, because {one['story']['why']}"
            rows.add_row("", "", plain("waits"), "", plain(best, "dim"))
    console.print(rows)
    if any(one["story"] and not one["answer"] for one in issues):
        console.print(plain(f"gardener answer ISSUE {'|'.join(ANSWERS)} answers one", "dim"))


def show_costs(console: Console, costs: Mapping[str, Any]) -> None:
    """What models used up, by day and by case, then the budgets and what they stopped."""
    if not costs["in_all"]["calls"]:
        console.print(plain("No model has been asked for this project."))
    for title, rows_of, name in (("day (UTC)", costs["days"], "day"), ("test", costs["cases"], "test")):
        if rows_of:
            rows = table(title, "calls", "input", "of it cached", "output", "USD", "")
            for one in rows_of:
                rows.add_row(plain(one[name]), *map(plain, _cost_cells(one)))
            console.print(rows)
    if costs["in_all"]["calls"]:
        calls, _, _, _, dollars, remark = _cost_cells(costs["in_all"])
        console.print(plain(f"In all: {calls} calls, {dollars} USD{f' ({remark})' if remark else ''}."))
    rows = table("budget", "most", "spent")
    for one in costs["bounds"]:
        spent = "of each case" if one["spent"] is None else _amount(one["spent"], one["unit"])
        rows.add_row(plain(one["bound"]), plain(_amount(one["most"], one["unit"])), plain(spent))
    console.print(rows if costs["bounds"] else plain("No budget is set."))
    for one in costs["tripped"]:
        console.print(plain(f"{one['at'][:16].replace('T', ' ')} UTC  {one['reason']}", "yellow"))
    for one in costs["models"]:
        if one["trouble"]:
            console.print(plain(f"Not asked is {one['model']} ({one['provider']}): {one['trouble']}", "dim"))
            continue
        price = f"prices of {costs['prices_taken']}" if one["priced"] else "no price is known: its calls have no USD"
        console.print(plain(f"Asked is {one['model']} ({one['provider']}), {price}.", "dim"))


def _cost_cells(one: Mapping[str, Any]) -> tuple[str, str, str, str, str, str]:
    said = [
        f"{one[key]} {word}" for key, word in (("unpriced", "without a price"), ("uncertain", "estimated")) if one[key]
    ]
    counts = (f"{one[key]:,}" for key in ("calls", "input_tokens", "cached_tokens", "output_tokens"))
    calls, read, cached, written = counts
    return calls, read, cached, written, f"{one['usd']:,.4f}", ", ".join(said)


def _amount(value: float, unit: str) -> str:
    return f"{value:,.4f} USD" if unit == "usd" else f"{value:,} tokens"


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
            case "ladder_unusable":
                return plain(f"      the answer cannot be used: {details['reason']}", "dim")
            case "ladder_verdict":
                return plain(f"    verdict: {details['verdict'].replace('_', ' ')}", "dim")
            case "result":
                return Text.assemble("    ", word(details["outcome"]), plain(f"  {details['reason']}"))
            case "note":
                return plain(f"  {details['text']}", "yellow")
            case "job" if details["again"]:
                return plain(f"  taking up job {details['job']} again", "yellow")
        return None


def show_checks(console: Console, checks: Sequence[Mapping[str, Any]]) -> None:
    """What the doctor found: a line each, and below what fails how to mend it."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    for one in checks:
        rows.add_row(word(one["state"]), plain(one["name"]), plain(one["says"]))
        if one["mend"]:
            rows.add_row("", "", plain(f"-> {one['mend']}", "yellow"))
    console.print(rows)


# --- the demo --------------------------------------------------------------------------------------------

LABEL: Final = 14  # as wide as the longest rung


class DemoWatcher(Watcher):
    """Tells the life of a drift as a story: sections, a line for what happened, a spinner for what happens now.

    Where the output is no terminal there is no spinner and nothing that steers one. `pace_s` is a pause after each
    line, for a talk.
    """

    def __init__(self, console: Console, *, pace_s: float = 0.0) -> None:
        super().__init__(console)
        self._pace_s = pace_s
        self._status: Status | None = None
        self._began: dict[str, float] = {}
        self._test = ""  # whose climb is told
        self._rung = ""  # has begun, and has offered nothing yet
        self._offer = ""  # what it offered last

    # what the demo says by itself

    async def section(self, title: str, lead: str) -> None:
        self.still()
        self._test = ""
        self.console.print()
        self.console.rule(plain(f" {title} ", "bold"), align="left", style="cyan")
        self.console.print(_set_in(plain(lead)))
        await asyncio.sleep(self._pace_s * 4)

    async def say(self, text: object, style: str = "") -> None:
        self.console.print(_set_in(plain(text, style)))
        await asyncio.sleep(self._pace_s)

    async def show(self, what: RenderableType) -> None:
        self.console.print(_set_in(what))
        await asyncio.sleep(self._pace_s * 4)

    def command(self, line: str, about: str) -> None:
        """A command to copy: never broken by us, whatever the width."""
        self.console.print(Text.assemble("  ", plain(about, "dim")))
        self.console.print(Text.assemble("    ", Text(line, style="cyan")), soft_wrap=True)

    def now(self, text: str) -> None:
        if not self.console.is_terminal:
            return
        if self._status is None:
            self._status = self.console.status("")
            self._status.start()
        self._status.update(plain(text, "dim"))

    def still(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    # what the actions tell

    async def __call__(self, what: str, details: dict[str, Any]) -> None:
        before = self._test
        lines = self._lines(what, details)
        for number, line in enumerate(lines):
            if number == 0 and self._test != before:
                self.console.print()
            self.console.print(_set_in(line))
        if lines:
            await asyncio.sleep(self._pace_s)

    def _lines(self, what: str, details: Mapping[str, Any]) -> list[RenderableType]:
        match what:
            case "run_start":
                self._began[details["test"]] = time.monotonic()
                self.now(f"playing '{details['test']}'")
            case "run_end":
                return self._run(details)
            case "sweep_start":
                self.now(f"sweeping {details['base_url']}")
            case "page":
                self.now(f"looked at {details['page']}")
            case "note":
                return [_told("note", details["text"], "yellow")]
            case "dry_run":
                self.now(f"trying '{details['test']}'")
            case "ladder_rung":
                heading = self._heading(details["test"], f"is red at step {details['step']}")
                silent, self._rung = self._silent(), details["rung"]
                self.now(f"{self._rung} at step {details['step']}")
                return [*heading, *silent]
            case "ladder_candidate":
                rung, self._rung, self._offer = details["rung"], "", details["hypothesis"]
                held = f" ({details['refused']} operations withheld)" if details["refused"] else ""
                return [_told(rung, self._offer + held)]
            case "ladder_red":
                gets = "the copy gets further, then stops" if details["further"] else "the copy is red"
                return [_told("", f"{gets} at step {details['step']}: {details['error']}", "dim")]
            case "ladder_unusable":
                return [_told("", f"an answer cannot be used: {details['reason']}", "dim")]
            case "ladder_verdict":
                return [*self._silent(), _told("diagnose_drift", details["verdict"].replace("_", " "))]
            case "result":
                return [*self._heading(details["test"]), *self._silent(), self._result(details)]
        return []

    def _run(self, details: Mapping[str, Any]) -> list[RenderableType]:
        took = time.monotonic() - self._began.pop(details["test"], time.monotonic())
        row = Table.grid(padding=(0, 2, 0, 0))
        row.add_column(width=11)
        row.add_row(word(details["status"]), Text.assemble(plain(details["test"]), plain(f"  {took:.1f} s", "dim")))
        if details["error"]:
            row.add_row("", plain(details["error"], "dim"))
        return [row]

    def _heading(self, test: str, about: str = "") -> list[RenderableType]:
        """The name of the test over what is told of it, once."""
        if test == self._test:
            return []
        self._test, self._rung, self._offer = test, "", ""
        return [Text.assemble(plain(test, "bold"), plain(f" {about}" if about else "", "dim"))]

    def _silent(self) -> list[RenderableType]:
        rung, self._rung = self._rung, ""
        return [_told(rung, "has nothing to offer", "dim")] if rung else []

    def _result(self, details: Mapping[str, Any]) -> RenderableType:
        outcome, reason = details["outcome"], details["reason"]
        if reason == self._offer:
            end = "it waits for a person" if outcome == "staged" else "it is written to the test"
            reason = f"a copy with this change ran green: {end}"
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_column(width=LABEL)
        row.add_row(word(outcome), plain(reason))
        return row


def _set_in(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2), expand=False)


def _told(label: str, text: str, style: str = "") -> RenderableType:
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(width=LABEL)
    row.add_row(plain(label, "dim"), plain(text, style))
    return row


def demo_changes(changes: Sequence[Mapping[str, Any]], at_risk: Mapping[str, Sequence[Mapping[str, Any]]]) -> Group:
    """What a sweep saw, in numbers, and the tests it puts at risk, each with the change that touches it."""
    kinds = ", ".join(f"{number} {kind}" for kind, number in Counter(one["kind"] for one in changes).most_common())
    pages = len({one["page"] for one in changes})
    rows = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="dim", expand=True)
    for title, ratio in (("test at risk", 5), ("step", 1), ("because of", 6)):
        rows.add_column(title, ratio=ratio, overflow="fold")
    for test, triggers in at_risk.items():
        causes = dict.fromkeys((one["step"], f"{one['element']} ({one['kind']})") for one in triggers)
        for number, (step, cause) in enumerate(list(causes)[:2]):
            rows.add_row(plain(test if number == 0 else ""), plain(step), plain(cause, "dim"))
    return Group(plain(f"{len(changes)} changes on {pages} pages: {kinds}."), rows)


def demo_decisions(decisions: Sequence[Mapping[str, Any]], *, width: int) -> Table:
    """A row a test: what release 2 did to it, what was decided, on which proof, and how."""
    is_narrow = width < 110  # rows take several lines then, and want a space between them
    rows = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="dim", expand=True, leading=int(is_narrow))
    for title in ("test", "the app's change", "outcome", "proof", "how"):
        rows.add_column(title, overflow="fold", no_wrap=title == "proof")
    for one in decisions:
        remark = one["remark"].partition(":")[0]
        said = [word(one["outcome"]), *([plain(remark, "bold yellow")] if remark else [])]
        rows.add_row(
            plain(one["test"]),
            plain(one["drift"], "dim"),
            Text(" " if is_narrow else ", ").join(said),
            plain(one["proof"]),
            plain(one["how"]),
        )
    return rows


def demo_issues(issues: Sequence[Mapping[str, Any]]) -> Group:
    """Issues with room for their reasons."""
    return Group(
        *(
            Panel(
                plain(one["reason"]),
                title=Text.assemble(plain(f"{one['id']}  {', '.join(one['tests'])}  "), word(one["verdict"])),
                title_align="left",
                border_style="dim",
            )
            for one in issues
        )
    )
