"""Targets of news, and a delivery for each event and target; an event itself is no longer delivered or not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OPEN = sa.text("state IN ('waiting', 'sending')")


def upgrade() -> None:
    op.drop_index("ix_events_undelivered", table_name="events")
    op.drop_column("events", "delivered_at")
    op.drop_column("events", "not_before")
    op.create_table(
        "targets",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_targets_project"),
        sa.PrimaryKeyConstraint("id", name="pk_targets"),
    )
    op.create_index("ix_targets_project", "targets", ["project"])
    op.create_table(
        "deliveries",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("event", WHOLE, nullable=False),
        sa.Column("target", WHOLE, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", WHOLE, nullable=False),
        sa.Column("unsure", WHOLE, nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["event"], ["events.id"], name="fk_deliveries_event"),
        sa.ForeignKeyConstraint(["target"], ["targets.id"], name="fk_deliveries_target"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.UniqueConstraint("event", "target", name="uq_deliveries_event_target"),
    )
    op.create_index("ix_deliveries_open", "deliveries", ["target", "id"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("ix_deliveries_target", "deliveries", ["target"])
