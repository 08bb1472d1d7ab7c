"""Labelled sets of elements found again, brought into one shape for bench_matching.

A set that holds attribute tables instead of pages is turned into pages: the tree is rebuilt from the xpaths, what was
not recorded stands in it without attributes and unseen, and the recorded words around an element are its neighbours.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import drift_corpus as corpus

from radar import chromium
from radar.elements import LONGEST_TEXT, Box, Element, PageSnapshot, fold
from radar.locators import Locator
from radar.memo import view_of
from radar.reading import pack, read_page, unpack
from radar.things import View, words_of

ROLES: Final = {
    "button": "button", "select": "combobox", "textarea": "textbox", "li": "listitem", "td": "cell",
    "th": "columnheader", "tr": "row", "p": "paragraph", "nav": "navigation", "header": "banner",
    "footer": "contentinfo", "main": "main", "img": "img", "table": "table", "form": "form",
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
}  # fmt: skip
INPUTS: Final = {"checkbox": "checkbox", "radio": "radio", "submit": "button", "button": "button", "image": "button"}
FROM_CONTENT: Final = frozenset(("link", "button", "heading", "cell", "columnheader"))


@dataclass(frozen=True)
class Site:
    """An old and a new page. `candidates`: the elements of the new page that a matcher may choose from.

    `near_old`, `near_new`: recorded words around an element, where the pages do not hold its neighbours.
    """

    name: str
    old: PageSnapshot
    new: PageSnapshot
    candidates: tuple[int, ...]
    near_old: Mapping[int, str] = field(default_factory=dict)
    near_new: Mapping[int, str] = field(default_factory=dict)

    def views(self) -> tuple[View, View]:
        """Both pages as the matcher sees them, with the recorded words around the elements put in."""
        return _seen_with(self.old, self.near_old), _seen_with(self.new, self.near_new)


@dataclass(frozen=True)
class Question:
    """Where is the old element `target` now? `strict` is the labelled element, None where there is none."""

    site: Site
    target: int
    strict: int | None
    broken: bool = True
    hard: bool = False
    action: str | None = None


def _seen_with(page: PageSnapshot, near: Mapping[int, str]) -> View:
    seen = view_of(page)
    for index, words in near.items():
        thing = seen.things[seen.thing_of[index]]
        thing.before = thing.after = words_of(words)[:16]
    return seen


def read_lines(path: Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# --- what is right, and what is taken away ---


def lands_on(site: Site, one: int, right: int) -> bool:
    """Would an action on one act on the other? In attribute tables its middle has to lie within the other's box too."""
    page = site.new
    if one == right:
        return True
    if site.near_new and not _middle_inside(page.elements[one], page.elements[right]):
        return False
    return corpus.acts_as(page, one, right)


def _middle_inside(one: Element, other: Element) -> bool:
    x, y = one.box.centre
    b = other.box
    return b.x <= x <= b.x + b.width and b.y <= y <= b.y + b.height


def taken_out(site: Site, right: int) -> Site:
    """The site without an element and all that acts as it: its wrappers and children, the like of it in its place."""
    page = site.new
    box = page.elements[right].box
    roots = [
        at
        for at in (*site.candidates, right)
        if at == right
        or lands_on(site, at, right)
        or (page.is_inside(right, at) and corpus.overlap(page.elements[at].box, box) > 0.5)
    ]
    new, moved = corpus.without(page, roots)
    if site.near_old:
        around = {e.index for root in roots for e in page.ancestors(root)}
        # What an element around it was called by its content, it is called by what is left of it.
        new = replace(
            new,
            elements=tuple(
                replace(e, name=new.texts[e.index]) if at in around and e.name == page.texts[at] else e
                for at, e in zip(moved, new.elements, strict=True)
            ),
        )
        said = list(new.texts)
        for at, to in moved.items():
            said[to] = said[to] if at in around else page.texts[at]
        vars(new)["texts"] = tuple(said)
    kept = {moved[at]: words for at, words in site.near_new.items() if at in moved}
    return Site(
        site.name, site.old, new, tuple(moved[at] for at in site.candidates if at in moved), site.near_old, kept
    )


# --- pages from attribute tables ---


@dataclass
class _Node:
    step: str
    parent: int
    raw: Mapping[str, Any] | None = None
    below: list[int] = field(default_factory=list)


def page_of(rows: Sequence[Mapping[str, Any]], *, sort: bool) -> tuple[PageSnapshot, list[int]]:
    """A page of recorded elements (see `row`), and the index of each. `sort`: the rows are in no order, go by place."""
    nodes = [_Node("html", -1)]
    known: dict[str, int] = {"/html[1]": 0}
    at_row = []
    for raw in rows:
        at = _node(nodes, known, _steps(raw["xpath"]))
        at_row.append(at)
        nodes[at].raw = nodes[at].raw or raw
    if sort:
        for node in nodes:
            node.below.sort(key=lambda child: _first_place(nodes, child))
    order: list[int] = []
    stack = [0]
    while stack:
        at = stack.pop()
        order.append(at)
        stack.extend(reversed(nodes[at].below))
    index_of = {at: index for index, at in enumerate(order)}
    elements = tuple(_element(nodes, at, index_of) for at in order)
    page = PageSnapshot("http://127.0.0.1:8000/", language="en", elements=elements)
    # What an element says was recorded whole; put together from its parts the order of the words would be lost.
    said = list(page.texts)
    for raw, at in zip(rows, at_row, strict=True):
        said[index_of[at]] = raw["text"][:LONGEST_TEXT]
    vars(page)["texts"] = tuple(said)
    return page, [index_of[at] for at in at_row]


def _steps(xpath: str) -> list[str]:
    steps = [step for step in xpath.lower().split("/") if step]
    return [step if "[" in step else f"{step}[1]" for step in steps]


def _node(nodes: list[_Node], known: dict[str, int], steps: Sequence[str]) -> int:
    path = ""
    at = 0
    for step in steps:
        path += f"/{step}"
        if path not in known:
            known[path] = len(nodes)
            nodes.append(_Node(step.partition("[")[0], at if path.count("/") > 1 else 0))
            if known[path]:
                nodes[nodes[-1].parent].below.append(known[path])
        at = known[path]
    return at


def _first_place(nodes: Sequence[_Node], at: int) -> tuple[float, float]:
    raw = nodes[at].raw
    own = [(float(raw["box"].y), float(raw["box"].x))] if raw else []
    return min([*own, *(_first_place(nodes, child) for child in nodes[at].below)], default=(0.0, 0.0))


def _element(nodes: Sequence[_Node], at: int, index_of: Mapping[int, int]) -> Element:
    node = nodes[at]
    parent = index_of[node.parent] if node.parent >= 0 else -1
    tag = re.sub(r"\W+", "", node.step.rpartition(":")[2]) or "div"
    if node.raw is None:
        return Element(index_of[at], parent, tag, {}, visible=False, rendered=True, role=ROLES.get(tag, ""))
    raw = node.raw
    role = _role(raw["tag"], raw["attributes"])
    own = _own_words(nodes, at)
    name = raw["attributes"].get("alt", "") or (raw["text"] if role in FROM_CONTENT else "")
    return Element(
        index_of[at],
        parent,
        raw["tag"],
        raw["attributes"],
        ((0, own),) if own else (),
        role=role,
        name=name if role else "",
        box=raw["box"],
        clickable=bool(raw.get("clickable")),
    )


def _role(tag: str, attributes: Mapping[str, str]) -> str:
    if tag == "a":
        return "link" if attributes.get("href") else ""
    if tag == "input":
        return INPUTS.get(attributes.get("type", ""), "textbox")
    return ROLES.get(tag, "")


def _own_words(nodes: Sequence[_Node], at: int) -> str:
    """What an element says that none of the recorded elements in it says."""
    raw = nodes[at].raw
    if raw is None:
        return ""
    said = raw["text"].split()
    stack = list(nodes[at].below)
    while stack:
        child = stack.pop()
        inner = nodes[child].raw
        if inner is None:
            stack.extend(nodes[child].below)
            continue
        for word in inner["text"].split():
            if word in said:
                said.remove(word)
    return " ".join(said)


def _row(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A row of similo-recrawl or similo-original: tag, xpath, attributes, text, box, clickable, near."""
    place = raw.get("location") or raw
    text = raw.get("visibleText") or raw.get("text") or raw.get("visible_text") or ""
    near = raw.get("neighborText") or [
        raw[key]
        for key in ("neighbor_text", *(f"neighbor_text_{side}" for side in ("above", "below", "left", "right")))
        if raw.get(key)
    ]
    attributes = {
        key: str(raw[key]) for key in ("id", "name", "href", "alt", "type", "title", "placeholder") if raw.get(key)
    }
    classes = " ".join(raw.get("classList") or ()) or raw.get("class") or ""
    if classes:
        attributes["class"] = str(classes)
    return {
        "tag": str(raw["tag"]).lower(),
        "xpath": raw["xpath"],
        "attributes": attributes,
        "text": fold(" ".join(text) if isinstance(text, list) else str(text)),
        "box": Box(*(float(place.get(key) or 0) for key in ("x", "y", "width", "height"))),
        "clickable": raw.get("isButton") is True or raw.get("is_button") == "yes",
        "near": fold(" ".join(map(str, near))),
    }


def _site(name: str, targets: Sequence[Any], candidates: Sequence[Any]) -> tuple[Site, list[int], list[int]]:
    old_rows, new_rows = [_row(raw) for raw in targets], [_row(raw) for raw in candidates]
    old, at_old = page_of(old_rows, sort=True)
    old = replace(old, complete=False)  # of an old page only the labelled elements are known
    new, at_new = page_of(new_rows, sort=False)
    near_old = {at: row["near"] for at, row in zip(at_old, old_rows, strict=True) if row["near"]}
    near_new = {at: row["near"] for at, row in zip(at_new, new_rows, strict=True) if row["near"]}
    return Site(name, old, new, tuple(dict.fromkeys(at_new)), near_old, near_new), at_old, at_new


def similo_recrawl(folder: Path, snapshot: str) -> Iterator[Question]:
    """The pairs that the audit did not find wrong. Broken: the absolute xpath no longer gives the element."""
    wrong = {
        (one["site"], one["target"])
        for one in map(json.loads, (folder / "label_audit.jsonl").read_text(encoding="utf-8").splitlines())
        if one["snapshot"] == snapshot
    }
    for raw in read_lines(folder / f"{snapshot}.jsonl.gz"):
        if not raw["pairs"]:
            continue
        site, at_old, at_new = _site(raw["site"], raw["targets"], raw["candidates"])
        by_idxpath: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(raw["candidates"]):
            by_idxpath[one["idxpath"]].append(at)
        for target, right in raw["pairs"]:
            if (raw["site"], target) not in wrong:
                holds = by_idxpath.get(raw["targets"][target]["idxpath"]) == [right]
                yield Question(site, at_old[target], at_new[right], broken=not holds)


def similo_original(folder: Path) -> Iterator[Question]:
    """The sites whose candidate list is complete."""
    for raw in read_lines(folder / "sites.jsonl.gz"):
        if raw.get("pairs") and raw.get("candidates_complete"):
            site, at_old, at_new = _site(raw["site"], raw["targets"], raw["candidates"])
            for target, right in raw["pairs"]:
                yield Question(site, at_old[target], at_new[right])


def similo_llm_cases(folder: Path) -> Iterator[Question]:
    """Ten candidates each. Hard: the ones that VON Similo got wrong; in 13 of them the answer is none."""
    for raw in read_lines(folder / "cases.jsonl.gz"):
        targets, candidates = [_of_case(raw["target"])], [_of_case(one) for one in raw["candidates"]]
        _part(candidates)
        site, at_old, at_new = _site(str(raw["id"]), targets, candidates)
        right = at_new[raw["answer"]] if raw["answer"] is not None else None
        yield Question(site, at_old[0], right, hard=bool(raw["von_similo_failed"]))


def _part(candidates: Sequence[dict[str, Any]]) -> None:
    """Give each its own xpath: of overlapping nodes the first one's is given, which two may share."""
    taken: set[str] = set()
    for one in candidates:
        stem, number = (
            one["xpath"].rstrip("]").rpartition("[")[::2] if one["xpath"].endswith("]") else (one["xpath"], "1")
        )
        while f"{stem}[{number}]" in taken:
            number = str(int(number) + 1)
        one["xpath"] = f"{stem}[{number}]"
        taken.add(one["xpath"])


def _of_case(raw: Mapping[str, str]) -> dict[str, Any]:
    """One row of several overlapping nodes ("a || b"): the first value of each, the words of all."""
    first = {key: str(value).split(" || ")[0] for key, value in raw.items()}
    x, _, y = first.get("location", "0,0").partition(",")
    area, shape = float(first.get("area") or 0), float(first.get("shape") or 100)
    height = (100 * area / shape) ** 0.5 if shape else 0.0
    tags = str(raw.get("tag", "div")).split(" || ")
    acts = next((tag for tag in tags if tag in ("a", "button", "input", "select", "textarea")), tags[0])
    xpath = first["xpath"]
    if acts != tags[0]:
        xpath = f"{xpath.rpartition('/')[0]}/{acts}"
    return {
        **{key: first[key] for key in ("id", "name", "href", "alt", "type", "title", "placeholder") if key in first},
        "class": str(raw.get("class", "")).replace(" || ", " "),
        "tag": acts,
        "text": first.get("text") or first.get("value") or "",
        "xpath": xpath,
        "is_button": first.get("is_button", "no"),
        "neighbor_text": first.get("neighbor_text", ""),
        "x": float(x or 0), "y": float(y or 0), "width": height * shape / 100, "height": height,
    }  # fmt: skip


# --- release corpus ---


def drift(folder: Path, cache: Path, apps: Iterable[str] = ()) -> Iterator[Question]:
    """The labelled pairs of a release corpus; an ambiguous one is left out."""
    pairs = corpus.read_pairs(folder, apps)
    pages = corpus.Pages(folder, cache)
    pages.fill([name for pair in pairs for name in (pair.old_page, pair.new_page)])
    app = ""
    for (old_name, new_name), some in corpus.by_page(pairs):
        if some[0].app != app:
            app = some[0].app
            pages.forget()
        old, new = pages.get(old_name), pages.get(new_name)
        old_paths, new_paths = corpus.xpaths(old), corpus.xpaths(new)
        site = Site(app, old, new, tuple(e.index for e in new.elements if e.visible and e.tag not in ("html", "body")))
        for pair in some:
            target = corpus.locate(old_paths, pair.old_xpath)
            right = corpus.locate(new_paths, pair.new_xpath) if pair.new_xpath else None
            if pair.label == "ambiguous" or target is None or (pair.new_xpath and right is None):
                continue
            action = corpus.action_of(old.elements[target])
            yield Question(site, target, right, broken=pair.is_broken, hard=pair.is_hard, action=action)


# --- no old page, and whole pages as HTML ---


@dataclass(frozen=True)
class NoBaseline:
    """A failed locator and the page it failed on; nothing is known of the page before."""

    id: str
    locator: Locator
    action: str
    page: PageSnapshot
    right: int


ACTIONS: Final = {"Fill Text": "fill", "Click": "click", "Select Options By": "select", "Get Text": "assert_text"}


def rf_heal(folder: Path, cache: Path) -> list[NoBaseline]:
    """Recorded failures of Robot Framework's Browser library."""
    rows = read_lines(folder / "fixtures.jsonl.gz")
    find = "(css) => document.querySelectorAll(css).length === 1 && document.querySelector(css)"
    pages = render([(raw["dom"], raw["truth_css"]) for raw in rows], cache, find)
    return [
        NoBaseline(raw["id"], _rf_locator(raw["failed_locator"]), ACTIONS.get(raw["action"], "click"), page, at)
        for raw, (page, at) in zip(rows, pages, strict=True)
        if at is not None
    ]


def _rf_locator(text: str) -> Locator:
    """Browser's selector syntax, as far as the corpus uses it. Bare words are what the author calls the element."""
    outer, chained, inner = text.rpartition(" >> ")
    if chained:
        return replace(_rf_locator(inner), within=_rf_locator(outer))
    key, equals, value = text.partition("=")
    if equals and key in ("id", "css", "xpath", "text"):
        return Locator(css=f"#{value}") if key == "id" else Locator(**{key: value})
    if re.fullmatch(r"[a-z]*([.#][\w-]+)+", text):
        return Locator(css=text)
    return Locator(text=text.strip('"'))


def sftm(folder: Path, cache: Path, name: str) -> tuple[Site, dict[int, int]]:
    """Two whole pages, and for each old element the new one with the same `signature` (taken off the pages)."""
    sides = []
    for when in ("old", "new"):
        html = gzip.decompress((folder / f"{name}_{when}.html.gz").read_bytes()).decode("utf-8", "replace")
        html = re.sub(r"<script\b.*?</script>", "", html, flags=re.S | re.I)
        ((page, _),) = render([(html, "")], cache, "")
        sides.append((page, {e.get("signature"): e.index for e in page.elements if e.get("signature")}))
    (old, old_marks), (new, new_marks) = sides
    old, new = _unmarked(old), _unmarked(new)
    truth = {old_marks[mark]: new_marks[mark] for mark in old_marks.keys() & new_marks.keys()}
    return Site(name, old, new, tuple(e.index for e in new.elements if e.visible)), truth


def _unmarked(page: PageSnapshot) -> PageSnapshot:
    return replace(
        page,
        elements=tuple(
            replace(e, attributes={key: value for key, value in e.attributes.items() if key != "signature"})
            for e in page.elements
        ),
    )


def render(pages: Sequence[tuple[str, str]], cache: Path, find: str) -> list[tuple[PageSnapshot, int | None]]:
    """Each HTML as our radar sees it, and the place of what the script `find` gives for its second value."""
    collect = corpus.COLLECT.read_text(encoding="utf-8")
    keys = ["\0".join((collect, html, what, find)) for html, what in pages]
    stored = [cache / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.truth.gz" for key in keys]
    if not all(path.exists() for path in stored):
        from playwright.sync_api import sync_playwright

        cache.mkdir(parents=True, exist_ok=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.SWITCHES))
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.route("**/*", lambda route: route.abort())
            for (html, what), path in zip(pages, stored, strict=True):
                page.set_content(html, wait_until="domcontentloaded")
                snapshot, _ = read_page(page.evaluate(collect, None))
                where = (
                    page.evaluate(f"(what) => {{ const e = ({find})(what); return e ? ({XPATH})(e) : null }}", what)
                    if find
                    else None
                )
                path.write_bytes(gzip.compress(json.dumps([where, pack(snapshot)[1].hex()]).encode()))
            browser.close()
    found = []
    for path in stored:
        where, packed = json.loads(gzip.decompress(path.read_bytes()))
        page_ = unpack(bytes.fromhex(packed))
        found.append((page_, corpus.locate(corpus.xpaths(page_), where) if where else None))
    return found


XPATH: Final = """e => { const steps = []; for (; e && e.nodeType === 1; e = e.parentElement) {
  let n = 1; for (let o = e.previousElementSibling; o; o = o.previousElementSibling) if (o.tagName === e.tagName) n++;
  steps.unshift(`${e.tagName.toLowerCase()}[${n}]`) } return '/' + steps.join('/') }"""
