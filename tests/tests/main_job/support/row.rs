//! A job's row, with its side row.

/// Instants are microseconds since 1970 by the store's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) job: i64,
    pub(crate) state: String,
    pub(crate) owner: Option<String>,
    pub(crate) fence: i64,
    pub(crate) lock_until: Option<i64>,
    pub(crate) side_fence: Option<i64>,
    pub(crate) side_until: Option<i64>,
    pub(crate) attempt: i64,
    pub(crate) crashes: i64,
    pub(crate) outcome: Option<String>,
    pub(crate) error: Option<String>,
    /// Microseconds until it expires, renewals included; not part of what is compared.
    pub(crate) left: Left,
}

/// Equal to every other: it changes by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left(pub(crate) i64);

impl PartialEq for Left {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Left {}

impl Row {
    pub(super) fn read(columns: &[Option<String>]) -> Self {
        let text = |column: usize| columns[column].clone();
        let maybe = |column: usize| {
            let text = columns[column].as_deref()?;
            Some(text.parse::<i64>().expect("this column is a number"))
        };
        let number = |column| maybe(column).expect("this column is not null");
        let (fence, lock_until) = (number(3), maybe(4));
        let (side_fence, side_until) = (maybe(5), maybe(6));
        let renewed = side_until.filter(|_| side_fence == Some(fence));
        let until = lock_until.max(renewed).unwrap_or_default();
        Self {
            job: number(0),
            state: text(1).expect("the state is not null"),
            owner: text(2),
            fence,
            lock_until,
            side_fence,
            side_until,
            attempt: number(7),
            crashes: number(8),
            outcome: text(9),
            error: text(10),
            left: Left(until - number(11)),
        }
    }
}
