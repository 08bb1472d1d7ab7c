"""repair_ladder/values.py: what `${name}` stands for, and how secrets are kept out of everything."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radar.locators import Locator
from repair_ladder.errors import BadTest
from repair_ladder.steps import Step
from repair_ladder.values import HIDDEN, fill_in, names_in, names_used, redactor
from tests.builders import a_step, steps_of


@pytest.mark.parametrize(
    ("step", "filled"),
    [
        pytest.param(
            a_step("fill", css="#a", value="${user}"), a_step("fill", css="#a", value="ada"), id="a parameter"
        ),
        pytest.param(
            a_step("fill", css="#a", value="<${user}>${n}"), a_step("fill", css="#a", value="<ada>7"), id="two in one"
        ),
        pytest.param(a_step("click", text="${user}"), a_step("click", text="ada"), id="a locator"),
        pytest.param(
            a_step(
                "click", css="a", within={"text": "${user}"}, frame=[{"title": "${n}"}], alternatives=[{"css": "#${n}"}]
            ),
            a_step("click", css="a", within={"text": "ada"}, frame=[{"title": "7"}], alternatives=[{"css": "#7"}]),
            id="locators in locators",
        ),
        pytest.param(
            a_step("drag", css="a", to={"text": "${user}"}), a_step("drag", css="a", to={"text": "ada"}), id="a target"
        ),
        pytest.param(
            a_step("upload", css="a", files=["${n}.png"]), a_step("upload", css="a", files=["7.png"]), id="a list"
        ),
        pytest.param(
            a_step("wait", url={"contains": "/${user}"}), a_step("wait", url={"contains": "/ada"}), id="a condition"
        ),
        pytest.param(
            a_step("fill", css="#a", value="$user {user} $${}"),
            a_step("fill", css="#a", value="$user {user} $${}"),
            id="no placeholder",
        ),
        pytest.param(a_step("wait", ms=500), a_step("wait", ms=500), id="a number"),
    ],
)
def test_names_are_replaced_everywhere_in_a_step(step: Step, filled: Step) -> None:
    assert fill_in(step, {"user": "ada", "n": "7"}) == filled


def test_what_a_value_holds_is_not_filled_in_again() -> None:
    assert fill_in(a_step("fill", css="#a", value="${user}"), {"user": "${n}", "n": "7"}).parameters["value"] == "${n}"


def test_a_name_without_a_value_is_named() -> None:
    with pytest.raises(BadTest, match="the variable 'town' has no value"):
        fill_in(a_step("fill", css="#a", value="${town}"), {"user": "ada"})


def test_the_names_of_a_test_are_found_in_blocks_and_locators() -> None:
    steps = steps_of(
        {"intent": {"goal": "buy ${thing}", "steps": [{"click": {"text": "${item}", "within": {"css": "#${box}"}}}]}},
        {"fill": {"label": "Email", "value": "${user}"}},
    )

    assert names_used(steps) == {"item", "box", "user"}
    assert set(names_in(steps[0])) == {"thing", "item", "box"}
    assert list(names_in(Locator(text="none"))) == []


# --- secrets -------------------------------------------------------------------------------------------

SECRET = 'p&ss wörd/"<7>+%'


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(SECRET, id="plain"),
        pytest.param(quote(SECRET), id="in a path"),
        pytest.param(quote(SECRET, safe=""), id="in a query"),
        pytest.param(quote_plus(SECRET), id="in a form"),
        pytest.param(
            re.sub("%..", lambda code: code[0].lower(), quote(SECRET, safe="")), id="in a query, small letters"
        ),
        pytest.param(quote(quote(SECRET, safe=""), safe=""), id="in an address within an address"),
        pytest.param(html.escape(SECRET), id="in HTML"),
        pytest.param(html.escape(SECRET).replace("&quot;", "&#34;"), id="in HTML, by number"),
        pytest.param(json.dumps(SECRET)[1:-1], id="in JSON"),
        pytest.param(json.dumps(SECRET, ensure_ascii=False)[1:-1].replace("/", "\\/"), id="in JSON with slashes"),
        pytest.param(
            json.dumps(SECRET)[1:-1].replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"),
            id="in JSON in a page",
        ),
        pytest.param(json.dumps(json.dumps(SECRET)[1:-1])[1:-1], id="in JSON within JSON"),
        pytest.param(SECRET.upper(), id="in capitals"),
    ],
)
def test_a_secret_is_hidden_in_every_form_in_which_it_travels(form: str) -> None:
    assert redactor([SECRET])(f"before {form} after {form}") == f"before {HIDDEN} after {HIDDEN}"


@pytest.mark.parametrize("secret", ["correct horse", SECRET, "a1>?a1>?~~"])
@pytest.mark.parametrize("before", ["", "a", "ada:", "ada@shop.test:", "\0\1"])
@pytest.mark.parametrize("behind", ["", "\n", ":x", "???"])
def test_a_secret_is_hidden_in_base64_wherever_it_begins(secret: str, before: str, behind: str) -> None:
    whole = (before + secret + behind).encode()
    redact = redactor([secret])

    for text in (b64encode(whole).decode(), urlsafe_b64encode(whole).decode(), quote(b64encode(whole).decode(), "")):
        hidden = redact(f"Authorization: Basic {text}")
        assert HIDDEN in hidden
        # Nothing is left of which a letter of the secret could be read.
        left = hidden.removeprefix("Authorization: Basic ").split(HIDDEN)
        assert len(left) == 2
        assert len(left[0]) <= len(b64encode(before.encode()))
        assert len(left[1]) <= len(b64encode(behind.encode())) + 8


def test_a_text_that_resembles_base64_stays() -> None:
    assert redactor(["abc", "correct horse"])("YWJj and Y29ycm") == "YWJj and Y29ycm"


def test_of_a_secret_of_several_lines_each_is_hidden() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END KEY-----"

    assert redactor([key])("line 2: MIIEvQIBADAN, and so on") == f"line 2: {HIDDEN}, and so on"
    assert redactor(["two  words"])("two words") == HIDDEN


def test_bytes_that_are_no_text_do_not_break_it() -> None:
    assert redactor(["bad\udcff byte"])("a bad\udcff byte") == f"a {HIDDEN}"


def test_of_two_secrets_the_longer_goes_first() -> None:
    redact = redactor(["horse", "correct horse battery"])

    assert redact("correct horse battery, horse") == f"{HIDDEN}, {HIDDEN}"


@pytest.mark.parametrize("short", ["", "a", "42"])
def test_what_is_too_short_to_be_told_from_chance_is_left(short: str) -> None:
    assert redactor([short])("a text with 42 letters") == "a text with 42 letters"


def test_without_secrets_a_text_stays() -> None:
    assert redactor([])("as it is") == "as it is"


def test_a_secret_that_reads_like_a_pattern_is_taken_as_it_is() -> None:
    assert redactor(["a.*b(c"])("a.*b(c axxb(c") == f"{HIDDEN} axxb(c"


SECRETS = st.text(min_size=3, max_size=30).filter(lambda secret: len(secret.strip()) >= 3)  # shorter ones are none


@given(SECRETS, st.text(max_size=50), st.text(max_size=50))
def test_no_text_holds_the_secret_afterwards(secret: str, before: str, after: str) -> None:
    hidden = redactor([secret])(before + secret + after)

    # What the mark brings in, or what closes over a cut, is no secret; a secret inside the mark's own letters is.
    if secret not in HIDDEN and not re.search(re.escape(secret), HIDDEN + after) and secret not in before + HIDDEN:
        assert HIDDEN in hidden
        assert secret not in hidden.split(HIDDEN)
