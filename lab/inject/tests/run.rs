//! The program as a whole: a run of each kind of victim, where this machine permits it.

use serde_json::Value;
use std::process::Command;

/// The label of a run, or nothing where real-time policies or locked memory are refused.
fn label(arguments: &[&str]) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_whylate-inject"))
        .args(arguments)
        .args(["--duration", "100ms"])
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("Operation not permitted") || errors.contains("Cannot allocate memory") {
        whylate_testing::skip(whylate_testing::Need::Root, format_args!("{arguments:?}: {errors}"));
        return None;
    }
    assert!(output.status.success(), "{arguments:?}: {errors}");
    Some(serde_json::from_slice(&output.stdout).expect("one label"))
}

fn victims(label: &Value) -> Vec<&Value> {
    let threads = label.get("threads").and_then(Value::as_array).expect("threads");
    threads.iter().filter(|thread| thread.get("part") == Some(&Value::from("victim"))).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn a_victim_in_a_process_of_its_own_comes_back_with_its_log() {
    let Some(label) = label(&["nothing", "--fork-exec", "--rename", "--victim-policy", "other"]) else {
        return;
    };
    assert!(label.get("jobs").and_then(Value::as_u64) >= Some(1));
    let victims = victims(&label);
    assert_eq!(victims.len(), 1);
    assert_eq!(victims.first().map(|victim| text(victim, "name")), Some("renamed"));
    assert_eq!(victims.first().map(|victim| text(victim, "policy")), Some("other"));
}

#[test]
fn two_victims_are_both_in_the_label() {
    let Some(label) = label(&["two-victims"]) else { return };
    let victims = victims(&label);
    assert_eq!(victims.len(), 2);
    let late = label.get("late_jobs").and_then(Value::as_array).expect("late jobs");
    for job in late {
        let tid = job.get("tid");
        let place = victims.iter().position(|victim| victim.get("tid") == tid).expect("a victim's job");
        assert_eq!(text(job, "fault"), ["equal-priority-task", "lock-wait"][place]);
    }
}

#[test]
fn a_process_that_overruns_its_limit_is_killed_in_its_job() {
    let Some(label) = label(&["rttime"]) else { return };
    let victims = victims(&label);
    let killed_by = victims.first().and_then(|victim| victim.get("killed_by"));
    assert_eq!(killed_by, Some(&Value::from(9)));
    assert!(label.get("late").and_then(Value::as_u64) >= Some(1));
}
