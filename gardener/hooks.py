"""Hooks: what other people's code is told of a repair. The door to pluggy.

A plugin is a module (or any object) with functions named as those of `Hooks`, each marked with `hookimpl`. It is found
by the entry points `drift_gardener` of installed packages, and by the setting `plugins`. What a hook is given is a
value of its own with no secret in it; what it returns is not looked at. One that raises, or does not end in time, is
logged and skipped: no hook changes what becomes of a repair.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.metadata
import inspect
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import Any, Final, TypeVar

import pluggy

from repair_ladder.prompts import clean

PROJECT: Final = "drift_gardener"  # of pluggy, and the group of entry points
PATIENCE: Final = timedelta(seconds=10)  # for one function of one plugin
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
log = logging.getLogger(__name__)

ENDED: Final[Mapping[str, str]] = {
    "product_defect": "ProductDefectError",
    "incurable": "IncurableStepError",
    "fixable": "RefusedRepairError",
    "environment": "EnvironmentError",
}
LINE: Final = "-" * 60


@dataclass(frozen=True, slots=True)
class HealingStarted:
    """The ladder is about to be climbed. `category` is what the failure looks like before anything is asked: rot,
    fixable, product_defect, or recoverable for a step of a block."""

    project: str
    test: str
    version: int
    run: int
    case: int
    step: str  # "8.2"
    category: str
    error: str


@dataclass(frozen=True, slots=True)
class Healed:
    """A proven fix was written ("applied") or waits for a person ("staged"). Operations as the commands print them."""

    project: str
    test: str
    case: int
    category: str
    outcome: str
    strategy: str
    reason: str
    operations: tuple[dict[str, Any], ...]
    proposal: int | None = None
    repair: int | None = None


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """What a step that stays red comes to, with everything that is known of it (H29)."""

    project: str
    test: str
    case: int
    step: str
    does: str  # the step, in words
    error: str  # whole
    category: str
    explanation: str
    recommendation: str
    observed: str | None = None
    evidence: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The same for people: what it is, step and error between lines, details where there are any, the verdict
        (H30)."""
        details = [f"observed: {self.observed}"] if self.observed is not None else []
        details += [f"evidence: {one}" for one in self.evidence] + [f"refused: {one}" for one in self.refusals]
        parts = [
            ENDED.get(self.category, ENDED["incurable"]),
            LINE,
            f"  step {self.step}: {self.does}",
            f"  error: {self.error}",
            LINE,
            *(f"  {one}" for one in details),
            f"verdict: {self.category}",
            f"explanation: {self.explanation}",
            f"recommendation: {self.recommendation}",
        ]
        return "\n".join("".join((one[: len(one) - len(one.lstrip())], clean(one))) for one in parts)


@dataclass(frozen=True, slots=True)
class CaseFinished:
    """The end of a case; `outcome` is that of the command's answer. What is unavailable may be taken up again."""

    project: str
    test: str
    case: int
    outcome: str
    reason: str
    attempts: int
    model_calls: int


class Hooks:
    """What a plugin may have; each function is optional, and takes the one argument by its name."""

    @hookspec
    def on_healing_started(self, event: HealingStarted) -> None:
        """A red run goes up the ladder."""

    @hookspec
    def on_healed(self, event: Healed) -> None:
        """A fix was proven, and is written or staged."""

    @hookspec
    def on_step_verdict(self, event: StepVerdict) -> None:
        """The ladder ended without a fix."""

    @hookspec
    def on_case_finished(self, event: CaseFinished) -> None:
        """Told last, whatever came of it."""


NAMES: Final[Mapping[type, str]] = {
    HealingStarted: "on_healing_started",
    Healed: "on_healed",
    StepVerdict: "on_step_verdict",
    CaseFinished: "on_case_finished",
}


@dataclass(frozen=True, slots=True)
class Plugins:
    """The plugins that were found, and why others were not loaded."""

    manager: pluggy.PluginManager | None = None
    troubles: tuple[str, ...] = ()
    patience: timedelta = field(default=PATIENCE)

    @property
    def names(self) -> tuple[str, ...]:
        listed = self.manager.list_name_plugin() if self.manager else []
        return tuple(sorted(name for name, plugin in listed if plugin is not None))

    async def tell(
        self, event: HealingStarted | Healed | StepVerdict | CaseFinished, redact: Callable[[str], str]
    ) -> None:
        """Tell every plugin, one after the other, each with a copy of its own. Never raises."""
        if self.manager is None or not self.names:
            return
        name, told = NAMES[type(event)], _redacted(event, redact)
        for plugin in self.names:
            one = self.manager.get_plugin(plugin)
            call = getattr(one, name, None)
            if call is None or not any(each.plugin is one for each in getattr(self.manager.hook, name).get_hookimpls()):
                continue
            others = [each for each in self.manager.get_plugins() if each is not one]
            hook = self.manager.subset_hook_caller(name, remove_plugins=others)
            why = await _call(lambda hook=hook: hook(event=deepcopy(told)), self.patience)  # type: ignore[misc]
            if why:
                log.warning("a hook was skipped", extra={"plugin": plugin, "hook": name, "why": redact(why)[:500]})


async def _call(hook: Callable[[], Any], patience: timedelta) -> str | None:
    """Why it did not end well; None if it did. On a thread of its own, which nobody waits for when time is up."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[str | None] = loop.create_future()

    def settle(why: str | None) -> None:
        if not ended.done():
            ended.set_result(why)

    def work() -> None:
        try:
            made = [one for one in hook() if inspect.isawaitable(one)]
            for one in made:
                getattr(one, "close", lambda: None)()
            why = "it is a coroutine, and hooks are plain functions" if made else None
        except BaseException as error:  # a plugin may raise anything, SystemExit as well
            why = f"it raised {type(error).__name__}: {error}"
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, why)

    threading.Thread(target=work, name="hook", daemon=True).start()
    try:
        return await asyncio.wait_for(asyncio.shield(ended), patience.total_seconds())
    except TimeoutError:
        return f"it did not end within {patience.total_seconds():g} s"


T = TypeVar("T")


def _redacted(event: T, redact: Callable[[str], str]) -> T:
    changed = {one.name: _hidden(getattr(event, one.name), redact) for one in fields(event)}  # type: ignore[arg-type]
    return replace(event, **changed)  # type: ignore[type-var]


def _hidden(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): _hidden(one, redact) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_hidden(one, redact) for one in value)
    return value


NONE: Final = Plugins()


def load(modules: Iterable[str] = (), *, entry_points: bool = True) -> Plugins:
    """The plugins of installed packages, and the modules of the setting `plugins`. One that cannot be loaded is logged
    and left out."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    troubles: list[str] = []
    if entry_points:
        for one in importlib.metadata.entry_points(group=PROJECT):
            _register(manager, one.name, one.load, troubles)
    for name in dict.fromkeys(modules):
        _register(manager, name, lambda name=name: importlib.import_module(name), troubles)  # type: ignore[misc]
    return Plugins(manager, tuple(troubles))


def _register(manager: pluggy.PluginManager, name: str, get: Callable[[], Any], troubles: list[str]) -> None:
    if manager.has_plugin(name):
        return  # named by an entry point and by the setting: once is enough
    try:
        plugin = get()
        if not manager.is_registered(plugin):
            manager.register(plugin, name)
            manager.check_pending()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a module does while it is imported
        if manager.has_plugin(name):
            manager.unregister(name=name)
        troubles.append(f"the plugin '{name}' is not used: {type(error).__name__}: {error}")
        log.warning("a plugin was not loaded", extra={"plugin": name, "why": str(error)[:500]})
