//! What the application shares with its handlers.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::{ExtractError, FromRun, Requirements, RunParts};

/// What the application shares with its handlers: a parameter of a handler, any number, each of a type
/// of its own. Given to [`RuntimeBuilder::state`](crate::RuntimeBuilder::state); cheap to clone.
///
/// In a unit test of a handler, make one with [`State::new`].
pub struct State<T: ?Sized>(Arc<T>);

impl<T> State<T> {
    /// A state of this value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> From<Arc<T>> for State<T> {
    fn from(value: Arc<T>) -> Self {
        Self(value)
    }
}

/// The type alone: a state may hold secrets, and need not be `Debug`.
impl<T: ?Sized> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "State<{}>", type_name::<T>())
    }
}

impl<T: Send + Sync + 'static> FromRun for State<T> {
    fn requirements(needs: &mut Requirements) {
        needs.state::<T>();
    }

    async fn from_run(run: &RunParts) -> Result<Self, ExtractError> {
        run.state().map(Self).ok_or_else(|| {
            format!(
                "the runtime was given no state of the type `{0}`: add \
                 `Runtime::builder().state(…)`, and `needs.state::<{0}>()` to the `requirements` of \
                 the parameter that asked for it",
                type_name::<T>()
            )
            .into()
        })
    }
}

/// The application's states, by type.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    /// Adds one; says whether there was one of its type.
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, state: T) -> bool {
        self.0.insert(TypeId::of::<T>(), Arc::new(state)).is_some()
    }

    pub(super) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(self.0.get(&TypeId::of::<T>())?).downcast().ok()
    }

    pub(super) fn contains(&self, id: TypeId) -> bool {
        self.0.contains_key(&id)
    }
}

/// How many: what is in them is the application's.
impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("States").field(&self.0.len()).finish()
    }
}
