-- Instants are microseconds since 1970-01-01 UTC: no session's, server's or client's time zone changes what they say.
-- Names are compared byte by byte, blanks at their ends included.
CREATE TABLE IF NOT EXISTS {p}job (
    id             BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    task           VARCHAR(128) NOT NULL,
    -- At most one waiting or running job of a task with the same key; '' is the task's standing job.
    unique_key     VARCHAR(255),
    state          VARCHAR(10) NOT NULL DEFAULT 'ready',
    -- JSON, as it was enqueued; NULL is JSON's null.
    payload        LONGTEXT,
    priority       SMALLINT NOT NULL DEFAULT 0,
    -- NULL: waits to be triggered.
    due_at         BIGINT,
    schedule       TEXT,
    -- Set while a run is under way, by the claim alone; renewals go to the heartbeat table.
    lock_owner     TEXT,
    lock_worker    TEXT,
    lock_until     BIGINT,
    fence          BIGINT NOT NULL DEFAULT 0,
    attempt        INT NOT NULL DEFAULT 0,
    crashes        INT NOT NULL DEFAULT 0,
    -- How often a worker could not read the payload.
    refusals       INT NOT NULL DEFAULT 0,
    -- Until then a run that has ended keeps its place, where the task's concurrency is limited.
    hold_until     BIGINT,
    -- When somebody asked for it to be cancelled.
    cancelled_at   BIGINT,
    claimed_at     BIGINT,
    finished_at    BIGINT,
    last_outcome   TEXT,
    last_error     TEXT,
    created_at     BIGINT,
    -- When an ended job may be deleted.
    prune_at       BIGINT,
    -- The name of a second lease that each run takes. A job whose resource is held is parked: it is not due, and two columns
    -- tell when it was, and its rank among those of its task that wait for the same resource.
    resource       VARCHAR(128),
    parked_due     BIGINT,
    parked_rank    BIGINT,
    -- Of a standing job: which slot it stands for, whenever it falls due, and when that was first claimed; how many slots
    -- passed while another one's run stood for them, and how many no run stood for; what follows the slot, where a start has
    -- changed the schedule since; whether it falls due once more at the end of the run under way; and the versions that were
    -- run at their start, one a line.
    slot_at        BIGINT,
    begun_at       BIGINT,
    missed         BIGINT,
    skipped        BIGINT,
    next_at        BIGINT,
    next_in        BIGINT,
    again          BOOLEAN,
    versions       TEXT,
    -- An index has all rows here. So that a step in it meets none but those that it is for, each has a column which the others
    -- leave empty.
    live_key       VARCHAR(255) GENERATED ALWAYS AS (CASE WHEN state IN ('ready', 'running') THEN unique_key END) STORED,
    standing_of    VARCHAR(128) GENERATED ALWAYS AS (CASE WHEN unique_key = '' THEN task END) STORED,
    due_of         VARCHAR(128) GENERATED ALWAYS AS (CASE WHEN state = 'ready' AND due_at IS NOT NULL THEN task END) STORED,
    running_of     VARCHAR(128) GENERATED ALWAYS AS (CASE WHEN state = 'running' THEN task END) STORED,
    held_of        VARCHAR(128) GENERATED ALWAYS AS (CASE WHEN state <> 'running' AND hold_until IS NOT NULL THEN task END) STORED,
    due_for        VARCHAR(128) GENERATED ALWAYS AS (CASE WHEN state = 'ready' AND due_at IS NOT NULL THEN resource END) STORED,
    parked_for     VARCHAR(128) GENERATED ALWAYS AS (CASE WHEN state = 'ready' AND parked_rank IS NOT NULL THEN resource END) STORED,
    parked_of      VARCHAR(128) GENERATED ALWAYS AS (CASE WHEN state = 'ready' AND parked_rank IS NOT NULL THEN task END) STORED,
    -- A key is taken while its job waits or runs.
    UNIQUE KEY {p}job_key (task, live_key),
    KEY {p}job_standing (standing_of),
    KEY {p}job_due (due_of, priority, due_at),
    KEY {p}job_running (running_of, lock_until),
    KEY {p}job_hold (held_of, hold_until),
    KEY {p}job_ended (prune_at),
    KEY {p}job_resource (due_for, task, due_at),
    KEY {p}job_parked (parked_for, task, parked_rank),
    KEY {p}job_parked_task (parked_of),
    -- In the order of the ids, which every index has behind its columns: for those who list the jobs of a task.
    KEY {p}job_task (task),
    CONSTRAINT {p}job_task CHECK (OCTET_LENGTH(task) BETWEEN 1 AND 128),
    CONSTRAINT {p}job_resource_name CHECK (OCTET_LENGTH(resource) BETWEEN 1 AND 128),
    CONSTRAINT {p}job_state CHECK (state IN ('ready', 'running', 'done', 'dead', 'cancelled'))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = {bin};
-- Renewals, and how far each run is, as its handler says.
CREATE TABLE IF NOT EXISTS {p}heartbeat (
    job_id         BIGINT NOT NULL PRIMARY KEY,
    fence          BIGINT NOT NULL,
    lock_until     BIGINT NOT NULL,
    progress_done  BIGINT,
    progress_total BIGINT
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = {bin};
-- Tasks and queues from which no run is started.
CREATE TABLE IF NOT EXISTS {p}pause (
    kind           VARCHAR(16) NOT NULL,
    name           VARCHAR(128) NOT NULL,
    paused_at      BIGINT NOT NULL,
    PRIMARY KEY (kind, name),
    CONSTRAINT {p}pause_kind CHECK (kind IN ('task', 'queue'))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = {bin};
-- Named leases are rows of the job table, of a task that nobody can have. Their fences come from here, so that a name whose
-- row was deleted goes on with greater ones: the next number outlives the rows, and so none stays.
CREATE TABLE IF NOT EXISTS {p}lease_fence (
    id             BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY
) ENGINE = InnoDB;
-- Who waits for a named lease, in the order of the ids, while it says so.
CREATE TABLE IF NOT EXISTS {p}waiter (
    id             BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name           VARCHAR(128) NOT NULL,
    ticket         VARCHAR(64) NOT NULL,
    alive_until    BIGINT NOT NULL,
    UNIQUE KEY {p}waiter_ticket (ticket),
    KEY {p}waiter_name (name, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = {bin};
-- Former names of tasks. While their new name is served, nobody makes a job under the old one.
CREATE TABLE IF NOT EXISTS {p}alias (
    name           VARCHAR(128) NOT NULL PRIMARY KEY,
    task           VARCHAR(128) NOT NULL,
    served_until   BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = {bin};
-- Whoever counts the runs of a task whose number is limited has its row here locked. Starts exclude each other by the row ''.
CREATE TABLE IF NOT EXISTS {p}limited (
    task           VARCHAR(128) NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = {bin};
INSERT IGNORE INTO {p}limited VALUES ('');
-- Which store this is: a transaction of another database is told apart by it.
CREATE TABLE IF NOT EXISTS {p}store (
    id             VARCHAR(36) NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = {bin};
INSERT INTO {p}store SELECT UUID() FROM (SELECT 1) x WHERE NOT EXISTS (SELECT 1 FROM {p}store);
