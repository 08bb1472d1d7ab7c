"""How alike two things are, feature by feature, for many pairs at once.

`Comparison` holds two views and works in two steps, so that a page of thousands stays quick: a rough likeness for
every pair (dense arrays, one row an old thing, one column a new one), then all features for the most likely few.
Every feature lies between -1 and 1 (most between 0 and 1) and is 0 where nothing can be said.

Where ideas come from: word rarity and containment instead of edit distance over whole texts, place last (our own
measurements); many weak attributes together (Similo, Nass et al. 2023); nodes that act as one (VON Similo); sure
pairs first, then their neighbourhoods (SFTM, Brisset et al. 2020; UITestFix).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

from radar.things import Thing, View, Words, is_number, words_of

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.intp]

NUMBER_WEIGHT: Final = 0.3  # numbers and amounts differ from run to run
DEEP: Final = 6  # how far up containers are looked at
PER_OLD, PER_NEW = 14, 6  # pairs kept for each old and each new thing after the rough look

FEATURES: Final = (
    "same_words",
    "same_rare_words",
    "words_shared",
    "words_kept",
    "words_known",
    "all_words_contained",
    "letters_alike",
    "no_common_word",
    "words_on_one_side",
    "wordless",
    "same_id",
    "same_weak_id",
    "other_id",
    "same_test_id",
    "other_test_id",
    "same_form_name",
    "other_form_name",
    "marks_shared",
    "classes_shared",
    "same_link",
    "link_shared",
    "other_link",
    "same_tag",
    "same_role",
    "same_group",
    "other_action",
    "like_action",
    "same_type",
    "same_region",
    "other_region",
    "same_path",
    "around_shared",
    "same_column_place",
    "same_height",
    "same_height_from_below",
    "same_part_of_page",
    "same_size",
    "same_order",
    "heading_shared",
    "other_heading",
    "row_shared",
    "other_row",
    "column_shared",
    "other_column",
    "same_slot",
    "before_shared",
    "after_shared",
    "same_visibility",
    "same_container_kind",
    "same_frame",
    # known only once there are anchors
    "container",
    "parent",
    "between",
    "neighbour_before",
    "neighbour_after",
)
CONTEXT: Final = FEATURES.index("container")
INDEX: Final = {name: at for at, name in enumerate(FEATURES)}


class Comparison:
    """Two pages, and for pairs of their things the features."""

    def __init__(self, old: View, new: View) -> None:
        self.old = old
        self.new = new
        self._weights = _rarity(old.things, new.things)
        self._tables: dict[str, _Table] = {}
        self._coded: dict[str, tuple[Ints, Ints]] = {}
        self._columns: dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = {}
        self._counts = Counter(t.key for t in old.things if t.key), Counter(t.key for t in new.things if t.key)

    # --- first step: every pair, roughly ---

    def rough(self) -> Floats:
        """A likeness for every pair, only good for leaving out what cannot be it."""
        words = self._table("words", lambda t: t.words)
        score = 3.0 * words.grid(words.contained) + 2.0 * words.grid(words.shared)
        score += 2.0 * self._table("marks", lambda t: t.marks).grid_shared()
        score += 1.5 * self._table("all", lambda t: t.words + t.other_words).grid_contained()
        score += 2.0 * self._equal("id")
        score += 1.0 * self._equal("link")
        score += 0.7 * self._equal("group")
        score += 0.5 * self._equal("tag")
        score += 1.2 * self._table("row", lambda t: t.row_key).grid_shared()
        score += 0.8 * self._table("near", lambda t: t.before + t.after).grid_shared()
        score += 0.5 * self._table("column", lambda t: t.column).grid_shared()
        order_old, order_new = self._numbers("order")
        away = np.abs(order_old[:, None] - order_new[None, :]).astype(np.float32)
        score += np.maximum(0, 0.8 - 4 * away)
        boxes = self._numbers("container")
        score += (0.5 * (boxes[0][:, None] == boxes[1][None, :])).astype(np.float32)
        return score.astype(np.float32)

    def likely_pairs(self) -> tuple[Ints, Ints]:
        """The old and the new side of the pairs worth a closer look."""
        score = self.rough()
        rows, columns = score.shape
        if not rows or not columns:
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        keep = np.zeros(score.shape, bool)
        most = min(PER_OLD, columns)
        best = np.argpartition(score, columns - most, axis=1)[:, columns - most :]
        keep[np.arange(rows)[:, None], best] = True
        most = min(PER_NEW, rows)
        best = np.argpartition(score, rows - most, axis=0)[rows - most :]
        keep[best, np.arange(columns)[None, :]] = True
        old, new = np.nonzero(keep)
        return old, new

    # --- second step: all features of some pairs ---

    def features(self, old: Ints, new: Ints) -> Floats:
        """One row a pair, one column a feature; the context columns are left at 0."""
        columns = np.zeros((len(old), len(FEATURES)), np.float32)

        def put(name: str, values: npt.NDArray[np.generic]) -> None:
            columns[:, INDEX[name]] = values

        self._put_words(put, old, new)
        self._put_marks(put, old, new)
        self._put_kind(put, old, new)
        self._put_place(put, old, new)
        self._put_surroundings(put, old, new)
        return columns

    def _put_words(self, put: Put, old: Ints, new: Ints) -> None:
        words = self._table("words", lambda t: t.words)
        everything = self._table("all", lambda t: t.words + t.other_words)
        same = self._said_alike(old, new)
        old_counts, new_counts = self._counts
        rare = np.array([1.0 if t.key and old_counts[t.key] == 1 else 0.0 for t in self.old.things])
        rare_new = np.array([1.0 if t.key and new_counts[t.key] == 1 else 0.0 for t in self.new.things])
        texts = self._table("texts", lambda t: words_of(t.text_key))
        shared = np.maximum(words.of(words.shared, old, new), texts.of(texts.shared, old, new))
        all_contained = everything.of(everything.contained, old, new)
        letters = self._letters(old, new)
        has_old, has_new = everything.has(old, new)
        put("same_words", same)
        put("same_rare_words", same * rare[old] * rare_new[new])
        put("words_shared", shared)
        put("words_kept", np.maximum(words.of(words.kept, old, new), texts.of(texts.kept, old, new)))
        put("words_known", np.maximum(words.of(words.known, old, new), texts.of(texts.known, old, new)))
        put("all_words_contained", all_contained)
        put("letters_alike", letters)
        put("no_common_word", has_old & has_new & (all_contained == 0) & (letters < 0.4))
        put("words_on_one_side", has_old ^ has_new)
        put("wordless", ~has_old & ~has_new)

    def _said_alike(self, old: Ints, new: Ints) -> Floats:
        """Is the name or the visible text of one the name or the visible text of the other?"""
        codes: dict[str, int] = {"": 0}
        sides = []
        for things in (self.old.things, self.new.things):
            for what in ("key", "text_key"):
                texts = ["" if t.is_volatile else getattr(t, what) for t in things]
                sides.append(np.array([codes.setdefault(text, len(codes)) for text in texts], np.intp))
        name, text, new_name, new_text = sides
        alike = np.zeros(len(old), bool)
        for left in (name[old], text[old]):
            for right in (new_name[new], new_text[new]):
                alike |= (left == right) & (left > 0)
        return alike.astype(np.float32)

    def _letters(self, old: Ints, new: Ints) -> Floats:
        """Edit likeness of what is said, 0 under 60 %: catches "favourite" and "favorite", "e-mail" and "email"."""
        left = [self.old.things[i].key[:60] for i in old]
        right = [self.new.things[i].key[:60] for i in new]
        ratio = process.cpdist(left, right, scorer=fuzz.ratio, score_cutoff=60, dtype=np.float32) / 100
        both = np.array([bool(a and b) for a, b in zip(left, right, strict=True)], bool)
        alike: Floats = np.where(both, np.clip((ratio - 0.6) / 0.4, 0, 1), 0).astype(np.float32)
        return alike

    def _put_marks(self, put: Put, old: Ints, new: Ints) -> None:
        marks = self._table("marks", lambda t: t.marks)
        classes = self._table("classes", lambda t: t.classes)
        put("same_id", self._same("id", old, new))
        put("same_weak_id", self._same("weak id", old, new))
        put("other_id", self._other("id", old, new))
        put("same_test_id", self._same("test_id", old, new))
        put("other_test_id", self._other("test_id", old, new))
        put("same_form_name", self._same("form_name", old, new))
        put("other_form_name", self._other("form_name", old, new))
        put("marks_shared", marks.of(marks.shared, old, new))
        put("classes_shared", classes.of(classes.shared, old, new))
        links = self._table("links", lambda t: words_of(t.link))
        same_link = self._same("link", old, new)
        shared = links.of(links.shared, old, new)
        has_old, has_new = links.has(old, new)
        put("same_link", same_link)
        put("link_shared", shared)
        put("other_link", has_old & has_new & (shared < 0.5) & (same_link == 0))

    def _put_kind(self, put: Put, old: Ints, new: Ints) -> None:
        put("same_tag", self._same("tag", old, new))
        put("same_role", self._same("role", old, new))
        put("same_group", self._same("group", old, new))
        other = self._other("action", old, new) > 0
        like = self._alike_controls(old, new)
        put("other_action", other & ~like)
        put("like_action", other & like)
        put("same_type", self._same("type", old, new))
        put("same_frame", self._same("frame", old, new))
        for name, flag in (("same_visibility", "visible"), ("same_container_kind", "container")):
            left, right = self._numbers(flag)
            put(name, left[old] == right[new])

    def _put_place(self, put: Put, old: Ints, new: Ints) -> None:
        put("same_region", self._same("region", old, new))
        put("other_region", self._other("region", old, new))
        put("same_path", self._path_likeness(old, new))
        around = self._table("around", lambda t: t.around)
        put("around_shared", around.of(around.shared, old, new))
        for name, what, scale in (
            ("same_column_place", "x", 150),
            ("same_height", "y", 150),
            ("same_height_from_below", "below", 150),
            ("same_order", "order", 0.06),
        ):
            left, right = self._numbers(what)
            put(name, np.exp(-np.abs(left[old] - right[new]) / scale))
        # Header or footer, left or right: on pages that grew, too.
        (left, right), (shares, new_shares) = self._numbers("x"), self._numbers("y_share")
        away = np.abs(left[old] - right[new]) / 1000 + np.abs(shares[old] - new_shares[new]) * 2
        put("same_part_of_page", np.maximum(0.0, 1 - away))
        size = np.ones(len(old))
        for what in ("width", "height"):
            left, right = self._numbers(what)
            size *= (np.minimum(left[old], right[new]) + 4) / (np.maximum(left[old], right[new]) + 4)
        put("same_size", size)

    def _path_likeness(self, old: Ints, new: Ints) -> Floats:
        """How many of the nearest ancestors have the same tag, in order; the nearest count most."""
        total = np.zeros(len(old), np.float32)
        going = np.ones(len(old), np.float32)
        for step in range(TAGS_ABOVE):
            same = self._same(f"tag {step}", old, new)
            going = going * np.where(same > 0, 1.0, 0.4).astype(np.float32)
            total += going * same
        likeness: Floats = (total / TAGS_ABOVE).astype(np.float32)
        return likeness

    def _put_surroundings(self, put: Put, old: Ints, new: Ints) -> None:
        for name, other, what in (
            ("heading_shared", "other_heading", lambda t: t.heading),
            ("row_shared", "other_row", lambda t: t.row_key),
            ("column_shared", "other_column", lambda t: t.column),
        ):
            table = self._table(name.removesuffix("_shared"), what)
            shared = table.of(table.shared, old, new)
            has_old, has_new = table.has(old, new)
            put(name, shared)
            put(other, has_old & has_new & (shared < 0.15))
        put("same_slot", self._same("slot", old, new))
        before, after = self._table("before", lambda t: t.before), self._table("after", lambda t: t.after)
        put("before_shared", before.of(before.shared, old, new))
        put("after_shared", after.of(after.shared, old, new))

    # --- what both steps stand on ---

    def _table(self, name: str, what: Callable[[Thing], Words]) -> _Table:
        if name not in self._tables:
            sides = [what(t) for t in self.old.things], [what(t) for t in self.new.things]
            self._tables[name] = _Table(sides[0], sides[1], self._weights)
        return self._tables[name]

    def _codes(self, what: str) -> tuple[Ints, Ints]:
        """Texts as numbers, the same text the same number on both sides; 0 for none. Worked out once for each kind."""
        if what not in self._coded:
            text = CODED[what]
            codes: dict[str, int] = {"": 0}
            left = np.array([codes.setdefault(text(t), len(codes)) for t in self.old.things], np.intp)
            right = np.array([codes.setdefault(text(t), len(codes)) for t in self.new.things], np.intp)
            self._coded[what] = left, right
        return self._coded[what]

    def _same(self, what: str, old: Ints, new: Ints) -> Floats:
        left, right = self._codes(what)
        same: Floats = ((left[old] == right[new]) & (left[old] > 0)).astype(np.float32)
        return same

    def _other(self, what: str, old: Ints, new: Ints) -> Floats:
        left, right = self._codes(what)
        other: Floats = ((left[old] != right[new]) & (left[old] > 0) & (right[new] > 0)).astype(np.float32)
        return other

    def _equal(self, what: str) -> npt.NDArray[np.bool_]:
        left, right = self._codes(what)
        equal: npt.NDArray[np.bool_] = (left[:, None] == right[None, :]) & (left[:, None] > 0)
        return equal

    def _alike_controls(self, old: Ints, new: Ints) -> npt.NDArray[np.bool_]:
        names = sorted({t.group for t in (*self.old.things, *self.new.things)})
        table = np.array([[(a, b) in LIKE or (b, a) in LIKE for b in names] for a in names], bool)
        codes = {name: at for at, name in enumerate(names)}
        left = np.array([codes[t.group] for t in self.old.things], np.intp)
        right = np.array([codes[t.group] for t in self.new.things], np.intp)
        alike: npt.NDArray[np.bool_] = table[left[old], right[new]] if len(old) else np.zeros(0, bool)
        return alike

    def _numbers(self, what: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        if what not in self._columns:
            self._columns[what] = _numbers(self.old, what), _numbers(self.new, what)
        return self._columns[what]


Put = Callable[[str, "npt.NDArray[np.generic]"], None]
# Kinds of control that are drawn now one way, now the other: a native list, or a button that opens one.
LIKE: Final = frozenset((("press", "choose"), ("type", "choose"), ("press", "option")))
ACTED_ON: Final = frozenset(("press", "tick", "type", "choose", "upload", "option"))
TAGS_ABOVE: Final = 5


def _tag_above(step: int) -> Callable[[Thing], str]:
    return lambda t: t.tags[step] if step < len(t.tags) else "-"


# What of a thing is equal or not; "" where there is nothing to compare.
CODED: Final[Mapping[str, Callable[[Thing], str]]] = {
    **{name: attrgetter(name) for name in "link group tag role type region test_id form_name".split()},
    **{f"tag {step}": _tag_above(step) for step in range(TAGS_ABOVE)},
    "id": lambda t: "" if t.id_is_weak else t.id,
    "weak id": lambda t: t.id if t.id_is_weak else "",
    "action": lambda t: t.group if t.group in ACTED_ON else "",
    "frame": lambda t: " ".join(t.frame) or "-",
    "slot": lambda t: str(t.slot) if t.slot else "",
}


class _Table:
    """Word lists of both pages against each other, computed once for each pair of different lists."""

    def __init__(self, old: Sequence[Words], new: Sequence[Words], weights: Mapping[str, float]) -> None:
        left: dict[Words, int] = {(): 0}
        right: dict[Words, int] = {(): 0}
        self.old_ids = np.array([left.setdefault(words, len(left)) for words in old], np.intp)
        self.new_ids = np.array([right.setdefault(words, len(right)) for words in new], np.intp)
        common = _common(left, right, weights)
        old_sum = np.array([sum(weights.get(w, 1.0) for w in set(words)) for words in left], np.float32)
        new_sum = np.array([sum(weights.get(w, 1.0) for w in set(words)) for words in right], np.float32)
        union = old_sum[:, None] + new_sum[None, :] - common
        least = np.minimum(old_sum[:, None], new_sum[None, :])
        self.shared: Floats = (common / np.maximum(union, 1e-6)).astype(np.float32)
        self.contained: Floats = (common / np.maximum(least, 1e-6)).astype(np.float32)
        self.kept: Floats = (common / np.maximum(old_sum[:, None], 1e-6)).astype(np.float32)
        self.known: Floats = (common / np.maximum(new_sum[None, :], 1e-6)).astype(np.float32)

    def of(self, table: Floats, old: Ints, new: Ints) -> Floats:
        values: Floats = table[self.old_ids[old], self.new_ids[new]]
        return values

    def has(self, old: Ints, new: Ints) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        return self.old_ids[old] > 0, self.new_ids[new] > 0

    def grid(self, table: Floats) -> Floats:
        values: Floats = table.take(self.old_ids, axis=0).take(self.new_ids, axis=1)
        return values

    def grid_shared(self) -> Floats:
        return self.grid(self.shared)

    def grid_contained(self) -> Floats:
        return self.grid(self.contained)


def _common(left: Iterable[Words], right: Iterable[Words], weights: Mapping[str, float]) -> Floats:
    """The weight of the words that each list of one side has in common with each of the other."""
    rows, columns = _where(left), _where(right)
    words = sorted(rows.keys() & columns.keys())
    has = np.zeros((len(list(left)), len(words)), np.float32)
    had = np.zeros((len(words), len(list(right))), np.float32)
    for at, word in enumerate(words):
        has[rows[word], at] = weights.get(word, 1.0)
        had[at, columns[word]] = 1.0
    common: Floats = has @ had
    return common


def _where(lists: Iterable[Words]) -> dict[str, list[int]]:
    """In which of the lists each word stands."""
    found: dict[str, list[int]] = {}
    for at, words in enumerate(lists):
        for word in set(words):
            found.setdefault(word, []).append(at)
    return found


def _rarity(old: Sequence[Thing], new: Sequence[Thing]) -> dict[str, float]:
    """What a word weighs: much if few things of both pages have it, little if it is a number."""
    counts: Counter[str] = Counter()
    for thing in (*old, *new):
        counts.update({*thing.words, *thing.other_words, *thing.marks})
    total = max(8, len(old) + len(new))
    weights = {}
    for word, count in counts.items():
        weight = float(np.log(1 + total / (1 + count)) / np.log(1 + total / 3)) if count > 2 else 1.0
        weights[word] = max(0.1, weight) * (NUMBER_WEIGHT if is_number(word) else 1.0)
    return weights


def _numbers(view: View, what: str) -> npt.NDArray[np.float64]:
    elements = view.page.elements
    boxes = [elements[t.leader].box for t in view.things]
    page_height = max((e.box.y + e.box.height for e in elements if e.visible), default=0.0)
    match what:
        case "x":
            values = [b.x for b in boxes]
        case "y":
            values = [b.y for b in boxes]
        case "y_share":
            values = [b.y / max(page_height, 1.0) for b in boxes]
        case "below":
            values = [page_height - b.y for b in boxes]
        case "width":
            values = [b.width for b in boxes]
        case "height":
            values = [b.height for b in boxes]
        case "order":
            values = [t.outer / max(1, len(elements)) for t in view.things]
        case "visible":
            values = [float(t.is_visible) for t in view.things]
        case _:
            values = [float(t.is_container) for t in view.things]
    return np.array(values, np.float64)


class Anchors:
    """Sure pairs, and what they say of the pairs around them."""

    def __init__(self, old: View, new: View, partner: Ints, neighbours: tuple[Neighbours, Neighbours]) -> None:
        """`partner`: for each old thing its new thing or -1. `neighbours`: of the old and of the new things."""
        self.old = old
        self.new = new
        self.partner = partner
        self.neighbours = neighbours
        self.containers = self._containers()

    def _containers(self) -> dict[int, tuple[int, float, int]]:
        """Old container -> (new container, how well they agree 0..1, anchors inside), by the votes of the anchors."""
        votes: dict[int, Counter[int]] = {}
        inside_old: Counter[int] = Counter()
        inside_new: Counter[int] = Counter()
        for at, to in enumerate(self.partner):
            if to < 0:
                continue
            left = _chain(self.old, self.old.things[at].outer)
            right = _chain(self.new, self.new.things[to].outer)
            inside_old.update(left)
            inside_new.update(right)
            for one in left:
                votes.setdefault(one, Counter()).update(right)
        found = {}
        for one, counted in votes.items():
            best, agreed = max(
                ((two, 2 * n / (inside_old[one] + inside_new[two])) for two, n in counted.items()),
                key=lambda pair: (round(pair[1], 6), pair[0]),
            )
            found[one] = (best, agreed, inside_old[one])
        return found

    def put(self, columns: Floats, old: Ints, new: Ints) -> None:
        """Fill the context columns."""
        columns[:, INDEX["container"]] = self._container_likeness(old, new)
        columns[:, INDEX["parent"]] = self._parent_likeness(old, new)
        columns[:, INDEX["between"]] = self._between(old, new)
        self._put_neighbours(columns, old, new)

    def _container_likeness(self, old: Ints, new: Ints) -> Floats:
        """1 inside what the nearest known container became, -1 outside of it, less where in doubt; 0 unknown."""
        start = np.full(len(self.old.things), -1.0)
        stop = np.full(len(self.old.things), -1.0)
        trust = np.zeros(len(self.old.things), np.float32)
        for at, thing in enumerate(self.old.things):
            own = 1 if self.partner[at] >= 0 else 0
            for above in _chain(self.old, thing.outer):
                known = self.containers.get(above)
                if known and known[2] - own >= 2:
                    start[at], stop[at], trust[at] = known[0], self.new.last[known[0]], known[1]
                    break
        place = np.array([t.outer for t in self.new.things], np.float64)[new]
        inside = (place > start[old]) & (place <= stop[old])
        likeness: Floats = np.where(inside, trust[old], -trust[old]).astype(np.float32)
        likeness[place == start[old]] = 0  # it is that container itself
        return likeness

    def _parent_likeness(self, old: Ints, new: Ints) -> Floats:
        above_old = np.full(len(self.old.things), -2, np.intp)
        for at, thing in enumerate(self.old.things):
            known = self.containers.get(self.old.page.elements[thing.outer].parent)
            own = 1 if self.partner[at] >= 0 else 0
            if known and known[1] >= 0.5 and known[2] - own >= 1:
                above_old[at] = known[0]
        above_new = np.array([self.new.page.elements[t.outer].parent for t in self.new.things], np.intp)
        same: Floats = (above_old[old] == above_new[new]).astype(np.float32)
        return same

    def _between(self, old: Ints, new: Ints) -> Floats:
        """1 exactly where the nearest anchors before and after say it should be, falling with the distance."""
        count = len(self.old.things)
        known = np.flatnonzero(self.partner >= 0)
        if len(known) < 2:
            return np.zeros(len(old), np.float32)
        place_old = np.array([t.outer for t in self.old.things], np.float64)
        place_new = np.array([t.outer for t in self.new.things], np.float64)
        expected = np.zeros(count)
        span = np.zeros(count)
        spots = np.searchsorted(known, np.arange(count))
        for at in range(count):
            before = spots[at] - 1
            after = spots[at] + (1 if self.partner[at] >= 0 else 0)
            left = known[before] if before >= 0 else known[0]
            right = known[after] if after < len(known) else known[-1]
            a, b = place_old[left], place_old[right]
            c, d = place_new[self.partner[left]], place_new[self.partner[right]]
            share = (place_old[at] - a) / (b - a) if b > a else 0.5
            expected[at] = c + share * (d - c)
            span[at] = min(60.0, abs(d - c) + abs(b - a))
        away = np.abs(place_new[new] - expected[old])
        likeness: Floats = np.exp(-away / (2 + 0.3 * span[old])).astype(np.float32)
        return likeness

    def _put_neighbours(self, columns: Floats, old: Ints, new: Ints) -> None:
        """Is the notable thing just before (after) it on the old page still just before (after) it?"""
        (old_before, old_after), (new_before, new_after) = self.neighbours
        for name, left, right in (
            ("neighbour_before", old_before, new_before),
            ("neighbour_after", old_after, new_after),
        ):
            became = np.where(left >= 0, self.partner[left], -1)
            known = became[old] >= 0
            same = known & (became[old] == right[new])
            columns[:, INDEX[name]] = np.where(same, 1.0, np.where(known, -0.3, 0.0))


def _chain(view: View, index: int) -> list[int]:
    """The nearest ancestors of an element, at most DEEP."""
    chain: list[int] = []
    at = view.page.elements[index].parent
    while at >= 0 and len(chain) < DEEP:
        chain.append(at)
        at = view.page.elements[at].parent
    return chain


Neighbours = tuple[Ints, Ints]


def notable_neighbours(view: View) -> Neighbours:
    """For each thing the nearest notable one that ends before it, and the nearest that starts after it."""
    things = view.things
    notable = [
        at for at, t in enumerate(things) if t.is_visible and not t.is_container and (t.words or t.group in ACTED_ON)
    ]
    notable.sort(key=lambda at: things[at].outer)
    starts = np.array([things[at].outer for at in notable], np.intp)
    before = np.full(len(things), -1, np.intp)
    after = np.full(len(things), -1, np.intp)
    for at, thing in enumerate(things):
        left = int(np.searchsorted(starts, thing.outer)) - 1
        while left >= 0 and things[notable[left]].last >= thing.outer:
            left -= 1  # it is around the thing, not before it
        right = int(np.searchsorted(starts, thing.last, side="right"))
        before[at] = notable[left] if left >= 0 else -1
        after[at] = notable[right] if right < len(notable) else -1
    return before, after
