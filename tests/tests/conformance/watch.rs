//! Announcements: idle workers hear of new work where the store can tell them.

use tasklock_runtime::Next;
use tasklock_runtime::store::{ClaimRequest, Looker, Options, Then, Wake};
use tasklock_test_support::wait::eventually_async;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::steps::{BOUND, LONG, claim_one, finish, request, task, then, watch};
use crate::world::World;

pub(crate) async fn new_work_is_announced_to_other_processes(world: &World) {
    if !world.announces() {
        return;
    }
    // Nobody else's announcements are heard under this prefix.
    let options = Options {
        table_prefix: Some("watched_".to_owned()),
        ..Options::default()
    };
    let (one, two) = (
        world.connect(&options).await.unwrap(),
        world.connect(&options).await.unwrap(),
    );
    one.migrate().await.unwrap();
    let (sender, mut wakes) = mpsc::unbounded_channel();
    let watching = tokio::spawn(two.watch(Box::new(move |wake| {
        let _ = sender.send(wake);
    })));
    let mut next = async || {
        timeout(BOUND, wakes.recv())
            .await
            .expect("it wakes")
            .unwrap()
    };
    assert_eq!(next().await, Wake::Live);

    one.declare(&[task("task", None)]).await.unwrap();
    assert_eq!(next().await, Wake::Work, "declared");
    one.trigger("task").await.unwrap();
    assert_eq!(next().await, Wake::Work, "triggered");
    let claim = claim_one(&*one, "task", LONG).await;
    one.release(&[claim.key]).await.unwrap();
    assert_eq!(next().await, Wake::Work, "given back");
    watching.abort();
}

/// A store that cannot tell it apart says that something has changed, or nothing.
pub(crate) async fn a_look_and_the_next_slot_are_told(world: &World) {
    let Some(([one, _], mut watch)) = watch(world, "turns_").await else {
        return;
    };
    let now = one.now().await.unwrap();
    one.declare(&[task("task", Some(now))]).await.unwrap();
    assert_eq!(watch.next().await, Wake::Work, "declared");
    let looker = Looker {
        worker: u64::MAX,
        tasks: 7,
    };
    let look = ClaimRequest {
        tell: Some(looker),
        ..request(&["task"], LONG, 2)
    };
    let mut found = eventually_async(BOUND, async || {
        let found = one.claim(&look).await.unwrap();
        (!found.claims.is_empty()).then_some(found)
    })
    .await;
    // What it finds nothing at is nobody's affair.
    assert!(one.claim(&look).await.unwrap().claims.is_empty());
    let slot = now + 3_600_000_000;
    let end = Then::Slot(Next::at(slot));
    finish(&*one, then(&found.claims.remove(0).key, end)).await;

    one.trigger("task").await.unwrap();

    let mut told = Vec::new();
    loop {
        match watch.next().await {
            Wake::Looked(looked) => {
                assert_eq!(looked.looker, looker);
                assert!((looked.at - found.now).abs() < 1_000_000, "{looked:?}");
                let wait = found.wait.expect("the lease expires").as_micros() as i64;
                let next = looked.next.expect("it does");
                assert!((next - looked.at - wait).abs() < 1_000_000, "{looked:?}");
                told.push("look");
            }
            Wake::Due { at, task } => {
                assert_eq!((at, &*task), (slot, "task"));
                told.push("slot");
            }
            Wake::Work => break,
            other => panic!("{other:?}"),
        }
    }
    let tells = ["postgres", "redis"].iter();
    let tells = tells.clone().any(|kind| one.name().starts_with(kind));
    assert_eq!(told, if tells { vec!["look", "slot"] } else { vec![] });
}
