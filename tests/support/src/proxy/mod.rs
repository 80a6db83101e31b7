//! A TCP proxy between a client and a server, with faults that are switched at run time.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! # let database = tasklock_test_support::postgres::database().await.unwrap();
//! use tasklock_test_support::proxy::{Mode, Proxy};
//!
//! let proxy = Proxy::before(database.url())?;
//! let url = proxy.url(database.url()); // the code under test connects here
//! proxy.set(Mode::LoseReplies); // what it asks for is done, and it never hears so
//! // ...
//! proxy.set(Mode::Pass);
//! proxy.reset_all(); // as a connection that lost bytes cannot be used again
//! # Ok(())
//! # }
//! ```

mod counts;
mod link;
mod mode;

pub use counts::Counts;
pub use mode::Mode;

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::url;
use counts::Counters;
use mode::Setting;

/// A running proxy. It works on a thread of its own, so a test may block its threads. On drop it
/// stops, and its connections are reset.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// It stops when this is dropped.
    running: Option<watch::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// What the proxy's handle and its connections have in common.
#[derive(Debug)]
struct Shared {
    target: SocketAddr,
    setting: watch::Sender<Setting>,
    /// The number of resets so far.
    resets: watch::Sender<u64>,
    counters: Counters,
}

impl Proxy {
    /// Starts one before this server, on a free port of 127.0.0.1, in [`Mode::Pass`].
    ///
    /// # Errors
    ///
    /// If the server's name cannot be resolved, or nothing can be listened on.
    pub fn start(target: impl ToSocketAddrs) -> io::Result<Proxy> {
        let none = || io::Error::new(io::ErrorKind::NotFound, "the target has no address");
        let target = target.to_socket_addrs()?.next().ok_or_else(none)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            target,
            setting: watch::Sender::new(Setting::default()),
            resets: watch::Sender::new(0),
            counters: Counters::default(),
        });
        let (running, until) = watch::channel(());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let accepting = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("proxy".to_owned())
            .spawn(move || runtime.block_on(accept(listener, accepting, until)))?;
        Ok(Proxy {
            address,
            shared,
            running: Some(running),
            thread: Some(thread),
        })
    }

    /// Starts one before the server that a database URL names.
    ///
    /// # Errors
    ///
    /// As [`start`](Proxy::start).
    ///
    /// # Panics
    ///
    /// If the URL names no host, or no port and has an unknown scheme.
    pub fn before(url: &str) -> io::Result<Proxy> {
        Proxy::start(url::host_and_port(url))
    }

    /// Where clients connect to it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// This database URL by way of the proxy.
    pub fn url(&self, url: &str) -> String {
        url::with_address(url, self.address)
    }

    /// Switches what happens to bytes and connections that arrive from now on.
    pub fn set(&self, mode: Mode) {
        self.shared
            .setting
            .send_modify(|setting| setting.switch(mode));
    }

    /// Resets all connections that are open now, on both sides.
    pub fn reset_all(&self) {
        self.shared.resets.send_modify(|resets| *resets += 1);
    }

    /// Connections and bytes so far.
    pub fn counts(&self) -> Counts {
        self.shared.counters.read()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, mut until: watch::Receiver<()>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
    // Dropped with this function, and the connections with it.
    let mut links = JoinSet::new();
    loop {
        tokio::select! {
            // Nothing is ever sent: an error is the proxy's end.
            _ = until.changed() => return,
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => {
                    let resets = shared.resets.subscribe();
                    links.spawn(link::serve(client, Arc::clone(&shared), resets));
                }
                Err(error) => {
                    // For example no file descriptors left: said, and not tried in a tight loop.
                    eprintln!("the test proxy cannot accept: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = links.join_next() => {}
        }
    }
}
