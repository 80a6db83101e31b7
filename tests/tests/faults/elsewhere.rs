//! Effects in a database that is not the store's: what the application's own table says of them.
//!
//! There P4 is less than a guard: a transaction registers its fence in that database, which refuses it once a greater
//! one has been registered. So an effect may come after another owner's claim, and not after its effect. The file has
//! one writer at a time, and so its numbers are in the order of the commits.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, Executor};
use tasklock_runtime::{Dialect, fence_table_sql};

use super::audit::{Entry, Op, Row, rows_of_names};
use super::evidence::{Evidence, Verdict};
use super::place::Place;
use crate::database::Database;

const EFFECT: &str = "CREATE TABLE effect (seq INTEGER PRIMARY KEY AUTOINCREMENT, job bigint, fence bigint,
    owner text, name text, at bigint DEFAULT (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000))";

/// Makes the application's tables, where they are not in the store's database.
pub(crate) async fn install(place: &Place) {
    let Some(url) = place.effects_url() else {
        return;
    };
    let options = SqliteConnectOptions::from_str(&url).expect("it is a URL");
    let options = options.create_if_missing(true);
    let connected = SqliteConnection::connect_with(&options).await;
    let mut file = connected.expect("it can be made");
    for statement in [
        "PRAGMA journal_mode = WAL",
        fence_table_sql(Dialect::Sqlite),
        EFFECT,
    ] {
        file.execute(statement).await.expect("the file is new");
    }
}

/// All of them, in their order.
pub(crate) async fn read(place: &Place, log: &[Entry]) -> Vec<Entry> {
    let Some(url) = place.effects_url() else {
        return Vec::new();
    };
    let mut file = Database::connect(&url).await.expect("it is there");
    let rows = file
        .run("SELECT seq, job, fence, at, owner, name FROM effect ORDER BY seq")
        .await
        .expect("the table is there");
    let names = rows_of_names(log);
    rows.iter()
        .map(|row| {
            let text = |column: usize| row[column].clone().unwrap_or_default();
            let number = |column| text(column).parse::<i64>().expect("a number");
            let of_name = row[5].as_ref().and_then(|name| names.get(name));
            Entry {
                seq: number(0),
                op: Op::Effect,
                job: of_name.copied().unwrap_or_else(|| number(1)),
                fence: number(2),
                owner: text(4),
                until: 0,
                at: number(3),
                tx: 0,
                row: Row {
                    resource: row[5].clone(),
                    ..Row::default()
                },
            }
        })
        .collect()
}

pub(crate) fn judge(evidence: &Evidence, verdict: &mut Verdict) {
    let acquired = evidence.log.iter().filter(|it| it.op == Op::Acquire);
    let granted: HashSet<(i64, i64, &str)> = acquired
        .map(|entry| (entry.job, entry.fence, &*entry.owner))
        .collect();
    let mut greatest: HashMap<i64, i64> = HashMap::new();
    for effect in &evidence.elsewhere {
        verdict.effects += 1;
        if !granted.contains(&(effect.job, effect.fence, &*effect.owner)) {
            let wrong = format!("P4: an effect under a lease that was never granted: {effect:?}");
            verdict.violations.push(wrong);
        }
        let before = greatest.entry(effect.job).or_default();
        if effect.fence < *before {
            verdict.overlaps += 1;
            let wrong = format!("P4: an effect after one under fence {before}: {effect:?}");
            verdict.violations.push(wrong);
        }
        *before = effect.fence.max(*before);
    }
}
