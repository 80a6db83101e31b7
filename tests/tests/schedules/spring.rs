//! A MariaDB server whose zone is Berlin's passes the hour that it skips in spring: from 01:59:59 to 03:00:00.
//!
//! Its clock is moved as those of workers are (`clock.c`), to 30 seconds before that, and goes on by itself. Its sessions
//! have the system's zone, and its `sql_mode` is empty: with local times, instants in the skipped hour would become others
//! without an error, and what is due or expires then would come an hour late or early. Everything goes on meanwhile: slots
//! by the second, which workers start when the store has told them to, for they hardly ever look by themselves; a name that
//! is renewed and guards transactions; one that somebody waits for; and one that is taken over when it expires, again and
//! again.

use std::time::Duration;

use sqlx::Connection;
use sqlx::mysql::MySqlConnection;
use tasklock_runtime::store::{Acquire, Acquired, Options, Source, Store, connect};
use tasklock_runtime::{Client, CommitError, LeaseKey, OwnerToken};
use tasklock_test_support::mysql;
use tasklock_test_support::process::Worker;
use tasklock_test_support::temp::TempDir;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage::{BOUND, Database, beside, ready, spread, worker};

use crate::clock;
use crate::log;

const SECOND: i64 = 1_000_000;
/// The server starts so long before, and the test ends so long after.
const BEFORE: i64 = 30;
const AFTER: i64 = 20 * SECOND;
/// So late may anything be on a busy machine. What is wrong by an hour is far later, and so is a worker that was told to
/// wait for too long: until it looks by itself.
const LATE: Duration = Duration::from_secs(10);
/// Of the name that expires.
const SHORT: Duration = Duration::from_secs(1);
/// The machine is others', too.
const PACE: Duration = Duration::from_millis(50);
const TASKS: [&str; 2] = ["clocked", "calendar"];

const MYSQL: &str = "CREATE TRIGGER slot_end AFTER UPDATE ON tasklock_job FOR EACH ROW
    BEGIN
        IF old.state = 'running' AND NOT old.slot_at <=> new.slot_at THEN
            INSERT INTO slot_end VALUES (new.task, old.slot_at, new.last_outcome, new.fence);
        END IF;
    END";

/// 01:00 UTC.
fn gap() -> i64 {
    let gap: jiff::Timestamp = "2027-03-28T01:00:00Z".parse().expect("it is an instant");
    gap.as_microsecond()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_late_double_or_lost_where_the_server_skips_an_hour() {
    let _turn = beside().await;
    // The server's user may not be allowed to enter the folder of the build.
    let folder = TempDir::new();
    let library = folder.path().join("clock.so");
    std::fs::copy(clock::library(), &library).expect("it can be read by all");
    let preload = library.to_str().expect("a plain path");
    let surroundings = vec![
        ("THROWAWAY_CLOCK", (gap() / SECOND - BEFORE).to_string()),
        (
            "THROWAWAY_ENVIRONMENT",
            format!("LD_PRELOAD={preload} TZ=Europe/Berlin"),
        ),
        (
            "THROWAWAY_OPTIONS",
            "--sql-mode= --default-time-zone=SYSTEM".to_owned(),
        ),
    ];
    let Some(server) = mysql::Server::start_in(surroundings).await else {
        return;
    };
    let database = server.database().await;
    let url = format!("{}?timezone=SYSTEM", database.url());
    let mut watch = Database::connect(&url).await.expect("it is there");
    let store = store(&url).await;
    store.migrate().await.expect("the tables can be made");
    for statement in [
        log::RUNS,
        log::ENDS,
        MYSQL,
        "CREATE TABLE effect (at bigint)",
    ] {
        run(&mut watch, statement).await;
    }
    let seldom = [("TASKLOCK_POLL_INTERVAL", "1m")];
    let up = || worker(log::PROGRAM, &url, &TASKS.join(","), &seldom);
    let workers = [up(), up()];
    workers.iter().for_each(ready);
    assert!(
        local(&mut watch).await.starts_with("2027-03-28 01:59:"),
        "too slow a machine: it is {}",
        local(&mut watch).await
    );

    let (guarded, waited, takeovers) = tokio::join!(
        a_name_that_is_held(&url, &*store),
        a_name_that_is_waited_for(&url, &*store),
        a_name_that_expires(&*store),
    );
    eventually_async(BOUND, async || {
        (store.now().await.ok()? > gap() + AFTER).then_some(())
    })
    .await;
    let after = local(&mut watch).await;
    assert!(after.starts_with("2027-03-28 03:00:"), "{after}");
    each_slot_ran_once(&mut watch, &workers).await;
    let effects = run(&mut watch, "SELECT count(*) FROM effect").await;
    assert_eq!(effects[0][0], Some(guarded.to_string()));
    log::print(&format!(
        "mysql: over the skipped hour {guarded} transactions were guarded, {takeovers} leases expired and were taken over, \
         and a name came {waited:?} after it was given back"
    ));
    store.close().await;
    workers.into_iter().for_each(log::down);
}

async fn run(database: &mut Database, sql: &str) -> Vec<Vec<Option<String>>> {
    let answer = database.run(sql).await;
    answer.unwrap_or_else(|error| panic!("{error} in {sql}"))
}

/// What the server's wall shows.
async fn local(database: &mut Database) -> String {
    run(database, "SELECT NOW(6)").await[0][0]
        .clone()
        .expect("it shows something")
}

async fn store(url: &str) -> std::sync::Arc<dyn Store> {
    let source = Source::Url {
        option: "the test",
        url: url.to_owned(),
    };
    let connected = connect(source, &Options::default()).await;
    connected.expect("the server is there")
}

async fn is_over(store: &dyn Store) -> bool {
    store.now().await.expect("it answers") > gap() + AFTER / 2
}

/// It is renewed each second, and commits all the time. How often.
async fn a_name_that_is_held(url: &str, store: &dyn Store) -> usize {
    let client = Client::connect(url).await.expect("it is there");
    let held = client.lease("held").ttl(Duration::from_secs(3));
    let held = held.try_acquire().await.expect("it answers");
    let held = held.expect("it is free");
    let mut connection = MySqlConnection::connect(url).await.expect("it is there");
    let mut committed = 0;
    let mut pace = tokio::time::interval(PACE);
    while !is_over(store).await {
        pace.tick().await;
        let mut tx = connection.begin().await.expect("it answers");
        let insert = "INSERT INTO effect VALUES (UNIX_TIMESTAMP() * 1000000)";
        let inserted = sqlx::query(insert).execute(&mut *tx).await;
        inserted.expect("it answers");
        match held.commit(tx).await {
            Ok(()) => committed += 1,
            Err(CommitError::Retry(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    held.check().expect("it was renewed");
    held.release().await;
    committed
}

/// Somebody waits for a name from before the hour until after it. How long after its end it comes.
async fn a_name_that_is_waited_for(url: &str, store: &dyn Store) -> Duration {
    let clients = [Client::connect(url).await, Client::connect(url).await];
    let [holder, waiter] = clients.map(|client| client.expect("it is there"));
    let held = holder.lease("wanted").try_acquire().await;
    let held = held.expect("it answers").expect("it is free");
    let before = held.fence();
    let waits = async {
        let wanted = waiter.lease("wanted").acquire_within(BOUND).await;
        let wanted = wanted.expect("it answers").expect("it comes in time");
        (store.now().await.expect("it answers"), wanted)
    };
    let gives_back = async {
        let mut pace = tokio::time::interval(PACE);
        while !is_over(store).await {
            pace.tick().await;
            held.check().expect("it is renewed");
        }
        let at = store.now().await.expect("it answers");
        held.release().await;
        at
    };
    let ((came, wanted), given) = tokio::join!(waits, gives_back);
    assert!(wanted.fence() > before);
    let took = came - given;
    let took = Duration::from_micros(u64::try_from(took).expect("not before"));
    assert!(took < LATE, "{took:?} after it was given back");
    wanted.release().await;
    took
}

/// Nobody renews it: whoever comes next has it when it has expired, and neither before nor long after. How often.
async fn a_name_that_expires(store: &dyn Store) -> usize {
    let mut takeovers = 0;
    let (mut last, mut asked) = acquired(store).await;
    let mut had = store.now().await.expect("it answers");
    while !is_over(store).await {
        let (key, asks) = acquired(store).await;
        let has = store.now().await.expect("it answers");
        assert!(key.fence > last.fence);
        let short = i64::try_from(SHORT.as_micros()).expect("it fits");
        assert!(has - asked >= short, "granted twice, at {asked} and {has}");
        let late = has - had - short;
        let most = i64::try_from(LATE.as_micros()).expect("it fits");
        assert!(late < most, "{late} µs late at {has}");
        (last, asked, had) = (key, asks, has);
        takeovers += 1;
    }
    takeovers
}

/// Asks until the name is had; when that was asked for.
async fn acquired(store: &dyn Store) -> (LeaseKey, i64) {
    eventually_async(BOUND, async || {
        let asked = store.now().await.expect("it answers");
        let wanted = Acquire {
            name: "expires".to_owned(),
            owner: OwnerToken::fresh(),
            worker: "a test".to_owned(),
            ttl: SHORT,
            ticket: None,
        };
        match store
            .acquire(&[wanted])
            .await
            .expect("it answers")
            .remove(0)
        {
            Acquired::Granted(key) => Some((key, asked)),
            Acquired::Held(left) => {
                assert!(left <= SHORT, "it expires in {left:?}");
                None
            }
        }
    })
    .await
}

/// None is left out, none comes twice, none is early or late.
async fn each_slot_ran_once(database: &mut Database, workers: &[Worker; 2]) {
    for worker in workers {
        assert!(worker.ended().is_none(), "{}", worker.report());
    }
    let runs = log::read(&run(database, log::READ).await);
    for task in TASKS {
        let runs: Vec<_> = runs.iter().filter(|run| run.task == task).collect();
        let [first, .., last] = &runs[..] else {
            panic!("{runs:?}");
        };
        assert!(
            first.slot < gap() && last.slot > gap() + AFTER / 2,
            "{runs:?}"
        );
        for pair in runs.windows(2) {
            // The calendar's may be missed, where the machine is busy.
            let next = pair[1].slot - pair[0].slot;
            let most = match task {
                "clocked" => SECOND,
                _ => SECOND * i64::try_from(LATE.as_secs()).expect("it fits"),
            };
            assert!((SECOND..=most).contains(&next), "{pair:?}");
        }
        let late = runs.iter().map(|run| u64::try_from(run.started - run.slot));
        let late: Result<Vec<_>, _> = late.map(|late| late.map(Duration::from_micros)).collect();
        let mut late = late.expect("none is early");
        assert!(late.iter().all(|late| *late < LATE), "{late:?}");
        log::print(&format!(
            "mysql: {} slots of `{task}` over the skipped hour, late by {}",
            runs.len(),
            spread(&mut late)
        ));
        let ends = format!(
            "SELECT count(*), count(DISTINCT slot), coalesce(sum(outcome <> 'succeeded'), 0) FROM slot_end
             WHERE task = '{task}' AND slot <= {}",
            runs[runs.len() - 2].slot
        );
        let ends = run(database, &ends).await;
        let count = Some((runs.len() - 1).to_string());
        assert_eq!(ends[0], [count.clone(), count, Some("0".to_owned())]);
    }
}
