"""What is remembered of a page: its elements as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

# Cut so that one hostile page cannot fill the store; far above what a name or a label needs.
LONGEST_TEXT: Final = 300


@dataclass(frozen=True, slots=True)
class Box:
    """Place on the page in CSS pixels, from the top left corner of the document."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a page.

    `index` is its place in document order and its identity within one PageSnapshot; `parent` is the index of the
    element around it, -1 for the root. An element in an open shadow root or in a frame has the host or the frame as
    its parent and says so in `edge` ("shadow", "frame", else "").
    `pieces` are its own text nodes: (number of child elements before the text, text). A sibling that is not recorded,
    such as a script, leaves "" there, and a line break "\n".
    """

    index: int
    parent: int
    tag: str
    attributes: Mapping[str, str]
    pieces: tuple[tuple[int, str], ...] = ()
    role: str = ""  # ARIA role, explicit or implied by the tag; "" for none
    name: str = ""  # accessible name
    label: str = ""  # text of its label elements, aria-labelledby or aria-label
    edge: str = ""
    box: Box = Box(0, 0, 0, 0)
    visible: bool = True  # has a box and is not hidden: what a person can see
    rendered: bool = True  # displayed and not aria-hidden: what an assistive tool can see
    enabled: bool = True
    checked: bool = False
    covered: bool = False  # another element is on top of its middle
    clickable: bool = False  # shows the hand cursor or listens to clicks

    def get(self, attribute: str) -> str:
        return self.attributes.get(attribute, "")

    @property
    def own_text(self) -> str:
        return fold(" ".join(text for _, text in self.pieces))


def fold(text: str) -> str:
    """White space folded to single blanks, as texts are compared everywhere."""
    return " ".join(text.split())


@dataclass(frozen=True)
class PageSnapshot:
    """A page at one moment. Not slotted: what is derived from it is computed once and kept.

    `elements` are in document order, so that elements[i].index == i.
    """

    url: str
    title: str = ""
    language: str = ""
    elements: tuple[Element, ...] = ()
    viewport: tuple[int, int] = (1280, 720)
    status: int | None = None  # HTTP status of the document, where known
    complete: bool = True  # False: the page was cut, or had not finished loading
    scrollers: tuple[tuple[int, float, float], ...] = field(default=())  # (element, scroll height, client height)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each element, the indexes of its children in document order."""
        below: list[list[int]] = [[] for _ in self.elements]
        for element in self.elements:
            if element.parent >= 0:
                below[element.parent].append(element.index)
        return tuple(map(tuple, below))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """For each element, the visible text in and below it, folded and cut to LONGEST_TEXT."""
        texts = [""] * len(self.elements)
        for element in reversed(self.elements):
            below = self.children[element.index]
            parts: list[str] = []
            pieces = iter(element.pieces)
            piece = next(pieces, None)
            for number, child in enumerate(below):
                while piece and piece[0] <= number:
                    parts.append(piece[1])
                    piece = next(pieces, None)
                if self.elements[child].rendered:
                    inner = texts[child]
                    block = self.elements[child].tag not in INLINE
                    parts.append(f" {inner} " if block else inner)
            while piece:
                parts.append(piece[1])
                piece = next(pieces, None)
            texts[element.index] = fold("".join(parts))[:LONGEST_TEXT] if element.rendered else ""
        return tuple(texts)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """For each element, where it stands: tags and their order among siblings of that tag, "html/body/div[2]/p"."""
        paths = [""] * len(self.elements)
        for element in self.elements:
            if element.parent < 0:
                paths[element.index] = element.tag
            counts: dict[str, int] = {}
            below = self.children[element.index]
            for child in below:
                counts[self.elements[child].tag] = counts.get(self.elements[child].tag, 0) + 1
            seen: dict[str, int] = {}
            for child in below:
                tag = self.elements[child].tag
                seen[tag] = seen.get(tag, 0) + 1
                place = tag if counts[tag] == 1 else f"{tag}[{seen[tag]}]"
                paths[child] = f"{paths[element.index]}/{place}"
        return tuple(paths)

    def ancestors(self, index: int) -> Iterator[Element]:
        """From the parent outwards to the root."""
        at = self.elements[index].parent
        while at >= 0:
            yield self.elements[at]
            at = self.elements[at].parent

    def is_inside(self, index: int, outer: int) -> bool:
        """Is `index` the element `outer` or below it?"""
        return index == outer or any(element.index == outer for element in self.ancestors(index))

    @property
    def visible_text(self) -> str:
        return self.texts[0] if self.elements else ""


INLINE: Final = frozenset(
    "a abbr b bdi bdo cite code data dfn em font i kbd label mark q s samp small span strong sub sup time tt u "
    "var".split()
)
