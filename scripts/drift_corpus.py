"""A corpus of labelled drift between releases: its pairs, its pages as our radar sees them, how answers are scored.

Shared by bench_drift, bench_matching and fit_matching. The format is that of the corpus' README: pairs/APP.jsonl.gz and
snapshots/APP/VERSION/STATE.html.gz. Pages are rendered once and kept, packed, under the cache directory.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from radar import chromium
from radar.elements import Box, Element, PageSnapshot, fold
from radar.reading import pack, read_page, unpack
from radar.things import view

TOP: Final = Path(__file__).resolve().parent.parent
COLLECT: Final = TOP / "radar" / "collect.js"
VIEWPORT: Final = (1280, 900)
ADDRESS: Final = "http://127.0.0.1:8000/"
# The primary locator of a pair is the first recorded style of these.
STYLES: Final = (
    "test_id role_name label placeholder id css_attr text title_alt css_href css_class css_path xpath_rel xpath_abs"
).split()


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled element of an old page, and where it is on the new one (an xpath, or None where it is removed)."""

    id: str
    app: str
    old_version: str
    new_version: str
    state: str
    label: str  # match, removed, ambiguous
    old_page: str
    new_page: str
    old_xpath: str
    new_xpath: str | None
    outcomes: tuple[tuple[str, str, str], ...]  # (style, selector, what it gives on the new page)
    old: Mapping[str, Any]
    new: Mapping[str, Any] | None

    @property
    def primary(self) -> tuple[str, str, str] | None:
        by_style = {one[0]: one for one in reversed(self.outcomes)}
        return next((by_style[style] for style in STYLES if style in by_style), None)

    @property
    def is_broken(self) -> bool:
        primary = self.primary
        return primary is not None and primary[2] not in ("same", "nested")

    @property
    def is_hard(self) -> bool:
        return bool(self.outcomes) and all(outcome not in ("same", "nested") for _, _, outcome in self.outcomes)


def default_cache() -> Path:
    return Path(os.environ.get("GARDENER_BENCH_CACHE", TOP / ".bench-cache"))


def read_pairs(corpus: Path, apps: Iterable[str] = ()) -> list[Pair]:
    wanted = set(apps)
    pairs = []
    for path in sorted((corpus / "pairs").glob("*.jsonl.gz")):
        if wanted and path.name.removesuffix(".jsonl.gz") not in wanted:
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            pairs += [_pair(json.loads(line)) for line in lines]
    return pairs


def _pair(raw: dict[str, Any]) -> Pair:
    return Pair(
        id=raw["id"],
        app=raw["app"],
        old_version=raw["from_version"],
        new_version=raw["to_version"],
        state=raw["state"],
        label=raw["label"],
        old_page=raw["old_snapshot"],
        new_page=raw["new_snapshot"],
        old_xpath=raw["old"]["xpath"],
        new_xpath=raw["new"]["xpath"] if raw["label"] == "match" else None,
        outcomes=tuple((one["style"], one["selector"], one["outcome"]) for one in raw["locators"]),
        old=raw["old"],
        new=raw.get("new"),
    )


class Pages:
    """The corpus' pages, each rendered at most once; the browser starts for what is not in the cache."""

    def __init__(self, corpus: Path, cache: Path) -> None:
        self.corpus = corpus
        self.cache = cache
        self.collect = COLLECT.read_text(encoding="utf-8")
        self._seen: dict[str, PageSnapshot] = {}

    def _stored(self, name: str) -> Path:
        key = hashlib.sha256(self.collect.encode() + (self.corpus / name).read_bytes()).hexdigest()
        return self.cache / f"{key[:32]}.page.gz"

    def fill(self, names: Iterable[str]) -> None:
        """Render what is missing."""
        missing = [name for name in dict.fromkeys(names) if not self._stored(name).exists()]
        if not missing:
            return
        from playwright.sync_api import Route, sync_playwright

        self.cache.mkdir(parents=True, exist_ok=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.SWITCHES))
            context = browser.new_context(
                viewport={"width": VIEWPORT[0], "height": VIEWPORT[1]},
                locale="en-US",
                timezone_id="UTC",
                reduced_motion="reduce",
            )
            page = context.new_page()
            body = b""

            def gate(route: Route) -> None:
                if route.request.is_navigation_request() and route.request.frame == page.main_frame:
                    route.fulfill(status=200, content_type="text/html; charset=utf-8", body=body)
                else:
                    route.abort()

            page.route("**/*", gate)
            for name in missing:
                body = gzip.decompress((self.corpus / name).read_bytes())
                page.goto(ADDRESS)
                snapshot, _ = read_page(page.evaluate(self.collect, None))
                stored = self._stored(name)
                waiting = stored.with_suffix(".part")
                waiting.write_bytes(pack(snapshot)[1])
                waiting.replace(stored)
            browser.close()

    def get(self, name: str) -> PageSnapshot:
        if name not in self._seen:
            self.fill([name])
            self._seen[name] = unpack(self._stored(name).read_bytes())
        return self._seen[name]

    def forget(self) -> None:
        self._seen.clear()


def xpaths(page: PageSnapshot) -> dict[str, int]:
    """Absolute xpath of every element, an open shadow root entered with ` >>> `, as the corpus writes them."""
    paths: list[str] = []
    counts: dict[tuple[int, str, str], int] = defaultdict(int)
    for element in page.elements:
        counts[element.parent, element.edge, element.tag] += 1
        step = f"{element.tag}[{counts[element.parent, element.edge, element.tag]}]"
        if element.parent < 0:
            paths.append(f"/{step}")
        elif element.edge == "shadow":
            paths.append(f"{paths[element.parent]} >>> {step}")
        else:
            paths.append(f"{paths[element.parent]}/{step}")
    return {path: index for index, path in enumerate(paths)}


def locate(paths: Mapping[str, int], xpath: str) -> int | None:
    """Our element for a labelled xpath; what lies inside a picture is the picture."""
    at = re.sub(r"\*\[(?:name|local-name)\(\)='(\w+)'\]", r"\1", xpath).replace(" >>> /", " >>> ")
    while at:
        if at in paths:
            return paths[at]
        if "svg" not in at:
            return None
        at = at.rpartition("/")[0]
    return None


def acts_as(page: PageSnapshot, one: int, other: int) -> bool:
    """Would an action on `one` land on `other`: the same box, or wrapper and child with the same text."""
    if one == other:
        return True
    if overlap(page.elements[one].box, page.elements[other].box) >= 0.85:
        return True
    if page.is_inside(one, other) or page.is_inside(other, one):
        return bool(page.texts[one]) and page.texts[one] == page.texts[other]
    return False


def overlap(a: Box, b: Box) -> float:
    """Intersection over union."""
    if not (a.width and a.height and b.width and b.height):
        return 0.0
    width = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    height = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (a.width * a.height + b.width * b.height - both)


def action_of(element: Element) -> str:
    """The step a tester would write for an element."""
    if element.tag == "select":
        return "select"
    if element.tag in ("input", "textarea"):
        kind = element.get("type").lower()
        if kind in ("checkbox", "radio"):
            return "check"
        if kind == "file":
            return "upload"
        return "click" if kind in ("submit", "button", "image", "reset") else "fill"
    return "click" if element.tag in ("a", "button", "summary") else "assert_visible"


def without(page: PageSnapshot, roots: Sequence[int]) -> tuple[PageSnapshot, dict[int, int]]:
    """The page without these elements and all below them, and where the others are now."""
    gone: set[int] = set()
    moved: dict[int, int] = {}
    kept = []
    for element in page.elements:
        if element.index in roots or element.parent in gone:
            gone.add(element.index)
            continue
        moved[element.index] = len(kept)
        kept.append(element)
    children = page.children
    elements = []
    for element in kept:
        lost = [at for at, child in enumerate(children[element.index]) if child in gone]
        pieces = tuple((n - sum(at < n for at in lost), text) for n, text in element.pieces)
        elements.append(
            replace(element, index=moved[element.index], parent=moved.get(element.parent, -1), pieces=pieces)
        )
    return replace(page, elements=tuple(elements), scrollers=()), moved


def wrapper_of(page: PageSnapshot, index: int) -> int:
    """The outermost element that acts as this one."""
    at = index
    while page.elements[at].parent >= 0:
        above = page.elements[at].parent
        if page.elements[above].tag in ("body", "html") or not acts_as(page, above, index):
            break
        at = above
    return at


def all_of(page: PageSnapshot, index: int) -> list[int]:
    """Everything that has to go for an element to be gone: its wrappers, and the label that would take its clicks."""
    seen = view(page)
    other = seen.companions.get(seen.thing_of[index])
    roots = [wrapper_of(page, index)]
    if other is not None:
        roots.append(wrapper_of(page, seen.things[other].leader))
    return roots


def kind_of(pair: Pair) -> str:
    """The kind of drift, by the words and the kind of element on either side."""
    if pair.new is None:
        return pair.label
    old = _words(pair.old)
    new = _words(pair.new)
    other = "" if _kind(pair.old) == _kind(pair.new) else ", other kind of element"
    if not old and not new:
        return "no words on either side" + other
    if old == new:
        return "same words" + (other or " and kind")
    if not old or not new:
        return "words gained or lost" + other
    return ("reworded, some words kept" if set(old) & set(new) else "no word in common") + other


def _words(side: Mapping[str, Any]) -> list[str]:
    said = side.get("name") or side.get("text") or side.get("own_text") or ""
    return re.findall(r"[^\W_]+", fold(str(said)).lower())


def _kind(side: Mapping[str, Any]) -> str:
    return str(side.get("role") or side.get("tag"))


def by_page(pairs: Iterable[Pair]) -> Iterator[tuple[tuple[str, str], list[Pair]]]:
    grouped: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        grouped[pair.old_page, pair.new_page].append(pair)
    yield from grouped.items()
