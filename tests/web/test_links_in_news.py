"""The links that news carries lead to pages that are there."""

from __future__ import annotations

from gardener.notices import NEWS, PAGES
from web.app import HANDLERS


def test_every_page_that_news_leads_to_is_there() -> None:
    there = {path for handler in HANDLERS for path in getattr(handler, "paths", ())}

    assert {path.format("{number:int}") for path in (*PAGES.values(), NEWS)} <= there
