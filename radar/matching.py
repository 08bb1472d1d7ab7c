"""Is this still the same element? Finding the elements of an old page again on a new one, and saying when one is gone.

Whole pages are matched one-to-one, not one element at a time: sure pairs first, then what lies around them. An answer
comes with its probability, its runner-up and its reasons in words. Three rules stand above every likeness: what stood
on the old page under a name of its own is not what another element became; what holds more than the old element did is
not it; and an element that cannot take the step's action is not it. The value that a check expects is never looked at.

Pure: values in, values out. The weights are read once from matching_weights.json; scripts/fit_matching wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from radar import wording
from radar.answers import SHOWN, Candidate, Match, Verdict
from radar.elements import Element, PageSnapshot
from radar.features import ACTED_ON, FEATURES, INDEX, Anchors, Comparison, Floats, Ints, notable_neighbours
from radar.memo import Memo, view_of
from radar.places import Place
from radar.taking import CLICKS, FIELDS, can_take
from radar.telling import reasons, short
from radar.things import (
    Thing,
    View,
    are_nested,
    is_control,
    is_secret,
    path_of,
)
from radar.weights import WEIGHTS, Weights, chance

ROUNDS: Final = 2  # how often anchors are sought again after their surroundings were looked at


def match_pages(old: PageSnapshot, new: PageSnapshot) -> PageMatch:
    """Both pages against each other; remembered for the last few pairs, for a test asks once per step."""
    matched: PageMatch = _MATCHES.get((old, new), lambda: PageMatch(old, new, weights=WEIGHTS))
    return matched


def find_again(old: PageSnapshot, target: int, new: PageSnapshot, *, action: str | None = None) -> Match:
    """Where the element `target` of the old page is on the new one. `action`: the kind of step that needs it."""
    return match_pages(old, new).find(target, action=action)


class PageMatch:
    """A one-to-one matching of two whole pages. Make one with `match_pages`."""

    def __init__(self, old: PageSnapshot, new: PageSnapshot, *, weights: Weights = WEIGHTS) -> None:
        self.old = old
        self.new = new
        self.weights = weights
        self._old = view_of(old)
        self._new = view_of(new)
        comparison = Comparison(self._old, self._new)
        self._left, self._right = comparison.likely_pairs()
        self._features = comparison.features(self._left, self._right)
        self._first = np.searchsorted(self._left, np.arange(len(self._old.things) + 1))
        self._score = self._scored()
        self._settle()

    # --- the matching ---

    def _scored(self) -> Floats:
        score: Floats = self._features @ np.array(self.weights.likeness, np.float32)
        return score

    def _settle(self) -> None:
        """Anchors, their surroundings, anchors again; then every thing gets at most one partner."""
        for _ in range(ROUNDS):
            neighbours = self._old_neighbours, self._new_neighbours
            Anchors(self._old, self._new, self._anchors(), neighbours).put(self._features, self._left, self._right)
            self._score = self._scored()
        self._anchor = self._anchors()
        self._partner, self._partner_score = self._assigned()
        self._owner = np.full(len(self._new.things), -1, np.intp)
        for at, to in enumerate(self._partner):
            if to >= 0:
                self._owner[to] = at

    def _anchors(self) -> Ints:
        """Pairs that are each other's best by a clear lead, and that alike enough."""
        best, second, best_at = _two_best(self._score, self._left, len(self._old.things))
        claim, rival, claim_at = _two_best(self._score, self._right, len(self._new.things))
        partner = np.full(len(self._old.things), -1, np.intp)
        for at, pair in enumerate(best_at):
            if pair < 0:
                continue
            to = int(self._right[pair])
            lead = min(best[at] - second[at], claim[to] - rival[to])
            if claim_at[to] == pair and best[at] >= ANCHOR_FROM and lead >= ANCHOR_LEAD:
                partner[at] = to
        return partner

    def _assigned(self) -> tuple[Ints, list[float]]:
        """Best pairs first, each side used once; and the scores of the pairs."""
        partner = np.full(len(self._old.things), -1, np.intp)
        scores = [0.0] * len(self._old.things)
        used = np.zeros(len(self._new.things), bool)
        for pair in np.argsort(-self._score, kind="stable"):
            if self._score[pair] < ASSIGN_FROM:
                break
            left, right = self._left[pair], self._right[pair]
            if partner[left] < 0 and not used[right]:
                partner[left] = right
                used[right] = True
                scores[left] = float(self._score[pair])
        return partner, scores

    # --- answers ---

    @cached_property
    def pairs(self) -> Mapping[int, int]:
        """Old element -> new element, for the pairs that are sure; each new element once.

        The nodes of a thing go with it: its other nodes are paired in order with those of the same tag.
        """
        sure: dict[int, int] = {}
        for at, thing in enumerate(self._old.things):
            if self._partner[at] < 0:
                continue
            judged = self._judged(at, thing.leader, None)
            decided = self._decide(at, judged, None)
            if decided is not None and decided.verdict == "found":
                sure[thing.leader] = decided.best.element
        given = set(sure.values())
        for thing in self._old.things:
            became = sure.get(thing.leader)
            if became is None:
                continue
            left = [i for i in self._new.things[self._new.thing_of[became]].members if i not in given]
            for member in thing.members:
                tag = self.old.elements[member].tag
                other = next((i for i in left if self.new.elements[i].tag == tag), None)
                if member != thing.leader and other is not None:
                    sure[member] = other
                    left.remove(other)
                    given.add(other)
        return MappingProxyType(sure)

    @cached_property
    def owners(self) -> Mapping[int, int]:
        """New element -> old element, for the pairs that are sure."""
        return MappingProxyType({new: old for old, new in self.pairs.items()})

    def find(self, target: int, *, action: str | None = None) -> Match:
        """Where the old element `target` is now, for a step of the kind `action` (None: whatever the step).

        A check of a text or a value held on the old page, so what the element said there is what the check expects:
        to look for the same words again would find whatever makes the check green. Its own words do not count then.
        """
        at = self._old.thing_of[target]
        return self._answer(at, target, self._judged(at, target, action), action)

    def facts(self, target: int, *, action: str | None = None) -> Mapping[str, float] | None:
        """What the decision on an old element is made from; None where no candidate is left. For fitting and tests."""
        at = self._old.thing_of[target]
        judged = self._judged(at, target, action)
        best, other = self._first_two(at, judged)
        return self._facts(at, judged, best, other, blind=action in CIRCULAR) if best else None

    def _judged(self, at: int, target: int, action: str | None) -> list[_Judged]:
        """All candidates, the best first, those under a veto last."""
        row = slice(int(self._first[at]), int(self._first[at + 1]))
        scores = self._score[row]
        if action in CIRCULAR:
            scores = scores - self._features[row][:, OWN_WORDS] @ np.array(self.weights.likeness, np.float32)[OWN_WORDS]
        judged = [
            self._judge(at, pair, target, action, float(score))
            for pair, score in zip(range(row.start, row.stop), scores, strict=True)
        ]
        judged.sort(key=lambda one: (one.veto != "", -self._freely(at, one)))
        return self._control_first(at, target, self._tightest_first(judged), action)

    def _tightest_first(self, judged: list[_Judged]) -> list[_Judged]:
        """Of candidates inside one another that are equally likely, the one whose words fit best."""
        if not judged or judged[0].veto:
            return judged
        best = judged[0]
        near = [
            one for one in judged if not one.veto and best.score - one.score < TIGHT and self._within(one.to, best.to)
        ]
        columns = [INDEX["same_role"], INDEX["words_shared"]]
        tightest = max(near, key=lambda one: tuple(self._features[one.pair, columns]))
        return [tightest, *(one for one in judged if one is not tightest)]

    def _control_first(self, at: int, target: int, judged: list[_Judged], action: str | None) -> list[_Judged]:
        """Where the best is a part of a control that nobody else was, and the old element acted: that control."""
        leader = self.old.elements[self._old.things[at].leader]
        if not judged or judged[0].veto or not (is_control(leader) or leader.clickable):
            return judged
        best = judged[0]
        part = self._new.things[best.to]
        if is_control(self.new.elements[part.leader]) or part.is_container:
            return judged
        for around, _ in zip(self.new.ancestors(part.outer), range(PART_DEEP), strict=False):
            if not is_control(around):
                continue
            to = self._new.thing_of[around.index]
            if self._is_left_alone(at, best.to, to) and self._can_take(action, self.old.elements[target], around):
                return [replace(best, to=to, element=around.index), *(one for one in judged[1:] if one.to != to)]
            break
        return judged

    def _is_left_alone(self, at: int, part: int, control: int) -> bool:
        """Is a new control nobody else's, and did no other old control become a part of it?"""
        owner = int(self._owner[control])
        if owner not in (-1, at) and is_control(self.old.elements[self._old.things[owner].leader]):
            return False
        for other, to in enumerate(self._partner):
            if to < 0 or other == at or to in (part, control) or not self._inside(int(to), control):
                continue
            if is_control(self.old.elements[self._old.things[other].leader]):
                return False
        return True

    def _inside(self, one: int, outer: int) -> bool:
        return self._new.things[outer].outer <= self._new.things[one].outer <= self._new.things[outer].last

    def _judge(self, at: int, pair: int, target: int, action: str | None, score: float) -> _Judged:
        to = int(self._right[pair])
        element = self._actor(self.old.elements[target], self._old.things[at], self._new.things[to], action)
        if element is not None and target != self._old.things[at].leader:
            element = self._same_part(target, self._new.things[to], element)
        veto = self._veto(at, to, target, element, action)
        chosen = element if element is not None else self._new.things[to].leader
        return _Judged(to, pair, chosen, score, veto)

    def _actor(self, old: Element, was: Thing, thing: Thing, action: str | None) -> int | None:
        """The element of a thing that takes the action; None if none can."""
        able = [e for e in map(self.new.elements.__getitem__, thing.members) if self._can_take(action, old, e)]
        if not able:
            return None
        acts = action is not None and not action.startswith("assert")
        if (acts or old.index == was.leader) and thing.leader in {e.index for e in able}:
            return thing.leader
        return next((e.index for e in able if e.tag == old.tag), able[-1].index)

    def _same_part(self, target: int, thing: Thing, element: int) -> int:
        """A part that was known by a text of its own is still that part where the rest grew around it."""
        text = self.old.texts[target]
        if not text or self.new.texts[element] == text:
            return element
        inside = range(thing.outer, thing.last + 1)
        return next((i for i in inside if self.new.texts[i] == text and self.new.elements[i].visible), element)

    def _can_take(self, action: str | None, old: Element, new: Element) -> bool:
        if can_take(action, old, new):
            return True
        # A click on the words inside a button is a click on the button.
        return (
            action in CLICKS
            and new.visible
            and any(is_control(e) or e.clickable for e, _ in zip(self.new.ancestors(new.index), range(4), strict=False))
        )

    def _veto(self, at: int, to: int, target: int, element: int | None, action: str | None) -> str:
        """Why this candidate is out of the question, or ""."""
        old, new = self._old.things[at], self._new.things[to]
        before = self.old.elements[target]
        now = self.new.elements[element if element is not None else new.leader]
        if is_secret(before) != is_secret(now) and "type" in (old.group, new.group):
            return "a password field and another field are never the same"
        if element is None:
            return f"cannot take the step's action ({action})" if new.is_visible else HIDDEN
        stood = self._stood_before(at, to)
        if stood:
            return stood
        if self._holds_more(at, to):
            return "it holds more than the old element did"
        return ""

    def _stood_before(self, at: int, to: int) -> str:
        """Was this element on the old page already, under a name of its own?"""
        old, new = self._old.things[at], self._new.things[to]
        name = _bare(new.key)
        if not name or new.is_volatile or name == _bare(old.key):
            return ""
        named_so = self._old_by_key.get((name, _readable(new)), ())
        before = [k for k in named_so if k != at and not self._same_place(k, at) and not self._nested(k, at)]
        now = self._new_by_key.get((name, _readable(new)), ())
        if before and len(before) >= len(now):
            return f'"{short(new.said)}" already stood on the old page beside it'
        return ""

    def _same_place(self, one: int, other: int) -> bool:
        """A label and its field: what is done to one is done to the other."""
        return self._old.companions.get(one) == other or self._old.companions.get(other) == one

    def _nested(self, one: int, other: int) -> bool:
        return are_nested(self._old.things[one], self._old.things[other])

    @cached_property
    def _old_by_key(self) -> Mapping[tuple[str, bool], list[int]]:
        return _by_key(self._old)

    @cached_property
    def _new_by_key(self) -> Mapping[tuple[str, bool], list[int]]:
        return _by_key(self._new)

    def _holds_more(self, at: int, to: int) -> bool:
        """Is it around what the old element became, or does it hold more of what was outside of it than of its own?"""
        old, new = self._old.things[at], self._new.things[to]
        if new.outer == new.last:
            return False
        became = int(self._anchor[at])
        if became >= 0 and became != to and new.outer < self._new.things[became].outer <= new.last:
            # The anchor is in doubt where it keeps only some of the words.
            return new.key != old.key and self._new.things[became].key == old.key
        places, owners = self._worded_anchors
        inside = slice(*np.searchsorted(places, (new.outer + 1, new.last + 1)))
        is_own = (owners[inside] >= old.outer) & (owners[inside] <= old.last)
        return bool(2 * np.count_nonzero(is_own) < len(is_own))

    @cached_property
    def _worded_anchors(self) -> tuple[Ints, Ints]:
        """The anchors that people notice: their places on the new page, in order, and on the old one."""
        noticed = [
            (self._new.things[to].outer, self._old.things[at].outer)
            for at, to in enumerate(self._anchor)
            if to >= 0 and (self._old.things[at].words or self._old.things[at].group in ACTED_ON)
        ]
        places = np.array(sorted(noticed), np.intp).reshape(-1, 2)
        return places[:, 0], places[:, 1]

    def _answer(self, at: int, target: int, judged: list[_Judged], action: str | None) -> Match:
        decided = self._decide(at, judged, action)
        if decided is None:
            return self._nothing_left(at, judged)
        best, other = decided.best, decided.other
        candidates = self._listed(at, judged, best, decided.probability)
        reasons = candidates[0].reasons
        if decided.verdict != "found":
            reasons = (self._why_not(at, decided), *reasons)
        runner_up = other.element if other else None
        return Match(
            decided.verdict,
            best.element,
            decided.probability,
            reasons,
            runner_up,
            candidates,
            decided.doubt.why if decided.doubt.of_wording else "",
        )

    def _decide(self, at: int, judged: list[_Judged], action: str | None) -> _Decided | None:
        """The verdict on the best candidate; None where every one is under a veto."""
        best, other = self._first_two(at, judged)
        if best is None:
            return None
        facts = self._facts(at, judged, best, other, blind=action in CIRCULAR)
        probability = chance(self.weights.found, facts)
        verdict: Verdict = "unsure"
        doubt = _Doubt()
        if self._is_guess(best):
            probability = min(probability, GUESS_MOST)
        elif probability >= self.weights.found_from and not self._is_claimed(at, best.to):
            doubt = self._doubt(at, judged, best, action)
            # Two of the new page may fit about as well, such as one button that became two: either would be a guess.
            if facts["lead"] * 10 >= LEAST_LEAD and not doubt.why:
                verdict = "found"
            else:
                probability = GUESS_MOST
                doubt = doubt if facts["lead"] * 10 >= LEAST_LEAD else replace(doubt, of_wording=False)
        elif chance(self.weights.gone, facts) >= self.weights.gone_from and self._may_be_gone(judged):
            verdict = "gone"
        return _Decided(verdict, probability, best, other, doubt)

    def _doubt(self, at: int, judged: Sequence[_Judged], best: _Judged, action: str | None) -> _Doubt:
        """What speaks against the best candidate, however likely it is."""
        name = self._called(best)
        if self._may_be_a_stranger(at, best.to):
            return _Doubt(f"{name} may have stood there before: the old page was not read to its end")
        if action in CIRCULAR:
            return _Doubt()
        if self._kept_nothing(best):
            return _Doubt(f"{name} may have taken its place: neither its words nor its marks were kept")
        if self._is_field_turned_button(at, best):
            return _Doubt(f"{name} is a button that holds and opens nothing, where a field stood")
        better = self._said_better(at, judged, best)
        if better:
            said = short(self._new.things[better.to].said)
            return _Doubt(
                f'{name} left out a part of what the old one said, and "{said}", which is new, says all of it'
            )
        return self._doubt_of_wording(at, best, name)

    def _is_field_turned_button(self, at: int, best: _Judged) -> bool:
        """A list may become a button that opens one, a box one that is pressed; any other button in a field's place is
        something else, and a label around both names either."""
        old, new = self._old.things[at], self._new.things[best.to]
        if old.group not in FIELDS or new.group != "press":
            return False
        members = map(self.new.elements.__getitem__, new.members)
        return not any(one.attributes.keys() & STATES for one in members)

    def _doubt_of_wording(self, at: int, best: _Judged, name: str) -> _Doubt:
        """A control that says something else may do something else, and nothing but a mark it kept speaks for it."""
        old, new = self._old.things[at], self._new.things[best.to]
        if old.group not in NAMED_BY_THEIR_DEED or old.key == new.key:
            return _Doubt()
        against = wording.opposite(old.words, new.words)
        if against:
            return _Doubt(f"{name} stands in its place, and {against}")
        has = self._features[best.pair]
        if wording.swapped(old.words, new.words) and not has[SAME_MARKS].any():
            why = f'"{short(old.said)}" now reads {name}: nobody knows whether it still does the same'
            # With another mark, or no word in common, it kept nothing but its place: that is more than a rewording.
            of_wording = not has[OTHER_MARKS].any() and wording.share_words(old.words, new.words)
            return _Doubt(why, of_wording)
        return _Doubt()

    def _called(self, one: _Judged) -> str:
        thing = self._new.things[one.to]
        return f'"{short(thing.said)}"' if thing.said else f'"<{thing.tag}>"'

    def _may_be_gone(self, judged: list[_Judged]) -> bool:
        """Can anything be said to be gone, and is it not merely hidden, such as what only the pointer brings up?"""
        named = [INDEX["same_words"], INDEX["same_id"]]
        return self.is_known and not any(one.veto == HIDDEN and self._features[one.pair, named].any() for one in judged)

    def _first_two(self, at: int, judged: list[_Judged]) -> tuple[_Judged | None, _Judged | None]:
        """The best candidate, and the best that stands elsewhere and is not plainly another old element's."""
        open_ = [one for one in judged if not one.veto]
        if not open_:
            return None, None
        best, told_apart = self._by_place(at, open_)
        others = [
            one
            for one in open_
            if one is not best
            and one.to not in told_apart
            and not self._acts_alike(one.to, best.to)
            and not self._within(one.to, best.to)
        ]
        return best, max(others, key=lambda one: self._freely(at, one), default=None)

    def _by_place(self, at: int, open_: Sequence[_Judged]) -> tuple[_Judged, frozenset[int]]:
        """The best candidate, and the twins of it that plainly stand elsewhere.

        A link of the header that the footer repeats has its like there in all but its place: the one that stands among
        what the old element stood among is it, if the others do not.
        """
        best = open_[0]
        key = self._new.things[best.to].key
        twins = [
            one for one in open_ if best.score - one.score < LEAST_LEAD and key and self._new.things[one.to].key == key
        ]
        if len(twins) < 2:
            return best, frozenset()
        company = {one.to: self._place.company(at, one.to) for one in twins}
        first = max(twins, key=lambda one: company[one.to])
        others = frozenset(to for to in company if company[first.to] - company[to] >= AMONG)
        if len(others) + 1 < len(company) or self._is_claimed(at, first.to):
            return best, frozenset()
        return first, others

    def _may_be_a_stranger(self, at: int, to: int) -> bool:
        """Could this have stood on the old page already, for all that is known of it?

        Where the old page was not read to its end, nobody can say that the like of an element did not stand elsewhere
        on it. What is found far off, while what stood around the old element still stands together nearer to its
        place, may be that other one.
        """
        return not self.old.complete and self._place.is_left_behind(at, to)

    @cached_property
    def _place(self) -> Place:
        return Place(self._old, self._new)

    def _within(self, one: int, other: int) -> bool:
        """Is one new thing inside the other?"""
        return are_nested(self._new.things[one], self._new.things[other])

    def _depth_lead(self, judged: list[_Judged], best: _Judged) -> float:
        """The lead over what is around the best or inside of it: the same place, but another extent."""
        nested = [
            one.score
            for one in judged
            if one is not best and not one.veto and one.to != best.to and self._within(one.to, best.to)
        ]
        return min(LEAD_MOST, best.score - max(nested)) if nested else LEAD_MOST

    def _freely(self, at: int, one: _Judged) -> float:
        """A candidate's score, less what its present owner would lose by giving it up."""
        owner = int(self._owner[one.to])
        if owner < 0 or owner == at or self._same_place(owner, at):
            return one.score
        return one.score - max(0.0, self._partner_score[owner] - one.score)

    def _nothing_left(self, at: int, judged: list[_Judged]) -> Match:
        candidates = tuple(Candidate(one.element, 0.0, (one.veto,)) for one in judged[:SHOWN])
        best = judged[0].element if judged else None
        reasons = ("nothing on the new page can be it", *dict.fromkeys(one.veto for one in judged[:SHOWN]))
        # Of a page that hardly shares anything with the old one nothing can be said, not even that.
        verdict: Verdict = "gone" if self._may_be_gone(judged) else "unsure"
        return Match(verdict, best, 0.0, reasons, None, candidates)

    def _listed(self, at: int, judged: list[_Judged], best: _Judged, probability: float) -> tuple[Candidate, ...]:
        """The best five; what the first leaves over is shared among the others by their scores."""
        rest = [one for one in judged if one is not best and not one.veto]
        shares = np.exp([one.score - best.score for one in rest])
        total = float(shares.sum()) or 1.0
        listed = [Candidate(best.element, probability, self._reasons(at, best))]
        for one, share in zip(rest[: SHOWN - 1], shares, strict=False):
            chance = min(probability, (1 - probability) * float(share) / max(total, 1.0))
            listed.append(Candidate(one.element, chance, self._reasons(at, one)))
        listed += [Candidate(one.element, 0.0, (one.veto,)) for one in judged if one.veto]
        return tuple(listed[:SHOWN])

    def _acts_alike(self, one: int, other: int) -> bool:
        """Would acting on one be acting on the other: a label and its field?"""
        return self._new.companions.get(one) == other or self._new.companions.get(other) == one

    def _is_claimed(self, at: int, to: int) -> bool:
        owner = int(self._owner[to])
        return owner >= 0 and owner != at and not self._same_place(owner, at) and not self._nested(owner, at)

    def _facts(
        self, at: int, judged: list[_Judged], best: _Judged, other: _Judged | None, *, blind: bool = False
    ) -> Mapping[str, float]:
        """What the decision is made from. `blind`: the words do not count (see CIRCULAR).

        Without them a right answer scores less, by about BLIND_SCORE; lead and claim are asked for all the same.
        """
        values = self._features[best.pair].copy()
        score = best.score
        if blind:
            values[OWN_WORDS] = 0
            score += BLIND_SCORE
        lead = min(LEAD_MOST, best.score - self._freely(at, other)) if other else LEAD_MOST
        claim = min(LEAD_MOST, best.score - self._rival(at, best.to))
        facts = {name: float(values[INDEX[name]]) for name in FEATURES}
        facts |= {
            "constant": 1.0,
            "score": score / 10,
            "score_low": min(score, 9) / 3,
            "score_high": min(max(score - 9, 0), 9) / 3,
            "depth_lead": self._depth_lead(judged, best) / 10,
            "kept": self.kept,
            "closed": self._is_closed(at),
            "newcomers": self._newcomers,
            **self._room(at),
            "claimed": float(self._is_claimed(at, best.to)),
        }
        for name, value, least in (("lead", lead, 2), ("claim", claim, 3), ("least", min(lead, claim), 2)):
            facts[name] = value / 10
            facts[f"{name}_low"] = max(-least, min(value, 2))
            facts[f"{name}_high"] = min(max(value - 2, 0), 6) / 2
        return facts

    @cached_property
    def kept(self) -> float:
        """How much of what people notice on the old page was surely found again, 0..1."""
        notable = _notable(self._old)
        return sum(self._anchor[at] >= 0 for at in notable) / len(notable) if notable else 0.0

    @cached_property
    def is_known(self) -> bool:
        """Is the new page the old one and all there, so that what is not on it can be said to be gone?

        Either much of it was found again, or it was redrawn: at the same address some of the old page in a page that
        is not much emptier. Half a page, a sign-in form or an error in its place has less on it or stands elsewhere.
        """
        if not self.new.complete:
            return False
        if self.kept >= KNOWN_PAGE:
            return True
        is_full = len(_notable(self._new)) >= FULL_PAGE * len(_notable(self._old))
        return self.kept >= REDRAWN_PAGE and is_full and _address(self.old) == _address(self.new)

    def _is_closed(self, at: int) -> float:
        """1 if what stood before and what stood after it now stand side by side: there is no place left for it."""
        before, after = (int(side[at]) for side in self._old_neighbours)
        left = int(self._anchor[before]) if before >= 0 else -1
        right = int(self._anchor[after]) if after >= 0 else -1
        if left < 0 or right < 0:
            return 0.0
        return 1.0 if self._new_neighbours[1][left] == right or self._new_neighbours[0][right] == left else -1.0

    @cached_property
    def _arrived(self) -> tuple[Ints, npt.NDArray[np.str_]]:
        """The new things that people notice and that no old one became: their places and what can be done with them."""
        came = [
            thing
            for to, thing in enumerate(self._new.things)
            if self._owner[to] < 0 and thing.is_visible and (thing.words or thing.group in ACTED_ON)
        ]
        return np.array([t.outer for t in came], np.intp), np.array([t.group for t in came], np.str_)

    @cached_property
    def _newcomers(self) -> float:
        """Their share of the new page, 0..1."""
        return len(self._arrived[0]) / max(1, len(self._new.things))

    @cached_property
    def _anchored(self) -> Ints:
        return np.flatnonzero(self._anchor >= 0)

    def _room(self, at: int) -> Mapping[str, float]:
        """Has anything arrived between what stood before and what stood after it, or anywhere that is of its kind?"""
        spots = self._anchored
        place = int(np.searchsorted(spots, at))
        after = place + (1 if place < len(spots) and spots[place] == at else 0)
        left = self._anchor[spots[place - 1]] if place else 0
        right = self._anchor[spots[after]] if after < len(spots) else len(self._new.things) - 1
        low, high = (int(self._new.things[int(to)].outer) for to in sorted((left, right)))
        places, groups = self._arrived
        alike = groups == self._old.things[at].group
        between = (places >= low) & (places <= high)
        return {
            "room": min(int(between.sum()), 5) / 5,
            "room_alike": min(int((between & alike).sum()), 3) / 3,
            "arrived_alike": min(int(alike.sum()), 5) / 5,
        }

    @cached_property
    def _old_neighbours(self) -> tuple[Ints, Ints]:
        return notable_neighbours(self._old)

    @cached_property
    def _new_neighbours(self) -> tuple[Ints, Ints]:
        return notable_neighbours(self._new)

    def _rival(self, at: int, to: int) -> float:
        """The best score another old thing has with this new one, less what that one would lose by the change."""
        best = 0.0
        for pair in self._pairs_to[to]:
            other = int(self._left[pair])
            if other == at or self._same_place(other, at) or self._nested(other, at):
                continue
            score = float(self._score[pair])
            if self._partner[other] != to:
                score -= max(0.0, self._partner_score[other] - score)
            best = max(best, score)
        return best

    @cached_property
    def _pairs_to(self) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in self._new.things]
        for pair, to in enumerate(self._right):
            lists[to].append(pair)
        return lists

    @cached_property
    def speaks_another_language(self) -> bool:
        """Do the two pages say that they are in different languages?"""
        old, new = (page.language.lower().partition("-")[0] for page in (self.old, self.new))
        return bool(old and new and old != new)

    def _is_guess(self, best: _Judged) -> bool:
        """In another language only what kept its words, or has none, is more than a guess."""
        return self.speaks_another_language and bool(
            self._features[best.pair, INDEX["no_common_word"]] or self._features[best.pair, INDEX["wordless"]]
        )

    def _kept_nothing(self, best: _Judged) -> bool:
        """Has it neither a word nor a mark of what the old element was named by, but others in their place?

        What stands where it stood, under another name and another id, is what took its place.
        """
        has = self._features[best.pair]
        return bool(has[INDEX["no_common_word"]] and has[OTHER_MARKS].any() and not has[SAME_MARKS].any())

    def _said_better(self, at: int, judged: Sequence[_Judged], best: _Judged) -> _Judged | None:
        """A newcomer that says all the old element said, where the best candidate dropped a part of it.

        "Save draft" that now reads "Save and publish", with "Save as draft" elsewhere: an id or a place that was kept
        does not say which of the two it became.
        """
        wanted = wording.telling_words(self._old.things[at].words)
        if not wanted or wanted <= set(self._new.things[best.to].words):
            return None
        group = self._old.things[at].group
        for one in judged:
            thing = self._new.things[one.to]
            if one is best or one.veto or thing.group != group or not wanted <= set(thing.words):
                continue
            if (
                self._owner[one.to] in (-1, at)
                and not self._within(one.to, best.to)
                and not self._acts_alike(one.to, best.to)
            ):
                return one
        return None

    # --- words ---

    def _why_not(self, at: int, decided: _Decided) -> str:
        best, other = decided.best, decided.other
        name = self._called(best)
        if decided.verdict == "gone":
            return f"nothing on the new page is like it; nearest is {name}"
        if self._is_claimed(at, best.to):
            whose = short(self._old.things[int(self._owner[best.to])].said)
            return f"{name} fits another old element better{f': {whose}' if whose else ''}"
        if self._is_guess(best):
            return f"{name} is a guess: the page answers in another language"
        if decided.doubt.why:
            return decided.doubt.why
        if other and best.score - other.score < 2:
            return f"{name} and {self._called(other)} are equally likely"
        return f"{name} is likely, but too much about it changed"

    def _reasons(self, at: int, one: _Judged) -> tuple[str, ...]:
        return reasons(self._old.things[at], self._new.things[one.to], self._features[one.pair])


@dataclass(frozen=True, slots=True)
class _Judged:
    to: int  # new thing
    pair: int
    element: int
    score: float
    veto: str


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Why even a likely candidate is not called found, "" for no reason. `of_wording`: nothing else is the matter."""

    why: str = ""
    of_wording: bool = False


@dataclass(frozen=True, slots=True)
class _Decided:
    verdict: Verdict
    probability: float
    best: _Judged
    other: _Judged | None
    doubt: _Doubt


# Steps whose expectation is the element's own text or value.
CIRCULAR: Final = frozenset(("assert_text", "assert_value", "assert_contains", "assert_number"))
OWN_WORDS: Final = [
    INDEX[name]
    for name in (
        "same_words",
        "same_rare_words",
        "words_shared",
        "words_kept",
        "words_known",
        "all_words_contained",
        "letters_alike",
        "no_common_word",
        "words_on_one_side",
    )
]

# What an element is named by, besides its words.
SAME_MARKS: Final = [INDEX[f"same_{name}"] for name in ("id", "test_id", "form_name", "link")]
OTHER_MARKS: Final = [INDEX[f"other_{name}"] for name in ("id", "test_id", "form_name", "link")]

# What says what it does; a list says what was chosen from it.
NAMED_BY_THEIR_DEED: Final = frozenset(("press", "tick", "type"))

# What a button says of the value it holds, or that it opens a choice of values.
STATES: Final = frozenset(("aria-haspopup", "aria-expanded", "aria-pressed", "aria-checked"))

BLIND_SCORE: Final = 3.0
ANCHOR_FROM: Final = 8.0
ANCHOR_LEAD: Final = 1.5
ASSIGN_FROM: Final = 4.0
LEAD_MOST: Final = 10.0
KNOWN_PAGE: Final = 0.3  # share of the old page that must be found again before anything is called gone
REDRAWN_PAGE: Final = 0.1  # the same of a page that was redrawn
FULL_PAGE: Final = 0.7  # what a redrawn page has on it at least, as a share of the old one
HIDDEN: Final = "it is hidden"
TIGHT: Final = 1.0  # scores so close are equal
PART_DEEP: Final = 4  # how far up a control is sought around one of its parts
GUESS_MOST: Final = 0.5  # the most that a guess may be worth
LEAST_LEAD: Final = 2.5  # over the best different candidate, in points of likeness
AMONG: Final = 0.5  # of what stood around an element: most of it


def _two_best(score: Floats, side: Ints, count: int) -> tuple[Floats, Floats, Ints]:
    """For each thing of one side its best and second best score, and the pair of the best (-1: no pair)."""
    best = np.full(count, -np.inf, np.float32)
    second = np.full(count, -99.0, np.float32)
    at = np.full(count, -1, np.intp)
    order = np.lexsort((-score, side))
    sides = side[order]
    firsts = np.flatnonzero(np.r_[True, sides[1:] != sides[:-1]]) if len(sides) else np.zeros(0, np.intp)
    at[sides[firsts]] = order[firsts]
    best[sides[firsts]] = score[order[firsts]]
    seconds = firsts + 1
    seconds = seconds[seconds < len(sides)]
    seconds = seconds[~np.isin(seconds, firsts)]
    second[sides[seconds]] = score[order[seconds]]
    return best, second, at


def _notable(of: View) -> list[int]:
    """The things that people notice."""
    return [at for at, t in enumerate(of.things) if t.is_visible and (t.words or t.group in ACTED_ON)]


def _address(page: PageSnapshot) -> str:
    """The path of a page, without what is asked of it."""
    return path_of(page.url).partition("?")[0].partition("#")[0].rstrip("/")


def _by_key(of: View) -> Mapping[tuple[str, bool], list[int]]:
    found: dict[tuple[str, bool], list[int]] = {}
    for at, thing in enumerate(of.things):
        if thing.key and thing.is_visible:
            found.setdefault((_bare(thing.key), _readable(thing)), []).append(at)
    return found


def _bare(key: str) -> str:
    """A name without white space: between two inline elements it is often only drawn (a flex row), and not there."""
    return key.replace(" ", "")


def _readable(thing: Thing) -> bool:
    """Something to read rather than something to act on."""
    return thing.group not in ACTED_ON


_MATCHES: Final = Memo(4)
