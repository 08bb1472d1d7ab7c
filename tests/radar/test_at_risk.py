"""radar/at_risk.py: which uses of locators a change touches, and why."""

from __future__ import annotations

import pytest

from radar.at_risk import LocatorUse, States, find_touched
from radar.elements import PageSnapshot
from radar.locators import Locator
from radar.matching import match_pages
from tests.builders import a_page

OLD = """
header
  nav
    a href=/ "Home"
    a href=/orders "Orders"
main
  h1 "Basket"
  ul
    li
      span "Blue jacket"
      button#b1 "Remove"
    li
      span "Red scarf"
      button#b2 "Remove"
  form
    input#email name=email label="Email"
    button#pay "Pay now"
    button#later "Save for later"
footer
  a href=/contact "Contact"
"""


def touched(new: str, locator: Locator, action: str = "click", *, old: str = OLD) -> list[str]:
    before, after = a_page(old), a_page(new)
    return why(before, after, locator, action)


def why(before: PageSnapshot, after: PageSnapshot, locator: Locator, action: str = "click") -> list[str]:
    states = States("/", before, after, match_pages(before, after), ())
    return [one.why for one in find_touched(states, [LocatorUse(1, "1", locator, action)])]


PAY = Locator(css="#pay")


@pytest.mark.parametrize(
    ("change", "locator", "expected"),
    [
        pytest.param(('button#pay "', 'button#pay-now "'), PAY, "its locator finds nothing now", id="nothing"),
        pytest.param(
            ('button#later "Save for later"', 'button#later "Pay now"'),
            Locator(role="button", name="Pay now"),
            "its locator finds 2 elements now",
            id="several",
        ),
        pytest.param(('"Pay now"', '"Pay now" disabled'), PAY, "it is disabled now", id="disabled"),
        pytest.param(('"Pay now"', '"Pay now" covered'), PAY, "something covers it now", id="covered"),
        pytest.param(
            ("    button#pay", '    input#iban name=iban required label="IBAN"\n    button#pay'),
            PAY,
            "its form has a new required field",
            id="a new required field",
        ),
    ],
)
def test_a_use_whose_element_a_change_takes_away_is_touched(
    change: tuple[str, str], locator: Locator, expected: str
) -> None:
    assert touched(OLD.replace(*change), locator) == [expected]


def test_a_locator_that_silently_finds_another_element_is_touched() -> None:
    swapped = OLD.replace('#pay "Pay now"', '#x "Pay now"').replace('#later "', '#pay "')

    assert touched(swapped, PAY) == ["its locator finds another element now"]


def test_a_place_that_another_row_took_is_touched_though_its_own_row_is_gone() -> None:
    """What the old button became is nowhere; what is found now surely was another row's."""
    row = '    li\n      span "Blue jacket"\n      button#b1 "Remove"\n'
    first = Locator(css="li:nth-of-type(1) button")

    assert touched(OLD.replace(row, ""), first) == ["its locator finds another element now"]


@pytest.mark.parametrize(
    ("change", "locator"),
    [
        pytest.param(('"Contact"', '"Write to us"'), PAY, id="something else on the page"),
        pytest.param(('button#pay "Pay now"', 'button#pay "Pay"'), PAY, id="the element itself, still found"),
        pytest.param(("", ""), Locator(css="#not-there"), id="what was not there before either"),
    ],
)
def test_a_use_that_still_finds_its_element_is_left_alone(change: tuple[str, str], locator: Locator) -> None:
    assert touched(OLD.replace(*change) if change[0] else OLD, locator) == []


def test_a_wrapper_with_the_same_words_is_the_same_element() -> None:
    new = OLD.replace('    button#later "Save for later"', '    div#later\n      button "Save for later"')

    assert touched(new, Locator(css="#later")) == []
