//! `synchronous_commit = off` as the database's default: a crash of the server would take acknowledged
//! claims back, and give their fences out twice. The runtime's own transactions do not go along.

use std::collections::BTreeSet;

use tasklock_test_support::wait::eventually_async;

use crate::support::{BOUND, Place, beside, worker};

/// What each write to the two tables is, and the setting that it is committed under.
const AUDIT: &str = "
    CREATE TABLE seen (what text, setting text);
    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE what text := 'release';
    BEGIN
        IF TG_TABLE_NAME = 'tasklock_heartbeat' THEN what := 'renewal';
        ELSIF TG_OP = 'INSERT' THEN what := 'declaration';
        ELSIF new.state = 'running' THEN what := 'claim';
        ELSIF new.finished_at IS DISTINCT FROM old.finished_at THEN what := 'finish';
        END IF;
        INSERT INTO seen VALUES (what, current_setting('synchronous_commit'));
        RETURN NULL;
    END $$;
    CREATE TRIGGER see AFTER INSERT OR UPDATE ON tasklock_job
        FOR EACH ROW EXECUTE FUNCTION see();
    CREATE TRIGGER see AFTER INSERT OR UPDATE ON tasklock_heartbeat
        FOR EACH ROW EXECUTE FUNCTION see();
    DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
    END $$";
const ALL: [&str; 5] = ["claim", "declaration", "finish", "release", "renewal"];

#[tokio::test]
async fn nothing_of_the_runtimes_is_committed_asynchronously() {
    let _turn = beside().await;
    let Some(place) = Place::postgres().await else {
        return;
    };
    let store = place.store().await;
    store.migrate().await.expect("the database is empty");
    store.close().await;
    place.run(AUDIT).await;
    let rows = place.run("SHOW synchronous_commit").await;
    assert_eq!(
        rows[0][0].as_deref(),
        Some("off"),
        "the default is in force"
    );

    let grace = ("TASKLOCK_SHUTDOWN_GRACE", "1ms");
    let worker = worker(&place.url(), "fail,hold,ignore", &[grace]);
    let seen = async || {
        let rows = place.run("SELECT DISTINCT what, setting FROM seen").await;
        let text = |text: Option<String>| text.expect("it is not null");
        rows.into_iter()
            .map(|row| <[_; 2]>::try_from(row).expect("two columns").map(text))
            .collect::<BTreeSet<[String; 2]>>()
    };
    // All but the release, which comes with the stop.
    worker.wait_for(BOUND, |event| event.str("task") == Some("ignore"));
    eventually_async(BOUND, async || (seen().await.len() >= 4).then_some(())).await;
    worker.term();
    assert!(worker.wait_exit(BOUND).success(), "{}", worker.report());
    let expected = ALL.map(|what| [what.to_owned(), "local".to_owned()]);
    assert_eq!(seen().await, BTreeSet::from(expected));
}
