//! Announcements: idle workers hear of new work where the store can tell them.

use tasklock_runtime::store::{Options, Wake};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::steps::{BOUND, LONG, claim_one, task};
use crate::world::World;

pub(crate) async fn new_work_is_announced_to_other_processes(world: &World) {
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
