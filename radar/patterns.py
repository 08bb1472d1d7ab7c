"""Regular expressions that somebody else wrote: read and searched for in bounded time and room.

They come from tests, and so from models and recorders, and are searched for in what a page shows. Python's own `re`
knows no time limit; `regex` does, but copies what is repeated while it compiles, and reads `{...}` and `[:...:]` as
features of its own. Here an expression means what it means in `re`, up to what counts as a letter beyond ASCII.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Final

import regex

from radar.errors import BadPattern, PatternTooSlow

LARGEST: Final = 20_000  # parts, counted as often as they have to be there: a{100} has a hundred
LONGEST_SEARCH_S: Final = 0.5  # in one text; what takes longer is a mistake or an attack
_PARTS: Final = re.compile(
    r"""(?P<escaped>\\N\{[^}]*\}|\\.)
    |(?P<set>\[\^?\]?(?:[^\]\\]|\\.)*\])
    |(?P<comment>\(\?\#[^)]*\))
    |(?P<times>\{(?:(?P<least>\d+)(?:,\d*)?|,\d*)\})
    |(?P<one>.)""",
    re.VERBOSE | re.DOTALL,
)
_WORDY: Final = re.compile(r"\(\?[a-zA-Z]*x")  # white space is no part of the expression, and may hold comments
_OPENS: Final = re.compile(r"(\\.)|\[", re.DOTALL)


@lru_cache(maxsize=256)
def read(text: str, flags: int = 0) -> re.Pattern[str]:
    """As Python reads it; raises BadPattern where it does not, or where it is too large to be searched for."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of what some later Python may read otherwise
            compiled = re.compile(text, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"{_short(text)} is not a regular expression: {error}") from None
    bounded(text, flags)
    return compiled


def found(text: str, within: str, *, seconds: float = LONGEST_SEARCH_S) -> bool:
    """Is there a match anywhere? Raises BadPattern, and PatternTooSlow where that is not known after `seconds`."""
    read(text)
    try:
        return bounded(text, 0).search(within, timeout=seconds) is not None
    except TimeoutError:
        raise PatternTooSlow(
            f"the regular expression {_short(text)} takes too long on a text of {len(within):,} characters"
        ) from None


@lru_cache(maxsize=256)
def bounded(text: str, flags: int) -> regex.Pattern[str]:
    """What can be searched for with a time limit; `text` is one that Python reads. Raises BadPattern."""
    try:
        return regex.compile(_translated(text), flags)
    except (regex.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"{_short(text)} is not a regular expression: {error}") from None


def _translated(text: str) -> str:
    """The same for `regex`. Raises BadPattern where it would not fit into memory."""
    written: list[str] = []
    sizes, last = [0], 0  # of the groups that are open, and of what stood last
    for part in _PARTS.finditer(text):
        own = part[0]
        if part.lastgroup == "comment":
            continue
        if part["times"] is not None:
            times = int(part["least"] or 0) if len(part["least"] or "") < 9 else LARGEST + 1
            sizes[-1] += last * max(0, times - 1)
            last *= max(1, times)
        elif own == "(":
            if _WORDY.match(text, part.start()):
                raise BadPattern(
                    f"{_short(text)} is written in the verbose form: leave out the 'x' and all white space"
                )
            sizes.append(1)
        elif own == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        else:
            sizes[-1] += 1
            last = 1
        if sum(sizes) > LARGEST:
            raise BadPattern(f"the regular expression {_short(text)} has more than {LARGEST:,} parts")
        if part["set"] is not None:
            # [[:alpha:]] is a set of these characters.
            own = own[0] + _OPENS.sub(lambda one: one[1] or r"\[", own[1:-1]) + own[-1]
        elif own == "{":
            own = r"\{"  # no repetition: to `regex` it might be the beginning of "nearly like this"
        written.append(own)
    return "".join(written)


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
