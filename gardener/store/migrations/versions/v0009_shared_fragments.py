"""What a change of a fragment does to the tests that use it, beside its proposal and its repair."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("proposals", "repairs"):
        op.add_column(table, sa.Column("sharing", sa.JSON(), nullable=True))
