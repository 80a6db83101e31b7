//! Waiting for a name.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::waiting::{Heard, Place, Watch};
use super::{CALL, LeaseGuard, LeaseRequest};
use crate::error::{Error, StoreErrorKind};
use crate::lease::OwnerToken;
use crate::run::heart::Heart;

/// The longest that a waiting acquisition does not ask: its place in the line lasts three times as long.
const POLL: Duration = Duration::from_secs(1);
/// The shortest, and what it doubles from where the lease may be free and yet cannot be had.
const LEAST: Duration = Duration::from_millis(25);
/// How long an answer is waited for at least, however short the wait for the name may be.
const ANSWER: Duration = Duration::from_millis(100);
/// How long somebody listens after the last one has waited.
const LINGERS: Duration = Duration::from_secs(5);
/// The longest wait that can be counted.
const LONGEST: Duration = Duration::from_secs(86_400 * 365);

impl LeaseRequest {
    /// Waits for the lease, this long at most; `None` if it was not to be had within it. In one process those who wait get it
    /// in the order in which they came; processes get it by turns, in the order in which the first of each has
    /// come to the store. A store that is busy or does not answer for a while is waited out.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a name or a ttl that can be none; the store's error if it takes no such call (its tables are
    /// missing, it is read-only), or its last one if it has not answered a single
    /// time.
    pub async fn acquire_within(self, longest: Duration) -> Result<Option<LeaseGuard>, Error> {
        let timing = self.timing()?;
        let end = Instant::now() + longest.min(LONGEST);
        let queue = self.heart.queue(&self.name);
        let Ok(_turn) = timeout_at(end, queue.lock()).await else {
            return Ok(None);
        };
        let mut ticket = Ticket::new(&self.heart, &self.name);
        let mut watching = None;
        let mut failure = None;
        let mut answered = false;
        let mut pause = LEAST;
        loop {
            ticket.place.forget_news();
            let call = CALL.min((end - Instant::now()).max(ANSWER));
            let left = match self.ask(&timing, Some(&ticket.token), call).await {
                Ok(Ok(guard)) => {
                    ticket.stands = false;
                    return Ok(Some(guard));
                }
                Ok(Err(left)) => {
                    ticket.stands = true;
                    answered = true;
                    left
                }
                Err(error) if is_for_good(&error) => return Err(error),
                Err(error) => {
                    ticket.stands = true;
                    failure = Some(error);
                    POLL
                }
            };
            if Instant::now() >= end {
                return match failure {
                    Some(error) if !answered => Err(error),
                    _ => Ok(None),
                };
            }
            // Not before there is something to wait for. What is given back until it listens it tells as well.
            let _watch = watching.get_or_insert_with(|| Listening(Some(self.heart.watch())));
            pause = if left.is_zero() {
                (pause * 2).min(POLL)
            } else {
                LEAST
            };
            // A little late, so that the lease has expired by then; or soon, for what may be free may be locked.
            let nap = if left.is_zero() {
                pause
            } else {
                left.min(POLL) + Duration::from_millis(5)
            };
            let again = (Instant::now() + nap).min(end);
            if let Ok(Heard::Anything) = timeout_at(again, ticket.place.news()).await {
                // Never in a circle: it may be of anything.
                sleep_until((Instant::now() + pause).min(again)).await;
            }
        }
    }
}

/// The one who listens for those who wait. It stays for a while after the last of them: the next one comes soon, as a
/// rule, and a connection of its own for each would cost more than the wait.
struct Listening(Option<Arc<Watch>>);

impl Drop for Listening {
    fn drop(&mut self) {
        let watch = self.0.take();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                sleep(LINGERS).await;
                drop(watch);
            });
        }
    }
}

/// Whether it is no use to wait.
fn is_for_good(error: &Error) -> bool {
    match error {
        Error::Store(error) => !matches!(
            error.kind(),
            StoreErrorKind::Busy | StoreErrorKind::Unavailable
        ),
        _ => true,
    }
}

/// A place in the store's line, which is given up with this.
struct Ticket {
    heart: Arc<Heart>,
    name: String,
    token: OwnerToken,
    place: Place,
    /// Whether the store may know of it. What a first try leaves that is dropped in its midst lapses.
    stands: bool,
    /// It may be dropped anywhere.
    runtime: Option<Handle>,
}

impl Ticket {
    fn new(heart: &Arc<Heart>, name: &str) -> Self {
        let token = OwnerToken::fresh();
        Self {
            place: heart.place(name, &token),
            heart: Arc::clone(heart),
            name: name.to_owned(),
            token,
            stands: false,
            runtime: Handle::try_current().ok(),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Without a runtime it lapses.
        let (true, Some(runtime)) = (self.stands, self.runtime.take()) else {
            return;
        };
        let heart = Arc::clone(&self.heart);
        let (name, token) = (std::mem::take(&mut self.name), self.token.clone());
        runtime.spawn(async move {
            let leaving = async {
                let _turn = heart.leaving().await;
                heart.store().leave(&name, &token).await
            };
            let _ = timeout(CALL, leaving).await;
        });
    }
}
