-- On-demand jobs: a payload, a priority, ends that stay visible. SQLite cannot change a CHECK in place.
CREATE TABLE {p}job_2 (
    -- AUTOINCREMENT: an id is never used twice.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    task         TEXT NOT NULL CHECK (length(CAST(task AS BLOB)) BETWEEN 1 AND 128),
    -- At most one waiting or running job of a task with the same key; '' is the task's standing job.
    unique_key   TEXT,
    state        TEXT NOT NULL DEFAULT 'ready'
                 CHECK (state IN ('ready', 'running', 'done', 'dead', 'cancelled')),
    -- JSON, as it was enqueued; NULL is JSON's null.
    payload      TEXT,
    priority     INTEGER NOT NULL DEFAULT 0
                 CHECK (typeof(priority) = 'integer' AND priority BETWEEN -32768 AND 32767),
    -- NULL: waits to be triggered.
    due_at       INTEGER,
    schedule     TEXT,
    lock_owner   TEXT,
    lock_worker  TEXT,
    lock_until   INTEGER,
    fence        INTEGER NOT NULL DEFAULT 0,
    attempt      INTEGER NOT NULL DEFAULT 0,
    crashes      INTEGER NOT NULL DEFAULT 0,
    -- How often a worker could not read the payload.
    refusals     INTEGER NOT NULL DEFAULT 0,
    -- Until then a run that has ended keeps its place, where the task's concurrency is limited.
    hold_until   INTEGER CHECK (typeof(hold_until) IN ('integer', 'null')),
    -- When somebody asked for it to be cancelled.
    cancelled_at INTEGER,
    claimed_at   INTEGER,
    finished_at  INTEGER,
    last_outcome TEXT,
    last_error   TEXT,
    created_at   INTEGER NOT NULL,
    -- When an ended job may be deleted.
    prune_at     INTEGER CHECK (typeof(prune_at) IN ('integer', 'null'))
);
-- The ids go on where they were.
INSERT INTO sqlite_sequence (name, seq)
    SELECT '{p}job_2', seq FROM sqlite_sequence WHERE name = '{p}job';
INSERT INTO {p}job_2 (id, task, unique_key, state, due_at, schedule, lock_owner, lock_worker,
        lock_until, fence, attempt, crashes, claimed_at, finished_at, last_outcome, last_error,
        created_at)
    SELECT id, task, unique_key, state, due_at, schedule, lock_owner, lock_worker, lock_until, fence,
        attempt, crashes, claimed_at, finished_at, last_outcome, last_error, created_at
    FROM {p}job;
DROP TABLE {p}job;
ALTER TABLE {p}job_2 RENAME TO {p}job;
-- The one standing job of a task, whatever state it is in: found among any number of others.
CREATE INDEX {p}job_standing ON {p}job (task) WHERE unique_key = '';
-- A key is taken while its job waits or runs.
CREATE UNIQUE INDEX {p}job_key ON {p}job (task, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('ready', 'running');
CREATE INDEX {p}job_due ON {p}job (task, priority, due_at)
    WHERE state = 'ready' AND due_at IS NOT NULL;
CREATE INDEX {p}job_running ON {p}job (task, lock_until) WHERE state = 'running';
CREATE INDEX {p}job_hold ON {p}job (task, hold_until) WHERE hold_until IS NOT NULL;
CREATE INDEX {p}job_ended ON {p}job (prune_at) WHERE prune_at IS NOT NULL;
-- Tasks and queues from which no run is started.
CREATE TABLE {p}pause (
    kind         TEXT NOT NULL CHECK (kind IN ('task', 'queue')),
    name         TEXT NOT NULL,
    paused_at    INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
);
