"""Events on their way to targets: each to each target that wants it, claimed before it is sent and marked after."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, and_, delete, exists, func, insert, or_, select, text, update

from gardener.errors import NotFound
from gardener.notices import WAIT_UNSURE, Delivery, DeliveryState, Event, EventKind, next_try
from gardener.store.rows import DeliveryRow, EventRow, TargetRow
from gardener.store.targets import read_target
from gardener.store.transaction import Transaction

CUT_OFF: Final = "the process that sent it ended in the middle: it may have arrived"
NONSENSE: Final = timedelta(days=1)
# Spelled as in the partial index, so that looking for what is due reads no more than what is open.
IS_OPEN: Final = text("deliveries.state IN ('waiting', 'sending')")
OPEN: Final = (DeliveryState.WAITING.value, DeliveryState.SENDING.value)


async def open_for(tx: Transaction, event: Event) -> None:
    """A delivery for each target that wants such an event now; a target that is added later does not get it."""
    wanted = select(TargetRow.id, TargetRow.kinds).where(TargetRow.project == event.project)
    # Held until the event is written: one that is removed meanwhile must not break the change that the event tells of.
    for row in await tx.rows(wanted.with_for_update(read=True, key_share=True)):
        if event.kind.value in row.kinds:
            values = {
                "event": event.id,
                "target": row.id,
                "state": DeliveryState.WAITING,
                "tries": 0,
                "unsure": 0,
                "not_before": event.at,
            }
            await tx.run(insert(DeliveryRow).values(**values))


async def any_due(tx: Transaction, *, now: datetime) -> bool:
    """Is there anything to claim? Asked before a claim, which needs the write lock."""
    return await tx.first(select(DeliveryRow.id).where(_due(now)).limit(1)) is not None


async def claim(
    tx: Transaction, worker: str, *, now: datetime, lease: timedelta, busy: Collection[int] = ()
) -> tuple[Delivery, ...]:
    """The oldest that is due for each target but those in `busy`, leased to `worker`: send them, then say how it went.

    One whose lease is over was cut off in the middle of being sent. It is sent once more, or, where that happened
    before, given up: it may have arrived twice by now.
    """
    oldest = select(func.min(DeliveryRow.id)).where(_due(now), DeliveryRow.target.not_in(busy))
    numbers = [row[0] for row in await tx.rows(oldest.group_by(DeliveryRow.target))]
    claimed = []
    for known in await _read(tx, DeliveryRow.id.in_(numbers)):
        cut_off = known.state == DeliveryState.SENDING
        unsure = known.unsure + int(cut_off)
        values: dict[str, Any] = {"unsure": unsure, "error": CUT_OFF if cut_off else known.error}
        if cut_off and next_try(known.tries, unsure, now) is None:
            values |= {"state": DeliveryState.DEAD, "worker": None, "lease_until": None, "ended_at": now}
        else:
            values |= {"state": DeliveryState.SENDING, "worker": worker, "lease_until": now + lease}
            values |= {"tries": known.tries + 1}
        # Two may both have read this row as free; only one of their updates can match it.
        where = (DeliveryRow.id == known.id, DeliveryRow.tries == known.tries, _due(now))
        if await tx.change(update(DeliveryRow).where(*where).values(**values)):
            claimed.append((known.id, values["state"]))
    mine = [number for number, state in claimed if state == DeliveryState.SENDING]
    return await _read(tx, DeliveryRow.id.in_(mine))


async def beat(tx: Transaction, worker: str, some: Collection[int], *, until: datetime) -> None:
    """Until then they are this worker's to send; a moment that is past gives them up as cut off."""
    await tx.run(update(DeliveryRow).where(*_held(worker), DeliveryRow.id.in_(some)).values(lease_until=until))


async def delivered(tx: Transaction, delivery: int, *, now: datetime) -> None:
    """Also where its lease was lost meanwhile: it has arrived, and nobody has to send it again."""
    values = {"state": DeliveryState.DELIVERED, "ended_at": now, "lease_until": None, "error": None}
    await tx.run(update(DeliveryRow).where(DeliveryRow.id == delivery).values(**values))


async def failed(
    tx: Transaction, delivery: Delivery, worker: str, *, error: str, unsure: bool, now: datetime
) -> datetime | None:
    """When it is tried again; None where it is given up."""
    count = delivery.unsure + int(unsure)
    again = next_try(delivery.tries, count, now)
    if again is not None and unsure:
        again = now + WAIT_UNSURE
    values: dict[str, Any] = {"error": error, "unsure": count, "worker": None, "lease_until": None}
    if again is None:
        values |= {"state": DeliveryState.DEAD, "ended_at": now}
    else:
        values |= {"state": DeliveryState.WAITING, "not_before": again}
    where = (DeliveryRow.id == delivery.id, DeliveryRow.tries == delivery.tries)
    await tx.run(update(DeliveryRow).where(*_held(worker), *where).values(**values))
    return again


async def listed(tx: Transaction, project: int, *, state: DeliveryState, limit: int = 100) -> tuple[Delivery, ...]:
    """Newest first."""
    return (await _read(tx, EventRow.project == project, DeliveryRow.state == state, newest=limit))[::-1]


async def count_dead(tx: Transaction, project: int | None = None) -> int:
    statement = select(func.count()).select_from(DeliveryRow).where(DeliveryRow.state == DeliveryState.DEAD)
    if project is not None:
        statement = statement.join(EventRow, EventRow.id == DeliveryRow.event).where(EventRow.project == project)
    return int(await tx.scalar(statement))


async def retry(tx: Transaction, project: int, delivery: int | None, *, now: datetime) -> int:
    """A person wants what was given up to be sent anew: one, or all of a project. How many those are.

    Raises NotFound where the one is not among the dead.
    """
    mine = select(EventRow.id).where(EventRow.project == project)
    where = [DeliveryRow.state == DeliveryState.DEAD, DeliveryRow.event.in_(mine)]
    if delivery is not None:
        where.append(DeliveryRow.id == delivery)
    values = {"state": DeliveryState.WAITING, "tries": 0, "unsure": 0, "not_before": now, "ended_at": None}
    changed = await tx.change(update(DeliveryRow).where(*where).values(**values))
    if delivery is not None and not changed:
        raise NotFound(
            f"There is no dead letter {delivery} in this project: `gardener dead PROJECT` shows those there are."
        )
    return changed


async def prune(tx: Transaction, *, before: datetime, most: int = 1000) -> int:
    """Forget events from before then with their deliveries, unless one is still to be sent. How many events."""
    waits = exists().where(DeliveryRow.event == EventRow.id, DeliveryRow.state.in_(OPEN))
    old = select(EventRow.id).where(EventRow.at < before, ~waits).order_by(EventRow.id).limit(most)
    numbers = [row.id for row in await tx.rows(old)]
    if numbers:
        await tx.run(delete(DeliveryRow).where(DeliveryRow.event.in_(numbers)))
        await tx.run(delete(EventRow).where(EventRow.id.in_(numbers)))
    return len(numbers)


def _due(now: datetime) -> Any:
    """To be sent, or cut off; also what a clock that was wrong has put off for longer than anything ever is."""
    waits = or_(DeliveryRow.not_before <= now, DeliveryRow.not_before > now + NONSENSE)
    cut_off = or_(DeliveryRow.lease_until <= now, DeliveryRow.lease_until > now + NONSENSE)
    return and_(
        IS_OPEN,
        or_(
            and_(DeliveryRow.state == DeliveryState.WAITING, waits),
            and_(DeliveryRow.state == DeliveryState.SENDING, cut_off),
        ),
    )


def _held(worker: str) -> tuple[Any, ...]:
    return DeliveryRow.worker == worker, DeliveryRow.state == DeliveryState.SENDING


async def _read(tx: Transaction, *where: Any, newest: int | None = None) -> tuple[Delivery, ...]:
    """In the order of their events."""
    columns = (
        *(one.label(f"delivery_{one.name}") for one in DeliveryRow.__table__.c),
        *(one.label(f"event_{one.name}") for one in EventRow.__table__.c),
        *TargetRow.__table__.c,
    )
    statement = (
        select(*columns)
        .select_from(DeliveryRow)
        .join(EventRow, EventRow.id == DeliveryRow.event)
        .join(TargetRow, TargetRow.id == DeliveryRow.target)
        .where(*where)
        .order_by(DeliveryRow.id if newest is None else DeliveryRow.id.desc())
        .limit(newest)
    )
    found = tuple(map(_delivery, await tx.rows(statement)))
    return found if newest is None else found[::-1]


def _delivery(row: Row[Any]) -> Delivery:
    event = Event(
        row.event_id,
        row.event_project,
        EventKind(row.event_kind),
        row.event_subject,
        row.event_payload,
        row.event_at,
    )
    return Delivery(
        id=row.delivery_id,
        event=event,
        target=read_target(row),
        state=DeliveryState(row.delivery_state),
        tries=row.delivery_tries,
        unsure=row.delivery_unsure,
        error=row.delivery_error,
        not_before=row.delivery_not_before,
        ended_at=row.delivery_ended_at,
    )
