"""Which Chromium to start, and with which switches. `python -m radar.chromium` prints the path or fails."""

import shutil
import sys
from pathlib import Path

# In containers and as root Chromium needs --no-sandbox; the rest keeps it quiet in closed networks.
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find(named: str | None = None) -> str | None:
    """Path of the Chromium to use: the named one, the system's, or None for Playwright's own download."""
    if named:
        return named
    return next((path for path in map(shutil.which, NAMES) if path), None)


def installed() -> str | None:
    """Path of a Chromium that is there, Playwright's own included; None if there is none."""
    path = find()
    if path:
        return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


if __name__ == "__main__":
    print(installed() or sys.exit("no Chromium found"))
