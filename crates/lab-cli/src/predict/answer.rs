//! The documents of `whylate simulate` and `whylate explain`, as far as they are compared.

use super::Responses;
use serde_json::Value;

/// A thread of a replay.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replayed {
    pub(super) name: String,
    /// The recording has it, or the prediction.
    pub(super) recorded: Option<Responses>,
    pub(super) predicted: Option<Responses>,
    pub(super) error: Option<f64>,
}

/// The chosen threads of a document of `whylate simulate --json`, without ids.
pub(super) fn chosen(document: &Value) -> Vec<Replayed> {
    let threads = document["replay"]["threads"].as_array().map(Vec::as_slice).unwrap_or_default();
    let chosen = threads.iter().filter(|thread| thread["chosen"] == true);
    let of = |thread: &Value| Replayed {
        name: thread["name"].as_str().unwrap_or_default().to_owned(),
        recorded: responses(&thread["recorded_ns"]),
        predicted: responses(&thread["predicted_ns"]),
        error: thread["error"]["worst_share"].as_f64(),
    };
    chosen.map(of).collect()
}

fn responses(value: &Value) -> Option<Responses> {
    serde_json::from_value(value.clone()).ok()
}

/// The cause of the longest response of that thread, among the activations of a document of either verb; `None`: none is longer
/// than `limit_ns`.
pub(super) fn worst_cause(document: &Value, thread: &str, limit_ns: i64) -> Option<String> {
    let activations = document["activations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let length = |activation: &Value| activation["response_ns"].as_i64().unwrap_or_default();
    // An activation in which the thread starts is none of its jobs.
    let own = activations
        .iter()
        .filter(|activation| activation["comm"] == thread && activation["starts_program"] != true)
        .filter(|activation| {
            activation["trigger"]["kind"] != "trace-start" && !activation["done_ns"].is_null()
        });
    let worst = own.max_by_key(|activation| length(activation))?;
    let late = length(worst) > limit_ns;
    late.then(|| worst["verdict"]["cause"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_worst_job_has_the_cause() {
        let job = |comm: &str, ns: i64, cause: &str| {
            json!({"comm": comm, "response_ns": ns, "done_ns": 1, "starts_program": false,
                   "trigger": {"kind": "timer"}, "verdict": {"cause": cause}})
        };
        let mut unended = job("ctl", 99, "starved");
        unended["done_ns"] = Value::Null;
        let document = json!({"activations": [job("ctl", 5, "irq"), job("ctl", 9, "softirq"), job("hog", 20, "own-work"), unended]});
        assert_eq!(worst_cause(&document, "ctl", 4).as_deref(), Some("softirq"));
        assert_eq!(worst_cause(&document, "ctl", 9), None);
        assert_eq!(worst_cause(&document, "none", 0), None);
    }

    #[test]
    fn threads_are_read_as_simulate_writes_them() {
        let thread = |name: &str, chosen: bool, predicted: Value| {
            json!({"name": name, "chosen": chosen, "recorded_ns": {"jobs": 3, "p50": 1, "p99": null, "max": 2},
                   "predicted_ns": predicted, "error": {"worst_share": -0.1}})
        };
        let document =
            json!({"replay": {"threads": [thread("a", true, Value::Null), thread("b", false, Value::Null)]}});
        let all = chosen(&document);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].recorded.map(|responses| responses.max), Some(2));
        assert_eq!((all[0].predicted, all[0].error), (None, Some(-0.1)));
        assert!(chosen(&json!({})).is_empty());
    }
}
