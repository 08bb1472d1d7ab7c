"""What the shop sells, and what it remembers: people, sessions, baskets and orders. No HTML, no requests.

Both releases work on the same state, so a deploy in the middle of a visit loses nothing.
"""

import secrets
from dataclasses import dataclass, field

ADA_EMAIL = "ada@example.com"
ADA_PASSWORD = "kiln-and-clay-7"  # of a demo account on a loopback port; it opens nothing else
FIRST_FREE_ORDER = 1004
VOUCHERS = {"WELCOME10": 10}  # code -> per cent off
WINDOWS = {"morning": "Morning, 8 to 12", "afternoon": "Afternoon, 12 to 17", "evening": "Evening, 17 to 21"}
TOPICS = {"order": "An order", "broken": "A broken piece", "commission": "A commission", "other": "Something else"}
CATEGORIES = {"mugs": "Mugs", "teapots": "Teapots", "bowls": "Bowls", "plates": "Plates"}


@dataclass(frozen=True, slots=True)
class Product:
    slug: str
    name: str
    category: str
    pence: int
    glaze: str  # CSS colour of its picture
    about: str


@dataclass(frozen=True, slots=True)
class Zone:
    """A country we deliver to."""

    code: str
    country: str
    pence: int
    days: str


@dataclass(frozen=True, slots=True)
class Line:
    product: Product
    quantity: int

    @property
    def pence(self) -> int:
        return self.product.pence * self.quantity


@dataclass(frozen=True, slots=True)
class Order:
    number: int
    name: str
    lines: tuple[Line, ...]
    pence: int
    status: str
    window: str = ""


@dataclass(slots=True)
class Person:
    email: str
    password: str
    name: str
    orders: list[Order] = field(default_factory=list)
    wants_offers: bool = False
    wants_reminders: bool = True


@dataclass(slots=True)
class Session:
    token: str
    csrf: str
    person: Person | None = None
    basket: dict[str, int] = field(default_factory=dict)  # product slug -> quantity
    saved: list[str] = field(default_factory=list)
    voucher: str = ""
    notice: str = ""  # shown on the next page, once
    orders: list[Order] = field(default_factory=list)

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(Line(PRODUCTS[slug], quantity) for slug, quantity in self.basket.items())

    @property
    def pieces(self) -> int:
        return sum(self.basket.values())

    @property
    def subtotal(self) -> int:
        return sum(line.pence for line in self.lines)

    @property
    def discount(self) -> int:
        return self.subtotal * VOUCHERS.get(self.voucher, 0) // 100


class State:
    """Everything that accumulates while the shop runs."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        ada = Person(ADA_EMAIL, ADA_PASSWORD, "Ada", list(_ADAS_ORDERS))
        self.people = {ada.email: ada}
        self.sessions: dict[str, Session] = {}
        self.readers: list[str] = []  # of the newsletter
        self.messages: list[str] = []
        self.visitors = 0
        self.next_order = FIRST_FREE_ORDER

    def session(self, token: str) -> Session:
        """The session of this cookie, or a fresh one: a token we did not give out is never taken over."""
        if token not in self.sessions:
            fresh = Session(secrets.token_urlsafe(18), secrets.token_urlsafe(12))
            self.sessions[fresh.token] = fresh
            return fresh
        return self.sessions[token]

    def sign_in(self, session: Session, email: str, password: str) -> bool:
        person = self.people.get(email.strip().lower())
        if person is None or not secrets.compare_digest(person.password.encode(), password.encode()):
            return False
        session.person = person
        return True

    def place_order(self, session: Session, name: str, pence: int, window: str) -> Order:
        order = Order(self.next_order, name, session.lines, pence, "In the workshop", window)
        self.next_order += 1
        (session.person or session).orders.append(order)
        session.basket, session.voucher = {}, ""
        return order


PRODUCTS = {
    product.slug: product
    for product in (
        Product("blue-mug", "Blue mug", "mugs", 1200, "#3f6fa5", "A round mug that keeps tea warm and hands warmer."),
        Product("speckled-mug", "Speckled mug", "mugs", 1400, "#b9a68c", "Iron specks in a milky glaze; no two alike."),
        Product("espresso-cup", "Espresso cup", "mugs", 850, "#7c4a36", "Two good sips, with a thumb rest."),
        Product("stoneware-teapot", "Stoneware teapot", "teapots", 3800, "#5b6b57", "Pours four cups without a drip."),
        Product("little-teapot", "Little teapot", "teapots", 2900, "#c2704f", "For one person and a long book."),
        Product(
            "porridge-bowl", "Porridge bowl", "bowls", 1500, "#d0b26b", "Deep enough for honey to stay where it is."
        ),
        Product(
            "serving-bowl", "Serving bowl", "bowls", 3200, "#47706f", "Wide, heavy, and at the middle of the table."
        ),
        Product("side-plate", "Side plate", "plates", 1100, "#8896a8", "For bread, cake, or the last of both."),
        Product("dinner-plate", "Dinner plate", "plates", 1800, "#6a5d7b", "Flat rim, soft edge, stacks well."),
    )
}

ZONES = (
    Zone("uk", "United Kingdom", 0, "1 to 2"),
    Zone("ie", "Ireland", 490, "2 to 3"),
    Zone("de", "Germany", 690, "3 to 5"),
    Zone("fr", "France", 650, "2 to 4"),
    Zone("at", "Austria", 790, "4 to 6"),
    Zone("dk", "Denmark", 720, "5 to 7"),
)

_ADAS_ORDERS = (
    Order(1001, "Ada", (Line(PRODUCTS["dinner-plate"], 4),), 7200, "Delivered"),
    Order(1002, "Ada", (Line(PRODUCTS["stoneware-teapot"], 1), Line(PRODUCTS["espresso-cup"], 2)), 5500, "Delivered"),
    Order(1003, "Ada", (Line(PRODUCTS["serving-bowl"], 1),), 3200, "In the kiln"),
)
