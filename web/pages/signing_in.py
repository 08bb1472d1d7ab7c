"""Sign in, sign out, choose a password."""

from __future__ import annotations

from litestar import Response, get, post
from litestar.di import NamedDependency

from gardener.actions import admitting
from gardener.errors import Refused
from web import view
from web.auth import SESSION, VISITOR, Asking, address_of
from web.forms import own_path


@get("/sign-in", opt={"public": True})
async def sign_in_page(asking: NamedDependency[Asking]) -> Response[str]:
    wanted = own_path(asking.request.query_params.get("next"), otherwise="/")
    if asking.person is not None:
        return view.go_on(asking, wanted)
    return await view.page(asking, "signing_in/sign_in.html", wanted=wanted, name="", wrong="")


@post("/sign-in", opt={"public": True}, status_code=200)
async def sign_in(asking: NamedDependency[Asking]) -> Response[str]:
    name, wanted = asking.form.text("name", longest=200), own_path(asking.form.text("next"), otherwise="/")
    try:
        person, token = await admitting.sign_in(
            asking.tools, name, asking.form.text("password"), address_of(asking.request)
        )
    except Refused as error:
        return await view.page(asking, "signing_in/sign_in.html", wanted=wanted, name=name, wrong=str(error), code=401)
    to = "/password" if person.must_change else wanted
    return view.go_on(asking, to, cookies=[asking.session_cookie(token), asking.without(VISITOR)])


@post("/sign-out", opt={"before_change": True}, status_code=200)
async def sign_out(asking: NamedDependency[Asking]) -> Response[str]:
    await admitting.sign_out(asking.tools, asking.token)
    asking.person = None
    return view.go_on(asking, "/sign-in", "You are signed out.", cookies=[asking.without(SESSION)])


@get("/password", opt={"before_change": True})
async def password_page(asking: NamedDependency[Asking]) -> Response[str]:
    return await view.page(asking, "signing_in/password.html", wrong="")


@post("/password", opt={"before_change": True}, status_code=200)
async def password(asking: NamedDependency[Asking]) -> Response[str]:
    if asking.person is None:
        return view.go_on(asking, "/sign-in")
    form = asking.form
    try:
        if form.text("new") != form.text("again"):
            raise Refused("The two new passwords are not the same.")
        token = await admitting.change_password(asking.tools, asking.person, form.text("old"), form.text("new"))
    except Refused as error:
        return await view.page(asking, "signing_in/password.html", wrong=str(error), code=422)
    return view.go_on(
        asking,
        "/",
        "Your password is changed; other sessions of yours have ended.",
        cookies=[asking.session_cookie(token)],
    )


HANDLERS = [sign_in_page, sign_in, sign_out, password_page, password]
