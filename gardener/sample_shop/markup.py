"""What both releases write HTML with: a page, the visit it answers, and the small pieces of text in it."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gardener.sample_shop.state import PRODUCTS, Product, Session


@dataclass(frozen=True, slots=True)
class Page:
    """The inside of a page; a release's `layout` puts its frame around it."""

    title: str
    main: str


@dataclass(frozen=True, slots=True)
class Visit:
    """One request, as far as a page has to know it."""

    path: str
    session: Session
    now: datetime
    visitors: int
    query: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)  # a form that comes back with something to correct
    notice: str = ""
    error: str = ""
    has_answered_consent: bool = False


def text(value: object) -> str:
    """A value as text or attribute value; everything that is not our own markup goes through here."""
    return html.escape(str(value), quote=True)


def money(pence: int) -> str:
    return f"£{pence // 100}.{pence % 100:02d}"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def guard(visit: Visit) -> str:
    """The hidden field that every form carries: it proves that the form is one of ours."""
    return f'<input type="hidden" name="csrf" value="{text(visit.session.csrf)}">'


def messages(visit: Visit) -> str:
    notice = f'<p class="notice" role="status">{text(visit.notice)}</p>' if visit.notice else ""
    error = f'<p class="error" role="alert">{text(visit.error)}</p>' if visit.error else ""
    return notice + error


def options(choices: Mapping[str, str], chosen: str = "") -> str:
    return "".join(
        f'<option value="{text(value)}"{" selected" if value == chosen else ""}>{text(label)}</option>'
        for value, label in choices.items()
    )


def cards(products: Iterable[Product]) -> str:
    return "".join(
        f"""
        <li class="product-card" data-name="{text(product.name.lower())}">
          <a href="/products/{product.slug}"><img src="/assets/pictures/{product.slug}.svg" alt="" width="180"
            height="140"><span class="product-name">{text(product.name)}</span></a>
          <span class="price">{money(product.pence)}</span>
        </li>"""
        for product in products
    )


def in_category(category: str) -> list[Product]:
    """The products of a category; all of them if there is no such category."""
    found = [product for product in PRODUCTS.values() if product.category == category]
    return found or list(PRODUCTS.values())


def promotions(visit: Visit) -> str:
    """Three promotions in an order that changes with every visit, as an advertising server would send them."""
    offers = (
        ("New glazes", "Spring colours are out of the kiln."),
        ("Seconds sale", "Small flaws, smaller prices, every Friday."),
        ("Workshops", "Throw your own bowl on a Saturday."),
    )
    turn = visit.visitors % len(offers)
    return "".join(
        f'<li class="promo"><strong>{title}</strong> {line}</li>' for title, line in offers[turn:] + offers[:turn]
    )
