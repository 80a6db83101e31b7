//! What the store did, written down by its own triggers in the very transactions that did it, after
//! their row locks: so that the order of the log is the order of the rows.

use super::place::Place;

/// What happened to a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Acquire,
    Renew,
    Finish,
    Release,
    /// A guarded transaction of the application's; written at its COMMIT where the database can.
    Effect,
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
    /// The transaction; zero where the database does not number them.
    pub(crate) tx: i64,
}

const POSTGRES: &[&str] = &[
    "CREATE TABLE effect (job bigint, fence bigint, owner text)",
    "CREATE TABLE audit (seq bigserial, op text, job bigint, fence bigint, owner text, until bigint,
        at bigint DEFAULT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint,
        tx bigint DEFAULT txid_current())",
    "CREATE FUNCTION audit_job() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE until bigint := (extract(epoch FROM new.lock_until) * 1000000)::bigint;
    BEGIN
        IF new.state = 'running' AND (old.state <> 'running' OR old.fence <> new.fence) THEN
            INSERT INTO audit (op, job, fence, owner, until)
            VALUES ('acquire', new.id, new.fence, new.lock_owner, until);
        ELSIF old.state = 'running' AND new.state <> 'running' THEN
            INSERT INTO audit (op, job, fence, owner, until) VALUES (
                CASE WHEN new.finished_at IS DISTINCT FROM old.finished_at
                    THEN 'finish' ELSE 'release' END,
                new.id, old.fence, old.lock_owner, 0);
        END IF;
        RETURN NULL;
    END $$",
    "CREATE FUNCTION audit_beat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO audit (op, job, fence, owner, until) VALUES ('renew', new.job_id, new.fence, '',
            (extract(epoch FROM new.lock_until) * 1000000)::bigint);
        RETURN NULL;
    END $$",
    "CREATE FUNCTION audit_effect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO audit (op, job, fence, owner, until)
        VALUES ('effect', new.job, new.fence, new.owner, 0);
        RETURN NULL;
    END $$",
    "CREATE TRIGGER audit AFTER UPDATE ON tasklock_job
     FOR EACH ROW EXECUTE FUNCTION audit_job()",
    "CREATE TRIGGER audit AFTER INSERT OR UPDATE ON tasklock_heartbeat
     FOR EACH ROW EXECUTE FUNCTION audit_beat()",
    // At COMMIT: what a guard that does not hold lets through comes after the takeover in the log.
    "CREATE CONSTRAINT TRIGGER audit AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW EXECUTE FUNCTION audit_effect()",
];

/// One writer at a time: whatever a transaction writes first, its place in the order is fixed with it.
const SQLITE: &[&str] = &[
    "CREATE TABLE effect (job bigint, fence bigint, owner text)",
    "CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, op text, job bigint, fence bigint,
        owner text, until bigint, at bigint, tx bigint DEFAULT 0)",
    "CREATE TRIGGER audit_acquire AFTER UPDATE ON tasklock_job
        WHEN new.state = 'running' AND (old.state <> 'running' OR old.fence <> new.fence)
     BEGIN
        INSERT INTO audit (op, job, fence, owner, until, at)
        VALUES ('acquire', new.id, new.fence, new.lock_owner, new.lock_until, {now});
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
        INSERT INTO audit (op, job, fence, owner, until, at) VALUES (
            CASE WHEN new.finished_at IS NOT old.finished_at THEN 'finish' ELSE 'release' END,
            new.id, old.fence, old.lock_owner, 0, {now});
     END",
    "CREATE TRIGGER audit_effect AFTER INSERT ON effect
     BEGIN
        INSERT INTO audit (op, job, fence, owner, until, at)
        VALUES ('effect', new.job, new.fence, new.owner, 0, {now});
     END",
];

/// Watches the runtime's tables, which are there, from now on.
pub(crate) async fn install(place: &Place) {
    let statements = if place.is_sqlite() { SQLITE } else { POSTGRES };
    for statement in statements {
        place.run(statement).await;
    }
}

/// The whole log, in its order.
pub(crate) async fn read(place: &Place) -> Vec<Entry> {
    let rows = place
        .run("SELECT seq, op, job, fence, owner, until, at, tx FROM audit ORDER BY seq")
        .await;
    rows.iter()
        .map(|row| {
            let text = |column: usize| row[column].as_deref().unwrap_or_default();
            let number = |column| text(column).parse().expect("a number");
            Entry {
                seq: number(0),
                op: match text(1) {
                    "acquire" => Op::Acquire,
                    "renew" => Op::Renew,
                    "finish" => Op::Finish,
                    "release" => Op::Release,
                    "effect" => Op::Effect,
                    other => panic!("no such entry: {other}"),
                },
                job: number(2),
                fence: number(3),
                owner: text(4).to_owned(),
                until: number(5),
                at: number(6),
                tx: number(7),
            }
        })
        .collect()
}
