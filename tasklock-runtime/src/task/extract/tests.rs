use super::*;
use crate::lease::testing;
use crate::task::Discard;

struct Config {
    region: &'static str,
}

/// A parameter of the application's own.
#[derive(Debug)]
struct Region(&'static str);

impl FromRun for Region {
    fn requirements(needs: &mut Requirements) {
        State::<Config>::requirements(needs);
    }

    async fn from_run(run: &RunParts) -> Result<Self, ExtractError> {
        let config = State::<Config>::from_run(run).await?;
        if config.region == "moon" {
            return Err(Discard::new("nobody lives there").into());
        }
        if config.region.is_empty() {
            Err("no region")?;
        }
        Ok(Self(config.region))
    }
}

fn run(payload: Option<&str>, region: Option<&'static str>) -> RunParts {
    let mut states = States::default();
    if let Some(region) = region {
        assert!(!states.insert(Config { region }));
    }
    let (lease, ..) = testing::lease();
    RunParts::new(lease, payload.map(Arc::from), Arc::new(states))
}

fn refused<T>(extracted: Result<T, ExtractError>) -> Option<Outcome> {
    extracted.err().map(ExtractError::into_outcome)
}

#[tokio::test]
async fn a_parameter_is_made_of_the_runs_parts() -> Result<(), ExtractError> {
    let run = run(Some("[1,2]"), Some("eu"));
    assert_eq!(Region::from_run(&run).await?.0, "eu");
    let payload = Payload::<Vec<u8>>::from_run(&run).await?;
    assert_eq!((payload.len(), payload.into_inner()), (2, vec![1, 2]));
    assert_eq!(run.lease().task(), "tested");
    // One value for all who take it.
    let (one, other) = (run.state::<Config>(), run.clone().state::<Config>());
    assert!(
        one.zip(other)
            .is_some_and(|(one, other)| Arc::ptr_eq(&one, &other))
    );
    assert!(run.state::<String>().is_none());
    Ok(())
}

#[tokio::test]
async fn what_keeps_a_parameter_from_being_made_is_the_runs_outcome() {
    let discarded = refused(Region::from_run(&run(None, Some("moon"))).await);
    assert_eq!(
        discarded,
        Some(Outcome::Discarded("nobody lives there".into()))
    );
    let failed = refused(Region::from_run(&run(None, Some(""))).await);
    let expected = Outcome::Failed {
        error: "no region".into(),
        retry_after: None,
    };
    assert_eq!(failed, Some(expected));
    let undecodable = refused(Payload::<u8>::from_run(&run(Some("[]"), None)).await);
    assert!(
        matches!(undecodable, Some(Outcome::Undecodable(_))),
        "{undecodable:?}"
    );
    // Its `requirements` were forgotten: the start could not find it missing.
    let missing = refused(State::<Config>::from_run(&run(None, None)).await);
    assert!(
        matches!(&missing, Some(Outcome::Failed { error, .. }) if error.contains("::Config`")),
        "{missing:?}"
    );
}

#[tokio::test]
async fn a_job_without_a_payload_carries_null() {
    let run = run(None, None);
    assert!(Payload::<()>::from_run(&run).await.is_ok());
    assert!(
        Payload::<Option<u8>>::from_run(&run)
            .await
            .is_ok_and(|payload| payload.is_none())
    );
}

#[test]
fn what_is_needed_is_named_once() {
    let mut needs = Requirements::default();
    Region::requirements(&mut needs);
    State::<Config>::requirements(&mut needs);
    Payload::<u8>::requirements(&mut needs);
    let missing: Vec<_> = needs.missing(&States::default()).collect();
    assert!(
        missing.len() == 1 && missing[0].ends_with("::Config"),
        "{missing:?}"
    );
}

#[test]
fn nothing_shows_the_payload_or_the_state() {
    let shown = format!("{:?}", run(Some("\"hunter2\""), Some("hunter2")));
    assert!(!shown.contains("hunter2"), "{shown}");
    let state = format!("{:?}", State::new("hunter2"));
    assert!(!state.contains("hunter2"), "{state}");
}
