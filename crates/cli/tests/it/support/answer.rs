//! What every answer of `whylate explain --json` and `whylate measure --json` must hold to.

use super::run::Run;
use serde_json::Value;

/// The answer in a run's standard output, checked in itself.
pub(crate) fn answer(stdout: &str) -> Value {
    let answer: Value = serde_json::from_str(stdout).unwrap_or_else(|e| panic!("not JSON: {e}: {stdout}"));
    assert_eq!(answer["schema"], "whylate.explain/1");
    for key in ["tasks", "activations", "findings", "missing"] {
        assert!(answer[key].is_array(), "{key} is a list");
    }
    for activation in list(&answer["activations"]) {
        tiles(activation);
    }
    answer
}

/// The report of a run of `whylate measure --json`, however soon it ended. On a busy machine a signal may come before the
/// first sample: 3 (cannot tell) is the exit code of a report without samples, and of no other.
pub(crate) fn measurement(run: &Run) -> Value {
    let report: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("not JSON: {error}: {run:#?}"));
    assert_eq!(report["schema"], "whylate.measure/1");
    let is_empty = list(&report["cpus"]).iter().all(|cpu| number(&cpu["samples"]) == 0);
    assert!(if is_empty { run.code == Some(3) } else { matches!(run.code, Some(0 | 1)) }, "{run:#?}");
    report
}

/// The ledger covers the activation from due to done, without a gap, to the nanosecond.
pub(crate) fn tiles(activation: &Value) {
    let about = || format!("{} due at {}", activation["comm"], activation["due_ns"]);
    let due = number(&activation["due_ns"]);
    let response = number(&activation["response_ns"]);
    let mut at = due;
    for entry in list(&activation["ledger"]) {
        assert_eq!(number(&entry["start_ns"]), at, "{}: a gap or an overlap", about());
        let ns = number(&entry["ns"]);
        assert!(ns > 0, "{}: an entry of {ns} ns", about());
        at += ns;
    }
    assert_eq!(at - due, response, "{}: charged and measured differ", about());
    if let Some(done) = activation["done_ns"].as_i64() {
        assert_eq!(done - due, response, "{}: its response is due to done", about());
    }
    // Where the trace begins in the middle of it, its due time is unknown.
    let kind = &activation["trigger"]["kind"];
    // Nor has a marker a latency: its thread runs.
    // A thread that runs without having been woken, as far as was seen, may have waited.
    let unseen = kind == "wakeup" && activation["woken_ns"].is_null() && activation["running_ns"] == due;
    let seen = kind != "trace-start" && kind != "marker" && !unseen;
    let latency = activation["running_ns"].as_i64().filter(|_| seen).map(|running| running - due);
    assert_eq!(activation["latency_ns"].as_i64(), latency, "{}: latency is due to running", about());
    let share = activation["verdict"]["share"].as_f64().expect("a share");
    assert!((0.0..=1.0).contains(&share), "{}: share {share}", about());
}

/// The cause of an activation's verdict, and the culprit's name.
pub(crate) fn verdict(activation: &Value) -> (&str, &str) {
    let verdict = &activation["verdict"];
    let by = &verdict["by"];
    let name = by["comm"].as_str().or(by["name"].as_str()).unwrap_or("");
    (verdict["cause"].as_str().expect("a cause"), name)
}

/// A member that is a list.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_else(|| panic!("not a list: {value}"))
}

/// A member that is a whole number.
pub(crate) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("not a whole number: {value}"))
}
