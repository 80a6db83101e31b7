//! What a handle says of its task, to the compiler.

/// A task's type: the handle that `#[locked_task]` puts beside the function.
///
/// Implemented by the macro; use it where a task is named in code
/// (`Runtime::builder().require::<refresh_rates>()`).
pub trait TaskSpec {
    /// The task's name in the store.
    const NAME: &'static str;
}

/// A task whose jobs carry a `P`; `()` where they carry nothing.
///
/// Implemented by the macro for each handle, so that a job's payload can be named by its task alone
/// (`rt.enqueued::<send_invoice, _>()`).
pub trait JobSpec<P>: TaskSpec {}
