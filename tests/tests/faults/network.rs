//! A network between the workers and their server that is slow, dead in one direction, or torn.

use std::time::Duration;

use tasklock_test_support::proxy::{Mode, Proxy};

use crate::arena::{Arena, TASKS};

scenarios! {
    delayed on postgres redis => Never;
    held_up_past_the_ttl on postgres redis => Never;
    replies_are_lost on mysql postgres redis => Never;
    requests_are_lost on postgres redis => Never;
    reset on postgres redis => Never;
    cut_after_some_bytes on postgres redis => Never;
    refused on postgres redis => Never;
    accepted_and_never_answered on postgres redis => Never;
    refused_then_never_answered on postgres redis => Never;
    suddenly_far_away on postgres redis => Never;
    a_commits_reply_is_lost on mysql postgres => Never;
}

const ROUNDS: usize = 6;
/// Past the ttl.
const LONG: Duration = Duration::from_millis(1_300);

fn proxy(arena: &Arena, index: usize) -> &Proxy {
    let proxy = arena.seats[index].proxy.as_ref();
    proxy.expect("there is a proxy before a server")
}

/// A fault on the way of whoever holds the most, for some time; then all is well again.
async fn disturb(arena: &mut Arena, modes: &[Mode], time: Duration) {
    arena.fleet(2, TASKS);
    for round in 0..ROUNDS {
        let index = arena.holder();
        let held = arena.seats[index].held();
        let mode = modes[round % modes.len()];
        let connections = proxy(arena, index).counts().connections;
        proxy(arena, index).set(mode);
        tokio::time::sleep(time).await;
        let seat = &arena.seats[index];
        match mode {
            // Nothing was confirmed, so nothing of it is believed in any more.
            Mode::Hold | Mode::LoseReplies | Mode::LoseRequests => {
                let now = seat.held();
                assert!(
                    !held.iter().any(|lease| now.contains(lease)),
                    "it did not bite"
                );
            }
            Mode::CutReplies { .. } => {
                let opened = proxy(arena, index).counts().connections - connections;
                assert!(opened > 0, "no connection was cut");
            }
            Mode::Delay { requests, replies } => {
                let url = proxy(arena, index).url(&arena.place.url());
                let from = tasklock_test_support::process::boottime();
                let mut far = crate::database::Database::connect(&url)
                    .await
                    .expect("it passes");
                far.run("SELECT 1").await.expect("it passes");
                let took = tasklock_test_support::process::boottime() - from;
                assert!(took >= requests + replies, "it did not bite: {took:?}");
            }
            Mode::Pass | Mode::Refuse => {}
        }
        let proxy = proxy(arena, index);
        proxy.set(Mode::Pass);
        // A connection with bytes missing cannot be used again.
        if modes
            .iter()
            .any(|mode| matches!(mode, Mode::LoseReplies | Mode::LoseRequests))
        {
            proxy.reset_all();
        }
        arena.bitten += 1;
    }
}

/// Up to the longest that a call may take.
async fn delayed(arena: &mut Arena) {
    let each_way = [10, 30, 60].map(|millis| Mode::delay(Duration::from_millis(millis)));
    disturb(arena, &each_way, LONG).await;
}

/// Statements arrive long after their sender was lost, and must change nothing.
async fn held_up_past_the_ttl(arena: &mut Arena) {
    disturb(arena, &[Mode::Hold], LONG).await;
}

/// What is asked for is done, and nobody hears of it: neither a success nor a loss.
async fn replies_are_lost(arena: &mut Arena) {
    disturb(arena, &[Mode::LoseReplies], LONG).await;
    let lost = |index| proxy(arena, index).counts().lost_replies;
    assert!(lost(0) + lost(1) > 0, "no reply was lost");
}

async fn requests_are_lost(arena: &mut Arena) {
    disturb(arena, &[Mode::LoseRequests], LONG).await;
    let lost = |index| proxy(arena, index).counts().lost_requests;
    assert!(lost(0) + lost(1) > 0, "no request was lost");
}

/// Connections that are gone are opened again: nothing is lost by that alone.
async fn reset(arena: &mut Arena) {
    arena.fleet(2, TASKS);
    for _ in 0..3 * ROUNDS {
        let index = arena.holder();
        let before = proxy(arena, index).counts();
        proxy(arena, index).reset_all();
        let reopened = || proxy(arena, index).counts().connections > before.connections;
        tasklock_test_support::wait::eventually(crate::BOUND, reopened);
        arena.bitten += 1;
    }
}

async fn cut_after_some_bytes(arena: &mut Arena) {
    let after = [1, 7, 40, 130, 600].map(|after| Mode::CutReplies { after });
    disturb(arena, &after, Duration::from_millis(600)).await;
}

/// A COMMIT that was carried out without a reply is neither a success nor a loss: the handler is told that
/// it is not known.
async fn a_commits_reply_is_lost(arena: &mut Arena) {
    arena.fleet(1, TASKS);
    let mut shown = false;
    // Whether a COMMIT is among what is lost is up to the machine: it goes on until one was.
    for round in 0..10 * ROUNDS {
        if shown && round >= ROUNDS {
            break;
        }
        arena.holder();
        // The replies go while guards are held: what is sent next are their COMMITs.
        arena.tell_all("hold 200 guard held");
        tokio::time::sleep(Duration::from_millis(150)).await;
        proxy(arena, 0).set(Mode::LoseReplies);
        tokio::time::sleep(Duration::from_millis(300)).await;
        proxy(arena, 0).set(Mode::Pass);
        proxy(arena, 0).reset_all();
        arena.tell_all("forget");
        let effects = arena.place.number("SELECT count(*) FROM effect").await;
        let beliefs = arena.seats[0].beliefs();
        let acknowledged: u64 = beliefs.iter().map(|belief| belief.acknowledged).sum();
        shown = effects.unsigned_abs() > acknowledged && unknown(arena) > 0;
    }
    arena.bitten = unknown(arena);
    assert!(shown, "no COMMIT was carried out without a reply");
}

/// How often a handler was told that it is not known whether its transaction was committed.
fn unknown(arena: &Arena) -> usize {
    let events = arena.seats[0].worker.events();
    let unknown = events.iter().filter(|event| event.name() == "unknown");
    unknown.count()
}

/// The faults of one lease that outlives an outage of 7.5 s, one after the other: it must be kept.
async fn is_kept(arena: &mut Arena, tasks: &str, faults: &[(Mode, u64)], rounds: usize) {
    arena.fleet(1, tasks);
    let fence = "SELECT fence FROM tasklock_job WHERE task = 'lasting'";
    let renewals = "SELECT count(*) FROM audit a JOIN tasklock_job j ON j.id = a.job
        WHERE a.op = 'renew' AND j.task = 'lasting'";
    // All tasks were due at once, and not all need have been claimed by now.
    arena.place.wait_until_more_than(0, fence).await;
    let before = arena.place.number(fence).await;
    for _ in 0..rounds {
        for (mode, millis) in faults {
            proxy(arena, 0).set(*mode);
            proxy(arena, 0).reset_all();
            tokio::time::sleep(Duration::from_millis(*millis)).await;
        }
        if !matches!(faults, [(Mode::Delay { .. }, _)]) {
            proxy(arena, 0).set(Mode::Pass);
        }
        let count = arena.place.number(renewals).await;
        arena.place.wait_until_more_than(count + 1, renewals).await;
        arena.bitten += 1;
    }
    proxy(arena, 0).set(Mode::Pass);
    let after = arena.place.number(fence).await;
    assert_eq!(
        after,
        before,
        "it was lost: {}",
        arena.seats[0].worker.report()
    );
    arena.tell_all("finish");
}

/// Somebody in between takes every connection and passes nothing on: the attempt that hangs when that ends
/// must not cost the lease.
async fn accepted_and_never_answered(arena: &mut Arena) {
    is_kept(arena, "lasting", &[(Mode::LoseRequests, 6_300)], 1).await;
    let silence = arena.place.longest_silence().await;
    assert!(
        silence >= Duration::from_millis(5_500),
        "silent for {silence:?} only"
    );
}

/// Quick refusals first, of short leases too; then attempts that hang.
async fn refused_then_never_answered(arena: &mut Arena) {
    let faults = [(Mode::Refuse, 4_000), (Mode::LoseRequests, 1_900)];
    is_kept(arena, "lasting,versioned,a0,a1,s0,s1", &faults, 1).await;
}

/// Opening a connection takes far longer than it used to.
async fn suddenly_far_away(arena: &mut Arena) {
    let far = Mode::delay(Duration::from_millis(150));
    is_kept(arena, "lasting", &[(far, 12_000)], 1).await;
}

/// The server looks gone.
async fn refused(arena: &mut Arena) {
    arena.fleet(2, TASKS);
    for _ in 0..ROUNDS {
        let index = arena.holder();
        proxy(arena, index).set(Mode::Refuse);
        proxy(arena, index).reset_all();
        tokio::time::sleep(LONG).await;
        assert!(proxy(arena, index).counts().refused > 0);
        proxy(arena, index).set(Mode::Pass);
        arena.bitten += 1;
    }
}
