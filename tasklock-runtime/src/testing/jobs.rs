//! What was enqueued.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::TestRuntime;
use crate::store::{JobQuery, JobState};
use crate::task::JobSpec;

impl TestRuntime {
    /// The payloads of the jobs of a task that wait, the oldest first, whenever they are due:
    /// `rt.enqueued::<send_invoice, _>()`. The task's standing job is not among them.
    ///
    /// # Panics
    ///
    /// If a payload is none that the task takes.
    #[must_use]
    #[track_caller]
    pub fn enqueued<T: JobSpec<P>, P: DeserializeOwned>(&self) -> Vec<P> {
        let waiting = self.waiting(T::NAME);
        let decoded = waiting.iter().map(|json| match serde_json::from_str(json) {
            Ok(payload) => payload,
            Err(error) => panic!("a job of `{}` carries {json}: {error}", T::NAME),
        });
        decoded.collect()
    }

    /// Asserts that a job of a task waits that carries this payload: `rt.assert_enqueued::<send_invoice, _>(&invoice)`.
    /// Payloads are compared as the JSON that they are in the store.
    ///
    /// # Panics
    ///
    /// If there is none; the message shows the payloads that do wait.
    #[track_caller]
    pub fn assert_enqueued<T: JobSpec<P>, P: Serialize>(&self, payload: &P) {
        let wanted = match serde_json::to_value(payload) {
            Ok(wanted) => wanted,
            Err(error) => panic!("the expected payload cannot be written as JSON: {error}"),
        };
        let waiting = self.waiting(T::NAME);
        let is_there = waiting.iter().any(|json| {
            serde_json::from_str(json).is_ok_and(|found: serde_json::Value| found == wanted)
        });
        assert!(
            is_there,
            "no job of `{}` waits that carries\n  {wanted}\n{}",
            T::NAME,
            match waiting.is_empty() {
                true => "none of its jobs waits".to_owned(),
                false => format!("those that wait carry\n  {}", waiting.join("\n  ")),
            }
        );
    }

    /// The payloads as JSON, the oldest first.
    fn waiting(&self, task: &str) -> Vec<String> {
        let query = JobQuery {
            task: Some(task.to_owned()),
            states: vec![JobState::Ready],
            before: i64::MAX,
            limit: usize::MAX,
        };
        let jobs = self.memory.jobs_now(&query).into_iter().rev();
        jobs.filter(|job| !job.is_standing)
            .map(|job| job.payload.unwrap_or_else(|| "null".to_owned()))
            .collect()
    }
}
