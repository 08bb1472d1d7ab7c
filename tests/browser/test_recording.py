"""radar/codegen.py with the real codegen, in a window that nobody sees."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser

from radar import codegen
from repair_ladder.formats import choosing
from repair_ladder.steps import Step
from tests.browser.conftest import Asked, Site

pytestmark = pytest.mark.browser

# Closes the window as soon as something was written down.
WRAP = """
import subprocess, sys, time
from pathlib import Path
output = Path(sys.argv[sys.argv.index("--output") + 1])
codegen = subprocess.Popen([sys.executable, "-m", "playwright", "codegen", *sys.argv[1:]], stdin=subprocess.PIPE)
while codegen.poll() is None and not (output.exists() and "goto" in output.read_text()):
    time.sleep(0.05)
codegen.stdin.write(b"exit")
codegen.stdin.close()
sys.exit(codegen.wait())
"""


async def test_the_installed_codegen_opens_the_app_signed_in_and_writes_what_is_read(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    asked: list[Asked] = []
    site.pages["/"] = lambda one: asked.append(one) or "<!doctype html><title>Shop</title><h1>Shop</h1>"  # type: ignore[func-returns-value]
    cookie = {
        "name": "sid", "value": "ada", "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": True,
        "secure": False, "sameSite": "Lax",
    }  # fmt: skip

    text = await codegen.record(
        site.url + "/",
        environ=os.environ | {codegen.HEADLESS: "1", "PWTEST_CLI_IS_UNDER_TEST": "1"},
        state={"cookies": [cookie], "origins": []},
        locale="de-DE",
        command=[sys.executable, "-c", WRAP],
    )

    (test,) = choosing.read("playwright", text, where="it", name="recorded", base_url=site.url)
    assert asked[0].cookie == "sid=ada"
    assert test.steps == (Step("goto", None, {"url": "/"}),)
    assert test.missing == ()
