//! The database goes away for longer than a ttl: the holder is told, before the store's expiry and so
//! before anybody else can start.

use std::time::Duration;

use tasklock_test_support::process::{Event, Worker};

use crate::support::{
    BOUND, Link, Place, grant, next_start, number, print, ready, start_of, watch, worker,
};

on_both! {
    alone: abort_drops_the_handler_in_time,
    alone: signal_tells_it_and_lets_it_go_on,
    alone: exit_ends_the_process,
}

async fn abort_drops_the_handler_in_time(place: Place) {
    let mut case = Case::start(place, "abort").await;
    case.link.cut().await;
    let dropped = case.cut_off.wait_for(BOUND, |event| event.is("dropped"));
    case.was_told_in_time("abort", &dropped).await;
}

async fn signal_tells_it_and_lets_it_go_on(place: Place) {
    let mut case = Case::start(place, "signal").await;
    case.link.cut().await;
    let lost = case.cut_off.wait_for(BOUND, |event| event.is("lost"));
    let end = case.cut_off.wait_for(BOUND, |event| event.is("end"));
    let events = case.cut_off.events();
    let dropped = events.iter().any(|event| event.is("dropped"));
    assert!(!dropped, "{}", case.cut_off.report());
    assert!(
        end.boottime()
            >= lost
                .boottime()
                .map(|lost| lost + Duration::from_millis(300))
    );
    case.was_told_in_time("signal", &lost).await;
}

async fn exit_ends_the_process(place: Place) {
    let mut case = Case::start(place, "exit").await;
    case.link.cut().await;
    let status = case.cut_off.wait_exit(BOUND);
    assert_eq!(status.code(), Some(75), "{}", case.cut_off.report());
    let said = case.cut_off.stderr();
    assert!(said.contains("ends the process"), "{said}");
    case.link.mend().await;
    next_start(&[&case.other], &case.start);
}

struct Case {
    place: Place,
    link: Link,
    /// Holds the lease.
    cut_off: Worker,
    /// Waits for it.
    other: Worker,
    start: Event,
}

impl Case {
    async fn start(place: Place, task: &str) -> Self {
        watch(&place).await;
        let link = Link::to(&place).await;
        let cut_off = worker(link.url(), task, &[]);
        let start = start_of(&cut_off);
        let other = worker(&place.url(), task, &[]);
        ready(&other);
        Self {
            place,
            link,
            cut_off,
            other,
            start,
        }
    }

    /// The loss has the right reason, came before the store's expiry, and everybody else after it.
    async fn was_told_in_time(mut self, task: &str, lost: &Event) {
        assert_eq!(number(lost, "fence"), number(&self.start, "fence"));
        assert_eq!(
            lost.str("lost"),
            Some("store_unreachable"),
            "{}",
            self.cut_off.report()
        );
        // On SQLite nobody can claim before the lock has gone; on Postgres the other one can, and only
        // then does what was held up on the way arrive.
        let locked = matches!(self.link, Link::Sqlite { .. });
        if locked {
            self.link.mend().await;
        }
        let next = next_start(&[&self.cut_off, &self.other], &self.start);
        if !locked {
            self.link.mend().await;
        }
        assert!(next.boottime() > lost.boottime(), "{}", lost.line);
        let job = number(lost, "job");
        let old = grant(&self.place, job, number(lost, "fence")).await;
        let new = grant(&self.place, job, number(&next, "fence")).await;
        let told = number(lost, "wall_us");
        assert!(told < old.until, "told at {told}, granted {old:?}");
        assert!(new.at >= old.until, "{new:?} before the end of {old:?}");
        print(&format!(
            "{}: on_lost = {task}: told {} ms before the store's expiry, next claim {} ms after it",
            self.place.kind(),
            (old.until - told) / 1_000,
            (new.at - old.until) / 1_000
        ));
    }
}
