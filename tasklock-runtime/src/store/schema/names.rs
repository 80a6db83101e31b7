//! How the tables are named.

use crate::error::Error;

/// How the tables are named: `{s}` and `{p}` in a statement stand for these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    prefix: String,
    schema: Option<String>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            prefix: "tasklock_".into(),
            schema: None,
        }
    }
}

impl Names {
    /// Names with this prefix, in this schema (Postgres; else the connection's `search_path` decides, and elsewhere its database).
    ///
    /// # Errors
    ///
    /// The names go into statements as they are: lower-case letters, digits and `_`, at most 40
    /// bytes, not starting with a digit.
    pub fn new(prefix: Option<&str>, schema: Option<&str>) -> Result<Self, Error> {
        for (option, name) in [("table_prefix", prefix), ("schema", schema)] {
            if let Some(name) = name {
                check(option, name)?;
            }
        }
        let default = Self::default();
        Ok(Self {
            prefix: prefix.map_or(default.prefix, str::to_owned),
            schema: schema.map(str::to_owned),
        })
    }

    /// The schema, if one was given.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// A store's name, with that of its tables where it is not the default.
    pub(crate) fn of_store(&self, store: String) -> String {
        if *self == Self::default() {
            store
        } else {
            format!("{store} (tables {})", self.fill("{s}{p}*"))
        }
    }

    /// A statement with its placeholders filled in.
    pub(crate) fn fill(&self, sql: &str) -> String {
        let schema = self
            .schema
            .as_ref()
            .map_or_else(String::new, |schema| format!("\"{schema}\"."));
        sql.replace("{s}", &schema).replace("{p}", &self.prefix)
    }
}

fn check(option: &str, name: &str) -> Result<(), Error> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if starts_well && name.len() <= 40 && name.chars().all(plain) {
        return Ok(());
    }
    Err(Error::option(
        format!("{option} = {name:?}"),
        "cannot be used as it is in SQL: write lower-case letters, digits and '_', at most 40, the \
         first not a digit",
    ))
}
