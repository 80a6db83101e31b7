//! The span of a run: its fields, and who is in it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use tasklock_runtime::testing::TestRuntime;
use tasklock_runtime::{LeaseContext, Payload, TaskResult, locked_task};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

#[locked_task]
async fn awaits_in_span(_lease: LeaseContext, _number: Payload<u32>) -> TaskResult {
    tokio::task::yield_now().await;
    tracing::info!("in the async handler");
    Ok(())
}

#[locked_task]
fn blocks_in_span(_lease: LeaseContext, _number: Payload<u32>) -> TaskResult {
    tracing::info!("in the blocking handler");
    Ok(())
}

type Fields = BTreeMap<&'static str, String>;

/// A message, and the spans that it was told in.
type Told = (String, Vec<Fields>);

/// Each message, with the fields of the spans that it was told in, the outermost first.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<Told>>>);

#[derive(Default)]
struct Read(Fields);

impl Visit for Read {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collected {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut read = Read::default();
        attributes.record(&mut read);
        let span = context.span(id).expect("it is new");
        read.0.insert("span", span.name().to_owned());
        span.extensions_mut().insert(read);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut read = Read::default();
        event.record(&mut read);
        let scope = context.event_scope(event).into_iter();
        let spans = scope.flat_map(|scope| scope.from_root());
        let fields = spans.filter_map(|span| Some(span.extensions().get::<Read>()?.0.clone()));
        let message = read.0.remove("message").unwrap_or_default();
        let mut collected = self.0.lock().expect("no holder panics");
        collected.push((message, fields.collect()));
    }
}

impl Collected {
    fn spans_of(&self, message: &str) -> Vec<Fields> {
        let collected = self.0.lock().expect("no holder panics");
        let found = collected.iter().find(|(told, _)| told == message);
        found
            .unwrap_or_else(|| panic!("nobody said {message:?}: {collected:?}"))
            .1
            .clone()
    }
}

#[tokio::test]
async fn handlers_of_both_kinds_and_what_is_around_them_run_in_the_span_of_their_run() {
    let collected = Collected::default();
    // For all threads: a blocking handler has one of its own.
    let subscriber = Registry::default().with(collected.clone());
    tracing::subscriber::set_global_default(subscriber).expect("nobody else sets one here");
    let rt = TestRuntime::builder()
        .only([awaits_in_span::NAME, blocks_in_span::NAME])
        .around(|lease, handler| async move {
            tracing::info!("around {}", lease.task());
            handler.run().await
        })
        .build()
        .await
        .expect("they are linked");
    let client = rt.client();
    let first = awaits_in_span::enqueue(&client, 1)
        .await
        .expect("memory takes it");
    let second = blocks_in_span::enqueue(&client, 2)
        .await
        .expect("memory takes it");
    assert_eq!(rt.run_due().await.len(), 2);

    for (message, task, job) in [
        ("in the async handler", awaits_in_span::NAME, first.id()),
        ("around awaits_in_span", awaits_in_span::NAME, first.id()),
        ("in the blocking handler", blocks_in_span::NAME, second.id()),
        ("around blocks_in_span", blocks_in_span::NAME, second.id()),
    ] {
        let expected = [
            ("span", "task".to_owned()),
            ("task", task.to_owned()),
            ("job", job.to_string()),
            ("attempt", "1".to_owned()),
            ("fence", "1".to_owned()),
        ];
        let spans = collected.spans_of(message);
        assert_eq!(spans, [Fields::from(expected)], "{message}");
    }
}
