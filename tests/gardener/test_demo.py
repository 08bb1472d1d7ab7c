"""The demo: what it decides about each bundled test, in a real browser, and what it promises around that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from gardener import cli, demo
from gardener.actions.playing import recorded
from gardener.demo import Used, judge
from gardener.runs import Trigger
from gardener.sample_shop import SECRETS
from gardener.sample_shop.truth import EXPECTED, Expected, Right
from gardener.screen import DemoWatcher
from gardener.settings import Settings
from gardener.store import Transaction, issues, open_store, pages, projects, proposals, repairs, runs, saved_tests
from radar import chromium
from radar.locators import Locator
from radar.resolving import resolve

# Drifts that the gardener does not mend today, by the name of the test. Whoever teaches it one takes it out.
MISSED: frozenset[str] = frozenset()
HEALED = frozenset(name for name, one in EXPECTED.items() if one.right == Right.HEAL) - MISSED
LEFT_TO_A_PERSON = frozenset(name for name, one in EXPECTED.items() if one.right in (Right.PRODUCT_DEFECT, Right.GONE))
PATIENCE_S = 600  # a machine that does other things beside


# --- both modes, played once each --------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    """What one demo left behind."""

    way: str
    code: int
    out: str
    err: str
    folder: Path

    @property
    def database(self) -> str:
        return f"sqlite:///{self.folder / 'gardener.db'}"


@pytest.fixture(scope="module", params=["staging", "applying"])
def played(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Played]:
    """Staging and applying; with several workers side by side in one data folder: neither may meet the other."""
    if chromium.installed() is None:
        pytest.skip("no Chromium is installed")
    is_worker = "PYTEST_XDIST_WORKER" in os.environ  # then the base's parent is all workers' own
    data = tmp_path_factory.getbasetemp().parent / "demo" if is_worker else tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "gardener", "--data-dir", str(data), "demo", "--once"]
    # What would be the user's own: none of it may be touched, and none of it may change what is printed.
    own = {"GARDENER_DATABASE_URL": f"sqlite:///{data / 'own.db'}", "FORCE_COLOR": "1", "COLUMNS": "80"}
    ways: dict[str, list[str]] = {"staging": [], "applying": ["--auto-repair"]}
    process = subprocess.Popen(
        [*command, *ways[request.param]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **own},
    )
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
        folder = next(Path(line.split()[-1]) for line in out.splitlines() if "All data is in" in line)
        assert not (data / "own.db").exists()
        yield Played(request.param, process.returncode, out, err, folder)
    finally:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Decided:
    staged: frozenset[str]  # approved ones included
    applied: frozenset[str]  # by the gardener itself
    issues: dict[str, str]  # test -> verdict
    acted_on: dict[str, frozenset[str]]  # test -> which of the selectors in the truth a proof acted on


async def decided(played: Played) -> Decided:
    async with await open_store(played.database) as store, store.reading() as tx:
        shop = await projects.get(tx, "shop")
        waiting = await proposals.listed(tx, shop.id)
        written = await repairs.listed(tx, shop.id)
        found = await issues.listed(tx, shop.id)
        proofs = await runs.listed(tx, shop.id, triggers=[Trigger.PROOF])
        acted = {run.test_name: await _acted_on(tx, run) for run in proofs}
    return Decided(
        frozenset(one.test_name for one in waiting),
        frozenset(one.test_name for one in written if one.author == "gardener"),
        {test: one.verdict for one in found for test in one.tests},
        acted,
    )


async def _acted_on(tx: Transaction, run: Any) -> frozenset[str]:
    expected = EXPECTED[run.test_name]
    steps = recorded(run)
    seen = await pages.get_many(tx, {step.page_key for step in steps})
    return frozenset(
        css
        for css in (expected.element, *expected.traps)
        for step in steps
        if css and step.target in resolve(Locator(css=css), seen[step.page_key])
    )


@pytest.mark.browser
async def test_every_drift_is_mended_at_the_right_element_and_nothing_else_is_touched(played: Played) -> None:
    what = await decided(played)

    assert what.staged | what.applied == HEALED
    assert not what.staged & what.applied
    assert {test: acted for test, acted in what.acted_on.items() if acted != {EXPECTED[test].element}} == {}


@pytest.mark.browser
async def test_a_bug_and_a_removed_control_are_left_to_a_person(played: Played) -> None:
    what = await decided(played)

    assert what.issues.keys() == LEFT_TO_A_PERSON
    bugs = {test for test in LEFT_TO_A_PERSON if EXPECTED[test].right == Right.PRODUCT_DEFECT}
    assert {test for test in bugs if what.issues[test] != "product_defect"} == set()


@pytest.mark.browser
async def test_only_the_applying_mode_writes_by_itself(played: Played) -> None:
    what = await decided(played)

    assert len(what.applied) >= 5 if played.way == "applying" else not what.applied


@pytest.mark.browser
async def test_what_was_taken_back_is_as_it_was_imported(played: Played) -> None:
    async with await open_store(played.database) as store, store.reading() as tx:
        shop = await projects.get(tx, "shop")
        written = await repairs.listed(tx, shop.id)
        reverted = [one for one in written if one.reverted_at]
        test = await saved_tests.by_id(tx, reverted[0].test)

    assert len(written) >= 2
    assert len(reverted) == 1
    assert (test.steps, test.source) == (reverted[0].steps_before, reverted[0].source_before)
    assert "byte for byte" in " ".join(played.out.split())


@pytest.mark.browser
def test_it_ends_well_and_prints_plainly(played: Played) -> None:
    assert (played.code, played.err) == (0, "")
    assert "\x1b" not in played.out
    assert f"{len(HEALED)} of {len(HEALED | MISSED)} drifts mended, 0 false heals." in played.out
    to_copy = ("--data-dir", str(played.folder.parent))
    assert [
        line for line in played.out.splitlines() if len(line) > 80 and not any(one in line for one in to_copy)
    ] == []


@pytest.mark.browser
@pytest.mark.parametrize("played", ["staging"], indirect=True)
def test_the_commands_it_names_work(played: Played) -> None:
    line = next(line.strip() for line in played.out.splitlines() if line.strip().endswith(" staged shop"))

    options = line.split()[1:] if " -m gardener " not in line else line.split(" -m gardener ")[1].split()
    done = subprocess.run(
        [sys.executable, "-m", "gardener", *options],
        capture_output=True,
        text=True,
        # The database of the user is another one: the line must name the demo's.
        env={**os.environ, "GARDENER_DATABASE_URL": f"sqlite:///{played.folder.parent / 'own.db'}"},
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "self_heal, proven" in done.stdout


@pytest.mark.browser
def test_the_secret_is_in_nothing_that_is_kept_or_printed(played: Played) -> None:
    secret = SECRETS["SHOP_PASSWORD"].encode()

    assert secret not in played.out.encode()
    assert [path.name for path in played.folder.rglob("*") if path.is_file() and secret in path.read_bytes()] == []


# --- what it promises, without a browser --------------------------------------------------------------------

HEAL = Expected(Right.HEAL, "2", "2", element="#right", traps=("#trap",))
INSERTED = Expected(Right.HEAL, "2", "2", element="#right", is_inserted=True, traps=("#trap",))


@pytest.mark.parametrize(
    ("expected", "outcome", "used", "remark", "is_false"),
    [
        (HEAL, "staged", Used(True, False), "", False),
        (HEAL, "applied", Used(True, True), "FALSE HEAL: a trap", True),
        (HEAL, "applied", Used(False, False), "FALSE HEAL: another element", True),
        (HEAL, "staged", None, "", False),
        (INSERTED, "staged", Used(False, False), "", False),
        (INSERTED, "staged", Used(False, True), "FALSE HEAL: a trap", True),
        (HEAL, "incurable", None, "missed", False),
        (HEAL, "product_defect", None, "missed", False),
        (Expected(Right.PRODUCT_DEFECT), "staged", Used(True, False), "FALSE HEAL", True),
        (Expected(Right.GONE), "applied", Used(True, False), "FALSE HEAL", True),
        (Expected(Right.PASSES), "staged", None, "FALSE HEAL", True),
        (Expected(Right.PASSES), "passed", None, "", False),
        (Expected(Right.PRODUCT_DEFECT), "product_defect", None, "", False),
        (Expected(Right.PRODUCT_DEFECT), "incurable", None, "another verdict", False),
        (Expected(Right.GONE), "refused", None, "", False),
    ],
)
def test_a_wrong_repair_is_told_from_a_missed_one(
    expected: Expected, outcome: str, used: Used | None, remark: str, is_false: bool
) -> None:
    assert judge(expected, outcome, used=used) == (remark, is_false)


@pytest.mark.parametrize(("kept", "code"), [(True, 0), (False, 1)])
def test_a_broken_promise_is_an_exit_code(
    kept: bool, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def played(*_: Any, **__: Any) -> bool:
        return kept

    monkeypatch.setattr(demo, "demo", played)

    done = CliRunner().invoke(cli.cli, ["--data-dir", str(tmp_path), "demo", "--once"])

    assert done.exit_code == code
    assert ("is wrong" in done.stderr) == (not kept)


def test_it_takes_nothing_from_the_user_but_the_browser(tmp_path: Path) -> None:
    own = Settings(
        "postgresql://ada@db/own",
        tmp_path / "own",
        chromium="/opt/chromium",
        anthropic_api_key="sk-own",
        environ={"SHOP_PASSWORD": "own"},
    )

    folders = {demo.a_folder(tmp_path / "data") for _ in range(2)}
    settings = demo.settings_in(tmp_path / "data", own)

    assert len(folders) == 2
    assert settings.database_url == f"sqlite:///{tmp_path / 'data' / 'gardener.db'}"
    assert settings.data_dir == tmp_path / "data"
    assert settings.environ == SECRETS
    assert settings.anthropic_api_key is None
    assert settings.chromium == "/opt/chromium"


def test_a_database_of_ones_own_is_a_usage_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli.cli, ["--database", f"sqlite:///{tmp_path}/own.db", "demo", "--once"])

    assert done.exit_code == 2
    assert not (tmp_path / "own.db").exists()


async def test_the_story_names_a_silent_rung_and_steers_no_terminal() -> None:
    out = StringIO()
    told = DemoWatcher(Console(file=out, width=80, force_terminal=False))
    name = "checkout \x1b[31m[bold]"
    for what, details in (
        ("dry_run", {}),
        ("ladder_rung", {"rung": "self_heal", "source": "local", "step": "4"}),
        ("ladder_rung", {"rung": "suggest_fix", "source": "local", "step": "4"}),
        ("ladder_candidate", {"rung": "suggest_fix", "hypothesis": "a banner is in the way", "refused": 0}),
        ("result", {"outcome": "staged", "reason": "a banner is in the way"}),
    ):
        await told(what, {"test": name, **details})

    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines == [
        "",
        "  checkout \ufffd[31m[bold] is red at step 4",
        "  self_heal      has nothing to offer",
        "  suggest_fix    a banner is in the way",
        "  staged         a copy with this change ran green: it waits for a person",
    ]
