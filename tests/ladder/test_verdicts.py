"""repair_ladder/verdicts.py: drift, app bug or surroundings?"""

from __future__ import annotations

from typing import Any

import pytest

from repair_ladder.memory import Memory
from repair_ladder.outcomes import Dialog, Environment, Evidence, Green, Red, Trace
from repair_ladder.rungs import Situation, Verdict
from repair_ladder.verdicts import MOST_EVIDENCE, diagnose, pre_triage
from tests.builders import a_memory, a_page, a_red, a_replacement, index_of, steps_of

SHOP = """
main
  h1 "Basket"
  p "One blue mug"
  p "Ships tomorrow"
  p "Free returns"
  button#pay "Pay now"
  button#later "Save for later"
  p role=status "Thank you, your order is on its way"
"""
OLD = a_page(SHOP)
STEPS = steps_of(
    {"goto": "/"}, {"click": {"css": "#pay"}}, {"assert_text": {"role": "status", "equals": "Thank you for the 2 mugs"}}
)
KNOWN = a_memory({2: (OLD, index_of(OLD, id="pay")), 3: (OLD, index_of(OLD, role="status"))})


def verdict(red: Red, *, memory: Memory = KNOWN, steps: Any = STEPS, base: Any = ()) -> Verdict:
    return diagnose(Situation(steps, base, red, memory))


# --- before anything else ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        pytest.param(a_page('h1 "Oops"', status=502), "server_error", id="5xx"),
        pytest.param(a_page('input type=password label="Password"\nbutton "Sign in"'), "sign_in", id="a sign-in page"),
        pytest.param(
            a_page('h1 "Sign in"\nlabel "Mail"\ninput type=email label="Work e-mail"\nbutton "Next"'),
            "sign_in",
            id="a sign-in page that asks for the name first",
        ),
        pytest.param(
            a_page('h1 "Session expired"\np "You were away for long"\nbutton "Sign in with your company"'),
            "sign_in",
            id="a sign-in elsewhere",
        ),
        pytest.param(a_page(SHOP, status=403), "sign_in", id="403"),
        pytest.param(
            a_page(
                'main\n  h1 "Warenkorb"\n  p "Eine Tasse"\n  p "Morgen da"\n  p "Rückgabe frei"'
                '\n  button#pay "Bezahlen"\n  button#later "Merken"\n  p role=status "Danke"',
                language="de",
            ),
            "language",
            id="another language",
        ),
    ],
)
def test_a_page_that_is_not_the_app_is_the_surroundings(page: Any, kind: str) -> None:
    outcome = pre_triage(a_red(2, page), KNOWN)

    assert isinstance(outcome, Environment)
    assert (outcome.kind, outcome.place, outcome.page) == (kind, (2,), page)
    assert "(step 2)" in outcome.message


@pytest.mark.parametrize(
    ("outcome", "memory"),
    [
        pytest.param(Green(Trace()), KNOWN, id="green"),
        pytest.param(a_red(2, OLD), KNOWN, id="the app as it was"),
        pytest.param(a_red(2, a_page(SHOP + 'button "Sign in"')), KNOWN, id="a way to sign in on the app's own page"),
        pytest.param(
            a_red(2, a_page('h1 "Sign in"' + SHOP + 'input type=email label="E-mail"')),
            KNOWN,
            id="the app is all there",
        ),
        pytest.param(a_red(2, None), KNOWN, id="no page"),
        pytest.param(a_red(2, a_page("h1", status=502)), Memory(), id="never green: nothing to compare with"),
        pytest.param(a_red(2, a_page(SHOP.replace("button#pay", "button#buy"))), KNOWN, id="drift"),
        pytest.param(Environment("browser", "gone"), KNOWN, id="the surroundings already"),
    ],
)
def test_anything_else_is_left_as_it_is(outcome: Any, memory: Memory) -> None:
    assert pre_triage(outcome, memory) is outcome


# --- verdicts ------------------------------------------------------------------------------------------


def test_h17_a_check_that_ran_and_does_not_hold_is_a_defect_with_both_values() -> None:
    found = verdict(a_red(3, OLD, "check", target=9, observed="Error 17"))

    assert found.category == "product_defect"
    assert "Thank you for the 2 mugs" in found.reason
    assert 'the app shows "Error 17"' in found.reason
    assert found.wanted == ()


def test_g35_a_new_wording_is_for_a_person_with_the_change_they_would_make() -> None:
    found = verdict(a_red(3, OLD, "check", observed="Thanks you for the 2 mugs"))

    assert found.category == "fixable"
    (wanted,) = found.wanted
    assert (wanted.op, wanted.place) == ("replace", (3,))
    assert wanted.new is not None
    assert wanted.new.parameters["equals"] == "Thanks you for the 2 mugs"


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param("Thank you for the 3 mugs", id="another number"),
        pytest.param("Thank you for the mugs", id="no number"),
        pytest.param("Your payment was refused", id="other words"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_more_than_another_wording_is_a_defect(observed: str) -> None:
    assert verdict(a_red(3, OLD, "check", observed=observed)).category == "product_defect"


def test_a_page_that_does_not_come_up_is_a_defect() -> None:
    assert verdict(a_red(1, None, "navigation", "Timeout 15000ms exceeded")).category == "product_defect"


def test_a_page_that_is_missing_is_a_defect_with_its_address() -> None:
    found = verdict(a_red(2, a_page('h1 "Not found"', "/cart", status=404)))

    assert found.category == "product_defect"
    assert "/cart answered 404" in found.reason


def test_a_test_that_is_wrong_itself_is_incurable() -> None:
    found = verdict(a_red(2, OLD, "test", "the variable 'user' has no value"))

    assert found.category == "incurable"
    assert "the test itself is at fault" in found.reason


def test_an_element_that_is_gone_is_for_a_person() -> None:
    found = verdict(a_red(2, a_page(SHOP.replace('  button#pay "Pay now"\n', ""))))

    assert found.category == "product_defect"
    assert "gone from the page" in found.reason
    assert "a person decides" in found.reason


@pytest.mark.parametrize(
    ("evidence", "line"),
    [
        pytest.param(Evidence(bad_answers=("POST /pay answered 500",)), "server: POST /pay answered 500", id="5xx"),
        pytest.param(Evidence(page_errors=("x is undefined",)), "script error: x is undefined", id="a script error"),
    ],
)
def test_what_the_browser_said_of_the_app_makes_it_a_defect(evidence: Evidence, line: str) -> None:
    found = verdict(a_red(2, OLD, "timeout", evidence=evidence), memory=Memory())

    assert found.category == "product_defect"
    assert line in found.evidence


def test_what_is_only_noise_is_no_evidence_against_the_app() -> None:
    said = Evidence(console_errors=("deprecated",), failed_requests=("GET /favicon.ico failed",))

    found = verdict(a_red(2, OLD, "timeout", evidence=said), memory=Memory())

    assert found.category == "incurable"
    assert found.evidence == ("console: deprecated",)


def test_evidence_is_short_and_says_each_thing_once() -> None:
    said = Evidence(
        page_errors=("same",) * 9,
        console_errors=tuple(f"line {number}" for number in range(20)),
        dialogs=(
            Dialog((2,), "confirm", "Sure?", "dismissed", False),
            Dialog((2,), "alert", "asked for", "accepted", True),
        ),
    )

    found = verdict(a_red(2, OLD, "timeout", evidence=said))

    assert len(found.evidence) == MOST_EVIDENCE
    assert found.evidence.count("script error: same") == 1
    assert not any("asked for" in line for line in found.evidence)


def test_what_could_be_mended_is_told_and_not_lost() -> None:
    base = (a_replacement(2, {"click": {"css": "#buy"}}, "the button was renamed"),)

    found = verdict(a_red(3, OLD, "check", observed="Error 17"), base=base)

    assert found.reason.startswith("Step 2 could be mended (the button was renamed), but with that ")


def test_an_unknown_failure_is_never_a_permission() -> None:
    found = verdict(a_red(2, None, "timeout", "it did not end"), memory=Memory())

    assert found.category == "incurable"
    assert "no proven fix was found" in found.reason
