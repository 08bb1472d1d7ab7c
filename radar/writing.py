"""Which locator a repair gets: one that lasts, in the author's own form where that can live.

A repair is read, approved and kept by people, so it should look like something they would have written, and should
not break at the next release for a reason the page shows already: a generated id, a place in a list, today's number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from radar import locators
from radar.elements import Element, PageSnapshot, fold
from radar.errors import Unresolvable
from radar.locators import Locator
from radar.resolving import resolve

MOST: Final = 6  # locators to choose from are plenty
LONGEST: Final = 60  # characters of a text somebody will read in a diff
MOST_ANCESTORS: Final = 14
BROADEST_ROW: Final = 2000  # elements; what is larger is the page, not a row of it

# How much is against each form; smaller lasts longer. The order is measured on releases of eight real apps: what the
# server reads outlives everything, then come ids that people gave, then what people read; attributes for scripts, links
# and classes change more often, and paths die first.
COSTS: Final = {
    "test_id": 10,
    "field": 20,  # [name="email"] on a form field
    "id": 28,
    "role": 30,
    "placeholder": 31,
    "label": 33,
    "text": 38,
    "attribute": 40,
    "alt": 42,
    "title": 50,
    "href": 52,
    "data": 62,
    "class": 80,
    "bare_role": 85,
    "path": 160,
}
EXACT: Final = 1
SCOPED: Final = 40  # it now depends on two things
POSITION: Final = 300
COUNTED: Final = 90  # a position where the author used one
WEAK: Final = 200  # generated, or noise: worse than any path, better than a position
AUTHOR: Final = -100  # his form first, but never a weak one
ROW: Final = 46  # a row by a text in it
RECORD: Final = 75  # a number that a database gave: other data, another number
GOOD: Final = 70  # found one of these: no need to look for combinations

TEST_ATTRIBUTES: Final = (
    "data-testid", "data-test-id", "data-test", "data-cy", "data-qa", "data-e2e", "data-automation-id", "data-hook",
)  # fmt: skip
FIELDS: Final = frozenset("input select textarea button".split())
NAMED_BY_PEOPLE: Final = ("action", "aria-controls", "autocomplete", "for", "formaction", "name", "itemprop", "value")
ROWS: Final = frozenset("row listitem option treeitem article menuitem tab".split())
LANDMARKS: Final = frozenset(
    "alertdialog banner complementary contentinfo dialog form group main menu navigation radiogroup region search "
    "table tablist tabpanel toolbar".split()
)
NAMELESS_ROLES: Final = frozenset("document generic paragraph strong emphasis".split())


def write_locator(
    page: PageSnapshot,
    element: int,
    *,
    author: Locator | None = None,
    noise: frozenset[str] = frozenset(),
    avoid_text: Collection[str] = (),
    test_id_attribute: str = "data-testid",
) -> tuple[Locator, ...]:
    """Locators for one element, best first; each hits it and nothing else on this page.

    `author` is the locator it replaces: his kind of locator, his scope, his frames and his `exact` are kept where they
    lead to the element. `noise` are ids, values and texts known to change from one load to the next. `avoid_text` is
    what the step's check expects: an element found by the text it is checked for passes whatever it is.
    Empty where only a position would tell the element and the author used none.
    """
    return _Writer(page, element, author, noise, avoid_text, test_id_attribute).write()


@dataclass(frozen=True, slots=True)
class _Way:
    cost: float
    kind: str
    locator: Locator


class _Writer:
    def __init__(
        self,
        page: PageSnapshot,
        index: int,
        author: Locator | None,
        noise: frozenset[str],
        avoid_text: Collection[str],
        test_id_attribute: str,
    ) -> None:
        self.page = page
        self.index = index
        self.element = page.elements[index]
        self.author = author
        self.noise = noise
        self.avoid = [fold(text).casefold() for text in avoid_text if fold(text)]
        self.avoid_text = avoid_text
        self.test_id_attribute = test_id_attribute
        self._proofs: dict[Locator, bool] = {}

    # --- the order of things ---

    def write(self) -> tuple[Locator, ...]:
        ways = [way for way in self._unscoped() if self._is_proven(way)]
        if not any(self._is_settled(way) for way in ways):
            ways += self._first_proven(self._scoped(), MOST)
        if len(ways) < MOST:
            ways += self._first_proven(self._paths(), 2)
        if self._author_counts or (not ways and self._may_count):
            ways += self._first_proven(self._positions(), 2)
        return self._best(ways)

    @property
    def _may_count(self) -> bool:
        """May a position be all that tells the element? Not in place of an author's locator that used none.

        What is told by its place alone is another element after the next change, and nobody would see it.
        """
        return self.author is None or self._author_counts

    def _is_settled(self, way: _Way) -> bool:
        """Good enough not to look for combinations: lasting, and in the author's form."""
        return way.cost <= GOOD and (not self._author_kinds or way.kind in self._author_kinds)

    def _best(self, ways: list[_Way]) -> tuple[Locator, ...]:
        best: dict[Locator, None] = {}
        for way in sorted(ways, key=lambda way: way.cost):
            best.setdefault(way.locator)
        return tuple(best)[:MOST]

    def _first_proven(self, ways: Iterator[_Way], most: int) -> list[_Way]:
        proven: list[_Way] = []
        for way in sorted(ways, key=lambda way: way.cost):
            if self._is_proven(way):
                proven.append(way)
                if len(proven) == most:
                    break
        return proven

    def _is_proven(self, way: _Way) -> bool:
        return not self._is_circular(way.locator) and self._hits(way.locator, self.index)

    def _hits(self, locator: Locator, index: int) -> bool:
        if locator not in self._proofs:
            self._proofs[locator] = self._resolve(locator) == (index,)
        return self._proofs[locator]

    def _resolve(self, locator: Locator) -> tuple[int, ...]:
        try:
            return resolve(locator, self.page, test_id_attribute=self.test_id_attribute)
        except Unresolvable:
            return ()

    # --- what must not stand in it ---

    def _is_circular(self, locator: Locator) -> bool:
        return any(_holds(text, value, in_css=key == "css") for key, value in _strings(locator) for text in self.avoid)

    def _weakness(self, mark: str) -> float:
        """Against an id, a class, an attribute's value."""
        return WEAK if mark in self.noise or looks_generated(mark) else 0

    # --- frames ---

    @cached_property
    def frame(self) -> tuple[Locator, ...]:
        """The frames to enter, outermost first; the author's own if they lead there."""
        frames = [at for at in (self.index, *(e.index for e in self.page.ancestors(self.index))) if self._opens(at)]
        hosts = [self.page.elements[at].parent for at in reversed(frames)]
        if not hosts:
            return ()
        if self.author and self.author.frame and self._leads(self.author.frame, hosts):
            return self.author.frame
        found: list[Locator] = []
        for host in hosts:
            written = write_locator(
                self.page, host, noise=self.noise, avoid_text=self.avoid_text, test_id_attribute=self.test_id_attribute
            )
            found.append(replace(written[0], frame=()) if written else Locator(css="iframe"))
        return tuple(found)

    def _opens(self, index: int) -> bool:
        return self.page.elements[index].edge == "frame"

    def _leads(self, frame: tuple[Locator, ...], hosts: list[int]) -> bool:
        last = replace(frame[-1], frame=frame[:-1] + frame[-1].frame)
        return len(frame) == len(hosts) and self._resolve(last) == (hosts[-1],)

    # --- the author ---

    @cached_property
    def _author_kinds(self) -> frozenset[str]:
        return frozenset() if self.author is None else frozenset(_kinds(self.author))

    @property
    def _author_counts(self) -> bool:
        """Did he use a position?"""
        author = self.author
        if author is None:
            return False
        return author.nth is not None or bool(_COUNTS.search(author.css or "") or _PLACE.search(author.xpath or ""))

    @cached_property
    def _author_scope(self) -> Locator | None:
        """His `within`, if the element is in it; a scope that hits several is his business."""
        within = self.author.within if self.author else None
        if within is None:
            return None
        outer = self._resolve(replace(within, frame=self.frame or within.frame))
        is_inside = any(at != self.index and self.page.is_inside(self.index, at) for at in outer)
        return within if is_inside and not self._is_circular(within) else None

    # --- ways without a scope of our own ---

    def _unscoped(self) -> Iterator[_Way]:
        for way in self._forms(self.element):
            yield from self._finished(way)

    def _finished(self, way: _Way) -> Iterator[_Way]:
        """The way with frames and the author's wishes; the exact form beside it where there is one."""
        cost = way.cost
        if way.kind in self._author_kinds and cost < WEAK:
            cost += AUTHOR
        locator = replace(way.locator, frame=self.frame)
        if self.author and self.author.exact and _takes_exact(locator):
            locator = replace(locator, exact=True)
        if self._author_scope and locator.within is None:
            yield from self._with_exact(cost, way.kind, replace(locator, within=self._author_scope))
            cost += SCOPED  # his scope says more than that the locator was not unique
        yield from self._with_exact(cost, way.kind, locator)

    def _with_exact(self, cost: float, kind: str, locator: Locator) -> Iterator[_Way]:
        yield _Way(cost, kind, locator)
        if _takes_exact(locator) and not locator.exact:
            yield _Way(cost + EXACT, kind, replace(locator, exact=True))

    # --- forms: one element by itself ---

    def _forms(self, element: Element) -> Iterator[_Way]:
        yield from self._by_test_id(element)
        yield from self._by_what_people_read(element)
        yield from self._by_attributes(element)
        yield from self._by_classes(element)
        if self._is_row(element):
            yield from (replace(way, cost=way.cost + ROW - SCOPED) for way in self._by_key(element))

    def _by_test_id(self, element: Element) -> Iterator[_Way]:
        for name in self.test_id_attribute.split(","):
            value = element.get(name)
            if value:
                yield _Way(COSTS["test_id"] + self._weakness(value), "test_id", Locator(test_id=value))
        for name in TEST_ATTRIBUTES:
            value = element.get(name)
            if value and name not in self.test_id_attribute.split(","):
                cost = COSTS["test_id"] + 5 + self._weakness(value)
                yield _Way(cost, "attribute", Locator(css=f"[{name}={css_string(value)}]"))

    def _by_what_people_read(self, element: Element) -> Iterator[_Way]:
        role = element.role
        if role and role not in NAMELESS_ROLES and element.rendered:
            for cost, name in self._names(element):
                yield _Way(COSTS["role"] + cost, "role", Locator(role=role, name=name))
        texts = (
            ("label", element.label),
            ("placeholder", element.get("placeholder")),
            ("alt", element.get("alt")),
            ("title", element.get("title")),
            ("text", "" if element.tag == "svg" else self.page.texts[element.index]),  # what has it is inside the svg
        )
        for key, text in texts:
            for cost, part in self._readings(text):
                yield _Way(COSTS[key] + cost, key, locators.read({key: part}))

    def _names(self, element: Element) -> Iterator[tuple[float, str]]:
        """Ways to quote its name; where that is put together of several texts, its own text alone is one of them."""
        own = element.own_text
        is_part = bool(own) and own != element.name and own in element.name
        if is_part:
            yield from self._readings(own)
        for cost, name in self._readings(element.name):
            yield cost + 2 * is_part, name

    def _readings(self, text: str) -> Iterator[tuple[float, str]]:
        """Ways to quote a text, with what is against each: whole, or the part of it that holds still."""
        whole = fold(text)
        if not whole or whole in self.noise or not any(map(str.isalnum, whole)):
            return
        bare = _MARKS.sub("", whole)  # "E-mail *" and "E-mail:" are the same field
        if len(whole) <= LONGEST and not _ICON.search(whole):
            if bare != whole and any(map(str.isalnum, bare)):
                yield _restless(whole), bare
            yield _restless(whole) + (bare != whole), whole
        part = _cut(max(map(_trimmed, _STILL_PARTS.split(whole)), key=len))
        if part not in (whole, bare) and len(part) > 2 and any(map(str.isalpha, part)):
            yield 4 + 8 * (len(part) < len(whole) / 3), part

    def _by_attributes(self, element: Element) -> Iterator[_Way]:
        tag = element.tag
        if element.get("id"):
            value = element.get("id")
            cost = COSTS["id"] + self._weakness(value) + 14 * value[-1].isdigit()
            yield _Way(cost, "id", Locator(css=css_id(value)))
        if tag in FIELDS and element.get("name"):
            name = element.get("name")
            cost = COSTS["field"] + self._weakness(name)
            yield _Way(cost, "attribute", Locator(css=f"{tag}[name={css_string(name)}]"))
            if element.get("value") and element.get("type") in ("radio", "checkbox", "submit"):
                value = element.get("value")
                cost += 4 + RECORD * value.isdigit()
                yield _Way(cost, "attribute", Locator(css=f"{tag}[name={css_string(name)}][value={css_string(value)}]"))
        if tag == "input" and element.get("type") not in ("", "text"):
            yield _Way(
                COSTS["attribute"] + 6, "attribute", Locator(css=f"input[type={css_string(element.get('type'))}]")
            )
        yield from self._by_link(element)
        for name, value in element.attributes.items():
            if self._is_telling(element, name, value):
                kind = "data" if name.startswith("data-") else "attribute"
                cost = COSTS[kind] + self._weakness(value) + (RECORD if value.isdigit() else _restless(value))
                yield _Way(cost, "attribute", Locator(css=f"{tag}[{name}={css_string(value)}]"))

    def _is_telling(self, element: Element, name: str, value: str) -> bool:
        if not value or len(value) > LONGEST or name in TEST_ATTRIBUTES or not _PLAIN_NAME.match(name):
            return False
        if name == "value":
            return element.tag in ("option", "button") or element.get("type") in ("radio", "checkbox", "submit")
        if name == "name":
            return element.tag not in FIELDS
        return name in NAMED_BY_PEOPLE or (name.startswith("data-") and not name.startswith("data-v-"))

    def _by_link(self, element: Element) -> Iterator[_Way]:
        href = element.get("href")
        path = re.split(r"[?#]", href, maxsplit=1)[0]
        if element.tag not in ("a", "area") or not path.strip("/.") or href.startswith(("javascript:", "data:")):
            return
        weakness = max((self._weakness(part) for part in path.split("/") if part), default=0)
        weakness += RECORD * bool(_RECORD.search(href))
        if len(href) <= 2 * LONGEST:
            cost = COSTS["href"] + weakness + 6 * (href != path)
            yield _Way(cost, "href", Locator(css=f"a[href={css_string(href)}]"))
        if href != path and len(path) <= 2 * LONGEST:
            yield _Way(COSTS["href"] + weakness + 3, "href", Locator(css=f"a[href^={css_string(path)}]"))

    def _by_classes(self, element: Element) -> Iterator[_Way]:
        names = self._lasting_classes(element)
        for number, name in enumerate(names[:6]):
            yield _Way(COSTS["class"] + number, "class", Locator(css=f"{element.tag}.{css_ident(name)}"))
        if len(names) > 1:
            several = "".join(f".{css_ident(name)}" for name in names[:3])
            yield _Way(COSTS["class"] + 15, "class", Locator(css=f"{element.tag}{several}"))

    # --- within something around it ---

    def _scoped(self) -> Iterator[_Way]:
        forms = [way for way in self._forms(self.element) if way.cost < WEAK]
        if self.element.role and self.element.role not in NAMELESS_ROLES and self.element.rendered:
            forms.append(_Way(COSTS["bare_role"], "bare_role", Locator(role=self.element.role)))
        forms.append(_Way(COSTS["bare_role"] + 10, "path", Locator(css=self.element.tag)))
        for scope in self._scopes():
            for form in forms:
                way = _Way(form.cost + scope.cost, form.kind, replace(form.locator, within=scope.locator))
                yield from self._finished(way)

    def _scopes(self) -> Iterator[_Way]:
        """What around it can be told from its like: a row by its key, a landmark, something with an id."""
        for depth, outer in enumerate(self.page.ancestors(self.index)):
            if depth >= MOST_ANCESTORS or outer.tag in ("html", "body") or self._opens(outer.index):
                return
            best = self._first_of(self._scope_forms(outer), outer.index)
            if best:
                yield replace(best, cost=best.cost + 2 * depth)

    def _first_of(self, ways: Iterator[_Way], index: int) -> _Way | None:
        for way in sorted(ways, key=lambda way: way.cost):
            located = replace(way.locator, frame=self.frame)
            if not self._is_circular(located) and self._hits(located, index):
                return way
        return None

    def _scope_forms(self, outer: Element) -> Iterator[_Way]:
        for form in (*self._by_test_id(outer), *self._by_attributes(outer)):
            if form.cost < WEAK:
                yield replace(form, cost=SCOPED + form.cost / 5)
        if outer.role in LANDMARKS and outer.rendered:
            yield _Way(SCOPED + 8, "role", Locator(role=outer.role))
            for cost, name in self._readings(outer.name):
                yield _Way(SCOPED + 5 + cost, "role", Locator(role=outer.role, name=name))
        if self._is_row(outer):
            yield from self._by_key(outer)

    def _is_row(self, outer: Element) -> bool:
        """Is it one of several alike beside each other?"""
        if outer.role in ROWS:
            return True
        if outer.parent < 0 or (outer.tag in ("div", "span") and not self._lasting_classes(outer)):
            return False
        beside = (self.page.elements[at] for at in self.page.children[outer.parent] if at != outer.index)
        shape = self._tag_of(outer)
        return any(one.tag == outer.tag and self._tag_of(one) == shape for one in beside)

    def _by_key(self, row: Element) -> Iterator[_Way]:
        holder = Locator(role=row.role) if row.role in ROWS and row.rendered else Locator(css=self._tag_of(row))
        for number, (cost, key) in enumerate(self._keys(row)):
            yield _Way(SCOPED + 14 + number + cost, "row", replace(holder, has_text=key))

    def _tag_of(self, row: Element) -> str:
        return row.tag + "".join(f".{css_ident(name)}" for name in self._lasting_classes(row)[:1])

    def _lasting_classes(self, element: Element) -> list[str]:
        names = [name for name in element.get("class").split() if _PLAIN_NAME.match(name)]
        return [name for name in names if not self._weakness(name) and not _STATE_CLASS.match(name)]

    def _keys(self, row: Element) -> list[tuple[float, str]]:
        """Texts in a row that the rows beside it do not have, the author's own first and the target's left out."""
        beside = [at for at in self.page.children[row.parent] if at != row.index] if row.parent >= 0 else []
        others = [self.page.texts[at].casefold() for at in beside]
        own = "" if row.index == self.index else self.page.texts[self.index].casefold()
        keys: list[tuple[float, str]] = []
        for cost, text in self._row_texts(row):
            is_shared = text.casefold() in own or any(text.casefold() in other for other in others)
            if not is_shared and len(text) > 1:
                keys.append((cost, text))
        return sorted(dict.fromkeys(keys), key=lambda key: key[0])[:4]

    def _row_texts(self, row: Element) -> Iterator[tuple[float, str]]:
        for text in self._author_keys():
            if fold(text).casefold() in self.page.texts[row.index].casefold():
                yield -10, text
        for at in self._inside(row.index):
            is_target = self.page.is_inside(at, self.index) or self.page.is_inside(self.index, at)
            if row.index == self.index or not is_target:
                yield from self._readings(self.page.elements[at].own_text)

    def _author_keys(self) -> list[str]:
        told_by = (self.author, self.author.within) if self.author else ()
        return [one.has_text for one in told_by if one and one.has_text]

    def _inside(self, index: int) -> Iterator[int]:
        waiting, met = [index], 0
        while waiting and met < BROADEST_ROW:
            at = waiting.pop()
            met += 1
            yield at
            waiting.extend(reversed([kid for kid in self.page.children[at] if not self._opens(kid)]))

    # --- paths and positions ---

    def _paths(self) -> Iterator[_Way]:
        for css in self._css_paths():
            is_position = ":nth-" in css
            if is_position and not self._may_count:
                continue
            cost = COSTS["path"] + css.count(">") * 3 + (POSITION if is_position else 0)
            yield _Way(cost, "path", Locator(css=css, frame=self.frame))

    def _css_paths(self) -> Iterator[str]:
        """From the element outwards, ever longer, to the nearest thing that has a name of its own."""
        plain = counted = ""
        last: Element | None = None
        for element in (self.element, *self.page.ancestors(self.index)):
            if last is not None and last.edge == "frame":
                return
            anchor = self._anchor(element)
            if anchor and last is not None:
                yield f"{anchor} {self._step(self.element)}"
                yield f"{anchor} > {plain}"
                yield f"{anchor} > {counted}"
                return
            plain = f"{self._tag_of(element)} > {plain}" if plain else self._tag_of(element)
            counted = f"{self._step(element)} > {counted}" if counted else self._step(element)
            yield plain
            yield counted
            last = element

    def _anchor(self, element: Element) -> str:
        for form in (*self._by_test_id(element), *self._by_attributes(element)):
            css = form.locator.css or f"[{self.test_id_attribute}={css_string(form.locator.test_id or '')}]"
            if form.cost < WEAK and form.kind in ("id", "test_id") and "," not in css:
                return css
        return ""

    def _step(self, element: Element) -> str:
        if element.parent < 0 or element.edge:
            return element.tag
        alike = [
            at
            for at in self.page.children[element.parent]
            if self.page.elements[at].tag == element.tag and not self.page.elements[at].edge
        ]
        return element.tag if len(alike) < 2 else f"{element.tag}:nth-of-type({alike.index(element.index) + 1})"

    def _positions(self) -> Iterator[_Way]:
        """One of several by its number: the last resort, or what the author did."""
        forms = [*self._forms(self.element), _Way(COSTS["path"], "path", Locator(css=self.element.tag))]
        if self.element.role:
            forms.append(_Way(COSTS["bare_role"], "bare_role", Locator(role=self.element.role)))
        against = COUNTED if self._author_counts else POSITION
        for form in forms:
            for within in dict.fromkeys((self._author_scope, None)):
                located = replace(form.locator, within=within, frame=self.frame)
                hits = self._resolve(located)
                # In a page with shadow roots the order that counts is not that of the document: the proof decides.
                if self.index in hits:
                    yield _Way(form.cost + against, form.kind, replace(located, nth=hits.index(self.index)))


# --- what people wrote ------------------------------------------------------------------------------------------


def _kinds(author: Locator) -> Iterator[str]:
    """The kinds of ways that are in the author's form."""
    if author.has_text is not None:
        yield "row"
    for key, value in author.finders():
        if key == "css":
            yield from _css_kinds(value)
        elif key == "test_id":
            yield key
            yield "attribute"
        else:
            yield key


def _css_kinds(css: str) -> Iterator[str]:
    if "#" in css or "[id" in css or "[" in css:
        yield from ("id", "attribute")
    if "href" in css:
        yield "href"
    if "." in css:
        yield from ("class", "id", "attribute")


def _takes_exact(locator: Locator) -> bool:
    texts = (locator.name, locator.label, locator.placeholder, locator.text, locator.alt, locator.title)
    return any(text is not None for text in texts)


def _strings(locator: Locator) -> Iterator[tuple[str, str]]:
    for key, value in locator.finders():
        if key != "role":
            yield key, value
    for key, part in (("name", locator.name), ("has_text", locator.has_text), ("has_not_text", locator.has_not_text)):
        if part is not None:
            yield key, part
    for inner in (locator.within, locator.has, locator.has_not, *locator.frame):
        if inner is not None:
            yield from _strings(inner)


def _holds(text: str, value: str, *, in_css: bool) -> bool:
    """Does the text stand in the value? A short one only as a word: "4" is not in "42", nor in the id "step-4"."""
    whole = fold(value).casefold()
    if len(text) > 3:
        return text in whole
    return not in_css and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", whole) is not None


_COUNTS: Final = re.compile(r":(nth|first|last)-")  # in a CSS selector
_PLACE: Final = re.compile(r"\[\s*(\d+|last\(\)[^\]]*|position\(\)[^\]]*)\s*\]")  # in an XPath


# --- what holds still -------------------------------------------------------------------------------------------

_ICON: Final = re.compile("[\ue000-\uf8ff\u2190-\u2bff\U0001f000-\U0010fffd]")
# Between the parts of a text that stay: icons, numbers, amounts, times.
_STILL_PARTS: Final = re.compile(
    "[\ue000-\uf8ff\u2190-\u2bff\U0001f000-\U0010fffd]+|[(\\[#]?[$\u20ac\u00a3]?\\d[\\d.,:/%-]*[)\\]]?|\u2026|\\.{3}"
)
_RECORD: Final = re.compile(r"(?<![^/=-])\d+(?![^/&?#-])")
_MARKS: Final = re.compile(r"^[\s*\u2022\u00b7:]+|[\s*\u2022\u00b7:]+$")  # around a text: required, "as follows"
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][\w-]*\Z")
# What is so now and otherwise after a click.
_STATE_CLASS: Final = re.compile(
    r"(.*[-_])?(active|current|selected|open|opened|closed|hidden|visible|focus(ed)?|hover|disabled|enabled|first|last|"
    r"odd|even|row[12]|show|fade|in|collapsed?|expanded|loading|loaded|error|valid|invalid|dirty|pristine|touched|"
    r"untouched)\Z",
    re.IGNORECASE,
)


def _trimmed(text: str) -> str:
    return text.strip(" ,;:.-\u2013|/()[]#*")


def _cut(text: str) -> str:
    """No longer than somebody reads, at the end of a word."""
    return text if len(text) <= LONGEST else text[: text.rfind(" ", 0, LONGEST) + 1 or LONGEST].strip()


def _restless(text: str) -> float:
    """Numbers in a text change more often than its words."""
    digits = sum(map(str.isdigit, text))
    return 0 if not digits else 6 + 20 * (digits > len(text) / 3)


_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
# The marks of frameworks that number what they make, and of tools that hash class names.
_FRAMEWORKS: Final = re.compile(
    r"(:r[0-9a-z]*:|«r[0-9a-z]*»|_r_[0-9a-z]+_|ember-?\d+|ext-(gen|comp|element)-?\d+|ext\d+|(radix|headlessui|reach|"
    r"downshift|mantine|mui|rc|react-aria|react-select|chakra|floating-ui|tippy|popper)-.*\d.*|(mat|cdk|ui-id|gwt-uid|"
    r"yui|dijit|dojo|isc|select2|mce|mceu|jqg|jquery|tinymce|wicket|gen|uid|guid|generated|x-auto)[-_].*?\d+|mceu?_?\d+|"
    r"jss\d+|css-[0-9a-z]{5,}(-.*)?|sc-[0-9a-zA-Z]{5,}(-\d+)?|svelte-[0-9a-z]{5,}|jsx-\d+|emotion-\d+|"
    r"makestyles-.*\d+|data-v-[0-9a-f]{6,}|_ng(content|host)-.*|v-[0-9a-f]{8}|DataTables_Table_\d+.*)\Z",
    re.IGNORECASE,
)
_HASHED: Final = re.compile(r"(?:__|--|_)(?=[A-Za-z0-9+/-]*[A-Z0-9])([A-Za-z0-9+/-]{5,8})\Z")
_VOWELS: Final = re.compile("[aeiouy]", re.IGNORECASE)


def looks_generated(token: str) -> bool:
    """Was this id, class or value made by a program, so that the next build or load makes another?"""
    token = token.strip()
    if not token or _UUID.search(token) or _FRAMEWORKS.match(token):
        return bool(token)
    hashed = _HASHED.search(token)
    if hashed and _is_scrambled(hashed.group(1)):
        return True
    return any(_is_random(part) for part in re.split(r"[^0-9A-Za-z]+", token))


def _is_random(part: str) -> bool:
    if len(part) < 5:
        return False
    if part.isdigit():
        return True
    if re.fullmatch("[0-9a-f]{6,}", part, re.IGNORECASE) and re.search(r"\d", part) and re.search("[a-f]", part, re.I):
        return True
    if re.search(r"\d{5,}", part):
        return True
    return len(part) >= 6 and _is_scrambled(part)


def _is_scrambled(part: str) -> bool:
    """Letters, digits and cases in no order, as no word has them."""
    turns = len(re.findall(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)", part))
    humps = len(re.findall(r"(?<=[a-z])(?=[A-Z])", part))
    if turns >= 3 or (turns >= 2 and humps) or (turns >= 1 and humps >= 2):
        return True
    if humps >= 2 and len(part) / (humps + 1) < 2.7:
        return True
    # No vowel at all: short for something where it is brief and in lower case ("btngrp").
    return not _VOWELS.search(part) and (len(part) >= 8 or (humps > 0 and len(part) >= 6))


# --- CSS, quoted ------------------------------------------------------------------------------------------------


def css_string(value: str) -> str:
    """As a quoted CSS string."""
    escaped = value.replace("\\", "\\5c ").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\{ord(found.group()):x} ", escaped) + '"'


def css_ident(value: str) -> str:
    """As a CSS identifier: a first digit and everything but letters, digits, "-" and "_" escaped."""
    escaped = re.sub(r"[^\w\-\u0080-\U0010ffff]", _escaped, value)
    escaped = re.sub(r"\A-?\d", lambda found: found.group()[:-1] + f"\\{ord(found.group()[-1]):x} ", escaped)
    return "\\-" if escaped == "-" else escaped


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    return f"\\{ord(char):x} " if ord(char) < 0x20 or char in "\\\x7f" else f"\\{char}"


def css_id(value: str) -> str:
    """By id: short where it can be written plainly, else as an attribute, which people can read."""
    return f"#{value}" if _PLAIN_NAME.match(value) and value.isascii() else f"[id={css_string(value)}]"
