-- Resources: the name of a second lease that each run of the job takes. A job whose resource is held is parked: it is
-- not due, and two columns tell when it was, and its rank among those of its task that wait for the same resource.
ALTER TABLE {p}job ADD COLUMN resource TEXT CHECK (length(CAST(resource AS BLOB)) BETWEEN 1 AND 128);
ALTER TABLE {p}job ADD COLUMN parked_due INTEGER;
ALTER TABLE {p}job ADD COLUMN parked_rank INTEGER CHECK (typeof(parked_rank) IN ('integer', 'null'));
CREATE INDEX {p}job_resource ON {p}job (resource, task)
    WHERE resource IS NOT NULL AND state = 'ready' AND due_at IS NOT NULL;
CREATE INDEX {p}job_parked ON {p}job (resource, task, parked_rank)
    WHERE parked_rank IS NOT NULL AND state = 'ready';
CREATE INDEX {p}job_parked_task ON {p}job (task) WHERE parked_rank IS NOT NULL AND state = 'ready';
-- Who waits for a named lease, in the order of the ids, while it says so.
CREATE TABLE {p}waiter (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    name         TEXT NOT NULL,
    ticket       TEXT NOT NULL UNIQUE,
    alive_until  INTEGER NOT NULL
);
CREATE INDEX {p}waiter_name ON {p}waiter (name, id);
-- How far the run is, as its handler says.
ALTER TABLE {p}job ADD COLUMN progress_done INTEGER;
ALTER TABLE {p}job ADD COLUMN progress_total INTEGER;
