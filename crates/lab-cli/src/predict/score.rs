//! Totals of the predictions, and the JSON document of `whylate-lab predict --json`.

use super::{PredictedChange, ThreadPrediction};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The name and version of the schema. Within a version fields are only ever added.
pub const PREDICT_SCHEMA: &str = "whylate.lab-predict/1";

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PredictResult {
    /// The change in a few words.
    pub title: String,
    /// The scenario.
    pub scenario: String,
    /// The kernel before.
    pub kernel: String,
    /// Options of `whylate simulate`.
    pub simulate: Vec<String>,
    /// The late thread, and the threads that are changed.
    pub threads: Vec<ThreadPrediction>,
    /// Why there is no result; empty: there is one.
    pub note: String,
}

/// The totals, of the late threads alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PredictTotals {
    /// Changes with a result.
    pub judged: u64,
    /// Changes without.
    pub no_run: u64,
    /// Of the judged ones: the direction of the longest response is right.
    pub direction_right: u64,
    /// The cause of the longest response is right, or neither is late.
    pub cause_right: u64,
    /// The median of the errors of the median response, as shares without their sign.
    pub p50_error: f64,
    /// Of the 99th percentile.
    pub p99_error: f64,
    /// Of the longest response.
    pub max_error: f64,
}

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "whylate.lab-predict/1")]
pub struct PredictDocument {
    /// Always `whylate.lab-predict/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// Each change.
    pub changes: Vec<PredictResult>,
    /// All of them.
    pub total: PredictTotals,
}

impl PredictResult {
    /// A change without a result yet.
    pub(super) fn failed(change: &PredictedChange, note: String) -> PredictResult {
        PredictResult {
            title: change.title.clone(),
            scenario: change.scenario.clone(),
            kernel: change.kernel.clone(),
            simulate: change.simulate.clone(),
            threads: Vec::new(),
            note,
        }
    }

    /// The late threads.
    pub fn victims(&self) -> impl Iterator<Item = &ThreadPrediction> {
        self.threads.iter().filter(|thread| thread.victim)
    }
}

impl PredictDocument {
    /// Of these results.
    pub fn of(changes: Vec<PredictResult>) -> PredictDocument {
        let victims = || changes.iter().filter_map(|change| change.victims().next());
        let count =
            |good: fn(&ThreadPrediction) -> bool| victims().filter(|thread| good(thread)).count() as u64;
        let median = |of: fn(&ThreadPrediction) -> Option<f64>| median(victims().filter_map(of).collect());
        let judged = victims().count() as u64;
        let total = PredictTotals {
            judged,
            no_run: changes.len() as u64 - judged,
            direction_right: count(ThreadPrediction::direction_right),
            cause_right: count(ThreadPrediction::cause_right),
            p50_error: median(|thread| Some(thread.p50_error.abs())),
            p99_error: median(|thread| thread.p99_error.map(f64::abs)),
            max_error: median(|thread| Some(thread.max_error.abs())),
        };
        PredictDocument { schema: PREDICT_SCHEMA.to_owned(), changes, total }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("plain data with string keys")
    }
}

/// The upper one of two in the middle; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The JSON Schema of these documents.
pub fn schema() -> Value {
    // Of what is written: there an absent value is `null`, never an absent key.
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<PredictDocument>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use super::super::{Direction, Responses};
    use super::*;

    fn thread(victim: bool, max_error: f64, direction: Direction, cause: Option<&str>) -> ThreadPrediction {
        ThreadPrediction {
            name: "ctl".to_owned(),
            victim,
            before: Responses::default(),
            predicted: Responses::default(),
            after: Responses::default(),
            replay_error: None,
            p50_error: 0.0,
            p99_error: None,
            max_error,
            predicted_direction: Direction::Shorter,
            direction,
            predicted_cause: None,
            cause: cause.map(str::to_owned),
        }
    }

    #[test]
    fn late_threads_count_and_no_others() {
        let change = super::super::built_in().expect("changes").remove(0);
        let with = |threads: Vec<ThreadPrediction>| PredictResult {
            threads,
            ..PredictResult::failed(&change, String::new())
        };
        let document = PredictDocument::of(vec![
            with(vec![
                thread(false, 9.0, Direction::Same, None),
                thread(true, -0.3, Direction::Shorter, None),
            ]),
            with(vec![thread(true, 0.1, Direction::Longer, Some("irq"))]),
            with(vec![thread(true, 0.2, Direction::Shorter, None)]),
            with(Vec::new()),
        ]);
        let total = &document.total;
        assert_eq!((total.judged, total.no_run, total.direction_right, total.cause_right), (3, 1, 2, 2));
        assert!((total.max_error - 0.2).abs() < 1e-9 && total.p99_error == 0.0);
        assert_eq!(document.json()["changes"][1]["threads"][0]["direction"], "longer");
    }
}
