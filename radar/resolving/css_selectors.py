"""CSS selectors as values: what a reader makes of their text and a page is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, eq=False)
class AttributeSelector:
    """`[name operator value i]`, and what CSS and role= write for one: `#save` is [id=save], `.row` is [class~=row]."""

    name: str
    operator: str = ""  # "" for "has it"
    value: str = ""
    caseless: bool = False

    def accepts(self, own: str, wanted: str | None = None) -> bool:
        """Does the value of an attribute fit? `wanted`: compared with this in place of the selector's own value."""
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


@dataclass(frozen=True, slots=True, eq=False)
class CompoundSelector:
    """What stands between two combinators."""

    tag: str = ""  # "" for any
    attributes: tuple[AttributeSelector, ...] = ()
    pseudos: tuple[tuple[str, Any], ...] = ()  # name, argument: SelectorList, str, (SelectorList, int) or None

    @property
    def is_universal(self) -> bool:
        return not (self.tag or self.attributes or self.pseudos)

    @property
    def is_scope(self) -> bool:
        """Is it `:scope` and nothing else?"""
        return not (self.tag or self.attributes) and self.pseudos == (("scope", None),)

    def wants(self, attribute: str) -> str | None:
        """The id or class it asks for."""
        operator = "=" if attribute == "id" else "~="
        same = (one for one in self.attributes if one.name == attribute and one.operator == operator)
        return next((one.value for one in same if not one.caseless), None)


@dataclass(frozen=True, slots=True, eq=False)
class ComplexSelector:
    """Compounds, each with the combinator before it: " ", ">", "+", "~", and "" before the first."""

    steps: tuple[tuple[str, CompoundSelector], ...]

    @property
    def names_scope(self) -> bool:
        return any(name == "scope" for _, compound in self.steps for name, _ in compound.pseudos)


SelectorList = tuple[ComplexSelector, ...]
SCOPE_COMPOUND: Final = CompoundSelector(pseudos=(("scope", None),))  # :scope alone


@dataclass(frozen=True, slots=True)
class NthPlace:
    """The an+b of :nth-child and its kin, and the selector after "of"."""

    step: int
    offset: int
    of: SelectorList = ()

    def accepts(self, position: int) -> bool:
        """`position` counts from 1."""
        if self.step == 0:
            return position == self.offset
        return (position - self.offset) % self.step == 0 and (position - self.offset) // self.step >= 0


FIRST_PLACE: Final = NthPlace(0, 1)  # what :first-child and its kin ask for
PLACE_PSEUDOS: Final = frozenset(
    "nth-child nth-last-child nth-of-type nth-last-of-type first-child last-child only-child first-of-type "
    "last-of-type only-of-type".split()
)
