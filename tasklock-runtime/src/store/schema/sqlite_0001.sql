-- Instants are microseconds since 1970-01-01 UTC.
CREATE TABLE {p}job (
    -- AUTOINCREMENT: an id is never used twice.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    task         TEXT NOT NULL CHECK (length(CAST(task AS BLOB)) BETWEEN 1 AND 128),
    -- At most one job of a task with the same key; '' is the task's standing job.
    unique_key   TEXT,
    state        TEXT NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running')),
    -- NULL: waits to be triggered.
    due_at       INTEGER,
    schedule     TEXT,
    lock_owner   TEXT,
    lock_worker  TEXT,
    lock_until   INTEGER,
    fence        INTEGER NOT NULL DEFAULT 0,
    attempt      INTEGER NOT NULL DEFAULT 0,
    crashes      INTEGER NOT NULL DEFAULT 0,
    claimed_at   INTEGER,
    finished_at  INTEGER,
    last_outcome TEXT,
    last_error   TEXT,
    created_at   INTEGER NOT NULL,
    UNIQUE (task, unique_key)
);
CREATE INDEX {p}job_due ON {p}job (task, due_at) WHERE state = 'ready' AND due_at IS NOT NULL;
CREATE INDEX {p}job_running ON {p}job (lock_until) WHERE state = 'running';
-- Which store this is: a transaction of another file is told apart by it.
CREATE TABLE {p}store (id TEXT PRIMARY KEY);
INSERT INTO {p}store VALUES (lower(hex(randomblob(16))));
