"""What can go wrong in this room.

RadarError
├── BadLocator        a locator nobody can read
├── BadPattern        a regular expression nobody can read, or that is too large
├── PatternTooSlow    a regular expression that takes too long on a text
├── Unresolvable      a locator that a snapshot cannot answer (a live page might)
├── PageUnavailable   the app or the browser did not give a page
└── CannotRecord      a person's clicks cannot be recorded here
"""


class RadarError(Exception):
    """Trying again helps unless `permanent`."""

    permanent = True


class BadLocator(RadarError):
    pass


class BadPattern(RadarError):
    pass


class PatternTooSlow(RadarError):
    pass


class Unresolvable(RadarError):
    pass


class PageUnavailable(RadarError):
    """`kind` is "unreachable", "browser" or "timeout"."""

    permanent = False

    def __init__(self, message: str, *, kind: str = "unreachable") -> None:
        super().__init__(message)
        self.kind = kind


class CannotRecord(RadarError):
    pass
