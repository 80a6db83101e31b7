//! A job's row, with its side row.

/// Instants are microseconds since 1970 by the store's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The job.
    pub job: i64,
    /// Its state.
    pub state: String,
    /// Who holds it.
    pub owner: Option<String>,
    /// Its last fence.
    pub fence: i64,
    /// The first expiry of the lease.
    pub lock_until: Option<i64>,
    /// The fence of the side row.
    pub side_fence: Option<i64>,
    /// The side row's expiry.
    pub side_until: Option<i64>,
    /// Its starts.
    pub attempt: i64,
    /// Its takeovers.
    pub crashes: i64,
    /// How the last run ended, as a word.
    pub outcome: Option<String>,
    /// What went wrong in it.
    pub error: Option<String>,
    /// Microseconds until it expires, renewals included; not part of what is compared.
    pub left: Left,
}

/// Equal to every other: it changes by itself.
#[derive(Debug, Clone, Copy)]
pub struct Left(pub i64);

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
