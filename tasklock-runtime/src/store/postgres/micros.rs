//! Instants as the server sends them.

use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Postgres, Type, TypeInfo};

use crate::store::sql::{FIRST, LAST};

/// A `timestamptz` in microseconds since the Unix epoch. Infinity, and years that do not fit, are cut to what does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Micros(pub(super) i64);

/// The server counts from the year 2000.
const EPOCH: i64 = 946_684_800_000_000;

impl Type<Postgres> for Micros {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("timestamptz")
    }

    fn compatible(found: &PgTypeInfo) -> bool {
        found.name() == "TIMESTAMPTZ"
    }
}

impl Decode<'_, Postgres> for Micros {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        match value.format() {
            PgValueFormat::Binary => {
                let bytes: [u8; 8] = value.as_bytes()?.try_into()?;
                let micros = i64::from_be_bytes(bytes).saturating_add(EPOCH);
                Ok(Self(micros.clamp(FIRST, LAST)))
            }
            PgValueFormat::Text => Err("an instant as text: it was asked for in binary".into()),
        }
    }
}
