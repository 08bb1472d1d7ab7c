"""The CI gate: played strictly, nothing repaired, and JUnit XML that any reader takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from gardener import cli
from gardener.actions import gate, running
from gardener.cli import terminal
from gardener.errors import NotFound
from gardener.projects import Project
from gardener.runs import Run, RunStatus, Trigger
from gardener.saved_tests import Status
from gardener.settings import Settings
from gardener.store import jobs, open_store, projects, saved_tests
from gardener.tools import Tools, Watch, nobody_watches
from repair_ladder.formats import WrittenTest
from repair_ladder.outcomes import Environment, Green, Outcome, Red, Trace
from repair_ladder.stage import OnStep, Stage
from repair_ladder.steps import Step, Steps

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHOP = Project(1, "shop", "http://shop.test", auto_repair=False)
GREEN = Green(Trace())
RED = Red(Trace(), (1,), "check", 'expected "42" <total>, got \x1b[31m\x00"41" & more', observed="41")
DOWN = Environment("unreachable", "no connection")


def a_run(name: str = "checkout", **changed: Any) -> Run:
    given: dict[str, Any] = {
        "id": 7,
        "project": 1,
        "test": 1,
        "test_name": name,
        "version": 3,
        "trigger": Trigger.CI,
        "status": RunStatus.GREEN,
        "started_at": NOW,
        "ended_at": NOW + timedelta(milliseconds=1250),
    }
    return Run(**(given | changed))


def read(runs: list[Run]) -> ElementTree.Element:
    return ElementTree.fromstring(gate.junit(SHOP, runs))


# --- the XML -------------------------------------------------------------------------------------------


def test_a_suite_counts_its_cases_and_adds_up_their_time() -> None:
    red = a_run("pay", status=RunStatus.RED, error="no", failed_step="4")
    down = a_run("help", status=RunStatus.ENVIRONMENT, error="no connection")

    root = read([a_run(), red, down])

    suite = root.find("testsuite")
    assert suite is not None
    assert root.tag == "testsuites"
    for one in (root, suite):
        assert [one.get(key) for key in ("name", "tests", "failures", "errors", "skipped")] == [
            "shop",
            "3",
            "1",
            "1",
            "0",
        ]
        assert one.get("time") == "3.750"
    assert suite.get("timestamp") == "2026-03-01T12:00:00"
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {
        "base_url": "http://shop.test",
        "trigger": "ci",
    }
    cases = suite.findall("testcase")
    assert [(one.get("name"), one.get("classname"), one.get("time")) for one in cases] == [
        ("checkout", "shop", "1.250"),
        ("pay", "shop", "1.250"),
        ("help", "shop", "1.250"),
    ]
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["error"]]


def test_a_failure_names_step_cause_and_what_the_app_showed() -> None:
    red = a_run(status=RunStatus.RED, cause="check", error="expected 42,\ngot 41", failed_step="8.2", observed="41")

    failure = read([red]).find(".//failure")

    assert failure is not None
    assert failure.get("type") == "check"
    assert failure.get("message") == "step 8.2: expected 42, got 41"
    assert failure.text is not None
    assert failure.text.splitlines() == [
        "step 8.2: expected 42,",
        "got 41",
        "the app shows: 41",
        "run 7 of version 3",
    ]


@pytest.mark.parametrize(
    "text",
    ["\x00", "\x1b[31mred", "\x0b\x0c", "\ud800", "\ufffe\uffff", "]]> <![CDATA[ <x y='z'>&amp;", "\u202egnal"],
    ids=["null", "escape", "vertical", "surrogate", "noncharacter", "markup", "right to left"],
)
def test_text_from_the_app_never_breaks_the_document(text: str) -> None:
    red = a_run(f"a{text}b", status=RunStatus.RED, error=f"got a{text}b", observed=text)

    case = read([red]).find(".//testcase")

    kept = gate.UNWRITABLE.sub("", text)
    assert case is not None
    assert case.get("name") == f"a{kept}b"
    assert case[0].get("message") == f"got a{kept}b"


def test_a_huge_text_is_cut() -> None:
    red = a_run(status=RunStatus.RED, error="x" * 5_000_000)

    assert len(gate.junit(SHOP, [red])) < 30_000


# --- the run -------------------------------------------------------------------------------------------


def fake_tools(outcomes: dict[str, Outcome]) -> Callable[..., Any]:
    """In the place of open_tools: a real store, and a browser that says of each address what it is told."""

    @asynccontextmanager
    async def opened(settings: Settings, *, watch: Watch = nobody_watches) -> AsyncIterator[Tools]:
        async def replay(steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> Outcome:
            return outcomes[steps[0].parameters["url"]]

        async def never(*_: Any, **__: Any) -> Any:
            raise AssertionError("the gate plays tests and does nothing else")

        async with await open_store(settings.database_url) as store:
            yield Tools(
                settings=settings,
                store=store,
                replay=replay,
                sign_in=never,
                look=never,
                ask=lambda project: None,
                now=lambda: NOW,
                worker="gate",
                watch=watch,
            )

    return opened


async def fill(tools: Tools, *names: str, auto_repair: bool = False) -> Project:
    async with tools.store.transaction() as tx:
        shop = await projects.add(tx, "shop", "http://shop.test", now=NOW, auto_repair=auto_repair)
        for name in names:
            written = WrittenTest(name, (Step("goto", None, {"url": f"/{name}"}),))
            await saved_tests.import_test(tx, shop.id, written, folder=None, author="Ada", now=NOW)
    return shop


@pytest.fixture
def settings(sqlite_url: str, tmp_path: Path) -> Settings:
    return Settings(sqlite_url, tmp_path)


async def test_no_repair_is_asked_for_on_an_applying_project(settings: Settings) -> None:
    async with fake_tools({"/pay": RED})(settings) as tools:
        shop = await fill(tools, "pay", auto_repair=True)

        runs = await gate.run_gate(tools, shop)

        async with tools.store.reading() as tx:
            assert await jobs.listed(tx, shop.id) == ()
        assert [(run.status, run.trigger) for run in runs] == [(RunStatus.RED, Trigger.CI)]
        assert (await running.run_tests(tools, shop, (), Trigger.CI)).jobs  # where the gate is not asked, it is


async def test_only_tests_in_service_are_played_and_none_is_no_green_light(settings: Settings) -> None:
    async with fake_tools({"/pay": GREEN, "/help": GREEN})(settings) as tools:
        shop = await fill(tools, "pay", "help")
        async with tools.store.transaction() as tx:
            for one in await saved_tests.listed(tx, shop.id):
                if one.name == "help":
                    await saved_tests.set_status(tx, one.id, Status.PENDING)

        assert [run.test_name for run in await gate.run_gate(tools, shop)] == ["pay"]

        async with tools.store.transaction() as tx:
            for one in await saved_tests.listed(tx, shop.id):
                await saved_tests.set_status(tx, one.id, Status.ARCHIVED)
        with pytest.raises(NotFound, match="no test in service"):
            await gate.run_gate(tools, shop)


# --- the command ---------------------------------------------------------------------------------------


@pytest.fixture
def command(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(outcomes: dict[str, Outcome], *arguments: str) -> Result:
        opened = fake_tools(outcomes)

        async def prepare() -> None:
            async with opened(settings) as tools:
                await fill(tools, *(address.removeprefix("/") for address in outcomes))

        asyncio.run(prepare())
        monkeypatch.setattr(terminal, "open_tools", opened)
        given = ["--database", settings.database_url, "--data-dir", str(settings.data_dir), "gate", "shop", *arguments]
        return CliRunner().invoke(cli.cli, given)

    return run


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ({"/pay": GREEN}, 0),
        ({"/pay": GREEN, "/help": RED, "/more": DOWN}, 1),
        ({"/pay": GREEN, "/help": DOWN}, 3),
    ],
    ids=["green", "red", "environment"],
)
def test_junit_goes_to_standard_output_and_the_exit_code_tells(
    command: Callable[..., Result], outcomes: dict[str, Outcome], code: int
) -> None:
    done = command(outcomes)

    assert done.exit_code == code
    assert ElementTree.fromstring(done.stdout).get("tests") == str(len(outcomes))


def test_with_a_file_the_document_is_on_standard_output_and_the_xml_in_the_file(
    command: Callable[..., Result], tmp_path: Path
) -> None:
    file = tmp_path / "reports" / "junit.xml"

    done = command({"/pay": RED}, "--json", "--junit", str(file))

    answer = json.loads(done.stdout)
    assert done.exit_code == 1
    assert [(one["test"], one["status"], one["failed_step"]) for one in answer["runs"]] == [("pay", "red", 1)]
    assert answer["repairs"] == []
    assert done.stderr == ""
    assert ElementTree.parse(file).getroot().get("failures") == "1"


def test_with_a_file_alone_people_get_a_table(command: Callable[..., Result], tmp_path: Path) -> None:
    done = command({"/pay": GREEN}, "--junit", str(tmp_path / "junit.xml"))

    assert done.exit_code == 0
    assert "pay" in done.stdout
    assert "<" not in done.stdout


def test_a_file_that_cannot_be_written_is_named(command: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file, not a folder")

    done = command({"/pay": GREEN}, "--junit", str(tmp_path / "reports" / "junit.xml"))

    assert "junit.xml' cannot be written" in str(done.exception)
