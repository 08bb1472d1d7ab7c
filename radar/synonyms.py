"""Words that name the same thing on a page, and words that only name a kind of element.

Used where a locator's own words are all that is known (radar/matching.find_by_locator). A short list of what sign-in
forms, address forms and shops say in several ways; what pays, deletes or sends is left out: there a near word is
another deed.
"""

from __future__ import annotations

from typing import Final

from radar.things import Words

# The first of a group stands for all of them; more words than one have to stand next to one another.
_GROUPS: Final = (
    ("login", "signin", "logon", "log in", "sign in", "log on"),
    ("logout", "signout", "logoff", "log out", "sign out", "log off"),
    ("register", "signup", "sign up", "create account"),
    ("last name", "surname", "family name", "lastname", "familyname"),
    ("first name", "forename", "given name", "firstname", "givenname"),
    ("full name", "fullname"),
    ("user name", "username", "user id", "userid"),
    ("password", "passwd", "pwd", "pass"),
    ("email", "mail", "e mail"),
    ("phone", "telephone", "tel"),
    ("zip", "postcode", "zipcode", "postal code", "post code", "zip code"),
    ("town", "city"),
    ("cart", "basket", "bag"),
    ("quantity", "qty"),
    ("picture", "image", "photo"),
    ("menu", "hamburger"),
    ("preference", "setting"),
)
# What an author writes into an id to say what kind of element it is.
KINDS: Final = frozenset(
    "button btn link lnk input inp field fld text txt textbox textfield textarea box select sel dropdown combo "
    "combobox checkbox chk radio icon ico label lbl wrapper container element elem id".split()
)
_STANDS_FOR: Final = {tuple(one.split()): tuple(group[0].split()) for group in _GROUPS for one in group}
_LONGEST: Final = max(map(len, _STANDS_FOR))


def plain(words: Words) -> Words:
    """The words with each known one replaced by what stands for its group, longest first; order is kept."""
    found: list[str] = []
    at = 0
    while at < len(words):
        for size in range(min(_LONGEST, len(words) - at), 0, -1):
            known = _STANDS_FOR.get(words[at : at + size])
            if known:
                found += known
                at += size
                break
        else:
            found.append(words[at])
            at += 1
    return tuple(found)
