"""The types of columns, and the one place where what comes in is made fit for both databases."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Integer, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

_LARGEST: Final = 2**63 - 1


def clean(text: str) -> str:
    """The text without what PostgreSQL or UTF-8 cannot hold: NUL and surrogates that stand alone.

    Pages, errors and model answers are full of surprises, and none of them may break a write.
    """
    if "\x00" in text:
        text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two surrogates side by side are one character that was written in halves; those are joined.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return str(text)


def clean_json(value: Any) -> Any:
    """Plain data that JSON can hold everywhere: texts cleaned, tuples as lists, no NaN and no infinity."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean_json(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def canonical(value: Any) -> str:
    """The same text for the same plain data, whatever the order of its keys."""
    return json.dumps(clean_json(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def digest(text: str) -> str:
    """Stands in for a text of any length in a unique index: PostgreSQL indexes nothing above some 2,700 bytes."""
    return hashlib.sha256(clean(text).encode()).hexdigest()


class CleanText(TypeDecorator[str]):
    """Any text; see `clean`."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(str(value))


class CleanJson(TypeDecorator[Any]):
    """Plain data. JSON and not JSONB on PostgreSQL: the order of keys is what the author wrote, and it is kept."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return clean_json(value)


class Moment(TypeDecorator[datetime]):
    """A zoned time in UTC. SQLite keeps no zone, so it is taken off on the way in and put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without a zone: {value!r}")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class RowId(TypeDecorator[int]):
    """The number of a row. One too large for the database is the number of no row, and not an error."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        # Only INTEGER PRIMARY KEY counts up by itself in SQLite; its integers have 64 bits anyway.
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        return value if value is None or abs(value) <= _LARGEST else -1
