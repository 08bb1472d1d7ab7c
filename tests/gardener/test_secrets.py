"""Secrets of projects: kept sealed, told of without their values, removed, and sealed anew with another key."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gardener import cli
from gardener.actions import entrusting
from gardener.errors import BadSetting, NotFound
from gardener.sealing import KEY_FILE, OLD_KEY_FILE, Sealer, sealer_of
from gardener.secrets import purpose_of, state_purpose
from gardener.settings import Settings, read_settings
from gardener.store import Store, audit, open_store, projects, secrets, session_states, targets
from repair_ladder.models.claude_cli import PASSED_ON
from tests.gardener.conftest import NOW, a_shop

VALUE = "correct horse battery"
TEST = """
name: sign in
variables: {password: {secret: SHOP_PASSWORD}, code: {secret: SHOP_CODE}}
steps:
  - goto: /login
  - fill: {label: Password, value: "${password}"}
  - fill: {label: Code, value: "${code}"}
"""
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
        assert VALUE not in done.output
        return done

    call("project", "add", "shop", "--base-url", "http://127.0.0.1:9")
    (tmp_path / "sign_in.yaml").write_text(TEST)
    call("import", "shop", str(tmp_path / "sign_in.yaml"))
    return call


def read(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def files_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_secret_is_set_listed_and_removed_and_its_value_is_nowhere(gardener: Gardener, tmp_path: Path) -> None:
    assert not read(gardener("secret", "set", "shop", "SHOP_PASSWORD", "--json", input=VALUE + "\n"))["replaced"]
    assert read(gardener("secret", "set", "shop", "SHOP_PASSWORD", "--by", "Ben", "--json", input=VALUE))["replaced"]

    code, password = read(gardener("secret", "list", "shop", "--json"))["secrets"]

    assert (password["name"], password["from"], password["set_by"]) == ("SHOP_PASSWORD", "project", "Ben")
    assert password["tests"] == ["sign in"]
    assert password["set_at"]
    assert (code["name"], code["from"], code["set_at"]) == ("SHOP_CODE", "nowhere", None)
    assert "SHOP_PASSWORD" in gardener("secret", "list", "shop").output
    assert VALUE.encode() not in files_of(tmp_path)
    assert "1 tests still name it" in gardener("secret", "remove", "shop", "SHOP_PASSWORD").output
    gardener("secret", "remove", "shop", "SHOP_PASSWORD", fails=NotFound)


def test_from_the_environment_is_said_but_never_of_a_key_of_the_gardener(
    gardener: Gardener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_CODE", "7-7-7-7")
    monkeypatch.setenv("GARDENER_SECRET_KEY", "a long secret of Ada's")
    (tmp_path / "sly.yaml").write_text(TEST.replace("SHOP_PASSWORD", "GARDENER_SECRET_KEY").replace("sign in", "sly"))
    gardener("import", "shop", str(tmp_path / "sly.yaml"))

    told = {one["name"]: one["from"] for one in read(gardener("secret", "list", "shop", "--json"))["secrets"]}

    assert told == {"SHOP_CODE": "environment", "SHOP_PASSWORD": "nowhere", "GARDENER_SECRET_KEY": "nowhere"}


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("SHOP-PASSWORD", VALUE, "letters, digits and _"),
        ("7UP", VALUE, "letters, digits and _"),
        ("SHOP_PASSWORD", "", "at least 3 characters"),
        ("SHOP_PASSWORD", "42\n", "at least 3 characters"),
        ("SHOP_PASSWORD", "  \n", "at least 3 characters"),
        ("SHOP_PASSWORD", "a\0bc", "NUL"),
        ("SHOP_PASSWORD", "x" * 20_001, "at most 20000"),
    ],
)
def test_what_cannot_be_a_secret_is_refused(gardener: Gardener, name: str, value: str, why: str) -> None:
    done = gardener("secret", "set", "shop", name, input=value, fails=BadSetting)

    assert why in str(done.exception)
    assert len(str(done.exception)) < 300


def test_a_value_is_never_an_argument(gardener: Gardener) -> None:
    assert gardener("secret", "set", "shop", "SHOP_PASSWORD", "value").exit_code == 2


def test_at_a_terminal_it_is_asked_for_and_not_shown(sqlite_url: str, gardener: Gardener, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gardener", "--database", sqlite_url, "--data-dir", str(tmp_path / "data")]
    process = subprocess.Popen(
        [*command, "secret", "set", "shop", "SHOP_PASSWORD"], stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    for asks in (b"Value:", b"confirmation:"):
        while asks not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, VALUE.encode() + b"\n")
    while b"is kept" not in shown:
        shown += os.read(ours, 1000)
    os.close(ours)

    assert process.wait(timeout=30) == 0
    assert VALUE.encode() not in shown


# --- another key -----------------------------------------------------------------------------------------


def the_settings(folder: Path, **more: Any) -> Settings:
    return Settings("unused", folder / "data", **more)


async def _values(url: str, settings: Settings) -> list[str]:
    sealer = sealer_of(settings)
    async with await open_store(url) as store, store.reading() as tx:
        kept = [sealer.unseal(one.sealed, one.purpose) for one in await secrets.listed(tx)]
        told = [sealer.unseal(one.sealed) for one in await targets.listed(tx)]
        return kept + told + [sealer.unseal(one.sealed, one.purpose) for one in await session_states.listed(tx)]


async def _signed_in(url: str, sealer: Sealer) -> None:
    async with await open_store(url) as store, store.transaction() as tx:
        shop = await projects.get(tx, "shop")
        sealed = sealer.seal("cookies", state_purpose(shop.id, "http://127.0.0.1:9"))
        await session_states.put(tx, shop.id, "http://127.0.0.1:9", stamp="a", sealed=sealed, now=NOW)


def test_another_key_file_takes_over_everything_that_is_sealed(
    gardener: Gardener, sqlite_url: str, tmp_path: Path
) -> None:
    gardener("secret", "set", "shop", "SHOP_PASSWORD", input=VALUE)
    gardener("target", "add", "shop", "json://127.0.0.1:9/a")
    asyncio.run(_signed_in(sqlite_url, sealer_of(the_settings(tmp_path))))
    file = tmp_path / "data" / KEY_FILE
    file.rename(file.with_name(OLD_KEY_FILE))

    done = read(gardener("secret", "rekey", "--json"))

    assert done == {"secrets": 1, "targets": 1, "sessions": 1}
    file.with_name(OLD_KEY_FILE).unlink()
    assert asyncio.run(_values(sqlite_url, the_settings(tmp_path))) == [VALUE, "json://127.0.0.1:9/a", "cookies"]


def test_from_one_variable_to_another(
    gardener: Gardener, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDENER_SECRET_KEY", "the key before this one")
    gardener("secret", "set", "shop", "SHOP_PASSWORD", input=VALUE)
    monkeypatch.setenv("GARDENER_SECRET_KEY_OLD", "the key before this one")
    monkeypatch.setenv("GARDENER_SECRET_KEY", "the key of today, and long")

    gardener("secret", "rekey")

    assert asyncio.run(_values(sqlite_url, the_settings(tmp_path, secret_key="the key of today, and long"))) == [VALUE]


def test_without_the_old_key_nothing_is_changed(gardener: Gardener, sqlite_url: str, tmp_path: Path) -> None:
    gardener("secret", "set", "shop", "A_FIRST", input=VALUE)
    file = tmp_path / "data" / KEY_FILE
    kept = file.rename(tmp_path / "kept.key")
    gardener("secret", "set", "shop", "SHOP_PASSWORD", input="of the new key")

    done = gardener("secret", "rekey", fails=BadSetting)

    assert "the secret A_FIRST of 'shop'" in str(done.exception)
    assert "nothing was changed" in str(done.exception)
    kept.rename(file.with_name(OLD_KEY_FILE))
    assert asyncio.run(_values(sqlite_url, the_settings(tmp_path))) == [VALUE, "of the new key"]


def test_the_doctor_names_a_secret_that_cannot_be_read(gardener: Gardener, tmp_path: Path) -> None:
    gardener("secret", "set", "shop", "SHOP_PASSWORD", input=VALUE)
    (tmp_path / "data" / KEY_FILE).unlink()

    checks = {one["name"]: one for one in read(gardener("doctor", "--json"))["checks"]}

    assert checks["secrets"]["state"] == "fails"
    assert "SHOP_PASSWORD of 'shop'" in checks["secrets"]["says"]


# --- on both databases -----------------------------------------------------------------------------------


async def test_secrets_and_sessions_are_kept_by_project(store: Store) -> None:
    async with store.transaction() as tx:
        shop = await a_shop(tx)
        assert not await secrets.put(tx, shop.id, "B", sealed="1", by="Ada", now=NOW)
        assert await secrets.put(tx, shop.id, "B", sealed="2", by="Ben", now=NOW)
        await secrets.put(tx, shop.id, "A", sealed="3", by="Ada", now=NOW)
        await session_states.put(tx, shop.id, "http://a", stamp="1", sealed="x", now=NOW)
        await session_states.put(tx, shop.id, "http://a", stamp="2", sealed="y", now=NOW)
        await session_states.put(tx, shop.id, "http://b", stamp="1", sealed="z", now=NOW)

    async with store.transaction() as tx:
        assert [(one.name, one.sealed, one.set_by) for one in await secrets.listed(tx, shop.id, to_write=True)] == [
            ("A", "3", "Ada"),
            ("B", "2", "Ben"),
        ]
        assert await secrets.listed(tx, shop.id + 1) == ()
        first = await session_states.get(tx, shop.id, "http://a")
        assert first is not None
        assert (first.stamp, first.sealed) == ("2", "y")
        assert len(await session_states.listed(tx, to_write=True)) == 2
        await session_states.drop(tx, shop.id)
        assert await session_states.get(tx, shop.id, "http://b") is None
        assert await secrets.remove(tx, shop.id, "A")
        assert not await secrets.remove(tx, shop.id, "A")


async def test_a_row_that_was_copied_to_another_name_or_project_cannot_be_read_there() -> None:
    sealer = Sealer("a long secret of Ada's")
    sealed = sealer.seal(VALUE, purpose_of(1, "SHOP_PASSWORD"))

    for purpose in (purpose_of(2, "SHOP_PASSWORD"), purpose_of(1, "SHOP_CODE"), state_purpose(1, "SHOP_PASSWORD")):
        with pytest.raises(BadSetting):
            sealer.unseal(sealed, purpose)


def test_who_set_and_removed_it_is_written_down_without_the_value(gardener: Gardener, sqlite_url: str) -> None:
    gardener("secret", "set", "shop", "SHOP_PASSWORD", "--by", "Ada", input=VALUE)
    gardener("secret", "remove", "shop", "SHOP_PASSWORD", "--by", "Ben")

    async def written() -> list[tuple[str, str, str]]:
        async with await open_store(sqlite_url) as store, store.reading() as tx:
            return [(one.who, one.what, one.subject) for one in await audit.listed(tx)]

    assert asyncio.run(written())[:2] == [
        ("Ben", "remove secret", "SHOP_PASSWORD"),
        ("Ada", "set secret", "SHOP_PASSWORD"),
    ]


OURS = sorted(
    name for name in PASSED_ON if any(word in name for word in ("KEY", "TOKEN", "PROXY")) and name[:2].lower() != "no"
)


@pytest.mark.parametrize("name", [*OURS, "OPENAI_API_KEY", "GEMINI_API_KEY", "PGPASSWORD", "GARDENER_SECRET_KEY"])
def test_what_the_gardener_itself_signs_in_with_is_no_secret_of_tests(name: str, tmp_path: Path) -> None:
    """A test that was imported could type it into any app."""
    settings = read_settings({"HOME": str(tmp_path), name: "a-value-of-its-own", "SHOP_PASSWORD": "hush"}, tmp_path)

    assert entrusting._of_environment(settings, name) is None
    assert entrusting._of_environment(settings, "SHOP_PASSWORD") == "hush"
