//! Who waits for a name, and who listens for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::lease::OwnerToken;
use crate::run::heart::Heart;
use crate::store::News;

/// The queues of those who wait for a name, while anybody does; the first ones' places; and who listens for them.
#[derive(Default)]
pub(in crate::run) struct Waiting {
    queues: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
    places: Arc<Places>,
    watch: Mutex<Weak<Watch>>,
}

/// By ticket.
#[derive(Default)]
struct Places(Mutex<HashMap<String, Arc<Awaited>>>);

struct Awaited {
    name: String,
    wake: Notify,
    /// Whether what was heard is of this name.
    meant: AtomicBool,
}

/// Where news for one who waits arrive.
pub(super) struct Place {
    ticket: String,
    awaited: Arc<Awaited>,
    places: Arc<Places>,
}

/// What was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// The name may be free.
    Name,
    /// Something that may have to do with it.
    Anything,
}

/// Listens to the store's announcements while somebody waits.
pub(super) struct Watch {
    listening: AbortHandle,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Places {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Awaited>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, news: &News) {
        let places = self.lock();
        match news {
            News::Turn(ticket) => {
                if let Some(awaited) = places.get(ticket) {
                    awaited.wake(true);
                }
            }
            News::Free(name) => {
                let awaited = places.values().filter(|awaited| awaited.name == *name);
                awaited.for_each(|awaited| awaited.wake(true));
            }
            News::Any | News::Live => places.values().for_each(|awaited| awaited.wake(false)),
            News::Deaf => {}
        }
    }
}

impl Awaited {
    fn wake(&self, meant: bool) {
        self.meant.fetch_or(meant, Ordering::Relaxed);
        self.wake.notify_one();
    }
}

impl Place {
    /// What was heard so far is looked at now.
    pub(super) fn forget_news(&self) {
        self.awaited.meant.store(false, Ordering::Relaxed);
        let mut heard = std::pin::pin!(self.awaited.wake.notified());
        // It takes what was kept for it, if anything.
        heard.as_mut().enable();
    }

    pub(super) async fn news(&self) -> Heard {
        self.awaited.wake.notified().await;
        if self.awaited.meant.load(Ordering::Relaxed) {
            Heard::Name
        } else {
            Heard::Anything
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().remove(&self.ticket);
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

    pub(super) fn place(&self, name: &str, ticket: &OwnerToken) -> Place {
        let places = Arc::clone(&self.waiting().places);
        let ticket = ticket.as_str().to_owned();
        let awaited = Arc::new(Awaited {
            name: name.to_owned(),
            wake: Notify::new(),
            meant: AtomicBool::new(false),
        });
        places.lock().insert(ticket.clone(), Arc::clone(&awaited));
        Place {
            ticket,
            awaited,
            places,
        }
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
        let places = Arc::clone(&self.waiting().places);
        let hear = move |news| places.hear(&news);
        let listening = tokio::spawn(self.store().watch_leases(Box::new(hear))).abort_handle();
        let watching = Arc::new(Watch { listening });
        *watch = Arc::downgrade(&watching);
        watching
    }
}
