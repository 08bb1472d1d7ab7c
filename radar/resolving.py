"""Which elements of a snapshot a locator hits: Playwright's own reading, without a browser.

A sweep asks this for every locator of every test on every page, old and new, so nothing here may need a round trip.
Where a snapshot does not hold the answer (a style, the inside of an svg, a page of another origin) `resolve` says so
and never guesses: a wrong "still there" hides a broken test, a wrong "gone" starts a repair nobody needs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import regex
from lxml import etree

from radar.elements import LONGEST_TEXT, Element, PageSnapshot
from radar.errors import BadLocator, BadPattern, Unresolvable
from radar.locators import Locator, pattern
from radar.patterns import bounded

# What collect.js leaves out: elements nobody acts on, and attributes that are noise to everybody else.
UNRECORDED_TAGS: Final = frozenset("script style noscript template link meta head base title br wbr".split())
UNRECORDED_ATTRIBUTES: Final = re.compile(r"(style|nonce|on.*|d|points|srcset|integrity|transform|viewbox|jsaction)\Z")
SVG_INSIDES: Final = frozenset(
    "path g use circle rect line polyline polygon ellipse text tspan symbol defs marker mask clippath stop "
    "lineargradient radialgradient pattern foreignobject animate desc".split()
)
# In HTML the values of these match in any case, whatever the selector says.
CASELESS_ATTRIBUTES: Final = frozenset(
    "accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir "
    "direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref "
    "noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype "
    "vlink".split()
)
LABELABLE: Final = frozenset("button input meter output progress select textarea".split())
BUTTON_INPUTS: Final = frozenset({"submit", "button", "reset"})
DISABLEABLE: Final = frozenset("button input select textarea option optgroup fieldset".split())
OTHER_ELEMENT: Final = ""  # a piece that marks an element which is not recorded; "\n" marks a br
LINE_BREAK: Final = "\n"
LONGEST_SEARCH_S: Final = 0.05  # a regular expression that takes longer for one text is a mistake or an attack


def resolve(locator: Locator, page: PageSnapshot, *, test_id_attribute: str = "data-testid") -> tuple[int, ...]:
    """The indexes of all elements the locator hits, in document order. Its `alternatives` are not followed.

    A frame in `frame` that is not there, or is there several times, hits nothing: the live step could not enter it
    either. Raises Unresolvable where the snapshot cannot answer.
    """
    if not page.elements:
        return ()
    try:
        found = _Finder(_tree(page), test_id_attribute).find(locator, [_Scope(0, True)])
    except BadLocator as error:
        raise Unresolvable(str(error)) from error
    return tuple(sorted(found))


def check_selector(locator: Locator) -> None:
    """Raises BadLocator if its css or xpath, or one inside it, can be read by no browser.

    What only this module does not know (Unresolvable) passes: a live page may.
    """
    for source, prefix in ((locator.css, ""), (locator.xpath, "xpath=")):
        if source is not None:
            try:
                for engine, body in _chain(prefix + source):
                    _check_part(engine, body)
            except Unresolvable:
                pass
    for one in locator.inner():
        check_selector(one)


def selector_parts(selector: str) -> list[tuple[str, str]]:
    """The parts of one of Playwright's selector strings: `css=.row >> text=Save` is css `.row`, then text `Save`."""
    return _chain(selector)


def _check_part(engine: str, body: str) -> None:
    if engine == "css":
        _read_css(body)
    elif engine == "xpath":
        _compile_xpath(body)
    elif engine == "role":
        _read_role(body)


# --- the page, prepared once ------------------------------------------------------------------------------------


class _Scope(NamedTuple):
    """Where to look: below an element, or (`whole`) in the document whose root it is, the root included."""

    root: int
    whole: bool


def fold_js(text: str) -> str:
    """White space folded and invisible characters dropped as Playwright does before it compares texts."""
    return _BLANKS.sub(" ", _INVISIBLE.sub("", text)).strip(" ")


_BLANKS: Final = re.compile("[\\t\\n\\v\\f\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_INVISIBLE: Final = re.compile("[\u200b\u00ad]")


def _lower(text: str) -> str:
    """In lower case and as long as before, so that places in both are the same."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def _tree(page: PageSnapshot) -> _Tree:
    # Kept on the page itself, as cached_property would: it lives exactly as long, and pages are compared by value
    # of their fields alone.
    tree = page.__dict__.get("_resolving_tree")
    if not isinstance(tree, _Tree):
        tree = page.__dict__["_resolving_tree"] = _Tree(page)
    return tree


class _Tree:
    """What many questions about one page have in common."""

    def __init__(self, page: PageSnapshot) -> None:
        self.elements = page.elements
        count = len(page.elements)
        self.ends = list(range(1, count + 1))  # one past the last descendant
        self.document = [0] * count  # the root of the document it is in
        self.host = [-1] * count  # whose shadow root it is in; -1: none
        self.kids: list[list[int]] = [[] for _ in range(count)]  # without shadow root and frame
        self.shadows: dict[int, list[int]] = defaultdict(list)  # host -> top elements of its shadow root
        self.frames: dict[int, int] = {}  # frame element -> root of the document in it
        for element in page.elements:
            self._place(element)
        for element in reversed(page.elements):
            if element.parent >= 0:
                self.ends[element.parent] = max(self.ends[element.parent], self.ends[element.index])
        self._members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index in range(count):
            self._members[self.document[index], self.host[index]].append(index)
        self._orders: dict[_Scope, list[int]] = {}
        self._indexes: dict[int, dict[tuple[str, str], list[int]]] = {}
        self._texts: _Texts | None = None
        self._raw_texts: _RawTexts | None = None
        self._labels: dict[int, list[int]] | None = None
        self._places: _Places | None = None
        self._documents: dict[int, _XmlDocument] = {}

    def _place(self, element: Element) -> None:
        index, parent = element.index, element.parent
        if parent < 0:
            self.document[index] = index
        elif element.edge == "frame":
            self.document[index] = index
            self.frames[parent] = index
        elif element.edge == "shadow":
            self.document[index] = self.document[parent]
            self.host[index] = parent
            self.shadows[parent].append(index)
        else:
            self.document[index] = self.document[parent]
            self.host[index] = self.host[parent]
            self.kids[parent].append(index)

    def parent(self, index: int) -> int:
        """The element or shadow host around it; -1 for the root of a document."""
        return -1 if self.document[index] == index else self.elements[index].parent

    def holds(self, scope: _Scope, index: int) -> bool:
        first = scope.root if scope.whole else scope.root + 1
        return first <= index < self.ends[scope.root] and self.document[index] == self.document[scope.root]

    def order(self, scope: _Scope) -> list[int]:
        """All elements in scope, in the order Playwright counts them: each shadow root after the tree of its host."""
        order = self._orders.get(scope)
        if order is None:
            order = self._ordered(scope) if self.shadows else self._plain(scope)
            if scope.whole:  # there are as many others as elements
                self._orders[scope] = order
        return order

    def _plain(self, scope: _Scope) -> list[int]:
        first = scope.root if scope.whole else scope.root + 1
        document = self.document[scope.root]
        if not self.frames:
            return list(range(first, self.ends[scope.root]))
        return [index for index in range(first, self.ends[scope.root]) if self.document[index] == document]

    def _ordered(self, scope: _Scope) -> list[int]:
        first = scope.root if scope.whole else scope.root + 1
        last, document = self.ends[scope.root], self.document[scope.root]
        order: list[int] = []
        waiting = [] if scope.whole or scope.root not in self.shadows else [scope.root]
        waiting.append(self.host[scope.root])  # the tree that the scope itself is in comes first
        while waiting:
            members = self._members[document, waiting.pop()]
            here = members[bisect_left(members, first) : bisect_left(members, last)]
            order += here
            waiting += [index for index in reversed(here) if index in self.shadows]
        return order

    def having(self, document: int, key: str, value: str) -> list[int]:
        """Elements of a document by ("id" | "class" | "tag", value), in document order."""
        index = self._indexes.get(document)
        if index is None:
            index = self._indexes[document] = self._index(document)
        return index.get((key, value), [])

    def _index(self, document: int) -> dict[tuple[str, str], list[int]]:
        index: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at in sorted(self.order(_Scope(document, True))):
            element = self.elements[at]
            index["tag", element.tag].append(at)
            if "id" in element.attributes:
                index["id", element.attributes["id"]].append(at)
            for name in set(element.get("class").split()):
                index["class", name].append(at)
        return index

    def by_id(self, near: int, name: str) -> int | None:
        """The element with an id in the tree that `near` is in."""
        host = self.host[near]
        same = (at for at in self.having(self.document[near], "id", name) if self.host[at] == host)
        return min(same, default=None)

    def content(self, element: Element) -> list[int | str]:
        """Its texts and children in their order, its shadow root last."""
        if is_button_input(element):
            return [element.get("value")]
        content: list[int | str] = []
        kids = self.kids[element.index]
        done = 0
        for before, piece in element.pieces:
            content += kids[done:before]
            done = max(done, before)
            if piece != LINE_BREAK:
                content.append(piece)
        content += kids[done:]
        return content + list(self.shadows.get(element.index, ()))

    @property
    def raw_texts(self) -> _RawTexts:
        if self._raw_texts is None:
            self._raw_texts = _RawTexts(self)
        return self._raw_texts

    @property
    def texts(self) -> _Texts:
        if self._texts is None:
            self._texts = _Texts(self)
        return self._texts

    @property
    def places(self) -> _Places:
        if self._places is None:
            self._places = _Places(self)
        return self._places

    def xml(self, document: int) -> _XmlDocument:
        if document not in self._documents:
            self._documents[document] = _XmlDocument(self, document)
        return self._documents[document]

    def label_texts(self, index: int) -> list[str]:
        """The texts a control is labelled with, as getByLabel reads them."""
        element = self.elements[index]
        named = [self.by_id(index, name) for name in element.get("aria-labelledby").split()]
        found = [at for at in named if at is not None]
        if found:
            return [self.texts.whole(at) for at in found]
        if element.get("aria-label").strip():
            return [fold_js(element.get("aria-label"))]
        if self._labels is None:
            self._labels = self._find_labels()
        texts = [self.texts.whole(at) for at in self._labels.get(index, ())]
        # A label in a place the snapshot does not hold, such as an svg: what collect.js read is the best there is.
        return texts or ([fold_js(element.label)] if element.label else [])

    def _find_labels(self) -> dict[int, list[int]]:
        labels: dict[int, list[int]] = defaultdict(list)
        for element in self.elements:
            if element.tag == "label":
                control = self._control(element)
                if control is not None:
                    labels[control].append(element.index)
        return labels

    def _control(self, label: Element) -> int | None:
        if "for" in label.attributes:
            control = self.by_id(label.index, label.attributes["for"])
            return control if control is not None and self._is_labelable(control) else None
        inside = range(label.index + 1, self.ends[label.index])
        return next((at for at in inside if self._is_labelable(at) and self.host[at] == self.host[label.index]), None)

    def _is_labelable(self, index: int) -> bool:
        element = self.elements[index]
        return element.tag in LABELABLE and not (element.tag == "input" and element.get("type").lower() == "hidden")


class _RawTexts:
    """The text of every element as a page holds it, white space and all: what regular expressions are tried on.

    Two things are not recorded: which white space stands in a text of nothing else, and the end of a very long text.
    Where the first decides, and wherever the second stands, a snapshot cannot answer.
    """

    def __init__(self, tree: _Tree) -> None:
        self._tree = tree
        count = len(tree.elements)
        self._starts, self._stops = [0] * count, [0] * count
        self._parts: list[tuple[int, str]] = []
        self._length = 0
        for root in [0, *tree.frames.values()]:
            self._read(root)
        self.is_cut = any(len(part) >= LONGEST_TEXT for _, part in self._parts)
        self._text = "".join(part for _, part in self._parts)
        # A second reading of equal length, in which texts of nothing but white space are a line's end.
        self._other = "".join("\n" if part == " " else part for _, part in self._parts)
        self._known: dict[str, Callable[[int], bool]] = {}

    def _read(self, root: int) -> None:
        waiting: list[int | str] = [root]
        while waiting:
            now = waiting.pop()
            if isinstance(now, str):
                self._parts.append((self._length, now))
                self._length += len(now)
            elif now < 0:
                self._stops[~now] = self._length
            else:
                self._starts[now] = self._length
                waiting.append(~now)
                waiting.extend(reversed(self._tree.content(self._tree.elements[now])))

    def search(self, text: str) -> Callable[[int], bool]:
        """Does the whole text of an element hold a match? Raises Unresolvable, also when it is called."""
        if text not in self._known:
            if self.is_cut:
                raise Unresolvable("a snapshot does not hold the whole of its texts")
            matches, answers = _searcher(text), dict[int, bool]()

            def test(index: int) -> bool:
                if index not in answers:
                    answers[index] = self._has(matches, self._starts[index], self._stops[index])
                return answers[index]

            self._known[text] = test
        return self._known[text]

    def shadow_has(self, host: int, text: str) -> bool:
        top = self._tree.shadows.get(host)
        return top is not None and self._has(_searcher(text), self._starts[top[0]], self._stops[host])

    def _has(self, matches: Callable[[str], bool], start: int, stop: int) -> bool:
        one, other = matches(self._text[start:stop]), matches(self._other[start:stop])
        if one != other:
            raise Unresolvable("a snapshot does not tell which white space stands in a text")
        return one


def _searcher(text: str) -> Callable[[str], bool]:
    """Raises BadLocator, and when it is called Unresolvable for an expression that takes too long."""
    compiled = pattern(text)
    flags = compiled.flags & (re.IGNORECASE | re.DOTALL | re.MULTILINE)
    try:
        both = [bounded(compiled.pattern, int(flags) | kind) for kind in (regex.UNICODE, regex.ASCII)]
    except BadPattern as error:
        raise Unresolvable(f"{text!r} is not answered from a snapshot: {error}") from None

    def test(own: str) -> bool:
        try:
            one, other = (fast.search(own, timeout=LONGEST_SEARCH_S) is not None for fast in both)
        except TimeoutError:
            raise Unresolvable(f"the regular expression {text!r} takes too long") from None
        # What counts as a letter, a digit or the other case beyond ASCII is not quite the same in a browser.
        if one != other:
            raise Unresolvable(f"a browser may read the regular expression {text!r} otherwise here")
        return one

    return test


def _is_about_blanks(text: str) -> bool:
    return re.search(r"[\s^$.]|\\[sSwWbBdD]|\[\^", text) is not None


class _Texts:
    """The text of every element as a part of one long string: on a deep page they would not fit beside each other.

    Playwright reads all text nodes, hidden ones too, light tree before shadow root, the value of a button, and folds
    white space. In the long string it is folded already; a part cut from it only needs trimming.
    """

    def __init__(self, tree: _Tree) -> None:
        self._tree = tree
        count = len(tree.elements)
        self._starts, self._stops = [0] * count, [0] * count
        self.text, self.lower = "", ""
        for root in [0, *tree.frames.values()]:
            self._read(root)
        self._found: dict[str, list[int]] = {}

    def _read(self, root: int) -> None:
        parts: list[str] = [self.text]
        length, is_blank = len(self.text), True
        waiting: list[int | str] = [root]
        while waiting:
            now = waiting.pop()
            if isinstance(now, str):
                part = _BLANKS.sub(" ", _INVISIBLE.sub("", now))
                if is_blank and part.startswith(" "):
                    part = part[1:]
                if part:
                    parts.append(part)
                    length += len(part)
                    is_blank = part.endswith(" ")
            elif now < 0:
                self._stops[~now] = length
            else:
                self._starts[now] = length
                waiting.append(~now)
                waiting.extend(reversed(self._tree.content(self._tree.elements[now])))
        self.text = "".join(parts)
        self.lower = _lower(self.text)

    def whole(self, index: int) -> str:
        return self.text[self._starts[index] : self._stops[index]].strip(" ")

    def _in(self, start: int, stop: int, needle: str) -> bool:
        places = self._places(needle)
        at = bisect_left(places, start)
        return at < len(places) and places[at] + len(needle) <= stop

    def _places(self, needle: str) -> list[int]:
        places = self._found.get(needle)
        if places is None:
            places = self._found[needle] = []
            at = self.lower.find(needle)
            while at >= 0:
                places.append(at)
                at = self.lower.find(needle, at + 1)
        return places

    def contains(self, index: int, needle: str) -> bool:
        """Does its text contain this one, in any case? The needle is folded and in lower case."""
        return not needle or self._in(self._starts[index], self._stops[index], needle)

    def shadow_contains(self, host: int, needle: str) -> bool:
        top = self._tree.shadows.get(host)
        return top is not None and (not needle or self._in(self._starts[top[0]], self._stops[host], needle))

    def shadow_is(self, host: int, text: str) -> bool:
        top = self._tree.shadows.get(host)
        return top is not None and self.text[self._starts[top[0]] : self._stops[host]].strip(" ") == text

    def immediate(self, element: Element) -> list[str]:
        """Its own texts, each between two elements."""
        if is_button_input(element):
            return [fold_js(element.get("value"))]
        runs: list[tuple[int, str]] = []
        is_cut = True
        for before, piece in element.pieces:
            if piece in (OTHER_ELEMENT, LINE_BREAK):
                is_cut = True
            elif is_cut or runs[-1][0] != before:
                runs.append((before, piece))
                is_cut = False
            else:
                runs[-1] = (before, runs[-1][1] + piece)
        return [fold_js(text) for _, text in runs]


def is_button_input(element: Element) -> bool:
    return element.tag == "input" and element.get("type").lower() in BUTTON_INPUTS


class _Places:
    """Where each element stands among its siblings, with those that are not recorded counted."""

    def __init__(self, tree: _Tree) -> None:
        count = len(tree.elements)
        self.position = [1] * count
        self.following = [0] * count
        self.previous = [-1] * count  # the recorded sibling before it
        self._hosts = tree.shadows.keys()
        self._tree = tree
        for element in tree.elements:
            if tree.kids[element.index]:
                self._count(tree.kids[element.index], _skipped(element))
            if element.index in tree.shadows:
                self._count(tree.shadows[element.index], [])

    def _count(self, kids: list[int], skipped: list[int]) -> None:
        total = len(kids) + len(skipped)
        for number, kid in enumerate(kids):
            self.position[kid] = number + 1 + bisect_right(skipped, number)
            self.following[kid] = total - self.position[kid]
            self.previous[kid] = kids[number - 1] if number else -1

    def check(self, index: int) -> None:
        """A shadow root's own style and script elements are not recorded: places beside them are unknown."""
        if self._tree.elements[index].edge == "shadow":
            raise Unresolvable("the snapshot does not tell the place of an element directly in a shadow root")

    def siblings(self, index: int) -> Sequence[int]:
        parent = self._tree.parent(index)
        if parent < 0:
            return (index,)
        return self._tree.shadows[parent] if self._tree.elements[index].edge == "shadow" else self._tree.kids[parent]


def _skipped(element: Element) -> list[int]:
    """For each child that is not recorded, how many recorded ones stand before it."""
    return [before for before, piece in element.pieces if piece in (OTHER_ELEMENT, LINE_BREAK)]


# --- finders ----------------------------------------------------------------------------------------------------


class _Finder:
    """Answers the keys of a Locator."""

    def __init__(self, tree: _Tree, test_id_attribute: str) -> None:
        self.tree = tree
        self.test_id_attributes = test_id_attribute.split(",")

    def find(self, locator: Locator, scopes: list[_Scope]) -> list[int]:
        for frame in locator.frame:
            scopes = self._enter(self.find(frame, scopes))
        if locator.within is not None:
            scopes = [_Scope(at, False) for at in self.find(locator.within, scopes)]
        found: list[int] | None = None
        for key, value in locator.finders():
            hits = self._hits(key, value, locator, scopes)
            found = hits if found is None else [at for at in found if at in set(hits)]
        found = found or []
        found = self._kept(locator, found)
        return found if locator.nth is None else _nth(found, locator.nth)

    def _kept(self, locator: Locator, found: list[int]) -> list[int]:
        for text, is_wanted in ((locator.has_text, True), (locator.has_not_text, False)):
            if text is not None and found:
                has = self._text_test(text, locator.regex)
                found = [at for at in found if has(at) == is_wanted]
        for inner, is_wanted in ((locator.has, True), (locator.has_not, False)):
            if inner is not None:
                found = [at for at in found if bool(self.find(inner, [_Scope(at, False)])) == is_wanted]
        if locator.visible is not None:
            found = [at for at in found if self.tree.elements[at].visible == locator.visible]
        return found

    def _text_test(self, text: str, is_pattern: bool) -> Callable[[int], bool]:
        if is_pattern:
            return self.tree.raw_texts.search(text)
        needle = _lower(fold_js(text))
        return lambda at: self.tree.texts.contains(at, needle)

    def _enter(self, frames: list[int]) -> list[_Scope]:
        if len(frames) != 1:
            return []
        (frame,) = frames
        if self.tree.elements[frame].tag not in ("iframe", "frame"):
            return []
        if frame not in self.tree.frames:
            raise Unresolvable("the snapshot does not hold what is in the frame: it is of another origin")
        return [_Scope(self.tree.frames[frame], True)]

    def _hits(self, key: str, value: str, locator: Locator, scopes: list[_Scope]) -> list[int]:
        if key == "css":
            return self.chain(value, scopes)
        if key == "xpath":
            return self.chain(value if value.startswith("xpath=") else f"xpath={value}", scopes)
        if key == "text" and locator.regex:
            return self._by_pattern(value, scopes)
        if key == "text":
            return self._by_text(value, locator.exact, scopes)
        return _union(scopes, lambda scope: filter(self._test(key, value, locator), self.tree.order(scope)))

    def _test(self, key: str, value: str, locator: Locator) -> Callable[[int], bool]:
        if locator.regex:
            return self._pattern_test(key, value, locator)
        if key == "role":
            return self._role_test(value, locator.name, locator.exact)
        if key == "label":
            return self._label_test(value, locator.exact)
        if key == "test_id":
            return lambda at: any(self._attribute(at, name) == value for name in self.test_id_attributes)
        return self._attribute_test(key, value, locator.exact)

    def _attribute(self, index: int, name: str) -> str | None:
        return self.tree.elements[index].attributes.get(name)

    def _role_test(self, role: str, name: str | None, exact: bool) -> Callable[[int], bool]:
        role = role.strip().lower()
        if role in ("none", "presentation"):
            raise Unresolvable(f"the snapshot does not tell which elements have the role '{role}'")
        wanted = fold_js(name or "")
        upper = wanted.upper()

        def test(index: int) -> bool:
            element = self.tree.elements[index]
            if element.role != role or not element.rendered:
                return False
            if name is None:
                return True
            own = fold_js(element.name)
            return own == wanted if exact else upper in own.upper()

        return test

    def _label_test(self, label: str, exact: bool) -> Callable[[int], bool]:
        wanted = fold_js(label)
        lower = _lower(wanted)

        def test(index: int) -> bool:
            texts = self.tree.label_texts(index)
            return wanted in texts if exact else any(lower in _lower(text) for text in texts)

        return test

    def _attribute_test(self, name: str, value: str, exact: bool) -> Callable[[int], bool]:
        lower = _lower(value)

        def test(index: int) -> bool:
            own = self._attribute(index, name)
            return own is not None and (own == value if exact else lower in _lower(own))

        return test

    def _pattern_test(self, key: str, value: str, locator: Locator) -> Callable[[int], bool]:
        if key == "role":
            by_role = self._role_test(value, None, False)
            if locator.name is None:
                return by_role
            matches = _searcher(locator.name)
            return lambda at: by_role(at) and matches(fold_js(self.tree.elements[at].name))
        matches = _searcher(value)
        if key == "label":
            # What is compared is a label's text as it stands in the page, and only the folded one is at hand.
            if _is_about_blanks(value):
                raise Unresolvable(f"a snapshot does not hold labels as {value!r} asks for them")
            return lambda at: any(map(matches, self.tree.label_texts(at)))
        names = self.test_id_attributes if key == "test_id" else [key]
        return lambda at: any(own is not None and matches(own) for own in (self._attribute(at, n) for n in names))

    def _by_pattern(self, text: str, scopes: list[_Scope]) -> list[int]:
        matches = self.tree.raw_texts.search(text)

        def is_smallest(at: int) -> bool:
            return (
                matches(at)
                and not any(matches(kid) for kid in self.tree.kids[at])
                and not self.tree.raw_texts.shadow_has(at, text)
            )

        return _union(scopes, lambda scope: filter(is_smallest, self._with_root(scope)))

    def _by_text(self, text: str, exact: bool, scopes: list[_Scope]) -> list[int]:
        wanted = fold_js(text)
        matches = _self_is(self.tree, wanted) if exact else _self_contains(self.tree, _lower(wanted))
        return _union(scopes, lambda scope: filter(matches, self._with_root(scope)))

    def _with_root(self, scope: _Scope) -> list[int]:
        # The text engine alone also looks at the scope itself.
        return self.tree.order(scope) if scope.whole else [scope.root, *self.tree.order(scope)]

    # --- Playwright's selector chains ---

    def chain(self, selector: str, scopes: list[_Scope]) -> list[int]:
        found: list[int] = []
        for number, (engine, body) in enumerate(_chain(selector)):
            if number:
                scopes = [_Scope(at, False) for at in found]
            found = self._part(engine, body, found, scopes, first=not number)
        return found

    def _part(self, engine: str, body: str, found: list[int], scopes: list[_Scope], *, first: bool) -> list[int]:
        match engine:
            case "nth" if not first:
                return _nth(found, _whole_number(body))
            case "visible" if not first:
                return [at for at in found if self.tree.elements[at].visible == (body.strip() == "true")]
            case "css":
                return _union(scopes, _Css(self.tree, _read_css(body)).query)
            case "xpath":
                return _union(scopes, lambda scope: self._by_xpath(body, scope))
            case "text":
                return self._by_text_selector(body, scopes)
            case "role":
                return self._by_role_selector(body, scopes)
            case "id" | "data-testid" | "data-test-id" | "data-test":
                return _union(
                    scopes, lambda s: [at for at in self.tree.order(s) if self._attribute(at, engine) == body]
                )
        raise Unresolvable(f"a snapshot cannot answer '{engine}={body}'")

    def _by_text_selector(self, body: str, scopes: list[_Scope]) -> list[int]:
        if len(body) > 1 and body[0] == "/" and body.rfind("/") > 0:
            raise Unresolvable(f"a snapshot is not searched with regular expressions: text={body}")
        if len(body) > 1 and body[0] in "\"'" and body[-1] == body[0]:
            wanted = fold_js(re.sub(r"\\(.)", r"\1", body[1:-1]))
            return _union(scopes, lambda scope: filter(_owns(self.tree, wanted), self._with_root(scope)))
        return self._by_text(body, False, scopes)

    def _by_role_selector(self, body: str, scopes: list[_Scope]) -> list[int]:
        role, conditions = _read_role(body)
        tests = [self._role_test(role, None, False)]
        tests += [self._role_condition(condition) for condition in conditions]
        return _union(scopes, lambda s: [at for at in self.tree.order(s) if all(test(at) for test in tests)])

    def _role_condition(self, condition: _Attribute) -> Callable[[int], bool]:
        elements = self.tree.elements
        if condition.name == "name":
            return lambda at: condition.accepts(fold_js(elements[at].name), fold_js(condition.value))
        if condition.name == "level" and condition.operator == "=" and condition.value.isdigit():
            return lambda at: _level(elements[at]) == int(condition.value)
        if condition.name in ("pressed", "expanded", "selected") and condition.value in ("", "true", "false"):
            wanted = condition.value != "false"
            return lambda at: (self._attribute(at, f"aria-{condition.name}") == "true") == wanted
        raise Unresolvable(f"a snapshot cannot answer the role attribute '{condition.name}'")

    def _by_xpath(self, expression: str, scope: _Scope) -> list[int]:
        if self.tree.host[scope.root] >= 0:
            raise Unresolvable("XPath in a shadow root is not answered from a snapshot")
        return self.tree.xml(self.tree.document[scope.root]).find(expression, scope)


def _union(scopes: Iterable[_Scope], query: Callable[[_Scope], Iterable[int]]) -> list[int]:
    found: dict[int, None] = {}
    for scope in scopes:
        found.update(dict.fromkeys(query(scope)))
    return list(found)


def _nth(found: list[int], nth: int) -> list[int]:
    if nth == -1:
        return found[-1:]
    return [] if nth < -len(found) else found[nth : nth + 1]


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadLocator(f"'nth={text}' needs a whole number") from None


def _level(element: Element) -> int:
    if re.fullmatch("h[1-6]", element.tag):
        return int(element.tag[1])
    said = element.get("aria-level")
    return int(said) if said.isascii() and said.isdigit() else 0


def _self_contains(tree: _Tree, needle: str) -> Callable[[int], bool]:
    """Is this the smallest element with the text?"""
    texts = tree.texts

    def test(index: int) -> bool:
        return (
            texts.contains(index, needle)
            and not any(texts.contains(kid, needle) for kid in tree.kids[index])
            and not texts.shadow_contains(index, needle)
        )

    return test


def _self_is(tree: _Tree, wanted: str) -> Callable[[int], bool]:
    texts = tree.texts
    lower = _lower(wanted)

    def test(index: int) -> bool:
        return (
            texts.contains(index, lower)
            and texts.whole(index) == wanted
            and not any(texts.contains(kid, lower) and texts.whole(kid) == wanted for kid in tree.kids[index])
            and not texts.shadow_is(index, wanted)
        )

    return test


def _owns(tree: _Tree, wanted: str) -> Callable[[int], bool]:
    """Is one of its own text nodes exactly this?"""
    lower = _lower(wanted)

    def test(index: int) -> bool:
        if not tree.texts.contains(index, lower):
            return False
        own = tree.texts.immediate(tree.elements[index])
        return wanted in own or (not wanted and not own)

    return test


# --- reading Playwright's selector syntax -------------------------------------------------------------------------


def _chain(selector: str) -> list[tuple[str, str]]:
    """`css=.row >> text=Save` as [("css", ".row"), ("text", "Save")]."""
    return [_engine(part.strip()) for part in _split(selector)]


def _split(selector: str) -> Iterator[str]:
    start = at = 0
    quote = ""
    while at < len(selector):
        char = selector[at]
        if char == "\\":
            at += 2
        elif quote:
            quote = "" if char == quote else quote
            at += 1
        elif char in "\"'`" and not re.match(r"\s*text\s*=.", selector[start:at], re.DOTALL):
            quote = char
            at += 1
        elif selector.startswith(">>", at):
            yield selector[start:at]
            start = at = at + 2
        else:
            at += 1
    yield selector[start:]


def _engine(part: str) -> tuple[str, str]:
    name, equals, body = part.partition("=")
    if equals and re.fullmatch(r"[a-zA-Z_0-9\-+:*]+", name.strip()):
        return name.strip(), body
    if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'":
        return "text", part
    if re.match(r"\(*//", part) or part.startswith(".."):
        return "xpath", part
    return "css", part


@dataclass(frozen=True, slots=True, eq=False)
class _Attribute:
    name: str
    operator: str = ""  # "" for "has it"
    value: str = ""
    caseless: bool = False

    def accepts(self, own: str, wanted: str | None = None) -> bool:
        wanted = self.value if wanted is None else wanted
        if self.caseless:
            own, wanted = own.lower(), wanted.lower()
        match self.operator:
            case "":
                return True
            case "=":
                return own == wanted
            case "~=":
                return bool(wanted) and wanted in own.split()
            case "|=":
                return own == wanted or own.startswith(f"{wanted}-")
            case "^=":
                return bool(wanted) and own.startswith(wanted)
            case "$=":
                return bool(wanted) and own.endswith(wanted)
        return bool(wanted) and wanted in own


_ROLE_ATTRIBUTE: Final = re.compile(
    r"""\[\s*([\w-]+)\s*(?:([*^$|~]?=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|/[^\]]*|[\w+.-]*)\s*([iIsS]?)\s*)?\]\s*"""
)


def _read_role(body: str) -> tuple[str, list[_Attribute]]:
    """`button[name="Save"i]`: the role and its conditions."""
    head = re.match(r"\s*([\w-]+)\s*", body)
    if not head:
        raise BadLocator(f"'role={body}' names no role")
    at, conditions = head.end(), []
    while at < len(body):
        found = _ROLE_ATTRIBUTE.match(body, at)
        if not found:
            raise BadLocator(f"'role={body}' cannot be read from '{body[at:]}' on")
        name, operator, value, flag = found.groups(default="")
        if value.startswith("/"):
            raise Unresolvable("a snapshot is not searched with regular expressions")
        if value[:1] in ("'", '"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        conditions.append(_Attribute(name, operator, value, flag in ("i", "I")))
        at = found.end()
    return head.group(1), conditions


# --- CSS: reading -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Compound:
    """What stands between two combinators."""

    tag: str = ""  # "" for any
    attributes: tuple[_Attribute, ...] = ()
    pseudos: tuple[tuple[str, Any], ...] = ()  # name, argument: _Selectors, str, (_Selectors, int) or None

    @property
    def is_universal(self) -> bool:
        return not (self.tag or self.attributes or self.pseudos)

    @property
    def is_scope(self) -> bool:
        return not (self.tag or self.attributes) and self.pseudos == (("scope", None),)

    def wants(self, attribute: str) -> str | None:
        """The id or class it asks for."""
        operator = "=" if attribute == "id" else "~="
        same = (one for one in self.attributes if one.name == attribute and one.operator == operator)
        return next((one.value for one in same if not one.caseless), None)


@dataclass(frozen=True, slots=True, eq=False)
class _Complex:
    """Compounds, each with the combinator before it."""

    steps: tuple[tuple[str, _Compound], ...]

    @property
    def names_scope(self) -> bool:
        return any(name == "scope" for _, compound in self.steps for name, _ in compound.pseudos)


_Selectors = tuple[_Complex, ...]
_SCOPE: Final = _Compound(pseudos=(("scope", None),))

_SELECTOR_FUNCTIONS: Final = frozenset({"not", "is", "where", "has"})
_TEXT_FUNCTIONS: Final = frozenset({"text", "text-is", "has-text"})
_NTH: Final = re.compile(r"([+-]?\d*)n\s*(?:([+-])\s*(\d+))?|([+-]?\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Place:
    """The an+b of :nth-child and its kin, and the selector after "of"."""

    step: int
    offset: int
    of: _Selectors = ()

    def accepts(self, position: int) -> bool:
        if self.step == 0:
            return position == self.offset
        return (position - self.offset) % self.step == 0 and (position - self.offset) // self.step >= 0


_FIRST: Final = _Place(0, 1)
_PLACES: Final = frozenset(
    "nth-child nth-last-child nth-of-type nth-last-of-type first-child last-child only-child first-of-type "
    "last-of-type only-of-type".split()
)


def _read_nth(name: str, argument: str) -> _Place:
    formula, _, rest = argument.partition(" of ")
    of = _read_css(rest) if rest.strip() else ()
    formula = {"odd": "2n+1", "even": "2n"}.get(formula.strip().lower(), formula.strip())
    found = _NTH.fullmatch(formula)
    if not found:
        raise BadLocator(f"':{name}({argument})' cannot be read")
    factor, sign, number, alone = found.groups()
    if alone is not None:
        return _Place(0, int(alone), of)
    step = int(f"{factor}1") if factor in ("", "+", "-") else int(factor)
    return _Place(step, int(f"{sign or ''}{number or 0}"), of)


def _read_css(source: str) -> _Selectors:
    """Raises BadLocator if no browser could read it, Unresolvable for what this module does not know."""
    return _CssReader(source).read()


class _Token(NamedTuple):
    type: str  # "S" for blanks, "IDENT", "HASH", "STRING", "NUMBER", "DELIM" for one character, "EOF"
    value: str
    pos: int

    def is_delim(self, *values: str) -> bool:
        return self.type == "DELIM" and self.value in values


_CSS_CHAR: Final = r"(?:[\w-]|[^\x00-\x7f]|\\(?:[0-9a-fA-F]{1,6}\s?|[^\n\r\f0-9a-fA-F]))"
_CSS_TOKENS: Final = re.compile(
    rf"""(?P<S>\s+)|(?P<COMMENT>/\*.*?(?:\*/|\Z))|(?P<NUMBER>[+-]?(?:\d*\.)?\d+)|(?P<IDENT>(?:--|-?(?!\d|-){_CSS_CHAR})
    {_CSS_CHAR}*)|\#(?P<HASH>{_CSS_CHAR}+)|"(?P<STRING>(?:[^"\\\n]|\\.)*)"|'(?P<SINGLE>(?:[^'\\\n]|\\.)*)'|(?P<DELIM>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|\s)?|\n|(.))", re.DOTALL)


def _tokens(source: str) -> Iterator[_Token]:
    for found in _CSS_TOKENS.finditer(source):
        kind, value = str(found.lastgroup), found.group(str(found.lastgroup))
        if kind == "DELIM" and value in ('"', "'"):
            raise BadLocator(f"the CSS selector {source!r} cannot be read: a string in it does not end")
        if kind in ("IDENT", "HASH", "STRING", "SINGLE"):
            value = _CSS_ESCAPE.sub(_unescaped, value)
        if kind != "COMMENT":
            yield _Token("STRING" if kind == "SINGLE" else kind, value, found.start())
    yield _Token("EOF", "", len(source))


def _unescaped(found: re.Match[str]) -> str:
    code, char = found.groups()
    if code is None:
        return char or ""
    number = int(code, 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


class _CssReader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = list(_tokens(source))
        self.at = 0

    def read(self) -> _Selectors:
        selectors = self._list()
        if self._now.type != "EOF":
            raise self._unexpected()
        return selectors

    @property
    def _now(self) -> _Token:
        return self.tokens[self.at]

    def _unexpected(self) -> BadLocator:
        what = "its end" if self._now.type == "EOF" else repr(self._now.value)
        return BadLocator(f"the CSS selector {self.source!r} cannot be read: {what} is not expected there")

    def _skip_blanks(self) -> bool:
        before = self.at
        while self._now.type == "S":
            self.at += 1
        return self.at > before

    def _take(self, *delimiters: str) -> str:
        if not self._now.is_delim(*delimiters):
            return ""
        self.at += 1
        return self.tokens[self.at - 1].value

    def _expect(self, delimiter: str) -> None:
        if not self._take(delimiter):
            raise self._unexpected()

    def _text(self, kind: str) -> str:
        if self._now.type != kind:
            raise self._unexpected()
        self.at += 1
        return self.tokens[self.at - 1].value

    def _list(self) -> _Selectors:
        selectors = [self._complex()]
        while self._take(","):
            selectors.append(self._complex())
        return tuple(selectors)

    def _complex(self) -> _Complex:
        self._skip_blanks()
        steps: list[tuple[str, _Compound]] = []
        combinator = self._take(">", "+", "~")
        if combinator:  # a relative selector is relative to the scope
            steps.append(("", _SCOPE))
            self._skip_blanks()
        steps.append((combinator, self._compound()))
        while True:
            is_blank = self._skip_blanks()
            combinator = self._take(">", "+", "~")
            if not combinator and (not is_blank or self._now.type == "EOF" or self._now.is_delim(",", ")")):
                break
            self._skip_blanks()
            steps.append((combinator or " ", self._compound()))
        if len(steps) > 100:
            raise Unresolvable("a CSS selector of more than a hundred steps is not read")
        return _Complex(tuple(steps))

    def _compound(self) -> _Compound:
        tag, attributes, pseudos = "", list[_Attribute](), list[tuple[str, Any]]()
        start = self.at
        if self._now.type == "IDENT":
            tag = self._text("IDENT").lower()
        else:
            self._take("*")
        if self._now.is_delim("|"):
            raise Unresolvable("namespaces in CSS are not answered from a snapshot")
        while True:
            if self._now.type == "HASH":
                attributes.append(_Attribute("id", "=", self._id()))
            elif self._take("."):
                attributes.append(_Attribute("class", "~=", self._text("IDENT")))
            elif self._take("["):
                attributes.append(self._attribute())
            elif self._take(":"):
                pseudos.append(self._pseudo())
            else:
                break
        if self.at == start:
            raise self._unexpected()
        return _Compound(tag, tuple(attributes), tuple(pseudos))

    def _id(self) -> str:
        if re.match(r"#-?\d", self.source[self._now.pos :]):
            raise BadLocator(f"the CSS selector {self.source!r} cannot be read: an id's first digit must be escaped")
        return self._text("HASH")

    def _attribute(self) -> _Attribute:
        self._skip_blanks()
        name = self._text("IDENT").lower()
        self._skip_blanks()
        if self._take("]"):
            return _Attribute(name)
        operator = self._take("=", "~", "|", "^", "$", "*")
        if operator != "=":
            self._expect("=")
            operator += "="
        self._skip_blanks()
        value = self._text("STRING" if self._now.type == "STRING" else "IDENT")
        self._skip_blanks()
        flag = self._text("IDENT").lower() if self._now.type == "IDENT" else ""
        if flag not in ("", "i", "s"):
            raise self._unexpected()
        self._skip_blanks()
        self._expect("]")
        return _Attribute(name, operator, value, flag == "i" or (not flag and name in CASELESS_ATTRIBUTES))

    def _pseudo(self) -> tuple[str, Any]:
        if self._take(":"):
            raise Unresolvable("pseudo-elements are no elements of a snapshot")
        name = self._text("IDENT").lower()
        if not self._take("("):
            return name, None
        if name in _SELECTOR_FUNCTIONS:
            argument: Any = self._list()
        elif name == "nth-match":
            argument = self._nth_match()
        elif name in _TEXT_FUNCTIONS:
            self._skip_blanks()
            argument = self._text("STRING")
        else:
            raw = self._raw()
            return name, _read_nth(name, raw) if name in _PLACES else raw
        self._skip_blanks()
        self._expect(")")
        return name, argument

    def _nth_match(self) -> tuple[_Selectors, int]:
        selectors: list[_Complex] = []
        while True:
            self._skip_blanks()
            if selectors and self._now.type == "NUMBER":
                return tuple(selectors), _whole_number(self._text("NUMBER"))
            selectors.append(self._complex())
            self._expect(",")

    def _raw(self) -> str:
        """The text up to the bracket that closes this one."""
        start, depth = self._now.pos, 1
        while depth:
            if self._now.type == "EOF":
                raise self._unexpected()
            depth += self._now.is_delim("(") - self._now.is_delim(")")
            self.at += 1
        return self.source[start : self.tokens[self.at - 1].pos].strip()


# --- CSS: answering -----------------------------------------------------------------------------------------------


class _Context(NamedTuple):
    scope: _Scope
    origin: _Scope | None = None  # what :scope means, if that is not the scope

    @property
    def meant(self) -> int:
        return (self.origin or self.scope).root


class _Css:
    """One list of selectors against one page.

    Each selector is answered from left to right with sets of elements: a step costs the size of the page however deep
    it is, where walking up from every candidate would cost its depth as well.
    """

    def __init__(self, tree: _Tree, selectors: _Selectors) -> None:
        self.tree = tree
        self.selectors = selectors
        self._known: dict[tuple[int, _Context], set[int]] = {}
        self._ranks: dict[tuple[int, str, int, _Context], dict[int, tuple[int, int]]] = {}

    def query(self, scope: _Scope) -> list[int]:
        context = _Context(scope)
        found: set[int] = set().union(*(self._select(one, context) for one in self.selectors))
        if len(found) < 2 or not self.tree.shadows:
            return sorted(found)
        return [at for at in self.tree.order(scope) if at in found]

    def _select(self, selector: _Complex, context: _Context) -> set[int]:
        if selector.names_scope:
            context = self._around(context)
        key = (id(selector), context)
        if key not in self._known:
            found: set[int] = set()
            for number, (combinator, compound) in enumerate(selector.steps):
                if compound.is_scope:
                    candidates: Iterable[int] = [context.meant]
                else:
                    candidates = self._candidates(compound, context.scope)
                if number:
                    candidates = self._related(combinator, candidates, found, selector.steps[number - 1][1], number)
                found = {at for at in candidates if self._fits(compound, at, context)}
            self._known[key] = found
        return self._known[key]

    def _around(self, context: _Context) -> _Context:
        """A selector that names :scope may also meet the scope itself and its siblings (but on the root: no parent)."""
        parent = -1 if context.scope.whole else self.tree.parent(context.scope.root)
        return context if parent < 0 else _Context(_Scope(parent, False), context.origin or context.scope)

    def _candidates(self, compound: _Compound, scope: _Scope) -> Iterable[int]:
        tag, document = compound.tag, self.tree.document[scope.root]
        if tag in UNRECORDED_TAGS or (tag in SVG_INSIDES and self.tree.having(document, "tag", "svg")):
            raise Unresolvable(f"the snapshot does not hold '{tag}' elements")
        for key in ("id", "class"):
            value = compound.wants(key)
            if value is not None:
                return self._in_scope(self.tree.having(document, key, value), scope)
        if tag:
            return self._in_scope(self.tree.having(document, "tag", tag), scope)
        return self.tree.order(scope)

    def _in_scope(self, found: list[int], scope: _Scope) -> list[int]:
        if scope.whole:
            return found
        inside = found[bisect_right(found, scope.root) : bisect_left(found, self.tree.ends[scope.root])]
        return [at for at in inside if self.tree.holds(scope, at)]

    def _related(
        self, combinator: str, candidates: Iterable[int], found: set[int], before: _Compound, number: int
    ) -> Iterable[int]:
        match combinator:
            case " ":
                return self._below(candidates, found)
            case ">":
                return [at for at in candidates if self.tree.parent(at) in found]
            case "+":
                return [at for at in candidates if self._follows(at, found, before.is_universal and number == 1)]
        return self._after(candidates, found)

    def _below(self, candidates: Iterable[int], found: set[int]) -> list[int]:
        starts = sorted(found)
        furthest, ends = 0, list[int]()
        for start in starts:
            furthest = max(furthest, self.tree.ends[start])
            ends.append(furthest)
        # Subtrees are nested or apart, so one of those that begin before and end after it is around it.
        return [at for at in candidates if (place := bisect_left(starts, at)) and ends[place - 1] > at]

    def _follows(self, index: int, found: set[int] | None, anything: bool = False) -> bool:
        """Stands it next to one of `found` (None: to a recorded element), or to `anything`, recorded or not?"""
        places = self.tree.places
        before = places.previous[index]
        places.check(index)
        is_next = before >= 0 and places.position[before] + 1 == places.position[index]
        if not is_next:
            return anything and places.position[index] > 1
        return found is None or before in found

    def _after(self, candidates: Iterable[int], found: set[int]) -> list[int]:
        first: dict[tuple[int, str], int] = {}
        for at in found:
            key = (self.tree.parent(at), self.tree.elements[at].edge)
            first[key] = min(at, first.get(key, at))
        return [at for at in candidates if first.get((self.tree.parent(at), self.tree.elements[at].edge), at) < at]

    def _fits(self, compound: _Compound, index: int, context: _Context) -> bool:
        if not context.scope.whole and index == context.scope.root:
            return False
        element = self.tree.elements[index]
        if compound.tag and element.tag != compound.tag:
            return False
        return all(self._has(element, one) for one in compound.attributes) and all(
            self._is(name, argument, index, context) for name, argument in compound.pseudos
        )

    def _has(self, element: Element, attribute: _Attribute) -> bool:
        if UNRECORDED_ATTRIBUTES.match(attribute.name):
            raise Unresolvable(f"the snapshot does not hold the attribute '{attribute.name}'")
        own = element.attributes.get(attribute.name)
        if own is None or (attribute.name == "xmlns" and element.tag in ("svg", "math")):
            return False  # there it is no attribute to CSS but the namespace itself
        if len(own) == LONGEST_TEXT and attribute.operator not in ("", "^=") and attribute.name != "class":
            return _cut_value(attribute, own)
        return attribute.accepts(own)

    def _is(self, name: str, argument: Any, index: int, context: _Context) -> bool:
        match name:
            case "is" | "where" | "matches":
                return any(index in self._select(one, context) for one in argument)
            case "not":
                return not any(index in self._select(one, context) for one in argument)
            case "has":
                return any(self._holds(one, index, context) for one in argument)
            case "scope":
                return index == context.meant
            case "nth-match":
                return self._is_nth_match(argument, index, context)
            case "text" | "text-is" | "has-text":
                return self._has_text(name, argument, index)
        if name in _PLACES and (argument is not None) == name.startswith("nth-"):
            return self._is_at(name, argument or _FIRST, index, context)
        state = _STATES.get(name)
        if state is None or argument is not None:
            raise Unresolvable(f"a snapshot cannot answer ':{name}'")
        return state(self.tree, index)

    def _holds(self, selector: _Complex, index: int, context: _Context) -> bool:
        """Is there something the selector means inside this element?"""
        # Inside a relative selector Playwright takes :scope for the outer one's, so that is not what it seems.
        is_plain = context.origin is None or not selector.names_scope
        if is_plain and self._is_free(selector):
            return index in self._holders(selector, self.tree.document[index])
        return bool(self._select(selector, _Context(_Scope(index, False), context.origin)))

    def _is_free(self, selector: _Complex) -> bool:
        """Does it mean the same whatever the scope is?"""
        start = 1 if selector.steps[0][1].is_scope else 0
        pseudos = [pseudo for _, compound in selector.steps[start:] for pseudo in compound.pseudos]
        return not any(name in ("scope", "nth-match") or _has_steps(argument) for name, argument in pseudos)

    def _holders(self, selector: _Complex, document: int) -> set[int]:
        """Every element that holds it: from right to left, each step from those that hold the rest."""
        whole = _Scope(document, True)
        key = (~id(selector), _Context(whole))
        if key not in self._known:
            found: set[int] = set()
            steps = selector.steps if selector.steps[0][1].is_scope else (("", _SCOPE), *_after_blank(selector.steps))
            for number in range(len(steps) - 1, 0, -1):
                combinator, compound = steps[number]
                candidates = self._candidates(compound, whole)
                is_last = number == len(steps) - 1
                fitting = {at for at in candidates if self._fits(compound, at, _Context(whole))}
                found = self._leading(combinator, fitting if is_last else fitting & found)
            self._known[key] = found
        return self._known[key]

    def _leading(self, combinator: str, found: set[int]) -> set[int]:
        """The elements from which the combinator leads to one of these."""
        match combinator:
            case " ":
                around: set[int] = set()
                for at in found:
                    outer = self.tree.parent(at)
                    while outer >= 0 and outer not in around:
                        around.add(outer)
                        outer = self.tree.parent(outer)
                return around
            case ">":
                return {self.tree.parent(at) for at in found}
            case "+":
                return {self.tree.places.previous[at] for at in found if self._follows(at, None)}
        return {before for at in found for before in self.tree.places.siblings(at) if before < at}

    def _is_nth_match(self, argument: tuple[_Selectors, int], index: int, context: _Context) -> bool:
        selectors, number = argument
        found = set[int]().union(*(self._select(one, context) for one in selectors))
        ordered = [at for at in self.tree.order(context.scope) if at in found]
        return 0 < number <= len(ordered) and ordered[number - 1] == index

    def _has_text(self, name: str, text: str, index: int) -> bool:
        wanted = fold_js(text)
        if name == "has-text":
            return self.tree.texts.contains(index, _lower(wanted))
        return (_self_contains(self.tree, _lower(wanted)) if name == "text" else _owns(self.tree, wanted))(index)

    def _is_at(self, name: str, place: _Place, index: int, context: _Context) -> bool:
        if name.endswith("-of-type") or place.of:
            before, after = self._counted(index, name.endswith("-of-type"), place.of, context)
        else:
            self.tree.places.check(index)
            before, after = self.tree.places.position[index] - 1, self.tree.places.following[index]
        if before < 0:
            return False
        if name.startswith("only-"):
            return before == 0 and after == 0
        return place.accepts((after if "last-" in name else before) + 1)

    def _counted(self, index: int, of_type: bool, of: _Selectors, context: _Context) -> tuple[int, int]:
        """How many siblings that count stand before and after it; (-1, -1) if it does not count itself."""
        siblings = self.tree.places.siblings(index)
        tag = self.tree.elements[index].tag if of_type else ""
        key = (siblings[0], tag, id(of), context)
        ranks = self._ranks.get(key)
        if ranks is None:
            counted = [at for at in siblings if self._counts(at, tag, of, context)]
            last = len(counted) - 1
            ranks = self._ranks[key] = {at: (number, last - number) for number, at in enumerate(counted)}
        return ranks.get(index, (-1, -1))

    def _counts(self, index: int, tag: str, of: _Selectors, context: _Context) -> bool:
        if tag:
            return self.tree.elements[index].tag == tag
        return any(index in self._select(one, context) for one in of)


def _has_steps(argument: object) -> bool:
    return isinstance(argument, tuple) and any(isinstance(one, _Complex) and len(one.steps) > 1 for one in argument)


def _after_blank(steps: tuple[tuple[str, _Compound], ...]) -> tuple[tuple[str, _Compound], ...]:
    return ((" ", steps[0][1]), *steps[1:])


def _cut_value(attribute: _Attribute, own: str) -> bool:
    """A value of the greatest length that is kept may go on: only a plain no is certain."""
    if attribute.operator == "=" and len(attribute.value) < LONGEST_TEXT:
        return False
    if attribute.operator == "*=" and attribute.accepts(own):
        return True
    if attribute.operator == "=" and not attribute.value.startswith(own):
        return False
    raise Unresolvable(f"the snapshot holds only the beginning of a long attribute '{attribute.name}'")


def _is_disabled(tree: _Tree, index: int) -> bool:
    element = tree.elements[index]
    if element.tag not in DISABLEABLE or element.enabled:
        return False
    # What is recorded is "disabled or aria-disabled", and CSS knows only the first.
    is_said = element.get("aria-disabled") == "true"
    return not is_said or "disabled" in element.attributes or _is_in_disabled(tree, index)


def _is_in_disabled(tree: _Tree, index: int) -> bool:
    """By a fieldset or optgroup around it; what stands in the fieldset's legend stays usable."""
    inner, at = index, tree.parent(index)
    is_option = tree.elements[index].tag == "option"
    while at >= 0:
        around = tree.elements[at]
        if "disabled" in around.attributes:
            if around.tag == "optgroup" and is_option:
                return True
            legend = next((kid for kid in tree.kids[at] if tree.elements[kid].tag == "legend"), None)
            if around.tag == "fieldset" and not is_option and inner != legend:
                return True
        inner, at = at, tree.parent(at)
    return False


def _is_checked(tree: _Tree, index: int) -> bool:
    element = tree.elements[index]
    if element.tag == "option":
        raise Unresolvable("the snapshot does not tell which option is selected")
    return element.tag == "input" and element.get("type").lower() in ("checkbox", "radio") and element.checked


def _is_link(tree: _Tree, index: int) -> bool:
    return tree.elements[index].tag in ("a", "area") and "href" in tree.elements[index].attributes


def _is_required(tree: _Tree, index: int) -> bool:
    element = tree.elements[index]
    return element.tag in ("input", "select", "textarea") and "required" in element.attributes


def _is_empty(tree: _Tree, index: int) -> bool:
    element = tree.elements[index]
    if element.tag == "svg":
        raise Unresolvable("the snapshot does not hold what is in an svg")
    return not element.pieces and not tree.kids[index]


_STATES: Final[dict[str, Callable[[_Tree, int], bool]]] = {
    "visible": lambda tree, index: tree.elements[index].visible,
    "checked": _is_checked,
    "disabled": _is_disabled,
    "enabled": lambda tree, index: tree.elements[index].tag in DISABLEABLE and not _is_disabled(tree, index),
    "empty": _is_empty,
    "root": lambda tree, index: tree.document[index] == index,
    "any-link": _is_link,
    "link": _is_link,
    "required": _is_required,
    "optional": lambda tree, index: (
        tree.elements[index].tag in ("input", "select", "textarea") and not _is_required(tree, index)
    ),
}


# --- XPath --------------------------------------------------------------------------------------------------------

_SVG: Final = "http://www.w3.org/2000/svg"
_MATHML: Final = "http://www.w3.org/1998/Math/MathML"
_XML_NAME: Final = re.compile(r"[A-Za-z_\u00c0-\ud7ff][\w.\-\u00b7]*\Z")
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XPATH_TOKENS: Final = re.compile(
    r"""("[^"]*"|'[^']*')|(@?)(?<![\w.$-])([A-Za-z_][\w.\-]*)(?=(\s*\(|\s*::)?)""", re.ASCII
)
_XPATH_NAME_TEST: Final = re.compile(r"""name\(\s*\)\s*=\s*['"]([^'"]*)['"]""")
_XPATH_UNKNOWN: Final = frozenset({"id", "lang", "comment", "processing-instruction"})
_XPATH_WORDS: Final = frozenset({"and", "or", "div", "mod"})


def _compile_xpath(expression: str) -> etree.XPath:
    try:
        return etree.XPath(expression, smart_strings=False)
    except (etree.XPathError, ValueError) as error:
        raise BadLocator(f"the XPath {expression!r} cannot be read: {error}") from error


def _html_xpath(expression: str) -> str:
    """With names in lower case, since in an HTML page DIV finds div; raises for what no snapshot holds."""

    def lower(found: re.Match[str]) -> str:
        text, at, name, call = found.groups()
        if text is not None:
            return str(text)
        if call and call.strip() == "(":
            if name in _XPATH_UNKNOWN:
                raise Unresolvable(f"a snapshot cannot answer the XPath function '{name}'")
            return str(found.group())
        if call or name in _XPATH_WORDS:
            return str(found.group())
        _check_xpath_name(name.lower(), bool(at))
        return f"{at}{name.lower()}"

    inside = SVG_INSIDES.intersection(_XPATH_NAME_TEST.findall(expression))
    if inside:
        raise Unresolvable(f"the snapshot does not hold '{min(inside)}' elements")
    return _XPATH_TOKENS.sub(lower, expression)


def _check_xpath_name(name: str, is_attribute: bool) -> None:
    if is_attribute and UNRECORDED_ATTRIBUTES.match(name):
        raise Unresolvable(f"the snapshot does not hold the attribute '{name}'")
    # In an HTML page a plain name never means an element of an svg, which has a namespace of its own.
    if not is_attribute and name in UNRECORDED_TAGS - {"br"}:
        raise Unresolvable(f"the snapshot does not hold '{name}' elements")


class _XmlDocument:
    """One document of a page for XPath: without shadow roots, which XPath does not enter, and without frames."""

    def __init__(self, tree: _Tree, root: int) -> None:
        self._tree = tree
        self._nodes: dict[int, Any] = {root: _new_node(tree.elements[root], None)}
        for index in tree._members[root, -1]:
            self._fill(tree.elements[index])
        self._indexes = {node: index for index, node in self._nodes.items()}

    def _fill(self, element: Element) -> None:
        node = self._nodes[element.index]
        for name, value in element.attributes.items():
            if _XML_NAME.match(name):
                node.set(name, _clean(value))
        kids = self._tree.kids[element.index]
        done = 0
        for before, piece in element.pieces:
            self._add(node, kids[done:before])
            done = max(done, before)
            _add_piece(node, piece)
        self._add(node, kids[done:])

    def _add(self, node: Any, kids: list[int]) -> None:
        for kid in kids:
            self._nodes[kid] = _new_node(self._tree.elements[kid], node)

    def find(self, expression: str, scope: _Scope) -> list[int]:
        find = _compile_xpath(_html_xpath(_rooted(expression, scope)))
        try:
            found = find(self._nodes[scope.root])
        except etree.XPathError as error:
            raise Unresolvable(f"the XPath {expression!r} cannot be answered: {error}") from error
        if not isinstance(found, list):
            raise Unresolvable(f"the XPath {expression!r} gives no elements but a value")
        return [self._indexes[one] for one in found if not isinstance(one, str | tuple) and one in self._indexes]


def _rooted(expression: str, scope: _Scope) -> str:
    """As Playwright does, `//a` means below the scope; and lxml, unlike a browser, starts at the root element."""
    if not scope.whole:
        return f".{expression}" if expression.startswith("/") else expression
    if expression.startswith("./"):
        return expression[1:]
    return f"/{expression}" if re.match(r"html\b", expression) else expression


def _new_node(element: Element, parent: Any) -> Any:
    """A name that XML does not take becomes "_": XPath could not ask for it either."""
    tag = element.tag if _XML_NAME.match(element.tag) else "_"
    space = {"svg": _SVG, "math": _MATHML}.get(tag, "")
    if not space and parent is not None and str(parent.tag).startswith(f"{{{_MATHML}}}"):
        space = _MATHML
    name = f"{{{space}}}{tag}" if space else tag
    names: Any = {None: space} if space else None
    return etree.Element(name, nsmap=names) if parent is None else etree.SubElement(parent, name, nsmap=names)


def _add_piece(node: Any, piece: str) -> None:
    if piece in (OTHER_ELEMENT, LINE_BREAK):
        etree.SubElement(node, "br" if piece else "_")
    elif len(node) == 0 and not node.text:
        node.text = _clean(piece)
    else:
        # A comment keeps two text nodes from becoming one: text()='Save' asks each of them.
        if len(node) == 0 or node[-1].tail:
            node.append(etree.Comment(""))
        node[-1].tail = _clean(piece)


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
