//! Every expiry that the store has granted, as triggers see it.

use super::Place;

const SQLITE: [&str; 2] = [
    "CREATE TABLE audit (job bigint, fence bigint, until bigint, at bigint)",
    "CREATE TRIGGER audit_job AFTER UPDATE ON tasklock_job WHEN new.lock_until IS NOT NULL
     BEGIN INSERT INTO audit VALUES (new.id, new.fence, new.lock_until, {now}); END",
];

const POSTGRES: [&str; 5] = [
    "CREATE TABLE audit (job bigint, fence bigint, until bigint, at bigint)",
    "CREATE FUNCTION audit_job() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.lock_until IS NOT NULL THEN
            INSERT INTO audit VALUES (new.id, new.fence,
                (extract(epoch FROM new.lock_until) * 1000000)::bigint, {now});
        END IF;
        RETURN NULL;
    END $$",
    "CREATE FUNCTION audit_beat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO audit VALUES (new.job_id, new.fence,
            (extract(epoch FROM new.lock_until) * 1000000)::bigint, {now});
        RETURN NULL;
    END $$",
    "CREATE TRIGGER audit AFTER UPDATE ON tasklock_job
     FOR EACH ROW EXECUTE FUNCTION audit_job()",
    "CREATE TRIGGER audit AFTER INSERT OR UPDATE ON tasklock_heartbeat
     FOR EACH ROW EXECUTE FUNCTION audit_beat()",
];

/// What the store granted under one fence, by its clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    /// The claim.
    pub(crate) at: i64,
    /// The last expiry.
    pub(crate) until: i64,
}

/// Makes the tables, and watches them from now on.
pub(crate) async fn watch(place: &Place) {
    place.migrate().await;
    let statements: &[&str] = match place {
        Place::Sqlite(_) => &SQLITE,
        Place::Postgres(_) => &POSTGRES,
    };
    for statement in statements {
        place.run(statement).await;
    }
}

/// What was granted under this fence.
pub(crate) async fn grant(place: &Place, job: i64, fence: i64) -> Grant {
    let rows = place
        .run(&format!(
            "SELECT min(at), max(until) FROM audit WHERE job = {job} AND fence = {fence}"
        ))
        .await;
    let number = |column: usize| {
        let text = rows[0][column].as_deref();
        text.expect("the fence was granted")
            .parse()
            .expect("a number")
    };
    Grant {
        at: number(0),
        until: number(1),
    }
}
