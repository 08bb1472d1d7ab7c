"""The commands of the clock and the news, as a person or a script calls them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_httpserver import HTTPServer

from gardener import cli
from gardener.errors import BadSetting, NotFound
from gardener.notices import EventKind
from gardener.store import deliveries, events, open_store, projects

Gardener = Callable[..., Result]


@pytest.fixture
def gardener(sqlite_url: str, tmp_path: Path) -> Gardener:
    def call(*arguments: str, fails: type[Exception] | None = None, **more: Any) -> Result:
        options = ["--database", sqlite_url, "--data-dir", str(tmp_path / "data")]
        done = CliRunner().invoke(cli.cli, [*options, *arguments], **more)
        if fails:
            assert isinstance(done.exception, fails), done.output
        elif done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    call("project", "add", "shop", "--base-url", "http://127.0.0.1:9")
    return call


def happens(url: str, subject: str = "it happened") -> None:
    asyncio.run(_happens(url, subject))


async def _happens(url: str, subject: str) -> None:
    async with await open_store(url) as store, store.transaction() as tx:
        shop = await projects.get(tx, "shop")
        await events.emit(tx, shop.id, EventKind.STAGED, subject, {}, now=datetime.now(UTC))


def give_up(url: str) -> None:
    """As if it had been tried often enough."""
    asyncio.run(_give_up(url))


async def _give_up(url: str) -> None:
    async with await open_store(url) as store, store.transaction() as tx:
        now = datetime.now(UTC)
        for _ in range(2):
            claimed = await deliveries.claim(tx, "w", now=now, lease=now - now)
            for one in claimed:
                await deliveries.failed(tx, one, "w", error="no answer", unsure=True, now=now.replace(year=2020))


def read(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_schedule_is_set_and_shown(gardener: Gardener) -> None:
    assert gardener("schedule", "shop").exit_code == 0
    gardener("project", "set", "shop", "sweep_cron=0 */2 * * *", "timezone=Europe/Berlin", "jitter_s=60")

    shown = gardener("schedule", "shop", "--json")

    assert shown.exit_code == 1  # nobody keeps it
    (sweep,) = read(shown)["schedules"]
    assert (sweep["what"], sweep["cron"], sweep["timezone"]) == ("sweep", "0 */2 * * *", "Europe/Berlin")
    assert "No scheduler has ever run" in read(shown)["alarms"][0]
    assert "0 */2 * * *" in gardener("schedule", "shop").output


def test_a_target_is_added_listed_tested_and_removed(gardener: Gardener, httpserver: HTTPServer) -> None:
    httpserver.expect_oneshot_request("/T0KEN").respond_with_data("")
    url = f"json://127.0.0.1:{httpserver.port}/T0KEN"

    added = gardener("target", "add", "shop", url, "--events", "staged,digest", "--json")
    number = str(read(added)["id"])
    listed = gardener("target", "list", "shop")
    works, fails = (gardener("target", "test", number) for _ in range(2))
    gardener("target", "remove", number)

    assert read(added)["events"] == ["staged", "digest"]
    assert f"json://127.0.0.1:{httpserver.port}/…" in listed.output
    assert (works.exit_code, fails.exit_code) == (0, 1)
    assert "it answered with 500" in fails.stderr
    assert read(gardener("target", "list", "shop", "--json")) == {"targets": []}
    assert "T0KEN" not in added.output + listed.output + works.output + fails.output


def test_an_address_can_come_from_standard_input(gardener: Gardener) -> None:
    added = gardener("target", "add", "shop", "-", "--json", input="json://127.0.0.1:9/T0KEN\n")

    assert read(added)["shown"] == "json://127.0.0.1:9/…"


def test_what_is_no_target_is_refused_without_being_repeated(gardener: Gardener) -> None:
    done = gardener("target", "add", "shop", "nonsense://T0KEN", fails=BadSetting)

    assert "T0KEN" not in str(done.exception)
    gardener("target", "remove", "99", fails=NotFound)


def test_news_is_delivered_by_command(gardener: Gardener, sqlite_url: str, httpserver: HTTPServer) -> None:
    httpserver.expect_oneshot_request("/a").respond_with_data("")
    gardener("target", "add", "shop", f"json://127.0.0.1:{httpserver.port}/a")
    happens(sqlite_url)
    first = gardener("deliver", "--json")
    happens(sqlite_url)
    second = gardener("deliver", "--json")

    assert (read(first), first.exit_code) == ({"delivered": 1, "failed": 0}, 0)
    assert (read(second), second.exit_code) == ({"delivered": 0, "failed": 1}, 1)


def test_what_was_given_up_is_shown_and_sent_again(gardener: Gardener, sqlite_url: str, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/a").respond_with_data("")
    gardener("target", "add", "shop", f"json://127.0.0.1:{httpserver.port}/a")
    happens(sqlite_url, "lost")
    give_up(sqlite_url)

    (letter,) = read(gardener("dead", "shop", "--json"))["dead"]

    assert (letter["subject"], letter["error"], letter["may_have_arrived"]) == ("lost", "no answer", True)
    assert "lost" in gardener("dead", "shop").output
    assert read(gardener("dead", "shop", "--retry", "all", "--json")) == {"retried": 1}
    assert read(gardener("deliver", "--json")) == {"delivered": 1, "failed": 0}
    gardener("dead", "shop", "--retry", str(letter["id"]), fails=NotFound)
    assert gardener("dead", "shop", "--retry", "some").exit_code == 2
    assert "Nothing was given up" in gardener("dead", "shop").output


def test_a_digest_is_shown_and_sent_when_asked(gardener: Gardener, httpserver: HTTPServer) -> None:
    httpserver.expect_oneshot_request("/a").respond_with_data("")
    gardener("target", "add", "shop", f"json://127.0.0.1:{httpserver.port}/a")

    shown = gardener("digest", "shop")
    sent = gardener("digest", "shop", "--send", "--json")

    assert "Digest: 0 staged" in shown.output
    assert (read(sent)["staged"], read(sent)["delivered"]) == (0, 1)
    message = httpserver.log[0][0].json
    assert message is not None
    assert message["title"].startswith("shop: Digest: 0 staged")
