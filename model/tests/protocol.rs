//! The protocol as it is meant: every property holds, in every state of the instance; and the states
//! that make this worth something are reached.

use tasklock_model::properties::{REACHABLE, SAFETY};
use tasklock_model::{Config, Report, Until, explore};

fn holds(config: &Config) -> Report {
    let report = explore(config, Until::Exhausted);
    println!("{report}");
    for name in SAFETY {
        if let Some(trace) = report.found.get(name) {
            panic!("{name} is broken: {report}\n{trace}");
        }
    }
    report
}

#[test]
fn every_property_holds_in_the_small_instance() {
    let report = holds(&Config::small());
    // A slip that leaves steps out makes the instance smaller long before it breaks a property.
    assert!(
        report.unique > 1_000_000,
        "only {} states: what became of the others?",
        report.unique
    );
}

/// A reply can be late and still in time.
#[test]
fn every_property_holds_with_a_longer_ttl() {
    holds(&Config {
        grants: 2,
        ttl: 4,
        ..Config::small()
    });
}

/// The bounds of the assumptions are the margin itself, not less: on the rate of a local clock (in the
/// small instance) and, where that is right, on a step forward of the store's clock.
#[test]
fn a_step_forward_within_the_margin_breaks_nothing() {
    let small = Config::small();
    assert_eq!(small.drift, small.margin);
    holds(&Config {
        grants: 2,
        drift: 0,
        step_forward: small.margin,
        ..small
    });
}

#[test]
fn two_names_do_not_disturb_each_other() {
    holds(&Config {
        names: 2,
        grants: 1,
        strays: 0,
        ttl: 3,
        ..Config::small()
    });
}

#[test]
fn what_matters_is_reached() {
    let config = Config {
        grants: 2,
        symmetry: false,
        events: true,
        ..Config::small()
    };
    let report = explore(&config, Until::Found(REACHABLE.to_vec()));
    for name in REACHABLE {
        assert!(report.found.contains_key(name), "{name}: never");
    }
}

#[test]
fn an_instance_out_of_bounds_is_refused() {
    let small = Config::small();
    assert_eq!(small.validate(), Ok(()));
    let refused = [
        Config {
            workers: 4,
            ..small.clone()
        },
        Config {
            names: 0,
            ..small.clone()
        },
        Config {
            margin: small.ttl,
            ..small.clone()
        },
    ];
    for config in refused {
        assert!(config.validate().is_err(), "{config:?}");
    }
}
