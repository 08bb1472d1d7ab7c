"""Fakes at the doors: a browser over snapshots, a clock, a person who watches, a scripted model; a Tools made of them.

The store is a real SQLite file. Nothing further in is replaced.
"""

from __future__ import annotations

import gzip
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from gardener.actions import running, sweeping, working
from gardener.jobs import Job
from gardener.notices import Event
from gardener.projects import Project, ProjectSettings
from gardener.proposals import Proposal, ProposalStatus
from gardener.repairs import Repair
from gardener.runs import Run, Trigger
from gardener.saved_tests import SavedTest
from gardener.settings import Settings
from gardener.store import (
    Store,
    at_risk,
    baselines,
    events,
    issues,
    jobs,
    open_store,
    projects,
    proposals,
    repairs,
    runs,
    saved_tests,
)
from gardener.tools import Tools
from gardener.triage import Issue
from radar.at_risk import resolve_ways
from radar.elements import Element, PageSnapshot, fold
from radar.errors import PageUnavailable, RadarError
from radar.locators import Locator
from radar.reading import Redact, pack, read_page
from radar.visits import Again, Visit
from repair_ladder import fragments
from repair_ladder.checks import describe, meets
from repair_ladder.errors import BadTest
from repair_ladder.formats import WrittenTest
from repair_ladder.harm import forbidden_to
from repair_ladder.outcomes import Cause, Dialog, Environment, Evidence, Green, Outcome, Played, Red, Sent, Trace
from repair_ladder.ports import Ask, Question, Reply, Unavailable
from repair_ladder.stage import OnStep, Stage
from repair_ladder.steps import Place, Step, Steps, walk
from repair_ladder.values import fill_in, redactor
from tests.builders import HOST, a_page

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PNG = b"\x89PNG\r\n\x1a\n a picture of the shop"


@dataclass
class Clock:
    """Stands at a moment until it is moved; every look at it moves it by a millisecond, so that orders are plain."""

    moment: datetime = NOW

    def __call__(self) -> datetime:
        self.moment += timedelta(milliseconds=1)
        return self.moment

    def pass_(self, **length: float) -> None:
        self.moment += timedelta(**length)


@dataclass
class Watching:
    """Remembers what it was told."""

    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def __call__(self, what: str, details: dict[str, Any]) -> None:
        self.told.append((what, details))

    def of(self, what: str) -> list[dict[str, Any]]:
        return [details for one, details in self.told if one == what]


@dataclass
class Model:
    """Answers from a script, in order, and remembers what it was asked; out of answers it is unavailable."""

    script: list[Reply | Callable[[Question], Reply]] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)

    async def __call__(self, question: Question) -> Reply:
        self.asked.append(question)
        if not self.script:
            return Unavailable("overloaded", "the script of the fake model has ended")
        entry = self.script.pop(0)
        return entry(question) if callable(entry) else entry


# --- a browser over snapshots --------------------------------------------------------------------------


@dataclass(frozen=True)
class Release:
    """The pages of an app by their path, and what lies behind its sign-in.

    A click on an element with `href` or `formaction` goes there, once every required field of the page is filled in.
    `{typed:NAME}` in a text is what was typed into the field of that `name`.
    """

    pages: Mapping[str, PageSnapshot]
    behind: frozenset[str] = frozenset()  # paths that are answered with /login until somebody signed in
    confirms: Mapping[str, str] = field(default_factory=dict)  # a click on that name asks this in a native dialog

    def with_(self, **pages: PageSnapshot) -> Release:
        """`home` is "/", any other name its path."""
        changed = {"/" if name == "home" else f"/{name}": page for name, page in pages.items()}
        return replace(self, pages={**self.pages, **changed})


@dataclass(frozen=True)
class Playing:
    """A replay in the middle of itself, as hooks are told of it."""

    number: int  # from 1, of all replays so far
    steps: Steps
    stage: Stage


Hook: TypeAlias = Callable[[Playing], Awaitable[object] | None]
Trouble: TypeAlias = Environment | PageUnavailable | BaseException


@dataclass
class App:
    """What the tests and the sweeps meet: releases, and the browser that plays them."""

    release: Release
    previews: dict[str, Release] = field(default_factory=dict)  # by their base URL
    trouble: Trouble | None = None  # what every replay and look comes to instead
    in_the_middle: Hook | None = None  # called in the middle of every replay
    on_look: Callable[[], Awaitable[object] | None] | None = None
    replays: list[Steps] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    reloads: list[str] = field(default_factory=list)  # those that were looked at twice
    sign_ins: int = 0
    sessions: list[Any] = field(default_factory=list)  # of each replay; None: nobody is signed in
    ended: set[Any] = field(default_factory=set)  # sessions that the app has ended
    lets_in: bool = True  # does a new session get past the sign-in?

    def end_sessions(self) -> None:
        self.ended |= {f"session {number}" for number in range(1, self.sign_ins + 1)}

    def knows(self, state: Any) -> bool:
        return bool(state) and state not in self.ended

    async def replay(self, steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> Outcome:
        self.replays.append(steps)
        self.sessions.append(stage.state)
        playing = Playing(len(self.replays), steps, stage)
        return (await self._play(playing))[0]

    async def sign_in(self, steps: Steps, stage: Stage, *, on_step: OnStep | None = None) -> tuple[Outcome, Any]:
        self.sign_ins += 1
        made = f"session {self.sign_ins}"
        if not self.lets_in:
            self.ended.add(made)
        outcome, signed_in = await self._play(Playing(0, steps, stage))
        return outcome, made if signed_in and isinstance(outcome, Green) else None

    async def look(
        self, urls: Sequence[str], *, state: Any, locale: str | None, redact: Redact, again: Again
    ) -> dict[str, Visit | PageUnavailable]:
        if self.on_look:
            await _await(self.on_look())
        if isinstance(self.trouble, BaseException) and not isinstance(self.trouble, PageUnavailable):
            raise self.trouble
        found: dict[str, Visit | PageUnavailable] = {}
        for url in urls:
            self.looks.append(url)
            if isinstance(self.trouble, PageUnavailable):
                found[url] = self.trouble
            elif isinstance(self.trouble, Environment):
                found[url] = PageUnavailable(f"{url} cannot be loaded: {self.trouble.message}")
            else:
                base, path = _split(url, (HOST, *self.previews))
                page = seen(self._release(base), path, {}, self.knows(state), redact)
                page = replace(page, url=base + urlsplit(page.url).path)
                twice = again(url, page)
                if twice:
                    self.reloads.append(url)
                found[url] = Visit(url, page, page if twice else None)
        return found

    def _release(self, base: str) -> Release:
        return self.previews.get(base, self.release)

    async def _play(self, playing: Playing) -> tuple[Outcome, bool]:
        run = _Run(self._release(playing.stage.base_url), playing.stage)
        run.signed_in = self.knows(playing.stage.state)
        steps = fragments.expand(playing.steps, playing.stage.fragments)
        every = tuple(walk(steps))
        run.scopes = fragments.Scopes(steps, run.values)
        for number, (place, step) in enumerate(every):
            if number == len(every) // 2:
                if self.in_the_middle and playing.number:
                    await _await(self.in_the_middle(playing))
                if isinstance(self.trouble, Environment):
                    return replace(self.trouble, trace=run.trace(), place=place), False
                if isinstance(self.trouble, BaseException):
                    raise self.trouble
                run.release = self._release(playing.stage.base_url)
            ended = run.play(place, step)
            if ended is not None:
                return ended, False
        return Green(run.trace()), run.signed_in


async def _await(result: Awaitable[object] | None) -> None:
    if inspect.isawaitable(result):
        await result


def _split(url: str, bases: Sequence[str]) -> tuple[str, str]:
    base = next(one for one in bases if url == one or url.startswith(one + "/"))
    return base, url[len(base) :] or "/"


def seen(release: Release, path: str, typed: Mapping[str, str], signed_in: bool, redact: Redact) -> PageSnapshot:
    """A page as the door hands it on: what was typed is echoed, and no secret is left in it."""
    page = release.pages.get(path)
    if path in release.behind and not signed_in:
        page = release.pages["/login"]
    if page is None:
        page = a_page('h1 "Not found"', path, title="Not found", status=404)
    echoed = replace(page, title=_echo(page.title, typed), elements=tuple(_typed(one, typed) for one in page.elements))
    text = gzip.decompress(pack(echoed)[1]).decode()
    return read_page(text, redact=redact)[0]


def _echo(text: str, typed: Mapping[str, str]) -> str:
    for name, value in typed.items():
        text = text.replace(f"{{typed:{name}}}", value)
    return text


def _typed(element: Element, typed: Mapping[str, str]) -> Element:
    pieces = tuple((at, _echo(text, typed)) for at, text in element.pieces)
    attributes = {key: _echo(value, typed) for key, value in element.attributes.items()}
    return replace(element, pieces=pieces, attributes=attributes, name=_echo(element.name, typed))


class _Failed(Exception):
    def __init__(self, cause: Cause, message: str, observed: str | None = None) -> None:
        super().__init__(message)
        self.cause, self.observed = cause, observed


class _Run:
    """One run: where it is and what was typed."""

    def __init__(self, release: Release, stage: Stage) -> None:
        self.release, self.stage, self.redact = release, stage, redactor(stage.secrets)
        self.path: str | None = None
        self.values = dict(stage.values)
        self.scopes = fragments.Scopes((), self.values)
        self.typed: dict[str, str] = {}
        self.signed_in = False
        self.played: list[Played] = []
        self.snapshots: list[PageSnapshot] = []
        self.found: int | None = None
        self.answer: str | None = None
        self.dialogs: list[Dialog] = []
        self.place: Place = ()
        self.sent: list[Sent] = []

    def trace(self) -> Trace:
        return Trace(tuple(self.played), tuple(self.snapshots), Evidence(tuple(self.dialogs)))

    @property
    def page(self) -> PageSnapshot:
        if self.path is None:
            return PageSnapshot("about:blank", elements=(Element(0, -1, "html", {}), Element(1, 0, "body", {})))
        shown = seen(self.release, self.path, self.typed, self.signed_in, self.redact)
        return replace(shown, url=self.stage.base_url + urlsplit(shown.url).path)

    def play(self, place: Place, step: Step) -> Outcome | None:
        self.place, self.found, self.sent = place, None, []
        failed: _Failed | None = None
        try:
            page = self.page
            self.scopes.go_to(place)
            self.do(fill_in(step, self.values))
        except _Failed as error:
            failed = error
        except BadTest as error:
            failed = _Failed("test", str(error))
        if self.path in self.release.pages and (self.release.pages[self.path].status or 200) >= 500:
            return Environment("server_error", f"{self.path} answered 500", self.trace(), place, self.page)
        at = None
        if self.found is not None:
            # A check is remembered with the page it held on, an action with the page it was done on.
            if not self.snapshots or self.snapshots[-1] != page:
                self.snapshots.append(page)
            at = len(self.snapshots) - 1
        inside = fragments.where(self.scopes.steps, place)
        why = self.redact(f"{inside}: {failed}" if inside else str(failed)) if failed else None
        ms = float(len(self.played))
        skipped = bool(failed and step.optional)
        self.played.append(
            Played(
                place, step.kind, page.url, ms, ms + 1, 0, at, self.found, why, skipped, sent=tuple(self.sent),
                url_after=self.page.url,
            )
        )  # fmt: skip
        if failed and not step.optional:
            target = self.found if failed.cause not in ("missing", "many", "navigation") else None
            observed = self.redact(failed.observed) if failed.observed is not None else None
            return Red(self.trace(), place, failed.cause, why or "", self.page, target, observed, PNG)
        return None

    def all(self, locator: Locator) -> tuple[int, ...]:
        try:
            return resolve_ways(locator, self.page, self.stage.test_id_attribute)
        except RadarError as error:
            raise _Failed("test", f"{locator} cannot be used: {error}") from None

    def one(self, step: Step) -> Element:
        assert step.locator is not None
        found = self.all(step.locator)
        if not found:
            raise _Failed("missing", f"{step.locator} finds nothing")
        if len(found) > 1:
            raise _Failed("many", f"{step.locator} finds {len(found)} elements")
        self.found = found[0]
        return self.page.elements[found[0]]

    def do(self, step: Step) -> None:
        given = step.parameters
        if step.kind.startswith("assert_"):
            self.check(step)
            return
        match step.kind:
            case "goto":
                url = str(given["url"])
                self.path = url.removeprefix(self.stage.base_url) if url.startswith("http") else url
            case "back" | "reload" | "dialog" | "set" | "wait" | "screenshot":
                self.beside(step)
            case "press" | "scroll" if step.locator is None:
                pass
            case "use":
                raise _Failed("test", fragments.why_not_played(str(given["fragment"]), (), self.stage.fragments))
            case _:
                self.use(step, self.one(step))

    def beside(self, step: Step) -> None:
        given = step.parameters
        if step.kind == "dialog":
            self.answer = str(given["answer"])
        elif step.kind == "set":
            self.values[str(given["into"])] = str(given["value"])
        elif "url" in given:
            self.hold(meets(given["url"], self.path or ""), f"the URL {describe(given['url'])}", self.path or "")
        elif "for" in given:
            found = [self.page.elements[at] for at in self.all(given["for"])]
            shown = any(one.visible for one in found)
            if shown != (given.get("state", "visible") != "hidden"):
                raise _Failed("missing", f"{given['for']} did not become {given.get('state', 'visible')}")

    def use(self, step: Step, element: Element) -> None:
        if self.place in self.stage.guarded:
            why = forbidden_to(step, self.page, element.index, self.stage.forbidden, self.stage.test_id_attribute)
            if why:
                raise _Failed("forbidden", why)
        for is_so, cause, why in (
            (not element.visible, "hidden", "cannot be seen"),
            (not element.enabled, "disabled", "is disabled"),
            (element.covered and step.kind in ("click", "check"), "covered", "is covered by <div>"),
        ):
            if is_so:
                raise _Failed(cause, f"{step.locator} {why}")  # type: ignore[arg-type]
        key = element.get("name") or element.get("id") or element.name
        match step.kind:
            case "fill" | "type":
                self.typed[key] = str(step.parameters["value"])
            case "check":
                self.typed[key] = "on"
            case "select":
                page = self.page
                options = [page.elements[at] for at in page.children[element.index]]
                wanted = step.parameters.get("option", step.parameters.get("value"))
                if not any(wanted in (option.own_text, option.get("value")) for option in options):
                    raise _Failed("option", f"{step.locator} has no option {wanted!r}")
                self.typed[key] = str(wanted)
            case "extract":
                self.values[str(step.parameters["into"])] = self.page.texts[element.index]
            case "click" | "press":
                self.click(element)

    def click(self, element: Element) -> None:
        question = self.release.confirms.get(element.name)
        if question:
            expected, answer = self.answer is not None, self.answer or "dismiss"
            said = "accepted" if answer == "accept" else "dismissed"
            self.dialogs.append(Dialog(self.place, "confirm", question, said, expected))
            self.answer = None
            if said == "dismissed":
                return
        if element.get("data-send"):
            fields = tuple(sorted((name, self.redact(value)) for name, value in self.typed.items()))
            self.sent.append(Sent("POST", self.stage.base_url + element.get("data-send"), 201, fields))
        to = element.get("href") or element.get("formaction")
        if not to:
            return
        page = self.page
        needed = [one for one in page.elements if "required" in one.attributes and one.visible]
        if any(not self.typed.get(one.get("name") or one.get("id") or one.name) for one in needed):
            return
        if urlsplit(page.url).path == "/login" and self.typed.get("password"):
            self.signed_in = True
        self.path = to

    def hold(self, holds: bool, wanted: str, observed: str) -> None:
        if not holds:
            raise _Failed("check", f"expected {wanted}, got {observed[:200]!r}", observed)

    def check(self, step: Step) -> None:
        what, given = step.kind.removeprefix("assert_"), step.parameters
        wanted = f"{what} {describe(given)}"
        match what:
            case "url":
                shown = urlsplit(self.page.url).path
                self.hold(meets(given, shown), wanted, shown)
            case "title":
                self.hold(meets(given, self.page.title), wanted, self.page.title)
            case "variable":
                self.hold(meets(given, self.values.get(str(given["variable"]), "")), wanted, "")
            case "hidden" | "count":
                assert step.locator is not None
                found = [self.page.elements[at] for at in self.all(step.locator)]
                self.found = -1
                if what == "hidden":
                    self.hold(not any(one.visible for one in found), wanted, "visible")
                else:
                    self.hold(meets(given, len(found)), wanted, str(len(found)))
            case _:
                self.check_element(step, what, self.one(step), wanted)

    def check_element(self, step: Step, what: str, element: Element, wanted: str) -> None:
        given = step.parameters
        match what:
            case "text":
                text = fold(self.page.texts[element.index])
                self.hold(meets(given, text), wanted, text)
            case "value":
                value = self.typed.get(element.get("name") or element.get("id") or element.name, element.get("value"))
                self.hold(meets(given, value), wanted, value)
            case "attribute":
                self.hold(meets(given, element.get(str(given["attribute"]))), wanted, "")
            case "visible":
                self.hold(element.visible, wanted, "not visible")
            case "enabled" | "disabled":
                self.hold(element.enabled == (what == "enabled"), wanted, f"not {what}")
            case "checked":
                self.hold(element.checked, wanted, "not checked")
            case _:
                raise _Failed("test", f"the fake does not play '{what}'")


# --- everything together -------------------------------------------------------------------------------


@dataclass
class World:
    """A shop with its project, and what a person or a worker does with it."""

    tools: Tools
    app: App
    clock: Clock
    watch: Watching
    project: Project

    @property
    def store(self) -> Store:
        return self.tools.store

    async def save(self, *tests: WrittenTest, by: str = "Ada") -> list[SavedTest]:
        async with self.store.transaction() as tx:
            return [
                await saved_tests.import_test(tx, self.project.id, one, folder=None, author=by, now=self.clock())
                for one in tests
            ]

    async def switch(self, on: bool) -> None:
        async with self.store.transaction() as tx:
            self.project = await projects.update(tx, self.project.id, auto_repair=on)

    async def settle(self, **settings: Any) -> None:
        async with self.store.transaction() as tx:
            changed = replace(self.project.settings, **settings)
            self.project = await projects.update(tx, self.project.id, settings=changed)

    async def run(self, *names: str, trigger: Trigger = Trigger.MANUAL) -> running.RunReport:
        return await running.run_tests(self.tools, self.project, names, trigger)

    async def ask_for_sweep(self, **how: Any) -> Job:
        return await sweeping.ask_for_sweep(self.tools, self.project, **how)

    async def work(self, *wanted: int, tools: Tools | None = None) -> tuple[Job, ...]:
        return await working.work_until_done(tools or self.tools, wanted)

    async def sweep(self, **how: Any) -> dict[str, Any]:
        job = await self.ask_for_sweep(**how)
        (done,) = await self.work(job.id)
        assert done.result is not None
        return done.result

    async def nightly(self, *names: str) -> list[dict[str, Any]]:
        """An unattended run, and the repairs that follow from it."""
        report = await self.run(*names, trigger=Trigger.SCHEDULE)
        return working.results_of(await self.work(*report.jobs)) if report.jobs else []

    async def test(self, name: str = "checkout") -> SavedTest:
        async with self.store.reading() as tx:
            return await saved_tests.get(tx, self.project.id, name)

    async def queue(self) -> tuple[Proposal, ...]:
        return await self.proposals([ProposalStatus.PROPOSED])

    async def proposals(self, statuses: Sequence[ProposalStatus] | None = None) -> tuple[Proposal, ...]:
        async with self.store.reading() as tx:
            return await proposals.listed(tx, self.project.id, statuses=statuses)

    async def history(self) -> tuple[Repair, ...]:
        async with self.store.reading() as tx:
            return await repairs.listed(tx, self.project.id)

    async def issues(self, *, closed: bool = False) -> tuple[Issue, ...]:
        async with self.store.reading() as tx:
            return await issues.listed(tx, self.project.id, closed=closed)

    async def runs(self, **which: Any) -> tuple[Run, ...]:
        async with self.store.reading() as tx:
            return await runs.listed(tx, self.project.id, **which)

    async def events(self) -> tuple[Event, ...]:
        async with self.store.reading() as tx:
            return await events.listed(tx, self.project.id, limit=1000)

    async def jobs(self) -> tuple[Job, ...]:
        async with self.store.reading() as tx:
            return await jobs.listed(tx, self.project.id)

    async def at_risk(self) -> list[str]:
        async with self.store.reading() as tx:
            return [(await saved_tests.by_id(tx, one.test)).name for one in await at_risk.waiting(tx, self.project.id)]

    async def baseline(self) -> dict[str, str]:
        """Which state of which page is the accepted one."""
        async with self.store.reading() as tx:
            return {one.page: one.page_key for one in await baselines.listed(tx, self.project.id)}

    def colleague(self, name: str = "worker-2", **changes: Any) -> Tools:
        """The same doors in another process."""
        return replace(self.tools, worker=name, **changes)


@asynccontextmanager
async def a_world(
    database_url: str,
    data_dir: Path,
    release: Release,
    *,
    auto_repair: bool = False,
    ask: Ask | None = None,
    environ: Mapping[str, str] | None = None,
    settings: ProjectSettings | None = None,
) -> AsyncIterator[World]:
    app, clock, watch = App(release), Clock(), Watching()
    async with await open_store(database_url) as store:
        async with store.transaction() as tx:
            project = await projects.add(tx, "shop", HOST, now=clock(), auto_repair=auto_repair, settings=settings)
        settled = Settings(database_url=database_url, data_dir=data_dir, by="Ada", environ=dict(environ or {}))
        tools = Tools(
            settings=settled,
            store=store,
            replay=app.replay,
            sign_in=app.sign_in,
            look=app.look,
            ask=lambda project: ask,
            now=clock,
            worker="worker-1",
            watch=watch,
        )
        yield World(tools, app, clock, watch, project)
