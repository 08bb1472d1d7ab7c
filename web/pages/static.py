"""The files that every page needs."""

from __future__ import annotations

from litestar import Response, get
from litestar.params import FromPath

from gardener.errors import NotFound
from web import assets


@get("/static/{digest:str}/{name:str}", opt={"asset": True})
async def static_file(digest: FromPath[str], name: FromPath[str]) -> Response[bytes]:
    """One of a few files. Its address changes with its content, so it may be kept for good."""
    found = assets.asset(name)
    if found is None or found.digest != digest:
        raise NotFound("There is no such file.")
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(found.content, media_type=found.media_type, headers=kept)


HANDLERS = [static_file]
