//! Why a lease is lost.

use std::fmt;

/// The lease is lost, and why.
///
/// Loss is sticky: a lease that was once lost is lost for ever. A handler that returns this error
/// (`lease.check()?`) writes nothing to the store; whoever holds the job now decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeaseLost {
    /// The deadline passed without a confirmed renewal.
    Expired,
    /// The store says that another owner holds the job, or that it was finished or cancelled.
    TakenOver,
    /// The run is over, or this process gave the lease back.
    Released,
    /// The handler reported no progress for longer than its `stall`, under `renew = "progress"`.
    Stalled,
    /// The machine was suspended past the deadline.
    Suspended,
    /// The deadline passed while renewals failed: the store could not be reached.
    StoreUnreachable,
    /// Somebody has cancelled the job.
    Cancelled,
    /// The run is longer than its `timeout`: so a blocking handler is told, which cannot be dropped.
    TimedOut,
}

impl LeaseLost {
    /// The reason as a word for logs and metrics: `expired`, `taken_over`, `released`, `stalled`,
    /// `suspended`,
    /// `store_unreachable`, `cancelled` or `timed_out`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::TakenOver => "taken_over",
            Self::Released => "released",
            Self::Stalled => "stalled",
            Self::Suspended => "suspended",
            Self::StoreUnreachable => "store_unreachable",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }

    pub(super) const fn code(self) -> u64 {
        match self {
            Self::Expired => 1,
            Self::TakenOver => 2,
            Self::Released => 3,
            Self::Stalled => 4,
            Self::Suspended => 5,
            Self::StoreUnreachable => 6,
            Self::Cancelled => 7,
            Self::TimedOut => 8,
        }
    }

    pub(super) const fn from_code(code: u64) -> Option<Self> {
        Some(match code {
            1 => Self::Expired,
            2 => Self::TakenOver,
            3 => Self::Released,
            4 => Self::Stalled,
            5 => Self::Suspended,
            6 => Self::StoreUnreachable,
            7 => Self::Cancelled,
            8 => Self::TimedOut,
            _ => return None,
        })
    }
}

impl fmt::Display for LeaseLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "lease lost: its deadline passed without a confirmed renewal",
            Self::TakenOver => "lease lost: the store names another owner, or the job has ended",
            Self::Released => "lease lost: its run is over, or this process gave it back",
            Self::Stalled => "lease lost: the handler reported no progress",
            Self::Suspended => "lease lost: the machine was suspended past its deadline",
            Self::StoreUnreachable => "lease lost: the store was unreachable past its deadline",
            Self::Cancelled => "lease lost: the job was cancelled",
            Self::TimedOut => "lease lost: the run is longer than its timeout",
        })
    }
}

impl std::error::Error for LeaseLost {}
