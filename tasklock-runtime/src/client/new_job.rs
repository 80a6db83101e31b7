//! What a new job may be, and what is wrong with one that may not.

use std::time::Duration;

use serde::Serialize;
use tasklock_grammar::{MAX_DURATION, check_name, display_duration};

use super::Client;
use crate::error::Error;
use crate::store::{Due, Enqueued, LEASES, NewJob};

pub(super) fn new_job<P: Serialize + ?Sized>(
    client: &Client,
    task: &str,
    payload: &P,
) -> Result<NewJob, Error> {
    check_name(task).map_err(|error| refuse(task, format!("its name: {error}")))?;
    if task == LEASES {
        return Err(refuse(
            task,
            "its name is the runtime's own, for named leases".to_owned(),
        ));
    }
    let payload = serde_json::to_string(payload).map_err(|error| {
        // What a type's own code says may hold what is in it.
        let known = error.to_string();
        let why = match &*known {
            "key must be a string" => known.as_str(),
            _ => "a type in it refuses",
        };
        refuse(
            task,
            format!("its payload cannot be written as JSON: {why}"),
        )
    })?;
    let limit = client.payload_limit;
    if payload.len() > limit {
        let length = payload.len();
        return Err(refuse(
            task,
            format!(
                "its payload is {length} bytes of JSON, and the limit {limit}: keep what is large elsewhere and \
                 enqueue its name, or raise `payload_limit`"
            ),
        ));
    }
    Ok(NewJob {
        task: task.to_owned(),
        payload: Some(payload).filter(|json| json != "null"),
        due: Due::In(Duration::ZERO),
        priority: 0,
        unique_key: None,
        resource: None,
    })
}

pub(super) fn set_delay(job: &mut NewJob, delay: Duration) -> Result<(), Error> {
    if delay > MAX_DURATION {
        let most = display_duration(MAX_DURATION);
        return Err(refuse(
            &job.task,
            format!("a delay of {delay:?} is more than {most}: give an instant with `at`"),
        ));
    }
    job.due = Due::In(delay);
    Ok(())
}

pub(super) fn set_resource(job: &mut NewJob, name: String) -> Result<(), Error> {
    // It is made of the payload, which is never shown.
    check_name(&name).map_err(|_| {
        let problem = "the name of its resource has 1 to 128 bytes, no control characters and no blanks at its ends, and \
                       this one does not fit";
        refuse(&job.task, problem.to_owned())
    })?;
    job.resource = Some(name);
    Ok(())
}

pub(super) fn refuse(task: &str, problem: String) -> Error {
    Error::Job {
        task: task.escape_debug().to_string(),
        problem,
    }
}

pub(super) fn first(job: &NewJob, enqueued: Vec<Enqueued>) -> Result<Enqueued, Error> {
    let first = enqueued.first().copied();
    first.ok_or_else(|| {
        refuse(
            &job.task,
            "the store did not say what became of it".to_owned(),
        )
    })
}
