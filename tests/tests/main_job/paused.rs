//! A holder that is stopped past its ttl and goes on beside a new owner: it knows, and whatever it
//! still writes changes nothing.

use std::time::Duration;

use tasklock_runtime::store::{Finish, Passed, Renewal, Then};
use tasklock_runtime::{LeaseKey, Next, OwnerToken};
use tasklock_test_support::process::{Event, Worker, boottime};
use tasklock_test_support::wait::eventually;

use crate::support::{BOUND, Place, field, number, print, ready, spread, start_of, worker};

const TTL: Duration = Duration::from_secs(2);
const ROUNDS: usize = 5;

on_both! { alone: a_paused_holder_is_lost_when_it_wakes }

async fn a_paused_holder_is_lost_when_it_wakes(place: Place) {
    let (mut holder, mut other) = (
        worker(&place.url(), "spin", &[]),
        worker(&place.url(), "spin", &[]),
    );
    ready(&holder);
    ready(&other);
    // Whichever was first.
    eventually(BOUND, || has_started(&holder) || has_started(&other));
    if has_started(&other) {
        std::mem::swap(&mut holder, &mut other);
    }
    let mut held = start_of(&holder);
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let ends = ends_unwritten(&holder);
        holder.stop();
        let taken = start_of(&other);
        // Stopped too, so that only the old holder can change what is compared.
        other.stop();
        let before = place.row("spin").await;
        assert_eq!(before.fence, number(&taken, "fence"));
        assert_eq!(before.owner.as_deref(), field(&taken, "owner"));
        assert!(before.fence > number(&held, "fence"));

        let woken = boottime();
        holder.cont();
        // A worker that was not scheduled for a second, on a busy machine, tells that too, and holds on.
        let check = holder.wait_for(BOUND, |event| {
            event.is("check") && event.boottime().is_some_and(|at| at >= woken)
        });
        assert_eq!(check.get("held"), Some(&false.into()), "round {round}");
        assert_eq!(number(&check, "fence"), number(&held, "fence"));
        assert!(number(&check, "gap_ms") > 1_000, "{}", check.line);
        times.push(check.boottime().expect("it tells").saturating_sub(woken));
        eventually(BOUND, || ends_unwritten(&holder) > ends);
        write_late(&place, &held).await;
        assert_eq!(before, place.row("spin").await, "round {round}");
        other.cont();

        (holder, other) = (other, holder);
        held = taken;
    }
    print(&format!(
        "{}: SIGSTOP past the ttl, {ROUNDS} times: first check after waking lost, late finish, \
         release and heartbeat change no row; from SIGCONT to that check: {}",
        place.kind(),
        spread(&mut times)
    ));
}

fn has_started(worker: &Worker) -> bool {
    worker.events().iter().any(|event| event.is("start"))
}

/// How often the worker has reported a run whose end it does not write.
fn ends_unwritten(worker: &Worker) -> usize {
    worker.stderr().matches("nothing is written").count()
}

/// Under the old lease, past the runtime, which does not even try.
async fn write_late(place: &Place, held: &Event) {
    let key = LeaseKey {
        job: number(held, "job"),
        fence: number(held, "fence"),
        owner: OwnerToken::from_stored(field(held, "owner").expect("it tells")),
    };
    let finish = Finish {
        resource: None,
        key: key.clone(),
        then: Then::Slot(Next::Dormant),
        outcome: "succeeded",
        error: None,
        hold: None,
        frees_place: false,
        passed: Passed::default(),
    };
    let renewal = Renewal {
        key: key.clone(),
        ttl: TTL,
        progress: None,
    };
    let store = place.store().await;
    let mut renewer = store.renewer();
    renewer.connect().await.expect("the store is there");
    let renewed = renewer.renew(&[renewal]).await;
    assert_eq!(renewed.expect("it answers"), [0_i64; 0]);
    let finished = store.finish(&[finish]).await;
    assert_eq!(finished.expect("it answers"), [0_i64; 0]);
    let released = store.release(&[key]).await;
    assert_eq!(released.expect("it answers"), [0_i64; 0]);
    store.close().await;
}
