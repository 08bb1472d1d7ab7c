"""What people send -> values, or what to tell them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from gardener.errors import BadSetting

LARGEST: Final = 100_000  # bytes of a form
LARGEST_TEST: Final = 1_500_000  # of the one that holds the text of a test
LONGEST_TEST: Final = 400_000  # characters of a test that is edited on its page
MOST_FIELDS: Final = 200


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form; of one that stands twice the last counts, as with a checkbox over a hidden field."""

    values: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # every value of each field, in order

    def text(self, name: str, *, longest: int = 10_000) -> str:
        return self.values.get(name, "")[:longest]

    def numbers(self, name: str) -> tuple[int, ...]:
        """The ids that were ticked, once each; what is no number is passed over."""
        found = (one for one in self.lists.get(name, ()) if one.isascii() and one.isdecimal() and len(one) < 16)
        return tuple(dict.fromkeys(map(int, found)))

    def has(self, name: str) -> bool:
        return bool(self.values.get(name))


def read_form(body: bytes, content_type: str) -> Form:
    """Raises BadSetting for what none of our forms sends."""
    if not body:
        return Form()
    if content_type.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise BadSetting("a form is sent as application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise BadSetting("the form cannot be read: it is not UTF-8 text, or has too many fields") from None
    lists: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        lists[name] = (*lists.get(name, ()), value)
    return Form(dict(pairs), lists)


def read_page(text: str | None) -> int:
    """The number of a slice of a list, from 1; the first for anything that is none."""
    if text and text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= 1_000_000:
        return int(text[:9])
    return 1


def own_path(text: str | None, *, otherwise: str) -> str:
    """An address of our own to go on to, never one that leads elsewhere."""
    if not text or not text.startswith("/") or len(text) > 2000:
        return otherwise
    # A browser reads "//host", "/\\host" and "/<tab>/host" as another site; a header takes nothing beyond ASCII.
    if "\\" in text or text.startswith("//") or not (text.isascii() and text.isprintable()):
        return otherwise
    parts = urlsplit(text)
    return otherwise if parts.scheme or parts.netloc else text


def read_settings_form(form: Form, flags: Collection[str], lists: Collection[str]) -> dict[str, str]:
    """The changes as `project set` takes them. A checkbox that is not ticked is not sent: then it is off."""
    changes = {key: text.strip() for key, text in form.values.items() if key != "csrf"}
    changes |= {key: ",".join(_lines(changes[key])) for key in lists if key in changes}
    return changes | {key: "true" if form.has(key) else "false" for key in flags}


def _lines(text: str) -> list[str]:
    return [one.strip() for one in text.replace(",", "\n").splitlines() if one.strip()]
