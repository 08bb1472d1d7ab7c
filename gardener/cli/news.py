"""`gardener schedule`, `target`, `dead`, `digest` and `deliver`: the clock and the news."""

from __future__ import annotations

import sys
from typing import Any

import rich_click as click

from gardener import notify, screen
from gardener.actions import deliver, digest, timing
from gardener.cli.terminal import NO, by_option, cli, console, do, json_option, print_json, project_named, say
from gardener.digests import Digest
from gardener.notices import DeliveryState, Target
from gardener.results import delivery_shape, target_shape
from gardener.schedules import Clock
from gardener.store import deliveries, projects, targets
from gardener.tools import Tools


@cli.command("schedule")
@click.argument("project_name", metavar="PROJECT")
@json_option
def schedule_(project_name: str, as_json: bool) -> None:
    """What is done by the clock: last and next, and what is overdue (exit 1). `project set` changes it."""

    async def work(tools: Tools) -> Clock:
        async with tools.store.reading() as tx:
            return await timing.clock_of(tx, await projects.get(tx, project_name), now=tools.now())

    clock = do(work, quiet=as_json)
    print_json(clock.shape()) if as_json else screen.show_clock(console(), clock.shape())
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
        one = await project_named(tools, project_name)
        return await deliver.add_target(tools, one, address, kinds, by or tools.settings.by)

    made = do(work, quiet=as_json)
    if as_json:
        print_json(target_shape(made))
    else:
        kinds_said = ", ".join(kind.value for kind in made.kinds)
        console().print(screen.plain(f"Target {made.id}, {made.shown}, is told of: {kinds_said}."))
        console().print(screen.plain(f"See whether it works: gardener target test {made.id}"))


@target.command("list")
@click.argument("project_name", metavar="PROJECT")
@json_option
def target_list(project_name: str, as_json: bool) -> None:
    """The targets of a project; their addresses are secrets and not shown whole."""

    async def work(tools: Tools) -> list[dict[str, Any]]:
        one = await project_named(tools, project_name)
        async with tools.store.reading() as tx:
            return [target_shape(row) for row in await targets.listed(tx, one.id)]

    rows = do(work, quiet=as_json)
    print_json({"targets": rows}) if as_json else screen.show_targets(console(), rows)


@target.command("remove")
@click.argument("number", type=int, metavar="ID")
@by_option
@json_option
def target_remove(number: int, by: str | None, as_json: bool) -> None:
    """Send nothing to a target any more, not even what waits."""
    gone = do(lambda tools: deliver.remove_target(tools, number, by or tools.settings.by), quiet=as_json)
    print_json(target_shape(gone)) if as_json else console().print(
        screen.plain(f"Target {gone.id}, {gone.shown}, is removed.")
    )


@target.command("test")
@click.argument("number", type=int, metavar="ID")
@json_option
def target_test(number: int, as_json: bool) -> None:
    """Send a test message now: exit 1 if it does not arrive."""
    outcome = do(lambda tools: deliver.send_test(tools, number), quiet=as_json)
    why = None if isinstance(outcome, notify.Sent) else outcome.why
    if as_json:
        print_json({"target": number, "sent": why is None, "why": why})
    elif why is None:
        console().print("The test message was taken.")
    else:
        say(f"The test message did not arrive: {why}.")
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
        one = await project_named(tools, project_name)
        if retry is None:
            async with tools.store.reading() as tx:
                rows = await deliveries.listed(tx, one.id, state=DeliveryState.DEAD)
            return {"dead": [delivery_shape(row) for row in rows]}
        async with tools.store.transaction() as tx:
            number = None if retry == "all" else int(retry)
            return {"retried": await deliveries.retry(tx, one.id, number, now=tools.now())}

    answer = do(work, quiet=as_json)
    if as_json:
        print_json(answer)
    elif retry is None:
        screen.show_dead(console(), answer["dead"])
    else:
        console().print(f"{answer['retried']} wait again; `gardener serve` or `gardener deliver` sends them.")


@cli.command("digest")
@click.argument("project_name", metavar="PROJECT")
@click.option("--send", is_flag=True, help="Send it to the targets as well, even if nothing happened.")
@json_option
def digest_(project_name: str, send: bool, as_json: bool) -> None:
    """What happened in the last 24 hours, and what waits. `project set NAME digest_hour=7` sends it each day."""

    async def work(tools: Tools) -> tuple[Digest, tuple[int, int]]:
        one = await project_named(tools, project_name)
        if send:
            counted, _ = await digest.send_digest(tools, one)
            return counted, await deliver.deliver_due(tools)
        async with tools.store.reading() as tx:
            return await digest.digest_of_today(tx, one, now=tools.now()), (0, 0)

    counted, (arrived, failed) = do(work, quiet=as_json)
    if as_json:
        print_json(counted.shape() | ({"delivered": arrived, "failed": failed} if send else {}))
    else:
        for line in (counted.subject, *counted.lines()):
            console().print(screen.plain(line))
    if failed:
        say(f"{failed} messages did not arrive; `gardener serve` tries again.")


@cli.command("deliver")
@json_option
def deliver_(as_json: bool) -> None:
    """Send the news that is due now, once; `gardener serve` does so by itself."""
    arrived, failed = do(deliver.deliver_due, quiet=as_json)
    print_json({"delivered": arrived, "failed": failed}) if as_json else console().print(
        f"{arrived} messages arrived, {failed} did not."
    )
    sys.exit(NO if failed else 0)
