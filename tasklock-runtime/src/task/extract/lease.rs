//! The first parameter of every handler.

use crate::lease::LeaseContext;

/// The first parameter of a handler. Implemented by [`LeaseContext`] alone: a trait only so that the
/// compiler can say what is wrong with any other type.
#[diagnostic::on_unimplemented(
    message = "a handler takes `LeaseContext`, not `{Self}`",
    label = "not a `LeaseContext`",
    note = "write `async fn name(lease: LeaseContext) -> TaskResult`"
)]
pub trait IsLease: Sized {
    /// The parameter's value.
    fn from_lease(lease: LeaseContext) -> Self;
}

impl IsLease for LeaseContext {
    fn from_lease(lease: LeaseContext) -> Self {
        lease
    }
}
