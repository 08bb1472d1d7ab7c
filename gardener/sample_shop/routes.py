"""What each address of the shop does: a request and the state in, a response out. Both releases share it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gardener.sample_shop import assets
from gardener.sample_shop.markup import Page, Visit
from gardener.sample_shop.state import PRODUCTS, TOPICS, VOUCHERS, WINDOWS, ZONES, Order, Product, Session, State

LONGEST_FIELD = 2000
MOST_OF_ONE_PIECE = 20
SHORTEST_MESSAGE = 10


class Release(Protocol):
    """What a module of pages has to hold to be a release."""

    CHECKOUT_FIELDS: tuple[str, ...]

    def total(self, session: Session) -> int: ...
    def layout(self, page: Page, visit: Visit) -> str: ...
    def home(self, visit: Visit) -> Page: ...
    def products(self, visit: Visit) -> Page: ...
    def product(self, visit: Visit, item: Product) -> Page: ...
    def basket(self, visit: Visit) -> Page: ...
    def checkout(self, visit: Visit) -> Page: ...
    def order(self, visit: Visit, placed: Order) -> Page: ...
    def orders(self, visit: Visit) -> Page: ...
    def login(self, visit: Visit) -> Page: ...
    def settings(self, visit: Visit) -> Page: ...
    def contact(self, visit: Visit) -> Page: ...
    def gift_card(self, visit: Visit) -> Page: ...
    def delivery(self, visit: Visit) -> Page: ...
    def not_found(self, visit: Visit) -> Page: ...


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: str
    kind: str = "text/html"
    location: str = ""
    session: str = ""  # the token for the session cookie


@dataclass(frozen=True, slots=True)
class Call:
    """A request together with what it is answered from."""

    request: Request
    release: Release
    state: State
    session: Session
    now: datetime

    def visit(self, error: str = "") -> Visit:
        """The visit for the page that answers; it uses up the session's notice."""
        notice, self.session.notice = self.session.notice, ""
        return Visit(
            path=self.request.path,
            session=self.session,
            now=self.now,
            visitors=self.state.visitors,
            query=self.request.query,
            sent=self.request.form,
            notice=notice,
            error=error,
            has_answered_consent="consent" in self.request.cookies,
        )

    def sent(self, name: str) -> str:
        return self.request.form.get(name, "").strip()[:LONGEST_FIELD]

    def show(self, make: Callable[[Visit], Page], *, error: str = "", status: int = 200) -> Response:
        visit = self.visit(error)
        return Response(status, self.release.layout(make(visit), visit), session=self.session.token)

    def go(self, path: str, notice: str = "") -> Response:
        self.session.notice = notice
        return Response(303, "", location=path, session=self.session.token)


Handler = Callable[[Call], Response]


def answer(request: Request, release: Release, state: State, now: datetime) -> Response:
    if request.path.startswith("/assets/"):
        return asset(request.path)
    session = state.session(request.cookies.get("shop_session", ""))
    call = Call(request, release, state, session, now)
    if request.method == "POST":
        return post(call)
    state.visitors += 1
    return get(call)


def asset(path: str) -> Response:
    found = assets.find(path.removeprefix("/assets/"))
    return Response(200, found.text, found.kind) if found else Response(404, "There is no such file.", "text/plain")


def get(call: Call) -> Response:
    match call.request.path.strip("/").split("/"):
        case ["products", slug] if slug in PRODUCTS:
            return call.show(lambda visit: call.release.product(visit, PRODUCTS[slug]))
        case ["orders", number]:
            return show_order(call, number)
        case ["orders" | "settings"] if call.session.person is None:
            return call.go("/login")
    pages: dict[str, Callable[[Visit], Page]] = {
        "/": call.release.home,
        "/products": call.release.products,
        "/basket": call.release.basket,
        "/checkout": call.release.checkout,
        "/orders": call.release.orders,
        "/login": call.release.login,
        "/settings": call.release.settings,
        "/contact": call.release.contact,
        "/gift-card": call.release.gift_card,
        "/delivery": call.release.delivery,
    }
    if call.request.path in pages:
        return call.show(pages[call.request.path])
    return call.show(call.release.not_found, status=404)


def show_order(call: Call, number: str) -> Response:
    own = [*call.session.orders, *(call.session.person.orders if call.session.person else ())]
    found = next((order for order in own if str(order.number) == number), None)
    if found is None:
        return call.show(call.release.not_found, status=404)
    return call.show(lambda visit: call.release.order(visit, found))


def post(call: Call) -> Response:
    handler = POSTS.get(call.request.path)
    if handler is None:
        return call.show(call.release.not_found, status=404)
    if call.request.form.get("csrf") != call.session.csrf:
        error = "This form has become too old. Please open the page again and send it once more."
        return call.show(call.release.home, error=error, status=403)
    return handler(call)


def sign_in(call: Call) -> Response:
    if call.state.sign_in(call.session, call.sent("email"), call.sent("password")):
        return call.go("/orders")
    return call.show(call.release.login, error="The address and the password do not match.", status=422)


def sign_out(call: Call) -> Response:
    call.session.person = None
    return call.go("/", "You are signed out.")


def subscribe(call: Call) -> Response:
    address = call.sent("address")
    if "@" not in address:
        return call.show(call.release.home, error="This is not an e-mail address.", status=422)
    call.state.readers.append(address)
    return call.go("/", f"Thank you. The first letter goes to {address}.")


def add_to_basket(call: Call) -> Response:
    slug, quantity = call.sent("slug"), call.sent("quantity")
    if slug not in PRODUCTS or not quantity.isdecimal() or not 1 <= int(quantity) <= MOST_OF_ONE_PIECE:
        return call.show(call.release.products, error=f"Please order 1 to {MOST_OF_ONE_PIECE} of a piece.", status=422)
    basket = call.session.basket
    basket[slug] = min(basket.get(slug, 0) + int(quantity), MOST_OF_ONE_PIECE)
    return call.go(f"/products/{slug}", f"{PRODUCTS[slug].name} is in your basket.")


def remove_from_basket(call: Call) -> Response:
    slug = call.sent("slug")
    if call.session.basket.pop(slug, None) is None:
        return call.go("/basket")
    return call.go("/basket", f"{PRODUCTS[slug].name} is out of your basket.")


def save_for_later(call: Call) -> Response:
    slug = call.sent("slug")
    if call.session.basket.pop(slug, None) is not None and slug not in call.session.saved:
        call.session.saved.append(slug)
    return call.go("/basket")


def apply_voucher(call: Call) -> Response:
    code = call.sent("code").upper()
    if code not in VOUCHERS:
        return call.show(call.release.basket, error="We do not know this voucher.", status=422)
    call.session.voucher = code
    return call.go("/basket", f"Voucher {code} is applied.")


def place_order(call: Call) -> Response:
    zone = next((zone for zone in ZONES if zone.code == call.sent("country")), None)
    if not call.session.basket:
        return call.show(call.release.checkout, error="Your basket is empty.", status=422)
    if zone is None or not all(call.sent(name) for name in call.release.CHECKOUT_FIELDS):
        return call.show(call.release.checkout, error="Please fill in every field.", status=422)
    price = call.release.total(call.session) + zone.pence
    window = WINDOWS.get(call.sent("window"), "")
    order = call.state.place_order(call.session, call.sent("name"), price, window)
    return call.go(f"/orders/{order.number}")


def save_settings(call: Call) -> Response:
    person = call.session.person
    if person is None:
        return call.go("/login")
    person.wants_offers = "offers" in call.request.form
    person.wants_reminders = "reminders" in call.request.form
    return call.go("/settings", "Your settings are saved.")


def send_message(call: Call) -> Response:
    name, message = call.sent("name"), call.sent("message")
    if not name or call.sent("topic") not in TOPICS:
        return call.show(call.release.contact, error="Please tell us your name.", status=422)
    if len(message) < SHORTEST_MESSAGE:
        return call.show(call.release.contact, error="Please write a little more.", status=422)
    call.state.messages.append(message)
    return call.go("/contact", f"Thank you, {name}. We answer within two days.")


def preview_gift_card(call: Call) -> Response:
    if not call.sent("receiver"):
        return call.show(call.release.gift_card, error="Please tell us who it is for.", status=422)
    return call.show(call.release.gift_card)


POSTS: dict[str, Handler] = {
    "/login": sign_in,
    "/logout": sign_out,
    "/newsletter": subscribe,
    "/basket/add": add_to_basket,
    "/basket/remove": remove_from_basket,
    "/basket/save": save_for_later,
    "/basket/voucher": apply_voucher,
    "/checkout": place_order,
    "/settings": save_settings,
    "/contact": send_message,
    "/gift-card": preview_gift_card,
}
