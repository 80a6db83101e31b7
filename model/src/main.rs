//! Searches one instance and prints what it saw.
//!
//! ```text
//! cargo run -p tasklock-model --release -- --workers 3 --names 2
//! cargo run -p tasklock-model --release -- --controls --trace
//! ```

use std::process::ExitCode;

use tasklock_model::{Config, Report, Until, controls, explore, properties};

const HELP: &str = "\
tasklock-model: searches an instance of the lease protocol for violations of P1 to P6

  --workers N --names N --grants N --strays N    bounds
  --ttl N --margin N --heartbeat N --drift N     in ticks
  --step-back N --step-forward N                 one step of the store's clock, in ticks
  --no-guards --no-complete-in --no-symmetry     leave something out
  --events                                       also find an example of each event
  --controls                                     search the negative controls instead
  --trace                                        print the traces";

#[derive(Debug)]
struct Arguments {
    config: Config,
    controls: bool,
    trace: bool,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("tasklock-model: {error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let sound = if arguments.controls {
        search_controls(arguments.trace)
    } else {
        search(&arguments.config, arguments.trace)
    };
    if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Searches the instance; whether every property held.
fn search(config: &Config, trace: bool) -> bool {
    let report = explore(config, Until::Exhausted);
    println!("{report}");
    for name in properties::SAFETY {
        let verdict = if report.found.contains_key(name) {
            "VIOLATED"
        } else {
            "holds"
        };
        println!("  {name}: {verdict}");
    }
    print_found(&report, trace);
    properties::SAFETY
        .iter()
        .all(|name| !report.found.contains_key(name))
}

/// Searches the controls; whether each broke what it should.
fn search_controls(trace: bool) -> bool {
    let mut sound = true;
    for control in controls::all() {
        let findings = control.search();
        println!("{}\n  {}", control.name, findings.counterexamples);
        if let Some(whole) = &findings.whole {
            println!("  {whole}");
        }
        print_found(&findings.counterexamples, trace);
        for complaint in control.complaints(&findings) {
            sound = false;
            println!("  WRONG: {complaint}");
        }
    }
    sound
}

fn print_found(report: &Report, trace: bool) {
    for (name, found) in &report.found {
        println!("  {name}: {} steps", found.len());
        if trace {
            print!("{found}");
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut parsed = Arguments {
        config: Config::small(),
        controls: false,
        trace: false,
    };
    while let Some(argument) = arguments.next() {
        let config = &mut parsed.config;
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--controls" => parsed.controls = true,
            "--trace" => parsed.trace = true,
            "--events" => config.events = true,
            "--no-guards" => config.guards = false,
            "--no-complete-in" => config.complete_in = false,
            "--no-symmetry" => config.symmetry = false,
            "--workers" => config.workers = number(&argument, arguments.next())?,
            "--names" => config.names = number(&argument, arguments.next())?,
            "--grants" => config.grants = number(&argument, arguments.next())?,
            "--strays" => config.strays = number(&argument, arguments.next())?,
            "--ttl" => config.ttl = number(&argument, arguments.next())?,
            "--margin" => config.margin = number(&argument, arguments.next())?,
            "--heartbeat" => config.heartbeat = number(&argument, arguments.next())?,
            "--drift" => config.drift = number(&argument, arguments.next())?,
            "--step-back" => config.step_back = number(&argument, arguments.next())?,
            "--step-forward" => config.step_forward = number(&argument, arguments.next())?,
            _ => return Err(format!("{argument} is not an argument")),
        }
    }
    parsed.config.validate()?;
    Ok(Some(parsed))
}

fn number<T: std::str::FromStr>(argument: &str, value: Option<String>) -> Result<T, String> {
    value
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| format!("{argument} needs a small number"))
}
