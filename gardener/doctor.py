"""What works here and how to mend what does not: browser, database, data folder, clock, key, settings, versions."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sys
import tempfile
import zoneinfo
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from gardener import hooks
from gardener.actions import timing
from gardener.errors import BadSetting, GardenerError
from gardener.models import DEFAULT_PROVIDER
from gardener.sealing import sealer_of
from gardener.settings import FILE, Settings, read_settings
from gardener.store import Store, deliveries, open_store, projects, secrets, targets
from gardener.store.migrations import HEAD
from gardener.store.transaction import translated
from radar import chromium
from radar.errors import PageUnavailable, RadarError
from repair_ladder.models import lacks

PYTHON: Final = (3, 11)
LITTLE_SPACE: Final = 1_000_000_000  # bytes; pictures and pages of a few weeks
NO_SPACE: Final = 50_000_000
SKEW: Final = timedelta(seconds=5)  # leases are tens of seconds
# No clock that is right shows a time before this was written.
EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)
STARTS_WITHIN_S: Final = 60


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"  # works, but somebody should know
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    says: str
    mend: str | None = None  # what to do about it

    def shape(self) -> dict[str, Any]:
        return {"name": self.name, "state": self.state.value, "says": self.says, "mend": self.mend}


async def examine(environ: Mapping[str, str], folder: Path, **given: str | None) -> tuple[Check, ...]:
    """All checks; one that fails keeps none of the others from being made. Never shows a key or a password."""
    try:
        settings = read_settings(environ, folder, **given)
    except BadSetting as error:
        mend = f"correct {FILE} or the GARDENER_… variables"
        return (*_versions(), Check("settings", State.FAILS, str(error), mend))
    checks = [*_versions(), _settings(folder)]
    for check in (_browser, _data_folder, _database, _clock, _schedule, _news, _secrets, _plugins):
        checks += await _made(check, settings)
    return (*checks, _key(settings))


Examination = Callable[[Settings], Awaitable[tuple[Check, ...]]]


async def _made(check: Examination, settings: Settings) -> tuple[Check, ...]:
    name = check.__name__.strip("_").replace("_", " ")
    try:
        return await check(settings)
    except Exception as error:  # the doctor tells of what it did not expect as well
        return (Check(name, State.FAILS, f"{type(error).__name__}: {error}", "this is unexpected: please report it"),)


def _versions() -> tuple[Check, ...]:
    here = platform.python_version()
    wanted = ".".join(map(str, PYTHON))
    if sys.version_info >= PYTHON:
        python = Check("python", State.OK, f"{here} ({sys.executable})")
    else:
        python = Check("python", State.FAILS, f"{here} is too old", f"use Python {wanted} or newer")
    try:
        return python, Check("playwright", State.OK, version("playwright"))
    except PackageNotFoundError:
        return python, Check("playwright", State.FAILS, "is not installed", "install the package 'playwright'")


def _settings(folder: Path) -> Check:
    path = folder / FILE
    if path.is_file():
        return Check("settings", State.OK, f"read from {path}; GARDENER_… variables go before it")
    return Check("settings", State.OK, f"no {FILE} in {folder}: GARDENER_… variables and defaults hold")


async def _plugins(settings: Settings) -> tuple[Check, ...]:
    """Those that are told of repairs; one that cannot be loaded keeps nothing else from working."""
    found = await asyncio.to_thread(hooks.load, settings.plugins)
    listed = (Check("plugins", State.OK, ", ".join(found.names)),) if found.names else ()
    mend = "install or correct it, or take it out of GARDENER_PLUGINS"
    return (*listed, *(Check("plugins", State.WARNING, one, mend) for one in found.troubles))


# --- the browser ---------------------------------------------------------------------------------------


async def _browser(settings: Settings) -> tuple[Check, ...]:
    """Starts it and shows it a page, since one that starts can still be unable to open any."""
    from radar.browser import open_browser, visit_all

    try:
        async with (
            asyncio.timeout(STARTS_WITHIN_S),
            open_browser(executable=settings.chromium, endpoint=settings.browser_endpoint) as browser,
        ):
            own = browser.browser_type.executable_path
            where = settings.browser_endpoint or chromium.find(settings.chromium) or own
            seen = await visit_all(browser, ["data:text/html,<title>hello</title>"])
            failed = next((one for one in seen.values() if isinstance(one, PageUnavailable)), None)
            says = f"Chromium {browser.version} at {where}"
    except TimeoutError:
        return (Check("browser", State.FAILS, f"does not start within {STARTS_WITHIN_S} seconds", _mend(settings)),)
    except RadarError as error:
        return (Check("browser", State.FAILS, str(error), _mend(settings)),)
    if failed:
        mend = "in a container give it more shared memory (--shm-size=1g) or name another with GARDENER_CHROMIUM"
        return (Check("browser", State.FAILS, f"{says} starts, but shows no page: {failed}", mend),)
    return (Check("browser", State.OK, says),)


def _mend(settings: Settings) -> str:
    if settings.browser_endpoint:
        return f"see that a browser answers at {settings.browser_endpoint}, or unset browser_endpoint"
    if settings.chromium:
        return f"see that {settings.chromium} is a Chromium that runs here, or unset chromium"
    return "install it (apt-get install chromium, or: playwright install chromium), or name one with GARDENER_CHROMIUM"


# --- the data ------------------------------------------------------------------------------------------


async def _data_folder(settings: Settings) -> tuple[Check, ...]:
    folder = settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"drift")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        says = f"{folder} cannot be written: {error.strerror or error}"
        return (Check("data folder", State.FAILS, says, "give it to the user who runs this, or choose --data-dir"),)
    says = f"{folder}, {free / 1e9:.1f} GB free"
    if free < LITTLE_SPACE:
        state = State.FAILS if free < NO_SPACE else State.WARNING
        return (Check("data folder", state, says, "make room, or choose another with --data-dir"),)
    return (Check("data folder", State.OK, says),)


async def _database(settings: Settings) -> tuple[Check, ...]:
    """Opens it, which also sets it up or brings it up to date, and takes the lock that a write takes."""
    kind = _kind(settings)
    try:
        async with await open_store(settings.database_url) as store:
            async with store.transaction():
                pass
            says = f"{kind} {store.where}, tables at {HEAD}, which is what this release wants"
            skew = await _skew(store) if kind == "PostgreSQL" else None
    except GardenerError as error:
        mend = f"see that it is there and may be written, or name another with --database ({_forms(kind)})"
        return (Check("database", State.FAILS, str(error), mend),)
    found = Check("database", State.OK, says)
    return (found,) if skew is None else (found, _compare(skew))


def _kind(settings: Settings) -> str:
    return "SQLite" if settings.database_url.strip().startswith("sqlite") else "PostgreSQL"


def _forms(kind: str) -> str:
    return "sqlite:///FILE" if kind == "SQLite" else "postgresql://USER@HOST/DATABASE"


async def _skew(store: Store) -> timedelta:
    """How far this machine's clock is ahead of the database's."""
    async with store.reading() as tx:
        with translated():
            before = datetime.now(UTC)
            row = (await tx.connection.exec_driver_sql("SELECT clock_timestamp()")).one()
            after = datetime.now(UTC)
    there: datetime = row[0]
    return before + (after - before) / 2 - there


def _compare(skew: timedelta) -> Check:
    apart = abs(skew.total_seconds())
    says = f"{apart:.1f} seconds {'ahead of' if skew > timedelta() else 'behind'} the database's"
    if abs(skew) > SKEW:
        mend = "let both machines set their clocks by NTP: leases and schedules compare their times"
        return Check("clock skew", State.WARNING, says, mend)
    return Check("clock skew", State.OK, says)


# --- the clock and the key -----------------------------------------------------------------------------


async def _clock(_: Settings) -> tuple[Check, ...]:
    now = datetime.now().astimezone()
    says = f"{now:%Y-%m-%d %H:%M:%S}, time zone {now.tzname()} (UTC{now:%z})"
    if now < EARLIEST:
        return (Check("clock", State.FAILS, f"{says} cannot be right", "set the clock of this machine"),)
    with suppress(zoneinfo.ZoneInfoNotFoundError):
        zoneinfo.ZoneInfo("Europe/Berlin")
        return (Check("clock", State.OK, f"{says}; time zone data is there"),)
    mend = "install it (apt-get install tzdata, or the package 'tzdata'); schedules in named time zones need it"
    return (Check("clock", State.WARNING, f"{says}; there is no time zone data", mend),)


async def _schedule(settings: Settings) -> tuple[Check, ...]:
    """Is what is to be done by the clock done? A database that cannot be opened has a check of its own."""
    with suppress(GardenerError):
        async with await open_store(settings.database_url) as store, store.reading() as tx:
            every = await projects.listed(tx)
            clocks = await timing.clocks_of(tx, every, now=datetime.now(UTC))
        kept = sum(bool(one.timings) for one in clocks.values())
        said = [f"{one.name}: {alarm}" for one in every for alarm in clocks[one.id].alarms]
        if said:
            more = f" (and {len(said) - 3} more)" if len(said) > 3 else ""
            mend = "run `gardener serve`, which holds the clock, and look at its log"
            return (Check("schedule", State.WARNING, " ".join(said[:3]) + more, mend),)
        if kept:
            return (Check("schedule", State.OK, f"kept for {kept} of {len(every)} projects, nothing is overdue"),)
        return (Check("schedule", State.OK, "no project has one; `project set NAME sweep_cron=…` gives it one"),)
    return ()


async def _news(settings: Settings) -> tuple[Check, ...]:
    """Can the addresses of the targets be read, and has anything been given up?"""
    with suppress(GardenerError):
        async with await open_store(settings.database_url) as store, store.reading() as tx:
            every = await targets.listed(tx)
            dead = await deliveries.count_dead(tx)
        if not every:
            return (Check("news", State.OK, "nobody is told of anything; `target add PROJECT URL` changes that"),)
        try:
            sealer = sealer_of(settings)
            for one in every:
                sealer.unseal(one.sealed)
        except BadSetting as error:
            mend = "see docs/schedule-and-news.md on the key that secrets are sealed with"
            return (Check("news", State.FAILS, str(error), mend),)
        says = f"{len(every)} targets"
        if dead:
            mend = "see `gardener dead PROJECT`, mend the target, then --retry all"
            return (Check("news", State.WARNING, f"{says}; {dead} messages were given up", mend),)
        return (Check("news", State.OK, f"{says}; nothing was given up"),)
    return ()


async def _secrets(settings: Settings) -> tuple[Check, ...]:
    """Can the secrets of the projects be read with the key of this process?"""
    with suppress(GardenerError):
        async with await open_store(settings.database_url) as store, store.reading() as tx:
            every = await secrets.listed(tx)
            names = {one.id: one.name for one in await projects.listed(tx)}
        if not every:
            return (Check("secrets", State.OK, "none is kept; `secret set PROJECT NAME` keeps one"),)
        lost = []
        why = ""
        for one in every:
            try:
                sealer_of(settings).unseal(one.sealed, one.purpose)
            except BadSetting as error:
                lost.append(f"{one.name} of '{names[one.project]}'")
                why = str(error)
        if lost:
            more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
            mend = "put the key back, or `gardener secret set` them again"
            return (Check("secrets", State.FAILS, f"{', '.join(lost[:3])}{more}: {why}", mend),)
        return (Check("secrets", State.OK, f"{len(every)} are kept, and all can be read"),)
    return ()


def _key(settings: Settings) -> Check:
    """The usual provider of this place, and which keys there are; never a key itself."""
    usual = settings.model_provider or DEFAULT_PROVIDER
    keys = {
        "anthropic": settings.anthropic_api_key,
        "openai": settings.openai_api_key,
        "gemini": settings.gemini_api_key,
    }
    there = [name for name, key in keys.items() if key]
    listed = f"keys are set for {', '.join(there)}" if there else "no key is set"
    missing = lacks(usual)
    if missing is not None and (usual in there or settings.model_provider):
        return Check("AI key", State.WARNING, f"{missing} Until then no model is asked; {listed}", "install it")
    own_server = usual == "openai" and settings.openai_base_url
    if usual in there or usual == "claude_cli" or own_server:
        says = f"the ladder asks a model of '{usual}' where local repairs are not enough; {listed}"
        return Check("AI key", State.OK, says)
    if settings.model_provider:
        variable = f"{usual.upper()}_API_KEY"
        return Check("AI key", State.WARNING, f"'{usual}' is chosen and has no key; {listed}", f"export {variable}")
    if there:
        says = f"{listed}, but the usual provider is '{usual}', which has none: no model is asked"
        return Check("AI key", State.WARNING, says, f"set GARDENER_MODEL_PROVIDER={there[0]}, or of one project")
    return Check("AI key", State.OK, "none, and none is needed; with one the ladder climbs further")
