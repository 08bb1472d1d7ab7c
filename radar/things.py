"""A page as a person would list it: its things, with the words, marks and surroundings they are known by.

Several nodes often act as one (a link around a span, a cell around a link, an input in a wrapper of the same size):
they are one Thing here, so that nothing depends on which of them a locator happened to name.
Everything a matcher compares is worked out once per page, in lists that run parallel to `View.things`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Final
from urllib.parse import unquote, urlsplit

from radar.elements import Element, PageSnapshot, fold

Words = tuple[str, ...]

LONG_TEXT: Final = 160  # characters; whatever says more is a container, and known by less than its whole text
NEAR: Final = 2  # texts before and after that count as neighbours
SAME_BOX: Final = 0.85  # overlap (intersection over union) from which two boxes are the same place

CONTROL_ROLES: Final = frozenset(
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider "
    "spinbutton switch tab textbox treeitem".split()
)
CONTROL_TAGS: Final = frozenset("a button input select textarea summary option".split())
HEADING_TAGS: Final = frozenset("h1 h2 h3 h4 h5 h6 legend caption summary".split())
ROW_TAGS: Final = frozenset("tr li article dt dd".split())
ROW_ROLES: Final = frozenset("row listitem article treeitem".split())
# What elements of a group have in common is what can be done with them.
GROUPS: Final = {
    **dict.fromkeys("button link menuitem tab switch summary treeitem".split(), "press"),
    **dict.fromkeys("checkbox radio switch menuitemcheckbox menuitemradio".split(), "tick"),
    **dict.fromkeys("textbox searchbox spinbutton slider".split(), "type"),
    **dict.fromkeys("combobox listbox".split(), "choose"),
    "option": "option",
    "img": "picture",
    "heading": "text",
    "cell": "text",
    "gridcell": "text",
    "columnheader": "text",
    "rowheader": "text",
    "paragraph": "text",
    "status": "text",
}
REGIONS: Final = {
    "banner": "header",
    "header": "header",
    "navigation": "nav",
    "nav": "nav",
    "contentinfo": "footer",
    "footer": "footer",
    "complementary": "aside",
    "aside": "aside",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "main": "main",
    "form": "form",
    "search": "search",
    "table": "table",
    "grid": "table",
}
_WORD: Final = re.compile(r"[^\W\d_]+|\d[\d.,:/-]*\d|\d")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREFIXED: Final = re.compile(r"\b([a-z])-(?=[a-z]{2})", re.I)  # "e-mail" is "email"
_ALPHA: Final = re.compile(r"[^\W\d_]+")
_ENDS_IN_COUNTER: Final = re.compile(r"\d+$")
_HEXADECIMAL: Final = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,}$", re.I)
_EDGES: Final = re.compile(r"^[\s|:*·•¶»«<>+-]+|[\s|:*·•¶»«<>…+-]+$")
_PRIVATE: Final = re.compile("[\ue000-\uf8ff]")
_MANY_DIGITS: Final = re.compile(r"\d{5}")
_VOWELS: Final = re.compile(r"[aeiouyäöüéèà]", re.I)
_VOLATILE: Final = re.compile(r"[\W_]*\d[\W\d_]*(?:[^\W\d_]{1,3}[\W\d_]*)?\Z")
_PLURAL: Final = re.compile(r"(?:(?<=[^s])s|ies|es)$")


@lru_cache(maxsize=1 << 15)
def words_of(text: str) -> Words:
    """Lower case words and numbers, a simple plural taken off; "Log out (3)" -> log, out, 3.

    A text of icon characters alone (icon fonts use the private area) has these as its words.
    """
    plain = _CAMEL.sub(" ", _PREFIXED.sub(r"\1", text)).lower()
    return tuple(map(_stem, _WORD.findall(plain))) or tuple(_PRIVATE.findall(text))


def _stem(word: str) -> str:
    if len(word) > 3 and word[0].isalpha() and word.endswith("s") and not word.endswith("ss"):
        return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    return word


def key_of(text: str) -> str:
    """The same for texts that differ in case, icon characters and outer punctuation alone."""
    low = text.lower()
    return _EDGES.sub("", fold(_PRIVATE.sub(" ", low))) or fold(low)


def is_number(word: str) -> bool:
    return word[:1].isdigit()


def is_volatile(text: str) -> bool:
    """Only a number, an amount or a time: what stands there today says nothing of tomorrow."""
    return bool(text) and bool(_VOLATILE.match(text))


def looks_generated(mark: str) -> bool:
    """Was this id or class made by a program: a hash, a counter among letters, a run without vowels?"""
    for part in re.split(r"[-_:.\s]+", mark):
        if _HEXADECIMAL.match(part) or _MANY_DIGITS.search(part):
            return True
        changes = len(re.findall(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)", part))
        if changes >= 2 and len(part) >= 5:
            return True
        # "bdVaJa", "kQxZpT": letters of both cases in no order
        mixed = len(re.findall(r"(?<=[a-z])(?=[A-Z])", part))
        if len(part) >= 5 and mixed >= 2 and len(part) / (mixed + 1) < 2.7:
            return True
        if len(part) >= 6 and part.isalpha() and len(_VOWELS.findall(part)) * 7 < len(part):
            return True
    return False


def ends_in_counter(mark: str) -> bool:
    return bool(_ENDS_IN_COUNTER.search(mark))


@lru_cache(maxsize=1 << 15)
def mark_words(mark: str) -> Words:
    """The words in an id or a class, without counters and generated parts."""
    found = []
    for part in re.split(r"[-_:.\s/\[\]]+", mark):
        if part and not looks_generated(part):
            found += [_stem(word.lower()) for word in _ALPHA.findall(_CAMEL.sub(" ", part))]
    return tuple(word for word in found if len(word) > 1)


def path_of(address: str) -> str:
    """A link's address without its origin and without what looks like a token."""
    if not address or address.startswith(("javascript:", "data:")):
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    host = parts.netloc if not parts.netloc.startswith(("127.0.0.1", "localhost")) else ""
    return unquote(
        f"{host}{parts.path}{'?' + parts.query if parts.query else ''}{'#' + parts.fragment if parts.fragment else ''}"
    )[:200]


def group_of(element: Element) -> str:
    """What can be done with it: press, tick, type, choose, or read."""
    if element.tag == "summary":
        return "press"
    if element.tag == "input" and element.get("type").lower() == "file":
        return "upload"
    group = GROUPS.get(element.role)
    if group:
        return group
    if element.tag == "a":
        return "press"
    if "contenteditable" in element.attributes and element.get("contenteditable") != "false":
        return "type"
    if element.tag in ("input", "textarea"):
        return "type"
    if element.tag in ("svg", "img", "canvas", "video"):
        return "picture"
    return "press" if element.clickable else "text"


def is_control(element: Element) -> bool:
    return element.role in CONTROL_ROLES or element.tag in CONTROL_TAGS


def is_secret(element: Element) -> bool:
    """A password field."""
    return element.tag == "input" and element.get("type").lower() == "password"


def overlap(one: Element, other: Element) -> float:
    """Intersection over union of two boxes."""
    a, b = one.box, other.box
    width = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    height = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / (a.width * a.height + b.width * b.height - width * height)


@dataclass(slots=True)
class Thing:
    """One or more elements that act as one, and what it is known by."""

    leader: int  # the element that takes the action
    members: tuple[int, ...]
    outer: int  # the outermost member
    last: int  # index of the last element inside the outermost member
    said: str = ""  # what a person would call it: accessible name or visible text
    key: str = ""  # the same, see key_of
    words: Words = ()
    text_key: str = ""  # key of its visible text, where that is not what it is called
    other_words: Words = ()  # label, placeholder, title, alt, value of a button
    id: str = ""
    id_is_weak: bool = False  # generated, or it ends in a counter
    test_id: str = ""
    form_name: str = ""
    classes: Words = ()
    marks: Words = ()  # words of id, test id, name and classes
    link: str = ""
    tag: str = ""
    role: str = ""
    group: str = ""
    type: str = ""
    region: str = ""
    heading: Words = ()
    row: int = -1  # the element that is its row, -1 for none
    row_key: Words = ()
    column: Words = ()
    slot: int = 0  # place among the children of its row
    before: Words = ()
    after: Words = ()
    tags: tuple[str, ...] = ()  # of its ancestors, nearest first
    around: Words = ()  # words of the marks of its three nearest ancestors
    frame: tuple[str, ...] = ()
    is_container: bool = False
    is_visible: bool = True
    is_rendered: bool = True
    is_volatile: bool = False


@dataclass(slots=True)
class View:
    page: PageSnapshot
    things: list[Thing]
    thing_of: list[int]  # element -> its thing
    last: list[int]  # element -> index of the last element below it
    companions: dict[int, int] = field(default_factory=dict)  # label thing -> the thing it labels, and back


def are_nested(one: Thing, other: Thing) -> bool:
    """Is one inside the other, or are they the same?"""
    return one.outer <= other.outer <= one.last or other.outer <= one.outer <= other.last


def view(page: PageSnapshot) -> View:
    """All things of a page, described."""
    last = _lasts(page)
    outer_of = _collapsed(page)
    members: dict[int, list[int]] = {}
    for index, outer in enumerate(outer_of):
        members.setdefault(outer, []).append(index)
    seen = _Surroundings(page, last)
    things: list[Thing] = []
    thing_of = [0] * len(page.elements)
    for outer, group in members.items():
        for index in group:
            thing_of[index] = len(things)
        things.append(_described(page, outer, tuple(group), last, seen))
    made = View(page, things, thing_of, last)
    _find_companions(made)
    return made


def _lasts(page: PageSnapshot) -> list[int]:
    last = list(range(len(page.elements)))
    for element in reversed(page.elements):
        if element.parent >= 0 and last[element.index] > last[element.parent]:
            last[element.parent] = last[element.index]
    return last


def _collapsed(page: PageSnapshot) -> list[int]:
    """For each element the outermost one that acts as one with it."""
    elements, texts = page.elements, [key_of(text) for text in page.texts]
    controls = [1 if is_control(element) else 0 for element in elements]
    for element in reversed(elements):
        if element.parent >= 0:
            controls[element.parent] += controls[element.index]
    outer = list(range(len(elements)))
    for element in elements:
        above = element.parent
        if above < 0 or elements[above].tag in ("html", "body", "select"):
            continue
        parent = elements[above]
        inside = controls[element.index]
        others = controls[above] - inside - (1 if is_control(parent) else 0)
        if others and parent.tag != "label":
            continue  # the parent holds another control: it is more than its child
        if texts[element.index] != texts[above] or element.visible != parent.visible:
            continue
        if texts[above] or (element.visible and overlap(element, parent) >= SAME_BOX):
            outer[element.index] = outer[above]
    return outer


class _Surroundings:
    """What is told of an element by the elements around it, found in one walk over the page."""

    def __init__(self, page: PageSnapshot, last: Sequence[int]) -> None:
        self.page = page
        self.last = last
        self.rows = self._rows()
        self.regions = self._regions()
        self.headings = self._headings()
        self.leaves = [e.index for e in page.elements if e.visible and _leaf_text(page, e)]
        self.leaf_words = [words_of(_leaf_text(page, page.elements[index])) for index in self.leaves]
        self.common = self._common_in_rows()
        self.columns = self._columns()
        self.marks = [(*mark_words(e.get("id")), *mark_words(e.get("class"))) for e in page.elements]
        self.tags, self.frames = self._above()

    def _above(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """For each element the tags of the nearest eight around it, and of those that a frame or a root holds."""
        tags: list[tuple[str, ...]] = []
        frames: list[tuple[str, ...]] = []
        for element in self.page.elements:
            if element.parent < 0:
                tags.append(())
                frames.append(())
                continue
            parent = self.page.elements[element.parent]
            tags.append((parent.tag, *tags[parent.index][:7]))
            frames.append((parent.tag, *frames[parent.index]) if parent.edge else frames[parent.index])
        return tags, frames

    def _rows(self) -> list[int]:
        """For each element the innermost repeated block around it, or -1."""
        page = self.page
        rows = [-1] * len(page.elements)
        repeated: set[int] = set()
        for below in page.children:
            if len(below) < 2:
                continue
            kinds = Counter(_kind(page.elements[child]) for child in below)
            repeated.update(child for child in below if self._is_repeated(child, kinds))
        for element in page.elements:
            is_row = element.tag in ROW_TAGS or element.role in ROW_ROLES or element.index in repeated
            rows[element.index] = element.index if is_row else (rows[element.parent] if element.parent >= 0 else -1)
        return rows

    def _is_repeated(self, index: int, kinds: Counter[str]) -> bool:
        """Is it one of several blocks of a kind: three of them, or two short ones of the same class?"""
        element = self.page.elements[index]
        count = kinds[_kind(element)]
        if self.last[index] - index < 2:
            return False
        return count >= 3 or (count == 2 and bool(element.get("class")) and len(self.page.texts[index]) <= 80)

    def _regions(self) -> list[str]:
        regions = [""] * len(self.page.elements)
        for element in self.page.elements:
            own = REGIONS.get(element.role) or REGIONS.get(element.tag) or ""
            regions[element.index] = own or (regions[element.parent] if element.parent >= 0 else "")
        return regions

    def _headings(self) -> list[int]:
        """For each element the last heading before it, or -1."""
        headings, current = [], -1
        for element in self.page.elements:
            headings.append(current)
            if (element.tag in HEADING_TAGS or element.role == "heading") and element.rendered:
                current = element.index
        return headings

    def _common_in_rows(self) -> dict[int, Counter[str]]:
        """For each parent of rows, in how many of them a word stands: words in most rows tell no row."""
        common: dict[int, Counter[str]] = {}
        for row in set(self.rows) - {-1}:
            parent = self.page.elements[row].parent
            common.setdefault(parent, Counter()).update(set(words_of(self.page.texts[row])))
        return common

    def _columns(self) -> dict[int, Words]:
        """For each cell the words of its column's head."""
        columns: dict[int, Words] = {}
        page = self.page
        heads: dict[int, list[Words]] = {}
        for element in page.elements:
            if element.tag != "tr" and element.role != "row":
                continue
            table = next((e.index for e in page.ancestors(element.index) if e.tag == "table" or e.role in REGIONS), -1)
            cells = page.children[element.index]
            if table not in heads:
                heads[table] = [words_of(page.texts[cell]) for cell in cells]
                continue
            for cell, head in zip(cells, heads[table], strict=False):
                columns[cell] = head
        return columns

    def column(self, index: int) -> Words:
        at = index
        while at >= 0:
            if at in self.columns:
                return self.columns[at]
            at = self.page.elements[at].parent
        return ()

    def row_key(self, index: int, own: Words) -> Words:
        """The words of an element's row that tell it from the other rows, without the element's own."""
        row = self.rows[index]
        if row < 0:
            return ()
        parent = self.page.elements[row].parent
        if self.page.elements[row].tag == "dd":
            return self._term(row)
        siblings = sum(1 for child in self.page.children[parent] if self.rows[child] == child) if parent >= 0 else 1
        common = self.common.get(parent, Counter())
        mine = set(own)
        words = dict.fromkeys(words_of(self.page.texts[row]))
        return tuple(w for w in words if w not in mine and (siblings < 3 or common[w] * 2 <= siblings))[:12]

    def _term(self, index: int) -> Words:
        """The words of the dt that a dd belongs to."""
        beside = self.page.children[self.page.elements[index].parent] if self.page.elements[index].parent >= 0 else ()
        terms = [child for child in beside if child < index and self.page.elements[child].tag == "dt"]
        return words_of(self.page.texts[terms[-1]]) if terms else ()

    def slot(self, index: int) -> int:
        """Which child of its row an element is in."""
        row = self.rows[index]
        if row < 0 or row == index:
            return 0
        below = self.page.children[row]
        at = index
        while self.page.elements[at].parent != row:
            at = self.page.elements[at].parent
        return below.index(at) + 1

    def near(self, outer: int) -> tuple[Words, Words]:
        """The words just before and just after an element."""
        start = bisect_left(self.leaves, outer)
        end = bisect_right(self.leaves, self.last[outer])
        before = self.leaf_words[max(0, start - NEAR) : start]
        after = self.leaf_words[end : end + NEAR]
        return _flat(reversed(before)), _flat(after)


def _kind(element: Element) -> str:
    return f"{element.tag} {element.role} {' '.join(sorted(mark_words(element.get('class')))[:2])}"


def _flat(lists: Iterable[Words]) -> Words:
    return tuple(word for words in lists for word in words[:8])


def _leaf_text(page: PageSnapshot, element: Element) -> str:
    own = element.own_text
    if own:
        return own
    if element.tag in ("input", "img", "textarea"):
        return element.name
    return ""


def _described(
    page: PageSnapshot, outer: int, members: tuple[int, ...], last: Sequence[int], seen: _Surroundings
) -> Thing:
    elements = [page.elements[index] for index in members]
    leader = _leader(elements)
    said = _said(page, elements, leader)
    words = words_of(said)
    id_ = next((e.get("id") for e in (leader, *elements) if e.get("id")), "")
    before, after = seen.near(outer)
    box_visible = any(e.visible for e in elements)
    text = page.texts[outer]
    classes = tuple(dict.fromkeys(word for e in elements for word in mark_words(e.get("class"))))
    test_id = next((value for e in elements for value in _test_ids(e)), "")
    form_name = next((e.get("name") for e in (leader, *elements) if e.get("name")), "")
    group = group_of(leader)
    is_field = group in ("type", "choose", "tick", "upload")
    return Thing(
        leader=leader.index,
        members=members,
        outer=outer,
        last=last[outer],
        said=said,
        key=key_of(said),
        words=words,
        text_key=key_of(text) if len(text) <= LONG_TEXT else "",
        other_words=_other_words(elements, words, text)
        or ((before[:8] or after[:8]) if not words and is_field else ()),
        id=id_,
        id_is_weak=bool(id_) and (looks_generated(id_) or ends_in_counter(id_)),
        test_id=test_id,
        form_name=form_name,
        classes=classes,
        marks=tuple(dict.fromkeys((*mark_words(id_), *mark_words(test_id), *mark_words(form_name), *classes))),
        link=next((path_of(e.get("href")) for e in elements if e.get("href")), ""),
        tag=leader.tag,
        role=leader.role,
        group=group,
        type=leader.get("type").lower() if leader.tag in ("input", "button") else "",
        region=seen.regions[outer],
        heading=words_of(page.texts[seen.headings[outer]]) if seen.headings[outer] >= 0 else (),
        row=seen.rows[outer],
        row_key=seen.row_key(outer, words),
        column=seen.column(leader.index),
        slot=seen.slot(outer),
        before=before,
        after=after,
        tags=seen.tags[outer],
        around=tuple(dict.fromkeys(w for e in islice(page.ancestors(outer), 3) for w in seen.marks[e.index])),
        frame=(*((leader.tag,) if leader.edge else ()), *seen.frames[outer]),
        is_container=len(text) > LONG_TEXT or last[outer] - outer > 24,
        is_visible=box_visible,
        is_rendered=any(e.rendered for e in elements),
        is_volatile=is_volatile(said),
    )


def _leader(elements: Sequence[Element]) -> Element:
    """The member that takes the action: a control, else what can be clicked, else what has a role, else the inmost."""
    if len(elements) == 1:
        return elements[0]
    for wanted in (is_control, lambda e: e.clickable, lambda e: bool(e.role)):
        found = next((e for e in elements if wanted(e)), None)
        if found:
            return found
    return elements[-1]


def _said(page: PageSnapshot, elements: Sequence[Element], leader: Element) -> str:
    name = leader.name or next((e.name for e in elements if e.name), "")
    if not name and is_control(leader):
        name = leader.label
    text = page.texts[elements[0].index]
    if not name and len(text) <= LONG_TEXT:
        name = text
    if not name:
        name = next((v for e in elements for v in (e.get("alt"), e.get("title"), e.get("aria-label")) if v), "")
    return fold(name)


def _other_words(elements: Sequence[Element], words: Words, text: str) -> Words:
    found: dict[str, None] = dict.fromkeys(words_of(text) if len(text) <= LONG_TEXT else ())
    for element in elements:
        texts = [element.label, *(element.get(key) for key in ("placeholder", "title", "alt", "aria-label"))]
        if element.tag == "input" and element.get("type") in ("submit", "button", "reset"):
            texts.append(element.get("value"))
        for text in texts:
            found.update(dict.fromkeys(words_of(text)))
    return tuple(word for word in found if word not in words)


TEST_IDS: Final = ("data-testid", "data-test", "data-test-id", "data-cy", "data-qa", "data-action")


def _test_ids(element: Element) -> list[str]:
    has = element.attributes
    return [has[key] for key in TEST_IDS if has.get(key)] if has else []


def _find_companions(made: View) -> None:
    """Pair each label with its field: a click on one lands on the other."""
    page = made.page
    by_id = {e.get("id"): e.index for e in page.elements if e.get("id")}
    for element in page.elements:
        if element.tag != "label":
            continue
        field_ = by_id.get(element.get("for"))
        if field_ is None and not element.get("for"):
            field_ = next(
                (i for i in range(element.index, made.last[element.index] + 1) if page.elements[i].tag in _FIELDS), None
            )
        if field_ is not None:
            one, other = made.thing_of[element.index], made.thing_of[field_]
            if one != other:
                made.companions[one] = other
                made.companions.setdefault(other, one)


_FIELDS: Final = frozenset("input select textarea".split())
