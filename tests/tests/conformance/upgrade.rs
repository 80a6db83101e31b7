//! Tables of version 1 that are upgraded while runs are under way.

use std::slice::from_ref;

use tasklock_runtime::store::{
    Acquire, Enqueued, JobRow, Options, Pausable, Source, Store, Then, connect,
};
use tasklock_runtime::{Dialect, LeaseKey, Names, Next, OwnerToken, schema_sql};

use crate::named::wanted;
use crate::resources::need;
use crate::steps::{
    LONG, claim, declare_many, end, enqueue, enqueue_due, finish, job, renewal, renewals, renewer,
    row, standing, then, with_key,
};
use crate::world::{Sql, World};

const RECORD: &str = "migration (version, oldest_compatible) VALUES (1, 1);\n";

/// The tables as version 1 made them.
fn first_version(sql: &Sql, options: &Options) -> (Names, String) {
    let names = Names::new(options.table_prefix.as_deref(), options.schema.as_deref()).unwrap();
    let dialect = match sql {
        Sql::Sqlite(_) => Dialect::Sqlite,
        Sql::MySql(_) => Dialect::MariaDb,
        Sql::Postgres(_) => Dialect::Postgres,
    };
    let all = schema_sql(dialect, &names);
    let end = all.find(RECORD).expect("the first version's record") + RECORD.len();
    (names, all[..end].to_owned())
}

/// Rows of version 1, by their ids.
async fn fill(sql: &mut Sql, job: &str, owner: &OwnerToken) {
    let (now, later, past) = match sql {
        Sql::Sqlite(_) | Sql::MySql(_) => ("0", "9000000000000000", "1"),
        Sql::Postgres(_) => ("now()", "'2200-01-01'", "'1970-01-02'"),
    };
    let owner = owner.as_str();
    for values in [
        format!("1, 'due', '', 'ready', {past}, 'every 1m', NULL, NULL, 7, 0"),
        format!("2, 'later', '', 'ready', {later}, 'every 1m', NULL, NULL, 0, 0"),
        "3, 'dormant', '', 'ready', NULL, 'on demand', NULL, NULL, 3, 2".to_owned(),
        format!("4, 'alive', '', 'running', {past}, 's', '{owner}', {later}, 41, 2"),
        format!("5, 'expired', '', 'running', {past}, 's', 'gone', {past}, 5, 3"),
        format!("6, 'due', 'key', 'ready', {past}, NULL, NULL, NULL, 0, 0"),
        format!("500, 'deleted', '', 'ready', {past}, NULL, NULL, NULL, 0, 0"),
    ] {
        sql.execute(&format!(
            "INSERT INTO {job} (id, task, unique_key, state, due_at, schedule, lock_owner,
                 lock_until, fence, attempt, created_at) VALUES ({values}, {now})"
        ))
        .await;
    }
    sql.execute(&format!("DELETE FROM {job} WHERE id = 500"))
        .await;
    if matches!(sql, Sql::Postgres(_)) {
        // The ids go on after these.
        sql.execute(&format!("ALTER TABLE {job} ALTER id RESTART WITH 501"))
            .await;
    }
}

pub(crate) async fn rows_of_the_first_version_stay_what_they_are(world: &World) {
    if world.is_mysql() {
        // Its first version is this one.
        return;
    }
    let long = "p".repeat(39) + "_";
    for (prefix, schema) in [
        (None, None),
        (Some("other_"), None),
        (Some(&*long), None),
        (Some("billing_"), Some("upgraded")),
    ] {
        let options = Options {
            table_prefix: prefix.map(str::to_owned),
            schema: schema.map(str::to_owned),
            ..Options::default()
        };
        // A schema is no option everywhere.
        if let Ok(store) = world.connect(&options).await {
            upgrade(world, &*store, &options).await;
        }
    }
}

async fn upgrade(world: &World, store: &dyn Store, options: &Options) {
    let Some(mut sql) = world.sql().await else {
        return;
    };
    let (names, tables) = first_version(&sql, options);
    if let Some(schema) = names.schema() {
        sql.execute(&format!(
            "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"
        ))
        .await;
    }
    sql.execute(&tables).await;
    let schema = names
        .schema()
        .map_or_else(String::new, |schema| format!("{schema}."));
    let prefix = options.table_prefix.as_deref().unwrap_or("tasklock_");
    let owner = OwnerToken::fresh();
    fill(&mut sql, &format!("{schema}{prefix}job"), &owner).await;
    store.check_schema().await.unwrap_err();

    // Two at once.
    let other = world.connect(options).await.unwrap();
    let (one, two) = tokio::join!(store.migrate(), other.migrate());
    one.unwrap();
    two.unwrap();
    store.check_schema().await.unwrap();

    let alive = LeaseKey {
        job: 4,
        fence: 41,
        owner,
    };
    let rows = store.inspect(&[1, 2, 3, 4, 5, 6, 500]).await.unwrap();
    let mut known: Vec<_> = (rows.iter())
        .map(|row: &JobRow| (row.job, &*row.task, row.running, row.fence, row.attempt))
        .collect();
    known.sort_unstable();
    let expected = [
        (1, "due", false, 7, 0),
        (2, "later", false, 0, 0),
        (3, "dormant", false, 3, 2),
        (4, "alive", true, 41, 2),
        (5, "expired", true, 5, 3),
        (6, "due", false, 0, 0),
    ];
    assert_eq!(known, expected);
    assert_eq!(standing(store, "dormant").await.due_at, None);
    let due = job(store, 1).await;
    assert!(due.is_standing && due.payload.is_none() && due.priority == 0);
    assert_eq!(job(store, 6).await.unique_key.as_deref(), Some("key"));

    // A lease stays held.
    assert!(row(store, 4).await.is_held_under(&alive));
    let tasks = ["due", "later", "dormant", "alive", "expired"];
    let mut claims = claim(store, &tasks, LONG, 9).await.claims;
    claims.sort_unstable_by_key(|claim| claim.key.job);
    let taken: Vec<_> = (claims.iter())
        .map(|claim| {
            (
                claim.key.job,
                claim.key.fence,
                claim.takeover,
                claim.standing,
            )
        })
        .collect();
    let expected = [
        (1, 8, false, true),
        (5, 6, true, true),
        (6, 1, false, false),
    ];
    assert_eq!(taken, expected);
    let mut renewer = renewer(store).await;
    let renewed = renewer.renew(&[renewal(&alive, LONG)]).await.unwrap();
    assert_eq!(renewed, [4]);
    assert_eq!(
        store.finish(&[end(&alive, Next::Dormant)]).await.unwrap(),
        [4]
    );
    assert_eq!(standing(store, "alive").await.attempt, 0);

    // No key twice, no id twice.
    let key = || with_key("due", "key");
    assert_eq!(enqueue(store, key()).await, Enqueued::Existing(6));
    store
        .declare(&[crate::steps::task("due", Some(1))])
        .await
        .unwrap();
    assert_eq!(standing(store, "due").await.job, 1);
    finish(store, then(&claims[2].key, Then::Done(None))).await;
    let new = enqueue(store, key()).await;
    assert!(new.is_new() && new.id() > 500, "{new:?}");
    assert_eq!(claim(store, &["due"], LONG, 9).await.claims.len(), 1);
}

/// Everything that a worker, a client and an operator do, by a role with nothing but what is listed.
pub(crate) async fn the_grants_that_are_listed_suffice(world: &World) {
    world.store().await;
    let Some(mut sql) = world.sql().await.filter(|_| world.locks_rows()) else {
        return;
    };
    if matches!(sql, Sql::MySql(_)) {
        return the_grants_suffice_in_mysql(world, &mut sql).await;
    }
    let database = sql.text("SELECT current_database()::text").await;
    let schema = sql.text("SELECT current_schema()::text").await;
    let role = format!("{database}_{schema}");
    sql.execute(&format!(
        "CREATE ROLE {role}; GRANT USAGE ON SCHEMA {schema} TO {role}"
    ))
    .await;
    let listed = schema_sql(Dialect::Postgres, &Names::default());
    let grants: Vec<_> = (listed.lines())
        .filter_map(|line| line.strip_prefix("-- GRANT"))
        .collect();
    assert_eq!(grants.len(), 4);
    let source = world.source_as(&format!("limited&options[role]={role}"));
    let store = connect(source, &Options::default()).await.unwrap();
    store.check_schema().await.unwrap_err();
    for grant in grants {
        sql.execute(&format!("GRANT{}", grant.replace("<role>", &role)))
            .await;
    }
    store.check_schema().await.unwrap();

    does_everything(&*store).await;
    store.close().await;
    sql.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))
        .await;
}

async fn the_grants_suffice_in_mysql(world: &World, sql: &mut Sql) {
    let database = sql.text("SELECT DATABASE()").await;
    let user = format!(
        "u{}",
        sql.number("SELECT CAST(CONNECTION_ID() AS SIGNED)").await
    );
    sql.execute(&format!(
        "CREATE USER {user}@'127.0.0.1' IDENTIFIED BY 'secret'"
    ))
    .await;
    let grants = schema_sql(Dialect::MariaDb, &Names::default());
    let grants = grants
        .lines()
        .filter_map(|line| line.strip_prefix("-- GRANT"));
    let grants: Vec<String> = grants
        .map(|grant| {
            let grant = grant.replace("`<database>`", &database);
            format!(
                "GRANT{}",
                grant.replace("<user>", &format!("{user}@'127.0.0.1'"))
            )
        })
        .collect();
    assert_eq!(grants.len(), 1);
    let url = world.url();
    let (_, server) = url.rsplit_once('@').unwrap();
    let source = Source::Url {
        option: "limited",
        url: format!("mysql://{user}:secret@{server}"),
    };
    connect(source.clone(), &Options::default())
        .await
        .unwrap_err();
    sql.execute(&grants[0]).await;
    let store = connect(source, &Options::default()).await.unwrap();
    store.check_schema().await.unwrap();
    does_everything(&*store).await;
    store.close().await;
    sql.execute(&format!("DROP USER {user}@'127.0.0.1'")).await;
}

async fn does_everything(store: &dyn Store) {
    let tasks = declare_many(store, 2).await;
    let mut limited = crate::steps::request(&tasks, LONG, 9);
    limited.tasks[0].most = Some(1);
    let claims = store.claim(&limited).await.unwrap().claims;
    assert_eq!(claims.len(), 2);
    let mut renewer = renewer(store).await;
    assert_eq!(
        renewer.renew(&renewals(&claims, LONG)).await.unwrap().len(),
        2
    );
    assert_eq!(
        store.release(from_ref(&claims[0].key)).await.unwrap().len(),
        1
    );
    store.trigger(&tasks[0]).await.unwrap();
    finish(store, end(&claims[1].key, Next::Dormant)).await;
    let ids = enqueue_due(store, "task", 2).await;
    enqueue(store, with_key("task", "key")).await;
    store.cancel(ids[0]).await.unwrap();
    store.retry(ids[0]).await.unwrap();
    let task = Pausable::Task("task".to_owned());
    assert!(store.pause(&task, true).await.unwrap());
    assert!(store.pause(&task, false).await.unwrap());
    let claims = claim(store, &["task"], LONG, 1).await.claims;
    finish(store, then(&claims[0].key, Then::Done(None))).await;
    let named = [wanted("name", LONG), wanted("another name", LONG)];
    assert_eq!(store.acquire(&named).await.unwrap().len(), 2);
    let waits = Acquire {
        ticket: Some(OwnerToken::fresh()),
        ..wanted("name", LONG)
    };
    store.acquire(from_ref(&waits)).await.unwrap();
    need(store, "task", "name", 1).await;
    assert!(claim(store, &["task"], LONG, 1).await.claims.len() < 2);
    let ticket = waits.ticket.unwrap();
    store.leave("name", &ticket).await.unwrap();
    store.prune(9).await.unwrap();
    assert_eq!(store.abandon(&claims[0].key.owner).await.unwrap(), 0);
    job(store, ids[0]).await;
}
