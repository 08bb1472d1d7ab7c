"""XPath, answered by lxml from the page as an XML document."""

from __future__ import annotations

import re
from typing import Any, Final

from lxml import etree

from radar.elements import Element
from radar.errors import BadLocator, Unresolvable
from radar.resolving.page_tree import PageTree, Scope
from radar.resolving.unrecorded import LINE_BREAK, OTHER_ELEMENT, SVG_INSIDES, UNRECORDED_ATTRIBUTES, UNRECORDED_TAGS

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


def compile_xpath(expression: str) -> etree.XPath:
    """Raises BadLocator if no browser could read it."""
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


class XmlDocument:
    """One document of a page for XPath: without shadow roots, which XPath does not enter, and without frames."""

    def __init__(self, tree: PageTree, root: int) -> None:
        self._tree = tree
        self._nodes: dict[int, Any] = {root: _new_node(tree.elements[root], None)}
        for index in tree.members[root, -1]:
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

    def find(self, expression: str, scope: Scope) -> list[int]:
        """The indexes of the elements it hits. Raises BadLocator and Unresolvable."""
        find = compile_xpath(_html_xpath(_rooted(expression, scope)))
        try:
            found = find(self._nodes[scope.root])
        except etree.XPathError as error:
            raise Unresolvable(f"the XPath {expression!r} cannot be answered: {error}") from error
        if not isinstance(found, list):
            raise Unresolvable(f"the XPath {expression!r} gives no elements but a value")
        return [self._indexes[one] for one in found if not isinstance(one, str | tuple) and one in self._indexes]


def _rooted(expression: str, scope: Scope) -> str:
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
