"""An error of any room -> a status code and what a person reads."""

from __future__ import annotations

from dataclasses import dataclass

from litestar.exceptions import HTTPException

from gardener.errors import BadSetting, Conflict, GardenerError, NotFound, Refused
from radar.errors import RadarError
from repair_ladder.errors import LadderError


class SignInFirst(Exception):
    """Nobody is signed in, and the page is not for everybody."""


class ChangePasswordFirst(Exception):
    """The password was given to them: nothing else before they have chosen their own."""


class Forged(Exception):
    """A form came without the token that only our own pages have."""


class WrongHost(Exception):
    """Asked for under a name that is not ours: another site may have made its own name lead here."""


class NotAllowed(Exception):
    """They are signed in, and this is for admins."""


@dataclass(frozen=True, slots=True)
class Told:
    status: int
    title: str
    text: str


def tell(error: Exception) -> Told:
    """What to answer. Errors that nobody foresaw say nothing of themselves: the log has them."""
    match error:
        case NotFound():
            return Told(404, "Not found", str(error))
        case Refused() | Conflict():
            return Told(409, "Not done", str(error))
        case BadSetting():
            return Told(422, "That does not fit", str(error))
        case GardenerError() if not error.permanent:
            return Told(503, "Busy", f"{error} Try again in a moment.")
        case GardenerError() | LadderError() | RadarError():
            return Told(422, "Not done", str(error))
        case Forged():
            return Told(
                403,
                "The form is out of date",
                "It was sent without a valid token, and nothing was done. Load the page again and send it once more.",
            )
        case WrongHost():
            return Told(421, "Not here", "These pages are not served under that name; --public-url says which one.")
        case NotAllowed():
            return Told(403, "For admins", "Only an admin may do that. Ask one of them.")
        case HTTPException(status_code=404) | HTTPException(status_code=405):
            return Told(404, "Not found", "There is no such page.")
        case HTTPException(status_code=400):
            return Told(404, "Not found", "There is no such page: a part of its address is not what it should be.")
        case HTTPException(status_code=413):
            return Told(413, "Too much", "What was sent is larger than any form of these pages.")
        case HTTPException(status_code=code):
            return Told(code, "Not done", "The request could not be answered.")
        case _:
            return Told(500, "Something broke", "The log of the server says what. Nothing was left half done.")
