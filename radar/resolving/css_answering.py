"""Which elements of a page CSS selectors hit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple

from radar.elements import LONGEST_TEXT, Element
from radar.errors import Unresolvable
from radar.resolving.by_text import owns, self_contains
from radar.resolving.css_selectors import (
    FIRST_PLACE,
    PLACE_PSEUDOS,
    SCOPE_COMPOUND,
    AttributeSelector,
    ComplexSelector,
    CompoundSelector,
    NthPlace,
    SelectorList,
)
from radar.resolving.css_states import STATES
from radar.resolving.page_tree import Scope
from radar.resolving.prepared_page import PreparedPage
from radar.resolving.texts import fold_js, lowered
from radar.resolving.unrecorded import SVG_INSIDES, UNRECORDED_ATTRIBUTES, UNRECORDED_TAGS


class _Context(NamedTuple):
    scope: Scope
    origin: Scope | None = None  # what :scope means, if that is not the scope

    @property
    def meant(self) -> int:
        return (self.origin or self.scope).root


class CssAnswers:
    """One list of selectors against one page.

    Each selector is answered from left to right with sets of elements: a step costs the size of the page however deep
    it is, where walking up from every candidate would cost its depth as well.
    """

    def __init__(self, tree: PreparedPage, selectors: SelectorList) -> None:
        self.tree = tree
        self.selectors = selectors
        self._known: dict[tuple[int, _Context], set[int]] = {}
        self._ranks: dict[tuple[int, str, int, _Context], dict[int, tuple[int, int]]] = {}

    def query(self, scope: Scope) -> list[int]:
        """What they hit in scope, in the order Playwright counts it. Raises Unresolvable."""
        context = _Context(scope)
        found: set[int] = set().union(*(self._select(one, context) for one in self.selectors))
        if len(found) < 2 or not self.tree.shadows:
            return sorted(found)
        return [at for at in self.tree.order(scope) if at in found]

    def _select(self, selector: ComplexSelector, context: _Context) -> set[int]:
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
        return context if parent < 0 else _Context(Scope(parent, False), context.origin or context.scope)

    def _candidates(self, compound: CompoundSelector, scope: Scope) -> Iterable[int]:
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

    def _in_scope(self, found: list[int], scope: Scope) -> list[int]:
        if scope.whole:
            return found
        inside = found[bisect_right(found, scope.root) : bisect_left(found, self.tree.ends[scope.root])]
        return [at for at in inside if self.tree.holds(scope, at)]

    def _related(
        self, combinator: str, candidates: Iterable[int], found: set[int], before: CompoundSelector, number: int
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

    def _fits(self, compound: CompoundSelector, index: int, context: _Context) -> bool:
        if not context.scope.whole and index == context.scope.root:
            return False
        element = self.tree.elements[index]
        if compound.tag and element.tag != compound.tag:
            return False
        return all(self._has(element, one) for one in compound.attributes) and all(
            self._is(name, argument, index, context) for name, argument in compound.pseudos
        )

    def _has(self, element: Element, attribute: AttributeSelector) -> bool:
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
        if name in PLACE_PSEUDOS and (argument is not None) == name.startswith("nth-"):
            return self._is_at(name, argument or FIRST_PLACE, index, context)
        state = STATES.get(name)
        if state is None or argument is not None:
            raise Unresolvable(f"a snapshot cannot answer ':{name}'")
        return state(self.tree, index)

    def _holds(self, selector: ComplexSelector, index: int, context: _Context) -> bool:
        """Is there something the selector means inside this element?"""
        # Inside a relative selector Playwright takes :scope for the outer one's, so that is not what it seems.
        is_plain = context.origin is None or not selector.names_scope
        if is_plain and self._is_free(selector):
            return index in self._holders(selector, self.tree.document[index])
        return bool(self._select(selector, _Context(Scope(index, False), context.origin)))

    def _is_free(self, selector: ComplexSelector) -> bool:
        """Does it mean the same whatever the scope is?"""
        start = 1 if selector.steps[0][1].is_scope else 0
        pseudos = [pseudo for _, compound in selector.steps[start:] for pseudo in compound.pseudos]
        return not any(name in ("scope", "nth-match") or _has_steps(argument) for name, argument in pseudos)

    def _holders(self, selector: ComplexSelector, document: int) -> set[int]:
        """Every element that holds it: from right to left, each step from those that hold the rest."""
        whole = Scope(document, True)
        key = (~id(selector), _Context(whole))
        if key not in self._known:
            found: set[int] = set()
            steps = selector.steps
            if not steps[0][1].is_scope:
                steps = (("", SCOPE_COMPOUND), *_after_blank(steps))
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

    def _is_nth_match(self, argument: tuple[SelectorList, int], index: int, context: _Context) -> bool:
        selectors, number = argument
        found = set[int]().union(*(self._select(one, context) for one in selectors))
        ordered = [at for at in self.tree.order(context.scope) if at in found]
        return 0 < number <= len(ordered) and ordered[number - 1] == index

    def _has_text(self, name: str, text: str, index: int) -> bool:
        wanted = fold_js(text)
        if name == "has-text":
            return self.tree.texts.contains(index, lowered(wanted))
        return (self_contains(self.tree, lowered(wanted)) if name == "text" else owns(self.tree, wanted))(index)

    def _is_at(self, name: str, place: NthPlace, index: int, context: _Context) -> bool:
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

    def _counted(self, index: int, of_type: bool, of: SelectorList, context: _Context) -> tuple[int, int]:
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

    def _counts(self, index: int, tag: str, of: SelectorList, context: _Context) -> bool:
        if tag:
            return self.tree.elements[index].tag == tag
        return any(index in self._select(one, context) for one in of)


def _has_steps(argument: object) -> bool:
    return isinstance(argument, tuple) and any(
        isinstance(one, ComplexSelector) and len(one.steps) > 1 for one in argument
    )


def _after_blank(steps: tuple[tuple[str, CompoundSelector], ...]) -> tuple[tuple[str, CompoundSelector], ...]:
    return ((" ", steps[0][1]), *steps[1:])


def _cut_value(attribute: AttributeSelector, own: str) -> bool:
    """A value of the greatest length that is kept may go on: only a plain no is certain."""
    if attribute.operator == "=" and len(attribute.value) < LONGEST_TEXT:
        return False
    if attribute.operator == "*=" and attribute.accepts(own):
        return True
    if attribute.operator == "=" and not attribute.value.startswith(own):
        return False
    raise Unresolvable(f"the snapshot holds only the beginning of a long attribute '{attribute.name}'")
