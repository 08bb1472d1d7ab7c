"""`gardener run`, `sweep`, `repair`, `edit`, `control` and `gate`: what plays tests."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rich_click as click
from click.exceptions import Exit

from gardener import screen
from gardener.actions import by_hand, controlling, gate, rewording, running, sweeping, working
from gardener.cli.terminal import NO, by_option, cli, console, do, exit_code, json_option, print_json, project_named
from gardener.errors import BadSetting, GardenerError
from gardener.projects import Project, read_base_url
from gardener.results import run_shape
from gardener.runs import Run, Trigger
from gardener.tools import Tools
from repair_ladder.rungs import RUNGS


@cli.command("run")
@click.argument("project_name", metavar="PROJECT")
@click.argument("tests", nargs=-1, metavar="[TEST…]")
@click.option("--trigger", type=click.Choice(["schedule", "suite", "ci"]), help="An unattended run of that kind.")
@json_option
def run(project_name: str, tests: Sequence[str], trigger: str | None, as_json: bool) -> None:
    """Run tests: exit 0 green, 1 red, 3 environment."""

    async def work(tools: Tools) -> dict[str, Any]:
        one = await project_named(tools, project_name)
        report = await running.run_tests(tools, one, tests, Trigger(trigger or "manual"))
        done = await working.work_until_done(tools, report.jobs) if report.jobs else ()
        results = working.results_of(done)
        return {
            "runs": [run_shape(row) for row in report.runs],
            "repairs": results,
            "model_calls": sum(result["model_calls"] for result in results),
        }

    answer = do(work, quiet=as_json)
    print_json(answer) if as_json else screen.show_runs(console(), answer)
    sys.exit(exit_code(answer["runs"]))


@cli.command("sweep")
@click.argument("project_name", metavar="PROJECT")
@click.option("--base-url", metavar="URL", help="Look at a preview instead; the baseline stays.")
@json_option
def sweep(project_name: str, base_url: str | None, as_json: bool) -> None:
    """Look at the app once, and stage repairs for the tests that a change broke."""
    preview = read_base_url(base_url) if base_url else None

    async def work(tools: Tools) -> dict[str, Any]:
        one = await project_named(tools, project_name)
        job = await sweeping.ask_for_sweep(tools, one, base_url=preview)
        done = (await working.work_until_done(tools, [job.id]))[0]
        if done.result is None or "sweep" not in done.result:
            raise GardenerError(str((done.result or {}).get("error", f"the sweep ended as {done.state.value}")))
        return done.result

    answer = do(work, quiet=as_json)
    print_json(answer) if as_json else screen.show_sweep(console(), answer)


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

    answer = do(work, quiet=as_json)
    print_json(answer) if as_json else screen.show_results(console(), [answer], "Repair")


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
        one = await project_named(tools, project_name)
        return (await rewording.edit(tools, one, test, words, apply=apply, by=by or tools.settings.by)).shape()

    answer = do(work, quiet=as_json)
    print_json(answer) if as_json else screen.show_results(console(), [answer], "Edit")
    sys.exit(0 if answer["outcome"] in ("staged", "applied") else NO)


@cli.command("control")
@click.argument("project_name", metavar="PROJECT")
@click.argument("tests", nargs=-1, metavar="[TEST]...")
@json_option
def control_(project_name: str, tests: Sequence[str], as_json: bool) -> None:
    """Play tests with falsified checks: they have to go red. Exit 1 if one cannot fail."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await project_named(tools, project_name)
        return [row.shape() for row in await controlling.control_tests(tools, one, tests)]

    rows = do(work, quiet=as_json)
    print_json({"controls": rows}) if as_json else screen.show_results(console(), rows, "Control runs")
    if any(row["outcome"] == "blind" for row in rows):
        raise Exit(NO)


@cli.command("gate")
@click.argument("project_name", metavar="PROJECT")
@click.option("--junit", "file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Not to stdout.")
@json_option
def gate_(project_name: str, file: Path | None, as_json: bool) -> None:
    """Run the tests in service strictly, as JUnit XML: exit 0 green, 1 red, 3 environment. Never repairs."""

    async def work(tools: Tools) -> tuple[Project, tuple[Run, ...]]:
        one = await project_named(tools, project_name)
        return one, await gate.run_gate(tools, one)

    one, ran = do(work, quiet=as_json)
    written = gate.junit(one, ran)
    answer: dict[str, Any] = {"runs": [run_shape(row) for row in ran], "repairs": [], "model_calls": 0}
    if file is not None:
        _write_file(file, written)
    if as_json:
        print_json({**answer, "junit": str(file) if file else None})
    elif file is not None:
        screen.show_runs(console(), answer)
    else:
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    sys.exit(exit_code(answer["runs"]))


def _write_file(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except OSError as error:
        raise BadSetting(f"'{file}' cannot be written: {error.strerror or error}") from error
