"""Addresses as they are looked at here: without the base URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from repair_ladder.formats.gathering import Unsayable, leads_elsewhere, relative
from repair_ladder.formats.script_locators import Rx
from repair_ladder.formats.script_values import Value, text_condition

if TYPE_CHECKING:
    from repair_ladder.formats.script_reading import Reader

# Parts of addresses that name a host: it stands in the base URL, which addresses are looked at without.
HOSTS: Final = re.compile(
    r"https?|://|\blocalhost\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w-]\.[a-z]{2,24}(?::\d|/)|\.(?:com|org|net|io|dev|app)\b"
)


def whole_address(reader: Reader, url: str) -> str:
    """As addresses are looked at here: without the base URL, else from the root on."""
    url = relative(url, reader.base_url)
    return url if leads_elsewhere(url) or url.startswith(("/", "*", "$")) else f"/{url}"


def url_condition(
    reader: Reader, wanted: Value, *, part: bool = False, negative: bool = False, any_case: bool | None = None
) -> dict[str, Any]:
    if isinstance(wanted, str) and not part:
        wanted = whole_address(reader, wanted)
    elif isinstance(wanted, str | Rx) and names_host(reader, wanted.text if isinstance(wanted, Rx) else wanted):
        # Where addresses have no base URL it is never there, and a check that it is not could not fail.
        kind = "pattern" if isinstance(wanted, Rx) else "part"
        raise Unsayable(f"an address by a {kind} with its host: here addresses have no base URL")
    return text_condition(wanted, part=part, negative=negative, any_case=any_case)


def names_host(reader: Reader, text: str) -> bool:
    """Could this part or pattern of an address only be found together with its host?"""
    host = urlsplit(reader.base_url or "").hostname or ""
    plain = text.replace("\\", "").lower()
    return bool(HOSTS.search(plain)) or (bool(host) and host in plain)
