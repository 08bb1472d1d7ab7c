"""The CSS pseudo-classes that ask for the state of an element: :checked, :disabled, :empty and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from radar.errors import Unresolvable
from radar.resolving.page_tree import PageTree

DISABLEABLE: Final = frozenset("button input select textarea option optgroup fieldset".split())


def _is_disabled(tree: PageTree, index: int) -> bool:
    element = tree.elements[index]
    if element.tag not in DISABLEABLE or element.enabled:
        return False
    # What is recorded is "disabled or aria-disabled", and CSS knows only the first.
    is_said = element.get("aria-disabled") == "true"
    return not is_said or "disabled" in element.attributes or _is_in_disabled(tree, index)


def _is_in_disabled(tree: PageTree, index: int) -> bool:
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


def _is_checked(tree: PageTree, index: int) -> bool:
    element = tree.elements[index]
    if element.tag == "option":
        raise Unresolvable("the snapshot does not tell which option is selected")
    return element.tag == "input" and element.get("type").lower() in ("checkbox", "radio") and element.checked


def _is_link(tree: PageTree, index: int) -> bool:
    return tree.elements[index].tag in ("a", "area") and "href" in tree.elements[index].attributes


def _is_required(tree: PageTree, index: int) -> bool:
    element = tree.elements[index]
    return element.tag in ("input", "select", "textarea") and "required" in element.attributes


def _is_empty(tree: PageTree, index: int) -> bool:
    element = tree.elements[index]
    if element.tag == "svg":
        raise Unresolvable("the snapshot does not hold what is in an svg")
    return not element.pieces and not tree.kids[index]


# By the pseudo-class: is the element in that state? Raises Unresolvable.
STATES: Final[dict[str, Callable[[PageTree, int], bool]]] = {
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
