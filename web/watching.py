"""What jobs of this process tell while they are done, for the pages that watch them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

MOST_JOBS: Final = 40  # so many of the newest are remembered
MOST_LINES: Final = 2000  # of one job

# Work on a job runs in one task and those that it starts; each of them carries its number along.
_job: ContextVar[int | None] = ContextVar("job", default=None)


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    what: str
    details: Mapping[str, Any]


@dataclass
class _Topic:
    lines: deque[Line] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    told: int = 0
    news: asyncio.Condition = field(default_factory=asyncio.Condition)


class Watching:
    """The Watch of `serve`: keeps what each job tells, and hands it to everybody who follows that job."""

    def __init__(self) -> None:
        self._topics: OrderedDict[int, _Topic] = OrderedDict()
        self._closed = asyncio.Event()

    async def __call__(self, what: str, details: dict[str, Any]) -> None:
        if what == "job":
            _job.set(int(details["job"]))
        job = _job.get()
        if job is None:
            return
        topic = self._topic(job)
        topic.told += 1
        topic.lines.append(Line(topic.told, what, dict(details)))
        async with topic.news:
            topic.news.notify_all()

    def known(self, job: int) -> tuple[Line, ...]:
        """What the job has told so far; nothing where another process does it."""
        topic = self._topics.get(job)
        return tuple(topic.lines) if topic else ()

    async def after(self, job: int, number: int, *, patience_s: float) -> tuple[Line, ...]:
        """The lines after that number, as soon as there are some; none when there were none for so long."""
        topic = self._topic(job)
        if topic.told <= number and not self._closed.is_set():
            async with topic.news:
                try:
                    async with asyncio.timeout(patience_s):
                        await topic.news.wait()
                except TimeoutError:
                    return ()
        return tuple(line for line in topic.lines if line.number > number)

    async def close(self) -> None:
        """The server stops: nobody waits any longer."""
        self._closed.set()
        for topic in tuple(self._topics.values()):  # more may come while one is waited for
            async with topic.news:
                topic.news.notify_all()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def _topic(self, job: int) -> _Topic:
        topic = self._topics.get(job)
        if topic is None:
            topic = self._topics[job] = _Topic()
            while len(self._topics) > MOST_JOBS:
                # First those that only somebody looks at: old pages left open must not push out what is being told.
                silent = (one for one, kept in self._topics.items() if not kept.told and one != job)
                del self._topics[next(silent, next(iter(self._topics)))]
        return topic
