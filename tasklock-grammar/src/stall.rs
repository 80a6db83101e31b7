//! How long a handler may be silent whose lease is renewed while it reports progress.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::duration::display_duration;
use crate::timing::Timing;

impl Timing {
    /// How long a handler may report nothing that names no other time: the ttl.
    #[must_use]
    pub const fn default_stall(&self) -> Duration {
        self.ttl
    }

    /// Checks that a stall can be told from a handler that works, and that it can come at all.
    ///
    /// It is one heartbeat at least: a shorter one would be over before the first renewal is due, and no
    /// lease would ever be renewed for a handler that reports as often as it is renewed. And it is shorter
    /// than the `timeout`, which else always comes first. [`default_stall`](Self::default_stall) is long
    /// enough for every timing that fits; whether it comes before a timeout is nobody's mistake.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tasklock_grammar::Timing;
    ///
    /// let timing = Timing::default(); // a heartbeat of 10 s
    /// assert!(timing.check_stall(Duration::from_secs(10), None).is_ok());
    /// assert!(timing.check_stall(Duration::from_secs(9), None).is_err());
    /// let timeout = Some(Duration::from_secs(60));
    /// assert!(timing.check_stall(Duration::from_secs(60), timeout).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// One line: what is wrong, with the numbers, and what to write.
    pub fn check_stall(
        &self,
        stall: Duration,
        timeout: Option<Duration>,
    ) -> Result<(), StallError> {
        let [shown, heartbeat] = [stall, self.heartbeat].map(display_duration);
        if stall < self.heartbeat {
            return Err(StallError(format!(
                "the stall of {shown} is shorter than one heartbeat of {heartbeat}: it would be over before \
                 the first renewal; write \"{heartbeat}\" or more, or give a shorter heartbeat"
            )));
        }
        if let Some(timeout) = timeout.filter(|timeout| *timeout <= stall) {
            let timeout = display_duration(timeout);
            return Err(StallError(format!(
                "the stall of {shown} never comes before the timeout of {timeout}: write less than \
                 \"{timeout}\", or give a longer timeout"
            )));
        }
        Ok(())
    }
}

/// Why a stall does not go with the other durations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StallError(String);

impl fmt::Display for StallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for StallError {}
