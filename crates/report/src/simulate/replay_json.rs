//! A replayed recording in `whylate.simulate/1`.

use crate::json::ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_simulate::{MeanReplay, ReplayError, ReplayReport, ReplayedThread, ResponseSummary};

/// How far the model is from a recording, and what changes do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The length of the recording.
    pub length_ns: i64,
    /// The changes as they were written; empty without one.
    pub changes: Vec<String>,
    /// What the recording lost.
    pub losses: RecordingLosses,
    /// The error of the replay without a change, over all chosen threads; null where no job was seen whole, and for a mean model.
    pub error: Option<Error>,
    /// Of a mean model: how it was run, and its error; absent for a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Mean>,
    /// The threads: chosen and changed ones, then others that the change affects.
    pub threads: Vec<ReplayThread>,
    /// How many other threads there are.
    pub unlisted: usize,
}

/// A mean model beside the recording that it is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mean {
    /// The same seed draws the same jobs.
    pub seed: u64,
    /// The length of the run that the document is about.
    pub run_ns: i64,
    /// The error of a run without a change, as long as the recording; null where no job was seen whole.
    pub error: Option<MeanModelError>,
}

/// How far a mean model is from the recording, each as a share of the recorded value, of the thread where it is largest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeanModelError {
    /// Threads that were compared.
    pub threads: u64,
    /// Of the median response.
    pub p50_share: f64,
    /// Of the 90th percentile.
    pub p90_share: f64,
    /// Of the longest response.
    pub max_share: f64,
    /// Of the number of jobs, as if each thread had gone on to the end of the recording.
    pub jobs_share: f64,
}

/// What a recording lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingLosses {
    /// Events that the kernel lost, as far as it counted them.
    pub events: u64,
    /// CPU time of which the recording does not show what had it; it is idle in the replay.
    pub unknown_ns: i64,
}

/// How far a replay without a change is from the recording, by the response times of its jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Error {
    /// Jobs that were compared.
    pub jobs: u64,
    /// The median of the differences.
    pub p50_ns: i64,
    /// Nine of ten differences are at most this.
    pub p90_ns: i64,
    /// The largest difference.
    pub max_ns: i64,
    /// Of the worst response: replayed less recorded, as a share of the recorded one; the largest of all threads.
    pub worst_share: f64,
    /// Jobs of the recording that the replay does not come to the end of.
    pub not_reached: u64,
}

/// A thread in the recording, the replay, and the replay with the changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayThread {
    /// Its name; with its id where two have that name.
    pub name: String,
    /// Its id.
    pub tid: i32,
    /// It was chosen, or a change names it.
    pub chosen: bool,
    /// Response times in the recording; null where no job was seen whole.
    pub recorded_ns: Option<Summary>,
    /// In the replay without a change.
    pub replayed_ns: Option<Summary>,
    /// With the changes; null without changes, or where no job is done.
    pub predicted_ns: Option<Summary>,
    /// The error of its replay; null where nothing can be compared.
    pub error: Option<Error>,
    /// CPU time in the recording.
    pub ran_recorded_ns: i64,
    /// CPU time in the replay without a change.
    pub ran_replayed_ns: i64,
    /// CPU time in the replay with the changes.
    pub ran_predicted_ns: i64,
    /// The longest time in which it was runnable and did not run, in the replay without a change.
    pub longest_wait_replayed_ns: i64,
    /// The same with the changes.
    pub longest_wait_predicted_ns: i64,
    /// Activations that were not seen whole in the recording.
    pub cut_off: u64,
}

/// A distribution of response times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How many.
    pub jobs: u64,
    /// The median.
    pub p50: i64,
    /// The 99th percentile; null with too few jobs.
    pub p99: Option<i64>,
    /// The longest.
    pub max: i64,
}

pub(super) fn replay(report: &ReplayReport) -> Replay {
    Replay {
        length_ns: report.length.0,
        changes: report.changes.clone(),
        losses: RecordingLosses { events: report.losses.events, unknown_ns: report.losses.unknown.0 },
        error: report.error.as_ref().map(error),
        mean: report.mean.as_ref().map(mean),
        threads: report.threads.iter().map(thread).collect(),
        unlisted: report.unlisted,
    }
}

fn mean(mean: &MeanReplay) -> Mean {
    let error = mean.error.map(|error| MeanModelError {
        threads: error.threads,
        p50_share: error.median,
        p90_share: error.p90,
        max_share: error.worst,
        jobs_share: error.jobs,
    });
    Mean { seed: mean.seed, run_ns: mean.run.0, error }
}

fn error(error: &ReplayError) -> Error {
    Error {
        jobs: error.jobs,
        p50_ns: error.median.0,
        p90_ns: error.p90.0,
        max_ns: error.most.0,
        worst_share: error.worst_share,
        not_reached: error.not_reached,
    }
}

fn thread(thread: &ReplayedThread) -> ReplayThread {
    let [recorded, replayed, predicted] = thread.ran;
    ReplayThread {
        name: thread.name.clone(),
        tid: thread.tid.0,
        chosen: thread.chosen,
        recorded_ns: thread.recorded.map(summary),
        replayed_ns: thread.replayed.map(summary),
        predicted_ns: thread.predicted.map(summary),
        error: thread.error.as_ref().map(error),
        ran_recorded_ns: recorded.0,
        ran_replayed_ns: replayed.0,
        ran_predicted_ns: predicted.0,
        longest_wait_replayed_ns: thread.longest_wait[0].0,
        longest_wait_predicted_ns: thread.longest_wait[1].0,
        cut_off: thread.cut_off,
    }
}

fn summary(summary: ResponseSummary) -> Summary {
    Summary { jobs: summary.jobs, p50: summary.p50.0, p99: ns(summary.p99), max: summary.max.0 }
}
