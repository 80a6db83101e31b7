//! A backlog slows no claim: the server is asked for as much, however many jobs wait.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use tasklock_runtime::store::{Due, NewJob};
use tasklock_test_support::redis::Server;

use crate::steps::{LONG, claim, done, job, renewal, store};

/// How many commands the server has carried out, those of scripts included.
async fn commands(connection: &mut MultiplexedConnection) -> u64 {
    let stats = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(connection)
        .await;
    let stats: String = stats.expect("it answers");
    let calls = stats.lines().filter_map(|line| {
        let (_, calls) = line.split_once(":calls=")?;
        calls.split(',').next()?.parse::<u64>().ok()
    });
    calls.sum()
}

#[tokio::test]
async fn a_claim_asks_for_no_more_where_more_jobs_wait() {
    let Some(server) = Server::start().await else {
        return;
    };
    let store = store(server.url()).await;
    let mut connection = server.connect().await;
    let mut renewer = store.renewer();
    renewer.connect().await.expect("it is there");
    let mut counts = Vec::new();
    for backlog in [100, 20_000] {
        // As many that are not due, of three priorities, stand before and behind those that are.
        let of = |nth: i64, due| NewJob {
            due,
            priority: i16::try_from(nth % 3).expect("it is small") * 10,
            ..job("task")
        };
        let due = (0..backlog).map(|nth| of(nth, Due::At(1 + nth)));
        let later = (0..backlog).map(|nth| of(nth, Due::In(LONG + Duration::from_secs(1))));
        let jobs: Vec<NewJob> = due.chain(later).collect();
        store.enqueue(&jobs).await.expect("it answers");
        // Each script is loaded once.
        for _ in 0..2 {
            let before = commands(&mut connection).await;
            let claims = claim(&*store, "task", 16).await;
            assert_eq!(claims.len(), 16);
            let renewals: Vec<_> = claims.iter().map(|claim| renewal(&claim.key)).collect();
            assert_eq!(
                renewer.renew(&renewals).await.expect("it answers").len(),
                16
            );
            let ends: Vec<_> = claims.iter().map(|claim| done(&claim.key)).collect();
            assert_eq!(store.finish(&ends).await.expect("it answers").len(), 16);
            counts.push(commands(&mut connection).await - before);
        }
    }
    let (few, many) = (counts[1], counts[3]);
    println!("claim, renew and finish 16: {few} commands where 200 wait, {many} where 40,000 do");
    assert!(many <= few + 2, "{counts:?}");
}
