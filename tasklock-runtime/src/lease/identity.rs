//! Who holds which lease.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The secret of one acquisition: 128 random bits, drawn anew for every claim.
///
/// Never a host name, a process id or a worker's name: two acquisitions must not be mistaken for one
/// another, however often a process restarts and whatever it is called. All rows that one claim takes
/// carry the same token; each row sees it once.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OwnerToken(Arc<str>);

impl OwnerToken {
    /// Draws a token from the operating system's generator.
    ///
    /// # Panics
    ///
    /// Panics if the operating system has no randomness to give, where no lease would be safe.
    #[must_use]
    pub fn fresh() -> Self {
        let high = getrandom::u64();
        let low = getrandom::u64();
        match (high, low) {
            (Ok(high), Ok(low)) => Self(format!("{high:016x}{low:016x}").into()),
            (Err(error), _) | (_, Err(error)) => {
                panic!("the operating system gives no random numbers for an owner token: {error}")
            }
        }
    }

    /// The token of a row that was read back.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The token as it stands in the store: 32 hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for OwnerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for OwnerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What every guarded write names: the job, and the acquisition that may write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseKey {
    /// The job's id in the store.
    pub job: i64,
    /// The fence of this acquisition: greater than that of every earlier one of the same job.
    pub fence: i64,
    /// The token of this acquisition.
    pub owner: OwnerToken,
}

/// Without the owner: of one job and fence there is one, but where a store has lost its last commits.
impl Hash for LeaseKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.job.hash(state);
        self.fence.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_fresh_and_read_back() {
        let (one, two) = (OwnerToken::fresh(), OwnerToken::fresh());
        assert_ne!(one, two);
        assert_eq!(one.as_str().len(), 32);
        assert_eq!(OwnerToken::from_stored(one.as_str()), one);
    }
}
