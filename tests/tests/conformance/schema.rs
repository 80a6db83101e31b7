//! The tables: made, upgraded, refused, isolated.

use std::slice::from_ref;
use std::sync::Arc;

use tasklock_runtime::store::{Options, Store, connect};
use tasklock_runtime::{Error, StoreErrorKind};
use tokio::sync::Barrier;

use crate::steps::{LONG, NONE, claim, declare_due, held, row};
use crate::world::World;

pub(crate) async fn migrating_again_changes_nothing(world: &World) {
    let store = world.store().await;
    let held = held(&*store, "task", LONG).await;
    let mut observer = world.observer().await;
    let before = observer.see(held.key.job).await;
    store.migrate().await.unwrap();
    store.check_schema().await.unwrap();
    assert_eq!(observer.see(held.key.job).await, before);
}

pub(crate) async fn eight_processes_migrate_at_once(world: &World) {
    let start = Arc::new(Barrier::new(8));
    let mut migrations = Vec::new();
    for _ in 0..8 {
        let (start, source) = (Arc::clone(&start), world.source());
        let options = world.within(&Options::default());
        migrations.push(tokio::spawn(async move {
            start.wait().await;
            let store = connect(source, &options).await?;
            store.migrate().await?;
            store.check_schema().await?;
            Ok::<_, Error>(())
        }));
    }
    for migration in migrations {
        migration.await.unwrap().unwrap();
    }
    if let Some(mut sql) = world.sql().await {
        let query = "SELECT CAST(count(*) - max(version) AS text) FROM tasklock_migration";
        assert_eq!(sql.text(query).await, "0", "each migration once");
    }
}

pub(crate) async fn missing_tables_are_refused(world: &World) {
    let store = world.connect(&Options::default()).await.unwrap();
    if world.sql().await.is_none() && !world.is_kept() {
        // Nothing to be missing.
        store.check_schema().await.unwrap();
        return;
    }
    assert_refused(&*store, "migrate(true)").await;
    if world.sql().await.is_none() {
        // On Redis no verb needs the key that says the version: a worker goes on when the server has lost its data.
        assert_eq!(store.standing("task").await.unwrap(), None);
        return;
    }
    let error = store.standing("task").await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema, "{error}");
}

pub(crate) async fn older_tables_are_refused(world: &World) {
    let Some(store) = of_version(world, 0, 0).await else {
        return;
    };
    assert_refused(&*store, "migrate(true)").await;
}

pub(crate) async fn newer_tables_that_need_a_newer_binary_are_refused(world: &World) {
    let Some(store) = of_version(world, 1_000, 1_000).await else {
        return;
    };
    assert_refused(&*store, "newer build").await;
    let error = store.migrate().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema, "{error}");
}

pub(crate) async fn newer_tables_that_say_they_are_compatible_are_used(world: &World) {
    let Some(store) = of_version(world, 1_000, 1).await else {
        return;
    };
    store.check_schema().await.unwrap();
    store.migrate().await.unwrap();
    held(&*store, "task", LONG).await;
}

pub(crate) async fn a_table_prefix_isolates(world: &World) {
    let options = Options {
        table_prefix: Some("other_".to_owned()),
        ..Options::default()
    };
    isolates(world, &options).await;
}

pub(crate) async fn a_schema_isolates_or_is_refused(world: &World) {
    let options = Options {
        schema: Some("other".to_owned()),
        ..Options::default()
    };
    if world.connect(&options).await.is_ok() {
        isolates(world, &options).await;
    }
}

/// Two sets of tables in one database know nothing of each other.
async fn isolates(world: &World, options: &Options) {
    let one = world.store().await;
    if world.sql().await.is_none() && world.keys().await.is_none() {
        return;
    }
    let other = world.connect(options).await.unwrap();
    assert_refused(&*other, "missing").await;
    other.migrate().await.unwrap();
    other.check_schema().await.unwrap();

    let held_in_one = held(&*one, "task", LONG).await;
    declare_due(&*one, &["only in one"]).await;
    assert_eq!(other.standing("task").await.unwrap(), None);
    assert!(
        claim(&*other, &["only in one"], LONG, 9)
            .await
            .claims
            .is_empty()
    );

    let held_in_other = held(&*other, "task", LONG).await;
    assert_eq!(other.abandon(&held_in_one.key.owner).await.unwrap(), 0);
    assert_eq!(
        one.release(from_ref(&held_in_other.key)).await.unwrap(),
        NONE
    );
    assert_eq!(other.release(&[held_in_other.key]).await.unwrap().len(), 1);
    assert!(
        row(&*one, held_in_one.key.job)
            .await
            .is_held_under(&held_in_one.key)
    );

    // The first set's version says nothing about the second.
    say_version(world, 999, 999).await;
    assert_refused(&*one, "newer build").await;
    other.check_schema().await.unwrap();
}

async fn assert_refused(store: &dyn Store, advice: &str) {
    let error = store.check_schema().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Schema, "{error}");
    assert!(error.to_string().contains(advice), "{error}");
}

/// Tables that say that another release has made them. `None` without tables.
async fn of_version(world: &World, version: i64, oldest: i64) -> Option<Arc<dyn Store>> {
    let store = world.store().await;
    let says_it = say_version(world, version, oldest).await;
    says_it.then_some(store)
}

/// False without tables.
async fn say_version(world: &World, version: i64, oldest: i64) -> bool {
    if let Some(mut keys) = world.keys().await {
        let (version, oldest) = (version.to_string(), oldest.to_string());
        let said = ["version", &version, "oldest", &oldest];
        keys.ask::<i64>("HSET", "store", &said).await;
        return true;
    }
    let Some(mut sql) = world.sql().await else {
        return false;
    };
    if version == 0 {
        sql.execute("DELETE FROM tasklock_migration").await;
    }
    sql.execute(&format!(
        "INSERT INTO tasklock_migration (version, oldest_compatible) VALUES ({version}, {oldest})"
    ))
    .await;
    true
}
