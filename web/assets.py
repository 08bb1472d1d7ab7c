"""Where templates and static files lie: in a checkout beside `web`, in a wheel inside it; htmx in its own package."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import js_lib_htmx  # type: ignore[import-untyped]

HERE: Final = Path(__file__).parent
HTMX: Final = Path(str(js_lib_htmx.__file__)).parent / "static" / "htmx"
# What is served, by the name it is asked for under. Nothing else is: a request never names a path.
FILES: Final = MappingProxyType(
    {
        "app.css": (HERE / "static" / "app.css", "text/css"),
        "app.js": (HERE / "static" / "app.js", "text/javascript"),
        "icon.svg": (HERE / "static" / "icon.svg", "image/svg+xml"),
        "htmx.js": (HTMX / "htmx.min.js", "text/javascript"),
    }
)


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    digest: str


def templates_folder() -> Path:
    """In a wheel they lie inside the package; in a checkout beside it."""
    inside = HERE / "templates"
    return inside if inside.is_dir() else HERE.parent / "templates"


@cache
def asset(name: str) -> Asset | None:
    """One of FILES, read once; None for any other name."""
    found = FILES.get(name)
    if found is None:
        return None
    content = found[0].read_bytes()
    return Asset(content, found[1], hashlib.sha256(content).hexdigest()[:12])


def address(name: str) -> str:
    """Changes with the content, so that a browser may keep the file for good."""
    one = asset(name)
    if one is None:
        raise LookupError(f"there is no static file '{name}'")
    return f"/static/{one.digest}/{name}"
