//! Tasks that have had other names.

use tasklock_runtime::store::{Declaration, Pausable};
use tasklock_runtime::{Next, Triggered};

use crate::steps::{
    LONG, SHORT, claim_one, end, enqueue, finish, held, job, new, renewal, renewer, standing,
    taken_over, task, with_key,
};
use crate::world::{Sql, World};

/// The row itself goes over to the new name, and the lease on it with it.
pub(crate) async fn a_former_name_gives_its_row(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "old", LONG).await;
    let renamed = [Declaration {
        aliases: vec!["older".to_owned(), "old".to_owned()],
        ..task("new", Some(7))
    }];
    store.declare(&renamed).await.unwrap();
    assert_eq!(store.standing("old").await.unwrap(), None);
    let found = standing(&*store, "new").await;
    assert!(found.is_held_under(&held.key));
    let mut renewer = renewer(&*store).await;
    let renewed = renewer.renew(&[renewal(&held.key, LONG)]).await;
    assert_eq!(renewed.unwrap(), [held.key.job]);
    finish(&*store, end(&held.key, Next::at(8))).await;

    // An old version starts once more: the name is served under the new one.
    let old = [task("old", Some(7))];
    store.declare(&old).await.unwrap();
    assert_eq!(store.standing("old").await.unwrap(), None);
    assert_eq!(store.tend(&old).await.unwrap(), Vec::<String>::new());
    let queued = store.trigger("older").await.unwrap();
    assert_eq!(queued, Some(Triggered::AlreadyQueued));
    finish(
        &*store,
        end(&claim_one(&*store, "new", LONG).await.key, Next::Dormant),
    )
    .await;
    assert_eq!(store.trigger("old").await.unwrap(), Some(Triggered::Queued));

    // A further name: those before are its own, too.
    let newest = [Declaration {
        aliases: vec!["new".to_owned()],
        ..task("newest", Some(9))
    }];
    store.declare(&newest).await.unwrap();
    let others = [
        task("old", Some(7)),
        task("new", Some(7)),
        task("missing", None),
    ];
    store.declare(&others[..2]).await.unwrap();
    assert_eq!(store.tend(&others).await.unwrap(), ["missing"]);
    assert_eq!(standing(&*store, "newest").await.job, held.key.job);

    // What somebody enqueues under an old name gets the new one, unless its key is taken there; what is paused is, under the new one.
    let both = [Declaration {
        aliases: vec!["new".to_owned(), "old".to_owned()],
        ..newest[0].clone()
    }];
    let mut ids = Vec::new();
    for job in [new("old"), with_key("old", "a"), with_key("old", "b")] {
        ids.push(enqueue(&*store, job).await.id());
    }
    enqueue(&*store, with_key("newest", "b")).await;
    let [former, present] = ["old", "newest"].map(|name| Pausable::Task(name.to_owned()));
    store.pause(&former, true).await.unwrap();
    assert_eq!(store.tend(&both).await.unwrap(), Vec::<String>::new());
    let mut names = Vec::new();
    for id in ids {
        names.push(job(&*store, id).await.task);
    }
    assert_eq!(names, ["newest", "newest", "old"]);
    assert_eq!(
        store.paused().await.unwrap(),
        std::slice::from_ref(&present)
    );
    store.pause(&present, false).await.unwrap();
    store.tend(&both).await.unwrap();
    store.declare(&both).await.unwrap();
    assert_eq!(store.paused().await.unwrap(), [], "nobody pauses it again");
    // A version between the two starts again: it has nothing to say.
    store.declare(&renamed).await.unwrap();
    store.tend(&renamed).await.unwrap();
    assert_eq!(standing(&*store, "newest").await.job, held.key.job);
    assert_eq!(
        store.trigger("old").await.unwrap(),
        Some(Triggered::AlreadyQueued)
    );

    // Nobody serves it any more: somebody has gone back.
    if !let_aliases_lapse(world).await {
        return;
    }
    assert_eq!(store.tend(&both).await.unwrap(), Vec::<String>::new());
    assert_eq!(
        store.tend(&old).await.unwrap(),
        Vec::<String>::new(),
        "kept"
    );
    let_aliases_lapse(world).await;
    assert_eq!(store.tend(&old).await.unwrap(), ["old"]);
    store.declare(&old).await.unwrap();
    let back = standing(&*store, "old").await;
    assert_eq!(back.job, held.key.job);
    assert_eq!(store.standing("newest").await.unwrap(), None);
    // And forward again, or back by the other name's own wish.
    store.declare(&renamed).await.unwrap();
    assert_eq!(standing(&*store, "new").await.job, held.key.job);
    let renamed_back = [Declaration {
        aliases: vec!["new".to_owned()],
        ..task("old", Some(7))
    }];
    store.declare(&renamed_back).await.unwrap();
    assert_eq!(standing(&*store, "old").await.job, held.key.job);
    store.declare(&renamed).await.unwrap();
    assert_eq!(standing(&*store, "new").await.job, held.key.job);
}

/// Nobody has served a former name for long; false where nobody can say so.
async fn let_aliases_lapse(world: &World) -> bool {
    if let Some(mut keys) = world.keys().await {
        keys.let_aliases_lapse().await;
        return true;
    }
    let Some(mut sql) = world.sql().await else {
        return false;
    };
    let long_ago = match sql {
        Sql::Sqlite(_) | Sql::MySql(_) => "1",
        Sql::Postgres(_) => "'1970-01-01'",
    };
    let lapse = format!("UPDATE tasklock_alias SET served_until = {long_ago}");
    sql.execute(&lapse).await;
    true
}

/// Of a task that needs a payload there is no standing job. A run whose worker has gone is taken over under the new name.
pub(crate) async fn jobs_get_the_new_name_whoever_runs_them(world: &World) {
    let store = world.store().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(enqueue(&*store, new("old")).await.id());
    }
    let lost = claim_one(&*store, "old", SHORT).await;
    let renamed = [Declaration {
        aliases: vec!["old".to_owned()],
        standing: false,
        ..task("new", None)
    }];
    store.declare(&renamed).await.unwrap();
    assert_eq!(store.tend(&renamed).await.unwrap(), Vec::<String>::new());
    assert_eq!(store.standing("new").await.unwrap(), None);
    for id in ids {
        assert_eq!(job(&*store, id).await.task, "new");
    }
    claim_one(&*store, "new", LONG).await;
    assert_eq!(taken_over(&*store, "new", LONG).await.key.job, lost.key.job);
}

/// Two versions that start at once on fresh tables may make a row each. The new one's stays.
pub(crate) async fn a_row_beside_its_new_name_goes(world: &World) {
    let store = world.store().await;
    let renamed = [Declaration {
        aliases: vec!["old".to_owned()],
        ..task("new", None)
    }];
    let old = held(&*store, "old", LONG).await;
    let Some(mut sql) = world.sql().await else {
        return;
    };
    sql.execute("UPDATE tasklock_job SET task = 'aside'").await;
    store.declare(&renamed).await.unwrap();
    sql.execute("UPDATE tasklock_job SET task = 'old' WHERE task = 'aside'")
        .await;
    assert_eq!(store.tend(&renamed).await.unwrap(), Vec::<String>::new());
    assert!(
        standing(&*store, "old").await.is_held_under(&old.key),
        "while it runs"
    );
    finish(&*store, end(&old.key, Next::at(8))).await;
    store.tend(&renamed).await.unwrap();
    assert_eq!(store.standing("old").await.unwrap(), None);
    standing(&*store, "new").await;
}
