"""The shop: its pages before and after a release, and the tests that Ada keeps for it."""

from __future__ import annotations

from typing import Any

from repair_ladder.formats import WrittenTest
from tests.builders import a_page, a_test
from tests.fakes import Release

HOME = """
header
  a href=/ "Shop"
  nav
    a#help href=/help "Help"
main
  h1 "Your basket"
  p "One blue mug"
  form
    input#email name=email label="Email"
    input#coupon name=coupon label="Coupon"
    button#pay.primary formaction=/thanks type=submit "Pay now"
    button#later type=button "Save for later"
footer
  p "Made of clay"
"""
THANKS = """
header
  a href=/ "Shop"
main
  h1 "Order"
  p role=status "Thank you, your order is on its way"
  a#receipt href=/receipt "Receipt"
"""
HELP = """
header
  a href=/ "Shop"
main
  h1 "Help"
  p "Write to us"
  a#contact href=/contact "Contact"
"""
RECEIPT = """
main
  h1 "Receipt"
  p#total "42"
"""
CONTACT = """
main
  h1 "Contact"
  p "By post or by phone"
"""

OLD = Release(
    {
        "/": a_page(HOME),
        "/thanks": a_page(THANKS, "/thanks"),
        "/help": a_page(HELP, "/help"),
        "/receipt": a_page(RECEIPT, "/receipt"),
        "/contact": a_page(CONTACT, "/contact"),
    }
)
# The button has another id, everything else stays.
RENAMED_HOME = HOME.replace("button#pay.primary", "button#submit-payment.primary")
RENAMED = OLD.with_(home=a_page(RENAMED_HOME))
# And once more, with another element of the form moved along.
RENAMED_AGAIN = OLD.with_(home=a_page(HOME.replace("button#pay.primary", "button#order-button.primary")))
# The button is gone; what stands beside it is no substitute.
WITHOUT_BUTTON = OLD.with_(
    home=a_page("\n".join(line for line in HOME.splitlines() if "#pay" not in line)),
)
# The page changes, but nothing that the tests use.
NEW_FOOTER = OLD.with_(home=a_page(HOME.replace("Made of clay", "Made of glass")))
# The renamed button, and a thank-you page that no longer says thanks.
BROKEN = RENAMED.with_(thanks=a_page(THANKS.replace("Thank you, your order is on its way", "Error 17"), "/thanks"))

CHECKOUT = a_test()
HELPING = a_test(
    {"goto": "/help"},
    {"click": {"css": "#contact"}},
    {"assert_text": {"css": "h1", "equals": "Contact"}},
    name="help",
)


def checkouts(count: int) -> list[WrittenTest]:
    """So many tests that use the same button: "checkout 01" and so on."""
    return [a_test(name=f"checkout {number:02}") for number in range(1, count + 1)]


def paying(locator: dict[str, Any], **more: Any) -> WrittenTest:
    """The checkout with another locator for its button."""
    return a_test(
        {"goto": "/"},
        {"fill": {"label": "Email", "value": "${user}"}},
        {"click": locator},
        {"assert_text": {"role": "status", "contains": "Thank you"}},
        **more,
    )
