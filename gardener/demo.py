"""The main job on the bundled shop, from a green baseline to a reverted repair, in a folder of its own."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from rich.text import Text

from gardener import screen
from gardener.actions import by_hand, deciding, importing, running, sweeping, working
from gardener.actions.playing import recorded
from gardener.bootstrap import open_tools
from gardener.errors import GardenerError
from gardener.projects import Project, ProjectSettings
from gardener.proposals import ProposalStatus
from gardener.results import issue_shape, proposal_shape, repair_shape
from gardener.runs import RecordedStep, Run, RunStatus, Trigger
from gardener.sample_shop import SECRETS, TESTS_FOLDER, Shop
from gardener.sample_shop.truth import EXPECTED, Expected, Right
from gardener.settings import Settings
from gardener.store import (
    at_risk,
    baselines,
    issues,
    pages,
    projects,
    proposals,
    recordings,
    repairs,
    runs,
    saved_tests,
    sweeps,
)
from gardener.tools import Tools
from radar.locators import Locator
from radar.resolving import resolve

PROJECT: Final = "shop"
Serve: TypeAlias = Callable[[Settings, Callable[[str], None]], Awaitable[None]]
# The shop answers at once. A step that fails is waited for as long as this, so that it must not be much.
STEP_TIMEOUT_MS: Final = 2000
MOST_SWEEPS: Final = 5
WRITTEN: Final = ("staged", "applied")


def a_folder(inside: Path | None) -> Path:
    """A new folder for everything that the demo writes: nobody's own data is met, and a second demo meets none."""
    if inside is not None:
        inside.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="gardener-demo-", dir=inside)).absolute()


def settings_in(folder: Path, own: Settings) -> Settings:
    """The user's browser, and nothing else of theirs: no database, no secrets, no key."""
    return replace(
        own,
        database_url=f"sqlite:///{folder / 'gardener.db'}",
        data_dir=folder,
        environ=dict(SECRETS),
        anthropic_api_key=None,
        openai_api_key=None,
        openai_base_url=None,
        gemini_api_key=None,
        model_provider=None,
    )


async def demo(
    settings: Settings, told: screen.DemoWatcher, *, auto_repair: bool, serve: Serve | None, command: str
) -> bool:
    """Play it all. False if something was repaired that should not have been: the one thing that must never happen.

    `command` is how the gardener is called on this database, for the lines that tell how to look around. `serve` shows
    the pages with what came of it, while the shop stays open, until somebody interrupts; without it the demo ends.
    """
    began = time.monotonic()
    try:
        with Shop("1") as shop:
            async with open_tools(settings, watch=told) as tools:
                kept = await _Play(tools, told, shop, auto_repair=auto_repair).run()
            await told.section("What next", f"That took {time.monotonic() - began:.0f} seconds.")
            _look_around(told, settings.data_dir, shop, command, stays=serve is not None)
            if serve is not None:
                await serve(replace(settings, host="127.0.0.1", port=0, public_url=None), partial(_say, told))
                told.console.print("\n  The shop is closed.")
        return kept
    except asyncio.CancelledError:
        # A Ctrl-C reaches the browser's driver as well; what is left of it in the loop has nothing more to tell.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        shutil.rmtree(settings.data_dir, ignore_errors=True)
        raise
    finally:
        told.still()


def _look_around(told: screen.DemoWatcher, folder: Path, shop: Shop, command: str, *, stays: bool) -> None:
    told.command(f"{command} staged {PROJECT}", "what still waits for a person")
    told.command(f"{command} approve ID", "write one of those")
    told.command(f"{command} history {PROJECT}", "what was changed, and by whom")
    told.command(f"{command} issues {PROJECT}", "what only a person can decide")
    if stays:
        told.command(f'{command} run {PROJECT} "Subscribe to the newsletter"', "play a test on release 2")
    told.command("gardener project add NAME --base-url URL", "your own app: then import its tests, run, and sweep")
    told.console.print()
    told.console.print(screen.plain(f"  Everything is in {folder}; delete it when you like."), soft_wrap=True)
    if stays:
        told.console.print(
            screen.plain(f"  The shop stays open at {shop.url}, release {shop.release}: Ctrl-C ends it.")
        )


def _say(told: screen.DemoWatcher, line: str) -> None:
    """An address or a password: never broken by us, whatever the width."""
    told.console.print(Text.assemble("  ", Text(line, style="bold")), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Decision:
    """What came of one test, and whether that is right."""

    test: str
    outcome: str
    proof: int | None  # the run that shows the repair green
    how: str
    remark: str  # "" if it is right
    is_false_heal: bool

    def shape(self) -> dict[str, Any]:
        return {
            "test": self.test,
            "drift": EXPECTED[self.test].drift or "nothing that matters",
            "outcome": self.outcome,
            "proof": f"run {self.proof}" if self.proof is not None else "",
            "how": self.how,
            "remark": self.remark,
        }


def judge(expected: Expected, outcome: str, *, used: Used | None) -> tuple[str, bool]:
    """A remark where the outcome is not what is right ("" where it is), and whether it is a false heal."""
    if outcome in WRITTEN:
        if expected.right != Right.HEAL:
            return "FALSE HEAL", True
        if used is not None and used.trap:
            return "FALSE HEAL: a trap", True
        if used is not None and not (used.right or expected.is_inserted):
            return "FALSE HEAL: another element", True
        return "", False
    rights: dict[Right, tuple[str, ...]] = {
        Right.PASSES: ("passed",),
        Right.HEAL: (),
        Right.PRODUCT_DEFECT: ("product_defect",),
        Right.GONE: ("product_defect", "incurable", "refused"),
    }
    if outcome in rights[expected.right]:
        return "", False
    return "missed" if expected.right == Right.HEAL else "another verdict", False


@dataclass(frozen=True, slots=True)
class Used:
    """Which of the elements that are known to be right or wrong a proof run acted on."""

    right: bool
    trap: bool


class _Play:
    """The acts, in order. What the actions do in between tells itself through the watcher."""

    def __init__(self, tools: Tools, told: screen.DemoWatcher, shop: Shop, *, auto_repair: bool) -> None:
        self.told, self.shop, self.auto_repair = told, shop, auto_repair
        self.tools = replace(tools, watch=self.watch)
        self.results: dict[str, Mapping[str, Any]] = {}  # by the test's name, as the commands print them
        self.sweep_is_told = True
        self.project: Project

    async def run(self) -> bool:
        await self.open()
        await self.release_1()
        await self.baseline()
        await self.release_2()
        await self.sweeps()
        await (self.unattended() if self.auto_repair else self.unseen())
        kept = await self.decisions()
        await self.person()
        return kept

    async def watch(self, what: str, details: dict[str, Any]) -> None:
        """What a sweep saw is told before its first climb, not after its last."""
        if what == "dry_run" and not self.sweep_is_told:
            await self.tell_sweep()
        await self.told(what, details)

    # --- the acts ---

    async def open(self) -> None:
        mode = "writes proven repairs at once" if self.auto_repair else "stages proven repairs for a person"
        await self.told.section(
            "Drift Gardener", "A small pottery shop in two releases, and tests recorded on the first."
        )
        await self.told.say(f"The shop is at {self.shop.url}; this project {mode}. No AI key is used.", "dim")
        self.told.console.print(screen.plain(f"  All data is in {self.tools.settings.data_dir}", "dim"), soft_wrap=True)
        # One line about a browser that does not start, instead of one for each test.
        await self.tools.look((self.shop.url,), state=None, locale=None, redact=str, again=lambda *_: False)

    async def release_1(self) -> None:
        await self.told.section(
            "Release 1", "The tests are imported and run. A green run remembers what each step used."
        )
        async with self.tools.store.transaction() as tx:
            self.project = await projects.add(
                tx,
                PROJECT,
                self.shop.url,
                now=self.tools.now(),
                auto_repair=self.auto_repair,
                settings=ProjectSettings(step_timeout_ms=STEP_TIMEOUT_MS),
            )
        done = await importing.import_files(self.tools, self.project, [TESTS_FOLDER], self.tools.settings.by)
        if done.errors:
            raise GardenerError(f"The bundled tests cannot be imported: {done.errors[0]}")
        report = await running.run_tests(self.tools, self.project, ())
        red = _not_green(report)
        if any(run.status == RunStatus.RED for run in red):  # a machine that is busy with other things
            red = _not_green(await running.run_tests(self.tools, self.project, [run.test_name for run in red]))
        self.told.still()
        if red:
            raise GardenerError(
                f"'{red[0].test_name}' is {red[0].status.value} on release 1: {red[0].error}. Nothing can be shown "
                "without a green baseline; `gardener doctor` tells whether the browser works."
            )
        await self.told.say(f"{len(report.runs)} of {len(report.runs)} green.", "green")

    async def baseline(self) -> None:
        await self.told.section("Baseline", "The radar looks at every page that a test reaches, twice.")
        answer = await self.sweep()
        async with self.tools.store.reading() as tx:
            noisy = sum(len(one.noise) for one in await baselines.listed(tx, self.project.id))
        await self.told.say(f"{answer['pages']} pages; {noisy} places that never hold still are learned as noise.")

    async def release_2(self) -> None:
        self.shop.release = "2"
        await self.told.section("Release 2", "The shop is deployed anew, at the same address. Nobody told the tests.")

    async def sweeps(self) -> None:
        does = "finds who is at risk; repairs start from failed runs" if self.auto_repair else "tries those at risk"
        for number in range(1, MOST_SWEEPS + 1):
            await self.told.section(
                f"Sweep {number} of release 2", f"It compares each page with its baseline and {does}."
            )
            self.sweep_is_told = False
            answer = await self.sweep()
            if not self.sweep_is_told:
                await self.tell_sweep()
            for finding in answer["findings"]:
                await self.told.say(f"finding: {finding['reason']}", "magenta")
            self.results |= {one["test"]: one for one in answer["dry_runs"]}
            if not answer["left_for_next"]:
                return
            await self.told.say(f"Left for the next sweep: {', '.join(answer['left_for_next'])}", "yellow")

    async def sweep(self) -> dict[str, Any]:
        job = await sweeping.ask_for_sweep(self.tools, self.project)
        done = (await working.work_until_done(self.tools, [job.id]))[0]
        self.told.still()
        if done.result is None or "sweep" not in done.result:
            raise GardenerError(str((done.result or {}).get("error", "the sweep came to nothing")))
        return done.result

    async def tell_sweep(self) -> None:
        self.sweep_is_told = True
        async with self.tools.store.reading() as tx:
            swept = await sweeps.latest(tx, self.project.id)
            names = {test.id: test.name for test in await saved_tests.listed(tx, self.project.id)}
            risks = {names[one.test]: one.triggers for one in await at_risk.waiting(tx, self.project.id)}
        self.told.still()
        await self.told.show(screen.demo_changes(swept.changes if swept else (), risks))

    async def unseen(self) -> None:
        await self.told.section(
            "What no sweep can see", "A sweep sees pages as a new visitor. So the other tests are run, as every night."
        )
        async with self.tools.store.reading() as tx:
            tests = await saved_tests.listed(tx, self.project.id)
        report = await self.play([test.name for test in tests if test.name not in self.results], Trigger.SUITE)
        for run in report.runs:
            if run.status == RunStatus.RED:
                await self.told.say("")
                await self.told.say(f"gardener repair {run.id}", "cyan")
                result = await by_hand.repair_run(self.tools, run.id, only=None, apply=False, by=self.tools.settings.by)
                self.results[run.test_name] = result.shape()

    async def unattended(self) -> None:
        await self.told.section("The nightly run", "All tests are run; the red ones are repaired at once.")
        report = await self.play((), Trigger.SUITE)
        done = await working.work_until_done(self.tools, report.jobs) if report.jobs else ()
        self.results |= {one["test"]: one for one in working.results_of(done)}
        changed = [name for name, one in self.results.items() if one["outcome"] == "applied"]
        if changed:
            await self.told.section("The next run", "What was repaired is run once more.")
            await self.play(changed, Trigger.MANUAL)

    async def play(self, names: Sequence[str], trigger: Trigger) -> running.RunReport:
        """Those that are green as they are need no decision."""
        report = await running.run_tests(self.tools, self.project, names, trigger)
        self.told.still()
        for run in report.runs:
            outcome = "passed" if run.status == RunStatus.GREEN else run.status.value
            self.results.setdefault(run.test_name, {"test": run.test_name, "outcome": outcome})
        return report

    # --- what came of it ---

    async def decisions(self) -> bool:
        await self.told.section(
            "What was decided", "A row for each test. A proof is a green run of the test with the repair in it."
        )
        decided = [await self.decision(name) for name in EXPECTED]
        await self.told.show(screen.demo_decisions([one.shape() for one in decided], width=self.told.console.width))
        async with self.tools.store.reading() as tx:
            waiting = await proposals.listed(tx, self.project.id, statuses=[ProposalStatus.PROPOSED])
            written = await repairs.listed(tx, self.project.id)
            open_issues = await issues.listed(tx, self.project.id)
        if waiting:
            await self.told.section("The queue", "Proven repairs. The tests are as they were until somebody approves.")
            screen.show_staged(self.told.console, [proposal_shape(one) for one in reversed(waiting)], "")
        if written:
            await self.told.section("The history", "What was written, newest first. Each entry can be taken back.")
            screen.show_history(self.told.console, [repair_shape(one) for one in written])
        await self.told.section(
            "Issues", "What is no drift. The tests stay red, for they are right or for you to change."
        )
        await self.told.show(screen.demo_issues([issue_shape(one) for one in open_issues]))
        return await self.compare(decided)

    async def compare(self, decided: Sequence[Decision]) -> bool:
        """The demo's own promise, checked against what is known of the two releases. No repair has read that."""
        heals = [one for one in decided if EXPECTED[one.test].right == Right.HEAL]
        mended = sum(not one.remark for one in heals)
        false = [one for one in decided if one.is_false_heal]
        await self.told.section("Was that right?", "The shop's makers know what they changed; the gardener does not.")
        await self.told.say(
            f"{mended} of {len(heals)} drifts mended, {len(false)} false heals.", "red" if false else "green"
        )
        for one in decided:
            if one.remark:
                await self.told.say(f"{one.test}: {one.outcome.replace('_', ' ')}, {one.remark}", "yellow")
        return not false

    async def decision(self, name: str) -> Decision:
        result = self.results.get(name, {"outcome": "not run"})
        how, proof, used = "", None, None
        if result["outcome"] in WRITTEN:
            how, proof, steps = await self.written(result)
            used = await self.used(EXPECTED[name], steps)
        remark, is_false = judge(EXPECTED[name], result["outcome"], used=used)
        return Decision(name, result["outcome"], proof, how, remark, is_false)

    async def written(self, result: Mapping[str, Any]) -> tuple[str, int | None, tuple[RecordedStep, ...] | None]:
        """How a repair was found, the run that proves it, and what that run acted on."""
        async with self.tools.store.reading() as tx:
            if result["proposal"] is not None:
                proposal = await proposals.get(tx, result["proposal"])
                run = await runs.get(tx, proposal.proof_run) if proposal.proof_run is not None else None
                how = _how(proposal.strategy, proposal.operations)
                return how, run.id if run else None, recorded(run) if run else None
            repair = await repairs.get(tx, result["repair"])
            recording = await recordings.get(tx, repair.test, repair.version_after)
        how = _how(repair.strategy, repair.operations)
        return how, recording.run if recording else None, recording.steps if recording else None

    async def used(self, expected: Expected, steps: Sequence[RecordedStep] | None) -> Used | None:
        """None without a proof: what was never run has used nothing."""
        if steps is None:
            return None
        async with self.tools.store.reading() as tx:
            seen = await pages.get_many(tx, {step.page_key for step in steps})

        def acts_on(css: str) -> bool:
            return any(step.target in resolve(Locator(css=css), seen[step.page_key]) for step in steps)

        return Used(acts_on(expected.element), any(map(acts_on, expected.traps)))

    # --- a person ---

    async def person(self) -> None:
        """Approves two, if so many wait, and takes one back."""
        by = self.tools.settings.by
        await self.told.section("A person decides", f"As {by}: approve, run, and take one back.")
        async with self.tools.store.reading() as tx:
            waiting = await proposals.listed(tx, self.project.id, statuses=[ProposalStatus.PROPOSED])
        for proposal in waiting[-1:-3:-1]:
            repair = await deciding.approve(self.tools, proposal.id, by)
            await self.told.say(f"gardener approve {proposal.id}", "cyan")
            await self.told.say(f"repair {repair.id}: '{repair.test_name}' is at version {repair.version_after}")
        async with self.tools.store.reading() as tx:
            written = await repairs.listed(tx, self.project.id, limit=2)
        if not written:
            return
        await running.run_tests(self.tools, self.project, [one.test_name for one in written])
        self.told.still()
        reverted = await deciding.revert(self.tools, written[0].id, by)
        await self.told.say(f"gardener revert {reverted.id}", "cyan")
        await self.told.say(await deciding.warning_of(self.tools, reverted))
        await self.told.say(await self.compare_bytes(reverted.test))

    async def compare_bytes(self, test: int) -> str:
        async with self.tools.store.reading() as tx:
            now = await saved_tests.by_id(tx, test)
        files = [path.read_text(encoding="utf-8") for path in TESTS_FOLDER.glob("*.yaml")]
        if importing.export_yaml(now) not in files:
            raise GardenerError(f"'{now.name}' is not what was imported after its repair was reverted")
        return f"'{now.name}' is byte for byte the file that was imported."


def _not_green(report: running.RunReport) -> list[Run]:
    return [run for run in report.runs if run.status != RunStatus.GREEN]


def _how(strategy: str, operations: Sequence[Mapping[str, Any]]) -> str:
    done = {"insert": "after step", "replace": "step", "delete": "without step"}
    return f"{strategy}, " + ", ".join(f"{done[one['op']]} {one['step']}" for one in operations)
