//! How a task makes itself known.

use std::future::Future;
use std::pin::Pin;

use tasklock_grammar::check_name;

use super::definition::Definition;
use super::extract::{Requirements, RunParts};
use super::outcome::Outcome;

/// A run in progress.
pub type RunFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Where a task is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    module: &'static str,
    file: &'static str,
    line: u32,
}

impl Location {
    /// From `module_path!()`, `file!()` and `line!()`.
    #[must_use]
    pub const fn new(module: &'static str, file: &'static str, line: u32) -> Self {
        Self { module, file, line }
    }

    /// The crate that defines the task.
    #[must_use]
    pub fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One annotated function: constant data, collected by `inventory`, and the function to call.
#[derive(Debug)]
pub struct Registration {
    pub(crate) definition: Definition,
    pub(crate) location: Location,
    pub(crate) run: fn(RunParts) -> RunFuture,
    /// Names what the handler's parameters need of the application.
    pub(crate) requirements: fn(&mut Requirements),
    /// The name of the second lease that each run takes, of a payload.
    resource: Option<NameOf>,
}

/// A name made of a payload, or what is wrong with it.
type NameOf = fn(Option<&str>) -> Result<String, String>;

impl Registration {
    /// Called by generated code, in a `const` context.
    #[must_use]
    pub const fn new(
        definition: Definition,
        location: Location,
        run: fn(RunParts) -> RunFuture,
        requirements: fn(&mut Requirements),
    ) -> Self {
        Self {
            definition,
            location,
            run,
            requirements,
            resource: None,
        }
    }

    /// The same with a second lease for each run, of this name.
    #[must_use]
    pub const fn needing(self, resource: NameOf) -> Self {
        Self {
            resource: Some(resource),
            ..self
        }
    }

    /// The name of the second lease that a run with this payload takes, if the task has one.
    pub(crate) fn resource_of(&self, payload: Option<&str>) -> Option<Result<String, String>> {
        let name = (self.resource?)(payload);
        Some(name.and_then(|name| match check_name(&name) {
            Ok(()) => Ok(name),
            // It may hold what is in the payload.
            Err(_) => Err("the payload makes no name of the task's `resource`: it would have more than 128 bytes, \
                           control characters, or blanks at its ends"
                .to_owned()),
        }))
    }
}

inventory::collect!(Registration);
