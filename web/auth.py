"""Who is asking, and may they; every request goes through here before its handler."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
from typing import Any, Final
from urllib.parse import quote, unquote

from litestar import Request
from litestar.datastructures import Cookie

from gardener.actions import admitting
from gardener.people import SESSION_LASTS, Person
from gardener.tools import Tools
from web.errors import ChangePasswordFirst, Forged, NotAllowed, SignInFirst
from web.forms import Form, read_form

SESSION: Final = "gardener_session"
VISITOR: Final = "gardener_visitor"  # before anybody signed in, for the sign-in form itself
SAID: Final = "gardener_said"  # the message of the form before, shown once
FIELD: Final = "csrf"
LONGEST_SAID: Final = 700

AnyRequest = Request[Any, Any, Any]


class Asking:
    """One request: who asks, what they sent, and what the answer has to carry along."""

    def __init__(self, request: AnyRequest, tools: Tools, *, secure: bool) -> None:
        self.request = request
        self.tools = tools
        self.secure = secure
        self.person: Person | None = None
        self.token = request.cookies.get(SESSION, "")
        self.visitor = request.cookies.get(VISITOR, "")
        self.form = Form()
        self.is_new_visitor = False

    @property
    def by(self) -> str:
        """Whose decision it is."""
        if self.person is None:
            raise SignInFirst
        return self.person.name

    @property
    def is_htmx(self) -> bool:
        """Does a part of a page ask, and not a person for a whole one?"""
        headers = self.request.headers
        return headers.get("hx-request") == "true" and headers.get("hx-boosted") != "true"

    @property
    def csrf(self) -> str:
        """What each of our forms carries: only who may read our pages knows it. It does not tell the cookie."""
        kept = self.token if self.person else self.visitor
        if not kept:
            kept = self.visitor = secrets.token_urlsafe(24)
            self.is_new_visitor = True
        return hashlib.sha256(f"csrf:{kept}".encode()).hexdigest()

    @property
    def said(self) -> tuple[str, str] | None:
        """The message of the form before: its kind ("good" or "bad") and its text."""
        raw = self.request.cookies.get(SAID)
        try:
            kind, text = json.loads(unquote(raw or ""))
        except (ValueError, TypeError):
            return None
        return (kind, text) if kind in ("good", "bad") and isinstance(text, str) else None

    def cookie(self, key: str, value: str, *, lasts_s: int | None = None) -> Cookie:
        return Cookie(
            key=key, value=value, path="/", httponly=True, samesite="lax", secure=self.secure, max_age=lasts_s
        )

    def said_cookie(self, kind: str, text: str) -> Cookie:
        return self.cookie(SAID, quote(json.dumps([kind, text[:LONGEST_SAID]])), lasts_s=60)

    def session_cookie(self, token: str) -> Cookie:
        return self.cookie(SESSION, token, lasts_s=int(SESSION_LASTS.total_seconds()))

    def without(self, key: str) -> Cookie:
        return self.cookie(key, "", lasts_s=0)


async def let_in(asking: Asking) -> None:
    """Raises SignInFirst, ChangePasswordFirst, NotAllowed or Forged where the handler must not be reached."""
    request, opt = asking.request, asking.request.route_handler.opt
    if opt.get("asset"):
        return
    if asking.token:
        asking.person = await admitting.who_is(asking.tools, asking.token)
    if request.method == "POST":
        asking.form = read_form(await request.body(), request.headers.get("content-type", ""))
        _must_be_ours(asking)
    if opt.get("public"):
        return
    if asking.person is None:
        raise SignInFirst
    if asking.person.must_change and not opt.get("before_change"):
        raise ChangePasswordFirst
    if opt.get("admin") and not asking.person.is_admin:
        raise NotAllowed


def _must_be_ours(asking: Asking) -> None:
    """The token of the form, or of the header that htmx sends; and no other site as where it comes from."""
    headers = asking.request.headers
    given = asking.form.text(FIELD, longest=200) or headers.get("x-csrf-token", "")
    known = bool(asking.person or asking.visitor)
    if not known or not hmac.compare_digest(given.encode(), asking.csrf.encode()):
        raise Forged
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forged


def address_of(request: AnyRequest) -> str:
    """Where they ask from. Behind a proxy on this machine that is what the proxy says (see web.serving).

    Of IPv6 it is the network: whoever has one address there has 2**64, and would never have to wait.
    """
    host = request.client.host if request.client else "unknown"
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
