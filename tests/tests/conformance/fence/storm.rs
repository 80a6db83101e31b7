//! Many holders at once, some of them overtaken.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::foreign::{connect, foreign};
use super::stale;
use crate::steps::BOUND;
use crate::world::{Sql, World};

const HOLDERS: i64 = 8;
const TURNS: i64 = 40;

/// Holders of ever greater fences, who do not know of each other, at all levels at once.
pub(crate) async fn effects_come_in_the_order_of_their_fences(world: &World) {
    let Some(mut sql) = foreign(world).await else {
        return;
    };
    let newest = Arc::new(AtomicI64::new(1));
    let refused = Arc::new(AtomicUsize::new(0));
    let mut holders = JoinSet::new();
    for holder in 0..HOLDERS {
        let mut sql = connect(world).await.unwrap();
        let (newest, refused) = (Arc::clone(&newest), Arc::clone(&refused));
        let mut fence = newest.fetch_add(1, Ordering::Relaxed);
        holders.spawn(async move {
            let levels = sql.levels();
            for turn in 0..TURNS {
                let level = levels[usize::try_from(holder + turn).unwrap() % levels.len()];
                match sql.persist(level, "a", fence).await {
                    // Now and then a holder that was not overtaken begins anew.
                    Ok(_) if turn % 4 == holder % 4 => {
                        fence = newest.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(_) => {}
                    ended => {
                        assert!(stale(&ended) > Some(fence), "{ended:?}");
                        refused.fetch_add(1, Ordering::Relaxed);
                        fence = newest.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
    }
    let ended = timeout(3 * BOUND, async {
        while let Some(ended) = holders.join_next().await {
            ended.unwrap();
        }
    });
    ended.await.expect("nobody tries again for ever");
    let refused = refused.load(Ordering::Relaxed);
    let count = async |sql: &mut Sql, condition: &str| {
        sql.text(&format!(
            "SELECT CAST(count(*) AS text) FROM (
                SELECT fence, earlier, lag(fence) OVER (ORDER BY id) AS last,
                    row_number() OVER (ORDER BY id) AS number
                FROM effect
            ) AS e WHERE {condition}"
        ))
        .await
    };
    let all = usize::try_from(HOLDERS * TURNS).unwrap();
    assert_eq!(count(&mut sql, "true").await, (all - refused).to_string());
    assert_eq!(count(&mut sql, "fence < last").await, "0");
    // Each has seen all that came before, and nobody came between.
    assert_eq!(count(&mut sql, "earlier <> number - 1").await, "0");
    assert!(refused > 0, "nobody was overtaken");
}
