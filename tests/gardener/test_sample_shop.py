"""The sample shop over plain HTTP: its pages, its state across a release, and the tests it brings along."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import pytest
import yaml

from gardener.sample_shop import ADA_EMAIL, SECRETS, TESTS_FOLDER, ReleaseName, Shop
from gardener.sample_shop.state import PRODUCTS
from gardener.sample_shop.truth import EXPECTED, Right

NOON = datetime(2030, 5, 4, 12, tzinfo=UTC)
PUBLIC = (
    "/",
    "/products",
    "/products/blue-mug",
    "/basket",
    "/checkout",
    "/login",
    "/contact",
    "/gift-card",
    "/delivery",
)
HOSTILE = "<script>alert(1)</script>\"'&"
ADDRESS = {"name": "Ben", "street": "7 Mill Lane", "town": "Lindau", "country": "de"}
MESSAGE = {"name": "Ada", "topic": "order", "message": "Where is my order?"}
KINDS = {
    *("goto", "back", "reload", "click", "dblclick", "fill", "type", "press", "select", "check", "uncheck", "hover"),
    *("wait", "scroll", "dialog", "screenshot", "intent", "assert_url", "assert_title", "assert_text", "assert_value"),
    *("assert_visible", "assert_hidden", "assert_enabled", "assert_disabled", "assert_checked", "assert_count"),
    "assert_attribute",
}


class Visitor:
    """A browser without a screen: keeps cookies, follows redirects, and sends the guard of the page before."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()))
        self.status, self.path, self.page = 0, "", ""

    def get(self, path: str) -> str:
        return self._open(path, None)

    def post(self, path: str, **form: str) -> str:
        if "csrf" not in form:
            form["csrf"] = re.findall(r'name="csrf" value="([^"]+)"', self.get("/login"))[0]
        return self._open(path, urlencode(form).encode())

    def sign_in(self, password: str = SECRETS["SHOP_PASSWORD"]) -> str:
        return self.post("/login", email=ADA_EMAIL, password=password)

    def _open(self, path: str, body: bytes | None) -> str:
        try:
            answer = self.opener.open(self.shop.url + path, body, timeout=5)
        except HTTPError as refused:
            answer = refused
        with answer:
            self.status, self.path = answer.status, answer.url.removeprefix(self.shop.url)
            self.page = answer.read().decode()
        return self.page


@pytest.fixture(scope="module")
def open_shop() -> Iterator[Shop]:
    with Shop(now=lambda: NOON) as shop:
        yield shop


@pytest.fixture
def shop(open_shop: Shop) -> Shop:
    open_shop.reset()
    open_shop.release = "1"
    return open_shop


@pytest.fixture
def visitor(shop: Shop) -> Visitor:
    return Visitor(shop)


# --- pages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["1", "2"])
@pytest.mark.parametrize("path", PUBLIC)
def test_every_page_answers_in_both_releases(shop: Shop, visitor: Visitor, release: ReleaseName, path: str) -> None:
    shop.release = release

    visitor.get(path)

    assert visitor.status == 200
    assert "<h1>" in visitor.page


@pytest.mark.parametrize("path", ["/orders", "/settings"])
def test_a_personal_page_leads_a_stranger_to_the_sign_in(visitor: Visitor, path: str) -> None:
    visitor.get(path)

    assert visitor.path == "/login"


@pytest.mark.parametrize("path", ["/nothing", "/products/nothing", "/orders/1001", "/orders/x", "/assets/../state.py"])
def test_what_is_not_there_or_not_yours_is_not_found(visitor: Visitor, path: str) -> None:
    visitor.get(path)

    assert visitor.status == 404


def test_everything_a_page_refers_to_is_served_by_the_shop(visitor: Visitor) -> None:
    visitor.get("/products")

    references = set(re.findall(r'(?:href|src)="([^"]+)"', visitor.page))
    assert len(references) > len(PRODUCTS)
    for reference in references:
        visitor.get(reference)
        assert visitor.status == 200, reference


def test_two_loads_of_a_page_differ_only_in_noise(visitor: Visitor) -> None:
    first, second = visitor.get("/"), visitor.get("/")

    assert first != second
    assert sorted(re.findall(r"<li.*?</li>", first)) == sorted(re.findall(r"<li.*?</li>", second))


# --- what people do --------------------------------------------------------------------------------


def test_ada_signs_in_and_sees_her_orders(visitor: Visitor) -> None:
    visitor.sign_in()

    assert visitor.path == "/orders"
    assert "Order 1002" in visitor.page
    assert "Hello, Ada" in visitor.page


def test_a_wrong_password_is_refused(visitor: Visitor) -> None:
    visitor.sign_in("guess")

    assert visitor.status == 422
    assert "do not match" in visitor.page
    assert "Hello" not in visitor.page


def test_a_form_without_its_guard_changes_nothing(visitor: Visitor) -> None:
    visitor.post("/basket/add", slug="blue-mug", quantity="1", csrf="forged")

    assert visitor.status == 403
    assert "nothing in your basket" in visitor.get("/basket")


@pytest.mark.parametrize("quantity", ["0", "-1", "21", "x", "", "²"])
def test_a_quantity_nobody_can_order_is_refused(visitor: Visitor, quantity: str) -> None:
    visitor.post("/basket/add", slug="blue-mug", quantity=quantity)

    assert visitor.status == 422


@pytest.mark.parametrize(
    ("form", "error"),
    [
        (MESSAGE | {"name": ""}, "tell us your name"),
        (MESSAGE | {"message": "Hm"}, "write a little more"),
    ],
    ids=["no name", "too short"],
)
def test_the_contact_form_says_what_is_missing(visitor: Visitor, form: dict[str, str], error: str) -> None:
    visitor.post("/contact", **form)

    assert visitor.status == 422
    assert error in visitor.page


def test_hostile_input_comes_back_as_text(visitor: Visitor) -> None:
    visitor.post("/basket/add", slug="blue-mug", quantity="1")
    echoes = [
        visitor.post("/checkout", **ADDRESS | {"name": HOSTILE}),
        visitor.post("/contact", **MESSAGE | {"name": HOSTILE}),
        visitor.post("/contact", **MESSAGE | {"name": HOSTILE, "message": ""}),
        visitor.post("/gift-card", receiver=HOSTILE, giver=HOSTILE, wish=HOSTILE),
        visitor.post("/newsletter", address=f"{HOSTILE}@example.com"),
        visitor.post("/login", email=HOSTILE, password="x"),
    ]

    assert all("<script>alert" not in page for page in echoes)
    assert all("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;" in page for page in echoes)


# --- the release -----------------------------------------------------------------------------------


def test_a_release_keeps_sessions_baskets_and_orders(shop: Shop, visitor: Visitor) -> None:
    visitor.sign_in()
    visitor.post("/basket/add", slug="side-plate", quantity="1")
    visitor.post("/checkout", **ADDRESS)
    visitor.post("/basket/add", slug="blue-mug", quantity="2")
    url = shop.url

    shop.release = "2"

    assert shop.url == url
    assert "Order 1004" in visitor.get("/orders")
    assert "Blue mug" in visitor.get("/basket")
    assert "E-mail address" in visitor.get("/login")


def test_an_emptied_shop_has_forgotten_everybody(shop: Shop, visitor: Visitor) -> None:
    visitor.sign_in()

    shop.reset()

    visitor.get("/orders")
    assert visitor.path == "/login"


def test_an_unknown_release_is_refused(shop: Shop) -> None:
    with pytest.raises(ValueError, match="no release '3'"):
        shop.release = "3"  # type: ignore[assignment]

    assert shop.release == "1"


@pytest.mark.parametrize(("release", "total"), [("1", "£10.80"), ("2", "£12.00")])
def test_only_release_1_takes_the_voucher_off(shop: Shop, visitor: Visitor, release: ReleaseName, total: str) -> None:
    shop.release = release
    visitor.post("/basket/add", slug="blue-mug", quantity="1")

    visitor.post("/basket/voucher", code="welcome10")

    assert "Voucher WELCOME10 is applied." in visitor.page
    assert f">{total}</strong>" in visitor.page


def test_release_2_wants_a_delivery_window(shop: Shop, visitor: Visitor) -> None:
    shop.release = "2"
    visitor.post("/basket/add", slug="blue-mug", quantity="1")

    without = visitor.post("/checkout", **ADDRESS)
    ordered = visitor.post("/checkout", **ADDRESS, window="morning")

    assert "fill in every field" in without
    assert "Thank you, Ben" in ordered


def test_the_consent_banner_stays_away_once_it_is_answered(shop: Shop, visitor: Visitor) -> None:
    shop.release = "2"
    asked = visitor.get("/contact")

    visitor.opener.addheaders = [("Cookie", "consent=needed")]

    assert "Only what is needed" in asked
    assert "Only what is needed" not in visitor.get("/contact")


# --- the tests it brings along ---------------------------------------------------------------------


def bundled() -> list[dict[str, Any]]:
    return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(TESTS_FOLDER.glob("*.yaml"))]


def kinds(steps: list[dict[str, Any]]) -> list[str]:
    """The kinds of all steps, those inside an intent block included."""
    return [kind for step in steps for kind in [*step, *kinds(step.get("intent", {}).get("steps", []))]]


def test_every_bundled_test_has_its_own_name_and_an_expectation() -> None:
    names = [test["name"] for test in bundled()]

    assert len(names) == len(set(names))
    assert set(names) == set(EXPECTED)


@pytest.mark.parametrize("test", bundled(), ids=lambda test: test["name"])
def test_a_bundled_test_uses_known_steps_and_checks_something(test: dict[str, Any]) -> None:
    found = kinds(test["steps"])

    assert set(found) <= KINDS
    assert any(kind.startswith("assert_") for kind in found)


def test_every_secret_a_bundled_test_names_is_there() -> None:
    values = [value for test in bundled() for value in test.get("variables", {}).values()]

    assert {value["secret"] for value in values if isinstance(value, dict)} == set(SECRETS)


def test_the_releases_differ_enough_to_be_worth_a_demo() -> None:
    rights = [expected.right for expected in EXPECTED.values()]

    assert rights.count(Right.PASSES) >= 3
    assert rights.count(Right.HEAL) >= 7
    assert rights.count(Right.PRODUCT_DEFECT) == rights.count(Right.GONE) == 1
