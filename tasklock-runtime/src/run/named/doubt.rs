//! Acquisitions of which it is not known whether anybody works under them.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::time::timeout;

use super::CALL;
use crate::lease::OwnerToken;
use crate::run::heart::Heart;

/// An acquisition that nobody works under: what it may have taken is given back when this is dropped unresolved, if there is
/// a runtime to do it.
pub(super) struct Doubt(Option<(Arc<Heart>, OwnerToken, Handle)>);

impl Doubt {
    pub(super) fn new(heart: &Arc<Heart>, owner: &OwnerToken, runtime: Handle) -> Self {
        Self(Some((Arc::clone(heart), owner.clone(), runtime)))
    }

    /// There is nothing to give back, or somebody else does it.
    pub(super) fn resolve(&mut self) {
        self.0 = None;
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        let Some((heart, owner, runtime)) = self.0.take() else {
            return;
        };
        runtime.spawn(async move {
            let _turn = heart.leaving().await;
            let _ = timeout(CALL, heart.store().abandon(&owner)).await;
        });
    }
}
