//! Somebody flushes the server's scripts, again and again, while work is done.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tasklock_test_support::redis::Server;

use crate::steps::{claim, done, job, store};

const JOBS: usize = 400;

#[tokio::test(flavor = "multi_thread")]
async fn every_job_is_done_once_while_scripts_are_flushed() {
    let Some(server) = Server::start().await else {
        return;
    };
    let jobs = store(server.url()).await;
    let over = Arc::new(AtomicBool::new(false));
    let flushing = tokio::spawn({
        let (over, mut connection) = (Arc::clone(&over), server.connect().await);
        async move {
            let mut times = 0;
            while !over.load(Ordering::Relaxed) {
                let mut flush = redis::cmd("SCRIPT");
                let flushed = flush.arg("FLUSH").exec_async(&mut connection).await;
                flushed.expect("the server allows it");
                times += 1;
                tokio::task::yield_now().await;
            }
            times
        }
    });
    let mut written = BTreeSet::new();
    for _ in 0..JOBS / 20 {
        let part = jobs
            .enqueue(&vec![job("task"); 20])
            .await
            .expect("it answers");
        written.extend(part.iter().map(|job| job.id()));
    }
    let mut working = Vec::new();
    for _ in 0..4 {
        let store = store(server.url()).await;
        working.push(tokio::spawn(async move {
            let mut ended = Vec::new();
            loop {
                let claims = claim(&*store, "task", 7).await;
                if claims.is_empty() {
                    return ended;
                }
                let ends: Vec<_> = claims.iter().map(|claim| done(&claim.key)).collect();
                ended.extend(store.finish(&ends).await.expect("it answers"));
            }
        }));
    }
    let mut ended = Vec::new();
    for working in working {
        ended.extend(working.await.expect("it does not panic"));
    }
    over.store(true, Ordering::Relaxed);
    assert!(flushing.await.expect("it does not panic") > 10);
    assert_eq!(ended.len(), JOBS, "each one once");
    assert_eq!(ended.into_iter().collect::<BTreeSet<_>>(), written);
}
