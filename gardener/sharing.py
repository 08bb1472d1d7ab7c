"""What a change of a fragment does to the tests that use it: which it heals, which it would turn red."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias

MOST_TRIED: Final = 50  # tests that are run with a new fragment before it is applied
LONGEST: Final = timedelta(minutes=15)  # for all of them
MOST_NAMED: Final = 5  # tests in a sentence

Said: TypeAlias = Literal[
    "healed",  # green with it, and red or at risk without
    "green",  # green with it, as it was
    "broken",  # red with it, or earlier than without: it is held for a person
    "red",  # red anyway, for a reason of its own
    "unknown",  # its surroundings kept it from being run
]

HELD: Final = ("broken", "unknown")


@dataclass(frozen=True, slots=True)
class Tried:
    """A test that was run with the new fragment. `where` and `why` tell of what is not green."""

    test: int
    name: str
    version: int
    said: Said
    where: str = ""
    why: str = ""
    run: int | None = None

    @property
    def sentence(self) -> str:
        at = f" at step {self.where}" if self.where else ""
        if self.said == "broken":
            return f"'{self.name}', which is green without it, does not pass with it{at}: {self.why}"
        return f"'{self.name}' could not be run with it{at}: {self.why}"


@dataclass(frozen=True, slots=True)
class Sharing:
    """A change of a fragment as one test proved it, and the others that use the fragment.

    `via` is the test that was red and is green with it, `use` the place in it where the fragment is used; "" where the
    test is itself what the others use. `left` are those that a bound or the hour kept from being run, and `tripped`
    says which. `together` are other proposals that were proven in the same run and are applied with it.
    """

    via: int
    via_name: str
    use: str = ""
    tried: tuple[Tried, ...] = ()
    left: tuple[str, ...] = ()
    tripped: str = ""
    together: tuple[int, ...] = ()

    @property
    def heals(self) -> tuple[str, ...]:
        """The names of the tests that it mends, first the one that proved it."""
        return (self.via_name, *(one.name for one in self.tried if one.said == "healed"))

    def mends(self, test: int, version: int) -> bool:
        """Was that version of a test shown green with it?"""
        healed = ((one.test, one.version) for one in self.tried if one.said == "healed")
        return test == self.via or (test, version) in healed

    @property
    def against(self) -> tuple[str, ...]:
        """Why a person has to see it, a sentence each."""
        found = [one.sentence for one in self.tried if one.said in HELD]
        if self.left:
            found.append(f"{_listed(self.left)} {'was' if len(self.left) == 1 else 'were'} not run: {self.tripped}")
        return tuple(found)

    @property
    def summary(self) -> str:
        """In words: how many tests it heals and how many others pass with it."""
        heals, green = self.heals, sum(one.said == "green" for one in self.tried)
        more = f"; {green} more that use it {'stays' if green == 1 else 'stay'} green" if green else ""
        return f"heals {len(heals)} test{'s' if len(heals) != 1 else ''} ({_listed(heals)}){more}"

    @property
    def told(self) -> str:
        """All of it in one sentence."""
        held = f"; for a person to see: {'; '.join(self.against)}" if self.against else ""
        return f"it {self.summary}{held}"

    def news(self, before: Sharing) -> tuple[str, ...]:
        """What speaks against it now and was not told before."""
        told = {(one.test, one.said) for one in before.tried}
        found = [one.sentence for one in self.tried if one.said in HELD and (one.test, one.said) not in told]
        if not set(self.left) <= set(before.left):
            found += self.against[-1:]
        return tuple(found)

    def with_(self, one: Tried) -> Sharing:
        """With what a later run of a test said in the place of what is known of it."""
        if one.test == self.via:
            return self
        kept = tuple(each for each in self.tried if each.test != one.test)
        return replace(self, tried=(*kept, one), left=tuple(name for name in self.left if name != one.name))

    def shape(self) -> dict[str, Any]:
        return asdict(self) | {"tried": [asdict(one) for one in self.tried]}


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:MOST_NAMED])
    return f"{shown} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else shown


def read(raw: Mapping[str, Any] | None) -> Sharing | None:
    if raw is None:
        return None
    known = dict(raw) | {key: tuple(raw.get(key, ())) for key in ("left", "together")}
    return Sharing(**known | {"tried": tuple(Tried(**one) for one in raw.get("tried", ()))})
