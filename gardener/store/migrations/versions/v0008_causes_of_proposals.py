"""The cause of a proposal, so that all proposals of one drift are found together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from gardener.proposals import cause_key

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("proposals", sa.Column("cause_key", sa.Text(), nullable=False, server_default=sa.text("''")))
    table = sa.table("proposals", sa.column("id"), sa.column("operations", sa.JSON()), sa.column("cause_key"))
    connection = op.get_bind()
    for row in connection.execute(sa.select(table.c.id, table.c.operations)).all():
        key = cause_key(row.operations)
        connection.execute(sa.update(table).where(table.c.id == row.id).values(cause_key=key))
