"""Secrets of projects, and what the sign-in test of a project leaves in a browser; both sealed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "secrets",
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("set_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_secrets_project"),
        sa.PrimaryKeyConstraint("project", "name", name="pk_secrets"),
    )
    op.create_table(
        "session_states",
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("base_hash", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_session_states_project"),
        sa.PrimaryKeyConstraint("project", "base_hash", name="pk_session_states"),
    )
