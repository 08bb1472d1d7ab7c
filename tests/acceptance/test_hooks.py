"""Hooks: plugins are told what becomes of a repair, without secrets, and change nothing of it (H9, H27, H29-H31)."""

from __future__ import annotations

import logging
import sys
import threading
from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from gardener import hooks
from gardener.hooks import CaseFinished, Healed, HealingStarted, StepVerdict, hookimpl
from gardener.notices import EventKind
from gardener.settings import read_settings
from gardener.store import audit
from tests.acceptance.conftest import MakeWorld
from tests.acceptance.shop import BROKEN, CHECKOUT, HOME, OLD, RENAMED, WITHOUT_BUTTON
from tests.acceptance.test_intents import JOINED, ORDERING, TWO_PAGES
from tests.builders import a_page
from tests.fakes import World


class Listener:
    """Remembers what it was told, in order."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    @hookimpl
    def on_healing_started(self, event: HealingStarted) -> None:
        self.told.append(event)

    @hookimpl
    def on_healed(self, event: Healed) -> None:
        self.told.append(event)

    @hookimpl
    def on_step_verdict(self, event: StepVerdict) -> None:
        self.told.append(event)

    @hookimpl
    def on_case_finished(self, event: CaseFinished) -> None:
        self.told.append(event)


def plugged(world: World, *plugins: Any, patience: timedelta = hooks.PATIENCE) -> None:
    found = hooks.load(entry_points=False)
    assert found.manager is not None
    for number, plugin in enumerate(plugins):
        found.manager.register(plugin, f"plugin {number}")
    world.tools = replace(world.tools, plugins=replace(found, patience=patience))


async def broken(world: World, release: Any = RENAMED, test: Any = CHECKOUT) -> None:
    await world.save(test)
    await world.run()
    world.app.release = release


async def test_a_repair_is_told_from_its_start_to_its_end(applying: World) -> None:
    listener = Listener()
    plugged(applying, listener)
    await broken(applying)

    (result,) = await applying.nightly()

    started, healed, finished = listener.told
    assert isinstance(started, HealingStarted)
    assert (started.project, started.test, started.step, started.category) == ("shop", "checkout", "3", "rot")
    assert isinstance(healed, Healed)
    assert (healed.outcome, healed.strategy, healed.repair) == ("applied", "self_heal", result["repair"])
    assert healed.operations[0]["new"] == {"click": {"css": "#submit-payment"}}
    assert isinstance(finished, CaseFinished)
    assert (finished.outcome, finished.attempts, finished.model_calls) == ("applied", 1, 0)


async def test_h27_a_block_is_told_as_recoverable(make_world: MakeWorld) -> None:
    async with make_world(TWO_PAGES, auto_repair=True) as world:
        listener = Listener()
        plugged(world, listener)
        await broken(world, JOINED, ORDERING)

        await world.nightly()

        started, healed, _ = listener.told
        assert (started.category, healed.category, healed.strategy) == ("recoverable", "recoverable", "intent")


async def test_h9_h29_a_product_defect_is_told_with_all_that_is_known(applying: World) -> None:
    listener = Listener()
    plugged(applying, listener)
    await broken(applying, BROKEN)

    await applying.nightly()

    _, verdict, finished = listener.told
    assert isinstance(verdict, StepVerdict)
    assert verdict.category == "product_defect"
    assert verdict.step == "3"
    assert verdict.error == 'css "#pay" finds nothing', "H29: the full underlying error"
    assert "check" in verdict.explanation or "does not hold" in verdict.explanation
    assert verdict.recommendation.startswith("defect (")
    assert finished.outcome == "product_defect"


async def test_h10_incurable_names_the_cause(applying: World) -> None:
    listener = Listener()
    plugged(applying, listener)
    await applying.save(CHECKOUT)  # never green: nothing tells what the button was
    applying.app.release = WITHOUT_BUTTON

    await applying.nightly()

    verdict = next(one for one in listener.told if isinstance(one, StepVerdict))
    assert verdict.message.splitlines()[0] in ("IncurableStepError", "ProductDefectError")
    assert verdict.explanation


def a_verdict(**changes: Any) -> StepVerdict:
    given = {
        "project": "shop",
        "test": "checkout",
        "case": 1,
        "step": "3",
        "does": 'click css "#pay"',
        "error": "it finds nothing",
        "category": "product_defect",
        "explanation": "the button is gone",
        "recommendation": "look at the app",
    }
    return StepVerdict(**given | changes)


def test_h30_c28_the_message_has_the_class_first_the_step_between_lines_and_the_verdict_at_column_zero() -> None:
    lines = a_verdict().message.splitlines()

    assert lines[0] == "ProductDefectError"
    assert lines[1] == lines[4] == hooks.LINE
    assert lines[2:4] == ['  step 3: click css "#pay"', "  error: it finds nothing"]
    assert lines[5:] == [
        "verdict: product_defect",
        "explanation: the button is gone",
        "recommendation: look at the app",
    ], "no details, no lines for them"


def test_h30_details_stand_there_when_there_are_any_and_steer_nothing() -> None:
    said = a_verdict(observed="/error", evidence=("GET /x answered 500",), error="a\nverdict: rot\x1b[31m").message

    assert "  observed: /error\n  evidence: GET /x answered 500\n" in said
    assert said.count("\nverdict: ") == 1, "what an app says makes no line of its own"
    assert "\x1b" not in said


async def test_h31_the_same_text_reaches_the_log(applying: World, caplog: pytest.LogCaptureFixture) -> None:
    listener = Listener()
    plugged(applying, listener)
    await broken(applying, BROKEN)

    with caplog.at_level(logging.INFO, logger="gardener.actions.announcing"):
        await applying.nightly()

    verdict = next(one for one in listener.told if isinstance(one, StepVerdict))
    (record,) = [one for one in caplog.records if one.name == "gardener.actions.announcing"]
    assert record.getMessage() == verdict.message
    assert record.verdict["category"] == verdict.category  # type: ignore[attr-defined]


async def test_c23_one_repair_is_told_to_hooks_news_audit_and_whoever_watches(applying: World) -> None:
    listener = Listener()
    watched: list[str] = []

    async def watch(what: str, details: Any) -> None:
        watched.append(what)

    plugged(applying, listener)
    applying.tools = replace(applying.tools, watch=watch)
    await broken(applying)

    await applying.nightly()

    (repair,) = await applying.history()
    async with applying.store.reading() as tx:
        entries = await audit.listed(tx, project=applying.project.id)
    told = [one for one in await applying.events() if one.payload.get("repair") == repair.id]
    assert [one.kind for one in told] == [EventKind.APPLIED]
    assert [(one.what, one.subject) for one in entries] == [("repair", "checkout")]
    assert any(isinstance(one, Healed) for one in listener.told)
    assert {"ladder_rung", "result"} <= set(watched)


class Raising(Listener):
    """Raises whatever it is told."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    @hookimpl
    def on_healed(self, event: Healed) -> None:
        event.operations[0]["new"] = "something else"
        raise self.error


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1), KeyboardInterrupt()], ids=repr)
async def test_a_hook_that_raises_is_logged_and_changes_nothing(
    applying: World, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    raising, listener = Raising(error), Listener()
    plugged(applying, raising, listener)
    await broken(applying)

    (result,) = await applying.nightly()

    assert result["outcome"] == "applied"
    healed = next(one for one in listener.told if isinstance(one, Healed))
    assert healed.operations[0]["new"] == {"click": {"css": "#submit-payment"}}, "the next is given a copy of its own"
    assert (await applying.history())[0].operations[0]["new"] == {"click": {"css": "#submit-payment"}}
    (record,) = [one for one in caplog.records if one.getMessage() == "a hook was skipped"]
    assert (record.plugin, record.hook) == ("plugin 0", "on_healed")  # type: ignore[attr-defined]
    assert type(error).__name__ in record.why  # type: ignore[attr-defined]


async def test_a_hook_that_does_not_end_is_left_behind(applying: World, caplog: pytest.LogCaptureFixture) -> None:
    over = threading.Event()

    class Hanging:
        @hookimpl
        def on_healing_started(self, event: HealingStarted) -> None:
            over.wait(60)

    listener = Listener()
    plugged(applying, Hanging(), listener, patience=timedelta(milliseconds=50))
    await broken(applying)

    (result,) = await applying.nightly()
    over.set()

    assert result["outcome"] == "applied"
    assert any("did not end within" in getattr(one, "why", "") for one in caplog.records)
    assert any(isinstance(one, Healed) for one in listener.told)


async def test_no_secret_reaches_a_hook(make_world: MakeWorld) -> None:
    secret = "correct horse battery"
    echo = RENAMED.with_(home=a_page(HOME.replace("button#pay", "button#gone").replace("One blue mug", secret)))
    async with make_world(OLD, auto_repair=True, environ={"MUG": secret}) as world:
        listener = Listener()
        plugged(world, listener)
        from repair_ladder.formats import Secret

        test = replace(CHECKOUT, variables={"user": Secret("MUG")})
        await broken(world, echo, test)

        await world.nightly()

        assert listener.told
        assert secret not in repr(listener.told)


# --- loading -------------------------------------------------------------------------------------------


def a_module(name: str, monkeypatch: pytest.MonkeyPatch, **content: Any) -> None:
    made = ModuleType(name)
    for key, value in content.items():
        setattr(made, key, value)
    monkeypatch.setitem(sys.modules, name, made)


def test_a_plugin_is_loaded_by_the_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    a_module("shop_hooks", monkeypatch, on_healed=hookimpl(lambda event: None))
    settings = read_settings({"GARDENER_PLUGINS": "shop_hooks, shop_hooks", "HOME": str(tmp_path)}, tmp_path)

    found = hooks.load(settings.plugins, entry_points=False)

    assert found.names == ("shop_hooks",)
    assert found.troubles == ()


def test_a_plugin_is_loaded_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "shop"

        def load(self) -> Any:
            return Listener()

    asked: list[str] = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: asked.append(group) or [Point()])

    assert hooks.load().names == ("shop",)
    assert asked == ["drift_gardener"]


def test_a_plugin_that_cannot_be_loaded_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    a_module("wrong_hooks", monkeypatch, on_healed=hookimpl(lambda event, more: None))
    a_module("unknown_hooks", monkeypatch, on_harvest=hookimpl(lambda event: None))
    a_module("good_hooks", monkeypatch, on_healed=hookimpl(lambda event: None))

    found = hooks.load(["not_there", "wrong_hooks", "unknown_hooks", "good_hooks"], entry_points=False)

    assert found.names == ("good_hooks",)
    assert [one.split("'")[1] for one in found.troubles] == ["not_there", "wrong_hooks", "unknown_hooks"]
