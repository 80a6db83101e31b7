//! A database of a test's own, of each kind that has databases.

use tasklock_test_support::database::{Database, Sql};
use tasklock_test_support::server::Server;

use crate::on_each;
use crate::subject::Subject;

on_each! {
    [postgres: sqlx::Postgres, mysql: sqlx::MySql]
    they_are_separate_and_are_dropped_while_in_use,
    many_are_made_at_once,
    they_are_made_on_a_server_of_ones_own,
}

async fn they_are_separate_and_are_dropped_while_in_use<K: Sql + Subject>() {
    let (Some(one), Some(two)) = (Database::<K>::fresh().await, Database::<K>::fresh().await)
    else {
        return;
    };
    assert_ne!(one.name(), two.name());
    let mut in_one = K::connected(one.url()).await;
    let mut in_two = K::connected(two.url()).await;
    K::add(&mut in_one).await.unwrap();
    assert_eq!(K::count(&mut in_one).await, Ok(1));
    assert!(K::count(&mut in_two).await.is_err());
    K::add(&mut in_two).await.unwrap();

    let url = one.url().to_owned();
    drop(one);
    let gone = K::connect(&url).await.err().unwrap();
    assert!(gone.contains("database"), "{gone}");
    assert!(K::count(&mut in_one).await.is_err());
    assert_eq!(K::count(&mut in_two).await, Ok(1));
}

async fn many_are_made_at_once<K: Sql + Subject>() {
    let making: Vec<_> = (0..6)
        .map(|_| tokio::spawn(Database::<K>::fresh()))
        .collect();
    for database in making {
        if let Some(database) = database.await.unwrap() {
            K::add(&mut K::connected(database.url()).await)
                .await
                .unwrap();
        }
    }
}

async fn they_are_made_on_a_server_of_ones_own<K: Sql + Subject>() {
    let Some(server) = Server::<K>::start().await else {
        return;
    };
    let (one, two) = (server.database().await, server.database().await);
    K::add(&mut K::connected(one.url()).await).await.unwrap();
    assert!(K::count(&mut K::connected(two.url()).await).await.is_err());
    assert_eq!(one.server_url(), server.url());
}
