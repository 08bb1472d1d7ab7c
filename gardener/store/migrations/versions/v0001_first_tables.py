"""The first tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# SQLite counts a key up by itself only where its type is spelled INTEGER.
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def upgrade() -> None:
    op.create_table(
        "pages",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_pages"),
    )
    op.create_table(
        "projects",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("auto_repair", sa.Boolean(), nullable=False),
        sa.Column("side_by_side", WHOLE, nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("name", name="uq_projects_name"),
    )
    op.create_table(
        "audit",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=True),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_audit_project"),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_project_id", "audit", ["project", "id"])
    op.create_table(
        "baselines",
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("page_hash", sa.Text(), nullable=False),
        sa.Column("page", sa.Text(), nullable=False),
        sa.Column("page_key", sa.Text(), nullable=False),
        sa.Column("noise", sa.JSON(), nullable=False),
        sa.Column("signed_in", sa.Boolean(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["page_key"], ["pages.key"], name="fk_baselines_page_key"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_baselines_project"),
        sa.PrimaryKeyConstraint("project", "page_hash", name="pk_baselines"),
    )
    op.create_index("ix_baselines_page_key", "baselines", ["page_key"])
    op.create_table(
        "events",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_events_project"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
    )
    op.create_index("ix_events_project_id", "events", ["project", "id"])
    op.create_index("ix_events_undelivered", "events", ["id"], **_where("delivered_at IS NULL"))
    op.create_table(
        "jobs",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("key_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", WHOLE, nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_jobs_project"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_project_state", "jobs", ["project", "state"])
    op.create_index("ix_jobs_state_id", "jobs", ["state", "id"])
    op.create_index(
        "uq_jobs_wanted",
        "jobs",
        ["project", "kind", "key_hash"],
        unique=True,
        **_where("state IN ('queued', 'running')"),
    )
    op.create_table(
        "lessons",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("old_hash", sa.Text(), nullable=False),
        sa.Column("whole_hash", sa.Text(), nullable=False),
        sa.Column("old", sa.JSON(), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("page", sa.Text(), nullable=False),
        sa.Column("new", sa.JSON(), nullable=False),
        sa.Column("proven_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("uses", WHOLE, nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_lessons_project"),
        sa.PrimaryKeyConstraint("id", name="pk_lessons"),
        sa.UniqueConstraint("project", "whole_hash", name="uq_lessons_project_whole_hash"),
    )
    op.create_index("ix_lessons_project_old_hash", "lessons", ["project", "old_hash"])
    op.create_table(
        "tests",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", WHOLE, nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("variables", sa.JSON(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("folder", sa.Text(), nullable=True),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_tests_project"),
        sa.PrimaryKeyConstraint("id", name="pk_tests"),
        sa.UniqueConstraint("project", "name", name="uq_tests_project_name"),
    )
    op.create_table(
        "at_risk",
        sa.Column("test", WHOLE, nullable=False),
        sa.Column("triggers", sa.JSON(), nullable=False),
        sa.Column("change_key", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("waiting_since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_at_risk_test"),
        sa.PrimaryKeyConstraint("test", name="pk_at_risk"),
    )
    op.create_index("ix_at_risk_waiting_since", "at_risk", ["waiting_since"])
    op.create_table(
        "runs",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("test", WHOLE, nullable=True),
        sa.Column("test_name", sa.Text(), nullable=False),
        sa.Column("version", WHOLE, nullable=True),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failed_step", sa.Text(), nullable=True),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("observed", sa.Text(), nullable=True),
        sa.Column("page_key", sa.Text(), nullable=True),
        sa.Column("target", WHOLE, nullable=True),
        sa.Column("picture", sa.Text(), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=True),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["page_key"], ["pages.key"], name="fk_runs_page_key", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_runs_project"),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_runs_test"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_page_key", "runs", ["page_key"])
    op.create_index("ix_runs_project_id", "runs", ["project", "id"])
    op.create_index("ix_runs_test_id", "runs", ["test", "id"])
    op.create_table(
        "sweeps",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("preview", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pages", WHOLE, nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=True),
        sa.Column("job", WHOLE, nullable=True),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_sweeps_job"),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_sweeps_project"),
        sa.PrimaryKeyConstraint("id", name="pk_sweeps"),
    )
    op.create_index("ix_sweeps_project_id", "sweeps", ["project", "id"])
    op.create_table(
        "test_versions",
        sa.Column("test", WHOLE, nullable=False),
        sa.Column("version", WHOLE, autoincrement=False, nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("variables", sa.JSON(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_test_versions_test"),
        sa.PrimaryKeyConstraint("test", "version", name="pk_test_versions"),
    )
    op.create_table(
        "cases",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("test", WHOLE, nullable=False),
        sa.Column("version", WHOLE, nullable=False),
        sa.Column("run", WHOLE, nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("model_calls", WHOLE, nullable=False),
        sa.Column("tokens", WHOLE, nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_cases_project"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_cases_run"),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_cases_test"),
        sa.PrimaryKeyConstraint("id", name="pk_cases"),
    )
    op.create_index("uq_cases_open", "cases", ["test", "version"], unique=True, **_where("status = 'open'"))
    op.create_table(
        "issues",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("cause_key", sa.Text(), nullable=False),
        sa.Column("cause_hash", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("refusals", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("restated", WHOLE, nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("run", WHOLE, nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_issues_project"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_issues_run"),
        sa.PrimaryKeyConstraint("id", name="pk_issues"),
    )
    op.create_index("uq_issues_open", "issues", ["project", "cause_hash"], unique=True, **_where("closed_at IS NULL"))
    op.create_table(
        "proposals",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("test", WHOLE, nullable=False),
        sa.Column("version", WHOLE, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("proven", sa.Boolean(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("operations", sa.JSON(), nullable=False),
        sa.Column("refusals", sa.JSON(), nullable=False),
        sa.Column("triggers", sa.JSON(), nullable=False),
        sa.Column("failed_step", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("restated", WHOLE, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("change_key", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("run", WHOLE, nullable=True),
        sa.Column("proof_run", WHOLE, nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_proposals_project"),
        sa.ForeignKeyConstraint(["proof_run"], ["runs.id"], name="fk_proposals_proof_run"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_proposals_run"),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_proposals_test"),
        sa.PrimaryKeyConstraint("id", name="pk_proposals"),
    )
    op.create_index("ix_proposals_project_status", "proposals", ["project", "status"])
    op.create_index("uq_proposals_open", "proposals", ["test"], unique=True, **_where("status = 'proposed'"))
    op.create_table(
        "recordings",
        sa.Column("test", WHOLE, autoincrement=False, nullable=False),
        sa.Column("version", WHOLE, autoincrement=False, nullable=False),
        sa.Column("run", WHOLE, nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_recordings_run"),
        sa.ForeignKeyConstraint(
            ["test", "version"], ["test_versions.test", "test_versions.version"], name="fk_recordings_test_version"
        ),
        sa.PrimaryKeyConstraint("test", "version", name="pk_recordings"),
    )
    op.create_table(
        "attempts",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("case", WHOLE, nullable=False),
        sa.Column("number", WHOLE, nullable=False),
        sa.Column("rung", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("hypothesis", sa.Text(), nullable=False),
        sa.Column("operations", sa.JSON(), nullable=False),
        sa.Column("refusals", sa.JSON(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("fix", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("model_calls", WHOLE, nullable=False),
        sa.Column("tokens", WHOLE, nullable=False),
        sa.ForeignKeyConstraint(["case"], ["cases.id"], name="fk_attempts_case"),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.UniqueConstraint("case", "number", name="uq_attempts_case_number"),
    )
    op.create_index("ix_attempts_fix", "attempts", ["fix"])
    op.create_table(
        "fixes_declined",
        sa.Column("fix_key", sa.Text(), nullable=False),
        sa.Column("proposal", WHOLE, nullable=False),
        sa.Column("declined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("declined_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["proposal"], ["proposals.id"], name="fk_fixes_declined_proposal"),
        sa.PrimaryKeyConstraint("fix_key", name="pk_fixes_declined"),
    )
    op.create_table(
        "issue_tests",
        sa.Column("issue", WHOLE, nullable=False),
        sa.Column("test", WHOLE, nullable=False),
        sa.Column("cleared_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["issue"], ["issues.id"], name="fk_issue_tests_issue"),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_issue_tests_test"),
        sa.PrimaryKeyConstraint("issue", "test", name="pk_issue_tests"),
    )
    op.create_index("ix_issue_tests_test", "issue_tests", ["test"])
    op.create_table(
        "recorded_steps",
        sa.Column("test", WHOLE, autoincrement=False, nullable=False),
        sa.Column("version", WHOLE, autoincrement=False, nullable=False),
        sa.Column("number", WHOLE, autoincrement=False, nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("page_key", sa.Text(), nullable=False),
        sa.Column("target", WHOLE, nullable=True),
        sa.ForeignKeyConstraint(["page_key"], ["pages.key"], name="fk_recorded_steps_page_key"),
        sa.ForeignKeyConstraint(
            ["test", "version"], ["recordings.test", "recordings.version"], name="fk_recorded_steps_test_version"
        ),
        sa.PrimaryKeyConstraint("test", "version", "number", name="pk_recorded_steps"),
    )
    op.create_index("ix_recorded_steps_page_key", "recorded_steps", ["page_key"])
    op.create_table(
        "repairs",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("project", WHOLE, nullable=False),
        sa.Column("test", WHOLE, nullable=False),
        sa.Column("version_before", WHOLE, nullable=False),
        sa.Column("version_after", WHOLE, nullable=False),
        sa.Column("steps_before", sa.JSON(), nullable=False),
        sa.Column("source_before", sa.Text(), nullable=True),
        sa.Column("variables_before", sa.JSON(), nullable=False),
        sa.Column("operations", sa.JSON(), nullable=False),
        sa.Column("refusals", sa.JSON(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("proposal", WHOLE, nullable=True),
        sa.Column("run", WHOLE, nullable=True),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reviewed_by", sa.Text(), nullable=True),
        sa.Column("reverted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reverted_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_repairs_project"),
        sa.ForeignKeyConstraint(["proposal"], ["proposals.id"], name="fk_repairs_proposal"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_repairs_run"),
        sa.ForeignKeyConstraint(["test"], ["tests.id"], name="fk_repairs_test"),
        sa.PrimaryKeyConstraint("id", name="pk_repairs"),
    )
    op.create_index("ix_repairs_project_id", "repairs", ["project", "id"])
    op.create_index("ix_repairs_test_id", "repairs", ["test", "id"])
