-- On-demand jobs: a payload, a priority, ends that stay visible.
ALTER TABLE {s}{p}job
    -- JSON as text, as it was enqueued; NULL is JSON's null.
    ADD COLUMN payload      text,
    ADD COLUMN priority     smallint NOT NULL DEFAULT 0,
    -- How often a worker could not read the payload.
    ADD COLUMN refusals     integer NOT NULL DEFAULT 0,
    -- Until then a run that has ended keeps its place, where the task's concurrency is limited.
    ADD COLUMN hold_until   timestamptz,
    -- When somebody asked for it to be cancelled.
    ADD COLUMN cancelled_at timestamptz,
    -- When an ended job may be deleted.
    ADD COLUMN prune_at     timestamptz,
    DROP CONSTRAINT {p}job_state_check,
    ADD CONSTRAINT {p}job_state_check
        CHECK (state IN ('ready', 'running', 'done', 'dead', 'cancelled')),
    DROP CONSTRAINT {p}job_task_unique_key_key;
-- The one standing job of a task, whatever state it is in: found among any number of others.
CREATE INDEX {p}job_standing ON {s}{p}job (task) WHERE unique_key = '';
-- A key is taken while its job waits or runs.
CREATE UNIQUE INDEX {p}job_key ON {s}{p}job (task, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('ready', 'running');
DROP INDEX {s}{p}job_due;
CREATE INDEX {p}job_due ON {s}{p}job (task, priority, due_at)
    WHERE state = 'ready' AND due_at IS NOT NULL;
DROP INDEX {s}{p}job_running;
CREATE INDEX {p}job_running ON {s}{p}job (task, lock_until) WHERE state = 'running';
CREATE INDEX {p}job_hold ON {s}{p}job (task, hold_until) WHERE hold_until IS NOT NULL;
CREATE INDEX {p}job_ended ON {s}{p}job (prune_at) WHERE prune_at IS NOT NULL;
-- Tasks and queues from which no run is started.
CREATE TABLE {s}{p}pause (
    kind         text NOT NULL CHECK (kind IN ('task', 'queue')),
    name         text NOT NULL,
    paused_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (kind, name)
);
