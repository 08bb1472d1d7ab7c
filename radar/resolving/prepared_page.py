"""A page prepared for many questions: its tree, and its texts, labels, places and XML once somebody asks for them."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from radar.elements import Element, PageSnapshot
from radar.resolving.page_tree import PageTree
from radar.resolving.raw_texts import RawTexts
from radar.resolving.sibling_places import SiblingPlaces
from radar.resolving.texts import Texts, fold_js
from radar.resolving.xpath import XmlDocument

LABELABLE: Final = frozenset("button input meter output progress select textarea".split())


def prepared(page: PageSnapshot) -> PreparedPage:
    """The page prepared; the same one whenever it is asked for."""
    # Kept on the page itself, as cached_property would: it lives exactly as long, and pages are compared by value
    # of their fields alone.
    tree = page.__dict__.get("_resolving_tree")
    if not isinstance(tree, PreparedPage):
        tree = page.__dict__["_resolving_tree"] = PreparedPage(page)
    return tree


class PreparedPage(PageTree):
    """What many questions about one page have in common, each worked out when it is first asked for."""

    def __init__(self, page: PageSnapshot) -> None:
        super().__init__(page)
        self._texts: Texts | None = None
        self._raw_texts: RawTexts | None = None
        self._labels: dict[int, list[int]] | None = None
        self._places: SiblingPlaces | None = None
        self._documents: dict[int, XmlDocument] = {}

    @property
    def raw_texts(self) -> RawTexts:
        if self._raw_texts is None:
            self._raw_texts = RawTexts(self)
        return self._raw_texts

    @property
    def texts(self) -> Texts:
        if self._texts is None:
            self._texts = Texts(self)
        return self._texts

    @property
    def places(self) -> SiblingPlaces:
        if self._places is None:
            self._places = SiblingPlaces(self)
        return self._places

    def xml(self, document: int) -> XmlDocument:
        """`document`: the index of its root."""
        if document not in self._documents:
            self._documents[document] = XmlDocument(self, document)
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
