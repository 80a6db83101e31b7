//! The tables: numbered migrations, applied by the runtime or by hand.
//!
//! A table of our own, `tasklock_migration`, holds a row per applied migration with the oldest
//! version of this library's schema that can still work with the result. A binary refuses tables that
//! are newer than it knows only if they say that it is too old for them, so an additive migration of
//! a new release does not lock the old replicas out.

mod names;

use std::fmt::Write as _;

use crate::error::{StoreError, StoreErrorKind};

pub use names::Names;

/// One step of the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    /// The oldest schema version that a binary must know to work with the result.
    pub(crate) oldest_compatible: i64,
    pub(crate) sql: &'static str,
}

const fn step(version: i64, oldest_compatible: i64, sql: &'static str) -> Migration {
    Migration {
        version,
        oldest_compatible,
        sql,
    }
}

/// Which database's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
    /// MariaDB, 10.6 or newer.
    MariaDb,
    /// MySQL, 8.0 or newer, and not MariaDB. Not tested.
    MySql,
}

const POSTGRES: &[Migration] = &[
    step(1, 1, include_str!("postgres_0001.sql")),
    // A binary of version 1 would run an ended job again.
    step(2, 2, include_str!("postgres_0002.sql")),
    step(3, 2, include_str!("postgres_0003.sql")),
    // An older binary would run a job without its resource.
    step(4, 4, include_str!("postgres_0004.sql")),
    step(5, 4, include_str!("postgres_0005.sql")),
    // An older binary would end a run without leaving its slot behind.
    step(6, 6, include_str!("postgres_0006.sql")),
];

const SQLITE: &[Migration] = &[
    step(1, 1, include_str!("sqlite_0001.sql")),
    step(2, 2, include_str!("sqlite_0002.sql")),
    step(3, 2, include_str!("sqlite_0003.sql")),
    step(4, 4, include_str!("sqlite_0004.sql")),
    step(5, 5, include_str!("sqlite_0005.sql")),
];

const MYSQL: &[Migration] = &[step(1, 1, include_str!("mysql_0001.sql"))];

impl Dialect {
    pub(crate) fn migrations(self) -> &'static [Migration] {
        match self {
            Self::Postgres => POSTGRES,
            Self::Sqlite => SQLITE,
            Self::MariaDb | Self::MySql => MYSQL,
        }
    }

    fn migration_table(self) -> &'static str {
        match self {
            Self::Postgres => {
                "CREATE TABLE IF NOT EXISTS {s}{p}migration (\n    \
                     version bigint PRIMARY KEY,\n    \
                     oldest_compatible bigint NOT NULL,\n    \
                     applied_at timestamptz NOT NULL DEFAULT clock_timestamp()\n);\n"
            }
            Self::Sqlite => {
                "CREATE TABLE IF NOT EXISTS {p}migration (\n    \
                     version INTEGER PRIMARY KEY,\n    \
                     oldest_compatible INTEGER NOT NULL,\n    \
                     applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP\n);\n"
            }
            Self::MariaDb | Self::MySql => {
                "CREATE TABLE IF NOT EXISTS {p}migration (\n    \
                     version BIGINT NOT NULL PRIMARY KEY,\n    \
                     oldest_compatible BIGINT NOT NULL,\n    \
                     -- In UTC.\n    \
                     applied_at DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6))\n) ENGINE = InnoDB;\n"
            }
        }
    }

    /// That of texts that are compared byte by byte, blanks at their ends included, where that has to be said.
    pub(crate) fn collation(self) -> &'static str {
        match self {
            Self::MariaDb => "utf8mb4_nopad_bin",
            Self::MySql => "utf8mb4_0900_bin",
            Self::Postgres | Self::Sqlite => "",
        }
    }

    /// The newest version that this binary knows.
    pub(crate) fn latest(self) -> i64 {
        self.migrations().last().map_or(0, |last| last.version)
    }
}

/// What [`migrate`] has to run, given the versions that are applied.
pub(crate) struct Plan {
    pub(crate) statements: Vec<String>,
}

/// The statement that makes sure that the migration table exists.
pub(crate) fn bootstrap(dialect: Dialect, names: &Names) -> String {
    names.fill(dialect.migration_table())
}

/// The migrations that are missing after `applied`, each with its row in the migration table.
pub(crate) fn plan(dialect: Dialect, names: &Names, applied: i64) -> Plan {
    let statements = dialect
        .migrations()
        .iter()
        .filter(|migration| migration.version > applied)
        .map(|migration| names.fill(&with_record(dialect, migration)))
        .collect();
    Plan { statements }
}

fn with_record(dialect: Dialect, migration: &Migration) -> String {
    format!(
        "{}INSERT INTO {{s}}{{p}}migration (version, oldest_compatible) VALUES ({}, {});\n",
        migration.sql.replace("{bin}", dialect.collation()),
        migration.version,
        migration.oldest_compatible
    )
}

/// Refuses tables that this binary cannot work with. `found` is the highest (version, oldest
/// compatible) in the migration table, `None` if there is no such table or row.
pub(crate) fn check_version(
    dialect: Dialect,
    store: &str,
    found: Option<(i64, i64)>,
) -> Result<(), StoreError> {
    let known = dialect.latest();
    let message = match found {
        Some((version, _)) if version < known => format!(
            "the tasklock tables are of version {version}, this binary needs {known}: start one \
             worker with `migrate(true)`, or apply the SQL of `tasklock_runtime::schema_sql` by hand"
        ),
        Some((version, oldest)) if oldest > known => format!(
            "the tasklock tables are of version {version}, which needs a binary that knows at least \
             version {oldest}; this one knows {known}: deploy a newer build of this service"
        ),
        Some(_) => return Ok(()),
        None => "the tasklock tables are missing: start one worker with `migrate(true)`, or apply \
                 the SQL of `tasklock_runtime::schema_sql` by hand"
            .to_owned(),
    };
    Err(StoreError {
        store: store.to_owned(),
        call: "use the tables",
        kind: StoreErrorKind::Schema,
        message,
    })
}

/// The whole schema as SQL, for teams that migrate by hand: run it once in one transaction, then
/// start the workers with `migrate(false)`. MariaDB and MySQL commit each statement of it for itself: there run it to its
/// end. Except on SQLite it ends with the least grants that the runtime then needs, as comments to fill in.
#[must_use]
pub fn schema_sql(dialect: Dialect, names: &Names) -> String {
    let mut sql = bootstrap(dialect, names);
    for statement in plan(dialect, names, 0).statements {
        sql.push_str(&statement);
    }
    if matches!(dialect, Dialect::MariaDb | Dialect::MySql) {
        let grants = names.fill(
            "-- The runtime's user needs no more than SELECT, INSERT, UPDATE and DELETE on these tables.\n\
             -- GRANT SELECT, INSERT, UPDATE, DELETE ON `<database>`.* TO <user>;\n",
        );
        let _ = write!(sql, "{grants}");
    }
    if dialect == Dialect::Postgres {
        let grants = names.fill(
            "-- The runtime's role needs no more than:\n\
             -- GRANT SELECT, INSERT, UPDATE, DELETE ON {s}{p}job, {s}{p}heartbeat TO <role>;\n\
             -- GRANT SELECT, INSERT, UPDATE, DELETE ON {s}{p}pause, {s}{p}waiter, {s}{p}alias TO <role>;\n\
             -- GRANT USAGE ON SEQUENCE {s}{p}lease_fence TO <role>;\n\
             -- GRANT SELECT ON {s}{p}migration, {s}{p}store TO <role>;\n",
        );
        let _ = write!(sql, "{grants}");
    }
    sql
}

/// The SQL of the table in which [`fence_table`](crate::fence_table) registers fences, for a database that
/// does not hold the leases. The runtime never creates it: run this once there, like a migration of the
/// application's own; running it again changes nothing.
#[must_use]
pub fn fence_table_sql(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => include_str!("postgres_fence.sql"),
        Dialect::Sqlite => include_str!("sqlite_fence.sql"),
        Dialect::MariaDb | Dialect::MySql => include_str!("mysql_fence.sql"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_not_survive_in_sql_are_refused() {
        for name in [
            "",
            "1a",
            "a-b",
            "A",
            "a\"; drop table x; --",
            &"a".repeat(41),
        ] {
            assert!(Names::new(Some(name), None).is_err(), "{name}");
            assert!(Names::new(None, Some(name)).is_err(), "{name}");
        }
        assert!(Names::new(Some("my_1"), Some("billing")).is_ok());
    }

    #[test]
    fn every_placeholder_is_filled() -> Result<(), crate::error::Error> {
        let names = Names::new(Some("my_"), Some("billing"))?;
        for dialect in [
            Dialect::Postgres,
            Dialect::Sqlite,
            Dialect::MariaDb,
            Dialect::MySql,
        ] {
            let sql = schema_sql(dialect, &names);
            assert!(!sql.contains('{'), "{sql}");
            assert!(sql.contains("my_job"), "{sql}");
        }
        assert!(schema_sql(Dialect::Postgres, &names).contains("\"billing\".my_job"));
        Ok(())
    }

    #[test]
    fn versions() {
        let check =
            |found| check_version(Dialect::Postgres, "postgres", found).map_err(|e| e.to_string());
        let known = Dialect::Postgres.latest();
        assert_eq!(check(Some((known, 1))), Ok(()));
        assert_eq!(
            check(Some((known + 5, known))),
            Ok(()),
            "an additive migration locks nobody out"
        );
        assert!(check(Some((known + 5, known + 1))).is_err_and(|e| e.contains("newer build")));
        assert!(check(Some((known - 1, 0))).is_err_and(|e| e.contains("migrate(true)")));
        assert!(check(None).is_err_and(|e| e.contains("missing")));
    }
}
