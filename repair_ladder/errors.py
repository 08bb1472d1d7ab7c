"""What can go wrong in this room.

LadderError
├── BadTest       a test file, a step or a reply nobody can read; says where and what was expected
└── DoesNotFit    operations that name steps which are not there
"""


class LadderError(Exception):
    """Trying again helps unless `permanent`."""

    permanent = True


class BadTest(LadderError):
    """`place` is the step at fault, () where it is none in particular."""

    def __init__(self, message: str, *, place: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.place = place


class DoesNotFit(LadderError):
    pass
