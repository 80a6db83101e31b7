//! Each negative control is caught. With `TASKLOCK_MODEL_TRACE=1` and `--nocapture`, the traces are
//! printed.

use tasklock_model::controls;

#[test]
fn every_control_breaks_what_it_should_and_nothing_else() {
    let trace = std::env::var_os("TASKLOCK_MODEL_TRACE").is_some();
    let mut complaints = Vec::new();
    for control in controls::all() {
        let findings = control.search();
        println!("{}\n  {}", control.name, findings.counterexamples);
        for (name, found) in &findings.counterexamples.found {
            println!("  {name}: {} steps", found.len());
            if trace {
                println!("{found}");
            }
        }
        complaints.extend(
            control
                .complaints(&findings)
                .into_iter()
                .map(|complaint| format!("{}: {complaint}", control.name)),
        );
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}
