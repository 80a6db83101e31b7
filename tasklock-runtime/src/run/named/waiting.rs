//! Who waits for a name, and who listens for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::run::heart::Heart;

/// The queues of those who wait for a name, while anybody does; and who listens for them.
#[derive(Default)]
pub(in crate::run) struct Waiting {
    queues: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
    watch: Mutex<Weak<Watch>>,
}

/// Listens to the store's announcements while somebody waits.
pub(super) struct Watch {
    pub(super) announcements: watch::Sender<()>,
    listening: AbortHandle,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Heart {
    pub(super) fn queue(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut queues = self
            .waiting()
            .queues
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(name).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(tokio::sync::Mutex::new(()));
        queues.insert(name.to_owned(), Arc::downgrade(&queue));
        queue
    }

    pub(super) fn watch(&self) -> Arc<Watch> {
        let mut watch = self
            .waiting()
            .watch
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(watching) = watch.upgrade() {
            return watching;
        }
        let announcements = watch::Sender::new(());
        let sender = announcements.clone();
        let wake = move |_| {
            sender.send_replace(());
        };
        let listening = tokio::spawn(self.store().watch(Box::new(wake))).abort_handle();
        let watching = Arc::new(Watch {
            announcements,
            listening,
        });
        *watch = Arc::downgrade(&watching);
        watching
    }
}
