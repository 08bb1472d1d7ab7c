"""The tables. Rows stay in this folder: what leaves it are the values of `gardener/*.py`.

Statements are run on the connection and not in an ORM session, so there is no identity map that could hand out a row
as it was before somebody else changed it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, LargeBinary, MetaData, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from gardener.store.columns import CleanJson, CleanText, Moment, RowId


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {
        str: CleanText(),
        int: RowId(),
        bytes: LargeBinary(),
        datetime: Moment(),
        dict[str, Any]: CleanJson(),
        list[Any]: CleanJson(),
    }


class ProjectRow(Base):
    """`side_by_side` is one of the settings, as a column of its own because claiming a job counts against it."""

    __tablename__ = "projects"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    base_url: Mapped[str]
    auto_repair: Mapped[bool]
    side_by_side: Mapped[int]
    settings: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class SavedTestRow(Base):
    """A test as it stands now. `version` is what every write of steps compares with."""

    __tablename__ = "tests"
    __table_args__ = (UniqueConstraint("project", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    name: Mapped[str]
    status: Mapped[str]
    version: Mapped[int]
    steps: Mapped[list[Any]]
    tags: Mapped[list[Any]]
    variables: Mapped[dict[str, Any]]
    source: Mapped[str | None]
    folder: Mapped[str | None]
    flagged: Mapped[bool]


class VersionRow(Base):
    """Every version that a test ever had; append only, so that any state can be put back exactly."""

    __tablename__ = "test_versions"

    test: Mapped[int] = mapped_column(ForeignKey("tests.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    steps: Mapped[list[Any]]
    variables: Mapped[dict[str, Any]]
    source: Mapped[str | None]
    author: Mapped[str]
    cause: Mapped[str]
    created_at: Mapped[datetime]


class PageRow(Base):
    """A snapshot of a page under the hash of its contents; `seen_at` is when it was last put (see pages.prune)."""

    __tablename__ = "pages"

    key: Mapped[str] = mapped_column(primary_key=True)
    packed: Mapped[bytes]
    seen_at: Mapped[datetime]


class RunRow(Base):
    """One run. A page that was pruned leaves `page_key` empty, not the run."""

    __tablename__ = "runs"
    __table_args__ = (Index(None, "project", "id"), Index(None, "test", "id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    test: Mapped[int | None] = mapped_column(ForeignKey("tests.id"))
    test_name: Mapped[str]
    version: Mapped[int | None]
    trigger: Mapped[str]
    status: Mapped[str]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime]
    failed_step: Mapped[str | None]
    cause: Mapped[str | None]
    error: Mapped[str | None]
    observed: Mapped[str | None]
    page_key: Mapped[str | None] = mapped_column(ForeignKey("pages.key", ondelete="SET NULL"), index=True)
    target: Mapped[int | None]
    picture: Mapped[str | None]
    evidence: Mapped[dict[str, Any] | None] = mapped_column(CleanJson())
    steps: Mapped[list[Any]]


class RecordingRow(Base):
    """What the last green run of one test version remembers; its steps are in RecordedStepRow."""

    __tablename__ = "recordings"
    __table_args__ = (ForeignKeyConstraint(["test", "version"], ["test_versions.test", "test_versions.version"]),)

    test: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    run: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    recorded_at: Mapped[datetime]


class RecordedStepRow(Base):
    """A row a step, and not one document, so that the database itself keeps the pages it refers to."""

    __tablename__ = "recorded_steps"
    __table_args__ = (ForeignKeyConstraint(["test", "version"], ["recordings.test", "recordings.version"]),)

    test: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    place: Mapped[str]
    url: Mapped[str]
    page_key: Mapped[str] = mapped_column(ForeignKey("pages.key"), index=True)
    target: Mapped[int | None]


class BaselineRow(Base):
    """The accepted state of one page. `page_hash` stands for the URL in the key: a URL can be longer than an index."""

    __tablename__ = "baselines"

    project: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    page_hash: Mapped[str] = mapped_column(primary_key=True)
    page: Mapped[str]
    page_key: Mapped[str] = mapped_column(ForeignKey("pages.key"), index=True)
    noise: Mapped[list[Any]]
    signed_in: Mapped[bool]
    seen_at: Mapped[datetime]


class JobRow(Base):
    """Work that waits for an executor.

    state     worker, lease_until                                        next
    queued    none; claimable from `not_before`                          running
    running   set; the worker lives as long as it moves the lease on     done, skipped, failed; queued when put back;
                                                                         once the lease is over: claimable again
    others    the last worker                                            none
    """

    __tablename__ = "jobs"
    __table_args__ = (
        # The same work is asked for once while it waits or runs.
        Index(
            "uq_jobs_wanted",
            "project",
            "kind",
            "key_hash",
            unique=True,
            sqlite_where=text("state IN ('queued', 'running')"),
            postgresql_where=text("state IN ('queued', 'running')"),
        ),
        Index(None, "state", "id"),
        Index(None, "project", "state"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    kind: Mapped[str]
    key: Mapped[str]
    key_hash: Mapped[str]
    state: Mapped[str]
    payload: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    not_before: Mapped[datetime | None]
    tries: Mapped[int]
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    result: Mapped[dict[str, Any] | None] = mapped_column(CleanJson())


class SweepRow(Base):
    """One look at the app. `job` is the work it is done by, whose lease says whether it is still alive."""

    __tablename__ = "sweeps"
    __table_args__ = (Index(None, "project", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    base_url: Mapped[str]
    preview: Mapped[bool]
    status: Mapped[str]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    pages: Mapped[int]
    changes: Mapped[list[Any]]
    summary: Mapped[dict[str, Any] | None] = mapped_column(CleanJson())
    job: Mapped[int | None] = mapped_column(ForeignKey("jobs.id"))


class AtRiskRow(Base):
    """A test with touched locators.

    `since` never moves; `waiting_since` does when a pass has taken the test, which puts it at the end of the line
    while those that were left over keep their place.
    """

    __tablename__ = "at_risk"

    test: Mapped[int] = mapped_column(ForeignKey("tests.id"), primary_key=True)
    triggers: Mapped[list[Any]]
    change_key: Mapped[str]
    since: Mapped[datetime]
    waiting_since: Mapped[datetime] = mapped_column(index=True)


class ProposalRow(Base):
    """A fix that waits for a person.

    status       means                                             next
    proposed     waits; at most one a test, held by an index       any of the others
    applied      approved and written                              none
    dismissed    declined; its fix_key stands in fixes_declined    none
    stale        the test was edited since                         none
    superseded   a newer proof or another repair took its place    none
    """

    __tablename__ = "proposals"
    __table_args__ = (
        Index(
            "uq_proposals_open",
            "test",
            unique=True,
            sqlite_where=text("status = 'proposed'"),
            postgresql_where=text("status = 'proposed'"),
        ),
        Index(None, "project", "status"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    test: Mapped[int] = mapped_column(ForeignKey("tests.id"))
    version: Mapped[int]
    status: Mapped[str]
    proven: Mapped[bool]
    strategy: Mapped[str]
    operations: Mapped[list[Any]]
    refusals: Mapped[list[Any]]
    triggers: Mapped[list[Any]]
    failed_step: Mapped[str | None]
    error: Mapped[str | None]
    restated: Mapped[int]
    reason: Mapped[str]
    change_key: Mapped[str]
    cause_key: Mapped[str] = mapped_column(server_default=text("''"))  # proposals.cause_key of its operations
    created_at: Mapped[datetime]
    decided_at: Mapped[datetime | None]
    decided_by: Mapped[str | None]
    run: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    proof_run: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    sharing: Mapped[dict[str, Any] | None] = mapped_column(CleanJson())  # sharing.Sharing of a change of a fragment


class DeclinedRow(Base):
    """A fix that a person dismissed; it is not proposed again while its key stays the same (see proposals.fix_key)."""

    __tablename__ = "fixes_declined"

    fix_key: Mapped[str] = mapped_column(primary_key=True)
    proposal: Mapped[int] = mapped_column(ForeignKey("proposals.id"))
    declined_at: Mapped[datetime]
    declined_by: Mapped[str | None]


class RepairRow(Base):
    """One entry of a test's history: append only, but for the marks `reviewed_…` and `reverted_…`."""

    __tablename__ = "repairs"
    __table_args__ = (Index(None, "project", "id"), Index(None, "test", "id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    test: Mapped[int] = mapped_column(ForeignKey("tests.id"))
    version_before: Mapped[int]
    version_after: Mapped[int]
    steps_before: Mapped[list[Any]]
    source_before: Mapped[str | None]
    variables_before: Mapped[dict[str, Any]]
    operations: Mapped[list[Any]]
    refusals: Mapped[list[Any]]
    strategy: Mapped[str]
    author: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[datetime]
    proposal: Mapped[int | None] = mapped_column(ForeignKey("proposals.id"))
    run: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    reviewed_at: Mapped[datetime | None]
    reviewed_by: Mapped[str | None]
    reverted_at: Mapped[datetime | None]
    reverted_by: Mapped[str | None]
    sharing: Mapped[dict[str, Any] | None] = mapped_column(CleanJson())  # as of its proposal


class IssueRow(Base):
    """What a person has to look at. The same cause is one open issue, held by an index."""

    __tablename__ = "issues"
    __table_args__ = (
        Index(
            "uq_issues_open",
            "project",
            "cause_hash",
            unique=True,
            sqlite_where=text("closed_at IS NULL"),
            postgresql_where=text("closed_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    kind: Mapped[str]
    verdict: Mapped[str]
    cause_key: Mapped[str]
    cause_hash: Mapped[str]
    reason: Mapped[str]
    refusals: Mapped[list[Any]]
    created_at: Mapped[datetime]
    restated: Mapped[int]
    closed_at: Mapped[datetime | None]
    run: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    story: Mapped[dict[str, Any] | None] = mapped_column(CleanJson())
    answer: Mapped[str | None]
    answered_at: Mapped[datetime | None]
    answered_by: Mapped[str | None]


class IssueTestRow(Base):
    """A test under an issue. `cleared_at` is set when the test is green again: a closed issue still names its tests."""

    __tablename__ = "issue_tests"

    issue: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    test: Mapped[int] = mapped_column(ForeignKey("tests.id"), primary_key=True, index=True)
    cleared_at: Mapped[datetime | None]


class CaseRow(Base):
    """One broken test version being worked on; at most one open a test version, so that a killed one is resumed."""

    __tablename__ = "cases"
    __table_args__ = (
        Index(
            "uq_cases_open",
            "test",
            "version",
            unique=True,
            sqlite_where=text("status = 'open'"),
            postgresql_where=text("status = 'open'"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    test: Mapped[int] = mapped_column(ForeignKey("tests.id"))
    version: Mapped[int]
    run: Mapped[int | None] = mapped_column(ForeignKey("runs.id"))
    status: Mapped[str]
    verdict: Mapped[str | None]
    model_calls: Mapped[int]
    tokens: Mapped[int]
    opened_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    pointer: Mapped[dict[str, Any] | None] = mapped_column(CleanJson())


class AttemptRow(Base):
    """One try inside a case; append only."""

    __tablename__ = "attempts"
    __table_args__ = (UniqueConstraint("case", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    case: Mapped[int] = mapped_column(ForeignKey("cases.id"))
    number: Mapped[int]
    rung: Mapped[str]
    strategy: Mapped[str]
    hypothesis: Mapped[str]
    operations: Mapped[list[Any]]
    refusals: Mapped[list[Any]]
    outcome: Mapped[str]
    error: Mapped[str | None]
    fix: Mapped[str | None] = mapped_column(index=True)
    at: Mapped[datetime]
    model_calls: Mapped[int]
    tokens: Mapped[int]


class ModelCallRow(Base):
    """One question to a model, written before it is asked with the most it may use up, and set right afterwards.

    Until `ended_at` is set, and after a time-out, the estimate counts: it may have to be paid.
    """

    __tablename__ = "model_calls"
    __table_args__ = (Index(None, "project", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    test: Mapped[int | None] = mapped_column(ForeignKey("tests.id"))
    case: Mapped[int | None] = mapped_column(ForeignKey("cases.id"), index=True)
    purpose: Mapped[str]
    provider: Mapped[str]
    model: Mapped[str]
    state: Mapped[str]
    input_tokens: Mapped[int]
    output_tokens: Mapped[int]
    cached_tokens: Mapped[int]
    micro_usd: Mapped[int | None]
    at: Mapped[datetime] = mapped_column(index=True)
    ended_at: Mapped[datetime | None]


class TrippedRow(Base):
    """A bound on what models may use up that stopped a call; once for the same bound of the same case or day."""

    __tablename__ = "budgets_tripped"

    project: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    reason: Mapped[str]
    at: Mapped[datetime]


class LessonRow(Base):
    """A proven fix. `old_hash` finds it by the locator that broke, `whole_hash` keeps the same lesson from doubling."""

    __tablename__ = "lessons"
    __table_args__ = (UniqueConstraint("project", "whole_hash"), Index(None, "project", "old_hash"))

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    old_hash: Mapped[str]
    whole_hash: Mapped[str]
    old: Mapped[dict[str, Any]]
    words: Mapped[list[Any]]
    page: Mapped[str]
    new: Mapped[dict[str, Any]]
    proven_at: Mapped[datetime]
    uses: Mapped[int]


class EventRow(Base):
    """The outbox: written with the change it tells of, and with a delivery for each target that wants it."""

    __tablename__ = "events"
    __table_args__ = (Index(None, "project", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    kind: Mapped[str]
    subject: Mapped[str]
    payload: Mapped[dict[str, Any]]
    at: Mapped[datetime]


class TargetRow(Base):
    """Where events of a project are sent; the address is a secret and sealed."""

    __tablename__ = "targets"

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    sealed: Mapped[str]
    shown: Mapped[str]
    kinds: Mapped[list[Any]]
    created_at: Mapped[datetime]
    created_by: Mapped[str]


class DeliveryRow(Base):
    """An event on its way to a target.

    state       means                                                             next
    waiting     to be sent from `not_before` on                                   sending
    sending     leased to `worker`; the lease over: it died in the middle         delivered, waiting, dead
    delivered   the other side took it                                            none
    dead        given up after MOST_TRIES, or MOST_UNSURE of an unknown outcome   waiting, when a person says so
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("event", "target"),
        Index(
            "ix_deliveries_open",
            "target",
            "id",
            sqlite_where=text("state IN ('waiting', 'sending')"),
            postgresql_where=text("state IN ('waiting', 'sending')"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    event: Mapped[int] = mapped_column(ForeignKey("events.id"))
    target: Mapped[int] = mapped_column(ForeignKey("targets.id"), index=True)
    state: Mapped[str]
    tries: Mapped[int]
    unsure: Mapped[int]
    error: Mapped[str | None]
    not_before: Mapped[datetime]
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]


class LeaseRow(Base):
    """What one process at a time does for all. `beat_at` is when its holder was last alive; `told_at` when somebody was
    last told that nobody holds it.
    """

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(primary_key=True)
    holder: Mapped[str | None]
    until: Mapped[datetime]
    beat_at: Mapped[datetime]
    told_at: Mapped[datetime | None]


class TickRow(Base):
    """Where the clock stands with one schedule of a project; moved on by compare-and-swap on `next_at`."""

    __tablename__ = "ticks"

    project: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    what: Mapped[str] = mapped_column(primary_key=True)
    spec: Mapped[str]
    since: Mapped[datetime]
    next_at: Mapped[datetime]
    last_at: Mapped[datetime | None]
    job: Mapped[int | None] = mapped_column(ForeignKey("jobs.id"))
    told_at: Mapped[datetime | None]


class AuditRow(Base):
    """Who did what; append only."""

    __tablename__ = "audit"
    __table_args__ = (Index(None, "project", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[int | None] = mapped_column(ForeignKey("projects.id"))
    who: Mapped[str]
    what: Mapped[str]
    subject: Mapped[str]
    details: Mapped[dict[str, Any]]
    at: Mapped[datetime]


class PersonRow(Base):
    """Somebody who signs in to the pages. `name_key` is the name without case: Ada and ada are one person."""

    __tablename__ = "people"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    password_hash: Mapped[str]
    must_change: Mapped[bool]
    created_at: Mapped[datetime]
    signed_in_at: Mapped[datetime | None]


class SessionRow(Base):
    """Somebody who is signed in, until `until`. Only the hash of the token is kept: who reads this cannot use it."""

    __tablename__ = "sessions"

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    person: Mapped[int] = mapped_column(ForeignKey("people.id"), index=True)
    began_at: Mapped[datetime]
    until: Mapped[datetime]


class SignInFailureRow(Base):
    """Sign-ins that failed in a row, by name, by address, or by both."""

    __tablename__ = "sign_in_failures"

    key: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int]
    last_at: Mapped[datetime]


class SecretRow(Base):
    """A secret of a project. `sealed` can be read for this project and this name alone (gardener/secrets.py)."""

    __tablename__ = "secrets"

    project: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    sealed: Mapped[str]
    set_at: Mapped[datetime]
    set_by: Mapped[str]


class SessionStateRow(Base):
    """What the sign-in test of a project left in a browser at one base URL. `stamp` is another after each sign-in, and
    what a renewal compares with; `base_hash` stands for the base URL in the key.
    """

    __tablename__ = "session_states"

    project: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    base_hash: Mapped[str] = mapped_column(primary_key=True)
    base_url: Mapped[str]
    stamp: Mapped[str]
    sealed: Mapped[str]
    made_at: Mapped[datetime]
