//! `RuntimeBuilder::around`: what it sees, and what it can do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tasklock_runtime::testing::{Ran, TestRuntime, TestRuntimeBuilder};
use tasklock_runtime::{
    BoxError, Ended, Handler, LeaseContext, LeaseLost, Outcome, Payload, Snooze, TaskResult,
    locked_task,
};
use tokio::sync::{Notify, mpsc};

tokio::task_local! {
    static TENANT: &'static str;
}

#[locked_task(ttl = "30s", retries = 1)]
async fn ends_as_told(_lease: LeaseContext, way: Payload<String>) -> TaskResult {
    match &**way {
        "fails" => Err("no")?,
        "panics" => panic!("no"),
        "reads the local" => assert_eq!(TENANT.get(), "42"),
        "waits" => std::future::pending().await,
        _ => {}
    }
    Ok(())
}

#[locked_task(ttl = "30s", on_lost = "signal")]
async fn returns_its_loss(lease: LeaseContext) -> TaskResult {
    Err(lease.lost().await)?
}

/// What the layers of a test have noted.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: impl Into<String>) {
        self.0.lock().expect("no holder panics").push(note.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no holder panics"))
    }
}

/// Notes the beginning, and the end if it sees one.
fn noting(
    notes: &Notes,
    name: &'static str,
) -> impl Fn(LeaseContext, Handler) -> std::pin::Pin<Box<dyn Future<Output = Ended> + Send>> + use<>
{
    let notes = notes.clone();
    move |lease, handler| {
        let notes = notes.clone();
        Box::pin(async move {
            struct Dropped(Notes, &'static str, LeaseContext);
            impl Drop for Dropped {
                fn drop(&mut self) {
                    self.0
                        .add(format!("{} dropped, {:?}", self.1, self.2.check().err()));
                }
            }
            notes.add(format!("{name}: {} {}", lease.task(), lease.attempt()));
            let dropped = Dropped(notes.clone(), name, lease);
            let ended = handler.run().await;
            std::mem::forget(dropped);
            notes.add(format!("{name}: {}", ended.outcome().as_str()));
            ended
        })
    }
}

async fn on(builder: TestRuntimeBuilder, task: &str) -> TestRuntime {
    builder.only([task]).build().await.expect("it is linked")
}

async fn run(rt: &TestRuntime, way: &str) -> Vec<Ran> {
    let enqueued = ends_as_told::enqueue(&rt.client(), way.to_owned()).await;
    assert!(enqueued.is_ok());
    rt.run_due().await
}

#[tokio::test]
async fn the_first_is_the_outermost_and_both_see_how_it_ended() {
    let notes = Notes::default();
    let builder = TestRuntime::builder()
        .around(noting(&notes, "outer"))
        .around(noting(&notes, "inner"));
    let rt = on(builder, ends_as_told::NAME).await;
    for (way, end) in [
        ("succeeds", "succeeded"),
        ("fails", "failed"),
        ("panics", "panicked"),
    ] {
        let ran = run(&rt, way).await;
        assert_eq!(ran[0].outcome.as_str(), end);
        let begun = ["outer: ends_as_told 1", "inner: ends_as_told 1"].map(str::to_owned);
        let ended = ["inner", "outer"].map(|layer| format!("{layer}: {end}"));
        assert_eq!(notes.take(), [begun, ended].concat());
    }
}

#[tokio::test]
async fn a_loss_is_seen_by_a_handler_that_ends_and_by_the_drop_of_one_that_does_not() {
    let notes = Notes::default();
    let builder = TestRuntime::builder().around(noting(&notes, "layer"));
    let rt = on(builder, returns_its_loss::NAME).await;
    let triggered = returns_its_loss::trigger(&rt.client()).await;
    assert!(triggered.is_ok());
    let lost = Outcome::Lost(LeaseLost::Suspended);
    let suspended = Duration::from_secs(26);
    let (ran, ()) = tokio::join!(rt.run_due(), rt.suspend(suspended));
    assert_eq!(ran[0].outcome, lost);
    assert_eq!(notes.take(), ["layer: returns_its_loss 1", "layer: lost"]);

    let builder = TestRuntime::builder().around(noting(&notes, "layer"));
    let rt = on(builder, ends_as_told::NAME).await;
    let (ran, ()) = tokio::join!(run(&rt, "waits"), rt.suspend(suspended));
    assert_eq!(ran[0].outcome, lost);
    assert_eq!(
        notes.take(),
        ["layer: ends_as_told 1", "layer dropped, Some(Suspended)"]
    );
}

#[tokio::test]
async fn success_cannot_be_told_of_a_lost_lease() {
    let builder = TestRuntime::builder().around(|lease, handler| async move {
        let ended = handler.run().await;
        assert!(!ended.is_success() && lease.is_lost());
        Ok::<_, BoxError>(()).into()
    });
    let rt = on(builder, returns_its_loss::NAME).await;
    let triggered = returns_its_loss::trigger(&rt.client()).await;
    assert!(triggered.is_ok());
    let (ran, ()) = tokio::join!(rt.run_due(), rt.suspend(Duration::from_secs(26)));
    assert_eq!(ran[0].outcome, Outcome::Lost(LeaseLost::Suspended));
}

#[tokio::test]
async fn it_may_answer_in_the_handlers_place() {
    let builder = TestRuntime::builder()
        .around(|_, _handler| async { Err(Snooze::new(Duration::from_secs(60))).into() });
    let rt = on(builder, ends_as_told::NAME).await;
    let ran = run(&rt, "panics").await;
    assert_eq!(ran[0].outcome, Outcome::Snoozed(Duration::from_secs(60)));
}

#[tokio::test]
async fn a_panic_in_it_is_the_runs() {
    for early in [true, false] {
        let builder = TestRuntime::builder().around(move |_, handler: Handler| {
            assert!(!early, "before there is a future");
            async {
                let _ended = handler.run().await;
                panic!("after the handler")
            }
        });
        let rt = on(builder, ends_as_told::NAME).await;
        let ran = run(&rt, "succeeds").await;
        let text = if early {
            "before there is"
        } else {
            "after the handler"
        };
        let panicked = Outcome::Panicked(String::new()).as_str();
        assert_eq!(ran[0].outcome.as_str(), panicked);
        let error = ran[0].outcome.error().unwrap_or_default();
        assert!(
            error.contains(text) && error.contains("around.rs"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn task_locals_reach_the_handler() {
    let builder = TestRuntime::builder()
        .around(|_, handler| async move { TENANT.scope("42", handler.run()).await });
    let rt = on(builder, ends_as_told::NAME).await;
    let ran = run(&rt, "reads the local").await;
    assert_eq!(ran[0].outcome, Outcome::Succeeded);
}

static ENTERED: Notify = Notify::const_new();
static GO_ON: Mutex<Option<mpsc::UnboundedReceiver<()>>> = Mutex::new(None);
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// Blocks its thread until the test lets it go on.
#[locked_task(ttl = "30s", retries = 0)]
fn blocks(_lease: LeaseContext) {
    let go_on = GO_ON.lock().expect("no holder panics").take();
    ENTERED.notify_one();
    go_on.expect("one run").blocking_recv();
    HAS_ENDED.store(true, Ordering::SeqCst);
}

/// A thread goes on when its future is dropped: the lease must not end before it.
#[tokio::test]
async fn a_blocking_handler_that_it_drops_keeps_its_lease_until_the_thread_has_ended() {
    let (let_go_on, go_on) = mpsc::unbounded_channel();
    *GO_ON.lock().expect("no holder panics") = Some(go_on);
    let has_dropped = Arc::new(Notify::new());
    let dropped = Arc::clone(&has_dropped);
    let builder = TestRuntime::builder().around(move |_, handler| {
        let dropped = Arc::clone(&dropped);
        async move {
            tokio::select! {
                ended = handler.run() => return ended,
                () = ENTERED.notified() => {}
            }
            dropped.notify_one();
            Err("no patience").into()
        }
    });
    let rt = on(builder, blocks::NAME).await;
    let job = blocks::enqueue(&rt.client()).await;
    let job = job.expect("memory takes it").id();
    let (ran, ()) = tokio::join!(rt.run_due(), async {
        has_dropped.notified().await;
        // Whatever there is to do for the run, it has the time for it.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        rt.advance(Duration::from_secs(3600)).await;
        let job = rt.client().job(job).await.expect("memory answers");
        assert_eq!(job.map(|job| job.state.as_str()), Some("running"));
        assert!(!HAS_ENDED.load(Ordering::SeqCst));
        let_go_on.send(()).expect("it waits for it");
    });
    assert!(HAS_ENDED.load(Ordering::SeqCst));
    assert_eq!(ran[0].outcome.error().as_deref(), Some("no patience"));
}
