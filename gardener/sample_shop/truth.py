"""What is right for each bundled test once release 2 is out.

For the project's own tests of the demo; nothing that repairs may read it.
"""

from dataclasses import dataclass
from enum import StrEnum


class Right(StrEnum):
    """What an honest gardener makes of a test on release 2."""

    PASSES = "passes"  # still green, nothing to do
    HEAL = "heal"  # the test is to be mended, its checks untouched
    PRODUCT_DEFECT = "product_defect"  # the shop is wrong; the test stays as it is
    GONE = "gone"  # the feature was taken away; only a person can decide about the test


@dataclass(frozen=True, slots=True)
class Expected:
    right: Right
    red_at: str = ""  # the step release 2 fails at; one in a block is written 2.3
    at: str = ""  # the step to mend; with `is_inserted`, the one that a new step comes before
    drift: str = ""  # what changed, in a word or two
    element: str = ""  # CSS, on release 2, of what the step should use
    is_inserted: bool = False
    traps: tuple[str, ...] = ()  # CSS, on release 2, of what it must not use


EXPECTED = {
    "Sign in and see the orders": Expected(Right.HEAL, "2", "2", "label reworded", "#email"),
    "A wrong password is refused": Expected(Right.PASSES),
    "Switch the offers on and off": Expected(Right.PASSES),
    "Find the little teapot": Expected(Right.PASSES, drift="an id went; the recorded alternative holds"),
    "Put two mugs into the basket": Expected(Right.HEAL, "2.3", "2.3", "hashed classes and a wrapper", ".btn_x7f3a"),
    "Take a mug out of the basket": Expected(Right.PASSES),
    "Save a bowl for later": Expected(
        Right.GONE, "4", "4", "control removed", traps=("form[action='/basket/remove'] button",)
    ),
    "A voucher lowers the total": Expected(Right.PRODUCT_DEFECT, "7", "7", "id removed, and a bug", ".sum_q8w2"),
    "Go from the basket to the checkout": Expected(
        Right.HEAL, "4", "4", "link turned button", "[data-testid=to-checkout]"
    ),
    "Check out as a guest": Expected(Right.HEAL, "9", "8", "new required field", "#delivery-window", is_inserted=True),
    "Send a message to the shop": Expected(
        Right.HEAL,
        "5",
        "5",
        "consent banner",
        "[data-consent=needed]",
        is_inserted=True,
        traps=("[data-consent=all]", "#consent-settings"),
    ),
    "Preview a gift card": Expected(
        Right.HEAL, "7", "3", "field moved, a neighbour in its place", "#giver", traps=("#nickname",)
    ),
    "See how long delivery to Germany takes": Expected(
        Right.HEAL, "3", "3", "rows sorted and renamed", "#to-germany button"
    ),
    "Subscribe to the newsletter": Expected(Right.HEAL, "2", "2", "id renamed", "#letter-address"),
}
