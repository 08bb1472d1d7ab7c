"""repair_ladder/formats/playwright.py and playwright_test.py: test scripts in two languages, one meaning."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repair_ladder.checks import meets
from repair_ladder.errors import BadTest
from repair_ladder.formats import Secret, WrittenTest, playwright, playwright_test
from repair_ladder.formats.selectors import FOCUSED, UNCHECKED, UNWRITABLE, WRITABLE
from repair_ladder.step_format import write_steps
from repair_ladder.values import names_used
from tests.builders import steps_of
from tests.ladder.formats import answer
from tests.ladder.test_step_format import ALL, IDS

SHOP = "http://shop.test"


def python(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"import re, os\nfrom playwright.sync_api import Page, expect\n\ndef test_it(page: Page):\n{body}"


def typescript(*lines: str) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"import {{ test, expect }} from '@playwright/test';\n\ntest('it', async ({{ page }}) => {{\n{body}}});\n"


def from_python(*lines: str) -> WrittenTest:
    (test,) = playwright.read(python(*lines), where="test_a.py", base_url=SHOP)
    return test


def from_typescript(*lines: str) -> WrittenTest:
    (test,) = playwright_test.read(typescript(*lines), where="a.spec.ts", base_url=SHOP)
    return test


A = {"css": "#a"}
BUTTON = {"role": "button", "name": "Pay"}
# What stands in Python, what stands in TypeScript, the steps.
SAME: list[tuple[str, str, list[Any]]] = [
    ('page.goto("http://shop.test/login")', "await page.goto('/login');", [{"goto": "/login"}]),
    ("page.go_back()", "await page.goBack();", [{"back": None}]),
    ("page.reload()", "await page.reload();", [{"reload": None}]),
    ('page.locator("#a").click()', "await page.locator('#a').click();", [{"click": A}]),
    ('page.click("#a")', "await page.click('#a');", [{"click": A}]),
    (
        'page.locator("#a").click(button="right", modifiers=["Shift"], position={"x": 1, "y": 2}, timeout=900)',
        "await page.locator('#a').click({"
        " button: 'right', modifiers: ['Shift'], position: { x: 1, y: 2 }, timeout: 900 });",
        [{"click": {**A, "button": "right", "modifiers": ["Shift"], "position": {"x": 1, "y": 2}}, "timeout_ms": 900}],
    ),
    ('page.locator("#a").dblclick()', "await page.locator('#a').dblclick();", [{"dblclick": A}]),
    (
        'page.locator("#a").click(click_count=2)',
        "await page.locator('#a').click({ clickCount: 2 });",
        [{"dblclick": A}],
    ),
    ('page.locator("#a").set_checked(False)', "await page.locator('#a').setChecked(false);", [{"uncheck": A}]),
    (
        'page.get_by_label("Mail").fill("x")',
        "await page.getByLabel('Mail').fill('x');",
        [{"fill": {"label": "Mail", "value": "x"}}],
    ),
    ('page.locator("#a").clear()', "await page.locator('#a').clear();", [{"fill": {**A, "value": ""}}]),
    (
        'page.locator("#a").press_sequentially("xy")',
        "await page.locator('#a').pressSequentially('xy');",
        [{"type": {**A, "value": "xy"}}],
    ),
    ('page.keyboard.press("Enter")', "await page.keyboard.press('Enter');", [{"press": "Enter"}]),
    ('page.keyboard.type("xy")', "await page.keyboard.type('xy');", [{"type": {"css": ":focus", "value": "xy"}}]),
    ('page.locator("#a").press("Tab")', "await page.locator('#a').press('Tab');", [{"press": {**A, "key": "Tab"}}]),
    (
        'page.locator("#a").select_option(label="Red")',
        "await page.locator('#a').selectOption({ label: 'Red' });",
        [{"select": {**A, "option": "Red"}}],
    ),
    (
        'page.locator("#a").select_option("r")',
        "await page.locator('#a').selectOption('r');",
        [{"select": {**A, "value": "r"}}],
    ),
    ('page.select_option("#a", "r")', "await page.selectOption('#a', 'r');", [{"select": {**A, "value": "r"}}]),
    (
        'page.locator("#a").select_option(index=1, timeout=5)',
        "await page.locator('#a').selectOption({ index: 1 }, { timeout: 5 });",
        [{"select": {**A, "index": 1}, "timeout_ms": 5}],
    ),
    (
        'page.locator("#a").set_input_files(["a.png", "b.png"])',
        "await page.locator('#a').setInputFiles(['a.png', 'b.png']);",
        [{"upload": {**A, "files": ["a.png", "b.png"]}}],
    ),
    (
        'page.locator("#a").drag_to(page.get_by_text("Bin"))',
        "await page.locator('#a').dragTo(page.getByText('Bin'));",
        [{"drag": {**A, "to": {"text": "Bin"}}}],
    ),
    ("page.mouse.wheel(0, 300)", "await page.mouse.wheel(0, 300);", [{"scroll": {"by": 300}}]),
    (
        'page.locator("#a").scroll_into_view_if_needed()',
        "await page.locator('#a').scrollIntoViewIfNeeded();",
        [{"scroll": {"until": A}}],
    ),
    ("page.wait_for_timeout(50)", "await page.waitForTimeout(50);", [{"wait": 50}]),
    (
        'page.wait_for_url("**/done")',
        "await page.waitForURL('**/done');",
        [{"wait": {"url": {"matches": "^.*/done$"}}}],
    ),
    (
        'page.locator("#a").wait_for(state="hidden")',
        "await page.locator('#a').waitFor({ state: 'hidden' });",
        [{"wait": {"for": A, "state": "hidden"}}],
    ),
    ('page.wait_for_selector("#a")', "await page.waitForSelector('#a');", [{"wait": {"for": A}}]),
    (
        'page.once("dialog", lambda dialog: dialog.accept("yes"))',
        "page.once('dialog', dialog => dialog.accept('yes'));",
        [{"dialog": {"answer": "accept", "text": "yes"}}],
    ),
    (
        'page.screenshot(path="out/home.png")',
        "await page.screenshot({ path: 'out/home.png' });",
        [{"screenshot": "home"}],
    ),
    # Locators.
    (
        'page.get_by_role("button", name="Pay", exact=True).click()',
        "await page.getByRole('button', { name: 'Pay', exact: true }).click();",
        [{"click": {**BUTTON, "exact": True}}],
    ),
    (
        'page.get_by_role("button", name=re.compile("pay", re.IGNORECASE)).click()',
        "await page.getByRole('button', { name: /pay/i }).click();",
        [{"click": {"role": "button", "name": "(?i)pay", "regex": True}}],
    ),
    (
        'page.get_by_role("heading", name="Shop", level=2).click()',
        "await page.getByRole('heading', { name: 'Shop', level: 2 }).click();",
        [{"click": {"role": "heading", "name": "Shop", "css": ':is(h2:not([aria-level]), [aria-level="2"])'}}],
    ),
    (
        'page.get_by_placeholder("x").click()',
        "await page.getByPlaceholder('x').click();",
        [{"click": {"placeholder": "x"}}],
    ),
    ('page.get_by_alt_text("x").click()', "await page.getByAltText('x').click();", [{"click": {"alt": "x"}}]),
    ('page.get_by_title("x").click()', "await page.getByTitle('x').click();", [{"click": {"title": "x"}}]),
    ('page.get_by_test_id("x").click()', "await page.getByTestId('x').click();", [{"click": {"test_id": "x"}}]),
    (
        'page.locator("tr").filter(has_text="Mug").get_by_role("button").click()',
        "await page.locator('tr').filter({ hasText: 'Mug' }).getByRole('button').click();",
        [{"click": {"role": "button", "within": {"css": "tr", "has_text": "Mug"}}}],
    ),
    (
        'page.locator("tr", has=page.locator("b")).filter(has_not_text="x").nth(2).click()',
        "await page.locator('tr', { has: page.locator('b') }).filter({ hasNotText: 'x' }).nth(2).click();",
        [{"click": {"css": "tr", "has": {"css": "b"}, "has_not_text": "x", "nth": 2}}],
    ),
    (
        'page.locator("tr").filter(has_text="a").filter(has_text=re.compile("^b$")).click()',
        "await page.locator('tr').filter({ hasText: 'a' }).filter({ hasText: /^b$/ }).click();",
        [{"click": {"css": ":scope", "has_text": "^b$", "regex": True, "within": {"css": "tr", "has_text": "a"}}}],
    ),
    (
        'page.locator("tr").first.filter(visible=True).click()',
        "await page.locator('tr').first().filter({ visible: true }).click();",
        [{"click": {"css": ":scope", "visible": True, "within": {"css": "tr", "nth": 0}}}],
    ),
    (
        'page.get_by_role("button").and_(page.get_by_title("x")).last.click()',
        "await page.getByRole('button').and(page.getByTitle('x')).last().click();",
        [{"click": {"role": "button", "title": "x", "nth": -1}}],
    ),
    (
        'page.frame_locator("#pay").frame_locator("iframe").get_by_label("Card").click()',
        "await page.frameLocator('#pay').frameLocator('iframe').getByLabel('Card').click();",
        [{"click": {"label": "Card", "frame": [{"css": "#pay"}, {"css": "iframe"}]}}],
    ),
    (
        'page.get_by_title("Pay").content_frame.locator("#a").click()',
        "await page.getByTitle('Pay').contentFrame().locator('#a').click();",
        [{"click": {**A, "frame": [{"title": "Pay"}]}}],
    ),
    (
        'page.locator("#list >> text=Mug >> nth=1").click()',
        "await page.locator('#list >> text=Mug >> nth=1').click();",
        [{"click": {"text": "Mug", "nth": 1, "within": {"css": "#list"}}}],
    ),
    (
        "page.locator('role=button[name=\"Pay\"]').click()",
        "await page.locator('role=button[name=\"Pay\"]').click();",
        [{"click": {**BUTTON, "exact": True}}],
    ),
    (
        'page.get_by_role(role="button").click()',
        "await page.getByRole('button').click();",
        [{"click": {"role": "button"}}],
    ),
    ('page.locator("//a").click()', "await page.locator('//a').click();", [{"click": {"xpath": "//a"}}]),
    # Checks.
    (
        'expect(page).to_have_url("http://shop.test/x")',
        "await expect(page).toHaveURL('/x');",
        [{"assert_url": {"equals": "/x"}}],
    ),
    (
        'expect(page).not_to_have_url(re.compile("login"))',
        "await expect(page).not.toHaveURL(/login/);",
        [{"assert_url": {"matches": r"\A(?![\s\S]*(?:login))"}}],
    ),
    (
        'expect(page).to_have_title("Shop")',
        "await expect(page).toHaveTitle('Shop');",
        [{"assert_title": {"equals": "Shop"}}],
    ),
    ('assert "x" in page.url', "expect(page.url()).toContain('x');", [{"assert_url": {"contains": "x"}}]),
    (
        'expect(page.locator("#a")).to_be_visible()',
        "await expect(page.locator('#a')).toBeVisible();",
        [{"assert_visible": A}],
    ),
    (
        'expect(page.locator("#a")).not_to_be_visible()',
        "await expect(page.locator('#a')).not.toBeVisible();",
        [{"assert_hidden": A}],
    ),
    (
        'expect(page.locator("#a")).to_be_hidden(timeout=9)',
        "await expect(page.locator('#a')).toBeHidden({ timeout: 9 });",
        [{"assert_hidden": A, "timeout_ms": 9}],
    ),
    (
        'assert page.locator("#a").is_enabled()',
        "expect(await page.locator('#a').isEnabled()).toBe(true);",
        [{"assert_enabled": A}],
    ),
    (
        'expect(page.locator("#a")).not_to_be_enabled()',
        "await expect(page.locator('#a')).not.toBeEnabled();",
        [{"assert_disabled": A}],
    ),
    (
        'expect(page.locator("#a")).to_be_checked()',
        "await expect(page.locator('#a')).toBeChecked();",
        [{"assert_checked": A}],
    ),
    (
        'expect(page.locator("#a")).not_to_be_checked()',
        "await expect(page.locator('#a')).not.toBeChecked();",
        [{"assert_count": {"css": UNCHECKED, "within": A, "equals": 1}}],
    ),
    (
        'expect(page.locator("#a")).to_be_focused()',
        "await expect(page.locator('#a')).toBeFocused();",
        [{"assert_count": {"css": FOCUSED, "within": A, "equals": 1}}],
    ),
    (
        'expect(page.locator("#a")).to_be_editable()',
        "await expect(page.locator('#a')).toBeEditable();",
        [{"assert_enabled": A}, {"assert_count": {"css": WRITABLE, "within": A, "equals": 1}}],
    ),
    (
        'expect(page.locator("#a")).not_to_be_editable()',
        "await expect(page.locator('#a')).not.toBeEditable();",
        [{"assert_count": {"css": UNWRITABLE, "within": A, "equals": 1}}],
    ),
    (
        'expect(page.locator("#a")).to_have_text("4")',
        "await expect(page.locator('#a')).toHaveText('4');",
        [{"assert_text": {**A, "equals": "4"}}],
    ),
    (
        'expect(page.locator("#a")).not_to_have_text("4.")',
        "await expect(page.locator('#a')).not.toHaveText('4.');",
        [{"assert_text": {**A, "matches": r"\A(?![\s\S]*(?:\A4\.\Z))"}}],
    ),
    (
        'expect(page.locator("#a")).to_contain_text("4")',
        "await expect(page.locator('#a')).toContainText('4');",
        [{"assert_text": {**A, "contains": "4"}}],
    ),
    (
        'expect(page.locator("#a")).not_to_contain_text("4")',
        "await expect(page.locator('#a')).not.toContainText('4');",
        [{"assert_text": {**A, "not_contains": "4"}}],
    ),
    (
        'expect(page.locator("#a")).to_have_text(["x", re.compile("y", re.I)])',
        "await expect(page.locator('#a')).toHaveText(['x', /y/i]);",
        [
            {"assert_count": {**A, "equals": 2}},
            {"assert_text": {**A, "nth": 0, "equals": "x"}},
            {"assert_text": {**A, "nth": 1, "matches": "(?i)y"}},
        ],
    ),
    (
        'expect(page.locator("#a")).to_have_value("4")',
        "await expect(page.locator('#a')).toHaveValue('4');",
        [{"assert_value": {**A, "equals": "4"}}],
    ),
    (
        'expect(page.locator("#a")).to_have_count(0)',
        "await expect(page.locator('#a')).toHaveCount(0);",
        [{"assert_count": {**A, "equals": 0}}],
    ),
    (
        'assert page.locator("#a").count() > 2',
        "expect(await page.locator('#a').count()).toBeGreaterThan(2);",
        [{"assert_count": {**A, "at_least": 3}}],
    ),
    (
        'expect(page.locator("#a")).to_have_attribute("href", "/x")',
        "await expect(page.locator('#a')).toHaveAttribute('href', '/x');",
        [{"assert_attribute": {**A, "attribute": "href", "equals": "/x"}}],
    ),
    (
        'expect(page.locator("#a")).to_have_attribute("open")',
        "await expect(page.locator('#a')).toHaveAttribute('open');",
        [{"assert_count": {"css": ":scope[open]", "within": A, "equals": 1}}],
    ),
    (
        'expect(page.locator("#a")).to_contain_class("on")',
        "await expect(page.locator('#a')).toContainClass('on');",
        [{"assert_attribute": {**A, "attribute": "class", "matches": r"(?:^|\s)on(?:\s|$)"}}],
    ),
]


@pytest.mark.parametrize(("py", "ts", "raw"), SAME, ids=[py for py, _, _ in SAME])
def test_a_line_means_the_same_in_both_languages_and_comes_back_from_both(py: str, ts: str, raw: list[Any]) -> None:
    one, other = from_python(py), from_typescript(ts)

    assert (one.missing, other.missing) == ((), ())
    assert write_steps(one.steps) == write_steps(steps_of(*raw))
    assert other.steps == one.steps
    for language, read_again in ((playwright, playwright.read), (playwright_test, playwright_test.read)):
        made = language.write(one)
        assert made.lost == ()
        (again,) = read_again(made.text)
        assert again.steps == one.steps, made.text


def test_names_of_the_file_stand_for_what_it_gave_them() -> None:
    head = 'BASE = "/shop"\nUSER = {"mail": "ada@example.com", "items": ["Mug"]}\n'
    body = [
        'row = page.locator("tr", has_text=USER["items"][0])',
        "page.goto(f'{BASE}/x')",
        'row.get_by_text("a" + "b").click()',
    ]
    (one,) = playwright.read(head + python(*body))
    js = "const BASE = '/shop';\nconst user = { firstMail: 'x', items: ['Mug'] };\n"
    script = [
        "const row = page.locator('tr', { hasText: user.items[0] });",
        "await page.goto(`${BASE}/x`);",
        "await row.getByText('a' + 'b').click();",
    ]
    (other,) = playwright_test.read(js + typescript(*script))

    assert write_steps(one.steps) == [
        {"goto": "/shop/x"},
        {"click": {"text": "ab", "within": {"css": "tr", "has_text": "Mug"}}},
    ]
    assert other.steps == one.steps


def test_values_of_the_environment_are_secrets() -> None:
    one = from_python('page.fill("#p", os.environ["SHOP_PASSWORD"])', 'page.fill("#u", os.getenv("SHOP_USER", "ada"))')
    other = from_typescript(
        "await page.fill('#p', process.env.SHOP_PASSWORD!);", "await page.fill('#u', process.env.SHOP_USER || 'ada');"
    )

    assert one.variables == other.variables == {"SHOP_PASSWORD": Secret("SHOP_PASSWORD"), "SHOP_USER": "ada"}
    assert one.steps == other.steps
    assert 'os.environ["SHOP_PASSWORD"]' in playwright.write(one).text
    assert "process.env.SHOP_PASSWORD" in playwright_test.write(one).text


def test_a_value_read_from_the_page_is_a_variable() -> None:
    one = from_python(
        'total = page.locator("#a").inner_text()', 'assert total == "42"', 'page.fill("#b", f"<{total}>")'
    )

    assert write_steps(one.steps) == [
        {"extract": {**A, "into": "total", "what": "text"}},
        {"assert_variable": {"variable": "total", "equals": "42"}},
        {"fill": {"css": "#b", "value": "<${total}>"}},
    ]
    for language in (playwright, playwright_test):
        (again,) = language.read(language.write(one).text)
        assert again.steps == one.steps


def test_a_popup_is_a_tab_that_is_gone_to_and_left() -> None:
    one = from_python(
        "with page.expect_popup() as info:",
        '    page.click("#a")',
        "help = info.value",
        'help.click("#b")',
        "help.close()",
        'page.click("#c")',
    )
    waiting = ["const p = page.waitForEvent('popup');", "await page.click('#a');", "const help = await p;"]
    other = from_typescript(*waiting, "await help.click('#b');", "await help.close();", "await page.click('#c');")
    together = from_typescript(
        "const [help] = await Promise.all([page.waitForEvent('popup'), page.click('#a')]);",
        "await help.click('#b');",
        "await help.close();",
        "await page.click('#c');",
    )

    assert [step.kind for step in one.steps] == ["click", "tab", "click", "tab", "click"]
    assert one.missing == ()
    assert one.steps == other.steps == together.steps
    for language in (playwright, playwright_test):
        (again,) = language.read(language.write(one).text)
        assert again.steps == one.steps


def test_functions_of_the_same_file_are_followed() -> None:
    head = """
def sign_in(page, mail):
    page.fill("#mail", mail)
    page.click("#in")

def row(page, name):
    return page.locator("tr").filter(has_text=name)

"""
    (one,) = playwright.read(
        head + python('sign_in(page, mail="ada")', 'row(page, "Mug").click()', 'row(page, "Cup").click()')
    )
    script = """
async function signIn(page: Page, mail: string) {
  await page.fill('#mail', mail);
  await page.click('#in');
}
const row = (page: Page, name: string) => page.locator('tr').filter({ hasText: name });
"""
    (other,) = playwright_test.read(
        script
        + typescript("await signIn(page, 'ada');", "await row(page, 'Mug').click();", "await row(page, 'Cup').click();")
    )

    assert write_steps(one.steps) == [
        {"fill": {"css": "#mail", "value": "ada"}},
        {"click": {"css": "#in"}},
        {"click": {"css": "tr", "has_text": "Mug"}},
        {"click": {"css": "tr", "has_text": "Cup"}},
    ]
    assert other.steps == one.steps
    assert (one.missing, other.missing) == ((), ())


def test_a_function_that_is_more_than_its_lines_is_not_followed() -> None:
    head = "def again(page):\n    again(page)\n\ndef many(page, *names):\n    page.reload()\n\n"
    (test,) = playwright.read(head + python("again(page)", 'many(page, "a")'))

    assert [one.what for one in test.missing] == [
        "the function 'again' is not followed",
        "the function 'many' is not called with just the values it names",
    ]


def test_answers_to_dialogs_as_codegen_writes_them() -> None:
    test = from_typescript(
        "page.once('dialog', dialog => {",
        "  console.log(`Dialog message: ${dialog.message()}`);",
        "  dialog.dismiss().catch(() => {});",
        "});",
    )

    assert write_steps(test.steps) == [{"dialog": "dismiss"}]
    assert test.missing == ()


PYTHON_GAPS = [
    ('page.evaluate("1")', "page.evaluate is not known"),
    ("for x in range(3):\n        page.reload()", "for x in range(3):"),
    ("login(page)", "the function 'login' is not followed"),
    ('page.click("${x}")', "would be read as a variable"),
    ('page.get_by_text("a").or_(page.get_by_text("b")).click()', "'or_' of a locator is not known"),
    ('page.route("**", handle)', "page.route is not known"),
    ('page.click("#a", trial=True)', "the option trial"),
    ('expect(page.locator("#a")).to_have_css("color", "red")', "the check to_have_css"),
    ('expect(page.locator("#a")).to_be_in_viewport()', "the check to_be_in_viewport"),
    ("page.fill('#a', token)", "'token' is not known here"),
    ('page.locator("a >").click()', "the CSS selector 'a >' cannot be read"),
    ("with page.expect_download() as d:\n        page.reload()", "that a download comes is not checked"),
    ('page.on("request", print)', "listening to request"),
    ("assert 1 == 1", "a comparison of values that no page has"),
    ('expect(page).to_have_url(re.compile("https://x"))', "an address by a pattern with its host"),
    ("page.mouse.move(1, 2)", "mouse.move is not known"),
    ("x = open('secret').read()", "the function 'open' is not followed"),
    ("__import__('os').system('true')", "the function '__import__' is not followed"),
]


@pytest.mark.parametrize(("line", "said"), PYTHON_GAPS, ids=[line for line, _ in PYTHON_GAPS])
def test_what_python_says_and_no_step_can_is_named_with_its_line(line: str, said: str) -> None:
    test = from_python("page.go_back()", line)

    assert said in test.missing[0].what
    assert test.missing[0].line == 6
    assert test.understood < test.parts


def test_what_typescript_says_and_no_step_can_is_named_with_its_line() -> None:
    test = from_typescript(
        "await page.goBack();",
        "await page.evaluate(() => 1);",
        "for (const x of [1]) { await page.reload(); }",
        "await new LoginPage(page).open();",
        "if (ok) { await page.reload(); }",
    )

    assert [(one.line, one.what) for one in test.missing] == [
        (5, "page.evaluate is not known"),
        (6, "for (const x of [1]) { await page.reload(); }"),
        (6, "await page.reload(); (inside that block)"),
        (7, "new LoginPage(page)"),
        (8, "if (ok) { await page.reload(); }"),
        (8, "await page.reload(); (inside that block)"),
    ]
    assert (test.understood, test.parts) == (1, 7)


# --- a check says what the file says, or a line says that it does not ---

# A line of Python, what is seen where the check has to hold, what is seen where it has to fail.
HOLDS: list[tuple[str, str, str]] = [
    ('expect(page.locator("#a")).not_to_have_text("Out  of stock")', "In stock", "Out of stock"),
    ('expect(page.locator("#a")).not_to_have_text("Out of stock", ignore_case=True)', "In stock", "OUT of stock"),
    ('expect(page.locator("#a")).to_have_text("a  b", ignore_case=True)', "A b", "A c"),
    ('expect(page.locator("#a")).to_have_text(re.compile("(?:a|b)"), ignore_case=True)', "B", "c"),
    ('expect(page.locator("#a")).to_have_text(re.compile("a", re.I), ignore_case=False)', "a", "A"),
    ('expect(page.locator("#a")).not_to_have_text(re.compile("a", re.I), ignore_case=False)', "A", "a"),
    ('assert page.locator("#a").inner_text() != "x  y"', "x", "x y"),
    ('assert "a" in page.locator("#a").inner_text()', "cab", "cb"),
    ('assert "a" not in page.title()', "b", "cab"),
    ('expect(page).to_have_url("/A", ignore_case=True)', "/a", "/b"),
    ('expect(page).not_to_have_url("/A", ignore_case=True)', "/b", "/a"),
    ('expect(page).not_to_have_url("login")', "/home", "/login"),
    ('expect(page).not_to_have_url("http://shop.test/login")', "/home", "/login"),
    ('expect(page).not_to_have_url(re.compile("login"))', "/home", "/login?x=1"),
    ('assert "/login" not in page.url', "/home", "/login?x=1"),
    ('page.wait_for_url("**/orders/*")', "/orders/7", "/orders/7/edit"),
    ('page.wait_for_url("/orders/{new,old}/**")', "/orders/old/7/edit", "/orders/other/7"),
    ('page.wait_for_url("/a/**/b")', "/a/b", "/a/bb"),
    ('page.wait_for_url("**/x.html")', "/y/x.html", "/y/x_html"),
]


@pytest.mark.parametrize(("line", "good", "bad"), HOLDS, ids=[line for line, _, _ in HOLDS])
def test_a_check_holds_and_fails_where_it_does_in_playwright(line: str, good: str, bad: str) -> None:
    test = from_python(line)

    assert test.missing == ()
    (step,) = test.steps
    condition = step.parameters.get("url", step.parameters)
    folded = step.kind not in ("assert_url", "wait", "assert_value", "assert_attribute")
    assert meets(condition, good, folded=folded)
    assert not meets(condition, bad, folded=folded)


def test_a_pattern_that_an_attribute_has_also_asks_whether_it_is_there() -> None:
    test = from_python('expect(page.locator("#a")).to_have_attribute("href", re.compile(".*"))')

    here = {"css": ":scope[href]", "within": A}
    assert write_steps(test.steps) == [
        {"assert_count": {**here, "equals": 1}},
        {"assert_attribute": {**A, "attribute": "href", "matches": ".*"}},
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['expect(page).not_to_have_url(re.compile(r"shop\\.test/login"))'], "a pattern with its host"),
        (['assert "shop.test/login" not in page.url'], "a part with its host"),
        (['assert page.locator("#a").inner_text() in "abc"'], "a comparison of values"),
        (["o = {'ignore_case': True}", 'expect(page.locator("#a")).to_have_text("a", o)'], "beside its expectation"),
        (['expect(page.locator("#a")).not_to_have_text(re.compile("^a$", re.M))'], "several lines"),
        (['expect(page.locator("#a")).to_have_text(re.compile(r"a\\Z"))'], "otherwise than a browser"),
        (["shown = page.locator('#a').is_visible()", "page.click('#b')", "assert shown"], "before something else"),
        (["where = page.url", "page.click('#b')", "assert where == '/'"], "before something else"),
        (["n = 1", "n += 1", "expect(page.locator('#a')).to_have_count(n)"], "'n' is not known"),
        (["n = 1", "if page.url:", "    n = 2", "expect(page.locator('#a')).to_have_count(n)"], "'n' is not known"),
        (["x = ['a']", "x.append('b')", "page.fill('#a', x[0])"], "'x' is not known"),
        (["a, *b, c = ['1', '2', '3', '4']", "page.fill('#a', c)"], "'c' is not known"),
        (["other = page.context.new_page()", "other.click('#a')"], "a second page"),
        (["row = '#a'", "page.locator('li').filter(has=row).click()"], "the filter has"),
        (["row = page.locator('#a')", "page.locator('li').filter(has_text=row).click()"], "the filter has_text"),
        (["page.frame(url='http://x.test/').click('#a')"], "a frame by its address"),
        (["page.set_viewport_size({'width': 375, 'height': 800})"], "a phone's window"),
        (["page.drag_and_drop('#a')"], "from where to where"),
        (["with page.expect_navigation(url='**/a'):", "    page.click('#a')"], "where the navigation leads"),
    ],
    ids=str,
)
def test_what_would_mean_something_else_is_missing(lines: list[str], said: str) -> None:
    test = from_python(*lines)

    assert said in " ".join(one.what for one in test.missing), test.missing


def test_what_is_done_while_a_response_is_waited_for_is_done() -> None:
    test = from_python("with page.expect_response('**/api') as told:", "    page.click('#a')", "page.click('#b')")

    assert write_steps(test.steps) == [{"click": A}, {"click": {"css": "#b"}}]
    (missing,) = test.missing
    assert "expect_response" in missing.what


def test_a_block_that_is_not_known_is_named_line_by_line() -> None:
    test = from_python("with open_menu(page):", "    page.click('#a')", "    page.click('#b')")

    assert [one.line for one in test.missing] == [6, 7, 5]


def test_a_value_that_two_calls_of_a_function_read_is_kept_twice() -> None:
    text = (
        "def text_of(page, css):\n    text = page.locator(css).inner_text()\n    return text\n\n"
        "def test_it(page):\n    one = text_of(page, '#a')\n    two = text_of(page, '#b')\n    assert one == 'x'\n"
    )

    (test,) = playwright.read(text)

    assert write_steps(test.steps) == [
        {"extract": {**A, "into": "text", "what": "text"}},
        {"extract": {"css": "#b", "into": "text_2", "what": "text"}},
        {"assert_variable": {"variable": "text", "equals": "x"}},
    ]


def test_closing_a_popup_goes_back_to_the_page_that_opened_it() -> None:
    test = from_python(
        "with page.expect_popup() as one_info:", "    page.click('#a')", "one = one_info.value",
        "with one.expect_popup() as two_info:", "    one.click('#b')", "two = two_info.value",
        "two.close()", "one.click('#c')", "page.click('#d')",
    )  # fmt: skip

    assert write_steps(test.steps)[-3:] == [
        {"tab": {"switch": "newest"}},
        {"tab": {"close": True}},
        {"click": {"css": "#c"}},
    ]
    (missing,) = test.missing
    assert "goes back to an earlier page" in missing.what


def test_constants_of_a_block_are_those_of_its_tests() -> None:
    text = (
        "import { test } from '@playwright/test';\nconst user = 'nobody';\n"
        "test.describe('a', () => {\n  const user = 'ada';\n"
        "  test('x', async ({ page }) => page.fill('#a', user));\n});\n"
        "test.describe('b', () => {\n  const user = 'ben';\n"
        "  test('y', async ({ page }) => page.fill('#a', user));\n});\n"
        "test('z', async ({ page }) => page.fill('#a', user));\n"
    )

    tests = playwright_test.read(text)

    assert {one.name: one.steps[0].parameters["value"] for one in tests} == {
        "a › x": "ada",
        "b › y": "ben",
        "z": "nobody",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("for (const x of ['a']) { it('x', async ({ page }) => {}); }", "tests in a block"),
        ("let n = 1;\nn++;\ntest('x', async ({ page }) => { await page.fill('#a', `${n}`); });", "n++"),
        ("test('x', async ({ page }) => { const [, b] = ['a', 'b']; await page.fill('#a', b); });", ""),
        ("test.use({ viewport: { width: 375, height: 800 } });\ntest('x', async ({ page }) => {});", "width: 375"),
        ("test.use({ javaScriptEnabled: false });\ntest('x', async ({ page }) => {});", "javaScriptEnabled"),
        ("test.fail();\ntest('x', async ({ page }) => {});", "have to fail"),
        ("const t = test.extend({ page: async ({ page }, use) => { await use(page); } });\n"
         "t('x', async ({ page }) => {});", "the fixture page of this file"),
        ("test('x', async ({ page }) => { let n = 1; n += 1; await page.fill('#a', `${n}`); });", "n += 1"),
        ("test('x', async ({ page }) => { await expect(page.locator('#a')).toHaveText(/a[^]b/); });", "otherwise"),
        ("test('x', async ({ page }) => { await expect(page.locator('#a')).toHaveText(/a/y); });", "the flags y"),
    ],
)  # fmt: skip
def test_what_a_typescript_file_says_and_no_step_can_is_missing(text: str, said: str) -> None:
    (test,) = playwright_test.read(f"import {{ test, expect }} from '@playwright/test';\n{text}")

    if said:
        assert said in " ".join(one.what for one in test.missing)
    else:
        assert (test.missing, test.steps[0].parameters["value"]) == ((), "b")


def test_other_names_for_the_blocks_of_a_file() -> None:
    text = (
        "const { test: check, describe, beforeEach } = require('@playwright/test');\n"
        "describe('shop', () => {\n  beforeEach(async ({ page }) => { await page.goto('/'); });\n"
        "  check('x', async ({ page }) => { await page.click('#a'); });\n});\n"
    )

    (test,) = playwright_test.read(text)

    assert test.name == "shop › x"
    assert write_steps(test.steps) == [{"goto": "/"}, {"click": A}]


def test_a_test_that_another_file_made_has_a_line() -> None:
    text = "import {{ test }} from '{}';\ntest('x', async ({{ page }}) => {{ await page.goto('/'); }});\n"

    (own,) = playwright_test.read(text.format("./fixtures"))
    (plain,) = playwright_test.read(text.format("@playwright/test"))

    assert ["comes from ./fixtures" in one.what for one in own.remarks] == [True]
    assert plain.remarks == ()


def test_a_condition_for_all_tests_makes_drafts_of_them_and_no_test_of_its_own() -> None:
    text = (
        "import { test } from '@playwright/test';\ntest.skip(({ browserName }) => browserName !== 'webkit');\n"
        "test('x', async ({ page }) => { await page.click('#a'); });\n"
    )

    (test,) = playwright_test.read(text)

    assert (test.name, test.status) == ("x", "draft")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("@pytest.fixture\ndef browser_context_args(browser_context_args):\n    return {}\n", "browser_context_args"),
        ("@pytest.fixture\ndef context(browser):\n    return browser.new_context()\n", "the fixture context"),
        ("def setup_function():\n    pass\n", "setup_function: what it does"),
        ("pytestmark = pytest.mark.usefixtures('signed_in')\n", "the fixture 'signed_in'"),
        ("class TestA(Base):\n    def test_it(self, page):\n        page.click('#a')\n", "Base, which TestA"),
        ("@pytest.mark.parametrize('user', ['a'], indirect=True)\ndef test_b(page, user):\n    page.fill('#a', user)\n",
         "parametrize"),
    ],
)  # fmt: skip
def test_what_pytest_does_before_a_test_is_missing(head: str, said: str) -> None:
    text = f"import pytest\n{head}\ndef test_it(page):\n    page.click('#a')\n"

    told = [one.what for test in playwright.read(text) for one in test.missing]

    assert said in " ".join(told)


def test_what_a_fixture_does_after_its_yield_is_not_done_before_the_test() -> None:
    text = (
        "import pytest\nfrom playwright.sync_api import sync_playwright\n\n@pytest.fixture\ndef page():\n"
        "    with sync_playwright() as p:\n        page = p.chromium.launch().new_page()\n        page.goto('/')\n"
        "        yield page\n        page.click('#logout')\n\ndef test_it(page):\n    page.click('#a')\n"
    )

    (test,) = playwright.read(text)

    assert (test.missing, write_steps(test.steps)) == ((), [{"goto": "/"}, {"click": A}])


def test_every_function_that_opens_a_browser_is_a_test() -> None:
    one = (
        "def {}():\n    with sync_playwright() as p:\n        page = p.chromium.launch().new_page()\n"
        "        page.goto('/{}')\n"
    )

    tests = playwright.read(one.format("sign_in", "a") + one.format("buy", "b"), name="flows")

    assert [(test.name, test.steps[0].parameters["url"]) for test in tests] == [
        ("flows › sign_in", "/a"),
        ("flows › buy", "/b"),
    ]


def test_only_the_address_of_the_app_is_taken_for_its_base_url() -> None:
    test = from_python("page.goto(os.environ['BASE_URL'] + '/a')", "page.goto(os.environ['ADMIN_API_URL'] + '/b')")

    assert [step.parameters["url"] for step in test.steps] == ["/a", "${ADMIN_API_URL}/b"]
    assert test.variables == {"ADMIN_API_URL": Secret("ADMIN_API_URL")}


def test_fixtures_classes_marks_and_parameters_of_pytest() -> None:
    text = """
import pytest

@pytest.fixture
def shop(page):
    page.goto("/shop")
    yield page
    page.close()

@pytest.fixture(autouse=True)
def before(page):
    page.goto("/")

class TestShop:
    @pytest.mark.smoke
    @pytest.mark.parametrize("size,count", [("s", 1), ("m", 2)])
    def test_sizes(self, shop, size, count):
        shop.click(f"#{size}")

    @pytest.mark.skip
    def test_later(self, page, admin):
        page.reload()
"""
    first, second, later = playwright.read(text)

    assert (first.name, first.tags) == ("TestShop › test_sizes[s-1]", ("smoke",))
    assert write_steps(second.steps) == [{"goto": "/"}, {"goto": "/shop"}, {"click": {"css": "#m"}}]
    assert later.status == "draft"
    assert "the fixture 'admin' is not known" in later.missing[0].what


def test_hooks_and_blocks_of_playwright_test() -> None:
    text = """
import { test, expect } from '@playwright/test';
test.describe('Shop', () => {
  test.use({ storageState: 'me.json' });
  test.beforeEach(async ({ page }) => { await page.goto('/'); });
  test.describe('inner', () => {
    test.afterEach(async ({ page }) => { await page.close(); });
    test('one', { tag: ['@smoke'] }, async ({ page }) => {
      await test.step('look', async () => { await page.reload(); });
    });
  });
});
test.skip('two', async ({ page }) => { await page.reload(); });
"""
    one, two = playwright_test.read(text)

    assert (one.name, one.tags) == ("Shop › inner › one", ("smoke",))
    assert write_steps(one.steps) == [{"goto": "/"}, {"group": {"goal": "look", "steps": [{"reload": None}]}}]
    assert "storageState" in one.missing[0].what
    assert "test.afterEach is left out" in next(r.what for r in one.remarks if not r.is_missing)
    assert (two.name, two.status) == ("two", "draft")


def test_what_codegen_records() -> None:
    text = """
import re
from playwright.sync_api import Playwright, sync_playwright, expect


def run(playwright: Playwright) -> None:
    browser = playwright.chromium.launch(headless=False)
    context = browser.new_context()
    page = context.new_page()
    page.goto("http://shop.test/")
    page.get_by_role("link", name="Mugs").click()
    page.close()

    # ---------------------
    context.close()
    browser.close()


with sync_playwright() as playwright:
    run(playwright)
"""
    script = """
const { chromium } = require('playwright');
(async () => {
  const browser = await chromium.launch();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto('http://shop.test/');
  await page.getByRole('link', { name: 'Mugs' }).click();
  await context.close();
  await browser.close();
})();
"""
    (one,) = playwright.read(text, name="mugs", base_url=SHOP)
    (other,) = playwright_test.read(script, name="mugs", base_url=SHOP)

    assert one.name == other.name == "mugs"
    assert write_steps(one.steps) == [{"goto": "/"}, {"click": {"role": "link", "name": "Mugs"}}]
    assert other.steps == one.steps
    assert (one.missing, other.missing) == ((), ())


@pytest.mark.parametrize("language", [playwright, playwright_test], ids=["python", "typescript"])
@pytest.mark.parametrize(("kind", "raw"), ALL, ids=IDS)
def test_what_a_script_cannot_say_is_marked_and_comes_back(language: Any, kind: str, raw: Any) -> None:
    steps = steps_of(raw)
    test = WrittenTest("one", steps, variables={name: Secret(name) for name in names_used(steps)})

    made = language.write(test)
    (again,) = language.read(made.text)

    assert [one for one in again.missing if "nothing gives it a value" not in one.what] == []
    if kind not in ("intent", "group"):
        shown = re.sub(r"42\b|'7'", "'42'", str(again.steps)), re.sub(r"(?<!')42\b(?!')|'7'", "'42'", str(steps))
        assert kind in ("set", "extract") or made.lost == () or again.steps == steps, shown


def test_notes_travel_as_marks() -> None:
    test = WrittenTest(
        "one", steps_of({"click": A, "note": "why", "id": "pay", "never_repair": True, "optional": True})
    )

    for language in (playwright, playwright_test):
        (again,) = language.read(language.write(test).text)
        assert again.steps == test.steps


def test_blocks_come_back_from_both_languages() -> None:
    test = WrittenTest("one", steps_of({"group": {"goal": "pay", "steps": [{"click": A}, {"wait": 5}]}}))

    for language in (playwright, playwright_test):
        (again,) = language.read(language.write(test).text)
        assert again.steps == test.steps


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        (playwright, "def f(:\n", "a:1: not Python"),
        (playwright, "x = 1\n", "a: holds no test"),
        (playwright, "(" * 5000, "a:1: not Python"),
        (playwright, "x = " + "-" * 50_000 + "1", "too deep"),
        (playwright, "x = " + "a." * 20_000 + "b", "a: "),
        (playwright, "#" * 400_001, "larger than 400 kB"),
        (playwright, "x\x00", "null bytes"),
        (playwright, "a;" * 20_001, "more than 20000 statements"),
        (playwright_test, "a;" * 90_000, "more than 200000 words and signs"),
        (playwright_test, "test('a', async ({ page }) => {", "not TypeScript or JavaScript"),
        (playwright_test, "const x = 1;", "a: holds no test"),
        (playwright_test, "(" * 100_000, "not TypeScript or JavaScript"),
        (playwright_test, "x = " + "a." * 20_000 + "b", "a: holds no test"),
        (playwright_test, "//" + " " * 400_001 + "x", "larger than 400 kB"),
    ],
    ids=range(14),
)
def test_a_file_that_is_no_script_is_refused_with_one_line(language: Any, text: str, said: str) -> None:
    with pytest.raises(BadTest) as caught:
        language.read(text, where="a")

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_deep_nesting_inside_a_test_ends_in_a_line() -> None:
    chain = "page" + ".locator('a')" * 300 + ".click()"
    blocks = "await test.step('a', async () => {" * 150 + "await page.reload();" + "});" * 150

    assert from_python(chain).missing
    assert from_typescript(f"await {chain};").missing
    assert answer(playwright_test.read, typescript(blocks)) == ()


def test_fixtures_that_all_tests_share_are_not_played_without_end() -> None:
    fixture = "@pytest.fixture(autouse=True)\ndef f{0}(page):\n    page.click('#a')\n"
    text = "".join(fixture.format(n) for n in range(500)) + "def test_it(page):\n    pass\n" * 500

    with pytest.raises(BadTest, match=r"^a\.py: more than 40000 lines"):
        playwright.read(text, where="a.py")


def test_what_doubles_with_every_line_ends_in_a_line() -> None:
    texts = from_python('t = "aaaaaaaaaa"', *('t = f"{t}{t}"' for _ in range(40)))
    locators = from_python("a = page.locator('x')", *("a = a.filter(has=a)" for _ in range(40)), "a.click()")
    calls = "def f0(page):\n    pass\n" + "".join(
        f"def f{number}(page):\n" + f"    f{number - 1}(page)\n" * 10 for number in range(1, 9)
    )

    assert "more than 100000 characters" in texts.missing[0].what
    assert "a locator of more than" in locators.missing[0].what
    with pytest.raises(BadTest, match="more than 20000 lines"):
        playwright.read(calls + python("f7(page)"))


words = st.sampled_from(
    "page locator get_by_text getByRole filter nth first last and_ or_ frame_locator content_frame click fill press "
    "expect to_have_text not_to_be_visible toBeVisible not to_have_count hasText has name exact select_option goto "
    "keyboard url wait_for_url dialog once on close test step describe".split()
)
atoms = st.sampled_from(
    [
        "'a'",
        '"//x"',
        "'text=a'",
        "'a >> b'",
        "1",
        "-1",
        "True",
        "true",
        "None",
        "/a/i",
        "page",
        "x",
        "[1, 'a']",
        "{}",
        "''",
        "'${a}'",
        "'role=b[name=\"x\"]'",
        "'a >> control=enter-frame >> b'",
    ]
)
chains = st.recursive(
    atoms,
    lambda inner: st.builds(
        lambda of, name, given, named: f"{of}.{name}({', '.join([*given, *named])})",
        inner | st.just("page") | st.builds("expect({})".format, inner),
        words,
        st.lists(inner, max_size=2),
        st.lists(st.builds("{}={}".format, words, inner), max_size=1),
    ),
    max_leaves=5,
)


@settings(max_examples=300)
@given(st.lists(chains, min_size=1, max_size=4))
def test_whatever_is_called_on_whatever_the_readers_answer(lines: list[str]) -> None:
    for language, text in ((playwright, python(*lines)), (playwright_test, typescript(*lines))):
        for test in answer(language.read, text):
            made = language.write(test)
            (again,) = language.read(made.text)
            assert again.steps == test.steps, made.text


@settings(max_examples=200)
@given(st.text(max_size=120) | st.text(alphabet="()[]{}'\"`$.,;=>/\\ \naetspx01", max_size=120))
def test_whatever_the_text_the_readers_answer(text: str) -> None:
    answer(playwright.read, text)
    answer(playwright.read, python(text))
    answer(playwright_test.read, text)
    answer(playwright_test.read, typescript(text))
