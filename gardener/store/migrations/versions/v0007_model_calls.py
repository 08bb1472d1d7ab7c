"""The ledger of model calls, and which bounds tripped."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# SQLite counts a key up by itself only where its type is spelled INTEGER.
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "model_calls",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("test", WHOLE, nullable=True),
        sa.Column("case", WHOLE, nullable=True),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("input_tokens", WHOLE, nullable=False),
        sa.Column("output_tokens", WHOLE, nullable=False),
        sa.Column("cached_tokens", WHOLE, nullable=False),
        sa.Column("micro_usd", WHOLE, nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["case"], ["cases.id"], name="fk_model_calls_case"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_model_calls_project"),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_model_calls_test"),
        sa.PrimaryKeyConstraint("id", name="pk_model_calls"),
    )
    op.create_index("ix_model_calls_at", "model_calls", ["at"])
    op.create_index("ix_model_calls_case", "model_calls", ["case"])
    op.create_index("ix_model_calls_project_at", "model_calls", ["project", "at"])
    op.create_table(
        "budgets_tripped",
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_budgets_tripped_project"),
        sa.PrimaryKeyConstraint("project", "key", name="pk_budgets_tripped"),
    )
