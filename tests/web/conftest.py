"""The pages in process, over a real SQLite store with fakes at the doors; Ada is an admin, Ben a member."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher

from gardener.people import Role
from gardener.proposals import Proposal
from gardener.store import open_store, people
from tests.acceptance.shop import CHECKOUT, HELPING, OLD, RENAMED
from tests.fakes import World, a_world
from web.app import create_app
from web.site import Site
from web.watching import Watching

PASSWORD = "four words in a row"
# Cheap: how much work a hash is stands in it, and sign-in is done by every test.
HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


@dataclass
class Visitor:
    """Somebody with a browser that keeps cookies and sends what the forms of a page hold."""

    client: httpx.AsyncClient
    page: str = ""
    status: int = 0
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **more: Any) -> str:
        return self._keep(await self.client.get(path, follow_redirects=True, **more))

    async def send(self, path: str, *, htmx: bool = False, follow: bool = True, **fields: str) -> str:
        """The form of the page that is open, with its token."""
        headers = {"referer": f"http://127.0.0.1{self.path}"} | ({"hx-request": "true"} if htmx else {})
        data = {"csrf": self.token, **fields}
        return self._keep(await self.client.post(path, data=data, headers=headers, follow_redirects=follow))

    @property
    def token(self) -> str:
        found = re.search(r'name="csrf" value="([^"]*)"', self.page)
        return found[1] if found else ""

    @property
    def text(self) -> str:
        """What a person reads."""
        body = re.sub(r"<(script|style)\b.*?</\1>", " ", self.page, flags=re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())

    @property
    def said(self) -> str:
        """The message at the top."""
        found = re.search(r'<p class="said (?:good|bad)"[^>]*>(.*?)</p>', self.page, re.DOTALL)
        return unescape(found[1]).strip() if found else ""

    async def sign_in(self, name: str, password: str = PASSWORD) -> str:
        await self.get("/sign-in")
        return await self.send("/sign-in", name=name, password=password, next="/")

    def _keep(self, response: Any) -> str:
        self.status, self.path, self.headers = response.status_code, response.url.path, dict(response.headers)
        self.page = response.text
        return self.page


@dataclass
class Office:
    """The pages, the world behind them, and who visits."""

    world: World
    watching: Watching
    client: httpx.AsyncClient

    async def somebody(self) -> Visitor:
        """With a cookie jar of their own."""
        self.client.cookies.clear()
        return Visitor(self.client)

    async def ada(self) -> Visitor:
        visitor = await self.somebody()
        await visitor.sign_in("Ada")
        return visitor

    async def ben(self) -> Visitor:
        visitor = await self.somebody()
        await visitor.sign_in("Ben")
        return visitor

    async def staged(self, **also: Any) -> Proposal:
        """Two tests known green, a release, a sweep: one repair waits."""
        await self.world.save(CHECKOUT, HELPING)
        await self.world.run()
        await self.world.sweep()
        self.world.app.release = RENAMED
        await self.world.sweep(**also)
        (waiting,) = await self.world.queue()
        return waiting


@pytest.fixture(scope="session")
async def empty_office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("web") / "empty.db"
    await (await open_store(f"sqlite:///{path}")).close()
    return path


@pytest.fixture
async def office(empty_office: Path, tmp_path: Path) -> AsyncIterator[Office]:
    url = f"sqlite:///{shutil.copy(empty_office, tmp_path / 'gardener.db')}"
    async with a_world(url, tmp_path / "data", OLD) as world:
        watching = Watching()
        world.tools = replace(world.tools, watch=watching)
        async with world.store.transaction() as tx:
            for name, role in (("Ada", Role.ADMIN), ("Ben", Role.MEMBER)):
                await people.add(tx, name, role=role, password_hash=HASH, must_change=False, now=world.clock())
        app = create_app(Site(world.tools, watching), hosts=["127.0.0.1"])
        # In the loop of the store itself; the test client of the framework would start another one.
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield Office(world, watching, client)
