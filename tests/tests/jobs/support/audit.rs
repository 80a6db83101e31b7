//! Everything that happens to job rows, as triggers see it: in the very transactions, after their locks,
//! and by the store's clock.

use super::{Place, integer};

const TABLE: &str = "CREATE TABLE audit (id {id}, job bigint, task text, what text, fence bigint,
    attempt bigint, state text, unique_key text, worker text, claimed bigint, ended bigint,
    due bigint)";

const SQLITE: [&str; 3] = [
    "CREATE TRIGGER audit_new AFTER INSERT ON tasklock_job
     BEGIN INSERT INTO audit (job, task, what, fence, attempt, state, unique_key, due)
        VALUES (new.id, new.task, 'new', new.fence, new.attempt, new.state, new.unique_key, new.due_at);
     END",
    "CREATE TRIGGER audit_claim AFTER UPDATE ON tasklock_job WHEN new.fence <> old.fence
     BEGIN INSERT INTO audit (job, task, what, fence, attempt, state, unique_key, worker, claimed, due)
        VALUES (new.id, new.task, CASE old.state WHEN 'running' THEN 'takeover' ELSE 'claim' END,
            new.fence, new.attempt, new.state, new.unique_key, old.lock_worker, new.claimed_at,
            old.due_at);
     END",
    "CREATE TRIGGER audit_end AFTER UPDATE ON tasklock_job
     WHEN new.fence = old.fence AND old.state <> new.state
     BEGIN INSERT INTO audit (job, task, what, fence, attempt, state, unique_key, worker, claimed,
            ended, due)
        VALUES (new.id, new.task, CASE old.state WHEN 'running' THEN 'end' ELSE 'steer' END,
            new.fence, new.attempt, new.state, new.unique_key, old.lock_worker, old.claimed_at,
            new.finished_at, new.due_at);
     END",
];

const POSTGRES: [&str; 2] = [
    "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
     DECLARE what text; worker text; due timestamptz := new.due_at;
     BEGIN
        IF tg_op = 'INSERT' THEN what := 'new';
        ELSIF new.fence <> old.fence THEN
            what := CASE old.state WHEN 'running' THEN 'takeover' ELSE 'claim' END;
            due := old.due_at;
            worker := old.lock_worker;
        ELSIF new.state <> old.state THEN
            what := CASE old.state WHEN 'running' THEN 'end' ELSE 'steer' END;
            worker := old.lock_worker;
        ELSE RETURN NULL;
        END IF;
        INSERT INTO audit (job, task, what, fence, attempt, state, unique_key, worker, claimed, ended,
            due)
        VALUES (new.id, new.task, what, new.fence, new.attempt, new.state, new.unique_key, worker,
            (extract(epoch FROM new.claimed_at) * 1000000)::bigint,
            (extract(epoch FROM new.finished_at) * 1000000)::bigint,
            (extract(epoch FROM due) * 1000000)::bigint);
        RETURN NULL;
     END $$",
    "CREATE TRIGGER audit AFTER INSERT OR UPDATE ON tasklock_job FOR EACH ROW EXECUTE FUNCTION audit()",
];

/// What happened to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    New,
    Claim,
    Takeover,
    End,
    /// A client changed its state.
    Steer,
}

/// One entry. Instants are microseconds by the store's clock.
#[derive(Debug, Clone)]
pub(crate) struct Audit {
    pub(crate) job: i64,
    pub(crate) what: What,
    pub(crate) attempt: i64,
    /// What it became.
    pub(crate) state: String,
    pub(crate) key: Option<String>,
    pub(crate) claimed: Option<i64>,
    pub(crate) ended: Option<i64>,
    /// Of a claim, when the job was due; else when it will be.
    pub(crate) due: Option<i64>,
}

impl Audit {
    /// Watches the tables from now on.
    pub(crate) async fn install(place: &Place) {
        let (id, statements): (_, &[&str]) = match place {
            Place::Sqlite(_) => ("INTEGER PRIMARY KEY", &SQLITE),
            Place::Postgres(_) => ("bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", &POSTGRES),
        };
        place.run(&TABLE.replace("{id}", id)).await;
        for statement in statements {
            place.run(statement).await;
        }
    }

    /// What happened to the jobs of a task, in an order in which whatever one transaction saw of another
    /// comes after it.
    pub(crate) async fn of(place: &Place, task: &str) -> Vec<Self> {
        let rows = place
            .run(&format!(
                "SELECT job, what, attempt, state, unique_key, claimed, ended, due FROM audit
                 WHERE task = '{task}' ORDER BY id"
            ))
            .await;
        rows.into_iter().map(|row| Self::read(&row)).collect()
    }

    fn read(row: &[Option<String>]) -> Self {
        let maybe = |column: usize| row[column].as_deref().map(|text| integer(Some(text)));
        Self {
            job: integer(row[0].as_deref()),
            what: match row[1].as_deref() {
                Some("new") => What::New,
                Some("claim") => What::Claim,
                Some("takeover") => What::Takeover,
                Some("end") => What::End,
                Some("steer") => What::Steer,
                other => panic!("{other:?} happened to {row:?}"),
            },
            attempt: integer(row[2].as_deref()),
            state: row[3].clone().unwrap_or_default(),
            key: row[4].clone(),
            claimed: maybe(5),
            ended: maybe(6),
            due: maybe(7),
        }
    }

    pub(crate) fn starts(&self) -> bool {
        matches!(self.what, What::Claim | What::Takeover)
    }

    /// Whether it waits or runs no more.
    pub(crate) fn is_over(&self) -> bool {
        matches!(&*self.state, "done" | "dead" | "cancelled")
    }
}
