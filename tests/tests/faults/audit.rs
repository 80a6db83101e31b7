//! What the store did, written down by its own triggers in the very transactions that did it, after
//! their row locks: so that the order of the log is the order of the rows. Redis has no triggers: its scripts are
//! made to do the same (`tests/src/torment/scripts.rs`).

use std::collections::HashMap;

use tasklock_runtime::store::LEASES;

use super::place::Place;

/// What happened to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Its row was inserted.
    Enter,
    Acquire,
    Renew,
    /// The end of a run; the row may go with it.
    Finish,
    Release,
    /// A guarded transaction of the application's; written at its COMMIT where the database can.
    Effect,
    /// A run is to be cancelled.
    Mark,
    /// It was cancelled while it waited.
    Cancel,
    /// It had ended, and waits again.
    Retry,
    /// Its row was deleted, and it was not running.
    Delete,
    /// Its state changed otherwise.
    Odd,
}

/// A line of the log. Instants are microseconds since 1970 by the store's clock.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) seq: i64,
    pub(crate) op: Op,
    pub(crate) job: i64,
    pub(crate) fence: i64,
    /// Empty where a side row does not say it.
    pub(crate) owner: String,
    /// The expiry that was granted.
    pub(crate) until: i64,
    pub(crate) at: i64,
    /// The transaction, or its connection; zero where the database numbers neither.
    pub(crate) tx: i64,
    pub(crate) row: Row,
}

/// The job's row, as the write has left it; empty for renewals and effects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The state before the write; empty if there was no row.
    pub(crate) was: String,
    /// `gone` if there is no row any more.
    pub(crate) state: String,
    pub(crate) outcome: String,
    pub(crate) attempt: i64,
    pub(crate) crashes: i64,
    pub(crate) task: String,
    /// Empty: it is the standing job of its task.
    pub(crate) key: Option<String>,
    /// What it carries, if that is a number.
    pub(crate) number: Option<u64>,
    /// The name that it needs.
    pub(crate) resource: Option<String>,
}

impl Row {
    /// Whether it is no job but a name.
    pub(crate) fn is_name(&self) -> bool {
        self.task == LEASES
    }
}

const COLUMNS: &str = "op, job, fence, owner, until, was, state, outcome, attempt, crashes, task, \
    unique_key, payload, resource";

const POSTGRES: &[&str] = &[
    "CREATE TABLE effect (job bigint, fence bigint, owner text, name text)",
    "CREATE TABLE booking (number bigint)",
    "CREATE TABLE audit (seq bigserial, op text, job bigint, fence bigint, owner text, until bigint,
        was text, state text, outcome text, attempt bigint, crashes bigint, task text, unique_key text,
        payload text, resource text,
        at bigint DEFAULT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint,
        tx bigint DEFAULT txid_current())",
    "CREATE FUNCTION audit_job() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        was text := CASE WHEN tg_op <> 'INSERT' THEN old.state ELSE '' END;
        state text := CASE WHEN tg_op <> 'DELETE' THEN new.state ELSE 'gone' END;
        r tasklock_job%ROWTYPE;
        held tasklock_job%ROWTYPE;
        op text;
    BEGIN
        IF tg_op = 'DELETE' THEN r := old; ELSE r := new; END IF;
        IF was = 'running' THEN held := old; ELSE held := r; END IF;
        IF tg_op = 'INSERT' AND state <> 'running' THEN op := 'enter';
        ELSIF state = 'running' AND (was <> 'running' OR old.fence <> new.fence) THEN
            op := 'acquire';
            held := new;
        ELSIF was = 'running' AND state = 'gone' THEN op := 'finish';
        ELSIF was = 'running' AND state <> 'running' THEN
            op := CASE WHEN new.finished_at IS DISTINCT FROM old.finished_at
                THEN 'finish' ELSE 'release' END;
        ELSIF state = 'gone' THEN op := 'delete';
        ELSIF was = 'running' AND old.cancelled_at IS NULL AND new.cancelled_at IS NOT NULL THEN
            op := 'mark';
        ELSIF was = 'ready' AND state = 'cancelled' THEN op := 'cancel';
        ELSIF was IN ('done', 'dead', 'cancelled') AND state = 'ready' THEN op := 'retry';
        ELSIF was <> state THEN op := 'odd';
        END IF;
        IF op IS NOT NULL THEN
            INSERT INTO audit ({columns}) VALUES (op, r.id, held.fence, held.lock_owner,
                CASE op WHEN 'acquire' THEN (extract(epoch FROM r.lock_until) * 1000000)::bigint ELSE 0 END,
                was, state, r.last_outcome, r.attempt, r.crashes, r.task, r.unique_key, r.payload, r.resource);
        END IF;
        RETURN NULL;
    END $$",
    "CREATE FUNCTION audit_beat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO audit (op, job, fence, until) VALUES ('renew', new.job_id, new.fence,
            (extract(epoch FROM new.lock_until) * 1000000)::bigint);
        RETURN NULL;
    END $$",
    "CREATE FUNCTION audit_effect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO audit (op, job, fence, owner, resource)
        VALUES ('effect', new.job, new.fence, new.owner, new.name);
        RETURN NULL;
    END $$",
    "CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON tasklock_job
     FOR EACH ROW EXECUTE FUNCTION audit_job()",
    "CREATE TRIGGER audit AFTER INSERT OR UPDATE ON tasklock_heartbeat
     FOR EACH ROW EXECUTE FUNCTION audit_beat()",
    // At COMMIT: what a guard that does not hold lets through comes after the takeover in the log.
    "CREATE CONSTRAINT TRIGGER audit AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW EXECUTE FUNCTION audit_effect()",
];

/// One writer at a time: whatever a transaction writes first, its place in the order is fixed with it.
const SQLITE: &[&str] = &[
    "CREATE TABLE effect (job bigint, fence bigint, owner text, name text)",
    "CREATE TABLE booking (number bigint)",
    "CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, op text, job bigint, fence bigint,
        owner text, until bigint, was text, state text, outcome text, attempt bigint, crashes bigint,
        task text, unique_key text, payload text, resource text, at bigint, tx bigint DEFAULT 0)",
    "CREATE TRIGGER audit_enter AFTER INSERT ON tasklock_job WHEN new.state <> 'running'
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES ('enter', {new}, {now});
     END",
    "CREATE TRIGGER audit_first AFTER INSERT ON tasklock_job WHEN new.state = 'running'
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES ('acquire', {first}, {now});
     END",
    "CREATE TRIGGER audit_acquire AFTER UPDATE ON tasklock_job
        WHEN new.state = 'running' AND (old.state <> 'running' OR old.fence <> new.fence)
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES ('acquire', {changed}, {now});
     END",
    "CREATE TRIGGER audit_renew AFTER UPDATE ON tasklock_job
        WHEN new.state = 'running' AND old.state = 'running' AND old.fence = new.fence
            AND old.lock_until <> new.lock_until
     BEGIN
        INSERT INTO audit (op, job, fence, owner, until, at)
        VALUES ('renew', new.id, new.fence, new.lock_owner, new.lock_until, {now});
     END",
    "CREATE TRIGGER audit_end AFTER UPDATE ON tasklock_job
        WHEN old.state = 'running' AND new.state <> 'running'
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES (
            CASE WHEN new.finished_at IS NOT old.finished_at THEN 'finish' ELSE 'release' END,
            {ended}, {now});
     END",
    "CREATE TRIGGER audit_mark AFTER UPDATE ON tasklock_job
        WHEN old.state = 'running' AND new.state = 'running' AND old.fence = new.fence
            AND old.cancelled_at IS NULL AND new.cancelled_at IS NOT NULL
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES ('mark', {changed}, {now});
     END",
    "CREATE TRIGGER audit_steer AFTER UPDATE ON tasklock_job
        WHEN old.state <> 'running' AND new.state <> 'running' AND old.state <> new.state
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES (
            CASE WHEN old.state = 'ready' AND new.state = 'cancelled' THEN 'cancel'
                WHEN old.state <> 'ready' AND new.state = 'ready' THEN 'retry' ELSE 'odd' END,
            {changed}, {now});
     END",
    "CREATE TRIGGER audit_delete AFTER DELETE ON tasklock_job
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES (
            CASE old.state WHEN 'running' THEN 'finish' ELSE 'delete' END, {old}, {now});
     END",
    "CREATE TRIGGER audit_effect AFTER INSERT ON effect
     BEGIN
        INSERT INTO audit (op, job, fence, owner, resource, at)
        VALUES ('effect', new.job, new.fence, new.owner, new.name, {now});
     END",
];

/// Each `WHEN` is an `IF` here. An effect is logged where it is written. Transactions have no numbers that can be read; those of one
/// connection come one after the other, and the application has others than the store.
const MYSQL: &[&str] = &[
    "CREATE TABLE effect (job bigint, fence bigint, owner text, name text)",
    "CREATE TABLE booking (number bigint)",
    "CREATE TABLE audit (seq bigint AUTO_INCREMENT PRIMARY KEY, op text, job bigint, fence bigint,
        owner text, until bigint, was text, state text, outcome text, attempt bigint, crashes bigint,
        task text, unique_key text, payload text, resource text, at bigint, tx bigint DEFAULT (CONNECTION_ID()))",
    "CREATE TRIGGER audit_enter AFTER INSERT ON tasklock_job FOR EACH ROW
     BEGIN
        IF new.state <> 'running' THEN
            INSERT INTO audit ({columns}, at) VALUES ('enter', {new}, {now});
        ELSE
            INSERT INTO audit ({columns}, at) VALUES ('acquire', {first}, {now});
        END IF;
     END",
    "CREATE TRIGGER audit_update AFTER UPDATE ON tasklock_job FOR EACH ROW
     BEGIN
        IF new.state = 'running' AND (old.state <> 'running' OR old.fence <> new.fence) THEN
            INSERT INTO audit ({columns}, at) VALUES ('acquire', {changed}, {now});
        ELSEIF old.state = 'running' AND new.state <> 'running' THEN
            INSERT INTO audit ({columns}, at) VALUES (
                CASE WHEN new.finished_at <=> old.finished_at THEN 'release' ELSE 'finish' END,
                {ended}, {now});
        ELSEIF old.state = 'running' AND old.cancelled_at IS NULL AND new.cancelled_at IS NOT NULL THEN
            INSERT INTO audit ({columns}, at) VALUES ('mark', {changed}, {now});
        ELSEIF old.state <> new.state THEN
            INSERT INTO audit ({columns}, at) VALUES (
                CASE WHEN old.state = 'ready' AND new.state = 'cancelled' THEN 'cancel'
                    WHEN old.state <> 'ready' AND new.state = 'ready' THEN 'retry' ELSE 'odd' END,
                {changed}, {now});
        END IF;
     END",
    "CREATE TRIGGER audit_delete AFTER DELETE ON tasklock_job FOR EACH ROW
     BEGIN
        INSERT INTO audit ({columns}, at) VALUES (
            CASE old.state WHEN 'running' THEN 'finish' ELSE 'delete' END, {old}, {now});
     END",
    "CREATE TRIGGER audit_beat AFTER INSERT ON tasklock_heartbeat FOR EACH ROW
     BEGIN
        INSERT INTO audit (op, job, fence, until, at)
        VALUES ('renew', new.job_id, new.fence, new.lock_until, {now});
     END",
    "CREATE TRIGGER audit_beat_again AFTER UPDATE ON tasklock_heartbeat FOR EACH ROW
     BEGIN
        INSERT INTO audit (op, job, fence, until, at)
        VALUES ('renew', new.job_id, new.fence, new.lock_until, {now});
     END",
    "CREATE TRIGGER audit_effect AFTER INSERT ON effect FOR EACH ROW
     BEGIN
        INSERT INTO audit (op, job, fence, owner, resource, at)
        VALUES ('effect', new.job, new.fence, new.owner, new.name, {now});
     END",
];

/// The values of all columns but the first, for SQLite and MariaDB: whose fence and owner, and what was before.
fn values(row: &str, held: &str, was: &str, state: &str, until: &str) -> String {
    format!(
        "{row}.id, {held}.fence, {held}.lock_owner, {until}, {was}, {state}, {row}.last_outcome, \
         {row}.attempt, {row}.crashes, {row}.task, {row}.unique_key, {row}.payload, \
         {row}.resource"
    )
}

/// Watches the runtime's tables, which are there, from now on.
pub(crate) async fn install(place: &Place) {
    let statements = match place.name() {
        // There the steps themselves write it.
        "redis" => &[],
        "sqlite" => SQLITE,
        "mysql" => MYSQL,
        _ => POSTGRES,
    };
    for statement in statements {
        let statement = statement
            .replace("{columns}", COLUMNS)
            .replace("{new}", &values("new", "new", "''", "new.state", "0"))
            .replace(
                "{first}",
                &values("new", "new", "''", "new.state", "new.lock_until"),
            )
            .replace(
                "{changed}",
                &values("new", "new", "old.state", "new.state", "new.lock_until"),
            )
            .replace(
                "{ended}",
                &values("new", "old", "old.state", "new.state", "0"),
            )
            .replace("{old}", &values("old", "old", "old.state", "'gone'", "0"));
        place.run(&statement).await;
    }
}

/// The whole log, in its order.
pub(crate) async fn read(place: &Place) -> Vec<Entry> {
    let query = format!("SELECT {COLUMNS}, seq, at, tx FROM audit ORDER BY seq");
    let rows = place.run(&query).await;
    let mut log: Vec<Entry> = rows
        .iter()
        .map(|row| {
            let text = |column: usize| row[column].as_deref().unwrap_or_default();
            let number = |column| match text(column) {
                "" => 0,
                digits => digits.parse().expect("a number"),
            };
            Entry {
                op: op(text(0)),
                job: number(1),
                fence: number(2),
                owner: text(3).to_owned(),
                until: number(4),
                row: Row {
                    was: text(5).to_owned(),
                    state: text(6).to_owned(),
                    outcome: text(7).to_owned(),
                    attempt: number(8),
                    crashes: number(9),
                    task: text(10).to_owned(),
                    key: row[11].clone(),
                    number: text(12).parse().ok(),
                    resource: row[13].clone(),
                },
                seq: number(14),
                at: number(15),
                tx: number(16),
            }
        })
        .collect();
    let rows = rows_of_names(&log);
    // A handler knows the name of its second lease, not its row.
    for effect in log.iter_mut().filter(|entry| entry.op == Op::Effect) {
        if let Some(row) = effect.row.resource.as_ref().and_then(|name| rows.get(name)) {
            effect.job = *row;
        }
    }
    log
}

/// The rows that stand for names.
pub(crate) fn rows_of_names(log: &[Entry]) -> HashMap<String, i64> {
    let names = log.iter().filter(|entry| entry.row.is_name());
    names
        .filter_map(|entry| Some((entry.row.key.clone()?, entry.job)))
        .collect()
}

fn op(name: &str) -> Op {
    match name {
        "enter" => Op::Enter,
        "acquire" => Op::Acquire,
        "renew" => Op::Renew,
        "finish" => Op::Finish,
        "release" => Op::Release,
        "effect" => Op::Effect,
        "mark" => Op::Mark,
        "cancel" => Op::Cancel,
        "retry" => Op::Retry,
        "delete" => Op::Delete,
        "odd" => Op::Odd,
        other => panic!("no such entry: {other}"),
    }
}
