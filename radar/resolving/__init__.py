"""Which elements of a snapshot a locator hits: Playwright's own reading, without a browser.

A sweep asks this for every locator of every test on every page, old and new, so nothing here may need a round trip.
Where a snapshot does not hold the answer (a style, the inside of an svg, a page of another origin) `resolve` says so
and never guesses: a wrong "still there" hides a broken test, a wrong "gone" starts a repair nobody needs.

`finder` answers a locator's keys, `selector_syntax`, `css_reading` and `xpath` read what is written in it, and
`css_answering` and `xpath` answer that against a `prepared_page`: its `page_tree`, and the texts and places read of it.
"""

from __future__ import annotations

from radar.elements import PageSnapshot
from radar.errors import BadLocator, Unresolvable
from radar.locators import Locator
from radar.resolving.css_reading import read_css
from radar.resolving.finder import Finder
from radar.resolving.page_tree import Scope
from radar.resolving.prepared_page import prepared
from radar.resolving.selector_syntax import read_role, selector_parts
from radar.resolving.xpath import compile_xpath

__all__ = ["check_selector", "resolve", "selector_parts"]


def resolve(locator: Locator, page: PageSnapshot, *, test_id_attribute: str = "data-testid") -> tuple[int, ...]:
    """The indexes of all elements the locator hits, in document order. Its `alternatives` are not followed.

    A frame in `frame` that is not there, or is there several times, hits nothing: the live step could not enter it
    either. Raises Unresolvable where the snapshot cannot answer.
    """
    if not page.elements:
        return ()
    try:
        found = Finder(prepared(page), test_id_attribute).find(locator, [Scope(0, True)])
    except BadLocator as error:
        raise Unresolvable(str(error)) from error
    return tuple(sorted(found))


def check_selector(locator: Locator) -> None:
    """Raises BadLocator if its css or xpath, or one inside it, can be read by no browser.

    What only a snapshot's reader does not know (Unresolvable) passes: a live page may.
    """
    for source, prefix in ((locator.css, ""), (locator.xpath, "xpath=")):
        if source is not None:
            try:
                for engine, body in selector_parts(prefix + source):
                    _check_part(engine, body)
            except Unresolvable:
                pass
    for one in locator.inner():
        check_selector(one)


def _check_part(engine: str, body: str) -> None:
    if engine == "css":
        read_css(body)
    elif engine == "xpath":
        compile_xpath(body)
    elif engine == "role":
        read_role(body)
