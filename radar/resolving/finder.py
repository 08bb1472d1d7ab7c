"""Every key of a locator, and Playwright's selector chains, against one prepared page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from radar.elements import Element
from radar.errors import Unresolvable
from radar.locators import Locator
from radar.resolving.by_text import owns, self_contains, self_is
from radar.resolving.css_answering import CssAnswers
from radar.resolving.css_reading import read_css
from radar.resolving.css_selectors import AttributeSelector
from radar.resolving.page_tree import Scope
from radar.resolving.prepared_page import PreparedPage
from radar.resolving.raw_texts import is_about_blanks, searcher
from radar.resolving.selector_syntax import read_role, selector_parts, whole_number
from radar.resolving.texts import fold_js, lowered


class Finder:
    """Answers the keys of a Locator."""

    def __init__(self, tree: PreparedPage, test_id_attribute: str) -> None:
        self.tree = tree
        self.test_id_attributes = test_id_attribute.split(",")

    def find(self, locator: Locator, scopes: list[Scope]) -> list[int]:
        """What it hits in any of the scopes, each once. Raises BadLocator and Unresolvable."""
        for frame in locator.frame:
            scopes = self._enter(self.find(frame, scopes))
        if locator.within is not None:
            scopes = [Scope(at, False) for at in self.find(locator.within, scopes)]
        found: list[int] | None = None
        for key, value in locator.finders():
            hits = self._hits(key, value, locator, scopes)
            also = set(hits)
            found = hits if found is None else [at for at in found if at in also]
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
                found = [at for at in found if bool(self.find(inner, [Scope(at, False)])) == is_wanted]
        if locator.visible is not None:
            found = [at for at in found if self.tree.elements[at].visible == locator.visible]
        return found

    def _text_test(self, text: str, is_pattern: bool) -> Callable[[int], bool]:
        if is_pattern:
            return self.tree.raw_texts.search(text)
        needle = lowered(fold_js(text))
        return lambda at: self.tree.texts.contains(at, needle)

    def _enter(self, frames: list[int]) -> list[Scope]:
        if len(frames) != 1:
            return []
        (frame,) = frames
        if self.tree.elements[frame].tag not in ("iframe", "frame"):
            return []
        if frame not in self.tree.frames:
            raise Unresolvable("the snapshot does not hold what is in the frame: it is of another origin")
        return [Scope(self.tree.frames[frame], True)]

    def _hits(self, key: str, value: str, locator: Locator, scopes: list[Scope]) -> list[int]:
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
        lower = lowered(wanted)

        def test(index: int) -> bool:
            texts = self.tree.label_texts(index)
            return wanted in texts if exact else any(lower in lowered(text) for text in texts)

        return test

    def _attribute_test(self, name: str, value: str, exact: bool) -> Callable[[int], bool]:
        lower = lowered(value)

        def test(index: int) -> bool:
            own = self._attribute(index, name)
            return own is not None and (own == value if exact else lower in lowered(own))

        return test

    def _pattern_test(self, key: str, value: str, locator: Locator) -> Callable[[int], bool]:
        if key == "role":
            by_role = self._role_test(value, None, False)
            if locator.name is None:
                return by_role
            matches = searcher(locator.name)
            return lambda at: by_role(at) and matches(fold_js(self.tree.elements[at].name))
        matches = searcher(value)
        if key == "label":
            # What is compared is a label's text as it stands in the page, and only the folded one is at hand.
            if is_about_blanks(value):
                raise Unresolvable(f"a snapshot does not hold labels as {value!r} asks for them")
            return lambda at: any(map(matches, self.tree.label_texts(at)))
        names = self.test_id_attributes if key == "test_id" else [key]
        return lambda at: any(own is not None and matches(own) for own in (self._attribute(at, n) for n in names))

    def _by_pattern(self, text: str, scopes: list[Scope]) -> list[int]:
        matches = self.tree.raw_texts.search(text)

        def is_smallest(at: int) -> bool:
            return (
                matches(at)
                and not any(matches(kid) for kid in self.tree.kids[at])
                and not self.tree.raw_texts.shadow_has(at, text)
            )

        return _union(scopes, lambda scope: filter(is_smallest, self._with_root(scope)))

    def _by_text(self, text: str, exact: bool, scopes: list[Scope]) -> list[int]:
        wanted = fold_js(text)
        matches = self_is(self.tree, wanted) if exact else self_contains(self.tree, lowered(wanted))
        return _union(scopes, lambda scope: filter(matches, self._with_root(scope)))

    def _with_root(self, scope: Scope) -> list[int]:
        # The text engine alone also looks at the scope itself.
        return self.tree.order(scope) if scope.whole else [scope.root, *self.tree.order(scope)]

    # --- Playwright's selector chains ---

    def chain(self, selector: str, scopes: list[Scope]) -> list[int]:
        """`css=.row >> text=Save`: each part below what the part before it hit."""
        found: list[int] = []
        for number, (engine, body) in enumerate(selector_parts(selector)):
            if number:
                scopes = [Scope(at, False) for at in found]
            found = self._part(engine, body, found, scopes, first=not number)
        return found

    def _part(self, engine: str, body: str, found: list[int], scopes: list[Scope], *, first: bool) -> list[int]:
        match engine:
            case "nth" if not first:
                return _nth(found, whole_number(body))
            case "visible" if not first:
                return [at for at in found if self.tree.elements[at].visible == (body.strip() == "true")]
            case "css":
                return _union(scopes, CssAnswers(self.tree, read_css(body)).query)
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

    def _by_text_selector(self, body: str, scopes: list[Scope]) -> list[int]:
        if len(body) > 1 and body[0] == "/" and body.rfind("/") > 0:
            raise Unresolvable(f"a snapshot is not searched with regular expressions: text={body}")
        if len(body) > 1 and body[0] in "\"'" and body[-1] == body[0]:
            wanted = fold_js(re.sub(r"\\(.)", r"\1", body[1:-1]))
            return _union(scopes, lambda scope: filter(owns(self.tree, wanted), self._with_root(scope)))
        return self._by_text(body, False, scopes)

    def _by_role_selector(self, body: str, scopes: list[Scope]) -> list[int]:
        role, conditions = read_role(body)
        tests = [self._role_test(role, None, False)]
        tests += [self._role_condition(condition) for condition in conditions]
        return _union(scopes, lambda s: [at for at in self.tree.order(s) if all(test(at) for test in tests)])

    def _role_condition(self, condition: AttributeSelector) -> Callable[[int], bool]:
        elements = self.tree.elements
        if condition.name == "name":
            return lambda at: condition.accepts(fold_js(elements[at].name), fold_js(condition.value))
        if condition.name == "level" and condition.operator == "=" and condition.value.isdigit():
            return lambda at: _level(elements[at]) == int(condition.value)
        if condition.name in ("pressed", "expanded", "selected") and condition.value in ("", "true", "false"):
            wanted = condition.value != "false"
            return lambda at: (self._attribute(at, f"aria-{condition.name}") == "true") == wanted
        raise Unresolvable(f"a snapshot cannot answer the role attribute '{condition.name}'")

    def _by_xpath(self, expression: str, scope: Scope) -> list[int]:
        if self.tree.host[scope.root] >= 0:
            raise Unresolvable("XPath in a shadow root is not answered from a snapshot")
        return self.tree.xml(self.tree.document[scope.root]).find(expression, scope)


def _union(scopes: Iterable[Scope], query: Callable[[Scope], Iterable[int]]) -> list[int]:
    found: dict[int, None] = {}
    for scope in scopes:
        found.update(dict.fromkeys(query(scope)))
    return list(found)


def _nth(found: list[int], nth: int) -> list[int]:
    if nth == -1:
        return found[-1:]
    return [] if nth < -len(found) else found[nth : nth + 1]


def _level(element: Element) -> int:
    if re.fullmatch("h[1-6]", element.tag):
        return int(element.tag[1])
    said = element.get("aria-level")
    return int(said) if said.isascii() and said.isdigit() else 0
