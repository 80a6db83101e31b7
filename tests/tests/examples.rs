//! Each example is run as a user would, and does what its first lines say.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};
use tasklock_test_support::process::{Event, Worker};
use tasklock_test_support::temp::TempDir;
use tasklock_test_support::wait::eventually;
use tasklock_test_support::{mysql, postgres, redis, sqlite};
use tasklock_tests::program::command;

const BOUND: Duration = Duration::from_secs(60);
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const URL: &str = "TASKLOCK_DATABASE_URL";

#[test]
fn hello_needs_no_set_up_and_drains_on_ctrl_c() {
    let folder = TempDir::new();
    let hello = Worker::spawn(&mut command(example("hello"), folder.path()));
    let first = hello.wait_for(BOUND, |event| event.line.starts_with("refreshing EUR"));
    assert_eq!(first.line, "refreshing EUR, fence 1");
    hello.wait_for(BOUND, |event| event.line == "refreshing USD, fence 1");
    assert!(folder.path().join("tasklock.db").is_file());

    hello.interrupt();
    ends_with(&hello, 0);
    for part in [
        "TASKLOCK_DATABASE_URL",
        "on this machine only",
        "refresh_rates",
        "examples/examples/hello.rs:",
    ] {
        logged(&hello, part);
    }
}

#[test]
fn hello_is_the_program_of_the_readme() {
    let readme = read("README.md");
    let mut blocks = readme.split("```").skip(1).step_by(2);
    let block = blocks
        .find_map(|block| block.strip_prefix("rust\n"))
        .expect("the README has a Rust block");
    let example = read("examples/examples/hello.rs");
    let code: Vec<&str> = example
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty())
        .collect();
    assert_eq!(block.lines().collect::<Vec<_>>(), code);
}

#[test]
fn schedules_lists_slots_and_runs_them() {
    let folder = TempDir::new();
    let schedules = Worker::spawn(&mut command(example("schedules"), folder.path()));
    for line in [
        "  2026-03-29T03:00:00+02:00[Europe/Berlin]",
        "  2026-03-30T02:30:00+02:00[Europe/Berlin]",
        "  2026-10-25T02:30:00+02:00[Europe/Berlin]",
        "  2026-10-26T02:30:00+01:00[Europe/Berlin]",
    ] {
        schedules.wait_for(BOUND, |event| event.line == line);
    }
    for _ in 0..3 {
        schedules.wait_for(BOUND, |event| event.line.starts_with("the report of "));
    }
    ends_with(&schedules, 0);

    let mut listing = command(example("schedules"), folder.path());
    let listing = Worker::spawn(listing.arg("cron 0 9 * * MON#1 in America/New_York"));
    ends_with(&listing, 0);
    let slots: Vec<String> = listing
        .events()
        .iter()
        .map(|event| event.line.clone())
        .collect();
    assert_eq!(slots.len(), 10, "{slots:?}");
    assert!(
        slots
            .iter()
            .all(|slot| slot.contains("T13:00") || slot.contains("T14:00"))
    );
}

#[test]
fn lease_lost_tells_both_handlers_before_the_lease_ends_in_the_store() {
    let folder = TempDir::new();
    let story = Worker::spawn(&mut command(example("lease_lost"), folder.path()));
    ends_with(&story, 0);
    for seen in ["polls: check()", "awaits: lost()"] {
        let told = story
            .wait_for(BOUND, |event| event.line.contains(seen))
            .line;
        assert!(told.contains("store_unreachable"), "{told}");
        assert!(told.ends_with(" ms before the store's expiry"), "{told}");
    }
}

#[test]
fn two_workers_hands_the_task_over_on_sqlite() {
    takeover(None);
}

#[tokio::test]
async fn two_workers_hands_the_task_over_on_postgres() {
    if let Some(database) = postgres::database().await {
        takeover(Some(database.url()));
    }
}

fn takeover(url: Option<&str>) {
    let folder = TempDir::new();
    let mut command = command(example("two_workers"), folder.path());
    command.envs(url.map(|url| (URL, url)));
    let story = Worker::spawn(&mut command);
    let holds = |line: &str| line.contains("runs the task, fence ");
    let holder = story.wait_for(BOUND, |event| holds(&event.line)).line;
    story.wait_for(BOUND, |event| event.line.ends_with("killed"));
    let other = story.wait_for(BOUND, |event| holds(&event.line)).line;
    assert!(other.ends_with(" s after the kill"), "{other}");
    let [(holder, before), (other, after)] = [worker_and_fence(&holder), worker_and_fence(&other)];
    assert_ne!(holder, other);
    assert!(after > before, "{}", story.report());
    ends_with(&story, 0);
}

/// Of `worker 12: runs the task, fence 3…`.
fn worker_and_fence(line: &str) -> (u64, u64) {
    let mut numbers = line
        .split(|char: char| !char.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(worker), Some(fence)) => (worker, fence),
        _ => panic!("not a worker and a fence: {line}"),
    }
}

#[test]
fn guarded_commit_refuses_the_worker_that_was_stopped() {
    let folder = TempDir::new();
    let story = Worker::spawn(&mut command(example("guarded_commit"), folder.path()));
    let booked = story.wait_for(BOUND, |event| event.line.contains("booked, fence "));
    let refused = story.wait_for(BOUND, |event| event.line.contains("refused, fence "));
    let [(new, after), (old, before)] = [&booked, &refused].map(|it| worker_and_fence(&it.line));
    assert_ne!(new, old);
    assert!(after > before, "{}", story.report());
    assert!(refused.line.contains("not committed"), "{}", refused.line);
    story.wait_for(BOUND, |event| event.line == "entries: 1");
    ends_with(&story, 0);
}

#[test]
fn rates_imports_a_file_whole_or_not_at_all_on_sqlite() {
    imports(&sqlite::file().url());
}

#[tokio::test]
async fn rates_imports_a_file_whole_or_not_at_all_on_postgres() {
    if let Some(database) = postgres::database().await {
        imports(database.url());
    }
}

fn imports(url: &str) {
    let folder = TempDir::new();
    let shipped = read("examples/data/eurofxref.csv");
    let rates = |arguments: &[&str]| {
        let mut command = command(example("rates"), folder.path());
        Worker::spawn(command.env(URL, url).args(arguments))
    };
    let imported = |story: &Worker, changed: &str| {
        story.wait_for(BOUND, |event| event.line.ends_with(changed));
    };
    let first = rates(&["--once"]);
    ends_with(&first, 0);
    imported(&first, "34 rates, 34 rows changed");
    let second = rates(&["--once"]);
    ends_with(&second, 0);
    imported(&second, "34 rates, 0 rows changed");

    // Corrected in its first line, spoiled in its last.
    let spoiled = shipped
        .replace("1.1111", "1.9999")
        .replace("0.8167", "O.8167");
    fs::write(folder.path().join("spoiled.csv"), spoiled).expect("the folder is ours");
    let third = rates(&["--once", "spoiled.csv"]);
    ends_with(&third, 1);
    logged(&third, "spoiled.csv:6:42: \"O.8167\" is not a rate of GBP");

    let missing = rates(&["--once", "missing.csv"]);
    ends_with(&missing, 1);
    logged(&missing, "missing.csv: cannot be read");

    // The correction was not taken from the spoiled file: nothing is to be changed back. By schedule
    // this time.
    let scheduled = rates(&[]);
    imported(&scheduled, "34 rates, 0 rows changed");
    scheduled.term();
    ends_with(&scheduled, 0);
}

#[test]
fn jobs_with_payload_ends_each_letter_as_it_says() {
    let folder = TempDir::new();
    let story = Worker::spawn(&mut command(example("jobs_with_payload"), folder.path()));
    ends_with(&story, 0);
    for line in [
        "bob: job 2, new: true",
        "bob: job 2, new: false",
        "ada: \"Dear ada\", attempt 1",
        "bob: \"Dear bob\", attempt 1",
        "cleo: \"Dear cleo\", attempt 1",
        "dan: \"Dear dan\", attempt 2",
    ] {
        story.wait_for(BOUND, |event| event.line == line);
    }
    let events = story.events();
    let ends = events.iter().filter_map(|event| {
        let (_, end) = event.line.strip_prefix("job ")?.split_once(" is ")?;
        Some(end.trim_end())
    });
    let ends: Vec<&str> = ends.collect();
    let done = "done after attempt 1";
    let [dan, eve] = ["done after attempt 2", "dead after attempt 1 moved away"];
    assert_eq!(ends, [done, done, done, dan, eve], "{}", story.report());
    logged(&story, "failed, tried again in ");
}

#[test]
fn progress_is_shown_and_a_run_without_it_replaced() {
    let folder = TempDir::new();
    let story = Worker::spawn(&mut command(example("progress"), folder.path()));
    ends_with(&story, 0);
    for line in [
        "job 2: attempt 1: 20/40 pages",
        "attempt 1 is lost at page 20: stalled",
        "attempt 2 begins",
        "done after attempt 2, crashes: 1",
    ] {
        story.wait_for(BOUND, |event| event.line == line);
    }
}

#[test]
fn web_app_sends_the_receipt_of_each_order_that_was_taken() {
    let folder = TempDir::new();
    let app = Worker::spawn(command(example("web_app"), folder.path()).env("PORT", "0"));
    let listening = app.wait_for(BOUND, |event| event.line.starts_with("listening on "));
    let address = listening
        .line
        .trim_start_matches("listening on ")
        .to_owned();
    let order = |customer: &str, cents: i64| {
        let order = json!({ "customer": customer, "cents": cents }).to_string();
        http(&address, "POST", "/orders", &order)
    };
    let get = |path: &str| http(&address, "GET", path, "").1;
    assert_eq!(order("ada", 1250), (200, "1\n".to_owned()));
    app.wait_for(BOUND, |event| event.line == "receipt of order 1");
    eventually(BOUND, || get("/orders/1") == "paid, with thanks, ada\n");
    eventually(BOUND, || get("/jobs") == "1 done\n");

    // The table refuses it, after its job was enqueued: neither is there.
    let (status, refusal) = order("bob", 0);
    assert_eq!(status, 422, "{refusal}");
    assert!(refusal.contains("cents > 0"), "{refusal}");
    assert_eq!(get("/orders/2"), "no such order\n");
    assert_eq!(get("/jobs"), "1 done\n");

    assert_eq!(order("cleo", 5), (200, "2\n".to_owned()));
    eventually(BOUND, || get("/orders/2") == "paid, with thanks, cleo\n");
    app.interrupt();
    ends_with(&app, 0);
}

#[tokio::test]
async fn on_mysql_sends_the_receipt_of_its_order_and_sums_up() {
    let Some(database) = mysql::database().await else {
        return;
    };
    let folder = TempDir::new();
    let start =
        || Worker::spawn(command(example("on_mysql"), folder.path()).env(URL, database.url()));
    let first = start();
    first.wait_for(BOUND, |event| event.line == "order 1 is taken");
    first.wait_for(BOUND, |event| event.line == "receipt of order 1");
    first.wait_for(BOUND, |event| event.line.starts_with("receipts: 1, fence "));
    first.interrupt();
    ends_with(&first, 0);

    // The tables are there already; both may write the receipt, and one at a time sums up.
    let both = [start(), start()];
    let said = |part: &str| {
        let has = |event: &Event| event.line.starts_with(part);
        eventually(BOUND, || both.iter().any(|it| it.events().iter().any(has)));
    };
    said("order 2 is taken");
    said("order 3 is taken");
    said("receipt of order 2");
    said("receipt of order 3");
    said("receipts: 3, fence ");
    for one in &both {
        one.term();
        ends_with(one, 0);
    }
    let sums = both.iter().flat_map(Worker::events);
    let mut fences: Vec<String> = sums
        .filter(|event| event.line.starts_with("receipts: "))
        .filter_map(|event| Some(event.line.split_once(", fence ")?.1.to_owned()))
        .collect();
    let all = fences.len();
    fences.sort();
    fences.dedup();
    assert_eq!(
        fences.len(),
        all,
        "each run has a fence of its own: {fences:?}"
    );

    let unset = Worker::spawn(command(example("on_mysql"), folder.path()).env_remove(URL));
    ends_with(&unset, 1);
    logged(&unset, "set TASKLOCK_DATABASE_URL to mysql://");
}

#[tokio::test]
async fn on_redis_keeps_late_writers_out_of_another_database() {
    let Some(server) = redis::Server::start().await else {
        return;
    };
    let folder = TempDir::new();
    let mut story = command(example("on_redis"), folder.path());
    let story = Worker::spawn(story.env(URL, server.url()));
    ends_with(&story, 0);
    let lines: Vec<String> = story.events().into_iter().map(|event| event.line).collect();
    for line in [
        "booked 100",
        "booked 20",
        "booked 3",
        "refused: a smaller fence",
        "in the ledger: 4123",
    ] {
        assert_eq!(
            lines.iter().filter(|other| *other == line).count(),
            1,
            "{lines:?}"
        );
    }
}

#[test]
fn resource_lock_lets_one_at_a_time_have_an_invoice() {
    let folder = TempDir::new();
    let story = Worker::spawn(&mut command(example("resource_lock"), folder.path()));
    ends_with(&story, 0);
    let of = |invoice: &str| -> Vec<String> {
        let events = story.events();
        let lines = events.iter().filter_map(|event| {
            let (name, what) = event.line.split_once(": ")?;
            (name == invoice).then(|| what.to_owned())
        });
        lines.collect()
    };
    assert_eq!(of("invoice:7").len(), 2, "{}", story.report());
    let lines = of("invoice:42");
    let mut fence = 0;
    for pair in lines.chunks(2) {
        let [begins, ends] = pair else {
            panic!("not a beginning and an end: {pair:?}")
        };
        let (who, now) = begins.split_once(" begins, fence ").expect("it begins");
        assert!(ends.starts_with(&format!("{who} ends")), "{lines:?}");
        let now: i64 = now.parse().expect("a fence");
        assert!(now > fence, "{lines:?}");
        fence = now;
        // Who has waited has used up nothing.
        assert!(
            who == "the script" || ends.ends_with(", attempt 1"),
            "{lines:?}"
        );
    }
    let who: Vec<_> = lines
        .iter()
        .step_by(2)
        .filter_map(|line| line.split(" begins").next())
        .collect();
    let [print, ask, insist] = [
        "print_invoice",
        "remind \"please pay\"",
        "remind \"pay now\"",
    ];
    assert_eq!(who, ["the script", print, ask, print, insist]);
}

#[test]
fn manual_retry_does_not_send_beside_the_job() {
    let folder = TempDir::new();
    let app = Worker::spawn(command(example("manual_retry"), folder.path()).env("PORT", "0"));
    let listening = app.wait_for(BOUND, |event| event.line.starts_with("listening on "));
    let address = listening
        .line
        .trim_start_matches("listening on ")
        .to_owned();
    let (status, enqueued) = http(&address, "POST", "/invoices/42/job", "");
    assert_eq!(status, 200, "{enqueued}");
    app.wait_for(BOUND, |event| {
        event.line.starts_with("invoice 42: a job begins")
    });
    let (status, refusal) = http(&address, "POST", "/invoices/42/send", "");
    assert_eq!(status, 409, "{refusal}");
    // Of another invoice it can be had meanwhile.
    assert_eq!(http(&address, "POST", "/invoices/7/send", "").0, 200);
    app.wait_for(BOUND, |event| event.line == "invoice 42: a job ends");
    eventually(BOUND, || {
        http(&address, "POST", "/invoices/42/send", "").0 == 200
    });
    let (_, letters) = http(&address, "GET", "/invoices/42", "");
    let letters: Vec<_> = letters
        .lines()
        .filter_map(|line| line.split_once(", fence "))
        .collect();
    let [("a job", before), ("a request", after)] = letters[..] else {
        panic!("{letters:?}")
    };
    let fence = |text: &str| text.parse::<i64>().expect("a fence");
    assert!(fence(after) > fence(before), "{letters:?}");
    app.interrupt();
    ends_with(&app, 0);
}

/// One request on a connection of its own: status and body of the answer.
#[track_caller]
fn http(address: &str, method: &str, path: &str, json: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("the program listens");
    stream
        .set_read_timeout(Some(BOUND))
        .expect("it is not zero");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{json}",
        json.len()
    );
    stream
        .write_all(request.as_bytes())
        .expect("the program reads");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .expect("the program answers");
    let parts = answer.split_once("\r\n\r\n").zip(answer.split(' ').nth(1));
    match parts {
        Some(((_, body), status)) => (status.parse().expect("a number"), body.to_owned()),
        None => panic!("no answer to {method} {path}: {answer:?}"),
    }
}

/// Cargo runs its unit tests with all others (`test = true` in the manifest).
#[test]
fn unit_test_a_handler_is_an_ordinary_program() {
    let folder = TempDir::new();
    let story = Worker::spawn(&mut command(example("unit_test_a_handler"), folder.path()));
    ends_with(&story, 0);
    story.wait_for(BOUND, |event| event.line == "Welcome, ada!");
    let manifest = read("examples/Cargo.toml");
    assert!(manifest.contains("name = \"unit_test_a_handler\"\ntest = true"));
}

#[test]
fn no_example_is_left_out_here() {
    let here = read("tests/tests/examples.rs");
    for name in examples().keys() {
        let run = format!("example(\"{name}\")");
        assert!(here.contains(&run), "no test runs the example {name}");
    }
}

#[track_caller]
fn ends_with(story: &Worker, code: i32) {
    let status = story.wait_exit(BOUND);
    assert_eq!(status.code(), Some(code), "{}", story.report());
}

/// Even of a program that has ended, a line can be still on its way here.
#[track_caller]
fn logged(story: &Worker, part: &str) {
    eventually(BOUND, || story.stderr().contains(part));
}

fn read(path: &str) -> String {
    match fs::read_to_string(Path::new(ROOT).join(path)) {
        Ok(text) => text,
        Err(error) => panic!("{path}: {error}"),
    }
}

fn example(name: &str) -> &'static Path {
    match examples().get(name) {
        Some(path) => path,
        None => panic!("there is no example {name}"),
    }
}

/// The programs by name. Cargo has built them already if it tests the whole workspace with all
/// features, as `scripts/test` does; else it builds them now.
fn examples() -> &'static HashMap<String, PathBuf> {
    static EXAMPLES: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    EXAMPLES.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .args(["build", "--workspace", "--all-features", "--examples"])
            .args(["--message-format", "json-render-diagnostics"])
            .current_dir(ROOT)
            .output()
            .expect("cargo can be started: it has started this");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "the examples do not build:\n{errors}"
        );
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter_map(|message| program(&message))
            .collect()
    })
}

/// An example's name and file, if this message of cargo's is about one.
fn program(message: &Value) -> Option<(String, PathBuf)> {
    let target = &message["target"];
    let is_example = target["kind"]
        .as_array()?
        .iter()
        .any(|kind| kind == "example");
    let name = target["name"].as_str().filter(|_| is_example)?;
    Some((name.to_owned(), message["executable"].as_str()?.into()))
}
