"""What an open case is trying right now, and the whole story of an issue with a person's answer to it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cases", sa.Column("pointer", sa.JSON(), nullable=True))
    op.add_column("issues", sa.Column("story", sa.JSON(), nullable=True))
    op.add_column("issues", sa.Column("answer", sa.Text(), nullable=True))
    op.add_column("issues", sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("issues", sa.Column("answered_by", sa.Text(), nullable=True))
