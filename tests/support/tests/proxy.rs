//! Each fault of the proxy, against a plain echo server.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use tasklock_test_support::proxy::{Counts, Mode, Proxy};
use tasklock_test_support::wait::eventually;

const BOUND: Duration = Duration::from_secs(30);
/// Long enough for any answer, short enough to wait for none.
const NO_ANSWER: Duration = Duration::from_millis(200);

/// Answers each connection with what it gets. It ends with the test process.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut from = stream.unwrap();
            let mut to = from.try_clone().unwrap();
            thread::spawn(move || std::io::copy(&mut from, &mut to));
        }
    });
    address
}

fn proxy() -> Proxy {
    Proxy::start(echo()).unwrap()
}

struct Client(TcpStream);

impl Client {
    fn of(proxy: &Proxy) -> Client {
        let stream = TcpStream::connect(proxy.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        Client(stream)
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// Reads as much as is wanted.
    fn gets(&mut self, wanted: &[u8]) {
        let mut got = vec![0; wanted.len()];
        self.0.read_exact(&mut got).unwrap();
        assert_eq!(got, wanted);
    }

    fn asks(&mut self, bytes: &[u8]) {
        self.send(bytes);
        self.gets(bytes);
    }

    fn gets_nothing(&mut self) {
        self.0.set_read_timeout(Some(NO_ANSWER)).unwrap();
        let kind = self.0.read(&mut [0]).unwrap_err().kind();
        assert!(
            matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut),
            "{kind}"
        );
        self.0.set_read_timeout(Some(BOUND)).unwrap();
    }

    fn is_reset(&mut self) {
        let result = self.0.read(&mut [0]);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }

    fn is_closed(&mut self) {
        assert_eq!(self.0.read(&mut [0]).unwrap(), 0);
    }
}

fn until(proxy: &Proxy, reached: impl Fn(Counts) -> bool) {
    eventually(BOUND, || reached(proxy.counts()));
}

#[test]
fn bytes_and_closing_pass_and_are_counted() {
    let proxy = proxy();
    let (mut one, mut two) = (Client::of(&proxy), Client::of(&proxy));
    one.asks(b"one");
    two.asks(b"four");
    until(&proxy, |counts| counts.replies == 7);
    let counts = proxy.counts();
    assert_eq!(
        (counts.connections, counts.open, counts.requests),
        (2, 2, 7)
    );

    one.send(b"last");
    one.0.shutdown(std::net::Shutdown::Write).unwrap();
    one.gets(b"last");
    one.is_closed();
    until(&proxy, |counts| counts.open == 1);
    two.asks(b"two goes on");
}

#[test]
fn many_bytes_pass_unchanged() {
    let proxy = proxy();
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut client = Client::of(&proxy);
    let mut sender = client.0.try_clone().unwrap();
    let sent = bytes.clone();
    let sending = thread::spawn(move || sender.write_all(&sent).unwrap());
    client.gets(&bytes);
    sending.join().unwrap();
}

#[test]
fn a_delay_is_felt_each_way_and_ends() {
    let proxy = proxy();
    let mut client = Client::of(&proxy);
    proxy.set(Mode::delay(Duration::from_millis(100)));
    let start = Instant::now();
    client.asks(b"slow");
    assert!(start.elapsed() >= Duration::from_millis(200));

    proxy.set(Mode::Delay {
        requests: Duration::ZERO,
        replies: Duration::from_secs(3600),
    });
    client.send(b"late");
    until(&proxy, |counts| counts.requests == 8);
    client.gets_nothing();
    proxy.set(Mode::Pass);
    Client::of(&proxy).asks(b"quick");
}

#[test]
fn what_is_held_arrives_afterwards() {
    let proxy = proxy();
    let mut client = Client::of(&proxy);
    proxy.set(Mode::Hold);
    client.send(b"held ");
    client.gets_nothing();
    client.send(b"back");
    assert_eq!(proxy.counts().requests, 0);
    proxy.set(Mode::Pass);
    client.gets(b"held back");
}

#[test]
fn lost_requests_do_not_reach_the_server() {
    let proxy = proxy();
    let mut client = Client::of(&proxy);
    client.asks(b"before");
    proxy.set(Mode::LoseRequests);
    client.send(b"lost");
    until(&proxy, |counts| counts.lost_requests == 4);
    proxy.set(Mode::Pass);
    client.send(b"dead for good");
    until(&proxy, |counts| counts.lost_requests == 17);
    client.gets_nothing();
    assert_eq!(proxy.counts().requests, 6);
    Client::of(&proxy).asks(b"a new one lives");
}

#[test]
fn lost_replies_have_reached_the_server() {
    let proxy = proxy();
    let mut client = Client::of(&proxy);
    proxy.set(Mode::LoseReplies);
    client.send(b"done");
    until(&proxy, |counts| {
        counts.requests == 4 && counts.lost_replies == 4
    });
    client.gets_nothing();
    assert_eq!(proxy.counts().replies, 0);
    proxy.set(Mode::Pass);
    client.send(b"too");
    until(&proxy, |counts| counts.lost_replies == 7);
    proxy.reset_all();
    client.is_reset();
}

#[test]
fn a_reset_reaches_all_that_are_open_and_no_later_one() {
    let proxy = proxy();
    let (mut one, mut two) = (Client::of(&proxy), Client::of(&proxy));
    one.asks(b"1");
    two.asks(b"2");
    proxy.reset_all();
    one.is_reset();
    two.is_reset();
    until(&proxy, |counts| counts.open == 0);
    Client::of(&proxy).asks(b"3");
}

#[test]
fn a_reset_also_ends_what_is_held_or_delayed() {
    for mode in [Mode::Hold, Mode::delay(Duration::from_secs(3600))] {
        let proxy = proxy();
        let mut client = Client::of(&proxy);
        client.asks(b"1");
        proxy.set(mode);
        client.send(b"2");
        client.gets_nothing();
        proxy.reset_all();
        client.is_reset();
    }
}

#[test]
fn only_new_connections_are_refused() {
    let proxy = proxy();
    let mut open = Client::of(&proxy);
    open.asks(b"1");
    proxy.set(Mode::Refuse);
    Client::of(&proxy).is_reset();
    open.asks(b"2");
    let counts = proxy.counts();
    assert_eq!((counts.connections, counts.refused), (1, 1));
    proxy.set(Mode::Pass);
    Client::of(&proxy).asks(b"3");
}

#[test]
fn replies_are_cut_after_so_many_bytes_of_each_connection() {
    let proxy = proxy();
    let (mut one, mut two) = (Client::of(&proxy), Client::of(&proxy));
    one.asks(b"these do not count");
    two.asks(b"nor these");
    proxy.set(Mode::CutReplies { after: 5 });
    one.asks(b"123");
    one.send(b"456");
    one.gets(b"45");
    one.is_closed();
    two.send(b"1234567");
    two.gets(b"12345");
    two.is_closed();
    until(&proxy, |counts| counts.open == 0);

    let mut three = Client::of(&proxy);
    proxy.set(Mode::CutReplies { after: 0 });
    three.send(b"nothing comes back");
    three.is_closed();
}

#[test]
fn a_server_that_is_gone_looks_gone() {
    // Bound and given back: nobody listens there.
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let proxy = Proxy::start(nobody).unwrap();
    Client::of(&proxy).is_reset();
    assert_eq!((proxy.counts().connections, proxy.counts().refused), (0, 1));
}

#[test]
fn a_dropped_proxy_takes_its_connections_along() {
    let proxy = proxy();
    let mut client = Client::of(&proxy);
    client.asks(b"1");
    drop(proxy);
    assert!(matches!(client.0.read(&mut [0]), Ok(0) | Err(_)));
}

#[tokio::test]
async fn a_database_is_reached_through_it() {
    use tasklock_test_support::postgres::database;
    let Some(database) = database().await else {
        return;
    };
    let proxy = Proxy::before(database.url()).unwrap();
    let connecting = <sqlx::PgConnection as sqlx::Connection>::connect;
    let mut connection = connecting(&proxy.url(database.url())).await.unwrap();
    let one: i32 = sqlx::query_scalar("select 1")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!((one, proxy.counts().open), (1, 1));
    proxy.reset_all();
    assert!(
        sqlx::query("select 1")
            .execute(&mut connection)
            .await
            .is_err()
    );
}
