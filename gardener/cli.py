"""The commands; the door to the terminal. `--json` prints one JSON document on standard output and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import pkgutil
import shlex
import shutil
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeVar

import rich_click as click
from click.exceptions import Exit
from rich.console import Console

from gardener import demo, doctor, notify, screen, worker
from gardener.actions import (
    admitting,
    answering,
    by_hand,
    controlling,
    costing,
    deciding,
    deliver,
    digest,
    entrusting,
    gate,
    importing,
    learning,
    recording,
    rewording,
    running,
    settling,
    sweeping,
    timing,
    working,
)
from gardener.bootstrap import open_tools
from gardener.digests import Digest
from gardener.errors import BadSetting, Conflict, GardenerError, NotFound, Refused
from gardener.lessons import Lesson
from gardener.models import model_of
from gardener.notices import DeliveryState, Target
from gardener.people import Person, Role
from gardener.projects import Project, change_settings, read_base_url, why_queue_is_empty
from gardener.proposals import ProposalStatus
from gardener.repairs import Repair
from gardener.results import delivery_shape, issue_shape, proposal_shape, repair_shape, run_shape, target_shape
from gardener.runs import Run, RunStatus, Trigger
from gardener.schedules import Clock
from gardener.secrets import LONGEST, read_name
from gardener.settings import Settings, read_settings
from gardener.store import at_risk, deliveries, issues, people, projects, proposals, repairs, saved_tests, targets
from gardener.store import sweeps as sweep_rows
from gardener.stories import ANSWERS
from gardener.tools import Tools, nobody_watches
from radar.errors import RadarError
from repair_ladder.errors import LadderError
from repair_ladder.formats import Exported
from repair_ladder.formats.choosing import FORMATS
from repair_ladder.rungs import RUNGS

T = TypeVar("T")
NO, USAGE, ENVIRONMENT = 1, 2, 3
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
by_option = click.option("--by", metavar="NAME", help="Whose decision it is (default: the login name).")


def main() -> None:
    """The entry point: one clear line on standard error instead of a traceback."""
    try:
        cli(standalone_mode=False)
    except Exit as error:
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        _say(error.format_message())
        sys.exit(USAGE)
    except (Refused, Conflict) as error:
        _say(str(error))
        sys.exit(NO)
    except (NotFound, BadSetting, LadderError, RadarError) as error:
        _say(str(error))
        sys.exit(USAGE)
    except GardenerError as error:
        _say(str(error))
        sys.exit(NO)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(NO)


def _say(line: str) -> None:
    print(" ".join(line.split()), file=sys.stderr)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--database", metavar="URL", help="sqlite:///FILE or postgresql://…")
@click.option("--data-dir", metavar="DIR", help="Where pictures and other files are kept.")
@click.version_option(package_name="drift-gardener")
@click.pass_context
def cli(context: click.Context, database: str | None, data_dir: str | None) -> None:
    """Keeps browser end-to-end tests alive while the app under test changes."""
    context.obj = lambda: read_settings(os.environ, Path.cwd(), database_url=database, data_dir=data_dir)


def _run(work: Callable[[Tools], Awaitable[T]], *, quiet: bool) -> T:
    """Do the work with real tools; what happens meanwhile goes to standard error unless `quiet`."""
    context = click.get_current_context()
    assert context is not None, "a command runs inside its context"
    settings: Settings = context.find_root().obj()
    watch = nobody_watches if quiet else screen.Watcher(Console(stderr=True, highlight=False))

    async def inside() -> T:
        try:
            async with open_tools(settings, watch=watch) as tools:
                return await work(tools)
        except asyncio.CancelledError:
            # A Ctrl-C reaches the browser's driver as well; what is left of it in the loop has nothing more to tell.
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
            raise

    return asyncio.run(inside())


def _print(document: dict[str, Any]) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=2))


def _console() -> Console:
    return Console(highlight=False)


async def _project(tools: Tools, name: str) -> Project:
    async with tools.store.reading() as tx:
        return await projects.get(tx, name)


# --- projects --------------------------------------------------------------------------------------------


@cli.group()
def project() -> None:
    """Apps under test."""


@project.command("add")
@click.argument("name")
@click.option("--base-url", required=True, metavar="URL", help="Where the app is.")
@click.option("--auto-repair", is_flag=True, help="Repair failed runs automatically.")
@json_option
def project_add(name: str, base_url: str, auto_repair: bool, as_json: bool) -> None:
    """Add a project."""
    url = read_base_url(base_url)
    name = _one_line(name)

    async def work(tools: Tools) -> Project:
        async with tools.store.transaction() as tx:
            return await projects.add(tx, name, url, now=tools.now(), auto_repair=auto_repair)

    made = _run(work, quiet=as_json)
    if as_json:
        _print(_project_shape(made))
    else:
        _console().print(screen.plain(f"Project '{made.name}' at {made.base_url}, mode {made.mode.value}"))


def _one_line(name: str, of: str = "a project") -> str:
    name = name.strip()
    if not 0 < len(name) <= 200 or not name.isprintable():
        raise BadSetting(f"the name of {of} is one line of at most 200 characters")
    return name


@project.command("list")
@json_option
def project_list(as_json: bool) -> None:
    """List the projects."""

    async def work(tools: Tools) -> tuple[Project, ...]:
        async with tools.store.reading() as tx:
            return await projects.listed(tx)

    found = _run(work, quiet=as_json)
    if as_json:
        _print({"projects": [_project_shape(one) for one in found]})
        return
    rows = screen.table("project", "base URL", "mode")
    for one in found:
        rows.add_row(screen.plain(one.name), screen.plain(one.base_url), screen.plain(one.mode.value))
    _console().print(rows if found else "No projects yet: gardener project add NAME --base-url URL")


@project.command("set")
@click.argument("name")
@click.argument("changes", nargs=-1, required=True, metavar="KEY=VALUE…")
@json_option
def project_set(name: str, changes: Sequence[str], as_json: bool) -> None:
    """Change settings of a project: auto_repair, base_url, urls, sweep_cron="0 */2 * * *", timezone=Europe/Berlin, …"""
    given: dict[str, str] = {}
    for change in changes:
        key, found, value = change.partition("=")
        if not found:
            raise click.UsageError(f"'{change}' is not KEY=VALUE")
        given[key.strip()] = value.strip()

    async def work(tools: Tools) -> Project:
        settled = dict(given)
        switch, url = settled.pop("auto_repair", None), settled.pop("base_url", None)
        async with tools.store.transaction() as tx:
            one = await projects.get(tx, name)
            new = await projects.update(
                tx,
                one.id,
                base_url=read_base_url(url) if url is not None else None,
                auto_repair=_switch(switch) if switch is not None else None,
                settings=change_settings(one.settings, settled) if settled else None,
            )
            await settling.check_sign_in(tx, one, new)
            return new

    made = _run(work, quiet=as_json)
    if as_json:
        _print(_project_shape(made))
    else:
        _console().print(screen.plain(f"Project '{made.name}' at {made.base_url}, mode {made.mode.value}"))


def _switch(text: str) -> bool:
    if text.lower() in ("true", "on", "yes", "1"):
        return True
    if text.lower() in ("false", "off", "no", "0"):
        return False
    raise BadSetting(f"'auto_repair' is true or false, got '{text}'")


def _project_shape(one: Project) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "base_url": one.base_url,
        "auto_repair": one.auto_repair,
        "mode": one.mode.value,
        "settings": {key: getattr(one.settings, key) for key in one.settings.__dataclass_fields__},
    }


# --- tests in and out --------------------------------------------------------------------------------------


@cli.command("import")
@click.argument("project_name", metavar="PROJECT")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Instead of what the file's ending says.")
@click.option("--partial", is_flag=True, help="Keep a test that is understood in part, as a draft with notes.")
@by_option
@json_option
def import_(
    project_name: str, paths: Sequence[Path], form: str | None, partial: bool, by: str | None, as_json: bool
) -> None:
    """Take in tests from files or folders: YAML, recordings and suites of other tools."""

    async def work(tools: Tools) -> importing.Imported:
        one = await _project(tools, project_name)
        return await importing.import_files(tools, one, paths, by or tools.settings.by, form=form, partial=partial)

    _show_imported(_run(work, quiet=as_json), as_json=as_json)


def _show_imported(done: importing.Imported, *, as_json: bool) -> None:
    tests = [{"name": test.name, "version": test.version, "status": test.status.value} for test in done.tests]
    if as_json:
        share = {"understood": done.understood, "parts": done.parts}
        _print({"tests": tests, "errors": list(done.errors), "notes": list(done.notes)} | share)
    else:
        for test in done.tests:
            _console().print(screen.plain(f"{test.name}: version {test.version}, {test.status.value}"))
        if done.parts:
            told = f"Understood {done.understood} of {done.parts} parts ({done.understood / done.parts:.0%})."
            _console().print(screen.plain(told))
        for note in done.notes:
            _say(note)
    for error in done.errors:
        _say(error)
    if done.errors:
        sys.exit(USAGE)


@cli.command("record")
@click.argument("project_name", metavar="PROJECT")
@click.option("--name", help="What the test is called (default: when it was recorded).")
@click.option("--signed-out", is_flag=True, help="Begin without the session of the project's sign-in test.")
@by_option
@json_option
def record_(project_name: str, name: str | None, signed_out: bool, by: str | None, as_json: bool) -> None:
    """Make a test by clicking through the app in a window of Playwright's codegen; closing it ends the recording."""
    named = _one_line(name, "a test") if name is not None else None

    async def work(tools: Tools) -> importing.Imported:
        one = await _project(tools, project_name)
        who = by or tools.settings.by
        return await recording.record(tools, one, who, name=named, signed_out=signed_out)

    _show_imported(_run(work, quiet=as_json), as_json=as_json)


@cli.command("export")
@click.argument("project_name", metavar="PROJECT")
@click.argument("test")
@click.option("--format", "form", type=click.Choice(FORMATS), default="yaml", show_default=True)
@click.option("--partial", is_flag=True, help="Write what the format cannot say as marked comments.")
def export(project_name: str, test: str, form: str, partial: bool) -> None:
    """Write a test to standard output."""

    async def work(tools: Tools) -> Exported:
        one = await _project(tools, project_name)
        async with tools.store.reading() as tx:
            saved = await saved_tests.get(tx, one.id, test)
        return importing.export(saved, one, form, partial=partial)

    made = _run(work, quiet=True)
    sys.stdout.buffer.write(made.text.encode())
    sys.stdout.buffer.flush()
    for line in made.lost:
        _say(line)


# --- runs and sweeps ---------------------------------------------------------------------------------------


@cli.command("run")
@click.argument("project_name", metavar="PROJECT")
@click.argument("tests", nargs=-1, metavar="[TEST…]")
@click.option("--trigger", type=click.Choice(["schedule", "suite", "ci"]), help="An unattended run of that kind.")
@json_option
def run(project_name: str, tests: Sequence[str], trigger: str | None, as_json: bool) -> None:
    """Run tests: exit 0 green, 1 red, 3 environment."""

    async def work(tools: Tools) -> dict[str, Any]:
        one = await _project(tools, project_name)
        report = await running.run_tests(tools, one, tests, Trigger(trigger or "manual"))
        done = await working.work_until_done(tools, report.jobs) if report.jobs else ()
        results = working.results_of(done)
        return {
            "runs": [run_shape(row) for row in report.runs],
            "repairs": results,
            "model_calls": sum(result["model_calls"] for result in results),
        }

    answer = _run(work, quiet=as_json)
    _print(answer) if as_json else screen.show_runs(_console(), answer)
    sys.exit(_exit_code(answer["runs"]))


def _exit_code(runs: Sequence[dict[str, Any]]) -> int:
    said = {row["status"] for row in runs}
    if RunStatus.RED in said:
        return NO
    return ENVIRONMENT if RunStatus.ENVIRONMENT in said else 0


@cli.command("sweep")
@click.argument("project_name", metavar="PROJECT")
@click.option("--base-url", metavar="URL", help="Look at a preview instead; the baseline stays.")
@json_option
def sweep(project_name: str, base_url: str | None, as_json: bool) -> None:
    """Look at the app once, and stage repairs for the tests that a change broke."""
    preview = read_base_url(base_url) if base_url else None

    async def work(tools: Tools) -> dict[str, Any]:
        one = await _project(tools, project_name)
        job = await sweeping.ask_for_sweep(tools, one, base_url=preview)
        done = (await working.work_until_done(tools, [job.id]))[0]
        if done.result is None or "sweep" not in done.result:
            raise GardenerError(str((done.result or {}).get("error", f"the sweep ended as {done.state.value}")))
        return done.result

    answer = _run(work, quiet=as_json)
    _print(answer) if as_json else screen.show_sweep(_console(), answer)


@cli.command("repair")
@click.argument("run_id", type=int, metavar="RUN")
@click.option("--only", type=click.Choice(list(RUNGS)), help="One rung instead of the whole ladder.")
@click.option("--apply", is_flag=True, help="Write a proven fix instead of staging it.")
@by_option
@json_option
def repair(run_id: int, only: str | None, apply: bool, by: str | None, as_json: bool) -> None:
    """Climb the ladder by hand on a red run."""

    async def work(tools: Tools) -> dict[str, Any]:
        name = by or tools.settings.by
        return (await by_hand.repair_run(tools, run_id, only=only, apply=apply, by=name)).shape()

    answer = _run(work, quiet=as_json)
    _print(answer) if as_json else screen.show_results(_console(), [answer], "Repair")


@cli.command("edit")
@click.argument("project_name", metavar="PROJECT")
@click.argument("test")
@click.argument("words")
@click.option("--apply", is_flag=True, help="Write a proven change instead of staging it.")
@by_option
@json_option
def edit(project_name: str, test: str, words: str, apply: bool, by: str | None, as_json: bool) -> None:
    """Change a test as WORDS ask for, proven like a repair: exit 1 if nothing of it is. Needs a model."""

    async def work(tools: Tools) -> dict[str, Any]:
        one = await _project(tools, project_name)
        return (await rewording.edit(tools, one, test, words, apply=apply, by=by or tools.settings.by)).shape()

    answer = _run(work, quiet=as_json)
    _print(answer) if as_json else screen.show_results(_console(), [answer], "Edit")
    sys.exit(0 if answer["outcome"] in ("staged", "applied") else NO)


# --- the queue and the history -------------------------------------------------------------------------------


@cli.command("staged")
@click.argument("project_name", metavar="PROJECT")
@json_option
def staged(project_name: str, as_json: bool) -> None:
    """Repairs that wait for a person."""

    async def work(tools: Tools) -> tuple[list[dict[str, Any]], str]:
        one = await _project(tools, project_name)
        async with tools.store.reading() as tx:
            rows = await proposals.listed(tx, one.id, statuses=[ProposalStatus.PROPOSED])
            swept = await sweep_rows.latest(tx, one.id) is not None
            left = await at_risk.count(tx, one.id)
        has_key = model_of(tools.settings, one).can_be_asked
        _, why = why_queue_is_empty(one, swept=swept, at_risk_left=left, has_key=has_key)
        return [proposal_shape(row) for row in rows], why

    rows, why = _run(work, quiet=as_json)
    _print({"proposals": rows, "why_empty": None if rows else why}) if as_json else screen.show_staged(
        _console(), rows, why
    )


@cli.command("history")
@click.argument("project_name", metavar="PROJECT")
@json_option
def history(project_name: str, as_json: bool) -> None:
    """What was changed, newest first."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await _project(tools, project_name)
        async with tools.store.reading() as tx:
            return [repair_shape(row) for row in await repairs.listed(tx, one.id)]

    rows = _run(work, quiet=as_json)
    _print({"repairs": rows}) if as_json else screen.show_history(_console(), rows)


@cli.command("issues")
@click.argument("project_name", metavar="PROJECT")
@json_option
def issues_(project_name: str, as_json: bool) -> None:
    """Open triage issues, escalations and findings about the environment."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await _project(tools, project_name)
        async with tools.store.reading() as tx:
            return [issue_shape(row) for row in await issues.listed(tx, one.id)]

    rows = _run(work, quiet=as_json)
    _print({"issues": rows}) if as_json else screen.show_issues(_console(), rows)


@cli.command("costs")
@click.argument("project_name", metavar="PROJECT")
@click.option("--days", type=click.IntRange(1, 366), default=14, show_default=True, help="How far back.")
@json_option
def costs(project_name: str, days: int, as_json: bool) -> None:
    """What models have cost: by day and by case, with the budgets and what they stopped."""

    async def work(tools: Tools) -> dict[str, Any]:
        return await costing.costs(tools, await _project(tools, project_name), days=days)

    answer = _run(work, quiet=as_json)
    _print(answer) if as_json else screen.show_costs(_console(), answer)


@cli.command("approve")
@click.argument("proposal", type=int, metavar="ID")
@click.option("--same-cause", is_flag=True, help="Also all others that wait because of the same drift.")
@by_option
@json_option
def approve(proposal: int, same_cause: bool, by: str | None, as_json: bool) -> None:
    """Write a staged repair; one that is not proven yet is proved first."""

    async def work(tools: Tools) -> tuple[tuple[Repair, ...], tuple[str, ...]]:
        who = by or tools.settings.by
        if same_cause:
            return await deciding.approve_cause(tools, proposal, who)
        return (await deciding.approve(tools, proposal, who),), ()

    made, refused = _run(work, quiet=as_json)
    if as_json:
        every = {"repairs": [one.id for one in made], "refused": list(refused)} if same_cause else {}
        _print({"repair": made[0].id, **every})
        return
    for one in made:
        _console().print(screen.plain(f"Repair {one.id} of '{one.test_name}' was written, approved by {one.author}."))
    for why in refused:
        _console().print(screen.plain(why, "yellow"))


@cli.command("dismiss")
@click.argument("proposal", type=int, metavar="ID")
@by_option
@json_option
def dismiss(proposal: int, by: str | None, as_json: bool) -> None:
    """Decline a staged repair until the test or the app changes."""
    row = _run(lambda tools: deciding.dismiss(tools, proposal, by or tools.settings.by), quiet=as_json)
    _print({"proposal": row.id, "status": row.status.value}) if as_json else _console().print(
        screen.plain(f"Proposal {row.id} was dismissed; it comes again only if the test or the app changes.")
    )


@cli.command("revert")
@click.argument("repair_id", type=int, metavar="ID")
@by_option
@json_option
def revert(repair_id: int, by: str | None, as_json: bool) -> None:
    """Restore the steps from before a repair."""

    async def work(tools: Tools) -> tuple[Repair, str]:
        row = await deciding.revert(tools, repair_id, by or tools.settings.by)
        return row, await deciding.warning_of(tools, row)

    row, warning = _run(work, quiet=as_json)
    _print({"repair": row.id}) if as_json else _console().print(screen.plain(warning))


@cli.command("control")
@click.argument("project_name", metavar="PROJECT")
@click.argument("tests", nargs=-1, metavar="[TEST]...")
@json_option
def control_(project_name: str, tests: Sequence[str], as_json: bool) -> None:
    """Play tests with falsified checks: they have to go red. Exit 1 if one cannot fail."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await _project(tools, project_name)
        return [row.shape() for row in await controlling.control_tests(tools, one, tests)]

    rows = _run(work, quiet=as_json)
    _print({"controls": rows}) if as_json else screen.show_results(_console(), rows, "Control runs")
    if any(row["outcome"] == "blind" for row in rows):
        raise Exit(NO)


@cli.command("answer")
@click.argument("issue", type=int, metavar="ISSUE")
@click.argument("said", type=click.Choice(list(ANSWERS)), metavar="ANSWER")
@by_option
@json_option
def answer_(issue: int, said: str, by: str | None, as_json: bool) -> None:
    """Answer an issue: retry, edit, defect or quarantine."""
    row = _run(lambda tools: answering.answer(tools, issue, said, by or tools.settings.by), quiet=as_json)
    _print(issue_shape(row)) if as_json else _console().print(
        screen.plain(f"Issue {row.id} ({', '.join(row.tests)}): {ANSWERS[said]}.")
    )


@cli.command("lessons")
@click.argument("project_name", metavar="PROJECT")
@click.option("--forget", type=int, multiple=True, metavar="ID", help="Delete a lesson; may be given several times.")
@json_option
def lessons_(project_name: str, forget: Sequence[int], as_json: bool) -> None:
    """Proven fixes that are tried first when the same locator breaks elsewhere."""

    async def work(tools: Tools) -> tuple[list[int], list[Lesson]]:
        one = await _project(tools, project_name)
        gone = [(await learning.forget(tools, one, lesson)).id for lesson in forget]
        return gone, list(await learning.listed(tools, one))

    gone, rows = _run(work, quiet=as_json)
    if as_json:
        _print({"lessons": [row.shape() for row in rows], "forgotten": gone})
        return
    screen.show_lessons(_console(), rows, gone)


@cli.command("review")
@click.argument("repair_id", type=int, metavar="ID")
@by_option
@json_option
def review(repair_id: int, by: str | None, as_json: bool) -> None:
    """Somebody looked at a repair: keep the fix, clear the flag."""
    row = _run(lambda tools: deciding.review(tools, repair_id, by or tools.settings.by), quiet=as_json)
    _print({"repair": row.id}) if as_json else _console().print(screen.plain(f"Repair {row.id} is reviewed."))


# --- the clock and the news --------------------------------------------------------------------------------


@cli.command("schedule")
@click.argument("project_name", metavar="PROJECT")
@json_option
def schedule_(project_name: str, as_json: bool) -> None:
    """What is done by the clock: last and next, and what is overdue (exit 1). `project set` changes it."""

    async def work(tools: Tools) -> Clock:
        async with tools.store.reading() as tx:
            return await timing.clock_of(tx, await projects.get(tx, project_name), now=tools.now())

    clock = _run(work, quiet=as_json)
    _print(clock.shape()) if as_json else screen.show_clock(_console(), clock.shape())
    sys.exit(NO if clock.alarms else 0)


@cli.group()
def target() -> None:
    """Where a project's news is sent: mail, chat, webhooks."""


@target.command("add")
@click.argument("project_name", metavar="PROJECT")
@click.argument("url")
@click.option("--events", "kinds", metavar="A,B", help="Which events, or all (default: what a person has to know).")
@by_option
@json_option
def target_add(project_name: str, url: str, kinds: str | None, by: str | None, as_json: bool) -> None:
    """Send events to URL, as Apprise writes it; - reads it from standard input, which no list of processes shows."""
    address = sys.stdin.readline() if url == "-" else url

    async def work(tools: Tools) -> Target:
        one = await _project(tools, project_name)
        return await deliver.add_target(tools, one, address, kinds, by or tools.settings.by)

    made = _run(work, quiet=as_json)
    if as_json:
        _print(target_shape(made))
    else:
        kinds_said = ", ".join(kind.value for kind in made.kinds)
        _console().print(screen.plain(f"Target {made.id}, {made.shown}, is told of: {kinds_said}."))
        _console().print(screen.plain(f"See whether it works: gardener target test {made.id}"))


@target.command("list")
@click.argument("project_name", metavar="PROJECT")
@json_option
def target_list(project_name: str, as_json: bool) -> None:
    """The targets of a project; their addresses are secrets and not shown whole."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await _project(tools, project_name)
        async with tools.store.reading() as tx:
            return [target_shape(row) for row in await targets.listed(tx, one.id)]

    rows = _run(work, quiet=as_json)
    _print({"targets": rows}) if as_json else screen.show_targets(_console(), rows)


@target.command("remove")
@click.argument("number", type=int, metavar="ID")
@by_option
@json_option
def target_remove(number: int, by: str | None, as_json: bool) -> None:
    """Send nothing to a target any more, not even what waits."""
    gone = _run(lambda tools: deliver.remove_target(tools, number, by or tools.settings.by), quiet=as_json)
    _print(target_shape(gone)) if as_json else _console().print(
        screen.plain(f"Target {gone.id}, {gone.shown}, is removed.")
    )


@target.command("test")
@click.argument("number", type=int, metavar="ID")
@json_option
def target_test(number: int, as_json: bool) -> None:
    """Send a test message now: exit 1 if it does not arrive."""
    outcome = _run(lambda tools: deliver.send_test(tools, number), quiet=as_json)
    why = None if isinstance(outcome, notify.Sent) else outcome.why
    if as_json:
        _print({"target": number, "sent": why is None, "why": why})
    elif why is None:
        _console().print("The test message was taken.")
    else:
        _say(f"The test message did not arrive: {why}.")
    sys.exit(0 if why is None else NO)


@cli.command("dead")
@click.argument("project_name", metavar="PROJECT")
@click.option("--retry", metavar="ID", help="Send it again from the start; `all` for all of them.")
@json_option
def dead(project_name: str, retry: str | None, as_json: bool) -> None:
    """News that was given up, with the reason."""
    if retry is not None and retry != "all" and not retry.isdecimal():
        raise click.UsageError(f"--retry takes the number of a dead letter or all, got '{retry}'")

    async def work(tools: Tools) -> dict[str, Any]:
        one = await _project(tools, project_name)
        if retry is None:
            async with tools.store.reading() as tx:
                rows = await deliveries.listed(tx, one.id, state=DeliveryState.DEAD)
            return {"dead": [delivery_shape(row) for row in rows]}
        async with tools.store.transaction() as tx:
            number = None if retry == "all" else int(retry)
            return {"retried": await deliveries.retry(tx, one.id, number, now=tools.now())}

    answer = _run(work, quiet=as_json)
    if as_json:
        _print(answer)
    elif retry is None:
        screen.show_dead(_console(), answer["dead"])
    else:
        _console().print(f"{answer['retried']} wait again; `gardener serve` or `gardener deliver` sends them.")


@cli.command("digest")
@click.argument("project_name", metavar="PROJECT")
@click.option("--send", is_flag=True, help="Send it to the targets as well, even if nothing happened.")
@json_option
def digest_(project_name: str, send: bool, as_json: bool) -> None:
    """What happened in the last 24 hours, and what waits. `project set NAME digest_hour=7` sends it each day."""

    async def work(tools: Tools) -> tuple[Digest, tuple[int, int]]:
        one = await _project(tools, project_name)
        if send:
            counted, _ = await digest.send_digest(tools, one)
            return counted, await deliver.deliver_due(tools)
        async with tools.store.reading() as tx:
            return await digest.digest_of_today(tx, one, now=tools.now()), (0, 0)

    counted, (arrived, failed) = _run(work, quiet=as_json)
    if as_json:
        _print(counted.shape() | ({"delivered": arrived, "failed": failed} if send else {}))
    else:
        for line in (counted.subject, *counted.lines()):
            _console().print(screen.plain(line))
    if failed:
        _say(f"{failed} messages did not arrive; `gardener serve` tries again.")


@cli.command("deliver")
@json_option
def deliver_(as_json: bool) -> None:
    """Send the news that is due now, once; `gardener serve` does so by itself."""
    arrived, failed = _run(deliver.deliver_due, quiet=as_json)
    _print({"delivered": arrived, "failed": failed}) if as_json else _console().print(
        f"{arrived} messages arrived, {failed} did not."
    )
    sys.exit(NO if failed else 0)


# --- secrets -----------------------------------------------------------------------------------------------


@cli.group()
def secret() -> None:
    """What tests sign in with: kept sealed, never shown again."""


@secret.command("set")
@click.argument("project_name", metavar="PROJECT")
@click.argument("name")
@by_option
@json_option
def secret_set(project_name: str, name: str, by: str | None, as_json: bool) -> None:
    """Keep a secret of the project; its value is asked for, or read from standard input when that is piped."""
    read_name(name)
    given = sys.stdin
    value = click.prompt("Value", hide_input=True, confirmation_prompt=True) if given.isatty() else _piped(given)

    async def work(tools: Tools) -> bool:
        one = await _project(tools, project_name)
        return await entrusting.set_secret(tools, one, name, value, by or tools.settings.by)

    again = _run(work, quiet=as_json)
    said = "has another value now" if again else "is kept"
    _print({"secret": name, "replaced": again}) if as_json else _console().print(
        screen.plain(f"The secret {name} of '{project_name}' {said}. Tests name it as {{secret: {name}}}.")
    )


def _piped(given: TextIO) -> str:
    try:
        return given.read(LONGEST + 3)
    except UnicodeDecodeError:
        raise BadSetting("the secret that was piped in is not a text in UTF-8") from None


@secret.command("list")
@click.argument("project_name", metavar="PROJECT")
@json_option
def secret_list(project_name: str, as_json: bool) -> None:
    """The secrets of a project and the tests that name them; never a value."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        return [one.shape() for one in await entrusting.told_of(tools, await _project(tools, project_name))]

    rows = _run(work, quiet=as_json)
    _print({"secrets": rows}) if as_json else screen.show_secrets(_console(), rows)


@secret.command("remove")
@click.argument("project_name", metavar="PROJECT")
@click.argument("name")
@by_option
@json_option
def secret_remove(project_name: str, name: str, by: str | None, as_json: bool) -> None:
    """Forget a secret of the project."""

    async def work(tools: Tools) -> tuple[str, ...]:
        one = await _project(tools, project_name)
        return await entrusting.remove_secret(tools, one, name, by or tools.settings.by)

    tests = _run(work, quiet=as_json)
    if as_json:
        _print({"secret": name, "tests": list(tests)})
        return
    still = f" {len(tests)} tests still name it; the environment is asked for it now." if tests else ""
    _console().print(screen.plain(f"The secret {name} is forgotten.{still}"))


@secret.command("rekey")
@by_option
@json_option
def secret_rekey(by: str | None, as_json: bool) -> None:
    """Seal everything with the key of today; the old one is GARDENER_SECRET_KEY_OLD or secret.key.old."""
    done = _run(lambda tools: entrusting.rekey(tools, by or tools.settings.by), quiet=as_json)
    _print(done.shape()) if as_json else _console().print(
        screen.plain(
            f"Sealed with the key of today: {done.secrets} secrets, {done.targets} addresses of targets, "
            f"{done.sessions} sessions. The old key is needed no more."
        )
    )


# --- the gate, the doctor, the worker, the demo ----------------------------------------------------------------


@cli.command("gate")
@click.argument("project_name", metavar="PROJECT")
@click.option("--junit", "file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Not to stdout.")
@json_option
def gate_(project_name: str, file: Path | None, as_json: bool) -> None:
    """Run the tests in service strictly, as JUnit XML: exit 0 green, 1 red, 3 environment. Never repairs."""

    async def work(tools: Tools) -> tuple[Project, tuple[Run, ...]]:
        one = await _project(tools, project_name)
        return one, await gate.run_gate(tools, one)

    one, ran = _run(work, quiet=as_json)
    written = gate.junit(one, ran)
    answer: dict[str, Any] = {"runs": [run_shape(row) for row in ran], "repairs": [], "model_calls": 0}
    if file is not None:
        _write_file(file, written)
    if as_json:
        _print({**answer, "junit": str(file) if file else None})
    elif file is not None:
        screen.show_runs(_console(), answer)
    else:
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    sys.exit(_exit_code(answer["runs"]))


def _write_file(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except OSError as error:
        raise BadSetting(f"'{file}' cannot be written: {error.strerror or error}") from error


@cli.command("doctor")
@json_option
def doctor_(as_json: bool) -> None:
    """Say what works here and how to mend what does not: exit 1 if anything fails."""
    given = _options()
    checks = asyncio.run(doctor.examine(os.environ, Path.cwd(), **given))
    fails = any(one.state == doctor.State.FAILS for one in checks)
    shapes = [one.shape() for one in checks]
    _print({"ok": not fails, "checks": shapes}) if as_json else screen.show_checks(_console(), shapes)
    sys.exit(NO if fails else 0)


def _options() -> dict[str, str | None]:
    """What was given before the command's name."""
    context = click.get_current_context()
    assert context is not None, "a command runs inside its context"
    given = context.find_root().params
    return {"database_url": given["database"], "data_dir": given["data_dir"]}


@cli.command("worker")
@click.option("--once", is_flag=True, help="End when nothing is left that may be done now.")
@click.option("--poll", type=click.FloatRange(0.05, 3600), default=2.0, metavar="SECONDS", show_default=True)
def worker_(once: bool, poll: float) -> None:
    """Do the jobs that wait, until it is stopped. What it has begun by then is put back."""
    stopped = _run(lambda tools: worker.Worker(tools).run(once=once, poll_s=poll), quiet=False)
    if stopped:
        _say("Stopped.")


@cli.command("serve")
@click.option("--host", metavar="ADDRESS", help="What to listen on (default: 127.0.0.1, this machine only).")
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="Default: 8420; 0 takes one that is free.")
@click.option("--public-url", metavar="URL", help="Where a reverse proxy shows the pages.")
def serve_(host: str | None, port: int | None, public_url: str | None) -> None:
    """Show the pages, and do the jobs that wait, until it is stopped."""
    given = {"host": host, "port": str(port) if port is not None else None, "public_url": public_url}
    settings = read_settings(os.environ, Path.cwd(), **_options(), **given)
    asyncio.run(_serve()(settings, _announce))
    _say("Stopped.")


def _serve() -> Callable[..., Coroutine[Any, Any, None]]:
    """The server, by its name: what shows stands right of what decides, and only here is it named."""
    found: Callable[..., Coroutine[Any, Any, None]] = pkgutil.resolve_name("web.serving:serve")
    return found


def _announce(line: str) -> None:
    print(line, flush=True)


@cli.group("user")
def user() -> None:
    """People who sign in to the pages."""


@user.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="May change projects as well.")
@by_option
@json_option
def user_add(name: str, admin: bool, by: str | None, as_json: bool) -> None:
    """Add somebody; prints the one-time password to hand to them."""
    role = Role.ADMIN if admin else Role.MEMBER
    made, password = _run(lambda tools: admitting.add_person(tools, name, role, by or tools.settings.by), quiet=as_json)
    _show_password(made, password, as_json)


@user.command("password")
@click.argument("name")
@by_option
@json_option
def user_password(name: str, by: str | None, as_json: bool) -> None:
    """Give somebody a new one-time password, and sign them out everywhere."""
    made, password = _run(lambda tools: admitting.reset_password(tools, name, by or tools.settings.by), quiet=as_json)
    _show_password(made, password, as_json)


def _show_password(person: Person, password: str, as_json: bool) -> None:
    if as_json:
        _print({"name": person.name, "role": person.role.value, "password": password})
        return
    _console().print(screen.plain(f"{person.name} ({person.role.value}) signs in once with the password {password}"))


@user.command("role")
@click.argument("name")
@click.argument("role", type=click.Choice([one.value for one in Role]))
@by_option
@json_option
def user_role(name: str, role: str, by: str | None, as_json: bool) -> None:
    """Make somebody an admin or a member."""

    async def work(tools: Tools) -> Person:
        async with tools.store.reading() as tx:
            person = await people.get(tx, name)
        return await admitting.set_role(tools, person.id, Role(role), by or tools.settings.by)

    changed = _run(work, quiet=as_json)
    _print({"name": changed.name, "role": changed.role.value}) if as_json else _console().print(
        screen.plain(f"{changed.name} is {changed.role.value} now.")
    )


@user.command("remove")
@click.argument("name")
@by_option
@json_option
def user_remove(name: str, by: str | None, as_json: bool) -> None:
    """Let somebody sign in no more, and sign them out everywhere."""

    async def work(tools: Tools) -> Person:
        async with tools.store.reading() as tx:
            person = await people.get(tx, name)
        return await admitting.remove_person(tools, person.id, by or tools.settings.by)

    gone = _run(work, quiet=as_json)
    _print({"removed": gone.name}) if as_json else _console().print(screen.plain(f"{gone.name} may sign in no more."))


@user.command("list")
@json_option
def user_list(as_json: bool) -> None:
    """List them."""

    async def work(tools: Tools) -> tuple[Person, ...]:
        async with tools.store.reading() as tx:
            return await people.listed(tx)

    found = _run(work, quiet=as_json)
    if as_json:
        _print({"people": [_person_shape(one) for one in found]})
        return
    rows = screen.table("name", "role", "last signed in")
    for one in found:
        seen = screen.ago(one.signed_in_at) if one.signed_in_at else "never"
        rows.add_row(screen.plain(one.name), screen.plain(one.role.value), screen.plain(seen))
    _console().print(
        rows if found else "Nobody yet: `gardener serve` makes the first, or gardener user add NAME --admin"
    )


def _person_shape(one: Person) -> dict[str, Any]:
    return {
        "name": one.name,
        "role": one.role.value,
        "must_change": one.must_change,
        "signed_in_at": one.signed_in_at.isoformat() if one.signed_in_at else None,
    }


@cli.command("demo")
@click.option("--once", is_flag=True, help="End by itself instead of showing the pages and keeping the shop open.")
@click.option("--auto-repair", is_flag=True, help="Write proven repairs at once instead of staging them.")
@click.option("--slow", is_flag=True, help="Pause between lines, for a talk.")
def demo_(once: bool, auto_repair: bool, slow: bool) -> None:
    """Show the main job on the bundled shop, in a folder of its own. Needs no key and touches nothing of yours."""
    given = _options()
    if given["database_url"]:
        raise click.UsageError("the demo makes a database of its own: leave --database out")
    own = read_settings(os.environ, Path.cwd())
    folder = demo.a_folder(Path(given["data_dir"]).expanduser() if given["data_dir"] else None)
    settings = demo.settings_in(folder, own)
    # A pipe gets no escape sequences, whatever the environment says of colours.
    console = Console(highlight=False, force_terminal=None if sys.stdout.isatty() else False)
    told = screen.DemoWatcher(console, pace_s=0.35 if slow else 0.0)
    # Nobody is asked to choose a password for an hour's data on their own machine.
    serve = None if once else partial(_serve(), must_change=False)
    kept = asyncio.run(demo.demo(settings, told, auto_repair=auto_repair, serve=serve, command=_command_for(settings)))
    if not kept:
        _say("A repair was staged or applied that is wrong: see 'Was that right?' above.")
        sys.exit(NO)


def _command_for(settings: Settings) -> str:
    """How to call this program on that database, as it can be pasted into a shell."""
    name = "gardener"
    if not shutil.which(name):
        name = sys.argv[0] if Path(sys.argv[0]).name == name else f"{sys.executable} -m gardener"
    options = ["--data-dir", str(settings.data_dir)]
    if read_settings(os.environ, Path.cwd(), data_dir=str(settings.data_dir)).database_url != settings.database_url:
        options = ["--database", settings.database_url, *options]
    return f"{name} {shlex.join(options)}"
