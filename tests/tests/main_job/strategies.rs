//! What a renewal depends on: the handler's reports, or its calls.

use std::time::Duration;

use tasklock_test_support::process::Event;
use tasklock_test_support::wait::eventually_async;
use tasklock_tests::stage;

use crate::support::{BOUND, Place, grant, next_start, number, ready, start_of, watch, worker};

/// Of all tasks here, in microseconds.
const TTL: i64 = 2_000_000;
const STALL: i64 = 3_000_000;

on_both! {
    beside: a_handler_that_hangs_is_lost_and_replaced,
    beside: a_silent_handler_is_dropped_and_its_job_is_poison,
    beside: a_thread_sees_its_own_stall,
    beside: a_handler_that_reports_is_never_lost,
    beside: a_handler_that_renews_goes_on,
    beside: a_handler_that_does_not_renew_is_lost_at_its_deadline,
}

fn print(line: &str) {
    stage::print("strategies", line);
}

/// One slot: the worker whose handler hangs cannot take the job itself.
const ONE_SLOT: &[(&str, &str)] = &[("TASKLOCK_CONCURRENCY", "1")];

async fn a_handler_that_hangs_is_lost_and_replaced(place: Place) {
    watch(&place).await;
    let hung = worker(&place.url(), "hangs", ONE_SLOT);
    let start = start_of(&hung);
    let other = worker(&place.url(), "hangs", ONE_SLOT);
    ready(&other);
    let reports = hung.wait_for(BOUND, |event| event.is("reports"));
    // It stays to be seen how far it had come.
    let store = place.store().await;
    let job = number(&start, "job");
    eventually_async(BOUND, async || {
        let progress = store.job(job).await.ok()??.progress?;
        (progress.done, progress.total).eq(&(10, 20)).then_some(())
    })
    .await;

    let lost = hung.wait_for(BOUND, |event| event.is("lost"));
    let [told, silent] = in_time(&lost, &reports);
    let next = next_start(&[&hung, &other], &start);
    assert_eq!(
        next_start(&[&other], &start).line,
        next.line,
        "the other one"
    );
    let old = grant(&place, job, number(&start, "fence")).await;
    let new = grant(&place, job, number(&next, "fence")).await;
    assert!(told < old.until, "told at {told}, granted {old:?}");
    // What was under way then may have been carried out, a call later.
    let last = told + TTL + TTL / 8;
    assert!(old.until <= last, "renewed after the loss: {old:?}");
    assert!(new.at >= old.until, "{new:?} before the end of {old:?}");
    let row = place.row("hangs").await;
    assert_eq!((row.attempt, row.crashes, row.outcome), (2, 1, None));
    print(&format!(
        "{}: a handler that hangs is lost {} ms after its last report (stall {} ms), {} ms before the \
         store's expiry; another process starts {} ms after the last report",
        place.kind(),
        silent / 1_000,
        STALL / 1_000,
        (old.until - told) / 1_000,
        (new.at - number(&reports, "wall_us")) / 1_000,
    ));
}

/// When it was told, and for how long it had been silent, by the store's clock: no less than the stall.
fn in_time(lost: &Event, reports: &Event) -> [i64; 2] {
    assert_eq!(lost.str("lost"), Some("stalled"), "{}", lost.line);
    let told = number(lost, "wall_us");
    let silent = told - number(reports, "wall_us");
    assert!((STALL - 1_000..2 * STALL).contains(&silent), "{silent}");
    [told, silent]
}

/// The stall is the ttl here, counted from the claim. It is a crash each time, until there were too many.
async fn a_silent_handler_is_dropped_and_its_job_is_poison(place: Place) {
    watch(&place).await;
    let holder = worker(&place.url(), "silent", &[]);
    for _ in 0..2 {
        let start = start_of(&holder);
        let dropped = holder.wait_for(BOUND, |event| event.is("dropped"));
        assert_eq!(dropped.str("lost"), Some("stalled"), "{}", dropped.line);
        let fence = number(&start, "fence");
        assert_eq!(number(&dropped, "fence"), fence);
        let grant = grant(&place, number(&start, "job"), fence).await;
        let silent = number(&dropped, "wall_us") - grant.at;
        // From before the claim was sent.
        assert!((TTL / 2..2 * TTL).contains(&silent), "{silent}");
        assert!(grant.until > grant.at + TTL, "it was renewed until then");
    }
    let row = eventually_async(BOUND, async || {
        let row = place.row("silent").await;
        row.outcome.is_some().then_some(row)
    })
    .await;
    assert_eq!(row.outcome.as_deref(), Some("poisoned"), "{row:?}");
    let starts = holder.events();
    let starts = starts.iter().filter(|event| event.is("start")).count();
    assert_eq!(starts, 2, "{}", holder.report());
}

async fn a_thread_sees_its_own_stall(place: Place) {
    let holder = worker(&place.url(), "hangs_in_a_thread", &[]);
    let reports = holder.wait_for(BOUND, |event| event.is("reports"));
    let lost = holder.wait_for(BOUND, |event| event.is("lost"));
    in_time(&lost, &reports);
    let row = place.row("hangs_in_a_thread").await;
    assert_eq!(row.outcome, None, "nothing is written");
}

async fn a_handler_that_reports_is_never_lost(place: Place) {
    let holder = worker(&place.url(), "reports", &[]);
    let start = start_of(&holder);
    let store = place.store().await;
    let shown = async || {
        let job = store.job(number(&start, "job")).await;
        Some(job.ok()??.progress?.done)
    };
    let first = eventually_async(BOUND, &shown).await;
    eventually_async(BOUND, async || (shown().await? > first).then_some(())).await;
    let end = holder.wait_for(BOUND, |event| event.is("end"));
    went_on(&place, "reports", &start, &end, Duration::from_secs(10)).await;
}

async fn a_handler_that_renews_goes_on(place: Place) {
    let holder = worker(&place.url(), "renews", &[]);
    let start = start_of(&holder);
    let store = place.store().await;
    eventually_async(BOUND, async || {
        let job = store.job(number(&start, "job")).await.ok()??;
        (job.progress?.done == 7).then_some(())
    })
    .await;
    let end = holder.wait_for(BOUND, |event| event.is("end"));
    went_on(&place, "renews", &start, &end, Duration::from_secs(5)).await;
}

async fn went_on(place: &Place, task: &str, start: &Event, end: &Event, time: Duration) {
    assert_eq!(end.str("lost"), None, "{}", end.line);
    let ran = number(end, "wall_us") - number(start, "wall_us");
    let ran = Duration::from_micros(u64::try_from(ran).expect("it ends later"));
    assert!(ran >= time - Duration::from_millis(1), "{ran:?}");
    let row = eventually_async(BOUND, async || {
        let row = place.row(task).await;
        row.outcome.is_some().then_some(row)
    })
    .await;
    assert_eq!(row.outcome.as_deref(), Some("succeeded"));
    assert_eq!(row.fence, number(start, "fence"), "nobody else had it");
    let (kind, ran) = (place.kind(), ran.as_millis());
    print(&format!(
        "{kind}: a handler that {task} keeps a ttl of 1000 ms for {ran} ms"
    ));
}

async fn a_handler_that_does_not_renew_is_lost_at_its_deadline(place: Place) {
    const MARGIN: i64 = TTL / 5;
    watch(&place).await;
    let holder = worker(&place.url(), "never_renews", &[]);
    let start = start_of(&holder);
    let lost = holder.wait_for(BOUND, |event| event.is("lost"));
    assert_eq!(lost.str("lost"), Some("expired"), "{}", lost.line);
    let fence = number(&start, "fence");
    let grant = grant(&place, number(&start, "job"), fence).await;
    // The claim's expiry, and no later one.
    assert!((grant.until - grant.at - TTL).abs() < 100_000, "{grant:?}");
    let early = grant.until - number(&lost, "wall_us");
    assert!((1..MARGIN + 500_000).contains(&early), "{early}");
    let after = (number(&lost, "wall_us") - grant.at) / 1_000;
    print(&format!(
        "{}: a handler that never renews is lost {after} ms after its claim (ttl {} ms, margin {} ms)",
        place.kind(),
        TTL / 1_000,
        MARGIN / 1_000,
    ));
}
