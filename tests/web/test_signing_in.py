"""Who gets in, how slowly guessing goes, and what a form needs to be believed."""

from __future__ import annotations

from typing import Any

import pytest
from litestar import Request

from gardener.actions import admitting
from gardener.people import Role
from gardener.store import people
from tests.web.conftest import PASSWORD, Office
from web.auth import SESSION, address_of

INSIDE = ("/", "/projects/1", "/projects/1/radar", "/tests/1", "/runs/1/picture", "/jobs/1/stream", "/password")


@pytest.mark.parametrize("path", INSIDE)
async def test_nothing_is_shown_to_who_is_not_signed_in(office: Office, path: str) -> None:
    visitor = await office.somebody()

    await visitor.get(path)

    assert visitor.path == "/sign-in"
    assert "shop" not in visitor.text


async def test_after_sign_in_one_is_where_one_wanted_to_be(office: Office) -> None:
    visitor = await office.somebody()
    await visitor.get("/projects/1/radar")

    await visitor.send("/sign-in", name="ada", password=PASSWORD, next="/projects/1/radar")

    assert (visitor.status, visitor.path) == (200, "/projects/1/radar")


@pytest.mark.parametrize(
    "to", ["//evil.test/", "https://evil.test/", "/\\evil.test", "javascript:alert(1)", "/\t/x", "/\u732b", "/\0"]
)
async def test_signing_in_never_leads_to_another_site(office: Office, to: str) -> None:
    visitor = await office.somebody()
    await visitor.get("/sign-in")

    await visitor.send("/sign-in", follow=False, name="Ada", password=PASSWORD, next=to)

    assert visitor.headers["location"] == "/"


async def test_a_wrong_password_and_an_unknown_name_are_told_the_same(office: Office) -> None:
    visitor = await office.somebody()

    await visitor.sign_in("Ada", "not the password")
    wrong = visitor.said
    await visitor.sign_in("Nobody", "not the password")

    assert visitor.status == 401
    assert wrong == visitor.said == "That name and password do not go together."


async def test_guessing_gets_slow_and_the_right_password_has_to_wait_as_well(office: Office) -> None:
    visitor = await office.somebody()
    for _ in range(5):
        await visitor.sign_in("Ada", "not the password")

    await visitor.sign_in("Ada", PASSWORD)
    waits = visitor.said
    office.world.clock.pass_(seconds=30)
    await visitor.sign_in("Ada", PASSWORD)

    assert waits.startswith("Too many sign-ins failed. The next try is possible in ")
    assert visitor.path == "/"


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:a:b:c:d", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_who_has_a_whole_network_is_counted_as_one_address(host: str, counted: str) -> None:
    request = Request[Any, Any, Any]({"type": "http", "client": (host, 1), "headers": []})  # type: ignore[arg-type]

    assert address_of(request) == counted


async def test_a_sign_in_that_works_wipes_the_failures_before_it(office: Office) -> None:
    visitor = await office.somebody()
    for _ in range(3):
        for _ in range(4):
            await visitor.sign_in("Ada", "not the password")
        await visitor.sign_in("Ada")
        assert visitor.path == "/"
        await visitor.send("/sign-out")


async def test_the_token_is_kept_as_a_hash_only_and_the_cookie_is_for_the_server_alone(office: Office) -> None:
    visitor = await office.somebody()
    await visitor.get("/sign-in")

    answer = await office.client.post(
        "/sign-in", data={"csrf": visitor.token, "name": "Ada", "password": PASSWORD}, follow_redirects=False
    )

    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith(SESSION)]
    token = cookie.split("=")[1].split(";")[0]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {one.strip() for one in cookie.split(";")}
    async with office.world.store.reading() as tx:
        assert await people.of_session(tx, admitting.token_hash(token), now=office.world.clock()) is not None
        assert await people.of_session(tx, token, now=office.world.clock()) is None


async def test_a_session_ends(office: Office) -> None:
    visitor = await office.ada()
    office.world.clock.pass_(days=15)

    await visitor.get("/")

    assert visitor.path == "/sign-in"


async def test_signing_out_ends_the_session_on_the_server(office: Office) -> None:
    visitor = await office.ada()
    token = office.client.cookies[SESSION]

    await visitor.send("/sign-out")

    assert visitor.said == "You are signed out."
    async with office.world.store.reading() as tx:
        assert await people.of_session(tx, admitting.token_hash(token), now=office.world.clock()) is None


async def test_a_password_that_was_given_has_to_be_changed_first(office: Office) -> None:
    _, password = await admitting.add_person(office.world.tools, "Cy", Role.MEMBER, "Ada")
    visitor = await office.somebody()

    await visitor.sign_in("Cy", password)
    sent_to = visitor.path
    await visitor.get("/projects/1")
    still = visitor.path
    await visitor.send("/password", old=password, new="short", again="short")
    too_short = visitor.said
    await visitor.send("/password", old=password, new=PASSWORD, again=PASSWORD)

    assert sent_to == still == "/password"
    assert "at least 10 characters" in too_short
    assert (visitor.path, visitor.status) == ("/", 200)


async def test_a_new_password_signs_out_everybody_else_who_uses_the_name(office: Office) -> None:
    visitor = await office.ada()
    _, other = await admitting.sign_in(office.world.tools, "Ada", PASSWORD, "10.0.0.7")
    await visitor.get("/password")

    await visitor.send("/password", old=PASSWORD, new="five other words here", again="five other words here")

    assert visitor.path == "/"
    assert await admitting.who_is(office.world.tools, other) is None


async def test_the_first_admin_is_made_once(office: Office) -> None:
    assert await admitting.admit_first(office.world.tools) is None


# --- forms that are not ours -----------------------------------------------------------------------------

POSTS = ("/projects/1/sweep", "/proposals/1/approve", "/repairs/1/revert", "/projects/1/settings", "/sign-out")


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("token", ["", "x" * 64])
async def test_a_form_without_the_token_does_nothing(office: Office, path: str, token: str) -> None:
    visitor = await office.ada()

    answer = await office.client.post(path, data={"csrf": token} if token else {}, follow_redirects=False)

    assert answer.status_code == 403
    assert "out of date" in answer.text
    await visitor.get("/")
    assert visitor.path == "/"
    assert await office.world.jobs() == ()


async def test_a_form_from_another_site_does_nothing_even_with_the_token(office: Office) -> None:
    visitor = await office.ada()
    headers = {"sec-fetch-site": "cross-site"}

    answer = await office.client.post("/projects/1/sweep", data={"csrf": visitor.token}, headers=headers)

    assert answer.status_code == 403


async def test_the_token_of_one_session_is_none_in_another(office: Office) -> None:
    ada = await office.ada()
    stolen = ada.token
    ben = await office.ben()

    answer = await office.client.post("/projects/1/sweep", data={"csrf": stolen}, follow_redirects=False)

    assert ben.token != stolen
    assert answer.status_code == 403


async def test_a_form_of_another_kind_is_not_read(office: Office) -> None:
    visitor = await office.ada()

    answer = await office.client.post("/projects/1/sweep", json={"csrf": visitor.token}, follow_redirects=False)

    assert answer.status_code in (303, 422)
    assert await office.world.jobs() == ()


async def test_a_request_under_another_name_is_not_answered(office: Office) -> None:
    answer = await office.client.get("/sign-in", headers={"host": "evil.test"})

    assert answer.status_code == 421


async def test_every_answer_carries_the_headers_that_keep_others_out(office: Office) -> None:
    visitor = await office.ada()

    for path in ("/", "/nowhere", "/projects/1/radar"):
        await visitor.get(path)
        policy = visitor.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert visitor.headers["x-content-type-options"] == "nosniff"
        assert visitor.headers["cache-control"] == "no-store"


# --- who may what ----------------------------------------------------------------------------------------


async def test_c30_a_member_decides_but_does_not_change_projects(office: Office) -> None:
    await office.staged()
    ben = await office.ben()

    await ben.get("/projects/1/settings")
    shown = ben.page
    await ben.send("/projects/1/settings", base_url="http://elsewhere.test", auto_repair="true")
    refused = ben.status
    await ben.get("/")
    await ben.send("/projects", name="mine", base_url="http://mine.test")
    also_refused = ben.status
    await ben.get("/projects/1/radar")
    await ben.send("/proposals/1/approve")

    assert '<fieldset class="card" id="repair" disabled>' in shown
    assert (refused, also_refused) == (403, 403)
    assert [one.author for one in await office.world.history()] == ["Ben"]
