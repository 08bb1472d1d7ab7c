"""Playwright's locators for ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from playwright.async_api import Locator as BrowserLocator
from playwright.async_api import Page

from radar.locators import Locator, pattern
from repair_ladder.runner.failures import Failed


class Locating:
    """Finds things in the tab that the test is in, which `tab` gives."""

    def __init__(self, tab: Callable[[], Page], test_id_attribute: str) -> None:
        self.tab, self.test_id_attribute = tab, test_id_attribute

    def locate(self, locator: Locator, inside: Any = None) -> BrowserLocator:
        """The Playwright locator for the main way of a locator."""
        scope = self.scope(locator, inside)
        if locator.within:
            scope = self.locate(replace(locator.within, alternatives=()), scope)
        found: BrowserLocator | None = None
        for key, value in locator.finders():
            one = self.find_by(scope, key, value, locator)
            found = found.and_(one) if found else one
        assert found is not None, "locators.read lets no locator pass without a finder"
        found = self.kept(found, locator)
        return found.nth(locator.nth) if locator.nth is not None else found

    def kept(self, found: BrowserLocator, locator: Locator) -> BrowserLocator:
        """What is left of the matches after has_text and its kin."""
        options: dict[str, Any] = {}
        for key in ("has_text", "has_not_text"):
            text = getattr(locator, key)
            if text is not None:
                options[key] = pattern(text) if locator.regex else text
        for key in ("has", "has_not"):
            inner = getattr(locator, key)
            if inner is not None:
                options[key] = self.locate(replace(inner, alternatives=()))
        if locator.visible is not None:
            options["visible"] = locator.visible
        return found.filter(**options) if options else found

    def scope(self, locator: Locator, inside: Any = None) -> Any:
        scope: Any = inside or self.tab()
        for frame in locator.frame:
            scope = self.locate(replace(frame, alternatives=()), scope).content_frame
        return scope

    def find_by(self, scope: Any, key: str, value: str, locator: Locator) -> BrowserLocator:
        found: BrowserLocator
        match key:
            case _ if locator.regex and key not in ("css", "xpath"):
                found = self.find_by_pattern(scope, key, value, locator)
            case "css" | "xpath":
                found = scope.locator(f"{key}={value}")
            case "role" if locator.name is not None:
                found = scope.get_by_role(value, name=locator.name, exact=locator.exact)
            case "role":
                found = scope.get_by_role(value)
            case "test_id" if self.test_id_attribute == "data-testid":
                found = scope.get_by_test_id(value)
            case "test_id":
                found = scope.locator(f"css=[{self.test_id_attribute}={json.dumps(value, ensure_ascii=False)}]")
            case "alt":
                found = scope.get_by_alt_text(value, exact=locator.exact)
            case _:
                found = getattr(scope, f"get_by_{key}")(value, exact=locator.exact)
        return found

    def find_by_pattern(self, scope: Any, key: str, value: str, locator: Locator) -> BrowserLocator:
        found: BrowserLocator
        if key == "role":
            found = scope.get_by_role(value, name=pattern(locator.name) if locator.name is not None else None)
        elif key == "test_id" and self.test_id_attribute != "data-testid":
            raise Failed("test", f"'test_id' with a pattern needs the test id attribute data-testid: {locator}")
        else:
            found = getattr(scope, "get_by_alt_text" if key == "alt" else f"get_by_{key}")(pattern(value))
        return found
