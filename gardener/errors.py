"""What can go wrong in this room.

GardenerError
├── NotFound       there is no such project, test, run, proposal or repair
├── Refused        a person may not do that now; the sentence says why and what to do instead
├── Conflict       somebody was faster: the test or the row is not what it was
└── BadSetting     a setting that cannot be used
"""


class GardenerError(Exception):
    """Trying again helps unless `permanent`."""

    permanent = True


class NotFound(GardenerError):
    pass


class Refused(GardenerError):
    pass


class Conflict(GardenerError):
    pass


class BadSetting(GardenerError):
    pass
