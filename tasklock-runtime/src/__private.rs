//! The only door for generated code. Not public API.

pub use inventory;

pub use crate::task::{
    Definition, IntoOutcome, IsLease, Location, OnLost, Registration, RunFuture,
};
