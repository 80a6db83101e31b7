//! What only MariaDB does.

use sqlx::mysql::MySqlConnection;
use sqlx::{Connection, Executor};
use tasklock_test_support::mysql::{Server, database};

use crate::NO_ANSWER;

#[tokio::test]
async fn a_database_is_dropped_while_a_transaction_holds_its_tables() {
    let Some(database) = database().await else {
        return;
    };
    let (mut one, mut two) = (database.connect().await, database.connect().await);
    one.execute("create table kept (id int) engine = innodb")
        .await
        .unwrap();
    let mut open = one.begin().await.unwrap();
    open.execute("insert into kept values (1)").await.unwrap();
    // In vain: it waits for the transaction.
    let mut dropping = Box::pin(two.execute("drop table kept"));
    let waiting = tokio::time::timeout(NO_ANSWER, &mut dropping);
    assert!(waiting.await.is_err());

    let mut beside = database.connect_beside().await;
    let name = database.name().to_owned();
    drop(database);
    let left: i64 = sqlx::query_scalar(
        "select count(*) from information_schema.schemata where schema_name = ?",
    )
    .bind(name)
    .fetch_one(&mut beside)
    .await
    .unwrap();
    assert_eq!(left, 0);
    assert!(dropping.await.is_err());
}

#[tokio::test]
async fn a_server_promises_what_one_in_production_does() {
    let Some(server) = Server::start().await else {
        return;
    };
    let mut connection = MySqlConnection::connect(server.url()).await.unwrap();
    let settings: (u64, u64, String) = sqlx::query_as(
        "select @@innodb_flush_log_at_trx_commit, @@max_connections, @@character_set_server",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(settings, (1, 400, "utf8mb4".to_owned()));
    // Its user may do everything.
    connection
        .execute("set global innodb_lock_wait_timeout = 7")
        .await
        .unwrap();
}
